#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Tokens: the file that they are kept in, who may make, see and revoke them,
# and who gets in by one.
import contextlib
import json
import os
import re
import signal
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (ALICE, AS_ROOT, BOB, Client, Daemon, Prober, alone, eq,
                helper, memory_of, ok, passwd_wrapper, read_proc,
                run_tests, service_uid, wait_for)

SYSTEM = ("system",) if AS_ROOT else ()


# --- the file ------------------------------------------------------------

def owner_of_file(d):
    return 0 if d.mode == "system" else d.uid or os.getuid()


def the_file(mode):
    with Daemon(mode) as d:
        st = os.stat(d.dir + "/state/tokens")
        eq((oct(st.st_mode), st.st_uid, st.st_size, st.st_nlink),
           ("0o100600", owner_of_file(d), 0, 1),
           "the tokens' file is made, and nobody else's")


def refuses(d, words, name):
    """The daemon does not start; the last line says why and what to do."""
    seen = len(d.log())
    d.start(wait=False)
    d.proc.wait(20)
    # what sanitizers say goes through a pipe
    said = wait_for(lambda: d.log()[seen:]).strip().splitlines()
    ok(d.proc.returncode == 1 and len(said) == 1 and
       d.dir + "/state/tokens" in said[-1] and
       all(w in said[-1] for w in words), name,
       (d.proc.returncode, said))


def wrong_files(mode):
    with Daemon(mode) as d:
        d.stop()
        path = d.dir + "/state/tokens"
        other = d.dir + "/state/other"

        def owned(fn, *args):
            fn(*args)
            if AS_ROOT:
                os.chown(path, owner_of_file(d), -1, follow_symlinks=False)

        for m in (0o644, 0o660, 0o602, 0o4600):
            os.chmod(path, m)
            refuses(d, [f"mode {m:04o}", "remove it", f"chmod 600 {path}"],
                    f"mode {m:04o}: no start, and the remedy")
        os.chmod(path, 0o600)
        os.link(path, other)
        refuses(d, ["2 names", "remove it"], "another name: no start")
        os.unlink(other)
        os.rename(path, other)
        owned(os.symlink, other, path)
        refuses(d, ["symbolic link", "remove it"], "a symlink: no start")
        os.unlink(path)
        owned(os.mkdir, path)
        refuses(d, ["directory", "remove it"], "a directory: no start")
        os.rmdir(path)
        owned(os.mkfifo, path)
        refuses(d, ["not a regular file", "remove it"], "a FIFO: no start")
        os.unlink(path)
        os.rename(other, path)
        if AS_ROOT:
            os.chown(path, BOB, -1)
            refuses(d, [f"belongs to uid {BOB}", "remove it"] if mode ==
                    "system" else ["cannot open", "be removed", "Permission denied"],
                    "a foreign owner: no start")
            os.chown(path, owner_of_file(d), -1)
        d.start()
        ok(True, "with the file as it was the daemon starts")
        d.stop()
        if mode == "system":
            os.chown(path, service_uid("_dlspawn"), -1)
            d.start()
            ok(True, "and with one of _dlspawn's")
            d.stop()


def one_daemon_a_file(mode):
    with Daemon(mode) as d, Daemon(mode) as e:
        e.stop()
        with open(e.conf_path) as f:
            text = f.read()
        e.write_conf(text.replace(e.dir + "/state", d.dir + "/state"))
        seen = len(e.log())
        e.start(wait=False)
        e.proc.wait(20)
        said = wait_for(lambda: e.log()[seen:]).strip().splitlines()
        ok(e.proc.returncode == 1 and len(said) == 1 and
           "in use by another daemon" in said[0] and
           "--state-dir" in said[0],
           "a second daemon does not start with the file of another", said)
        d.proc.kill()
        d.proc.wait()
        e.start()
        ok(True, "it does when that was killed a moment ago")


# --- the commands --------------------------------------------------------

@contextlib.contextmanager
def two(mode, conf=""):
    """A daemon and a maker of its user's clients; BOB has an account."""
    if mode == "user":
        with Daemon(mode, conf) as d:
            yield d
    else:
        with passwd_wrapper(ALICE, BOB) as wrapper, \
                Daemon(mode, conf, wrapper=wrapper) as d:
            client = d.client
            d.client = lambda uid=None: client(uid or ALICE)
            yield d


def me(d):
    return f"u{ALICE}" if d.mode == "system" else \
        d.client().cmd("WHOAMI")["user"]


def by_token(d, token, uid=None):
    """A client, and the answer to its AUTH."""
    c = d.client(uid)
    return c, c.cmd("AUTH " + token)


def gets_in(d, token, uid=None):
    c, r = by_token(d, token, uid)
    c.close()
    return r.get("ok") is True


def create_list_revoke(mode):
    with two(mode) as d:
        c = d.client()
        eq(c.cmd("TOKEN list"), [], "there is no token at first")
        before = int(time.time())
        t = c.cmd("TOKEN create")
        ok(re.fullmatch(r"dlt_[A-Za-z0-9_-]{43}", t.get("token", "")) and
           re.fullmatch("[0-9a-f]{8}", t.get("id", "")),
           "TOKEN create: a token and its id", t)
        when = t.get("created", "")
        stamp = time.strptime(when, "%Y-%m-%dT%H:%M:%SZ")
        ok(before <= time.mktime(stamp) - time.timezone <= time.time() + 1,
           "created: now", when)
        eq((t["user"], t["read_only"], t["expires"], t["label"]),
           (me(d), False, None, None), "it is its maker's, without an end")
        r = c.cmd("TOKEN create read-only expires=3600 label=ci.host_1-a")
        ok(r["read_only"] is True and r["label"] == "ci.host_1-a" and
           r["expires"] > r["created"], "with everything", r)
        rows = c.cmd("TOKEN list")
        eq(sorted((x["id"], x["label"]) for x in rows),
           sorted([(t["id"], None), (r["id"], "ci.host_1-a")]),
           "TOKEN list: both")
        eq(sorted(rows[0]), ["created", "expires", "id", "label",
                             "read_only", "user"],
           "without the tokens themselves")
        eq((gets_in(d, t["token"]), gets_in(d, r["token"])), (True, True),
           "both let their user in")
        x, y = by_token(d, t["token"])[0], by_token(d, r["token"])[0]
        eq(c.cmd("TOKEN revoke " + t["id"]), {"ok": True, "id": t["id"]},
           "TOKEN revoke")
        ok(x.closed(), "connections by it are closed")
        eq(y.cmd("LIST"), [], "and those by another are not")
        eq((gets_in(d, t["token"]), gets_in(d, r["token"])), (False, True),
           "the revoked one lets nobody in")
        eq(c.cmd("TOKEN revoke " + t["id"]).get("error_code"), "not_found",
           "again: there is no such token")
        eq([x["id"] for x in c.cmd("TOKEN list")], [r["id"]],
           "and it is not in the list")


def in_json(mode):
    with two(mode) as d:
        c = d.client()

        def ask(**args):
            c.send(json.dumps({"id": 5, "command": "TOKEN",
                               "args": args}) + "\n")
            return c.json()
        r = ask(action="create", read_only=True, expires=60, label="x")
        t = r.get("result", {})
        ok(r.get("success") and t.get("token", "").startswith("dlt_") and
           t["read_only"] and t["label"] == "x" and t["expires"],
           "TOKEN create as a JSON request", r)
        eq([x["id"] for x in ask(action="list")["result"]], [t["id"]],
           "list")
        eq(ask(action="revoke", id=t["id"]).get("result"),
           {"ok": True, "id": t["id"]}, "revoke")
        eq(ask(action="revoke")["success"], False, "revoke of nothing")


def misuse(mode):
    with two(mode) as d:
        c = d.client()
        for line, word in (
                ("TOKEN", "usage"), ("TOKEN make", "create, list or revoke"),
                ("TOKEN create expires=0", "seconds"),
                ("TOKEN create expires=1h", "seconds"),
                ("TOKEN create expires=99999999999", "hundred years"),
                ("TOKEN create user=", "user="),
                ("TOKEN create user=" + "u" * 64, "user="),
                ("TOKEN create label=", "label="),
                ("TOKEN create label=a/b", "label"),
                ("TOKEN create label=" + "x" * 65, "label"),
                ("TOKEN create forever", "no such option"),
                ("TOKEN create read-only read-only read-only read-only "
                 "read-only", "too many"),
                ("TOKEN list all", "too many"),
                ("TOKEN revoke", "missing"),
                ("TOKEN revoke 1234", "8 hexadecimal digits"),
                ("TOKEN revoke 12345678 12345678", "too many")):
            r = c.cmd(line)
            ok(r.get("error_code") == "invalid_argument" and
               word in r["message"], f"{line[:32]}: refused, and told what "
               "is right", r)
        eq(c.cmd("TOKEN list"), [], "nothing was made")
        # a line of 65536 bytes has many words
        eq(c.cmd("TOKEN create " + "a " * 30000).get("error_code"),
           "invalid_argument", "a line of words")


def others(mode):
    """System mode: whose tokens are whose."""
    conf = f"admin user u{BOB}\n"
    with passwd_wrapper(ALICE, BOB, BOB + 1) as wrapper, \
            Daemon(mode, conf, wrapper=wrapper) as d:
        a, b, e = d.client(ALICE), d.client(BOB), d.client(BOB + 1)
        ta, te = a.cmd("TOKEN create"), e.cmd("TOKEN create")
        eq([x["id"] for x in a.cmd("TOKEN list")], [ta["id"]],
           "a user sees their tokens alone")
        eq((a.cmd("TOKEN revoke " + te["id"])["error_code"],
            a.cmd("TOKEN revoke 00000000")["error_code"]),
           ("not_found", "not_found"), "others' are not there for them")
        r = a.cmd(f"TOKEN create user=u{BOB + 1}")
        eq(r.get("error_code"), "not_permitted",
           "they make none for others")
        r = a.cmd(f"TOKEN create user=u{ALICE}")
        eq(r.get("user"), f"u{ALICE}", "for themselves by name they do")
        a.cmd("TOKEN revoke " + r["id"])
        r = b.cmd(f"TOKEN create user=u{ALICE} read-only")
        eq(r.get("user"), f"u{ALICE}", "an administrator makes them for "
           "others")
        c, w = by_token(d, r["token"])
        eq((w.get("user"), w.get("read_only"), w.get("admin")),
           (f"u{ALICE}", True, False), "who are then known by them")
        eq(sorted(x["id"] for x in b.cmd("TOKEN list")),
           sorted([ta["id"], te["id"], r["id"]]), "they see all")
        eq(sorted(x["id"] for x in a.cmd("TOKEN list")),
           sorted([ta["id"], r["id"]]), "and the user those that are theirs")
        eq(b.cmd("TOKEN revoke " + te["id"]).get("ok"), True,
           "they revoke others'")
        for name in ("nobody-of-that-name", "daemon", "_dlspawn", "u1"):
            x = b.cmd("TOKEN create user=" + name)
            ok(x.get("error_code") == "invalid_argument" and
               name in x["message"], f"user={name}: nobody to have one", x)
        said = str(b.cmd("AUDIT"))
        for t in (ta, te, r):
            ok(t["id"] in said and t["token"] not in said,
               "the audit log has each change, and no token")
        ok(ta["id"] in str(a.cmd("ACTIVITY")) and
           te["id"] not in str(a.cmd("ACTIVITY")),
           "ACTIVITY has one's own")


def not_by_token(mode):
    with two(mode) as d:
        c = d.client()
        full = c.cmd("TOKEN create")["token"]
        less = c.cmd("TOKEN create read-only")["token"]
        for token, name, code in (
                (full, "a token", "not_permitted"),
                (less, "a read-only token", "read_only")):
            x, r = by_token(d, token)
            eq(r.get("ok"), True, f"{name} lets in")
            for line in ("create", "list", "revoke 00000000"):
                eq(x.cmd("TOKEN " + line).get("error_code"), code,
                   f"TOKEN {line} after {name}: refused")
        eq(len(c.cmd("TOKEN list")), 2, "there are no more than before")


def not_for_everybody(mode):
    """Where anybody is one user, nobody gets their tokens."""
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, f"listen on 127.0.0.1 auth none as u{ALICE}\n",
                   wrapper=wrapper) as d:
        c = d.client(BOB)
        eq((c.cmd("WHOAMI")["user"], c.cmd("TOKEN create")["error_code"],
            c.cmd("TOKEN list")["error_code"]),
           (f"u{ALICE}", "not_permitted", "not_permitted"),
           "auth none: no tokens are made or shown")


def persists(mode):
    with two(mode, "stop-timeout 1\n") as d:
        c = d.client()
        kept, gone = c.cmd("TOKEN create label=kept"), c.cmd("TOKEN create")
        c.cmd("TOKEN revoke " + gone["id"])
        old = d.role_pid("spawner")
        os.kill(old, signal.SIGKILL)
        wait_for(lambda: d.role_pid("spawner") not in (old, None))

        def listed():
            try:
                return d.client().cmd("TOKEN list")
            except (OSError, EOFError):
                return None
        rows = wait_for(lambda: [x for x in listed() or [] if "id" in x])
        eq([(x["id"], x["label"]) for x in rows], [(kept["id"], "kept")],
           "kill -9 of the spawner: the tokens are there")
        eq((gets_in(d, kept["token"]), gets_in(d, gone["token"])),
           (True, False), "and let in who they did")
        c = d.client()
        more = c.cmd("TOKEN create label=more")
        ok("token" in more, "a spawner that was started again makes tokens",
           more)
        d.stop()
        d.start()
        eq((gets_in(d, kept["token"]), gets_in(d, more["token"]),
            gets_in(d, gone["token"])), (True, True, False),
           "a restart of the daemon: the same")
        d.stop()
        path = d.dir + "/state/tokens"
        with open(path, "r+b") as f:
            f.seek(100)
            f.write(b"?")
        d.start()
        eq((gets_in(d, kept["token"]), gets_in(d, more["token"])),
           (False, True), "a damaged slot lets nobody in, others do")
        ok("1 of 2 slots of the tokens' file are damaged" in d.log(),
           "and the log tells")


def too_many(mode):
    with two(mode) as d:
        c = d.client()
        first = c.cmd("TOKEN create expires=1")
        for _ in range(63):
            c.cmd("TOKEN create")
        r = c.cmd("TOKEN create")
        time.sleep(1.1)
        ok(r.get("error_code") == "max_tokens_reached" or "token" in r,
           "the 65th token of a user: refused", r)
        if "token" not in r:
            ok("token" in c.cmd("TOKEN create"),
               "one that has expired gives way")
        eq(gets_in(d, first["token"]), False, "which lets nobody in")
        eq(c.cmd("TOKEN create").get("error_code"), "max_tokens_reached",
           "no others do")
        if mode == "system":
            ok("token" in d.client(BOB).cmd("TOKEN create"),
               "another user makes theirs")
        # who goes on and on has to wait, so that the disk is everybody's
        end = time.monotonic() + 20
        codes = set()
        while time.monotonic() < end and "try_again" not in codes:
            t = c.cmd("TOKEN list")[0]["id"]
            codes.add(c.cmd("TOKEN revoke " + t).get("error_code"))
            codes.add(c.cmd("TOKEN create").get("error_code"))
        ok("try_again" in codes, "hundreds of changes: try_again", codes)


# --- who gets in ---------------------------------------------------------

def wrong_ones(mode):
    with two(mode) as d:
        c = d.client()
        t = c.cmd("TOKEN create")["token"]
        short = c.cmd("TOKEN create expires=1")["token"]
        sid = c.upload(helper("hello"))["id"]
        x, r = by_token(d, t)
        eq((r.get("ok"), r.get("read_only"), len(x.cmd("LIST"))),
           (True, False, 1), "a token: its user's sessions")
        x, r = by_token(d, c.cmd("TOKEN create read-only")["token"])
        eq((x.cmd("STATUS " + sid)["id"],
            x.cmd("START " + sid).get("error_code")), (sid, "read_only"),
           "a read-only one: they are seen and not started")
        time.sleep(1.1)
        for token, name in (
                (t[:-1], "one character short"), (t + "A", "one too many"),
                (t[:10] + ("A" if t[10] != "A" else "B") + t[11:],
                 "one character changed"),
                (t.upper(), "in capitals"), ("dlt_" + "A" * 43, "made up"),
                (short, "expired"), ("x", "no token at all")):
            x, r = by_token(d, token)
            ok(r.get("error_code") == "auth_failed" and x.closed(),
               f"{name}: auth_failed, and closed", r)


def a_thousand(mode):
    """One address is slowed down, and nobody else."""
    with two(mode, "max-connections 100\n") as d:
        good = d.client().cmd("TOKEN create")["token"]
        codes, began = [], time.monotonic()
        bad = BOB if mode == "system" else None
        local = d.dir + "/run/debuglantern.sock"
        with Prober(d, ALICE if mode == "system" else None) as p:
            for i in range(1000):
                x, r = by_token(d, "dlt_" + f"{i:043}", bad)
                codes.append(r.get("error_code"))
                x.close()
            if mode == "system":
                ok(gets_in(d, good, ALICE), "who did not try gets in")
            p.check("a thousand wrong tokens: nobody waits for them")
        took = time.monotonic() - began
        eq(set(codes), {"auth_failed", "too_many_tries"},
           "a thousand wrong tokens: each is refused")
        ok(10 <= codes.count("auth_failed") <= 10 + took,
           "only the first ten were tried, then one a second at most",
           (codes.count("auth_failed"), took))
        x, r = by_token(d, good, bad)
        ok(r.get("error_code") == "too_many_tries" and x.closed() and
           re.search(r"in \d+ s", r["message"]),
           "nor does a good one get in from there now", r)
        c = Client(local, uid=ALICE) if mode == "system" else d.client()
        ok(isinstance(c.cmd("LIST"), list),
           "who needs no token is served as ever")


def nowhere(mode):
    """A token is in no log, no command line, no memory that others read."""
    with two(mode) as d:
        c = d.client()
        tokens = [c.cmd("TOKEN create")["token"] for _ in range(3)]
        eq(gets_in(d, tokens[0]), True, "a token is used")
        x = d.client()
        x.send(json.dumps({"id": 1, "command": "AUTH",
                           "args": {"token": tokens[1]}}) + "\n")
        eq(x.json().get("success"), True, "one in a JSON request")
        # half a line, then the other half
        y = d.client()
        y.send("AUTH " + tokens[2][:20])
        time.sleep(0.1)
        y.send(tokens[2][20:] + "\n")
        eq(y.json().get("ok"), True, "one in two pieces")
        eq(gets_in(d, tokens[2][:-1] + "."), False, "and a wrong one")
        secrets = [t[4:].encode() for t in tokens]
        said = d.log().encode() + str(c.cmd("ACTIVITY")).encode()
        eq([t for t in secrets if t in said], [], "none is in the log")
        with open(d.dir + "/state/tokens", "rb") as f:
            stored = f.read()
        eq([t for t in secrets if t in stored], [], "nor in the file")
        pids = d.processes()
        eq([p for p in pids for t in secrets
            if t in read_proc(p, "cmdline") + read_proc(p, "environ")], [],
           "nor in a command line or environment")
        for role in ("netproc", "spawner"):
            pid = d.role_pid(role)
            limits = read_proc(pid, "limits").decode()
            ok(re.search(r"Max core file size +0 ", limits),
               f"{role}: no core")
            if AS_ROOT:
                eq(os.stat(f"/proc/{pid}/mem").st_uid, 0,
                   f"{role}: its memory is not its user's to read")
                eq(found(pid, secrets), [],
                   f"{role}: nothing of them is left in its memory")


def found(pid, secrets):
    """Where in a process's memory one of these still is."""
    # half a secret is too much as well
    return [(hex(start + data.index(s[at:at + 12])), line)
            for start, line, data in memory_of(pid)
            for s in secrets for at in (0, 20) if s[at:at + 12] in data]


run_tests(*[alone(t) for t in (
    the_file, wrong_files, one_daemon_a_file, create_list_revoke, in_json,
    misuse, not_by_token, persists, too_many, wrong_ones, a_thousand,
    nowhere)], alone(others, SYSTEM),
    alone(not_for_everybody, SYSTEM))
