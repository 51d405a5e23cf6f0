#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Runs a unit test under valgrind's memcheck and adds two tests to its TAP: that
it and the processes that it forked read, write and lose no memory that they must
not, and that it leaves no descriptor open that it was not started with.

What a forked process has open at its end was its parent's or goes with it, so only
that of the test itself is looked at.  What skips.txt names is left out.

usage: memcheck.py BUILD/regress/test_NAME
       memcheck.py TEST.t	(runs it as it is)"""
import contextlib
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
# no test and no role ends with it
FOUND = 97
# -q: what is said is a finding, or a descriptor
VALGRIND = ["valgrind", "-q", "--tool=memcheck", "--track-fds=yes",
            "--leak-check=full", "--show-leak-kinds=definite",
            "--errors-for-leak-kinds=definite", f"--error-exitcode={FOUND}",
            "--num-callers=24", "--fair-sched=try"]
STAMP = re.compile(r"^(?:==|--)\d+(?:==|--) ?", re.M)
OPEN = re.compile(r"Open (?:file descriptor|(?:\S+ )?socket) (\d+):")


def skips(unit):
    """Of this file: tests that are left out, with the reasons."""
    with open(HERE + "/skips.txt") as f:
        rows = [x.rstrip("\n").split("\t") for x in f if x[0] != "#"]
    return {test: why for file, test, why in rows if file == unit}


def blocks(text):
    """What valgrind says comes in blocks, each with an empty line at its end or
    the next one's first line."""
    text = re.sub(r"^(?=FILE DESCRIPTORS:|Open )", "\n", STAMP.sub("", text),
                  flags=re.M)
    return [x.strip() for x in re.split(r"\n\s*\n", text) if x.strip()]


def look(text):
    """What is wrong with memory, and what was left open."""
    errors, opened = [], []
    for block in blocks(text):
        m = OPEN.match(block)
        if m is not None:
            if int(m[1]) > 2 and "<inherited from parent>" not in block:
                opened.append(block)
        # it is to the program what an older kernel says
        elif not block.startswith(("FILE DESCRIPTORS:",
                                   "WARNING: unhandled amd64-linux syscall")):
            errors.append(block)
    return errors, opened


def verdict(number, good, name, findings):
    print(f"{'ok' if good else 'not ok'} {number} - {name}")
    for x in findings:
        print("# " + x.replace("\n", "\n# "))


def opens_pidfds(path):
    """For a test that cannot: it sends a number, and gets an fd or an error's."""
    door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    door.bind(path)
    door.listen(64)

    def serve():
        while True:
            asks, _ = door.accept()
            with asks:
                try:
                    fd = os.pidfd_open(struct.unpack("i", asks.recv(4))[0])
                except OSError as e:
                    asks.send(struct.pack("i", e.errno))
                    continue
                socket.send_fds(asks, [struct.pack("i", 0)], [fd])
                os.close(fd)

    threading.Thread(target=serve, daemon=True).start()


def pass_on(tap, left_out):
    """Prints TAP with room for two more tests; says how many it has.  To cmocka
    what is skipped is not ok, in the way in which others say what is to do."""
    planned = 0
    with open(tap, errors="replace") as f:
        for line in f:
            m = re.match(r"1\.\.(\d+)$", line)
            if m:
                planned = int(m[1])
                line = f"1..{planned + 2}\n"
            m = re.match(r"not ok (\d+) # SKIP (\w+)", line)
            if m and m[2] in left_out:
                line = f"ok {m[1]} - {m[2]} # SKIP {left_out[m[2]]}\n"
            sys.stdout.write(line)
    if planned == 0:
        print("1..2")
    return planned


def run(test, left_out, logs):
    """Its TAP is in a file: a process that it left behind would hold a pipe open.
    There are none of these afterwards."""
    env = dict(os.environ, DL_MEMCHECK="1", MEMCHECK_SKIP=" ".join(left_out),
               MEMCHECK_SOCKET=logs + "/socket",
               LD_PRELOAD=os.path.dirname(test) + "/memcheck.so")
    opens_pidfds(logs + "/socket")
    with open(logs + "/tap", "w") as tap:
        p = subprocess.Popen(VALGRIND + [f"--log-file={logs}/%p", test],
                             env=env, stdin=subprocess.DEVNULL, stdout=tap,
                             stderr=subprocess.STDOUT, start_new_session=True)
    try:
        return p.wait(), p.pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(p.pid, signal.SIGKILL)


def judge(logs, pid):
    """Of all processes what is wrong with memory, of one what was left open."""
    errors, opened = [], []
    for name in sorted(os.listdir(logs)):
        if not name.isdigit():
            continue
        with open(f"{logs}/{name}", errors="replace") as f:
            e, o = look(f.read())
        errors += e
        opened += o if name == str(pid) else []
    if not os.path.exists(f"{logs}/{pid}"):
        errors.append("valgrind has not started it")
    return errors, opened


def main():
    test = os.path.abspath(sys.argv[1])
    if test.endswith(".t"):
        os.execv(test, [test])
    left_out = skips(os.path.basename(test))
    if "*" in left_out:
        print(f"1..0 # skipped: {left_out['*']}")
        return 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tempfile.TemporaryDirectory(prefix="dl-memcheck-") as logs:
        try:
            code, pid = run(test, left_out, logs)
        finally:
            planned = pass_on(logs + "/tap", left_out)
        errors, opened = judge(logs, pid)
    clean = not errors and code != FOUND
    verdict(planned + 1, clean, "memcheck finds nothing", errors)
    verdict(planned + 2, not opened, "no descriptor is left open", opened)
    return code if clean and not opened else 1


if __name__ == "__main__":
    sys.exit(main())
