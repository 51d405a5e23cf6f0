# SPDX-License-Identifier: ISC
"""What the end-to-end tests share: TAP, a private daemon, a raw client."""
import atexit
import base64
import contextlib
import ctypes
import encodings.idna  # now: other users may not reach python
import errno
import functools
import io
import json
import os
import pwd
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import traceback

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))
# A test that is started by hand starts again in the environment that
# regress/run.sh gives to it.
if "DL_BIN" not in os.environ and sys.argv[0].endswith(".t"):
    os.execv(os.path.join(TOP, "regress/env.sh"),
             ["env.sh", os.environ.get("DL_BUILD") or TOP + "/build",
              os.path.abspath(sys.argv[0]), *sys.argv[1:]])
BIN = os.environ.get("DL_BIN", "build/bin")
LIBEXEC = os.environ.get("DL_LIBEXEC", "build/libexec/debuglantern")
HELPERS = os.environ.get("DL_HELPERS", "build/regress/helpers")
# the reason of a skip, and the command that mends it
NO_IPV6 = "this host has no ::1; sysctl -w net.ipv6.conf.lo.disable_ipv6=0"
# Seconds after which nothing will come any more, on a busy machine either.
PATIENCE = 60
# a build with sanitizers: slower, larger, and it tells of bugs by itself
SANITIZED = os.environ.get("DL_SANITIZED") == "1"

# Uids of users that need no account: sessions run as numbers.  Test files
# that run at the same time have users of their own, so that they can look
# for what their users left behind.
ALICE = 20000 + os.getpid() % 10000 * 2 + 1
BOB = ALICE + 1

AS_ROOT = os.geteuid() == 0
# Daemons are stopped by atexit; a test that is ended must get there too.
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
MODES = ("system", "user") if AS_ROOT else ("user",)

# Lines in the log of a daemon whose processes misbehave.
TROUBLE = ("is ended:", "was ended by signal", "exited with",
           "failed during", "is not ready after")
# ... and what a sanitizer says of them.
REPORTS = ("AddressSanitizer", "runtime error:")
# Stubs have a stack of their own, which is nothing to warn of.
QUIETER = ["sed", "-u", "/WARNING: ASan is ignoring requested/d; "
           "/^False positive error reports may/d; "
           "/^For details see .*sanitizers/d"]


class Refused(dict):
    """An error for an answer; what is missing in it is the error itself."""

    def __missing__(self, key):
        raise KeyError(f"no {key} in {dict(self)}")


class Tap:
    """Counts as it goes; the plan comes last."""

    def __init__(self):
        self.n = 0
        self.failed = 0
        self.prefix = ""

    def ok(self, cond, name, detail=None):
        self.n += 1
        if not cond:
            self.failed += 1
        name = self.prefix + name
        print(f"{'ok' if cond else 'not ok'} {self.n} - {name}", flush=True)
        if not cond and detail is not None:
            for line in str(detail).splitlines()[-40:]:
                print("#  " + line, flush=True)
        return bool(cond)

    def eq(self, got, want, name):
        detail = f"got:  {got!r}\nwant: {want!r}"
        # of two long lists of names only these are looked for
        if isinstance(got, set) and isinstance(want, set):
            detail = "got, not wanted: {}\nwanted, not got: {}".format(
                *(sorted(x, key=repr) for x in (got - want, want - got)))
        return self.ok(got == want, name, detail)

    def skip(self, name, why):
        self.n += 1
        print(f"ok {self.n} - {name} # SKIP {why}", flush=True)

    @staticmethod
    def lacks(what, why):
        """No skip: here nothing could be done about it.  run.sh repeats it."""
        print(f"# this machine cannot try {what}: {why}", flush=True)

    def done(self):
        print(f"1..{self.n}", flush=True)
        sys.exit(1 if self.failed else 0)


tap = Tap()
ok, eq = tap.ok, tap.eq


def attempt(name, fn, *args):
    """An exception is one failed test, not the end."""
    try:
        fn(*args)
        return True
    except Exception:  # noqa: the trace is the detail of the failure
        return ok(False, f"{name} ran to its end", traceback.format_exc())


def run_tests(*tests):
    """Runs each function, then ends.  DL_ONLY=word runs those with it."""
    only = os.environ.get("DL_ONLY", "")
    for t in tests:
        # some look themselves at the functions that they were given
        if getattr(t, "chooses", False) or only in t.__name__:
            attempt(t.__name__, t)
    if not AS_ROOT:
        tap.skip("what only root can test of this", "not root")
    tap.done()


def in_modes(*tests, modes=MODES, calm=True, **kw):
    """One function for run_tests: a daemon per mode, tests(daemon) on it.

    After each test all sessions are removed.  Unless calm is False, no role
    may have died."""
    only = os.environ.get("DL_ONLY", "")
    tests = [t for t in tests if only in t.__name__]

    def run():
        for mode in modes if tests else ():
            tap.prefix = mode + ": "
            try:
                with Daemon(mode, **kw) as d:
                    run_on(d, tests, calm)
            finally:
                tap.prefix = ""
    run.__name__ = "in_modes"
    run.chooses = True
    return run


def run_on(d, tests, calm):
    for t in tests:
        seen = len(d.log())
        good = attempt(t.__name__, t, d)
        good = attempt(f"clean-up after {t.__name__}", d.tidy) and good
        if not good:
            for line in d.log()[seen:].splitlines()[-15:]:
                print("#  log: " + line, flush=True)
    if calm:
        bad = [line for line in d.log().splitlines()
               if any(w in line for w in TROUBLE)]
        eq(bad, [], "no process of the daemon was ended or died")


def alone(fn, modes=MODES):
    """For tests that start daemons themselves: fn(mode) for each mode."""
    def run():
        for mode in modes:
            tap.prefix = mode + ": "
            attempt(fn.__name__, fn, mode)
            tap.prefix = ""
    run.__name__ = fn.__name__
    run.chooses = getattr(fn, "chooses", False)
    return run


def wait_for(fn, seconds=PATIENCE, step=0.02):
    """Waits for a true value of fn() and returns it, or the last one."""
    end = time.monotonic() + seconds
    while True:
        v = fn()
        if v or time.monotonic() > end:
            return v
        time.sleep(step)


def copy_source(path, where):
    """A copy that every user can read: under umask 077 the sources are not."""
    to = os.path.join(where, os.path.basename(path))
    shutil.copyfile(path, to)
    os.chmod(to, 0o644)
    return to


def has_ipv6():
    """False where IPv6 is switched off, at boot (ipv6.disable=1) or by sysctl.
    A test may bring lo up later, so ::1 itself is not tried."""
    try:
        with open("/proc/sys/net/ipv6/conf/lo/disable_ipv6") as f:
            return f.read() == "0\n"
    except FileNotFoundError:
        return False


IPV6 = has_ipv6()


def net_table(name):
    """The rows of /proc/net/NAME in words; none of tcp6 without IPv6."""
    try:
        with open("/proc/net/" + name) as f:
            return [line.split() for line in f.readlines()[1:]]
    except FileNotFoundError:
        if IPV6 or not name.endswith("6"):
            raise
        return []


def loopbacks(*names):
    """The addresses among names that this host has; a skip for the others."""
    if IPV6:
        return names
    for name in names:
        if ":" in name:
            tap.skip(f"on {name}", NO_IPV6)
    return tuple(n for n in names if ":" not in n)


def free_port():
    """A port that was free on each loopback address a moment ago."""
    while True:
        with socket.socket() as s4:
            s4.bind(("127.0.0.1", 0))
            port = s4.getsockname()[1]
            try:
                with socket.socket(socket.AF_INET6) as s6:
                    s6.bind(("::1", port))
                return port
            except OSError:
                if not IPV6:
                    return port


def listener_of(path):
    """The process that listens on a local socket; None if there is none."""
    with socket.socket(socket.AF_UNIX) as s:
        try:
            s.connect(path)
        except OSError:
            return None
        pid, = struct.unpack_from("i", s.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return pid


def dial(address, timeout):
    """A (host, port), or the path of a local socket."""
    if not isinstance(address, str):
        return socket.create_connection(address, timeout=timeout)
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(timeout)
    s.connect(address)
    return s


class Held(socket.socket):
    """A socket that a Maker holds too, until it is closed here."""

    def __init__(self, fd, maker, number):
        super().__init__(fileno=fd)
        self.maker, self.number = maker, number

    def close(self):
        super().close()
        maker, self.maker = self.maker, None
        if maker is not None:
            maker.drop(self.number)

    __del__ = close


class Maker:
    """A process of another user that makes connections and keeps them.

    Who owns a connection is told by the socket's uid and by the processes
    that hold it: it takes a whole process to be somebody else."""
    made = {}

    def __init__(self, uid):
        self.lock = threading.Lock()
        self.s, theirs = socket.socketpair()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                self.s.close()
                os.setgroups([])
                os.setresgid(uid, uid, uid)
                os.setresuid(uid, uid, uid)
                # as after an exec: the daemon may look who holds a socket
                ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
                self.serve(theirs)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        theirs.close()
        atexit.register(self.end)

    def end(self):
        self.s.close()
        os.waitpid(self.pid, 0)

    @staticmethod
    def serve(s):
        held = {}
        for n, line in enumerate(s.makefile("r")):
            what, *more = json.loads(line)
            if what == "close":
                held.pop(more[0]).close()
                continue
            try:
                held[n] = dial(*more)
                socket.send_fds(s, [b"%d\n" % n], [held[n].fileno()])
            except OSError as e:
                s.send(b"-%d\n" % (e.errno or errno.ETIMEDOUT))

    def ask(self, *what):
        self.s.sendall(json.dumps(what).encode() + b"\n")

    def connect(self, address, timeout):
        with self.lock:
            self.ask("connect", address, timeout)
            data, fds, _, _ = socket.recv_fds(self.s, 100, 1)
        n = int(data)
        if not fds:
            raise OSError(-n, os.strerror(-n))
        s = Held(fds[0], self, n)
        s.settimeout(timeout)
        return s

    def drop(self, number):
        with self.lock:
            try:
                self.ask("close", number)
            except OSError:
                pass


def connect(host, port, uid=None, timeout=30):
    """A connection of a user's (root only, else one's own).

    Without a port, host is the path of a local socket."""
    address = (host, port) if port is not None else host
    if uid is None or uid == os.geteuid():
        return dial(address, timeout)
    if uid not in Maker.made:
        Maker.made[uid] = Maker(uid)
    return Maker.made[uid].connect(address, timeout)


class Client:
    """A connection of the control protocol, as plain as it gets.

    On TCP, HELLO goes before the first line: greeted is False until then.
    Tests of what comes before HELLO set it to True themselves."""
    greeted = False

    def __init__(self, port, host="127.0.0.1", uid=None, timeout=30):
        """port may be the path of a local socket."""
        if isinstance(port, str):
            host, port = port, None
            self.greeted = True
        self.s = connect(host, port, uid, timeout)
        self.buf = b""

    def hello(self):
        """The answer that ends the exchange, or an error."""
        self.greeted = True
        r = self.cmd("HELLO")
        return self.cmd("HELLO " + r["nonce"]) if "nonce" in r else r

    def greet(self, data):
        """HELLO, unless a token comes first; an error stays to be read."""
        self.greeted = True
        if data.startswith(b"AUTH"):
            return
        try:
            r = self.hello()
            if "error_code" in r:
                self.buf = json.dumps(r).encode() + b"\n" + self.buf
        except (EOFError, ConnectionError):
            # whoever reads next is told the same
            pass

    def send(self, data):
        data = data if isinstance(data, bytes) else data.encode()
        if not self.greeted:
            self.greet(data)
        self.s.sendall(data)

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
        parts, self.buf = [self.buf], b""
        try:
            while d := self.s.recv(1 << 20):
                parts.append(d)
        finally:
            self.buf = b"".join(parts)
        out, self.buf = self.buf, b""
        return out

    def json(self):
        return json.loads(self.recv_line())

    def cmd(self, line):
        self.send(line + "\n")
        return self.json()

    def upload(self, data, exec_path=None, file=None):
        if isinstance(data, str):
            with open(data, "rb") as f:
                data = f.read()
        head = f"UPLOAD {len(data)}"
        if exec_path is not None:
            head += " " + exec_path
        if file is not None:
            head += " file=" + file
        self.send(head.encode() + b"\n" + data)
        r = self.json()
        # who wants the id is told why there is none
        return r if "id" in r else Refused(r)

    def closed(self, seconds=PATIENCE):
        """Whether the other end closes without sending more."""
        self.s.settimeout(seconds)
        try:
            return self.s.recv(65536) == b""
        except ConnectionError:
            return True
        except socket.timeout:
            return False

    def start(self, path, args="", flags="", until=None):
        """Upload and start; waits for the bytes until in the output."""
        sid = self.upload(path)["id"]
        if args:
            self.cmd(f"ARGS {sid} {args}")
        r = self.cmd(f"START {sid} {flags}".strip())
        if "error_code" in r:
            raise RuntimeError(f"START {path}: {r}")
        if until is not None:
            self.until(sid, until)
        return sid, r

    def until(self, sid, what, seconds=20):
        if not wait_for(lambda: what in self.output(sid), seconds):
            raise RuntimeError(f"{what!r} is not in {self.output(sid)!r}")

    def output(self, sid):
        """All bytes that are held, exact."""
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

    def reset(self):
        """Goes away for good: a mere close might still read answers."""
        self.s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                          struct.pack("ii", 1, 0))
        self.s.close()


class Daemon:
    """A private daemon: own port, own directories, stopped at exit."""
    FLAGS = ("-d", "-v")
    GROUPS = ("--clear-groups",)    # a user's, as setpriv is told them

    def __init__(self, mode="system", conf="", args=(), uid=ALICE, env=None,
                 wait=True, wrapper=(), web=False):
        self.mode = mode
        self.port = free_port()
        # the usual one is taken by whoever is quickest
        self.web = free_port() if web else 0
        self.dir = tempfile.mkdtemp(prefix="dl-test-")
        os.chmod(self.dir, 0o755)
        self.uid = uid if mode == "user" and os.geteuid() == 0 else None
        self.log_path = os.path.join(self.dir, "log")
        self.conf_path = os.path.join(self.dir, "conf")
        self.args = list(args)
        self.env = dict(os.environ if env is None else env)
        if env is None:
            self.env.pop("NOTIFY_SOCKET", None)
        self.wrapper = list(wrapper)
        self.proc = self.quieter = None
        base = f'state-dir "{self.dir}/state"\nrun-dir "{self.dir}/run"\n'
        if "max-sessions-per-user" not in conf:
            base += "max-sessions-per-user 4096\n"
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
            os.path.join(BIN, "debuglanternd"), *self.FLAGS, "-f",
            self.conf_path, "--port", str(self.port), "--web-port",
            str(self.web)] + self.args
        if self.mode == "user" and os.geteuid() == 0 and self.uid is None:
            argv.append("--user")
        self.env["HOME"] = os.path.join(self.dir, "home")
        kw = {}
        if self.uid is not None and self.wrapper:
            # wrappers are root's, to mount things
            argv[len(self.wrapper):0] = [
                "setpriv", "--reuid", str(self.uid), "--regid",
                str(self.uid), *self.GROUPS]
        elif self.uid is not None:
            kw = {"user": self.uid, "group": self.uid, "extra_groups": []}
        # pidfd and log belong to this process, so that nothing leaks
        before = len(self.log()) if os.path.exists(self.log_path) else 0
        with open(self.log_path, "ab") as log:
            errors = log
            if SANITIZED:
                # roles that may not write files may still write reports
                self.quieter = subprocess.Popen(
                    QUIETER, stdin=subprocess.PIPE, stdout=log)
                errors = self.quieter.stdin
            self.proc = subprocess.Popen(
                argv, stdout=log, stderr=errors, stdin=subprocess.DEVNULL,
                env=self.env, cwd="/", **kw)
            if SANITIZED:
                errors.close()
        if not wait:
            return
        if not wait_for(lambda: "is ready" in self.log()[before:] or
                        self.proc.poll() is not None) or \
                self.proc.poll() is not None:
            raise RuntimeError("the daemon did not start:\n" + self.log())

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        # of an exception in the test, the daemon knows another half
        if kind is not None:
            for line in self.log().splitlines()[-30:]:
                print("#  daemon: " + line, flush=True)
        self.cleanup()

    def tidy(self):
        """Ends and deletes every session of the default user."""
        c = self.client()
        for s in c.cmd("LIST"):
            if s["state"] in ("RUNNING", "DEBUGGING"):
                c.cmd("KILL " + s["id"])
            r = c.cmd("DELETE " + s["id"])
            # one that its debugger has made goes with that
            if r.get("state") != "DELETED" and \
                    r.get("error_code") != "not_found":
                raise RuntimeError(f"cannot delete {s}: {r}")
        c.close()

    def log(self):
        # the last words of a daemon that has ended are still on their way
        if self.quieter is not None and self.proc.poll() is not None:
            wait_for(lambda: self.quieter.poll() is not None, 3)
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
        """{pid: comm} of the daemon's roles, by parent pid.

        Stubs of sessions whose launcher has died are its children too."""
        out = {}
        own = len(status_of(self.proc.pid).get("NSpid", "").split())
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
                inside = len(status_of(p).get("NSpid", "").split())
                if (name is None or comm == name) and inside == own:
                    out[int(p)] = comm
        return out

    def role_pid(self, name):
        pids = sorted(self.children(name))
        return pids[0] if pids else None

    def processes(self):
        """Every process below the daemon, itself first."""
        return descendants(self.proc.pid)

    def archivers(self):
        return [p for p in self.processes()
                if b"archiver" in read_proc(p, "comm")]

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
        if os.path.exists(self.log_path):
            said = reports(self.log())
            if said:
                ok(False, "no sanitizer found a bug in the daemon", said)
        shutil.rmtree(self.dir, ignore_errors=True)
        atexit.unregister(self.cleanup)


def reports(text):
    """What sanitizers said in a log, from the first report on."""
    at = [text.find(r) for r in REPORTS if r in text]
    return text[max(0, min(at) - 200):][:4000] if at else ""


# Not a mount on /etc/passwd: whoever adds a user to the host puts another
# file in its place, and mounts on the old one go away.
ACCOUNTS = ("mount -t tmpfs -o mode=755 none \"$0\"/etc && "
            "cp -a /etc/. \"$0\"/etc && "
            "cat \"$0\"/passwd >>\"$0\"/etc/passwd && "
            "cat \"$0\"/group >>\"$0\"/etc/group && "
            "mount --move \"$0\"/etc /etc && exec \"$@\"")


@contextlib.contextmanager
def passwd_wrapper(*users):
    """What to start a daemon by, so that these users have accounts there.

    Each is a (name, uid), also with a home, or a uid for the name of "u" and
    the number; /etc is a copy in a mount namespace of its own (root only)."""
    users = [u if isinstance(u, tuple) else (f"u{u}", u) for u in users]
    users = [u if len(u) == 3 else (*u, "/") for u in users]
    with tempfile.TemporaryDirectory(prefix="dl-accounts-") as tmp:
        os.mkdir(tmp + "/etc")
        with open(tmp + "/passwd", "w") as f:
            f.writelines(f"{n}:x:{u}:{u}::{h}:/bin/sh\n"
                         for n, u, h in users)
        with open(tmp + "/group", "w") as f:
            f.writelines(f"{n}:x:{u}:\n" for n, u, _ in users)
        yield ["unshare", "-m", "sh", "-c", ACCOUNTS, tmp]


def token_made(d, how="", uid=None):
    """The daemon's answer to TOKEN create, asked over a connection of its
    own."""
    c = d.client(uid)
    try:
        return c.cmd("TOKEN create " + how)
    finally:
        c.close()


def token_of(d, how="", uid=None):
    """A new token itself."""
    return token_made(d, how, uid)["token"]


@contextlib.contextmanager
def system_with(*users, conf="", **kw):
    """A daemon in system mode where these have accounts (root only)."""
    with passwd_wrapper(*users) as wrapper, \
            Daemon("system", conf, wrapper=wrapper, **kw) as d:
        yield d


def needed_libraries():
    """What the daemon itself loads, so that it can stand on a small tree."""
    out = set()
    programs = [os.path.join(BIN, "debuglanternd"), "/usr/bin/setpriv",
                "/bin/sh"]
    programs += [os.path.join(LIBEXEC, x) for x in os.listdir(LIBEXEC)]
    for p in programs:
        text = subprocess.run(["ldd", p], stdout=subprocess.PIPE,
                              check=True).stdout.decode()
        out.update(re.findall(r"(/\S+\.so\S*) \(", text))
    return out


def tree_places(path, lib, apart, most):
    """Where a small tree has this library, under each of its names."""
    real = os.path.realpath(path)
    for name in {path, real}:
        if most is not None and os.path.getsize(real) > most and \
                not os.path.basename(real).startswith(("libc.", "ld-")):
            yield os.path.join(apart, os.path.basename(name))
            continue
        inside = os.path.join("/", *name.split("/")[1:])
        for top in ("/usr/lib/", "/lib/"):
            if inside.startswith(top):
                yield os.path.join(lib, inside[len(top):])


# What is loaded from elsewhere is found by the loader's cache alone.  The one
# of the host, and what it keeps to make it sooner, stay as they are.
BIND = "mount --bind \"$0\"/lib /usr/lib"
CACHE = ("mount -t tmpfs none /var/cache/ldconfig && "
         f"{BIND} && ldconfig -X -f \"$0\"/conf -C \"$0\"/cache")
CACHED = "mount --bind \"$0\"/cache /etc/ld.so.cache && " + BIND


@contextlib.contextmanager
def small_tree(most=None):
    """A wrapper after which /usr/lib holds little more than is needed.

    Libraries of more bytes than most are elsewhere, but for what every
    session needs: to pack them takes long."""
    base = tempfile.mkdtemp(prefix="dl-sysroot-")
    try:
        os.chmod(base, 0o755)
        lib, apart = base + "/lib", base + "/apart"
        os.mkdir(lib)
        os.mkdir(apart)
        copies = {}
        for path in needed_libraries():
            real = os.path.realpath(path)
            for to in tree_places(path, lib, apart, most):
                # once in the archive, as under most of its names
                if os.path.exists(to):
                    continue
                os.makedirs(os.path.dirname(to), exist_ok=True)
                if real in copies:
                    os.link(copies[real], to)
                else:
                    copies[real] = shutil.copy(real, to)
        if most is not None:
            with open(base + "/conf", "w") as f:
                f.write(apart + "\n")
            subprocess.run(["unshare", "-m", "sh", "-c", CACHE, base],
                           check=True)
        # /lib64 is its own, or a link to /usr/lib64
        os.makedirs(lib + "/debug/sub")
        with open(lib + "/debug/sub/x.debug", "wb") as f:
            f.write(b"debug " * 1000)
        with open(lib + "/plain.so.1.2", "wb") as f:
            f.write(b"library " * 1000)
        os.symlink("plain.so.1.2", lib + "/plain.so.1")
        os.symlink("/usr/lib/plain.so.1", lib + "/plain.so")
        os.symlink("nowhere", lib + "/dangling.so")
        os.symlink("/etc/shadow", lib + "/outside.so")
        os.symlink("loop", lib + "/loop")
        os.mkfifo(lib + "/fifo")
        with open(lib + "/secret.so", "wb") as f:
            f.write(b"not for everybody")
        os.chmod(lib + "/secret.so", 0o600)
        bind = BIND if most is None else CACHED
        yield ["unshare", "-m", "sh", "-c", bind + " && exec \"$@\"", base]
    finally:
        shutil.rmtree(base)


def helper(name):
    """The path of a program that tests are made with."""
    path = os.path.join(HELPERS, name)
    if not os.path.exists(path):
        raise RuntimeError(f"there is no helper {name} in {HELPERS}; build "
                           "it: make test-bins")
    return path


@functools.lru_cache(None)
def narrow():
    """A 32-bit program for x86-64 hosts; see its source."""
    place = tempfile.mkdtemp(prefix="dl-narrow-")
    atexit.register(shutil.rmtree, place, True)
    path = os.path.join(place, "narrow")
    os.chmod(place, 0o755)
    subprocess.run(
        [os.environ.get("CC") or "cc", "-m32", "-g", "-O1", "-nostdlib",
         "-static", "-no-pie", "-fno-pie", "-ffreestanding",
         "-fno-stack-protector", "-o", path,
         os.path.join(os.path.dirname(__file__), "../narrow/narrow.c")],
        check=True)
    return path


@functools.lru_cache(None)
def runs_narrow():
    """Whether this kernel runs 32-bit programs; a line says that it does not."""
    if os.uname().machine != "x86_64":
        return False
    try:
        # it ends with 7 whatever it is asked for
        return subprocess.run([narrow(), "20"],
                              stdout=subprocess.DEVNULL).returncode == 7
    except OSError as e:
        if e.errno != errno.ENOEXEC:
            raise
    tap.lacks("32-bit programs", "its kernel runs none; use one with "
              "CONFIG_IA32_EMULATION that is not booted with ia32_emulation=0")
    return False


# requests of ptrace(2), and places of DR0 and DR7 in struct user
TRACEME, POKEUSER, CONT, DR0, DR7 = 0, 6, 7, 848, 904
# 8 bytes at the address in DR0, when they are written
DR7_WRITE_8 = 0x90001


@functools.lru_cache(None)
def has_watchpoints():
    """Whether debug registers stop a program; a line says that they do not."""
    if os.uname().machine != "x86_64":
        return True
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p,
                       ctypes.c_void_p]
    room = ctypes.create_string_buffer(16)
    at = ctypes.addressof(room) + 7 & ~7
    pid = os.fork()
    if pid == 0:
        ptrace(TRACEME, 0, None, None)
        os.kill(os.getpid(), signal.SIGSTOP)
        ctypes.memset(at, 1, 8)
        os._exit(0)
    os.waitpid(pid, 0)
    if ptrace(POKEUSER, pid, DR0, at) == 0 and \
            ptrace(POKEUSER, pid, DR7, DR7_WRITE_8) == 0:
        ptrace(CONT, pid, None, None)
        hit = os.WIFSTOPPED(os.waitpid(pid, 0)[1])
    else:
        hit = None
    if hit is not False:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    if not hit:
        tap.lacks("hits of watchpoints", "its hypervisor keeps debug "
                  "registers from programs")
    return bool(hit)


def service_uid(name):
    return pwd.getpwnam(name).pw_uid


# --- /proc ---------------------------------------------------------------

def pids():
    return [int(p) for p in os.listdir("/proc") if p.isdigit()]


def read_proc(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as f:
            return f.read()
    except OSError:
        return b""


def memory_of(pid):
    """What a process may write to in its memory: address, line of maps and
    bytes of each part.  Raises OSError when it cannot be looked into."""
    with open(f"/proc/{pid}/maps") as f:
        maps = f.read().splitlines()
    with open(f"/proc/{pid}/mem", "rb", 0) as mem:
        for line in maps:
            m = re.match(r"([0-9a-f]+)-([0-9a-f]+) rw", line)
            if not m:
                continue
            start, end = int(m[1], 16), int(m[2], 16)
            # a sanitizer's shadow: terabytes that are not there
            if end - start > 1 << 28:
                continue
            try:
                mem.seek(start)
                data = mem.read(end - start)
            except OSError:
                continue
            yield start, line, data


def stat_of(pid):
    """(comm, state, ppid, start time) or None."""
    s = read_proc(pid, "stat").decode(errors="replace")
    if not s:
        return None
    rest = s[s.rindex(")") + 2:].split()
    return (s[s.index("(") + 1:s.rindex(")")], rest[0], int(rest[1]),
            int(rest[19]))


def status_of(pid):
    """/proc/PID/status as a dictionary."""
    text = read_proc(pid, "status").decode(errors="replace")
    return {k: v.strip() for k, _, v in
            (line.partition(":") for line in text.splitlines())}


def pidfds_of(pid):
    """The processes that one has pidfds of; None: nobody may look."""
    found = set()
    try:
        for fd in os.listdir(f"/proc/{pid}/fdinfo"):
            m = re.search(rb"^Pid:\t(\d+)", read_proc(pid, "fdinfo/" + fd),
                          re.M)
            if m:
                found.add(int(m[1]))
    except OSError:
        return None
    return found


def descendants(root):
    stats = {p: s for p, s in ((p, stat_of(p)) for p in pids()) if s}
    out, i = [root], 0
    while i < len(out):
        out += [p for p, s in stats.items() if s[2] == out[i]]
        i += 1
    return out


def alive(pid):
    s = stat_of(pid)
    return s is not None and s[1] != "Z"


def session_processes(sid):
    """Processes that carry the session's id in their environment."""
    want = b"DEBUGLANTERN_SESSION=" + sid.encode()
    return [p for p in pids() if want in read_proc(p, "environ").split(b"\0")]


def user_processes(uid):
    """Every process of that user, but for those that make connections."""
    makers = {m.pid for m in Maker.made.values()}
    return [p for p in pids() if p not in makers and
            status_of(p).get("Uid", "x").split()[0] == str(uid)]


# --- things to upload ----------------------------------------------------

def tar_of(*members, compression="gz"):
    """A tar of (name, data or path[, mode]) or of TarInfo[, data]."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:" + compression) as t:
        for m in members:
            if isinstance(m[0], tarfile.TarInfo):
                data = m[1] if len(m) > 1 else b""
                m[0].size = len(data)
                t.addfile(m[0], io.BytesIO(data))
                continue
            data = m[1]
            if isinstance(data, str):
                with open(data, "rb") as f:
                    data = f.read()
            info = tarfile.TarInfo(m[0])
            info.size, info.mode = len(data), m[2] if len(m) > 2 else 0o755
            t.addfile(info, io.BytesIO(data))
    return out.getvalue()


def read_helper(name):
    with open(helper(name), "rb") as f:
        return f.read()


class Prober:
    """Another client, which asks for LIST all the time: did it wait?"""

    def __init__(self, d, uid=None, gap=0.01):
        self.c = d.client(uid)
        self.gap, self.worst, self.asked = gap, 0.0, 0
        self.end = threading.Event()
        self.thread = threading.Thread(target=self.ask, daemon=True)
        self.thread.start()

    def ask(self):
        try:
            while not self.end.is_set():
                t = time.monotonic()
                self.c.send("LIST\n")
                self.c.recv_line()
                self.worst = max(self.worst, time.monotonic() - t)
                self.asked += 1
                self.end.wait(self.gap)
        except (OSError, EOFError) as e:
            self.worst, self.why = 1e9, e

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end.set()
        self.thread.join(30)
        self.c.close()

    def check(self, name, bound=1.0):
        """A bound far from noise: it tells a stall, not a speed."""
        self.end.set()
        self.thread.join(60)
        ok(self.worst < bound and self.asked > 0, name,
           f"the longest wait was {self.worst:.3f} s, {self.asked} asked")
