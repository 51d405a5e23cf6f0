#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What a role that has been taken over may say to its peers, at random: kinds
# of messages that there are and are not, of every length, in any state, with
# all kinds of fds, values and ids.  It costs that role its life, again and
# again, and nobody else anything.
#
# DL_BABBLE	so many on each channel (200); above that all in both modes
# DL_SEED	from where the numbers come; printed with what fails
import os
import random
import signal
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from rogue import (HEADER, PAYLOAD_MAX, ROWS, blob, daemon, u32, u64)
from inst import Local
from taken import Stage, datagram
from dl import (AS_ROOT, SANITIZED, alone, helper, ok, run_tests, status_of,
                wait_for)
from tlsclient import with_tls

MESSAGES = int(os.environ.get("DL_BABBLE", "200"))
SEED = os.environ.get("DL_SEED", "1")
# of one role under one daemon, which waits longer before each restart; in
# all, so that there is an end where the first word costs the speaker his life
LIVES, LIVES_IN_ALL = 4, max(8, MESSAGES // 100)
PATIENCE = 120
# kB; a queue to who does not read has 8 MB, each channel of a role's one
GROWTH = (512 if SANITIZED else 64) * 1024
CHANNELS = (
    ("netproc", "spawner"), ("netproc", "idproc"), ("netproc", "parent"),
    ("idproc", "netproc"), ("idproc", "spawner"), ("idproc", "parent"),
    ("tlsproc", "netproc"), ("tlsproc", "idproc"), ("tlsproc", "parent"),
    ("launcher", "spawner"), ("launcher", "parent"),
    ("announcer", "parent"),
    ("spawner", "netproc"), ("spawner", "idproc"), ("spawner", "launcher"),
    ("spawner", "parent"),
    ("debugger", "spawner"), ("tracer", "spawner"),
)
# a session's own, which nobody starts again: whoever asks gets another one,
# at once, and so they have as many lives as it takes
INSTRUMENTS = ("debugger", "tracer")
MANY_LIVES = 30
# u u32, U u64, s text, v words with their zeros, r bytes to the end; what is
# not here is bytes at random
SHAPES = {
    "LOG": "us", "VIOLATION": "uus", "CLIENTS": "u", "AUTH": "s",
    "UPLOAD": "Us", "UPLOAD_OPEN": "Us", "UPLOAD_END": "U", "START": "uuuuu",
    "ARGS": "sv", "ENV": "ss", "ENVDEL": "s", "LABEL": "s",
    "LIMITS": "uUUUUU", "SIGNAL": "u", "SHARE": "us", "DEBUG": "u",
    "DEBUG_PORT": "u", "ARM": "U", "AUDIT": "Uu", "TOKEN_CREATE": "uUss",
    "TOKEN_REVOKE": "s", "KEY_MAKE": "uuu", "USAGE_WATCH": "u",
    "DBG_START": "uusr", "DBG_ASK": "ur", "TRC_START": "uusr",
    "TRC_ASK": "r", "QUOTA": "s", "NEW": "uuussvv", "RESIZE": "uu",
    "TTY_INPUT": "r", "PACE": "U", "HOLD": "uU", "SESSIONS_ALIVE": "u",
    "AUTHED": "uus", "IDENTITY": "sss", "SEES": "uuu", "RING": "u",
    "ROOM": "U", "RESULT": "us", "DOORBELL": "U", "USAGE": "UU",
    "SYSROOT_FD": "U", "TTY_MARKED": "Uuus", "DBG_ANSWER": "ur",
    "TRC_ANSWER": "ur", "KEY": "ssU", "POKE": "uuu", "FIND": "uuu",
    "SWEEP": "uu", "SAMPLE": "u", "USER_LIMITS": "uUU", "USER_USE": "u",
    "LOOKUP": "us", "RUN_FD": "u", "RAN": "uu", "RUN_FAILED": "uu",
    "POKED": "u", "FOUND": "u", "ATTACH_FD": "u", "ATTACHED": "uu",
    "ATTACH_FAILED": "uu", "INSTRUMENT_FD": "u", "INSTRUMENT_RAN": "u",
    "INSTRUMENT_FAILED": "uu", "JOB_FD": "u", "JOB": "u", "JOB_FAILED": "uu",
    "SAMPLED": "UU", "MDNS_STATE": "s", "PEER_IS": "uuusss",
    "PRINCIPAL": "uuusss", "ACCOUNT": "uuuusss", "TLS_READY": "Us",
    "TLS_CONN": "u", "TLS_PEER": "Us", "TLS_GONE": "U",
    "DBG_REPLY": "ur", "DBG_DOES": "u", "DBG_RUN": "ussvvv", "DBG_ARM": "U",
    "DBG_STATE": "uuuuu", "DBG_LOG": "us", "TRC_REPLY": "ur", "TRC_DOES": "u",
    "TRC_RUN": "svvu", "TRC_ARM": "U", "TRC_STATE": "uuu", "TRC_LOG": "us",
    "TRC_NAMED": "s",
}
EDGES = (0, 1, 2, 3, 4, 7, 64, 1000, 20000, 65535, 65536, 2**31 - 1, 2**31,
         2**32 - 2, 2**32 - 1)
TEXTS = ("", "x", "root", "..", "../../etc/shadow", "/etc/passwd", "a/../b",
         "x" * 63, "x" * 64, "x" * 255, "/" * 1023, "x" * 4096, "a\0b",
         "\x1b[2J\n", "LD_PRELOAD", "GLIBC_TUNABLES", "%s%n", "{}")
JSON = (b"{}", b'{"command":"start"}', b'{"command":"' + b"x" * 300 + b'"}',
        b"[" * 2000, b"null", b'{"command":1e999}')


class Babble:
    """What comes next on one channel, from a seed."""

    def __init__(self, sender, receiver, seed, sessions):
        self.r = random.Random(seed)
        self.sessions = sessions
        self.own = [x for x in ROWS if x["from"] in (sender, "child") and
                    x["to"] == receiver]
        self.others = [x for x in ROWS if x not in self.own]
        self.kinds = len(FDS)

    def number(self, bits):
        r = self.r
        n = r.choice((r.choice(EDGES), r.randrange(300),
                      r.getrandbits(bits)))
        return 2**bits - r.choice((1, 2, 8)) if r.random() < 0.1 else n

    def field(self, letter):
        r = self.r
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


class Victim:
    """A session of somebody else's, and what must not change."""

    def __init__(self, d):
        self.d = d
        self.c = d.client(d.bob)
        self.sid, s = self.c.start(helper("handler"), until=b"ready")
        self.pid = s["pid"]
        self.c.close()
        self.spawner = d.role_pid("spawner")
        self.had, self.rss = self.fds(), self.memory()

    def fds(self):
        return len(os.listdir(f"/proc/{self.spawner}/fd")) if AS_ROOT else 0

    def memory(self):
        return {r: int(status_of(self.d.role_pid(r)).get("VmRSS", "0").split(
            )[0]) for r in ("spawner", "netproc", "idproc", "launcher")}

    def output(self):
        """By whoever serves now; None while nobody does."""
        try:
            c = self.d.client(self.d.bob)
            try:
                return c.output(self.sid)
            finally:
                c.close()
        except (OSError, EOFError, KeyError, ValueError):
            return None

    def check(self, name, lost):
        """lost: the spawner may have been ended, and all sessions with it."""
        d = self.d
        ok(d.proc.poll() is None, f"{name}: the daemon lives")
        if lost or d.role_pid("spawner") != self.spawner:
            ok(lost, f"{name}: the spawner was not ended", d.log()[-1500:])
            ok(wait_for(lambda: serves(d), PATIENCE, 0.2),
               f"{name}: programs start again", d.log()[-1500:])
            return
        os.kill(self.pid, signal.SIGUSR1)
        ok(wait_for(lambda: self.output() == b"ready\nUSR1\n", PATIENCE, 0.2),
           f"{name}: another's output is whole", (self.output(),
                                                  d.log()[-1500:]))
        ok(wait_for(lambda: self.fds() <= self.had, PATIENCE, 0.2),
           f"{name}: no fd is left", (self.had, self.fds()))
        now = self.memory()
        ok(all(now[r] - self.rss[r] < GROWTH for r in now),
           f"{name}: none has grown", (self.rss, now))


class Asker:
    """Who has sessions with instruments, one after the other."""

    def __init__(self, d, role, keep):
        self.d, self.role, self.keep = d, role, keep
        self.n, self.asks = 0, []

    def next(self):
        """(one that has been taken over, its channel, its generation)"""
        self.n += 1
        with stage.changed:
            before = {t.pid for t in stage.all}
        j = Local(self.d, self.d.alice)
        j.command = self.role
        # it does not answer before it is told to
        j.put(start=True, name=f"babble-{self.n}",
              request={"command": "start"})
        self.asks.append(j)
        t = wait_for(lambda: self.come(before), PATIENCE)
        return (t, *t.peers()["spawner"][:2]) if t else None

    def come(self, before):
        with stage.changed:
            return next((t for t in stage.all if t.role == self.role and
                         t.pid not in before), None)

    def gone(self):
        """All that they have made is removed."""
        for j in self.asks:
            j.close()
        c = self.d.client(self.d.alice)
        try:
            return wait_for(lambda: not self.removes(c), PATIENCE, 0.2)
        finally:
            c.close()

    def removes(self, c):
        # some have given themselves other names
        left = [s for s in c.cmd("LIST") if s["id"] != self.keep]
        for s in left:
            c.cmd("KILL " + s["id"])
            c.cmd("DELETE " + s["id"])
        return left


def serves(d):
    try:
        c = d.client(d.alice)
        try:
            sid = c.upload(helper("handler")).get("id")
            return sid and "error_code" not in c.cmd("START " + sid)
        finally:
            c.close()
    except (OSError, EOFError, KeyError, ValueError):
        return False


def speaker(d, sender, receiver):
    """Who has that channel, and its number and generation; or None."""
    pids = d.children(sender)
    with stage.changed:
        there = [t for t in stage.all if t.pid in pids and t.alive()]
    for t in there:
        try:
            peers = t.peers()
        except EOFError:
            continue
        # a launcher in reserve has heard from nobody who could take it over
        if receiver in peers and (sender != "launcher" or
                                  "spawner" in peers):
            return (t, *peers[receiver][:2])
    return None


def speak(d, b, sender, receiver, n, victim):
    """So many messages, or as many as its lives are enough for."""
    said = lives = 0
    asker = Asker(d, sender, victim) if sender in INSTRUMENTS else None
    while said < n and lives < (MANY_LIVES if asker else LIVES):
        at = asker.next() if asker else wait_for(
            lambda: speaker(d, sender, receiver), PATIENCE)
        if not at:
            raise RuntimeError(f"no {sender} with a channel to {receiver}")
        t, channel, generation = at
        lives += 1
        try:
            while said < n:
                data, which, fds = b.next(generation)
                said += 1
                t.send(channel, data, which, fds)
            # one that does not read what it asked for, and ends half-way
            t.deaf(channel)
            row = b.r.choice(b.own)
            t.flood(channel, 5000, 200, datagram(
                row["name"], b.payload(row), generation=generation))
            t.exit(3)
        except EOFError:
            pass
    if asker:
        ok(asker.gone(), f"{sender}: its sessions can be removed")
    return said, lives


def channel(mode, sender, receiver):
    said = lives = part = 0
    name = f"{sender} to {receiver}"
    most = LIVES_IN_ALL * (MANY_LIVES // LIVES if sender in INSTRUMENTS else 1)
    while said < MESSAGES and lives < most:
        part += 1
        seed = f"{SEED}:{mode}:{sender}:{receiver}:{part}"
        with daemon(mode, CONF) as d:
            v = Victim(d)
            b = Babble(sender, receiver, seed, (bytes(16), bytes(range(16)),
                       bytes.fromhex(v.sid.replace("-", ""))))
            more, deaths = speak(d, b, sender, receiver, MESSAGES - said,
                                 v.sid)
            said, lives = said + more, lives + deaths
            v.check(f"{name}, seed {seed}", lost=sender in (
                "spawner", "launcher"))
            log = d.log()
            ok("\x1b" not in log and len(log) < 200000 + 1000 * more,
               f"{name}, seed {seed}: the log is clean, and not full of it",
               len(log))


def babbles(mode):
    for i, (sender, receiver) in enumerate(CHANNELS):
        # the code is the same in both modes: one each, and then the other
        if MESSAGES > 200 or (i + (mode == "user")) % 2 == 0 or not AS_ROOT:
            channel(mode, sender, receiver)


def files_to_send():
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
    one(os.pidfd_open(os.getpid()), "pidfd", "stream")
    one(os.open("/", os.O_RDONLY | os.O_DIRECTORY))
    one(os.open("/", os.O_PATH))
    one(os.open("/etc/passwd", os.O_RDONLY), "file", "waste", "stream")
    one(os.open("/dev/null", os.O_RDWR))
    one(os.open("/proc/self/ns/user", os.O_RDONLY), "image", "waste",
        "stream")
    return out, fit


FDS, FIT = files_to_send()
CONF = with_tls()[1]
stage = Stage(("netproc", "spawner", "launcher", "announcer", "idproc",
               "tlsproc", *INSTRUMENTS), flags=0, given=FDS)
run_tests(alone(babbles))
