#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Processors that the tracer does not know: all but what arch.h stands for
# compiles there, and who asks is told.
import glob
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import eq, helper, ok, run_tests, status_of  # noqa: E402
from tracerig import SOURCES, TOP, WORK, build, stop  # noqa: E402
from tracerproc import Tracer  # noqa: E402

# what the headers of its libc are, from libc6-dev-arm64-cross
AARCH64 = ["clang", "--target=aarch64-linux-gnu", "-isystem",
           "/usr/aarch64-linux-gnu/include"]
FLAGS = ["-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wconversion",
         "-Werror", "-I.", "-Icommon"]
# of one processor, and nobody else's
OWN = re.compile(r"tracer/engine/(x86|arch|agent/)")
KNOWS = re.compile(r"x86_64|user_regs|rdtsc|Zydis|gs_base|fs_base|orig_rax|"
                   r"PTRACE_[GS]ETREGS\b|0xcc\b|0xe9\b")
SORRY = "not supported on this processor"


def sources():
    found = sorted(os.path.relpath(p, TOP) for d in ("tracer", "timeline")
                   for p in glob.glob(f"{TOP}/{d}/**/*.[ch]", recursive=True))
    # a program of its own, for the processor that it is made for
    return [p for p in found if "/agent/" not in p]


def compiled(*words):
    return subprocess.run([*words], cwd=TOP, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)


def another_processor():
    every = [p for p in sources() if p.endswith(".c")]
    ok(len(every) > 50, "there are sources", every)
    r = compiled(*AARCH64, *FLAGS, "-fsyntax-only", *every)
    eq((r.returncode, r.stdout.decode()[-2000:]), (0, ""),
       "the tracer compiles for aarch64")
    r = compiled(*AARCH64, *FLAGS, "-c", "-o", WORK + "/none.o",
                 "tracer/engine/arch_none.c")
    out = subprocess.run(["readelf", "-hsW", WORK + "/none.o"], check=True,
                         stdout=subprocess.PIPE).stdout.decode()
    ok(r.returncode == 0 and "AArch64" in out, "as code of it", r)
    with open(TOP + "/tracer/engine/arch.h") as f:
        wanted = set(re.findall(r"\b(arch_\w+)\(", f.read()))
    eq(wanted - set(re.findall(r"FUNC +GLOBAL .* (arch_\w+)$", out, re.M)),
       set(), "with all that arch.h declares")


def nobody_else_knows():
    knows = {}
    for p in sources():
        with open(os.path.join(TOP, p)) as f:
            knows[p] = KNOWS.findall(f.read())
    eq({p: w for p, w in knows.items() if w and not OWN.match(p)}, {},
       "no other file knows of x86-64")
    ok(len(knows["tracer/engine/x86_regs.c"]) > 5, "its own do")


def refused(t, what, /, **args):
    e = t.ask(what, **args).get("error", {})
    ok(e.get("code") == "NOT_SUPPORTED" and SORRY in e.get("message", "") and
       "on a host with such a processor" in e.get("next", ""),
       f"{what}: it is said, and what helps", e)


def who_asks_is_told():
    none = helper("tracer_none")
    program = build("watched.c", "-g", "-O1")
    with Tracer(program=none) as t:
        refused(t, "launch", command=program, args=["2"],
                projectRoot=SOURCES, trace={"add": ["make_point"]})
        eq(t.code("query"), "SESSION_NOT_FOUND", "nothing is left of it")
    p = subprocess.Popen([program, "-1", "5000"], stdout=subprocess.DEVNULL)
    try:
        with Tracer("-p", str(p.pid), program=none) as t:
            refused(t, "attach")
            refused(t, "trace", add=["make_point"])
            eq((status_of(p.pid)["TracerPid"], p.poll()), ("0", None),
               "the program runs on, and nobody traces it")
            eq(t.files(), [], "there is no timeline")
    finally:
        stop(p.pid)
        p.wait()


run_tests(another_processor, nobody_else_knows, who_asks_is_told)
