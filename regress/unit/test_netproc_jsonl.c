/* SPDX-License-Identifier: ISC */
/* Requests in JSON: which become words, which are refused, and why. */
/* links: netproc/cmd/request.c netproc/text/jsonlex.c netproc/cmd/params.c common/base/json.c common/base/text.c netproc/text/text64.c netproc/text/line.c common/base/base64.c */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/errors.h"
#include "netproc/cmd/command.h"
#include "netproc/cmd/params.h"
#include "netproc/cmd/request.h"
#include "netproc/text/jsonlex.h"

/* Rows of every kind of parameter; none of them is run. */
#define ROW(name, list)	{ .verb = name, .params = list, .max = ARGS_ANY }
static const struct command commands[] = {
	ROW("LIST", params_none), ROW("STATUS", params_session),
	ROW("UPLOAD", params_upload), ROW("START", params_start),
	ROW("ARGS", params_args), ROW("ENV", params_env),
	ROW("OUTPUT", params_range), ROW("WAIT", params_wait),
	ROW("SIGNAL", params_signal), ROW("INPUT", params_input),
	ROW("NAME", params_name),
	{ .verb = "LIMITS", .params = params_limits, .min = 2, .max = 3 },
	ROW("SHARE", params_share), ROW("AUDIT", params_audit),
	ROW("AUTH", params_auth), ROW("TOKEN", params_token),
	ROW("DEBUGGER", params_debugger),
};
#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

const struct command *
command_at(size_t i)
{
	return i < COUNT(commands) ? &commands[i] : NULL;
}

static struct request r;

static void
parse(const char *text)
{
	request_parse(text, strlen(text), &r);
}

/* {"id":1,"command":COMMAND,"args":{ARGS}} */
static void
ask(const char *command, const char *args)
{
	char text[4096];

	(void)snprintf(text, sizeof(text),
	    "{\"id\":1,\"command\":\"%s\",\"args\":{%s}}", command, args);
	parse(text);
}

/* The words with bars between them. */
static const char *
words(void)
{
	static char text[4096];
	size_t i, len = 0;

	assert_int_equal(r.err, ERR_OK);
	for (i = 0; i < r.words.n; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
		    "%s%.*s", i == 0 ? "" : "|", (int)r.words.w[i].len,
		    r.words.w[i].p);
	return text;
}

static void
refused(uint32_t err, const char *why)
{
	assert_int_equal(r.err, err);
	if (strstr(r.why, why) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", why, r.why);
}

/* -- words -- */

static const struct {
	const char	*command, *args, *want;
} good[] = {
	{ "LIST", "", "LIST" },
	{ "list", "", "LIST" },
	{ "LiSt", "", "LIST" },
	{ "status", "\"session\":\"ab12\"", "STATUS|ab12" },
	{ "upload", "\"size\":5", "UPLOAD|5" },
	{ "upload", "\"exec_path\":\"a b/c\",\"size\":5", "UPLOAD|5|a b/c" },
	{ "upload", "\"size\":18446744073709551615",
	    "UPLOAD|18446744073709551615" },
	{ "start", "\"session\":\"x\",\"debug\":true,\"split\":false",
	    "START|x|--debug" },
	{ "start", "\"network\":\"none\",\"session\":\"x\","
	    "\"sandbox\":\"tmpfs\",\"split\":true",
	    "START|x|--split|--sandbox|tmpfs|--network|none" },
	{ "env", "\"session\":\"x\",\"key\":\"K\",\"value\":\" a=\\nb \"",
	    "ENV|x|K= a=\nb " },
	{ "env", "\"session\":\"x\",\"key\":\"K\",\"value\":\"\"",
	    "ENV|x|K=" },
	{ "output", "\"session\":\"x\"", "OUTPUT|x" },
	{ "output", "\"session\":\"x\",\"base64\":true", "OUTPUT|x|base64" },
	{ "output", "\"session\":\"x\",\"base64\":true,\"offset\":7",
	    "OUTPUT|x|7|base64" },
	{ "wait", "\"session\":\"x\",\"seconds\":0", "WAIT|x|0" },
	{ "signal", "\"session\":\"x\",\"signal\":15", "SIGNAL|x|15" },
	{ "signal", "\"session\":\"x\",\"signal\":\"TERM\"",
	    "SIGNAL|x|TERM" },
	{ "input", "\"session\":\"x\",\"size\":3", "INPUT|x|3" },
	{ "input", "\"session\":\"x\",\"eof\":true", "INPUT|x|eof" },
	{ "input", "\"session\":\"x\",\"size\":3,\"eof\":false",
	    "INPUT|x|3" },
	{ "name", "\"session\":\"x\"", "NAME|x" },
	{ "name", "\"session\":\"\\u00e9\\ud83d\\ude00\"", "NAME|é😀" },
	{ "limits", "\"session\":\"x\",\"core\":0,\"cpu\":\"unlimited\"",
	    "LIMITS|x|cpu=unlimited|core=0" },
	{ "share", "\"session\":\"x\",\"user\":\"bob\"", "SHARE|x|bob" },
	{ "share", "\"session\":\"x\",\"user\":\"bob\",\"access\":\"rw\"",
	    "SHARE|x|bob:rw" },
	{ "audit", "\"from\":1,\"seconds\":2", "AUDIT|1|2" },
	{ "auth", "\"token\":\"dlt_x\"", "AUTH|dlt_x" },
	{ "token", "\"action\":\"revoke\",\"id\":\"1f2e3d4c\"",
	    "TOKEN|revoke|1f2e3d4c" },
	{ "token", "\"action\":\"create\",\"label\":\"a b\",\"user\":\"bob\","
	    "\"read_only\":true,\"expires\":60",
	    "TOKEN|create|user=bob|read-only|expires=60|label=a b" },
	{ "args", "\"session\":\"x\"", "ARGS|x" },
	{ "args", "\"session\":\"x\",\"argv\":[]", "ARGS|x" },
	{ "args", "\"session\":\"x\",\"text\":\" a  'b c' \"",
	    "ARGS|x| a  'b c' " },
};

static void
test_words(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(good); i++) {
		ask(good[i].command, good[i].args);
		assert_string_equal(words(), good[i].want);
		assert_true(r.words.end == r.words.w[r.words.n - 1].p +
		    r.words.w[r.words.n - 1].len);
	}
	parse("{\"command\":\"list\"}");
	assert_string_equal(words(), "LIST");
	parse("{ \"args\" : { } ,\t\"command\":\"list\", \"id\":\"\"}\r ");
	assert_string_equal(words(), "LIST");
	assert_true(r.reply.text);
}

/* Quoting and splitting returns the arguments, byte by byte. */
static void
test_argv(void **state)
{
	static const char *const argv[] = { "plain", "two words", "", "'",
		"it's", "\"", "\\", "a\\\"b", "$HOME `id`", "tab\t", "nl\n\n",
		"''", "é😀", "-x=/a:b,c", "\x7f\x1b[0m", " " };
	char vec[512], *p = vec;
	struct word rest;
	size_t i, len;

	(void)state;
	ask("args", "\"session\":\"x\",\"argv\":[\"plain\",\"two words\",\"\","
	    "\"'\",\"it's\",\"\\\"\",\"\\\\\",\"a\\\\\\\"b\",\"$HOME `id`\","
	    "\"tab\\t\",\"nl\\n\\u000a\",\"''\",\"\\u00e9\\ud83d\\ude00\","
	    "\"-x=/a:b,c\",\"\\u007f\\u001b[0m\",\" \"]");
	assert_int_equal(r.err, ERR_OK);
	rest = line_rest(&r.words, 2);
	assert_null(args_split(&rest, vec, sizeof(vec), &len));
	for (i = 0; i < COUNT(argv); i++) {
		assert_string_equal(p, argv[i]);
		p += strlen(p) + 1;
	}
	assert_int_equal(p - vec, len);
	/* as a person would have typed it */
	assert_memory_equal(rest.p, "plain 'two words' '' ''\\''' 'it'\\''s'",
	    37);
}

static void
test_argv_too_long(void **state)
{
	static char text[LINE_MAX_BYTES + 1];
	size_t len;

	(void)state;
	len = (size_t)snprintf(text, sizeof(text),
	    "{\"command\":\"args\",\"args\":{\"session\":\"x\",\"argv\":[\"");
	memset(text + len, '\'', 60000);
	(void)snprintf(text + len + 60000, 8, "\"]}}");
	parse(text);
	refused(ERR_INVALID_ARGS, "too many bytes");
	memset(text + len, 'x', 60000);
	parse(text);
	assert_int_equal(r.err, ERR_OK);
	assert_int_equal(r.words.w[2].len, 60000);
}

/* -- ids -- */

static void
test_ids(void **state)
{
	char text[200], id[80];

	(void)state;
	parse("{\"command\":\"list\"}");
	assert_true(r.reply.form == REPLY_JSON && r.reply.len == 0 &&
	    !r.reply.text);
	parse("{\"command\":\"list\",\"id\":null}");
	assert_true(r.err == ERR_OK && r.reply.len == 0 && !r.reply.text);
	parse("{\"command\":\"list\",\"id\":-9223372036854775808}");
	assert_false(r.reply.text);
	assert_int_equal(r.reply.len, 20);
	assert_memory_equal(r.reply.id, "-9223372036854775808", 20);
	parse("{\"command\":\"list\",\"id\":18446744073709551615}");
	assert_memory_equal(r.reply.id, "18446744073709551615", 20);
	parse("{\"command\":\"list\",\"id\":\"a\\nb\"}");
	assert_true(r.reply.text && r.reply.len == 3);
	assert_memory_equal(r.reply.id, "a\nb", 3);
	/* an error is answered to the request that has it */
	parse("{\"command\":\"nothing\",\"id\":7}");
	refused(ERR_UNKNOWN_COMMAND, "");
	assert_memory_equal(r.reply.id, "7", 1);
	memset(id, 'i', sizeof(id));
	(void)snprintf(text, sizeof(text),
	    "{\"command\":\"list\",\"id\":\"%.64s\"}", id);
	parse(text);
	assert_true(r.err == ERR_OK && r.reply.len == 64);
	(void)snprintf(text, sizeof(text),
	    "{\"command\":\"list\",\"id\":\"%.65s\"}", id);
	parse(text);
	refused(ERR_INVALID_ARGUMENT, "id must be");
	assert_int_equal(r.reply.len, 0);
}

/* -- refusals -- */

static const char *const bad_json[] = {
	"", " ", "null", "1", "\"id\"", "[{}]", "{", "{}}", "{}x", "{}{}", "{]", "{,}", "{\"id\"}", "{\"id\":}",
	"{\"id\":1,}", "{\"id\":1 \"command\":\"list\"}", "{\"id\" 1}",
	"{id:1}", "{'id':1}", "{\"id\":'a'}", "{\"id\":1}/**/", "{\"id\":[1,]}",
	"{\"id\":[}", "{\"id\":\"", "{\"id\":\"a}", "{\"id\":tru}",
	"{\"id\":True}", "{\"id\":NaN}", "{\"id\":-Infinity}",
	"{\"id\":Infinity}", "{\"id\":nan}", "{\"id\":nul}", "{\"id\":01}",
	"{\"id\":-}", "{\"id\":+1}", "{\"id\":.5}", "{\"id\":1.}",
	"{\"id\":1e}", "{\"id\":0x10}", "{\"id\":1a}", "{\"id\":-01}",
	"{\"id\":18446744073709551616}", "{\"id\":-9223372036854775809}",
	"{\"id\":99999999999999999999999999999999999999999}",
	"{\"id\":0.0000000000000000000000000000000000001}",
	"{\"id\":1e99999999999999999999999999999999999999}",
	"{\"id\":\"\\u0000\"}", "{\"i\\u0000d\":1}", "{\"id\":\"\\ud800\"}",
	"{\"id\":\"\\udc00\"}", "{\"id\":\"\\ud800\\ud800\"}",
	"{\"id\":\"\\ud800x\"}", "{\"id\":\"\\ud800\\n\"}",
	"{\"id\":\"\\udc00\\ud800\"}", "{\"id\":\"\\u12\"}",
	"{\"id\":\"\\u12g4\"}", "{\"id\":\"\\x41\"}", "{\"id\":\"\\'\"}",
	"{\"id\":\"\\", "{\"id\":\"\x80\"}", "{\"id\":\"\xc0\xaf\"}",
	"{\"id\":\"\xed\xa0\x80\"}", "{\"id\":\"\xf4\x90\x80\x80\"}",
	"{\"id\":\"\xe2\x82\"}", "{\"\xff\":1}", "{\"id\":\"\x01\"}",
	"{\"id\":\"a\tb\"}", "{\"id\":1,\x0b\"command\":\"list\"}", "{\x01}",
	"{\"id\":1,\"id\":1}", "{\"command\":\"list\",\"command\":\"help\"}",
	"{\"command\":\"wait\",\"args\":{\"session\":\"a\",\"session\":\"b\"}}",
	"{\"args\":{\"x\":{\"a\":1,\"\\u0061\":2}}}",
	"{\"args\":{\"x\":[{\"a\":1},{\"a\":1,\"a\":1}]}}",
	"{\"a\":[[[[[[[[[1]]]]]]]]]}", "{\"a\":{\"a\":{\"a\":{\"a\":{\"a\":"
	"{\"a\":{\"a\":{\"a\":{\"a\":1}}}}}}}}}",
};

static void
test_bad_json(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(bad_json); i++) {
		parse(bad_json[i]);
		if (r.err != ERR_INVALID_JSON)
			fail_msg("%s: %s", bad_json[i], r.why);
		assert_true(r.why[0] != '\0' && r.reply.len == 0);
		assert_int_equal(r.follows, FOLLOWS_NOTHING);
	}
	/* a byte 0 is no end */
	request_parse("{}\0{}", 5, &r);
	refused(ERR_INVALID_JSON, "byte 2");
	request_parse("{\"id\":\"a\0\"}", 11, &r);
	refused(ERR_INVALID_JSON, "byte 8 is a control character");
	parse("{\"id\":\"\\ud83d\\ude00\\ud800\"}");
	refused(ERR_INVALID_JSON, "byte 19 is half a surrogate pair");
}

/* Input that would take a parser much memory is refused before parsing. */
static void
test_bounds(void **state)
{
	static char text[LINE_MAX_BYTES + 1];
	size_t len, i;

	(void)state;
	len = (size_t)snprintf(text, sizeof(text), "{\"a\":[");
	while (len < LINE_MAX_BYTES - 8)
		len += (size_t)snprintf(text + len, 8, "{},");
	(void)snprintf(text + len, 8, "{}]}");
	parse(text);
	refused(ERR_INVALID_JSON, "one object or array too many");
	len = 0;
	for (i = 0; i < 65; i++)
		len += (size_t)snprintf(text + len, 20, "%s\"%zu\":0",
		    i == 0 ? "{" : ",", i);
	(void)snprintf(text + len, 8, "}");
	parse(text);
	refused(ERR_INVALID_JSON, "one member too many");
	len = (size_t)snprintf(text, sizeof(text), "{\"a\":[");
	for (i = 0; i < 64; i++)
		len += (size_t)snprintf(text + len, 8, "1,");
	(void)snprintf(text + len, 8, "1]}");
	parse(text);
	refused(ERR_INVALID_JSON, "one number too many");
}

static const struct {
	const char	*command, *args, *why;
} misused[] = {
	{ "status", "", "args.session is missing" },
	{ "status", "\"session\":1", "args.session must be a string" },
	{ "status", "\"session\":null", "args.session must be a string" },
	{ "status", "\"session\":\"\"", "args.session must not be empty" },
	{ "status", "\"session\":\"a\\nb\"", "args.session must not have" },
	{ "status", "\"session\":\"a\\tb\"", "args.session must not have" },
	{ "status", "\"session\":\"a\\u007fb\"", "args.session must not" },
	{ "status", "\"session\":\"x\",\"id\":1",
	    "there is no args.id; STATUS takes args.session" },
	{ "status", "\"Session\":\"x\"", "there is no args.Session" },
	{ "list", "\"x\":1", "there is no args.x; LIST takes no arguments" },
	{ "wait", "\"session\":\"x\",\"secs\":1", "WAIT takes args.session "
	    "and args.seconds" },
	{ "wait", "\"session\":\"x\",\"seconds\":\"1\"",
	    "args.seconds must be a whole number" },
	{ "wait", "\"session\":\"x\",\"seconds\":1.5",
	    "args.seconds must be a whole number" },
	{ "wait", "\"session\":\"x\",\"seconds\":1e3",
	    "args.seconds must be a whole number" },
	{ "wait", "\"session\":\"x\",\"seconds\":-1",
	    "args.seconds must not be negative" },
	{ "output", "\"session\":\"x\",\"base64\":1",
	    "args.base64 must be a boolean" },
	{ "output", "\"session\":\"x\",\"base64\":null",
	    "args.base64 must be a boolean" },
	{ "signal", "\"session\":\"x\",\"signal\":true",
	    "args.signal must be a string or number" },
	{ "signal", "\"session\":\"x\",\"signal\":-9",
	    "args.signal must not be negative" },
	{ "args", "\"session\":\"x\",\"argv\":\"a b\"",
	    "args.argv must be an array of strings" },
	{ "args", "\"session\":\"x\",\"argv\":[\"a\",1]",
	    "args.argv[1] must be a string" },
	{ "args", "\"session\":\"x\",\"argv\":[[]]",
	    "args.argv[0] must be a string" },
	{ "args", "\"session\":\"x\",\"argv\":[\"a\"],\"text\":\"a\"",
	    "give args.argv or args.text, not both" },
	{ "input", "\"session\":\"x\"",
	    "args.size is missing: a number; or give args.eof" },
	{ "input", "\"session\":\"x\",\"eof\":false", "args.size is missing" },
	{ "input", "\"session\":\"x\",\"size\":1,\"eof\":true",
	    "give args.size or args.eof, not both" },
	{ "env", "\"session\":\"x\",\"key\":\"A=B\",\"value\":\"c\"",
	    "args.key must not have \"=\"" },
	{ "env", "\"session\":\"x\",\"key\":\"A\"", "args.value is missing" },
	{ "share", "\"session\":\"x\",\"user\":\"b:rw\"",
	    "args.user must not have \":\"" },
	{ "audit", "\"seconds\":2", "args.seconds needs args.from" },
	{ "limits", "\"session\":\"x\"", "too few arguments; LIMITS takes "
	    "args.session, args.cpu, args.as" },
	{ "limits", "\"session\":\"x\",\"cpu\":1,\"as\":2,\"core\":3",
	    "too many arguments; LIMITS takes args.session" },
};

static void
test_misused(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(misused); i++) {
		ask(misused[i].command, misused[i].args);
		refused(ERR_INVALID_ARGUMENT, misused[i].why);
		assert_memory_equal(r.reply.id, "1", 1);
	}
}

static void
test_requests(void **state)
{
	static const struct {
		const char	*text, *why;
	} rows[] = {
		{ "{}", "command must be a string" },
		{ "{\"command\":1}", "command must be a string" },
		{ "{\"command\":null}", "command must be a string" },
		{ "{\"command\":\"list\",\"args\":[]}", "args must be an obj" },
		{ "{\"command\":\"list\",\"args\":null}", "args must be an" },
		{ "{\"command\":\"list\",\"extra\":1}", "no member extra" },
		{ "{\"command\":\"list\",\"id\":1.0}", "id must be" },
		{ "{\"command\":\"list\",\"id\":true}", "id must be" },
		{ "{\"command\":\"list\",\"id\":{}}", "id must be" },
	};
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(rows); i++) {
		parse(rows[i].text);
		refused(ERR_INVALID_ARGUMENT, rows[i].why);
	}
	parse("{\"command\":\"list \"}");
	refused(ERR_UNKNOWN_COMMAND, "");
	parse("{\"command\":\"\"}");
	refused(ERR_UNKNOWN_COMMAND, "");
}

/* -- payloads of refused requests -- */

static void
test_payloads(void **state)
{
	(void)state;
	ask("upload", "\"size\":5,\"x\":1");
	assert_true(r.err != ERR_OK && r.follows == FOLLOWS_SIZE &&
	    r.size == 5);
	ask("input", "\"size\":7");
	assert_true(r.err != ERR_OK && r.follows == FOLLOWS_SIZE &&
	    r.size == 7);
	ask("upload", "\"size\":\"5\"");
	assert_int_equal(r.follows, FOLLOWS_UNKNOWN);
	ask("upload", "\"size\":-5");
	assert_int_equal(r.follows, FOLLOWS_UNKNOWN);
	ask("upload", "\"size\":9223372036854775808,\"x\":1");
	assert_int_equal(r.follows, FOLLOWS_UNKNOWN);
	ask("upload", "");
	assert_int_equal(r.follows, FOLLOWS_UNKNOWN);
	parse("{\"command\":\"upload\",\"args\":[5]}");
	assert_int_equal(r.follows, FOLLOWS_UNKNOWN);
	/* what cannot even be read, but looks as if */
	parse("{\"command\":\"Upload\",\"args\":{\"size\":5},}");
	refused(ERR_INVALID_JSON, "");
	assert_int_equal(r.follows, FOLLOWS_UNKNOWN);
	parse("{\"command\":\"status\",}");
	assert_int_equal(r.follows, FOLLOWS_NOTHING);
	ask("status", "\"x\":1");
	assert_int_equal(r.follows, FOLLOWS_NOTHING);
}

/* -- secrets -- */

/* Reads what a sanitizer would not let be read. */
static size_t __attribute__((no_sanitize_address))
count_within(const volatile char *p, const volatile char *end,
    const char *secret, size_t len)
{
	size_t n = 0, i;

	for (; p + len <= end; p++) {
		for (i = 0; i < len && p[i] == secret[i]; i++)
			continue;
		n += i == len;
	}
	return n;
}

/* How often it stands in memory that may be written, but for the stack. */
static size_t
count_copies(const char *secret, size_t len)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	char line[512], access[8];
	unsigned long begin, end;
	size_t n = 0;

	assert_non_null(maps);
	while (fgets(line, sizeof(line), maps) != NULL) {
		assert_int_equal(sscanf(line, "%lx-%lx %7s", &begin, &end,
		    access), 3);
		/* larger ones are the shadows of sanitizers */
		if (strncmp(access, "rw", 2) != 0 || end - begin > 16 << 20 ||
		    strstr(line, "[stack]") != NULL)
			continue;
		n += count_within((char *)begin, (char *)end, secret, len);
	}
	(void)fclose(maps);
	return n;
}

static void
test_secret(void **state)
{
	static const char head[] = "{\"command\":\"auth\",\"args\":"
	    "{\"token\":\"";
	char secret[47], line[128];
	size_t i, len = sizeof(head) - 1;

	(void)state;
	for (i = 0; i < sizeof(secret); i++)
		secret[i] = (char)('A' + i * 7 % 26);
	memcpy(line, head, len);
	memcpy(line + len, secret, sizeof(secret));
	memcpy(line + len + sizeof(secret), "\"}}", 3);
	request_parse(line, len + sizeof(secret) + 3, &r);
	assert_int_equal(r.err, ERR_OK);
	assert_int_equal(r.words.w[1].len, sizeof(secret));
	assert_memory_equal(r.words.w[1].p, secret, sizeof(secret));
	/* the words have it, and nobody else */
	assert_int_equal(count_copies(secret, sizeof(secret)), 1);
	request_wipe(&r);
	assert_int_equal(count_copies(secret, sizeof(secret)), 0);
}

/* -- rows -- */

static void
test_needs(void **state)
{
	(void)state;
	assert_true(param_is_needed(&params_input[0]));
	assert_false(param_is_needed(&params_input[1]));
	assert_false(param_is_needed(&params_input[2]));
	assert_true(param_is_needed(&params_env[2]));
	assert_false(param_is_needed(&params_wait[1]));
	assert_string_equal(param_type(PARAM_ARGV), "array of strings");
}

static int
setup(void **state)
{
	(void)state;
	request_init();
	return 0;
}

/* A debugger's answer must not become more than one JSON value. */
static void
test_answers(void **state)
{
	static const char *const taken[] = { "{}", "{\"a\":[{},[1.5e3,-2]]}",
	    "{\"a\":\"\\u00e9\\n\",\"b\":null}", "{ \"a\" : true }",
	    "{\"n\":123456789012345678901234567890123456789}" };
	static const char nul[] = "{\"text\":\"a\\u0000b\"}";
	static const char *const refused[] = { "", "[]", "1", "\"a\"", " {}",
	    "{}{}", "{}x", "{", "{\"a\":[}", "{\"a\":]}", "{]", "{\"a\":\"",
	    "{\"a\":\"\n\"}", "{\"a\":\"\x1b\"}", "{\"a\":\"\xff\"}",
	    "{\"a\":nul}", "{}}", "{}\n{}",
	    "{\"a\":01}" };
	char deep[300];
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (jsonlex_answer(taken[i], strlen(taken[i])) != NULL ||
		    jsonlex_passed(taken[i], strlen(taken[i])) != NULL)
			fail_msg("refused: %s", taken[i]);
	for (i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		if (jsonlex_answer(refused[i], strlen(refused[i])) == NULL ||
		    jsonlex_passed(refused[i], strlen(refused[i])) == NULL)
			fail_msg("taken: %s", refused[i]);
	/* programs have it in their strings; who is asked has strings */
	assert_null(jsonlex_answer(nul, strlen(nul)));
	assert_non_null(jsonlex_passed(nul, strlen(nul)));
	/* one level too many */
	memset(deep, '[', sizeof(deep));
	memcpy(deep, "{\"a\":", 5);
	assert_non_null(jsonlex_answer(deep, sizeof(deep)));
}

/* -- what is passed on -- */

/* A line that holds this, of which the last word is to be that. */
static void
passes(const char *args, const char *word)
{
	struct word last;

	ask("debugger", args);
	if (r.err != ERR_OK)
		fail_msg("%s: %s", args, r.why);
	last = line_rest(&r.words, r.words.n - 1);
	assert_int_equal(last.len, strlen(word));
	assert_memory_equal(last.p, word, last.len);
}

static void
test_passed_on(void **state)
{
	static const char *const same[] = { "{}", "{\"command\":\"next\"}",
	    "{ \"a\" : [ {\"request\":{}}, 1.5e300 ] }",
	    "{\"s\":\"}{\\\"\\u00e9\"}", "{\"a\":1,\"a\":2}" };
	char args[256];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(same); i++) {
		(void)snprintf(args, sizeof(args), "\"request\":%s", same[i]);
		passes(args, same[i]);
		(void)snprintf(args, sizeof(args), "\"request\" : %s ,"
		    "\"use\":true", same[i]);
		passes(args, same[i]);
	}
	/* one of them, and nowhere else */
	ask("debugger", "\"request\":{},\"request\":{}");
	refused(ERR_INVALID_JSON, "two members");
	ask("debugger", "\"request\":\"request\"");
	refused(ERR_INVALID_ARGUMENT, "request must be an object");
	ask("env", "\"session\":\"x\",\"request\":{\"a\":1}");
	refused(ERR_INVALID_ARGUMENT, "no args.request");
	parse("{\"command\":\"debugger\",\"args\":[\"request\",{\"a\":1}]}");
	refused(ERR_INVALID_ARGUMENT, "args must be an object");
	parse("{\"command\":\"debugger\",\"request\":{\"a\":1}}");
	refused(ERR_INVALID_ARGUMENT, "no member request");
}

static void
test_passed_wrong(void **state)
{
	static const char *const wrong[] = { "{", "{]", "{\"a\":[}", "{}}",
	    "{\"a\":\"\x1b\"}", "{\"a\":\"\xff\"}", "{\"a\":nul}",
	    "{\"a\":\"", "{}{}", "{}1" };
	char args[128];
	size_t i;

	(void)state;
	for (i = 0; i < COUNT(wrong); i++) {
		(void)snprintf(args, sizeof(args), "\"request\":%s", wrong[i]);
		ask("debugger", args);
		refused(ERR_INVALID_JSON, "");
	}
	/* where what comes after it is wrong */
	ask("debugger", "\"request\":{\"abc\":1},}");
	refused(ERR_INVALID_JSON, "at byte 57");
}

/* As many breakpoints as a line has room for. */
static void
test_many_passed(void **state)
{
	static char text[LINE_MAX_BYTES + 1];
	size_t n, i;

	(void)state;
	n = (size_t)snprintf(text, sizeof(text), "{\"command\":\"debugger\","
	    "\"args\":{\"start\":true,\"request\":{\"breaks\":[");
	for (i = 0; i < 300; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s"
		    "{\"file\":\"/home/somebody/src/prog/file%zu.c\","
		    "\"line\":%zu,\"condition\":\"i == %zu\"}",
		    i == 0 ? "" : ",", i, i + 1, i);
	n += (size_t)snprintf(text + n, sizeof(text) - n, "]}}}");
	assert_true(n < LINE_MAX_BYTES);
	request_parse(text, n, &r);
	assert_int_equal(r.err, ERR_OK);
	assert_int_equal(line_rest(&r.words, r.words.n - 1).len, n -
	    (size_t)(strstr(text, "{\"breaks\"") - text) - 2);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_argv),
		cmocka_unit_test(test_argv_too_long),
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_bad_json),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_misused),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_payloads),
		cmocka_unit_test(test_secret),
		cmocka_unit_test(test_needs),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_passed_on),
		cmocka_unit_test(test_passed_wrong),
		cmocka_unit_test(test_many_passed),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
