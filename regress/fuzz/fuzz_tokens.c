/* SPDX-License-Identifier: ISC */
/* links: spawner/keys/tokens.c common/base/log.c */
/* covers: spawner/keys/tokens.c */
/*
 * Fuzz target of the tokens' file: the input is its slots, of which a bit says
 * whether its sum is made right, and then what is done with it.  The file
 * written is read again, and no token that was revoked may come back.
 */
#include <sys/mman.h>

#include <sodium.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "regress/fuzz/fuzz.h"

#include "spawner/keys/tokens.h"

#define SUM		16	/* hexadecimal digits */
#define SLOTS		8
#define BODY		(TOKEN_SLOT - SUM - 1)

static int	file_fd = -1;

static void
open_again(void)
{
	must(tokens_open(file_fd) == 0 && tokens_are_open());
}

/* As the file is written, if the input gives the fields alone. */
static void
put_slot(struct input *in, off_t at)
{
	uint8_t sum[crypto_generichash_BYTES_MIN], how = take_u8(in);
	size_t len = take_u8(in);
	char raw[TOKEN_SLOT];

	memset(raw, ' ', sizeof(raw));
	take(in, raw, in->left < len ? in->left : len);
	raw[TOKEN_SLOT - 1] = '\n';
	if (how & 1) {
		(void)crypto_generichash(sum, sizeof(sum),
		    (const uint8_t *)raw, BODY, NULL, 0);
		(void)sodium_bin2hex(raw + BODY, SUM + 1, sum, SUM / 2);
		raw[TOKEN_SLOT - 1] = '\n';
	}
	must(pwrite(file_fd, raw, how & 2 ? len : sizeof(raw), at) > 0 ||
	    len == 0);
}

static size_t
count(void)
{
	const struct token *t = NULL;
	size_t n = 0;

	while ((t = tokens_next(t)) != NULL) {
		must(strlen(t->id) == TOKEN_ID && tokens_find(t->id) == t);
		must(token_label_is_good(t->label) && t->created >= 0);
		n++;
	}
	return n;
}

static void
create(struct input *in)
{
	struct token t = { .uid = 1000 + take_u8(in) % 4U }, was;
	const struct token *found;
	char text[TOKEN_TEXT + 1];
	enum err err;

	t.read_only = take_u8(in) & 1;
	t.expires = take_u8(in) & 1 ? (int64_t)take_u64(in) : 0;
	take(in, t.label, take_u8(in) % TOKEN_LABEL_MAX);
	take(in, t.user, take_u8(in) % sizeof(t.user));
	t.user[sizeof(t.user) - 1] = '\0';
	err = tokens_create(&t, text);
	if (err != ERR_OK) {
		must(err == ERR_INVALID_ARGUMENT || err == ERR_MAX_TOKENS ||
		    err == ERR_INTERNAL);
		return;
	}
	was = t;
	open_again();
	found = tokens_check(text, TOKEN_TEXT);
	must(found == NULL ? was.expires != 0 :
	    strcmp(found->id, was.id) == 0 && found->uid == was.uid &&
	    strcmp(found->user, was.user) == 0 &&
	    strcmp(found->label, was.label) == 0 &&
	    found->read_only == was.read_only);
	text[10] ^= 1;
	must(tokens_check(text, TOKEN_TEXT) == NULL);
	must(tokens_check(text, TOKEN_TEXT - 1) == NULL);
}

static void
end_one(struct input *in)
{
	const struct token *t = NULL;
	char id[TOKEN_ID + 1] = "";
	unsigned int n = take_u8(in);

	while (n-- > 0 && (t = tokens_next(t)) != NULL)
		memcpy(id, t->id, sizeof(id));
	must((tokens_revoke(id) == 0) == (id[0] != '\0'));
	open_again();
	must(tokens_find(id) == NULL);
}

int
LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	quiet();
	tokens_init();
	file_fd = memfd_create("tokens", MFD_CLOEXEC);
	must(file_fd != -1);
	return 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct input in = { data, len };
	size_t slots = take_u8(&in) % SLOTS, i, n;

	must(ftruncate(file_fd, 0) == 0);
	for (i = 0; i < slots; i++)
		put_slot(&in, (off_t)(i * TOKEN_SLOT));
	/* more than there can be, and nothing in them */
	if (slots == SLOTS - 1)
		must(ftruncate(file_fd, (TOKENS_MAX + 2) * TOKEN_SLOT) == 0);
	open_again();
	n = count();
	must(n <= slots);
	open_again();
	must(count() == n);
	for (i = 0; in.left > 0 && i < 80; i++)
		if (take_u8(&in) % 4 == 0)
			end_one(&in);
		else
			create(&in);
	(void)count();
	return 0;
}
