/* SPDX-License-Identifier: ISC */
/* The part of the configuration that is sent to the roles. */
#ifndef DL_SETTINGS_H
#define DL_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "msg.h"

enum mode {
	MODE_SYSTEM = 1,	/* started by root, one user per role */
	MODE_USER
};

enum sandbox {
	SANDBOX_NONE,
	SANDBOX_NAMESPACES,
	SANDBOX_TMPFS,
	SANDBOX_COUNT,
	SANDBOX_DEFAULT = SANDBOX_COUNT	/* in START only */
};

enum network {
	NETWORK_SHARED,
	NETWORK_NONE,
	NETWORK_COUNT,
	NETWORK_DEFAULT = NETWORK_COUNT	/* in START only */
};

/* The last id that sessions can have: above are overflow and dynamic ids. */
#define LAST_UID	60000

/* Isolation that the operator gave up by name. */
enum {
	WEAKEN_USERNS	= 1 << 0,
	WEAKEN_SECCOMP	= 1 << 1,
	WEAKEN_CHROOT	= 1 << 2
};

/* Controllers that limit and count whole cgroups, not only processes. */
enum {
	CONTROLLER_MEMORY = 1 << 0,
	CONTROLLER_PIDS	= 1 << 1
};

#define LIMIT_UNLIMITED	UINT64_MAX

/* Bytes of a path that roles are told. */
#define ROLE_PATH_MAX	255

/* Parts of a row of settings.def that concern struct settings alone. */
#define FOR_ROLES(...)	__VA_ARGS__
#define FOR_SETUP(...)

struct settings {
#define NUM(to, name, ...)	FOR_##to(uint64_t name;)
#define STR(to, name, key, max, ...)	FOR_##to(char name[(max) + 1];)
#define HOST_NUM(name)		uint64_t name;
#define HOST_STR(name, size)	char name[size];
#include "settings.def"
};

void	settings_put(struct msg_out *, const struct settings *);
/*
 * Whether sessions of system mode get the group: one of users, or one that
 * allow-group names.  The primary group of root's sessions is neither.
 */
bool	settings_have_group(const struct settings *, uint32_t gid);
/* Reads what settings_put() wrote; failures mark the message as bad. */
void	settings_get(struct msg *, struct settings *);

#endif
