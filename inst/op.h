/* SPDX-License-Identifier: ISC */
/* Ops: one request of one client each, its arguments and its one answer. */
#ifndef INST_OP_H
#define INST_OP_H

#include <sys/queue.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "link.h"

struct json_object;
struct op;

struct command {
	const char	*name;		/* NULL = the end of the table */
	bool		 ro;		/* looks only; readers may */
	unsigned int	 own;		/* the role's; see struct op_rules */
	void		(*run)(struct op *);	/* holds the op while it runs */
};

struct op {
	TAILQ_ENTRY(op)	 entry;
	struct ask	 ask;		/* who wants to know */
	unsigned int	 refs;
	bool		 answered;
	const struct command *command;	/* NULL = there is none of that name */
	struct json_object *args;	/* an object, never NULL */
	char		*warning;	/* to go with the result; owned, or NULL */
	/* an op of the role's own: who is told instead of a client; borrows */
	void		(*told)(struct op *, bool failed, struct json_object *);
	void		*told_data;
	/* the handler's own: a small number, and memory freed with the op */
	uint64_t	 word;
	void		*data;
	void		(*free_data)(void *);
	int64_t		 made;		/* id of what was made for it alone, or 0 */
	/* called when it was answered, or its client has gone; may free it */
	void		(*finished)(struct op *);
};

/* Why a request is refused before a handler sees it, or after. */
enum op_fault {
	OP_UNREAD,		/* it cannot be parsed; detail says why */
	OP_UNNAMED,		/* there is no "command" */
	OP_BAD_ARGS,		/* "args" is no object */
	OP_UNKNOWN,		/* no such command; detail is its name */
	OP_READ_ONLY,		/* it changes something, and the asker may not */
	OP_UNANSWERED,		/* its handler has forgotten it */
	OP_FAULTS
};

/* The role's part of it. */
struct op_rules {
	/* An object within the role's bounds, or NULL with *why. */
	struct json_object *(*parse)(const char *, size_t, const char **why);
	/* For the audit log, before it runs or is refused; 0 = nothing. */
	uint32_t	(*action)(const struct op *);
	/* The state allows it, else it was refused; NULL = always. */
	bool		(*is_now)(struct op *);
	/* Answers in the role's words. */
	void		(*refuse)(struct op *, enum op_fault, const char *detail);
};

/*
 * Sets the tables of rows, each ended by one without a name, and the rules;
 * first of all.  Borrows them.
 */
void	 commands_set(const struct command *const *tables, size_t,
	    const struct op_rules *);
/* Calls fn for each row. */
void	 commands_each(void (*fn)(const struct command *, void *), void *arg);
/* A request as it came: runs it.  json need not end with NUL. */
void	 commands_run(const struct ask *, const char *json, size_t);
/*
 * The same for a part of the role, with the rights of that client.  Takes
 * args; told hears of the end, once, with data in op->told_data.
 */
void	 commands_give(const struct ask *, const char *name,
	    struct json_object *args, void (*told)(struct op *, bool failed,
	    struct json_object *), void *data);

/* Takes args, NULL = empty; one reference is the caller's. */
struct op *op_new(const struct ask *, const struct command *,
	    struct json_object *args);
/*
 * An op lives as long as it is held.  Code that waits for something on its
 * behalf holds it.  An op that is no longer held and was not answered is
 * refused as OP_UNANSWERED.
 */
struct op *op_ref(struct op *);
void	 op_unref(struct op *);
/* The client has disconnected: its ops go on without being answered. */
void	 op_conn_gone(uint32_t conn);

#endif
