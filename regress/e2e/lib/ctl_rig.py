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


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return repr((self.code, self.out[-2000:], self.err[-2000:]))


class Home:
    """A user's home, and the client run from there."""

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
        env.update(HOME=self.dir, LC_ALL="C.UTF-8", TERM="xterm", **extra)
        return env

    def ctl(self, *args, data=b"", timeout=60, **extra):
        """Without a terminal, not even one in the background."""
        p = subprocess.run([CTL, *args], input=data, capture_output=True,
                           env=self.environment(extra), timeout=timeout,
                           start_new_session=True)
        return Result(p.returncode, p.stdout, p.stderr)

    def spawn(self, *args, extra=None, **kwargs):
        return subprocess.Popen([CTL, *args], start_new_session=True,
                                env=self.environment(extra or {}), **kwargs)

    def on_terminal(self, *args, answers=(), stdin=None, timeout=30,
                    **extra):
        """On a terminal of its own; answers are pairs of what to wait for
        and what to type then."""
        pid, master_fd = pty.fork()
        if pid == 0:
            if stdin is not None:
                os.dup2(stdin, 0)
            os.execve(CTL, [CTL, *args], self.environment(extra))
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
