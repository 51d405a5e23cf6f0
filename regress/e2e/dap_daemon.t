#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# Adapters of ill will below a real daemon: each costs its own session, within
# the limits of the configuration, and leaves no process.
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from dl import (Client, Prober, eq, helper, in_modes, ok, run_tests,
                stat_of, wait_for)

# adapters are the users' processes, who may not reach the sources
WORK = tempfile.TemporaryDirectory(prefix="dl-said-")
SAID = os.path.join(WORK.name, "dap")
shutil.copytree(os.path.join(os.path.dirname(HERE), "dap"), SAID)
subprocess.run(["chmod", "-R", "a+rX", WORK.name], check=True)
MOCK = helper("mock_adapter")
# what it does, and what whoever starts it or lets it run is told
BAD = {
    "hang_initialize": ("start", "timeout"),
    "refused_launch": ("start", "adapter_failed"),
    "bad_break": ("start", "adapter_exited"),
    "abort": ("continue", "adapter_exited"),
    "eof": ("continue", "adapter_exited"),
    "framing_words": ("continue", "adapter_exited"),
    "framing_long": ("continue", "adapter_exited"),
    "huge": ("next", "adapter_failed"),
    "flood": ("continue", "stopped"),
    "hang": ("pause", "not an error"),
    "deaf": ("print", "timeout"),
}
# so long that an answer of 16 MiB comes in time on any machine
CONF = "timeout dap-initialize 1\ntimeout dap-request 12\n" + "".join(
    f'adapter {name.replace("_", "-")} command "{MOCK} {SAID}/{name}.conv '
    'lldb-dap"\n' for name in [*BAD, "order22", "endless", "two_streams",
                                  "three_pieces", "last_words"])


class Local(Client):
    def __init__(self, d):
        super().__init__(d.dir + "/run/debuglantern.sock", uid=d.uid)

    def put(self, **args):
        self.send(json.dumps({"id": 1, "command": "debugger",
                              "args": args}).encode() + b"\n")

    def get(self):
        r = json.loads(self.recv_line())
        return r["result"] if r["success"] else r["error"]

    def ask(self, **args):
        self.put(**args)
        return self.get()

    def start(self, name, adapter):
        return self.ask(start=True, name=name, request={
            "command": "start", "args": {
                "program": "/bin/true", "cwd": "/", "stop_on_entry": True,
                "adapter": adapter.replace("_", "-")}})

    def do(self, name, command, **args):
        return self.ask(session=name, request={"command": command,
                                               "args": args})


def adapters(d):
    return [p for p in d.processes()
            if (stat_of(p) or ("",))[0] == "mock_adapter"]


def word(r):
    return r.get("code") or r.get("state")


def trouble(j, name):
    command, want = BAD[name]
    r = j.start("bad", name)
    if command == "start":
        eq(word(r), want, f"{name}: who starts it is told")
        return
    eq(word(r), "stopped", f"{name}: it starts")
    r = j.do("bad", command, expression="x", timeout_s=30) \
        if command == "print" else j.do("bad", command)
    if want == "not an error":
        ok("state" in r, f"{name}: {command} is answered", r)
    else:
        eq(word(r), want, f"{name}: {command} ends so")
    r = j.do("bad", "stop")
    ok("words" in r, f"{name}: it can be ended", r)


def ill_will(d):
    c, j, good = d.client(), Local(d), Local(d)
    eq(good.start("good", "order22")["state"], "stopped", "a good one")
    mine = adapters(d)
    eq(len(mine), 1, "with its adapter")
    for name in BAD:
        with Prober(d, d.uid) as p:
            trouble(j, name)
            p.check(f"{name}: nobody else waits", 5)
        ok(wait_for(lambda: adapters(d) == mine, 20),
           f"{name}: no process is left", adapters(d))
        ok(wait_for(lambda: [s["name"] for s in c.cmd("LIST")] == ["good"],
                    20), f"{name}: nor a session", c.cmd("LIST"))
        r = good.do("good", "status")
        eq((r["state"], r["adapter"]["alive"]), ("stopped", True),
           f"{name}: another session has not noticed")
    # and so it goes on: the same name, another adapter
    eq(j.start("bad", "order22")["state"], "stopped", "the next start works")
    for name in ("bad", "good"):
        ok("words" in j.do(name, "stop"), "stop")
    ok(wait_for(lambda: adapters(d) == [], 20), "nothing is left")


def limits_of_the_configuration(d):
    j = Local(d)
    began = time.monotonic()
    r = j.start("first", "hang_initialize")
    ok("within 1 s" in r["message"] and time.monotonic() - began < 9,
       "dap-initialize", r)
    eq(word(j.start("second", "deaf")), "stopped", "another one")
    r = j.do("second", "print", expression="x")
    ok("within 12 s" in r["message"], "dap-request", r)
    j.do("second", "stop")
    eq(word(j.start("third", "endless")), "stopped", "a third one")
    began = time.monotonic()
    r = j.do("third", "next")
    took = time.monotonic() - began
    ok(word(r) == "running" and 2.9 < took < 60, "await", (r, took))
    j.do("third", "stop")
    eq(word(j.start("fourth", "two_streams")), "stopped", "a fourth one")
    r = j.do("fourth", "continue", max=262144)
    ok(r["output_lost"] > 0, "what a ring of output-bytes has no room for",
       r.get("output_lost"))
    o = d.client().cmd("OUTPUT fourth")
    ok(o["total"] > 65536 and len(d.client().output("fourth")) <= 65536,
       "output-bytes", (o["total"], o["offset"]))
    j.do("fourth", "stop")
    eq(word(j.start("fifth", "three_pieces")), "stopped", "a fifth one")
    r = j.do("fifth", "continue", max=262144)
    ok(len(r["output"]) == 1 and any(
        c["what"] == "output" for c in r["truncated"]),
       "output-events", (r["output"], r.get("truncated")))
    j.do("fifth", "stop")


def named(d, comm):
    return [p for p in d.processes() if (stat_of(p) or ("",))[0] == comm]


def last_words(d):
    """What the old one says when the new one was asked for is not its."""
    j, k = Local(d), Local(d)
    eq(word(j.start("t", "last_words")), "stopped", "it starts")
    eq(word(j.do("t", "continue", wait=False)), "running", "and runs")
    adapter, debugger = adapters(d)[0], named(d, "debugger")[0]
    os.kill(adapter, signal.SIGSTOP)
    k.put(session="t", request={"command": "pause", "args": {
        "wait": False}})
    time.sleep(.5)
    os.kill(debugger, signal.SIGSTOP)
    j.put(session="t", request={"command": "restart", "args": {
        "timeout_s": 20}})
    time.sleep(.5)
    os.kill(adapter, signal.SIGCONT)
    time.sleep(.5)
    os.kill(debugger, signal.SIGCONT)
    r = j.get()
    eq((word(r), r.get("reason")), ("stopped", "entry"),
       "the new one has not ended with the old one")
    k.get()
    eq(word(j.do("t", "status")), "stopped", "nor later")
    j.do("t", "stop")


def ended_by_another(d):
    """Whoever waits is answered, although the session goes at once."""
    j, k = Local(d), Local(d)
    j.start("t", "last_words")
    j.do("t", "continue", wait=False)
    k.put(session="t", request={"command": "await", "args": {}})
    time.sleep(.5)
    ok("words" in j.do("t", "stop"), "one ends it")
    r = k.get()
    ok(word(r) == "terminated" and "`debugger stop`" in r["words"],
       "the other is told", r)


def a_refusal_leaves_a_start_alone(d):
    """What another client asks for too early does not end what starts."""
    j, k, c = Local(d), Local(d), d.client()
    j.put(start=True, name="t", request={"command": "start", "args": {
        "program": "/bin/true", "cwd": "/", "adapter": "hang-initialize"}})
    wait_for(lambda: [s["name"] for s in c.cmd("LIST")] == ["t"])
    r = k.do("t", "next")
    eq(word(r), "not_stopped", "it is too early")
    r = j.get()
    ok(word(r) == "timeout" and "within 1 s" in r["message"],
       "the start ends by itself", r)


def limit_of(pid, name):
    with open(f"/proc/{pid}/limits") as f:
        return next(line.split()[-3:-1] for line in f if name in line)


def no_cores(d):
    """Some adapters abort at each end: that fills no disk."""
    j = Local(d)
    j.start("t", "order22")
    eq([limit_of(p, "Max core file size") for p in adapters(d)],
       [["0", "0"]], "an adapter leaves no core")
    j.do("t", "stop")


def beside_gdbserver(d):
    """lldb cannot speak with GNU's gdbserver, nor are both attached."""
    c, j = d.client(), Local(d)
    sid = c.upload(helper("sleeper"))["id"]
    c.cmd("START " + sid)
    ok("port" in json.dumps(c.cmd("DEBUG " + sid)), "gdbserver is there")
    r = j.ask(start=True, session=sid, request={
        "command": "attach", "args": {"adapter": "order22"}})
    eq(r.get("code"), "already_debugging", "no adapter beside it")
    c.cmd("KILL " + sid)


LIMITS = ("timeout await 3\ndebugger output-bytes 64K\n"
          "debugger output-events 1\n")
run_tests(in_modes(ill_will, last_words, ended_by_another, no_cores,
                   a_refusal_leaves_a_start_alone,
                   beside_gdbserver, conf=CONF),
          in_modes(limits_of_the_configuration, conf=CONF + LIMITS))
