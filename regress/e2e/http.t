#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The HTTP interface as well-behaved clients use it: every route, who may,
# and what browsers are told.
import base64
import http.client
import json
import os
import re
import socket
import ssl
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (ALICE, AS_ROOT, BOB, Daemon, alone, eq, free_port, helper,
                in_modes, loopbacks, ok, passwd_wrapper, run_tests, tar_of,
                token_of, wait_for)
from term import Refused, WebSocket
from web import Events, Raw, Web


def login(d):
    w = Web(d)
    a = w.post("login", {"token": token_of(d)})
    cookie = re.match(r"lantern=(dlc_[^;]+)", a.headers["Set-Cookie"])[1]
    return Web(d, cookie=cookie, csrf=a.data["csrf"]), a


def without_a_token(d):
    w = Web(d)
    a = w.get("/healthz")
    eq((a.status, a.body), (200, b"ok\n"), "anybody may ask for health")
    a = w.get("sessions")
    eq((a.status, a.code, a.headers["WWW-Authenticate"]),
       (401, "auth_required", "Bearer"), "who shows nothing is told what to do")
    a = w.get("nowhere")
    eq((a.status, a.code), (404, "not_found"), "no such route")
    a = w.ask("PUT", "sessions")
    eq((a.status, a.headers["Allow"]), (405, "GET, HEAD, POST"),
       "another method: those that there are")
    eq(w.get("/healthz").status, 200, "all that on one connection")
    for t in ("x", "dlt_" + "A" * 43, "y" * 5000):
        a = Web(d, t).get("sessions")
        eq((a.status, a.code), (401, "auth_failed"),
           f"a wrong token of {len(t)} bytes")


def a_program(d):
    w = Web(d, token_of(d))
    a = w.upload("/bin/echo", "?name=greeter")
    eq((a.status, a.data["state"], a.data["name"]), (201, "LOADED",
       "greeter"), "an image is loaded, and named")
    for name, words in (("greeter", a.data["id"]), ("a%20b", "letters"),
                        ("x" * 65, "64"), ("cafe", "like an id"),
                        ("a%2fb", "letters"), ("a%0ab", "letters")):
        r = w.upload("/bin/echo", "?name=" + name)
        ok((r.status, r.code) == (400, "invalid_name") and words in
           str(r.body), f"the name {name} is refused", (r.status, r.body))
    eq(w.upload("/bin/echo", "?name=a%00b").status, 400, "so is half a one")
    eq(len(w.get("sessions").data), 1, "and nothing was loaded for it")
    s = "sessions/" + a.data["id"]
    eq(w.put(s + "/args", {"argv": ["a b", "it's", ""]}).data["args"],
       "'a b' 'it'\\''s' ''", "arguments as an array")
    eq(w.put(s + "/env/KEY", {"value": "a=b c"}).data["env"],
       {"KEY": "a=b c"}, "a variable")
    eq(w.get(s + "/env").data, {"KEY": "a=b c"}, "is there")
    eq(w.delete(s + "/env/KEY").status, 200, "is taken away")
    eq(w.get(s + "/env").data, {}, "and has gone")
    eq(w.put(s + "/limits", {"nofile": 64, "core": 0}).status, 200,
       "limits")
    eq(w.put(s + "/name", {"name": "second"}).data["name"], "second",
       "a name")
    eq(w.get("sessions/second").data["id"], a.data["id"], "that finds it")
    eq(w.post(s + "/start", {}).status, 200, "started")
    eq(w.until(a.data["id"], "STOPPED")["exit_code"], 0, "it ends")
    r = w.get(s + "/output")
    eq((r.body, r.headers["X-Offset"], r.headers["X-Total"],
        r.headers["Content-Type"]), (b"a b it's \n", "0", "10",
       "application/octet-stream"), "its output as octets")
    r = w.get(s + "/output?offset=4&tail=3")
    eq((r.body, r.headers["X-Offset"]), (b"s \n", "7"), "its end")
    eq(w.get(s + "/output?offset=99").body, b"", "nothing beyond the end")
    eq(w.get(s + "/output?format=json&offset=4").data["output"], "it's \n",
       "as in the control protocol")
    r = w.get(s + "/cast").body.decode().splitlines()
    eq((json.loads(r[0])["version"], json.loads(r[1])), (2,
       [0.0, "o", "a b it's \n"]), "as a recording")
    eq(w.get(s + "/output?tail=x").code, "invalid_argument", "not a number")
    eq([x["id"] for x in w.get("sessions").data], [a.data["id"]],
       "it is in the list")
    eq(w.delete(s).data["state"], "DELETED", "deleted")
    eq((w.get(s).status, w.get(s).code), (404, "not_found"), "gone")


def running(d):
    w = Web(d, token_of(d))
    sid = w.upload("/bin/cat").data["id"]
    s = "sessions/" + sid
    a = w.post(s + "/stop")
    eq((a.status, a.code), (409, "not_running"), "nothing to stop yet")
    eq(w.post(s + "/start", {}).data["state"], "RUNNING", "it runs")
    eq(w.post(s + "/start", {}).code, "already_running", "once")
    eq(w.delete(s).code, "session_running", "and is not deleted so")
    eq(w.post(s + "/stdin", b"some\0bytes").status, 200, "input")
    eq(w.post(s + "/stdin?eof=1", b" more").status, 200, "the last of it")
    w.until(sid, "STOPPED")
    eq(w.get(s + "/output").body, b"some\0bytes more", "has all arrived")
    w.post(s + "/start", {})
    eq(w.get(s + "/wait?seconds=0").data["state"], "RUNNING",
       "who waits for a time is told how it is then")
    eq(w.get(s + "/wait?seconds=x").status, 400, "which is a number")
    eq(w.post(s + "/stdin?eof=1").status, 200, "the end alone")
    a = w.get(s + "/wait").data
    eq((a["state"], a["exit_code"]), ("STOPPED", 0), "ends it: waited for")
    w.post(s + "/start", {})
    eq(w.post(s + "/signal", {"signal": "TERM"}).status, 200, "a signal")
    eq(w.until(sid, "STOPPED")["signal"], "SIGTERM", "that it died of")
    w.post(s + "/start", {"sandbox": "tmpfs"})
    eq(w.post(s + "/kill").data["state"], "STOPPED", "killed")
    w.post(s + "/start", {"split": True})
    eq(w.post(s + "/stop").data["state"], "STOPPED", "stopped")


def no_output(d):
    """The answer has no bytes, also where it comes right behind a login."""
    t = token_of(d)
    sid = d.client().cmd("NEW -- true")["id"]
    for when in ("before its start", "after its end"):
        for how in ("", "?format=raw&tail=5"):
            a = Web(d, t).get(f"sessions/{sid}/output{how}")
            eq((a.status, a.body, a.headers["X-Total"]), (200, b"", "0"),
               f"a session that has written nothing, {when}")
        w = Web(d, t)
        eq([w.get(f"sessions/{sid}/output").status for _ in range(3)],
           [200] * 3, "by one connection, too")
        d.client().cmd("START " + sid)
        d.client().cmd(f"WAIT {sid} 30")


def large_bodies(d):
    w = Web(d, token_of(d))
    with open("/bin/cat", "rb") as f:
        big = f.read()
    big += os.urandom(8 << 20)
    a = w.post("sessions", big)
    eq((a.status, a.data["size"]), (201, len(big)), "8 MiB are loaded")
    sid = a.data["id"]
    w.post(f"sessions/{sid}/start", {})
    text = b"".join(b"%015d\n" % i for i in range(1 << 16))
    eq(w.post(f"sessions/{sid}/stdin?eof=1", text).status, 200,
       "1 MiB of input")
    w.until(sid, "STOPPED")
    r = w.get(f"sessions/{sid}/output")
    at = int(r.headers["X-Offset"])
    ok(r.body == text[at:] and len(r.body) > 200000,
       "what the ring holds is its end", (at, len(r.body)))
    eq(w.post("sessions", b"x" * 100000).code, "invalid_elf",
       "what is no program is refused")
    eq(w.get("version").status, 200, "and the connection goes on")


def a_bundle(d):
    w = Web(d, token_of(d))
    with open("/bin/cat", "rb") as f:
        tar = tar_of(("prog", f.read(), 0o755), ("data", b"it\n", 0o644))
    a = w.post("sessions?exec=prog", tar)
    eq((a.status, a.data.get("bundle")), (201, True), "a bundle")
    s = "sessions/" + a.data["id"]
    w.put(s + "/args", {"argv": ["data"]})
    w.post(s + "/start", {})
    w.until(a.data["id"], "STOPPED")
    eq(w.get(s + "/output").body, b"it\n", "and its program")
    eq(w.post("sessions?exec=../x", tar).code, "invalid_exec_path",
       "a path that leaves it")
    eq(w.post("sessions?exec=prog", b"nothing").status, 415, "no archive")
    for ask, words in (
            ("sessions?title=x", "there is no argument title; POST "
             "/api/v1/sessions takes name, exec, file"),
            ("sessions?exec=", "exec must not be empty; leave it out")):
        a = w.post(ask, tar)
        eq((a.status, a.code, a.json["error"]["message"]),
           (400, "invalid_argument", words), ask)
    a = w.put(s + "/name", {"title": "x"})
    ok(a.json["error"]["message"].endswith(" takes name"),
       "names that are HTTP's", a)


def pieces(data, n):
    """A body that http.client sends in chunks."""
    return iter([data[i:i + n] for i in range(0, len(data), n)])


def without_a_size(d):
    """Transfer-Encoding: chunked, for what is made while it is sent."""
    w = Web(d, token_of(d))
    with open("/bin/cat", "rb") as f:
        image = f.read()
    for i, data in enumerate((image, image + os.urandom(5 << 20))):
        a = w.post(f"sessions?name=piped{i}", pieces(data, 65537))
        eq((a.status, a.data["size"], a.data["name"]), (201, len(data),
           f"piped{i}"), f"an image of {len(data)} bytes in chunks")
        s = "sessions/" + a.data["id"]
    eq(next(x["size"] for x in w.get("sessions").data
            if x["id"] == a.data["id"]), len(data), "is counted as such")
    eq(w.post(s + "/start", {}).data["state"], "RUNNING", "and runs")
    eq(w.post(s + "/stdin?eof=1", pieces(image, 9999)).status, 200,
       "its input in chunks")
    w.until(a.data["id"], "STOPPED")
    eq(w.get(s + "/output").body, image, "arrives")
    a = w.post("sessions?exec=prog", pieces(tar_of(("prog", image, 0o755)),
                                            5000))
    eq((a.status, a.data["bundle"]), (201, True), "a bundle")
    tty = w.post("pty/sessions", {"cmd": ["/bin/sh", "-c", "stty -echo; "
                                  "echo ready; read x; echo got $x"]}).data
    wait_for(lambda: b"ready" in w.get(
        f"sessions/{tty['id']}/output").body)
    eq(w.post(f"sessions/{tty['id']}/stdin", iter([b"wo", b"rd\n"])).status,
       200, "typed in chunks")
    ok(wait_for(lambda: b"got word" in w.get(
        f"sessions/{tty['id']}/output").body), "is read")
    for body, status, code, what in (
            (b"", 400, "invalid_size", "nothing"),
            (b"#!/bin/sh\n", 415, "invalid_elf", "no program")):
        a = w.post("sessions", iter([body]))
        eq((a.status, a.code), (status, code), what)
    eq(w.get("version").status, 200, "and the connection goes on")
    for s in w.get("sessions").data:
        w.post(f"sessions/{s['id']}/kill")
        w.delete("sessions/" + s["id"])
    eq(w.get("quota").data[0]["bytes"]["used"], 0, "nothing is held")


def a_form(d):
    """As browsers and curl -F send a file."""
    w = Web(d, token_of(d))
    with open("/bin/echo", "rb") as f:
        image = f.read()

    def form(data, name="file", b="----x", end="--\r\n", more=b""):
        head = f'--{b}\r\nContent-Disposition: form-data; name="{name}"; ' \
            f'filename="e"\r\nContent-Type: application/octet-stream\r\n\r\n'
        return (head.encode() + data + more + f"\r\n--{b}{end}".encode(),
                {"Content-Type": f"multipart/form-data; boundary={b}"})

    for data in (image, image + b"\r\n-----x", image + os.urandom(3 << 20),
                 image + b"\r\n------" * 9000, image + b"\r\r\n\r\n--\r"):
        body, how = form(data)
        a = w.post("sessions?name=formed", body, headers=how)
        eq((a.status, a.data["size"], a.data["name"]),
           (201, len(data), "formed"), f"a file of {len(data)} bytes")
        sid = a.data["id"]
        w.put(f"sessions/{sid}/args", {"argv": ["hi"]})
        w.post(f"sessions/{sid}/start", {})
        w.until(sid, "STOPPED")
        eq(w.get(f"sessions/{sid}/output").body, b"hi\n", "that runs")
        w.delete(f"sessions/{sid}")
    with open(helper("inside"), "rb") as f:
        body, how = form(f.read())
    named = body.replace(b'filename="e"', b'filename="a/two words"')
    for what, path, body, want in (
            ("of a form", "sessions", named, b"two words"),
            ("in the query", "sessions?file=by-query", None, b"by-query")):
        a = w.post(path, body, headers=how) if body else \
            w.post(path, open(helper("inside"), "rb").read())
        sid = a.data["id"]
        w.post(f"sessions/{sid}/start", {})
        w.until(sid, "STOPPED")
        out = w.get(f"sessions/{sid}/output").body
        ok(b"\nargv0=" + want + b"\n" in out, f"the file's name {what} is "
           "the program's", out[:200])
        w.delete(f"sessions/{sid}")

    def parts(*those):
        body = b"".join(
            f'--b\r\nContent-Disposition: form-data; name="{n}"\r\n\r\n'
            .encode() + v + b"\r\n" for n, v in those) + b"--b--"
        return body, {"Content-Type": "multipart/form-data; boundary=\"b\""}

    file, name = ("file", image), ("name", b"called")
    for what, those in (("before", (name, file)), ("behind", (file, name))):
        body, how = parts(*those)
        a = w.post("sessions", body, headers=how)
        eq((a.status, a.data["size"], a.data["name"]),
           (201, len(image), "called"), "its name stands " + what)
        w.delete("sessions/" + a.data["id"])
    tar = tar_of(("prog", image, 0o755))
    body, how = parts(("exec", b"prog"), ("file", tar))
    a = w.post("sessions", body, headers=how)
    eq((a.status, a.data.get("bundle")), (201, True), "a bundle in a form")
    w.delete("sessions/" + a.data["id"])
    a = w.post("sessions", pieces(body, 1000), headers=how)
    eq((a.status, a.data.get("bundle")), (201, True), "a form in chunks")
    w.delete("sessions/" + a.data["id"])
    for what, (body, how) in (
            ("another name", form(image, name="other")),
            ("nothing in it", form(b"")),
            ("no end", form(image, end="")),
            ("another end", form(image, end="xx\r\n")),
            ("more behind it", form(image, end="--\r\nmore")),
            ("a boundary in it", form(image + b"\r\n------x", end="")),
            ("two files", parts(file, file)),
            ("no file", parts(name)),
            ("two names", parts(name, file, name)),
            ("its program behind it", parts(("file", tar),
                                            ("exec", b"prog"))),
            ("a long name", parts(("name", b"x" * 2000), file)),
            ("no boundary", (form(image)[0],
                             {"Content-Type": "multipart/form-data"})),
            ("another boundary", (form(image)[0], {
                "Content-Type": "multipart/form-data; boundary=y"})),
            ("a long boundary", form(image, b="b" * 71)),
            ("headers without end", (b"--x\r\n" + b"X: y\r\n" * 1000, {
                "Content-Type": "multipart/form-data; boundary=x"}))):
        a = w.post("sessions", body, headers=how)
        eq((a.status, a.code), (400, "invalid_argument"), what)
    for those in (file, ("name", b"a b")), (("name", b"a b"), file):
        body, how = parts(*those)
        a = w.post("sessions", body, headers=how)
        eq((a.status, a.code), (400, "invalid_name"), "a name with a blank")
    body, how = parts(name, file)
    eq(w.post("sessions?name=other", body, headers=how).status, 400,
       "a name in the form and in the query")
    body, how = form(b"no program")
    eq(w.post("sessions", body, headers=how).status, 415, "no program")
    eq(w.get("sessions").data, [], "nothing is left")


def arguments(d):
    w = Web(d, token_of(d))
    s = "sessions/" + w.upload("/bin/true").data["id"]
    for path, body, status, code, what in (
            ("/args", b"{", 400, "invalid_json", "half an object"),
            ("/args", b"[1]", 400, "invalid_json", "an array"),
            ("/args", b'{"argv":["\xff"]}', 400, "invalid_json", "no UTF-8"),
            ("/args", b'{"argv":[],"argv":[]}', 400, "invalid_json",
             "two of one name"),
            ("/args", b'{"argv":[1]}', 400, "invalid_argument",
             "a number among strings"),
            ("/args", b'{"nope":1}', 400, "invalid_argument",
             "an unknown name"),
            ("/args", b'{"session":"x","argv":[]}', 400, "invalid_argument",
             "what the path says already"),
            ("/name", b'{"name":"a b"}', 400, "invalid_name",
             "a name with a blank"),
            ("/env/A-B", b'{"value":"x"}', 400, "invalid_env", "a key with -"),
            ("/limits", b'{"cpu":-1}', 400, "invalid_argument",
             "a negative limit"),
            ("/args", b'{"argv":["' + b"x" * 70000 + b'"]}', 413,
             "invalid_size", "too many bytes")):
        a = w.ask("PUT", s + path, body, {"Content-Type": "application/json"})
        eq((a.status, a.code), (status, code), what)
    a = w.ask("PUT", s + "/args", b"argv=x", {
        "Content-Type": "application/x-www-form-urlencoded"})
    eq((a.status, a.code), (415, "invalid_json"), "a form is no JSON")
    a = w.get(s + "?session=other")
    eq((a.status, a.code), (400, "invalid_argument"),
       "one argument in two places")
    a = w.post(s + "/signal", {"signal": "\n"})
    eq((a.status, a.code), (400, "invalid_argument"), "a control character")
    eq(w.post(s + "/signal", {"signal": "TERM KILL"}).status, 400,
       "no word becomes two")


def the_daemon(d):
    w = Web(d, token_of(d))
    v = w.get("version").data
    eq((v["name"], v["web"]), ("debuglantern", {
        "address": "127.0.0.1", "port": d.web, "tls": False}), "version")
    me = w.get("whoami").data
    eq((me["door"], me["csrf"], len(me["token"])), ("web", None, 8),
       "who one is")
    ok(all("name" in x for x in w.get("deps").data["deps"]), "deps")
    ok(isinstance(w.get("quota").data, list), "quota")
    ok(isinstance(w.get("activity").data, list), "activity")
    eq(w.get("usage").data, [], "usage")
    a = w.get("audit")
    if d.mode == "system":
        eq((a.status, a.code), (403, "not_permitted"),
           "the audit log is not theirs")
    else:
        ok(a.data["events"], "the audit log is theirs")
    a = w.get("tokens")
    eq((a.status, a.code), (403, "not_permitted"),
       "a token makes no tokens")


def a_login(d):
    w, a = login(d)
    flags = a.headers["Set-Cookie"].split("; ")[1:]
    eq(sorted(flags), ["HttpOnly", "Path=/", "SameSite=Strict"],
       "the cookie's flags")
    eq(w.get("whoami").data["csrf"], w.csrf, "whoami tells it again")
    eq(w.upload("/bin/true").status, 201, "with it one may")
    good, w.csrf = w.csrf, None
    a = w.upload("/bin/true")
    eq((a.status, a.code), (403, "not_permitted"), "not without the header")
    w.csrf = "0" * 32
    eq(w.upload("/bin/true").status, 403, "nor with a wrong one")
    eq(w.get("sessions").status, 200, "to look needs none")
    w.csrf = good
    for origin in ("http://evil.example", "null", "https://127.0.0.1",
                   f"http://127.0.0.1:{d.web}.evil.example",
                   f"http://127.0.0.1:{d.web + 1}"):
        a = w.post("logout", headers={"Origin": origin})
        eq(a.status, 403, f"no page of {origin} logs anybody out")
    other = Web(d, cookie=w.cookie, csrf=good)
    eq(other.get("sessions").status, 200, "another connection")
    a = w.post("logout", headers={"Origin": f"http://127.0.0.1:{d.web}"})
    eq(a.status, 200, "our own page does")
    ok("Max-Age=0" in a.headers["Set-Cookie"], "the cookie is taken back")
    a = Web(d, cookie=w.cookie).get("sessions")
    eq((a.status, a.code), (401, "auth_failed"), "it is good no longer")
    ok("Max-Age=0" in a.headers["Set-Cookie"], "and the browser drops it")


def a_login_link(d):
    c = d.client()
    key = c.cmd("LOGIN link")["key"]
    c.close()
    a = Web(d).post("login", {"key": key})
    eq(a.status, 200, "a key of a link logs in")
    eq(Web(d).post("login", {"key": key}).status, 401, "once")
    for body in ({}, {"token": ""}, {"token": key, "key": key},
                 {"user": "x"}, {"token": 1}):
        eq(Web(d).post("login", body).status, 400, f"not {list(body)}")


def several_users(d):
    """Proxies send requests of many users by one connection."""
    one = token_of(d)
    two = token_of(d, "read-only")
    w = Web(d, one)
    sid = w.upload("/bin/true").data["id"]
    eq(w.get("whoami").data["read_only"], False, "the first")
    w.token = two
    eq(w.get("whoami").data["read_only"], True, "the second")
    a = w.delete("sessions/" + sid)
    eq((a.status, a.code), (403, "read_only"), "has their own rights")
    w.token = None
    eq(w.get("whoami").status, 401, "nobody has none")
    w.token = one
    eq(w.delete("sessions/" + sid).status, 200, "the first again")
    w.token = "dlt_" + "B" * 43
    eq(w.get("whoami").status, 401, "a wrong one")


def names(d):
    for host, status in (("127.0.0.1", 200), (f"127.0.0.1:{d.web}", 200),
                         ("localhost:1", 200), ("[::1]:8080", 200),
                         (os.uname().nodename, 200), ("evil.example", 421),
                         ("127.0.0.1.evil.example", 421),
                         ("127.0.0.1:x", 421), ("localhost:", 421),
                         ("localhost.evil.example:80", 421),
                         ("[::1]x", 421), ("", 421)):
        eq(Web(d, host=host).get("/healthz").status, status,
           f"Host: {host}")


def what_browsers_are_told(d):
    w = Web(d, token_of(d))
    for a in (w.get("/healthz"), w.get("sessions"), w.get("nowhere"),
              w.ask("GET", "/", headers={"Accept-Encoding": "gzip"})):
        csp = a.headers["Content-Security-Policy"]
        ok("default-src 'none'" in csp and "frame-ancestors 'none'" in csp and
           "base-uri 'none'" in csp and "unsafe" not in csp,
           "a policy without inline script or style", csp)
        eq((a.headers["X-Content-Type-Options"],
            a.headers["Referrer-Policy"],
            a.headers["Cross-Origin-Opener-Policy"],
            a.headers["Cross-Origin-Resource-Policy"]),
           ("nosniff", "no-referrer", "same-origin", "same-origin"),
           "and the rest")
        ok("Access-Control-Allow-Origin" not in a.headers, "no CORS")
    eq(w.get("sessions").headers["Cache-Control"], "no-store",
       "answers are kept nowhere")
    eq(w.ask("OPTIONS", "sessions", headers={
        "Origin": "http://evil.example"}).status, 405, "no preflight")


def events(d):
    """Changes come by themselves, and those that were missed come later."""
    w = Web(d, token_of(d))
    old = w.upload("/bin/cat").data["id"]
    e = Events(Web(d, w.token), "events")
    eq((e.status, e.r.headers["Content-Type"]), (200, "text/event-stream"),
       "a stream of events")
    eq(e.next()["event"], "reset", "that begins anew")
    eq(e.next()["data"]["id"], old, "with what is there")
    sid = w.upload("/bin/true").data["id"]
    got = e.until("session", id=sid)
    eq(got["data"]["state"], "LOADED", "a new one is told of")
    w.post(f"sessions/{sid}/start", {})
    got = e.until("session", id=sid, state="STOPPED")
    eq(got["data"]["exit_code"], 0, "how it ends")
    w.delete(f"sessions/{sid}")
    got = e.until("gone")
    eq(got["data"], {"id": sid}, "and that it has gone")
    at = got["id"]
    e.r.close()
    w.put(f"sessions/{old}/name", {"name": "changed"})
    third = w.upload("/bin/true").data["id"]
    e = Events(Web(d, w.token), "events", Last_Event_ID=at)
    first, second = e.next(), e.next()
    eq([(x["event"], x["data"]["id"], x["data"]["name"])
        for x in (first, second)],
       [("session", old, "changed"), ("session", third, None)],
       "who was away gets what they missed and no more")
    e.r.close()
    for wrong in ("x", "0-1", at + "9" * 12, at.split("-")[0] + "-0", "-",
                  at.split("-")[0] + "-x", "9" * 40):
        e = Events(Web(d, w.token), "events", Last_Event_ID=wrong)
        eq(e.next()["event"], "reset", f"{wrong}: all anew")
        e.r.close()
    w.post(f"sessions/{old}/start", {})
    e = Events(Web(d, w.token), "events")
    got = e.until("usage", id=old)
    ok(isinstance(got["data"]["memory"], int), "what it uses", got)
    e.r.close()
    ok(wait_for(lambda: open_fds(d) < 60), "no stream is left")


def kept(e, view, until, seen=None):
    """Follows events into {id: name} until an event until() is about."""
    while True:
        x = e.next()
        if seen is not None:
            seen.append(x["event"])
        if x["event"] == "reset":
            view.clear()
        elif x["event"] == "session":
            view[x["data"]["id"]] = x["data"]["name"]
        elif x["event"] == "gone":
            view.pop(x["data"]["id"], None)
        if until(x):
            return x["id"]


def many_events(d):
    """Whoever follows knows what there is, however they came to it."""
    w = Web(d, token_of(d))
    ids = [w.post("sessions", {"argv": ["/bin/true"]}).data["id"]
           for _ in range(30)]
    e, view = Events(Web(d, w.token), "events"), {}
    kept(e, view, lambda x: x["event"] == "session" and
         x["data"]["id"] == ids[-1])
    eq(sorted(view), sorted(ids), "all that was there")
    # a stream that breaks off again and again, and one that does not
    at, broken = None, {}
    for i in (3, 29, 0, 3, 17, 0, 5):
        w.put(f"sessions/{ids[i]}/name", {"name": f"n{i}"})
        if i == 17:
            w.delete("sessions/" + ids.pop(10))
        e2 = Events(Web(d, w.token), "events", **(
            {} if at is None else {"Last_Event_ID": at}))
        last = f"last{i}-{len(broken)}-{at or 0}"
        last = "".join(c for c in last if c.isalnum())[-40:]
        w.put(f"sessions/{ids[1]}/name", {"name": last})
        at = kept(e2, broken, lambda x: x["event"] == "session" and
                  x["data"]["name"] == last)
        e2.r.close()
    kept(e, view, lambda x: x["event"] == "session" and
         x["data"]["name"] == last)
    there = {s["id"]: s["name"] for s in w.get("sessions").data}
    eq(view, there, "who stayed knows it all")
    eq(broken, there, "who came again and again, too")
    e.r.close()


# More than are remembered when they have gone.
MANY = 1100
with open("/bin/true", "rb") as f:
    TRUE = f.read()


def come_and_go(d, uid, n=MANY):
    c = d.client(uid)
    for _ in range(n):
        c.cmd("DELETE " + c.upload(TRUE)["id"])
    c.close()


class Follower:
    """A user's page; the name of one session tells when all has come."""

    def __init__(self, d, uid):
        self.d, self.w = d, Web(d, token_of(d, uid=uid))
        self.view, self.n = {}, 0
        self.mark = self.w.upload("/bin/true").data["id"]
        self.open()

    def open(self, **headers):
        self.e = Events(Web(self.d, self.w.token), "events", **headers)

    def read(self):
        """The events until now, by name; usage left out."""
        seen, self.n = [], self.n + 1
        name = f"mark{self.n}"
        self.w.put(f"sessions/{self.mark}/name", {"name": name})
        self.at = kept(self.e, self.view, lambda x: x["event"] == "session"
                       and (x["data"]["id"], x["data"]["name"]) ==
                       (self.mark, name), seen)
        return [x for x in seen if x != "usage"]

    def again(self):
        self.e.r.close()
        self.open(Last_Event_ID=self.at)

    def knows(self):
        return self.view == {s["id"]: s["name"]
                             for s in self.w.get("sessions").data}


def others_come_and_go(d, who, seer):
    eq(who.read()[0], "reset", "a stream begins")
    seer.read()
    come_and_go(d, ALICE)
    eq(who.read(), ["session"], "who is quiet gets nothing for others'")
    seen = seer.read()
    ok("gone" in seen or "reset" in seen,
       "an administrator is told that they have gone", seen[:10])
    ok(seer.knows(), "and knows what there is")
    at = seer.at
    who.e.r.close()
    come_and_go(d, ALICE)
    who.again()
    eq(who.read(), ["session"], "nor does one who comes back")
    seer.e.r.close()
    come_and_go(d, ALICE, 3)
    seer.at = at
    seer.again()
    eq(seer.read()[0], "reset", "an administrator who comes back begins anew")
    ok(seer.knows(), "and knows what there is, too")
    come_and_go(d, ALICE, 3)
    seer.again()
    ok("reset" not in seer.read(), "but not for a few")


def own_come_and_go(d, who):
    who.e.r.close()
    come_and_go(d, BOB, 3)
    who.again()
    seen = who.read()
    eq(seen, ["gone"] * 3 + ["session"], "a few of their own they are told")
    who.e.r.close()
    come_and_go(d, BOB)
    who.again()
    eq(who.read()[0], "reset", "after so many they begin anew")
    who.e.r.close()
    who.open()
    eq(who.e.next()["event"], "reset", "who reads slowly begins")
    # what changes fills all buffers, so that what goes waits
    c = d.client(BOB)
    ids = [c.upload(TRUE)["id"] for _ in range(25)]
    for n in range(12):
        for i in ids:
            c.cmd(f"ARGS {i} {n:040000}")
        time.sleep(0.1)
    for i in ids[:5]:
        c.cmd("DELETE " + i)
    come_and_go(d, BOB)
    c.close()
    who.view = {}
    eq(who.read().count("reset"), 1, "and once more, when they have missed much")
    ok(who.knows(), "and knows what there is")


def whose_come_and_go(mode):
    """What is lost of one user's sessions is nothing to another."""
    with passwd_wrapper(ALICE, BOB, BOB + 1) as wrapper, Daemon(
            mode, f"admin user u{BOB + 1}\nmax-sessions 300\n", web=True,
            wrapper=wrapper) as d:
        who, seer = Follower(d, BOB), Follower(d, BOB + 1)
        others_come_and_go(d, who, seer)
        seer.e.r.close()
        own_come_and_go(d, who)
        who.e.r.close()


def open_fds(d):
    return len(os.listdir(f"/proc/{d.role_pid('netproc')}/fd"))


def streams(d):
    """Output as events, from any offset, of as many runs as there are."""
    w = Web(d, token_of(d))
    sid = w.upload("/bin/cat").data["id"]
    e = Events(Web(d, w.token), f"sessions/{sid}/stream")
    eq(e.status, 200, "a stream before there is output")
    w.post(f"sessions/{sid}/start", {})
    w.post(f"sessions/{sid}/stdin", b"one\n")
    got = e.next()
    eq((got["event"], got["id"], base64.b64decode(got["data"]["data"]),
        got["data"]["offset"]), ("output", "4", b"one\n", 0), "its output")
    w.post(f"sessions/{sid}/stdin?eof=1", b"two\n")
    got = e.next()
    eq((got["id"], base64.b64decode(got["data"]["data"])),
       ("8", b"two\n"), "as it comes")
    got = e.next()
    eq((got["event"], got["data"]["exit_code"]), ("end", 0), "and its end")
    eq(e.next(), None, "and then none")
    e = Events(Web(d, w.token), f"sessions/{sid}/stream", Last_Event_ID="4")
    eq(base64.b64decode(e.next()["data"]["data"]), b"two\n",
       "from the last event on")
    e = Events(Web(d, w.token), f"sessions/{sid}/stream?offset=6")
    eq(base64.b64decode(e.next()["data"]["data"]), b"o\n", "from an offset")
    w.post(f"sessions/{sid}/start", {"split": True})
    e = Events(Web(d, w.token), f"sessions/{sid}/stream")
    w.post(f"sessions/{sid}/stdin", b"three\n")
    eq(e.next()["data"]["stream"], "stdout", "which of the two it was")
    w.post(f"sessions/{sid}/kill", {})
    w.delete(f"sessions/{sid}")
    ok(e.until("end") or True, "a session that goes ends it")
    eq(Web(d, w.token).get(f"sessions/{sid}/stream").status, 404, "gone")


def websockets(d):
    """Which requests become one, and by what right."""
    w = Web(d, token_of(d))
    sid = w.post("sessions", {"argv": ["/bin/cat"], "tty": True}).data["id"]
    w.post(f"sessions/{sid}/start", {})
    keys = w.post(f"sessions/{sid}/keys", {}).data
    path = f"/api/v1/pty/sessions/{sid}/attach"

    def status(path=path, **kw):
        try:
            ws = WebSocket(d.web, path, **kw)
            ws.s.close()
            return 101
        except Refused as e:
            return e.status

    bearer = [("Authorization", "Bearer " + w.token)]
    own = f"http://127.0.0.1:{d.web}"
    evil = ("Origin", "http://evil.example")
    eq(status(headers=bearer), 101, "by Bearer")
    eq(status(headers=bearer + [("Origin", own)]), 101, "of our own page")
    eq(status(headers=bearer + [evil]), 403, "not of another's")
    eq(status(path + "?token=" + keys["token"]), 101, "by a key in the query")
    eq(status(path + "?token=" + keys["token"], headers=[evil]), 403,
       "that is no other page's either")
    eq(status(protocols=["lantern.token." + keys["read_only_token"]]), 101,
       "by a key as a subprotocol")
    eq(status(path + "?token=dls_x"), 401, "by a wrong key")
    ticket = w.post(f"sessions/{sid}/ticket", {}).data["ticket"]
    eq([status(path + "?token=" + ticket) for _ in range(2)], [101, 401],
       "by a ticket, once")
    eq(status(), 101, "or by the first message")
    c, _ = login(d)
    cookie = ("Cookie", "lantern=" + c.cookie)
    eq(status(headers=[cookie, ("Origin", own)]), 101, "by a cookie")
    eq(status(headers=[cookie]), 403, "which needs an Origin")
    eq(status(headers=[cookie, ("Origin", "null")]), 403, "and a good one")
    eq(status(path.replace(sid, "nobodys"), headers=bearer), 404,
       "no such session")
    a = Web(d, w.token).ask("GET", path)
    eq((a.status, a.headers["Connection"]), (400, "close"),
       "who asks for no WebSocket is told, also that the connection ends")
    for query in ("role=x", "cols=-1", "from=x", "what=1"):
        eq(status(path + "?" + query, headers=bearer), 400, query)
    ws = WebSocket(d.web, path, headers=bearer)
    ok("lantern.bin.v1" in ws.head and "lantern.token" not in ws.head,
       "the subprotocol that was chosen")
    ws.s.close()
    good = {"Upgrade": "websocket", "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ=="}
    for name, value in (("Upgrade", "h2c"), ("Connection", "close"),
                        ("Sec-WebSocket-Version", "8"),
                        ("Sec-WebSocket-Key", "short"),
                        ("Sec-WebSocket-Key", "*" * 24)):
        eq(Web(d, w.token).ask("GET", path, headers={
            **good, name: value}).status, 400, f"{name}: {value}")
    r = Raw(d, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n".encode() +
            "".join(f"{k}: {v}\r\n" for k, v in good.items()).encode() +
            b"\r\n")
    ok(b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo=" in r.until(b"\r\n\r\n"),
       "the example of RFC 6455", r.buf)
    r.close()
    plain = w.post("sessions", {"argv": ["/bin/true"]}).data["id"]
    eq(status(path.replace(sid, plain), headers=bearer), 400,
       "a session without a terminal")


def a_head(d):
    w = Web(d, token_of(d))
    a = w.ask("HEAD", "sessions")
    eq((a.status, a.body), (200, b""), "HEAD has no body")
    eq(w.get("sessions").status, 200, "and keeps the connection in step")
    sid = d.client().cmd("NEW tty start=now -- cat")["id"]
    r = Raw(d, (f"HEAD /api/v1/sessions/{sid}/stream HTTP/1.1\r\n"
                f"Host: localhost:{d.web}\r\n"
                f"Authorization: Bearer {w.token}\r\n\r\n").encode())
    head, _, body = r.rest().partition(b"\r\n\r\n")
    ok(head.startswith(b"HTTP/1.1 200 ") and b"Connection: close" in head
       and body == b"", "nor has that of a stream", head + body)
    a = w.ask("HEAD", f"pty/sessions/{sid}/attach", headers={
        "Upgrade": "websocket", "Connection": "Upgrade",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="})
    eq(a.status, 400, "and a WebSocket does not begin with it")
    d.client().cmd("KILL " + sid)


def clients_gone(d):
    """They wait for an answer and close: their place is another's soon."""
    c, t = d.client(), token_of(d)
    sid, _ = c.start(helper("sleeper"))
    before = open_fds(d)
    for _ in range(30):
        r = Raw(d, (f"GET /api/v1/sessions/{sid}/wait HTTP/1.1\r\n"
                    f"Host: localhost:{d.web}\r\n"
                    f"Authorization: Bearer {t}\r\n\r\n").encode())
        time.sleep(0.02)
        r.s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                       struct.pack("ii", 1, 0))
        r.s.close()
    ok(wait_for(lambda: open_fds(d) <= before + 2, 20),
       "thirty that were reset leave nothing", (before, open_fds(d)))
    c.cmd("KILL " + sid)


def a_name_is_taken(d):
    """Two uploads under one name: who comes second leaves nothing behind."""
    t = token_of(d)
    with open("/bin/echo", "rb") as f:
        data = f.read()
    two = [Raw(d, (f"POST /api/v1/sessions?name=same HTTP/1.1\r\n"
                   f"Host: localhost:{d.web}\r\nConnection: close\r\n"
                   f"Authorization: Bearer {t}\r\n"
                   f"Content-Length: {len(data)}\r\n\r\n").encode() +
               data[:100]) for _ in range(2)]
    time.sleep(0.3)
    answers = []
    for r in two:
        r.send(data[100:])
        answers.append(r.rest().split(b" ")[1])
    eq(sorted(answers), [b"201", b"400"], "one is refused")
    c = d.client()
    ok(wait_for(lambda: [s["name"] for s in c.cmd("LIST")] == ["same"], 10),
       "and only the other is there", c.cmd("LIST"))


def the_end_in_json(d):
    c, w = d.client(), Web(d, token_of(d))
    sid = c.cmd("NEW start=now -- printf abcdef")["id"]
    c.cmd(f"WAIT {sid} 20")
    a = w.get(f"sessions/{sid}/output?format=json&tail=2")
    eq((a.data["output"], a.data["offset"]), ("ef", 4),
       "tail, and as JSON")
    c.cmd("DELETE " + sid)


def over_tls(mode):
    """A listener of the web that speaks TLS: the same, and a safer cookie."""
    port = free_port()
    with Daemon(mode, web=True, conf="web listen on localhost\n"
                f"web listen on localhost port {port} tls\n") as d:
        token = token_of(d)
        w = Web(d, token)
        w.c = http.client.HTTPSConnection(
            "localhost", port, timeout=30,
            context=ssl._create_unverified_context())
        eq(w.get("whoami").data["door"], "web-tls", "by TLS")
        a = w.post("login", {"token": token})
        ok("; Secure" in a.headers["Set-Cookie"], "a cookie for TLS alone",
           a.headers["Set-Cookie"])
        eq(w.upload("/bin/true").status, 201, "an image")
        a = w.post("login", {"token": token}, headers={
            "Origin": f"http://localhost:{port}"})
        eq(a.status, 403, "no page without TLS is our own")
        eq(w.post("login", {"token": token}, headers={
            "Origin": f"https://localhost:{port}"}).status, 200,
           "one with it is")


def elsewhere(mode):
    """What leads to the page leads to where it listens."""
    a, b, c = (free_port() for _ in range(3))
    for conf, want in (
            (f"web listen on 127.0.0.2 port {a}\n",
             {"address": "127.0.0.2", "port": a, "tls": False}),
            (f"web listen on ::1 port {b} tls\n",
             {"address": "::1", "port": b, "tls": True}),
            (f"web listen on 0.0.0.0 port {c} plain\n",
             {"address": "127.0.0.1", "port": c, "tls": False})):
        if not loopbacks(want["address"]):
            continue
        with Daemon(mode, conf=conf, web=True) as d:
            x = d.client()
            eq(x.cmd("VERSION")["web"], want, conf.strip())
            r = d.ctl("web")
            host = want["address"].replace("::1", "[::1]")
            ok(f"//{host}:{want['port']}/login#".encode() in r.stdout,
               "and so says debuglanternctl", r)
            x.close()


if __name__ == "__main__":
    run_tests(alone(over_tls), alone(elsewhere),
              *([alone(whose_come_and_go, modes=("system",))] if AS_ROOT
                else []), in_modes(without_a_token, a_program, running, no_output, large_bodies,
                       without_a_size, a_bundle, a_form, arguments, the_daemon, a_login,
                       a_login_link, several_users, names,
                       what_browsers_are_told, events, many_events, streams,
                       websockets, a_head, clients_gone, a_name_is_taken,
                       the_end_in_json, web=True))
