#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""llvm-cov's summary as a table with a row per directory, and the files that
are covered least.  usage: bydir.py SUMMARY.json"""
import collections
import json
import os
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
# what is compiled for every test, and generated sources
LEFT_OUT = ("regress", "build", "gen")
FEW = 20


def rows():
    with open(sys.argv[1]) as f:
        for x in json.load(f)["data"][0]["files"]:
            name = os.path.relpath(os.path.join(TOP, x["filename"]), TOP)
            if os.path.exists(os.path.join(TOP, name)) and \
                    name.split("/")[0] not in LEFT_OUT:
                yield name, x["summary"]


def percent(covered, count):
    return 100 * covered / count if count else 100


def main():
    dirs = collections.defaultdict(lambda: [0] * 4)
    files = []
    for name, s in rows():
        lines, fns = s["lines"], s["functions"]
        # the agent has counters of its own, and none of these
        if lines["count"] == 0:
            continue
        for d in (os.path.dirname(name), "all"):
            for i, v in enumerate((lines["covered"], lines["count"],
                                   fns["covered"], fns["count"])):
                dirs[d][i] += v
        files.append((percent(lines["covered"], lines["count"]),
                      lines["count"], name))
    print("| directory | lines | covered | functions | covered |")
    print("|---|---:|---:|---:|---:|")
    for d in sorted(dirs, key=lambda d: (d == "all", d)):
        lc, ln, fc, fn = dirs[d]
        print(f"| {d} | {ln} | {percent(lc, ln):.1f} % | {fn} | "
              f"{percent(fc, fn):.1f} % |")
    print(f"\nThe {FEW} files with most lines that were not reached:\n")
    for p, n, name in sorted(files, key=lambda x: -(100 - x[0]) *
                             x[1])[:FEW]:
        print(f"- {name}: {p:.0f} % of {n} lines")


main()
