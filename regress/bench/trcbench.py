# SPDX-License-Identifier: ISC
"""What a timeline costs: appending calls beside writing as many bytes, and
questions about ten million of them."""
import json
import os
import statistics
import subprocess
import tempfile
import time

PIECE = 224 << 10

# what is asked, and the most milliseconds that it may take
QUESTIONS = (
    ("first page", {}, 10),
    ("page in the middle, by offset", {"offset": "half"}, 10),
    ("page in the middle, by cursor", {"afterEventId": "2.1250000"}, 10),
    ("page of one function", {"function": {"equals": "mod7::f77"}}, 10),
    ("page by part of a name", {"function": {"contains": "od3::"}}, 10),
    ("page by pattern", {"function": {"matches": "^mod[47]::.*7$"}}, 10),
    ("page by pattern that matches none", {"function": {"matches": "q$"}},
     10),
    ("page by file", {"sourceFile": {"contains": "m9."}}, 10),
    ("page, all of it", {"verbose": True, "limit": 500}, 10),
    ("page by pattern, far in", {"function": {"matches": "7$"},
                                 "offset": "thousandth"}, 10),
    ("page by pattern, in the middle", {"function": {"matches": "7$"},
                                        "offset": "twentieth"}, 10),
    ("count of a return value, and page", {"returnValue": {"equals": 3}}, 50),
    ("count of no such value, and page", {"returnValue": {"equals": 77}}, 50),
    ("count of a thread's function, and page",
     {"threadId": 101, "function": {"contains": "f77"}}, 50),
)

# the same of functions that return so many values each
VALUES = (
    (1000, "count of one of 1000 values, and page",
     {"returnValue": {"equals": "0x3"}}, 50),
    (1000, "count of one of 1000 values of some functions, and page",
     {"returnValue": {"equals": "0x3"}, "function": {"contains": "od3::"}}, 50),
    (1000, "count of what is not null, and page",
     {"returnValue": {"isNull": False}}, 50),
    (4000000, "page of a value that nearly never comes",
     {"returnValue": {"equals": "0x1e8480"},
      "function": {"contains": "od3::"}}, 10),
    (4000000, "count of values that all differ, and page",
     {"returnValue": {"equals": "0x4a2cb71"}}, 50),
)


class Timeline:
    def __init__(self, helper, where):
        self.p = subprocess.Popen([helper], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)
        self.where = where

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.p.kill()
        self.p.communicate()

    def do(self, what, **args):
        self.p.stdin.write(json.dumps({"do": what, **args}) + "\n")
        self.p.stdin.flush()
        answer = json.loads(self.p.stdout.readline())
        if "error" in answer:
            raise RuntimeError(f"{what}: {answer['error']}")
        return answer["ok"]

    def open(self, name, ret="i32"):
        self.do("open", dir=self.where, name=name, new=True, calls=4 << 30)
        for fn in range(1000):
            self.do("function", fn=fn, name=f"mod{fn % 10}::f{fn}",
                    file=f"m{fn % 10}.c", ret=ret)


def append_ns(helper, where, n, threads):
    with Timeline(helper, where) as t:
        t.open("a")
        took = t.do("generate", n=n, threads=threads, fns=1000)
        size = t.do("stats")["bytes"]
        t.do("close")
    for name in os.listdir(where):
        os.unlink(os.path.join(where, name))
    return took["ns"], took["cpu"], size


def write_ns(where, size):
    """The same bytes in pieces of a segment, by the shortest way."""
    piece = os.urandom(PIECE)
    fd, name = tempfile.mkstemp(dir=where)
    begun = time.monotonic_ns()
    for _ in range(size // PIECE):
        os.write(fd, piece)
    ns = time.monotonic_ns() - begun
    os.close(fd)
    os.unlink(name)
    return ns


def appending(table, helper, where, n, rounds):
    for threads in (1, 16):
        ours, cpus, plain = [], [], []
        for _ in range(rounds):
            ns, cpu, size = append_ns(helper, where, n, threads)
            ours.append(n * 1e3 / ns)
            cpus.append(n * 1e3 / cpu)
            plain.append(n * 1e3 / write_ns(where, size))
        table.value(f"timeline: calls of {threads} threads appended",
                    statistics.median(ours), "M/s", least=10,
                    baseline=statistics.median(plain))
        table.value("  per second of the processor",
                    statistics.median(cpus), "M/s")


def asking(table, helper, where, n, times):
    parts = {"half": n // 2, "twentieth": n // 20, "thousandth": n // 1000}
    with Timeline(helper, where) as t:
        t.open("q")
        t.do("generate", n=n, threads=4, fns=1000)
        for what, query, most in QUESTIONS:
            q = {k: parts.get(v, v) if isinstance(v, str) else v
                 for k, v in query.items()}
            us = t.do("bench", query=q, times=times)["median"]
            table.value(f"  {what}", us / 1e3, "ms", most=most, digits=2)
        us = t.do("bench", times=1, sql="SELECT count(*) FROM events")
        table.value("  SELECT count(*), each row seen", us["median"] / 1e3,
                    "ms")
        t.do("close")
    for values, what, query, most in VALUES:
        with Timeline(helper, where) as t:
            t.open("v", ret="ptr")
            t.do("generate", n=n, threads=4, fns=1000, values=values)
            us = t.do("bench", query=query, times=3)["median"]
            table.value(f"  {what}", us / 1e3, "ms", most=most, digits=2)
            t.do("close")


def figure(table, helper, quick):
    n = 1000000 if quick else 10000000
    # in memory: how soon a disk takes them is the disk's affair
    memory = "/dev/shm" if os.path.isdir("/dev/shm") else None
    with tempfile.TemporaryDirectory(prefix="dl-bench-", dir=memory) as where:
        appending(table, helper, where, n, 1 if quick else 5)
        asking(table, helper, where, n, 3 if quick else 21)
