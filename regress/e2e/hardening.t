#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""How the binaries are built that are installed: what the loader and the
kernel are told, and what the compiler has put in."""
import os
import platform
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import BIN, LIBEXEC, SANITIZED, eq, ok, run_tests  # noqa: E402

# What -fcf-protection puts where indirect jumps may arrive.  The mark in the
# file, by which loaders turn it on, is the linker's: it is there when all that
# is linked has it, and Debian 12's crt1.o has none.
ENDBR64 = b"\xf3\x0f\x1e\xfa"


def readelf(*args):
    return subprocess.run(["readelf", "-W", *args], stdout=subprocess.PIPE,
                          text=True, check=True).stdout


def binaries():
    return sorted(os.path.join(d, n) for d in (BIN, LIBEXEC)
                  for n in os.listdir(d))


class Elf:
    def __init__(self, path):
        self.head = readelf("-h", path)
        self.segments = readelf("-l", path)
        self.dynamic = readelf("-d", path)
        self.notes = readelf("-n", path)
        # names may be cut off otherwise
        self.symbols = set(re.findall(
            r" ([\w.]+)(?:@\S+)?(?: \(\d+\))?$", readelf("-s", path),
            re.M))
        with open(path, "rb") as f:
            self.pads = f.read().count(ENDBR64)

    def flags_of(self, kind):
        """Flags of each segment of that kind, as R, RW, RE or RWE."""
        rows = re.findall(r"^ +%s +(?:0x\w+ +){5}([RWE ]{3})" % kind,
                          self.segments, re.M)
        return [r.replace(" ", "") for r in rows]


def facts(elf):
    """What must hold, by name."""
    pie = "DYN" in elf.head and re.search(r"\(FLAGS_1\).*PIE", elf.dynamic)
    now = re.search(r"\(FLAGS\).*BIND_NOW|\(FLAGS_1\).*NOW|\(BIND_NOW\)",
                    elf.dynamic)
    out = {
        "PIE": bool(pie),
        "RELRO": bool(elf.flags_of("GNU_RELRO")),
        "full RELRO": bool(now),
        "no executable stack": elf.flags_of("GNU_STACK") == ["RW"],
        "nothing writable is executable":
            "RWE" not in elf.flags_of("LOAD"),
        "no RPATH": not re.search(r"\((RPATH|RUNPATH)\)", elf.dynamic),
        "no text relocations": "TEXTREL" not in elf.dynamic,
        "stack canaries": "__stack_chk_fail" in elf.symbols,
    }
    if not SANITIZED:
        out["fortified"] = any(re.fullmatch(r"__\w+_chk", s)
                               for s in elf.symbols - {"__stack_chk_fail"})
    if not SANITIZED and platform.machine() == "x86_64":
        out["landing pads"] = elf.pads > 2
    return out


# What leaves no mark in the code is in the debug information, by gcc.
FLAGS = ("-O2", "-fPIE", "-fstack-protector-strong", "-fstack-clash-protection",
         "-ftrivial-auto-var-init=zero", "-fno-delete-null-pointer-checks",
         "-fno-strict-overflow", "-fno-strict-aliasing")


def producers(path):
    """How each of its sources was compiled."""
    text = readelf("--debug-dump=info", "--dwarf-depth=1", path)
    return set(re.findall(r"DW_AT_producer +: (?:\(.*?\): )?(.*)", text))


def compiled():
    for path in binaries():
        how = producers(path)
        ok(how, f"{os.path.basename(path)} tells how it was compiled")
        # clang does not say by what it was told
        eq([(f, p) for p in sorted(how) if p.startswith("GNU C")
            for f in FLAGS if f not in p.split()], [],
           f"{os.path.basename(path)}: all flags, for each source")


def each_binary():
    for path in binaries():
        got = facts(Elf(path))
        where = "bin" if os.path.dirname(path) == BIN else "libexec"
        name = f"{where}/{os.path.basename(path)}"
        bad = [k for k, v in got.items() if not v]
        eq(bad, [], f"{name}: {', '.join(got)}")


def the_weak_one():
    """The test sees what it is for."""
    path = os.path.join(os.environ["DL_BUILD"], "weak-%d" % os.getpid())
    try:
        subprocess.run(
            ["cc", "-x", "c", "-", "-o", path, "-no-pie", "-fno-pie",
             "-fno-stack-protector", "-fcf-protection=none", "-O0",
             "-Wl,-z,norelro,-z,lazy,-z,execstack,-rpath,/tmp"],
            input="int main(void) { return 0; }", text=True, check=True)
        got = facts(Elf(path))
        eq(sorted(k for k, v in got.items() if v),
           ["no text relocations", "nothing writable is executable"],
           "a weak binary is seen for what it is")
    finally:
        if os.path.exists(path):
            os.unlink(path)


def all_are_there():
    ok(len(binaries()) >= 15, "every program is looked at", binaries())


# sanitizers have flags of their own
run_tests(each_binary, the_weak_one, all_are_there,
          *(() if SANITIZED else (compiled,)))
