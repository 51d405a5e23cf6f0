/* SPDX-License-Identifier: ISC */
/* gdbserver beside a program: attached, offered to netproc, ended. */
#ifndef SPAWNER_GDBSERVER_H
#define SPAWNER_GDBSERVER_H

#include "spawner/session/session.h"

struct viewer;

/*
 * Attaches to the running program and answers the asker when netproc serves
 * the debugger, or when it failed.  of_start: the program waits at its first
 * instruction and is killed if nobody can debug it.
 */
void	gdbserver_begin(struct session *, struct asker *, bool by_pipe,
	    bool of_start);
/* The program's tree is gone, and so is what debugs it. */
void	gdbserver_tree_gone(struct session *);
void	gdbserver_free(struct session *);
/* netproc has gone, and the sockets of all debuggers with it. */
void	gdbserver_drop_all(void);
void	gdbserver_launcher_lost(void);
/* Debuggers of connections that came by that token are to leave. */
void	gdbserver_end_token(const char *id);
/* And that of one who may not use the session any more. */
void	gdbserver_access_changed(struct session *);
/* And those of administrators, or of one, beside others' sessions. */
void	gdbserver_end_admins(const struct viewer *);
/* And those of a user who is not let in any more. */
void	gdbserver_end_owner(const struct owner *);

/* The tree of a start that failed has gone: who asked is told why. */
void	gdbserver_tell_refused(struct session *);

#endif
