# SPDX-License-Identifier: ISC
"""Daemons whose roles do, after they have started, what a test orders."""
import mmap
import os
import socket
import struct
import threading
import time

import rogue
from rogue import BY_NAME, HEADER, NO_SESSION, u32, u64
import dl

MAIL, TRAP, HOLD = 1 << 20, 1, 2
ORDER, ANSWER, CRASHED = 1, 2, 256
KILLED = -(1 << 63)
WHERE = b"@taken-orders@"
# these wait for nobody but the test: it is their first request that they
# would answer by going away
HELD = ("debugger", "tracer", "symbols")
ALL = ("logger", "netproc", "spawner", "launcher", "announcer", "idproc", "tlsproc",
       "acctproc", "archiver", "debugger", "tracer", "symbols")


class Taken:
    """One process that has been taken over."""
    SECONDS = 120

    def __init__(self, role, sock, memory, pid):
        self.role, self.s, self.mail, self.pid = role, sock, memory, pid
        self.looks = role == "archiver"

    def alive(self):
        return dl.alive(self.pid)

    def crash(self):
        """The signal of the bug that it has died of; or 0."""
        turn = struct.unpack("=I", self.mail[0:4])[0]
        return max(turn - CRASHED, 0)

    def gone(self):
        return EOFError(f"{self.role} has gone")

    def order(self, letter, fields=b""):
        """Raises EOFError when it dies of it, or has died before."""
        data = letter.encode() + fields
        self.mail[8:8 + len(data)] = data
        self.mail[0:8] = u32(0, len(data))
        # the turn last: who looks must not see half an order
        self.mail[0:4] = u32(ORDER)
        (self.look if self.looks else self.ring)()
        n = struct.unpack("=I", self.mail[4:8])[0]
        return self.mail[8:8 + n]

    def ring(self):
        self.s.settimeout(self.SECONDS)
        try:
            self.s.sendall(b"x")
            if not self.s.recv(1):
                raise self.gone()
        except ConnectionError:
            raise self.gone() from None

    def look(self):
        def answered():
            if self.mail[0:4] == u32(ANSWER):
                return 1
            return 0 if self.alive() else 2
        if dl.wait_for(answered, self.SECONDS, 0.001) != 1:
            raise self.gone()

    def call(self, nr, *args, old=False):
        """A system call's result, -errno, or KILLED; bytes stand for a
        pointer to them.  What they are afterwards is in .left."""
        if old:
            return struct.unpack_from("=q", self.order("c", u32(nr)))[0]
        mask, values, data = 0, [], b""
        for i, a in enumerate(args):
            if isinstance(a, (bytes, bytearray)):
                mask |= 1 << i
                values.append(len(data))
                data += bytes(a) + b"\0" * (-len(a) % 8)
            else:
                values.append(a & (2**64 - 1))
        values += [0] * (6 - len(values))
        r = self.order("C", u32(nr, mask) + u64(*values) + data)
        self.left = r[8:]
        return struct.unpack_from("=q", r)[0]

    def exit(self, status=0):
        try:
            self.order("X", u32(status))
        except EOFError:
            pass

    def peers(self):
        """{name of the role: (number of the channel, generation, fd)}"""
        data = self.order("P")
        out = {}
        for at in range(0, len(data), 16):
            i, role, generation, fd = struct.unpack_from("=4I", data, at)
            # the logger has two to the parent: the channel is the first
            out.setdefault(NAMES[role], (i, generation, fd))
        return out

    def send(self, channel, data, given=0, fds=0):
        """0 or the errno of sendmsg; data is a whole datagram."""
        return struct.unpack("=q", self.order(
            "S", u32(channel, given, fds) + data))[0]

    def flood(self, channel, n, ms, data):
        """How many were sent, and the last errno."""
        return struct.unpack("=qq", self.order(
            "F", u32(channel, n, ms) + data))

    def deaf(self, channel):
        self.order("D", u32(channel))

    def fragile(self, role):
        """From now on it ends when it is given a channel to that role."""
        self.order("f", u32(rogue.ROLE[role]))


NAMES = {n: name for name, n in rogue.ROLE.items()}
NAMES.update({len(rogue.ROLE) + 1 + i: name for i, name in enumerate(HELD)})


def datagram(what, payload=b"", session=NO_SESSION, conn=0, request=0,
             generation=0, length=None):
    t = BY_NAME[what]["type"] if isinstance(what, str) else what
    length = len(payload) if length is None else length
    return HEADER.pack(t, length % 2**32, request, conn, generation,
                       session) + payload


class Stage:
    """From now on daemons of this test run roles that can be taken over.

    given: fds that each of them gets, to send along."""

    def __init__(self, roles=ALL, flags=TRAP, given=(), held=HELD):
        self.flags, self.given, self.held = flags, list(given), held
        self.all, self.changed = [], threading.Condition()
        self.crashed = []
        rogue.with_roles(**{r: dl.helper("taken_" + r) for r in roles})
        base = os.path.dirname(dl.BIN)
        self.path = os.path.join(base, "orders")
        for r in roles:
            self.tell_where(f"{base}/libexec/debuglantern/{r}")
        self.s = socket.socket(socket.AF_UNIX)
        self.s.bind(self.path)
        os.chmod(self.path, 0o666)
        self.s.listen(64)
        threading.Thread(target=self.serve, daemon=True).start()

    def tell_where(self, binary):
        with open(binary, "rb") as f:
            data = f.read()
        if data.count(WHERE) != 1:
            raise RuntimeError(f"{binary} has not one place for a path")
        name = self.path.encode().ljust(108, b"\0")
        at = data.index(WHERE)
        with open(binary, "wb") as f:
            f.write(data[:at] + name + data[at + len(name):])

    def serve(self):
        while True:
            try:
                s, _ = self.s.accept()
                self.welcome(s)
            except OSError:
                continue

    def welcome(self, s):
        pid = struct.unpack("=3i", s.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        s.settimeout(30)
        name = s.recv(20, socket.MSG_WAITALL)[:16].split(b"\0")[0].decode()
        fd = os.memfd_create("mail")
        os.ftruncate(fd, MAIL)
        memory = mmap.mmap(fd, MAIL)
        hold = HOLD if name in self.held else 0
        socket.send_fds(s, [bytes([self.flags | hold])], [fd] + self.given)
        os.close(fd)
        with self.changed:
            self.sort_out()
            self.all.append(Taken(name, s, memory, pid))
            self.changed.notify_all()

    def sort_out(self):
        dead = [t for t in self.all if not t.alive()]
        self.all = [t for t in self.all if t not in dead]
        self.crashed += [(t.role, t.crash()) for t in dead if t.crash()]

    def crashes(self):
        """[(role, signal)] of all that have died of bugs since it was
        asked last."""
        with self.changed:
            self.sort_out()
            out, self.crashed = self.crashed, []
        return out

    def get(self, role, pid=None, seconds=60):
        """The newest of them that lives, or the one with that pid."""
        end = time.monotonic() + seconds
        with self.changed:
            while True:
                for t in reversed(self.all):
                    if t.role == role and t.alive() and pid in (None, t.pid):
                        return t
                left = end - time.monotonic()
                if left <= 0:
                    raise RuntimeError(f"no {role} has been taken over")
                self.changed.wait(min(left, 0.2))
