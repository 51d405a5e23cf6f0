#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# kill -9, and SIGSTOP with SIGCONT, of each process at each message that it
# handles while each command runs: whoever asked is answered or cut off, the
# next one is served, another user's session has lost no byte, nothing is left
# behind, and who comes after is confined as who was before.
#
# A test is a command: DL_ONLY=START runs what has that in its name.
import atexit
import base64
import contextlib
import json
import os
import re
import signal
import sys
import threading
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from faults import (HELD, HOLD, HONEST, LONG, MESSAGE, SMALL, SO_THEN,
                    STANDING, WRITE, Baseline, recovers, rest, roles_of, stage,
                    tidied)
from dl import (AS_ROOT, BOB, Daemon, alone, eq, helper, passwd_wrapper,
                read_proc, run_tests, small_tree, stat_of, status_of, tap,
                tar_of, wait_for)
from tlsclient import TlsClient, with_tls

PLANS = stage()
# BOB has an account there, and mounts of others are none of it
CLEANUP = contextlib.ExitStack()
atexit.register(CLEANUP.close)
WRAPPER = CLEANUP.enter_context(passwd_wrapper(BOB)) if AS_ROOT else []
# the host's own libraries may be gigabytes
PACKED = CLEANUP.enter_context(small_tree(SMALL)) if AS_ROOT else []
TOY = helper("toy_adapter")
CONF = f'stop-timeout 1\nadapter toy command "{TOY} lldb-dap"\n' + \
    (f"admin user u{BOB}\n" if AS_ROOT else "")
# who answers is to have answered by then
PATIENCE = 60
# after so many deaths the next restart would be waited for
MOST_KILLS = 4
COMMANDS = os.path.join(os.path.dirname(__file__),
                        "../../netproc/cmd/commands.c")
# processes that a command may pass through, and those that only stand by
TAKING = ("netproc", "spawner", "launcher", "idproc", "tlsproc", "acctproc",
          "archiver", "debugger", "tracer", "symbols")
# who has no messages is met at what it writes, and not each time: a large
# archive has thousands
STEPS, MOST = {"archiver": WRITE}, {"archiver": 5}
IDLE = ("reserve", "logger", "announcer", "idproc", "tlsproc", "acctproc")


# --- the commands ---------------------------------------------------------

def loaded(c):
    return c.upload(helper("hello"))["id"]


def running(c):
    return c.start(helper("echo"))[0]


def sleeping(c):
    return c.start(helper("sleeper"), until=b"ready")[0]


def shared(c):
    sid = loaded(c)
    c.cmd(f"SHARE {sid} u{BOB}")
    return sid


def ended(c):
    return c.run(helper("hello"), wait=PATIENCE)[0]


def on_tty(c):
    return c.cmd("NEW tty start=now -- /bin/cat")["id"]


def bundle():
    data = tar_of(("run", helper("hello")))
    return b"UPLOAD %d run\n" % len(data) + data


def launch(name):
    return "TRACER start name=" + name + " " + json.dumps({
        "command": "launch", "args": {
            "command": helper("sleeper"), "args": [], "cwd": "/", "env": {},
            "projectRoot": "/", "trace": {"add": ["main"]}}})


def debug(name):
    return "DEBUGGER start name=" + name + " " + json.dumps({
        "command": "start", "args": {
            "program": helper("sleeper"), "args": [], "cwd": "/", "env": [],
            "adapter": "toy", "stop_on_entry": True}})


def debugged(c):
    return name_of(c, debug("t"))


def traced(c):
    return name_of(c, launch("t"))


def name_of(c, line):
    r = c.cmd(line)
    if "error" in r or "error_code" in r:
        raise RuntimeError(f"{line}: {r}")
    return "t"


def token(c):
    return c.cmd("TOKEN create")["token"]


# what is made before, and lines that are sent; {s} is what was made
ROWS = {
    "UPLOAD": [(None, bundle)],
    "NEW": [(None, "NEW tty start=now -- /bin/cat")],
    "START": [(loaded, "START {s}"), (loaded, "START {s} --debug")],
    "ARGS": [(loaded, "ARGS {s} a b")],
    "ENV": [(loaded, "ENV {s} A=b")],
    "ENVDEL": [(loaded, "ENVDEL {s} A")],
    "ENVLIST": [(loaded, "ENVLIST {s}")],
    "STOP": [(sleeping, "STOP {s}")],
    "KILL": [(sleeping, "KILL {s}")],
    "DEBUG": [(sleeping, "DEBUG {s}")],
    "LIST": [(None, "LIST")],
    "STATUS": [(loaded, "STATUS {s}")],
    "DELETE": [(ended, "DELETE {s}")],
    "OUTPUT": [(ended, "OUTPUT {s} 0")],
    "DEPS": [(None, "DEPS")],
    "SYSROOT": [(None, "SYSROOT")],
    "ACTIVITY": [(None, "ACTIVITY")],
    "FOLLOW": [(sleeping, "FOLLOW {s} 0 base64")],
    "WAIT": [(running, "WAIT {s} 1")],
    "SIGNAL": [(running, "SIGNAL {s} CONT")],
    "INPUT": [(running, "INPUT {s} 3\nabc"), (running, "INPUT {s} eof")],
    "RESIZE": [(on_tty, "RESIZE {s} 100 30")],
    "MARK": [(on_tty, "MARK {s}")],
    "NAME": [(loaded, "NAME {s} label")],
    "LIMITS": [(loaded, "LIMITS {s} cpu=5")],
    "GDBPIPE": [(sleeping, "GDBPIPE {s}")],
    "DEBUGGER": [(None, lambda: debug("t").encode() + b"\n"),
                 (debugged, 'DEBUGGER {s} {{"command":"status","args":{{}}}}')],
    "TRACER": [(None, lambda: launch("t").encode() + b"\n"),
               (traced, 'TRACER {s} {{"command":"functions","args":'
                '{{"pattern":"main"}}}}')],
    "MCP": [(None, 'MCP {{"message":{{"jsonrpc":"2.0","id":1,'
             '"method":"ping"}}}}')],
    "SHARE": [(loaded, f"SHARE {{s}} u{BOB}")],
    "UNSHARE": [(shared, f"UNSHARE {{s}} u{BOB}")],
    "HELLO": [(None, "HELLO")],
    "AUTH": [(token, "AUTH {s}")],
    "WHOAMI": [(None, "WHOAMI")],
    "USAGE": [(running, "USAGE")],
    "QUOTA": [(None, "QUOTA")],
    "TOKEN": [(None, "TOKEN list")],
    "LOGIN": [(None, "LOGIN link")],
    "TICKET": [(on_tty, "TICKET {s}")],
    "KEYS": [(on_tty, "KEYS {s} rotate")],
    "ATTACH": [(on_tty, "ATTACH {s}")],
    "AUDIT": [(None, "AUDIT")],
    "VERSION": [(None, "VERSION")],
    "HELP": [(None, "HELP")],
}
# who asks, where it is not the one who does all else
ASKERS = {"AUDIT": BOB}
# ... in user mode there is nobody else
ALONE = ("SHARE", "UNSHARE")
# ... and what every one of them begins with
DOORS = ("CONNECT", "TLS")


def verbs():
    with open(COMMANDS) as f:
        return set(re.findall(r'^\t\{ "([A-Z]+)",', f.read(), re.M))


class Asked(threading.Thread):
    """A line that is answered, or not, meanwhile."""

    def __init__(self, d, verb, make, line):
        super().__init__(daemon=True)
        self.d, self.verb, self.line = d, verb, line
        self.answer, self.wrong, self.c = None, None, None
        if verb not in DOORS:
            uid = ASKERS.get(verb) if d.uid is None else None
            self.c = d.client(uid, timeout=PATIENCE)
            made = make(self.c) if make else None
            self.data = line() if callable(line) else \
                (line.format(s=made) + ("" if "\n" in line else
                                        "\n")).encode()
            if verb == "AUTH":
                self.c.close()
                self.c = d.client(timeout=PATIENCE)

    def door(self):
        if self.verb == "TLS":
            return TlsClient(self.d.tls_port, self.d.uid, timeout=PATIENCE)
        return self.d.client(timeout=PATIENCE)

    def run(self):
        try:
            if self.c is None:
                self.c = self.door()
                self.data = b"WHOAMI\n"
            self.c.send(self.data)
            self.answer = self.answered()
        except TimeoutError:
            self.wrong = "hangs"
        except (EOFError, OSError):
            self.answer = {"error_code": "lost"}
        except ValueError as e:
            self.wrong = repr(e)

    def answered(self):
        """All of it: what follows in bytes is in no other answer."""
        line = self.c.recv_line()
        if m := re.fullmatch(rb"SYSROOT ([0-9]+)", line):
            return self.archive(int(m[1]))
        return json.loads(line)

    def archive(self, n):
        z = zlib.decompressobj(31)
        while n > 0:
            data = self.c.recv_bytes(min(n, 1 << 16))
            z.decompress(data)
            n -= len(data)
        return {} if z.eof else {"error_code": "ends early"}

    def code(self):
        r = self.answer
        if not isinstance(r, dict):
            return None
        return r.get("error_code")

    def close(self):
        if self.c is not None:
            self.c.close()


# --- what must not notice -------------------------------------------------

class Standing:
    """Another user's session, which says numbered lines all the time."""

    def __init__(self, d):
        self.d = d
        # in user mode there is but one
        self.uid = BOB if d.uid is None else d.uid
        c = d.client(self.uid)
        self.sid, r = c.start(helper("flood"), "0 4000", until=b"1\n")
        c.cmd(f"NAME {self.sid} {STANDING}")
        self.pid, self.total = r["pid"], 0
        c.close()

    def state(self):
        c = self.d.client(self.uid, timeout=PATIENCE)
        try:
            s, r = c.cmd("STATUS " + self.sid), \
                c.cmd(f"OUTPUT {self.sid} 0 base64")
        finally:
            c.close()
        if "error_code" in s or "error_code" in r:
            return s, r
        data = base64.b64decode(r["output"])
        first = r["offset"] // 16
        want = b"".join(b"%015d\n" % i for i in range(
            first, first + len(data) // 16 + 2))
        if data != want[r["offset"] % 16:][:len(data)]:
            return "output", r["offset"], len(data)
        if r["offset"] > self.total:
            return "gap", r["offset"], self.total
        if (s["state"], s["pid"]) != ("RUNNING", self.pid):
            return s
        grown, self.total = r["total"] > self.total, r["total"]
        return None if grown else "stands still"

    def wrong(self):
        """None, or what is wrong with it; it is given time to be looked at,
        but what it has lost does not come back."""
        why = [None]

        def well():
            try:
                why[0] = self.state()
            except (OSError, EOFError, ValueError) as e:
                why[0] = repr(e)
            return why[0] is None
        wait_for(well, PATIENCE)
        return why[0]


NAMED = re.compile(r"(/memfd:\S*|/\S+\.so\S*|/\S*/libexec/\S+)")


def maps_of(pid):
    """Mappings of files, without those that memory comes and goes by."""
    out = {}
    for line in read_proc(pid, "maps").decode(errors="replace").splitlines():
        m = NAMED.search(line)
        if m:
            out[m[1]] = out.get(m[1], 0) + 1
    return out


def rights_of(pid):
    """Not how many filters: who comes later has the parent's as well, which
    it takes when all others have started.  e2e/filters.t knows them."""
    st = status_of(pid)
    try:
        root = os.stat(f"/proc/{pid}/root/")
        root = root.st_dev, root.st_ino
    except OSError as e:
        root = e.errno
    host = [n for n in ("user", "mnt", "pid", "net", "ipc", "uts")
            if link(pid, n) == link(os.getpid(), n)]
    # each has an empty root of its own, unless it has the host's
    top = os.stat("/")
    return ([st.get(k) for k in ("Uid", "Gid", "Groups", "NoNewPrivs",
                                 "Seccomp", "CapInh", "CapPrm", "CapEff",
                                 "CapBnd", "CapAmb")],
            root == (top.st_dev, top.st_ino), host)


def link(pid, ns):
    try:
        return os.readlink(f"/proc/{pid}/ns/{ns}")
    except OSError:
        return None


def rights(d):
    return {name: sorted(map(repr, map(rights_of, pids)))
            for name, pids in roles_of(d).items()}


def maps(d):
    return [maps_of(p) for p in [d.proc.pid, *d.children("spawner")]]


def settles(fn, want):
    now = [None]

    def same():
        now[0] = fn()
        return now[0] == want
    return None if wait_for(same, LONG, 0.1) else (want, now[0])


# --- the matrix -----------------------------------------------------------

class Rig:
    """A daemon, and what it was before it was harmed."""

    def __init__(self, mode, tls, stands, packs):
        rest(PLANS)
        port, text = with_tls(CONF) if tls else (None, CONF)
        self.d = Daemon(mode, text,
                        wrapper=WRAPPER + (PACKED if packs else []))
        self.d.tls_port, self.kills, self.mode = port, 0, mode
        try:
            self.settle(stands)
        except BaseException:
            self.d.__exit__(Exception)
            raise

    def settle(self, stands):
        self.standing = Standing(self.d) if stands else None
        self.base = Baseline(self.d, standing=False, memory=False)
        self.rights, self.maps = rights(self.d), maps(self.d)

    def close(self):
        rest(PLANS)
        self.d.__exit__(None)

    def wrong(self):
        """All that is not as before."""
        if self.d.proc.poll() is not None:
            return [("the daemon has ended", self.d.log()[-2000:])]
        out = []
        if why := recovers(self.d, standing=False):
            out.append(("afterwards", why))
        if self.standing and (why := self.standing.wrong()):
            out.append(("another's session", why))
        if why := self.base.again():
            out.append(("left", why))
        if why := settles(lambda: rights(self.d), self.rights):
            out.append(("rights", why))
        if why := settles(lambda: maps(self.d), self.maps):
            out.append(("mapped", why))
        return out


def by_age(d, name):
    return sorted(d.children(name), key=lambda p: (stat_of(p) or [0] * 4)[3])


def held_by(d, role, number):
    """Its pid here: it may have said the one of a namespace of its own.  Of
    those that say the same it is the youngest: other sessions' are older."""
    found = []
    for p in d.processes():
        try:
            exe = os.path.basename(os.readlink(f"/proc/{p}/exe"))
        except OSError:
            exe = ""
        name = (stat_of(p) or ("",))[0]
        if role in (exe, name) and \
                status_of(p).get("NSpid", "").split()[-1:] == [str(number)]:
            found.append(((stat_of(p) or [0] * 4)[3], p))
    return max(found)[1] if found else None


def harm(pid, how):
    if pid is None:
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, how)


def bystander(d, name):
    if name != "reserve":
        return d.role_pid(name)
    pids = by_age(d, "launcher")
    return pids[-1] if len(pids) > 1 else None


def tidy(d):
    c = d.client(timeout=PATIENCE)
    try:
        wait_for(lambda: not tidied(c)[1], PATIENCE)
    finally:
        c.close()


def refusal(mode, verb):
    return "not_permitted" if verb in ALONE and mode == "user" else None


def cell(rig, verb, row, role, victim, n, how):
    """(whether there was such a step, all that is wrong).  The role is held
    at its nth message, and it or a bystander is harmed then; of a command
    that makes no message, at the 0th, somewhere on its way."""
    plan, d = PLANS[role], rig.d
    asked = Asked(d, verb, *row)
    if n > 0:
        plan.order(HOLD, STEPS.get(role, MESSAGE), n)
    asked.start()
    held, pid = False, None
    if n == 0:
        held, pid = True, bystander(d, victim or role)
    elif held := wait_for(lambda: plan.held or not asked.is_alive() and -1,
                          PATIENCE, 0.002) > 0:
        pid = held_by(d, role, plan.held) if victim is None else \
            bystander(d, victim)
    harm(pid, how)
    plan.rest()
    plan.u32(HELD, 0)
    if pid is not None and how == signal.SIGSTOP:
        # long enough for others to wait for it
        time.sleep(0.2)
        harm(pid, signal.SIGCONT)
    asked.join(2 * PATIENCE)
    wrong = [("hangs", verb)] if asked.is_alive() else \
        [(verb, asked.wrong)] if asked.wrong else []
    if asked.code() not in HONEST | SO_THEN | {None, "lost",
                                               refusal(rig.mode, verb)}:
        wrong.append((verb, asked.answer))
    asked.close()
    if held and pid is None:
        wrong.append(("who is to be harmed?", victim or role))
    if pid is None:
        tidy(d)
        return held, wrong
    rig.kills += how == signal.SIGKILL
    return True, wrong + rig.wrong()


class Rigs:
    """One at a time; a new one when another kind is wanted, when restarts
    would have to be waited for, or when something was wrong with it."""

    def __init__(self, mode):
        self.mode, self.kind, self.rig = mode, None, None

    def get(self, *kind):
        if self.rig is None or self.kind != kind or \
                self.rig.kills >= MOST_KILLS:
            self.drop()
            self.kind, self.rig = kind, Rig(self.mode, *kind)
        return self.rig

    def drop(self):
        rig, self.rig = self.rig, None
        if rig is not None:
            rig.close()


def steps(rigs, verb, row, role, victim, how, first=1, most=1 << 30):
    """Each step of a role in a command; how many, and what is wrong."""
    n, wrong, most = first, [], min(most, MOST.get(role, most))
    ends = (victim or role) == "spawner" and how == signal.SIGKILL
    tls = verb == "TLS" or "tlsproc" in (role, victim)
    while n <= most:
        rig = rigs.get(tls, not ends, verb == "SYSROOT")
        there, bad = cell(rig, verb, row, role, victim, n, how)
        if bad:
            wrong += [(n, PLANS[role].where, x) for x in bad]
            for line in rig.d.log().splitlines()[-15:]:
                print("#  log: " + line, flush=True)
            rigs.drop()
            break
        if not there:
            break
        n += 1
    return n - first, wrong


HOW = ((signal.SIGKILL, "killed"), (signal.SIGSTOP, "stopped a while"))


def unharmed(rigs, verb, row):
    """A row that is refused anyway would meet no step."""
    rig = rigs.get(verb == "TLS", True, verb == "SYSROOT")
    asked = Asked(rig.d, verb, *row)
    asked.start()
    asked.join(2 * PATIENCE)
    out = asked.wrong, asked.code()
    asked.close()
    tidy(rig.d)
    return out


def row_of(rigs, verb, row):
    what = row[1] if isinstance(row[1], str) else verb
    eq(unharmed(rigs, verb, row), (None, refusal(rigs.mode, verb)),
       f"{what!r}: is answered")
    for how, said in HOW:
        silent = False
        for role in TAKING:
            n, wrong = steps(rigs, verb, row, role, None, how)
            silent |= role == "netproc" and n == 0 and not wrong
            if n or wrong:
                eq(wrong, [], f"{what!r}: {role} is {said} at each of {n} "
                   "steps")
        for victim in IDLE + (("netproc",) if silent else ()):
            if victim == "acctproc" and rigs.mode == "user":
                continue
            n, wrong = steps(rigs, verb, row, "netproc", victim, how, 1, 1)
            # not always is there a message
            if n == 0 and not wrong:
                n, wrong = steps(rigs, verb, row, "netproc", victim, how, 0,
                                 0)
            eq((n, wrong), (1, []), f"{what!r}: {victim} is {said} meanwhile")


def test_of(verb, rows):
    def run(mode):
        if verb == "SYSROOT" and not AS_ROOT:
            tap.skip(verb, "only root has libraries that are few")
            return
        rigs = Rigs(mode)
        try:
            for row in rows:
                row_of(rigs, verb, row)
        finally:
            rigs.drop()
    run.__name__ = verb
    return alone(run)


def all_commands():
    eq(set(ROWS), verbs(), "every command has a row")


run_tests(all_commands, *[test_of(v, r) for v, r in ROWS.items()],
          *[test_of(v, [(None, None)]) for v in DOORS])
