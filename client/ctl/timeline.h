/* SPDX-License-Identifier: ISC */
/* Commands that show what traced programs did. */
#ifndef CLIENT_CTL_TIMELINE_H
#define CLIENT_CTL_TIMELINE_H

struct client;

int	ctl_timeline(struct client *, int, char **);
int	ctl_timeline_delete(struct client *, int, char **);
int	ctl_timeline_export(struct client *, int, char **);
int	ctl_timeline_sql(struct client *, int, char **);

/* --kept: the timelines that were kept, as a table or JSON. An exit code. */
int	timeline_list_kept(struct client *);

/* Prints what a session's program does, as the options say, to its end. An
 * exit code. */
int	timeline_follow(struct client *, const char *id);

#endif
