#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Requests in JSON: every command says the same as in the control protocol,
# and no bytes, however they come, do more harm than there.
import base64
import ctypes
import json
import os
import socket
import subprocess
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (AS_ROOT, Client, Daemon, MODES, SANITIZED, Prober, alone, eq,
                helper, in_modes, ok, read_helper, run_tests, small_tree,
                status_of, tar_of, wait_for)

NOWHERE = "01234567-89ab-4cde-8f01-23456789abcd"
KIB = 1024
VOLATILE = ("pid", "debug_port", "started_at", "exited_at", "created_at",
            "time")


class Json(Client):
    """A client that speaks JSON lines, by the local socket."""

    def __init__(self, d, **kw):
        super().__init__(d.dir + "/run/debuglantern.sock", uid=d.uid, **kw)
        self.n = 0

    def put(self, command, payload=b"", **args):
        self.n += 1
        r = {"id": self.n, "command": command}
        # without arguments there need be no args either
        if args or self.n % 2:
            r["args"] = args
        self.send(json.dumps(r).encode() + b"\n" + payload)

    def get(self):
        """The next answer, after a look at its form."""
        text = self.recv_line().decode()
        r = json.loads(text)
        compact = json.dumps(r, separators=(",", ":"), ensure_ascii=False)
        if compact != text.replace("\\u007f", "\x7f"):
            eq(text, compact, "no blanks between tokens")
        keys = list(r)
        if keys not in (["id", "success", "result"], ["id", "event"],
                        ["id", "success", "error"]):
            ok(False, "the members of an answer, in order", r)
        if keys[-1] == "error":
            good = r["success"] is False and \
                list(r["error"]) == ["code", "message"] and \
                all(isinstance(x, str) and x for x in r["error"].values())
            if not good:
                ok(False, "the members of an error", r)
        return r

    def ask(self, command, payload=b"", **args):
        self.put(command, payload, **args)
        r = self.get()
        if r["id"] != self.n:
            eq(r["id"], self.n, "the answer has the id of its request")
        return r

    def result(self, command, payload=b"", **args):
        return self.ask(command, payload, **args)["result"]

    def upload(self, data, exec_path=None):
        data = read_file(data) if isinstance(data, str) else data
        more = {} if exec_path is None else {"exec_path": exec_path}
        return self.result("upload", data, size=len(data), **more)


def read_file(path):
    with open(path, "rb") as f:
        return f.read()


def masked(v, sid):
    """What two sessions have in common."""
    if isinstance(v, dict):
        return {k: type(x).__name__ if k in VOLATILE else masked(x, sid)
                for k, x in v.items()}
    if isinstance(v, list):
        return [masked(x, sid) for x in v]
    return "SESSION" if v == sid else v


def outcome(answer):
    """Of either form: what it says, without its form."""
    if isinstance(answer, list):
        return answer
    if answer.get("ok") is False:
        return {"error": answer["error_code"], "says": answer["message"]}
    if answer.get("success") is False:
        return {"error": answer["error"]["code"],
                "says": answer["error"]["message"]}
    return answer["result"] if "success" in answer else answer


# --- every command --------------------------------------------------------

def loaded(c):
    return c.upload(helper("hello"))["id"]


def running(c):
    return c.start(helper("sleeper"), until=b"ready")[0]


def ended(c):
    return c.run(helper("hello"))[0]


def on_tty(c):
    return c.cmd("NEW tty -- cat")["id"]


def with_variable(c):
    sid = loaded(c)
    c.cmd(f"ENV {sid} A=1")
    return sid


# Rows of a command: what is made before, the rest of the line after the
# verb ({s} is the session), the same as arguments ("{s}" likewise).
S = {"session": "{s}"}
PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ROWS = {
    "NEW": [(None, "-- true", dict(argv=["true"])),
            (None, "tty cols=100 rows=0 -- sh -c 'echo  x'",
             dict(tty=True, cols=100, rows=0, argv=["sh", "-c", "echo  x"])),
            (None, "ephemeral cwd=/tmp env=A=b=c -- true",
             dict(ephemeral=True, tty=False, cwd="/tmp", env={"A": "b=c"},
                  argv=["true"])),
            (None, "start=now -- sleep 100",
             dict(start="now", argv=["sleep", "100"])),
            (None, "start=x", dict(start="x")),
            (None, "name=dead", dict(name="dead", argv=[])),
            (None, "cwd=tmp -- true", dict(cwd="tmp", argv=["true"])),
            (None, "env=1A=x", dict(env={"1A": "x"}))],
    "RESIZE": [(on_tty, "{s} 132 43", dict(S, cols=132, rows=43)),
               (on_tty, "{s} 0 4294967295", dict(S, cols=0,
                                                 rows=4294967295)),
               (loaded, "{s} 80 24", dict(S, cols=80, rows=24))],
    "MARK": [(on_tty, "{s}", S), (loaded, "{s}", S)],
    "START": [(loaded, "{s} --tty cols=5 rows=6",
               dict(S, tty=True, cols=5, rows=6)),
              (loaded, "{s} --tty --split", dict(S, tty=True, split=True)),
              (loaded, "{s}", S),
              (loaded, "{s} --split", dict(S, split=True)),
              (loaded, "{s} --debug", dict(S, debug=True, split=False)),
              (loaded, "{s} --sandbox namespaces --network none --split",
               dict(S, network="none", split=True, sandbox="namespaces")),
              (loaded, "{s} --sandbox tmpf", dict(S, sandbox="tmpf")),
              (running, "{s}", S)],
    "ARGS": [(loaded, "{s} a 'b  c' ''",
              dict(S, argv=["a", "b  c", ""])),
             (loaded, "{s} a \"b\"  \\c ", dict(S, text="a \"b\"  \\c ")),
             (loaded, "{s}", S), (loaded, "{s}", dict(S, argv=[])),
             (loaded, "{s} a 'b", dict(S, text="a 'b"))],
    "ENV": [(loaded, "{s} A= b=c  ", dict(S, key="A", value=" b=c  ")),
            (with_variable, "{s} A=", dict(S, key="A", value="")),
            (loaded, "{s} 1A=x", dict(S, key="1A", value="x"))],
    "ENVDEL": [(with_variable, "{s} A", dict(S, key="A")),
               (loaded, "{s} A-B", dict(S, key="A-B"))],
    "ENVLIST": [(with_variable, "{s}", S), (loaded, "{s}", S)],
    "STOP": [(running, "{s}", S), (loaded, "{s}", S)],
    "KILL": [(running, "{s}", S), (ended, "{s}", S)],
    "DEBUG": [(running, "{s}", S), (loaded, "{s}", S)],
    "STATUS": [(loaded, "{s}", S), (ended, "{s}", S)],
    "DELETE": [(ended, "{s}", S), (running, "{s}", S)],
    "OUTPUT": [(ended, "{s}", S), (ended, "{s} 6", dict(S, offset=6)),
               (ended, "{s} 1 base64", dict(S, offset=1, base64=True)),
               (ended, "{s} base64", dict(S, base64=True)),
               (loaded, "{s}", dict(S, base64=False))],
    "WAIT": [(ended, "{s}", S), (running, "{s} 0", dict(S, seconds=0)),
             (loaded, "{s} 18446744073709551615",
              dict(S, seconds=18446744073709551615))],
    "SIGNAL": [(running, "{s} CONT", dict(S, signal="CONT")),
               (running, "{s} 18", dict(S, signal=18)),
               (running, "{s} NOPE", dict(S, signal="NOPE")),
               (loaded, "{s} 9", dict(S, signal=9))],
    "NAME": [(loaded, "{s}", S),
             (loaded, "{s} a.b-", dict(S, label="a.b-"), "DELETE"),
             (loaded, "{s} a:b", dict(S, label="a:b"))],
    "LIMITS": [(loaded, "{s} cpu=5 core=0 as=unlimited",
                dict(S, cpu=5, core="0", **{"as": "unlimited"})),
               (loaded, "{s} nofile=many", dict(S, nofile="many"))],
    "SHARE": [(loaded, "{s} nosuchuser", dict(S, user="nosuchuser")),
              (loaded, "{s} u{peer}", dict(S, user="u{peer}")),
              (loaded, "{s} u{peer}:rw",
               dict(S, user="u{peer}", access="rw")),
              (loaded, "{s} u{peer}:all",
               dict(S, user="u{peer}", access="all"))],
    "UNSHARE": [(loaded, "{s} nosuchuser", dict(S, user="nosuchuser"))],
    "DEBUGGER": [(None, "list", dict(list=True)),
                 (None, '{{"command":"status"}}',
                  dict(request={"command": "status"})),
                 (loaded, '{s} {{"command":"status"}}',
                  dict(S, request={"command": "status"})),
                 (None, "{{}}", dict(request={})),
                 (None, "start", dict(start=True)),
                 (None, 'start sandbox=x {{"a":1}}',
                  dict(start=True, sandbox="x", request={"a": 1}))],
    "TRACER": [(None, "list", dict(list=True)),
               (None, '{{"command":"status"}}',
                dict(request={"command": "status"})),
               (loaded, '{s} {{"command":"status"}}',
                dict(S, request={"command": "status"})),
               (None, "{{}}", dict(request={})),
               (None, "start", dict(start=True)),
               (None, 'start sandbox=x {{"a":1}}',
                dict(start=True, sandbox="x", request={"a": 1}))],
    "MCP": [(None, '{{"message":' + json.dumps(PING).replace(
                 "{", "{{").replace("}", "}}") + "}}",
             dict(request={"message": PING})),
            (None, '{{"message":5}}', dict(request={"message": 5})),
            (None, "{{}}", dict(request={}))],
    # without a session both are asked on one connection
    "LIST": [(None, "", {})],
    "DEPS": [(None, "", {})],
    "ACTIVITY": [(None, "", {})],
    "VERSION": [(None, "", {})],
    "HELP": [(None, "", {})],
    "WHOAMI": [(None, "", {})],
    "AUDIT": [(None, "", {}), (None, "2", {"from": 2}),
              (None, "1 0", {"from": 1, "seconds": 0})],
    "TOKEN": [(None, "list", {"action": "list"}),
              (None, "revoke 00000000", {"action": "revoke",
                                         "id": "00000000"}),
              (None, "create expires=0", {"action": "create",
                                          "expires": 0})],
    "USAGE": [(None, "", {})],
    "QUOTA": [(None, "", {}), (None, "nosuchuser", {"user": "nosuchuser"})],
}


def filled(v, **names):
    if isinstance(v, dict):
        return {k: filled(x, **names) for k, x in v.items()}
    return v.format(**names) if isinstance(v, str) else v


def ask_line(c, verb, rest):
    c.send(f"{verb} {rest}\n")
    return c.json()


def same(d, verb, row):
    """One session is treated by a line, another by a request."""
    prepare, rest, args, *after = row
    j = Json(d)
    c = d.client() if prepare else j
    got = []
    for by_line in (True, False):
        sid = prepare(c) if prepare else "none"
        names = {"s": sid, "peer": d.uid or 0}
        r = ask_line(c, verb, filled(rest, **names)) if by_line else \
            j.ask(verb.lower(), **filled(args, **names))
        if verb == "NEW":
            sid = outcome(r).get("id", "none")
        got.append(masked(outcome(r), sid))
        for cmd in after:
            c.cmd(f"{cmd} {sid}")
    line, request = got
    if verb == "AUDIT" and "events" in line:
        # more may have happened meanwhile
        line = line["events"]
        request = request["events"][:len(line)]
    ok(line == request, f"{verb} {rest}: the same as a request in JSON",
       f"line: {line}\njson: {request}")
    c.close()
    j.close()


def every_command(d):
    listed = {c["name"]: c for c in d.client().cmd("HELP")["commands"]}
    eq(sorted(set(listed) - set(ROWS) - set(SPECIAL)), [],
       "every command of HELP has a row here")
    for verb in sorted(listed):
        if verb in SPECIAL:
            SPECIAL[verb](d)
        for row in ROWS.get(verb, ()):
            same(d, verb, row)
        # there is room for so many sessions only
        d.tidy()


def upload(d):
    c, j = d.client(), Json(d)
    data = read_helper("hello")
    line = c.upload(data)
    got = j.ask("UPLOAD", data, size=len(data))
    eq(masked(outcome(got), got["result"]["id"]), masked(line, line["id"]),
       "UPLOAD: the same")
    bundle = tar_of(("app/a b", helper("hello")))
    got = j.result("upload", bundle, size=len(bundle), exec_path="app/a b")
    eq((got["state"], got["exec_path"]), ("LOADED", "app/a b"),
       "UPLOAD: a path may have a blank in it")
    eq((j.result("start", session=got["id"])["state"],
        j.result("wait", session=got["id"])["exit_code"]), ("RUNNING", 0),
       "UPLOAD: and such a program runs")
    for size, code in ((0, "invalid_size"), (5, "invalid_elf")):
        c.send(b"UPLOAD %d\n" % size + b"x" * size)
        line = outcome(c.json())
        eq((outcome(j.ask("upload", b"x" * size, size=size)),
            line["error"]), (line, code), f"UPLOAD of {size} bytes: the same")


def input_(d):
    j = Json(d)
    sid, _ = j.start_json(helper("echo"))
    a = j.result("input", b"LIST\n", session=sid, size=5)
    b = j.result("input", session=sid, eof=True)
    eq((a["state"], b["id"]), ("RUNNING", sid), "INPUT: bytes, then the end")
    eq(j.result("wait", session=sid)["state"], "STOPPED", "INPUT: it ends")
    eq(j.result("output", session=sid)["output"], "LIST\n[eof]",
       "INPUT: all of it has come")
    c = d.client()
    c.send(f"INPUT {sid} 5\nhello")
    eq(outcome(j.ask("input", b"hello", session=sid, size=5)),
       outcome(c.json()), "INPUT of a session that has ended: the same")


def follow(d):
    c, j = d.client(), Json(d)
    sid, _ = c.run(helper("hello"), "a b")
    c.send(f"FOLLOW {sid}\nFOLLOW {sid} 1 base64\n")
    j.put("follow", session=sid)
    j.put("follow", session=sid, offset=1, base64=True)
    for n in (1, 2):
        got = [j.get(), j.get()]
        eq([x["id"] for x in got], [n, n], "FOLLOW: each line has the id")
        eq([got[0]["event"], got[1]["result"]], [c.json(), c.json()],
           "FOLLOW: lines are events, and the last one is the result")
    eq(outcome(j.ask("follow", session=NOWHERE)),
       outcome(c.cmd("FOLLOW " + NOWHERE)), "FOLLOW of none: the same")
    sid, _ = c.start(helper("sleeper"), until=b"ready")
    j.put("follow", session=sid)
    eq(j.get()["event"]["output"], "ready\n", "FOLLOW: events come at once")
    c.cmd("KILL " + sid)
    eq(j.get()["result"]["signal"], "SIGKILL", "FOLLOW: the end of a run")


def gdbpipe(d):
    c, j = d.client(), Json(d)
    a, b = running(c), running(c)
    line = masked(c.cmd("GDBPIPE " + a), a)
    eq(masked(j.result("gdbpipe", session=b), b), line, "GDBPIPE: the same")
    j.send("+$?#3f")
    ok(wait_for(lambda: j.recv_bytes(1) in b"+$"),
       "GDBPIPE: after the answer gdbserver speaks")
    c.close()
    j.close()


def hello(d):
    c, j = d.client(), Json(d)
    nonce = j.result("hello")["nonce"]
    eq(len(nonce), len(c.cmd("HELLO")["nonce"]), "HELLO: a nonce as well")
    eq(j.result("hello", nonce=nonce), {"ok": True}, "HELLO: taken back")
    eq(outcome(Json(d).ask("hello", nonce=nonce))["error"],
       outcome(c.cmd("HELLO " + nonce))["error"],
       "HELLO with another's: the same code")


def auth(d):
    c, j = d.client(), Json(d)
    wrong = "dlt_" + "A" * 43
    line = outcome(c.cmd("AUTH " + wrong))
    eq((outcome(j.ask("auth", token=wrong)), line["error"]),
       (line, "auth_failed"), "AUTH with a wrong token: the same")
    eq((c.closed(), j.closed()), (True, True),
       "AUTH with a wrong token: closed")
    j = Json(d)
    eq(j.ask("auth", token=["x"])["error"]["code"], "invalid_argument",
       "AUTH with no token at all: a misuse")
    ok(wrong not in d.log(), "AUTH: a token is not in the log")


def key_of(r):
    """The keys of an answer: their kinds, and none of them twice."""
    r = dict(outcome(r))
    found = [r.pop(k) for k in ("key", "ticket", "token", "read_only_token")
             if k in r]
    if "expires" in r:
        r["expires"] = r["expires"] is not None
    return [x[:4] for x in found], len(set(found)), r


def login(d):
    c, j = d.client(), Json(d)
    eq(key_of(j.ask("login", action="link")), key_of(c.cmd("LOGIN link")),
       "LOGIN link: the same")
    eq(outcome(j.ask("login", action="out")), outcome(c.cmd("LOGIN out")),
       "LOGIN of another kind: the same")


def ticket(d):
    c, j = d.client(), Json(d)
    sid = loaded(c)
    for rest, args in (("", {}), (" ro", {"read_only": True}),
                       (" role=ro", {"role": "ro"}),
                       (" role=rw", {"role": "rw"})):
        eq(key_of(j.ask("ticket", session=sid, **args)),
           key_of(c.cmd(f"TICKET {sid}{rest}")), f"TICKET{rest}: the same")
    eq(outcome(j.ask("ticket", session=NOWHERE)),
       outcome(c.cmd("TICKET " + NOWHERE)), "TICKET of none: the same")


def keys(d):
    c, j = d.client(), Json(d)
    a, b = loaded(c), loaded(c)
    for rest, args in (("", {}), ("", {}), (" rotate", {"rotate": True})):
        eq(key_of(j.ask("keys", session=a, **args)),
           key_of(c.cmd(f"KEYS {b}{rest}")), f"KEYS{rest}: the same")


def attach(d):
    c, j = d.client(), Json(d)
    a, b = on_tty(c), on_tty(c)
    for sid, rest, args in (
            (a, " from=x", {"from": -1}), (a, " cols=0x", {"rows": "x"}),
            (loaded(c), "", {}), (NOWHERE, "", {})):
        eq(outcome(j.ask("attach", session=sid, **args))["error"],
           outcome(c.cmd(f"ATTACH {sid}{rest}"))["error"],
           f"ATTACH{rest} {args}: the same code")
    line = masked(c.cmd(f"ATTACH {a} cols=90 rows=30"), a)
    eq(masked(j.result("attach", session=b, cols=90, rows=30), b), line,
       "ATTACH: the same")
    eq(j.recv_bytes(9), b"\0\0\0\5\x84\0\x5a\0\x1e",
       "ATTACH: after the answer come messages")
    c.close()
    j.close()


def sysroot(d):
    """In a test of its own, where there is little to pack."""


SPECIAL = {"UPLOAD": upload, "INPUT": input_, "FOLLOW": follow,
           "GDBPIPE": gdbpipe, "HELLO": hello, "AUTH": auth,
           "SYSROOT": sysroot,
           "LOGIN": login, "TICKET": ticket, "KEYS": keys,
           "ATTACH": attach}


def start_json(self, path):
    sid = self.upload(path)["id"]
    return sid, self.result("start", session=sid)


Json.start_json = start_json


def sysroot_of_a_small_tree(mode):
    with small_tree() as wrapper, Daemon(mode, wrapper=wrapper) as d:
        j = Json(d)
        j.put("sysroot")
        j.put("version")
        head = j.get()
        eq(list(head["result"]), ["size"], "SYSROOT: the size is the result")
        data = j.recv_bytes(head["result"]["size"])
        eq((data[:2], j.get()["result"]["name"]),
           (b"\x1f\x8b", "debuglantern"), "SYSROOT: as many bytes follow, "
           "then the next answer")


def every_argument(d):
    """Wrong names, types and omissions, of all that HELP tells of."""
    j = Json(d)
    for c in d.client().cmd("HELP")["commands"]:
        verb, params = c["name"], c["args"]
        takes_payload = verb in ("UPLOAD", "INPUT")

        def refused(why, **args):
            nonlocal j
            r = j.ask(verb, **args)
            ok(r.get("error", {}).get("code") == "invalid_argument" and
               why in r["error"]["message"], f"{verb} {args}: refused", r)
            if takes_payload:
                j = Json(d)

        for p in params:
            # whatever is in it is for somebody else to judge
            if p["type"] == "object":
                continue
            # what has a null in it is the wrong type of everything
            others = {x["name"]: {"A": None} for x in params
                      if x["required"] and x["name"] != p["name"]}
            first = next((x["name"] for x in params
                          if x["name"] in others or x is p), p["name"])
            refused("args." + first, **{p["name"]: {"A": None}},
                    **others)
        for p in params:
            if p["required"]:
                refused(f"args.{p['name']} is missing")
                break
        refused("there is no args.nonsense; " + verb, nonsense=1)


# --- texts that the line protocol cannot hold -----------------------------

ODD = ["", " ", "a b", "it's", '"', "\\", "\\\\n", "x\ny", "\n", "\t",
       "\r\n", "$HOME `id`; ls | cat", "é€😀", "\x01\x1b[0m\x7f", "-", "--",
       "'" * 50, "a=b", "{\"id\":1}", "\u2028"]


def arguments_intact(d):
    j = Json(d)
    sid = j.upload(helper("hello"))["id"]
    r = j.result("args", session=sid, argv=ODD)
    ok(r["args"], "argv: shown as one would type it")
    j.result("start", session=sid)
    j.result("wait", session=sid)
    out = base64.b64decode(j.result("output", session=sid,
                                    base64=True)["output"])
    eq(out.decode(), " ".join(f"[{x}]" for x in ODD) + "\n",
       "argv: the program has every byte of it")
    again = j.result("args", session=sid, text=r["args"])["args"]
    eq(again, r["args"], "argv: what is shown can be given as text")
    eq(j.ask("args", session=sid, argv=["x" * 9] * 4000)["success"], True,
       "argv: 40000 bytes of arguments")
    eq(j.ask("args", session=sid, argv=["x" * 42000])["error"]["code"],
       "invalid_args", "argv: more than may be is refused")


def variables_intact(d):
    j = Json(d)
    sid = j.upload(helper("hello"))["id"]
    want = {}
    for i, text in enumerate(ODD):
        want[f"V{i:02}"] = text
        r = j.result("env", session=sid, key=f"V{i:02}", value=text)
    eq(r["env"], want, "ENV: every byte of a value is kept")
    eq(j.result("envlist", session=sid), want, "ENVLIST: likewise")


def what_no_text_may_hold(d):
    j = Json(d)
    sid = j.upload(helper("hello"))["id"]
    for text in ("a\\u0000b", "\\ud800", "\\udc00\\ud800", "\x01", "a\nb"):
        for where in ('"argv":["%s"]', '"text":"%s"'):
            j.send(('{"id":1,"command":"args","args":{"session":"' + sid +
                    '",' + where % text.replace("\n", "\x02") +
                    '}}\n').encode())
            r = j.get()
            eq((r["id"], r["error"]["code"]), (None, "invalid_json"),
               f"{text!r} in {where}: refused")
    s = j.result("status", session=sid)
    ok("args" not in s, "and nothing was cut short", s)


# --- lines that are no requests ------------------------------------------

BAD = (b"{", b"{}x", b"{]", b'{"id":1,}', b"{'id':1}", b'{"id":NaN}',
       b'{"id":-Infinity}', b'{"id":1e9999999999999999999999999999999999}',
       b'{"id":18446744073709551616}', b'{"id":01}', b'{"id":"\xff"}',
       b'{"id":"\xed\xa0\x80"}', b'{"id":"\\ud800"}', b'{"id":"\\u0000"}',
       b'{"i\\u0000d":1}', b'{"id":"\0"}', b'{"id":"\x07"}', b"{\0}",
       b'{"id":1,"id":1}', b'{"command":"list","command":"help"}',
       b'{"args":{"a":1,"\\u0061":2}}', b'{"id":1}{"id":2}',
       b'{"id":1}/* */', b'{"id":tru}', b'{"id":"a}',
       b'{"a":' + b"[" * 1000 + b"]" * 1000 + b"}",
       b'{"a":' + b'{"a":' * 9 + b"1" + b"}" * 10)


def invalid_json(d):
    j = Json(d)
    for line in BAD:
        j.send(line + b'\n{"id":2,"command":"list"}\n')
        r = j.get()
        ok(r["id"] is None and r["error"]["code"] == "invalid_json",
           f"{line[:40]!r}: refused", r)
        eq(j.get(), {"id": 2, "success": True, "result": []},
           f"{line[:40]!r}: and the next line is a request")


def ids(d):
    j = Json(d)
    for text in ("0", "-1", "9223372036854775807", "18446744073709551615",
                 "-9223372036854775808", "null", '""', '"a"',
                 '"' + "i" * 64 + '"', '"é\\n\\"\\\\/"'):
        j.send('{"id":%s,"command":"list"}\n' % text)
        eq(j.get()["id"], json.loads(text), f"id {text[:30]}: echoed")
        j.send('{"id":%s,"command":"status"}\n' % text)
        eq(j.get()["id"], json.loads(text), f"id {text[:30]}: in an error")
    j.send('{"command":"list"}\n')
    eq(j.get()["id"], None, "no id: null")
    for text in ("1.5", "1e3", "true", "[1]", "{}", '"' + "i" * 65 + '"'):
        j.send('{"id":%s,"command":"list"}\n' % text)
        r = j.get()
        ok(r["id"] is None and r["error"]["code"] == "invalid_argument" and
           "id must be" in r["error"]["message"], f"id {text[:30]}: refused",
           r)


def odd_requests(d):
    j = Json(d)
    for text, code, why in (
            ("{}", "invalid_argument", "command must be"),
            ('{"command":["list"]}', "invalid_argument", "command must be"),
            ('{"command":"lists"}', "unknown_command", "HELP"),
            ('{"command":"list","arg":{}}', "invalid_argument",
             "no member arg"),
            ('{"command":"list","args":[]}', "invalid_argument",
             "args must be an object")):
        j.send(text + "\n")
        e = j.get()["error"]
        ok(e["code"] == code and why in e["message"], f"{text}: {code}", e)
    j.send('{ "command" :\t"LiSt" , "args" : { } } \r\n')
    eq(j.get()["result"], [], "blanks, and letters of either case")
    j.send(' {"command":"list"}\n')
    eq(j.json()["error_code"], "unknown_command",
       "the first byte of a line decides")


# --- framing --------------------------------------------------------------

def to_eof(c):
    try:
        return c.recv_eof().splitlines()
    except OSError:
        return c.buf.splitlines()


def both_forms_in_order(d):
    c = Json(d)
    data = read_helper("hello")
    up = b'{"id":"u","command":"upload","args":{"size":%d}}\n' % len(data)
    c.send(b'LIST\n{"id":1,"command":"list"}\nNOPE\n' + up + data +
           b'{"id":2,"command":"nope"}\n\nLIST\n' +
           b"UPLOAD %d\n" % len(data) + data + b'{"command":"list"}\n')
    got = [c.json() for _ in range(8)]
    eq((got[0], got[1]), ([], {"id": 1, "success": True, "result": []}),
       "both forms on one connection: each answered in its own")
    eq((got[2]["error_code"], got[3]["id"], got[4]["error"]["code"],
        len(got[5]), got[6]["state"], len(got[7]["result"])),
       ("unknown_command", "u", "unknown_command", 1, "LOADED", 2),
       "both forms on one connection: in order")


def byte_by_byte(d):
    c = Json(d)
    c.s.close()
    c.s = d.client().s
    c.s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    data = tar_of(("x", b"#!/bin/sh\n"))[:40]
    for b in b'{"id":1,"command":"upload","args":{"size":%d}}\n' % len(data) \
            + data + b'{"id":2,"command":"list"}\r\nLIST\n':
        c.s.send(bytes([b]))
    eq((c.json()["error"]["code"], c.json()["result"], c.json()),
       ("invalid_elf", [], []), "one byte at a time")


def pipelining(d):
    c = Json(d)
    loaded(d.client())
    n = 2000 if SANITIZED else 20000
    block = b"".join(b'{"id":%d,"command":"list"}\n' % i +
                     (b"LIST\n" if i % 3 == 0 else b"") for i in range(n))
    with Prober(d) as others:
        t = threading.Thread(target=c.s.sendall, args=(block,), daemon=True)
        t.start()
        good = True
        for i in range(n):
            r = c.json()
            good = good and r["id"] == i and len(r["result"]) == 1
            if i % 3 == 0:
                good = len(c.json()) == 1 and good
        t.join(30)
        ok(good, f"{n} pipelined requests and a third as many lines: all "
           "answered, in order")
        others.check("pipelined requests: nobody else waits")


def half_close(d):
    c = Json(d)
    sid = running(d.client())
    c.put("wait", session=sid, seconds=20)
    c.put("list")
    c.send('{"id":3,"command":"list"}')
    c.s.shutdown(socket.SHUT_WR)
    d.client().cmd("KILL " + sid)
    got = [json.loads(x) for x in to_eof(c)]
    eq(([x["id"] for x in got], got[0]["result"]["state"]),
       ([1, 2], "STOPPED"), "half-close: what was sent is answered, half a "
       "line is not")


def slow_reader(d):
    c = Json(d)
    loaded(d.client())
    c.s.settimeout(0.5)
    line = b'{"id":1,"command":"list"}\n' * 1000
    sent = 0
    try:
        while sent < 50 * KIB * KIB:
            sent += c.s.send(line)
    except socket.timeout:
        pass
    ok(sent < 50 * KIB * KIB, "who does not read is not read from", sent)
    with Prober(d) as others:
        time.sleep(0.3)
        others.check("who does not read makes nobody else wait")


def long_lines(d):
    c = Json(d)
    head, tail = b'{"command":"list","id":"', b'"}'
    room = 65536 - len(head + tail)
    c.send(head + b"i" * room + tail + b"\n")
    eq(c.get()["error"]["code"], "invalid_argument",
       "64 KiB are a line")
    c.send(head + b"i" * (room + 1) + tail + b"\nLIST\n")
    r = c.get()
    eq((r["id"], r["error"]["code"]), (None, "line_too_long"),
       "one byte more is none")
    ok(c.closed(), "and the connection closes")


def refused_payloads_are_no_requests(d):
    victim = loaded(d.client())
    evil = f"DELETE {victim}\n" * 3
    size = len(evil)
    after = f'{evil}{{"id":9,"command":"version"}}\n'.encode()

    def goes_on(request, name):
        c = Json(d)
        c.send(request.encode() + b"\n" + after)
        r = [c.get(), c.get()]
        ok(r[0]["success"] is False and r[1]["id"] == 9, name, r)

    def closes(request, name):
        c = Json(d)
        c.send(request.encode() + b"\n" + after)
        got = [json.loads(x) for x in to_eof(c)]
        ok(len(got) <= 1 and all(x["success"] is False for x in got), name,
           got)

    up = '{"id":1,"command":"upload","args":{%s}}'
    goes_on(up % f'"size":{size},"x":1', "an unknown argument: the payload "
            "is skipped")
    goes_on(up % f'"size":{size},"exec_path":"../x"', "a path that leaves: "
            "likewise")
    goes_on(up % f'"size":{size},"exec_path":7', "a path that is none: "
            "likewise")
    goes_on('{"id":1,"command":"input","args":{"size":%d}}' % size,
            "no session: likewise")
    goes_on('{"id":1,"command":"input","args":{"size":%d,"session":"%s"}}' %
            (size, NOWHERE), "an unknown session: likewise")
    for args in ("", '"size":"5"', '"size":-5', '"size":5.0', '"size":null',
                 '"size":99999999999999999999'):
        closes(up % args, f"UPLOAD with {args or 'nothing'}: closed")
    closes('{"command":"upload","args":[5]}', "UPLOAD with an array: closed")
    closes('{"command":"UPLOAD","args":{"size":5},}',
           "UPLOAD that is not JSON: closed")
    closes('{"command":"Input","args":{"session":"\\ud800"}}',
           "INPUT that is not JSON: closed")
    eq(d.client().cmd("STATUS " + victim).get("state"), "LOADED",
       "no payload was run")


def hostile_lines_cost_little(d):
    """json-c makes much of little: the bound is on what a line can cost."""
    net = d.role_pid("netproc")

    def peak():
        return int(status_of(net)["VmHWM"].split()[0])

    def fill(unit, head=b'{"a":[', tail=b"1]}"):
        n = (65536 - len(head + tail)) // len(unit)
        return head + unit * n + tail + b"\n"
    lines = [fill(b"{},"), fill(b"[],"), fill(b'"",'), fill(b"1,"),
             fill(b'"a":1,', b"{", b'"b":1}'), fill(b"1" * 30 + b","),
             fill(b"\\u00e9", b'{"id":"', b'"}'), fill(b"[", b"{", b""),
             fill(b"'", b'{"command":"args","args":{"session":"x","argv":["',
                  b'"]}}')]
    c = Json(d)
    c.ask("list")
    before, t = peak(), time.monotonic()
    with Prober(d) as others:
        for _ in range(5):
            for line in lines:
                c.send(line)
                c.get()
        others.check("hostile lines: nobody else waits")
    took = time.monotonic() - t
    room = 64 if SANITIZED else 6
    ok(peak() - before < room * KIB, f"hostile lines take netproc less than "
       f"{room} MiB", f"{peak() - before} KiB")
    ok(took < (20 if SANITIZED else 5), "and little time", took)
    eq(c.ask("list")["result"], [], "and the connection goes on")


def refused_connections(mode):
    """Who is refused as a whole may be a client of either kind."""
    with Daemon(mode, "max-connections 1\n") as d:
        held = d.client()
        held.cmd("LIST")
        late = d.client()
        r = late.json()
        eq((r["error_code"], r["success"], r["error"]["code"], r["id"]),
           ("max_connections_reached", False, "max_connections_reached",
            None), "too many connections: told in both forms")
        held.close()


LIBC = ctypes.CDLL(None, use_errno=True)
NEWNET = 0x40000000


def from_elsewhere(pid, address):
    """A connection made in the network namespace of another process."""
    made = []

    def run():
        # a thread's namespace is its own, and a socket keeps it
        with open(f"/proc/{pid}/ns/net") as f:
            if LIBC.setns(f.fileno(), NEWNET) != 0:
                raise OSError(ctypes.get_errno(), "setns")
        made.append(socket.create_connection(address, timeout=20))
    t = threading.Thread(target=run)
    t.start()
    t.join()
    return made[0]


def strangers(mode):
    """Who comes from elsewhere may AUTH, and nothing else.

    The last test: this process stays in a network of its own."""
    if LIBC.unshare(NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    other = subprocess.Popen(["unshare", "-n", "sh", "-c",
                              "echo ready; exec sleep 600"],
                             stdout=subprocess.PIPE)
    try:
        other.stdout.readline()
        there = ["nsenter", "-t", str(other.pid), "-n"]
        for argv in (["ip", "link", "set", "lo", "up"],
                     ["ip", "link", "add", "va", "type", "veth", "peer",
                      "name", "vb", "netns", str(other.pid)],
                     ["ip", "address", "add", "198.51.100.1/24", "dev", "va"],
                     ["ip", "link", "set", "va", "up"],
                     there + ["ip", "address", "add", "198.51.100.2/24",
                              "dev", "vb"],
                     there + ["ip", "link", "set", "vb", "up"]):
            subprocess.run(argv, check=True)
        with Daemon(mode, "listen on 198.51.100.1 plain\n") as d:
            strangers_of(d, other.pid)
    finally:
        other.kill()
        other.wait()


def strangers_of(d, pid):
    def told(line):
        c = Json(d)
        c.s.close()
        c.s = from_elsewhere(pid, ("198.51.100.1", d.port))
        c.send(line + '\n{"id":2,"command":"version"}\n')
        got = [json.loads(x) for x in to_eof(c)]
        return [(x["id"], x["success"], x["error"]["code"]) for x in got]

    for line in ('{"id":1,"command":"list"}', '{"id":1,"command":"nope"}',
                 '{"id":1,"command":"upload","args":{"size":"x"}}',
                 '{"id":1,"command":"status","args":{"nonsense":1}}'):
        eq(told(line), [(1, False, "auth_required")],
           f"a stranger's {line}: auth_required, then closed")
    eq(told('{"id":1,}'), [(None, False, "auth_required")],
       "a stranger's line that is not JSON: likewise")
    wrong = '{"id":"a","command":"auth","args":{"token":%s}}'
    eq((told(wrong % '"dlt_x"'), told(wrong % 5)),
       ([("a", False, "auth_failed")], [("a", False, "invalid_argument")]),
       "a stranger's wrong tokens: told so, then closed")
    made = Json(d).result("token", action="create", read_only=True,
                          expires=60, label="json")
    c = Json(d)
    c.s.close()
    c.s = from_elsewhere(pid, ("198.51.100.1", d.port))
    r = c.result("auth", token=made["token"])
    eq((r["ok"], r["read_only"], r["user"]), (True, True, made["user"]),
       "a stranger's token: they are its user")
    eq((c.result("whoami")["token"], c.ask("upload", b"x", size=1)["error"]
        ["code"], c.result("list")), (made["id"], "read_only", []),
       "and may do what the token allows")
    ok(made["token"] not in d.log(), "the token is not in the log")


run_tests(
    in_modes(every_command, every_argument, arguments_intact,
             variables_intact, what_no_text_may_hold, invalid_json, ids,
             odd_requests, both_forms_in_order, byte_by_byte, pipelining,
             half_close, slow_reader, long_lines,
             refused_payloads_are_no_requests, hostile_lines_cost_little),
    alone(sysroot_of_a_small_tree,
          modes=MODES if AS_ROOT else ()), alone(refused_connections),
    alone(strangers, modes=("system",) if AS_ROOT else ()))
