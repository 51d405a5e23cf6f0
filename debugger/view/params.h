/* SPDX-License-Identifier: ISC */
/* Which of a frame's variables are its parameters, where adapters mix them. */
#ifndef DEBUGGER_VIEW_PARAMS_H
#define DEBUGGER_VIEW_PARAMS_H

struct json_object;
struct op;
struct view;

/* An array of names, borrowed, perhaps empty. */
typedef void	(*params_fn)(struct op *, struct json_object *names,
	    void *arg);

/*
 * The parameters' names of the function in view: asked for once per
 * function.  fn is called once, perhaps before this returns.
 */
void	 params_get(struct op *, const struct view *, params_fn, void *arg);
/* Another program. */
void	 params_forget(void);

#endif
