# SPDX-License-Identifier: ISC
"""A timeline without a tracer."""
import contextlib
import json
import subprocess

from dl import helper


class Store:
    """A process with one timeline."""

    def __init__(self, where, name="t", before=()):
        self.dir, self.name = where, name
        self.proc = subprocess.Popen(
            [*before, helper("trc_store")], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.proc.poll() is None:
            self.proc.kill()
        self.proc.wait()
        for f in (self.proc.stdin, self.proc.stdout, self.proc.stderr):
            with contextlib.suppress(BrokenPipeError):
                f.close()

    def send(self, what, **args):
        self.proc.stdin.write(json.dumps({"do": what, **args}) + "\n")
        self.proc.stdin.flush()

    def ask(self, what, **args):
        self.send(what, **args)
        line = self.proc.stdout.readline()
        if not line:
            raise RuntimeError(f"{what}: ended: {self.proc.communicate()}")
        return json.loads(line)

    def do(self, what, **args):
        answer = self.ask(what, **args)
        if "error" in answer:
            raise RuntimeError(f"{what}: {answer['error']}")
        return answer["ok"]

    def open(self, **args):
        return self.do("open", dir=self.dir, name=self.name, **args)

    def query(self, **args):
        return self.do("query", query=args)

    def end(self):
        """What it says of itself at its end: nothing, under sanitizers."""
        self.proc.stdin.close()
        err = self.proc.stderr.read()
        return self.proc.wait(), err
