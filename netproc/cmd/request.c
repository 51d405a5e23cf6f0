/* SPDX-License-Identifier: ISC */
/* Requests in JSON; see the header. */
#include <json-c/json.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/errors.h"
#include "base/log.h"
#include "command.h"
#include "netproc/text/jsonlex.h"
#include "params.h"
#include "request.h"

/* Request, args, argv and its strings; more is said to be wrong by name. */
#define DEPTH_MAX	8
/* After a longer line the parser's memory is given back. */
#define KEEP_MAX	4096
#define NAMES_MAX	160

/* Quotes can make arguments longer than they were in the line. */
static char		 buffer[LINE_BUFFER * 2];
static struct json_tokener *tokener;

/* The words of a request while they are put together. */
struct builder {
	struct words	*ws;
	size_t		 len;		/* of the buffer's use */
	bool		 full;
	const struct param *hole;	/* was left out before others */
};

static void __attribute__((format(printf, 3, 4)))
refuse(struct request *r, uint32_t err, const char *fmt, ...)
{
	va_list ap;

	/* what is found first is told */
	if (r->err != ERR_OK)
		return;
	r->err = err;
	va_start(ap, fmt);
	(void)vsnprintf(r->why, sizeof(r->why), fmt, ap);
	va_end(ap);
}

#define MISUSED(r, ...)	refuse(r, ERR_INVALID_ARGUMENT, __VA_ARGS__)

/* -- the text ------------------------------------------------------------- */

/* json-c assembles each string in the same place: what was there has gone. */
static void
overwrite_string(void)
{
	static const char other[] = "\"                                        "
	    "                                                                "
	    "                                                                \"";

	json_object_put(json_tokener_parse_ex(tokener, other,
	    sizeof(other) - 1));
	json_tokener_reset(tokener);
}

static bool
tokener_ready(void)
{
	if (tokener != NULL)
		return true;
	tokener = json_tokener_new_ex(DEPTH_MAX);
	if (tokener == NULL)
		return false;
	json_tokener_set_flags(tokener, JSON_TOKENER_STRICT);
	/* a place that grew later would leave half a secret where it was */
	overwrite_string();
	return true;
}

static void
tokener_done(size_t len)
{
	if (len > KEEP_MAX) {
		json_tokener_free(tokener);
		tokener = NULL;
	} else
		json_tokener_reset(tokener);
}

void
request_init(void)
{
	struct json_object *o;

	/* the first object makes it fetch random bytes for its hashes */
	if (!tokener_ready() || (o = json_tokener_parse_ex(tokener,
	    "{\"a\":1}", -1)) == NULL)
		fatalx("json-c cannot be used");
	json_object_put(o);
	tokener_done(0);
}

static size_t
count_members(struct json_object *o)
{
	size_t n = 0, i;

	if (json_object_is_type(o, json_type_array))
		for (i = 0; i < json_object_array_length(o); i++)
			n += count_members(json_object_array_get_idx(o, i));
	if (json_object_is_type(o, json_type_object)) {
		json_object_object_foreach(o, key, v) {
			(void)key;
			n += 1 + count_members(v);
		}
	}
	return n;
}

/*
 * Parses the line around the object that is passed on, with an empty object in
 * its place: the parser's memory is for what we read ourselves.
 */
static struct json_object *
parse_around(const char *line, size_t len, struct jsonlex *lex)
{
	const size_t after = lex->passed_at + lex->passed_len;
	struct json_object *o;

	o = json_tokener_parse_ex(tokener, line, lex->passed_len == 0 ?
	    (int)len : (int)lex->passed_at);
	lex->at = json_tokener_get_parse_end(tokener);
	if (lex->passed_len == 0 ||
	    json_tokener_get_error(tokener) != json_tokener_continue)
		return o;
	lex->at = lex->passed_at;
	o = json_tokener_parse_ex(tokener, "{}", 2);
	if (json_tokener_get_error(tokener) != json_tokener_continue)
		return o;
	o = json_tokener_parse_ex(tokener, line + after, (int)(len - after));
	lex->at = after + json_tokener_get_parse_end(tokener);
	return o;
}

/* The empty one says from now on what stands in the line.  False: no memory. */
static bool
put_back(struct json_object *o, const char *line, const struct jsonlex *lex)
{
	struct json_object *place = NULL;
	char *text;

	if (lex->passed_len == 0)
		return true;
	if (lex->in_args)
		(void)json_object_object_get_ex(o, "args", &o);
	/* what is no object there is refused for that */
	if (!json_object_object_get_ex(o, "request", &place))
		return true;
	text = strndup(line + lex->passed_at, lex->passed_len);
	if (text == NULL)
		return false;
	json_object_set_serializer(place, json_object_userdata_to_json_string,
	    text, json_object_free_userdata);
	return true;
}

/* NULL with the error set when that is not one object. */
static struct json_object *
parse_text(const char *line, size_t len, struct request *r)
{
	struct json_object *o;
	enum json_tokener_error err;
	struct jsonlex lex;
	const char *why = jsonlex_request(line, len, &lex);

	if (why != NULL) {
		refuse(r, ERR_INVALID_JSON, "the text at byte %zu %s",
		    lex.at, why);
		return NULL;
	}
	if (!tokener_ready()) {
		refuse(r, ERR_INTERNAL, "out of memory");
		return NULL;
	}
	o = parse_around(line, len, &lex);
	err = json_tokener_get_error(tokener);
	tokener_done(len);
	if (err == json_tokener_continue)
		refuse(r, ERR_INVALID_JSON, "the line ends before the object "
		    "does; a request is one line");
	else if (err != json_tokener_success)
		refuse(r, ERR_INVALID_JSON, "at byte %zu: %s", lex.at,
		    json_tokener_error_desc(err));
	else if (!json_object_is_type(o, json_type_object))
		refuse(r, ERR_INVALID_JSON, "a request is an object");
	else if (count_members(o) != lex.members)
		refuse(r, ERR_INVALID_JSON, "an object has two members of the "
		    "same name");
	else if (!put_back(o, line, &lex))
		refuse(r, ERR_INTERNAL, "out of memory");
	if (r->err == ERR_OK)
		return o;
	json_object_put(o);
	return NULL;
}

/* -- words ---------------------------------------------------------------- */

static void
put(struct builder *b, const void *p, size_t len)
{
	if (len > sizeof(buffer) - b->len) {
		b->full = true;
		return;
	}
	memcpy(buffer + b->len, p, len);
	b->len += len;
}

static void
begin_word(struct builder *b)
{
	/* no row has so many parameters */
	if (b->ws->n == WORDS_MAX) {
		b->full = true;
		return;
	}
	/* as in a line, for those who want all to its end */
	if (b->ws->n > 0)
		put(b, " ", 1);
	b->ws->w[b->ws->n++] = (struct word){ buffer + b->len, 0 };
}

static void
add(struct builder *b, const void *p, size_t len)
{
	put(b, p, len);
	if (!b->full)
		b->ws->w[b->ws->n - 1].len += len;
}

static void
add_before(struct builder *b, const char *s)
{
	for (; *s != '\0'; s++)
		if (*s == ' ')
			begin_word(b);
		else
			add(b, s, 1);
}

static bool
is_plain(const char *p, size_t len)
{
	static const char others[] = "@%+=:,./-_";
	size_t i;

	for (i = 0; i < len; i++) {
		int c = (unsigned char)p[i];

		if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
		    !(c >= '0' && c <= '9') && strchr(others, c) == NULL)
			return false;
	}
	return len > 0;
}

/* As one would type it, for this daemon and for a shell. */
static void
add_quoted(struct builder *b, const char *p, size_t len)
{
	const char *quote;
	size_t n;

	if (is_plain(p, len)) {
		add(b, p, len);
		return;
	}
	add(b, "'", 1);
	while ((quote = memchr(p, '\'', len)) != NULL) {
		n = (size_t)(quote - p);
		add(b, p, n);
		add(b, "'\\''", 4);
		p += n + 1;
		len -= n + 1;
	}
	add(b, p, len);
	add(b, "'", 1);
}

/* -- values --------------------------------------------------------------- */

/* A boolean that is false is none. */
static struct json_object *
argument_given(struct json_object *args, const struct param *p, bool *is)
{
	struct json_object *v = NULL;

	*is = json_object_object_get_ex(args, p->name, &v) &&
	    !(p->kind == PARAM_FLAG && json_object_is_type(v,
	    json_type_boolean) && !json_object_get_boolean(v));
	return v;
}

static void
add_number(struct builder *b, struct request *r, const struct param *p,
    struct json_object *v)
{
	const char *digits = json_object_get_string(v);

	if (digits == NULL || digits[0] == '-')
		MISUSED(r, "args.%s must not be negative", p->name);
	else
		add(b, digits, strlen(digits));
}

/* A parameter that is joined to this word must not be made up by it. */
static bool
has_joint(const struct param *p, const char *s, size_t len)
{
	return p[1].name != NULL && p[1].before[0] != ' ' &&
	    memchr(s, p[1].before[0], len) != NULL;
}

static void
add_word(struct builder *b, struct request *r, const struct param *p,
    struct json_object *v)
{
	const char *s = json_object_get_string(v);
	size_t len = (size_t)json_object_get_string_len(v);

	if (p->kind == PARAM_TEXT)
		add(b, s, len);
	else if (len == 0)
		MISUSED(r, "args.%s must not be empty%s", p->name,
		    param_is_needed(p) ? "" : "; leave it out");
	else if (line_has_control(s, len) || memchr(s, '\t', len) != NULL)
		MISUSED(r, "args.%s must not have control characters in it",
		    p->name);
	else if (has_joint(p, s, len))
		MISUSED(r, "args.%s must not have \"%c\" in it; args.%s "
		    "is apart from it", p->name, p[1].before[0], p[1].name);
	else
		add(b, s, len);
}

static void
add_argv(struct builder *b, struct request *r, const struct param *p,
    struct json_object *v)
{
	struct json_object *item;
	size_t i;

	for (i = 0; i < json_object_array_length(v); i++) {
		item = json_object_array_get_idx(v, i);
		if (!json_object_is_type(item, json_type_string)) {
			MISUSED(r, "args.%s[%zu] must be a string", p->name,
			    i);
			return;
		}
		if (i > 0)
			add(b, " ", 1);
		add_quoted(b, json_object_get_string(item),
		    (size_t)json_object_get_string_len(item));
	}
}

static bool
has_nul(const char *p, size_t len)
{
	return memchr(p, '\0', len) != NULL;
}

static void
add_env(struct builder *b, struct request *r, const struct param *p,
    struct json_object *v)
{
	const char *value;
	size_t len;

	json_object_object_foreach(v, key, item) {
		if (!json_object_is_type(item, json_type_string)) {
			MISUSED(r, "args.%s.%.40s must be a string", p->name,
			    key);
			return;
		}
		value = json_object_get_string(item);
		len = (size_t)json_object_get_string_len(item);
		if (has_nul(value, len)) {
			MISUSED(r, "args.%s.%.40s must not have \\u0000 in "
			    "it", p->name, key);
			return;
		}
		add(b, key, strlen(key));
		add(b, "=", 1);
		add(b, value, len + 1);
	}
}

/* As it stood in the text. */
static void
add_json(struct builder *b, struct request *r, const struct param *p,
    struct json_object *v)
{
	size_t len;
	const char *s = json_object_to_json_string_length(v,
	    JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);

	(void)p;
	if (s == NULL)
		refuse(r, ERR_INTERNAL, "out of memory");
	else
		add(b, s, len);
}

static const struct {
	enum json_type	 type;
	unsigned int	 kinds;
	void		(*add)(struct builder *, struct request *,
			    const struct param *, struct json_object *);
} values[] = {
	{ json_type_string, 1U << PARAM_WORD | 1U << PARAM_SECRET |
	    1U << PARAM_TEXT | 1U << PARAM_EITHER, add_word },
	{ json_type_int, 1U << PARAM_NUMBER | 1U << PARAM_SIZE |
	    1U << PARAM_EITHER, add_number },
	{ json_type_array, 1U << PARAM_ARGV, add_argv },
	{ json_type_object, 1U << PARAM_ENV, add_env },
	{ json_type_object, 1U << PARAM_JSON, add_json },
	{ json_type_boolean, 1U << PARAM_FLAG, NULL },
};

static void
add_value(struct builder *b, struct request *r, const struct param *p,
    struct json_object *v)
{
	enum json_type type = json_object_get_type(v);
	size_t i;

	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		if (values[i].type != type ||
		    !(values[i].kinds & 1U << p->kind))
			continue;
		/* an empty array is no word at all */
		if (type == json_type_array &&
		    json_object_array_length(v) == 0)
			return;
		if (type == json_type_object && p->kind != PARAM_JSON &&
		    json_object_object_length(v) == 0)
			return;
		add_before(b, p->before);
		if (values[i].add != NULL)
			values[i].add(b, r, p, v);
		return;
	}
	MISUSED(r, "args.%s must be %s %s%s", p->name,
	    p->kind == PARAM_ARGV || p->kind == PARAM_ENV ||
	    p->kind == PARAM_JSON ? "an" : "a",
	    p->kind == PARAM_NUMBER || p->kind == PARAM_SIZE ? "whole " : "",
	    param_type(p->kind));
}

/* -- arguments ------------------------------------------------------------ */

/* "args.a, args.b and args.c" */
static const char *
names_of(const struct param *p, char names[NAMES_MAX])
{
	size_t len = 0;
	bool first = true;

	(void)snprintf(names, NAMES_MAX, "no arguments");
	for (; p->name != NULL && len < NAMES_MAX; p++, first = false)
		len += (size_t)snprintf(names + len, NAMES_MAX - len,
		    "%sargs.%s", first ? "" : p[1].name == NULL ? " and " :
		    ", ", p->name);
	return names;
}

static bool
is_param(const struct param *p, const char *name)
{
	for (; p->name != NULL; p++)
		if (strcmp(p->name, name) == 0)
			return true;
	return false;
}

static void
check_names(struct request *r, struct json_object *args)
{
	char names[NAMES_MAX];

	json_object_object_foreach(args, key, v) {
		(void)v;
		if (!is_param(r->cmd->params, key))
			MISUSED(r, "there is no args.%.40s; %s takes %s", key,
			    r->cmd->verb, names_of(r->cmd->params, names));
	}
}

/* Adds a parameter, or the one given of several; returns the next one. */
static const struct param *
add_param(struct builder *b, struct request *r, struct json_object *args,
    const struct param *p)
{
	const struct param *first = p, *one = NULL;
	struct json_object *v, *value = NULL;
	bool is;

	do {
		v = argument_given(args, p, &is);
		if (is && one != NULL)
			MISUSED(r, "give args.%s or args.%s, not both",
			    one->name, p->name);
		if (is) {
			one = p;
			value = v;
		}
		p++;
	} while (p->name != NULL && p->need == PARAM_OR);
	if (one == NULL && first->need == PARAM_MUST)
		MISUSED(r, "args.%s is missing: a %s%s%s", first->name,
		    param_type(first->kind), p - first > 1 ? "; or give args." :
		    "", p - first > 1 ? first[1].name : "");
	else if (one == NULL && strcmp(first->before, " ") == 0)
		b->hole = first;
	else if (one != NULL && b->hole != NULL &&
	    strcmp(one->before, " ") == 0)
		MISUSED(r, "args.%s needs args.%s before it", one->name,
		    b->hole->name);
	else if (one != NULL)
		add_value(b, r, one, value);
	return p;
}

static void
make_words(struct request *r, struct json_object *args)
{
	struct builder b = { .ws = &r->words };
	const struct param *p = r->cmd->params;
	char names[NAMES_MAX];

	begin_word(&b);
	add(&b, r->cmd->verb, strlen(r->cmd->verb));
	while (p->name != NULL && r->err == ERR_OK)
		p = add_param(&b, r, args, p);
	r->words.end = buffer + b.len;
	/* what no single argument has done wrong */
	if (r->words.n - 1 < r->cmd->min || r->words.n - 1 > r->cmd->max)
		MISUSED(r, "too %s arguments; %s takes %s",
		    r->words.n - 1 < r->cmd->min ? "few" : "many",
		    r->cmd->verb, names_of(r->cmd->params, names));
	if (b.full)
		refuse(r, ERR_INVALID_ARGS, "there are too many bytes of "
		    "arguments");
}

/*
 * A request that is refused may have a payload nevertheless, and that must
 * not be read as requests.
 */
static void
find_payload(struct request *r, struct json_object *args)
{
	const struct param *p;
	struct json_object *v = NULL;

	for (p = r->cmd->params; p->name != NULL && p->kind != PARAM_SIZE; p++)
		continue;
	if (p->name == NULL)
		return;
	r->follows = FOLLOWS_UNKNOWN;
	if (!json_object_object_get_ex(args, p->name, &v) ||
	    !json_object_is_type(v, json_type_int) ||
	    json_object_get_int64(v) < 0 ||
	    json_object_get_uint64(v) > INT64_MAX)
		return;
	r->follows = FOLLOWS_SIZE;
	r->size = json_object_get_uint64(v);
}

/* A secret stays in the words, until request_wipe(), and nowhere else. */
static void
wipe_parser(const struct request *r, struct json_object *args)
{
	const struct param *p;
	struct json_object *v;

	for (p = r->cmd->params; p->name != NULL; p++) {
		if (p->kind != PARAM_SECRET ||
		    !json_object_object_get_ex(args, p->name, &v) ||
		    !json_object_is_type(v, json_type_string))
			continue;
		/* json-c does not mind what the bytes of its string are */
		explicit_bzero((char *)(uintptr_t)json_object_get_string(v),
		    (size_t)json_object_get_string_len(v));
		if (tokener_ready())
			overwrite_string();
	}
}

void
request_wipe(struct request *r)
{
	if (r->words.n > 0)
		explicit_bzero(buffer, (size_t)(r->words.end - buffer));
	r->words.n = 0;
}

/* The same where not even JSON could be read: by the mere look of it. */
static void
suspect_payload(struct request *r, const char *line, size_t len)
{
	const struct command *cmd;
	const struct param *p;
	size_t i, at, n;

	for (i = 0; (cmd = command_at(i)) != NULL; i++) {
		for (p = cmd->params; p->name != NULL; p++)
			if (p->kind == PARAM_SIZE)
				break;
		n = strlen(cmd->verb);
		for (at = 0; p->name != NULL && at + n <= len; at++)
			if (strncasecmp(line + at, cmd->verb, n) == 0)
				r->follows = FOLLOWS_UNKNOWN;
	}
}

/* -- the request ---------------------------------------------------------- */

static void
take_id(struct request *r, struct json_object *v)
{
	enum json_type type = json_object_get_type(v);
	const char *s = NULL;
	size_t len = 0;

	if (type == json_type_null)
		return;
	if (type == json_type_int || type == json_type_string) {
		s = json_object_get_string(v);
		len = s == NULL ? 0 : strlen(s);
	}
	if (s == NULL || len > REQUEST_ID_MAX) {
		MISUSED(r, "id must be a whole number or a string of at most "
		    "%d bytes", REQUEST_ID_MAX);
		return;
	}
	r->reply.text = type == json_type_string;
	r->reply.len = (uint8_t)len;
	memcpy(r->reply.id, s, len);
}

static void
take_command(struct request *r, struct json_object *v)
{
	const struct command *cmd;
	const char *verb;
	size_t i;

	if (!json_object_is_type(v, json_type_string)) {
		MISUSED(r, "command must be a string, such as \"list\"");
		return;
	}
	verb = json_object_get_string(v);
	for (i = 0; (cmd = command_at(i)) != NULL && r->cmd == NULL; i++)
		if (strcasecmp(verb, cmd->verb) == 0)
			r->cmd = cmd;
	if (r->cmd == NULL)
		refuse(r, ERR_UNKNOWN_COMMAND, "%s", "");
}

static void
check_members(struct request *r, struct json_object *o)
{
	json_object_object_foreach(o, key, v) {
		(void)v;
		if (strcmp(key, "id") != 0 && strcmp(key, "command") != 0 &&
		    strcmp(key, "args") != 0)
			MISUSED(r, "there is no member %.40s; a request has "
			    "id, command and args", key);
	}
}

static void
take_args(struct request *r, struct json_object *args)
{
	find_payload(r, args);
	if (args != NULL)
		check_names(r, args);
	if (r->err == ERR_OK)
		make_words(r, args);
	wipe_parser(r, args);
}

static void
take_request(struct request *r, struct json_object *o)
{
	struct json_object *id = NULL, *command = NULL, *args = NULL;
	bool have_args;

	(void)json_object_object_get_ex(o, "id", &id);
	(void)json_object_object_get_ex(o, "command", &command);
	have_args = json_object_object_get_ex(o, "args", &args);
	take_id(r, id);
	take_command(r, command);
	check_members(r, o);
	if (have_args && !json_object_is_type(args, json_type_object)) {
		MISUSED(r, "args must be an object");
		args = NULL;
	}
	if (r->cmd != NULL)
		take_args(r, args);
}

void
request_from(struct request *r, const struct command *cmd,
    struct json_object *args)
{
	memset(r, 0, sizeof(*r));
	r->reply.form = REPLY_JSON;
	r->cmd = cmd;
	take_args(r, args);
}

struct json_object *
request_object(const char *text, size_t len, struct request *r)
{
	memset(r, 0, sizeof(*r));
	return parse_text(text, len, r);
}

void
request_parse(const char *line, size_t len, struct request *r)
{
	struct json_object *o;

	memset(r, 0, sizeof(*r));
	r->reply.form = REPLY_JSON;
	o = parse_text(line, len, r);
	if (o == NULL) {
		suspect_payload(r, line, len);
		return;
	}
	take_request(r, o);
	json_object_put(o);
}
