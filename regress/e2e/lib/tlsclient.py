# SPDX-License-Identifier: ISC
"""Clients that speak TLS, and certificates made for tests by openssl(1)."""
import os
import re
import ssl
import subprocess

from dl import Client, connect, free_port


def context(cert=None, key=None, low=ssl.TLSVersion.TLSv1_2,
            high=ssl.TLSVersion.TLSv1_3):
    """A client that takes every certificate; its own is optional."""
    ctx = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    ctx.check_hostname = False
    ctx.verify_mode = ssl.CERT_NONE
    ctx.minimum_version, ctx.maximum_version = low, high
    if cert is not None:
        ctx.load_cert_chain(cert, key)
    return ctx


class Tls:
    """A socket's sendall(), recv() and close() over TLS.

    Unlike the library's own, its ends can be closed one by one."""

    def __init__(self, sock, ctx=None):
        self.sock = sock
        self.inc, self.out = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.o = (ctx or context()).wrap_bio(self.inc, self.out)
        self.step(self.o.do_handshake)

    def flush(self):
        d = self.out.read()
        if d:
            self.sock.sendall(d)

    def step(self, fn, *args):
        while True:
            try:
                r = fn(*args)
                self.flush()
                return r
            except ssl.SSLWantReadError:
                self.flush()
                d = self.sock.recv(1 << 16)
                if d:
                    self.inc.write(d)
                else:
                    self.inc.write_eof()

    def settimeout(self, t):
        self.sock.settimeout(t)

    def sendall(self, data):
        view = memoryview(data)
        for at in range(0, len(view), 1 << 20):
            self.step(self.o.write, view[at:at + (1 << 20)])

    def recv(self, n):
        """b"" is an end that TLS vouches for; any other raises."""
        try:
            return self.step(self.o.read, n)
        except ssl.SSLZeroReturnError:
            return b""
        except ssl.SSLError as e:
            raise ConnectionError(str(e)) from e

    def end(self):
        """No more from here; answers may still come."""
        try:
            self.o.unwrap()
        except ssl.SSLWantReadError:
            pass
        self.flush()

    def setsockopt(self, *args):
        self.sock.setsockopt(*args)

    def close(self):
        self.sock.close()


class TlsClient(Client):
    def __init__(self, port, uid=None, ctx=None, host="127.0.0.1",
                 timeout=30):
        self.s = Tls(connect(host, port, uid, timeout), ctx)
        self.buf = b""

    def end(self):
        self.s.end()


def with_tls(conf="", more=""):
    """Configuration with a plain and a TLS listener, and the port of it."""
    port = free_port()
    return port, ("listen on 127.0.0.1\nlisten on 127.0.0.1 port "
                  f"{port} tls {more}\n{conf}")


def openssl(*args, **kw):
    kw.setdefault("timeout", 20)
    return subprocess.run(["openssl", *args], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, **kw)


def s_client(port, *args, send=b""):
    """What openssl s_client says; it ends with its input."""
    return openssl("s_client", "-connect", f"127.0.0.1:{port}", *args,
                   input=send).stdout.decode(errors="replace")


class Authority:
    """A certificate authority of a test's own, in a directory."""

    def __init__(self, where, name="test CA"):
        self.dir = where
        os.makedirs(where, exist_ok=True)
        self.cert, self.key = self.path("ca.pem"), self.path("ca.key")
        self.run("req", "-x509", "-newkey", "ec", "-pkeyopt",
                 "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                 "/CN=" + name, "-keyout", self.key, "-out", self.cert)

    def path(self, name):
        return os.path.join(self.dir, name)

    @staticmethod
    def run(*args):
        r = openssl(*args)
        if r.returncode != 0:
            raise RuntimeError(f"openssl {args}: {r.stdout.decode()}")

    def issue(self, name, subject, san=None, days=2, usage="clientAuth"):
        """(certificate, key) signed by this authority."""
        key, csr = self.path(name + ".key"), self.path(name + ".csr")
        cert, ext = self.path(name + ".pem"), self.path(name + ".ext")
        self.run("req", "-newkey", "ec", "-pkeyopt",
                 "ec_paramgen_curve:P-256", "-nodes", "-subj", subject,
                 "-keyout", key, "-out", csr)
        with open(ext, "w") as f:
            f.write(f"extendedKeyUsage={usage}\n")
            if san is not None:
                f.write(f"subjectAltName={san}\n")
        self.run("x509", "-req", "-in", csr, "-CA", self.cert, "-CAkey",
                 self.key, "-CAcreateserial", "-days", str(days), "-extfile",
                 ext, "-out", cert)
        return cert, key


def presented(port, uid=None):
    """The certificate that the server shows, as DER."""
    s = Tls(connect("127.0.0.1", port, uid))
    der = s.o.getpeercert(True)
    s.close()
    return der


def hello():
    """The first bytes of a handshake."""
    inc, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    o = context().wrap_bio(inc, out)
    try:
        o.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return out.read()


def cipher_of(text):
    m = re.search(r"Cipher is (\S+)", text)
    return m.group(1) if m else None


def raw(port, uid=None, timeout=30):
    return connect("127.0.0.1", port, uid, timeout)

