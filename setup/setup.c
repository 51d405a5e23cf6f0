/* SPDX-License-Identifier: ISC */
/* Variables that the files of setup share. */
#include "setup.h"

struct daemon		 d;
