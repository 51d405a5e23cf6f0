#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Commands of the host as sessions, and programs on terminals: what they are
# given, what is typed and printed, sizes, and how they end.
import base64
import hashlib
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (ALICE, AS_ROOT, BOB, Client, Daemon, alone, eq, helper,
                in_modes, ok, passwd_wrapper, run_tests, tar_of, wait_for)
from term import Attached
from terminals import Tty, quoted

KINDS = ("none", "namespaces", "tmpfs")
ALL_KINDS = "allow-sandbox none, namespaces, tmpfs\n"


def ended(s):
    return s["state"], s["exit_code"], s["signal"]


# --- commands -------------------------------------------------------------

def a_command_is_a_session(d):
    c = d.client()
    s = c.cmd("NEW name=greeting -- echo 'two  words' \"\" three")
    eq((s["state"], s["name"], s["tty"], s["cols"], s["size"], s["command"]),
       ("LOADED", "greeting", False, None, 0,
        ["echo", "two  words", "", "three"]), "NEW: a session object")
    eq(c.cmd("START greeting")["state"], "RUNNING", "NEW: it starts")
    eq(ended(c.cmd("WAIT greeting 20")), ("STOPPED", 0, None), "and ends")
    eq(c.output("greeting"), b"two  words  three\n",
       "each argument is what it was")
    s = c.cmd("ARGS greeting again")
    eq((s["command"], s.get("args")), (["echo", "again"], None),
       "ARGS: other arguments of the same command")
    c.cmd("START greeting")
    c.cmd("WAIT greeting 20")
    eq(c.output("greeting"), b"again\n", "ARGS: at the next start")
    eq(c.cmd("LIST")[-1]["id"], s["id"], "LIST has it")
    eq(c.cmd("DELETE greeting")["state"], "DELETED", "DELETE")


def commands_are_looked_for_inside(d):
    c = d.client()
    for kind in KINDS:
        for command, code, says in (
                ("no-such-command-at-all", "exec_failed", "PATH"),
                ("/no/such/command", "exec_failed", "PATH"),
                ("/etc/passwd", "exec_failed", "not executable"),
                ("/", "exec_failed", "not executable")):
            sid = c.cmd(f"NEW -- {command}")["id"]
            r = c.cmd(f"START {sid} --sandbox {kind}")
            eq((r.get("error_code"), says in r.get("message", "")),
               (code, True), f"{kind}: START of {command}: {says}")
            c.cmd("DELETE " + sid)
        sid = c.cmd("NEW env=PATH=/nowhere:/usr/bin -- env")["id"]
        c.cmd(f"START {sid} --sandbox {kind}")
        eq(c.cmd(f"WAIT {sid} 20")["exit_code"], 0,
           f"{kind}: the session's own PATH counts")
        ok(b"PATH=/nowhere:/usr/bin\n" in c.output(sid),
           f"{kind}: and its variables are there", c.output(sid))
        sid = c.cmd("NEW cwd=/usr -- pwd")["id"]
        c.cmd(f"START {sid} --sandbox {kind}")
        c.cmd(f"WAIT {sid} 20")
        eq(c.output(sid), b"/usr\n", f"{kind}: cwd")
        sid = c.cmd("NEW cwd=/no/such -- pwd")["id"]
        r = c.cmd(f"START {sid} --sandbox {kind}")
        eq((r.get("error_code"), "working directory" in r["message"]),
           ("exec_failed", True), f"{kind}: a cwd that is not there")
        c.cmd("DELETE " + sid)


def new_is_refused(d):
    c = d.client()
    for line, code in (("NEW tty cols=x", "invalid_argument"),
                       ("NEW rows=-1", "invalid_argument"),
                       ("NEW bash", "invalid_argument"),
                       ("NEW cwd=relative -- pwd", "invalid_argument"),
                       ("NEW -- 'a", "invalid_args"),
                       ("NEW -- ''", "invalid_args"),
                       ("NEW -- " + "a" * 1024, "invalid_args"),
                       ("NEW env=1=2 -- true", "invalid_argument"),
                       ("NEW name=" + "a" * 65, "invalid_name"),
                       ("NEW name=dead -- true", "invalid_name")):
        eq(c.cmd(line).get("error_code"), code, f"{line[:30]}: {code}")
    eq(c.cmd("LIST"), [], "what was refused leaves nothing behind")


def quotas_hold(mode):
    with Daemon(mode, "max-sessions 2\n") as d:
        c = d.client()
        for _ in range(2):
            eq(c.cmd("NEW -- true")["state"], "LOADED", "NEW below the limit")
        eq(c.cmd("NEW -- true").get("error_code"), "max_sessions_reached",
           "commands count as sessions")


def the_default_shell(mode):
    with Daemon(mode, 'pty-default-shell "/bin/bash"\n') as d:
        c = d.client()
        eq(c.cmd("NEW tty")["command"], ["/bin/bash"], "pty-default-shell")
    with Daemon(mode) as d:
        s = d.client().cmd("NEW")
        ok(len(s["command"]) == 1 and s["command"][0].startswith("/"),
           "without it: the account's, or sh", s["command"])
        ok("nologin" not in s["command"][0], "nologin is no shell",
           s["command"])


# --- terminals ------------------------------------------------------------

def a_real_shell(d):
    c = d.client()
    for kind in KINDS:
        t = Tty(c, options="cols=100 rows=30", flags=f"--sandbox {kind}")
        eq([t.started[k] for k in ("state", "tty", "cols", "rows")],
           ["RUNNING", True, 100, 30], f"{kind}: bash runs on a terminal")
        t.until(b"P>")
        # N: the tests themselves may be nice
        eq(t.type("tty; stty size; echo $TERM; ps -o stat= -p $$ | tr -d N\r")
           ["state"], "RUNNING", f"{kind}: INPUT types")
        out = t.until(b"Ss")
        ok(re.search(rb"/dev/pts/\d+\r\n30 100\r\nxterm-256color\r\n", out),
           f"{kind}: its own terminal, of the size asked for", out)
        s = t.resize(132, 43)
        eq((s["cols"], s["rows"]), (132, 43), f"{kind}: RESIZE")
        t.type("stty size; exit 7\r")
        eq(ended(t.wait()), ("STOPPED", 7, None), f"{kind}: exit")
        ok(b"43 132\r\n" in t.text(), f"{kind}: it was told", t.text())


def the_terminal_is_the_owners(d):
    c = d.client()
    for kind in KINDS:
        t = Tty(c, "sh -c 'stat -c %a:%u $(tty); id -u; ls /dev/pts'",
                flags=f"--sandbox {kind}")
        t.wait()
        mode, uid, names = t.text().decode().split(None, 2)
        mode, owner = mode.split(":")
        ok(mode in ("600", "620") and owner == uid,
           f"{kind}: the terminal is its user's alone", t.text())
        if kind != "none":
            eq(sorted(names.split()), ["0", "ptmx"],
               f"{kind}: no other terminal has a name inside")


def images_on_terminals(d):
    c = d.client()
    sid = c.upload(helper("sleeper"))["id"]
    s = c.cmd(f"START {sid} --tty cols=5000 rows=0")
    eq((s["tty"], s["cols"], s["rows"]), (True, 1000, 24),
       "START --tty of an image: sizes are clamped")
    c.until(sid, b"ready\r\n")
    c.cmd("KILL " + sid)
    s = c.cmd("START " + sid)
    eq((s["tty"], s["cols"]), (False, None), "the next run has pipes again")
    eq(c.cmd(f"RESIZE {sid} 80 24").get("error_code"), "invalid_argument",
       "RESIZE without a terminal")
    c.cmd("KILL " + sid)
    eq(c.cmd(f"START {sid} --tty --split").get("error_code"),
       "invalid_argument", "a terminal has one stream")


def bundles_on_terminals(d):
    c = d.client()
    sid = c.upload(tar_of(("bin/app", helper("sleeper"))), "bin/app")["id"]
    for kind in KINDS:
        s = c.cmd(f"START {sid} --tty --sandbox {kind}")
        eq((s.get("state"), s.get("tty")), ("RUNNING", True),
           f"{kind}: a bundle runs on a terminal")
        c.until(sid, b"ready\r\n")
        c.cmd("KILL " + sid)


def keys_are_signals(d):
    t = Tty(d.client())
    t.until(b"P>")
    # what is echoed is not what it prints: then it is there
    t.type("sh -c 'echo go$((40+2)); exec sleep 1000'\r")
    t.until(b"go42")
    t.type(b"\x03")
    t.type("echo $?.\r")
    ok(b"130." in t.until(b"130."), "^C interrupts the foreground job")
    t.type("sh -c 'echo go$((40+3)); exec sleep 1000'\r")
    t.until(b"go43")
    t.type(b"\x1a")
    ok(b"Stopped" in t.until(b"Stopped"), "^Z stops it")
    # it warns of the job that is stopped, the first time
    t.type("exit 4\rexit 4\r")
    eq(ended(t.wait()), ("STOPPED", 4, None), "and the shell goes on")


def end_of_input(d):
    c = d.client()
    t = Tty(c, "cat")
    t.type("line\n")
    t.until(b"line\r\nline\r\n")
    eq(c.cmd(f"INPUT {t.sid} eof")["state"], "RUNNING", "INPUT eof")
    eq(ended(t.wait()), ("STOPPED", 0, None), "control-D ends cat")
    eq(c.cmd(f"INPUT {t.sid} eof").get("error_code"), "not_running",
       "INPUT eof after the end")
    c.send(f"INPUT {t.sid} 3\nabc")
    eq(c.json().get("error_code"), "not_running", "INPUT after the end")


def all_input_comes(d):
    """Raw, so that the line discipline takes nothing out."""
    t = Tty(d.client(), "sh -c 'stty raw -echo; echo go; sleep 1; "
            "head -c 300000 | md5sum; sleep 1'")
    t.until(b"go")
    data = os.urandom(300000)
    t.type(data)
    want = hashlib.md5(data).hexdigest().encode()
    ok(want in t.until(b"-"), "300,000 bytes typed while nobody reads",
       t.text())


def sizes_come_after_input(d):
    c = d.client()
    t = Tty(c, "sh -c 'stty raw -echo; echo go; sleep 1; head -c 200000 "
            "| wc -c; stty size; sleep 9'", "cols=80 rows=24")
    t.until(b"go")
    c2 = d.client()
    c2.send(f"INPUT {t.sid} 200000\n".encode() + b"x" * 200000)
    s = c.cmd(f"RESIZE {t.sid} 90 30")
    eq((s["cols"], s["rows"]), (90, 30), "RESIZE behind input that waits")
    eq(c2.json()["state"], "RUNNING", "all of the input is taken")
    out = t.until(b"30 90")
    ok(b"200000" in out, "and came", out)
    t.end()


# --- replays --------------------------------------------------------------

def read_on(c, sid, offset):
    """From where on there is output, and all of it."""
    first, out = None, b""
    while True:
        r = c.cmd(f"OUTPUT {sid} {offset} base64")
        data = base64.b64decode(r["output"])
        first = r["offset"] if first is None else first
        if not data:
            return first, out
        out += data
        offset = r["offset"] + len(data)


def marks(d):
    c = d.client()
    t = Tty(c, "sh -c 'printf \"\\033[31m\"; echo red; cat'")
    t.until(b"red")
    m = c.cmd("MARK " + t.sid)
    eq((m["offset"], m["cols"], m["rows"]), (0, 80, 24),
       "MARK: what is kept from the beginning can be shown from there")
    ok("\x1b[?1047h" not in m["preamble"].split("\x1b7", 1)[1],
       "MARK: on the usual screen", m)
    t.end()
    t = Tty(c, "sh -c 'printf \"\\033[?1049h\\033[31m\"; seq 1 400000'")
    t.wait(60)
    m = c.cmd("MARK " + t.sid)
    first, out = read_on(c, t.sid, m["offset"])
    ok(first == m["offset"] > 0 and
       (1 << 20) - len(out) < 100000,
       "MARK: later, from a place that is kept, with nearly all after it",
       (m["offset"], first, len(out)))
    ok(re.match(rb"\d+\r\n", out) and out.endswith(b"400000\r\n"),
       "MARK: a line begins there", out[:40])
    said = m["preamble"].split("\x1b7", 1)[1]
    ok("\x1b[?1047h" in said and "\x1b[0;38;5;1m" in said,
       "MARK: with the screen and the colour that it was in", said)
    eq(c.cmd("MARK " + c.start(helper("hello"))[0]).get("error_code"),
       "invalid_argument", "MARK without a terminal")


# --- the end --------------------------------------------------------------

def the_last_output_is_there(d):
    c = d.client()
    want = b"".join(b"%d\r\n" % i for i in range(1, 20001))
    sid = c.cmd("NEW tty -- seq 1 20000")["id"]
    whole = 0
    for _ in range(20):
        c.cmd("START " + sid)
        c.cmd(f"WAIT {sid} 30")
        whole += c.output(sid) == want[-(1 << 20):]
    eq(whole, 20, "seq is complete in 20 of 20 runs")


def ephemeral_sessions_go(mode):
    with Daemon(mode, "pty-grace 1\n") as d:
        c = d.client()
        s = c.cmd("NEW ephemeral tty -- echo gone")
        kept = c.cmd("NEW tty -- echo kept")["id"]
        for sid in (s["id"], kept):
            c.cmd("START " + sid)
            eq(c.cmd(f"WAIT {sid} 20")["state"], "STOPPED", "it ends")
        eq(c.output(s["id"]), b"gone\r\n", "its output can be read then")
        wait_for(lambda: [x["id"] for x in c.cmd("LIST")] == [kept])
        eq([x["id"] for x in c.cmd("LIST")], [kept],
           "an ephemeral session is deleted a while after its end")
        ok(wait_for(lambda: "pty-grace" in d.log()), "which is logged")


def nobodys_sessions_end(mode):
    with passwd_wrapper(ALICE, BOB) as wrapper:
        with Daemon(mode, "listen on localhost\nlisten on 127.0.0.2 auth none "
                    f"as u{BOB}\npty-idle-ttl 4\npty-grace 0\n",
                    wrapper=wrapper) as d:
            c = Client(d.port, "127.0.0.2", ALICE)
            # its time would be over before that of the others
            watched = c.cmd("NEW ephemeral tty start=now -- cat")["id"]
            w = Attached(Client(d.port, "127.0.0.2", ALICE), watched, "ro")
            idle, busy, kept = (c.cmd(f"NEW {how}")["id"] for how in (
                "ephemeral tty -- cat", "ephemeral tty -- sh -c "
                "'while echo x; do sleep .2; done'", "tty -- cat"))
            for sid in (idle, busy, kept):
                c.cmd("START " + sid)
            unused = c.cmd("NEW ephemeral tty -- cat")["id"]
            wait_for(lambda: len(c.cmd("LIST")) == 3)
            eq(sorted((x["id"], x["state"]) for x in c.cmd("LIST")),
               sorted((x, "RUNNING") for x in (watched, busy, kept)),
               "nobody's session goes when it is idle, also before its "
               "start; not one that writes or that somebody looks at, nor "
               "one that is to stay")
            ok(wait_for(lambda: d.log().count("pty-idle-ttl") == 2 and
                        unused in d.log()), "which is logged", d.log())
            w.close()
            ok(wait_for(lambda: watched not in [
                x["id"] for x in c.cmd("LIST")]),
               "when nobody looks any more it goes, too")


def who_stays_behind_is_ended(d):
    c = d.client()
    for kind in KINDS:
        for what in ("sleep 1000 &", "(trap '' HUP; sleep 1000) &",
                     "setsid sleep 1000 &",
                     "setsid sleep 1000 </dev/null >/dev/null 2>&1 &"):
            t = Tty(c, f"sh -c {quoted(what + ' exit 5')}",
                    flags=f"--sandbox {kind}")
            eq(ended(t.wait()), ("STOPPED", 5, None), f"{kind}: {what}")


def stop_ends_a_shell(d):
    c = d.client()
    t = Tty(c, "bash --norc -i")
    t.type("sleep 1000 &\r")
    t.until(b"] ")
    eq(ended(c.cmd("STOP " + t.sid)), ("STOPPED", None, "SIGHUP"),
       "STOP of a shell, which would ignore SIGTERM")


def signals_are_as_usual(mode):
    """What a daemon in the background of a script ignores, too."""
    with Daemon(mode, ALL_KINDS, wrapper=("sh", "-c", "trap '' INT QUIT; "
                               "exec \"$@\"", "sh")) as d:
        c = d.client()
        for kind in ("none", "namespaces"):
            t = Tty(c, "sh -c 'grep Sig.gn /proc/self/status; exec sleep "
                    "1000'", flags="--sandbox " + kind)
            ok(b"SigIgn:\t" + b"0" * 16 in t.until(b"\r\n"),
               f"{kind}: no signal is ignored", t.text())
            t.type(b"\x03")
            eq(ended(t.wait()), ("STOPPED", None, "SIGINT"),
               f"{kind}: ^C ends what runs")


def used(pid):
    """Milliseconds of CPU."""
    with open(f"/proc/{pid}/schedstat") as f:
        return int(f.read().split()[0]) / 1e6


def nobody_has_it_open(d):
    """Its descriptor says so for ever, also while it is not to be read."""
    c = d.client()
    sid = c.cmd("NEW tty start=now -- sh -c 'stty raw -echo; echo go; read x;"
                " head -c 3000000 /dev/zero & trap \"kill $!\" USR1; "
                "exec <&- >&- 2>&-; wait; sleep 1000'")["id"]
    c.until(sid, b"go")
    a = Attached(d.client(), sid)
    a.until(b"go")
    # who says what it has shown, and then shows nothing, pauses it for a while
    a.ack()
    a.type("\n")
    ok(wait_for(lambda: c.cmd(f"OUTPUT {sid} 999999999")["total"] > 500000),
       "a flood is paused")
    c.cmd(f"SIGNAL {sid} USR1")
    spawner = d.role_pid("spawner")
    before = used(spawner)
    time.sleep(1)
    ok(used(spawner) - before < 300, "and hung up, which costs nothing",
       used(spawner) - before)
    while a.next < (total := c.cmd(f"OUTPUT {sid} 999999999")["total"]):
        a.ack()
        if not a.read(20):
            break
    eq(a.next, total, "what was written before comes, to the last byte")
    before = used(spawner)
    time.sleep(1)
    ok(used(spawner) - before < 300, "nor when it is not paused any more",
       used(spawner) - before)
    eq(c.cmd("STATUS " + sid)["state"], "RUNNING", "the program runs on")
    c.cmd("KILL " + sid)


def a_closed_terminal_can_be_opened_again(d):
    c = d.client()
    t = Tty(c, "sh -c 'n=$(tty); echo one; exec </dev/null >/dev/null "
            "2>&1; sleep 1; echo two >$n; sleep 1; echo three >$n'")
    eq(ended(t.wait()), ("STOPPED", 0, None), "it ends")
    eq(t.text(), b"one\r\ntwo\r\nthree\r\n", "all of it is there")


run_tests(
    in_modes(
        a_command_is_a_session, commands_are_looked_for_inside,
        new_is_refused, a_real_shell, the_terminal_is_the_owners,
        images_on_terminals, bundles_on_terminals, keys_are_signals,
        end_of_input, all_input_comes, sizes_come_after_input, marks,
        the_last_output_is_there, who_stays_behind_is_ended,
        stop_ends_a_shell, a_closed_terminal_can_be_opened_again,
        nobody_has_it_open,
        conf=ALL_KINDS),
    alone(quotas_hold), alone(signals_are_as_usual), alone(the_default_shell), alone(ephemeral_sessions_go),
    alone(nobodys_sessions_end, modes=("system",) if AS_ROOT else ()))
