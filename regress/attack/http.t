#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Attacks on the framing of HTTP: requests that two readers could read in
# two ways, bodies that lie about their length, headers without end, clients
# that drip, stall or go away.  Afterwards others are served as before.
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e",
                                "lib"))
from dl import (eq, in_modes, ok, run_tests, status_of, token_of,
                wait_for)
from term import LIVE, WebSocket
from web import Raw, Web, statuses

HOST = b"Host: localhost\r\n"


def served(d, what):
    eq(Web(d).get("/healthz").status, 200, what + ": others are served")


def one(d, data, what, wanted, most=1):
    """What is sent gets these statuses, or nothing, and the end."""
    r = Raw(d, data)
    got = statuses(r.rest())
    r.close()
    ok(len(got) <= most and all(s in wanted for s in got), what,
       (got, r.buf[:200]))


def smuggling(d):
    post = b"POST /api/v1/login HTTP/1.1\r\n" + HOST
    json = b"Content-Type: application/json\r\n"
    inner = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"
    n = b"%d" % len(inner)
    for head, body, what in (
            (b"Content-Length: " + n + b"\r\nTransfer-Encoding: chunked\r\n",
             b"0\r\n\r\n" + inner, "a length and chunks"),
            (b"Transfer-Encoding: chunked\r\nContent-Length: " + n + b"\r\n",
             b"0\r\n\r\n" + inner, "chunks and a length"),
            (b"Content-Length: 0\r\nContent-Length: " + n + b"\r\n", inner,
             "two lengths"),
            (b"Content-Length: " + n + b", 0\r\n", inner, "two in one"),
            (b"Content-Length: +0\r\n", inner, "a length with a sign"),
            (b"Content-Length: 0x0\r\n", inner, "a length in another base"),
            (b"Content-Length: -1\r\n", inner, "a negative length"),
            (b"Content-Length: 99999999999999999999999\r\n", inner,
             "a length beyond all numbers"),
            (b"Content-Length : 0\r\n", inner, "a blank before the colon"),
            (b"Transfer-Encoding: chunked, identity\r\n",
             b"0\r\n\r\n" + inner, "two encodings"),
            (b"Transfer-Encoding: xchunked\r\n", b"0\r\n\r\n" + inner,
             "an encoding that there is not"),
            (b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity"
             b"\r\n", b"0\r\n\r\n" + inner, "two headers of it"),
            (b"Content-Length\t: " + n + b"\r\n", inner, "a tab there"),
            (b"X(y): z\r\n", inner, "a name that is none"),
            (HOST, inner, "two hosts")):
        r = Raw(d, post + json + head + b"\r\n" + body)
        r.end()
        got = statuses(r.rest())
        r.close()
        # the inner request must not be answered as one of its own
        ok(b"\r\n\r\nok\n" not in r.buf and
           all(s >= 400 for s in got), what, (got, r.buf[:300]))
    served(d, "smuggling")


def chunks(d):
    w = Web(d, token_of(d))
    sid = w.upload("/bin/true").data["id"]
    head = (f"PUT /api/v1/sessions/{sid}/args HTTP/1.1\r\n").encode() + \
        HOST + b"Authorization: Bearer " + w.token.encode() + \
        b"\r\nContent-Type: application/json\r\n" \
        b"Transfer-Encoding: chunked\r\n\r\n"
    good = b'b\r\n{"argv":["a\r\n3\r\n"]}\r\n0\r\n\r\n'
    r = Raw(d, head + good)
    eq(statuses(r.until(b"}}")), [200], "chunks make a body")
    r.close()
    eq(w.get("sessions/" + sid).data["args"], "a", "that arrives")
    for body, what in ((b"x\r\n{}\r\n0\r\n\r\n", "no number"),
                       (b"-1\r\n{}\r\n0\r\n\r\n", "a negative one"),
                       (b"ffffffffffffffffff\r\n{}", "one beyond all"),
                       (b"2\r\n{}X\r\n0\r\n\r\n", "more than it says"),
                       (b"2" * 5000 + b"\r\n", "a very long one")):
        r = Raw(d, head + body)
        r.end()
        got = statuses(r.rest())
        ok(all(s >= 400 for s in got), "a chunk's size: " + what,
           (got, r.buf[:200]))
        r.close()
    big = b"4000\r\n" + b" " * 0x4000 + b"\r\n"
    r = Raw(d, head + big * 8 + b"0\r\n\r\n")
    eq(statuses(r.until(b"}}")), [413], "chunks beyond the limit")
    r.close()
    eq(w.get("sessions/" + sid).data["args"], "a", "changed nothing")
    served(d, "chunks")


def headers(d):
    line = b"GET /healthz HTTP/1.1\r\n" + HOST
    for data, what, wanted in (
            (line + b"X: " + b"y" * 100000 + b"\r\n\r\n", "a long header",
             (413, 431, 400)),
            (line + b"".join(b"X%d: y\r\n" % i for i in range(20000)) +
             b"\r\n", "very many", (413, 431, 400)),
            (b"GET /" + b"a" * 100000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
             "a long path", (414, 431, 400)),
            (b"GET /healthz HTTP/1.1\r\n\r\n", "no host", (400, 421)),
            (b"GET /healthz HTTP/3.0\r\n" + HOST + b"\r\n",
             "another version", (400, 505)),
            (b"GET  /healthz  HTTP/1.1\r\n" + HOST + b"\r\n",
             "more blanks", (400, 404)),
            (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 50 +
             b"\r\n\r\n", "TLS", (400, 505)),
            (b"LIST\r\n\r\n", "the control protocol", (400, 505)),
            (b"\0\0\0\0\r\n\r\n", "zeros", (400, 505))):
        r = Raw(d, data)
        r.end()
        got = statuses(r.rest())
        r.close()
        ok(all(s in wanted for s in got), what, (got, r.buf[:100]))
    for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                 "//etc/passwd", "/healthz/", "/api/v1/sessions//output",
                 "/api/v1/sessions/%00/output", "/api/v1/sessions/..",
                 "http://evil.example/healthz"):
        r = Raw(d, f"GET {path} HTTP/1.1\r\n".encode() + HOST +
                b"Connection: close\r\nAccept-Encoding: gzip\r\n\r\n")
        got = statuses(r.rest())
        r.close()
        ok(b"root:" not in r.buf and got in ([401], [404], [400]),
           f"GET {path}", r.buf[:200])
    served(d, "headers")


def old_ways(d):
    r = Raw(d, b"GET /healthz HTTP/1.0\r\n" + HOST + b"\r\n")
    ok(r.rest().endswith(b"ok\n"), "HTTP/1.0 is answered, then closed")
    r.close()
    r = Raw(d, (b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n") * 50 +
            b"GET /healthz HTTP/1.1\r\nConnection: close\r\n" + HOST +
            b"\r\n")
    eq(statuses(r.rest()), [200] * 51, "a pipeline is answered in order")
    r.close()
    token = token_of(d).encode()
    mixed = b"".join(b"GET /api/v1/whoami HTTP/1.1\r\n" + HOST + h +
                     b"\r\n" for h in (
                         b"Authorization: Bearer " + token + b"\r\n", b"",
                         b"Authorization: Bearer " + token + b"\r\n"))
    r = Raw(d, mixed + b"GET /healthz HTTP/1.1\r\nConnection: close\r\n" +
            HOST + b"\r\n")
    eq(statuses(r.rest()), [200, 401, 200, 200],
       "each request of one has the rights that it shows")
    r.close()
    r = Raw(d, b"GET /healthz HTTP/1.1\r\nRange: bytes=0-0\r\n" + HOST +
            b"\r\n")
    ok(b"200 OK" in r.until(b"ok\n"), "ranges are not for us")
    r.close()
    with open("/bin/true", "rb") as f:
        image = f.read()
    r = Raw(d, b"POST /api/v1/sessions HTTP/1.1\r\nExpect: 100-continue\r\n" +
            HOST + b"Authorization: Bearer " + token +
            b"\r\nContent-Length: %d\r\n\r\n" % len(image))
    ok(b"100 Continue" in r.until(b"\r\n\r\n"), "who asks is let go on")
    r.buf = b""
    r.send(image)
    eq(statuses(r.until(b"}}")), [201], "and served")
    r.close()
    r = Raw(d, b"POST /api/v1/sessions HTTP/1.1\r\nExpect: 100-continue\r\n" +
            HOST + b"Content-Length: 100000000\r\n\r\n")
    eq(statuses(r.until(b"}}")), [401], "or refused before they send it")
    r.close()


def early_ends(d):
    w = Web(d, token_of(d))
    head = b"POST /api/v1/sessions HTTP/1.1\r\n" + HOST + \
        b"Authorization: Bearer " + w.token.encode() + b"\r\n"
    for n in (0, 1, 5000):
        r = Raw(d, head + b"Content-Length: 100000\r\n\r\n" + b"x" * n)
        r.end()
        eq(statuses(r.rest()), [], f"a body that ends after {n} bytes")
        r.close()
    for cut in (1, 20, 60, len(head) - 2):
        r = Raw(d, head[:cut])
        r.close()
    sid = w.upload("/bin/cat").data["id"]
    w.post(f"sessions/{sid}/start", {})
    for path in ("events", f"sessions/{sid}/stream", "sessions"):
        r = Raw(d, b"GET /api/v1/" + path.encode() + b" HTTP/1.1\r\n" + HOST +
                b"Authorization: Bearer " + w.token.encode() + b"\r\n\r\n")
        r.until(b"\r\n\r\n")
        r.close()
    eq([s["id"] for s in w.get("sessions").data], [sid],
       "nothing is left of it")
    pid = d.role_pid("netproc")
    ok(wait_for(lambda: len(os.listdir(f"/proc/{pid}/fd")) < 40),
       "no connection either", os.listdir(f"/proc/{pid}/fd"))
    r = Raw(d, b"POST /api/v1/sessions HTTP/1.1\r\n" + HOST +
            b"Authorization: Bearer dlt_x\r\nContent-Length: 50000000\r\n\r\n")
    try:
        for _ in range(50):
            r.send(b"x" * 1000000)
    except OSError:
        pass
    r.close()
    served(d, "a flood that nobody wanted")


def told(d, head, body, most, want, what):
    """Who sends more than anybody reads hears why; pieces of 64 KiB."""
    r = Raw(d, head)
    sent = 0
    try:
        while sent < most:
            r.send(body)
            sent += len(body)
    except OSError:
        pass
    got = statuses(r.rest())
    r.close()
    ok(got == [want] and b'"error":{"code":' in r.buf, what,
       (got, r.buf[-300:], sent))


def refused_early(d):
    """A whole answer, though the request has not ended."""
    w = Web(d, token_of(d))
    head = b"POST /api/v1/sessions HTTP/1.1\r\n" + HOST
    good = head + b"Authorization: Bearer " + w.token.encode() + b"\r\n"
    bad = head + b"Authorization: Bearer dlt_x\r\n"
    size = b"Content-Length: 30000000\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n"
    piece = b"x" * 65536
    chunk = b"10000\r\n" + piece + b"\r\n"
    most = 30000000 - 65536
    told(d, bad + size + b"\r\n", piece, most, 401, "a wrong token")
    told(d, head + size + b"\r\n", piece, most, 401, "none")
    told(d, bad + chunked + b"\r\n", chunk, most, 401, "chunks")
    told(d, good + b"Content-Length: 99999999999\r\n\r\n", piece, most, 429,
         "more than there is room for")
    told(d, good + b"Content-Type: application/json\r\n" + size + b"\r\n",
         piece, most, 413, "too many arguments")
    told(d, good + b"Content-Type: application/json\r\n" + chunked +
         b"\r\n", chunk, 30000000, 413, "too many in chunks")
    told(d, good + chunked + b"\r\n", chunk, 64 << 20, 429,
         "chunks beyond the room")
    form = b"Content-Type: multipart/form-data; boundary=b\r\n"
    part = b'--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\n'
    told(d, good + form + size + b"\r\n" + part % b"other", piece, most, 400,
         "a part that there is not")
    told(d, good + form + size + b"\r\n" + piece, piece, most - 65536, 400,
         "no form at all")
    r = Raw(d, good + b"Expect: 100-continue\r\nContent-Length: "
            b"99999999999\r\n\r\n")
    eq(statuses(r.until(b"}}")), [429], "who asks first sends nothing")
    r.close()
    r = Raw(d, good + b"Content-Length: 100000\r\n\r\n" + b"x" * 100000 +
            b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
    eq(statuses(r.until(b"ok\n")), [415, 200],
       "after a small body the connection goes on")
    r.close()
    r = Raw(d, bad + b"Content-Length: 1000\r\n\r\n" + b"x" * 1000 +
            b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
    eq(statuses(r.until(b"ok\n")), [401], "a wrong token ends it")
    r.close()
    eq(w.get("sessions").data, [], "nothing is left of all that")
    eq(w.get("quota").data[0]["bytes"]["used"], 0, "no byte is held")
    served(d, "floods that nobody wanted")


def lingerers(d):
    """Those who were answered and go on sending take no place."""
    head = b"POST /api/v1/sessions HTTP/1.1\r\n" + HOST + \
        b"Content-Length: 30000000\r\n\r\n"
    many = []
    for _ in range(100):
        r = Raw(d, head)
        r.until(b"}}")
        many.append(r)
    pid = d.role_pid("netproc")
    n = len(os.listdir(f"/proc/{pid}/fd"))
    ok(n < 90, "of a hundred a part is waited for", n)
    served(d, "those who go on sending")
    for r in many:
        r.close()
    ok(wait_for(lambda: len(os.listdir(f"/proc/{pid}/fd")) < 40),
       "and nobody who has gone", os.listdir(f"/proc/{pid}/fd"))


def slow(d):
    """Who drips, keeps no place."""
    began = time.monotonic()
    r = Raw(d, b"GET /healthz HTTP/1.1\r\n", timeout=1)
    try:
        while time.monotonic() - began < 30:
            r.send(b"X: y\r\n")
            time.sleep(0.2)
    except OSError:
        pass
    took = time.monotonic() - began
    ok(1 < took < 25, "headers that drip are cut off", took)
    r.close()
    began = time.monotonic()
    r = Raw(d, b"POST /api/v1/login HTTP/1.1\r\n" + HOST + b"Content-Type: "
            b"application/json\r\nContent-Length: 1000\r\n\r\n", timeout=1)
    try:
        while time.monotonic() - began < 30:
            r.send(b" ")
            time.sleep(0.2)
    except OSError:
        pass
    took = time.monotonic() - began
    ok(1 < took < 25, "and so is a login that does", took)
    r.close()


def drips(d):
    """Who is known may be slow: at their own cost, and they may go away."""
    w = Web(d, token_of(d))
    eq(w.get("sessions").data, [], "nothing is there")
    pid = d.role_pid("netproc")
    before = len(os.listdir(f"/proc/{pid}/fd"))
    head = b"POST /api/v1/sessions HTTP/1.1\r\n" + HOST + \
        b"Authorization: Bearer " + w.token.encode() + b"\r\n"
    many = [Raw(d, head + how) for how in (
        b"Content-Length: 1000\r\n\r\n",
        b"Transfer-Encoding: chunked\r\n\r\n",
        b"Content-Type: multipart/form-data; boundary=b\r\n"
        b"Content-Length: 1000\r\n\r\n") for _ in range(10)]
    for _ in range(20):
        for r, c in zip(many, [b"x"] * 10 + [b"1\r\nx\r\n"] * 10 +
                        [b"-"] * 10):
            try:
                r.send(c)
            except OSError:
                pass
        eq(w.get("version").status, 200, "others are served between drops")
    for i, r in enumerate(many):
        if i % 2:
            r.end()
            r.rest()
        r.close()
    ok(wait_for(lambda: len(os.listdir(f"/proc/{pid}/fd")) <= before),
       "when they have gone there is nothing left")
    ok(wait_for(lambda: w.get("sessions").data == [] and
                w.get("quota").data[0]["bytes"]["used"] == 0),
       "no half upload holds a byte")


def frames(d):
    """Floods of frames cost the connection that they come by."""
    c = d.client()
    sid = c.cmd("NEW tty start=now -- /bin/sh -c 'stty -echo; echo ready; "
                "cat'")["id"]
    c.until(sid, b"ready\r\n")
    key = c.cmd("KEYS " + sid)["token"]
    path = f"/api/v1/pty/sessions/{sid}/attach?token={key}"
    pid = d.role_pid("netproc")
    other = WebSocket(d.web, path)
    other.until_event(LIVE)
    rss = int(status_of(pid)["VmRSS"].split()[0])

    def flood(frame, what, n=20000):
        x = WebSocket(d.web, path)
        x.s.settimeout(5)
        try:
            for _ in range(n // 100):
                x.s.sendall(frame * 100)
        except OSError:
            pass
        other.type("word\n")
        other.until(b"word\r\n")
        other.out.clear()
        x.close()
        ok(d.role_pid("netproc") == pid, what + ": others are served")
    x = WebSocket(d.web, path)
    flood(x.frame(9, b"p" * 125), "pings that nobody reads the answers of")
    flood(x.frame(10, b""), "pongs that nobody asked for")
    flood(x.frame(2, b"", fin=False), "fragments of nothing")
    flood(x.frame(2, b"\1\0\120\0\30"), "sizes")
    flood(x.frame(2, b"\3" + b"\xff" * 8), "acks of what never was")
    flood(x.frame(2, b"\0x", mask=None), "frames that are not masked")
    flood(x.frame(8, b"\3\350"), "closes")
    flood(b"\x82\xff" + b"\x7f" + b"\xff" * 11, "a length beyond all")
    x.close()
    other.close()
    ok(wait_for(lambda: int(status_of(pid)["VmRSS"].split()[0]) - rss <
                16384), "nothing of it is kept",
       (rss, status_of(pid)["VmRSS"]))
    c.cmd("KILL " + sid)
    c.close()


def crowds(d):
    """Strangers have a part of the places, and users still theirs."""
    w = Web(d, token_of(d))
    eq(w.get("sessions").status, 200, "a user is there")
    many = [Raw(d) for _ in range(150)]
    eq(w.get("sessions").status, 200, "they still are")
    wait_for(lambda: sum(1 for r in many if refused(r)) > 100)
    n = sum(1 for r in many if refused(r))
    ok(n > 100, "most strangers are told that there is no place", n)
    for r in many:
        r.close()
    ok(wait_for(lambda: Web(d).get("/healthz").status == 200),
       "when they have gone there is")


def refused(r):
    r.s.setblocking(False)
    try:
        r.s.send(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        got = r.s.recv(1000)
        return b" 503 " in got or got == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


if __name__ == "__main__":
    run_tests(in_modes(smuggling, chunks, headers, old_ways, early_ends,
                       lingerers, drips, frames, web=True),
              in_modes(refused_early, web=True,
                       conf="max-total-bytes 64M\n"),
              in_modes(slow, web=True, conf="line-timeout 3\n",
                       modes=("user",)),
              in_modes(crowds, web=True, conf="max-connections 200\n"
                       "max-connections-per-user 100\n", modes=("user",)))
