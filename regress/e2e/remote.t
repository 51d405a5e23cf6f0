#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Clients of another host, over a wire between two network namespaces: who
# they are by token, what they are refused without one, and their debuggers.
import ctypes
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import dl
from dl import (ALICE, AS_ROOT, BOB, IPV6, Client, Daemon, eq, helper, ok,
                passwd_wrapper, run_tests, token_of, wait_for)

HOST, NEAR, FAR = "192.0.2.1", "192.0.2.2", "192.0.2.3"
LATE, LATE6 = "192.0.2.9", "2001:db8::9"
CLONE_NEWNET = 0x40000000


class Elsewhere(dl.Maker):
    """A process on the other host that makes connections."""

    def __init__(self, ns):
        self.ns = ns
        super().__init__(0)

    def serve(self, s):
        fd = os.open(self.ns, os.O_RDONLY)
        if ctypes.CDLL(None, use_errno=True).setns(fd, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
        super().serve(s)


class Remote(Client):
    def __init__(self, host, port, source=None, to=None):
        address = (to or HOST, port)
        self.s = host.connect((*address, source) if source else address, 20)
        self.buf = b""


def dial(address, timeout):
    if len(address) < 3:
        return plain_dial(address, timeout)
    return dl.socket.create_connection(tuple(address[:2]), timeout,
                                       (address[2], 0))


plain_dial, dl.dial = dl.dial, dial


def other_host():
    """The path of a network namespace with a wire to this one."""
    p = subprocess.Popen(["unshare", "-n", "sleep", "600"])
    ns = f"/proc/{p.pid}/ns/net"
    mine = os.readlink("/proc/self/ns/net")
    if not wait_for(lambda: os.readlink(ns) != mine):
        raise RuntimeError("no second network namespace")
    subprocess.run(["sh", "-ec", f"""
        ip link add v0 type veth peer name v1 netns {p.pid}
        ip addr add {HOST}/24 dev v0
        ip link set v0 up
        nsenter --net={ns} sh -ec '
            ip link set lo up
            ip addr add {NEAR}/24 dev v1
            ip addr add {FAR}/24 dev v1
            ip link set v1 up'"""], check=True)
    return p, ns


def code(r):
    return r.get("error_code") if isinstance(r, dict) else None


def logs_in(d, far):
    secret = token_of(d, uid=ALICE)
    c = Remote(far, d.port)
    r = c.cmd("AUTH " + secret)
    eq((r.get("ok"), r.get("user"), r.get("read_only"), r.get("admin")),
       (True, f"u{ALICE}", False, False), "remote: AUTH")
    w = c.cmd("WHOAMI")
    eq((w["door"], w["address"].split(":")[0]), ("tcp", NEAR),
       "remote: WHOAMI has the address")
    sid = c.upload(helper("hello"))["id"]
    eq(d.client(ALICE).cmd("STATUS " + sid)["owner"], f"u{ALICE}",
       "remote: the token's user is the owner")
    c.cmd("START " + sid)
    c.cmd(f"WAIT {sid} 20")
    ok(c.output(sid), "remote: and runs it")
    c.cmd("DELETE " + sid)
    log = d.log()
    ok(secret not in log and secret[4:] not in log, "no token is in the log")
    ok(f'address="{NEAR}:' in log and "token" in log, "but the login is")


def without_a_token(d, far):
    c = Remote(far, d.port)
    eq(code(c.cmd("LIST")), "auth_required", "remote: LIST without AUTH")
    ok(c.closed(), "and the connection is closed")
    c = Remote(far, d.port)
    eq(code(c.cmd("AUTH dlt_" + "A" * 43)), "auth_failed",
       "remote: a wrong token")
    ok(c.closed(), "and the connection is closed")
    c = Remote(far, d.port)
    c.send("x" * 70000)
    ok(code(c.json()) in ("line_too_long", "auth_required"),
       "remote: a line that is too long")
    c = Remote(far, d.port)
    c.send(b"UPLOAD 5\nLIST\nAUTH x\n")
    eq(code(c.json()), "auth_required", "remote: UPLOAD without AUTH")
    ok(c.closed(), "and nothing after it is looked at")


def strangers_have_little_time(mode="system"):
    with passwd_wrapper(ALICE) as w, Daemon(
            mode, f"listen on localhost\nlisten on {HOST} plain\n"
            "line-timeout 2\nmax-connections 80\n", wrapper=w) as d:
        idle = [Remote(FAR_HOST, d.port) for _ in range(5)]
        eq(code(Remote(FAR_HOST, d.port).json()), "max_connections_reached",
           "those of one address who have not said who they are have a "
           "sixteenth of all places")
        eq(d.client(ALICE).cmd("LIST"), [], "and take nobody else's")
        eq(code(Remote(FAR_HOST, d.port, FAR).cmd("LIST")), "auth_required",
           "not even another address's")
        t = time.monotonic()
        idle[0].recv_eof()
        ok(time.monotonic() - t < 8, "they are closed after line-timeout")
        secret = token_of(d, uid=ALICE)
        c = Remote(FAR_HOST, d.port)
        ok(c.cmd("AUTH " + secret).get("ok"), "and then others may come")
        time.sleep(3)
        eq(c.cmd("LIST"), [], "who said who they are may stay")


def debug_ports(d, far):
    a = Remote(far, d.port)
    a.cmd("AUTH " + token_of(d, uid=ALICE))
    sid, _ = a.start(helper("target"), until=b"target")
    port = a.cmd("DEBUG " + sid)["debug_port"]
    for source in (FAR,):
        s = far.connect((HOST, port, source), 10)
        s.sendall(b"+$?#3f")
        eq(gone(s), True, "a debug port is not for other addresses")
    s = far.connect((HOST, port, NEAR), 10)
    s.sendall(b"+$?#3f")
    said = b""
    while b"$T" not in said and (more := s.recv(100)):
        said += more
    ok(b"$T" in said, "but for that of who asked for it", said)
    s.close()
    ok(wait_for(lambda: a.cmd("STATUS " + sid)["state"] == "RUNNING"),
       "and the session runs on")
    a.cmd("KILL " + sid)
    a.cmd("DELETE " + sid)


def gone(s):
    try:
        return s.recv(100) == b""
    except OSError:
        return True


def wrong_tokens_slow_one_address(d, far):
    good = token_of(d, uid=ALICE)
    wrong = "AUTH dlt_" + "B" * 43
    answers = []
    for _ in range(60):
        c = Remote(far, d.port, FAR)
        answers.append(code(c.cmd(wrong)))
        c.close()
    # one of the sixty may have come after a wait
    ok(answers[:10] == ["auth_failed"] * 10 and
       answers.count("too_many_tries") > 40,
       "after ten wrong tokens an address has to wait", answers)
    c = Remote(far, d.port, FAR)
    eq(code(c.cmd("AUTH " + good)), "too_many_tries",
       "also with the right one, which is not even looked at")
    c = Remote(far, d.port, NEAR)
    ok(c.cmd("AUTH " + good).get("ok"), "other addresses do not")


def plain_is_warned_about(d, far):
    c = Remote(far, d.port)
    c.cmd("AUTH " + token_of(d, uid=ALICE))
    ok(HOST in str(c.cmd("VERSION")["warnings"]), "VERSION warns of a plain "
       "listener", c.cmd("VERSION")["warnings"])
    ok("plain" in d.log() or "clear" in d.log(), "and so does the log")


def revoked_while_connected(d, far):
    owner = d.client(ALICE)
    r = owner.cmd("TOKEN create")
    c = Remote(far, d.port)
    ok(c.cmd("AUTH " + r["token"]).get("ok"), "a token is good")
    eq(c.cmd("WHOAMI")["token"], r["id"], "WHOAMI names it")
    owner.cmd("TOKEN revoke " + r["id"])
    ok(revoked(c), "revoking it ends its connections")
    c = Remote(far, d.port)
    eq(code(c.cmd("AUTH " + r["token"])), "auth_failed", "and its use")


def revoked(c):
    try:
        return "error_code" in c.cmd("LIST")
    except (OSError, EOFError):
        return True


def later_addresses(mode="system"):
    """A host gets its addresses while it starts, and the daemon may be first."""
    late6 = f"listen on {LATE6} plain\n" if IPV6 else ""
    with passwd_wrapper(ALICE) as w, Daemon(
            mode, f"listen on localhost\nlisten on {LATE} plain\n" + late6,
            wrapper=w) as d:
        eq(d.client(ALICE).cmd("LIST"), [], "it starts without an address "
           "that it is to listen on")
        for address in (LATE, *([f"[{LATE6}]"] if IPV6 else [])):
            ok(f"{address} port {d.port}: this host has no such address" in
               d.log(), f"{address}: the log says so", d.log())
        secret = token_of(d, uid=ALICE)
        subprocess.run(["ip", "addr", "add", LATE + "/24", "dev", "v0"],
                       check=True)
        c = Remote(FAR_HOST, d.port, to=LATE)
        ok(c.cmd("AUTH " + secret).get("ok"), "and serves it as soon as it is "
           "there")
        if IPV6:
            subprocess.run(["ip", "addr", "add", LATE6 + "/128", "dev", "lo"],
                           check=True)
            ok(Client(d.port, LATE6, ALICE).cmd("AUTH " + secret).get("ok"),
               "one of IPv6, too")


def on_one_daemon():
    far = FAR_HOST
    with passwd_wrapper(ALICE, BOB) as w, Daemon(
            "system", f"listen on localhost\nlisten on {HOST} plain\n",
            wrapper=w) as d:
        for t in (logs_in, without_a_token, debug_ports,
                  plain_is_warned_about, revoked_while_connected,
                  wrong_tokens_slow_one_address):
            t(d, far)


if not AS_ROOT:
    print("1..0 # skip: needs root for network namespaces")
    sys.exit(0)
if os.environ.get("DL_REMOTE_NET") != "1":
    os.environ["DL_REMOTE_NET"] = "1"
    os.execvp("unshare", ["unshare", "-n", "sh", "-ec",
                          'ip link set lo up; exec "$0" "$@"',
                          sys.executable, *sys.argv])
other, namespace = other_host()
FAR_HOST = Elsewhere(namespace)
try:
    run_tests(on_one_daemon, strangers_have_little_time, later_addresses)
finally:
    other.kill()
    other.wait()
