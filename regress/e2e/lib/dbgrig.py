# SPDX-License-Identifier: ISC
"""The debugger's engine without a daemon: requests in, answers out."""
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading

from dl import HELPERS, helper

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../..")
CONVERSATIONS = os.path.join(TOP, "regress/dap")
PATIENCE = 60


class Failed(Exception):
    """An answer that is an error."""

    def __init__(self, error):
        super().__init__(f"{error.get('code')}: {error.get('message')}")
        self.code = error.get("code")
        self.message = error.get("message", "")
        self.error = error


class Rig:
    """One engine; conversation: what the mock adapter shall say."""

    def __init__(self, conversation=None, options=(), kind="lldb-dap",
                 env=None):
        argv = [helper("dbg_harness"), "-a", "-s", *options]
        self.mocked = conversation is not None
        if conversation is not None:
            mock = helper("mock_adapter")
            conv = os.path.join(CONVERSATIONS, conversation + ".conv")
            argv += ["-A", f"{kind}={mock} {conv}"]
        self.log = tempfile.TemporaryFile("w+")
        self.p = subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=self.log, text=True,
            env=dict(os.environ, **(env or {})))
        self.kind = kind
        self.lock = threading.Condition()
        self.answers = {}
        self.states = []
        self.over = False
        self.last = 0
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.p.stdout:
            m = json.loads(line)
            with self.lock:
                if "state" in m:
                    self.states.append(m)
                else:
                    self.answers[m["id"]] = m
                self.lock.notify_all()
        with self.lock:
            self.over = True
            self.lock.notify_all()

    def send(self, command, conn=1, rw=True, **args):
        """Asks; the number of the request."""
        self.last += 1
        self.raw({"conn": conn, "rw": rw, "id": self.last,
                  "command": command, "args": args})
        return self.last

    def raw(self, line):
        self.p.stdin.write(json.dumps(line) + "\n")
        self.p.stdin.flush()

    def until(self, fn, what):
        with self.lock:
            if not self.lock.wait_for(lambda: fn() or self.over, PATIENCE) \
                    or not fn():
                raise TimeoutError(f"{what}; {self.said()}")

    def said(self):
        self.log.seek(0)
        return f"states {self.states[-3:]}; log: {self.log.read()[-2000:]}"

    def answered(self, number):
        with self.lock:
            return number in self.answers

    def answer(self, number):
        """Its result; an error is raised."""
        self.until(lambda: number in self.answers, f"no answer {number}")
        a = self.answers[number]
        if not a["success"]:
            raise Failed(a["error"])
        return a["result"]

    def ask(self, command, **args):
        return self.answer(self.send(command, **args))

    def refused(self, command, **args):
        try:
            return {"not an error": self.ask(command, **args)}
        except Failed as e:
            return e.error

    def start(self, **args):
        args.setdefault("program", "/bin/true")
        args.setdefault("cwd", "/tmp")
        args.setdefault("stop_on_entry", True)
        if self.mocked:
            args.setdefault("adapter", self.kind)
        return self.ask("start", **args)

    def state(self, name):
        """Waits until that state was told."""
        self.until(lambda: any(s["state"] == name for s in self.states),
                   f"never {name}")
        return [s for s in self.states if s["state"] == name][-1]

    def tree(self):
        """The adapter and all below it."""
        out = []
        todo = [self.p.pid]
        while todo:
            pid = todo.pop()
            try:
                with open(f"/proc/{pid}/task/{pid}/children") as f:
                    kids = [int(k) for k in f.read().split()]
            except OSError:
                continue
            out += kids
            todo += kids
        return out

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        try:
            self.p.stdin.close()
        except BrokenPipeError:
            pass
        if exc[0] is not None or self.send_nothing():
            self.p.send_signal(signal.SIGTERM)
        self.p.wait(PATIENCE)
        self.log.seek(0)
        said = self.log.read()
        self.log.close()
        if "Sanitizer" in said or "runtime error" in said:
            raise AssertionError(said[-4000:])

    def send_nothing(self):
        """At the end some requests may rightly be unanswered."""
        with self.lock:
            return len(self.answers) < self.last


def have(program):
    return shutil.which(program) is not None


__all__ = ["Failed", "HELPERS", "Rig", "have"]
