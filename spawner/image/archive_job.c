/* SPDX-License-Identifier: ISC */
/*
 * Jobs.  The archiver runs in a sandbox of its own; what it reports is
 * believed only as far as it can be checked, and a job is over when its
 * pidfd says that all of its processes are gone.
 */
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive_job.h"
#include "base/again.h"
#include "base/log.h"
#include "spawner/client/activity.h"
#include "spawner/link/launcher_msg.h"
#include "spawner/link/peers.h"
#include "spawner/policy/quota.h"
#include "spawner/run/stop.h"
#include "upload.h"
#include "wire/fdkind.h"
#include "wire/handlers.h"
#include "wire/jobreport.h"
#include "wire/role.h"
#include "wire/run.h"

#define UNPACK_MS	(300 * 1000)
#define PACK_MS		(1800 * 1000)
/* Between telling a job to die and giving it up. */
#define KILL_MS		2000
/* From its last word, or the first that is nonsense, to its end. */
#define LEAVE_MS	5000
#define PACKS_MAX	2
/*
 * Each bundle that is being unpacked may take what the quota has left, which
 * is counted when it is done: so one at a time for an owner, and few in all.
 */
#define UNPACKS_MAX	3
/* The archiver counts in off_t and needs some slack. */
#define BYTES_MAX	((uint64_t)INT64_MAX / 2)

struct archive_job {
	LIST_ENTRY(archive_job)	 next;
	struct session	*session;	/* unpacking; NULL = packing */
	struct owner	*owner;
	struct asker	 asker;
	uint64_t	 serial;
	bool		 unpacks;
	bool		 waits;		/* for another to be done */
	bool		 begun;		/* the launcher said JOB */
	bool		 cancelled;
	bool		 sent;		/* packed, and netproc has the file */
	const char	*why;		/* static: ended by us because of */
	int		 fds[JOB_FD_COUNT];
	struct loop_io	 report_io, pid_io;
	struct loop_timer timer;
	uint64_t	 noted_ms;	/* last line of progress */
	struct jobreport last;		/* the newest report, kind 0 = none */
};

static LIST_HEAD(, archive_job) jobs = LIST_HEAD_INITIALIZER(jobs);

static void	on_timeout(void *arg);
static void	start_next(void *arg);

static struct loop_timer next_timer;

/* A place is free.  Not at once: the caller may hold jobs and sessions. */
static void
next_soon(void)
{
	loop_timer_set(&next_timer, 0, start_next, NULL);
}

size_t
archive_job_count(void)
{
	struct archive_job *j;
	size_t n = 0;

	LIST_FOREACH(j, &jobs, next)
		n += !j->sent;
	return n;
}

static struct archive_job *
job_new(struct asker *a, struct session *s)
{
	struct archive_job *j = calloc(1, sizeof(*j));
	size_t i;

	if (j == NULL)
		return NULL;
	for (i = 0; i < JOB_FD_COUNT; i++)
		j->fds[i] = -1;
	j->asker = *a;
	j->owner = a->owner;
	j->session = s;
	j->unpacks = s != NULL;
	j->serial = next_serial();
	LIST_INSERT_HEAD(&jobs, j, next);
	return j;
}

static void
job_free(struct archive_job *j)
{
	size_t i;

	if (j->session != NULL)
		j->session->job = NULL;
	loop_timer_unset(&j->timer);
	loop_del(&j->report_io);
	loop_del(&j->pid_io);
	/* before the bundle, so that it is not this that takes all files along */
	fd_close(&j->fds[JOB_FD_SPACE]);
	for (i = 0; i < JOB_FD_COUNT; i++)
		if (i == JOB_FD_RESULT)
			sweep(NULL, j->fds[i]);
		else
			fd_close(&j->fds[i]);
	LIST_REMOVE(j, next);
	next_soon();
	free(j);
}

static struct archive_job *
job_find(uint64_t serial)
{
	struct archive_job *j;

	LIST_FOREACH(j, &jobs, next)
		if (j->serial == serial)
			return j;
	return NULL;
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* -- how a job ends -- */

/* The upload of a bundle that came to nothing leaves nothing. */
static void
archive_job_fail(struct archive_job *j, enum err code, const char *message)
{
	struct session *s = j->session;
	struct asker a = j->asker;
	struct sid id;

	memset(&id, 0, sizeof(id));
	if (s != NULL)
		id = s->id;
	job_free(j);
	if (s != NULL)
		session_free(s);
	answer(&a, s == NULL ? NULL : &id, code,
	    message == NULL ? NULL : "%s", message);
}

static bool
is_mount_namespace(int fd)
{
	return fd != -1 && ioctl(fd, NS_GET_NSTYPE) == CLONE_NEWNS;
}

/*
 * Bytes that the bundle counts for: the sum of its files, which only the
 * archiver knows, but not less than the memory used without the last page of
 * each.  UINT64_MAX when that cannot be seen.
 */
static uint64_t
bundle_bytes(const struct archive_job *j)
{
	uint64_t used, rests;
	struct statfs fs;

	if (fstatfs(j->fds[JOB_FD_SPACE], &fs) == -1 ||
	    fs.f_type != TMPFS_MAGIC || fs.f_bfree > fs.f_blocks ||
	    fs.f_ffree > fs.f_files)
		return UINT64_MAX;
	used = (fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
	rests = (fs.f_files - fs.f_ffree) * (uint64_t)fs.f_bsize;
	used = used > rests ? used - rests : 0;
	return used > j->last.bytes ? used : j->last.bytes;
}

static void
unpacked(struct archive_job *j)
{
	struct session *s = j->session;
	struct asker a = j->asker;
	uint64_t bytes = bundle_bytes(j);
	uint64_t more = bytes > s->bytes ? bytes - s->bytes : 0;
	char text[600], why[500];

	if (!is_mount_namespace(j->fds[JOB_FD_RESULT])) {
		archive_job_fail(j, ERR_EXTRACT_FAILED,
		    "the launcher sent no mount namespace with the bundle");
		return;
	}
	if (bytes == UINT64_MAX) {
		archive_job_fail(j, ERR_EXTRACT_FAILED,
		    "the launcher sent no file of the bundle's memory");
		return;
	}
	/* others may have uploaded while this was unpacked */
	if (upload_too_large(s->owner, more, why, sizeof(why)) != ERR_OK) {
		(void)snprintf(text, sizeof(text), "the unpacked bundle is "
		    "larger than what is free: %s", why);
		archive_job_fail(j, ERR_MAX_BYTES, text);
		return;
	}
	s->bytes += more;
	sweep(NULL, s->image_fd);
	s->image_fd = j->fds[JOB_FD_RESULT];
	j->fds[JOB_FD_RESULT] = -1;
	(void)snprintf(s->view.bundle_dir, sizeof(s->view.bundle_dir),
	    "%.240s/bundle", settings.state_dir);
	job_free(j);
	upload_loaded(s, &a);
}

static void
packed(struct archive_job *j)
{
	int fd = j->fds[JOB_FD_RESULT];
	struct msg_out *o;
	struct stat st;

	if (fd == -1 || fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) ||
	    st.st_size <= 0 ||
	    (uint64_t)st.st_size > settings.sysroot_max_bytes) {
		archive_job_fail(j, ERR_SYSROOT_FAILED,
		    "the packed file is invalid");
		return;
	}
	activity_note(j->owner, NULL, "SYSROOT packed: %" PRIu64 " files, "
	    "%lld bytes, %" PRIu64 " left out", j->last.members,
	    (long long)st.st_size, j->last.skipped);
	o = answer_new(&j->asker, MSG_SYSROOT_FD, NULL);
	msg_put_u64(o, (uint64_t)st.st_size);
	fd = fd_copy(fd);
	if (fd == -1 || answer_with(&j->asker, o, fd) == -1) {
		archive_job_fail(j, ERR_SYSROOT_FAILED, NULL);
		return;
	}
	/* so that netproc is not the last to close it, which takes long */
	j->sent = true;
	next_soon();
	loop_timer_unset(&j->timer);
	loop_del(&j->report_io);
	loop_del(&j->pid_io);
}

void
archive_job_drop_packs(uint32_t conn)
{
	struct archive_job *j, *next;

	for (j = LIST_FIRST(&jobs); j != NULL; j = next) {
		next = LIST_NEXT(j, next);
		if (j->session != NULL || j->cancelled ||
		    (conn != 0 && j->asker.conn != conn))
			continue;
		if (j->sent)
			job_free(j);
		else
			archive_job_cancel(j);
	}
}

int
spawn_on_sysroot_done(struct msg *m)
{
	if (m->hdr.conn == 0)
		return -1;
	archive_job_drop_packs(m->hdr.conn);
	return msg_end(m);
}

/* The limit that it met is the smaller of two. */
static void
too_large(struct archive_job *j)
{
	uint64_t room = upload_room(j->owner) + j->session->bytes;
	char name[QUOTA_TITLE + 16], text[sizeof(name) + 100];

	if (room >= settings.bundle_max_bytes)
		(void)strcpy(name, "bundle-max-bytes");
	else
		upload_room_name(j->owner, name, sizeof(name));
	(void)snprintf(text, sizeof(text), "the bundle unpacks to more than "
	    "%" PRIu64 " bytes (%s)", least(settings.bundle_max_bytes, room),
	    name);
	archive_job_fail(j,
	    room >= settings.bundle_max_bytes ? ERR_EXTRACT_FAILED
					      : ERR_MAX_BYTES,
	    text);
}

static void
job_failed(struct archive_job *j)
{
	enum err code = j->session != NULL ? ERR_EXTRACT_FAILED :
	    ERR_SYSROOT_FAILED;
	char text[JOBREPORT_TEXT + 1];

	if (j->why != NULL) {
		archive_job_fail(j, code, j->why);
		return;
	}
	if (j->last.kind != JOBREPORT_FAILED) {
		archive_job_fail(j, code,
		    "the archiver ended before it was done; "
		    "the archive may be damaged or too large for its limits");
		return;
	}
	if (j->last.code == ERR_MAX_BYTES && j->session != NULL) {
		too_large(j);
		return;
	}
	memcpy(text, j->last.text, sizeof(j->last.text));
	text[sizeof(j->last.text)] = '\0';
	archive_job_fail(j, j->last.code, text[0] == '\0' ? NULL : text);
}

/* 1 = a report was read, 0 = none there now, -1 = none to come. */
static int
read_report(struct archive_job *j)
{
	struct jobreport r;
	ssize_t n = read_again(j->fds[JOB_FD_REPORT], &r, sizeof(r));

	if (n == -1 && errno == EAGAIN)
		return 0;
	/* its last word was said, or it talks nonsense */
	if (n != (ssize_t)sizeof(r) || !jobreport_valid(&r) ||
	    j->last.kind >= JOBREPORT_DONE)
		return -1;
	j->last = r;
	return 1;
}

static void
note_progress(struct archive_job *j)
{
	if (j->last.kind != JOBREPORT_PROGRESS ||
	    loop_now_ms() - j->noted_ms < 1000)
		return;
	j->noted_ms = loop_now_ms();
	activity_note(j->owner, j->session == NULL ? NULL : &j->session->id,
	    "%s: %" PRIu64 " files, %" PRIu64 " bytes",
	    j->session == NULL ? "SYSROOT is being packed" :
	    "bundle is being unpacked", j->last.members, j->last.bytes);
}

static void
on_report(uint32_t events, void *arg)
{
	struct archive_job *j = arg;
	int r = read_report(j);

	(void)events;
	if (r == -1) {
		loop_del(&j->report_io);
		/* one that talks on would wait for a reader all its time */
		loop_timer_set(&j->timer, LEAVE_MS, on_timeout, j);
	} else if (r == 1)
		note_progress(j);
}

static void
on_pid(uint32_t events, void *arg)
{
	struct archive_job *j = arg;
	unsigned int max;

	(void)events;
	/* what the pipe can hold, in case the loop was slow */
	for (max = 512; max > 0 && read_report(j) == 1; max--)
		continue;
	/* the result may be on its way still */
	if (j->fds[JOB_FD_RESULT] == -1)
		chan_drain(&launcher_chan, 256);
	if (j->cancelled)
		job_free(j);
	else if (j->last.kind != JOBREPORT_DONE || j->why != NULL)
		job_failed(j);
	else if (j->session != NULL)
		unpacked(j);
	else
		packed(j);
}

static void
job_kill(struct archive_job *j)
{
	if (j->fds[JOB_FD_PIDFD] != -1)
		(void)send_signal(NULL, 0, j->fds[JOB_FD_PIDFD], SIGKILL,
		    SIGNAL_ONE);
	loop_timer_set(&j->timer, KILL_MS, on_timeout, j);
}

static void
on_timeout(void *arg)
{
	struct archive_job *j = arg;

	if (j->cancelled)
		job_free(j);
	else if (j->why != NULL || j->fds[JOB_FD_PIDFD] == -1) {
		if (j->why == NULL)
			j->why = "the archiver was not started in time";
		job_failed(j);
	} else {
		j->why = "it took too long";
		job_kill(j);
	}
}

void
archive_job_cancel(struct archive_job *j)
{
	if (j->session != NULL)
		j->session->job = NULL;
	j->session = NULL;
	j->asker.owner = NULL;
	j->cancelled = true;
	job_kill(j);
}

void
archive_job_cancel_all(void)
{
	struct archive_job *j;
	struct session *s;

	LIST_FOREACH(j, &jobs, next) {
		if (j->cancelled)
			continue;
		s = j->session;
		answer(&j->asker, NULL, ERR_TRY_AGAIN,
		    "the daemon is being stopped");
		archive_job_cancel(j);
		if (s != NULL)
			session_free(s);
	}
}

void
archive_job_launcher_lost(void)
{
	struct archive_job *j, *next;

	/* one that has begun needs no launcher any more */
	for (j = LIST_FIRST(&jobs); j != NULL; j = next) {
		next = LIST_NEXT(j, next);
		if (j->begun || j->waits)
			continue;
		if (j->cancelled)
			job_free(j);
		else
			archive_job_fail(j, ERR_TRY_AGAIN, NULL);
	}
}

/* -- how a job begins -- */

static void
order_unpack(struct archive_job *j, struct job_spec *spec)
{
	struct session *s = j->session;
	struct msg_out *o;
	int fd = fd_copy(s->image_fd);

	spec->max_bytes = least(settings.bundle_max_bytes,
	    upload_room(s->owner) + s->bytes);
	spec->max_members = settings.bundle_max_members;
	spec->max_path = settings.bundle_max_path;
	memcpy(spec->exec_path, s->view.exec_path, sizeof(spec->exec_path));
	o = msg_new(MSG_UNPACK, &s->id, 0, j->serial);
	job_put(o, spec);
	if (fd == -1 || chan_send(&launcher_chan, o, fd) == -1)
		archive_job_fail(j, ERR_TRY_AGAIN, NULL);
	else
		loop_timer_set(&j->timer, UNPACK_MS, on_timeout, j);
}

static void
order_pack(struct archive_job *j, struct job_spec *spec)
{
	struct msg_out *o;

	spec->max_bytes = least(settings.sysroot_max_bytes, BYTES_MAX);
	o = msg_new(MSG_PACK, NULL, 0, j->serial);
	job_put(o, spec);
	if (chan_send(&launcher_chan, o, -1) == -1)
		archive_job_fail(j, ERR_TRY_AGAIN, NULL);
	else
		loop_timer_set(&j->timer, PACK_MS, on_timeout, j);
}

static void
on_account(const struct account *acc, uint64_t serial)
{
	struct archive_job *j = job_find(serial);
	struct job_spec spec;
	struct quota q;

	if (j == NULL || j->cancelled)
		return;
	if (acc == NULL && account_unasked()) {
		archive_job_fail(j, ERR_TRY_AGAIN, NULL);
		return;
	}
	if (acc == NULL) {
		archive_job_fail(j, j->session == NULL ? ERR_SYSROOT_FAILED :
		    ERR_EXTRACT_FAILED, account_fault(j->owner,
		    "your account could not be read; it must exist on this "
		    "host"));
		return;
	}
	memset(&spec, 0, sizeof(spec));
	quota_of(j->owner, &q);
	spec.owner = acc->rights;
	spec.processes = q.most[QUOTA_PROCESSES];
	spec.sandbox = (enum sandbox)settings.sandbox;
	if (j->session != NULL)
		order_unpack(j, &spec);
	else
		order_pack(j, &spec);
}

/*
 * Behind others of its kind, of which an owner has one at a time.  Also those
 * count that were cancelled: their files are there until they die.
 */
static bool
must_wait(const struct archive_job *one)
{
	struct archive_job *j;
	size_t n = 0;

	LIST_FOREACH(j, &jobs, next) {
		if (j->unpacks != one->unpacks || j->waits || j->sent)
			continue;
		if (j->owner == one->owner)
			return true;
		n++;
	}
	return n >= (one->unpacks ? UNPACKS_MAX : PACKS_MAX);
}

static struct archive_job *
first_waiting(void)
{
	struct archive_job *j, *first = NULL;

	/* the newest is at the head */
	LIST_FOREACH(j, &jobs, next)
		if (j->waits && !j->cancelled && !must_wait(j))
			first = j;
	return first;
}

static void
start_next(void *arg)
{
	struct archive_job *j;

	(void)arg;
	while ((j = first_waiting()) != NULL) {
		j->waits = false;
		if (account_want(j->owner, on_account, j->serial) == -1)
			archive_job_fail(j, ERR_TRY_AGAIN, NULL);
	}
}

void
archive_job_unpack(struct session *s, struct asker *a)
{
	struct archive_job *j = job_new(a, s);

	if (j == NULL) {
		answer(a, &s->id, ERR_EXTRACT_FAILED, "out of memory");
		session_free(s);
		return;
	}
	s->job = j;
	j->waits = true;
	start_next(NULL);
}

/* A user has one SYSROOT at a time, so that no other waits for a second. */
static const char *
sysroot_busy(const struct asker *a)
{
	struct archive_job *j;

	LIST_FOREACH(j, &jobs, next)
		/* its file takes as much room as one that is being made */
		if (!j->unpacks && !j->cancelled && j->owner == a->owner)
			return j->sent ? "your earlier SYSROOT is still being "
			    "sent" : "your earlier SYSROOT is still being "
			    "packed";
	return NULL;
}

int
spawn_on_sysroot(struct msg *m)
{
	struct asker a;
	struct archive_job *j;
	const char *busy;

	if (msg_end(m) == -1 || !asker_init(&a, m, "SYSROOT"))
		return -1;
	if (a.flags & PRINCIPAL_READ_ONLY) {
		answer(&a, NULL, ERR_READ_ONLY, NULL);
		return 0;
	}
	busy = sysroot_busy(&a);
	if (busy != NULL || shutting_down) {
		answer(&a, NULL, ERR_BUSY, busy == NULL ? NULL : "%s", busy);
		return 0;
	}
	j = job_new(&a, NULL);
	if (j == NULL)
		answer(&a, NULL, ERR_SYSROOT_FAILED, "out of memory");
	else {
		j->waits = true;
		start_next(NULL);
	}
	return 0;
}

/* -- the launcher's answers -- */

static bool
good_job_fd(uint32_t kind, int fd)
{
	int flags = fcntl(fd, F_GETFL);

	switch (kind) {
	case JOB_FD_REPORT:
		return fdkind_check(FD_PIPE, fd) == NULL && flags != -1 &&
		    (flags & O_ACCMODE) == O_RDONLY &&
		    fcntl(fd, F_SETFL, flags | O_NONBLOCK) == 0;
	case JOB_FD_SPACE:
		return fdkind_check(FD_FILE, fd) == NULL;
	case JOB_FD_RESULT:
		return fdkind_check(FD_FILE, fd) == NULL ||
		    is_mount_namespace(fd);
	case JOB_FD_PIDFD:
		return fdkind_check(FD_PIDFD, fd) == NULL;
	default:
		return false;
	}
}

int
spawn_on_job_fd(struct msg *m)
{
	struct archive_job *j = job_find(m->hdr.request);
	uint32_t kind = msg_get_u32(m);

	if (msg_end(m) == -1 || !good_job_fd(kind, m->fd))
		return -1;
	if (j == NULL)
		return 0;
	if (j->fds[kind] != -1)
		return -1;
	j->fds[kind] = msg_take_fd(m);
	return 0;
}

int
spawn_on_job(struct msg *m)
{
	struct archive_job *j = job_find(m->hdr.request);

	(void)msg_get_u32(m);
	if (msg_end(m) == -1)
		return -1;
	if (j == NULL)
		return 0;
	if (j->unpacks != (j->fds[JOB_FD_SPACE] != -1))
		return -1;
	if (j->begun || j->fds[JOB_FD_REPORT] == -1 ||
	    j->fds[JOB_FD_PIDFD] == -1)
		return -1;
	j->begun = true;
	j->report_io = j->pid_io = (struct loop_io)LOOP_IO_INIT;
	if (loop_add(&j->report_io, j->fds[JOB_FD_REPORT], EPOLLIN, on_report,
	    j) == -1 ||
	    loop_add(&j->pid_io, j->fds[JOB_FD_PIDFD], EPOLLIN, on_pid,
	    j) == -1) {
		log_warn("watching the archiver");
		loop_del(&j->report_io);
		j->why = "the spawner could not watch the archiver";
		job_kill(j);
	} else if (j->cancelled)
		job_kill(j);
	return 0;
}

int
spawn_on_job_failed(struct msg *m)
{
	struct archive_job *j = job_find(m->hdr.request);
	uint32_t step = msg_get_u32(m), errnum = msg_get_u32(m);
	const char *why = strerrordesc_np((int)errnum);
	char text[200];

	if (msg_end(m) == -1 || step == STEP_NONE || step >= STEP_COUNT)
		return -1;
	if (j == NULL || j->begun)
		return j == NULL ? 0 : -1;
	if (j->cancelled) {
		job_free(j);
		return 0;
	}
	(void)snprintf(text, sizeof(text), "cannot %s%s: %s", step_text(step),
	    step == STEP_TMPFILE ? " where state-dir is" : "",
	    why == NULL ? "unknown error" : why);
	archive_job_fail(j,
	    step_code(step, j->session != NULL     ? ERR_EXTRACT_FAILED
			    : step == STEP_TMPFILE ? ERR_TMPFILE_FAILED
						   : ERR_SYSROOT_FAILED),
	    text);
	return 0;
}
