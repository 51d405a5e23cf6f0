# SPDX-License-Identifier: ISC
"""A client of debuglantern-mcp that does nothing but what it is told."""
import contextlib
import json
import os
import select
import subprocess
import tempfile
import time

from dl import ALICE, AS_ROOT, BIN, Daemon, system_with

MCP = os.path.join(os.path.abspath(BIN), "debuglantern-mcp")
OLD, NEW = "2025-06-18", "2026-07-28"
META = "io.modelcontextprotocol/"
SOON = 60


class ToolError(Exception):
    """What a tool could not do: its code, and the whole result."""

    def __init__(self, result):
        self.text = "".join(c.get("text", "") for c in result["content"])
        self.error = json.loads(self.text)
        self.code = self.error["code"]
        # what to do is a part of it
        if not self.error["message"] or not self.error["next"] or \
                "structuredContent" in result:
            raise RuntimeError(f"an error that does not help: {result}")
        super().__init__(self.text)


class Mcp:
    """One process that speaks lines of JSON, at a daemon's local socket.

    revision: what it speaks; before 2026 it begins with initialize."""

    def __init__(self, daemon, revision=OLD, uid=None, cwd=None, env=None,
                 begin=True):
        self.revision = revision
        self.buf = b""
        self.seq = 0
        self.answers, self.told, self.odd = {}, [], []
        self.uid = daemon.uid if uid is None else uid
        kw = {}
        if self.uid is not None and AS_ROOT:
            kw = {"user": self.uid, "group": self.uid, "extra_groups": []}
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("DEBUGLANTERN_", "XDG_"))}
        self.env.update(DEBUGLANTERN_SOCKET=daemon.dir +
                        "/run/debuglantern.sock", **(env or {}))
        self.errors = tempfile.TemporaryFile()
        self.p = subprocess.Popen([MCP], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, cwd=cwd,
                                  stderr=self.errors, env=self.env, **kw)
        self.server = None
        if begin and revision < NEW:
            self.server = self.ask("initialize", {
                "protocolVersion": revision, "capabilities": {},
                "clientInfo": {"name": "test", "version": "1"}})
            self.note("notifications/initialized")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    # --- lines ----------------------------------------------------------
    def put(self, line):
        data = line if isinstance(line, bytes) else json.dumps(line).encode()
        self.p.stdin.write(data + b"\n")
        self.p.stdin.flush()

    def fill(self, seconds):
        """False at the end, or when nothing came."""
        if not select.select([self.p.stdout], [], [], seconds)[0]:
            return False
        got = os.read(self.p.stdout.fileno(), 1 << 20)
        self.buf += got
        *lines, self.buf = self.buf.split(b"\n")
        for line in lines:
            self.take(json.loads(line))
        return got != b""

    def take(self, m):
        if isinstance(m, list):
            for one in m:
                self.take(one)
        elif "method" in m:
            self.told.append(m)
        elif m.get("id") is None:
            self.odd.append(m)
        else:
            self.answers[m["id"]] = m

    def note(self, method, params=None):
        m = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            m["params"] = params
        self.put(m)

    def envelope(self, params):
        if self.revision < NEW:
            return params
        meta = {META + "protocolVersion": self.revision,
                META + "clientInfo": {"name": "test", "version": "1"},
                META + "clientCapabilities": {}}
        meta.update(params.get("_meta", {}))
        return dict(params, _meta=meta)

    def request(self, method, params=None):
        """Its id; wait() has what is answered."""
        self.seq += 1
        self.put({"jsonrpc": "2.0", "id": self.seq, "method": method,
                  "params": self.envelope(params or {})})
        return self.seq

    def wait(self, number, seconds=SOON):
        """The whole answer, or None if there is none."""
        end = time.monotonic() + seconds
        while number not in self.answers and time.monotonic() < end:
            if not self.fill(1) and self.p.poll() is not None:
                break
        return self.answers.pop(number, None)

    def ask(self, method, params=None, seconds=SOON):
        """The result of a request that is meant to have one."""
        m = self.wait(self.request(method, params), seconds)
        if m is None:
            raise EOFError(f"{method}: no answer\n" + self.said())
        if "error" in m:
            raise RuntimeError(f"{method}: {m['error']}")
        return m["result"]

    def silent(self, seconds=0.5):
        """Whether nothing comes for a while."""
        n = (len(self.told), len(self.odd), len(self.answers))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.fill(max(0, end - time.monotonic()))
        return n == (len(self.told), len(self.odd), len(self.answers))

    # --- tools ----------------------------------------------------------
    def call(self, name, args, seconds=SOON):
        return self.ask("tools/call", {"name": name, "arguments": args},
                        seconds)

    def tool(self, name, **args):
        """What it has done, in its structured form."""
        r = self.call(name, args)
        if r.get("isError"):
            raise ToolError(r)
        o = r["structuredContent"]
        if json.loads(r["content"][0]["text"]) != o:
            raise RuntimeError(f"{name}: the text is another: {r}")
        return o

    def launch(self, command, *args, **more):
        return self.tool("debug_launch", command=command, args=list(args),
                         projectRoot=more.pop("projectRoot",
                                              os.path.dirname(command)),
                         **more)

    def trace(self, session=None, **args):
        if session is not None:
            args["sessionId"] = session
        return self.tool("debug_trace", **args)

    def query(self, session, **args):
        return self.tool("debug_query", sessionId=session, **args)

    def all(self, session, **args):
        """The events of all pages."""
        out = []
        while True:
            r = self.query(session, offset=len(out), limit=500, **args)
            out += r["events"]
            if not r["hasMore"]:
                return out

    def stop(self, session, **args):
        return self.tool("debug_stop", sessionId=session, **args)

    def refused(self, name, **args):
        """The code of the error that it is, None if it worked."""
        try:
            self.tool(name, **args)
            return None
        except ToolError as e:
            return e.code

    # --- the end ----------------------------------------------------------
    def said(self):
        self.errors.seek(0)
        return self.errors.read().decode(errors="replace")[-2000:]

    def close(self, seconds=SOON):
        """No more input; its exit status."""
        self.p.stdin.close()
        while self.fill(seconds):
            pass
        code = self.p.wait(seconds)
        self.kill()
        return code

    def kill(self):
        self.p.kill()
        self.p.wait()
        for f in (self.p.stdin, self.p.stdout, self.errors):
            try:
                f.close()
            except BrokenPipeError:
                pass


@contextlib.contextmanager
def at_daemon(mode, conf="", **kw):
    """A daemon and a client of a user's, who is no administrator."""
    with (system_with(ALICE, conf=conf) if mode == "system" else
          Daemon(mode, conf, **kw)) as d:
        if AS_ROOT:
            # from now on what is done there is done by her
            d.uid = ALICE
        with Mcp(d) as m:
            yield d, m
