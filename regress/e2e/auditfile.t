#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# The audit file: who may have made it, what stands in it, and that neither
# a full disk nor a reload loses the daemon.
import os
import re
import signal
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (ALICE, AS_ROOT, Daemon, alone, eq, helper, ok, run_tests,
                service_uid, wait_for)

LINE = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ [ -~]+$")


class Place:
    """A directory for the audit file, its daemon's from the start."""
    def __init__(self, mode, before=None, wait=True, mount=None, way=""):
        self.mode = mode
        self.before = before
        conf = 'audit-file "$DIR' + way + '/audit"\n'

        class Prepared(Daemon):
            def write_conf(self, text):
                super().write_conf(text.replace("$DIR", self.dir))

            def start(self, *args):
                self.path = self.dir + "/audit"
                if before is not None:
                    before(self)
                if mount is not None:
                    self.wrapper = mount(self)
                super().start(*args)

        self.daemon = Prepared(mode, conf, wait=wait)

    def __enter__(self):
        return self.daemon

    def __exit__(self, *_):
        self.daemon.cleanup()


def owner(d):
    return d.uid if d.uid is not None else os.geteuid()


def lines(path):
    with open(path) as f:
        return f.read().splitlines()


def events_are_lines(mode):
    with Place(mode) as d:
        st = os.stat(d.path)
        eq((st.st_mode & 0o7777, st.st_uid, st.st_nlink),
           (0o640 if mode == "system" else 0o600, owner(d), 1),
           "it is made with the owner's mode")
        if mode == "system":
            eq(st.st_gid, service_uid("_dlparent"), "and for the parent")
        c = d.client()
        sid, _ = c.run(helper("hello"))
        c.cmd(f"NAME {sid} caf\xe9\u202e")
        c.cmd("DELETE " + sid)
        ok(wait_for(lambda: any("DELETE" in s for s in lines(d.path))),
           "what was done stands in it", lines(d.path))
        all_lines = lines(d.path)
        ok(any("START" in s and sid in s for s in all_lines),
           "with the session", all_lines)
        eq([s for s in all_lines if not LINE.match(s)], [],
           "a line each: the time, and no control characters")
        text = all_lines[-1].split(" ", 1)[1]
        ok(text in d.log(), "the log has them too", text)
        d.proc.send_signal(signal.SIGTERM)
        d.proc.wait(20)
        d.start()
        d.client().upload(helper("hello"))
        ok(wait_for(lambda: len(lines(d.path)) > len(all_lines)) and
           lines(d.path)[:len(all_lines)] == all_lines,
           "a restart adds to it")


def refused(mode, before, text, what, way=""):
    with Place(mode, before, wait=False, way=way) as d:
        d.proc.wait(20)
        eq(d.proc.returncode, 1, f"{what}: the start is refused")
        # its words may come through a pipe after it has ended
        ok(wait_for(lambda: text in d.log() and "audit-file" in d.log()),
           f"{what}: the log says why", d.log())


def make(d, mode=0o600, uid=None, name="/audit"):
    path = d.dir + name
    with open(path, "w") as f:
        f.write("old\n")
    os.chmod(path, mode)
    if os.geteuid() == 0:
        os.chown(path, owner(d) if uid is None else uid, -1)
    return path


def wrong_files(mode):
    def link(d):
        make(d, name="/other")
        os.symlink(d.dir + "/other", d.path)

    def hard_link(d):
        os.link(make(d), d.dir + "/other")

    def directory(d):
        os.mkdir(d.path)

    def fifo(d):
        os.mkfifo(d.path, 0o600)
        if os.geteuid() == 0:
            os.chown(d.path, owner(d), -1)

    def linked_directory(d):
        os.mkdir(d.dir + "/real")
        os.symlink("real", d.dir + "/x")
        if os.geteuid() == 0:
            os.chown(d.dir + "/real", owner(d), -1)

    def open_directory(d):
        os.chmod(d.dir, 0o777)

    def foreign_group(d):
        os.chown(make(d, 0o640), -1, 1)

    refused(mode, link, "symbolic link", "a symbolic link")
    refused(mode, hard_link, "2 names", "a hard link")
    refused(mode, directory, "", "a directory")
    refused(mode, fifo, "", "a fifo")
    refused(mode, lambda d: make(d, 0o666), "mode 0666", "a file for all")
    refused(mode, lambda d: make(d, 0o660), "mode 0660", "a group's file")
    refused(mode, open_directory, "may change the directory",
            "a directory for all")
    refused(mode, lambda d: None, "No such file", "no directory", "/x")
    refused(mode, linked_directory, "name the directory itself",
            "a directory by way of a link", "/x")
    if mode == "system":
        refused(mode, lambda d: make(d, uid=ALICE), f"uid {ALICE}",
                "a user's file")
        refused(mode, lambda d: os.chown(d.dir, ALICE, -1),
                "may change the directory", "a user's directory")
        refused(mode, foreign_group, "group 1 may read", "another group's")
    with Place(mode, make) as d:
        d.client().upload(helper("hello"))
        ok(wait_for(lambda: len(lines(d.path)) > 1) and
           lines(d.path)[0] == "old", "a file that is right is added to")


def reloads(mode):
    with Place(mode) as d:
        c = d.client()
        with open(d.conf_path) as f:
            base = f.read()

        def reload(text, want):
            seen = len(d.log())
            d.write_conf(text)
            d.proc.send_signal(signal.SIGHUP)
            return wait_for(lambda: want in d.log()[seen:])

        def event():
            """An upload, and the files that have heard of it."""
            sid = c.upload(helper("hello"))["id"]
            c.cmd("DELETE " + sid)
            wait_for(lambda: re.search(f"DELETE.*{sid}|{sid}.*DELETE",
                                       d.log()))
            return {n for n in ("audit", "moved", "second") if
                    os.path.exists(f"{d.dir}/{n}") and
                    sid in open(f"{d.dir}/{n}").read()}

        eq(event(), {"audit"}, "at the start it is the one")
        ok(reload(base, "was reloaded"), "a reload keeps it")
        eq(event(), {"audit"}, "and goes on with it")
        os.rename(d.path, d.dir + "/moved")
        ok(reload(base, "was reloaded"), "a reload after it was moved")
        if mode == "system":
            ok("a restart begins a new one" in d.log(),
               "without root the old one stays, and the log says so")
            eq(event(), {"moved"}, "nothing is lost")
        else:
            eq(event(), {"audit"}, "begins a new one")
        second = base.replace("/audit", "/second")
        if mode == "system":
            ok(reload(second, "was not reloaded"), "another one: refused")
            eq(event(), {"moved"}, "the old one stays")
        else:
            ok(reload(second, "was reloaded"), "another one: taken")
            eq(event(), {"second"}, "and used")
        ok(reload(re.sub("audit-file.*", "", base), "was reloaded"),
           "none: taken")
        eq(event(), set(), "nothing is written any more")


def out_of_sight(mode):
    """A directory that the parent may not search any more."""
    def private(d):
        os.mkdir(d.dir + "/x", 0o700)
        if os.geteuid() == 0:
            os.chown(d.dir + "/x", owner(d), -1)
    with Place(mode, private, way="/x") as d:
        seen = len(d.log())
        d.proc.send_signal(signal.SIGHUP)
        ok(wait_for(lambda: "was reloaded" in d.log()[seen:]) and
           "audit-file" not in d.log()[seen:],
           "a reload that changes nothing says nothing", d.log()[seen:])
        sid = d.client().upload(helper("hello"))["id"]
        ok(wait_for(lambda: sid in open(d.dir + "/x/audit").read()),
           "and goes on")


def full_disk(mode):
    """The file lies in a file system of its own that has one page."""
    def mount(d):
        os.mkdir(d.dir + "/full")
        uid = owner(d)
        return ["unshare", "-m", "sh", "-c",
                f"mount -t tmpfs -o size=4k,mode=755,uid={uid} none "
                f"{d.dir}/full && exec \"$@\"", "sh"]

    with Place(mode, mount=mount, way="/full") as d:
        c = d.client()
        inside = f"/proc/{d.proc.pid}/root{d.dir}/full/audit"
        sid = c.upload(helper("hello"))["id"]
        for i in range(200):
            c.cmd(f"NAME {sid} n{i}")
        eq(c.cmd("STATUS " + sid)["name"], "n199", "full: it serves")
        eq(d.log().count("cannot be written"), 1, "full: one warning")
        ok(wait_for(lambda: sum(sid in s for s in
                                d.log().splitlines()) >= 201),
           "full: the log is complete")
        eq(os.stat(inside).st_size, 4096, "full: to the last byte")
        os.truncate(inside, 0)
        c.cmd(f"NAME {sid} again")
        ok(wait_for(lambda: len(lines(inside)) >= 3), "room: it goes on",
           lines(inside))
        text = lines(inside)
        eq((text[0], "lines are missing here" in text[1]), ("", True),
           "room: it says what is missing")
        eq([s for s in text[1:] if not LINE.match(s)], [],
           "room: lines are whole")
        ok(wait_for(lambda: "written again" in d.log()),
           "room: the log says so", d.log())


run_tests(*[alone(t) for t in (events_are_lines, wrong_files, reloads,
                              out_of_sight)],
          alone(full_disk, ("system", "user") if AS_ROOT else ()))
