#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
"""What one user's many connections, signals, tokens, streams and cgroups
cost others: nothing that they would notice."""
import json
import os
import select
import signal
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../e2e/lib"))
from dl import (ALICE, AS_ROOT, BOB, Daemon, alone, connect, eq,  # noqa: E402
                helper, ok, passwd_wrapper, read_proc, run_tests, system_with,
                token_made, token_of, wait_for)

SYSTEM = ("system",) if AS_ROOT else ()
FEW = "max-connections 60\nmax-connections-per-user 20\n"


def served(d, uid=ALICE):
    """What one that comes now is told that they are."""
    c = d.client(uid)
    try:
        return c.cmd("WHOAMI").get("uid")
    finally:
        c.close()


def is_open(c):
    return not select.select([c.s], [], [], 0)[0]


def tokens_that_end(mode):
    """Many connections by one token, which expires: those end, no others."""
    with system_with(ALICE, BOB) as d:
        c = d.client(ALICE)
        sid, _ = c.start(helper("sleeper"))
        waits = d.client(ALICE)
        waits.send(f"WAIT {sid}\n")
        short = token_made(d, "expires=3", BOB)["token"]
        lasting = token_of(d, "", BOB)
        by_lasting = d.client(BOB)
        ok("error_code" not in by_lasting.cmd(f"AUTH {lasting}"),
           "a token that lasts")
        many = [d.client(BOB) for _ in range(12)]
        for m in many:
            m.send(f"AUTH {short}\n")
        eq([m.json().get("error_code") for m in many], [None] * 12,
           "twelve by one that ends")
        eq([m.closed(20) for m in many], [True] * 12, "they end with it")
        ok(is_open(waits), "a connection without a token waits on")
        eq(c.cmd("WHOAMI").get("uid"), ALICE, "another is served")
        eq(by_lasting.cmd("WHOAMI").get("uid"), BOB,
           "and by the token that lasts")
        c.cmd("KILL " + sid)


def get(port):
    s = socket.create_connection(("127.0.0.1", port), timeout=10)
    try:
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost:%d\r\n"
                  b"Connection: close\r\n\r\n" % port)
        return s.recv(100).split(b"\r\n")[0].decode()
    except OSError as e:
        return repr(e)
    finally:
        s.close()


def fds_of_netproc(d):
    return len(os.listdir(f"/proc/{d.role_pid('netproc')}/fd"))


def idle_sockets_at_the_web(mode):
    """Refused before they have asked anything, and never closed."""
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon("system", FEW, wrapper=wrapper, web=True) as d:
        before = fds_of_netproc(d)
        held = []
        for _ in range(200):
            held.append(connect("127.0.0.1", d.web, BOB))
        ok(wait_for(lambda: fds_of_netproc(d) < before + 60, 10),
           "two hundred take the places of one user",
           fds_of_netproc(d) - before)
        eq([get(d.web) for _ in range(5)], ["HTTP/1.1 200 OK"] * 5,
           "others are served meanwhile")
        eq(served(d), ALICE, "at the control port as well")
        for s in held:
            s.close()


def half_requests_at_the_web(mode):
    """The same with a body that does not come."""
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon("system", FEW, wrapper=wrapper, web=True) as d:
        token = token_of(d, "", BOB)
        before, held = fds_of_netproc(d), []
        for _ in range(200):
            s = connect("127.0.0.1", d.web, BOB)
            held.append(s)
            try:
                s.sendall(b"POST /api/v1/sessions HTTP/1.1\r\nHost: localhost:"
                          b"%d\r\nAuthorization: Bearer %s\r\nContent-Length: "
                          b"100000\r\n\r\nx" % (d.web, token.encode()))
            except OSError:
                pass
        # until it is known whose they are, they are anybody's
        ok(wait_for(lambda: fds_of_netproc(d) < before + 60, 10),
           "nor do these take more", fds_of_netproc(d) - before)
        eq([get(d.web) for _ in range(5)], ["HTTP/1.1 200 OK"] * 5,
           "others are served meanwhile")
        for s in held:
            s.close()


def refused_and_not_gone(mode):
    """Those who were refused and stay take nobody's place."""
    with system_with(ALICE, BOB, conf=FEW) as d:
        held = [d.client(BOB) for _ in range(20)]
        eq([c.cmd("WHOAMI").get("uid") for c in held], [BOB] * 20,
           "as many as they may have")
        told = 0
        for n in range(6):
            more = []
            for _ in range(30):
                c = d.client(BOB)
                more.append(c)
                try:
                    c.send("LIST\n")
                except OSError:
                    pass
            eq(served(d), ALICE, f"another user after {30 * n + 30} more")
            for c in more:
                try:
                    told += c.json()["error_code"] == \
                        "max_connections_reached"
                except (OSError, EOFError):
                    pass
            held += more
        ok(told > 0, "they are told why", told)
        for c in held:
            c.close()


def signals_under_way(mode):
    """One user's signals that nobody can send yet, and another's."""
    with system_with(ALICE, BOB) as d:
        a, b = d.client(ALICE), d.client(BOB)
        mine, _ = a.start(helper("sleeper"))
        theirs, _ = b.start(helper("sleeper"))
        launcher = d.role_pid("launcher")
        os.kill(launcher, signal.SIGSTOP)
        many = [d.client(BOB) for _ in range(80)]
        for c in many:
            c.send(f"SIGNAL {theirs} 18\n")
        # each of them has been taken, or refused, before hers comes
        busy = [c for c in many if select.select([c.s], [], [], 2)[0]] \
            if wait_for(lambda: len(select.select(
                [c.s for c in many], [], [], 0)[0]) >= 64, 20) else []
        a.send(f"SIGNAL {mine} 18\n")
        ok(not select.select([a.s], [], [], 0.5)[0],
           "hers waits like the others")
        os.kill(launcher, signal.SIGCONT)
        eq(a.json().get("id"), mine, "and is sent")
        answers = [c.json() for c in many]
        eq([r.get("error_code") for r in answers].count("busy"), len(busy),
           "some of theirs were too many")
        ok(0 < len(busy) < 80 and all(
            "signals" in r["message"] for r in answers if "message" in r),
           "as they are told", answers[-1])
        for c, sid in ((a, mine), (b, theirs)):
            c.cmd("KILL " + sid)


def leaf_of(sid):
    """The cgroup of its tracer."""
    for top, dirs, _ in os.walk("/sys/fs/cgroup"):
        if "trc-" + sid in dirs:
            return os.path.join(top, "trc-" + sid)
    return None


def tracers_of(uid):
    return [int(p) for p in os.listdir("/proc") if p.isdigit() and
            read_proc(int(p), "comm") == b"tracer\n" and
            os.stat(f"/proc/{p}").st_uid in (0, uid)]


def cgroup_that_stays_busy(mode):
    """What a process that cannot be ended would leave: nobody waits for it
    but who starts there again."""
    with system_with(ALICE, BOB) as d:
        a, b = d.client(ALICE), d.client(BOB)
        sid, _ = a.start(helper("sleeper"))
        before = set(tracers_of(ALICE))
        a.cmd('TRACER start %s {"command":"attach","args":{}}' % sid)
        leaf = leaf_of(sid)
        if not ok(leaf is not None, "it has a cgroup"):
            return
        inner = os.path.join(leaf, "x")
        os.mkdir(inner)
        try:
            for p in set(tracers_of(ALICE)) - before:
                os.kill(p, signal.SIGKILL)
            ok(wait_for(lambda: not set(tracers_of(ALICE)) - before, 10),
               "her tracer has ended")
            a.send('TRACER %s {"command":"status","args":{}}\n' % sid)
            for n in range(3):
                new, _ = b.start(helper("hello"))
                ok(is_open(a), f"another's start {n} does not wait for hers")
                b.cmd(f"WAIT {new} 10")
            r = a.json()
            eq(r.get("error_code"), "tracer_lost", "she is told")
            ok("busy" in r["message"], "why", r)
        finally:
            os.rmdir(inner)
        ok(wait_for(lambda: "error_code" not in a.cmd(
            'TRACER %s {"command":"status","args":{}}' % sid), 20, 0.2),
           "and has one again when the cgroup is free")
        a.cmd("KILL " + sid)


def usages(d, token, seen):
    """The sessions that an event stream tells the use of."""
    s = socket.create_connection(("127.0.0.1", d.web), timeout=60)
    s.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost:%d\r\n"
              b"Authorization: Bearer %s\r\n\r\n" % (d.web, token.encode()))

    def read():
        buf = b""
        while more := s.recv(65536):
            buf += more
            *events, buf = buf.split(b"\n\n")
            for e in events:
                if b"event: usage" in e:
                    seen.append(json.loads(e.split(b"data: ")[1])["id"])
    t = threading.Thread(target=read, daemon=True)
    t.start()
    return s, t


def streams_of_two(mode):
    """One sees a session of another's; the other sees more."""
    with passwd_wrapper(("alice", ALICE), ("bob", BOB)) as wrapper, \
            Daemon("system", "", wrapper=wrapper, web=True) as d:
        a, b = d.client(ALICE), d.client(BOB)
        busy = "-- /bin/sh -c 'while :; do :; done'"
        shared = a.cmd("NEW start=now " + busy)["id"]
        private = b.cmd("NEW start=now " + busy)["id"]
        eq(a.cmd(f"SHARE {shared} bob:ro").get("id"), shared, "shared")
        eq(a.cmd("STATUS " + private).get("error_code"), "not_found",
           "the other is not")
        hers, theirs = [], []
        streams = [usages(d, token_of(d, "", uid), seen)
                   for uid, seen in ((BOB, theirs), (ALICE, hers))]
        end, n = time.monotonic() + 60, 0
        while time.monotonic() < end and len(hers) < 6:
            n += 1
            b.cmd(f"NAME {private} n{n % 7}")
            time.sleep(0.004)
        eq(hers[:6], [shared] * 6, "she is told of what she may see")
        ok(private in theirs and shared in theirs, "they of both")
        for s, t in streams:
            s.shutdown(socket.SHUT_RDWR)
            t.join()
            s.close()
        a.cmd("KILL " + shared)
        b.cmd("KILL " + private)


run_tests(*[alone(t, modes=SYSTEM) for t in (
    tokens_that_end, idle_sockets_at_the_web, half_requests_at_the_web,
    refused_and_not_gone, signals_under_way, cgroup_that_stays_busy,
    streams_of_two)])
