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
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from faults import (EPOLL, FAIL, KINDS, LONG, READ, SHORT, SMALL, SOCKET, WAIT,
                    WRITE, Announced, Baseline, Debugged, Packed, Reloaded,
                    Script, Sealed, Traced, Unpacked, fds_of, recovers, rest,
                    roles_of, stage, stand)
from dl import (AS_ROOT, MODES, Daemon, alone, eq, helper, ok, read_proc,
                run_tests, small_tree, status_of, wait_for)
from mdns import APART, USER, Network
from tlsclient import with_tls

ALL = os.environ.get("DL_FAULTS") == "all"
PLANS = stage()
TOY = helper("toy_adapter")
# who waits for a program that has lost its way is told so before the test is
CONF = ("stop-timeout 1\ntimeout await 20\n"
        f'adapter toy command "{TOY} lldb-dap"\n')
# every so manieth n in the sample
SOME = {("spawner", "malloc"): 6, ("spawner", "fd"): 5,
        ("spawner", "epoll"): 5, ("spawner", "map"): 2,
        ("spawner", "write"): 11, ("tracer", "write"): 7,
        ("launcher", "fd"): 9, ("launcher", "open"): 9,
        ("launcher", "socket"): 3, ("launcher", "clone"): 4,
        ("launcher", "mount"): 9, ("launcher", "write"): 7,
        ("netproc", "malloc"): 5,
        ("netproc", "map"): 2, ("netproc", "socket"): 2,
        ("netproc", "epoll"): 1, ("idproc", "open"): 3,
        ("parent", "message"): 9, ("setup", "malloc"): 29,
        ("setup", "open"): 2,
        ("tlsproc", "socket"): 1, ("archiver", "open"): 1,
        ("debugger", "open"): 29, ("tracer", "open"): 4,
        ("symbols", "fd"): 1, ("announcer", "malloc"): 97,
        ("announcer", "socket"): 1}
# one's own user is looked for by other ways than root's
MODE_OF = {"idproc": MODES[-1]}
# who is met only by some: what they do, and what calls they make for it
OTHERS = {"idproc": (Script, Sealed), "parent": (Reloaded, Script),
          "setup": (Reloaded,),
          "tlsproc": (Sealed,), "archiver": (Unpacked, Packed),
          "debugger": (Debugged,), "tracer": (Traced,), "symbols": (Traced,)}
if AS_ROOT:
    # a network of its own
    OTHERS["announcer"] = (Announced,)
# netproc's replica begins anew, and what is asked for may be in neither; a
# debugger that has to end while nobody asks it is missed by who asks next
ALSO = {"netproc": {"not_found"}, "debugger": {"no_session"}}
# one in so many is enough: each takes a while
STEPS = {Packed: 7}
ROLES = ("netproc", "spawner", "launcher", *OTHERS)


@contextlib.contextmanager
def network():
    """A bus, and who announces what is told there."""
    net = Network(APART)
    try:
        net.bus_up()
        net.avahi_up()
        yield
    finally:
        net.close()


@contextlib.contextmanager
def daemon(mode, *scripts):
    """With a session that must outlive whatever happens to others."""
    rest(PLANS)
    with contextlib.ExitStack() as stack:
        # what others mount meanwhile is none of it
        wrapper = ["unshare", "-m"] if AS_ROOT else []
        if Packed in scripts:
            wrapper = stack.enter_context(small_tree(SMALL))
        port, text, kw = None, CONF, {}
        if {Sealed, Announced} & set(scripts):
            port, text = with_tls(CONF)
        if Announced in scripts:
            stack.enter_context(network())
            text, kw = "mdns yes\n" + text, {"uid": USER}
        d = stack.enter_context(Daemon(mode, text, wrapper=wrapper, **kw))
        d.tls_port = port
        try:
            stand(d)
            yield d
        finally:
            rest(PLANS)


def strike(d, script, role, kind, n, base, pids):
    """The nth; whether there was one, and all that is wrong then."""
    calls, error = KINDS[kind]
    plan = PLANS[role]
    plan.order(FAIL, calls, n, error=error)
    s = script(d)
    struck, where = plan.struck, plan.where
    plan.rest()
    if not struck:
        return False, s.said
    bad = s.bad(ALSO.get(role, ()))
    why = recovers(d)
    if why is not None:
        bad.append(("afterwards", why))
    elif left := base.again():
        bad.append(("left", left))
    if roles_of(d) != pids:
        bad.append(("died", roles_of(d), pids))
    # a library that finds no memory may be at its end, and who uses it
    if plan.crash and ".so" not in plan.crash[2]:
        bad.append(("crashed", plan.crash))
    return True, [(n, where, x) for x in bad]


@contextlib.contextmanager
def everything(mode):
    scripts = {script_of(role) for role in ROLES}
    with daemon(mode, *scripts) as d:
        # what is made once for each
        for script in sorted(scripts, key=str):
            all_good(d, script, f"{script.__name__} before anything is wrong")
        yield d


def of_memory_alone(bad):
    return bad and all(x[0] == "left" and set(x[1]) == {"memory"}
                       for _, _, x in bad)


def nth(mode, script, role, kind, step):
    with daemon(mode, script) as d:
        eq(script(d).said, [], f"{role}: all is well in {script.__name__}")
        base = Baseline(d)
        n, wrong = 1, []
        pids = roles_of(d)
        while True:
            there, bad = strike(d, script, role, kind, n, base, pids)
            if of_memory_alone(bad):
                # what a library makes at its first error stays, and what it
                # has not looked at is there until it does; what is lost is
                # lost each time
                base = Baseline(d)
                there, bad = strike(d, script, role, kind, n, base, pids)
            wrong += bad
            if not there or bad:
                break
            n += step
        eq(wrong, [], f"{role}: each {kind} may fail in {script.__name__}, "
           f"{(n - 1) // step} were tried")
        return n > 1


def all_of(role):
    def run(mode):
        for script in OTHERS.get(role, (Script,)):
            for kind in KINDS:
                # what the parent writes is the log, which may lack a line;
                # of all others messages are part of what they write
                if kind != ("write" if role == "parent" else "message"):
                    nth(mode, script, role, kind, STEPS.get(script, 1))
    run.__name__ = f"calls_of_{role}_fail"
    return run


def calls_fail(mode):
    for (role, kind), step in SOME.items():
        if role in ROLES and mode == MODE_OF.get(role, MODES[0]):
            ok(nth(mode, script_of(role), role, kind, step),
               f"{role}: there is such a call")


def script_of(role):
    return OTHERS.get(role, (Script,))[0]


def all_good(d, script, what):
    s = script(d)
    eq(s.said, [], f"{what}: nobody notices")


def calls_are_interrupted(mode):
    """Half of those that may be."""
    with everything(mode) as d:
        base = Baseline(d)
        for role in ROLES:
            PLANS[role].order(FAIL, READ | WAIT, 1, 1 << 60, 2, errno.EINTR)
            all_good(d, script_of(role),
                     f"{role} is interrupted all the time")
            ok(PLANS[role].struck > 0, f"{role} was interrupted")
            PLANS[role].rest()
        eq((recovers(d), base.again()), (None, {}), "all is as before")


def calls_do_little(mode):
    with everything(mode) as d:
        base = Baseline(d)
        for role, calls in (("netproc", READ | WRITE), ("spawner", WRITE),
                            ("tlsproc", READ | WRITE),
                            # these read records, which come whole: of a
                            # traced program, of netlink, of signals
                            *[(role, READ) for role in OTHERS if role not in
                              ("tracer", "idproc", "parent")]):
            PLANS[role].order(SHORT, calls, 1, 1 << 60)
            all_good(d, script_of(role), f"{role} moves one byte at a time")
            ok(PLANS[role].struck > 0, f"{role} moved bytes")
            PLANS[role].rest()
        eq((recovers(d), base.again()), (None, {}), "all is as before")


def the_clock_jumps(mode):
    with everything(mode) as d:
        base = Baseline(d)
        for years in (10, -10, 0):
            for role in ROLES:
                PLANS[role].jump(years * 365 * 86400 * 1000)
            for script in sorted({script_of(r) for r in ROLES}, key=str):
                all_good(d, script, f"the time of day is {years} years off")
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


# who goes on trying for as long as there is none
RETRIES = {"announcer": 3}


def without_room(d, role, pid, most):
    """All that is wrong.  Who asks may have to wait for a descriptor, but not
    any more once there is one."""
    seen = len(d.log())
    old = limit_files(pid, most)
    asks = Asks(d, role)
    try:
        wait_for(lambda: not asks.is_alive() or
                 "accepting pauses" in d.log()[seen:],
                 RETRIES.get(role, LONG))
    finally:
        limit_files(pid, old)
    return asks.wrong()


class Asks(threading.Thread):
    """What a role is met by, meanwhile."""

    def __init__(self, d, role):
        super().__init__(daemon=True)
        self.d, self.role, self.said = d, role, "it hangs"
        self.start()

    def run(self):
        self.said = script_of(self.role)(self.d).bad({"not_found"})

    def wrong(self):
        self.join(LONG)
        return self.said


def lasting(d):
    """(role, pid) of those that stay."""
    return [("parent", d.proc.pid)] + [
        (role, pid) for role, pids in roles_of(d).items() for pid in pids
        if role in ROLES]


def no_descriptor_is_left(mode):
    """By the kernel itself: what comes with a message is dropped, too."""
    with everything(mode) as d:
        base = Baseline(d)
        for role, pid in lasting(d):
            n = sum(fds_of(pid).values())
            for more in (0, 1, 2, 3, 5):
                eq((without_room(d, role, pid, n + more), recovers(d),
                    base.again()), ([], None, {}),
                   f"{role}: with room for {more} descriptors it says "
                   "so, and all is well afterwards")


def each_is_stopped(mode):
    """Who asks meanwhile has to wait, but not for good."""
    with everything(mode) as d:
        base = Baseline(d)
        for role, pid in lasting(d):
            os.kill(pid, signal.SIGSTOP)
            asks = Asks(d, role)
            time.sleep(1)
            os.kill(pid, signal.SIGCONT)
            eq((asks.wrong(), recovers(d), base.again()), ([], None, {}),
               f"{role} has been stopped: all is well afterwards")


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


sampled = (links_come_back, each_is_stopped)
long_ones = (*[all_of(r) for r in ROLES], calls_are_interrupted,
             calls_do_little, the_clock_jumps, no_descriptor_is_left)
run_tests(*[alone(t) for t in
            (long_ones if ALL else (calls_fail,)) + sampled])
