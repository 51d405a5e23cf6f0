# SPDX-License-Identifier: ISC
"""Clients of terminals: lantern.bin.v1 over the control protocol and over
WebSockets, and JSON over WebSockets."""
import base64
import json
import os
import re
import select
import socket
import struct
import time

OUTPUT, HISTORY, EXIT, ERROR, SIZE, LOST, PEOPLE, LIVE = range(0x80, 0x88)
NAMES = {"output": OUTPUT, "history": HISTORY, "exit": EXIT, "error": ERROR,
         "size": SIZE, "lost": LOST, "people": PEOPLE, "live": LIVE}


class Terminal:
    """What a client of a terminal hears, whichever way it came."""

    def __init__(self):
        self.out = bytearray()  # all bytes, without preambles
        self.preamble = None    # of the last replay
        self.events = []        # (type, value) of everything else
        self.next = None        # the offset that must come next
        self.history = 0        # bytes that came as history
        self.gone = False

    def heard(self, kind, value):
        if kind in (OUTPUT, HISTORY):
            offset, data = value
            if self.next is not None and self.next != offset:
                raise RuntimeError(f"offset {offset}, not {self.next}")
            self.next = offset + len(data)
            self.out += data
            if kind == HISTORY:
                self.history += len(data)
            return
        if kind == LOST:
            self.next = value[1]
        if kind == LIVE and self.next is None:
            self.next = value
        self.events.append((kind, value))

    def shown(self):
        """The output without what a sanitizer says first."""
        return re.sub(rb"^==\d+==WARNING: ASan.*?https://\S+\r?\n", b"",
                      bytes(self.out), flags=re.S)

    def of(self, kind):
        return [v for k, v in self.events if k == kind]

    def binary(self, m):
        kind, rest = m[0], m[1:]
        if kind == OUTPUT:
            value = struct.unpack(">Q", rest[:8])[0], rest[8:]
        elif kind == HISTORY:
            offset, n = struct.unpack(">QH", rest[:10])
            if n:
                self.preamble, self.next = rest[10:10 + n], None
            value = offset, rest[10 + n:]
        elif kind == EXIT:
            value = struct.unpack(">iI", rest)
        elif kind == ERROR:
            value = tuple(p.decode() for p in rest.split(b"\0", 1))
        elif kind == SIZE:
            value = struct.unpack(">HH", rest)
        elif kind == LOST:
            value = struct.unpack(">QQ", rest)
        elif kind == PEOPLE:
            value = json.loads(rest)
        else:
            value = struct.unpack(">Q", rest)[0]
        self.heard(kind, value)

    def text(self, m):
        m = json.loads(m)
        kind = NAMES[m["type"]]
        self.heard(kind, {
            OUTPUT: lambda: (m["offset"], base64.b64decode(m["data"])),
            HISTORY: lambda: self.replay(m),
            EXIT: lambda: (m["code"], m["signal"]),
            ERROR: lambda: (m["code"], m["message"]),
            SIZE: lambda: (m["cols"], m["rows"]),
            LOST: lambda: (m["from"], m["to"]),
            PEOPLE: lambda: m["people"],
            LIVE: lambda: m["offset"],
        }[kind]())

    def replay(self, m):
        data, n = base64.b64decode(m["data"]), m.get("preamble", 0)
        if n:
            self.preamble, self.next = data[:n], None
        return m["offset"], data[n:]

    def wait(self, test, seconds=20):
        """Reads until test() is true; False when it never is."""
        end = time.monotonic() + seconds
        while not test():
            left = end - time.monotonic()
            if self.gone or left <= 0 or not self.read(left):
                return bool(test())
        return True

    def until(self, what, seconds=20):
        at = 0

        def there():
            nonlocal at
            found = self.out.find(what, at) >= 0
            at = max(0, len(self.out) - len(what))
            return found
        if not self.wait(there, seconds):
            raise RuntimeError(f"{what!r} is not in {self.out[-500:]!r}; "
                               f"{self.events!r}")

    def until_event(self, kind, seconds=20):
        if not self.wait(lambda: self.of(kind), seconds):
            raise RuntimeError(f"{kind:#x} did not come: {self.events!r}")
        return self.of(kind)[-1]

    def until_gone(self, seconds=20):
        return self.wait(lambda: self.gone, seconds)

    def drain(self, seconds=0.2):
        """Reads what comes until nothing has come for a while."""
        while self.read(seconds):
            pass

    # what a client says
    def type(self, data):
        if isinstance(data, str):
            data = data.encode()
        for i in range(0, len(data), 16000):
            self.say(b"\0" + data[i:i + 16000])

    def resize(self, cols, rows):
        self.say(struct.pack(">BHH", 1, cols, rows))

    def ack(self, offset=None):
        self.say(struct.pack(">BQ", 3, self.next if offset is None
                             else offset))

    def close(self):
        self.s.close()


class Attached(Terminal):
    """ATTACH over the control protocol."""

    def __init__(self, client, sid, options=""):
        """client is a connection that may speak still."""
        super().__init__()
        self.client = client
        self.s = self.client.s
        self.answer = self.client.cmd(f"ATTACH {sid} {options}".strip())
        self.buf, self.client.buf = self.client.buf, b""
        self.take()

    def take(self):
        while len(self.buf) >= 4:
            n = struct.unpack(">I", self.buf[:4])[0]
            if len(self.buf) < 4 + n:
                return
            m, self.buf = self.buf[4:4 + n], self.buf[4 + n:]
            self.binary(m)

    def read(self, seconds):
        if not select.select([self.s], [], [], seconds)[0]:
            return False
        try:
            data = self.s.recv(1 << 20)
        except ConnectionError:
            data = b""
        if not data:
            self.gone = True
            return False
        self.buf += data
        self.take()
        return True

    def say(self, m):
        self.s.sendall(struct.pack(">I", len(m)) + m)


def http_head(s):
    """The head of an answer, and what came after it."""
    buf = b""
    while b"\r\n\r\n" not in buf:
        d = s.recv(65536)
        if not d:
            break
        buf += d
    head, _, rest = buf.partition(b"\r\n\r\n")
    return head.decode("latin-1"), rest


class Refused(Exception):
    def __init__(self, status, head, body):
        super().__init__(f"{status}: {head!r} {body!r}")
        self.status, self.head, self.body = status, head, body


class WebSocket(Terminal):
    """The same over a WebSocket, from the handshake on."""

    def __init__(self, port, path, binary=True, protocols=(), headers=(),
                 host="127.0.0.1", sock=None, timeout=30):
        super().__init__()
        self.is_binary = binary
        self.code = self.reason = None
        self.pings = 0
        self.s = sock or socket.create_connection((host, port),
                                                  timeout=timeout)
        protocols = list(protocols) + (["lantern.bin.v1"] if binary else [])
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}:{port}",
                 "Upgrade: websocket", "Connection: Upgrade",
                 f"Sec-WebSocket-Key: {key}", "Sec-WebSocket-Version: 13"]
        if protocols:
            lines.append("Sec-WebSocket-Protocol: " + ", ".join(protocols))
        lines += [f"{k}: {v}" for k, v in headers]
        self.s.sendall("\r\n".join(lines + ["", ""]).encode())
        self.head, self.buf = http_head(self.s)
        status = self.head.split(" ")[1:2]
        if status != ["101"]:
            self.s.settimeout(2)
            try:
                while d := self.s.recv(65536):
                    self.buf += d
            except OSError:
                pass
            self.s.close()
            raise Refused(int(status[0]) if status else 0, self.head,
                          self.buf)
        self.take()

    def frame(self, opcode, data, fin=True, mask=b"\x11\x22\x33\x44"):
        n = len(data)
        head = bytes([(0x80 if fin else 0) | opcode])
        bit = 0x80 if mask else 0
        if n < 126:
            head += bytes([bit | n])
        elif n < 65536:
            head += struct.pack(">BH", bit | 126, n)
        else:
            head += struct.pack(">BQ", bit | 127, n)
        if mask:
            whole = mask * (n // 4 + 1)
            data = (int.from_bytes(data, "big") ^ int.from_bytes(
                whole[:n], "big")).to_bytes(n, "big") if n else b""
        return head + (mask or b"") + data

    def send(self, opcode, data, **kw):
        self.s.sendall(self.frame(opcode, data, **kw))

    def say(self, m):
        if self.is_binary:
            self.send(2, m)
        elif m[0] == 0:
            self.say_json(type="input",
                          data=base64.b64encode(m[1:]).decode())
        elif m[0] == 1:
            cols, rows = struct.unpack(">HH", m[1:])
            self.say_json(type="resize", cols=cols, rows=rows)
        else:
            self.say_json(type="ack", offset=struct.unpack(">Q", m[1:])[0])

    def say_json(self, **m):
        self.send(1, json.dumps(m).encode())

    def token(self, token, **more):
        if self.is_binary:
            self.send(2, b"\2" + token.encode())
        else:
            self.say_json(type="attach", token=token, **more)

    def one(self):
        """The next whole frame: (opcode, payload); None = not yet."""
        if len(self.buf) < 2:
            return None
        n, at = self.buf[1] & 0x7f, 2
        if n == 126:
            n, at = struct.unpack(">H", self.buf[2:4].ljust(2, b"\0"))[0], 4
        elif n == 127:
            n, at = struct.unpack(">Q", self.buf[2:10].ljust(8, b"\0"))[0], 10
        if len(self.buf) < at + n:
            return None
        first, m = self.buf[0], self.buf[at:at + n]
        self.buf = self.buf[at + n:]
        return first & 0xf, m

    def take(self):
        while (got := self.one()) is not None:
            opcode, m = got
            if opcode == 1:
                self.text(m)
            elif opcode == 2:
                self.binary(m)
            elif opcode == 8:
                self.code = struct.unpack(">H", m[:2])[0] if m else None
                self.reason = m[2:].decode()
            elif opcode == 9:
                self.pings += 1
                self.send(10, m)
            else:
                self.events.append(("pong", m))

    read = Attached.read
