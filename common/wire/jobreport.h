/* SPDX-License-Identifier: ISC */
/*
 * Records that a one-job process (archiver) sends to the spawner over a pipe.
 * They have one fixed size; each is written by one write() and, being shorter
 * than PIPE_BUF, read whole by one read().
 */
#ifndef DL_JOBREPORT_H
#define DL_JOBREPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/errors.h"

#define JOBREPORT_TEXT	160

enum jobreport_kind {
	JOBREPORT_PROGRESS = 1,	/* at most one a second */
	JOBREPORT_DONE,		/* the last record of a job that worked */
	JOBREPORT_FAILED	/* the last record of one that did not */
};

/* A job that ends without DONE or FAILED has failed, whatever it exits with. */
struct jobreport {
	uint32_t kind;		/* enum jobreport_kind */
	uint32_t code;		/* enum err; ERR_OK unless FAILED */
	uint64_t bytes;		/* unpacked so far; of the packed file */
	uint64_t members;	/* files, directories and links so far */
	uint64_t skipped;	/* pack: entries that could not be packed */
	char text[JOBREPORT_TEXT];	/* FAILED: the message of the error */
};

_Static_assert(sizeof(struct jobreport) == 192, "no padding, < PIPE_BUF");

/* The writer may have been taken over: look before using what it sent. */
static inline bool
jobreport_valid(const struct jobreport *r)
{
	size_t i, len = strnlen(r->text, sizeof(r->text));

	if (r->kind < JOBREPORT_PROGRESS || r->kind > JOBREPORT_FAILED ||
	    r->code >= ERR_COUNT || len == sizeof(r->text) ||
	    (r->kind == JOBREPORT_FAILED) != (r->code != ERR_OK))
		return false;
	for (i = 0; i < len; i++) {
		if (r->text[i] < 0x20 || r->text[i] > 0x7e)
			return false;
	}
	for (; i < sizeof(r->text); i++) {
		if (r->text[i] != '\0')
			return false;
	}
	return true;
}

#endif
