#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What debug adapters do that a client must live with: each conversation of
# regress/dap is replayed by a mock adapter to the debugger's engine.
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dbgrig import CONVERSATIONS, Failed, Rig
from dl import alive, eq, helper, ok, run_tests, wait_for


RING = 1 << 20          # bytes of output that the engine keeps here


def tid(result):
    return result["thread"]["id"]


def text(result):
    return "".join(o.get("text", "") for o in result.get("output", []))


def ended(result):
    return result["state"] in ("exited", "terminated")


# --- what it says, and in which order ------------------------------------
def launch_orders():
    for name, reason in (("order19", "entry"), ("order22", "entry"),
                         ("order_debugpy", "entry"),
                         ("order_delve", "entry"), ("early_stop", "entry")):
        with Rig(name) as r:
            s = r.start()
            eq((s["state"], s["reason"]), ("stopped", reason),
               f"{name}: stopped at the entry")
            ok(s["epoch"] > 0 and s["schema"] == 1 and s["session"],
               f"{name}: with epoch, schema and session")


def gdb_launches_last():
    breaks = [{"file": "/tmp/x.c", "line": 9}]
    with Rig("order_gdb", kind="gdb") as r:
        s = r.start(args=["one"], env=["A=x=y"], breaks=breaks)
        eq((s["state"], s["reason"]), ("stopped", "entry"),
           "16: stopped at the entry")
        b = r.ask("breakpoint_list")["breakpoints"][0]
        eq((b["verified"], b["actual"]["line"] if "actual" in b else 9),
           (True, 9), "its breakpoint is there with the program")
        s = r.ask("continue")
        eq((s.get("reason"), s.get("breakpoints")),
           ("breakpoint", [b["id"]]), "and hit")
        s = r.ask("continue")
        eq((s["state"], s.get("exit")), ("terminated", None),
           "an end by a signal has no code")
    with Rig("order_gdb15", kind="gdb") as r:
        s = r.start(stop_on_entry=False, breaks=breaks)
        eq((s["state"], s["reason"]), ("stopped", "breakpoint"),
           "15: what was pending is verified later")
        eq(r.ask("continue").get("exit"), {"code": 4}, "and a code")


def pending_conditions():
    breaks = [{"function": "few", "pending": True, "condition": "i == 2"}]
    with Rig("pending_condition", kind="gdb") as r:
        s = r.start(stop_on_entry=False, breaks=breaks)
        eq((s["state"], s["reason"], s["breakpoints"]),
           ("stopped", "breakpoint", [1]), "a condition waits as well")
        eq(r.ask("breakpoint_list")["breakpoints"][0]["hits"], 1,
           "the call for which it does not hold is none")
        eq(r.ask("continue").get("exit"), {"code": 0}, "its end")


def a_log_point_counts_once():
    """Its place goes and comes back while its message is asked for."""
    with Rig("log_once") as r:
        r.start()
        r.ask("breakpoint_add", file="/src/main.c", line=9, log="at {i}")
        s = r.ask("continue")
        eq((s["state"], s["output"]),
           ("exited", [{"stream": "log", "text": "at 7\n"}]),
           "one line, and the program goes on")


def without_waiting():
    for name in ("order19", "order22", "order_debugpy", "order_delve"):
        with Rig(name) as r:
            s = r.start(wait=False)
            ok(s["state"] in ("running", "stopped"), f"{name}: started", s)
            eq(r.ask("await")["reason"], "entry", f"{name}: await sees it")


def later_capabilities():
    with Rig("order22") as r:
        r.start()
        eq(r.ask("next", granularity="instruction")["reason"], "step",
           "what was announced later may be used")
    with Rig("instruction19") as r:
        r.start()
        eq(r.ask("next", granularity="instruction")["reason"], "step",
           "what was not is done by the adapter's own command")


def order_on_the_wire():
    with Rig("wire_order") as r:
        epochs = [r.start()["epoch"]]
        for i in range(3):
            s = r.ask("next")
            eq((s["state"], s["reason"]), ("stopped", "step"), f"next {i}")
            epochs.append(s["epoch"])
        eq(r.ask("status")["state"], "stopped", "a late reply is no news")
        ok(epochs == sorted(set(epochs)), "each stop has an epoch of its own")


def one_stop_told_three_times():
    with Rig("three_stops") as r:
        s = r.start(stop_on_entry=False)
        eq(tid(s), 2, "what to look at is said by the adapter")
        again = r.ask("await")
        eq(again["epoch"], s["epoch"], "it is one stop")


def reasons():
    with Rig("reasons") as r:
        r.start()
        go = r.ask("continue", wait=False)
        eq(go["state"], "running", "it runs")
        s = r.ask("pause")
        eq((s["reason"], s["raw_reason"]), ("pause", "exception"),
           "SIGSTOP that we asked for is a pause")
        for want in ("watchpoint", "signal", "breakpoint", "watchpoint",
                     "exception", "other"):
            s = r.ask("continue")
            eq(s["reason"], want, f"{s['raw_reason']} is {want}")
        eq(s["raw_reason"], "something new", "the adapter's word is kept")


def odd_ids():
    with Rig("odd_ids") as r:
        eq(tid(r.start()), 0, "thread 0")
        eq(tid(r.ask("next")), -3, "thread -3")
        eq(tid(r.ask("next")), 4711, "no thread: it is asked which there are")
        eq(tid(r.ask("next")), (1 << 63) - 1, "a large one")


def behind_our_back():
    with Rig("behind_our_back") as r:
        first = r.start()
        r.refused("finish")
        ok(wait_for(lambda: r.ask("status")["state"] == "running"),
           "continued is seen")
        s = r.ask("pause")
        eq(s["reason"], "pause", "it runs, so it can be paused")
        ok(s["epoch"] >= first["epoch"] + 2, "two changes were counted")


def functions_in_hash_order():
    with Rig("hash_order") as r:
        r.start(breaks=[{"function": "a1"}, {"function": "b2"}])
        eq([(b["function"], b["actual"]["line"]) for b in
            r.ask("breakpoint_list")["breakpoints"]],
           [("a1", 3), ("b2", 4)], "functions keep their own places")


def environment():
    with Rig("environment") as r:
        eq(r.start(args=["one", "two"], env=["A=1", "B=x=y"])["reason"],
           "entry", "arguments and environment as this adapter reads them")


# every command, and what it comes to with an adapter that can nothing
EVERYTHING = [
    ("context", {}, None), ("threads", {}, None), ("thread", {}, None),
    ("frame", {"index": 1}, None), ("down", {}, None), ("up", {}, None),
    ("frame", {"index": 0}, None), ("locals", {}, None), ("args", {}, None),
    ("backtrace", {"locals": True}, None), ("source", {}, "no_such"),
    ("print", {"expression": "i", "format": "hex"}, None),
    ("eval", {"expression": "i"}, None),
    ("set", {"target": "i", "value": "3"}, "evaluate_failed"),
    ("memory_read", {"address": "&i", "count": 4}, "evaluate_failed"),
    ("memory_write", {"address": "1", "hex": "00"}, None),
    ("registers", {}, None), ("disassemble", {}, "unsupported"),
    ("breakpoint_add", {"file": "/nowhere/absent.c", "line": 9,
                        "condition": "i > 3", "hit_count": 7}, None),
    ("breakpoint_add", {"function": "main", "log": "x"}, "not_verified"),
    ("breakpoint_disable", {"all": True}, None),
    ("breakpoint_enable", {"all": True}, None),
    ("breakpoint_list", {}, None), ("breakpoint_remove", {"all": True}, None),
    ("watch_add", {"expression": "i"}, "unsupported"),
    ("watch_list", {}, None), ("watch_remove", {"all": True}, None),
    ("catch_add", {"kind": "throw"}, "unsupported"),
    ("catch_add", {"kind": "panic"}, "refused"),
    ("catch_list", {}, None), ("catch_remove", {"all": True}, None),
    ("until", {"file": "/nowhere/absent.c", "line": 9, "timeout_s": 0}, None),
]


def asks_for_what_was_announced():
    """The adapter aborts at everything else."""
    with Rig("bare") as r:
        r.start()
        for command, args, want in EVERYTHING:
            eq(r.refused(command, **args).get("code"), want,
               f"{command} {args}")
        a = r.ask("status")["adapter"]
        ok(a["alive"], "it was asked for nothing that it cannot", a)


def reads_always():
    with Rig("idle_flood") as r:
        r.start()
        r.ask("print", expression="the last question")
        t = r.state("terminated")
        eq((t["ended"], t["code"]), (True, 5),
           "what it says is read while nobody has asked")


def switches(r):
    with open(f"/proc/{r.p.pid}/status") as f:
        return next(int(x.split()[1]) for x in f
                    if x.startswith("voluntary_ctxt"))


def does_not_tick():
    with Rig("endless") as r:
        r.start()
        s = r.ask("next", timeout_s=0)
        n = r.send("await", since=s["epoch"], timeout_s=60)
        r.ask("status", conn=2)
        before = switches(r)
        time.sleep(2)
        ok(switches(r) - before <= 5, "who waits wakes nobody",
           switches(r) - before)
        r.ask("pause", conn=2)
        r.answer(n)


def raw(r, text):
    """Rig's own first argument has the name that raw's has."""
    r.last += 1
    n = r.last
    r.raw({"conn": 1, "rw": True, "id": n, "command": "raw",
           "args": {"command": text}})
    return r.answer(n)


def moved_by_its_own_commands():
    with Rig("raw_moves") as r:
        first = r.start()
        eq(first["frame"]["line"], 9, "it stops")
        raw(r, "jump 77")
        s = r.ask("status")
        eq((s["frame"]["line"], s["locals"][0]["value"]), (77, "5"),
           "then it is looked at anew")
        ok(s["epoch"] > first["epoch"], "what was read before is old")
        raw(r, "breakpoint set -l 3")
        s = r.ask("continue")
        eq((s["reason"], s["breakpoints"]), ("breakpoint", []),
           "a breakpoint that is none of ours stops it")
        raw(r, "continue")
        ok(wait_for(lambda: r.ask("status")["state"] == "running"),
           "it runs by its command")
        eq(r.ask("pause")["reason"], "pause", "and can be paused")


def answers_of_nobody():
    with Rig("unasked") as r:
        first = r.start()
        s = r.ask("next")
        eq((s["state"], s["reason"]), ("stopped", "step"),
           "other numbers are no answer")
        s = r.ask("continue")
        eq((s["state"], s["reason"]), ("stopped", "breakpoint"),
           "nor is what comes twice or late")
        eq(r.ask("status")["epoch"], s["epoch"], "and it stays so")
        eq(s["epoch"], first["epoch"] + 4, "four changes were counted")


def breaks_of_a_start():
    with Rig("bad_break", ["-A", f"codelldb={helper('mock_adapter')} "
                           f"{CONVERSATIONS}/bad_break_later.conv"]) as r:
        r.ask("breakpoint_add", file="/nowhere/b.c", line=5)
        r.ask("breakpoint_disable", all=True)
        before = r.ask("breakpoint_list")["breakpoints"]
        e = r.refused("start", program="/bin/true", cwd="/",
                      adapter=r.kind, breaks=[
                          {"file": "/nowhere/a.c", "line": 3},
                          {"file": "/nowhere/a.c", "line": 7}])
        ok(e["code"] == "not_verified" and "no such line" in e["message"] and
           "a.c:3" not in e["message"], "a bad one ends the start", e)
        eq(r.state("terminated")["ended"], False, "which is over")
        eq(r.ask("breakpoint_list")["breakpoints"], before,
           "and leaves none behind")
        r.ask("breakpoint_enable", all=True)
        eq(r.start(adapter="codelldb")["state"], "stopped",
           "the next start has those that were there")


# --- ends ----------------------------------------------------------------
def exit_codes():
    for name, want in (("abort_at_end", {"code": 3}),
                       ("exit_eleven", {"code": 11}),
                       ("code_in_words", {"code": 42}),
                       ("late_code", {"code": 5}),
                       ("only_terminated", None)):
        with Rig(name) as r:
            r.start()
            s = r.ask("continue")
            ok(ended(s), f"{name}: it has ended", s)
            eq(s.get("exit"), want, f"{name}: {want}")
            eq(r.refused("next")["code"], "not_running", "nothing to step")
    with Rig("fatal_signal") as r:
        r.start()
        eq(r.ask("continue")["reason"], "signal", "it got a signal")
        eq(r.ask("continue").get("exit"), {"signal": "SIGSEGV"},
           "and died of it")


def lost_programs():
    """Of what it was attached to, an adapter may lose sight, or its life."""
    for name in ("lost", "sigpipe"):
        p = subprocess.Popen(["sleep", "1000"])
        with Rig(name) as r:
            r.ask("attach", pid=p.pid, adapter="lldb-dap")
            e = r.refused("pause")
            s = r.ask("status")
            eq((s["state"], s.get("exit")), ("terminated", None),
               f"{name}: nothing is known of an end")
            ok("goes on without" in s["words"], "as there is none", (s, e))
        with Rig(name) as r:
            r.ask("attach", pid=p.pid, adapter="lldb-dap")
            p.kill()
            wait_for(lambda: not alive(p.pid))
            s = r.ask("pause")
            eq((s["state"], s.get("exit")),
               ("exited", {"signal": "SIGKILL"}), f"{name}: it has ended")
            ok("SIGKILL" in s["words"] and "goes on" not in s["words"],
               "in words", s)
        p.wait()


def end_before_it_has_attached():
    """An end that comes before the answer is a failure to attach."""
    p = subprocess.Popen(["sleep", "1000"])
    with Rig("never_attached") as r:
        e = r.refused("attach", pid=p.pid, adapter="lldb-dap")
        eq(e.get("code"), "adapter_failed", "it is an error")
        ok("before it had attached" in e.get("message", ""), "it says so", e)
        ok(alive(p.pid), "the program goes on")
        ok("has ended" not in r.ask("status").get("words", ""),
           "the program is not said to have ended", r.ask("status"))
    p.kill()
    p.wait()


def lost_before_it_has_ended():
    """What a debugger hears of an end comes before the end."""
    for name in ("lost", "sigpipe"):
        p = subprocess.Popen(["sleep", "1000"])
        with Rig(name) as r:
            r.ask("attach", pid=p.pid, adapter="lldb-dap")
            dying = threading.Timer(0.2, p.kill)
            dying.start()
            try:
                s = r.ask("pause")
            except Failed as e:
                s = e.error
            dying.join()
            eq((s["state"], s.get("exit")), ("exited", {"signal": "SIGKILL"}),
               f"{name}: a dying program has ended")
        p.wait()


def left_while_it_is_looked_for():
    """Who ends the session meanwhile is not told of an end that is none."""
    p = subprocess.Popen(["sleep", "1000"])
    with Rig("lost") as r:
        r.ask("attach", pid=p.pid, adapter="lldb-dap")
        n = r.send("pause")
        time.sleep(0.2)
        s = r.ask("stop", conn=2)
        ok("goes on" in s["words"], "the program goes on", s)
        ok("goes on" in r.answer(n)["words"], "who waited hears so, too",
           r.answer(n))
    p.kill()
    p.wait()


def without_its_first_thread():
    """Other threads of it are the program still, whatever the first is."""
    number = {"x86_64": 60, "aarch64": 93}[os.uname().machine]
    p = subprocess.Popen([sys.executable, "-c", f"""if True:
        import ctypes, sys, threading, time
        threading.Thread(target=time.sleep, args=(1000,)).start()
        sys.stdin.read()
        ctypes.CDLL(None).syscall({number}, 0)"""], stdin=subprocess.PIPE)
    with Rig("lost") as r:
        r.ask("attach", pid=p.pid, adapter="lldb-dap")
        p.stdin.close()
        wait_for(lambda: not alive(p.pid))
        s = r.ask("pause")
        ok("goes on" in s["words"], "a program without its first thread "
           "goes on", s)
    p.kill()
    p.wait()


def output_before_the_end():
    with Rig("abort_at_end") as r:
        r.start()
        eq(text(r.ask("continue")), "last words\n", "all of it is there")


def cuts_no_character():
    with Rig("long_output") as r:
        r.start()
        r.ask("continue")
        for most in (3000, 3001, 3002):
            s = r.ask("status", max=most)
            eq(set(text(s)), {"\u20ac", "\n"},
               f"of {most} bytes whole characters")
            ok(any(c["what"] == "output" for c in s["truncated"]),
               "and that some are missing", s["truncated"])


def a_summary_counts_output_that_is_gone():
    """All that a stop's program wrote is shown, cut or lost, and counted."""
    with open(os.path.join(CONVERSATIONS, "long.inc"), "rb") as f:
        long = sum(len(line) - len(b"out ") for line in f
                   if line.startswith(b"out "))
    stop = len("the first of all\n") + 4 * long
    with Rig("overtaken") as r:
        r.start()
        s = r.ask("continue")
        for after, lost in ((0, 0), (56, stop + 56 * long - RING),
                            (64, stop)):
            if after > 0:
                r.ask("print", expression="1")
            ok(wait_for(lambda: r.ask("status", max=200000).get(
                "output_lost", 0) >= lost), f"{after} more: some is lost")
            s = r.ask("status", max=200000)
            got = len(text(s).encode())
            cut = sum(c["of"] - c["shown"] for c in s.get("truncated", [])
                      if c["what"] == "output")
            said = s.get("output_lost", 0)
            # what is left of a cut character counts as lost
            ok(lost <= said < lost + 3 and said + cut + got == stop,
               f"{after} more: {said} bytes are lost, {cut} are cut, {got} "
               "are there, and no other", (lost, stop))
            ok(0 < got < stop if lost < stop else got == 0,
               "some of it, as long as there is some", got)


def death_is_a_state():
    with Rig("abort") as r:
        r.start()
        e = r.refused("continue")
        ok(e["code"] == "adapter_exited" and "SIGABRT" in e["message"],
           "who waits hears what it died of", e)
        ok(ended(r.ask("status")), "that is a state")
        e = r.refused("continue")
        ok(e["code"] == "not_running" and "SIGABRT" in e["message"],
           "and stays known", e)
        eq(r.start()["state"], "stopped", "the next start works")
    with Rig("eof") as r:
        r.start()
        n = r.send("await", since=r.ask("status")["epoch"])
        ok("exited with 0" in r.refused("continue")["message"],
           "gone without a word")
        try:
            r.answer(n)
            ok(False, "another one who waits")
        except Failed as e:
            eq(e.code, "adapter_exited", "another one who waits")
    with Rig("stderr") as r:
        r.start()
        ok("complaint 19999" in r.refused("continue")["message"],
           "its stderr is read, the last of it is told")


def death_while_stopped():
    """What is asked between its end and the news of it."""
    for wait in (True, False):
        with Rig("shut", ["-r", "120"]) as r:
            r.start()
            r.ask("print", expression="x")
            e = r.refused("continue", wait=wait)
            ok(e["code"] in ("adapter_exited", "not_running") and
               "SIGKILL" in e["message"], f"{wait}: it has ended", e)
            ok(ended(r.ask("status")), "which is known to all")
            ok(wait_for(lambda: not r.tree(), 60), "no process is left")
    with Rig("order19") as r:
        r.start()
        os.kill(r.tree()[0], signal.SIGKILL)
        e = r.refused("next")
        ok(e["code"] in ("adapter_exited", "not_running") and
           "SIGKILL" in e["message"], "killed just then", e)
        eq(r.start()["state"], "stopped", "the next start works")


def refused_launches():
    with Rig("refused_launch") as r:
        e = r.refused("start", program="/bin/true", cwd="/",
                      adapter="lldb-dap")
        ok(e["code"] == "adapter_failed" and "no such program" in e["message"],
           "its own words, at once", e)
    with Rig("refused_late") as r:
        e = r.refused("start", program="/bin/true", cwd="/",
                      adapter="lldb-dap")
        ok(e["code"] == "adapter_failed" and "will not be" in e["message"],
           "also when they come late", e)
        eq(r.refused("continue")["code"], "not_running", "nothing runs")


# --- time ----------------------------------------------------------------
def refused_starts_change_nothing():
    with Rig("same_again") as r:
        r.start(args=["one"])
        ok(ended(r.ask("continue")), "it was run")
        for command, args in (
                ("start", {"program": "/bin/false", "adapter": "dbx"}),
                ("start", {"program": "/bin/nothing"}),
                ("start", {"program": "/bin/false", "breaks": [{}]}),
                ("start", {"program": "/bin/false", "tty": 7}),
                ("attach", {"pid": -1}),
                ("attach", {"pid": os.getpid(), "adapter": "dbx"})):
            e = r.refused(command, cwd="/", stop_on_entry=False, wait=False,
                          **{"adapter": "lldb-dap", **args})
            ok("code" in e, f"{args}: refused", e)
            eq(r.ask("status")["program"], "/bin/true", "what there is")
        s = r.ask("restart")
        eq((s["state"], s["reason"]), ("stopped", "entry"),
           "the first is started again, as it was")


def limits():
    with Rig("hang", ["-r", "5"]) as r:
        r.start()
        s = r.ask("continue", timeout_s=2)
        eq(s["state"], "running", "no answer: it may run all the same")
        e = r.refused("pause", timeout_s=30)
        eq(e["code"], "timeout", "a pause that is not answered")
    with Rig("hang_initialize", ["-i", "1"]) as r:
        e = r.refused("start", program="/bin/true", cwd="/",
                      adapter="lldb-dap")
        ok(e["code"] == "timeout" and "initialize" in e["message"],
           "an adapter that never answers", e)
        ok(wait_for(lambda: not r.tree(), 60), "it is gone")
    with Rig("deaf", ["-r", "5"]) as r:
        r.start()
        eq(r.ask("next", timeout_s=2)["state"], "running", "it does not read")
        ok("state" in r.ask("stop"), "and can be ended")


def saying(where, *lines):
    """A conversation that comes to a stop, with these before it."""
    os.symlink(os.path.join(os.path.abspath(CONVERSATIONS), "auto.inc"),
               os.path.join(where, "auto.inc"))
    path = os.path.join(where, "said")
    with open(path + ".conv", "w", encoding="latin-1") as f:
        f.write("\n".join((
            "include auto.inc", *lines, "< initialize", "ok initialize "
            '{"supportsConfigurationDoneRequest":true}', "< launch",
            "ev initialized", "ok launch", "< configurationDone",
            "ok configurationDone",
            'ev stopped {"reason":"entry","threadId":4711}')) + "\n")
    return path


def values_that_grow():
    """Characters that take six bytes of an answer, and bytes that take
    three: no answer is without its value, and all of it can be read."""
    value = "\x01\x02" * 2000
    for most in (1024, 8192):
        with tempfile.TemporaryDirectory() as where, \
                Rig(saying(where, "auto evaluate " + json.dumps(
                    {"result": value, "type": "\x03" * 3000,
                     "variablesReference": 0}))) as r:
            r.start()
            got, n = "", 0
            while len(got) < len(value) and n < 200:
                a = r.ask("print", expression="e" * 3000, what="value",
                          offset=len(got), max=most)
                got += a["value"]
                n += 1
                if not a["value"]:
                    break
            eq(got, value, f"max {most}: all of it, in {n} answers")
            ok(a["bytes"] == len(value) and a["name"], "and it says of what",
               a)
    with tempfile.TemporaryDirectory() as where, \
            Rig(saying(where, 'auto evaluate {"result":"' + "\xe9" * 3000 +
                       '","variablesReference":0}')) as r:
        r.start()
        a = r.ask("print", expression="a", max=1024)
        ok(set(a["value"]) == {"\ufffd"} and
           len(a["value"]) == a["shown"] < a["bytes"] == 3000,
           "what is no text counts as what is shown for it", a)


def counts_without_end():
    most = str(2 ** 63 - 1)
    with tempfile.TemporaryDirectory() as where, \
            Rig(saying(where, 'auto variables {"variables":[{"name":"i",'
                       f'"value":"","variablesReference":7,'
                       f'"namedVariables":{most},'
                       f'"indexedVariables":{most}}}]}}',
                       'auto evaluate {"result":"","variablesReference":7}')
                ) as r:
        eq(r.start()["state"], "stopped", "what cannot be counted is shown")
        a = r.ask("print", expression="a", offset=2 ** 63 - 1)
        ok("value" in a, "and what is behind all of it is nothing", a)


def busy():
    with Rig("busy", ["-r", "5"]) as r:
        r.start()
        n = r.send("eval", expression="slow()")
        eq(r.ask("status", conn=2)["state"], "stopped",
           "others are answered meanwhile")
        eq(r.ask("breakpoint_list", conn=2)["breakpoints"], [],
           "what needs no adapter works")
        ok(not r.answered(n), "it is still being evaluated")
        time.sleep(1)
        b = r.ask("status", conn=2)["adapter"]["busy"]
        ok(b["request"] == "evaluate" and 900 < b["ms"] < 60000,
           "and whoever asks is told so", b)
        try:
            r.answer(n)
            ok(False, "it has a limit")
        except Failed as e:
            eq(e.code, "timeout", "it has a limit")
        ok("busy" not in r.ask("status")["adapter"], "then it is over")


def still_running():
    with Rig("endless") as r:
        r.start()
        s = r.ask("next", timeout_s=0)
        eq(s["state"], "running", "that it still runs is an answer")
        awaits = r.send("await", conn=2, since=s["epoch"], timeout_s=60)
        other = r.send("await", conn=3, timeout_s=60)
        p = r.ask("pause", conn=4)
        eq(p["reason"], "pause", "somebody pauses while others wait")
        eq([r.answer(n)["epoch"] for n in (awaits, other)],
           [p["epoch"]] * 2, "all of them hear of it")
        eq(r.ask("await", since=p["epoch"] - 1)["epoch"], p["epoch"],
           "a stop is not missed")
        eq(r.ask("pause")["epoch"], p["epoch"],
           "pausing what is paused answers at once")


def lost_pause():
    with Rig("lost_pause") as r:
        r.start()
        r.ask("continue", wait=False)
        eq(r.ask("pause")["reason"], "pause", "it is asked for once more")


def own_gate():
    with Rig("endless") as r:
        r.start()
        r.ask("next", timeout_s=0)
        for command in ("continue", "next", "step", "finish"):
            eq(r.refused(command)["code"], "not_stopped",
               f"{command} while it runs")
        e = r.refused("start", program="/bin/true", cwd="/")
        ok(e["code"] == "already_started", "no second program", e)


def slow_detach():
    with Rig("slow_detach") as r:
        r.start()
        n = r.send("detach")
        eq(r.ask("status")["state"], "idle", "others are answered meanwhile")
        ok(not r.answered(n), "it has not let go yet")
        r.raw({"command": "_gone", "conn": 1})


def rollback():
    with Rig("rollback") as r:
        r.start()
        e = r.refused("finish")
        ok("bottom frame" in e["message"], "it says why", e)
        eq(r.ask("status")["state"], "stopped", "stopped, as it was")
        eq(r.ask("next")["reason"], "step", "and goes on")


def steps():
    with Rig("steps") as r:
        r.start()
        s = r.ask("next", count=5)
        eq(s["reason"], "breakpoint", "several steps end early")
        eq(text(s), "one\n", "with the output of all of them")


def reverse_requests():
    with Rig("reverse") as r:
        eq(r.start()["reason"], "entry", "each got its answer")


# --- what it must not do -------------------------------------------------
def framing():
    for name in ("framing_words", "framing_long"):
        with Rig(name) as r:
            r.start()
            e = r.refused("continue")
            ok(e["code"] == "adapter_exited" and
               "Content-Length" in e["message"],
               f"{name}: its end, said why", e)
            ok(wait_for(lambda: not r.tree(), 60), "no process is left")
    with Rig("framing_text") as r:
        r.start()
        eq(r.ask("continue")["reason"], "breakpoint",
           "what is no message is left out")


def huge_answers():
    with Rig("huge") as r:
        r.start()
        before = rss(r)
        e = r.refused("next")
        ok(e["code"] == "adapter_failed" and "16 MiB" in e["message"],
           "the request fails with words", e)
        ok(rss(r) - before < 40 << 20, "nothing of it was kept",
           rss(r) - before)
        eq(r.ask("continue")["reason"], "breakpoint", "life goes on")


def rss(r):
    with open(f"/proc/{r.p.pid}/status") as f:
        for line in f:
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    return 0


def floods():
    with Rig("flood") as r:
        r.start()
        before = rss(r)
        eq(r.ask("continue")["reason"], "breakpoint", "it comes through")
        ok(rss(r) - before < 40 << 20, "in bounded memory", rss(r) - before)


def wrong_kinds():
    with Rig("wrong_kinds") as r:
        r.start()
        s = r.ask("continue")
        ok(s["state"] in ("stopped", "exited", "terminated"), "it stands", s)
        s = r.ask("await", since=s["epoch"]) if s["state"] == "stopped" else s
        ok(ended(s), "and it ends", s)


# --- clients -------------------------------------------------------------
def readers():
    with Rig("endless") as r:
        r.start()
        eq(r.refused("next", rw=False)["code"], "read_only",
           "who may only look does not step")
        eq(r.ask("status", rw=False)["state"], "stopped", "but sees")


def client_that_leaves():
    with Rig("endless") as r:
        r.start()
        n = r.send("next", conn=9)
        r.raw({"command": "_gone", "conn": 9})
        eq(r.ask("pause", conn=2)["reason"], "pause", "others go on")
        ok(not r.answered(n), "nobody is told who is not there")


def words_for_mistakes():
    with Rig("order19") as r:
        eq(r.refused("next")["code"], "no_session", "nothing was started")
        eq(r.refused("dance")["code"], "unknown_command", "no such command")
        for args in ({"cwd": 7}, {"cwd": "tmp"}, {"args": [1]},
                     {"timeout_s": -7}, {"env": "A=1"}, {"wait": "yes"}):
            e = r.refused("start", **{"program": "/bin/true", "cwd": "/",
                                      "adapter": "lldb-dap", **args})
            eq(e["code"], "invalid_argument", f"{args}")
        e = r.refused("start", program="nothing", cwd="/tmp")
        ok("/tmp/nothing" in e["message"], "which file was looked for", e)
        e = r.refused("start", program="/bin/true", cwd="/", adapter="dbx")
        ok(e["code"] == "adapter_missing", "no such adapter", e)
        r.start()
        eq(r.refused("next", count=0)["code"], "invalid_argument", "count")
        eq(r.refused("next", granularity="inch")["code"], "invalid_argument",
           "granularity")
        eq(r.ask("continue", thread_only=True, timeout_s=0)["state"],
           "running", "one thread only, by a command of its own")


def stopped_while_it_starts():
    for wait in (True, False):
        with Rig("hang_initialize") as r:
            n = r.send("start", program="/bin/true", cwd="/", wait=wait,
                       adapter="lldb-dap")
            r.state("initializing")
            ok("words" in r.ask("stop", conn=2), f"{wait}: it is ended")
            try:
                r.answer(n)
                ok(False, f"{wait}: who started it hears of it")
            except Failed as e:
                ok("stop" in e.message, f"{wait}: who started it hears of it",
                   e)
            ok(wait_for(lambda: not r.tree(), 60), "no process is left")


def no_process_is_left():
    with Rig("order19") as r:
        r.start()
        tree = r.tree()
        ok(tree, "there is an adapter")
        ok("state" in r.ask("stop"), "stop")
        ok(wait_for(lambda: not any(alive(p) for p in tree)), "all is gone")
        eq(r.start()["state"], "stopped", "and another one can be started")


run_tests(launch_orders, gdb_launches_last, pending_conditions,
          a_log_point_counts_once,
          without_waiting,
          later_capabilities,
          order_on_the_wire, one_stop_told_three_times, reasons, odd_ids,
          behind_our_back, functions_in_hash_order, environment,
          asks_for_what_was_announced,
          reads_always, does_not_tick, moved_by_its_own_commands,
          answers_of_nobody, breaks_of_a_start, exit_codes,
          lost_programs, end_before_it_has_attached,
          lost_before_it_has_ended,
          left_while_it_is_looked_for, without_its_first_thread,
          output_before_the_end, a_summary_counts_output_that_is_gone,
          cuts_no_character, death_is_a_state,
          death_while_stopped, refused_launches,
          refused_starts_change_nothing, limits, busy,
          still_running, lost_pause, own_gate, slow_detach, rollback, steps,
          reverse_requests, framing,
          huge_answers, values_that_grow, counts_without_end, floods,
          wrong_kinds, readers, client_that_leaves,
          words_for_mistakes,
          stopped_while_it_starts, no_process_is_left)
