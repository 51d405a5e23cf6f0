#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# debuglanternctl at the terminals of a real daemon: shells, editors, several
# who are attached, and what happens when something in between goes away.
import os
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from ctl_rig import CTL, Screen, Terminal  # noqa: E402
from dl import eq, helper, in_modes, ok, run_tests, wait_for  # noqa: E402

BASH = "debuglanternctl shell --name %s -- bash --norc --noprofile"


def environment(d, **more):
    env = {k: v for k, v in d.env.items()
           if not k.startswith(("DEBUGLANTERN_", "XDG_", "TMUX"))}
    env.update(LC_ALL="C.UTF-8", TERM="xterm-256color",
               DEBUGLANTERN_TARGET="127.0.0.1:%d" % d.port, **more)
    return env


def screen(d, **kw):
    return Screen(environment(d), uid=d.uid, **kw)


def terminal(d, *args, target=None, **kw):
    env = environment(d)
    if target is not None:
        env["DEBUGLANTERN_TARGET"] = target
    if d.uid is not None:
        kw.update(user=d.uid, group=d.uid, extra_groups=[])
    return Terminal([CTL, *args], env, **kw)


def started(d, name, *command):
    """A session on a terminal that runs."""
    r = d.ctl("new", "--tty", "--name", name, "--", *command)
    if r.returncode == 0:
        r = d.ctl("start", name)
    if r.returncode != 0:
        raise RuntimeError(repr(r))


def end(d, *names):
    for name in names:
        d.ctl("kill", name)
        r = d.ctl("delete", name)
        if r.returncode != 0 and b"not_found" not in r.stderr:
            raise RuntimeError(repr(r))


def bash(d):
    with screen(d) as s:
        s.run("stty -a >%s/before; echo here" % s.dir)
        s.until("here")
        s.run(BASH % "one")
        s.run("PS1='rig> '; stty size; echo $((6*7))")
        ok(s.until("24 80", "42"), "a shell, as large as its screen",
           s.text())
        ok("here" in s.text(), "what was on the screen stays", s.text())
        s.resize(30, 100)
        s.run("stty size; echo $COLUMNS")
        ok(s.until("30 100", "100"), "resized while attached", s.text())
        s.run("sleep 1000")
        time.sleep(0.3)
        s.type("C-c")
        s.run("echo st=$?")
        ok(s.until("st=130"), "Ctrl-C", s.text())
        s.run("sleep 1000")
        time.sleep(0.3)
        s.type("C-z")
        ok(s.shows("Stopped"), "Ctrl-Z is the shell's", s.text())
        s.run("kill -9 %1; wait; printf '\\303\\274 \\360\\237\\230\\200\\n'")
        ok(s.until("\u00fc \U0001f600"), "UTF-8", s.text())
        s.run("exit 3")
        s.back()
        s.run("echo code=$?; stty -a >%s/after; echo done" % s.dir)
        ok(s.until("code=3", "done"), "its exit code", s.text())
        eq(open(s.dir + "/after").read().split(";")[3:],
           open(s.dir + "/before").read().split(";")[3:],
           "the terminal is as it was")
    eq(d.client().cmd("LIST"), [], "no session is left")


def editors(d):
    with screen(d) as s:
        s.run("seq 100 140")
        s.until("140")
        s.run("debuglanternctl shell --name ed --cwd /tmp -- vim -u NONE -n")
        ok(s.shows("VIM - Vi IMproved"), "vim", s.text())
        eq(s.flag("alternate_on"), "1", "on the other screen")
        s.type("i", "hello from vim", "Escape")
        ok(s.until("hello from vim"), "something is typed", s.text())
        s.type("Enter", "~.")
        ok(s.shows("come back with"), "detached", s.text())
        ok(s.flag("alternate_on") == "0" and s.until("140") and
           "hello" not in s.text(), "what was there before is there again",
           s.text())
        s.run("debuglanternctl attach ed")
        ok(s.until("hello from vim", "~"), "attached again: the screen is "
           "as it was", s.text())
        eq(s.flag("alternate_on"), "1", "the same one")
        s.resize(20, 60)
        s.run(":set lines? columns?")
        ok(s.shows("lines=20") and s.shows("columns=60"), "resized",
           s.text())
        s.type("Escape", "Enter", "~", "C-z")
        ok(s.shows("Stopped"), "suspended", s.text())
        eq(s.flag("alternate_on"), "0", "the shell's screen")
        s.back()
        s.run("echo between; fg")
        ok(s.until("hello from vim", "~"), "and back: it is drawn again",
           s.text())
        s.run(":q!")
        s.back()
        s.run("echo code=$?")
        ok(s.until("code=0"), "left", s.text())
        eq((s.flag("alternate_on"), s.flag("mouse_any_flag"),
            s.flag("cursor_flag")), ("0", "0", "1"), "nothing stays behind")
        ok("between" in s.text(), "with the shell's screen", s.text())
    end(d, "ed")


def pager(d):
    with screen(d) as s:
        s.run("debuglanternctl shell --name pg -- "
              "sh -c 'seq 1 5000 | less -R'")
        ok(s.until("1", "23"), "less", s.text())
        s.type("PageDown")
        ok(s.until("24", "45"), "a page", s.text())
        s.type("G")
        ok(s.until("5000"), "to the end", s.text())
        s.type("q")
        s.back()
        s.run("echo code=$?")
        ok(s.until("code=0"), "and out", s.text())


def together(d):
    """Two who work in one shell, and one who may only look."""
    started(d, "sh", "sh", "-c", "stty -echo; PS1= exec sh")
    with terminal(d, "attach", "sh") as a, terminal(d, "attach", "sh") as b, \
            terminal(d, "attach", "--read-only", "sh", size=(5, 9)) as ro:
        for t in (a, b, ro):
            t.raw()
        a.type(b"echo from-$((1+1))\r")
        ok(all(t.until(b"from-2\r\n") for t in (a, b, ro)),
           "all see what one does", (a.out, b.out, ro.out))
        b.type(b"echo from-$((2+2))\r")
        ok(all(t.until(b"from-4\r\n") for t in (a, b, ro)),
           "or another", (a.out, b.out, ro.out))
        ro.type(b"echo never-$((3+3))\r")
        b.resize(33, 99)
        b.type(b"stty size; echo from-$((4+4))\r")
        ok(b.until(b"33 99\r\n", b"from-8\r\n") and
           ro.until(b"from-8\r\n"), "the size is that of who typed last",
           b.out)
        ok(b"never" not in a.out + b.out + ro.out,
           "who may only look types nothing", ro.out)
        a.type(b"~?")
        ok(a.until(b"detach", b"sets the size") and
           a.out.count(b"read-only\r\n") == 1, "~? tells who is there",
           a.out[-600:])
        ro.type(b"\x03")
        eq(ro.wait(), 0, "who looks leaves")
        b.type(b"\r~.")
        eq(b.wait(), 0, "another one detaches")
        a.type(b"\recho on; exit 5\r")
        eq(a.wait(), 5, "the last one sees the end")
        ok(b"on\r\n" in a.out and b"exit code 5" in a.out, "of it", a.out)
    end(d, "sh")


def netproc_dies(d):
    started(d, "sh", "sh", "-c", "PS1=; exec sh")
    with terminal(d, "attach", "sh") as t:
        t.raw()
        t.type(b"echo $((6*7)) before; printf '\\033[?1049h\\033[?1000h'\r")
        ok(t.until(b"42 before", b"\x1b[?1000h"), "attached", t.out)
        pid = d.role_pid("netproc")
        os.kill(pid, signal.SIGKILL)
        eq(t.wait(), 3, "netproc is killed")
        ok(t.is_restored() and b"\x1b[?1049l" in t.out and
           b"\x1b[?1000l" in t.out, "the terminal is restored", t.out)
        ok(b"the connection is lost; the session goes on" in t.out and
           b"debuglanternctl attach sh" in t.out, "it is said", t.out)
    ok(wait_for(lambda: d.role_pid("netproc") not in (None, pid), 20),
       "there is a new one")
    with terminal(d, "attach", "sh") as t:
        ok(t.until(b"42 before") and t.until(b"\x1b[?1000h"),
           "a new attachment shows what was", t.out)
        t.raw()
        t.type(b"echo $((7*7)) after; exit\r")
        eq(t.wait(), 0, "and goes on")
        ok(b"49 after" in t.out, "where it was", t.out)
    end(d, "sh")


class Between:
    """The network: it can stall, and it can be cut."""

    def __init__(self, port):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.target = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.port, self.ends, self.stalled = port, [], threading.Event()
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.port))
            self.ends += [near, far]
            for a, b in ((near, far), (far, near)):
                threading.Thread(target=self.copy, args=(a, b),
                                 daemon=True).start()

    def copy(self, a, b):
        try:
            while data := a.recv(65536):
                while self.stalled.is_set():
                    time.sleep(0.05)
                b.sendall(data)
            b.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def cut(self):
        for s in self.ends:
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.listener.close()
        self.cut()


def network(d):
    """Clients of the proxy are whoever the proxy is: this process."""
    if d.uid is not None:
        ok(os.geteuid() == 0, "a user's daemon serves no proxy of root's")
        return
    started(d, "sh", "sh", "-c", "PS1=; exec sh")
    net = Between(d.port)
    with terminal(d, "attach", "sh", target=net.target) as t:
        t.raw()
        t.type(b"echo $((6*7))\r")
        ok(t.until(b"42\r\n"), "over a network", t.out)
        net.cut()
        eq(t.wait(), 3, "which is cut")
        ok(t.is_restored() and b"attach sh" in t.out, "is said", t.out)
    with terminal(d, "attach", "sh", target=net.target) as t:
        ok(t.until(b"42\r\n"), "one that is there again", t.out)
        t.raw()
        net.stalled.set()
        t.type(b"\recho lost?\r" * 20 + b"~?")
        ok(t.until(b"detach"), "one that stalls: the client does not",
           t.out)
        t.type(b"~.")
        eq(t.wait(), 0, "and lets one go")
        ok(t.is_restored(), "with the terminal as it was")
    net.close()
    end(d, "sh")


def flood(d):
    started(d, "sh", "bash", "--norc", "--noprofile")
    with terminal(d, "attach", "sh") as t:
        t.raw()
        t.type(b"yes debuglantern\r")
        ok(t.until(*[b"debuglantern\r\n"] * 100), "a flood", t.out[:200])
        for _ in range(200):
            t.pump()
        t.type(b"\x03")
        t.type(b"echo $((6*7)) back\r")
        ok(t.until(b"42 back\r\n"), "Ctrl-C ends it", t.out[-300:])
        t.type(b"cat /dev/zero | tr '\\0' x\r")
        t.until(b"x" * 10000)
        t.type(b"\r~.")
        eq(t.wait(), 0, "~. leaves one")
        ok(t.is_restored(), "with the terminal as it was")
    end(d, "sh")
    want = b"".join(b"%d\r\n" % n for n in range(1, 200001))
    for n in range(5):
        r = d.ctl("shell", "seq", "1", "200000",
                  stdin=subprocess.DEVNULL)
        if r.returncode != 0 or r.stdout != want:
            break
    ok(r.returncode == 0 and r.stdout == want, "all of it, five times of "
       "five", (n, r.returncode, len(r.stdout), r.stderr))


def eight_bits(d):
    data = bytes(range(256)) * 200
    with terminal(d, "shell", "--escape", "none", "--", "sh", "-c",
                  "stty raw -echo; echo up; exec head -c %d" %
                  len(data)) as t:
        ok(t.raw() and t.until(b"up\n"), "a program in raw mode", t.out)
        at = 0
        while at < len(data):
            at += os.write(t.fd, data[at:at + 1024])
            t.pump(0)
        eq(t.wait(), 0, "gets what is typed, to the last byte")
        ok(data in t.out, "and so do we", (len(t.out), t.out[-200:]))


def run_tty(d):
    with terminal(d, "run", "--tty", helper("printer"), size=(9, 33)) as t:
        eq(t.wait(), 0, "run --tty: a program of ours")
        ok(t.is_restored(), "ends", t.out)
    with terminal(d, "run", "--tty", "/bin/sh", "-c",
                  "stty size; kill -TERM $$", size=(9, 33)) as t:
        eq(t.wait(), 143, "by a signal")
        ok(b"9 33\r\n" in t.out, "on a terminal as large as this one", t.out)
    r = d.ctl("shell", "no-such-command", stdin=subprocess.DEVNULL)
    ok(r.returncode == 1 and b"cannot find" in r.stderr,
       "a command that is not there", r)
    r = d.ctl("shell", "--cwd", "/no/such", "ls", stdin=subprocess.DEVNULL)
    ok(r.returncode == 1 and b"director" in r.stderr, "nor its directory", r)
    r = subprocess.run(
        ["bash", "-c", CTL + " shell seq 1 100000000 | head -n 2; "
         "echo ${PIPESTATUS[0]}"], env=environment(d), timeout=60,
        stdin=subprocess.DEVNULL, capture_output=True, **(
            {} if d.uid is None else {"user": d.uid, "group": d.uid,
                                      "extra_groups": []}))
    eq((r.stdout, r.stderr), (b"1\r\n2\r\n141\n", b""),
       "output that nobody reads")
    eq(d.client().cmd("LIST"), [], "no session is left")
    r = d.ctl("run", helper("hello"))
    eq((r.returncode, r.stdout), (0, b"Hello world\n"), "without, as ever")
    d.ctl("upload", "--name", "plain", helper("sleeper"))
    d.ctl("start", "plain")
    r = d.ctl("attach", "plain", stdin=subprocess.DEVNULL)
    ok(r.returncode == 1 and b"terminal" in r.stderr,
       "a session without a terminal", r)
    end(d, "plain")


def recorded(d):
    """What was recorded looks, played, as it did."""
    cast = os.path.join(d.dir, "home", "a.cast")
    with screen(d) as s:
        started(d, "rec", "bash", "--norc", "--noprofile")
        s.run("debuglanternctl record rec -o %s & sleep 0.1" % cast)
        ok(wait_for(lambda: os.path.exists(cast), 20), "recording")
        s.run("clear; debuglanternctl attach rec")
        s.run("PS1='> '; printf '\\033[2J\\033[H'; seq 1 5")
        ok(s.until("5"), "something is done", s.text())
        s.resize(28, 90)
        s.run("printf 'gr\\303\\274n\\n'; stty size")
        ok(s.until("28 90"), "in another size", s.text())
        wanted = s.text()[:s.text().index("28 90")]
        s.run("exit")
        s.back()
        ok(s.shows("ended with exit code 0"), "to its end", s.text())
        s.run("wait; clear; debuglanternctl play --speed 100 %s; "
              "echo code=$?" % cast)
        ok(s.until("code=0"), "played", s.text())
        played = [x.rstrip() for x in s.text().splitlines()]
        ok(all(x.rstrip() in played for x in wanted.splitlines()),
           "it is the same", (wanted, played))
        ok('"r", "90x28"' in open(cast).read(), "with its sizes",
           open(cast).read()[-600:])
    end(d, "rec")


def targets(d):
    for target in ("unix:%s/run/debuglantern.sock" % d.dir,
                   "tcp://127.0.0.1:%d" % d.port,
                   "localhost:%d" % d.port):
        with terminal(d, "shell", "--", "sh", "-c", "tty; read x; exit $x",
                      target=target) as t:
            ok(t.until(b"/dev/pts/"), "shell by " + target.split("/")[0],
               t.out)
            t.type(b"11\r")
            eq(t.wait(), 11, "and its exit code")


run_tests(in_modes(bash, editors, pager, together, network, flood,
                   eight_bits, run_tty, recorded, targets),
          in_modes(netproc_dies, calm=False))
