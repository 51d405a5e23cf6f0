/* SPDX-License-Identifier: ISC */
/* The program's standard input: netproc writes to it by itself. */
#include "spawner/link/peers.h"
#include "spawner/session/session.h"
#include "tty.h"
#include "wire/handlers.h"

int
spawn_on_input(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	struct asker a;
	int fd;

	if (msg_end(m) == -1 || !asker_init(&a, m, "INPUT"))
		return -1;
	if (s->stdin_fd == -1) {
		answer(&a, &s->id, ERR_INVALID_ARGUMENT, s->tty != NULL ?
		    "the program has a terminal" :
		    "the program's input is already closed");
		return 0;
	}
	/* ours stays open: the program's input ends when its owner says so */
	fd = fd_copy(s->stdin_fd);
	if (fd == -1)
		answer(&a, &s->id, ERR_INTERNAL, NULL);
	else
		(void)answer_with(&a, answer_new(&a, MSG_INPUT_FD, &s->id),
		    fd);
	return 0;
}

int
spawn_on_input_eof(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	struct asker a;

	if (msg_end(m) == -1 || !asker_init(&a, m, "INPUT"))
		return -1;
	if (s->tty != NULL) {
		tty_end_input(s, &a);
		return 0;
	}
	/* ending it twice is no mistake */
	fd_close(&s->stdin_fd);
	answer(&a, &s->id, ERR_OK, NULL);
	return 0;
}
