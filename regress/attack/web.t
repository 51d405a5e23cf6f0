#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The web is attacked: by pages of other origins, by names that lead here, by
# secrets in wrong places and such as have ended, and by who was given a key
# to one terminal.
import os
import re
import sys

sys.path[:0] = [os.path.join(os.path.dirname(__file__), x)
                for x in ("lib", "../e2e/lib")]
from term import HISTORY, LIVE, PEOPLE, Refused, WebSocket
from webraw import API, User, Wire, fetch, text
from dl import (ALICE, AS_ROOT, BOB, Daemon, connect, eq, helper, in_modes,
                memory_of, ok, passwd_wrapper, read_proc, run_tests,
                token_made, token_of, wait_for)

NOWHERE = "00000000-0000-4000-8000-000000000000"
EVIL = "evil.example"
# method, path below /api/v1/ ("{s}" is a session), what is sent; all that
# are there, which is compared with what the daemon says of itself
ROUTES = [
    ("GET", "whoami", None), ("GET", "version", None), ("GET", "deps", None),
    ("GET", "activity", None), ("GET", "quota", None), ("GET", "audit", None),
    ("GET", "usage", None), ("GET", "sessions/{s}/mark", None),
    ("GET", "sysroot", None), ("GET", "tokens", None), ("POST", "tokens", {}),
    ("DELETE", "tokens/00000000", None), ("GET", "sessions", None),
    ("POST", "sessions", b"\x7fELF"), ("GET", "sessions/{s}", None),
    ("DELETE", "sessions/{s}", None), ("POST", "sessions/{s}/start", {}),
    ("POST", "sessions/{s}/stop", None), ("POST", "sessions/{s}/kill", None),
    ("POST", "sessions/{s}/signal", {"signal": "TERM"}),
    ("GET", "sessions/{s}/wait?seconds=0", None),
    ("POST", "sessions/{s}/debug", None),
    ("POST", "sessions/{s}/debugger", {"request": {"command": "status"}}),
    ("POST", "debugger", {"start": True, "request": {"command": "start"}}),
    ("GET", "debugger", None),
    ("POST", "sessions/{s}/tracer", {"request": {"command": "status"}}),
    ("POST", "tracer", {"start": True, "request": {"command": "launch"}}),
    ("GET", "tracer", None),
    ("POST", "sessions/{s}/resize", {"cols": 80, "rows": 24}),
    ("POST", "sessions/{s}/keys", {}), ("POST", "sessions/{s}/ticket", {}),
    ("POST", "sessions/{s}/stdin", b"x"),
    ("PUT", "sessions/{s}/args", {"argv": []}),
    ("PUT", "sessions/{s}/name", {"name": "x"}),
    ("PUT", "sessions/{s}/limits", {"cpu": 5}),
    ("GET", "sessions/{s}/env", None),
    ("PUT", "sessions/{s}/env/A", {"value": "b"}),
    ("DELETE", "sessions/{s}/env/A", None),
    ("POST", "sessions/{s}/share", {"user": "nobody"}),
    ("PUT", "sessions/{s}/shares/nobody", {"access": "ro"}),
    ("DELETE", "sessions/{s}/shares/nobody", None),
    ("GET", "sessions/{s}/output", None), ("GET", "sessions/{s}/cast", None),
    ("GET", "sessions/{s}/stream", None), ("POST", "logout", None),
    ("GET", "events", None), ("GET", "pty/sessions", None),
    ("POST", "pty/sessions", {"cmd": ["/bin/true"]}),
    ("DELETE", "pty/sessions/{s}", None),
    ("POST", "pty/sessions/{s}/keys", {}),
    ("POST", "pty/sessions/{s}/ticket", {}),
    ("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}),
]
# these are attacked by themselves, or are for everybody
OTHERS = {("POST", "login"), ("GET", "pty/sessions/{s}/attach"),
          ("GET", "openapi.json"), ("GET", "/healthz"), ("GET", "/metrics")}
CHANGES = [r for r in ROUTES if r[0] != "GET"]
# these are asked by all who may see; they refuse by themselves what changes
ASKED = {"sessions/{s}/debugger": "no_session",
         "sessions/{s}/tracer": "no_tracer"}


def of(path, sid):
    path = path.format(s=sid)
    return path if path.startswith("/") else API + path


def bearer(secret):
    return "Authorization: Bearer " + secret


def cookie(secret):
    return "Cookie: lantern=" + secret


def all_routes(d):
    """A route that nobody attacks is a failure."""
    told = fetch(d, "GET", API + "openapi.json").json["paths"]
    there = {(m.upper(), re.sub(r"^/api/v1/", "", p).replace(
        "{session}", "{s}")) for p, ms in told.items() for m in ms}
    for name, value in (("{id}", "00000000"), ("{key}", "A"),
                        ("{user}", "nobody")):
        there = {(m, p.replace(name, value)) for m, p in there}
    eq(there, {(r[0], r[1].partition("?")[0]) for r in ROUTES} | OTHERS,
       "every route is attacked")
    for path in ("/metrics", API + "events", API + "pty/sessions"):
        eq(fetch(d, "GET", path).status, 401, f"{path} is not for everybody")


# --- secrets in wrong places ---------------------------------------------

def wrong_places(d):
    """Only two headers say who somebody is."""
    t = token_of(d)
    u = User(d)
    for what, status, args in (
            ("no secret at all", 401, ()),
            ("a token in the query", 401, ("?token=" + t,)),
            ("a cookie in the query", 401, ("?lantern=" + u.cookie,)),
            ("a cookie by another name", 401, ("", "Cookie: x=" + u.cookie)),
            ("a cookie in a header of that name", 401,
             ("", "lantern: " + u.cookie)),
            ("two cookies, the other's first", 401,
             ("", f"Cookie: lantern={'x' * 47}; lantern={u.cookie}")),
            ("a token as a password", 401,
             ("", "Authorization: Basic " + t)),
            ("a token in X-Auth-Token", 401, ("", "X-Auth-Token: " + t)),
            ("the CSRF token for a cookie", 401, ("", cookie(u.csrf))),
            ("a token for a cookie", 401, ("", cookie(t))),
            ("a cookie for a token", 401, ("", bearer(u.cookie))),
            ("two tokens", 400, ("", bearer(t), bearer(t))),
            ("a token and a comma", 401, ("", bearer(t + ", " + t))),
            ("half a token", 401, ("", bearer(t[:30]))),
            ("the right one", 200, ("", bearer(t))),
            ("the right cookie", 200, ("", cookie(u.cookie)))):
        query, *headers = args or ("",)
        a = fetch(d, "GET", API + "sessions" + query, *headers)
        ok(a.status == status, f"{what}: {status}", a)


def used_up(d):
    """What is good once is good once, also at the same moment."""
    c = d.client()
    key = c.cmd("LOGIN link")["key"]
    wires = [Wire(d) for _ in range(6)]
    body = b'{"key":"%s"}' % key.encode()
    for w in wires:
        w.send(b"POST /api/v1/login HTTP/1.1\r\nHost: 127.0.0.1\r\n"
               b"Content-Type: application/json\r\nConnection: close\r\n"
               b"Content-Length: %d\r\n\r\n" % len(body) + body[:-5])
    for w in wires:
        w.send(body[-5:])
    said = [w.all()[9:12] for w in wires]
    eq(sorted(said), [b"200"] + [b"401"] * 5,
       "of six that show one key at once one gets in")


def ends_with_its_token(d):
    t = token_made(d)
    u = User(d, key=t["token"])
    eq(u.ask("GET", "sessions").status, 200, "a cookie of a token is good")
    sid = u.upload("printer")
    w = Wire(d)
    w.send(b"GET /api/v1/sessions/%s/stream HTTP/1.1\r\nHost: 127.0.0.1\r\n"
           b"Cookie: lantern=%s\r\n\r\n" % (sid.encode(),
                                           u.cookie.encode()))
    ok(b" 200 " in w.until(b"\r\n\r\n"), "a stream is followed by it")
    c = d.client()
    c.cmd("TOKEN revoke " + t["id"])
    w.all()
    ok(True, "which ends with the token")
    a = u.ask("GET", "sessions")
    eq((a.status, a.code), (401, "auth_failed"), "and so does the cookie")
    eq(fetch(d, "GET", API + "sessions", bearer(t["token"])).status, 401,
       "the token itself, too")
    t = token_made(d, "expires=2")
    u = User(d, key=t["token"])
    ok(wait_for(lambda: u.ask("GET", "sessions").status == 401, 20),
       "a cookie does not outlive its token")


# --- other pages, other names --------------------------------------------

def origins(d):
    port = d.web
    return ["http://" + EVIL, "https://" + EVIL, "null", "",
            "http://127.0.0.1", f"http://127.0.0.1:{port + 1}",
            f"http://127.0.0.1:{port}.{EVIL}", f"http://localhost:{port}",
            f"http://{EVIL}#127.0.0.1:{port}", f"file://127.0.0.1:{port}",
            f"http://127.0.0.1:{port}/", f"http://127.0.0.1:{port},",
            f"http://user@127.0.0.1:{port}", f"http://127.0.0.1:0{port}",
            f"HTTP://127.0.0.1:{port} http://{EVIL}"]


def other_origins(d):
    """With cookie and CSRF token: the origin alone has to tell."""
    u = User(d)
    sid = u.upload("hello")
    for origin in origins(d):
        for method, path, body in CHANGES:
            a = u.ask(method, path.format(s=sid), body, Origin=origin)
            ok(a.status == 403 and a.code == "not_permitted",
               f"{method} {path} from {origin!r}", a)
        # changes nothing, but keeps the host busy
        eq(u.ask("GET", "sysroot", Origin=origin).status, 403,
           f"GET sysroot from {origin!r}")
    w = Wire(d)
    w.send(f"POST {API}sessions/{sid}/start HTTP/1.1\r\nHost: 127.0.0.1\r\n"
           f"{cookie(u.cookie)}\r\nX-CSRF-Token: {u.csrf}\r\nX-CSRF-Token: x"
           "\r\nContent-Length: 0\r\n\r\n".encode())
    ok(w.until(b"\r\n")[9:12] == b"400", "of two CSRF tokens none is right")
    eq(u.ask("GET", "sessions/" + sid).data["state"], "LOADED",
       "nothing has changed, and the login is good")
    a = u.ask("PUT", f"sessions/{sid}/name", {"name": "mine"},
              Origin=f"http://127.0.0.1:{d.web}")
    eq(a.status, 200, "our own page may")


def forms_of_other_pages(d):
    """What a page can send without asking: no header but simple ones."""
    u = User(d)
    sid = u.upload("hello")
    for method, path, body in CHANGES:
        data = b"x=1" if body is None or isinstance(body, dict) else body
        for kind in ("application/x-www-form-urlencoded", "text/plain",
                     "multipart/form-data; boundary=x"):
            a = fetch(d, method, of(path, sid), cookie(u.cookie), body=data,
                      Content_Type=kind)
            ok(a.status in (400, 403, 415), f"{method} {path} as {kind}", a)
    for method, path, body in CHANGES:
        a = fetch(d, method, of(path, sid), cookie(u.cookie), body=body,
                  X_CSRF_Token=u.csrf[::-1])
        ok(a.status == 403, f"{method} {path} with a guessed CSRF token", a)
    eq(u.ask("GET", "sessions/" + sid).data["name"], None,
       "nothing has changed")
    for origin in ("http://" + EVIL, "null"):
        a = fetch(d, "OPTIONS", API + "sessions", Origin=origin,
                  Access_Control_Request_Method="POST",
                  Access_Control_Request_Headers="x-csrf-token")
        ok(a.status >= 400 and not any(
            k.lower().startswith("access-control") for k, v in a.headers),
           f"a preflight from {origin} is not answered", a)


def login_from_other_pages(d):
    """Nobody is logged in as somebody else without their knowing."""
    t = token_of(d)
    for origin in origins(d):
        a = fetch(d, "POST", API + "login", body={"token": t}, Origin=origin)
        ok(a.status == 403 and a.header("Set-Cookie") is None,
           f"login from {origin!r}", a)
    a = fetch(d, "POST", API + "login", body=b'{"token":"%s"}' % t.encode(),
              Content_Type="text/plain")
    eq((a.status, a.header("Set-Cookie")), (415, None), "login by a form")


def rebinding(d):
    """A name of the attacker's leads to our address."""
    u = User(d)
    sid = u.upload("hello")
    for name in (EVIL, f"{EVIL}:{d.web}", f"127.0.0.1.{EVIL}:{d.web}",
                 f"localhost.{EVIL}", f"{EVIL}#127.0.0.1",
                 f"127.0.0.1:{d.web}@{EVIL}", "", "localhost:99999"):
        for method, path, body in ROUTES + [("POST", "login", {})]:
            a = u.ask(method, path.format(s=sid), body, host=name)
            ok(a.status == 421, f"{method} {path} for Host {name!r}", a)
        for path in ("/", "/healthz", "/metrics", "/login"):
            eq(fetch(d, "GET", path, host=name).status, 421,
               f"{path} for Host {name!r}")
    a = fetch(d, "GET", f"http://{EVIL}/api/v1/sessions", cookie(u.cookie))
    ok(a.status in (400, 404, 421) and sid.encode() not in a.raw,
       "another name in the request line", a)
    w = Wire(d)
    w.send(b"GET /healthz HTTP/1.0\r\n\r\n")
    ok(w.all()[9:12] in (b"400", b"421"), "no name at all")
    w = Wire(d)
    w.send(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: x\r\n\r\n")
    ok(w.until(b"\r\n")[9:12] == b"400", "two names")


def tool(w, name, **arguments):
    """What a tool says to somebody."""
    a = w.ask("POST", "/mcp", {
        "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": {"name": name, "arguments": arguments}},
        MCP_Protocol_Version="2025-11-25")
    return a.json.get("result", {}).get("content", [{}])[0].get("text", a)


def agents(d):
    """By a token or a cookie; no page can be one for others."""
    u = User(d)
    good = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    t = token_of(d)
    eq(fetch(d, "POST", "/mcp", bearer(t), body=good).status, 200, "a token")
    eq(u.ask("POST", "/mcp", good).status, 200, "a cookie")
    eq(fetch(d, "POST", "/mcp", cookie(u.cookie), body=good).status, 403,
       "a cookie alone is not enough")
    for origin in origins(d):
        a = fetch(d, "POST", "/mcp", bearer(t), body=good, Origin=origin)
        eq(a.status, 403, f"a token of a page from {origin!r}")
    for what, status, headers in (
            ("two versions", 400, ("MCP-Protocol-Version: 2025-06-18",
                                   "MCP-Protocol-Version: 2025-11-25")),
            ("two names", 400, ("Mcp-Name: a", "Mcp-Name: b")),
            ("a version of 8 KiB", 400,
             ("MCP-Protocol-Version: " + "2" * 8192,)),
            ("a session that nobody gave", 200, ("Mcp-Session-Id: x",)),
            ("a stream that there was not", 200, ("Last-Event-ID: 5",))):
        a = fetch(d, "POST", "/mcp", bearer(t), *headers, body=good)
        eq(a.status, status, what)
    for what, body in (
            ("no end", b'{"jsonrpc":"2.0","id":1'), ("nothing", b" "),
            ("deep", b"[" * 30000), ("an object too many", b"{}{}"),
            ("half a character", b'{"id":"\xc3"}'),
            ("half a pair", b'{"id":"\\ud800"}')):
        a = fetch(d, "POST", "/mcp", bearer(t), body=body,
                  Content_Type="application/json")
        eq((a.status, a.json["error"]["code"]), (400, -32700), what)
    a = fetch(d, "POST", "/mcp", bearer(t), body=[good] * 65)
    eq((a.status, a.json["error"]["code"]), (400, -32600), "a long batch")
    ro = bearer(token_of(d, "read-only"))
    for name, arguments in (
            ("debug_launch", {"command": "/bin/true", "projectRoot": "/"}),
            ("debug_trace", {"add": ["a"]})):
        a = fetch(d, "POST", "/mcp", ro, body={
            "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
                "name": name, "arguments": arguments}})
        ok(b"READ_ONLY" in a.raw, f"{name} by a token that may only see", a)
    eq(d.client().cmd("LIST"), [], "and nothing was started")


def agents_of_others():
    """What is another's is not there; what waits for a launch is one's own."""
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon("system", "", wrapper=wrapper, web=True) as d:
        a, b = User(d, ALICE), User(d, BOB)
        sid = a.upload("hello")
        ok("later" in str(tool(a, "debug_trace", add=["later"])), "one waits")
        ok("later" not in str(tool(b, "debug_trace")), "for its own alone")
        for name, more in (("debug_trace", {}), ("debug_trace",
                                                 {"add": ["x"]}),
                           ("debug_query", {}), ("debug_stop", {})):
            mine = tool(b, name, sessionId=sid, **more)
            none = tool(b, name, sessionId=NOWHERE, **more)
            eq(str(mine).replace(sid, NOWHERE), str(none),
               f"{name} of others: as if there were none")


# --- who tries too often -------------------------------------------------

def tries(d, uid, n, secret):
    return [fetch(d, "GET", API + "sessions", bearer(secret), uid=uid).status
            for _ in range(n)]


def too_many_tries():
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon("system", "", wrapper=wrapper, web=True) as d:
        u = User(d, ALICE)
        c = d.client(ALICE)
        good = c.cmd("TOKEN create")["token"]
        said = tries(d, BOB, 30, "dlt_" + "A" * 43)
        eq((set(said[:10]), 429 in said), ({401}, True),
           "ten wrong tokens are free, then one waits")
        a = fetch(d, "POST", API + "login", body={"token": good}, uid=BOB)
        eq((a.status, a.code), (429, "too_many_tries"),
           "also with a right one, and at the login")
        ok(a.header("Retry-After") or "try again in" in str(a.json),
           "they are told how long", a)
        eq(fetch(d, "GET", API + "sessions", bearer(good),
                 uid=ALICE).status, 200, "others of this host do not wait")
        eq(u.ask("GET", "sessions").status, 200, "nor who has logged in")
        for _ in range(30):
            fetch(d, "GET", API + "sessions", cookie("dlc_" + "A" * 43),
                  uid=ALICE)
        eq(fetch(d, "GET", API + "sessions", bearer(good),
                 uid=ALICE).status, 200,
           "cookies that have ended are no wrong tries")
        a = u.ask("GET", "sessions", uid=BOB)
        eq((a.status, a.code), (401, "auth_failed"),
           "a cookie is of no use to another user of this host")


def others_sessions():
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon("system", "", wrapper=wrapper, web=True) as d:
        a, b = User(d, ALICE), User(d, BOB)
        sid = a.upload("hello")
        for method, path, body in ROUTES:
            if "{s}" not in path:
                continue
            r = b.ask(method, path.format(s=sid), body)
            n = b.ask(method, path.format(s=NOWHERE), body)
            eq((r.status, r.body), (404, n.body),
               f"{method} {path} of others: as if there were none")
        eq(b.ask("GET", "sessions").data, [], "nor are they listed")
        ro = User(d, ALICE, how="token read-only")
        for method, path, body in CHANGES:
            if path == "logout":
                continue
            r = ro.ask(method, path.format(s=sid), body)
            if path.endswith("/ticket"):
                ok(r.status in (200, 201), "who may see gets a ticket to see",
                   r)
            elif path == "/mcp":
                eq(r.status, 200, "who may see may ask what tools there are")
            elif path in ASKED:
                eq((r.status, r.code), (404, ASKED[path]),
                   f"{path}: who may see is told that there is none")
            else:
                ok(r.status == 403 and r.code in (
                    "read_only", "not_permitted"),
                   f"{method} {path} by a read-only token", r)
        eq(a.ask("GET", "sessions/" + sid).data["name"], None,
           "nothing has changed")


CAROL, DAVE = BOB + 1, BOB + 2
OWNERS = ("/keys", "/share", "/shares/nobody")


def by_share(access, method, path, owners):
    """What is to come of a route for who is not the owner: the status that
    the owner gets, or the code of a refusal."""
    if access == "ro" and method != "GET" and path not in ASKED and \
            not path.endswith("/ticket"):
        return "read_only"
    if access == "rw" and method != "GET" and path.endswith(OWNERS):
        return "not_permitted"
    return owners


def shared_sessions():
    """Every route for who is given a session, and for administrators."""
    with passwd_wrapper(ALICE, BOB, CAROL, DAVE) as wrapper, \
            Daemon("system", f"admin user u{DAVE}\n", wrapper=wrapper,
                   web=True) as d:
        a, c = User(d, ALICE), d.client(ALICE)

        def outcome(who, method, path, body):
            # each on a session that nobody has changed, at its end
            sid, _ = c.run(helper("hello"))
            for uid, access in ((BOB, "ro"), (CAROL, "rw")):
                c.cmd(f"SHARE {sid} u{uid}:{access}")
            r = who.ask(method, path.format(s=sid), body)
            c.cmd("KILL " + sid)
            c.cmd("DELETE " + sid)
            return r
        people = [(User(d, BOB), "ro"), (User(d, CAROL), "rw"),
                  (User(d, DAVE), "administrator")]
        for method, path, body in ROUTES:
            if "{s}" not in path:
                continue
            owners = outcome(a, method, path, body).status
            for who, access in people:
                r = outcome(who, method, path, body)
                want = by_share(access, method, path, owners)
                eq(r.code if r.status == 403 else r.status, want,
                   f"{method} {path} for {access}: {want}")


# --- who was given a key to one terminal ---------------------------------

def guests(d):
    u = User(d)
    sid, other = u.upload("hello"), u.upload("hello")
    keys = u.ask("POST", f"sessions/{sid}/keys", {}).data
    ticket = u.ask("POST", f"sessions/{sid}/ticket", {}).data
    for name, key in (("read-write", keys["token"]),
                      ("read-only", keys["read_only_token"])):
        for s in (sid, other):
            for method, path, body in ROUTES:
                a = fetch(d, method, of(path, s), bearer(key), body=body)
                ok(a.status in (401, 403, 404, 409) and a.data is None,
                   f"{name}: {method} {path}", a)
        a = fetch(d, "POST", API + "login", body={"token": key})
        ok(a.status in (401, 403) and a.header("Set-Cookie") is None,
           f"{name}: a guest does not log in", a)
        a = fetch(d, "GET", API + "sessions", cookie(key))
        ok(a.status in (401, 403), f"{name}: as a cookie", a)
    a = fetch(d, "GET", API + "whoami", bearer(ticket["ticket"]))
    ok(a.status in (401, 403), "nor by a ticket", a)
    eq({x["id"]: x["state"] for x in u.ask("GET", "sessions").data},
       {sid: "LOADED", other: "LOADED"}, "nothing has changed")


# --- terminals -----------------------------------------------------------

def shell(c):
    sid = c.cmd("NEW tty cwd=/ -- /bin/sh -c "
                "'stty -echo; echo ready; PS1= exec sh'")["id"]
    c.cmd("START " + sid)
    c.until(sid, b"ready\r\n")
    return sid


def path_of(sid, query=""):
    return f"{API}pty/sessions/{sid}/attach{query}"


def dial(d, sid, query="", uid=None, **kw):
    """A WebSocket, or the status that refused it."""
    s = connect("127.0.0.1", d.web, uid or d.uid, 20)
    try:
        return WebSocket(d.web, path_of(sid, query), sock=s, **kw)
    except Refused as e:
        return e.status


def knock(d, sid, query="", headers=(), protocols=(), host=None):
    """The status that a handshake is answered with."""
    lines = [("Host", host or f"127.0.0.1:{d.web}"),
             ("Connection", "Upgrade"), ("Upgrade", "websocket"),
             ("Sec-WebSocket-Version", "13"),
             ("Sec-WebSocket-Key", "AAAAAAAAAAAAAAAAAAAAAA=="), *headers]
    lines += [("Sec-WebSocket-Protocol", p) for p in protocols]
    w = Wire(d)
    w.send(text("GET", path_of(sid, query), lines, b""))
    said = w.until(b"\r\n")
    w.close()
    return int(said[9:12] or b"0")


def works(t, name):
    if not ok(isinstance(t, WebSocket), name, t):
        return
    t.until_event(LIVE)
    t.type("echo $((40+2))\n")
    t.until(b"42\r\n")
    t.close()


def sockets_of_other_pages(d):
    u, c = User(d), d.client()
    sid = shell(c)
    keys = c.cmd("KEYS " + sid)
    mine = [("Cookie", "lantern=" + u.cookie)]
    ours = f"http://127.0.0.1:{d.web}"
    for origin in origins(d):
        h = [("Origin", origin)]
        eq(knock(d, sid, headers=mine + h), 403, f"a cookie from {origin!r}")
        for where, kw in (
                ("the query", {"query": "?token=" + keys["token"]}),
                ("a subprotocol", {"protocols": [
                    "lantern.token." + keys["token"]]}),
                ("nothing at all", {})):
            eq(knock(d, sid, headers=h, **kw), 403,
               f"{where} from {origin!r}")
    ok(knock(d, sid, headers=mine) in (401, 403),
       "a cookie from no page at all")
    for host in (EVIL, f"127.0.0.1.{EVIL}:{d.web}"):
        eq(knock(d, sid, headers=mine + [("Origin", "http://" + host)],
                 host=host), 421, f"by the name {host}")
    works(dial(d, sid, headers=mine + [("Origin", ours)]),
          "our own page with a cookie")
    works(dial(d, sid, "?token=" + keys["token"]), "a token and no page")


def keys_of_terminals(d):
    c = d.client()
    sid, other = shell(c), shell(c)
    k = c.cmd("KEYS " + sid)
    tok, ro = k["token"], k["read_only_token"]
    for query, kw, what in (
            ("?token=" + tok, {}, "in the query"),
            ("", {"protocols": ["lantern.token." + tok]}, "as a protocol"),
            ("?token=" + tok, {"binary": False}, "as JSON"),
            ("?token=" + c.cmd("TICKET " + sid)["ticket"], {}, "a ticket")):
        t = dial(d, sid, query, **kw)
        ok(isinstance(t, WebSocket) and tok not in t.head and
           ("lantern.token" not in t.head), f"{what}: not said back")
        works(t, f"{what}: good")
    t = dial(d, sid, "?role=rw&token=" + ro)
    t.until_event(LIVE)
    eq([p["role"] for p in t.until_event(PEOPLE) if p["you"]], ["ro"],
       "role=rw makes no more of a read-only key")
    t.type("echo $((50+5))\n")
    works(dial(d, sid, "?token=" + tok), "the other")
    t.until(b"42\r\n")
    ok(b"55" not in t.out, "nor does typing")
    ticket = c.cmd("TICKET " + sid)["ticket"]
    a = dial(d, sid, "?token=" + ticket)
    ok(isinstance(a, WebSocket), "a ticket")
    eq(knock(d, sid, "?token=" + ticket), 401, "once")
    ok(knock(d, other, "?token=" + tok) in (401, 404),
       "not for another terminal")
    ok(knock(d, NOWHERE, "?token=" + tok) in (401, 404), "nor for none")
    for wrong in (tok[:-1], tok + "x", "dls_" + "A" * 43, "x" * 5000):
        ok(knock(d, sid, "?token=" + wrong) in (401, 414),
           f"a wrong one of {len(wrong)}")
    b = dial(d, sid, "?token=" + ro)
    c.cmd(f"KEYS {sid} rotate")
    ok(b.until_gone() and t.until_gone(), "rotation ends them at once")
    a.type("echo $((60+6))\n")
    a.until(b"66\r\n")
    ok(True, "not who came by a ticket")
    c.cmd("KILL " + sid)
    c.cmd("DELETE " + sid)
    ok(a.until_gone(), "who goes with the session")


def first_messages(d):
    """Nothing is heard before it is known from whom."""
    c = d.client()
    sid, other = shell(c), shell(c)
    k = c.cmd("KEYS " + sid)
    for binary in (True, False):
        t = dial(d, sid, binary=binary)
        t.type("echo $((50+5))\n")
        ok(t.until_gone() and not t.out and not t.of(HISTORY),
           "what comes first must be a token", t.events)
        t = dial(d, sid, binary=binary)
        t.token("dls_" + "B" * 43)
        t.type("echo $((50+5))\n")
        ok(t.until_gone() and not t.out, "a wrong one ends it", t.events)
        t = dial(d, other, binary=binary)
        t.token(k["token"])
        t.type("echo $((50+5))\n")
        ok(t.until_gone() and not t.out, "so does another session's",
           t.events)
        t = dial(d, sid, binary=binary)
        t.token(k["read_only_token"])
        t.type("echo $((50+5))\n")
        t.until_event(LIVE)
        t.close()
        t = dial(d, sid, binary=binary)
        t.token(k["token"])
        t.type("echo $((40+2))\n")
        t.until(b"42\r\n")
        ok(b"55" not in t.out, "the right one is good, and first")
        t.close()
        c.cmd(f"KEYS {sid} rotate")
        k = c.cmd(f"KEYS {sid} rotate")
    ok(b"55" not in c.output(sid) + c.output(other), "nothing was typed")


def sockets_end_with_logins(d):
    c = d.client()
    sid = shell(c)
    t = token_made(d)
    by_token, u = User(d, key=t["token"]), User(d)
    ours = ("Origin", f"http://127.0.0.1:{d.web}")

    def by(who):
        return dial(d, sid, headers=[("Cookie", "lantern=" + who.cookie),
                                     ours])

    def ticket_of(who):
        a = who.ask("POST", f"sessions/{sid}/ticket", {})
        return dial(d, sid, "?token=" + a.data["ticket"])

    a, b, x, y = by(by_token), ticket_of(by_token), by(u), ticket_of(u)
    for s in (a, b, x, y):
        s.until_event(LIVE)
    c.cmd("TOKEN revoke " + t["id"])
    ok(a.until_gone() and b.until_gone(),
       "a revoked token ends terminals by its cookie and tickets")
    works(by(u), "others go on")
    u.ask("POST", "logout")
    ok(x.until_gone() and y.until_gone(), "so does a logout")


# --- where secrets must not be -------------------------------------------

def memory(pid, secrets):
    """Where in a process's memory one of these still is."""
    return [(s[:3], at, line) for _, line, data in memory_of(pid)
            for s in secrets for at in (4, 24) if s[at:at + 14] in data]


def nowhere(d):
    c = d.client()
    t = c.cmd("TOKEN create")["token"]
    u = User(d)
    eq(fetch(d, "GET", API + "whoami", bearer(t)).status, 200, "a token")
    by_token = User(d, key=t)
    eq(by_token.ask("GET", "whoami").status, 200, "a cookie")
    sid = u.upload("hello")
    k = u.ask("POST", f"sessions/{sid}/keys", {}).data
    ticket = u.ask("POST", f"sessions/{sid}/ticket", {}).data["ticket"]
    for s in (k["token"], k["read_only_token"], ticket):
        fetch(d, "GET", API + "whoami", bearer(s))
    fetch(d, "GET", API + "sessions?token=" + k["token"])
    tty = shell(c)
    t1, t2 = c.cmd("KEYS " + tty), c.cmd("TICKET " + tty)["ticket"]
    works(dial(d, tty, "?token=" + t1["token"]), "a key in the query")
    works(dial(d, tty, protocols=["lantern.token." + t2]),
          "a ticket as a protocol")
    for binary in (True, False):
        w = dial(d, tty, binary=binary)
        w.token(t1["read_only_token"])
        w.until_event(LIVE)
        w.close()
    by_token.ask("POST", "logout")
    secrets = [x.encode() for x in (
        t, u.key, u.cookie, by_token.cookie, *k.values(), ticket,
        *t1.values(), t2)]
    eq(len(set(secrets)), 10, "ten secrets have been used")
    wait_for(lambda: "logout" in d.log())
    said = d.log().encode() + str(c.cmd("ACTIVITY")).encode()
    eq([s for s in secrets if s[4:] in said], [], "none is in the log")
    audit = u.ask("GET", "audit").raw + u.ask("GET", "activity").raw
    eq([s for s in secrets if s[4:] in audit], [], "nor in what is shown")
    with open(d.dir + "/state/tokens", "rb") as f:
        stored = f.read()
    eq([s for s in secrets if s[4:] in stored], [], "nor in a file")
    eq([p for p in d.processes() for s in secrets if s[4:] in
        read_proc(p, "cmdline") + read_proc(p, "environ")], [],
       "nor in a command line or environment")
    for role in ("netproc", "spawner"):
        pid = d.role_pid(role)
        ok(re.search(r"Max core file size +0 ",
                     read_proc(pid, "limits").decode()), f"{role}: no core")
        if AS_ROOT:
            eq(memory(pid, secrets), [],
               f"{role}: nothing of them is left in its memory")


# who is attacked has to wait sometimes, so that each has its own daemon
TESTS = [in_modes(t, web=True) for t in (
    all_routes, wrong_places, used_up, ends_with_its_token, other_origins,
    forms_of_other_pages, login_from_other_pages, rebinding, guests,
    sockets_of_other_pages, keys_of_terminals, first_messages,
    sockets_end_with_logins, nowhere, agents)]
if AS_ROOT:
    TESTS += [too_many_tries, others_sessions, shared_sessions,
              agents_of_others]
run_tests(*TESTS)
