/* SPDX-License-Identifier: ISC */
/* Answers to netproc. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "activity.h"
#include "answer.h"
#include "client.h"
#include "spawner/link/peers.h"
#include "wire/role.h"

/* Text of a RESULT: a little less than fits beside its two numbers. */
#define TEXT_MAX	1000

bool
asker_init(struct asker *a, const struct msg *m, const char *command)
{
	struct client *c = client_find(m->hdr.conn);

	memset(a, 0, sizeof(*a));
	if (c == NULL || c->viewer == NULL)
		return false;
	c->spoke = true;
	a->viewer = c->viewer;
	a->owner = c->viewer->owner;
	a->flags = c->flags;
	a->door = c->door;
	memcpy(a->address, c->address, sizeof(a->address));
	memcpy(a->token, c->token, sizeof(a->token));
	memcpy(a->key, c->key, sizeof(a->key));
	a->command = command;
	a->request = m->hdr.request;
	a->conn = m->hdr.conn;
	a->generation = m->hdr.generation;
	return true;
}

bool
asker_is_admin(const struct asker *a)
{
	return (a->flags & PRINCIPAL_ADMIN) != 0 || role_mode == MODE_USER;
}

bool
asker_stands(const struct asker *a)
{
	const struct client *c = client_find(a->conn);

	return c != NULL && c->viewer == a->viewer &&
	    a->generation == netproc_chan.generation;
}

bool
asker_waits(const struct asker *a)
{
	return a->owner != NULL;
}

struct msg_out *
answer_new(const struct asker *a, enum msg_type type, const struct sid *id)
{
	return msg_new(type, id, a->conn, a->request);
}

int
answer_with(struct asker *a, struct msg_out *o, int fd)
{
	/* connections and requests of an earlier netproc mean nothing now */
	if (a->owner == NULL || a->generation != netproc_chan.generation) {
		fd_close(&fd);
		return -1;
	}
	return chan_send(&netproc_chan, o, fd);
}

void
answer(struct asker *a, const struct sid *id, enum err code,
    const char *message, ...)
{
	char text[TEXT_MAX] = "";
	struct msg_out *o;
	va_list ap;

	if (a->owner == NULL)
		return;
	if (message != NULL) {
		va_start(ap, message);
		(void)vsnprintf(text, sizeof(text), message, ap);
		va_end(ap);
	}
	o = answer_new(a, MSG_RESULT, id);
	msg_put_u32(o, code);
	msg_put_str(o, text);
	(void)answer_with(a, o, -1);
	/* afterwards: who waits for the answer does not wait for the log */
	activity_answer(a, id, code, text);
	a->owner = NULL;
}

enum err
step_code(uint32_t step, enum err usual)
{
	return step == STEP_PENDING || step == STEP_PENDING_ALL ? ERR_BUSY :
	    usual;
}
