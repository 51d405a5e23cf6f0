#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Two users: whatever the programs of one try, those of the other run on as if
# they were alone. The same attempts by a user against themselves get through.
import ctypes
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from rogue import daemon
from dl import (AS_ROOT, alive, attempt, eq, helper, ok, read_helper,
                read_proc, run_tests, status_of, tar_of, wait_for)

CONF = ("allow-sandbox none, namespaces, tmpfs\nstop-timeout 1\n"
        "gdbserver \"/usr/bin/gdbserver\"\n")
# a network of its own takes a sandbox
PLACES = (("none", "shared"), ("namespaces", "shared"),
          ("namespaces", "none"), ("tmpfs", "shared"), ("tmpfs", "none"))
# what /proc shows of every process of a host, to all of its users
WORLD = {"proc.cmdline", "proc.status", "pidfd.open"}
THIEF = read_helper("thief")


class Prey:
    """A session of Alice's with all that one may have, and what an attacker
    could have found out about it."""
    count = os.getpid() * 100

    def __init__(self, d, kind, network="shared", bundle=False, debug=False):
        Prey.count += 1
        self.d, self.c, self.kind = d, d.client(d.alice), kind
        self.network, self.bundle = network, bundle
        self.name = str(Prey.count)
        data = tar_of(("thief", THIEF), ("data", b"hers", 0o600)) if bundle \
            else THIEF
        self.id = self.c.upload(data, "thief" if bundle else None)["id"]
        self.c.cmd(f"ARGS {self.id} prey name={self.name}")
        self.c.cmd(f"ENV {self.id} SECRET=hers-{self.name}")
        r = self.c.cmd(f"START {self.id} --sandbox {kind} "
                       f"--network {network}")
        if "error_code" in r:
            raise RuntimeError(r)
        self.c.until(self.id, b"ready")
        self.pid, self.port = r["pid"], None
        self.stub = int(status_of(self.pid)["PPid"])
        if debug:
            self.port = self.c.cmd("DEBUG " + self.id)["debug_port"]
        self.was = self.look()

    def knows(self, pid=None):
        """The arguments of who is to attack it, or its stub."""
        out = self.c.output(self.id).decode()
        return " ".join((
            f"pid={pid or self.pid}", f"name={self.name}",
            f"secret={re.search('secret=(.*)', out)[1]}",
            f"key={re.search('key=(.*)', out)[1]}", f"port={self.port or 1}",
            f"cgroup={cgroup_of(self.pid)}",
            f"bundle={self.d.dir}/state/bundle"))

    def look(self):
        """What an attack would change, as root sees it."""
        st = status_of(self.pid)
        return {
            "environ": read_proc(self.pid, "environ"),
            "arguments": read_proc(self.pid, "cmdline"),
            "exe": os.stat(f"/proc/{self.pid}/exe").st_ino,
            "oom": read_proc(self.pid, "oom_score_adj"),
            "nice": read_proc(self.pid, "stat").split()[18],
            "tracer": self.port or st["TracerPid"], "threads": st["Threads"],
            "cgroup": read_proc(self.pid, "cgroup"),
            "limits": read_proc(self.pid, "limits"),
            "stub": alive(self.stub),
            "fds": sorted(os.readlink(f"/proc/{self.pid}/fd/{f}")
                          for f in os.listdir(f"/proc/{self.pid}/fd")),
            "queues": sockets_of(self.pid),
            "output": self.c.output(self.id),
            "state": self.c.cmd("STATUS " + self.id)["state"],
        }

    def check(self, name):
        now = self.look() if alive(self.pid) else {}
        eq({k: now.get(k) for k in self.was if now.get(k) != self.was[k]}, {},
           name + ": nothing has changed for her")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.c.cmd("KILL " + self.id)
        self.c.cmd("DELETE " + self.id)
        self.c.close()
        clean_up(self.name)


def clean_up(name):
    """What outlives a program that was not alone with its names."""
    for path in ("/tmp/prey-", "/dev/shm/prey-"):
        for end in ("", ".s", ".d"):
            if os.path.lexists(path + name + end):
                os.unlink(path + name + end)
    for kind in "MSQ":
        subprocess.run(["ipcrm", f"-{kind}{hex(0x51000000 + int(name))}"],
                       stderr=subprocess.DEVNULL)
    ctypes.CDLL(None).mq_unlink(f"/prey-{name}".encode())


def sockets_of(pid):
    """Of a network of its own only: elsewhere others come and go."""
    if os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/self/ns/net"):
        return None
    return len(read_proc(pid, "net/unix").splitlines())


def cgroup_of(pid):
    for line in read_proc(pid, "cgroup").decode().splitlines():
        if line.startswith("0::"):
            for root in ("/sys/fs/cgroup/unified", "/sys/fs/cgroup"):
                if os.path.exists(root + line[3:] + "/cgroup.procs"):
                    return root + line[3:]
    return "/none"


def ways(text):
    """{way: errno's name}, all of them or none."""
    if "done" not in text.split():
        raise RuntimeError("the attack has not come to its end: " +
                           text[-300:])
    return dict(x.split("=") for x in text.split() if "=" in x)


def from_session(d, kind, network, args, uid):
    """By a hostile program in a session of that user's."""
    c = d.client(uid)
    sid = c.upload(THIEF)["id"]
    try:
        c.cmd(f"ARGS {sid} {args}")
        r = c.cmd(f"START {sid} --sandbox {kind} --network {network}")
        if "error_code" in r:
            raise RuntimeError(r)
        r = c.cmd(f"WAIT {sid} 60")
        return ways(c.output(sid).decode(errors="replace"))
    finally:
        c.cmd("KILL " + sid)
        c.cmd("DELETE " + sid)
        c.close()


def from_host(args, uid, *wrapper):
    """By a program that is in no session."""
    return ways(subprocess.run(
        [*wrapper, helper("thief"), *args.split()], user=uid, group=uid,
        extra_groups=[], stdout=subprocess.PIPE, timeout=120,
        check=True).stdout.decode())


def landlock_abi():
    return ctypes.CDLL(None).syscall(444, None, 0, 1)


def got(found):
    return {k for k, v in found.items() if v == "0"}


def expected(prey, kind, network):
    """Where nothing else is in between, hosts let their users do this."""
    out = set(WORLD) if kind in ("none", "host") else set()
    if prey.network == network == "shared":
        # names, and who answers by one is open to all as by a TCP port
        out.add("net.unix")
        if kind in ("none", "host") or landlock_abi() < 6:
            out |= {"abstract.stream", "abstract.datagram"}
    return out


# --- Bob against Alice ---------------------------------------------------

def each_place(d):
    for kind, network in PLACES:
        for bundle in (False, True):
            what = f"a{' bundle' * bundle or 'n image'} in {kind}, " \
                f"network {network}"
            with Prey(d, kind, network, bundle) as p:
                attempt(what, against, d, p, what, PLACES)


def against(d, p, what, places):
    eq(got(from_host(p.knows(), d.bob)), expected(p, "host", "shared"),
       f"from the host against {what}: nothing more than of any process")
    for kind, network in places:
        v = from_session(d, kind, network, p.knows(), d.bob)
        eq(got(v), expected(p, kind, network),
           f"from {kind}, network {network} against {what}")
    p.check(f"attacks on {what}")


def helpers_of_the_session(d):
    """The stub of a session, and its debugger, are no way in either."""
    for kind, network in PLACES:
        with Prey(d, kind, network, debug=True) as p:
            tracer = int(status_of(p.pid)["TracerPid"])
            for name, pid in (("stub", p.stub), ("debugger", tracer),
                              ("program", p.pid)):
                v = from_session(d, "none", "shared", p.knows(pid), d.bob)
                eq(got(v), expected(p, "none", "shared"),
                   f"{kind}, network {network}: nothing by its {name}")
            v = from_session(d, "namespaces", "shared", p.knows(), d.bob)
            eq(v["debug.port"] != "0", True, "a sandboxed session gets "
               "nothing from the debug port")
            p.check(f"attacks on what surrounds it in {kind}")


def who_holds_the_ring(d):
    """Output that was captured is in the hands of two roles."""
    with Prey(d, "none") as p:
        for role in ("spawner", "netproc"):
            v = from_session(d, "none", "shared", p.knows(d.role_pid(role)),
                             d.bob)
            eq(got(v), expected(p, "none", "shared"),
               f"nothing of the {role}'s")
        p.check("attacks on who captures its output")


def names_are_not_followed(d):
    """Links by all names of hers that one could think of."""
    c = d.client(d.alice)
    sid = c.upload(tar_of(("thief", THIEF)), "thief")["id"]
    victim = os.path.join(d.dir, "victim")
    with open(victim, "w") as f:
        f.write("untouched")
    os.chmod(victim, 0o666)
    names = [sid, sid[:8], "bundle", "thief", "image", "dl-" + sid,
             "debuglantern", "debuglantern-" + sid, f"debuglantern-{d.alice}",
             "sysroot.tar.gz"]
    links = [f"{top}/{n}" for n in names for top in ("/tmp", "/dev/shm")]
    links = [x for x in links if not os.path.lexists(x)]
    try:
        for x in links:
            os.symlink(victim, x)
            os.lchown(x, d.bob, d.bob)
        for kind, network in PLACES:
            c.cmd(f"ARGS {sid} only=nothing")
            c.cmd(f"START {sid} --sandbox {kind} --network {network}")
            eq(c.cmd(f"WAIT {sid} 20")["exit_code"], 0,
               f"{kind}, network {network}: it runs beside them")
        more = c.upload(tar_of(("thief", THIEF)), "thief")["id"]
        for x in (sid, more):
            c.cmd("DELETE " + x)
        with open(victim) as f:
            eq(f.read(), "untouched", "no link of others was followed")
        eq([x for x in links if not os.path.islink(x)], [], "or replaced")
    finally:
        for x in links:
            os.unlink(x)


# --- the same ways where they lead somewhere ------------------------------

class HostPrey:
    """The same program, but no session of anybody's."""

    def __init__(self, d):
        Prey.count += 1
        self.name = str(Prey.count)
        self.proc = subprocess.Popen(
            [helper("thief"), "prey", "name=" + self.name], user=d.alice,
            group=d.alice, extra_groups=[], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE)
        v = {}
        while (line := self.proc.stdout.readline().decode().strip()) != \
                "ready":
            k, _, v[k] = line.partition("=")
        self.knows = f"pid={self.proc.pid} name={self.name} " \
            f"secret={v['secret']} key={v['key']}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.proc.kill()
        self.proc.communicate()
        clean_up(self.name)


def all_ways():
    return set(from_host("only=", 0))


def all_ways_can_lead_somewhere(d):
    """By a user against themselves, or by root: else they would prove little."""
    led = set()
    with Prey(d, "none", bundle=True) as p:
        led |= got(from_session(d, "none", "shared", p.knows(), d.alice))
    with Prey(d, "namespaces", bundle=True) as p:
        led |= got(from_host(p.knows(), 0))
    with Prey(d, "namespaces", bundle=True) as p:
        led |= got(from_host(p.knows() + " only=bundle", 0, "nsenter", "-m",
                             "-t", str(p.pid)))
    with Prey(d, "namespaces", debug=True) as p:
        led |= got(from_host(p.knows() + " only=debug", d.alice))
    with HostPrey(d) as p:
        led |= got(from_host(p.knows, d.alice))
        # root alone may count events where the host says so
        led |= got(from_host(p.knows + " only=perf", 0))
    for way in ("unseen.async", "unseen.all"):
        with HostPrey(d) as p:
            from_host(p.knows + " only=" + way, d.alice)
            if wait_for(lambda: said(p.proc.stdout)):
                led.add(way)
    eq(sorted(all_ways() - led), [], "each way leads to who is one's own")


def said(pipe):
    os.set_blocking(pipe.fileno(), False)
    return b"hit" in (pipe.read() or b"")


def run():
    with daemon("system", CONF) as d:
        for t in (all_ways_can_lead_somewhere, each_place,
                  helpers_of_the_session, who_holds_the_ring,
                  names_are_not_followed):
            if os.environ.get("DL_ONLY", "") in t.__name__:
                attempt(t.__name__, t, d)


run.chooses = True
run_tests(*[run] if AS_ROOT else [])
