/* SPDX-License-Identifier: ISC */
/* HELLO, and what TCP connections may do before it. */
#include <string.h>
#include <sys/random.h>

#include "auth.h"
#include "command.h"
#include "hello.h"
#include "netproc/conn/answer.h"
#include "netproc/conn/conn.h"
#include "params.h"

/* So few digits of an id cannot be guessed in the tries that there are. */
#define DIGITS_MIN	6
#define NOT_FOUND_MAX	3
/* In hexadecimal. */
#define NONCE_TEXT	(HELLO_NONCE * 2)

static bool
is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	    (c >= 'A' && c <= 'F');
}

/* A label never looks like this: label_is_good(). */
static bool
is_long_id(const struct word *w)
{
	size_t i, digits = 0;

	for (i = 0; i < w->len; i++) {
		if (is_hex(w->p[i]))
			digits++;
		else if (w->p[i] != '-')
			return false;
	}
	return digits >= DIGITS_MIN;
}

static bool
has_extension(const struct command *cmd, const struct words *ws)
{
	size_t i;

	if (cmd->extension)
		return true;
	for (i = cmd->session ? 2 : 1; i < ws->n && i < WORDS_MAX; i++)
		if (param_is_extension(cmd->params, &ws->w[i]))
			return true;
	return false;
}

bool
hello_refuses(struct conn *c, const struct command *cmd,
    const struct words *ws)
{
	const char *what = NULL;

	if (!c->hello.wanted || cmd->run == cmd_hello || cmd->run == cmd_auth)
		return false;
	if (has_extension(cmd, ws))
		what = "this command or option is answered";
	else if (cmd->session && ws->n > 1 && !is_long_id(&ws->w[1]))
		what = "labels and ids of fewer than 6 digits are understood";
	if (what == NULL)
		return false;
	answer_errorf(c, ERR_HELLO_REQUIRED, "%s only after HELLO on a TCP "
	    "connection: send HELLO, read the nonce, send HELLO and the "
	    "nonce; or use the local socket, or AUTH", what);
	conn_finish(c);
	return true;
}

void
hello_found(struct conn *c)
{
	c->hello.not_found = 0;
}

/* The line does not follow the grammar, whatever sessions there are. */
static bool
is_bad_line(uint32_t err)
{
	static const uint32_t bad[] = { ERR_UNKNOWN_COMMAND, ERR_INVALID_SIZE,
	    ERR_INVALID_EXEC_PATH, ERR_INVALID_ENV, ERR_INVALID_ARGS,
	    ERR_INVALID_ARGUMENT, ERR_INVALID_JSON, ERR_INVALID_NAME };
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (err == bad[i])
			return true;
	return false;
}

void
hello_before(struct conn *c)
{
	c->hello.err = ERR_OK;
}

void
hello_after(struct conn *c)
{
	struct hello *h = &c->hello;

	if (!h->wanted)
		return;
	if (is_bad_line(h->err)) {
		/* the next lines were meant for another protocol */
		if (!h->good)
			conn_finish(c);
		return;
	}
	h->good = true;
	if (h->err == ERR_NOT_FOUND && ++h->not_found >= NOT_FOUND_MAX)
		conn_finish(c);
}

static void
nonce_text(const struct conn *c, char text[NONCE_TEXT + 1])
{
	static const char hex[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < HELLO_NONCE; i++) {
		text[2 * i] = hex[c->hello.nonce[i] >> 4];
		text[2 * i + 1] = hex[c->hello.nonce[i] & 15];
	}
	text[NONCE_TEXT] = '\0';
}

static void
tell_nonce(struct conn *c)
{
	struct text *t;
	char text[NONCE_TEXT + 1];

	if (getrandom(c->hello.nonce, HELLO_NONCE, 0) != HELLO_NONCE) {
		answer_error(c, ERR_INTERNAL, NULL);
		return;
	}
	c->hello.asked = true;
	nonce_text(c, text);
	t = answer_begin();
	json_open(t, '{');
	json_key(t, "nonce");
	json_text(t, text);
	json_close(t, '}');
	answer_end(c);
}

void
cmd_hello(struct conn *c, struct rsession *s, const struct words *ws)
{
	char text[NONCE_TEXT + 1];
	struct text *t;

	(void)s;
	if (ws->n == 1) {
		tell_nonce(c);
		return;
	}
	nonce_text(c, text);
	if (!c->hello.asked || !word_is(&ws->w[1], text)) {
		answer_error(c, ERR_INVALID_ARGUMENT, "that is not the nonce "
		    "of this connection; send HELLO alone, and then HELLO and "
		    "the nonce of its answer");
		/* no second try at a guess */
		conn_finish(c);
		return;
	}
	c->hello.wanted = c->hello.asked = false;
	t = answer_begin();
	json_open(t, '{');
	json_key(t, "ok");
	json_raw(t, "true");
	json_close(t, '}');
	answer_end(c);
}
