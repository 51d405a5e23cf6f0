# SPDX-License-Identifier: ISC
"""What terminals cost: beside a bare pty that is read and thrown away, and
beside tmux attached to another."""
import contextlib
import http.client
import json
import os
import pty
import select
import shutil
import subprocess
import tempfile
import termios
import time

LINE = b"%07d the quick brown fox jumps over the lazy dog, again and again\r\n"


class File:
    """Lines of text for cat, which all users may read."""

    def __init__(self, mib):
        self.f = tempfile.NamedTemporaryFile(prefix="dl-bench-")
        piece = b"".join(LINE % i for i in range(16384))
        while self.f.tell() < mib << 20:
            self.f.write(piece)
        self.f.flush()
        os.chmod(self.f.name, 0o644)
        self.name, self.size = self.f.name, self.f.tell()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.f.close()


def bare(path, raw):
    """MB/s of a pty's output, of which nothing becomes."""
    master_fd, slave_fd = pty.openpty()
    mode = termios.tcgetattr(slave_fd)
    if raw:
        mode[1] &= ~termios.OPOST
    termios.tcsetattr(slave_fd, termios.TCSANOW, mode)
    begun, n = time.monotonic(), 0
    p = subprocess.Popen(["cat", path], stdin=slave_fd, stdout=slave_fd)
    os.close(slave_fd)
    with contextlib.suppress(OSError):
        while d := os.read(master_fd, 65536):
            n += len(d)
    p.wait()
    os.close(master_fd)
    return n / (time.monotonic() - begun) / 1e6


def tmux(f):
    """MB/s that go through an attached tmux, told when cat has ended."""
    if shutil.which("tmux") is None:
        return None
    with tempfile.TemporaryDirectory() as d:
        end = os.path.join(d, "end")
        pid, master_fd = pty.fork()
        if pid == 0:
            os.environ["TERM"] = "xterm"
            os.execvp("tmux", ["tmux", "-f", "/dev/null", "-S", d + "/s",
                               "new-session", f"read x; cat {f.name}; "
                               f"touch {end}; sleep 100"])
        for _ in range(40):
            if select.select([master_fd], [], [], 0.1)[0]:
                os.read(master_fd, 65536)
        begun = time.monotonic()
        os.write(master_fd, b"\n")
        while not os.path.exists(end):
            if select.select([master_fd], [], [], 0.01)[0]:
                os.read(master_fd, 1 << 20)
        took = time.monotonic() - begun
        subprocess.run(["tmux", "-S", d + "/s", "kill-server"])
        os.close(master_fd)
        os.waitpid(pid, 0)
        return f.size / took / 1e6


class Terminals:
    """Sessions of one daemon, and the clients in term.c."""

    def __init__(self, target, run_tool):
        self.t, self.run_tool = target, run_tool
        self.c = target.client()

    def new(self, script):
        r = self.c.cmd("NEW tty start=now -- /bin/sh -c '" + script + "'")
        if "error_code" in r:
            raise RuntimeError(r)
        self.c.until(r["id"], b"ready")
        return r["id"]

    def end(self, sid):
        self.c.cmd("KILL " + sid)
        self.c.cmd("DELETE " + sid)

    def tool(self, *argv):
        return json.loads(self.run_tool("term", self.t.port, *argv))

    def cat(self, f, raw, clients=1, stalled=0):
        """MB/s to all clients that read, together; those that are stalled
        have been found out by then."""
        before = f"cat {f.name}; read x; " if stalled else ""
        sid = self.new("stty -echo " + ("-opost" if raw else "opost") +
                       f"; echo ready; read x; {before}exec cat {f.name}")
        r = self.tool("flood", sid, clients, stalled,
                      f.size if stalled else 0)
        self.end(sid)
        if min(r["bytes"]) < f.size:
            raise RuntimeError(f"lost: {r['bytes']} of {f.size}")
        return f.size * clients / r["ns"] * 1e3

    def echo(self, n):
        sid = self.new("stty raw -echo; echo ready; exec cat")
        r = self.tool("echo", sid, n)["echo"]
        self.end(sid)
        return r["p50"] / 1e3, r["p99"] / 1e3

    def stop(self, rate):
        """Milliseconds from ^C to the end, of a reader of so many bytes."""
        sid = self.new("stty -echo; echo ready; read x; exec yes " +
                       "0123456789" * 8)
        ms = self.tool("stop", sid, rate)["ns"] / 1e6
        self.c.cmd("DELETE " + sid)
        return ms


def first_byte(t, token, n):
    """Milliseconds from POST to the first byte of the terminal."""
    got = []
    c, w = t.client(), http.client.HTTPConnection("127.0.0.1", t.daemon.web)
    for _ in range(n):
        begun = time.monotonic()
        w.request("POST", "/api/v1/pty/sessions",
                  json.dumps({"cmd": ["/bin/echo", "x"]}),
                  {"Authorization": "Bearer " + token,
                   "Content-Type": "application/json"})
        sid = json.loads(w.getresponse().read())["data"]["id"]
        c.send(f"FOLLOW {sid}\n")
        while not c.json().get("output"):
            pass
        got.append((time.monotonic() - begun) * 1e3)
        while not c.json().get("final"):
            pass
        c.cmd("DELETE " + sid)
    return got
