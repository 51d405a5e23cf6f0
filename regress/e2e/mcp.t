#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# debuglantern-mcp and the tools, with raw lines: what an agent's client may
# say and what comes back, with daemons that are not there, stand still or die.
import json
import os
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import BIN, Client, Daemon, eq, ok, run_tests, wait_for
from mcprig import META, MODERN, SOON, Home, Proxy, fits
from tracerig import WORK, build
from web import Raw, Web, statuses

VERSIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", MODERN]
# a line that no parser should be given, and its id at its very end
HUGE = b'{"jsonrpc":"2.0","method":"tools/call","params":{"id":1,"x":"' + \
    b"y" * (10 << 20) + b'"},"id":"huge"}\n'


def form():
    return build("form.c", "-g", "-O1")


# --- lines ---------------------------------------------------------------

def on_demand():
    """Nothing runs: whoever asks first gets a daemon."""
    with Home() as h, Proxy(h) as p:
        eq(p.ask("ping")["result"], {}, "a ping needs no daemon")
        eq(h.daemons(), [], "and starts none")
        r = p.initialize()
        eq(r["result"]["protocolVersion"], "2025-11-25", "initialize")
        eq(len(h.daemons()), 1, "there is a daemon now")
        names = [t["name"] for t in p.ask("tools/list")["result"]["tools"]]
        eq(names, ["debug_launch", "debug_trace", "debug_query",
                   "debug_stop"], "the tools")
        with Proxy(h) as q:
            q.initialize()
            ok(q.ask("tools/list")["result"], "a second client")
            eq(len(h.daemons()), 1, "has the same daemon")
            eq(q.close(), 0, "it ends with its input")
        eq(p.close(), 0, "as does the first")
        eq(len(h.daemons()), 1, "the daemon stays")
        eq(p.p.stderr.read(), b"", "nothing was to be said beside")


def bad_lines():
    with Home() as h, Proxy(h) as p:
        p.initialize()
        for line, code, number in (
                (b"{garbage", -32700, None), (b"\xff\xfe{}", -32700, None),
                (b"\x00\x01", -32700, None),
                (b'{"jsonrpc":"2.0","id":7,"method":"ping"}\0{}', -32700,
                 None),
                (b'{"a":1}{"b":2}', -32700, None),
                (b"[" * 100 + b"]" * 100, -32700, None),
                (b"5", -32600, None), (b'"x"', -32600, None),
                (b"{}", -32600, None), (b"[]", -32600, None),
                (b'{"jsonrpc":"2.0","id":7}', -32600, 7),
                (b'{"jsonrpc":"1.0","id":7,"method":"ping"}', -32600, 7),
                (b'{"jsonrpc":"2.0","id":7,"method":"no/such"}', -32601, 7),
                (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600,
                 None),
                (b'{"jsonrpc":"2.0","id":"x","method":"tools/call",'
                 b'"params":{"name":"nope"}}', -32602, "x"),
                (b'{"jsonrpc":"2.0","id":"nul","method":"tools/call",'
                 b'"params":{"name":"debug_stop","arguments":{"sessionId":'
                 b'"a\\u0000b"}}}', -32700, "nul"),
                (b'{"jsonrpc":"2.0","id":9,"method":"a\\ud800b"}', -32700,
                 9),
                (b'{"jsonrpc":"2.0","id":"\\udc00/\\/","method":"x"}',
                 -32700, "\udc00//"),
                (b'{"jsonrpc":"2.0","id":99999999999999999999999,'
                 b'"method":"no/such"}', -32601, 99999999999999999999999),
                (b'{"jsonrpc":"2.0","id":99999999999999999999999,'
                 b'"method":"ping","params":7}', -32602,
                 99999999999999999999999),
                (HUGE[:-1], -32600, "huge"),
                (b'{"jsonrpc":"2.0","id":8,"method":"tools/call","params":'
                 b'"' + b"z" * 61300 + b'"}', -32602, 8)):
            p.raw(line + b"\n")
            m = p.next()
            eq((m["error"]["code"], m["id"]), (code, number),
               f"{line[:40]!r}")
        p.raw(b'{"jsonrpc":"2.0",\r\t"id":"cr","method":"tools/list"}\r\n')
        m = p.next()
        ok(m["id"] == "cr" and m.get("result"), "blanks are blanks: an end "
           "of lines as others write it", m)
        p.raw(b'{"jsonrpc":"2.0","id" :"\\ud800"\r,"method":"ping"}\r\n')
        eq(p.next(), {"jsonrpc": "2.0", "id": "\ud800", "result": {}},
           "an id is the client's, whatever it says")
        p.raw(b"\n \r\n\t\n")
        p.raw(b'{"jsonrpc":"2.0","method":"' + b"n" * (1 << 20) + b'"}\n')
        p.note("notifications/cancelled", requestId=99)
        p.note("notifications/cancelled", requestId={})
        p.note("notifications/no_such")
        p.note("tools/call", name="debug_launch")
        p.send({"jsonrpc": "2.0", "id": 5, "result": {}})
        ok(p.ask("ping")["result"] == {} and "error" not in p.said[-2] or
           p.said[-2]["id"] == 8, "nothing of these is answered", p.said[-2:])
        p.raw(b'{"jsonrpc":"2.0","id":"end","method":"tools/list"}')
        eq(p.close(), 0, "the end of the input")
        eq(p.said[-1]["id"], "end", "a last line needs no end")


def batches():
    two = [{"jsonrpc": "2.0", "id": 1, "method": "tools/list"},
           {"jsonrpc": "2.0", "method": "notifications/x"},
           {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
               "name": "debug_stop", "arguments": {"sessionId": "none"}}},
           7]
    with Home() as h:
        with Proxy(h) as p:
            p.initialize("2025-03-26")
            p.send(two)
            m = p.next()
            eq([a["id"] for a in m], [1, 2, None], "a batch is one answer")
            ok(m[1]["result"]["isError"], "with results of tools", m[1])
            p.send([two[1], two[1]])
            eq(p.ask("ping")["result"], {}, "notifications alone: nothing")
            p.close()
            eq(len([m for m in p.said if isinstance(m, list)]), 1,
               "nothing else")
        with Proxy(h) as p:
            p.initialize("2025-06-18")
            p.send(two)
            eq(p.next()["error"]["code"], -32600, "later there are none")


def floods():
    """All is sent before anything is read."""
    with Home() as h, Proxy(h) as p:
        p.initialize()
        ids = [p.request("tools/list") for _ in range(400)]
        got = [p.next() for _ in ids]
        eq(sorted(m["id"] for m in got), ids, "400 requests, 400 answers")
        last = p.request("tools/list")
        p.raw(HUGE * 3)
        eq(p.close(), 0, "the end")
        ok(last in [m["id"] for m in p.said], "what was due is said before")
        eq([m["error"]["code"] for m in p.said if m.get("id") == "huge"],
           [-32600] * 3, "huge lines, too")


def not_used_so():
    with Home() as h:
        for args in (["x"], ["--nope"], ["--socket"],
                     ["--system", "--socket", "/run/x"],
                     ["--socket", "/" + "x" * 200]):
            with Proxy(h, *args) as p:
                eq(p.close(), 2, f"{args[0]}: is told")
                ok(p.p.stderr.read().startswith(b"debuglantern-mcp: "),
                   "on standard error")
        for args, said in (("--help", "usage: "), ("--version",
                                                   "debuglantern-mcp ")):
            r = subprocess.run([os.path.join(BIN, "debuglantern-mcp"), args],
                               env=h.env, stdout=subprocess.PIPE, text=True,
                               check=False, timeout=SOON)
            eq((r.returncode, r.stdout.startswith(said)), (0, True), args)
            short = subprocess.run([r.args[0], "-" + args[2].replace(
                "v", "V")], env=h.env, stdout=subprocess.PIPE, text=True,
                check=False, timeout=SOON)
            eq(short.stdout, r.stdout, "and its letter")
        eq(h.daemons(), [], "none of these starts a daemon")


# --- daemons -------------------------------------------------------------

def no_daemon():
    """It cannot be started: that is said, and the client can go on."""
    with Home() as h:
        for how, env, args in (
                ("no directory", {"XDG_RUNTIME_DIR": h.dir + "/no/such"}, ()),
                ("another's socket", {}, ("--socket", h.dir + "/none"))):
            with Proxy(h, *args, env=env) as p:
                m = p.ask("initialize", {"protocolVersion": "2025-11-25"})
                eq(m["error"]["code"], -32603, how)
                ok(len(m["error"]["message"]) > 20, "with the reason", m)
                eq(p.ask("ping")["result"], {}, "a ping is answered")
                eq(p.close(), 0, "and the end is an end")
        eq(h.daemons(), [], "there is none")


def halted(h):
    """The process that answers stands still."""
    pid = h.role("netproc")
    os.kill(pid, signal.SIGSTOP)
    with open(f"/proc/{pid}/stat") as f:
        wait_for(lambda: f.seek(0) == 0 and
                 f.read().rpartition(")")[2].split()[0] == "T", SOON)
    return pid


def restarted():
    """A daemon that dies in the midst of a request, and between two."""
    with Home() as h, Proxy(h) as p:
        p.initialize()
        s = p.done("debug_launch", command=form(), projectRoot=WORK)
        netproc = halted(h)
        lost = p.request("tools/call", {"name": "debug_query", "arguments": {
            "sessionId": s["sessionId"]}})
        eq(p.ask("ping")["result"], {}, "a ping does not wait for it")
        old = h.daemons()
        for pid in old + [netproc]:
            os.kill(pid, signal.SIGKILL)
        m = p.answer(lost)
        eq(m["error"]["code"], -32603, "what was asked of it has failed")
        ok("Ask again" in m["error"]["message"], "what to do", m)
        wait_for(lambda: not h.daemons(), SOON)
        e = p.refused("debug_query", sessionId=s["sessionId"])
        eq(e["code"], "SESSION_NOT_FOUND", "there is another one, without it")
        ok(h.daemons() and h.daemons() != old, "really another")
        eq(p.close(), 0, "the end")


def cancelled():
    with Home() as h, Proxy(h) as p:
        p.initialize()
        netproc = halted(h)
        one = p.request("tools/list")
        two = p.request("tools/call", {
            "name": "debug_stop", "arguments": {"sessionId": "none"}},
            progressToken="tok")
        got = [p.next() for _ in range(3)]
        eq([m["method"] for m in got], ["notifications/progress"] * 3,
           "who wants to know how it goes is told")
        eq([m["params"]["progress"] for m in got], [1, 2, 3], "ever more")
        eq({m["params"]["progressToken"] for m in got}, {"tok"},
           "by their token")
        p.note("notifications/cancelled", requestId=two, reason="enough")
        p.note("notifications/cancelled", requestId=one)
        # more than can be asked at a time: some wait for their turn
        many = [p.request("tools/list") for _ in range(40)]
        for number in many[:39]:
            p.note("notifications/cancelled", requestId=number)
        eq(p.ask("ping")["result"], {}, "the client goes on")
        os.kill(netproc, signal.SIGCONT)
        ok(p.answer(many[39])["result"], "so does the daemon")
        eq(p.close(), 0, "the end")
        at = p.said.index(got[2])
        eq([m.get("id") for m in p.said[at + 1:]],
           [many[39] + 1, many[39]], "nothing of what was cancelled is said")


# --- tools ---------------------------------------------------------------

def scenario(version):
    """The bug is found by asking: every step of an agent's."""
    with Home() as h, Proxy(h, cwd=WORK) as p:
        p.initialize(version)
        tools = {t["name"]: t for t in p.ask("tools/list")["result"]["tools"]}

        def done(tool, **arguments):
            r = p.done(tool, **arguments)
            eq(fits(arguments, tools[tool]["inputSchema"]), None,
               f"{tool} takes what its schema has")
            if "outputSchema" in tools[tool]:
                eq(fits(r, tools[tool]["outputSchema"]), None,
                   f"{tool} answers what its schema has")
            return r

        r = done("debug_launch", command="./" + os.path.basename(form()),
                 args=["3000", "an argument"], projectRoot=os.path.dirname(
                     os.path.abspath(__file__)), env={"FORM": "set"})
        s = r["sessionId"]
        ok(s.startswith(os.path.basename(form()) + "-20"), "its name", s)
        ok(os.path.exists(f"/proc/{r['pid']}"), "its pid", r)
        r = done("debug_trace", sessionId=s)
        eq((r["activePatterns"], r["hookedFunctions"]), ([], 0),
           "nothing is traced yet")
        r = done("debug_trace", sessionId=s, add=["submit", "form_*"])
        eq((r["activePatterns"], r["hookedFunctions"]),
           (["submit", "form_*"], 2), "two functions are")
        wait_for(lambda: done("debug_query", sessionId=s, eventType=
                              "function_exit")["totalCount"] > 9, SOON)
        r = done("debug_query", sessionId=s, function={"contains": "valid"},
                 limit=4)
        eq(len(r["events"]), 4, "a page")
        ok(r["hasMore"], "of more")
        r = done("debug_query", sessionId=s, verbose=True, eventType=
                 "function_exit", function={"equals": "form_validate"},
                 limit=2)
        eq([e["returnValue"] for e in r["events"]], [0, 0],
           "what is good is refused")
        r = done("debug_query", sessionId=s, verbose=True, eventType=
                 "function_enter", function={"matches": "^submit$"}, limit=1)
        eq(r["events"][0]["arguments"][1], 1.5, "arguments have types")
        r = done("debug_query", sessionId=s, returnValue={"isNull": True},
                 function={"equals": "submit"}, limit=3, verbose=True)
        eq([e["returnValue"] for e in r["events"]], [None] * 3, "nulls")
        after = r["events"][-1]["id"]
        r = done("debug_query", sessionId=s, afterEventId=after, limit=5)
        ok(r["events"] and r["events"][0]["id"] != after, "and what is later")
        eq(done("debug_query", sessionId=s, eventType="stderr")["events"][0]
           ["text"], "an argument set\n", "arguments and environment are there")
        e = p.refused("debug_launch", command=form(), projectRoot="/")
        eq(e["code"], "SESSION_EXISTS", "it runs already")
        top, name = os.path.split(form())
        e = p.refused("debug_launch", command=f"{top}/../" + os.path.basename(
            top) + f"//./{name}", projectRoot="/")
        eq(e["code"], "SESSION_EXISTS", "by whatever path")
        ok(e["message"].startswith("Session already active for this binary. "
                                   "Call debug_stop first") and
           s in e["message"], "and which that is", e)
        r = done("debug_trace", sessionId=s, remove=["form_*"])
        eq(r["hookedFunctions"], 1, "less")
        r = done("debug_stop", sessionId=s)
        ok(r["success"] and r["eventsCollected"] > 20, "stop", r)
        e = p.refused("debug_query", sessionId=s)
        eq(e["code"], "SESSION_NOT_FOUND", "what it knew is gone")
        ok(all(e[k] for k in ("message", "next")), "with the next step", e)
        eq(p.close(), 0, "the end")


def scenarios():
    for version in ("2025-11-25", MODERN, "2024-11-05"):
        scenario(version)


def waiting_patterns():
    with Home() as h, Proxy(h) as p:
        p.initialize()
        r = p.done("debug_trace", add=["submit", "later::*"])
        eq(r["pending"], ["submit", "later::*"], "they wait")
        with Proxy(h) as q:
            q.initialize()
            s = q.done("debug_launch", command=form(), args=["5"],
                       projectRoot="/")["sessionId"]
            r = q.done("debug_trace", sessionId=s)
            eq((r["activePatterns"], r["hookedFunctions"]),
               (["submit", "later::*"], 1),
               "and are in the next program, whoever launches it")
            wait_for(lambda: q.done("debug_query", sessionId=s,
                                    function={"equals": "submit"})
                     ["totalCount"] == 10, SOON)
            eq(q.done("debug_query", sessionId=s, function={
                "equals": "submit"})["totalCount"], 10,
               "from its first call to its last")
            ok(wait_for(lambda: "PROCESS_EXITED" in json.dumps(q.call(
                "debug_trace", sessionId=s, add=["main"])), SOON),
               "once it has ended nothing can be added")
            eq(q.done("debug_trace")["pending"], [],
               "none wait any more")
            q.done("debug_stop", sessionId=s)


def large_environment():
    """What is small goes along, and the program is launched in any case."""
    big = {f"BIG{i}": '"' * 1000 for i in range(60)}
    with Home() as h, Proxy(h, cwd=WORK, env=dict(big, FORM="small")) as p:
        p.initialize()
        s = p.done("debug_launch", command=form(), args=["1", "x"],
                   projectRoot="/")
        words = " ".join(s["warnings"])
        ok("BIG59" in words and "61440" in words and "in env" in words, "what was left out is said", words)
        s = s["sessionId"]
        said = wait_for(lambda: p.done("debug_query", sessionId=s,
                                       eventType="stderr")["events"], SOON)
        eq([e["text"] for e in said], ["x small\n"], "it has what is small")
        p.done("debug_stop", sessionId=s)
        r = p.call("debug_launch", command=form(), args=["1", "y" * 40000],
                   projectRoot="/", env={"FORM": "given"})
        eq(r["isError"], False, "and less of it, if there is less room")
    with Home() as h, Proxy(h) as p:
        p.initialize("2024-11-05")
        r = p.done("debug_launch", command=form(), args=["1", "x"],
                   projectRoot="/")
        # some machines are warned of for their TSC
        eq([w for w in r.get("warnings", []) if "TSC" not in w], [],
           "nothing is, if nothing was left out")


def stays_for_its_client():
    """What has ended can be asked for as long as the client is there."""
    mode = "root" if os.geteuid() == 0 else "user"
    program = form()
    with Daemon(mode, args=["--local"], conf="exit-idle 6\n") as d, \
            Home() as h, \
            Proxy(h, "--socket", d.dir + "/run/debuglantern.sock") as p:
        # until the program runs it is not idle, however slow this host is
        c = Client(d.dir + "/run/debuglantern.sock", uid=d.uid)
        p.initialize()
        s = p.done("debug_launch", command=program, args=["1", "x"],
                   projectRoot="/")
        c.close()
        ok(wait_for(lambda: not os.path.exists(f"/proc/{s['pid']}"), SOON),
           "the program ends")
        # longer than the limit, of which the client knows nothing
        ok(not wait_for(lambda: d.proc.poll() is not None, 9),
           "the daemon stays")
        ok(p.done("debug_query", sessionId=s["sessionId"],
                  eventType="stderr")["events"], "and answers")
        p.close()
        ok(wait_for(lambda: d.proc.poll() is not None, SOON),
           "it ends when the client has gone")


def other_sessions():
    """Errors by name; what is not launched by an agent is traced, too."""
    with Home() as h, Proxy(h) as p:
        p.initialize()
        e = p.refused("debug_launch", command=WORK + "/none",
                      projectRoot="/")
        ok(e["code"] and e["next"], "a program that is not there", e)
        s = p.done("debug_launch", command=form(), projectRoot="/")
        e = p.refused("debug_trace", sessionId=s["sessionId"], add=["@nope"])
        eq(e["code"], "INVALID_PATTERN", "a pattern that is none")
        e = p.refused("debug_query", sessionId=s["sessionId"], limit=501)
        eq(e["code"], "INVALID_ARGUMENT", "more than there can be")
        p.done("debug_stop", sessionId=s["sessionId"])
        ok(os.path.exists(f"/proc/{s['pid']}"), "a stopped one goes on")
        p.done("debug_trace", sessionId=s["sessionId"], add=["submit"])
        e = p.refused("debug_launch", command=form(), projectRoot="/")
        ok(e["code"] == "SESSION_EXISTS" and s["sessionId"] in e["message"],
           "and is one that exists when it is traced again", e)
        p.done("debug_stop", sessionId=s["sessionId"])
        r = p.done("debug_trace", sessionId=s["sessionId"], add=["submit"])
        eq(r["hookedFunctions"], 1, "and can be taken again")
        r = p.done("debug_stop", sessionId=s["sessionId"], keep=True)
        ok(os.path.exists(r["kept"]) or os.path.exists(
            r["kept"] + ".calls"), "its timeline is kept", r)


def elsewhere():
    """What cannot be is said with its name, and what it is instead."""
    with Home() as h, Proxy(h, cwd=WORK) as p:
        p.initialize()
        with open(form(), "rb") as f:
            image = bytearray(f.read())
        image[18:20] = b"\x16\0"   # EM_S390
        for name, content, kind in (
                ("none", b"", "empty, not an ELF"),
                ("words", b"hello\n", "not an ELF"),
                ("s390", bytes(image), "ELF for s390, this host runs ")):
            path = os.path.join(h.dir, name)
            with open(path, "wb") as f:
                f.write(content)
            os.chmod(path, 0o755)
            e = p.refused("debug_launch", command=path, projectRoot="/")
            ok(f"cannot launch {path} ({kind}" in e["message"],
               f"{name}: which file, and of what kind", e)
        e = p.refused("debug_launch", command=h.dir, projectRoot="/")
        ok(h.dir in e["message"] and "directory" in e["message"],
           "a directory", e)
        for root, absolute in (("/no/such", "/no/such"),
                               ("not-here", WORK + "/not-here")):
            r = p.done("debug_launch", command=form(), args=["3000"],
                       projectRoot=root)
            ok(f"projectRoot {absolute} is no directory of this host" in
               " ".join(r["warnings"]), "a root that is not here", r)
            s = r["sessionId"]
            r = p.done("debug_trace", sessionId=s, add=["@usercode"])
            ok(r["pending"] == ["@usercode"] and absolute in
               " ".join(r["warnings"]), "where it matters, too", r)
            r = p.done("debug_trace", sessionId=s, projectRoot=WORK,
                       remove=["@usercode"])
            ok("warnings" not in r or absolute not in " ".join(r["warnings"]),
               "no longer when it is corrected", r)
            p.done("debug_stop", sessionId=s)


# --- the web -------------------------------------------------------------

def by_web():
    with Daemon("user", web=True) as d:
        token = d.client().cmd("TOKEN create")["token"]
        w = Web(d, token)

        def post(message, **headers):
            return w.post("/mcp", message, headers={
                k.replace("_", "-"): v for k, v in headers.items()})

        def message(method, **params):
            return {"jsonrpc": "2.0", "id": 1, "method": method,
                    "params": params}

        a = post(message("initialize", protocolVersion="2025-06-18"))
        eq((a.status, a.json["result"]["protocolVersion"]),
           (200, "2025-06-18"), "initialize")
        ok(a.headers["Content-Type"].startswith("application/json"),
           "is answered as JSON", a)
        a = post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        eq((a.status, a.body), (202, b""), "a notification")
        a = post(message("server/discover", _meta=META),
                 MCP_Protocol_Version=MODERN, Mcp_Method="server/discover")
        eq(a.json["result"]["supportedVersions"], VERSIONS[::-1], "discover")
        a = post(message("tools/list"), MCP_Protocol_Version="1999-01-01")
        eq((a.status, a.json["error"]["code"]), (400, -32022),
           "a revision that there is not")
        a = post(message("tools/call", name="debug_launch", arguments={
            "command": "x", "projectRoot": "/"}))
        ok("absolute" in a.json["result"]["content"][0]["text"],
           "there are no directories of the client's", a)
        a = post(message("tools/call", name="debug_launch", arguments={
            "command": form(), "args": ["3000"], "projectRoot": WORK}))
        s = json.loads(a.json["result"]["content"][0]["text"])["sessionId"]
        pretty = json.dumps(message("tools/call", name="debug_trace",
                                    arguments={"sessionId": s, "add": [
                                        "submit"]}), indent=2).encode()
        a = w.post("/mcp", pretty, headers={
            "Content-Type": "application/json",
            "MCP-Protocol-Version": "2025-11-25"})
        eq(a.json["result"]["structuredContent"]["hookedFunctions"], 1,
           "JSON on many lines")
        a = post(message("tools/call", name="debug_stop",
                         arguments={"sessionId": s}))
        ok(not a.json["result"]["isError"], "stop", a)
        for method in ("GET", "DELETE", "PUT"):
            a = w.ask(method, "/mcp")
            eq((a.status, a.headers["Allow"]), (405, "POST"), method)
        eq(w.post("/mcp", b"{}", headers={"Content-Type": "text/plain"})
           .status, 415, "what is no JSON")
        eq(post(message("ping", x="y" * 70000)).status, 413, "too much")
        w.close()
        eq(Web(d).post("/mcp", message("ping")).status, 401, "nobody")
        r = Raw(d, b"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\n"
                b"Authorization: Bearer " + token.encode() + b"\r\n"
                b"Content-Type: application/json\r\nConnection: close\r\n"
                b"Transfer-Encoding: chunked\r\n\r\n" + b"".join(
                    b"%x\r\n%s\r\n" % (len(piece), piece) for piece in (
                        b'{"jsonrpc":"2', b'.0","id":1,"me',
                        b'thod":"tools/list"}', b"")))
        eq(statuses(r.rest()), [200], "in pieces")


run_tests(on_demand, bad_lines, batches, floods, not_used_so, no_daemon,
          restarted, cancelled, scenarios, waiting_patterns, large_environment,
          stays_for_its_client, other_sessions, elsewhere, by_web)
