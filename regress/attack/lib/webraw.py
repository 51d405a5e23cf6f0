# SPDX-License-Identifier: ISC
"""HTTP as no browser would send it: every header is the test's own."""
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../e2e/lib"))
import dl  # noqa: E402


class Answer:
    """What came on one connection: the first response, and the rest."""

    def __init__(self, data):
        head, _, rest = data.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        m = re.match(r"HTTP/1\.[01] (\d{3})", lines[0])
        self.raw = data
        self.status = int(m[1]) if m else None
        self.headers = [tuple(x.split(": ", 1)) for x in lines[1:]
                        if ": " in x]
        if ("Transfer-Encoding", "chunked") in self.headers:
            rest = unchunked(rest)
        self.body = rest

    def header(self, name):
        for k, v in self.headers:
            if k.lower() == name.lower():
                return v
        return None

    @property
    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return {}

    @property
    def data(self):
        return self.json.get("data")

    @property
    def code(self):
        return self.json.get("error", {}).get("code")

    def __repr__(self):
        return repr(self.raw[:600])


def unchunked(data):
    out = b""
    while data:
        size, _, data = data.partition(b"\r\n")
        n = int(size or b"0", 16)
        if n == 0:
            break
        out += data[:n]
        data = data[n + 2:]
    return out


def text(method, path, headers, body):
    lines = [f"{method} {path} HTTP/1.1"]
    lines += [f"{k}: {v}" for k, v in headers]
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


class Wire:
    """A connection of a user's; what is asked on it is the caller's."""

    def __init__(self, d, uid=None, host="127.0.0.1", port=None):
        self.d = d
        self.port = d.web if port is None else port
        self.host = host
        self.s = dl.connect(host, self.port, uid or d.uid, 20)

    def send(self, data):
        self.s.sendall(data)

    def all(self):
        out = b""
        try:
            while True:
                got = self.s.recv(65536)
                if not got:
                    break
                out += got
        except (ConnectionError, TimeoutError):
            pass
        self.s.close()
        return out

    def until(self, what):
        out = b""
        while what not in out:
            got = self.s.recv(65536)
            if not got:
                break
            out += got
        return out

    def close(self):
        self.s.close()


def fetch(d, method, path, *headers, body=None, uid=None, host=None,
          at="127.0.0.1", port=None, **named):
    """One request on a connection of its own.

    Headers are "Name: value", or names with _ for -; a body that is no bytes
    is sent as JSON.  host is the Host header, None = the right one."""
    w = Wire(d, uid, at, port)
    lines = [("Host", f"{at}:{w.port}" if host is None else host),
             ("Connection", "close")]
    lines += [tuple(h.split(": ", 1)) for h in headers]
    lines += [(k.replace("_", "-"), v) for k, v in named.items()]
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        lines.append(("Content-Type", "application/json"))
    if body is not None:
        lines.append(("Content-Length", str(len(body))))
    w.send(text(method, path, lines, body or b""))
    return Answer(w.all())


API = "/api/v1/"


class User:
    """Somebody who has logged in: their cookie, and what goes with it."""

    def __init__(self, d, uid=None, how="key", key=None):
        self.d, self.uid = d, uid
        if key is None:
            c = d.client(uid)
            key = c.cmd("LOGIN link")["key"] if how == "key" else \
                c.cmd("TOKEN create " + how.partition(" ")[2])["token"]
            c.close()
        self.key = key
        a = fetch(d, "POST", API + "login", uid=uid,
                  body={"key" if key.startswith("dlo_") else "token": key})
        self.answer = a
        if a.status != 200:
            raise RuntimeError(a)
        self.cookie = re.match(r"lantern=(dlc_[^;]+)",
                               a.header("Set-Cookie"))[1]
        self.csrf = a.data["csrf"]

    def ask(self, method, path, body=None, **kw):
        kw.setdefault("uid", self.uid)
        headers = [f"Cookie: lantern={self.cookie}"]
        if method not in ("GET", "HEAD"):
            headers.append("X-CSRF-Token: " + self.csrf)
        return fetch(self.d, method, path if path.startswith("/") else
                     API + path, *headers, body=body, **kw)

    def upload(self, program):
        return self.ask("POST", "sessions", dl.read_helper(program)).data["id"]
