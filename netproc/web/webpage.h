/* SPDX-License-Identifier: ISC */
/* Answers of the web that no command gives. */
#ifndef DL_NET_WEBPAGE_H
#define DL_NET_WEBPAGE_H

#include <microhttpd.h>

struct web_req;

/* Each queues its answer, and returns what the library wants to hear. */
enum MHD_Result page_healthz(struct web_req *);
enum MHD_Result page_openapi(struct web_req *);
/* Answers a path that is no route: a file of the page, or not found. */
enum MHD_Result page_asset(struct web_req *, const char *method, const char *path);

#endif
