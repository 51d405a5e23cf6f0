# SPDX-License-Identifier: ISC
# A small stand-in for the daemon: enough of the control protocol to test the
# client alone, with real programs behind it, and answers gone wrong on demand.
import base64
import fcntl
import json
import os
import pty
import shlex
import signal
import socket
import struct
import subprocess
import tempfile
import termios
import threading
import time
import uuid

# Who starts the tests in the background may have these ignored.  A handler is
# not inherited: what is started from here has them at their default.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, lambda *_: None)


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


NONCE = "5ca1ab1e" * 4


def hello(line):
    """The answer to a line, if it is HELLO; else None."""
    words = line.split()
    if words[:1] != ["HELLO"]:
        return None
    return {"ok": True} if len(words) > 1 else {"nonce": NONCE}


def welcome(sock):
    """Answers HELLO and reads on: the first bytes of what is asked."""
    while True:
        data = sock.recv(65536)
        answer = hello(data.decode(errors="replace"))
        if answer is None:
            return data
        sock.sendall(json.dumps(answer).encode() + b"\n")


class Refused(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Session:
    def __init__(self, path, size, exec_path):
        self.id = str(uuid.uuid4())
        self.path, self.size, self.exec_path = path, size, exec_path
        self.args, self.env, self.name = "", {}, None
        self.owner = "tester"
        self.process = None
        self.state = "LOADED"
        self.exit_code = self.signal = None
        self.started = self.exited = None
        self.chunks = []            # (stream, bytes)
        self.changed = threading.Condition()
        self.shared = []
        self.argv, self.tty, self.size_now = [path], False, (80, 24)
        self.master_fd = None
        self.clients = []           # (handler, user, role) at the terminal

    def object(self):
        o = {"id": self.id, "state": self.state,
             "pid": self.process.pid if self.state == "RUNNING" else None,
             "debug_port": None}
        if self.exec_path:
            o.update(bundle=True, exec_path=self.exec_path, bundle_dir="/b")
        if self.args:
            o["args"] = self.args
        if self.env:
            o["env"] = self.env
        o.update(name=self.name, size=self.size, exit_code=self.exit_code,
                 signal=self.signal, started_at=self.started,
                 exited_at=self.exited, owner=self.owner, tty=self.tty)
        if self.tty:
            o.update(cols=self.size_now[0], rows=self.size_now[1])
        if self.shared:
            o["shared"] = self.shared
        return o

    def pump(self, stream, fd):
        while data := os.read(fd, 65536):
            with self.changed:
                self.chunks.append((stream, data))
                self.changed.notify_all()

    def resize(self, cols, rows):
        self.size_now = (cols, rows)
        if self.master_fd is not None:
            fcntl.ioctl(self.master_fd, termios.TIOCSWINSZ,
                        struct.pack("HHHH", rows, cols, 0, 0))
        for client, _, _ in self.clients:
            client.message(0x84, struct.pack(">HH", cols, rows))

    def pump_tty(self):
        try:
            self.pump("out", self.master_fd)
        except OSError:
            pass

    def start_tty(self):
        self.master_fd, slave_fd = pty.openpty()
        self.resize(*self.size_now)
        self.process = subprocess.Popen(
            self.argv + shlex.split(self.args), stdin=slave_fd,
            stdout=slave_fd, stderr=slave_fd, start_new_session=True,
            env=dict(os.environ, TERM="xterm-256color", **self.env),
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(slave_fd)
        return [threading.Thread(target=self.pump_tty, daemon=True)]

    def start_pipes(self):
        self.process = subprocess.Popen(
            self.argv + shlex.split(self.args),
            env=dict(os.environ, **self.env), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, bufsize=0)
        return [threading.Thread(target=self.pump, daemon=True, args=a)
                for a in (("out", self.process.stdout.fileno()),
                          ("err", self.process.stderr.fileno()))]

    def attend(self, threads):
        for t in threads:
            t.join()
        code = self.process.wait()
        with self.changed:
            self.state, self.exited = "STOPPED", now()
            if code < 0:
                self.signal = signal.Signals(-code).name
            else:
                self.exit_code = code
            self.changed.notify_all()

    def start(self):
        if self.state == "RUNNING":
            raise Refused("already_running", "session is already running")
        try:
            threads = self.start_tty() if self.tty else self.start_pipes()
        except OSError as e:
            raise Refused("fork_failed", "cannot execute: " + e.strerror)
        self.state, self.started, self.chunks = "RUNNING", now(), []
        self.exit_code = self.signal = self.exited = None
        for t in threads:
            t.start()
        threading.Thread(target=self.attend, args=(threads,),
                         daemon=True).start()

    def output(self):
        return b"".join(data for _, data in self.chunks)


class Handler:
    def __init__(self, server, sock):
        self.server, self.sock = server, sock
        self.user = None            # who has logged in by a token
        self.sending = threading.Lock()

    def serve(self):
        try:
            if self.server.tls is not None:
                self.sock = self.server.tls.wrap_socket(
                    self.sock, server_side=True)
            self.file = self.sock.makefile("rb")
            while line := self.file.readline():
                text = line[:-1].decode(errors="replace")
                # how connections begin is apart from what is asked
                (self.server.hellos if text.startswith("HELLO") else
                 self.server.lines).append(text)
                self.command(text)
            if self.server.tls is not None:
                self.sock.unwrap()
        except (BrokenPipeError, ConnectionResetError):
            pass
        except (OSError, ValueError) as e:
            # a test has cut the connection, or there was no TLS to begin
            self.server.tls_errors.append(str(e))
        finally:
            self.sock.close()

    def send(self, value):
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
        self.sock.sendall(text.encode() + b"\n")

    def command(self, line):
        if line.startswith("{"):
            self.request(line)
            return
        verb, _, rest = line.partition(" ")
        odd = self.server.odd.get(verb)
        if odd is not None:
            odd(self, rest)
            return
        method = getattr(self, "do_" + verb.lower(), None)
        try:
            if method is None:
                raise Refused("unknown_command", "unknown command")
            answer = method(rest)
            if answer is not None:
                self.send(answer)
        except Refused as e:
            self.send({"ok": False, "error_code": e.code,
                       "message": str(e), "time": now()})

    def do_hello(self, rest):
        return hello("HELLO " + rest)

    def do_auth(self, rest):
        user = self.server.tokens.get(rest)
        if user is None:
            raise Refused("auth_failed", "no such token")
        self.user = user
        return {"ok": True, "user": user, "read_only": False, "admin": False}

    def do_whoami(self, rest):
        return {"user": self.user or "tester", "uid": 1000, "door": "tcp",
                "address": "127.0.0.1:1", "read_only": False,
                "admin": False, "token": None}

    def do_token(self, rest):
        what, *more = rest.split()
        t = {"id": "1f2e3d4c", "user": "tester", "read_only": False,
             "created": now(), "expires": None, "label": ""}
        if what == "create":
            options = dict(w.partition("=")[::2] for w in more)
            t.update(token="dlt_" + "A" * 43, label=options.get("label", ""),
                     user=options.get("user", "tester"),
                     read_only="read-only" in options)
            return t
        return [t] if what == "list" else {"ok": True, "id": more[0]}

    def do_keys(self, rest):
        return {"token": "dls_" + "A" * 43,
                "read_only_token": "dlv_" + "B" * 43}

    def do_ticket(self, rest):
        return {"ticket": "dlk_" + "C" * 43, "expires": now()}

    def do_login(self, rest):
        return {"key": "dlo_" + "D" * 43, "expires": now()}

    def do_share(self, rest):
        name, user = rest.split()
        user, _, access = user.partition(":")
        s = self.find(name)
        s.shared = [o for o in s.shared if o["user"] != user]
        s.shared.append({"user": user, "access": access or "ro"})
        return s.object()

    def do_unshare(self, rest):
        name, user = rest.split()
        s = self.find(name)
        s.shared = [o for o in s.shared if o["user"] != user]
        return s.object()

    def do_quota(self, rest):
        return [{"user": rest or "tester",
                 "sessions": {"used": 3, "limit": 10},
                 "bytes": {"used": 3 << 20, "limit": None},
                 "cpu": {"limit": 60}, "memory": {"limit": 1 << 30},
                 "processes": {"used": 7, "limit": None}}]

    def do_audit(self, rest):
        first, *seconds = rest.split() or ["1"]
        at = int(first)
        with self.server.audited:
            self.server.audited.wait_for(
                lambda: len(self.server.audit) >= at,
                int(seconds[0]) if seconds else 0)
            events = self.server.audit[at - 1:]
        return {"events": events, "next": at + len(events)}

    def find(self, name):
        for s in self.server.sessions:
            if s.id.startswith(name) or s.name == name:
                return s
        raise Refused("not_found", "session not found")

    def do_upload(self, rest):
        size, *exec_path = [x for x in rest.split()
                            if not x.startswith("file=")]
        data = self.file.read(int(size))
        fd, path = tempfile.mkstemp(dir=self.server.dir)
        with os.fdopen(fd, "wb") as f:
            f.write(data)
        os.chmod(path, 0o700)
        s = Session(path, len(data), exec_path[0] if exec_path else None)
        self.server.sessions.append(s)
        o = {"id": s.id, "state": "LOADED", "size": s.size}
        if exec_path:
            o.update(bundle=True, exec_path=s.exec_path)
        return o

    def request(self, line):
        """NEW, as a request in JSON."""
        args = json.loads(line)["args"]
        self.server.made.append(args)
        if self.server.refuse:
            self.send({"id": None, "success": False, "error": {
                "code": "not_possible", "message": "it is\nnot"}})
            return
        s = Session("", 0, None)
        s.argv = args["argv"] or ["sh"]
        s.name, s.tty = args.get("name"), args.get("tty", False)
        s.env = args["env"]
        s.size_now = (args.get("cols", 80), args.get("rows", 24))
        self.server.sessions.append(s)
        self.send({"id": None, "success": True, "result": s.object()})

    def message(self, kind, data=b""):
        """One of lantern.bin.v1; a client that has gone does not mind."""
        m = bytes([kind]) + data
        with self.sending:
            try:
                self.sock.sendall(struct.pack(">I", len(m)) + m)
            except OSError:
                pass

    def people(self, s):
        for client, _, _ in s.clients:
            client.message(0x86, json.dumps([
                {"user": u, "role": r, "you": c is client,
                 "controller": c is s.clients[0][0]}
                for c, u, r in s.clients]).encode())

    def do_attach(self, rest):
        name, *words = rest.split()
        options = dict(w.partition("=")[::2] for w in words)
        s = self.find(name)
        if not s.tty:
            raise Refused("not_a_terminal", "it has no terminal")
        self.send(s.object())
        role = "ro" if "ro" in options else "rw"
        s.clients.append((self, self.user or "tester", role))
        if "cols" in options and role == "rw":
            s.resize(int(options["cols"]), int(options["rows"]))
        else:
            self.message(0x84, struct.pack(">HH", *s.size_now))
        self.people(s)
        threading.Thread(target=self.show, daemon=True, args=(
            s, int(options["from"]) if "from" in options else None)).start()
        try:
            while len(head := self.file.read(4)) == 4:
                m = self.file.read(struct.unpack(">I", head)[0])
                self.server.messages.append(m)
                if m[0] == 0 and role == "rw":
                    os.write(s.master_fd, m[1:])
                elif m[0] == 1 and role == "rw":
                    s.resize(*struct.unpack(">HH", m[1:]))
        finally:
            s.clients = [x for x in s.clients if x[0] is not self]
            self.people(s)

    def show(self, s, at):
        """History, then output, to the end of the program."""
        data = s.output()
        if at is None:
            preamble, at = b"\x1b[0m", 0
            self.message(0x81, struct.pack(">QH", 0, len(preamble)) +
                         preamble)
            for i in range(0, len(data), 32768):
                self.message(0x81, struct.pack(">QH", i, 0) +
                             data[i:i + 32768])
            at = len(data)
        self.message(0x87, struct.pack(">Q", at))
        while True:
            with s.changed:
                s.changed.wait_for(lambda: len(s.output()) > at or
                                   s.state == "STOPPED")
                data, state = s.output()[at:], s.state
            for i in range(0, len(data), 32768):
                self.message(0x80, struct.pack(">Q", at + i) +
                             data[i:i + 32768])
            at += len(data)
            if state == "STOPPED":
                number = getattr(signal, s.signal) if s.signal else 0
                self.message(0x82, struct.pack(
                    ">iI", -1 if s.signal else s.exit_code, number))
                return

    def do_start(self, rest):
        s = self.find(rest.split()[0])
        s.tty = s.tty or "--tty" in rest
        size = dict(w.partition("=")[::2] for w in rest.split())
        if "cols" in size:
            s.size_now = (int(size["cols"]), int(size["rows"]))
        s.start()
        return s.object()

    def do_args(self, rest):
        name, _, args = rest.partition(" ")
        s = self.find(name)
        s.args = args
        return s.object()

    def do_env(self, rest):
        name, _, pair = rest.partition(" ")
        key, _, value = pair.partition("=")
        s = self.find(name)
        s.env[key] = value
        return s.object()

    def do_envdel(self, rest):
        name, _, key = rest.partition(" ")
        s = self.find(name)
        s.env.pop(key, None)
        return s.object()

    def do_envlist(self, rest):
        return dict(sorted(self.find(rest).env.items()))

    def do_list(self, rest):
        return [s.object() for s in self.server.sessions]

    def do_status(self, rest):
        return self.find(rest).object()

    def end(self, name, number):
        s = self.find(name)
        if s.state != "RUNNING":
            raise Refused("not_running", "session is not running")
        s.process.send_signal(number)
        return s

    def do_kill(self, rest):
        s = self.end(rest, signal.SIGKILL)
        with s.changed:
            s.changed.wait_for(lambda: s.state == "STOPPED")
        return s.object()

    def do_stop(self, rest):
        s = self.end(rest, signal.SIGTERM)
        with s.changed:
            s.changed.wait_for(lambda: s.state == "STOPPED")
        return s.object()

    def do_signal(self, rest):
        name, sig = rest.split()
        number = int(sig) if sig.isdigit() else signal.Signals[
            "SIG" + sig.removeprefix("SIG")]
        return self.end(name, number).object()

    def do_name(self, rest):
        name, *label = rest.split()
        s = self.find(name)
        s.name = label[0] if label else None
        return s.object()

    def do_delete(self, rest):
        s = self.find(rest)
        if s.state == "RUNNING":
            raise Refused("session_running", "session is running")
        self.server.sessions.remove(s)
        return {"id": s.id, "state": "DELETED"}

    def do_wait(self, rest):
        name, *seconds = rest.split()
        s = self.find(name)
        with s.changed:
            s.changed.wait_for(lambda: s.state == "STOPPED",
                               int(seconds[0]) if seconds else None)
        return s.object()

    def do_input(self, rest):
        name, size = rest.split()
        if size == "eof":
            s = self.find(name)
            s.process.stdin.close()
            return s.object()
        data = self.file.read(int(size))
        s = self.find(name)
        try:
            s.process.stdin.write(data)
        except (OSError, AttributeError):
            raise Refused("not_running", "session does not read")
        return s.object()

    def do_output(self, rest):
        name, *more = rest.split()
        s = self.find(name)
        offset = int(more[0]) if more else 0
        data = s.output()
        o = {"id": s.id, "output": data[offset:].decode(errors="replace"),
             "offset": offset, "total": len(data)}
        if "base64" in more:
            o["output"] = base64.b64encode(data[offset:]).decode()
            o["encoding"] = "base64"
        return o

    def do_follow(self, rest):
        name, *more = rest.split()
        s = self.find(name)
        at = int(more[0]) if more else 0
        while True:
            with s.changed:
                s.changed.wait_for(lambda: len(s.output()) > at or
                                   s.state == "STOPPED")
                chunks, state = list(s.chunks), s.state
            begin = 0
            for stream, data in chunks:
                end = begin + len(data)
                if end > at:
                    self.send({"id": s.id, "output": base64.b64encode(
                        data[at - begin:]).decode(), "offset": at,
                        "total": end, "encoding": "base64",
                        "stream": stream})
                    at = end
                begin = end
            if state == "STOPPED":
                return {"id": s.id, "state": state, "signal": s.signal,
                        "exit_code": s.exit_code, "offset": at,
                        "total": at, "final": True}

    def do_limits(self, rest):
        return self.find(rest.split()[0]).object()

    def do_deps(self, rest):
        return {"deps": [
            {"name": "gdbserver", "description": "debugging",
             "available": False, "required": True,
             "remedy": "apt-get install gdbserver"},
            {"name": "tar", "description": "built in", "available": True,
             "required": True}], "all_satisfied": False}

    def do_activity(self, rest):
        return [{"time": now(), "message": "tester UPLOAD ok"}]

    def do_version(self, rest):
        return {"version": "9.9", "protocol": 1, "extensions": ["FOLLOW"],
                "sandbox": "namespaces", "weakened": [], "roles": {},
                "warnings": [], "web": self.server.web}

    def do_help(self, rest):
        return {"commands": [{"name": "LIST", "usage": "LIST",
                              "description": "all sessions"}]}

    def do_sysroot(self, rest):
        data = self.server.sysroot
        self.sock.sendall(b"SYSROOT %d\n" % len(data) + data)

    def do_gdbpipe(self, rest):
        s = self.find(rest)
        # The first bytes of the relay come in one piece with the answer.
        text = json.dumps(s.object()).encode()
        self.sock.sendall(text + b"\n+hello+")
        while data := self.file.read1(4096):
            self.sock.sendall(data.upper())


class FakeServer:
    """Serves until close(): on a free loopback port, or at address, or on a
    local socket (path), in TLS with the server context tls. odd maps a verb
    to a function (handler, rest of the line) that answers instead."""

    def __init__(self, address=("127.0.0.1", 0), path=None, tls=None):
        self.dir = tempfile.mkdtemp(prefix="fake-server-")
        self.sessions, self.lines, self.odd = [], [], {}
        self.hellos = []
        self.messages = []          # of terminals
        self.made, self.refuse = [], False
        self.web = {"port": 8080, "tls": False}
        self.tls, self.tls_errors, self.tokens = tls, [], {}
        self.audit, self.audited = [], threading.Condition()
        self.sysroot = os.urandom(300000)
        self.path = path
        if path is not None:
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.bind(path)
            self.socket.listen(16)
            self.target = "unix:" + path
        else:
            self.socket = socket.create_server(
                address, family=socket.AF_INET6 if ":" in address[0] else
                socket.AF_INET)
            self.port = self.socket.getsockname()[1]
            self.target = "%s%s:%d" % ("tls://" if tls else "", address[0],
                                       self.port)
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def event(self, action):
        """Something for the audit log."""
        with self.audited:
            self.audit.append({
                "seq": len(self.audit) + 1, "time": now(), "user": "tester",
                "door": "tcp", "address": "127.0.0.1:1", "session": None,
                "action": action, "result": "ok"})
            self.audited.notify_all()

    def accept(self):
        while True:
            try:
                sock, _ = self.socket.accept()
            except OSError:
                return
            # as the daemon has it
            if self.path is None:
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=Handler(self, sock).serve,
                             daemon=True).start()

    def close(self):
        # accept() may hold on to a socket that is merely closed.
        self.socket.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.socket.close()
        for s in self.sessions:
            if s.state == "RUNNING":
                s.process.kill()
        for name in os.listdir(self.dir):
            os.unlink(os.path.join(self.dir, name))
        os.rmdir(self.dir)
        if self.path is not None and os.path.exists(self.path):
            os.unlink(self.path)


if __name__ == "__main__":
    server = FakeServer()
    print(server.target, flush=True)
    try:
        signal.pause()
    finally:
        server.close()
