/* SPDX-License-Identifier: ISC */
/* links: setup/conf/conf_adapter.c setup/conf/conf_check.c setup/conf/conf_listen.c setup/conf/conf_pack.c setup/conf/conf_print.c setup/conf/conf_quota.c setup/conf/conf_table.c setup/conf/conf_type.c setup/conf/conf_value.c conf.tab.c common/base/utf8.c */
/* covers: setup/conf/conf_*.c */
/*
 * Fuzz target of the configuration: no file may break the parser, and what
 * it accepts must survive being printed and parsed again.
 */

#include "regress/fuzz/fuzz.h"

#include "setup/conf/conf.h"

static void
on_error(void *arg, const char *text)
{
	int	*errors = arg;

	/* A message is one non-empty line, and they are few. */
	if (text[0] == '\0' || strchr(text, '\n') != NULL ||
	    ++*errors > CONF_MAX_ERRORS)
		abort();
}

/* Returns NULL when the text was refused. */
static struct conf *
parse(const void *text, size_t len)
{
	struct conf	*c;
	FILE		*f;
	int		 errors = 0, ret;

	c = conf_default(true, 0);
	f = fmemopen((void *)(uintptr_t)text, len, "r");
	if (c == NULL || f == NULL)
		abort();
	ret = conf_parse(c, "fuzz", f, on_error, &errors);
	fclose(f);
	if ((ret == -1) != (errors > 0))
		abort();
	if (ret == 0)
		return c;
	conf_free(c);
	return NULL;
}

static struct conf *
reparse(const struct conf *c)
{
	struct conf	*again;
	char		*text = NULL;
	size_t		 len = 0;
	FILE		*f;

	if ((f = open_memstream(&text, &len)) == NULL)
		abort();
	conf_print(c, f);
	if (fclose(f) != 0)
		abort();
	again = parse(text, len);
	free(text);
	return again;
}

/* The same on the command line: each line is a key and its value. */
static void
set_each(const uint8_t *data, size_t len)
{
	char *text = copy_of(data, len, true), *rest = text, *line, *key;
	struct conf *c = conf_default(true, 0);
	char err[1024];

	must(c != NULL);
	while ((line = strsep(&rest, "\n")) != NULL) {
		key = strsep(&line, " ");
		err[0] = '\0';
		if (conf_set(c, key, line == NULL ? "" : line, err,
		    sizeof(err)) == -1)
			must(err[0] != '\0');
	}
	conf_free(c);
	free(text);
}

/* A configuration that is accepted may draw warnings; it names the daemon. */
static void
look_at(struct conf *c)
{
	struct conf *usual = conf_default(true, 0);
	char name[64];
	int errors = 0;

	must(usual != NULL && conf_equal(c, usual) == conf_equal(usual, c));
	conf_free(usual);
	must(conf_warn(c, on_error, &errors) == errors);
	conf_service_name(c, "host.example.org", name);
	must(strlen(name) < sizeof(name));
}

/* The way of a configuration from the process that reads it to setup. */
static void
send_over(const struct conf *c)
{
	struct conf *again;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	must(f != NULL);
	conf_pack(c, f);
	must(fclose(f) == 0);
	again = conf_unpack(text, len, true, 0);
	must(again != NULL && conf_equal(c, again));
	conf_free(again);
	free(text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct conf	*c, *again;
	int		 errors = 0;

	set_each(data, len);
	/* what a process that was taken over may send */
	conf_free(conf_unpack((const char *)data, len, true, 0));
	if ((c = parse(data, len)) == NULL)
		return 0;
	look_at(c);
	send_over(c);
	again = reparse(c);
	if (again == NULL || !conf_equal(c, again))
		abort();
	conf_free(again);
	errors = 0;
	if (conf_check(c, on_error, &errors) == 0) {
		again = reparse(c);
		if (again == NULL || !conf_equal(c, again))
			abort();
		conf_free(again);
	}
	conf_free(c);
	return 0;
}
