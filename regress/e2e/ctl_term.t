#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# debuglanternctl on a terminal at a session's: attach, shell, run --tty,
# record and play, against a stand-in for the daemon that can go wrong.
import json
import os
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from ctl_rig import CTL, Certificate, Home  # noqa: E402
from dl import eq, ok, run_tests, wait_for  # noqa: E402
from fake_server import FakeServer  # noqa: E402

work = tempfile.TemporaryDirectory(prefix="dl-ctl-term-")
HEAD = '{"version": 2, "width": 80, "height": 24}\n'


def path(name, text=None):
    name = os.path.join(work.name, name)
    if text is not None:
        with open(name, "w") as f:
            f.write(text)
        os.chmod(name, 0o755)
    return name


def message(h, kind, data=b""):
    h.message(kind, data)


def output(h, offset, data):
    h.message(0x80, struct.pack(">Q", offset) + data)


def session(h, **more):
    h.send(dict({"id": "8d0f", "state": "RUNNING", "tty": True, "cols": 80,
                 "rows": 24, "name": "lamp"}, **more))


def undone(s):
    """The last thing that is done to the screen is to show a cursor."""
    return s.rstrip(b"\r\n").endswith(b"\x1b[?25h")


def shell():
    with FakeServer() as s, Home() as h:
        with h.terminal("-t", s.target, "shell", "--name", "lamp", "--cwd",
                        "/a b", "-e", "A=b c", "--", "sh", "-c",
                        'echo "<$1>" "$A"; stty size; read x; exit $x', "-",
                        "two words", size=(30, 90)) as t:
            ok(t.until(b"<two words> b c\r\n30 90"),
               "shell: arguments, environment and size arrive", t.out)
            ok(t.out.startswith(b"<two"), "and the screen is not cleared",
               t.out)
            ok(not t.is_restored(), "keys come one by one")
            t.type(b"17\r")
            eq(t.wait(), 17, "the exit code is the program's")
            ok(t.is_restored() and b"\x1b" not in t.out,
               "and the terminal is as it was", t.out)
        eq({k: v for k, v in s.made[0].items() if k != "argv"},
           {"tty": True, "ephemeral": True, "cols": 90, "rows": 30,
            "name": "lamp", "cwd": "/a b", "env": {"A": "b c"}},
           "a session for this")
        eq([x.split()[0] for x in s.lines[1:]],
           ["START", "ATTACH", "DELETE"], "is made and deleted")
        eq(s.sessions, [], "none is left")
        with h.terminal("-t", s.target, "shell", "sleep", "100") as t:
            t.raw()
            t.type(b"\x03")
            eq(t.wait(), 130, "Ctrl-C is the program's")
        eq(s.made[-1]["argv"], ["sleep", "100"], "a command needs no --")
        r = h.ctl("-t", s.target, "shell", "--", "env", "--", "echo", "-x")
        eq(s.made[-1]["argv"], ["env", "--", "echo", "-x"],
           "a -- of the command is its own")
        r = h.ctl("-t", s.target, "shell", data=b"echo a; exit 5\n")
        ok(r.code == 5 and b"a\r\n" in r.out and r.err == b"",
           "without a terminal too", r)
        r = h.ctl("-t", s.target, "shell", "cat", data=b"abc\n")
        eq(r.code, 0, "where the end of the input ends it")


def run_on_terminal():
    program = path("prog", '#!/bin/sh\ntest -t 1 && echo "tty $1 $A"\n'
                   "stty size\nread x\nexit 9\n")
    with FakeServer() as s, Home() as h:
        with h.terminal("-t", s.target, "run", "--tty", "-e", "A=1", program,
                        "x y", size=(11, 22)) as t:
            ok(t.until(b"tty x y 1\r\n11 22"), "run --tty: its terminal is "
               "as large as ours", t.out)
            t.type(b"\r")
            eq(t.wait(), 9, "its exit code")
        ok(any(x.endswith(" --tty cols=22 rows=11") for x in s.lines),
           "START says so", s.lines)
        eq(s.sessions, [], "no session is left")
        r = h.ctl("-t", s.target, "upload", "-q", program)
        sid = r.out.decode().strip()
        h.ctl("-t", s.target, "start", "--tty", sid)
        eq(s.lines[-1], "START %s --tty" % sid, "start --tty")
        h.ctl("-t", s.target, "kill", sid)
        r = h.ctl("-t", s.target, "new", "-q", "--tty", "--name", "n", "top")
        eq((r.code, r.out.decode().strip()), (0, s.sessions[-1].id),
           "new prints the id")
        eq(s.made[-1], {"tty": True, "name": "n", "argv": ["top"],
                        "env": {}}, "and only makes it")
        r = h.ctl("-t", s.target, "new", "ls", "-l", "--", "/")
        eq(s.made[-1], {"argv": ["ls", "-l", "--", "/"], "env": {}},
           "a command without a terminal")
        h.ctl("-t", s.target, "new", "-e", "A=\n\x7f", "a\nb", "\u00fc")
        eq(s.made[-1], {"argv": ["a\nb", "\u00fc"],
                        "env": {"A": "\n\x7f"}}, "whatever is in it")
        for args in (["-e", "WRONG", "ls"], ["-e", "=x", "ls"],
                     [b"\xff"], ["--name", b"\xff", "ls"]):
            before = len(s.lines)
            r = h.ctl("-t", s.target, "new", *args)
            ok(r.code == 2 and r.err and len(s.lines) == before,
               "what cannot be sent is not: %r" % args, r)
        s.refuse = True
        r = h.ctl("-t", s.target, "new", "ls")
        ok(r.code == 1 and r.err ==
           b"debuglanternctl: not_possible: it is\\nnot\n", "refused", r)
        r = h.ctl("-t", s.target, "--json", "shell")
        ok(r.code == 1 and json.loads(r.err)["error_code"] == "not_possible",
           "in JSON", r)
        r = h.ctl("-t", s.target, "attach", sid, "--escape", "ab")
        ok(r.code == 2 and b"--escape" in r.err, "no escape character", r)
        r = h.ctl("-t", s.target, "attach", sid, "--from", "x")
        ok(r.code == 2 and b"--from" in r.err, "no offset", r)


def detach():
    with FakeServer() as s, Home() as h:
        h.ctl("-t", s.target, "new", "--tty", "--name", "lamp", "sh")
        h.ctl("-t", s.target, "start", "lamp")
        for end, code, words in (
                (lambda t: t.type(b"\r~."), 0, b"detached"),
                (lambda t: t.process.send_signal(signal.SIGTERM), 143,
                 b"detached"),
                (lambda t: t.process.send_signal(signal.SIGHUP), 129, b""),
                (lambda t: t.process.send_signal(signal.SIGUSR1), 138, b""),
                (lambda t: t.process.send_signal(signal.SIGQUIT), 131, b"")):
            with h.terminal("-t", s.target, "attach", "lamp") as t:
                t.raw()
                t.type(b"\recho $((6*7))\r")
                ok(t.until(b"42\r\n"), "attached", t.out)
                end(t)
                eq(t.wait(), code, "the exit code of leaving")
                ok(t.is_restored(), "the terminal is as it was", t.out)
                ok(words in t.out and b"attach lamp" in t.out,
                   "how to come back is said", t.out)
        modes = (b"\x1bc\x1b]0;theirs\x07\x1b[22;2t\x1b[22;1t\x1b[>1u"
                 b"\x1b[?1049h\x1b[=3u\x1b[>5u\x1b[?1003;1016;2004;2048h"
                 b"\x1b[?1h\x1b=\x1b[>4;2m\x1b[4 q\x1b]11;#123\x07")
        undo = [b"\x1b[<1u\x1b[=0u\x1b[?1049l\x1b[<1u", b"\x1b]111\x1b\\",
                b"\x1b[23;0t\x1b[23;0t"] + [
                    b"\x1b[" + x for x in (
                        b"!p", b"?1l", b"?1003l", b"?1016l", b"?2004l",
                        b"?2048l", b">4m", b"0 q", b"?25h")]
        # what went before is shown again: each has a mark of its own
        for ready, end in (
                (b"one ready", lambda t: t.type(b"~.")),
                (b"two ready", lambda t: t.process.send_signal(
                    signal.SIGSEGV))):
            with h.terminal("-t", s.target, "attach", "lamp") as t:
                t.raw()
                t.until(b"42")
                with s.sessions[0].changed:
                    s.sessions[0].chunks.append(("out", modes + ready))
                    s.sessions[0].changed.notify_all()
                t.until(ready)
                # a line is begun only by what we type ourselves
                t.type(b"\r")
                end(t)
                t.wait()
                left = t.out[t.out.rindex(ready):]
                eq([x for x in undo if x not in left], [],
                   "all that a program changed is taken back")
                # the program may have answered first
                ok(any(map(undone, left.split(b"\r\n"))) or
                   b"?25h\r" in left,
                   "and the cursor seen, last", left)
        s.sessions[0].chunks.append(("out", b"\x1bc"))
        for number in (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS):
            with h.terminal("-t", s.target, "attach", "lamp") as t:
                t.raw()
                t.until(b"42")
                t.process.send_signal(number)
                eq(t.wait(), -number, "a crash")
                ok(t.is_restored() and undone(t.out),
                   "the terminal is as it was", t.out)
        eq(s.sessions[0].state, "RUNNING", "the session goes on")
        with h.terminal("-t", s.target, "attach", "lamp") as t:
            t.raw()
            t.type(b"\r~?")
            ok(t.until(b"detach", b"lamp, 80x24", b"tester (you)"),
               "~? helps", t.out)
            t.type(b"\r~~.\r")
            ok(t.until(b"~."), "~~ is a ~", t.out)
            t.type(b"exit 4\r")
            eq(t.wait(), 4, "until it ends")
            ok(b"exit code 4" in t.out, "which is said", t.out)
        with h.terminal("-t", s.target, "attach", "lamp") as t:
            eq(t.wait(), 4, "one that has ended")
            ok(b"42" in t.out, "shows what was", t.out)
            ok(t.out.startswith(b"\n" * 24 + b"\x1b[0m"),
               "and what the terminal showed is scrolled away first", t.out)
        with h.terminal("-t", s.target, "attach", "nobody") as t:
            eq(t.wait(), 1, "one that is not there")
            ok(t.is_restored() and b"not_found" in t.out and b"\x1b" not in
               t.out, "leaves the terminal alone", t.out)


def named():
    """A shell that is left has the name it was given to come back by."""
    with FakeServer() as s, Home() as h:
        with h.terminal("-t", s.target, "shell", "--name", "work", "cat") as t:
            t.raw()
            t.type(b"\r~.")
            eq(t.wait(), 0, "left")
            ok(b"attach work\r\n" in t.out, "by its name", t.out)


def other_escapes():
    with FakeServer() as s, Home() as h:
        h.ctl("-t", s.target, "new", "--tty", "--name", "lamp", "cat")
        h.ctl("-t", s.target, "start", "lamp")
        with h.terminal("-t", s.target, "attach", "--escape", "^]",
                        "lamp") as t:
            t.raw()
            t.type(b"\r~.x\r")
            ok(t.until(b"~.x"), "--escape ^]: ~. is input", t.out)
            t.type(b"\x1d.")
            eq(t.wait(), 0, "^]. is not")
        with h.terminal("-t", s.target, "attach", "--escape", "none",
                        "lamp") as t:
            t.raw()
            t.type(b"\r~.z\r")
            ok(t.until(b"~.z"), "--escape none", t.out)
            t.type(b"\x03")
            eq(t.wait(), 130, "until it ends")


def suspend():
    """As a shell does it: stopped, the terminal is the shell's."""
    with FakeServer() as s, Home() as h:
        h.ctl("-t", s.target, "new", "--tty", "--name", "lamp", "cat")
        h.ctl("-t", s.target, "start", "lamp")

        def stopped(t):
            with open("/proc/%d/stat" % t.process.pid) as f:
                return f.read().rpartition(")")[2].split()[0] == "T"
        with h.terminal("-t", s.target, "attach", "lamp") as t:
            for how in (lambda: t.type(b"\r~\x1a"),
                        lambda: t.process.send_signal(signal.SIGTSTP)):
                t.raw()
                how()
                ok(wait_for(lambda: stopped(t), 20), "it stops")
                ok(t.is_restored(), "the terminal is the shell's")
                t.resize(33, 44)
                t.process.send_signal(signal.SIGCONT)
                ok(t.raw(), "and taken again")
                ok(wait_for(lambda: s.sessions[0].size_now == (44, 33), 20),
                   "with its new size", s.sessions[0].size_now)
                t.resize(24, 80)
            ok(b"\x1b[?1049" not in t.out and b"\x1b[2J" not in t.out,
               "nothing is cleared", t.out)
            with s.sessions[0].changed:
                s.sessions[0].chunks.append(
                    ("out", b"\x1b[?1049h\x1b[?1000h"))
                s.sessions[0].changed.notify_all()
            t.until(b"\x1b[?1000h")
            t.type(b"\r~\x1a")
            ok(wait_for(lambda: stopped(t), 20), "on the other screen")
            t.pump()
            ok(b"\x1b[?1049l" in t.out, "which is left", t.out)
            s.messages.clear()
            t.process.send_signal(signal.SIGCONT)
            ok(t.until(b"\x1b[?1000h") and b"\x1b[2J" in t.out,
               "it comes back with its modes, and empty", t.out)
            # the client may tell it twice: after its stop, and on SIGCONT
            ok(wait_for(lambda: [m for m in s.messages if m[0] == 1][-2:] ==
                        [b"\x01\0\x50\0\x17", b"\x01\0\x50\0\x18"], 20),
               "and the program is made to draw", s.messages)
            t.type(b"back\r")
            ok(t.until(b"back"), "it goes on", t.out)
            t.type(b"~.")
            eq(t.wait(), 0, "to its end")


def resized():
    with FakeServer() as s, Home() as h:
        h.ctl("-t", s.target, "new", "--tty", "--name", "lamp", "cat")
        h.ctl("-t", s.target, "start", "lamp")
        with h.terminal("-t", s.target, "attach", "lamp") as t, \
                h.terminal("-t", s.target, "attach", "--read-only", "lamp",
                           size=(10, 10)) as ro:
            t.raw()
            ro.raw()
            t.resize(40, 120)
            ok(wait_for(lambda: s.sessions[0].size_now == (120, 40), 20),
               "the window's size goes to the session")
            for n in range(1000):
                t.resize(20 + n % 30, 100)
            t.resize(31, 101)
            ok(wait_for(lambda: s.sessions[0].size_now == (101, 31), 20),
               "the last of a thousand counts", s.sessions[0].size_now)
            ro.resize(5, 5)
            ro.type(b"nothing\r")
            t.type(b"something\r")
            ok(t.until(b"something") and ro.until(b"something"),
               "both see what is typed", (t.out, ro.out))
            ok(b"nothing" not in ro.out + t.out and
               not any(m[0] in (0, 1) and b"nothing" in m
                       for m in s.messages), "read-only types nothing")
            eq(s.sessions[0].size_now, (101, 31), "and sizes nothing")
            ok(s.lines[-1].endswith(" ro") or s.lines[-2].endswith(" ro"),
               "it asks for no more", s.lines)
            ro.type(b"\x03")
            eq(ro.wait(), 0, "Ctrl-C leaves a read-only terminal")
            t.type(b"~.")
            eq(t.wait(), 0, "as ~. leaves any")


def flood():
    """The keyboard stays the user's, however much comes."""
    with FakeServer() as s, Home() as h:
        stop = []

        def attach(handler, rest):
            session(handler)
            handler.message(0x87, struct.pack(">Q", 0))
            handler.file.read(4 + 9)        # it says that it acknowledges
            at = 0
            while not stop:
                output(handler, at, b"y\r\n" * 10000)
                at += 30000
            handler.message(0x82, struct.pack(">iI", 0, 0))
        s.odd["ATTACH"] = attach
        with h.terminal("-t", s.target, "attach", "x") as t:
            t.raw()
            t.until(b"y\r\ny\r\n")
            for _ in range(50):
                t.pump()
            t.type(b"\r~.")
            eq(t.wait(), 0, "~. in a flood")
            ok(t.is_restored(), "the terminal is as it was")
        with h.terminal("-t", s.target, "attach", "x") as t:
            t.raw()
            time.sleep(0.5)                 # nobody looks at this one
            t.type(b"\r~.")
            eq(t.wait(), 0, "~. on a terminal that takes nothing")
        stop.append(1)


def exact():
    """Every byte, in both directions, and 8-bit ones."""
    data = bytes(range(256)) * 1200
    with FakeServer() as s, Home() as h:
        h.ctl("-t", s.target, "new", "--tty", "--name", "lamp", "sh", "-c",
              "stty raw -echo; echo up; exec head -c %d" % len(data))
        h.ctl("-t", s.target, "start", "lamp")
        t = h.terminal("-t", s.target, "attach", "--escape", "none", "lamp")
        with t:
            ok(t.raw() and t.until(b"up"), "a program in raw mode", t.out)
            for i in range(0, len(data), 1024):
                t.type(data[i:i + 1024])
                t.pump(0)
            eq(t.wait(), 0, "gets all that is typed")
        ok(data in t.out, "and all that it writes is shown", len(t.out))
        r = h.ctl("-t", s.target, "attach", "lamp")
        ok(r.code == 0 and data in r.out, "also without a terminal",
           len(r.out))


def gone_wrong():
    """A daemon that is none, or not well."""
    cases = (
        (b"\0\0\0\x01\x05", 3, b"invalid", "a type that is the client's"),
        (b"\xff\xff\xff\xff", 3, b"invalid", "a length beyond all"),
        (b"\0\0\0\0", 3, b"invalid", "none at all"),
        (b"\0\0\0\x05\x82abcd", 3, b"invalid", "half an exit"),
        (b"\0\0\0\x05\x84\0\0\0\0", 3, b"invalid", "no size"),
        (b"\0\0\0\x0b\x80\0\0\0\0\0\0\0\0ab", 3, b"closed over there",
         "an end in the middle"),
        (b"\0\0", 3, b"closed over there", "half a length"),
        (b"\0\0\0\x12\x83too_many\0n\x1b[31m\n\xff", 1,
         b"too_many: n\\x1b[31m\\n\\xff", "an error"),
    )
    with FakeServer() as s, Home() as h:
        for data, code, words, name in cases:
            def attach(handler, rest, data=data):
                session(handler)
                output(handler, 0, b"\x1b[?1049hhere")
                handler.sock.sendall(data)
                handler.sock.shutdown(socket.SHUT_WR)
                handler.file.read()
            s.odd["ATTACH"] = attach
            with h.terminal("-t", s.target, "attach", "x") as t:
                eq(t.wait(), code, name)
                ok(t.is_restored() and words in t.out and
                   t.out.index(b"here") < t.out.index(b"\x1b[?25h") <
                   t.out.index(words),
                   "is told of when the terminal is restored", t.out)
        for answer in (b"{}\n", b"[]\n", b'{"ok":false}\n', b"x\n", b""):
            s.odd["ATTACH"] = lambda handler, rest: (
                handler.sock.sendall(answer),
                handler.sock.shutdown(socket.SHUT_RDWR))
            r = h.ctl("-t", s.target, "attach", "x")
            ok(r.code in (1, 3) and r.err, "an answer that is %r" % answer,
               r)

        def lost(handler, rest):
            session(handler)
            output(handler, 0, b"ab")
            handler.message(0x83, b"read_only\0which is not the end")
            handler.message(0x85, struct.pack(">QQ", 2, 1002))
            handler.message(0x99, b"of a later version")
            handler.message(0x86, b'{"not": "a list"}')
            handler.message(0x86, b"[1, null, {}]")
            output(handler, 1002, b"cd")
            handler.message(0x82, struct.pack(">iI", -1, 9))
        s.odd["ATTACH"] = lost
        with h.terminal("-t", s.target, "attach", "x") as t:
            eq(t.wait(), 137, "a signal is 128 and its number")
            ok(b"not the end" not in t.out and
               b"abcd" in t.out and b"1000 bytes" in t.out and
               b"SIGKILL" in t.out, "what is lost is told", t.out)


def stalled():
    """A daemon that does not read: what is typed stays whole, and nothing
    else is sent, however many commands of the client are among it."""
    typed, got = threading.Semaphore(0), bytearray()
    shown = b"of the program" * 500

    def attach(handler, rest):
        session(handler)
        for i in range(3):
            typed.acquire(timeout=60)
            output(handler, i * len(shown), shown)
        typed.acquire(timeout=60)
        handler.sock.settimeout(3)
        try:
            while more := handler.sock.recv(65536):
                got.extend(more)
        except socket.timeout:
            pass
        handler.message(0x82, struct.pack(">iI", 0, 0))
    keys = b"\r~?" * 1000
    with Home() as h, FakeServer(path=os.path.join(h.dir, "stalled")) as s:
        s.odd["ATTACH"] = attach
        with h.terminal("-t", s.target, "attach", "x") as t:
            t.raw()
            os.set_blocking(t.fd, False)
            n = 0
            for _ in range(4):
                last = time.monotonic()
                while time.monotonic() < last + 1.5:
                    try:
                        n += os.write(t.fd, keys[n % 3:n % 3 + 1500])
                        last = time.monotonic()
                    except BlockingIOError:
                        pass
                    t.pump(0.01)
                typed.release()
            eq(t.wait(), 0, "it goes on when it is read")
    ok(n > 65536, "much was typed", n)
    at, odd = 0, set()
    while at < len(got):
        size, kind = struct.unpack_from(">IB", got, at)
        body = bytes(got[at + 5:at + 4 + size])
        if (kind, body) != (0, b"\r") and kind != 3:
            odd.add((kind, body[:40]))
        at += 4 + max(size, 1)
    eq((at, odd), (len(got), set()), "each message is one that was typed")


def unanswered():
    """A daemon that takes a command and says nothing: people can leave."""
    with FakeServer() as s, Home() as h:
        held = threading.Event()

        def hold(handler, rest):
            held.wait(60)
        s.odd["ATTACH"] = hold
        with h.terminal("-t", s.target, "attach", "x") as t:
            ok(wait_for(lambda: any("ATTACH" in x for x in s.lines), 10),
               "attach is asked for")
            t.type(b"\x03")
            ok(t.wait(10) not in (None, 0) and t.is_restored(),
               "Ctrl-C ends attach", t.out)
        s.odd["START"] = hold
        with h.terminal("-t", s.target, "run", "/bin/true") as t:
            ok(wait_for(lambda: any("START" in x for x in s.lines), 10),
               "run waits")
            t.type(b"\x03")
            eq(t.wait(10), 3, "Ctrl-C ends run")
            ok(b"interrupted" in t.out, "as it says", t.out)
        ok(wait_for(lambda: any("DELETE" in x for x in s.lines), 10),
           "and nothing is left of it")
        for keys, code in ((b"\x03", 0), (b"\x1c", 131)):
            with h.terminal("-t", s.target, "top", "--delay", "1") as t:
                ok(t.raw() and t.until(b"\x1b[?1049h"), "top is there")
                s.lines.clear()
                s.odd["LIST"] = hold
                ok(wait_for(lambda: any("LIST" in x for x in s.lines), 10),
                   "it asks, and is not answered")
                t.type(keys)
                eq(t.wait(10), code, f"{keys} ends it")
                ok(t.is_restored() and b"\x1b[?1049l" in t.out,
                   "the terminal is as it was", t.out[-100:])
                del s.odd["LIST"]
        held.set()


def cut_network():
    """The connection is cut while attached: said, with how to come back."""
    with FakeServer() as s, Home() as h:
        h.ctl("-t", s.target, "new", "--tty", "--name", "lamp", "cat")
        h.ctl("-t", s.target, "start", "lamp")
        with h.terminal("-t", s.target, "attach", "lamp") as t:
            t.raw()
            t.type(b"before\r")
            t.until(b"before\r\nbefore")
            s.sessions[0].clients[0][0].sock.shutdown(socket.SHUT_RDWR)
            eq(t.wait(), 3, "a cut connection")
            ok(t.is_restored() and b"attach lamp" in t.out, "is told", t.out)
        with h.terminal("-t", s.target, "attach", "lamp") as t:
            ok(t.until(b"before\r\nbefore"), "a new one shows all", t.out)
            t.raw()
            t.type(b"after\r\x04")
            eq(t.wait(), 0, "and goes on")
            ok(b"after\r\nafter" in t.out, "as if nothing had been", t.out)


def queries():
    """What asks a terminal is for one terminal, and once."""
    ask = b"\x1b[c\x1b[6n\x1b]11;?\x07"

    def attach(handler, rest):
        session(handler)
        you = dict(user="u", role="rw", you=True, controller=controls)
        handler.message(0x86, json.dumps([you]).encode())
        handler.message(0x81, struct.pack(">QH", 0, 0) + b"old" + ask)
        handler.message(0x87, struct.pack(">Q", 3 + len(ask)))
        output(handler, 3 + len(ask), b"new" + ask + b"end")
        handler.message(0x82, struct.pack(">iI", 0, 0))
    with FakeServer() as s, Home() as h:
        s.odd["ATTACH"] = attach
        for controls, more, wanted in (
                (True, (), b"oldnew" + ask + b"end"),
                (False, (), b"oldnewend"),
                (True, ("--read-only",), b"oldnewend")):
            with h.terminal("-t", s.target, "attach", "x", *more) as t:
                eq(t.wait(), 0, "a program that asks its terminal")
                ok(t.out.startswith(wanted), "controls %r %r" %
                   (controls, more), t.out)
        r = h.ctl("-t", s.target, "attach", "x")
        eq(r.out, b"old" + ask + b"new" + ask + b"end",
           "a file gets what was written")


def record():
    with FakeServer() as s, Home() as h:
        def attach(handler, rest):
            handler.server.asked = rest
            session(handler)
            handler.message(0x84, struct.pack(">HH", 90, 30))
            handler.message(0x81, struct.pack(">QH", 5, 4) + b"\x1b[0mold")
            handler.message(0x84, struct.pack(">HH", 100, 40))
            output(handler, 8, b"gr\xc3")
            output(handler, 11, b"\xbcn \xff\"\\\x1b[31m\x00")
            handler.message(0x85, struct.pack(">QQ", 30, 1030))
            handler.message(0x82, struct.pack(">iI", 3, 0))
        s.odd["ATTACH"] = attach
        r = h.ctl("-t", s.target, "record", "lamp")
        lines = [json.loads(line) for line in r.out.splitlines()]
        ok(r.code == 0 and lines[0]["version"] == 2 and
           (lines[0]["width"], lines[0]["height"]) == (90, 30) and
           lines[0]["title"] == "lamp", "record: the header", r)
        eq([line[1:] for line in lines[1:]],
           [["o", "\x1b[0mold"], ["r", "100x40"], ["o", "gr"],
            ["o", "\u00fcn \ufffd\"\\\x1b[31m\x00"],
            ["m", "1000 bytes are lost"]], "and what happened")
        ok(all(a[0] <= b[0] for a, b in zip(lines[1:], lines[2:])) and
           b"1000 bytes" in r.err, "in order", r)
        eq(s.asked, "lamp ro", "it only looks")
        r = h.ctl("-t", s.target, "record", "lamp", "-o", path("a.cast"))
        ok(r.code == 0 and r.out == b"" and len(open(
            path("a.cast")).readlines()) == 6, "into a file", r)
        r = h.ctl("-t", s.target, "record", "lamp", "-o", "/no/such/x")
        eq(r.code, 2, "into none")
        with h.terminal("-t", s.target, "record", "lamp") as t:
            eq(t.wait(), 2, "a terminal is no file")
            ok(b">lamp.cast" in t.out, "and it is said what is", t.out)
        del s.odd["ATTACH"]
        h.ctl("-t", s.target, "new", "--tty", "--name", "cat", "cat")
        h.ctl("-t", s.target, "start", "cat")
        with open(path("b.cast"), "wb") as f:
            p = h.spawn("-t", s.target, "record", "cat", stdout=f)
        ok(wait_for(lambda: s.sessions[-1].clients, 20), "it is there")
        os.write(s.sessions[-1].master_fd, b"typed\n")
        ok(wait_for(lambda: "typed" in open(path("b.cast")).read(), 20),
           "what has happened is in the file at once")
        p.send_signal(signal.SIGINT)
        eq(p.wait(20), 0, "Ctrl-C ends a recording")
        ok(all(json.loads(line) for line in open(path("b.cast"))), "whole")
        r = h.ctl("-t", s.target, "record", "nobody")
        ok(r.code == 1 and r.out == b"", "a session that is not there", r)


def play():
    cast = path("c.cast", HEAD + '[0.1, "o", "a\\r\\n"]\n'
                '[0.2, "i", "typed"]\n[0.3, "r", "100x50"]\n'
                '[100, "o", "b\\u001b[6n\\u001b]52;c;eA==\\u0007c"]\n')
    with Home() as h:
        r = h.ctl("play", cast)
        ok(r.code == 0 and r.out == b"a\r\nb\x1b[6n\x1b]52;c;eA==\x07c",
           "play into a pipe: at once, as it is", r)
        r = h.ctl("play", "-", data=open(cast, "rb").read())
        ok(r.code == 0 and r.out.startswith(b"a\r\nb"), "from a pipe", r)
        began = time.monotonic()
        with h.terminal("play", cast, "--idle-limit", "0.5") as t:
            eq(t.wait(), 0, "play --idle-limit")
            ok(t.out.startswith(b"a\r\nbc") and t.is_restored(),
               "nothing that a terminal answers", t.out)
        ok(time.monotonic() - began >= 0.6, "in its time")
        with h.terminal("play", cast, "--speed", "1000") as t:
            eq(t.wait(), 0, "play --speed")
        for keys, name in ((b"q", "q"), (b"\x03", "Ctrl-C"),
                           (b" q", "q while it is paused")):
            with h.terminal("play", cast) as t:
                ok(t.until(b"a\r\n"), "it begins", t.out)
                t.type(keys)
                eq(t.wait(), 0, name)
                ok(t.is_restored() and b"c" not in t.out.split(
                    b"\x1b")[0], "ends it", t.out)
        with h.terminal("play", cast) as t:
            t.until(b"a\r\n")
            t.process.send_signal(signal.SIGTERM)
            eq(t.wait(), 143, "a signal")
            ok(t.is_restored(), "restores the terminal too")
        with h.terminal("play", cast, "--speed", "1000",
                        size=(10, 40)) as t:
            eq(t.wait(), 0, "on a small terminal")
            ok(b"40x10" in t.out and b"80x24" in t.out and
               b"--resize" in t.out,
               "a terminal that is too small is told of", t.out)
            ok(b"came to have 100x50" in t.out.split(b"bc")[1],
               "and, behind it, that the recording grew", t.out)
            ok(b"\x1b[8;" not in t.out, "it is not resized", t.out)
        with h.terminal("play", cast, "--speed", "1000", "--resize",
                        size=(10, 40)) as t:
            eq(t.wait(), 0, "play --resize")
            eq(t.out.count(b"\x1b[8;"), 3, "asks for three sizes")
            ok(t.out.startswith(b"\x1b[8;24;80ta\r\n\x1b[8;50;100tbc") and
               t.out.endswith(b"\x1b[8;10;40t"),
               "the recording's, its new one, and at last its own", t.out)
        r = h.ctl("play", cast, "--resize")
        ok(r.code == 0 and b"\x1b[8;" not in r.out, "a file has no size", r)
        marks = path("marks.cast", HEAD + "".join(
            '[%d, "o", "<%d>"]\n[%d, "m", "here"]\n' % (n, n, n)
            for n in (0, 1000, 2000, 3000, 4000)))
        with h.terminal("play", marks) as t:
            t.raw()
            ok(t.until(b"<0>"), "a long recording", t.out)
            t.type(b" ]")
            ok(t.until(b"<1000>"), "] goes to the next mark", t.out)
            t.type(b".")
            ok(t.until(b"<2000>"), ". is a step", t.out)
            t.type(b"]")
            t.type(b"]")
            ok(t.until(b"<3000>"), "] again", t.out)
            t.type(b"q")
            eq(t.wait(), 0, "q")
            ok(b"<4000>" not in t.out, "it has not gone on", t.out)
        v3 = path("v3.cast", '{"version":3,"term":{"cols":80,"rows":24}}\n'
                  '# comment\n[0.1,"o","x"]\n[0.1,"o","y"]\n[0,"x","0"]\n')
        r = h.ctl("play", v3)
        eq((r.code, r.out), (0, b"xy"), "version 3")
        for text, words in (
                ("", b"empty"), ("x\n", b"line 1"), ("{}\n", b"asciicast"),
                ('{"version": 1, "width": 1, "height": 1}\n', b"2 and 3"),
                (HEAD + "[0, \"o\"]\n", b"line 2"),
                (HEAD + "[0, \"o\", \"x", b"line 2"),
                (HEAD + "[NaN, \"o\", \"x\"]\n", b"line 2"),
                (HEAD + "[" * 100000 + "\n", b"line 2"),
                (HEAD + "[0, \"o\", \"" + "x" * (17 << 20) + "\"]\n",
                 b"16 MiB")):
            r = h.ctl("play", path("bad.cast", text))
            ok(r.code == 2 and words in r.err and r.out == b"" and
               len(r.err) < 300, "a file that is wrong: %r" % text[:60], r)
        for args in (["--speed", "0"], ["--speed", "nan"], ["--speed", "x"],
                     ["--idle-limit", "-1"], ["--idle-limit", "1e99"]):
            r = h.ctl("play", cast, *args)
            ok(r.code == 2 and args[0].encode() in r.err, str(args), r)
        eq(h.ctl("play", path("none")).code, 2, "no file")
        r = h.ctl("play", "/dev/zero")
        ok(r.code == 2 and b"16 MiB" in r.err, "an endless line", r)


def keys():
    with FakeServer() as s, Home() as h:
        r = h.ctl("-t", s.target, "keys", "lamp", "--table")
        ok(r.code == 0 and r.out == b"read-write  dls_" + b"A" * 43 +
           b"\nread-only   dlv_" + b"B" * 43 + b"\n" and b"account" in r.err,
           "keys", r)
        h.ctl("-t", s.target, "keys", "--rotate", "lamp")
        eq(s.lines[-1], "KEYS lamp rotate", "keys --rotate")
        r = h.ctl("-t", s.target, "ticket", "lamp", "ro", "--table")
        eq((r.out, s.lines[-1]), (b"dlk_" + b"C" * 43 + b"\n",
                                  "TICKET lamp ro"), "ticket")
        r = h.ctl("-t", s.target, "ticket", "lamp", "rx")
        ok(r.code == 2 and b"rx" in r.err, "no kind of ticket", r)
        for kind in ("dls_", "dlv_", "dlk_", "dlo_", "dlc_"):
            key = kind + "x" * 43
            s.tokens[key] = "guest"
            r = h.ctl("-t", s.target, "whoami", DEBUGLANTERN_TOKEN=key)
            if kind in ("dlo_", "dlc_"):
                eq(r.code, 2, kind + " is a browser's")
            else:
                ok(b"guest" in r.out, kind + " is as good as a token", r)


def web():
    key = b"dlo_" + b"D" * 43
    with FakeServer() as s, Home() as h:
        for page, prefix in (
                ({"port": 8080, "tls": False}, b"http://127.0.0.1:8080"),
                ({"port": 443, "tls": True}, b"https://127.0.0.1:443"),
                ({"port": 1, "tls": True, "address": "::2"},
                 b"https://[::2]:1"),
                ({"port": 1, "tls": True, "address": "rig"},
                 b"https://rig:1")):
            s.web = page
            r = h.ctl("-t", s.target, "web")
            eq((r.code, r.out, r.err), (0, prefix + b"/login#" + key + b"\n",
                                        b""), "web: %r" % page)
        r = h.ctl("-t", s.target, "web", "--json")
        eq(json.loads(r.out)["address"], "https://rig:1/login#" +
           key.decode(), "web --json")
        eq(s.lines[-2:], ["LOGIN link", "VERSION"], "how it is asked for")
        for page in (None, {}, {"port": 0}, {"port": 70000}, "x"):
            s.web = page
            r = h.ctl("-t", s.target, "web")
            ok(r.code == 1 and b"web-port" in r.err and r.out == b"",
               "no page: %r" % page, r)
        s.web = {"port": 8080, "tls": False}
        log = path("opened")
        os.makedirs(path("bin"), exist_ok=True)
        path("bin/xdg-open", '#!/bin/sh\nstat -c "%%a $1" "$1" >%s\n'
             'cat "$1" >>%s\n' % (log, log))
        env = {"PATH": path("bin") + ":" + os.environ["PATH"],
               "XDG_RUNTIME_DIR": work.name}
        r = h.ctl("-t", s.target, "web", "--open", **env)
        with open(log) as f:
            mode, name = f.readline().split()
            text = f.read()
        ok(r.code == 0 and mode == "600" and name.startswith(work.name) and
           "url=http://127.0.0.1:8080/login#" + key.decode() + '"' in text,
           "--open: by a file of this user's", (r, mode, name, text))
        ok(key.decode() not in name, "its name tells nothing", name)
        os.unlink(name)
        path("bin/xdg-open", "#!/bin/sh\nexit 3\n")
        r = h.ctl("-t", s.target, "web", "--open", **env)
        ok(r.code == 2 and b"browser" in r.err and key in r.out and
           not [n for n in os.listdir(work.name) if n.endswith(".html")],
           "no browser", r)
        s.web["address"] = 'x"><script>'
        r = h.ctl("-t", s.target, "web", "--open", **env)
        eq(r.code, 2, "an address that is more than that")


def over_tls():
    """Records of TLS hold more than poll tells of."""
    cert = Certificate(work.name, "rig")
    data = os.urandom(1 << 20)

    def attach(handler, rest):
        session(handler)
        for i in range(0, len(data), 32768):
            output(handler, i, data[i:i + 32768])
        handler.message(0x82, struct.pack(">iI", 0, 0))
        handler.file.read(1)
    with FakeServer(tls=cert.server()) as s, Home() as h:
        s.odd["ATTACH"] = attach
        r = h.ctl("-t", s.target, "--fingerprint", cert.fingerprint(),
                  "attach", "x")
        ok(r.code == 0 and r.out == data, "all of it, over TLS", len(r.out))


ok(os.path.exists(CTL), "it is built")
run_tests(shell, run_on_terminal, detach, named, other_escapes, suspend, resized,
          flood, exact, gone_wrong, stalled, unanswered, cut_network, queries,
          record, play, keys, web, over_tls)
