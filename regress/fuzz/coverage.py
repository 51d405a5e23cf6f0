#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Which lines of each parser the corpus reaches.

usage: coverage.py DIRECTORY_OF_TARGETS [-l] [SOURCE...]

The parsers are those that a target names in its line "covers:".  A source is
reached by what all targets together reach of it.  Functions that no input can
reach are listed with their reasons in regress/fuzz/unreached, and are left out;
a row of it that names none is an error.  Exits with 1 if a parser is below
90 %.  -l prints the lines that are not reached, of the sources that are named
or of all.
"""
import collections
import fnmatch
import glob
import os
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

GOAL = 90.0
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))


def first_lines(name, key):
    with open(f"{HERE}/fuzz_{name}.c") as f:
        for line in f:
            m = re.match(rf"/\* {key}: (.*) \*/$", line)
            if m:
                return m.group(1).split()
    return []


def covered_sources(name):
    out = []
    words = first_lines(name, "covers")
    left_out = [w[1:] for w in words if w.startswith("!")]
    for w in words:
        if w.startswith("!"):
            continue
        w += "*.c" if w.endswith("/") else ""
        found = sorted(glob.glob(w, root_dir=TOP))
        if not found:
            sys.exit(f"fuzz_{name}.c covers {w}, which there is not")
        out += [f for f in found
                if not any(fnmatch.fnmatch(f, p) for p in left_out)]
    return out


def unreached():
    """(source, function): reason"""
    rows = {}
    with open(f"{HERE}/unreached") as f:
        for n, line in enumerate(f, 1):
            if line.startswith("#") or not line.strip():
                continue
            words = line.split(None, 2)
            if len(words) != 3:
                sys.exit(f"unreached:{n}: a source, a function, a reason")
            rows[words[0], words[1]] = words[2].strip()
    return rows


def report(bins, name):
    """The lines of each source that this target reaches, as lcov has it."""
    binary = f"{bins}/fuzz_{name}"
    raw, merged = f"{bins}/{name}.profraw", f"{bins}/{name}.profdata"
    corpus = [d for d in (f"{HERE}/corpus/{name}", f"{HERE}/crashes/{name}")
              if os.path.isdir(d)]
    run = subprocess.run(
        [binary, "-runs=0", "-timeout=300", "-rss_limit_mb=4096", *corpus],
        env={**os.environ, "LLVM_PROFILE_FILE": raw}, cwd=TOP,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"{name}: {run.stderr[-2000:]}")
    subprocess.run(["llvm-profdata", "merge", "-sparse", raw, "-o", merged],
                   check=True)
    return subprocess.run(
        ["llvm-cov", "export", "-format=lcov", f"-instr-profile={merged}",
         binary], check=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, text=True).stdout


class Source:
    def __init__(self):
        self.lines = collections.Counter()
        self.functions = {}             # first line: name
        self.targets = set()

    def function_of(self, line):
        starts = [n for n in self.functions if n <= line]
        return self.functions[max(starts)] if starts else ""


def read(text, name, sources):
    src = None
    for line in text.splitlines():
        key, _, rest = line.partition(":")
        if key == "SF":
            path = os.path.relpath(os.path.join(TOP, rest), TOP)
            if path.endswith("conf.tab.c"):
                path = "setup/conf/conf.y"
            src = sources[path]
        elif key == "FN":
            n, _, fn = rest.partition(",")
            src.functions[int(n)] = fn.rpartition(":")[2]
        elif key == "DA":
            n, count = rest.split(",")[:2]
            src.lines[int(n)] += int(count)
            if int(count) > 0:
                src.targets.add(name)


def show(path, missed):
    with open(f"{TOP}/{path}") as f:
        text = f.read().split("\n")
    for n in missed:
        print(f"    {path}:{n}: {text[n - 1].strip()}")


def main():
    args = [a for a in sys.argv[1:] if a != "-l"]
    bins, only = args[0], args[1:]
    names = sorted(re.sub(r".*/fuzz_(.*)\.c$", r"\1", f)
                   for f in glob.glob(f"{HERE}/fuzz_*.c"))
    parsers = sorted({s for n in names for s in covered_sources(n)})
    if only:
        names = [n for n in names if set(covered_sources(n)) & set(only)]
    rows, seen = unreached(), set()
    sources = collections.defaultdict(Source)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for n, text in zip(names, pool.map(lambda n: report(bins, n), names)):
            read(text, n, sources)
    low, all_lines, all_hit = [], 0, 0
    for path in parsers if not only else only:
        src, hit, missed, out = sources[path], 0, [], 0
        for n, count in sorted(src.lines.items()):
            row = (path, src.function_of(n))
            if row in rows:
                seen.add(row)
                out += 1
            elif count > 0:
                hit += 1
            else:
                missed.append(n)
        total = hit + len(missed)
        share = 100.0 * hit / total if total > 0 else 0.0
        all_lines += total
        all_hit += hit
        print(f"{share:6.1f} %  {path:34} {hit:4}/{total:<4}"
              + (f" -{out}" if out else "    ")
              + f"  {' '.join(sorted(src.targets)[:4])}")
        if "-l" in sys.argv:
            show(path, missed)
        if share < GOAL:
            low.append(path)
    print(f"{100.0 * all_hit / max(all_lines, 1):6.1f} %  of all "
          f"({len(parsers)} parsers, {len(names)} targets)")
    stale = sorted(set(rows) - seen) if not only else []
    for path, fn in stale:
        print(f"unreached: there is no {fn} in a parser {path}")
    for path in low:
        print(f"below {GOAL:.0f} %: {path}")
    return 1 if low or stale else 0


if __name__ == "__main__":
    sys.exit(main())
