/* SPDX-License-Identifier: ISC */
/* flags: -Icommon common/wire/msg.c common/wire/roles.c */
/* Prints docs/MESSAGES.md from the message table that the binaries use. */
#include <stdio.h>

#include "wire/msg.h"

static const char *const fd_words[] = {
	[FD_NONE] = "-", [FD_SOCKET] = "socket", [FD_MEMFD] = "memfd",
	[FD_PIPE] = "pipe", [FD_PIDFD] = "pidfd", [FD_FILE] = "file",
	[FD_IMAGE] = "memfd, namespace or none",
	[FD_WASTE] = "memfd, namespace, file or none",
	[FD_STREAM] = "pipe, socket, pidfd, namespace or file",
};

static const struct {
	unsigned int	 bits;
	const char	*word;
} state_words[] = {
	{ STATE_SETTLED, "any settled" }, { STATE_ALIVE, "alive" },
	{ STATE_UPLOADING, "UPLOADING" }, { STATE_LOADED, "LOADED" },
	{ STATE_STOPPED, "STOPPED" },
};

static void
print_states(unsigned int states)
{
	const char *sep = "";
	size_t i;

	if (states == STATE_ANY)
		printf("-");
	for (i = 0; i < sizeof(state_words) / sizeof(state_words[0]); i++) {
		if ((states & state_words[i].bits) != state_words[i].bits)
			continue;
		printf("%s%s", sep, state_words[i].word);
		sep = ", ";
		states &= ~state_words[i].bits;
	}
}

static const char *
side(enum role role)
{
	return role == ROLE_CHILD ? "every role" : role == ROLE_INST ?
	    "debugger or tracer" : role_name(role);
}

static void
print_boundary(enum role from, enum role to)
{
	const struct msg_row *r;
	int t, n = 0;

	for (t = MSG_NONE + 1; t < MSG_COUNT; t++) {
		r = &msg_rows[t];
		if (r->from != from || r->to != to)
			continue;
		if (n++ == 0)
			printf("\n## %s to %s\n\n| message | bytes | fd | "
			    "session states |\n|---|---|---|---|\n",
			    side(from), side(to));
		if (r->min == r->max)
			printf("| %s | %u | %s | ", r->name, r->min,
			    fd_words[r->fd]);
		else
			printf("| %s | %u..%u | %s | ", r->name, r->min,
			    r->max, fd_words[r->fd]);
		print_states(r->states);
		printf(" |\n");
	}
}

int
main(void)
{
	int from, to;

	printf("# Messages between processes\n\n"
	    "Made from common/wire/msgs.def by `make docs`; a test compares them.\n"
	    "Any other message gets its sender cut off.\n");
	for (from = 0; from <= ROLE_INST; from++)
		for (to = 0; to <= ROLE_INST; to++)
			print_boundary((enum role)from, (enum role)to);
	return 0;
}
