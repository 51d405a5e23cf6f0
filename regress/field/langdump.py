# SPDX-License-Identifier: ISC
# Values of Rust and Go, for gdb: read behind programs.DUMP, whose dump() is
# called for the kinds that all languages have.
# flake8: noqa: F821
import gdb

MOST_ELEMENTS = 9
plain_dump = dump


def fields_of(t):
    return {f.name: f for f in t.fields() if hasattr(f, "bitpos")}


def number(v):
    if v.is_optimized_out:
        raise ValueError
    return int(v)


def text_of(at, n):
    "A string that has a length; none of more bytes than the tracer shows."
    if n == 0:
        return ["text", ""]
    if n < 0 or n > 1024:
        return None
    return ["text", bytes(gdb.selected_inferior().read_memory(at, n)).decode(
        "utf-8", "backslashreplace")]


def list_of(pointer, n, depth):
    number(pointer)
    if n < 0 or n > 1 << 20:
        return None
    some = [dump((pointer + i).dereference(), depth + 1)
            for i in range(min(n, MOST_ELEMENTS))]
    return ["list", n, {"[%d]" % i: v for i, v in enumerate(some)}]


def first_pointer(v, depth=0):
    t = v.type.strip_typedefs()
    if t.code == gdb.TYPE_CODE_PTR:
        return v
    if t.code != gdb.TYPE_CODE_STRUCT or depth > 8:
        return None
    for name in fields_of(t):
        p = first_pointer(v[name], depth + 1)
        if p is not None:
            return p
    return None


def counted(v, t, depth):
    "Strings, slices and vectors; None: it is another structure."
    name, has = t.name or "", fields_of(t)
    if set(has) == {"data_ptr", "length"}:
        p, n = v["data_ptr"], number(v["length"])
        if name.endswith("str") or "Box<str" in name:
            return text_of(number(p), n)
        return list_of(p, n, depth)
    if set(has) == {"str", "len"}:
        return text_of(number(v["str"]), number(v["len"]))
    if set(has) == {"array", "len", "cap"}:
        return list_of(v["array"], number(v["len"]), depth)
    if name.endswith("string::String"):
        vec = v["vec"]
        return text_of(number(first_pointer(vec["buf"])), number(vec["len"]))
    if "vec::Vec<" in name and {"buf", "len"} <= set(has):
        p = first_pointer(v["buf"])
        to = t.template_argument(0)
        return list_of(p.cast(to.pointer()), number(v["len"]), depth)
    return None


def numbered(fields):
    "Tuples have numbers."
    if fields and all(n.startswith("__") for n in fields):
        return {"[%s]" % n[2:]: v for n, v in fields.items()}
    return fields


def variant(v, t, depth):
    active = [f for f in t.fields() if f.name is not None]
    if len(active) != 1:
        return None
    name = active[0].name
    inner = v[name]
    return ["variant", name, numbered(
        {n: dump(inner[n], depth + 1)
         for n in fields_of(inner.type.strip_typedefs())})]


def structure(v, t, depth):
    if any(f.artificial and f.name is None for f in t.fields()):
        return variant(v, t, depth)
    some = counted(v, t, depth)
    if some is not None or depth > 3:
        return some
    return numbered({n: dump(v[n], depth + 1) for n in fields_of(t)})


def pointer(v, t, depth):
    "References to strings and lists are shown as those."
    to = t.target().strip_typedefs()
    if depth == 0 and int(v) and to.code == gdb.TYPE_CODE_STRUCT:
        inner = dump(v.dereference(), 1)
        if isinstance(inner, list) and inner[0] in ("text", "list"):
            return ["to", int(v), inner]
    return ["ptr", int(v), None]


def dump(v, depth=0):
    t = v.type.strip_typedefs()
    try:
        if v.is_optimized_out:
            return "?"
        if t.code == gdb.TYPE_CODE_CHAR and t.sizeof == 4:
            return ["char", int(v)]
        if t.sizeof == 0 and LANGUAGE == ".rs":
            return None
        if LANGUAGE not in (".rs", ".go"):
            return plain_dump(v, depth)
        if t.code == gdb.TYPE_CODE_PTR:
            return pointer(v, t, depth)
        if t.code == gdb.TYPE_CODE_FUNC:
            # of Go: a variable of it is a pointer
            return None
        if t.code == gdb.TYPE_CODE_STRUCT and (t.sizeof or t.fields()):
            return structure(v, t, depth)
    except (gdb.error, OverflowError, ValueError, KeyError, RuntimeError):
        return "?"
    return plain_dump(v, depth)
