# SPDX-License-Identifier: ISC
"""How long it takes to know a binary: its functions with their parameters,
and what is to be captured of some of them."""
import json
import os
import statistics
import subprocess
import tempfile
import time

# units of so many functions, which no other unit knows
UNITS, FUNCTIONS = 10, 10000


def source():
    yield "struct point { int x, y; const char *name; };\n"
    for i in range(FUNCTIONS):
        yield (f"static int __attribute__((used)) function_number_{i}(int a{i}"
               f", const char *text, struct point *p) {{ int local = a{i} * "
               f"{i}; return local + (p ? p->x : 0) + (text ? text[0] : 0); "
               "}\n")


def build(where):
    """One unit, compiled once and linked many times."""
    unit = os.path.join(where, "unit.c")
    with open(unit, "w") as f:
        f.writelines(source())
    path = os.path.join(where, "many")
    objs = [os.path.join(where, f"{i}.o") for i in range(UNITS)]
    subprocess.run(["cc", "-g", "-O0", "-c", "-o", objs[0], unit], check=True)
    with open(objs[0], "rb") as f:
        data = f.read()
    for o in objs[1:]:
        with open(o, "wb") as f:
            f.write(data)
    main = os.path.join(where, "main.c")
    with open(main, "w") as f:
        f.write("int main(void) { return 0; }\n")
    subprocess.run(["cc", "-g", "-o", path, main, *objs], check=True)
    return path


def ask(helper, symbols, *args):
    out = subprocess.run([helper, symbols, *args], check=True,
                         stdout=subprocess.PIPE).stdout
    return json.loads(out.split(b"\n", 1)[0])


def nm_ms(path):
    begun = time.monotonic()
    subprocess.run(["nm", path], check=True, stdout=subprocess.DEVNULL)
    return (time.monotonic() - begun) * 1e3


def figure(table, helper, symbols, quick):
    ours, names, types = [], [], []
    with tempfile.TemporaryDirectory(prefix="dl-bench-") as where:
        path = build(where)
        for _ in range(3 if quick else 15):
            r = ask(helper, symbols, "index", path)
            ours.append(r["ms"])
            names.append(nm_ms(path))
        for _ in range(1 if quick else 5):
            types.append(ask(helper, symbols, "types", path,
                             "function_number_1*")["ms"] * 1e3)
    if r["functions"] < UNITS * FUNCTIONS:
        raise RuntimeError(f"only {r['functions']} functions")
    # beside it: their names alone, from the symbol table
    table.value("symbols: index of 100k functions with parameters",
                statistics.median(ours), "ms", most=60,
                baseline=statistics.median(names))
    table.value("  the fastest of these", min(ours), "ms")
    table.value("  types of one function",
                statistics.median(types) / (UNITS * 1111), "us")
