# SPDX-License-Identifier: ISC
"""The redis that regress/redis.sh has built, and as much of its protocol as
tests need."""
import os
import socket
import subprocess

from dl import wait_for

HERE = os.path.dirname(os.path.abspath(__file__))


def redis_dir():
    return subprocess.run([os.path.join(HERE, "../../redis.sh"), "--there"],
                          check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def arguments(where):
    """A server that listens in that directory alone and keeps nothing."""
    return ["--port", "0", "--unixsocket", os.path.join(where, "sock"),
            "--save", "", "--dir", where, "--loglevel", "warning"]


class Redis:
    def __init__(self, where, seconds=30):
        self.s = socket.socket(socket.AF_UNIX)
        self.s.settimeout(60)
        path = os.path.join(where, "sock")
        if not wait_for(lambda: self.s.connect_ex(path) == 0, seconds):
            raise RuntimeError("redis does not listen")
        self.f = self.s.makefile("rb")

    def ask(self, *words):
        data = [str(w).encode() for w in words]
        self.s.sendall(b"*%d\r\n" % len(data) + b"".join(
            b"$%d\r\n%s\r\n" % (len(w), w) for w in data))
        return self.answer()

    def answer(self):
        line = self.f.readline().rstrip()
        kind, rest = line[:1], line[1:]
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))]
        if kind == b"$":
            n = int(rest)
            return None if n < 0 else self.f.read(n + 2)[:-2].decode()
        if kind == b":":
            return int(rest)
        return rest.decode()

    def close(self):
        self.f.close()
        self.s.close()
