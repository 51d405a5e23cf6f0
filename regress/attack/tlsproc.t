#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# A tlsproc that has been taken over: it is ended again and again, or is not
# believed, and nobody else notices.
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
sys.path.insert(0, os.path.join(os.path.dirname(__file__), "../e2e/lib"))
import rogue
from dl import Daemon, alone, eq, helper, ok, run_tests, wait_for
from tlsclient import with_tls

OTHERS = ("netproc", "spawner", "idproc", "launcher")


def under(mode, what, fn):
    conf = f'tls certificate "/x/{what}"\ntls key "/x/key"\n'
    with Daemon(mode, conf=with_tls(conf)[1]) as d:
        before = [d.role_pid(r) for r in OTHERS]
        c = d.client()
        sid, _ = c.start(helper("sleeper"), until=b"ready")
        fn(d, what)
        eq([d.role_pid(r) for r in OTHERS], before,
           f"{what}: no other process was ended")
        eq([s["id"] for s in c.cmd("LIST")], [sid],
           f"{what}: who was connected still is, and is served")
        eq([s["id"] for s in d.client().cmd("LIST")], [sid],
           f"{what}: so is who comes now")
        c.cmd("KILL " + sid)


def is_ended(d, what):
    ok(wait_for(lambda: d.log().count("tlsproc is ended:") >= 3, 180),
       f"{what}: it is ended, each time")
    ok(wait_for(lambda: "tlsproc starts again in" in d.log(), 60),
       f"{what}: and comes back later and later")


def is_not_believed(d, what):
    ok(wait_for(lambda: d.log().count("says that") >= 3, 120),
       f"{what}: what it says of others is heard")
    lines = [x for x in d.log().splitlines() if "is ended:" in x]
    eq([x for x in lines if "tlsproc is ended:" not in x], [],
       f"{what}: and ends nobody but itself")


def is_nobody(d, what):
    d.client().cmd("LIST")
    eq([x for x in d.log().splitlines() if "door=tls" in x and
        'result="ok' in x], [], f"{what}: nobody comes in by that")
    eq(len(d.client().cmd("LIST")), 1, f"{what}: nothing was uploaded")


def taken_over(mode):
    for what, fn in (("wrong-row", is_ended), ("flood", is_ended),
                     ("accuse", is_not_believed), ("make-up", is_nobody),
                     ("odd-sockets", is_nobody)):
        # the kernel counts fds on their way by user: one who is everybody
        # can use them up, which is what users for each role are against
        if what != "flood" or mode == "system":
            under(mode, what, fn)


rogue.with_roles(tlsproc=helper("rogue_tlsproc"))
run_tests(alone(taken_over))
