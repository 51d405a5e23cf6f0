#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# No process of a running daemon can become root, also not one that has been
# taken over: launchers are behind a fence, the parent is under its filter.
import errno
import grp
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../e2e/lib"))
from dl import (AS_ROOT, BOB, Daemon, alone, eq, helper, ok, run_tests,
                service_uid, status_of, wait_for)

OTHERS = ("_dlparent", "_dlnet", "_dlspawn", "_dlmdns", "_dlid")
WRAP = 1 << 32


def tries(pid, uid, gid, tests):
    p = subprocess.run([helper("fence"), str(pid), str(uid), str(gid),
                        *tests], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=60)
    out = p.stdout.decode()
    if p.returncode != 0:
        raise RuntimeError(out)
    return dict(x.rsplit("=", 1) for x in out.splitlines() if "=" in x)


def forbidden_gids():
    """Every group of the host that a session must not have."""
    ours = {grp.getgrnam(n).gr_gid for n in ("_dllaunch", "_dlrun")}
    return sorted({g.gr_gid for g in grp.getgrall()
                   if g.gr_gid not in ours and
                   not 1000 <= g.gr_gid <= 60000} | {0, 4, 42, 999, 60001})


def fence_of(d, pid, who):
    uid = service_uid("_dllaunch")
    gid = grp.getgrnam("_dllaunch").gr_gid
    uids = [0, 1, 999, 60001, 65534, 65535, 1 << 31, WRAP - 2, WRAP,
            WRAP * 2, 1 << 63] + [service_uid(n) for n in OTHERS]
    tests = [f"{how}:{n}" for n in uids
             for how in ("uid", "euid", "setuid", "reuid", "fsuid")]
    tests += [f"{how}:{n}" for n in forbidden_gids() + [WRAP]
              for how in ("gid", "setgid", "fsgid", "groups", "groups+")]
    tests += [f"map:{n}" for n in uids if n < WRAP]
    tests += [f"gmap:{n}" for n in forbidden_gids()]
    # 0 below is the launcher's own uid, and everything else is nobody
    tests += [f"nested:{n}" for n in uids if n not in (0,) and n % WRAP]
    tests += ["leave:0"]
    got = tries(pid, uid, gid, tests)
    eq(sorted(set(tests) - set(got)), [], f"{who}: all were tried")
    eq([t for t in tests if got.get(t) == "0"], [],
       f"{who}: no id that is not a session's can be had")
    # what must work shows that the tests can tell
    good = [f"uid:{n}" for n in (uid, service_uid("_dlrun"), 1000, BOB,
                                 60000)]
    good += [f"gid:{n}" for n in (gid, 1000, 60000)]
    good += ["groups:1000", f"groups+:{BOB}", "setuid:1000", "fsuid:1000",
             "map:1000", "gmap:1000", "fsgid:1000"]
    got = tries(pid, uid, gid, good)
    eq([t for t in good if got.get(t) != "0"], [],
       f"{who}: the ids of sessions can be had")


def fence(mode):
    with Daemon(mode) as d:
        for i, pid in enumerate(sorted(d.children("launcher"))):
            fence_of(d, pid, f"launcher {i + 1}")
        for pid in d.children("launcher"):
            os.kill(pid, 9)
            break
        ok(wait_for(lambda: len(d.children("launcher")) == 2),
           "a launcher comes back")
        fence_of(d, max(d.children("launcher")), "one that came back")


def allowed_groups(mode):
    """A group that is named in the configuration, and no other."""
    g = next(g for g in grp.getgrall() if 0 < g.gr_gid < 1000 and
             not g.gr_name.startswith("_dl"))
    other = next(o for o in grp.getgrall() if 0 < o.gr_gid < 1000 and
                 o.gr_gid != g.gr_gid and not o.gr_name.startswith("_dl"))
    with Daemon(mode, f"allow-group {g.gr_name}\n") as d:
        got = tries(d.role_pid("launcher"), service_uid("_dllaunch"),
                    grp.getgrnam("_dllaunch").gr_gid,
                    [f"groups:{g.gr_gid}", f"groups:{other.gr_gid}",
                     "groups:0"])
        eq(got, {f"groups:{g.gr_gid}": "0",
                 f"groups:{other.gr_gid}": "EINVAL", "groups:0": "EINVAL"},
           f"allow-group {g.gr_name} allows this one")


# --- the parent ----------------------------------------------------------

NEWUSER = 0x10000000
SYSCALLS = {
    "setresuid(0)": (117, 0, 0, 0),
    "setresuid(2^32)": (117, WRAP, WRAP, WRAP),
    "setresuid(-1, 0, -1)": (117, -1, 0, -1),
    "setresuid(net, 0, net)": (117, "_dlnet", 0, "_dlnet"),
    "setresuid(net + 2^32)": (117, "+_dlnet", "+_dlnet", "+_dlnet"),
    "setresuid(1000)": (117, 1000, 1000, 1000),
    "setresgid(0)": (119, 0, 0, 0), "setresgid(2^32)": (119, WRAP, WRAP,
                                                        WRAP),
    "setuid(0)": (105, 0), "setgid(0)": (106, 0), "setreuid(0)": (113, 0, 0),
    "setregid(0)": (114, 0, 0), "setfsuid(0)": (122, 0),
    "setfsgid(0)": (123, 0), "setgroups(1)": (116, 1, "$sp"),
    "setgroups(2^32 + 1)": (116, WRAP + 1, "$sp"),
    "unshare(user)": (272, NEWUSER), "unshare(mnt)": (272, 0x20000),
    "unshare(user, 2^32)": (272, NEWUSER + WRAP),
    "clone(user)": (56, NEWUSER + 17, 0, 0, 0, 0),
    "clone(user, 2^32)": (56, NEWUSER + WRAP + 17, 0, 0, 0, 0),
    "clone3": (435, "$sp", 88), "setns": (308, 0, 0),
    "mount": (165, 0, 0, 0, 0, 0), "ptrace": (101, 16, 1, 0, 0),
    "process_vm_writev": (311, 1, 0, 0, 0, 0, 0), "bpf": (321, 0, 0, 0),
    "keyctl": (250, 0), "execve": (59, 0, 0, 0),
    "open_by_handle_at": (304, 0, 0, 0), "pidfd_getfd": (438, 0, 0, 0),
    "init_module": (175, 0, 0, 0), "io_uring_setup": (425, 1, 0),
    "chown": (92, 0, 0, 0), "fchownat": (260, 0, 0, 0, 0, 0),
    "mknodat": (259, 0, 0, 0, 0), "pivot_root": (155, 0, 0),
}


def word(v):
    if isinstance(v, int):
        return str(v & (2**64 - 1))
    if v.startswith("+"):
        return str(service_uid(v[1:]) + WRAP)
    return v if v == "$sp" else str(service_uid(v))


def inject(pid, calls):
    """Each system call made by that process itself: {name: result}."""
    words = []
    for name, call in calls.items():
        words += ["--", name, *map(word, call)]
    p = subprocess.run([helper("inject"), str(pid), *words[1:]],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       stdin=subprocess.DEVNULL, timeout=60)
    text = p.stdout.decode(errors="replace")
    return {n: int(v) for n, v in
            re.findall(r"^(.*)=(-?\d+)$", text, re.M)}, text


def parent_stays_what_it_is(mode):
    with Daemon(mode) as d:
        before = status_of(d.proc.pid)
        calls = dict({"getpid": (39,)}, **SYSCALLS)
        got, text = inject(d.proc.pid, calls)
        ok(got.get("getpid") == d.proc.pid,
           "the parent makes calls for the tracer", text)
        eq(sorted(set(calls) - set(got)), [], "all were tried")
        bad = {n: v for n, v in got.items()
               if n != "getpid" and v != -errno.ENOSYS}
        eq(bad, {}, "its filter refuses every one")
        after = status_of(d.proc.pid)
        same = ("Uid", "Gid", "Groups", "CapPrm", "CapEff", "CapBnd",
                "NoNewPrivs", "Seccomp")
        eq([after.get(k) for k in same], [before.get(k) for k in same],
           "and it is who it was")
        eq(("0" in after["Uid"].split(), after["NoNewPrivs"],
            after["Seccomp"]), (False, "1", "2"),
           "not root, without new privileges, filtered")
        caps = int(after["CapPrm"], 16) | int(after["CapBnd"], 16)
        # KILL, SETGID, SETUID, SYS_CHROOT
        eq(caps & ~(1 << 5 | 1 << 6 | 1 << 7 | 1 << 18), 0,
           "no capability but the four")
        c = d.client()
        eq(c.cmd("LIST"), [], "the daemon serves as before")


def nobody_is_root(mode):
    with Daemon(mode) as d:
        c = d.client()
        c.start(helper("sleeper"), until=b"ready")
        for pid in d.processes():
            st = status_of(pid)
            ids = set((st["Uid"] + " " + st["Gid"] + " " +
                       st["Groups"]).split())
            eq(("0" in ids, st["NoNewPrivs"], st["Seccomp"]),
               (False, "1", "2"), f"{st['Name']} is not root")
        c.cmd("KILL " + c.cmd("LIST")[0]["id"])


if not AS_ROOT:
    print("1..0 # skipped: only root can start a daemon in system mode")
    sys.exit(0)
run_tests(alone(fence, ("system",)), alone(allowed_groups, ("system",)),
          alone(parent_stays_what_it_is, ("system",)),
          alone(nobody_is_root, ("system",)))
