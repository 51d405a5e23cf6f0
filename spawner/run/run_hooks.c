/* SPDX-License-Identifier: ISC */
#include "run_hooks.h"

const struct run_hooks *run_hooks;
