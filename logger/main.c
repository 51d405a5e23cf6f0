/* SPDX-License-Identifier: ISC */
/*
 * logger: the process that writes the log and the audit file.  Each role has a
 * link of its own to it, so that no role can speak by another one's name.  The
 * parent keeps both ends of the links: what is in them waits for the next
 * logger when this one ends.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "auditfile.h"
#include "base/log.h"
#include "kept.h"
#include "out.h"
#include "sysfilter.h"
#include "wire/msg.h"
#include "wire/role.h"
#include "wire/start.h"

/* Lines of one role per second; the rest is counted and said once. */
#define LINES_PER_SECOND	50
/* Messages read from a link at the end: more than its socket holds. */
#define LAST_WORDS		4096
/* The parent's own link, which comes before the roles'. */
#define PARENT_LINK		0

int	log_on_line(struct msg *);
int	log_on_link(struct msg *);
int	log_on_kept(struct msg *);
int	log_on_place(struct msg *);
int	log_on_hostlog(struct msg *);
int	log_on_audit_file(struct msg *);
int	log_on_audit_file_gone(struct msg *);

/* The channel comes first: it is what a message names. */
struct link {
	struct channel	 chan;
	uint64_t	 second;
	unsigned int	 lines, lost;
	bool		 heard;		/* this process has read a line of it */
};

static struct link	 links[LOG_LINKS];
static const struct link *complained;	/* first to log an error */
static bool		 placed, started;	/* by LOG_PLACE */
static bool		 serves, ending;

static void
links_go_on(void)
{
	struct link *l;

	for (l = links; l < links + LOG_LINKS; l++)
		if (chan_is_open(&l->chan))
			chan_pause(&l->chan, false);
}

static void
ask_for_hostlog(void)
{
	(void)chan_send(&parent_chan, msg_new(MSG_HOSTLOG_LOST, NULL, 0, 0),
	    -1);
}

static const struct out_hooks hooks = {
	.room = links_go_on,
	.lost = ask_for_hostlog,
};

/*
 * The parent's next messages are needed before anything else: also to say why
 * there will be no logger.
 */
static void
prepare(void)
{
	size_t i;

	for (i = 0; i < LOG_LINKS; i++)
		links[i].chan.fd = -1;
	out_init(&hooks);
	while (!placed)
		if (chan_recv_one(&parent_chan) == -1)
			fatalx("the parent does not say where the log goes");
	log_init(role_name(ROLE_LOGGER), (enum log_level)settings.log_level,
	    out_own);
}

static void
gone(struct channel *c, const char *why)
{
	if (why != NULL)
		role_peer_gone(c, why);
}

int
log_on_link(struct msg *m)
{
	uint32_t i = msg_get_u32(m), role = msg_get_u32(m);

	if (msg_end(m) == -1 || i >= LOG_LINKS || role >= ROLE_COUNT)
		return -1;
	chan_close(&links[i].chan);
	chan_init(&links[i].chan, ROLE_LOGGER, role, gone, NULL);
	chan_refuse_fds(&links[i].chan);
	(void)chan_open(&links[i].chan, msg_take_fd(m), 0);
	return 0;
}

int
log_on_kept(struct msg *m)
{
	if (kept_open(m->fd) == -1)
		log_warn("lines that wait are lost with this process");
	return msg_end(m);
}

int
log_on_place(struct msg *m)
{
	uint32_t bits = msg_get_u32(m);

	placed = true;
	started = (bits & LOG_STARTED) != 0;
	out_place(bits);
	return msg_end(m);
}

int
log_on_hostlog(struct msg *m)
{
	out_hostlog(msg_take_fd(m));
	return msg_end(m);
}

int
log_on_audit_file(struct msg *m)
{
	auditfile_use(msg_take_fd(m), serves);
	return msg_end(m);
}

int
log_on_audit_file_gone(struct msg *m)
{
	auditfile_use(-1, true);
	return msg_end(m);
}

/*
 * False: the role has said enough.  A fault at the start often hits several
 * roles, and the first to log it is enough.  The audit trail is complete or it
 * is none.
 */
static bool
may_say(struct link *l, enum log_level level)
{
	uint64_t second = loop_now_ms() / 1000;

	if (level == LOG_L_ERROR && complained == NULL)
		complained = l;
	if (level == LOG_L_ERROR && !started && complained != l)
		return false;
	if (l->second != second) {
		if (l->lost > 0)
			log_warnx("%s: %u lines were left out",
			    role_name(l->chan.peer), l->lost);
		l->second = second;
		l->lines = l->lost = 0;
	}
	if (++l->lines <= LINES_PER_SECOND || level == LOG_L_AUDIT)
		return true;
	l->lost++;
	return false;
}

/*
 * Number of this line among its sender's.  A logger that is killed may have a
 * line in hand that is neither in the link any more nor kept, so the first line
 * that the next logger reads tells; no later one.
 */
static void
look_for_gap(struct link *l, uint64_t number)
{
	uint64_t last = kept->seen[l - links];
	bool first = !l->heard;

	l->heard = true;
	if (first && last != 0 && number > last && number - last > 1)
		log_warnx("%s: as the logger was killed, %llu lines may be "
		    "lost", role_name(l->chan.peer),
		    (unsigned long long)(number - last - 1));
}

/* Escaped once more, as its sender may be in an attacker's hands. */
static void
write_line(enum role who, enum log_level level, const char *raw)
{
	char line[LOG_LINE_MAX], out[LOG_LINE_MAX + 32];
	size_t i;

	for (i = 0; i < sizeof(line) - 1 && raw[i] != '\0'; i++)
		line[i] = raw[i] < 0x20 || raw[i] >= 0x7f ? '?' : raw[i];
	line[i] = '\0';
	if (level == LOG_L_AUDIT)
		auditfile_line(line);
	(void)snprintf(out, sizeof(out), "%s: %s", role_name(who), line);
	out_line(level, out);
}

int
log_on_line(struct msg *m)
{
	struct link *l = (struct link *)m->chan;
	uint32_t level = msg_get_u32(m);
	char raw[LOG_LINE_MAX + 1];

	msg_get_str(m, raw, sizeof(raw));
	/* who did what is the spawner's to say, and nobody else's */
	if (msg_end(m) == -1 || m->chan == &parent_chan ||
	    level > LOG_L_AUDIT ||
	    (level == LOG_L_AUDIT && m->chan->peer != ROLE_SPAWNER))
		return -1;
	if (l == &links[PARENT_LINK] || may_say(l, level)) {
		look_for_gap(l, m->hdr.request);
		write_line(m->chan->peer, level, raw);
	}
	/* afterwards: a gap that is none is better than one that is not seen */
	kept->seen[l - links] = m->hdr.request;
	if (l == &links[PARENT_LINK])
		return 0;
	chan_calm(m->chan);
	if (out_is_full() && ending)
		out_end();
	else if (out_is_full())
		chan_pause(m->chan, true);
	return 0;
}

/* All that the others have said is in their links; the parent speaks last. */
static void
write_the_rest(void)
{
	size_t i;

	ending = true;
	links_go_on();
	for (i = LOG_LINKS; i-- > 0;)
		if (chan_is_open(&links[i].chan))
			chan_drain(&links[i].chan, LAST_WORDS);
	out_end();
}

static void
start(void)
{
	serves = true;
}

static void
stop(void)
{
	write_the_rest();
	_exit(0);
}

int
main(void)
{
	static const struct role_desc desc = {
		.self = ROLE_LOGGER,
		.prepare = prepare,
		.landlock = true,
		.landlock_level = LANDLOCK_NOTHING,
		/* the audit file and standard error may be long */
		.fsize = -1,
		.nproc = 0,
		.filter = &logger_filter,
		.start = start,
		.shutdown = stop,
		.orphaned = write_the_rest,
	};

	role_main(&desc);
}
