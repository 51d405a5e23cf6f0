#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# Resources that the kernel counts for all users of the daemon: one user's sessions
# take as much as they get, and others find some.
import os
import re
import resource
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e", "lib"))
from dl import (ALICE, AS_ROOT, BOB, Daemon, alone, eq, helper, ok,
                passwd_wrapper, run_tests)

ALL_KINDS = "allow-sandbox none, namespaces, tmpfs\nstop-timeout 1\n"
HOGS = 4


class Takes:
    """A session that takes what it can of one thing, or so many."""

    def __init__(self, c, what, kind, most=""):
        self.c = c
        self.sid = c.upload(helper("takes"))["id"]
        c.cmd(f"ARGS {self.sid} {what} {most}".strip())
        r = c.cmd(f"START {self.sid} --sandbox {kind}")
        if "error_code" in r:
            raise RuntimeError(f"START: {r}")
        c.until(self.sid, b"took", 60)
        n, self.why = re.search(r"took (\d+) (\w+)",
                                c.output(self.sid).decode()).groups()
        self.n = int(n)

    def end(self):
        self.c.cmd("KILL " + self.sid)
        self.c.cmd("DELETE " + self.sid)


def one_takes_all(a, b, what, kind):
    hogs = [Takes(a, what, kind) for _ in range(HOGS)]
    other = Takes(b, what, kind, 1)
    ok(hogs[0].n > 0 and hogs[-1].n == 0, f"{kind}: four sessions take all "
       f"that one user gets: {what}", [(h.n, h.why) for h in hogs])
    eq((other.n, other.why), (1, "0"), f"{kind}: and another user finds one")
    if kind != "none":
        ok(hogs[1].n > 0, f"{kind}: one session leaves half to the next",
           [h.n for h in hogs])
    for t in hogs + [other]:
        t.end()


def users_do_not_starve_each_other(mode):
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, ALL_KINDS, wrapper=wrapper) as d:
        a, b = d.client(ALICE), d.client(BOB)
        for what in "inotify", "timer", "queue":
            for kind in "none", "namespaces", "tmpfs":
                one_takes_all(a, b, what, kind)
        # processes end before namespaces do, by limit nproc
        hogs = [Takes(a, "userns", "none") for _ in range(HOGS)]
        other = Takes(b, "userns", "none", 1)
        ok(hogs[0].n > 0 and other.n == 1, "none: the same with user "
           "namespaces", [(h.n, h.why) for h in hogs])
        for t in hogs + [other]:
            t.end()


def host_has(name):
    with open("/proc/sys/fs/inotify/max_user_" + name) as f:
        return int(f.read())


def parts_of(d):
    return next(r for r in d.client().cmd("DEPS")["deps"]
                if r["name"] == "user-parts")


def deps_tells_each_users_part_and_the_sysctl(mode):
    """The more users can fill all places, the less has each."""
    for each, users in ((2, 16), (8, 4), (32, 4)):
        with Daemon(mode, "max-sessions 32\nmax-sessions-per-user "
                    f"{each}\n") as d:
            c = d.client()
            row = parts_of(d)
            part = host_has("instances") // users
            ok(f"each user: {part} inotify instances, "
               f"{host_has('watches') // users} inotify watches" in
               row["description"], f"{users} users: DEPS tells the parts", row)
            eq((row["available"], "fs.inotify.max_user_instances=" in
                row.get("remedy", "")), (part >= 16, part < 16),
               f"{users} users: and whether they are enough")
            h = Takes(c, "inotify", "namespaces")
            eq(h.n, (part + 1) // 2, f"{users} users: a session gets half")
            h.end()


def hard(which):
    return resource.getrlimit(which)[1]


def without_cap_sys_resource_users_get_parts_and_deps_says_so(mode):
    """Limits that cannot be lifted for the fence are divided like others."""
    signals = -(-hard(resource.RLIMIT_SIGPENDING) // 4)
    for queues in 819200, 200000:
        with passwd_wrapper(ALICE, BOB) as accounts, \
                Daemon(mode, ALL_KINDS + "max-sessions 32\n"
                       "max-sessions-per-user 8\n",
                       wrapper=[*accounts, "prlimit", f"--msgqueue={queues}",
                                "setpriv", "--bounding-set",
                                "-sys_resource"]) as d:
            row = parts_of(d)
            ok(f"{signals} pending signals, {queues // 4} bytes of message "
               "queues" in row["description"], f"{queues} bytes of queues: "
               "DEPS tells each user's part", row)
            a, b = d.client(ALICE), d.client(BOB)
            # one as mq_open(3) makes it has 82 KiB
            enough = queues // 8 > 84000
            eq(Takes(a, "queue", "namespaces", 1).n, int(enough),
               f"a session runs, and has {'a' if enough else 'no'} queue")
            eq((row["available"], "CAP_SYS_RESOURCE" in
                row.get("remedy", "")), (enough, not enough),
               "DEPS says whether that is enough, and what to start the "
               "daemon with")
            one_takes_all(a, b, "timer", "none")


def deps_compares_the_hosts_sysctl_with_users_times_part(mode):
    """Parts that were right at the start are not when the host has less."""
    with tempfile.TemporaryDirectory(prefix="dl-sysctl-") as tmp:
        has = os.path.join(tmp, "instances")
        path = "/proc/sys/fs/inotify/max_user_instances"
        os.chmod(tmp, 0o755)

        def host(n):
            # the same file: it is bound over the kernel's
            with open(has, "w") as f:
                f.write(f"{n}\n")
            os.chmod(has, 0o644)
        part = max(host_has("instances") // 4, 1)
        host(part * 4)
        with Daemon(mode, "max-sessions 32\nmax-sessions-per-user 8\n",
                    wrapper=["unshare", "-m", "sh", "-c",
                             f'mount --bind "$0" {path} && exec "$@"',
                             has]) as d:
            eq(parts_of(d)["available"], part >= 16,
               "the host has what four users may take")
            host(part * 4 - 1)
            row = parts_of(d)
            eq((row["available"], "fs.inotify.max_user_instances=" in
                row.get("remedy", "")), (False, True),
               "it has less than that now: DEPS says so, with the sysctl")


def what_cannot_be_divided_is_said_with_the_remedy(mode):
    """No file of /proc/sys can be written to, as in many containers."""
    with Daemon(mode, ALL_KINDS, wrapper=[
            "unshare", "-m", "sh", "-c", "mount --bind /proc/sys /proc/sys && "
            'mount -o remount,bind,ro /proc/sys && exec "$0" "$@"']) as d:
        ok("one user's sessions can use up what the host has" in d.log() and
           "/proc/sys must be writable" in d.log(),
           "the log says that one user can use up all, and what to do",
           d.log())
        row = parts_of(d)
        eq((row["available"], "/proc/sys that can be written to" in
            row.get("remedy", "")), (False, True), "and DEPS the same")
        ok(Takes(d.client(), "inotify", "none", 1).n == 1,
           "sessions run all the same")


def a_session_leaves_its_user_some(mode):
    with Daemon(mode, ALL_KINDS) as d:
        c = d.client()
        for what in "inotify", "timer", "queue":
            hog = Takes(c, what, "namespaces")
            other = Takes(c, what, "namespaces", 1)
            ok(hog.n > 0 and other.n == 1,
               f"user mode: one session leaves some to the next: {what}",
               (hog.n, other.n, other.why))
            hog.end()
            other.end()


run_tests(
    *[alone(t, ("system",) if AS_ROOT else ()) for t in (
        users_do_not_starve_each_other,
        deps_tells_each_users_part_and_the_sysctl,
        without_cap_sys_resource_users_get_parts_and_deps_says_so,
        deps_compares_the_hosts_sysctl_with_users_times_part,
        what_cannot_be_divided_is_said_with_the_remedy)],
    alone(a_session_leaves_its_user_some, ("user",)))
