/* SPDX-License-Identifier: ISC */
/*
 * Drives the debugger's engine without a daemon: requests are lines of JSON
 * on stdin, {"conn":1,"id":7,"command":"next","args":{}}, answers lines on
 * stdout; the adapter is a child, its program's output goes through a ring.
 *
 *	-a		do not wait for an answer before the next line is read
 *	-p PID		attach beside this process, as to a session
 *	-A NAME=COMMAND	an adapter of the configuration
 *	-i -r -w N	time limits: initialize, request, await
 *	-s		say each change of state
 *
 * {"command":"_input","args":{"text":"x"}} writes to the program, "eof":true
 * closes its stdin; {"command":"_gone","conn":1} is a client that left.
 */
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include <json-c/json.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "base/log.h"
#include "base/loop.h"
#include "debugger/base/debuggee.h"
#include "debugger/base/link.h"
#include "debugger/parts.h"

#define RING_SIZE	(1U << 20)

static const struct link_handlers *parts;
static struct dbg_hello hello = { .inst = { .user_mode = true } };
static bool		all_at_once, say_states, at_eof;
static unsigned int	open_asks;	/* not answered yet */
static uint32_t		next_id = 1;
static char		*lines;		/* read, not yet taken */
static size_t		lines_len, lines_cap;
static struct loop_io	input, children, stream[2];
static struct ring	ring = RING_INIT;
static pid_t		adapter;
static int		adapter_status, to_program = -1;
static bool		killing;
static struct loop_timer ran_timer, drain_timer;
static int		ran_fds[3];
static unsigned int	drain_asks;
static struct loop_timer bell_timer;
static bool		armed;
static uint64_t		armed_at;

static void	take_lines(void);

/* -- processes -- */
static void
kill_below(pid_t pid)
{
	char path[64];
	FILE *f;
	int kid;

	(void)snprintf(path, sizeof(path), "/proc/%d/task/%d/children",
	    (int)pid, (int)pid);
	if ((f = fopen(path, "re")) == NULL)
		return;
	while (fscanf(f, "%d", &kid) == 1) {
		(void)kill(kid, SIGSTOP);
		kill_below(kid);
		(void)kill(kid, SIGKILL);
	}
	fclose(f);
}

static void
on_ended(void *arg)
{
	const struct dbg_end e = {
		.known = true,
		.code = WIFEXITED(adapter_status) ?
		    WEXITSTATUS(adapter_status) : 0,
		.signal = WIFSIGNALED(adapter_status) ?
		    WTERMSIG(adapter_status) : 0,
	};

	(void)arg;
	parts->ended(&e);
}

static void
on_child(uint32_t events, void *arg)
{
	struct signalfd_siginfo si;
	int status;
	pid_t pid;

	(void)events;
	(void)arg;
	/* one for many: what there is to reap says how many */
	while (read(children.fd, &si, sizeof(si)) > 0)
		;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		if (pid == adapter)
			adapter_status = status;
	if (pid == -1 && errno == ECHILD && adapter != 0) {
		adapter = 0;
		killing = false;
		on_ended(NULL);
	} else if (killing)
		kill_below(getpid());
}

void
link_kill(void)
{
	killing = true;
	kill_below(getpid());
}

/* -- the program's output -- */
static void
on_bell(void *arg)
{
	(void)arg;
	if (!armed || ring.hdr == NULL || ring_total(&ring) <= armed_at)
		return;
	armed = false;
	parts->calls.output_notice(ring_total(&ring));
}

void
link_arm(uint64_t offset)
{
	armed = true;
	armed_at = offset;
	loop_timer_set(&bell_timer, 0, on_bell, NULL);
}

static void
on_output(uint32_t events, void *arg)
{
	const size_t which = (size_t)(uintptr_t)arg;
	struct iovec iov[2];
	ssize_t n;
	int fd = stream[which].fd;

	(void)events;
	n = readv(fd, iov, ring_space(&ring, 65536, iov));
	if (n > 0) {
		ring_commit(&ring, (size_t)n, (uint32_t)which + 1);
		loop_timer_set(&bell_timer, 0, on_bell, NULL);
	} else if (n == 0 || errno != EAGAIN) {
		loop_del(&stream[which]);
		close(fd);
	}
}

static void
on_drain(void *arg)
{
	size_t i;
	uint64_t before;

	(void)arg;
	for (i = 0; i < 2; i++)
		do {
			before = ring_total(&ring);
			if (stream[i].active)
				on_output(0, (void *)(uintptr_t)i);
		} while (stream[i].active && ring_total(&ring) > before);
	for (; drain_asks > 0; drain_asks--)
		parts->drained(ring.hdr == NULL ? 0 : ring_total(&ring));
}

void
link_drain(void)
{
	drain_asks++;
	loop_timer_set(&drain_timer, 0, on_drain, NULL);
}

static void
watch_output(size_t which, int fd)
{
	int old = stream[which].fd;

	if (stream[which].active) {
		loop_del(&stream[which]);
		close(old);
	}
	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	if (fd != -1 && loop_add(&stream[which], fd, EPOLLIN, on_output,
	    (void *)(uintptr_t)which) == -1)
		fatal("output");
}

static void
new_ring(void)
{
	ring_close(&ring);
	if (ring_create(&ring, RING_SIZE) == -1)
		fatal("ring");
}

/* -- starting the adapter -- */
static void
on_ran(void *arg)
{
	(void)arg;
	parts->calls.ring(fcntl(ring.fd, F_DUPFD_CLOEXEC, 0));
	parts->ran(adapter, (pid_t)hello.inst.target_pid, "", ran_fds);
}

static void
pair(int fds[2])
{
	if (pipe2(fds, O_CLOEXEC) == -1)
		fatal("pipe");
}

static void
become(const struct dbg_run *run, const int fds[6])
{
	int i, high[6];
	sigset_t none;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)signal(SIGPIPE, SIG_DFL);
	for (i = 0; i < 6; i++)
		high[i] = fcntl(fds[i], F_DUPFD, 64);
	for (i = 0; i < 6; i++)
		(void)dup2(high[i], i);
	for (i = 6; i < 80; i++)
		close(i);
	if (run->cwd != NULL && *run->cwd != '\0' && chdir(run->cwd) == -1)
		_exit(126);
	for (i = 0; run->envp[i] != NULL; i++)
		(void)putenv(run->envp[i]);
	execvp(run->argv[0], run->argv);
	_exit(127);
}

static void
terminal(int program[3])
{
	struct termios t;
	int pt = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC), fd;

	if (pt == -1 || grantpt(pt) == -1 || unlockpt(pt) == -1 ||
	    (fd = open(ptsname(pt), O_RDWR | O_NOCTTY | O_CLOEXEC)) == -1)
		fatal("terminal");
	if (tcgetattr(fd, &t) == 0) {
		t.c_lflag &= ~(tcflag_t)ECHO;
		(void)tcsetattr(fd, TCSANOW, &t);
	}
	program[0] = program[1] = program[2] = fd;
	to_program = fcntl(pt, F_DUPFD_CLOEXEC, 0);
	watch_output(0, pt);
}

static void
pipes(int program[3])
{
	int fds[3][2], i;

	for (i = 0; i < 3; i++) {
		pair(fds[i]);
		program[i] = fds[i][i == 0 ? 0 : 1];
	}
	to_program = fds[0][1];
	watch_output(0, fds[1][0]);
	watch_output(1, fds[2][0]);
}

void
link_run(const struct dbg_run *run)
{
	int in[2], out[2], err[2], fds[6];

	pair(in);
	pair(out);
	pair(err);
	if (to_program != -1)
		close(to_program);
	new_ring();
	if (run->flags & RUN_TTY)
		terminal(fds + 3);
	else
		pipes(fds + 3);
	fds[0] = in[0];
	fds[1] = out[1];
	fds[2] = err[1];
	killing = false;
	if ((adapter = fork()) == 0)
		become(run, fds);
	close(in[0]);
	close(out[1]);
	close(err[1]);
	close(fds[3]);
	if (fds[4] != fds[3]) {
		close(fds[4]);
		close(fds[5]);
	}
	ran_fds[0] = in[1];
	ran_fds[1] = out[0];
	ran_fds[2] = err[0];
	loop_timer_set(&ran_timer, 0, on_ran, NULL);
}

/* -- talking -- */
void
link_reply(const struct ask *ask, bool failed, const char *json, size_t len)
{
	printf("{\"conn\":%u,\"id\":%u,\"success\":%s,\"%s\":%.*s}\n",
	    ask->conn, ask->id, failed ? "false" : "true",
	    failed ? "error" : "result", (int)len, json);
	fflush(stdout);
	open_asks--;
	if (!all_at_once || at_eof)
		take_lines();
}

void
link_does(const struct ask *ask, uint32_t action)
{
	(void)ask;
	(void)action;
}

void
link_state(const struct dbg_state *s)
{
	if (!say_states)
		return;
	printf("{\"state\":\"%s\",\"pid\":%d,\"ended\":%s,\"code\":%d,"
	    "\"signal\":%d}\n", phase_name((enum phase)s->phase), s->pid,
	    s->ended ? "true" : "false", s->code, s->signal);
	fflush(stdout);
}

pid_t
link_pid(pid_t inner)
{
	return inner;
}

void
link_reply_last(void)
{
}

void
link_bye(void)
{
	if (say_states)
		puts("{\"state\":\"bye\"}");
	fflush(stdout);
}

static struct json_object *
member(struct json_object *o, const char *name)
{
	struct json_object *v = NULL;

	(void)json_object_object_get_ex(o, name, &v);
	return v;
}

static void
feed(struct json_object *args)
{
	struct json_object *text = member(args, "text");

	if (text != NULL && to_program != -1 && write(to_program,
	    json_object_get_string(text),
	    (size_t)json_object_get_string_len(text)) == -1)
		log_warn("input");
	if (json_object_get_boolean(member(args, "eof")) && to_program != -1) {
		close(to_program);
		to_program = -1;
	}
}

static void
take_line(const char *line, size_t len)
{
	struct ask ask = { .conn = 1, .rw = true };
	struct json_object *o = json_tokener_parse(line), *v;
	const char *command = json_object_get_string(member(o, "command"));

	if ((v = member(o, "conn")) != NULL)
		ask.conn = (uint32_t)json_object_get_int(v);
	if ((v = member(o, "rw")) != NULL)
		ask.rw = json_object_get_boolean(v);
	ask.id = (v = member(o, "id")) != NULL ?
	    (uint32_t)json_object_get_int(v) : next_id++;
	ask.uid = getuid();
	if (command != NULL && strcmp(command, "_input") == 0) {
		feed(member(o, "args"));
	} else if (command != NULL && strcmp(command, "_gone") == 0) {
		parts->calls.conn_gone(ask.conn);
	} else {
		open_asks++;
		parts->calls.ask(&ask, line, len);
	}
	json_object_put(o);
}

static void
on_end(void *arg)
{
	(void)arg;
	link_kill();
	loop_stop();
}

static struct loop_timer end_timer, take_timer;

static void
on_take(void *arg)
{
	char *nl, *line;
	size_t len;

	(void)arg;
	while ((all_at_once || open_asks == 0) && lines_len > 0 &&
	    (nl = memchr(lines, '\n', lines_len)) != NULL) {
		*nl = '\0';
		line = strdup(lines);
		len = (size_t)(nl - lines);
		lines_len -= len + 1;
		memmove(lines, nl + 1, lines_len);
		if (len > 0)
			take_line(line, len);
		free(line);
	}
	if (at_eof && open_asks == 0 && lines_len == 0)
		loop_timer_set(&end_timer, 0, on_end, NULL);
}

static void
take_lines(void)
{
	loop_timer_set(&take_timer, 0, on_take, NULL);
}

static void
on_input(uint32_t events, void *arg)
{
	ssize_t n;

	(void)events;
	(void)arg;
	if (lines_cap - lines_len < 65536 &&
	    (lines = realloc(lines, lines_cap += 1U << 20)) == NULL)
		fatal("input");
	n = read(0, lines + lines_len, lines_cap - lines_len - 1);
	if (n > 0) {
		lines_len += (size_t)n;
	} else {
		loop_del(&input);
		at_eof = true;
		if (lines_len > 0 && lines[lines_len - 1] != '\n')
			lines[lines_len++] = '\n';
	}
	take_lines();
}

static void
on_term(int sig)
{
	kill_below(getpid());
	_exit(128 + sig);
}

static void
usage(void)
{
	(void)fprintf(stderr, "usage: dbg_harness [-as] [-p pid] [-A name="
	    "command] [-i s] [-r s] [-w s]\n");
	exit(2);
}

static void
adapter_option(char *text)
{
	struct dbg_adapter *a = &hello.adapters[hello.nadapters++];
	char *eq = strchr(text, '=');

	if (eq == NULL || hello.nadapters == HELLO_ADAPTERS)
		usage();
	*eq = '\0';
	(void)snprintf(a->name, sizeof(a->name), "%s", text);
	(void)snprintf(a->command, sizeof(a->command), "%s", eq + 1);
}

static void
options(int argc, char *argv[])
{
	int c;

	while ((c = getopt(argc, argv, "ap:A:i:r:w:s")) != -1)
		switch (c) {
		case 'a':
			all_at_once = true;
			break;
		case 's':
			say_states = true;
			break;
		case 'p':
			hello.inst.target_pid = (uint32_t)atoi(optarg);
			break;
		case 'A':
			adapter_option(optarg);
			break;
		case 'i':
			hello.initialize_s = (uint32_t)atoi(optarg);
			break;
		case 'r':
			hello.request_s = (uint32_t)atoi(optarg);
			break;
		case 'w':
			hello.await_s = (uint32_t)atoi(optarg);
			break;
		default:
			usage();
		}
}

int
main(int argc, char *argv[])
{
	sigset_t chld;

	log_init("harness", getenv("DBG_LOG") != NULL ? LOG_L_DEBUG :
	    LOG_L_WARN, NULL);
	options(argc, argv);
	(void)snprintf(hello.inst.home, sizeof(hello.inst.home), "%s",
	    getenv("HOME") == NULL ? "/" : getenv("HOME"));
	(void)snprintf(hello.inst.session, sizeof(hello.inst.session), "harness");
	(void)snprintf(hello.inst.id, sizeof(hello.inst.id), "harness");
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGTERM, on_term);
	(void)signal(SIGINT, on_term);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &chld, NULL);
	if (loop_init() == -1 || loop_add(&children, signalfd(-1, &chld,
	    SFD_NONBLOCK | SFD_CLOEXEC), EPOLLIN, on_child, NULL) == -1 ||
	    loop_add(&input, 0, EPOLLIN, on_input, NULL) == -1)
		fatal("event loop");
	parts = parts_init();
	parts->hello(&hello);
	if (loop_run() == -1)
		fatal("event loop");
	kill_below(getpid());
	while (waitpid(-1, NULL, 0) > 0)
		kill_below(getpid());
	return 0;
}
