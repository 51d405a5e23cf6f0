/* SPDX-License-Identifier: ISC */
/*
 * Uploads.  The quota is checked before room is made; netproc fills the room
 * and cannot make it larger; what it filled is sealed before it is looked
 * at, so that nobody changes it afterwards.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "archive_job.h"
#include "base/elfhdr.h"
#include "base/log.h"
#include "spawner/client/activity.h"
#include "spawner/link/peers.h"
#include "spawner/policy/evict.h"
#include "spawner/policy/quota.h"
#include "spawner/session/push.h"
#include "spawner/session/session.h"
#include "upload.h"
#include "wire/handlers.h"
#include "wire/label.h"
#include "wire/role.h"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL		0x0008U
#endif
#ifndef MFD_EXEC
#define MFD_EXEC		0x0010U
#endif
#ifndef F_SEAL_EXEC
#define F_SEAL_EXEC		0x0020
#endif

/* fds that a session with a debugger holds, and those of the spawner. */
#define FDS_PER_SESSION		12
#define FDS_SPARE		64

/* An upload that waits for its owner's account. */
struct pending {
	LIST_ENTRY(pending) next;
	struct asker	 asker;
	uint64_t	 serial, size;
	bool		 open;		/* that is the most */
	char		 path[EXEC_PATH_MAX];
	char		 file[EXEC_PATH_MAX];
};

static uint64_t	fd_sessions = UINT64_MAX;
static LIST_HEAD(, pending) pending = LIST_HEAD_INITIALIZER(pending);

void
upload_init(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) == -1 ||
	    rl.rlim_cur == RLIM_INFINITY)
		return;
	fd_sessions = rl.rlim_cur <= FDS_SPARE ? 1 :
	    (rl.rlim_cur - FDS_SPARE) / FDS_PER_SESSION;
	if (fd_sessions < settings.max_sessions)
		log_warnx("only %" PRIu64 " sessions are possible with %" PRIu64
		    " open files; raise the limit of open files for more",
		    fd_sessions, (uint64_t)rl.rlim_cur);
}

static uint64_t
room_in_all(void)
{
	uint64_t used = session_bytes();

	return used < settings.max_total_bytes ?
	    settings.max_total_bytes - used : 0;
}

static uint64_t
own_room(const struct owner *o)
{
	struct quota q;

	quota_of(o, &q);
	return quota_room(o, &q, QUOTA_BYTES);
}

uint64_t
upload_room(const struct owner *o)
{
	uint64_t in_all = room_in_all(), own = own_room(o);

	return own < in_all ? own : in_all;
}

void
upload_room_name(const struct owner *o, char *text, size_t size)
{
	struct quota q;

	quota_of(o, &q);
	if (quota_room(o, &q, QUOTA_BYTES) <= room_in_all())
		(void)snprintf(text, size, "%s bytes", q.title);
	else
		(void)snprintf(text, size, "max-total-bytes");
}

enum err
upload_too_large(const struct owner *o, uint64_t size, char *text,
    size_t text_size)
{
	uint64_t in_all = room_in_all(), own;
	struct quota q;

	quota_of(o, &q);
	own = quota_room(o, &q, QUOTA_BYTES);
	if (size > own)
		(void)snprintf(text, text_size, "%" PRIu64 " bytes are too "
		    "many: %" PRIu64 " of your %" PRIu64 " are free (%s bytes)",
		    size, own, q.most[QUOTA_BYTES], q.title);
	else if (size > in_all)
		(void)snprintf(text, text_size, "%" PRIu64 " bytes are too "
		    "many: %" PRIu64 " of %" PRIu64 " are free "
		    "(max-total-bytes)", size, in_all,
		    settings.max_total_bytes);
	else
		return ERR_OK;
	return ERR_MAX_BYTES;
}

/* Relative and inside the bundle; the archiver looks at the file itself. */
static bool
good_exec_path(const char *path)
{
	const char *p = path, *end;

	if (path[0] == '/')
		return false;
	while (*p != '\0') {
		end = p + strcspn(p, "/");
		if (end - p == 2 && strncmp(p, "..", 2) == 0)
			return false;
		p = end + (*end == '/');
	}
	return true;
}

static bool
uploads_already(uint32_t conn)
{
	struct session *s;
	struct pending *p;

	LIST_FOREACH(p, &pending, next)
		if (p->asker.conn == conn)
			return true;
	SESSION_FOREACH(s)
		if (s->state == STATE_UPLOADING && s->upload_conn == conn)
			return true;
	return false;
}

static bool
is_full(void)
{
	return session_count() >= settings.max_sessions ||
	    session_count() >= fd_sessions;
}

static enum err
too_many(const struct owner *o, char *text, size_t size)
{
	uint64_t used = quota_used(o, QUOTA_SESSIONS);
	struct quota q;

	quota_of(o, &q);
	if (used >= q.most[QUOTA_SESSIONS])
		(void)snprintf(text, size, "you have %" PRIu64 " sessions, "
		    "which is your limit (%s%s %" PRIu64 "); delete one first",
		    used, q.usual_sessions ? "" : q.title, q.usual_sessions ?
		    "max-sessions-per-user" : " sessions",
		    q.most[QUOTA_SESSIONS]);
	else if (is_full() && !evict_unstarted(o))
		(void)snprintf(text, size, "%zu sessions exist, which is the "
		    "limit (max-sessions); delete one first",
		    session_count());
	else
		return ERR_OK;
	return ERR_MAX_SESSIONS;
}

static enum err
make_bytes(const struct owner *o, uint64_t size, char *text, size_t text_size)
{
	bool helps = size <= own_room(o) &&
	    size <= room_in_all() + evictable_bytes(o);
	enum err code;

	do
		code = upload_too_large(o, size, text, text_size);
	while (code != ERR_OK && helps && evict_unstarted(o));
	return code;
}

bool
upload_is_full(struct asker *a, uint64_t size)
{
	char text[QUOTA_TITLE + 200];
	enum err code = too_many(a->owner, text, sizeof(text));

	if (code == ERR_OK)
		code = make_bytes(a->owner, size, text, sizeof(text));
	if (code != ERR_OK)
		answer(a, NULL, code, "%s", text);
	return code != ERR_OK;
}

/* ERR_OK, or the answer has been sent; for what has nothing to do with quotas. */
static enum err
refuse(struct asker *a, uint64_t size, const char *path)
{
	enum err code = ERR_OK;

	if (a->flags & PRINCIPAL_READ_ONLY)
		answer(a, NULL, code = ERR_READ_ONLY, NULL);
	else if (shutting_down)
		answer(a, NULL, code = ERR_TRY_AGAIN,
		    "the daemon is being stopped");
	else if (size == 0)
		answer(a, NULL, code = ERR_INVALID_SIZE, NULL);
	else if (!good_exec_path(path))
		answer(a, NULL, code = ERR_INVALID_EXEC_PATH, NULL);
	else if (uploads_already(a->conn))
		answer(a, NULL, code = ERR_UPLOAD_IN_PROGRESS, NULL);
	return code;
}

static int
make_memfd(unsigned int exec_flag)
{
	unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd = memfd_create("image", flags | exec_flag);

	/* kernels before 6.3 do not know the flag, and mean MFD_EXEC */
	if (fd == -1 && errno == EINVAL)
		fd = memfd_create("image", flags);
	return fd;
}

/*
 * The room for s in s->image_fd, and a copy of it; -1 with errno.  It never
 * grows, and of an open one what was not used is cut off at the end.
 */
static int
make_room(struct session *s, uint64_t size)
{
	int seals = F_SEAL_GROW | (s->upload_open ? 0 : F_SEAL_SHRINK);

	s->image_fd = make_memfd(s->view.bundle ? MFD_NOEXEC_SEAL : MFD_EXEC);
	if (s->image_fd == -1 ||
	    ftruncate(s->image_fd, (off_t)size) == -1 ||
	    fcntl(s->image_fd, F_ADD_SEALS, seals) == -1)
		return -1;
	return fd_copy(s->image_fd);
}

static void
no_room(struct asker *a, int errnum)
{
	answer(a, NULL, ERR_MEMFD_FAILED, "no memory file could be made for "
	    "the image: %s%s", strerrordesc_np(errnum), errnum == EACCES ?
	    "; the host forbids programs in memory files "
	    "(sysctl vm.memfd_noexec must be 0 or 1)" : "");
}

/*
 * Bytes reserved for an upload of unknown size: half of what its owner has
 * free, so that the owner's next upload does not find everything taken.
 */
static uint64_t
share_of_room(const struct owner *o)
{
	uint64_t room = upload_room(o);

	return room < 2 ? 1 : room / 2;
}

/* Everything that speaks against it has been looked at but the quotas. */
static void
upload_begin(struct asker *a, uint64_t size, const char *path,
    const char *file, bool open)
{
	struct session *s;
	struct msg_out *o;
	int fd;

	if (open && size == UPLOAD_UNKNOWN)
		size = share_of_room(a->owner);
	if (upload_is_full(a, size))
		return;
	s = session_new(a->owner);
	if (s == NULL) {
		no_room(a, errno);
		return;
	}
	s->view.bundle = path[0] != '\0';
	s->view.size = s->bytes = size;
	s->upload_conn = a->conn;
	s->upload_open = open;
	memcpy(s->view.exec_path, path, sizeof(s->view.exec_path));
	memcpy(s->file, file, sizeof(s->file));
	fd = make_room(s, size);
	if (fd == -1) {
		no_room(a, errno);
		session_free(s);
		return;
	}
	o = answer_new(a, MSG_ROOM, &s->id);
	msg_put_u64(o, size);
	(void)answer_with(a, o, fd);
}

static void
pending_free(struct pending *p)
{
	LIST_REMOVE(p, next);
	free(p);
}

static void
on_account(const struct account *acc, uint64_t serial)
{
	struct pending *p;

	/* by number: its connection may have gone meanwhile */
	LIST_FOREACH(p, &pending, next)
		if (p->serial == serial)
			break;
	if (p == NULL)
		return;
	if (acc == NULL)
		answer(&p->asker, NULL, ERR_TRY_AGAIN, "%s",
		    account_fault(p->asker.owner, "your account could not be "
		    "read, so your quota is not known"));
	else
		upload_begin(&p->asker, p->size, p->path, p->file, p->open);
	pending_free(p);
}

/* The quota depends on the user's groups, which are not known yet. */
static void
upload_later(struct asker *a, uint64_t size, const char *path,
    const char *file, bool open)
{
	struct pending *p = calloc(1, sizeof(*p));

	if (p == NULL) {
		no_room(a, errno);
		return;
	}
	p->asker = *a;
	p->serial = next_serial();
	p->size = size;
	p->open = open;
	memcpy(p->path, path, sizeof(p->path));
	memcpy(p->file, file, sizeof(p->file));
	LIST_INSERT_HEAD(&pending, p, next);
	if (account_want(a->owner, on_account, p->serial) == -1) {
		answer(a, NULL, ERR_TRY_AGAIN, NULL);
		pending_free(p);
	}
}

static int
on_upload(struct msg *m, bool open)
{
	char path[EXEC_PATH_MAX], given[EXEC_PATH_MAX], file[EXEC_PATH_MAX];
	uint64_t size = msg_get_u64(m);
	struct asker a;

	memset(path, 0, sizeof(path));
	memset(file, 0, sizeof(file));
	msg_get_str(m, path, sizeof(path));
	msg_get_str(m, given, sizeof(given));
	label_file(given, strlen(given), file);
	if (msg_end(m) == -1 || !asker_init(&a, m, "UPLOAD"))
		return -1;
	if (refuse(&a, size, path) != ERR_OK)
		return 0;
	if (quota_is_known(a.owner))
		upload_begin(&a, size, path, file, open);
	else
		upload_later(&a, size, path, file, open);
	return 0;
}

int
spawn_on_upload(struct msg *m)
{
	return on_upload(m, false);
}

int
spawn_on_upload_open(struct msg *m)
{
	return on_upload(m, true);
}

/* After this nothing and nobody can change a byte of it. */
static int
seal(const struct session *s)
{
	int seals = F_SEAL_SHRINK | F_SEAL_WRITE | F_SEAL_SEAL;

	if (s->view.bundle)
		return fcntl(s->image_fd, F_ADD_SEALS, seals);
	if (fchmod(s->image_fd, 0555) == -1)
		return -1;
	if (fcntl(s->image_fd, F_ADD_SEALS, seals | F_SEAL_EXEC) == 0)
		return 0;
	/* kernels before 6.3 have no seal for the mode */
	return errno == EINVAL ? fcntl(s->image_fd, F_ADD_SEALS, seals) : -1;
}

void
upload_loaded(struct session *s, struct asker *a)
{
	s->upload_conn = 0;
	session_set_state(s, STATE_LOADED);
	push_session(s);
	answer(a, &s->id, ERR_OK, NULL);
}

/* Has netproc cut off what an open upload did not use, and no more? */
static bool
is_of_size(const struct session *s)
{
	struct stat st;

	return fstat(s->image_fd, &st) == 0 &&
	    (uint64_t)st.st_size == s->view.size;
}

static int
finish(struct session *s, struct asker *a)
{
	char why[160];

	if (seal(s) == -1 || !is_of_size(s)) {
		/* a mapping that netproc never needs was left */
		log_warn("seals of an uploaded image");
		answer(a, &s->id, ERR_UPLOAD_WRITE, NULL);
		session_free(s);
		return -1;
	}
	if (s->view.bundle) {
		archive_job_unpack(s, a);
		return 0;
	}
	if (elf_check_fd(s->image_fd, settings.allow_32bit ? ELF_32BIT_GOOD :
	    ELF_32BIT_FORBIDDEN, why, sizeof(why)) == -1) {
		answer(a, &s->id, ERR_INVALID_ELF, "%s", why);
		session_free(s);
		return 0;
	}
	/* the one kind that is good but not for 64 bits */
	s->narrow = elf_check_fd(s->image_fd, ELF_32BIT_WRONG, why,
	    sizeof(why)) == -1;
	upload_loaded(s, a);
	return 0;
}

/* Another's upload, or one that is complete and being unpacked, is not. */
static bool
is_under_way(const struct session *s, const struct asker *a, bool open)
{
	return s->upload_conn == a->conn && s->job == NULL &&
	    s->upload_open == open;
}

int
spawn_on_uploaded(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	struct asker a;

	if (msg_end(m) == -1 || !asker_init(&a, m, "UPLOAD") ||
	    !is_under_way(s, &a, false))
		return -1;
	return finish(s, &a);
}

int
spawn_on_upload_end(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	uint64_t size = msg_get_u64(m);
	struct asker a;

	if (msg_end(m) == -1 || !asker_init(&a, m, "UPLOAD") ||
	    !is_under_way(s, &a, true) || size > s->view.size)
		return -1;
	if (size == 0) {
		answer(&a, &s->id, ERR_INVALID_SIZE, NULL);
		session_free(s);
		return 0;
	}
	/* it could have been made smaller by netproc: then this is refused */
	if (ftruncate(s->image_fd, (off_t)size) == -1)
		log_warn("size of an uploaded image");
	s->view.size = s->bytes = size;
	return finish(s, &a);
}

int
spawn_on_upload_abort(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);

	/* one that is over already is none of netproc's mistakes */
	if (s != NULL && s->state == STATE_UPLOADING &&
	    s->upload_conn == m->hdr.conn)
		session_free(s);
	return msg_end(m);
}

/* conn 0 = of all connections */
static void
drop_pending(uint32_t conn)
{
	struct pending *p, *next;

	for (p = LIST_FIRST(&pending); p != NULL; p = next) {
		next = LIST_NEXT(p, next);
		if (conn == 0 || p->asker.conn == conn)
			pending_free(p);
	}
}

void
upload_drop_conn(uint32_t conn)
{
	struct session *s, *next;

	drop_pending(conn);
	SESSION_FOREACH_SAFE(s, next)
		if (s->state == STATE_UPLOADING && s->upload_conn == conn)
			session_free(s);
}

void
upload_drop_all(void)
{
	struct session *s, *next;

	drop_pending(0);
	SESSION_FOREACH_SAFE(s, next)
		if (s->state == STATE_UPLOADING)
			session_free(s);
}
