/* SPDX-License-Identifier: ISC */
/*
 * symbols: reads one binary for a tracer.  Binaries are hostile, and formats
 * of debug information are large, so this process has nothing to lose: no
 * files, no sockets but fd 3, nobody to signal, and bounded time and memory.
 */
#include <sys/prctl.h>
#include <sys/resource.h>

#include <signal.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "base/sanitize.h"
#include "confine/caps.h"
#include "confine/confine.h"
#include "serve.h"
#include "sysfilter.h"

#define CHANNEL_FD	3
#define CPU_SECONDS	120
#define MEMORY_MOST	(12ULL << 30)	/* addresses: maps of files count */
#define FDS_MOST	32

static void
limit(int what, rlim_t most)
{
	struct rlimit rl;

	if (getrlimit((__rlimit_resource_t)what, &rl) == -1)
		fatal("getrlimit");
	if (rl.rlim_max < most)
		most = rl.rlim_max;
	rl = (struct rlimit) { most, most };
	if (setrlimit((__rlimit_resource_t)what, &rl) == -1)
		fatal("setrlimit");
}

/*
 * The namespaces need what some hosts refuse to some users; whatever they
 * would keep from it, the filter does as well.
 */
static void
confine(void)
{
	void *prog;
	size_t n;

	(void)confine_userns();
	if (caps_set(0, 0) == -1)
		fatal("cannot drop the capabilities");
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ||
	    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == -1)
		fatal("prctl");
	if (confine_landlock(LANDLOCK_NOTHING) == -1)
		fatal("cannot enter a Landlock domain");
	if (filter_compile(&symbols_filter, &prog, &n) == -1)
		fatal("cannot compile the system call filter");
	limit(RLIMIT_CORE, 0);
	limit(RLIMIT_CPU, CPU_SECONDS);
	limit(RLIMIT_NOFILE, FDS_MOST);
	if (!SANITIZED)
		limit(RLIMIT_AS, MEMORY_MOST);
	if (filter_install(prog, n) == -1)
		fatal("cannot load the system call filter");
}

int
main(void)
{
	struct sigaction sa = { .sa_handler = SIG_IGN };

	log_init("symbols", LOG_L_INFO, NULL);
	(void)prctl(PR_SET_NAME, "symbols", 0, 0, 0);
	(void)sigaction(SIGPIPE, &sa, NULL);
	if (close_range(CHANNEL_FD + 1, ~0U, 0) == -1)
		fatal("close_range");
	if (loop_init() == -1)
		fatal("epoll");
	confine();
	serve_open(CHANNEL_FD);
	if (loop_run() == -1)
		fatal("event loop");
	return 0;
}
