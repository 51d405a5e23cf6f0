# SPDX-License-Identifier: ISC
# Programs of which values are compared, and what gdb says about them: shared
# by the parts `values` and `calls`.
import glob
import json
import os
import re
import subprocess
import tarfile
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
TARBALL = "/usr/src/gcc-12/gcc-12.2.0-dfsg.tar.xz"
TESTS = re.compile(r"/gcc/testsuite/(gcc\.c-torture/execute/[^/]*\.c"
                   r"|g\+\+\.(old-deja|dg)/.*\.C)$")
LEVELS = ("-O0", "-O2")
LIMIT = 90
# arguments that C++ compilers add
OWN = ("__in_chrg", "__vtt_parm")
# one value at an address, not one for each statement that has become nothing
FLAGS = ("-w -g -no-pie -ftrivial-auto-var-init=pattern "
         "-gno-variable-location-views -gno-statement-frontiers").split()
COMPILERS = {".c": ["gcc"], ".C": ["g++", "-std=gnu++17"],
             ".rs": ["/usr/bin/rustc", "--crate-name", "field", "-g", "-A",
                     "warnings", "-C", "relocation-model=static"],
             ".go": ["go", "build"]}
GO_LEVELS = {"-O0": ["-gcflags=-N -l"], "-O2": []}
GO_TESTS = max(glob.glob("/usr/share/go-*/test"), default="/nonexistent")
POISON = r"""
#include <string.h>
#include <stdlib.h>
__attribute__((constructor, noinline)) static void dl_poison(void)
{
	char room[65536];
	const char *c = getenv("DL_POISON");
	memset(room, c != NULL ? c[0] : 0, sizeof room);
	__asm__ volatile("" : : "r"(room) : "memory");
}
/* for programs that are linked with --wrap=main */
extern int __real_main(int, char **, char **) __attribute__((weak));
int __wrap_main(int argc, char **argv, char **envp)
{
	dl_poison();
	return __real_main(argc, argv, envp);
}
"""


def tests(work, sample, words=(".c", ".C")):
    """{name: source}: the corpus, and unless it is a sample gcc's tests."""
    found = {os.path.basename(p): p for p in glob.glob(HERE + "/corpus/*")
             if p.endswith(words)}
    if sample or not os.path.exists(TARBALL):
        return found
    with tarfile.open(TARBALL) as tar:
        for m in tar:
            if not TESTS.search(m.name):
                continue
            text = tar.extractfile(m).read()
            if m.name.endswith(".C") and b"dg-do run" not in text:
                continue
            # some names are in several directories
            name = "-".join(m.name.split("/")[-2:])
            found[name] = os.path.join(work, "src-" + name)
            with open(found[name], "wb") as f:
                f.write(text)
    return {**found, **strangers(words)}


def strangers(words):
    """{name: source}: Go's and rustc's own tests that are programs"""
    found = {}
    for word, top, wanted in ((".go", GO_TESTS, r"// run\n"),
                              (".rs", rust_tests(words), r"// *run-pass\b")):
        paths = glob.glob(top + "/**/*" + word, recursive=True)
        for path in paths if word in words else ():
            with open(path, errors="replace") as f:
                text = f.read()
            if re.search("^" + wanted, text, re.M):
                name = os.path.relpath(path, top).replace("/", "-")
                found[name] = path
    return found


def rust_tests(words):
    """Where the tests of Debian's rustc are; they are kept."""
    if ".rs" not in words:
        return "/nonexistent"
    kept = "/var/cache" if os.geteuid() == 0 else os.path.expanduser("~/.cache")
    top = os.path.join(kept, "debuglantern-tests", "rustc-ui")
    if not os.path.isdir(top):
        os.makedirs(os.path.dirname(top), exist_ok=True)
        with tempfile.TemporaryDirectory(dir=os.path.dirname(top)) as work:
            if subprocess.run([HERE + "/../debsource.sh", "rustc", work],
                              capture_output=True).returncode == 0:
                os.rename(work + "/src/test/ui", top)
    return top


def prepare(work):
    """What every program is linked with."""
    with open(work + "/poison.c", "w") as f:
        f.write(POISON)
    subprocess.run(["gcc", "-O0", "-c", "-o", work + "/poison.o",
                    work + "/poison.c"], check=True)


def command(path, level, work, text):
    """How it is compiled."""
    suffix = os.path.splitext(path)[1]
    if suffix == ".rs":
        edition = re.search(r"^// *edition: *(\d+)", text, re.M)
        return [*COMPILERS[suffix], "-C", "opt-level=" + level[-1],
                "--edition", edition[1] if edition else
                "2021" if "/corpus/" in path else "2015", path]
    if suffix == ".go":
        return [*COMPILERS[suffix], *GO_LEVELS[level], path]
    return [*COMPILERS[suffix], *FLAGS, level, path, work + "/poison.o", "-lm"]


def compiled(name, path, level, work, more=()):
    """(program, its text); None: it is none for this compiler."""
    out = os.path.join(work, name.replace(".", "_") + level)
    with open(path, errors="replace") as f:
        text = f.read()
    # its own directives say what it needs
    if re.search(r"dg-(require|skip|error)|^// *(aux-build|compile-flags|"
                 r"ignore-(test|linux|x86))|^import \"C\"", text, re.M):
        return None
    args = command(path, level, work, text)
    # the output goes before Go's file, and Rust's tests use what is unstable
    p = subprocess.run([*args[:-1], "-o", out, args[-1]]
                       if args[-1] == path else [*args, "-o", out, *more],
                       capture_output=True, cwd=work, env={
                           "GO111MODULE": "off", "RUSTC_BOOTSTRAP": "1",
                           "HOME": work, "GOCACHE": work + "/go-cache",
                           **os.environ})
    return (out, text) if p.returncode == 0 else None


def symbols(program, *flags):
    """[(address, name)] of its functions"""
    p = subprocess.run(["nm", "--defined-only", *flags, program],
                       capture_output=True, text=True, check=True)
    return [(int(a, 16), n) for a, n in
            re.findall(r"^(\S+) [tTwW] (.*)$", p.stdout, re.M)]


# --- gdb ------------------------------------------------------------------
DUMP = r"""
import gdb, json, os, re

def text_at(v):
    try:
        m = gdb.selected_inferior()
        out = b""
        while len(out) < 1024 and b"\0" not in out:
            out += bytes(m.read_memory(int(v) + len(out), 1))
        return out.split(b"\0")[0].decode("utf-8", "backslashreplace")
    except gdb.error:
        return None

def dump(v, depth=0):
    try:
        if v.is_optimized_out:
            return "?"
        t = v.type.strip_typedefs()
        c = t.code
        if c in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
            return ["ref", int(v.address or 0), dump(v.referenced_value(), depth)]
        if c in (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_CHAR):
            if t.sizeof > 8:
                # gdb's int() has 64 bits
                n = int(v.format_string(format="d"))
                return ["int", n if t.is_signed else n % 2 ** (8 * t.sizeof)]
            return ["int", int(v)]
        if c == gdb.TYPE_CODE_BOOL:
            return ["int", int(v)]
        if c == gdb.TYPE_CODE_ENUM:
            return ["enum", str(v), int(v)]
        if c == gdb.TYPE_CODE_FLT:
            return ["float", float(v), t.sizeof]
        if c == gdb.TYPE_CODE_COMPLEX:
            return ["complex", str(v)]
        if c == gdb.TYPE_CODE_PTR:
            to = t.target().strip_typedefs()
            text = to.sizeof == 1 and to.code == gdb.TYPE_CODE_INT
            return ["ptr", int(v), text_at(v) if text and int(v) else None]
        if depth > 3:
            return None
        if c in (gdb.TYPE_CODE_STRUCT, gdb.TYPE_CODE_UNION):
            out = {f.name: dump(v[f], depth + 1) for f in t.fields()
                   if f.name and not f.is_base_class and hasattr(f, "bitpos")}
            if c == gdb.TYPE_CODE_UNION:
                out["a union"] = None
            return out
        if c == gdb.TYPE_CODE_ARRAY and "vector" not in str(t):
            lo, hi = t.range()
            most = 99 if t.target().sizeof == 1 else 9
            return {"[%d]" % i: dump(v[i], depth + 1)
                    for i in range(lo, min(hi, lo + most) + 1)}
    except (gdb.error, OverflowError, ValueError):
        return "?"
    return None

gdb.execute("set pagination off")
gdb.execute("set confirm off")
gdb.execute("set print frame-arguments none")
gdb.execute("set startup-with-shell off")
gdb.execute("set breakpoint pending off")
"""


def by_gdb(program, script, poison, **more):
    """What the script prints behind DLSTOP."""
    env = {"PATH": os.environ["PATH"], "DL_POISON": poison,
           "DL_SHIFT": poison * (1 if poison == "a" else 3000), **more}
    p = subprocess.run(["/usr/bin/gdb", "-q", "-nx", "-batch", "-x", script,
                        program], env=env, capture_output=True, text=True,
                       errors="replace", timeout=LIMIT,
                       stdin=subprocess.DEVNULL)
    if "Traceback" in p.stderr:
        raise RuntimeError(p.stderr)
    return [json.loads(line[7:]) for line in p.stdout.splitlines()
            if line.startswith("DLSTOP ")]
