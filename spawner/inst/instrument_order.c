/* SPDX-License-Identifier: ISC */
/* Orders of processes beside sessions, and the launcher's answers. */
#include <stdio.h>
#include <string.h>

#include "instrument_order.h"
#include "spawner/link/peers.h"
#include "spawner/policy/quota.h"
#include "spawner/policy/quotas.h"
#include "spawner/run/start.h"
#include "wire/fdkind.h"
#include "wire/handlers.h"

#define BEGIN_MS	10000

static LIST_HEAD(, inst_order) orders = LIST_HEAD_INITIALIZER(orders);

void
inst_order_init(struct inst_order *u, struct session *s,
    const struct inst_order_ops *ops)
{
	size_t i;

	memset(u, 0, sizeof(*u));
	u->ops = ops;
	u->session = s;
	for (i = 0; i < INSTRUMENT_FD_COUNT; i++)
		u->fds[i] = -1;
}

static void
done(struct inst_order *u)
{
	if (u->serial == 0)
		return;
	loop_timer_unset(&u->timer);
	LIST_REMOVE(u, next);
	u->serial = 0;
}

static void
fail(struct inst_order *u, enum err err, const char *why)
{
	done(u);
	u->ops->failed(u, err, why);
}

static void
on_late(void *arg)
{
	struct inst_order *u = arg;
	char text[100];

	(void)snprintf(text, sizeof(text), "the %s's process did not start "
	    "within 10 seconds", u->ops->name);
	fail(u, u->ops->lost, text);
}

int
inst_order_send(struct inst_order *u, const struct run_owner *rights)
{
	struct msg_out *o;
	struct quota q;

	quota_of(u->session->owner, &q);
	quota_tell(u->session->owner);
	u->serial = next_serial();
	o = msg_new(MSG_INSTRUMENT, &u->session->id, 0, u->serial);
	owner_put(o, rights);
	msg_put_u32(o, u->ops->role);
	msg_put_u64(o, q.most[QUOTA_MEMORY]);
	msg_put_u64(o, q.most[QUOTA_PROCESSES]);
	if (chan_send(&launcher_chan, o, -1) == -1) {
		u->serial = 0;
		return -1;
	}
	LIST_INSERT_HEAD(&orders, u, next);
	loop_timer_set(&u->timer, BEGIN_MS, on_late, u);
	return 0;
}

void
inst_order_end(struct inst_order *u)
{
	done(u);
	fd_close(&u->fds[INSTRUMENT_FD_CHANNEL]);
}

void
inst_order_launcher_lost(void)
{
	struct inst_order *u;

	while ((u = LIST_FIRST(&orders)) != NULL)
		fail(u, ERR_TRY_AGAIN, NULL);
}

static struct inst_order *
find(const struct msg *m)
{
	struct inst_order *u;

	LIST_FOREACH(u, &orders, next)
		if (u->serial == m->hdr.request)
			return u;
	return NULL;
}

int
spawn_on_instrument_fd(struct msg *m)
{
	static const enum msg_fd kinds[INSTRUMENT_FD_COUNT] = {
		[INSTRUMENT_FD_CHANNEL] = FD_SOCKET,
		[INSTRUMENT_FD_PIDFD] = FD_PIDFD,
	};
	struct inst_order *u = find(m);
	uint32_t kind = msg_get_u32(m);

	if (msg_end(m) == -1 || kind >= INSTRUMENT_FD_COUNT ||
	    fdkind_check(kinds[kind], m->fd) != NULL)
		return -1;
	/* of one that was given up: it goes with its channel */
	if (u == NULL)
		return 0;
	if (u->fds[kind] != -1)
		return -1;
	u->fds[kind] = msg_take_fd(m);
	return 0;
}

int
spawn_on_instrument_ran(struct msg *m)
{
	struct inst_order *u = find(m);

	(void)msg_get_u32(m);
	if (msg_end(m) == -1)
		return -1;
	if (u == NULL)
		return 0;
	if (u->fds[INSTRUMENT_FD_CHANNEL] == -1 ||
	    u->fds[INSTRUMENT_FD_PIDFD] == -1)
		return -1;
	done(u);
	u->ops->came(u);
	return 0;
}

int
spawn_on_instrument_failed(struct msg *m)
{
	struct inst_order *u = find(m);
	uint32_t step = msg_get_u32(m), errnum = msg_get_u32(m);
	const char *why = strerrordesc_np((int)errnum);
	char text[400];

	if (msg_end(m) == -1 || step == STEP_NONE || step >= STEP_COUNT)
		return -1;
	if (u == NULL)
		return 0;
	if (!start_used_up(u->session, step, errnum, text, sizeof(text)))
		(void)snprintf(text, sizeof(text), "cannot %s: %s",
		    step_text(step), why == NULL ? "unknown error" : why);
	fail(u, step_code(step, u->ops->lost), text);
	return 0;
}
