#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# netproc has been taken over.  Whatever it sends, the daemon lives, nobody
# else's session is touched, and it is ended as soon as it breaks the table.
import contextlib
import errno
import os
import random
import signal
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import rogue
from rogue import (BY_NAME, ERR, HEADER, IDPROC, KINDS, LISTENER, LOGGER,
                   MAPPED, MEMFD, NONE, PARENT, PAYLOAD_MAX, ROLE, ROWS, SELF,
                   SOCKET, SPAWNER, CLOSED_TCP, Rogue, blob, daemon, u32, u64)
from dl import (AS_ROOT, MODES, SANITIZED, alive, alone, attempt, eq, helper,
                ok, read_helper, read_proc, run_tests, status_of, wait_for)

rogue.with_roles(netproc=helper("rogue_netproc"))
LIMITS = "max-sessions 20\nmax-total-bytes 64M\nmax-connections 50\n"
READY, USR1 = b"ready\n", b"USR1\n"
RING_MOST = 128 * 1024
NO_SESSION = bytes(16)
ESRCH_SID = bytes(range(16))
IMAGE = read_helper("handler")


def ring_text(r, ring):
    """What a small output left in the ring: its text, without zeros."""
    page = r.read(ring, RING_MOST)
    return page[page.find(READY):].split(b"\0")[0]


class Victim:
    """A running session of somebody else, and what must not change."""

    def __init__(self, d):
        self.d = d
        r = Rogue(d, d.bob).identify()
        self.session = r.upload(IMAGE)
        ring = r.start(self.session)
        # the spawner sends it once to each netproc that it is to know it
        self.ring, self.ring_of = ring, r.pid
        wait_for(lambda: ring_text(r, ring) == READY)
        self.pid = r.view(self.session)[1]
        self.roles = {n: d.role_pid(n) for n in
                      ("spawner", "idproc", "launcher")}
        r.close()
        self.text = READY
        self.fds = self.spawner_fds()

    def spawner_fds(self):
        return len(os.listdir(f"/proc/{self.roles['spawner']}/fd")) \
            if AS_ROOT else 0

    def spawner_rss(self):
        return int(status_of(self.roles["spawner"])["VmRSS"].split()[0])

    def trouble(self, may_die=(), fds=True):
        """What is not as it was; an empty list is what a test wants."""
        out = []
        if self.d.proc.poll() is not None:
            return ["the daemon has ended"]
        for name, pid in self.roles.items():
            if self.d.role_pid(name) != pid and name not in may_die:
                out.append(name + " was replaced")
        if not alive(self.pid):
            out.append("the victim has died")
        if fds and not wait_for(lambda: self.spawner_fds() == self.fds, 30):
            out.append(f"the spawner has {self.spawner_fds()} fds, not "
                       f"{self.fds}")
        return out

    def output_is_whole(self):
        """It still answers, and its owner still sees all it has said."""
        os.kill(self.pid, signal.SIGUSR1)
        self.text += USR1
        r = Rogue(self.d, self.d.bob).identify()
        if r.pid != self.ring_of:
            self.ring = r.wait(lambda m: m.name == "RING" and
                               m.session == self.session).fd
            self.ring_of = r.pid
        good = wait_for(lambda: ring_text(r, self.ring) == self.text, 30)
        r.close()
        return bool(good)


def reconnect(d):
    """The next rogue serves as soon as it is there."""
    def once():
        try:
            return Rogue(d, d.alice).identify()
        except (OSError, EOFError, RuntimeError):
            return None
    return wait_for(once, 60)


# --- the table -----------------------------------------------------------

def receivers():
    return ((SPAWNER, "spawner"), (IDPROC, "idproc"), (PARENT, "parent"),
            (LOGGER, "logger"))


def may_send(row, to):
    return row["from"] in ("netproc", "child") and row["to"] == to


def unknown_types():
    for peer, name in receivers():
        for t in (0, len(ROWS) + 1, 0xffff, 2**31, 2**32 - 1):
            yield (f"type {t} to {name}", lambda r, p=peer, t=t:
                   r.send(t, peer=p))


def wrong_senders():
    """All to the spawner; half of them to each of the others."""
    for n, (peer, name) in enumerate(receivers()):
        for row in ROWS:
            if may_send(row, name) or (n > 0 and row["type"] % 2 != n - 1):
                continue
            yield (f"{row['name']} to {name}, which is another's",
                   lambda r, p=peer, row=row: r.send(
                       row["name"], bytes(row["min"]), p,
                       SOCKET if row["fd"] == "socket" else NONE))


def lengths(row):
    if row["min"] > 0:
        yield row["min"] - 1
    if row["min"] > 1:
        yield 0
    yield row["max"] + 1
    if row["max"] < PAYLOAD_MAX:
        yield PAYLOAD_MAX


def malformed():
    for peer, name in receivers():
        for row in (x for x in ROWS if may_send(x, name)):
            what, size = row["name"], row["min"]
            kind = SELF if row["fd"] == "socket" else NONE
            for n in lengths(row):
                yield (f"{what} of {n} bytes", lambda r, w=what, n=n, p=peer,
                       k=kind: r.send(w, bytes(n), p, k))
            for delta in (1, -1, 2**31):
                yield (f"{what}, whose header lies about its length",
                       lambda r, w=what, n=size, p=peer, k=kind, e=delta:
                       r.send(w, bytes(n), p, k, length=(n + e) % 2**32))
            for gen in (1, -1):
                yield (f"{what} of another generation",
                       lambda r, w=what, n=size, p=peer, k=kind, g=gen:
                       r.send(w, bytes(n), p, k, generation=(
                           r.generation(p) + g) % 2**32))
            yield (f"{what} with 253 fds", lambda r, w=what, n=size, p=peer:
                   r.send(w, bytes(n), p, MEMFD, 253))
            if row["fd"] == "none":
                yield (f"{what} with an fd", lambda r, w=what, n=size, p=peer:
                       r.send(w, bytes(n), p, MEMFD))
        yield (f"half a header to {name}", lambda r, p=peer:
               r.send_raw(p, bytes(20)))
        yield (f"one byte and an fd to {name}", lambda r, p=peer:
               r.send_raw(p, b"x", MAPPED))


def wrong_fds():
    for kind in sorted(set(KINDS) - {"SELF", "SOCKET", "CLOSED_TCP",
                                     "LISTENER"}):
        yield (f"WHO with {kind} for a socket", lambda r, k=KINDS[kind]:
               r.send("WHO", peer=IDPROC, kind=k))
    yield ("WHO with two sockets", lambda r:
           r.send("WHO", peer=IDPROC, kind=SELF, fds=2))
    yield ("WHO for connection 0", lambda r:
           r.send("WHO", peer=IDPROC, kind=SELF, conn=0))
    for kind in sorted(set(KINDS) - {"NONE"}):
        yield (f"DEPS with {kind}", lambda r, k=KINDS[kind]:
               r.send("DEPS", kind=k))


def upload_of(path):
    """The end of UPLOAD: no name of the file is told."""
    return blob(path) + blob("")


ASKS = {"UPLOAD": u64(1) + blob("") + blob(""),
        "UPLOAD_OPEN": u64(1) + blob("") + blob(""),
        "UPLOAD_END": u64(1), "START": u32(0, 3, 2, 0, 0),
        "ARGS": blob("") + blob(""), "ENV": blob("A") + blob("b"),
        "ENVDEL": blob("A"), "LABEL": blob("x"),
        "LIMITS": u32(0) + u64(0, 0, 0, 0, 0), "STOP": b"", "KILL": b"",
        "SIGNAL": u32(10), "DELETE": b"", "DEBUG": u32(0), "INPUT": b"",
        "DEBUG_PORT": u32(4444), "INPUT_EOF": b"", "SYSROOT": b"",
        "UPLOADED": b"", "ACTIVITY": b"", "DEPS": b"", "WHOAMI": b"",
        "AUTH": blob("dlt_x"), "AUDIT": u64(0) + u32(0), "QUOTA": blob(""),
        "SHARE": u32(1) + blob("nobody"), "KEY_MAKE": u32(3, 2, 0),
        "KEY_END": b"",
        "NEW": u32(0, 0, 0) + blob("") + blob("") + blob("true\0") + blob(""),
        "RESIZE": u32(80, 24), "TTY_INPUT": b"x", "FLOW": u64(0),
        "HOLD": u32(0) + u64(0), "ACCEPT": b"", "TTY_MARK": b"",
        "INST_START": u32(0, 3, 2) + blob("") + b"{}",
        "INST_ASK": u32(0, 0) + b"{}",
        "TOKEN_CREATE": u32(0) + u64(0) + blob("") + blob("x"),
        "TOKEN_LIST": b"", "TOKEN_REVOKE": blob("x")}
# what nobody answers
NOTES = {"CONN_CLOSED", "UPLOAD_ABORT", "DEBUG_END", "ARM", "SYSROOT_DONE",
         "USAGE_WATCH"}


def all_requests():
    """A new message is asked by strangers, too."""
    eq({r["name"] for r in ROWS if r["from"] == "netproc" and
        r["to"] == "spawner"}, set(ASKS) | NOTES,
       "each request has a row in ASKS")


def strangers():
    """Requests of connections that idproc has not named."""
    for what, payload in ASKS.items():
        for conn, who in ((0, "nobody"), (-1, "an unknown connection")):
            yield (f"{what} for {who}", lambda r, w=what, p=payload, c=conn:
                   r.send(w, p, request=1, session=ESRCH_SID, conn=(
                       0 if c == 0 else r.conn ^ 0x40000000)))


def bad_fields():
    for n in (2, 2**32 - 1):
        yield (f"USAGE_WATCH {n}", lambda r, n=n: r.send(
            "USAGE_WATCH", u32(n)))
    nul, long = b"a\0b", b"x" * 4096
    for n in (0, 65, 66, 2**31, 2**32 - 1, 2**32 - 9):
        yield (f"signal {n}", lambda r, n=n: r.send(
            "SIGNAL", u32(n), request=9, session=own_session(r, True)))
    for by in (3, 2**32 - 1):
        yield (f"DEBUG by {by}", lambda r, n=by: r.send(
            "DEBUG", u32(n), request=9, session=own_session(r, True)))
    for what, payload in (
            ("UPLOAD", u64(1) + blob(nul) + blob("")),
            ("UPLOAD", u64(1) + blob(long) + blob("")),
            ("UPLOAD", u64(1) + blob("") + blob(nul)),
            ("UPLOAD", u64(1) + blob("") + blob(long)),
            ("UPLOAD", u64(1) + u32(2**32 - 1)),
            ("UPLOAD", u64(1) + u32(2**31) + b"x"),
            ("UPLOAD", u64(1) + blob("x") + blob("") + b"y"),
            ("UPLOAD_OPEN", u64(1) + blob(nul) + blob("")),
            ("UPLOAD_END", u32(1)),
            ("START", u32(16, 0, 0, 0, 0)), ("START", u32(0, 0, 0)),
            ("START", u32(2**32 - 1, 0, 0, 0, 0)),
            ("START", u32(0, 4, 0, 0, 0)), ("START", u32(0, 2**31, 0, 0, 0)),
            ("START", u32(0, 0, 3, 0, 0)),
            ("START", u32(0, 0, 2**32 - 1, 0, 0)),
            ("NEW", u32(4, 0, 0) + blob("") * 4),
            ("NEW", u32(0, 0, 0) + blob("x" * 65) + blob("") * 3),
            ("NEW", u32(0, 0, 0) + blob("") + blob("/" * 1024) + blob("") * 2),
            ("NEW", u32(0, 0, 0) + blob("") * 2 + blob("true") + blob("")),
            ("NEW", u32(0, 0, 0) + blob("") * 3 + blob("A=1")),
            ("NEW", u32(0, 0, 0) + blob("") * 2 + u32(2**32 - 1, 0)),
            ("INST_START", u32(2, 3, 2) + blob("") + b"{}"),
            ("INST_START", u32(2**32 - 1, 3, 2) + blob("") + b"{}"),
            ("INST_ASK", u32(2, 0) + b"{}"), ("INST_ASK", u32(0, 2) + b"{}"),
            ("INST_ASK", u32(1, 1) + b"{}"),
            ("TTY_INPUT", b"x" * 16385), ("RESIZE", u32(1)),
            ("ARGS", blob(nul) + blob("")), ("ARGS", blob("x") + blob("x")),
            ("ARGS", u32(2**32 - 1) + u32(2**32 - 1)),
            ("ARGS", u32(0) + u32(2**32 - 1)),
            ("ENV", blob(nul) + blob("")), ("ENV", blob("A") + blob(nul)),
            ("ENV", blob("A") + u32(2**32 - 1)),
            ("ENVDEL", blob(nul)), ("LABEL", blob(nul)),
            ("LIMITS", u32(2**32 - 1)), ("LIMITS", u32(0) + u64(0)),
            ("KEY_MAKE", u32(4, 2, 0)), ("KEY_MAKE", u32(2**32 - 1, 2, 0)),
            ("KEY_MAKE", u32(2, 0, 0)), ("KEY_MAKE", u32(2, 3, 0)),
            ("KEY_MAKE", u32(3, 2, 2)), ("DEBUG_PORT", u32(65536)), ("DEBUG_PORT", u32(2**32 - 1))):
        yield (f"{what} {payload[:40]!r}", lambda r, w=what, p=payload:
               r.send(w, p, request=9, session=own_session(r)))

def own_session(r, running=False):
    if not hasattr(r, "own"):
        r.own = r.upload(IMAGE)
        if running:
            r.start(r.own)
    return r.own


def to_the_parent_and_the_logger():
    yield ("READY for the second time", lambda r: r.send("READY", b"",
                                                         PARENT))
    yield ("LOG with a NUL", lambda r: r.send(
        "LOG", u32(1) + blob(b"a\0b"), LOGGER))
    yield ("VIOLATION with a lie about its length", lambda r: r.send(
        "VIOLATION", u32(SPAWNER, 1) + u32(2**32 - 1), PARENT))


def ended_by(mode, cases, every=1):
    """Each case ends the rogue and nothing else; two cases a daemon."""
    cases = list(cases)[::every]
    for i in range(0, len(cases), 2):
        with daemon(mode, LIMITS) as d:
            v = Victim(d)
            for name, attack in cases[i:i + 2]:
                end_one(d, v, name, attack)
            ok(v.output_is_whole(), f"{name}: another's output is whole")


def end_one(d, v, name, attack):
    r = reconnect(d)
    if not ok(r, name + ": there is a netproc"):
        return
    seen = len(d.log())
    try:
        attack(r)
        dead = r.is_dead()
    except (EOFError, ConnectionError):
        dead = True
    r.close()
    said = wait_for(lambda: [x for x in d.log()[seen:].splitlines()
                             if "netproc" in x], 30)
    lines = len(d.log()[seen:].splitlines())
    # two restarts are the next case's; own sessions may be left
    trouble = v.trouble(fds=not hasattr(r, "own"))
    ok(dead and said and lines <= 8 and not trouble,
       f"{name}: it is ended, and nothing else",
       f"dead {dead}, {trouble}\n{d.log()[seen:]}")
    if hasattr(r, "own"):
        v.fds = v.spawner_fds()


def cases_of(*makers):
    def run(mode):
        for make in makers:
            if os.environ.get("DL_ONLY", "") not in make.__name__:
                continue
            # the code is the same in both modes; user mode takes samples
            ended_by(mode, make(), 1 if mode == MODES[0] else 25)
    run.__name__ = "all of " + makers[0].__name__
    return run


# --- what is no violation, and does no harm ------------------------------

def on_one_daemon(*tests):
    def run(mode):
        for test in tests:
            if os.environ.get("DL_ONLY", "") not in test.__name__:
                continue
            with daemon(mode, LIMITS) as d:
                v = Victim(d)
                attempt(test.__name__, test, d, v,
                        Rogue(d, d.alice).identify())
                ok(v.trouble() == [], f"{test.__name__}: all else is as it "
                   "was", str(v.trouble()) + d.log()[-1500:])
                ok(v.output_is_whole(),
                   f"{test.__name__}: another's output is whole")
    run.__name__ = tests[0].__name__ + " and others"
    run.chooses = True
    return run


def sessions_of_others(d, v, r):
    ids = [ESRCH_SID, bytes(16), b"\xff" * 16] + \
        [random.Random(7).randbytes(16) for _ in range(5)]
    if d.mode == "system":
        ids.append(v.session)
    r.messages()
    r.seen.clear()
    for what, payload in ASKS.items():
        if what in ("UPLOAD", "UPLOAD_OPEN", "SYSROOT", "ACTIVITY", "DEPS",
                    "AUTH", "WHOAMI", "AUDIT", "KEY_END", "NEW", "FLOW",
                    "HOLD", "ACCEPT", "TOKEN_CREATE", "TOKEN_LIST"):
            continue
        # a debugger or tracer is asked for by no session, too
        named = [i for i in ids if i != NO_SESSION] \
            if what.startswith("INST_") else ids
        got = {r.ask(what, payload, session=i).error() for i in named}
        want = {"DEBUG_FAILED"} if what == "DEBUG_PORT" else {"NOT_FOUND"}
        eq(got, want, f"{what}: sessions of others do not exist")
    for i in ids:
        for what, payload in (("DEBUG_END", b""), ("UPLOAD_ABORT", b""),
                              ("ARM", u64(0)), ("SYSROOT_DONE", b""),
                              ("FLOW", u64(0)), ("HOLD", u32(1) + u64(0)),
                              ("HOLD", u32(0) + u64(0)), ("ACCEPT", b"")):
            r.send(what, payload, session=i)
    r.ask("DEPS")
    if d.mode == "system":
        r.messages()
        # that there is more output it may hear for half a minute still
        eq([m for m in r.seen if m.session == v.session and
            m.name not in ("RESULT", "OUTPUT_NOTICE")], [],
           "nothing is pushed of an owner who is not connected")


COOKIE, LOGIN, TICKET, SESSION = range(4)
SEE, USE = 1, 2
# what a guest may send; all else of the table is refused before it is read
GUESTS = ("CONN_CLOSED", "ARM", "TTY_INPUT", "RESIZE", "FLOW", "TTY_MARK")


def keys_made(r, kind, access=USE, rotate=0, session=NO_SESSION):
    """The texts of a KEY, without the empty one."""
    m = r.ask("KEY_MAKE", u32(kind, access, rotate), session=session)
    if m.name != "KEY":
        raise RuntimeError(m.error())
    n = m.numbers("I")[0]
    k = u32_at(m.payload, 4 + n)
    both = m.payload[4:4 + n], m.payload[8 + n:8 + n + k]
    return [x.decode() for x in both if x]


def u32_at(data, at):
    return int.from_bytes(data[at:at + 4], sys.byteorder)


def guest(d, uid, key):
    g = Rogue(d, uid).identify()
    m = g.ask("AUTH", blob(key))
    return g, m


def guests_beyond_their_session(d, v, r):
    r.messages()
    r.seen.clear()
    s = own_session(r)
    for key in keys_made(r, SESSION, session=s):
        g, m = guest(d, d.alice, key)
        eq((m.name, m.session), ("AUTHED", s), f"{key[:4]}: lets a guest in")
        flags = m.numbers("II")[1]
        ok(flags & 128 and not flags & 1, f"{key[:4]}: as a guest, no admin")
        got = set()
        for row in ROWS:
            if not may_send(row, "spawner") or row["from"] != "netproc" or \
                    row["name"] in GUESTS:
                continue
            for i in (s, v.session, NO_SESSION):
                e = g.ask(row["name"], bytes(row["min"]), session=i).error()
                got.add((row["name"], e))
        eq([x for x in got if x[1] != "NOT_PERMITTED"], [],
           f"{key[:4]}: everything else is refused, whatever is in it")
        ok(len(got) > 25, "and that was a lot", len(got))
        g.send("CONN_CLOSED")
        g.close()
    r.ask("DELETE", session=s)
    r.messages()
    if d.mode == "system":
        eq([m for m in r.seen if m.session == v.session and
            m.name not in ("RESULT", "OUTPUT_NOTICE")], [],
           "nothing is pushed of what the guest may not see")


def keys_of_others(d, v, r):
    s = own_session(r)
    if d.mode == "system":
        for kind in (TICKET, SESSION):
            eq(r.ask("KEY_MAKE", u32(kind, USE, 1),
                     session=v.session).error(), "NOT_FOUND",
               "no key to a session of others")
    eq(r.ask("KEY_MAKE", u32(COOKIE, USE, 0)).error(), "NOT_PERMITTED",
       "no login for who has shown neither token nor key")
    ticket = keys_made(r, TICKET, session=s)[0]
    eq([guest(d, d.alice, ticket)[1].name for _ in range(2)],
       ["AUTHED", "RESULT"], "a ticket is good once")
    key = keys_made(r, LOGIN)[0]
    eq(guest(d, d.alice, key)[1].error(), "AUTH_FAILED",
       "a browser's key is good over HTTP only")
    keys = keys_made(r, SESSION, session=s)
    g, _ = guest(d, d.alice, keys[0])
    keys_made(r, SESSION, rotate=1, session=s)
    ok(g.wait(lambda m: m.name == "CONN_END" and m.conn == g.conn),
       "rotation ends who came in by the old key")
    eq({g.ask(w, ASKS[w], session=s).error() for w in ("STOP", "KEY_MAKE")},
       {"NOT_FOUND"}, "who is nobody from then on")
    eq(guest(d, d.alice, keys[0])[1].error(), "AUTH_FAILED",
       "and the old key is no more")
    r.ask("DELETE", session=s)


def first_start_by_a_guest(d, v, r):
    """A session whose owner made it wait starts as it was made, or not."""
    s = r.ask("NEW", u32(1, 80, 24) + blob("") + blob("/") +
              blob(b"/bin/cat\0") + blob("")).session
    keys = keys_made(r, SESSION, session=s)
    g, _ = guest(d, d.alice, keys[0])
    w, _ = guest(d, d.alice, keys[1])
    for flags, sandbox, network in ((8, 0, 2), (8, 3, 0), (8, 2, 2),
                                    (0, 3, 2), (9, 3, 2), (12, 3, 2)):
        eq(g.ask("START", u32(flags, sandbox, network, 80, 24),
                 session=s).error(), "NOT_PERMITTED",
           f"a guest's START with {flags}, {sandbox}, {network}")
    eq(w.ask("START", u32(8, 3, 2, 80, 24), session=s).error(), "READ_ONLY",
       "nor by who may only watch")
    eq(g.ask("START", u32(8, 3, 2, 80, 24), session=own_session(r)).error(),
       "NOT_PERMITTED", "nor of another session")
    eq(g.ask("START", u32(8, 3, 2, 80, 24), session=s).error(), "OK",
       "as it was made it starts")
    eq(r.ask("KILL", session=s).error(), "OK", "its owner ends it")
    eq(g.ask("START", u32(8, 3, 2, 80, 24), session=s).error(),
       "NOT_PERMITTED", "and no guest starts it again")
    for x in (s, own_session(r)):
        r.ask("DELETE", session=x)


COUNTER = ("stty -echo; echo ready; kill -STOP $$; "
           "sed /Q/q | wc -c; echo over")
LINES = b"x\n" * 8192


def typed_by_who_is_put_out(d, v, r):
    """It waits for the program, and never comes to it."""
    m = r.ask("NEW", u32(1, 80, 24) + blob("") + blob("/") +
              blob(b"/bin/sh\0-c\0" + COUNTER.encode() + b"\0") + blob(""))
    s = m.session
    ring = r.start(s)
    wait_for(lambda: b"ready" in r.read(ring, RING_MOST))
    key = keys_made(r, SESSION, session=s)[0]
    g, _ = guest(d, d.alice, key)
    # twice what a terminal holds of what is not read
    g.send("TTY_INPUT", LINES, session=s, request=1)
    keys_made(r, SESSION, rotate=1, session=s)
    r.ask("SIGNAL", u32(signal.SIGCONT), session=s)
    eq(r.ask("TTY_INPUT", b"Q\n", session=s).error(), "OK",
       "its owner types on")
    said = wait_for(lambda: (b"over" in r.read(ring, RING_MOST)) and
                    r.read(ring, RING_MOST))
    n = int([x for x in said.replace(b"\r", b"").split(b"\n")
             if x.strip().isdigit()][0])
    ok(2 < n < len(LINES), "what waited is dropped, what came before is not",
       n)
    wait_for(lambda: r.ask("DELETE", session=s).error() == "OK")


def broken_rules_end_keys(d, v, r):
    """Whoever had taken it over may have kept what went through it."""
    s = own_session(r)
    key = keys_made(r, SESSION, session=s)[0]
    eq(guest(d, d.alice, key)[1].name, "AUTHED", "the key is good")
    r.exit(3)
    eq(guest(d, d.alice, key)[1].name if reconnect(d) else None, "AUTHED",
       "also after a netproc that just died")
    r = reconnect(d)
    r.send("READY", b"", SPAWNER)
    ok(r.is_dead(), "a netproc that breaks the rules is ended")
    r = reconnect(d)
    eq(guest(d, d.alice, key)[1].error(), "AUTH_FAILED",
       "and so are all keys")
    r.ask("DELETE", session=s)


def states(d, v, r):
    s = r.upload(IMAGE)
    for what in ("STOP", "KILL", "INPUT", "INPUT_EOF", "SIGNAL", "DEBUG"):
        eq(r.ask(what, ASKS[what], session=s).error(), "NOT_RUNNING",
           f"{what} of a session that was never started")
    eq(r.ask("UPLOADED", session=s).error(), "NOT_FOUND",
       "UPLOADED for the second time")
    r.start(s)
    eq(r.ask("START", ASKS["START"], session=s).error(), "ALREADY_RUNNING",
       "START twice")
    eq(r.ask("DELETE", session=s).error(), "SESSION_RUNNING",
       "DELETE of a running session")
    eq(r.ask("DEBUG_PORT", u32(1), session=s).error(), "DEBUG_FAILED",
       "a port for a debugger that there is not")
    for _ in range(3):
        r.send("DEBUG_END", session=s)
        r.send("UPLOAD_ABORT", session=s)
        r.send("SYSROOT_DONE", session=s)
        r.send("ARM", u64(2**64 - 1), session=s)
        r.send("ARM", u64(0), session=s)
    eq(r.ask("KILL", session=s).error(), "OK", "KILL ends it all the same")
    eq(r.ask("DELETE", session=s).error(), "OK", "and DELETE removes it")
    eq(r.ask("DELETE", session=s).error(), "NOT_FOUND", "once")


def values(d, v, r):
    for size, want in ((0, "INVALID_SIZE"), (2**32 - 1, "MAX_BYTES"),
                       (2**63, "MAX_BYTES"), (2**64 - 1, "MAX_BYTES"),
                       (64 << 20, "MAX_BYTES")):
        eq(r.ask("UPLOAD", u64(size) + upload_of("")).error(), want,
           f"UPLOAD of {size} bytes")
    for path in ("..", "../x", "/x", "a/../../b", "/", "x/..", "a/../b",
                 "//x"):
        eq(r.ask("UPLOAD", u64(1) + upload_of(path)).error(),
           "INVALID_EXEC_PATH", f"UPLOAD with the path {path}")
    s = own_session(r)
    for key in ("", "1A", "A=B", "A B", "A-B", "\xe4", "A\n", "x" * 300):
        ok(r.ask("ENV", blob(key) + blob("v"), session=s).error() != "OK",
           f"ENV with the key {key[:10]!r}")
    for label in ("a b", "a/b", "\x1b[2J", "x\n"):
        ok(r.ask("LABEL", blob(label), session=s).error() != "OK",
           f"LABEL {label!r}")
    ok(r.ask("ARGS", blob(b"x" * 41000) + blob(b"x\0"),
             session=s).error() != "OK", "ARGS longer than the limit")
    ok(r.ask("ARGS", blob("") + blob(b"\0" * 41000),
             session=s).error() != "OK", "ARGS with too many words")
    eq(r.ask("DELETE", session=s).error(), "OK", "the session goes")


def loader_variables(d, v, r):
    """The session's variables are the program's, not the daemon's."""
    names = (b"LD_PRELOAD", b"LD_LIBRARY_PATH", b"GLIBC_TUNABLES",
             b"LD_AUDIT", b"PATH", b"DEBUGLANTERN_SESSION")
    s = own_session(r)
    for n in names:
        eq(r.ask("ENV", blob(n) + blob("/tmp/evil"), session=s).error(), "OK",
           f"ENV {n.decode()} is the owner's business")
    r.start(s)
    pid = r.view(s)[1]
    stub = int(status_of(pid)["PPid"])
    if AS_ROOT:
        ok(b"LD_PRELOAD=/tmp/evil\0" in read_proc(pid, "environ"),
           "the program has them")
        bad = [p for p in d.processes() if p not in (pid, v.pid) and
               b"/tmp/evil" in read_proc(p, "environ")]
        eq((bad, alive(stub)), ([], True), "no process of the daemon has")
    r.ask("KILL", session=s)
    r.ask("DELETE", session=s)


def holds_without_sense(d, v, r):
    """Offsets and runs that cannot be hold up nobody but one's own, and not
    even that for longer than the connection lasts."""
    sid = r.upload(read_helper("flood"))
    for run in (0, 1, 2, 2**32 - 1):
        for offset in (0, 1, 2**63, 2**64 - 2, 2**64 - 1):
            r.send("HOLD", u32(run) + u64(offset), session=sid)
            r.send("HOLD", u32(run) + u64(offset), session=v.session)
    r.send("HOLD", u32(0) + u64(0), session=sid)
    ring = r.start(sid)
    page = [b""]

    def still():
        page.append(r.read(ring, 4096))
        return page[-1] == page[-2] and page[-1][16:24] > bytes(8)
    ok(wait_for(still, 10, 0.2), "a program that is held waits")
    other = Rogue(d, d.alice).identify()
    other.send("HOLD", u32(1) + u64(2**64 - 1), session=sid)
    other.ask("DEPS")
    eq(r.read(ring, 4096), page[-1], "another connection does not let it go")
    # of the session that it held it holds nothing when it holds another
    r.send("HOLD", u32(1) + u64(2**64 - 2), session=sid)
    ok(wait_for(lambda: r.read(ring, 4096) != page[-1]),
       "one that is beyond all bounds is none")
    r.send("HOLD", u32(1) + u64(0), session=sid)
    eq(r.ask("KILL", session=sid).error(), "OK", "KILL of a held program")
    eq(r.ask("DELETE", session=sid).error(), "OK", "and DELETE")
    other.close()


def sockets_that_are_not_connections(d, v, r):
    for kind in (SOCKET, CLOSED_TCP, LISTENER):
        r.send("WHO", peer=IDPROC, kind=kind, conn=r.conn ^ 0x1000)
        m = r.wait(lambda m: m.name == "PEER_IS" and
                   m.conn == r.conn ^ 0x1000)
        eq(m.numbers("I")[0], 1, f"a socket of kind {kind} is nobody")


def writers_after_the_upload(d, v, r):
    m = r.ask("UPLOAD", u64(len(IMAGE)) + upload_of(""))
    eq(r.write(m.fd, len(IMAGE), b"x") < 0, True, "the room cannot grow")
    eq(r.write(m.fd, 0, IMAGE), len(IMAGE), "the room can be filled")
    eq(r.ask("UPLOADED", session=m.session).error(), "OK", "an image")
    eq(r.write(m.fd, 0, b"#!/bin/sh\n"), -errno.EPERM,
       "no byte of it can be written any more")
    eq(r.map(m.fd, 1, 4096), -errno.EPERM, "nor mapped for writing")
    eq(r.read(m.fd, 4), b"\x7fELF", "it is what it was")
    eq(r.ask("DELETE", session=m.session).error(), "OK", "the session goes")


def open_uploads(d, v, r):
    """Their size is known at the end, and is never more than there was."""
    m = r.ask("UPLOAD_OPEN", u64(1 << 20) + upload_of(""))
    eq(r.write(m.fd, 1 << 20, b"x") < 0, True, "an open room cannot grow")
    eq(r.write(m.fd, 0, IMAGE), len(IMAGE), "it can be filled")
    eq(r.ask("UPLOAD_END", u64(len(IMAGE)), session=m.session).error(), "OK",
       "and cut to its image")
    eq(r.write(m.fd, 0, b"#!/bin/sh\n"), -errno.EPERM,
       "no byte of which can be written any more")
    eq(r.ask("UPLOAD_END", u64(1), session=m.session).error(), "NOT_FOUND",
       "it ends once")
    r.ask("DELETE", session=m.session)
    m = r.ask("UPLOAD_OPEN", u64(2**63 - 1) + upload_of(""))
    eq(m.name, "ROOM", "room for whatever comes")
    eq(r.ask("UPLOAD_END", u64(0), session=m.session).error(),
       "INVALID_SIZE", "nothing comes")
    eq(r.ask("UPLOAD_OPEN", u64(64 << 20) + upload_of("")).error(),
       "MAX_BYTES",
       "more than there is room for")


def died_in_an_upload(d, v, r):
    r.ask("UPLOAD", u64(40 << 20) + upload_of(""))
    r.exit(3)
    r = reconnect(d)
    ok(r, "exit in an upload: the next netproc serves")
    eq(r.messages() + r.seen and [m for m in r.seen if m.name == "SESSION" and
                                  m.session != v.session], [],
       "exit in an upload: no half session is left")
    m = r.ask("UPLOAD", u64(40 << 20) + upload_of(""))
    eq(m.name, "ROOM", "exit in an upload: its bytes are free again")
    r.send("UPLOAD_ABORT", session=m.session)
    r.ask("DEPS")


def uploads_of_all_connections(d, v, r):
    conns = [Rogue(d, d.alice).identify() for _ in range(24)]
    got = [c.ask("UPLOAD", u64(1000) + upload_of("")) for c in conns]
    eq([m.name for m in got].count("ROOM"), 19,
       "uploads under way count as sessions")
    eq(conns[0].ask("UPLOAD", u64(1000) + upload_of("")).error(),
       "UPLOAD_IN_PROGRESS", "one for each connection")
    for c in conns:
        c.send("CONN_CLOSED")
    conns[0].close()
    eq(r.ask("UPLOAD", u64(1000) + upload_of("")).name, "ROOM",
       "and none is left when they close")
    r.send("CONN_CLOSED")
    r.send("CONN_CLOSED")
    for c in conns:
        c.close()


def accusations(d, v, r):
    """What it says of the others is believed only as far as it is harmless:
    the spawner holds everybody's sessions."""
    for gen in (r.spawner_gen + 1, 0, 2**32 - 1):
        r.send("VIOLATION", u32(SPAWNER, gen) + blob("lies"), PARENT)
    for role in (PARENT, ROLE["netproc"], ROLE["launcher"],
                 ROLE["announcer"], ROLE["tlsproc"], ROLE["logger"], 77,
                 2**32 - 1):
        for gen in (0, 1, 2):
            r.send("VIOLATION", u32(role, gen) + blob("lies"), PARENT)
    r.ask("DEPS")
    data = r.datagram("VIOLATION", u32(SPAWNER, r.spawner_gen) +
                      blob("lies\x1b[2J\n"), PARENT)
    with last_words():
        r.send_raw(PARENT, data)
    ok(r.is_dead(), "who accuses the spawner is ended")
    ok("\x1b" not in d.log() and "lies" in d.log(),
       "its words are in the log, escaped", d.log()[-500:])
    ok(reconnect(d), "and the next netproc serves")


def accusing_idproc(d, v, r):
    """The spawner needs it: it must not be kept in a back-off alone."""
    with last_words():
        r.send("VIOLATION", u32(IDPROC, r.idproc_gen) + blob("lies"), PARENT)
    ok(r.is_dead(), "who accuses idproc is ended")
    ok(wait_for(lambda: d.role_pid("idproc") not in
                (None, v.roles["idproc"]), 60), "with it")
    v.roles["idproc"] = d.role_pid("idproc")


def log_flood(d, v, r):
    line = r.datagram("LOG", u32(1) + blob(b"\x1b]0;x\x07" * 100), LOGGER)
    before = os.path.getsize(d.log_path)
    sent, _ = r.flood(LOGGER, 200000, line, 1500)
    r2 = reconnect(d)
    ok(r2, "a flood of log lines: a netproc serves")
    size = os.path.getsize(d.log_path) - before
    ok(sent > 1000 and size < 1 << 20,
       "a flood of log lines: the log stays small", (sent, size))
    ok("\x1b" not in d.log() and "\x07" not in d.log(),
       "a flood of log lines: control characters are escaped")


def flood_of_questions(d, v, r):
    sent, _ = r.flood(IDPROC, 20000, r.datagram("WHO", peer=IDPROC), 1500,
                      SELF)
    ok(sent > 100, "a flood of WHO", sent)
    ok(r.is_dead(0.1) or r.ask("DEPS").name == "DEPS_ROWS",
       "a flood of WHO: the spawner answers all the same")


def who_looks_and_does_not(d, v, r):
    """The launcher, which others need for their starts, is not hurried."""
    sid = own_session(r, True)
    hand = d.role_pid("launcher")

    def switches():
        return int(status_of(hand)["voluntary_ctxt_switches"])
    before = switches()
    for n in range(20000):
        r.send("USAGE_WATCH", u32(n % 2))
    r.send("USAGE_WATCH", u32(0))
    eq(r.ask("DEPS").name, "DEPS_ROWS",
       "who looks and looks away, 20000 times, is served")
    ok(switches() - before < 200,
       "and has the launcher asked no more often than who looks once",
       switches() - before)
    r.ask("KILL", session=sid)
    r.ask("DELETE", session=sid)


# --- these cost the rogue its life ---------------------------------------

def last_words():
    """It may be ended before it can tell that it has sent them."""
    return contextlib.suppress(EOFError, ConnectionError)


def then_ended(*tests):
    def run(mode):
        for test in tests:
            if os.environ.get("DL_ONLY", "") not in test.__name__:
                continue
            with daemon(mode, LIMITS) as d:
                v = Victim(d)
                r = Rogue(d, d.alice).identify()
                pid = d.role_pid("netproc")
                test(d, v, r)
                ok(wait_for(lambda: d.role_pid("netproc") not in (None, pid)),
                   f"{test.__name__}: it is ended", d.log()[-1500:])
                ok(reconnect(d), f"{test.__name__}: the next one serves")
                eq(v.trouble(), [], f"{test.__name__}: all else is as it was")
                ok(v.output_is_whole(),
                   f"{test.__name__}: another's output is whole")
    run.__name__ = tests[0].__name__ + " and others"
    run.chooses = True
    return run


def a_mapping_that_stays(d, v, r):
    m = r.ask("UPLOAD", u64(len(IMAGE)) + upload_of(""))
    r.write(m.fd, 0, IMAGE)
    eq(r.map(m.fd, 0, 4096), 0, "the room can be mapped")
    with last_words():
        r.send("UPLOADED", session=m.session, request=1)
    ok(r.is_dead(), "who keeps a mapping of an image is ended")


def deaf_flood(d, v, r):
    before = v.spawner_rss()
    r.deaf(SPAWNER)
    sent = "not told how many"
    with last_words():
        sent = r.flood(SPAWNER, 10**6, r.datagram("DEPS", request=1), 8000)
    most = v.spawner_rss()
    ok(r.is_dead(), "who asks and does not read is cut off", sent)
    ok(most - before < 32 * 1024, "what waits for it is bounded",
       f"{before} kB before, {most} kB after {sent} questions")


def too_many_connections(d, v, r):
    try:
        for n in range(1, 2000):
            r.send("WHO", peer=IDPROC, kind=SELF, conn=n)
            if n % 50 == 0:
                r.messages()
    except (EOFError, ConnectionError):
        pass
    ok(r.is_dead(), "who names connections without end is ended")


# --- the real filter around it -------------------------------------------

AF_UNIX, AF_INET, AF_NETLINK, AF_PACKET = 1, 2, 16, 17
STREAM, DGRAM, RAW = 1, 2, 3
CALLS = (
    ("open", 2, b"/etc/passwd\0", 0), ("openat", 257, -100, b"/\0", 0),
    ("openat2", 437, -100, b"/\0", bytes(24), 24),
    ("creat", 85, b"/x\0", 0o600), ("mkdir", 83, b"/x\0", 0o700),
    ("unlink", 87, b"/x\0"), ("rename", 82, b"/x\0", b"/y\0"),
    ("memfd_create", 319, b"x\0", 0), ("fork", 57), ("vfork", 58),
    ("clone", 56, 17), ("clone3", 435, bytes(88), 88),
    ("execve", 59, b"/bin/sh\0", 0, 0),
    ("execveat", 322, 3, b"\0", 0, 0, 0x1000),
    ("ptrace", 101, 16, 1), ("kill", 62, 1, 0), ("tgkill", 234, 1, 1, 0),
    ("pidfd_open", 434, 1, 0), ("pidfd_send_signal", 424, 3, 0, 0, 0),
    ("pidfd_getfd", 438, 3, 0, 0), ("process_vm_readv", 310, 1),
    ("setuid", 105, 0), ("setresuid", 117, 0, 0, 0), ("setgroups", 116, 0),
    ("capset", 126, 0, 0), ("chroot", 161, b"/\0"), ("unshare", 272, 1 << 28),
    ("setns", 308, 3, 0), ("mount", 165, 0, b"/\0", 0, 0, 0),
    ("bpf", 321, 0, 0, 0), ("io_uring_setup", 425, 1, bytes(120)),
    ("userfaultfd", 323, 0), ("prctl", 157, 4, 1), ("keyctl", 250, 0),
    ("connect", 42, 0, bytes(16), 16),
    ("a Unix socket", 41, AF_UNIX, STREAM, 0),
    ("a UDP socket", 41, AF_INET, DGRAM, 0),
    ("a raw socket", 41, AF_INET, RAW, 6),
    ("a netlink socket", 41, AF_NETLINK, RAW, 0),
    ("a packet socket", 41, AF_PACKET, RAW, 0),
    ("MPTCP", 41, AF_INET, 0x80801, 262),
    ("executable memory", 9, 0, 4096, 5, 0x22, 2**64 - 1, 0),
    ("mprotect to executable", 10, 0, 4096, 5),
    ("sealing", 72, 0, 1033, 1), ("pipe2", 293, bytes(8), 0),
    ("shmget", 29, 0, 4096, 0o1600), ("mq_open", 240, b"/x\0", 0),
    ("semget", 64, 0, 1, 0o1600), ("ioctl TIOCSTI", 16, 0, 0x5412, b"x"),
    ("reboot", 169, 0, 0, 0), ("setrlimit", 160, 3, bytes(16)),
)


# What the run time of a sanitizer asks for, in vain, before it reports.
REFUSED = ("open", "openat", "pipe2")


def system_calls():
    for name, nr, *args in CALLS:
        if SANITIZED and name in REFUSED:
            continue
        yield (f"filter: {name}", lambda r, nr=nr, args=args:
               r.call(nr, *args))


def no_way_out_by_fast_open(d, v, r):
    """A connection can be made without connect()."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen(5)
        s.settimeout(0.5)
        port = s.getsockname()[1]
        to = (2).to_bytes(2, "little") + port.to_bytes(2, "big") + \
            socket.inet_aton("127.0.0.1") + bytes(8)
        fd = r.call(41, AF_INET, 0x80801, 0)
        ok(fd >= 0, "fast open: it may make the socket")
        with last_words():
            r.call(44, fd, b"hi", 2, 0x20000000, to, 16)
        try:
            s.accept()
            ok(False, "fast open: it has connected")
        except socket.timeout:
            ok(True, "fast open: it has not connected")


run_tests(
    all_requests,
    alone(on_one_daemon(
        sessions_of_others, states, values, loader_variables,
        holds_without_sense, sockets_that_are_not_connections,
        writers_after_the_upload, open_uploads,
        guests_beyond_their_session, keys_of_others, first_start_by_a_guest,
        typed_by_who_is_put_out, broken_rules_end_keys,
        died_in_an_upload, uploads_of_all_connections, accusations,
        log_flood, flood_of_questions, who_looks_and_does_not)),
    alone(then_ended(a_mapping_that_stays, deaf_flood, too_many_connections,
                     accusing_idproc, no_way_out_by_fast_open)),
    alone(cases_of(unknown_types, wrong_fds, strangers, bad_fields,
                   to_the_parent_and_the_logger, system_calls)),
    alone(cases_of(malformed)), alone(cases_of(wrong_senders)))
