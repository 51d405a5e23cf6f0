# SPDX-License-Identifier: ISC
"""Agents: debuglantern-mcp with raw lines, and what its schemas say."""
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading

from dl import BIN, listener_of, wait_for

SOON = 60
MODERN = "2026-07-28"
META = {"io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {}}


class Home:
    """A user without a daemon; what is started for them ends with it."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="dl-mcp-")
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("DEBUGLANTERN", "XDG_"))}
        self.env.update(HOME=self.dir, XDG_RUNTIME_DIR=self.dir)

    def daemons(self):
        """Of this user, the parents."""
        if os.geteuid() != 0:
            # whose environment only root may read
            pid = listener_of(self.dir + "/debuglantern/debuglantern.sock")
            return [] if pid is None else [pid]
        found = []
        for pid in os.listdir("/proc"):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    words = f.read()
                with open(f"/proc/{pid}/environ", "rb") as f:
                    env = f.read()
            except OSError:
                continue
            if b"debuglanternd\0--local" in words and \
                    os.fsencode("XDG_RUNTIME_DIR=" + self.dir) in env:
                found.append(int(pid))
        return found

    def role(self, name):
        """The process of the daemon's that has this name."""
        for pid in self.daemons():
            for kid in children(pid):
                try:
                    with open(f"/proc/{kid}/comm") as f:
                        if f.read().strip() == name:
                            return kid
                except OSError:
                    continue
        return None

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        for pid in self.daemons():
            os.kill(pid, signal.SIGTERM)
        wait_for(lambda: not self.daemons(), SOON)
        shutil.rmtree(self.dir, True)


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as f:
            return [int(k) for k in f.read().split()]
    except OSError:
        return []


class Proxy:
    """One debuglantern-mcp."""

    def __init__(self, home, *args, cwd=None, env=None):
        self.p = subprocess.Popen(
            [os.path.join(BIN, "debuglantern-mcp"), *args],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=cwd, env=dict(home.env, **env or {}))
        self.last = 0
        self.lines = queue.Queue()
        self.said = []
        self.version = None
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.p.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def raw(self, data):
        self.p.stdin.write(data)
        self.p.stdin.flush()

    def send(self, message):
        self.raw(json.dumps(message).encode() + b"\n")

    def request(self, method, params=None, **meta):
        """Sends one; its id."""
        self.last += 1
        m = {"jsonrpc": "2.0", "id": self.last, "method": method}
        params = dict(params or {})
        if self.version == MODERN:
            meta = dict(META, **meta)
        if meta:
            params["_meta"] = meta
        if params:
            m["params"] = params
        self.send(m)
        return self.last

    def note(self, method, **params):
        self.send({"jsonrpc": "2.0", "method": method, "params": params})

    def next(self, seconds=SOON):
        """The next line, parsed; None at the end."""
        line = self.lines.get(timeout=seconds)
        if line is None:
            return None
        m = json.loads(line)
        self.said.append(m)
        return m

    def answer(self, number):
        """Of this request; what else is said meanwhile is kept in said."""
        while True:
            m = self.next()
            if m is None:
                raise EOFError(self.p.stderr.read())
            if isinstance(m, dict) and m.get("id") == number and \
                    ("result" in m or "error" in m):
                return m

    def ask(self, method, params=None, **meta):
        return self.answer(self.request(method, params, **meta))

    def initialize(self, version="2025-11-25"):
        self.version = version
        if version == MODERN:
            return self.ask("server/discover")
        r = self.ask("initialize", {
            "protocolVersion": version, "capabilities": {},
            "clientInfo": {"name": "raw", "version": "1"}})
        self.note("notifications/initialized")
        return r

    def call(self, tool, **arguments):
        """The result of a tool."""
        m = self.ask("tools/call", {"name": tool, "arguments": arguments})
        return m.get("result", m)

    def done(self, tool, **arguments):
        """The same, of which a good result is expected."""
        r = self.call(tool, **arguments)
        if r.get("isError") is not False:
            raise AssertionError(f"{tool}: {r}")
        return r["structuredContent"] if "structuredContent" in r else \
            json.loads(r["content"][0]["text"])

    def refused(self, tool, **arguments):
        """The error's object."""
        r = self.call(tool, **arguments)
        if r.get("isError") is not True:
            raise AssertionError(f"{tool}: {r}")
        return json.loads(r["content"][0]["text"])

    def close(self):
        """Ends its input; the exit code, once all has been said."""
        self.p.stdin.close()
        while (m := self.lines.get(timeout=SOON)) is not None:
            self.said.append(json.loads(m))
        return self.p.wait(SOON)

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        if self.p.poll() is None:
            self.p.kill()
            self.p.wait()


KINDS = {"string": str, "boolean": bool, "array": list, "object": dict,
         "null": type(None), "integer": int, "number": (int, float)}


def fits(value, schema, where="value"):
    """What is wrong with a value by a schema, as far as ours go; or None."""
    unknown = set(schema) - {
        "type", "enum", "properties", "required", "additionalProperties",
        "items", "minimum", "maximum", "default", "description"}
    if unknown:
        return f"{where}: this test does not know {unknown}"
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(isinstance(value, KINDS[k]) and
                         (k == "boolean") >= isinstance(value, bool)
                         for k in kinds):
        return f"{where} is no {kinds}: {value!r}"
    if "enum" in schema and value not in schema["enum"]:
        return f"{where} is none of {schema['enum']}"
    if isinstance(value, int) and not (
            schema.get("minimum", value) <= value <=
            schema.get("maximum", value)):
        return f"{where} is out of range: {value}"
    if isinstance(value, list) and "items" in schema:
        for i, item in enumerate(value):
            wrong = fits(item, schema["items"], f"{where}[{i}]")
            if wrong:
                return wrong
    return fits_members(value, schema, where) \
        if isinstance(value, dict) else None


def fits_members(value, schema, where):
    named = schema.get("properties", {})
    for name in schema.get("required", []):
        if name not in value:
            return f"{where} has no {name}"
    for name, member in value.items():
        others = schema.get("additionalProperties", {})
        if name not in named and others is False:
            return f"{where} has {name}, which no schema names"
        wrong = fits(member, named.get(name, others), f"{where}.{name}")
        if wrong:
            return wrong
    return None
