#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# The daemon as its operator meets it: flags, configuration, reload, stop,
# restart, background, and systemd's notifications.
import contextlib
import fcntl
import glob
import os
import pwd
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (AS_ROOT, BIN, BOB, IPV6, SANITIZED, Client, Daemon, alive,
                alone, descendants, eq, free_port, helper, loopbacks,
                net_table, ok, read_proc, run_tests, service_uid,
                session_processes,
                status_of, tar_of, wait_for)

EXE = os.path.join(BIN, "debuglanternd")
SYSTEM = ("system",) if AS_ROOT else ()


def run(*args, **kw):
    return subprocess.run([EXE, *args], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=30, **kw)


def conf_file(d, text):
    path = os.path.join(d.dir, "other.conf")
    with open(path, "w") as f:
        f.write(text)
    os.chmod(path, 0o644)
    return path


def connects(port, host="127.0.0.1", uid=None):
    try:
        Client(port, host, uid, 5).close()
        return True
    except OSError:
        return False


def answers(port, host="127.0.0.1", uid=None):
    try:
        return Client(port, host, uid, 5).cmd("LIST") == []
    except (OSError, EOFError):
        return False


# --- flags ---------------------------------------------------------------

def flags():
    for args in (["--nope"], ["-x"], ["--port"], ["extra"], ["-n", "extra"],
                 ["--port", "0"], ["--port", "65536"], ["--port", "-1"],
                 ["--port", "1e3"], ["--port", "0x10"], ["--port", " 80"],
                 ["--port", "80 "], ["--port", ""], ["--port", "4444x"],
                 ["--max-sessions", "0"], ["--max-sessions", "many"],
                 ["--max-total-bytes", "5X"], ["--max-total-bytes", "-5"],
                 ["--max-total-bytes", "99999999999999999999999"],
                 ["--web-port", "65536"], ["--web-port", "x"],
                 ["--bind", "nowhere.example"], ["--bind", "300.1.1.1"],
                 ["--bind", ""], ["--state-dir", "relative"],
                 ["--socket", "relative"], ["--service-name", ""],
                 ["-f", "/nonexistent"]):
        r = run(*args)
        ok(r.returncode != 0 and r.stderr and not r.stdout,
           f"{' '.join(args) or '(none)'}: an error with words",
           (r.returncode, r.stderr))
    r = run("--nope")
    ok(b"usage" in r.stderr and r.returncode == 2, "unknown flags: usage, 2",
       r.stderr)
    r = run("foo")
    ok(b'"foo"' in r.stderr and r.returncode == 2, "an argument is named",
       r.stderr)
    for long, short, said in (("--help", "-h", b"usage: debuglanternd "),
                              ("--version", "-V", b"debuglanternd ")):
        r = run(long)
        ok(r.returncode == 0 and r.stdout.startswith(said) and not r.stderr,
           long, r)
        eq(run(short).stdout, r.stdout, f"{short} is {long}")
    for check in (), ("-n",):
        r = run("--bind", "192.0.2.77", *check)
        ok(r.returncode == 1 and b'"listen on 192.0.2.77 tls" in the '
           b"configuration file" in r.stderr,
           f"--bind of a network: where to say tls {check}", r)
    r = run("--port", "x", "-n")
    ok(b"port" in r.stderr, "a bad number: the message names the flag",
       r.stderr)


def check_only():
    path = f"/tmp/dl-daemon-t-{os.getpid()}"
    texts = {
        "": True,
        "port 5000\nlisten on 127.0.0.1\n": True,
        "port 5000\nport 5001\n": False,
        "prot 5000\n": False,
        "port \"x\n": False,
        "limit nofile\n": False,
        "\nlisten on ::1 auth none as no-such-user\n": False,
        # what would be cut off where it is used
        f'tls certificate "/{"x" * 255}"\ntls key "/k"\n': False,
        f'tls certificate "/{"x" * 254}"\ntls key "/k"\n': True,
        f'gdbserver "/{"x" * 255}"\n': False,
        f'state-dir "/{"x" * 191}"\n': False,
        f'run-dir "/{"x" * 191}"\n': False,
    }
    try:
        for text, good in texts.items():
            with open(path, "w") as f:
                f.write(text)
            r = run("-n", "-f", path)
            eq(r.returncode == 0, good, f"-n with {text[:20]!r}")
            if not good:
                ok(re.search(rb":\d+: ", r.stderr), "an error names its line",
                   r.stderr)
        with open(path, "w") as f:
            f.write("\nlisten on ::1 auth none as no-such-user\n")
        told = (f"debuglanternd: {path}:2: listen on ::1 auth none as "
                "no-such-user: there is no such user; name one that exists\n")
        for args in ("-n", "-f", path), ("-f", path):
            r = run(*args)
            eq((r.returncode, r.stderr.decode()), (1, told),
               f"auth none as nobody that exists {args[:-1]}")
        r = run("-n", "-f", "/dev/null")
        ok(b"OK" in r.stderr, "-n says OK", r.stderr)
        for line, said in NOBODY + ((*ROOT, *GROUPS) if AS_ROOT else ()):
            with open(path, "w") as f:
                f.write(line + "\n")
            r = run("-n", "-f", path)
            ok(r.returncode == 1 and said in r.stderr.decode() and
               b"OK" not in r.stderr and not r.stdout,
               f"-n with {line!r}: what the start would refuse", r)
    finally:
        os.unlink(path)


def print_back():
    path = f"/tmp/dl-daemon-t-{os.getpid()}.2"
    text = '''addr = "127.0.0.2"
listen on localhost
listen on $addr port 4500 auth none as nobody
listen on 192.0.2.1 port 4501 tls
listen on 192.0.2.1 port 4502 plain
tls certificate /etc/c.pem
tls key "/etc/the key.pem"
tls client-ca /etc/ca.pem
admin user daemon, bin
admin group adm
quota default sessions 8 bytes 1M
quota group staff cpu 60 memory 1G processes 64
quota user games sessions unlimited
audit-file /var/log/audit
port 4499
service-name "a \\"quoted\\" name %h"
max-total-bytes 3M
allow-sandbox none, tmpfs, namespaces
limit as 5G
limit cpu unlimited
gdbserver /opt/with\\ space/gdbserver
'''.replace("/opt/with\\ space/gdbserver", '"/opt/with space/gdbserver"')
    try:
        with open(path, "w") as f:
            f.write(text)
        first = run("-nv", "-f", path)
        eq(first.returncode, 0, "-nv prints the configuration")
        with open(path, "wb") as f:
            f.write(first.stdout)
        second = run("-nv", "-f", path)
        eq((second.returncode, second.stdout), (0, first.stdout),
           "-nv: the print parses to the same")
        ok(b"4499" in first.stdout and b"127.0.0.2" in first.stdout and
           b"with space" in first.stdout and b"4501 tls" in first.stdout and
           b"admin user \"bin\"" in first.stdout and
           b"\"staff\" sessions unlimited bytes unlimited cpu 60" in
           first.stdout, "-nv: it holds what was set", first.stdout)
        warnings = first.stderr.decode().splitlines()
        ok(any("192.0.2.1 plain" in w and ".2:5:" in w for w in warnings),
           "-n warns of a plain listener on a network", warnings)
        # in user mode there are no others
        ok(any("quota user games: one user may have all sessions" in w
               for w in warnings) == AS_ROOT and
           not any("quota default" in w for w in warnings),
           "-n warns of a quota that leaves nothing for others", warnings)
        third = run("-nv", "-f", path, "--port", "4498")
        ok(b"4498" in third.stdout and b"4499" not in third.stdout,
           "flags override the file", third.stdout)
    finally:
        os.unlink(path)


# --- start ---------------------------------------------------------------

def read_by_a_process_without_privilege():
    """A pipe for a file: its reader waits, and is looked at meanwhile."""
    tmp = tempfile.mkdtemp()
    path = os.path.join(tmp, "fifo")
    os.mkfifo(path, 0o600)
    proc = subprocess.Popen([EXE, "-nv", "-f", path], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
    try:
        with open(path, "w") as f:
            reader = wait_for(lambda: descendants(proc.pid)[1:])[0]
            wait_for(lambda: status_of(reader)["Seccomp"] == "2")
            status = status_of(reader)
            eq({status["CapPrm"], status["CapEff"]}, {"0000000000000000"},
               "the parser of the configuration has no capability")
            uids = [65534] * 4 if AS_ROOT else [os.getuid()] * 4
            eq(list(map(int, status["Uid"].split())), uids,
               "as root it is nobody")
            eq((status["Groups"].split() if AS_ROOT else [],
                status["NoNewPrivs"]), ([], "1"), "without groups and more")
            eq(sorted(os.listdir(f"/proc/{reader}/fd"))[:3], ["0", "1", "2"],
               "with the standard descriptors")
            eq(len(os.listdir(f"/proc/{reader}/fd")), 5,
               "the file and the answer, and no other")
            f.write("port 4321\n")
        out = proc.communicate(timeout=30)[0]
        ok(b"port 4321" in out, "what it read is the configuration", out)
    finally:
        proc.kill()
        proc.wait()
        shutil.rmtree(tmp)


def reader_that_dies(mode):
    """Killed in the middle: the start ends with a line that says so."""
    with Daemon(mode) as d:
        d.stop()
        path = os.path.join(d.dir, "fifo")
        os.mkfifo(path, 0o644)
        proc = subprocess.Popen([EXE, "-n", "-f", path],
                                stderr=subprocess.PIPE)
        with open(path, "w"):
            os.kill(wait_for(lambda: descendants(proc.pid)[1:])[0], 9)
            said = proc.communicate(timeout=30)[1].decode()
        eq(proc.returncode, 1, "no configuration, no start")
        ok("parses the configuration was ended by signal 9" in said,
           "and the cause is told", said)


def port_taken(mode):
    with Daemon(mode) as d:
        r = subprocess.run(
            d.wrapper + [EXE, "-d", "-f", d.conf_path, "--port", str(d.port),
                         "--state-dir", d.dir + "/home/s"] +
            (["--user"] if mode == "user" and d.uid is None and AS_ROOT
             else []),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, timeout=30, env=d.env,
            **(dict(user=d.uid, group=d.uid, extra_groups=[])
               if d.uid is not None else {}))
        lines = r.stderr.decode().splitlines()
        ok(r.returncode != 0 and any(str(d.port) in x for x in lines),
           "port taken: the start fails and names the port", r.stderr)
        eq(len(lines), 1, "port taken: one line")
        eq(d.client().cmd("LIST"), [], "and the first daemon is untouched")


def without(capability):
    return ["setpriv", "--bounding-set", "-" + capability]


def where(command):
    return ["sh", "-c", command + "; exec \"$@\"", "sh"]


# who cannot take a step of the start: the step, why not, what would help
STEPS = (
    ("root of a user namespace", ["unshare", "-r"],
     ("give away", "Invalid argument", "--user")),
    ("no CAP_SETPCAP", without("setpcap"),
     ("become _dlacct", "Operation not permitted", "capabilities")),
    ("no CAP_SETUID", without("setuid"),
     ("user namespace", "Operation not permitted", "capabilities")),
    ("no CAP_SETGID", without("setgid"),
     ("user namespace", "Operation not permitted", "capabilities")),
    ("no CAP_SYS_CHROOT", without("sys_chroot"),
     ("become _dlparent", "Operation not permitted", "capabilities")),
    ("no CAP_KILL", without("kill"),
     ("become _dlparent", "Operation not permitted", "capabilities")),
    ("few files", where("ulimit -n 60"),
     ("files may be open", "60", "LimitNOFILE")),
    ("no /proc", ["unshare", "-m"] + where("mount -t tmpfs none /proc"),
     ("own executable", "No such file", "mount /proc")),
    ("no user namespaces", ["unshare", "-U", "--map-root-user"] + where(
        "echo 0 >/proc/sys/user/max_user_namespaces"),
     ("user namespace", "No space left", "max_user_namespaces")),
)


def fails_closed(mode):
    """One line for each, and no daemon that is less than it should be."""
    for what, wrapper, words in STEPS:
        args = ["--user"] if what == "no user namespaces" else []
        with Daemon(mode, wait=False, args=args, wrapper=wrapper) as d:
            d.proc.wait(20)
            # what sanitizers say goes through a pipe
            said = [x for x in wait_for(lambda: d.log()).splitlines()
                    if not (SANITIZED and x.startswith("=="))]
            ok(d.proc.returncode == 1 and len(said) == 1 and
               all(w in said[0] for w in words), f"{what}: the start ends "
               "with one line: the step, the reason and the remedy", d.log())
            # what it has forked ends when it sees that
            ok(wait_for(lambda: not connects(d.port)),
               f"{what}: nobody listens")


def accounts(change):
    """Who starts it sees the host's accounts changed by sed."""
    return ["unshare", "-m", "sh", "-ec", 'f=$(mktemp); chmod 644 "$f"; '
            'sed -E "$0" /etc/passwd >"$f"; mount --bind "$f" /etc/passwd; '
            'rm "$f"; exec "$@"', change]


def service_users(mode):
    """Each is somebody of their own, and none is one of those whom a launcher
    may become."""
    spawner = pwd.getpwnam("_dlspawn")
    for what, change, said in (
            ("a uid of a user's", r"s/^(_dlnet:x):[0-9]+/\1:1500/",
             "_dlnet has uid 1500, among those of users"),
            ("a group of a user's", r"s/^(_dltls:x:[0-9]+):[0-9]+/\1:1500/",
             "_dltls has group 1500, among those of users"),
            ("a uid for two", r"s/^(_dlnet:x):[0-9]+/\1:%d/" %
             spawner.pw_uid, "have the same uid %d" % spawner.pw_uid),
            ("a group for two", r"s/^(_dlrun:x:[0-9]+):[0-9]+/\1:%d/" %
             spawner.pw_gid, "have the same group %d" % spawner.pw_gid)):
        with Daemon(mode, wait=False, wrapper=accounts(change)) as d:
            d.proc.wait(20)
            ok(d.proc.returncode == 1 and said in d.log(),
               f"{what}: the start is refused", d.log())


def few_capabilities(mode):
    """Those of the shipped unit are enough: none over the host's mounts and
    other processes."""
    with Daemon(mode, wrapper=without("sys_admin,-sys_ptrace")) as d:
        c = d.client()
        _, s = c.run(helper("hello"))
        eq(s["exit_code"], 0, "without SYS_ADMIN and SYS_PTRACE it serves")


def local_socket(mode):
    for args, name in (((), "run/debuglantern.sock"),
                       (("--socket", None), "home/own.sock")):
        with Daemon(mode, args=[], wait=False) as d:
            d.stop()
            path = os.path.join(d.dir, name)
            d.args = [path if a is None else a for a in args]
            os.chmod(d.dir + "/home", 0o755)
            d.start()
            me = d.uid if d.uid is not None else os.geteuid()
            c = Client(path, uid=me)
            eq(c.cmd("LIST"), [], f"{name}: served")
            sid, s = c.run(helper("hello"))
            eq((s["exit_code"], c.output(sid)), (0, b"Hello world\n"),
               f"{name}: the same protocol")
            eq([x["id"] for x in d.client().cmd("LIST")], [sid],
               f"{name}: the same sessions as by TCP")
            d.stop()
            # a name in a directory of root's is not the daemon's to remove
            if not args:
                eq(os.path.exists(path), False, f"{name}: gone after the "
                   "stop")
            d.start()
            eq(Client(path, uid=me).cmd("LIST"), [], f"{name}: there again")


def not_a_socket(mode):
    """What has the socket's name is removed only if it is a socket."""
    with Daemon(mode, wait=False) as d:
        d.stop()
        path = d.dir + "/home/precious"
        with open(path, "w") as f:
            f.write("precious\n")
        os.symlink("precious", d.dir + "/home/link")
        for name in "precious", "link":
            d.args = ["--socket", f"{d.dir}/home/{name}"]
            seen = len(d.log())
            d.start(wait=False)
            wait_for(lambda: d.proc.poll() is not None)
            ok(d.proc.poll() == 1 and "something else has that name" in
               d.log()[seen:], f"{name}: the start ends, and says why",
               d.log()[seen:])
            d.stop()
        with open(path) as f:
            eq((f.read(), os.path.islink(d.dir + "/home/link")),
               ("precious\n", True), "and it is left alone")
        d.args = []
        d.write_conf(open(d.conf_path).read().replace(
            '/run"', f'/home/{"r" * 90}"'))
        seen = len(d.log())
        d.start(wait=False)
        wait_for(lambda: d.proc.poll() is not None)
        ok(d.proc.poll() == 1 and "r/debuglantern.sock, is longer than 107 "
           "bytes" in d.log()[seen:], "a name that is too long is told",
           d.log()[seen:])


def lock_of_others(mode):
    """Who may write where the socket is makes nobody wait for ever."""
    with Daemon(mode, wait=False) as d:
        d.stop()
        path = d.dir + "/home/s"
        with open(path + ".lock", "w") as f:
            os.chmod(path + ".lock", 0o666)
            fcntl.flock(f, fcntl.LOCK_EX)
            d.args = ["--socket", path]
            seen = len(d.log())
            d.start(wait=False)
            d.proc.wait(20)
            ok(d.proc.returncode == 1 and f"{path}.lock: Device or resource "
               "busy" in d.log()[seen:], "a lock that somebody holds: the "
               "start ends, and names it", d.log()[seen:])
        d.start()
        ok(answers(d.port, uid=d.uid), "one that nobody holds is taken over")


def listens_on_loopback_only(mode):
    with Daemon(mode) as d:
        for host in loopbacks("127.0.0.1", "::1"):
            ok(answers(d.port, host, d.uid), f"{host} is served")
        for name, want in (("tcp", ["0100007F"]),
                           ("tcp6", ["0" * 24 + "01000000"] * IPV6)):
            addrs = [w[1].split(":") for w in net_table(name) if w[3] == "0A"]
            eq([a for a, port in addrs if port == f"{d.port:04X}"], want,
               f"{name}: loopback and nothing else")


def bind_flag(mode):
    with Daemon(mode, args=["--bind", "127.0.0.3"]) as d:
        ok(answers(d.port, "127.0.0.3", d.uid), "--bind ADDR is served")
        eq(connects(d.port, "127.0.0.1", d.uid), False,
           "--bind replaces the defaults")


def max_sessions_flag(mode):
    with Daemon(mode, args=["--max-sessions", "1", "--max-total-bytes",
                            "2M"]) as d:
        c = d.client()
        c.upload(helper("hello"))
        eq(c.upload(helper("hello")).get("error_code"),
           "max_sessions_reached", "--max-sessions 1")
        e = d.client()
        e.send("UPLOAD 3000000\n")
        eq(e.json().get("ok"), False, "--max-total-bytes 2M")


def children_and_binaries(mode):
    with Daemon(mode) as d:
        names = sorted(set(d.children().values()))
        more = ["acctgate", "acctproc"] if mode == "system" else []
        eq(names, more + ["announcer", "idproc", "launcher", "logger",
                          "netproc", "spawner"], "a process for each role")
        exes = {n: os.readlink(f"/proc/{p}/exe")
                for p, n in d.children().items()} if AS_ROOT else {}
        eq(len(set(exes.values())), len(names) if AS_ROOT else 0,
           "and a binary")


# --- SIGHUP --------------------------------------------------------------

def reload_listeners(mode):
    with Daemon(mode) as d:
        with open(d.conf_path) as f:
            base = f.read()
        extra = free_port()
        kept = d.client()
        kept.cmd("LIST")
        d.write_conf(base + "listen on localhost\n"
                     f"listen on 127.0.0.1 port {extra}\n")
        d.proc.send_signal(signal.SIGHUP)
        ok(wait_for(lambda: answers(extra, uid=d.uid)),
           "SIGHUP adds a listener")
        eq(kept.cmd("LIST"), [], "SIGHUP keeps connections")
        late = Client(extra, uid=d.uid)
        eq(late.cmd("LIST"), [], "the new listener serves")
        d.write_conf(base)
        d.proc.send_signal(signal.SIGHUP)
        ok(wait_for(lambda: not connects(extra, uid=d.uid)),
           "SIGHUP removes a listener")
        ok(answers(d.port, uid=d.uid), "the others stay")
        eq(kept.cmd("LIST"), [], "SIGHUP keeps connections again")
        wait_for(lambda: "no longer listening on" in d.log())
        log = d.log()
        for words in (" listening on ", "no longer listening on "):
            eq(log.count(f"{words}127.0.0.1 port {extra}"), 1 +
               (words[0] == " "), f"the log says{words}it")
        if mode == "system":
            log = hup(d, f"listen on 127.0.0.1 port {extra} auth none as "
                      "nobody\nlisten on localhost\n")
            ok(f"port {extra} auth none as nobody: everybody who reaches it"
               in log, "and warns of one that asks for no token", log)


def reload_settings(mode):
    with Daemon(mode) as d:
        with open(d.conf_path) as f:
            base = f.read()
        c = d.client()
        sid, s = c.start(helper("sleeper"), until=b"ready")
        d.write_conf(base + "max-sessions 1\n")
        d.proc.send_signal(signal.SIGHUP)
        ok(wait_for(lambda: "reloaded" in d.log()), "SIGHUP is logged")
        ok(wait_for(lambda: c.upload(helper("hello")).get("error_code") ==
                    "max_sessions_reached"), "SIGHUP brings new settings")
        eq(c.cmd("STATUS " + sid)["pid"], s["pid"], "sessions go on")


def hup(d, text, seconds=10):
    """A reload with text added; what the log says of it."""
    if not hasattr(d, "base"):
        with open(d.conf_path) as f:
            d.base = f.read()
    seen = len(d.log())
    d.write_conf(d.base + text)
    d.proc.send_signal(signal.SIGHUP)
    wait_for(lambda: "reloaded" in d.log()[seen:], seconds)
    return d.log()[seen:]


def served_at_once(d, most):
    """How many connections are let in, of one more than most."""
    held = [d.client() for _ in range(most + 1)]
    try:
        return sum(c.cmd("LIST") == [] for c in held)
    finally:
        for c in held:
            c.close()


def reload_limits(mode):
    with Daemon(mode, "max-connections 4\n") as d:
        eq(served_at_once(d, 4), 4, "max-connections")
        with open(d.conf_path) as f:
            d.base = re.sub("max-connections .*\n", "", f.read())
        for n in 24, 8:
            ok("was reloaded" in hup(d, f"max-connections {n}\n"),
               f"SIGHUP with {n}")
            ok(wait_for(lambda: served_at_once(d, n) == n),
               f"max-connections {n} holds at once")
    with Daemon(mode, web=True) as d:
        with socket.create_connection(("127.0.0.1", d.web), 10) as s:
            # so it has been accepted
            s.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
            ok(s.recv(4096).startswith(b"HTTP/1.1 200"), "the web serves")
            hup(d, "idle-timeout 1\n")
            with socket.create_connection(("127.0.0.1", d.web), 10) as new:
                eq(new.recv(10), b"", "idle-timeout is the web's as well")
            s.settimeout(0.1)
            try:
                eq(s.recv(10), None, "who was there stays")
            except socket.timeout:
                ok(True, "who was there stays")


def reload_log_level(mode):
    class Quiet(Daemon):
        FLAGS = ("-d",)

    def refused(d):
        """Whether a line of netproc's, which is info, is logged."""
        seen = len(d.log())
        with d.client().s as s:
            s.sendall(b"\x16\x03\x01\x02\x00\x01\x00\n")
            while s.recv(100):
                pass
        # the log of an event comes after that of its cause
        d.client().cmd("VERSION")
        return wait_for(lambda: "a client spoke TLS" in d.log()[seen:], 1)
    with Quiet(mode) as d:
        ok(refused(d), "log-level info")
        ok("was reloaded" not in hup(d, "log-level error\n", 1),
           "log-level error: not even of the reload")
        ok(not refused(d), "log-level error: no line of a role's")
        hup(d, "log-level info\n")
        ok(wait_for(lambda: refused(d)), "log-level info again")


def reload_in_the_way(mode):
    """The error of a listener that only we are in the way of."""
    with Daemon(mode) as d:
        said = hup(d, "listen on * plain\n")
        ok(f"cannot listen on 0.0.0.0 port {d.port} while the daemon listens "
           f"on 127.0.0.1 port {d.port}: that changes at a restart only" in
           said and "was not reloaded" in said,
           "127.0.0.1, then *: what is in the way", said)
        if mode == "system":
            said = hup(d, "listen on 127.0.0.1 port 1\n")
            ok("a restart only" in said, "a port below 1024: what helps",
               said)
        ok(answers(d.port, uid=d.uid), "it goes on")


# none of any version, as in many containers
NO_CGROUPS = ["unshare", "-m", "sh", "-ec", """
umount -lR /sys/fs/cgroup
# those of chroots
awk '$3 ~ /^cgroup2?$/ { print $2 }' /proc/self/mounts | xargs -r umount -l
exec "$@"
""", "sh"]


def reload_without_cgroups(mode):
    """Sessions could not be told from users then, so nobody would be served:
    a start is refused, and so is this."""
    with Daemon(mode, "control yes\n", wrapper=NO_CGROUPS) as d:
        with open(d.conf_path) as f:
            d.base = f.read().replace("control yes\n", "")
        said = hup(d, "control no\n")
        ok("was not reloaded: control" in said, "it is refused", said)
        ok(answers(d.port), "and everybody goes on")
        ok("was reloaded" in hup(d, "control yes\n"), "yes stays yes")


def reload_of_one_link(mode):
    """The same address may be on another link: the name of it is said."""
    if not loopbacks("::1"):
        return
    with Daemon(mode) as d:
        said = hup(d, "listen on localhost\n"
                   f"listen on fe80::1%lo port {d.port} plain\n")
        ok(f" listening on [fe80::1%lo] port {d.port}\n" in said,
           "a link-local address is logged with its link", said)


# IPv6 switched off by sysctl; at boot, there is no such file
NO_IPV6 = ["unshare", "-n", "sh", "-ec", "ip link set lo up; "
           "cd /proc/sys/net/ipv6/conf/all 2>/dev/null || exec \"$@\"; "
           "echo 1 >disable_ipv6; cd /; exec \"$@\"", "sh"]


def address_of_ipv6_without_ipv6(mode):
    """A pair as localhost is served by half; one by itself is missed."""
    with Daemon(mode, "listen on localhost\n", wrapper=NO_IPV6) as d:
        missed = (f"cannot listen on [::1] port {d.port}: this host has no "
                  "IPv6; choose an IPv4 address, or switch IPv6 on")
        ok(f"listening on 127.0.0.1 port {d.port}\n" in d.log() and
           "IPv6" not in d.log(), "localhost is 127.0.0.1", d.log())
        with open(d.conf_path) as f:
            d.base = f.read().replace("listen on localhost\n", "")
        said = hup(d, "listen on ::1\n")
        ok(missed in said and "no address to listen on" in said and
           "was not reloaded" in said, "a reload keeps an address", said)
        said = hup(d, "listen on 127.0.0.1\nlisten on ::1\n")
        ok(missed in said and "was reloaded" in said,
           "one of several is named and left out", said)
        d.stop()
        d.write_conf(d.base + "listen on ::1\n")
        seen = len(d.log())
        d.start(wait=False)
        eq(d.proc.wait(20), 1, "a start with none ends")
        ok(missed in d.log()[seen:] and
           "no address to listen on" in d.log()[seen:], "and tells why",
           d.log()[seen:])


def reload_while_starting(mode):
    d = Daemon(mode, wait=False)
    try:
        # SIGHUP is blocked, and so waits to be read
        wait_for(lambda: d.proc.poll() is not None or
                 int(status_of(d.proc.pid).get("SigBlk", "0"), 16) & 1,
                 step=0.001)
        d.write_conf(open(d.conf_path).read() + "max-sessions 1\n")
        d.proc.send_signal(signal.SIGHUP)
        ok(wait_for(lambda: "was reloaded" in d.log()),
           "SIGHUP during the start is obeyed", d.log())
        eq(d.log().count("is ready"), 1, "and the start goes on")
    finally:
        d.cleanup()


def bad_configuration_keeps_the_old_one(mode):
    with Daemon(mode, "max-sessions 2\n") as d:
        c = d.client()
        for text in ("max-sessions 1\nnonsense\n", "listen on 300.0.0.1\n",
                     'state-dir "/somewhere/else"\n'):
            seen = len(d.log())
            d.write_conf(text)
            d.proc.send_signal(signal.SIGHUP)
            ok(wait_for(lambda: "was not reloaded" in d.log()[seen:]),
               f"SIGHUP with {text[:12]!r}..: refused in the log",
               d.log()[seen:])
        os.unlink(d.conf_path)
        seen = len(d.log())
        d.proc.send_signal(signal.SIGHUP)
        ok(wait_for(lambda: "was not reloaded" in d.log()[seen:]),
           "SIGHUP without a file: refused in the log")
        ids = [c.upload(helper("hello")).get("id") for _ in range(2)]
        eq((None in ids, c.upload(helper("hello")).get("error_code")),
           (False, "max_sessions_reached"), "the old one is whole")
        for host in loopbacks("127.0.0.1", "::1"):
            ok(answers(d.port, host, d.uid) is False and
               connects(d.port, host, d.uid), f"with its listener {host}")


NOBODY = (
    ("admin user no-such-user", "no-such-user: there is no such user"),
    ("admin group no-such-group", "no-such-group: there is no such group"),
    ("quota user no-such-user cpu 1", "no-such-user: there is no such user"),
    ("quota group no-such-group cpu 1",
     "no-such-group: there is no such group"))
ROOT = (
    ("admin user root", "root is an administrator at the local socket"),
    ("admin user _dlrun", "root is an administrator at the local socket"))
# of these a start is refused in system mode, as a reload never takes them
GROUPS = (
    ("allow-group no-such-group", "no-such-group: there is no such group"),
    ("allow-group root", "root: group 0 is never given to sessions"))


def names_of_nobody(mode):
    """Whoever gets the name one day would get the rights with it."""
    wrong = NOBODY + (ROOT if mode == "system" else ())
    for line, text in wrong:
        with Daemon(mode, line + "\n", wait=False) as d:
            d.proc.wait(20)
            eq(d.proc.returncode, 1, f"{line}: the start is refused")
            ok(text in d.log(), f"{line}: the log says why", d.log())
    with Daemon(mode, "admin user daemon\nadmin group daemon\n"
                "quota user daemon sessions 1\n") as d:
        with open(d.conf_path) as f:
            base = f.read()
        for line, text in wrong:
            seen = len(d.log())
            d.write_conf(base + f"listen on 127.0.0.2\n{line}\n")
            d.proc.send_signal(signal.SIGHUP)
            ok(wait_for(lambda: "was not reloaded" in d.log()[seen:]) and
               text in d.log()[seen:], f"{line}: a reload is refused",
               d.log()[seen:])
            ok(not connects(d.port, "127.0.0.2", d.uid),
               "and nothing of it is done")
        ok(answers(d.port, uid=d.uid), "the daemon goes on")


def many_sighups(mode):
    with Daemon(mode) as d:
        c = d.client()
        for _ in range(50):
            d.proc.send_signal(signal.SIGHUP)
            c.cmd("LIST")
        ok(answers(d.port, uid=d.uid), "many SIGHUPs do no harm")


# --- SIGTERM -------------------------------------------------------------

def cgroup_dirs(d):
    out = []
    for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        path = f"{top}/debuglantern/{d.proc.pid}"
        if os.path.isdir(path):
            out.append(path)
    return out


def mounts():
    with open("/proc/self/mountinfo") as f:
        return f.read()


def sigterm_ends_everything(mode):
    before = mounts()
    d = Daemon(mode, "stop-timeout 60\n")
    try:
        c = d.client()
        sids = [c.start(helper("ignorer"), "child", until=b"ready")[0],
                c.start(helper("orphan"), until=b"lives")[0],
                c.start(helper("sleeper"), until=b"ready")[0]]
        c.upload(tar_of(("run", helper("hello"))), "run")
        sid, _ = c.start(helper("target"), until=b"target")
        c.cmd("DEBUG " + sid)
        sids.append(sid)
        procs = d.processes()
        groups = cgroup_dirs(d)
        took = d.stop()
        ok(took < 5, "SIGTERM ends it within 5 s, a SIGTERM-ignorer or not",
           took)
        eq(d.proc.returncode, 0, "SIGTERM: exit code 0")
        eq([status_of(p).get("Name") for p in procs if alive(p)], [],
           "SIGTERM: no process is left")
        for sid in sids:
            eq(session_processes(sid), [], "SIGTERM: no session is left")
        eq(mounts(), before, "SIGTERM: no mount is left")
        eq([g for g in groups if os.path.isdir(g)], [],
           "SIGTERM: no cgroup is left")
        eq(connects(d.port, uid=d.uid), False, "SIGTERM: nobody listens")
        ok(c.closed(), "SIGTERM: clients are disconnected")
        d.start()
        eq(d.client().cmd("LIST"), [],
           "restart on the same port works at once")
        took = d.stop(signal.SIGINT)
        ok(took < 5 and d.proc.returncode == 0, "SIGINT does the same", took)
    finally:
        d.cleanup()


def numbers_come_twice(mode):
    """In containers many daemons have the same pid, one after the other and
    at the same time."""
    inner = ["unshare", "-p", "-f", "--mount-proc"]
    with Daemon(mode, wrapper=inner) as d, Daemon(mode, wrapper=inner) as e:
        try:
            for x in (d, e):
                x.client().start(helper("sleeper"), until=b"ready")
                eq(len(x.client().cmd("LIST")), 1, "both serve")
            # with all its processes at once: nobody is left to tidy up
            os.kill(daemon_of(d), signal.SIGKILL)
            d.proc.wait()
            d.start()
            sid, _ = d.client().start(helper("sleeper"), until=b"ready")
            eq((d.client().cmd("KILL " + sid)["state"],
                e.client().cmd("LIST")[0]["state"]), ("STOPPED", "RUNNING"),
               "another takes its place, and its neighbour goes on")
        finally:
            for x in (d, e):
                os.kill(daemon_of(x), signal.SIGTERM)
                x.proc.wait(20)
    eq([x for top in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified")
        for x in glob.glob(top + "/debuglantern/1*")
        if re.fullmatch("1(-[0-9]+)?", os.path.basename(x))], [],
       "and no control group is left")


def daemon_of(d):
    """The process below unshare."""
    with open(f"/proc/{d.proc.pid}/task/{d.proc.pid}/children") as f:
        return int(f.read().split()[0])


def sigterm_with_connections_open(mode):
    """Connections in every state do not keep the port."""
    with Daemon(mode) as d:
        held = [d.client() for _ in range(20)]
        for i, c in enumerate(held):
            c.send(["LIST\n", "LIS", "UPLOAD 100\nx", "FOLLOW x\n"][i % 4])
        for _ in range(3):
            ok(d.stop() < 5, "SIGTERM with open connections")
            d.start()
            ok(answers(d.port, uid=d.uid), "restart on the same port")


def sigterm_while_starting(mode):
    d = Daemon(mode, wait=False)
    try:
        wait_for(lambda: d.proc.poll() is not None or "SigCgt" in
                 status_of(d.proc.pid), 1)
        procs = d.processes()
        d.stop()
        ok(wait_for(lambda: not [p for p in procs if alive(p)]),
           "SIGTERM while starting: nothing is left")
    finally:
        d.cleanup()


def sigterm_before_ready(mode):
    """The last role is ready only when the stop has begun."""
    def begun():
        d = Daemon(mode, wait=False)
        last = wait_for(lambda: d.role_pid("announcer"), step=0)
        os.kill(last, signal.SIGSTOP)
        # and time for the others to be ready
        if not wait_for(lambda: "is ready" in d.log(), 1):
            return d, last
        os.kill(last, signal.SIGCONT)
        d.cleanup()
        return None
    d, last = wait_for(begun, 60)
    try:
        os.kill(d.proc.pid, signal.SIGSTOP)
        wait_for(lambda: status_of(d.proc.pid).get("State", "")[:1] == "T")
        d.proc.send_signal(signal.SIGTERM)
        os.kill(last, signal.SIGCONT)
        # it says so
        wait_for(lambda: "ep_poll" in read_proc(last, "wchan").decode(), 1)
        os.kill(d.proc.pid, signal.SIGCONT)
        d.proc.wait(10)
        ok("stopping" in d.log() and "is ready" not in d.log(),
           "a daemon that stops says nowhere that it is ready", d.log())
    finally:
        d.cleanup()


# --- systemd, background -------------------------------------------------

def sd_notify(mode):
    with tempfile.TemporaryDirectory(prefix="dl-notify-") as tmp:
        os.chmod(tmp, 0o777)
        path = os.path.join(tmp, "notify")
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.bind(path)
            os.chmod(path, 0o777)
            s.settimeout(20)
            env = dict(os.environ, WATCHDOG_USEC="400000",
                       NOTIFY_SOCKET=path)
            d = Daemon(mode, env=env)
            try:
                got = s.recv(4096).decode()
                while "READY=1" not in got:
                    got = s.recv(4096).decode()
                ok("READY=1" in got, "sd_notify: READY=1")
                eq(d.client().cmd("LIST"), [], "sd_notify: ready means served")
                n = 0
                end = time.monotonic() + 10
                while n < 3 and time.monotonic() < end:
                    n += "WATCHDOG=1" in s.recv(4096).decode()
                eq(n, 3, "sd_notify: WATCHDOG=1 again and again")
                d.proc.send_signal(signal.SIGTERM)
                got = ""
                while "STOPPING=1" not in got and d.proc.poll() is None:
                    got = s.recv(4096).decode()
                ok("STOPPING=1" in got, "sd_notify: STOPPING=1")
                d.proc.wait(10)
            finally:
                d.cleanup()


# a directory service that takes its time, or has many users
SLOW = """#include <nss.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum nss_status
_nss_dlslow_getpwnam_r(const char *name, struct passwd *pw, char *buf,
    size_t size, int *error)
{
	static char nothing[] = "";
	(void)buf, (void)size, (void)error;
	if (strncmp(name, "slow", 4) != 0 && strncmp(name, "many", 4) != 0)
		return NSS_STATUS_NOTFOUND;
	if (name[0] == 's')
		usleep(700000);
	pw->pw_uid = pw->pw_gid = name[0] == 's' ? 3000 + name[4] :
	    10000 + strtoul(name + 4, NULL, 10);
	pw->pw_name = pw->pw_passwd = pw->pw_gecos = pw->pw_dir =
	    pw->pw_shell = nothing;
	return NSS_STATUS_SUCCESS;
}
"""
HAS_SLOW = ("echo passwd: files dlslow >$0/nsswitch; mount --bind "
            "$0/nsswitch /etc/nsswitch.conf; exec \"$@\"")


def directory(tmp):
    """Builds it; returns what a daemon needs to see it."""
    os.chmod(tmp, 0o777)
    subprocess.run(["cc", "-x", "c", "-", "-shared", "-fPIC", "-o",
                    tmp + "/libnss_dlslow.so.2"], input=SLOW, text=True,
                   check=True)
    return ["unshare", "-m", "sh", "-ec", HAS_SLOW, tmp]


def as_much_as_may_be(mode):
    """The parent is told of all of it at once, at the start and at a reload."""
    ports = [free_port() for _ in range(31)]
    hosts = ["h" * 60 + f".{n}" + ".example" * 22 for n in range(64)]
    users = [f"many{n}".ljust(255, "x") for n in range(256)]
    conf = "".join(f"listen on localhost port {p}\n" for p in ports) + \
        "web host " + ", ".join(hosts) + "\n" + \
        "allow user " + ", ".join(users[:64]) + "\n" + \
        "".join(f"quota user {u} sessions 1000\n" for u in users)
    with tempfile.TemporaryDirectory(prefix="dl-much-") as tmp:
        wrapper = directory(tmp)
        with Daemon(mode, conf, env=dict(os.environ, LD_LIBRARY_PATH=tmp),
                    wrapper=wrapper) as d:
            eq([p for p in ports if not answers(p)], [], "each port is open")
            with open(d.conf_path) as f:
                text = f.read()
            moved = free_port()
            d.write_conf(text.replace(f"port {ports[0]}\n",
                                      f"port {moved}\n"))
            d.proc.send_signal(signal.SIGHUP)
            ok(wait_for(lambda: "was reloaded" in d.log(), 20),
               "it is reloaded", d.log()[-1000:])
            ok(answers(moved) and not answers(ports[0]), "by another port")


def slow_directory(mode):
    """A reload that has to ask it for many is no reason for the service
    manager to end the daemon, and all sessions with it."""
    with tempfile.TemporaryDirectory(prefix="dl-notify-") as tmp, \
            socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        wrapper = directory(tmp)
        s.bind(tmp + "/notify")
        os.chmod(tmp + "/notify", 0o777)
        s.settimeout(20)
        env = dict(os.environ, WATCHDOG_USEC="1000000", LD_LIBRARY_PATH=tmp,
                   NOTIFY_SOCKET=tmp + "/notify")
        with Daemon(mode, env=env, wrapper=wrapper) as d:
            with open(d.conf_path) as f:
                base = f.read()
            d.write_conf(base + "".join(
                f"quota user slow{n} sessions 1\n" for n in range(6)))
            d.proc.send_signal(signal.SIGHUP)
            last, longest = time.monotonic(), 0
            while "was reloaded" not in d.log():
                if "WATCHDOG=1" in s.recv(4096).decode():
                    longest = max(longest, time.monotonic() - last)
                    last = time.monotonic()
            longest = max(longest, time.monotonic() - last)
            ok(longest < 2.5, "the watchdog hears of the daemon while names "
               "are looked up", longest)


def background(mode):
    """Without -d it returns when it is ready and goes on by itself."""
    with Daemon(mode) as d:
        port, extra = free_port(), free_port()
        conf = conf_file(
            d, f'state-dir "{d.dir}/home/s"\nrun-dir "{d.dir}/home/r"\n'
            "mdns no\n")
        link = d.dir + "/home/link"
        os.symlink("../" + os.path.basename(conf), link)
        argv = [EXE, "-f", "link", "--port", str(port)]
        if mode == "user" and AS_ROOT and d.uid is None:
            argv.append("--user")
        kw = {}
        if d.uid is not None:
            kw = dict(user=d.uid, group=d.uid, extra_groups=[])
        r = subprocess.run(argv, stdin=subprocess.DEVNULL, env=d.env,
                           cwd=d.dir + "/home", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=30, **kw)
        eq((r.returncode, r.stdout), (0, b""), "without -d: returns 0")
        eq(b"the log is lost from here on" in r.stderr,
           not os.path.exists("/dev/log"),
           "without -d: it says where there is nobody for the log")
        ok(answers(port, uid=d.uid), "without -d: it is ready by then")
        pid = listener(port)
        ok(pid, "without -d: a daemon is there")
        try:
            ok(os.getsid(pid) != os.getsid(0),
               "without -d: a session of its own")
            if AS_ROOT:
                eq({os.readlink(f"/proc/{p}/cwd").replace(
                    d.dir + "/home/r/empty", "/") for p in descendants(pid)},
                   {"/"}, "without -d: it keeps no directory busy")
            shutil.copy(conf, conf + ".new")
            with open(conf + ".new", "a") as f:
                f.write("listen on localhost\n"
                        f"listen on 127.0.0.1 port {extra}\n")
            os.unlink(link)
            os.symlink(conf + ".new", link)
            os.kill(pid, signal.SIGHUP)
            ok(wait_for(lambda: answers(extra, uid=d.uid)),
               "without -d: SIGHUP reads the file where it was, which may be "
               "a link to another by now")
            r = subprocess.run(argv, stdin=subprocess.DEVNULL, env=d.env,
                               cwd=d.dir + "/home", stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               timeout=30, **kw)
            ok(r.returncode != 0 and str(port).encode() in r.stderr,
               "without -d: a failed start is told to who started it", r)
        finally:
            os.kill(pid, signal.SIGTERM)
        ok(wait_for(lambda: not alive(pid)), "without -d: SIGTERM ends it")


def closed_standard_fds(mode):
    """What is opened does not come where they would be."""
    for which in "0<&-", "1>&-", "2>&-", "0<&- 1>&- 2>&-":
        with Daemon(mode, wait=False) as d:
            d.stop()
            port, audit = free_port(), d.dir + "/home/audit"
            conf = conf_file(
                d, f'state-dir "{d.dir}/home/s"\nrun-dir "{d.dir}/home/r"\n'
                f'mdns no\nweb-port 0\naudit-file "{audit}"\n')
            os.chmod(d.dir + "/home", 0o755)
            argv = ["sh", "-c", f'exec "$@" {which}', "sh", EXE, "-f", conf,
                    "--port", str(port)]
            kw = {}
            if d.uid is not None:
                kw = dict(user=d.uid, group=d.uid, extra_groups=[])
            elif mode == "user" and AS_ROOT:
                argv.append("--user")
            r = subprocess.run(argv, stdin=subprocess.DEVNULL, env=d.env,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               timeout=30, **kw)
            pid = listener(port)
            try:
                eq((r.returncode, answers(port, uid=d.uid)), (0, True),
                   f"{which}: the start is told to be one")
                if AS_ROOT:
                    eq({os.readlink(f"/proc/{pid}/fd/{n}") for n in range(3)},
                       {"/dev/null"}, f"{which}: nothing else is there")
                ok(wait_for(lambda: os.path.getsize(audit) > 0) and
                   all(re.match(r'\S+ user="', x) for x in open(audit)),
                   f"{which}: the audit file has its own lines alone",
                   open(audit).read())
            finally:
                if pid is not None:
                    os.kill(pid, signal.SIGTERM)
                    wait_for(lambda: not alive(pid))


def files_that_may_not_grow(mode):
    """A limit of files' sizes is no way to end everybody's sessions."""
    def limited(blocks):
        return ["sh", "-c", f"ulimit -f {blocks}; exec \"$@\"", "sh"]
    with Daemon(mode, wrapper=limited(40960)) as d:
        c = d.client()
        sid, s = c.start(helper("sleeper"), until=b"ready")
        n = 30000000
        r = d.client().upload(b"\x7fELF" + bytes(n))
        ok(r.get("error_code") not in (None, "try_again"),
           "what is larger than a file may be is refused", r)
        eq(c.cmd("STATUS " + sid).get("pid"), s["pid"],
           "and nobody's sessions end")
        ok("was ended by" not in d.log(), "no process has ended", d.log())
    with Daemon(mode, wait=False, wrapper=limited(100)) as d:
        d.proc.wait(20)
        ok(d.proc.returncode == 1 and "files may have at most 51200 bytes" in
           d.log() and "LimitFSIZE" in d.log(),
           "one that is too low for anything: the start says so", d.log())


def ignored_ends_of_children(mode):
    """A starter may have had SIGCHLD ignored, and that is inherited."""
    with Daemon(mode, wrapper=[
            sys.executable, "-c", "import os, signal, sys\n"
            "signal.signal(signal.SIGCHLD, signal.SIG_IGN)\n"
            "os.execvp(sys.argv[1], sys.argv[1:])"]) as d:
        os.kill(d.role_pid("netproc"), signal.SIGKILL)
        ok(wait_for(lambda: "netproc was ended by signal 9" in d.log()),
           "SIGCHLD ignored: how a child ended is known all the same",
           d.log())


# a /dev of its own, with what there is of devices and a log that is ours
OWN_DEV = """for n in null zero full random urandom tty ptmx; do
    touch $0/$n; mount --bind /dev/$n $0/$n; done
mkdir $0/pts $0/shm; mount --bind /dev/pts $0/pts
mount --bind /dev/shm $0/shm; ln -s $0.log $0/log; mount --rbind $0 /dev
exec "$@"
"""


@contextlib.contextmanager
def own_log(d):
    """A daemon in the background with a /dev/log that is this test's."""
    dev, port = d.dir + "/dev", free_port()
    os.mkdir(dev)
    os.chmod(dev, 0o755)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as log:
        log.bind(dev + ".log")
        os.chmod(dev + ".log", 0o666)
        conf = conf_file(d, f'state-dir "{d.dir}/s"\nrun-dir "{d.dir}/r"\n'
                         "mdns no\nweb-port 0\n")
        subprocess.run(["unshare", "-m", "sh", "-ec", OWN_DEV, dev, EXE, "-f",
                        conf, "--port", str(port)], check=True, env=d.env,
                       stdin=subprocess.DEVNULL, timeout=30)
        yield log, port, listener(port)


def syslog(mode):
    """Without -d what is logged goes there, the audit log by its own name."""
    with Daemon(mode) as d, own_log(d) as (log, port, pid):
        log.settimeout(20)
        try:
            sid = Client(port).upload(helper("hello"))["id"]
            said = {}
            while f'session={sid} action="UPLOAD"' not in said:
                pri, text = log.recv(8192).decode()[1:].split(">", 1)
                ok(f"debuglanternd[{pid}]: " in text, "a line of ours", text)
                for what in ("is ready", f'session={sid} action="UPLOAD"'):
                    if what in text:
                        said[what] = int(pri)
            # LOG_DAEMON.info, LOG_AUTH.notice
            eq(list(said.values()), [3 << 3 | 6, 4 << 3 | 5],
               "that it is ready, and who did what, each where it belongs")
        finally:
            os.kill(pid, signal.SIGTERM)
            wait_for(lambda: not alive(pid))


def keeps_serving(d, pid, port, uid=None):
    """What the parent is for is done though nobody reads what it says."""
    for _ in range(600):
        Client(port, uid=uid).close()
    kids = [k for k in children_of(pid)
            if status_of(k).get("Name") == "netproc"]
    os.kill(kids[0], signal.SIGKILL)
    ok(wait_for(lambda: answers(port, uid=uid), 20),
       "a role that died is started again", kids)
    os.kill(pid, signal.SIGTERM)
    return wait_for(lambda: not alive(pid))


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children") as f:
        return [int(k) for k in f.read().split()]


def act(port, n):
    """So many lines of the audit log, as fast as they are made."""
    c = Client(port)
    sid = c.upload(helper("hello"))["id"]
    c.send(f"ARGS {sid} x\n" * n)
    for _ in range(n):
        c.recv_line()
    c.cmd("DELETE " + sid)


def deaf_syslog(mode):
    """One that reads nothing holds nobody up; all that there is room for
    waits for it."""
    with Daemon(mode) as d, own_log(d) as (log, port, pid):
        try:
            log.settimeout(5)
            said = ""
            for _ in range(400):
                Client(port).cmd("LIST")
            while said.count('action="login"') < 400:
                said += log.recv(8192).decode()
            ok("left out" not in said, "lines wait for who is late", said)
            # more than there is room for
            act(port, 3000)
            ok(keeps_serving(d, pid, port), "and the stop is one")
        finally:
            if alive(pid):
                os.kill(pid, signal.SIGKILL)


def busy_syslog(mode):
    """Nor are more left out for one that reads than there is room for."""
    with Daemon(mode) as d, own_log(d) as (log, port, pid):
        reader = os.fork()
        if reader == 0:
            with open(d.dir + "/said", "wb", 0) as f:
                while part := log.recv(8192):
                    f.write(part + b"\n")
            os._exit(0)

        def said(what):
            with open(d.dir + "/said") as f:
                return f.read().count(what)
        try:
            many = [threading.Thread(target=act, args=(port, 750))
                    for _ in range(4)]
            for t in many:
                t.start()
            for t in many:
                t.join()
            wait_for(lambda: said('"ARGS"') == 3000 or said("left out"))
            eq((said('"ARGS"'), said("left out")), (3000, 0),
               "all of what several did at once is there")
        finally:
            os.kill(pid, signal.SIGTERM)
            wait_for(lambda: not alive(pid))
            os.kill(reader, signal.SIGKILL)
            os.waitpid(reader, 0)


@contextlib.contextmanager
def own_stderr(mode, d, pair=os.pipe):
    """A daemon whose log nobody reads but who has the first end of a pair."""
    port = free_port()
    conf = conf_file(d, f'state-dir "{d.dir}/home/s"\n'
                     f'run-dir "{d.dir}/home/r"\nmdns no\nweb-port 0\n')
    r, w = pair()
    kw = {}
    if d.uid is not None:
        kw = dict(user=d.uid, group=d.uid, extra_groups=[])
        # as a login has it with its terminal
        os.fchown(w, d.uid, -1)
    p = subprocess.Popen(
        [EXE, "-d", "-v", "-f", conf, "--port", str(port)] +
        (["--user"] if mode == "user" and AS_ROOT and d.uid is None else []),
        stdin=subprocess.DEVNULL, env=d.env, stderr=w, **kw)
    os.close(w)
    try:
        ok(wait_for(lambda: answers(port, uid=d.uid)), "it serves")
        yield p, r, port
    finally:
        p.kill()
        p.wait()
        os.close(r)


def deaf_stderr(mode):
    """The same of a pipe, and of a terminal."""
    for pair in os.pipe, os.openpty:
        with Daemon(mode) as d, own_stderr(mode, d, pair) as (p, _, port):
            ok(wait_for(lambda: p.poll() is None), "it runs")
            ok(keeps_serving(d, p.pid, port, d.uid) or p.poll() is not None,
               f"{pair.__name__}: the stop is one")


def small_pipe():
    r, w = os.pipe()
    fcntl.fcntl(w, fcntl.F_SETPIPE_SZ, 4096)
    return r, w


def slow_stderr(mode):
    """Who reads slowly gets all of it, also at the end."""
    with Daemon(mode) as d, own_stderr(mode, d, small_pipe) as (p, r, port):
        for _ in range(200):
            Client(port, uid=d.uid).cmd("LIST")
        p.send_signal(signal.SIGTERM)
        said = b""
        while part := os.read(r, 4096):
            said += part
            time.sleep(0.05)
        lines = said.decode().splitlines()
        ok("left out" not in said.decode() and
           said.count(b'action="login"') >= 200, "no line is lost", said)
        ok(lines[-1].endswith("parent: stopped"), "nor is the last", lines[-1])


def no_syslog(mode):
    """Who starts it is told that the log, and so the audit log, is lost."""
    with Daemon(mode) as d:
        dev, port = d.dir + "/dev", free_port()
        os.mkdir(dev)
        os.chmod(dev, 0o755)
        conf = conf_file(d, f'state-dir "{d.dir}/s"\nrun-dir "{d.dir}/r"\n'
                         "mdns no\nweb-port 0\n")
        r = subprocess.run(["unshare", "-m", "sh", "-ec", OWN_DEV, dev, EXE,
                            "-f", conf, "--port", str(port)], env=d.env,
                           capture_output=True, text=True,
                           stdin=subprocess.DEVNULL, timeout=30)
        pid = listener(port)
        try:
            lines = r.stderr.splitlines()
            ok(r.returncode == 0 and "/dev/log" in lines[0] and
               "log is lost" in lines[0], "without a syslog the daemon says "
               "so, and starts", r)
        finally:
            os.kill(pid, signal.SIGTERM)
            wait_for(lambda: not alive(pid))


def listener(port):
    """The parent whose command line has that port."""
    want = [b"--port", str(port).encode()]
    for p in os.listdir("/proc"):
        try:
            with open(f"/proc/{p}/cmdline", "rb") as f:
                words = f.read().split(b"\0")
        except (OSError, NotADirectoryError):
            continue
        if p.isdigit() and b"debuglanternd" in words[0] and any(
                words[i:i + 2] == want for i in range(len(words))):
            return int(p)
    return None


def inherited_fds_and_signals(mode):
    """What the starter leaves open does not reach anybody."""
    r, w = os.pipe()
    os.set_inheritable(w, True)
    try:
        d = Daemon(mode, wrapper=["sh", "-c", "umask 077; exec \"$@\" 3>&1 "
                                  "4>&1 9>&1", "sh"])
        try:
            c = d.client()
            sid, _ = c.run(helper("inside"))
            out = c.output(sid).decode()
            eq([x for x in out.splitlines() if re.match(r"fd[3-9]", x)], [],
               "a starter's open files do not reach sessions")
            ok("umask=22\n" in out, "nor does its umask")
        finally:
            d.cleanup()
    finally:
        os.close(r)
        os.close(w)


def places_are_private(mode):
    with Daemon(mode) as d:
        for sub in ("state", "run"):
            st = os.stat(os.path.join(d.dir, sub))
            eq(st.st_mode & 0o022, 0, f"{sub}: nobody else may write")
            ok(stat.S_ISDIR(st.st_mode), f"{sub}: a directory")
            # the run directory is the parent's, who removes its socket
            owner = d.uid if d.uid is not None else os.geteuid()
            if mode == "system" and sub == "run":
                owner = service_uid("_dlparent")
            eq(st.st_uid, owner, f"{sub}: whose it is")


def places_of_others(mode):
    """A directory that is somebody's already is not made ours."""
    with Daemon(mode, wait=False) as d:
        d.stop()
        base = open(d.conf_path).read()
        tmp = os.path.join(d.dir, "home/var/tmp")
        os.makedirs(tmp)
        for path, m in ((tmp, 0o1777), (d.dir + "/home/var", 0o750)):
            os.chmod(path, m)
            if d.uid is not None:
                os.chown(path, d.uid, d.uid)

        def facts():
            return [(s.st_mode, s.st_uid, s.st_gid) for s in
                    (os.stat(tmp), os.stat(os.path.dirname(tmp)))]
        for key, name, m in (("state-dir", "state", 0o750), ("run-dir", "run",
                             0o750), ("state-dir with tmp", "state",
                             0o755 if mode == "system" else 0o700)):
            d.write_conf(base.replace(f'/{name}"', '/home/var"'))
            os.chmod(d.dir + "/home/var", m)
            # some hosts have a /var/empty
            like = os.path.join(d.dir, "home/var", "empty" if name == "state"
                                else "tls")
            os.mkdir(like)
            before = facts()
            seen = len(d.log())
            d.start(wait=False)
            wait_for(lambda: d.proc.poll() is not None)
            said = d.log()[seen:]
            ok(d.proc.poll() == 1 and key.split()[0] in said and
               "/home/var/debuglantern" in said,
               f"{key}: the start ends, and says what would be right", said)
            d.stop()
            eq(facts(), before, f"{key}: it is as it was")
            os.rmdir(like)
        os.rmdir(tmp)
        os.mkdir(os.path.join(d.dir, "home/var/lost+found"))
        d.write_conf(base.replace('/state"', '/home/var"'))
        d.start()
        d.stop()
        d.start()
        ok(answers(d.port, uid=d.uid), "an empty one is taken, and again")
        d.stop()
        subprocess.run(["rm", "-r", d.dir + "/home/var/tls"], check=True)
        d.start()
        ok(answers(d.port, uid=d.uid), "also without what was for TLS")


def places_that_others_made(mode):
    """Who has made the daemon's directory has what they put into it there."""
    for part, owner in (("state", 0), ("run", service_uid("_dlparent"))):
        with Daemon(mode) as d:
            d.stop()
            path = f"{d.dir}/{part}"
            os.chown(path, BOB, -1)
            seen = len(d.log())
            d.start(wait=False)
            wait_for(lambda: d.proc.poll() is not None)
            ok(d.proc.poll() == 1 and f"{path} belongs to uid {BOB}; "
               "remove it or name another directory" in d.log()[seen:],
               f"{part} is another's: the start is refused", d.log()[seen:])
            d.stop()
            eq(os.stat(path).st_uid, BOB, "and it is not taken from them")
            os.chown(path, owner, -1)
            d.start()
            ok(answers(d.port, uid=d.uid), "as it was it is taken")


run_tests(
    flags, check_only, print_back, read_by_a_process_without_privilege,
    alone(reader_that_dies), alone(fails_closed, SYSTEM),
    alone(few_capabilities, SYSTEM),
    alone(service_users, SYSTEM), alone(slow_directory, SYSTEM),
    alone(as_much_as_may_be, SYSTEM),
    alone(reload_without_cgroups, SYSTEM),
    *([alone(address_of_ipv6_without_ipv6)] if AS_ROOT else []),
    *[alone(t) for t in (
        port_taken, local_socket, not_a_socket, lock_of_others,
        listens_on_loopback_only, bind_flag, max_sessions_flag,
        children_and_binaries, reload_listeners, reload_settings,
        reload_limits, reload_log_level, reload_in_the_way,
        reload_while_starting, reload_of_one_link, sigterm_before_ready,
        bad_configuration_keeps_the_old_one, names_of_nobody, many_sighups,
        sigterm_ends_everything, sigterm_with_connections_open,
        sigterm_while_starting, sd_notify, background, closed_standard_fds,
        ignored_ends_of_children, files_that_may_not_grow,
        inherited_fds_and_signals,
        places_are_private, places_of_others)],
    alone(places_that_others_made, SYSTEM),
    alone(numbers_come_twice, SYSTEM), alone(syslog, SYSTEM),
    alone(no_syslog, SYSTEM), alone(deaf_syslog, SYSTEM),
    alone(busy_syslog, SYSTEM), alone(deaf_stderr), alone(slow_stderr))
