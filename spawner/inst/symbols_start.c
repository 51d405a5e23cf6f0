/* SPDX-License-Identifier: ISC */
/*
 * Symbols processes: each reads one binary for a session's tracer, which gets
 * the channel to it.  Here is only what ends them.
 */
#include <sys/epoll.h>

#include <signal.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/log.h"
#include "spawner/link/launcher_msg.h"
#include "spawner/link/peers.h"
#include "spawner/run/stop.h"
#include "tracer.h"
#include "wire/handlers.h"

struct symproc {
	LIST_ENTRY(symproc) next;
	struct inst_order	 order;	/* first use: which is it */
	struct trcproc	*tracer;
	struct loop_io	 pid_io;
};

static struct symproc *
symproc_of_order(struct inst_order *u)
{
	return (struct symproc *)((char *)u -
	    offsetof(struct symproc, order));
}

static void
symproc_free(struct symproc *y)
{
	loop_del(&y->pid_io);
	inst_order_end(&y->order);
	fd_close(&y->order.fds[INSTRUMENT_FD_PIDFD]);
	LIST_REMOVE(y, next);
	y->tracer->nsymprocs--;
	free(y);
}

static void
tell_failed(struct trcproc *p, const char *why)
{
	struct msg_out *o = msg_new(MSG_TRC_SYMBOLS_FAILED,
	    &p->i.session->id, 0, 0);

	msg_put_str(o, why);
	(void)chan_send(&p->i.chan, o, -1);
}

static void
on_pid(uint32_t events, void *arg)
{
	(void)events;
	symproc_free(arg);
}

static void
on_came(struct inst_order *u)
{
	struct symproc *y = symproc_of_order(u);
	struct trcproc *p = y->tracer;
	int fd = u->fds[INSTRUMENT_FD_CHANNEL];

	u->fds[INSTRUMENT_FD_CHANNEL] = -1;
	(void)chan_send(&p->i.chan, msg_new(MSG_TRC_SYMBOLS,
	    &p->i.session->id, 0, 0), fd);
	if (loop_add(&y->pid_io, u->fds[INSTRUMENT_FD_PIDFD], EPOLLIN, on_pid,
	    y) == 0)
		return;
	/* its channel ends it with its tracer */
	log_warn("watching a symbols process");
	symproc_free(y);
}

static void
on_failed(struct inst_order *u, enum err err, const char *why)
{
	struct symproc *y = symproc_of_order(u);

	tell_failed(y->tracer, why == NULL ? err_text(err) : why);
	symproc_free(y);
}

static const struct inst_order_ops ops = {
	"symbols", ROLE_SYMBOLS, ERR_TRACER_LOST, on_came, on_failed
};

int
spawn_on_trc_want_symbols(struct msg *m)
{
	struct trcproc *p = trc_of(m);
	struct session *s = p->i.session;
	struct symproc *y;

	if (msg_end(m) == -1 || s == NULL || inst_is_deaf(&p->i))
		return -1;
	if (p->nsymprocs == TRC_SYMBOLS_MAX) {
		tell_failed(p, "too many processes are reading symbols for "
		    "this tracer");
		return 0;
	}
	y = calloc(1, sizeof(*y));
	if (y == NULL) {
		tell_failed(p, "out of memory");
		return 0;
	}
	y->tracer = p;
	y->pid_io = (struct loop_io)LOOP_IO_INIT;
	inst_order_init(&y->order, s, &ops);
	LIST_INSERT_HEAD(&p->symprocs, y, next);
	p->nsymprocs++;
	if (inst_order_send(&y->order, &s->owner->account.rights) == 0)
		return 0;
	symproc_free(y);
	tell_failed(p, err_text(ERR_TRY_AGAIN));
	return 0;
}

void
trc_symbols_end(struct trcproc *p)
{
	struct symproc *y;
	int pidfd;

	while ((y = LIST_FIRST(&p->symprocs)) != NULL) {
		pidfd = y->order.fds[INSTRUMENT_FD_PIDFD];
		if (pidfd != -1)
			(void)send_signal(NULL, 0, pidfd, SIGKILL, SIGNAL_ONE);
		symproc_free(y);
	}
}
