/* SPDX-License-Identifier: ISC */
/*
 * The grammar of debuglantern.conf and its lexer. All state of one parse is
 * in struct parser, which ends with it; a file with errors is read to its
 * end, so that they are all seen at once.
 */
%define api.pure full
%define api.prefix {confyy}
%define parse.error simple
/* A key is not set before what follows its value has been seen. */
%define lr.default-reduction consistent
%expect 0
%param { struct parser *p }

%code requires {
#include <stddef.h>

struct parser;

/* Values of one statement, joined by commas; text is owned. */
struct value_list {
	char	*text;
	size_t	 n;
};
}

%code {
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "conf_table.h"

#define MAX_FILE	(1024 * 1024)
#define MAX_TOKEN	4096	/* a path of PATH_MAX fits */
#define MAX_MACROS	256
#define MAX_MACRO_NAME	63

struct macro {
	struct macro	*next;
	char		*name;
	char		*value;
	int		 line;
};

struct parser {
	struct conf	*conf;
	const char	*name;		/* borrowed, for messages */
	conf_error_fn	 fn;
	void		*arg;
	int		 errors;
	int		 complained;	/* statement of the last error */

	char		*text;		/* the whole file */
	size_t		 len;
	size_t		 pos;
	int		 line;		/* of pos */
	int		 statement;	/* line where the statement began */
	bool		 at_start;	/* of a statement */
	bool		 expanded;	/* the token holds a macro's value */
	bool		 assigning;	/* a "=" was seen in the statement */
	char		 first[MAX_TOKEN];	/* word of the statement */
	char		 token[MAX_TOKEN];
	size_t		 token_len;

	struct macro	*macros;
	int		 nmacros;
	struct conf_listen listen;	/* the statement being read */
	struct conf_quota quota;	/* likewise */
};

static int	 confyylex(CONFYYSTYPE *, struct parser *);
static void	 confyyerror(struct parser *, const char *);
static void	 conf_report(struct parser *, int, const char *, ...)
		    __attribute__((format(printf, 3, 4)));
static void	 set_scalar(struct parser *, const char *,
		    const struct value_list *);
static void	 set_prefixed(struct parser *, const char *, const char *,
		    const struct value_list *);
static void	 define_macro(struct parser *, const char *, const char *);
static void	 listen_begin(struct parser *, char *);
static void	 listen_port(struct parser *, const char *);
static void	 listen_user(struct parser *, char *);
static void	 listen_flag(struct parser *, bool *, const char *);
static void	 listen_end(struct parser *);
static void	 quota_begin(struct parser *, enum conf_quota_kind, char *);
static void	 quota_limit(struct parser *, const char *, const char *);
static void	 quota_end(struct parser *);
static void	 join(struct parser *, struct value_list *,
		    struct value_list, const char *);
static void	 adapter(struct parser *, char *, char *);
}

%union {
	char			*string;
	struct value_list	 values;
}

%token <string> WORD QUOTED
%token <string> LISTEN "listen" QUOTA "quota" WEB "web" ADAPTER "adapter"
%token <string> WEB_LISTEN "listen of the web"
/* A word that begins the names of several keys. */
%token <string> PREFIX
%token <string> ON "on" PORT "port" AUTH "auth" NONE "none" AS "as"
%token <string> PLAIN "plain" TLS "tls" COMMAND "command"
%token <string> DEFAULT "default" USER "user" GROUP "group"
%type <string> word value
%type <values> values

%destructor { free($$); } <string>
%destructor { free($$.text); } <values>

%%

grammar		: %empty
		| grammar '\n'
		| grammar statement '\n'
		| grammar error '\n'		{ yyerrok; }
		;

statement	: word '=' value {
			define_macro(p, $word, $value);
			free($word);
			free($value);
		}
		| word values {
			set_scalar(p, $word, &$values);
			free($word);
			free($values.text);
		}
		| PREFIX word values {
			set_prefixed(p, $PREFIX, $word, &$values);
			free($PREFIX);
			free($word);
			free($values.text);
		}
		| WEB WORD[word] values {
			set_prefixed(p, $WEB, $word, &$values);
			free($WEB);
			free($word);
			free($values.text);
		}
		| listen_head listen_options	{ listen_end(p); }
		| quota_head quota_limits	{ quota_end(p); }
		| ADAPTER value[name] COMMAND value[command] {
			adapter(p, $name, $command);
			free($ADAPTER);
			free($COMMAND);
		}
		;

listen_head	: LISTEN ON value {
			listen_begin(p, $value);
			free($LISTEN);
			free($ON);
		}
		| WEB WEB_LISTEN ON value {
			listen_begin(p, $value);
			p->listen.web = true;
			free($WEB);
			free($WEB_LISTEN);
			free($ON);
		}
		;

listen_options	: %empty
		| listen_options PORT value {
			listen_port(p, $value);
			free($PORT);
			free($value);
		}
		| listen_options AUTH NONE AS value {
			listen_user(p, $value);
			free($AUTH);
			free($NONE);
			free($AS);
		}
		| listen_options PLAIN {
			listen_flag(p, &p->listen.plain, $PLAIN);
			free($PLAIN);
		}
		| listen_options TLS {
			listen_flag(p, &p->listen.tls, $TLS);
			free($TLS);
		}
		;

quota_head	: QUOTA DEFAULT {
			quota_begin(p, CONF_QUOTA_DEFAULT, NULL);
			free($QUOTA);
			free($DEFAULT);
		}
		| QUOTA USER value {
			quota_begin(p, CONF_QUOTA_USER, $value);
			free($QUOTA);
			free($USER);
		}
		| QUOTA GROUP value {
			quota_begin(p, CONF_QUOTA_GROUP, $value);
			free($QUOTA);
			free($GROUP);
		}
		;

quota_limits	: quota_limit
		| quota_limits quota_limit
		;

quota_limit	: word value {
			quota_limit(p, $word, $value);
			free($word);
			free($value);
		}
		;

values		: value	{
			$$.text = $value;
			$$.n = 1;
		}
		| values[list] comma value {
			join(p, &$$, $list, $value);
			free($value);
		}
		;

comma		: %empty
		| ','
		;

value		: word
		| QUOTED
		;

/* Words are keywords only where the grammar wants them. */
word		: WORD | ON | PORT | AUTH | NONE | AS | PLAIN | TLS
		| DEFAULT | USER | GROUP | WEB_LISTEN | COMMAND
		;

%%

static void
conf_report(struct parser *p, int line, const char *fmt, ...)
{
	char	text[500], message[4700];
	va_list	ap;

	/* Errors that follow one in the same statement mostly repeat it. */
	if (p->errors >= CONF_MAX_ERRORS || p->complained == p->statement)
		return;
	p->errors++;
	p->complained = p->statement;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	snprintf(message, sizeof(message), "%s:%d: %s", p->name, line, text);
	p->fn(p->arg, message);
}

/* Statements */

static void
set_key(struct parser *p, const struct conf_key *k,
    const struct value_list *values)
{
	char	err[400], want[200];

	if (values->n > 1 && k->type != CONF_SET && k->type != CONF_NAMES) {
		conf_type_describe(k, want, sizeof(want));
		conf_report(p, p->statement, "%s takes one value, %s; a value with "
		    "blanks needs quotes", k->name, want);
	} else if (values->n > CONF_MAX_NAMES)
		conf_report(p, p->statement, "%s has more than %d values",
		    k->name, CONF_MAX_NAMES);
	else if (conf_key_set(p->conf, k, values->text, p->statement, err,
	    sizeof(err)) == -1)
		conf_report(p, p->statement, "%s", err);
}

static void
set_scalar(struct parser *p, const char *name,
    const struct value_list *values)
{
	const struct conf_key	*k;
	char			 err[400];

	if ((k = conf_key_find(name)) != NULL) {
		set_key(p, k, values);
		return;
	}
	conf_key_unknown(name, err, sizeof(err));
	conf_report(p, p->statement, "%s", err);
}

static void
set_prefixed(struct parser *p, const char *prefix, const char *word,
    const struct value_list *values)
{
	char	name[MAX_TOKEN + 8];

	snprintf(name, sizeof(name), "%s %s", prefix, word);
	set_scalar(p, name, values);
}

/* Takes list, gives *out. */
static void
join(struct parser *p, struct value_list *out, struct value_list list,
    const char *value)
{
	char	*text;

	*out = list;
	if (++out->n > CONF_MAX_NAMES)
		return;		/* too many for any key: set_key() says so */
	if (asprintf(&text, "%s,%s", list.text, value) == -1) {
		conf_report(p, p->statement, "out of memory");
		return;
	}
	free(list.text);
	out->text = text;
}

static void
listen_begin(struct parser *p, char *addr)
{
	conf_listen_clear(&p->listen);
	p->listen.addr = addr;
	p->listen.line = p->statement;
}

static void
listen_port(struct parser *p, const char *value)
{
	uint64_t	port;
	char		quoted[80];

	conf_quote(value, quoted);
	if (p->listen.port != 0)
		conf_report(p, p->statement, "listen has more than one port");
	else if (conf_parse_number(value, 1, UINT16_MAX, &port) == -1)
		conf_report(p, p->statement, "port must be a number from 1 to "
		    "65535, not %s", quoted);
	else
		p->listen.port = (uint16_t)port;
}

static void
listen_user(struct parser *p, char *user)
{
	if (p->listen.user != NULL) {
		conf_report(p, p->statement, "listen has more than one auth");
		free(user);
		return;
	}
	p->listen.user = user;
}

static void
listen_flag(struct parser *p, bool *flag, const char *word)
{
	if (*flag)
		conf_report(p, p->statement, "listen has more than one %s", word);
	*flag = true;
}

static void
listen_end(struct parser *p)
{
	char	err[400];

	if (conf_listen_add(p->conf, &p->listen, err, sizeof(err)) == -1)
		conf_report(p, p->statement, "%s", err);
}

static void
quota_begin(struct parser *p, enum conf_quota_kind kind, char *name)
{
	conf_quota_clear(&p->quota);
	p->quota.kind = kind;
	p->quota.name = name;
	p->quota.line = p->statement;
}

static void
quota_limit(struct parser *p, const char *resource, const char *value)
{
	char	err[400];

	if (conf_quota_set(&p->quota, resource, value, err,
	    sizeof(err)) == -1)
		conf_report(p, p->statement, "%s", err);
}

static void
quota_end(struct parser *p)
{
	char	err[400];

	if (conf_quota_add(p->conf, &p->quota, err, sizeof(err)) == -1)
		conf_report(p, p->statement, "%s", err);
}

/* Takes both. */
static void
adapter(struct parser *p, char *name, char *command)
{
	struct conf_adapter	a = { name, command, p->statement };
	char			err[400];

	if (conf_adapter_add(p->conf, &a, err, sizeof(err)) == -1)
		conf_report(p, p->statement, "%s", err);
}

/* Macros */

static struct macro *
find_macro(struct parser *p, const char *name)
{
	struct macro	*m;

	for (m = p->macros; m != NULL; m = m->next) {
		if (strcmp(m->name, name) == 0)
			break;
	}
	return m;
}

static bool
macro_char(int c)
{
	return c < 0x80 && (isalnum(c) || c == '_');
}

static bool
macro_name_valid(const char *name)
{
	const unsigned char	*s = (const unsigned char *)name;

	while (macro_char(*s))
		s++;
	return *s == '\0' && strlen(name) <= MAX_MACRO_NAME;
}

static void
add_macro(struct parser *p, const char *name, const char *value)
{
	struct macro	*m;

	if ((m = calloc(1, sizeof(*m))) == NULL)
		goto fail;
	m->name = strdup(name);
	m->value = strdup(value);
	m->line = p->statement;
	if (m->name == NULL || m->value == NULL)
		goto fail;
	m->next = p->macros;
	p->macros = m;
	p->nmacros++;
	return;
 fail:
	conf_report(p, p->statement, "out of memory");
	if (m != NULL) {
		free(m->name);
		free(m->value);
	}
	free(m);
}

/* Most people's first try is "port = 4444", which must not pass in silence. */
static void
define_macro(struct parser *p, const char *name, const char *value)
{
	const struct macro	*m = find_macro(p, name);
	char			 quoted[80];

	conf_quote(name, quoted);
	if (conf_key_find(name) != NULL)
		conf_report(p, p->statement, "%s is a key, not a macro: write it "
		    "without \"=\"", quoted);
	else if (!macro_name_valid(name))
		conf_report(p, p->statement, "a macro's name must be of letters, "
		    "digits and \"_\", at most %d, not %s", MAX_MACRO_NAME,
		    quoted);
	else if (m != NULL)
		conf_report(p, p->statement, "macro %s is already defined in line "
		    "%d", quoted, m->line);
	else if (p->nmacros == MAX_MACROS)
		conf_report(p, p->statement, "more than %d macros", MAX_MACROS);
	else
		add_macro(p, name, value);
}

static void
free_macros(struct parser *p)
{
	struct macro	*m;

	while ((m = p->macros) != NULL) {
		p->macros = m->next;
		free(m->name);
		free(m->value);
		free(m);
	}
}

/* Syntax errors: said in terms of the statement, not of the grammar */

static const struct form {
	const char	*first;
	const char	*form;
} forms[] = {
	{ "listen", "listen must be: listen on ADDRESS [port NUMBER] "
	    "[auth none as USER] [tls|plain]" },
	{ "limit", "limit must be followed by a resource (cpu, as, nofile, "
	    "nproc, core, memory or pids) and a value" },
	{ "tls", "tls must be followed by certificate, key or client-ca and "
	    "a path" },
	{ "web", "web must be: web listen on ADDRESS [port NUMBER] "
	    "[auth none as USER] [tls|plain], or web host NAME" },
	{ "timeout", "timeout must be followed by dap-initialize, dap-request "
	    "or await and a number of seconds" },
	{ "debugger", "debugger must be followed by idle, output-events or "
	    "output-bytes and a value" },
	{ "tracer", "tracer must be followed by idle, budget, "
	    "timeline-calls, timeline-output or user-timeline and a value" },
	{ "adapter", "adapter must be: adapter NAME command \"PROGRAM "
	    "ARGUMENTS\"" },
	{ "allow", "allow must be followed by user or group and a name" },
	{ "deny", "deny must be followed by user or group and a name" },
	{ "admin", "admin must be followed by user or group and a name" },
	{ "quota", "quota must be: quota default|user NAME|group NAME "
	    "[sessions NUMBER] [bytes SIZE] [cpu SECONDS] [memory SIZE] "
	    "[processes NUMBER], with one of these at least" },
};

static const char *
form_of(const char *first)
{
	size_t	i;

	for (i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		if (strcmp(forms[i].first, first) == 0)
			return forms[i].form;
	}
	return NULL;
}

static void
report_unexpected(struct parser *p)
{
	const struct conf_key	*k = conf_key_find(p->first);
	char			 text[400], quoted[80];

	conf_quote(p->first, quoted);
	if (p->assigning && p->first[0] != '\0')
		conf_report(p, p->statement, "a macro is defined by NAME = "
		    "\"VALUE\", with one value");
	else if (form_of(p->first) != NULL)
		conf_report(p, p->statement, "%s", form_of(p->first));
	else if (k != NULL) {
		conf_type_describe(k, text, sizeof(text));
		conf_report(p, p->statement, "%s must be followed by its value, "
		    "%s", k->name, text);
	} else if (p->first[0] == '\0')
		conf_report(p, p->statement, "a statement must begin with a key "
		    "or the name of a macro");
	else {
		conf_key_unknown(p->first, text, sizeof(text));
		conf_report(p, p->statement, "%s", text);
	}
}

static void
confyyerror(struct parser *p, const char *text)
{
	if (strcmp(text, "syntax error") == 0)
		report_unexpected(p);
	else
		conf_report(p, p->line, "%s", text);
}

/* Lexer */

static int
peek(const struct parser *p, size_t ahead)
{
	if (p->pos + ahead >= p->len)
		return EOF;
	return (unsigned char)p->text[p->pos + ahead];
}

/* Length of the line end at pos + ahead; 0: there is none. */
static size_t
conf_line_end(const struct parser *p, size_t ahead)
{
	if (peek(p, ahead) == '\n')
		return 1;
	return peek(p, ahead) == '\r' && peek(p, ahead + 1) == '\n' ? 2 : 0;
}

static bool
skip_continuation(struct parser *p)
{
	size_t	n;

	if (peek(p, 0) != '\\' || (n = conf_line_end(p, 1)) == 0)
		return false;
	p->pos += 1 + n;
	p->line++;
	return true;
}

static void
skip_comment(struct parser *p)
{
	while (peek(p, 0) != EOF && conf_line_end(p, 0) == 0)
		p->pos++;
}

static void
skip_blanks(struct parser *p)
{
	for (;;) {
		if (peek(p, 0) == ' ' || peek(p, 0) == '\t')
			p->pos++;
		else if (peek(p, 0) == '#')
			skip_comment(p);
		else if (!skip_continuation(p))
			return;
	}
}

/* Adds to the token; what is too long is cut, and finish() reports it. */
static void
put(struct parser *p, int c)
{
	if (p->token_len < sizeof(p->token) - 1)
		p->token[p->token_len] = (char)c;
	p->token_len++;
}

/*
 * The value goes into the token as it is and is not read again: no macro can
 * expand for ever, or turn into another statement. -1: an error was reported.
 */
static int
lex_macro(struct parser *p)
{
	char			 name[MAX_MACRO_NAME + 2];
	const struct macro	*m;
	const char		*s;
	size_t			 n = 0;

	p->pos++;
	while (macro_char(peek(p, 0)) && n < sizeof(name) - 1)
		name[n++] = p->text[p->pos++];
	name[n] = '\0';
	if (n == 0) {
		conf_report(p, p->line, "\"$\" must be followed by the name of a "
		    "macro; put a plain \"$\" into quotes");
		return -1;
	}
	if ((m = find_macro(p, name)) == NULL) {
		conf_report(p, p->line, "macro \"%s\" is not defined: write %s = "
		    "\"VALUE\" in a line above", name, name);
		return -1;
	}
	for (s = m->value; *s != '\0'; s++)
		put(p, *s);
	p->expanded = true;
	return 0;
}

static bool
word_char(int c)
{
	return c > ' ' && c != 0x7f && strchr("#\"'=,{}\\", c) == NULL;
}

static int
lex_bad_char(struct parser *p)
{
	int	c = peek(p, 0);

	p->pos++;
	if (c == '\\')
		conf_report(p, p->line, "a backslash must be the last character "
		    "of its line, or stand in quotes");
	else if (c > ' ' && c < 0x7f)
		conf_report(p, p->line, "\"%c\" must stand in quotes", c);
	else
		conf_report(p, p->line, "byte 0x%02x must not be in the file, "
		    "which is text", (unsigned int)c);
	return -1;
}

static int
lex_word(struct parser *p)
{
	if (!word_char(peek(p, 0)))
		return lex_bad_char(p);
	while (word_char(peek(p, 0))) {
		if (peek(p, 0) != '$')
			put(p, p->text[p->pos++]);
		else if (lex_macro(p) == -1)
			return -1;
	}
	return 0;
}

/* A character inside quotes. */
static int
lex_quoted_char(struct parser *p)
{
	int	c = peek(p, 0), next = peek(p, 1);

	if (skip_continuation(p))
		return 0;
	if (c == EOF || conf_line_end(p, 0) != 0) {
		conf_report(p, p->line, "the closing quote is missing in this "
		    "line");
		return -1;
	}
	if (c < ' ' || c == 0x7f)
		return lex_bad_char(p);
	if (c == '\\') {
		if (next != '"' && next != '\'' && next != '\\') {
			conf_report(p, p->line, "a backslash in quotes must be "
			    "followed by a quote or a backslash");
			p->pos++;
			return -1;
		}
		p->pos++;
	}
	put(p, p->text[p->pos++]);
	return 0;
}

static int
lex_quoted(struct parser *p)
{
	int	quote = peek(p, 0);

	p->pos++;
	while (peek(p, 0) != quote) {
		if (lex_quoted_char(p) == -1)
			return -1;
	}
	p->pos++;
	p->expanded = true;	/* never a keyword, as with macros */
	return 0;
}

static int
keyword(const struct parser *p)
{
	static const struct {
		const char	*name;
		int		 token;
		bool		 first;	/* begins a statement */
	} keywords[] = {
		{ "adapter",	ADAPTER, true },
		{ "admin",	PREFIX,	true },
		{ "allow",	PREFIX,	true },
		{ "debugger",	PREFIX,	true },
		{ "deny",	PREFIX,	true },
		{ "limit",	PREFIX,	true },
		{ "listen",	LISTEN,	true },
		{ "quota",	QUOTA,	true },
		{ "timeout",	PREFIX,	true },
		{ "tls",	PREFIX,	true },
		{ "tracer",	PREFIX,	true },
		{ "web",	WEB,	true },
		{ "as",		AS,	false },
		{ "auth",	AUTH,	false },
		{ "command",	COMMAND, false },
		{ "default",	DEFAULT, false },
		{ "group",	GROUP,	false },
		{ "listen",	WEB_LISTEN, false },
		{ "none",	NONE,	false },
		{ "on",		ON,	false },
		{ "plain",	PLAIN,	false },
		{ "port",	PORT,	false },
		{ "tls",	TLS,	false },
		{ "user",	USER,	false },
	};
	size_t	i;

	for (i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		if (strcmp(keywords[i].name, p->token) == 0 &&
		    (p->at_start || !keywords[i].first))
			return keywords[i].token;
	}
	return WORD;
}

/* Ends a token and gives it to the grammar, which frees it. */
static int
finish(struct parser *p, CONFYYSTYPE *yylval)
{
	int	token;

	if (p->token_len >= sizeof(p->token)) {
		conf_report(p, p->line, "a value must be at most %d bytes long",
		    MAX_TOKEN - 1);
		return -1;
	}
	p->token[p->token_len] = '\0';
	token = p->expanded ? QUOTED : keyword(p);
	if (p->at_start && !p->expanded)
		memcpy(p->first, p->token, p->token_len + 1);
	if ((yylval->string = strdup(p->token)) == NULL) {
		conf_report(p, p->line, "out of memory");
		return -1;
	}
	return token;
}

static void
begin_token(struct parser *p)
{
	p->token_len = 0;
	p->expanded = false;
	if (!p->at_start)
		return;
	p->statement = p->line;
	p->assigning = false;
	p->first[0] = '\0';
}

static int
lex_string(struct parser *p, CONFYYSTYPE *yylval)
{
	int	c = peek(p, 0), token = -1;

	begin_token(p);
	if ((c == '"' || c == '\'' ? lex_quoted(p) : lex_word(p)) == 0)
		token = finish(p, yylval);
	p->at_start = false;
	/* It has been reported; the grammar just skips to the next line. */
	return token == -1 ? CONFYYerror : token;
}

static int
confyylex(CONFYYSTYPE *yylval, struct parser *p)
{
	size_t	n;
	int	c;

	if (p->errors >= CONF_MAX_ERRORS)
		return CONFYYEOF;
	skip_blanks(p);
	c = peek(p, 0);
	if (c == EOF) {
		/* The last line may lack its newline. */
		if (p->at_start)
			return CONFYYEOF;
		p->at_start = true;
		return '\n';
	}
	if ((n = conf_line_end(p, 0)) != 0) {
		p->pos += n;
		p->line++;
		p->at_start = true;
		return '\n';
	}
	if (c != '=' && c != ',')
		return lex_string(p, yylval);
	begin_token(p);
	if (c == '=')
		p->assigning = true;
	p->at_start = false;
	p->pos++;
	return c;
}

/* The file */

/*
 * All of it at once: what is parsed is then one state of the file, and its
 * size is known to be sane.
 */
static int
slurp(struct parser *p, FILE *f)
{
	if ((p->text = malloc(MAX_FILE + 1)) == NULL) {
		conf_report(p, 1, "out of memory");
		return -1;
	}
	p->len = fread(p->text, 1, MAX_FILE + 1, f);
	if (ferror(f)) {
		conf_report(p, 1, "cannot be read: %s", strerror(errno));
		return -1;
	}
	if (p->len > MAX_FILE) {
		conf_report(p, 1, "the file must not be larger than 1M");
		return -1;
	}
	return 0;
}

static int
parser_run(struct parser *p, FILE *f)
{
	char	*name;

	if ((name = strdup(p->name)) == NULL) {
		conf_report(p, 1, "out of memory");
		return -1;
	}
	free(p->conf->name);
	p->conf->name = name;
	if (slurp(p, f) == -1)
		return -1;
	if (confyyparse(p) != 0 && p->errors == 0)
		conf_report(p, p->line, "out of memory");
	return p->errors == 0 ? 0 : -1;
}

int
conf_parse(struct conf *c, const char *name, FILE *f, conf_error_fn fn,
    void *arg)
{
	struct parser	*p;
	int		 ret;

	/* Too large for the stack: it holds two tokens of a path's length. */
	if ((p = calloc(1, sizeof(*p))) == NULL) {
		fn(arg, "configuration: out of memory");
		return -1;
	}
	p->conf = c;
	p->name = name;
	p->fn = fn;
	p->arg = arg;
	p->line = 1;
	p->complained = -1;
	p->at_start = true;
	ret = parser_run(p, f);
	conf_listen_clear(&p->listen);
	conf_quota_clear(&p->quota);
	free_macros(p);
	free(p->text);
	free(p);
	return ret;
}
