#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# A session as it looks from inside, in every kind of sandbox and both modes,
# and what hostile programs can do there.
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (AS_ROOT, MODES, Daemon, Prober, Refused, alone, attempt, eq,
                helper, in_modes, narrow, ok, run_tests, runs_narrow, service_uid,
                session_processes, status_of, tap, tar_of, wait_for)

KINDS = ("none", "namespaces", "tmpfs")
X86_64 = os.uname().machine == "x86_64"
ALL = "allow-sandbox none, namespaces, tmpfs\n"


def parse(text):
    out = {}
    for line in text.decode(errors="replace").splitlines():
        k, _, v = line.partition("=")
        out.setdefault(k, []).append(v)
    return out


def inside(c, flags="", args="", image=None):
    """What the helper says from inside, and the host's pid of it."""
    sid = c.upload(image or helper("inside"))["id"]
    if args:
        c.cmd(f"ARGS {sid} {args}")
    r = c.cmd(f"START {sid} {flags}".strip())
    if "error_code" in r:
        raise RuntimeError(str(r))
    r = c.cmd(f"WAIT {sid} 20")
    if r["state"] != "STOPPED" or r["exit_code"] != 0:
        raise RuntimeError(str((r, c.output(sid))))
    return sid, parse(c.output(sid))


def one(v, k):
    return v.get(k, [None])[0]


def own_ns(name):
    return os.readlink(f"/proc/self/ns/{name}")


def each_kind(d, fn):
    for kind in KINDS:
        before = tap.prefix
        tap.prefix += kind + ": "
        attempt(fn.__name__, fn, d, d.client(), kind)
        tap.prefix = before


def owner(d):
    return service_uid("_dlrun") if d.mode == "system" else \
        (d.uid if d.uid is not None else os.getuid())


# --- what programs are called --------------------------------------------

def is_called_like_its_file(d):
    """argv[0] and comm, at every start."""
    rows = ((dict(file="my-prog"), "", "my-prog"),
            (dict(file="/usr/bin/my-prog"), "label", "my-prog"),
            ({}, "label.1", "label.1"), ({}, "", "image"),
            (dict(file="n" * 255), "", "n" * 255),
            (dict(file="n" * 256), "", "n" * 255),
            (dict(file="../.."), "", "image"))

    def test(d, c, kind):
        for how, label, name in rows:
            sid = c.upload(helper("inside"), **how)["id"]
            if label:
                c.cmd(f"NAME {sid} {label}")
            for run in ("first", "second"):
                c.cmd(f"START {sid} --sandbox {kind}")
                c.cmd(f"WAIT {sid} 20")
                v = parse(c.output(sid))
                eq((one(v, "argv0"), one(v, "status.Name")),
                   (name, name[:15]), f"{how} {label} {run}: argv[0] and comm")
            c.cmd(f"DELETE {sid}")
        left = os.listdir(os.path.join(d.dir, "state", "tmp"))
        eq([x for x in left if x.startswith("image")], [],
           "nothing of that is left")
    each_kind(d, test)


def ran(c, kind, data, args, **kw):
    """What it wrote, and what its session lacks."""
    sid = c.upload(data, **kw)["id"]
    c.cmd(f"ARGS {sid} {args}")
    warnings = c.cmd(f"START {sid} --sandbox {kind}").get("warnings") or \
        c.cmd(f"STATUS {sid}").get("warnings", [])
    c.cmd(f"WAIT {sid} 20")
    out = c.output(sid).decode()
    c.cmd(f"DELETE {sid}")
    return out, " ".join(warnings)


def finds_itself(d):
    """/proc/self/exe, as on the host."""
    shell = os.path.realpath("/bin/sh")
    private = os.path.join(d.dir, "state", "image")
    link = "-c 'readlink /proc/$$/exe'"
    touch = ("-c 'f=$(readlink /proc/$$/exe); echo $f; (: >$f) 2>/dev/null || "
             "echo kept; rm -f $f 2>/dev/null || echo there; exec $f -c "
             "\"echo again\"'")

    def test(d, c, kind):
        host = subprocess.run(["readlink", "/proc/self/exe"], text=True,
                              stdout=subprocess.PIPE).stdout
        out, warned = ran(c, kind, host.strip(), "/proc/self/exe",
                          file=host.strip())
        if kind == "none":
            ok(out.startswith("/memfd:") and "leads to no file" in warned and
               "as a bundle" in warned, "it is said that it has no path",
               (out, warned))
            return
        eq((out, warned), (host, ""), "a program finds itself where it was")
        eq(ran(c, kind, shell, link, file="/bin/sh")[0], shell + "\n",
           "so does one that is started by a link")
        for name in "sh", "/no/such/sh", "/usr/bin/sh/sh", "/usr/sh":
            eq(ran(c, kind, shell, link, file=name)[0], private + "/sh\n",
               f"{name} is nowhere here: it has a file of that name")
        for name in "/proc/self/exe", "/dev/fd/5":
            eq(ran(c, kind, shell, link, file=name)[0],
               private + "/" + os.path.basename(name) + "\n",
               f"{name} is no file to take the place of")
        for name in shell, "sh":
            eq(ran(c, kind, shell, touch, file=name)[0],
               (shell if name == shell else private + "/sh") +
               "\nkept\nthere\nagain\n",
               f"{name}: it starts itself again, and cannot change its file")
    each_kind(d, test)


def finds_libraries_beside_itself(d):
    """$ORIGIN is where the uploaded file was."""
    with tempfile.TemporaryDirectory(prefix="dl-origin-") as top:
        os.chmod(top, 0o755)
        for name, text in (("beside.c", "int beside(void) { return 42; }"),
                           ("main.c", "#include <stdio.h>\nint beside(void);"
                            "int main(void) { printf(\"%d\\n\", beside()); }")):
            with open(f"{top}/{name}", "w") as f:
                f.write(text)
        subprocess.run(["cc", "-shared", "-fPIC", "-o", "libbeside.so",
                        "beside.c"], cwd=top, check=True)
        subprocess.run(["cc", "-o", "main", "main.c", "-L.", "-lbeside",
                        "-Wl,-rpath,$ORIGIN"], cwd=top, check=True)
        c = d.client()
        for name, wanted in ((top + "/main", "42\n"), ("main", "")):
            out, _ = ran(c, "namespaces", top + "/main", "x", file=name)
            eq(out.partition("main:")[0], wanted, f"started as {name}")


def covers_for_itself_alone(d):
    """The uploaded file takes the place of the host's for its session."""
    shell = os.path.realpath("/bin/sh")
    c = d.client()
    both = "-c '/usr/bin/nproc -c \"echo the uploaded one\"'"
    for kind in "namespaces", "tmpfs":
        eq(ran(c, kind, shell, both, file="/usr/bin/nproc")[0],
           "the uploaded one\n", f"{kind}: inside it is the uploaded file")
        ok("uploaded" not in ran(c, kind, shell, both, file="sh")[0],
           f"{kind}: it is no other session's")
    with open("/proc/self/mountinfo") as f:
        ok("/usr/bin/nproc" not in f.read(), "nor the host's")


def process_ids_differ(d):
    """Files in /tmp are named by them, and sessions share /tmp."""
    def test(d, c, kind):
        seen = {ran(c, kind, "/bin/sh", "-c 'echo $$'")[0] for _ in range(3)}
        ok(len(seen) > 1, "of sessions one after the other", seen)
        ok(min(map(int, seen)) >= 300, "like those of the host", seen)
    each_kind(d, test)


def names_are_safe(d):
    """A client may say any name: no terminal acts on what is made of it."""
    c = d.client()
    data = open(helper("inside"), "rb").read()
    for given, name in (("two words", "two words"), ("a/\u00e9", "\u00e9"),
                        ("x\u009by", "x_y"), ("..", "image"), ("a/", "image")):
        line = {"command": "upload", "args": {"size": len(data),
                                              "file": given}}
        c.send(json.dumps(line).encode() + b"\n" + data)
        sid = c.json()["result"]["id"]
        for kind in KINDS:
            c.cmd(f"START {sid} --sandbox {kind}")
            c.cmd(f"WAIT {sid} 20")
            v = parse(c.output(sid))
            eq((one(v, "argv0"), one(v, "status.Name")), (name, name),
               f"{given!r} is shown as {name!r}, sandbox {kind}")
        c.cmd(f"DELETE {sid}")


def of_the_host(d):
    """As a shell has it."""
    def test(d, c, kind):
        sid = c.cmd("NEW -- /bin/sh -c 'echo $0; cat /proc/$$/comm'")["id"]
        c.cmd(f"START {sid} --sandbox {kind}")
        c.cmd(f"WAIT {sid} 20")
        eq(c.output(sid), b"/bin/sh\nsh\n", "a command by its path")
        sid = c.cmd("NEW -- sh -c 'echo $0; cat /proc/$$/comm'")["id"]
        c.cmd(f"START {sid} --sandbox {kind}")
        c.cmd(f"WAIT {sid} 20")
        eq(c.output(sid), b"sh\nsh\n", "a command by its name")
        sid = c.upload(tar_of(("bin/inside", helper("inside"))), "bin/inside",
                       "x.tar")["id"]
        c.cmd(f"START {sid} --sandbox {kind}")
        c.cmd(f"WAIT {sid} 20")
        v = parse(c.output(sid))
        eq((one(v, "argv0"), one(v, "status.Name")), ("bin/inside", "inside"),
           "a bundle's program by its path in it")
    each_kind(d, test)


# --- numbers and programs that others have -------------------------------

# after all calls, and between those of old and those that all
# architectures number alike
NEWER = (467, 500, 512, 1000, 0x3fffffff, 337, 386, 423)


def newer_calls_are_unknown(d):
    """ENOSYS, so that programs do without: whoever knows them may not yet."""
    code = ("import ctypes, os; c = ctypes.CDLL(None, use_errno=True)\n"
            "for n in %r:\n"
            "    r = c.syscall(n, 0, 0, 0, 0, 0, 0)\n"
            "    print(n, r, ctypes.get_errno())" % (NEWER,))

    def test(d, c, kind):
        c.send(json.dumps({"command": "new", "args": {
            "argv": ["/usr/bin/python3", "-c", code]}}).encode() + b"\n")
        sid = c.json()["result"]["id"]
        c.cmd(f"START {sid} --sandbox {kind}")
        c.cmd(f"WAIT {sid} 20")
        eq(c.output(sid).decode().split("\n")[:-1],
           [f"{n} -1 38" for n in NEWER],
           "numbers of no call that is known: ENOSYS")
    each_kind(d, test)


# calls that are denied to 32-bit programs, by their own numbers
NARROW_DENIED = {
    "umount": "22:0:0", "umount2": "52:0:0", "mount": "21:0:0:0:0",
    "stime": "25:0", "clock_settime": "264:0:0", "clock_settime64": "404:0:0",
    "settimeofday": "79:0:0", "vm86": "166:0:0", "vm86old": "113:0",
    "modify_ldt": "123:0:0:0", "iopl": "110:3", "bpf": "357:0:0:0",
    "keyctl": "288:0:0", "perf_event_open": "336:0:0:0:0",
    "io_uring_setup": "425:1:0", "userfaultfd": "374:0",
    "AF_VSOCK": "359:40:1:0", "AF_ALG": "359:38:1:0",
    "AF_VSOCK by socketcall": "vsock", "AF_ALG by socketcall": "alg",
    "unshare user": "310:268435456", "setns": "346:0:0"}
# these guard namespaces, and sandbox none has none
IN_NAMESPACES = ("umount", "umount2", "mount", "unshare user", "setns")


def narrow_run(c, sid, flags=""):
    r = c.cmd(f"START {sid} {flags}".strip())
    if "error_code" in r:
        return r, {}
    r = c.cmd(f"WAIT {sid} 20")
    return r, dict(x.split("=") for x in c.output(sid).decode().split("\n")
                   if "=" in x)


def programs_of_32_bits_run(d):
    def test(d, c, kind):
        sid = c.upload(narrow(), file="narrow")["id"]
        c.cmd(f"ARGS {sid} " + " ".join(NARROW_DENIED.values()) +
              " 20 390 467 1000 359:2:1:0")
        for run in ("first", "second"):
            r, v = narrow_run(c, sid, f"--sandbox {kind}")
            eq((r.get("state"), r.get("exit_code"), v.get("argv0"),
                v.get("comm")), ("STOPPED", 7, "narrow", "narrow"),
               f"a 32-bit program runs, {run} start")
        for name, call in NARROW_DENIED.items():
            if kind != "none" or name not in IN_NAMESPACES:
                eq(v.get(call), "-1", f"32-bit {name}: EPERM")
        eq([v.get(n) for n in ("390", "467", "1000")], ["-38"] * 3,
           "32-bit numbers of no call that is known: ENOSYS")
        ok(int(v.get("359:2:1:0", "-1")) > 2, "32-bit socket(AF_INET) works")
    each_kind(d, test)


def helpers_of_32_bits_run(d):
    """A 64-bit program that starts a 32-bit one, from a bundle."""
    def test(d, c, kind):
        sid = c.upload(tar_of(("dash", "/bin/dash"), ("narrow", narrow())),
                       "dash")["id"]
        c.cmd(f"ARGS {sid} -c './narrow 20; echo $?'")
        r, v = narrow_run(c, sid, f"--sandbox {kind}")
        eq(c.output(sid).split(b"\n")[-2], b"7", "a 32-bit helper of a "
           "64-bit program runs")
        sid = c.upload(tar_of(("narrow", narrow())), "narrow")["id"]
        r, v = narrow_run(c, sid, f"--sandbox {kind}")
        eq(r.get("exit_code"), 7, "a bundle of a 32-bit program runs")
    each_kind(d, test)


def programs_of_32_bits_are_forbidden(mode):
    with Daemon(mode, ALL + "allow-32bit no\n") as d:
        c = d.client()
        for upload in (lambda: c.upload(narrow()),
                       lambda: c.upload(tar_of(("n", narrow())), "n")):
            r = upload()
            ok(isinstance(r, Refused) and r["error_code"] == "invalid_elf" and
               "allow-32bit no" in r["message"], "allow-32bit no: refused at "
               "UPLOAD, and why", r)

        def test(d, c, kind):
            sid = c.upload(tar_of(("dash", "/bin/dash"),
                                  ("narrow", narrow())), "dash")["id"]
            c.cmd(f"ARGS {sid} -c './narrow 20; echo $?'")
            r, v = narrow_run(c, sid, f"--sandbox {kind}")
            eq(c.output(sid).split(b"\n")[-2], b"159",
               "allow-32bit no: a 32-bit helper ends by SIGSYS")
            ok(not v, "before it has said anything", c.output(sid))
        if runs_narrow():
            each_kind(d, test)


def narrow_on_other_kernels(mode):
    """What START answers where the kernel was built or booted without them."""
    if runs_narrow():
        return
    with Daemon(mode) as d:
        c = d.client()
        sid = c.upload(narrow(), file="narrow")["id"]
        r = c.cmd("START " + sid)
        eq((r.get("error_code"), "ia32_emulation=0" in r.get("message", "")),
           ("exec_failed", True), "a kernel without 32-bit programs: START "
           "names what they need")


# --- what every session gets ---------------------------------------------

def fds_are_0_1_2_only(d):
    def test(d, c, kind):
        # others run, with pipes of their own that might be inherited
        other, _ = c.start(helper("sleeper"), until=b"ready")
        for flags in ("", "--split"):
            _, v = inside(c, f"--sandbox {kind} {flags}")
            eq(sorted(k for k in v if k.startswith("fd")),
               ["fd0", "fd1", "fd2"], f"fds are 0, 1 and 2 only {flags}")
            ok(all("pipe:" in one(v, f"fd{i}") for i in range(3)),
               "and they are pipes", [one(v, f"fd{i}") for i in range(3)])
            eq(one(v, "fd1") == one(v, "fd2"), not flags,
               f"stdout and stderr share a pipe unless split {flags}")
    each_kind(d, test)


def fds_of_a_bundle(d):
    def test(d, c, kind):
        r = c.upload(tar_of(("inside", helper("inside"))), "inside")
        sid = r["id"]
        c.cmd(f"START {sid} --sandbox {kind}")
        c.cmd(f"WAIT {sid} 20")
        v = parse(c.output(sid))
        eq(sorted(k for k in v if k.startswith("fd")), ["fd0", "fd1", "fd2"],
           "bundle: fds are 0, 1 and 2 only")
        eq(one(v, "cwd"), c.cmd("STATUS " + sid)["bundle_dir"],
           "bundle: the directory is bundle_dir")
        eq(one(v, "argv0"), "inside", "bundle: argv[0] is the exec_path")
    each_kind(d, test)


def no_rights(d):
    def test(d, c, kind):
        _, v = inside(c, f"--sandbox {kind}")
        for cap in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
            eq(one(v, "status." + cap), "0" * 16, f"{cap} is empty")
        eq(one(v, "status.NoNewPrivs"), "1", "no_new_privs")
        eq(one(v, "status.Seccomp"), "2", "a system call filter")
        ok("0" not in one(v, "status.Uid").split() and
           "0" not in one(v, "status.Gid").split(),
           "no uid or gid is 0", v.get("status.Uid"))
        ok("0" not in one(v, "status.Groups").split(),
           "no group is 0", v.get("status.Groups"))
    each_kind(d, test)


def ids_are_the_owners(d):
    """Another's number would be another's name, files and configuration."""
    def test(d, c, kind):
        _, v = inside(c, f"--sandbox {kind}")
        want = [str(owner(d))] * 4
        eq(one(v, "status.Uid").split(), want, "the owner's uid inside")
        eq(one(v, "status.Gid").split(), want, "the owner's gid inside")
        eq((one(v, "uid"), one(v, "gid")), tuple(want[:2]),
           "and getuid() and getgid() say so")
    each_kind(d, test)


def seen_from_outside(d):
    """The same from the host: what the kernel knows of the process."""
    def test(d, c, kind):
        sid, s = c.start(helper("sleeper"), flags=f"--sandbox {kind}",
                         until=b"ready")
        st = status_of(s["pid"])
        eq(set(st["Uid"].split()), {str(owner(d))}, "it runs as its owner")
        eq([st[k] for k in ("CapPrm", "CapEff", "CapAmb", "CapInh",
                            "NoNewPrivs", "Seccomp")],
           ["0" * 16] * 4 + ["1", "2"], "no capability, seen from outside")
        for p in session_processes(sid):
            eq(status_of(p)["CapEff"], "0" * 16, f"nor process {p}'s")
        # the stub above it
        stub = int(st["PPid"])
        eq(set(status_of(stub)["Uid"].split()), {str(owner(d))},
           "its stub runs as the owner too")
        eq([status_of(stub)[k] for k in ("CapPrm", "CapEff", "CapAmb")],
           ["0" * 16] * 3, "its stub has no capability")
        c.cmd("KILL " + sid)
    each_kind(d, test)


def clean_start(d):
    """Whatever the daemon was started with, a program starts fresh."""
    def test(d, c, kind):
        _, v = inside(c, f"--sandbox {kind}")
        eq(one(v, "umask"), "22", "umask 022")
        eq(one(v, "nice"), str(max(0, os.nice(0))), "as nice as the daemon")
        eq([k for k in v if k.startswith("signal")], [],
           "every signal is at its default")
        eq(one(v, "status.SigBlk"), "0" * 16, "no signal is blocked")
        eq(one(v, "status.SigIgn"), "0" * 16, "no signal is ignored")
    each_kind(d, test)


def niceness(mode):
    """Sessions are as nice as their daemon, and never less than usual."""
    for more in (5, -5) if AS_ROOT else (5,):
        with Daemon(mode, ALL, wrapper=["nice", "-n", str(more)]) as d:
            its = os.getpriority(os.PRIO_PROCESS, d.proc.pid)
            eq(its, max(-20, min(19, os.nice(0) + more)),
               f"a daemon started at nice {more}")

            def test(d, c, kind):
                _, v = inside(c, f"--sandbox {kind}")
                eq(one(v, "nice"), str(max(0, its)), f"nice {more}: a session")
            each_kind(d, test)


def environment_is_exact(d):
    def test(d, c, kind):
        sid, v = inside(c, f"--sandbox {kind}")
        names = sorted(k[4:] for k in v if k.startswith("env."))
        eq(names, ["DEBUGLANTERN_SESSION", "HOME", "LANG", "LOGNAME", "PATH",
                   "SHELL", "USER"], "the environment has these names only")
        eq((one(v, "env.DEBUGLANTERN_SESSION"), one(v, "env.LANG")),
           (sid, "C.UTF-8"), "and their values")
    each_kind(d, test)


def working_directory(d):
    def test(d, c, kind):
        _, v = inside(c, f"--sandbox {kind}")
        cwd = one(v, "cwd")
        ok(cwd and cwd.startswith("/") and "unreachable" not in cwd,
           "the working directory is inside of the root", cwd)
    each_kind(d, test)


def namespaces_differ(d):
    c = d.client()
    _, v = inside(c, "--sandbox namespaces")
    for ns in ("user", "pid", "mnt", "ipc", "uts"):
        ok(one(v, "ns." + ns) != own_ns(ns), f"namespaces: an own {ns}")
    eq(one(v, "ns.net"), own_ns("net"), "namespaces: the host's network")
    ok(one(v, "pid") != "1" and one(v, "ppid") == "1",
       "namespaces: a process beside its stub, not 1", v)
    # both at once, as the numbers of those that are gone are used again
    sid = c.upload(helper("sleeper"))["id"]
    pid = c.cmd(f"START {sid} --sandbox namespaces")["pid"]
    _, w = inside(c, "--sandbox namespaces")
    ok(all(one(w, f"ns.{ns}") != os.readlink(f"/proc/{pid}/ns/{ns}")
           for ns in ("pid", "user")),
       "namespaces: two sessions do not share them")
    c.cmd(f"KILL {sid}")
    _, v = inside(c, "--sandbox none")
    for ns in ("pid", "ipc", "uts", "net"):
        eq(one(v, "ns." + ns), own_ns(ns), f"none: the host's {ns}")


def network_none(d):
    c = d.client()
    for kind in ("namespaces", "tmpfs"):
        _, v = inside(c, f"--sandbox {kind} --network none", "/sys/class/net")
        ok(one(v, "ns.net") != own_ns("net"), f"{kind}: --network none: an "
           "own network")
        sid = c.upload(helper("connects"))["id"]
        c.cmd(f"ARGS {sid} 127.0.0.1 {d.port}")
        c.cmd(f"START {sid} --sandbox {kind} --network none")
        c.cmd(f"WAIT {sid} 20")
        ok(b"self refused" in c.output(sid), f"{kind}: --network none: "
           "nobody to connect to", c.output(sid))


def tmpfs_root(d):
    c = d.client()
    marker = d.dir + "/run"
    _, v = inside(c, "--sandbox tmpfs",
                  f"/ /usr /tmp /dev /proc {marker}")
    eq(one(v, "fstype./"), "1021994", "tmpfs: the root is a tmpfs")
    ok("usr" in v["entry./"], "tmpfs: /usr is there", v["entry./"])
    ok(int(one(v, "entries./usr")) > 3, "tmpfs: with what the host has")
    eq(one(v, "path.%s" % marker), "No such file or directory",
       "tmpfs: the host's /tmp is not there")
    ok(set(v["entry./dev"]) <= {"null", "zero", "full", "random", "urandom",
                                "tty", "pts", "ptmx", "shm", "fd", "stdin",
                                "stdout", "stderr", "console", "mqueue"},
       "tmpfs: a small /dev", v["entry./dev"])
    eq(sorted(p for p in v["entry./proc"] if p.isdigit()), ["1", one(v, "pid")],
       "tmpfs: /proc shows the session alone")
    sid = c.upload("/bin/dash")["id"]
    c.cmd(f"ARGS {sid} -c 'echo x >/usr/x; echo x >/bin/x; echo x >/x; "
          "echo x >/tmp/x && echo tmp; cat /etc/shadow; exit 0'")
    c.cmd(f"START {sid} --sandbox tmpfs")
    c.cmd(f"WAIT {sid} 20")
    out = c.output(sid)
    ok(b"/usr/x" in out and b"tmp\n" in out,
       "tmpfs: /usr is read-only, /tmp may be written", out)
    ok(b"root:" not in out, "tmpfs: nobody's secrets are readable")


def masked_directories(d):
    def test(d, c, kind):
        for sub, there in (("state", ["image"]), ("state/image", ["image"]),
                           ("run", [])):
            path = os.path.join(d.dir, sub)
            _, v = inside(c, f"--sandbox {kind}", path)
            eq(v.get("entry." + path, []), there, f"the daemon's {sub} "
               "directory shows nothing but the program's own name")
    for kind in ("namespaces", "tmpfs"):
        test(d, d.client(), kind)


def processes_of_the_host_are_hidden(d):
    c = d.client()
    sid = c.upload(helper("ptracer"))["id"]
    daemon = [d.proc.pid] + [d.role_pid(r) for r in (
        "logger", "netproc", "spawner", "launcher", "idproc", "announcer")]
    c.cmd(f"ARGS {sid} {' '.join(map(str, daemon + [os.getpid()]))}")
    for kind in KINDS:
        if kind == "none" and d.mode == "user":
            continue    # its processes are the user's own, as is the daemon
        c.cmd(f"START {sid} --sandbox {kind}")
        c.cmd(f"WAIT {sid} 20")
        v = parse(c.output(sid))
        eq([(pid, what) for pid in daemon + [os.getpid()]
            for what in ("seize", "mem", "environ", "kill")
            if one(v, f"{what}.{pid}") in ("0", None)], [],
           f"{kind}: the daemon is neither traced, read nor signalled")
        if kind != "none":
            ok(len(v["proc"]) == 2 and "1" in v["proc"],
               f"{kind}: /proc shows the session alone", v["proc"])


def siblings_are_apart(d):
    """ptrace, memory and signals of another session of the same owner."""
    c = d.client()
    victim, s = c.start(helper("handler"), until=b"ready")
    sid = c.upload(helper("ptracer"))["id"]
    c.cmd(f"ARGS {sid} {s['pid']}")
    for kind in ("namespaces", "tmpfs"):
        c.cmd(f"START {sid} --sandbox {kind}")
        c.cmd(f"WAIT {sid} 20")
        v = parse(c.output(sid))
        eq([one(v, f"{x}.{s['pid']}") for x in ("seize", "kill", "pidfd")],
           ["ESRCH"] * 3, f"{kind}: another session is not there")
    eq(c.output(victim), b"ready\n", "and has got no signal")


# --- what it may call ----------------------------------------------------

DENIED = ("mount", "umount", "pivot_root", "bpf", "perf_event_open",
          "io_uring_setup", "userfaultfd", "keyctl", "add_key",
          "pidfd_getfd", "open_by_handle_at", "tiocsti", "tiocsti_high",
          "setuid0", "setgid0", "setuid_high", "setgroups", "reboot",
          "af_vsock", "af_alg", "af_alg_high") + \
    ("modify_ldt",) * (os.uname()[4] == "x86_64")
# in a sandbox: what could take it apart
INSIDE = ("unshare_user", "unshare_net", "clone_user", "clone_user_high",
          "clone3", "setns", "chroot", "open_tree", "fsopen", "ptrace_init",
          "sethostname")
ALLOWED = ("ptrace_child", "process_vm_readv", "personality", "memfd_create",
           "mmap_exec", "af_unix", "af_inet", "af_netlink")


def system_calls(d):
    def test(d, c, kind):
        sid, s = c.start(helper("tries"), flags=f"--sandbox {kind}")
        s = c.cmd(f"WAIT {sid} 20")
        v = parse(c.output(sid))
        eq((s["exit_code"], s["signal"]), (0, None),
           "denied calls get an error, they do not kill")
        denied = DENIED + (INSIDE if kind != "none" else ())
        eq([n for n in denied if one(v, n) in ("0", None)], [],
           "every call of the deny list is refused")
        if kind != "none":
            eq((one(v, "clone3"), one(v, "unshare_user")),
               ("ENOSYS", "EPERM"),
               "clone3 seems not to exist, unshare is not permitted")
            eq(one(v, "kill_init"), "0", "SIGKILL does not reach the stub")
        eq([(n, one(v, n)) for n in ALLOWED if one(v, n) != "0"], [],
           "what debuggers need is allowed")
    each_kind(d, test)


# --- hostile programs ----------------------------------------------------

def is_no_client_of_its_daemon(d):
    def test(d, c, kind):
        sid = c.upload(helper("connects"))["id"]
        for addr in (f"127.0.0.1 {d.port}",
                     d.dir + "/run/debuglantern.sock"):
            c.cmd(f"ARGS {sid} {addr}")
            c.cmd(f"START {sid} --sandbox {kind}")
            s = c.cmd(f"WAIT {sid} 20")
            out = c.output(sid).decode()
            ok(s["state"] == "STOPPED" and "got [" not in out and
               "self" in out and "grandchild" in out,
               f"neither the program nor its orphan is served by "
               f"{'TCP' if addr[0] != '/' else 'the local socket'}", out)
    each_kind(d, test)


def control_yes(mode):
    with Daemon(mode, "control yes\n" + ALL) as d:
        c = d.client()
        sid = c.upload(helper("connects"))["id"]
        c.cmd(f"ARGS {sid} 127.0.0.1 {d.port}")
        for kind in KINDS:
            c.cmd(f"START {sid} --sandbox {kind}")
            c.cmd(f"WAIT {sid} 20")
            ok(b"self got [{" in c.output(sid),
               f"{kind}: control yes: the program is served", c.output(sid))


def fork_bomb(d):
    def test(d, c, kind):
        sid = c.upload(helper("bomb"))["id"]
        c.cmd(f"LIMITS {sid} nproc=60")
        c.cmd(f"START {sid} --sandbox {kind}")
        c.until(sid, b"ready")
        with Prober(d) as others:
            ok(wait_for(lambda: len(session_processes(sid)) > 10, 20),
               "a fork bomb goes off")
            r = c.cmd("KILL " + sid)
            eq(r.get("state"), "STOPPED", "KILL ends a fork bomb")
            others.check("a fork bomb: nobody else waits", 3)
        eq(session_processes(sid), [], "nothing of a fork bomb is left")
    each_kind(d, test)


def fork_bomb_stop(d):
    c = d.client()
    sid = c.upload(helper("bomb"))["id"]
    c.cmd(f"LIMITS {sid} nproc=60")
    c.cmd("START " + sid)
    c.until(sid, b"ready")
    eq(c.cmd("STOP " + sid).get("state"), "STOPPED",
       "STOP ends a fork bomb that ignores SIGTERM")
    eq(session_processes(sid), [], "nothing of it is left")


def fd_bomb(d):
    c = d.client()
    sid, s = c.run(helper("limits"), "nofile")
    ok(c.output(sid).startswith(b"opened 1021 ") or
       b"EMFILE" in c.output(sid), "an fd bomb meets its limit",
       c.output(sid))


def double_fork_leaves_nothing(d):
    def test(d, c, kind):
        sid = c.upload(helper("orphan"))["id"]
        for verb in ("KILL", "STOP"):
            c.cmd(f"START {sid} --sandbox {kind}")
            c.until(sid, b"lives")
            c.cmd(f"{verb} {sid}")
            eq(session_processes(sid), [],
               f"double fork and setsid: {verb} leaves nothing")
    each_kind(d, test)


def outside_kill_of_the_stub(d):
    """Somebody kills the stub: the tree goes, the session is STOPPED."""
    def test(d, c, kind):
        if kind == "none" and d.mode == "user":
            return      # no cgroup, no namespace: nothing would hold them
        sid, s = c.start(helper("family"), "3", f"--sandbox {kind}",
                         until=b"ready")
        stub = int(status_of(s["pid"])["PPid"])
        os.kill(stub, 9)
        r = c.cmd(f"WAIT {sid} 20")
        eq(r.get("state"), "STOPPED", "the session is STOPPED")
        ok(wait_for(lambda: not session_processes(sid)),
           "nothing of it is left", session_processes(sid))
        c.cmd(f"START {sid} --sandbox {kind}")
        eq(c.cmd("KILL " + sid).get("state"), "STOPPED",
           "and it can be started again")
    if AS_ROOT:
        each_kind(d, test)


def echo_to_dev_stderr_in_a_script(d):
    def test(d, c, kind):
        sid = c.upload("/bin/dash")["id"]
        c.cmd(f"ARGS {sid} -c 'echo one; echo two >/dev/stderr; "
              "echo three >&2'")
        for flags in ("", "--split"):
            c.cmd(f"START {sid} --sandbox {kind} {flags}".strip())
            s = c.cmd(f"WAIT {sid} 20")
            eq((s["exit_code"], sorted(c.output(sid).split())),
               (0, [b"one", b"three", b"two"]),
               f"echo >/dev/stderr in a script {flags}")
    each_kind(d, test)


def abort_is_sigabrt(d):
    def test(d, c, kind):
        sid = c.upload(helper("crash"))["id"]
        for how, want in (("abort", "SIGABRT"), ("segv", "SIGSEGV"),
                          ("15", "SIGTERM"), ("2", "SIGINT")):
            c.cmd(f"ARGS {sid} {how}")
            c.cmd(f"START {sid} --sandbox {kind}")
            eq(c.cmd(f"WAIT {sid} 20")["signal"], want,
               f"{how} is reported as {want}")
    each_kind(d, test)


def image_is_sealed(d):
    """A program cannot change its image, nor leave a copy behind."""
    c = d.client()
    sid = c.upload("/bin/dash")["id"]
    c.cmd(f"ARGS {sid} -c 'echo x >/proc/$$/exe; exit 0'")
    for _ in range(2):
        c.cmd("START " + sid)
        s = c.cmd(f"WAIT {sid} 20")
        eq(s["exit_code"], 0, "the image is the same in the next run")


# --- choices -------------------------------------------------------------

def choice_of_sandbox(mode):
    with Daemon(mode) as d:
        c = d.client()
        sid = c.upload(helper("inside"))["id"]
        r = c.cmd(f"START {sid} --sandbox none")
        eq(r.get("error_code"), "not_permitted",
           "a weaker sandbox than the configuration allows is refused")
        c.cmd(f"START {sid} --sandbox tmpfs")
        eq(c.cmd(f"WAIT {sid} 20").get("exit_code"), 0,
           "a stronger one may be chosen")
        r = c.cmd(f"START {sid} --sandbox nonsense")
        eq(r.get("ok"), False, "an unknown one is refused")
        eq(c.cmd("VERSION").get("sandbox"), "namespaces",
           "VERSION tells the default")


SWITCH = "/proc/sys/kernel/printk_ratelimit"
AS_HOSTS_ROOT = (f"read x <{SWITCH}; echo $x >{SWITCH} && echo switched; "
                 "cat /etc/shadow /etc/ssh/ssh_host_* /root/.bashrc && "
                 "echo secrets; for f in /etc/passwd /etc/alternatives /usr; "
                 "do touch $f && echo changed $f; done; "
                 "echo 5 >/proc/self/oom_score_adj && echo own; "
                 "getent passwd root; id -u; grep ^Cap /proc/self/status; "
                 "exit 0")


def root_in_user_mode_is_uid_0_without_capabilities(mode):
    """Its sessions have root's uid: what root may without a capability, by
    the owner's rights to files and switches alone, must be out of reach."""
    with Daemon(mode, uid=None) as d:
        c = d.client()
        v = c.cmd("VERSION")
        eq((v["mode"], v["sandbox"]), ("user", "tmpfs"),
           "--user of root: in user mode, by tmpfs if nothing is said")
        sid = c.upload("/bin/dash")["id"]
        c.cmd(f"ARGS {sid} -c '{AS_HOSTS_ROOT}'")
        s = c.cmd("START " + sid)
        c.cmd(f"WAIT {sid} 20")
        out = c.output(sid).decode()
        eq([x for x in out.splitlines() if x.split()[:1] in (
            ["switched"], ["secrets"], ["changed"])], [],
           "--user of root: no switch of the kernel, no secret, no change")
        ok("Read-only file system" in out and "own" in out.split() and
           "root:x:0:0:" in out, "it has tried, and has what it needs", out)
        ok("\n0\n" in out, "--user of root: it is uid 0 inside, too", out)
        eq([x.split()[1].strip("0") for x in out.splitlines()
            if x.startswith("Cap")], [""] * 5,
           "--user of root: and has no capability inside, nor a way to one")
        for kind in ("none", "namespaces"):
            eq(c.cmd(f"START {sid} --sandbox {kind}").get("error_code"),
               "not_permitted", f"--user of root: no sandbox {kind}")
        sid, s = c.start(helper("target"), until=b"target")
        st = status_of(s["pid"])
        eq((st["Uid"].split()[0], st["CapEff"], st["CapPrm"]),
           ("0", "0" * 16, "0" * 16), "--user of root: no capability")
        eq(c.cmd("DEBUG " + sid).get("state"), "DEBUGGING",
           "and gdbserver attaches")
        c.cmd("KILL " + sid)


def defaults_of_the_configuration(mode):
    with Daemon(mode, "sandbox tmpfs\nnetwork none\n") as d:
        c = d.client()
        _, v = inside(c, args="/")
        eq(one(v, "fstype./"), "1021994", "sandbox tmpfs in the configuration")
        ok(one(v, "ns.net") != own_ns("net"), "network none in it")


# as in a container: the kernel gives no whole /proc where a part is hidden
PART_OF_PROC = ["unshare", "-m", "sh", "-ec", """
# a chroot may have another, which the kernel takes for this one
awk '$3 == "proc" && $2 != "/proc" { print $2 }' /proc/self/mounts |
    xargs -r umount -l
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
exec "$@"
""", "sh"]


def part_of_proc_is_hidden(mode):
    with Daemon(mode, ALL, wrapper=PART_OF_PROC) as d:
        c = d.client()
        row = next(r for r in c.cmd("DEPS")["deps"] if r["name"] == "proc")
        ok(not row["available"] and "systempaths=unconfined" in row["remedy"],
           "DEPS: hidden, and how to show it", row)
        sid = c.upload(helper("inside"))["id"]
        for kind in ("namespaces", "tmpfs"):
            r = c.cmd(f"START {sid} --sandbox {kind}")
            ok("mount /proc" in r.get("message", "") and
               "container" in r["message"] and "DEPS" in r["message"],
               f"sandbox {kind}: the reason, and where the remedy is", r)
        _, v = inside(c, "--sandbox none")
        ok(v, "sandbox none needs no /proc of its own")


run_tests(
    in_modes(
        is_called_like_its_file, finds_itself, finds_libraries_beside_itself,
        covers_for_itself_alone, process_ids_differ, names_are_safe, of_the_host, newer_calls_are_unknown,
        fds_are_0_1_2_only, fds_of_a_bundle, no_rights, ids_are_the_owners,
        seen_from_outside,
        clean_start, environment_is_exact, working_directory,
        namespaces_differ, network_none, tmpfs_root, masked_directories,
        processes_of_the_host_are_hidden, siblings_are_apart, system_calls,
        is_no_client_of_its_daemon, fork_bomb, fork_bomb_stop, fd_bomb,
        double_fork_leaves_nothing, outside_kill_of_the_stub,
        echo_to_dev_stderr_in_a_script, abort_is_sigabrt, image_is_sealed,
        conf=ALL + "stop-timeout 1\n"),
    # there is no other kind of 32-bit program that is known here
    in_modes(programs_of_32_bits_run, helpers_of_32_bits_run, conf=ALL,
             modes=MODES if runs_narrow() else ()),
    alone(programs_of_32_bits_are_forbidden, MODES if X86_64 else ()),
    alone(narrow_on_other_kernels, MODES if X86_64 else ()),
    alone(niceness), alone(control_yes), alone(choice_of_sandbox),
    alone(defaults_of_the_configuration),
    alone(part_of_proc_is_hidden, MODES if AS_ROOT else ()),
    alone(root_in_user_mode_is_uid_0_without_capabilities,
          ("user",) if AS_ROOT else ()))
