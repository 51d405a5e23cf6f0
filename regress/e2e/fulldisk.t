#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Disks that are full: each is named to whoever needs it, and nothing else
# notices.
import errno
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (AS_ROOT, Client, Daemon, MODES, Prober, alone, eq, helper, ok,
                read_helper, run_tests, tar_of, wait_for)

# mounting takes root; the daemon then is of either mode
BOTH = MODES if AS_ROOT else ()
FULL = "No space left on device"


def disk(name, options, then=":"):
    """What to start a daemon by, so that this place in its directory, or
    anywhere, is a small disk of its own."""
    return ["unshare", "-m", "sh", "-c",
            'for a; do [ "$p" = -f ] && cd "${a%/*}"; p=$a; done; '
            f'mkdir -p "$0" && mount -t tmpfs -o {options} none "$0" && '
            f'chown --reference=home "$0" && {then}; cd /; exec "$@"', name]


FILL = 'cat /dev/zero >"$0/filler" 2>/dev/null'
# a directory of others' would not be taken
MARK = 'mkdir "$0/{0}"; chown --reference="$0" "$0/{0}"; '
FILL_STATE = MARK.format("tls") + FILL
FILL_RUN = MARK.format("empty") + FILL


def sees(d, name):
    """A path as the daemon sees it."""
    return f"/proc/{d.proc.pid}/root" + os.path.join(d.dir, name)


def use_up_files(path):
    """Makes files until there is no room for another; their paths."""
    made = []
    while True:
        name = os.path.join(path, f"filler{len(made)}")
        try:
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644))
        except OSError as e:
            if e.errno != errno.ENOSPC:
                raise
            return made
        made.append(name)


def serves(d, what):
    """A whole life of a session, and a bundle."""
    c = d.client()
    sid, s = c.run(helper("hello"))
    eq(s.get("exit_code"), 0, f"{what}: a program runs")
    ok(c.output(sid), f"{what}: its output is there")
    eq(c.cmd("DELETE " + sid)["state"], "DELETED", f"{what}: it is deleted")
    r = c.upload(tar_of(("run", helper("hello"))), "run")
    c.cmd("START " + r["id"])
    eq(c.cmd(f"WAIT {r['id']} 20").get("exit_code"), 0,
       f"{what}: a bundle runs")
    eq(c.cmd("DELETE " + r["id"])["state"], "DELETED",
       f"{what}: it is deleted")


def stop(d, what):
    ok(d.stop() < 5 and d.proc.returncode == 0,
       f"{what}: the daemon is stopped as always", d.log()[-500:])


def refuses(mode, wrapper, *words):
    with Daemon(mode, wrapper=wrapper, wait=False) as d:
        d.proc.wait(20)
        lines = [x for x in d.log().splitlines() if FULL in x]
        ok(d.proc.returncode != 0 and len(lines) == 1 and
           all(w in lines[0] for w in words),
           f"the start is refused in one line with {' and '.join(words)}",
           d.log())


def no_room_at_the_start(mode):
    refuses(mode, disk("state", "nr_inodes=1"), "state/tls", "directory")
    refuses(mode, disk("run", "nr_inodes=1"), "run/empty", "directory")
    refuses(mode, disk("run", "nr_inodes=2"), "run/debuglantern.sock")


def state_dir(mode):
    """Only SYSROOT writes there."""
    with Daemon(mode, wrapper=disk("state", "size=64k,nr_inodes=10",
                                   FILL_STATE)) as d:
        serves(d, "state-dir is full")
        c = d.client()

        def free_files():
            return os.statvfs(sees(d, "state")).f_ffree

        free = free_files()
        with Prober(d) as others:
            r = c.cmd("SYSROOT")
            eq(r["error_code"], "sysroot_failed",
               "state-dir is full: SYSROOT is refused")
            ok("no space" in r["message"] and "state-dir" in r["message"],
               "and names the disk", r)
            # the file of the one before goes when its last holder does
            wait_for(lambda: not d.archivers() and free_files() == free)
            made = use_up_files(sees(d, "state"))
            r = c.cmd("SYSROOT")
            eq(r["error_code"], "tmpfile_create_failed",
               "no more files in state-dir: SYSROOT is refused")
            ok(FULL in r["message"] and "state-dir" in r["message"],
               "and names the disk", r)
            serves(d, "no more files in state-dir")
            others.check("nobody else waits")
        for name in made:
            os.unlink(name)
        eq(c.cmd("SYSROOT")["error_code"], "sysroot_failed",
           "with room for a file, it is the space again")
        ok(wait_for(lambda: not d.archivers()), "no archiver is left")
        stop(d, "state-dir is full")


def run_dir(mode):
    with Daemon(mode, wrapper=disk("run", "size=64k,nr_inodes=10",
                                   FILL_RUN)) as d:
        use_up_files(sees(d, "run"))
        serves(d, "run-dir is full")
        if mode == "system":
            # another user could not look into the daemon's mounts
            c = Client(sees(d, "run/debuglantern.sock"))
            eq(c.cmd("VERSION")["mode"], mode,
               "run-dir is full: the local socket serves")
            c.close()
        stop(d, "run-dir is full")


def shared_memory(mode):
    with Daemon(mode, "sandbox namespaces\n",
                wrapper=disk("/dev/shm", "size=64k,mode=1777",
                             FILL + "; chmod 1777 $0")) as d:
        serves(d, "/dev/shm is full")
        c = d.client()
        data = read_helper("hello") + bytes(8 << 20)
        sid, s = c.run(data)
        eq(s.get("exit_code"), 0, "a large image does not lie there")
        sid = c.upload("/bin/dash")["id"]
        c.cmd(f"ARGS {sid} -c 'cat /etc/passwd >/dev/shm/y'")
        c.cmd("START " + sid)
        c.cmd(f"WAIT {sid} 20")
        ok(FULL.encode() in c.output(sid), "a program that writes there is "
           "told", c.output(sid))
        stop(d, "/dev/shm is full")


def large_bundles(mode):
    conf = "bundle-max-bytes 1M\nbundle-max-members 30\n"
    with Daemon(mode, conf) as d:
        c = d.client()
        hello = ("run", helper("hello"))
        for what, members, words in (
                ("bytes", [hello, ("big", bytes(3 << 20))],
                 ("bytes", "bundle-max-bytes")),
                ("members", [hello] + [(f"f{i}", b"") for i in range(40)],
                 ("members", "bundle-max-members")),
                # directories that a path implies take room too
                ("directories", [hello] + [(f"{i}/" + "d/" * 120 + "f", b"")
                                           for i in range(25)],
                 ("members", "bundle-max-members"))):
            with Prober(d) as others:
                r = c.upload(tar_of(*members), "run")
                eq(r.get("error_code"), "extract_failed",
                   f"too many {what} are refused")
                ok(all(w in r.get("message", "") for w in words),
                   f"too many {what}: the answer says so", r)
                others.check(f"too many {what}: nobody else waits")
        eq(c.cmd("LIST"), [], "nothing is left of them")
        serves(d, "after bundles that did not fit")


# the state directory is below /tmp here, and what covers it is there, too
LOOK = "ls /tmp | grep -v ^dl-test-"


def a_sessions_tmp(mode):
    """What one session fills is its own."""
    with Daemon(mode, "sandbox tmpfs\n") as d:
        c = d.client()
        other, _ = c.start("/bin/dash", "-c 'read x; echo y >/tmp/y && "
                           f"cat /tmp/y; {LOOK}'")
        sid = c.upload("/bin/dash")["id"]
        c.cmd(f"ARGS {sid} -c '{LOOK}; cat /dev/zero >/tmp/x; "
              f"echo told $?; read x'")
        c.cmd("START " + sid)
        c.until(sid, b"told")
        ok(FULL.encode() in c.output(sid) and b"told 1" in c.output(sid),
           "a program that fills its /tmp is told", c.output(sid))
        c.send(f"INPUT {other} 1\n\n")
        c.json()
        c.cmd(f"WAIT {other} 20")
        eq(c.output(other), b"y\ny\n", "another has room, and sees nothing "
           "of it")
        serves(d, "a session's /tmp is full")
        c.cmd("KILL " + sid)
        c.cmd(f"ARGS {sid} -c '{LOOK}; echo z >/tmp/z && cat /tmp/z'")
        c.cmd("START " + sid)
        c.cmd(f"WAIT {sid} 20")
        eq(c.output(sid), b"z\n", "its next run begins with an empty one")
        stop(d, "a session's /tmp was full")


def log(mode):
    """A log that cannot be written is no reason to stop."""
    with Daemon(mode, wait=False,
                wrapper=disk("log.d", "size=64k", FILL +
                             '; exec 2>>"$0/log"')) as d:
        def answers():
            try:
                return d.client(timeout=5).cmd("LIST") == []
            except (OSError, EOFError):
                return False
        ok(wait_for(answers, 20), "where the log goes is full: it starts")
        serves(d, "where the log goes is full")
        stop(d, "where the log goes is full")


run_tests(*[alone(t, BOTH) for t in (
    no_room_at_the_start, state_dir, run_dir, shared_memory, log)],
    alone(large_bundles), alone(a_sessions_tmp))
