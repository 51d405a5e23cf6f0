#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# Output: offsets over the whole run, exact bytes, valid JSON whatever the
# program writes, and followers.
import base64
import json
import os
import socket
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (Daemon, Prober, alone, eq, helper, in_modes, ok, run_tests,
                wait_for)

KIB = 1 << 10
MIB = 1 << 20


def flood(offset, n):
    """What the flood helper writes at an offset."""
    first = offset // 16
    s = b"".join(b"%015d\n" % i for i in range(first, (offset + n) // 16 + 1))
    return s[offset - first * 16:][:n]


def follow(c, line):
    """Sends it; yields the answers up to the final one."""
    c.send(line + "\n")
    while True:
        r = c.json()
        yield r
        if r.get("final") or r.get("ok") is False:
            return


def offsets_across_the_ring(d):
    c = d.client()
    total = MIB + 1234
    sid, s = c.run(helper("flood"), str(total))
    eq(s["exit_code"], 0, "a program that writes more than the ring ends")
    r = c.cmd(f"OUTPUT {sid} 0 base64")
    data = base64.b64decode(r["output"])
    eq(r["total"], total, "total counts every byte of the run")
    eq(r["offset"], total - len(data), "a lost offset is moved up: offset "
       "says from where the bytes are")
    ok(len(data) >= 255 * KIB, "the newest 256 KiB are kept", len(data))
    eq(data == flood(r["offset"], len(data)), True, "they are exact")
    text = c.cmd(f"OUTPUT {sid}")
    eq((text["offset"], text["total"], text["output"].encode() == data),
       (r["offset"], total, True), "as text: the same")
    mid = total - 1000
    r = c.cmd(f"OUTPUT {sid} {mid}")
    eq((r["offset"], r["total"], r["output"].encode()),
       (mid, total, flood(mid, 1000)), "an offset inside of the ring")
    for beyond in (total, total + 1, 10 ** 18):
        r = c.cmd(f"OUTPUT {sid} {beyond}")
        eq((r["output"], r["total"]), ("", total),
           f"offset {beyond - total:+d} from the end: nothing")
    c.cmd("START " + sid)
    c.cmd(f"WAIT {sid} 20")
    eq(c.cmd("OUTPUT " + sid)["total"], total,
       "the next run counts from 0 again")


def base64_of_all_bytes(d):
    c = d.client()
    sid, _ = c.run(helper("bytes"), "all")
    r = c.cmd(f"OUTPUT {sid} 0 base64")
    eq(base64.b64decode(r["output"]), bytes(range(256)),
       "base64: 256 byte values are exact")
    for n in range(4):
        r = c.cmd(f"OUTPUT {sid} {253 + n} base64")
        eq(base64.b64decode(r["output"]), bytes(range(256))[253 + n:],
           f"base64: {3 - n} bytes")


def text_is_always_valid_json(d):
    c = d.client()
    sid, _ = c.run(helper("bytes"), "all")
    c.send(f"OUTPUT {sid}\n")
    line = c.recv_line()
    text = json.loads(line.decode("utf-8"))["output"]
    eq(text, bytes(range(128)).decode() + "\ufffd" * 128,
       "bytes that are not UTF-8 are U+FFFD, control characters escaped")
    eq(any(b < 0x20 for b in line), False, "no bare control character")
    for hexes, want in (
            ("c3a4e282acf09f9880", "ä€😀"),
            ("c328", "\ufffd("), ("e28228", None),
            ("eda080", "\ufffd" * 3), ("c0af", "\ufffd" * 2),
            ("f4908080", "\ufffd" * 4), ("22", '"'), ("5c", "\\"),
            ("00", "\0"), ("7f", "\x7f"), ("e280a8", "\u2028")):
        c.cmd(f"ARGS {sid} {hexes}")
        c.cmd("START " + sid)
        c.cmd(f"WAIT {sid} 20")
        got = c.cmd("OUTPUT " + sid)["output"]
        if want is None:
            ok(got.endswith("(") and set(got[:-1]) == {"\ufffd"},
               f"{hexes}: replaced", got)
        else:
            eq(got, want, f"{hexes}: as text")


def characters_cut_by_reads(d):
    """Half a character at the end of what there is, the rest later."""
    c, e = d.client(), d.client()
    sid = c.upload(helper("bytes"))["id"]
    c.cmd(f"ARGS {sid} 41e2 82ac42 f09f 98 8043")
    c.cmd("START " + sid)
    text = []

    def reader():
        text.extend(r.get("output", "") for r in
                    follow(e, f"FOLLOW {sid}"))
    t = threading.Thread(target=reader, daemon=True)
    t.start()
    for total in (2, 5, 7, 8, 10):
        wait_for(lambda: c.cmd("OUTPUT " + sid)["total"] == total)
        c.send(f"INPUT {sid} 1\nx")
        c.json()
    t.join(20)
    eq("".join(text), "A€B😀C", "FOLLOW as text never cuts a character")


def input_x_abc_does_no_harm(d):
    c = d.client()
    sid, _ = c.run(helper("hello"))
    for bad in ("OUTPUT x abc", f"OUTPUT {sid} abc",
                f"OUTPUT {sid} 99999999999999999999999",
                f"OUTPUT {sid} -1", f"OUTPUT {sid} 0 hex"):
        eq(c.cmd(bad).get("ok"), False, f"{bad[:7]}..{bad[-5:]}: refused")
    eq(c.cmd("STATUS " + sid)["exit_code"], 0, "sessions are as before")


def follow_exact_stream_at_1_mb_per_second(d):
    c, e = d.client(), d.client()
    total = 3000000
    sid = c.upload(helper("flood"))["id"]
    c.cmd(f"ARGS {sid} {total} 1000000")
    c.cmd("START " + sid)
    at, exact, gaps, last = 0, True, 0, None
    for r in follow(e, f"FOLLOW {sid} 0 base64"):
        data = base64.b64decode(r.get("output", ""))
        if data:
            gaps += r["offset"] != at
            exact &= data == flood(r["offset"], len(data))
            at = r["offset"] + len(data)
        last = r
    eq((at, exact, gaps), (total, True, 0),
       "FOLLOW at 1 MB/s receives every byte, exact and in order")
    eq((last["state"], last["exit_code"], last["signal"], last["total"]),
       ("STOPPED", 0, None, total), "FOLLOW: the last line has the end")


def follow_final_line(d):
    c = d.client()
    sid, _ = c.run(helper("crash"), "segv")
    got = list(follow(c, "FOLLOW " + sid))
    eq("".join(r.get("output", "") for r in got), "crashing\n",
       "FOLLOW of a stopped session: what there is")
    eq((got[-1]["id"], got[-1]["state"], got[-1]["signal"],
        got[-1]["exit_code"]), (sid, "STOPPED", "SIGSEGV", None),
       "FOLLOW of a stopped session: the final line")
    eq(c.cmd("STATUS " + sid)["id"], sid, "FOLLOW: the connection goes on")
    got = list(follow(c, f"FOLLOW {sid} 5"))
    eq("".join(r.get("output", "") for r in got), "ing\n",
       "FOLLOW with an offset")


def follow_laggard_jumps(d):
    """Who reads too slowly loses the oldest bytes and is told so."""
    c, e = d.client(), d.client()
    sid = c.upload(helper("flood"))["id"]
    total = 24 * MIB
    c.cmd(f"ARGS {sid} {total}")
    e.s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8192)
    with Prober(d) as others:
        c.cmd("START " + sid)
        e.send(f"FOLLOW {sid} 0 base64\n")
        s = c.cmd(f"WAIT {sid} 60")
        eq(s.get("state"), "STOPPED",
           "a follower that does not read stops no program")
        others.check("a follower that does not read: nobody else waits")
    at, jumps, exact, r = 0, 0, True, {}
    while not r.get("final"):
        r = e.json()
        data = base64.b64decode(r.get("output", ""))
        if data:
            exact &= r["offset"] >= at and \
                data == flood(r["offset"], len(data))
            jumps += r["offset"] > at
            at = r["offset"] + len(data)
    ok(jumps >= 1, "a slow client jumps, and the offset tells it", jumps)
    eq((exact, at), (True, total), "what it gets is exact, up to the end")


def follow_before_start(d):
    c, e = d.client(), d.client()
    sid = c.upload(helper("hello"))["id"]
    e.send(f"FOLLOW {sid}\n")
    c.cmd("VERSION")
    c.cmd("START " + sid)
    got = []
    while not got or not got[-1].get("final"):
        got.append(e.json())
    eq("".join(r.get("output", "") for r in got), "Hello world\n",
       "FOLLOW before the start waits for it")


def follow_across_restart(d):
    c, e = d.client(), d.client()
    sid = c.upload(helper("hello"))["id"]
    for word in ("first", "second"):
        c.cmd(f"ARGS {sid} {word}")
        c.cmd("START " + sid)
        got = list(follow(e, "FOLLOW " + sid))
        text = "".join(r.get("output", "") for r in got)
        eq((text, got[-1]["exit_code"]), (f"[{word}]\n", 0),
           f"FOLLOW of the {word} run: that run alone")


def follow_many(d):
    """Twenty followers of one program and twenty programs with one."""
    c = d.client()
    sid = c.upload(helper("flood"))["id"]
    c.cmd(f"ARGS {sid} 200000 400000")
    c.cmd("START " + sid)
    got = {}

    clients = [d.client() for _ in range(20)]

    def run(i, e):
        at = 0
        for r in follow(e, f"FOLLOW {sid} 0 base64"):
            data = base64.b64decode(r.get("output", ""))
            if data and (r["offset"] != at or
                         data != flood(at, len(data))):
                break
            at += len(data)
        got[i] = at
    ts = [threading.Thread(target=run, args=x, daemon=True)
          for x in enumerate(clients)]
    for t in ts:
        t.start()
    for t in ts:
        t.join(30)
    eq(got, {i: 200000 for i in range(20)}, "twenty followers: all exact")


def follower_that_leaves(d):
    c = d.client()
    sid = c.upload(helper("flood"))["id"]
    c.cmd(f"ARGS {sid} 0 200000")
    c.cmd("START " + sid)
    for _ in range(20):
        e = d.client()
        e.send(f"FOLLOW {sid}\n")
        e.recv_line()
        e.close()
    eq(c.cmd("STATUS " + sid)["state"], "RUNNING",
       "followers that leave harm nobody")
    c.cmd("KILL " + sid)


def output_while_running(d):
    c = d.client()
    sid, _ = c.start(helper("echo"))
    want = b""
    for i in range(50):
        line = b"line %d\n" % i
        c.send(b"INPUT %s %d\n" % (sid.encode(), len(line)) + line)
        c.json()
        r = wait_for(lambda: (lambda r: r if r["output"] else None)(
            c.cmd(f"OUTPUT {sid} {len(want)}")))
        want += r["output"].encode()
    eq(want, b"".join(b"line %d\n" % i for i in range(50)),
       "polling with offsets: nothing lost or doubled")


def output_flood_stops_nobody(d):
    c = d.client()
    sid, _ = c.start(helper("flood"), "0", until=b"0\n")
    with Prober(d) as others:
        t0 = c.cmd("OUTPUT " + sid)["total"]
        ok(wait_for(lambda: c.cmd(f"OUTPUT {sid} {1 << 60}")["total"] >
                    t0 + 20 * MIB, 30), "an output flood is drained")
        others.check("an output flood: nobody else waits")
        s = c.cmd("KILL " + sid)
    eq(s["state"], "STOPPED", "and its program can be ended")


def follow_a_flood(d):
    """The follower is slower than the program: still exact where it reads."""
    c, e = d.client(), d.client()
    sid = c.upload(helper("flood"))["id"]
    c.cmd(f"ARGS {sid} {8 * MIB}")
    c.cmd("START " + sid)
    at, exact = 0, True
    for r in follow(e, f"FOLLOW {sid} 0 base64"):
        data = base64.b64decode(r.get("output", ""))
        if data:
            exact &= r["offset"] >= at and \
                data == flood(r["offset"], len(data))
            at = r["offset"] + len(data)
    eq((exact, at), (True, 8 * MIB), "FOLLOW of a flood: exact to the end")


def larger_buffer(mode):
    with Daemon(mode, "output-buffer 4M\n") as d:
        c = d.client()
        sid, _ = c.run(helper("flood"), str(6 * MIB))
        at, exact = 0, True
        while True:
            r = c.cmd(f"OUTPUT {sid} {at} base64")
            data = base64.b64decode(r["output"])
            first = r["offset"] if at == 0 else first
            if not data:
                break
            exact &= data == flood(r["offset"], len(data))
            at = r["offset"] + len(data)
        eq((exact, at), (True, 6 * MIB), "output-buffer 4M: all of it, exact")
        ok(at - first > 3 * MIB, "output-buffer 4M: that much is kept",
           at - first)


run_tests(
    in_modes(
        offsets_across_the_ring, base64_of_all_bytes,
        text_is_always_valid_json, characters_cut_by_reads,
        input_x_abc_does_no_harm, follow_exact_stream_at_1_mb_per_second,
        follow_final_line, follow_laggard_jumps, follow_before_start,
        follow_across_restart, follow_many, follower_that_leaves,
        output_while_running, output_flood_stops_nobody, follow_a_flood),
    alone(larger_buffer))
