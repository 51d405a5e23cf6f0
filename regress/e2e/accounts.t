#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# Accounts that are let in: those with a login shell, or as allow and deny of
# the configuration say, at every door and for each new session.
import contextlib
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (ACCOUNTS, ALICE, AS_ROOT, BOB, Client, Daemon, alone,  # noqa
                eq, free_port, helper, ok, read_proc, run_tests, token_of,
                wait_for)
from tlsclient import Authority, TlsClient, context, with_tls  # noqa: E402
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


def an_account_needs_a_login_shell(mode):
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


def allow_and_deny_rules(mode):
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


def tokens_and_web_follow_the_rules(mode):
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


def ended(c, seconds=60):
    """Whether the daemon closes a connection."""
    c.s.settimeout(seconds)
    try:
        while c.s.recv(65536):
            pass
    except OSError as e:
        return isinstance(e, ConnectionError)
    return True


def a_denied_user_loses_connections_not_sessions(mode):
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
            ok(ended(c, 20), "its connections end")
        ok(b"sleeper" in read_proc(s["pid"], "comm") or
           os.path.exists(f"/proc/{s['pid']}"), "its session runs on")
        root = Client(d.dir + "/run/debuglantern.sock")
        r = root.cmd("START " + other)
        ok(r.get("ok") is False and "may not have sessions here" in
           r.get("message", r.get("error", "")) + str(r),
           "nobody starts another one for it", r)
        eq(root.cmd("KILL " + sid)["state"], "STOPPED",
           "an administrator may end what runs")


# --- locked and expired -----------------------------------------------------

HASH = "$6$salt$" + "x" * 86
DAY = int(time.time() // 86400)
# libpam's word on an account, with pam_unix alone: the host's own answer to
# who may log in, asked by a key as by anything else
PAM = """
import ctypes, sys
pam = ctypes.CDLL("libpam.so.0")
class Conv(ctypes.Structure):
    _fields_ = [("fn", ctypes.c_void_p), ("data", ctypes.c_void_p)]
def said(n, msgs, answers, data):
    return 0
fn = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_void_p,
                      ctypes.c_void_p, ctypes.c_void_p)(said)
for name in sys.argv[1:]:
    h = ctypes.c_void_p()
    conv = Conv(ctypes.cast(fn, ctypes.c_void_p), None)
    if pam.pam_start(b"dl-test", name.encode(), ctypes.byref(conv),
                     ctypes.byref(h)) != 0:
        sys.exit("pam_start")
    print(name, pam.pam_acct_mgmt(h, 0))
    pam.pam_end(h, 0)
"""
# PAM_SUCCESS and PAM_NEW_AUTHTOK_REQD: sshd lets both in
GOOD = (0, 12)
NEW = f"{HASH}:{DAY}:0:99999:7:::"
# fields of shadow after the name, and commands for it
ENTRIES = (
    (NEW, ()), (NEW, ("usermod -L",)), (NEW, ("usermod -L", "usermod -U")),
    (NEW, ("passwd -q -l",)), (NEW, ("passwd -q -l", "passwd -q -u")),
    (NEW, ("usermod -L -e 1",)), (NEW, ("usermod -e 2020-01-01",)),
    (NEW, ("chage -E 0",)), (NEW, ("chage -E 0", "chage -E -1")),
    (NEW, (f"chage -E {DAY}",)), (NEW, (f"chage -E {DAY + 2}",)),
    (NEW, ("chage -d 0",)), (NEW, (f"chage -d {DAY - 9} -M 5",)),
    (NEW, (f"chage -d {DAY - 9} -M 5 -I 0",)),
    (NEW, (f"chage -d {DAY - 9} -M 5 -I 2",)),
    (NEW, (f"chage -d {DAY - 9} -M 5 -I 6",)),
    (NEW, (f"chage -d {DAY + 9} -M 5 -I 0",)),
    (f"{HASH}::0:5:7:0::", ()), (f"{HASH}:::::::", ()),
    # no password at all, as useradd, adduser and cloud images leave it
    (f"!:{DAY}:0:99999:7:::", ()), (f"*:{DAY}:0:99999:7:::", ()),
    (f"!:{DAY}:0:99999:7:::", ("passwd -q -l",)),
    (f"*:{DAY}:0:99999:7:::", ("usermod -L",)),
    (f"!:{DAY}:0:99999:7:::", ("chage -E 0",)),
    (f"*:{DAY}:0:99999:7:::", (f"chage -E {DAY + 2}",)))


@contextlib.contextmanager
def shadowed(shadow, conf="", **kw):
    """A daemon where these users have entries in /etc/shadow: {uid: fields}."""
    with tempfile.TemporaryDirectory(prefix="dl-accounts-") as tmp:
        os.mkdir(tmp + "/etc")
        for name, line in (("passwd", "u{u}:x:{u}:{u}::/:/bin/sh\n"),
                           ("group", "u{u}:x:{u}:\n"),
                           ("shadow", "u{u}:{f}\n")):
            with open(f"{tmp}/{name}", "w") as f:
                f.writelines(line.format(u=u, f=x) for u, x in shadow.items()
                             if x is not None or name != "shadow")
        with open(tmp + "/pam", "w") as f:
            f.write("account required pam_unix.so\n")
        with Daemon("system", conf, wrapper=["unshare", "-m", "sh", "-c", (
                ACCOUNTS.replace("mount --move", 'cat "$0"/shadow >>'
                                 '"$0"/etc/shadow && cp "$0"/pam "$0"/etc/'
                                 'pam.d/dl-test && mount --move')), tmp],
                    **kw) as d:
            yield d


def inside(d, *argv):
    """A command of the host's, where the daemon's /etc is."""
    r = subprocess.run(["nsenter", "-m", "-t", str(d.proc.pid), *argv],
                       capture_output=True, text=True, check=False)
    if r.returncode != 0:
        raise RuntimeError(f"{argv}: {r.stdout}{r.stderr}")
    return r.stdout


def tool(d, command, uid):
    return inside(d, *command.split(), f"u{uid}")


def pam_says(d, uids):
    """{uid: what the account phase of PAM returns}"""
    out = inside(d, "/usr/bin/python3", "-c", PAM, *[f"u{u}" for u in uids])
    return {int(x.split()[0][1:]): int(x.split()[1])
            for x in out.splitlines()}


def has_lock(d, uid):
    """The tools' word: pam_unix does not care.  What usermod -U changes was
    locked."""
    def entry():
        return tool(d, "getent shadow", uid)
    before = entry()
    try:
        tool(d, "usermod -U", uid)
    except RuntimeError:
        # "would result in a passwordless account"
        return False
    return entry() != before


def who_is_locked_is_what_the_host_says(mode):
    """Whom the host's tools lock out, and nobody else, is not let in."""
    rows = {CAROL + i: row for i, row in enumerate(ENTRIES)}
    with shadowed({u: r[0] for u, r in rows.items()}) as d:
        for uid, (_, commands) in rows.items():
            for command in commands:
                tool(d, command, uid)
        says = pam_says(d, rows)
        got = {u: answer(d.port, u) for u in rows}
        locked = {u: has_lock(d, u) for u in rows}
        for uid, (fields, commands) in rows.items():
            want = "let in" if says[uid] in GOOD and not locked[uid] else \
                REFUSED
            eq(got[uid], want, f"{fields.replace(HASH, 'HASH')} "
               f"{'; '.join(commands)}: PAM says {says[uid]}, "
               f"{'locked' if locked[uid] else 'not locked'}")
        eq(({says[u] in GOOD for u in rows}, set(locked.values())),
           ({True, False}, {True, False}), "there are accounts of each kind")


def a_locked_account_loses_tokens_keys_and_starts(mode):
    """While the daemon runs: all that counts for the account is lost, what
    runs goes on, and with the lock all of it comes back."""
    with shadowed({ALICE: NEW, BOB: NEW, CAROL: None}, "listen on localhost\n"
                  f"listen on 127.0.0.3 auth none as u{ALICE} plain\n",
                  web=True) as d:
        eq(answer(d.port, CAROL), "let in", "an account without an entry, as "
           "those of directories, is let in")
        token = token_of(d, uid=ALICE)
        a, b = d.client(ALICE), d.client(BOB)
        sid, s = a.start(helper("sleeper"), until=b"ready")
        other = a.upload(helper("hello"))["id"]
        shared = b.upload(helper("hello"))["id"]
        a.send("NEW tty start=now -- sleep 100\n")
        term = a.json()["id"]
        key = a.cmd("KEYS " + term)["token"]
        root = Client(d.dir + "/run/debuglantern.sock")
        for command, text in (("usermod -L", "is locked"),
                              ("chage -E 0", "has expired")):
            tool(d, command, ALICE)
            # as long as an account is remembered, and no more
            ok(wait_for(lambda: answer(d.port, ALICE) == REFUSED, 20, 0.5),
               f"{command}: it is let in no more, within 20 seconds")
            for address, host_of in ((d.port, "127.0.0.1"),
                                     (d.port, "127.0.0.3"),
                                     (d.dir + "/run/debuglantern.sock", None)):
                c = Client(address, host_of, ALICE) if host_of else \
                    Client(address, uid=ALICE)
                r = c.cmd("LIST")
                ok(r.get("error_code") == REFUSED and f"account {text}" in
                   str(r), f"{command}: a connection is told so", r)
                c.close()
            # of many refusals in a row only some are in the log
            line = f"u{ALICE} (uid {ALICE}) {text}; to let it in: "
            ok(wait_for(lambda: answer(d.port, ALICE) == REFUSED and
                        line in d.log(), 30, 0.5),
               f"{command}: the log says how to undo it", d.log()[-800:])
            r = wait_for(lambda: (lambda r: r if r.status != 200 else None)(
                Web(d, token).get("sessions")), 20)
            ok((r.status, r.code) == (401, "auth_failed") and
               text in r.body.decode(), f"{command}: its token is good for "
               "nothing", r.body)
            eq(answer(d.port, 0, "AUTH " + token), "auth_failed",
               f"{command}: nor by AUTH")
            eq(answer(d.port, 0, "AUTH " + key), "auth_failed",
               f"{command}: nor a key of its terminal")
            r = root.cmd("START " + other)
            ok(r.get("ok") is False and text in str(r),
               f"{command}: nobody starts a session for it", r)
            r = root.cmd(f"TOKEN create for=u{ALICE}")
            eq(r.get("error_code"), "invalid_argument",
               f"{command}: nobody makes it a token")
            r = b.cmd(f"SHARE {shared} u{ALICE}")
            eq(r.get("error_code"), "invalid_argument",
               f"{command}: nobody shares with it")
            eq(root.cmd("STATUS " + sid)["state"], "RUNNING",
               f"{command}: its session runs on")
            eq(answer(d.port, BOB), "let in", f"{command}: others are not "
               "affected")
            tool(d, {"usermod -L": "usermod -U", "chage -E 0":
                     "chage -E -1"}[command], ALICE)
            ok(wait_for(lambda: answer(d.port, ALICE) == "let in", 20,
                        0.5), f"{command}: undone, it is let in again")
            ok(wait_for(lambda: Web(d, token).get("sessions").status == 200,
                        20, 0.5), f"{command}: with its token")
        a = d.client(ALICE)
        eq(a.cmd("KILL " + sid)["state"], "STOPPED", "and has its session")
        sid, s = a.run(helper("hello"))
        eq(s.get("exit_code"), 0, "and may start others")


def a_certificate_of_a_locked_account_is_refused(mode):
    """A client's certificate is no way in for an account that is locked."""
    with tempfile.TemporaryDirectory(prefix="dl-accounts-") as tmp:
        os.chmod(tmp, 0o755)
        ca = Authority(tmp + "/ca")
        os.chmod(ca.dir, 0o755)
        os.chmod(ca.cert, 0o644)
        port, conf = with_tls(f'tls client-ca "{ca.cert}"\n')
        with shadowed({ALICE: NEW, BOB: NEW}, conf) as d:
            tool(d, "passwd -q -l", ALICE)
            for uid, want in ((ALICE, REFUSED), (BOB, None)):
                pair = ca.issue(str(uid), f"/CN=u{uid}")
                r = TlsClient(port, 0, context(*pair)).cmd("WHOAMI")
                eq((r.get("error_code"), r.get("user")),
                   (want, None if want else f"u{uid}"),
                   "a certificate of a user that is " +
                   ("locked" if want else "not"))


def connections_of_a_locked_account_end(mode):
    """Those that the account has end within a minute, as do its guests'."""
    with shadowed({ALICE: NEW, BOB: NEW}, "listen on localhost\n",
                  web=True) as d:
        a, b, follower = d.client(ALICE), d.client(BOB), d.client(ALICE)
        sid, s = a.start(helper("sleeper"), until=b"ready")
        follower.send(f"FOLLOW {sid}\n")
        follower.recv_line()
        a.send("NEW tty start=now -- sleep 1000\n")
        key = a.cmd("KEYS " + a.json()["id"])["read_only_token"]
        guest = d.client(0)
        eq(guest.cmd("AUTH " + key).get("ok"), True, "a guest comes")
        by_token = d.client(0)
        eq(by_token.cmd("AUTH " + token_of(d, uid=ALICE)).get("ok"), True,
           "a client comes by a token")
        tool(d, "usermod -L", ALICE)
        eq([ended(c) for c in (a, follower, guest, by_token)], [True] * 4,
           "all of them end")
        root = Client(d.dir + "/run/debuglantern.sock")
        eq(root.cmd("STATUS " + sid)["state"], "RUNNING",
           "the session runs on")
        eq(b.cmd("LIST"), [], "others' connections are as before")


def gone_and_back(d, uid, what, break_it, mend_it):
    """While nobody can tell, nobody is let in but root."""
    break_it()
    eq(answer(d.port, uid), "try_again", f"{what}: an account that nobody "
       "has asked for is told to try again")
    eq(answer(d.dir + "/run/debuglantern.sock", 0), "let in",
       f"{what}: root is let in")
    mend_it()
    ok(wait_for(lambda: answer(d.port, uid) == "let in", 20),
       f"{what}: and then it is let in", d.log()[-500:])


def nobody_can_tell(mode):
    """acctproc dies, stands still or cannot read: no lock is overlooked."""
    users = {ALICE + i: NEW for i in range(4)}
    with shadowed(users) as d:
        first, second, third, fourth = users
        tool(d, "usermod -L", fourth)

        def stop(sig):
            os.kill(d.role_pid("acctproc"), sig)
        gone_and_back(d, first, "acctproc stands still",
                      lambda: stop(signal.SIGSTOP),
                      lambda: stop(signal.SIGCONT))
        ok("acctproc does not answer" in d.log(), "the log has it")
        gone_and_back(d, second, "/etc/shadow is for root alone",
                      lambda: inside(d, "chmod", "600", "/etc/shadow"),
                      lambda: inside(d, "chmod", "640", "/etc/shadow"))
        ok("cannot read /etc/shadow: Permission denied; nobody but root" in
           d.log(), "the log says what is missing", d.log()[-500:])
        for i in range(3):
            old = d.role_pid("acctproc")
            stop(signal.SIGKILL)
            ok(wait_for(lambda: d.role_pid("acctproc") not in (None, old)),
               f"acctproc is killed: another one comes ({i})")
        ok(wait_for(lambda: answer(d.port, third) == "let in", 20),
           "which serves")
        eq(answer(d.port, fourth), REFUSED, "and knows who is locked")
        # acctgate cannot be made again without root
        gate = d.role_pid("acctgate")
        os.kill(gate, signal.SIGKILL)
        wait_for(lambda: d.role_pid("acctgate") is None)
        a = d.client(third)
        sid, _ = a.start(helper("sleeper"), until=b"ready")
        stop(signal.SIGKILL)
        wait_for(lambda: d.role_pid("acctproc") is None)
        ok(wait_for(lambda: "only root is admitted; restart debuglanternd" in
                    d.log()), "without that the log says what to do",
           d.log()[-500:])
        hup(d)
        ok(wait_for(lambda: answer(d.port, third) == "try_again", 20),
           "nobody is let in")
        root = Client(d.dir + "/run/debuglantern.sock")
        eq(root.cmd("STATUS " + sid)["state"], "RUNNING", "but root, and "
           "sessions are as before")
        d.stop()
        eq(d.proc.returncode, 0, "the daemon stops as always")


def no_group_may_read(mode):
    """As on hosts where shadow is root's alone: said, and all are let in."""
    with shadowed({ALICE: NEW}) as d:
        tool(d, "usermod -L", ALICE)
        ok("locked or expired are let in" not in d.log(), "nothing is said "
           "where it can be read")
        inside(d, "chmod", "000", "/etc/shadow")
        eq(answer(d.port, ALICE), "try_again", "(it is locked)")
        with Daemon("system", wrapper=["nsenter", "-m", "-t",
                                       str(d.proc.pid)]) as e:
            eq(sorted(n for n in e.children().values() if "acct" in n), [],
               "there is no process for it")
            ok("accounts that are locked or expired are let in" in e.log()
               and "chgrp shadow /etc/shadow" in e.log(), "the log says so, "
               "and the remedy", e.log())
            eq(answer(e.port, ALICE), "let in", "who is locked is let in")


def user_mode_is_unaffected(mode):
    """A user's own daemon asks for no shell and no rule."""
    with Daemon("user", f"deny user daemon\nallow user daemon\n") as d:
        sid, s = d.client().run(helper("hello"))
        eq(s.get("exit_code"), 0, "the user is let in")


run_tests(alone(an_account_needs_a_login_shell, SYSTEM),
          alone(allow_and_deny_rules, SYSTEM),
          alone(tokens_and_web_follow_the_rules, SYSTEM),
          alone(a_denied_user_loses_connections_not_sessions, SYSTEM),
          alone(who_is_locked_is_what_the_host_says, SYSTEM),
          alone(a_locked_account_loses_tokens_keys_and_starts, SYSTEM),
          alone(a_certificate_of_a_locked_account_is_refused, SYSTEM),
          alone(connections_of_a_locked_account_end, SYSTEM),
          alone(nobody_can_tell, SYSTEM),
          alone(no_group_may_read, SYSTEM),
          alone(user_mode_is_unaffected, ("user",)))
