/* SPDX-License-Identifier: ISC */
/* Declarations that the files of the parent share: options, users, children. */
#ifndef DL_PARENT_H
#define DL_PARENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "msg.h"
#include "settings.h"
#include "../setup/conf/conf.h"

#define PATH_LEN	256

/*
 * While a log takes nothing, each pause is twice as long as the one before, in
 * ms; from this pause on the daemon does not wait for the log any more.
 */
#define LOG_DEAD_MS	320

/* Reason why a step of the start that only root can take fails. */
#define NEEDS_ROOT	"system mode is for root of the host, with all of " \
			"its capabilities; others name --user"

struct options {
	const char	*file;		/* -f; NULL = the usual place */
	bool		 check;		/* -n */
	bool		 verbose;	/* -v */
	bool		 foreground;	/* -d */
	bool		 user;		/* --user */
	bool		 local;		/* --local */
};

/* A service user.  In user mode all of them are the invoking user. */
struct identity {
	uid_t		 uid;
	gid_t		 gid;
};

struct daemon {
	struct options	 opt;
	enum mode	 mode;
	struct conf	*conf;
	struct settings	 settings;
	char		 libexec[PATH_LEN];
	char		 run_dir[PATH_LEN];
	char		 state_dir[PATH_LEN];
	struct identity	 self;			/* _dlparent */
	struct identity	 role_id[ROLE_COUNT];
	struct identity	 run_id;		/* _dlrun */
	int		 fence_fd;		/* user namespace, -1 = none */
	uint32_t	 sum_users;		/* each gets such a part, in it */
	bool		 rlimits_lifted;	/* no sum of rlimits for all of it */
	int		 diag_fd;		/* sock_diag of the host */
	bool		 started;		/* every role has said READY */
	bool		 stopping;
	bool		 failed;		/* and so the exit status is 1 */
};

extern struct daemon	 d;

/* flags.c: fills d.opt and d.conf from the command line and the file. */
void	 flags_parse(int argc, char **argv);
/* Reads the configuration again; NULL when it is bad (already reported). */
struct conf *flags_load(void);
/* Says what the configuration allows but may not mean. */
void	 flags_warn(void);

/* users.c: service users, the fence, dropping root. */
void	 users_find(void);
/* For -n: -1 if no daemon could start with these groups, which was said. */
int	 users_check(const struct conf *);
void	 fence_make(void);
/* From root to _dlparent with the four capabilities that it keeps. */
void	 users_drop(void);
/* sums.c: by how many users what the host has for all is divided. */
uint32_t sums_users(uint32_t sessions, uint32_t each);
/*
 * As root, before a user namespace is made.  False if it will have the rlimits
 * of this process for all of its users together.
 */
bool	 sums_prepare(void);
/* In it, with all capabilities: each user gets that part.  False if not all. */
bool	 sums_divide(uint32_t users);
/* In a child, before exec: raises what it needs to confine itself. */
int	 users_lend_caps(bool fence);

/* gate.c: what starts acctproc, with the group of /etc/shadow. */
void	 gate_find(void);
/* Is there such a group, and anybody to ask for? */
bool	 gate_is_wanted(void);
/* As root, when the binaries are open. */
void	 gate_make(void);
/* An acctproc whose channel sock_fd, borrowed, is: our child's pid, or -1. */
pid_t	 gate_start(int sock_fd);
void	 gate_end(void);

/*
 * access.c: finds the users and groups that a configuration names, for the
 * next access_commit().  -1: one of them does not exist, which was said.
 */
int	 access_find(const struct conf *);
void	 access_commit(void);
/* Sends the spawner what was committed of quotas. */
void	 access_tell(void);

/*
 * audit.c: opens the audit file that a configuration wants, for the next
 * audit_commit().  -1: it cannot be had, which was said.
 */
int	 audit_find(const struct conf *);
void	 audit_commit(void);
/* Adds a line, without newline and control characters, if there is a file. */
void	 audit_line(const char *);

/* places.c: directories and the cgroup tree. */
void	 places_make(void);
void	 places_remove(void);

/* state.c: files that outlive the daemon. */
/* Opens them, or ends the start when one is not as it was made. */
void	 state_open(void);
/* Sends the spawner's to a new spawner. */
void	 state_hand_out(struct channel *);

/* filter.c */
void	 parent_filter(void);

/* links.c: the sockets between roles. */
/* A role has started: it is given new links to all that run. */
void	 links_make(enum role);
/*
 * It has died: what others say of its links from now on is about nobody, least
 * of all about who takes its place before the new links are made.
 */
void	 links_end(enum role);
/* Is there such a link, and is this its present generation? */
bool	 link_is(enum role, uint32_t other, uint32_t generation);

/* children.c: starting and restarting. */
/* Opens the roles' binaries while there is root. */
void	 children_find(void);
void	 children_start(void);
/* The fds by which child_exec() works: a copy of this process has others. */
void	 child_files(enum role, int *binary_fd, int *devnull_fd);
void	 child_set_files(enum role, int binary_fd, int devnull_fd);
/* In a new process: leaves those of the starter. */
int	 child_standard_fds(void);
/* In a new process: becomes that role; fd 3 will be sock_fd. */
void	 child_exec(enum role, int sock_fd) __attribute__((noreturn));
bool	 children_ready(void);
/* A role that nothing needed at the start runs when it is needed. */
void	 children_wanted(void);
/* A tlsproc tries the new files; when it is ready the old one is renewed. */
void	 children_try_tls(void);
/*
 * It logs an error, so that its end needs no other words.  False: during the
 * start another one has said what is wrong already.
 */
bool	 child_complains(struct channel *);
/* False of one that only tries them. */
bool	 child_serves(const struct channel *);
/* Stops reading the child's messages until children_go_on(). */
void	 child_hold(struct channel *);
void	 children_go_on(void);
/* Sends settings to all roles. */
void	 children_settings(void);
void	 children_shutdown(void);
void	 children_end(void);
void	 children_kill(void);
/* Nothing is left to wait for at the stop. */
bool	 children_gone(void);
/* Is that pid the parent's to reap by its pidfd? */
bool	 children_own(pid_t);
/* False while a role is not running or not linked: the message is lost. */
bool	 child_send(enum role, struct msg_out *, int fd);
/* ... and this leaves us the fd. */
bool	 child_lend(enum role, struct msg_out *, int fd);
bool	 child_runs(enum role);
/* Makes the settings of d.conf those of d.settings. */
void	 settings_fill(void);

/* listen.c: the sockets. */
/* Names each user of auth none whom nobody may be taken for; -1 = there is
 * one. */
int	 listen_check(const struct conf *, conf_error_fn, void *arg);
void	 listen_open(void);
/* Moves to the listeners of another configuration; -1 = nothing changed. */
int	 listen_reload(const struct conf *);
void	 listen_hand_out(enum role);
void	 listen_close(void);
/* Says where the daemon listens: one line each by fn. */
void	 listen_describe(void (*fn)(const char *));

/* The port of the first TLS listener, 0 = there is none. */
uint16_t listen_tls_port(void);
/* Any, of the web or not. */
bool	 listen_has_tls(void);
/* The port of the first web listener, 0 = there is none. */
uint16_t listen_web_port(void);
bool	 listen_web_is_tls(void);
/* Where that is for this host itself; "" = nowhere. */
void	 listen_web_address(char *, size_t);

/* Announces the listeners by mDNS, unless the configuration says no. */
void	 announce_send(void);

/* tls.c: the certificate. */
/* Remembers which files the key and certificates are. */
void	 tls_note_files(void);
/* Have other files taken their place, or may they, or are others named now? */
bool	 tls_files_changed(void);
/* A tlsproc has tried them: are they others than those that serve? */
bool	 tls_is_news(void);
/* The files found are no good: look at them again at the next SIGHUP. */
void	 tls_forget_files(void);
/*
 * The settings with which a tlsproc is started that is to serve: those of the
 * configuration, or the files that were good last when its are not.
 */
const struct settings *tls_settings(void);
/* A tlsproc has tried what the configuration names, or shall do without. */
void	 tls_tried(bool good);
const char *tls_fingerprint(void);
/* Tells netproc where TLS is spoken and by whom. */
void	 tls_tell(void);

/* hostlog.c: the host's syslog, which is never waited for; -1: there is none. */
int	 hostlog_open(void);
void	 hostlog_line(int priority, const char *line);
/* Has half of what may wait, for one that still takes lines. */
bool	 hostlog_is_full(void);
/* Gives what is left a moment to go. */
void	 hostlog_end(void);

/* notify.c: systemd's readiness protocol, the log, readiness for a shell. */
void	 notify_init(void);
void	 notify_send(const char *state);
void	 notify_watchdog(void);
/* Before a look-up that a directory service may take long for. */
void	 notify_alive(void);
/* While there is the right to open what the log is written to. */
void	 sink_find(void);
void	 sink_init(void);
/* Gives what is left of the log a moment to go. */
void	 sink_end(void);
/* Forks into the background; the first process waits for daemon_ready(). */
void	 daemon_fork(void);
void	 daemon_ready(void);

/* main.c */
void	 tell_mdns_state(void);
void	 parent_started(void);
void	 parent_stop(void);

#endif
