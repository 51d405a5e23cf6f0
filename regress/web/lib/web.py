# SPDX-License-Identifier: ISC
"""Tests of the page: a private daemon, and a browser that a script drives."""
import contextlib
import json
import os
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "e2e", "lib"))
from dl import (ALICE, AS_ROOT, BIN, HELPERS, Daemon, ok,  # noqa: E402
                passwd_wrapper, run_tests, tap)

BUILD = os.environ.get("DL_BUILD", "build")
# a browser that says nothing for so long will say nothing any more: its own
# limits are shorter
SECONDS = 900


def login_key(d, admin):
    """admin: root's, who is an administrator at the local socket alone."""
    if admin:
        said = subprocess.run(
            [os.path.join(BIN, "debuglanternctl"), "web"],
            env=dict(d.env, DEBUGLANTERN_TARGET="unix:" + d.dir +
                     "/run/debuglantern.sock"),
            capture_output=True, text=True, check=True).stdout
        return said.strip().split("#")[1]
    r = d.client().cmd("LOGIN link")
    if "key" not in r:
        raise RuntimeError(f"LOGIN link: {r}")
    return r["key"]


def lines_of(p):
    """What it prints; it is ended when it has been silent for too long."""
    while True:
        t = threading.Timer(SECONDS, p.kill)
        t.start()
        line = p.stdout.readline()
        t.cancel()
        if not line:
            return
        yield line


def drive(d, script, admin=False):
    """Runs a script's tests; each line that it prints is a result."""
    env = dict(os.environ, WEB_URL=f"http://127.0.0.1:{d.web}",
               WEB_KEY=login_key(d, admin), WEB_MODULES=os.path.join(
                   os.path.abspath(BUILD), "web-test", "node_modules"),
               WEB_CTL=os.path.join(BIN, "debuglanternctl"),
               WEB_HELPERS=HELPERS,
               # somebody else, if there is one: a daemon of one user
               # knows of none
               WEB_OTHER=f"u{ALICE}" if AS_ROOT else "",
               DEBUGLANTERN_TARGET=f"127.0.0.1:{d.port}")
    kw = {}
    if d.uid is not None and AS_ROOT:
        # the browser is of another user than the daemon: it has a login
        env["HOME"] = os.environ.get("HOME", "/")
    with subprocess.Popen(["node", os.path.join(HERE, "browse.mjs"), script],
                          env=env, stdout=subprocess.PIPE, text=True,
                          **kw) as p:
        done, last = False, "its start"
        try:
            for line in lines_of(p):
                if not line.startswith("{"):
                    print("#  " + line.rstrip(), flush=True)
                    continue
                r = json.loads(line)
                done |= "done" in r
                if "name" in r:
                    last = r["name"]
                    ok(r["ok"], r["name"], r.get("detail"))
        finally:
            if p.poll() is None and not done:
                p.terminate()
    ok(done and p.returncode == 0, f"{script} ran to its end",
       f"exit {p.returncode}, the last was: {last}")


def browse(script, others=False, admin=False, **kw):
    """A test for run_tests: a daemon, and the script in a browser.

    others: the host has another user, in a copy of /etc.
    admin: the browser is an administrator's."""
    def run():
        mode = "system" if AS_ROOT else "user"
        accounts = passwd_wrapper(ALICE) if others and AS_ROOT else \
            contextlib.nullcontext([])
        with accounts as wrapper, Daemon(mode, web=True, wrapper=wrapper,
                                         **kw) as d:
            drive(d, script, admin and AS_ROOT)
    run.__name__ = script.removesuffix(".mjs")
    run.chooses = True
    return run


__all__ = ["browse", "drive", "Daemon", "ok", "run_tests", "tap"]
