/* SPDX-License-Identifier: ISC */
/* Variables that the files of the parent share. */
#include "parent.h"

struct daemon		 d;
const struct parent_hooks *parent_hooks;
