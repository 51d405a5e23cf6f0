# SPDX-License-Identifier: ISC
"""A daemon whose netproc does what the test orders, and ways to order it."""
import atexit
import encodings.idna  # noqa: F401 - not readable for other users later
import json
import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../../e2e/lib"))
import dl  # noqa: E402

HEADER = struct.Struct("=IIQII16s")
TABLE = json.loads(subprocess.check_output([dl.helper("rows")]))
ROWS = TABLE["rows"]
BY_NAME = {r["name"]: r for r in ROWS}
BY_TYPE = {r["type"]: r for r in ROWS}
ROLE = {n: i for i, n in enumerate(TABLE["roles"])}
ERR = {n: i for i, n in enumerate(TABLE["errors"])}
PAYLOAD_MAX = TABLE["payload_max"]
PARENT, SPAWNER, IDPROC = ROLE["parent"], ROLE["spawner"], ROLE["idproc"]
LOGGER = ROLE["logger"]
NO_SESSION = bytes(16)
(NONE, SELF, GOT, DIR, SOCKET, FIFO, PATH, FILE, MEMFD, MAPPED, PIDFD, NULL,
 EPOLL, NAMESPACE, CLOSED_TCP, LISTENER) = range(16)
KINDS = dict(NONE=NONE, SELF=SELF, DIR=DIR, SOCKET=SOCKET, FIFO=FIFO,
             PATH=PATH, FILE=FILE, MEMFD=MEMFD, MAPPED=MAPPED, PIDFD=PIDFD,
             NULL=NULL, EPOLL=EPOLL, NAMESPACE=NAMESPACE,
             CLOSED_TCP=CLOSED_TCP, LISTENER=LISTENER)


def is_side(side, role):
    """A row's sender or receiver may be that role."""
    return side == role or side == "child" and role != "parent" or \
        side == "inst" and role in ("debugger", "tracer")


def u32(*v):
    return struct.pack(f"={len(v)}I", *v)


def u64(*v):
    return struct.pack(f"={len(v)}Q", *v)


def blob(b):
    b = b.encode() if isinstance(b, str) else b
    return u32(len(b)) + b


def with_roles(**replaced):
    """From now on daemons of this test run these programs as roles."""
    stage = tempfile.mkdtemp(prefix="dl-rogue-")
    atexit.register(shutil.rmtree, stage, True)
    os.chmod(stage, 0o755)
    shutil.copytree(dl.BIN, stage + "/bin")
    libexec = stage + "/libexec/debuglantern"
    shutil.copytree(dl.LIBEXEC, libexec)
    for role, program in replaced.items():
        os.unlink(f"{libexec}/{role}")
        shutil.copy(program, f"{libexec}/{role}")
    dl.BIN = stage + "/bin"


def daemon(mode, conf=""):
    """One that knows ALICE and BOB by name in system mode.

    They are in a copy of the accounts that only this daemon sees."""
    if mode == "system":
        with dl.passwd_wrapper(("dl-alice", dl.ALICE),
                               ("dl-bob", dl.BOB)) as wrapper:
            d = dl.Daemon(mode, conf, wrapper=wrapper)
    else:
        d = dl.Daemon(mode, conf)
    d.alice = dl.ALICE if dl.AS_ROOT else None
    d.bob = dl.BOB if mode == "system" else d.alice
    return d


class Message:
    def __init__(self, data, fd):
        (self.type, _, self.request, self.conn, self.generation,
         self.session) = HEADER.unpack_from(data)
        self.name = BY_TYPE[self.type]["name"]
        self.payload = data[HEADER.size:]
        self.fd = fd

    def numbers(self, form):
        return struct.unpack_from("=" + form, self.payload)

    def error(self):
        """Of a RESULT: the name of its code, "OK" when it worked."""
        return TABLE["errors"][self.numbers("I")[0]]

    def __repr__(self):
        return f"{self.name} {self.payload[:60]!r}"


class Rogue:
    """An order connection to the rogue netproc, as a user."""
    # what came in, by the rogue's pid: it is the same for all connections
    seen_by = {}

    def __init__(self, d, uid):
        self.d = d
        self.s = dl.connect("127.0.0.1", d.port, uid, 10)
        self.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.spawner_gen, self.idproc_gen, self.conn, self.pid = \
            struct.unpack("=4I", self.order("A"))
        # no two connections have the same ones
        self.requests = (1 << 56) + (self.conn << 20)
        self.seen = self.seen_by.setdefault(self.pid, [])

    def close(self):
        self.s.close()

    def order(self, letter, fields=b""):
        data = letter.encode() + fields
        self.s.sendall(u32(len(data)) + data)
        n = struct.unpack("=I", self.exact(4))[0]
        return self.exact(n)

    def exact(self, n):
        out = b""
        while len(out) < n:
            d = self.s.recv(n - len(out))
            if not d:
                raise EOFError("the rogue has gone")
            out += d
        return out

    def generation(self, peer):
        return {SPAWNER: self.spawner_gen, IDPROC: self.idproc_gen}.get(
            peer, 0)

    def datagram(self, name, payload=b"", peer=SPAWNER, session=NO_SESSION,
                 conn=None, request=0, generation=None, length=None):
        t = BY_NAME[name]["type"] if isinstance(name, str) else name
        return HEADER.pack(
            t, len(payload) if length is None else length, request,
            self.conn if conn is None else conn,
            self.generation(peer) if generation is None else generation,
            session) + payload

    def send_raw(self, peer, data, kind=NONE, fds=None, got=0):
        """0 or the errno of sendmsg."""
        if fds is None:
            fds = 0 if kind == NONE else 1
        r = self.order("S", u32(peer, kind, fds, got) + data)
        return struct.unpack("=q", r)[0]

    def send(self, name, payload=b"", peer=SPAWNER, kind=NONE, fds=None,
             got=0, **head):
        return self.send_raw(peer, self.datagram(name, payload, peer, **head),
                             kind, fds, got)

    def messages(self):
        """Everything that came since the last call, kept in .seen too."""
        data, out = self.order("R"), []
        while data:
            n, fd = struct.unpack_from("=II", data)
            out.append(Message(data[8:8 + n], None if fd == 2**32 - 1 else
                               fd))
            data = data[8 + n:]
        self.seen += out
        return out

    def wait(self, want, seconds=60):
        """The first message for which want(m) is true; others are kept."""
        at = [0]

        def look():
            self.messages()
            while at[0] < len(self.seen):
                at[0] += 1
                if want(self.seen[at[0] - 1]):
                    return self.seen.pop(at[0] - 1)
            return None
        m = dl.wait_for(look, seconds)
        if m is None:
            raise RuntimeError(f"no such answer among {self.seen[-10:]}")
        return m

    def ask(self, name, payload=b"", session=NO_SESSION, **kw):
        """The answer of the spawner to a request."""
        self.requests += 1
        n = self.requests
        e = self.send(name, payload, session=session, request=n, **kw)
        if e:
            raise RuntimeError(f"{name} could not be sent: {os.strerror(e)}")
        return self.wait(lambda m: m.request == n)

    def identify(self):
        """As an honest netproc does it: who is at the other end?"""
        self.send("WHO", peer=IDPROC, kind=SELF)
        m = self.wait(lambda m: m.name == "PEER_IS" and m.conn == self.conn)
        if m.numbers("I")[0] != 0:
            raise RuntimeError("refused: " + repr(m.payload))
        self.wait(lambda m: m.name == "SYNCED" and m.conn == self.conn)
        return self

    def write(self, fd, at, data):
        return struct.unpack("=q", self.order("W", u32(fd) + u64(at) +
                                              data))[0]

    def read(self, fd, n, at=0):
        return self.order("P", u32(fd) + u64(at) + u32(n))

    def map(self, fd, slot, n):
        return struct.unpack("=q", self.order("M", u32(fd, slot, n)))[0]

    def poke(self, slot, data):
        return struct.unpack("=q", self.order("m", u32(slot) + data))[0]

    def flood(self, peer, n, data, ms=5000, kind=NONE):
        """How many were sent, and the last errno."""
        return struct.unpack("=qq", self.order(
            "F", u32(peer, n, ms, kind) + data))

    def deaf(self, peer):
        self.order("D", u32(peer))

    def call(self, nr, *args, data=b"", self_fd=False):
        """A system call; bytes stand for a pointer to them."""
        mask, values = 0, []
        for i, a in enumerate(args):
            if isinstance(a, bytes):
                mask |= 1 << i
                values.append(len(data))
                data += a + b"\0" * (-len(a) % 8)
            else:
                values.append(a & (2**64 - 1))
        values += [0] * (6 - len(values))
        r = self.order("C", u32(nr, mask, 1 if self_fd else 0) +
                       u64(*values) + data)
        return struct.unpack_from("=q", r)[0]

    def exit(self, status=0):
        try:
            self.order("X", u32(status))
        except (EOFError, ConnectionError):
            pass

    def is_dead(self, seconds=60):
        """Whether the rogue's process has gone."""
        self.s.settimeout(seconds)
        try:
            return self.s.recv(1) == b""
        except ConnectionError:
            return True
        except socket.timeout:
            return False

    # -- what an honest netproc does, for sessions to attack or to protect

    def upload(self, data, path=""):
        m = self.ask("UPLOAD", u64(len(data)) + blob(path) +
                     blob(""))
        if m.name != "ROOM":
            raise RuntimeError(m.error())
        for at in range(0, len(data), 1 << 20):
            self.write(m.fd, at, data[at:at + (1 << 20)])
        r = self.ask("UPLOADED", session=m.session)
        if r.error() != "OK":
            raise RuntimeError(f"{r}")
        return m.session

    def start(self, session, flags=0):
        r = self.ask("START", u32(flags, 3, 2, 0, 0), session=session)
        if r.error() != "OK":
            raise RuntimeError(f"{r}")
        ring = self.wait(lambda m: m.name == "RING" and m.session == session)
        return ring.fd

    def view(self, session):
        """(state bits, pid) as last pushed."""
        self.messages()
        for m in reversed(self.seen):
            if m.name == "SESSION" and m.session == session:
                n = m.numbers("II")[1]
                at = 8 + n
                return struct.unpack_from("=Ii", m.payload, at)
            if m.name == "SESSION_GONE" and m.session == session:
                return None
        return None
