# SPDX-License-Identifier: ISC
"""HTTP clients for tests: one that behaves, and raw sockets that need not."""
import http.client
import json
import re
import socket

from dl import wait_for


class Answer:
    def __init__(self, r):
        self.status = r.status
        self.headers = r.headers
        self.body = r.read()

    @property
    def json(self):
        return json.loads(self.body)

    @property
    def data(self):
        return self.json["data"]

    @property
    def code(self):
        return self.json["error"]["code"]

    def __repr__(self):
        return f"{self.status} {dict(self.headers)} {self.body[:300]!r}"


class Web:
    """One keep-alive connection, with or without a token."""

    def __init__(self, d, token=None, cookie=None, csrf=None, host=None):
        self.d = d
        self.token, self.cookie, self.csrf = token, cookie, csrf
        self.host = host
        self.c = http.client.HTTPConnection("127.0.0.1", d.web, timeout=30)

    def request(self, method, path, body=None, headers=None):
        h = dict(headers or {})
        if self.token is not None:
            h.setdefault("Authorization", "Bearer " + self.token)
        if self.cookie is not None:
            h.setdefault("Cookie", "lantern=" + self.cookie)
        if self.csrf is not None:
            h.setdefault("X-CSRF-Token", self.csrf)
        if self.host is not None:
            h.setdefault("Host", self.host)
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            h.setdefault("Content-Type", "application/json")
        if not path.startswith("/"):
            path = "/api/v1/" + path
        self.c.request(method, path, body, h)
        return self.c.getresponse()

    def ask(self, method, path, body=None, headers=None):
        return Answer(self.request(method, path, body, headers))

    def get(self, path, **headers):
        return self.ask("GET", path, headers={
            k.replace("_", "-"): v for k, v in headers.items()})

    def post(self, path, body=None, **kw):
        return self.ask("POST", path, body, **kw)

    def put(self, path, body=None):
        return self.ask("PUT", path, body)

    def delete(self, path):
        return self.ask("DELETE", path)

    def upload(self, path, query=""):
        with open(path, "rb") as f:
            return self.post("sessions" + query, f.read())

    def until(self, sid, *states):
        wait_for(lambda: self.get(f"sessions/{sid}").data["state"] in states)
        return self.get(f"sessions/{sid}").data

    def close(self):
        self.c.close()


class Raw:
    """What no well-behaved client would send."""

    def __init__(self, d, data=b"", timeout=20):
        self.s = socket.create_connection(("127.0.0.1", d.web), timeout)
        self.buf = b""
        # the daemon may have had enough before it has all of it
        try:
            self.send(data)
        except ConnectionError:
            pass

    def send(self, data):
        self.s.sendall(data)

    def end(self):
        try:
            self.s.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def rest(self):
        """All until the daemon closes."""
        try:
            while True:
                got = self.s.recv(65536)
                if not got:
                    break
                self.buf += got
        except ConnectionError:
            pass
        return self.buf

    def until(self, what):
        while what not in self.buf:
            got = self.s.recv(65536)
            if not got:
                break
            self.buf += got
        return self.buf

    def close(self):
        self.s.close()


def statuses(data):
    """The status of each response in what one connection sent."""
    return [int(s) for s in re.findall(rb"HTTP/1\.[01] (\d{3}) ", data)]


class Events:
    """A stream of server-sent events."""

    def __init__(self, web, path, **headers):
        self.r = web.request("GET", path, headers={
            k.replace("_", "-"): v for k, v in headers.items()})
        self.status = self.r.status

    def next(self):
        """{"event", "id", "data"} of the next one; None at the end."""
        e = {}
        while True:
            line = self.r.readline()
            if not line:
                return None
            line = line.decode().rstrip("\n")
            if line == "" and e:
                return e
            if line.startswith(":") or line == "":
                continue
            name, value = line.split(": ", 1)
            e[name] = json.loads(value) if name == "data" else value

    def until(self, event, **members):
        """The next of that kind whose data has these members."""
        while True:
            e = self.next()
            if e is None or (e["event"] == event and all(
                    e["data"].get(k) == v for k, v in members.items())):
                return e
