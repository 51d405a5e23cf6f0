#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# Accounts that are let in: those with a login shell, or as allow and deny of
# the configuration say, at every door and for each new session.
import contextlib
import os
import signal
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (ACCOUNTS, ALICE, AS_ROOT, BOB, Client, Daemon, alone,  # noqa
                eq, free_port, helper, ok, read_proc, run_tests, token_of,
                wait_for)
from web import Web  # noqa: E402

SYSTEM = ("system",) if AS_ROOT else ()
CAROL, DAVE = BOB + 20000, BOB + 20001
STAFF, FTP = 40001, 40002
USERS = {ALICE: ("/bin/sh", [STAFF]), BOB: ("/usr/sbin/nologin", [STAFF]),
         CAROL: ("/bin/false", []), DAVE: ("/opt/own/shell", [FTP])}
REFUSED = "not_permitted"


@contextlib.contextmanager
def host(conf="", **kw):
    """A daemon on a host with these accounts; d.shell() changes one."""
    with tempfile.TemporaryDirectory(prefix="dl-accounts-") as tmp:
        os.mkdir(tmp + "/etc")
        with open(tmp + "/passwd", "w") as f:
            f.writelines(f"u{u}:x:{u}:{u}::/:{shell}\n"
                         for u, (shell, _) in USERS.items())
        with open(tmp + "/group", "w") as f:
            f.writelines(f"u{u}:x:{u}:\n" for u in USERS)
            for name, gid in (("dlstaff", STAFF), ("dlftp", FTP)):
                names = [f"u{u}" for u, (_, g) in USERS.items() if gid in g]
                f.write(f"{name}:x:{gid}:{','.join(names)}\n")
        with Daemon("system", conf, wrapper=[
                "unshare", "-m", "sh", "-c", ACCOUNTS, tmp], **kw) as d:
            yield d


def etc(d, name):
    """A file of the daemon's own /etc."""
    return f"/proc/{d.proc.pid}/root/etc/{name}"


def change(d, name, old, new):
    with open(etc(d, name)) as f:
        text = f.read()
    ok(old in text, f"{name} has {old!r}")
    with open(etc(d, name), "w") as f:
        f.write(text.replace(old, new))


def hup(d, conf=None):
    if conf is not None:
        with open(d.conf_path) as f:
            base = f.read()
        d.write_conf(base + conf)
    seen = len(d.log())
    d.proc.send_signal(signal.SIGHUP)
    wait_for(lambda: "reloaded" in d.log()[seen:])
    return d.log()[seen:]


def answer(address, uid, line="LIST"):
    """The answer to a new connection of a user's."""
    try:
        c = Client(address, uid=uid, timeout=10)
        c.send(line + "\n")
        r = c.json()
        c.close()
    except (OSError, EOFError):
        return "closed"
    return r.get("error_code") if isinstance(r, dict) else "let in"


def let_in(d, want):
    """Principals by TCP; the local socket must say the same."""
    def at(address):
        return {u for u in USERS if answer(address, u) == "let in"}
    local = d.dir + "/run/debuglantern.sock"
    # a reload reaches idproc when the log has told of it, or a moment later
    wait_for(lambda: at(d.port) == want and at(local) == want)
    tcp = at(d.port)
    eq(at(local), tcp, "the local socket and the loopback address agree")
    return tcp


def by_shell(mode):
    with host() as d:
        eq(let_in(d, {ALICE}), {ALICE}, "only an account with a shell of /etc/shells "
           "that is no nologin is let in")
        eq(answer(d.port, BOB), REFUSED, "the others are told so")
        ok(wait_for(lambda: f"u{BOB} (uid {BOB}) has no login shell" in
                    d.log() and f'"allow user u{BOB}"' in d.log()),
           "and the log says why, and what would let them in", d.log())
        root = Client(d.dir + "/run/debuglantern.sock")
        eq(root.cmd("LIST"), [], "root is let in")
        a = d.client(ALICE)
        eq(root.cmd(f"TOKEN create for=u{BOB}").get("error_code"),
           "invalid_argument", "no token is made for them")
        sid = a.upload(helper("hello"))["id"]
        eq(a.cmd(f"SHARE {sid} u{BOB}").get("error_code"),
           "invalid_argument", "and nothing shared with them")
        with open(etc(d, "shells"), "a") as f:
            f.write("/opt/own/shell\n/bin/false\n/usr/sbin/nologin\n")
        hup(d)
        eq(let_in(d, {ALICE, DAVE}), {ALICE, DAVE}, "a shell that is added to /etc/shells "
           "counts, nologin and false never do")


RULES = (
    (f"allow user u{ALICE}\n", {ALICE}),
    (f"allow user u{BOB}\n", {BOB}),
    (f"allow user u{BOB}, u{CAROL}\nallow user u{DAVE}\n",
     {BOB, CAROL, DAVE}),
    ("allow group dlstaff\n", {ALICE}),
    (f"allow group dlstaff\nallow user u{CAROL}\n", {ALICE, CAROL}),
    ("allow group dlftp\n", set()),
    (f"deny user u{ALICE}\n", set()),
    ("deny group dlstaff\n", set()),
    ("deny group dlftp\n", {ALICE}),
    (f"allow user u{ALICE}, u{BOB}\ndeny user u{ALICE}\n", {BOB}),
    (f"allow user u{ALICE}, u{DAVE}\ndeny group dlstaff\n", {DAVE}))


def by_rules(mode):
    """Deny first; then allow, if there is any; a shell otherwise."""
    with host() as d:
        with open(d.conf_path) as f:
            base = f.read()
        for rules, want in RULES:
            d.write_conf(base + rules)
            ok("was reloaded" in hup(d), "a reload takes " + repr(rules))
            eq(let_in(d, want), want, "and they are let in by it")
            eq(answer(d.dir + "/run/debuglantern.sock", 0), "let in",
               "root always")
        for rules, text in (
                ("allow user no-such-user\n", "there is no such user"),
                ("deny group no-such-group\n", "there is no such group"),
                ("deny user root\n", "root is always let in"),
                ("allow user _dlrun\n", "root is always let in")):
            d.write_conf(base + rules)
            said = hup(d)
            ok("was not reloaded" in said and text in said,
               f"{rules!r} is refused", said)


def other_doors(mode):
    """Tokens, the web, and who is named by a listener."""
    with host(f"listen on localhost\n"
              f"listen on 127.0.0.3 auth none as u{BOB} plain\n",
              web=True) as d:
        token = token_of(d, uid=ALICE)
        w = Web(d, token)
        eq(w.get("sessions").status, 200, "a token, by the web")
        eq(answer((d.port), ALICE, "AUTH " + token) is None, True,
           "and by AUTH")
        a = d.client(ALICE)
        a.send("NEW tty -- sleep 100\n")
        term = a.json()["id"]
        keys = a.cmd("KEYS " + term)
        ticket = a.cmd("TICKET " + term)["ticket"]
        for key in (keys["token"], keys["read_only_token"]):
            eq(answer(d.port, 0, "AUTH " + key), None,
               "a key of a terminal makes a guest")
        n = Client(d.port, "127.0.0.3", ALICE)
        eq(n.cmd("WHOAMI").get("user"), f"u{BOB}",
           "a user that auth none names is let in whatever its shell")
        sid, s = n.run(helper("hello"))
        eq(s.get("exit_code"), 0, "and has sessions")
        hup(d, f"deny user u{ALICE}, u{BOB}\n")
        a = wait_for(lambda: (lambda a: a if a.status != 200 else None)(
            Web(d, token).get("sessions"))) or Web(d, token).get("sessions")
        eq((a.status, a.code), (401, "auth_failed"),
           "a token of an account that is denied is good for nothing")
        ok("may not have sessions here" in a.body.decode(),
           "and says why", a.body)
        a = Web(d, token).post("/mcp", {"jsonrpc": "2.0", "id": 1,
                                        "method": "ping"})
        eq(a.status, 401, "nor for an agent's protocol")
        for key in (ticket, keys["token"], keys["read_only_token"]):
            eq(answer(d.port, 0, "AUTH " + key), "auth_failed",
               "a guest by its key is refused likewise")
        r = Client(d.port, "127.0.0.3", 0)
        eq(r.cmd("LIST").get("error_code"), REFUSED,
           "deny counts for auth none as well")
        ok('action="login" result="refused (this account may not have sessions here'
           in d.log(), "the audit log has it", d.log())


def what_goes_on(mode):
    """A denied user loses connections and new sessions, not what runs."""
    with host() as d:
        a, b = d.client(ALICE), d.client(ALICE)
        sid, s = a.start(helper("sleeper"), until=b"ready")
        other = a.upload(helper("hello"))["id"]
        b.send(f"FOLLOW {sid}\n")
        b.recv_line()
        change(d, "passwd", f"u{ALICE}:x:{ALICE}:{ALICE}::/:/bin/sh",
               f"u{ALICE}:x:{ALICE}:{ALICE}::/:/usr/sbin/nologin")
        hup(d)
        ok(wait_for(lambda: answer(d.port, ALICE) == REFUSED, 20),
           "an account whose shell is taken away is let in no more")
        for c in (a, b):
            c.s.settimeout(20)
            try:
                while c.s.recv(65536):
                    pass
                ended = True
            except OSError as e:
                ended = isinstance(e, ConnectionError)
            ok(ended, "its connections end")
        ok(b"sleeper" in read_proc(s["pid"], "comm") or
           os.path.exists(f"/proc/{s['pid']}"), "its session runs on")
        root = Client(d.dir + "/run/debuglantern.sock")
        r = root.cmd("START " + other)
        ok(r.get("ok") is False and "may not have sessions here" in
           r.get("message", r.get("error", "")) + str(r),
           "nobody starts another one for it", r)
        eq(root.cmd("KILL " + sid)["state"], "STOPPED",
           "an administrator may end what runs")


def user_mode_is_unaffected(mode):
    """A user's own daemon asks for no shell and no rule."""
    with Daemon("user", f"deny user daemon\nallow user daemon\n") as d:
        sid, s = d.client().run(helper("hello"))
        eq(s.get("exit_code"), 0, "the user is let in")


run_tests(alone(by_shell, SYSTEM), alone(by_rules, SYSTEM),
          alone(other_doors, SYSTEM), alone(what_goes_on, SYSTEM),
          alone(user_mode_is_unaffected, ("user",)))
