# SPDX-License-Identifier: ISC
"""Messages at random: what a role that has been taken over may say."""
import json
import os
import random
import socket
import struct

from reader import FUTURE_WRITE, Honest, damaged, program, sealed
from rogue import (BY_NAME, HEADER, PAYLOAD_MAX, ROWS, blob, is_side, u32,
                   u64)
from taken import datagram

SEED = os.environ.get("DL_SEED", "1")

# u u32, U u64, k a small number, p a pid that nobody has, s text, h hexadecimal
# text, v words with their zeros, r bytes to the end, R a request to an
# instrument, T some numbers after how many they are, N pairs of texts after
# that; what is not here is bytes at random
SHAPES = {
    "LOG": "us", "HOSTLOG_LOST": "", "VIOLATION": "uus", "CLIENTS": "u", "AUTH": "s",
    "UPLOAD": "Uss", "UPLOAD_OPEN": "Uss", "UPLOAD_END": "U", "START": "uuuuu",
    "ARGS": "sv", "ENV": "ss", "ENVDEL": "s", "LABEL": "s",
    "LIMITS": "uUUUUU", "SIGNAL": "u", "SHARE": "us", "DEBUG": "u",
    "DEBUG_PORT": "u", "ARM": "U", "AUDIT": "Uu", "TOKEN_CREATE": "uUss",
    "TOKEN_REVOKE": "s", "KEY_MAKE": "uuu", "USAGE_WATCH": "u",
    "INST_START": "kuusr", "INST_ASK": "kur", "QUOTA": "s", "NEW": "uuussvv", "RESIZE": "uu",
    "TTY_INPUT": "r", "FLOW": "U", "HOLD": "uU", "ACCEPT": "", "SESSIONS_ALIVE": "u",
    "AUTHED": "uus", "IDENTITY": "sss", "SEES": "uuuu", "RING": "u",
    "ROOM": "U", "RESULT": "us", "OUTPUT_NOTICE": "U", "USAGE": "UU",
    "SYSROOT_FD": "U", "TTY_MARKED": "Uuus", "INST_ANSWER": "kur",
    "KEY": "ssU", "SEND_SIGNAL": "uuu", "FIND": "uuu",
    "SWEEP": "uu", "SAMPLE": "u", "USER_LIMITS": "uUU", "USER_USE": "u",
    "LOOKUP": "us", "RUN_FD": "u", "RAN": "uu", "RUN_FAILED": "uu",
    "SIGNAL_SENT": "u", "FOUND": "u", "ATTACH_FD": "u", "ATTACHED": "uu",
    "ATTACH_FAILED": "uu", "INSTRUMENT_FD": "u", "INSTRUMENT_RAN": "u",
    "INSTRUMENT_FAILED": "uu", "JOB_FD": "u", "JOB": "u", "JOB_FAILED": "uu",
    "SAMPLED": "UU", "MDNS_STATE": "s", "PEER_IS": "uuusss",
    "PRINCIPAL": "uuusss", "ACCOUNT": "uuuussss", "TLS_READY": "Us",
    "TLS_CONN": "u", "TLS_PEER": "Us", "TLS_GONE": "U",
    "INST_REPLY": "ur", "INST_DOES": "u", "INST_ARM": "U", "INST_LOG": "us",
    "DBG_RUN": "ussvvv", "DBG_STATE": "uuuuu", "TRC_RUN": "svvu",
    "TRC_STATE": "uuu", "TRC_NAMED": "s",
    "INST_RING": "u", "INST_REQUEST": "uuR", "INST_RUN_FAILED": "ss",
    "INST_OUTPUT_NOTICE": "U", "DBG_HELLO": "uussssvuuuuuuuUN", "DBG_FD": "k",
    "DBG_RAN": "uuus", "DBG_ENDED": "kuu", "DBG_DRAINED": "U",
    "TRC_HELLO": "uussssvuukUUUUUsu", "TRC_FILE": "k", "TRC_RAN": "pu",
    "TRC_ENDED": "uu", "TRC_SYMBOLS_FAILED": "s",
    "TRC_USED": "U", "SYM_TYPES": "T", "SYM_OPENED": "Uh", "SYM_INDEX": "U",
    "SYM_FAILED": "ss",
}
EDGES = (0, 1, 2, 3, 4, 7, 64, 1000, 20000, 65535, 65536, 2**31 - 1, 2**31,
         2**32 - 2, 2**32 - 1)
TEXTS = ("", "x", "root", "..", "../../etc/shadow", "/etc/passwd", "a/../b",
         "x" * 63, "x" * 64, "x" * 255, "/" * 1023, "x" * 4096, "a\0b",
         "\x1b[2J\n", "LD_PRELOAD", "GLIBC_TUNABLES", "%s%n", "{}")
JSON = (b"{}", b'{"command":"start"}', b'{"command":"' + b"x" * 300 + b'"}',
        b"[" * 2000, b"null", b'{"command":1e999}')
# what instruments are asked; the last are for both
REQUESTS = {
    "tracer": (("launch", {"command": "/bin/true"}), ("attach", {}),
               ("trace", {"add": ["**"]}), ("trace", {"remove": ["**"]}),
               ("functions", {}), ("query", {"verbose": True}),
               ("follow", {}), ("sql", {"query": "select 1"}),
               ("export", {"format": "chrome"}), ("read", {"number": 1}),
               ("resume", {})),
    "debugger": (("start", {"program": "/bin/true", "adapter": "toy"}),
                 ("attach", {"pid": 0}), ("continue", {}), ("pause", {}),
                 ("step", {}), ("break", {"function": "main"}),
                 ("print", {"expression": "1"}), ("backtrace", {}),
                 ("detach", {}), ("kill", {})),
    None: (("status", {}), ("stop", {}), ("", {}), ("x" * 300, {})),
}


class Babble:
    """What comes next on one channel, from a seed."""

    def __init__(self, sender, receiver, seed, sessions):
        self.r = random.Random(seed)
        self.receiver, self.sessions = receiver, sessions
        self.own = [x for x in ROWS if is_side(x["from"], sender) and
                    x["to"] in (receiver, "inst" if receiver in (
                        "debugger", "tracer") else receiver)]
        self.others = [x for x in ROWS if x not in self.own]
        # the other end of a channel on which it has nothing to say
        self.own = self.own or self.others
        self.kinds = len(FDS)
        self.said = []

    def number(self, bits):
        r = self.r
        n = r.choice((r.choice(EDGES), r.randrange(300),
                      r.getrandbits(bits)))
        return 2**bits - r.choice((1, 2, 8)) if r.random() < 0.1 else n

    def begin(self):
        """Somebody else says what comes from now on."""

    def small(self):
        return self.r.randrange(4) if self.r.random() < 0.7 else \
            self.r.choice(EDGES)

    def nobody(self):
        """No pid is as large as that."""
        return self.r.choice((0, 2**22 + 1, 2**31 - 1, 2**31, 2**32 - 1))

    def request(self):
        r = self.r
        if r.random() < 0.2:
            return r.choice(JSON)
        name, args = r.choice(REQUESTS.get(self.receiver, ()) +
                              REQUESTS[None])
        if r.random() < 0.3:
            args = dict(args, **{r.choice(list(args) or ["x"]): r.choice((
                None, -1, 1e300, "", "x" * 5000, [], {}, ["/" * 600]))})
        return json.dumps({"command": name, "args": args}).encode()

    def list_of(self, letters):
        n = self.r.choice((0, 1, 2, 3, 17))
        told = n if self.r.random() < 0.8 else self.r.choice(EDGES)
        return u32(told) + b"".join(self.field(x) for x in letters * n)

    def field(self, letter):
        r = self.r
        special = {"k": lambda: u32(self.small()), "R": self.request,
                   "p": lambda: u32(self.nobody()),
                   "h": lambda: blob(r.randbytes(r.choice((0, 4, 20, 64))
                                                 ).hex()),
                   "T": lambda: self.list_of("u"),
                   "N": lambda: self.list_of("ss")}
        if letter in special:
            return special[letter]()
        if letter == "u":
            return u32(self.number(32) % 2**32)
        if letter == "U":
            return u64(self.number(64) % 2**64)
        if letter == "r":
            return r.choice((r.choice(JSON), r.randbytes(r.randrange(100))))
        text = r.choice(TEXTS).encode()
        if letter == "v":
            text = b"".join(x.replace(b"\0", b"") + b"\0" for x in
                            (text, r.choice(TEXTS).encode()))
        # now and then it says that it is longer than it is
        return blob(text) if r.random() > 0.05 else \
            u32(r.choice(EDGES)) + text

    def payload(self, row):
        shape = SHAPES.get(row["name"])
        if shape is None:
            n = min(row["max"], row["min"] + self.r.choice((0, 0, 4, 64)))
            return self.r.randbytes(n)
        data = b"".join(self.field(x) for x in shape)
        return data[:row["max"]].ljust(row["min"], b"\0")

    def fds(self, row):
        """(which of those it was given, how many)."""
        r = self.r
        if row["fd"] == "none":
            return (0, 0)
        want = FIT.get(row["fd"], range(self.kinds))
        return (r.choice(list(want)), 1)

    def spoilt(self, row, data, fds):
        """One thing is not as the table has it."""
        r, n = self.r, len(data)
        how = r.randrange(8)
        head = {}
        if how == 0:
            row = {"name": r.choice((0, len(ROWS) + 1, 0xffff, 2**31,
                                     2**32 - 1))}
        elif how == 1:
            row = r.choice(self.others)
            data = bytes(row["min"])
        elif how == 2:
            data = data + b"\0" if r.random() < 0.5 else data[:-1]
        elif how == 3:
            data = bytes(r.choice((0, max(row["min"] - 1, 0), min(
                row["max"] + 1, PAYLOAD_MAX), PAYLOAD_MAX)))
        elif how == 4:
            head = {"length": r.choice((n + 1, n - 1, 0, 2**32 - 1))}
        elif how == 5:
            head = {"generation": self.number(32)}
        elif how == 6:
            fds = (r.randrange(self.kinds), r.choice((1, 2, 253)))
        else:
            fds = (0, 0)
        return row["name"], data, fds, head

    def next(self, generation):
        """(datagram, which fd, how many of it)"""
        r = self.r
        row = r.choice(self.own)
        # a second one ends whoever hears it, and few hear what follows
        if row["name"].endswith("_HELLO") and r.random() < 0.8:
            row = r.choice(self.own)
        data, fds, head = self.payload(row), self.fds(row), {}
        name = row["name"]
        if r.random() < 0.04:
            name, data, fds, head = self.spoilt(row, data, fds)
        head = {"generation": generation, **head}
        head["generation"] %= 2**32
        d = datagram(name, data, session=r.choice(self.sessions),
                     conn=r.choice((0, 1, 2, 3, r.getrandbits(32))),
                     request=r.choice((0, 1, r.getrandbits(64))), **head)
        if r.random() < 0.005:
            d = d[:r.randrange(1, HEADER.size)]
        return (d, *fds)


class Reader(Babble):
    """One that reads symbols: a part of it is as it would be."""

    def begin(self):
        r, h = self.r, HONEST
        n = r.choice((0, 1, 2, 2, 2))
        self.told = r.randrange(len(h.typed) + 1) if n == 2 else 0
        self.first = [("SYM_OPENED", h.opened, (0, 0)), (
            "SYM_INDEX", u64(len(h.index)), (FIT["index"][0], 1))][:n]
        self.first += [("SYM_TYPED", x, (0, 0)) for x in h.typed[:self.told]]

    def says(self):
        """(name, payload, fds) of the next one."""
        r = self.r
        if self.first:
            return self.first.pop(0)
        how = r.randrange(8)
        if how < 5 and self.told < len(HONEST.typed):
            data = HONEST.typed[self.told]
            self.told += 1
            # what it is about is right, so that it is looked at
            return "SYM_TYPED", data[:4] + damaged(r, data[4:], EDGES), (0, 0)
        if how < 6:
            return "SYM_INDEX", u64(self.number(64) % 2**64), (
                r.choice(FIT["index"]), 1)
        return None

    def next(self, generation):
        said = self.says()
        if said is None:
            return super().next(generation)
        name, data, fds = said
        data = data[:BY_NAME[name]["max"]].ljust(BY_NAME[name]["min"], b"\0")
        return (datagram(name, data, generation=generation), *fds)


RING_MARKS = 4096


def bad_ring(r):
    """One whose numbers are beyond all that it has."""
    size = 4096
    head = struct.pack("=QQQQQ", 0x676e69726c6744, size, 2**63, 2**63 + 5,
                       2**64 - 1).ljust(4096, b"\0")
    marks = b"".join(struct.pack("=QII", r.getrandbits(64), r.getrandbits(
        32), 0) for _ in range(RING_MARKS))
    return sealed(head + marks + r.randbytes(size), FUTURE_WRITE)


def files_to_send(r):
    """{kind of the table: those that are of it}, and all the fds."""
    out, fit = [], {}

    def one(fd, *kinds):
        for k in kinds:
            fit.setdefault(k, []).append(len(out))
        out.append(fd)
    pair = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for s in (*pair, socket.create_server(("127.0.0.1", 0))):
        one(s.detach(), "socket", "stream")
    for fd in os.pipe():
        one(fd, "pipe", "stream")
    one(os.memfd_create("x", os.MFD_ALLOW_SEALING), "memfd", "image", "waste",
        "file")
    one(bad_ring(r), "memfd")
    one(sealed(HONEST.index), "memfd", "index")
    one(sealed(HONEST.index, 0), "memfd", "index")
    for _ in range(7):
        one(sealed(damaged(r, HONEST.index, EDGES)), "index")
    one(os.pidfd_open(os.getpid()), "pidfd", "stream")
    one(os.open("/", os.O_RDONLY | os.O_DIRECTORY))
    one(os.open("/", os.O_PATH))
    one(os.open("/etc/passwd", os.O_RDONLY), "file", "waste", "stream")
    one(os.open("/dev/null", os.O_RDWR))
    one(os.open("/proc/self/ns/user", os.O_RDONLY), "image", "waste",
        "stream")
    return out, fit


PROGRAM, LIBRARY = program()
HONEST = Honest(LIBRARY)
FDS, FIT = files_to_send(random.Random(SEED))
