#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# Bundles through the protocol: formats, each refusal with its reason, what
# is left of them, and that nobody waits for the work.
import gzip
import io
import lzma
import os
import signal
import subprocess
import sys
import tarfile
import zipfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import (AS_ROOT, Daemon, Prober, alone, eq, helper, in_modes, ok,
                read_helper, run_tests, tar_of, user_processes, wait_for)

MIB = 1 << 20


def special(name, kind, link="", mode=0o755, uid=0):
    t = tarfile.TarInfo(name)
    t.type, t.linkname, t.mode, t.uid, t.gid = kind, link, mode, uid, uid
    if kind in (tarfile.CHRTYPE, tarfile.BLKTYPE):
        t.devmajor, t.devminor = 1, 3
    return (t,)


def zip_of(*members):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in members:
            z.writestr(name, data)
    return out.getvalue()


def run(c, data, path):
    r = c.upload(data, path)
    if "id" not in r:
        return r, None
    c.cmd("START " + r["id"])
    return r, c.cmd(f"WAIT {r['id']} 20")


def formats(d):
    c = d.client()
    member = ("app/bin/run", helper("hello"))
    plain = tar_of(member, compression="")
    zstd = subprocess.run(["zstd", "-qc"], input=plain, check=True,
                          stdout=subprocess.PIPE).stdout
    for name, data in (
            ("plain tar", plain), ("tar.gz", tar_of(member)),
            ("tar.xz", lzma.compress(plain)), ("tar.zst", zstd),
            ("zip", zip_of(("app/bin/run", read_helper("hello"))))):
        r, s = run(c, data, "app/bin/run")
        ok(r.get("bundle") is True and s and s["exit_code"] == 0 and
           c.output(r["id"]) == b"Hello world\n", f"{name}: runs", (r, s))
        c.cmd("DELETE " + r.get("id", "x"))


def program_sees_its_files(d):
    c = d.client()
    data = tar_of(("app/sh", "/bin/dash"), ("app/data.txt", b"from data\n"),
                  ("lib/other.txt", b"from lib\n"))
    for flags in ("--sandbox none", "--sandbox namespaces",
                  "--sandbox tmpfs"):
        sid = c.upload(data, "app/sh")["id"]
        c.cmd(f"ARGS {sid} -c 'cat app/data.txt lib/other.txt; pwd; "
              "ls -A; echo mine >new && cat new'")
        c.cmd(f"START {sid} {flags}")
        s = c.cmd(f"WAIT {sid} 20")
        where = c.cmd("STATUS " + sid)["bundle_dir"]
        eq((s["exit_code"], c.output(sid).decode()),
           (0, f"from data\nfrom lib\n{where}\napp\nlib\nmine\n"),
           f"{flags}: it starts in bundle_dir, sees its files, may write")
        c.cmd("DELETE " + sid)


def bundles_are_apart(d):
    c = d.client()
    a = c.upload(tar_of(("sh", "/bin/dash"), ("a", b"A\n")), "sh")["id"]
    b = c.upload(tar_of(("sh", "/bin/dash"), ("b", b"B\n")), "sh")["id"]
    for sid, mine in ((a, b"A\n"), (b, b"B\n")):
        c.cmd(f"ARGS {sid} -c 'cat a b'")
        c.cmd("START " + sid)
        c.cmd(f"WAIT {sid} 20")
        out = c.output(sid)
        ok(mine in out and out.count(b"cannot open") +
           out.count(b"No such file") == 1, "each sees its own files", out)


def files_are_kept_between_runs(d):
    c = d.client()
    sid = c.upload(tar_of(("sh", "/bin/dash")), "sh")["id"]
    c.cmd(f"ARGS {sid} -c 'echo run >>log; cat log'")
    for n in (1, 2, 3):
        c.cmd("START " + sid)
        c.cmd(f"WAIT {sid} 20")
        eq(c.output(sid), b"run\n" * n, f"run {n} finds what was written")


def modes_without_setuid(d):
    c = d.client()
    sid = c.upload(tar_of(("inside", helper("inside")),
                          ("suid", b"x", 0o6755), ("open", b"x", 0o777)),
                   "inside")["id"]
    where = c.cmd("STATUS " + sid)["bundle_dir"]
    c.cmd(f"ARGS {sid} {where}/suid {where}/open")
    c.cmd("START " + sid)
    c.cmd(f"WAIT {sid} 20")
    out = c.output(sid).decode()
    ok(f"path.{where}/suid=100755\n" in out, "setuid and setgid are dropped")
    ok(f"path.{where}/open=100755\n" in out, "nobody else may write")


ELF = ("prog", helper("hello"))
# name, members, exec_path, word in the message
REFUSED = (
    ("exec_path as a symlink to /bin/ls",
     [special("prog", tarfile.SYMTYPE, "/bin/ls")], "prog", ""),
    ("exec_path below a symlink to /",
     [special("out", tarfile.SYMTYPE, "/")], "out/bin/ls", ""),
    ("exec_path below a symlink upwards",
     [special("out", tarfile.SYMTYPE, "../../../..")], "out/bin/ls", ""),
    ("a FIFO as exec_path",
     [special("prog", tarfile.FIFOTYPE)], "prog", ""),
    ("a directory as exec_path",
     [special("prog", tarfile.DIRTYPE)], "prog", ""),
    ("an exec_path that is not in it", [ELF], "missing", "missing"),
    ("a script as exec_path", [("prog", b"#!/bin/sh\necho hi\n")], "prog",
     ""),
    ("text as exec_path", [("prog", b"hello\n")], "prog", ""),
    ("an empty file as exec_path", [("prog", b"")], "prog", ""),
    ("4 bytes of ELF as exec_path", [("prog", b"\x7fELF")], "prog", ""),
    ("a hard link to a host file",
     [ELF, special("l", tarfile.LNKTYPE, "/etc/passwd")], "prog", "l"),
    ("a hard link upwards",
     [ELF, special("l", tarfile.LNKTYPE, "../../etc/passwd")], "prog", "l"),
    ("a symlink out of it",
     [ELF, special("l", tarfile.SYMTYPE, "../../etc/passwd")], "prog", "l"),
    ("an absolute symlink",
     [ELF, special("l", tarfile.SYMTYPE, "/etc")], "prog", "l"),
    ("a member that leaves by ..", [ELF, ("../evil", b"x")], "prog", "evil"),
    ("a member that leaves deep inside",
     [ELF, ("a/b/../../../evil", b"x")], "prog", "evil"),
    ("an absolute member", [ELF, ("/tmp/evil", b"x")], "prog", "evil"),
    ("a member through a symlink",
     [ELF, special("d", tarfile.SYMTYPE, "."), ("d/x", b"x")], "prog", "d/x"),
    ("a character device",
     [ELF, special("null", tarfile.CHRTYPE)], "prog", "null"),
    ("a block device",
     [ELF, special("sda", tarfile.BLKTYPE)], "prog", "sda"),
    ("a FIFO", [ELF, special("pipe", tarfile.FIFOTYPE)], "prog", "pipe"),
    ("a path that is too long", [ELF, ("x" * 200 + "/" + "y" * 200 + "/" +
                                       "/".join(["z" * 200] * 4), b"x")],
     "prog", ""),
)


def refusals(d):
    c = d.client()
    for name, members, path, word in REFUSED:
        r = c.upload(tar_of(*members), path)
        ok(r.get("error_code") in ("extract_failed", "invalid_exec_path",
                                   "invalid_elf") and word in r["message"]
           and len(r["message"]) > 10, f"{name}: refused with a reason", r)
    eq(c.cmd("LIST"), [], "a refused bundle leaves no session")
    for p in ("/tmp/evil", "/evil", d.dir + "/evil", d.dir + "/state/evil"):
        eq(os.path.exists(p), False, f"and nothing at {p[:12]}")


def refused_archives(d):
    c = d.client()
    good = tar_of(ELF)
    for name, data in (("no archive", b"hello, world"), ("zeros", bytes(999)),
                       ("an ELF", read_helper("hello")),
                       ("a cut archive", good[:len(good) // 2]),
                       # a deflate block of the kind that does not exist
                       ("a broken archive", good[:10] + b"\xff" * 8 +
                        good[18:]),
                       ("an empty archive", tar_of())):
        r = c.upload(data, "prog")
        eq(r.get("error_code"), "extract_failed", f"{name}: extract_failed")
        ok(r.get("message"), f"{name}: with a reason", r)


def names_that_are_fine(d):
    """a..b is a name, not a way out; so are dots and blanks."""
    c = d.client()
    for path in ("a..b", "..a", "a..", "...", "dir/a..b/c", ".hidden"):
        r, s = run(c, tar_of((path, helper("hello"))), path)
        ok(s and s["exit_code"] == 0, f"{path}: runs", (r, s))
    r, s = run(c, tar_of(("./app/./run", helper("hello"))), "app/run")
    ok(s and s["exit_code"] == 0, "./ in members: runs", (r, s))


def host_file_is_untouched(d):
    """exec_path to a host file once had the host file chmod'ed."""
    c = d.client()
    path = os.path.join(d.dir, "home", "bystander")
    with open(path, "w") as f:
        f.write("x")
    os.chmod(path, 0o600)
    for p in (path, "../" * 12 + path[1:]):
        r = c.upload(tar_of(ELF), p)
        eq(r.get("error_code"), "invalid_exec_path", "a host file as "
           "exec_path")
    r = c.upload(tar_of(special("prog", tarfile.SYMTYPE, path)), "prog")
    eq(r.get("ok"), False, "a link to a host file as exec_path")
    eq(os.stat(path).st_mode & 0o777, 0o600, "the host file keeps its mode")
    os.unlink(path)


def foreign_uids_become_the_owners(d):
    c = d.client()
    sid = c.upload(tar_of(("sh", "/bin/dash"),
                          special("dir", tarfile.DIRTYPE, uid=12345)),
                   "sh")["id"]
    c.cmd(f"ARGS {sid} -c 'test -O dir && test -w dir && echo mine'")
    c.cmd("START " + sid)
    c.cmd(f"WAIT {sid} 20")
    eq(c.output(sid), b"mine\n", "files belong to the session's owner")


def forty_thousand_files(d):
    c = d.client()
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as t:
        data = read_helper("hello")
        info = tarfile.TarInfo("prog")
        info.size, info.mode = len(data), 0o755
        t.addfile(info, io.BytesIO(data))
        for i in range(40000):
            info = tarfile.TarInfo(f"d{i % 100}/f{i}")
            info.size = 1
            t.addfile(info, io.BytesIO(b"x"))
    with Prober(d) as others:
        sid = c.upload(out.getvalue(), "prog")["id"]
        others.check("unpacking 40,000 files: nobody else waits")
    c.cmd("START " + sid)
    eq(c.cmd(f"WAIT {sid} 20")["exit_code"], 0, "it runs")
    with Prober(d) as others:
        eq(c.cmd("DELETE " + sid)["state"], "DELETED", "DELETE of it")
        for _ in range(20):
            c.cmd("VERSION")
        others.check("DELETE of 40,000 files: nobody else waits")


def tar_bomb(mode):
    with Daemon(mode, "bundle-max-bytes 64M\n") as d:
        c = d.client()
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as t:
            info = tarfile.TarInfo("prog")
            info.size = 400 * MIB
            t.addfile(info, Zeros())
        data = out.getvalue()
        ok(len(data) < 8 * MIB, "a bomb is small", len(data))
        with Prober(d) as others:
            r = c.upload(data, "prog")
            eq(r.get("error_code"), "extract_failed",
               "limits count unpacked bytes: a bomb is refused")
            ok("bytes" in r.get("message", ""), "with the reason", r)
            others.check("a tar bomb: nobody else waits")
        eq(c.cmd("LIST"), [], "nothing is left of it")


class Zeros:
    def read(self, n):
        return bytes(n)


def long_work():
    """An archive that is small and keeps an archiver busy for seconds."""
    name = tarfile.TarInfo("d")
    name.type, name.mode = tarfile.DIRTYPE, 0o755
    return gzip.compress(name.tobuf() * 2048, 1) * 600


def slow_archive_is_cancelled(mode):
    """The asker goes away while the archiver works."""
    with Daemon(mode, "bundle-max-members 10000000\n") as d:
        c = d.client()
        data = long_work()
        c.send(b"UPLOAD %d prog\n" % len(data) + data)
        seen = wait_for(d.archivers)
        ok(seen, "an archiver is at work")
        # from now on it cannot come to its end by itself
        for pid in seen:
            os.kill(pid, signal.SIGSTOP)
        c.reset()
        ok(wait_for(lambda: not d.archivers()),
           "an asker that leaves: no archiver is left")
        eq(d.client().cmd("LIST"), [], "an asker that leaves: no session is "
           "left")


def limit_of_members(mode):
    with Daemon(mode, "bundle-max-members 10\nbundle-max-path 40\n") as d:
        c = d.client()
        r = c.upload(tar_of(ELF, *[(f"f{i}", b"") for i in range(20)]),
                     "prog")
        eq(r.get("error_code"), "extract_failed", "bundle-max-members")
        ok("10" in r.get("message", ""), "names the limit", r)
        r = c.upload(tar_of(ELF, ("x" * 41, b"")), "prog")
        eq(r.get("error_code"), "extract_failed", "bundle-max-path")
        r = c.upload(tar_of(ELF, ("x" * 40, b"")), "prog")
        eq(r.get("state"), "LOADED", "just within")


def nothing_is_left(mode):
    with Daemon(mode) as d:
        with open("/proc/self/mountinfo") as f:
            mounts = f.read()
        state = os.path.join(d.dir, "state")
        before = sorted(os.listdir(state)) if AS_ROOT else []
        c = d.client()
        for _ in range(3):
            sid = c.upload(tar_of(("sh", "/bin/dash")), "sh")["id"]
            c.cmd(f"ARGS {sid} -c 'echo x >x'")
            c.cmd("START " + sid)
            c.cmd(f"WAIT {sid} 20")
            c.cmd("DELETE " + sid)
        with open("/proc/self/mountinfo") as f:
            eq(f.read(), mounts, "no mount of a bundle is seen on the host")
        if AS_ROOT:
            eq([x for x in sorted(os.listdir(state)) if x not in before and
                x != "bundle"], [], "nothing is left in the state directory")
        uid = d.uid
    if uid is not None:
        ok(wait_for(lambda: not user_processes(uid)),
           "no process is left", user_processes(uid))


run_tests(
    in_modes(
        formats, program_sees_its_files, bundles_are_apart,
        files_are_kept_between_runs, modes_without_setuid, refusals,
        refused_archives, names_that_are_fine, host_file_is_untouched,
        foreign_uids_become_the_owners, forty_thousand_files,
        conf="allow-sandbox none, namespaces, tmpfs\n"),
    alone(tar_bomb), alone(slow_archive_is_cancelled),
    alone(limit_of_members), alone(nothing_is_left))
