#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Assignments: after the same ones the program prints the same as
# under gdb, whatever was set and by whom; what is refused changes nothing.
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgadapters import SOURCES, WORK, adapters, built, source_line
from dbgeditor import Editor
from dbgrig import Failed
from dl import eq, ok, run_tests

# target and value, what is told; None: whatever it is
SAME = [
    # references, to what they are of
    ("r", "7", "7"), ("r", "v + 1", "8"), ("cr", "9", "9"),
    ("rd", "0.25", "0.25"), ("rf", "4", "4"), ("rcol", "BLUE", "BLUE"),
    ("rt", "0", "false"), ("ru8", "200", None), ("r128", "-6", "-6"),
    ("rr", "77", "77"), ("rb.a", "2", "2"), ("ra[2]", "98", "98"),
    ("in.ref", "12", "12"), ("rin.x", "13", "13"), ("rin.ref", "14", "14"),
    ("*rp", "15", "15"), ("rp", "0", "0x0000000000000000"),
    ("rp", "&v", None),
    # members, elements, what is pointed to
    ("*p", "9", "9"), ("**pp", "10", "10"), ("pin->x", "16", "16"),
    ("in.d", "-0.5", "-0.5"), ("in.s", "-32768", "-32768"),
    ("vi[1]", "99", "99"), ("m[1][1]", "55", "55"), ("vec[1]", "22", "22"),
    ("ab[1].a", "5", "5"), ("bufs[1].tail", "21", "21"),
    ("un.f", "2.0", "2"), ("anon.q", "6", "6"),
    # bit fields, and not their neighbours
    ("b.a", "7", "7"), ("b.b", "31", "31"), ("b.c", "-8", "-8"),
    ("b.d", "false", "false"), ("b.e", "524287", "524287"),
    # text
    ("bb.buf", '"new value"', '"new value"'),
    ("bb.buf", '"fifteen bytes.."', '"fifteen bytes.."'),
    ("bb.buf", '"a\\tb\\"c\\x41"', None),
    ("text", '"1234567"', '"1234567"'), ("text", '""', '""'),
    ("bb.ub[0]", "200", None), ("bufs[0].buf[1]", "'N'", "'N'"),
    # numbers
    ("i8", "-128", None), ("u8", "255", None), ("i16", "-32768", "-32768"),
    ("u16", "65535", "65535"), ("i32", "-2147483648", "-2147483648"),
    ("u32", "4294967295", "4294967295"), ("u32", "0xff", "255"),
    ("u32", "010", "8"), ("i64", "9223372036854775807",
                          "9223372036854775807"),
    ("u64", "18446744073709551615", "18446744073709551615"),
    ("i128", "-5", "-5"), ("u128", "11", "11"), ("vol", "4", "4"),
    ("ci", "5", "5"), ("cg", "8", "8"), ("c", "'z'", "'z'"),
    ("c", "65", "'A'"), ("w", "L'x'", None), ("c16", "65", None),
    ("f", "0.1", "0.100000001"), ("d", "0.1", "0.10000000000000001"),
    ("d", "0.1f", "0.10000000149011612"), ("d", "v / 4.0", None),
    ("ld", "0.1", "0.100000000000000005551"), ("ld", "-3", "-3"),
    ("t", "true", "true"), ("t", "2", "true"), ("t", "0", "false"),
    ("col", "GREEN", "GREEN"), ("col", "6", "BLUE"),
    ("sh", "Shade::LIGHT", "LIGHT"), ("sh", "1", "DARK"),
    ("p", "&v", None), ("fn", "0", None), ("i32", "(int)3.7", "3"),
]
# refused, and for what
REFUSED = [
    ("b.a", "9", "bit field"), ("b.c", "8", "bit field"),
    ("b.b", "-1", "does not fit|bit field"), ("rb.a", "8", "bit field"),
    ("i8", "128", "-128 to 127"), ("i8", "-129", "-128 to 127"),
    ("u8", "256", "0 to 255"), ("u8", "-1", "0 to 255"),
    ("ru8", "256", "0 to 255"), ("u16", "65536", "0 to 65535"),
    ("i32", "2147483648", "does not fit"), ("u32", "-1", "does not fit"),
    ("i64", "9223372036854775808", "does not fit"),
    ("u64", "18446744073709551616", "does not fit"),
    ("i128", "170141183460469231731687303715884105728", "does not fit"),
    ("u128", "-1", "does not fit"), ("sh", "256", "does not fit"),
    ("f", "1e300", "too large"), ("f", "1e-60", "too small"),
    ("i32", "3.7", "integer"), ("i32", '"x"', "text"), ("d", '"x"', "text"),
    ("i32", "", "expression"), ("i32", "nothing_there", "nothing_there"),
    ("nothing_there", "1", "nothing_there"), ("p", "7", r"set \*p"),
    ("p", "0.5", "no address"), ("vi", "5", r"vi\[0\]"),
    ("vi", '"abc"', "arrays of char"), ("p", '"abc"', "pointers to char"),
    ("bb.buf", '"sixteen bytes..."', "room for 16 bytes"),
    ("text", '"12345678"', "room for 8 bytes"), ("in", "1", "="),
    ("v++", "3", "changes something"), ("v = 3", "4", "changes something"),
]
# values for which gdb calls the program
CALLED = [("cp", '"hello"', '"hello"'), ("cc", '"h\\ti"', '"h\\ti"'),
          ("rs", '"by a reference"', '"by a reference"')]
O2 = [("n", "9", "9"), ("sum", "10", "10"), ("bb.a", "5", "5"),
      ("col", "BLUE", "BLUE"), ("flag", "0", "false"), ("i", "3", "3"),
      ("d", "9.5", "9.5")]
# the sum goes on from 10, with i from 3 to 8; gdb cannot set registers where
# the processor has AMX, so this is what the source says
O2_SUM = 10 + sum(3 * (i + 42) for i in range(3, 9))
O2_REFUSED = [("k", "5", "optimised"), ("big", "5", "optimised"),
              ("bb.a", "9", "bit field"),
              ("sum", "4000000000", "does not fit")]
RUST = [("i", "5", "5"), ("u", "255", None), ("f", "0.25", "0.25"),
        ("t", "false", "false"), ("c", "'z'", None), ("big", "-7", "-7"),
        ("s.x", "44", "44"), ("s.t.__0", "9", "9"), ("a[1]", "77", "77"),
        ("p", "B", "B"), ("us", "18446744073709551615",
                          "18446744073709551615"), ("*r", "8", "8")]
RUST_SAYS = '8 255 0.25 false z -7 44 9 [1, 77, 3] B 18446744073709551615\n'
RUST_REFUSED = [("u", "300", "0 to 255"), ("s.y", "256", "0 to 255"),
                ("s.s", '"new"', "="), ("o", "5", "="), ("r", "7", r"\*r"),
                ("us", "-1", "does not fit")]

GO = [("i", "5", "5"), ("u", "255", "255 = 0xff"), ("i8", "-128", "-128"),
      ("f", "0.25", "0.25"), ("f32", "0.1", "0.1"), ("t", "false", "false"),
      ("s", '"longer than it was"', '"longer than it was"'),
      ("b.A[1]", "9", "9"), ("b.V[1]", "8", "8"), ("b.In.X", "44", "44"),
      ("b.P.X", "45", "45")]
GO_SAYS = "5 255 -128 0.25 0.1 false longer than it was [1 9 3] [4 8 6] 44 45\n"
GO_REFUSED = [("u", "256", "0 to 255"), ("u", "-1", "0 to 255"),
              ("i8", "128", "-128 to 127"), ("f32", "1e300", "too large"),
              ("i", "3.7", "not set"), ("i", '"x"', "not set"),
              ("b", "5", "not set"), ("nothing_there", "1", "no local")]
PYTHON = [("a", "5", "5"), ("s", "'new'", "'new'"), ("items[1]", "99", "99"),
          ("d['k']", "2", "2"), ("o.x", "7", "7"), ("g", "11", "11"),
          ("none", "a + 1", "6")]
PYTHON_SAYS = "5 new [1, 99, 3] {'k': 2} 7 (1, 2) 11 6\n"
PYTHON_REFUSED = [("pair[0]", "3", "tuple"), ("a", "nothing_there",
                                              "nothing_there"),
                  ("a", "1 +", "syntax|Syntax"), ("items[7]", "1", "range"),
                  ("1", "2", "literal"),
                  ("nothing_there", "2", "no variable")]


def begin(r, a, program, source):
    s = a.start(r, program, breaks=[
        {"file": source, "line": source_line(source, "the stop")}])
    eq(s["state"], "stopped", f"{a.name}: stopped")


def finish(r):
    r.ask("breakpoint_remove", all=True)
    s = r.ask("continue")
    eq(s["state"], "exited", "the program ends")
    return "".join(o.get("text", "") for o in s["output"]
                   if o["stream"] == "stdout")


def under_gdb(program, source, rows):
    """Output of the program after gdb has set the same."""
    commands = ["set pagination off", f"break {source}:"
                f"{source_line(source, 'the stop')}", "run"]
    commands += [f"set var {t} = {v}" for t, v, *_ in rows]
    with open(os.path.join(WORK, "gdb.txt"), "w") as f:
        f.write("\n".join([*commands, "delete", "continue"]))
    p = subprocess.run(["gdb", "-q", "-nx", "-batch", "-x", "gdb.txt",
                        program], cwd=WORK, capture_output=True, text=True,
                       timeout=60)
    ok("exited" in p.stdout, "gdb has run it", p.stdout + p.stderr)
    return p.stdout[p.stdout.index("in main" if "in main" in p.stdout
                                   else "\n"):]


def bare(shown):
    """Pointers come before their text; gdb has numbers before characters,
    classes before enumerators, and no zeros before a null pointer."""
    shown = re.sub(r'^0x[0-9a-f]+ "', '"', shown)
    shown = re.sub(r"^\d+ (?=')", "", shown)
    return re.sub(r"^0x0+$", "0x0", re.sub(r"^(\w+::)+", "", shown))


def sets(r, rows):
    for target, value, told in rows:
        got = r.ask("set", target=target, value=value)
        if told is None:
            continue
        eq(bare(got["value"]), bare(told), f"set {target} {value} tells")


def refuses(r, rows):
    for target, value, why in rows:
        e = r.refused("set", target=target, value=value)
        ok(re.search(why, e.get("message", "")),
           f"set {target} {value} is refused: {why}", e)


def alone(program):
    return subprocess.run([os.path.join(WORK, program)], capture_output=True, text=True,
                          timeout=60).stdout


def as_gdb(a, program, source, rows):
    with a.rig() as r:
        begin(r, a, program, source)
        sets(r, rows)
        said = finish(r)
    ok(said != alone(program), "something was set")
    ok(said in under_gdb(program, source, rows),
       f"{a.name}: {program} prints what it does under gdb", said)


def nothing_changed(a, program, source, rows):
    with a.rig() as r:
        begin(r, a, program, source)
        refuses(r, rows)
        eq(finish(r), alone(program),
           f"{a.name}: what is refused changes nothing in {program}")


def sets_as_gdb_does(a):
    as_gdb(a, "./set", "set.cc", SAME)


def refused_assignments_change_nothing(a):
    nothing_changed(a, "./set", "set.cc", REFUSED)


def registers_of_optimised_code_are_set(a):
    with a.rig() as r:
        begin(r, a, "./set_o2", "set_o2.c")
        sets(r, O2)
        said = finish(r)
        ok(said.startswith(f"9 {O2_SUM} 9.5 6 5 -2 / 0 "),
           f"{a.name}: optimised code goes on with them", said)


def optimised_away_is_an_error(a):
    nothing_changed(a, "./set_o2", "set_o2.c", O2_REFUSED)


def text_for_pointers_is_the_programs_own(a):
    with a.rig() as r:
        begin(r, a, "./set", "set.cc")
        # of std::string gdb has no operator
        sets(r, CALLED if a.name != "gdb" else CALLED[:2])
        # memory of lldb's would be used again by these
        for n in range(8):
            r.ask("eval", expression=f'(int)puts("line {n}")')
        said = finish(r)
        ok("hello h\ti " + ("" if a.name == "gdb" else "by a reference") in
           said, "it is still there", said)


def old_and_new_are_told(a):
    with a.rig() as r:
        begin(r, a, "./set", "set.cc")
        got = r.ask("set", target="r", value="7")
        eq((got["old"], got["value"], got["type"]), ("1", "7", "int"),
           "of a reference: what it refers to")


def editors_set_as_gdb_does(a):
    """setVariable knows a variable by what it was shown in."""
    rows = [(["r"], "7"), (["cr"], "9"), (["rd"], "0.25"), (["rf"], "4"),
            (["rcol"], "BLUE"), (["b", "a"], "7"), (["b", "b"], "31"),
            (["b", "c"], "-8"), (["b", "d"], "false"), (["rb", "e"], "5"),
            (["vi", "[1]"], "99"), (["m", "[1]", "[1]"], "55"),
            (["vec", "[1]"], "22"), (["in", "x"], "13"),
            (["in", "ref"], "14"), (["bb", "buf"], '"new value"'),
            (["text"], '"1234567"'), (["i8"], "-128"), (["f"], "0.1"),
            (["ab", "[1]", "a"], "5"), (["bufs", "[1]", "tail"], "21"),
            (["pin", "d"], "8.5"), (["t"], "false"), (["sh"], "200"),
            (["r128"], "-6")]
    refused = [(["b", "a"], "9"), (["i8"], "300"), (["p"], "7"),
               (["text"], '"12345678"'), (["vec", "[1]"], "3.5"),
               (["ab", "[0]", "a"], "8"),
               # C++ means the key by that name of lldb's
               (["map", "[0]", "second"], "71")]
    if a.name == "gdb":
        # its variables do not say where in a byte they are, and what a
        # pointer or a reference is of is one member more
        refused = [x for x in refused if "a" not in x[0] and
                   "map" not in x[0]]
        rows = [x for x in rows if x[0][0] not in ("rb", "pin") and
                x[0] != ["in", "ref"]]
    same = [(".".join(p).replace(".[", "["), v) for p, v in rows]
    same = [("v" if t == "r" else "pin->d" if t == "pin.d" else
             t, v) for t, v in same]
    with a.rig() as r:
        begin(r, a, "./set", "set.cc")
        e = Editor(r)
        can = e.join()
        ok(can["supportsSetExpression"], "by expressions as well", can)
        e.ask("configurationDone")
        thread = e.event("stopped")["threadId"]
        frame = e.ask("stackTrace", threadId=thread)["stackFrames"][0]["id"]

        def put(path, value):
            ref = e.ask("scopes",
                        frameId=frame)["scopes"][0]["variablesReference"]
            # gdb's names of elements are numbers, unless a library says more
            if a.name == "gdb" and path[0] != "vec":
                path = [p.strip("[]") for p in path]
            for name in path[:-1]:
                ref = [v["variablesReference"] for v in e.ask(
                    "variables", variablesReference=ref)["variables"]
                    if v["name"] == name][0]
            e.ask("variables", variablesReference=ref)
            return e.ask("setVariable", variablesReference=ref, name=path[-1],
                         value=value)

        for path, value in refused:
            try:
                ok(False, f"{path} is refused", put(path, value))
            except RuntimeError as x:
                ok("not set" in str(x), f"{path} {value}: {x}"[:120])
        for path, value in rows:
            got = put(path, value)
            ok(got["value"], f"{path} is told", got)
        x = e.ask("setExpression", frameId=frame, expression="cr",
                  value="r + 1")
        after = "15" if ("in.ref", "14") in same else "10"
        eq(x["value"], after, "setExpression, of a reference")
        said = finish(r)
    want = under_gdb("./set", "set.cc", [*same, ("v", after)])
    ok(said in want, f"{a.name}: what editors set", (said, want))


def rust(a):
    with a.rig() as r:
        begin(r, a, "./setrs", "set.rs")
        refuses(r, RUST_REFUSED)
        sets(r, RUST)
        eq(finish(r), RUST_SAYS, f"{a.name}: variables of Rust")


def go(a):
    with a.rig() as r:
        begin(r, a, "./goset", "set.go")
        refuses(r, GO_REFUSED)
        sets(r, GO)
        eq(finish(r), GO_SAYS, f"{a.name}: variables of Go")


def python(a):
    with a.rig() as r:
        begin(r, a, "set.py", "set.py")
        refuses(r, PYTHON_REFUSED)
        sets(r, PYTHON)
        eq(finish(r), PYTHON_SAYS, f"{a.name}: variables of Python")


def every():
    native = [sets_as_gdb_does, refused_assignments_change_nothing,
              registers_of_optimised_code_are_set, optimised_away_is_an_error,
              text_for_pointers_is_the_programs_own, old_and_new_are_told,
              editors_set_as_gdb_does, rust]
    out = []
    for a in HERE:
        for fn in {"native": native, "go": [go],
                   "python": [python]}[a.kind]:
            def test(a=a, fn=fn):
                fn(a)
            test.__name__ = fn.__name__ + "_" + re.sub("[^a-z0-9]", "_",
                                                       a.name)
            out.append(test)
    return out


built("set.cc", "g++", "-g", "-O0", "-o", "set", "set.cc")
built("set_o2.c", "gcc", "-g", "-O2", "-o", "set_o2", "set_o2.c")
built("set.go", "go", "build", "-gcflags=all=-N -l", "-o", "goset", "set.go")
built("set.py")
built("set.rs", "/usr/bin/rustc", "-g", "-o", "setrs", "set.rs")
HERE = adapters()
run_tests(*every())
