# SPDX-License-Identifier: ISC
"""What the end-to-end tests share: TAP, a private daemon, a raw client."""
import atexit
import contextlib
import json
import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

BIN = os.environ.get("DL_BIN", "build/bin")
LIBEXEC = os.environ.get("DL_LIBEXEC", "build/libexec/debuglantern")
HELPERS = os.environ.get("DL_HELPERS", "build/regress/helpers")
MUST_WORK = os.environ.get("MUST_WORK") == "1"

# Uids of users that need no account: sessions run as numbers.
ALICE, BOB = 41001, 41002


class Tap:
    """Counts as it goes; the plan comes last."""

    def __init__(self):
        self.n = 0
        self.failed = 0

    def ok(self, cond, name, detail=None):
        self.n += 1
        if not cond:
            self.failed += 1
        print(f"{'ok' if cond else 'not ok'} {self.n} - {name}", flush=True)
        if not cond and detail is not None:
            for line in str(detail).splitlines()[-40:]:
                print("#  " + line, flush=True)
        return bool(cond)

    def eq(self, got, want, name):
        return self.ok(got == want, name, f"got:  {got!r}\nwant: {want!r}")

    def done(self):
        print(f"1..{self.n}", flush=True)
        sys.exit(1 if self.failed else 0)


tap = Tap()
ok, eq = tap.ok, tap.eq


def run_tests(*tests):
    """Runs each function; an exception is one failed test, not the end."""
    for t in tests:
        try:
            t()
        except Exception:  # noqa: the trace is the detail of the failure
            ok(False, f"{t.__name__} ran to its end", traceback.format_exc())
    tap.done()


def wait_for(fn, seconds=10, step=0.02):
    """Waits for a true value of fn() and returns it, or the last one."""
    end = time.monotonic() + seconds
    while True:
        v = fn()
        if v or time.monotonic() > end:
            return v
        time.sleep(step)


def free_port():
    """A port that was free on both loopback addresses a moment ago."""
    while True:
        with socket.socket() as s4:
            s4.bind(("127.0.0.1", 0))
            port = s4.getsockname()[1]
            try:
                with socket.socket(socket.AF_INET6) as s6:
                    s6.bind(("::1", port))
                return port
            except OSError:
                continue


@contextlib.contextmanager
def as_uid(uid):
    """Sockets made inside belong to uid (root only)."""
    if uid is None or uid == os.geteuid():
        yield
        return
    os.setegid(uid)
    os.seteuid(uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


class Client:
    """One connection of the control protocol, as plain as it gets."""

    def __init__(self, port, host="127.0.0.1", uid=None, timeout=30):
        with as_uid(uid):
            self.s = socket.create_connection((host, port), timeout=timeout)
        self.buf = b""

    def send(self, data):
        self.s.sendall(data if isinstance(data, bytes) else data.encode())

    def recv_line(self):
        while b"\n" not in self.buf:
            d = self.s.recv(65536)
            if not d:
                raise EOFError(f"closed; left: {self.buf[:200]!r}")
            self.buf += d
        line, self.buf = self.buf.split(b"\n", 1)
        return line

    def recv_bytes(self, n):
        while len(self.buf) < n:
            d = self.s.recv(65536)
            if not d:
                raise EOFError("closed")
            self.buf += d
        out, self.buf = self.buf[:n], self.buf[n:]
        return out

    def recv_eof(self):
        while True:
            d = self.s.recv(65536)
            if not d:
                out, self.buf = self.buf, b""
                return out
            self.buf += d

    def json(self):
        return json.loads(self.recv_line())

    def cmd(self, line):
        self.send(line + "\n")
        return self.json()

    def upload(self, data, exec_path=None):
        if isinstance(data, str):
            with open(data, "rb") as f:
                data = f.read()
        head = f"UPLOAD {len(data)}"
        if exec_path is not None:
            head += " " + exec_path
        self.send(head.encode() + b"\n" + data)
        return self.json()

    def output(self, sid):
        """All bytes that are held, exact."""
        import base64
        return base64.b64decode(self.cmd(f"OUTPUT {sid} 0 base64")["output"])

    def run(self, path, args="", wait=20):
        """Upload, start, wait: the id and the final session object."""
        sid = self.upload(path)["id"]
        if args:
            self.cmd(f"ARGS {sid} {args}")
        r = self.cmd(f"START {sid}")
        if "error_code" in r:
            return sid, r
        return sid, self.cmd(f"WAIT {sid} {wait}")

    def close(self):
        self.s.close()


class Daemon:
    """A private daemon: own port, own directories, stopped at exit."""

    def __init__(self, mode="system", conf="", args=(), uid=ALICE, env=None,
                 wait=True, wrapper=()):
        self.mode = mode
        self.port = free_port()
        self.dir = tempfile.mkdtemp(prefix="dl-test-")
        os.chmod(self.dir, 0o755)
        self.uid = uid if mode == "user" and os.geteuid() == 0 else None
        self.log_path = os.path.join(self.dir, "log")
        self.conf_path = os.path.join(self.dir, "conf")
        self.args = list(args)
        self.env = dict(os.environ if env is None else env)
        self.env.pop("NOTIFY_SOCKET", None)
        self.wrapper = list(wrapper)
        self.proc = None
        base = f'state-dir "{self.dir}/state"\nrun-dir "{self.dir}/run"\n'
        if "mdns" not in conf:
            base += "mdns no\n"
        self.write_conf(base + conf)
        os.mkdir(os.path.join(self.dir, "home"))
        for sub in ("", "home"):
            if self.uid is not None:
                os.chown(os.path.join(self.dir, sub), self.uid, self.uid)
        atexit.register(self.cleanup)
        self.start(wait)

    def write_conf(self, text):
        with open(self.conf_path, "w") as f:
            f.write(text)
        os.chmod(self.conf_path, 0o644)

    def start(self, wait=True):
        argv = self.wrapper + [
            os.path.join(BIN, "debuglanternd"), "-d", "-v", "-f",
            self.conf_path, "--port", str(self.port)] + self.args
        if self.mode == "user" and os.geteuid() == 0 and self.uid is None:
            argv.append("--user")
        self.env["HOME"] = os.path.join(self.dir, "home")
        kw = {}
        if self.uid is not None:
            kw = {"user": self.uid, "group": self.uid, "extra_groups": []}
        # pidfd and log belong to this process, so that nothing leaks
        with open(self.log_path, "ab") as log:
            self.proc = subprocess.Popen(
                argv, stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                env=self.env, cwd="/", **kw)
        if not wait:
            return
        if not wait_for(lambda: "is ready" in self.log() or
                        self.proc.poll() is not None, 20) or \
                self.proc.poll() is not None:
            raise RuntimeError("the daemon did not start:\n" + self.log())

    def log(self):
        with open(self.log_path, errors="replace") as f:
            return f.read()

    def client(self, uid=None, host="127.0.0.1", timeout=30):
        if uid is None and self.uid is not None:
            uid = self.uid
        return Client(self.port, host, uid, timeout)

    def ctl(self, *args, uid=None, **kw):
        """debuglanternctl against this daemon; a CompletedProcess."""
        if uid is None and self.uid is not None:
            uid = self.uid
        if uid is not None and os.geteuid() == 0:
            kw.update(user=uid, group=uid, extra_groups=[])
        env = dict(self.env, DEBUGLANTERN_TARGET=f"127.0.0.1:{self.port}")
        kw.setdefault("timeout", 60)
        return subprocess.run(
            [os.path.join(BIN, "debuglanternctl"), *args], env=env,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, **kw)

    def children(self, name=None):
        """{pid: comm} of the daemon's processes, by parent pid."""
        out = {}
        for p in os.listdir("/proc"):
            if not p.isdigit():
                continue
            try:
                with open(f"/proc/{p}/stat") as f:
                    s = f.read()
            except OSError:
                continue
            comm = s[s.index("(") + 1:s.rindex(")")]
            rest = s[s.rindex(")") + 2:].split()
            if int(rest[1]) == self.proc.pid and rest[0] != "Z":
                if name is None or comm == name:
                    out[int(p)] = comm
        return out

    def role_pid(self, name):
        pids = sorted(self.children(name))
        return pids[0] if pids else None

    def stop(self, sig=signal.SIGTERM, timeout=15):
        """Seconds that the stop took."""
        t = time.monotonic()
        if self.proc is not None and self.proc.poll() is None:
            self.proc.send_signal(sig)
            self.proc.wait(timeout)
        return time.monotonic() - t

    def cleanup(self):
        if self.proc is not None and self.proc.poll() is None:
            try:
                self.stop()
            except subprocess.TimeoutExpired:
                self.proc.kill()
                self.proc.wait()
        shutil.rmtree(self.dir, ignore_errors=True)


def helper(name):
    return os.path.join(HELPERS, name)


def service_uid(name):
    return pwd.getpwnam(name).pw_uid
