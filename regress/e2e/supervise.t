#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# kill -9 of each process of the daemon: what is lost, what is not, and how
# soon everything is as before.
import base64
import os
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (Daemon, alive, alone, connect, eq, helper, in_modes, ok,
                pidfds_of, read_helper, run_tests, session_processes, stat_of,
                status_of, tar_of, wait_for)

ROLES = ("netproc", "spawner", "launcher", "idproc", "announcer", "logger")


def are_known(d, launchers):
    """Has the parent heard of them?  A reserve of which it has not goes with
    the launcher that made it, and the daemon with both."""
    held = pidfds_of(d.proc.pid)
    return held is None or held >= set(launchers)


def kill_role(d, name):
    """kill -9; waits for the next one; (old pid, new pid, seconds)."""
    old = d.role_pid(name)
    known = set(d.children(name))
    t = time.monotonic()
    os.kill(old, signal.SIGKILL)
    # the launcher has one in reserve: there is another pid at once
    wait_for(lambda: old not in d.children(name))
    ok(wait_for(lambda: len(d.children(name)) == len(known) and (
        name != "launcher" or are_known(d, d.children(name)))),
       f"{name}: there is another after kill -9", d.children())
    return old, d.role_pid(name), time.monotonic() - t


def served(d, uid=None):
    """A fresh client that is answered, as soon as there is one."""
    def once():
        try:
            c = d.client(uid, timeout=5)
            c.cmd("VERSION")
            return c
        except (OSError, EOFError, ValueError):
            return None
    c = wait_for(once)
    if c is None:
        raise RuntimeError("nobody is served any more")
    return c


def ask(d, line):
    """The answer when it is not try_again."""
    def once():
        try:
            r = served(d).cmd(line)
        except (OSError, EOFError):
            return None
        return None if isinstance(r, dict) and \
            r.get("error_code") == "try_again" else (r,)
    r = wait_for(once, 15)
    return r[0] if r else None


def everything_works(d, who):
    c = served(d)

    def whole():
        try:
            sid, s = c.run(helper("hello"))
        except KeyError:    # try_again
            return False
        return s.get("exit_code") == 0 and \
            c.output(sid) == b"Hello world\n" and \
            c.cmd("DELETE " + sid)["state"] == "DELETED"
    ok(wait_for(whole, 15, 0.1), f"{who}: upload, start, output and delete "
       "work again")
    c.close()


def netproc_dies(d):
    c = d.client()
    sid, s = c.start(helper("echo"))
    c.send(f"INPUT {sid} 6\nbefore")
    c.json()
    c.until(sid, b"before")
    bundle = c.upload(tar_of(("run", helper("hello"))), "run")["id"]
    c.cmd(f"NAME {bundle} label")
    c.cmd(f"ENV {bundle} K=V")
    before = c.cmd("LIST")
    waiting = d.client()
    waiting.send(f"FOLLOW {sid} 0 base64\n")
    waiting.recv_line()
    _, _, took = kill_role(d, "netproc")
    ok(took < 2, "netproc is back soon", took)
    ok(c.closed() and waiting.closed(), "netproc: its connections are lost")
    t = time.monotonic()
    c = served(d)
    ok(time.monotonic() - t < 2, "netproc: clients are served again soon")
    eq(c.cmd("LIST"), before, "netproc: sessions are as before")
    eq(c.output(sid), b"before", "netproc: the ring is as before")
    c.send(f"INPUT {sid} 5\nafter")
    c.json()
    c.until(sid, b"after")
    r = c.cmd(f"OUTPUT {sid} 6")
    eq((r["output"], r["offset"], r["total"]), ("after", 6, 11),
       "netproc: offsets go on")
    e = served(d)
    e.send(f"FOLLOW {sid} 3 base64\n")
    got = b""
    c.cmd(f"INPUT {sid} eof")
    while True:
        r = e.json()
        got += base64.b64decode(r.get("output", ""))
        if r.get("final"):
            break
    eq((got, r["state"], r["exit_code"]),
       (b"oreafter[eof]", "STOPPED", 0),
       "netproc: a follower goes on where it was")
    everything_works(d, "netproc")


def netproc_dies_in_an_upload(d):
    c = d.client()
    c.send(b"UPLOAD 500000000\n" + b"x" * 100000)
    kill_role(d, "netproc")
    c = served(d)
    eq(c.cmd("LIST"), [], "a half upload leaves no session")
    # 500 MB of 512 MiB would be taken if the room had not been given back
    ok(wait_for(lambda: room(d)), "a half upload gives its room back")


def room(d):
    """Whether 64 MB more are taken."""
    c = served(d)
    data = read_helper("hello")
    try:
        r = c.upload(data + bytes(64 * 10**6 - len(data)))
        return "id" in r and c.cmd("DELETE " + r["id"])["state"] == "DELETED"
    except (OSError, EOFError):
        return False
    finally:
        c.close()


def netproc_dies_with_a_debug_port(d):
    c = d.client()
    sid, s = c.start(helper("target"), until=b"target")
    r = c.cmd("DEBUG " + sid)
    eq(r.get("state"), "DEBUGGING", "a session with a debug port")
    kill_role(d, "netproc")
    c = served(d)
    ok(wait_for(lambda: c.cmd("STATUS " + sid)["state"] == "RUNNING"),
       "netproc: a session whose port is gone is RUNNING again",
       c.cmd("STATUS " + sid))
    eq(c.cmd("STATUS " + sid)["pid"], s["pid"], "the same program")
    r = c.cmd("DEBUG " + sid)
    eq(r.get("state"), "DEBUGGING", "DEBUG works again")
    c.cmd("KILL " + sid)


def netproc_dies_while_stopping(d):
    c = d.client()
    sid, _ = c.start(helper("ignorer"), until=b"ready")
    c.send(f"STOP {sid}\n")
    kill_role(d, "netproc")
    r = ask(d, f"WAIT {sid} 20")
    eq((r["state"], r["signal"]), ("STOPPED", "SIGKILL"),
       "netproc: a STOP under way is carried out")


def launcher_dies(d):
    c = d.client()
    sid, s = c.start(helper("echo"))
    orphan, _ = c.start(helper("orphan"), until=b"lives")
    before = c.cmd("STATUS " + sid)
    kill_role(d, "launcher")
    eq(c.cmd("STATUS " + sid), before, "launcher: sessions are as before")
    eq(alive(s["pid"]), True, "launcher: programs run on")
    c.send(f"INPUT {sid} 5\nhello")
    c.json()
    c.until(sid, b"hello")
    c.cmd(f"INPUT {sid} eof")
    r = c.cmd(f"WAIT {sid} 20")
    eq((r["state"], r["exit_code"]), ("STOPPED", 0),
       "launcher: an end is seen, with its exit code")
    r = wait_for(lambda: (lambda r: r if "error_code" not in r else None)(
        c.cmd("STOP " + orphan)), 15)
    eq((r["state"], session_processes(orphan)), ("STOPPED", []),
       "launcher: STOP reaches a tree of before")
    everything_works(d, "launcher")


def launchers_die_in_turn(d):
    """The one that serves and the one in reserve, the older first.  A reserve
    counts when the parent has heard of it: until then it goes with the other,
    and the daemon with both."""
    c = d.client()
    sid, s = c.start(helper("echo"))

    def both():
        p = d.children("launcher")
        return sorted(p, key=lambda x: (stat_of(x) or (0, 0, 0, 0))[3]) \
            if len(p) == 2 and are_known(d, p) else None
    for which in (1, 0, 1, 1, 0, 0):
        pids = wait_for(both, 60)
        os.kill(pids[which], signal.SIGKILL)
        wait_for(lambda: pids[which] not in d.children("launcher"), 60)
    ok(wait_for(both, 60), "there are two launchers again", d.children())
    eq(d.proc.poll(), None, "launcher: neither's death ends the daemon")
    eq(c.cmd("STATUS " + sid)["pid"], s["pid"], "launcher: programs run on")
    everything_works(d, "launchers")


def launcher_dies_while_stopping(d):
    c = d.client()
    sid, _ = c.start(helper("ignorer"), "child", until=b"ready")
    c.send(f"STOP {sid}\n")
    kill_role(d, "launcher")
    r = c.json()
    if r.get("error_code") == "try_again":
        r = ask(d, "STOP " + sid)
    eq((r.get("state"), r.get("signal")), ("STOPPED", "SIGKILL"),
       "launcher: a STOP under way is carried out")
    eq(session_processes(sid), [], "launcher: and nothing is left")


def launcher_dies_with_bundles(d):
    c = d.client()
    sid = c.upload(tar_of(("sh", "/bin/dash"), ("x", b"kept\n")), "sh")["id"]
    c.cmd(f"ARGS {sid} -c 'cat x'")
    kill_role(d, "launcher")
    r = wait_for(lambda: (lambda r: r if "error_code" not in r else None)(
        c.cmd("START " + sid)), 15)
    c.cmd(f"WAIT {sid} 20")
    eq((r or {}).get("state") and c.output(sid), b"kept\n",
       "launcher: bundles are as before")


def launcher_dies_while_debugging(d):
    c = d.client()
    sid, s = c.start(helper("target"), until=b"target")
    r = c.cmd("DEBUG " + sid)
    kill_role(d, "launcher")
    g = connect("127.0.0.1", r["debug_port"], d.uid, 10)
    g.sendall(b"+$?#3f")
    ok(g.recv(100), "launcher: a debugger stays attached")
    g.close()
    r = ask(d, "KILL " + sid)
    eq(r.get("state"), "STOPPED", "launcher: KILL works")


def idproc_dies(d):
    c = d.client()
    sid, s = c.start(helper("sleeper"), until=b"ready")
    kill_role(d, "idproc")
    eq(c.cmd("STATUS " + sid)["pid"], s["pid"],
       "idproc: connections and sessions are as before")
    everything_works(d, "idproc")
    eq(c.cmd("KILL " + sid)["state"], "STOPPED", "idproc: old connections "
       "go on")


def announcer_dies(d):
    c = d.client()
    sid, s = c.start(helper("sleeper"), until=b"ready")
    kill_role(d, "announcer")
    eq(c.cmd("STATUS " + sid)["pid"], s["pid"],
       "announcer: connections and sessions are as before")
    everything_works(d, "announcer")


def spawner_dies(d):
    c = d.client()
    trees = []
    for name, args, word in (("sleeper", "", b"ready"),
                             ("ignorer", "child", b"ready"),
                             ("orphan", "", b"lives")):
        sid, s = c.start(helper(name), args, until=word)
        trees.append(sid)
    c.upload(tar_of(("run", helper("hello"))), "run")
    kill_role(d, "spawner")
    for sid in trees:
        ok(wait_for(lambda: not session_processes(sid)),
           "spawner: its sessions end, the whole tree",
           session_processes(sid))
    r = wait_for(lambda: ask(d, "LIST") == [], 15)
    ok(r, "spawner: no session is left", ask(d, "LIST"))
    everything_works(d, "spawner")


def one_after_the_other(d):
    """All of them, twice, while a session runs and is followed."""
    c = served(d)
    sid, s = c.start(helper("flood"), "0 100000")
    at = 0
    for name in ("netproc", "launcher", "idproc", "announcer"):
        kill_role(d, name)
        c = served(d)
        r = ask(d, f"OUTPUT {sid} {at} base64")
        data = base64.b64decode(r["output"])
        want = b"".join(b"%015d\n" % i for i in range(
            r["offset"] // 16, (r["offset"] + len(data)) // 16 + 2))
        eq(data == want[r["offset"] % 16:][:len(data)] and
           r["total"] >= at, True, f"{name}: output is exact all the time")
        at = r["total"]
    eq(ask(d, "STATUS " + sid)["pid"], s["pid"], "the program is the same")
    eq(ask(d, "KILL " + sid)["state"], "STOPPED", "and can be ended")


def after_that(d):
    for name in ROLES:
        ok(d.children(name), f"{name} runs")
    everything_works(d, "all of them")


def back_off(mode):
    with Daemon(mode) as d:
        c = d.client()
        calm = c.cmd("VERSION")["roles"]

        def waits():
            return [int(x.split("starts again in ")[1].split()[0])
                    for x in d.log().splitlines() if "starts again in" in x]
        want = [100, 200, 400, 800, 1600]
        for _ in range(len(want) + 1):
            p = wait_for(lambda: d.role_pid("announcer"))
            os.kill(p, signal.SIGKILL)
            wait_for(lambda: d.role_pid("announcer") != p)
        # a process is gone before its parent says so
        wait_for(lambda: len(waits()) >= len(want))
        ok(wait_for(lambda: c.cmd("VERSION")["roles"] != calm, 1),
           "VERSION shows a back-off")
        eq(waits(), want, "the first restart is at once, then after 100 ms, "
           "doubling")
        ok(wait_for(lambda: c.cmd("VERSION")["roles"] == calm),
           "VERSION shows its end")


def parent_dies(mode):
    """kill -9 of the parent: nothing outlives it, a new one starts."""
    with Daemon(mode) as d:
        c = d.client()
        trees = [c.start(helper("ignorer"), "child", until=b"ready")[0],
                 c.start(helper("orphan"), until=b"lives")[0]]
        procs = d.processes()
        d.proc.kill()
        d.proc.wait()
        ok(wait_for(lambda: not [p for p in procs if alive(p)]),
           "parent: its children end", [status_of(p).get("Name") for p in
                                        procs if alive(p)])
        for sid in trees:
            ok(wait_for(lambda: not session_processes(sid)),
               "parent: its sessions end")
        d.start()
        eq(d.client().cmd("LIST"), [], "parent: a new one takes the port")


def death_is_no_way_to_stop_it(mode):
    """A child that dies again and again does not end the daemon."""
    with Daemon(mode) as d:
        c = d.client()
        for _ in range(4):
            p = wait_for(lambda: d.role_pid("idproc"))
            os.kill(p, signal.SIGKILL)
            wait_for(lambda: d.role_pid("idproc") not in (None, p))
        eq(c.cmd("LIST"), [], "connections of before are served")
        served(d)
        eq(d.proc.poll(), None, "the daemon lives")


run_tests(
    in_modes(
        netproc_dies, netproc_dies_in_an_upload,
        netproc_dies_with_a_debug_port, netproc_dies_while_stopping,
        calm=False, conf="stop-timeout 1\n"),
    in_modes(
        launcher_dies, launchers_die_in_turn, launcher_dies_while_stopping,
        launcher_dies_with_bundles, launcher_dies_while_debugging,
        calm=False, conf="stop-timeout 1\n"),
    in_modes(idproc_dies, announcer_dies, spawner_dies, one_after_the_other,
             after_that, calm=False, conf="stop-timeout 1\n"),
    alone(back_off), alone(parent_dies), alone(death_is_no_way_to_stop_it))
