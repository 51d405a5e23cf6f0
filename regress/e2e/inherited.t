#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Inherited from the starter: closed descriptors, ignored signals,
# file modes, an address family that the host does not have.
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (ALICE, AS_ROOT, BIN, LIBEXEC, Daemon, alive, alone, eq,
                helper, in_modes, listener_of, ok, run_tests, wait_for)

CTL = os.path.join(BIN, "debuglanternctl")
DEBUGGER = os.path.join(BIN, "debugger")
BUILD = os.environ.get("DL_BUILD", "build")


def closing(*fds):
    """For preexec_fn: these are not open."""
    def close():
        for fd in fds:
            os.close(fd)
    return close


def client(d, argv, *fds):
    kw = {}
    if d.uid is not None:
        kw = {"user": d.uid, "group": d.uid, "extra_groups": []}
    return subprocess.run(
        [CTL, *argv], env=dict(d.env, DEBUGLANTERN_TARGET="127.0.0.1:%d" %
                               d.port),
        stdin=subprocess.DEVNULL, capture_output=True, timeout=30,
        preexec_fn=closing(*fds), **kw)


def clients_without_descriptors(d):
    for fds, names in (((0,), "input"), ((0, 2), "input and error")):
        r = client(d, ["list"], *fds)
        eq((r.returncode, r.stdout), (0, b"[]\n"), f"list without {names}")
        r = client(d, ["run", helper("hello")], *fds)
        ok(r.returncode == 0 and r.stdout, f"run without {names}", r)
    for fds, names in (((1,), "output"), ((0, 1), "input and output")):
        r = client(d, ["list"], *fds)
        ok(r.returncode == 2 and b"cannot write to standard output" in
           r.stderr, f"list without {names}: an error says so", r)
        r = client(d, ["run", helper("hello")], *fds)
        ok(b"cannot write the output" in r.stderr,
           f"run without {names} ends, and an error says why", r)
    r = client(d, ["list"], 0, 1, 2)
    eq(r.returncode, 2, "list without any of them fails")


def ignoring_sigchld():
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


@contextlib.contextmanager
def own_daemon():
    """Runs debugger as a user who has a home, and a daemon from then on."""
    with tempfile.TemporaryDirectory(prefix="dl-inherited-") as home:
        kw = {}
        if AS_ROOT:
            os.chown(home, ALICE, ALICE)
            kw = {"user": ALICE, "group": ALICE, "extra_groups": []}

        def run(*argv, **more):
            return subprocess.run(
                [DEBUGGER, *argv], capture_output=True, timeout=60, cwd=home,
                env=dict(os.environ, HOME=home, XDG_RUNTIME_DIR=home), **kw,
                **more)
        try:
            yield home, run
        finally:
            pid = listener_of(home + "/debuglantern/debuglantern.sock")
            if ok(pid is not None, "there is a daemon then"):
                os.kill(pid, signal.SIGTERM)
                ok(wait_for(lambda: not alive(pid)), "the daemon ends")


def starter_ignores_sigchld():
    """waitpid(2) fails then, if the client leaves it so."""
    with own_daemon() as (_, run):
        r = run("start", "--json", helper("hello"),
                preexec_fn=ignoring_sigchld)
        ok(r.returncode == 0 and b'"reason":"entry"' in r.stdout,
           "debugger starts a daemon, and a program there", r)


def source_that_the_user_cannot_read():
    """As of a clone made under umask 077."""
    with own_daemon() as (home, run):
        source = os.path.join(home, "x.c")
        with open(source, "w") as f:
            f.write("int\nmain(void)\n{\n\treturn 0;\n}\n")
        subprocess.run(["gcc", "-g", "-o", home + "/x", source], check=True)
        os.chmod(source, 0)
        run("start", home + "/x")
        r = run("source", "x.c:3")
        ok(r.returncode != 0 and b"cannot read " in r.stderr and
           b"x.c: Permission denied" in r.stderr, "an error says why", r)


def every_user_can_run_the_build():
    """System mode has a user for each role; the umask of make may be 077."""
    for top in ("bin", "libexec/debuglantern"):
        for name in os.listdir(os.path.join(BUILD, top)):
            mode = os.stat(os.path.join(BUILD, top, name)).st_mode
            eq(mode & 0o5, 0o5, f"{name} can be run by every user")


def role_that_users_cannot_run(mode):
    with tempfile.TemporaryDirectory(prefix="dl-inherited-") as top:
        os.chmod(top, 0o755)
        shutil.copytree(BIN, top + "/bin")
        shutil.copytree(LIBEXEC, top + "/libexec/debuglantern")
        role = top + "/libexec/debuglantern/spawner"
        os.chmod(role, 0o700)
        d = Daemon(mode, wait=False, wrapper=[
            "sh", "-c", 'shift; exec "$0" "$@"', top + "/bin/debuglanternd"])
        try:
            d.proc.wait(20)
            ok(d.proc.returncode == 1 and
               f"cannot execute {role}: Permission denied (" in d.log() and
               "chmod a+rx" in d.log(), "the start ends, and an error names "
               "the file and the remedy", d.log())
        finally:
            d.cleanup()


WITHOUT_IPV6 = ("ip link set lo up; for i in all default lo; do "
                "echo 1 >/proc/sys/net/ipv6/conf/$i/disable_ipv6; done; "
                'exec "$0" "$@"')


def host_without_ipv6(mode):
    """The default listeners are 127.0.0.1 and ::1."""
    with Daemon(mode, wrapper=["unshare", "-n", "sh", "-c",
                               WITHOUT_IPV6]) as d:
        ok("listening on 127.0.0.1" in d.log() and "::1" not in d.log(),
           "it listens on what there is", d.log())
        r = subprocess.run(
            ["nsenter", "-t", str(d.proc.pid), "-n", "setpriv", "--reuid",
             str(d.uid or 0), "--regid", str(d.uid or 0), "--clear-groups",
             CTL, "-t", f"127.0.0.1:{d.port}", "list"], env=d.env,
            capture_output=True)
        ok(r.returncode == 0 and r.stdout == b"[]\n", "and serves there", r)


run_tests(in_modes(clients_without_descriptors), starter_ignores_sigchld,
          source_that_the_user_cannot_read, every_user_can_run_the_build,
          *([alone(role_that_users_cannot_run, modes=("system",)),
             alone(host_without_ipv6)] if AS_ROOT else []))
