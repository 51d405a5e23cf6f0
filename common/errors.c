/* SPDX-License-Identifier: ISC */
/* Names and default texts of the protocol's errors. */
#include "errors.h"

static const struct {
	const char	*code;
	const char	*text;
} errors[] = {
#define ERR(sym, code, text)	{ code, text },
#include "errors.def"
#undef ERR
};

const char *
err_code(unsigned int n)
{
	return errors[n < ERR_COUNT ? n : ERR_INTERNAL].code;
}

const char *
err_text(unsigned int n)
{
	return errors[n < ERR_COUNT ? n : ERR_INTERNAL].text;
}
