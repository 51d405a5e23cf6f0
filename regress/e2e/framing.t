#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Lines, payloads and numbers as hostile, slow and hasty clients send them:
# answered in order and complete, or closed, within bounded memory.
import json
import os
import resource
import socket
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (Daemon, Prober, alone, eq, helper, in_modes, ok, read_helper,
                read_proc, run_tests, status_of, wait_for)

MIB = 1 << 20


def rss(d):
    """The most that each process of the daemon ever had, in bytes."""
    return {p: int(status_of(p).get("VmHWM", "0 kB").split()[0]) * 1024
            for p in d.processes()}


def grown(d, before):
    now = rss(d)
    return max(now[p] - before.get(p, 0) for p in now if p in before)


def cpu(pid):
    s = read_proc(pid, "stat").decode()
    f = s[s.rindex(")") + 2:].split()
    return (int(f[11]) + int(f[12])) / os.sysconf("SC_CLK_TCK")


def send_all(s, data):
    """Sends what the other end takes; False when it has closed."""
    try:
        s.sendall(data)
        return True
    except OSError:
        return False


def in_background(fn, *args):
    t = threading.Thread(target=fn, args=args, daemon=True)
    t.start()
    return t


def lines_to_eof(c):
    try:
        return [x for x in c.recv_eof().split(b"\n") if x]
    except ConnectionError:
        out, c.buf = [x for x in c.buf.split(b"\n") if x], b""
        return out


# --- order and completeness ----------------------------------------------

def one_byte_client(d):
    c = d.client()
    c.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    data = read_helper("hello")
    for b in b"LIST\nUPLOAD %d\n" % len(data) + data + b"LIST\r\n":
        c.s.send(bytes([b]))
    eq(c.json(), [], "one byte at a time: LIST")
    sid = c.json()["id"]
    eq([s["id"] for s in c.json()], [sid],
       "one byte at a time: UPLOAD and the LIST after it")


def upload_payload_and_list_in_one_write(d):
    c = d.client()
    data = read_helper("hello")
    c.send((b"UPLOAD %d\n" % len(data) + data) * 2 + b"LIST\n")
    ids = [c.json()["id"], c.json()["id"]]
    eq(sorted(s["id"] for s in c.json()), sorted(ids),
       "UPLOAD, payload, UPLOAD, payload and LIST in one write")


def pipelining_60000_list(d):
    c = d.client()
    for _ in range(3):
        c.upload(helper("hello"))
    with Prober(d) as others:
        t = in_background(send_all, c.s, b"LIST\n" * 60000)
        n = sum(len(c.json()) == 3 for _ in range(60000))
        t.join()
        eq(n, 60000, "60000 pipelined LIST: every one is answered")
        others.check("60000 pipelined LIST: nobody else waits")
    eq(c.cmd("NOPE")["error_code"], "unknown_command",
       "60000 pipelined LIST: the connection goes on")


def half_close_list(d):
    c = d.client()
    c.send("LIST\n")
    c.s.shutdown(socket.SHUT_WR)
    eq(c.recv_eof(), b"[]\n", "LIST and half-close: answered, then closed")


def half_close_waiting(d):
    c = d.client()
    sid, _ = c.start(helper("sleeper"), until=b"ready")
    e = d.client()
    e.send(f"WAIT {sid} 20\nLIST\n")
    e.s.shutdown(socket.SHUT_WR)
    c.cmd("KILL " + sid)
    got = lines_to_eof(e)
    eq([json.loads(got[0])["state"], len(got)], ["STOPPED", 2],
       "half-close with a command that takes time: all answers come")


def half_close_in_upload(d):
    c = d.client()
    c.send(b"UPLOAD 1000\n" + b"x" * 500)
    c.s.shutdown(socket.SHUT_WR)
    ok(all(json.loads(x).get("ok") is False for x in lines_to_eof(c)),
       "half-close inside of a payload: no success")
    eq(d.client().cmd("LIST"), [], "half-close inside of a payload: no "
       "session is left")


def line_without_newline_at_the_end(d):
    c = d.client()
    c.send("LIST\nLIST")
    c.s.shutdown(socket.SHUT_WR)
    got = lines_to_eof(c)
    ok(got[0] == b"[]" and len(got) <= 2, "a last line without newline", got)


def reset_in_upload(d):
    for _ in range(40):
        c = d.client()
        c.send(b"UPLOAD 100000000\n" + b"x" * 500)
        c.reset()
    # 40 x 100 MB would pass max-total-bytes if the room was not given back
    c = d.client()
    r = wait_for(lambda: "id" in c.upload(helper("hello")))
    ok(r, "uploads that were cut off give their room back")


def slow_reader(d):
    c = d.client()
    ids = [c.upload(helper("hello"))["id"] for _ in range(8)]
    before = rss(d)
    c.s.setblocking(False)
    sent, stalls = b"", 0
    block = b"".join(b"STATUS " + i.encode() + b"\n" for i in ids)
    while len(sent) < 64 * MIB and stalls < 20:
        try:
            at = len(sent) % len(block)
            n = c.s.send((block * 200)[at:])
            sent += (block * 200)[at:at + n]
            stalls = 0
        except BlockingIOError:
            stalls += 1
            time.sleep(0.02)
        except ConnectionError:
            break
    ok(len(sent) < 64 * MIB, "a client that does not read is not read from")
    ok(grown(d, before) < 8 * MIB, "a client that does not read: bounded "
       "memory", grown(d, before))
    c.s.settimeout(20)
    c.s.shutdown(socket.SHUT_WR)
    got = lines_to_eof(c)
    want = [ids[i % len(ids)] for i in range(sent.count(b"\n"))]
    whole = [json.loads(x).get("id") for x in got[:len(want)]]
    eq(whole == want, True, "a slow reader gets every answer, in order")


# --- refused uploads -----------------------------------------------------

def refused_upload_path_never_runs_its_payload(d):
    c = d.client()
    victim = c.upload(helper("hello"))["id"]
    payload = f"DELETE {victim}\n".encode() * 20
    for path in ("bad/../path", "/etc/passwd", "..", "a/./../b", "a//b/.."):
        e = d.client()
        e.send(b"UPLOAD %d %s\n" % (len(payload), path.encode()) + payload +
               b"LIST\n")
        e.s.shutdown(socket.SHUT_WR)
        got = [json.loads(x) for x in lines_to_eof(e)]
        eq(got[0].get("error_code"), "invalid_exec_path",
           f"UPLOAD n {path}: refused")
        ok(len(got) == 1 or (len(got) == 2 and isinstance(got[1], list)),
           f"UPLOAD n {path}: the payload is drained, or the connection "
           "closed", got)
    eq(c.cmd("STATUS " + victim).get("state"), "LOADED",
       "the payload of a refused upload was never run")


def exec_paths_with_dots_in_names(d):
    """a..b is a name like any other; it is refused for what is in it."""
    c = d.client()
    r = c.upload(b"no archive", "a..b/c...d")
    eq(r.get("error_code"), "extract_failed", "a..b is no way out")


def strict_numbers_upload(d):
    c = d.client()
    victim = c.upload(helper("hello"))["id"]
    for n in ("-5", "+7", "1e9", "0x10", "5x", "x", "1.5", "00x", "1_0",
              "18446744073709551616", "99999999999999999999999", "\xb2",
              "5,0", "'5'"):
        e = d.client()
        e.send(f"UPLOAD {n}\nDELETE {victim}\n")
        e.s.shutdown(socket.SHUT_WR)
        got = [json.loads(x) for x in lines_to_eof(e)]
        ok(len(got) == 1 and got[0].get("error_code") == "invalid_size",
           f"UPLOAD {n}: invalid_size and nothing after it is run", got)
    eq(c.cmd("STATUS " + victim).get("state"), "LOADED",
       "what follows a size that is none was never run")
    e = d.client()
    eq(e.cmd("UPLOAD 0").get("error_code"), "invalid_size",
       "UPLOAD 0: invalid_size")


def strict_numbers_elsewhere(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    for n in ("abc", "-1", "+1", "1e3", "99999999999999999999999", "0x1",
              "1.0", "18446744073709551616"):
        for line in (f"OUTPUT {sid} {n}", f"FOLLOW {sid} {n}",
                     f"WAIT {sid} {n}", f"INPUT {sid} {n}",
                     f"LIMITS {sid} cpu={n}"):
            e = d.client()
            e.send(line + "\n")
            ok(e.json().get("ok") is False, f"{line[:6]} with {n}: refused")
    eq(c.cmd("STATUS " + sid)["id"], sid, "and the daemon lives")


def refused_100_gb_upload(d):
    c = d.client()
    before = rss(d)
    with Prober(d) as others:
        c.send("UPLOAD 100000000000\n")
        eq(c.json().get("error_code"), "max_total_bytes_reached",
           "UPLOAD of 100 GB: refused before a byte of it is read")
        block = b"LIST\n" * 13107
        for _ in range(800):
            if not send_all(c.s, block):
                break
        others.check("UPLOAD of 100 GB: nobody else waits")
    ok(grown(d, before) < 8 * MIB, "UPLOAD of 100 GB: bounded memory",
       grown(d, before))
    c.s.settimeout(1)
    try:
        rest = c.s.recv(65536)
    except OSError:
        rest = b""
    eq(c.buf + rest, b"", "UPLOAD of 100 GB: the payload was never run")


def limits_before_payload(mode):
    with Daemon(mode, "max-sessions 2\nmax-total-bytes 64K\n") as d:
        c = d.client()
        c.send("UPLOAD 65537\n")
        eq(c.json()["error_code"], "max_total_bytes_reached",
           "max-total-bytes is checked before the payload")
        c = d.client()
        a = c.upload(helper("hello"))["id"]
        c.upload(helper("hello"))
        e = d.client()
        e.send("UPLOAD 10\n")
        eq(e.json()["error_code"], "max_sessions_reached",
           "max-sessions is checked before the payload")
        c.cmd("DELETE " + a)
        ok("id" in c.upload(helper("hello")), "DELETE makes room again")


# --- lines that are none -------------------------------------------------

def long_lines(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    value = "v" * 30000
    eq(c.cmd(f"ENV {sid} LONG={value}")["env"]["LONG"], value,
       "a long line is fine")
    e = d.client()
    e.send("STATUS " + "x" * (65536 - 7) + "\n")
    eq(e.json()["error_code"], "not_found", "a line of 64 KiB is a line")
    e = d.client()
    send_all(e.s, b"STATUS " + b"x" * 65536 + b"\nLIST\n")
    got = [json.loads(x).get("error_code") for x in lines_to_eof(e)]
    ok(got in ([], ["line_too_long"]), "a line that is longer is refused, "
       "and the connection closed", got)


def no_newline_400_mb(d):
    c = d.client()
    before = rss(d)
    with Prober(d) as others:
        block = b"x" * MIB
        sent = 0
        for _ in range(400):
            if not send_all(c.s, block):
                break
            sent += 1
        others.check("400 MB without a newline: nobody else waits")
    ok(grown(d, before) < 4 * MIB, "400 MB without a newline: bounded memory",
       f"{grown(d, before)} after {sent} MiB")
    eq(d.client().cmd("LIST"), [], "400 MB without a newline: others go on")


def http_and_tls(d):
    c = d.client()
    victim = c.upload(helper("hello"))["id"]
    body = f"DELETE {victim}\n"
    for name, head in (
            ("GET", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            ("POST", "POST / HTTP/1.1\r\nContent-Length: 99\r\n\r\n"),
            ("PUT", "PUT /UPLOAD HTTP/1.0\r\n\r\n"),
            ("OPTIONS", "OPTIONS * HTTP/1.1\r\n\r\n"),
            ("POST with a length that is none",
             "POST /x HTTP/1.1\r\nContent-Length: abc\r\n\r\n"),
            ("a header alone", "Content-Length: 100000000000\r\n\r\n"
             "GET / HTTP/1.1\r\n")):
        e = d.client()
        e.send(head + body)
        got = lines_to_eof(e)
        ok(all(json.loads(x).get("error_code") == "unknown_command"
               for x in got), f"HTTP, {name}: closed", got)
    ok(wait_for(lambda: "spoke HTTP to the control port; closed" in d.log()),
       "HTTP: with a line in the log")

    def tls():
        e = d.client()
        e.send(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" +
               body.encode())
        return lines_to_eof(e)
    eq(tls(), [], "TLS: closed")
    # a second has room for a few such lines only
    ok(wait_for(lambda: "spoke TLS to the control port; closed" in d.log() or
                tls()), "TLS: with a line in the log")
    eq(c.cmd("STATUS " + victim).get("state"), "LOADED",
       "the body of a request from a browser was never run")


def nul_bytes(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    for line in (b"LI\0ST", b"\0", b"STATUS " + sid.encode() + b"\0x",
                 b"ENV " + sid.encode() + b" A=b\0c",
                 b"ARGS " + sid.encode() + b" a\0b",
                 b"NAME " + sid.encode() + b" a\0b"):
        e = d.client()
        e.send(line + b"\n")
        ok(e.json().get("ok") is False, f"{line!r}: refused")
    s = c.cmd("STATUS " + sid)
    ok("env" not in s and "args" not in s and s["name"] is None,
       "a NUL byte cuts nothing short", s)


def empty_lines(d):
    c = d.client()
    c.send("\n\r\n\n")
    c.send("LIST\n")
    c.s.shutdown(socket.SHUT_WR)
    ok(lines_to_eof(c)[-1] == b"[]", "empty lines do no harm")


def random_bytes(d):
    import random
    r = random.Random(4)
    for i in range(60):
        e = d.client()
        send_all(e.s, r.randbytes(r.randrange(1, 5000)) + b"\n")
        e.close()
    eq(d.client().cmd("LIST"), [], "random bytes do no harm")


# --- many, idle and slow -------------------------------------------------

def connections_1300(mode):
    with Daemon(mode, "max-connections-per-user 1100\n") as d:
        many_connections(d)


def many_connections(d):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(4000, hard), hard))
    first = d.client()
    many = []
    for _ in range(1300):
        try:
            many.append(d.client(timeout=5))
        except OSError:
            break
    eq(first.cmd("LIST"), [], "1300 connections: the first is served")
    net = d.role_pid("netproc")
    used = cpu(net)
    end = time.monotonic() + 1
    while time.monotonic() < end:
        first.cmd("LIST")
        time.sleep(0.1)
    ok(cpu(net) - used < 0.5, "1300 connections: accept does not spin",
       cpu(net) - used)
    for c in many:
        c.close()

    def again():
        try:
            return d.client().cmd("LIST") == []
        except (OSError, EOFError):
            return False
    ok(wait_for(again), "1300 connections: when they are gone, new ones come")


def limit_of_connections(mode):
    with Daemon(mode, "max-connections 8\n") as d:
        held = [d.client() for _ in range(8)]
        for c in held:
            c.cmd("LIST")
        late = d.client()
        late.send("LIST\n")
        late.s.settimeout(0.5)
        try:
            answer = late.json()
        except (OSError, EOFError):
            answer = None
        ok(answer is None or answer["ok"] is False,
           "max-connections: one more is not served", answer)
        eq([c.cmd("LIST") for c in held], [[]] * 8,
           "max-connections: the others are")
        held[0].close()

        def again():
            try:
                return d.client().cmd("LIST") == []
            except (OSError, EOFError):
                return False
        ok(wait_for(again), "max-connections: room is made again")


def timeouts_of_lines(mode):
    with Daemon(mode, "line-timeout 2\n") as d:
        idle = d.client()
        idle.cmd("LIST")
        half = d.client()
        half.send("LIS")
        ok(all(json.loads(x).get("ok") is False for x in lines_to_eof(half)),
           "line-timeout closes a half-sent line")
        up = d.client()
        up.send(b"UPLOAD 1000\nxxx")
        ok(all(json.loads(x).get("ok") is False for x in lines_to_eof(up)),
           "line-timeout closes a half-sent upload")
        slow = d.client()
        data = read_helper("hello")
        slow.send(b"UPLOAD %d\n" % len(data))
        # steps far below the limit, together far above it
        step = len(data) // 6
        for i in range(0, len(data), step):
            slow.send(data[i:i + step])
            time.sleep(0.5)
        eq(slow.json().get("state"), "LOADED",
           "an upload that makes progress may take longer")
        eq(idle.cmd("LIST")[0]["state"], "LOADED",
           "line-timeout leaves idle connections alone")


def timeouts_of_idle(mode):
    with Daemon(mode, "idle-timeout 2\n") as d:
        idle = d.client()
        ok(idle.closed(), "idle-timeout closes an idle connection")
        c = d.client()
        sid, _ = c.start(helper("sleeper"), "5", until=b"ready")
        r = c.cmd(f"WAIT {sid} 20")
        eq((r["state"], r["exit_code"]), ("STOPPED", 0),
           "idle-timeout leaves those alone who wait for an answer")


def room_is_not_a_mailbox(d):
    """Many who wait with half a payload do not stop each other."""
    held = []
    for _ in range(20):
        c = d.client()
        c.send(b"UPLOAD 1000\nxx")
        held.append(c)
    c = d.client()
    eq(c.upload(helper("hello")).get("state"), "LOADED",
       "half uploads of others do not matter")
    for c in held:
        c.close()


run_tests(
    in_modes(
        one_byte_client, upload_payload_and_list_in_one_write,
        pipelining_60000_list, half_close_list, half_close_waiting,
        half_close_in_upload, line_without_newline_at_the_end,
        reset_in_upload, slow_reader,
        refused_upload_path_never_runs_its_payload,
        exec_paths_with_dots_in_names, strict_numbers_upload,
        strict_numbers_elsewhere, refused_100_gb_upload, long_lines,
        no_newline_400_mb, http_and_tls, nul_bytes, empty_lines,
        random_bytes, room_is_not_a_mailbox), alone(connections_1300),
    alone(limits_before_payload), alone(limit_of_connections),
    alone(timeouts_of_lines), alone(timeouts_of_idle))
