#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# SYSROOT: its header and bytes, what is in it, its bounds, and that nobody
# else notices.
import io
import os
import re
import socket
import stat
import subprocess
import sys
import tarfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (AS_ROOT, BIN, Client, Daemon, MODES, Prober, alive,
                alone, eq, helper, ok, run_tests, small_tree, stat_of,
                wait_for)


def fetch(c):
    c.send("SYSROOT\n")
    head = c.recv_line()
    m = re.fullmatch(rb"SYSROOT ([0-9]+)", head)
    if not m:
        raise RuntimeError(head)
    return int(m[1]), c.recv_bytes(int(m[1]))


def whole(mode):
    with small_tree() as wrapper, Daemon(mode, wrapper=wrapper) as d:
        c = d.client()
        with Prober(d) as others:
            c.send("SYSROOT\nVERSION\n")
            m = re.fullmatch(rb"SYSROOT ([1-9][0-9]*)", c.recv_line())
            ok(m, "SYSROOT <size> is the header")
            data = c.recv_bytes(int(m[1]))
            eq("version" in c.json(), True, "exactly so many bytes follow, "
               "then the next answer")
            others.check("SYSROOT: nobody else waits")
        eq(data[:2], b"\x1f\x8b", "SYSROOT: gzip")
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as t:
            members = t.getmembers()
            names = [x.name.lstrip("./") for x in members]
            content = {}
            for x in members:
                if x.isfile() or x.islnk():
                    content[x.name.lstrip("./")] = t.extractfile(x).read()
        ok(not [x for x in members if x.issym()],
           "SYSROOT: symbolic links are resolved",
           [x.name for x in members if x.issym()])
        ok(not [x for x in members if not (x.isfile() or x.isdir() or
                                           x.islnk())],
           "SYSROOT: files and directories only")
        ok(any(n.endswith("libc.so.6") for n in content),
           "SYSROOT: it has the C library", names[:20])
        eq([content.get(f"usr/lib/{n}") for n in
            ("plain.so", "plain.so.1", "plain.so.1.2")],
           [b"library " * 1000] * 3, "SYSROOT: linked libraries are whole")
        eq(content.get("usr/lib/debug/sub/x.debug"), b"debug " * 1000,
           "SYSROOT: /usr/lib/debug is in it")
        ok(any(n.startswith("lib/") or n == "lib" for n in names) and
           any(n.startswith("lib64") for n in names) or
           not os.path.exists("/lib64"),
           "SYSROOT: /lib and /lib64 are in it", names[:20])
        text = b"".join(content.values())
        ok(b"not for everybody" not in text and b"root:" not in
           content.get("usr/lib/outside.so", b""),
           "SYSROOT: nothing that its asker may not read")
        eq([n for n in content if n.endswith(("dangling.so", "fifo",
                                              "/loop"))], [],
           "SYSROOT: dangling links, loops and FIFOs are left out")
        ok(wait_for(lambda: not d.archivers()), "SYSROOT: no archiver is left")
        left = os.path.join(d.dir, "state", "tmp")
        if AS_ROOT and os.path.isdir(left):
            eq(os.listdir(left), [], "SYSROOT: no file is left")
        a = c.cmd("ACTIVITY")
        ok(any("SYSROOT" in x["message"] for x in a),
           "SYSROOT: it is in the activity", a)


def again_and_at_once(mode):
    with small_tree() as wrapper, Daemon(mode, wrapper=wrapper) as d:
        clients = [d.client() for _ in range(4)]
        for c in clients:
            c.send("SYSROOT\n")
        got = []
        for c in clients:
            head = c.recv_line()
            if head.startswith(b"SYSROOT "):
                got.append(c.recv_bytes(int(head.split()[1]))[:2])
            else:
                got.append(head)
        ok(got.count(b"\x1f\x8b") >= 1 and
           all(x == b"\x1f\x8b" or b'"ok":false' in x for x in got),
           "four at once: each is served whole, or refused", got)
        n, data = fetch(d.client())
        eq(len(data), n, "and once more")


def client_writes_it(mode):
    with small_tree() as wrapper, Daemon(mode, wrapper=wrapper) as d:
        home = os.path.join(d.dir, "home")
        path, fifo = home + "/sysroot.tar.gz", home + "/fifo"
        r = d.ctl("sysroot", "-o", path)
        eq((r.returncode, tarfile.is_tarfile(path)), (0, True),
           "debuglanternctl sysroot -o FILE")
        os.mkfifo(fifo)
        os.chmod(fifo, 0o666)
        got = []

        def read():
            with open(fifo, "rb") as f:
                got.append(f.read())
        t = threading.Thread(target=read, daemon=True)
        t.start()
        r = d.ctl("sysroot", "-o", fifo)
        t.join(20)
        eq((r.returncode, stat.S_ISFIFO(os.lstat(fifo).st_mode),
            [x[:2] for x in got]), (0, True, [b"\x1f\x8b"]),
           "what is no file is written to, not replaced")


def half_close(mode):
    with small_tree() as wrapper, Daemon(mode, wrapper=wrapper) as d:
        c = d.client()
        c.send("SYSROOT\n")
        c.s.shutdown(socket.SHUT_WR)
        n = int(c.recv_line().split()[1])
        eq(len(c.recv_bytes(n)), n, "who has shut their sending direction "
           "gets all of it")


def without_nameless_files(mode):
    """On a file system that cannot make a file without a name."""
    with small_tree() as wrapper, \
            Daemon(mode, wrapper=[*wrapper, helper("no_tmpfile")]) as d:
        n, data = fetch(d.client())
        eq((len(data), data[:2]), (n, b"\x1f\x8b"),
           "no O_TMPFILE: the archive comes all the same")
        eq(os.listdir(d.dir + "/state/tmp"), [], "and leaves no file")


def asker_that_does_not_read(mode):
    with small_tree() as wrapper, Daemon(mode, wrapper=wrapper) as d:
        c = d.client()
        c.send("SYSROOT\n")
        with Prober(d) as others:
            c.recv_line()
            sid, s = d.client().run(helper("hello"))
            eq(s["exit_code"], 0, "an asker that does not read stops nobody")
            others.check("an asker that does not read: nobody else waits")
        c.close()
        ok(wait_for(lambda: not d.archivers()), "and leaves no archiver")


def too_large(mode):
    with small_tree() as wrapper, \
            Daemon(mode, "sysroot-max-bytes 64K\n", wrapper=wrapper) as d:
        c = d.client()
        c.send("SYSROOT\n")
        r = c.json()
        eq((r.get("ok"), r.get("error_code")), (False, "sysroot_failed"),
           "more than sysroot-max-bytes: an error, not a cut archive")
        ok("sysroot-max-bytes" in r["message"] or "64" in r["message"] or
           "65536" in r["message"], "it names the limit", r)
        eq(c.cmd("LIST"), [], "the connection goes on")
        ok(wait_for(lambda: not d.archivers()), "no archiver is left")


def gigabytes(mode):
    """The host's own /usr/lib, as large as it is: work for a while."""
    with Daemon(mode) as d:
        c, e = d.client(), d.client()
        c.send("SYSROOT\n")
        with Prober(d) as others:
            ok(wait_for(lambda: d.archivers()), "an archiver is at work")

            def lines():
                return [x for x in e.cmd("ACTIVITY")
                        if re.search("sysroot|SYSROOT", x["message"])]
            got = wait_for(lambda: len(lines()) >= 2 and lines() or
                           not d.archivers(), 20)
            ok(len(lines()) >= 2, "a line of progress per second in ACTIVITY",
               got)
            sid, s = e.run(helper("hello"))
            eq(s["exit_code"], 0, "others upload and start meanwhile")
            others.check("a large SYSROOT: nobody else waits")
        c.reset()
        ok(wait_for(lambda: not d.archivers()),
           "an asker that leaves ends the archiver")
        ok(not [p for p in d.processes() if (stat_of(p) or "  ")[1] == "Z"],
           "and leaves no zombie")
        env = dict(d.env, DEBUGLANTERN_TARGET=f"127.0.0.1:{d.port}")
        kw = dict(user=d.uid, group=d.uid, extra_groups=[]) \
            if AS_ROOT and d.uid is not None else {}
        ctl = subprocess.Popen(
            [os.path.join(BIN, "debuglanternctl"), "sysroot", "-o",
             "/dev/null"], env=env, **kw)
        ok(wait_for(d.archivers), "debuglanternctl asks for one")
        ctl.kill()
        ctl.wait()
        ok(wait_for(lambda: not d.archivers()),
           "its death ends the archiver too")
        local = Client(os.path.join(d.dir, "run", "debuglantern.sock"),
                       uid=d.uid)
        local.send("SYSROOT\n")
        ok(wait_for(d.archivers), "another by the local socket")
        local.close()
        ok(wait_for(lambda: not d.archivers()),
           "which is closed: the archiver ends")
        c = d.client()
        c.send("SYSROOT\n")
        packing = wait_for(d.archivers)
        ok(packing, "another is packed", d.log()[-400:])
        ok(d.stop() < 5, "SIGTERM ends it while it packs")
        eq([p for p in packing if alive(p)], [], "and no archiver is left")


BOTH = MODES if AS_ROOT else ()
run_tests(alone(whole, BOTH), alone(again_and_at_once, BOTH),
          alone(client_writes_it, BOTH), alone(half_close, BOTH),
          alone(without_nameless_files, BOTH),
          alone(asker_that_does_not_read, BOTH), alone(too_large, BOTH),
          alone(gigabytes))
