/* SPDX-License-Identifier: ISC */
/* flags: -static */
/*
 * usage: connects address port | connects path
 * Asks for LIST there, twice: itself and in a grandchild without a parent.
 * Prints what came, "refused" for no connection, "closed" for no answer.
 */
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int
dial(int argc, char **argv)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd;

	if (argc > 2) {
		sin.sin_port = htons((unsigned short)atoi(argv[2]));
		(void)inet_pton(AF_INET, argv[1], &sin.sin_addr);
		fd = socket(AF_INET, SOCK_STREAM, 0);
		return connect(fd, (void *)&sin, sizeof(sin)) == -1 ? -1 : fd;
	}
	(void)snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", argv[1]);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	return connect(fd, (void *)&sun, sizeof(sun)) == -1 ? -1 : fd;
}

static void
ask(int argc, char **argv, const char *who)
{
	char buf[4096];
	ssize_t n;
	int fd = dial(argc, argv);

	if (fd == -1) {
		dprintf(STDOUT_FILENO, "%s refused\n", who);
		return;
	}
	(void)send(fd, "LIST\n", 5, MSG_NOSIGNAL);
	n = recv(fd, buf, sizeof(buf) - 1, 0);
	if (n <= 0) {
		dprintf(STDOUT_FILENO, "%s closed\n", who);
	} else {
		buf[n] = '\0';
		dprintf(STDOUT_FILENO, "%s got %s\n", who, buf);
	}
	close(fd);
}

int
main(int argc, char **argv)
{
	int fds[2];
	char c;

	ask(argc, argv, "self");
	if (pipe(fds) == -1)
		return 1;
	if (fork() == 0) {
		setsid();
		if (fork() == 0) {
			usleep(20000);
			ask(argc, argv, "grandchild");
			_exit(0);
		}
		_exit(0);
	}
	(void)wait(NULL);
	close(fds[1]);
	return read(fds[0], &c, 1) == 0 ? 0 : 1;
}
