/* SPDX-License-Identifier: ISC */
/*
 * Uploads.  The quota is checked before room is made; netproc fills the room
 * and cannot change its size; what it filled is sealed before it is looked
 * at, so that nobody changes it afterwards.
 */
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "activity.h"
#include "elfhdr.h"
#include "handlers.h"
#include "job.h"
#include "log.h"
#include "peers.h"
#include "push.h"
#include "role.h"
#include "session.h"
#include "upload.h"

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

static uint64_t	fd_sessions = UINT64_MAX;

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

uint64_t
upload_room(void)
{
	uint64_t used = session_bytes();

	return used < settings.max_total_bytes ?
	    settings.max_total_bytes - used : 0;
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

	SESSION_FOREACH(s)
		if (s->state == STATE_UPLOADING && s->upload_conn == conn)
			return true;
	return false;
}

/* ERR_OK, or the answer has been sent. */
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
	else if (session_count() >= settings.max_sessions ||
	    session_count() >= fd_sessions)
		answer(a, NULL, code = ERR_MAX_SESSIONS,
		    "%zu sessions exist, which is the limit (max-sessions); "
		    "delete one first", session_count());
	else if (size > upload_room())
		answer(a, NULL, code = ERR_MAX_BYTES, "%" PRIu64 " bytes are "
		    "too many: %" PRIu64 " of %" PRIu64 " are free "
		    "(max-total-bytes)", size, upload_room(),
		    settings.max_total_bytes);
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

/* The room for s in s->image_fd, and a copy of it; -1 with errno. */
static int
make_room(struct session *s, uint64_t size)
{
	s->image_fd = make_memfd(s->view.bundle ? MFD_NOEXEC_SEAL : MFD_EXEC);
	if (s->image_fd == -1 ||
	    ftruncate(s->image_fd, (off_t)size) == -1 ||
	    fcntl(s->image_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == -1)
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

int
spawn_on_upload(struct msg *m)
{
	char path[EXEC_PATH_MAX];
	uint64_t size = msg_get_u64(m);
	struct session *s;
	struct asker a;
	struct msg_out *o;
	int fd;

	msg_get_str(m, path, sizeof(path));
	if (msg_end(m) == -1 || !asker_init(&a, m, "UPLOAD"))
		return -1;
	if (refuse(&a, size, path) != ERR_OK)
		return 0;
	s = session_new(a.owner);
	if (s == NULL) {
		no_room(&a, errno);
		return 0;
	}
	s->view.bundle = path[0] != '\0';
	s->view.size = s->bytes = size;
	s->upload_conn = a.conn;
	memcpy(s->view.exec_path, path, sizeof(path));
	fd = make_room(s, size);
	if (fd == -1) {
		no_room(&a, errno);
		session_free(s);
		return 0;
	}
	o = answer_new(&a, MSG_ROOM, &s->id);
	msg_put_u64(o, size);
	(void)answer_with(&a, o, fd);
	return 0;
}

/* After this nothing and nobody can change a byte of it. */
static int
seal(const struct session *s)
{
	int seals = F_SEAL_WRITE | F_SEAL_SEAL;

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

int
spawn_on_uploaded(struct msg *m)
{
	struct session *s = session_find(&m->hdr.session);
	char why[160];
	struct asker a;

	if (msg_end(m) == -1 || !asker_init(&a, m, "UPLOAD"))
		return -1;
	/* another's upload, or one that is complete and being unpacked */
	if (s->upload_conn != a.conn || s->job != NULL)
		return -1;
	if (seal(s) == -1) {
		/* a mapping that netproc never needs was left */
		log_warn("seals of an uploaded image");
		answer(&a, &s->id, ERR_UPLOAD_WRITE, NULL);
		session_free(s);
		return -1;
	}
	if (s->view.bundle) {
		job_unpack(s, &a);
		return 0;
	}
	if (elf_check_fd(s->image_fd, why, sizeof(why)) == -1) {
		answer(&a, &s->id, ERR_INVALID_ELF, "%s", why);
		session_free(s);
		return 0;
	}
	upload_loaded(s, &a);
	return 0;
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

void
upload_drop_conn(uint32_t conn)
{
	struct session *s, *next;

	SESSION_FOREACH_SAFE(s, next)
		if (s->state == STATE_UPLOADING && s->upload_conn == conn)
			session_free(s);
}

void
upload_drop_all(void)
{
	struct session *s, *next;

	SESSION_FOREACH_SAFE(s, next)
		if (s->state == STATE_UPLOADING)
			session_free(s);
}
