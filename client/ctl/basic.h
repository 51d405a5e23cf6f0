/* SPDX-License-Identifier: ISC */
/* Commands that are one question and one answer about sessions. */
#ifndef CLIENT_CTL_BASIC_H
#define CLIENT_CTL_BASIC_H

struct client;

int	ctl_args(struct client *, int, char **);
int	ctl_delete(struct client *, int, char **);
int	ctl_env(struct client *, int, char **);
int	ctl_envlist(struct client *, int, char **);
int	ctl_limits(struct client *, int, char **);
int	ctl_list(struct client *, int, char **);
int	ctl_session(struct client *, int, char **);
int	ctl_signal(struct client *, int, char **);
int	ctl_start(struct client *, int, char **);
int	ctl_status(struct client *, int, char **);
int	ctl_wait(struct client *, int, char **);

/*
 * ENV or ENVDEL (verb) for one variable, the answer is the caller's to put.
 * As client_ask().
 */
struct json_object;
int	change_variable(struct client *, const char *verb, const char *id,
	    const char *text, struct json_object **jsonp);

/* Prints a session that was just made: all, or its id (-q).  Takes it. */
int	print_new(struct client *, struct json_object *);

/* The command line of ARGS; 0, or -1 after a report. The caller frees it. */
struct line;
int	args_line(struct line *, const char *id, char **argv);

/* Words for the size of our terminal, if there is one. As line_word(). */
int	line_size(struct line *);

/*
 * START with the --sandbox, --network and --tty of the command line, and the
 * option given (NULL: none). As client_ask().
 */
int	start_session(struct client *, const char *id, const char *option,
	    struct json_object **jsonp);

#endif
