/* SPDX-License-Identifier: ISC */
/* Answers to HTTP requests, whole or in pieces. */
#ifndef DL_NET_WEBANSWER_H
#define DL_NET_WEBANSWER_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct web_req;

#define JSON_TYPE	"application/json"

/* Its answer is events, and it has begun. */
bool	 web_req_is_stream(const struct web_req *);

/*
 * Answers; each returns what the library wants to hear.  queue takes the
 * response; cache is a Cache-Control.
 */
enum MHD_Result web_req_queue(struct web_req *, unsigned int status,
    const char *type, const char *cache, struct MHD_Response *);
/* Without the headers of documents. */
enum MHD_Result web_req_queue_plain(struct web_req *, unsigned int status,
    struct MHD_Response *);
enum MHD_Result web_req_refuse(struct web_req *, unsigned int status,
    uint32_t err, const char *message);
enum MHD_Result web_req_refuse_method(struct web_req *, const char *allowed);
/* These bytes must live for ever. */
enum MHD_Result web_req_static(struct web_req *, unsigned int status,
    const char *type, const void *, size_t);
/* Replaces what the command has said by an error; sends nothing yet. */
void	 web_req_fail(struct web_req *, uint32_t err, const char *message);
/* Answers in the midst of a body; the connection is to be closed then. */
void	 web_req_last_word(struct web_req *);
/* Answers with what the command has said, as much as there is. */
enum MHD_Result web_req_respond(struct web_req *);
/* It has been sent: no copy of a cookie stays. */
void	 web_req_wipe_response(struct web_req *);

#endif
