/* SPDX-License-Identifier: ISC */
/* Questions to acctproc, one at a time. */
#include <errno.h>
#include <poll.h>

#include "acctask.h"
#include "base/log.h"
#include "wire/msg.h"
#include "wire/role.h"

/* acctproc reads one file: who needs longer stands still. */
#define ANSWER_MS	2000

int	id_on_acct_is(struct msg *);

static struct channel	acct_chan;
static uint64_t		asked;		/* which question, 0 = none */
static enum acct_state	answer;

static void
gone(struct channel *c, const char *why)
{
	role_peer_gone(c, why);
}

void
acctask_init(void)
{
	chan_init(&acct_chan, ROLE_IDPROC, ROLE_ACCTPROC, gone, NULL);
}

void
acctask_peer(int fd, uint32_t generation)
{
	chan_close(&acct_chan);
	if (chan_open(&acct_chan, fd, generation) == -1)
		role_peer_gone(&acct_chan, NULL);
}

int
id_on_acct_is(struct msg *m)
{
	uint32_t state = msg_get_u32(m);

	if (msg_end(m) == -1 || state >= ACCT_COUNT || asked == 0 ||
	    m->hdr.request != asked)
		return -1;
	asked = 0;
	answer = state;
	return 0;
}

/* A late answer would be another question's: the link is made anew. */
static void
give_up(void)
{
	log_warnx("acctproc does not answer whether an account is locked");
	chan_close(&acct_chan);
	role_peer_gone(&acct_chan, NULL);
}

enum acct_state
acct_ask(const char *name)
{
	static uint64_t serial;
	struct pollfd p = { .events = POLLIN };
	struct msg_out *o;
	int n;

	if (settings.has_shadow == 0)
		return ACCT_GOOD;
	asked = ++serial;
	answer = ACCT_UNREAD;
	o = msg_new(MSG_ACCT_ASK, NULL, 0, asked);
	msg_put_str(o, name);
	if (chan_send(&acct_chan, o, -1) == -1)
		asked = 0;
	while (asked != 0 && chan_is_open(&acct_chan)) {
		p.fd = acct_chan.fd;
		n = poll(&p, 1, ANSWER_MS);
		if (n > 0)
			chan_drain(&acct_chan, 1);
		else if (n == 0 || errno != EINTR)
			give_up();
	}
	asked = 0;
	return answer;
}
