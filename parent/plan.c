/* SPDX-License-Identifier: ISC */
/*
 * The plan: all that the parent knows of the configuration, as setup says it
 * at the start and at a reload.  Setup has read a file and asked NSS modules
 * by then, so it is believed as little as any other role: each field is
 * checked, and what only a restart may change must be as it is.
 */
#include <sys/socket.h>
#include <sys/un.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "parent.h"

/* Parts of a plan, without which it is not whole. */
enum {
	GOT_PLAN	= 1 << 0,
	GOT_TLS		= 1 << 1,
	GOT_QUOTAS	= 1 << 2,
	GOT_WARNINGS	= 1 << 3,
	GOT_ALL		= (1 << 4) - 1
};

int	parent_on_plan_start(struct msg *);
int	parent_on_plan(struct msg *);
int	parent_on_plan_audit(struct msg *);
int	parent_on_plan_tls(struct msg *);
int	parent_on_plan_listener(struct msg *);
int	parent_on_plan_kept(struct msg *);
int	parent_on_plan_quotas(struct msg *);
int	parent_on_plan_warnings(struct msg *);
int	parent_on_plan_end(struct msg *);

/* The one in force and the one to come, by turns. */
static struct plan	 plans[2] = { { .audit_fd = -1 }, { .audit_fd = -1 } };
static struct plan	*next = &plans[0];

void
plan_drop(void)
{
	size_t i;

	for (i = 0; i < next->nlisteners; i++)
		if (next->listeners[i].fd != -1)
			close(next->listeners[i].fd);
	if (next->audit_fd != -1)
		close(next->audit_fd);
	free(next->warnings);
	memset(next, 0, sizeof(*next));
	next->audit_fd = -1;
}

int
parent_on_plan_start(struct msg *m)
{
	uint32_t mode = msg_get_u32(m), bits = msg_get_u32(m);
	size_t i;

	/* at a reload nobody may say it again */
	if (d.mode != 0 || mode < MODE_SYSTEM || mode > MODE_USER)
		return -1;
	d.mode = mode;
	d.foreground = (bits & PLAN_FOREGROUND) != 0;
	d.local = (bits & PLAN_LOCAL) != 0;
	d.own_tree = (bits & PLAN_OWN_TREE) != 0;
	d.watchdog_ms = msg_get_u64(m);
	for (i = 0; i < ROLE_COUNT; i++) {
		d.role_id[i].uid = msg_get_u32(m);
		d.role_id[i].gid = msg_get_u32(m);
	}
	msg_get_str(m, d.libexec, sizeof(d.libexec));
	msg_get_str(m, d.tree, sizeof(d.tree));
	msg_get_str(m, d.bus, sizeof(d.bus));
	msg_get_str(m, d.conf_file, sizeof(d.conf_file));
	msg_get_str(m, d.fixed, sizeof(d.fixed));
	return msg_end(m);
}

int
parent_on_plan(struct msg *m)
{
	if (next->got & GOT_PLAN)
		return -1;
	next->got |= GOT_PLAN;
	settings_get(m, &next->settings);
	next->exit_idle = msg_get_u32(m);
	next->mdns = msg_get_u32(m) != 0;
	msg_get_str(m, next->service, sizeof(next->service));
	next->audit = msg_get_u32(m);
	msg_get_str(m, next->audit_file, sizeof(next->audit_file));
	return msg_end(m) == -1 || next->settings.log_level > LOG_L_DEBUG ||
	    next->audit >= AUDIT_COUNT ? -1 : 0;
}

/* Lines are added to it, and nothing that it is makes that wait. */
static bool
is_appended_to(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	return flags != -1 && (flags & O_ACCMODE) == O_WRONLY &&
	    (flags & O_APPEND) != 0;
}

int
parent_on_plan_audit(struct msg *m)
{
	if (next->audit != AUDIT_NEW || next->audit_fd != -1 ||
	    !is_appended_to(m->fd))
		return -1;
	next->audit_fd = msg_take_fd(m);
	return msg_end(m);
}

int
parent_on_plan_tls(struct msg *m)
{
	struct tls_seen *f;

	if (next->got & GOT_TLS)
		return -1;
	next->got |= GOT_TLS;
	for (f = next->tls; f < next->tls + TLS_FILES; f++) {
		f->seen = msg_get_u32(m) != 0;
		f->dev = msg_get_u64(m);
		f->ino = msg_get_u64(m);
		f->sec = msg_get_u64(m);
		f->nsec = msg_get_u64(m);
	}
	return msg_end(m);
}

/* Roles print it, and users see it. */
static bool
is_plain(const char *text)
{
	for (; *text != '\0'; text++)
		if ((unsigned char)*text < 0x20 || *text == 0x7f)
			return false;
	return true;
}

/* NULL: there are too many, or what it says of the next one is wrong. */
static struct listener *
next_listener(struct msg *m)
{
	struct listener *l = &next->listeners[next->nlisteners];

	if (next->nlisteners == MAX_LISTENERS)
		return NULL;
	memset(l, 0, sizeof(*l));
	l->fd = -1;
	l->flags = msg_get_u32(m);
	l->uid = msg_get_u32(m);
	msg_get_str(m, l->text, sizeof(l->text));
	/* nobody is taken for root */
	return l->flags > LISTENER_ALL || !is_plain(l->text) ||
	    (l->flags & LISTENER_AUTH_NONE && l->uid == 0) ? NULL : l;
}

static bool
is_address(const struct sockaddr_storage *ss, size_t len)
{
	switch (ss->ss_family) {
	case AF_INET:
		return len == sizeof(struct sockaddr_in);
	case AF_INET6:
		return len == sizeof(struct sockaddr_in6);
	case AF_UNIX:
		/* a path with its NUL, which is removed at the end */
		return len == sizeof(struct sockaddr_un) &&
		    ((const struct sockaddr_un *)ss)->sun_path[0] == '/' &&
		    memchr(((const struct sockaddr_un *)ss)->sun_path, '\0',
		    sizeof(((struct sockaddr_un *)NULL)->sun_path)) != NULL;
	default:
		return false;
	}
}

/* Does it take connections there, and not make others wait? */
static bool
listens(int fd, const struct sockaddr_storage *want)
{
	struct sockaddr_storage ss = { 0 };
	socklen_t len = sizeof(ss), n = sizeof(int);
	int accepts = 0, flags = fcntl(fd, F_GETFL);

	return flags != -1 && (flags & O_NONBLOCK) != 0 &&
	    getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &accepts, &n) == 0 &&
	    accepts == 1 &&
	    getsockname(fd, (struct sockaddr *)&ss, &len) == 0 &&
	    ss.ss_family == want->ss_family;
}

int
parent_on_plan_listener(struct msg *m)
{
	struct listener *l = next_listener(m);
	const void *p;
	size_t len;

	if (l == NULL)
		return -1;
	p = msg_get_rest(m, &len);
	if (msg_end(m) == -1 || len < sizeof(sa_family_t) ||
	    len > sizeof(l->addr))
		return -1;
	memcpy(&l->addr, p, len);
	l->len = (socklen_t)len;
	if (!is_address(&l->addr, len) || !listens(m->fd, &l->addr))
		return -1;
	l->fd = msg_take_fd(m);
	next->nlisteners++;
	return 0;
}

/* Its socket stays with the plan in force, until this one is. */
int
parent_on_plan_kept(struct msg *m)
{
	uint32_t i = msg_get_u32(m);
	struct listener *l = next_listener(m);

	if (l == NULL || msg_end(m) == -1 || d.plan == NULL ||
	    i >= d.plan->nlisteners || next->kept[i])
		return -1;
	next->kept[i] = true;
	l->addr = d.plan->listeners[i].addr;
	l->len = d.plan->listeners[i].len;
	l->was = i;
	next->nlisteners++;
	return 0;
}

static void
get_quota(struct msg *m, struct quota *q)
{
	size_t i;

	q->kind = msg_get_u32(m);
	q->id = msg_get_u32(m);
	for (i = 0; i < QUOTA_COUNT; i++)
		q->most[i] = msg_get_u64(m);
	msg_get_str(m, q->name, sizeof(q->name));
}

int
parent_on_plan_quotas(struct msg *m)
{
	struct quota *q;

	if (next->got & GOT_QUOTAS)
		return -1;
	next->got |= GOT_QUOTAS;
	while (m->left > 0 && !m->bad) {
		if (next->nquotas == MAX_QUOTAS)
			return -1;
		q = &next->quotas[next->nquotas++];
		get_quota(m, q);
		if (q->kind >= QUOTA_KINDS)
			return -1;
	}
	return msg_end(m);
}

int
parent_on_plan_warnings(struct msg *m)
{
	const char *text;
	size_t len;

	text = msg_get_strings(m, &len);
	if (next->got & GOT_WARNINGS || msg_end(m) == -1)
		return -1;
	next->got |= GOT_WARNINGS;
	next->nwarnings = len;
	next->warnings = len == 0 ? NULL : malloc(len);
	if (len > 0 && next->warnings == NULL) {
		log_warn("the configuration's warnings are lost");
		next->nwarnings = 0;
	} else if (len > 0)
		memcpy(next->warnings, text, len);
	return 0;
}

/*
 * A running process cannot get its users, places and isolation again, so
 * setup refuses a configuration with others, and has to send the same.
 */
static bool
keeps_fixed(const struct settings *a, const struct settings *b)
{
#define SAME_NUM(f)	a->f == b->f
#define SAME_STR(f)	strcmp(a->f, b->f) == 0
	return SAME_NUM(sum_users) && SAME_NUM(rlimit_users) &&
	    SAME_NUM(min_uid) && SAME_NUM(run_uid) && SAME_NUM(run_gid) &&
	    SAME_NUM(daemon_uid) && SAME_NUM(weakened) &&
	    SAME_NUM(controllers) && SAME_NUM(has_shadow) &&
	    SAME_STR(state_dir) && SAME_STR(run_dir) && SAME_STR(cgroup) &&
	    SAME_STR(allow_groups) && SAME_STR(version);
#undef SAME_NUM
#undef SAME_STR
}

static bool
is_whole(const struct plan *p)
{
	return d.mode != 0 && p->got == GOT_ALL && p->nlisteners > 0 &&
	    (p->audit == AUDIT_NEW) == (p->audit_fd != -1) &&
	    (p->audit != AUDIT_KEPT || audit_is_open()) &&
	    (d.plan == NULL || keeps_fixed(&p->settings, &d.plan->settings));
}

int
parent_on_plan_end(struct msg *m)
{
	struct plan *old = d.plan;

	if (msg_end(m) == -1 || !is_whole(next))
		return -1;
	listen_move(old, next);
	d.plan = next;
	next = next == &plans[0] ? &plans[1] : &plans[0];
	audit_commit();
	/* what is left of the one before */
	plan_drop();
	if (old != NULL)
		parent_hooks->reloaded();
	return 0;
}

/* By now it is in the log that is said what is perhaps not meant. */
void
plan_warn(void)
{
	const char *line = d.plan->warnings;
	const char *end = line + d.plan->nwarnings;

	for (; line != NULL && line < end; line += strlen(line) + 1)
		log_warnx("%s", line);
	free(d.plan->warnings);
	d.plan->warnings = NULL;
	d.plan->nwarnings = 0;
}

void
plan_tell_quotas(void)
{
	const struct quota *q;
	struct msg_out *o;
	size_t i;

	for (q = d.plan->quotas; q < d.plan->quotas + d.plan->nquotas; q++) {
		o = msg_new(MSG_QUOTA_RULE, NULL, 0, 0);
		msg_put_u32(o, q->kind);
		msg_put_u32(o, q->id);
		for (i = 0; i < QUOTA_COUNT; i++)
			msg_put_u64(o, q->most[i]);
		msg_put_str(o, q->name);
		(void)child_send(ROLE_SPAWNER, o, -1);
	}
	(void)child_send(ROLE_SPAWNER, msg_new(MSG_QUOTA_RULES_END, NULL, 0,
	    0), -1);
}
