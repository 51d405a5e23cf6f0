#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The functions of real binaries, by the process that reads them: names,
files, counts beside those of other tools, and the values of their calls."""
import atexit
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
import dl  # noqa: E402
from dl import eq, helper, ok, run_tests  # noqa: E402

SYMBOLS = os.path.join(dl.LIBEXEC, "symbols")
SOURCES = os.path.join(HERE, "symbols")
DIR = tempfile.mkdtemp(prefix="dl-symbols-")
atexit.register(shutil.rmtree, DIR, True)
# the system's own: what others have in their PATH differs
RUSTC = "/usr/bin/rustc"

INLINED, NO_DWARF, COLD, CLONE = 1, 2, 4, 16
HAS_DWARF, SPLIT, ELSEWHERE, DAMAGED, FOREIGN, HAS_SYMTAB = \
    1, 2, 4, 8, 16, 64


def build(name, source, *command):
    """command with the source last, in a directory of the test's own."""
    path = os.path.join(DIR, name)
    env = dict(os.environ, GOCACHE=os.path.join(DIR, "go"), HOME=DIR,
               GO111MODULE="off")
    p = subprocess.run([*command, "-o", path,
                        os.path.join(SOURCES, source)], env=env, cwd=DIR,
                       stderr=subprocess.PIPE, text=True)
    if p.returncode != 0:
        raise RuntimeError(p.stderr)
    return path


def ask(mode, *args):
    p = subprocess.run([helper("trc_symbols"), SYMBOLS, mode, *args],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    lines = []
    for line in p.stdout.decode().splitlines():
        try:
            lines.append(json.loads(line))
        except ValueError:
            # the traced program's own output goes to stderr
            raise RuntimeError(f"not JSON: {line!r}")
    if not lines:
        raise RuntimeError(p.stderr.decode())
    return lines


def index(path, pattern="**", *root):
    head, *funcs = ask("index", path, pattern, *root)
    return head, funcs


def named(funcs, name):
    found = [f for f in funcs if f["name"] == name]
    eq(len(found), 1, f"{name} is there once")
    return found[0] if found else {}


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode(
                              errors="replace")


# --- names, places, numbers ---------------------------------------------

VARIANTS = [
    (compiler, flags)
    for compiler in ("gcc", "clang")
    for flags in (("-O0", "-gdwarf-4"), ("-O0", "-gdwarf-5"),
                  ("-O2", "-gdwarf-4"), ("-O2", "-gdwarf-5"),
                  ("-O2", "-gdwarf-5", "-gz"),
                  ("-O2", "-gdwarf-5", "-ffunction-sections",
                   "-Wl,--gc-sections"),
                  ("-O0", "-gdwarf-4", "-no-pie"),
                  ("-O0", "-gdwarf-5", "-gdwarf64"))
]


def cxx_names():
    for compiler, flags in VARIANTS:
        cxx = {"gcc": "g++", "clang": "clang++"}[compiler]
        what = " ".join((compiler,) + flags)
        path = build("cxx", "calls.cc", cxx, "-std=c++17", *flags)
        head, funcs = index(path)
        eq(head["flags"] & (HAS_DWARF | SPLIT), HAS_DWARF, what)
        f = named(funcs, "geo::Shape::draw")
        eq((f["raw"], f["nparams"], f["file"], f["flags"] & NO_DWARF),
           ("_ZNK3geo5Shape4drawEi", 2, SOURCES + "/calls.cc", 0), what)
        text = open(f["file"]).read().splitlines()
        ok("Shape::draw" in text[f["line"] - 1], what + ": its line", f)
        f = named(funcs, "geo::(anonymous namespace)::hidden")
        eq((f["raw"], f["nparams"]),
           ("_ZN3geo12_GLOBAL__N_16hiddenEi", 1), what)
        named(funcs, "F::operator()")
        named(funcs, "twice<int>")
        f = named(funcs, "inlined")
        eq((f["flags"] & INLINED, f["addr"]), (INLINED, 0),
           what + ": what is inlined is reported as such")
        f = named(funcs, "main")
        eq(f["addr"], symbol(path, "main"), what + ": main's address")


def symbol(path, name):
    for line in run("nm", path).splitlines():
        m = re.fullmatch(r"([0-9a-f]+) [tTwWiI] (\S+)", line)
        if m and m.group(2) == name:
            return int(m.group(1), 16)
    return None


def other_forms():
    cxx = ("g++", "-std=c++17", "-g", "-O0")
    plain = build("plain", "calls.cc", *cxx)
    want = {(f["name"], f["addr"]) for f in index(plain)[1]}
    for kind in ("zlib", "zlib-gnu", "zstd"):
        packed = os.path.join(DIR, "packed")
        subprocess.run(["objcopy", "--compress-debug-sections=" + kind, plain,
                        packed], check=True)
        ok(b"debug_info" not in b"" and os.path.getsize(packed) <
           os.path.getsize(plain), kind + " is packed")
        eq({(f["name"], f["addr"]) for f in index(packed)[1]}, want,
           kind + ": the same functions")
    path = build("units", "calls.cc", *cxx, "-gdwarf-4",
                 "-fdebug-types-section")
    named(index(path)[1], "geo::Shape::draw")
    # optimized when it is linked: units refer to each other
    path = build("lto", "calls.cc", "g++", "-std=c++17", "-g", "-O1", "-flto")
    eq(named(index(path)[1], "geo::Shape::draw")["raw"],
       "_ZNK3geo5Shape4drawEi", "link-time optimization")


def stripped_and_split():
    path = build("whole", "calls.cc", "g++", "-std=c++17", "-g")
    bare = os.path.join(DIR, "bare")
    subprocess.run(["strip", "-g", "-o", bare, path], check=True)
    head, funcs = index(bare)
    eq(head["flags"] & (HAS_DWARF | HAS_SYMTAB), HAS_SYMTAB,
       "without debug information there is the symbol table")
    f = named(funcs, "geo::Shape::draw")
    eq((f["flags"] & NO_DWARF, f["addr"], f["raw"]),
       (NO_DWARF, symbol(path, "_ZNK3geo5Shape4drawEi"),
        "_ZNK3geo5Shape4drawEi"), "names are the same there")
    named(funcs, "geo::(anonymous namespace)::hidden")
    subprocess.run(["strip", "-o", bare, path], check=True)
    head, funcs = index(bare)
    eq(head["flags"] & (HAS_DWARF | HAS_SYMTAB), 0, "nothing is left")
    eq(head["build_id"], index(path)[0]["build_id"],
       "and the build id is the same")
    path = build("split", "calls.cc", "clang++", "-std=c++17", "-gdwarf-5",
                 "-gsplit-dwarf")
    head, funcs = index(path)
    eq(head["flags"] & SPLIT, SPLIT, "split debug information is told")
    eq(named(funcs, "geo::Shape::draw")["flags"] & NO_DWARF, NO_DWARF,
       "its functions come from the symbol table")


def shared_by_dwz():
    """What two binaries have in common is in a third file."""
    one, two = (build(n, "calls.cc", "g++", "-std=c++17", "-g")
                for n in ("one", "two"))
    before = {(f["name"], f["addr"]) for f in index(one)[1] if f["addr"]}
    subprocess.run(["dwz", "-m", os.path.join(DIR, "common"), one, two],
                   check=True)
    head, funcs = index(one)
    eq(head["flags"] & (HAS_DWARF | ELSEWHERE), HAS_DWARF | ELSEWHERE,
       "that there is another file is told")
    eq(sorted(before - {(f["name"], f["addr"]) for f in funcs}), [],
       "names come from the symbol table")


def refused():
    def error(data):
        path = os.path.join(DIR, "odd")
        with open(path, "wb") as f:
            f.write(data)
        r = ask("index", path)[0]
        eq(r.get("error"), "BAD_BINARY", "refused")
        return r.get("why", "")

    whole = open(build("c", "calls.c", "gcc", "-g"), "rb").read()
    ok("32-bit" in error(whole[:4] + b"\1" + whole[5:]), "32 bits are named")
    ok("aarch64" in error(whole[:18] + struct.pack("<H", 183) + whole[20:]),
       "another machine is named")
    ok("script" in error(b"#!/bin/sh\n"), "a script is")
    ok("empty" in error(b""), "nothing is")
    # cut anywhere, it is refused or read as far as it goes
    for cut in (100, 1000, len(whole) // 2, len(whole) - 100):
        path = os.path.join(DIR, "odd")
        with open(path, "wb") as f:
            f.write(whole[:cut])
        r = ask("index", path)[0]
        ok("functions" in r or r.get("error") == "BAD_BINARY",
           f"{cut} bytes of it", r)


def section(path, name):
    """(offset in the file, size)"""
    m = re.search(r" " + re.escape(name) + r" +\S+ +[0-9a-f]+ ([0-9a-f]+) "
                  r"([0-9a-f]+)", run("readelf", "-SW", path))
    return int(m.group(1), 16), int(m.group(2), 16)


def bombs():
    """Sections that say they are larger than they are, or have no sense."""
    plain = build("bomb", "calls.c", "gcc", "-g", "-gz")
    zstd = os.path.join(DIR, "bomb-zstd")
    subprocess.run(["objcopy", "--compress-debug-sections=zstd", plain, zstd],
                   check=True)
    odd = os.path.join(DIR, "bomb-odd")
    for path in (plain, zstd):
        at, size = section(path, ".debug_info")
        for claim in (0, 1, 1 << 20, 1 << 31, 1 << 62):
            data = bytearray(open(path, "rb").read())
            data[at + 8:at + 16] = struct.pack("<Q", claim)
            with open(odd, "wb") as f:
                f.write(data)
            head, funcs = index(odd)
            eq(head["flags"] & (HAS_DWARF | DAMAGED), DAMAGED,
               f"{claim} bytes are not believed")
            eq(named(funcs, "add")["flags"] & NO_DWARF, NO_DWARF,
               "and the symbol table is still there")
    path = build("bomb", "calls.c", "gcc", "-g")
    at, size = section(path, ".debug_info")
    for fill in (b"\0", b"\1", b"\x7f", b"\x80", b"\xff"):
        data = bytearray(open(path, "rb").read())
        data[at + 11:at + size] = fill * (size - 11)
        with open(odd, "wb") as f:
            f.write(data)
        named(index(odd)[1], "add")
        ask("types", odd, "**")
    at, size = section(path, ".debug_abbrev")
    data = bytearray(open(path, "rb").read())
    data[at:at + size] = b"\x01\x2e\x01" + b"\x3f\x19" * ((size - 3) // 2) \
        + b"\0" * ((size - 3) % 2)
    with open(odd, "wb") as f:
        f.write(data)
    named(index(odd)[1], "add")


def of_another_version():
    """A unit of a DWARF that is not known is passed over, others are not."""
    extra = os.path.join(DIR, "extra.c")
    with open(extra, "w") as f:
        f.write("int another(int n)\n{\n\treturn n + 1;\n}\n")
    path = build("versions", "calls.c", "gcc", "-g", extra)
    head, funcs = index(path)
    eq((head["flags"] & (HAS_DWARF | FOREIGN | DAMAGED),
        named(funcs, "another")["flags"] & NO_DWARF), (HAS_DWARF, 0),
       "both units are known")
    at, _ = section(path, ".debug_info")
    with open(path, "r+b") as f:
        f.seek(at + 4)
        f.write(struct.pack("<H", 6))
    head, funcs = index(path)
    eq(head["flags"] & (HAS_DWARF | FOREIGN | DAMAGED), HAS_DWARF | FOREIGN,
       "that one is of another version is told")
    eq([named(funcs, n)["flags"] & NO_DWARF for n in ("another", "add")],
       [NO_DWARF, 0], "its functions come from the symbol table")


def dwarf_functions(path):
    """What readelf says: the addresses of subprograms that have code."""
    addrs, inside = set(), False
    for line in run("readelf", "-W", "--debug-dump=info", path).splitlines():
        m = re.match(r" *<[0-9a-f]+><[0-9a-f]+>: Abbrev Number: \d+(?: "
                     r"\((\w+)\))?", line)
        if m:
            inside = m.group(1) == "DW_TAG_subprogram"
        m = re.match(r" +<[0-9a-f]+> +DW_AT_low_pc .*?([0-9a-f]+)\)?$", line)
        if inside and m:
            addrs.add(int(m.group(1), 16))
    return addrs


def counts_agree():
    paths = [os.path.join(dl.LIBEXEC, "netproc"),
             os.path.join(dl.LIBEXEC, "spawner"),
             build("cc5", "calls.cc", "g++", "-std=c++17", "-g", "-O0"),
             build("cc4", "calls.cc", "clang++", "-std=c++17", "-gdwarf-4"),
             build("rs", "calls.rs", RUSTC, "-g")]
    for path in paths:
        name = os.path.basename(path)
        head, funcs = index(path)
        ours = {f["addr"] for f in funcs if not f["flags"] & NO_DWARF}
        theirs = dwarf_functions(path) - {0, 1}
        ok(len(theirs) > 20, f"{name}: {len(theirs)} functions with code")
        eq(sorted(theirs - ours)[:5], [], name + ": each of readelf's is ours")
        nm = {int(line.split()[0], 16)
              for line in run("nm", "--defined-only", path).splitlines()
              if re.match(r"[0-9a-f]+ [tTwW] ", line)}
        sized = {f["addr"] for f in funcs}
        elf = run("readelf", "-sW", path)
        code = {int(m.group(1), 16) for m in re.finditer(
            r": ([0-9a-f]+) +\S+ FUNC +\S+ +\S+ +\d+ ", elf)}
        eq(sorted(code - sized - {0})[:5], [],
           name + ": each function of the symbol table is there")
        ok(code <= nm | sized | {0}, name + ": nm agrees")


def patterns():
    path = build("pat", "calls.cc", "g++", "-std=c++17", "-g")

    def names(pattern, *root):
        return {f["name"] for f in index(path, pattern, *root)[1]}

    eq(names("geo::*"), {"geo::call"}, "one star")
    eq(names("geo::Shape::draw"), {"geo::Shape::draw"}, "a whole name")
    ok({"geo::call", "geo::Shape::draw",
        "geo::(anonymous namespace)::hidden"} <= names("geo::**"), "two")
    eq(names("twice"), {"twice<int>", "twice<double>"}, "all instances")
    eq(names("_ZN3geo4callEi"), {"geo::call"}, "a raw name")
    user = names("@usercode", SOURCES)
    ok("geo::call" in user and not any(n.startswith("std::") for n in user),
       "what is below the root", user)
    eq(names("@usercode", SOURCES[:-1]), set(), "by whole components")
    eq(names("@file:symbols/calls.cc"), user, "by file")
    r = ask("index", path, "a::***")[-1]
    eq(r.get("error"), "INVALID_PATTERN", "what is wrong is told")


# --- values ---------------------------------------------------------------

def calls(path, pattern, by="trace"):
    """[(name, args, result)] in the order of the calls."""
    out, open_calls = [], []
    for r in ask(by, pattern, path):
        if "args" in r:
            open_calls.append([r["name"], r["args"], None])
            out.append(open_calls[-1])
        else:
            call = open_calls.pop()
            eq(call[0], r["name"], "calls and returns are pairs")
            call[2] = (r["type"], r["result"])
    return out


def matches(value, want, gone=False):
    """Strings in want that begin with ~ are regular expressions.  With gone,
    one of several may be known to have been removed."""
    if gone and value == "<optimized out>":
        return True
    if isinstance(want, str) and want.startswith("~"):
        return isinstance(value, str) and re.fullmatch(want[1:], value)
    if isinstance(want, list):
        return isinstance(value, list) and len(value) == len(want) and all(
            matches(v, w, gone) for v, w in zip(value, want))
    if isinstance(want, dict):
        return isinstance(value, dict) and list(value) == list(want) and all(
            matches(value[k], want[k], gone) for k in want)
    return value == want and type(value) is type(want)


def same(path, what, pattern, *want, gone=False):
    """By breakpoints, and by the tracer's engine in the program."""
    for by in ("trace", "engine"):
        compare(calls(path, pattern, by), f"{what}, {by}", pattern, want,
                gone)


def compare(got, what, pattern, want, gone):
    eq(len(got), len(want), f"{what}: calls of {pattern}")
    for (name, args, result), (wargs, wresult) in zip(got, want):
        ok(matches(args, wargs, gone), f"{what}: arguments of {name}",
           f"{args!r} is not {wargs!r}")
        # results that nobody uses are not told to be gone
        ok(gone or wresult is None or matches(list(result), list(wresult)),
           f"{what}: result of {name}", f"{result!r} is not {wresult!r}")


PTR = "~0x[0-9a-f]+"
SETTINGS = "~<Settings at 0x[0-9a-f]+>"


def config_of(first):
    return {"name": "nm", "settings": SETTINGS, "values": [first, 2, 3],
            "tag": "tag", "ratio": 1.25, "text": "sss", "f": 5, "g": 9,
            "ok": True}


def cxx_values(path, what):
    same(path, what, "geo::Shape::draw", ([PTR, 1], ("int", 2)))
    same(path, what, "greet", (["a", "b\\xffé", "view"],
                               ("~.*string.*", "ab\\xffé" + "view")))
    same(path, what, "twice<int>", ([4], ("int", 8)))
    same(path, what, "twice<double>", ([2.5], ("double", 5)))
    same(path, what, "config", (
        [config_of(1), 77, None, "High", "B"], ("Config", config_of(85))))
    same(path, what, "small", (
        [{"a": 1, "b": 2.5}, {"x": 3.5, "y": 4}, {"a": 5.5, "b": 6.5}, {},
         "~<Either( at .*)?>", True, 99, 200],
        ("Small", {"a": 1 + 3 + 4 + 5 + 6 + 3 + 1 + 99 + 200, "b": 3.5})))
    same(path, what, "two", ([1, 2, 3, 4, 5, 6, 7, 8.5, 9],
                             ("Two", {"x": 36.5, "y": 9})))
    same(path, what, "floats", ([1.5, 2.25, "q\n\"x", PTR, "0x0", "NaN"],
                                ("double", 119.75)))
    same(path, what, "variadic", (["%d"], ("int", 37)))
    got = sorted(calls(path, "text"), key=lambda c: len(c[1][0]) * 10 +
                 (c[2][1] is None))
    eq([(args, result) for _, args, result in got],
       [(["abc", "High"], ("const char *", "abc")),
        (["abc", "Low"], ("const char *", None)),
        (["z" * 1024, "High"], ("const char *", "z" * 1024))],
       what + ": strings are cut after 1 KB, and NULL is null")
    same(path, what, "bad", (["0x10", "~.*"], ("null", None)))


def cxx_bit_fields(path, what):
    """They are in the words that they touch, wherever these begin."""
    same(path, what, "place::bits", (
        [{"c": 97, "a": -5, "s": 300}, {"type": 1, "len": 2, "flags": 3},
         {"dirty": True, "id": 5, "gen": 600}, {"f": 1.5, "a": 9, "d": 2.5},
         {"a": 11, "b": 22, "c": 33}, 42],
        ("Odd", {"c": 97, "a": -5, "s": 300 + 2 + 600 + 33 + 42 + 2})))


def cxx_copied(path, what):
    """What has a copy of its own making is passed by address."""
    same(path, what, "place::copied", (
        [{"a": 1}, {"a": 2}, {"a": 3}, {"a": 4}, 42],
        ("Written", {"a": 52})))
    same(path, what, "place::within", (
        [{"m": "~<Written at .*>"}, {"m": r"~<Written\[1\] at .*>"},
         {"Written": "~<Written at .*>", "b": 8}, {"v": 9}, 42],
        ("~long( int)?", 70)))
    same(path, what, "place::kept", (
        [{"a": 1}, {"a": 2}, {"a": 9}, {"a": 4}, 42], ("Kept", {"a": 58})))
    # a class of which there is but the name
    same(path, what, "place::unseen", (
        ["<optimized out>", {"runtime_error": "~<runtime_error at .*>",
                             "code": 7}, 42],
        ("runtime_error", "<optimized out>")))


def cxx_members(path, what):
    """Pointers to member functions are two words, of which one is shown."""
    same(path, what, "place::members", (
        [PTR, "0x8", {"m": PTR}, 42, {"m": [PTR, "0x0"]}], ("~.*", PTR)))
    same(path, what, "place::last", ([1, 2, 3, 4, 5, "0x0", 42],
                                     ("~long( int)?", 57)))


def cxx_quads(path, what):
    """__float128 is no long double."""
    same(path, what, "place::quads", (
        ["~<_.*128>", 3.5, 42, 4.5], ("~_.*128", "~<_.*128>")))
    # Clang has structures of it elsewhere than the convention
    if what.startswith("gcc"):
        same(path, what, "place::quad", (
            [3.5, {"q": "~<_.*128>"}, 42, 4.5],
            ("Quad", {"q": "~<_.*128>"})))


def copies():
    """What a compiler knows is not passed, and is told all the same."""
    for compiler in ("g++", "clang++"):
        path = build("copies_" + compiler, "copies.cc", compiler, "-g", "-O2")
        far = -1 << 40
        same(path, compiler, "scaled",
             ([1, 7, far, 2.5, "0x0", True], ("int", 5)),
             ([2, 7, far, 2.5, "0x0", True], ("int", 12)),
             gone=compiler != "g++")
        same(path, compiler + ", in two parts", "even", ([4], ("int", 4)))
        same(path, compiler + ", 128 bits", "wide",
             ([str(-1 << 127), str(1 << 64), -5],
              ("__int128", str((-1 << 127) + (1 << 64) - 5))))


def cxx_calls():
    for compiler, flags in VARIANTS:
        if "-gz" in flags or "-no-pie" in flags:
            continue
        cxx = {"gcc": "g++", "clang": "clang++"}[compiler]
        # what is not used is not passed, and what is constant neither
        keep = ("-fno-ipa-cp", "-fno-ipa-sra", "-fno-ipa-pure-const",
                "-fno-ipa-icf") if compiler == "gcc" else ()
        if compiler == "clang" and "-O2" in flags:
            flags = tuple("-O1" if f == "-O2" else f for f in flags) + (
                "-fno-inline",)
        path = build("values", "calls.cc", cxx, "-std=c++17", *flags, *keep)
        cxx_values(path, " ".join((compiler,) + flags))
        path = build("places", "places.cc", cxx, "-std=gnu++17", *flags, *keep)
        for look in (cxx_bit_fields, cxx_copied, cxx_members, cxx_quads):
            look(path, " ".join((compiler,) + flags))


def c_calls():
    for compiler in ("gcc", "clang"):
        for flags in (("-O0",), ("-O2",), ("-O2", "-gdwarf-4")):
            what = " ".join((compiler,) + flags)
            path = build("c", "calls.c", compiler, "-g", *flags)
            got = calls(path, "add")
            eq([(a, r) for _, a, r in got], [([1, 2], ("int", 3))], what)
            eq(calls(path, "plus"), [["plus", [1, 2], ("int", 3)]],
               what + ": by its other name")
            (_, args, result), = calls(path, "by_value*")
            for value, want in zip(args, [{"x": 1, "y": 41}, "GREEN",
                                          1 << 40, -1]):
                if isinstance(value, dict):
                    value = {k: want[k] if v == "<optimized out>" else v
                             for k, v in value.items()}
                ok(value in (want, "<optimized out>"),
                   what + ": an argument is right or known to be gone",
                   (value, want))
            eq(result, ("int", 48), what)
            for by in ("trace", "engine"):
                eq([r for _, _, r in calls(path, "scaled", by)],
                   [("long double", 3.75), ("long double", 1)],
                   what + ": long double, " + by)
            first, second = (args for _, args, _ in calls(path, "crowded*"))
            if compiler == "gcc":
                eq((first[1:], second[1:]), ([1, 2, 3, 4, 5, 6, 7, 2.5],
                                             [2, 3, 4, 5, 6, 7, 8, 3.5]),
                   what + ": arguments of a copy on the stack")
            first, second = calls(path, "shrunk*")
            for got, want in ((first, [1, 2, path]), (second, [3, 3, "zz"])):
                for value, w in zip(got[1], want):
                    ok(value in (w, "<optimized out>"), what +
                       ": what was removed is known to be gone", (got, want))
            eq(second[2], ("int", 3 + ord("z")), what)
            if flags == ("-O0",):
                eq(second[1], [3, 3, "zz"], what + ": nothing is gone")


def closures(path, what):
    """What is captured takes its place, but is no argument; {} is none."""
    got = [args for _, args, _ in calls(path, "calls::closures::*")]
    eq(got, [[{}, 7, "seven"]] + [[7, "seven"]] * 5 + [[[8, 0.5]]],
       what + "arguments of closures")


def rust_crowded(path, what):
    """Where registers end, what has two words may be divided."""
    same(path, what, "calls::half", (
        [1, 2, 3, 4, 5, "half", 42], ("i64", 61)))
    same(path, what, "calls::wide", (
        [1, 2, 3, 4, 5, -6, 42, str(7 << 64), 43],
        ("i128", str((7 << 64) + 94))))
    same(path, what, "calls::spread", (
        [[1, 2, 3], [2.5, 3], "b", "c", [-4, 5], {"Some": 6}, "stack", 42],
        ("i64", 62)))


def rust_calls():
    for flags in ((), ("-C", "symbol-mangling-version=v0"),
                  ("-C", "opt-level=1")):
        what = "rust " + " ".join(flags)
        gone = "opt-level=1" in flags
        path = build("calls", "calls.rs", RUSTC, "-g", "--crate-type=bin",
                     "--crate-name=calls", *flags)
        v = what + ": "
        same(path, v, "calls::auth::**::validate", (["abé", 2],
                                                    ("bool", True)), gone=gone)
        same(path, v, "<calls::Config as calls::Draw>::draw",
             ([PTR, 4], ("u32", 7)), gone=gone)
        same(path, v, "calls::make", ([9], ("Option<u32>", {"Some": 9})),
             ([0], ("Option<u32>", "None")), gone=gone)
        # what is constant there lives in memory, and nobody says so
        if not gone:
            same(path, v, "calls::show", ([5], ("String", "<5>")),
                 (["q"], ("String", "<q>")))
        same(path, v, "calls::by_value", (
            [{"name": "x", "settings": SETTINGS}, {"Rect": {"w": 4, "h": 5}},
             "Red", "\U0001f600"], ("~Result<u32,.*", {"Ok": 4 + 0x1f600})), (
            [{"name": "name of it", "settings": SETTINGS}, {"Circle": 2.5},
             "Green", "z"], ("~Result<u32,.*", {"Err": "name of it"})), gone=gone)
        same(path, v, "calls::slices", (
            [[1, -2, 3], [7, 8], [9, 2.5], {"Some": "opt"}, True],
            ("(i64, f64)", [17, 1.5])), (
            [[], [], [9, 2.5], "None", False], ("(i64, f64)", [9, 0.5])), gone=gone)
        same(path, v, "calls::unit", ([-5, "s", "r"], ("null", None)), gone=gone)
        if not gone:
            closures(path, v)
            rust_crowded(path, v)
            same(path, v, "calls::boxed", (
                ["bx", {"Some": 4}, "None", [1, 2, 3, 4]],
                ("Color", "Green")))
        same(path, v, "calls::shape",
             ([0], ("Shape", {"Circle": 1.5})),
             ([1], ("Shape", {"Rect": {"w": 2, "h": 3}})),
             ([2], ("Shape", "Unit")), gone=gone)
        same(path, v, "calls::pair", ([5], ("~.*", [5, 6])), gone=gone)
        same(path, v, "calls::either",
             ([0], ("Result<u64, f64>", {"Ok": 7})),
             ([1], ("Result<u64, f64>", {"Err": 2.5})), gone=gone)
        same(path, v, "calls::aligned", ([5, {"i": 6}, 7], None), gone=gone)
        same(path, v, "plain", ([3, 4.5], ("i32", 7)), gone=gone)


def go_calls():
    for flags in ((), ("-gcflags=-N -l",)):
        go_values(build("calls_go", "calls.go", "go", "build", *flags),
                  " ".join(flags))


def go_values(path, flags):
    want = {"main.main": [], "main.add": [1, "ab", [3, 4], 2.5, True],
            "main.(*T).Meth": [PTR, 2.5],
            "main.byval": [{"x": 1, "s": "z"}, [5, 6], PTR],
            "main.nameless": ["nm", [7, 8], 9, PTR, 1.5,
                              "~0x0|<optimized out>", 12],
            "main.main.func1": [9],
            "main.(*hold[go.shape.string_0]).set": [PTR, 3, "held"],
            "main.dict[go.shape.float64_0]": [1.5, 4]}
    for by in ("trace", "engine"):
        got = {n: (a, r) for n, a, r in calls(path, "main.*", by)}
        eq(sorted(got), sorted(want), "Go's functions, " + by)
        for name, args in want.items():
            seen = got[name][0]
            # without optimization the dictionary is told
            if flags and "go.shape" in name:
                seen = seen[1:]
            ok(matches(seen, args), name + " " + flags, got[name])
            eq(got[name][1], None, name + " is watched at its entry alone")


def confined():
    """Reads the status of a symbols process while it waits."""
    import socket
    a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    p = subprocess.Popen(
        ["sh", "-c", f"exec \"$0\" 3<&{b.fileno()}", SYMBOLS],
        pass_fds=[b.fileno()], stdout=subprocess.DEVNULL)
    b.close()

    def status(key):
        with open(f"/proc/{p.pid}/status") as f:
            return dict(line.rstrip().split(":\t", 1) for line in f
                        if ":\t" in line.rstrip()).get(key, "").strip()

    try:
        ok(dl.wait_for(lambda: status("Seccomp") == "2"), "it has a filter")
        eq(status("NoNewPrivs"), "1", "no new privileges")
        for caps in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            eq(int(status(caps), 16), 0, caps)
        with open(f"/proc/{p.pid}/limits") as f:
            limits = f.read()
        ok(re.search(r"Max cpu time +120 ", limits), "bounded time", limits)
        if dl.AS_ROOT:
            eq(os.listdir(f"/proc/{p.pid}/root"), [], "an empty root")
            fds = sorted(os.listdir(f"/proc/{p.pid}/fd"), key=int)
            eq(fds, ["0", "1", "2", "3", "4"], "no fd but its own")
        # what is no message ends it, and nothing else does
        a.send(b"garbage")
        eq(p.wait(timeout=30), 1, "it ends when its peer breaks the table")
    finally:
        p.kill()
        p.wait()
        a.close()


run_tests(cxx_names, other_forms, stripped_and_split,
          shared_by_dwz, refused, bombs, of_another_version, counts_agree,
          patterns, copies, cxx_calls, c_calls, rust_calls, go_calls, confined)
