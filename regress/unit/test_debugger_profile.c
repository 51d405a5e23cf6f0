/* SPDX-License-Identifier: ISC */
/* links: debugger/dap/profile.c debugger/dap/injector.c debugger/text/copy.c debugger/dap/profile_table.c debugger/text/json_make.c debugger/text/json_size.c debugger/text/clean.c */
/* debugger: which adapter, where it is, and what it is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <json-c/json.h>

#include <elf.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "confine/xstate.h"
#include "debugger/dap/injector.h"
#include "debugger/dap/profile.h"

#include "test_tmp.h"

static char	root[96];

static int
remove_one(const char *path, const struct stat *st, int flag, struct FTW *f)
{
	(void)st;
	(void)flag;
	(void)f;
	return remove(path);
}

static int
set_up(void **state)
{
	(void)state;
	return tmp_dir(root, sizeof(root), "dl-test-profile-XXXXXX");
}

static int
tear_down(void **state)
{
	(void)state;
	(void)nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
	return 0;
}

/* A file below root, with the directories that lead to it. */
static const char *
put(const char *name, const void *data, size_t len, mode_t mode)
{
	static char path[256];
	char *slash;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", root, name);
	for (slash = path + strlen(root) + 1;
	    (slash = strchr(slash, '/')) != NULL; slash++) {
		*slash = '\0';
		(void)mkdir(path, 0755);
		*slash = '/';
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
	assert_int_not_equal(fd, -1);
	assert_int_equal(write(fd, data, len), len);
	close(fd);
	return path;
}

static enum language
language(const char *path)
{
	enum language lang = LANG_COUNT;
	const char *why = "";

	if (profile_language(path, &lang, &why) == -1) {
		assert_true(why == NULL || *why != '\0');
		return LANG_COUNT;
	}
	return lang;
}

/* An ELF whose only section is the names of sections. */
static const char *
elf(const char *names, size_t len)
{
	struct {
		Elf64_Ehdr eh;
		Elf64_Shdr sh;
		char names[64];
	} file = { 0 };

	memcpy(file.eh.e_ident, ELFMAG, SELFMAG);
	file.eh.e_ident[EI_CLASS] = ELFCLASS64;
	file.eh.e_shoff = offsetof(__typeof__(file), sh);
	file.eh.e_shentsize = sizeof(file.sh);
	file.eh.e_shnum = 1;
	file.sh.sh_name = 1;
	file.sh.sh_offset = offsetof(__typeof__(file), names);
	file.sh.sh_size = len;
	memcpy(file.names, names, len);
	return put("elf", &file, sizeof(file), 0755);
}

static void
what_a_program_is(void **state)
{
	Elf64_Ehdr eh = { 0 };

	(void)state;
	assert_int_equal(language("/proc/self/exe"), LANG_NATIVE);
	assert_int_equal(language(elf("\0.text", 7)), LANG_NATIVE);
	assert_int_equal(language(elf("\0.go.buildinfo", 15)), LANG_GO);
	assert_int_equal(language(elf("\0.note.go.buildid", 18)), LANG_GO);
	assert_int_equal(language(put("a.py", "x", 1, 0644)), LANG_PYTHON);
	assert_int_equal(language(put("tool", "#!/usr/bin/env python3\n", 23,
	    0755)), LANG_PYTHON);
	assert_int_equal(language(put("sh", "#!/bin/sh\npython", 16, 0755)),
	    LANG_COUNT);
	assert_int_equal(language(put("empty", "", 0, 0755)), LANG_COUNT);
	assert_int_equal(language(root), LANG_COUNT);
	assert_int_equal(language("/nonexistent"), LANG_COUNT);
	/* a header that lies about its sections */
	memcpy(eh.e_ident, ELFMAG, SELFMAG);
	eh.e_ident[EI_CLASS] = ELFCLASS64;
	eh.e_shoff = UINT64_MAX - 3;
	eh.e_shentsize = sizeof(Elf64_Shdr);
	eh.e_shnum = 9;
	eh.e_shstrndx = 8;
	assert_int_equal(language(put("liar", &eh, sizeof(eh), 0755)),
	    LANG_NATIVE);
}

static void
preferences(void **state)
{
	(void)state;
	assert_string_equal(profile_for(LANG_NATIVE, 0)->name, "codelldb");
	assert_string_equal(profile_for(LANG_NATIVE, 1)->name, "lldb-dap");
	/* it cannot watch memory */
	assert_string_equal(profile_for(LANG_NATIVE, 2)->name, "gdb");
	assert_string_equal(profile_for(LANG_GO, 0)->name, "delve");
	assert_string_equal(profile_for(LANG_GO, 1)->name, "lldb-dap");
	assert_null(profile_for(LANG_GO, 2));
	assert_string_equal(profile_for(LANG_PYTHON, 0)->name, "debugpy");
	assert_null(profile_for(LANG_PYTHON, 1));
	assert_ptr_equal(profile_find("dlv"), profile_find("delve"));
	assert_null(profile_find("nothing"));
}

static void
where_it_is(void **state)
{
	const struct profile *lldb = profile_find("lldb-dap"),
	    *gdb = profile_find("gdb");
	struct adapter_found f;
	struct profile alone = *lldb;
	char path[512], want[256];

	(void)state;
	alone.elsewhere = NULL;
	(void)snprintf(path, sizeof(path), "relative:%s/none::%s/bin", root,
	    root);
	assert_false(profile_locate(&alone, path, "/", &f));
	(void)put("bin/lldb-dap-9", "x", 1, 0755);
	(void)put("bin/lldb-dap-19", "x", 1, 0755);
	(void)put("bin/lldb-dap-22", "x", 1, 0644);
	(void)put("bin/lldb-dap-mine", "x", 1, 0755);
	assert_true(profile_locate(&alone, path, "/", &f));
	(void)snprintf(want, sizeof(want), "%s/bin/lldb-dap-19", root);
	assert_string_equal(f.path, want);
	/* a directory is not a pattern of others */
	(void)snprintf(path, sizeof(path), "%s/[b]in:%s/?in:%s/{bin}", root,
	    root, root);
	assert_false(profile_locate(&alone, path, "/", &f));
	(void)put("[b]in/lldb-dap-3", "x", 1, 0755);
	assert_true(profile_locate(&alone, path, "/", &f));
	(void)snprintf(want, sizeof(want), "%s/[b]in/lldb-dap-3", root);
	assert_string_equal(f.path, want);
	(void)snprintf(path, sizeof(path), "%s/bin", root);
	/* its own name is what somebody chose */
	(void)put("bin/lldb-dap", "x", 1, 0755);
	assert_true(profile_locate(&alone, path, "/", &f));
	assert_string_equal(strrchr(f.path, '/'), "/lldb-dap");
	/* without its Python files a gdb is none */
	(void)put("bin/gdb", "x", 1, 0755);
	assert_false(profile_locate(gdb, path, "/", &f));
	(void)put("share/gdb/python/gdb/dap/__init__.py", "", 0, 0644);
	assert_true(profile_locate(gdb, path, "/", &f));
}

#define AVX512	2696
#define AMX	11008

/* lldb works on every processor; old gdb crashes the program on some. */
static void
python_is_attached_by_what_can_write_registers(void **state)
{
	struct adapter_found f;
	const char *why = "";
	char path[256];

	(void)state;
	/* legacy area and header, if this processor has any */
	assert_true(xstate_size() == 0 || xstate_size() >= 576);
	(void)snprintf(path, sizeof(path), "%s/bin", root);
	(void)put("bin/none", "x", 1, 0755);
	assert_false(injector_find(path, AVX512, &f, &why));
	assert_non_null(strstr(why, "neither is installed: apt-get install"));
	(void)put("bin/gdb", "x", 1, 0755);
	assert_true(injector_find(path, 0, &f, &why));
	assert_true(injector_find(path, AVX512, &f, &why));
	assert_string_equal(strrchr(f.path, '/'), "/gdb");
	assert_false(injector_find(path, AMX, &f, &why));
	assert_non_null(strstr(why, "gdb before 14"));
	assert_non_null(strstr(why, "apt-get install lldb-19"));
	/* what gdb 14 brings along */
	(void)put("share/gdb/python/gdb/dap/__init__.py", "", 0, 0644);
	assert_true(injector_find(path, AMX, &f, &why));
	assert_string_equal(strrchr(f.path, '/'), "/gdb");
	(void)put("bin/lldb-19", "x", 1, 0755);
	assert_true(injector_find(path, AVX512, &f, &why));
	assert_string_equal(strrchr(f.path, '/'), "/lldb-19");
}

/* base is what Debian has: debugpy is among the packages of that Python. */
static void
virtual_environments(void **state)
{
	struct profile alone = *profile_find("debugpy");
	struct adapter_found f;
	char base[256], own[256], path[512];

	(void)state;
	alone.elsewhere = NULL;
	(void)put("lib/python3/dist-packages/debugpy/adapter/x", "", 0, 0644);
	(void)snprintf(base, sizeof(base), "%s", put("bin/python3", "x", 1,
	    0755));
	(void)put("own/bin/pip", "x", 1, 0755);
	(void)snprintf(own, sizeof(own), "%s/own/bin/python3", root);
	assert_int_equal(symlink(base, own), 0);
	(void)snprintf(path, sizeof(path), "%s/own/bin:%s/bin", root, root);
	assert_true(profile_locate(&alone, path, "/", &f));
	assert_string_equal(f.path, own);
	/* it has no debugpy, and does not look for that of the base */
	(void)put("own/pyvenv.cfg", "home = /\n"
	    "include-system-site-packages = false\n", 46, 0644);
	assert_true(profile_locate(&alone, path, "/", &f));
	assert_string_equal(f.path, base);
	(void)put("own/pyvenv.cfg", "include-system-site-packages = true\n",
	    36, 0644);
	assert_true(profile_locate(&alone, path, "/", &f));
	assert_string_equal(f.path, own);
}

static void
below_home(void **state)
{
	const struct profile *p = profile_find("codelldb");
	struct adapter_found f;
	char home[256];

	(void)state;
	assert_false(profile_locate(p, "", root, &f));
	(void)put(".vscode/extensions/vadimcn.vscode-lldb-1.9.0/adapter/"
	    "codelldb", "x", 1, 0755);
	(void)put(".vscode/extensions/vadimcn.vscode-lldb-1.11.0/adapter/"
	    "codelldb", "x", 1, 0755);
	assert_true(profile_locate(p, "", root, &f));
	assert_non_null(strstr(f.path, "1.11.0"));
	(void)snprintf(home, sizeof(home), "%.*s?", (int)strlen(root) - 1,
	    root);
	assert_false(profile_locate(p, "", home, &f));
}

static const char *
text_at(struct json_object *o, const char *name)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, name, &v));
	return json_object_to_json_string_ext(v, JSON_C_TO_STRING_PLAIN |
	    JSON_C_TO_STRING_NOSLASHESCAPE);
}

static void
what_it_is_told(void **state)
{
	struct launch_facts facts = {
		.program = "/bin/x", .cwd = "/tmp", .adapter_path = "/py",
		.stop_on_entry = true, .pid = 5, .adapter_pid = 12,
		.file = "",
	};
	struct json_object *o;
	const struct profile *p;

	(void)state;
	facts.env = json_tokener_parse("[\"A=1\",\"B=x=y\",\"bad\"]");
	facts.args = json_tokener_parse("[\"one\"]");
	o = profile_arguments(profile_find("lldb-dap")->launch, &facts);
	assert_string_equal(text_at(o, "env"), "[\"A=1\",\"B=x=y\",\"bad\"]");
	assert_non_null(strstr(text_at(o, "initCommands"),
	    "target.output-path /proc/12/fd/4"));
	assert_non_null(strstr(text_at(o, "initCommands"), "SIGURG"));
	json_object_put(o);
	o = profile_arguments(profile_find("codelldb")->launch, &facts);
	assert_string_equal(text_at(o, "stdio"), "[\"/proc/12/fd/3\","
	    "\"/proc/12/fd/4\",\"/proc/12/fd/5\"]");
	json_object_put(o);
	o = profile_arguments(profile_find("gdb")->launch, &facts);
	assert_string_equal(text_at(o, "env"), "{\"A\":\"1\",\"B\":\"x=y\"}");
	json_object_put(o);
	o = profile_arguments(profile_find("delve")->launch, &facts);
	assert_string_equal(text_at(o, "env"), "{\"A\":\"1\",\"B\":\"x=y\"}");
	assert_string_equal(text_at(o, "args"), "[\"one\"]");
	json_object_put(o);
	json_object_put(facts.args);
	json_object_put(facts.env);
	facts.args = facts.env = NULL;
	facts.cwd = "";
	o = profile_arguments(profile_find("gdb")->launch, &facts);
	/* {} would be no environment at all */
	assert_false(json_object_object_get_ex(o, "env", NULL));
	json_object_put(o);
	o = profile_arguments(profile_find("debugpy")->launch, &facts);
	assert_string_equal(text_at(o, "args"), "[]");
	assert_string_equal(text_at(o, "python"), "\"/py\"");
	assert_string_equal(text_at(o, "redirectOutput"), "false");
	assert_false(json_object_object_get_ex(o, "cwd", NULL));
	json_object_put(o);
	for (p = profiles; p->name != NULL; p++) {
		o = profile_arguments(p->attach, &facts);
		assert_non_null(strstr(json_object_to_json_string_ext(o,
		    JSON_C_TO_STRING_PLAIN), "d\":5"));
		json_object_put(o);
		assert_non_null(p->install);
		assert_false(profile_never(p, "threads"));
	}
}

/* lldb would look for symbols in the file that the process executes. */
static void
symbols_from_elsewhere(void **state)
{
	struct launch_facts facts = { .program = "/bin/x", .file = "/bin/x",
	    .pid = 5 };
	const struct member *attach = profile_find("lldb-dap")->attach;
	struct json_object *o = profile_arguments(attach, &facts);

	(void)state;
	assert_false(json_object_object_get_ex(o, "attachCommands", NULL));
	json_object_put(o);
	facts.file = "/a b/\"c\\`";
	o = profile_arguments(attach, &facts);
	assert_string_equal(text_at(o, "attachCommands"), "[\"target create "
	    "--remote-file \\\"/a b/\\\\\\\"c\\\\\\\\\\\\`\\\" \\\"/bin/x\\\"\","
	    "\"process attach --pid 5\"]");
	json_object_put(o);
	facts.program = "";
	o = profile_arguments(attach, &facts);
	assert_false(json_object_object_get_ex(o, "attachCommands", NULL));
	json_object_put(o);
}

#define T(f)	cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(what_a_program_is),
		T(preferences),
		T(where_it_is),
		T(python_is_attached_by_what_can_write_registers),
		T(virtual_environments),
		T(below_home),
		T(what_it_is_told),
		T(symbols_from_elsewhere),
	};

	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
