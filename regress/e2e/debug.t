#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Sessions under a real gdb: by port and by pipe, images and bundles, and
# what is left when any side goes away.
import glob
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (AS_ROOT, BIN, BOB, Daemon, Prober, alive, alone, connect, eq,
                helper, in_modes, narrow, loopbacks, ok, read_proc, run_tests,
                runs_narrow, session_processes, stat_of, status_of, tar_of,
                wait_for)


def user(d):
    """Whoever asks: debug ports are for the session's owner alone."""
    return d.uid


def gdb(d, *commands, port=None, pipe=None, uid=None, timeout=60,
        program="target"):
    argv = ["gdb", "-nx", "-q", "-batch", "-iex", "set confirm off",
            "-iex", "set auto-load off", "-iex", "set debuginfod enabled off",
            "-ex", "set sysroot /"]
    if port is not None:
        argv += ["-ex", f"target remote 127.0.0.1:{port}"]
    if pipe is not None:
        argv += ["-ex", f"target remote | {BIN}/debuglanternctl gdb-pipe "
                 f"{pipe}"]
    for c in commands:
        argv += ["-ex", c]
    argv.append(helper(program))
    env = dict(d.env, DEBUGLANTERN_TARGET=f"127.0.0.1:{d.port}")
    kw = {}
    who = user(d) if uid is None else uid
    if who is not None and AS_ROOT:
        kw = dict(user=who, group=who, extra_groups=[])
    r = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, cwd="/",
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                       timeout=timeout, **kw)
    return r.stdout.decode(errors="replace")


def state(c, sid):
    return c.cmd("STATUS " + sid)


def becomes(c, sid, what, seconds=15):
    return wait_for(lambda: state(c, sid)["state"] == what, seconds)


def gdbservers(d):
    """The gdbserver processes below this daemon."""
    return [p for p in d.processes()
            if (stat_of(p) or ("",))[0] == "gdbserver"]


def ports_open(port):
    """Whether anybody listens there, without making a connection."""
    want = f":{port:04X}"
    for name in glob.glob("/proc/net/tcp*"):
        with open(name) as f:
            for line in f.readlines()[1:]:
                w = line.split()
                if w[1].endswith(want) and w[3] == "0A":
                    return True
    return False


def is_target(pid):
    """The program's process runs our image or the bundle's file."""
    st = status_of(pid)
    return bool(st) and "gdbserver" not in st["Name"] and \
        st["Name"] != "stub"


# --- the whole loop ------------------------------------------------------

def loop_of_a_start_debug(d, upload, kind):
    c = d.client()
    sid = upload(c)
    c.cmd(f"ARGS {sid} one")
    r = c.cmd(f"START {sid} --debug")
    eq(r.get("state"), "DEBUGGING", f"{kind}: START --debug")
    ok(r.get("debug_port") and is_target(r["pid"]),
       f"{kind}: START --debug: a port, and the program's pid", r)
    eq(c.output(sid), b"", f"{kind}: it stands at its first instruction")
    out = gdb(d, "break tick", "continue", "print step", "backtrace 2",
              "delete", "detach", port=r["debug_port"])
    ok("Breakpoint 1, tick (step=2)" in out and "$1 = 2" in out and
       "main" in out, f"{kind}: gdb breaks in a function and sees its "
       "arguments", out)
    ok(becomes(c, sid, "RUNNING"), f"{kind}: detach makes it RUNNING",
       state(c, sid))
    s = state(c, sid)
    eq((s["pid"], s["debug_port"]), (r["pid"], None),
       f"{kind}: the same pid, no port")
    ok(wait_for(lambda: not ports_open(r["debug_port"])),
       f"{kind}: the port is closed")
    c.until(sid, b"target one\n")
    # again, on the running program
    r = c.cmd("DEBUG " + sid)
    eq((r.get("state"), r.get("pid")), ("DEBUGGING", s["pid"]),
       f"{kind}: DEBUG again, pid is the program's")
    out = gdb(d, "print go_on", "set var go_on = 0", "detach",
              port=r["debug_port"])
    ok("= 1" in out, f"{kind}: gdb reads and writes a running program", out)
    s = c.cmd(f"WAIT {sid} 20")
    eq((s["state"], s["exit_code"]), ("STOPPED", 42),
       f"{kind}: it ends as gdb made it")
    eq(c.output(sid), b"target one\nreleased\n", f"{kind}: its output")


def start_debug_of_an_image(d):
    loop_of_a_start_debug(d, lambda c: c.upload(helper("target"))["id"],
                          "image")


def start_debug_of_a_bundle(d):
    loop_of_a_start_debug(d, lambda c: c.upload(
        tar_of(("bin/target", helper("target"))), "bin/target")["id"],
        "bundle")


def a_program_under_gdbserver_has_its_name(d):
    """argv[0] and comm, in each sandbox: as without."""
    c = d.client()
    for kind in ("none", "namespaces", "tmpfs"):
        sid = c.upload(helper("inside"), file="by-name")["id"]
        r = c.cmd(f"START {sid} --debug --sandbox {kind}")
        eq(status_of(r["pid"])["Name"], "by-name", f"{kind}: comm, at its "
           "first instruction")
        gdb(d, "detach", port=r["debug_port"], program="inside")
        c.cmd(f"WAIT {sid} 20")
        out = c.output(sid)
        ok(b"\nargv0=by-name\n" in out and b"\nstatus.Name=by-name\n" in out,
           f"{kind}: argv[0] and comm, when it has run", out[:300])
        c.cmd(f"DELETE {sid}")


def gdb_of_a_32_bit_program(d):
    """gdbserver sees it as what it is, from its start and while it runs."""
    c = d.client()
    sid = c.upload(narrow(), file="narrow")["id"]
    c.cmd(f"ARGS {sid} spin")
    r = c.cmd(f"START {sid} --debug")
    out = gdb(d, "break spin", "continue", "print more", "print turns",
              "info registers eip", "delete", "detach",
              port=r["debug_port"], program=narrow())
    ok("Breakpoint 1, spin (more=1)" in out and "$1 = 1" in out and
       "$2 = 0" in out and "<spin>" in out,
       "START --debug: a breakpoint, an argument, a variable, a register",
       out)
    r = c.cmd("DEBUG " + sid)
    out = gdb(d, "backtrace", "print turns > 0", "detach",
              port=r["debug_port"], program=narrow())
    ok("begin (" in out and "$1 = 1" in out, "DEBUG: its stack, and where it "
       "is", out)
    ok(becomes(c, sid, "RUNNING"), "detached it goes on")
    c.cmd("KILL " + sid)


def calls_leave_all_registers_as_they_were(d):
    """gdb calls functions of the program, whatever processor this is."""
    source = os.path.join(os.path.dirname(__file__), "../helpers/floats.c")
    with open(source) as f:
        line = 1 + [bool("stop */" in x) for x in f].index(True)
    c = d.client()
    undebugged = subprocess.run([helper("floats")],
                                stdout=subprocess.PIPE).stdout
    for kind in ("none", "namespaces", "tmpfs"):
        sid = c.upload(helper("floats"))["id"]
        r = c.cmd(f"START {sid} --debug --sandbox {kind}")
        out = gdb(d, f"break floats.c:{line}", "ignore 1 3", "continue",
                  "print square(3.0)", "call clobber()", "delete",
                  "continue", port=r.get("debug_port"), program="floats")
        ok("$1 = 9\n" in out, f"{kind}: with its argument and result", out)
        c.cmd(f"WAIT {sid} 20")
        eq(c.output(sid), undebugged, f"{kind}: the program goes on "
           "with the numbers that it had")


def few_descriptors_are_enough_for_gdbserver(d):
    """Its limit is the session's, and what starts it needs no more."""
    c = d.client()
    sid = c.upload(helper("target"))["id"]
    c.cmd(f"LIMITS {sid} nofile=12")
    r = c.cmd(f"START {sid} --debug")
    out = gdb(d, "break tick", "continue", "print step", "kill",
              port=r.get("debug_port"))
    ok("$1 = 2" in out, "START --debug with nofile=12", (r, out))
    c.cmd("KILL " + sid)


def a_gdbserver_keeps_nothing_of_what_it_was_given(d):
    """What is loaded into it neither leaves an fd nor reaches others."""
    c = d.client()
    sid = c.upload(helper("target"))["id"]
    c.cmd(f"START {sid} --debug")
    pid, = gdbservers(d)
    fds = {f: os.readlink(f"/proc/{pid}/fd/{f}")
           for f in os.listdir(f"/proc/{pid}/fd")}
    eq([f for f, to in fds.items() if "xstate" in to], [], "no fd of it")
    c.cmd("KILL " + sid)


def every_sandbox(d):
    c = d.client()
    for kind in ("none", "namespaces", "tmpfs"):
        sid = c.upload(helper("target"))["id"]
        r = c.cmd(f"START {sid} --debug --sandbox {kind}")
        out = gdb(d, "break tick", "continue", "print step",
                  "set var go_on = 0", "delete", "continue",
                  port=r.get("debug_port"))
        ok("$1 = 2" in out, f"{kind}: START --debug, break, continue", out)
        s = c.cmd(f"WAIT {sid} 20")
        eq((s["state"], s["exit_code"]), ("STOPPED", 42),
           f"{kind}: continued to its end under gdb")
        ok(wait_for(lambda: state(c, sid)["debug_port"] is None),
           f"{kind}: no port is left")


def start_debug_with_private_network(d):
    c = d.client()
    sid = c.upload(helper("target"))["id"]
    r = c.cmd(f"START {sid} --debug --network none")
    out = gdb(d, "break tick", "continue", "print step", "kill",
              port=r.get("debug_port"))
    ok("$1 = 2" in out, "a session without network can be debugged", out)
    c.cmd(f"WAIT {sid} 20")


def gdb_kills_the_program(d):
    c = d.client()
    sid, _ = c.start(helper("target"), until=b"target")
    r = c.cmd("DEBUG " + sid)
    gdb(d, "kill", port=r["debug_port"])
    s = c.cmd(f"WAIT {sid} 20")
    eq((s["state"], s["signal"], s["debug_port"]),
       ("STOPPED", "SIGKILL", None), "gdb's kill ends the session")


def gdb_without_detach(d):
    """gdb goes away without a word: the program runs on or has ended."""
    c = d.client()
    sid, _ = c.start(helper("target"), until=b"target")
    r = c.cmd("DEBUG " + sid)
    s = connect("127.0.0.1", r["debug_port"], user(d), 10)
    s.sendall(b"+$?#3f")
    ok(s.recv(100), "gdbserver answers")
    s.close()
    ok(wait_for(lambda: state(c, sid)["state"] in ("RUNNING", "STOPPED")),
       "a debugger that vanishes gives the session back", state(c, sid))
    eq(state(c, sid)["state"], "RUNNING", "and the program runs on")
    t = c.cmd("DEBUG " + sid)
    eq(t.get("state"), "DEBUGGING", "and can be debugged again")


def pipe_through_the_daemon(d):
    c = d.client()
    sid, _ = c.start(helper("target"), until=b"target")
    out = gdb(d, "break tick", "continue", "print step", "delete", "detach",
              pipe=sid)
    ok("$1 = 2" in out, "debuglanternctl gdb-pipe to a running session", out)
    ok(becomes(c, sid, "RUNNING"), "gdb-pipe: RUNNING after detach")
    r = c.cmd("DEBUG " + sid)
    out = gdb(d, "print go_on", "detach", pipe=sid)
    ok("$1 = 1" in out or "already" in out, "gdb-pipe beside an open port",
       out)
    c.cmd("KILL " + sid)


def ctl_gdb(d):
    """debuglanternctl gdb ID: one command from a loaded session to gdb."""
    c = d.client()
    sid = c.upload(helper("target"))["id"]
    r = d.ctl("gdb", sid, "--symbols", helper("target"), "--", "-nx",
              "-batch", "-ex", "break tick", "-ex", "continue", "-ex",
              "print step", "-ex", "kill", stdin=subprocess.DEVNULL)
    ok(b"$1 = 2" in r.stdout, "debuglanternctl gdb: starts, connects, breaks",
       r.stdout + r.stderr)


# --- errors --------------------------------------------------------------

def debug_twice(d):
    c = d.client()
    sid, _ = c.start(helper("target"), until=b"target")
    r = c.cmd("DEBUG " + sid)
    again = c.cmd("DEBUG " + sid)
    eq(again.get("error_code"), "already_debugging", "DEBUG of a debugged one")
    eq(state(c, sid)["debug_port"], r["debug_port"], "the first is untouched")
    c.cmd("KILL " + sid)


def gdbserver_missing(mode):
    with Daemon(mode, "gdbserver /nonexistent/gdbserver\n") as d:
        c = d.client()
        sid, _ = c.start(helper("target"), until=b"target")
        r = c.cmd("DEBUG " + sid)
        eq(r.get("error_code"), "debug_failed",
           "gdbserver missing: an error in the answer, not success")
        ok("gdbserver" in r.get("message", ""), "it says what is missing", r)
        s = state(c, sid)
        eq((s["state"], s["debug_port"]), ("RUNNING", None),
           "the program runs on")
        c.cmd("KILL " + sid)
        r = c.cmd(f"START {sid} --debug")
        eq(r.get("error_code"), "debug_failed", "START --debug too")
        ok(becomes(c, sid, "STOPPED"), "and nothing is running",
           state(c, sid))
        eq(session_processes(sid), [], "no process is left")
        deps = {x["name"]: x for x in c.cmd("DEPS")["deps"]}
        eq(deps["gdbserver"]["available"], False, "DEPS says so")


def gdbserver_that_fails(mode):
    """/bin/false in its place: says nothing and ends."""
    with Daemon(mode, "gdbserver /bin/false\n") as d:
        c = d.client()
        sid, _ = c.start(helper("target"), until=b"target")
        r = c.cmd("DEBUG " + sid)
        eq(r.get("error_code"), "debug_failed", "a gdbserver that fails")
        eq(state(c, sid)["state"], "RUNNING", "the program runs on")
        c.cmd("KILL " + sid)


# --- ends ----------------------------------------------------------------

def kill_while_attached(d):
    c = d.client()
    for verb in ("KILL", "STOP"):
        sid, s = c.start(helper("target"), until=b"target")
        r = c.cmd("DEBUG " + sid)
        port = r["debug_port"]
        conn = connect("127.0.0.1", port, user(d), 10)
        conn.sendall(b"+$?#3f")
        conn.recv(100)
        mine = gdbservers(d)
        eq(len(mine), 1, f"{verb} while attached: a gdbserver before")
        r = c.cmd(f"{verb} {sid}")
        eq((r.get("state"), r.get("pid"), r.get("debug_port")),
           ("STOPPED", None, None), f"{verb} while attached: STOPPED")
        ok(wait_for(lambda: not [p for p in mine if alive(p)]),
           f"{verb} while attached: no gdbserver is left")
        ok(wait_for(lambda: not [p for p in mine if stat_of(p)]),
           f"{verb} while attached: no zombie is left")
        eq(session_processes(sid), [], f"{verb} while attached: nothing is "
           "left of the session")
        ok(wait_for(lambda: not ports_open(port)),
           f"{verb} while attached: the port is closed")
        conn.settimeout(10)
        try:
            while conn.recv(1000):
                pass
        except ConnectionError:
            pass
        conn.close()
        r = c.cmd(f"START {sid} --debug")
        eq(r.get("state"), "DEBUGGING", "and it can be started again")
        c.cmd("KILL " + sid)
        c.cmd("DELETE " + sid)


def kill_before_anybody_connects(d):
    c = d.client()
    sid = c.upload(helper("target"))["id"]
    r = c.cmd(f"START {sid} --debug")
    port = r["debug_port"]
    ok(ports_open(port), "the port is open")
    eq(c.cmd("KILL " + sid).get("state"), "STOPPED", "KILL before a debugger")
    ok(wait_for(lambda: not ports_open(port)), "the port is closed")
    eq(session_processes(sid), [], "nothing is left")


def program_ends_while_attached(d):
    c = d.client()
    sid, s = c.start(helper("target"), until=b"target")
    r = c.cmd("DEBUG " + sid)
    out = gdb(d, "set var go_on = 0", "continue", port=r["debug_port"])
    ok("exited with code 052" in out, "gdb sees the exit code", out)
    s = c.cmd(f"WAIT {sid} 20")
    eq((s["state"], s["exit_code"], s["debug_port"]), ("STOPPED", 42, None),
       "and so does the session")


def delete_of_a_debugged(d):
    c = d.client()
    sid, _ = c.start(helper("target"), until=b"target")
    c.cmd("DEBUG " + sid)
    eq(c.cmd("DELETE " + sid).get("error_code"), "session_running",
       "DELETE of a DEBUGGING session is refused")
    c.cmd("KILL " + sid)


# --- the port ------------------------------------------------------------

def port_takes_one_connection(d):
    c = d.client()
    sid, _ = c.start(helper("target"), until=b"target")
    port = c.cmd("DEBUG " + sid)["debug_port"]
    first = connect("127.0.0.1", port, user(d), 10)
    first.sendall(b"+$?#3f")
    ok(first.recv(100), "the first connection talks to gdbserver")
    ok(wait_for(lambda: not ports_open(port)), "the port closes after it")
    try:
        connect("127.0.0.1", port, user(d), 5).close()
        second = "taken"
    except OSError:
        second = "refused"
    eq(second, "refused", "a second connection is refused")
    first.close()


def port_is_on_the_address_of_the_requester(d):
    for host in loopbacks("127.0.0.1", "::1"):
        c = d.client(host=host)
        sid, _ = c.start(helper("target"), until=b"target")
        port = c.cmd("DEBUG " + sid)["debug_port"]
        lines = []
        for name in glob.glob("/proc/net/tcp*"):
            with open(name) as f:
                lines += [x.split()[1] for x in f.readlines()[1:] if
                          x.split()[3] == "0A" and
                          x.split()[1].endswith(f":{port:04X}")]
        eq([x.rsplit(":", 1)[0] for x in lines],
           ["0100007F" if host == "127.0.0.1" else
            "0" * 24 + "01000000"], f"{host}: the port is on it, on nothing "
           "else")
        c.cmd("KILL " + sid)


def foreigner_on_the_port(d):
    """Another user's connection is dropped and the slot stays free."""
    if not AS_ROOT:
        return
    c = d.client()
    sid, _ = c.start(helper("target"), until=b"target")
    port = c.cmd("DEBUG " + sid)["debug_port"]
    for _ in range(3):
        s = connect("127.0.0.1", port, BOB, 10)
        s.settimeout(10)
        try:
            s.sendall(b"+$?#3f")
            got = s.recv(100)
        except ConnectionError:
            got = b""
        eq(got, b"", "another user on the debug port gets nothing")
        s.close()
    out = gdb(d, "print go_on", "detach", port=port)
    ok("$1 = 1" in out, "the owner still gets it", out)
    c.cmd("KILL " + sid)


def session_on_its_own_port(d):
    """A program in a session is nobody's debugger."""
    c = d.client()
    sid, _ = c.start(helper("target"), until=b"target")
    port = c.cmd("DEBUG " + sid)["debug_port"]
    spy = c.upload(helper("connects"))["id"]
    c.cmd(f"ARGS {spy} 127.0.0.1 {port}")
    c.cmd("START " + spy)
    c.cmd(f"WAIT {spy} 20")
    ok(b"got" not in c.output(spy), "a session that connects to a debug "
       "port gets nothing", c.output(spy))
    out = gdb(d, "print go_on", "detach", port=port)
    ok("$1 = 1" in out, "the owner still gets it", out)
    c.cmd("KILL " + sid)


def port_closes_after_debug_timeout(mode):
    # long enough for a gdb to start and connect on a busy machine
    with Daemon(mode, "debug-timeout 3\n") as d:
        c = d.client()
        sid, _ = c.start(helper("target"), until=b"target")
        port = c.cmd("DEBUG " + sid)["debug_port"]
        ok(becomes(c, sid, "RUNNING"), "after debug-timeout: RUNNING again",
           state(c, sid))
        eq((ports_open(port), state(c, sid)["debug_port"]), (False, None),
           "after debug-timeout: the port is closed")
        r = c.cmd("DEBUG " + sid)
        out = gdb(d, "print go_on", "detach", port=r.get("debug_port"))
        ok("$1 = 1" in out, "and DEBUG works again", out)
        # gdb is gone a moment earlier than gdbserver
        becomes(c, sid, "RUNNING")
        r = c.cmd("DEBUG " + sid)
        s = connect("127.0.0.1", r["debug_port"], user(d), 10)
        s.sendall(b"+$?#3f")
        s.recv(100)
        time.sleep(4)
        eq(state(c, sid)["state"], "DEBUGGING",
           "an attached debugger may stay longer")
        s.close()
        c.cmd("KILL " + sid)


def asker_leaves(d):
    """The port outlives the connection that asked for it."""
    c, e = d.client(), d.client()
    sid, _ = c.start(helper("target"), until=b"target")
    port = e.cmd("DEBUG " + sid)["debug_port"]
    e.close()
    out = gdb(d, "print go_on", "detach", port=port)
    ok("$1 = 1" in out, "the port outlives who asked for it", out)
    c.cmd("KILL " + sid)


def files_through_the_debug_port(d):
    """gdb can fetch files by gdbserver: those of the session's user only."""
    c = d.client()
    sid, _ = c.start(helper("target"), until=b"target")
    r = c.cmd("DEBUG " + sid)
    to = os.path.join(d.dir, "home", "fetched")
    out = gdb(d, f"remote get /etc/hostname {to}", "shell echo between",
              f"remote get /etc/shadow {to}", "detach",
              port=r["debug_port"])
    ok("Permission denied" in out.split("between")[1],
       "remote get /etc/shadow: permission denied", out)
    c.cmd("KILL " + sid)


def gdbserver_is_confined(d):
    """It counts as hostile: same user, no rights, in the namespaces."""
    c = d.client()
    sid, s = c.start(helper("target"), until=b"target")
    c.cmd(f"LIMITS {sid} nofile=70 cpu=1000")
    r = c.cmd("DEBUG " + sid)
    mine = gdbservers(d)
    eq(len(mine), 1, "one gdbserver")
    have = read_proc(mine[0], "limits").decode()
    eq(re.findall(r"Max (?:cpu time|open files) +(\d+) ", have),
       ["1000", "70"], "gdbserver: the session's limits")
    st = status_of(mine[0])
    eq(st["Uid"], status_of(s["pid"])["Uid"], "gdbserver: the owner's")
    eq([st[k] for k in ("NoNewPrivs", "Seccomp", "CapInh", "CapAmb")],
       ["1", "2", "0" * 16, "0" * 16], "gdbserver: no_new_privs, filter, "
       "no ambient rights")
    if AS_ROOT:
        for ns in ("user", "pid", "mnt"):
            eq(os.readlink(f"/proc/{mine[0]}/ns/{ns}"),
               os.readlink(f"/proc/{s['pid']}/ns/{ns}"),
               f"gdbserver: the session's {ns} namespace")
        fds = [os.readlink(f"/proc/{mine[0]}/fd/{x}")
               for x in os.listdir(f"/proc/{mine[0]}/fd")]
        bad = [x for x in fds if "memfd" in x or "eventpoll" in x]
        eq(bad, [], "gdbserver: no fd of the daemon")
    with Prober(d) as others:
        gdb(d, "detach", port=r["debug_port"])
        others.check("debugging: nobody else waits")
    c.cmd("KILL " + sid)


run_tests(
    in_modes(
        start_debug_of_an_image, start_debug_of_a_bundle, every_sandbox,
        a_program_under_gdbserver_has_its_name,
        *([gdb_of_a_32_bit_program] if runs_narrow() else []),
        calls_leave_all_registers_as_they_were,
        few_descriptors_are_enough_for_gdbserver,
        a_gdbserver_keeps_nothing_of_what_it_was_given,
        start_debug_with_private_network, gdb_kills_the_program,
        gdb_without_detach, pipe_through_the_daemon, ctl_gdb, debug_twice,
        kill_while_attached,
        kill_before_anybody_connects, program_ends_while_attached,
        delete_of_a_debugged, port_takes_one_connection,
        port_is_on_the_address_of_the_requester, foreigner_on_the_port,
        session_on_its_own_port, asker_leaves,
        files_through_the_debug_port, gdbserver_is_confined,
        conf="allow-sandbox none, namespaces, tmpfs\nstop-timeout 2\n"),
    alone(gdbserver_missing), alone(gdbserver_that_fails),
    alone(port_closes_after_debug_timeout))
