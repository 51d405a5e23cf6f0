/* SPDX-License-Identifier: ISC */
/* flags: -Icommon common/wire/msg.c common/wire/roles.c */
/* The message table as JSON, so that tests make their cases from it. */
#include <stdio.h>

#include "base/errors.h"
#include "wire/msg.h"

static const char *const fd_words[] = {
	[FD_NONE] = "none", [FD_SOCKET] = "socket", [FD_MEMFD] = "memfd",
	[FD_PIPE] = "pipe", [FD_PIDFD] = "pidfd", [FD_FILE] = "file",
	[FD_IMAGE] = "image", [FD_WASTE] = "waste", [FD_STREAM] = "stream",
};

static const char *const err_codes[] = {
#define ERR(symbol, ...)	#symbol,
#include "base/errors.def"
#undef ERR
};

static const char *
side(enum role role)
{
	return role == ROLE_CHILD ? "child" : role == ROLE_INST ? "inst" :
	    role_name(role);
}

int
main(void)
{
	const struct msg_row *r;
	unsigned int i;

	printf("{\"payload_max\": %d, \"roles\": [", MSG_PAYLOAD_MAX);
	for (i = 0; i < ROLE_COUNT; i++)
		printf("%s\"%s\"", i > 0 ? ", " : "", role_name(i));
	printf("],\n\"errors\": [");
	for (i = 0; i < sizeof(err_codes) / sizeof(err_codes[0]); i++)
		printf("%s\"%s\"", i > 0 ? ", " : "", err_codes[i]);
	printf("],\n\"rows\": [\n");
	for (i = MSG_NONE + 1; i < MSG_COUNT; i++) {
		r = &msg_rows[i];
		printf("{\"type\": %u, \"name\": \"%s\", \"from\": \"%s\", "
		    "\"to\": \"%s\", \"min\": %u, \"max\": %u, \"fd\": \"%s\","
		    " \"states\": %u, \"refusal\": %u}%s\n", i, r->name,
		    side(r->from), side(r->to),
		    r->min, r->max, fd_words[r->fd], r->states, r->refusal,
		    i + 1 < MSG_COUNT ? "," : "");
	}
	printf("]}\n");
	return 0;
}
