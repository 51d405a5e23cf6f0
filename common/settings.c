/* SPDX-License-Identifier: ISC */
/* Settings on the wire, from the table. */
#include "settings.h"

void
settings_put(struct msg_out *o, const struct settings *s)
{
#define NUM(name)	msg_put_u64(o, s->name);
#define STR(name, size)	msg_put_str(o, s->name);
#include "settings.def"
#undef NUM
#undef STR
}

void
settings_get(struct msg *m, struct settings *s)
{
#define NUM(name)	s->name = msg_get_u64(m);
#define STR(name, size)	msg_get_str(m, s->name, sizeof(s->name));
#include "settings.def"
#undef NUM
#undef STR
}
