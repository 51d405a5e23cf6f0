/* SPDX-License-Identifier: ISC */
/* The daemon as setup knows it, filled by its files one after another. */
#include "setup.h"

struct daemon		 d;
