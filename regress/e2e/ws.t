#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
"""Terminals over WebSockets: who gets in, in which form, and what may come."""
import json
import os
import signal
import socket
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import Daemon, alone, eq, in_modes, ok, run_tests, wait_for  # noqa: E402
from term import (ERROR, EXIT, LIVE, LOST, PEOPLE, SIZE,  # noqa: E402
                  Attached, Refused, WebSocket)

SHELL = "-- /bin/sh -c 'stty -echo; echo ready; PS1= exec sh'"


class Shell:
    """A shell that prints nothing by itself, and its keys."""

    def __init__(self, d, start=True, command=SHELL):
        self.d, self.c = d, d.client()
        r = self.c.cmd("NEW tty " + command)
        if "id" not in r:
            raise RuntimeError(r)
        self.sid = r["id"]
        if start:
            self.c.cmd(f"START {self.sid}")
            self.c.until(self.sid, b"ready\r\n")
        keys = self.c.cmd("KEYS " + self.sid)
        self.rw, self.ro = keys["token"], keys["read_only_token"]
        self.path = f"/api/v1/pty/sessions/{self.sid}/attach"

    def ws(self, query="", token=None, **kw):
        """By the token in the query, unless something else is said."""
        query = "&".join(filter(None, [
            query, "token=" + self.rw if token is None else token]))
        return WebSocket(self.d.web, self.path + "?" + query, **kw)


def status(fn):
    try:
        fn().close()
        return 101
    except Refused as e:
        return e.status


def session(d, binary):
    """One life of a terminal, in either form."""
    s = Shell(d, start=False)
    form = "binary" if binary else "JSON"
    a = s.ws("cols=100&rows=30", binary=binary)
    ok(("lantern.bin.v1" in a.head) == binary, f"{form}: the subprotocol")
    a.until(b"ready\r\n")
    a.until_event(LIVE)
    eq(a.of(SIZE), [(100, 30)], f"{form}: it was started in this size")
    b = s.ws("token=" + s.ro, token="", binary=binary)
    b.until_event(LIVE)
    eq((b.out, b.history), (a.out, len(a.out)), f"{form}: the replay")
    a.type("stty size; printf '\\377\\376\\303\\274'; echo\n")
    a.until(b"30 100\r\n\xff\xfe\xc3\xbc\r\n")
    b.until(b"30 100\r\n\xff\xfe\xc3\xbc\r\n")
    ok(True, f"{form}: bytes that are no text")
    a.resize(160, 42)
    b.wait(lambda: b.of(SIZE)[-1] == (160, 42))
    eq(b.of(SIZE)[-1], (160, 42), f"{form}: a size")
    b.type("echo no\n")
    eq(b.until_event(ERROR)[0], "read_only", f"{form}: who only watches")
    a.type("x" * 200 + "\n")
    a.until(b"not found")
    a.type("exit 5\n")
    for x in (a, b):
        eq(x.until_event(EXIT)[0], 5, f"{form}: the exit code")
        x.until_gone()
        eq(x.code, 1000, f"{form}: and a close")
    ok(b"no" not in a.shown().replace(b"not found", b""),
       f"{form}: and nothing else was typed", a.out)


def both_forms(d):
    session(d, True)
    session(d, False)


def frames_of_json(d):
    """To the letter, for clients that know no others."""
    s = Shell(d)
    a = s.ws(binary=False)
    a.until_event(LIVE)
    raw = []
    a.text = lambda m: raw.append(json.loads(m))
    a.send(1, b'{"type":"input","data":"ZWNobyAkKCg2KjcpKQo="}')
    a.wait(lambda: any(m["type"] == "output" for m in raw))
    eq([m["data"] for m in raw if m["type"] == "output"], ["NDINCg=="],
       "input and output")
    a.send(1, b'{"type":"resize","cols":160,"rows":42}')
    a.wait(lambda: any(m["type"] == "size" for m in raw))
    b = s.ws(binary=False)
    first = []
    b.text = lambda m: first.append(json.loads(m))
    b.take()
    b.wait(lambda: any(m["type"] == "history" for m in first))
    a.send(1, b'{"type":"input","data":"ZXhpdCAwCg=="}')
    a.wait(lambda: any(m["type"] == "exit" for m in raw))
    ok({"type": "exit", "code": 0, "signal": None} in raw, "exit", raw)
    a.send(1, b'{"type":"nonsense"}')


# --- who gets in ----------------------------------------------------------

def four_places(d):
    s = Shell(d)
    for name, fn in (
            ("the query", lambda: s.ws()),
            ("the subprotocol", lambda: s.ws(
                token="", protocols=["lantern.token." + s.rw])),
            ("the query, as a ticket", lambda: s.ws(
                "token=" + s.c.cmd("TICKET " + s.sid)["ticket"], token="")),
            ("a header", lambda: s.ws(token="", headers=[(
                "Authorization", "Bearer " + s.c.cmd("TOKEN create")["token"]
            )]))):
        try:
            a = fn()
        except Refused as e:
            ok(False, "a token in " + name, e)
            continue
        a.until_event(LIVE)
        ok(s.rw not in a.head, f"a token in {name}, not sent back", a.head)
        a.close()
    for binary in (True, False):
        a = s.ws(token="", binary=binary)
        a.token(s.rw)
        a.until_event(LIVE)
        a.type("echo $((7*8))\n")
        a.until(b"56\r\n")
        ok(True, "a token in the first message")
        a.close()
    a = s.ws(token="")
    # all in one piece: what follows is kept until the token is known
    a.s.sendall(a.frame(2, b"\2" + s.rw.encode()) +
                a.frame(2, b"\1\0\x63\0\x21") +
                a.frame(2, b"\0stty size\n"))
    a.until(b"33 99\r\n")
    ok(True, "what is sent right behind it is not lost")
    a.close()


def wrong_tokens(d):
    s, other = Shell(d), Shell(d)
    for token, want in (("dls_" + "A" * 43, 401), ("x", 401),
                        (other.rw, 404)):
        eq(status(lambda: s.ws("token=" + token, token="")), want,
           f"in the query: {token[:4]}")
    used = s.c.cmd("TICKET " + s.sid)["ticket"]
    s.ws("token=" + used, token="").close()
    eq(status(lambda: s.ws("token=" + used, token="")), 401,
       "a ticket for the second time")
    a = s.ws(token="", binary=False)
    a.token("dls_" + "A" * 43)
    eq(a.until_event(ERROR)[0], "auth_failed", "in the first message")
    a.until_gone()
    eq(a.code, 1008, "which closes it")
    a = s.ws(token="", binary=False)
    a.token(other.rw)
    eq(a.until_event(ERROR)[0], "not_found", "another session's")
    a = s.ws(token="", binary=False)
    a.type("id\n")
    eq(a.until_event(ERROR)[0], "auth_required", "none at all")
    a.until_gone()
    eq(a.code, 1008, "closes it, too")
    s.c.cmd(f"KEYS {s.sid} rotate")
    eq(status(lambda: s.ws()), 401, "one that was rotated away")


def origins(d):
    s = Shell(d)
    own = f"http://127.0.0.1:{d.web}"
    for origin, want in (("http://evil.example", 403), ("null", 403),
                         (f"http://127.0.0.1:{d.web + 1}", 403),
                         (own, 101)):
        eq(status(lambda: s.ws(headers=[("Origin", origin)])), want,
           f"Origin: {origin.replace(str(d.web), 'PORT')}")
    eq(status(lambda: WebSocket(d.web, s.path + "?token=" + s.rw,
                                host="127.0.0.1", headers=[("Host", "x")])),
       400, "two names of the host")


def limits(d):
    s = Shell(d)
    there = [s.ws("role=ro") for _ in range(8)]
    eq(status(lambda: s.ws()), 429, "a ninth client")
    a = s.ws(token="", binary=False)
    a.token(s.rw)
    eq(a.until_event(ERROR)[0], "max_clients_reached",
       "also one that says later who it is")
    for x in there:
        x.close()
    r = d.client().cmd("NEW -- cat")
    keys = d.client().cmd("KEYS " + r["id"])
    got = status(lambda: WebSocket(
        d.web, f"/api/v1/pty/sessions/{r['id']}/attach?token="
        + keys["token"]))
    ok(400 <= got < 500, "a session without a terminal", got)


# --- framing --------------------------------------------------------------

def framing(d):
    s = Shell(d)
    a = s.ws()
    a.until_event(LIVE)
    for b in a.frame(2, b"\0echo $((", fin=False) + a.frame(9, b"now") + \
            a.frame(0, b"5*5", fin=False) + a.frame(0, b"", fin=False) + \
            a.frame(0, b"))\n"):
        a.s.sendall(bytes([b]))
    a.until(b"25\r\n")
    ok(("pong", b"now") in a.events, "fragments and a ping, byte by byte",
       a.events)
    a.send(8, struct.pack(">H", 1000) + b"bye")
    a.until_gone()
    eq(a.code, 1000, "a close is answered")
    for name, data, code in (
            ("without a mask", a.frame(2, b"\0x", mask=None), 1002),
            ("a reserved bit", b"\xc2\x80\1\2\3\4", 1002),
            ("a reserved opcode", b"\x83\x80\1\2\3\4", 1002),
            ("a continuation of nothing", a.frame(0, b"x"), 1002),
            ("a ping that is too long", a.frame(9, b"x" * 126), 1002),
            ("a message that is too long", a.frame(2, b"\0" * 65537), 1009),
            ("one without end", b"\x82\xff\x7f" + b"\xff" * 7 +
             b"\1\2\3\4x", 1009),
            ("text for binary", a.frame(1, b"{}"), 1003),
            ("a message that is none", a.frame(2, b"\x05"), 1008)):
        b = s.ws()
        b.until_event(LIVE)
        b.s.sendall(data)
        b.until_gone()
        eq(b.code, code, name)
    for name, data, code in (
            ("no UTF-8", a.frame(1, b"\xff\xff"), 1007),
            ("binary for text", a.frame(2, b"\0x"), 1003),
            ("no JSON", a.frame(1, b"{'a'"), 1008)):
        b = s.ws(binary=False)
        b.until_event(LIVE)
        b.s.sendall(data)
        b.until_gone()
        eq(b.code, code, name)
    c = s.ws()
    c.until_event(LIVE)
    c.s.sendall(c.frame(9, b"p") * 20000)
    c.wait(lambda: len(c.of("pong")) == 20000)
    eq(len(c.of("pong")), 20000, "twenty thousand pings at once")
    c.type("echo $((8*8))\n")
    c.until(b"64\r\n")


def handshake(d):
    s = Shell(d)

    def ask(*lines):
        x = socket.create_connection(("127.0.0.1", d.web), timeout=10)
        x.sendall("\r\n".join((
            f"GET {s.path}?token={s.rw} HTTP/1.1",
            f"Host: 127.0.0.1:{d.web}") + lines + ("", "")).encode())
        x.settimeout(10)
        head = x.recv(65536).split(b"\r\n")[0]
        x.close()
        return head
    good = ("Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")
    ok(b" 101 " in ask(*good), "a handshake")
    for i, bad in ((0, "Upgrade: h2c"), (1, "Connection: close"),
                   (2, "Sec-WebSocket-Version: 8"),
                   (3, "Sec-WebSocket-Key: short")):
        lines = list(good)
        lines[i] = bad
        ok(b" 4" in ask(*lines)[:13], bad, ask(*lines))


# --- many, slow, gone -----------------------------------------------------

FLOOD = ("stty raw; i=0; while [ $i -lt 200 ]; do head -c 65536 /dev/zero |"
         " tr '\\0' x; i=$((i+1)); done; echo; echo e''nd\n")


def stalled(d):
    """Browsers that stop, one of them in the middle of a frame."""
    s = Shell(d)
    slow, fast = s.ws("role=ro", binary=False), s.ws()
    for x in (slow, fast):
        x.until_event(LIVE)
    fast.type(FLOOD)
    fast.until(b"end", 60)
    ok(fast.out.count(b"x") >= 200 * 65536 and not fast.of(LOST),
       "who reads gets all of it", len(fast.out))
    slow.until(b"end", 60)
    lost = sum(t - f for f, t in slow.of(LOST))
    ok(lost and lost + len(slow.out) >= slow.next,
       "who did not is told what it has lost", slow.of(LOST))


def cut_off(d):
    """The network goes, and the page comes back."""
    s = Shell(d)
    a = s.ws()
    a.until_event(LIVE)
    a.type("i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo $i; done\n")
    got, cuts = bytearray(), 0
    while b"\r\n3000\r\n" not in got[-20:] and a.read(20):
        got += a.out
        a.out.clear()
        if cuts < 5 and a.next is not None:
            cuts += 1
            a.s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                           struct.pack("ii", 1, 0))
            a.close()
            a = s.ws(f"from={a.next}")
            got += a.out
            a.out.clear()
    eq(bytes(got[got.index(b"ready"):]), b"ready\r\n" + b"".join(b"%d\r\n" % i for i in
                                           range(1, 3001)),
       f"after {cuts} cuts every byte has come once")


def two_doors(d):
    """The control protocol and the web lead to the same terminal."""
    s = Shell(d)
    a = s.ws()
    b = Attached(d.client(), s.sid)
    for x in (a, b):
        x.wait(lambda: x.of(PEOPLE) and len(x.of(PEOPLE)[-1]) == 2)
    eq([(p["user"], p["you"]) for p in b.of(PEOPLE)[-1]],
       [("guest", False), (b.answer["owner"], True)], "who is there")
    b.type("echo $((9*9))\n")
    a.until(b"81\r\n")
    s.c.cmd("KILL " + s.sid)
    eq((a.until_event(EXIT), b.until_event(EXIT)), ((-1, 9), (-1, 9)),
       "and its end")


def secrets(d):
    """No key is in the log."""
    s = Shell(d)
    s.ws().close()
    status(lambda: s.ws("token=dls_wrongwrongwrong", token=""))
    time.sleep(0.2)
    ok(s.rw not in d.log() and "wrongwrong" not in d.log(),
       "no token of a query is in the log")


def farewell(mode):
    """A daemon that goes says so, to who reads and to who does not."""
    for how in ("the daemon is stopped", "netproc is"):
        with Daemon(mode, web=True) as d:
            s = Shell(d)
            all = [s.ws(), s.ws(binary=False), s.ws()]
            for x in all[:2]:
                x.until_event(LIVE)
            start = time.monotonic()
            pid = d.proc.pid if how.startswith("the") else \
                next(iter(d.children("netproc")))
            os.kill(pid, signal.SIGTERM)
            for x in all:
                ok(x.until_gone(), how + ": the connection ends")
                eq(x.code, 1001, "by a close that says: going away")
            ok(wait_for(lambda: d.proc.poll() is not None or
                        pid not in d.children(), 20), "and it goes")
            ok(time.monotonic() - start < 15, "soon")


run_tests(alone(farewell), in_modes(
    both_forms, frames_of_json, four_places, wrong_tokens, origins, limits,
    framing, handshake, stalled, cut_off, two_doors, secrets, web=True))
