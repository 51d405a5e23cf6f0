/* SPDX-License-Identifier: ISC */
/*
 * Editors: clients that speak the debug adapter protocol themselves, about
 * the same program as everybody else.  Their messages come in requests, what
 * they are to hear is fetched.
 */
#ifndef DEBUGGER_EDITOR_DAPSERVER_H
#define DEBUGGER_EDITOR_DAPSERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "base/loop.h"
#include "debugger/base/command.h"
#include "debugger/view/misread.h"

struct json_object;
struct heard;

struct editor {
	LIST_ENTRY(editor) entry;
	int64_t		 id;
	struct ask	 ask;		/* whose it is; conn is of no account */
	unsigned int	 refs;		/* of requests on their way */
	bool		 gone, last;	/* nothing follows what is queued */
	bool		 ready;		/* it has configured: events may come */
	bool		 attached;	/* attach or launch was asked */
	int64_t		 seq;
	TAILQ_HEAD(, heard) queue;	/* to be fetched */
	size_t		 queued;	/* bytes */
	struct op	*fetching;	/* held; waits for something to hear */
	struct loop_timer timer;	/* of that, or until it is forgotten */
	enum phase	 told;		/* what it knows; PHASE_COUNT = nothing */
	uint64_t	 shown;		/* epoch of the stop that it was told */
	uint64_t	 output;	/* of the program, that it was told, */
	/* but for a character that has begun: of stdout, of stderr */
	struct {
		char	 bytes[4];
		size_t	 len;
	}		 begun[2];
	struct json_object *places;	/* path: [{"id","key"}] it has set */
	struct json_object *later;	/* messages that set more; or NULL */
	size_t		 later_len;	/* bytes of those */
	/* functions that it was warned of; a bit for each */
	unsigned char	 warned[MISREAD_MOST / 8];
	bool		 setting;	/* one of them is being done, */
	bool		 beginning;	/* or begun */
};

extern const struct command dap_commands[];

/* Messages for it.  Take body (NULL = none). */
void	 editor_event(struct editor *, const char *name, struct json_object *body);
/* The answer to a request: borrows message. */
void	 editor_respond(struct editor *, struct json_object *message,
	    bool ok, const char *words, struct json_object *body);
struct editor *editor_ref(struct editor *);
void	 editor_unref(struct editor *);
/* Its last response is queued: fetching ends after it. */
void	 editor_close(struct editor *);
/* The end, and its response (NULL = none): in one answer, the last. */
void	 editor_end(struct editor *, struct json_object *message);
/* How things stand, as far as it does not know it. */
void	 editor_catch_up(struct editor *);

LIST_HEAD(editor_list, editor);
extern struct editor_list editors;

/* dapout.c: what it has not heard of the program's output, as far as it takes
 * it; all: also what it would have fetched later. */
void	 editor_output(struct editor *, bool all);
/* It has joined: what the program writes from now on is for it. */
void	 editor_output_begin(struct editor *);
/* dapreq.c: one request of it; borrows. */
void	 editor_request(struct editor *, struct json_object *message);
/* dapbps.c: setBreakpoints, setFunctionBreakpoints; forgetting all. */
void	 editor_breakpoints(struct editor *, struct json_object *message);
void	 editor_drop_breakpoints(struct editor *);

/* dapset.c: what an answer showed it, by references; borrows. */
void	 editor_shown(const char *command, struct json_object *args,
	    struct json_object *body);
/* The program goes on: they mean nothing now. */
void	 editor_forget_shown(void);
/* setVariable, setExpression; false: that is for the adapter to do. */
bool	 editor_sets(struct editor *, struct json_object *message,
	    const char *command);

/* dapwarn.c: numbers in an answer that are wrong are replaced; borrows. */
void	 editor_mend(const char *command, struct json_object *args,
	    struct json_object *body);
/* An answer to stackTrace: an event warns of frames that are wrong; borrows. */
void	 editor_warn(struct editor *, struct json_object *args,
	    struct json_object *body);

/* -- the engine tells -- */
/* The program writes into a new ring. */
void	 dap_new_output(void);
/* It has written more. */
void	 dap_output(void);
/* Somebody may want to hear of the next. */
void	 dap_output_wait(void);
/* The phase is one that others may hear of. */
void	 dap_phase(void);
/* The session ends: all that is left for editors is given to them. */
void	 dap_end(void);
/* An event of the adapter's. */
void	 dap_event(const char *name, struct json_object *body);

#endif
