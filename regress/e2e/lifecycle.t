#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The life of a session: starts that fail, ends of every kind, signals,
# input, arguments, environment, limits, and what is left behind.
import base64
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (Daemon, Prober, alive, alone, attempt, eq, helper,
                in_modes, ok, read_helper, read_proc, run_tests,
                session_processes, wait_for)


def ended(s):
    return s.get("state"), s.get("exit_code"), s.get("signal"), s.get("pid")


# --- STOP and KILL -------------------------------------------------------

def stop_answers_when_stopped(d):
    c = d.client()
    sid, s = c.start(helper("sleeper"), until=b"ready")
    r = c.cmd("STOP " + sid)
    eq(ended(r), ("STOPPED", None, "SIGTERM", None),
       "STOP answers STOPPED, not RUNNING")
    eq(alive(s["pid"]), False, "STOP: the process is gone by then")
    sid, s = c.start(helper("handler"), until=b"ready")
    r = c.cmd("STOP " + sid)
    eq(ended(r), ("STOPPED", 3, None, None),
       "STOP: a program that ends in its own way has its exit code")
    ok(c.output(sid).endswith(b"bye\n"), "STOP: and its last words are there",
       c.output(sid))


def stop_escalates_for_a_sigterm_ignorer(d):
    c = d.client()
    for args in ("", "child"):
        sid, s = c.start(helper("ignorer"), args, until=b"ready")
        with Prober(d) as others:
            t = time.monotonic()
            r = c.cmd("STOP " + sid)
            took = time.monotonic() - t
            eq(ended(r), ("STOPPED", None, "SIGKILL", None),
               f"STOP of a SIGTERM-ignorer {args}: SIGKILL after "
               "stop-timeout")
            ok(0.9 < took < 10, "STOP of a SIGTERM-ignorer: stop-timeout is "
               "1 s", took)
            others.check("STOP of a SIGTERM-ignorer: nobody else waits")
        eq(session_processes(sid), [], "STOP: the whole tree is gone")


def stop_answers_everybody(d):
    c, e, f = d.client(), d.client(), d.client()
    sid, _ = c.start(helper("ignorer"), until=b"ready")
    for x in (c, e):
        x.send(f"STOP {sid}\n")
    f.send(f"WAIT {sid} 20\n")
    eq([ended(x.json())[0] for x in (c, e, f)], ["STOPPED"] * 3,
       "two STOPs and a WAIT of one session are all answered")


def kill_while_stopping(d):
    c, e = d.client(), d.client()
    sid, _ = c.start(helper("ignorer"), until=b"ready")
    c.send(f"STOP {sid}\n")
    eq(ended(e.cmd("KILL " + sid))[0], "STOPPED", "KILL during STOP")
    eq(c.json()["state"], "STOPPED", "and the STOP is answered too")


def kill_answers_when_stopped(d):
    c = d.client()
    sid, s = c.start(helper("ignorer"), "child", until=b"ready")
    r = c.cmd("KILL " + sid)
    eq(ended(r), ("STOPPED", None, "SIGKILL", None),
       "KILL answers STOPPED, not RUNNING")
    eq((alive(s["pid"]), session_processes(sid)), (False, []),
       "KILL: the whole tree is gone by then")


def stop_of_a_stopped_program(d):
    c = d.client()
    sid, s = c.start(helper("handler"), until=b"ready")
    c.cmd(f"SIGNAL {sid} STOP")
    wait_for(lambda: read_proc(s["pid"], "stat").split()[2:3] == [b"T"])
    eq(ended(c.cmd("STOP " + sid))[:2], ("STOPPED", 3),
       "STOP wakes a program that SIGSTOP holds")


def disconnect_while_stopping(d):
    c, e = d.client(), d.client()
    sid, _ = c.start(helper("ignorer"), until=b"ready")
    c.send(f"STOP {sid}\n")
    c.close()
    eq(e.cmd(f"WAIT {sid} 20")["state"], "STOPPED",
       "a STOP whose asker has gone is carried out")


# --- ends ----------------------------------------------------------------

def exit_codes_and_signals(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    for code in (0, 1, 77, 255):
        c.cmd(f"ENV {sid} STATUS={code}")
        c.cmd("START " + sid)
        eq(ended(c.cmd(f"WAIT {sid} 20")), ("STOPPED", code, None, None),
           f"exit code {code}")
    sid = c.upload(helper("crash"))["id"]
    for how, want in (("segv", "SIGSEGV"), ("abort", "SIGABRT"),
                      ("fpe", "SIGFPE"), ("9", "SIGKILL"),
                      ("15", "SIGTERM"), ("10", "SIGUSR1")):
        c.cmd(f"ARGS {sid} {how}")
        c.cmd("START " + sid)
        eq(ended(c.cmd(f"WAIT {sid} 20")), ("STOPPED", None, want, None),
           f"{how} is reported as {want}")
        eq(c.output(sid), b"crashing\n", f"{how}: what it said before")


def exits_are_seen_without_asking(d):
    c = d.client()
    sid, s = c.start(helper("sleeper"), "1", until=b"ready")
    ok(wait_for(lambda: c.cmd("STATUS " + sid)["state"] == "STOPPED"),
       "STATUS becomes STOPPED by itself")


def output_complete_at_the_first_stopped(d):
    c = d.client()
    sid = c.upload(helper("printer"))["id"]
    want = b"".join(b"line %03d of two hundred\n" % i for i in range(200))
    want += b"the end\n"
    short = 0
    for _ in range(200):
        c.cmd("START " + sid)
        while c.cmd("STATUS " + sid)["state"] != "STOPPED":
            pass
        short += c.output(sid) != want
    eq(short, 0, "the output is complete at the first STOPPED, 200 times")


def leader_exits_while_a_grandchild_lives(d):
    c = d.client()
    sid, _ = c.start(helper("orphan"), until=b"lives")
    s = wait_for(lambda: (lambda s: s if s["exit_code"] is not None else
                          None)(c.cmd("STATUS " + sid)))
    eq(ended(s), ("RUNNING", 7, None, None),
       "leader exits, grandchild lives: RUNNING with its exit code, no pid")
    eq(c.cmd("START " + sid).get("error_code"), "already_running",
       "leader exits, grandchild lives: no second run beside it")
    eq(len(session_processes(sid)) >= 1, True, "the grandchild lives")
    s = c.cmd("STOP " + sid)
    eq(ended(s)[:2], ("STOPPED", 7), "leader exits: STOP ends the grandchild")
    eq(session_processes(sid), [], "leader exits: nothing is left")
    eq(c.output(sid), b"grandchild lives\ngrandchild ends\n",
       "leader exits: the grandchild's output belongs to this run")
    c.cmd("START " + sid)
    c.until(sid, b"lives")
    eq(c.output(sid), b"grandchild lives\n",
       "leader exits: no output is mixed into the next run")
    eq(c.cmd("KILL " + sid)["state"], "STOPPED",
       "leader exits: KILL ends the grandchild")
    eq(session_processes(sid), [], "leader exits: nothing is left after KILL")


def main_thread_exits_first(d):
    c = d.client()
    sid, s = c.run(helper("threads"))
    eq((ended(s)[:2], c.output(sid)), (("STOPPED", 5), b"second\n"),
       "a main thread that ends before the others is no end")


def restart_keeps_and_clears(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    c.cmd(f"ARGS {sid} one two")
    c.cmd(f"ENV {sid} STATUS=4")
    for i in range(3):
        c.cmd("START " + sid)
        s = c.cmd(f"WAIT {sid} 20")
        eq((ended(s)[:2], c.output(sid)), (("STOPPED", 4), b"[one] [two]\n"),
           f"run {i + 1}: same arguments and variables, output of this run")
    c.cmd(f"ARGS {sid} three")
    eq(c.output(sid), b"[one] [two]\n", "output is kept until the next start")


def a_stale_end_harms_nobody(d):
    """Many short runs beside one long: only the short ones end."""
    c = d.client()
    long, s = c.start(helper("sleeper"), until=b"ready")
    sid = c.upload(helper("hello"))["id"]
    other = c.upload(helper("hello"))["id"]
    for _ in range(30):
        c.cmd("START " + sid)
        c.cmd(f"WAIT {sid} 20")
        c.cmd("DELETE " + other)
        other = c.upload(helper("hello"))["id"]
    r = c.cmd("STATUS " + long)
    eq((r["state"], r["pid"]), ("RUNNING", s["pid"]),
       "ends of others leave an innocent session alone")
    c.cmd("START " + other)
    eq(ended(c.cmd(f"WAIT {other} 20"))[:2], ("STOPPED", 0),
       "and its image too")


# --- DELETE, WAIT, SIGNAL, NAME ------------------------------------------

def delete_rules(d):
    c = d.client()
    sid, _ = c.start(helper("sleeper"), until=b"ready")
    eq(c.cmd("DELETE " + sid)["error_code"], "session_running",
       "DELETE of a running session is refused")
    eq(c.cmd("STATUS " + sid)["state"], "RUNNING", "and changes nothing")
    c.cmd("KILL " + sid)
    eq(c.cmd("DELETE " + sid)["state"], "DELETED", "DELETE of a stopped one")
    eq(c.cmd("LIST"), [], "it is gone")
    sid = c.upload(helper("hello"))["id"]
    eq(c.cmd("DELETE " + sid)["state"], "DELETED", "DELETE of a loaded one")


def delete_under_a_waiter(d):
    c, e = d.client(), d.client()
    sid = c.upload(helper("hello"))["id"]
    e.send(f"FOLLOW {sid}\n")
    c.cmd("VERSION")
    c.cmd("DELETE " + sid)
    ok(e.recv_line(), "FOLLOW of a session that is deleted comes to an end")
    eq(e.cmd("LIST"), [], "and its connection goes on")


def wait_command(d):
    c = d.client()
    sid, _ = c.start(helper("sleeper"), until=b"ready")
    t = time.monotonic()
    r = c.cmd(f"WAIT {sid} 1")
    ok(r.get("state", "RUNNING") == "RUNNING" and
       0.9 < time.monotonic() - t < 10, "WAIT with a time gives up", r)
    e = d.client()
    e.send(f"WAIT {sid}\nLIST\n")
    c.cmd("STOP " + sid)
    eq(ended(e.json()), ("STOPPED", None, "SIGTERM", None),
       "WAIT answers when the session ends")
    eq(len(e.json()), 1, "and the pipelined command after it")
    eq(c.cmd(f"WAIT {sid}")["state"], "STOPPED",
       "WAIT of a stopped session answers at once")


def signal_command(d):
    c = d.client()
    sid, _ = c.start(helper("handler"), until=b"ready")
    for name, want in (("USR1", b"USR1\n"), ("SIGUSR2", b"USR2\n"),
                       ("18", b"CONT\n")):
        r = c.cmd(f"SIGNAL {sid} {name}")
        eq(r.get("state"), "RUNNING", f"SIGNAL {name}")
        c.until(sid, want)
    for bad in ("USR9", "0", "65", "-1", "SIG", "TERM x"):
        ok(c.cmd(f"SIGNAL {sid} {bad}").get("ok") is False,
           f"SIGNAL {bad}: refused")
    c.cmd(f"SIGNAL {sid} TERM")
    eq(ended(c.cmd(f"WAIT {sid} 20"))[:2], ("STOPPED", 3), "SIGNAL TERM")


def signal_reaches_the_program_only(d):
    c = d.client()
    sid, s = c.start(helper("family"), "2", until=b"ready")
    c.cmd(f"SIGNAL {sid} KILL")
    wait_for(lambda: not alive(s["pid"]))
    s = wait_for(lambda: (lambda s: s if s["signal"] else None)(
        c.cmd("STATUS " + sid)))
    eq((s["state"], s["signal"]), ("RUNNING", "SIGKILL"),
       "SIGNAL reaches the program, not its children")
    c.cmd("KILL " + sid)


# --- input, environment, arguments ---------------------------------------

def input_and_eof(d):
    c = d.client()
    sid, _ = c.start(helper("echo"))
    blob = bytes(range(256)) * 8
    c.send(b"INPUT %s %d\n" % (sid.encode(), len(blob)) + blob)
    r = c.json()
    ok(r.get("ok", True) is True, "INPUT: accepted", r)
    c.until(sid, blob)
    c.send(b"INPUT %s 6\nLIST\n\nLIST\n" % sid.encode())
    c.json()
    eq(len(c.json()), 1, "INPUT, its bytes and the next command in one write")
    r = c.cmd(f"INPUT {sid} eof")
    ok(r.get("ok", True) is True, "INPUT eof: accepted", r)
    s = c.cmd(f"WAIT {sid} 20")
    eq((ended(s)[:2], c.output(sid)),
       (("STOPPED", 0), blob + b"LIST\n\n[eof]"), "INPUT: every byte, then eof")
    c.send(b"INPUT %s 5\nLIST\n" % sid.encode())
    eq(c.json().get("error_code"), "not_running",
       "INPUT of a stopped session: refused")
    eq(len(c.cmd("LIST")), 1, "and its bytes are not run as commands")


def input_larger_than_a_pipe(d):
    c = d.client()
    sid, _ = c.start(helper("echo"))
    blob = os.urandom(1 << 20)
    with Prober(d) as others:
        c.send(b"INPUT %s %d\n" % (sid.encode(), len(blob)) + blob)
        ok(c.json().get("ok", True), "INPUT of 1 MiB")
        c.cmd(f"INPUT {sid} eof")
        c.cmd(f"WAIT {sid} 20")
        others.check("INPUT of 1 MiB: nobody else waits")
    eq(c.output(sid)[-2000:], blob[-1995:] + b"[eof]", "INPUT of 1 MiB: the "
       "end of it")
    eq(c.cmd("OUTPUT " + sid)["total"], len(blob) + 5, "and all of it")


def input_nobody_reads(d):
    c = d.client()
    sid, _ = c.start(helper("sleeper"), until=b"ready")
    e = d.client()
    t = threading.Thread(target=attempt, args=("INPUT", lambda: e.send(
        b"INPUT %s %d\n" % (sid.encode(), 1 << 20) + b"x" * (1 << 20))),
        daemon=True)
    t.start()
    with Prober(d) as others:
        eq(c.cmd("STOP " + sid)["state"], "STOPPED",
           "INPUT that nobody reads: STOP works")
        others.check("INPUT that nobody reads: nobody else waits")
    ok(e.recv_line(), "INPUT that nobody reads: answered at the end")
    e.close()
    t.join(10)


def environment_reaches_the_program(d):
    c = d.client()
    sid = c.upload(helper("inside"))["id"]
    c.cmd(f"ENV {sid} GREETING=hello  world=1 \"q\"")
    c.cmd(f"ENV {sid} PATH=/own")
    c.cmd(f"ENV {sid} EMPTY=")
    c.cmd(f"ENV {sid} GONE=x")
    c.cmd(f"ENVDEL {sid} GONE")
    c.cmd("START " + sid)
    c.cmd(f"WAIT {sid} 20")
    env = {}
    for line in c.output(sid).decode().splitlines():
        if line.startswith("env."):
            k, _, v = line[4:].partition("=")
            ok(k not in env, f"{k} is set once")
            env[k] = v
    eq((env.get("GREETING"), env.get("PATH"), env.get("EMPTY"),
        env.get("GONE")), ('hello  world=1 "q"', "/own", "", None),
       "ENV: values as typed, own ones win over the usual ones")
    eq(env.get("DEBUGLANTERN_SESSION"), sid, "DEBUGLANTERN_SESSION is the id")


def env_bounds(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    r = {}
    for i in range(40):
        r = c.cmd(f"ENV {sid} K{i}={'v' * 1000}")
        if "error_code" in r:
            break
    ok(r.get("error_code") == "invalid_env", "ENV: there is a bound",
       str(r)[:200])
    n = len(c.cmd("ENVLIST " + sid))
    eq(n, i, "ENV: what was refused has changed nothing")
    c.cmd("START " + sid)
    eq(ended(c.cmd(f"WAIT {sid} 20"))[:2], ("STOPPED", 0),
       "ENV: a full environment starts")


def split_streams(d):
    c = d.client()
    sid = c.upload(helper("twostreams"))["id"]
    c.cmd(f"ARGS {sid} 50")
    want = b"".join(b"o%d\ne%d\n" % (i, i) for i in range(50))
    c.cmd("START " + sid)
    c.cmd(f"WAIT {sid} 20")
    eq(c.output(sid), want, "one pipe: the order of both streams is exact")
    c.cmd(f"START {sid} --split")
    c.cmd(f"WAIT {sid} 20")
    out, err, last = b"", b"", None
    c.send(f"FOLLOW {sid} 0 base64\n")
    while last is None:
        r = c.json()
        data = base64.b64decode(r.get("output", ""))
        if r.get("stream") == "err":
            err += data
        else:
            out += data
        last = r if r.get("final") else None
    eq((out, err), (b"".join(b"o%d\n" % i for i in range(50)),
                    b"".join(b"e%d\n" % i for i in range(50))),
       "--split: each stream complete and apart")
    eq(sorted(c.output(sid)), sorted(want), "--split: OUTPUT has both")


def argv0_and_label(d):
    c = d.client()
    sid = c.upload(helper("inside"))["id"]
    c.cmd(f"NAME {sid} my-program")
    c.cmd("START my-program")
    c.cmd("WAIT my-program 20")
    ok(b"\nargv0=my-program\n" in c.output(sid), "argv[0] is the label")


# --- limits --------------------------------------------------------------

def limits_effects(d):
    c = d.client()
    sid = c.upload(helper("limits"))["id"]
    c.cmd(f"ARGS {sid} nofile")
    c.cmd(f"LIMITS {sid} nofile=20")
    c.cmd("START " + sid)
    c.cmd(f"WAIT {sid} 20")
    eq(c.output(sid), b"opened 17 EMFILE\n", "LIMITS nofile=20")
    c.cmd(f"ARGS {sid} as 1000000000")
    c.cmd(f"LIMITS {sid} as=200000000")
    c.cmd("START " + sid)
    c.cmd(f"WAIT {sid} 20")
    eq(c.output(sid), b"mapped ENOMEM\n", "LIMITS as=200000000")
    c.cmd(f"ARGS {sid} cpu")
    c.cmd(f"LIMITS {sid} cpu=1")
    c.cmd("START " + sid)
    s = c.cmd(f"WAIT {sid} 60")
    ok(s["state"] == "STOPPED" and s["signal"] in ("SIGXCPU", "SIGKILL"),
       "LIMITS cpu=1", s)
    c.cmd(f"ARGS {sid} nproc")
    c.cmd(f"LIMITS {sid} nproc=10 cpu=unlimited")
    c.cmd("START " + sid)
    c.until(sid, b"forked")
    out = c.output(sid).decode().split()
    ok(int(out[1]) < 10 and out[2] == "EAGAIN", "LIMITS nproc=10", out)
    c.cmd("KILL " + sid)


def limits_are_set(d):
    c = d.client()
    sid = c.upload(helper("inside"))["id"]
    r = c.cmd(f"LIMITS {sid} cpu=100 as=1073741824 nofile=50 nproc=40 core=0")
    eq(r.get("id"), sid, "LIMITS answers the session")
    c.cmd("START " + sid)
    c.cmd(f"WAIT {sid} 20")
    got = dict(x.split("=", 1) for x in c.output(sid).decode().splitlines()
               if x.startswith("limit."))
    eq((got["limit.as"], got["limit.nofile"], got["limit.nproc"],
        got["limit.core"]),
       ("1073741824,1073741824", "50,50", "40,40", "0,0"),
       "LIMITS: soft and hard")
    eq(got["limit.cpu"].split(",")[0], "100", "LIMITS: cpu")
    for bad in ("cpu=-1", "nofile=0x10", "frob=1", "cpu", "cpu=1=2", ""):
        ok(c.cmd(f"LIMITS {sid} {bad}").get("ok") is False or bad == "",
           f"LIMITS {bad}: refused")


def default_limits_of_the_configuration(mode):
    with Daemon(mode, "limit nofile 99\nlimit core 1M\nlimit as 900M\n") as d:
        c = d.client()
        sid, _ = c.run(helper("inside"))
        out = c.output(sid).decode()
        ok(f"limit.nofile=99,99\nlimit.nproc=512,512\nlimit.core={1 << 20},"
           f"{1 << 20}\n" in out and f"limit.as={900 << 20},{900 << 20}\n"
           in out, "limits of the configuration", out)
        for more in ("nofile=100", "core=1048577", "as=unlimited"):
            eq(c.cmd(f"LIMITS {sid} {more}").get("error_code"),
               "not_permitted", f"LIMITS {more}: not above the configuration")
        c.cmd(f"LIMITS {sid} core=4096 nofile=50")
        c.cmd("START " + sid)
        c.cmd(f"WAIT {sid} 20")
        out = c.output(sid).decode()
        ok("limit.nofile=50,50\n" in out and "limit.core=4096,4096\n" in out,
           "LIMITS below it", out)


# --- starts that fail ----------------------------------------------------

def elf(**patch):
    """A helper's ELF with bytes of its header changed."""
    data = bytearray(read_helper("hello"))
    for offset, value in patch.values():
        data[offset:offset + len(value)] = value
    return bytes(data)


def images_that_are_no_programs(d):
    c = d.client()
    hello = read_helper("hello")
    for name, data in (
            ("4 bytes", b"\x7fELF"), ("text", b"hello, world\n" * 10),
            ("a script", b"#!/bin/sh\necho hi\n"),
            ("zeros", bytes(1000)), ("a header alone", hello[:64]),
            ("a header cut short", hello[:40]),
            ("32 bits", elf(c=(4, b"\x01"))),
            ("the other byte order", elf(c=(5, b"\x02"))),
            ("ARM", elf(m=(18, b"\x28\x00"))),
            ("AArch64" if os.uname().machine == "x86_64" else "x86-64",
             elf(m=(18, b"\xb7\x00" if os.uname().machine == "x86_64" else
                    b"\x3e\x00"))),
            ("an object file", elf(t=(16, b"\x01\x00"))),
            ("a core file", elf(t=(16, b"\x04\x00"))),
            ("headers beyond the end", elf(p=(32, b"\xff\xff\xff\x7f")))):
        r = c.upload(data)
        if "id" in r:
            r = c.cmd("START " + r["id"])
        ok(r.get("error_code") in ("invalid_elf", "exec_failed",
                                   "fork_failed") and r["message"],
           f"{name}: refused with a reason, never RUNNING", r)
    left = [s["state"] for s in c.cmd("LIST")]
    ok(set(left) <= {"LOADED"}, "nothing of these runs", left)


def wrong_architecture_says_so(d):
    c = d.client()
    other = b"\xb7\x00" if os.uname().machine == "x86_64" else b"\x3e\x00"
    r = c.upload(elf(m=(18, other)))
    eq(r.get("error_code"), "invalid_elf", "wrong architecture: invalid_elf")
    ok(any(w in r["message"].lower() for w in ("aarch64", "x86-64", "x86_64",
                                               "machine", "architecture")),
       "wrong architecture: the message names it", r)
    eq(c.cmd("LIST"), [], "a refused image leaves no session")


def missing_interpreter_says_so(d):
    c = d.client()
    data = read_helper("hello")
    for ld in (b"/lib64/ld-linux-x86-64.so.2", b"/lib/ld-linux-aarch64.so.1"):
        data = data.replace(ld, b"/no/such/ld.so".ljust(len(ld), b"\0"))
    r = c.upload(data)
    if "id" in r:
        sid, r = r["id"], c.cmd("START " + r["id"])
        s = c.cmd("STATUS " + sid)
        eq((s["state"], s["pid"]), ("LOADED", None),
           "missing interpreter: the session is as before the start")
    ok(r.get("ok") is False and "interpreter" in r["message"] or
       "/no/such/ld.so" in r.get("message", ""),
       "missing interpreter: the answer says so", r)


def missing_library_says_so(d):
    """The dynamic loader's own words are in the output, exit code 127."""
    c = d.client()
    data = read_helper("hello").replace(b"libc.so.6\0", b"libx.so.6\0")
    r = c.upload(data)
    sid = r["id"]
    r = c.cmd("START " + sid)
    if "error_code" in r:
        ok("libx.so.6" in r["message"], "missing library: named", r)
        return
    s = c.cmd(f"WAIT {sid} 20")
    eq(ended(s)[:2], ("STOPPED", 127), "missing library: STOPPED with 127")
    ok(b"libx.so.6" in c.output(sid), "missing library: named in the output")


def shell_script_with_dev_stderr(d):
    """echo >/dev/stderr needs pipes that belong to the session's user."""
    c = d.client()
    sid = c.upload("/bin/dash")["id"]
    for flags in ("", "--split"):
        c.cmd(f"ARGS {sid} -c 'echo out; echo err >/dev/stderr; "
              "echo again >/dev/stdout'")
        c.cmd(f"START {sid} {flags}".strip())
        s = c.cmd(f"WAIT {sid} 20")
        eq((ended(s)[:2], sorted(c.output(sid).split())),
           (("STOPPED", 0), [b"again", b"err", b"out"]),
           f"a shell session {flags}: echo >/dev/stderr")


def concurrent_starts(d):
    clients = [d.client() for _ in range(6)]
    sid = clients[0].upload(helper("sleeper"))["id"]
    for c in clients:
        c.send(f"START {sid}\n")
    got = [c.json() for c in clients]
    codes = [r.get("error_code") for r in got]
    eq(codes.count(None), 1, "START by six at once: one of them starts it")
    ok(set(codes) <= {None, "already_running", "busy"},
       "START by six at once: the others are told why not", codes)


def a_hundred_sessions(mode):
    with Daemon(mode, "max-sessions 100\n") as d:
        c = d.client()
        data = read_helper("hello")
        c.send((b"UPLOAD %d\n" % len(data) + data) * 100)
        ids = [c.json()["id"] for _ in range(100)]
        c.send("".join(f"START {i}\n" for i in ids))
        started = [c.json().get("state") for _ in ids]
        eq(set(started) <= {"RUNNING", "STOPPED"}, True, "100 STARTs at once")
        c.send("".join(f"WAIT {i} 30\n" for i in ids))
        eq([c.json()["exit_code"] for _ in ids], [0] * 100, "100 ends")
        eq([c.output(i) for i in ids], [b"Hello world\n"] * 100,
           "100 outputs")
        c.send("".join(f"DELETE {i}\n" for i in ids))
        eq([c.json()["state"] for _ in ids], ["DELETED"] * 100, "100 DELETEs")


run_tests(
    in_modes(
        stop_answers_when_stopped, stop_escalates_for_a_sigterm_ignorer,
        stop_answers_everybody, kill_while_stopping,
        kill_answers_when_stopped, stop_of_a_stopped_program,
        disconnect_while_stopping, exit_codes_and_signals,
        exits_are_seen_without_asking, output_complete_at_the_first_stopped,
        leader_exits_while_a_grandchild_lives, main_thread_exits_first,
        restart_keeps_and_clears, a_stale_end_harms_nobody, delete_rules,
        delete_under_a_waiter, wait_command, signal_command,
        signal_reaches_the_program_only, input_and_eof,
        input_larger_than_a_pipe, input_nobody_reads,
        environment_reaches_the_program, env_bounds, split_streams,
        argv0_and_label, limits_effects, limits_are_set,
        images_that_are_no_programs, wrong_architecture_says_so,
        missing_interpreter_says_so, missing_library_says_so,
        shell_script_with_dev_stderr, concurrent_starts,
        conf="stop-timeout 1\n"),
    alone(default_limits_of_the_configuration), alone(a_hundred_sessions))
