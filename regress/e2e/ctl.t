#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# debuglanternctl against a stand-in for the daemon: what it sends, what it
# prints, where, and with which exit code. $DL_BIN names its directory.
import fcntl
import json
import os
import pty
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import termios
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from fake_server import NONCE, FakeServer, welcome  # noqa: E402

CTL = os.path.join(os.path.abspath(os.environ.get(
    "DL_BIN", os.path.join(HERE, "../../build/bin"))), "debuglanternctl")
count = failed = 0


def ok(good, name, *seen):
    global count, failed
    count += 1
    print("%sok %d - %s" % ("" if good else "not ", count, name), flush=True)
    if not good:
        failed += 1
        for s in seen:
            print("# saw: %r" % (s,), flush=True)


def same(seen, wanted, name):
    ok(seen == wanted, name, seen, wanted)


class Result:
    def __init__(self, code, out, err):
        self.code, self.out, self.err = code, out, err

    def __repr__(self):
        return repr((self.code, self.out, self.err))


def environment(extra):
    env = {k: v for k, v in os.environ.items()
           if k not in ("DEBUGLANTERN_TARGET", "NO_COLOR")}
    env.update(LC_ALL="C.UTF-8", TERM="xterm", **extra)
    return env


def ctl(*args, data=b"", target=None, cwd=None, **extra):
    """Runs the client without a terminal."""
    t = ["-t", target or server.target]
    p = subprocess.run([CTL, *t, *args], input=data, capture_output=True,
                       env=environment(extra), timeout=60, cwd=cwd)
    return Result(p.returncode, p.stdout, p.stderr)


def on_terminal(*args, keys=(), size=(24, 100), **extra):
    """Runs the client on a terminal of its own; keys are pairs of seconds to
    wait and what to type then."""
    pid, master_fd = pty.fork()
    if pid == 0:
        os.execve(CTL, [CTL, "-t", server.target, *args], environment(extra))
    fcntl.ioctl(master_fd, termios.TIOCSWINSZ, struct.pack(
        "HHHH", size[0], size[1], 0, 0))

    def send():
        for wait, key in keys:
            time.sleep(wait)
            os.write(master_fd, key)
    threading.Thread(target=send, daemon=True).start()
    out = b""
    try:
        while data := os.read(master_fd, 65536):
            out += data
    except OSError:
        pass
    _, status = os.waitpid(pid, 0)
    os.close(master_fd)
    return Result(os.waitstatus_to_exitcode(status), out, b"")


def script(text):
    f = tempfile.NamedTemporaryFile("w", dir=work, delete=False)
    f.write("#!/bin/sh\n" + text + "\n")
    f.close()
    return f.name


def upload(text="exit 0", *options):
    r = ctl("upload", script(text), *options)
    return json.loads(r.out)["id"]


def spawn(*args, by=(), **kwargs):
    return subprocess.Popen([*by, CTL, "-t", server.target, *args],
                            env=environment({}), **kwargs)


def raw_server(answer, after=None):
    """A server that answers a line with fixed bytes and closes."""
    s = socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                c, _ = s.accept()
            except OSError:
                return
            welcome(c)
            c.sendall(answer)
            if after is not None:
                time.sleep(after)
            c.close()
    thread = threading.Thread(target=serve, daemon=True)
    thread.start()

    def close():
        s.shutdown(socket.SHUT_RDWR)
        thread.join()
        s.close()
    return close, "127.0.0.1:%d" % s.getsockname()[1]


def test_usage():
    for args in ([], ["nonsense"], ["list", "extra"], ["status"],
                 ["list", "--nonsense"], ["upload", "/no/such/file"],
                 ["upload", "/dev/null"], ["output", "x", "--offset", "-1"],
                 ["output", "x", "--offset", "1e9"], ["upload", "--name"],
                 ["list", "--json=1"], ["list", "--json", "--table"],
                 ["status", "two words"], ["status", "a\nLIST"],
                 ["status", ""], ["env", "x", "NOEQUALS"],
                 ["help", "nonsense"]):
        r = ctl(*args)
        ok(r.code == 2 and r.out == b"" and r.err != b"",
           "usage error: %r" % (args,), r)
    same(server.lines, [], "nothing of a wrong command line is sent")
    for target in ("host:0", "host:65536", "host:x", ":1", "[::1", "[::1]1",
                   "h:+7", "h:"):
        r = ctl("list", target=target)
        ok(r.code == 2 and b"HOST:PORT" in r.err, "target " + target, r)
    r = ctl("--version")
    ok(r.code == 0 and r.out.startswith(b"debuglanternctl "), "--version", r)
    r = ctl("help", "run")
    ok(r.code == 0 and b"--bundle" in r.out and b"usage:" in r.out,
       "help of a command", r)
    names = [line.split(b":")[0] for line in
             ctl("help", "--completion").out.splitlines()]
    ok(b"upload" in names and b"gdb-pipe" in names and b"--json" in names,
       "list for completion", names)


def test_unreachable():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        r = ctl("list", target="127.0.0.1:%d" % s.getsockname()[1])
    ok(r.code == 3 and b"refused" in r.err and r.out == b"", "no daemon", r)
    r = ctl("list", target="no-such-host.invalid")
    ok(r.code == 3 and b"cannot find host" in r.err, "no such host", r)
    for answer, words, name in (
            (b"", b"without an answer; is that the web port", "closed at "
             "once"),
            (b'[{"id":"1234"', b"in the middle", "half an answer"),
            (b"HTTP/1.0 400 Bad\r\n", b"not JSON", "not the protocol"),
            (b'{"id":"x"}\n', b"not a list", "an object for a list"),
            (b'[]]\n', b"not JSON", "JSON and a half")):
        for args in (["list"], ["--json", "list"]):
            close, target = raw_server(answer)
            r = ctl(*args, target=target)
            close()
            ok(r.code == 3 and words in r.err and r.out == b"",
               name + " " + args[0], r)
    close, target = raw_server(b"[", after=5)
    began = time.monotonic()
    r = ctl("--timeout", "1", "list", target=target)
    ok(r.code == 3 and b"within 1 s" in r.err and
       time.monotonic() - began < 4, "silent daemon and --timeout", r)
    close()
    close, target = raw_server(b'{"weakened":[null],"roles":{"a":null,"b":'
                               b'"running"},"mode":null}\n')
    r = ctl("--table", "version", target=target)
    ok(r.code == 0 and b"a null, b running" in r.out,
       "null where a string belongs", r)
    close()
    close, target = raw_server(b'SYSROOT 100\nabc')
    path = os.path.join(work, "sysroot")
    r = ctl("sysroot", "-o", path, target=target)
    ok(r.code == 3 and b"3 of 100" in r.err and
       not [n for n in os.listdir(work) if n.startswith("sysroot")],
       "a sysroot that breaks off leaves no file", r)
    close()
    server.lines.clear()
    r = ctl("sysroot", "-o", "/nosuch/x")
    ok(r.code == 2 and b"/nosuch/x" in r.err and server.lines == [],
       "nothing is packed that could not be written", r)
    path = os.path.join(work, "sysroot")
    server.odd["SYSROOT"] = lambda h, rest: h.send(
        {"ok": False, "error_code": "sysroot_failed", "message": "no"})
    r = ctl("sysroot", "-o", path)
    del server.odd["SYSROOT"]
    ok(r.code == 1 and not [n for n in os.listdir(work) if
                            n.startswith("sysroot")],
       "a sysroot that is refused leaves no file", r)
    close, target = raw_server(b'{"offset":0,"total":5,"output":"a$b=",'
                           b'"encoding":"base64"}\n')
    r = ctl("output", "x", target=target)
    ok(r.code == 3 and r.out == b"", "output that is not base64", r)
    close()


def test_hello():
    """TCP begins with HELLO, and nothing else does."""
    r = ctl("list")
    same((r.code, server.hellos, server.lines),
         (0, ["HELLO", "HELLO " + NONCE], ["LIST"]), "HELLO on TCP")
    server.hellos.clear()
    token = "dlt_" + "A" * 43
    server.tokens[token] = "alice"
    r = ctl("list", DEBUGLANTERN_TOKEN=token)
    same((r.code, server.hellos), (0, []), "none with a token")
    with FakeServer(path=os.path.join(work, "here")) as here:
        r = ctl("list", target=here.target)
        same((r.code, here.hellos, here.lines), (0, [], ["LIST"]),
             "none on a local socket")

    def refuse(code):
        return lambda h, rest: h.send({"ok": False, "error_code": code,
                                       "message": "no"})
    server.odd["HELLO"] = refuse("unknown_command")
    r = ctl("list")
    same((r.code, r.out), (0, b"[]\n"), "a daemon that does not know it")
    server.odd["HELLO"] = refuse("auth_required")
    r = ctl("list")
    ok(r.code == 1 and b"auth_required" in r.err,
       "one that wants a token says so as to any other command", r)
    server.lines.clear()
    for nonce in ("", "x", "a b", "a" * 300, 7, None):
        server.odd["HELLO"] = lambda h, rest, n=nonce: h.send({"nonce": n})
        r = ctl("list")
        ok(r.code == 3 and server.lines == [] and b"nonce" in r.err,
           f"a nonce of {str(nonce)[:5]!r} is none", r)
    del server.odd["HELLO"]


def test_refused():
    r = ctl("status", "nobody")
    same((r.code, r.out, r.err), (1, b"", b"debuglanternctl: not_found: "
         b"there is no session \"nobody\"\n"), "a refusal")
    r = ctl("--json", "status", "nobody")
    ok(r.code == 1 and r.out == b"" and
       json.loads(r.err)["error_code"] == "not_found",
       "a refusal as JSON on stderr", r)
    server.odd["STATUS"] = lambda h, rest: h.send(
        {"ok": False, "error_code": "x\x1b[2J", "message": "a\nb\u202ec"})
    r = ctl("status", "x")
    del server.odd["STATUS"]
    same(r.err, b"debuglanternctl: x\\x1b[2J: a\\nb\\u202ec\n",
         "messages are made harmless")

    def refuse(h, rest):
        h.send({"ok": False, "error_code": "max_total_bytes_reached",
                "message": "no room"})
        h.sock.shutdown(socket.SHUT_RDWR)
        raise BrokenPipeError
    server.odd["UPLOAD"] = refuse
    path = os.path.join(work, "big")
    with open(path, "wb") as f:
        f.truncate(64 << 20)
    r = ctl("upload", path)
    ok(r.code == 1 and b"no room" in r.err,
       "an upload refused before its payload", r)
    del server.odd["UPLOAD"]


def test_file_name():
    """The daemon is told it, if it is one that understands that."""
    path = os.path.join(work, "two words\u00e9\t")
    with open(path, "wb") as f:
        f.write(b"#!/bin/sh\nexit 3\n")
    said = {}
    for what, extensions in ("old", ["FOLLOW"]), ("new", ["UPLOAD file"]):
        server.odd["VERSION"] = lambda h, rest, e=extensions: h.send(
            {"version": "9.9", "extensions": e})
        server.lines.clear()
        for options in ([], ["--bundle", "bin/x"]):
            r = ctl("upload", "-q", path, *options)
            ok(r.code == 0, f"{what}: uploaded", r)
        said[what] = [x for x in server.lines if x.startswith("UPLOAD")]
        del server.odd["VERSION"]
    with open(os.path.join(work, "prog"), "wb") as f:
        f.write(b"#!/bin/sh\n")
    server.odd["VERSION"] = lambda h, rest: h.send(
        {"version": "9.9", "extensions": ["UPLOAD file"]})
    for path, cwd in ((work + "/prog", "/"), ("./prog", work),
                      ("././prog", work), ("prog", work)):
        server.lines.clear()
        r = ctl("upload", "-q", path, cwd=cwd)
        ok(r.code == 0 and "UPLOAD 10 file=%s/prog" % work in server.lines,
           f"{path} in {cwd}: the daemon is told its path", server.lines)
    del server.odd["VERSION"]
    same(said["new"], ["UPLOAD 17 file=two_words\u00e9_",
                       "UPLOAD 17 bin/x file=two_words\u00e9_"],
         "the name goes with the upload, as a word")
    same(said["old"], ["UPLOAD 17", "UPLOAD 17 bin/x"],
         "an older daemon gets what it understands")


def refused_as(verb, code, message, *args):
    """What the client makes of a refusal."""
    server.odd[verb] = lambda h, rest: h.send(
        {"ok": False, "error_code": code, "message": message})
    r = ctl(*args)
    del server.odd[verb]
    ok(r.code == 1 and r.out == b"", "refused: " + " ".join(args), r)
    return r.err.decode().removeprefix("debuglanternctl: ").strip()


def test_own_words():
    """People have typed words of the client's, and know no others."""
    sid = upload()
    r = ctl("delete", "no1", sid, "no2")
    ok(r.code == 1 and r.err.count(b"\n") == 2 and b'"no1"' in r.err and
       b'"no2"' in r.err and sid.encode() not in r.err,
       "delete names the ids that there are not", r)
    for verb, code, message, args, wanted in (
            ("STATUS", "ambiguous_id", "more than one session begins with "
             "that; give more characters", ["status", "ab"],
             "ambiguous_id: more than one session begins with \"ab\"; give "
             "more characters"),
            ("TRACER", "not_found", "session not found", ["trace", "frob"],
             "not_found: \"frob\" is neither a session nor a subcommand of "
             "trace: run, remove, list, status, functions, stop"),
            ("TRACER", "not_found", "session not found",
             ["trace", "status", "frob"],
             "not_found: there is no session \"frob\""),
            ("TRACER", "no_tracer", "the session has no tracer; TRACER start "
             "gives it one", ["trace", "stop", "work"],
             "no_tracer: the session has no tracer; \"debuglanternctl trace "
             "work PATTERN\" gives it one"),
            ("LIMITS", "invalid_argument", "there is no such limit; usage: "
             "LIMITS <id> [cpu=<n>]", ["limits", "work", "foo=1"],
             "invalid_argument: foo=1: there is no such limit; there are "
             "cpu, as, nofile, nproc and core; usage: debuglanternctl limits "
             "ID LIMIT=VALUE ..."),
            ("SIGNAL", "invalid_argument", "there is no such signal",
             ["signal", "work", "FOO"],
             "invalid_argument: FOO: there is no such signal"),
            ("TOKEN", "invalid_argument", "<token-id> is 8 hexadecimal "
             "digits, as TOKEN list shows them; usage: TOKEN create",
             ["token", "revoke", "nosuch"],
             "invalid_argument: nosuch: an id is 8 hexadecimal digits, as "
             "\"debuglanternctl token list\" shows them; usage: "
             "debuglanternctl token [OPTION ...] create | list | revoke ID"),
            ("TOKEN", "not_found", "no such token; TOKEN list shows those "
             "there are", ["token", "revoke", "12345678"],
             "not_found: there is no such token; \"debuglanternctl token "
             "list\" shows those there are"),
            ("START", "invalid_argument", "--sandbox is none, namespaces or "
             "tmpfs; usage: START <id>", ["start", "work", "--sandbox",
                                          "foo"],
             "invalid_argument: --sandbox foo: --sandbox is none, namespaces "
             "or tmpfs; usage: debuglanternctl start [OPTION ...] ID"),
            ("NAME", "invalid_name", "it is used already",
             ["upload", "--name", "greeter", script("exit 0")],
             "invalid_name: greeter: it is used already"),
            ("NAME", "invalid_name", "it is used already",
             ["name", sid, "greeter"],
             "invalid_name: greeter: it is used already"),
            ("STATUS", "some_code", "usage of the disk", ["status", "x"],
             "some_code: usage of the disk")):
        same(refused_as(verb, code, message, *args), wanted,
             " ".join(args[:3]))
    path = script("exit 0")
    seen = refused_as("UPLOAD", "invalid_elf", "a script, not an ELF", "run",
                      path)
    ok(seen.startswith("invalid_elf: %s: a script" % path) and
       "debuglanternctl shell -- PATH" in seen, "run of a script", seen)
    empty = os.path.join(work, "empty")
    with open(empty, "w"):
        pass
    server.lines.clear()
    for command in "upload", "run":
        r = ctl(command, empty)
        ok(r.code == 2 and empty.encode() + b" is empty" in r.err and
           not any(li.startswith("UPLOAD") for li in server.lines),
           command + " of an empty file", r, server.lines)
    here = FakeServer(path=os.path.join(work, "socket"))
    here.odd["TRACER"] = lambda h, rest: h.send(
        {"ok": False, "error_code": "tracer_refused", "message": "no",
         "error": {"code": "EXEC_FAILED", "message": "cannot execute"}})
    r = ctl("trace", "run", empty, target=here.target)
    ok(r.code == 1 and b"cannot execute" in r.err and
       b"%s: empty, not an ELF" % empty.encode() in r.err,
       "trace run of what is no program says what it is", r)
    r = ctl("trace", "run", path, target=here.target)
    ok(r.code == 1 and path.encode() not in r.err, "a script can be one", r)
    here.close()
    r = ctl("run", "--bogus")
    ok(r.code == 2 and b"usage: debuglanternctl run FILE" in r.err and
       b"help run" in r.err, "an unknown option, and the usage", r)


def test_hostile():
    """Answers of other shapes than a daemon's: said, or shown as they are."""
    here = FakeServer(path=os.path.join(work, "hostile"))
    for verb, answer, args, code, words in (
            ("ENVLIST", {"A": None}, ["envlist", "--table", "x"], 0,
             b"A=null"),
            ("TRACER", {"columns": [None], "rows": [[1]]},
             ["timeline", "sql", "x", "select 1", "--format", "table"], 0,
             b"null"),
            ("TRACER", {"columns": [], "rows": []},
             ["timeline", "sql", "x", "select 1", "--format", "table"], 0,
             b""),
            ("TRACER", {"activePatterns": [None]},
             ["trace", "status", "--table", "x"], 0, b"null"),
            ("LOGIN", [], ["--json", "web"], 3, b"LOGIN")):
        here.odd[verb] = lambda h, rest, answer=answer: h.send(answer)
        here.odd["VERSION"] = lambda h, rest: h.send({"web": {"port": 8080}})
        r = ctl(*args, target=here.target)
        ok(r.code == code and words in r.out + r.err,
           "%s: %s" % (" ".join(args), json.dumps(answer)), r)
    here.close()


def test_words():
    sid = upload()
    server.lines.clear()
    vector = ["--port", "8080", "--json", "-t", "", "two words", "it's",
              'a"b', "back\\slash", "$HOME", "`x`", "tab\there", "*", "#",
              "\u00e9", "end\r", "--", "-h"]
    r = ctl("args", sid, *vector)
    ok(r.code == 0 and server.find_args(sid) == vector,
       "an argument vector arrives intact", r, server.lines)
    ctl("args", sid, "--", "--", "x")
    same(server.find_args(sid), ["--", "x"], "only the first -- is ours")
    ctl("args", sid)
    same(server.lines[-1], "ARGS " + sid, "no arguments")
    before = len(server.lines)
    r = ctl("args", sid, "a\nKILL x")
    ok(r.code == 2 and b"line feed" in r.err and
       len(server.lines) == before, "a line feed is refused here", r)
    r = ctl("args", sid, "x" * 66000)
    ok(r.code == 2 and b"65535" in r.err, "a line that is too long", r)
    ctl("env", sid, "A=b c  d", "EMPTY=", "--json=-t")
    same(server.lines[-3:], ["ENV %s A=b c  d" % sid, "ENV %s EMPTY=" % sid,
                             "ENV %s --json=-t" % sid], "variables")
    r = ctl("envlist", sid)
    same(json.loads(r.out), {"--json": "-t", "A": "b c  d", "EMPTY": ""},
         "envlist")
    ctl("envdel", sid, "A")
    same(server.lines[-1], "ENVDEL %s A" % sid, "envdel")
    r = ctl("env", sid, "A=x\nLIST")
    ok(r.code == 2 and b"line feed" in r.err, "a value with a line feed", r)
    r = ctl("env", sid, "A=x\r")
    ok(r.code == 2, "a value that would lose its end", r)
    ctl("start", "--sandbox", "tmpfs", sid, "--network=none", "--split")
    same(server.lines[-1], "START %s --sandbox tmpfs --network none --split"
         % sid, "options of start")
    ctl("wait", sid)
    ctl("limits", sid, "cpu=1", "as=64M")
    same(server.lines[-1], "LIMITS %s cpu=1 as=64M" % sid, "limits")
    ctl("name", sid, "lamp")
    same(json.loads(ctl("status", "lamp").out)["name"], "lamp", "name")
    ctl("name", "lamp")
    same(server.lines[-1], "NAME lamp", "name without a label")
    r = ctl("delete", "nobody", sid)
    ok(r.code == 1 and b"not_found" in r.err and
       json.loads(r.out)["state"] == "DELETED",
       "delete goes on after a refusal", r)


def test_sessions():
    sid = upload("exec sleep 100", "--name", "sleeper")
    same(json.loads(ctl("list").out)[0]["name"], "sleeper", "upload --name")
    same(ctl("upload", "-q", script("exit 3")).out.strip().decode(),
         server.sessions[-1].id, "upload -q prints the id")
    same(json.loads(ctl("start", sid).out)["state"], "RUNNING", "start")
    same(ctl("wait", sid, "0").err.count(b"not started"), 0,
         "wait: it has been started")
    r = ctl("wait", upload("exit 0"), "0")
    ok(b"has not been started yet" in r.err, "wait: it has not", r)
    r = ctl("wait", sid, "0")
    ok(r.code == 1 and json.loads(r.out)["state"] == "RUNNING" and
       b"still RUNNING" in r.err, "wait that is over before the end", r)
    same(json.loads(ctl("signal", sid, "-TERM").out)["id"], sid, "signal")
    r = ctl("wait", sid)
    same((r.code, json.loads(r.out)["signal"]), (0, "SIGTERM"), "wait")
    r = ctl("--table", "list")
    lines = r.out.decode().splitlines()
    ok(lines[0].split()[:3] == ["ID", "NAME", "STATE"] and
       sid[:8] in lines[1] and "SIGTERM" in lines[1] and b"\x1b" not in
       r.out, "--table without a terminal has no colours", r)
    r = ctl("upload", "--bundle", "bin/x", script("exit 0"))
    same(json.loads(r.out)["exec_path"], "bin/x", "upload --bundle")
    for args in (["deps"], ["activity"], ["version"], ["help", "--daemon"]):
        r = ctl(*args)
        ok(r.code == 0 and json.loads(r.out) and r.out.count(b"\n") == 1,
           "%s is one line of JSON" % args[0], r)
    r = ctl("--table", "deps")
    ok(b"apt-get install gdbserver" in r.out, "deps names the remedy", r)
    r = ctl("top", "-n", "2", "-d", "1", "--table")
    same(r.out.count(b"sleeper"), 2, "top -n without a terminal")
    path = os.path.join(work, "root.tar.gz")
    r = ctl("sysroot", "-o", path)
    ok(r.code == 0 and open(path, "rb").read() == server.sysroot,
       "sysroot into a file", r)
    same(ctl("sysroot").out, server.sysroot, "sysroot into a pipe")
    r = ctl("gdb-pipe", sid, data=b"abc")
    same((r.code, r.out), (0, b"+hello+ABC"), "gdb-pipe")
    close, target = raw_server(b"+port+", after=0.3)
    server.odd["GDBPIPE"] = lambda h, rest: h.send(
        {"ok": False, "error_code": "already_debugging", "message": "busy"})
    server.odd["STATUS"] = lambda h, rest: h.send(
        {"id": sid, "debug_port": int(target.split(":")[1])})
    r = ctl("gdb-pipe", sid, data=b"abc")
    same((r.code, r.out), (0, b"+port+"), "gdb-pipe by way of the port")
    close()
    server.odd.clear()
    same(ctl("gdb-pipe", "nobody").code, 1, "gdb-pipe refused")


def test_output():
    sid = upload(r"""printf 'a\000b\377\033[2J"}\nx\ny\n'""")
    wanted = b"a\0b\xff\x1b[2J\"}\nx\ny\n"
    ctl("start", sid)
    ctl("wait", sid)
    same(ctl("output", sid).out, wanted, "output is exact")
    server.lines.clear()
    same(ctl("output", "--raw", "-f", sid).out, wanted, "output --follow")
    same([x.split()[0] for x in server.lines], ["FOLLOW"],
         "which asks once")
    same(ctl("follow", sid, "--offset", "4").out, wanted[4:], "--offset")
    same(ctl("output", sid, "--tail", "2").out, b"x\ny\n", "--tail")
    same(ctl("follow", sid, "--tail", "1").out, b"y\n", "follow --tail")
    o = json.loads(ctl("--json", "output", sid).out)
    same((o["offset"], o["total"]), (0, len(wanted)), "output --json")
    lines = ctl("--json", "follow", sid).out.splitlines()
    ok(all(json.loads(line)["id"] == sid for line in lines) and
       json.loads(lines[-1])["final"], "follow --json", lines)
    r = on_terminal("output", sid)
    same(r.out, b"a\\x00b\\xff\\x1b[2J\"}\r\nx\r\ny\r\n",
         "output is harmless on a terminal")
    server.odd["FOLLOW"] = lambda h, rest: h.sock.sendall(
        b'{"id":"x","output":"ab","offset":0,"total":2}\n'
        b'{"id":"x","output":"yz","offset":24,"total":26}\n'
        b'{"id":"x","state":"STOPPED","exit_code":0,"offset":26,"total":26,'
        b'"final":true}\n')
    r = ctl("follow", sid)
    ok(r.code == 0 and r.out == b"abyz" and b"22 bytes" in r.err,
       "lost output is told", r)
    calls = []

    def breaks(h, rest):
        calls.append(rest)
        if len(calls) == 1:
            h.sock.sendall(b'{"id":"x","output":"ab","offset":0,"total":2}\n')
            h.sock.shutdown(socket.SHUT_RDWR)
            raise BrokenPipeError
        h.sock.sendall(b'{"id":"x","output":"cd","offset":2,"total":4}\n'
                       b'{"id":"x","state":"STOPPED","exit_code":0,'
                       b'"offset":4,"total":4,"final":true}\n')
    server.odd["FOLLOW"] = breaks
    r = ctl("follow", sid)
    del server.odd["FOLLOW"]
    ok(r.code == 0 and r.out == b"abcd" and calls[1] == sid + " 2 base64",
       "a broken connection is made again", r, calls)
    sid = upload("cat")
    ctl("start", sid)
    big = os.urandom(200000)
    r = ctl("input", sid, "-", "--eof", data=big)
    same(r.code, 0, "input")
    ctl("wait", sid)
    same(ctl("output", sid).out, big, "input arrives whole")


def test_run():
    text = 'echo "out $1 $2"; echo "err $V" >&2; exit 7'
    r = ctl("run", "-e", "V=w x", script(text), "--json", "b c")
    same((r.code, r.out, r.err), (7, b"out --json b c\n", b"err w x\n"),
         "run: streams, arguments, environment, exit code")
    same(server.find_args(None), ["--json", "b c"], "run: exact vector")
    r = ctl("run", script("cat; exit 0"), data=b"x" * 500000)
    same((r.code, len(r.out)), (0, 500000), "run: input")
    r = ctl("run", script("kill -SEGV $$"))
    same((r.code, r.err), (139, b"debuglanternctl: the program was ended by "
         b"SIGSEGV\n"), "run: a signal is 128 and its number, and is named")
    r = ctl("run", script("exec head -c 3000000 /dev/zero"))
    same((r.code, len(r.out)), (0, 3000000), "run: a lot of output")
    bad = os.path.join(work, "bad")
    with open(bad, "wb") as f:
        f.write(b"\x7fELF nothing")
    r = ctl("run", bad)
    ok(r.code == 1 and b"cannot execute" in r.err, "run: start refused", r)
    r = ctl("run", script("exit 0"), "a\nb")
    ok(r.code == 2 and b"line feed" in r.err, "run: a line feed in an argument", r)
    r = ctl("run", "--name", "b a d", script("exit 0"))
    same(r.code, 2, "run: a label that cannot be sent")
    same(server.sessions, [], "run: no session is left")
    p = spawn("run", script("trap 'echo got; exit 5' INT\n"
                            "echo up\nwhile :; do sleep 0.05; done"),
              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdout.readline()
    p.send_signal(signal.SIGINT)
    out, _ = p.communicate(timeout=20)
    same((p.returncode, out), (5, b"got\n"), "run: Ctrl-C is the program's")
    p = spawn("run", script("trap '' INT\necho up\n"
                            "while :; do sleep 0.05; done"),
              stdout=subprocess.PIPE)
    p.stdout.readline()
    p.send_signal(signal.SIGINT)
    time.sleep(0.3)
    ok(p.poll() is None, "run: a program may ignore the first Ctrl-C")
    p.send_signal(signal.SIGINT)
    p.communicate(timeout=20)
    same(p.returncode, 137, "run: the second Ctrl-C kills")
    p = spawn("run", script("echo up\nexec sleep 100"),
              stdout=subprocess.PIPE)
    p.stdout.readline()
    p.send_signal(signal.SIGHUP)
    p.communicate(timeout=20)
    same(p.returncode, 143, "run: a hang-up stops the program")
    p = spawn("run", script("echo up\nread x\nexit 6"),
              by=["sh", "-c", "trap '' INT HUP; exec \"$@\"", "sh"],
              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    p.stdout.readline()
    p.send_signal(signal.SIGHUP)
    p.send_signal(signal.SIGINT)
    time.sleep(0.3)
    p.communicate(b"x\n", timeout=20)
    same(p.returncode, 6, "run: what was ignored at the start stays ignored")
    p = spawn("run", script("exec yes"), stdout=subprocess.PIPE)
    p.stdout.readline()
    p.stdout.close()
    same(p.wait(timeout=20), 141, "run: output that nobody reads")
    same(server.sessions, [], "run: no session is left after signals")
    r = on_terminal("run", script("read x; printf \"<$x>\\033[31mred"
                                  "\\033[2J\\n\""), keys=[(0.5, b"in\n")])
    ok(b"<in>\x1b[31mred\\x1b[2J\r\n\x1b[0m" in r.out,
       "run: colours pass on a terminal, other sequences do not", r)


def test_terminal():
    upload("exit 0", "--name", "wide\u6f22" + "n" * 60)
    upload("exec sleep 100", "--name", "runs")
    ctl("start", "runs")
    r = on_terminal("list", size=(24, 40))
    lines = r.out.decode().splitlines()
    ok(b"\x1b[" in r.out and max(map(visible, lines)) <= 40,
       "a table fits the terminal", r.out)
    r = on_terminal("list", NO_COLOR="1")
    ok(b"\x1b" not in r.out and b"RUNNING" in r.out, "NO_COLOR", r.out)
    r = on_terminal("--json", "list")
    ok(json.loads(r.out)[1]["name"] == "runs", "--json on a terminal", r.out)
    server.odd["LIST"] = lambda h, rest: h.send(
        [{"id": "\x1b[2Jabc", "state": "RUNNING\x9b", "name": "a\rb"}])
    for args in (["list"], ["--json", "list"]):
        r = on_terminal(*args, NO_COLOR="1")
        ok(b"\x1b" not in r.out and "\x9b" not in r.out.decode() and
           b"\rb" not in r.out, "a hostile list: %s" % args[0], r.out)
    del server.odd["LIST"]
    r = on_terminal("top", "-d", "1", keys=[(1.5, b"q")])
    ok(r.code == 0 and r.out.startswith(b"\x1b[?1049h") and
       b"runs" in r.out and b"\x1b[?1049l" in r.out,
       "top takes the screen and gives it back", r)
    r = on_terminal("top", "-n", "1")
    ok(r.code == 0 and b"runs" in r.out.partition(b"\x1b[?1049l")[2],
       "top -n on a terminal leaves its last table there", r)
    r = on_terminal("status", "runs")
    ok(b"started_at" in r.out and b"null" not in r.out, "status", r)
    slow_file = os.path.join(work, "slow")
    with open(slow_file, "wb") as f:
        f.truncate(48 << 20)

    def slow(h, rest):
        left = 48 << 20
        while left > 0:
            left -= len(h.file.read(min(left, 8 << 20)))
            time.sleep(0.15)
        h.send({"id": "x", "state": "LOADED", "size": 1})
    server.odd["UPLOAD"] = slow
    r = on_terminal("upload", slow_file)
    ok(b"upload [" in r.out and b"48M" in r.out, "a progress bar", r.out)
    r = ctl("upload", slow_file)
    same(r.err, b"", "no progress bar without a terminal")
    del server.odd["UPLOAD"]

    def slow_root(h, rest):
        h.sock.sendall(b"SYSROOT %d\n" % (6 << 20))
        for _ in range(6):
            h.sock.sendall(bytes(1 << 20))
            time.sleep(0.3)
    server.odd["SYSROOT"] = slow_root
    r = on_terminal("sysroot", "-o", os.path.join(work, "slow-root"))
    ok(r.code == 0 and b"sysroot [" in r.out and b"6.0M" in r.out,
       "one for the sysroot", r.out)
    r = ctl("sysroot", "-o", os.path.join(work, "slow-root"))
    same((r.code, r.err), (0, b""), "which needs a terminal too")
    del server.odd["SYSROOT"]


def visible(line):
    import re
    text = re.sub("\x1b\\[[0-9;]*m", "", line)
    return sum(2 if ord(c) > 0x2e80 else 1 for c in text)


def test_gdb():
    """A gdb that prints what it was given takes the real one's place."""
    bin_dir = os.path.join(work, "bin")
    os.mkdir(bin_dir)
    with open(os.path.join(bin_dir, "gdb"), "w") as f:
        f.write('#!/bin/sh\nprintf "%s\\n" "$@" '
                '"$DEBUGLANTERN_SESSION" "$DEBUGLANTERN_TARGET"\n'
                'test -x "$DEBUGLANTERN_CTL"\n')
    os.chmod(f.name, 0o755)
    path = bin_dir + ":" + os.environ["PATH"]
    sid = upload("exec sleep 100")
    server.lines.clear()
    r = ctl("gdb", sid[:8], "--", "-batch", "--json", PATH=path)
    words = r.out.decode().splitlines()
    same(server.lines, ["STATUS " + sid[:8], "START %s --debug" % sid[:8]],
         "gdb starts a session that is loaded")
    ok(r.code == 0 and words[-2:] == [sid, server.target] and
       words[-4:-2] == ["-batch", "--json"], "gdb gets its arguments", r)
    ok("set sysroot target:" in words and
       any(w.startswith("target remote | ") for w in words) and
       not any(sid in w for w in words[:-2]),
       "nothing of the daemon's is in a shell command", words)
    server.lines.clear()
    r = ctl("gdb", sid, PATH=path)
    same((r.code, server.lines), (0, ["STATUS " + sid]),
         "gdb leaves a running session to gdb-pipe")
    server.odd["DEBUG"] = lambda h, rest: h.send(
        dict(server.sessions[0].object(), debug_port=4567))
    r = ctl("gdb", sid, "--port", "--sysroot", "/x", "--symbols", CTL,
            PATH=path)
    words = r.out.decode().splitlines()
    ok("target remote 127.0.0.1:4567" in words and CTL in words and
       "set sysroot /x" in words, "gdb --port --sysroot --symbols", r)
    del server.odd["DEBUG"]
    r = ctl("gdb", sid, "--symbols", "/no/such", PATH=path)
    same(r.code, 2, "symbols that are not there")


def find_args(sid):
    import shlex
    lines = [x for x in server.lines if x.startswith("ARGS ")]
    return shlex.split(lines[-1].split(" ", 2)[2])


TESTS = [test_usage, test_unreachable, test_hello, test_refused,
         test_file_name, test_own_words,
         test_hostile, test_words, test_sessions, test_output, test_run,
         test_terminal, test_gdb]

with tempfile.TemporaryDirectory() as work:
    for test in TESTS:
        server = FakeServer()
        server.find_args = find_args
        try:
            test()
        except Exception as e:
            ok(False, "%s ended early" % test.__name__, e)
            import traceback
            print("# " + traceback.format_exc().replace("\n", "\n# "))
        finally:
            server.close()
print("1..%d" % count)
sys.exit(failed > 0)
