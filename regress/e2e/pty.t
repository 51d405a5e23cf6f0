#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""/api/v1/pty/sessions: terminals over HTTP."""
import http.client
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import eq, in_modes, ok, run_tests, token_of  # noqa: E402
from term import EXIT, LIVE, Attached  # noqa: E402

API = "/api/v1/pty/sessions"


class Api:
    """A client with a token, one connection per request."""

    def __init__(self, d):
        self.d = d
        self.token = token_of(d)

    def ask(self, method, path="", body=None, headers=None):
        c = http.client.HTTPConnection("127.0.0.1", self.d.web, timeout=30)
        h = {"Authorization": "Bearer " + self.token}
        if body is not None:
            h["Content-Type"] = "application/json"
            body = json.dumps(body)
        h.update(headers or {})
        c.request(method, API + path, body, h)
        r = c.getresponse()
        data = json.loads(r.read() or b"null")
        c.close()
        return r.status, data

    def post(self, **body):
        status, r = self.ask("POST", "", body)
        if status != 201:
            raise RuntimeError((status, r))
        return r["data"]


def code(r):
    return r.get("error", {}).get("code")


def created(d):
    a = Api(d)
    status, r = a.ask("POST", "", {
        "cmd": ["/bin/sh", "-c", "stty size; echo $TERM $A; pwd; cat"],
        "env": {"A": "b c"}, "cwd": "/tmp", "cols": 120, "rows": 30,
        "name": "build-shell"})
    eq((status, r["apiVersion"]), (201, "1.0"), "a terminal is made")
    s = r["data"]
    eq((s["cols"], s["rows"], s["name"], type(s["pid"])),
       (120, 30, "build-shell", int), "with its size, name and pid")
    ok(s["createdAt"].endswith("Z"), "and its time", s)
    ok(s["token"].startswith("dls_") and s["readOnlyToken"].startswith(
        "dlv_") and len(s["token"]) >= 26, "and two keys", s)
    c = d.client()
    c.until(s["id"], b"30 120\r\nxterm-256color b c\r\n/tmp\r\n")
    ok(True, "the command runs as it was asked for")
    status, r = a.ask("GET")
    mine = [x for x in r["data"] if x["id"] == s["id"]]
    eq((status, [(x["cols"], x["name"]) for x in mine]),
       (200, [(120, "build-shell")]), "it is in the list")
    ok("token" not in json.dumps(r), "without its keys")
    eq({x["id"] for x in c.cmd("LIST") if x["tty"]},
       {x["id"] for x in r["data"]}, "which is that of the daemon")
    eq(c.cmd("STATUS build-shell")["id"], s["id"], "the name is the label")
    status, r = a.ask("DELETE", "/" + s["id"])
    eq((status, r["data"]["state"]), (200, "DELETED"), "it is ended")
    status, r = a.ask("DELETE", "/" + s["id"])
    eq((status, code(r)), (404, "not_found"), "which can be done once")
    plain = c.cmd("NEW -- sleep 1000")["id"]
    c.cmd("START " + plain)
    ok(plain not in [x["id"] for x in a.ask("GET")[1]["data"]],
       "what has no terminal is not in the list")
    eq((a.ask("DELETE", "/" + plain)[0],
        c.cmd("STATUS " + plain)["state"]), (404, "RUNNING"),
       "and is not ended by mistake")
    c.cmd("KILL " + plain)


def by_its_keys(d):
    """The keys are good for the terminal, whatever way one comes."""
    a = Api(d)
    s = a.post(cmd=["/bin/sh", "-c", "stty -echo; PS1= exec sh"])
    w, g = d.client(), d.client()
    ok(w.cmd("AUTH " + s["token"])["ok"], "the key lets a guest in")
    ok(g.cmd("AUTH " + s["readOnlyToken"])["ok"], "so does the other")
    w, g = Attached(w, s["id"]), Attached(g, s["id"])
    ok(w.answer["id"] == s["id"] and not {"env", "shared"} & set(w.answer),
       "a guest is not told all", w.answer)
    for x in (w, g):
        x.until_event(LIVE)
    g.type("echo no\n")
    w.type("echo $((6*7)); exit 3\n")
    g.until(b"42\r\n")
    eq(g.until_event(EXIT), (3, 0), "one types, the other watches")
    ok(b"no" not in g.shown(), "and only that")


def at_attach(d):
    a = Api(d)
    s = a.post(cmd=["/bin/sh", "-c", "stty size; read x"], start="attach")
    eq(s["pid"], None, "it may wait for its first client")
    eq(d.client().cmd("STATUS " + s["id"])["state"], "LOADED",
       "and has not run")
    g = d.client()
    g.cmd("AUTH " + s["readOnlyToken"])
    g = Attached(g, s["id"])
    eq(g.answer["state"], "LOADED", "who watches does not start it")
    w = d.client()
    w.cmd("AUTH " + s["token"])
    w = Attached(w, s["id"], "cols=99 rows=33")
    w.until(b"33 99\r\n")
    eq(w.shown()[:7], b"33 99\r\n", "who may write does, in their size")
    g.until(b"33 99\r\n")
    ok(True, "and who waited sees it")
    w.close()
    g.close()


def keys(d):
    a = Api(d)
    s = a.post(cmd=["cat"])
    path = "/" + s["id"]
    eq(a.ask("POST", path + "/keys", {})[0], 409,
       "keys that there are already")
    status, r = a.ask("POST", path + "/keys", {"rotate": True})
    eq(status, 200, "are rotated")
    c = d.client()
    eq(c.cmd("AUTH " + s["token"]).get("error_code"), "auth_failed",
       "the old one is good no longer")
    c = d.client()
    ok(c.cmd("AUTH " + r["data"]["token"]).get("ok"), "the new one is")
    for role, writes in (("ro", False), ("rw", True)):
        status, r = a.ask("POST", path + "/ticket", {"role": role})
        c = d.client()
        c.cmd("AUTH " + r["data"]["ticket"])
        t = Attached(c, s["id"])
        t.wait(lambda: t.of(0x86))
        eq([p["role"] for p in t.of(0x86)[-1] if p["you"]], [role],
           f"a ticket for {role}")
        t.close()
        c = d.client()
        eq(c.cmd("AUTH " + r["data"]["ticket"]).get("error_code"),
           "auth_failed", "is good once")


def refusals(d):
    a = Api(d)
    for body, status, what in (
            ({"cmd": ["/nonexistent"]}, 422, "invalid command"),
            ({"cmd": "/bin/sh"}, 400, "a command that is no array"),
            ({"cmd": [1]}, 400, "a word that is no string"),
            ({"cmd": ["cat"], "cols": -1}, 400, "a size below 0"),
            ({"cmd": ["cat"], "cols": "x"}, 400, "a size that is none"),
            ({"cmd": ["cat"], "start": "soon"}, 400, "another start"),
            ({"cmd": ["cat"], "colour": 1}, 400, "a member too much"),
            ({"cmd": ["cat"], "env": {"A B": "x"}}, 400, "a bad variable"),
            ({"cmd": ["cat"], "cwd": "/nonexistent"}, 422,
             "a directory that is not there")):
        got, r = a.ask("POST", "", body)
        eq(got, status, what + f": {code(r)}")
        ok(r["apiVersion"] == "1.0" and r["error"]["message"],
           "said in the envelope", r)
    eq(a.ask("GET")[1]["data"], [], "nothing stays behind of those")
    c = http.client.HTTPConnection("127.0.0.1", d.web, timeout=30)
    c.request("POST", API, b"{}", {"Content-Type": "application/json"})
    eq(c.getresponse().status, 401, "nobody is without a token")
    c = http.client.HTTPConnection("127.0.0.1", d.web, timeout=30)
    c.request("POST", API, b'{"cmd":', {"Content-Type": "application/json",
              "Authorization": "Bearer " + a.token})
    eq(c.getresponse().status, 400, "half an object")


def too_many(d):
    a = Api(d)
    made = []
    while len(made) < 64:
        status, r = a.ask("POST", "", {"cmd": ["cat"], "start": "attach"})
        if status != 201:
            break
        made.append(r["data"]["id"])
    eq((status, len(made) >= 4), (429, True), "a quota is 429")
    for x in made:
        a.ask("DELETE", "/" + x)
    eq(a.ask("GET")[1]["data"], [], "and all can be deleted")


run_tests(in_modes(created, by_its_keys, at_attach, keys, refusals, too_many,
                   web=True))
