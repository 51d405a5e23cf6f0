/* SPDX-License-Identifier: ISC */
/* Tokens in memory and in their file. */
#include <errno.h>
#include <inttypes.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/log.h"
#include "tokens.h"

#define PREFIX		"dlt_"
#define SECRET		32		/* random bytes */
#define HASH		32
#define HASH_TEXT	43		/* base64url, no padding */
#define CHECKSUM	16		/* hexadecimal digits */
#define BODY		(TOKEN_SLOT - CHECKSUM - 1)
#define BUCKETS		4096		/* power of two */
#define BASE64		sodium_base64_VARIANT_URLSAFE_NO_PADDING
#define NO_LABEL	"="		/* which no label is */
/* Seconds from 1970 to the year 9999, so that times have a longest form. */
#define TIME_MAX	INT64_C(253402300799)

/* The n-th is the n-th of the file; of a free one id is empty. */
struct slot {
	struct token	 token;
	uint8_t		 hash[HASH];
	uint16_t	 next;		/* 1-based, in the same bucket */
	uint16_t	 next_id;	/* the same, by id */
};

static struct slot	 slots[TOKENS_MAX];
static uint16_t		 buckets[BUCKETS];	/* 1-based */
static uint16_t		 id_buckets[BUCKETS];	/* the same, by id */
static int		 file_fd = -1;

static int64_t
now_s(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return ts.tv_sec;
}

static bool
is_free(const struct slot *s)
{
	return s->token.id[0] == '\0';
}

static bool
has_expired(const struct token *t)
{
	return t->expires != 0 && now_s() >= t->expires;
}

/* -- the form in the file ------------------------------------------------- */

static void
checksum(const char body[BODY], char text[CHECKSUM + 1])
{
	uint8_t sum[crypto_generichash_BYTES_MIN];

	(void)crypto_generichash(sum, sizeof(sum), (const uint8_t *)body, BODY,
	    NULL, 0);
	(void)sodium_bin2hex(text, CHECKSUM + 1, sum, CHECKSUM / 2);
}

/* A free slot is blank, which no torn one is. */
static void
format_free(char raw[TOKEN_SLOT])
{
	memset(raw, ' ', TOKEN_SLOT);
	raw[TOKEN_SLOT - 1] = '\n';
}

/* The longest user and label just fit; -1 when they do not. */
static int
format_slot(const struct slot *s, char raw[TOKEN_SLOT])
{
	const struct token *t = &s->token;
	char hash[HASH_TEXT + 1], text[BODY + 1], sum[CHECKSUM + 1];
	int n;

	(void)sodium_bin2base64(hash, sizeof(hash), s->hash, HASH, BASE64);
	/* the user comes last: a user name may have blanks in it */
	n = snprintf(text, sizeof(text), "dlt1 %s %s %" PRIu32 " %s %" PRId64
	    " %" PRId64 " %s %s\n", t->id, hash, t->uid, t->read_only ? "ro" :
	    "rw", t->created, t->expires, t->label[0] == '\0' ? NO_LABEL :
	    t->label, t->user);
	if (n < 0 || n > BODY || strchr(t->user, '\n') != NULL)
		return -1;
	format_free(raw);
	memcpy(raw, text, (size_t)n);
	checksum(raw, sum);
	memcpy(raw + BODY, sum, CHECKSUM);
	return 0;
}

static bool
is_time(int64_t s)
{
	return s >= 0 && s <= TIME_MAX;
}

static bool
parse_fields(const char *text, struct slot *s)
{
	struct token *t = &s->token;
	char hash[HASH_TEXT + 1], access[3];
	size_t len;

	memset(s, 0, sizeof(*s));
	if (sscanf(text, "dlt1 %8[0-9a-f] %43s %" SCNu32 " %2s %" SCNd64
	    " %" SCNd64 " %64s %63[^\n]", t->id, hash, &t->uid, access,
	    &t->created, &t->expires, t->label, t->user) != 8)
		return false;
	if (strcmp(t->label, NO_LABEL) == 0)
		t->label[0] = '\0';
	t->read_only = strcmp(access, "ro") == 0;
	return strlen(t->id) == TOKEN_ID && is_time(t->created) &&
	    is_time(t->expires) &&
	    sodium_base642bin(s->hash, HASH, hash, strlen(hash), NULL, &len,
	    NULL, BASE64) == 0 && len == HASH;
}

/*
 * Good only when writing what was read gives the same bytes: nothing has two
 * forms, and nothing is guessed.
 */
static bool
parse_slot(const char raw[TOKEN_SLOT], struct slot *s)
{
	char text[TOKEN_SLOT + 1], again[TOKEN_SLOT];

	memcpy(text, raw, TOKEN_SLOT);
	text[TOKEN_SLOT] = '\0';
	return parse_fields(text, s) && token_label_is_good(s->token.label) &&
	    format_slot(s, again) == 0 && memcmp(raw, again, TOKEN_SLOT) == 0;
}

static int
write_raw(size_t i, const char raw[TOKEN_SLOT])
{
	off_t at = (off_t)(i * TOKEN_SLOT);
	size_t done = 0;
	ssize_t n;

	while (done < TOKEN_SLOT) {
		n = pwrite(file_fd, raw + done, TOKEN_SLOT - done,
		    at + (off_t)done);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		done += (size_t)n;
	}
	return fdatasync(file_fd);
}

/* -- finding -------------------------------------------------------------- */

static uint16_t *
bucket(const uint8_t hash[HASH])
{
	return &buckets[(hash[0] | hash[1] << 8) & (BUCKETS - 1)];
}

/*
 * Buckets give away at most how a hash begins, to one who cannot choose it
 * without knowing the token; the comparison gives away nothing.
 */
static struct slot *
find_hash(const uint8_t hash[HASH])
{
	uint16_t i;

	for (i = *bucket(hash); i != 0; i = slots[i - 1].next)
		if (sodium_memcmp(slots[i - 1].hash, hash, HASH) == 0)
			return &slots[i - 1];
	return NULL;
}

/* Ids are hexadecimal digits by chance: the first three are as good as all. */
static uint16_t *
id_bucket(const char *id)
{
	char digits[4] = "";

	memcpy(digits, id, strnlen(id, sizeof(digits) - 1));
	return &id_buckets[strtoul(digits, NULL, 16) & (BUCKETS - 1)];
}

static struct slot *
find_id(const char *id)
{
	uint16_t i;

	for (i = *id_bucket(id); i != 0; i = slots[i - 1].next_id)
		if (strcmp(slots[i - 1].token.id, id) == 0)
			return &slots[i - 1];
	return NULL;
}

static void
insert(size_t i, const struct slot *s)
{
	uint16_t *head = bucket(s->hash), *by_id = id_bucket(s->token.id);

	slots[i] = *s;
	slots[i].next = *head;
	slots[i].next_id = *by_id;
	*head = *by_id = (uint16_t)(i + 1);
}

static void
forget(struct slot *s)
{
	uint16_t *p = bucket(s->hash), *q = id_bucket(s->token.id);
	uint16_t self = (uint16_t)(s - slots + 1);

	while (*p != self)
		p = &slots[*p - 1].next;
	*p = s->next;
	while (*q != self)
		q = &slots[*q - 1].next_id;
	*q = s->next_id;
	memset(s, 0, sizeof(*s));
}

static int
hash_of(const char *text, size_t len, uint8_t hash[HASH])
{
	if (len != TOKEN_TEXT || memcmp(text, PREFIX, strlen(PREFIX)) != 0)
		return -1;
	return crypto_generichash(hash, HASH, (const uint8_t *)text, len, NULL,
	    0);
}

const struct token *
tokens_check(const char *text, size_t len)
{
	uint8_t hash[HASH];
	struct slot *s;

	if (hash_of(text, len, hash) == -1)
		return NULL;
	s = find_hash(hash);
	return s == NULL || has_expired(&s->token) ? NULL : &s->token;
}

const struct token *
tokens_find(const char *id)
{
	struct slot *s = find_id(id);

	return s == NULL ? NULL : &s->token;
}

const struct token *
tokens_next(const struct token *t)
{
	size_t i = 0;

	if (t != NULL)
		i = (size_t)((const struct slot *)(const void *)t - slots) + 1;
	for (; i < TOKENS_MAX; i++)
		if (!is_free(&slots[i]))
			return &slots[i].token;
	return NULL;
}

/* -- reading the file ----------------------------------------------------- */

/* Reads one slot: its bytes, 0 at the end, -1 with errno. */
static ssize_t
read_raw(int fd, size_t i, char raw[TOKEN_SLOT])
{
	size_t done = 0;
	ssize_t n;

	while (done < TOKEN_SLOT) {
		n = pread(fd, raw + done, TOKEN_SLOT - done,
		    (off_t)(i * TOKEN_SLOT + done));
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -1;
		if (n == 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

static bool
load(size_t i, const char *raw, size_t len)
{
	char blank[TOKEN_SLOT];
	struct slot s;

	format_free(blank);
	if (len == TOKEN_SLOT && memcmp(raw, blank, TOKEN_SLOT) == 0)
		return true;
	if (len != TOKEN_SLOT || i >= TOKENS_MAX || !parse_slot(raw, &s))
		return false;
	if (find_hash(s.hash) == NULL && find_id(s.token.id) == NULL) {
		insert(i, &s);
		return true;
	}
	/* left there, a copy would come to life when the other is revoked */
	(void)write_raw(i, blank);
	return false;
}

int
tokens_open(int fd)
{
	size_t i, bad = 0, first = 0;
	char raw[TOKEN_SLOT];
	ssize_t n;

	file_fd = fd;
	memset(slots, 0, sizeof(slots));
	memset(buckets, 0, sizeof(buckets));
	memset(id_buckets, 0, sizeof(id_buckets));
	for (i = 0; (n = read_raw(fd, i, raw)) > 0; i++) {
		if (load(i, raw, (size_t)n))
			continue;
		if (bad++ == 0)
			first = i + 1;
		/* one is enough to say that there are more than can be */
		if (i >= TOKENS_MAX)
			break;
	}
	if (n == -1) {
		file_fd = -1;
		return -1;
	}
	if (bad > 0)
		log_warnx("%zu of %zu slots of the tokens' file are damaged, "
		    "the first is number %zu: those tokens are refused; make "
		    "new ones", bad, i + (n > 0), first);
	return 0;
}

bool
tokens_are_open(void)
{
	return file_fd != -1;
}

void
tokens_init(void)
{
	if (sodium_init() == -1)
		fatalx("libsodium cannot be used: the kernel gives no "
		    "randomness");
}

/* -- changes -------------------------------------------------------------- */

bool
token_label_is_good(const char *label)
{
	static const char good[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t len = strlen(label);

	return len <= TOKEN_LABEL_MAX && strspn(label, good) == len;
}

static int
erase(struct slot *s)
{
	char raw[TOKEN_SLOT];
	size_t i = (size_t)(s - slots);

	forget(s);
	format_free(raw);
	return write_raw(i, raw);
}

int
tokens_revoke(const char *id)
{
	struct slot *s = find_id(id);

	if (s == NULL) {
		errno = ENOENT;
		return -1;
	}
	return erase(s);
}

/* Expired tokens are removed when their slot is needed, not before. */
static struct slot *
oldest_expired(const uint32_t *uid)
{
	struct slot *best = NULL;
	size_t i;

	for (i = 0; i < TOKENS_MAX; i++) {
		if (is_free(&slots[i]) || !has_expired(&slots[i].token) ||
		    (uid != NULL && slots[i].token.uid != *uid))
			continue;
		if (best == NULL ||
		    slots[i].token.expires < best->token.expires)
			best = &slots[i];
	}
	return best;
}

static size_t
count_of(uint32_t uid)
{
	size_t i, n = 0;

	for (i = 0; i < TOKENS_MAX; i++)
		n += !is_free(&slots[i]) && slots[i].token.uid == uid;
	return n;
}

/*
 * Finds a slot for another token of that user; NULL: too many, of the user or
 * in all.
 */
static struct slot *
make_room(uint32_t uid)
{
	struct slot *s;
	size_t i;

	if (count_of(uid) >= TOKENS_PER_USER) {
		s = oldest_expired(&uid);
		if (s == NULL)
			return NULL;
		forget(s);
		return s;
	}
	for (i = 0; i < TOKENS_MAX; i++)
		if (is_free(&slots[i]))
			return &slots[i];
	s = oldest_expired(NULL);
	if (s != NULL)
		forget(s);
	return s;
}

static void
new_id(char id[TOKEN_ID + 1])
{
	uint8_t raw[TOKEN_ID / 2];

	do {
		randombytes_buf(raw, sizeof(raw));
		(void)sodium_bin2hex(id, TOKEN_ID + 1, raw, sizeof(raw));
	} while (find_id(id) != NULL);
}

static void
new_secret(char text[TOKEN_TEXT + 1])
{
	uint8_t secret[SECRET];

	randombytes_buf(secret, sizeof(secret));
	memcpy(text, PREFIX, strlen(PREFIX));
	(void)sodium_bin2base64(text + strlen(PREFIX),
	    TOKEN_TEXT + 1 - strlen(PREFIX), secret, sizeof(secret), BASE64);
	sodium_memzero(secret, sizeof(secret));
}

enum err
tokens_create(struct token *t, char text[TOKEN_TEXT + 1])
{
	char raw[TOKEN_SLOT];
	struct slot s, back, *where;
	int saved;

	if (!token_label_is_good(t->label) || !is_time(t->expires))
		return ERR_INVALID_ARGUMENT;
	where = make_room(t->uid);
	if (where == NULL)
		return ERR_MAX_TOKENS;
	new_id(t->id);
	t->created = now_s();
	new_secret(text);
	memset(&s, 0, sizeof(s));
	s.token = *t;
	errno = EINVAL;
	if (hash_of(text, TOKEN_TEXT, s.hash) == -1 ||
	    format_slot(&s, raw) == -1 || !parse_slot(raw, &back) ||
	    write_raw((size_t)(where - slots), raw) == -1)
		goto fail;
	insert((size_t)(where - slots), &s);
	return ERR_OK;
fail:
	/* nobody was told the secret, so what is in the file is nobody's */
	saved = errno;
	sodium_memzero(text, TOKEN_TEXT + 1);
	errno = saved;
	return ERR_INTERNAL;
}
