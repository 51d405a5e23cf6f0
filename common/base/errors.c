/* SPDX-License-Identifier: ISC */
/* Names, default texts and HTTP statuses of the protocol's errors. */
#include "errors.h"

static const struct {
	const char	*code;
	const char	*text;
	unsigned int	 status;
} errors[] = {
#define ERR(sym, code, status, text)	{ code, text, status },
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

unsigned int
err_status(unsigned int n)
{
	return errors[n < ERR_COUNT ? n : ERR_INTERNAL].status;
}
