#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Clients of terminals: what they see, who writes, how fast they may be."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (in_modes, eq, ok, run_tests, wait_for)  # noqa: E402
from term import (ERROR, EXIT, LIVE, LOST, PEOPLE, SIZE,  # noqa: E402
                  Attached)

SHELL = "-- /bin/sh"


def new(c, command=SHELL, options="tty"):
    r = c.cmd(f"NEW {options} {command}")
    if "id" not in r:
        raise RuntimeError(r)
    return r["id"]


def shell(c):
    """A shell that prints nothing by itself."""
    sid = new(c, "-- /bin/sh -c 'stty -echo; echo ready; PS1= exec sh'")
    c.cmd(f"START {sid}")
    c.until(sid, b"ready\r\n")
    return sid


def attach(d, sid, options=""):
    return Attached(d.client(), sid, options)


def code(r):
    return r.get("error_code")


# --- one client -----------------------------------------------------------

def first_client_starts_it(d):
    c = d.client()
    sid = new(c)
    w = attach(d, sid, "ro")
    eq(c.cmd("STATUS " + sid)["state"], "LOADED",
       "who only watches starts nothing")
    a = attach(d, sid, "cols=100 rows=30")
    eq((a.answer["state"], a.answer["cols"], a.answer["rows"]),
       ("RUNNING", 100, 30), "the first client that may write starts it")
    a.until_event(LIVE)
    a.type("stty size; echo $((40+2))\n")
    a.until(b"30 100\r\n42\r\n")
    ok(True, "and types, and sees the answer")
    w.until(b"\r\n42\r\n")
    ok(w.out.startswith(a.out[:a.out.index(b"42")]),
       "who waited before sees all from the first byte", (w.out, a.out))
    a.type("exit 7\n")
    eq(a.until_event(EXIT), (7, 0), "it is told the exit code")
    ok(a.until_gone(), "and the connection ends")
    eq(w.until_event(EXIT), (7, 0), "so is who watched")
    late = attach(d, sid)
    eq(late.until_event(EXIT), (7, 0), "and who comes after the end")
    # the shell may have said its prompt before it read that, or after
    ok(b"exit 7\r\n" in late.out, "who still sees the output",
       late.out)


def signalled(d):
    c = d.client()
    sid = shell(c)
    a = attach(d, sid)
    a.until_event(LIVE)
    c.cmd("KILL " + sid)
    eq(a.until_event(EXIT), (-1, 9), "an end by a signal has no exit code")


def all_of_it(d):
    """The exit comes after the last byte, however long that takes."""
    c = d.client()
    want = b"".join(b"%d\r\n" % i for i in range(1, 20001))
    for _ in range(10):
        a = attach(d, new(c, "-- seq 1 20000"))
        a.until_gone()
        if a.shown() != want or a.events[-1] != (EXIT, (0, 0)):
            return ok(False, "all output comes before the exit",
                      (len(a.out), a.events))
    ok(True, "all output comes before the exit")


def every_byte(d):
    c = d.client()
    sid = new(c, "-- sh -c 'stty raw -echo; echo ready; exec cat'")
    a = attach(d, sid)
    a.until(b"ready\n")
    some = bytes(range(256)) * 40 + "žluťoučký kůň 🐎".encode() * 100
    a.type(some)
    a.until(some)
    eq(a.shown(), b"ready\n" + some, "all 256 values and UTF-8 go and come")
    # right after a replay what looks like an answer to it is dropped
    big = os.urandom(300000).replace(b"\033", b"e")
    a.out.clear()
    for i in range(0, len(big), 10000):
        a.type(big[i:i + 10000])
        a.drain(0)
    a.wait(lambda: len(a.out) >= len(big))
    ok(a.out == big, "a long paste comes through whole",
       (len(a.out), len(big), next((i for i, (x, y) in enumerate(
           zip(a.out, big)) if x != y), None), a.events[-3:]))


def wrong_messages(d):
    c = d.client()
    for m, what in ((b"\x05", "a type that there is not"),
                    (b"\x01\0\0\0\0", "a size of nothing"),
                    (b"\x80" + bytes(9), "a message of the server's"),
                    (b"\0" * 32769, "one that is too long")):
        a = attach(d, shell(c))
        a.until_event(LIVE)
        a.say(m)
        eq(a.until_event(ERROR)[0], "invalid_argument", what)
        ok(a.until_gone(), "and the connection ends")
    a = attach(d, shell(c))
    a.until_event(LIVE)
    for b in b"\0\0\0\x0e\0echo $((9*9))\0\0\0\2\0\n":
        a.s.sendall(bytes([b]))
    a.until(b"81\r\n")
    ok(True, "messages may come byte by byte")


def refusals(d):
    c = d.client()
    sid = shell(c)
    eq(code(c.cmd(f"ATTACH {sid} from=x")), "invalid_argument",
       "an offset that is no number")
    eq(code(c.cmd(f"ATTACH {sid} size=80")), "invalid_argument",
       "an option that there is not")
    r = c.cmd("ATTACH " + new(c, options=""))
    eq(code(r), "invalid_argument", "a session without a terminal")
    ok("--tty" in r["message"], "is told what would be right", r)
    eq(code(c.cmd("ATTACH 00000000")), "not_found", "none at all")
    eq(code(c.cmd("LIST x")), "invalid_argument",
       "and the connection takes commands still")


def deleted(d):
    c = d.client()
    sid = new(c)
    a = attach(d, sid, "ro")
    a.until_event(PEOPLE)
    c.cmd("DELETE " + sid)
    eq(a.until_event(ERROR)[0], "not_found", "a session is deleted")
    ok(a.until_gone(), "and its clients go")


# --- several --------------------------------------------------------------

def people(d):
    c = d.client()
    sid = shell(c)
    a, b = attach(d, sid), attach(d, sid)
    w = attach(d, sid, "ro")
    for x in (a, b, w):
        x.wait(lambda: x.of(PEOPLE) and len(x.of(PEOPLE)[-1]) == 3)
    eq([(p["role"], p["you"], p["controller"]) for p in a.of(PEOPLE)[-1]],
       [("rw", True, True), ("rw", False, False), ("ro", False, False)],
       "who is there, and who is in control: the first")
    b.type(":\n")
    a.wait(lambda: [p["controller"] for p in a.of(PEOPLE)[-1]] ==
           [False, True, False])
    eq([p["controller"] for p in a.of(PEOPLE)[-1]], [False, True, False],
       "who types is in control")
    w.type("echo no\n")
    eq(w.until_event(ERROR)[0], "read_only", "who watches cannot type")
    b.close()
    a.wait(lambda: len(a.of(PEOPLE)[-1]) == 2)
    eq([p["controller"] for p in a.of(PEOPLE)[-1]], [True, False],
       "when it goes, the one before is again")
    a.type("echo $((6*7))\n")
    w.until(b"42\r\n")
    ok(b"no" not in a.shown(), "what was typed without right was not", a.out)


def sizes(d):
    c = d.client()
    sid = shell(c)

    def size():
        s = c.cmd("STATUS " + sid)
        return s["cols"], s["rows"]

    a = attach(d, sid, "cols=100 rows=40")
    ok(wait_for(lambda: size() == (100, 40)), "a client brings its size")
    b = attach(d, sid, "cols=60 rows=20")
    ok(wait_for(lambda: size() == (60, 20)), "the next one brings its own")
    w = attach(d, sid, "ro cols=10 rows=10")
    w.resize(11, 11)
    w.until_event(SIZE)
    a.type(":\n")
    ok(wait_for(lambda: size() == (100, 40)), "who types has their size back")
    eq(size(), (100, 40), "who watches has no say in it")
    a.resize(0xffff, 0xffff)
    ok(wait_for(lambda: size() == (1000, 1000)), "a size is bounded", size())
    w.wait(lambda: w.of(SIZE)[-1] == (1000, 1000))
    eq(w.of(SIZE)[-1], (1000, 1000), "all are told the size")
    b.close()


def resize_storm(d):
    """A thousand sizes in a row: the last one holds, and input that follows
    finds it."""
    c = d.client()
    sid = shell(c)
    a = attach(d, sid, "cols=80 rows=24")
    a.until_event(LIVE)
    a.type("trap 'echo W' WINCH; echo $((1+1))\n")
    a.until(b"2\r\n")
    begun = time.monotonic()
    for i in range(1000):
        a.resize(50 + i % 100, 20 + i % 50)
    a.resize(123, 45)
    a.type("stty size; echo $((50+50))\n")
    a.until(b"100\r\n")
    took = time.monotonic() - begun
    ok(b"45 123" in a.out, "what is typed after a size finds it", a.out)
    a.drain()
    ok(len(a.of(SIZE)) <= took * 63 + 4, "sizes come at 60 a second at most",
       (len(a.of(SIZE)), took))
    eq(a.of(SIZE)[-1], (123, 45), "and the last one holds")


def queries(d):
    """Every terminal answers: one answer reaches the program."""
    c = d.client()
    sid = new(c, "-- sh -c 'stty raw -echo; printf \"\\033[c\"; echo ready;"
                 " exec cat -v'")
    a = attach(d, sid)
    a.until(b"ready")
    b, e = attach(d, sid), attach(d, sid)
    for x in (b, e):
        x.until_event(LIVE)
    for x in (b, e):        # they answer what was replayed to them
        x.type("\033[?1;2c")
    time.sleep(1.2)
    a.drain()
    ok(b"^[[?1;2c" not in a.out, "answers to a replay reach nobody", a.out)
    for x in (a, b, e):     # and now to a question that is new
        x.type("\033[?1;2c\033[24;80R")
    e.type("x")
    a.until(b"x")
    a.drain()
    eq(a.out.count(b"^[[?1;2c"), 1, "a question is answered once")
    eq(a.out.count(b"^[[24;80R"), 1, "and by one client")
    e.type("\033[?1;2c")
    a.wait(lambda: a.out.count(b"^[[?1;2c") == 2)
    eq(a.out.count(b"^[[?1;2c"), 2, "which is the one that typed last")


def max_clients(d):
    c = d.client()
    sid = shell(c)
    there = [attach(d, sid, "ro") for _ in range(8)]
    ok(all("id" in x.answer for x in there), "eight clients attach")
    eq(code(c.cmd("ATTACH " + sid)), "max_clients_reached", "not a ninth")
    there[0].close()
    ok(wait_for(lambda: "id" in attach(d, sid, "ro").answer),
       "until one of them goes")


# --- slow ones ------------------------------------------------------------

FLOOD = ("stty raw; i=0; while [ $i -lt 400 ]; do head -c 65536 /dev/zero |"
         " tr '\\0' x; i=$((i+1)); done; echo; echo e''nd\n")


def stalled(d):
    """One that reads nothing costs the others nothing but a moment."""
    c = d.client()
    sid = shell(c)
    slow, fast = attach(d, sid, "ro"), attach(d, sid)
    for x in (slow, fast):
        x.until_event(LIVE)
    fast.type(FLOOD)
    fast.until(b"end", 60)
    ok(fast.out.count(b"x") >= 400 * 65536 and not fast.of(LOST),
       "who reads gets all of it", (len(fast.out), fast.events))
    slow.until(b"end")
    lost = slow.of(LOST)
    ok(lost and all(f < t for f, t in lost),
       "who did not is told what it has lost", slow.events)
    ok(len(slow.out) + sum(t - f for f, t in lost) == slow.next,
       "to the byte", (len(slow.out), lost, slow.next))
    slow.type("no\n")
    fast.type("echo $((5*5))\n")
    slow.until(b"25")
    ok(True, "and is there again")


def alone_and_slow(d):
    """The program waits for the only one who watches."""
    c = d.client()
    sid = shell(c)
    a = attach(d, sid)
    a.until_event(LIVE)
    a.type(FLOOD)
    time.sleep(1)
    a.until(b"end", 60)
    ok(a.out.count(b"x") >= 400 * 65536 and not a.of(LOST),
       "a slow client alone loses nothing", (len(a.out), a.events))


def acks(d):
    """Who says what they have shown is sent no more than they can show."""
    c = d.client()
    sid = shell(c)
    a = attach(d, sid)
    a.until_event(LIVE)
    a.ack()
    first = a.next
    a.type(FLOOD)
    a.wait(lambda: a.next >= first + 512 * 1024)
    a.drain(0.5)
    eq(a.next, first + 512 * 1024, "512 KiB come without an ack")
    while b"end" not in a.out[-200:]:
        a.ack()
        if not a.read(20):
            break
    ok(b"end" in a.out[-200:] and not a.of(LOST), "with acks all of it",
       a.events)


def resumed(d):
    c = d.client()
    sid = shell(c)
    a = attach(d, sid)
    a.until_event(LIVE)
    a.type("seq 1 1000\n")
    a.until(b"\r\n500\r\n")
    a.close()
    there = a.out.index(b"500\r\n")
    b = attach(d, sid, f"from={there}")
    b.until(b"\r\n1000\r\n")
    eq(b.out, b"".join(b"%d\r\n" % i for i in range(500, 1001)),
       "a client that was cut off goes on where it left off")
    ok(not b.preamble and not b.of(LOST), "without a replay")
    b.type(FLOOD)
    b.until(b"end", 60)
    e = attach(d, sid, f"from={a.next}")
    e.until(b"end")
    f, t = e.of(LOST)[0]
    eq(f, a.next, "what is not held any more is said to be lost")
    eq(t + len(e.out), e.next, "up to where it begins")
    g = attach(d, sid, "from=99999999999")
    g.until_event(LIVE)
    ok(g.out and not g.of(LOST), "an offset that never was: from the start")


def freed(d):
    """A terminal whose only client is stopped does not stop for ever."""
    c = d.client()
    sid = shell(c)
    a = attach(d, sid)
    a.until_event(LIVE)
    a.type(FLOOD)
    ok(wait_for(lambda: c.cmd(f"OUTPUT {sid} 999999999999")["total"] >=
                400 * 65536, 40),
       "the program goes on without a client that has stalled")
    a.until(b"end", 60)
    ok(a.of(LOST), "which is told what it has lost", a.events)


run_tests(in_modes(
    first_client_starts_it, signalled, all_of_it, every_byte, wrong_messages,
    refusals, deleted, people, sizes, resize_storm, queries, max_clients,
    stalled, alone_and_slow, acks, resumed, freed))
