/* SPDX-License-Identifier: ISC */
/* Commands that move bytes: upload, sysroot, input. */
#ifndef CLIENT_CTL_TRANSFER_H
#define CLIENT_CTL_TRANSFER_H

#include <json-c/json.h>

struct client;

int	ctl_input(struct client *, int, char **);
int	ctl_sysroot(struct client *, int, char **);
int	ctl_upload(struct client *, int, char **);

/*
 * Uploads a file as --bundle says and gives it the label of --name. The
 * answer is the caller's to put; an exit code after a report otherwise.
 */
int	upload_file(struct client *, const char *path,
	    struct json_object **jsonp);

#endif
