#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Tokens: the file that they are kept in, who may make, see and revoke them,
# and who gets in by one.
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import AS_ROOT, BOB, Daemon, alone, eq, ok, run_tests, service_uid


# --- the file ------------------------------------------------------------

def owner_of_file(d):
    return 0 if d.mode == "system" else d.uid or os.getuid()


def the_file(mode):
    with Daemon(mode) as d:
        st = os.stat(d.dir + "/state/tokens")
        eq((oct(st.st_mode), st.st_uid, st.st_size, st.st_nlink),
           ("0o100600", owner_of_file(d), 0, 1),
           "the tokens' file is made, and nobody else's")


def refuses(d, words, name):
    """The daemon does not start; the last line says why and what to do."""
    seen = len(d.log())
    d.start(wait=False)
    d.proc.wait(20)
    said = d.log()[seen:].strip().splitlines()
    ok(d.proc.returncode == 1 and len(said) == 1 and
       d.dir + "/state/tokens" in said[-1] and
       all(w in said[-1] for w in words), name,
       (d.proc.returncode, said))


def wrong_files(mode):
    with Daemon(mode) as d:
        d.stop()
        path = d.dir + "/state/tokens"
        other = d.dir + "/state/other"

        def owned(fn, *args):
            fn(*args)
            if AS_ROOT:
                os.chown(path, owner_of_file(d), -1, follow_symlinks=False)

        for m in (0o644, 0o660, 0o602, 0o4600):
            os.chmod(path, m)
            refuses(d, [f"mode {m:04o}", "remove it", f"chmod 600 {path}"],
                    f"mode {m:04o}: no start, and the remedy")
        os.chmod(path, 0o600)
        os.link(path, other)
        refuses(d, ["2 names", "remove it"], "another name: no start")
        os.unlink(other)
        os.rename(path, other)
        owned(os.symlink, other, path)
        refuses(d, ["symbolic link", "remove it"], "a symlink: no start")
        os.unlink(path)
        owned(os.mkdir, path)
        refuses(d, ["directory", "remove it"], "a directory: no start")
        os.rmdir(path)
        owned(os.mkfifo, path)
        refuses(d, ["not a regular file", "remove it"], "a FIFO: no start")
        os.unlink(path)
        os.rename(other, path)
        if AS_ROOT:
            os.chown(path, BOB, -1)
            refuses(d, [f"belongs to uid {BOB}", "remove it"] if mode ==
                    "system" else ["cannot open", "be removed", "Permission denied"],
                    "a foreign owner: no start")
            os.chown(path, owner_of_file(d), -1)
        d.start()
        ok(True, "with the file as it was the daemon starts")
        d.stop()
        if mode == "system":
            os.chown(path, service_uid("_dlspawn"), -1)
            d.start()
            ok(True, "and with one of _dlspawn's")
            d.stop()


def one_daemon_a_file(mode):
    with Daemon(mode) as d, Daemon(mode) as e:
        e.stop()
        with open(e.conf_path) as f:
            text = f.read()
        e.write_conf(text.replace(e.dir + "/state", d.dir + "/state"))
        seen = len(e.log())
        e.start(wait=False)
        e.proc.wait(20)
        said = e.log()[seen:].strip().splitlines()
        ok(e.proc.returncode == 1 and len(said) == 1 and
           "in use by another daemon" in said[0] and
           "--state-dir" in said[0],
           "a second daemon does not start with the file of another", said)
        d.proc.kill()
        d.proc.wait()
        e.start()
        ok(True, "it does when that was killed a moment ago")


run_tests(*[alone(t) for t in (the_file, wrong_files, one_daemon_a_file)])
