# SPDX-License-Identifier: ISC
"""A stand-in for a daemon with debug sessions: what the client asks is kept,
what it is answered is the test's to say."""
import atexit
import base64
import contextlib
import json
import os
import shutil
import socket
import subprocess
import tempfile
import threading

from dl import BIN
from fake_server import hello

DEBUGGER = os.path.join(os.path.abspath(BIN), "debugger")
ID = "0f8b6b1e-1111-4222-8333-444455556666"

STOP = {
    "schema": 1, "session": ID, "id": ID, "state": "stopped", "epoch": 4,
    "reason": "breakpoint", "raw_reason": "breakpoint",
    "description": "breakpoint 1.1",
    "thread": {"id": 1, "name": "main"},
    "frame": {"index": 0, "function": "sum_up", "file": "/src/main.rs",
              "line": 42, "column": 9, "address": "0x401136"},
    "source": {"file": "/src/main.rs", "first": 40, "current": 42, "lines": [
        "    let mut sum = 0;", "    for i in 0..n {",
        "        sum += calculate(i);", "    }", "    sum"]},
    "arguments": [{"name": "n", "type": "i32", "value": "100"}],
    "locals": [{"name": "sum", "type": "i32", "value": "4950"},
               {"name": "i", "type": "i32", "value": "99"}],
    "changed": [], "output": [], "breakpoints": [1],
    "words": "stopped at main.rs:42",
}
SESSION = {"id": ID, "state": "DEBUGGING", "started_at": "2026-01-01T00:00:00Z",
           "name": None}


class Refusal(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class FakeDebugger:
    def __init__(self, tcp=False):
        self.asked = []         # args of every "debugger"
        self.lines = []         # every other line
        self.answers = {}       # request's command: result, or a function
        self.output = b""
        self.typed = b""
        self.started_at = SESSION["started_at"]
        self.dir = tempfile.mkdtemp(prefix="dl-fake-")
        atexit.register(shutil.rmtree, self.dir, True)
        self.path = os.path.join(self.dir, "debuglantern.sock")
        if tcp:
            self.sock = socket.create_server(("127.0.0.1", 0))
            self.target = "127.0.0.1:%d" % self.sock.getsockname()[1]
        else:
            self.sock = socket.socket(socket.AF_UNIX)
            self.sock.bind(self.path)
            self.sock.listen(64)
            self.target = "unix:" + self.path
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        while True:
            try:
                c, _ = self.sock.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(c,),
                             daemon=True).start()

    def close(self):
        # who is about to accept must not do so on whoever has the number next
        self.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.sock.close()

    def serve(self, c):
        # a client that has gone is found out at the latest by the last flush
        with contextlib.suppress(OSError, ValueError), c, \
                c.makefile("rwb") as f:
            for line in f:
                self.line(c, f, line)
                f.flush()

    @staticmethod
    def args_of(line):
        """The words of DEBUGGER, by name."""
        words, brace, request = line.partition(b"{")
        args = {}
        for w in words.decode().split()[1:]:
            key, _, value = w.partition("=")
            args[key] = value or True
        if brace:
            args["request"] = json.loads(brace + request)
        return args

    def line(self, c, f, line):
        welcome = hello(line.decode())
        if welcome is not None:
            f.write(json.dumps(welcome).encode() + b"\n")
            return None
        if line.split()[0] != b"DEBUGGER":
            self.lines.append(line.decode().rstrip("\n"))
            return self.word(f, line.split())
        args = self.args_of(line)
        self.asked.append(args)
        name = args["request"]["command"] if "request" in args else "list"
        answer = self.answers.get(name, STOP)
        try:
            if callable(answer):
                answer = answer(args, c, f)
            if answer is None:
                return
        except Refusal as e:
            answer = {"ok": False, "error_code": "debugger_refused",
                      "message": "the debugger refused the request",
                      "error": {"code": e.code, "message": str(e)}}
            if e.code == "not_found":
                answer = {"ok": False, "error_code": e.code,
                          "message": str(e)}
        f.write(json.dumps(answer).encode() + b"\n")

    def word(self, f, words):
        o = dict(SESSION, started_at=self.started_at)
        if words[0] in (b"OUTPUT", b"FOLLOW"):
            at = int(words[2]) if len(words) > 2 and words[2].isdigit() else 0
            at = min(at, len(self.output))
            data = self.output[at:]
            o = {"id": ID, "offset": at, "total": len(self.output)}
            if words[-1] == b"base64":
                o.update(output=base64.b64encode(data).decode(),
                         encoding="base64")
            else:
                o["output"] = data.decode(errors="replace")
            if words[0] == b"FOLLOW":
                f.write(json.dumps(o).encode() + b"\n")
                o = {"id": ID, "offset": len(self.output),
                     "total": len(self.output), "final": True,
                     "exit_code": 0}
        elif words[0] == b"INPUT" and words[2].isdigit():
            self.typed += f.read(int(words[2]))
        elif words[0] == b"INPUT":
            self.typed += b"<eof>"
        f.write(json.dumps(o).encode() + b"\n")


class Result:
    def __init__(self, p):
        self.code = p.returncode
        self.out = p.stdout.decode(errors="replace")
        self.err = p.stderr.decode(errors="replace")

    def __repr__(self):
        return repr((self.code, self.out[-3000:], self.err[-3000:]))


def environment(home, **extra):
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("DEBUGLANTERN_", "DEBUGGER_", "XDG_"))}
    # not the daemon that the user who tests has in /tmp
    env.update(HOME=home, XDG_RUNTIME_DIR=home, LC_ALL="C.UTF-8",
               TERM="xterm")
    return {**env, **extra}


def run(argv, env, cwd=None, data=b"", timeout=60, **kw):
    return Result(subprocess.run(argv, input=data, capture_output=True,
                                 env=env, cwd=cwd, timeout=timeout, **kw))
