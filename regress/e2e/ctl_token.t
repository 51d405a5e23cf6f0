#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# debuglanternctl and who one is: where it takes a token from, to whom it
# gives it, what it keeps, and the commands about access. Against a stand-in
# for the daemon, in a network namespace that has more than loopback.
import json
import os
import resource
import socket
import stat
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))

INSIDE = "DL_TOKEN_INSIDE"
if INSIDE not in os.environ:
    os.environ[INSIDE] = "root" if os.geteuid() == 0 else "user"
    more = [] if os.geteuid() == 0 else ["-r"]
    os.execvp("unshare", ["unshare", *more, "-n", "-p", "-m", "-f",
                          "--mount-proc", "--kill-child", "--propagation",
                          "private", sys.executable,
                          os.path.abspath(__file__)])

from ctl_rig import CTL, Certificate, Home  # noqa: E402
from dl import eq, ok, run_tests, wait_for  # noqa: E402
from fake_server import FakeServer  # noqa: E402

subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
subprocess.run(["ip", "address", "add", "192.0.2.1/32", "dev", "lo"],
               check=True)
work = tempfile.TemporaryDirectory(prefix="dl-ctl-token-")
cert = Certificate(work.name, "daemon")
LAB = ("192.0.2.1", 0)
TOKEN = "dlt_" + "abcXYZ-_9" * 4 + "1234567"
OTHER = "dlt_" + "B" * 43
AUTH = "AUTH " + TOKEN


class Rig:
    """A daemon elsewhere that TOKEN logs in to, as alice."""

    def __init__(self, address=LAB, tls=True):
        self.server = FakeServer(address, tls=cert.server() if tls else None)
        self.server.tokens[TOKEN] = "alice"
        self.home = Home()
        self.extra = {"DEBUGLANTERN_FINGERPRINT": cert.fingerprint()}

    def __enter__(self):
        return self.server, self.home, self.ctl

    def ctl(self, *args, **kw):
        return self.home.ctl("-t", self.server.target, *args, **self.extra,
                             **kw)

    def __exit__(self, *_):
        self.server.close()
        self.home.__exit__()


def secret(home, text, mode=0o600):
    path = os.path.join(home.dir, "token")
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, mode)
    return path


def where_from():
    with Rig() as (s, h, ctl):
        r = ctl("whoami", DEBUGLANTERN_TOKEN=TOKEN)
        ok(r.code == 0 and json.loads(r.out)["user"] == "alice" and
           r.err == b"", "$DEBUGLANTERN_TOKEN", r)
        eq(s.lines, [AUTH, "WHOAMI"], "AUTH is the first line")
        for text in (TOKEN, TOKEN + "\n", TOKEN + "\r\n"):
            r = ctl("--token-file", secret(h, text), "whoami")
            ok(r.code == 0 and b"alice" in r.out,
               "--token-file, ending in %r" % text[47:], r)
        r = ctl("whoami", DEBUGLANTERN_TOKEN_FILE=secret(h, TOKEN))
        ok(b"alice" in r.out, "$DEBUGLANTERN_TOKEN_FILE", r)
        r = ctl("--token-file", secret(h, TOKEN), "whoami",
                DEBUGLANTERN_TOKEN=OTHER)
        ok(b"alice" in r.out, "the option wins", r)
        r = h.ctl("-t", s.target, "whoami", DEBUGLANTERN_TOKEN=TOKEN)
        ok(r.code == 3, "a daemon that is not known does not get it", r)
        r = subprocess.run(
            ["bash", "-c", '%s -t %s --token-file <(echo %s) whoami' %
             (CTL, s.target, TOKEN)], capture_output=True,
            env=h.environment(dict(
                DEBUGLANTERN_FINGERPRINT=cert.fingerprint())))
        ok(b"alice" in r.stdout, "a pipe from another program", r)
        program = os.path.join(work.name, "cat")
        with open(program, "w") as f:
            f.write("#!/bin/sh\ncat\n")
        before = len(s.lines)
        r = ctl("run", program, data=b"x" * 100000,
                DEBUGLANTERN_TOKEN=TOKEN)
        firsts = s.lines[before:].count(AUTH)
        ok(r.code == 0 and r.out == b"x" * 100000 and firsts >= 3,
           "run logs in on each of its connections", firsts)


def wrong_files():
    with Rig() as (s, h, ctl):
        for mode in (0o644, 0o640, 0o604, 0o620):
            r = ctl("--token-file", secret(h, TOKEN, mode), "whoami")
            ok(r.code == 2 and b"chmod 600" in r.err,
               "a file with mode %o" % mode, r)
        for text in ("", "\n", "dlt_short", TOKEN + "x", TOKEN[1:],
                     TOKEN.replace("-", "+"), "root:x:0:0:root"):
            r = ctl("--token-file", secret(h, text), "whoami")
            ok(r.code == 2 and b"no token" in r.err and
               (not text.strip() or text.strip().encode() not in r.err),
               "a file with %r in it" % text, r)
            r = ctl("whoami", DEBUGLANTERN_TOKEN=text)
            ok(r.code == (2 if text else 0), "a variable like that", r)
        r = ctl("--token-file", "/no/such/file", "whoami")
        ok(r.code == 2 and b"/no/such/file" in r.err, "no file", r)
        r = ctl("--token-file", h.dir, "whoami")
        ok(r.code == 2, "a directory", r)
        eq([x for x in s.lines if "WHOAMI" != x], [], "nothing was sent")


def refusals():
    with Rig() as (s, h, ctl):
        r = ctl("list", DEBUGLANTERN_TOKEN=OTHER)
        ok(r.code == 1 and b"auth_failed" in r.err and r.out == b"",
           "a wrong token", r)
        r = ctl("--json", "list", DEBUGLANTERN_TOKEN=OTHER)
        ok(json.loads(r.err)["error_code"] == "auth_failed", "as JSON", r)
        s.odd["LIST"] = lambda c, _: c.send(
            {"ok": False, "error_code": "auth_required", "message": "AUTH!"})
        r = ctl("list")
        ok(r.code == 1 and b"login" in r.err and b"--token-file" in r.err,
           "a token is asked for: how to give one", r)


def clear_text():
    with Rig(tls=False) as (s, h, ctl):
        r = ctl("whoami", DEBUGLANTERN_TOKEN=TOKEN)
        ok(r.code == 2 and b"--plain" in r.err and TOKEN.encode() not in
           r.err, "without TLS a token stays here", r)
        eq(s.lines, [], "nothing is sent")
        r = ctl("--plain", "whoami", DEBUGLANTERN_TOKEN=TOKEN)
        ok(r.code == 0 and b"alice" in r.out and r.err.count(b"warning") == 1
           and TOKEN.encode() not in r.err, "--plain: sent, with a warning",
           r)
        r = ctl("login", data=TOKEN.encode() + b"\n")
        ok(r.code == 2 and not os.path.exists(h.tokens),
           "nor does login send it", r)
    with Rig(address=("127.0.0.1", 0), tls=False) as (s, h, ctl):
        r = ctl("whoami", DEBUGLANTERN_TOKEN=TOKEN)
        ok(r.code == 0 and r.err == b"", "on loopback nobody reads along",
           r)


def login():
    with Rig() as (s, h, ctl):
        r = ctl("login", data=TOKEN.encode() + b"\n")
        ok(r.code == 0 and json.loads(r.out)["user"] == "alice",
           "login, from standard input", r)
        eq(stat.S_IMODE(os.stat(h.tokens).st_mode), 0o600, "mode 0600")
        with open(h.tokens) as f:
            eq(f.read(), "%s %s\n" % (s.target, TOKEN), "it is kept")
        eq(os.listdir(h.config), ["tokens"], "and nothing else")
        r = ctl("whoami")
        ok(b"alice" in r.out, "and used", r)
        r = ctl("whoami", DEBUGLANTERN_TOKEN=OTHER)
        ok(r.code == 1, "what is given goes before what is kept", r)
        os.chmod(h.tokens, 0o644)
        r = ctl("whoami")
        ok(r.code == 2 and b"chmod" in r.err, "but not with mode 644", r)
        os.chmod(h.tokens, 0o600)
        r = ctl("logout")
        ok(r.code == 0, "logout", r)
        with open(h.tokens) as f:
            eq(f.read(), "", "it is gone")
        r = ctl("whoami")
        ok(b"tester" in r.out, "and not used any more", r)
        r = ctl("logout")
        ok(r.code == 1 and b"no token is kept" in r.err, "once is enough", r)
        r = ctl("login", data=OTHER.encode() + b"\n")
        ok(r.code == 1 and b"auth_failed" in r.err, "a wrong token", r)
        with open(h.tokens) as f:
            eq(f.read(), "", "is not kept")
        r = ctl("login", "--token-file", secret(h, TOKEN))
        ok(r.code == 0, "login --token-file", r)
    with Rig() as (s, h, ctl):
        r = h.on_terminal("-t", s.target, "login", answers=[
            (b"Token for " + s.target.encode() + b": ",
             TOKEN.encode() + b"\n")],
            DEBUGLANTERN_FINGERPRINT=cert.fingerprint())
        ok(r.code == 0 and b"as alice" in r.out and TOKEN.encode() not in
           r.out, "login on a terminal, without an echo", r)


def two_targets():
    with Rig() as (s1, h, ctl), FakeServer(LAB, tls=cert.server()) as s2:
        s2.tokens[OTHER] = "bob"

        def at(s, *args, **kw):
            return h.ctl("-t", s.target, *args, DEBUGLANTERN_FINGERPRINT=cert
                         .fingerprint(), **kw)
        at(s1, "login", data=TOKEN.encode())
        at(s2, "login", data=OTHER.encode())
        ok(b"alice" in at(s1, "whoami").out and b"bob" in
           at(s2, "whoami").out, "each target has its own")
        at(s1, "logout")
        ok(b"tester" in at(s1, "whoami").out and b"bob" in
           at(s2, "whoami").out, "logout forgets one")
        lines = list(s2.lines)
        ok(not any(TOKEN in x for x in lines), "nobody saw the other's")


def local_default():
    """Without --target it is the socket's token."""
    with Home() as h:
        runtime = h.dir + "/runtime"
        os.makedirs(runtime + "/debuglantern", 0o700)
        with FakeServer(path=runtime +
                        "/debuglantern/debuglantern.sock") as s:
            s.tokens[TOKEN] = "alice"
            for what, data in (("login", TOKEN.encode()), ("whoami", b""),
                               ("logout", b"")):
                r = h.ctl(what, data=data, XDG_RUNTIME_DIR=runtime)
                ok(r.code == 0, what + " at the local socket", r)
            ok(AUTH in s.lines, "it was sent there")


def out_of_sight():
    """While it is held, others of the same user see nothing of it."""
    with Rig() as (s, h, ctl):
        extra = {"DEBUGLANTERN_FINGERPRINT": cert.fingerprint(),
                 "DEBUGLANTERN_TOKEN": TOKEN}
        program = os.path.join(work.name, "sleep")
        with open(program, "w") as f:
            f.write("#!/bin/sh\necho ready\nexec sleep 60\n")
        p = h.spawn("-t", s.target, "run", program, extra=extra,
                    stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        eq(p.stdout.readline(), b"ready\n", "it holds a token")
        with open("/proc/%d/cmdline" % p.pid, "rb") as f:
            ok(TOKEN.encode() not in f.read(), "not among its arguments")
        eq(os.stat("/proc/%d/environ" % p.pid).st_uid, 0,
           "its environment is root's")
        with open("/proc/%d/environ" % p.pid, "rb") as f:
            ok(TOKEN.encode() not in f.read(), "and has been wiped")
        eq(resource.prlimit(p.pid, resource.RLIMIT_CORE)[0], 0,
           "it writes no core file")
        if os.environ[INSIDE] == "root":
            r = subprocess.run(
                ["setpriv", "--reuid", "12345", "--clear-groups", "sh", "-c",
                 "DEBUGLANTERN_TOKEN=%s HOME=/nonexistent "
                 "DEBUGLANTERN_FINGERPRINT=%s %s -t %s audit --follow & "
                 "sleep 2; cat /proc/$!/environ; kill $!" %
                 (TOKEN, cert.fingerprint(), CTL, s.target)],
                capture_output=True)
            ok(b"ermission denied" in r.stderr and r.stdout == b"",
               "the same user cannot read it", r)
        p.terminate()
        p.communicate(timeout=20)


def gdb():
    """The gdb-pipe that gdb starts is the same user, by the same means."""
    directory = os.path.join(work.name, "bin")
    os.mkdir(directory)
    with open(directory + "/gdb", "w") as f:
        f.write('#!/bin/sh\nexec "$DEBUGLANTERN_CTL" --table whoami\n')
    os.chmod(directory + "/gdb", 0o755)
    with Rig() as (s, h, ctl):
        program = os.path.join(work.name, "gdbee")
        with open(program, "w") as f:
            f.write("#!/bin/sh\nexec sleep 60\n")
        sid = json.loads(ctl("upload", program).out)["id"]
        ctl("start", sid)
        path = directory + ":" + os.environ["PATH"]
        for how in ({"DEBUGLANTERN_TOKEN": TOKEN}, {}):
            args = [] if how else ["--token-file", secret(h, TOKEN)]
            r = ctl("gdb", sid, *args, PATH=path, **how)
            ok(r.code == 0 and b"alice" in r.out,
               "by a variable" if how else "by a file", r)


def token_commands():
    with Rig() as (s, h, ctl):
        r = ctl("token", "create", "--user", "bob", "--read-only",
                "--expires", "30d", "--label", "ci")
        ok(r.code == 0 and json.loads(r.out)["token"].startswith("dlt_"),
           "token create", r)
        eq(s.lines[-1], "TOKEN create user=bob read-only expires=2592000 "
           "label=ci", "what is sent")
        for text, seconds in (("1h", 3600), ("90m", 5400), ("600s", 600),
                              ("2w", 1209600)):
            ctl("token", "create", "--expires", text)
            eq(s.lines[-1], "TOKEN create expires=%d" % seconds, text)
        before = len(s.lines)
        for text in ("", "d", "0", "-1d", "1x", "1dd", "1.5h",
                     "99999999999d", " 1d", "30"):
            r = ctl("token", "create", "--expires", text)
            ok(r.code == 2 and b"30d" in r.err, "--expires %r" % text, r)
        for words in (["create", "x"], ["list", "x"], ["revoke"], ["show"],
                      []):
            r = ctl("token", *words)
            ok(r.code == 2 and b"revoke ID" in r.err, "token %s" % words, r)
        eq(len(s.lines), before, "nothing of it was sent")
        r = ctl("--table", "token", "create")
        lines = r.out.decode().splitlines()
        ok(lines[0] == "dlt_" + "A" * 43 and "not shown again" in lines[-1],
           "for people", r)
        for words in (["--table", "token", "create", "-q"],
                      ["token", "-q", "create"]):
            r = ctl(*words)
            eq(r.out, b"dlt_" + b"A" * 43 + b"\n", "-q: the token alone")
        r = ctl("--table", "token", "list")
        ok(b"never" in r.out and b"1f2e3d4c" in r.out, "token list", r)
        r = ctl("token", "list")
        ok(json.loads(r.out)[0]["id"] == "1f2e3d4c", "as JSON", r)
        r = ctl("--table", "token", "revoke", "1f2e3d4c")
        ok(r.code == 0 and s.lines[-1] == "TOKEN revoke 1f2e3d4c",
           "token revoke", r)
        s.odd["TOKEN"] = lambda c, _: c.send({"token": "\x1b[2J"})
        r = ctl("--table", "token", "create")
        ok(r.code == 3 and b"\x1b" not in r.out + r.err,
           "an answer without a token", r)


def sharing():
    with Rig() as (s, h, ctl):
        program = os.path.join(work.name, "shared")
        with open(program, "w") as f:
            f.write("#!/bin/sh\n")
        sid = json.loads(ctl("upload", program).out)["id"]
        r = ctl("share", sid, "bob")
        ok(r.code == 0 and json.loads(r.out)["shared"] ==
           [{"user": "bob", "access": "ro"}] and r.err == b"", "share", r)
        r = ctl("share", sid, "bob:ro")
        ok(r.code == 0 and r.err == b"", "share USER:ro", r)
        r = ctl("share", sid, "bob:rw")
        ok(r.code == 0 and r.err.count(b"warning") == 1 and b"account" in
           r.err, "share USER:rw warns what that means", r)
        eq(s.lines[-1], "SHARE %s bob:rw" % sid, "what is sent")
        ctl("share", sid, "carol")
        r = ctl("--table", "status", sid)
        ok(b"bob rw, carol ro\n" in r.out, "status, for people", r)
        for text in ("bob:", "bob:x", "bob:rwx", "bob:RW"):
            r = ctl("share", sid, text)
            ok(r.code == 2 and b"USER:ro" in r.err, text, r)
        r = ctl("unshare", sid, "bob")
        ok(r.code == 0 and s.lines[-1] == "UNSHARE %s bob" % sid, "unshare",
           r)


def quota_and_audit():
    with Rig() as (s, h, ctl):
        r = ctl("--table", "quota")
        words = r.out.decode().split()
        ok("3/10" in words and "3.0M/-" in words and "1.0G" in words and
           "7/-" in words, "quota", r)
        r = ctl("quota", "bob")
        eq(json.loads(r.out)[0]["user"], "bob", "quota USER")
        for i in range(3):
            s.event("action%d" % i)
        r = ctl("--table", "audit")
        lines = r.out.decode().splitlines()
        ok(len(lines) == 3 and all("action%d" % i in lines[i] and
           "tester  tcp  127.0.0.1:1  -" in lines[i] for i in range(3)),
           "audit", r)
        r = ctl("audit")
        eq([json.loads(x)["seq"] for x in r.out.splitlines()], [1, 2, 3],
           "audit as JSON: an event a line")
        p = h.spawn("-t", s.target, "audit", "--follow",
                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, extra={
                        "DEBUGLANTERN_FINGERPRINT": cert.fingerprint()})
        seen = [json.loads(p.stdout.readline())["seq"] for _ in range(3)]

        def cut(handler, rest):
            del s.odd["AUDIT"]
            handler.sock.shutdown(socket.SHUT_RDWR)
        s.event("bad\x1b[2J")
        seen.append(json.loads(p.stdout.readline())["seq"])
        eq(seen, [1, 2, 3, 4], "audit --follow goes on")
        # its question waits by now, or comes to the new answer at once
        s.odd["AUDIT"] = cut
        s.event("before")
        s.event("later")
        seen = [json.loads(p.stdout.readline())["seq"] for _ in range(2)]
        eq(seen, [5, 6], "also over a broken connection")
        ok(wait_for(lambda: "AUDIT" not in s.odd), "which it was")
        p.terminate()
        p.communicate()
        r = ctl("--table", "audit")
        ok(b"\x1b" not in r.out, "what is in it cannot steer a terminal", r)


def fingerprint():
    with Rig() as (s, h, ctl):
        r = ctl("fingerprint")
        ok(r.code == 1 and b"no TLS" in r.err, "a daemon without TLS", r)
        s.odd["VERSION"] = lambda c, _: c.send({
            "version": "1", "tls": {"port": 4445,
                                    "fingerprint": cert.fingerprint()}})
        r = ctl("--table", "fingerprint")
        eq(r.out.decode(), cert.fingerprint() + "\n", "fingerprint")
        r = ctl("fingerprint")
        eq(json.loads(r.out)["port"], 4445, "as JSON, with the port")


run_tests(where_from, wrong_files, refusals, clear_text, login, two_targets,
          local_default, out_of_sight, gdb, token_commands, sharing,
          quota_and_audit, fingerprint)
