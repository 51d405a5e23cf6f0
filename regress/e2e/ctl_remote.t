#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# debuglanternctl and the daemon, from an address that is not loopback: TLS,
# tokens, shares and what the audit log tells of it.
import json
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))

LAB = "192.0.2.1"
INSIDE = "DL_REMOTE_INSIDE"
if INSIDE not in os.environ:
    # a network with an address; without root that takes being root of a
    # user namespace, and then oneself again
    os.environ[INSIDE] = "1"
    uid, gid = os.geteuid(), os.getegid()
    lab = "ip link set lo up && ip address add %s/32 dev lo && exec " % LAB
    os.execvp("unshare", [
        "unshare", *(["-r"] if uid != 0 else []), "-n", "-p", "-m", "-f",
        "--mount-proc", "--kill-child", "--propagation", "private", "sh",
        "-c", lab + ("" if uid == 0 else "unshare -U --map-user=%d "
                     "--map-group=%d " % (uid, gid)) + '"$@"', "sh",
        sys.executable, os.path.abspath(__file__)])

from ctl_rig import CTL, Certificate, Home  # noqa: E402
from dl import (ALICE, AS_ROOT, BOB, Daemon, alone,  # noqa: E402
                attempt, eq, free_port, helper, ok, passwd_wrapper,
                run_tests, wait_for)

# who the daemon's default user is
ME = ALICE if AS_ROOT else os.geteuid()


class Rig:
    """A daemon with a TLS and a plain door on LAB, and users elsewhere."""

    def __init__(self, mode, wrapper):
        self.mode = mode
        self.tls, self.clear = free_port(), free_port()
        self.d = Daemon(
            mode, "listen on localhost\nlisten on %s port %d tls\n"
            "listen on %s port %d plain\n" % (LAB, self.tls, LAB, self.clear),
            wrapper=wrapper)
        self.socket = "unix:%s/run/debuglantern.sock" % self.d.dir
        self.target = "tls://%s:%d" % (LAB, self.tls)
        self.print = self.local("--table", "fingerprint").strip()

    def local(self, *args):
        """Where who we are is known: root, or the daemon's own user."""
        r = self.d.ctl("-t", self.socket, *args)
        if r.returncode != 0:
            raise RuntimeError(repr(r))
        return r.stdout.decode()

    def token(self, uid, *options):
        if self.mode == "system":
            options += ("--user", "u%d" % uid)
        return json.loads(self.local("token", "create", *options))

    def remote(self, home, *args, target=None, **kw):
        kw.setdefault("DEBUGLANTERN_FINGERPRINT", self.print)
        return home.ctl("-t", target or self.target, *args, **kw)


def served_print(rig):
    """The certificate as openssl sees it on the wire."""
    p = subprocess.run(
        ["sh", "-c", "openssl s_client -connect %s:%d </dev/null 2>/dev/null "
         "| openssl x509 -outform DER | openssl dgst -sha256 -binary | "
         "base64" % (LAB, rig.tls)], capture_output=True, timeout=20)
    return "SHA256:" + p.stdout.decode().strip().rstrip("=")


def terminals(rig):
    """Over TLS, by a token; and by the keys of one session."""
    def at(*args, token):
        return h.terminal("-t", rig.target, *args, DEBUGLANTERN_TOKEN=token,
                          DEBUGLANTERN_FINGERPRINT=rig.print)
    with Home() as h:
        token = rig.token(ALICE)["token"]
        with at("shell", "--", "sh", "-c", "stty size; read x; exit $x",
                token=token) as t:
            ok(t.until(b"24 80"), "shell", t.out)
            t.type(b"12\r")
            eq(t.wait(), 12, "and its exit code")
        with at("shell", "seq", "1", "100000", token=token) as t:
            eq(t.wait(), 0, "a lot of output")
            ok(b"".join(b"%d\r\n" % n for n in range(1, 100001)) in t.out,
               "arrives whole", len(t.out))
        sid = json.loads(rig.local("new", "--tty", "sh", "-c",
                                   "stty -echo; PS1= exec sh"))["id"]
        rig.local("start", sid)
        keys = json.loads(rig.local("keys", sid))
        with at("attach", sid, token=keys["token"]) as t, \
                at("attach", sid, token=keys["read_only_token"]) as ro:
            t.raw()
            ro.raw()
            ro.type(b"echo never-$((1+1))\r")
            t.type(b"echo guest-$((2+2))\r")
            ok(t.until(b"guest-4\r\n") and ro.until(b"guest-4\r\n"),
               "guests see what one of them does", (t.out, ro.out))
            t.type(b"echo guest-$((4+4))\r")
            ok(t.until(b"guest-8\r\n") and b"never" not in t.out,
               "the other one only looks", t.out)
            rig.local("keys", "--rotate", sid)
            for guest in (t, ro):
                ok(guest.wait() in (1, 3) and guest.is_restored(),
                   "new keys put them out", guest.out)
        r = rig.remote(h, "attach", sid, DEBUGLANTERN_TOKEN=keys["token"])
        ok(r.code == 1 and b"auth_failed" in r.err, "for good", r)
        ticket = json.loads(rig.local("ticket", sid))["ticket"]
        with at("attach", sid, token=ticket) as t:
            t.raw()
            t.type(b"echo ticket-$((3+3)); exit 6\r")
            eq(t.wait(), 6, "a ticket opens it")
        r = rig.remote(h, "attach", sid, DEBUGLANTERN_TOKEN=ticket)
        ok(r.code == 1 and b"auth_failed" in r.err, "once", r)
        rig.local("delete", sid)


def strangers(rig):
    with Home() as h:
        r = rig.remote(h, "list")
        ok(r.code == 1 and b"auth_required" in r.err and b"login" in r.err,
           "who has no token is told how to give one", r)
        r = rig.remote(h, "list", DEBUGLANTERN_TOKEN="dlt_" + "x" * 43)
        ok(r.code == 1 and b"auth_failed" in r.err, "a wrong token", r)
        r = rig.remote(h, "list", DEBUGLANTERN_FINGERPRINT="")
        ok(r.code == 3, "a daemon that is not known", r)
        r = rig.remote(h, "list", target="tls://%s:%d" % (LAB, rig.clear))
        ok(r.code == 3 and b"TLS" in r.err, "TLS with a plain port", r)
        r = rig.remote(h, "--timeout", "5", "list",
                       target="tcp://%s:%d" % (LAB, rig.tls))
        ok(r.code == 3, "plain with a TLS port", r)


def work(rig):
    with Home() as h:
        token = rig.token(ALICE)["token"]
        r = rig.remote(h, "login", data=token.encode())
        ok(r.code == 0, "login", r)
        r = rig.remote(h, "whoami")
        me = json.loads(r.out)
        eq((me["uid"], me["door"], me["read_only"]), (ME, "tls", False),
           "whoami")
        data = os.urandom(3 << 20)
        with open(h.dir + "/cat", "wb") as f:
            f.write(open("/bin/cat", "rb").read())
        r = rig.remote(h, "run", h.dir + "/cat", data=data)
        ok(r.code == 0 and r.out == data, "run: 3 MiB there and back",
           (r.code, len(r.out), r.err))
        with open(h.dir + "/image", "wb") as f:
            f.write(open(helper("hello"), "rb").read())
            f.truncate(40 << 20)
        r = rig.remote(h, "upload", h.dir + "/image")
        ok(json.loads(r.out)["size"] == 40 << 20, "40 MiB uploaded", r)
        r = rig.remote(h, "delete", json.loads(r.out)["id"])
        eq(r.code, 0, "and deleted")
        r = rig.remote(h, "gdb", json.loads(rig.remote(
            h, "upload", helper("target")).out)["id"], "--symbols",
            helper("target"), "--", "-nx", "-batch", "-ex", "break main",
            "-ex", "continue", "-ex", "print 6*7", timeout=120)
        ok(b"$1 = 42" in r.out and b"Breakpoint 1, main" in r.out,
           "gdb through TLS, with a token", r)
        r = rig.remote(h, "token", "list")
        ok(r.code == 1 and b"not_permitted" in r.err,
           "tokens are not for making tokens", r)
        r = rig.remote(h, "whoami", target="%s:%d" % (LAB, rig.clear),
                       DEBUGLANTERN_TOKEN=token)
        ok(r.code == 2, "the token is not sent in clear", r)
        r = rig.remote(h, "--plain", "whoami", DEBUGLANTERN_TOKEN=token,
                       target="%s:%d" % (LAB, rig.clear))
        ok(r.code == 0 and b"warning" in r.err, "but with --plain", r)


def kinds_of_token(rig):
    with Home() as h:
        t = rig.token(ALICE, "--read-only", "--label", "look")
        ok(t["read_only"] and t["label"] == "look", "a read-only one", t)

        def use(*args, token=t["token"]):
            return rig.remote(h, *args, DEBUGLANTERN_TOKEN=token)
        eq(use("list").code, 0, "it lets look")
        r = use("upload", helper("hello"))
        ok(r.code == 1 and b"read_only" in r.err, "and no more", r)
        listed = json.loads(rig.local("token", "list"))
        ok(t["id"] in [x["id"] for x in listed] and
           not any("token" in x for x in listed), "token list", listed)
        rig.local("token", "revoke", t["id"])
        r = use("list")
        ok(r.code == 1 and b"auth_failed" in r.err, "revoked", r)
        t = rig.token(ALICE, "--expires", "2s")["token"]
        eq(use("list", token=t).code, 0, "one for two seconds")
        ok(wait_for(lambda: use("list", token=t).code == 1, 20, 0.3),
           "is over then")


def sharing(rig):
    if rig.mode != "system":
        # one user is all there is
        r = rig.d.ctl("-t", rig.socket, "share", "x", "root")
        eq(r.returncode, 1, "nobody to share with")
        return
    with Home() as h:
        tokens = {u: rig.token(u)["token"] for u in (ALICE, BOB)}

        def by(uid, *args):
            return rig.remote(h, *args, DEBUGLANTERN_TOKEN=tokens[uid])
        sid = json.loads(by(ALICE, "upload", helper("hello")).out)["id"]
        r = by(BOB, "status", sid)
        ok(r.code == 1 and b"not_found" in r.err, "not to be seen", r)
        r = by(ALICE, "share", sid, "u%d" % BOB)
        ok(r.code == 0, "share", r)
        eq(by(BOB, "status", sid).code, 0, "to be seen")
        r = by(BOB, "start", sid)
        ok(r.code == 1 and b"read_only" in r.err, "to be seen only", r)
        r = by(ALICE, "share", sid, "u%d:rw" % BOB)
        ok(r.code == 0 and b"warning" in r.err, "share :rw", r)
        eq(by(BOB, "start", sid).code, 0, "to be used")
        by(BOB, "wait", sid, "20")
        r = by(ALICE, "unshare", sid, "u%d" % BOB)
        ok(r.code == 0, "unshare", r)
        eq(by(BOB, "status", sid).code, 1, "not to be seen any more")
        r = by(ALICE, "quota")
        ok(json.loads(r.out)[0]["sessions"]["used"] >= 1, "quota", r)
        r = by(ALICE, "audit")
        ok(r.code == 1 and b"not_permitted" in r.err, "audit is not for all",
           r)
        p = subprocess.Popen([CTL, "-t", rig.socket, "audit", "--follow"],
                             stdout=subprocess.PIPE)
        time.sleep(1)
        by(ALICE, "delete", sid)
        end = time.monotonic() + 20
        seen = {}
        while time.monotonic() < end and (seen.get("action") != "DELETE" or
                                          seen["session"] != sid):
            seen = json.loads(p.stdout.readline())
        eq((seen.get("user"), seen.get("door"), seen.get("result")),
           ("u%d" % ALICE, "tls", "ok"), "audit --follow sees it")
        p.terminate()
        p.communicate()


def known_hosts(rig):
    with Home() as h:
        token = rig.token(ALICE)["token"]

        def use(answers=()):
            return h.on_terminal("-t", rig.target, "list", answers=answers,
                                 DEBUGLANTERN_TOKEN=token)
        eq(served_print(rig), rig.print,
           "fingerprint tells what openssl sees")
        r = use([(b"FINGERPRINT)? ", b"yes\n")])
        ok(r.code == 0 and rig.print.encode() in r.out, "first use", r)
        rig.d.stop()
        rig.d.start()
        r = use()
        ok(r.code == 0, "the same certificate after a restart", r)
        rig.d.stop()
        shutil.rmtree(rig.d.dir + "/state/tls")
        rig.d.start()
        r = use()
        ok(r.code == 3 and b"HAS CHANGED" in r.out,
           "a new certificate is refused", r)


def certificates(mode):
    """A client's certificate is their log-in, where the daemon says so."""
    name = "u%d" % ALICE if mode == "system" else \
        pwd.getpwuid(ME).pw_name if not AS_ROOT else "u%d" % ALICE
    with passwd_wrapper(ALICE, BOB) as wrapper, Home() as h, \
            tempfile.TemporaryDirectory(prefix="dl-ca-") as tmp:
        os.chmod(tmp, 0o755)
        ca = Certificate(tmp, "ca")
        os.chmod(ca.cert, 0o644)
        alice = Certificate(tmp, "alice", ca=ca, cn=name)
        nobody = Certificate(tmp, "nobody", ca=ca, cn="no such user")
        other = Certificate(tmp, "other", cn=name)
        port = free_port()
        with Daemon(mode, "listen on localhost\nlisten on %s port %d tls\n"
                    "tls client-ca \"%s\"\n" % (LAB, port, ca.cert),
                    wrapper=wrapper if AS_ROOT else ()) as d:
            r = d.ctl("--table", "fingerprint")
            extra = {"DEBUGLANTERN_FINGERPRINT": r.stdout.decode().strip()}

            def use(c, *args):
                more = ["--cert", c.cert, "--key", c.key] if c else []
                return h.ctl("-t", "tls://%s:%d" % (LAB, port), *more, *args,
                             **extra)
            r = use(alice, "whoami")
            ok(r.code == 0 and json.loads(r.out)["uid"] == ME,
               "--cert and --key are a log-in", r)
            r = use(alice, "run", helper("hello"))
            ok(r.out == b"Hello world\n", "and work", r)
            r = use(None, "list")
            ok(r.code == 1 and b"auth_required" in r.err,
               "without them a token is asked for", r)
            for c, what in ((nobody, "of nobody"), (other, "of one's own")):
                r = use(c, "list")
                ok(r.code != 0 and r.out == b"", "a certificate " + what, r)


def remote(mode):
    with passwd_wrapper(ALICE, BOB) as wrapper:
        rig = Rig(mode, wrapper if mode == "system" else ())
        with rig.d:
            for test in (strangers, work, terminals, kinds_of_token, sharing,
                         known_hosts):
                attempt(test.__name__, test, rig)


run_tests(alone(remote), alone(certificates))
