#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The nth call of each kind fails, in each role, for n = 1, 2, ... until a
# script of commands runs without meeting it: whoever asked is told so, the
# next one is served, nothing is left behind and nothing else notices.
#
# A sample of them, the same each time; all with DL_FAULTS=all.
import contextlib
import errno
import os
import re
import resource
import signal
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from faults import (EPOLL, FAIL, KINDS, LONG, READ, SHORT, SOCKET, WAIT,
                    WRITE, Baseline, Script, fds_of, recovers, rest, roles_of,
                    stage, stand)
from dl import (AS_ROOT, MODES, Daemon, alone, eq, ok, read_proc, run_tests,
                status_of, wait_for)

ALL = os.environ.get("DL_FAULTS") == "all"
PLANS = stage()
CONF = "stop-timeout 1\n"
# every so manieth n in the sample
SOME = {("spawner", "malloc"): 6, ("spawner", "fd"): 5,
        ("spawner", "epoll"): 5, ("spawner", "map"): 2,
        ("launcher", "fd"): 9, ("launcher", "open"): 9,
        ("launcher", "socket"): 3, ("launcher", "clone"): 4,
        ("launcher", "mount"): 9, ("netproc", "malloc"): 5,
        ("netproc", "map"): 2, ("netproc", "socket"): 2,
        ("netproc", "epoll"): 1, ("idproc", "malloc"): 1}
ROLES = ("netproc", "spawner", "launcher", "idproc", "parent")


@contextlib.contextmanager
def daemon(mode):
    """With a session that must outlive whatever happens to others."""
    rest(PLANS)
    # what others mount meanwhile is none of it
    wrapper = ["unshare", "-m"] if AS_ROOT else []
    with Daemon(mode, CONF, wrapper=wrapper) as d:
        try:
            stand(d)
            yield d
        finally:
            rest(PLANS)


def strike(d, role, kind, n, base, pids):
    """The nth; whether there was one, and all that is wrong then."""
    calls, error = KINDS[kind]
    plan = PLANS[role]
    plan.order(FAIL, calls, n, error=error)
    s = Script(d)
    struck, where = plan.struck, plan.where
    plan.rest()
    if not struck:
        return False, s.said
    # its replica begins anew, and what is asked for may be in neither
    bad = s.bad({"not_found"} if role == "netproc" else ())
    why = recovers(d)
    if why is not None:
        bad.append(("afterwards", why))
    elif left := base.again():
        bad.append(("left", left))
    if roles_of(d) != pids:
        bad.append(("died", roles_of(d), pids))
    return True, [(n, where, x) for x in bad]


def nth(mode, role, kind, step):
    with daemon(mode) as d:
        base = Baseline(d)
        n, wrong = 1, []
        pids = roles_of(d)
        while True:
            there, bad = strike(d, role, kind, n, base, pids)
            wrong += bad
            if not there or bad:
                break
            n += step
        eq(wrong, [], f"{role}: each {kind} may fail, "
           f"{(n - 1) // step} were tried")


def calls_fail(mode):
    if ALL:
        for role in ROLES:
            for kind in KINDS:
                if kind != "write":
                    nth(mode, role, kind, 1)
    elif mode == MODES[0]:
        for (role, kind), step in SOME.items():
            nth(mode, role, kind, step)


def all_good(d, what):
    s = Script(d)
    eq(s.said, [], f"{what}: nobody notices")


def calls_are_interrupted(mode):
    """Half of those that may be."""
    with daemon(mode) as d:
        base = Baseline(d)
        for role in ROLES:
            PLANS[role].order(FAIL, READ | WAIT, 1, 1 << 60, 2, errno.EINTR)
            all_good(d, f"{role} is interrupted all the time")
            ok(PLANS[role].struck > 0, f"{role} was interrupted")
            PLANS[role].rest()
        eq((recovers(d), base.again()), (None, {}), "all is as before")


def calls_do_little(mode):
    with daemon(mode) as d:
        base = Baseline(d)
        for role, calls in (("netproc", READ | WRITE), ("spawner", WRITE)):
            PLANS[role].order(SHORT, calls, 1, 1 << 60)
            all_good(d, f"{role} moves one byte at a time")
            ok(PLANS[role].struck > 0, f"{role} moved bytes")
            PLANS[role].rest()
        eq((recovers(d), base.again()), (None, {}), "all is as before")


def the_clock_jumps(mode):
    with daemon(mode) as d:
        base = Baseline(d)
        for years in (10, -10, 0):
            for role in ROLES:
                PLANS[role].jump(years * 365 * 86400 * 1000)
            all_good(d, f"the time of day is {years} years off")
        eq((recovers(d), base.again()), (None, {}), "all is as before")


def limit_files(pid, most):
    """The limit that it had.  Root may lack the right to set another's, as in
    a container; who is the same user has it."""
    soft, hard = re.search(rb"^Max open files +(\d+) +(\d+)",
                           read_proc(pid, "limits"), re.M).groups()
    ids = [int(status_of(pid)[k].split()[0]) for k in ("Gid", "Uid")]
    child = os.fork()
    if child == 0:
        try:
            if AS_ROOT:
                os.setresgid(*[ids[0]] * 3)
                os.setresuid(*[ids[1]] * 3)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (most, int(hard)))
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(child, 0)[1] != 0:
        raise RuntimeError(f"{pid} keeps its limit of descriptors")
    return int(soft)


def without_room(d, pid, most):
    """All that is wrong.  Who asks may have to wait for a descriptor, but not
    any more once there is one."""
    seen, said = len(d.log()), []
    asks = threading.Thread(target=lambda: said.append(
        Script(d).bad({"not_found"})), daemon=True)
    old = limit_files(pid, most)
    try:
        asks.start()
        wait_for(lambda: not asks.is_alive() or
                 "accepting pauses" in d.log()[seen:], LONG)
    finally:
        limit_files(pid, old)
    asks.join(LONG)
    return said[0] if said else "it hangs"


def no_descriptor_is_left(mode):
    """By the kernel itself: what comes with a message is dropped, too."""
    with daemon(mode) as d:
        base = Baseline(d)
        for role in ("spawner", "launcher", "netproc", "idproc"):
            for pid in roles_of(d)[role]:
                n = sum(fds_of(pid).values())
                for more in (0, 1, 2, 3, 5):
                    eq((without_room(d, pid, n + more), recovers(d),
                        base.again()), ([], None, {}),
                       f"{role}: with room for {more} descriptors it says "
                       "so, and all is well afterwards")


# who dies, whose call fails then, which it is and how often
LINKS = (("idproc", "netproc", EPOLL, 1), ("idproc", "spawner", EPOLL, 1),
         ("launcher", "spawner", EPOLL, 1), ("netproc", "spawner", EPOLL, 2),
         ("netproc", "idproc", EPOLL, 3), ("netproc", "parent", SOCKET, 3),
         ("idproc", "parent", EPOLL, 3), ("launcher", "parent", SOCKET, 2))


def links_come_back(mode):
    """What connects two roles cannot be made: it is, as soon as it can."""
    with daemon(mode) as d:
        base = Baseline(d)
        for dies, fails, calls, times in LINKS:
            pid = d.role_pid(dies)
            PLANS[fails].order(FAIL, calls, 1, times, error=errno.ENOMEM)
            os.kill(pid, signal.SIGKILL)
            struck = wait_for(lambda: PLANS[fails].struck == times, LONG)
            PLANS[fails].rest()
            ok(struck, f"{dies} has died: {fails} cannot connect to another")
            eq((recovers(d), base.again()), (None, {}),
               f"{dies} has died: it can a moment later")


sampled = (calls_fail, links_come_back)
long_ones = (calls_are_interrupted, calls_do_little, the_clock_jumps,
             no_descriptor_is_left)
run_tests(*[alone(t) for t in sampled + (long_ones if ALL else ())])
