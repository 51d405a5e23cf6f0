#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Inputs that are made by hand, where a hand would need a hex editor.

usage: seeds.py DIRECTORY

Writes them to DIRECTORY/TARGET/, one for each thing that there is to parse;
`make fuzz-merge FROM=DIRECTORY` takes those that reach something new.  This is
how such inputs came to be, and how to make more of them when a format changes.
"""
import os
import struct
import sys

if len(sys.argv) != 2:
    sys.exit("usage: seeds.py DIRECTORY")
OUT = sys.argv[1]


def keep(target, name, data):
    os.makedirs(f"{OUT}/{target}", exist_ok=True)
    with open(f"{OUT}/{target}/{name}", "wb") as f:
        f.write(data)


# -- render: descriptions (symbols/desc.h) and captures (common/capture.h) -----
(NULL, SINT, UINT, BOOL, FLOAT, CHAR, POINTER, STRING, CHARS, TEXT, SLICE,
 ARRAY, ENUM, STRUCT, TUPLE, NESTED, VARIANTS, VARIANT, LOST) = range(19)
SIGNED, BITS, DEFAULT, UNNAMED = 1, 2, 4, 8
END, REG, VEC, STACK, MEM, STR, STRPTR, CSLICE = range(8)
OK, FAULT, CUT, UNREAD = range(4)
NONE = 0xffff
STRS = b"\0red\0green\0a\\x41\0Point\0na\"me\n\0"
RED, GREEN, ODD, POINT, NAME = 1, 5, 11, 17, 23
ENUMS = [(1, 0, RED), (2, 0, GREEN), (3, 0, GREEN), (4, 0, ODD),
         (0xffffffff, 0xffffffff, RED)]


def node(kind, size=0, off=0, flags=0, step=NONE, name=0, type=0, first=0,
         count=0, enum=(0, 0), bits=(0, 0)):
    return struct.pack("<BBHIIIIHHHHHH", kind, flags, step, name, type, off,
                       size, first, count, *enum, *bits)


def desc(values, parts, nodes, results):
    """values: (node, part, nparts, addr_step)"""
    return (struct.pack("<IHHHHHHII", 0x31435344, 0, len(values) - results,
                        results, len(parts), len(nodes), len(ENUMS),
                        len(STRS), POINT)
            + b"".join(struct.pack("<IIHHHHi", NAME, POINT, n, p, np, a, 8)
                       for n, p, np, a in values)
            + b"".join(struct.pack("<4H", *p) for p in parts)
            + b"".join(nodes)
            + b"".join(struct.pack("<3I", *e) for e in ENUMS) + STRS)


def step(op, length, scale=0):
    return struct.pack("<BBHiiI", op, 0, length, 0, 0, scale)


def got(data, status=OK):
    return (struct.pack("<HH", status, len(data)) + data
            + b"\0" * (-len(data) % 4))


def render(name, steps, d, captured):
    steps = b"".join(steps).ljust(32 * 16, b"\0")
    half = len(steps) + len(d)
    keep("render", f"D-{name}",
         b"D" + steps + d + b"".join(captured).ljust(half, b"\0")[:half])


def word(u, size=8):
    return (u & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def lone(name, nodes, data, op=REG, length=8, scale=0, more=(), status=OK):
    """One result in one capture, and whatever else there is captured."""
    steps = [step(op, length, scale)] + [step(o, n, s) for o, n, s, _ in more]
    d = desc([(0, 0, 1, NONE)], [(0, 0, 0, 8)], nodes, 1)
    render(name, steps, d,
           [got(data, status)] + [got(x) for _, _, _, x in more])


def numbers():
    for kind, what in ((SINT, "sint"), (UINT, "uint"), (BOOL, "bool")):
        for size in (1, 2, 4, 8, 16, 3):
            for u in (3, -2):
                lone(f"{what}{size}-{u}", [node(kind, size)], word(u))
    lone("bits", [node(SINT, 8, flags=BITS, bits=(3, 9))], word(0xfff))
    lone("wide-word", [node(SINT, 4)], word(1 << 40 | 5))
    lone("narrow-capture", [node(SINT, 4)], word(7, 4), length=4)
    lone("behind", [node(UINT, 2, off=2)], word(0x12345678))
    for size in (4, 8, 3):
        for i, x in enumerate((0.1, 1.0, float("nan"), float("inf"),
                               -float("inf"), 1e300)):
            raw = (struct.pack("<d", x) if size != 4 else
                   struct.pack("<f", x if abs(x) != 1e300 else 3.4e38))
            lone(f"float{size}-{i}", [node(FLOAT, size)], raw.ljust(8, b"\0"))
    for u in (0x41, 0xe9, 0x1f600, 0xd800, 0x110000, 0x22, 0x1f, 0x5c, 9):
        lone(f"char-{u:x}", [node(CHAR, 4)], word(u))
    for u in (0, 0x1000, 0x7fffffffffffffff):
        lone(f"pointer-{u:x}", [node(POINTER, 8)], word(u))
    lone("pointer4", [node(POINTER, 4)], word(0x1000))
    for u in (1, 2, 4, 77, -1):
        lone(f"enum-{u}", [node(ENUM, 4, enum=(0, 5))], word(u))
        lone(f"enum8-{u}", [node(ENUM, 8, flags=SIGNED, enum=(0, 5))],
             word(u))
    lone("enum-bits", [node(ENUM, 4, flags=BITS, enum=(0, 4), bits=(1, 2))],
         word(4))
    lone("void", [node(NULL)], word(0))
    lone("lost", [node(LOST, type=POINT)], word(0))
    for kind in (SINT, FLOAT, CHAR, POINTER, ENUM, CHARS, STRING):
        lone(f"fault-{kind}", [node(kind, 8, enum=(0, 2))], b"",
             status=FAULT)
        lone(f"outside-{kind}", [node(kind, 8, off=2044)], word(1))
    lone("fault-wide", [node(SINT, 16)], b"", status=FAULT)
    # 80 bits in 16 bytes
    d = desc([(0, 0, 1, NONE)], [(0, 0, 0, 16)], [node(FLOAT, 16)], 1)
    render("float16", [step(VEC, 16)], d,
           [got(b"\0" * 7 + b"\x80\xff\x3f" + b"\0" * 6)])
    d = desc([(0, 0, 1, NONE)], [(0, 0, 0, 16)], [node(SINT, 16)], 1)
    render("sint128", [step(VEC, 16)], d, [got(b"\xfe" + b"\xff" * 15)])
    # no result at all
    render("no-result", [step(REG, 8)],
           desc([(0, 0, 1, NONE)], [(0, 0, 0, 8)], [node(SINT, 4)], 0),
           [got(word(5))])


TEXTS = {"plain": b"hello", "quote": b"a\"b\\c\n\t\r\x01\x7f",
         "utf8": "h\u00e9\u20ac".encode(), "bad": b"a\xff\xfeb",
         "short": b"ab\xe2\x82", "empty": b"", "x": b"a\\x41"}


def strings():
    for what, t in TEXTS.items():
        lone(f"string-{what}", [node(STRING, 8, step=1)], word(0x1000),
             more=[(STR, 64, 0, t)])
        lone(f"text-{what}", [node(TEXT, step=0)], word(len(t)) + t,
             op=CSLICE, length=64, scale=1)
        lone(f"chars-{what}", [node(CHARS, 8)], t[:8].ljust(8, b"\0"))
    lone("string-null", [node(STRING, 8, step=1)], word(0),
         more=[(STR, 64, 0, b"")])
    lone("string-lost", [node(STRING, 8, step=9)], word(0x1000))
    lone("text-wide", [node(TEXT, step=0)], word(2) + b"abcd", op=CSLICE,
         length=64, scale=2)
    lone("text-short", [node(TEXT, step=0)], b"abc", op=CSLICE, length=64,
         scale=1)
    # cut in the middle of a character
    d = desc([(0, 0, 1, NONE)], [(0, 0, 0, 8)], [node(STRING, 8, step=1)], 1)
    render("string-cut", [step(REG, 8), step(STR, 64)], d,
           [got(word(16)), got(b"ab\xe2\x82", CUT)])
    d = desc([(0, 0, 1, NONE)], [(0, 0, 0, 2048)], [node(CHARS, 1500)], 1)
    render("chars-long", [step(MEM, 2048)], d, [got(b"x" * 2048)])


def compounds():
    lone("slice", [node(SLICE, 4, step=0, first=1), node(SINT, 4)],
         word(3) + b"".join(word(i, 4) for i in (1, -2, 3)), op=CSLICE,
         length=64, scale=4)
    lone("slice-none", [node(SLICE, 4, step=5, first=1), node(SINT, 4)],
         word(0))
    lone("array", [node(ARRAY, 8, first=1, count=4), node(UINT, 2)],
         word(0x0004000300020001))
    lone("array-nothing", [node(ARRAY, 8, first=1, count=4), node(UINT, 0)],
         word(1))
    lone("array-far", [node(ARRAY, 8, off=4000, first=1, count=4),
                       node(UINT, 2)], word(1))
    fields = [node(SINT, 4, name=RED), node(BOOL, 1, off=4, name=NAME),
              node(NESTED, 8, off=8, name=GREEN, type=POINT)]
    for kind in (STRUCT, TUPLE):
        d = desc([(0, 0, 2, 0)], [(0, 0, 0, 8), (1, 4, 8, 8)],
                 [node(kind, 16, first=1, count=3)] + fields, 1)
        render(f"struct-{kind}", [step(REG, 8), step(MEM, 16)], d,
               [got(word(0x100001234)), got(word(1) + word(2))])
    d = desc([(0, 0, 1, NONE)], [(0, 0, 0, 8)],
             [node(STRUCT, 16, first=1, count=3)] + fields, 1)
    render("struct-half", [step(REG, 8)], d, [got(b"\1\2")])
    # structures in structures, deeper than is shown
    deep = [node(STRUCT, 8, first=i + 1, count=1, name=RED)
            for i in range(8)] + [node(SINT, 4)]
    lone("deep", deep, word(1))
    variants = [node(VARIANTS, 1, first=1, count=4),
                node(VARIANT, name=RED, enum=(0, 1)),
                node(VARIANT, name=GREEN, enum=(1, 1), first=5, count=1,
                     flags=UNNAMED),
                node(VARIANT, name=NAME, enum=(2, 1), first=5, count=2),
                node(VARIANT, name=POINT, enum=(3, 1), first=5, count=2,
                     flags=UNNAMED),
                node(SINT, 2, off=2, name=RED), node(UINT, 2, off=4)]
    for tag in (1, 2, 3, 4, 9):
        lone(f"variants-{tag}", variants, word(0x0006fffe0000 | tag))
    lone("variants-fault", variants, b"", status=FAULT)
    lone("variants-default", [node(VARIANTS, 8, first=1, count=1),
                              node(VARIANT, name=RED, flags=DEFAULT)],
         word(5))
    lone("variants-odd", [node(VARIANTS, 8, first=1, count=1),
                          node(SINT, 4)], word(5))
    lone("variant-alone", [node(VARIANT, name=RED)], word(5))
    # all nodes once more at each level: as many as is ever shown
    wide = [node(TUPLE, 8, first=i + 1, count=100 if i == 4 else 1)
            for i in range(5)] + [node(SINT, 1)] * 100
    lone("wide", wide, word(1))


def indices():
    """struct sym_header, struct sym_func (symbols/index.h)"""
    def header(n, strs, magic=0x31584d59534c44, size=None, ids=20,
               strs_off=None):
        off = 112 + 40 * n if strs_off is None else strs_off
        return struct.pack("<QQQIIIII64sI", magic,
                           112 + 40 * n + len(strs) if size is None else size,
                           0, 1, n, off, len(strs), ids, b"\x11" * 20, 0)

    def func(addr, size=16, name=1, file=0):
        return struct.pack("<QQIIIIIHH", addr, size, name, name, file, 7, 0,
                           2, 0x1000)

    strs = b"\0main\0f()\0/src/a.c\0"
    some = [func(0), func(0x1000), func(0x1000, name=6),
            func(0x1010, 0, 6, 10), func(0x2000, 64)]

    def index(name, funcs=some, strs=strs, more=b"", **how):
        keep("render", f"I-{name}", b"I" + header(len(funcs), strs, **how)
             + b"".join(funcs) + strs + more)

    index("good")
    index("none", [], b"\0")
    index("magic", magic=1)
    index("size", size=5)
    index("parts", strs_off=7)
    index("build-id", ids=65)
    index("no-end", strs=b"\0main")
    index("disorder", [func(5), func(4)])
    index("no-string", [func(5, name=99)])
    index("endless", [func(5, 2 ** 64 - 1)])
    index("nameless", [func(5, name=0)])
    index("long-names", [func(i, name=1) for i in range(9)],
          strs=b"\0" + b"x" * 9 + b"\0")
    keep("render", "I-short", b"I" + b"\0" * 20)
    keep("render", "I-many", b"I" + struct.pack(
        "<QQQIIIII64sI", 0x31584d59534c44, 113, 0, 0, 4000001, 112, 1, 0,
        b"", 0) + b"\0")


def main():
    numbers()
    strings()
    compounds()
    indices()


main()
