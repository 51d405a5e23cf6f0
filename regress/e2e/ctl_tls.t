#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# debuglanternctl over TLS, against a stand-in for the daemon: whom it trusts,
# what it remembers, and that its commands work there as they do without.
import contextlib
import json
import os
import socket
import stat
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from ctl_rig import Certificate, Home  # noqa: E402
from dl import eq, free_port, ok, run_tests, wait_for  # noqa: E402
from fake_server import FakeServer  # noqa: E402

work = tempfile.TemporaryDirectory(prefix="dl-ctl-tls-")
mine = Certificate(work.name, "daemon", alt="DNS:localhost")
other = Certificate(work.name, "other", alt="DNS:localhost")
PRINT, OTHER = mine.fingerprint(), other.fingerprint()


@contextlib.contextmanager
def rig(cert=mine, **kw):
    with FakeServer(tls=cert.server(**kw)) as s, Home() as h:
        yield s, h


def key_of(server):
    return "[127.0.0.1]:%d" % server.port


def remember(home, server, fingerprint=PRINT):
    os.makedirs(home.config, 0o700)
    with open(home.known_hosts, "a") as f:
        f.write("%s %s\n" % (key_of(server), fingerprint))


def read(path):
    with open(path) as f:
        return f.read()


def unknown():
    with rig() as (s, h):
        r = h.ctl("-t", s.target, "list")
        ok(r.code == 3 and PRINT.encode() in r.err and
           b"--fingerprint" in r.err and r.out == b"",
           "an unknown daemon is refused where nobody can be asked", r)
        eq(s.lines, [], "and nothing is sent to it")
        ok(not os.path.exists(h.config), "and nothing is kept of it")
        r = h.ctl("-t", s.target, "--fingerprint", PRINT, "list")
        ok(r.code == 0 and r.out == b"[]\n", "--fingerprint lets it in", r)
        r = h.ctl("-t", s.target, "list", DEBUGLANTERN_FINGERPRINT=PRINT)
        ok(r.code == 0 and r.out == b"[]\n",
           "$DEBUGLANTERN_FINGERPRINT lets it in", r)
        before = len(s.lines)
        r = h.ctl("-t", s.target, "--fingerprint", OTHER, "list")
        ok(r.code == 3 and OTHER.encode() in r.err and PRINT.encode() in
           r.err, "another fingerprint does not", r)
        eq(len(s.lines), before, "and nothing is sent")
        for text in ("", "SHA256:", PRINT[:-1], PRINT + "=", "MD5:" + PRINT,
                     PRINT[7:]):
            r = h.ctl("-t", s.target, "--fingerprint", text, "list")
            ok(r.code == 2 and b"SHA256:" in r.err,
               "%r is no fingerprint" % text, r)


def first_use():
    question = b"(yes/no/FINGERPRINT)? "
    with rig() as (s, h):
        r = h.on_terminal("-t", s.target, "list",
                          answers=[(question, b"no\n")])
        ok(r.code == 3 and b"not accepted" in r.out, "no is no", r)
        r = h.on_terminal("-t", s.target, "list", answers=[
            (question, b"\n"), (b"Type yes", OTHER.encode() + b"\n"),
            (b"another fingerprint", b"y\n"), (b"Type yes", b"\x04")])
        eq(r.code, 3, "nothing but yes or the fingerprint is yes")
        eq(s.lines, [], "nothing was sent")
        ok(not os.path.exists(h.known_hosts), "nothing was kept")
        with open("/dev/null") as null:
            r = h.on_terminal("-t", s.target, "list", stdin=null.fileno(),
                              answers=[(question, b"yes\n")])
        ok(r.code == 0 and PRINT.encode() in r.out and b"no sessions" in
           r.out, "yes, on the terminal and not on standard input", r)
        eq(read(h.known_hosts), "%s %s\n" % (key_of(s), PRINT),
           "it is known from then on")
        eq(stat.S_IMODE(os.stat(h.known_hosts).st_mode), 0o600, "mode 0600")
        eq(stat.S_IMODE(os.stat(h.config).st_mode), 0o700,
           "in a directory with mode 0700")
        eq(os.listdir(h.config), ["known_hosts"], "nothing else is left")
        r = h.ctl("-t", s.target, "list")
        ok(r.code == 0 and r.err == b"", "and nobody is asked again", r)
    with rig() as (s, h):
        r = h.on_terminal("-t", s.target, "list",
                          answers=[(question, PRINT.encode() + b"\n")])
        ok(r.code == 0, "the fingerprint itself is a yes", r)
    with rig() as (s, h):
        r = h.on_terminal("-t", s.target, "list",
                          answers=[(question, b"yes\n")],
                          XDG_CONFIG_HOME=h.dir + "/a/b")
        ok(os.path.exists(h.dir + "/a/b/debuglantern/known_hosts"),
           "$XDG_CONFIG_HOME is where it is kept", r)


def keeps_other_lines():
    with rig() as (s, h):
        os.makedirs(h.config, 0o700)
        text = "# rigs\n[rig]:4444 %s\n" % OTHER
        with open(h.known_hosts, "w") as f:
            f.write(text)
        r = h.on_terminal("-t", s.target, "list",
                          answers=[(b"FINGERPRINT)? ", b"yes\n")])
        eq(r.code, 0, "a second daemon is accepted")
        eq(read(h.known_hosts), text + "%s %s\n" % (key_of(s), PRINT),
           "the other lines stay")


def changed():
    with rig(other) as (s, h):
        os.makedirs(h.config, 0o700)
        with open(h.known_hosts, "w") as f:
            f.write("[rig]:1 %s\n" % OTHER)
        remember_line = "%s %s\n" % (key_of(s), PRINT)
        with open(h.known_hosts, "a") as f:
            f.write(remember_line)
        for run in (h.ctl, h.on_terminal):
            r = run("-t", s.target, "upload", "/bin/true")
            text = r.err + r.out
            ok(r.code == 3 and b"HAS CHANGED" in text and PRINT.encode() in
               text and OTHER.encode() in text and b"line 2 of" in text and
               h.known_hosts.encode() in text,
               "a changed certificate is refused loudly", r)
        eq(s.lines, [], "and nothing is sent")
        eq(read(h.known_hosts), "[rig]:1 %s\n" % OTHER + remember_line,
           "and what is known stays known")


def unsafe_files():
    with rig() as (s, h):
        remember(h, s)
        eq(h.ctl("-t", s.target, "list").code, 0, "it is known")
        for path, mode, good in ((h.known_hosts, 0o666, 0o600),
                                 (h.known_hosts, 0o620, 0o644),
                                 (h.config, 0o777, 0o755)):
            os.chmod(path, mode)
            r = h.ctl("-t", s.target, "list")
            ok(r.code == 2 and b"chmod" in r.err and path.encode() in r.err,
               "%s with mode %o is not believed" %
               (os.path.basename(path), mode), r)
            os.chmod(path, good)
            r = h.ctl("-t", s.target, "list")
            ok(r.code == 0, "with mode %o it is" % good, r)
        os.rename(h.known_hosts, h.dir + "/elsewhere")
        os.symlink(h.dir + "/elsewhere", h.known_hosts)
        r = h.ctl("-t", s.target, "list")
        ok(r.code == 2, "nor is a symbolic link", r)
        if os.geteuid() == 0:
            os.unlink(h.known_hosts)
            os.rename(h.dir + "/elsewhere", h.known_hosts)
            os.chown(h.known_hosts, 12345, 12345)
            r = h.ctl("-t", s.target, "list")
            ok(r.code == 2 and b"12345" in r.err,
               "nor is a file of another user", r)


def never_plain_again():
    """Who was known to speak TLS is not spoken to without it."""
    with FakeServer() as plain, Home() as h:
        remember(h, plain)
        r = h.ctl("-t", plain.target, "--timeout", "5", "list")
        ok(r.code == 3 and b"TLS" in r.err, "known by TLS, asked plainly", r)
        eq([x for x in plain.lines if "LIST" in x], [],
           "the command did not go out in clear")
        r = h.ctl("-t", "tcp://" + plain.target, "list")
        ok(r.code == 0, "tcp:// says that it is meant", r)
    with rig() as (s, h):
        remember(h, s)
        r = h.ctl("-t", "127.0.0.1:%d" % s.port, "list")
        ok(r.code == 0, "HOST:PORT of a known daemon is TLS", r)
        r = h.ctl("-t", "127.0.0.1", "list")
        ok(r.code == 0, "and so is its bare name, with its port", r)
        r = h.ctl("-t", "tls://127.0.0.1", "list")
        ok(r.code == 0, "and tls:// without a port", r)


def authority():
    ca = Certificate(work.name, "ca")
    good = Certificate(work.name, "signed", ca=ca,
                       alt="DNS:localhost,IP:127.0.0.1")
    named = Certificate(work.name, "named", ca=ca, alt="DNS:rig.example")
    with rig(good) as (s, h):
        r = h.ctl("-t", s.target, "--ca", ca.cert, "list")
        ok(r.code == 0, "--ca: what it signed is trusted", r)
        r = h.ctl("-t", "tls://localhost:%d" % s.port, "list",
                  DEBUGLANTERN_CA=ca.cert)
        ok(r.code == 0, "by $DEBUGLANTERN_CA too", r)
        ok(not os.path.exists(h.known_hosts), "and known_hosts is not asked")
        before = len(s.lines)
        r = h.ctl("-t", s.target, "--ca", mine.cert, "list")
        ok(r.code == 3 and b"certificate" in r.err,
           "what it did not sign is not", r)
        r = h.ctl("-t", s.target, "--ca", ca.cert, "--fingerprint", PRINT,
                  "list")
        ok(r.code == 3, "--ca and another --fingerprint: both count", r)
        eq(len(s.lines), before, "nothing is sent")
        r = h.ctl("-t", s.target, "--ca", "/no/such/file", "list")
        ok(r.code == 2 and b"/no/such/file" in r.err, "--ca: no such file",
           r)
    with rig(named) as (s, h):
        r = h.ctl("-t", s.target, "--ca", ca.cert, "list")
        ok(r.code == 3 and b"127.0.0.1" in r.err,
           "--ca: the name must be right too", r)
        eq(s.lines, [], "nothing is sent")


def client_certificate():
    ca = Certificate(work.name, "users")
    alice = Certificate(work.name, "alice", ca=ca)
    with rig(mine, client_ca=ca) as (s, h):
        remember(h, s)
        r = h.ctl("-t", s.target, "--cert", alice.cert, "--key", alice.key,
                  "list")
        ok(r.code == 0, "--cert and --key", r)
        r = h.ctl("-t", s.target, "list", DEBUGLANTERN_CERT=alice.cert,
                  DEBUGLANTERN_KEY=alice.key)
        ok(r.code == 0, "by their variables", r)
        r = h.ctl("-t", s.target, "list")
        ok(r.code == 3, "without them it is the daemon that refuses", r)
        r = h.ctl("-t", s.target, "--cert", alice.cert, "list")
        ok(r.code == 2 and b"--key" in r.err, "one is not enough", r)
        r = h.ctl("-t", s.target, "--cert", alice.cert, "--key", mine.key,
                  "list")
        ok(r.code == 2, "a key of another certificate", r)


def no_tls():
    with FakeServer() as plain, Home() as h:
        r = h.ctl("-t", "tls://" + plain.target, "--timeout", "5", "list")
        ok(r.code == 3 and b"no TLS" in r.err, "tls:// to a plain port", r)
        silent = socket.create_server(("127.0.0.1", 0))
        r = h.ctl("-t", "tls://127.0.0.1:%d" % silent.getsockname()[1],
                  "--timeout", "1", "list")
        ok(r.code == 3 and b"no TLS" in r.err, "a port that says nothing", r)
        silent.close()
        r = h.ctl("-t", "tls://127.0.0.1:%d" % free_port(), "list")
        ok(r.code == 3 and b"cannot reach tls://" in r.err, "a closed port",
           r)


def old_protocols():
    port = free_port()
    with Home() as h:
        for version, wanted in (("-tls1_1", 3), ("-tls1_2", 0)):
            p = subprocess.Popen(
                ["openssl", "s_server", "-accept", "127.0.0.1:%d" % port,
                 "-cert", mine.cert, "-key", mine.key, version, "-cipher",
                 "ALL:@SECLEVEL=0"], stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            wait_for(lambda: b"ACCEPT" in p.stdout.readline(), 10)
            c = h.spawn("-t", "tls://127.0.0.1:%d" % port, "--fingerprint",
                        PRINT, "list", stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE)
            if wanted == 0:
                for heard, said in ((b"HELLO", b'{"nonce":"5a"}\n'),
                                    (b"HELLO 5a", b'{"ok":true}\n'),
                                    (b"LIST", b"[]\n")):
                    wait_for(lambda: heard in p.stdout.readline(), 10)
                    p.stdin.write(said)
                    p.stdin.flush()
            out, err = c.communicate(timeout=20)
            eq(c.returncode, wanted, "TLS version " + version)
            p.kill()
            p.communicate()


def script(text):
    f = tempfile.NamedTemporaryFile("w", dir=work.name, delete=False)
    f.write("#!/bin/sh\n" + text + "\n")
    f.close()
    return f.name


def commands():
    """Everything that waits, polls or streams."""
    with rig() as (s, h):
        remember(h, s)

        def ctl(*args, **kw):
            return h.ctl("-t", s.target, *args, **kw)
        big = os.urandom(9 << 20)
        path = os.path.join(work.name, "big")
        with open(path, "wb") as f:
            f.write(big)
        r = ctl("upload", path)
        sid = json.loads(r.out)["id"]
        with open(s.sessions[0].path, "rb") as f:
            ok(f.read() == big, "9 MiB are uploaded as they are", r)
        eq(ctl("delete", sid).code, 0, "delete")
        data = os.urandom(3 << 20)
        r = ctl("run", script("cat; echo err >&2; exit 7"), data=data)
        ok(r.code == 7 and r.out == data and r.err == b"err\n",
           "run: 3 MiB in and out, standard error, exit code", r)
        out = os.path.join(work.name, "sysroot")
        r = ctl("sysroot", "-o", out)
        with open(out, "rb") as f:
            ok(f.read() == s.sysroot, "sysroot: every byte", r)
        sid = json.loads(ctl("upload", script("echo one; sleep 1; echo two"),
                             ).out)["id"]
        ctl("start", sid)
        r = ctl("output", "-f", sid)
        eq(r.out, b"one\ntwo\n", "output -f to the end")
        text = os.urandom(200000).hex().encode()
        r = ctl("gdb-pipe", sid, data=text)
        ok(r.code == 0 and r.out == b"+hello+" + text.upper(),
           "gdb-pipe: bytes both ways, and the end of input is told", r)


def early_refusal():
    """An answer that comes while the payload is still under way."""
    def refuse(handler, rest):
        handler.send({"ok": False, "error_code": "max_total_bytes_reached",
                      "message": "too much"})
        time.sleep(1)
        handler.sock.close()
    with rig() as (s, h):
        remember(h, s)
        s.odd["UPLOAD"] = refuse
        path = os.path.join(work.name, "sparse")
        with open(path, "wb") as f:
            f.truncate(256 << 20)
        t = time.monotonic()
        r = h.ctl("-t", s.target, "upload", path)
        ok(r.code == 1 and b"max_total_bytes_reached" in r.err and
           time.monotonic() - t < 5, "the refusal is seen at once", r)


def cut_off():
    """An end without TLS's own is not taken for an end."""
    def cut(handler, rest):
        handler.sock.sendall(b"[")
        os.close(handler.sock.detach())
    with rig() as (s, h):
        remember(h, s)
        s.odd["LIST"] = cut
        r = h.ctl("-t", s.target, "list")
        ok(r.code == 3 and r.out == b"", "a connection that breaks", r)


run_tests(unknown, first_use, keeps_other_lines, changed, unsafe_files,
          never_plain_again, authority, client_certificate, no_tls,
          old_protocols, commands, early_refusal, cut_off)
