/* SPDX-License-Identifier: ISC */
/* Commands that only the web has. */
#ifndef DL_NET_WEBCMD_H
#define DL_NET_WEBCMD_H

#include "base/json.h"
#include "netproc/cmd/command.h"

struct web_req;

extern const struct command	web_commands[];
extern const size_t		nweb_commands;

/* CSRF token, made of the client's cookie: only a page of ours can know it. */
#define CSRF_TEXT	33
void	 csrf_text(const char *cookie, char out[CSRF_TEXT]);

/* Takes what the login's body says; NULL, or what is wrong with it. */
const char *login_take(struct web_req *);
void	 login_run(struct conn *, struct rsession *, const struct words *);

#endif
