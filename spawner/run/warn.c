/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <stdlib.h>

#include "runspec.h"
#include "spawner/session/owner.h"
#include "warn.h"
#include "wire/role.h"

static void
lacks_groups(FILE *f, const struct session *s)
{
	const char *lacks = s->owner->account.lacks;

	if (role_mode != MODE_SYSTEM || lacks[0] == '\0')
		return;
	(void)fprintf(f, "the session is not in these groups of its owner: %s. "
	    "What they may use is out of reach, and files that deny them "
	    "something (mode 0604) do not deny it to the session; an "
	    "administrator can name them with allow-group%c", lacks, '\0');
}

static void
lacks_nproc(FILE *f, const struct session *s)
{
	if (!runspec_is_root() || settings.controllers & CONTROLLER_PIDS ||
	    s->view.limits[LIMIT_NPROC] == LIMIT_UNLIMITED)
		return;
	(void)fprintf(f, "limit nproc has no effect: the kernel does not count "
	    "processes of root, and the daemon has no cgroup with the "
	    "controller pids (DEPS says how it gets one)%c", '\0');
}

static void
lacks_file(FILE *f, const struct session *s)
{
	if (s->view.command || s->view.bundle ||
	    runspec_has_file(s, s->sandbox))
		return;
	(void)fprintf(f, "/proc/self/exe leads to no file: %s. Programs that "
	    "start themselves again, or look for files beside themselves, "
	    "need %s%c", s->sandbox == SANDBOX_NONE ? "sandbox none has no "
	    "mounts of its own" : "a copy of the program would take more than "
	    "half of the memory that the session may use (limit memory)",
	    s->sandbox == SANDBOX_NONE ? "another sandbox; or upload the "
	    "program as a bundle" : "more of it; or upload the program as a "
	    "bundle", '\0');
}

void
warn_fill(struct session *s)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (f != NULL) {
		lacks_groups(f, s);
		lacks_nproc(f, s);
		lacks_file(f, s);
		/* the run has begun: it goes on without what has no room */
		if (fclose(f) == EOF)
			len = 0;
	}
	free(s->warnings);
	s->warnings = text;
	s->view.warnings = text;
	s->view.warnings_len = len;
}
