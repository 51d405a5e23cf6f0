/* SPDX-License-Identifier: ISC */
/* The files of the web page, which are part of this program. */
#include <stdlib.h>
#include <string.h>

#include "assets.h"

/* Addresses of views; those that end with a slash are followed by an id. */
static const char *const views[] = {
	"/", "/host", "/login", "/session/", "/terminal/",
};

static int
by_path(const void *key, const void *row)
{
	const struct asset *a = row;

	return strcmp(key, a->path);
}

static const struct asset *
look(const char *path)
{
	if (web_nassets == 0)
		return NULL;
	return bsearch(path, web_assets, web_nassets, sizeof(web_assets[0]),
	    by_path);
}

static int
is_view(const char *path)
{
	size_t i, n;

	for (i = 0; i < sizeof(views) / sizeof(views[0]); i++) {
		n = strlen(views[i]);
		if (strcmp(path, views[i]) == 0)
			return n == 1 || path[n - 1] != '/';
		if (n > 1 && views[i][n - 1] == '/' &&
		    strncmp(path, views[i], n) == 0)
			return strchr(path + n, '/') == NULL;
	}
	return 0;
}

const struct asset *
asset_find(const char *path)
{
	return look(is_view(path) ? "/index.html" : path);
}
