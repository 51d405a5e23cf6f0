/* SPDX-License-Identifier: ISC */
/* Settings on the wire, from the table. */
#include <stdlib.h>
#include <string.h>

#include "settings.h"

void
settings_put(struct msg_out *o, const struct settings *s)
{
#define HOST_NUM(name)		msg_put_u64(o, s->name);
#define HOST_STR(name, size)	msg_put_str(o, s->name);
#define NUM(to, name, ...)	FOR_##to(HOST_NUM(name))
#define STR(to, name, ...)	FOR_##to(HOST_STR(name, ))
#include "settings.def"
}

void
settings_get(struct msg *m, struct settings *s)
{
#define HOST_NUM(name)		s->name = msg_get_u64(m);
#define HOST_STR(name, size)	msg_get_str(m, s->name, sizeof(s->name));
#define NUM(to, name, ...)	FOR_##to(HOST_NUM(name))
#define STR(to, name, ...)	FOR_##to(HOST_STR(name, ))
#include "settings.def"
}

bool
settings_have_group(const struct settings *s, uint32_t gid)
{
	/* "27,44": decimal */
	const char *p = s->allow_groups;
	char *end;

	if (gid == 0)
		return false;
	if (gid >= s->min_uid && gid <= LAST_UID)
		return true;
	while (*p != '\0') {
		if (strtoul(p, &end, 10) == gid && end != p)
			return true;
		p = end + strcspn(end, ",");
		p += *p == ',';
	}
	return false;
}
