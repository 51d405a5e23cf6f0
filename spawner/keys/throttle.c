/* SPDX-License-Identifier: ISC */
/* Wrong tries of tokens, counted by address. */
#include <arpa/inet.h>

#include <sodium.h>
#include <stdint.h>
#include <string.h>

#include "base/loop.h"
#include "throttle.h"
#include "wire/proto.h"

struct key {
	uint8_t		 b[17];		/* the kind, then the address */
};

struct entry {
	struct key	 key;
	unsigned int	 wrong;		/* 0 = free */
	uint64_t	 last_ms;	/* of the wrong tries */
};

/* Used entries come first. */
static struct entry	 entries[THROTTLE_MAX];
static size_t		 nentries;

/* The address alone: no port, no brackets, no interface. */
static void
strip(const char *address, char *out, size_t size)
{
	size_t len;

	if (address[0] == '[') {
		address++;
		len = strcspn(address, "]%");
	} else {
		len = strcspn(address, ":%");
		/* more than one colon: IPv6 without brackets */
		if (address[len] == ':' &&
		    strchr(address + len + 1, ':') != NULL)
			len = strcspn(address, "%");
	}
	if (len >= size)
		len = size - 1;
	memcpy(out, address, len);
	out[len] = '\0';
}

static struct key
key_of(const char *address)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	char text[ADDRESS_TEXT];
	struct key k = { { 0 } };
	uint8_t a[16];

	strip(address, text, sizeof(text));
	if (inet_pton(AF_INET, text, k.b + 1) == 1)
		k.b[0] = 4;
	else if (inet_pton(AF_INET6, text, a) == 1) {
		/* a host with an address in a /64 has all 2^64 of them */
		k.b[0] = memcmp(a, mapped, sizeof(mapped)) == 0 ? 4 : 6;
		memcpy(k.b + 1, k.b[0] == 4 ? a + 12 : a,
		    k.b[0] == 4 ? 4 : 8);
	} else
		(void)crypto_generichash(k.b + 1, sizeof(k.b) - 1,
		    (const uint8_t *)address, strlen(address), NULL, 0);
	return k;
}

static bool
is_forgotten(const struct entry *e, uint64_t now)
{
	return now - e->last_ms >= THROTTLE_FORGET_MS;
}

static struct entry *
find(const struct key *k, uint64_t now)
{
	size_t i;

	for (i = 0; i < nentries; i++) {
		if (memcmp(&entries[i].key, k, sizeof(*k)) != 0)
			continue;
		if (is_forgotten(&entries[i], now))
			entries[i].wrong = 0;
		return &entries[i];
	}
	return NULL;
}

/* Entries with fewer wrong tries, or else older ones, give way first. */
static bool
gives_way(const struct entry *a, const struct entry *b)
{
	return a->wrong != b->wrong ? a->wrong < b->wrong :
	    a->last_ms < b->last_ms;
}

/*
 * Finds an entry for another client.  An entry that has to wait is never given
 * to another client, so many addresses do not free it.  If all entries have to
 * wait, there is none: a new client is not slowed then, as it could get the
 * same number of tries from one more address anyway.
 */
static struct entry *
make_room(uint64_t now)
{
	struct entry *best = &entries[0];
	size_t i;

	if (nentries < THROTTLE_MAX)
		return &entries[nentries++];
	for (i = 0; i < THROTTLE_MAX; i++) {
		if (is_forgotten(&entries[i], now))
			return &entries[i];
		if (gives_way(&entries[i], best))
			best = &entries[i];
	}
	return best->wrong < THROTTLE_FREE ? best : NULL;
}

static uint64_t
wait_of(const struct entry *e)
{
	uint64_t ms = THROTTLE_FIRST_MS;
	unsigned int i;

	if (e->wrong < THROTTLE_FREE)
		return 0;
	for (i = THROTTLE_FREE; i < e->wrong && ms < THROTTLE_MOST_MS; i++)
		ms *= 2;
	return ms < THROTTLE_MOST_MS ? ms : THROTTLE_MOST_MS;
}

bool
throttle_may(const char *address, unsigned int *wait_s)
{
	struct key k = key_of(address);
	uint64_t now = loop_now_ms(), due;
	struct entry *e = find(&k, now);

	*wait_s = 0;
	if (e == NULL)
		return true;
	due = e->last_ms + wait_of(e);
	if (e->wrong == 0 || now >= due)
		return true;
	*wait_s = (unsigned int)((due - now + 999) / 1000);
	return false;
}

void
throttle_wrong(const char *address)
{
	struct key k = key_of(address);
	uint64_t now = loop_now_ms();
	struct entry *e = find(&k, now);

	if (e == NULL) {
		e = make_room(now);
		if (e == NULL)
			return;
		e->key = k;
		e->wrong = 0;
	}
	if (e->wrong < UINT32_MAX)
		e->wrong++;
	e->last_ms = now;
}
