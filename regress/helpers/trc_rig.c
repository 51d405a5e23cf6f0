/* SPDX-License-Identifier: ISC */
/*
 * Drives a tracer's process without a daemon, as the spawner would: requests
 * are lines of JSON on stdin, answers lines on stdout, each with the request's
 * id.
 *
 *	trc_rig TRACER SYMBOLS HOME [-p PID] [-n SESSION] [-m] [-u BYTES]
 *
 * A request: {"conn":1,"id":7,"command":"trace","args":{},"ro":true}; raw text
 * of one is "text" instead.  -p: the session's program runs already; -m: it is
 * of no making of the tracer's; -u: what the user's timelines may take.
 *
 *	{"command":"_gone","conn":1}	a client that has left
 *	{"command":"_kill"}		SIGKILL, and a successor
 *	{"command":"_tracer"}		its pid
 *	{"command":"_forget"}		SIGKILL, and one that removes the files
 *	{"command":"_memory","bytes":1}	what timelines in memory take
 *
 * {"event":"over","status":0} says that the program has ended, with that status
 * of waitpid(), and all it wrote is with the
 * tracer: what is asked then is answered with it.
 */
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <json-c/json.h>

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "wire/msg.h"
#include "wire/ring.h"
#include "wire/insthello.h"

#define RING_SIZE	(1U << 20)
#define ARGS_MAX	4096

static const char	*tracer_path, *symbols_path;
static struct channel	 chan;
static struct trc_hello	 hello = { .inst = { .user_mode = true },
	.made = true };
static pid_t		 tracer_pid, program_pid;
static int		 program_status;
static bool		 program_over, killing;
static struct ring	 ring = RING_INIT;
static struct loop_io	 input = LOOP_IO_INIT, children = LOOP_IO_INIT,
    streams[2] = { LOOP_IO_INIT, LOOP_IO_INIT };
static int		 files[TRC_FILES] = { -1, -1, -1 };
static bool		 armed;
static uint64_t		 armed_at, in_memory;
static char		*lines;
static size_t		 lines_len, lines_cap;
static struct answer {
	uint64_t id;
	char	*s;
	size_t	 len;
} partial;

static void	start_tracer(void);

static struct msg_out *
to_tracer(enum msg_type type)
{
	return msg_new(type, NULL, 0, 0);
}

/* -- the program ---------------------------------------------------------- */

static void
bell(void)
{
	struct msg_out *o;

	if (!armed || ring.hdr == NULL || ring_total(&ring) <= armed_at)
		return;
	armed = false;
	o = to_tracer(MSG_INST_OUTPUT_NOTICE);
	msg_put_u64(o, ring_total(&ring));
	(void)chan_send(&chan, o, -1);
}

static void
maybe_ended(void)
{
	struct msg_out *o;

	if (!program_over || streams[0].fd != -1 || streams[1].fd != -1)
		return;
	program_over = false;
	program_pid = 0;
	o = to_tracer(MSG_TRC_ENDED);
	msg_put_u32(o, WIFEXITED(program_status) ?
	    (uint32_t)WEXITSTATUS(program_status) : 0);
	msg_put_u32(o, WIFSIGNALED(program_status) ?
	    (uint32_t)WTERMSIG(program_status) : 0);
	(void)chan_send(&chan, o, -1);
	printf("{\"event\":\"over\",\"status\":%d}\n", program_status);
}

static void
on_stream(uint32_t events, void *arg)
{
	struct loop_io *io = arg;
	struct iovec iov[2];
	ssize_t n;
	int fd = io->fd;

	(void)events;
	n = readv(fd, iov, ring_space(&ring, 65536, iov));
	if (n > 0) {
		ring_commit(&ring, (size_t)n, io == &streams[0] ? 1 : 2);
		bell();
		return;
	}
	loop_del(io);
	close(fd);
	io->fd = -1;
	maybe_ended();
}

static void
take_strings(const char *s, size_t len, char *to[ARGS_MAX])
{
	const char *end = s + len;
	size_t n = 0;

	for (; s < end && n < ARGS_MAX - 1; s += strlen(s) + 1)
		to[n++] = (char *)(uintptr_t)s;
	to[n] = NULL;
}

static void
run_failed(const char *code, const char *why)
{
	struct msg_out *o = to_tracer(MSG_INST_RUN_FAILED);

	msg_put_str(o, code);
	msg_put_str(o, why);
	(void)chan_send(&chan, o, -1);
}

static void
become(char *const argv[], char *const envp[], const char *cwd, int out[2],
    int errs[2])
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	(void)prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	if (open("/dev/null", O_RDONLY) == -1 || dup2(out[1], 1) == -1 ||
	    dup2(errs[1], 2) == -1 || (cwd[0] != '\0' && chdir(cwd) == -1) ||
	    ptrace(PTRACE_TRACEME, 0, 0, 0) == -1)
		_exit(126);
	(void)close_range(3, ~0U, 0);
	execve(argv[0], argv, envp);
	_exit(127);
}

static void
send_ring(void)
{
	struct msg_out *o = to_tracer(MSG_INST_RING);

	msg_put_u32(o, 1);
	(void)chan_send(&chan, o, fcntl(ring.fd, F_DUPFD_CLOEXEC, 0));
}

static void
run(char *const argv[], char *const envp[], const char *cwd)
{
	int out[2], errs[2];
	struct msg_out *o;
	siginfo_t si;

	ring_close(&ring);
	if (pipe2(out, O_CLOEXEC) == -1 || pipe2(errs, O_CLOEXEC) == -1 ||
	    ring_create(&ring, RING_SIZE) == -1)
		err(1, "pipes");
	program_pid = fork();
	if (program_pid == 0)
		become(argv, envp, cwd, out, errs);
	close(out[1]);
	close(errs[1]);
	if (waitid(P_PID, (id_t)program_pid, &si, WSTOPPED | WEXITED |
	    WNOWAIT) == -1 || si.si_code != CLD_TRAPPED) {
		(void)waitpid(program_pid, NULL, 0);
		close(out[0]);
		close(errs[0]);
		run_failed("exec_failed", "it cannot be executed");
		return;
	}
	if (ptrace(PTRACE_DETACH, program_pid, 0, SIGSTOP) == -1 ||
	    waitid(P_PID, (id_t)program_pid, &si, WSTOPPED | WEXITED) == -1)
		err(1, "detach");
	if (loop_add(&streams[0], out[0], EPOLLIN, on_stream, &streams[0]) ==
	    -1 || loop_add(&streams[1], errs[0], EPOLLIN, on_stream,
	    &streams[1]) == -1)
		err(1, "loop");
	send_ring();
	o = to_tracer(MSG_TRC_RAN);
	msg_put_u32(o, (uint32_t)program_pid);
	msg_put_u32(o, (uint32_t)program_pid);
	(void)chan_send(&chan, o, -1);
}

/* -- what the tracer asks for --------------------------------------------- */

static int
on_run(struct msg *m)
{
	static char *argv[ARGS_MAX], *envp[ARGS_MAX];
	char cwd[EXEC_PATH_MAX];
	const char *s;
	size_t len;

	msg_get_str(m, cwd, sizeof(cwd));
	s = msg_get_strings(m, &len);
	take_strings(s, len, argv);
	s = msg_get_strings(m, &len);
	take_strings(s, len, envp);
	(void)msg_get_u32(m);
	if (msg_end(m) == -1)
		return -1;
	if (argv[0] == NULL)
		run_failed("exec_failed", "there is no program");
	else
		run(argv, envp, cwd);
	return 0;
}

static int
on_let_go(struct msg *m)
{
	if (program_pid > 0)
		(void)kill(program_pid, SIGCONT);
	return msg_end(m);
}

static int
on_want_symbols(struct msg *m)
{
	int fds[2];
	pid_t pid;

	if (msg_end(m) == -1 || chan_pair(fds) == -1)
		return -1;
	pid = fork();
	if (pid == -1)
		return -1;
	if (pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (dup2(fds[1], 3) != -1 && fcntl(3, F_SETFD, 0) == 0)
			execl(symbols_path, "symbols", (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	(void)chan_send(&chan, to_tracer(MSG_TRC_SYMBOLS), fds[0]);
	return 0;
}

static void
send_files(void)
{
	struct msg_out *o;
	uint32_t i;

	for (i = 0; i < TRC_FILES; i++) {
		o = to_tracer(MSG_TRC_FILE);
		msg_put_u32(o, i);
		(void)chan_send(&chan, o, fcntl(files[i], F_DUPFD_CLOEXEC, 0));
	}
}

static int
on_want_files(struct msg *m)
{
	int i;

	if (msg_end(m) == -1)
		return -1;
	for (i = 0; i < TRC_FILES; i++)
		if ((files[i] = memfd_create("timeline", MFD_CLOEXEC)) == -1)
			return -1;
	send_files();
	return 0;
}

static int
on_want_used(struct msg *m)
{
	struct msg_out *o = to_tracer(MSG_TRC_USED);

	msg_put_u64(o, in_memory);
	(void)chan_send(&chan, o, -1);
	return msg_end(m);
}

static int
on_arm(struct msg *m)
{
	armed_at = msg_get_u64(m);
	armed = true;
	if (msg_end(m) == -1)
		return -1;
	bell();
	return 0;
}

static int
on_state(struct msg *m)
{
	uint32_t phase = msg_get_u32(m), n = msg_get_u32(m),
	    pid = msg_get_u32(m);

	printf("{\"event\":\"state\",\"phase\":%u,\"functions\":%u,"
	    "\"pid\":%u}\n", phase, n, pid);
	return msg_end(m);
}

static int
on_does(struct msg *m)
{
	printf("{\"event\":\"does\",\"action\":%u}\n", msg_get_u32(m));
	return msg_end(m);
}

static int
on_named(struct msg *m)
{
	msg_get_str(m, hello.timeline, sizeof(hello.timeline));
	return msg_end(m);
}

static int
on_bye(struct msg *m)
{
	printf("{\"event\":\"bye\"}\n");
	return msg_end(m);
}

static int
on_left(struct msg *m)
{
	printf("{\"event\":\"left\",\"conn\":%u}\n", m->hdr.conn);
	return msg_end(m);
}

static int
on_log(struct msg *m)
{
	char line[2048];

	(void)msg_get_u32(m);
	msg_get_str(m, line, sizeof(line));
	fprintf(stderr, "tracer: %s\n", line);
	return msg_end(m);
}

static int
on_reply(struct msg *m)
{
	uint32_t flags = msg_get_u32(m);
	size_t len;
	const char *s = msg_get_rest(m, &len);

	partial.s = realloc(partial.s, partial.len + len + 1);
	if (msg_end(m) == -1 || partial.s == NULL)
		return -1;
	memcpy(partial.s + partial.len, s, len);
	partial.len += len;
	if (flags & INST_MORE)
		return 0;
	printf("{\"id\":%u,\"last\":%s,\"%s\":%.*s}\n",
	    (unsigned int)m->hdr.request, flags & INST_LAST ? "true" : "false",
	    flags & INST_FAILED ? "error" : "ok", (int)partial.len, partial.s);
	partial.len = 0;
	return 0;
}

const msg_handler msg_handlers[MSG_COUNT] = {
	[MSG_TRC_RUN] = on_run, [MSG_TRC_LET_GO] = on_let_go,
	[MSG_TRC_WANT_SYMBOLS] = on_want_symbols,
	[MSG_TRC_WANT_FILES] = on_want_files, [MSG_INST_ARM] = on_arm,
	[MSG_TRC_WANT_USED] = on_want_used,
	[MSG_TRC_STATE] = on_state, [MSG_INST_DOES] = on_does,
	[MSG_TRC_NAMED] = on_named, [MSG_INST_BYE] = on_bye, [MSG_INST_LEFT] = on_left,
	[MSG_INST_LOG] = on_log, [MSG_INST_REPLY] = on_reply,
};

/* -- the tracer ----------------------------------------------------------- */

static void
say_end(const char *how)
{
	printf("{\"event\":\"gone\",\"how\":\"%s\"}\n", how == NULL ? "" :
	    how);
	fflush(stdout);
}

static void
on_gone(struct channel *c, const char *why)
{
	int status = 0;

	(void)c;
	if (killing) {
		killing = false;
		hello.resumed = !hello.forget;
		hello.nfiles = files[0] != -1 ? TRC_FILES : 0;
		hello.inst.target_pid = (uint32_t)program_pid;
		(void)waitpid(tracer_pid, &status, 0);
		start_tracer();
		printf("{\"event\":\"successor\"}\n");
		return;
	}
	(void)waitpid(tracer_pid, &status, 0);
	if (WIFSIGNALED(status))
		say_end(strsignal(WTERMSIG(status)));
	else
		say_end(why);
	loop_stop();
}

static void
start_tracer(void)
{
	struct msg_out *o;
	int fds[2];

	if (chan_pair(fds) == -1)
		err(1, "channel");
	tracer_pid = fork();
	if (tracer_pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (dup2(fds[1], 3) != -1 && fcntl(3, F_SETFD, 0) == 0)
			execl(tracer_path, "tracer", (char *)NULL);
		err(1, "%s", tracer_path);
	}
	close(fds[1]);
	chan_init(&chan, ROLE_SPAWNER, ROLE_TRACER, on_gone, NULL);
	if (chan_open(&chan, fds[0], 0) == -1)
		err(1, "channel");
	o = to_tracer(MSG_TRC_HELLO);
	trc_hello_put(o, &hello);
	(void)chan_send(&chan, o, -1);
	if (hello.nfiles > 0)
		send_files();
	armed = false;
	if (ring.hdr != NULL)
		send_ring();
}

static void
on_children(uint32_t events, void *arg)
{
	struct signalfd_siginfo si;
	int status;
	pid_t pid;

	(void)events;
	(void)arg;
	while (read(children.fd, &si, sizeof(si)) > 0)
		;
	/* the tracer's own end is its channel's */
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid == program_pid) {
			program_status = status;
			program_over = true;
			maybe_ended();
		} else if (pid == tracer_pid && WIFSIGNALED(status))
			fprintf(stderr, "the tracer was killed by signal %d\n",
			    WTERMSIG(status));
	}
}

/* -- requests ------------------------------------------------------------- */

static uint32_t
number(struct json_object *o, const char *name, uint32_t otherwise)
{
	struct json_object *v;

	return json_object_object_get_ex(o, name, &v) ?
	    (uint32_t)json_object_get_int64(v) : otherwise;
}

static void
request(struct json_object *o)
{
	struct json_object *v, *text;
	const char *name = "", *s;
	struct msg_out *out;

	if (json_object_object_get_ex(o, "command", &v))
		name = json_object_get_string(v);
	if (strcmp(name, "_gone") == 0) {
		out = msg_new(MSG_INST_GONE, NULL, number(o, "conn", 1), 0);
		(void)chan_send(&chan, out, -1);
		return;
	}
	if (strcmp(name, "_kill") == 0 || strcmp(name, "_forget") == 0) {
		hello.forget = name[1] == 'f';
		killing = true;
		(void)kill(tracer_pid, SIGKILL);
		return;
	}
	if (strcmp(name, "_memory") == 0) {
		in_memory = number(o, "bytes", 0);
		return;
	}
	if (strcmp(name, "_tracer") == 0) {
		printf("{\"event\":\"tracer\",\"pid\":%d}\n", (int)tracer_pid);
		return;
	}
	out = msg_new(MSG_INST_REQUEST, NULL, number(o, "conn", 1),
	    number(o, "id", 0));
	msg_put_u32(out, json_object_object_get_ex(o, "ro", &v) ?
	    ACCESS_SEE : ACCESS_USE);
	msg_put_u32(out, 0);
	s = json_object_object_get_ex(o, "text", &text) ?
	    json_object_get_string(text) :
	    json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	msg_put_bytes(out, s, strlen(s));
	(void)chan_send(&chan, out, -1);
}

static void
on_input(uint32_t events, void *arg)
{
	struct json_object *o;
	char *nl;
	ssize_t n;

	(void)events;
	(void)arg;
	if (lines_cap - lines_len < 65536) {
		lines_cap += 1 << 20;
		lines = realloc(lines, lines_cap);
	}
	if (lines == NULL)
		err(1, "realloc");
	n = read(0, lines + lines_len, lines_cap - lines_len);
	if (n <= 0) {
		loop_stop();
		return;
	}
	lines_len += (size_t)n;
	while ((nl = memchr(lines, '\n', lines_len)) != NULL) {
		*nl = '\0';
		o = json_tokener_parse(lines);
		if (o == NULL)
			errx(1, "no JSON: %s", lines);
		request(o);
		json_object_put(o);
		lines_len -= (size_t)(nl + 1 - lines);
		memmove(lines, nl + 1, lines_len);
	}
}

static void
options(int argc, char **argv)
{
	int c;

	tracer_path = argv[1];
	symbols_path = argv[2];
	(void)snprintf(hello.inst.home, sizeof(hello.inst.home), "%s", argv[3]);
	(void)strcpy(hello.inst.session, "session");
	(void)strcpy(hello.inst.id, "5a5a5a5a-0000-4000-8000-000000000001");
	optind = 4;
	while ((c = getopt(argc, argv, "p:n:mu:")) != -1)
		switch (c) {
		case 'p':
			hello.inst.target_pid = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'n':
			(void)snprintf(hello.inst.session, sizeof(hello.inst.session),
			    "%s", optarg);
			break;
		case 'u':
			hello.user_bytes = strtoull(optarg, NULL, 10);
			break;
		case 'm':
			hello.made = false;
			break;
		default:
			errx(1, "no such option");
		}
}

int
main(int argc, char **argv)
{
	sigset_t chld;

	if (argc < 4)
		errx(1, "usage: trc_rig TRACER SYMBOLS HOME [-p PID] ...");
	options(argc, argv);
	log_init("trc_rig", LOG_L_WARN, NULL);
	setvbuf(stdout, NULL, _IOLBF, 0);
	(void)signal(SIGPIPE, SIG_IGN);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	if (loop_init() == -1 || sigprocmask(SIG_BLOCK, &chld, NULL) == -1 ||
	    loop_add(&children, signalfd(-1, &chld, SFD_CLOEXEC |
	    SFD_NONBLOCK), EPOLLIN, on_children, NULL) == -1 ||
	    loop_add(&input, 0, EPOLLIN, on_input, NULL) == -1)
		err(1, "loop");
	start_tracer();
	if (loop_run() == -1)
		err(1, "loop");
	if (program_pid > 0)
		(void)kill(program_pid, SIGKILL);
	return 0;
}
