/* SPDX-License-Identifier: ISC */
/* Empty table of files, for a netproc without the page (make WEB=no). */
#include "netproc/web/assets.h"

const struct asset web_assets[1];
const size_t web_nassets = 0;
