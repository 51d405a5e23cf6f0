#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Every command's exact answer: keys, their order, no blanks between tokens,
# and the error codes that belong to it.
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (Daemon, alone, eq, helper, in_modes, ok, read_helper,
                run_tests, tar_of)

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-"
                  r"[0-9a-f]{12}$")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")
HEAD = ["id", "state", "pid", "debug_port"]
TAIL = ["name", "size", "exit_code", "signal", "started_at", "exited_at",
        "owner", "tty", "cols", "rows", "command", "sandbox", "network",
        "limits", "debugger", "tracer", "created_at"]
BUNDLE = ["bundle", "exec_path", "bundle_dir"]
NOWHERE = "01234567-89ab-4cde-8f01-23456789abcd"


def raw(c, line):
    """The answer parsed, after a look at the bytes of it."""
    c.send(line + "\n")
    return checked(c.recv_line().decode(), line)


def checked(text, what):
    value = json.loads(text)
    # dumps keeps the order of keys: any blank or doubled key would differ
    compact = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if compact != text:
        eq(text, compact, f"{what}: no blanks between tokens")
    return value


def is_error(r, code, name):
    ok(list(r) == ["ok", "error_code", "message", "time"] and
       r["ok"] is False and r["error_code"] == code and r["message"] and
       TIME.match(r["time"]), f"{name}: {code}", r)


def is_session(s, keys, name):
    eq(list(s), keys, f"{name}: a session object, keys in order")


def upload_single(d):
    c = d.client()
    data = read_helper("hello")
    c.send(b"UPLOAD %d\n" % len(data) + data)
    r = checked(c.recv_line().decode(), "UPLOAD")
    eq(list(r), ["id", "state", "size"], "UPLOAD: keys")
    ok(UUID.match(r["id"]), "UPLOAD: a full lower-case version 4 UUID", r)
    eq((r["state"], r["size"]), ("LOADED", len(data)),
       "UPLOAD: LOADED and its size")


def upload_bundle(d):
    c = d.client()
    data = tar_of(("app/run", helper("hello")))
    c.send(b"UPLOAD %d app/run\n" % len(data) + data)
    r = checked(c.recv_line().decode(), "UPLOAD bundle")
    eq(list(r), ["id", "state", "size", "bundle", "exec_path"],
       "UPLOAD of a bundle: keys")
    eq((r["state"], r["size"], r["bundle"], r["exec_path"]),
       ("LOADED", len(data), True, "app/run"), "UPLOAD of a bundle: values")
    s = raw(c, "STATUS " + r["id"])
    is_session(s, HEAD + BUNDLE + TAIL, "STATUS of a bundle")
    eq((s["bundle"], s["exec_path"]), (True, "app/run"),
       "STATUS of a bundle: bundle and exec_path")
    ok(s["bundle_dir"].startswith("/"), "STATUS of a bundle: bundle_dir", s)
    r = raw(c, "START " + r["id"])
    is_session(r, HEAD + BUNDLE + TAIL, "START of a bundle")


def session_loaded(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    s = raw(c, "STATUS " + sid)
    is_session(s, HEAD + TAIL, "STATUS of a loaded session")
    eq([s[k] for k in ("state", "pid", "debug_port", "name", "exit_code",
                       "signal", "started_at", "exited_at", "tty",
                       "cols", "rows", "command")],
       ["LOADED"] + [None] * 7 + [False] + [None] * 3,
       "STATUS: null where there is none")
    eq([s[k] for k in ("sandbox", "network", "limits")], [None] * 3,
       "STATUS: nothing held for a run before the first")
    ok(TIME.match(s["created_at"]), "STATUS: when it was made", s)
    raw(c, f"LIMITS {sid} nofile=77")
    s = raw(c, f"START {sid} --network none")
    eq((s["sandbox"], s["network"], s["limits"]["nofile"]),
       ("namespaces", "none", 77), "START: what holds for the run")
    ok(isinstance(s["owner"], str) and s["owner"], "STATUS: an owner", s)


def session_with_args_and_env(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    s = raw(c, f"ARGS {sid} --port 8080  -v")
    is_session(s, HEAD + ["args"] + TAIL, "ARGS")
    eq(s["args"], "--port 8080  -v", "ARGS: kept as typed")
    s = raw(c, f"ENV {sid} ZED=1 2  3 ")
    is_session(s, HEAD + ["args", "env"] + TAIL, "ENV")
    eq(s["env"], {"ZED": "1 2  3 "}, "ENV: the value is the rest of the line")
    raw(c, f"ENV {sid} ABC=")
    raw(c, f"ENV {sid} MID=x=y")
    r = raw(c, "ENVLIST " + sid)
    eq(list(r.items()), [("ABC", ""), ("MID", "x=y"), ("ZED", "1 2  3 ")],
       "ENVLIST: sorted by key, nothing else")
    raw(c, f"ENV {sid} MID=new")
    eq(raw(c, "ENVLIST " + sid)["MID"], "new", "ENV again: replaced")
    s = raw(c, f"ENVDEL {sid} MID")
    is_session(s, HEAD + ["args", "env"] + TAIL, "ENVDEL")
    s = raw(c, f"ENVDEL {sid} MISSING")
    is_session(s, HEAD + ["args", "env"] + TAIL, "ENVDEL of a missing key")
    raw(c, f"ENVDEL {sid} ABC")
    s = raw(c, f"ENVDEL {sid} ZED")
    is_session(s, HEAD + ["args"] + TAIL, "env is left out when empty")
    s = raw(c, f"ARGS {sid}")
    is_session(s, HEAD + TAIL, "bare ARGS clears, args is left out")
    eq(raw(c, "ENVLIST " + sid), {}, "ENVLIST without variables")
    for bad in ("1A=x", "=x", "A-B=x", "NOEQUALS", "A B=x"):
        is_error(raw(c, f"ENV {sid} {bad}"), "invalid_env", f"ENV {bad}")


def args_with_quotes(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    for typed, want in ((r'a "b c" d', "[a] [b c] [d]"),
                        (r"'x  y' z\ w", "[x  y] [z w]"),
                        (r'"say \"hi\"" ""', '[say "hi"] []'),
                        (r"'$HOME' `id`;ls|cat", "[$HOME] [`id`;ls|cat]"),
                        (r"a'b'c", "[abc]")):
        r = raw(c, f"ARGS {sid} {typed}")
        eq(r.get("args"), typed, f"ARGS {typed}: kept as typed")
        raw(c, f"START {sid}")
        raw(c, f"WAIT {sid} 20")
        eq(c.output(sid).decode(), want + "\n", f"ARGS {typed}: split")
    before = raw(c, "STATUS " + sid)["args"]
    for bad in ('a "b', "it's", "end\\"):
        is_error(raw(c, f"ARGS {sid} {bad}"), "invalid_args", f"ARGS {bad}")
    eq(raw(c, "STATUS " + sid)["args"], before,
       "refused ARGS leave the old ones")


def start_and_end(d):
    c = d.client()
    sid = c.upload(helper("sleeper"))["id"]
    s = raw(c, "START " + sid)
    is_session(s, HEAD + TAIL, "START")
    ok(s["state"] == "RUNNING" and isinstance(s["pid"], int) and
       s["debug_port"] is None and TIME.match(s["started_at"]) and
       s["exited_at"] is None, "START: RUNNING, pid, started_at", s)
    is_error(raw(c, "START " + sid), "already_running", "START of a running")
    s = raw(c, "STOP " + sid)
    is_session(s, HEAD + TAIL, "STOP")
    eq((s["state"], s["pid"], s["exit_code"], s["signal"]),
       ("STOPPED", None, None, "SIGTERM"), "STOP: STOPPED by SIGTERM")
    ok(TIME.match(s["exited_at"]), "STOP: exited_at", s)
    raw(c, "START " + sid)
    s = raw(c, "KILL " + sid)
    is_session(s, HEAD + TAIL, "KILL")
    eq((s["state"], s["pid"], s["signal"]), ("STOPPED", None, "SIGKILL"),
       "KILL: STOPPED by SIGKILL")
    for verb in ("STOP", "KILL", "DEBUG"):
        is_error(raw(c, f"{verb} {sid}"), "not_running",
                 f"{verb} of a stopped session")
    is_error(raw(c, f"SIGNAL {sid} TERM"), "not_running",
             "SIGNAL of a stopped session")


def debug_shape(d):
    c = d.client()
    sid = c.upload(helper("sleeper"))["id"]
    raw(c, "START " + sid)
    s = raw(c, "DEBUG " + sid)
    is_session(s, HEAD + TAIL, "DEBUG")
    ok(s["state"] == "DEBUGGING" and isinstance(s["debug_port"], int) and
       isinstance(s["pid"], int), "DEBUG: DEBUGGING, debug_port, pid", s)
    raw(c, "KILL " + sid)


def list_shape(d):
    c = d.client()
    c.send("LIST\n")
    eq(c.recv_line(), b"[]", "LIST without sessions")
    ids = [c.upload(helper("hello"))["id"] for _ in range(3)]
    r = raw(c, "LIST")
    eq(sorted(s["id"] for s in r), sorted(ids), "LIST: every session once")
    for s in r:
        is_session(s, HEAD + TAIL, "LIST")
        eq(s, raw(c, "STATUS " + s["id"]), "LIST: what STATUS answers")


def delete_shape(d):
    c = d.client()
    sid = c.upload(helper("sleeper"))["id"]
    raw(c, "START " + sid)
    is_error(raw(c, "DELETE " + sid), "session_running",
             "DELETE of a running session")
    raw(c, "KILL " + sid)
    r = raw(c, "DELETE " + sid)
    eq(list(r.items()), [("id", sid), ("state", "DELETED")], "DELETE")
    is_error(raw(c, "STATUS " + sid), "not_found", "STATUS after DELETE")
    is_error(raw(c, "DELETE " + sid), "not_found", "DELETE again")


def output_shape(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    r = raw(c, "OUTPUT " + sid)
    eq(list(r.items()), [("id", sid), ("output", ""), ("offset", 0),
                         ("total", 0)], "OUTPUT before the first start")
    raw(c, "START " + sid)
    raw(c, f"WAIT {sid} 20")
    r = raw(c, "OUTPUT " + sid)
    eq(list(r.items()), [("id", sid), ("output", "Hello world\n"),
                         ("offset", 0), ("total", 12)], "OUTPUT")
    r = raw(c, f"OUTPUT {sid} 6")
    eq(list(r.items()), [("id", sid), ("output", "world\n"),
                         ("offset", 6), ("total", 12)], "OUTPUT with offset")
    r = raw(c, f"OUTPUT {sid} 12")
    eq((r["output"], r["offset"], r["total"]), ("", 12, 12),
       "OUTPUT at the end")
    r = raw(c, f"OUTPUT {sid} 0 base64")
    eq((list(r)[:4], r["output"], r["total"]),
       (["id", "output", "offset", "total"], "SGVsbG8gd29ybGQK", 12),
       "OUTPUT base64")


def deps_shape(d):
    r = raw(d.client(), "DEPS")
    eq(list(r), ["deps", "all_satisfied"], "DEPS: keys")
    ok(all(list(x)[:4] == ["name", "description", "available", "required"]
           and isinstance(x["available"], bool) for x in r["deps"]),
       "DEPS: rows", r)
    names = [x["name"] for x in r["deps"]]
    eq([n for n in ("gdbserver", "tar", "gzip") if n not in names], [],
       "DEPS: gdbserver, tar and gzip")
    eq(r["all_satisfied"], all(x["available"] for x in r["deps"]
                               if x["required"]), "DEPS: all_satisfied")


def activity_shape(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    raw(c, "START " + sid)
    raw(c, f"WAIT {sid} 20")
    r = raw(c, "ACTIVITY")
    ok(isinstance(r, list) and r and
       all(list(x) == ["time", "message"] and TIME.match(x["time"])
           for x in r), "ACTIVITY: [{time,message}]", r)


def every_missing_session(d):
    c = d.client()
    for line in ("START {}", "START {} --debug", "STOP {}", "KILL {}",
                 "DEBUG {}", "STATUS {}", "DELETE {}", "OUTPUT {}",
                 "OUTPUT {} 5", "ARGS {} a", "ENV {} A=b", "ENVDEL {} A",
                 "ENVLIST {}", "WAIT {} 1", "SIGNAL {} TERM", "NAME {} x",
                 "LIMITS {} cpu=1", "FOLLOW {}", "INPUT {} eof"):
        for who in (NOWHERE, "no-such-label"):
            is_error(raw(c, line.format(who)), "not_found",
                     line.format(who))


def prefixes_and_labels(d):
    c = d.client()
    sids = [c.upload(helper("hello"))["id"] for _ in range(20)]
    sid = sids[0]
    eq(raw(c, "STATUS " + sid[:8]).get("id"), sid,
       "the first 8 digits are enough, the full id is answered")
    eq(raw(c, "STATUS " + sid[:13]).get("id"), sid, "or any longer prefix")
    r = raw(c, f"NAME {sid} my.label-1")
    is_session(r, HEAD + TAIL, "NAME")
    eq(r["name"], "my.label-1", "NAME: in the session object")
    eq(raw(c, "STATUS my.label-1").get("id"), sid, "a label works as an id")
    eq(raw(c, "ENVLIST my.label-1"), {}, "for every command")
    is_error(raw(c, f"NAME {sids[1]} my.label-1"), "invalid_name",
             "NAME: a label in use")
    for bad in ("a" * 65, "a/b", "a\"b", sids[2][:8]):
        is_error(raw(c, f"NAME {sids[1]} {bad}"), "invalid_name",
                 f"NAME {bad[:12]}")
    eq(raw(c, f"NAME {sid}")["name"], None, "bare NAME clears")
    is_error(raw(c, "STATUS my.label-1"), "not_found", "a cleared label")


def ambiguous_prefix(mode):
    with Daemon(mode) as d:
        c = d.client()
        heads = {}
        # of 17 ids two begin with the same digit
        for _ in range(17):
            sid = c.upload(read_helper("hello"))["id"]
            heads.setdefault(sid[:1], []).append(sid)
        for head, sids in heads.items():
            if len(sids) > 1:
                break
        is_error(raw(c, "STATUS " + head), "ambiguous_id", "a common prefix")
        is_error(raw(c, "DELETE " + head), "ambiguous_id", "a common prefix")
        n = next(i for i in range(36) if sids[0][i] != sids[1][i]) + 1
        if [s[:n] for s in sids].count(sids[0][:n]) == 1:
            eq(raw(c, "STATUS " + sids[0][:n]).get("id"), sids[0],
               "one more digit tells them apart")


def unknown_and_wrong(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    for line in ("NOPE", "list", "Status " + sid, "LISTX", "é"):
        is_error(raw(c, line), "unknown_command", repr(line))
    for line in ("START", "STATUS", "STOP", "ENV " + sid, "OUTPUT",
                 "LIST x", f"STATUS {sid} x", f"OUTPUT {sid} 1 base32",
                 f"SIGNAL {sid}", f"LIMITS {sid} cpu", f"WAIT {sid} x",
                 f"START {sid} --nope", f"INPUT {sid} -1"):
        # what a payload might follow closes the connection
        r = raw(d.client(), line)
        ok(r.get("ok") is False and r["error_code"] != "unknown_command",
           f"{line!r}: refused", r)
    eq(raw(c, "STATUS " + sid)["state"], "LOADED", "and nothing has started")


def carriage_return_and_blanks(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    eq(raw(c, f"STATUS {sid}\r").get("id"), sid, "a trailing \\r is stripped")
    eq(raw(c, f"  STATUS \t {sid}  ").get("id"), sid,
       "words are split on white space")


def version_and_help(d):
    c = d.client()
    v = raw(c, "VERSION")
    ok("version" in v and "extensions" in v, "VERSION", v)
    eq([x for x in ("FOLLOW", "WAIT", "SIGNAL", "INPUT", "NAME", "LIMITS",
                    "VERSION", "HELP") if x not in str(v["extensions"])], [],
       "VERSION announces every extension")
    ok("base64" in str(v["extensions"]), "VERSION announces base64", v)
    h = raw(c, "HELP")
    eq([x for x in ("UPLOAD", "START", "ARGS", "ENV", "ENVDEL", "ENVLIST",
                    "STOP", "KILL", "DEBUG", "LIST", "STATUS", "DELETE",
                    "OUTPUT", "DEPS", "SYSROOT", "ACTIVITY", "FOLLOW")
        if x not in json.dumps(h)], [], "HELP names every command")


def text_in_answers_is_escaped(d):
    """A value that looks like markup or JSON stays text."""
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    evil = "<script>alert(\"1\")</script>\\\"},{\"id\":\"x"
    c.send(f"ENV {sid} EVIL={evil}\n")
    s = checked(c.recv_line().decode(), "ENV")
    eq(s["env"]["EVIL"], evil, "a hostile ENV value comes back as text")
    c.send(b"ENV " + sid.encode() + b" BYTES=\xff\xfe\n")
    r = json.loads(c.recv_line().decode())
    ok(r.get("ok") is False or r["env"]["BYTES"] == "\ufffd\ufffd",
       "bytes that are not UTF-8 do not break the JSON", r)


run_tests(in_modes(
    upload_single, upload_bundle, session_loaded, session_with_args_and_env,
    args_with_quotes, start_and_end, debug_shape, list_shape, delete_shape,
    output_shape, deps_shape, activity_shape, every_missing_session,
    prefixes_and_labels, unknown_and_wrong, carriage_return_and_blanks,
    version_and_help, text_in_answers_is_escaped), alone(ambiguous_prefix))
