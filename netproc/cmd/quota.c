/* SPDX-License-Identifier: ISC */
/* QUOTA: a row for each user, in as many messages as it takes. */
#include <string.h>

#include "base/json.h"
#include "command.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/ask.h"
#include "netproc/conn/conn.h"
#include "netproc/conn/rows.h"
#include "quota.h"
#include "wire/proto.h"
#include "wire/settings.h"

static const char *const names[QUOTA_COUNT] = {
	[QUOTA_SESSIONS] = "sessions",
	[QUOTA_BYTES] = "bytes",
	[QUOTA_CPU] = "cpu",
	[QUOTA_MEMORY] = "memory",
	[QUOTA_PROCESSES] = "processes",
};

static void
limit_json(struct text *t, uint64_t limit)
{
	json_key(t, "limit");
	if (limit == LIMIT_UNLIMITED)
		json_raw(t, "null");
	else
		json_u64(t, limit);
}

static void
row_json(struct text *t, struct msg *m)
{
	uint64_t used[QUOTA_COUNT] = { [QUOTA_CPU] = USAGE_UNKNOWN };
	const void *user;
	size_t i, len;

	user = msg_get_blob(m, &len);
	/* the comma before it was put: it may end another message's rows */
	text_puts(t, "{");
	json_key(t, "user");
	json_string(t, user, len);
	used[QUOTA_SESSIONS] = msg_get_u64(m);
	used[QUOTA_BYTES] = msg_get_u64(m);
	used[QUOTA_MEMORY] = msg_get_u64(m);
	used[QUOTA_PROCESSES] = msg_get_u64(m);
	for (i = 0; i < QUOTA_COUNT; i++) {
		json_key(t, names[i]);
		json_open(t, '{');
		if (used[i] != USAGE_UNKNOWN) {
			json_key(t, "used");
			json_u64(t, used[i]);
		}
		limit_json(t, msg_get_u64(m));
		json_close(t, '}');
	}
	json_close(t, '}');
}

void
cmd_quota(struct conn *c, struct rsession *s, const struct words *ws)
{
	const struct word *user = &ws->w[1];
	struct msg_out *o;

	(void)s;
	if (ws->n > 1 && (user->len == 0 || user->len >= USER_NAME_MAX ||
	    memchr(user->p, '\0', user->len) != NULL)) {
		command_misused(c, ws, "the user's name is missing or too "
		    "long");
		return;
	}
	o = ask_new(c, MSG_QUOTA, NULL);
	msg_put_blob(o, user->p, ws->n > 1 ? user->len : 0);
	rows_ask(c, o, row_json);
}

int
net_on_quota_rows(struct msg *m)
{
	return rows_part(m, row_json);
}
