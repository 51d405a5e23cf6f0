#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Whose a session is: users see their own alone, who is nobody is refused,
# and what root uploads does not run as root.
import contextlib
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (ALICE, AS_ROOT, BIN, BOB, Client, Daemon, alone, connect, eq,
                helper, ok, passwd_wrapper, read_helper, run_tests,
                service_uid, stat_of, status_of, tar_of, wait_for)

SYSTEM = ("system",) if AS_ROOT else ()


def refused(port, host="127.0.0.1", uid=None):
    """No command of the connection is carried out."""
    try:
        c = Client(port, host, uid, 10)
        c.send("LIST\n")
        r = c.json()
    except (OSError, EOFError):
        return True
    return isinstance(r, dict) and r.get("ok") is False


def two_users(mode):
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, wrapper=wrapper) as d:
        a, b = d.client(ALICE), d.client(BOB)
        sid, s = a.start(helper("sleeper"), until=b"ready")
        bundle = a.upload(tar_of(("run", helper("hello"))), "run")["id"]
        a.cmd(f"NAME {sid} mine")
        a.cmd(f"NAME {bundle} bundle")
        eq(status_of(s["pid"])["Uid"].split(), [str(ALICE)] * 4,
           "a user's session runs as that user")
        eq(status_of(s["pid"])["Gid"].split(), [str(ALICE)] * 4,
           "with that user's group")
        eq(status_of(s["pid"]).get("Groups", "").split(), [str(ALICE)] if
           status_of(s["pid"]).get("Groups") else [], "and no other group")
        eq(a.cmd("STATUS " + sid)["owner"], f"u{ALICE}",
           "owner is the user's name")
        eq(len(a.cmd("LIST")), 2, "its owner sees it")
        eq(b.cmd("LIST"), [], "nobody else does")
        for line in ("START {}", "START {} --debug", "STOP {}", "KILL {}",
                     "DEBUG {}", "STATUS {}", "DELETE {}", "OUTPUT {}",
                     "OUTPUT {} 0 base64", "ARGS {} a", "ENV {} A=b",
                     "ENVDEL {} A", "ENVLIST {}", "WAIT {} 1",
                     "SIGNAL {} TERM", "NAME {} x", "LIMITS {} cpu=1",
                     "FOLLOW {}", "INPUT {} eof", "GDBPIPE {}"):
            for who in (sid, sid[:8], "mine", bundle):
                eq(b.cmd(line.format(who)).get("error_code"), "not_found",
                   f"{line.format('X')} of a foreign session: not_found")
        b.send(f"INPUT {sid} 5\nLIST\n")
        eq(b.json().get("error_code"), "not_found",
           "INPUT of a foreign session: not_found")
        eq(a.cmd("STATUS " + sid), dict(s, name="mine"),
           "and nothing has happened to it")
        r = b.cmd("ACTIVITY")
        ok(sid not in str(r) and bundle not in str(r),
           "ACTIVITY tells nothing of foreign sessions", r)
        ok(sid in str(a.cmd("ACTIVITY")), "and its owner everything")
        other = b.upload(helper("hello"))["id"]
        eq(b.cmd(f"NAME {other} mine").get("name"), "mine",
           "labels of others are not taken")
        eq((a.cmd("STATUS mine")["id"], b.cmd("STATUS mine")["id"]),
           (sid, other), "each has its own")
        a.cmd("KILL " + sid)
        for c in (a, b):
            for x in c.cmd("LIST"):
                c.cmd("DELETE " + x["id"])


def root_runs_as_dlrun(mode):
    with Daemon(mode) as d:
        c = d.client(0)
        sid, s = c.start(helper("sleeper"), until=b"ready")
        uid = service_uid("_dlrun")
        eq(status_of(s["pid"])["Uid"].split(), [str(uid)] * 4,
           "uid 0: sessions run as _dlrun")
        eq(s["owner"], "_dlrun", "uid 0: and belong to it")
        c.cmd("KILL " + sid)


def local_socket_knows_its_users(mode):
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, wrapper=wrapper) as d:
        path = d.dir + "/run/debuglantern.sock"
        a, b = Client(path, uid=ALICE), Client(path, uid=BOB)
        sid = a.upload(helper("hello"))["id"]
        eq(a.cmd("STATUS " + sid)["owner"], f"u{ALICE}",
           "local socket: the peer's user is the owner")
        eq((b.cmd("LIST"), b.cmd("STATUS " + sid)["error_code"]),
           ([], "not_found"), "local socket: others do not see it")
        eq([x["id"] for x in d.client(ALICE).cmd("LIST")], [sid],
           "local socket: the same user by TCP does")
        ok(refused(path, uid=service_uid("daemon")),
           "local socket: system users are refused")


def system_users_are_refused(mode):
    with Daemon(mode) as d:
        for name in ("daemon", "nobody", "_dlnet", "_dlspawn"):
            ok(refused(d.port, uid=service_uid(name)),
               f"{name} is refused")
        # no account: it may be gone or its directory unreachable
        ok(refused(d.port, uid=BOB) or d.client(BOB).upload(
            helper("hello")).get("ok") is False or
           "error_code" in run_as(d, BOB), "a uid without account runs "
           "nothing")


def run_as(d, uid):
    c = d.client(uid)
    return c.cmd("START " + c.upload(helper("hello")).get("id", "x"))


def min_uid(mode):
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, f"min-uid {BOB}\n", wrapper=wrapper) as d:
        ok(refused(d.port, uid=ALICE), "below min-uid: refused")
        ok(not refused(d.port, uid=BOB), "from min-uid on: served")


def user_mode_serves_its_user(mode):
    with Daemon(mode) as d:
        eq(d.client().cmd("LIST"), [], "user mode: the invoking user")
        if AS_ROOT and d.uid is not None:
            ok(refused(d.port, uid=BOB), "user mode: nobody else")
            ok(refused(d.port, uid=service_uid("_dlrun")),
               "user mode: no service user")
            ok(refused(d.port, uid=0), "user mode: not even root")


def auth_none(mode):
    """Unmodified clients of everybody's are one user's."""
    with passwd_wrapper(ALICE, BOB) as wrapper:
        who = f"u{BOB}" if mode == "system" else None
        d = Daemon(mode, "listen on localhost\nlisten on 127.0.0.2 auth none "
                   f"as {who}\n", wrapper=wrapper)
        with d:
            for uid in (ALICE, BOB, 0, service_uid("daemon")):
                c = Client(d.port, "127.0.0.2", uid)
                sid, s = c.start(helper("sleeper"), until=b"ready")
                eq((status_of(s["pid"])["Uid"].split()[0], s["owner"]),
                   (str(BOB), who), "auth none as USER: everybody is USER")
                c.cmd("KILL " + sid)
                c.cmd("DELETE " + sid)
            b = Client(d.port, "127.0.0.2", ALICE)
            sid = b.upload(helper("hello"))["id"]
            eq([x["id"] for x in d.client(BOB).cmd("LIST")], [sid],
               "and sees what USER sees by the other door")
            eq(d.client(ALICE).cmd("LIST"), [], "others do not")
            ok("auth none" in d.log(), "the log says so at the start")
            ok("127.0.0.2" in str(b.cmd("VERSION")["warnings"]),
               "VERSION says so", b.cmd("VERSION"))


def auth_none_as_root_is_refused(mode):
    d = Daemon(mode, "listen on 127.0.0.2 auth none as root\n", wait=False)
    with d:
        d.proc.wait(20)
        ok(d.proc.returncode != 0 and "root" in d.log(),
           "auth none as root: the start is refused", d.log())


def plain_is_needed(mode):
    d = Daemon(mode, "listen on 0.0.0.0 auth none as nobody\n", wait=False)
    with d:
        d.proc.wait(20)
        ok(d.proc.returncode != 0 and "plain" in d.log(),
           "auth none on all addresses needs the word plain", d.log())


def sessions_survive_their_connection(mode):
    with passwd_wrapper(ALICE) as wrapper, \
            Daemon(mode, wrapper=wrapper) as d:
        a = d.client(ALICE)
        sid, s = a.start(helper("sleeper"), until=b"ready")
        a.close()
        a = d.client(ALICE)
        eq(a.cmd("STATUS " + sid)["pid"], s["pid"],
           "the next connection of the same user sees the session")
        a.cmd("KILL " + sid)


def a_closed_client_is_nobody(mode):
    """A socket whose owner has gone reads as uid 0 in the kernel's table,
    and a process that has gone may have left its number to another."""
    with passwd_wrapper(ALICE) as wrapper, \
            Daemon(mode, wrapper=wrapper) as d:
        data = read_helper("hello")
        for door in (d.port, d.dir + "/run/debuglantern.sock"):
            for _ in range(100):
                s = Client(door, uid=ALICE)
                s.send(b"UPLOAD %d\n" % len(data) + data)
                s.close()
            # those of Alice's that were known in time are hers, none root's
            eq(d.client(0).cmd("LIST"), [], "a client that has closed is "
               "not taken for root")
            a = d.client(ALICE)
            owners = {x["owner"] for x in a.cmd("LIST")}
            ok(owners <= {f"u{ALICE}"}, "but for itself, or for nobody",
               owners)
            for x in a.cmd("LIST"):
                a.cmd("DELETE " + x["id"])


def exits_at_once(path, uid):
    """A client of the local socket that is no process any more."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setgroups([])
            os.setresgid(uid, uid, uid)
            os.setresuid(uid, uid, uid)
            with socket.socket(socket.AF_UNIX) as s:
                s.connect(path)
                s.sendall(b"UPLOAD 4\nxxxxLIST\n")
        finally:
            os._exit(0)
    os.waitpid(pid, 0)
    return pid


@contextlib.contextmanager
def unseen(d):
    """Nobody is looked up before the end of the block."""
    pid = d.role_pid("idproc")
    os.kill(pid, signal.SIGSTOP)
    try:
        # it may be awake for a moment still
        if not wait_for(lambda: stat_of(pid)[1] == "T"):
            raise RuntimeError("idproc does not stop")
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def a_process_that_has_gone(mode):
    with passwd_wrapper(ALICE) as wrapper, \
            Daemon(mode, wrapper=wrapper) as d:
        path = d.dir + "/run/debuglantern.sock"
        with unseen(d):
            gone = [exits_at_once(path, u) for u in (ALICE, 0)]
        for pid in gone:
            ok(wait_for(lambda: f"process {pid} is a session's, or gone" in
                        d.log()), "local socket: who has gone before it was "
               "looked up is nobody", d.log()[-500:])


TCP_REPAIR = 19


def a_foreign_listener(mode):
    """Where there is no client any more, the kernel tells of a listener on
    its port, be it anybody's."""
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, wrapper=wrapper) as d:
        data = read_helper("hello")
        for dies in (False, True):
            seen = len(d.log())
            with unseen(d):
                a, listener = client_and_listener(d)
                a.send(b"UPLOAD %d\n" % len(data) + data)
                if dies:
                    # without a word to the other end
                    a.s.setsockopt(socket.IPPROTO_TCP, TCP_REPAIR, 1)
                    a.close()
                    # her process holds it too: it does one after the other
                    d.client(ALICE).close()
            if dies:
                ok(wait_for(lambda: "closed already" in d.log()[seen:]),
                   "a client that has died is nobody", d.log()[seen:])
            else:
                eq(d.client(ALICE).cmd("STATUS " + a.json()["id"])["owner"],
                   f"u{ALICE}", "a foreign listener on a client's port does "
                   "not hide the client")
            eq(d.client(BOB).cmd("LIST"), [], "who listens on its port has "
               "nothing of it")
            eq(len(d.client(ALICE).cmd("LIST")), 1, "and nothing was done "
               "for the dead")
            listener.close()


def client_and_listener(d):
    """Other programs may have connections from the same port."""
    for last in (False,) * 20 + (True,):
        a = d.client(ALICE)
        # HELLO is not answered meanwhile
        a.greeted = True
        a.s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            return a, listen_as(BOB, a.s.getsockname())
        except OSError:
            if last:
                raise


def listen_as(uid, address):
    os.seteuid(uid)
    try:
        s = socket.socket()
    finally:
        os.seteuid(0)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind(address)
    s.listen(5)
    return s


# groups of the host's, by number: those below min-uid are not for programs
# unless they are named, and no program gets one that is beyond all users
GROUPS = {"dlnamed": 401, "dllow": 402, "dlhigh": 55004, "dlbeyond": 70001}


def in_groups(*more):
    """ALICE in all of these; more commands change the accounts."""
    lines = "".join(f"{name}:x:{gid}:u{ALICE}\\n"
                    for name, gid in GROUPS.items())
    return ["sh", "-c", " && ".join([f"printf '{lines}' >>/etc/group", *more,
                                     "exec \"$@\""]), "sh"]


@contextlib.contextmanager
def denying(*names):
    """Files that deny these groups what everybody may: to read them."""
    base = tempfile.mkdtemp(prefix="dl-owners-")
    try:
        os.chmod(base, 0o755)
        for name in names:
            with open(f"{base}/{name}", "w") as f:
                f.write(f"of {name}\n")
            os.chown(f"{base}/{name}", 0, GROUPS[name])
            os.chmod(f"{base}/{name}", 0o604)
        yield base
    finally:
        shutil.rmtree(base)


def of_groups(s):
    """The warnings, but for that of sandbox none."""
    return [w for w in s.get("warnings", []) if "/proc/self/exe" not in w]


def readable(c, kind, base):
    sid = c.upload("/bin/dash")["id"]
    c.cmd(f"ARGS {sid} -c 'cat {base}/*'")
    c.cmd(f"START {sid} --sandbox {kind}")
    s = c.cmd(f"WAIT {sid} 20")
    return {x[3:] for x in c.output(sid).decode().splitlines()
            if x.startswith("of ")}, s


def groups_of_the_owner(mode):
    with passwd_wrapper(ALICE) as wrapper, denying(*GROUPS) as base, Daemon(
            mode, "allow-group dlnamed\nallow-sandbox none, namespaces\n",
            wrapper=wrapper + in_groups()) as d:
        a = d.client(ALICE)
        for kind in ("none", "namespaces"):
            sid, s = a.start(helper("sleeper"), flags=f"--sandbox {kind}",
                             until=b"ready")
            got = {int(g) for g in status_of(s["pid"])["Groups"].split()}
            eq(got - {ALICE}, {GROUPS["dlnamed"], GROUPS["dlhigh"]},
               f"{kind}: of a user's groups a program has those of users, "
               "and the one that allow-group names")
            a.cmd("KILL " + sid)
            can, s = readable(a, kind, base)
            eq(can, {"dllow", "dlbeyond"}, f"{kind}: and what denies these "
               "groups something denies it to the session")
            said = of_groups(s)
            ok(len(said) == 1 and "allow-group" in said[0] and
               "owner: dllow, dlbeyond." in said[0],
               f"{kind}: the others are in its warnings", s)
        # as a person sees it, on a terminal
        out = subprocess.run(
            ["script", "-qec", os.path.abspath(BIN) + "/debuglanternctl "
             f"-t 127.0.0.1:{d.port} status {s['id']}", "/dev/null"],
            user=ALICE, group=ALICE, extra_groups=[], cwd="/", timeout=60,
            env=d.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout
        ok(b"warning     the session is not in these groups" in out,
           "debuglanternctl status shows them", out)


def no_warning_for_nothing(mode):
    with passwd_wrapper(ALICE) as wrapper, Daemon(mode, wrapper=wrapper) as d:
        for uid in (ALICE, 0):
            c = d.client(uid)
            _, s = c.run(helper("hello"))
            eq((s["exit_code"], s.get("warnings")), (0, None), f"uid {uid}: "
               "a session that has all groups has no warnings")


class InGroups(Daemon):
    GROUPS = ("--groups", ",".join(map(str, GROUPS.values())))


def denials_hold_in_user_mode(mode):
    """Its processes have the groups of who starts it, and keep them."""
    with denying(*GROUPS) as base, InGroups(
            mode, "allow-sandbox none, namespaces, tmpfs\n",
            wrapper=["env"]) as d:
        c = d.client()
        for kind in ("none", "namespaces"):
            can, s = readable(c, kind, base)
            eq((can, s["exit_code"], of_groups(s)), (set(), 1, []),
               f"user mode, {kind}: what is denied to a group is denied")


def a_primary_group_below_min_uid_needs_allow_group(mode):
    own = f"s/^u{ALICE}:x:{ALICE}:{ALICE}:/u{ALICE}:x:{ALICE}:402:/"
    with passwd_wrapper(ALICE) as wrapper:
        wrapper += in_groups(f"sed -i {own} /etc/passwd")
        with Daemon(mode, wrapper=wrapper) as d:
            ok(refused(d.port, uid=ALICE), "an owner whose primary group is "
               "the system's is not served")
            ok(wait_for(lambda: f"the primary group of u{ALICE} is dllow "
                                "(gid 402)" in d.log() and
                                "allow-group dllow" in d.log()),
               "the log says why, and what helps", d.log())
        with Daemon(mode, "allow-group dllow\n", wrapper=wrapper) as d:
            c = d.client(ALICE)
            sid, s = c.start(helper("sleeper"), until=b"ready")
            eq(status_of(s["pid"])["Gid"].split(), ["402"] * 4,
               "with allow-group the session has it")
            c.cmd("KILL " + sid)


# each says this of its user: a line, whole
PROGRAMS = (
    ("id -u; id -g", "{uid}\n{uid}"), ("id -un; whoami", "{name}\n{name}"),
    ("ssh -TG x | sed -n 's/^userknownhostsfile //p'",
     "{home}/.ssh/known_hosts {home}/.ssh/known_hosts2"),
    ("ssh -TG x | sed -n 's/^user //p'", "{name}"),
    ("ssh -TG x | sed -n 's/^port //p'", "22{last}"),
    ("bash -c 'p=\"\\u>\"; echo ${{p@P}}'", "{name}>"),
    ("python3 -Sc 'import os; print(os.path.expanduser(\"~{name}\"), "
     "os.stat(os.environ[\"HOME\"]).st_uid == os.getuid())'",
     "{home} True"),
    ("git init -q $HOME/r && cd $HOME/r && git status | head -1",
     "On branch master"),
    ("tmux -L t$$ new-session -d true && echo made", "made"))


def programs_know_their_user(mode):
    """Every host has a user of the uid 1000, who is none of these."""
    base = tempfile.mkdtemp(prefix="dl-owners-")
    os.chmod(base, 0o755)
    users = (("dlalice", ALICE, base + "/a"), ("dlbob", BOB, base + "/b"))
    for last, (_, uid, home) in enumerate(users):
        os.makedirs(home + "/.ssh")
        with open(home + "/.ssh/config", "w") as f:
            f.write(f"Port 22{last}\n")
        for path in (home, home + "/.ssh", home + "/.ssh/config"):
            os.chown(path, uid, uid)
    try:
        with passwd_wrapper(("dlstranger", 1000), *users) as wrapper, Daemon(
                mode, "allow-sandbox none, namespaces, tmpfs\n",
                wrapper=wrapper) as d:
            # the second user comes second
            for kind in ("none", "namespaces"):
                for last, (name, uid, home) in enumerate(users):
                    c = d.client(uid)
                    for script, want in PROGRAMS:
                        of = dict(uid=uid, name=name, home=home, last=last)
                        script, want = script.format(**of), want.format(**of)
                        sid = c.upload("/bin/dash")["id"]
                        c.cmd(f"ARGS {sid} -c {shlex.quote(script)}")
                        c.cmd(f"START {sid} --sandbox {kind}")
                        c.cmd(f"WAIT {sid} 20")
                        eq(c.output(sid).decode().strip(), want,
                           f"{kind}, {name}: {script}")
                        c.cmd("DELETE " + sid)
                    shutil.rmtree(home + "/r", ignore_errors=True)
    finally:
        shutil.rmtree(base)
        for _, uid, _ in users:
            shutil.rmtree(f"/tmp/tmux-{uid}", ignore_errors=True)


def files_of_root_show_as_nobodys(mode):
    """There is no uid 0 in the fence, so a session's namespace has none."""
    with Daemon(mode, "allow-sandbox none, namespaces, tmpfs\n") as d:
        c = d.client()
        for kind in ("none", "namespaces", "tmpfs"):
            sid = c.upload("/usr/bin/stat")["id"]
            c.cmd(f"ARGS {sid} -c %u:%g /usr/bin/env")
            c.cmd(f"START {sid} --sandbox {kind}")
            c.cmd(f"WAIT {sid} 20")
            eq(c.output(sid).decode().strip(), "65534:65534",
               f"{kind}: a file of root's is nobody's")
            c.cmd("DELETE " + sid)


def files_of_the_owner(mode):
    """A session reads what its user may read, and writes as the user."""
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, wrapper=wrapper) as d:
        base = tempfile.mkdtemp(prefix="dl-owners-")
        try:
            os.chmod(base, 0o755)
            for uid in (ALICE, BOB):
                p = os.path.join(base, str(uid))
                os.mkdir(p, 0o700)
                with open(p + "/secret", "w") as f:
                    f.write(f"secret of {uid}\n")
                os.chown(p, uid, uid)
                os.chown(p + "/secret", uid, uid)
                os.chmod(p + "/secret", 0o600)
            with open(base + "/root", "w") as f:
                f.write("secret of root\n")
            os.chmod(base + "/root", 0o600)
            a = d.client(ALICE)
            sid = a.upload("/bin/dash")["id"]
            a.cmd(f"ARGS {sid} -c 'cat {base}/*/secret {base}/root; "
                  f"echo x >{base}/{ALICE}/new'")
            a.cmd("START " + sid)
            a.cmd(f"WAIT {sid} 20")
            out = a.output(sid).decode()
            ok(f"secret of {ALICE}\n" in out and "of root" not in out and
               f"secret of {BOB}" not in out, "a session has its user's "
               "rights and no others", out)
            eq(os.stat(f"{base}/{ALICE}/new").st_uid, ALICE,
               "what it writes is its user's")
        finally:
            shutil.rmtree(base)


def quotas_are_shared_but_counted(mode):
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, "max-sessions 2\n", wrapper=wrapper) as d:
        a, b = d.client(ALICE), d.client(BOB)
        sid = a.upload(helper("hello"))["id"]
        b.upload(helper("hello"))
        r = b.upload(helper("hello"))
        eq(r.get("error_code"), "max_sessions_reached",
           "max-sessions counts everybody's")
        ok(sid not in r["message"], "and the refusal tells nothing of others")


def connections_are_shared(mode):
    """What nobody has configured: one user cannot have all of them."""
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, "max-connections 80\n", wrapper=wrapper) as d:
        others = [d.client(BOB)]
        held = [d.client(ALICE) for _ in range(32)]
        eq([c.cmd("LIST") for c in held], [[]] * 32,
           "32 of 80 connections are a user's")
        for c in (d.client(ALICE), d.client(ALICE)):
            r = c.cmd("LIST")
            ok(r.get("error_code") == "max_connections_reached" and
               "this user" in r["message"], "and no more than these", r)
        others += [d.client(BOB) for _ in range(31)]
        eq([c.cmd("LIST") for c in others], [[]] * 32,
           "so that another has as many")
        held.pop().close()
        ok(wait_for(lambda: d.client(ALICE).cmd("LIST") == []),
           "who closes one has room for another")


def healthy(d, uid):
    """Whether a user's browser gets an answer over a new connection."""
    s = connect("127.0.0.1", d.web, uid, 5)
    try:
        s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return s.recv(12) == b"HTTP/1.1 200"
    except OSError:
        return False
    finally:
        s.close()


def web_places_are_shared(mode):
    """Who has not logged in comes from one address, whoever they are."""
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, "max-connections 80\n", wrapper=wrapper,
                   web=True) as d:
        ok(wait_for(lambda: healthy(d, BOB)), "a user's browser is served")
        held = [connect("127.0.0.1", d.web, ALICE, 5) for _ in range(20)]
        eq([healthy(d, ALICE), healthy(d, BOB)], [False, True],
           "while another holds all places that they have")
        for s in held:
            s.close()
        ok(wait_for(lambda: healthy(d, ALICE)), "until they give them back")


def guests_are_bounded(mode):
    """Keys of sessions are no way to more connections for their owner."""
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, "max-connections 80\n", wrapper=wrapper) as d:
        b, a = d.client(BOB), d.client(ALICE)
        eq(b.cmd("LIST"), [], "another user is there")
        keys = []
        for _ in range(4):
            a.send('{"command":"NEW","args":{"tty":true,"argv":["cat"]}}\n')
            keys.append(a.cmd("KEYS " + a.json()["result"]["id"])["token"])
        guests = [d.client(ALICE) for _ in range(28)]
        codes = [g.cmd("AUTH " + keys[i % 4]).get("error_code")
                 for i, g in enumerate(guests)]
        eq((codes.count(None), codes.count("max_connections_reached")),
           (20, 8), "guests of all their sessions have a quarter of all")
        guests[0].close()
        g = d.client(ALICE)
        ok(wait_for(lambda: "error_code" not in
                    d.client(ALICE).cmd("AUTH " + keys[0])),
           "one goes, another may come")
        g.close()


def foreign_debug_port(mode):
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, wrapper=wrapper) as d:
        a = d.client(ALICE)
        sid, _ = a.start(helper("target"), until=b"target")
        port = a.cmd("DEBUG " + sid)["debug_port"]
        for uid in (BOB, 0):
            s = connect("127.0.0.1", port, uid, 10)
            try:
                s.sendall(b"+$?#3f")
                got = s.recv(100)
            except ConnectionError:
                got = b""
            eq(got, b"", f"{'root' if uid == 0 else 'another user'} on a "
               "debug port gets nothing")
            s.close()
        s = connect("127.0.0.1", port, ALICE, 10)
        s.sendall(b"+$?#3f")
        ok(s.recv(100), "its owner does")
        s.close()
        a.cmd("KILL " + sid)


def ctl_as_users(mode):
    with passwd_wrapper(ALICE, BOB) as wrapper, \
            Daemon(mode, wrapper=wrapper) as d:
        r = d.ctl("upload", "-q", helper("hello"), uid=ALICE)
        sid = r.stdout.decode().strip()
        eq(r.returncode, 0, "debuglanternctl as a user")
        r = d.ctl("status", sid, uid=BOB)
        eq((r.returncode, b"not_found" in r.stderr), (1, True),
           "and as another")


run_tests(
    *[alone(t, SYSTEM) for t in (
        two_users, root_runs_as_dlrun, local_socket_knows_its_users,
        system_users_are_refused, min_uid,
        auth_none, auth_none_as_root_is_refused, plain_is_needed,
        sessions_survive_their_connection, a_closed_client_is_nobody,
        a_process_that_has_gone, a_foreign_listener,
        groups_of_the_owner, no_warning_for_nothing,
        a_primary_group_below_min_uid_needs_allow_group,
        programs_know_their_user, files_of_root_show_as_nobodys,
        files_of_the_owner,
        quotas_are_shared_but_counted, connections_are_shared,
        web_places_are_shared, guests_are_bounded,
        foreign_debug_port, ctl_as_users)],
    alone(denials_hold_in_user_mode, ("user",) if AS_ROOT else ()),
    alone(user_mode_serves_its_user, ("user",)))
