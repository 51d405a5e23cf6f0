#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What the daemon tells of itself and of what was done: ACTIVITY, the audit
# log, DEPS, VERSION and HELP.
import glob
import json
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (Daemon, Prober, alone, eq, helper, in_modes, ok, run_tests,
                tar_of, wait_for)

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$")


def messages(c):
    return [x["message"] for x in c.cmd("ACTIVITY")]


def who_what_when_result(d):
    c = d.client()
    sid, s = c.start(helper("sleeper"), until=b"ready")
    c.cmd("DELETE " + sid)
    c.cmd("STOP " + sid)
    c.cmd(f"ENV {sid} SECRET=do-not-tell")
    c.cmd("DELETE " + sid)
    rows = c.cmd("ACTIVITY")
    mine = [x for x in rows if sid in x["message"]]
    who = s["owner"]
    for verb, result in (("UPLOAD", "ok"), ("START", "ok"),
                         ("DELETE", "session_running"), ("STOP", "ok"),
                         ("DELETE", "ok")):
        ok(any(x["message"].startswith(who) and f" {verb} " in x["message"]
               and result in x["message"] for x in mine),
           f"ACTIVITY: {who} {verb} <id>: {result}", mine)
    ok(all(TIME.match(x["time"]) for x in rows), "ACTIVITY: when, in UTC")
    order = [next(i for i, x in enumerate(mine) if f" {v} " in x["message"])
             for v in ("UPLOAD", "START", "STOP")]
    eq(order, sorted(order), "ACTIVITY: oldest first")
    ok("do-not-tell" not in json.dumps(rows) + d.log(),
       "values of variables are told to nobody")


def refusals_are_in_it(d):
    c = d.client()
    c.upload(b"no ELF at all, but long enough" * 10)
    c.upload(b"no archive", "prog")
    text = "\n".join(messages(c))
    ok("invalid_elf" in text, "ACTIVITY: a refused upload", text[-300:])
    ok("extract_failed" in text, "ACTIVITY: a refused bundle", text[-300:])


def ends_are_in_it(d):
    c = d.client()
    sid, _ = c.run(helper("crash"), "segv")
    ok(wait_for(lambda: any(sid in m and "SEGV" in m or
                            sid in m and "signal 11" in m
                            for m in messages(c))),
       "ACTIVITY: a program that ends by itself, and how", messages(c)[-3:])


def last_500(d):
    c = d.client()
    sid = c.upload(helper("hello"))["id"]
    c.send("".join(f"NAME {sid} label{i}\n" for i in range(700)))
    for _ in range(700):
        c.json()
    rows = c.cmd("ACTIVITY")
    eq(len(rows), 500, "ACTIVITY: the last 500")
    ok(all("UPLOAD" not in x["message"] for x in rows),
       "ACTIVITY: older ones are gone")


def audit_log(d):
    c = d.client()
    sid, _ = c.run(helper("hello"))
    for verb in ("UPLOAD", "START"):
        # written by another process, when the answer may be here already
        ok(wait_for(lambda v=verb: re.search(
            rf'user="\S+" door=tcp address="127.0.0.1:\d+" '
            rf'session={sid} action="{v}" result="ok"', d.log())),
           f"the audit log has {verb}")


def nothing_forges_a_line(d):
    """A label or a path does not make lines of its own in the log."""
    c = d.client()
    for text in (b"x\ry", b"\x1b[2Jx", b"x\x07"):
        d.client().send(b"UPLOAD 10 " + text + b"\n0123456789")
        d.client().send(b"STATUS " + text + b"\n")
    c.upload(tar_of(("a\x1b[31mb", b"y"), ("c\nroot UPLOAD: ok", b"y")),
             "prog")
    log = d.log()
    ok("\x1b" not in log and "\x07" not in log, "no control character gets "
       "into the log")
    ok(not re.search(r"^root UPLOAD", log, re.M), "no line is forged")
    c.send("ACTIVITY\n")
    ok(not any(b < 0x20 for b in c.recv_line()), "nor in ACTIVITY")


def deps(d):
    c = d.client()
    r = c.cmd("DEPS")
    rows = {x["name"]: x for x in r["deps"]}
    eq(rows["gdbserver"]["available"], True, "DEPS: gdbserver is there")
    for name in ("tar", "gzip"):
        ok(rows[name]["available"] and "built in" in
           rows[name]["description"], f"DEPS: {name} is built in",
           rows[name])
    names = " ".join(rows).lower()
    text = json.dumps(r).lower()
    for what in ("user", "landlock", "seccomp", "cgroup", "memfd", "yama"):
        ok(what in names or what in text, f"DEPS tells of {what}", names)
    have = set()
    for path in glob.glob(f"/sys/fs/cgroup/**/debuglantern/{d.proc.pid}/"
                          "sessions/cgroup.subtree_control", recursive=True):
        with open(path) as f:
            have |= set(f.read().split())
    eq(rows["cgroup-controllers"]["available"], {"memory", "pids"} <= have,
       "DEPS: whether memory and processes are limited as a whole")
    eq(r["all_satisfied"], True, "DEPS: this host has all that is required")
    ok(all(x.get("remedy") or x["available"] for x in r["deps"]),
       "DEPS: what lacks has its remedy",
       [x for x in r["deps"] if not x["available"]])
    with Prober(d) as others:
        c.send("DEPS\n" * 200)
        eq([c.json() == r for _ in range(200)], [True] * 200,
           "DEPS again and again: the same")
        others.check("DEPS: nobody else waits")


def mdns_state(d):
    v = d.client().cmd("VERSION")
    ok(v.get("mdns"), "VERSION tells what became of the announcement", v)
    roles = ["netproc", "spawner", "launcher", "idproc", "announcer", "logger"]
    roles += ["acctproc"] if d.mode == "system" else []
    eq(set(v["roles"]), set(roles), "VERSION: every role")
    eq((v["mode"], v["weakened"], v["warnings"]), (d.mode, [], []),
       "VERSION: the mode; nothing is weakened")


def help_lists_usage(d):
    h = d.client().cmd("HELP")
    names = {x["name"]: x for x in h["commands"]}
    ok(all(x["usage"].startswith(n) and x["description"]
           for n, x in names.items()), "HELP: usage and description", h)
    ok({"UPLOAD", "START", "LIST", "FOLLOW", "HELP"} <= set(names),
       "HELP: names", sorted(names))


WEAKER = ("weaken-userns", "weaken-seccomp", "weaken-chroot")


def weaker_isolation_is_told(mode):
    for key in WEAKER:
        with Daemon(mode, key + " yes\n") as d:
            c = d.client()
            eq(c.cmd("VERSION")["weakened"], [key],
               f"{key}: VERSION names what is weaker")
            ok(d.log().count(key) == 1, f"{key}: the log does, once", d.log())
            rows = [x for x in c.cmd("DEPS")["deps"]
                    if key in x["description"]]
            eq(len(rows), 1, f"{key}: DEPS does")
            sid, s = c.run(helper("hello"))
            eq(s["exit_code"], 0, f"{key}: and it works")


def warnings(mode):
    with Daemon(mode, "sandbox none\ncontrol yes\n") as d:
        w = d.client().cmd("VERSION")["warnings"]
        ok("sandbox none" in str(w) and "control yes" in str(w),
           "VERSION warns of what the configuration gives up", w)


run_tests(
    in_modes(
        who_what_when_result, refusals_are_in_it, ends_are_in_it, last_500,
        audit_log, nothing_forges_a_line, deps, mdns_state,
        help_lists_usage),
    alone(weaker_isolation_is_told), alone(warnings))
