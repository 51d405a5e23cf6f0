#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
"""Clients that only write, because a program was made to fetch an address:
what they send to the control port in other protocols' framing has no effect.
"""
import os
import re
import socket
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../e2e/lib"))
from dl import (TOP, Client, eq, in_modes, ok, read_helper,  # noqa: E402
                run_tests, token_of, wait_for)
from tlsclient import TlsClient, with_tls  # noqa: E402

NEW = "NEW start=now -- /bin/sleep 600"
# Requests that an attacker can make a program send, with NEW in their text.
FRAMINGS = {
    "SMTP": "EHLO x\r\nMAIL FROM:<a@b>\r\n%s\r\nQUIT\r\n",
    "SMTP, older": "HELO x\r\nMAIL FROM:<a@b>\r\n%s\r\n",
    "FTP": "USER a\r\n%s\r\nPASS b\r\n",
    "POP3": "USER a\n%s\n",
    "IMAP": "a1 LOGIN x y\r\n%s\r\n",
    "IRC": "NICK x\r\nUSER x 0 * :x\r\n%s\r\n",
    "redis": "*1\r\n$35\r\n%s\r\n",
    "redis, inline": "SET x y\r\n%s\r\n",
    "HTTP GET": "GET /\r\n%s\r\n",
    "HTTP POST": "POST /x HTTP/1.1\r\nHost: localhost\r\n"
                 "Content-Length: 99\r\n\r\n%s\r\n",
    "HTTP header": "GET / HTTP/1.1\r\nHost: localhost\r\nX: y\r\n%s\r\n\r\n",
    "WebDAV": "PROPFIND / HTTP/1.1\r\nHost: localhost\r\n\r\n%s\r\n",
    "RTSP": "OPTIONS rtsp://localhost/ RTSP/1.0\r\nCSeq: 1\r\n%s\r\n",
    "gopher": "%s\r\n",
    "gopher, with a selector": "x\r\n%s\r\n",
    "gopher, with a good command": "LIST\r\n%s\r\n",
    "finger": "root\r\n%s\r\n",
    "dict": "CLIENT libcurl\r\n%s\r\nQUIT\r\n",
    "memcached": "set k 0 0 5\r\n%s\r\n",
    "memcached, reading": "get k\r\n%s\r\n",
    "XML": "<?xml version=\"1.0\"?>\n<methodCall>\n%s\n</methodCall>\n",
    "JSON-RPC": "{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"id\":1}\n%s\n",
    "syslog": "<13>Nov 26 17:00:00 host x:\n%s\n",
    "LDAP": "0\f\x02\x01\x01`\a\x02\x01\x03\x04\0\x80\0\n%s\n",
    "PostgreSQL": "\0\0\0\b\x04\xd2\x16/\n%s\n",
    "empty lines": "\r\n\n  \n%s\r\n",
    "a payload": "INPUT 00000000 4\nabcd%s\n",
}


def raw(d, uid=None):
    """A client that speaks without HELLO."""
    c = d.client(uid)
    c.greeted = True
    return c


def answers(c):
    """All lines until the daemon closes; None if it does not."""
    c.s.settimeout(5)
    try:
        return c.recv_eof().decode(errors="replace").splitlines()
    except ConnectionError:
        return c.buf.decode(errors="replace").splitlines()
    except TimeoutError:
        return None


def sessions(d):
    c = d.client()
    found = c.cmd("LIST")
    c.close()
    return found


def other_protocols_are_closed(d):
    for name, text in FRAMINGS.items():
        c = raw(d)
        c.send(text % NEW)
        got = answers(c)
        c.close()
        ok(got is not None, f"{name}: the connection is closed")
        eq(sessions(d), [], f"{name}: nothing is run")
        if not name.startswith(("HTTP", "WebDAV", "RTSP")):
            ok(got and "error" in got[-1],
               f"{name}: an error comes before the close", got)


def the_first_bad_line_closes(d):
    """Every kind of line that does not follow the grammar."""
    for line in ("EHLO x", "list", "STATUS", "STATUS 00000000 x",
                 "UPLOAD x", "UPLOAD 0", "UPLOAD 5 /abs", "{}", "{\"a\":1",
                 "\x7f"):
        c = raw(d)
        c.send(line + "\nLIST\n")
        got = answers(c)
        c.close()
        ok(got is not None and len(got) == 1 and ("error_code" in got[0] or
                                                  "\"error\":" in got[0]),
           f"{line!r} first: one error, and the connection is closed", got)
    c = raw(d)
    c.send("\n\r\n \t\nLIST\nEHLO x\n")
    eq(c.json(), [], "empty lines before a good one are ignored")
    eq(c.json()["error_code"], "unknown_command",
       "a bad line after a good one is answered")
    eq(c.cmd("LIST"), [], "and the connection stays open")
    c.close()
    c = raw(d)
    eq(c.cmd("STATUS 00000000")["error_code"], "not_found",
       "a command for a session that is not there is a good line")
    eq(c.cmd("EHLO x")["error_code"], "unknown_command",
       "and so a bad one after it is answered")
    eq(c.cmd("LIST"), [], "without closing")
    c.close()


def the_base_protocol_needs_no_hello(d):
    """A client that knows the base protocol alone needs no HELLO."""
    c = raw(d)
    c.s.settimeout(20)
    sid = c.upload(read_helper("hello"))["id"]
    eq(c.cmd(f"ARGS {sid} a 'b c'")["args"], "a 'b c'", "ARGS")
    eq(c.cmd(f"ENV {sid} K=V")["env"], {"K": "V"}, "ENV")
    eq(c.cmd(f"ENVLIST {sid[:8]}"), {"K": "V"}, "ENVLIST, by 8 digits")
    eq(c.cmd(f"ENVDEL {sid} K").get("env"), None, "ENVDEL")
    ok("error_code" not in c.cmd(f"START {sid}"), "START")
    ok(wait_for(lambda: c.cmd(f"STATUS {sid}")["state"] == "STOPPED"),
       "STATUS")
    total = c.cmd(f"OUTPUT {sid}")["total"]
    ok(total > 0, "OUTPUT", total)
    eq(c.cmd(f"OUTPUT {sid} {total}")["output"], "", "OUTPUT by offset")
    eq([s["id"] for s in c.cmd("LIST")], [sid], "LIST")
    ok("deps" in c.cmd("DEPS"), "DEPS")
    ok(isinstance(c.cmd("ACTIVITY"), list), "ACTIVITY")
    eq(c.cmd(f"STOP {sid}")["error_code"], "not_running", "STOP")
    eq(c.cmd(f"KILL {sid}")["error_code"], "not_running", "KILL")
    r = c.cmd("{\"id\":1,\"command\":\"status\",\"args\":"
              f"{{\"session\":\"{sid}\"}}}}")
    ok(r["success"], "the same commands as JSON", r)
    r = c.cmd(f"START {sid} --debug")
    eq(r["state"], "DEBUGGING", "START --debug")
    c.cmd(f"KILL {sid}")
    eq(c.cmd(f"DELETE {sid[:6].upper()}")["state"], "DELETED",
       "DELETE, by 6 digits")
    c.close()


# A line for each extension, and for each option of a base command.
def extension_lines(sid):
    return [
        NEW, "NEW", f"FOLLOW {sid}", f"WAIT {sid}", f"SIGNAL {sid} TERM",
        f"INPUT {sid} eof", f"RESIZE {sid} 80 24", f"MARK {sid}",
        f"NAME {sid} x", f"LIMITS {sid} cpu=1", f"GDBPIPE {sid}",
        "DEBUGGER list", "TRACER list", "MCP {}", f"SHARE {sid} root",
        f"UNSHARE {sid} root", "WHOAMI", "USAGE", "QUOTA", "TOKEN create",
        "TOKEN list", "LOGIN link", f"TICKET {sid}", f"KEYS {sid}",
        f"ATTACH {sid}", "AUDIT", "VERSION", "HELP",
        f"START {sid} --tty", f"START {sid} --split",
        f"START {sid} --sandbox none", f"START {sid} --network none",
        f"START {sid} --debug --split", f"START {sid} cols=80",
        "UPLOAD 0 file=x", f"START {sid} rows=24",
        f"OUTPUT {sid} base64", f"OUTPUT {sid} 0 base64",
        "{\"command\":\"new\",\"args\":{\"argv\":[\"/bin/sleep\",\"600\"],"
        "\"start\":\"now\"}}",
        "{\"command\":\"whoami\"}",
        f"{{\"command\":\"start\",\"args\":{{\"session\":\"{sid}\","
        "\"tty\":true}}",
    ]


def extensions_wait_for_hello(d):
    owner = d.client()
    sid = owner.upload(read_helper("hello"))["id"]
    told = owner.cmd("VERSION")["extensions"]
    lines = extension_lines(sid)
    tried = {line.split()[0] for line in lines} | {
        f"{line.split()[0]} {re.split('[ =]', word)[0]}"
        for line in lines for word in line.split()[1:]}
    # without a token HELLO and AUTH are for everybody, and FOLLOW is tried
    eq(set(told) - tried - {"HELLO", "AUTH", "ACCEPT", "FOLLOW hold",
                            "JSON lines"}, set(), "every extension is tried")
    for line in lines:
        c = raw(d)
        c.send(f"LIST\n{line}\nLIST\n")
        got = answers(c)
        c.close()
        ok(got is not None and len(got) == 2 and
           "hello_required" in got[1] and "HELLO" in got[1],
           f"before HELLO {line.split(sid)[0][:50]!r} is refused, with the "
           "remedy, and the connection is closed", got)
    s = owner.cmd(f"STATUS {sid}")
    eq((s["state"], s["name"], s["tty"]), ("LOADED", None, False),
       "and none of them had an effect")
    owner.close()


def labels_and_short_ids_wait_for_hello(d):
    owner = d.client()
    sid = owner.upload(read_helper("hello"))["id"]
    owner.cmd(f"NAME {sid} prod")
    for name in ("prod", sid[:5], "a", "prod/x", sid[:8] + "x", "-" * 36):
        c = raw(d)
        c.send(f"LIST\nARGS {name} x\nLIST\n")
        got = answers(c)
        c.close()
        ok(got is not None and len(got) == 2 and "hello_required" in got[1],
           f"before HELLO no session is called {name!r}", got)
    eq(owner.cmd(f"STATUS {sid}").get("args"), None, "nor has one arguments")
    for name in ("prod", sid[:5], sid):
        eq(owner.cmd(f"STATUS {name}").get("id"), sid,
           f"after HELLO {len(name)} characters name it")
    c = raw(d)
    for n in (1, 2):
        eq(c.cmd("STATUS 000000")["error_code"], "not_found",
           f"wrong id {n} of a row is answered")
    eq(c.cmd(f"STATUS {sid}")["id"], sid, "a right one begins a new row")
    c.send("STATUS 000000\n" * 3 + "LIST\n")
    got = answers(c)
    ok(got is not None and [json_code(x) for x in got] == ["not_found"] * 3,
       "three wrong ids in a row close the connection", got)
    c.close()
    for _ in range(5):
        r = owner.cmd("STATUS 000000")
    eq(r["error_code"], "not_found", "after HELLO they do not")
    owner.close()


def json_code(line):
    m = re.search(r'"error_code":"(\w+)"', line)
    return m and m[1]


def hello_wants_the_nonce_read(d):
    c = raw(d)
    r = c.cmd("HELLO")
    ok(re.fullmatch("[0-9a-f]{32}", r["nonce"]), "HELLO answers a nonce", r)
    other = raw(d)
    mine = other.cmd("HELLO")["nonce"]
    ok(mine != r["nonce"], "another one on another connection")
    other.send(f"HELLO {r['nonce']}\n{NEW}\n")
    got = answers(other)
    ok(got is not None and len(got) == 1 and
       json_code(got[0]) == "invalid_argument",
       "a nonce of another connection is refused, and that is closed", got)
    other.close()
    eq(c.cmd("HELLO " + r["nonce"]), {"ok": True}, "its own is taken")
    ok("uid" in c.cmd("WHOAMI"), "and extensions are answered")
    c.close()
    c = raw(d)
    c.send("HELLO\nHELLO " + "0" * 32 + f"\n{NEW}\n")
    got = answers(c)
    ok(got is not None and json_code(got[1]) == "invalid_argument" and
       len(got) == 2, "a guess that was sent along is refused", got)
    c.close()
    c = raw(d)
    c.send(f"HELLO {'0' * 32}\n{NEW}\n")
    got = answers(c)
    ok(got is not None and len(got) == 1, "and one without a question", got)
    c.close()
    c = raw(d)
    c.send(f"HELLO\n{NEW}\n")
    got = answers(c)
    ok(got is not None and json_code(got[1]) == "hello_required",
       "half of the exchange opens nothing", got)
    c.close()
    c = raw(d)
    nonce = c.cmd("{\"command\":\"hello\"}")["result"]["nonce"]
    r = c.cmd("{\"command\":\"hello\",\"args\":{\"nonce\":\"%s\"}}" % nonce)
    eq(r["result"], {"ok": True}, "HELLO as JSON")
    ok("uid" in c.cmd("WHOAMI"), "opens lines as well")
    c.close()
    eq(sessions(d), [], "none of this ran anything")


def a_token_stands_for_hello(d):
    token = token_of(d)
    c = raw(d)
    ok(c.cmd("AUTH " + token).get("ok"), "AUTH needs no HELLO")
    ok("uid" in c.cmd("WHOAMI"), "and stands in for it")
    c.close()
    c = raw(d)
    c.hello()
    ok(c.cmd("AUTH " + token).get("ok"), "AUTH may follow HELLO")
    c.close()


def the_local_socket_needs_none(d):
    c = Client(d.dir + "/run/debuglantern.sock", uid=d.uid)
    eq(c.cmd("EHLO x")["error_code"], "unknown_command",
       "a bad first line at the local socket is answered")
    ok("uid" in c.cmd("WHOAMI"), "and extensions without HELLO")
    r = c.cmd("HELLO")
    eq(c.cmd("HELLO " + r["nonce"]), {"ok": True},
       "where HELLO may be said as well")
    c.close()


def a_one_way_writer_can_upload_and_not_start(d):
    """The base protocol leaves this to a client that only writes."""
    c = raw(d)
    data = read_helper("hello")
    c.send(b"UPLOAD %d\n" % len(data) + data + b"START 000000\n" * 4 +
           NEW.encode() + b"\n")
    got = answers(c)
    c.close()
    eq([json_code(x) for x in got[1:]], ["not_found"] * 3,
       "a program can be uploaded, but not started by a guess")
    eq([s["state"] for s in sessions(d)], ["LOADED"], "so it does not run")


def documented_lines_of_nc_are_answered(d):
    """Those of README and manual: as printf and nc -N send them."""
    text = ""
    for page in ("README.md", "man/debuglantern-protocol.7"):
        with open(os.path.join(TOP, page)) as f:
            text += f.read().replace(r"\en", r"\n")
    found = re.findall(r"(?:printf|echo) '([^']*)' \|\s*nc -N (-U)?", text)
    eq([local for _, local in found], ["-U", "", "-U", "-U"],
       "they are there")
    for sent, local in found:
        c = Client(d.dir + "/run/debuglantern.sock", uid=d.uid) if local \
            else raw(d)
        lines = sent.replace(r"\n", "\n").rstrip("\n") + "\n"
        c.s.sendall(lines.encode())
        c.s.shutdown(socket.SHUT_WR)
        got = answers(c)
        eq((len(got or ()), [x for x in got or () if '"error_code"' in x or
                                '"type":"error"' in x]),
           (lines.count("\n"), []), f"{sent}: each line is answered")
        c.close()


def tls_is_no_exception(d):
    c = TlsClient(TLS_PORT, d.uid)
    c.greeted = True
    c.send(f"EHLO x\n{NEW}\n")
    eq(json_code(c.recv_line().decode()), "unknown_command",
       "by TLS a bad first line is answered")
    try:
        rest = c.recv_eof()
    except (EOFError, OSError):
        rest = b""
    eq(rest, b"", "and closes")
    c.close()
    c = TlsClient(TLS_PORT, d.uid)
    c.greeted = True
    eq(c.cmd("WHOAMI")["error_code"], "hello_required",
       "nor are extensions answered by TLS without a token")
    c.close()
    c = TlsClient(TLS_PORT, d.uid)
    ok("uid" in c.cmd("WHOAMI"), "HELLO opens them there, too")
    c.close()
    eq(sessions(d), [], "nothing ran")


TLS_PORT, CONF = with_tls()

if __name__ == "__main__":
    run_tests(in_modes(other_protocols_are_closed, the_first_bad_line_closes,
                       the_base_protocol_needs_no_hello,
                       extensions_wait_for_hello,
                       labels_and_short_ids_wait_for_hello,
                       hello_wants_the_nonce_read, a_token_stands_for_hello,
                       the_local_socket_needs_none,
                       a_one_way_writer_can_upload_and_not_start,
                       documented_lines_of_nc_are_answered),
              in_modes(tls_is_no_exception, conf=CONF))
