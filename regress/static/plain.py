#!/usr/bin/python3
# SPDX-License-Identifier: ISC
"""Sentences that do not begin with what they are about.

usage: plain.py FILE...

Looks at comments and texts in C, at paragraphs of Markdown and of man pages, in
other files at persons alone.
A sentence begins with the noun or the verb that the code acts on, not with
"who", "what", "of" and the like; a person is "they" or "the user"."""
import re
import sys

PRONOUNS = "Who|Whom|Whose|Whoever|What|Whatever|Nobody|Those"
# of comments, in which a number is written as one
BEGINS = re.compile(rf"(?:^|[.:;] +)(?:{PRONOUNS}|Of|One)\b")
# "One process" counts; "What cannot be traced" as a question stays one
SENTENCE = re.compile(rf"(?:^|[.:;!?] +)(?:{PRONOUNS}|Of|"
                      r"One (?:that|of|who|which|whose|without|with))\b"
                      r"(?![^.]*\?)")
# a text of the program begins in lower case
MESSAGE = re.compile(rf"^(?:{PRONOUNS}|One that)\b(?![^.]*\?)", re.I)
PERSON = re.compile(r"\b(?:[Hh]e|[Hh]is|[Hh]im|[Hh]imself)\b")
# texts are passed over, so that what looks like a comment in them is none
TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/',
                   re.S)


WORD = re.compile(r"\S+")


def of_c(text, texts):
    end = 0
    for m in TOKEN.finditer(text):
        if m[0].startswith("/*"):
            words = re.sub(r"\s*\n\s*\*?\s*", " ", m[0][2:-2]).strip(" *")
            if BEGINS.search(words) or PERSON.search(words):
                yield m.start(), words
        elif texts and m[0][0] == '"':
            # the second part of a text begins in the middle of a sentence
            begins = not text[end:m.start()].isspace()
            if " " in m[0] and (PERSON.search(m[0]) or
                                begins and MESSAGE.search(m[0][1:-1])):
                yield m.start(), m[0]
            end = m.end()


def paragraphs(text, ends):
    """Those between matches of ends, as lists of words with their places."""
    at = 0
    for m in [*ends.finditer(text), None]:
        to = m.start() if m else len(text)
        yield list(WORD.finditer(text, at, to))
        at = m.end() if m else to


def sentences(text, ends):
    for words in paragraphs(text, ends):
        line = " ".join(w[0] for w in words)
        m = SENTENCE.search(line) or PERSON.search(line)
        if m:
            n = line.count(" ", 0, m.end() - 1)
            yield words[n].start(), line[m.start():]


def blank(m):
    return re.sub(r"[^\n]", " ", m[0])


def of_markdown(text):
    # examples and names are no sentences
    text = re.sub(r"^```.*?^```$", blank, text, flags=re.M | re.S)
    text = re.sub(r"^(?:    .*|#.*)$", blank, text, flags=re.M)
    text = re.sub(r"`[^`]*`", lambda m: re.sub(r"\S", "x", m[0]), text)
    return sentences(text, re.compile(r"\n\s*\n|^ *(?:[-*]|\d+\.) |\|", re.M))


def of_man(text):
    text = re.sub(r"^\.Bd.*?^\.Ed$", blank, text, flags=re.M | re.S)
    text = re.sub(r"^\.(?:Sh|Ss|Nd|\\\").*$", blank, text, flags=re.M)
    # macros and the argument that is marked by them
    text = re.sub(r"^\.(?!Pp|It|El|Bl)(?:[A-Z][a-z])\b", blank, text,
                  flags=re.M)
    return sentences(text, re.compile(r"\n\s*\n|^\.(?:Pp|El|Bl.*|It.*)$",
                                      re.M))


def found(name, text):
    if name.endswith(".md"):
        return of_markdown(text)
    if re.search(r"\.[1-9]$", name):
        return of_man(text)
    if re.search(r"\.(?:[chyS]|def)$", name):
        # users see no texts of tests
        return of_c(text, not name.startswith("regress/"))
    return ((m.start(), m[0]) for m in PERSON.finditer(text))


for name in sys.argv[1:]:
    with open(name, encoding="utf-8", errors="replace") as f:
        text = f.read()
    for at, words in found(name, text):
        line = text[:at].count("\n") + 1
        print(f"{name}:{line}: {words[:100]}")
