/* SPDX-License-Identifier: ISC */
/* Commands that watch functions of programs. */
#ifndef CLIENT_CTL_TRACE_H
#define CLIENT_CTL_TRACE_H

struct client;

int	ctl_trace(struct client *, int, char **);
int	ctl_trace_functions(struct client *, int, char **);
int	ctl_trace_list(struct client *, int, char **);
int	ctl_trace_remove(struct client *, int, char **);
int	ctl_trace_run(struct client *, int, char **);
int	ctl_trace_status(struct client *, int, char **);
int	ctl_trace_stop(struct client *, int, char **);

#endif
