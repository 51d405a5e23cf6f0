#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Keys for browsers and terminals: who may make which, whom they let in, what
# a guest may do, and when it all ends.
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from term import EXIT, LIVE, PEOPLE, SIZE, Attached
from dl import (ALICE, AS_ROOT, BOB, Daemon, eq, helper, in_modes, ok,
                passwd_wrapper, run_tests, wait_for)

KEY = r"dl[a-z]_[A-Za-z0-9_-]{43}"


def code(r):
    return r.get("error_code")


def loaded(c):
    return c.upload(helper("hello"))["id"]


def auth(d, key, uid=None):
    c = d.client(uid) if uid else d.client()
    return c, c.cmd("AUTH " + key)


def forms(d):
    c = d.client()
    sid = loaded(c)
    keys = c.cmd("KEYS " + sid)
    made = {"dlo_": c.cmd("LOGIN link")["key"],
            "dlk_": c.cmd("TICKET " + sid)["ticket"],
            "dls_": keys["token"], "dlv_": keys["read_only_token"]}
    for prefix, key in made.items():
        ok(re.fullmatch(KEY, key) and key.startswith(prefix),
           f"{prefix}: a prefix and 256 bits")
        ok(key not in d.log(), f"{prefix}: not in the log")
    eq(code(c.cmd("KEYS " + sid)), "keys_exist",
       "a session's keys are told once")
    eq(code(c.cmd(f"KEYS {sid} again")), "invalid_argument",
       "KEYS: rotate and nothing else")
    eq(code(c.cmd(f"TICKET {sid} rw")), "invalid_argument",
       "TICKET: ro and nothing else")
    ok(c.cmd("TICKET " + sid)["expires"] is not None,
       "a ticket says when it ends")


def every_command(d, key):
    """A guest is told no, and their connection ends, whatever they ask."""
    names = [x["name"] for x in d.client().cmd("HELP")["commands"]]
    for name in names:
        g, r = auth(d, key)
        if r.get("ok") is not True:
            raise RuntimeError(r)
        if name == "ATTACH":
            continue
        eq((code(g.cmd(name + " a b")), g.closed()), ("not_permitted", True),
           f"a guest: {name}")
        g, r = auth(d, key)
        r = g.cmd('{"id":1,"command":"%s","args":{}}' % name.lower())
        ok(r["success"] is False, f"a guest, in JSON: {name}", r)


def guests(d):
    c = d.client()
    sid = loaded(c)
    keys = c.cmd("KEYS " + sid)
    for kind, read_only in (("token", False), ("read_only_token", True)):
        g, r = auth(d, keys[kind])
        eq((r.get("ok"), r.get("user"), r.get("read_only"),
            r.get("admin")), (True, "guest", read_only, False),
           f"{kind}: makes a guest")
    every_command(d, keys["token"])
    ok(all(keys[k] not in d.log() for k in keys), "no key is in the log")
    eq(c.cmd("STATUS " + sid)["state"], "LOADED",
       "the session is as it was")


def shell(c, start=True):
    sid = c.cmd("NEW tty cwd=/ -- /bin/sh -c "
                "'stty -echo; echo ready; PS1= exec sh'")["id"]
    c.cmd(f"ENV {sid} SECRET=of-its-owner")
    if start:
        c.cmd("START " + sid)
        c.until(sid, b"ready\r\n")
    return sid


def as_guest(d, key, sid, options=""):
    g, r = auth(d, key)
    if not r.get("ok"):
        raise RuntimeError(r)
    return Attached(g, sid, options)


def terminals(d):
    c = d.client()
    sid, other = shell(c), shell(c)
    keys = c.cmd("KEYS " + sid)
    a = as_guest(d, keys["token"], sid)
    a.until_event(LIVE)
    ok("of-its-owner" not in str(a.answer) and "env" not in a.answer and
       a.answer["command"] is None, "a guest is not told variables, nor the "
       "command", a.answer)
    a.type("echo $((40+2))\n")
    a.until(b"42\r\n")
    w = as_guest(d, keys["read_only_token"], sid)
    w.until(b"42\r\n")
    w.type("echo $((50+5))\n")
    w.resize(33, 11)
    a.type("stty size; echo last\n")
    w.until(b"last\r\n")
    a.until(b"last\r\n")
    ok(b"55" not in w.out + a.out and b"11 33" not in a.out,
       "who may only watch neither types nor sizes", a.out)
    g, _ = auth(d, keys["token"])
    eq(code(g.cmd("ATTACH " + other)), "not_found",
       "another terminal does not exist for them")
    x, _ = auth(d, c.cmd("TICKET " + sid)["ticket"])
    t = Attached(x, sid)
    mine = Attached(d.client(), sid)
    me = d.client().cmd("WHOAMI")["user"]
    mine.wait(lambda: mine.of(PEOPLE) and len(mine.of(PEOPLE)[-1]) == 4)
    eq(sorted((p["user"], p["role"]) for p in mine.of(PEOPLE)[-1]),
       sorted([("guest", "rw"), ("guest", "ro"), (me, "rw"), (me, "rw")]),
       "all see who is there")
    c.cmd(f"KEYS {sid} rotate")
    ok(a.until_gone() and w.until_gone(), "rotation puts guests out")
    t.type("echo still\n")
    t.until(b"still\r\n")
    ok(True, "not who came by a ticket of their own")


def first_guest(d):
    """A command that waits for who comes starts as its owner made it."""
    c = d.client()
    sid = shell(c, start=False)
    keys = c.cmd("KEYS " + sid)
    w = as_guest(d, keys["read_only_token"], sid)
    w.until_event(SIZE)
    eq(c.cmd("STATUS " + sid)["state"], "LOADED",
       "who may only watch starts nothing")
    a = as_guest(d, keys["token"], sid)
    a.until(b"ready\r\n")
    a.type("exit 3\n")
    eq((a.until_event(EXIT), w.until_event(EXIT)), ((3, 0), (3, 0)),
       "who may use it has started it")
    late = as_guest(d, keys["token"], sid)
    eq(late.until_event(EXIT), (3, 0), "but once")
    eq(c.cmd("STATUS " + sid)["state"], "STOPPED", "it stays as it is")


def rotation(d):
    c = d.client()
    sid, other = loaded(c), loaded(c)
    old, stays = c.cmd("KEYS " + sid), c.cmd("KEYS " + other)
    g, _ = auth(d, old["token"])
    v, _ = auth(d, old["read_only_token"])
    h, _ = auth(d, stays["token"])
    new = c.cmd(f"KEYS {sid} rotate")
    ok(g.closed() and v.closed(), "rotation puts guests out")
    for key in old.values():
        eq(code(auth(d, key)[1]), "auth_failed", "an old key is refused")
    for key in new.values():
        ok(auth(d, key)[1].get("ok"), "a new key is good")
    g, _ = auth(d, new["token"])
    c.cmd("DELETE " + sid)
    ok(g.closed(), "guests of a deleted session are put out")
    eq(code(auth(d, new["token"])[1]), "auth_failed",
       "and its keys are refused")
    ok(auth(d, stays["token"])[1].get("ok"),
       "another session's keys are as before")
    eq(code(h.cmd("LIST")), "not_permitted", "and so are its guests")


def tickets(d):
    c = d.client()
    sid = loaded(c)
    name = c.cmd("WHOAMI")["user"]
    for rest, read_only in (("", False), (" ro", True)):
        t = c.cmd(f"TICKET {sid}{rest}")["ticket"]
        r = auth(d, t)[1]
        eq((r.get("ok"), r.get("user"), r.get("read_only")),
           (True, name, read_only), f"a ticket{rest} is its maker's")
        eq(code(auth(d, t)[1]), "auth_failed", "and is good once")
    many = [c.cmd("TICKET " + sid)["ticket"] for _ in range(65)]
    eq(code(auth(d, many[0])[1]), "auth_failed",
       "the oldest of too many gives way")
    ok(auth(d, many[1])[1].get("ok"), "the next is good")


def logins(d):
    c = d.client()
    key = c.cmd("LOGIN link")["key"]
    eq(code(auth(d, key)[1]), "auth_failed",
       "a browser's key is good over HTTP only")
    r = c.cmd("TOKEN create")
    t, _ = auth(d, r["token"])
    eq(code(t.cmd("LOGIN link")), "not_permitted",
       "a token makes no one-time keys")
    sid = loaded(c)
    keys = t.cmd("KEYS " + sid)
    g, _ = auth(d, keys["token"])
    ticket = t.cmd("TICKET " + sid)["ticket"]
    k, _ = auth(d, ticket)
    ticket = t.cmd("TICKET " + sid)["ticket"]
    c.cmd("TOKEN revoke " + r["id"])
    ok(g.closed() and k.closed(),
       "guests by a revoked token's keys are put out")
    for key in (*keys.values(), ticket):
        eq(code(auth(d, key)[1]), "auth_failed",
           "what a revoked token made is refused")


def shares():
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon("system", "", wrapper=wrapper) as d:
        a, b = d.client(ALICE), d.client(BOB)
        sid = a.upload(helper("hello"))["id"]
        for cmd in ("TICKET", "KEYS"):
            eq(code(b.cmd(f"{cmd} {sid}")), "not_found",
               f"{cmd} of a session that one may not see")
        a.cmd(f"SHARE {sid} u{BOB}:ro")
        t = b.cmd("TICKET " + sid)["ticket"]
        g, r = auth(d, t, BOB)
        eq((r.get("user"), r.get("read_only")), (f"u{BOB}", True),
           "who may see gets a ticket to see")
        eq(code(b.cmd("KEYS " + sid)), "read_only", "and no keys")
        a.cmd(f"SHARE {sid} u{BOB}:rw")
        eq(code(b.cmd("KEYS " + sid)), "not_permitted",
           "who may use it gives out no keys either")
        w, r = auth(d, b.cmd("TICKET " + sid)["ticket"], BOB)
        eq(r.get("read_only"), False, "who may use gets a ticket to use")
        late = b.cmd("TICKET " + sid)["ticket"]
        mine, _ = auth(d, a.cmd("TICKET " + sid)["ticket"], ALICE)
        a.cmd(f"SHARE {sid} u{BOB}:ro")
        ok(w.closed(), "who may use it no more, their guest may not either")
        a.cmd(f"UNSHARE {sid} u{BOB}")
        ok(g.closed(), "nor see it")
        eq(code(auth(d, late, BOB)[1]), "auth_failed",
           "a ticket made before is refused")
        eq(code(mine.cmd("LIST")), "not_permitted", "the owner's stays")


def audited(d):
    c = d.client()
    sid = loaded(c)
    keys = c.cmd("KEYS " + sid)
    auth(d, keys["read_only_token"])
    c.cmd("LOGIN link")
    said = wait_for(lambda: re.findall(
        rf'user="guest" door=\S+ address="[^"]+" session={sid} '
        r'action="login" result="ok \(guest of (\S+), read-only\)"',
        d.log()))
    eq(said, [c.cmd("WHOAMI")["user"]], "a guest's login is audited")
    for action in ("KEYS", "LOGIN"):
        ok(wait_for(lambda a=action: re.search(
            f'action="{a}" result="ok \\(key [0-9a-f]{{8}}', d.log())),
           f"{action} is audited")
    ok("dls_" not in d.log() and "dlv_" not in d.log() and
       "dlo_" not in d.log(), "with no key in it")


TESTS = [in_modes(forms, guests, terminals, first_guest, rotation, tickets, logins, audited)]
if AS_ROOT:
    TESTS.append(shares)
run_tests(*TESTS)
