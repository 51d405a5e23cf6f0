/* SPDX-License-Identifier: ISC */
/*
 * The registry of breakpoints: ours, with our ids and their owners.  The lists
 * that the adapter is sent are made from it; the adapter's answers are kept
 * beside it.
 */
#ifndef DEBUGGER_BPS_BPS_H
#define DEBUGGER_BPS_BPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_object;

#define BPS_MOST	512

enum bp_kind { BP_LINE, BP_FUNCTION };

/* Owner of what the command line sets; an editor's have its connection. */
#define OWNER_CLI	(-1)

struct bp {
	int64_t		 id;
	enum bp_kind	 kind;
	int64_t		 owner;
	int64_t		 catcher;	/* of a catchpoint, by its id; 0 = no */
	bool		 enabled;
	bool		 going;		/* to be removed: not sent any more */
	bool		 dirty;		/* its place is to be sent anew */
	bool		 once;		/* for until: gone at the next stop */
	bool		 preset;	/* came with start: must be good */
	bool		 may_pend;	/* its library may come later */
	bool		 late;		/* it has waited for a library, or may */
	bool		 stale;		/* its place has come or gone since it was sent */
	char		*file;		/* as the client meant it, absolute */
	char		*function;
	char		*condition;	/* or NULL */
	char		*log;		/* or NULL */
	int64_t		 line;
	int64_t		 hit_count;	/* stops from this hit on; 0 = each */
	/* how the adapter was told, and what it said */
	char		*path;		/* file, or an end of it */
	unsigned int	 tries;		/* of other paths */
	bool		 sent;
	bool		 verified;
	bool		 has_adapter_id;
	int64_t		 adapter_id;
	char		*actual_file;	/* or NULL */
	int64_t		 actual_line;	/* or 0 */
	uint64_t	 address;	/* or 0 */
	bool		 placed;	/* the three come from lldb's list */
	char		*message;	/* its words, or NULL */
	/* what we saw */
	int64_t		 hits;
	bool		 hit;		/* at the present stop, */
	bool		 was_hit;	/* and at the one before */
	bool		 checked_here;	/* condition, count or log are ours */
	bool		 condition_good;	/* it was evaluated once */
	char		*condition_error;
};

/* Ids of breakpoints, watchpoints and catchpoints: one counter, from 1. */
int64_t	 bps_new_id(void);

/* A new one that is enabled and has an id; NULL: BPS_MOST are there. */
struct bp *bps_new(enum bp_kind);
/*
 * The same for a stop of ours that nobody has asked for by name: its id is
 * below 0, so that the first one of the user's is 1.
 */
struct bp *bps_new_once(enum bp_kind);
void	 bps_free(struct bp *);		/* takes it out of the registry too */
size_t	 bps_count(void);
struct bp *bps_at(size_t);
struct bp *bps_find(int64_t id);
void	 bps_set(char **field, const char *value);
void	 bps_clear(void);

/* Is the adapter to have it? */
bool	 bp_wanted(const struct bp *);
/* Do these two mean the same place at the adapter? */
bool	 bps_same_place(const struct bp *, const struct bp *);

/* Breakpoint features that an adapter has. */
struct bp_skills {
	bool		 condition, hit_count, log;
	const char	*hit_format;	/* before the number in its hitCondition */
	/* of a breakpoint that has waited for a library, these are lost */
	bool		 loses_conditions, loses_counts;
};
/* Decides anew for every breakpoint whether its condition is checked here. */
void	 bps_decide(const struct bp_skills *);

/*
 * The array "breakpoints" for a path (NULL = of functions): enabled ones, each
 * place once, in the order of the registry.  It has at most one function that
 * was not sent before: nothing else tells which entry of the reply belongs to
 * which function.
 */
struct json_object *bps_wire(const char *path, const struct bp_skills *);
/* The same, without those that were not sent before. */
struct json_object *bps_wire_sent(const char *path, const struct bp_skills *);
/* Lets the stale ones of a path be as if they had not been sent.  false = none. */
bool	 bps_unsend_stale(const char *path);
/*
 * After bps_decide(): marks those as stale that were sent with a condition
 * which is ours by now.  gdb 16 disables such a breakpoint when it finds a
 * place, even if the condition was taken back meanwhile.  false = none.
 */
bool	 bps_mark_conditions(const char *path, struct json_object *sent);
/* Returns the function that the next array adds; NULL = none. */
const char *bps_function_next(void);
/*
 * The reply to such an array: entries are matched with the places that were
 * sent (the array), not with what the registry holds by now; by their ids and
 * lines, and in the order of the array only where these say nothing.
 */
void	 bps_replied(const char *path, struct json_object *sent,
	    struct json_object *reply);
/* Takes over what the adapter says of one breakpoint. */
void	 bp_told(struct bp *, struct json_object *dap);
/*
 * Sets where the breakpoint on a function is.  Later answers of the adapter do
 * not change that while the breakpoint keeps its id.  Borrows the file, which
 * may be NULL.
 */
void	 bps_placed(const char *function, const char *file, int64_t line,
	    uint64_t address);
/* It has not heard of any. */
void	 bps_untold(void);

bool	 bp_moved(const struct bp *);
/* Describes a breakpoint in one line, for people. */
void	 bp_words(const struct bp *, char *out, size_t room);
/* As clients see it. */
struct json_object *bp_json(const struct bp *);

#endif
