#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Decisions without a number, date or status, or that the index leaves out.

usage: decisions.py DIRECTORY

The first lines of a decision are its title, its date and its status; the
decisions that supersede one are named by it and name it."""
import datetime
import pathlib
import re
import sys

LINK = r"\[(\d{4})\]\((\d{4}-[a-z0-9-]+\.md)\)"
LINKS = rf"{LINK}(?:(?:,| and) {LINK})*"
STATUS = re.compile(rf"accepted(?:, superseded in part by {LINKS})?|"
                    rf"superseded by {LINKS}")
ROW = re.compile(r"\| \[\d{4}\]\(.*")


def links(line):
    return {name for _, name in re.findall(LINK, line)}


def is_date(word):
    try:
        datetime.date.fromisoformat(word)
    except ValueError:
        return False
    return True


class Decision:
    def __init__(self, path):
        self.name = path.name
        self.text = path.read_text(encoding="utf-8")
        lines = self.text.split("\n") + [""] * 5
        self.number, _, self.title = lines[0].removeprefix("# ").partition(": ")
        self.date = lines[2].removeprefix("- Date: ")
        self.status = lines[3].removeprefix("- Status: ")
        # optional; the text follows an empty line
        self.supersedes = lines[4]

    def row(self):
        return (f"| [{self.number}]({self.name}) | {self.date} | {self.title} "
                f"| {self.status} |")

    def faults(self, others):
        if not self.title or not self.name.startswith(self.number + "-"):
            yield "line 1 must be: # NUMBER: TITLE, with the file's number"
        if not is_date(self.date):
            yield "line 3 must be: - Date: YYYY-MM-DD"
        if not STATUS.fullmatch(self.status):
            yield ("line 4 must be: - Status: accepted, superseded by LINK, "
                   "or accepted, superseded in part by LINK")
        for number, name in re.findall(LINK, self.text):
            if name not in others or not name.startswith(number):
                yield f"the link [{number}]({name}) leads nowhere"
        for name in links(self.status) & others.keys():
            if self.name not in links(others[name].supersedes):
                yield f"{name} does not say that it supersedes this"
        for name in links(self.supersedes) & others.keys():
            if self.name not in links(others[name].status):
                yield f"{name} does not say that it is superseded by this"


directory = pathlib.Path(sys.argv[1])
found = {path.name: Decision(path)
         for path in sorted(directory.glob("*.md")) if path.name != "README.md"}
index = (directory / "README.md").read_text(encoding="utf-8").split("\n")
rows = [line for line in index if ROW.match(line)]

for decision in found.values():
    for fault in decision.faults(found):
        print(f"{decision.name}: {fault}")
if rows != [decision.row() for decision in found.values()]:
    for row in sorted({d.row() for d in found.values()} ^ set(rows)):
        print("README.md: " + ("no decision is like " if row in rows
                               else "missing: ") + row)
    print("README.md: its rows are not those of the decisions, in order")
numbers = [decision.number for decision in found.values()]
if numbers != [f"{n:04}" for n in range(1, len(numbers) + 1)]:
    print("the numbers must count from 0001 without a gap")
if len(found) < 100:
    print(f"only {len(found)} decisions are looked at")
