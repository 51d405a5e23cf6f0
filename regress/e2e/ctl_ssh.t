#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# ssh:// targets: the real ssh, a sshd of its own, and at the far end
# "debuglanternctl proxy" to a stand-in for the daemon, then to the daemon.
import os
import pwd
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from ctl_rig import CTL, Home  # noqa: E402
from dl import (Daemon, alone, eq, free_port, helper, ok,  # noqa: E402
                run_tests, wait_for)
from fake_server import FakeServer  # noqa: E402

work = tempfile.TemporaryDirectory(prefix="dl-ctl-ssh-")
os.chmod(work.name, 0o755)
if os.geteuid() not in (u.pw_uid for u in pwd.getpwall()):
    print("1..0 # skipped: sshd knows users with an account only")
    sys.exit(0)
USER = pwd.getpwuid(os.geteuid()).pw_name
# sshd wants this as root, and it is empty
if os.geteuid() == 0:
    os.makedirs("/run/sshd", 0o755, exist_ok=True)


def path(name):
    return os.path.join(work.name, name)


def write(name, text, mode=0o600):
    with open(path(name), "w") as f:
        f.write(text)
    os.chmod(path(name), mode)
    return path(name)


def key(name):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f",
                    path(name)], check=True)
    with open(path(name + ".pub")) as f:
        return f.read()


class Sshd:
    """On a free loopback port, with keys and a configuration of its own."""

    def __init__(self):
        host, user = key("host_key"), key("user_key")
        self.port = free_port()
        self.runtime = path("runtime")
        os.mkdir(self.runtime, 0o700)
        os.mkdir(self.runtime + "/debuglantern", 0o700)
        self.socket = self.runtime + "/debuglantern/debuglantern.sock"
        os.mkdir(path("bin"), 0o755)
        self.reach()
        conf = write("sshd_config", "\n".join((
            "ListenAddress 127.0.0.1", "Port %d" % self.port,
            "HostKey " + path("host_key"), "PidFile none", "UsePAM no",
            "AuthorizedKeysFile " + write("authorized", user),
            "PasswordAuthentication no", "KbdInteractiveAuthentication no",
            "StrictModes no", "PermitRootLogin yes", "PrintMotd no",
            "AcceptEnv DEBUGLANTERN_*",
            # a HOME whose files say nothing when the account's shell starts
            "SetEnv PATH=%s:/usr/bin:/bin XDG_RUNTIME_DIR=%s HOME=%s" %
            (path("bin"), self.runtime, self.runtime), "")))
        self.known = write("known", "[127.0.0.1]:%d %s" % (self.port, host))
        self.conf = write("ssh_config", "\n".join((
            "IdentityFile " + path("user_key"), "IdentitiesOnly yes",
            "UserKnownHostsFile " + self.known, "GlobalKnownHostsFile none",
            "StrictHostKeyChecking yes", "SendEnv DEBUGLANTERN_*",
            "Host rig", "HostName 127.0.0.1", "Port %d" % self.port, "")))
        self.ssh = write("ssh", '#!/bin/sh\nprintf "%%s\\n" "$@" >%s\n'
                         'env >%s\nexec ssh -F %s "$@"\n' %
                         (path("argv"), path("env"), self.conf), 0o755)
        self.log = open(path("sshd.log"), "w")
        self.proc = subprocess.Popen(
            ["/usr/sbin/sshd", "-D", "-e", "-f", conf],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        if not wait_for(self.answers):
            raise RuntimeError("sshd did not start")

    def answers(self):
        with socket.socket() as s:
            return s.connect_ex(("127.0.0.1", self.port)) == 0

    def reach(self, there=True):
        link = path("bin/debuglanternctl")
        if there:
            os.symlink(CTL, link)
        else:
            os.unlink(link)

    def end(self):
        self.proc.terminate()
        self.proc.wait()
        self.log.close()


sshd = Sshd()
TARGET = "ssh://127.0.0.1:%d" % sshd.port


def ctl(home, *args, target=TARGET, **kw):
    kw.setdefault("DEBUGLANTERN_SSH", sshd.ssh)
    return home.ctl("-t", target, *args, **kw)


def argv():
    with open(path("argv")) as f:
        return f.read().splitlines()


def forms():
    with FakeServer(path=sshd.socket) as s, Home() as h:
        for target, wanted in (
                (TARGET, ["-p", str(sshd.port), "--", "127.0.0.1"]),
                ("ssh://%s@127.0.0.1:%d" % (USER, sshd.port),
                 ["-p", str(sshd.port), "-l", USER, "--", "127.0.0.1"]),
                ("ssh://rig", ["--", "rig"])):
            r = ctl(h, "list", target=target)
            ok(r.code == 0 and r.out == b"[]\n" and r.err == b"", target, r)
            eq(argv(), ["-T", *wanted, "debuglanternctl", "proxy"],
               "what ssh is asked to do")
        before = len(s.lines)
        for target in ("ssh://-oProxyCommand=id", "ssh://-l@rig", "ssh://",
                       "ssh://@rig", "ssh://rig:0", "ssh://a b"):
            os.unlink(path("argv")) if os.path.exists(path("argv")) else 0
            r = ctl(h, "list", target=target)
            ok(r.code == 2 and b"ssh://" in r.err and
               not os.path.exists(path("argv")),
               target + " never gets to ssh", r)
        eq(len(s.lines), before, "nor to the daemon")


def commands():
    with FakeServer(path=sshd.socket) as s, Home() as h:
        data = os.urandom(2 << 20)
        program = write("cat", "#!/bin/sh\ncat; echo err >&2; exit 7\n")
        r = ctl(h, "run", program, data=data)
        ok(r.code == 7 and r.out == data and r.err == b"err\n",
           "run: input, output and exit code through ssh", r)
        out = path("sysroot")
        r = ctl(h, "sysroot", "-o", out)
        with open(out, "rb") as f:
            ok(f.read() == s.sysroot, "sysroot: every byte", r)
        ctl(h, "upload", program, "--name", "x")
        text = os.urandom(200000).hex().encode()
        r = ctl(h, "gdb-pipe", "x", data=text)
        ok(r.code == 0 and r.out == b"+hello+" + text.upper(),
           "gdb-pipe: bytes both ways, and the end of input is told", r)


def no_left_overs():
    """Nothing of a command's ssh outlives it."""
    def ours():
        out = subprocess.run(["ps", "-eo", "args"], capture_output=True)
        return [line for line in out.stdout.decode().splitlines()
                if line.startswith("ssh -F " + sshd.conf)]
    with FakeServer(path=sshd.socket), Home() as h:
        program = write("sleep", "#!/bin/sh\nexec sleep 60\n")
        p = h.spawn("-t", TARGET, "run", program,
                    extra={"DEBUGLANTERN_SSH": sshd.ssh})
        ok(wait_for(lambda: len(ours()) >= 2, 20), "run has its own ssh")
        p.kill()
        p.wait()
        ok(wait_for(lambda: ours() == [], 10),
           "they end with a client that is killed", ours())


def interrupts():
    """Ctrl-C is the program's, not ssh's."""
    with FakeServer(path=sshd.socket), Home() as h:
        program = write("trap", "#!/bin/sh\ntrap 'echo caught; exit 3' INT\n"
                        "echo ready\nwhile :; do sleep 0.1; done\n")
        r = h.on_terminal("-t", TARGET, "run", program,
                          answers=[(b"ready", b"\x03")],
                          DEBUGLANTERN_SSH=sshd.ssh)
        ok(r.code == 3 and b"caught" in r.out, "the program got it", r)


def trouble():
    with FakeServer(path=sshd.socket) as s, Home() as h:
        s.tokens["dlt_" + "t" * 43] = "alice"
        r = ctl(h, "whoami", DEBUGLANTERN_TOKEN="dlt_" + "t" * 43)
        ok(r.code == 0 and b'"alice"' in r.out, "a token goes through", r)
        with open(path("env")) as f:
            ok("dlt_" not in f.read(), "and not by ssh's environment")
    with Home() as h:
        r = ctl(h, "list")
        ok(r.code == 3 and b"no local socket" in r.err and
           b"exit code 3" in r.err, "no daemon there", r)
        r = ctl(h, "list", target="ssh://127.0.0.1:%d" % free_port())
        ok(r.code == 3 and b"onnection refused" in r.err and b"255" in r.err,
           "no sshd there: ssh's own words", r)
        sshd.reach(False)
        r = ctl(h, "list")
        sshd.reach()
        ok(r.code == 3 and b"127" in r.err and b"install it there" in r.err,
           "no debuglanternctl there", r)
        r = ctl(h, "list", DEBUGLANTERN_SSH="/no/such/ssh")
        ok(r.code == 3 and b"$DEBUGLANTERN_SSH" in r.err, "no ssh here", r)
        other = write("other", '#!/bin/sh\nexec ssh -F %s -o '
                      'UserKnownHostsFile=/dev/null "$@"\n' % sshd.conf,
                      0o755)
        r = ctl(h, "list", DEBUGLANTERN_SSH=other)
        ok(r.code == 3 and b"verification failed" in r.err,
           "an unknown host key is refused by ssh", r)
        evil = write("evil", "#!/bin/sh\nprintf '\\033]0;title\\007' >&2\n"
                     "exit 9\n", 0o755)
        r = h.on_terminal("-t", TARGET, "list", DEBUGLANTERN_SSH=evil)
        ok(r.code == 3 and b"\x1b]" not in r.out and b"title" in r.out and
           b"exit code 9" in r.out,
           "what it says cannot steer the terminal", r)
        silent = write("silent", "#!/bin/sh\nexec sleep 60\n", 0o755)
        t = time.monotonic()
        r = ctl(h, "--timeout", "1", "list", DEBUGLANTERN_SSH=silent)
        ok(r.code == 3 and b"within 1 s" in r.err and
           time.monotonic() - t < 20, "one that says nothing", r)


def proxy():
    with FakeServer(path=sshd.socket) as s, Home() as h:
        r = h.ctl("-t", s.target, "proxy", data=b"LIST\n")
        ok(r.code == 0 and r.out == b"[]\n",
           "proxy: the end of input is passed on, and the answer comes", r)
        r = h.ctl("proxy", data=b"LIST\n", XDG_RUNTIME_DIR=sshd.runtime,
                  DEBUGLANTERN_TARGET="elsewhere:1")
        ok(r.code == 0 and r.out == b"[]\n",
           "it goes to the local socket, whatever the environment says", r)
        with FakeServer() as far:
            r = h.ctl("-t", far.target, "proxy", data=b"LIST\n")
            ok(r.code == 0 and r.out == b"[]\n",
               "and elsewhere only where the command line names it", r)
        r = h.on_terminal("-t", s.target, "proxy")
        ok(r.code == 2 and b"terminal" in r.out, "it is not for people", r)

        def ends(handler, rest):
            handler.send([])
            handler.sock.shutdown(socket.SHUT_WR)
            s.lines.append(handler.file.readline().decode())
        s.odd["LIST"] = ends
        p = h.spawn("-t", s.target, "proxy", stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE)
        p.stdin.write(b"LIST\n")
        p.stdin.flush()
        eq(p.stdout.read(), b"[]\n", "the end of output is passed on")
        p.stdin.write(b"more\n")
        p.stdin.flush()
        ok(wait_for(lambda: "more\n" in s.lines), "input goes on after it",
           s.lines)
        p.stdin.close()
        eq(p.wait(20), 0, "and then it is over")


def real_daemon(mode):
    """System mode is root's: here the far end is always oneself."""
    with Daemon(mode, uid=os.geteuid()) as d, Home() as h:
        os.symlink(d.dir + "/run/debuglantern.sock", sshd.socket)
        r = ctl(h, "list")
        ok(r.code == 3 and b"symbolic link" in r.err,
           "a link in the place of the socket is refused there", r)
        os.unlink(sshd.socket)
        proxy = write("far", '#!/bin/sh\nexec %s -t unix:%s/run/'
                      'debuglantern.sock proxy\n' % (CTL, d.dir), 0o755)
        os.rename(path("bin/debuglanternctl"), path("bin/kept"))
        os.symlink(proxy, path("bin/debuglanternctl"))
        r = ctl(h, "run", helper("hello"))
        ok(r.code == 0 and r.out == b"Hello world\n", "run", r)
        with h.terminal("-t", TARGET, "shell", "--", "sh", "-c",
                        "stty size; read x; exit $x",
                        DEBUGLANTERN_SSH=sshd.ssh) as t:
            ok(t.until(b"24 80"), "shell: its terminal", t.out)
            t.type(b"13\r")
            eq(t.wait(), 13, "its exit code")
            ok(t.is_restored(), "and ours as it was", t.out)
        os.unlink(path("bin/debuglanternctl"))
        os.rename(path("bin/kept"), path("bin/debuglanternctl"))


try:
    run_tests(forms, commands, no_left_overs, interrupts, trouble, proxy,
              alone(real_daemon))
finally:
    sshd.end()
