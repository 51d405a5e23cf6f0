#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Comments in C that do not begin with what they are about.

usage: plain.py FILE...

A sentence begins with the noun or the verb that the code acts on, not with
"who", "what", "of" and the like; a person is "they" or "the user"."""
import re
import sys

WORDS = "Who|Whom|Whose|Whoever|What|Whatever|Of|One|Nobody|Those"
BEGINS = re.compile(rf"(?:^|[.:;] +)(?:{WORDS})\b")
PERSON = re.compile(r"\b(?:he|his|him|He|His|Him)\b")
# texts are passed over, so that what looks like a comment in them is none
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/',
                   re.S)

for name in sys.argv[1:]:
    with open(name, encoding="utf-8", errors="replace") as f:
        text = f.read()
    for m in TOKEN.finditer(text):
        if not m[0].startswith("/*"):
            continue
        words = re.sub(r"\s*\n\s*\*?\s*", " ", m[0][2:-2]).strip(" *")
        if BEGINS.search(words) or PERSON.search(words):
            print(f"{name}:{text[:m.start()].count(chr(10)) + 1}: "
                  f"{words[:100]}")
