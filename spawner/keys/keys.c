/* SPDX-License-Identifier: ISC */
/* Keys, by their hashes. */
#include <sys/queue.h>

#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/loop.h"
#include "keys.h"
#include "spawner/session/access.h"

#define PREFIX		4
#define SECRET		32		/* random bytes */
#define HASH		32
#define BUCKETS		1024		/* power of two */
#define BASE64		sodium_base64_VARIANT_URLSAFE_NO_PADDING

struct entry {
	LIST_ENTRY(entry) bucket;
	TAILQ_ENTRY(entry) age;
	struct key	 key;
	uint8_t		 hash[HASH];
	uint64_t	 made_ms;
	struct loop_timer timer;
};

TAILQ_HEAD(entries, entry);

/* By kind: how it begins, how long it lasts, how many a user may have. */
static const struct kind {
	const char	*prefix, *see_prefix;
	int64_t		 life_s;	/* 0 = as long as its session */
	size_t		 most;		/* 0 = bounded by its sessions */
	bool		 once;
} kinds[KEY_KINDS] = {
	[KEY_COOKIE] = { "dlc_", NULL, KEY_COOKIE_S, KEY_COOKIES_MAX, false },
	[KEY_LOGIN] = { "dlo_", NULL, KEY_LOGIN_S, KEY_LOGINS_MAX, true },
	[KEY_TICKET] = { "dlk_", NULL, KEY_TICKET_S, KEY_TICKETS_MAX, true },
	[KEY_SESSION] = { "dls_", "dlv_", 0, 0, false },
};

static LIST_HEAD(, entry) buckets[BUCKETS];
static struct entries	 entries = TAILQ_HEAD_INITIALIZER(entries);
static keys_ended_fn	 ended;

void
keys_init(keys_ended_fn fn)
{
	ended = fn;
}

static const char *
prefix_of(const struct key *k)
{
	const struct kind *kind = &kinds[k->kind];

	return kind->see_prefix != NULL && k->access == ACCESS_SEE ?
	    kind->see_prefix : kind->prefix;
}

/* -- finding -------------------------------------------------------------- */

static size_t
bucket_of(const uint8_t hash[HASH])
{
	return (size_t)(hash[0] | hash[1] << 8) & (BUCKETS - 1);
}

static int
hash_of(const char *text, size_t len, uint8_t hash[HASH])
{
	return len != KEY_TEXT ? -1 : crypto_generichash(hash, HASH,
	    (const uint8_t *)text, len, NULL, 0);
}

/* Which bucket is searched tells how a hash begins, and no more. */
static struct entry *
find_hash(const uint8_t hash[HASH])
{
	struct entry *e;

	LIST_FOREACH(e, &buckets[bucket_of(hash)], bucket)
		if (sodium_memcmp(e->hash, hash, HASH) == 0)
			return e;
	return NULL;
}

static struct entry *
find_id(const char *id)
{
	struct entry *e;

	TAILQ_FOREACH(e, &entries, age)
		if (strcmp(e->key.id, id) == 0)
			return e;
	return NULL;
}

const struct key *
keys_find(const char *id)
{
	const struct entry *e = find_id(id);

	return e == NULL ? NULL : &e->key;
}

bool
keys_is_new(const char *id)
{
	const struct entry *e = find_id(id);

	return e != NULL && loop_now_ms() - e->made_ms < KEY_LOGIN_S * 1000;
}

size_t
keys_of_session(const struct sid *id)
{
	const struct entry *e;
	size_t n = 0;

	TAILQ_FOREACH(e, &entries, age)
		n += e->key.kind == KEY_SESSION &&
		    memcmp(&e->key.session, id, sizeof(*id)) == 0;
	return n;
}

bool
keys_is_kind(const char *text, size_t len, enum key_kind kind)
{
	return len == KEY_TEXT &&
	    memcmp(text, kinds[kind].prefix, PREFIX) == 0;
}

/* -- ending --------------------------------------------------------------- */

static void
forget(struct entry *e)
{
	loop_timer_unset(&e->timer);
	LIST_REMOVE(e, bucket);
	TAILQ_REMOVE(&entries, e, age);
	sodium_memzero(e, sizeof(*e));
	free(e);
}

/* It is found no more when others hear of it. */
static void
end(struct entry *e)
{
	struct key k = e->key;

	forget(e);
	ended(&k);
}

typedef bool	(*match_fn)(const struct key *, const void *);

/* Begins anew after each, as others may end with it. */
static void
end_those(match_fn match, const void *arg)
{
	struct entry *e;

	do {
		TAILQ_FOREACH(e, &entries, age)
			if (match(&e->key, arg))
				break;
		if (e != NULL)
			end(e);
	} while (e != NULL);
}

/* Itself, and what was made by the browser that logged in with it. */
static bool
is_or_hangs_on(const struct key *k, const void *id)
{
	return strcmp(k->id, id) == 0 || strcmp(k->parent, id) == 0;
}

static bool
is_by_token(const struct key *k, const void *token)
{
	return strcmp(k->token, token) == 0;
}

static bool
is_of_session(const struct key *k, const void *id)
{
	return memcmp(&k->session, id, sizeof(k->session)) == 0;
}

static bool
is_shared(const struct key *k, const void *id)
{
	return k->kind == KEY_SESSION && is_of_session(k, id);
}

static bool
is_by_admin(const struct key *k, const void *viewer)
{
	return (k->flags & PRINCIPAL_ADMIN) != 0 &&
	    (viewer == NULL || (k->maker == viewer && !k->root));
}

static bool
is_any(const struct key *k, const void *arg)
{
	(void)k;
	(void)arg;
	return true;
}

void
keys_end(const char *id)
{
	char copy[KEY_ID + 1];

	/* it may be the key's own */
	memcpy(copy, id, sizeof(copy));
	end_those(is_or_hangs_on, copy);
}

void
keys_end_token(const char *token)
{
	end_those(is_by_token, token);
}

void
keys_end_session(const struct sid *id)
{
	end_those(is_of_session, id);
}

void
keys_end_shared(const struct sid *id)
{
	end_those(is_shared, id);
}

void
keys_end_admins(const struct viewer *v)
{
	end_those(is_by_admin, v);
}

void
keys_end_all(void)
{
	end_those(is_any, NULL);
}

const struct key *
keys_check(const char *text, size_t len)
{
	static struct key found;
	uint8_t hash[HASH];
	struct entry *e;

	if (hash_of(text, len, hash) == -1)
		return NULL;
	e = find_hash(hash);
	/* the timer may be late */
	if (e == NULL ||
	    (e->key.ends_ms != 0 && loop_now_ms() >= e->key.ends_ms))
		return NULL;
	found = e->key;
	if (kinds[found.kind].once)
		forget(e);
	return &found;
}

/* -- making --------------------------------------------------------------- */

/*
 * Gives way to one more of this user's: the oldest that was made by the same
 * token, if there is any, so that who has stolen one does not log out all
 * others; then the oldest.
 */
static void
make_room(const struct key *like)
{
	struct entry *e, *oldest = NULL, *same = NULL;
	size_t n = 0, most = kinds[like->kind].most;

	TAILQ_FOREACH(e, &entries, age) {
		if (e->key.kind != like->kind || e->key.uid != like->uid)
			continue;
		n++;
		if (oldest == NULL)
			oldest = e;
		if (same == NULL && strcmp(e->key.token, like->token) == 0)
			same = e;
	}
	if (most > 0 && n >= most)
		keys_end(same != NULL ? same->key.id : oldest->key.id);
}

static void
new_id(char id[KEY_ID + 1])
{
	uint8_t raw[KEY_ID / 2];

	do {
		randombytes_buf(raw, sizeof(raw));
		(void)sodium_bin2hex(id, KEY_ID + 1, raw, sizeof(raw));
	} while (find_id(id) != NULL);
}

static void
new_secret(const struct key *k, char text[KEY_TEXT + 1])
{
	uint8_t secret[SECRET];

	randombytes_buf(secret, sizeof(secret));
	memcpy(text, prefix_of(k), PREFIX);
	(void)sodium_bin2base64(text + PREFIX, KEY_TEXT + 1 - PREFIX, secret,
	    sizeof(secret), BASE64);
	sodium_memzero(secret, sizeof(secret));
}

static void
on_expiry(void *arg)
{
	struct entry *e = arg;

	keys_end(e->key.id);
}

static void
set_end(struct entry *e, int64_t most_s)
{
	int64_t life_s = kinds[e->key.kind].life_s;

	if (life_s == 0 || (most_s != 0 && most_s < life_s))
		life_s = most_s;
	e->key.ends_ms = 0;
	e->key.expires = 0;
	if (life_s == 0)
		return;
	e->key.ends_ms = loop_now_ms() + (uint64_t)life_s * 1000;
	e->key.expires = time(NULL) + life_s;
	loop_timer_set(&e->timer, (uint64_t)life_s * 1000, on_expiry, e);
}

const struct key *
keys_make(const struct key *like, int64_t most_s, char text[KEY_TEXT + 1])
{
	struct entry *e = calloc(1, sizeof(*e));

	if (e == NULL)
		return NULL;
	make_room(like);
	e->key = *like;
	new_id(e->key.id);
	new_secret(&e->key, text);
	(void)hash_of(text, KEY_TEXT, e->hash);
	e->made_ms = loop_now_ms();
	set_end(e, most_s);
	LIST_INSERT_HEAD(&buckets[bucket_of(e->hash)], e, bucket);
	TAILQ_INSERT_TAIL(&entries, e, age);
	return &e->key;
}
