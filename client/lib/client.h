/* SPDX-License-Identifier: ISC */
/* Context of a command: the target, the options and a connection. */
#ifndef CLIENT_LIB_CLIENT_H
#define CLIENT_LIB_CLIENT_H

#include <json-c/json.h>
#include <stdbool.h>
#include <stdio.h>

#include "conn.h"
#include "options.h"
#include "quote.h"
#include "target.h"

struct command;

struct client {
	struct target		 target;	/* once connected: as reached */
	struct trust		 trust;
	const struct command	*command;
	struct options		 opts;
	struct conn		*conn;		/* NULL until it is needed */
	unsigned int		 timeout_s;	/* 0: none */
	bool			 json;		/* stdout gets JSON */
	bool			 json_errors;	/* --json was given */
	const char		*file;		/* being loaded, or NULL */
	char			 sent[256];	/* the last command, cut */
	/* the program's own ways; see client_open() and client_refused() */
	int			(*open)(struct client *, struct conn **);
	void			(*refused)(const struct client *,
				    struct json_object *answer);
};

/* Connects unless that was done. CTL_OK, or an exit code after a report. */
int	client_connect(struct client *);

/* A further connection to the same daemon, by the program's own way. As
 * client_connect(). */
int	client_open(struct client *, struct conn **);

/*
 * For who may have waited for longer than the daemon keeps an idle connection:
 * one that it has closed is given up, and the next command takes a new one.
 * Nothing may be asked by it at that moment.
 */
void	client_again(struct client *);

/* Sends a command of bare words, the last one NULL. As client_connect(). */
int	client_send(struct client *, const char *verb, ...)
	    __attribute__((sentinel));

/* Ends the line, sends and frees it. As client_connect(). */
int	client_send_line(struct client *, struct line *);

/*
 * Takes an answer, the caller's to put. CTL_REFUSED after a report for an
 * error of the daemon, *jsonp is NULL then.
 */
int	client_answer(struct client *, struct json_object **jsonp);

/* Reports an error of the daemon, by the program's own way. */
void	client_refused(const struct client *, struct json_object *answer);

/* Whether the daemon has that extension, by VERSION. As client_answer(). */
int	client_extends(struct client *, const char *extension, bool *);

/* client_send() and client_answer() in one. */
int	client_ask(struct client *, struct json_object **jsonp,
	    const char *verb, ...) __attribute__((sentinel));

/*
 * A request in JSON, for what words cannot carry: takes args. The result of
 * it is the caller's to put; as client_answer().
 */
int	client_request(struct client *, const char *command,
	    struct json_object *args, struct json_object **resultp);

/*
 * Prints an answer, as JSON or for people by print; takes json.  As
 * report_flush().
 */
int	client_show(const struct client *, struct json_object *json,
	    void (*print)(struct json_object *, FILE *));

/* An answer, error or not, the caller's to put. As client_connect(). */
int	client_read(struct conn *, struct json_object **jsonp);

#endif
