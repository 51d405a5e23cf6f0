#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""A debug adapter that does not do what it says: stands before a real one.

usage: relay_adapter.py ORDERS ADAPTER [ARGUMENT ...]

The file ORDERS holds a JSON object, request to conduct, and is read anew at
each request.  A list of conducts is for one request after the other.
    yes         answers that it does so, and does not
    continued   the same, and tells that the program runs
    no          refuses, and does not
    silent      does not answer
    did         does it, and refuses
    ran         the same, three seconds later
    later       refuses, and does it two seconds later, untold
    twice       does it, and answers a second time, with a refusal
    does        does it
    late        does it, and tells of the next stop three seconds later
    dies        answers that it does so, and ends
Requests without an order are the real adapter's.  Requests that were not
passed on are added to ORDERS.log, a line each.
"""
import json
import os
import subprocess
import sys
import threading

lock = threading.Lock()
expected = {}           # request_seq: what is to become of its answer
untold = []             # those of which no event tells that it runs
late = []               # those whose stop is told late
done = {}               # request: how many of its list were obeyed


def read_message(f):
    length = None
    while (line := f.readline()) not in (b"\r\n", b"\n"):
        if line == b"":
            return None
        name, _, value = line.decode().partition(":")
        if name.lower() == "content-length":
            length = int(value)
    return json.loads(f.read(length))


def write_message(f, m):
    text = json.dumps(m).encode()
    with lock:
        f.write(b"Content-Length: %d\r\n\r\n" % len(text) + text)
        f.flush()


def to_client(m):
    write_message(sys.stdout.buffer, m)


def respond(request, success):
    m = {"seq": 0, "type": "response", "request_seq": request["seq"],
         "command": request["command"], "success": success}
    if not success:
        m["message"] = "the relay says no"
    elif request["command"] == "evaluate":
        m["body"] = {"result": "", "variablesReference": 0}
    to_client(m)


def conduct_of(orders, request):
    try:
        with open(orders) as f:
            told = json.load(f)
    except (OSError, ValueError):
        told = {}
    conduct = told.get(request["command"])
    if isinstance(conduct, list):
        n = done[request["command"]] = done.get(request["command"], 0) + 1
        conduct = conduct[min(n, len(conduct)) - 1]
    if request["command"] == "evaluate" and conduct is not None and \
            not request["arguments"]["expression"].startswith("`thread "):
        return None
    return conduct


def obey(conduct, request, adapter):
    """True: the request is passed on."""
    if conduct == "late":
        late.append(request["command"])
    if conduct in ("does", "late"):
        return True
    if conduct in ("did", "ran", "twice"):
        with lock:
            expected[request["seq"]] = conduct
        return True
    if conduct in ("yes", "continued", "dies"):
        respond(request, True)
    elif conduct in ("no", "later"):
        respond(request, False)
    if conduct == "later":
        with lock:
            expected[request["seq"]] = conduct
        untold.append(request["command"])
        threading.Timer(2, write_message, (adapter.stdin, request)).start()
    if conduct == "continued":
        to_client({"seq": 0, "type": "event", "event": "continued", "body": {
            "threadId": request.get("arguments", {}).get("threadId", 0),
            "allThreadsContinued": True}})
    if conduct == "dies":
        adapter.kill()
    return False


def from_adapter(adapter):
    while (m := read_message(adapter.stdout)) is not None:
        conduct = None
        if m.get("type") == "response":
            with lock:
                conduct = expected.pop(m["request_seq"], None)
        if m.get("event") == "stopped" and late:
            late.clear()
            threading.Timer(3, to_client, (m,)).start()
            continue
        if m.get("event") == "continued" and untold:
            untold.clear()
            continue
        if conduct == "later":
            continue
        if conduct not in ("did", "ran"):
            to_client(m)
        if conduct is not None:
            refused = {"seq": m["request_seq"], "command": m["command"]}
            threading.Timer(3 if conduct == "ran" else 0, respond,
                            (refused, False)).start()
    adapter.kill()
    os._exit(1)


def main(orders, *argv):
    adapter = subprocess.Popen(argv, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, close_fds=False)
    threading.Thread(target=from_adapter, args=(adapter,),
                     daemon=True).start()
    while (m := read_message(sys.stdin.buffer)) is not None:
        conduct = conduct_of(orders, m)
        if conduct is None or obey(conduct, m, adapter):
            write_message(adapter.stdin, m)
        else:
            with open(orders + ".log", "a") as f:
                f.write(m["command"] + "\n")
    adapter.stdin.close()
    adapter.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
