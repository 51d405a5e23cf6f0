# SPDX-License-Identifier: ISC
"""A session's instrument that has been taken over, and what is made of it."""
import os
import re

import rogue
from instrig import Local, named
from rogue import BY_NAME, HEADER, PAYLOAD_MAX, ROWS, daemon
from dl import (AS_ROOT, SANITIZED, Prober, eq, helper, ok, stat_of, status_of,
                wait_for)

NULL, CHANNEL, DIRECTORY = range(3)
# executes and writes: the run time of a sanitizer opens files of its own
UNLESS_SANITIZED = ("executes", "writes")


def roles(d):
    return [d.role_pid(n) for n in ("netproc", "spawner", "launcher",
                                    "idproc")]


def rss(d):
    return int(status_of(d.role_pid("spawner"))["VmRSS"].split()[0])


def fds(d):
    return len(os.listdir(f"/proc/{d.role_pid('spawner')}/fd")) \
        if AS_ROOT else 0


def vec(*words):
    return rogue.blob(b"".join(w.encode() + b"\0" for w in words))


def outcome(r):
    return r["error"]["code"] if "error" in r else r["result"]["mode"]


def frame(what, payload=b"", length=None, size=None, fds=0, kind=NULL,
          generation=0, session=b""):
    """One datagram, as the rogue is told of it."""
    t = BY_NAME[what]["type"] if isinstance(what, str) else what
    length = len(payload) if length is None else length
    size = HEADER.size + len(payload) if size is None else size
    return f"{t}:{length}:{size}:{fds}:{kind}:{generation}:" \
        f"{session.hex()}:{payload.hex()}"


def sized(what, n, **kw):
    return frame(what, length=n, size=HEADER.size + n, **kw)


def clean_up(c):
    s = next((s for s in c.cmd("LIST") if s["name"] == "x"), None)
    if s is None:
        return True
    if s["state"] in ("RUNNING", "DEBUGGING"):
        c.cmd("KILL " + s["id"])
    r = c.cmd("DELETE " + s["id"])
    return r.get("state") == "DELETED" or r.get("error_code") == "not_found"


def sleepers(d):
    return [p for p in d.processes() if (stat_of(p) or ("",))[0] == "sleep"]


class Kind:
    """One kind of them; from now on daemons have the rogue in its place."""

    def __init__(self, role, goods):
        self.role, self.goods = role, goods
        self.lost, self.refused = role + "_lost", role + "_refused"
        self.own = [r for r in ROWS if r["from"] in (role, "inst") and
                    r["to"] == "spawner"]
        # a message of no bytes
        self.whole = next(r["name"] for r in self.own if r["max"] == 0)
        Local.command = role
        rogue.with_roles(**{role: helper("rogue_" + role)})

    def of(self, d):
        return named(d, self.role)

    def good(self, name):
        """One that is as its row wants it."""
        return self.goods().get(name) or sized(name, BY_NAME[name]["min"])

    def one(self, d, j, how, want):
        r = j.ask(start=True, name="x", request={"command": "start"})
        eq(outcome(r), "good", f"{how}: it starts")
        got = outcome(j.ask(session="x", request={"command": how}))
        eq(got, want, f"{how}: who asked is told")
        if want in ("done", self.refused):
            eq(outcome(j.ask(session="x", request={"command": "after"})),
               "good", f"{how}: and what they ask next is answered")
        else:
            ok(wait_for(lambda: len(self.of(d)) == 1, 15),
               f"{how}: the process is ended", self.of(d))

    def every_mode(self, mode, modes, after):
        """{what it does: what who asked for it is told}; done = it goes on."""
        with daemon(mode, "stop-timeout 1\n") as d:
            c, j = d.client(d.alice), Local(d, d.alice)
            good = Local(d, d.alice)
            eq(outcome(good.ask(start=True, name="other",
                                request={"command": "start"})), "good",
               "another one")
            before, had, size = roles(d), fds(d), rss(d)
            for how, want in modes.items():
                if SANITIZED and how in UNLESS_SANITIZED:
                    continue
                with Prober(d, d.alice) as p:
                    self.one(d, j, how, want)
                    p.check(f"{how}: nobody else waits", 3)
                ok(wait_for(lambda: clean_up(c), 15),
                   f"{how}: its session can be removed")
                eq(outcome(good.ask(session="other",
                                    request={"command": "x"})), "good",
                   f"{how}: another session's has not noticed")
                eq(roles(d), before, f"{how}: no process was replaced")
                ok(wait_for(lambda: fds(d) == had, 15),
                   f"{how}: no fd is left", (had, fds(d)))
            ok(rss(d) - size < 32 * 1024, "the spawner has not grown",
               (size, rss(d)))
            ok("\x1b" not in d.log(), "the log is clean")
            after(d)
            ok(d.log().count("result=\"ok\"\\x0a") < 1000,
               "and not full of it")
            good.ask(session="other", request={"command": "byes"})

    # --- each message, by its bytes --------------------------------------
    def wrong_sizes(self):
        for r in self.own:
            for n in (r["min"] - 1, r["max"] + 1):
                if 0 <= n <= PAYLOAD_MAX:
                    yield f"{r['name']} of {n} bytes", [sized(r["name"], n)]
            n = r["min"]
            for told, sent in ((n + 1, n), (n, n + 1), (2 ** 32 - 1, n),
                               (n, -1), (n, -HEADER.size + 3)):
                yield f"{r['name']} with {sent} bytes told to be {told}", [
                    frame(r["name"], length=told, size=HEADER.size + sent)]
        for n in (0, 1, HEADER.size - 1, HEADER.size + PAYLOAD_MAX + 1,
                  200000):
            yield f"a datagram of {n} bytes", [frame(self.whole, size=n)]

    def wrong_fds(self):
        for r in self.own:
            for kind in (NULL, CHANNEL, DIRECTORY):
                for n in (1, 2, 4):
                    f = self.good(r["name"]).split(":")
                    f[3:5] = [str(n), str(kind)]
                    yield f"{r['name']} with {n} fds of kind {kind}", [
                        ":".join(f)]

    def wrong_types(self):
        own = {r["type"] for r in self.own}
        for r in ROWS:
            if r["type"] not in own:
                yield f"{r['name']} is no word of its", [
                    sized(r["name"], min(r["min"], PAYLOAD_MAX))]
        for t in (0, max(r["type"] for r in ROWS) + 1000, 2 ** 31,
                  2 ** 32 - 1):
            yield f"type {t}", [frame(t)]
        for r in self.own:
            f = self.good(r["name"]).split(":")
            f[5] = "1"
            yield f"{r['name']} of another generation", [":".join(f)]

    def wrong_answers(self):
        for flags in (4, 1 << 31):
            yield f"an answer with flags {flags:x}", [frame(
                "INST_REPLY", rogue.u32(flags) + b"{}")]
        yield "an answer to nothing", [frame(
            "INST_REPLY", rogue.u32(0) + b"{}")]
        yield "a level that there is not", [
            frame("INST_LOG", rogue.u32(99) + rogue.blob("x"))]
        yield "a line that is longer than told", [
            frame("INST_LOG", rogue.u32(0, 4) + b"x")]
        yield "a line with a zero byte", [
            frame("INST_LOG", rogue.u32(0) + rogue.blob(b"a\0b"))]

    def after_the_end(self):
        bye = self.good("INST_BYE")
        for r in self.own:
            yield f"BYE, then {r['name']}", [bye, self.good(r["name"])]

    def in_order(self):
        """What is in order, though nobody would do it."""
        for r in self.own:
            if r["name"] not in ("INST_REPLY", "INST_BYE"):
                yield f"{r['name']} as it should be", [self.good(r["name"])]

    def each(self, d, c, j, cases, want):
        for name, frames in cases:
            r = j.ask(start=True, name="x", request={"command": "start"})
            if outcome(r) != "good":
                ok(False, f"{name}: it starts", r)
            r = j.ask(session="x", request={"command": "raw " + ",".join(
                frames)})
            if want == "done":
                eq(outcome(r), "done", f"{name}: who asked is told")
                eq(outcome(j.ask(session="x", request={"command": "after"})),
                   "good", f"{name}: and it goes on")
            else:
                # an answer in the same breath as BYE may come through
                ok(outcome(r) == self.lost or (want == "gone" and
                   outcome(r) == "done"), f"{name}: who asked is told", r)
                ok(wait_for(lambda: len(self.of(d)) == 1, 15),
                   f"{name}: the process is ended", self.of(d))
            if not wait_for(lambda: clean_up(c) and not sleepers(d), 15):
                ok(False, f"{name}: nothing of it is left", (
                    c.cmd("LIST"), sleepers(d)))

    def other_sessions(self, mode, words, own):
        """What it says is about its own, whatever the header names.

        words(session): what it says; own(status): its own is as it said."""
        with daemon(mode, "stop-timeout 1\n") as d:
            c, j = d.client(d.alice), Local(d, d.alice)
            for name in ("other", "x"):
                eq(outcome(j.ask(start=True, name=name,
                                 request={"command": "start"})), "good",
                   f"{name} starts")
            sid = bytes.fromhex(c.cmd("STATUS other")["id"].replace("-", ""))
            was = c.cmd("STATUS other")
            for f in words(sid):
                eq(outcome(j.do("raw " + f, "x")), "done",
                   "it names another session")
            ok(own(c.cmd("STATUS x")), "its own is what it speaks of",
               c.cmd("STATUS x"))
            j.do("raw " + frame("INST_BYE", session=sid), "x")
            ok(wait_for(lambda: [s["name"] for s in c.cmd("LIST")] ==
                        ["other"]), "its own is what goes", c.cmd("LIST"))
            eq(c.cmd("STATUS other"), was, "the other one is as it was")

    def by_bytes(self, mode, bad, gone, good):
        """Every message with wrong sizes, fds, values, in a wrong order."""
        with daemon(mode, "stop-timeout 1\n") as d:
            c, j = d.client(d.alice), Local(d, d.alice)
            other = Local(d, d.alice)
            eq(outcome(other.ask(start=True, name="other",
                                 request={"command": "start"})), "good",
               "another one")
            before, had, size = roles(d), fds(d), rss(d)
            with Prober(d, d.alice) as p:
                bad = [x for cases in (
                    self.wrong_sizes, self.wrong_fds, self.wrong_types,
                    self.wrong_answers, bad) for x in cases()]
                self.each(d, c, j, bad, "cut off")
                self.each(d, c, j, [*self.after_the_end(), *gone()], "gone")
                self.each(d, c, j, [*self.in_order(), *good()], "done")
                p.check("nobody else waits", 5)
            # none has just ended by itself; of many lines some are lost
            lost = sum(int(n) for n in re.findall(
                r"spawner: (\d+) lines were left out", d.log()))
            cut = d.log().count("; it is ended")
            ok(cut > 20 and cut + lost > len(bad) * 0.9,
               "the log has who broke the table", (cut, lost, len(bad)))
            eq(outcome(other.ask(session="other", request={"command": "x"})),
               "good", "another session's has not noticed")
            eq(roles(d), before, "no process was replaced")
            ok(wait_for(lambda: fds(d) == had, 15), "no fd is left",
               (had, fds(d)))
            ok(rss(d) - size < 16 * 1024, "the spawner has not grown",
               (size, rss(d)))
