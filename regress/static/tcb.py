#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""The sources of the programs that run with privilege, for docs/TCB.md.

usage: tcb.py [--write] BUILD_DIRECTORY [PAGE]

Compares the tables of a page, docs/TCB.md, each between a line "<!-- PROGRAM -->" and
"<!-- end PROGRAM -->", with what the programs are linked from; prints what
differs.  --write makes them anew.  Lines are those that hold more than blanks
and comments; what a file does is the first sentence of its first comment."""
import os
import re
import subprocess
import sys

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
PAGE = os.path.join(TOP, "docs", "TCB.md")
# program: where it is in the build directory, and its own directories
PROGRAMS = {
    "setup": ("bin/debuglanternd", ("setup", "setup/conf")),
    "parent": ("libexec/debuglantern/parent", ("parent",)),
    "launcher": ("libexec/debuglantern/launcher", ("launcher",)),
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


def defined(path):
    out = subprocess.run(["nm", "--defined-only", path], text=True,
                         capture_output=True, check=True).stdout
    return {f[2] for f in (line.split() for line in out.splitlines())
            if len(f) == 3 and f[1] in "TDBRVW"}


def objects(build, directory):
    top = os.path.join(build, "obj", directory)
    return sorted(os.path.join(top, n) for n in os.listdir(top)
                  if n.endswith(".o"))


def linked(build, program, own):
    """The sources whose symbols the program has."""
    has = defined(os.path.join(build, program))
    for directory in own + SHARED:
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


def tables(build):
    for name, (program, own) in PROGRAMS.items():
        rows, sums = [], {}
        for source in sorted(linked(build, program, own)):
            text = text_of(source)
            n = code_lines(text)
            part = os.path.dirname(source)
            sums[part] = sums.get(part, 0) + n
            rows.append(f"| `{source}` | {n} | {purpose(text)} |")
        total = ", ".join(f"{n:,} in {d}/" for d, n in sums.items())
        yield name, "\n".join([
            f"{sum(sums.values()):,} lines: {total}.", "",
            "| file | lines | what it does |", "|---|---|---|", *rows])


def main(argv):
    write = argv[1:2] == ["--write"]
    build, path = (argv[2 if write else 1:] + [PAGE])[:2]
    with open(path, encoding="utf-8") as f:
        page = f.read()
    for name, table in tables(build):
        begin, end = f"<!-- {name} -->\n", f"\n<!-- end {name} -->"
        before, found, rest = page.partition(begin)
        kept, ended, after = rest.partition(end)
        if not found or not ended:
            sys.exit(f"docs/TCB.md: no table {name}")
        if kept != table and not write:
            print(f"docs/TCB.md: the table {name} is not what is linked: "
                  f"regress/static/tcb.py --write {build}")
        page = before + begin + table + end + after
    if write:
        with open(path, "w", encoding="utf-8") as f:
            f.write(page)


main(sys.argv)
