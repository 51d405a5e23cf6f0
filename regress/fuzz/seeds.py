#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Inputs that are made by hand, where a hand would need a hex editor.

usage: seeds.py DIRECTORY

Writes them to DIRECTORY/TARGET/, one for each thing that there is to parse;
`make fuzz-merge FROM=DIRECTORY` takes those that reach something new.  This is
how such inputs came to be, and how to make more of them when a format changes.
"""
import json
import os
import re
import struct
import sys
import tarfile
import zlib

if len(sys.argv) != 2:
    sys.exit("usage: seeds.py DIRECTORY")
HERE = os.path.dirname(os.path.abspath(__file__))
OUT = sys.argv[1]


def keep(target, name, data):
    os.makedirs(f"{OUT}/{target}", exist_ok=True)
    with open(f"{OUT}/{target}/{name}", "wb") as f:
        f.write(data)


# -- render: descriptions (symbols/desc.h) and captures (common/wire/capture.h) -----
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


# -- symbols: debug information, entry by entry --------------------------------
# Enough of DWARF for what compilers rarely write; what they often do is in
# compiled inputs (samples/).
(ADDR, DATA2, DATA4, DATA8, STRING, DATA1, FLAG, SDATA, UDATA, REF4,
 SEC_OFFSET, EXPRLOC, ADDRX, LOCLISTX, RNGLISTX) = (
     1, 5, 6, 7, 8, 0xb, 0xc, 0xd, 0xf, 0x13, 0x17, 0x18, 0x1b, 0x22, 0x23)
A = {"location": 2, "name": 3, "size": 0xb, "low": 0x11, "high": 0x12,
     "lang": 0x13, "stmt": 0x10, "comp_dir": 0x1b, "producer": 0x25,
     "count": 0x37, "member_off": 0x38, "encoding": 0x3e, "external": 0x3f,
     "type": 0x49, "ranges": 0x55, "linkage": 0x6e, "str_off": 0x72,
     "addr_base": 0x73, "rng_base": 0x74, "loc_base": 0x8c, "inline": 0x20,
     "origin": 0x31, "spec": 0x47, "decl": 0x3c, "defaulted": 0x8b,
     "vector": 0x2107, "const": 0x1c, "upper": 0x2f, "artificial": 0x34,
     "variable": 0x4b, "bit_size": 0xd, "bit_off": 0xc, "data_bit": 0x6b,
     "discr": 0x15, "discr_value": 0x16, "gnu_ranges": 0x2132}
(T_ARRAY, T_ENUM, T_PARAM, T_MEMBER, T_POINTER, T_STRUCT, T_SUBROUTINE,
 T_TYPEDEF, T_UNION, T_UNSPEC, T_SUBRANGE, T_BASE, T_CONST, T_ENUMERATOR,
 T_SUB, T_TPARAM, T_VARIANT, T_VPART, T_VOLATILE, T_RESTRICT, T_UTYPE,
 T_RREF, T_ATOMIC, T_REF, T_INHERIT, T_VARIABLE) = (
     1, 4, 5, 0xd, 0xf, 0x13, 0x15, 0x16, 0x17, 0x18, 0x21, 0x24, 0x26, 0x28,
     0x2e, 0x2f, 0x19, 0x33, 0x35, 0x37, 0x3b, 0x42, 0x47, 0x10, 0x1c, 0x34)
C99, CXX, GO, RUST = 0xc, 0x1a, 0x16, 0x1c


def uleb(u):
    out = b""
    while u > 0x7f:
        out += bytes([u & 0x7f | 0x80])
        u >>= 7
    return out + bytes([u])


class Die:
    """values by attribute; a label of another one becomes a reference"""
    def __init__(self, tag, label=None, children=(), **values):
        self.tag, self.label, self.children = tag, label, list(children)
        self.values = [self.form(A[k], v) for k, v in values.items()]

    @staticmethod
    def form(at, v):
        if isinstance(v, tuple):            # form and bytes
            return at, v[0], v[1]
        if isinstance(v, bool):
            return at, FLAG, bytes([v])
        if isinstance(v, int):
            return at, UDATA, uleb(v)
        if isinstance(v, bytes):
            return at, EXPRLOC, uleb(len(v)) + v
        if v.startswith("@"):
            return at, REF4, v[1:]
        return at, STRING, v.encode() + b"\0"

    def write(self, w):
        if self.label is not None:
            w.labels[self.label] = len(w.info)
        w.codes += 1
        w.abbrev += uleb(w.codes) + uleb(self.tag) + bytes(
            [len(self.children) > 0])
        w.info += uleb(w.codes)
        for at, form, v in self.values:
            w.abbrev += uleb(at) + uleb(form)
            if isinstance(v, str):
                w.refs.append((len(w.info), v))
                v = b"\0" * 4
            w.info += v
        w.abbrev += b"\0\0"
        for c in self.children:
            c.write(w)
        if self.children:
            w.info += b"\0"


class Unit:
    def __init__(self, root, version=5):
        self.info = bytearray(b"\0" * 4 + (
            struct.pack("<HBBI", 5, 1, 8, 0) if version == 5 else
            struct.pack("<HIB", version, 0, 8)))
        self.abbrev, self.codes = b"", 0
        self.labels, self.refs = {}, []
        root.write(self)
        struct.pack_into("<I", self.info, 0, len(self.info) - 4)
        for at, label in self.refs:
            struct.pack_into("<I", self.info, at, self.labels[label])
        self.sections = {".debug_info": bytes(self.info),
                         ".debug_abbrev": self.abbrev + b"\0"}


def elf(sections, symbols=()):
    """symbols: name, value, size, info"""
    if symbols:
        strs, syms = b"\0", b"\0" * 24
        for name, value, size, info in symbols:
            syms += struct.pack("<IBBHQQ", len(strs), info, 0, 1, value, size)
            strs += name.encode() + b"\0"
        sections = {**sections, ".symtab": syms, ".strtab": strs}
    sections = {".text": b"\xc3" * 64, **sections}
    names = list(sections) + [".shstrtab"]
    shstr = b"\0" + b"".join(n.encode() + b"\0" for n in names)
    sections[".shstrtab"] = shstr
    body, heads = b"", [b"\0" * 64]
    for n in names:
        data = sections[n]
        kind = {".symtab": 2, ".strtab": 3, ".shstrtab": 3}.get(n, 1)
        link = names.index(".strtab") + 1 if n == ".symtab" else 0
        heads.append(struct.pack(
            "<IIQQQQIIQQ", shstr.index(n.encode() + b"\0"), kind,
            6 if n == ".text" else 0, 0x1000 if n == ".text" else 0,
            120 + len(body), len(data), link, 1 if link else 0, 1,
            24 if link else 0))
        body += data
    return (b"\x7fELF\2\1\1".ljust(16, b"\0")
            + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 120 + len(body),
                          0, 64, 56, 1, 64, len(heads), len(heads) - 1)
            + struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 120, 0x2000, 0x1000)
            + body + b"".join(heads))


def q(u):
    return (ADDR, struct.pack("<Q", u))


def off(u):
    return (SEC_OFFSET, struct.pack("<I", u))


def base(name, size, encoding):
    return Die(T_BASE, name, name=name, size=size, encoding=encoding)


BASES = [("int", 8, 5), ("int32", 4, 5), ("uint8", 1, 8), ("uint16", 2, 7),
         ("uint64", 8, 7), ("float32", 4, 4), ("float64", 8, 4),
         ("bool", 1, 2), ("complex128", 16, 3), ("i128", 16, 5),
         ("char", 1, 6), ("u32char", 4, 0x10), ("u16char", 2, 0x10),
         ("f128", 16, 4), ("odd", 3, 0x80), ("c64", 8, 3)]


def bases():
    return [base(*b) for b in BASES]


def struct_of(label, name, size, *fields, tag=T_STRUCT, **more):
    """fields: name, type, offset"""
    return Die(tag, label, name=name, size=size, **more, children=[
        Die(T_MEMBER, name=n, type="@" + t, member_off=o)
        for n, t, o in fields])


def pointer(label, to, tag=T_POINTER):
    return Die(tag, label, type="@" + to, size=8)


def function(n, name, params, result=None, linkage=None, **more):
    if result is not None:
        more["type"] = "@" + result
    if linkage is not None:
        more["linkage"] = linkage
    return Die(T_SUB, name=name, low=q(0x1000 + n), external=True,
               high=(DATA8, struct.pack("<Q", 1)), **more,
               children=[p if isinstance(p, Die) else
                         Die(T_PARAM, name=f"p{i}", type="@" + p)
                         for i, p in enumerate(params)])


def unit(name, lang, dies, version=5, sections=None, symbols=(), **root):
    root = {"producer": "hand", **root}
    u = Unit(Die(0x11, name="a.src", comp_dir="/src", lang=lang, low=q(0x1000),
                 high=(DATA8, struct.pack("<Q", 64)), children=bases() + dies,
                 **root), version)
    keep("symbols", name, elf({**u.sections, **(sections or {})}, symbols))


def array(label, of, count, **more):
    return Die(T_ARRAY, label, type="@" + of, **more,
               children=[Die(T_SUBRANGE, count=count)])


def go_unit():
    types = [
        pointer("*uint8", "uint8"), pointer("*int", "int"),
        struct_of("string", "string", 16, ("str", "*uint8", 0),
                  ("len", "int", 8)),
        struct_of("[]int", "[]int", 24, ("array", "*int", 0),
                  ("len", "int", 8), ("cap", "int", 16)),
        struct_of("[]odd", "[]odd", 24, ("len", "int", 8)),
        array("[1]int", "int", 1), array("[4]uint8", "uint8", 4),
        struct_of("mixed", "main.mixed", 40, ("a", "uint8", 0),
                  ("b", "float64", 8), ("c", "string", 16),
                  ("d", "bool", 32)),
        struct_of("many", "main.many", 96, *[(f"f{i}", "int", i * 8)
                                             for i in range(12)]),
        struct_of("floats", "main.floats", 64, *[(f"f{i}", "float32", i * 4)
                                                 for i in range(16)]),
        struct_of("iface", "runtime.iface", 16, ("tab", "*int", 0),
                  ("data", "*int", 8)),
    ]
    result = Die(T_PARAM, name="~r0", type="@int", variable=True)
    unit("S-go", GO, types + [
        function(0, "main.a", ["string", "[]int", "int", "int32"], "int"),
        function(1, "main.b", ["mixed", "[1]int", "[4]uint8", "uint8"]),
        function(2, "main.c", ["many", "int", result]),
        function(3, "main.d", ["floats", "float32", "complex128", "string"]),
        function(4, "main.e", ["string", "uint8", "uint16", "[]int"], None,
                 "main.e.abi0"),
        function(5, "main.f", ["[]odd", "iface", "*int", "i128", "bool"]),
        function(6, "main.g", ["string"] * 6 + ["[]int"] * 2),
    ])


def rust_unit():
    types = [
        pointer("*u8", "uint8"), pointer("*u64", "uint64"),
        struct_of("&str", "&str", 16, ("data_ptr", "*u8", 0),
                  ("length", "uint64", 8)),
        struct_of("&[u64]", "&[u64]", 16, ("data_ptr", "*u64", 0),
                  ("length", "uint64", 8)),
        struct_of("badvec", "Vec<u8>", 24, ("buf", "uint64", 0),
                  ("len", "uint64", 16)),
        struct_of("nobuf", "Vec<u8>", 24, ("len", "uint64", 16)),
        struct_of("inner", "RawVec<u64>", 16, ("cap", "uint64", 0),
                  ("ptr", "*u64", 8)),
        Die(T_STRUCT, "vec", name="Vec<u64>", size=24, children=[
            Die(T_TPARAM, name="T", type="@uint64"),
            Die(T_MEMBER, name="buf", type="@inner", member_off=0),
            Die(T_MEMBER, name="len", type="@uint64", member_off=16)]),
        struct_of("String", "String", 24, ("vec", "vec", 0)),
        struct_of("badString", "String", 24, ("vec", "badvec", 0)),
        struct_of("tuple", "(u8, c64)", 16, ("__0", "uint8", 0),
                  ("__1", "c64", 8)),
        struct_of("three", "Three", 24, ("a", "uint64", 0),
                  ("b", "uint64", 8), ("c", "uint64", 16)),
        struct_of("bytes", "Bytes", 3, ("a", "uint8", 0), ("b", "uint8", 1),
                  ("c", "uint8", 2)),
        struct_of("lots", "Lots", 80, *[(f"f{i}", "uint8", i)
                                        for i in range(70)]),
        Die(T_STRUCT, "E", name="E", size=16, children=[
            struct_of("E::A", "A", 16), struct_of("E::B", "B", 16,
                                                  ("__0", "uint64", 8)),
            Die(T_VPART, discr="@tag", children=[
                Die(T_MEMBER, "tag", type="@uint8", member_off=0,
                    artificial=True),
                Die(T_VARIANT, discr_value=0, children=[
                    Die(T_MEMBER, name="A", type="@E::A", member_off=0)]),
                Die(T_VARIANT, discr_value=1, children=[
                    Die(T_MEMBER, name="B", type="@E::B", member_off=0)]),
                Die(T_VARIANT, children=[
                    Die(T_MEMBER, name="C", type="@E::B", member_off=0)]),
                Die(T_VARIANT, discr_value=9)])]),
        Die(T_STRUCT, "wide", name="Wide", size=8, children=[
            struct_of("wide::A", "A", 8, ("__0", "uint64", 0)),
            Die(T_VPART, discr="@wtag", children=[
                Die(T_MEMBER, "wtag", type="@uint8", member_off=0)] + [
                    Die(T_VARIANT, discr_value=i, children=[
                        Die(T_MEMBER, name="A", type="@wide::A",
                            member_off=0)]) for i in range(130)])]),
    ]
    rs = "_ZN1a1bE"
    unit("S-rust", RUST, types + [
        function(0, "a", ["&str", "&[u64]", "vec", "String"], "String", rs),
        function(1, "b", ["badvec", "nobuf", "badString", "E"], "E", rs),
        function(2, "c", ["tuple", "c64", "complex128", "three"], "three", rs),
        function(3, "d", ["uint64"] * 5 + ["&str", "i128", "three", "three"],
                 "i128", rs),
        function(4, "e", ["bytes", "lots", "wide", "f128", "odd"], "wide",
                 "_RNv1a"),
        function(5, "f", ["uint64"] * 6 + ["bytes", "&str", "uint64"],
                 "tuple", rs),
    ], producer="clang LLVM (rustc version 1.85.0)")


def rust_closures():
    fbreg, deref, plus = b"\x91\x78", b"\x06", b"\x23\x08"

    def captured(name, type_, location=b""):
        where = {"location": location} if location else {}
        return Die(T_VARIABLE, name=name, type="@" + type_, **where)

    rs = "_ZN1a1bE"
    unit("S-closures", RUST, [pointer("*u8", "uint8"), struct_of(
            "&str", "&str", 16, ("data_ptr", "*u8", 0),
            ("length", "uint64", 8))] + [
        function(i, "{closure#%d}" % i, [*inside, "int", "&str"], "int", rs)
        for i, inside in enumerate((
            [captured("held", "uint64", fbreg)],
            [captured("ref", "uint64", fbreg + deref)],
            [captured("first", "&str", fbreg),
             captured("second", "uint64", fbreg + plus + deref)],
            [captured("far", "uint64", fbreg + deref + plus + deref)],
            [captured("nowhere", "uint64"),
             captured("register", "uint64", b"\x50")],
            [captured(f"c{k}", "uint8", fbreg + plus) for k in range(9)]))])


def odd_types():
    deep = [struct_of(f"deep{i}", "deep", 8, ("in", f"deep{i + 1}", 0))
            for i in range(14)] + [struct_of("deep14", "end", 8,
                                             ("i", "int", 0))]
    types = deep + [
        array("vec16", "float32", 4, vector=True),
        array("bytes20", "uint8", 20), array("chars", "char", 8),
        array("none", "int", 0), array("ints2", "int", 2),
        struct_of("many16", "many16", 16, ("a", "bytes20", 0)),
        struct_of("hasvec", "hasvec", 16, ("v", "vec16", 0)),
        struct_of("cplx", "cplx", 16, ("c", "c64", 0), ("d", "c64", 8)),
        struct_of("empty", "empty", 1),
        struct_of("voidish", "voidish", 8, ("f", "sub", 0), ("i", "int", 0)),
        Die(T_SUBROUTINE, "sub"), Die(T_UNSPEC, "nullptr", name="nullptr_t"),
        Die(T_VOLATILE, "vol", type="@int"),
        Die(T_RESTRICT, "res", type="@pvol"), Die(T_ATOMIC, "ato", type="@int"),
        pointer("pvol", "vol"), pointer("psub", "sub"),
        pointer("pchar", "char"), pointer("pato", "ato"),
        Die(T_STRUCT, "dtor", name="dtor", size=8, children=[
            Die(T_MEMBER, name="i", type="@int", member_off=0),
            Die(T_SUB, name="~dtor", defaulted=(DATA1, b"\2"))]),
        Die(T_STRUCT, "defdtor", name="defdtor", size=8, children=[
            Die(T_MEMBER, name="i", type="@int", member_off=0),
            Die(T_SUB, name="~defdtor", defaulted=(DATA1, b"\1"))]),
        Die(T_STRUCT, "vptr", name="vptr", size=8, children=[
            Die(T_MEMBER, name="_vptr.x", type="@pvol", member_off=0)]),
        Die(T_STRUCT, "hasdtor", name="hasdtor", size=8, children=[
            Die(T_MEMBER, name="d", type="@dtor", member_off=b"\x23\0")]),
        Die(T_STRUCT, "str", name="basic_string<char>", size=32, children=[
            struct_of("hider", "_Alloc_hider", 8, ("_M_p", "pchar", 0)),
            Die(T_MEMBER, name="_M_dataplus", type="@hider", member_off=0),
            Die(T_MEMBER, name="_M_string_length", type="@uint64",
                member_off=8),
            Die(T_SUB, name="~basic_string")]),
        struct_of("view", "basic_string_view<char>", 16,
                  ("_M_len", "uint64", 0), ("_M_str", "pchar", 8)),
        struct_of("noview", "basic_string_view<char>", 16,
                  ("_M_len", "uint64", 0)),
        pointer("&str", "str", T_REF), pointer("&&view", "view", T_RREF),
        struct_of("big", "big", 3000, ("a", "int", 0), ("s", "pchar", 2900)),
        struct_of("wide", "wide", 500, *[(f"f{i}", "int", i * 8)
                                         for i in range(60)]),
        Die(T_STRUCT, "bits", name="bits", size=8, children=[
            Die(T_MEMBER, name=f"b{i}", type="@int", bit_size=7 + i,
                data_bit=i * 9) for i in range(4)] + [
            Die(T_MEMBER, name="old", type="@int", bit_size=3, bit_off=2,
                size=8, member_off=0)]),
        Die(T_ENUM, "enum", name="enum", size=4, type="@int32", children=[
            Die(T_ENUMERATOR, name="A", const=1),
            Die(T_ENUMERATOR, name="B", const=(SDATA, b"\x7f")),
            Die(T_ENUMERATOR, name="C")]),
        Die(T_UTYPE, "utype", name="gone"),
    ]
    names = ["deep0", "vec16", "many16", "hasvec", "cplx", "empty", "voidish",
             "nullptr", "vol", "res", "pato", "psub", "pchar", "dtor",
             "defdtor", "vptr", "hasdtor", "str", "view", "noview", "&str",
             "&&view", "big", "wide", "bits", "enum", "utype", "odd", "f128",
             "complex128", "c64", "u32char", "u16char", "none", "ints2",
             "chars", "i128", "bool"]
    dies = types + [function(i, f"f{i}", [t, t], t)
                    for i, t in enumerate(names)]
    dies += [function(50, "regs", ["int"] * 7 + ["dtor", "str", "i128",
                                                 "vec16", "pchar", "view"]),
             function(51, "vecs", ["float64"] * 9 + ["vec16", "hasvec"]),
             function(52, "params", ["int"] * 40),
             function(53, "steps", ["view", "big"] * 15, "hasdtor")]
    for lang, name in ((C99, "c"), (CXX, "cxx"), (0x8000, "other")):
        for version in (4, 5):
            unit(f"S-odd-{name}-{version}", lang, dies, version)


def lists():
    """Range and location lists: each kind of entry."""
    rle = b"".join((
        b"\1" + uleb(0), b"\2" + uleb(0) + uleb(1),
        b"\3" + uleb(1) + uleb(2), b"\4" + uleb(1) + uleb(3),
        b"\5" + word(0x1000), b"\4" + uleb(8) + uleb(9),
        b"\6" + word(0x1010) + word(0x1012), b"\7" + word(0x1020) + uleb(4),
        b"\0"))
    each = [b"\2" + uleb(0) + uleb(1) + b"\0", b"\3\1\2\0",
            b"\5" + word(0x1000) + b"\4\1\3\0",
            b"\6" + word(0x1010) + word(0x1012) + b"\0",
            b"\7" + word(0x1020) + b"\4\0", b"\1\0\4\1\2\0", b"\x44",
            b"\1\x7f", b"\2\x7f\x7f\0", b"\4\3\3\0", rle, b"\5\0"]
    one = b"\1\x55"                               # a register
    parts = b"\x06\x55\x93\x08\x54\x93\x08"
    lle = [b"\1\0\4\0\x20" + one + b"\0",         # base_addressx, offset_pair
           b"\2\0\1" + one + b"\0", b"\3\0\x20" + one + b"\0",
           b"\5" + one + b"\0", b"\6" + word(0x1000) + b"\4\0\x20" + parts
           + b"\0", b"\7" + word(0x1000) + word(0x1040) + one + b"\0",
           b"\x08" + word(0x1000) + b"\x20" + one + b"\0",
           b"\x09\1\2\x08" + word(0x1000) + b"\x20" + one + b"\0", b"\x44",
           b"\1\x7f", b"\4\0", b""]

    def table(items):
        """offsets, then the lists; the base is behind the header"""
        offs, at = b"", 4 * len(items)
        for i in items:
            offs += struct.pack("<I", at)
            at += len(i)
        body = offs + b"".join(items)
        return struct.pack("<IHBBI", len(body) + 8, 5, 8, 0,
                           len(items)) + body

    exprs = [b"\x50", b"\x90\x05", b"\x91\x10", b"\x75\x08", b"\x77\x08",
             b"\x9c", b"\x30\x9f", b"\x92\x05\x08", b"\x55\x93\x04\x93\x04",
             b"\x61\x93\x08\x55\x93\x08", b"\xa3\1\x55\x9f", b"\x03" + word(1),
             b"", b"\x97\x93", b"\x75\x08\x06", b"\x70\x00\x9f",
             b"\x90\x12", b"\x92\x85\1\x7f", b"\x91\x80", b"\xf3\1\x55\x9f"]
    params = [Die(T_PARAM, name=f"l{i}", type="@int",
                  location=(LOCLISTX, uleb(i))) for i in range(len(lle) + 2)]
    params += [Die(T_PARAM, name="o", type="@int", location=off(12 + 48))]
    at = [Die(T_PARAM, name=f"e{i}", type="@i128", location=e)
          for i, e in enumerate(exprs)]
    funcs = [Die(T_SUB, name=f"r{i}", external=True,
                 ranges=(RNGLISTX, uleb(i))) for i in range(len(each) + 2)]
    funcs += [Die(T_SUB, name="ro", ranges=off(12 + 4 * len(each))),
              function(0, "locs", params, "int"),
              function(1, "exprs", at, "int"),
              function(2, "consts", [Die(T_PARAM, name="k", type="@int",
                                         const=5)])]
    unit("S-lists-5", C99, funcs, 5, {
        ".debug_rnglists": table(each), ".debug_loclists": table(lle),
        ".debug_addr": struct.pack("<IHBB", 36, 5, 8, 0) + b"".join(
            word(0x1000 + i * 16) for i in range(4))},
         rng_base=off(12), loc_base=off(12), addr_base=off(8))
    none = b"\xff" * 8
    old = [word(0) + word(4), none + word(0x1008) + word(0) + word(2),
           word(8) + word(9) + word(16) + word(17), word(3) + word(3),
           b"\1\2"]
    offs, ranges = [], b""
    for r in old:
        offs.append(len(ranges))
        ranges += r + (word(0) + word(0) if len(r) > 2 else b"")
    expr = struct.pack("<H", 1) + b"\x55"
    locs = (word(0) + word(0x20) + expr + none + word(0x1000) + word(0)
            + word(8) + expr + word(0) + word(0))
    unit("S-lists-4", C99, [
        Die(T_SUB, name=f"r{i}", ranges=off(o)) for i, o in enumerate(offs)
    ] + [Die(T_SUB, name="far", ranges=off(0xffffff)),
         function(0, "locs", [
             Die(T_PARAM, name=f"l{i}", type="@int", location=off(o))
             for i, o in enumerate((0, 19, 35, 0x7fffffff))], "int"),
         function(1, "exprs", at, "int")], 4,
         {".debug_ranges": ranges, ".debug_loc": locs})


def symbol_tables():
    """Without debug information, and some of it."""
    syms = [("plain", 0x1000, 4, 0x12), ("f.cold", 0x1004, 2, 2),
            ("f.constprop.0", 0x1006, 2, 2), ("f.isra.0", 0x1008, 2, 2),
            ("f.part.0", 0x100a, 2, 2), ("choose", 0x100c, 4, 0x1a),
            ("_Z1fv", 0x1010, 4, 0x12), ("_Z1fv.cold", 0x1014, 2, 2),
            ("_RNvCs1234_7mycrate3foo", 0x1018, 2, 0x12),
            ("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE", 0x101a, 2,
             0x12), ("versioned@@V_1", 0x101c, 2, 0x12),
            ("data", 0x1020, 2, 0x11), ("f.llvm.123", 0x1022, 2, 2),
            ("same", 0x1000, 4, 0x22)]
    keep("symbols", "S-symtab", elf({}, syms))
    unit("S-symtab-dwarf", CXX, [
        function(0, "plain", ["int"]), function(4, "f", []),
        function(6, "f", ["int"]), function(12, "choose", []),
        function(16, "f", ["int"], "int", "_Z1fv")], symbols=syms)
    # as many names as make the tables of strings grow, packed
    u = Unit(Die(0x11, name="a.src", lang=CXX, children=[
        Die(T_SUB, name=f"f{i}", linkage=f"n{i:04}" * 16, low=q(0x1000 + i % 64),
            high=(DATA8, word(1))) for i in range(900)
    ] + [Die(T_SUB, name=f"i{i}", inline=1) for i in range(9)]))
    keep("symbols", "S-names", elf({
        n.replace(".", ".z"): b"ZLIB" + struct.pack(">Q", len(data))
        + zlib.compress(data, 9) for n, data in u.sections.items()}))


# -- bodies: what messages say beside their headers ----------------------------
def blob(b=b"x"):
    return word(len(b), 4) + b


def bodies():
    TRC, DBG, RUN, JOB, VIEW, CONF, DEED = range(7)
    owner = word(1000, 4) + word(1000, 4) + word(2, 4) + word(7, 4) * 2
    strings = blob(b"a\0bc\0")

    def body(which, name, data):
        keep("bodies", f"{which}-{name}", bytes([which]) + data)

    conf = b""
    with open(f"{HERE}/../../common/wire/settings.def") as f:
        for line in f:
            if line.startswith(("HOST_STR(", "PATHNAME(ROLES")):
                conf += blob()
            elif re.match(r"HOST_NUM\(|[A-Z]+\(ROLES", line):
                conf += word(3)
    body(CONF, "whole", conf)
    hello = word(1, 4) * 2 + blob() * 4 + strings + word(1, 4) * 2
    rest = word(9) * 5 + blob() + word(1, 4)
    body(TRC, "whole", hello + word(1, 4) + rest)
    body(TRC, "files", hello + word(99, 4) + rest)
    for limits in range(4, 9):
        body(RUN, f"limits{limits}", owner + word(0, 4) * 12
             + word(5) * limits + word(6) * 4 + blob() * 3 + strings * 2)
    body(JOB, "whole", owner + word(1, 4) + word(8) * 4 + blob())
    for name in (b"attach", b"detach", b"evaluate", b"none"):
        body(DEED, name.decode(), word(5, 4) + word(6, 4) + blob(name))


# -- trcseg: calls that are written and read again (fuzz_trcseg.c) -------------
def calls():
    NUMBER, WIDE, NONE_, RAW, BIG = 8, 11, 4, 6, 7
    JUMP, FLUSH, NAME, GONE, LOST, THREADS, REPEAT, LIMIT = range(0x60, 0x68)
    STOP = 0xe7

    def call(kind, thread=0, fn=3, what=NUMBER, value=1):
        """kind: 0 entered, 1 left, 2 both; bit 7: as it should not be"""
        # make_call() takes the kind from the whole byte
        op = next(o for o in range(0x60) if o % 3 == kind & 3
                  and o >> 3 & 3 == thread)
        if kind & 0x80:
            op = next(o for o in range(0x80, 0xe0) if o % 3 == kind & 3
                      and o >> 3 & 3 == thread)
        how = word(what & 7 | value << 3, 2)
        more = b"abcdefgh"[:8] if what in (RAW, BIG) else b""
        return bytes([op, fn]) + how + more

    def made(name, *parts):
        keep("trcseg", f"E-{name}", b"E" + b"".join(
            bytes([p]) if isinstance(p, int) else p for p in parts))

    def two(fn=3, value=1, what=NUMBER):
        return bytes([2, fn]) + word(what & 7 | value << 3, 2) * 2

    pairs = b"".join(call(0, i % 4, i % 16, NUMBER, i) + call(
        1, i % 4, 0, (NUMBER, WIDE, NONE_)[i % 3], i * 7) for i in range(60))
    made("pairs", pairs, FLUSH, pairs)
    made("odd", *(call(0x81, i % 4, i * 37 % 256, (NUMBER, WIDE, RAW)[i % 3],
                       i) for i in range(40)), NAME | 8, GONE | 8, LOST | 8)
    made("nested", *(call(0, 1, i) for i in range(20)),
         *(call(1, 1, i, WIDE, i) for i in range(20)))
    made("both", *(two(i, i) for i in range(90)), JUMP, word(0xffff, 2),
         two(3, 5, WIDE), two(4, 6, NONE_))
    made("full", call(0), REPEAT, 255, call(1), REPEAT, 255, REPEAT, 90)
    made("full-both", two(), REPEAT, 255, REPEAT, 200, JUMP, word(0xffff, 2),
         two(4, 9), REPEAT, 90)
    made("segments", *(pairs[:400] + bytes([JUMP]) + word(0xffff, 2)
                       for _ in range(4)))
    made("threads", call(0), THREADS, REPEAT, 90, THREADS)
    made("big", call(0, 0, 3, BIG), REPEAT, 9, call(1, 0, 3, BIG), REPEAT, 9)
    made("evicted", call(0, 0, 3, BIG), LIMIT, REPEAT, 12, call(
        0, 1, 4, BIG), REPEAT, 12, REPEAT, 12, REPEAT, 12)
    for i in range(12):
        made(f"damage{i}", pairs[:300], JUMP, word(0xffff, 2), pairs[:200],
             STOP, i % 2, word(8 * i + (0 if i % 3 else 128), 2), 9 + i,
             i % 2, word(300 + i, 2), 255, 0, 0, 0, 0)


# -- trcquery: what is asked ---------------------------------------------------
def queries():
    values = ["1", "1.0", "-3", "5.5", "1e300", "9007199254740993", "true",
              "null", "\"0x7\"", "\"0x0\"", "\"text5\"", "\"a\\u0001\"",
              "[1]", "{\"a\":1}", "{\"a\": 7, \"b\": 7}", "\"\"", "0", "40",
              "\"long long long long long long text 3\""]
    more = ["", ",\"threadId\":20", ",\"offset\":1",
            ",\"function\":{\"contains\":\"many\"}", ",\"isNull\""]
    n = 0
    for v in values:
        for m in more:
            null = m == ",\"isNull\""
            keep("trcquery", f"q-value{n}", (
                "q{\"limit\":9,\"returnValue\":{\"equals\":" + v
                + (",\"isNull\":false" if null else "") + "}"
                + ("" if null else m) + "}").encode())
            n += 1
    for i, q_ in enumerate((
            '{"returnValue":{"isNull":true}}', '{"returnValue":{"isNull":false}}',
            '{"offset":2100}', '{"offset":3000,"limit":500,"verbose":true}',
            '{"offset":2500,"eventType":"function_exit"}',
            '{"offset":2050,"threadId":20}',
            '{"offset":2001,"function":{"contains":"many"}}',
            '{"offset":2001,"returnValue":{"isNull":false}}',
            '{"threadId":20,"function":{"equals":"many::word"}}',
            '{"threadId":10,"eventType":"stdout"}', '{"threadId":21,"limit":3}',
            '{"eventType":"stderr","threadId":20}', '{"afterEventId":"0.1"}',
            '{"afterEventId":"0.2","eventType":"stdout"}',
            '{"afterEventId":"3.900","limit":500}',
            '{"function":{"equals":"nobody"}}',
            '{"eventType":"stderr","verbose":true}',
            '{"eventType":"crash","verbose":true}',
            '{"limit":500,"offset":30,"verbose":true}',
            '{"returnValue":{"equals":40},"offset":2}',
            '{"returnValue":{"equals":199},"threadId":21}',
            '{"returnValue":{"equals":"text200"},"limit":500}',
            '{"returnValue":{"isNull":true},"function":{"contains":"word"}}',
            '{"returnValue":{"isNull":false,"equals":7},"limit":500}',
            '{"sourceFile":{"equals":"/src/many.c"},"eventType":'
            '"function_enter"}')):
        keep("trcquery", f"q-{i}", b"q" + q_.encode())
    sql = ["instr(X'616263', X'62')", "instr(X'616263', X'')",
           "instr('abc', 'c')", "instr('abc', X'62')", "replace('aXbX','X','yy')",
           "replace('a','','y')", "replace('abc','abc','')",
           "replace('aaaa','a','aaaaaaaa')", "replace(NULL,'a','b')",
           "trim('xxaxx','x')", "trim('éaé','é')",
           "ltrim('  a ')", "rtrim('ab','b')", "trim('a', '" + "b" * 70 + "')",
           "trim('a', NULL)", "trim('abc','')", "'abc' LIKE 'a%'",
           "'a%c' LIKE 'a\\%c' ESCAPE '\\'", "'abc' LIKE 'a_c' ESCAPE '%'",
           "'abc' LIKE 'abc' ESCAPE 'xy'", "'abc' GLOB 'a[b-d]*'",
           "'abc' LIKE '" + "%a" * 200 + "'", "NULL LIKE 'a'",
           "'abc' GLOB 'a[^x]c'", "'a' LIKE NULL", "substr('abc', 2)",
           "upper('abc')", "length('abc')", "printf('%s', 1)", "hex('a')",
           "'function_enter' REGEXP 'f.*r$'", "'a' REGEXP '('",
           "instr(NULL, 'a')", "replace('abc', 'b', NULL)",
           "replace(zeroblob(9), 'b', 'c')", "'É' LIKE 'é'"]
    for i, x in enumerate(sql):
        keep("trcquery", f"s-{i}", f"sSELECT {x}".encode())
        keep("trcquery", f"s-{i}-rows",
             f"sSELECT {x}, type, result FROM events LIMIT 3".encode())


# -- archive: with what fails meanwhile (fuzz_archive.c) -----------------------
def archives():
    def member(name, data, **more):
        info = tarfile.TarInfo(name)
        info.size = len(data)
        for k, v in more.items():
            setattr(info, k, v)
        return info.tobuf(tarfile.PAX_FORMAT) + data + b"\0" * (
            -len(data) % 512)

    program = member("a", elf({}), mode=0o644)
    # links with contents, which are skipped
    link = member("b", b"x" * 3000, type=tarfile.LNKTYPE, linkname="a",
                  pax_headers={"comment": "x"})
    bundle = program + link + member("c", b"y" * 5000) + b"\0" * 1024
    for fault in ("", "m", "s", "r", "h", "p", "w"):
        keep("archive", f"fault-{fault or 'none'}",
             (b"\0" + fault.encode() if fault else b"") + b"a\n" + bundle)


# -- ctl and conf: text --------------------------------------------------------
def texts():
    for i, t in enumerate((b"none", b"^A", b"^?", b"~.", b"xy", b"%")):
        keep("ctl", f"type{i}", b"\4\10" + t)
    keep("ctl", "cast-sizes", b'\0\0{"version": 2, "width": 80, "height": 24}\n'
         b'[0.1, "r", "100x30"]\n[0.2, "r", "0x3"]\n[0.3, "m", "x"]\n')
    keep("ctl", "say", b"\2\5hello")
    for i, t in enumerate((
            "listen on 192.0.2.1 port 4444 plain\n"
            "web listen on 192.0.2.1 port 4445 plain\n",
            "max-sessions 4\nmax-total-bytes 1G\n"
            "quota user \"root\" sessions 9 bytes 2G\n"
            "quota default sessions 9 bytes 2G\n",
            "listen localhost\nlisten 192.0.2.1 plain\nmax-sessions 7\n"
            "nothing 5\nmax-sessions x\nlisten\n",
            "".join(f'adapter a{i} command "/bin/a{i}"\n' for i in range(9)),
            "".join(f'adapter a{i} command "/bin/a{i}"\n' for i in range(20)),
            "adapter a command b c d\nadapter a command e\n",
            'announce yes\nservice-name "on %h, %% é"\n',
            "allow user ann, bob\nallow group devs\ndeny user eve\n"
            "deny group students guests\ndeny user eve\n",
            "allow ann\ndeny\nallow groups x\nallow-group x\n"
            "deny = user\n")):
        keep("conf", f"warn{i}", t.encode())


# -- symwire: symbols and a tracer (fuzz_symwire.c) ----------------------------
def symwire():
    def record(kind, payload):
        return bytes([kind, len(payload) // 4]) + payload

    good = b"".join(step(o, 8, 4) for o in range(1, 11))
    opened = record(0, word(5) + blob(b"ab12"))
    index = record(1, word(7))
    for i, steps in enumerate((
            good, b"", step(END, 8), step(REG, 9), step(VEC, 17), step(MEM, 0),
            step(CSLICE, 8, 0), step(MEM, 5000), b"abcd")):
        typed = record(2, word(1, 4) + blob(steps) + blob(good) + blob(b"desc"))
        keep("symwire", f"typed{i}", bytes([4 << 1]) + opened + index + typed
             + record(3, blob(b"CODE") + blob(b"why.")))
    binary = elf({})
    for name, how in (("empty", 0xd1), ("huge", 0xe1), ("whole", 1)):
        keep("symwire", f"ask-{name}", bytes([how | 2 << 1]) + (
            bytes([0, 0]) + bytes([1, 0])).ljust(128, b"\0") + binary)


# -- what fails: fuzz_fault.h ---------------------------------------------------
CALLS = ("malloc calloc realloc sendmsg recvmsg send recv fcntl socketpair "
         "epoll_ctl read write pread fstat openat flock fsync renameat mkdir "
         "pwrite").split()


def plan(*faults):
    """(call, error, how many go well, how many fail)"""
    return b"\xff!" + bytes([len(faults)]) + b"".join(
        bytes([CALLS.index(c), e, first, times]) for c, e, first, times
        in faults)


# -- link: two channels (fuzz_link.c) -------------------------------------------
def links():
    sides = {"spawner": 0, "parent": 1, "asked": 2, "nofds": 4}
    none = bytes([0])

    def right(kind, wish, length=8):
        return bytes([0, kind + 4 * wish]) + struct.pack("<H", length)

    def wrong(how, kind, length=8):
        return bytes([2, how, kind, 0]) + struct.pack("<H", length)

    def say(length, how=0, times=1):
        return (bytes([3, how | 8, times]) + struct.pack("<H", length))

    def hear(n):
        return bytes([5, n])

    def wait(ms):
        return bytes([6, ms])

    n = 0
    for name, how in sides.items():
        for kind in range(4):
            for wish in range(10):
                keep("link", f"right-{name}-{kind}-{wish}", bytes([how])
                     + none + right(kind, wish) + right(kind, 0) + wait(9)
                     + bytes([7, 0]) + wait(9))
        for what in range(256):
            if what % 8 > 1 or what < 8:
                keep("link", f"wrong-{name}-{what}", bytes([how]) + none
                     + wrong(what, 5, 40) + wrong(what, 60, 4000))
        for length in (9, 400):
            keep("link", f"full-{name}-{length}", bytes([how]) + none
                 + b"".join(right(k, 0, length) + bytes([9])
                            for k in (0, 1, 2, 3)) + right(0, 0))
    for how in range(8):
        keep("link", f"queue-{how}", none * 2 + say(60000, how | 16, 9)
             + hear(2) + wait(1) + hear(9) + wait(1) + say(100, how) + hear(9))
        keep("link", f"gone-{how}", none * 2 + say(60000, how | 16, 9)
             + bytes([10, 0]))
        keep("link", f"too-much-{how}", none * 2 + say(61000, how | 16, 99))
    keep("link", "too-long", none * 2 + say(0xffff, 16))
    keep("link", "one", none * 2 + right(0, 0) * 2 + bytes([8, 8]) + bytes(
        [10]) + bytes([8]))
    keep("link", "drain", none * 2 + right(0, 4) * 3 + bytes(
        [0x80]) + right(0, 4)[1:] + bytes([0x80]) + right(0, 4)[1:] + bytes(
            [11, 9, 0x8b, 9]))
    keep("link", "calm", none * 2 + right(0, 1) * 3 + wait(1) + right(
        0, 0) + wait(1) + wait(9) + bytes([10]))
    for call in ("sendmsg", "recvmsg", "malloc", "fcntl", "epoll_ctl"):
        for error in range(4):
            for how in (0, 1, 2, 3):
                n += 1
                keep("link", f"fails-{call}-{error}-{how}",
                     plan((call, error, how % 2, 1 + how),
                          ("sendmsg", 0, 0, 2)) + none * 2
                     + say(200, how, 3) + right(1, 0, 4) + wait(1) + hear(9)
                     + say(200, 0) + bytes([0x80 | 10, 0]) + right(0, 0)
                     + bytes([8]))


# -- tls (fuzz_tls.c) -----------------------------------------------------------
def tls():
    """A step is what it does, in the low twelfth, on which connection."""
    new, bare, named = 36, 0, 72

    def do(what, arg=0, side=0):
        return bytes([what + 12 * side, arg])

    up, down, both = do(0, 20), do(1, 20), do(2)
    for i, first in enumerate((new, new * 3, named)):
        shaken = bytes([first]) + do(4)
        keep("tls", f"talk{i}", shaken + (up + down + both) * 3
             + do(7, 1) + both + do(10) + both)
        keep("tls", f"full-down{i}", shaken + do(1, 255) * 9 + do(2) * 20)
        keep("tls", f"full-up{i}", shaken + do(0, 255) * 9 + do(2) * 20)
        keep("tls", f"netproc-ends{i}", shaken + up + do(7, 0) + do(8, 255)
             + up + do(8, 255))
        keep("tls", f"new-idproc{i}", shaken + do(9, 1) + up + both + do(9, 0)
             + up + both)
        keep("tls", f"lost-netproc{i}", shaken + do(11) + bytes([first + 12])
             + do(4, 0, 1) + up + both)
        keep("tls", f"garbage{i}", shaken + do(5, 9) + b"123456789" + both)
        for call in CALLS:
            for first_one in (0, 1, 2, 4):
                keep("tls", f"fails-{call}-{i}-{first_one}",
                     plan((call, i + first_one, first_one, 1 + i)) + shaken
                     + do(1, 90) + both + do(0, 90) + both + do(9, 1)
                     + do(9, 0) + bytes([first + 12]) + do(4, 0, 1)
                     + do(6, 1))
    keep("tls", "late", bytes([bare]) + do(8, 200))
    keep("tls", "late-shake", bytes([new]) + do(8, 200) + do(8, 200))
    keep("tls", "too-many", plan(("fsync", 0, 0, 1)) + bytes(
        [new, new + 12, new + 24]) + do(4, 0, 2))
    keep("tls", "too-many-shaken", plan(("fsync", 0, 0, 1)) + bytes(
        [new * 3, new * 3 + 12, new + 24]) + do(4, 0, 2))


# -- ws: what the server says (fuzz_ws.c) ---------------------------------------
def said():
    one = [bytes([0]) + word(5) + bytes([n]) + b"p" * n + bytes([7])
           + b"1234567" for n in range(4)]
    one.append(bytes([0]) + word(5) + bytes([1]) + b"p" + bytes([1]) + b"x")
    one += [bytes([1]) + word(u, 4) + bytes([n]) for u, n in
            ((0, 0), (7, 0), (-1, 9), (0, 3))]
    one.append(bytes([2]) + word(70000, 4) + word(24, 2))
    one.append(bytes([3, 9]) + b"a\"b\xffc\n\x01d")
    for n in (0, 5, 200):
        for why in (b"why", b"\xc3\xa9" * 90, b"x" + b"\xc3\xa9" * 90):
            one.append(bytes([4, 3]) + b"abc" + word(n, 2) + b"b" * n + why)
    for i, x in enumerate(one):
        keep("ws", f"said{i}", b"\xff>" + x)
    keep("ws", "said-all", b"\xff>" + b"".join(one[:-9]))

    def frame(op, data, fin=0x80):
        n = len(data)
        head = bytes([fin | op, 0x80 | n]) if n < 126 else bytes(
            [fin | op, 0x80 | 126]) + n.to_bytes(2, "big") if n < 65536 \
            else bytes([fin | op, 0x80 | 127]) + n.to_bytes(8, "big")
        return head + bytes(4) + data

    for first in (0, 1):
        for call in ("calloc", "malloc"):
            keep("ws", f"fails-{call}-{first}", plan((call, 0, first, 1))
                 + frame(1, b"a" * 300, 0) + frame(0, b"b" * 300, 0)
                 + frame(0, b"c" * 900))
    huge = bytes([0x82, 0xff]) + (70000).to_bytes(8, "big") + bytes(4)
    keep("ws", "huge", b"\0" + huge + b"x" * 99)
    keep("ws", "huge-fragments", b"\0" + frame(2, b"a" * 9, 0)
         + bytes([0x80, 0xff]) + (65530).to_bytes(8, "big") + bytes(4) + b"z")


# -- ring: records (fuzz_ring.c) ------------------------------------------------
def rings():
    enter, leave = 0, 1
    fixed = [(1, 3, 8, 0), (1, 4, 4, 0), (0, 0, 1, 0)]
    slices = [(o, 3, 64, s) for o, s in ((7, 1), (8, 4), (9, 0))]

    def programs(steps):
        return b"".join(bytes([o, r, n - 1, s]) for o, r, n, s in steps) * 4

    def rec(kind, tsc, fn=0, flags=0, brief=True, bare=True, link=0, caps=b"",
            start=0):
        return (bytes([(16 if brief else 0) | (1 if bare else 0)])
                + word(tsc, 2) + bytes([fn, kind, flags]) + word(link, 2)
                + (word(start, 2) if kind == leave else b"") + caps)

    def cap(data, status=0, count=True):
        return bytes([status, len(data)]) + data + (
            bytes([1 if count else 0]) if len(data) >= 8 else b"")

    def write(r, read=True, how=0):
        return bytes([how | (0 if read else 0x80), 0]) + r + (
            b"\1" if read else b"")

    head = word(0, 2) + bytes([0])
    none = programs([(0, 0, 1, 0)] * 3)
    for flags in range(8):
        keep("ring", f"brief-{flags}", head + none + b"".join(
            write(rec(enter, 100 + i, flags=flags), False)
            + write(rec(leave, 105 + i, flags=flags & 1), i == 8)
            for i in range(9)))
    for how in (0, 2, 4, 0x20, 0x60):
        keep("ring", f"nested-{how}", head + none + b"".join(
            write(rec(enter, 100 + i, fn=i % 2), False) for i in range(6))
            + b"".join(write(rec(leave, 120 + i, fn=i % 2), True, how)
                       for i in range(8)))
    keep("ring", "deep", head + none + b"".join(
        write(rec(enter, 100, fn=1), i % 100 == 99) for i in range(1500)))
    for name, steps in (("fixed", fixed), ("slices", slices)):
        for status in range(5):
            for data in (b"", b"12345678", b"1234", b"12345678" * 3):
                caps = b"".join(cap(data, status) for _ in range(3))
                keep("ring", f"captured-{name}-{status}-{len(data)}",
                     head + programs(steps)
                     + write(rec(enter, 100, bare=False, caps=caps), False)
                     + write(rec(leave, 101, bare=False, caps=caps)))
    keep("ring", "whole", head + none
         + write(rec(enter, 100, brief=False))
         + write(rec(leave, 101, brief=False, link=1, start=100)))
    for first in (0, 1):
        keep("ring", f"fails{first}", plan(("calloc", 0, first, 1)) + head)


# -- http: both doors (fuzz_http.c) ---------------------------------------------
def doors():
    token = "dlt_" + "a" * 43
    key = "dlc_" + "a" * 43

    def web(name, line, *headers, body=b"", how=1, step=0, mind=b"\0", fail=b""):
        lines = [line + " HTTP/1.1", "Host: localhost", *headers]
        if body:
            lines.append(f"Content-Length: {len(body)}")
        keep("http", name, fail + bytes([how, step, len(mind)]) + mind
             + "\r\n".join(lines).encode() + b"\r\n\r\n" + body)

    gzip, html = "Accept-Encoding: gzip", "Accept: text/html"
    for path in ("/", "/app.js", "/nothing", "/api/nothing"):
        name = path.replace("/", "-")
        web(f"page{name}", f"GET {path}", gzip, html)
        web(f"page-head{name}", f"HEAD {path}", gzip, html)
        web(f"page-post{name}", f"POST {path}", gzip, html)
        web(f"page-plain{name}", f"GET {path}")
    web("page-old", "GET /", gzip, "If-None-Match: *")
    as_json = "Content-Type: application/json"
    for flag in (0, 1, 2, 3):
        for mind in (b"\0", b"\x28\0", b"\3"):
            web(f"login-{flag}-{mind[0]}", "POST /api/v1/login", as_json,
                body=b'{"token":"%s"}' % token.encode(), how=flag, mind=mind)
            web(f"login-key-{flag}-{mind[0]}", "POST /api/v1/login", as_json,
                body=b'{"key":"%s"}' % key.encode(), how=flag, mind=mind)
    for how in range(0, 256, 8):
        web(f"audit-{how}", "GET /api/v1/audit?from=3", mind=bytes([0, how]))
        web(f"listing-{how}", "GET /api/v1/sessions/aabb0100/output?tail=90",
            mind=bytes([how, 0]))
    cookie = f"Cookie: lantern={key[:-4]}aaaa"
    for mind in (b"\0", b"\x28\0"):
        web(f"whoami-{mind[0]}", "GET /api/v1/whoami", cookie, mind=mind)
        web(f"whoami-token-{mind[0]}", "GET /api/v1/whoami",
            f"Authorization: Bearer {token}", mind=mind)
    for how in (0x10, 0x20, 0x30, 0x11):
        web(f"sysroot-{how}", "GET /api/v1/sysroot", mind=bytes([0, how]))
        for first in (0, 1, 3):
            web(f"fails-sysroot-{how}-{first}", "GET /api/v1/sysroot",
                mind=bytes([0, how]), fail=plan(("pread", 0, first, 1)))
    elf = b"\x7fELF" + b"e" * 200
    for how in (0x20, 0x42, 0x02, 0x7f):
        for step in (0, 99):
            web(f"up-{how}-{step}", "POST /api/v1/sessions",
                "Content-Type: application/octet-stream", body=elf, step=step,
                mind=bytes([0, how]))
    for n in range(5):
        web(f"unsized-{n}", "POST /api/v1/sessions", "Content-Type: "
            "application/octet-stream", "Transfer-Encoding: chunked",
            step=(0, 1, 60, 99, 150)[n], mind=b"\0")
    for call in CALLS:
        for first in (0, 1, 2, 3, 5):
            bad = plan((call, first, first, 1 + first % 2))
            web(f"fails-up-{call}-{first}", "POST /api/v1/sessions?name=x",
                "Content-Type: application/octet-stream", body=elf, fail=bad)
            web(f"fails-page-{call}-{first}", "GET /", gzip, fail=bad)
            web(f"fails-stream-{call}-{first}",
                "GET /api/v1/sessions/aabb0100/stream", mind=b"\x28",
                fail=bad)

    def control(name, text, how=0xe1, step=0, mind=b"\x28", fail=b""):
        keep("http", f"control-{name}",
             fail + bytes([how, step, len(mind)]) + mind + text)

    lines = (b"VERSION\n", b"LIST\n", b"HELP\n", b"WHOAMI\n",
             b"AUTH " + token.encode() + b"\nLIST\n", b"STATUS aabb\n",
             b"OUTPUT aabb\n", b"OUTPUT aabb 0 50\n", b"FOLLOW aabb\n",
             b"INPUT aabb 5\nhello", b"INPUT aabb eof\n", b"INPUT aabb\n",
             b"INPUT aabb 0\n", b"INPUT zz 3\nabcLIST\n",
             b"UPLOAD 204\n" + elf, b"UPLOAD 204 a/b\n" + elf,
             b"SYSROOT\n", b'{"command":"SYSROOT"}\n', b"UPLOAD x\n", b"UPLOAD 99999999999999\n", b"AUDIT 0\n",
             b"AUDIT 0 5\n", b"AUDIT x\n", b"AUDIT 0 99\n", b"EVENTS\n",
             b'{"command":"LIST"}\n', b'{"command":"AUDIT","from":0}\n',
             b"\x16\x03\x01\0", b"GET / HTTP/1.1\r\n\r\n", b"x" * 9000,
             b"half a line", b"SYSROOT aabb\n", b"DEBUG aabb\nbytes",
             b"ATTACH aabb\nbytes", b"TOKEN CREATE x\n", b"METRICS\n")
    for i, text in enumerate(lines):
        for how in (0xe0, 0xe1, 0xe9):
            for mind in (b"\0", b"\x28", b"\x7f", b"\x28\3", b"\x28\xaa",
                         b"\x28\x10", b"\x28\x7f", b"\x08\x10", b"\x08\x86",
                         b"\x08\3", b"\x08\x20", b"\x08\x7f"):
                control(f"{i}-{how}-{mind.hex()}", text, how, 0, mind)
    for step in (0, 1, 250):
        control(f"input-{step}", b"INPUT aabb 12000\n" + b"i" * 12000, 0xe1,
                step, b"\x08\x10")
        control(f"up-{step}", b"UPLOAD 60000\n" + b"u" * 900, 0xe1, step,
                b"\x08\x20")
        control(f"lines-{step}", b"STATUS aabb\nLIST\nHELP\n" * 40, 0xe1,
                step)
    for call in CALLS:
        for first in range(6):
            for i, text in enumerate((b"HELP\nOUTPUT aabb\n", b"UPLOAD 204\n"
                                      + elf, b"INPUT aabb 900\n" + b"i" * 900)):
                control(f"fails-{call}-{first}-{i}", text, fail=plan(
                    (call, first, first, 1 + first % 3)), mind=b"\x08\x10")
                control(f"fails-at-once-{call}-{first}-{i}", text, fail=plan(
                    (call, first, 0, 1)), mind=b"\x08\x10")


# -- mcp: patterns that wait (fuzz_mcp.c) ---------------------------------------
def patterns():
    def change(**args):
        return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                           "params": {"name": "debug_trace",
                                      "arguments": args}}).encode()

    def several(name, *messages, how=0x30, fail=b""):
        keep("mcp", f"pending-{name}",
             fail + bytes([how]) + b"\0".join(messages))

    some = [f"f{i}*" for i in range(9)]
    for how in (0x30, 0x70, 0x20, 0x60):
        several(f"changes{how}", change(add=some), change(add=["g", "f1*"]),
                change(remove=["f1*", "f2*"]), change(remove=some + ["g"]),
                change(add=["last"]), how=how)
    several("long", change(add=["x" * 1024]), change(add=["x" * 1025]),
            change(add=[""]), change(add=["y" * 1000 + str(i)
                                          for i in range(9)]))
    several("many", change(add=[str(i) for i in range(129)]))
    for first in range(3):
        several(f"fails{first}", change(add=some), change(add=["g"]),
                fail=plan(("calloc", 0, first, 1)))


# -- msg: the audit log (fuzz_msg.c) --------------------------------------------
def say(name, payload=b"", conn=1, request=1, session=0, fd=0):
    """A message to the spawner; the launcher answers the nth of its own."""
    roles = {"NETPROC": 0, "LAUNCHER": 1, "IDPROC": 2, "DEBUGGER": 4}
    with open(f"{HERE}/../../common/wire/msgs.def") as f:
        rows = re.findall(r"^MSG\((\w+),\s*(\w+),\s*(\w+),", f.read(), re.M)
    number, row = next((i + 1, r) for i, r in enumerate(rows) if r[0] == name)
    return bytes([0x80 | roles[row[1]], number, session, conn, request, fd]) + (
        struct.pack("<H", len(payload)) + payload)


def audit():
    def principal(flags, uid=1001, door=0, conn=1):
        return say("PRINCIPAL", word(uid, 4) + word(flags, 4) + word(door, 4)
                   + blob(b"ro\"ot") + blob(b"192.0.2.1:5") + blob(b""), conn)

    def audit(start, seconds=0, request=1, conn=1):
        return say("AUDIT", word(start) + word(seconds, 4), conn, request)

    def time(ms):
        return bytes([3, 0, ms // 100, 0, 0, 0, 0, 0])

    late = 1 << 40
    gone = say("CONN_CLOSED")
    for flags in range(64):
        me = gone + principal(flags)
        keep("msg", f"audit-{flags}", me + audit(0) + audit(late) + audit(
            late, 5) + gone)
    for flags in (1, 2, 4, 8, 16, 32):
        me = gone + principal(flags)
        keep("msg", f"audit-waits-{flags}", me + audit(late, 5) + time(6000)
             + audit(late, 20, 2) + say("CONN_CLOSED", b"", 2) + principal(
                 0, 1002, 0, 2) + audit(late, 61))
        keep("msg", f"audit-full-{flags}", me + b"".join(
            audit(late, 60, i) for i in range(1, 40)) + principal(0, 1002, 0, 2)
            + gone)


# -- store: the file of known hosts (fuzz_answer.c) -----------------------------
def odd_stores():
    text = b"# who\nkey old\nother x\n\nno value\n"
    for how in range(32):
        for more in (0, 0x40, 0x80):
            keep("answer", f"store-{how}-{more}",
                 plan() + bytes([how | more]) + text)
    for call in CALLS[10:] + ["calloc"]:
        for first in range(4):
            for how in (0, 7, 0x47):
                keep("answer", f"store-{call}-{first}-{how}",
                     plan((call, first, first, 1)) + bytes([how]) + text)


# -- what the debugger's clients show (fuzz_answer.c) ---------------------------
def shown():
    names = ("summary value locals source backtrace threads points memory "
             "registers disassembly raw sessions words").split()
    at = {"file": "/home/me/a.c", "line": 3, "address": "0x10"}
    cut = [{"what": "locals", "shown": 2, "of": 9, "path": "a.b", "offset": 4},
           {"shown": 1, "offset": 5}, {"path": "p"}, {}]
    memory = {"address": "0x1000", "hex": b"Hello,\x00world\x7f\xffand more"
              .hex() + "zz", "unreadable": 5, "truncated": cut}
    answers = {
        "memory": [memory, {**memory, "text": "as it\tsays"}, {"hex": ""}, {}],
        "disassembly": [{"instructions": [
            {**at, "source": "\tif (a)\tb;\n", "text": "nop", "current": True,
             "symbol": "main+3"}, {"text": "ret", "source": "x"}],
            "truncated": cut}],
        "summary": [{**at, "state": "stopped", "output_lost": 7, "output": [
            {"stream": "stderr", "text": "a\tb\r\nc"},
            {"stream": "stdout", "base64": "AGFi/w=="},
            {"stream": "stdout", "base64": "?"}, {"text": "\ttab"}],
            "source": {"first": 1, "current": 2,
                       "lines": ["a\tb", "\u00e9\tx", None]},
            "locals": [{"name": "a", "value": "1", "type": "int"},
                       {"name": None, "value": None}],
            "changed": [{"name": "a", "old": "0"}], "truncated": cut}],
        "points": [{"breakpoints": [{"id": 1, "actual": at}, {
            "id": 2, "file": "b.c", "enabled": False}, {
            "id": 3, "function": "f", "condition_error": "no"}, {
            "id": 4, "moved": True, "kind": "k", "verified": True}],
            "truncated": cut}, {"watchpoints": []}],
    }
    for name, list_ in answers.items():
        for i, answer in enumerate(list_):
            for how in (0, 15):
                keep("answer", f"shown-{name}-{i}-{how}",
                     bytes([0, names.index(name), how])
                     + json.dumps(answer).encode())


# -- messages of adapters that are too long (fuzz_dap.c) ------------------------
def frames():
    big = 16 << 20
    for habits in (0x20, 0x40):
        for head in (b"", b'{"request_seq": 12, "body":'):
            for n in (big + 100, big + 60000, 70000, 900000):
                keep("dap", f"huge-{habits}-{len(head)}-{n}",
                     bytes([63, habits]) + b"Content-Length: %d\r\n\r\n" % n
                     + head)
    keep("dap", "huge-then-more", bytes([63, 0x20])
         + b"Content-Length: %d\r\n\r\n" % (big + 1) + b"x" * 2000)
    keep("dap", "body", bytes([63, 0]) + b"Content-Length: 9000\r\n\r\n"
         + b"{" + b" " * 8998 + b"}" + b"Content-Length: 2\r\n\r\n{}")
    for first in range(3):
        for habits in (0, 0x20):
            keep("dap", f"fails-{first}-{habits}",
                 plan(("realloc", 0, first, 1)) + bytes([63, habits])
                 + b"Content-Length: 90000\r\n\r\n{" + b" " * 8000)
    for n in (b"", b"x", b"5 x", b"99999999999999999999", b"0", b"5\r\nX: y"):
        keep("dap", f"length-{n.hex()}", bytes([63, 0]) + b"Content-Length: "
             + n + b"\r\n\r\n{    }")
    keep("dap", "header", bytes([63, 0]) + b"X: " + b"y" * 5000)


# -- editors that do not keep up (fuzz_dapserver.c) -----------------------------
def editors():
    def ask(command):
        return json.dumps({"command": command}).encode()

    begin = (ask("dap")
             + b'\nm{"type":"request","seq":1,"command":"initialize"}\np\4\n'
             b'm{"type":"request","seq":2,"command":"attach"}\n'
             b'm{"type":"request","seq":3,"command":"configurationDone"}\n')
    for phase in range(8):
        for n in (1, 40, 64, 65, 100, 250):
            keep("dapserver", f"flood-{phase}-{n}", begin + b"p"
                 + bytes([phase]) + b"\nF" + bytes([n]) + b"\nr\1\nF"
                 + bytes([n]) + b"\nt\1\nr\1\nr\1\np\3\nr\1\nr\1\n")
            keep("dapserver", f"flood-all-{phase}-{n}", begin + b"p\3\nF"
                 + bytes([n]) + b"\np" + bytes([phase]) + b"\nr\1\np"
                 + bytes([phase | 8]) + b"\nr\1\nr\1\n")
    # longer than a fetch takes, and than a queue does
    for n in (99, 101, 199, 201, 255):
        for category in (b"", b"stdout", b"c" * 99):
            keep("dapserver", f"long-{n}-{len(category)}", begin + b"r\1\nb"
                 + bytes([n]) + category + b"\nr\1\nr\1\n")
        keep("dapserver", f"answer-{n}", begin + b'm{"type":"request",'
             b'"seq":4,"command":"threads"}\nB' + bytes([n]) + b"\nr\1\n")
    keep("dapserver", "not-fetched", begin + b"b\x90\n" * 50
         + b"r\1\nr\1\nm{}\nb\x90\n")
    keep("dapserver", "not-one", begin + b'e{"output":1}\n')
    for how in (b"c", b"d"):
        for wait in (b"", b"r\1\n"):
            keep("dapserver", f"end-{how}-{wait != b''}", begin + wait + how
                 + b"\n" + how + b"\nr\1\n")


# -- an agent's long messages (fuzz_mcpclient.c) -------------------------------
def agents_messages():
    def act(what, which, data=b""):
        return bytes([what, which]) + (struct.pack("<H", len(data)) + data
                                       if what % 8 < 5 else b"")

    ask = act(0, 0, b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":'
              b'{"name":"debug_launch"}}\n')
    long = (act(0, 0, b'{"jsonrpc":"2.0","id":1,"method":"tools/call",'
                b'"params":{"name":"debug_launch"},"x":[')
            + act(0, 250, b"0," * 25) + act(0, 0, b"0]}\n"))
    keep("mcpclient", "launch", ask)
    keep("mcpclient", "launch-long", long)
    keep("mcpclient", "launch-longer", (
        act(0, 0, b'{"jsonrpc":"2.0","id":1,"method":"tools/call",'
            b'"params":{"name":"debug_launch"},"x":[')
        + act(0, 250, b"0," * 27) + act(0, 0, b"0]}\n")))
    pings = b"".join(act(0, 0, b'{"jsonrpc":"2.0","id":"%s","method":"ping"}\n'
                         % (b"x" * 900)) for _ in range(5))
    for error in range(4):
        for first in (0, 1, 3):
            keep("mcpclient", f"fails-{error}-{first}",
                 plan(("write", error, first, 3)) + pings + ask + pings)


# -- what a debugger reads of others (fuzz_texts.c) -----------------------------
def thrown(object, type, how, memory):
    """Words of eight bytes; a string stands for itself, and ends with NUL."""
    out = b""
    for m in memory:
        m = struct.pack("<Q", m) if isinstance(m, int) else m + b"\0"
        out += m + bytes(-len(m) % 8)
    return b"3" + bytes([object, type, how]) + out


def program(names, ident=b"\x7fELF\2\1", names_size=None, **header):
    h = dict(shoff=64, shentsize=64, shnum=1, shstrndx=0)
    h.update(header)
    return (ident.ljust(16, b"\0")
            + struct.pack("<HHIQQQIHHHHHH", 2, 62, 1, 0, 0, h["shoff"], 0, 64,
                          0, 0, h["shentsize"], h["shnum"], h["shstrndx"])
            + struct.pack("<IIQQQQIIQQ", 0, 3, 0, 0, 128,
                          len(names) if names_size is None else names_size,
                          0, 0, 1, 0) + names)


def prints():
    base = 0x1000
    # the object, its type and two bases, their names, and its message
    chain = [0, base + 0x78, 0, base + 0x60, base + 0x28, 0, base + 0x68,
             base + 0x40, 0, base + 0x90, base, 0, b"3Bad",
             b"St13runtime_error", b"no more of it", b"St9exception"]
    for how in (0, 0xff, 0x55):
        keep("texts", f"thrown-{how}", thrown(0, 2, how, chain))
    chain[12] = b"int"
    keep("texts", "thrown-of-no-class", thrown(0, 2, 0, chain))
    keep("texts", "thrown-nowhere", thrown(0, 200, 0, chain))
    keep("texts", "thrown-cut", thrown(0, 2, 0, chain[:14]))
    go = b"\0.text\0.go.buildinfo\0"
    keep("texts", "elf-go", b"6\0" + program(go))
    keep("texts", "elf-go-note", b"6\0" + program(b"\0.note.go.buildid\0"))
    keep("texts", "elf", b"6\0" + program(b"\0.text\0"))
    keep("texts", "elf-py", b"6\1" + program(b"\0.text\0"))
    keep("texts", "elf-liar", b"6\0" + program(go, names_size=1 << 62))
    keep("texts", "elf-beyond", b"6\0" + program(go, shoff=(1 << 64) - 3))
    keep("texts", "elf-many", b"6\0" + program(go, shnum=5000, shstrndx=4999))
    keep("texts", "elf-32", b"6\0" + program(go, ident=b"\x7fELF\1\1"))
    for which in (0, 1):
        for n, order in enumerate(([0], [1, 0], [2], [3, 2], [4], [5, 10, 11],
                                   [6], [7], [8], [9, 12], [4, 3, 2, 0])):
            for runs in (0xffff, 0xfeae, 0xc0c, 0):
                keep("texts", f"path-{which}-{n}-{runs:x}", b"7"
                     + bytes([which]) + struct.pack("<H", runs)
                     + bytes([len(order)] + order))


# -- how runs and jobs end (fuzz_msg.c) -----------------------------------------
def runs():
    def event(what, which=0, data=b""):
        return bytes([3, what, which, 0, 0, 0]) + (
            struct.pack("<H", len(data)) + data)

    time, write, close, ended, text = (
        lambda ms=0: event(0, ms // 100), lambda i, d: event(4, i, d),
        lambda i: event(5, i), event(6), lambda d: event(7, 0, d))

    def vec(*words):
        return blob(b"".join(w + b"\0" for w in words))

    def new(flags=0, conn=1):
        return say("NEW", word(flags, 4) + word(0) + blob(b"") + blob(b"")
                   + vec(b"cat") + vec(), conn)

    def start(flags=0, conn=1):
        return say("START", word(flags, 4) + word(3, 4) + word(2, 4)
                   + word(80, 4) + word(24, 4), conn)

    def fds(kinds, name="RUN_FD", nth=0):
        return b"".join(say(name, word(k, 4), 0, nth) for k in kinds)

    def ran(kinds=(0, 1, 3, 4, 5, 6), nth=0):
        return fds(kinds, nth=nth) + say("RAN", word(9, 4) + word(2, 4), 0, nth)

    def told(what, value):
        return write(2, word(what, 4) + word(value, 4))

    run = new() + start() + ran()
    for what, value in ((0, 0), (0, 255), (0, 256), (1, 9), (1, 0), (1, 11),
                        (1, 65), (2, 1), (3, 1)):
        for kills in (b"", b"low 0\noom_kill 0\n", b"oom 1\noom_kill 2\n"):
            keep("msg", f"ends-{what}-{value}-{len(kills)}",
                 new() + start() + text(b"x\noom_kill 1\n") + ran()
                 + text(kills) + told(what, value) + time() + ended + time(100))
    for i, last in enumerate((told(1, 11), write(2, b"123"), close(2), time())):
        keep("msg", f"ends-last-{i}", run + last + ended + time(100) + start()
             + ran(nth=1) + ended + time(100) + say("DELETE"))
    for i, what in enumerate(("STOP", "KILL")):
        keep("msg", f"ends-by-{what}", run + say(what) + time(100) + ended
             + time(6000))
    keep("msg", "ends-tty", new(1) + start(8) + ran((1, 3, 4, 5))
         + write(1, word(1, 4) + word(3, 4)) + ended + time(100))
    keep("msg", "ends-split", new() + start(2) + ran((0, 1, 2, 3, 4, 5))
         + write(1, b"out") + write(2, b"err") + ended + time(100))
    full = run + say("HOLD", word(1, 4) + word(0)) + (
        write(1, b"o" * 6000) + time()) * 3 + ended + time(100)
    for name, last in (("", b""), ("-left", say("CONN_CLOSED")),
                       ("-taken", say("HOLD", word(1, 4) + word(4096))),
                       ("-killed", say("KILL")), ("-stopped", say("STOP"))):
        keep("msg", f"ends-full{name}", full + last + time(100))
    for sandbox in range(4):
        keep("msg", f"ends-sandbox-{sandbox}", new() + say("START", word(
            0, 4) + word(sandbox, 4) + word(2, 4) + word(0)) + ran() + ended
            + time(100))

    adapter = new() + say("INST_START", word(0, 4) + word(3, 4) + word(2, 4) + blob(b"")
                          + b"{}") + say("INSTRUMENT_FD", word(0, 4), 0, 0) \
        + say("INSTRUMENT_FD", word(1, 4), 0, 0) \
        + say("INSTRUMENT_RAN", word(7, 4), 0, 0)
    for flags in (0, 1, 4):
        order = adapter + say("DBG_RUN", word(flags, 4) + blob(b"dap")
                                   + blob(b"/") + vec(b"dap") + vec()
                                   + vec(b"it")) + ran(
            (1, 3, 4, 5, 7, 8, 9) if flags & 1 else (0, 1, 2, 3, 4, 5, 7, 8,
                                                     9), 1)
        for i in range(5):
            told = b"".join(write(j, word(1, 4) + word(3, 4))
                            for j in range(i, i + 1))
            keep("msg", f"ends-adapter-{flags}-{i}", order + told + time()
                 + ended + time(100))
        keep("msg", f"ends-adapter-{flags}-kill", order + say("KILL")
             + time(100) + ended + time(100))

    def report(kind, code=0, bytes=5, why=b""):
        return struct.pack("<IIQQQ160s", kind, code, bytes, 2, 1, why)

    def job(kinds, nth=0):
        return fds(kinds, "JOB_FD", nth) + say("JOB", word(9, 4), 0, nth)

    bundle = say("UPLOAD", word(90000) + blob(b"bin/it") + blob(b""))
    bundle += say("UPLOADED")
    sysroot, done = say("SYSROOT"), say("SYSROOT_DONE")
    for name, begin, kinds in (("unpack", bundle, (0, 1, 2, 3)),
                               ("pack", sysroot, (0, 1, 2))):
        both = begin + text(b"packed") + job(kinds)
        for i, r in enumerate((
                report(1) + report(2), report(2, 0, 1 << 50), report(2) * 2,
                report(3, 1, 5, b"so it is"), report(3, 4), report(3, 9, 5),
                report(3, 1, 5, b"\x1b[m"), report(3, 0), report(4),
                report(1, 1), report(2)[:9], report(1), b"")):
            keep("msg", f"job-{name}-{i}", both + write(0, r) + time(100)
                 + ended + time(100) + done + sysroot)
        for code in range(60):
            keep("msg", f"job-{name}-fails-{code}", both
                 + write(0, report(3, code, 5, b"why")) + ended + time(100))
        keep("msg", f"job-{name}-slow", both + write(0, report(1))
             + event(0, 255) * 90 + time(2000) * 3)
        keep("msg", f"job-{name}-babbles", both + write(0, report(2) + b"x")
             + time(6000) + time(3000))
        keep("msg", f"job-{name}-late", begin + event(0, 255) * 90)
        keep("msg", f"job-{name}-lost", begin + event(2) + time(100))
        keep("msg", f"job-{name}-lost-late", both + event(2) + time(100)
             + ended + time(100))
        keep("msg", f"job-{name}-left", both + say("CONN_CLOSED") + time(100)
             + time(3000) + ended)
        keep("msg", f"job-{name}-left-early", begin + say("CONN_CLOSED")
             + say("JOB_FAILED", word(3, 4) + word(12, 4), 0, 0) + time(3000))
        keep("msg", f"job-{name}-left-begun", begin + say("CONN_CLOSED")
             + job(kinds) + time(3000) + ended)
        for step in range(40):
            keep("msg", f"job-{name}-step-{step}", begin
                 + say("JOB_FAILED", word(step, 4) + word(12, 4), 0, 0))
        for few in range(len(kinds)):
            keep("msg", f"job-{name}-few-{few}", begin + job(kinds[:few]))
            for fd in range(1, 11):
                rest = [k for k in kinds if k != few]
                keep("msg", f"job-{name}-odd-{few}-{fd}", begin + say(
                    "JOB_FD", word(few, 4), 0, 0, 0, fd) + job(rest)
                    + write(0, report(2)) + ended + time(100) + done)
            keep("msg", f"job-{name}-none-{few}", begin + job(
                k for k in kinds if k != few) + write(0, report(2)) + ended
                + time(100) + done)
        keep("msg", f"job-{name}-odd-kind", begin + fds((9,), "JOB_FD"))
        keep("msg", f"job-{name}-twice", both + job(kinds))
        keep("msg", f"job-{name}-failed-late", both + say(
            "JOB_FAILED", word(3, 4) + word(12, 4), 0, 0))
        keep("msg", f"job-{name}-of-nobody", say("JOB", word(9, 4), 0, 3)
             + fds((1,), "JOB_FD", 3) + say("JOB_FAILED", word(3, 4)
                                            + word(12, 4), 0, 3))
        keep("msg", f"job-{name}-fast", both + write(0, report(1) * 3
                                                     + report(2)) + ended)
        keep("msg", f"job-{name}-left-ended", both + say("CONN_CLOSED")
             + ended + time(100))
        keep("msg", f"job-{name}-killed-late", both + say("CONN_CLOSED")
             + time(3000))
        keep("msg", f"job-{name}-stranger", begin.replace(
            b"\1\1\0", b"\0\1\0"))
        for flags in (8, 1):
            keep("msg", f"job-{name}-reader-{flags}", say("CONN_CLOSED")
                 + say("PRINCIPAL", word(1001, 4) + word(flags, 4) + word(0, 4)
                       + blob(b"user") + blob(b"192.0.2.1:5") + blob(b""))
                 + begin)
        for found in (0, 1):
            keep("msg", f"job-{name}-account-{found}", say("CONN_CLOSED")
                 + say("PRINCIPAL", word(5000, 4) + word(0) + blob(b"user")
                       + blob(b"192.0.2.1:5") + blob(b"")) + begin
                 + say("ACCOUNT", word(5000, 4) + word(found, 4) + word(
                     5000, 4) + word(0, 4) + blob(b"user") + blob(b"/")
                       + blob(b"")) + time(100))
            keep("msg", f"job-{name}-no-account-{found}", say("CONN_CLOSED")
                 + say("PRINCIPAL", word(5000, 4) + word(0) + blob(b"user")
                       + blob(b"192.0.2.1:5") + blob(b"")) + begin
                 + (event(3) if found else b"") + say("CONN_CLOSED")
                 + time(100) + event(0, 255) * 3)
    others = b"".join(say("UPLOAD", word(90000) + blob(b"bin/it") +
                          blob(b""), c, 1)
                      + say("UPLOADED", b"", c, 1, 0) for c in (1, 2, 3))
    first = say("UPLOAD", word(500000) + blob(b"") + blob(b""))
    first += say("UPLOADED")
    for n in range(1, 12):
        keep("msg", f"job-too-large-{n}", first + say("UPLOAD", word(
            90000) + blob(b"bin/it") + blob(b""), 2) + say(
                "UPLOADED", b"", 2) + job(
                (0, 1, 2, 3)) + write(0, report(3, n, 5, b"")) + ended
            + time(100))
    keep("msg", "jobs-wait", others + job((0, 1, 2, 3)) + write(
        0, report(2)) + ended + time(100) + sysroot + sysroot + time(100))
    keep("msg", "jobs-one-for-each", sysroot + sysroot + say(
        "SYSROOT", b"", 2) + say("SYSROOT", b"", 3) + job((0, 1, 2))
        + write(0, report(2)) + ended + time(100) + sysroot + done + sysroot)
    keep("msg", "job-deleted", bundle + say("UPLOAD_ABORT") + say("DELETE")
         + time(3000) + job((0, 1, 2, 3)) + time(3000))


# -- what the clients believe (fuzz_client.c) -----------------------------------
def believed():
    def part(b):
        return bytes([len(b)]) + b

    good, other = b"SHA256:" + b"A" * 43, b"SHA256:B" + b"A" * 42
    files = {"none": b"", "it": b"rig:4444 " + good + b"\n",
             "other": b"# who\n\nrig:4444 " + other + b"\n",
             "port": b"rig:4445 " + good + b"\nriga:4444 " + other + b"\n",
             "v6": b"[::1]:4444 " + good + b"\n", "odd": b"rig:4444\n x\n\0"}
    for name, text in files.items():
        for how in (0, 1, 16, 32):
            keep("client", f"known-{name}-{how}",
                 b"0" + bytes([how]) + part(b"no\n") + text)
    for i, answer in enumerate((b"", b"yes\n", b"no\n", good, b"what\nYES\r\n",
                                other + b"\nno\n", b"x" * 127 + b"yes\n",
                                b"x" * 200)):
        for how in (16, 18, 20):
            keep("client", f"asked-{i}-{how}",
                 b"0" + bytes([how]) + part(answer) + files["port"])

    def found(how=0, address=b"\xc0\0\2\1", name=b"it", host=None, txt=(),
              port=4444):
        if len(address) == 16:
            how |= 1
        return b"\5" + bytes([how | (0 if host is None else 2), len(txt)]) + (
            address + part(name) + (b"" if host is None else part(host))
            + b"".join(part(t) for t in txt)
            + (b"" if how & 1 else word(port, 2)))

    link = b"\xfe\x80" + bytes(13) + b"\1"
    v6 = [b"\x20\1\r\xb8" + bytes([16 + n] * 12) for n in range(9)]
    one = b"\0" + found()
    sights = {"one": one + b"\1", "none": b"\1", "silence": b"",
              "tls": b"\0" + found(4 | 16) + b"\1",
              "failed": b"\0" + found(8) + b"\1", "failure": b"\2",
              "left": b"\3\4", "gone": b"\xf7", "runs": b"\x07" + one,
              "ends": b"\xff", "link": b"\0" + found(32, link) + b"\1",
              "link-gone": b"\0" + found(0, link) + b"\1",
              "other-host": b"\0" + found(host=b"rack") + b"\1",
              "host": b"\0" + found(host=b"RIG") + b"\1",
              "by-address": b"\0" + found(host=b"") + b"\1",
              "txt": b"\0" + found(txt=(b"a=b", b"a", b"=x", b"a=\0\xff"))
              + b"\1", "no-tls": b"\0" + found(txt=(b"tls=70000", b"tls"))
              + b"\1", "no-port": b"\0" + found(port=0) + b"\1",
              "two": b"\0\0" + found() + found(4) + found(0, link),
              "two-ports": b"\0\0" + found() + found(port=4) + b"\1",
              "late": one + b"\xf3\xf3\xf3\xf3\xf3\xf3\xf3\xf3\xf3\xf3",
              "many": b"\0" * 9 + b"".join(found(0, a) for a in v6) + b"\1",
              "too-many": b"\0" * 20 + one}
    for name, text in sights.items():
        for how in (0, 32, 64):
            keep("client", f"announced-{name}-{how}",
                 b"1" + bytes([how | 8]) + text)
    for refused in range(8):
        for how in (0, 32):
            keep("client", f"announced-refused-{refused}-{how}",
                 b"1" + bytes([refused]) + one)

    def mark(name, how, text, id=b"abc", run=b"r 1", client=b"me", offset=77):
        keep("client", f"mark-{name}", b"2" + bytes([how]) + part(client)
             + part(id) + part(run) + word(offset) + text)

    for how in range(0, 256, 2):
        mark(f"{how}", how, b"r 1 5\n")
    mark("client", 3, b"")
    mark("client-odd", 3, b"", client=b"a/b")
    mark("client-long", 3, b"", client=b"a" * 41)
    for name, id in (("odd", b"a/b"), ("long", b"a" * 65), ("up", b".."),
                     ("empty", b"")):
        mark(f"id-{name}", 2, b"", id)
    for name, run in (("long", b"r" * 80), ("empty", b""), ("line", b"a\nb")):
        mark(f"run-{name}", 2, b"", run=run)
    for i, text in enumerate((b"r 1", b"r 1 ", b"r 1 -1", b"r 2 5", b"5",
                              b"r 1 99999999999999999999999", b"r 1 77",
                              b"x" * 300)):
        mark(f"text-{i}", 2, text)


# -- /proc and cgroups (fuzz_procs.c) -------------------------------------------
def procs():
    pids = (10, 11, 12, 300, 4242)

    def file(what, data, of=10):
        return bytes([what, pids.index(of), len(data)]) + data

    def stat(pid, parent, name=b"it", ticks=(1, 2, 3, 4)):
        return file(0, b"%d (%s) S %d 2 3 4 5 6 7 8 9 10 %d %d %d %d 20\n"
                    % (pid, name, parent, *ticks), pid)

    def status(pid, parent, inner=b"%d\t1", name=b"it"):
        return file(1, b"Name:\t%s\nPid:\t%d\nPPid:\t%d\nNSpid:\t" % (
            name, pid, parent) + inner.replace(b"%d", b"%d" % pid) + b"\n",
            pid)

    leaf, cpu, memory, stub, stub2 = 10, 11, 12, 13, 9
    family = b"".join(stat(p, q) + status(p, q) + file(2, b"9 7 1\n", p)
                      + file(3, kids, p) for p, q, kids in (
                          (10, 1, b"11 "), (11, 10, b"12 300 "), (12, 11, b""),
                          (300, 11, b""), (4242, 1, b"")))
    me = file(stub, b"pos:\t0\nPid:\t11\n")
    for how in (0, 1, 0x40, 0x41, 0x80, 0x81, 2, 4):
        keep("procs", f"family-{how}", b"0" + bytes([how, 0]) + me + file(
            stub2, b"x\nPid:\t10\n") + family)
    for gone in (1, 2, 4, 31):
        keep("procs", f"ended-{gone}", b"0" + bytes([0, gone]) + me + family)
    group = {"in": b"10\n12\n300\n", "none": b"", "odd": b"12x\n", "cut": b"1",
             "numbers": b"-1\n0\n99999999999\n4242\n", "many": b"12\n" * 80}
    for name, text in group.items():
        for mem in (b"123\n", b""):
            keep("procs", f"group-{name}-{len(mem)}", b"0\x80\0" + me + family
                 + file(leaf, text) + file(cpu, b"usage_usec 77\nuser 1\n")
                 + file(memory, mem))
    sock, here = b"socket:[4242]", b"pid:[1]"
    for name, links in (
            ("outside", file(6, sock, 4242) + file(7, here, 4242)),
            ("session", file(5, sock, 300) + file(7, here, 300)),
            ("inside", file(6, sock, 4242) + file(7, b"pid:[2]", 4242)),
            ("no-ns", file(6, sock, 4242)), ("other", file(6, sock + b"]", 12)),
            ("long", file(6, b"s" * 200, 12) + file(7, b"p" * 200, 12))):
        keep("procs", f"socket-{name}", b"0\0\0" + family + links)
    for name, text in (
            ("no-name", b"10 it S 1"), ("open", b"10 (it S 1"), ("cut", b"10 (it)"
             ), ("letters", b"10 (it) S x y"), ("few", b"10 (it) S 1 2 3"),
            ("huge", b"10 (it) S 99999999999999999999 " + b"9" * 200),
            ("none", b"")):
        keep("procs", f"stat-{name}", b"0\0\0" + file(0, text, 10)
             + file(0, text, 4242) + file(6, sock, 4242) + file(7, here, 4242))
    for i, text in enumerate((b"", b"x", b"11", b"11 x", b"10 11 ", b"-1 0 ",
                              b"11 " * 85)):
        keep("procs", f"children-{i}", b"0\0\0" + file(3, text) + file(4, text)
             + file(3, text, 11) + file(2, b"9 x\n") + stat(11, 10))

    def process(parent, inner=1, name=b"it", ticks=5, pages=9):
        return bytes([parent, ticks]) + word(pages, 2) + bytes(
            [inner - 1, len(name)]) + name

    names = (b"it", b") S 10 ", b"a) S 1 (b", b"(", b"", b"\nPPid:\t10\n",
             b"\\\n\n\n", b"\nPid:\t1\n", b" ) ", b")))")
    for i, name in enumerate(names):
        for root in range(5):
            keep("procs", f"called-{i}-{root}", b"1" + bytes([root])
                 + process(0, 1, name)[1:] + process(0, 2, name) + process(
                     1, 7, name) + process(3, 8, name) + process(
                         i % 4, 3 + i % 5, name))
    for nth in range(64):
        keep("procs", f"lacks-{nth}", b"1\0" + process(0)[1:] + b"".join(
            process(i % 3, 3 + i, b"it") for i in range(4)) + bytes([nth]))
    mounts = {
        "one": b"24 1 0:22 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 "
               b"cgroup2 rw\n", "none": b"24 1 0:22 / / rw - ext4 /dev/x rw\n",
        "few": b"24 - cgroup2 x\n", "long": b"1 2 3 / /" + b"m" * 300
        + b" rw - cgroup2 x\n", "overlay": b"24 1 0:22 / / rw - overlay x "
        + b"l" * 1100 + b"\n5 1 0:2 / /c rw - cgroup2 x\n",
        "point": b"5 1 0:2 / /" + b"p" * 1100 + b" rw - cgroup2 x\n",
        "cut": b"5 1 0:2 / /c rw - cgroup2", "zero": b"5 1 0:2 / /c\0 - x"}
    for name, text in mounts.items():
        for how in (0, 0x80):
            keep("procs", f"mounts-{name}-{how}", b"2" + bytes([how]) + word(
                0, 4) + text)
    own = (b"0::/a/b\n", b"1:name=x:/\n0::/\n", b"0::", b"0::/" + b"c" * 300
           + b"\n0::/d\n", b"1:x:/" + b"e" * 1018 + b"0::/f\n", b"")
    for i, text in enumerate(own):
        for how in (1, 0x81):
            keep("procs", f"own-{i}-{how}", b"2" + bytes([how]) + word(0, 4)
                 + text)
    for i, text in enumerate((b"cpu io memory pids\n", b"pids", b"", b"x" * 31
                              + b"pids memory", b"memoryx pids2\n")):
        keep("procs", f"controllers-{i}", b"2\2" + word(0, 4) + text)
    head = b"  sl  local_address rem_address   st tx_queue\n"
    row = (b"   0: 0100007F:%04X 0100007F:%04X 01 00000000:00000000 00:00000000"
           b" 00000000  1000        0 %d 1 0 100\n")
    for i, rows in enumerate((row % (4444, 99, 4242), row % (1, 2, 3)
                              + row % (4444, 99, 7), row % (4444, 99, 1 << 70),
                              row % (4444, 99, 0), b"junk\n" * 200)):
        keep("procs", f"sockets-{i}", b"2\3" + word(4444, 2) + word(99, 2)
             + head + rows)


# -- streams of events (fuzz_web.c) ---------------------------------------------
def streams():
    def change(i):
        return bytes([0, i])

    def sees(i, o=0):
        return bytes([1, i + 4 * o])

    def leaves(i, o=0):
        return bytes([2, i + 4 * o])

    def enter(c=0, how=1, text=None):
        return bytes([3, c + 4 * how]) + (
            b"" if text is None else bytes([len(text)]) + text)

    def leave(c=0):
        return bytes([4, c])

    look, slow, quick = bytes([5, 0]), bytes([6, 64]), bytes([6, 0])
    many, many_of_others = bytes([6, 128]), bytes([6, 132])
    used, stopped = bytes([7, 64 + 32]), bytes([7, 64])
    some = sees(0) + sees(1) + sees(0, 1) + sees(3, 1) + look
    streams = {
        "first": some + enter(0, 0) + enter(1, 0) + look,
        "changes": some + enter() + enter(1) + change(0) + change(3) + look
        + change(0) + look,
        "gone": some + enter() + leaves(0) + look + sees(0) + leaves(1) + look,
        "back": some + enter() + change(1) + look + leave() + change(0)
        + leaves(1) + look + enter(),
        "back-at-once": some + enter() + look + enter() + enter(),
        "back-late": some + enter() + look + leave() + leaves(0) + many * 4
        + look + enter() + change(1) + look,
        "back-late-others": some + enter() + look + leave()
        + many_of_others * 4 + enter(),
        "there-late": some + enter() + slow + many * 5 + leaves(0) + quick
        + look,
        "slow": some + enter() + slow + change(0) + look + change(1) + look
        + quick + look + slow + leave(),
        "used": used + some + enter() + used + slow + used + quick + stopped
        + bytes([7, 2]) + change(0) + look,
        "of-another": some + enter() + enter(2) + change(0) + look
        + enter(1, 5) + change(3) + look,
        "at-gone": some + enter() + change(0) + look + leaves(0) + change(1)
        + look + sees(0) + look,
        "at-gone-next": some + enter() + change(0) + look + leaves(0) + look}
    for name, text in streams.items():
        keep("web", f"stream-{name}", b"\xff>" + text)
    for i, text in enumerate((b"", b"1f2e3d-2", b"1f2e3d-", b"1f2e3d-x",
                              b"1f2e3d-99999", b"1f2e3d-0", b"1f2e3d",
                              b"1f2e3e-2", b"-2", b"x" * 60, b"1f2e3d--1",
                              b"0x1f2e3d- 2", b"1f2e3d-2\0")):
        keep("web", f"stream-id-{i}", b"\xff>" + some + enter(0, 3, text)
             + change(0) + look)


def main():
    numbers()
    strings()
    compounds()
    indices()
    go_unit()
    rust_unit()
    rust_closures()
    odd_types()
    lists()
    symbol_tables()
    bodies()
    archives()
    texts()
    symwire()
    calls()
    queries()
    links()
    tls()
    said()
    rings()
    doors()
    patterns()
    audit()
    odd_stores()
    shown()
    frames()
    editors()
    agents_messages()
    prints()
    runs()
    believed()
    procs()
    streams()


main()
