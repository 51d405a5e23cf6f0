#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""What the daemon costs, each figure beside a baseline measured in the same
minutes on the same machine. Prints one table. A bound that is missed is a
"NO" in it, never a failure: only a figure that could not be measured is."""
import base64
import contextlib
import gzip
import io
import json
import os
import platform
import re
import resource
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tarfile
import threading
import time
import traceback

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(TOP, "regress/e2e/lib"))
import dbgbench  # noqa: E402
import dl  # noqa: E402
import engbench  # noqa: E402
import redisbench  # noqa: E402
import symbench  # noqa: E402
import trcbench  # noqa: E402
import ttybench  # noqa: E402
import webbench  # noqa: E402
from tlsclient import with_tls  # noqa: E402

QUICK = os.environ.get("BENCH_QUICK", "") not in ("", "0")
TOOLS = os.path.join(os.environ.get("DL_BUILD", os.path.join(TOP, "build")),
                     "regress/bench")
MIB = 1 << 20
ROUNDS = 1 if QUICK else 7
# only root may look at the memory of the daemon's processes
ROOT = os.geteuid() == 0


def tool(name):
    return os.path.join(TOOLS, name)


def median(values):
    return statistics.median(values)


# --- the table ---------------------------------------------------------------

class Table:
    HEAD = ("figure", "measured", "baseline", "ratio", "bound", "met")

    def __init__(self):
        self.rows = []

    def add(self, figure, measured, baseline, ratio, bound, met):
        self.rows.append((figure, measured, baseline, ratio, bound,
                          "-" if met is None else "yes" if met else "NO"))
        print("  " + "  ".join(self.rows[-1]), file=sys.stderr, flush=True)

    def ratio(self, figure, measured, baseline, unit, most=None, least=None):
        """Against the baseline: at most or at least so many times as much."""
        r = measured / baseline
        bound, met = bound_of(r, most, least, " x")
        self.add(figure, f"{measured:.1f} {unit}", f"{baseline:.1f} {unit}",
                 f"{r:.2f}", bound, met)

    def value(self, figure, measured, unit, most=None, least=None,
              baseline=None, digits=1):
        """A bound in the unit itself; the baseline is for comparison."""
        bound, met = bound_of(round(measured, digits), most, least,
                              " " + unit)
        self.add(figure, f"{measured:.{digits}f} {unit}",
                 "-" if baseline is None else f"{baseline:.{digits}f} {unit}",
                 "-" if not baseline else f"{measured / baseline:.2f}",
                 bound, met)

    def skip(self, figure, why):
        self.add(figure, why, "-", "-", "-", None)

    def print(self):
        rows = [self.HEAD] + self.rows
        w = [max(len(r[i]) for r in rows) for i in range(len(self.HEAD))]
        for r in rows:
            cells = [r[0].ljust(w[0])]
            cells += [r[i].rjust(w[i]) for i in range(1, 4)]
            cells += [r[4].ljust(w[4]), r[5]]
            print("  ".join(cells).rstrip())


def bound_of(v, most, least, unit):
    if most is not None:
        return f"<= {most:g}{unit}", v <= most
    if least is not None:
        return f">= {least:g}{unit}", v >= least
    return "-", None


table = Table()


# --- processes ---------------------------------------------------------------

def read(path):
    with open(path) as f:
        return f.read()


def cpu_ns(pids):
    """The scheduler's own count: ticks are too coarse for microseconds."""
    total = 0
    for p in pids:
        for t in os.listdir(f"/proc/{p}/task"):
            total += int(read(f"/proc/{p}/task/{t}/schedstat").split()[0])
    return total


def ticks(pids):
    """User and system time, from behind the name, which may hold blanks."""
    return sum(int(v) for p in pids
               for v in read(f"/proc/{p}/stat").rpartition(")")[2]
               .split()[11:13])


def status_sum(pids, pattern):
    return sum(int(v) for p in pids
               for v in re.findall(pattern + r":\s*(\d+)",
                                   read(f"/proc/{p}/status")))


def pss_kib(pids):
    return sum(int(re.search(r"^Pss:\s*(\d+)", read(
        f"/proc/{p}/smaps_rollup"), re.M)[1]) for p in pids)


def reset_peaks(pids):
    for p in pids:
        with open(f"/proc/{p}/clear_refs", "w") as f:
            f.write("5")


class Server:
    """A baseline server: prints its port, is killed at the end."""

    def __init__(self, *argv):
        self.proc = subprocess.Popen([tool(argv[0]), *map(str, argv[1:])],
                                     stdout=subprocess.PIPE, text=True)
        self.port = int(self.proc.stdout.readline())
        self.pids = [self.proc.pid]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.proc.kill()
        self.proc.wait()
        self.proc.stdout.close()


class Quiet(dl.Daemon):
    """As in service: without a line of log for every step."""
    FLAGS = ("-d",)


class Target:
    """A private daemon, and the pids whose costs count."""

    def __init__(self, conf="", **kw):
        self.daemon = Quiet(
            mode="system" if ROOT else "user",
            conf=conf + "\nstop-timeout 2\n", **kw)
        self.port = self.daemon.port
        self.dir = self.daemon.dir
        with contextlib.closing(self.client()) as c:
            good(c.cmd("LIST"))
        self.refresh()

    def refresh(self):
        self.pids = dl.descendants(self.daemon.proc.pid)

    def client(self, timeout=60):
        return self.daemon.client(timeout=timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.daemon.cleanup()


def good(answer):
    if isinstance(answer, dict) and "error_code" in answer:
        raise RuntimeError(f"refused: {answer}")
    return answer


def session(c, name="tiny", args=""):
    sid = good(c.upload(tool(name)))["id"]
    if args:
        good(c.cmd(f"ARGS {sid} {args}"))
    return sid


def run_tool(name, *argv):
    p = subprocess.run([tool(name), *map(str, argv)], text=True, timeout=300,
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if p.returncode != 0:
        raise RuntimeError(f"{name} {argv}: {p.stderr.strip()}")
    return p.stdout


class Probe:
    """The client that waits: asks once a millisecond until it is read."""

    def __init__(self, port, request="LIST"):
        self.proc = subprocess.Popen(
            [tool("probe"), str(port), "1", request], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if self.proc.stdout.readline() != "ready\n":
            raise RuntimeError("probe: " + self.proc.stderr.read())

    def longest_ms(self):
        out, errors = self.proc.communicate(timeout=60)
        if self.proc.returncode != 0:
            raise RuntimeError("probe: " + errors.strip())
        return json.loads(out)["wait"]["max"] / 1e6


# --- requests ----------------------------------------------------------------

def cpu_per_request(server, request, conns, depth=1):
    """Microseconds of CPU in the server's processes for one request."""
    ms = 200 if QUICK else 600
    p = subprocess.Popen(
        [tool("load"), str(server.port), str(conns), str(depth), "0", str(ms),
         request], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    if p.stdout.readline() != "ready\n":
        raise RuntimeError(f"load: cannot reach port {server.port}")
    before = cpu_ns(server.pids)
    p.stdin.write("go\n")
    p.stdin.flush()
    line = p.stdout.readline()
    used = cpu_ns(server.pids) - before
    p.communicate()
    return used / 1000 / json.loads(line)["answers"]


def requests(t, request, title, bound, shapes):
    with contextlib.closing(t.client()) as c:
        c.send(request + "\n")
        size = len(c.recv_line()) + 1
    with Server("echo", size) as echo:
        for conns, depth in shapes:
            ours, bare = [], []
            for _ in range(ROUNDS):
                bare.append(cpu_per_request(echo, request, conns, depth))
                ours.append(cpu_per_request(t, request, conns, depth))
            table.ratio(f"{title}, {conns} connection{'s'[:conns > 1]}" +
                        (f", {depth} deep" if depth > 1 else "") +
                        f" ({size} B): CPU", median(ours), median(bare), "us",
                        most=bound if depth == 1 else None)


SHAPES = ((1, 1), (100, 1), (1, 32))


def figure_status():
    with Target() as t:
        with contextlib.closing(t.client()) as c:
            sid = session(c)
        requests(t, f"STATUS {sid}", "STATUS", 1.5, SHAPES)


def figure_list():
    with Target() as t:
        with contextlib.closing(t.client()) as c:
            session(c)
        requests(t, "LIST", "LIST", 1.5, SHAPES)


def figure_list32():
    with Target("max-sessions 32") as t:
        with contextlib.closing(t.client()) as c:
            for _ in range(32):
                session(c)
        requests(t, "LIST", "LIST of 32 sessions", 2.5, SHAPES)


# --- uploads -----------------------------------------------------------------

def padded(directory, size):
    """An image of that many bytes: a good program, then anything."""
    path = os.path.join(directory, "padded")
    with open(path, "wb") as f:
        with open(tool("tiny"), "rb") as g:
            f.write(g.read())
        f.truncate(size)
        f.seek(4096)
        block = os.urandom(MIB)
        while f.tell() + len(block) <= size:
            f.write(block)
    return path


def push(port, path):
    """Seconds, and the new session's id."""
    ns, answer = run_tool("push", port, path).splitlines()
    return int(ns) / 1e9, good(json.loads(answer))["id"]


def upload_rounds(t, sink, path, rounds):
    ours, bare = [], []
    with contextlib.closing(t.client()) as c:
        for _ in range(rounds):
            bare.append(push(sink.port, path)[0])
            seconds, sid = push(t.port, path)
            ours.append(seconds)
            good(c.cmd(f"DELETE {sid}"))
    return median(ours), median(bare)


def longest_wait(t, act, rounds):
    """Of LIST, and of an echo that nobody but the machine keeps waiting."""
    ours, bare = [], []
    with Server("echo", 300) as echo:
        for _ in range(rounds):
            probes = Probe(t.port), Probe(echo.port)
            act()
            ours.append(probes[0].longest_ms())
            bare.append(probes[1].longest_ms())
    return median(ours), median(bare)


def figure_upload():
    size = 64 * MIB
    with Target() as t, Server("sink") as sink:
        path = padded(t.dir, size)
        upload_rounds(t, sink, path, 1)
        ours, bare = upload_rounds(t, sink, path, ROUNDS + 2)
        table.ratio("UPLOAD 64 MiB: rate", size / MIB / ours,
                    size / MIB / bare, "MiB/s", least=0.6)
        upload_rss(t, path)

        def act():
            _, sid = push(t.port, path)
            with contextlib.closing(t.client()) as c:
                good(c.cmd(f"DELETE {sid}"))
        table_wait("UPLOAD 64 MiB", t, act, 1 if QUICK else 5)


def upload_rss(t, path):
    """The sum of each process's peak over what it had before."""
    title = "UPLOAD 64 MiB: peak RSS growth"
    if not ROOT:
        table.skip(title, "needs root")
        return
    reset_peaks(t.pids)
    before = status_sum(t.pids, "VmRSS")
    _, sid = push(t.port, path)
    grown = status_sum(t.pids, "VmHWM") - before
    table.value(title, grown / 1024, "MiB", most=2, digits=2)
    with contextlib.closing(t.client()) as c:
        good(c.cmd(f"DELETE {sid}"))


def tls_client(port):
    return subprocess.Popen(
        ["openssl", "s_client", "-quiet", "-connect", f"127.0.0.1:{port}"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)


def tls_push(port, data):
    """Seconds from the first byte to the daemon's answer, and the id."""
    p = tls_client(port)
    p.stdin.write(b"WHOAMI\n")
    p.stdin.flush()
    # the handshake and the identity are not what is measured
    p.stdout.readline()
    began = time.monotonic()
    p.stdin.write(b"UPLOAD %d\n" % len(data) + data)
    p.stdin.flush()
    answer = json.loads(p.stdout.readline())
    seconds = time.monotonic() - began
    p.kill()
    p.communicate()
    return seconds, good(answer)["id"]


def tls_sink(cert, data):
    """Seconds for the same bytes into openssl s_server, to their last."""
    port = dl.free_port()
    server = subprocess.Popen(
        ["openssl", "s_server", "-quiet", "-accept", f"127.0.0.1:{port}",
         "-cert", cert, "-key", cert], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    dl.wait_for(lambda: listens(server.pid))
    p = tls_client(port)
    p.stdin.write(b"x")
    p.stdin.flush()
    server.stdout.read(1)
    reader = threading.Thread(target=drain, args=(server.stdout, len(data)))
    reader.start()
    began = time.monotonic()
    p.stdin.write(data)
    p.stdin.flush()
    reader.join()
    seconds = time.monotonic() - began
    if p.poll() is not None or server.poll() is not None:
        raise RuntimeError("openssl ended early")
    for proc in (p, server):
        proc.kill()
        proc.communicate()
    return seconds


def listens(pid):
    return any(x.split()[3] == "0A" for x in
               read(f"/proc/{pid}/net/tcp").splitlines()[1:]
               if x.split()[9] in sockets(pid))


def sockets(pid):
    out = []
    for n in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            out.append(os.readlink(f"/proc/{pid}/fd/{n}")[8:-1])
    return out


def drain(pipe, n):
    """Without a copy: what is compared is TLS."""
    with open(os.devnull, "wb") as null:
        while n > 0:
            moved = os.splice(pipe.fileno(), null.fileno(), MIB)
            if moved == 0:
                return
            n -= moved


def figure_tls():
    if shutil.which("openssl") is None:
        table.skip("UPLOAD 64 MiB over TLS: rate", "needs openssl")
        return
    port, conf = with_tls()
    with Target(conf) as t:
        with open(padded(t.dir, 64 * MIB), "rb") as f:
            data = f.read()
        cert = os.path.join(t.dir, "cert.pem")
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
             "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=bench",
             "-keyout", cert, "-out", cert + ".crt"], check=True,
            stderr=subprocess.DEVNULL)
        with open(cert, "a") as f:
            f.write(read(cert + ".crt"))
        ours, bare = [], []
        with contextlib.closing(t.client()) as c:
            for _ in range(ROUNDS + 2):
                bare.append(tls_sink(cert, data))
                seconds, sid = tls_push(port, data)
                ours.append(seconds)
                good(c.cmd(f"DELETE {sid}"))
        table.ratio("UPLOAD 64 MiB over TLS: rate (s_client into s_server)",
                    64 / median(ours), 64 / median(bare), "MiB/s", least=0.7)


def table_wait(title, t, act, rounds):
    ours, bare = longest_wait(t, act, rounds)
    table.value(f"longest LIST during {title}", ours, "ms", most=10,
                baseline=bare, digits=2)


# --- starts ------------------------------------------------------------------

BWRAP = ("--", "/usr/bin/bwrap", "--unshare-all", "--ro-bind", "/", "/")


def fill_gib(t):
    path = padded(t.dir, 64 * MIB)
    for _ in range(16):
        push(t.port, path)
    os.unlink(path)


def timed(name, *argv):
    """Medians in microseconds: to exec, to the end of the program."""
    r = json.loads(run_tool(name, *argv))
    return r["exec"]["p50"] / 1000, r["exit"]["p50"] / 1000


def figure_start():
    n = 20 if QUICK else 200
    with Target() as plain, \
            Target("max-total-bytes 2G") as full, \
            Target("sandbox tmpfs\nnetwork none") as tmpfs:
        fill_gib(full)
        targets = {"plain": plain, "full": full, "tmpfs": tmpfs}
        calls = {"vfork": ("spawn", n, tool("tiny")),
                 "bwrap": ("spawn", n // 4, *BWRAP, tool("tiny"))}
        for k, t in targets.items():
            with contextlib.closing(t.client()) as c:
                calls[k] = ("starts", t.port, session(c), n)
        got = {k: [] for k in calls}
        for _ in range(ROUNDS):
            for k, call in calls.items():
                got[k].append(timed(*call))
        start_rows({k: [median(x) for x in zip(*v)] for k, v in got.items()})


def start_rows(got):
    """The baseline counts to the end of its program: it has no other one."""
    bare = got["vfork"][1]
    rows = (("START to exec, namespaces", got["plain"][0], bare, 10),
            ("START to exec, tmpfs, network none", got["tmpfs"][0], bare, 30),
            ("  the same against bwrap --unshare-all", got["tmpfs"][0],
             got["bwrap"][1], 0.5),
            ("START to exec, namespaces, 1 GiB held against none",
             got["full"][0], got["plain"][0], 1.2),
            ("START to STOPPED, namespaces", got["plain"][1], bare, None),
            ("START to STOPPED, tmpfs, network none", got["tmpfs"][1], bare,
             None),
            ("vfork + execveat to exec", got["vfork"][0], bare, None))
    for title, ours, base, bound in rows:
        table.ratio(title, ours, base, "us", most=bound)


def copied(path):
    """Microseconds that cp to a tmpfs takes."""
    to = os.path.join("/dev/shm", f"bench-{os.getpid()}")
    begun = time.monotonic_ns()
    try:
        subprocess.run(["cp", path, to], check=True)
        return (time.monotonic_ns() - begun) / 1000
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(to)


def figure_image():
    """Each start makes a file of the image, which costs as much as a copy."""
    n = 2 if QUICK else 8
    with Target() as t:
        ids, paths = {}, {}
        for size in (1, 64):
            path = padded(t.dir, size * MIB)
            ids[size] = push(t.port, path)[1]
            paths[size] = f"{path}-{size}"
            os.rename(path, paths[size])
        ours, bare = {1: [], 64: []}, {1: [], 64: []}
        for _ in range(ROUNDS):
            for size, path in paths.items():
                ours[size].append(timed("starts", t.port, ids[size], n)[0])
                bare[size].append(median([copied(path) for _ in range(n)]))
    for size in ours:
        table.ratio(f"START to exec, {size} MiB image, against cp to a tmpfs",
                    median(ours[size]), median(bare[size]), "us",
                    most=3 if size == 64 else None)


# --- output ------------------------------------------------------------------

def flood(c, sid, size):
    """Seconds from START until all output is in the ring."""
    t = time.monotonic()
    good(c.cmd(f"START {sid}"))
    good(c.cmd(f"WAIT {sid} 60"))
    t = time.monotonic() - t
    total = good(c.cmd(f"OUTPUT {sid} {size}"))["total"]
    if total != size:
        raise RuntimeError(f"{total} bytes captured of {size}")
    return t


def figure_capture():
    size = 100 * MIB
    ours, bare = [], []
    with Target() as t, contextlib.closing(t.client()) as c:
        sid = session(c, "job", f"flood {size}")
        flood(c, sid, size)
        for _ in range(ROUNDS + 2):
            r = json.loads(run_tool("drain", tool("job"), "flood", size))
            bare.append(r["ns"] / 1e9)
            ours.append(flood(c, sid, size))
    table.ratio("capture of 100 MiB of stdout: rate",
                100 / median(ours), 100 / median(bare), "MiB/s", least=0.6)


def followed(c, sid):
    """What FOLLOW tells, byte for byte, until the line with the state."""
    out = b""
    c.send(f"FOLLOW {sid} 0 base64\n")
    while True:
        line = good(c.json())
        if "output" in line:
            out += base64.b64decode(line["output"])
        if "state" in line:
            return out


def figure_follow():
    lines = 10000 if QUICK else 30000
    want = b"".join(b"%099d\n" % i for i in range(lines))
    with Target() as t, contextlib.closing(t.client()) as c:
        sid = session(c, "job", f"pace {lines} {lines // 10}")
        good(c.cmd(f"START {sid}"))
        got = followed(c, sid)
    same = len(set(got.splitlines()) & set(want.splitlines()))
    if got != want and same == lines:
        raise RuntimeError("the follower got every line, and more or "
                           "in another order")
    table.value(f"follower at 1 MB/s, {lines // 10000} s: received",
                100 * same / lines, "%", least=100)


# --- idle --------------------------------------------------------------------

def figure_idle():
    with Target("max-connections-per-user 1100") as t:
        time.sleep(0.5)
        title = f"all {len(t.pids)} processes, idle: PSS"
        if ROOT:
            table.value(title, pss_kib(t.pids) / 1024, "MiB", most=12,
                        digits=2)
        else:
            table.skip(title, "needs root")
        idle_cpu(t, 1 if QUICK else 5)
        idle_connections(t, 1000)


def idle_cpu(t, seconds):
    switches = r"ctxt_switches"
    a = ticks(t.pids), status_sum(t.pids, switches), cpu_ns(t.pids)
    time.sleep(seconds)
    b = ticks(t.pids), status_sum(t.pids, switches), cpu_ns(t.pids)
    table.value(f"idle for {seconds} s: CPU", b[0] - a[0], "ticks", most=0,
                digits=0)
    table.value(f"idle for {seconds} s: CPU, by the scheduler",
                (b[2] - a[2]) / 1000, "us", digits=0)
    table.value(f"idle for {seconds} s: context switches", b[1] - a[1],
                "times", digits=0)


def idle_connections(t, n):
    """Each has asked once, so that what asking leaves behind counts."""
    title = f"{n} idle connections: PSS of each"
    if not ROOT:
        table.skip(title, "needs root")
        return
    before = pss_kib(t.pids)
    conns = [t.client() for _ in range(n)]
    for c in conns:
        good(c.cmd("LIST"))
    time.sleep(0.5)
    grown = pss_kib(t.pids) - before
    for c in conns:
        c.close()
    table.value(title, grown / n, "KiB", most=4, digits=2)


# --- terminals ---------------------------------------------------------------

ZEROES = ("/bin/dd", "if=/dev/zero", "bs=1M", "count=100", "status=none")


def first_byte(t):
    """Milliseconds from NEW to the first byte that the program writes."""
    with contextlib.closing(t.client()) as c:
        began = time.monotonic()
        c.send("NEW tty -- echo x\n")
        sid = good(c.json())["id"]
        c.send(f"START {sid}\nFOLLOW {sid}\n")
        good(c.json())
        good(c.json())
        took = (time.monotonic() - began) * 1000
        while not good(c.json()).get("final"):
            pass
        good(c.cmd("DELETE " + sid))
    return took


def on_tty(c, command):
    return good(c.cmd(f"NEW tty -- {command}"))["id"]


def tty_rate(t):
    size = 100 * MIB
    ours, bare = [], []
    with contextlib.closing(t.client()) as c:
        sid = on_tty(c, f"sh -c 'stty raw; exec {' '.join(ZEROES)}'")
        flood(c, sid, size)
        for _ in range(ROUNDS):
            r = json.loads(run_tool("pty", *ZEROES))
            bare.append(r["ns"] / 1e9)
            ours.append(flood(c, sid, size))
        good(c.cmd("DELETE " + sid))
    table.ratio("100 MiB through a raw terminal into the ring: rate",
                100 / median(ours), 100 / median(bare), "MiB/s", least=0.6)


def idle_terminals(t, n):
    title = f"{n} idle terminals: PSS above idle"
    if not ROOT:
        table.skip(title, "needs root")
        return
    before = pss_kib(t.pids)
    with contextlib.closing(t.client()) as c:
        for _ in range(n):
            good(c.cmd("START " + on_tty(c, "cat")))
    time.sleep(1)
    table.value(title, (pss_kib(t.pids) - before) / 1024, "MiB", most=12,
                digits=2)
    begin = ticks(t.pids)
    time.sleep(1 if QUICK else 5)
    table.value(f"{n} idle terminals: CPU", ticks(t.pids) - begin, "ticks",
                most=0, digits=0)


def whole_output(c, sid, want):
    out = b""
    while len(out) < len(want):
        r = good(c.cmd(f"OUTPUT {sid} {len(out)} base64"))
        data = base64.b64decode(r["output"])
        if not data:
            break
        out += data
    return out == want


def complete_runs(t, n):
    """How many runs have all of their output when they have ended."""
    want = b"".join(b"%d\r\n" % i for i in range(1, 200001))
    with contextlib.closing(t.client()) as c:
        sid = on_tty(c, "seq 1 200000")
        whole = 0
        for _ in range(n):
            good(c.cmd("START " + sid))
            good(c.cmd(f"WAIT {sid} 60"))
            whole += whole_output(c, sid, want)
    table.value(f"seq 1 200000: complete, of {n} runs", whole, "runs",
                least=n, digits=0)


def figure_tty():
    with Target("max-sessions 300\npty-scrollback 2M") as t:
        for _ in range(5):
            first_byte(t)
        table.value("NEW and START of a terminal to its first byte: p50",
                    median([first_byte(t) for _ in range(
                        20 if QUICK else 100)]), "ms", most=8, digits=2)
        tty_rate(t)
        complete_runs(t, 20 if QUICK else 200)
        idle_terminals(t, 200)


# --- what one client does to another -----------------------------------------

def bomb():
    """A small archive of 2 GiB: gzip members repeat at no cost."""
    head = io.BytesIO()
    with tarfile.open(fileobj=head, mode="w", format=tarfile.USTAR_FORMAT) \
            as tar:
        tar.add(tool("tiny"), "prog")
    prog = head.getvalue()[:1024]
    info = tarfile.TarInfo("zeros")
    info.size = 2048 * MIB
    zeros = gzip.compress(bytes(64 * MIB), 1)
    return gzip.compress(prog + info.tobuf(tarfile.USTAR_FORMAT)) + \
        zeros * 32 + gzip.compress(bytes(1024))


def delay_bomb(t, data):
    with contextlib.closing(t.client()) as c:
        answer = c.upload(data, "prog")
    if answer.get("error_code") != "max_total_bytes_reached":
        raise RuntimeError(f"a bomb was answered: {answer}")


def delay_sysroot(t):
    """Some seconds of packing, then the client goes away: by a reset, as a
    close alone may be that of a client which still wants the answer."""
    with contextlib.closing(t.client()) as c:
        c.s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                       struct.pack("ii", 1, 0))
        c.send("SYSROOT\n")
        c.s.settimeout(1 if QUICK else 4)
        with contextlib.suppress(TimeoutError):
            line = c.recv_line()
            if not line.startswith(b"SYSROOT "):
                raise RuntimeError(f"SYSROOT: {line!r}")


def delay_pipelined(t, n=60000):
    p = subprocess.run([tool("load"), str(t.port), "1", str(n), str(n), "0",
                        "LIST"], input="go\n", stdout=subprocess.PIPE,
                       text=True, timeout=120)
    if json.loads(p.stdout.splitlines()[-1])["answers"] != n:
        raise RuntimeError(f"not {n} answers: {p.stdout}")


def delay_stop(t):
    with contextlib.closing(t.client()) as c:
        sid = session(c, "job", "stubborn")
        good(c.cmd(f"START {sid}"))
        time.sleep(0.1)
        if good(c.cmd(f"STOP {sid}"))["state"] != "STOPPED":
            raise RuntimeError("STOP was answered before the program stopped")
        good(c.cmd(f"DELETE {sid}"))


def delay_flood(t):
    size = (100 if QUICK else 500) * MIB
    with contextlib.closing(t.client()) as c:
        sid = session(c, "job", f"flood {size}")
        flood(c, sid, size)
        good(c.cmd(f"DELETE {sid}"))


def figure_delay():
    data = bomb()
    rounds = 1 if QUICK else 5
    with Target() as t:
        with contextlib.closing(t.client()) as c:
            session(c)
        for title, act in (
                ("nothing else", lambda: time.sleep(1)),
                ("a tar bomb", lambda: delay_bomb(t, data)),
                ("SYSROOT", lambda: delay_sysroot(t)),
                ("60000 pipelined LISTs", lambda: delay_pipelined(t)),
                ("STOP of a SIGTERM-ignorer", lambda: delay_stop(t)),
                ("an output flood", lambda: delay_flood(t))):
            try:
                table_wait(title, t, act, rounds)
            except Exception:
                failure(title)


# --- who a connection is -----------------------------------------------------

# of documentation, and of nobody outside of a network that is ours alone
ADDRESS = "192.0.2.1"
NETWORK = ("unshare", "-n", "sh", "-c", "ip link set lo up && ip address add "
           f"{ADDRESS}/32 dev lo && exec \"$@\"", "sh")
FIRSTS = 20 if QUICK else 200


def firsts(address, port, when, request, pids):
    """Microseconds of CPU in each of the processes, and until the answer,
    for one first request."""
    p = subprocess.Popen(
        [tool("firsts"), address, str(port), str(FIRSTS), when],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    p.stdin.write(request + "\n")
    p.stdin.flush()
    if p.stdout.readline() != "ready\n":
        raise RuntimeError("firsts: could not connect")
    # until all have been accepted and looked up
    time.sleep(0.3)
    before = [cpu_ns([x]) for x in pids]
    p.stdin.write("\n")
    p.stdin.flush()
    line = p.stdout.readline()
    # and all has been logged
    time.sleep(0.1)
    used = [cpu_ns([x]) - b for x, b in zip(pids, before)]
    p.communicate("\n")
    return ([u / 1000 / FIRSTS for u in used],
            json.loads(line)["first"]["p50"] / 1000)


def auth_costs(address, conf):
    """CPU of all processes for AUTH; for WHOAMI, which goes the same way but
    for the log; and the time until the answer of AUTH."""
    auth, whoami, wait = [], [], []
    # strangers of one address have a sixteenth of all connections
    with Target(conf + "max-connections 4000\n"
                "max-connections-per-user 1000\n") as t:
        with contextlib.closing(t.client()) as c:
            token = good(c.cmd("TOKEN create"))["token"]
        for _ in range(ROUNDS):
            cpu, us = firsts(address, t.port, "early", "AUTH " + token,
                             t.pids)
            auth.append(sum(cpu))
            wait.append(us)
            cpu, us = firsts("127.0.0.1", t.port, "early", "WHOAMI", t.pids)
            whoami.append(sum(cpu))
    return [median(x) for x in (auth, whoami, wait)]


def in_a_network(cpus=""):
    """The same by a copy of this program that has one to itself."""
    p = subprocess.run([*NETWORK, sys.executable, os.path.abspath(__file__)],
                       env=dict(os.environ, BENCH_AUTH="1", BENCH_CPUS=cpus),
                       timeout=300,
                       stdout=subprocess.PIPE, check=True)
    return json.loads(p.stdout)


def figure_auth():
    if ROOT:
        auth, whoami, wait = in_a_network()
    else:
        auth, whoami, wait = auth_costs("127.0.0.1", "")
    table.value("AUTH of a connection that is there (WHOAMI): CPU", auth,
                "us", most=50, baseline=whoami)
    table.value("  until its answer", wait, "us")
    # what is left of both when no other processor is woken, which costs more
    # the busier a virtual machine's host is
    if ROOT:
        auth, whoami, _ = in_a_network("one")
        table.value("  AUTH (WHOAMI) with all on one processor: CPU", auth,
                    "us", baseline=whoami)


def figure_identity():
    """Of the look-up alone there is only its CPU: it is done on the way to
    the first answer, which is told beside that of a server without."""
    cpu, wait, bare = [], [], []
    with Target("max-connections-per-user 1000") as t, \
            Server("echo", 300) as echo:
        idproc = t.daemon.role_pid("idproc")
        for _ in range(ROUNDS):
            bare.append(firsts("127.0.0.1", echo.port, "late", "LIST",
                               echo.pids)[1])
            used, us = firsts("127.0.0.1", t.port, "late", "LIST", [idproc])
            cpu.append(used[0])
            wait.append(us)
    table.value("identity of a loopback client: CPU of the look-up",
                median(cpu), "us", most=100)
    table.value("  connect to the first answer, more than an echo's",
                median(wait) - median(bare), "us", most=100)


# --- terminals ---------------------------------------------------------------

def figure_terminal():
    """How much goes through, and what one who does not read costs others."""
    rounds = 1 if QUICK else 5
    raw, eight, cooked, stalled = [], [], [], []
    bare_raw, bare_cooked, other = [], [], []
    with Target() as t, ttybench.File(8 if QUICK else 64) as f:
        x = ttybench.Terminals(t, run_tool)
        for _ in range(rounds):
            bare_raw.append(ttybench.bare(f.name, True))
            raw.append(x.cat(f, True))
            stalled.append(x.cat(f, True, stalled=1))
            eight.append(x.cat(f, True, clients=8))
            bare_cooked.append(ttybench.bare(f.name, False))
            cooked.append(x.cat(f, False))
            other.append(ttybench.tmux(f))
    table.value("terminal, raw: to one client, and a bare pty", median(raw),
                "MB/s", least=100, baseline=median(bare_raw))
    table.value("  to eight clients together", median(eight), "MB/s",
                least=350)
    # a quarter of a second, once, comes before it is known to be stalled
    table.ratio("  to one beside one that has stalled, and alone",
                median(stalled), median(raw), "MB/s", least=0.9)
    table.value("terminal, cooked: to one client, and a bare pty",
                median(cooked), "MB/s", baseline=median(bare_cooked))
    if other[0] is None:
        table.skip("  and to tmux attached", "there is no tmux")
    else:
        table.ratio("  and to tmux attached", median(cooked), median(other),
                    "MB/s", least=2)


@contextlib.contextmanager
def flooding(x, path):
    """Another session whose client reads what it can."""
    sid = x.new(f"stty -echo -opost; echo ready; read x; "
                f"while :; do cat {path}; done")
    p = subprocess.Popen([tool("term"), str(x.t.port), "flood", sid, "1"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    try:
        yield
    finally:
        p.kill()
        p.wait()
        x.end(sid)


def figure_typing():
    n = 50 if QUICK else 500
    with Target() as t, ttybench.File(8) as f:
        x = ttybench.Terminals(t, run_tool)
        idle, _ = x.echo(n)
        with flooding(x, f.name):
            busy50, busy99 = x.echo(n)
        stop = median([x.stop(10_000_000) for _ in range(ROUNDS)])
    table.value("echo of a key", idle, "us p50", most=250, digits=0)
    table.value("  during another session's flood", busy50, "us p50",
                most=700, digits=0)
    table.value("  the same", busy99 / 1e3, "ms p99", most=6)
    table.value("^C in a flood, for a reader of 10 MB/s", stop, "ms",
                most=60)


def figure_terminals():
    """Many that do nothing, and a new one."""
    n = 20 if QUICK else 200
    with Target("max-sessions 300\n", web=True) as t:
        c = t.client()
        token = good(c.cmd("TOKEN create"))["token"]
        first = ttybench.first_byte(t, token, 3 if QUICK else 30)
        t.refresh()
        before = pss_kib(t.pids) if ROOT else 0
        for _ in range(n):
            good(c.cmd("NEW tty start=now -- sleep 1000"))
        roles = [p for p in t.pids if os.path.exists(f"/proc/{p}")]
        cpu, begun = cpu_ns(roles), time.monotonic()
        time.sleep(1 if QUICK else 5)
        share = (cpu_ns(roles) - cpu) / (time.monotonic() - begun) / 1e7
        more = (pss_kib(roles) - before) / 1024 if ROOT else 0
    table.value("POST of a terminal to its first byte", median(first),
                "ms p50", most=8)
    table.value(f"{n} idle terminals: CPU of the daemon", share, "%",
                most=0.1, digits=2)
    if ROOT:
        table.value("  memory of the daemon's processes, rings and all",
                    more, "MiB")


# --- debuggers ---------------------------------------------------------------

def figure_debugger():
    """Questions to a program that has stopped, each a process."""
    n = 10 if QUICK else 200
    with dbgbench.Programs() as p, \
            Target("max-sessions 80\ndebugger output-bytes 1M\n") as t:
        d = dbgbench.Debugger(os.path.join(dl.BIN, "debugger"), t.daemon,
                              p.dir)
        dap = dbgbench.Dap(p.c, dbgbench.line_of("total++"))
        own = dap.evaluate_ms(n)
        dap.close()
        start, first = [], 3 if QUICK else 5
        for _ in range(first):
            begun = time.monotonic()
            d.ask("start", "-b", "twice", p.c)
            start.append((time.monotonic() - begun) * 1e3)
            d.ask("stop")
        d.ask("start", "-b", f"steps.c:{dbgbench.line_of('total++')}", p.c)
        d.ask("breakpoint", "remove", "all")
        bare = d.timed(run_tool, n, "--version")
        ask = d.timed(run_tool, n, "print", "x")
        step = d.timed(run_tool, n, "next")
        d.ask("stop")
        debugger_rows(own, bare, ask, step, median(start),
                      dbgbench.gdb_ms(p, first))
        debugger_crowds(d, p)


def debugger_rows(own, bare, ask, step, start, batch):
    table.value("debugger print x, exec to exit", ask, "ms p50",
                most=round(own + 3, 1), baseline=own, digits=2)
    table.value("  of that, a process that asks nothing", bare, "ms p50",
                digits=2)
    table.value("debugger next with all that a stop shows", step, "ms p50",
                most=6, digits=2)
    table.value("debugger start to a breakpoint, then print x",
                start + ask, "ms", baseline=batch)
    table.ratio("  a further question, beside gdb -batch", ask, batch, "ms",
                most=0.1)


def debugger_crowds(d, p):
    few, many = (2, 4) if QUICK else (8, 50)
    took = dbgbench.together(d, p.c, "twice", few)
    table.value(f"{few} sessions of lldb-dap, all stopped", took, "s")
    took = dbgbench.together(d, p.go, "main.twice", many)
    table.value(f"{many} sessions of delve, all stopped", took, "s")
    begun = time.monotonic()
    o = d.ask("start", "--run", p.flood, "--", "flood")
    table.value("100 MB of output under a debugger", 104.9 /
                (time.monotonic() - begun), "MB/s")
    table.value("  the answer at its end", len(json.dumps(o)) / 1024, "KiB",
                most=64)
    d.ask("stop")


# --- the web -----------------------------------------------------------------

def web_requests(t, token, title, method, path, body, most):
    n = 100 if QUICK else 1500
    with contextlib.closing(webbench.Asker(
            t.daemon.web, method, path, token, body)) as us:
        with Server("web", us.ask()) as bare, contextlib.closing(
                webbench.Asker(bare.port, method, path, token, body)) as it:
            it.ask()
            ours, least = [], []
            for _ in range(ROUNDS):
                least.append(it.cpu_us(bare, cpu_ns, n))
                ours.append(us.cpu_us(t, cpu_ns, n))
    table.ratio(title, median(ours), median(least), "us", most=most)


def figure_http():
    """Requests of HTTP, beside an answer of the same library and size."""
    with Target(web=True) as t, contextlib.closing(t.client()) as c:
        token = good(c.cmd("TOKEN create"))["token"]
        sid = session(c)
        web_requests(t, token, "GET the list of sessions: CPU", "GET",
                     "/api/v1/sessions", b"", 3)
        web_requests(t, token, "PUT of a name, with the spawner: CPU", "PUT",
                     f"/api/v1/sessions/{sid}/name", b'{"name":"x"}', 8)


def event_costs(t, c, followers, ids):
    """Microseconds for each change and follower, until the last has heard."""
    followers.drain()
    before, rounds = cpu_ns(t.pids), 3 if QUICK else 20
    for i in range(rounds):
        name = f"mark{i}x"
        good(c.cmd(f"NAME {ids[i % len(ids)]} {name}"))
        got = followers.heard(name.encode(), 30)
        if got != len(followers.socks):
            raise RuntimeError(f"only {got} followers heard of a change")
    return (cpu_ns(t.pids) - before) / 1000 / rounds / len(followers.socks)


def figure_events():
    """Many who follow events: what one costs that does nothing, a change,
    and a change of somebody else's among many sessions."""
    n, many = (50, 20) if QUICK else (500, 200)
    with Target("max-connections 1100\nmax-connections-per-user 1100\n"
                "max-sessions 300\n", web=True) as t, \
            contextlib.closing(t.client()) as c:
        token = good(c.cmd("TOKEN create"))["token"]
        ids = [good(c.cmd("NEW -- /bin/true"))["id"]]
        webbench.whoami(t.daemon.web, token)
        before = pss_kib(t.pids) if ROOT else 0
        with contextlib.closing(webbench.Followers(
                t.daemon.web, token, n)) as f:
            few = event_costs(t, c, f, ids)
            if ROOT:
                table.value(f"{n} followers of events: PSS of each",
                            (pss_kib(t.pids) - before) / n, "KiB", most=64)
            cpu, begun = cpu_ns(t.pids), time.monotonic()
            time.sleep(1 if QUICK else 5)
            share = (cpu_ns(t.pids) - cpu) / (time.monotonic() - begun) / 1e7
            table.value("  CPU of the daemon while nothing happens", share,
                        "%", most=0.5, digits=2)
            for _ in range(many - 1):
                ids.append(good(c.cmd("NEW -- /bin/true"))["id"])
            table.ratio(f"  a change among {many} sessions: CPU per follower",
                        event_costs(t, c, f, ids), few, "us", most=1.5)


# --- the tracer --------------------------------------------------------------

def figure_tracer():
    engbench.figure(table, TOOLS, os.path.join(TOOLS, "../helpers/trc_harness"),
                    QUICK)


def figure_redis():
    redisbench.figure(table, Quiet("user"), QUICK)


def figure_timeline():
    trcbench.figure(table, os.path.join(os.path.dirname(TOOLS),
                                          "helpers/trc_store"), QUICK)


def figure_symbols():
    symbench.figure(table, os.path.join(TOOLS, "../helpers/trc_symbols"),
                    os.path.join(dl.LIBEXEC, "symbols"), QUICK)


# --- the run -----------------------------------------------------------------

FIGURES = {
    "status": figure_status,
    "list": figure_list,
    "list32": figure_list32,
    "upload": figure_upload,
    "tls": figure_tls,
    "start": figure_start,
    "image": figure_image,
    "capture": figure_capture,
    "follow": figure_follow,
    "idle": figure_idle,
    "tty": figure_tty,
    "delay": figure_delay,
    "auth": figure_auth,
    "identity": figure_identity,
    "terminal": figure_terminal,
    "typing": figure_typing,
    "terminals": figure_terminals,
    "debugger": figure_debugger,
    "http": figure_http,
    "events": figure_events,
    "timeline": figure_timeline,
    "symbols": figure_symbols,
    "tracer": figure_tracer,
    "redis": figure_redis,
}
failures = []


def failure(name):
    failures.append(name)
    table.skip(name, "failed")
    traceback.print_exc()


def machine(when):
    return (f"{when} {time.strftime('%H:%M:%S')}: load "
            f"{' '.join(read('/proc/loadavg').split()[:4])}, "
            f"{os.cpu_count()} cores, {platform.system()} "
            f"{platform.release()}")


def cpu_times():
    return [int(v) for v in read("/proc/stat").split("\n", 1)[0].split()[1:9]]


def busy(before):
    """All of the machine, us and whoever else, and what its host took."""
    used = [b - a for a, b in zip(before, cpu_times())]
    all_ = max(sum(used), 1)
    return (f"between: cores {100 - 100 * (used[3] + used[4]) // all_} % "
            f"busy, {100 * used[7] // all_} % stolen by the host")


def chosen():
    names = [n for n in os.environ.get("BENCH", "").split(",") if n] or \
        list(FIGURES)
    for n in names:
        if n not in FIGURES:
            sys.exit(f"BENCH: no figure {n!r}; there are "
                     f"{', '.join(FIGURES)}")
    return names


def main():
    names = chosen()
    # a thousand connections of ours, and their servers' ends elsewhere
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(8192, hard), hard))
    if os.environ.get("BENCH_AUTH"):
        if os.environ.get("BENCH_CPUS") == "one":
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        print(json.dumps(auth_costs(ADDRESS, "listen on localhost\nlisten "
                                    f"on {ADDRESS} plain\n")))
        return
    start, times = machine("start"), cpu_times()
    for n in names:
        print(f"measuring {n}", file=sys.stderr, flush=True)
        try:
            FIGURES[n]()
        except Exception:
            failure(n)
    print()
    print(start)
    print(machine("end  "))
    print(busy(times))
    print("medians of interleaved rounds" +
          (", quick: too few to judge by" if QUICK else ""))
    print()
    table.print()
    if failures:
        sys.exit("could not measure: " + ", ".join(failures))


if __name__ == "__main__":
    main()
