# SPDX-License-Identifier: ISC
"""One user's clients, all of them in one process of that user: people who
look, follow output, sit at terminals by WebSocket, and start and end programs.
It is told by lines what to do next, see Crowd.orders."""
import asyncio
import base64
import contextlib
import json
import os
import random
import struct
import time

FILL = 70000            # more than the rings hold
PATIENCE = 60           # seconds for one answer
TERMINALS_EACH = 8      # clients that one terminal may have
OUTPUT, HISTORY, EXIT, ERROR, LOST = 0x80, 0x81, 0x82, 0x83, 0x85


class Wrong(Exception):
    pass


class Line:
    """A connection of the control protocol."""

    def __init__(self, crowd):
        self.crowd = crowd

    async def __aenter__(self):
        self.r, self.w = await asyncio.open_connection(
            "127.0.0.1", self.crowd.port, limit=1 << 22)
        nonce = (await self.cmd("HELLO"))["nonce"]
        await self.ask("HELLO " + nonce)
        return self

    async def __aexit__(self, *_):
        self.w.close()

    async def line(self):
        got = await self.r.readline()
        if not got.endswith(b"\n"):
            raise Wrong("the connection was closed")
        if got.startswith(b'{"ok":false'):
            raise Wrong(got.decode().strip())
        return got

    async def ask(self, request, data=b""):
        """The line that is the answer."""
        self.w.write(request.encode() + b"\n" + data)
        await self.w.drain()
        try:
            got = await asyncio.wait_for(self.line(), PATIENCE)
        except Wrong as e:
            raise Wrong(f"{request}: {e}") from None
        except asyncio.TimeoutError:
            raise Wrong(f"{request}: no answer") from None
        self.crowd.asked += 1
        return got

    async def cmd(self, request, data=b""):
        return json.loads(await self.ask(request, data))


async def upgrade(crowd, path, *headers):
    """A connection of HTTP and what was answered by it, to its empty line."""
    r, w = await asyncio.open_connection("127.0.0.1", crowd.web,
                                         limit=1 << 22)
    w.write("\r\n".join([
        f"GET /api/v1/{path} HTTP/1.1", "Host: localhost",
        f"Authorization: Bearer {crowd.token}", *headers, "", ""]).encode())
    head = await asyncio.wait_for(r.readuntil(b"\r\n\r\n"), PATIENCE)
    return r, w, head.decode("latin-1")


class Socket:
    """A client of a terminal, by WebSocket."""

    def __init__(self, crowd, sid, name):
        self.crowd, self.sid, self.name = crowd, sid, name
        self.next = self.wanted = self.found = None
        self.tail, self.typed = b"", 0

    async def open(self):
        key = base64.b64encode(os.urandom(16)).decode()
        self.r, self.w, head = await upgrade(
            self.crowd, f"pty/sessions/{self.sid}/attach",
            "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: " + key,
            "Sec-WebSocket-Protocol: lantern.bin.v1")
        if not head.startswith("HTTP/1.1 101"):
            raise Wrong(f"a WebSocket was refused: {head}")

    def send(self, opcode, data):
        """Masked by nothing: that is a mask, too."""
        if len(data) >= 126:
            raise ValueError("too long for a short frame")
        self.w.write(bytes([0x80 | opcode, 0x80 | len(data), 0, 0, 0, 0]) +
                     data)

    async def frame(self):
        first, n = await self.r.readexactly(2)
        if n == 126:
            n, = struct.unpack(">H", await self.r.readexactly(2))
        elif n == 127:
            n, = struct.unpack(">Q", await self.r.readexactly(8))
        return first & 0xf, await self.r.readexactly(n)

    async def listen(self):
        while True:
            opcode, m = await self.frame()
            if opcode == 9:
                self.send(10, m)
            elif opcode == 8:
                raise Wrong(f"a WebSocket was closed: {m!r}")
            elif opcode == 2:
                self.hear(m)

    def hear(self, m):
        if m[0] in (EXIT, ERROR, LOST):
            raise Wrong(f"a terminal said {m[:200]!r}")
        if m[0] not in (OUTPUT, HISTORY):
            return
        offset, data = struct.unpack(">Q", m[1:9])[0], m[9:]
        if m[0] == HISTORY:
            data = data[2 + struct.unpack(">H", data[:2])[0]:]
        if self.next not in (None, offset):
            raise Wrong(f"a terminal went on at {offset}, not {self.next}")
        self.next = offset + len(data)
        self.crowd.heard += len(data)
        text = self.tail + data
        self.tail = text[-64:]
        if self.wanted is not None and self.wanted in text:
            self.found.set_result(None)
            self.wanted = None

    async def type(self):
        """Types a line, and waits until the terminal shows it."""
        self.typed += 1
        self.wanted = f"<{self.name}.{self.typed}>".encode()
        self.found = asyncio.get_running_loop().create_future()
        self.send(2, b"\0" + self.wanted + b"\n")
        try:
            await asyncio.wait_for(self.found, PATIENCE)
        except asyncio.TimeoutError:
            raise Wrong("a terminal does not show what is typed") from None
        self.send(2, struct.pack(">BQ", 3, self.next))
        self.crowd.asked += 1


class Crowd:
    def __init__(self, port, web, user, token, image, shape):
        """shape: how many askers, followers, sockets, terminals, steady and
        changing sessions, and streams of events."""
        self.port, self.web = port, web
        self.user, self.token, self.image = user, token, image
        self.shape = shape
        self.asked = self.heard = self.busy = self.starts = 0
        self.errors, self.tasks, self.writers = [], [], []
        self.steady, self.terminals, self.last = [], [], {}

    # --- what they do ----------------------------------------------------

    @contextlib.asynccontextmanager
    async def turn(self, least, most):
        """Something that is done after a while, unless all stand still."""
        await asyncio.sleep(random.uniform(least, most))
        await self.gate.wait()
        self.busy += 1
        try:
            yield
        finally:
            self.busy -= 1

    async def look(self, c):
        """One request of one who looks."""
        sid = random.choice(self.steady + self.terminals)
        what = random.choices(
            ("LIST", f"STATUS {sid}", f"OUTPUT {sid} 60000", "USAGE",
             "WHOAMI", "VERSION"), (6, 8, 2, 2, 1, 1))[0]
        got = await c.ask(what)
        if what == "LIST":
            ids = got.count(b'{"id":"')
            mine = got.count(b'"owner":"%s"' % self.user.encode())
            if ids != mine or ids < len(self.steady + self.terminals):
                raise Wrong(f"LIST has {ids} sessions, {mine} one's own")
        elif what.startswith("STATUS") and b'"state":"RUNNING"' not in got:
            raise Wrong(f"a session does not run: {got!r}")

    async def asker(self, c):
        while True:
            async with self.turn(1, 5):
                await self.look(c)

    async def follower(self, c, sid):
        c.w.write(f"FOLLOW {sid} 60000 base64\n".encode())
        expected = None
        while True:
            m = json.loads(await c.line())
            if m.get("final") or expected not in (None, m["offset"]):
                raise Wrong(f"FOLLOW at {expected}: {m}")
            n = len(base64.b64decode(m["output"]))
            expected = m["offset"] + n
            self.heard += n
            self.last[c] = time.monotonic()

    async def typist(self, s):
        while True:
            async with self.turn(2, 20):
                await s.type()

    async def stream(self, r):
        while line := await r.readline():
            self.heard += len(line)
        raise Wrong("a stream of events has ended")

    async def changer(self, c):
        """Uploads, starts, ends and deletes; while all stand still, its
        session is there and has not run."""
        sid = await self.upload(c)
        while True:
            async with self.turn(4, 12):
                await self.life(c, sid)
                sid = await self.upload(c)

    async def life(self, c, sid):
        ends = random.random() < 0.5
        await c.cmd(f"ARGS {sid} {FILL} 50 {10 if ends else 0}")
        await c.cmd(f"START {sid}")
        self.starts += 1
        await self.filled(c, sid)
        s = await c.cmd(f"WAIT {sid} {PATIENCE // 2}" if ends else
                        f"STOP {sid}")
        if s["state"] != "STOPPED" or (s["exit_code"] == 0) != ends:
            raise Wrong(f"an end of another kind: {s}")
        await c.cmd(f"DELETE {sid}")

    async def upload(self, c):
        s = await c.cmd(f"UPLOAD {len(self.image)}", self.image)
        return s["id"]

    async def filled(self, c, sid):
        end = time.monotonic() + PATIENCE
        while (await c.cmd(f"OUTPUT {sid} {FILL}"))["total"] < FILL:
            if time.monotonic() > end:
                raise Wrong("a program does not get on")
            await asyncio.sleep(0.1)

    # --- how they come and go --------------------------------------------

    def task(self, what):
        async def run():
            try:
                await what
            except asyncio.CancelledError:
                raise
            except Exception as e:  # noqa: each is one failure, and counted
                self.errors.append(f"{type(e).__name__}: {e}")
        self.tasks.append(asyncio.create_task(run()))

    async def make_sessions(self):
        async with Line(self) as c:
            for _ in range(self.shape["steady"]):
                sid = await self.upload(c)
                await c.cmd(f"ARGS {sid} {FILL} 200 0")
                await c.cmd(f"START {sid}")
                self.steady.append(sid)
            for _ in range(self.shape["terminals"]):
                s = await c.cmd(
                    "NEW tty cwd=/ -- /bin/sh -c 'head -c %d /dev/zero | "
                    "tr \"\\0\" .; exec cat'" % FILL)
                await c.cmd(f"START {s['id']}")
                self.terminals.append(s["id"])
            for sid in self.steady + self.terminals:
                await self.filled(c, sid)

    async def connect_all(self):
        for i in range(self.shape["followers"]):
            c = await self.dial()
            self.task(self.follower(c, self.steady[i % len(self.steady)]))
        for _ in range(self.shape["changing"]):
            self.task(self.changer(await self.dial()))
        for _ in range(self.shape["askers"]):
            c = await self.dial()
            await self.look(c)
            self.task(self.asker(c))
        for i in range(self.shape["sockets"]):
            s = Socket(self, self.terminals[i % len(self.terminals)], i)
            await s.open()
            self.writers.append(s.w)
            self.task(s.listen())
            self.task(self.typist(s))
        for _ in range(self.shape["streams"]):
            r, w, head = await upgrade(self, "events")
            if not head.startswith("HTTP/1.1 200"):
                raise Wrong(f"a stream was refused: {head}")
            self.writers.append(w)
            self.task(self.stream(r))

    async def dial(self):
        c = await Line(self).__aenter__()
        self.writers.append(c.w)
        return c

    async def go_away(self):
        """Everybody goes, and nothing stays."""
        for t in self.tasks:
            t.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for w in self.writers:
            w.close()
        async with Line(self) as c:
            for s in await c.cmd("LIST"):
                if s["state"] == "RUNNING":
                    await c.cmd(f"KILL {s['id']}")
                await c.cmd(f"DELETE {s['id']}")
            if await c.cmd("LIST"):
                raise Wrong("sessions stay that were deleted")

    async def stand_still(self):
        self.gate.clear()
        while self.busy:
            await asyncio.sleep(0.05)
        now = time.monotonic()
        silent = sum(now - t > PATIENCE for t in self.last.values())
        if silent or len(self.last) < self.shape["followers"]:
            self.errors.append(f"{silent} of {len(self.last)} followers "
                               "hear nothing any more")

    async def come(self):
        await self.make_sessions()
        await self.connect_all()

    async def go_on(self):
        self.gate.set()

    async def serve(self, sock):
        """Orders, a line each, and an answer to each: come, go_on,
        stand_still, go_away."""
        orders = {f.__name__: f for f in (
            self.come, self.go_on, self.stand_still, self.go_away)}
        self.gate = asyncio.Event()
        r, w = await asyncio.open_connection(sock=sock)
        while line := await r.readline():
            try:
                await orders[line.decode().strip()]()
            except Exception as e:  # noqa: whoever gave the order is told
                self.errors.append(f"{type(e).__name__}: {e}")
            w.write(json.dumps({
                "asked": self.asked, "heard": self.heard,
                "starts": self.starts, "errors": len(self.errors),
                "first": self.errors[:5]}).encode() + b"\n")
            await w.drain()
