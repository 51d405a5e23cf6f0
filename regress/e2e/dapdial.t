#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What stands between a debugger and an adapter that dials.
import os
import socket
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import LIBEXEC, eq, ok, run_tests

LONG = 60


def dial(script):
    """It with a shell for an adapter, and the port that this is to dial."""
    p = subprocess.Popen(
        ["sh", "-c", 'exec "$@" 3</dev/null 4>&2 5>&2', "sh",
         os.path.join(LIBEXEC, "dapdial"), "sh", "-c",
         'echo "$0"; ' + script],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return p, int(p.stderr.readline().split(b":")[1])


def end_of(p):
    try:
        return p.wait(LONG)
    except subprocess.TimeoutExpired:
        p.kill()
        return "it waits for ever"
    finally:
        p.communicate()


def never_dials():
    for _ in range(60):
        p, _ = dial("exit 3")
        eq(end_of(p), 3, "it ends with an adapter that does not dial")


def ends_among_strangers():
    """The adapter's end is not missed while strangers are looked at."""
    for _ in range(4):
        p, port = dial("sleep 0.3; exit 4")
        until, n = time.monotonic() + 1, 0
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", port), 5).close()
                n += 1
            except OSError:
                break
        ok(n > 0, "strangers have dialled", n)
        eq(end_of(p), 4, "it ends with its adapter")


# binds its end, says by which port, and dials when a file is there
LATE_ADAPTER = """
import os, socket, sys, time
host, port = sys.argv[1].rsplit(":", 1)
s = socket.socket()
s.bind(("127.0.0.1", 0))
print(s.getsockname()[1], file=sys.stderr, flush=True)
while not os.path.exists(sys.argv[2]):
    time.sleep(0.01)
s.connect((host, int(port)))
s.sendall(b"from the adapter")
# whose socket it is cannot be told of a process that has ended
s.recv(1)
sys.exit(5)
"""


def strangers_of_its_port():
    """They dial from other addresses of this host by the adapter's port."""
    with tempfile.TemporaryDirectory() as tmp:
        script, go = os.path.join(tmp, "adapter"), os.path.join(tmp, "go")
        with open(script, "w") as f:
            f.write(LATE_ADAPTER)
        p, port = dial(f'exec python3 {script} "$0" {go}')
        own, strangers = int(p.stderr.readline()), []
        for i in range(2, 40):
            s = socket.create_connection(("127.0.0.1", port), LONG,
                                         source_address=(f"127.0.0.{i}", own))
            eq(s.recv(1), b"", "a stranger is closed")
            strangers.append(s)
        with open(go, "w"):
            pass
        eq(p.stdout.read(16), b"from the adapter", "the adapter is taken")
        p.stdin.write(b"x")
        p.stdin.flush()
        eq(end_of(p), 5, "and ends as it ends")
        for s in strangers:
            s.close()


run_tests(never_dials, ends_among_strangers, strangers_of_its_port)
