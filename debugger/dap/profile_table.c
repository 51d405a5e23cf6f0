/* SPDX-License-Identifier: ISC */
/* Facts about each kind of adapter.  The first that fits is taken. */
#include <stddef.h>

#include "gdb_hook.h"
#include "profile.h"

#define NATIVE	(1U << LANG_NATIVE)
#define GO	(1U << LANG_GO)
#define PYTHON	(1U << LANG_PYTHON)

static const struct member lldb_launch[] = {
	{ "program", FROM_PROGRAM, NULL },
	{ "args", FROM_ARGS, NULL },
	{ "cwd", FROM_CWD, NULL },
	{ "env", FROM_ENV_LIST, NULL },
	{ "stopOnEntry", FROM_STOP_ON_ENTRY, NULL },
	{ "initCommands", FROM_START_COMMANDS, NULL },
	{ "enableAutoVariableSummaries", FROM_TRUE, NULL },
	{ NULL, FROM_END, NULL }
};

static const struct member lldb_attach[] = {
	{ "pid", FROM_PID, NULL },
	{ "program", FROM_PROGRAM, NULL },
	{ "stopOnEntry", FROM_STOP_ON_ENTRY, NULL },
	{ "initCommands", FROM_SIGNAL_COMMANDS, NULL },
	{ "attachCommands", FROM_ATTACH_COMMANDS, NULL },
	{ "enableAutoVariableSummaries", FROM_TRUE, NULL },
	{ NULL, FROM_END, NULL }
};

static const struct member delve_launch[] = {
	{ "mode", FROM_TEXT, "exec" },
	{ "program", FROM_PROGRAM, NULL },
	{ "args", FROM_ARGS, NULL },
	{ "cwd", FROM_CWD, NULL },
	{ "env", FROM_ENV_MAP, NULL },
	{ "stopOnEntry", FROM_STOP_ON_ENTRY, NULL },
	{ "hideSystemGoroutines", FROM_TRUE, NULL },
	{ "showRegisters", FROM_TRUE, NULL },
	{ NULL, FROM_END, NULL }
};

static const struct member delve_attach[] = {
	{ "mode", FROM_TEXT, "local" },
	{ "processId", FROM_PID, NULL },
	{ "stopOnEntry", FROM_STOP_ON_ENTRY, NULL },
	{ "hideSystemGoroutines", FROM_TRUE, NULL },
	{ "showRegisters", FROM_TRUE, NULL },
	{ NULL, FROM_END, NULL }
};

/* what a module brings along is not what its author looks for */
static const char python_presentation[] = "{\"special\":\"hide\","
    "\"function\":\"hide\",\"class\":\"hide\"}";

/*
 * In Python: a child of fork has the parent's breakpoints but none of the
 * threads that tell of a stop, and would wait for ever in the first.  So it
 * runs on without the debugger, and without its connection.  For a text in
 * JSON or in Python itself.
 */
#define FORK_HOOK \
	"import os, sys, threading\\n" \
	"def child():\\n" \
	"    tracing = sys.modules.get('pydevd_tracing')\\n" \
	"    if tracing:\\n" \
	"        tracing.restore_sys_set_trace_func()\\n" \
	"    sys.settrace(None)\\n" \
	"    threading.settrace(None)\\n" \
	"    mon = getattr(sys, 'monitoring', None)\\n" \
	"    if mon and mon.get_tool(mon.DEBUGGER_ID):\\n" \
	"        mon.set_events(mon.DEBUGGER_ID, 0)\\n" \
	"        for n in range(16):\\n" \
	"            try:\\n" \
	"                mon.register_callback(mon.DEBUGGER_ID, 1 << n,\\n" \
	"                    None)\\n" \
	"            except ValueError:\\n" \
	"                pass\\n" \
	"    part = sys.modules.get('_pydevd_bundle.pydevd_constants')\\n" \
	"    holder = getattr(part, 'GlobalDebuggerHolder', None)\\n" \
	"    was = getattr(holder, 'global_dbg', None)\\n" \
	"    if was:\\n" \
	"        holder.global_dbg = None\\n" \
	"        for end in (was.reader, was.writer):\\n" \
	"            try:\\n" \
	"                end.sock.close()\\n" \
	"            except Exception:\\n" \
	"                pass\\n" \
	"if hasattr(os, 'register_at_fork'):\\n" \
	"    os.register_at_fork(after_in_child=child)\\n"

/*
 * The program that debugpy starts comes after these, options of Python
 * and a directory with a module: the hook is there before any of it.
 */
static const char python_before[] =
    "[\"-X\",\"frozen_modules=off\",\"-c\",\"" FORK_HOOK
    "while sys.argv[1] == '-X':\\n"
    "    del sys.argv[1:3]\\n"
    "del sys.argv[0]\\n"
    "sys.path[0] = sys.argv[0]\\n"
    "__file__ = os.path.join(sys.argv[0], '__main__.py')\\n"
    "with open(__file__, 'rb') as f:\\n"
    "    code = compile(f.read(), __file__, 'exec')\\n"
    "exec(code, globals())\\n\"]";

static const struct member debugpy_launch[] = {
	{ "program", FROM_PROGRAM, NULL },
	{ "python", FROM_ADAPTER, NULL },
	{ "pythonArgs", FROM_JSON, python_before },
	{ "args", FROM_ARGS, NULL },
	{ "cwd", FROM_CWD, NULL },
	{ "env", FROM_ENV_MAP, NULL },
	{ "stopOnEntry", FROM_STOP_ON_ENTRY, NULL },
	{ "console", FROM_TEXT, "internalConsole" },
	{ "redirectOutput", FROM_FALSE, NULL },
	{ "justMyCode", FROM_FALSE, NULL },
	{ "subProcess", FROM_FALSE, NULL },
	{ "variablePresentation", FROM_JSON, python_presentation },
	{ NULL, FROM_END, NULL }
};

static const struct member debugpy_attach[] = {
	{ "processId", FROM_PID, NULL },
	{ "redirectOutput", FROM_FALSE, NULL },
	{ "justMyCode", FROM_FALSE, NULL },
	{ "subProcess", FROM_FALSE, NULL },
	{ "variablePresentation", FROM_JSON, python_presentation },
	{ NULL, FROM_END, NULL }
};

static const struct member gdb_launch[] = {
	{ "program", FROM_PROGRAM, NULL },
	{ "args", FROM_ARGS, NULL },
	{ "cwd", FROM_CWD, NULL },
	{ "env", FROM_ENV_MAP, NULL },
	{ "stopOnEntry", FROM_STOP_ON_ENTRY, NULL },
	{ NULL, FROM_END, NULL }
};

static const struct member gdb_attach[] = {
	{ "pid", FROM_PID, NULL },
	{ "program", FROM_PROGRAM, NULL },
	{ NULL, FROM_END, NULL }
};

static const struct member codelldb_launch[] = {
	{ "program", FROM_PROGRAM, NULL },
	{ "args", FROM_ARGS, NULL },
	{ "cwd", FROM_CWD, NULL },
	{ "env", FROM_ENV_MAP, NULL },
	{ "stopOnEntry", FROM_STOP_ON_ENTRY, NULL },
	{ "terminal", FROM_TEXT, "console" },
	{ "stdio", FROM_STDIO_PATHS, NULL },
	{ "initCommands", FROM_SIGNAL_COMMANDS, NULL },
	{ NULL, FROM_END, NULL }
};

static const struct member codelldb_attach[] = {
	{ "pid", FROM_PID, NULL },
	{ "program", FROM_PROGRAM, NULL },
	{ "stopOnEntry", FROM_STOP_ON_ENTRY, NULL },
	{ "initCommands", FROM_SIGNAL_COMMANDS, NULL },
	{ NULL, FROM_END, NULL }
};

/*
 * debugpy gives the program /dev/null when it is spoken to by pipes; what it
 * starts the program with is therefore told where the program's files are.
 * The wrapper waits for the injector, because debugpy would wait 15 seconds
 * for the program even after a failure, or say only that the session is over.
 * Versions from 1.8 on would wait 30 seconds, longer than any request may last,
 * for the end of a program that they are to leave alone.
 */
static const char debugpy_wrapper[] =
    "import io, os, runpy, subprocess, sys\n"
    "start, inject = subprocess.Popen, sys.argv[1:]\n"
    "del sys.argv[1:]\n"
    "def popen(*args, **kw):\n"
    "    if '--pid' not in args[0] or not inject:\n"
    "        if 'launcher' in str(args[0]):\n"
    "            kw.update(stdin=3, stdout=4, stderr=5)\n"
    "        return start(*args, **kw)\n"
    "    p = start([sys.executable, '-c', *inject, *args[0][1:]], **kw)\n"
    "    said = p.communicate()[0]\n"
    "    p.stdout = io.BytesIO(said)\n"
    "    if p.returncode:\n"
    "        os.write(2, said[-2048:])\n"
    "        os._exit(1)\n"
    "    return p\n"
    "subprocess.Popen = popen\n"
    "limit = 'DEBUGPY_PROCESS_EXIT_TIMEOUT'\n"
    "os.environ[limit] = '5'\n"
    "import debugpy.common\n"
    "del os.environ[limit]\n"
    "runpy.run_module('debugpy.adapter', None, '__main__', True)\n";

/*
 * Arguments: the injector's path and debugpy's own command, which runs gdb
 * with two calls for the program to make, the second with Python code.  lldb
 * gives a call up when the program forks in it, as this code does, so the code
 * gets a thread; as a function, because debugpy takes a thread that runs a
 * module for the main thread.  gdb fails without saying so: the second result
 * tells.
 *
 * A debugger that is killed during a call leaves the program at a breakpoint
 * that nobody handles.  lldb gives up by itself after 10 seconds; both undo the
 * call when they are interrupted.
 */
static const char debugpy_inject[] =
    "import os, re, shlex, signal, subprocess, sys\n"
    "tool = sys.argv[1]\n"
    "def fail(why):\n"
    "    print(tool, why)\n"
    "    sys.exit(1)\n"
    "def late(*args):\n"
    "    fail('could not load debugpy into the program in time')\n"
    "hook = \"\"\"" FORK_HOOK "\"\"\"\n"
    "def executed(code):\n"
    "    return '\"exec(bytes(%s), {})\"' % list(code.encode())\n"
    /* it has no option for that: children would wait for an editor */
    "alone = 'sys.path.insert(0, os.path.dirname(os.path.dirname(script_dir)))'\n"
    "alone += ';import debugpy;del sys.path[0]'\n"
    "alone += ';debugpy.configure(subProcess=False);'\n"
    "begin = 'attach_pid_injected.attach('\n"
    "def own(code):\n"
    "    return code[0][1:-1].replace(begin, alone + begin)\n"
    "def at_once(code):\n"
    "    return executed(hook + own(code))\n"
    "def in_thread(code):\n"
    "    code = 'import _thread\\ndef attach(): ' + own(code)\n"
    "    code += '\\n_thread.start_new_thread(attach, ())\\n'\n"
    "    return executed(hook + code)\n"
    "def check_call(command, **kw):\n"
    "    words = [tool] + shlex.split(command)[1:]\n"
    "    calls = [w.partition('call ')[2] for w in words if '=call ' in w]\n"
    "    if os.path.basename(tool).startswith('lldb'):\n"
    "        pid = words[words.index('--pid') + 1]\n"
    "        words = [tool, '--no-lldbinit', '--batch', '-p', pid]\n"
    "        for call in calls:\n"
    "            call = re.sub('\"import (.*)\"', in_thread, call)\n"
    "            words += ['-o', 'expression -t 10000000 -- ' + call]\n"
    "    else:\n"
    "        words = [re.sub('\"import (.*)\"', at_once, w)\n"
    "            for w in words]\n"
    "        words[1:1] = ['-iex', 'set unwindonsignal on']\n"
    "    p = subprocess.Popen(words, stdin=subprocess.DEVNULL,\n"
    "        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,\n"
    "        env=kw.get('env'))\n"
    "    try:\n"
    "        signal.alarm(25)\n"
    "        said = p.stdout.read(1 << 20).decode(errors='replace').strip()\n"
    "        signal.alarm(0)\n"
    "    finally:\n"
    "        p.send_signal(signal.SIGINT)\n"
    "        try:\n"
    "            p.communicate(timeout=3)\n"
    "        except subprocess.TimeoutExpired:\n"
    "            p.kill()\n"
    "    if re.findall(r'\\$\\d+ = (.*)', said)[1:] != ['0']:\n"
    "        lines = said.splitlines() or ['no output']\n"
    "        lines = [x for x in lines if 'error' in x] or lines[-1:]\n"
    "        fail('cannot load debugpy into the program: ' + lines[0])\n"
    "subprocess.check_call = check_call\n"
    "signal.signal(signal.SIGALRM, late)\n"
    "sys.argv[:2] = []\n"
    "sys.path[0] = os.path.dirname(sys.argv[0])\n"
    "from debugpy.server import cli\n"
    "cli.main()\n";

static const char *const no_args[] = { NULL };
static const char *const delve_args[] = { "dap", "--client-addr", NULL };
static const char *const debugpy_args[] = { "-c", debugpy_wrapper, NULL };
/* its program's files would be a pipe of its own and /dev/null */
static const char gdb_files[] =
    "set exec-wrapper sh -c 'exec \"$0\" \"$@\" <&3 >&4 2>&5'";
static const char *const gdb_args[] = { "-q", "-nx", "-iex", gdb_files, "-iex",
	gdb_hook, "-i", "dap", NULL };

static const char *const delve_version[] = { "version", NULL };
static const char *const debugpy_version[] = { "-m", "debugpy", "--version",
	NULL };

static const char *const llvm_dirs[] = { "/usr/lib/llvm-*/bin/lldb-dap", NULL };
static const char *const go_dirs[] = { "~/go/bin/dlv", NULL };
static const char *const python_dirs[] = { "/usr/bin/python3", NULL };
static const char *const vscode_dirs[] = {
	"~/.vscode/extensions/vadimcn.vscode-lldb-*/adapter/codelldb",
	"~/.local/share/*/adapters/codelldb/adapter/codelldb", NULL
};

const struct profile profiles[] = {
	{
		.name = "lldb-dap", .adapter_id = "lldb-dap",
		.binary = "lldb-dap", .args = no_args, .elsewhere = llvm_dirs,
		.install = "apt-get install lldb-19 (any version from 18 on)",
		.launch = lldb_launch, .attach = lldb_attach,
		.languages = NATIVE | GO,
		.quirks = Q_LLDB_COMMANDS | Q_SIGNAL_IS_CODE,
		.main = "main", .exit_words = "exited with status = ",
		.dialect = {
			.suffix_paths = true, .hit_format = "",
			/* its repl takes short names for commands: `b` is one */
			.command_prefix = "`", .print_context = "watch",
			.eval_context = "watch", .lldb_commands = true,
			.expression_prefix = "", .assigns = true,
			.watches = true, .throw_filter = "cpp_throw",
			.panic_function = "rust_panic",
		},
	}, {
		.name = "delve", .aka = "dlv", .adapter_id = "go",
		.binary = "dlv", .args = delve_args, .elsewhere = go_dirs,
		.version_args = delve_version,
		.install = "apt-get install delve",
		.launch = delve_launch, .attach = delve_attach,
		.languages = GO, .quirks = Q_DIALS,
		.main = "main.main", .exit_words = "has exited with status ",
		.dialect = {
			.sources_command = "dlv sources ",
			.hit_format = ">= ", .command_prefix = "dlv ",
			.marks_logs = true,
			.print_context = "watch", .eval_context = "repl",
			.params_by_source = true, .sets_innermost = true,
			.call_word = "call ",
			.panic_function = "runtime.gopanic", .panic_value = "e",
		},
	}, {
		.name = "debugpy", .aka = "python", .adapter_id = "debugpy",
		.binary = "python3", .args = debugpy_args,
		.elsewhere = python_dirs,
		.witness = "lib/python3*/{dist,site}-packages/debugpy/adapter",
		.version_args = debugpy_version,
		.install = "apt-get install python3-debugpy",
		.launch = debugpy_launch, .attach = debugpy_attach,
		.inject = debugpy_inject,
		.languages = PYTHON, .quirks = Q_NEEDS_INTERPRETER,
		.no_exception = ": SystemExit",
		.dialect = {
			.hit_format = ">= ",
			.print_context = "watch", .eval_context = "repl",
			.params_by_source = true, .assigns = true,
			.statements = true, .sets_innermost = true,
			.throw_filter = "raised", .panic_filter = "uncaught",
		},
	}, {
		.name = "codelldb", .adapter_id = "lldb",
		.binary = "codelldb", .args = no_args, .elsewhere = vscode_dirs,
		.install = "unpack the extension vadimcn.vscode-lldb, "
		    "1.11 or later",
		.launch = codelldb_launch, .attach = codelldb_attach,
		.languages = NATIVE,
		.quirks = Q_LLDB_COMMANDS | Q_SIGNAL_IS_CODE,
		.main = "main", .exit_words = "exited with status = ",
		.dialect = {
			.suffix_paths = true, .hit_format = ">= ",
			.command_prefix = "`", .print_context = "watch",
			.eval_context = "watch", .lldb_commands = true,
			.expression_prefix = "/nat ", .assigns = true,
			.watches = true, .throw_filter = "cpp_throw",
			.panic_function = "rust_panic",
		},
	}, {
		.name = "gdb", .adapter_id = "gdb",
		.binary = "gdb", .args = gdb_args,
		.witness = "share/gdb/python/gdb/dap/__init__.py",
		.install = "gdb 14 or later with Python; Debian 12 has 13",
		.launch = gdb_launch, .attach = gdb_attach,
		.languages = NATIVE,
		.quirks = Q_LAUNCH_LAST | Q_PAUSES_ALL | Q_CHOSEN_LAST,
		.main = "main",
		.dialect = {
			.suffix_paths = true, .counts_anew = true,
			.loses_conditions = true,
			.hit_format = "", .flat_registers = true,
			.any_thread = true,
			.thrown_command = "python dl_thrown()",
			.set_function = "dl_set",
			.command_prefix = "", .print_context = "watch",
			.eval_context = "watch", .assigns = true,
			.watches = true,
			.throw_filter = "throw", .panic_function = "rust_panic",
		},
	}, {
		.name = NULL
	}
};
