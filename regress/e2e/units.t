#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""How far the units are closed, and by what each step that is left open is
needed: another one open, or one that has become superfluous here, fails."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import eq, ok, run_tests  # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
WORK = tempfile.mkdtemp(prefix="dl-units-")

# ... and all sets of capabilities
EACH = "_*"


def table(head, why="needed by"):
    """{step: reason} of a table of docs/PRIVSEP.md."""
    with open(os.path.join(TOP, "docs/PRIVSEP.md")) as f:
        text = f.read()
    rows = text.split(f"| {head} | {why} |\n|---|---|\n")[1]
    out = {}
    for line in rows.split("\n\n")[0].splitlines():
        names, reason = line.strip("| ").split(" | ")
        for name in re.findall(r"`([^`]+)`", names):
            out[name] = reason
    return out


BOTH = table("left open by both units")
USERS = table("left open by a user's unit alone")
CLOSED = table("closed by closed.conf as well", "what sessions lose")
UNITS = {"debuglantern": 5.1, "debuglantern-user": 7.9}
CLOSED_LEVEL = 4.0


def unit(name):
    with open(os.path.join(TOP, "etc/systemd", name + ".service.in")) as f:
        text = f.read()
    path = os.path.join(WORK, name + ".service")
    with open(path, "w") as f:
        f.write(text.replace("@BINDIR@", "/bin").replace("@SYSCONFDIR@",
                                                         "/etc"))
    return path


def analyze(path, *args):
    r = subprocess.run(["systemd-analyze", "security", "--offline=true",
                        "--no-pager", *args, path], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
    eq(r.stderr, "", "it is understood: " + os.path.basename(path))
    return r.stdout


def is_open(path):
    # one of the names ends in a bracket
    return {row["json_field"].rstrip(")")
            for row in json.loads(analyze(path, "--json=short"))
            if not row["set"] and row["exposure"]}


def unexplained(steps, reasons):
    groups = tuple(n[:-1] for n in reasons if n.endswith(EACH))
    return {s for s in steps if s not in reasons and
            not (groups and s.startswith(groups))}


def steps():
    system, user = (is_open(unit(u)) for u in UNITS)
    eq(system, set(BOTH), "the system's unit leaves open what has a reason")
    eq(unexplained(user, {**BOTH, **USERS}), set(),
       "a user's leaves open what its manager cannot close")
    eq({n for n in {**BOTH, **USERS} if not n.endswith(EACH)} - user, set(),
       "and no reason is given for what is closed")
    eq([n for n, why in {**BOTH, **USERS}.items() if not why.strip()], [],
       "each step has a reason")


def level(path):
    text = analyze(path)
    m = re.search(r"exposure level for \S+: ([0-9.]+)", text)
    return float(m.group(1)) if m else text[-200:]


def exposure():
    for name, figure in UNITS.items():
        eq(level(unit(name)), figure,
           name + " is exposed by as much as is said")


def closed():
    """What is left open by the drop-in is what the daemon itself needs."""
    path = unit("debuglantern")
    drop_ins = path + ".d"
    os.mkdir(drop_ins)
    try:
        shutil.copy(os.path.join(TOP, "etc/systemd/closed.conf"), drop_ins)
        eq(set(BOTH) - is_open(path), set(CLOSED),
           "closed.conf closes what is said")
        eq(is_open(path) - set(BOTH), set(), "and opens nothing")
        eq(level(path), CLOSED_LEVEL, "which is as much as is said")
    finally:
        shutil.rmtree(drop_ins)


def order():
    """Names in the configuration are looked up at the start, and one that
    nobody has yet ends it."""
    with open(unit("debuglantern")) as f:
        after = " ".join(re.findall("^After=(.*)$", f.read(), re.M)).split()
    ok("nss-user-lookup.target" in after, "the daemon is started when users "
       "can be looked up", after)


def loosened():
    """The test sees what it is for."""
    path = unit("debuglantern")
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(text.replace("ProtectClock=yes", "ProtectClock=no"))
    eq(is_open(path) - set(BOTH), {"ProtectClock"},
       "a step that is taken back is seen")


try:
    run_tests(steps, exposure, closed, order, loosened)
finally:
    shutil.rmtree(WORK, ignore_errors=True)
