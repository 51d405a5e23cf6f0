#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What a role that has been taken over may say to its peers, at random: kinds
# of messages that there are and are not, of every length, in any state, with
# all kinds of fds, values and ids.  It costs that role its life, again and
# again, and nobody else anything.
#
# DL_BABBLE	so many on each channel (200); above that all in both modes
# DL_CHANNEL	this one alone, as in symbols:tracer
# DL_SEED	from where the numbers come; printed with what fails
import errno
import json
import os
import re
import select
import signal
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from rogue import ROWS, blob, daemon
from babble import FDS, PROGRAM, SEED, Babble, Reader
from inst import Local
from taken import Stage, datagram
from dl import (AS_ROOT, SANITIZED, alone, eq, helper, ok, run_tests,
                stat_of, status_of, wait_for)
from tlsclient import with_tls

ONLY = os.environ.get("DL_CHANNEL", "")
MESSAGES = int(os.environ.get("DL_BABBLE", "200"))
# of one role under one daemon, which waits longer before each restart; in
# all, so that there is an end where the first word costs the speaker its life
LIVES, LIVES_IN_ALL = 4, max(4, MESSAGES // 100)
PATIENCE = 120
# kB; a queue to who does not read has 8 MB, each channel of a role's one
GROWTH = (512 if SANITIZED else 64) * 1024
CHANNELS = (
    ("netproc", "spawner"), ("netproc", "idproc"), ("netproc", "parent"),
    ("idproc", "netproc"), ("idproc", "spawner"), ("idproc", "parent"),
    ("tlsproc", "netproc"), ("tlsproc", "idproc"), ("tlsproc", "parent"),
    ("netproc", "tlsproc"), ("idproc", "tlsproc"),
    ("acctproc", "idproc"), ("acctproc", "parent"), ("idproc", "acctproc"),
    ("launcher", "spawner"), ("launcher", "parent"),
    ("announcer", "parent"),
    ("spawner", "netproc"), ("spawner", "idproc"), ("spawner", "launcher"),
    ("spawner", "parent"), ("logger", "parent"),
    ("netproc", "logger"), ("spawner", "logger"), ("launcher", "logger"),
    ("idproc", "logger"), ("tlsproc", "logger"), ("acctproc", "logger"),
    ("announcer", "logger"), ("logger", "netproc"), ("logger", "spawner"),
    ("logger", "launcher"), ("logger", "idproc"), ("logger", "tlsproc"),
    ("logger", "acctproc"), ("logger", "announcer"),
    ("debugger", "spawner"), ("tracer", "spawner"),
    ("spawner", "debugger"), ("spawner", "tracer"),
    ("symbols", "tracer"), ("tracer", "symbols"),
)
# It is believed: it starts them, and has given each all that it has.
BELIEVED = "parent"
# a session's own, which nobody starts again: whoever asks gets another one,
# at once, and so they have as many lives as it takes
INSTRUMENTS = ("debugger", "tracer")
MANY_LIVES = 30
# of those that nobody ends for it: then the next one has its turn
TURN = 12
# what says that its channel has been closed
CLOSED = (errno.EPIPE, errno.EBADF, errno.ECONNRESET)
REQUESTS = {
    "tracer": {"command": "launch", "args": {
        "command": PROGRAM, "cwd": "/", "trace": {"add": ["**"]}}},
    "debugger": {"command": "start", "args": {
        "program": helper("sleeper"), "args": [], "cwd": "/", "env": [],
        "adapter": "toy", "stop_on_entry": True}},
}
# what runs for such a session
PROCESSES = ("tracer", "symbols", "babbled", "debugger", "toy_adapter",
             "sleeper")


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


class Works(Asker):
    """Whose sessions' instruments do their work, and hear what is sent."""

    def __init__(self, d, sender, receiver, b, keep):
        super().__init__(d, receiver if receiver in INSTRUMENTS else sender,
                         keep)
        self.sender, self.receiver, self.b = sender, receiver, b
        self.inst, self.known, self.seen = None, set(), 0
        self.spoken = 0

    def next(self):
        if self.sender == "symbols" and self.inst is not None:
            t = wait_for(lambda: self.reader() or self.answered(), PATIENCE)
            if t not in (None, True):
                return self.of(t, "tracer")
        self.look()
        self.begin()
        if self.sender == "symbols":
            return self.of(wait_for(self.reader, PATIENCE), "tracer")
        # all of it is there, or only just its channel
        if self.sender == "spawner" and self.b.r.random() < 0.8:
            wait_for(self.answered, PATIENCE)
        t = self.inst if self.sender == "tracer" else stage.get(
            "spawner", self.d.role_pid("spawner"))
        return self.of(t, self.receiver)

    def begin(self):
        c = self.d.client(self.d.alice)
        wait_for(lambda: not self.removes(c), PATIENCE)
        c.close()
        with stage.changed:
            before = {t.pid for t in stage.all}
        self.known |= before
        self.seen = len(self.d.log())
        self.spoken = 0 if self.b is None else len(self.b.said)
        self.n += 1
        j = Local(self.d, self.d.alice)
        j.command = self.role
        j.put(start=True, name=f"babble-{self.n}",
              request=REQUESTS[self.role])
        self.asks.append(j)
        self.inst = wait_for(lambda: self.come(before), PATIENCE)

    def reader(self):
        """One that has not spoken yet."""
        with stage.changed:
            t = next((t for t in stage.all if t.role == "symbols" and
                      t.pid not in self.known and t.alive()), None)
        if t is not None:
            self.known.add(t.pid)
        return t

    def end_reader(self):
        t = self.reader()
        if t is not None:
            t.exit(3)

    @staticmethod
    def of(t, peer):
        if not t or not wait_for(lambda: peer in t.peers(), PATIENCE):
            return None
        return (t, *t.peers()[peer][:2])

    def answered(self):
        j = self.asks[-1]
        return bool(j.buf or select.select([j.s], [], [], 0)[0])

    def look(self):
        """What became of who heard it."""
        if self.inst is None:
            return
        if self.sender == "symbols":
            name = f"babble-{self.n}"
            # the answer to the launch, whatever it is, and what follows
            wait_for(lambda: self.answered() or self.end_reader(), PATIENCE)
            said = [self.asks[-1].get() if self.answered() else None,
                    self.asks[-1].ask(session=name, request={
                        "command": "query", "args": {"verbose": True}})]
            self.last = said[0]
            if None in said or not self.inst.alive() or \
                    "take long to read" in str(said):
                ok(False, f"{name}: its tracer works on",
                   (said, self.d.log()[-3000:]))
        elif self.sender == "spawner" and not self.inst.alive() and \
                not self.ordered() and not wait_for(self.reason, 10, 0.5):
            ok(False, f"{self.receiver}: the log says why it has ended",
               (self.b.said[-6:], self.d.log()[self.seen:]))

    def ordered(self):
        """To stop is what anybody's request may ask of it."""
        return any(b'"command": "stop"' in x
                   for x in self.b.said[self.spoken:])

    def reason(self):
        said = re.search(
            f"{self.role} of [^ ]+: {self.sender} broke the message table: |"
            "; it is ended|deleted, as its|_refused |lines were left out",
            self.d.log()[self.seen:])
        if not said:
            # of lines that were too many the next one tells
            self.d.client(self.d.alice).close()
        return said

    def gone(self):
        self.look()
        good = super().gone() and wait_for(lambda: not self.left(), PATIENCE,
                                           0.2)
        if not good:
            ok(False, "nothing is left of it", self.left())
        return good

    def left(self):
        names = [(stat_of(p) or ("",))[0] for p in self.d.processes()]
        return [x for x in names if x in PROCESSES]


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


def asker_of(d, sender, receiver, b, keep):
    if sender in INSTRUMENTS and receiver == "spawner":
        return Asker(d, sender, keep)
    return Works(d, sender, receiver, b, keep) if {
        sender, receiver} & set(INSTRUMENTS) else None


def turn(t, b, channel, generation, n):
    """How many of so many messages were sent before it was cut off."""
    b.begin()
    for said in range(n):
        data, which, fds = b.next(generation)
        b.said.append(data[:200])
        if t.send(channel, data, which, fds) in CLOSED:
            return said + 1
    return n


def end(t, b, channel, generation, lives_on):
    """One that does not read what it asked for, and ends half-way."""
    if not lives_on or b.r.random() < 0.3:
        t.deaf(channel)
    row = b.r.choice(b.own)
    t.flood(channel, 5000, 200, datagram(
        row["name"], b.payload(row), generation=generation))
    if not lives_on:
        t.exit(3)


def speak(d, b, sender, receiver, n, victim):
    """So many messages, or as many as its lives are enough for."""
    said = lives = 0
    asker = asker_of(d, sender, receiver, b, victim)
    most = TURN if isinstance(asker, Works) else n
    while said < n and lives < (MANY_LIVES if asker else LIVES):
        at = asker.next() if asker else wait_for(
            lambda: speaker(d, sender, receiver), PATIENCE)
        if not at:
            raise RuntimeError(f"no {sender} with a channel to {receiver}")
        lives += 1
        try:
            said += turn(at[0], b, *at[1:], min(most, n - said))
            end(at[0], b, *at[1:], asker and sender == "spawner")
        except EOFError:
            said += 1
    if asker:
        ok(asker.gone(), f"{sender}: its sessions can be removed")
    return said, lives


def channel(mode, sender, receiver):
    said = lives = part = 0
    name = f"{sender} to {receiver}"
    inst = {sender, receiver} & set(INSTRUMENTS)
    most = LIVES_IN_ALL * (MANY_LIVES // LIVES if inst else 1)
    # who says what was ordered, and nothing of its own; all others work
    stage.held = (sender,) if sender == "symbols" or (
        sender, receiver) in ((x, "spawner") for x in INSTRUMENTS) else ()
    # a session and all its processes for each life is much
    want = MESSAGES // 2 if inst and "spawner" != receiver else MESSAGES
    while said < want and lives < most:
        part += 1
        seed = f"{SEED}:{mode}:{sender}:{receiver}:{part}"
        with daemon(mode, CONF) as d:
            v = Victim(d)
            b = (Reader if sender == "symbols" else Babble)(
                sender, receiver, seed, (bytes(16), bytes(range(16)),
                                         bytes.fromhex(v.sid.replace("-", ""))))
            more, deaths = speak(d, b, sender, receiver, want - said,
                                 v.sid)
            said, lives = said + more, lives + deaths
            v.check(f"{name}, seed {seed}", lost=not inst and sender in (
                "spawner", "launcher"))
            eq(stage.crashes(), [], f"{name}, seed {seed}: none has crashed")
            log = d.log()
            ok("\x1b" not in log and len(log) < 200000 + 1000 * more,
               f"{name}, seed {seed}: the log is clean, and not full of it",
               len(log))


def unasked_types(mode):
    """What nobody has asked for ends the reader, and no wait of anybody's."""
    stage.held = ("symbols",)
    with daemon(mode, CONF) as d:
        w = Works(d, "symbols", "tracer", None, None)
        w.begin()
        while t := wait_for(lambda: w.reader() or w.answered(), PATIENCE):
            if t is True:
                break
            _, channel, generation = w.of(t, "tracer")
            eq(t.send(channel, datagram("SYM_TYPED", bytes(16),
                                        generation=generation)), 0,
               "types before all else")
        ok(w.gone(), "nothing is left")
        said = json.dumps(w.last)
        ok("has answered what it was not asked" in said and
           "take long" not in said, "who asked is told at once", said)


def unasked_failure(mode):
    """A run that nobody ordered has failed: what is traced is traced on."""
    stage.held = ()
    with daemon(mode, CONF) as d:
        w = Works(d, "spawner", "tracer", None, None)
        w.begin()
        j = w.asks[-1]
        ok("result" in j.get(), "a program is traced")
        t, channel, generation = w.of(stage.get("spawner", d.role_pid(
            "spawner")), "tracer")

        def count():
            return j.ask(session="babble-1", request={
                "command": "query", "args": {"limit": 1}})["result"][
                    "totalCount"]
        ok(wait_for(count, PATIENCE), "its calls are recorded")
        t.send(channel, datagram("INST_RUN_FAILED", blob("busy") + blob("x"),
                                 generation=generation))
        n = count()
        ok(wait_for(lambda: count() > n, PATIENCE), "and go on to be",
           d.log()[-2000:])
        ok(w.gone(), "nothing is left")


def babbles(mode):
    for i, (sender, receiver) in enumerate(CHANNELS):
        if ONLY not in ("", f"{sender}:{receiver}"):
            continue
        # there is none in user mode
        if "acctproc" in (sender, receiver):
            if mode == "system":
                channel(mode, sender, receiver)
        # the code is the same in both modes: one each, and then the other
        elif MESSAGES > 200 or (i + (mode == "user")) % 2 == 0 or not AS_ROOT:
            channel(mode, sender, receiver)


def all_are_played():
    """Each end of each channel that the table of messages knows."""
    # attack/reload.t plays what reads the configuration
    rows = [x for x in ROWS if "setup" not in (x["from"], x["to"])]
    children = {x["from"] for x in rows if x["to"] == "parent"} - {"child"}
    sides = {"child": children, "inst": INSTRUMENTS}
    ends = set()
    for x in rows:
        for a in sides.get(x["from"], (x["from"],)):
            for z in sides.get(x["to"], (x["to"],)):
                # no role has a link to itself that others could use
                ends |= {(a, z), (z, a)} if a != z else set()
    eq(ends - set(CHANNELS), {x for x in ends if x[0] == BELIEVED},
       "all but the parent's words are played")


CONF = with_tls()[1] + f'adapter toy command "{helper("toy_adapter")} ' \
    'lldb-dap"\n'
stage = Stage(("logger", "netproc", "spawner", "launcher", "announcer", "idproc",
               "tlsproc", "acctproc", "symbols", *INSTRUMENTS), given=FDS)
run_tests(all_are_played, alone(unasked_types), alone(unasked_failure),
          alone(babbles))
