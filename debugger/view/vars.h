/* SPDX-License-Identifier: ISC */
/* Variables: as clients see them, and what is inside of them. */
#ifndef DEBUGGER_VIEW_VARS_H
#define DEBUGGER_VIEW_VARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "debugger/base/format.h"

struct json_object;
struct op;

/*
 * Additions of the adapter: groups of special members for its own editor, and
 * lldb the bits between C++'s bit fields, as a member without a name.
 */
bool	 var_hidden(struct json_object *dap);
/* Its value is its text: the single characters tell nothing more. */
bool	 var_is_text(struct json_object *dap);
/* A reference of C++, by its type. */
bool	 var_is_reference(struct json_object *dap);
/* lldb gives such a reference's address, and the value as a member of it. */
bool	 var_lacks_value(struct json_object *dap);
/*
 * "0x7ffe0010: 7", of a reference's value and its members, to be freed by the
 * caller; NULL: the members are those of the object itself.
 */
char	*var_referred(const char *value, struct json_object *vars);
/*
 * {"name","type","value","children","path","truncated","bytes"} of a
 * variable or of what was evaluated; value_max bytes of its value from
 * skip on.
 */
struct json_object *var_make(struct json_object *dap, const char *name,
	    size_t value_max, size_t skip, enum number_format);
/*
 * Puts an array of the adapter's variables into answer under key, from the
 * one at offset on, as far as there is room.
 */
void	 vars_put_some(struct bound *, struct json_object *answer, const char *key,
    struct json_object *dap, int64_t offset, enum number_format);

/* var has its "fields" now; code NULL = good.  var is borrowed. */
typedef void	(*vars_fn)(struct op *, struct json_object *var,
	    const char *code, const char *why, void *arg);
/*
 * Reads what is inside of a variable, two levels deep, from the element at
 * offset on, into var["fields"].  Takes var.  fn is called once, perhaps
 * before this returns.
 */
void	 vars_expand(struct op *, struct json_object *var,
	    struct json_object *dap, int64_t offset, enum number_format,
	    vars_fn, void *arg);
/* A copy of var (with its fields) that fits. */
struct json_object *vars_fit(struct bound *, struct json_object *var,
	    int64_t offset);

#endif
