/* SPDX-License-Identifier: ISC */
/* Message rows, field encoding and decoding. */
#include <string.h>

#include "base/errors.h"
#include "msg.h"
#include "msg_out.h"

const struct msg_row msg_rows[MSG_COUNT] = {
#define MSG(name_, from_, to_, min_, max_, fd_, states_, refusal_, handler_) \
	[MSG_##name_] = {						\
		.name = #name_,						\
		.from = ROLE_##from_,					\
		.to = ROLE_##to_,					\
		.min = (min_),						\
		.max = (max_),						\
		.fd = FD_##fd_,						\
		.states = MSG_STATES(states_),				\
		.refusal = ERR_##refusal_,				\
		.handler = #handler_,					\
	},
/* the table's words are plain here and prefixed everywhere else */
#define ANY		STATE_ANY
#define UPLOADING	STATE_UPLOADING
#define LOADED		STATE_LOADED
#define STOPPED		STATE_STOPPED
#define ALIVE		STATE_ALIVE
#define SETTLED		STATE_SETTLED
#define MSG_STATES(s)	(unsigned int)(s)
#include "msgs.def"
#undef MSG
};

static struct msg_out out;

const char *
msg_name(uint32_t type)
{
	if (type == MSG_NONE || type >= MSG_COUNT)
		return "unknown";
	return msg_rows[type].name;
}

bool
msg_is_secret(uint32_t type)
{
	return type == MSG_AUTH || type == MSG_TOKEN || type == MSG_KEY;
}

struct msg_out *
msg_new(enum msg_type type, const struct sid *session, uint32_t conn,
    uint64_t request)
{
	memset(&out.hdr, 0, sizeof(out.hdr));
	out.hdr.type = type;
	out.hdr.conn = conn;
	out.hdr.request = request;
	if (session != NULL)
		out.hdr.session = *session;
	out.bad = false;
	return &out;
}

void
msg_put_bytes(struct msg_out *o, const void *p, size_t len)
{
	if (o->bad || len > sizeof(o->payload) - o->hdr.length) {
		o->bad = true;
		return;
	}
	if (len > 0)
		memcpy(o->payload + o->hdr.length, p, len);
	o->hdr.length += (uint32_t)len;
}

void
msg_put_u32(struct msg_out *o, uint32_t v)
{
	msg_put_bytes(o, &v, sizeof(v));
}

void
msg_put_u64(struct msg_out *o, uint64_t v)
{
	msg_put_bytes(o, &v, sizeof(v));
}

void
msg_put_blob(struct msg_out *o, const void *p, size_t len)
{
	if (len > MSG_PAYLOAD_MAX) {
		o->bad = true;
		return;
	}
	msg_put_u32(o, (uint32_t)len);
	msg_put_bytes(o, p, len);
}

void
msg_put_str(struct msg_out *o, const char *s)
{
	msg_put_blob(o, s, s == NULL ? 0 : strlen(s));
}

size_t
msg_out_len(const struct msg_out *o)
{
	return o->hdr.length;
}

static const uint8_t *
take(struct msg *m, size_t len)
{
	const uint8_t *p = m->next;

	if (m->bad || len > m->left) {
		m->bad = true;
		return NULL;
	}
	m->next += len;
	m->left -= len;
	return p;
}

uint32_t
msg_get_u32(struct msg *m)
{
	const uint8_t *p = take(m, sizeof(uint32_t));
	uint32_t v = 0;

	if (p != NULL)
		memcpy(&v, p, sizeof(v));
	return v;
}

uint64_t
msg_get_u64(struct msg *m)
{
	const uint8_t *p = take(m, sizeof(uint64_t));
	uint64_t v = 0;

	if (p != NULL)
		memcpy(&v, p, sizeof(v));
	return v;
}

const void *
msg_get_blob(struct msg *m, size_t *len)
{
	size_t n = msg_get_u32(m);
	const uint8_t *p = take(m, n);

	*len = p == NULL ? 0 : n;
	return p == NULL ? (const uint8_t *)"" : p;
}

const char *
msg_get_strings(struct msg *m, size_t *len)
{
	const char *p = msg_get_blob(m, len);

	if (*len > 0 && p[*len - 1] != '\0')
		m->bad = true;
	return p;
}

void
msg_get_str(struct msg *m, char *buf, size_t size)
{
	size_t len;
	const void *p = msg_get_blob(m, &len);

	if (len >= size || memchr(p, '\0', len) != NULL) {
		m->bad = true;
		len = 0;
	}
	if (len > 0)
		memcpy(buf, p, len);
	buf[len] = '\0';
}

const void *
msg_get_rest(struct msg *m, size_t *len)
{
	*len = m->bad ? 0 : m->left;
	return m->bad ? (const uint8_t *)"" : take(m, *len);
}

int
msg_end(struct msg *m)
{
	return m->bad || m->left != 0 ? -1 : 0;
}

int
msg_take_fd(struct msg *m)
{
	int fd = m->fd;

	m->fd = -1;
	return fd;
}

void
msg_out_wipe(struct msg_out *o)
{
	explicit_bzero(o->payload, o->hdr.length);
}

void
msg_wipe(struct msg *m, const void *blob, size_t len)
{
	(void)m;
	/* it lies in the channel's buffer, which is writable */
	explicit_bzero((void *)(uintptr_t)blob, len);
}
