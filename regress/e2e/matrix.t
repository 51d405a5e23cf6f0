#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Every command, by every door, for every kind of principal: who is answered
# what.  A command that HELP names and the table does not is a failure.
import json
import os
import ssl
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (ALICE, AS_ROOT, BOB, Client, Daemon, eq, free_port, helper,
                ok, passwd_wrapper, run_tests)

CAROL, DAVE, EVE = BOB + 1, BOB + 2, BOB + 3
# an address of this host that is not loopback, in a network of the test's
ELSEWHERE = "192.0.2.1"

# what a command needs, and a line that does no harm where it is allowed;
# {r} is a running session, {l} one that is not.  ANY: needs no session.
SEE, USE, OWN, ADMIN, ANY, MAKE, HOST = ("see", "use", "own", "admin", "any",
                                         "make", "host")
ROWS = {
    "UPLOAD": (MAKE, "UPLOAD 3\nabc", "invalid_elf"),
    "NEW": (MAKE, "NEW cols=x", "invalid_argument"),
    "START": (USE, "START {r}", "already_running"),
    "ARGS": (USE, "ARGS {r} 'x", "invalid_args"),
    "ENV": (USE, "ENV {r} x", "invalid_env"),
    "ENVDEL": (USE, "ENVDEL {r} NONE", None),
    "ENVLIST": (SEE, "ENVLIST {r}", None),
    "STOP": (USE, "STOP {l}", "not_running"),
    "KILL": (USE, "KILL {l}", "not_running"),
    "DEBUG": (USE, "DEBUG {l}", "not_running"),
    "LIST": (ANY, "LIST", None),
    "STATUS": (SEE, "STATUS {r}", None),
    "DELETE": (USE, "DELETE {r}", "session_running"),
    "OUTPUT": (SEE, "OUTPUT {r}", None),
    "DEPS": (ANY, "DEPS", None),
    "SYSROOT": (MAKE, None, None),      # see sysroot()
    "ACTIVITY": (ANY, "ACTIVITY", None),
    "FOLLOW": (SEE, "FOLLOW {l} x", "invalid_argument"),
    "WAIT": (SEE, "WAIT {r} 0", None),
    "SIGNAL": (USE, "SIGNAL {l} USR1", "not_running"),
    "INPUT": (USE, "INPUT {l} eof", "not_running"),
    "NAME": (USE, "NAME {r} abcdef", "invalid_name"),
    "RESIZE": (USE, "RESIZE {r} 80 24", "invalid_argument"),
    "MARK": (SEE, "MARK {r}", "invalid_argument"),
    "ATTACH": (SEE, "ATTACH {r}", "invalid_argument"),
    "LIMITS": (USE, "LIMITS {r} cpu=0", "invalid_argument"),
    "DEBUGGER": (SEE, "DEBUGGER {r} {{}}", "no_session"),
    "TRACER": (SEE, "TRACER {r} {{}}", "no_tracer"),
    "MCP": (ANY, 'MCP {{"message":{{"jsonrpc":"2.0","id":1,'
            '"method":"ping"}}}}', None),
    "GDBPIPE": (USE, "GDBPIPE {l}", "not_running"),
    "SHARE": (OWN, "SHARE {r} nosuchuser", "invalid_argument"),
    "UNSHARE": (OWN, "UNSHARE {r} nosuchuser", "invalid_argument"),
    "HELLO": (ANY, "HELLO", None),
    "AUTH": (ANY, "AUTH x", "invalid_argument"),    # not the first line
    "WHOAMI": (ANY, "WHOAMI", None),
    "TOKEN": (HOST, "TOKEN revoke 00000000", "not_found"),
    "LOGIN": (HOST, "LOGIN link", None),
    "TICKET": (SEE, "TICKET {l}", None),
    "KEYS": (OWN, "KEYS {l} rotate", None),
    "USAGE": (ANY, "USAGE", None),
    "QUOTA": (ANY, "QUOTA", None),
    "AUDIT": (ADMIN, "AUDIT 999999999", None),
    "VERSION": (ANY, "VERSION", None),
    "HELP": (ANY, "HELP", None),
}


class Secure(Client):
    """Over TLS, from an address that says nothing about who it is."""

    def __init__(self, port):
        super().__init__(port, ELSEWHERE, EVE)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        self.s = context.wrap_socket(self.s)


class Principal:
    """What somebody may do with the sessions of the table."""

    def __init__(self, name, uid, access, admin=False, token=None):
        self.name, self.uid, self.access = name, uid, access
        self.admin, self.token = admin, token

    def expects(self, need, allowed):
        read_only = self.token == "read-only"
        if need in (SEE, USE, OWN):
            if self.access is None:
                return "not_found"
            if need != SEE and (read_only or self.access == "ro"):
                return "read_only"
            if need == OWN and self.access != "own":
                return "not_permitted"
        if need == MAKE and read_only:
            return "read_only"
        if need == HOST and read_only:
            return "read_only"
        if need == HOST and self.token:
            return "not_permitted"
        if need == ADMIN and not self.admin:
            return "not_permitted"
        return allowed


PEOPLE = [
    Principal("the owner", ALICE, "own"),
    Principal("who has it read-only", BOB, "ro"),
    Principal("who has it read-write", CAROL, "rw"),
    Principal("an administrator", DAVE, "own", admin=True),
    Principal("another user", EVE, None),
]


def json_form(line):
    """The same as a JSON request, for commands whose words have names."""
    verb, *words = line.split()
    if verb in ("LIST", "DEPS", "ACTIVITY", "WHOAMI", "QUOTA", "VERSION",
                "HELP", "USAGE", "HELLO"):
        args = {}
    elif len(words) == 1 and verb not in ("AUTH", "AUDIT", "UPLOAD", "MCP",
                                         "LOGIN", "NEW"):
        args = {"session": words[0]}
    else:
        return None
    return json.dumps({"id": 7, "command": verb.lower(), "args": args})


def code_of(r):
    return r.get("error_code") if isinstance(r, dict) else None


def cell(c, p, door, verb, sessions):
    need, line, allowed = ROWS[verb]
    line = line.format(**sessions)
    want = p.expects(need, allowed)
    eq(code_of(c.cmd(line)), want, f"{door}: {verb} for {p.name}: {want}")
    request = json_form(line)
    if request is None:
        return
    r = c.cmd(request)
    got = r["error"]["code"] if "error" in r else None
    eq((r.get("id"), r.get("success"), got), (7, want is None, want),
       f"{door}, JSON: {verb} for {p.name}: {want}")


def sysroot(c, p, door):
    """Only the refusal: what it sends is large, and tested elsewhere."""
    if p.token == "read-only":
        eq(code_of(c.cmd("SYSROOT")), "read_only",
           f"{door}: SYSROOT for {p.name}: read_only")


def by_door(connect, p, door, sessions):
    c = connect()
    eq(c.cmd("WHOAMI").get("uid"), p.uid, f"{door}: {p.name} is known")
    seen = {x["id"] for x in c.cmd("LIST")} & set(sessions.values())
    eq(seen, set() if p.access is None else set(sessions.values()),
       f"{door}: LIST for {p.name}")
    for verb in ROWS:
        if verb == "SYSROOT":
            sysroot(c, p, door)
        else:
            cell(c, p, door, verb, sessions)
    c.close()


def token(c, what=""):
    r = c.cmd("TOKEN create " + what)
    if "token" not in r:
        raise RuntimeError(r)
    return r["token"]


def login(client, secret):
    r = client.cmd("AUTH " + secret)
    if not r.get("ok"):
        raise RuntimeError(r)
    return client


def strangers(d):
    lines = [r[1] for r in ROWS.values() if r[1]] + ["SYSROOT", "", "x"]
    for line in lines:
        line = line.format(r="a" * 8, l="b" * 8)
        if line.startswith("AUTH") or not line:
            continue
        c = Client(d.port, ELSEWHERE, EVE)
        eq(code_of(c.cmd(line)), "auth_required",
           f"from elsewhere: {line.split()[0]} before AUTH")
        ok(c.closed(), "and the connection is closed")
    c = Client(d.port, ELSEWHERE, EVE)
    c.send("AUTH dlt_wrong\nLIST\n")
    eq(code_of(c.json()), "auth_failed", "from elsewhere: a wrong token")
    ok(c.closed(), "ends the connection, and LIST is not carried out")


def doors(d, p):
    local = d.dir + "/run/debuglantern.sock"
    yield "local socket", p, lambda: Client(local, uid=p.uid)
    yield "loopback", p, lambda: d.client(p.uid)
    for kind in ("read-write", "read-only"):
        secret = token(d.client(p.uid), "read-only" if kind == "read-only"
                       else "")
        q = Principal(f"{p.name} by a {kind} token", p.uid, p.access,
                      p.admin, kind)
        yield "plain", q, lambda s=secret: login(
            Client(d.port, ELSEWHERE, EVE), s)
        yield "TLS", q, lambda s=secret: login(Secure(d.tls_port), s)


def matrix():
    tls_port = free_port()
    conf = (f"listen on localhost\nlisten on {ELSEWHERE} plain\n"
            f"listen on {ELSEWHERE} port {tls_port} tls\n"
            f"admin user u{DAVE}\n")
    with passwd_wrapper(ALICE, BOB, CAROL, DAVE, EVE) as wrapper, \
            Daemon("system", conf, wrapper=wrapper) as d:
        d.tls_port = tls_port
        a = d.client(ALICE)
        eq({x["name"] for x in a.cmd("HELP")["commands"]}, set(ROWS),
           "the table has every command, and no other")
        sessions = {"r": a.start(helper("sleeper"), until=b"ready")[0],
                    "l": a.upload(helper("hello"))["id"]}
        for sid in sessions.values():
            a.cmd(f"SHARE {sid} u{BOB}:ro")
            a.cmd(f"SHARE {sid} u{CAROL}:rw")
        for p in PEOPLE:
            for door, who, connect in doors(d, p):
                by_door(connect, who, door, sessions)
        strangers(d)
        eq({x["state"] for x in a.cmd("LIST")}, {"RUNNING", "LOADED"},
           "and nothing has happened to the sessions")
        a.cmd("KILL " + sessions["r"])


def read_only_in_help():
    with Daemon("user") as d:
        said = {x["name"]: x["read_only"]
                for x in d.client().cmd("HELP")["commands"]}
        want = {k: v[0] in (SEE, ANY, ADMIN) for k, v in ROWS.items()}
        eq(set(said.items()), set(want.items()),
           "HELP tells what the right to see is enough for")


if AS_ROOT and os.environ.get("DL_MATRIX_NET") != "1":
    os.environ["DL_MATRIX_NET"] = "1"
    os.execvp("unshare", ["unshare", "-n", "sh", "-ec",
                          f"ip link set lo up; ip addr add {ELSEWHERE}/32 "
                          'dev lo; exec "$0" "$@"', sys.executable,
                          *sys.argv])
run_tests(*([matrix] if AS_ROOT else []), read_only_in_help)
