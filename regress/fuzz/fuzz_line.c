/* SPDX-License-Identifier: ISC */
/* links: netproc/text/line.c common/base/json.c common/base/text.c netproc/text/text64.c common/base/base64.c common/base/utf8.c */
/* covers: netproc/text/line.c common/base/json.c common/base/text.c */
/*
 * Fuzz target of everything that takes a line of the control protocol apart,
 * and of the writer that quotes such bytes in answers.
 */

#include "regress/fuzz/fuzz.h"

#include "base/errors.h"
#include "base/json.h"
#include "base/utf8.h"
#include "netproc/text/line.h"

static struct text text = { .max = 1 << 20 };

/* Answers are valid JSON strings whatever they quote. */
static void
check_json(const char *p, size_t len)
{
	size_t i, taken, rest;

	text_reset(&text, 1 << 16);
	json_string(&text, p, len);
	must(!text.bad && text.len >= 2 && text.p[0] == '"');
	for (i = 0; i < text.len; i++)
		must((unsigned char)text.p[i] >= 0x20);
	/* what came out is UTF-8: quoting it again replaces nothing */
	rest = text.len;
	must(utf8_unfinished(text.p, rest) == 0);
	text_reset(&text, 1 << 16);
	taken = json_escape(&text, p, len, true);
	must(len - taken <= 3);
}

static void
check_numbers(const struct word *w)
{
	uint64_t v = 1, again = 2;
	char digits[32];

	if (number_parse(w, UINT64_MAX, &v) != NULL)
		return;
	must(w->len > 0);
	if (w->len < sizeof(digits)) {
		memcpy(digits, w->p, w->len);
		digits[w->len] = '\0';
		must(strtoull(digits, NULL, 10) == v);
	}
	must((number_parse(w, 1000, &again) == NULL) == (v <= 1000));
}

static void
check_path(const struct word *w)
{
	if (exec_path_check(w) != NULL)
		return;
	must(w->len > 0 && w->len < EXEC_PATH_MAX && w->p[0] != '/');
	must(memchr(w->p, '\0', w->len) == NULL);
	must(w->len != 2 || memcmp(w->p, "..", 2) != 0);
	must(w->len < 3 || memcmp(w->p, "../", 3) != 0);
	must(w->len < 3 || memcmp(w->p + w->len - 3, "/..", 3) != 0);
	must(memmem(w->p, w->len, "/../", 4) == NULL);
}

static void
check_args(const struct word *w)
{
	static char out[LINE_BUFFER + 1];
	size_t len = 0, size;

	if (args_split(w, out, sizeof(out), &len) != NULL)
		return;
	must(len <= w->len + 1);
	must(len == 0 || out[len - 1] == '\0');
	/* exactly as much room as is needed is enough, less is not */
	size = len;
	must(args_split(w, out, size, &len) == NULL && len == size);
	must(size == 0 || args_split(w, out, size - 1, &len) != NULL);
}

static void
check_line(const char *p, size_t len)
{
	struct upload_request r;
	struct words ws;
	struct word rest;
	size_t i, eq;

	line_split(p, len, &ws);
	must(ws.n <= WORDS_MAX + 1);
	for (i = 0; i < ws.n && i < WORDS_MAX; i++) {
		must(ws.w[i].len > 0 && ws.w[i].p >= p &&
		    ws.w[i].p + ws.w[i].len <= p + len);
		check_numbers(&ws.w[i]);
		check_path(&ws.w[i]);
		(void)signal_parse(&ws.w[i]);
	}
	rest = line_rest(&ws, 0);
	check_args(&rest);
	if (env_check(&rest, &eq) == NULL)
		must(eq > 0 && eq < rest.len && rest.p[eq] == '=');
	(void)line_is_http(&ws);
	(void)line_has_control(p, len);
	if (ws.n == 0)
		return;
	upload_parse(&ws, &r);
	must(r.known || r.err != ERR_OK);
	must(r.err != ERR_OK || r.size > 0);
}

/* Lines are the same however the bytes arrive. */
static void
check_framing(const char *buf, size_t size)
{
	size_t scanned = 0, len = 0, used = 0, have, slow_len, slow_used;
	enum line_status whole, slow = LINE_NONE;

	whole = line_find(buf, size, &scanned, &len, &used);
	if (whole == LINE_READY) {
		must(used <= size && len < used && len <= LINE_MAX_BYTES);
		must(memchr(buf, '\n', len) == NULL);
	}
	scanned = 0;
	for (have = 1; have <= size && slow == LINE_NONE; have++)
		slow = line_find(buf, have, &scanned, &slow_len, &slow_used);
	if (size > 0)
		must(slow == whole);
	if (whole == LINE_READY)
		must(slow_len == len && slow_used == used);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *p = (const char *)data;
	size_t scanned, len, used;

	check_json(p, size);
	check_line(p, size);
	check_framing(p, size < 512 ? size : 512);
	while (size > 0) {
		scanned = 0;
		if (line_find(p, size, &scanned, &len, &used) != LINE_READY)
			break;
		check_line(p, len);
		p += used;
		size -= used;
	}
	return 0;
}
