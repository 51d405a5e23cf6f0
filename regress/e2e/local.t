#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# A daemon for the local socket alone: no port, one for all who start it at
# once, and gone when nobody uses it.
import glob
import grp
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (AS_ROOT, BIN, MODES, Client, Daemon, alone, eq, helper, ok,
                run_tests, wait_for)


def sockets_of(d):
    """What the parent and its children listen on, beside the local socket."""
    pids = [d.proc.pid, *d.children()]
    inodes = set()
    for pid in pids:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            try:
                link = os.readlink(f"/proc/{pid}/fd/{fd}")
            except OSError:
                continue
            if link.startswith("socket:["):
                inodes.add(link[8:-1])
    found = []
    # a kernel without IPv6 has two of the four
    for table in glob.glob("/proc/net/[tu][cd]p") + \
            glob.glob("/proc/net/[tu][cd]p6"):
        with open(table) as f:
            for line in f.readlines()[1:]:
                words = line.split()
                if words[9] in inodes:
                    found.append((table, words[1], words[3]))
    return found


def local_client(d):
    return Client(d.dir + "/run/debuglantern.sock", uid=d.uid)


def no_ports(mode):
    with Daemon(mode, args=["--local"], conf="mdns yes\n") as d:
        # which only root may look for
        if AS_ROOT:
            eq(sockets_of(d), [], "a local daemon has no socket of the "
               "network")
        c = local_client(d)
        r = c.cmd("VERSION")
        ok(r["mdns"] != "announced", "nor is it announced", r["mdns"])
        s = c.start(helper("sleeper"))[0]
        eq(c.cmd("STATUS " + s)["state"], "RUNNING", "it runs sessions")
        c.cmd("KILL " + s)


def ends_when_idle(mode):
    with Daemon(mode, args=["--local"], conf="exit-idle 1\n") as d:
        path = d.dir + "/run/debuglantern.sock"
        c = local_client(d)
        s = c.start(helper("sleeper"))[0]
        c.close()
        # longer than the limit, of which the session knows nothing
        ok(not wait_for(lambda: d.proc.poll() is not None, 2.5),
           "it stays while a session runs")
        c = local_client(d)
        c.cmd("KILL " + s)
        ok(not wait_for(lambda: d.proc.poll() is not None, 2.5),
           "it stays while somebody is connected")
        c.close()
        eq(wait_for(lambda: d.proc.poll() is not None, 20), True,
           "it ends when nobody is left")
        eq(d.proc.returncode, 0, "with success")
        ok(not os.path.exists(path), "its socket is gone")
        ok("(exit-idle)" in d.log(), "the log says why", d.log()[-300:])


def one_of_many(mode):
    """Whoever comes second must not take the first one's socket away."""
    with Daemon(mode, args=["--local"]) as d:
        d.stop()
        path = d.dir + "/run/debuglantern.sock"
        for turn in range(3):
            argv = [os.path.join(BIN, "debuglanternd"), "-d", "-f",
                    d.conf_path, "--local"]
            kw = {} if d.uid is None else {
                "user": d.uid, "group": d.uid, "extra_groups": []}
            all_of = [subprocess.Popen(
                argv, env=d.env, cwd="/", stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **kw)
                for _ in range(4)]
            wait_for(lambda: sum(p.poll() is None for p in all_of) <= 1, 30)
            left = [p for p in all_of if p.poll() is None]
            said = [p.stderr.read().decode() for p in all_of
                    if p.poll() is not None]
            eq((turn, len(left)), (turn, 1), "of four one stays")
            ok(all("another daemon has it" in x for x in said),
               "the others say why they do not", "".join(said))
            answered = wait_for(lambda: answers(path, d.uid), 20)
            ok(answered, "the one that stays answers at the socket")
            for p in left:
                p.terminate()
                p.wait()
            for p in all_of:
                p.stderr.close()
            eq([f for f in os.listdir(d.dir + "/run") if "sock" in f], [],
               "neither socket nor lock is left")


def answers(path, uid):
    try:
        c = Client(path, uid=uid)
        r = c.cmd("VERSION")
        c.close()
        return "version" in r
    except (OSError, ValueError):
        return False


HIDDEN = ["unshare", "-m", "sh", "-ec",
          "mount -t proc -o hidepid=2%s proc /proc; exec \"$@\"", "sh"]


def hiding(options=""):
    return [w.replace("%s", options) for w in HIDDEN]


def hidden_processes(mode):
    """A client that cannot be told from a session: the log says why."""
    remedy = "gid=_dlid" if mode == "system" else "hidepid=0"
    with Daemon(mode, wrapper=hiding()) as d:
        r = local_client(d).json()
        eq(r["error_code"], "not_permitted", "hidepid: refused")
        ok(wait_for(lambda: "(hidepid)" in d.log() and remedy in d.log()),
           "the reason and the remedy", d.log())
    if mode == "system":
        gid = grp.getgrnam("_dlid").gr_gid
        with Daemon(mode, wrapper=hiding(f",gid={gid}")) as d:
            ok("version" in local_client(d).cmd("VERSION"),
               "served once idproc may see all processes")


run_tests(alone(hidden_processes, MODES if AS_ROOT else ()),
          alone(no_ports), alone(ends_when_idle), alone(one_of_many))
