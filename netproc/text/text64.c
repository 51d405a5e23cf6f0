/* SPDX-License-Identifier: ISC */
/* Base64 written into text. */
#include "base/base64.h"
#include "base/text.h"
#include "text64.h"

void
text_base64(struct text *t, const void *buf, size_t len)
{
	char *out = text_room(t, BASE64_LEN(len));

	if (out == NULL)
		return;
	base64_put(out, buf, len);
	t->len += BASE64_LEN(len);
}
