/* SPDX-License-Identifier: ISC */
/* Before the program runs: all of the registry goes to the adapter. */
#include <stdlib.h>
#include <string.h>

#include "bps.h"
#include "bpsend.h"
#include "catch.h"
#include "condition.h"
#include "configure.h"
#include "debugger/base/op.h"
#include "debugger/text/copy.h"
#include "debugger/view/diff.h"
#include "debugger/view/misread.h"
#include "debugger/view/params.h"
#include "watch.h"

static done_fn		configured;
static unsigned int	pending;
static char		*why_not;

bool
bps_any(void)
{
	size_t i;

	for (i = 0; i < bps_count(); i++)
		if (bp_wanted(bps_at(i)))
			return true;
	return catch_any();
}

static void
configured_less(struct op *op, const char *why, void *arg)
{
	done_fn fn = configured;

	(void)arg;
	if (why != NULL && why_not == NULL)
		why_not = copy_text(why);
	if (--pending > 0)
		return;
	configured = NULL;
	fn(op, why_not);
	free(why_not);
	why_not = NULL;
}

void
bps_forget(void)
{
	bpsend_forget();
	condition_forget();
}

void
bps_configure(struct op *op, done_fn done)
{
	size_t i;

	bps_untold();
	watch_forget();
	diff_forget();
	params_forget();
	misread_forget();
	condition_log_clear();
	bps_resumed();
	for (i = 0; i < bps_count(); i++)
		bps_at(i)->dirty = true;
	configured = done;
	pending = 2;
	catch_configure(op, configured_less, NULL);
	bpsend_dirty(op, configured_less, NULL);
}
