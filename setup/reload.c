/* SPDX-License-Identifier: ISC */
/*
 * A reload: the parent, whose child this is, has said what is in force.  The
 * configuration is read and its names are found, as _dlparent without any
 * capability; the parent gets a plan, or lines that say why there is none.
 */
#include <sys/prctl.h>

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "confine/filter.h"
#include "setup.h"

int	setup_on_reload(struct msg *);
int	setup_on_reload_listener(struct msg *);
int	setup_on_reload_end(struct msg *);

static struct channel	 chan;
static bool		 heard;		/* all that is in force */

/*
 * A directory service's module runs in here, as the parent's own user.  These
 * calls would reach the parent by another way than the channel, or outlive the
 * reload.
 */
static const struct filter_rule rules[] = {
#define REFUSED(name)	{ .nr = SCMP_SYS(name) }
	REFUSED(kill), REFUSED(tkill), REFUSED(tgkill), REFUSED(rt_sigqueueinfo),
	REFUSED(rt_tgsigqueueinfo), REFUSED(pidfd_send_signal),
	REFUSED(pidfd_getfd), REFUSED(ptrace), REFUSED(process_vm_readv),
	REFUSED(process_vm_writev), REFUSED(setpriority), REFUSED(ioprio_set),
	REFUSED(sched_setscheduler), REFUSED(sched_setparam),
	REFUSED(sched_setattr), REFUSED(sched_setaffinity),
	REFUSED(execve), REFUSED(execveat), REFUSED(fork), REFUSED(vfork),
	/* its own limits by number 0, those of others by theirs */
	{ .nr = SCMP_SYS(prlimit64), .nargs = 1,
	  .args = { { .arg = 0, .op = SCMP_CMP_NE, .datum_a = 0 } } },
	/* threads, but no process that would outlive this one */
	{ .nr = SCMP_SYS(clone), .nargs = 1,
	  .args = { FILTER_CLEAR(0, CLONE_THREAD) } },
#undef REFUSED
};

static const struct filter reload_filter = {
	.otherwise = SCMP_ACT_ALLOW,
	.matched = SCMP_ACT_ERRNO(1),	/* EPERM */
	.rules = rules,
	.nrules = sizeof(rules) / sizeof(rules[0]),
};

int
setup_on_reload(struct msg *m)
{
	static char file[WHOLE_NAME_LEN];

	if (d.mode != 0)
		return -1;
	d.mode = msg_get_u32(m);
	d.force.audit_dev = msg_get_u64(m);
	d.force.audit_ino = msg_get_u64(m);
	msg_get_str(m, d.force.audit_file, sizeof(d.force.audit_file));
	/* by its whole name, wherever setup was started */
	msg_get_str(m, file, sizeof(file));
	if (file[0] != '\0')
		d.opt.file = file;
	msg_get_str(m, d.force.fixed, sizeof(d.force.fixed));
	settings_get(m, &d.settings);
	return msg_end(m);
}

int
setup_on_reload_listener(struct msg *m)
{
	char text[LISTENER_TEXT];
	const void *addr;
	size_t len;

	msg_get_str(m, text, sizeof(text));
	addr = msg_get_rest(m, &len);
	return msg_end(m) == -1 ? -1 : listen_present(text, addr, len);
}

int
setup_on_reload_end(struct msg *m)
{
	heard = true;
	return msg_end(m);
}

static void
parent_gone(struct channel *c, const char *why)
{
	(void)c;
	(void)why;
	_exit(1);
}

static void
send_line(enum log_level level, const char *line)
{
	struct msg_out *o = msg_new(MSG_PLAN_LOG, NULL, 0, 0);

	msg_put_u32(o, level);
	msg_put_str(o, line);
	(void)chan_send(&chan, o, -1);
}

static const char *
needs_restart(const struct conf *c)
{
	static char fixed[FIXED_MAX];
	const char *key;

	if (!conf_restart_text(c, fixed, sizeof(fixed)))
		return "allow-group (to more names than there is room for)";
	if ((key = conf_restart_differs(fixed, d.force.fixed)) != NULL)
		return key;
	/* nobody could be told from a session, and so nobody be served */
	if (d.mode == MODE_SYSTEM && !c->control &&
	    d.settings.cgroup[0] == '\0')
		return "control (to no, without cgroups)";
	return NULL;
}

static bool
can_become(const struct conf *c)
{
	const char *key = needs_restart(c);

	if (key != NULL)
		log_error("the configuration was not reloaded: %s changes at "
		    "a restart only", key);
	else if (access_find(c) == -1)
		log_error("the configuration was not reloaded: it names "
		    "somebody that cannot be meant");
	else if (audit_find(c) == -1)
		log_error("the configuration was not reloaded: there is no "
		    "audit-file that could be written");
	else if (listen_open(c) == -1)
		log_error("the configuration was not reloaded: a listener "
		    "could not be opened");
	else
		return true;
	return false;
}

/* As the start has found them. */
static void
find_present(void)
{
	d.self = (struct identity){ getuid(), getgid() };
	d.run_id.uid = (uid_t)d.settings.run_uid;
	d.run_id.gid = (gid_t)d.settings.run_gid;
	(void)snprintf(d.run_dir, sizeof(d.run_dir), "%s",
	    d.settings.run_dir);
}

static void
confine(void)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == -1 ||
	    (!(d.settings.weakened & WEAKEN_SECCOMP) &&
	    filter_load(&reload_filter) == -1))
		fatal("cannot confine what reads the configuration");
}

void
reload_main(void)
{
	(void)prctl(PR_SET_NAME, role_name(ROLE_SETUP), 0, 0, 0);
	if (loop_init() == -1)
		fatal("epoll");
	chan_init(&chan, ROLE_SETUP, ROLE_PARENT, parent_gone, NULL);
	if (chan_open(&chan, GIVEN_CHANNEL, 0) == -1)
		fatalx("fd %d is not a channel; at a reload setup is started "
		    "by the parent", GIVEN_CHANNEL);
	log_init(role_name(ROLE_SETUP), LOG_L_INFO, send_line);
	/* ends with the parent */
	while (!heard)
		(void)chan_recv_one(&chan);
	log_set_level((enum log_level)d.settings.log_level);
	find_present();
	/* by a process of its own, which a later filter would forbid */
	d.conf = flags_load();
	confine();
	if (d.conf == NULL) {
		log_error("the configuration was not reloaded");
		_exit(1);
	}
	if (!can_become(d.conf))
		_exit(1);
	settings_fill();
	plan_look();
	plan_send(&chan);
	_exit(0);
}
