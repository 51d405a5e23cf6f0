/* SPDX-License-Identifier: ISC */
/* Lines that wait for the log, in memory that outlives the process. */
#include <sys/mman.h>
#include <sys/stat.h>

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "kept.h"

/* Used by a logger that was given none. */
static struct kept own;
struct kept *kept = &own;

/* A line that no log takes would keep back all that come after it. */
static bool
has_long_line(void)
{
	size_t i, from = kept->at;

	for (i = kept->at; i < kept->end; i++) {
		if (i - from > KEPT_LINE_MAX)
			return true;
		if (kept->text[i] == '\n')
			from = i + 1;
	}
	return false;
}

/* A logger that was taken over may have left anything. */
static void
clean(void)
{
	uint32_t i;

	if (kept->end > KEPT_TEXT || kept->at > kept->end ||
	    (kept->end > 0 && kept->text[kept->end - 1] != '\n') ||
	    has_long_line()) {
		kept->at = kept->end = 0;
		kept->lost++;
	}
	for (i = kept->at; i < kept->end; i++)
		if (kept->text[i] != '\n' && ((uint8_t)kept->text[i] < 0x20 ||
		    (uint8_t)kept->text[i] >= 0x7f))
			kept->text[i] = '?';
	kept->torn = kept->torn != 0;
}

int
kept_open(int fd)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) == -1 ||
	    (st.st_size == 0 && ftruncate(fd, sizeof(*kept)) == -1) ||
	    (st.st_size != 0 && st.st_size != sizeof(*kept)))
		return -1;
	p = mmap(NULL, sizeof(*kept), PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0);
	if (p == MAP_FAILED)
		return -1;
	kept = p;
	clean();
	return 0;
}

size_t
kept_len(void)
{
	return kept->end - kept->at;
}

int
kept_add(const char *line)
{
	size_t len = strlen(line);

	if (kept->at > 0 && len >= KEPT_TEXT - kept->end) {
		memmove(kept->text, kept->text + kept->at, kept_len());
		kept->end -= kept->at;
		kept->at = 0;
	}
	if (len >= KEPT_TEXT - kept->end) {
		kept->lost++;
		return -1;
	}
	memcpy(kept->text + kept->end, line, len);
	kept->text[kept->end + len] = '\n';
	/* last: what is counted is whole, whenever the process is killed */
	__atomic_store_n(&kept->end, kept->end + (uint32_t)len + 1,
	    __ATOMIC_RELEASE);
	return 0;
}

void
kept_took(size_t n)
{
	__atomic_store_n(&kept->at, kept->at + (uint32_t)n, __ATOMIC_RELEASE);
	if (kept->at == kept->end)
		kept->at = kept->end = 0;
}
