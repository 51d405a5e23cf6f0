/* SPDX-License-Identifier: ISC */
/*
 * View of a frame in a thread of the stopped program: place and variables. All
 * that was read stays valid until the program resumes or is changed.
 */
#ifndef DEBUGGER_VIEW_VIEW_H
#define DEBUGGER_VIEW_VIEW_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "debugger/base/op.h"

#define VIEW_FRAMES	20	/* asked for at once */

struct view {
	int64_t		 thread;
	char		 thread_name[128];
	unsigned int	 frame;		/* index of the one in view */
	struct json_object *frames;	/* as the adapter gives them, from 0 */
	bool		 all_frames;	/* there are no more than these */
	struct json_object *scopes;
	struct json_object *arguments;	/* variables as the adapter gives them */
	struct json_object *locals;
	char		 file[PATH_MAX];	/* source that can be read, or "" */
	int64_t		 line;
};

/* code NULL: here it is, borrowed until the function returns. */
typedef void	(*view_fn)(struct op *, const struct view *, const char *code,
	    const char *why, void *arg);

enum view_want {
	VIEW_PLACE	= 0,		/* frames */
	VIEW_VARIABLES	= 1 << 0,
	VIEW_FOCUS	= 1 << 1,	/* moves dbg.frame to where source is */
	VIEW_SCOPES	= 1 << 2	/* references are fresh: see below */
};

/*
 * The frame that the op's arguments "thread" and "frame" name, else the
 * selected one; neither is moved.  op NULL: the selected one.  fn is called
 * once, perhaps before this returns; never, if the op was refused for what
 * these arguments are.
 *
 * Some adapters number scopes anew for each frame they are asked about, so
 * one view is read at a time; a reference from scopes may be used only by
 * requests sent from within fn, with VIEW_SCOPES.
 */
void	 view_ask(struct op *, unsigned int want, view_fn, void *arg);
/* The same, of a frame that is named here. */
void	 view_at(struct op *, int64_t thread, unsigned int frame,
	    unsigned int want, view_fn, void *arg);
/* Forgets what was read of the program: it is not valid any more. */
void	 view_drop(void);

/* The frame in view, as the adapter gave it; NULL = there is none. */
struct json_object *view_frame(const struct view *);
/* Its id for requests; false: none. */
bool	 view_frame_id(const struct view *, int64_t *);
/* The scope that is hinted or named so ("registers"); 0 = none. */
int64_t	 view_scope(const struct view *, const char *hint);
/* The source of a frame, if it can be read: out has PATH_MAX bytes. */
bool	 view_source_path(struct json_object *frame, char *out);

#endif
