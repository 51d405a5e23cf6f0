/* SPDX-License-Identifier: ISC */
/* Declarations that the files of setup share: options, users, places. */
#ifndef DL_SETUP_H
#define DL_SETUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/log.h"
#include "conf/conf.h"
#include "wire/msg.h"
#include "wire/settings.h"
#include "wire/start.h"

struct options {
	const char	*file;		/* -f; NULL = the usual place */
	bool		 check;		/* -n */
	bool		 verbose;	/* -v */
	bool		 foreground;	/* -d */
	bool		 user;		/* --user */
	bool		 local;		/* --local */
};

/* The parent's present state, as it says at a reload. */
struct in_force {
	char		 audit_file[WHOLE_NAME_LEN];
	uint64_t	 audit_dev, audit_ino;	/* 0 = there is none */
	char		 fixed[FIXED_MAX];
};

struct daemon {
	struct options	 opt;
	enum mode	 mode;
	bool		 reload;		/* the parent has started us */
	struct conf	*conf;
	struct settings	 settings;
	struct in_force	 force;
	char		 libexec[PATH_LEN];
	char		 run_dir[PATH_LEN];
	char		 state_dir[PATH_LEN];
	char		 tree[PATH_LEN];	/* of cgroups; empty = none */
	bool		 own_tree;		/* made by us */
	struct identity	 self;			/* _dlparent */
	struct identity	 role_id[ROLE_COUNT];
	struct identity	 run_id;		/* _dlrun */
	uint32_t	 sum_users;		/* each gets such a part, in it */
	bool		 rlimits_lifted;	/* no sum of rlimits for all of it */
	uint64_t	 watchdog_ms;		/* 0 = there is none */
};

extern struct daemon	 d;

/* given.c: the descriptors that the parent gets. */
/* Takes fd; -1 = there is none. */
void	 give(int number, int fd);
/* The one that will have that number, for use until then; borrowed. */
int	 given(int number);
/* Moves them to their numbers, and closes all others. */
void	 given_place(void);

/* flags.c */
/* Fills d.opt from the command line. */
void	 flags_parse(int argc, char **argv);
/* Fills d.mode and d.conf; does what -n asks for. */
void	 flags_begin(void);
/* Has the configuration read; NULL when it is bad (already reported). */
struct conf *flags_load(void);
/* Says what the configuration allows but may not mean. */
void	 flags_warn(conf_error_fn, void *arg);

/*
 * conf_child.c: parses the file over a configuration, in a child without
 * privilege.  Takes the configuration, borrows the file.  Returns the new
 * configuration, which conf_check() has not seen; NULL if errors were reported.
 */
struct conf *conf_child_parse(struct conf *, FILE *, const char *name,
		conf_error_fn);

/* fill.c: makes the settings of d.conf those of d.settings. */
void	 settings_fill(void);
/* Settings of the host, which stay as they are. */
void	 settings_fill_host(void);

/* users.c: service users, the fence, dropping root. */
void	 users_find(void);
/* For -n: -1 if no daemon could start with these groups, which was said. */
int	 users_check(const struct conf *);
void	 fence_make(void);
/* From root to _dlparent with the four capabilities that it keeps. */
void	 users_drop(void);
/* Before exec of the parent, in system mode: it gets these. */
void	 users_lend(void);
/* host_limits.c: by how many users what the host has for all is divided. */
uint32_t host_limits_users(uint32_t sessions, uint32_t each);
/*
 * As root, before a user namespace is made.  False if it will have the rlimits
 * of this process for all of its users together.
 */
bool	 host_limits_prepare(void);
/* In it, with all capabilities: each user gets that part.  False if not all. */
bool	 host_limits_divide(uint32_t users);

/* acct_starter.c: what starts acctproc, with the group of /etc/shadow. */
void	 acct_starter_find(void);
/* Is there such a group, and anybody to ask for? */
bool	 acct_starter_is_wanted(void);
/* As root, when the binaries are open. */
void	 acct_starter_make(void);

/*
 * access.c: finds the users and groups that a configuration names, and makes
 * them those of d.settings.  -1: one of them does not exist, which was said.
 */
int	 access_find(const struct conf *);
void	 access_fill(struct settings *);
/* The id and the QUOTA_ kind of a quota; i is its place in the file. */
uint32_t access_quota_id(size_t i);
uint32_t access_quota_kind(const struct conf_quota *);

/* audit.c: opens the audit file that a configuration wants. */
/* -1: it cannot be had, which was said. */
int	 audit_find(const struct conf *);
enum plan_audit audit_result(void);
/* The file of AUDIT_NEW: the caller owns it from now on. */
int	 audit_take(void);

/* places.c: directories and the cgroup tree. */
void	 places_make(void);

/* state.c: opens files that outlive the daemon, or ends the start. */
void	 state_open(void);

/* listen.c: the sockets. */
struct bound {
	struct sockaddr_storage	 addr;
	socklen_t		 len;
	uint32_t		 flags;		/* LISTENER_* */
	uid_t			 uid;		/* with LISTENER_AUTH_NONE */
	bool			 may_fail;	/* nobody asked for it */
	bool			 is_only;	/* its line names no other one */
	char			 text[LISTENER_TEXT];
	int			 fd;		/* -1 = not open */
	int			 kept;		/* index at the parent, -1 = new */
};

/* Names each user of auth none whom nobody may be taken for; -1 = there is
 * one. */
int	 listen_check(const struct conf *, conf_error_fn, void *arg);
/* Adds a listener that the parent has, in its order.  -1: it cannot be. */
int	 listen_present(const char *text, const void *addr, size_t len);
/* Opens what the configuration wants and is not there; -1 = said why not. */
int	 listen_open(const struct conf *);
/* The open ones, one after the other from 0 on; NULL = no more. */
struct bound *listen_at(size_t i);
bool	 listen_has_tls(void);
/* The port of the first web listener, 0 = there is none. */
uint16_t listen_web_port(void);
bool	 listen_web_is_tls(void);
/* Where that is for this host itself; "" = nowhere. */
void	 listen_web_address(char *, size_t);

/* background.c: systemd, the shell that waits, the terminal. */
void	 notify_open(void);
/* Forks into the background; the first process waits for the parent. */
void	 daemon_fork(void);
/* While there is the right to open what the log is written to. */
void	 terminal_find(void);

/* plan.c: what the parent is told. */
/* Looks which files the key and certificates are. */
void	 plan_look(void);
/* At the start, all of it; it stays in the channel until the parent reads. */
void	 plan_start(void);
/* At the start and at a reload: the plan by itself. */
void	 plan_send(struct channel *);

/* reload.c: serves one, for the parent. */
void	 reload_main(void) __attribute__((noreturn));

#endif
