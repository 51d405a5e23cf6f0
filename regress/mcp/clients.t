#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""debuglantern-mcp and /mcp, as the protocol's official clients use them."""
import json
import os
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e", "lib"))
from dl import (AS_ROOT, Daemon, alone, copy_source, ok,  # noqa: E402
                run_tests, token_of)
from mcp import MCP  # noqa: E402
from tracerig import SOURCES, WORK  # noqa: E402

BUILD = os.path.abspath(os.environ.get("DL_BUILD", "build"))
SECONDS = 600


def program():
    out = os.path.join(WORK, "talk")
    copy_source(os.path.join(SOURCES, "talk.c"), WORK)
    subprocess.run(["gcc", "-g", "-O2", "-o", out, "talk.c"], cwd=WORK,
                   check=True)
    return out


TALK = program()


def binary(d):
    """debuglantern-mcp, as the daemon's user: node has to be who can read
    this tree."""
    if d.uid is None or not AS_ROOT:
        return MCP
    path = os.path.join(WORK, "mcp")
    with open(path, "w") as f:
        f.write(f"#!/bin/sh\nexec setpriv --reuid {d.uid} --regid {d.uid} "
                f"--clear-groups {MCP} \"$@\"\n")
    os.chmod(path, 0o755)
    return path


def drive(mode):
    with Daemon(mode, web=True) as d:
        env = dict(d.env, MCP_BIN=binary(d), MCP_PROGRAM=TALK,
                   MCP_TOKEN=token_of(d),
                   MCP_SOCKET=d.dir + "/run/debuglantern.sock",
                   MCP_URL=f"http://127.0.0.1:{d.web}/mcp",
                   MCP_MODULES=BUILD + "/mcp-test/node_modules")
        done = False
        with subprocess.Popen(["node", HERE + "/clients.mjs"], env=env,
                              stdout=subprocess.PIPE, text=True,
                              cwd=WORK) as p:
            # it has limits of its own, which are shorter
            t = threading.Timer(SECONDS, p.kill)
            t.start()
            for line in p.stdout:
                r = json.loads(line)
                done |= "done" in r
                if "name" in r:
                    ok(r["ok"], r["name"], r.get("detail"))
            t.cancel()
        ok(done and p.returncode == 0, "all clients ran to their end",
           p.returncode)
        d.tidy()


# an agent's daemon is its user's
drive.chooses = True
run_tests(alone(drive, modes=("user",)))
