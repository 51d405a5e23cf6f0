/* SPDX-License-Identifier: ISC */
/* The files of the web page, which are part of this program. */
#ifndef DL_NET_ASSETS_H
#define DL_NET_ASSETS_H

#include <stddef.h>
#include <stdint.h>

struct asset {
	const char	*path;		/* "/app.js" */
	const char	*type;		/* for Content-Type */
	const char	*etag;		/* in its quotes; of the plain bytes */
	const uint8_t	*gz;		/* Content-Encoding: gzip, always */
	size_t		 len;		/* bytes of gz */
};

/* Made by the build, sorted by path; none in a build without the page. */
extern const struct asset web_assets[];
extern const size_t web_nassets;

/*
 * The file that answers a GET of that path (without query), or NULL.  The views
 * of the page have addresses of their own, all of which are answered with the
 * page.
 */
const struct asset *asset_find(const char *path);

#endif
