#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The process of a session's tracer: whose it is, what it may do, who can see
# it, what it costs its user, and what is left when it or its session goes.
import os
import re
import signal
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import instrig
from instrig import (becomes, ends_with_daemon, error, leaf_of, named,
                     sessions_tree, state, the_only)
from dl import (ALICE, AS_ROOT, BOB, SANITIZED, Daemon, alive, alone, eq,
                helper, in_modes, ok, passwd_wrapper, run_tests, status_of,
                wait_for)

SYSTEM = ("system",) if AS_ROOT else ()
TIMELINES = ".local/state/debuglantern/timelines"


class Local(instrig.Local):
    command = "tracer"

    def launch(self, program, name="t", **more):
        return self.ask(start=True, name=name, request={
            "command": "launch", "args": dict({
                "command": program, "args": [], "cwd": "/", "env": {},
                "projectRoot": "/"}, **more)})

    def do(self, command, session="t", **args):
        return super().do(command, session, **args)


def facts(d):
    c, j = d.client(), Local(d)
    eq(c.cmd("VERSION")["trace_sessions"], 0, "VERSION counts none")
    r = j.launch(helper("sleeper"))
    ok(r["success"], "a tracer starts a program", r)
    pid, s = the_only(d, "tracer"), state(c)
    st = status_of(pid)
    want = int(status_of(s["pid"])["Uid"].split()[0])
    eq([int(x) for x in st["Uid"].split()], [want] * 4,
       "it has its session's owner's uid, and no other")
    eq([int(st[x], 16) for x in ("CapInh", "CapPrm", "CapEff", "CapAmb")],
       [0] * 4, "it has no capabilities")
    eq((st["NoNewPrivs"], st["Seccomp"]), ("1", "2"),
       "it can gain none, and has a system call filter")
    eq(len(st["NSpid"].split()), 1, "it is in no pid namespace of a session")
    with open(f"/proc/{pid}/limits") as f:
        limits = {line[:26].strip(): line[26:].split()[:2] for line in f}
    eq(limits["Max core file size"], ["0", "0"], "it leaves no core file")
    eq(limits["Max open files"], ["4096", "4096"], "it may open so many files")
    if not SANITIZED:
        eq((limits["Max data size"], limits["Max address space"]),
           ([str(1 << 30)] * 2, [str(32 << 30)] * 2), "and have so much memory")
    if AS_ROOT:
        eq(os.stat(f"/proc/{pid}/mem").st_uid, 0, "it is not dumpable")
        eq(os.readlink(f"/proc/{pid}/cwd"), "/", "it is at the root")
    eq(s["state"], "RUNNING", "the session is RUNNING, as any other")
    eq(s["tracer"]["state"], "tracing", "and traced, as it says")
    eq(s["command"][0], helper("sleeper"), "it names the program")
    eq(c.cmd("VERSION")["trace_sessions"], 1, "VERSION counts it")
    eq([x["name"] for x in c.cmd("TRACER list")], ["t"],
       "it is in the list of tracers")
    program = s["pid"]
    r = j.do("stop")
    ok(r["success"], "stop ends it", r)
    ok(wait_for(lambda: not named(d, "tracer", "symbols"), 15),
       "all of its processes are gone")
    eq((state(c)["state"], state(c)["pid"], state(c)["tracer"]),
       ("RUNNING", program, None), "and its program goes on")
    eq(status_of(program)["TracerPid"], "0", "which nobody traces")
    c.cmd("KILL t")
    row = {r["name"]: r for r in c.cmd("DEPS")["deps"]}.get("tracer", {})
    ok(row.get("available") and not row["required"], "DEPS knows it", row)


def attaches(d):
    c, j = d.client(), Local(d)
    sid = c.upload(helper("sleeper"))["id"]
    c.cmd("START " + sid)
    pid = state(c, sid)["pid"]
    r = j.ask(start=True, session=sid, request={"command": "attach",
                                               "args": {}})
    ok(r["success"], "it is attached to an uploaded program that runs", r)
    eq(status_of(pid)["TracerPid"], str(the_only(d, "tracer")), "which it traces")
    eq(c.cmd("DEBUG " + sid).get("error_code"), "already_debugging",
       "gdbserver is not attached beside it")
    os.kill(the_only(d, "tracer"), signal.SIGKILL)
    ok(wait_for(lambda: not named(d, "tracer")), "it is killed")
    wait_for(lambda: state(c, sid)["tracer"] is None)
    ok(alive(pid) and state(c, sid)["state"] == "RUNNING",
       "its death leaves the program running")
    r = j.do("status", session=sid)
    ok(r["success"], "the next request has another one", r)
    ok(j.do("stop", session=sid)["success"], "which is stopped")
    eq(error(j.do("status", session=sid)), "no_tracer", "then there is none")
    eq((state(c, sid)["state"], state(c, sid)["pid"]), ("RUNNING", pid),
       "and the program runs still")
    c.cmd("KILL " + sid)
    c.cmd("DELETE " + sid)


def ends(d):
    """A timeline is there until its session is deleted."""
    c, j = d.client(), Local(d)
    ok(j.launch(helper("sleeper"))["success"], "a program is traced")
    c.cmd("KILL t")
    ok(becomes(c, "STOPPED"), "it is killed")
    ok(wait_for(lambda: state(c)["tracer"]["state"] == "ended"),
       "its tracer says so", state(c))
    r = j.do("query", limit=1)
    ok(r["success"], "and can be asked", r)
    eq(error(j.launch(helper("sleeper"), "u")), "SESSION_EXISTS",
       "the program is still that session's")
    eq([s["name"] for s in c.cmd("LIST")], ["t"], "no other was made")
    eq(c.cmd("DELETE t").get("state"), "DELETED", "it is deleted")
    ok(wait_for(lambda: not named(d, "tracer", "symbols"), 15),
       "and the tracer with it")
    ok(j.launch(helper("sleeper"), "u")["success"], "now there can be another")
    c.cmd("KILL u")
    ok(j.do("stop", "u")["success"], "one that has ended is stopped")
    ok(wait_for(lambda: c.cmd("LIST") == []), "its session goes at once")


def unseen(d):
    """What is traced can neither see nor signal the tracer."""
    c, j = d.client(), Local(d)
    ok(j.launch(helper("sleeper"))["success"], "a program is traced")
    pid = the_only(d, "tracer")
    inner = c.cmd("NEW start=now -- sh -c 'kill -0 " + str(pid) +
                  "; echo $?; ls /proc | grep -c ^[0-9]'")["id"]
    ok(becomes(c, "STOPPED", inner), "another session looks for it")
    ok("No such process" in c.cmd("OUTPUT " + inner)["output"],
       "it is nowhere", c.cmd("OUTPUT " + inner))
    ok(j.do("stop")["success"], "it is there still")
    c.cmd("KILL t")
    c.cmd("DELETE " + inner)


def audited(d):
    """Who did what to a program, and nothing of what it said."""
    c, j = d.client(), Local(d)
    j.launch(helper("sleeper"), env={"MARKER": "marker4711"})
    sid = state(c)["id"]
    j.do("trace", add=["marker4711"])
    j.do("query", function={"contains": "marker4711"})
    j.do("status")
    j.do("stop")

    def lines(command):
        return re.findall(rf'session={sid} action="TRACER {command}" '
                          r'result="([^"]*)"', d.log())
    for command in ("launch", "trace", "stop"):
        ok(wait_for(lambda: lines(command), 15),
           f"{command} is in the audit log")
    for command in ("query", "status"):
        eq(lines(command), [], f"{command} only looks")
    ok(not any("marker4711" in x for x in d.log().splitlines()
               if " action=" in x), "no values are in it")
    c.cmd("KILL " + sid)


def places(mode):
    """Tracers are in their user's control group, programs in the session's."""
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, wrapper=wrapper) as d:
        c, j, b = d.client(ALICE), Local(d, uid=ALICE), Local(d, uid=BOB)
        top = sessions_tree(d)
        ok(j.launch(helper("sleeper"))["success"], "a tracer")
        sid, pid = state(c)["id"], the_only(d, "tracer")
        eq(leaf_of(pid), f"u{ALICE}/trc-{sid}",
           "its process is in a control group of its user's")
        eq(leaf_of(state(c)["pid"]), f"u{ALICE}/{sid}",
           "its program is in the session's")
        ok(b.launch(helper("sleeper"), "b")["success"], "another user's")
        eq(sorted(leaf_of(p).split("/")[0] for p in named(d, "tracer")),
           sorted([f"u{ALICE}", f"u{BOB}"]), "is in theirs")
        c.cmd("KILL t")
        ok(alive(pid), "the session's end is not the tracer's")
        eq(leaf_of(pid), f"u{ALICE}/trc-{sid}", "which stays there")
        j.do("stop")
        ok(wait_for(lambda: not os.path.exists(f"{top}/u{ALICE}"), 15),
           "at the end nothing is left of them", os.listdir(top))
        ok(os.path.exists(f"{top}/u{BOB}"), "and others' stay")
        d.client(BOB).cmd("KILL b")


def quota(mode):
    """The tracer's processes are its owner's, where they have few."""
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, "quota default processes 9\n",
                   wrapper=wrapper) as d:
        c, j, b = d.client(ALICE), Local(d, uid=ALICE), Local(d, uid=BOB)
        ids = [c.upload(helper("sleeper"))["id"] for _ in range(2)]
        full = c.upload(helper("limits"))["id"]
        c.cmd(f"ARGS {full} nproc")

        def attach(sid):
            return j.ask(start=True, session=sid,
                         request={"command": "attach", "args": {}})
        for s in ids + [full]:
            eq(c.cmd("START " + s).get("state"), "RUNNING", "it runs")
        ok(wait_for(lambda: "forked 3" in c.output(full).decode()),
           "but for one all are used up")
        ok(wait_for(lambda: state(c, full)["exit_code"] == 0), "that one")
        ok(attach(ids[0])["success"], "which a tracer takes")
        r = attach(ids[1])
        ok(not r["success"] and "quota default processes" in
           r["error"]["message"], "a second one is refused with words", r)
        eq((state(c, ids[1])["state"], state(c, ids[1])["tracer"]),
           ("RUNNING", None), "the program goes on")
        r = j.do("trace", session=ids[0], add=["main"])
        ok("quota default processes" in str(r["result"]["warnings"]),
           "so is one that reads symbols", r)
        ok(b.launch(helper("sleeper"))["success"], "others have their own")
        d.client(BOB).cmd("KILL t")
        c.cmd("KILL " + full)
        r = attach(ids[1])
        ok(r["success"], "when there is room it is attached", r)
        for s in ids:
            c.cmd("KILL " + s)


def fill(home, name, size):
    """What stands for a timeline that was kept; its directory."""
    at = os.path.join(home, TIMELINES)
    os.makedirs(at, 0o700, exist_ok=True)
    with open(os.path.join(at, name + ".calls"), "wb") as f:
        f.write(os.urandom(size))
    for top, _, files in os.walk(home):
        for x in (top, *(os.path.join(top, x) for x in files)):
            os.chown(x, os.stat(home).st_uid, os.stat(home).st_gid)
    return at


def room(mode):
    """A user's timelines have a limit together, and nobody else's count."""
    with tempfile.TemporaryDirectory(prefix="dl-room-") as top:
        os.chmod(top, 0o755)
        homes = {u: os.path.join(top, str(u)) for u in (ALICE, BOB)}
        for uid, home in homes.items():
            os.mkdir(home, 0o700)
            os.chown(home, uid, uid)
        kept = fill(homes[ALICE], "old", 4 << 20)
        with passwd_wrapper(*((f"u{u}", u, h) for u, h in homes.items())) \
                as wrapper, Daemon(mode, "tracer user-timeline 4M\n",
                                   wrapper=wrapper) as d:
            c, j, b = d.client(ALICE), Local(d, uid=ALICE), Local(d, uid=BOB)
            r = j.launch(helper("sleeper"))
            eq(error(r), "TIMELINE_FULL", "one user has no more room")
            words = r["error"]["message"] + r["error"]["next"]
            ok("old (4.0 MiB)" in words and "user-timeline" in words and
               "timeline delete" in words, "which names what takes it", words)
            ok(wait_for(lambda: c.cmd("LIST") == []), "nothing is left")
            ok(b.launch(helper("sleeper"))["success"], "another user has theirs")
            os.unlink(os.path.join(kept, "old.calls"))
            ok(j.launch(helper("sleeper"))["success"], "now the first one "
               "has room, too")
            for client in (c, d.client(BOB)):
                client.cmd("KILL t")
                client.cmd("DELETE t")


def deleted(mode):
    """A session's timeline goes with it, and no other one."""
    with tempfile.TemporaryDirectory(prefix="dl-gone-") as top:
        os.chmod(top, 0o755)
        homes = {u: os.path.join(top, str(u)) for u in (ALICE, BOB)}
        for uid, home in homes.items():
            os.mkdir(home, 0o700)
            os.chown(home, uid, uid)

        def files(uid):
            try:
                return sorted(x[:-6] for x in os.listdir(os.path.join(
                    homes[uid], TIMELINES)) if x.endswith(".calls"))
            except FileNotFoundError:
                return []
        with passwd_wrapper(*((f"u{u}", u, h) for u, h in homes.items())) \
                as wrapper, Daemon(mode, wrapper=wrapper) as d:
            c, j, b = d.client(ALICE), Local(d, uid=ALICE), Local(d, uid=BOB)
            ok(b.launch(helper("sleeper"))["success"], "one of another user's")
            j.launch(helper("sleeper"), "kept")
            ok(j.do("stop", "kept", keep=True)["success"], "one is kept")
            c.cmd("KILL kept")
            c.cmd("DELETE kept")
            for how in ("while its tracer runs", "when that was killed"):
                ok(j.launch(helper("sleeper"))["success"], "one is made")
                eq(files(ALICE), ["kept", "t"], "its timeline is in files")
                if how.endswith("killed"):
                    for p in named(d, "tracer"):
                        if status_of(p)["Uid"].split()[0] == str(ALICE):
                            os.kill(p, signal.SIGKILL)
                    ok(wait_for(lambda: state(c)["tracer"]["state"] ==
                                "idle", 60), "its tracer is killed")
                c.cmd("KILL t")
                eq(c.cmd("DELETE t").get("state"), "DELETED", how)
                ok(wait_for(lambda: files(ALICE) == ["kept"], 60),
                   "its files go with it, and what was kept stays",
                   files(ALICE))
                eq(c.cmd("LIST"), [], "nobody sees how that is done")
            eq(files(BOB), ["t"], "nor is anything of others' gone")
            ok(wait_for(lambda: len(named(d, "tracer")) == 1, 60),
               "and no process is left of it", named(d, "tracer"))
            bob = d.client(BOB)
            bob.cmd("KILL t")
            bob.cmd("DELETE t")
            ok(wait_for(lambda: files(BOB) == [], 60), "theirs goes when they "
               "say so")


def of_others(mode):
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, wrapper=wrapper) as d:
        c, j, b = d.client(ALICE), Local(d, uid=ALICE), Local(d, uid=BOB)
        ok(j.launch(helper("sleeper"))["success"], "a tracer")
        eq(error(b.do("status")), "not_found", "for others there is none")
        eq(d.client(BOB).cmd("VERSION")["trace_sessions"], 0,
           "nor does VERSION count it")
        eq(c.cmd(f"SHARE t u{BOB}:ro").get("error_code"), None, "shared")
        sid = state(c)["id"]
        ok(b.do("status", session=sid)["success"], "who is shown it looks")
        for command, args in (
                ("launch", {}), ("attach", {}), ("resume", {}), ("stop", {}),
                ("trace", {"add": ["main"]}), ("trace", {"remove": ["main"]}),
                ("trace", {"addresses": ["0x1000"]}),
                ("trace", {"projectRoot": "/"}), ("trace", {"budget": 1})):
            eq(error(b.do(command, session=sid, **args)), "READ_ONLY",
               f"{command} {args}: and no more")
        ok(b.do("trace", session=sid)["success"], "what is traced they see")
        c.cmd("KILL t")


def holds_nobody(d):
    """Nobody but a tracer can reap its program, and it may be stopped."""
    c, j = d.client(timeout=60), Local(d)
    ok(j.launch(helper("sleeper"))["success"], "a tracer starts a program")
    os.kill(the_only(d, "tracer"), signal.SIGSTOP)
    eq(c.cmd("KILL t").get("state"), "STOPPED",
       "its program is killed though its tracer is stopped")
    eq((c.cmd("DELETE t").get("state"), named(d, "sleeper")), ("DELETED", []),
       "and its session is deleted")
    ok(wait_for(lambda: named(d, "tracer") == [], 15), "no tracer is left")


def outlives_nobody(mode):
    with Daemon(mode, "") as d:
        j = Local(d)
        ok(j.launch(helper("sleeper"))["success"], "a tracer starts a program")
        ends_with_daemon(d, "tracer")


run_tests(in_modes(facts, attaches, ends, unseen, audited,
                   holds_nobody, conf=""),
          alone(outlives_nobody),
          alone(places, modes=SYSTEM), alone(quota, modes=SYSTEM),
          alone(room, modes=SYSTEM),
          alone(deleted, modes=SYSTEM), alone(of_others, modes=SYSTEM))
