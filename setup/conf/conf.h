/* SPDX-License-Identifier: ISC */
/*
 * The configuration of the daemon, as the parent holds it: defaults, the
 * file, the command line on top, then the cross checks, in this order.
 * Nothing here is global: a second struct conf may be built while the first
 * one is in use.
 */
#ifndef CONF_H
#define CONF_H

#include <sys/socket.h>
#include <sys/types.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define CONF_UNLIMITED		UINT64_MAX
#define CONF_MAX_ERRORS		20	/* reported by one call */
#define CONF_MAX_LISTENS	32
#define CONF_MAX_NAMES		64	/* values of one list */
#define CONF_MAX_QUOTAS		256
#define CONF_MAX_ADAPTERS	16
#define CONF_LINE_DEFAULT	0	/* nobody set it */
#define CONF_LINE_COMMAND	(-1)	/* set by conf_set() */

/* From weak to strong; a set is a mask of 1 << value. */
enum conf_sandbox {
	CONF_SANDBOX_NONE,
	CONF_SANDBOX_NAMESPACES,
	CONF_SANDBOX_TMPFS
};

enum conf_network {
	CONF_NETWORK_SHARED,
	CONF_NETWORK_NONE
};

enum conf_log_level {
	CONF_LOG_ERROR,
	CONF_LOG_WARN,
	CONF_LOG_INFO,
	CONF_LOG_DEBUG
};

struct conf_listen {
	char	*addr;		/* canonical literal, "localhost" or "*" */
	char	*user;		/* auth none as USER; NULL: no auth none */
	uint16_t port;		/* 0: the key port, or web-port, holds */
	bool	 web;		/* speaks HTTP */
	bool	 tls;
	bool	 plain;
	int	 line;
};

struct conf_names {
	char	**v;
	size_t	 n;
};

enum conf_quota_kind {
	CONF_QUOTA_DEFAULT,
	CONF_QUOTA_USER,
	CONF_QUOTA_GROUP
};

/*
 * Quota of a user, as the statement gives it; CONF_UNLIMITED where the
 * statement gives none. cpu in seconds, bytes and memory in bytes.
 */
struct conf_quota {
	enum conf_quota_kind kind;
	char	*name;		/* of the user or group; NULL: default */
	int	 line;
	unsigned int set;	/* which the statement names, while it is read */
	uint64_t sessions;
	uint64_t bytes;
	uint64_t cpu;
	uint64_t memory;
	uint64_t processes;
};

/* A debugger's adapter: how it is started, and by which name it is meant. */
struct conf_adapter {
	char	*name;
	char	*command;	/* words apart by blanks */
	int	 line;
};

/* The rows of settings.def, and what has no row; strings are never NULL. */
struct conf {
	bool	 system_mode;
	uid_t	 invoking;
	char	*name;		/* of the file parsed; NULL: none was */
	int	*lines;		/* by key: where it was set */

	struct conf_listen *listens;
	size_t	 nlistens;
	struct conf_quota *quotas;
	size_t	 nquotas;
	struct conf_adapter *adapters;
	size_t	 nadapters;

#define NUM(to, name, ...)	uint32_t name;
#define PORT(to, name, ...)	uint16_t name;
#define SIZE(to, name, ...)	uint64_t name;
#define LIMIT(to, name, ...)	uint64_t name;
#define BOOL(to, name, ...)	bool name;
#define STR(to, name, ...)	char *name;
#define NAMES(to, name, ...)	struct conf_names name;
#include "wire/settings.def"
};

/* text is one line, without newline, valid during the call only. */
typedef void (*conf_error_fn)(void *arg, const char *text);

/* Returns a new conf with every default, or NULL and ENOMEM. */
struct conf	*conf_default(bool system_mode, uid_t invoking);
/* Takes c, which may be NULL. */
void		 conf_free(struct conf *);
/*
 * Reads all of the file, which is borrowed, into c. name is for messages.
 * -1: errors were reported, c is good for conf_free() alone.
 */
int		 conf_parse(struct conf *, const char *name, FILE *,
		    conf_error_fn, void *arg);
/*
 * Sets a key as the file would ("port", "limit cpu", "listen" with an
 * address as value) over what the file said. -1: err says why.
 */
int		 conf_set(struct conf *, const char *key, const char *value,
		    char *err, size_t errsize);
/*
 * Checks what no single line can know, and fills what depends on other
 * keys. -1: errors were reported.
 */
int		 conf_check(struct conf *, conf_error_fn, void *arg);
/*
 * Reports what is allowed but perhaps not meant: a plain listener on a
 * network, a quota that leaves nothing for others. Returns how many.
 */
int		 conf_warn(struct conf *, conf_error_fn, void *arg);
/* Prints every key so that the print parses to an equal conf. */
void		 conf_print(const struct conf *, FILE *);
/*
 * Writes what has been set, and in which line, for conf_unpack() in another
 * process, where a value is checked like one of the command line.
 */
void		 conf_pack(const struct conf *, FILE *);
/* Writes a text as conf_pack() does, with the NUL at its end. */
void		 conf_pack_text(const char *, FILE *);
/* Returns a new conf; NULL: not what conf_pack() writes, or no memory. */
struct conf	*conf_unpack(const char *packed, size_t len, bool system_mode,
		    uid_t invoking);
/*
 * Writes the settings that only a restart changes as text, one to a line.
 * False: there is no room.
 */
bool		 conf_restart_text(const struct conf *, char *, size_t);
/* The first by which two such texts differ, a key's name; NULL = none. */
const char	*conf_restart_differs(const char *, const char *);
/* Compares the settings; where they were set does not count. */
bool		 conf_equal(const struct conf *, const struct conf *);

/*
 * The listeners that there are to be, from 0 on, then NULL: the statements,
 * and where none of them is of the web, one on localhost.
 */
const struct conf_listen *conf_listen_at(const struct conf *, size_t);
/* No setting says where the web listens: its listener may be left out. */
bool		 conf_web_is_default(const struct conf *);
/*
 * The port of a listen statement, in host order; 0: it is of the web, which
 * is off.
 */
uint16_t	 conf_listen_port(const struct conf *,
		    const struct conf_listen *);
/*
 * Fills the one or two addresses of a listen statement, with the given
 * port in host order. Returns their number; -1 and ENODEV when the
 * interface of a link-local address does not exist.
 */
int		 conf_listen_addrs(const struct conf_listen *, uint16_t port,
		    struct sockaddr_storage out[2]);
/* IPv4 127/8 or ::1. */
bool		 conf_addr_is_loopback(const struct sockaddr_storage *);
/*
 * Expands service-name for a host name, cut to the 63 bytes of a DNS label
 * at a character boundary.
 */
void		 conf_service_name(const struct conf *, const char *host,
		    char out[64]);

/* Strict: decimal digits and nothing else, between min and max. */
int		 conf_parse_number(const char *, uint64_t min, uint64_t max,
		    uint64_t *);
/* Strict: digits, then K, M or G if wanted (powers of 1024). */
int		 conf_parse_size(const char *, uint64_t *);
/* The shortest exact form that conf_parse_size() reads. */
void		 conf_format_size(uint64_t, char out[24]);

#endif
