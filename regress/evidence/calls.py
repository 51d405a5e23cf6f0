#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Which system calls processes of some names made while a command ran: one
line "PROCESS NUMBER" for each pair, by the kernel's own tracing, as a debugger's
kind of tracing would be in the way of the debuggers that are tested.  As root.

usage: calls.py NAME,NAME... COMMAND ..."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading

LINE = re.compile(r"\s*(.+)-\d+\s+\[\d+\].*: sys_enter: NR (-?\d+) ")
# of a busy second and a reader that has to wait; per processor
BUFFER_KB = 16384


def put(path, text):
    with open(path, "w") as f:
        f.write(text)


@contextlib.contextmanager
def tracefs():
    """A trace of our own, in which nobody else's settings are changed."""
    with tempfile.TemporaryDirectory(prefix="dl-tracefs-") as d:
        subprocess.run(["mount", "-t", "tracefs", "tracefs", d], check=True)
        mine = os.path.join(d, "instances", f"debuglantern-{os.getpid()}")
        try:
            os.mkdir(mine)
            yield mine
        finally:
            if os.path.isdir(mine):
                put(mine + "/tracing_on", "0")
                os.rmdir(mine)
            subprocess.run(["umount", "-l", d], check=False)


def reader(path, seen, over):
    """Until it is over and nothing is left; whoever still reads keeps the
    trace from being removed."""
    rest = b""
    fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    while True:
        try:
            data = os.read(fd, 1 << 20)
        except BlockingIOError:
            data = b""
        if not data:
            if over.is_set():
                break
            over.wait(0.05)
        *lines, rest = (rest + data).split(b"\n")
        for line in lines:
            m = LINE.match(line.decode(errors="replace"))
            if m:
                seen.add((m.group(1).strip(), int(m.group(2))))
    os.close(fd)


def lost(trace):
    total = 0
    for cpu in os.listdir(trace + "/per_cpu"):
        with open(f"{trace}/per_cpu/{cpu}/stats") as f:
            total += int(re.search(r"overrun: (\d+)", f.read()).group(1))
    return total


def main(argv):
    if len(argv) < 2:
        sys.exit(__doc__)
    # what compilers and the tests themselves do would be most of it
    wanted = " || ".join(f'comm == "{n}"' for n in argv[0].split(","))
    seen, over = set(), threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    with tracefs() as trace:
        put(trace + "/buffer_size_kb", str(BUFFER_KB))
        put(trace + "/options/event-fork", "1")
        put(trace + "/set_event_pid", str(os.getpid()))
        put(trace + "/events/raw_syscalls/sys_enter/filter", wanted)
        put(trace + "/events/raw_syscalls/sys_enter/enable", "1")
        t = threading.Thread(target=reader, daemon=True,
                             args=(trace + "/trace_pipe", seen, over))
        t.start()
        try:
            r = subprocess.run(argv[1:], stdout=sys.stderr)
        finally:
            put(trace + "/events/raw_syscalls/sys_enter/enable", "0")
            over.set()
            t.join()
        print(f"calls.py: {lost(trace)} events were lost", file=sys.stderr)
    for name, nr in sorted(seen):
        print(name, nr)
    return r.returncode


sys.exit(main(sys.argv[1:]))
