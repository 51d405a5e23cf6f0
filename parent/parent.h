/* SPDX-License-Identifier: ISC */
/* Declarations that the files of the parent share: plan, children, listeners. */
#ifndef DL_PARENT_H
#define DL_PARENT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "base/log.h"
#include "wire/msg.h"
#include "wire/settings.h"
#include "wire/start.h"

struct listener {
	struct sockaddr_storage	 addr;
	socklen_t		 len;
	uint32_t		 flags;		/* LISTENER_* */
	uid_t			 uid;		/* with LISTENER_AUTH_NONE */
	char			 text[LISTENER_TEXT];
	int			 fd;		/* -1: of the plan in force, */
	uint32_t		 was;		/* where it has this index */
};

struct quota {
	uint32_t		 kind;		/* QUOTA_DEFAULT and so on */
	uint32_t		 id;
	uint64_t		 most[QUOTA_COUNT];
	char			 name[256];
};

/* A file of TLS as setup has found it; false: it could not be looked at. */
struct tls_seen {
	bool			 seen;
	uint64_t		 dev, ino, sec, nsec;
};

/* A configuration as far as the parent knows it. */
struct plan {
	unsigned int		 got;		/* parts that have come */
	struct settings		 settings;
	uint32_t		 exit_idle;	/* s, 0 = never */
	bool			 mdns;
	char			 service[SERVICE_MAX];
	uint32_t		 audit;		/* enum plan_audit */
	int			 audit_fd;	/* of AUDIT_NEW */
	char			 audit_file[WHOLE_NAME_LEN];
	struct tls_seen		 tls[TLS_FILES];
	struct listener		 listeners[MAX_LISTENERS];
	size_t			 nlisteners;
	bool			 kept[MAX_LISTENERS];	/* of those in force */
	struct quota		 quotas[MAX_QUOTAS];
	size_t			 nquotas;
	char			*warnings;	/* lines, each with its NUL */
	size_t			 nwarnings;
};

struct daemon {
	char		**argv;			/* setup's, for a reload */
	enum mode	 mode;
	bool		 foreground;
	bool		 local;
	bool		 own_tree;		/* made by setup, removed by us */
	uint64_t	 watchdog_ms;		/* 0 = there is none */
	struct identity	 role_id[ROLE_COUNT];
	char		 libexec[PATH_LEN];
	char		 tree[PATH_LEN];	/* of cgroups; empty = none */
	char		 bus[PATH_LEN];		/* the announcer's; empty = usual */
	char		 conf_file[WHOLE_NAME_LEN];	/* empty = the usual */
	char		 fixed[FIXED_MAX];	/* setup compares it */
	struct plan	*plan;			/* in force */
	bool		 started;		/* every role has said READY */
	bool		 stopping;
	bool		 failed;		/* and so the exit status is 1 */
};

extern struct daemon	 d;

/* Calls by which the other files tell main.c. */
struct parent_hooks {
	/* A child runs: before it is linked to its peers, and after. */
	void	(*runs)(enum role);
	void	(*linked)(enum role);
	/* It has said READY. */
	void	(*ready)(enum role);
	/* Its end of the link to the logger, borrowed; -1 with errno. */
	int	(*log_link)(uint32_t index, enum role);
	void	(*log_forget)(enum role);
	/* Is that pid a child that is no role? */
	bool	(*owns)(pid_t);
	/* netproc runs: it is to know what became of the announcement. */
	void	(*tell_mdns)(void);
	/* Every role has said READY: only now is there what to connect to. */
	void	(*started)(void);
	/* Another plan is in force: tells everybody. */
	void	(*reloaded)(void);
	/* The daemon ends, or a child has while it does. */
	void	(*stop)(void);
};

/* Set before any child runs. */
extern const struct parent_hooks *parent_hooks;

/* given.c: what setup left open. */
/* Its number, or -1 if there is none. */
int	 given_fd(int number);
/* From now on there is none. */
void	 given_close(int number);
void	 given_take(void);

/* rights.c: the capabilities. */
/* First act: nobody can trace us, what is executed gets no capability. */
void	 rights_take(void);
/* In a child, before exec: raises what it needs to confine itself. */
int	 rights_lend(bool fence);
/* In a child, before exec: gives up all of them, in system mode. */
int	 rights_drop(void);

/* plan.c: what setup says. */
/* Forgets the part of the next one that has come. */
void	 plan_drop(void);
/* Logs what the configuration allows but may not mean. */
void	 plan_warn(void);
/* Sends the spawner the quotas. */
void	 plan_tell_quotas(void);

/* reload.c */
/* Begins one, or one more when that is done which runs. */
void	 reload_start(void);
/* The plan that it brought is in force. */
void	 reload_done(void);
/* Is that pid the one of setup? */
bool	 reload_owns(pid_t);
bool	 reload_runs(void);
void	 reload_stop(void);

/* acctproc.c: asks what starts acctproc, with the group of /etc/shadow. */
/* An acctproc whose channel sock_fd, borrowed, is: our child's pid, or -1. */
pid_t	 acctproc_start(int sock_fd);
void	 acctproc_end(void);

/* logger.c: what the logger is handed. */
/* The log goes to standard error until there is a logger. */
void	 logger_init(void);
/* The logger has said READY: the parent's lines go to it. */
void	 logger_lives(void);
/* Hands a new logger all that there is. */
void	 logger_introduce(void);
/* Tells it where the log goes, and whether the start is over. */
void	 logger_tell_place(void);
/* A role's end of the link of that index, borrowed; -1 with errno. */
int	 logger_link(uint32_t index, enum role);
/*
 * A role has broken the message table there and is ended: what else it has left
 * in its link would be held against those that come after it.
 */
void	 logger_forget(enum role);
/* All others have ended, and the parent has nothing more to say. */
void	 logger_end(void);
/* The audit file of the plan in force. */
void	 audit_commit(void);
bool	 audit_is_open(void);
/* Which file it is; untouched if there is none. */
void	 audit_which(uint64_t *dev, uint64_t *ino);

/* tree.c: removes the cgroup tree that setup has made. */
void	 tree_remove(void);

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
void	 children_start(void);
/* In a new process: leaves the standard fds of the starter, but for the log's. */
int	 child_standard_fds(bool logs);
/* In a new process: sock_fd becomes fd 3, and is passed on. */
int	 child_channel(int sock_fd);
bool	 children_ready(void);
/* A role that nothing needed at the start runs when it is needed. */
void	 children_wanted(void);
/* A tlsproc tries the new files; when it is ready the old one is renewed. */
void	 children_try_tls(void);
/* False of one that only tries them. */
bool	 child_serves(const struct channel *);
/* Sends settings to all roles. */
void	 children_settings(void);
void	 children_shutdown(void);
void	 children_end(void);
void	 children_kill(void);
/* Nothing is left to wait for at the stop. */
bool	 children_gone(void);
/* Lets the logger write what it has.  False: it did not come to an end. */
bool	 child_end_logger(void);
/* Is that pid the parent's to reap by its pidfd? */
bool	 children_own(pid_t);
/* False while a role is not running or not linked: the message is lost. */
bool	 child_send(enum role, struct msg_out *, int fd);
/* ... and this leaves us the fd. */
bool	 child_lend(enum role, struct msg_out *, int fd);
bool	 child_runs(enum role);

/* listen.c: the sockets. */
/*
 * From the listeners of one plan to those of the next: kept ones move, others
 * are closed.  The first may be NULL.
 */
void	 listen_move(struct plan *from, struct plan *to);
void	 listen_hand_out(enum role);
void	 listen_close(void);
/* Says where the daemon listens: one line each by fn. */
void	 listen_describe(void (*fn)(const char *));

/* The port of the first TLS listener, 0 = there is none. */
uint16_t listen_tls_port(void);

/* Announces the listeners by mDNS, unless the configuration says no. */
void	 announce_send(void);

/* tls.c: the certificate. */
/* Remembers which files the key and certificates are, as the plan says. */
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

/* notify.c: systemd's readiness protocol, readiness for a shell. */
void	 notify_send(const char *state);
void	 notify_watchdog(void);
/* The start has succeeded: tells systemd, or the shell that waits. */
void	 daemon_ready(void);

#endif
