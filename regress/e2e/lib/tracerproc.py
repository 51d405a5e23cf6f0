# SPDX-License-Identifier: ISC
"""A tracer's process without a daemon: what stands for the spawner is a
helper that takes requests as lines."""
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

import dl
from tracerig import SOON

TIMELINES = ".local/state/debuglantern/timelines"


class Tracer:
    """One process, with a home of its own."""

    def __init__(self, *opts, home=None, before=(), program=None):
        self.made = home is None
        self.home = home or tempfile.mkdtemp(prefix="dl-tracer-")
        self.msgs, self.buf, self.last = [], b"", 0
        self.err = tempfile.TemporaryFile()
        self.p = subprocess.Popen(
            [*(x.replace("HOME", self.home) for x in before),
             dl.helper("trc_rig"),
             program or os.path.join(dl.LIBEXEC, "tracer"),
             os.path.join(dl.LIBEXEC, "symbols"), self.home, *opts],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.err)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def put(self, command, args=None, conn=1, **more):
        self.last += 1
        o = {"conn": conn, "id": self.last, "command": command, **more}
        if args is not None:
            o["args"] = args
        self.p.stdin.write(json.dumps(o).encode() + b"\n")
        self.p.stdin.flush()
        return self.last

    def fill(self, limit):
        if not select.select([self.p.stdout], [], [], limit)[0]:
            return True
        got = os.read(self.p.stdout.fileno(), 1 << 20)
        self.buf += got
        *lines, self.buf = self.buf.split(b"\n")
        self.msgs += [json.loads(line) for line in lines]
        return got != b""

    def get(self, match, limit=SOON):
        """The first message that matches; None if there is none."""
        end, at, more = time.monotonic() + limit, 0, True
        while True:
            for m in self.msgs[at:]:
                if match(m):
                    return m
            at = len(self.msgs)
            if not more or time.monotonic() > end:
                return None
            more = self.fill(0.5)

    def answer(self, number, limit=SOON):
        m = self.get(lambda m: m.get("id") == number, limit)
        if m is None:
            raise RuntimeError(f"no answer: {self.stderr()}")
        return m

    def ask(self, name, /, conn=1, **args):
        """The result, or the whole message with its error."""
        m = self.answer(self.put(name, args, conn=conn))
        return m.get("ok", m)

    def code(self, name, /, **args):
        return self.ask(name, **args).get("error", {}).get("code")

    def event(self, name, limit=SOON):
        return self.get(lambda m: m.get("event") == name, limit)

    def pid(self):
        self.msgs = [m for m in self.msgs if m.get("event") != "tracer"]
        self.put("_tracer")
        return self.event("tracer")["pid"]

    def until(self, match, name="query", /, **args):
        """Asks until the answer matches; the last one in any case."""
        dl.wait_for(lambda: match(self.ask(name, **args)), SOON)
        return self.ask(name, **args)

    def ended(self):
        return self.until(lambda s: s["state"] == "ended", "status")

    def over(self):
        """It has ended, and all that it wrote is there."""
        if self.event("over") is None:
            raise RuntimeError(f"the program does not end: {self.stderr()}")
        return self.ended()

    def files(self):
        try:
            return sorted(os.listdir(os.path.join(self.home, TIMELINES)))
        except FileNotFoundError:
            return None

    def stderr(self):
        self.err.seek(0)
        return self.err.read().decode(errors="replace")

    def close(self):
        if not self.p.stdout.closed:
            self.p.stdin.close()
            self.p.wait()
            self.p.stdout.close()
            err = self.stderr()
            # it may be ended by its test, not by itself
            dl.ok("Sanitizer" not in err and not any(
                "was killed by signal" in x and not x.endswith(" 9")
                for x in err.splitlines()), "nothing is said of the tracer",
                  err)
        if self.made:
            shutil.rmtree(self.home, True)


def calls(answer, kind=None):
    """[(function, arguments or what it returned)]"""
    return [(e["function"], e["arguments"] if e["eventType"] ==
             "function_enter" else e["returnValue"])
            for e in answer["events"] if "function" in e and
            kind in (None, e["eventType"])]
