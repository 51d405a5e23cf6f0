#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What people run in terminals: editors, pagers, tmux, htop, and a debugger
# beside it all.
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (AS_ROOT, Daemon, alone, eq, helper, in_modes, ok, run_tests,
                wait_for)
from terminals import Tty, quoted

KINDS = ("none", "namespaces", "tmpfs")
ALL_KINDS = "allow-sandbox none, namespaces, tmpfs\n"


def ended(s):
    return s["state"], s["exit_code"], s["signal"]


def modes(t):
    """What a terminal would be told that is attached now."""
    return t.c.cmd("MARK " + t.sid)["preamble"].split("\x1b7", 1)[1]


def in_each_sandbox(test):
    def run(d):
        c = d.client()
        for kind in KINDS:
            test(c, kind)
    run.__name__ = test.__name__
    return run


@in_each_sandbox
def bash(c, kind):
    t = Tty(c, flags=f"--sandbox {kind}")
    t.until(b"P>")
    # readline: move back, put something in, complete a name
    t.type("echo oneXthree\x1b[D\x1b[D\x1b[D\x1b[D\x1b[D\x7ftwo\r")
    ok(b"onetwothree" in t.until(b"onetwothree"), f"{kind}: editing a line",
       t.text())
    t.type("cd /usr/sha\t && pwd\r")
    ok(b"/usr/share\r\n" in t.until(b"/usr/share\r\n"),
       f"{kind}: completion of a name")
    t.type("\x12onetwo\r")
    ok(wait_for(lambda: t.text().count(b"onetwothree\r\n") == 2),
       f"{kind}: history search", t.text())
    t.type("printf '\\xe2\\x82\\xac\\xf0\\x9f\\x98\\x80\\xff\\n'; exit\r")
    eq(ended(t.wait()), ("STOPPED", 0, None), f"{kind}: exit")
    ok("€😀".encode() + b"\xff" in t.text(),
       f"{kind}: UTF-8, emoji and other bytes", t.text())


@in_each_sandbox
def vim(c, kind):
    t = Tty(c, "vim -Nu NONE -i NONE -n /tmp/dl-vim-$$-file", "cwd=/tmp",
            flags=f"--sandbox {kind}")
    t.until(b"~")
    t.type("ihello from vim\x1b")
    t.until(b"hello from vim")
    t.resize(60, 10)
    # it draws anew, in the new size
    t.until(b"\x1b[10;")
    t.type(":w !cat; echo written\r")
    ok(b"hello from vim" in t.until(b"written"), f"{kind}: vim edits")
    t.type("\r:q!\r")
    eq(ended(t.wait()), ("STOPPED", 0, None), f"{kind}: vim ends")
    out = t.text()
    ok(b"\x1b[?1049h" in out and out.rindex(b"\x1b[?1049l") >
       out.rindex(b"\x1b[?1049h"), f"{kind}: and leaves its screen")


@in_each_sandbox
def nano(c, kind):
    t = Tty(c, "sh -c 'd=$(mktemp -d); cd $d; nano -I f; cat f; rm -r $d'",
            flags=f"--sandbox {kind}")
    t.until(b"nano")
    t.type("typed\x0f")
    t.until(b"Write")
    t.type("\r")
    t.until(b"Wrote")
    t.type("\x18")
    eq(ended(t.wait()), ("STOPPED", 0, None), f"{kind}: nano ends")
    ok(t.text().endswith(b"typed\r\n"), f"{kind}: nano has written a file",
       t.text()[-200:])


@in_each_sandbox
def less(c, kind):
    t = Tty(c, "sh -c 'seq 1 5000 | less'", flags=f"--sandbox {kind}")
    t.until(b"23\r\n")
    t.type("/4321\r")
    ok(b"4321" in t.until(b"4330"), f"{kind}: less searches")
    t.type("G")
    t.until(b"5000")
    t.type("q")
    eq(ended(t.wait()), ("STOPPED", 0, None), f"{kind}: less ends")


@in_each_sandbox
def tmux(c, kind):
    """A terminal in the terminal."""
    # other sandboxes have the same directory of another user
    t = Tty(c, "sh -c " + quoted(
        "d=$(mktemp -d); TMUX_TMPDIR=$d tmux -f /dev/null new-session "
        "'env PS1=in\\> bash --norc --noprofile'; rm -r $d"),
        "env=LC_ALL=C.UTF-8", flags=f"--sandbox {kind}")
    t.until(b"in>")
    t.type("tty; echo go$((40+2))\r")
    ok(re.search(rb"/dev/pts/\d+", t.until(b"go42")),
       f"{kind}: tmux has terminals of its own", t.text())
    t.type("\x02%")
    ok(wait_for(lambda: re.search(rb"\x1b\[\d+;42H", t.text())),
       f"{kind}: and splits its screen", t.text()[-300:])
    # what comes too fast is pasted, and no command
    t.type("\x02")
    t.type(":")
    t.until(b"\x1b[24;2H")
    for key in "kill-server\r":
        t.type(key)
    ended(t.wait())
    ok(b"exited" in t.text(), f"{kind}: kill-server ends it",
       t.text()[-200:])


@in_each_sandbox
def htop(c, kind):
    t = Tty(c, "htop", "cols=120 rows=40", flags=f"--sandbox {kind}")
    ok(b"PID" in t.until(b"Quit"), f"{kind}: htop draws")
    if kind != "none":
        ok(b"htop" in t.text() and b"systemd" not in t.text(),
           f"{kind}: only what is inside")
    t.type("q")
    eq(ended(t.wait()), ("STOPPED", 0, None), f"{kind}: q ends it")


def a_late_comer_is_told_the_modes(mode):
    with Daemon(mode, "pty-scrollback 64K\n") as d:
        modes_of_vim(d)


def modes_of_vim(d):
    t = Tty(d.client(), "vim -Nu NONE -i NONE -n -c 'set mouse=a ttymouse=sgr'")
    t.until(b"~")
    m = None
    while m is None or m["offset"] == 0:
        t.type("\x0c" * 10)
        m = t.c.cmd("MARK " + t.sid)
    said = m["preamble"].split("\x1b7", 1)[1]
    for seq, what in (("\x1b[?1047h", "the other screen"),
                      ("\x1b[?1002h", "the mouse"),
                      ("\x1b[?1006h", "how its buttons are told"),
                      ("\x1b[?2004h", "bracketed paste"),
                      ("\x1b[?1h", "application cursor keys"),
                      ("\x1b=", "the keypad")):
        ok(seq in said, f"of vim's modes: {what}", repr(said))
    t.type(":q!\r")
    t.wait()
    said = modes(t)
    ok("\x1b[?1047h" in said, "a replay from there begins in them", said)


def under_a_debugger(d):
    c = d.client()
    sid = c.upload(helper("target"))["id"]
    for flags in ("--tty --debug", "--tty"):
        r = c.cmd(f"START {sid} {flags}")
        if "--debug" not in flags:
            c.until(sid, b"target alone\r\n")
            r = c.cmd("DEBUG " + sid)
        eq((r.get("state"), r.get("tty")), ("DEBUGGING", True),
           f"START {flags}: under gdbserver, on a terminal")
        who = dict(user=d.uid, group=d.uid, extra_groups=[]) \
            if AS_ROOT and d.uid is not None else {}
        out = subprocess.run(
            ["gdb", "-nx", "-q", "-batch", "-iex", "set auto-load off",
             "-ex", f"target remote 127.0.0.1:{r['debug_port']}",
             "-ex", "break tick", "-ex", "continue",
             "-ex", "set var go_on = 0", "-ex", "delete", "-ex", "detach",
             helper("target")], stdin=subprocess.DEVNULL, cwd="/",
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
            **who).stdout.decode(errors="replace")
        ok("Breakpoint 1, tick" in out, f"START {flags}: gdb stops it", out)
        eq(ended(c.cmd(f"WAIT {sid} 20")), ("STOPPED", 42, None),
           f"START {flags}: it ends as gdb made it")
        eq(c.output(sid), b"target alone\r\nreleased\r\n",
           f"START {flags}: all that it printed is there")
    t = Tty(c, "sh -c 'read x; echo got $x'", flags="--debug")
    r = c.cmd("STATUS " + t.sid)
    eq((t.started["state"], t.text()), ("DEBUGGING", b""),
       "a command stands at its first instruction, too")
    c.cmd("KILL " + t.sid)


run_tests(in_modes(bash, vim, nano, less, tmux, htop,
                   under_a_debugger, conf=ALL_KINDS),
          alone(a_late_comer_is_told_the_modes))
