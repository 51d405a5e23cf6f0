#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Which daemon debuglanternctl talks to: local sockets and whom it believes
# there, what it does without --target, hosts found by multicast DNS. In
# namespaces of its own, so that no daemon but these is there to be found.
import json
import os
import socket
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))

INSIDE = "DL_TARGETS_INSIDE"
if INSIDE not in os.environ:
    os.environ[INSIDE] = "root" if os.geteuid() == 0 else "user"
    more = [] if os.geteuid() == 0 else ["-r"]
    os.execvp("unshare", ["unshare", *more, "-n", "-m", "-p", "-u", "-f",
                          "--mount-proc", "--kill-child", "--propagation",
                          "private", sys.executable,
                          os.path.abspath(__file__)])

from ctl_rig import Certificate, Home  # noqa: E402
from dl import (ALICE, BIN, Daemon, alone, eq, free_port,  # noqa: E402
                helper, loopbacks, ok, run_tests, wait_for)
from fake_server import FakeServer  # noqa: E402

# Whoever is root of a user namespace alone can give nothing away.
AS_ROOT = os.environ[INSIDE] == "root"
SYSTEM = "/run/debuglantern"
subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", "/run"],
               check=True)
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
subprocess.run(["ip", "address", "add", "192.0.2.1/32", "dev", "lo"],
               check=True)
work = tempfile.TemporaryDirectory(prefix="dl-targets-")
os.chmod(work.name, 0o755)


def directory(name, mode=0o700):
    path = os.path.join(work.name, name)
    os.makedirs(path)
    os.chmod(path, mode)
    return path


def path_target():
    d = directory("plain")
    with FakeServer(path=d + "/s") as s, Home() as h:
        r = h.ctl("-t", s.target, "list")
        ok(r.code == 0 and r.out == b"[]\n" and r.err == b"", "unix:PATH", r)
        r = h.ctl("list", DEBUGLANTERN_TARGET=s.target)
        ok(r.code == 0, "by its variable", r)
        data = os.urandom(2 << 20)
        with open(work.name + "/cat", "w") as f:
            f.write("#!/bin/sh\ncat; exit 5\n")
        r = h.ctl("-t", s.target, "run", f.name, data=data)
        ok(r.code == 5 and r.out == data, "run over a local socket", r.code)
        here = os.getcwd()
        os.chdir(d)
        r = h.ctl("-t", "unix:s", "list")
        os.chdir(here)
        ok(r.code == 0, "a path without a directory", r)
    with Home() as h:
        r = h.ctl("-t", "unix:" + d + "/s", "list")
        ok(r.code == 3 and b"debuglanternd" in r.err, "nothing there", r)
        left = socket.socket(socket.AF_UNIX)
        left.bind(d + "/left")
        r = h.ctl("-t", "unix:" + d + "/left", "list")
        ok(r.code == 3 and b"refused" in r.err, "nobody listens", r)
        left.close()
        open(d + "/file", "w").close()
        r = h.ctl("-t", "unix:" + d + "/file", "list")
        ok(r.code == 3 and b"not a socket" in r.err, "not a socket", r)
        for text in ("unix:", "unix:" + "x" * 200):
            r = h.ctl("-t", text, "list")
            ok(r.code == 2 and b"unix:PATH" in r.err, text[:20], r)


def refused(h, s, target, word, name):
    r = h.ctl("-t", target, "upload", "/bin/true")
    ok(r.code == 3 and word in r.err, name, r)
    eq(s.lines, [], "and nothing is sent")


def whom_to_believe():
    for mode in (0o777, 0o770, 0o1777, 0o702):
        d = directory("mode%o" % mode, mode)
        with FakeServer(path=d + "/s") as s, Home() as h:
            refused(h, s, s.target, b"can be written by others",
                    "a directory with mode %o is not believed" % mode)
    for mode in (0o755, 0o750, 0o700):
        d = directory("mode%o" % mode, mode)
        with FakeServer(path=d + "/s") as s, Home() as h:
            r = h.ctl("-t", s.target, "list")
            ok(r.code == 0, "one with mode %o is" % mode, r)
    d = directory("links")
    with FakeServer(path=d + "/s") as s, Home() as h:
        os.symlink("s", d + "/link")
        refused(h, s, "unix:" + d + "/link", b"symbolic link",
                "a symbolic link is not followed")
        os.symlink(d, work.name + "/links2")
        refused(h, s, "unix:" + work.name + "/links2/s", b"realpath",
                "nor is one on the way")


def other_owners():
    if not AS_ROOT:
        # what makes root special is that it can be made: by root only
        r = subprocess.run(["chown", "1", work.name], capture_output=True)
        ok(r.returncode != 0, "nobody else's files can be made here", r)
        return
    d = directory("theirs", 0o755)
    with FakeServer(path=d + "/s") as s, Home() as h:
        os.chown(d + "/s", ALICE, ALICE)
        refused(h, s, s.target, b"the socket", "a socket of another user")
        os.chown(d + "/s", 0, 0)
        os.chown(d, ALICE, ALICE)
        refused(h, s, s.target, b"the directory",
                "a directory of another user")
        r = subprocess.run(["id", "-u", "_dlparent"], capture_output=True)
        service = int(r.stdout)
        os.chown(d, service, service)
        os.chown(d + "/s", service, service)
        r = h.ctl("-t", s.target, "list")
        ok(r.code == 0, "the service user's are believed", r)
    # the files are right, who listens is not
    d = directory("listener", 0o755)
    code = ("import os, socket, sys, time\n"
            "s = socket.socket(socket.AF_UNIX)\n"
            "s.bind(sys.argv[1])\n"
            "os.setresuid(%d, %d, %d)\n"
            "s.listen()\n"
            "print(flush=True)\n"
            "time.sleep(60)\n" % (ALICE, ALICE, ALICE))
    p = subprocess.Popen([sys.executable, "-c", code, d + "/s"],
                         stdout=subprocess.PIPE)
    p.stdout.readline()
    with Home() as h:
        r = h.ctl("-t", "unix:" + d + "/s", "list")
        ok(r.code == 3 and b"listens on" in r.err,
           "a listener of another user", r)
    p.kill()
    p.wait()


def default():
    runtime = directory("runtime")
    own = runtime + "/debuglantern"
    with Home() as h:
        def ask(expected, name):
            before = {s: len(s.lines) for s in servers}
            r = h.ctl("list", XDG_RUNTIME_DIR=runtime)
            asked = [s for s in servers if len(s.lines) > before[s]]
            ok(r.code == 0 and asked == [expected], name, r, )
        servers = []
        r = h.ctl("list", XDG_RUNTIME_DIR=runtime)
        ok(r.code == 3 and b"127.0.0.1:4444" in r.err, "nothing at all", r)
        with FakeServer(address=("127.0.0.1", 4444)) as tcp:
            servers.append(tcp)
            ask(tcp, "without a local socket: 127.0.0.1:4444")
            os.mkdir(own, 0o700)
            ask(tcp, "with an empty directory as well")
            with FakeServer(path=own + "/debuglantern.sock") as user:
                servers.append(user)
                ask(user, "the user's own daemon")
                os.mkdir(SYSTEM, 0o755)
                system = FakeServer(path=SYSTEM + "/debuglantern.sock")
                servers.append(system)
                ask(system, "the system's daemon comes first")
                os.chmod(SYSTEM, 0o777)
                r = h.ctl("list", XDG_RUNTIME_DIR=runtime)
                ok(r.code == 3 and b"written by others" in r.err,
                   "one that cannot be believed is not passed over", r)
                os.chmod(SYSTEM, 0o755)
                servers.remove(system)
                system.path = None
                system.close()
                ask(user, "what a daemon left behind is passed over")
                os.unlink(SYSTEM + "/debuglantern.sock")
            servers.remove(user)
            r = h.ctl("-t", "127.0.0.1:4444", "list")
            ok(r.code == 0, "--target 127.0.0.1:4444 as ever", r)
        os.rmdir(SYSTEM)


def clear_text():
    """Outside loopback without TLS: said, once, and let be."""
    with FakeServer(address=("192.0.2.1", 0)) as s, Home() as h:
        r = h.ctl("-t", s.target, "list")
        ok(r.code == 0 and r.err.count(b"warning: ") == 1 and b"without TLS"
           in r.err, "a warning", r)
        with open(work.name + "/true", "w") as f:
            f.write("#!/bin/sh\n")
        r = h.ctl("-t", s.target, "run", f.name)
        ok(r.code == 0 and r.err.count(b"warning: ") == 1,
           "one, of several connections", r)
        r = h.ctl("-t", s.target, "--plain", "list")
        ok(r.code == 0 and r.err == b"", "--plain: it is known", r)
    with FakeServer() as s, Home() as h:
        r = h.ctl("-t", s.target, "list")
        ok(r.code == 0 and r.err == b"", "none on loopback", r)
    for address in loopbacks("::1"):
        with FakeServer(address=(address, 0)) as s, Home() as h:
            r = h.ctl("-t", "[::1]:%d" % s.port, "list")
            ok(r.code == 0 and r.err == b"", "none on ::1", r)


def real_daemon(mode):
    if not AS_ROOT:
        # here one is root, and a daemon would be the system's
        return
    with Daemon(mode) as d:
        target = "unix:" + d.dir + "/run/debuglantern.sock"
        r = d.ctl("-t", target, "run", helper("hello"))
        ok(r.returncode == 0 and r.stdout == b"Hello world\n", "run", r)
        r = d.ctl("-t", target, "--json", "whoami")
        ok(r.returncode == 0 and json.loads(r.stdout)["door"] == "local",
           "whoami", r)


class Mdns:
    """A bus, avahi-daemon and one announced daemon on a host called rig."""

    def __init__(self):
        self.procs = []
        for argv in (["hostname", "rig"],
                     ["ip", "link", "add", "lab0", "type", "veth", "peer",
                      "name", "lab1"], ["ip", "link", "set", "lab1", "up"],
                     ["ip", "address", "add", "198.51.100.1/24", "dev",
                      "lab0"],
                     ["ip", "link", "set", "lab0", "up", "multicast", "on"]):
            subprocess.run(argv, check=True)
        self.bus = work.name + "/bus"
        os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=" + self.bus
        self.run("dbus-daemon", "--system", "--nofork", "--nopidfile",
                 "--nosyslog", "--address=unix:path=" + self.bus)
        wait_for(lambda: os.path.exists(self.bus))
        self.run("avahi-daemon", "--no-drop-root", "--no-chroot",
                 "--no-rlimits")
        if not wait_for(lambda: subprocess.run(
                ["avahi-browse", "-t", "_none._tcp"],
                stderr=subprocess.DEVNULL).returncode == 0, 10, 0.1):
            raise RuntimeError("avahi-daemon did not start")

    def run(self, *argv):
        p = subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                             stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
        self.procs.append(p)
        return p

    def announce(self, name, port, *txt):
        p = self.run("avahi-publish", "-s", name, "_mydebug._tcp", str(port),
                     *txt)
        wait_for(lambda: name.encode() in subprocess.run(
            ["avahi-browse", "-tp", "_mydebug._tcp"],
            capture_output=True).stdout, 10, 0.2)
        return p

    def end(self, p):
        p.terminate()
        p.wait()
        self.procs.remove(p)

    def down(self):
        for p in reversed(self.procs):
            p.kill()
            p.wait()


def found_by_mdns():
    if not AS_ROOT:
        return
    lan = Mdns()
    cert = Certificate(work.name, "rig")
    address = ("198.51.100.1", 0)
    try:
        with FakeServer(address=address, tls=cert.server()) as s, \
                FakeServer(address=address) as plain, Home() as h:
            p = lan.announce("a rig", plain.port, "tls=%d" % s.port,
                             "fp=" + cert.fingerprint())
            for target in ("rig", "rig.local", "RIG", "tls://rig",
                           "198.51.100.1"):
                r = h.ctl("-t", target, "--fingerprint", cert.fingerprint(),
                          "list")
                ok(r.code == 0 and r.err == b"",
                   "-t %s finds TLS and its port" % target, r)
            eq(plain.lines, [], "nothing goes to the plain port")
            r = h.ctl("-t", "rig", "list")
            ok(r.code == 3 and b"[rig]:%d" % s.port in r.err,
               "what is announced is not believed", r)
            r = h.on_terminal("-t", "rig", "list", answers=[
                (b"FINGERPRINT)? ", b"yes\n")])
            ok(r.code == 0 and b"same one is announced" in r.out,
               "but told of when it is asked for", r)
            r = h.ctl("--json", "discover")
            ok("tls://198.51.100.1:%d" % s.port in
               [f["target"] for f in json.loads(r.out)],
               "discover tells of it", r)
            lan.end(p)
            r = h.ctl("-t", "rig", "list")
            ok(r.code in (0, 3) and plain.lines == [],
               "a rig that is silent now is still known by TLS", r)
        with FakeServer(address=address) as plain, Home() as h:
            p = lan.announce("plain rig", plain.port)
            r = h.ctl("-t", "rig", "--plain", "list")
            ok(r.code == 0 and plain.lines == ["LIST"],
               "a rig without TLS: its port is found", r)
            r = h.ctl("-t", "tls://rig", "--timeout", "5", "list")
            ok(r.code == 3 and plain.lines == ["LIST"],
               "tls:// never becomes less", r)
            lan.end(p)
        announced_daemon()
    finally:
        lan.down()


def announced_daemon():
    """What the daemon says of itself is enough to find it."""
    port = free_port()
    with Daemon("system", "mdns yes\nservice-name \"the rig\"\n"
                "listen on localhost\n"
                "listen on 198.51.100.1 port %d tls\n" % port) as d, \
            Home() as h:
        wait_for(lambda: b"the" in subprocess.run(
            ["avahi-browse", "-tp", "_mydebug._tcp"],
            capture_output=True).stdout, 10, 0.2)
        print_ = d.ctl("--table", "fingerprint").stdout.decode().strip()
        r = h.ctl("-t", "rig", "list", DEBUGLANTERN_FINGERPRINT=print_)
        ok(r.code == 1 and b"auth_required" in r.err,
           "the daemon itself, by its host's name alone", r)
        r = h.on_terminal("-t", "rig", "list", answers=[
            (b"FINGERPRINT)? ", b"yes\n")])
        ok(print_.encode() in r.out and b"same one is announced" in r.out,
           "with the fingerprint that it announces", r)


ok(os.path.exists(os.path.join(BIN, "debuglanternctl")), "it is built")
run_tests(path_target, whom_to_believe, other_owners, default, clear_text,
          alone(real_daemon), found_by_mdns)
