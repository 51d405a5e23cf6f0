# SPDX-License-Identifier: ISC
"""A real server with all of its functions traced, beside one that nobody
looks at, in turns; and how soon its first call can be traced."""
import contextlib
import os
import shutil
import statistics
import subprocess
import tempfile
import time

from mcp import Mcp
from redis import Redis, arguments, redis_dir

# all that is the program's own; its libraries are libc and libm
ALL = ["**"]


class Bench:
    def __init__(self, daemon, mcp, where, quick):
        self.daemon, self.mcp, self.where = daemon, mcp, where
        self.dir = redis_dir()
        self.gets = 20000 if quick else 100000
        self.processes = []

    def room(self, name):
        path = os.path.join(self.where, name)
        os.mkdir(path)
        if self.daemon.uid is not None:
            os.chown(path, self.daemon.uid, self.daemon.uid)
        return path

    def plain(self):
        path = self.room("plain")
        self.processes.append(subprocess.Popen(
            [self.dir + "/good/redis-server", *arguments(path)],
            stdout=subprocess.DEVNULL))
        self.fill(path)
        return path

    def traced(self, name="traced", **more):
        path = self.room(name)
        o = self.mcp.launch(self.dir + "/good/redis-server",
                            *arguments(path), cwd=path,
                            projectRoot=self.dir + "/src", **more)
        self.fill(path)
        return path, o["sessionId"], o["pid"]

    @staticmethod
    def fill(path):
        with contextlib.closing(Redis(path)) as r:
            r.ask("SET", "key:__rand_int__", "xxx")

    def speed(self, path):
        """Requests in a second."""
        r = subprocess.run(
            [self.dir + "/redis-benchmark", "-s", path + "/sock", "-t",
             "get", "-n", str(self.gets), "--csv"], check=True, text=True,
            stdout=subprocess.PIPE)
        return float(r.stdout.splitlines()[-1].split(",")[1].strip('"'))

    def end(self, session, pid):
        """Calls that were seen, also those that had no room any more, and
        those that were lost."""
        r = self.mcp.query(session, limit=1)
        lost = sum(x["lost"] for x in r.get("losses", []))
        seen = self.mcp.stop(session)["eventsCollected"]
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 9)
        return seen / 2, lost

    def close(self):
        for p in self.processes:
            p.kill()
            p.wait()


def throughput(table, b, rounds):
    plain = b.plain()
    path, session, pid = b.traced()
    t = b.mcp.trace(session, add=ALL, budget=0)
    table.value("redis: functions traced, entry and return",
                t["hookedFunctions"], "", digits=0)
    bare, ours, limited = [], [], []
    for _ in range(rounds):
        bare.append(b.speed(plain))
        ours.append(b.speed(path))
    # the reader may have some to read yet
    time.sleep(1)
    calls, lost = b.end(session, pid)
    path, session, pid = b.traced("limited")
    b.mcp.trace(session, add=ALL)
    for _ in range(rounds):
        limited.append(b.speed(path))
    b.end(session, pid)
    table.ratio("  GET, without a budget", statistics.median(ours),
                statistics.median(bare), "/s", least=0.5)
    table.value("  calls per GET", (calls + lost) / rounds / b.gets, "")
    table.value("  of 1000 calls were lost", 1000 * lost /
                max(1, calls + lost), "", most=0, digits=2)
    table.ratio("  GET, with the usual budget", statistics.median(limited),
                statistics.median(bare), "/s")


def first_call(table, b, rounds):
    """From the request to the answer, when the program runs and its
    functions are traced from its first instruction on."""
    for what, patterns, most in (("one function", ["main"], 150),
                                 ("all functions", ALL, None)):
        took = []
        for i in range(rounds):
            path = b.room(f"first-{len(patterns[0])}-{i}")
            b.mcp.trace(add=patterns)
            begun = time.monotonic()
            o = b.mcp.launch(b.dir + "/good/redis-server", *arguments(path),
                             cwd=path, projectRoot=b.dir + "/src")
            took.append((time.monotonic() - begun) * 1e3)
            Redis(path).close()
            if not b.mcp.query(o["sessionId"], function={"equals": "main"},
                               limit=1)["totalCount"]:
                raise RuntimeError("main was not traced")
            b.end(o["sessionId"], o["pid"])
        table.value(f"redis: launch to first traceable call, {what}",
                    statistics.median(took), "ms", most=most)


def figure(table, daemon, quick):
    where = tempfile.mkdtemp(prefix="dl-redis-")
    os.chmod(where, 0o755)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, where, True)
        d = stack.enter_context(daemon)
        b = Bench(d, stack.enter_context(Mcp(d)), where, quick)
        stack.callback(b.close)
        first_call(table, b, 3 if quick else 9)
        throughput(table, b, 1 if quick else 5)
