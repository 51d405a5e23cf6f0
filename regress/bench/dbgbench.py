# SPDX-License-Identifier: ISC
"""What a question to debugger costs, from exec to exit: beside the adapter's
own time for it, and beside a debugger that is started for each question."""
import json
import os
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE + "/../e2e/lib")
from dapwire import Wire  # noqa: E402

# the adapters are Debian's
PATH = "/usr/bin:/bin"
GO = """package main

func twice(i int) int { return i * 2 }

func main() {
	x := 0
	for {
		x = twice(x) + 1
	}
}
"""


class Programs:
    def __init__(self):
        self.tmp = tempfile.TemporaryDirectory(prefix="dl-bench-")
        self.dir = self.tmp.name
        os.chmod(self.dir, 0o755)
        self.c, self.go = self.dir + "/steps", self.dir + "/steps-go"
        self.flood = self.dir + "/flood"
        subprocess.run(["gcc", "-g", "-O0", "-o", self.c,
                        HERE + "/steps.c"], check=True)
        subprocess.run(["gcc", "-g", "-O0", "-o", self.flood,
                        HERE + "/../e2e/debuggees/crash.c"], check=True)
        with open(self.dir + "/steps.go", "w") as f:
            f.write(GO)
        env = dict(os.environ, GOCACHE=self.dir + "/cache", HOME=self.dir)
        subprocess.run(["go", "build", "-gcflags=all=-N -l", "-o", self.go,
                        "steps.go"], cwd=self.dir, env=env, check=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.tmp.cleanup()


class Debugger:
    """The client, of one daemon."""

    def __init__(self, binary, daemon, cwd):
        self.argv = [binary, "--target",
                     "unix:%s/run/debuglantern.sock" % daemon.dir]
        self.cwd = cwd

    def ask(self, *args):
        p = subprocess.run([*self.argv, "--json", *args], cwd=self.cwd,
                           env=dict(os.environ, PATH=PATH), timeout=300,
                           stdout=subprocess.PIPE)
        o = json.loads(p.stdout)
        if p.returncode != 0:
            raise RuntimeError("debugger %s: %s" % (args, o))
        return o

    def timed(self, run_tool, n, *args):
        """Median of a whole process, in milliseconds."""
        out = run_tool("spawn", n, "--", *self.argv, *args)
        return json.loads(out.splitlines()[-1])["exit"]["p50"] / 1e6


class Dap(Wire):
    """An adapter spoken to without anything between."""

    def __init__(self, program, line):
        super().__init__([self.find()], stderr=subprocess.DEVNULL,
                         env=dict(os.environ, PATH=PATH))
        self.ask("initialize", adapterID="lldb-dap")
        self.ask("launch", program=program, stopOnEntry=False)
        self.ask("setBreakpoints", source={"path": HERE + "/steps.c"},
                 breakpoints=[{"line": line}])
        self.send("configurationDone")
        self.thread = self.event("stopped")["body"]["threadId"]
        self.frame = self.ask("stackTrace", threadId=self.thread)["body"][
            "stackFrames"][0]["id"]

    @staticmethod
    def find():
        for name in ("lldb-dap-19", "lldb-dap"):
            if os.path.exists("/usr/bin/" + name):
                return "/usr/bin/" + name
        raise RuntimeError("no lldb-dap is here")

    def evaluate_ms(self, n):
        times = []
        for _ in range(n):
            t = time.perf_counter()
            self.ask("evaluate", expression="x", context="watch",
                     frameId=self.frame)
            times.append((time.perf_counter() - t) * 1e3)
        return sorted(times)[n // 2]

    def close(self):
        self.send("disconnect", terminateDebuggee=True)
        super().close()


def line_of(text):
    with open(HERE + "/steps.c") as f:
        for i, line in enumerate(f, 1):
            if text in line:
                return i
    raise ValueError(text)


def gdb_ms(programs, n):
    """One question to a debugger that is started for it."""
    times = []
    for _ in range(n):
        t = time.perf_counter()
        subprocess.run(
            ["gdb", "-q", "-nx", "-batch", "-ex", "break twice", "-ex",
             "run", "-ex", "bt", "-ex", "up", "-ex", "print x",
             programs.c], check=True, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        times.append((time.perf_counter() - t) * 1e3)
    return sorted(times)[n // 2]


def together(debugger, program, place, n, *args):
    """Seconds until n sessions, started at once, have all stopped there."""
    failed = []
    # so many may be on their way at once
    turn = threading.Semaphore(12)

    def start(i):
        try:
            with turn:
                o = debugger.ask("start", "-s", "many-%d" % i, *args, "-b",
                             place, program)
            if o["state"] != "stopped":
                failed.append(o)
        except Exception as e:
            failed.append(e)
    begun = time.monotonic()
    crowd = [threading.Thread(target=start, args=(i,)) for i in range(n)]
    for c in crowd:
        c.start()
    for c in crowd:
        c.join()
    took = time.monotonic() - begun
    for i in range(n):
        try:
            debugger.ask("stop", "-s", "many-%d" % i)
        except RuntimeError as e:
            failed.append(e)
    if failed:
        raise RuntimeError("%d of %d: %s" % (len(failed), n, failed[0]))
    return took
