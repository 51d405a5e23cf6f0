#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Sessions that others may see or use, administrators, and the audit log.
import json
import os
import signal
import subprocess
import sys
import time
from urllib.parse import quote

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (ALICE, AS_ROOT, BOB, Client, Daemon, alone, eq, helper, ok,
                passwd_wrapper, run_tests, service_uid, status_of,
                system_with, token_of, wait_for)
from web import Events, Web

SYSTEM = ("system",) if AS_ROOT else ()
CAROL = BOB + 1
# bash has a builtin of that name for this
ECHO = "while read x; do echo got $x; done"


def users(conf=""):
    """Daemon with three accounts."""
    return system_with(ALICE, BOB, CAROL, conf=conf)


def shell(c, script):
    sid = c.upload("/bin/dash")["id"]
    c.cmd(f"ARGS {sid} -c '{script}'")
    r = c.cmd("START " + sid)
    if r.get("state") != "RUNNING":
        raise RuntimeError(r)
    return sid


def codes(c, sid, *lines):
    return [c.cmd(x.format(sid)).get("error_code") for x in lines]


CHANGES = ("START {}", "STOP {}", "KILL {}", "ARGS {} a", "ENV {} A=b",
           "ENVDEL {} A", "SIGNAL {} USR1", "NAME {} x", "LIMITS {} cpu=1",
           "DELETE {}", "DEBUG {}", "GDBPIPE {}", "INPUT {} eof",
           "SHARE {} daemon", "UNSHARE {} nobody")


def read_only_share():
    with users() as d:
        a, b, c = d.client(ALICE), d.client(BOB), d.client(CAROL)
        sid = shell(a, ECHO)
        r = a.cmd(f"SHARE {sid} u{BOB}")
        eq(r.get("shared"), [{"user": f"u{BOB}", "access": "ro"}],
           "SHARE answers the session, with whom it is shared")
        eq([x["id"] for x in b.cmd("LIST")], [sid], "they see it at once, on "
           "a connection that was there before")
        eq(b.cmd("STATUS " + sid[:8])["owner"], f"u{ALICE}",
           "and whose it is")
        eq(c.cmd("LIST"), [], "nobody else does")
        eq(codes(b, sid, *CHANGES), ["read_only"] * len(CHANGES),
           "read-only: nothing that changes anything")
        b.send(f"INPUT {sid} 5\nLIST\n")
        eq(b.json().get("error_code"), "read_only", "read-only: no INPUT")
        eq(b.cmd("WHOAMI").get("user"), f"u{BOB}",
           "and its payload is no command")
        a.send(f"INPUT {sid} 6\nhello\n")
        a.json()
        b = d.client(BOB)
        b.send(f"FOLLOW {sid}\n")
        said = ""
        while "got hello" not in said:
            said += str(b.json())
        ok("got hello" in said, "read-only: FOLLOW")
        b2 = d.client(BOB)
        ok("got hello" in str(b2.cmd("OUTPUT " + sid)), "read-only: OUTPUT")
        ok("error_code" not in b2.cmd("ENVLIST " + sid), "and ENVLIST")
        r = a.cmd(f"UNSHARE {sid} u{BOB}")
        ok("shared" not in r, "UNSHARE takes it back", r)
        eq(b2.cmd("LIST"), [], "they see it no more")
        eq(b2.cmd("STATUS " + sid)["error_code"], "not_found",
           "not by its id either")
        b.send("LIST\n")
        last = [b.json(), b.json()]
        ok([] in last, "a FOLLOW ends with the share", last)
        eq(a.cmd(f"UNSHARE {sid} u{BOB}")["error_code"], "invalid_argument",
           "UNSHARE of who has no share says so")
        a.cmd("KILL " + sid)


def read_only_shares_see_names_and_no_values():
    """Those who may only look see no values of the environment."""
    with system_with(ALICE, BOB, web=True) as d:
        a, b = d.client(ALICE), d.client(BOB)
        sid = a.upload(helper("sleeper"))["id"]
        a.cmd(f"ENV {sid} KEY=sekrit")
        a.cmd(f"SHARE {sid} u{BOB}")
        look = d.client(ALICE)
        look.cmd("AUTH " + token_of(d, "read-only", uid=ALICE))

        def answers(c, token, uid):
            web = Web(d, token=token)
            api = "/api/v1/sessions"
            out = {x: c.cmd(f"{x} {sid}") for x in ("STATUS", "ENVLIST")}
            out["LIST"] = c.cmd("LIST")
            out["JSON"] = c.cmd(json.dumps({"id": 1, "command": "list",
                                            "args": {}}))
            out["web"] = [web.get(api + x).data
                          for x in ("", "/" + sid, f"/{sid}/env")]
            e = Events(web, "events")
            out["events"] = e.until("session", id=sid)
            e.r.close()
            if uid is not None:
                out["ctl"] = d.ctl("status", sid, uid=uid).stdout.decode()
                out["ctl list"] = d.ctl("list", "--json", uid=uid) \
                    .stdout.decode()
            return {k: str(v) for k, v in out.items()}

        def show(who, got, wanted):
            eq([k for k, v in got.items() if "KEY" not in v], [],
               f"{who} is told its name")
            eq([k for k, v in got.items() if ("sekrit" in v) != wanted], [],
               f"{who} is told {'its value' if wanted else 'no value'}")
        show("its owner", answers(a, token_of(d, uid=ALICE), ALICE), True)
        show("a read-only share", answers(b, token_of(d, uid=BOB), BOB),
             False)
        show("a read-only token", answers(
            look, token_of(d, "read-only", uid=ALICE), None), False)
        a.cmd(f"SHARE {sid} u{BOB}:rw")
        show("a share to use it", answers(b, token_of(d, uid=BOB), BOB), True)
        a.cmd(f"SHARE {sid} u{BOB}:ro")
        show("and a read-only one again", answers(b, token_of(d, uid=BOB),
                                                  BOB), False)


def read_write_share():
    with users() as d:
        a, b = d.client(ALICE), d.client(BOB)
        sid = shell(a, ECHO)
        a.cmd(f"NAME {sid} work")
        mine = b.upload(helper("hello"))["id"]
        b.cmd(f"NAME {mine} work")
        r = a.cmd(f"SHARE work u{BOB}:rw")
        eq(r["shared"][0]["access"], "rw", "SHARE user:rw")
        eq(b.cmd("STATUS work")["id"], mine, "a label names one's own first")
        eq({x["id"] for x in b.cmd("LIST")}, {sid, mine}, "LIST has both")
        b.send(f"INPUT {sid} 4\nabc\n")
        ok("error_code" not in b.json(), "read-write: INPUT")
        ok(wait_for(lambda: b"got abc" in b.output(sid)),
           "and the program gets it")
        eq(b.cmd(f"SHARE {sid} u{CAROL}")["error_code"], "not_permitted",
           "but sharing is the owner's")
        eq(b.cmd(f"UNSHARE {sid} u{BOB}")["error_code"], "not_permitted",
           "and so is unsharing")
        eq(b.cmd("KILL " + sid)["state"], "STOPPED", "read-write: KILL")
        s = b.cmd("START " + sid)
        eq(status_of(s["pid"])["Uid"].split(), [str(ALICE)] * 4,
           "read-write: START runs it as its owner, not as who asked")
        ok(f"u{BOB} KILL {sid}" in str(a.cmd("ACTIVITY")),
           "the owner sees in ACTIVITY what was done to it")
        eq(a.cmd(f"SHARE {sid} u{BOB}:ro")["shared"][0]["access"], "ro",
           "a later SHARE replaces the earlier")
        eq(b.cmd("KILL " + sid)["error_code"], "read_only", "at once")
        a.cmd("KILL " + sid)
        a.cmd("DELETE " + sid)
        eq([x["id"] for x in b.cmd("LIST")], [mine], "a session that was "
           "deleted is gone for everybody")


def own_before_shared():
    with users() as d:
        a, b = d.client(ALICE), d.client(BOB)
        mine = a.upload(helper("hello"))["id"]
        for _ in range(400):
            other = b.upload(helper("hello"))["id"]
            if other[0] == mine[0]:
                break
            b.cmd("DELETE " + other)
        eq(other[0], mine[0], "two ids that begin alike")
        b.cmd(f"SHARE {other} u{ALICE}:rw")
        eq(len(a.cmd("LIST")), 2, "she sees both")
        eq(a.cmd("STATUS " + mine[0]).get("id"), mine, "what others share "
           "makes no beginning of one's own id ambiguous")
        a.cmd("DELETE " + mine)
        eq(a.cmd("STATUS " + other[0])["error_code"], "not_found",
           "nor is a shared session meant by so little")
        eq(a.cmd("STATUS " + other[:4]).get("id"), other, "but by more")


def labelled(c, label, to, access="rw"):
    sid = shell(c, ECHO)
    c.cmd(f"NAME {sid} {label}")
    c.cmd(f"SHARE {sid} u{to}:{access}")
    return sid


def refusal(c, line):
    """The error code and the message."""
    r = c.cmd(line)
    return r.get("error_code"), r.get("message", "")


# Commands of a user who means a session of their own.
TYPED = ("STATUS {}", "START {}", "STOP {}", "KILL {}", "ARGS {} secret",
         "ENV {} TOKEN=secret", "OUTPUT {}", "INPUT {} 7\nsecret\n",
         "SIGNAL {} TERM", "DELETE {}", "WAIT {}", "NAME {} y", "DEBUG {}",
         "GDBPIPE {}", "FOLLOW {}", "DEBUGGER {} {{}}", "TRACER {} {{}}",
         "TRACER start {} {{}}", "DEBUGGER start image={} {{}}",
         "KEYS {}", "TICKET {}")


def labels_are_ones_own():
    """A share under the label of a session gets nothing that is meant for
    that session."""
    with users() as d:
        a, b = d.client(ALICE), d.client(BOB)
        sid = labelled(a, "prod", BOB)
        name = f"u{ALICE}/prod"
        for line in TYPED:
            eq(b.cmd(line.format("prod")).get("error_code"), "not_found",
               f"{line.split()[0]} of a label that only a share has")
        s = a.cmd("STATUS " + sid)
        eq((s["state"], s.get("env"), s["name"], s["args"]),
           ("RUNNING", None, "prod", f"-c '{ECHO}'"),
           "the shared session got none of it")
        eq(b.cmd(f"STATUS {name}")["error_code"], "not_found",
           "nor does its full name count before it is accepted")
        ok(sid[:8] in refusal(b, f"STATUS {name}")[1] and
           "accepted" in refusal(b, f"STATUS {name}")[1],
           "where the error has the id by which it is",
           refusal(b, f"STATUS {name}"))
        ok(name not in refusal(b, "STATUS prod")[1],
           "an error for the label alone leads nobody to it")
        eq(d.client(BOB).cmd(f"STATUS {name}")["error_code"], "not_found",
           "having been refused accepts nothing")
        eq(b.cmd(f"STATUS {sid[:8]}")["id"], sid, "its id does")
        eq(b.cmd(f"STATUS {name}")["id"], sid, "and its full name at once")
        eq(d.client(BOB).cmd(f"STATUS {name}")["id"], sid,
           "also on other connections")
        code, why = refusal(b, "STATUS prod")
        ok(code == "not_found" and name in why, "the label alone still does "
           "not, and the error says what does", why)
        for n in (1, 2, 3):
            eq(b.cmd(f"STATUS {sid[:n]}")["error_code"], "not_found",
               f"{n} characters of its id, which may be a label, name none")
        eq((b.cmd(f"STATUS {sid[:4]}")["id"], a.cmd(f"STATUS {sid[:2]}")["id"]),
           (sid, sid), "four do, and of one's own any number")
        mine = b.upload(helper("hello"))["id"]
        eq(b.cmd(f"NAME {mine} prod")["name"], "prod",
           "the label is free for a session of their own")
        eq(b.cmd("STATUS prod")["id"], mine, "which it names")
        eq(b.cmd(f"STATUS u{BOB}/prod")["id"], mine, "by the full name, too")
        eq(b.cmd(f"STATUS {name}")["id"], sid, "as it names the other")
        eq(a.cmd("STATUS prod")["id"], sid, "its owner needs no more than it")
        eq(len([x for x in a.cmd("ACTIVITY")
                if f"u{BOB} ACCEPT {sid}" in x["message"]]), 1,
           "accepting is in ACTIVITY once")
        os.kill(d.role_pid("netproc"), 9)
        ok(wait_for(lambda: sees(d, BOB) and d.client(BOB).cmd(
            f"STATUS {name}").get("id") == sid, 20),
           "a new netproc knows what was accepted")
        a, b = d.client(ALICE), d.client(BOB)
        a.cmd(f"UNSHARE {sid} u{BOB}")
        eq(b.cmd(f"STATUS {name}")["error_code"], "not_found", "taken back")
        a.cmd(f"SHARE {sid} u{BOB}:ro")
        eq(b.cmd(f"STATUS {name}")["error_code"], "not_found",
           "and shared again, it has to be accepted again")
        a.cmd("KILL prod")


def labels_by_other_doors():
    """JSON lines, the local socket, HTTP, agents and debuglanternctl."""
    with system_with(ALICE, BOB, web=True) as d:
        a = d.client(ALICE)
        sid = labelled(a, "prod", BOB)
        name = f"u{ALICE}/prod"
        local = Client(d.dir + "/run/debuglantern.sock", uid=BOB)
        web = Web(d, token=token_of(d, uid=BOB))
        api = "/api/v1/sessions/"
        call = ('MCP {"message":{"jsonrpc":"2.0","id":1,"method":'
                '"tools/call","params":{"name":"debug_trace","arguments":'
                '{"sessionId":"%s","add":["nothing_has_this_name"]}}}}')

        def doors(word):
            r = local.cmd(json.dumps({"id": 1, "command": "status",
                                      "args": {"session": word}}))
            c = d.ctl("status", word, uid=BOB)
            return {"local": "error_code" not in local.cmd(f"STATUS {word}"),
                    "json": r["success"],
                    "web": web.get(api + quote(word, safe="")).status == 200,
                    "agents": "SESSION_NOT_FOUND" not in str(
                        local.cmd(call % word)),
                    "ctl": c.returncode == 0}
        eq(set(doors("prod").values()), {False}, "a share's label names "
           "nothing at any door")
        eq(set(doors(name).values()), {False}, "nor does its full name")
        c = d.ctl("share", "accept", name, uid=BOB)
        ok(c.returncode == 1 and sid[:8].encode() in c.stderr,
           "share accept wants the id, and says it", c)
        c = d.ctl("share", "accept", sid[:8], uid=BOB)
        eq(c.returncode, 0, "share accept ID")
        eq([k for k, v in doors(name).items() if not v], [],
           "then its full name does at each")
        eq(set(doors("prod").values()), {False}, "and the label still not")
        eq(web.get(api + name).status, 200, "in addresses also with its slash")
        eq(web.get(api + name + "/output").status, 200,
           "before what is asked of it")
        eq(web.post(api + name + "/kill").status, 200, "and done to it")
        c = d.ctl("status", "prod", uid=BOB)
        ok(name.encode() in c.stderr, "the client passes the remedy on", c)


def labels_for_administrators():
    with users(f"admin user u{CAROL}\n") as d:
        a, c = d.client(ALICE), d.client(CAROL)
        sid = shell(a, ECHO)
        a.cmd(f"NAME {sid} prod")
        code, why = refusal(c, "KILL prod")
        ok(code == "not_found" and f"u{ALICE}/prod" in why,
           "an administrator's bare label is their own, too", why)
        eq(c.cmd(f"STATUS u{ALICE}/prod")["id"], sid,
           "others' have their owner's name before it, without accepting")
        eq(c.cmd(f"STATUS {sid[:6]}")["id"], sid, "ids are as ever")
        r = Client(d.dir + "/run/debuglantern.sock", uid=0)
        eq((refusal(r, "KILL prod")[0], r.cmd(f"STATUS u{ALICE}/prod")["id"]),
           ("not_found", sid), "root at the local socket: the same")
        for word in ("/prod", f"u{ALICE}/", "/", "//", f"u{ALICE}/prod/",
                     f"u{ALICE}/prod/x", f"{sid}/prod"):
            eq(refusal(r, f"STATUS {word}"),
               ("not_found", "session not found"), f"{word} names nothing")
        key = a.cmd(f"KEYS {sid}")
        a.cmd("KILL prod")
        t = a.cmd("NEW tty name=term start=now -- /bin/cat")["id"]
        key = a.cmd(f"KEYS {t}")["token"]
        g = d.client(BOB)
        g.cmd("AUTH " + key)
        eq(g.cmd("ATTACH term ro").get("id"), t,
           "a guest's only session has its label")
        a.cmd("KILL term")


def wrong_shares():
    with users() as d:
        a = d.client(ALICE)
        sid = a.upload(helper("hello"))["id"]
        for who, why in ((f"u{ALICE}", "owner"), ("nosuchuser", "no user"),
                         ("daemon", "no user"), ("root", "no user"),
                         (f"u{BOB}:x", "ro or rw"), (":rw", "missing"),
                         ("x" * 100, "too long"), ("", "missing")):
            r = a.cmd(f"SHARE {sid} {who}")
            ok(r.get("error_code") == "invalid_argument" and
               why in r["message"], f"SHARE with {who[:10]!r} is refused "
               "with the reason", r)
        ok("shared" not in a.cmd("STATUS " + sid), "and nothing was shared")
        a.send("".join(f"SHARE {sid} u{u}\nUNSHARE {sid} u{u}\n"
                       for u in (BOB, CAROL) * 50))
        eq({a.json().get("state") for _ in range(200)}, {"LOADED"},
           "many in a row are answered in order")


def shares_end_with_the_spawner():
    with users() as d:
        a, b = d.client(ALICE), d.client(BOB)
        sid = a.upload(helper("hello"))["id"]
        a.cmd(f"SHARE {sid} u{BOB}")
        os.kill(d.role_pid("netproc"), 9)
        ok(wait_for(lambda: sees(d, BOB) == [sid], 20),
           "a new netproc shows shares as the old one did")
        ok(wait_for(lambda: sees(d, CAROL) == [], 20), "and to nobody else")


def sees(d, uid):
    try:
        return [x["id"] for x in d.client(uid).cmd("LIST")]
    except (OSError, EOFError, TypeError):
        return None


def administrators():
    with users(f"admin user u{CAROL}\n") as d:
        a, c = d.client(ALICE), d.client(CAROL)
        sid = shell(a, ECHO)
        eq([x["id"] for x in c.cmd("LIST")], [sid], "an administrator sees "
           "everybody's sessions")
        eq(c.cmd("WHOAMI")["admin"], True, "WHOAMI says so")
        eq(a.cmd("WHOAMI")["admin"], False, "and of others not")
        eq(c.cmd("KILL " + sid)["state"], "STOPPED", "and may end them")
        r = c.cmd("AUDIT")
        kill = [e for e in r["events"] if e["action"] == "KILL"]
        eq([(e["user"], e["session"], e["result"], e["door"])
            for e in kill], [(f"u{CAROL}", sid, "ok", "tcp")],
           "AUDIT: who did what to which session")
        ok(any(e["action"] == "login" and e["user"] == f"u{ALICE}"
               for e in r["events"]), "AUDIT: logins")
        eq([e["seq"] for e in r["events"]], list(range(r["next"])),
           "AUDIT: numbered")
        eq(c.cmd(f"AUDIT {r['next'] - 1}")["events"], r["events"][-1:],
           "AUDIT from a number")
        eq(a.cmd("AUDIT")["error_code"], "not_permitted",
           "AUDIT is not for others")
        follow(d, a, c)


def administrators_no_more():
    with users(f"admin user u{CAROL}\n") as d:
        a, c = d.client(ALICE), d.client(CAROL)
        sid = a.upload(helper("hello"))["id"]
        eq([x["id"] for x in c.cmd("LIST")], [sid], "an administrator")
        with open(d.conf_path) as f:
            text = f.read()
        d.write_conf(text.replace(f"u{CAROL}", f"u{BOB}"))
        d.proc.send_signal(1)
        ok(c.closed(), "who is none after a reload loses their connections")
        ok(wait_for(lambda: sees(d, BOB) == [sid]), "the new one sees all")
        eq(sees(d, CAROL), [], "the old one their own alone")
        eq(a.cmd("LIST")[0]["id"], sid, "others are not disturbed")


def follow(d, a, c):
    at = c.cmd("AUDIT 999999999")["next"]
    t = time.monotonic()
    eq(c.cmd(f"AUDIT {at} 1"), {"events": [], "next": at},
       "AUDIT waits as long as it was told")
    ok(time.monotonic() - t >= 0.9, "and not less")
    c.send(f"AUDIT {at} 30\n")
    time.sleep(0.2)
    sid = a.upload(helper("hello"))["id"]
    e = c.json()["events"]
    eq((e[0]["action"], e[0]["session"]), ("UPLOAD", sid),
       "AUDIT: an event ends the wait")


def root_is_admin_by_the_local_socket_alone():
    with users() as d:
        a = d.client(ALICE)
        sid = a.upload(helper("hello"))["id"]
        r = Client(d.dir + "/run/debuglantern.sock", uid=0)
        eq([x["id"] for x in r.cmd("LIST")], [sid],
           "root sees all by the local socket")
        w = r.cmd("WHOAMI")
        eq((w["user"], w["door"], w["admin"]), ("_dlrun", "local", True),
           "and is an administrator")
        t = d.client(0)
        eq(t.cmd("LIST"), [], "over TCP root is a user like others")
        eq(t.cmd("WHOAMI")["admin"], False, "and no administrator")
        eq(r.cmd("WHOAMI")["admin"], True, "while the other connection is")
        mine = t.upload(helper("hello"))["id"]
        ok({sid, mine} == {x["id"] for x in r.cmd("LIST")} and
           [x["id"] for x in t.cmd("LIST")] == [mine],
           "each goes on seeing what it may")
        eq(r.cmd(f"SHARE {sid} u{BOB}")["shared"][0]["user"], f"u{BOB}",
           "an administrator may share for the owner")


def admin_group():
    with users("admin group root\n") as d:
        # the group of root has nobody in it that is served
        eq(d.client(ALICE).cmd("WHOAMI")["admin"], False,
           "admin group: who is not in it is none")
    with users(f"admin group u{BOB}\n") as d:
        eq(d.client(BOB).cmd("WHOAMI")["admin"], True, "admin group")
        eq(d.client(ALICE).cmd("WHOAMI")["admin"], False, "but others not")


def no_admin_any_more():
    """Who leaves the group loses what they have, when SIGHUP comes at last."""
    with passwd_wrapper(ALICE, BOB, CAROL) as wrapper, \
            Daemon("system", "admin group dladm\n", wrapper=wrapper + [
                "sh", "-c", f"echo dladm:x:55003:u{BOB},u{CAROL} "
                ">>/etc/group && exec \"$@\"", "sh"]) as d:
        a, b, c = d.client(ALICE), d.client(BOB), d.client(CAROL)
        r = Client(d.dir + "/run/debuglantern.sock", uid=0)
        sid = a.upload(helper("hello"))["id"]
        own = b.upload(helper("hello"))["id"]
        eq([len(x.cmd("LIST")) for x in (b, c, r)], [2, 2, 2],
           "three administrators see all")
        key = b.cmd(f"KEYS {sid}")["token"]
        guest = d.client(ALICE)
        ok("error_code" not in guest.cmd("AUTH " + key),
           "and make keys for others' sessions")
        subprocess.run(["nsenter", "-t", str(d.proc.pid), "-m", "sed", "-i",
                        f"s/:u{BOB},/:/", "/etc/group"], check=True)
        eq(len(b.cmd("LIST")), 2, "nobody looks at groups all the time")
        d.proc.send_signal(signal.SIGHUP)
        ok(b.closed(), "after SIGHUP the one who is none any more is out")
        ok(guest.closed(), "as is who came by a key of theirs")
        eq([len(x.cmd("LIST")) for x in (c, r)], [2, 2],
           "the others, root too, are not")
        again = d.client(BOB)
        eq(([x["id"] for x in again.cmd("LIST")],
            again.cmd("WHOAMI")["admin"]), ([own], False),
           "they come back as who they are")
        ok("error_code" in d.client(ALICE).cmd("AUTH " + key),
           "and their key has ended")


def whoami():
    with users() as d:
        r = d.client(ALICE).cmd("WHOAMI")
        port = r.pop("address").split(":")[1]
        eq(r, {"user": f"u{ALICE}", "uid": ALICE, "door": "tcp",
               "admin": False, "read_only": False, "token": None}, "WHOAMI")
        ok(port.isdigit(), "with the client's port", port)


def refusals_are_audited():
    with users() as d:
        root = Client(d.dir + "/run/debuglantern.sock", uid=0)
        at = root.cmd("AUDIT 999999999")["next"]
        try:
            d.client(service_uid("daemon")).cmd("LIST")
        except EOFError:
            pass
        e = [x for x in root.cmd(f"AUDIT {at} 5")["events"]
             if x["action"] == "login"]
        ok(len(e) == 1 and e[0]["result"].startswith("refused") and
           e[0]["user"] is None, "a refusal is in the audit log", e)
        ok(wait_for(lambda: 'action="login" result="refused' in d.log()),
           "and in the log")


def user_mode(mode):
    with Daemon(mode) as d:
        c = d.client()
        sid = c.upload(helper("hello"))["id"]
        r = c.cmd(f"SHARE {sid} nobody")
        ok(r.get("error_code") == "not_permitted" and "root" in r["message"],
           "user mode: SHARE says why not", r)
        ok(c.cmd("AUDIT")["events"], "user mode: AUDIT is for the user")


tests = [read_only_share, read_only_shares_see_names_and_no_values,
         read_write_share,
         labels_are_ones_own,
         labels_by_other_doors, labels_for_administrators, own_before_shared,
         wrong_shares,
         shares_end_with_the_spawner, administrators,
         administrators_no_more,
         root_is_admin_by_the_local_socket_alone, admin_group,
         no_admin_any_more, whoami,
         refusals_are_audited]
run_tests(*(tests if SYSTEM else []), alone(user_mode, ("user",)))
