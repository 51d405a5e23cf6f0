/* SPDX-License-Identifier: ISC */
/* Starting programs and attaching to them, and how each adapter wants it. */
#ifndef DEBUGGER_RUN_LAUNCH_H
#define DEBUGGER_RUN_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

#include "debugger/base/op.h"

void	 launch_init(void);
/* The command start or attach. */
void	 launch_start(struct op *);
void	 launch_attach(struct op *);
/* The same program again; what runs is ended first. */
void	 launch_restart(struct op *);

/* -- what happens -- */
void	 launch_ran(pid_t inner, pid_t target, const char *image,
	    const int adapter_fds[DBG_FD_COUNT]);
void	 launch_failed(const char *code, const char *why);
void	 launch_initialized(void);
/* The program is over, or let go: answers the launch if it still waits. */
void	 launch_over(void);
/* Starts what was waiting for the last one's tree to be gone. */
void	 launch_go(void);
/* The tree of the adapter is gone; true: another one is being started. */
bool	 launch_tree_gone(void);

/* An adapter is there, or its tree still is. */
bool	 launch_tree_up(void);
/* It is beside a program that ran before. */
bool	 launch_is_beside(void);
/* Is an injector at work in the program, which would die with it? */
bool	 launch_injects(void);
/* Something was started or attached to before. */
bool	 launch_again_possible(void);
const char *launch_adapter_path(void);
/* As it was asked for, or as its kind is called. */
const char *launch_adapter_name(void);
/* The adapter has let go of the program that it had started. */
void	 launch_let_go(void);
/* The program that the adapter has let go of is the session's. */
bool	 launch_is_let_go(void);

#endif
