#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The completions of debuglanternctl, in shells that somebody types into.
import os
import pty
import select
import shlex
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from ctl_rig import CTL, NO_ACCOUNT, Certificate, Home  # noqa: E402
from dl import attempt, eq, ok, tap  # noqa: E402
from fake_server import FakeServer  # noqa: E402

COMPLETIONS = os.path.join(HERE, "../../etc/completions")
work = tempfile.TemporaryDirectory(prefix="dl-complete-")
# the program is found by its name, and hides none of the machine's
with open(work.name + "/debuglanternctl", "w") as script:
    script.write('#!/bin/sh\nexec %s "$@"\n' % shlex.join([*NO_ACCOUNT, CTL]))
os.chmod(work.name + "/debuglanternctl", 0o755)
os.mkdir(work.name + "/files")
with open(work.name + "/files/image.bin", "w") as image:
    image.write("x")

START = {
    "bash": (["bash", "--norc", "--noprofile", "-i"],
             "bind 'set enable-bracketed-paste off'; "
             "source %s" % shlex.quote(COMPLETIONS + "/debuglanternctl")),
    "zsh": (["zsh", "-f", "-i"],
            "unsetopt zle_bracketed_paste prompt_sp prompt_cr; "
            "unset zle_bracketed_paste; fpath=(%s $fpath); "
            "autoload -Uz compinit; compinit -u -d %s/dump" %
            (shlex.quote(COMPLETIONS), work.name)),
}


class Shell:
    """A shell on a terminal; what follows TAB is what it made of the line."""

    def __init__(self, name, home):
        argv, setup = START[name]
        env = home.environment({})
        env.update(PATH=work.name + ":" + env["PATH"], PS1="$ ",
                   TERM="dumb", HISTFILE="")
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(work.name + "/files")
            os.execvpe(argv[0], argv, env)
        self.command(setup + "; PS1='$ '; PROMPT='$ '; stty cols 300")

    def read(self, until, seconds=60):
        out, end = b"", time.monotonic() + seconds
        while until not in out and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.1)[0]:
                try:
                    out += os.read(self.fd, 65536)
                except OSError:
                    break
        return out

    def command(self, text):
        """Runs a command, to its end."""
        self.n = getattr(self, "n", 0) + 1
        mark = b"<done%d>" % self.n
        os.write(self.fd, text.encode() + b"; echo '<do'ne%d'>'\n" % self.n)
        # the terminal is the shell's again once it has prompted
        out = self.read(mark)
        return out if b"$ " in out.rpartition(mark)[2] else \
            out + self.read(b"$ ")

    def complete(self, line):
        """The line as the shell would run it, after TAB."""
        # typed into an echo, so that the outcome is what the shell says
        log = work.name + "/argv"
        if os.path.exists(log):
            os.unlink(log)
        # what is typed meanwhile waits until the line is completed
        os.write(self.fd, line.encode() + b"\t" +
                 b"\x01" + b"printf '<%s>' X " +
                 b"\x05 >" + log.encode() + b"\n")
        self.command("true")
        with open(log) as f:
            return f.read()[len("<X>"):]

    def listing(self, line):
        """What it offers where there is a choice."""
        os.write(self.fd, line.encode() + b"\t\t\x15")
        return self.command("true").decode(errors="replace")

    def close(self):
        os.write(self.fd, b"\x15exit\n")
        os.close(self.fd)
        os.waitpid(self.pid, 0)


def words(name, home, server, shell):
    t = "debuglanternctl -t %s " % server.target
    for line, wanted in (
            ("debuglanternctl uplo", "<debuglanternctl><upload>"),
            ("debuglanternctl fing", "<debuglanternctl><fingerprint>"),
            ("debuglanternctl --finger",
             "<debuglanternctl><--fingerprint>"),
            ("debuglanternctl help unsh", "<debuglanternctl><help><unshare>"),
            ("debuglanternctl start --sand",
             "<debuglanternctl><start><--sandbox>"),
            ("debuglanternctl start --sandbox tm",
             "<debuglanternctl><start><--sandbox><tmpfs>"),
            ("debuglanternctl token cr", "<debuglanternctl><token><create>"),
            ("debuglanternctl token create --read",
             "<debuglanternctl><token><create><--read-only>"),
            ("debuglanternctl upload ima",
             "<debuglanternctl><upload><image.bin>"),
            ("debuglanternctl --ca ima", "<debuglanternctl><--ca><image.bin>"),
            (t + "status complete-", "<debuglanternctl><-t><%s><status>"
             "<complete-me>" % server.target),
            (t + "status them", "<debuglanternctl><-t><%s><status>"
             "<them>" % server.target),
            (t + "status other/", "<debuglanternctl><-t><%s><status>"
             "<other/them>" % server.target),
            (t + "share acc", "<debuglanternctl><-t><%s><share><accept>" %
             server.target),
            (t + "share accept oth", "<debuglanternctl><-t><%s><share>"
             "<accept><other/them>" % server.target),
            (t + "token revoke 1f", "<debuglanternctl><-t><%s><token>"
             "<revoke><1f2e3d4c>" % server.target),
            ("debuglanternctl play ima",
             "<debuglanternctl><play><image.bin>"),
            (t + "attach --read-only complete-", "<debuglanternctl><-t><%s>"
             "<attach><--read-only><complete-me>" % server.target),
            (t + "ticket complete-me r", "<debuglanternctl><-t><%s><ticket>"
             "<complete-me><ro>" % server.target),
            (t + "signal complete-me TER", "<debuglanternctl><-t><%s><signal>"
             "<complete-me><TERM>" % server.target),
            (t + "limits complete-me nof", "<debuglanternctl><-t><%s><limits>"
             "<complete-me><nofile=>" % server.target),
            (t + "limits complete-me cpu=1 nof", "<debuglanternctl><-t><%s>"
             "<limits><complete-me><cpu=1><nofile=>" % server.target),
            (t + "wait complete-me comp", "<debuglanternctl><-t><%s><wait>"
             "<complete-me><comp>" % server.target),
            ("debuglanternctl shell sha512s",
             "<debuglanternctl><shell><sha512sum>"),
            ("debuglanternctl shell --esc",
             "<debuglanternctl><shell><--escape>"),
            ("debuglanternctl trace ru", "<debuglanternctl><trace><run>"),
            ("debuglanternctl trace run --pat",
             "<debuglanternctl><trace><run><--pattern>"),
            ("debuglanternctl help trace", "<debuglanternctl><help><trace>"),
            ("debuglanternctl trace run sha512s",
             "<debuglanternctl><trace><run><sha512sum>"),
            (t + "trace status complete-", "<debuglanternctl><-t><%s><trace>"
             "<status><complete-me>" % server.target),
            (t + "trace complete-", "<debuglanternctl><-t><%s><trace>"
             "<complete-me>" % server.target),
            ("debuglanternctl timeline ex",
             "<debuglanternctl><timeline><export>"),
            ("debuglanternctl timeline export x --format fo",
             "<debuglanternctl><timeline><export><x><--format><folded>"),
            ("debuglanternctl timeline sql x --format c",
             "<debuglanternctl><timeline><sql><x><--format><csv>"),
            ("debuglanternctl timeline --type cr",
             "<debuglanternctl><timeline><--type><crash>"),
            (t + "timeline kept-", "<debuglanternctl><-t><%s><timeline>"
             "<kept-one>" % server.target),
            ("debuglanternctl timeline delete ke",
             "<debuglanternctl><timeline><delete><kept-one>"),
            ("debuglanternctl unshare x _ap",
             "<debuglanternctl><unshare><x><_apt>"),
            ("debuglanternctl -t tls://rig", "<debuglanternctl><-t>"
             "<tls://rig.example:4445>")):
        seen = shell.complete(line)
        eq(seen, wanted, "%s: %s" % (name, line.replace(t, "... ")))
    seen = shell.listing("debuglanternctl share x _apt:r")
    ok("ro" in seen and "rw" in seen, name + ": how a session can be shared",
       seen)
    seen = shell.listing("debuglanternctl to")
    ok("token" in seen and "top" in seen, name + ": a choice", seen)
    if name == "zsh":
        ok("create, list and revoke" in seen, name + ": with what they are",
           seen)


def asks_nothing(name, home, shell):
    """A daemon that is not known yet is no matter for completion."""
    cert = Certificate(work.name, "unknown-" + name)
    with FakeServer(tls=cert.server()) as s:
        seen = shell.listing("debuglanternctl -t %s status a" % s.target)
        ok("FINGERPRINT" not in seen and "not known" not in seen,
           name + ": it asks nothing", seen)
        eq(s.lines, [], name + ": and says nothing")


def in_shell(name):
    with FakeServer() as server, Home() as home:
        os.makedirs(home.config, 0o700)
        with open(home.known_hosts, "w") as f:
            f.write("[rig.example]:4445 SHA256:%s\n" % ("a" * 43))
        os.chmod(home.known_hosts, 0o600)
        kept = home.dir + "/.local/state/debuglantern/timelines"
        os.makedirs(kept, 0o700)
        with open(kept + "/kept-one.calls", "w"):
            pass
        home.ctl("-t", server.target, "upload", work.name +
                 "/files/image.bin", "--name", "complete-me")
        home.ctl("-t", server.target, "upload", work.name +
                 "/files/image.bin", "--name", "them")
        server.sessions[-1].owner = "other"
        shell = Shell(name, home)
        words(name, home, server, shell)
        asks_nothing(name, home, shell)
        shell.close()


for which in START:
    attempt(which, in_shell, which)
tap.done()
