#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""The sources of the programs that run with privilege, for docs/TCB.md.

usage: tcb.py [--write] BUILD_DIRECTORY [PAGE [LIST]]

Compares the tables of a page, docs/TCB.md, each between a line "<!-- PROGRAM -->" and
"<!-- end PROGRAM -->", with what the programs are linked from; prints what
differs.  --write makes them anew.  Lines are those that hold more than blanks
and comments; what a file does is the first sentence of its first comment.
Directories whose code runs after all rights were given up have a table of their
own; the list, tcb.txt, has the functions by which they are entered."""
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PAGE = os.path.join(TOP, "docs", "TCB.md")
LIST = os.path.join(TOP, "regress", "static", "tcb.txt")
# program: where it is in the build directory, and its own directories
PROGRAMS = {
    "setup": ("bin/debuglanternd", ("setup", "setup/conf")),
    "parent": ("libexec/debuglantern/parent", ("parent",)),
    "launcher": ("libexec/debuglantern/launcher",
                 ("launcher", "launcher/base", "launcher/observer",
                  "launcher/owner")),
    "acctproc": ("libexec/debuglantern/acctproc", ("acctproc",)),
}
SHARED = ("common/base", "common/confine", "common/wire", "common/tty")
TOKEN = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'",
                   re.S)


def source_of(obj, build):
    name = os.path.relpath(obj, os.path.join(build, "obj"))[:-2]
    name = name.replace(".tab", "")
    for suffix in (".c", ".y"):
        if os.path.exists(os.path.join(TOP, name + suffix)):
            return name + suffix
    return None


def symbols(path, kinds):
    out = subprocess.run(["nm", path], text=True, capture_output=True,
                         check=True).stdout
    return {f[-1] for f in (line.split() for line in out.splitlines())
            if f[-2:-1] and f[-2] in kinds}


def defined(path):
    return symbols(path, "TDBRVW")


def objects(build, directory):
    top = os.path.join(build, "obj", directory)
    return sorted(os.path.join(top, n) for n in os.listdir(top)
                  if n.endswith(".o"))


def linked(build, program, own):
    """The sources whose symbols the program has."""
    has = defined(os.path.join(build, program))
    for directory in (*own, *SHARED):
        for obj in objects(build, directory):
            source = source_of(obj, build)
            if source and defined(obj) & has:
                yield source


def text_of(source):
    with open(os.path.join(TOP, source), encoding="utf-8") as f:
        return f.read()


def code_lines(text):
    text = TOKEN.sub(lambda m: "\n" * m[0].count("\n") if m[0][0] == "/"
                     else m[0], text)
    return sum(1 for line in text.split("\n") if line.strip())


def purpose(text):
    comments = [c for c in re.findall(r"/\*(.*?)\*/", text, re.S)
                if "SPDX" not in c]
    words = " ".join(re.sub(r"^\s*\*", "", comments[0], flags=re.M).split())
    return re.match(r".*?[.](?= |$)|.*", words)[0]


def table_of(rows):
    sums = {}
    for source, n, _ in rows:
        part = os.path.dirname(source)
        sums[part] = sums.get(part, 0) + n
    total = ", ".join(f"{n:,} in {d}/" for d, n in sums.items())
    return "\n".join([
        f"{sum(sums.values()):,} lines: {total}.", "",
        "| file | lines | what it does |", "|---|---|---|",
        *(f"| `{source}` | {n} | {words} |" for source, n, words in rows)])


def tables(build, entries):
    for name, (program, own) in PROGRAMS.items():
        rows = [(source, code_lines(text), purpose(text))
                for source in sorted(linked(build, program, own))
                for text in [text_of(source)]]
        apart = [d for d in own if d in entries]
        yield name, table_of([r for r in rows
                              if os.path.dirname(r[0]) not in apart])
        for d in apart:
            yield d, table_of([r for r in rows if os.path.dirname(r[0]) == d])


def read_list(path):
    """({directory: functions by which it is entered}, {program: lines})"""
    entries, most = {}, {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            if m := re.fullmatch(r"most (\S+) (\d+)\n", line):
                most[m[1]] = int(m[2])
            elif m := re.fullmatch(r"(\S+): (.*)\n", line):
                entries[m[1]] = set(m[2].split())
    return entries, most


def too_many(build, entries, most):
    for name, limit in most.items():
        program, own = PROGRAMS[name]
        own = [d for d in own if d not in entries]
        n = sum(code_lines(text_of(s)) for s in linked(build, program, own)
                if os.path.dirname(s) in own)
        if n > limit:
            yield f"{name}: {n:,} lines run with rights, at most {limit:,} may"


def wrong_entries(build, entries):
    """Calls into code without rights, other than those that are expected."""
    for _, own in PROGRAMS.values():
        for d in (d for d in own if d in entries):
            needed = set().union(*(
                symbols(o, "U") for other in own if other not in entries
                for o in objects(build, other) if source_of(o, build)))
            inside = set().union(*(defined(o) for o in objects(build, d)
                                   if source_of(o, build)))
            for name in sorted((needed & inside) ^ entries[d]):
                yield (f"{d}/: {name} is " + (
                    "called with rights" if name in needed & inside else
                    "not called from there") + "; see regress/static/tcb.txt")


def main(argv):
    write = argv[1:2] == ["--write"]
    given = argv[2 if write else 1:]
    build, path, listed = given + [PAGE, LIST][len(given) - 1:]
    entries, most = read_list(listed)
    with open(path, encoding="utf-8") as f:
        page = f.read()
    for name, table in tables(build, entries):
        begin, end = f"<!-- {name} -->\n", f"\n<!-- end {name} -->"
        before, found, rest = page.partition(begin)
        kept, ended, after = rest.partition(end)
        if not found or not ended:
            sys.exit(f"docs/TCB.md: no table {name}")
        if kept != table and not write:
            print(f"docs/TCB.md: the table {name} is not what is linked: "
                  f"regress/static/tcb.py --write {build}")
        page = before + begin + table + end + after
    for line in (*wrong_entries(build, entries),
                 *too_many(build, entries, most)):
        print(line)
    if write:
        with open(path, "w", encoding="utf-8") as f:
            f.write(page)


main(sys.argv)
