#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# TLS: what is accepted, whose certificates name whom, what garbage and
# patience of clients do, and what a restart of each process leaves.
import base64
import hashlib
import os
import random
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (AS_ROOT, SANITIZED, ALICE, BOB, Daemon, alone, descendants,
                eq, helper, ok, passwd_wrapper, read_proc, run_tests,
                service_uid, status_of, wait_for)
from tlsclient import (Authority, Tls, TlsClient, cipher_of, context, hello,
                       openssl, presented, raw, s_client, with_tls)


def tls_daemon(mode, conf="", more="", **kw):
    port, text = with_tls(conf, more)
    d = Daemon(mode, conf=text, **kw)
    d.tls_port = port
    return d


def client(d, ctx=None, uid=None, timeout=30):
    return TlsClient(d.tls_port, d.uid if uid is None else uid, ctx,
                     timeout=timeout)


def fingerprint(der):
    digest = base64.b64encode(hashlib.sha256(der).digest()).decode()
    return "SHA256:" + digest.rstrip("=")


def as_user(d):
    """For programs whose connections are to be the served user's."""
    if d.uid is None or not AS_ROOT:
        return {}
    return {"user": d.uid, "group": d.uid, "extra_groups": []}


def calm(d, pid, what):
    eq(d.role_pid("tlsproc"), pid, f"{what}: tlsproc is the same process")


def in_text(d, words, seconds=5):
    return wait_for(lambda: words in d.log(), seconds)


# --- versions, ciphers, the certificate ----------------------------------

def protocols(mode):
    with tls_daemon(mode) as d:
        port = d.tls_port
        for flag, name in (("-tls1_2", "TLSv1.2"), ("-tls1_3", "TLSv1.3")):
            text = s_client(port, flag)
            ok(f"New, {name}, Cipher is" in text, f"{name} is accepted", text)
        for flag in ("-tls1", "-tls1_1"):
            text = s_client(port, flag, "-cipher", "ALL:@SECLEVEL=0")
            eq(cipher_of(text), "(NONE)", f"{flag}: refused")
            ok("protocol version" in text or "alert" in text,
               f"{flag}: by an alert", text)


def ciphers(mode):
    with tls_daemon(mode) as d:
        for c in ("AES128-SHA", "AES256-GCM-SHA384", "DES-CBC3-SHA",
                  "ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES256-SHA384",
                  "ECDHE-ECDSA-AES128-CCM8", "ECDHE-ECDSA-NULL-SHA",
                  "AECDH-AES128-SHA", "ECDHE-PSK-AES128-CBC-SHA",
                  "ECDHE-ECDSA-CAMELLIA128-SHA256"):
            text = s_client(d.tls_port, "-tls1_2", "-cipher",
                            c + ":@SECLEVEL=0")
            ok(cipher_of(text) in ("(NONE)", None), f"{c}: refused", text)
        for c in ("ECDHE-ECDSA-AES128-GCM-SHA256",
                  "ECDHE-ECDSA-AES256-GCM-SHA384",
                  "ECDHE-ECDSA-CHACHA20-POLY1305"):
            text = s_client(d.tls_port, "-tls1_2", "-cipher", c)
            eq(cipher_of(text), c, f"{c}: accepted")
        first = [cipher_of(s_client(
            d.tls_port, "-tls1_2", "-cipher", ":".join(order)))
            for order in (("ECDHE-ECDSA-CHACHA20-POLY1305",
                           "ECDHE-ECDSA-AES256-GCM-SHA384"),
                          ("ECDHE-ECDSA-AES256-GCM-SHA384",
                           "ECDHE-ECDSA-CHACHA20-POLY1305"))]
        eq(len(set(first)), 1, "the server's order counts")


def no_renegotiation(mode):
    with tls_daemon(mode) as d:
        p = subprocess.Popen(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{d.tls_port}",
             "-tls1_2"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, **as_user(d))
        p.stdin.write(b"R\n")
        p.stdin.flush()
        # it ends by itself: for a refusal, which is fatal to it
        text = p.stdout.read().decode(errors="replace")
        p.stdin.close()
        p.wait()
        ok("RENEGOTIATING" in text and "no renegotiation" in text,
           "a client that wants to negotiate anew is refused", text[-600:])
        text = s_client(d.tls_port, "-tls1_2")
        ok("Compression: NONE" in text, "nothing is compressed")


def own_certificate(mode):
    with tls_daemon(mode) as d:
        der = presented(d.tls_port, d.uid)
        c = d.client()
        shown = c.cmd("VERSION")["tls"]
        expires = shown.pop("expires")
        eq(shown, {"port": d.tls_port, "fingerprint": fingerprint(der)},
           "VERSION: port and fingerprint")
        ends = openssl("x509", "-inform", "DER", "-noout", "-enddate",
                       input=der).stdout.decode().strip()
        eq(time.strptime(ends, "notAfter=%b %d %H:%M:%S %Y GMT"),
           time.strptime(expires, "%Y-%m-%dT%H:%M:%SZ"),
           "and when it expires")
        eq((warnings(c), dep(c)["available"]), ([], True),
           "neither VERSION nor DEPS warns of it")
        text = openssl("x509", "-inform", "DER", "-noout", "-text",
                       input=der).stdout.decode()
        for word in ("prime256v1", "ecdsa-with-SHA256", "CA:FALSE",
                     "TLS Web Server Authentication",
                     f"DNS:{socket.gethostname()}"):
            ok(word in text, f"the certificate has {word}", text)
        cert = openssl("x509", "-inform", "DER", "-checkend",
                       str(3649 * 86400), "-noout", input=der)
        eq(cert.returncode, 0, "it is good for ten years")
        where = os.path.join(d.dir, "state", "tls")
        key = os.path.join(where, "server.pem")
        uid = d.uid or os.geteuid()
        if mode == "system":
            uid = service_uid("_dltls")
        eq([(os.stat(p).st_uid, oct(os.stat(p).st_mode & 0o7777))
            for p in (where, key)], [(uid, "0o700"), (uid, "0o600")],
           "only tlsproc's user reaches the key")
        ok(fingerprint(der) in d.log(), "the fingerprint is logged")
        d.stop()
        d.start()
        eq(presented(d.tls_port, d.uid), der,
           "after a restart the certificate is the same")


def not_without_need(mode):
    with Daemon(mode) as d:
        v = d.client().cmd("VERSION")
        eq((d.role_pid("tlsproc"), v["tls"], "tlsproc" in v["roles"]),
           (None, None, False), "without a TLS listener there is no tlsproc")


# --- the protocol over it ------------------------------------------------

def same_protocol(mode):
    with tls_daemon(mode) as d:
        for v in (ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3):
            c = client(d, context(low=v, high=v))
            c.send("VERSION\nLIST\nNOPE\n" * 50)
            got = [c.json() for _ in range(150)]
            eq([type(g) for g in got[:3]], [dict, list, dict],
               f"{v.name}: answers in order")
            eq(got[2]["error_code"], "unknown_command", f"{v.name}: errors")
            sid, r = c.run(helper("flood"), "200000")
            eq(r["state"], "STOPPED", f"{v.name}: a program runs")
            over = c.output(sid)
            plain = d.client().output(sid)
            ok(over == plain and len(over) == 200000,
               f"{v.name}: its output is the same byte for byte",
               f"{len(over)} {len(plain)}")
            c.cmd("DELETE " + sid)
            c.close()


def pieces(mode):
    """Whatever the records and segments are, the bytes are the same."""
    with tls_daemon(mode) as d:
        c = client(d)
        with open(helper("hello"), "rb") as f:
            data = f.read()
        whole = b"UPLOAD %d\n" % len(data) + data
        at, rnd = 0, random.Random(7)
        while at < len(whole):
            n = rnd.choice((1, 2, 5, 100, 4000, 16384, 16385, 70000))
            c.send(whole[at:at + n])
            at += n
        sid = c.json()["id"]
        eq(c.cmd(f"START {sid}")["id"], sid, "an upload in odd pieces runs")
        c.cmd(f"WAIT {sid} 10")
        # byte by byte on the wire
        s = raw(d.tls_port, d.uid)
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

        class Slow:
            def sendall(self, b):
                for i in range(len(b)):
                    s.sendall(b[i:i + 1])

            def recv(self, _):
                return s.recv(1)
        t = Tls(Slow())
        t.sendall(b"LIST\n")
        ok(t.recv(100).startswith(b"[{"), "and a client that sends and reads "
           "byte by byte is served")
        s.close()


def half_close(mode):
    with tls_daemon(mode) as d:
        c = client(d)
        c.send("VERSION\nLIST\n")
        c.end()
        lines = c.recv_eof().split(b"\n")
        eq(len(lines), 3, "a client that has ended still gets its answers, "
           "and then the daemon's end")
        eq(c.s.sock.recv(10), b"", "and TCP ends after it")
        # the other way: the daemon ends first, for a reason of its own
        c = client(d)
        c.send(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        c.s.settimeout(10)
        eq(c.recv_eof()[-1:] in (b"", b"\n"), True,
           "what the daemon closes ends with close_notify")
        # TCP's end alone is not vouched for
        c = client(d)
        c.send("LIST\n")
        c.json()
        c.s.sock.shutdown(socket.SHUT_WR)
        try:
            c.s.settimeout(10)
            got = c.s.recv(10)
        except ConnectionError:
            got = "cut"
        eq(got, "cut", "an end of TCP without one of TLS cuts the connection")


def big_and_slow(mode):
    """A reader that stops makes nobody else wait, and costs little memory."""
    with tls_daemon(mode, conf="output-buffer 16M\n") as d:
        c = client(d)
        sid, _ = c.run(helper("flood"), str(8 << 20))
        pid = d.role_pid("tlsproc")
        before = int(status_of(pid)["VmRSS"].split()[0])
        lazy = [client(d) for _ in range(10)]
        for x in lazy:
            x.send(f"OUTPUT {sid} 0 base64\n")
        time.sleep(1)
        t = time.monotonic()
        for _ in range(20):
            c.cmd("VERSION")
        ok(time.monotonic() - t < (10 if SANITIZED else 2),
           "others are served meanwhile")
        grown = int(status_of(pid)["VmRSS"].split()[0]) - before
        ok(grown < (60000 if SANITIZED else 10000),
           "ten that do not read cost less than a MiB each", f"{grown} KiB")
        want = c.output(sid)
        ok(all(base64.b64decode(x.json()["output"]) == want for x in lazy),
           "and when they read at last they get everything")
        for x in lazy:
            x.close()
        c.cmd("DELETE " + sid)


def cpu_ms(pid):
    f = read_proc(pid, "stat").decode().rsplit(") ", 1)[1].split()
    return (int(f[11]) + int(f[12])) * 1000 // os.sysconf("SC_CLK_TCK")


def at_rest(mode):
    """No state of a connection keeps the loop busy."""
    with tls_daemon(mode) as d:
        pid = d.role_pid("tlsproc")
        held = [client(d) for _ in range(4)]
        sleeper, _ = held[0].start(helper("sleeper"))
        held[1].send(f"FOLLOW {sleeper}\n")
        held[2].send(f"WAIT {sleeper} 60\n")
        held[2].end()
        half = raw(d.tls_port, d.uid)
        half.sendall(hello()[:40])
        shut = raw(d.tls_port, d.uid)
        shut.sendall(hello()[:40])
        shut.shutdown(socket.SHUT_WR)
        full = client(d)
        full.send(f"INPUT {sleeper} {4 << 20}\n")
        full.s.settimeout(1)
        try:
            full.send(b"x" * (4 << 20))
        except socket.timeout:
            pass
        time.sleep(0.5)
        spent = cpu_ms(pid)
        time.sleep(2)
        spent = cpu_ms(pid) - spent
        ok(spent <= 50, "idle, followed, half closed, stalled: no CPU time "
           "is used", f"{spent} ms in 2 s")


def fds_come_back(mode):
    with tls_daemon(mode) as d:
        pid = d.role_pid("tlsproc")
        if not AS_ROOT:
            return
        client(d).close()
        count = lambda p: len(os.listdir(f"/proc/{p}/fd"))  # noqa: E731
        others = [d.role_pid(r) for r in ("netproc", "idproc")]
        time.sleep(0.5)
        before = [count(p) for p in (pid, *others)]
        for i in range(60):
            c = client(d)
            c.send("LIST\n")
            if i % 3 == 0:
                c.json()
            if i % 3 == 1:
                c.end()
            c.close()
            s = raw(d.tls_port, d.uid)
            s.sendall(hello()[:i * 5])
            s.close()
        ok(wait_for(lambda: [count(p) for p in (pid, *others)] == before),
           "after 120 connections every fd is closed",
           f"{before} {[count(p) for p in (pid, *others)]}")
        calm(d, pid, "fds")


# --- strangers and bad manners -------------------------------------------

def wrong_language(mode):
    with tls_daemon(mode) as d:
        pid = d.role_pid("tlsproc")
        for words in (b"LIST\n", b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
                      b"\x00" * 100, b"{\"id\":1}\n"):
            s = raw(d.tls_port, d.uid, timeout=10)
            s.sendall(words)
            got = b""
            try:
                while x := s.recv(1000):
                    got += x
            except ConnectionError:
                pass
            ok(len(got) < 20 and b"{" not in got,
               f"{words[:10]!r} on a TLS port: closed, no answer", got)
            s.close()
        ok(in_text(d, "no TLS handshake"), "and a line is logged")
        for _ in range(100):
            s = raw(d.tls_port, d.uid)
            s.sendall(b"LIST\n")
            s.close()
        time.sleep(1.2)
        lines = d.log().count("no TLS handshake")
        ok(5 <= lines <= 40, "a few lines a second, not one for each",
           f"{lines}")
        c = d.client()
        c.send(hello())
        ok(c.closed(), "TLS on a plain port: closed")
        eq(client(d).cmd("LIST"), [], "both ports go on")
        calm(d, pid, "wrong language")


def garbage(mode):
    with tls_daemon(mode, conf="line-timeout 2\n") as d:
        pid = d.role_pid("tlsproc")
        rnd = random.Random(11)
        good = hello()
        for i in range(300):
            b = bytearray(good)
            kind = i % 4
            if kind == 0:
                b = b[:rnd.randrange(len(b))]
            elif kind == 1:
                for _ in range(rnd.randrange(1, 8)):
                    b[rnd.randrange(len(b))] = rnd.randrange(256)
            elif kind == 2:
                b = bytes(rnd.randrange(256) for _ in range(400))
            else:
                at = rnd.randrange(len(b))
                b[at:at] = b[:rnd.randrange(200)]
            s = raw(d.tls_port, d.uid)
            try:
                s.sendall(bytes(b))
            except ConnectionError:
                pass
            s.close()
        # and after a good handshake: records that no key made
        for _ in range(20):
            c = client(d)
            try:
                c.s.sock.sendall(b"\x17\x03\x03\x00\x40" + os.urandom(64))
                c.s.sock.settimeout(10)
                while c.s.sock.recv(1000):
                    pass
            except ConnectionError:
                pass
            c.close()
        calm(d, pid, "320 broken clients")
        eq(client(d).cmd("LIST"), [], "and the next is served")


def patience(mode):
    with tls_daemon(mode, conf="line-timeout 1\n") as d:
        s, t = raw(d.tls_port, d.uid, timeout=10), time.monotonic()
        s.sendall(hello()[:50])
        try:
            eq(s.recv(10), b"", "half a handshake is closed")
        except ConnectionError:
            ok(True, "half a handshake is closed")
        spent = time.monotonic() - t
        ok(0.8 < spent < 4, "when line-timeout has passed", f"{spent:.1f} s")
        s, t = raw(d.tls_port, d.uid, timeout=10), time.monotonic()
        eq(s.recv(10), b"", "and so is one that has not begun")
        ok(in_text(d, "no TLS handshake within 1 s"), "and it is logged")


def too_many(mode):
    with tls_daemon(mode, conf="max-connections 10\n") as d:
        pid = d.role_pid("tlsproc")
        halves = []
        for _ in range(40):
            s = raw(d.tls_port, d.uid)
            s.sendall(hello()[:30])
            halves.append(s)
        t = time.monotonic()
        eq(client(d).cmd("LIST"), [], "forty half handshakes, room for ten: "
           "a whole one is served")
        ok(time.monotonic() - t < 5, "without waiting for their time-out")
        for s in halves:
            s.close()
        held = []
        for _ in range(9):
            held.append(client(d))
            held[-1].cmd("LIST")
        # each of them counts for netproc as well
        try:
            for _ in range(5):
                c = client(d, timeout=5)
                got = c.cmd("LIST")
                held.append(c)
        except (ConnectionError, EOFError, OSError, ssl.SSLError):
            got = {"error_code": "closed"}
        ok(isinstance(got, dict) and "error_code" in got,
           "more connections than max-connections are refused", got)
        eq(held[0].cmd("LIST"), [], "those that are there go on")
        calm(d, pid, "too many")


# --- who it is -----------------------------------------------------------

def its_own_sessions(mode):
    """A session is no client, by whatever door."""
    with tls_daemon(mode) as d:
        c = d.client()
        sid = c.upload("/usr/bin/openssl")["id"]
        c.cmd(f"ARGS {sid} s_client -connect 127.0.0.1:{d.tls_port}")
        r = c.cmd(f"START {sid} --sandbox namespaces")
        eq(r.get("id"), sid, "a session that speaks TLS starts")
        c.until(sid, b"Cipher is")
        c.send(f"INPUT {sid} 5\nLIST\n")
        c.json()
        c.until(sid, b"not_permitted")
        out = c.output(sid)
        ok(b"Cipher is TLS_" in out, "it shakes hands", out)
        # in a line of its own: the ticket that is shown may have it, too
        ok(b"not_permitted" in out and b"[]" not in out.splitlines(),
           "and is refused all the same", out)
        ok(in_text(d, "comes from a session"), "the log says why", d.log())


def certificates_of_clients(mode):
    names = (ALICE, BOB)
    with passwd_wrapper(*names) as wrapper:
        tmp = wrapper[-1]
        ca = Authority(os.path.join(tmp, "ca"))
        for p in (tmp, ca.dir):
            os.chmod(p, 0o755)
        os.chmod(ca.cert, 0o644)
        other = Authority(os.path.join(tmp, "other"), "another CA")
        with tls_daemon(mode, conf=f'tls client-ca "{ca.cert}"\n',
                        wrapper=wrapper) as d:
            pid = d.role_pid("tlsproc")

            def as_whom(pair):
                try:
                    c = client(d, context(*pair) if pair else None,
                               timeout=10)
                    r = c.cmd("WHOAMI")
                    c.close()
                except (ConnectionError, EOFError, ssl.SSLError):
                    return None
                if "error_code" in r:
                    return None
                return r["user"] if r["door"] == "tls" else r
            me = "_dlrun" if mode == "system" else f"u{ALICE}"
            eq(as_whom(None), me, "without a certificate: as on any port")
            alice = ca.issue("alice", f"/O=x/CN=u{ALICE}")
            eq(as_whom(alice), f"u{ALICE}", "the common name names the user")
            alt = ca.issue("alt", "/O=only", f"DNS:u{ALICE}")
            eq(as_whom(alt), f"u{ALICE}", "else a DNS name")
            mail = ca.issue("mail", "/O=only", f"email:u{ALICE}@example.org")
            eq(as_whom(mail), f"u{ALICE}", "else an address's first part")
            bob = ca.issue("bob", f"/CN=u{BOB}")
            eq(as_whom(bob), f"u{BOB}" if mode == "system" else None,
               "another user, where the daemon serves them")
            nobody = ca.issue("nobody", "/CN=no-such-user")
            eq(as_whom(nobody), me, "a name that is nobody's adds nothing")
            odd = ca.issue("odd", f"/CN=u{ALICE}\\/..")
            eq(as_whom(odd), me, "nor one that no user can have")
            two = ca.issue("two", f"/CN=u{ALICE}/CN=u{BOB}")
            eq(as_whom(two), me, "nor two of them")
            daemon = ca.issue("sys", "/CN=daemon")
            eq(as_whom(daemon), None, "a user of the system's is refused")
            root = ca.issue("root", "/CN=root")
            eq(as_whom(root), "_dlrun" if mode == "system" else None,
               "root is nobody special")
            for pair, what in (
                    (other.issue("alice", f"/CN=u{ALICE}"), "another CA's"),
                    (ca.issue("old", f"/CN=u{ALICE}", days=-1), "an expired"),
                    (ca.issue("srv", f"/CN=u{ALICE}", usage="serverAuth"),
                     "a server's")):
                eq(as_whom(pair), None, f"{what} certificate is refused")
            ok("no TLS handshake" in d.log(), "and that is logged")
            calm(d, pid, "certificates")


# --- restarts and reloads ------------------------------------------------

def restarts(mode):
    with tls_daemon(mode) as d:
        c, plain = client(d), d.client()
        sid, _ = c.start(helper("sleeper"))
        pid = d.role_pid("tlsproc")
        os.kill(pid, signal.SIGKILL)
        t = time.monotonic()
        ok(c.closed(), "tlsproc is killed: its connections end")
        ok(wait_for(lambda: d.role_pid("tlsproc") not in (None, pid)),
           "it is started again")

        def served():
            try:
                return client(d, timeout=5).cmd("LIST")
            except (OSError, EOFError):
                return None
        got = wait_for(served)
        spent = time.monotonic() - t
        eq([s["state"] for s in got], ["RUNNING"], "it serves, and the "
           "session runs on")
        ok(spent < (10 if SANITIZED else 2), "soon", f"{spent:.2f} s")
        eq(plain.cmd("LIST")[0]["id"], sid, "other connections have not "
           "noticed")
        for role in ("idproc", "netproc"):
            old = client(d)
            old.cmd("LIST")
            p = d.role_pid(role)
            os.kill(p, signal.SIGKILL)
            wait_for(lambda: d.role_pid(role) not in (None, p))
            if role == "idproc":
                eq(old.cmd("LIST")[0]["id"], sid,
                   "idproc is killed: connections go on")
            else:
                ok(old.closed(), "netproc is killed: connections end")
            eq(wait_for(served)[0]["id"], sid, f"{role}: new ones are served")
        for _ in range(3):
            p = wait_for(lambda: d.role_pid("tlsproc"))
            os.kill(p, signal.SIGKILL)
            wait_for(lambda: d.role_pid("tlsproc") not in (None, p))
        got = wait_for(served)
        ok(got, "killed again and again: it comes back, later each time")
        d.client().cmd("KILL " + sid)


def reloads(mode):
    with Daemon(mode) as d:
        port, text = with_tls()
        with open(d.conf_path) as f:
            base = f.read()

        def reload(conf, words="was reloaded"):
            seen = d.log().count(words)
            d.write_conf(conf)
            d.proc.send_signal(signal.SIGHUP)
            return wait_for(lambda: d.log().count(words) > seen)
        d.tls_port = port
        ok(reload(base + text), "SIGHUP with a TLS listener")
        c = wait_for(lambda: attempt_client(d))
        eq(c.cmd("LIST"), [], "starts tlsproc, which serves")
        pid = d.role_pid("tlsproc")
        ok(d.client().cmd("VERSION")["tls"]["port"] == port, "VERSION knows")
        ok(reload(base + text + "max-sessions 7\n"), "another reload")
        eq(c.cmd("LIST"), [], "leaves its connections alone")
        calm(d, pid, "reload")
        # another certificate
        ca = Authority(os.path.join(d.dir, "ca"))
        cert, key = ca.issue("host", "/CN=host", usage="serverAuth")
        give_key(d, ca.dir, cert, key)
        named = f'tls certificate "{cert}"\ntls key "{key}"\n'
        ok(reload(base + text + named), "a certificate is named")
        ok(c.closed(), "connections with the old one end")
        want = ssl.PEM_cert_to_DER_cert(open(cert).read())
        ok(wait_for(lambda: shows(d) == want), "new ones see the new one")
        ok(wait_for(lambda: d.client().cmd("VERSION")["tls"]["fingerprint"] ==
                    fingerprint(want)), "VERSION has its fingerprint")
        fresh = ca.issue("host2", "/CN=host", usage="serverAuth")
        for new, old in zip(fresh, (cert, key)):
            os.replace(new, old)
        give_key(d, ca.dir, cert, key)
        ok(reload(base + text + named), "its files are replaced")
        want = ssl.PEM_cert_to_DER_cert(open(cert).read())
        ok(wait_for(lambda: shows(d) == want), "and read again")
        ok(reload(base), "SIGHUP without a TLS listener")
        ok(wait_for(lambda: d.role_pid("tlsproc") is None),
           "ends tlsproc")
        eq(d.client().cmd("VERSION")["tls"], None, "VERSION knows")
        ok(reload(base + text), "and with one again")
        ok(wait_for(lambda: attempt_client(d)), "starts it again")


def warnings(c):
    return [w for w in c.cmd("VERSION")["warnings"] if "certificate" in w]


def dep(c):
    return next((x for x in c.cmd("DEPS")["deps"]
                 if x["name"] == "tls-certificate"), None)


def bad_replacements(mode):
    """What was good stays until something is found that is good as well."""
    with tls_daemon(mode) as d:
        old = presented(d.tls_port, d.uid)
        with open(d.conf_path) as f:
            base = f.read()
        ca = Authority(os.path.join(d.dir, "ca"))
        cert, key = ca.issue("host", "/CN=host", usage="serverAuth")
        _, strange = ca.issue("other", "/CN=host", usage="serverAuth")
        for k in (key, strange):
            give_key(d, ca.dir, cert, k)
        text = ca.path("text")
        with open(text, "w") as f:
            f.write("no certificate\n")
        os.chmod(text, 0o644)
        c, pid = client(d), d.role_pid("tlsproc")

        def hup(conf):
            d.write_conf(conf)
            d.proc.send_signal(signal.SIGHUP)

        def named(a, b):
            return base + f'tls certificate "{a}"\ntls key "{b}"\n'
        for a, b, why in ((text, key, "not a certificate in PEM form"),
                          (ca.path("none"), key, "cannot be opened"),
                          (cert, strange, "do not fit"),
                          (cert, strange, "do not fit")):
            seen, kept = d.log().count(why), d.log().count("goes on with the")
            hup(named(a, b))
            ok(wait_for(lambda: d.log().count("goes on with the") > kept) and
               d.log().count(why) == seen + 1,
               f"SIGHUP with a bad one: {why}, and that it stays", d.log())
            eq((c.cmd("LIST"), presented(d.tls_port, d.uid),
                d.role_pid("tlsproc")), ([], old, pid),
               "its connections live, and new ones see it")
        eq(d.client().cmd("VERSION")["tls"]["fingerprint"],
           fingerprint(old), "VERSION has the old one's fingerprint")
        hup(named(cert, key))
        want = ssl.PEM_cert_to_DER_cert(open(cert).read())
        ok(wait_for(lambda: shows(d) == want), "a good one replaces it")
        ok(c.closed(), "and ends what was encrypted by the old one")
        ok(wait_for(lambda: len([x for x in descendants(d.proc.pid)
                                 if comm(x) == "tlsproc"]) == 1),
           "one tlsproc is left")


def replaced_unseen(mode):
    """Files in a directory that only tlsproc's user may search."""
    with tls_daemon(mode) as d:
        ca = Authority(os.path.join(d.dir, "ca"))
        where = d.dir + "/hidden"
        os.mkdir(where)
        if mode == "system":
            os.chown(where, 0, service_uid("_dltls"))
            os.chmod(where, 0o750)
        elif AS_ROOT:
            os.chown(where, d.uid, d.uid)

        def put(name):
            pair = ca.issue(name, "/CN=host", usage="serverAuth")
            give_key(d, ca.dir, *pair)
            want = ssl.PEM_cert_to_DER_cert(open(pair[0]).read())
            for f, to in zip(pair, ("cert", "key")):
                os.rename(f, f"{where}/{to}")
            return want

        def hup(conf=None, words="was reloaded"):
            seen = d.log().count(words)
            if conf is not None:
                d.write_conf(conf)
            d.proc.send_signal(signal.SIGHUP)
            return wait_for(lambda: d.log().count(words) > seen)
        with open(d.conf_path) as f:
            base = f.read()
        named = base + (f'tls certificate "{where}/cert"\n'
                        f'tls key "{where}/key"\n')
        want = put("one")
        hup(named)
        ok(wait_for(lambda: shows(d) == want), "a certificate out of sight")
        want = put("two")
        hup()
        ok(wait_for(lambda: shows(d) == want), "SIGHUP: its successor")
        c, pid = client(d), d.role_pid("tlsproc")
        for _ in range(2):
            hup()
        # one that tries them has come and gone
        ok(wait_for(lambda: d.children("tlsproc").keys() == {pid}),
           "SIGHUP: the same one stays")
        time.sleep(0.5)
        eq((c.cmd("LIST"), d.role_pid("tlsproc")), ([], pid),
           "and so do its connections")
        os.rename(where + "/cert", where + "/gone")
        ok(hup(words="goes on with the") and "cannot be opened" in d.log(),
           "SIGHUP: one that is gone is told", d.log())
        eq((c.cmd("LIST"), shows(d)), ([], want), "and was read before")


def named_for_nobody(mode):
    """Without a TLS listener it does not matter which files are named."""
    with tls_daemon(mode) as d:
        with open(d.conf_path) as f:
            base = f.read()
        seen = len(d.log())
        d.write_conf(re.sub("(?m)^.* tls .*\n", "", base) +
                     'tls certificate "/none"\ntls key "/none"\n')
        d.proc.send_signal(signal.SIGHUP)
        ok(wait_for(lambda: d.role_pid("tlsproc") is None), "tlsproc ends")
        time.sleep(0.5)
        ok("certificate" not in d.log()[seen:] and "exited" not in
           d.log()[seen:], "and nothing is said of files", d.log()[seen:])
        d.write_conf(base)
        d.proc.send_signal(signal.SIGHUP)
        ok(wait_for(lambda: attempt_client(d)), "with one again it serves")


def connections_at_a_reload(mode):
    with tls_daemon(mode, "max-connections 3\n") as d:
        with open(d.conf_path) as f:
            base = f.read()
        d.write_conf(base.replace("max-connections 3", "max-connections 12"))
        d.proc.send_signal(signal.SIGHUP)
        ok(in_text(d, "was reloaded"), "SIGHUP raises max-connections")

        def all_served():
            held = [attempt_client(d) for _ in range(10)]
            for c in held:
                if c is not None:
                    c.close()
            return None not in held
        ok(wait_for(all_served), "and so many are served over TLS")


def crash_with_bad_files(mode):
    """What is named is tried first; what lies in its place is all there is."""
    with tls_daemon(mode) as d:
        first = presented(d.tls_port, d.uid)
        with open(d.conf_path) as f:
            base = f.read()
        ca = Authority(os.path.join(d.dir, "ca"))
        cert, key = ca.issue("host", "/CN=host", usage="serverAuth")
        give_key(d, ca.dir, cert, key)
        named = base + f'tls certificate "{cert}"\ntls key "{key}"\n'

        def crash():
            pid = d.role_pid("tlsproc")
            os.kill(pid, signal.SIGKILL)
            ok(wait_for(lambda: d.role_pid("tlsproc") not in (None, pid)) or
               "TLS is not served" in d.log(), "tlsproc is killed")

        def hup(conf):
            d.write_conf(conf)
            d.proc.send_signal(signal.SIGHUP)

        # others are named, and are unfit
        kept = d.log().count("goes on with the")
        hup(base + f'tls certificate "{ca.path("none")}"\n'
            f'tls key "{key}"\n')
        ok(wait_for(lambda: d.log().count("goes on with the") > kept),
           "SIGHUP names bad files")
        crash()
        ok(wait_for(lambda: shows(d) == first), "the old ones serve again")
        eq(warnings(d.client()), [], "and nobody is warned")
        hup(named)
        want = ssl.PEM_cert_to_DER_cert(open(cert).read())
        ok(wait_for(lambda: shows(d) == want), "good ones replace them")
        # these are replaced by what is none
        with open(cert) as f:
            good = f.read()
        with open(cert, "w") as f:
            f.write("none\n")
        crash()
        c = d.client()
        ok(wait_for(lambda: "TLS is not served: the lines above" in d.log()),
           "bad ones in their place: the log says what happens", d.log())
        ok("is not a certificate in PEM form" in d.log(), "and why")

        def told():
            return any("TLS is not served" in w for w in warnings(c))
        ok(wait_for(told), "VERSION says so", warnings(c))
        eq((shows(d), c.cmd("LIST")), (None, []),
           "TLS is not served; the rest is")
        with open(cert, "w") as f:
            f.write(good)
        hup(named)
        ok(wait_for(lambda: shows(d) == want), "SIGHUP with good ones serves")
        ok(wait_for(lambda: not told()), "and the warning goes", warnings(c))


def comm(pid):
    try:
        with open(f"/proc/{pid}/comm") as f:
            return f.read().strip()
    except OSError:
        return None


def expiry(mode):
    with tls_daemon(mode) as d:
        ca = Authority(os.path.join(d.dir, "ca"))
        with open(d.conf_path) as f:
            base = f.read()
        d.stop()
        for days, words in ((-1, "has expired"), (3, "expires in "),
                            (15, None)):
            cert, key = ca.issue(f"d{days}", "/CN=host", days=days,
                                 usage="serverAuth")
            give_key(d, ca.dir, cert, key)
            d.write_conf(base + f'tls certificate "{cert}"\n'
                         f'tls key "{key}"\n')
            seen = len(d.log())
            d.start()
            log, c = d.log()[seen:], d.client()
            if words is None:
                eq((warnings(c), dep(c)["available"],
                    "expires in" in log), ([], True, False),
                   "two weeks are long enough")
            else:
                ok(f"{cert} {words}" in log, f"start: it {words}", log)
                ok(len(warnings(c)) == 1 and words in warnings(c)[0],
                   "VERSION says so", warnings(c))
                row = dep(c)
                ok(not row["available"] and not row["required"] and
                   words in row["remedy"], "and DEPS", row)
            d.stop()
        # of its own it says where it is, and what would make another
        own = d.dir + "/state/tls/server.pem"
        cert, key = ca.issue("own", "/CN=host", days=3, usage="serverAuth")
        st = os.stat(own)
        with open(own, "w") as f:
            f.write(open(cert).read() + open(key).read())
        os.chown(own, st.st_uid, st.st_gid)
        d.write_conf(base)
        seen = len(d.log())
        d.start()
        ok(f"tls certificate {own} expires in " in d.log()[seen:] and
           "remove it while debuglanternd is stopped" in d.log()[seen:],
           "its own: where it is, and what helps", d.log()[seen:])
        told = warnings(d.client())
        ok(len(told) == 1 and "remove tls/server.pem" in told[0],
           "VERSION says it as well", told)
        d.stop()
        d.write_conf(re.sub(r"(?m)^.*tls.*\n", "", base))
        d.start()
        eq((warnings(d.client()), dep(d.client())), ([], None),
           "where nobody speaks TLS, nobody is warned")


def attempt_client(d):
    try:
        c = client(d, timeout=5)
        c.cmd("LIST")
        return c
    except (OSError, EOFError):
        return None


def shows(d):
    try:
        return presented(d.tls_port, d.uid)
    except OSError:
        return None


def give_key(d, where, cert, key):
    """As the manual says: root's, read by _dltls alone."""
    os.chmod(where, 0o755)
    os.chmod(cert, 0o644)
    os.chmod(key, 0o640 if d.mode == "system" else 0o600)
    if AS_ROOT:
        gid = service_uid("_dltls") if d.mode == "system" else d.uid
        os.chown(key, 0 if d.mode == "system" else d.uid, gid)


def bad_files(mode):
    """Whatever is wrong with the files: no start, and one line says why."""
    with Daemon(mode) as d:
        ca = Authority(os.path.join(d.dir, "ca"))
        cert, key = ca.issue("host", "/CN=host", usage="serverAuth")
        _, strange = ca.issue("other", "/CN=host", usage="serverAuth")
        for k in (key, strange):
            give_key(d, ca.dir, cert, k)
        loose = shutil.copy(key, ca.path("loose.key"))
        os.chmod(loose, 0o644)
        text, words = ca.path("text"), ca.path("words")
        for name in (text, words):
            with open(name, "w") as f:
                f.write("no certificate\n")
        give_key(d, ca.dir, text, words)
        _, base = with_tls()
        for c, k, ca_file, why in (
                (cert, loose, None, "can be read or written by others"),
                (cert, ca.path("none"), None, "cannot be opened"),
                (ca.path("none"), key, None, "cannot be opened"),
                (cert, strange, None, "do not fit"),
                (text, key, None, "not a certificate in PEM form"),
                (cert, words, None, "do not fit"),
                (cert, key, text, "client-ca")):
            conf = base + f'tls certificate "{c}"\ntls key "{k}"\n'
            if ca_file:
                conf += f'tls client-ca "{ca_file}"\n'
            with Daemon(mode, conf=conf, wait=False) as e:
                e.proc.wait(20)
                lines = [x for x in e.log().splitlines() if why in x]
                ok(e.proc.returncode not in (0, None) and len(lines) == 1,
                   f"{os.path.basename(c)}, {os.path.basename(k)}: the "
                   f"daemon does not start: {why}", e.log())


def own_directory_is_checked(mode):
    with tls_daemon(mode) as d:
        key = os.path.join(d.dir, "state", "tls", "server.pem")
        d.stop()
        os.chmod(key, 0o644)
        seen = len(d.log())
        d.start(wait=False)
        d.proc.wait(20)
        ok(d.proc.returncode != 0 and
           "can be read or written by others" in d.log()[seen:],
           "an own key with a wrong mode: no start", d.log()[seen:])
        with open(key, "w") as f:
            f.write("")
        os.chmod(key, 0o600)
        seen = len(d.log())
        d.start(wait=False)
        d.proc.wait(20)
        ok("is empty" in d.log()[seen:], "nor with an empty one",
           d.log()[seen:])
        os.unlink(key)
        d.start()
        ok(client(d).cmd("LIST") == [], "without one it makes another")


run_tests(*[alone(t) for t in (
    protocols, ciphers, no_renegotiation, own_certificate, not_without_need,
    same_protocol, pieces, half_close, big_and_slow, at_rest, fds_come_back,
    wrong_language, garbage, patience, too_many, its_own_sessions,
    restarts, reloads, bad_replacements, replaced_unseen, named_for_nobody,
    connections_at_a_reload, crash_with_bad_files, expiry, bad_files,
    own_directory_is_checked)],
    *([alone(certificates_of_clients)] if AS_ROOT else []))
