# SPDX-License-Identifier: ISC
"""What HTTP costs: requests, and many who follow events or terminals."""
import contextlib
import http.client
import select
import socket
import time


class Asker:
    """A closed loop over one connection that is kept."""

    def __init__(self, port, method, path, token="", body=b""):
        self.s = socket.create_connection(("127.0.0.1", port))
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        head = [f"{method} {path} HTTP/1.1", "Host: localhost"]
        if token:
            head.append("Authorization: Bearer " + token)
        if body:
            head += ["Content-Type: application/json",
                     f"Content-Length: {len(body)}"]
        self.request = "\r\n".join(head + ["", ""]).encode() + body
        self.buf = b""

    def ask(self):
        """Asks once; the bytes of the answer's body."""
        self.s.sendall(self.request)
        while (end := self.buf.find(b"\r\n\r\n")) < 0:
            self.more()
        head = self.buf[:end].lower()
        if not head.startswith(b"http/1.1 20"):
            raise RuntimeError(self.buf[:500])
        size = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        while len(self.buf) < end + 4 + size:
            self.more()
        self.buf = self.buf[end + 4 + size:]
        return size

    def more(self):
        data = self.s.recv(1 << 20)
        if not data:
            raise RuntimeError("the connection has ended")
        self.buf += data

    def cpu_us(self, server, cpu_ns, n):
        """Microseconds of CPU in the server for one request."""
        before = cpu_ns(server.pids)
        for _ in range(n):
            self.ask()
        return (cpu_ns(server.pids) - before) / 1000 / n

    def close(self):
        self.s.close()


class Followers:
    """So many streams of events, which are read and thrown away."""

    def __init__(self, port, token, n):
        self.socks = []
        self.poll = select.poll()
        for _ in range(n):
            s = socket.create_connection(("127.0.0.1", port))
            s.sendall(b"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\n"
                      b"Authorization: Bearer " + token.encode() +
                      b"\r\n\r\n")
            # until it is known who they are there may be a few
            if b" 200 " not in s.recv(1 << 16):
                raise RuntimeError("a follower was not let in")
            self.socks.append(s)
            self.poll.register(s, select.POLLIN)
        self.by_fd = {s.fileno(): s for s in self.socks}

    def heard(self, what, seconds):
        """How many of them have heard it when all have, or in that time."""
        end = time.monotonic() + seconds
        tails, there = {}, set()
        while len(there) < len(self.socks) and time.monotonic() < end:
            for fd, _ in self.poll.poll(200):
                data = self.by_fd[fd].recv(1 << 18)
                if not data:
                    raise RuntimeError("a stream has ended")
                text = tails.get(fd, b"") + data
                if what in text:
                    there.add(fd)
                tails[fd] = text[-len(what):]
        return len(there)

    def drain(self):
        while ready := self.poll.poll(100):
            for fd, _ in ready:
                if not self.by_fd[fd].recv(1 << 18):
                    raise RuntimeError("a stream has ended")

    def close(self):
        for s in self.socks:
            s.close()


def whoami(port, token):
    with contextlib.closing(http.client.HTTPConnection(
            "127.0.0.1", port, timeout=30)) as h:
        h.request("GET", "/api/v1/whoami",
                  headers={"Authorization": "Bearer " + token})
        return h.getresponse().status
