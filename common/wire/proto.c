/* SPDX-License-Identifier: ISC */
/* Words for the steps of a start. */
#include "proto.h"

const char *
step_text(uint32_t step)
{
	static const char *const texts[] = {
		[STEP_NONE] = "start",
#define X(id, text)	[STEP_##id] = text,
		STEP_TABLE(X)
#undef X
	};

	return step < STEP_COUNT ? texts[step] : "take an unknown step";
}
