#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Subjects of commits that are not "area: imperative ...", or too long.

usage: git log --no-merges --format='%at %h %s' | subjects.py

The author's date, which a rebase keeps, tells whether a commit is younger than
the rule.  A shallow clone has fewer commits to look at."""
import re
import sys

SINCE = 1795856400      # 2026-11-28 09:00 UTC
LONGEST = 60
AREAS = re.compile(r"[\w./-]+(?:, [\w./-]+)*: (\S+)")
# an imperative has none of these endings, and none of these words is one
OTHER_FORM = re.compile(r"\w{3,}ing|\w{2,}(?<![eb])ed|\w{2,}(?<![su])s")
NO_VERB = set("""a an the this that these those it its they their he his what who
    whose which when where how why one no none nobody each every all some any of
    in on at by for from with without to as is are was were not and or but also
    now more plainer better new""".split())


def fault(subject):
    if subject.startswith('Revert "'):
        return None
    m = AREAS.match(subject)
    if m is None:
        return 'must be "area: what the change does"'
    if len(subject) > LONGEST:
        return f"has {len(subject)} characters, {LONGEST} at most"
    word = m[1].lower()
    if word in NO_VERB or OTHER_FORM.fullmatch(word):
        return "must go on with an imperative after the area"
    return None


for line in sys.stdin:
    date, name, subject = line.rstrip("\n").split(" ", 2)
    why = fault(subject) if int(date) >= SINCE else None
    if why is not None:
        print(f"{name}: {subject}: {why}")
