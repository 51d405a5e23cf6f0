/* SPDX-License-Identifier: ISC */
/* The messages of attached terminals; see the header. */
#include <json-c/json.h>
#include <string.h>

#include "base/base64.h"
#include "base/log.h"
#include "netproc/text/jsonlex.h"
#include "netproc/text/text64.h"
#include "termmsg.h"

#define JSON_MAX	(64 * 1024)
#define DEPTH_MAX	4
#define SIZE_LIMIT	65535

static struct json_tokener *tokener;
static struct json_object *parsed;	/* what the last message points into */

/* -- integers in network order -------------------------------------------- */

static size_t
put(uint8_t *p, uint64_t v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * (n - 1 - i));
	return n;
}

static uint64_t
get(const uint8_t *p, size_t n)
{
	uint64_t v = 0;

	while (n-- > 0)
		v = v << 8 | *p++;
	return v;
}

/* -- lantern.bin.v1 ------------------------------------------------------- */

static const char *
check_size(const struct term_msg *m)
{
	return m->cols == 0 || m->rows == 0 || m->cols > SIZE_LIMIT ||
	    m->rows > SIZE_LIMIT ? "a size is 1 to 65535 columns and rows" :
	    NULL;
}

const char *
termmsg_parse(const void *buf, size_t len, struct term_msg *m)
{
	const uint8_t *p = buf;

	memset(m, 0, sizeof(*m));
	if (len == 0)
		return "a message has at least its type";
	m->type = *p++;
	len--;
	switch (m->type) {
	case TERM_INPUT:
	case TERM_TOKEN:
		m->p = (const char *)p;
		m->len = len;
		return NULL;
	case TERM_RESIZE:
		if (len != 4)
			return "a resize has four bytes after its type";
		m->cols = (uint32_t)get(p, 2);
		m->rows = (uint32_t)get(p + 2, 2);
		return check_size(m);
	case TERM_ACK:
		if (len != 8)
			return "an ack has eight bytes after its type";
		m->offset = get(p, 8);
		return NULL;
	}
	return "there is no such type of message";
}

size_t
termmsg_bytes(uint8_t *head, uint8_t type, uint64_t offset)
{
	head[0] = type;
	return 1 + put(head + 1, offset, 8);
}

size_t
termmsg_history(uint8_t *head, uint64_t offset, size_t n)
{
	size_t len = termmsg_bytes(head, TERM_HISTORY, offset);

	return len + put(head + len, n, 2);
}

size_t
termmsg_exit(uint8_t *head, int32_t code, uint32_t signal)
{
	head[0] = TERM_EXIT;
	return 1 + put(head + 1, (uint32_t)code, 4) + put(head + 5, signal, 4);
}

size_t
termmsg_size(uint8_t *head, uint32_t cols, uint32_t rows)
{
	head[0] = TERM_SIZE;
	return 1 + put(head + 1, cols, 2) + put(head + 3, rows, 2);
}

size_t
termmsg_lost(uint8_t *head, uint64_t from, uint64_t to)
{
	head[0] = TERM_LOST;
	return 1 + put(head + 1, from, 8) + put(head + 9, to, 8);
}

size_t
termmsg_live(uint8_t *head, uint64_t offset)
{
	return termmsg_bytes(head, TERM_LIVE, offset);
}

/* -- JSON that comes ------------------------------------------------------ */

/* json-c assembles strings in one place: what was there has gone. */
static void
overwrite_string(void)
{
	static char other[512];

	memset(other, ' ', sizeof(other));
	other[0] = other[sizeof(other) - 1] = '"';
	json_object_put(json_tokener_parse_ex(tokener, other,
	    sizeof(other)));
	json_tokener_reset(tokener);
}

void
termmsg_init(void)
{
	tokener = json_tokener_new_ex(DEPTH_MAX);
	if (tokener == NULL)
		fatalx("json-c cannot be used");
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	/* a place that grew later would leave half a token where it was */
	overwrite_string();
}

static void
forget(void)
{
	json_object_put(parsed);
	parsed = NULL;
}

void
termmsg_wipe(void)
{
	struct json_object *v = NULL;

	if (parsed != NULL &&
	    json_object_object_get_ex(parsed, "token", &v) &&
	    json_object_is_type(v, json_type_string))
		/* json-c does not mind what the bytes of its string are */
		explicit_bzero((char *)(uintptr_t)json_object_get_string(v),
		    (size_t)json_object_get_string_len(v));
	forget();
	if (tokener != NULL)
		overwrite_string();
}

static const char *
parse_object(const char *p, size_t len)
{
	struct jsonlex lex;
	const char *why;

	forget();
	if (len > JSON_MAX)
		return "a message is at most 65536 bytes";
	why = jsonlex_check(p, len, &lex);
	if (why != NULL)
		return "a message is one JSON object";
	parsed = json_tokener_parse_ex(tokener, p, (int)len);
	json_tokener_reset(tokener);
	if (!json_object_is_type(parsed, json_type_object)) {
		forget();
		return "a message is one JSON object";
	}
	/* of two members of one name nobody knows which is meant */
	if ((size_t)json_object_object_length(parsed) != lex.members)
		return "a message has each member once, and none inside others";
	return NULL;
}

/* NULL when it is missing or no string. */
static const char *
member(const char *name, size_t *len)
{
	struct json_object *v = NULL;

	*len = 0;
	if (!json_object_object_get_ex(parsed, name, &v) ||
	    !json_object_is_type(v, json_type_string))
		return NULL;
	*len = (size_t)json_object_get_string_len(v);
	return json_object_get_string(v);
}

static bool
number(const char *name, uint64_t max, uint64_t *n)
{
	struct json_object *v = NULL;
	int64_t i;

	if (!json_object_object_get_ex(parsed, name, &v) ||
	    !json_object_is_type(v, json_type_int))
		return false;
	i = json_object_get_int64(v);
	*n = (uint64_t)i;
	return i >= 0 && *n <= max;
}

static const char *
parse_input(struct term_msg *m)
{
	const char *data = member("data", &m->len);

	if (data == NULL)
		return "input has its bytes in \"data\", in base64";
	m->p = data;
	if (m->len % 4 != 0)
		return "base64 comes in groups of four, with its padding";
	/* the string is ours alone, and bytes take less room than digits */
	return base64_get(data, m->len, (char *)(uintptr_t)data, &m->len) ?
	    NULL : "the data is not base64";
}

static const char *
parse_resize(struct term_msg *m)
{
	uint64_t cols = 0, rows = 0;

	if (!number("cols", SIZE_LIMIT, &cols) ||
	    !number("rows", SIZE_LIMIT, &rows))
		return "resize has \"cols\" and \"rows\", whole numbers";
	m->cols = (uint32_t)cols;
	m->rows = (uint32_t)rows;
	return check_size(m);
}

static const char *
parse_attach(struct term_msg *m)
{
	m->p = member("token", &m->len);
	m->session = member("session", &m->session_len);
	return m->p == NULL ? "attach has a \"token\"" : NULL;
}

static const char *
parse_ack(struct term_msg *m)
{
	return number("offset", INT64_MAX, &m->offset) ? NULL :
	    "ack has an \"offset\", a whole number";
}

static const struct {
	const char	*name;
	uint8_t		 type;
	const char	*(*parse)(struct term_msg *);
} types[] = {
	{ "input", TERM_INPUT, parse_input },
	{ "resize", TERM_RESIZE, parse_resize },
	{ "attach", TERM_TOKEN, parse_attach },
	{ "ack", TERM_ACK, parse_ack },
};

const char *
termmsg_parse_json(const char *p, size_t len, struct term_msg *m)
{
	const char *why = parse_object(p, len), *type;
	size_t n, i;

	memset(m, 0, sizeof(*m));
	if (why != NULL)
		return why;
	type = member("type", &n);
	if (type == NULL)
		return "a message has a \"type\"";
	for (i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(type, types[i].name) == 0 &&
		    n == strlen(types[i].name)) {
			m->type = types[i].type;
			return types[i].parse(m);
		}
	return "\"type\" is input, resize, attach or ack";
}

/* -- JSON that goes ------------------------------------------------------- */

static void
begin(struct text *t, const char *type)
{
	json_open(t, '{');
	json_key(t, "type");
	json_text(t, type);
}

static void
member_u64(struct text *t, const char *key, uint64_t v)
{
	json_key(t, key);
	json_u64(t, v);
}

/* In threes, so that the preamble's digits and the rest's make one string. */
static void
bytes_base64(struct text *t, const void *preamble, size_t npreamble,
    const void *bytes, size_t n)
{
	char joint[3];
	size_t over = npreamble % 3, more = over == 0 ? 0 : 3 - over;

	if (more > n)
		more = n;
	text_base64(t, preamble, npreamble - over);
	if (over > 0) {
		memcpy(joint, (const char *)preamble + npreamble - over, over);
		memcpy(joint + over, bytes, more);
		text_base64(t, joint, over + more);
	}
	text_base64(t, (const char *)bytes + more, n - more);
}

void
termjson_bytes(struct text *t, const char *type, uint64_t offset,
    const void *preamble, size_t npreamble, const void *bytes, size_t n)
{
	begin(t, type);
	json_key(t, "data");
	text_puts(t, "\"");
	bytes_base64(t, preamble, npreamble, bytes, n);
	text_puts(t, "\"");
	member_u64(t, "offset", offset);
	if (npreamble > 0)
		member_u64(t, "preamble", npreamble);
	json_close(t, '}');
}

void
termjson_exit(struct text *t, int32_t code, const char *signal)
{
	begin(t, "exit");
	json_key(t, "code");
	if (code < 0)
		json_raw(t, "-1");
	else
		json_u64(t, (uint64_t)code);
	json_key(t, "signal");
	if (signal == NULL)
		json_raw(t, "null");
	else
		json_text(t, signal);
	json_close(t, '}');
}

void
termjson_error(struct text *t, const char *code, const char *message)
{
	begin(t, "error");
	json_key(t, "message");
	json_text(t, message);
	json_key(t, "code");
	json_text(t, code);
	json_close(t, '}');
}

void
termjson_size(struct text *t, uint32_t cols, uint32_t rows)
{
	begin(t, "size");
	member_u64(t, "cols", cols);
	member_u64(t, "rows", rows);
	json_close(t, '}');
}

void
termjson_lost(struct text *t, uint64_t from, uint64_t to)
{
	begin(t, "lost");
	member_u64(t, "from", from);
	member_u64(t, "to", to);
	json_close(t, '}');
}

void
termjson_people(struct text *t, const struct text *list)
{
	begin(t, "people");
	json_key(t, "people");
	text_put(t, list->p, list->len);
	json_close(t, '}');
}

void
termjson_live(struct text *t, uint64_t offset)
{
	begin(t, "live");
	member_u64(t, "offset", offset);
	json_close(t, '}');
}
