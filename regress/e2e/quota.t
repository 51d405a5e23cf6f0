#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Quotas: whose is whose, what they keep a user from, and that nobody else is
# kept from anything by them.
import os
import re
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (ALICE, AS_ROOT, BOB, Client, Daemon, alone, eq, helper, ok,
                passwd_wrapper, read_helper, run_tests, tar_of, wait_for)

SYSTEM = ("system",) if AS_ROOT else ()
CAROL = BOB + 1
LAB, OTHER = 55001, 55002		# groups that are nobody's own
HELLO = len(read_helper("hello"))


def cgroup2():
    """Where control groups are, and whether they count memory and tasks."""
    with open("/proc/self/mounts") as f:
        for line in f:
            _, path, kind = line.split()[:3]
            if kind == "cgroup2":
                with open(path + "/cgroup.controllers") as c:
                    return path, {"memory", "pids"} <= set(c.read().split())
    return None, False


TOP, COUNTS = cgroup2()


class Users:
    """A system daemon with three users; Carol and Bob are in groups."""
    def __init__(self, conf):
        self.conf = conf

    def __enter__(self):
        self.accounts = passwd_wrapper(ALICE, BOB, CAROL)
        groups = (f"dllab:x:{LAB}:u{BOB},u{CAROL}\\n"
                  f"dlother:x:{OTHER}:u{CAROL}\\n")
        wrapper = self.accounts.__enter__() + [
            "sh", "-c", f"printf '{groups}' >>/etc/group && exec \"$@\"",
            "sh"]
        self.daemon = Daemon("system", self.conf, wrapper=wrapper)
        return self.daemon

    def __exit__(self, *_):
        self.daemon.cleanup()
        self.accounts.__exit__(None, None, None)


def refusal(r):
    return r.get("error_code"), r.get("message", "")


def reload(d, conf):
    with open(d.conf_path) as f:
        base = re.sub("(?m)^(quota|max-).*\n", "", f.read())
    if "max-sessions-per-user" not in conf:
        conf += "max-sessions-per-user 4096\n"
    seen = len(d.log())
    d.write_conf(base + conf)
    d.proc.send_signal(signal.SIGHUP)
    ok(wait_for(lambda: "was reloaded" in d.log()[seen:]), "SIGHUP",
       d.log()[seen:])


def sessions(mode):
    with Users("quota default sessions 2\n") as d:
        a, b = d.client(ALICE), d.client(BOB)
        first = a.upload(helper("hello"))["id"]
        half = d.client(ALICE)
        half.send(f"UPLOAD {HELLO}\n")
        half.send(read_helper("hello")[:100])
        ok(wait_for(lambda: a.cmd("QUOTA")[0]["sessions"]["used"] == 2),
           "a half upload counts")
        code, text = refusal(a.upload(helper("hello")))
        eq(code, "max_sessions_reached", "one more is refused")
        ok("you have 2 sessions" in text and
           "quota default sessions 2" in text, "and told why", text)
        eq(len([b.upload(helper("hello")).get("id") for _ in range(2)]), 2,
           "others are not kept from theirs")
        eq(refusal(b.upload(helper("hello")))[0], "max_sessions_reached",
           "but by their own")
        half.s.close()
        ok(wait_for(lambda: a.cmd("QUOTA")[0]["sessions"]["used"] == 1),
           "a half upload that is given up is given back")
        ok(a.upload(helper("hello")).get("id"), "so there is room again")
        eq(a.cmd("DELETE " + first).get("state"), "DELETED", "delete one")
        ok(a.upload(helper("hello")).get("id"), "and room again")
        reload(d, "quota default sessions 1\n")
        code, text = refusal(a.upload(helper("hello")))
        ok(code == "max_sessions_reached" and "sessions 1" in text,
           "a reload brings another quota", text)
        eq(len(a.cmd("LIST")), 2, "what there is stays")
        reload(d, "")
        ok(a.upload(helper("hello")).get("id"), "or none")
        reload(d, "max-sessions 5\n")
        eq("max-sessions" in refusal(a.upload(helper("hello")))[1], True,
           "the daemon's own limit stays that of all")
        reload(d, f"quota user u{ALICE} sessions 0\n")
        eq(refusal(a.upload(helper("hello")))[0], "max_sessions_reached",
           "none at all")
        for c in (a, b):
            for s in c.cmd("LIST"):
                c.cmd("DELETE " + s["id"])


def count(mode):
    """Bytes of images, half uploads and bundles, each before it is there."""
    limit = HELLO * 2 + 100
    with Users(f"quota default bytes {limit}\n") as d:
        a, b = d.client(ALICE), d.client(BOB)
        a.upload(helper("hello"))
        half = d.client(ALICE)
        half.send(f"UPLOAD {HELLO}\n")
        ok(wait_for(lambda: a.cmd("QUOTA")[0]["bytes"] ==
                    {"used": HELLO * 2, "limit": limit}),
           "a half upload counts with all of it")
        a.send("UPLOAD 101\n" + "x" * 101)
        code, text = refusal(a.json())
        eq(code, "max_total_bytes_reached", "more is refused")
        ok(f"100 of your {limit} are free" in text and
           "quota default bytes" in text, "with the figures", text)
        ok(b.upload(helper("hello")).get("id"), "others have their own room")
        half.s.close()
        ok(wait_for(lambda: a.cmd("QUOTA")[0]["bytes"]["used"] == HELLO),
           "what is given up is given back")
        big = tar_of(("run", helper("hello")), ("big", b"\0" * 3000000))
        code, text = refusal(a.upload(big, "run"))
        eq(code, "max_total_bytes_reached", "a bundle's files count")
        ok(f"{limit - HELLO} bytes (quota default bytes)" in text,
           "with the figures", text)
        eq(a.cmd("QUOTA")[0]["bytes"]["used"], HELLO,
           "and one that was refused leaves nothing")
        for c in (a, b):
            for s in c.cmd("LIST"):
                c.cmd("DELETE " + s["id"])


def whose(mode):
    conf = ("quota group dlother sessions 3\nquota default sessions 1\n"
            "quota group dllab sessions 2\n"
            f"quota user u{ALICE} sessions 4 cpu 7\n")
    with Users(conf) as d:
        def limits(uid):
            r = d.client(uid).cmd("QUOTA")
            return r[0]["sessions"]["limit"], r[0]["cpu"]["limit"]

        # the first of them may upload before their groups are known
        c = d.client(CAROL)
        made = [c.upload(helper("hello")).get("id") for _ in range(4)]
        eq((None in made[:3], made[3]), (False, None),
           "the first group in the file that fits")
        ok(wait_for(lambda: limits(BOB) == (2, None)), "a group's",
           limits(BOB))
        eq(limits(ALICE), (4, 7), "a user's own")
        reload(d, f"quota user u{BOB} bytes 5K\nquota default sessions 1\n")
        eq([limits(u) for u in (ALICE, BOB, CAROL)],
           [(1, None), (None, None), (1, None)],
           "what their statement leaves out is not limited")
        for s in c.cmd("LIST"):
            c.cmd("DELETE " + s["id"])


def out_of(c, sid):
    c.cmd(f"WAIT {sid} 20")
    return c.output(sid).decode()


def ceilings(mode):
    with Users(f"quota user u{ALICE} cpu 1 memory 64M processes 30\n"
               "limit cpu 100\n") as d:
        a, b = d.client(ALICE), d.client(BOB)
        sid = a.upload(helper("limits"))["id"]
        # where the sum is limited, single processes need not be
        single = () if COUNTS else (
            (f"as={65 << 20}", f"as at most {64 << 20} (quota user"),
            ("nproc=31", "nproc at most 30 (quota user"))
        for line, text in (
                ("cpu=2", "cpu at most 1 (quota user"), *single,
                ("nofile=2000", "nofile at most 1024 (limit nofile)")):
            code, why = refusal(a.cmd(f"LIMITS {sid} {line}"))
            ok(code == "not_permitted" and text in why, f"LIMITS {line}", why)
        ok("error_code" not in a.cmd(f"LIMITS {sid} cpu=1 as={64 << 20} "
                                     "nproc=30"), "what fits is taken")
        other = b.upload(helper("limits"))["id"]
        code, why = refusal(b.cmd(f"LIMITS {other} cpu=101"))
        ok("limit cpu" in why, "others have the configuration's", why)
        a.cmd(f"LIMITS {sid} cpu=unlimited")
        a.cmd(f"ARGS {sid} cpu")
        a.cmd("START " + sid)
        eq(a.cmd(f"WAIT {sid} 20").get("signal"), "SIGXCPU",
           "cpu: ended by the quota")
        a.cmd(f"LIMITS {sid} as=unlimited")
        for size, want in ((32 << 20, "mapped 0"), (80 << 20, "mapped 0" if
                                                    COUNTS else
                                                    "mapped ENOMEM")):
            a.cmd(f"ARGS {sid} as {size}")
            a.cmd("START " + sid)
            ok(want in out_of(a, sid), f"memory: {size >> 20} MB")
        b.cmd(f"ARGS {other} as {80 << 20}")
        b.cmd("START " + other)
        ok("mapped 0" in out_of(b, other), "memory: not others'")
        reload(d, f"quota user u{ALICE} memory 16M\n")
        a.cmd(f"ARGS {sid} as {32 << 20}")
        a.cmd("START " + sid)
        ok(COUNTS or "mapped ENOMEM" in out_of(a, sid),
           "memory: a quota that came down holds for the next start")
        for c in (a, b):
            for s in c.cmd("LIST"):
                c.cmd("DELETE " + s["id"])


def forked(c, sid, flags=""):
    c.cmd(f"ARGS {sid} nproc")
    r = c.cmd(f"START {sid} {flags}")
    if "error_code" in r:
        return r
    ok(wait_for(lambda: "forked" in c.output(sid).decode()), "it forks")
    return int(re.search(r"forked (\d+)", c.output(sid).decode()).group(1))


def processes(mode):
    """The kernel counts: each session has one that looks after it."""
    with Users("quota default processes 12\nstop-timeout 1\n"
               "allow-sandbox none, namespaces, tmpfs\n") as d:
        a, b = d.client(ALICE), d.client(BOB)
        bundle = a.upload(tar_of(("run", helper("limits"))), "run")["id"]
        one = a.upload(helper("limits"))["id"]
        two = a.upload(helper("sleeper"))["id"]
        other = b.upload(helper("limits"))["id"]
        for kind in ("none", "namespaces", "tmpfs"):
            flags = f"--sandbox {kind}"
            eq(forked(a, one, flags), 10, f"{kind}: 12 with the two first")
            code, text = refusal(a.cmd(f"START {two} {flags}"))
            ok(code == "fork_failed" and "quota default processes" in text,
               f"{kind}: another start of theirs is refused with words", text)
            eq(forked(b, other, flags), 10, f"{kind}: others have their own")
            b.cmd("KILL " + other)
            a.cmd("KILL " + one)
            ok("error_code" not in a.cmd(f"START {two} {flags}"),
               f"{kind}: when they have ended there is room again")
            eq(forked(a, one, flags), 8, f"{kind}: all sessions together")
            a.cmd("KILL " + one)
            if kind != "none":
                eq(forked(a, bundle, flags), 8, f"{kind}: bundles as well")
                a.cmd("KILL " + bundle)
            a.cmd("KILL " + two)
        for c in (a, b):
            for s in c.cmd("LIST"):
                c.cmd("DELETE " + s["id"])


def holder(c, size):
    sid = c.upload(helper("limits"))["id"]
    c.cmd(f"ARGS {sid} hold {size}")
    eq(c.cmd("START " + sid).get("state"), "RUNNING", f"holds {size >> 20} MB")
    return sid


def used(c, what):
    return c.cmd("QUOTA")[0][what].get("used")


def fate(c, sid):
    s = c.cmd("STATUS " + sid)
    return s["state"], s["signal"], s.get("out_of_memory")


KILLED = ("STOPPED", "SIGKILL", True)


def sum_of_memory(c, reload_to):
    """64 MB for all sessions of one user, before and after a reload."""
    one = holder(c, 40 << 20)
    ok(wait_for(lambda: used(c, "memory") >= 40 << 20),
       "memory: QUOTA shows what they have", c.cmd("QUOTA"))
    eq(used(c, "processes"), 2, "processes: and how many")
    two = holder(c, 40 << 20)
    ok(wait_for(lambda: KILLED in (fate(c, one), fate(c, two))),
       "memory: more than the sum is the end of one of them",
       (fate(c, one), fate(c, two)))
    # the kernel may take the other as well before the first one's is back
    left = next((s for s in (one, two) if fate(c, s) != KILLED), None) or \
        holder(c, 40 << 20)
    ok(used(c, "memory") <= 64 << 20, "memory: and is within the quota")
    ok(any("out of memory" in e["message"] for e in c.cmd("ACTIVITY")),
       "ACTIVITY says why")
    reload_to("memory 16M processes 10")
    ok(wait_for(lambda: fate(c, left) == KILLED or None),
       "memory: a quota that came down holds at once", fate(c, left))
    wait_for(lambda: used(c, "processes") == 0)
    eq(used(c, "processes"), 0, "processes: none are left")
    reload_to("processes 10")
    one = holder(c, 80 << 20)
    ok(wait_for(lambda: used(c, "memory") >= 80 << 20),
       "memory: without a quota there is no end")
    eq(forked(c, c.upload(helper("limits"))["id"]), 6,
       "processes: of all sessions together")
    eq(fate(c, one), ("RUNNING", None, None), "and nobody ended")
    for s in c.cmd("LIST"):
        c.cmd("KILL " + s["id"])
        c.cmd("DELETE " + s["id"])


def told(c, memory, processes):
    eq(c.cmd("VERSION")["quotas"], {"memory": memory, "processes": processes},
       "VERSION says what quotas are of")
    row = {r["name"]: r for r in c.cmd("DEPS")["deps"]}["quotas"]
    eq((row["available"], not row.get("remedy")),
       ((memory, processes) == ("user", "user"),) * 2,
       "DEPS says so, with a remedy")
    ok(("memory: of all sessions together" in row["description"]) ==
       (memory == "user"), "DEPS: of what", row)


def together(mode):
    with Users(f"quota user u{ALICE} memory 64M processes 20\n") as d:
        a, b = d.client(ALICE), d.client(BOB)
        told(a, "user" if COUNTS else "process", "user")
        if not COUNTS:
            ok("used" not in a.cmd("QUOTA")[0]["memory"],
               "what nobody counts is not shown")
            return
        others = [holder(b, 40 << 20) for _ in range(2)]
        sum_of_memory(a, lambda q: reload(d, f"quota user u{ALICE} {q}\n"))
        eq([fate(b, s) for s in others], [("RUNNING", None, None)] * 2,
           "nobody else's has ended")
        groups = f"{TOP}/debuglantern/{d.proc.pid}/sessions/u"
        ok(wait_for(lambda: not os.path.exists(f"{groups}{ALICE}")),
           "their control group goes with their last session")
        ok(os.path.exists(f"{groups}{BOB}"), "others' stay")
        # by one who has no number of their own any more
        root = Client(d.dir + "/run/debuglantern.sock")
        eq({r["user"]: r["processes"]["used"] for r in root.cmd("QUOTA")},
           {f"u{BOB}": 4}, "administrators see everybody's")
        for s in others:
            b.cmd("KILL " + s)
            b.cmd("DELETE " + s)


class Delegated:
    """A user's daemon in a control group that is theirs."""
    def __init__(self, uid=ALICE, conf="quota default memory 64M "
                 "processes 20\n"):
        self.uid, self.conf = uid, conf

    def __enter__(self):
        with open(TOP + "/cgroup.subtree_control", "w") as f:
            f.write("+memory +pids")
        self.dir = f"{TOP}/dl-test-{os.getpid()}"
        os.mkdir(self.dir)
        os.setxattr(self.dir, "user.delegate", b"1")
        for name in ("", "cgroup.procs", "cgroup.subtree_control"):
            os.chown(os.path.join(self.dir, name), self.uid, self.uid)
        self.daemon = Daemon("user", self.conf, uid=self.uid or None,
                             wrapper=("sh", "-c", "echo $$ >$0/cgroup.procs; "
                                      "exec \"$@\"", self.dir))
        return self.daemon

    def __exit__(self, *_):
        self.daemon.cleanup()
        for name in ("sessions", "daemon", ""):
            wait_for(lambda: remove(os.path.join(self.dir, name)))


def remove(path):
    try:
        os.rmdir(path)
    except FileNotFoundError:
        pass
    except OSError:
        return False
    return True


def user_together(mode):
    if not AS_ROOT or not COUNTS:
        return
    with Delegated() as d:
        c = d.client()
        told(c, "user", "user")
        sum_of_memory(c, lambda q: reload(d, f"quota default {q}\n"))
        ok(wait_for(lambda: os.listdir(TOP + f"/dl-test-{os.getpid()}/"
                                       "sessions") and not
                    os.path.exists(TOP + f"/dl-test-{os.getpid()}/sessions/"
                                   f"u{ALICE}")), "its control group goes")


def uploads(c, n):
    return [c.upload(helper("hello")) for _ in range(n)]


def a_user_has_a_share_of_max_sessions(mode):
    """Sessions of a user, where no quota says how many."""
    with Users("max-sessions 12\nmax-sessions-per-user 3\n"
               f"quota user u{CAROL} sessions 5\nquota default bytes 9M\n") \
            as d:
        a, b, c = (d.client(u) for u in (ALICE, BOB, CAROL))
        uploads(a, 3)
        code, text = refusal(a.upload(helper("hello")))
        ok(code == "max_sessions_reached" and "you have 3 sessions" in text and
           "(max-sessions-per-user 3)" in text, "one more is refused", text)
        eq(refusal(a.cmd("NEW -- true"))[0], "max_sessions_reached",
           "a command as well")
        eq(a.cmd("QUOTA")[0]["sessions"], {"used": 3, "limit": 3},
           "QUOTA tells the limit")
        ok(all("id" in r for r in uploads(b, 3)), "others have their own")
        ok(all("id" in r for r in uploads(c, 5)), "a quota goes before it")
        code, text = refusal(c.upload(helper("hello")))
        ok(f"quota user u{CAROL} sessions 5" in text, "and is named", text)
        reload(d, "max-sessions 12\nmax-sessions-per-user 4\n")
        ok("id" in a.upload(helper("hello")), "a reload can raise it")
    with Daemon("user", "max-sessions 6\nmax-sessions-per-user 2\n") as d:
        c = d.client()
        ok(all("id" in r for r in uploads(c, 6)),
           "user mode: its only user has all")
        ok("max-sessions)" in refusal(c.upload(helper("hello")))[1],
           "user mode: and no more")


def unstarted_sessions_give_way(mode):
    with Users("max-sessions 5\nunstarted-timeout 3\n") as d:
        a, b = d.client(ALICE), d.client(BOB)
        ran = a.run(helper("hello"))[0]
        runs, _ = a.start(helper("sleeper"), until=b"ready")
        first, second, third = (r["id"] for r in uploads(a, 3))
        ok("max-sessions)" in refusal(b.upload(helper("hello")))[1],
           "sessions that are new do not give way")
        ok(wait_for(lambda: "id" in b.upload(helper("hello")), 20),
           "after unstarted-timeout one does, for another user")
        eq({s["id"] for s in a.cmd("LIST")}, {ran, runs, second, third},
           "the oldest, and none that has been started")
        ok(first in str(a.cmd("ACTIVITY")) and "unstarted-timeout" in
           str(a.cmd("ACTIVITY")), "its owner is told", a.cmd("ACTIVITY"))
        ok("max-sessions)" in refusal(a.upload(helper("hello")))[1],
           "an owner's own do not give way to the owner")
        ok(all("id" in r for r in uploads(b, 2)), "others find more of them")
        eq({s["id"] for s in a.cmd("LIST")}, {ran, runs}, "but those that ran "
           "stay")
        ok("max-sessions)" in refusal(b.upload(helper("hello")))[1],
           "and when there is no other, there is no room")
        a.cmd("KILL " + runs)
    with Users(f"max-total-bytes {3 * HELLO}\nunstarted-timeout 2\n") as d:
        a, b = d.client(ALICE), d.client(BOB)
        uploads(a, 3)
        ok(wait_for(lambda: len(a.cmd("LIST")) == 3 and "id" in
                    b.upload(helper("hello")), 20) and
           len(a.cmd("LIST")) == 2, "the same for bytes: as few as it takes")
        eq(refusal(b.upload(b"\x7fELF" + bytes(4 * HELLO)))[0],
           "max_total_bytes_reached", "more than there can be is refused")
        eq(len(a.cmd("LIST")), 2, "and nothing gives way to that")


def processes_of_root(d, counted):
    """limit nproc, where RLIMIT_NPROC counts nothing."""
    c = d.client()
    if not counted:
        _, s = c.run(helper("hello"))
        ok(any("limit nproc has no effect" in w
               for w in s.get("warnings", [])),
           "root's own mode: without one the session warns that it does not",
           s)
        return
    sid = c.upload(helper("limits"))["id"]
    c.cmd(f"LIMITS {sid} nproc=15")
    ok(0 < forked(c, sid) < 15,
       "root's own mode: limit nproc holds by a control group")
    eq(c.cmd("STATUS " + sid).get("warnings"), None,
       "and there is nothing to warn of")
    c.cmd("KILL " + sid)


def limit_nproc_of_root(mode):
    if not AS_ROOT:
        return
    with Daemon(mode, uid=None) as d:
        processes_of_root(d, False)
    with Daemon(mode) as d:
        _, s = d.client().run(helper("hello"))
        eq(s.get("warnings"), None, "other users' limit nproc needs none")
    if COUNTS:
        with Delegated(0, "") as d:
            processes_of_root(d, True)


def command(mode):
    with Users(f"quota user u{ALICE} sessions 5 bytes 1M cpu 9 memory 2M "
               f"processes 44\nadmin user u{BOB}\n") as d:
        a, b = d.client(ALICE), d.client(BOB)
        root = Client(d.dir + "/run/debuglantern.sock")
        a.upload(helper("hello"))
        use = {"used": 0} if COUNTS else {}
        row = {"user": f"u{ALICE}", "sessions": {"used": 1, "limit": 5},
               "bytes": {"used": HELLO, "limit": 1 << 20},
               "cpu": {"limit": 9}, "memory": dict(use, limit=2 << 20),
               "processes": dict(use, limit=44)}
        none = {"sessions": {"used": 0, "limit": None},
                "bytes": {"used": 0, "limit": None}, "cpu": {"limit": None},
                "memory": dict(use, limit=None),
                "processes": dict(use, limit=None)}
        eq(a.cmd("QUOTA"), [row], "QUOTA: the asker's")
        eq(a.cmd(f"QUOTA u{ALICE}"), [row], "by name")
        code, text = refusal(a.cmd(f"QUOTA u{BOB}"))
        ok(code == "not_permitted" and "administrators" in text,
           "not those of others", text)
        eq(refusal(a.cmd("QUOTA no-such-user"))[0], "not_permitted",
           "nor whether there are others")
        for who, c in (("an administrator", b), ("root", root)):
            eq(c.cmd("QUOTA"), [row], f"{who}: everybody with use")
            eq(c.cmd(f"QUOTA u{ALICE}"), [row], f"{who}: one of them")
            eq(c.cmd(f"QUOTA u{CAROL}"), [dict(none, user=f"u{CAROL}")],
               f"{who}: one who was never here")
            eq(refusal(c.cmd("QUOTA no-such-user"))[0], "invalid_argument",
               f"{who}: nobody")
        eq(refusal(a.cmd("QUOTA a b"))[0], "invalid_argument", "too much")
        a.send('{"id":1,"command":"QUOTA","args":{"user":"u%d"}}\n' % ALICE)
        eq(a.json(), {"id": 1, "success": True, "result": [row]},
           "QUOTA as JSON")
        out = d.ctl("quota", uid=ALICE)
        ok(out.returncode == 0 and b'"limit":5' in out.stdout, "ctl quota",
           out.stdout + out.stderr)
        deps = {r["name"]: r for r in a.cmd("DEPS")["deps"]}
        ok("quotas" in deps and "memory" in deps["quotas"]["description"],
           "DEPS says how they are kept", deps.get("quotas"))
        for s in a.cmd("LIST"):
            a.cmd("DELETE " + s["id"])


def user_mode(mode):
    """One user: their quota is a limit that they set themselves."""
    with Daemon(mode, "quota default sessions 1 cpu 60 processes 9\n") as d:
        c = d.client()
        # of its own accord it has no cgroup
        if AS_ROOT:
            told(c, "process", "session")
        sid = c.upload(helper("limits"))["id"]
        eq(refusal(c.upload(helper("hello")))[0], "max_sessions_reached",
           "user mode: sessions")
        ok("quota" in refusal(c.cmd(f"LIMITS {sid} cpu=61"))[1],
           "user mode: cpu")
        ok(0 < forked(c, sid) < 9, "user mode: processes of each session")
        c.cmd("KILL " + sid)
        c.cmd("DELETE " + sid)


run_tests(*[alone(t, SYSTEM) for t in (
    sessions, a_user_has_a_share_of_max_sessions, unstarted_sessions_give_way,
    count, whose, ceilings, processes, together, command)],
    alone(user_mode, ("user",)), alone(user_together, ("user",)),
    alone(limit_nproc_of_root, ("user",)))
