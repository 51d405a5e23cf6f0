#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The process of a session's debugger: whose it is, what it may do, who can
# see it, and what is left when it, its adapter or its client goes.
import json
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import instrig
from instrig import (becomes, ends_with_daemon, error, leaf_of, named,
                     sessions_tree, state, the_only)
from dl import (ALICE, AS_ROOT, BOB, Daemon, alive, alone, eq, helper,
                in_modes, memory_of, ok, passwd_wrapper, read_proc, run_tests,
                stat_of, status_of, wait_for)

SYSTEM = ("system",) if AS_ROOT else ()
TOY = helper("toy_adapter")
CONF = f'adapter toy command "{TOY} lldb-dap"\nadapter none command "/nonexistent/lldb-dap"\n'


class Local(instrig.Local):
    command = "debugger"

    def start(self, program, adapter="toy", name="t", **more):
        args = {"program": program, "args": [], "cwd": "/", "env": [],
                "adapter": adapter, "stop_on_entry": True}
        return self.ask(start=True, name=name, request={
            "command": "start", "args": dict(args, **more)})


def debuggers(d):
    """{pid: uid} of the debuggers' processes of this daemon."""
    return {p: int(status_of(p)["Uid"].split()[0])
            for p in named(d, "debugger")}


def tree(d):
    return [p for p in d.processes() if (stat_of(p) or ("",))[0] in
            ("toy_adapter", "sleeper", "debugger")]


def facts(d):
    c, j = d.client(), Local(d)
    r = j.start(helper("sleeper"))
    ok(r["success"], "a debugger starts a program", r)
    pid = the_only(d, "debugger")
    st = status_of(pid)
    program = c.cmd("STATUS t")["pid"]
    want = int(status_of(program)["Uid"].split()[0])
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
    if AS_ROOT:
        eq(os.stat(f"/proc/{pid}/mem").st_uid, 0, "it is not dumpable")
        eq(os.readlink(f"/proc/{pid}/cwd"), "/", "it is at the root")
        kinds = sorted(os.readlink(f"/proc/{pid}/fd/{n}").split(":")[0]
                       for n in os.listdir(f"/proc/{pid}/fd"))
        eq([k for k in kinds if k not in (
            "/dev/null", "socket", "anon_inode", "pipe") and
            not k.startswith("/memfd")], [f"/proc/{program}"],
           "it holds its channel, three pipes, the output and its program's "
           "directory in /proc, no more")
        eq(kinds.count("socket"), 1, "its one socket is the channel")
    eq(state(c)["state"], "DEBUGGING", "the session is DEBUGGING")
    eq(state(c)["debugger"], {"state": "stopped",
                              "adapter": "toy", "current": True}, "and says by what")
    parent = int(status_of(state(c)["pid"])["PPid"])
    eq((parent != pid, stat_of(parent)[0]), (True, "toy_adapter"),
       "its pid is the program's, which the adapter has started")
    eq([x["name"] for x in c.cmd("DEBUGGER list")], ["t"],
       "it is in the list of debuggers")
    eq(c.cmd("VERSION")["debug_sessions"], 1, "VERSION counts it")
    r = j.do("stop")
    ok(r["success"], "stop ends it", r)
    ok(wait_for(lambda: tree(d) == [], 15), "all of its processes are gone",
       tree(d))
    ok(wait_for(lambda: c.cmd("LIST") == [], 10), "and so is the session")
    eq(c.cmd("VERSION")["debug_sessions"], 0, "VERSION counts none")
    deps = {r["name"]: r for r in c.cmd("DEPS")["deps"]}
    for name in ("lldb-dap", "delve", "debugpy", "gdb", "codelldb"):
        row = deps.get(name, {})
        ok(row and bool(row.get("remedy")) != row["available"] and
           not row["required"], f"DEPS knows {name}, or what installs it",
           row)


def places(mode):
    """Debuggers are in their user's control group, adapters in the session's."""
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, CONF, wrapper=wrapper) as d:
        c, j, b = d.client(ALICE), Local(d, uid=ALICE), Local(d, uid=BOB)
        top = sessions_tree(d)
        ok(j.start(helper("sleeper"))["success"], "a debugger")
        sid, pid = state(c)["id"], the_only(d, "debugger")
        eq(leaf_of(pid), f"u{ALICE}/dbg-{sid}",
           "its process is in a control group of its user's")
        ok(b.start(helper("sleeper"), name="b")["success"], "another user's")
        eq([leaf_of(p).split("/")[0] for p, u in debuggers(d).items()
            if u == BOB], [f"u{BOB}"], "is in theirs")
        eq({leaf_of(p) for p in tree(d) if p not in debuggers(d) and
            int(status_of(p)["Uid"].split()[0]) == ALICE},
           {f"u{ALICE}/{sid}"},
           "adapter and program are in the session's")
        j.do("stop")
        ok(wait_for(lambda: not os.path.exists(f"{top}/u{ALICE}")),
           "at the end nothing is left of them")
        ok(os.path.exists(f"{top}/u{BOB}"), "and others' stay")
        sid = c.upload(helper("sleeper"))["id"]
        for n in range(3):
            c.cmd("START " + sid)
            r = j.ask(start=True, session=sid, request={
                "command": "attach", "args": {"adapter": "toy"}})
            ok(r["success"], "attached", r)
            pid = next(p for p, u in debuggers(d).items() if u == ALICE)
            eq((leaf_of(pid), {leaf_of(p) for p in tree(d) if
                stat_of(p)[0] == "toy_adapter" and
                int(status_of(p)["Uid"].split()[0]) == ALICE}),
               (f"u{ALICE}/dbg-{sid}", {f"u{ALICE}/{sid}"}),
               "beside a program that ran: the same")
            if n == 0:
                c.cmd("KILL " + sid)
                ok(alive(pid), "the session's end is not the debugger's")
                eq(leaf_of(pid), f"u{ALICE}/dbg-{sid}", "which stays there")
                j.do("stop", session=sid)
            elif n == 1:
                os.kill(pid, signal.SIGKILL)
                ok(becomes(c, "RUNNING", sid), "it is killed")
                c.cmd("KILL " + sid)
            ok(n == 2 or wait_for(lambda: not os.path.exists(
                f"{top}/u{ALICE}/dbg-{sid}")), "its group goes")
        c.cmd("KILL " + sid)
        c.cmd("DELETE " + sid)
        ok(wait_for(lambda: not os.path.exists(f"{top}/u{ALICE}")),
           "all of it goes with the session")
        b.do("stop")


def quota(mode):
    """The debugger's process is one of its owner's, where they have few."""
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, CONF + "quota default processes 9\n",
                   wrapper=wrapper) as d:
        c, j, b = d.client(ALICE), Local(d, uid=ALICE), Local(d, uid=BOB)
        ids = [c.upload(helper("sleeper"))["id"] for _ in range(4)]
        full = c.upload(helper("limits"))["id"]
        c.cmd(f"ARGS {full} nproc")
        attach = {"command": "attach", "args": {"adapter": "toy"}}

        def refused(why):
            r = j.ask(start=True, session=ids[0], request=attach)
            ok(not r["success"] and "quota default processes" in
               r["error"]["message"], why, r)
            eq(state(c, ids[0])["state"], "RUNNING", "the program goes on")
            ok(wait_for(lambda: debuggers(d) == {}),
               "nothing of the debugger is left", debuggers(d))

        for sid in (ids[0], full):
            eq(c.cmd("START " + sid).get("state"), "RUNNING", "it runs")
        ok(wait_for(lambda: "forked 5" in c.output(full).decode()),
           "all are used up")
        refused("a debugger more is refused with words")
        ok(b.start(helper("sleeper"))["success"], "others have their own")
        b.do("stop")
        c.cmd("KILL " + full)
        for sid in ids[1:]:
            eq(c.cmd("START " + sid).get("state"), "RUNNING", "it runs")
        refused("with room for itself alone as well")
        c.cmd("KILL " + ids[3])
        r = j.ask(start=True, session=ids[0], request=attach)
        ok(r["success"], "when there is room it is attached", r)
        eq(c.cmd("START " + ids[3]).get("error_code"), "fork_failed",
           "and takes the room of a program")
        j.do("stop", session=ids[0])
        ok(wait_for(lambda: c.cmd("START " + ids[3]).get("state") ==
                    "RUNNING", 15), "until it has gone")
        for sid in ids:
            c.cmd("KILL " + sid)


def streams(d):
    c, j = d.client(), Local(d)
    j.start(helper("twostreams"))
    j.do("continue")
    ok(becomes(c, "STOPPED"), "it ends")
    out = c.cmd("OUTPUT t")
    eq(sorted(k for _, k in out["chunks"])[:1] +
       sorted(k for _, k in out["chunks"])[-1:], ["err", "out"],
       "its two streams are kept apart")
    ok("exit_code" in state(c) and state(c)["exit_code"] is not None,
       "the exit code is the program's", state(c))
    j.do("stop")


def restarts(d):
    c, j = d.client(), Local(d)
    j.start(helper("hello"))
    first = state(c)["pid"]
    j.do("continue")
    becomes(c, "STOPPED")
    r = j.do("restart")
    ok(r["success"], "it is started again", r)
    eq(state(c)["state"], "DEBUGGING", "and is DEBUGGING again")
    ok(state(c)["pid"] not in (None, first), "as another process")
    j.do("stop")


def lines_of(d, sid, command):
    """(user, result) of the audit log's lines about it."""
    return re.findall(rf'user="([^"]*)" door=local address="pid \d+" '
                      rf'session={sid} action="DEBUGGER {command}" '
                      r'result="([^"]*)"', d.log())


def is_logged(d, sid, command, result):
    """In another process, when the answer may be here already."""
    ok(wait_for(lambda: any(r.startswith(result) for _, r in
                            lines_of(d, sid, command)), 15),
       f"{command} is in the audit log: {result}",
       lines_of(d, sid, command))


def audited(d):
    """Who did what to a program, and nothing of what it said."""
    c, j = d.client(), Local(d)
    j.start(helper("sleeper"))
    sid = state(c)["id"]
    is_logged(d, sid, "start", "ok")
    for command in ("status", "backtrace", "threads", "breakpoint_list"):
        j.do(command)
    for command, args in (
            ("set", {"name": "marker4711", "value": "marker4711"}),
            ("memory_write", {"address": "0x10", "data": "marker4711"}),
            ("raw", {"text": "marker4711"}),
            ("eval", {"expression": "marker4711"})):
        j.do(command, **args)
        is_logged(d, sid, command, "debugger_refused")
    editor = j.do("dap")["result"]["client"]
    for command in ("setVariable", "writeMemory", "setExceptionBreakpoints"):
        j.do("dap_send", client=editor, message={
            "seq": 1, "type": "request", "command": command,
            "arguments": {"name": "marker4711"}})
        is_logged(d, sid, command, "ok")
    for _ in range(10):
        j.do("continue", wait=False)
        j.do("pause")
    is_logged(d, sid, "continue", "ok")
    away = Local(d)
    away.do("status")
    away.put(request={"command": "breakpoint_add",
                      "args": {"function": "marker4711"}})
    away.close()
    ok(wait_for(lambda: lines_of(d, sid, "breakpoint_add"), 15),
       "who leaves at once is not forgotten")
    j.do("restart")
    is_logged(d, sid, "restart", "ok")
    j.do("stop")
    is_logged(d, sid, "stop", "ok")
    is_logged(d, sid, "continue", "9 more within a minute, 0 of them")
    eq(len(lines_of(d, sid, "continue")), 2, "what comes often is counted")
    for command in ("status", "backtrace", "threads", "breakpoint_list"):
        eq(lines_of(d, sid, command), [], f"{command} only looks")
    ok(not any("marker4711" in x for x in d.log().splitlines()
               if " action=" in x), "no values are in it")
    ok(any(x["message"].split()[1:3] == ["DEBUGGER", "raw"]
           for x in c.cmd("ACTIVITY")), "ACTIVITY has it as well")
    j.start(helper("sleeper"), name="lost")
    sid = state(c, "lost")["id"]
    j.put(session="lost", request={"command": "until", "args": {
        "where": "x:1"}})
    j.recv_line()
    j.put(session="lost", request={"command": "continue", "args": {}})
    wait_for(lambda: state(c, "lost")["debugger"]["state"] == "running")
    os.kill(the_only(d, "debugger"), signal.SIGKILL)
    eq(error(json.loads(j.recv_line())), "debugger_lost", "it is killed")
    is_logged(d, sid, "continue", "debugger_lost")
    is_logged(d, sid, "until", "debugger_refused")


def goes_on(c, j, program, name):
    """The pid of one that runs under a debugger, which STATUS shows."""
    j.start(helper(program), name=name)
    j.do("continue", session=name, wait=False)
    pid = state(c, name)["pid"]
    ok(wait_for(lambda: stat_of(pid)[0] == program),
       "STATUS shows the program, not the adapter", stat_of(pid))
    return pid


def says(c, what, text):
    return wait_for(lambda: text in c.output(what).decode(), 15)


def signals(d):
    """What is meant for the program reaches it under a debugger as well."""
    c, j = d.client(), Local(d)
    goes_on(c, j, "handler", "h")
    ok(says(c, "h", "ready"), "it runs")
    for name in ("USR1", "USR2"):
        eq(c.cmd(f"SIGNAL h {name}").get("error_code"), None, "a signal")
        ok(says(c, "h", name), "reaches the program")
    eq(state(c, "h")["state"], "DEBUGGING", "the adapter has not noticed")
    c.cmd("SIGNAL h TERM")
    eq(c.cmd("WAIT h 20").get("exit_code"), 3, "WAIT tells its exit code")
    ok(says(c, "h", "bye"), "which it has chosen itself")
    eq(c.cmd("SIGNAL h USR1").get("error_code"), "not_running",
       "there is nobody left")
    goes_on(c, j, "echo", "echo")
    c.send("INPUT echo 5\nhello")
    eq(c.json().get("error_code"), None, "input")
    ok(says(c, "echo", "hello"), "reaches the program")
    c.cmd("INPUT echo eof")
    eq(c.cmd("WAIT echo 20").get("exit_code"), 0, "so does its end")
    ok(says(c, "echo", "[eof]"), "in this order")
    for command in ("STOP", "KILL"):
        pid = goes_on(c, j, "sleeper", command)
        c.cmd(f"{command} {command}")
        eq(state(c, command)["state"], "STOPPED", command)
        ok(wait_for(lambda: [p for p in tree(d) if
                             stat_of(p)[0] != "debugger"] == []),
           "ends adapter and program", tree(d))
    for name in ("h", "echo", "STOP", "KILL"):
        r = j.do("stop", session=name)
        ok(wait_for(lambda: "error_code" in state(c, name)), "it goes",
           (r, state(c, name)))


def let_go(d):
    """A program whose debugger has let it go is its session's like any."""
    c, j = d.client(), Local(d)
    pid = goes_on(c, j, "handler", "h")
    ok(says(c, "h", "ready"), "it runs")
    ok(j.do("detach", session="h")["success"], "detach")
    ok(becomes(c, "RUNNING", "h"), "it goes on")
    eq(state(c, "h")["pid"], pid, "as the same process")
    eq(c.cmd("SIGNAL h USR1").get("error_code"), None, "a signal")
    ok(says(c, "h", "USR1"), "reaches it")
    r = j.do("attach", session="h", adapter="toy")
    ok(r["success"], "its debugger can be attached again", r)
    eq(j.do("status", session="h")["result"]["adapter"]["name"], "toy",
       "by the adapter that was asked for")
    eq((state(c, "h")["state"], state(c, "h")["pid"],
        state(c, "h")["debugger"]["adapter"]), ("DEBUGGING", pid, "toy"),
       "and is")
    ok(j.do("detach", session="h")["success"], "and detached")
    ok(becomes(c, "RUNNING", "h"), "it goes on")
    os.kill(the_only(d, "debugger"), signal.SIGKILL)
    ok(wait_for(lambda: state(c, "h")["debugger"] is None), "no debugger")
    eq(state(c, "h")["state"], "RUNNING", "it does not need it")
    r = j.ask(start=True, session="h", request={
        "command": "attach", "args": {"adapter": "toy"}})
    ok(r["success"], "another one can be attached", r)
    eq(state(c, "h")["pid"], pid, "to that process")
    j.do("continue", session="h", wait=False)
    # it is not waited for
    wait_for(lambda: stat_of(pid)[1] not in "tT")
    r = c.cmd("SIGNAL h USR2")
    ok(says(c, "h", "USR2"), "a signal reaches it beside an adapter",
       (r, stat_of(pid)))
    r = j.do("detach", session="h")
    ok(r["success"], "which lets it go as well", r)
    c.cmd("SIGNAL h TERM")
    ok(says(c, "h", "bye"), "the last one")
    ok(becomes(c, "STOPPED", "h"), "ends it")
    j.do("stop", session="h")
    c.cmd("DELETE h")


def unseen(d):
    """What is debugged can neither see nor signal the debugger."""
    c, j = d.client(), Local(d)
    j.start(helper("sleeper"))
    pid = the_only(d, "debugger")
    inner = c.cmd("NEW start=now -- sh -c 'kill -0 " + str(pid) +
                  "; echo $?; ls /proc | grep -c ^[0-9]'")["id"]
    ok(becomes(c, "STOPPED", inner), "another session looks for it")
    ok("No such process" in c.cmd("OUTPUT " + inner)["output"],
       "it is nowhere", c.cmd("OUTPUT " + inner))
    r = j.do("stop")
    ok(r["success"], "it is there still", r)
    c.cmd("DELETE " + inner)


def limit_of(pid, name):
    with open(f"/proc/{pid}/limits") as f:
        return next(line.split()[-3:-1] for line in f if name in line)


def attaches(d):
    c, j = d.client(), Local(d)
    sid = c.upload(helper("sleeper"))["id"]
    c.cmd(f"LIMITS {sid} nofile=77")
    c.cmd("START " + sid)
    r = j.ask(start=True, session=sid, request={
        "command": "attach", "args": {"adapter": "toy"}})
    ok(r["success"], "a debugger is attached to a session that runs", r)
    eq(state(c, sid)["state"], "DEBUGGING", "which is DEBUGGING then")
    eq([limit_of(p, "Max open files") for p in d.processes()
        if (stat_of(p) or ("",))[0] == "toy_adapter"], [["77", "77"]],
       "the adapter has the limits of the session's programs")
    pid = state(c, sid)["pid"]
    eq(c.cmd("DEBUG " + sid).get("error_code"), "already_debugging",
       "gdbserver is not attached beside it")
    r = j.do("detach")
    ok(r["success"], "it lets it go", r)
    ok(becomes(c, "RUNNING", sid), "which is RUNNING then")
    eq(state(c, sid)["pid"], pid, "and the same process")
    r = j.ask(start=True, session=sid, request={
        "command": "attach", "args": {"adapter": "toy"}})
    ok(r["success"], "it can be attached again", r)
    os.kill(the_only(d, "debugger"), signal.SIGKILL)
    ok(becomes(c, "RUNNING", sid), "its death leaves the program running")
    ok(wait_for(lambda: state(c, sid)["debugger"] is None, 10),
       "without a debugger")
    ok(wait_for(lambda: not any(stat_of(p)[0] == "toy_adapter" for p in
                                d.processes() if stat_of(p)), 10),
       "and without its adapter")
    eq(error(j.do("status", session=sid)), "no_session",
       "who asks is told that there is none")
    c.cmd("KILL " + sid)


def deaths(d):
    c, j = d.client(), Local(d)
    j.start(helper("sleeper"))
    j2 = Local(d)
    j.put(request={"command": "continue", "args": {}})
    wait_for(lambda: state(c)["debugger"]["state"] == "running", 10)
    os.kill(the_only(d, "debugger"), signal.SIGKILL)
    r = json.loads(j.recv_line())
    eq(error(r), "debugger_lost", "who waits is told that it has died")
    ok(becomes(c, "STOPPED"), "what it has started ends with it")
    ok(wait_for(lambda: tree(d) == [], 10), "all of it", tree(d))
    r = j2.start(helper("sleeper"), name="u")
    ok(r["success"], "the next one starts", r)
    adapter = [p for p in d.processes()
               if (stat_of(p) or ("",))[0] == "toy_adapter"][0]
    os.kill(adapter, signal.SIGKILL)
    ok(becomes(c, "STOPPED", "u"), "an adapter's death ends the program")
    ok(wait_for(lambda: [p for p in tree(d) if stat_of(p) and
                         stat_of(p)[0] != "debugger"] == [], 10),
       "nothing of it is left", tree(d))
    r = j2.do("restart", session="u")
    ok(r["success"], "and can be started again", r)
    j2.do("stop", session="u")
    os.kill(d.role_pid("netproc"), signal.SIGKILL)
    ok(wait_for(lambda: reaches(d), 15), "netproc is back")


def reaches(d):
    try:
        return "version" in Local(d).cmd("VERSION")
    except (OSError, ValueError, RuntimeError):
        return False


def survives_netproc(d):
    j = Local(d)
    j.start(helper("sleeper"), name="n")
    pid = the_only(d, "debugger")
    os.kill(d.role_pid("netproc"), signal.SIGKILL)
    ok(wait_for(lambda: reaches(d), 15), "netproc is back")
    j = Local(d)
    r = j.do("status", session="n")
    eq((r["success"], r["result"]["state"]), (True, "stopped"),
       "the debugger has not noticed")
    eq(the_only(d, "debugger"), pid, "it is the same")
    os.kill(d.role_pid("launcher"), signal.SIGKILL)
    r = j.do("status", session="n")
    eq((r["success"], the_only(d, "debugger")), (True, pid),
       "nor when the launcher went")
    wait_for(lambda: j.do("stop", session="n")["success"], 15)


def variables(d):
    """What a session has in its environment is not left in the launcher,
    whose next child is another user's."""
    c, j = d.client(), Local(d)
    sid = c.upload(helper("sleeper"))["id"]
    word = "lantern-" + os.urandom(12).hex()
    c.cmd(f"ENV {sid} WORD={word}")
    c.cmd("START " + sid)
    r = j.ask(start=True, session=sid, request={
        "command": "attach", "args": {"adapter": "toy"}})
    ok(r["success"], "a debugger is attached", r)
    ok([p for p in tree(d) if word.encode() in read_proc(p, "environ")],
       "the program has its variable")
    if AS_ROOT:
        eq([line for _, line, data in memory_of(d.role_pid("launcher"))
            if word[10:].encode() in data], [],
           "which the launcher has not")
    c.cmd("KILL " + sid)


def client_goes(d):
    """Who waits and goes is not waited for, and another can pause."""
    c, j = d.client(), Local(d)
    j.start(helper("sleeper"))
    waiters = [Local(d) for _ in range(8)]
    for w in waiters:
        w.put(request={"command": "continue" if w is waiters[0] else "await",
                       "args": {}})
    wait_for(lambda: state(c)["debugger"]["state"] == "running", 10)
    waiters[3].close()
    waiters[4].reset()
    r = j.do("pause")
    ok(r["success"], "one that does not wait can pause it", r)
    for i in (0, 1, 2, 5, 6, 7):
        r = json.loads(waiters[i].recv_line())
        eq(r["result"]["state"], "stopped", f"waiter {i} hears of the stop")
    j.do("stop")


def clients_go(d):
    """However many ask and leave, there is room for who stays."""
    c, j, other = d.client(), Local(d), Local(d)
    j.start(helper("sleeper"))
    j.do("continue", wait=False)
    refused = 0
    for i in range(600):
        w = Local(d)
        w.put(request={"command": "await", "args": {}})
        if i % 3 == 0:
            w.reset()
        else:
            w.close()
        if i % 20 == 0:
            refused += error(other.do("status")) is not None
    eq(refused, 0, "who asks meanwhile is answered")
    stay = [Local(d) for _ in range(8)]
    for w in stay * 16:
        w.put(request={"command": "await", "args": {}})
    ok(j.do("pause")["success"], "it can be paused")
    eq({(json.loads(w.recv_line()).get("result") or {}).get("state")
        for w in stay * 16}, {"stopped"}, "and all who wait hear of it")
    eq(len(debuggers(d)), 1, "it is the same debugger")
    j.do("stop")
    ok(wait_for(lambda: c.cmd("LIST") == []), "its end")


def again_at_once(d):
    """Who is told that it has ended finds nothing of it."""
    c, j = d.client(), Local(d)
    wrong = []
    for _ in range(40):
        answers = [j.start(helper("sleeper")), j.do("stop")]
        wrong += [r for r in answers if not r["success"]]
        wrong += c.cmd("DEBUGGER list")
        answers = [j.start("/nonexistent"), j.start("/nonexistent")]
        wrong += [r for r in answers if error(r) != "invalid_argument"]
    eq(wrong, [], "a name is free when its session's end is told")


def failures(d):
    c, j = d.client(), Local(d)
    r = j.start(helper("sleeper"), adapter="none")
    ok(error(r) in ("adapter_missing", "adapter_failed"),
       "an adapter that is missing", r)
    ok(wait_for(lambda: c.cmd("LIST") == [] and not debuggers(d), 10),
       "leaves neither session nor debugger", c.cmd("LIST"))
    r = j.start("/nonexistent/program")
    eq(r["success"], False, "a program that is missing")
    ok(wait_for(lambda: c.cmd("LIST") == [] and not debuggers(d), 10),
       "leaves nothing either", c.cmd("LIST"))
    for bad in ("{", '{"a":1}{"b":2}', "{}x"):
        r = c.cmd("DEBUGGER start " + bad)
        ok(r["error_code"] in ("invalid_json", "invalid_argument"),
           f"{bad}: refused", r)
    r = c.cmd("DEBUGGER start sandbox=x {}")
    eq(r["error_code"], "invalid_argument", "a sandbox that there is not")
    eq(error(j.ask(start=True, session="nosuch", request={})), "not_found",
       "a session that there is not")


def goes_idle(mode):
    with Daemon(mode, CONF + "debugger idle 1\n") as d:
        c, j = d.client(), Local(d)
        j.start(helper("hello"))
        time.sleep(1.5)
        eq(len(debuggers(d)), 1, "with a program it is not idle")
        j.do("continue")
        ok(wait_for(lambda: debuggers(d) == {}, 20),
           "without one it ends, when nobody asks")
        ok(c.cmd("LIST") == [] or state(c)["debugger"] is None,
           "its session has none any more")


# What shows more than was gathered asks the adapter, which may run the program.
MORE_THAN_LOOKS = (
    "start", "attach", "restart", "next", "step", "finish", "until",
    "breakpoint_add", "breakpoint_remove", "breakpoint_enable",
    "breakpoint_disable", "watch_add", "watch_remove", "catch_add",
    "catch_remove", "frame", "up", "down", "thread", "locals", "args",
    "backtrace", "source", "registers", "disassemble", "memory_read",
    "memory_write", "print", "eval", "raw", "set", "dap", "dap_send",
    "dap_receive", "dap_close")


def of_others(mode):
    """Sessions of others do not exist; who may only look may only look."""
    with passwd_wrapper(("dl-alice", ALICE), ("dl-bob", BOB)) as wrapper, \
            Daemon(mode, CONF, wrapper=wrapper) as d:
        c, j = d.client(ALICE), Local(d, uid=ALICE)
        j.start(helper("sleeper"))
        sid = state(c)["id"]
        b = Local(d, uid=BOB)
        eq(d.client(BOB).cmd("VERSION")["debug_sessions"], 0,
           "others' are not counted for them")
        for ask in (dict(session=sid, request={"command": "status"}),
                    dict(session=sid, use=True, request={}),
                    dict(start=True, session=sid,
                         request={"command": "attach", "args": {}})):
            eq(error(b.ask(**ask)), "not_found", f"{ask}: not for others")
        eq(error(b.ask(request={"command": "status"})), "no_session",
           "others' debuggers are nobody's current one")
        eq(b.ask(list=True)["result"], [], "nor are they in their list")
        eq(c.cmd(f"SHARE {sid} dl-bob:ro").get("error_code"), None, "shared")
        r = b.do("status", session=sid)
        ok(r["success"], "who may look sees how it stands", r)
        for command in ("continue", "pause", "stop", "detach"):
            eq(error(b.do(command, session=sid)), "read_only",
               f"{command}: they may not")
            ok(wait_for(lambda: ("dl-bob", "debugger_refused") in [
                (u, r.split()[0]) for u, r in lines_of(d, sid, command)]),
               "and that they have tried is in the audit log")
        eq(error(b.ask(start=True, session=sid, request={
            "command": "attach", "args": {}})), "read_only", "nor attach")
        # before it is looked at what is asked for, or whether it makes sense
        for command in MORE_THAN_LOOKS:
            eq(error(b.do(command, session=sid)), "read_only",
               f"{command}: nor that")
        c.cmd(f"SHARE {sid} dl-bob:rw")
        ok(b.do("continue", session=sid, wait=False)["success"],
           "who may use it may")
        pid = the_only(d, "debugger")
        eq(debuggers(d)[pid], int(status_of(state(c)["pid"])["Uid"].split()[
            0]), "it stays its owner's")
        other, _ = c.start(helper("sleeper"))
        c.cmd(f"SHARE {other} dl-bob:rw")
        r = b.ask(start=True, session=other, request={
            "command": "attach", "args": {"cwd": "/", "env": [],
                                          "adapter": "toy"}})
        ok(r["success"], "nor is one where they start it", r)
        eq(j.do("status")["result"]["session"], sid,
           "but that is not the one that its owner means")
        j.do("stop", session=other)
        c.cmd(f"UNSHARE {sid} dl-bob")
        eq(error(b.do("status", session=sid)), "not_found",
           "until it is taken back")
        j.do("stop")


def current(d):
    c, j = d.client(), Local(d)
    for name in ("one", "two"):
        j.start(helper("sleeper"), name=name)
    ids = {s["name"]: s["id"] for s in c.cmd("LIST")}
    eq(j.do("status")["result"]["session"], ids["two"],
       "the one that was started last is meant")
    j.ask(session="one", use=True, request={"command": "status"})
    eq(j.do("status")["result"]["session"], ids["one"], "or was chosen")
    eq({x["name"]: x["current"] for x in c.cmd("DEBUGGER list")},
       {"one": True, "two": False}, "the list says which")
    j.do("stop", session="one")
    wait_for(lambda: len(c.cmd("LIST")) == 1, 10)
    eq(j.do("status")["result"]["session"], ids["two"],
       "when it has gone, the other one is")
    j.do("stop")


def by_pid(mode):
    with Daemon(mode, CONF) as d:
        j = Local(d)
        kw = {} if d.uid is None else {"user": d.uid, "group": d.uid,
                                       "extra_groups": []}
        p = subprocess.Popen([helper("sleeper")], stdout=subprocess.DEVNULL,
                             **kw)
        r = j.ask(start=True, name="p", request={
            "command": "attach", "args": {"pid": p.pid, "cwd": "/",
                                          "env": [], "adapter": "toy"}})
        if mode == "system":
            ok(not r["success"] and "own" in r["error"]["message"],
               "a system daemon does not attach to what is no session", r)
        else:
            ok(r["success"], "a user's own daemon attaches to their processes",
               r)
            eq(state(d.client(), "p")["pid"], p.pid, "which STATUS shows")
            eq(d.client().cmd("SIGNAL p CONT").get("error_code"), None,
               "and SIGNAL reaches")
            ok(j.do("detach")["success"], "and lets them go")
            eq(p.poll(), None, "they live on")
            j.do("stop")
        p.kill()
        p.wait()


def attach_to(j, pid, **which):
    return j.ask(start=True, **(which or {"name": "p"}), request={
        "command": "attach", "args": {"pid": pid, "cwd": "/", "env": [],
                                      "adapter": "toy"}})


def not_from_afar(mode):
    """Who comes with a token gets no way out of the sandbox by a debugger
    that somebody at home has made."""
    with Daemon(mode, CONF) as d:
        c, j, far = d.client(), Local(d), Local(d)
        ok("user" in far.cmd("AUTH " + c.cmd("TOKEN create")["token"]),
           "one comes with a token")
        kw = {} if d.uid is None else {"user": d.uid, "group": d.uid,
                                       "extra_groups": []}
        p = subprocess.Popen([helper("sleeper")], stdout=subprocess.DEVNULL,
                             **kw)
        ok(attach_to(j, p.pid)["success"], "the user attaches")
        eq(error(far.do("eval", "p", expression="x")), "read_only",
           "who comes with a token does nothing in that process")
        eq(far.cmd("SIGNAL p CONT").get("error_code"), "not_permitted",
           "nor to it")
        eq(c.cmd("SIGNAL p CONT").get("error_code"), None,
           "as the user does")
        eq(far.do("status", "p")["result"]["session"],
           j.do("status", "p")["result"]["session"], "but sees it")
        ok(j.do("detach", "p")["success"], "it is let go")
        for which in {"session": "p"}, {"session": "p", "name": "q"}:
            r = attach_to(far, p.pid, **which)
            eq(error(r), "read_only", "it is not taken up from afar")
        eq(p.poll(), None, "it lives")
        r = attach_to(j, p.pid, session="p")
        ok(r["success"], "the user takes it up again", r)
        ok(j.do("detach", "p")["success"], "and lets it go")
        ok(j.start(helper("sleeper"))["success"], "in a sandbox")
        ok(far.do("restart", "t")["success"], "a debugger is also theirs")
        j.do("stop", "t")
        j.do("stop", "p")
        p.kill()
        p.wait()


def obstacles(mode):
    """What the kernel would refuse is told in words, and before."""
    with Daemon(mode, CONF) as d:
        j = Local(d)
        kw = {} if d.uid is None else {"user": d.uid, "group": d.uid,
                                       "extra_groups": []}
        p = subprocess.Popen([helper("sleeper")], stdout=subprocess.DEVNULL,
                             **kw)
        p.kill()
        os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOWAIT)
        cases = [(p.pid, "there is no process"),
                 (2 ** 31 - 1, "there is no process")]
        if AS_ROOT:
            cases.append((os.getpid(), "another user's (uid 0)"))
        for pid, want in cases:
            r = attach_to(j, pid)
            ok(not r["success"] and want in r["error"]["message"],
               f"attach: {want}", r)
            ok(wait_for(lambda: debuggers(d) == {}), "nothing is left of it")
        p.wait()


def of_root(mode):
    """Root's own daemon has no more rights than others': its debuggers too."""
    if not AS_ROOT:
        return
    with Daemon(mode, CONF, uid=None) as d:
        j = Local(d)
        p = subprocess.Popen([helper("sleeper")], stdout=subprocess.DEVNULL)
        r = attach_to(j, p.pid)
        ok(not r["success"] and "capabilities" in r["error"]["message"] and
           "setpriv" in r["error"]["message"],
           "root's process with capabilities is not traced", r)
        ok(p.poll() is None, "and lives")
        p.kill()
        p.wait()
        p = subprocess.Popen(["setpriv", "--bounding-set=-all",
                              "--inh-caps=-all", helper("sleeper")],
                             stdout=subprocess.DEVNULL)
        ok(wait_for(lambda: stat_of(p.pid)[0] == "sleeper"), "another one")
        r = attach_to(j, p.pid)
        ok(r["success"], "one without them is", r)
        ok(j.do("detach")["success"], "and let go")
        j.do("stop")
        p.kill()
        p.wait()


def outlives_nobody(mode):
    with Daemon(mode, CONF) as d:
        j = Local(d)
        ok(j.start(helper("sleeper"))["success"], "a debugger starts a program")
        ends_with_daemon(d, "debugger")


run_tests(in_modes(facts, streams, restarts, audited, signals, let_go, unseen,
                   attaches, variables, client_goes, clients_go, failures,
                   again_at_once, current,
                   conf=CONF),
          in_modes(deaths, survives_netproc, conf=CONF, calm=False),
          alone(goes_idle), alone(by_pid),
          alone(not_from_afar, modes=("user",)),
          alone(obstacles, modes=("user",)), alone(of_root, modes=("user",)),
          alone(outlives_nobody),
          alone(places, modes=SYSTEM), alone(quota, modes=SYSTEM),
          alone(of_others, modes=SYSTEM))
