#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The archiver by itself: each format, each refusal, bombs, the sysroot."""

import bz2
import errno
import fcntl
import gzip
import io
import lzma
import os
import random
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tarfile
import tempfile
import time
import traceback
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
LIBEXEC = os.environ.get("DL_LIBEXEC") or os.path.join(
    HERE, "../../build/libexec/debuglantern")
ARCHIVER = os.path.join(os.path.abspath(LIBEXEC), "archiver")
RECORD = struct.Struct("=IIQQQ160s")
PROGRESS, DONE, FAILED = 1, 2, 3
MIB = 1 << 20

with open("/bin/true", "rb") as f:
    ELF = f.read()
with open(os.path.join(HERE, "../../common/base/errors.def")) as f:
    CODES = re.findall(r'^ERR\(\w+,\s*"(\w+)"', f.read(), re.M)

# the inner uid is not 0 and holds no capability, as under the launcher
INSIDE = ["unshare", "--user", "--map-user=1000", "--map-group=1000"]


class Result:
    """What one run of the archiver said, and what it left behind."""

    def __init__(self, rc, data, box=None):
        self.rc, self.box = rc, box
        assert len(data) % RECORD.size == 0, "torn report"
        self.reports = [RECORD.unpack(data[i:i + RECORD.size])
                        for i in range(0, len(data), RECORD.size)]
        for r in self.reports:
            assert re.fullmatch(rb"[ -~]*\0+", r[5]), "text %r" % r[5]
        assert all(r[0] == PROGRESS for r in self.reports[:-1])
        last = self.reports[-1] if self.reports else (0, 0, 0, 0, 0, b"")
        self.kind = last[0]
        self.code = CODES[last[1]]
        self.bytes, self.members, self.skipped = last[2:5]
        self.text = last[5].rstrip(b"\0").decode()

    def __str__(self):
        return "rc=%s kind=%s code=%s bytes=%s members=%s skipped=%s: %s" % (
            self.rc, self.kind, self.code, self.bytes, self.members,
            self.skipped, self.text)

    def path(self, name):
        return os.path.join(self.box, name)

    def read(self, name):
        with open(self.path(name), "rb") as f:
            return f.read()

    def mode(self, name):
        return stat.S_IMODE(os.lstat(self.path(name)).st_mode)


def sealed(blob):
    fd = os.memfd_create("archive", os.MFD_ALLOW_SEALING | os.MFD_CLOEXEC)
    view = memoryview(blob)
    while view:
        view = view[os.write(fd, view):]
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE |
                fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_SEAL)
    return fd


def outside(work):
    """Everything near the box but not in it."""
    found = []
    for top, dirs, files in os.walk(work):
        if top == work:
            dirs.remove("box")
        for n in dirs + files:
            p = os.path.join(top, n)
            st = os.lstat(p)
            found.append((p, st.st_mode, st.st_size, st.st_nlink))
    return sorted(found)


def unpack(blob, exe="prog", nbytes=64 * MIB, members=1000, path=1000,
           narrow="yes"):
    work = tempfile.mkdtemp(dir=TMP)
    box = os.path.join(work, "box")
    os.mkdir(box)
    with open(os.path.join(work, "canary"), "wb") as f:
        f.write(ELF)
    before = outside(work)
    fd = sealed(blob)
    p = subprocess.run(
        INSIDE + [ARCHIVER, "unpack", str(nbytes), str(members), str(path),
                  exe, narrow], stdin=fd, stdout=subprocess.PIPE, cwd=box, timeout=60)
    os.close(fd)
    assert outside(work) == before, "something outside was touched"
    return Result(p.returncode, p.stdout, box)


def member(name, data=b"", **attrs):
    ti = tarfile.TarInfo(name)
    ti.size = len(data)
    ti.mode = 0o755 if data else 0o644
    for k, v in attrs.items():
        setattr(ti, k, v)
    return ti, data


def link(name, target, **attrs):
    return member(name, type=tarfile.SYMTYPE, linkname=target, **attrs)


def hard(name, target, **attrs):
    return member(name, type=tarfile.LNKTYPE, linkname=target, **attrs)


def folder(name, mode=0o755):
    return member(name, type=tarfile.DIRTYPE, mode=mode)


PROG = member("prog", ELF)


def tar(*members, format=tarfile.PAX_FORMAT, **kw):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=format, **kw) as t:
        for ti, data in members:
            t.addfile(ti, io.BytesIO(data))
    return out.getvalue()


def zipped(*members, **kw):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, **kw) as z:
        for name, data, mode in members:
            zi = zipfile.ZipInfo(name)
            zi.create_system = 3
            zi.external_attr = mode << 16
            zi.compress_type = zipfile.ZIP_DEFLATED
            z.writestr(zi, data)
    return out.getvalue()


ZPROG = ("prog", ELF, 0o100755)


def zstd(blob):
    """One frame of raw blocks: the format, if not the compression."""
    out = struct.pack("<IBI", 0xFD2FB528, 0xA0, len(blob))
    step = 100000
    for at in range(0, len(blob), step):
        part = blob[at:at + step]
        last = at + step >= len(blob)
        out += struct.pack("<I", last | len(part) << 3)[:3] + part
    return out


def good(r, members=None):
    assert (r.rc, r.kind, r.code, r.text) == (0, DONE, "ok", ""), str(r)
    if members is not None:
        assert r.members == members, str(r)
    return r


def bad(r, text, code="extract_failed"):
    assert (r.rc, r.kind, r.code) == (1, FAILED, code), str(r)
    assert text in r.text, "%s; expected %r" % (r, text)
    return r


def too_big(r, text="unpacks to more than"):
    return bad(r, text, "max_total_bytes_reached")


TESTS = []


def test(fn):
    TESTS.append(fn)
    return fn


@test
def tar_dialects():
    for fmt in tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT:
        # beyond 255 bytes the oldest of the three gives up
        long = "d" * 120 + "/" + "f" * (
            90 if fmt == tarfile.USTAR_FORMAT else 160)
        r = good(unpack(tar(folder("./"), PROG, member(long, b"x"),
                            format=fmt)))
        assert r.read("prog") == ELF and r.read(long) == b"x"
    # the seventh edition: no magic
    old = bytearray(tar(PROG, format=tarfile.USTAR_FORMAT))
    old[257:265] = b"\0" * 8
    old[148:156] = b" " * 8
    old[148:156] = b"%06o\0 " % sum(old[:512])
    assert good(unpack(bytes(old))).read("prog") == ELF


@test
def compressions():
    plain = tar(PROG, member("data", os.urandom(100000)))
    forms = [plain, gzip.compress(plain), lzma.compress(plain), zstd(plain)]
    for blob in forms:
        r = good(unpack(blob), 2)
        assert r.read("prog") == ELF
        assert r.bytes == len(ELF) + 100000, str(r)


@test
def zip_archives():
    r = good(unpack(zipped(("d/", b"", 0o40700), ZPROG,
                           ("d/\u00e9", b"utf", 0o100640),
                           ("l", b"d/x", 0o120777))))
    assert r.read("prog") == ELF and r.read("d/\u00e9") == b"utf"
    assert r.mode("prog") == 0o755 and r.mode("d/\u00e9") == 0o640
    assert os.readlink(r.path("l")) == "d/x"
    stored = io.BytesIO()
    with zipfile.ZipFile(stored, "w") as z:
        z.writestr("prog", ELF)
    assert good(unpack(stored.getvalue())).read("prog") == ELF


@test
def other_formats_are_refused():
    plain = tar(PROG)
    what = "not a tar or zip archive"
    cpio = b"070701" + b"00000000" * 11 + b"00000005" + b"0" * 8 + b"prog\0"
    for blob in (b"x", ELF, b"#!/bin/sh\n", b"!<arch>\nprog/", os.urandom(
            5000), bz2.compress(plain), gzip.compress(ELF), cpio * 10,
            b"#mtree\nprog type=file\n", b"7z\xbc\xaf\x27\x1c" + bytes(100),
            gzip.compress(zipped(ZPROG)), b"WARC/1.0\r\n" + bytes(600),
            lzma.compress(plain, lzma.FORMAT_ALONE), b"PK\3\4" + bytes(90)):
        bad(unpack(blob), what)


@test
def empty_archives():
    bad(unpack(b""), "the archive is empty")
    bad(unpack(tar()), "the archive is empty")
    bad(unpack(gzip.compress(tar())), "the archive is empty")
    bad(unpack(zipped()), "the archive is empty")
    bad(unpack(tar(folder("./"))), 'exec path "prog" is not in the bundle',
        "invalid_exec_path")


@test
def names_that_leave():
    bad(unpack(tar(PROG, member("../../etc/passwd", b"x"))),
        'member "../../etc/passwd" leaves the bundle')
    bad(unpack(tar(PROG, member("../canary", b"x"))), "leaves the bundle")
    bad(unpack(tar(PROG, folder("..", 0o777))), "leaves the bundle")
    bad(unpack(tar(PROG, member("a/../b", b"x"))), '".." in its path')
    bad(unpack(tar(PROG, member("/etc/passwd", b"x"))), "absolute path")
    bad(unpack(tar(PROG, member("x", b"x", pax_headers={
        "path": "../canary"}))), "leaves the bundle")
    bad(unpack(tar(PROG, member("../" + "x" * 150, b"x"),
                   format=tarfile.GNU_FORMAT)), "leaves the bundle")
    for name in "../canary", "a/../../canary", "/etc/passwd":
        bad(unpack(zipped(ZPROG, (name, b"x", 0o100644))), "member")


@test
def odd_names_are_fine():
    names = ["a..b", "..c", "...", "-rf", " ", "a b", "\u00e9", "e\u0301",
             "*", "$(id)", "a\\b", "'\"", "COM1:"]
    r = good(unpack(tar(PROG, *(member("./x//./" + n, b"1") for n in names))))
    assert sorted(os.listdir(r.path("x"))) == sorted(names), os.listdir(
        r.path("x"))
    for fmt in tarfile.GNU_FORMAT, tarfile.PAX_FORMAT:
        r = good(unpack(tar(PROG, member("caf\udce9", b"1"), format=fmt,
                            errors="surrogateescape")))
        assert b"caf\xe9" in os.listdir(os.fsencode(r.box))


@test
def names_that_harm_terminals():
    for c in "\n", "\r", "\033[2J", "\177", "\1", "\t":
        bad(unpack(tar(PROG, member("a" + c, b"x"))), "control character")
        bad(unpack(tar(PROG, link("l", "a" + c))), "control character")
    # a NUL ends a name; what is behind it never becomes a path
    r = unpack(zipped(ZPROG, ("ok~/../../canary", b"x", 0o100644)).replace(
        b"ok~", b"ok\0"))
    assert r.kind == FAILED or r.read("ok") == b"x", str(r)


@test
def long_names():
    good(unpack(tar(PROG, member("a/" * 30 + "b", b"x")), path=61))
    bad(unpack(tar(PROG, member("a/" * 30 + "b", b"x")), path=60),
        "too long a path")
    bad(unpack(tar(PROG, member("n" * 256, b"x"))), "longer than 255 bytes")
    bad(unpack(tar(PROG, member("a/" * 200 + "b", b"x"))),
        "more than 128 directories deep")
    bad(unpack(tar(PROG, member("q" * 3000000, b"x"))), "header too large")
    bad(unpack(tar(PROG, member("q" * 500000, b"x"))), "longer than 255")
    bad(unpack(tar(PROG, link("l", "t" * 1001))), "too long a target")


@test
def symlinks_inside():
    r = good(unpack(tar(
        member("lib/real/libx.so.1", b"x"), link("lib/libx.so",
                                                 "real/libx.so.1"),
        link("bin/up", "../lib/./real"), link("self", "."),
        link("dangling", "nowhere"), link("prog", "bin/prog"),
        member("bin/prog", ELF))))
    assert r.read("bin/up/libx.so.1") == b"x"
    assert r.mode("bin/prog") & 0o100


@test
def symlinks_that_leave():
    bad(unpack(tar(PROG, link("l", "/etc/passwd"))), "absolute path")
    bad(unpack(tar(PROG, link("l", "../canary"))), "leaves the bundle")
    bad(unpack(tar(PROG, link("a/l", "../../canary"))), "leaves the bundle")
    bad(unpack(tar(PROG, link("l", ""))), "member")
    # each link alone stays inside, the chain does not
    bad(unpack(tar(PROG, link("p/q/r", "../.."), link("m", "p/q/r/.."))),
        "member \"m\" is a symlink that leaves")
    bad(unpack(tar(PROG, link("p/q/r", "../.."),
                   link("a/b/m", "../p/../canary"))),
        '".." after a name')
    bad(unpack(zipped(ZPROG, ("l", b"/bin/ls", 0o120777))), "absolute path")
    bad(unpack(zipped(ZPROG, ("l", b"../canary", 0o120777))), "leaves")


@test
def nothing_is_written_through_links():
    bad(unpack(tar(PROG, folder("d"), link("l", "d"),
                   member("l/x", b"x"))), "below a symlink")
    bad(unpack(tar(PROG, folder("d"), link("l", "d"),
                   member("l/y/z/x", b"x"))), "below a symlink")
    bad(unpack(tar(PROG, folder("d"), link("l", "d"), folder("l"))),
        "in place of something else")
    bad(unpack(tar(PROG, member("f", b"1"), member("f/x", b"x"))),
        "below something that is no directory")
    # a link is replaced, not followed
    r = good(unpack(tar(PROG, member("f", b"old"), link("l", "f"),
                        member("l", b"new"))))
    assert r.read("f") == b"old" and r.read("l") == b"new"
    assert not os.path.islink(r.path("l"))
    bad(unpack(zipped(ZPROG, ("l", b"d", 0o120777), ("l/x", b"x", 0o100644))),
        "below")


@test
def hard_links():
    r = good(unpack(tar(PROG, member("d/f", b"data"), hard("g", "d/f"),
                        hard("h/i", "./g"))))
    inodes = {os.stat(r.path(n)).st_ino for n in ("d/f", "g", "h/i")}
    assert len(inodes) == 1
    what = "hard link to no file unpacked before"
    bad(unpack(tar(PROG, hard("g", "../canary"))), "outside of the bundle")
    bad(unpack(tar(PROG, hard("g", "/etc/passwd"))), "outside of the bundle")
    bad(unpack(tar(PROG, hard("g", "later"), member("later", b"x"))), what)
    bad(unpack(tar(PROG, hard("g", "no/such"))), what)
    bad(unpack(tar(PROG, folder("d"), hard("g", "d"))), what)
    bad(unpack(tar(PROG, hard("g", "."))), what)
    bad(unpack(tar(PROG, hard("prog", "./prog"))), "hard link to itself")
    # moved by a second name, ".." of the link would lead out
    bad(unpack(tar(PROG, link("a/b/l", "../../prog"), hard("m", "a/b/l"))),
        what)
    bad(unpack(tar(PROG, folder("d"), link("l", "d"), member("d/f", b"x"),
                   hard("g", "l/f"))), what)
    bad(unpack(tar(PROG, folder("d"), link("l", "d"), hard("l/g", "prog"))),
        "below a symlink")


@test
def special_files():
    for type, text in ((tarfile.FIFOTYPE, "is a FIFO"),
                       (tarfile.CHRTYPE, "is a device node"),
                       (tarfile.BLKTYPE, "is a device node")):
        bad(unpack(tar(PROG, member("x", type=type, devmajor=1,
                                    devminor=3))), text)
    bad(unpack(zipped(ZPROG, ("x", b"", 0o140644))), "is a socket")
    bad(unpack(zipped(ZPROG, ("x", b"", 0o020644))), "is a device node")
    # libarchive takes this one for an empty file
    r = good(unpack(zipped(ZPROG, ("x", b"", 0o010644))))
    assert stat.S_ISREG(os.lstat(r.path("x")).st_mode)


@test
def modes_and_owners():
    r = good(unpack(tar(
        folder("sticky", 0o1777), folder("closed", 0), folder("sg", 0o2755),
        member("closed/f", b"x", mode=0), member("suid", b"x", mode=0o6755),
        member("open", b"x", mode=0o666, uid=0, gid=0, uname="root"),
        member("alien", b"x", mode=0o644, uid=4242, gid=4242),
        member("prog", ELF, mode=0o600, mtime=1000000000))))
    want = {"sticky": 0o755, "closed": 0o700, "sg": 0o755, "closed/f": 0o600,
            "suid": 0o755, "open": 0o644, "alien": 0o644, "prog": 0o700}
    got = {n: r.mode(n) for n in want}
    assert got == want, {n: oct(m) for n, m in got.items()}
    assert os.stat(r.path("alien")).st_uid == os.getuid()
    assert os.stat(r.path("prog")).st_mtime == 1000000000
    # a directory that is known already takes the mode of its own member
    r = good(unpack(tar(PROG, member("d/f", b"x"), folder("d", 0o500))))
    assert r.mode("d") == 0o700


@test
def duplicates():
    r = good(unpack(tar(PROG, member("f", b"one"), member("f", b"two"))))
    assert r.read("f") == b"two"
    r = good(unpack(tar(PROG, member("f", b"one"), hard("g", "f"),
                        member("f", b"two"))))
    assert (r.read("f"), r.read("g")) == (b"two", b"one")
    r = good(unpack(tar(PROG, member("f", b"one"), link("f", "prog"))))
    assert os.readlink(r.path("f")) == "prog"
    r = good(unpack(tar(PROG, member("f", b"one"), hard("f", "prog"))))
    assert r.read("f") == ELF
    good(unpack(tar(PROG, folder("d"), folder("d"), folder("./d/"))))
    for second in member("d", b"x"), link("d", "prog"), hard("d", "prog"):
        bad(unpack(tar(PROG, member("d/f", b"x"), second)),
            "would replace a directory")
    bad(unpack(tar(PROG, member("f", b"x"), folder("f"))),
        "in place of something else")


@test
def limit_of_bytes():
    body = bytes(1000)
    files = [member("f%d" % i, body) for i in range(10)]
    total = len(ELF) + 10000
    good(unpack(tar(PROG, *files), nbytes=total))
    too_big(unpack(tar(PROG, *files), nbytes=total - 1),
        "unpacks to more than %d bytes" % (total - 1))
    too_big(unpack(tar(PROG), nbytes=1), "unpacks to more than 1 bytes")
    # what a later member replaces has been written all the same
    too_big(unpack(tar(PROG, *[member("f", body)] * 10), nbytes=total - 1))
    # a tmpfs keeps link targets too
    too_big(unpack(tar(*(link("l%d" % i, "t" * 900) for i in range(10)), PROG),
               nbytes=total - 1001))


@test
def bombs():
    start = time.monotonic()
    zeros = bytes(200 * MIB)
    for blob in (gzip.compress(tar(PROG, member("z", zeros)), 1),
                 zipped(ZPROG, ("z", zeros, 0o100644))):
        r = too_big(unpack(blob, nbytes=MIB), "unpacks to more than 1048576")
        assert not os.path.exists(r.path("z")) or \
            os.stat(r.path("z")).st_size <= MIB
    zeros = gzip.compress(b"x" + bytes(50 * MIB), 9)
    bad(unpack(gzip.compress(zeros)), "not a tar")
    twice = gzip.compress(gzip.compress(tar(PROG)))
    bad(unpack(twice), "compressed more than once")
    bad(unpack(lzma.compress(gzip.compress(tar(PROG)))),
        "compressed more than once")
    assert time.monotonic() - start < 30


@test
def sizes_that_lie():
    huge = bytearray(tar(PROG, format=tarfile.GNU_FORMAT))
    for size in (b"\x80" + b"\0" * 3 + b"\x7f" + b"\xff" * 7,
                 b"\xff" * 12, b"77777777777\0"):
        huge[124:136] = size
        huge[148:156] = b" " * 8
        huge[148:156] = b"%06o\0 " % sum(huge[:512])
        r = unpack(bytes(huge))
        assert r.rc == 1 and r.code in ("extract_failed",
                                    "max_total_bytes_reached"), str(r)
    # a header that says 5 bytes before a stream of more
    z = zipped(ZPROG, ("f", b"y" * 5000, 0o100644))
    lie = z.replace(struct.pack("<I", 5000), struct.pack("<I", 5))
    assert lie != z
    r = unpack(lie)
    assert r.rc == 1 and r.code in ("extract_failed",
                                    "max_total_bytes_reached"), str(r)
    r = unpack(z.replace(struct.pack("<I", 5000), struct.pack("<I", 6000)))
    assert r.rc == 1 and r.code in ("extract_failed",
                                    "max_total_bytes_reached"), str(r)


@test
def sparse_files():
    d = tempfile.mkdtemp(dir=TMP)
    with open(os.path.join(d, "prog"), "wb") as f:
        f.write(ELF)
        f.truncate(3 * MIB)
    with open(os.path.join(d, "hole"), "wb") as f:
        f.seek(MIB)
        f.write(b"x")
        f.truncate(20 * MIB)
    os.chmod(os.path.join(d, "prog"), 0o755)
    for fmt in "gnu", "pax":
        blob = subprocess.run(
            ["tar", "-S", "--format=" + fmt, "-cC", d, "prog", "hole"],
            check=True, stdout=subprocess.PIPE).stdout
        assert len(blob) < MIB
        r = good(unpack(blob))
        assert r.read("hole") == bytes(MIB) + b"x" + bytes(19 * MIB - 1)
        assert os.stat(r.path("hole")).st_blocks * 512 < MIB
        assert r.bytes == 23 * MIB, str(r)
        too_big(unpack(blob, nbytes=22 * MIB))
    os.truncate(os.path.join(d, "hole"), 1 << 42)
    blob = subprocess.run(["tar", "-S", "-cC", d, "prog", "hole"],
                          check=True, stdout=subprocess.PIPE).stdout
    too_big(unpack(blob))


@test
def limit_of_members():
    files = [member("f%d" % i) for i in range(9)]
    good(unpack(tar(PROG, *files), members=10), 10)
    bad(unpack(tar(PROG, *files), members=9), "more than 9 members")
    # directories that no member names are made all the same
    bad(unpack(tar(PROG, member("a/b/c/d/e/f", b"x")), members=5),
        "more than 5 members")
    bad(unpack(tar(PROG, *[folder("./")] * 20), members=9),
        "more than 9 members")


@test
def forty_thousand_members():
    n = 40000
    blob = gzip.compress(tar(
        PROG, *(member("d%d/f%d" % (i % 100, i), b"") for i in range(n)),
        format=tarfile.USTAR_FORMAT), 1)
    start = time.monotonic()
    r = good(unpack(blob, members=50000), n + 101)
    assert time.monotonic() - start < 20
    assert sum(len(f) for _, _, f in os.walk(r.box)) == n + 1
    bad(unpack(blob, members=30000), "more than 30000 members")


@test
def damaged_archives():
    blob = gzip.compress(tar(PROG, member("r", os.urandom(50000))))
    bad(unpack(blob[:len(blob) // 2]), "damaged archive")
    plain = tar(PROG)
    bad(unpack(plain[:len(plain) // 4]), "damaged archive")
    z = bytearray(zipped(ZPROG))
    z[2000] ^= 255
    bad(unpack(bytes(z)), "damaged archive")
    z = zipped(ZPROG)
    locked = z.replace(b"PK\3\4\x14\0\0\0", b"PK\3\4\x14\0\1\0").replace(
        b"\x14\3\x14\0\0\0", b"\x14\3\x14\0\1\0")
    assert locked != z
    r = unpack(locked)
    assert r.rc == 1 and r.code in ("extract_failed",
                                    "max_total_bytes_reached"), str(r)
    bad(unpack(lzma.compress(plain, filters=[{
        "id": lzma.FILTER_LZMA2, "dict_size": 1 << 20}])[:-40]),
        "damaged archive")


@test
def mutations():
    rng = random.Random(7)
    seeds = [tar(folder("d"), PROG, link("l", "prog"), hard("h", "prog"),
                 member("e" * 99, b"abc"), format=f)
             for f in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT,
                       tarfile.PAX_FORMAT)]
    seeds.append(zipped(ZPROG, ("d/x", b"x" * 99, 0o100644),
                        ("l", b"prog", 0o120777)))
    seeds.append(gzip.compress(seeds[0]))
    for i in range(200):
        blob = bytearray(rng.choice(seeds))
        for _ in range(rng.choice((1, 3, 20))):
            # most of an archive is the program: aim at headers
            at = rng.randrange(min(len(blob), 1024)) if rng.random() < .7 \
                else len(blob) - 1 - rng.randrange(min(len(blob), 8192))
            blob[at] = rng.randrange(256)
        if blob[148:149].isdigit():
            blob[148:156] = b" " * 8
            blob[148:156] = b"%06o\0 " % sum(blob[:512])
        r = unpack(bytes(blob), nbytes=8 * MIB)
        assert r.rc in (0, 1) and r.kind in (DONE, FAILED), \
            "mutation %d: %s" % (i, r)
        shutil.rmtree(os.path.dirname(r.box))


@test
def exec_path_rules():
    inv = "invalid_exec_path"
    b = tar(PROG, folder("d"), member("d/p", ELF), link("e", "d"),
            link("x", "y"), link("y", "x"), member("a..b", ELF))
    for exe in "./prog", "d/p", "e/p", "d//p", "a..b":
        good(unpack(b, exe))
    bad(unpack(b, "no/such"), 'exec path "no/such" is not in the bundle', inv)
    bad(unpack(b, "d"), "is a directory", inv)
    bad(unpack(b, "e"), "is a directory", inv)
    bad(unpack(b, "x"), "loop of symlinks", inv)
    bad(unpack(b, "prog/x"), "no directory", inv)
    for exe in ("../canary", "d/../prog", "/bin/ls", "", ".", "a\nb",
                "q" * 300):
        r = bad(unpack(b, exe), "exec path", inv)
        # and nothing was unpacked for it
        assert os.listdir(r.box) == [] and r.members == 0


@test
def exec_path_is_a_program():
    inv = "invalid_elf"
    bad(unpack(tar(member("prog", b"#!/bin/sh\n"))),
        '"prog": a script, not an ELF', inv)
    bad(unpack(tar(member("prog", b""))), "empty", inv)
    bad(unpack(tar(member("prog", b"\177ELF"))), "cut off after 4", inv)
    bad(unpack(tar(member("prog", ELF[:200]))), "cut off after 200", inv)
    alien = bytearray(ELF)
    alien[18:20] = struct.pack("<H", 8)
    bad(unpack(tar(member("prog", bytes(alien)))), "ELF for mips", inv)
    alien = bytearray(ELF)
    alien[16:18] = struct.pack("<H", 1)
    bad(unpack(tar(member("prog", bytes(alien)))), "an object file", inv)


@test
def bad_arguments():
    for args in ([], ["unpack"], ["unpack", "1", "2", "3", "prog"], ["pack"],
                 ["pack", "1", "2"], ["list", "1"]):
        p = subprocess.run([ARCHIVER] + args, stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert p.returncode == 1 and b"usage:" in p.stderr, args
        assert p.stdout == b""
    for n in "-1", "+1", "0x10", "1e9", "", " 1", "0", "9" * 23:
        bad(unpack(tar(PROG), nbytes=n), "MAXBYTES", "internal_error")
        bad(unpack(tar(PROG), members=n), "MAXMEMBERS", "internal_error")
        bad(unpack(tar(PROG), path=n), "MAXPATH", "internal_error")
    bad(unpack(tar(PROG), path=4096), "MAXPATH", "internal_error")


def field(text, name):
    return re.search(r"^%s\s*:?\s*(.*)" % re.escape(name), text, re.M)[1]


@test
def what_it_holds_while_it_runs():
    box = tempfile.mkdtemp(dir=TMP)
    out_r, out_w = os.pipe2(os.O_CLOEXEC)
    canary_r, canary_w = os.pipe2(os.O_CLOEXEC)
    # with the report pipe full it waits at its end, where we can look
    os.set_blocking(out_w, False)
    filled = 0
    try:
        while True:
            filled += os.write(out_w, bytes(4096))
    except BlockingIOError:
        pass
    os.set_blocking(out_w, True)
    fd = sealed(tar(PROG))
    p = subprocess.Popen([ARCHIVER, "unpack", "1000000", "10", "100", "prog", "yes"],
                         stdin=fd, stdout=out_w, cwd=box,
                         pass_fds=(canary_w,))
    os.close(out_w)
    os.close(canary_w)
    os.close(fd)
    assert os.read(canary_r, 1) == b"", "the extra fd is closed"
    deadline = time.monotonic() + 10
    while not os.path.exists(os.path.join(box, "prog")):
        assert time.monotonic() < deadline and p.poll() is None
        time.sleep(0.01)
    with open("/proc/%d/status" % p.pid) as f:
        status = f.read()
    with open("/proc/%d/limits" % p.pid) as f:
        limits = f.read()
    assert field(status, "Seccomp") == "2", status
    assert field(status, "NoNewPrivs") == "1", status
    assert field(status, "Threads") == "1", status
    assert field(limits, "Max open files").split()[:2] == ["64", "64"]
    assert field(limits, "Max core file size").split()[:2] == ["0", "0"]
    assert field(limits, "Max processes").split()[:2] == ["0", "0"]
    assert field(limits, "Max file size").split()[:2] == ["1000000"] * 2
    if os.getuid() == 0:
        fds = set(os.listdir("/proc/%d/fd" % p.pid))
        assert {"0", "1", "2"} <= fds and len(fds) <= 6, fds
    left = filled
    while left > 0:
        left -= len(os.read(out_r, left))
    good(Result(p.wait(10), os.read(out_r, 4096)))
    os.close(out_r)
    os.close(canary_r)


@test
def reader_that_goes_away():
    box = tempfile.mkdtemp(dir=TMP)
    r, w = os.pipe2(os.O_CLOEXEC)
    os.close(r)
    fd = sealed(tar(PROG))
    p = subprocess.run([ARCHIVER, "unpack", "1000000", "10", "100", "prog", "yes"],
                       stdin=fd, stdout=w, cwd=box, timeout=20)
    assert p.returncode != 0
    os.close(w)
    os.close(fd)


def as_pid_1(blob, box):
    fd = sealed(blob)
    p = subprocess.run(
        ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--pid",
         "--fork", "--kill-child", ARCHIVER, "unpack", str(MIB), "10", "100",
         "prog", "yes"], stdin=fd, stdout=subprocess.PIPE, cwd=box, timeout=20)
    os.close(fd)
    return Result(p.returncode, p.stdout, box)


@test
def as_the_first_process_of_a_namespace():
    good(as_pid_1(tar(PROG), tempfile.mkdtemp(dir=TMP)))
    bad(as_pid_1(tar(link("l", "/"), PROG), tempfile.mkdtemp(dir=TMP)),
        "absolute path")


@test
def full_file_system():
    box = tempfile.mkdtemp(dir=TMP)
    script = 'mount -t tmpfs -o size=1m,nr_inodes=50 none "$1" && ' \
        'cd "$1" && shift && exec "$@"'
    for blob, limit in ((tar(PROG, member("big", bytes(3 * MIB))), 100),
                        (tar(PROG, *(member("f%d" % i) for i in range(90))),
                         100)):
        fd = sealed(blob)
        p = subprocess.run(
            ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c",
             script, "sh", box, ARCHIVER, "unpack", str(64 * MIB), str(limit),
             "100", "prog", "yes"], stdin=fd, stdout=subprocess.PIPE, timeout=20)
        os.close(fd)
        bad(Result(p.returncode, p.stdout), "no space left for the bundle")


# --- taken over ------------------------------------------------------------

# libarchive's own code, as a hostile archive would have it
HOSTILE = r"""
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static const long allowed[] = { ALLOWED };
static void finish(long r) { _exit(r == -1 ? errno : 200); }
static void try_number(long nr)
{
	for (size_t i = 0; i < sizeof(allowed) / sizeof(allowed[0]); i++)
		if (allowed[i] == nr)
			_exit(199);
	finish(syscall(nr, 0, 0, 0, 0, 0, 0));
}
static void try_open(const char *path, unsigned long long flags)
{
	struct open_how how;
	memset(&how, 0, sizeof(how));
	how.flags = flags;
	how.mode = flags & O_CREAT ? 0600 : 0;
	finish(syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how)));
}
int archive_read_next_header(void *a, void **e)
{
	const char *what = getenv("ATTACK"), *path = getenv("ATTACK_PATH");
	(void)a; (void)e;
	switch (what[0]) {
	case '#': try_number(atol(what + 1)); break;
	case 'r': try_open(path, O_RDONLY); break;
	case 'w': try_open(path, O_WRONLY); break;
	case 'c': try_open(path, O_WRONLY | O_CREAT); break;
	case 'd': finish(mkdirat(AT_FDCWD, path, 0700)); break;
	case 'u': finish(unlinkat(AT_FDCWD, path, 0)); break;
	case 's': finish(symlinkat("x", AT_FDCWD, path)); break;
	case 'l': finish(linkat(AT_FDCWD, path, AT_FDCWD, "stolen", 0)); break;
	case 'x': finish((long)mmap(0, 4096, PROT_READ | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)); break;
	case 'p': finish(mprotect((void *)((unsigned long)what & ~4095UL), 4096,
	    PROT_READ | PROT_WRITE | PROT_EXEC)); break;
	case '2': finish(write(2, "x", 1)); break;
#ifdef __x86_64__
	case 'i': { long r; __asm__ volatile("int $0x80" : "=a"(r) : "a"(20L)
	    : "memory"); finish(r); } break;
	case '3': finish(syscall(0x40000000 + SYS_getpid)); break;
#endif
	}
	_exit(198);
}
"""
ALLOWED = """brk munmap mremap madvise mmap mprotect getrandom clock_gettime
    gettimeofday restart_syscall exit_group write pread64 pwrite64 openat2
    close fstat newfstatat mkdirat symlinkat linkat unlinkat fchmod ftruncate
    utimensat""".split()


def landlock():
    import ctypes
    return ctypes.CDLL(None).syscall(444, None, 0, 1) > 0


def attack(lib, what, path=""):
    box = os.path.join(TMP, "attacked")
    os.makedirs(box, exist_ok=True)
    fd = sealed(tar(PROG))
    p = subprocess.run(
        [ARCHIVER, "unpack", "1000000", "10", "100", "prog", "yes"], stdin=fd,
        stdout=subprocess.DEVNULL, cwd=box, timeout=20,
        env={"LD_PRELOAD": lib, "ATTACK": what, "ATTACK_PATH": path})
    os.close(fd)
    return p.returncode


@test
def taken_over_it_can_do_nothing():
    with open(ARCHIVER, "rb") as f:
        if b"__asan_init" in f.read():
            # the sanitizer's run time has calls and an order of its own
            return
    src, lib = os.path.join(TMP, "hostile.c"), os.path.join(TMP, "hostile.so")
    names = ALLOWED + (["time"] if os.uname().machine == "x86_64" else [])
    with open(src, "w") as f:
        f.write(HOSTILE.replace("ALLOWED", ", ".join(
            "SYS_" + n for n in names)))
    subprocess.run([os.environ.get("CC") or "cc", "-D_GNU_SOURCE", "-shared",
                    "-fPIC", "-o", lib, src], check=True)
    killed, allowed = -31, 199
    numbers = set(range(480))
    hole = 336 if os.uname().machine == "x86_64" else 295
    if os.uname().machine == "x86_64":
        # uretprobe and uprobe: the kernel exempts them from every filter
        # and refuses them outside of its own trampolines
        numbers -= {335, 336}
    got = {nr: attack(lib, "#%d" % nr) for nr in numbers}
    # those that are newer than the filter are unknown to it
    newer = {nr for nr in numbers if nr > 466 or hole <= nr < 424}
    assert {got.pop(nr) for nr in newer} == {errno.ENOSYS}
    assert set(got.values()) <= {killed, allowed}, [
        (n, r) for n, r in got.items() if r not in (killed, allowed)]
    assert list(got.values()).count(allowed) == len(names)
    for what in "xp2" + ("3" if os.uname().machine == "x86_64" else ""):
        assert attack(lib, what) == killed, what
    if os.uname().machine == "x86_64":
        # kernels without 32-bit programs have no such door
        assert attack(lib, "i") in (killed, -signal.SIGSEGV)
    # inside, the same calls work
    assert attack(lib, "c", "mine") == 200
    assert attack(lib, "d", "dir") == 200
    if landlock():
        near = os.path.join(TMP, "near")
        with open(near, "w") as f:
            f.write("x")
        os.symlink(near, os.path.join(TMP, "attacked/way"))
        for what, path in (("r", "/etc/passwd"), ("r", near), ("w", near),
                           ("w", "way"), ("c", "../new"), ("d", "../new"),
                           ("u", near), ("s", "../new"), ("l", near),
                           ("r", "/proc/self/environ"), ("r", "/")):
            r = attack(lib, what, path)
            # EACCES, and EXDEV for the link
            assert r in (13, 18), (what, path, r)


# --- pack ----------------------------------------------------------------

def fake_root():
    """A root whose libraries are ours; the archiver's own lie in /run."""
    root = tempfile.mkdtemp(dir=TMP)
    deps = os.path.join(root, "run")
    os.mkdir(deps)
    shutil.copy(ARCHIVER, deps)
    ldd = subprocess.run(["ldd", ARCHIVER], stdout=subprocess.PIPE,
                         check=True, text=True).stdout
    for lib in re.findall(r"(/\S+) \(0x", ldd):
        shutil.copy(lib, deps)
    for d in "proc", "tmp", "etc", "usr/lib64":
        os.makedirs(os.path.join(root, d))
    return root


def put(root, name, data=b"", mode=0o644):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(data)
    os.chmod(path, mode)


def ln(root, name, target):
    path = os.path.join(root, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.symlink(target, path)


def pack(root, nbytes=64 * MIB, out=None):
    loader = [n for n in os.listdir(root + "/run") if n.startswith("ld-")][0]
    f = out or tempfile.TemporaryFile(dir=TMP)
    start = time.monotonic()
    p = subprocess.run(
        INSIDE + ["--root=" + root, "--wd=/", "/run/" + loader,
                  "--library-path", "/run", "/run/archiver", "pack",
                  str(nbytes)],
        stdin=f, stdout=subprocess.PIPE, timeout=60)
    r = Result(p.returncode, p.stdout)
    r.took = time.monotonic() - start
    r.tar = None
    if r.kind == DONE:
        f.seek(0)
        blob = f.read()
        assert len(blob) == r.bytes, str(r)
        r.tar = tarfile.open(fileobj=io.BytesIO(gzip.decompress(blob)))
        r.names = r.tar.getnames()
        assert len(r.names) == r.members, str(r)
        # a client without links must be able to unpack it: no link but to
        # what came before
        seen = set()
        for m in r.tar.getmembers():
            assert m.isreg() or m.isdir() or m.islnk(), m.name
            assert not m.islnk() or m.linkname in seen, m.name
            assert m.mode & 0o7022 == 0, m.name
            seen.add(m.name)
        assert len(seen) == len(r.names), "one name twice"
    if out is None:
        f.close()
    return r


def content(r, name):
    return r.tar.extractfile(name).read()


@test
def sysroot_of_a_merged_usr():
    root = fake_root()
    ln(root, "lib", "usr/lib")
    ln(root, "lib64", "usr/lib64")
    put(root, "usr/lib/x/libc.so.6", b"libc" * 1000, 0o755)
    put(root, "usr/lib/debug/a.debug", b"dwarf")
    ln(root, "usr/lib64/ld.so", "/lib/x/libc.so.6")
    ln(root, "usr/lib/x/libc.so", "libc.so.6")
    ln(root, "etc/alternatives/blas", "/usr/lib/x/blas/libblas.so")
    put(root, "usr/lib/x/blas/libblas.so", b"blas")
    ln(root, "usr/lib/x/libblas.so", "/etc/alternatives/blas")
    r = good(pack(root))
    for name in ("lib/x/libc.so.6", "usr/lib/x/libc.so.6", "lib64/ld.so",
                 "lib/x/libc.so", "usr/lib/x/libc.so"):
        assert content(r, name) == b"libc" * 1000, name
    for name in "lib/x/libblas.so", "usr/lib/x/libblas.so":
        assert content(r, name) == b"blas", name
    assert content(r, "usr/lib/debug/a.debug") == b"dwarf"
    sizes = [m for m in r.tar.getmembers() if m.isreg()]
    assert len(sizes) == 3, [m.name for m in sizes]
    assert r.skipped == 0, str(r)


@test
def sysroot_of_a_split_usr():
    root = fake_root()
    put(root, "lib/libc.so.6", b"c")
    put(root, "usr/lib/libz.so", b"z")
    os.rmdir(root + "/usr/lib64")
    r = good(pack(root))
    assert sorted(r.names) == ["lib", "lib/libc.so.6", "usr/lib",
                               "usr/lib/libz.so"], r.names


@test
def sysroot_with_traps():
    root = fake_root()
    ln(root, "lib", "usr/lib")
    put(root, "usr/lib/ok", b"ok")
    put(root, "usr/lib/secret", b"no", 0)
    put(root, "usr/lib/suid", b"s", 0o6777)
    os.makedirs(root + "/usr/lib/closed", 0o755)
    put(root, "usr/lib/closed/in", b"x")
    os.chmod(root + "/usr/lib/closed", 0)
    put(root, "etc/outside/file", b"out")
    os.mkfifo(root + "/usr/lib/fifo")
    for name, target in (("loop", "loop"), ("dangling", "nowhere"),
                         ("up", ".."), ("top", "/"), ("here", "."),
                         ("self", "/usr/lib"), ("dir", "/etc/outside"),
                         ("proc", "/proc"), ("tty", "/dev/tty"),
                         ("out", "/proc/self/fd/0")):
        ln(root, "usr/lib/" + name, target)
    try:
        r = good(pack(root))
    finally:
        os.chmod(root + "/usr/lib/closed", 0o755)
    assert sorted(r.names) == [
        "lib", "lib/ok", "lib/suid", "usr/lib", "usr/lib/ok",
        "usr/lib/suid"], r.names
    assert r.skipped == 2 * 13, str(r)


@test
def sysroot_of_links_into_each_other():
    # n directories, each with a link to every other: n! paths
    root = fake_root()
    n = 12
    for i in range(n):
        put(root, "usr/lib/d%d/f" % i, b"%d" % i)
        for j in range(n):
            ln(root, "usr/lib/d%d/to%d" % (i, j), "../d%d" % j)
    start = time.monotonic()
    r = good(pack(root))
    assert time.monotonic() - start < 20
    assert r.members < 5000 and r.skipped > 0, str(r)
    for i in range(n):
        assert content(r, "usr/lib/d%d/f" % i) == b"%d" % i


@test
def sysroot_names():
    root = fake_root()
    names = ["n" * 250, "caf\udce9", "\u00e9", "a b"]
    for n in names:
        put(root, "usr/lib/" + "/".join(["sub" * 20] * 3) + "/" + n, b"1")
    deep = "usr/lib/" + "d/" * 60
    put(root, deep + "f", b"deep")
    r = good(pack(root))
    assert len([n for n in r.names if n.split("/")[-1] in names]) == 4
    assert r.skipped == 1, str(r)


@test
def sysroot_without_libraries():
    root = fake_root()
    what = "no system library directories found"
    bad(pack(root), what, "sysroot_no_libs")
    os.rmdir(root + "/usr/lib64")
    bad(pack(root), what, "sysroot_no_libs")
    os.makedirs(root + "/usr/lib/empty")
    bad(pack(root), what, "sysroot_no_libs")


@test
def sysroot_limits():
    root = fake_root()
    put(root, "usr/lib/noise", os.urandom(2 * MIB))
    good(pack(root, 3 * MIB))
    with tempfile.TemporaryFile(dir=TMP) as f:
        bad(pack(root, MIB, f), "takes more than 1048576 bytes",
            "sysroot_failed")
        assert os.fstat(f.fileno()).st_size <= MIB
    with tempfile.TemporaryFile(dir=TMP) as f:
        f.write(b"x")
        f.flush()
        bad(pack(root, MIB, f), "not an empty regular file", "internal_error")


@test
def progress_once_a_second():
    root = fake_root()
    noise = os.urandom(MIB)
    for i in range(120):
        put(root, "usr/lib/noise%d" % i, noise[i:] + noise[:i])
    r = good(pack(root, 400 * MIB))
    took = r.took
    got = [x for x in r.reports if x[0] == PROGRESS]
    assert len(got) <= took + 1, (len(got), took)
    assert len(got) >= int(took) - 1, (len(got), took)
    assert [x[2] for x in got] == sorted(x[2] for x in got)


def main():
    failed = 0
    print("1..%d" % len(TESTS))
    for i, fn in enumerate(TESTS, 1):
        name = fn.__name__.replace("_", " ")
        try:
            fn()
            print("ok %d - %s" % (i, name), flush=True)
        except Exception:
            failed += 1
            print("not ok %d - %s" % (i, name))
            print("# " + traceback.format_exc().rstrip().replace("\n",
                                                                 "\n# "),
                  flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    TMP = tempfile.mkdtemp(prefix="dl-archiver-")
    try:
        sys.exit(main())
    finally:
        shutil.rmtree(TMP, ignore_errors=True)
