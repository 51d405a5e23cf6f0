#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Uses of one directory of a role by another that wings.txt does not allow.

usage: wings.py BUILD_DIRECTORY [LIST]

The object files tell: a symbol that one needs and another defines is a use.
Prints nothing where all is as the list, wings.txt, has it."""
import collections
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
SOURCES = (".c", ".S", ".y")


def rules(path):
    """({directory: directories it may use}, {role: most files of a cycle})"""
    may, most = {}, {}
    with open(path) as f:
        for line in f:
            line = line.split("#")[0].strip()
            if m := re.fullmatch(r"cycle (\S+) (\d+)", line):
                most[m[1]] = int(m[2])
            elif m := re.fullmatch(r"(\S+):(.*)", line):
                role = m[1].split("/")[0]
                may[m[1]] = {f"{role}/{d}" if d != "." else role
                             for d in m[2].split()}
            elif line:
                sys.exit(f"{path}: {line}?")
    return may, most


def objects(build, role):
    """{file: (symbols that it defines, symbols that it needs)}"""
    found = {}
    for directory, _, names in os.walk(os.path.join(build, "obj", role)):
        paths = [os.path.join(directory, n) for n in names
                 if n.endswith(".o")]
        out = subprocess.run(["nm", "-A", *paths], capture_output=True,
                             text=True, check=True).stdout if paths else ""
        for line in out.splitlines():
            path, rest = line.split(":", 1)
            kind, symbol = rest.split()[-2:]
            name = os.path.relpath(path, os.path.join(build, "obj"))[:-2]
            # of an earlier state of the sources
            if not any(os.path.exists(os.path.join(TOP, name + e))
                       for e in SOURCES):
                continue
            defines, needs = found.setdefault(name, (set(), set()))
            if kind == "U":
                needs.add(symbol)
            elif kind in "TDBRVW":
                defines.add(symbol)
    return found


def uses(found):
    """{file: {file that it uses: symbols}}"""
    where = {s: name for name, (defines, _) in found.items() for s in defines}
    out = {}
    for name, (_, needs) in found.items():
        out[name] = collections.defaultdict(set)
        for s in needs:
            if where.get(s, name) != name:
                out[name][where[s]].add(s)
    return out


def reached(graph, start):
    seen, todo = set(), [start]
    while todo:
        for other in graph[todo.pop()]:
            if other not in seen:
                seen.add(other)
                todo.append(other)
    return seen


def largest_cycle(graph):
    """The files of the largest set that all use each other."""
    all_of = {name: reached(graph, name) for name in graph}
    return max(([b for b in all_of[a] if a in all_of[b]] for a in graph),
               key=len, default=[])


def check(build, may, most):
    for role in sorted({d.split("/")[0] for d in may} | set(most)):
        graph = uses(objects(build, role))
        if not graph:
            yield f"{build}/obj/{role}: no object files; run make"
            continue
        seen = collections.defaultdict(set)
        for name, others in sorted(graph.items()):
            mine = os.path.dirname(name)
            for other, symbols in sorted(others.items()):
                theirs = os.path.dirname(other)
                # what stands above the directories puts them together
                if mine in (theirs, role) or mine not in may:
                    continue
                seen[mine].add(theirs)
                if theirs not in may[mine]:
                    yield (f"{name} uses {other} "
                           f"({', '.join(sorted(symbols))}): {mine} "
                           f"may not use {theirs}")
        for d in sorted(d for d in may if d.split("/")[0] == role):
            for other in sorted(may[d] - seen[d]):
                yield f"wings.txt: {d} uses nothing of {other} any more"
        cycle = largest_cycle(graph)
        if len(cycle) > most.get(role, len(cycle)):
            yield (f"{role}: {len(cycle)} files that all use each other, and "
                   f"at most {most[role]} may: {' '.join(sorted(cycle))}")
        elif len(cycle) < most.get(role, 0):
            yield (f"wings.txt: the largest cycle of {role} has "
                   f"{len(cycle)} files now")


def main():
    listed = sys.argv[2] if len(sys.argv) > 2 else \
        os.path.join(HERE, "wings.txt")
    lines = list(check(sys.argv[1], *rules(listed)))
    print("\n".join(lines), end="\n" if lines else "")
    sys.exit(1 if lines else 0)


if __name__ == "__main__":
    main()
