# SPDX-License-Identifier: ISC
"""Programs compiled for a test, and the tracer's engine by hand."""
import atexit
import json
import os
import select
import shutil
import signal
import subprocess
import tempfile
import time

from dl import BIN, helper

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
SOURCES = os.path.join(TOP, "regress/e2e/tracees")
WORK = tempfile.mkdtemp(prefix="dl-trace-")
os.chmod(WORK, 0o755)
atexit.register(shutil.rmtree, WORK, True)
SOON = 60


def forget():
    """Timelines of what was compiled here are in the home that the account
    of whoever runs the tests has."""
    ctl = os.path.join(BIN, "debuglanternctl")
    r = subprocess.run([ctl, "--json", "timeline", "--kept"],
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for t in json.loads(r.stdout or b"[]"):
        if t["program"].startswith(WORK + "/"):
            subprocess.run([ctl, "timeline", "delete", t["name"]],
                           stdout=subprocess.DEVNULL)


# the last to be registered is the first, and daemons end before
atexit.register(forget)


def build(source, *flags, compiler=None, name=None):
    """A program of regress/e2e/tracees; its path."""
    if compiler is None:
        compiler = {"c": "gcc", "cc": "g++"}[source.rsplit(".", 1)[1]]
    name = name or source.replace(".", "_") + "".join(flags)
    out = os.path.join(WORK, name.replace("/", "_").replace(",", "_"))
    if not os.path.exists(out):
        subprocess.run([compiler, "-w", "-o", out,
                        os.path.join(SOURCES, source), *flags,
                        "-lpthread"], check=True)
    return out


def stripped(program):
    out = program + "_stripped"
    subprocess.run(["strip", "-o", out, program], check=True)
    return out


def plain(program, *args):
    """What it prints when nobody looks."""
    return subprocess.run([program, *args], check=False, timeout=SOON,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()


class Trace:
    """The harness on one program, if need be within another."""

    def __init__(self, *argv, pid=None, follow=False, ring=0, uid=None,
                 within=()):
        self.events = []
        self.buf = b""
        self.out = tempfile.TemporaryFile(dir=WORK)
        cmd = [*within, helper("trc_harness")]
        if follow:
            cmd.append("-f")
        if ring:
            cmd += ["-r", str(ring)]
        cmd += ["-p", str(pid)] if pid else ["--", *argv]
        self.p = subprocess.Popen(cmd, stdin=subprocess.PIPE, user=uid,
                                  stdout=subprocess.PIPE, stderr=self.out)
        self.first = self.get(lambda e: e["ev"] in ("attached", "refused"))
        self.pid = self.first.get("pid")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def fill(self, limit):
        if not select.select([self.p.stdout], [], [], limit)[0]:
            return False
        got = os.read(self.p.stdout.fileno(), 1 << 20)
        self.buf += got
        *lines, self.buf = self.buf.split(b"\n")
        for line in lines:
            self.events.append(json.loads(line.decode("utf-8", "replace")))
        return got != b""

    def get(self, match, limit=SOON, since=0):
        """The first event that matches, None if there is none."""
        end = time.monotonic() + limit
        at = since
        while True:
            for e in self.events[at:]:
                if match(e):
                    return e
            at = len(self.events)
            if time.monotonic() > end or not self.fill(1) and \
                    self.p.poll() is not None:
                return next((e for e in self.events[at:] if match(e)), None)

    def put(self, line):
        self.p.stdin.write(line.encode() + b"\n")
        self.p.stdin.flush()

    def ask(self, line, ev):
        """One command, and the answer that it has."""
        n = len(self.events)
        self.put(line)
        return self.get(lambda e: e["ev"] == ev, since=n)

    def probe(self, fn, what, *opts):
        return self.ask(" ".join(("probe", str(fn), what, *opts)), "probe")

    def unprobe(self, *fns):
        return self.ask("unprobe " + " ".join(map(str, fns)), "unprobe")

    def bytes(self, what, n):
        return bytes.fromhex(self.ask(f"bytes {what} {n}", "bytes")["hex"])

    def stats(self):
        return self.ask("stats", "stats")

    def go(self):
        self.put("go")

    def end(self):
        """Runs to the end of the program; its exit event."""
        return self.get(lambda e: e["ev"] == "exit" and "status" in e and
                        e["pid"] == self.pid and e.get("fn") is None)

    def close(self):
        if self.p.stdout.closed:
            return
        try:
            self.put("quit")
        except BrokenPipeError:
            pass
        while self.fill(SOON):
            pass
        self.p.kill()
        try:
            self.p.stdin.close()
        except BrokenPipeError:
            pass
        self.p.stdout.close()
        self.p.wait()

    def output(self):
        self.out.seek(0)
        return self.out.read().decode()

    def calls(self, name, kind="enter"):
        return [e for e in self.events
                if e["ev"] == kind and e.get("name") == name]


def number(cap, signed=True):
    return int.from_bytes(bytes.fromhex(cap["hex"]), "little", signed=signed)


def values(event):
    return [number(c) for c in event["cap"]]


def stop(pid, signo=signal.SIGKILL):
    try:
        os.kill(pid, signo)
    except ProcessLookupError:
        pass
