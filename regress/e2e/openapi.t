#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The description of the HTTP interface against the daemon that serves it:
# every route is there, takes what it says, and is open to whom it should be.
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (ALICE, AS_ROOT, BOB, alone, Daemon, eq, ok, passwd_wrapper,
                run_tests, token_of)
from web import Web

CHANGES = ("post", "put", "delete")
# answers without end
STREAMS = ("/api/v1/events", "/api/v1/sessions/{session}/stream")
# packs half of /usr
SLOW = ("/api/v1/sysroot",)
SAMPLES = {"string": "x", "integer": 1, "boolean": False, "array": ["x"],
           "object": {"X": "y"}}


def document(d):
    a = Web(d).get("/api/v1/openapi.json")
    eq((a.status, a.headers["Content-Type"]), (200, "application/json"),
       "the description is there for everybody")
    return json.loads(a.body, object_pairs_hook=no_twins)


def no_twins(pairs):
    names = [k for k, _ in pairs]
    assert len(names) == len(set(names)), f"a name comes twice: {names}"
    return dict(pairs)


def operations(doc):
    for path, methods in doc["paths"].items():
        for method, op in methods.items():
            yield path, method, op


def sample(schema):
    kind = schema.get("type", "string")
    return SAMPLES[kind[0] if isinstance(kind, list) else kind]


def filled(path, sid):
    return re.sub(r"{(\w+)}", lambda m: sid if m[1] == "session" else "X",
                  path)


def ask(w, path, method, op, sid):
    """The request that the description asks for, with arguments of no use."""
    content = op.get("requestBody", {}).get("content", {})
    body, headers = None, {}
    if "application/json" in content:
        s = content["application/json"]["schema"]
        # one limit at least, whichever
        body = {k: sample(s["properties"][k]) for k in s["required"] or
                list(s["properties"])[-1:] * path.endswith("/limits")}
    elif content:
        body, headers = b"x", {"Content-Type": "application/octet-stream"}
    query = "&".join(f"{p['name']}={sample(p['schema'])}"
                     for p in op["parameters"]
                     if p["in"] == "query" and (p["required"] or
                                                path.endswith("/wait")))
    return w.ask(method.upper(), filled(path, sid) + ("?" + query if query
                 else ""), body, headers)


def the_document(d):
    doc = document(d)
    eq(doc["openapi"], "3.1.0", "the version of OpenAPI")
    ids = [op["operationId"] for _, _, op in operations(doc)]
    eq(len(ids), len(set(ids)), "operations have names of their own")
    ok(len(ids) > 40, "there are many", len(ids))
    for path, method, op in operations(doc):
        parts = re.findall(r"{(\w+)}", path)
        eq([p["name"] for p in op["parameters"] if p["in"] == "path"], parts,
           f"{method} {path}: its parts are parameters")
        good = [c for c in op["responses"] if c != "default"]
        ok(len(good) == 1 and op["summary"], "what it answers, and a summary")
    wanted = {"/healthz", "/metrics", "/api/v1/sessions", "/api/v1/login",
              "/api/v1/events", "/api/v1/sessions/{session}/output",
              "/api/v1/sessions/{session}/env/{key}",
              "/api/v1/pty/sessions/{session}/attach"}
    eq(wanted - set(doc["paths"]), set(), "those that everybody uses")


def every_route(d):
    doc = document(d)
    owner = Web(d, token_of(d))
    nobody = Web(d)
    reader = Web(d, token_of(d, "read-only"))
    sid = owner.post("sessions", {"argv": ["/bin/cat"], "tty": True}).data["id"]
    key = owner.post(f"sessions/{sid}/keys", {}).data["token"]
    guest = Web(d, key)
    for path, method, op in operations(doc):
        what = f"{method} {path}: "
        free = op.get("security") == []
        if path in STREAMS:
            eq(ask(nobody, path, method, op, sid).status, 401,
               what + "nobody")
            eq(ask(guest, path, method, op, sid).status, 403, what + "a guest")
            continue
        if "101" in op["responses"]:
            eq(ask(owner, path, method, op, sid).status, 400,
               what + "no WebSocket")
            continue
        status = ask(nobody, path, method, op, sid).status
        ok(status < 500 and (free or status == 401), what + "nobody", status)
        guest = Web(d, key)
        a = ask(guest, path, method, op, sid)
        ok(free or a.status == 403, what + "a guest", a)
        if path in SLOW:
            continue
        changes = method in CHANGES and not free and \
            not path.endswith(("/logout", "/ticket", "/debugger",
                                "/tracer", "/mcp"))
        a = ask(reader, path, method, op, sid)
        ok((a.status == 403) if changes else a.status < 500,
           what + "who may only read", a)
        if not changes and not free:
            a = ask(owner, path, method, op, sid)
            ok(a.status not in (401, 404, 405) and a.status < 500,
               what + "its owner", a)
    eq(owner.get(f"sessions/{sid}").data["state"], "LOADED",
       "and nobody has changed anything")
    for path in doc["paths"]:
        methods = set(doc["paths"][path])
        for method in {"get", "post", "put", "delete", "patch"} - methods:
            a = owner.ask(method.upper(), filled(path, sid))
            allowed = {m.strip().lower() for m in
                       a.headers.get("Allow", "").split(",")}
            eq((a.status, allowed - {"head"}), (405, methods),
               f"{path} takes what it is said to, not {method}")


def no_more_arguments(d):
    doc = document(d)
    w = Web(d, token_of(d))
    sid = w.upload("/bin/true").data["id"]
    for path, method, op in operations(doc):
        if op.get("security") == [] or "101" in op["responses"] or \
                path in STREAMS or path in SLOW:
            continue
        a = w.ask(method.upper(), filled(path, sid) + "?no_such_thing=1")
        ok(a.status in (400, 403), f"{method} {path} takes no other argument",
           a)


def of_other_users(mode):
    with passwd_wrapper(ALICE, BOB) as wrapper, Daemon(
            mode, web=True, wrapper=wrapper,
            conf=f"admin user u{BOB}\n") as d:
        figures(d, Web(d, token_of(d, uid=ALICE)),
                Web(d, token_of(d, uid=BOB)))
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, web=True, wrapper=wrapper) as d:
        doc = document(d)
        owner = Web(d, token_of(d, uid=ALICE))
        other = Web(d, token_of(d, uid=BOB))
        sid = owner.upload("/bin/true").data["id"]
        for path, method, op in operations(doc):
            if "{session}" not in path or "101" in op["responses"]:
                continue
            a = ask(other, path, method, op, sid)
            ok(a.status == 404 and a.code == "not_found",
               f"{method} {path}: to others it is not there", a)
        eq(other.get("sessions").data, [], "nor is it in their list")


def figures(d, user, w):
    a = user.get("/metrics")
    eq((a.status, a.code), (403, "not_permitted"),
       "figures are for administrators")
    user.upload("/bin/true")
    a = w.get("/metrics")
    eq((a.status, a.headers["Content-Type"]),
       (200, "text/plain; version=0.0.4; charset=utf-8"), "figures")
    lines = w.get("/metrics").body.decode().splitlines()
    ok('debuglantern_sessions{state="LOADED"} 1' in lines, "sessions", lines)
    names = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    for line in lines:
        ok(line.startswith("# ") or re.fullmatch(
            r'[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.]+', line)
           and re.match(r"[a-z_]+", line)[0] in names, "a line of figures",
           line)


def in_both(mode):
    with Daemon(mode, web=True) as d:
        for t in (the_document, every_route, no_more_arguments):
            t(d)
            d.tidy()


if __name__ == "__main__":
    run_tests(alone(in_both), *([alone(of_other_users, modes=("system",))]
                                if AS_ROOT else []))
