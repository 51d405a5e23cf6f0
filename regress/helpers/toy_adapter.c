/* SPDX-License-Identifier: ISC */
/*
 * A DAP adapter that debugs nothing: it starts the program on the files that
 * it was given for it, holds it by SIGSTOP at its entry and at a pause, and
 * says how it ended.  For tests of what is around an adapter.
 */
#include <sys/wait.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static pid_t	program;
static int	attached;
static long	seq;

static void
put(const char *body)
{
	char text[4096];
	int n = snprintf(text, sizeof(text), "Content-Length: %zu\r\n\r\n%s",
	    strlen(body), body);

	if (write(STDOUT_FILENO, text, (size_t)n) != n)
		_exit(0);
}

/* A message of one type, its own members and the one that comes last. */
static void
say(const char *type, const char *members, const char *last, const char *json)
{
	char text[3072];

	(void)snprintf(text, sizeof(text), "{\"seq\":%ld,\"type\":\"%s\",%s,"
	    "\"%s\":%s}", ++seq, type, members, last, json);
	put(text);
}

static void
event(const char *name, const char *body)
{
	char members[128];

	(void)snprintf(members, sizeof(members), "\"event\":\"%s\"", name);
	say("event", members, "body", body);
}

static void
answer(long to, const char *command, int good, const char *last,
    const char *json)
{
	char members[256];

	(void)snprintf(members, sizeof(members), "\"request_seq\":%ld,"
	    "\"success\":%s,\"command\":\"%s\"", to, good ? "true" : "false",
	    command);
	say("response", members, last, json);
}

static void
reply(long to, const char *command, const char *body)
{
	answer(to, command, 1, "body", body);
}

static void
refuse(long to, const char *command, const char *why)
{
	char quoted[256];

	(void)snprintf(quoted, sizeof(quoted), "\"%s\"", why);
	answer(to, command, 0, "message", quoted);
}

/* The value of a member; only what these tests ask for must work. */
static void
member(const char *json, const char *name, char *out, size_t size)
{
	char key[64];
	const char *p;
	size_t n = 0;

	(void)snprintf(key, sizeof(key), "\"%s\":", name);
	p = strstr(json, key);
	out[0] = '\0';
	if (p == NULL)
		return;
	p += strlen(key);
	if (*p == '"')
		p++;
	while (*p != '\0' && *p != '"' && *p != ',' && *p != '}' &&
	    n < size - 1)
		out[n++] = *p++;
	out[n] = '\0';
}

static void
start(const char *path)
{
	int status;

	program = fork();
	if (program != 0) {
		/* a SIGCONT before its stop would be lost */
		(void)waitpid(program, &status, WUNTRACED);
		return;
	}
	(void)dup2(3, 0);
	(void)dup2(4, 1);
	(void)dup2(5, 2);
	(void)raise(SIGSTOP);
	execl(path, path, (char *)NULL);
	_exit(127);
}

static void
stopped(const char *reason)
{
	char body[128];

	(void)snprintf(body, sizeof(body), "{\"reason\":\"%s\",\"threadId\":"
	    "1,\"allThreadsStopped\":true}", reason);
	event("stopped", body);
}

static void
tell_process(const char *how)
{
	char body[256];

	(void)snprintf(body, sizeof(body), "{\"name\":\"toy\","
	    "\"systemProcessId\":%d,\"startMethod\":\"%s\"}", program, how);
	event("process", body);
	event("initialized", "{}");
}

static int
handle(const char *json)
{
	char command[64], path[1024], text[32];
	long id;

	member(json, "command", command, sizeof(command));
	member(json, "seq", text, sizeof(text));
	id = atol(text);
	if (strcmp(command, "launch") == 0) {
		member(json, "program", path, sizeof(path));
		if (access(path, X_OK) == -1) {
			refuse(id, command, "no such program");
			return 1;
		}
		start(path);
		reply(id, command, "{}");
		tell_process("launch");
	} else if (strcmp(command, "attach") == 0) {
		member(json, "pid", text, sizeof(text));
		program = (pid_t)atol(text);
		attached = 1;
		(void)kill(program, SIGSTOP);
		reply(id, command, "{}");
		tell_process("attach");
	} else if (strcmp(command, "configurationDone") == 0) {
		reply(id, command, "{}");
		stopped("entry");
	} else if (strcmp(command, "continue") == 0) {
		(void)kill(program, SIGCONT);
		reply(id, command, "{\"allThreadsContinued\":true}");
	} else if (strcmp(command, "pause") == 0) {
		(void)kill(program, SIGSTOP);
		reply(id, command, "{}");
		stopped("pause");
	} else if (strcmp(command, "disconnect") == 0) {
		if (program > 0)
			(void)kill(program, attached ||
			    strstr(json, "\"terminateDebuggee\":false") ?
			    SIGCONT : SIGKILL);
		reply(id, command, "{}");
		return 0;
	} else if (strcmp(command, "threads") == 0)
		reply(id, command,
		    "{\"threads\":[{\"id\":1,\"name\":\"toy\"}]}");
	else if (strcmp(command, "stackTrace") == 0)
		reply(id, command, "{\"stackFrames\":[],\"totalFrames\":0}");
	else if (strcmp(command, "initialize") == 0)
		reply(id, command,
		    "{\"supportsConfigurationDoneRequest\":true}");
	else
		reply(id, command, "{}");
	return 1;
}

static void
reap(void)
{
	char body[64];
	int status;

	if (program <= 0 || attached ||
	    waitpid(program, &status, WNOHANG) != program)
		return;
	program = 0;
	(void)snprintf(body, sizeof(body), "{\"exitCode\":%d}",
	    WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
	event("exited", body);
	event("terminated", "{}");
}

int
main(void)
{
	static char in[1 << 16];
	size_t have = 0, head, len;
	struct pollfd p[2] = { { .events = POLLIN }, { .events = POLLIN } };
	sigset_t chld;
	ssize_t n;
	char *end;

	sigemptyset(&chld);
	sigaddset(&chld, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &chld, NULL);
	p[1].fd = signalfd(-1, &chld, SFD_NONBLOCK | SFD_CLOEXEC);
	for (;;) {
		while ((end = memmem(in, have, "\r\n\r\n", 4)) != NULL) {
			char json[1 << 15];

			head = (size_t)(end - in) + 4;
			len = (size_t)atol(in + strlen("Content-Length: "));
			if (have < head + len || len >= sizeof(json))
				break;
			memcpy(json, in + head, len);
			json[len] = '\0';
			have -= head + len;
			memmove(in, in + head + len, have);
			if (!handle(json))
				return 0;
		}
		if (poll(p, 2, -1) == -1)
			continue;
		if (p[1].revents != 0) {
			char waste[256];

			(void)!read(p[1].fd, waste, sizeof(waste));
			reap();
		}
		if (p[0].revents == 0)
			continue;
		n = read(STDIN_FILENO, in + have, sizeof(in) - have);
		if (n <= 0)
			return 0;
		have += (size_t)n;
	}
}
