# SPDX-License-Identifier: ISC
"""debuglanternctl with a home of its own, with and without a terminal."""
import fcntl
import os
import pty
import select
import shutil
import ssl
import struct
import subprocess
import tempfile
import termios
import time

from dl import BIN

CTL = os.path.join(os.path.abspath(BIN), "debuglanternctl")
# what runs by this has no account, and so no home but HOME
NO_ACCOUNT = ["unshare", "--map-user=4000000", "--"]


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return repr((self.code, self.out[-2000:], self.err[-2000:]))


class Home:
    """A user's home, and the client run from there."""
    before = []

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="dl-home-")
        self.config = os.path.join(self.dir, ".config/debuglantern")
        self.known_hosts = os.path.join(self.config, "known_hosts")
        self.tokens = os.path.join(self.config, "tokens")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.dir, ignore_errors=True)

    def environment(self, extra):
        env = {k: v for k, v in os.environ.items()
               if not k.startswith(("DEBUGLANTERN_", "XDG_", "NO_COLOR"))}
        # not the daemon that the user who tests has in /tmp
        env.update(HOME=self.dir, XDG_RUNTIME_DIR=self.dir, LC_ALL="C.UTF-8",
                   TERM="xterm")
        return {**env, **extra}

    def ctl(self, *args, data=b"", timeout=60, **extra):
        """Without a terminal, not even one in the background."""
        p = subprocess.run([*self.before, CTL, *args], input=data,
                           capture_output=True, timeout=timeout,
                           env=self.environment(extra),
                           start_new_session=True)
        return Result(p.returncode, p.stdout, p.stderr)

    def spawn(self, *args, extra=None, **kwargs):
        return subprocess.Popen([*self.before, CTL, *args],
                                start_new_session=True,
                                env=self.environment(extra or {}), **kwargs)

    def terminal(self, *args, size=(24, 80), **extra):
        return Terminal([*self.before, CTL, *args],
                        self.environment(extra), size)

    def on_terminal(self, *args, answers=(), stdin=None, timeout=30,
                    **extra):
        """On a terminal of its own; answers are pairs of what to wait for
        and what to type then."""
        pid, master_fd = pty.fork()
        if pid == 0:
            if stdin is not None:
                os.dup2(stdin, 0)
            argv = [*self.before, CTL, *args]
            os.execvpe(argv[0], argv, self.environment(extra))
        fcntl.ioctl(master_fd, termios.TIOCSWINSZ, struct.pack(
            "HHHH", 24, 200, 0, 0))
        out, at, waiting = b"", 0, list(answers)
        end = time.monotonic() + timeout
        try:
            while time.monotonic() < end:
                if waiting and waiting[0][0] in out[at:]:
                    at = len(out)
                    os.write(master_fd, waiting.pop(0)[1])
                if not select.select([master_fd], [], [], 0.1)[0]:
                    continue
                data = os.read(master_fd, 65536)
                if not data:
                    break
                out += data
        except OSError:
            pass
        if time.monotonic() >= end:
            os.kill(pid, 9)
        _, status = os.waitpid(pid, 0)
        os.close(master_fd)
        return Result(os.waitstatus_to_exitcode(status), out, b"")


class Certificate:
    """A certificate, of its own or signed by ca, and what knows it."""

    def __init__(self, directory, name, ca=None, cn=None, alt=None):
        self.cert = os.path.join(directory, name + ".crt")
        self.key = os.path.join(directory, name + ".key")
        argv = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                "/CN=" + (cn or name), "-keyout", self.key, "-out", self.cert]
        if alt is not None:
            argv += ["-addext", "subjectAltName=" + alt]
        if ca is not None:
            argv += ["-CA", ca.cert, "-CAkey", ca.key, "-addext",
                     "basicConstraints=critical,CA:false"]
        subprocess.run(argv, check=True, capture_output=True)

    def fingerprint(self):
        """As openssl and base64 have it, not the client."""
        der = subprocess.run(["openssl", "x509", "-in", self.cert,
                              "-outform", "DER"], check=True,
                             capture_output=True).stdout
        digest = subprocess.run(["openssl", "dgst", "-sha256", "-binary"],
                                input=der, check=True,
                                capture_output=True).stdout
        text = subprocess.run(["base64"], input=digest, check=True,
                              capture_output=True).stdout
        return "SHA256:" + text.decode().strip().rstrip("=")

    def server(self, client_ca=None):
        c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        c.load_cert_chain(self.cert, self.key)
        if client_ca is not None:
            c.verify_mode = ssl.CERT_REQUIRED
            c.load_verify_locations(client_ca.cert)
        return c


class Screen:
    """A shell on a screen that one can look at: that of a tmux."""

    def __init__(self, env, size=(24, 80), uid=None):
        self.dir = tempfile.mkdtemp(prefix="dl-screen-")
        self.env = dict(env, PS1="$ ", ENV="", PATH="%s:%s" % (
            os.path.dirname(CTL), env["PATH"]), HISTFILE="")
        self.kw = {}
        if uid is not None:
            os.chown(self.dir, uid, uid)
            self.kw = {"user": uid, "group": uid, "extra_groups": []}
        self.tmux("-f", "/dev/null", "new-session", "-d", "-x", str(size[1]),
                  "-y", str(size[0]), "sh")

    def tmux(self, *args):
        r = subprocess.run(["tmux", "-u", "-S", self.dir + "/s", *args],
                           env=self.env, cwd="/", capture_output=True,
                           timeout=60, **self.kw)
        if r.returncode != 0:
            raise RuntimeError(repr(r))
        return r.stdout.decode(errors="replace")

    def type(self, *keys):
        """Names of keys, such as Enter, or text."""
        for key in keys:
            if key in ("Enter", "Escape", "C-c", "C-d", "C-z", "PageDown"):
                self.tmux("send-keys", key)
            else:
                self.tmux("send-keys", "-l", "--", key)

    def run(self, line):
        self.type(line, "Enter")

    def text(self):
        return self.tmux("capture-pane", "-p")

    def all(self):
        """With what has been scrolled away."""
        return self.tmux("capture-pane", "-p", "-S", "-", "-E", "-")

    def until(self, *lines, seconds=60):
        """Waits until all of these stand there, as whole lines."""
        end = time.monotonic() + seconds
        while not set(lines) <= {x.rstrip() for x in
                                 self.text().splitlines()}:
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def shows(self, what, seconds=60):
        end = time.monotonic() + seconds
        while what not in self.text():
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def flag(self, name):
        """Of what tmux knows of the terminal, such as alternate_on."""
        return self.tmux("display-message", "-p", "#{%s}" % name).strip()

    def back(self, seconds=60):
        """Waits until the shell reads what is typed: what is typed before
        goes to what is still there, and with it."""
        end = time.monotonic() + seconds
        while self.flag("pane_current_command") != "sh":
            if time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def resize(self, rows, cols):
        self.tmux("resize-window", "-x", str(cols), "-y", str(rows))

    def close(self):
        subprocess.run(["tmux", "-S", self.dir + "/s", "kill-server"],
                       capture_output=True)
        shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


LAST = b"\0the end\0"


class Terminal:
    """The client on a terminal that the test is at."""

    def __init__(self, argv, env, size=(24, 80), **kwargs):
        self.fd, slave_fd = pty.openpty()
        if "user" in kwargs:
            os.fchown(slave_fd, kwargs["user"], -1)
        self.resize(*size)
        self.modes = termios.tcgetattr(self.fd)
        self.process = subprocess.Popen(
            argv, env=env, stdin=slave_fd, stdout=slave_fd, stderr=slave_fd,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(
                0, termios.TIOCSCTTY, 0), **kwargs)
        # held open, so that the modes can be looked at after its end
        self.slave_fd = slave_fd
        self.out, self.at = b"", 0

    def resize(self, rows, cols):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ,
                    struct.pack("HHHH", rows, cols, 0, 0))

    def type(self, keys):
        while keys:
            keys = keys[os.write(self.fd, keys):]

    def pump(self, seconds=0.1):
        if not select.select([self.fd], [], [], seconds)[0]:
            return False
        self.out += os.read(self.fd, 65536)
        return True

    def until(self, *words, seconds=60):
        """Waits for each of the words, one behind the other."""
        end = time.monotonic() + seconds
        for word in words:
            while (found := self.out.find(word, self.at)) == -1:
                if time.monotonic() > end or self.process.poll() is not None \
                        and not self.pump(0):
                    return False
                self.pump()
            self.at = found + len(word)
        return True

    def raw(self, seconds=60):
        """Waits until the client has taken the terminal."""
        end = time.monotonic() + seconds
        while self.is_restored() and time.monotonic() < end:
            self.pump(0.02)
        return not self.is_restored()

    def is_restored(self):
        now = termios.tcgetattr(self.slave_fd)
        return now[:4] == self.modes[:4] and now[6] == self.modes[6]

    def wait(self, seconds=60):
        """The exit code; everything that was written is in out."""
        end = time.monotonic() + seconds
        while self.process.poll() is None and time.monotonic() < end:
            self.pump(0.05)
        # the kernel takes its time: what we write now comes behind all of it
        os.write(self.slave_fd, LAST)
        while not self.out.endswith(LAST) and self.pump(10):
            pass
        self.out = self.out.removesuffix(LAST)
        return self.process.poll()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.fd)
        os.close(self.slave_fd)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
