/* SPDX-License-Identifier: ISC */
/*
 * lantern.bin.v1 as a client speaks it. Each message received is checked
 * against the form of its type before it is used.
 */
#include <string.h>

#include "terminal_proto.h"

static uint64_t
get(const unsigned char *p, size_t bytes)
{
	uint64_t n = 0;

	while (bytes-- > 0)
		n = n << 8 | *p++;
	return n;
}

static unsigned char *
put(unsigned char *p, uint64_t n, size_t bytes)
{
	size_t i;

	for (i = bytes; i-- > 0; n >>= 8)
		p[i] = (unsigned char)n;
	return p + bytes;
}

size_t
terminal_msg_length(const unsigned char *p)
{
	return (size_t)get(p, TERMINAL_HEAD);
}

static int
decode_output(struct terminal_msg *m, const unsigned char *p, size_t len)
{
	m->offset = get(p, 8);
	m->data = p + 8;
	m->len = len - 8;
	return 0;
}

static int
decode_history(struct terminal_msg *m, const unsigned char *p, size_t len)
{
	m->offset = get(p, 8);
	m->preamble = (size_t)get(p + 8, 2);
	m->data = p + 10;
	m->len = len - 10;
	return m->preamble <= m->len ? 0 : -1;
}

static int
decode_exit(struct terminal_msg *m, const unsigned char *p, size_t len)
{
	(void)len;
	m->code = (int32_t)(uint32_t)get(p, 4);
	m->signal = (uint32_t)get(p + 4, 4);
	return 0;
}

static int
decode_error(struct terminal_msg *m, const unsigned char *p, size_t len)
{
	const unsigned char *nul = memchr(p, '\0', len);

	if (nul == NULL)
		return -1;
	m->error = (const char *)p;
	m->text = nul + 1;
	m->text_len = len - (size_t)(m->text - p);
	return 0;
}

static int
decode_size(struct terminal_msg *m, const unsigned char *p, size_t len)
{
	(void)len;
	m->cols = (unsigned int)get(p, 2);
	m->rows = (unsigned int)get(p + 2, 2);
	return m->cols > 0 && m->rows > 0 ? 0 : -1;
}

static int
decode_lost(struct terminal_msg *m, const unsigned char *p, size_t len)
{
	(void)len;
	m->offset = get(p, 8);
	m->to = get(p + 8, 8);
	return m->to >= m->offset ? 0 : -1;
}

static int
decode_people(struct terminal_msg *m, const unsigned char *p, size_t len)
{
	m->data = p;
	m->len = len;
	return 0;
}

static int
decode_live(struct terminal_msg *m, const unsigned char *p, size_t len)
{
	(void)len;
	m->offset = get(p, 8);
	return 0;
}

int
terminal_msg_decode(struct terminal_msg *m, const unsigned char *p, size_t len)
{
	static const struct {
		size_t	least;		/* bytes behind the type */
		int	exact;
		int	(*decode)(struct terminal_msg *, const unsigned char *,
			    size_t);
	} forms[] = {
		[TERMINAL_OUTPUT & 0x7f] = { 8, 0, decode_output },
		[TERMINAL_HISTORY & 0x7f] = { 10, 0, decode_history },
		[TERMINAL_EXIT & 0x7f] = { 8, 1, decode_exit },
		[TERMINAL_ERROR & 0x7f] = { 1, 0, decode_error },
		[TERMINAL_SIZE & 0x7f] = { 4, 1, decode_size },
		[TERMINAL_LOST & 0x7f] = { 16, 1, decode_lost },
		[TERMINAL_VIEWERS & 0x7f] = { 2, 0, decode_people },
		[TERMINAL_LIVE & 0x7f] = { 8, 1, decode_live },
	};
	size_t i;

	memset(m, 0, sizeof(*m));
	if (len < 1 || len > TERMINAL_MAX || *p < TERMINAL_OUTPUT)
		return -1;
	m->type = *p++;
	len--;
	if ((i = m->type & 0x7f) >= sizeof(forms) / sizeof(forms[0]))
		return 1;
	if (len < forms[i].least || (forms[i].exact && len != forms[i].least))
		return -1;
	return forms[i].decode(m, p, len);
}

static unsigned char *
begin(unsigned char *p, enum terminal_msg_type type, size_t len)
{
	p = put(p, len + 1, TERMINAL_HEAD);
	return put(p, type, 1);
}

size_t
terminal_put_input(unsigned char *p, const void *data, size_t len)
{
	memcpy(begin(p, TERMINAL_C_INPUT, len), data, len);
	return TERMINAL_HEAD + 1 + len;
}

size_t
terminal_put_resize(unsigned char *p, unsigned int cols, unsigned int rows)
{
	p = begin(p, TERMINAL_C_RESIZE, 4);
	put(put(p, cols, 2), rows, 2);
	return TERMINAL_HEAD + 5;
}

size_t
terminal_put_ack(unsigned char *p, uint64_t offset)
{
	put(begin(p, TERMINAL_C_ACK, 8), offset, 8);
	return TERMINAL_HEAD + 9;
}
