#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Downloads over HTTP: the sysroot and output, by clients that read slowly,
go away, or want a part."""
import io
import os
import socket
import sys
import tarfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (MODES, Daemon, alone, eq, in_modes, ok, run_tests,  # noqa: E402
                small_tree, status_of, token_of, wait_for)
from web import Raw, Web  # noqa: E402

LINE = b"%06d the quick brown fox\n"


class Slow(Raw):
    """A download of which little fits into the kernel's buffers."""

    def __init__(self, d, token, path, more=""):
        super().__init__(d)
        self.s.close()
        self.s = socket.socket()
        self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        self.s.settimeout(60)
        self.s.connect(("127.0.0.1", d.web))
        self.send(f"GET /api/v1/{path} HTTP/1.1\r\nHost: localhost\r\n"
                  f"Authorization: Bearer {token}\r\nConnection: close\r\n"
                  f"{more}\r\n".encode())
        self.until(b"\r\n\r\n")
        self.head, _, self.buf = self.buf.partition(b"\r\n\r\n")

    def body(self):
        """All of it; None when it was broken off before its end."""
        self.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        self.buf = bytearray(self.buf)
        self.rest()
        if b"transfer-encoding: chunked" not in self.head.lower():
            n = int(self.head.lower().split(b"content-length: ")[1]
                    .split(b"\r\n")[0])
            return self.buf if len(self.buf) == n else None
        out, at = bytearray(), 0
        while (end := self.buf.find(b"\r\n", at)) >= 0:
            n = int(self.buf[at:end], 16)
            if n == 0:
                return out
            out += self.buf[end + 2:end + 2 + n]
            at = end + 2 + n + 2
        return None


def fds(d, role="netproc"):
    return len(os.listdir(f"/proc/{d.role_pid(role)}/fd"))


def rss_kib(d):
    return int(status_of(d.role_pid("netproc"))["VmRSS"].split()[0])


def sysroot(mode):
    with small_tree() as wrapper, Daemon(mode, wrapper=wrapper,
                                         web=True) as d:
        token = token_of(d)
        w = Web(d, token)
        whole = w.get("sysroot")
        eq((whole.status, whole.headers["Content-Type"]),
           (200, "application/gzip"), "the sysroot, by its name")
        with tarfile.open(fileobj=io.BytesIO(whole.body), mode="r:gz") as t:
            ok(any(m.name.endswith("libc.so.6") for m in t.getmembers()),
               "a whole archive")
        eq(w.get("version").status, 200, "the connection goes on behind it")
        before, spawners = fds(d), fds(d, "spawner")
        slow = Slow(d, token, "sysroot", "Range: bytes=0-99\r\n")
        eq(w.get("version").status, 200, "who reads slowly delays nobody")
        eq((slow.head.split(b" ")[1], len(slow.body())),
           (b"200", len(whole.body)),
           "and gets it whole, also who asks for a range")
        slow.close()
        Slow(d, token, "sysroot").close()
        ok(wait_for(lambda: fds(d) <= before and
                    fds(d, "spawner") <= spawners),
           "who goes away in the midst leaves nothing behind",
           (fds(d), before, fds(d, "spawner"), spawners))
        r = w.request("GET", "sysroot")
        eq((r.status, r.read(2)), (200, b"\x1f\x8b"),
           "and the next one is served")


def flooded(w, n):
    """A session whose ring is full, and goes on being written to."""
    sid = w.upload("/bin/cat").data["id"]
    w.post(f"sessions/{sid}/start", {})
    write(w, sid, 0, n)
    return sid


def write(w, sid, at, n):
    data = b"".join(LINE % i for i in range(at, at + n))
    w.post(f"sessions/{sid}/stdin", data)

    def total():
        return int(w.ask("GET", f"sessions/{sid}/output?tail=0")
                   .headers["X-Total"])
    size = len(LINE % 0)
    if not wait_for(lambda: total() >= (at + n) * size, 30):
        raise RuntimeError(f"{total()} of {(at + n) * size} bytes came")


def output(d):
    w = Web(d, token_of(d))
    sid = flooded(w, 300000)
    before, rss = fds(d), rss_kib(d)
    slow = [Slow(d, w.token, f"sessions/{sid}/output") for _ in range(8)]
    eq(w.get("version").status, 200, "who reads slowly delays nobody")
    ok(rss_kib(d) - rss < 8 * 2048, "nor is it all kept for them",
       (rss, rss_kib(d)))
    got = slow[0].body()
    ok(got is not None and got.endswith(LINE % 299999) and
       len(got) > 3 << 20, "they get what there was", got and len(got))
    write(w, sid, 300000, 300000)
    eq([s.body() for s in slow[1:]], [None] * 7,
       "what was overwritten before it was sent breaks off: no end is said")
    for s in slow:
        s.close()
    for _ in range(20):
        Slow(d, w.token, f"sessions/{sid}/output").close()
        Slow(d, w.token, f"sessions/{sid}/cast").close()
    ok(wait_for(lambda: fds(d) <= before), "nothing is left behind",
       (fds(d), before))
    w.post(f"sessions/{sid}/kill")
    eq(w.get(f"sessions/{sid}/output?tail=24").body, (LINE % 599999)[-24:],
       "and the output is still there")


if __name__ == "__main__":
    run_tests(alone(sysroot, MODES[:1]),
              in_modes(output, web=True, conf="output-buffer 4M\n"))
