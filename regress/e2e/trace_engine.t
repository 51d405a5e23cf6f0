#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The tracer's engine on real programs, compiled here: what they say is what
# they say without it, and what they do is what it has seen.
import ctypes
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (AS_ROOT, eq, in_modes, ok, read_proc, run_tests,
                session_processes, status_of, tap, wait_for)
from tracerig import (SOON, SOURCES, WORK, Trace, build, number, plain, stop,
                      stripped, values)

CLOCK_NANOSLEEP = b"230 "
CALLS = ("probe 1 fact enter=r5:4 leave=r0:4",
         "probe 2 floats enter=x0,x1:4,r5 leave=x0",
         "probe 3 make_big enter=r5,r4 leave=r0,m0+24:8",
         "probe 4 make_pair leave=r0,x0",
         "probe 5 many enter=r5,r9,k8,k16 leave=r0",
         "probe 6 variadic enter=r5:4,r0:1 leave=x0",
         "probe 7 text enter=s5:8,s5 leave=r0",
         "probe 8 second enter=r5:4 leave=r0:4",
         "probe 9 first enter=r5:4 leave=r0:4",
         "probe 10 same enter=r5:4",
         "probe 11 by_pointer",
         "probe 12 compare enter=m5+0:4,m4+0:4 leave=r0:4",
         "probe 13 main enter=r5:4,p4+0",
         "probe 14 registers leave=r0")


def balanced(t, name):
    """Each call of it has one end, and no end has no call."""
    ids = [e["id"] for e in t.events
           if e["ev"] == "enter" and e.get("name") == name]
    ends = [e["id"] for e in t.events
            if e["ev"] == "exit" and e.get("name") == name]
    return sorted(ids) == sorted(ends) and len(set(ids)) == len(ids)


def ordered(t):
    """Times of a thread never go back, and parents come first."""
    last, seen = {}, set()
    for e in t.events:
        if "fn" not in e or e["ev"] not in ("enter", "exit"):
            continue
        if e["ts"] < last.get(e["tid"], 0):
            return False
        last[e["tid"]] = e["ts"]
        if e["ev"] == "enter":
            seen.add((e["pid"], e["id"]))
            if e["parent"] and (e["pid"], e["parent"]) not in seen:
                return False
    return True


def out_of_order(t):
    """The first record of a thread that does not fit its stack of calls."""
    stacks = {}
    for e in t.events:
        if "fn" not in e or e["ev"] not in ("enter", "exit"):
            continue
        stack = stacks.setdefault(e["tid"], [(0, None)])
        names = [name for _, name in stack[1:]]
        if e["ev"] == "enter":
            if e["parent"] != stack[-1][0]:
                return f"{e['name']} is not called by the last of {names}"
            stack.append((e["id"], e["name"]))
        elif e["id"] != stack.pop()[0]:
            how = "is unwound" if e["flags"] & 2 else "returns"
            return f"{e['name']} {how}, open are {names}"
    left = [stack[1:] for stack in stacks.values() if len(stack) > 1]
    return f"without an end: {left}" if left else ""


def trace_calls(program, why, optimized):
    want = plain(program)
    with Trace(program) as t:
        results = [t.ask(line, "probe") for line in CALLS]
        bad = [r for r in results if not r["ok"]]
        eq(bad, [], f"{why}: all can be traced")
        t.go()
        e = t.end()
        t.close()
        eq(e and e["status"], 0, f"{why}: it ends as it should")
        eq(t.output(), want, f"{why}: it says what it always says")
        eq([values(e)[0] for e in t.calls("fact")], [5, 4, 3, 2, 1],
           f"{why}: arguments of recursive calls")
        eq([values(e)[0] for e in t.calls("fact", "exit")],
           [1, 2, 6, 24, 120], f"{why}: their results")
        c = t.calls("floats")[0]["cap"]
        eq((struct.unpack("d", bytes.fromhex(c[0]["hex"]))[0],
            struct.unpack("f", bytes.fromhex(c[1]["hex"]))[0],
            number(c[2])), (1.5, 2.25, 3), f"{why}: floating point")
        eq(values(t.calls("make_big")[0])[1], 10,
           f"{why}: arguments behind a hidden pointer")
        eq(values(t.calls("make_big", "exit")[0])[1], 13,
           f"{why}: a structure that is returned in memory")
        c = t.calls("make_pair", "exit")[0]["cap"]
        eq((number(c[0]), struct.unpack("d", bytes.fromhex(c[1]["hex"]))[0]),
           (9, 4.5), f"{why}: one that is returned in registers")
        eq(values(t.calls("many")[0]), [1, 6, 7, 8],
           f"{why}: arguments on the stack")
        eq(values(t.calls("many", "exit")[0]), [204], f"{why}: and the sum")
        eq(values(t.calls("variadic")[0])[0], 4, f"{why}: varargs")
        texts = [[(c["st"], bytes.fromhex(c["hex"])) for c in e["cap"]]
                 for e in t.calls("text")]
        eq(sorted(texts), sorted(
            [[(2, b"sixteen "), (0, b"sixteen bytes or")]] +
            [[(1, b""), (1, b"")]] * 4), f"{why}: strings, good and bad")
        eq([values(e)[0] for e in t.calls("second", "exit")], [21],
           f"{why}: a function that was jumped to")
        eq([values(e)[0] for e in t.calls("first", "exit")], [21],
           f"{why}: one that jumps")
        ok(len(t.calls("same")) >= 3, f"{why}: a function shorter than a jump")
        ok(len(t.calls("compare")) >= 2, f"{why}: one that a library calls")
        eq(values(t.calls("registers", "exit")[0]),
           [int(want.split()[-1])],
           f"{why}: no register and no flag is disturbed")
        cap = t.calls("main")[0]["cap"]
        eq(bytes.fromhex(cap[1]["hex"]).decode(), program,
           f"{why}: a string behind a pointer")
        for name in ("fact", "make_big", "second", "first", "main"):
            ok(balanced(t, name), f"{why}: every call of {name} ends")
        ok(ordered(t), f"{why}: in order")
        main = t.calls("main")[0]["id"]
        eq(t.calls("fact")[0]["parent"], main, f"{why}: who called")
        inner = t.calls("second")[0]["parent"]
        eq(inner, t.calls("first")[0]["id"], f"{why}: who called deeper")


def c_dynamic():
    trace_calls(build("calls.c", "-O2"), "gcc -O2", True)
    trace_calls(build("calls.c", "-O0"), "gcc -O0", False)


def c_other_kinds():
    for flags in (("-O2", "-no-pie", "-fno-pie"), ("-O2", "-static"),
                  ("-O2", "-static-pie"), ("-Os", "-fcf-protection=full"),
                  ("-O3", "-fomit-frame-pointer", "-fipa-ra"),
                  ("-O1", "-fstack-protector-all",
                   "-fstack-clash-protection")):
        trace_calls(build("calls.c", *flags), " ".join(flags), True)
    trace_calls(build("calls.c", "-O2", compiler="clang",
                      name="calls_clang"), "clang -O2", True)


def without_symbols():
    for flags in (("-O2",), ("-O2", "-static", "-no-pie")):
        full = build("calls.c", *flags)
        nm = subprocess.run(["nm", full], check=True,
                            stdout=subprocess.PIPE).stdout.decode()
        addr = re.search(r"^0*([0-9a-f]+) [tT] fact$", nm, re.M).group(1)
        where = "0x" + addr if "-static" in flags else "+0x" + addr
        p = stripped(full)
        with Trace(p) as t:
            r = t.probe(1, where, "enter=r5:4", "leave=r0:4")
            ok(r["ok"], "by an address alone", r)
            t.go()
            eq(t.end()["status"], 0, "it ends")
            t.close()
            eq(t.output(), plain(p), "it says what it always says")
            eq([values(e)[0] for e in t.calls(where, "exit")],
               [1, 2, 6, 24, 120], "results by an address alone")


def exceptions():
    for flags in (("-O2",), ("-O0",), ("-O2", "-static"),
                  ("-O2", "-static-libgcc", "-static-libstdc++")):
        p = build("throw.cc", *flags)
        why = "C++ " + " ".join(flags)
        want = plain(p)
        with Trace(p) as t:
            for i, f in enumerate(("deep", "through", "catcher", "rethrower",
                                   "main", "_ZN5guardD1Ev",
                                   "_ZN5guardD2Ev")):
                t.probe(i + 1, f, "enter=r5:4", "leave=r0:4")
            t.probe(20, "length", "enter=l5+0+8*1")
            t.go()
            e = t.end()
            t.close()
            eq(e and e["status"], 0, f"{why}: it ends")
            eq(t.output(), want, f"{why}: it says what it always says")
            for f in ("through", "catcher", "rethrower", "main"):
                ok(balanced(t, f), f"{why}: each call of {f} ends")
            eq([values(e)[0] for e in t.calls("catcher", "exit")],
               [-(i % 5) for i in range(20)],
               f"{why}: what catches returns, and is seen to")
            ends = t.calls("through", "exit")
            ok(ends and all(e["flags"] & 2 for e in ends),
               f"{why}: what is thrown through is said to be")
            ok(len(t.calls("deep")) > 100, f"{why}: inner calls")
            c = t.calls("length")[0]["cap"][0]
            eq(bytes.fromhex(c["hex"])[8:], b"bottom",
               f"{why}: a std::string")


def unwound_in_order(program, why):
    """Watches all functions of landing.cc or panics.rs that may be seen."""
    want = plain(program)
    nm = subprocess.run(["nm", program], check=True,
                        stdout=subprocess.PIPE).stdout.decode()
    seen = re.findall(r" [tT] (main|seen_\w+)$", nm, re.M)
    with Trace(program) as t:
        watched = [t.probe(i + 1, f, "enter=r5:4", "leave=r0:4")["ok"]
                   for i, f in enumerate(seen)]
        # where one is shorter than a jump
        ok(sum(watched) >= 8, f"{why}: functions are watched", seen)
        t.go()
        e = t.end()
        t.close()
        eq((e and e["status"], t.output()), (0, want),
           f"{why}: the program does what it always does")
        ok(sum(e["flags"] & 2 for e in t.events
               if e["ev"] == "exit" and "fn" in e) >= 2 * 500,
           f"{why}: calls are unwound")
        eq(out_of_order(t), "",
           f"{why}: each call ends once, before its caller goes on")


def unwound_calls_end_before_the_catcher_goes_on():
    for compiler in ("g++", "clang++"):
        for level in ("-O0", "-O1", "-O2", "-O3"):
            p = build("landing.cc", level, compiler=compiler,
                      name=f"landing_{compiler}{level}")
            unwound_in_order(p, f"{compiler} {level}")
    # Debian's is older than what rustup installs, if that comes first
    compilers = {os.path.realpath(c): c for c in ("/usr/bin/rustc",
                                                  shutil.which("rustc"))}
    for n, compiler in enumerate(compilers.values()):
        version = subprocess.run([compiler, "--version"], check=True,
                                 stdout=subprocess.PIPE).stdout.decode()
        for level in "0123":
            p = os.path.join(WORK, f"panics_{n}_{level}")
            subprocess.run([compiler, "-g", "-C", "opt-level=" + level, "-o",
                            p, SOURCES + "/panics.rs"], check=True,
                           env=dict(os.environ, TMPDIR=WORK))
            unwound_in_order(p, " ".join(version.split()[:2]) +
                             " opt-level=" + level)


def stripped_exceptions():
    full = build("throw.cc", "-O2", "-static")
    nm = subprocess.run(["nm", full], check=True,
                        stdout=subprocess.PIPE).stdout.decode()
    addr = re.search(r"^0*([0-9a-f]+) [tT] through$", nm, re.M).group(1)
    p = stripped(full)
    with Trace(p) as t:
        r = t.probe(1, "0x" + addr)
        ok(r["ok"] and r["entry_only"] and "exceptions" in r["why"],
           "a static C++ program without symbols: entries, and why", r)
        t.go()
        eq(t.end()["status"], 0, "it survives its exceptions")
        t.close()
        eq(t.output(), plain(p), "it says what it always says")
        eq(len(t.calls("0x" + addr)), 40, "its calls are seen")


ASIDE = (("g++", "-O2"), ("g++", "-O3"), ("clang++", "-O2"),
         ("clang++", "-O3"),
         ("clang++", "-O2", "-fbasic-block-sections=all"),
         ("clang++", "-O2", "-mllvm", "-hot-cold-split=true"),
         ("g++", "-O2", "-static-pie"))


def aside(compiler, *flags):
    return build("aside.cc", *flags, compiler=compiler,
                 name="aside_" + compiler + "".join(flags))


def renamed(program):
    """The same, of which no part is seen by its name."""
    names = subprocess.run(["nm", program], check=True,
                           stdout=subprocess.PIPE).stdout.decode()
    cold = re.findall(r"\S+\.cold\S*$", names, re.M)
    subprocess.run(["objcopy", *(f"--redefine-sym={c}=aside{i}" for i, c in
                                 enumerate(sorted(set(cold)))), program,
                    program + "_renamed"], check=True)
    return program + "_renamed"


def parts_of_functions_are_not_traced():
    """Where a handler is a part of its own, with the frame of another."""
    parts = 0
    for flags in ASIDE:
        p = renamed(aside(*flags))
        why = " ".join(flags)
        want = plain(p)
        with Trace(p) as t:
            r = t.ask("probeall 1", "probeall")
            left = [e["name"] for e in t.events if e["ev"] == "no" and
                    "not called" in e["why"]]
            t.put("quiet 1")
            t.go()
            e = t.end()
            t.close()
            parts += len(left)
            ok(r["on"] > 10, f"{why}: its functions are traced", r)
            eq((e and e["status"], t.output()), (0, want),
               f"{why}: the program does what it always does")
    ok(parts > 10, "there are such parts", parts)


def parts_are_known_by_cold_as_a_word_of_the_raw_name():
    """Their stack is as a call leaves it, so that only the name tells; names
    that merely contain the letters are those of functions."""
    for compiler in ("gcc", "clang"):
        p = build("cold.c", "-O2", compiler=compiler,
                  name="cold_" + compiler)
        called = {a for a, plain_frame in frames_of(p) if plain_frame}
        nm = subprocess.run(["nm", p], check=True,
                            stdout=subprocess.PIPE).stdout.decode()
        with Trace(p) as t:
            for i, name in enumerate(("split.cold", "split.cold.3")):
                at = re.search(rf"^([0-9a-f]+) [tT] {name}$", nm, re.M)
                ok(at and int(at[1], 16) in called,
                   f"{compiler}: {name} has frames of its own", at)
                r = t.probe(i + 1, name)
                ok(not r["ok"] and "seldom used part" in r["why"],
                   f"{compiler}: {name} is not traced", r)
            names = ("is.coldest", "is.cold_1", "cold_start", "split")
            for i, name in enumerate(names):
                r = t.probe(i + 10, name)
                eq((r["ok"], r["why"]), (True, ""),
                   f"{compiler}: {name} is traced")
            t.go()
            e = t.end()
            t.close()
            eq((e and e["status"], t.output()), (0, plain(p)),
               f"{compiler}: the program does what it always does")
            eq([len(t.calls(n)) for n in names], [6] * 4,
               f"{compiler}: and each call is seen")


def frames_of(program):
    """[(begin, whether the stack is as a call leaves it)], by readelf."""
    text = subprocess.run(["readelf", "--debug-dump=frames-interp", "-W",
                           program], check=True, stderr=subprocess.DEVNULL,
                          stdout=subprocess.PIPE).stdout.decode()
    out = []
    for m in re.finditer(r"FDE cie=\S+ pc=([0-9a-f]+)\.\.[0-9a-f]+\n"
                         r"(?: +LOC.*\n([0-9a-f]+) (\S+) )?", text):
        # without a row of its own it has what its CIE says
        if m[2] is None or m[1].lstrip("0") == m[2].lstrip("0"):
            out.append((int(m[1], 16), m[3] in (None, "rsp+8")))
    return out


def places_by_their_frames():
    """An address alone tells whether the stack there is a called function's:
    readelf says the same."""
    for flags in ASIDE[-3:]:
        p = stripped(aside(*flags))
        why = " ".join(flags)
        frames = frames_of(p)
        odd = [a for a, called in frames if not called]
        some = [a for a, called in frames if called][:60]
        ok(odd and len(some) > 3, f"{why}: both are there",
           (odd, some))
        wrong = []
        with Trace(p) as t:
            for i, a in enumerate(odd[:200] + some):
                r = t.probe(i + 1, "+" + hex(a))
                if ("not called" in r["why"]) != (a in odd):
                    wrong.append((hex(a), r))
            t.put("quiet 1")
            t.go()
            e = t.end()
            t.close()
            eq(wrong, [], f"{why}: each place is what its frame says")
            eq((e and e["status"], t.output()), (0, plain(p)),
               f"{why}: the program does what it always does")


def jumps():
    for flags in (("-O2",), ("-O0",), ("-O2", "-static")):
        p = build("jumps.c", *flags)
        why = "jumps " + " ".join(flags)
        with Trace(p) as t:
            for i, f in enumerate(("down", "jumper", "in_handler", "handler",
                                   "work", "step", "yield", "other", "main")):
                t.probe(i + 1, f, "enter=r5:4", "leave=r0:4", "budget=20000")
            r = t.probe(30, "lib:vfork" if "-static" not in flags
                        else "vfork")
            ok(r["ok"] and r["entry_only"],
               f"{why}: vfork returns twice: entry only", r)
            t.go()
            e = t.end()
            t.close()
            eq(e and e["status"], 0, f"{why}: it ends")
            eq(t.output().split()[0], plain(p).split()[0],
               f"{why}: it says what it always says")
            ok(balanced(t, "jumper"), f"{why}: what was jumped to ends")
            # the last ones' places on the stack are not used again
            ok(len(t.calls("down", "exit")) >= len(t.calls("down")) - 8,
               f"{why}: what was jumped over ends",
               [len(t.calls("down", x)) for x in ("enter", "exit")])
            ok(len(t.calls("in_handler")) >= 200, f"{why}: in handlers")
            ok(balanced(t, "in_handler"), f"{why}: and these end")
            ok(any(e["flags"] & 2 for e in t.calls("down", "exit")),
               f"{why}: what was jumped over is said to be")
            eq(sum(e["deep"] for e in t.events if e["ev"] == "lost"), 0,
               f"{why}: and takes up no room")
            ids = {e["id"] for e in t.calls("yield", "exit")}
            ok(len([e for e in t.calls("yield") if e["id"] in ids]) >= 45,
               f"{why}: calls on another stack end where they began")


def unwinders():
    """Cancelled threads, backtraces, handlers that are jumped out of."""
    for flags in (("-O1",), ("-O1", "-static"), ("-O0",)):
        p = build("unwind.c", *flags)
        why = "unwinding " + " ".join(flags)
        with Trace(p) as t:
            r = t.ask("probeall 1 budget=20000", "probeall")
            t.put("quiet 1")
            t.go()
            e = t.end()
            t.close()
            eq((e and e["status"], t.output()), (0, plain(p)),
               f"{why}: {r['on']} functions, and it says what it says")


def programs_find_their_own_return_addresses():
    """Programs that look at them find their own."""
    for compiler in ("gcc", "clang"):
        for level in ("-O0", "-O1", "-O2", "-O3"):
            p = build("frames.c", level, "-fno-omit-frame-pointer",
                      compiler=compiler, name=f"frames_{compiler}{level}")
            why = f"{compiler} {level}"
            with Trace(p) as t:
                r = t.ask("probeall 1", "probeall")
                open_ = {e["name"]: e["why"] for e in t.events
                         if e["ev"] == "open"}
                t.go()
                e = t.end()
                t.close()
                eq((e and e["status"], t.output()), (0, plain(p)),
                   f"{why}: the program does what it always does")
                eq([w for w in ("walk", "callers")
                    if "callers'" not in open_.get(w, "")], [],
                   f"{why}: functions that walk are said to")
                ok("own return address" in open_.get("own", ""),
                   f"{why}: so is one that looks at its own", open_)
                eq(len(t.calls("first", "exit")), 3,
                   f"{why}: calls of their callers end")


def watched_walkers_or_not():
    """Functions that walk are not watched, then are, and then are not."""
    callers = ("first", "second", "calls_callers", "passes", "main")
    walkers = ("walk", "callers")
    for compiler in ("gcc", "clang"):
        for level in ("-O0", "-O2"):
            p = build("frames.c", level, "-fno-omit-frame-pointer",
                      compiler=compiler, name=f"frames_{compiler}{level}")
            why = f"{compiler} {level}"
            for others in ("never", "on", "off again"):
                with Trace(p) as t:
                    for i, f in enumerate(callers):
                        t.probe(i + 1, f)
                    for i, f in enumerate(walkers):
                        if others != "never":
                            ok(t.probe(i + 20, f)["ok"],
                               f"{why}: {f} can be watched as well")
                        if others == "off again":
                            t.unprobe(i + 20)
                    t.go()
                    e = t.end()
                    t.close()
                    eq((e and e["status"], t.output()), (0, plain(p)),
                       f"{why}: walkers watched {others}: the program does "
                       "what it always does")
                    eq(len(t.calls("walk")), 3 if others == "on" else 0,
                       f"{why}: and are recorded if they are watched")


def threads():
    for flags in (("-O2",), ("-O2", "-static")):
        p = build("threads.c", *flags)
        why = "threads " + " ".join(flags)
        with Trace(p, "300") as t:
            t.probe(1, "each", "enter=r5,r4", "leave=r0")
            t.go()
            eq(t.end()["status"], 0, f"{why}: it ends")
            t.close()
            eq(t.output(), plain(p, "300"), f"{why}: it says what it says")
            calls = t.calls("each")
            lost = [e for e in t.events if e["ev"] == "lost"]
            eq(lost, [], f"{why}: nothing is lost")
            eq(len(calls), 40 * 300, f"{why}: every call of every thread")
            eq(len({e["tid"] for e in calls}), 40, f"{why}: 40 threads")
            ok(all(values(e) [0] == v // 1000000
                   for e in calls for v in [values(e)[0] * 1000000]),
               f"{why}: with their arguments")
            by = {}
            for e in calls:
                by.setdefault(e["tid"], set()).add(values(e)[0])
            ok(all(len(s) == 1 for s in by.values()),
               f"{why}: each in the thread that made it")
            ok(balanced(t, "each"), f"{why}: all end")
            ok(ordered(t), f"{why}: each thread in order")


def running():
    for flags in (("-O2",), ("-O2", "-static"), ("-O2", "-no-pie")):
        p = subprocess.Popen([build("slow.c", *flags), "500"],
                             stdout=subprocess.PIPE)
        why = "running " + " ".join(flags)
        try:
            with Trace(pid=p.pid) as t:
                was = t.bytes("beat", 16), t.bytes("outer", 16), \
                    t.bytes("other", 16)
                for _ in range(3):
                    t.probe(1, "beat", "enter=r5:4", "leave=r0:4")
                    t.probe(2, "other", "enter=r5:4", "leave=r0:4")
                    r = t.probe(3, "outer")
                    ok(r["ok"], f"{why}: it is put in", r)
                    ok(t.bytes("beat", 16) != was[0], f"{why}: it is in")
                    n = len(t.events)
                    ok(t.get(lambda e: e["ev"] == "exit" and
                             e.get("name") == "beat", since=n),
                       f"{why}: calls are seen")
                    t.unprobe(1, 3)
                    eq(t.bytes("beat", 16), was[0],
                       f"{why}: taken out, its code is as it was")
                    t.unprobe(2)
                    eq((t.bytes("outer", 16), t.bytes("other", 16)), was[1:],
                       f"{why}: that of the others too")
                t.probe(5, "beat", "enter=r5:4", "leave=r0:4")
                ok(t.get(lambda e: e["ev"] == "exit" and e.get("fn") == 5),
                   f"{why}: and once more")
                t.ask("detach", "detached")
            with open(f"/proc/{p.pid}/mem", "rb") as mem, \
                    open(f"/proc/{p.pid}/status") as st:
                ok("TracerPid:\t0" in st.read(), f"{why}: it is let go")
                mem.close()
            with Trace(pid=p.pid) as t:
                eq(t.bytes("beat", 16), was[0], f"{why}: its code is whole")
                t.probe(6, "other", "enter=r5:4", "leave=r0:4")
                e = t.get(lambda e: e["ev"] == "exit" and e.get("fn") == 6)
                ok(e, f"{why}: attached a second time, it is seen again")
            p.send_signal(signal.SIGTERM)
            eq((p.communicate(timeout=SOON)[0], p.returncode),
               (b"bad 0\n", 0), f"{why}: nothing that it did was disturbed")
        finally:
            stop(p.pid)
            p.wait()


def processor_state():
    """Vectors, tiles, x87, MXCSR, PKRU: what XSAVE finds is compared."""
    if plain(build("state.c", "-mxsave", "-O2")) == "":
        tap.lacks("processor state", "its processor or hypervisor has no "
                  "XSAVE; use one of 2012 or later")
        return
    for flags in (("-O2",), ("-O0",), ("-O2", "-static", "-DLIKE_GO")):
        p = build("state.c", "-mxsave", *flags)
        why = "processor state " + " ".join(flags)
        want = plain(p)
        steps = "enter=r5,x0,x15:8" if "-DLIKE_GO" in flags else \
            "enter=r5,x0,x15:8,s5"
        with Trace(p) as t:
            r = t.probe(1, "probed", steps, "leave=r0:4,x1")
            ok(r["ok"], f"{why}: it is traced", r)
            t.go()
            e = t.end()
            t.close()
            eq((e and e["status"], t.output()), (0, want),
               f"{why}: no call and no return disturbs any of it")
            eq((len(t.calls("probed")), values(t.calls("probed")[0])[0]),
               (1000, 41), f"{why}: and each call is seen")
    state_of_who_runs(build("state.c", "-mxsave", "-O2"))


def state_of_who_runs(program):
    p = subprocess.Popen([program, "6"], stdout=subprocess.PIPE)
    try:
        with Trace(pid=p.pid) as t:
            on = 0
            for _ in range(40):
                on += t.probe(1, "probed", "enter=r5,x0", "leave=r0:4",
                              "budget=1000")["ok"]
                t.unprobe(1)
            eq(on, 40, "processor state: put into one that runs, and out")
        out = p.communicate(timeout=SOON)[0].decode()
        eq((out.split(" has ")[0], p.returncode), ("bad 0", 0),
           "processor state: nor does any stop")
    finally:
        stop(p.pid)
        p.wait()


def vectors():
    """C++ for just this processor: -march=native has all that it knows."""
    for compiler in ("g++", "clang++"):
        for level in ("-O0", "-O1", "-O2", "-O3"):
            p = build("vectors.cc", level, "-march=native", compiler=compiler,
                      name="vectors_" + compiler + level)
            want = plain(p)
            with Trace(p) as t:
                r = t.ask("probeall 1", "probeall")
                t.put("quiet 1")
                t.go()
                e = t.end()
                t.close()
                eq((r["on"] > 8, e and e["status"], t.output()),
                   (True, 0, want),
                   f"vectors, {compiler} {level}: it says what it always says")


# as of a machine that has them: the status that the tracer reads is a file
SHADOWED = r"""
"$1" 500 & at=/proc/$!/task/$!/status
sed '/^x86_Thread_features:/d; $a x86_Thread_features:\tshstk wrss' \
    $at >"$2" && mount --bind "$2" $at && exec "$3" -p $!
"""


def shadow_stack():
    program = build("slow.c", "-O2")
    with Trace(pid=0, within=("unshare", "-m" if AS_ROOT else "-rm", "sh",
                              "-c", SHADOWED, "sh", program,
                              os.path.join(WORK, "status"))) as t:
        try:
            eq(t.first["ev"], "attached", "a shadow stack: attached to")
            was = t.bytes("beat", 16)
            r = t.probe(1, "beat")
            ok(not r["ok"] and "shadow stack" in r["why"] and
               "-SHSTK" in r["why"],
               "a shadow stack: no return is changed, and the way out said",
               r)
            eq(t.bytes("beat", 16), was, "nor the code")
        finally:
            if t.pid:
                stop(t.pid)


# as of a host that has Yama and lets nobody trace: ptrace answers EPERM
SCOPED = r"""
mount -t tmpfs none /proc/sys/kernel && mkdir /proc/sys/kernel/yama &&
    echo "$1" >/proc/sys/kernel/yama/ptrace_scope || exit
"$2" 500 &
"$3" -c "$4" "$5" -p $!
kill -9 $!
"""
NO_PTRACE = """
import ctypes, os, sys
lib = ctypes.CDLL("libseccomp.so.2")
lib.seccomp_init.restype = ctypes.c_void_p
rules = ctypes.c_void_p(lib.seccomp_init(0x7fff0000))
number = lib.seccomp_syscall_resolve_name(b"ptrace")
if lib.seccomp_rule_add(rules, 0x50001, number, 0) or lib.seccomp_load(rules):
    sys.exit(1)
os.execv(sys.argv[1], sys.argv[1:])
"""


def ptrace_scope():
    program = build("slow.c", "-O2")
    for scope, words in (("2", "ptrace_scope=1 allows it"),
                         ("3", "after a reboot"),
                         ("1", "Operation not permitted")):
        with Trace(pid=0, within=(
                "unshare", "-m" if AS_ROOT else "-rm", "sh", "-c", SCOPED,
                "sh", scope, program, sys.executable, NO_PTRACE)) as t:
            ok(t.first["ev"] == "refused" and words in t.first["why"],
               f"ptrace_scope={scope}: the reason, and what would help",
               t.first)


def restartable_sequences():
    """What is interrupted for a system call in its name begins again."""
    if not hasattr(ctypes.CDLL(None), "__rseq_size") or \
            ctypes.c_uint.in_dll(ctypes.CDLL(None), "__rseq_size").value == 0:
        tap.skip("restartable sequences", "no rseq(2) here: it needs glibc "
                 "2.35 and a kernel with CONFIG_RSEQ")
        return
    p = subprocess.Popen([build("rseq.c", "-O2")], stdout=subprocess.PIPE)
    try:
        on = 0
        for _ in range(10):
            with Trace(pid=p.pid) as t:
                on += t.probe(1, "beat", "enter=r5:4", "leave=r0:4")["ok"]
                t.ask("detach", "detached")
        eq(on, 10, "restartable sequences: attached to, and let go")
        p.send_signal(signal.SIGTERM)
        eq((p.communicate(timeout=SOON)[0], p.returncode),
           (b"bad 0 aborted some lost 0\n", 0),
           "restartable sequences: each that was interrupted has begun anew")
    finally:
        stop(p.pid)
        p.wait()


def little_memory():
    p = subprocess.Popen(["/bin/sh", "-c", 'ulimit -v 9000; exec "$0" 500',
                          build("slow.c", "-O2")], stdout=subprocess.PIPE)
    try:
        # its libraries, which need memory as well, are there when it sleeps
        wait_for(lambda: (status_of(p.pid) or {}).get("Name") != "sh" and
                 read_proc(p.pid, "syscall").startswith(CLOCK_NANOSLEEP))
        with Trace(pid=p.pid) as t:
            r = t.probe(1, "beat", "enter=r5:4", "leave=r0:4")
            ok(r and r["ok"], "little memory: smaller rings", t.first)
            ok(t.get(lambda e: e["ev"] == "exit" and e.get("fn") == 1),
               "little memory: calls are seen")
        p.send_signal(signal.SIGTERM)
        eq(p.communicate(timeout=SOON)[0], b"bad 0\n",
           "little memory: undisturbed")
    finally:
        stop(p.pid)
        p.wait()


def killed_engine():
    p = subprocess.Popen([build("slow.c", "-O2"), "200"],
                         stdout=subprocess.PIPE)
    try:
        with Trace(pid=p.pid) as t:
            was = t.bytes("beat", 16)
            t.probe(1, "beat", "enter=r5:4,s5", "leave=r0:4")
            t.probe(2, "other", "leave=r0:4")
            t.probe(3, "outer")
            ok(t.get(lambda e: e["ev"] == "exit" and e.get("fn") == 1),
               "calls are seen")
            t.p.kill()
            t.p.wait()
        time.sleep(0.3)
        eq(p.poll(), None, "the program outlives a tracer that is killed")
        with Trace(pid=p.pid) as t:
            eq(t.bytes("beat", 16), was, "the next one mends its code")
            t.probe(1, "beat", "enter=r5:4", "leave=r0:4")
            ok(t.get(lambda e: e["ev"] == "exit" and e.get("fn") == 1),
               "and sees its calls")
        p.send_signal(signal.SIGTERM)
        eq((p.communicate(timeout=SOON)[0], p.returncode), (b"bad 0\n", 0),
           "nothing that it did was disturbed")
    finally:
        stop(p.pid)
        p.wait()


def own_signals():
    """What a program does with SIGTRAP, and a SIGSTOP at a bad moment."""
    slow = build("slow.c", "-O2")
    bit = 1 << signal.SIGTRAP - 1
    for how, argv, ignore, key in (
            ("ignored", [slow, "500"], signal.SIG_IGN, "SigIgn"),
            ("handled", [sys.executable, "-c", "import signal, time\n"
                         "signal.signal(signal.SIGTRAP, print)\n"
                         "while True: time.sleep(0.01)"],
             signal.SIG_DFL, "SigCgt")):
        p = subprocess.Popen(
            argv, stdout=subprocess.DEVNULL,
            preexec_fn=lambda: signal.signal(signal.SIGTRAP, ignore))
        try:
            wait_for(lambda: int((status_of(p.pid) or {}).get(key, "0"), 16) &
                     bit)
            with Trace(pid=p.pid) as t:
                ok(t.probe(1, "lib:getenv")["ok"], f"SIGTRAP {how}: traced")
                t.ask("detach", "detached")
            ok(int(status_of(p.pid)[key], 16) & bit,
               f"SIGTRAP {how}: and it is so afterwards", status_of(p.pid))
            p.send_signal(signal.SIGTRAP)
            time.sleep(0.1)
            eq(p.poll(), None, f"SIGTRAP {how}: it does no harm")
        finally:
            stop(p.pid)
            p.wait()
    with Trace(slow, "500") as t:
        t.stats()  # once it stands at its first instruction
        os.kill(t.pid, signal.SIGSTOP)
        r = t.probe(1, "beat")
        ok(r["ok"], "SIGSTOP while it is worked on: traced", r)
        t.go()
        ok(wait_for(lambda: status_of(t.pid)["State"][0] in "tT"),
           "SIGSTOP while it is worked on: it stops", status_of(t.pid))
        t.put("wait 200")
        t.stats()
        eq((status_of(t.pid)["State"][0] in "tT", len(t.calls("beat"))),
           (True, 0), "SIGSTOP while it is worked on: and stands")
        os.kill(t.pid, signal.SIGCONT)
        ok(t.get(lambda e: e["ev"] == "enter"), "until SIGCONT")
        t.put("signal 15")
        eq(t.end()["status"], 0, "and goes on undisturbed")


def states(pid):
    """Of all of its threads, as the kernel has them."""
    try:
        tids = os.listdir(f"/proc/{pid}/task")
    except FileNotFoundError:
        return []
    return [read_proc(pid, f"task/{tid}/stat").rpartition(b") ")[2][:1]
            for tid in tids]


def stopped_while_threads_are_born():
    p = build("caged.c", "-O2")
    for ms in range(0, 20, 2):
        with Trace(p, "64", "20000", "free") as t:
            t.probe(1, "each")
            t.put("quiet 1")
            t.go()
            time.sleep(ms / 1000)
            stop(t.pid, signal.SIGSTOP)
            ok(wait_for(lambda: set(states(t.pid)) <= {b"t", b"T"}),
               f"after {ms} ms: all stop", states(t.pid))
            n = len(states(t.pid))
            stop(t.pid, signal.SIGCONT)
            ok(wait_for(lambda: len(states(t.pid)) == 65 and
                        b"t" not in states(t.pid)),
               f"after {ms} ms: they go on, and are more than {n}")


def own_filter():
    """It may kill for what is done in the program's name."""
    p = build("caged.c", "-O2")
    with Trace(p, "12", "100") as t:
        r = t.probe(1, "each", "enter=r5:4")
        ok(r["ok"], "a filter that comes later: traced", r)
        t.put("quiet 1")
        t.go()
        e = t.end()
        s = t.stats()
        t.close()
        eq((e and e["status"], t.output()), (0, "done\n"),
           "a filter that comes later: it does not kill")
        ok(s["enter"] >= 700 and s["enter"] + s["calls"] == 1200,
           "a filter that comes later: what is not seen is counted", s)
    p = subprocess.Popen([p, "1", "2000"], stdout=subprocess.PIPE)
    try:
        wait_for(lambda: status_of(p.pid)["Seccomp_filters"] !=
                 status_of(os.getpid())["Seccomp_filters"])
        with Trace(pid=p.pid) as t:
            ok(t.first["ev"] == "refused" and "filter" in t.first["why"],
               "a filter that was there: said", t.first)
        eq((p.communicate(timeout=SOON)[0], p.returncode), (b"done\n", 0),
           "a filter that was there: it does not kill")
    finally:
        stop(p.pid)
        p.wait()


def forks():
    p = build("forks.c", "-O2")
    with Trace(p, "fork", "6") as t:
        t.probe(1, "mark", "enter=r5:4", "leave=r0:4")
        t.probe(2, "split")
        t.go()
        eq(t.end()["status"], 0, "a program that forks ends")
        t.close()
        eq(t.output(), "6\n", "its children do what they do")
        eq(len(t.calls("mark")), 7, "only the parent is seen")
    with Trace(p, "fork", "6", follow=True) as t:
        t.probe(1, "mark", "enter=r5:4", "leave=r0:4")
        t.probe(2, "split")
        t.go()
        eq(t.end()["status"], 0, "followed: it ends")
        t.put("wait 300")
        t.close()
        eq(t.output(), "6\n", "followed: its children do what they do")
        kids = {e["pid"] for e in t.calls("mark")} - {t.pid}
        eq(len(kids), 6, "followed: all children are seen")
        eq(sorted(values(e)[0] for e in t.calls("mark")
                  if e["pid"] in kids), sorted(list(range(6)) + [40] * 6),
           "followed: with what they call")
        eq(len([e for e in t.calls("split", "exit")]), 12,
           "followed: a call that has two ends")
    with Trace(p, "spawn", "4") as t:
        t.probe(1, "mark", "enter=r5:4", "leave=r0:4")
        t.go()
        eq(t.end()["status"], 0, "a program that spawns ends")
        t.close()
        eq((t.output(), len(t.calls("mark"))), ("4\n", 5), "it spawns")
    with Trace(p, "spawn", "4", follow=True) as t:
        t.probe(1, "mark", "enter=r5:4", "leave=r0:4")
        t.go()
        eq(t.end()["status"], 0, "followed: a program that spawns ends")
        t.put("wait 300")
        t.close()
        kids = {e["child"] for e in t.events if e["ev"] == "fork"}
        eq(len(kids), 4, "followed: its children are said")
        eq({e["pid"] for e in t.events if e["ev"] == "exec"} - {t.pid}, kids,
           "followed: and that they run another program")
        eq((t.output(), len(t.calls("mark"))), ("4\n", 5),
           "followed: it spawns")


def execs():
    p = build("forks.c", "-O2")
    with Trace(p, "exec") as t:
        t.probe(1, "mark", "enter=r5:4")
        n = len(t.events)
        t.go()
        e = t.get(lambda e: e["ev"] == "exec", since=n)
        ok(e, "it is said that another program runs")
        eq(t.end()["status"], 0, "that ends")
        t.close()
        eq([values(e)[0] for e in t.calls("mark")], [0],
           "its probes are gone")


def let_go_at_entry():
    """It has come to where it begins, and nobody wants it any more."""
    lib = os.path.join(WORK, "libslow.so")
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", lib, "-x", "c", "-"],
                   input=b"#include <unistd.h>\n"
                   b"__attribute__((constructor)) static void slow(void)\n"
                   b"{ usleep(1500000); }\n", check=True)
    slow = build("slow.c", "-O2")
    p = subprocess.Popen(["/bin/sh", "-c", 'read x; LD_PRELOAD="$0" '
                          'exec "$1" 500', lib, slow], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE)
    try:
        with Trace(pid=p.pid) as t:
            p.stdin.write(b"\n")
            p.stdin.flush()
            wait_for(lambda: b"libslow" in read_proc(p.pid, "maps") and
                     read_proc(p.pid, "syscall").startswith(CLOCK_NANOSLEEP))
            t.put("nap 2500\ndetach")
            ok(t.get(lambda e: e["ev"] == "detached"), "it is let go")
        time.sleep(0.3)
        eq((p.poll(), [e["ev"] for e in t.events if e["ev"] == "exec"]),
           (None, []), "at its beginning it goes on")
        p.send_signal(signal.SIGTERM)
        eq((p.communicate(timeout=SOON)[0], p.returncode), (b"bad 0\n", 0),
           "undisturbed")
    finally:
        stop(p.pid)
        p.wait()


def crashes():
    p = build("crash.c", "-O2")
    for how, signo in (("segv", signal.SIGSEGV), ("abort", signal.SIGABRT),
                       ("wild", signal.SIGSEGV)):
        with Trace(p, how) as t:
            for i, f in enumerate(("bottom", "top", "main")):
                t.probe(i + 1, f, "enter=s5")
            t.go()
            e = t.get(lambda e: e["ev"] == "crash")
            end = t.end()
            t.close()
            eq(end["status"] & 0x7f, signo, f"{how}: it dies of its signal")
            eq((e["signo"], e["caught"]), (signo, 0), f"{how}: an event")
            if how == "segv":
                eq(e["addr"], 0x1234, "with the address")
            if how == "wild":
                eq(e["rip"], 0x10, "with the registers")
            eq(e["comm"], os.path.basename(p)[:15], f"{how}: the thread")
            last = [x for x in t.events if x["ev"] == "enter"][-1]
            ok(last["name"] == "bottom" and last["ts"] <= e["ts"],
               f"{how}: on one clock with the calls before it")
    with Trace(p, "segv", "caught") as t:
        t.probe(1, "bottom")
        t.go()
        e = t.get(lambda e: e["ev"] == "crash")
        eq((t.end()["status"] >> 8, e["caught"]), (7, 1),
           "a handler has its signal, and it is said")
    stack_of_a_crash(p)


def stack_of_a_crash(p):
    """Return addresses on the stack are the program's."""
    with Trace(p, "segv") as t:
        e = None
        t.go()
        e = t.get(lambda e: e["ev"] == "crash")
        base = e["rip"] & ~0xfff
        want = {a - base for a in e["stack"] if 0 < a - base < 0x1000}
    with Trace(p, "segv") as t:
        for i, f in enumerate(("bottom", "top", "main")):
            t.probe(i + 1, f)
        t.go()
        e = t.get(lambda e: e["ev"] == "crash")
        base = e["rip"] & ~0xfff
        ok(want and want <= {a - base for a in e["stack"]},
           "the stack in a crash has its own return addresses", e)


def go_program():
    out = os.path.join(WORK, "prog_go")
    env = dict(os.environ, HOME=WORK, GOCACHE=WORK + "/gocache",
               GO111MODULE="off", GOFLAGS="")
    subprocess.run(["/usr/bin/go", "build", "-o", out, SOURCES + "/prog.go"],
                   check=True, env=env)
    want = plain(out)
    with Trace(out) as t:
        r = t.probe(1, "main.Add", "enter=r0,r3")
        ok(r["ok"] and r["entry_only"] and "Go" in r["why"],
           "Go: entries only, and why", r)
        t.probe(2, "main.Deep", "enter=r0")
        t.probe(3, "main.main")
        for i, f in enumerate(("runtime.mallocgc", "runtime.newstack",
                               "runtime.gopark", "runtime.schedule",
                               "runtime.growslice", "runtime.newobject")):
            t.probe(10 + i, f, "budget=2000")
        t.go()
        e = t.end()
        t.close()
        eq((e["status"], t.output()), (0, want), "Go: it is not disturbed")
        lost = sum(e["calls"] for e in t.events if e["ev"] == "lost")
        eq(len(t.calls("main.Add")) + lost, 16000, "Go: every call")
        ok(len(t.calls("main.Deep")) >= 8 * 501, "Go: deep ones too")
    with Trace(out) as t:
        r = t.ask("probeall 1 budget=1000", "probeall")
        ok(r["on"] > 0.95 * r["n"], f"Go: {r['on']} of {r['n']} functions")
        t.put("quiet 1")
        t.go()
        e = t.end()
        t.close()
        eq((e["status"], t.output()), (0, want),
           "Go: nor by watching all of it")


def ocaml_program():
    """Code in use is found by return addresses."""
    source = shutil.copy(SOURCES + "/prog.ml", WORK)
    p = os.path.join(WORK, "prog_ml")
    subprocess.run(["ocamlopt", "-g", "-o", p, source], check=True, cwd=WORK,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with Trace(p) as t:
        r = t.ask("probeall 1 budget=1000", "probeall")
        ok(r["on"] == r["open"] > 1000, "OCaml: beginnings of functions", r)
        t.put("quiet 1")
        t.go()
        e = t.end()
        t.close()
        eq((e and e["status"], t.output()), (0, plain(p)),
           "OCaml: the program does what it always does")


def rust_program():
    out = os.path.join(WORK, "prog_rs")
    subprocess.run(["/usr/bin/rustc", "-O", "-C", "debuginfo=0", "-o", out,
                    SOURCES + "/prog.rs"], check=True,
                   env=dict(os.environ, TMPDIR=WORK))
    want = plain(out)
    with Trace(out) as t:
        t.probe(1, "rust_add", "enter=r5,r4", "leave=r0")
        t.probe(2, "rust_catch", "enter=r5:4", "leave=r0:4")
        t.ask("probeall 100 budget=20000", "probeall")
        t.go()
        e = t.end()
        t.close()
        eq((e["status"], t.output()), (0, want),
           "Rust: panics pass through what is watched")
        eq([values(e)[0] for e in t.calls("rust_catch")], list(range(10)),
           "Rust: calls")
    catches(out, want, "Rust")
    # as it is called by newer compilers
    subprocess.run(["objcopy", "--redefine-sym", "__rust_panic_cleanup="
                    "_RNvCsfLfy6EI15iL_7___rustc20___rust_panic_cleanup",
                    out, out + "_new"], check=True)
    catches(out + "_new", want, "Rust of today")


def catches(program, want, what):
    """It returns after a panic, and nothing else is called by then."""
    with Trace(program) as t:
        t.probe(1, "rust_catch", "enter=r5:4", "leave=r0:4")
        t.go()
        e = t.end()
        t.close()
        eq((e["status"], t.output()), (0, want), f"{what}: it ends")
        eq([values(e) for e in t.calls("rust_catch", "exit")],
           [[2 * i] for i in range(10)],
           f"{what}: what catches a panic is seen to return")


def storms():
    with Trace(build("slow.c", "-O2"), "0") as t:
        t.probe(1, "beat", "enter=r5:4", "leave=r0:4", "budget=1000")
        t.put("quiet 1")
        t.go()
        time.sleep(2)
        n = len(t.events)
        t.put("quiet 0")
        e = t.get(lambda e: e["ev"] == "enter", since=n)
        ok(e["flags"] & 1, "beyond its budget a function is sampled, and "
           "said to be", e)
        skipped = t.ask("skipped 1", "skipped")["n"]
        s = t.stats()
        ok(skipped > s["enter"], "what was passed over is counted",
           f"{skipped} {s}")
        ok(abs(s["enter"] - s["exit"]) <= 1, "entry and exit together", s)
        ok(s["enter"] < 60 * 1000, "about as many as were allowed", s)
        t.unprobe(1)
        t.put("signal 15")
        eq(t.end()["status"], 0, "it goes on undisturbed")


def overflow():
    with Trace(build("slow.c", "-O2"), "0", ring=65536) as t:
        t.probe(1, "beat", "enter=r5:4", "leave=r0:4")
        t.probe(2, "outer")
        t.put("quiet 1")
        t.go()
        lost = t.get(lambda e: e["ev"] == "lost" and e["calls"] > 0)
        ok(lost and lost["tid"] == t.pid, "what did not fit is counted, by "
           "thread", lost)
        t.put("signal 15")
        eq(t.end()["status"], 0, "the program never waits for the reader")
        s = t.stats()
        eq((s["torn"], s["exits"]), (0, 0), "and nothing of it is torn")
        eq(s["enter"], s["exit"], "who was seen to begin is seen to end")


def deep_recursion():
    src = os.path.join(WORK, "deep.c")
    with open(src, "w") as f:
        f.write("#include <stdio.h>\n"
                "__attribute__((noinline, noclone, optimize(\"O0\"))) long "
                "down(long n) { return n == 0 ? 0 : down(n - 1) + 1; }\n"
                "int main(void) { printf(\"%ld\\n\", down(20000)); "
                "return 0; }\n")
    with Trace(build(src, "-O0", name="deep")) as t:
        t.probe(1, "down", "leave=r0")
        t.put("quiet 1")
        t.go()
        eq(t.end()["status"], 0, "very deep: it ends")
        s = t.stats()
        t.close()
        eq(t.output(), "20000\n", "very deep: it says what it should")
        eq((s["enter"], s["deep"] + s["exit"]), (20001, 20001),
           "very deep: what is not seen to end is counted")


def many_source(n):
    src = os.path.join(WORK, "many.c")
    with open(src, "w") as f:
        f.write("#include <stdio.h>\n#include <unistd.h>\n")
        for i in range(n):
            f.write(f"__attribute__((noinline, noclone)) int many{i}(int a, "
                    f"int b) {{ __asm__ volatile(\"\"); "
                    f"return a * {i + 3} + b + {i}; }}\n")
        f.write("int main(int c, char **v) { int s = 0; (void)v;\n")
        f.write("".join(f"s += many{i}(s, c);\n" for i in range(n)))
        f.write("usleep(200000);\n")
        f.write("".join(f"s += many{i}(s, c);\n" for i in range(n)))
        f.write("printf(\"%d\\n\", s); return 0; }\n")
    return src


def four_thousand():
    p = build(many_source(4000), "-O1", name="many")
    with Trace(p) as t:
        before = t.bytes("many0", 60000)
        r = t.ask("probeall 1 prefix=many", "probeall")
        ok(r["on"] >= 4000, f"{r['on']} functions at once")
        # a thousand times what it takes: the bound itself is the bench's
        ok(0 < r["stop"] < 1e9, "in one stop of the program", r["stop"])
        print(f"# the program stood for {r['stop'] / 1e6:.2f} ms")
        u = t.ask("unprobeall 1 5000", "unprobe")
        print(f"# ... and for {u['stop'] / 1e6:.2f} ms")
        eq(t.bytes("many0", 60000), before, "taken out: all bytes as before")
        with open(f"/proc/{t.pid}/maps") as f:
            maps = len(f.readlines())
        for _ in range(5):
            t.ask("probeall 1 prefix=many", "probeall")
            t.ask("unprobeall 1 5000", "unprobe")
        with open(f"/proc/{t.pid}/maps") as f:
            eq(len(f.readlines()), maps, "on and off again takes up nothing")
        r = t.ask("probeall 10000 prefix=many", "probeall")
        ok(r["on"] >= 4000, "other probes of the same functions", r)
        t.put("quiet 1")
        t.go()
        eq(t.end()["status"], 0, "it ends")
        s = t.stats()
        t.close()
        eq((s["enter"], s["exit"]), (8000, 8000), "each call of each")
        eq(t.output(), plain(p), "it says what it always says")


def beside_source(low, high):
    """That many functions for each of two requests, and a table of all."""
    src = os.path.join(WORK, "beside.s")
    names = [f"low{i}" for i in range(low)] + \
        [f"high{i}" for i in range(high)]
    with open(src, "w") as f:
        f.write(".text\n")
        for name in names:
            f.write(f".globl {name}\n.type {name}, @function\n{name}:\n"
                    "lea 1(%rdi,%rdi), %rax\nret\nnop\n"
                    f".size {name}, .-{name}\n")
        f.write(".section .data.rel.ro,\"aw\"\n.globl tests\ntests:\n")
        f.write("".join(f".quad {name}\n" for name in names) + ".quad 0\n"
                ".section .note.GNU-stack,\"\",@progbits\n")
    return src


def stubs_of_adjacent_areas_reach_the_agent():
    """An area of stubs directly above one that is full."""
    place, low, high = 0x40000, 5440, 60
    p = build("beside.c", beside_source(low, high), name="beside")
    with Trace(p, str(place)) as t:
        t.go()
        wait_for(lambda: t.output() == "ready\n")
        r = t.ask("probeall 1 prefix=low", "probeall")
        eq(r["on"], low, "functions until the lower area is about full")
        t.put(f"signal {signal.SIGUSR1.value}")
        wait_for(lambda: t.output().endswith("free\n"))
        r = t.ask("probeall 10000 prefix=high", "probeall")
        eq(r["on"], high, "functions in both")
        with open(f"/proc/{t.pid}/maps") as f:
            ends = [re.split("[- ]", line)[:2] for line in f
                    if " r-xp 00000000 00:00 0" in line]
        ok(any(int(hi, 16) - int(lo, 16) == 2 * place for lo, hi in ends),
           "the areas are adjacent", ends)
        t.put("quiet 1")
        t.put(f"signal {signal.SIGUSR1.value}")
        e = t.end()
        s = t.stats()
        t.close()
        n = low + high
        eq((e and e["status"], t.output()),
           (0, f"ready\nfree\n{n * n}\n"),
           "the program does what it always does")
        eq((s["enter"], s["exit"]), (n, n), "each call of each is seen")


def heads_are_read_back():
    """A head that was overwritten: nothing is led to its stubs."""
    n = 4
    p = build("beside.c", beside_source(n, n), name="head")
    with Trace(p, "0x40000") as t:
        t.go()
        wait_for(lambda: t.output() == "ready\n")
        eq(t.ask("probeall 1 prefix=low", "probeall")["on"], n, "low ones")
        with open(f"/proc/{t.pid}/maps") as f:
            area = [int(line.split("-")[0], 16) for line in f
                    if " r-xp 00000000 00:00 0" in line]
        with open(f"/proc/{t.pid}/mem", "r+b", buffering=0) as f:
            heads = [os.pread(f.fileno(), 64, at) for at in area]
            for at in area:
                os.pwrite(f.fileno(), bytes(64), at)
            eq(t.ask("probeall 100 prefix=high", "probeall")["on"], 0,
               "no more functions")
            r = t.probe(200, "high0")
            ok(not r["ok"] and "cannot be written" in r["why"], "told", r)
            for at, head in zip(area, heads):
                os.pwrite(f.fileno(), head, at)
        for _ in range(2):
            t.put(f"signal {signal.SIGUSR1.value}")
            wait_for(lambda: "free" in t.output())
        t.put("quiet 1")
        e = t.end()
        s = t.stats()
        t.close()
        eq((e and e["status"], t.output()),
           (0, f"ready\nfree\n{4 * n * n}\n"),
           "the program does what it always does")
        eq((s["enter"], s["exit"]), (n, n), "the first are seen")


def refusals():
    p = build("slow.c", "-O2")
    with Trace(p, "1000") as t:
        for what, word in (("0x10", "no code"), ("beat", "")):
            r = t.probe(1, what)
            eq((r["ok"], word in r["why"]), (word == "", True),
               f"{what} is answered")
        r = t.probe(2, "beat")
        ok(not r["ok"] and "already" in r["why"], "twice the same", r)
        r = t.probe(1, "other")
        ok(not r["ok"] and "in use" in r["why"], "an id that is in use", r)
        r = t.probe(9999999, "other")
        ok(not r["ok"] and "4194304" in r["why"], "an id beyond", r)
        r = t.probe(3, "other", "enter=r5:9")
        ok(not r["ok"] and "step" in r["why"], "a program of nonsense", r)
        r = t.probe(4, "_start")
        ok(r["ok"] and r["entry_only"], "where the program begins", r)
        with Trace(pid=t.pid) as u:
            ok(u.first["ev"] == "refused" and "already" in u.first["why"],
               "somebody else is tracing it", u.first)
    with Trace(pid=999999999) as t:
        eq(t.first["ev"], "refused", "no such process")


def whole_programs():
    """Everything in programs that others have written."""
    for argv in (["/bin/bash", "-c", "f() { echo $(($1 * 2)); }; for i in "
                  "1 2 3; do f $i; done; (exit 3) || echo x; echo a | cat"],
                 [sys.executable, "-c", "import json, threading; "
                  "print(json.dumps({str(i): i * i for i in range(9)})); "
                  "t = threading.Thread(target=print, args=(1,)); "
                  "t.start(); t.join()\ntry:\n int('x')\n"
                  "except ValueError as e:\n print(e)"]):
        want = plain(*argv)
        with Trace(*argv) as t:
            r = t.ask("probeall 1 budget=2000", "probeall")
            t.put("quiet 1")
            t.go()
            e = t.end()
            t.close()
            eq((e and e["status"], t.output()), (0, want),
               f"{os.path.basename(argv[0])}: {r['on']} of {r['n']} "
               "functions, and it says what it always says")


def session(d, *flags):
    """In a sandbox: other namespaces, a filter, limits, an owner."""
    c = d.client()
    with open(build("slow.c", "-O2", *flags), "rb") as f:
        sid, _ = c.start(f.read(), args="500")
    why = "a session " + " ".join(flags)

    def target():
        return [p for p in session_processes(sid)
                if "stub" not in (status_of(p) or {}).get("Name", "stub")]
    wait_for(target)
    pid = target()[0]
    with Trace(pid=pid, uid=d.uid) as t:
        eq(t.first["ev"], "attached", f"{why}: attached to by its owner",)
        r = t.probe(1, "beat", "enter=r5:4,s5", "leave=r0:4")
        ok(r["ok"], f"{why}: traced", r)
        e = t.get(lambda e: e["ev"] == "enter" and e.get("fn") == 1)
        ok(e and e["cap"][1]["st"] == 1, f"{why}: with bad addresses", e)
        ok(t.get(lambda e: e["ev"] == "exit" and e.get("fn") == 1),
           f"{why}: calls are seen")
    c.cmd(f"STOP {sid}")
    ok(wait_for(lambda: b"bad 0" in c.output(sid)),
       f"{why}: undisturbed", c.output(sid))


def a_session(d):
    session(d, "-static")


def a_dynamic_session(d):
    session(d)


run_tests(in_modes(a_session, a_dynamic_session), c_dynamic, c_other_kinds,
          without_symbols, exceptions,
          unwound_calls_end_before_the_catcher_goes_on, stripped_exceptions,
          parts_of_functions_are_not_traced,
          parts_are_known_by_cold_as_a_word_of_the_raw_name,
          places_by_their_frames,
          jumps, unwinders, programs_find_their_own_return_addresses,
          watched_walkers_or_not, threads, running,
          processor_state, vectors, shadow_stack, ptrace_scope,
          restartable_sequences, little_memory, killed_engine, own_signals,
          stopped_while_threads_are_born, own_filter, forks, execs,
          let_go_at_entry, crashes, go_program, ocaml_program, rust_program,
          storms, overflow, deep_recursion, four_thousand,
          stubs_of_adjacent_areas_reach_the_agent,
          heads_are_read_back,
          refusals, whole_programs)
