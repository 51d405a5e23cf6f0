/* SPDX-License-Identifier: ISC */
/*
 * Internals of the configuration's files: the table of keys and the types of
 * their values. No other file includes this header.
 */
#ifndef CONF_TABLE_H
#define CONF_TABLE_H

#include "conf.h"

enum conf_type {
	CONF_BOOL,
	CONF_NUMBER,		/* min..max, in 2, 4 or 8 bytes */
	CONF_SIZE,		/* the same with suffixes */
	CONF_WORD,		/* index into words */
	CONF_SET,		/* mask over words */
	CONF_PATH,		/* absolute, at most max bytes */
	CONF_SERVICE,		/* template of the service name */
	CONF_NAMES,		/* struct conf_names, may be repeated */
	CONF_NTYPES
};

#define CONF_F_UNLIMITED	0x1	/* the word unlimited is allowed */
#define CONF_F_POW2		0x2	/* a power of two only */
#define CONF_F_EMPTY		0x4	/* "" is allowed, in user mode at least */
#define CONF_F_SECONDS		0x8
#define CONF_F_HOST		0x10	/* names of hosts, not of users */
#define CONF_F_RESTART		0x20	/* only a restart changes it */

struct conf_key {
	const char	*name;
	enum conf_type	 type;
	unsigned int	 flags;
	size_t		 offset;	/* of the field in struct conf */
	size_t		 size;		/* of the field */
	uint64_t	 min, max;
	const char	*def;		/* as the file would say it; NULL: none */
	const char	*user_def;	/* in user mode; NULL: def */
	const char	*zero;		/* what 0 means; NULL: nothing special */
	const char *const *words;	/* NULL-terminated */
};

extern const struct conf_key	conf_keys[];
extern const size_t		conf_nkeys;

const struct conf_key	*conf_key_find(const char *name);
/* The key at an edit distance of at most two, or NULL. */
const char		*conf_key_nearest(const char *name);
/* "unknown key ..." with the nearest one. */
void			 conf_key_unknown(const char *name, char *err,
			    size_t errsize);
/* Where the key was set, CONF_LINE_*. */
int			 conf_key_line(const struct conf *, const char *name);
/* Sets one key and notes the line. -1: err says why. */
int			 conf_key_set(struct conf *, const struct conf_key *,
			    const char *value, int line, char *err,
			    size_t errsize);

/* conf_type.c: a value of one key, by its type. */
void	*conf_field(struct conf *, const struct conf_key *);
const void *conf_value(const struct conf *, const struct conf_key *);
uint64_t conf_load(const struct conf *, const struct conf_key *);
int	 conf_type_parse(struct conf *, const struct conf_key *,
	    const char *value, char *err, size_t errsize);
/* Describes a good value, for messages. */
void	 conf_type_describe(const struct conf_key *, char *out, size_t);
/* The value in quotes, shortened, without control characters. */
void	 conf_quote(const char *value, char out[80]);
/* May it be the name of a user or a group? */
bool	 conf_name_valid(const char *);
void	 conf_names_free(struct conf_names *);

/* conf_print.c: a value as conf_key_set() takes it, for all types but names. */
void	 conf_print_value(const struct conf *, const struct conf_key *, FILE *);
bool	 conf_has_value(const struct conf *, const struct conf_key *);
/* Lines of one key, as the file has them. */
void	 conf_print_key(const struct conf *, const struct conf_key *, FILE *);

/* conf_listen.c */
/* Takes l's strings in every case. -1: err says why. */
int	 conf_listen_add(struct conf *, struct conf_listen *l, char *err,
	    size_t errsize);
void	 conf_listen_clear(struct conf_listen *);

/* conf_quota.c */
void	 conf_quota_clear(struct conf_quota *);
/* Sets one resource of q. -1: err says why. */
int	 conf_quota_set(struct conf_quota *q, const char *resource,
	    const char *value, char *err, size_t errsize);
/* Takes q's name in every case. -1: err says why. */
int	 conf_quota_add(struct conf *, struct conf_quota *q, char *err,
	    size_t errsize);
/* "quota user lab" */
void	 conf_quota_title(const struct conf_quota *, char *out, size_t);
void	 conf_quota_print(const struct conf_quota *, FILE *);
/* The resources' names and values as texts, then an empty one. */
void	 conf_quota_pack(const struct conf_quota *, FILE *);
bool	 conf_quota_equal(const struct conf_quota *,
	    const struct conf_quota *);
/* conf_adapter.c */
void	 conf_adapter_clear(struct conf_adapter *);
/* Takes a's strings in every case. -1: err says why. */
int	 conf_adapter_add(struct conf *, struct conf_adapter *a, char *err,
	    size_t errsize);
void	 conf_adapter_print(const struct conf_adapter *, FILE *);
bool	 conf_adapters_equal(const struct conf *, const struct conf *);
/* A string in quotes, as the file wants it. */
void	 conf_print_quoted(const char *, FILE *);

#endif
