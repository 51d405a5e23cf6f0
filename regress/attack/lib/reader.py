# SPDX-License-Identifier: ISC
"""What an honest reader of symbols says of a binary, and the same damaged."""
import fcntl
import os
import socket
import struct
import subprocess

from rogue import BY_NAME, HEADER, PAYLOAD_MAX, dl, u32
from taken import datagram
from tracerig import WORK

FUTURE_WRITE = 0x10
FUNC = 40   # struct sym_func
SOURCE = """
#include <unistd.h>
struct s { int n; const char *text; double d[4]; struct s *next; };
__attribute__((noinline)) int one%(n)s(struct s *s, const char *text, int n)
{ __asm__ volatile("" ::: "memory"); return s->n + n + text[0]; }
__attribute__((noinline)) struct s two%(n)s(long a, float f, unsigned char c)
{ struct s s = { (int)a + c, "two", { f }, 0 }; return s; }
void work%(n)s(void)
{ struct s s = two%(n)s(1, 2.5f, 'x'); (void)one%(n)s(&s, "text", 7); }
"""
MAIN = """
#include <unistd.h>
void work0(void); void work1(void); void work2(void);
int main(void)
{ for (;;) { work0(); work1(); work2(); usleep(500); } }
"""


def compile_it(name, source, *flags):
    path = os.path.join(WORK, name)
    subprocess.run(["gcc", "-w", "-g", "-O1", "-xc", "-", "-o", path, *flags],
                   input=source.encode(), check=True)
    return path


def program():
    """One with two libraries, so that whoever traces all of it has three
    readers; and one of these."""
    libs = [compile_it(f"lib{n}.so", SOURCE % {"n": n}, "-shared", "-fPIC")
            for n in (1, 2)]
    # what -xc was for is the source alone
    return compile_it("babbled", SOURCE % {"n": 0} + MAIN, "-xnone", *libs,
                      "-Wl,-rpath," + WORK), libs[0]


class Honest:
    """Its answers, as they came: .opened and .typed, payloads; .index, the
    bytes of its file."""

    def __init__(self, path):
        ours, theirs = socket.socketpair(socket.AF_UNIX,
                                         socket.SOCK_SEQPACKET)
        exe = os.path.join(dl.LIBEXEC, "symbols")
        pid = os.posix_spawn(exe, ["symbols"], {}, file_actions=[
            (os.POSIX_SPAWN_DUP2, theirs.fileno(), 3)])
        theirs.close()
        self.s = ours
        self.s.settimeout(60)
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.opened, _ = self.ask("SYM_OPEN", fds=[fd])
        os.close(fd)
        _, (fd,) = self.ask("SYM_SCAN")
        self.index = os.pread(fd, os.fstat(fd).st_size, 0)
        os.close(fd)
        self.dies = list(self.find_dies())
        n = len(self.dies)
        first, _ = self.ask("SYM_TYPES", u32(n, *self.dies))
        self.typed = [first] + [self.hear()[0] for _ in range(n - 1)]
        if [struct.unpack_from("=I", t)[0] for t in self.typed] != self.dies:
            raise RuntimeError("answers that were not asked for")
        self.s.close()
        os.waitpid(pid, 0)

    def ask(self, name, payload=b"", fds=()):
        socket.send_fds(self.s, [datagram(name, payload)], list(fds))
        return self.hear()

    def hear(self):
        data, fds, _, _ = socket.recv_fds(self.s, HEADER.size + PAYLOAD_MAX,
                                          1)
        kind = HEADER.unpack_from(data)[0]
        if kind == BY_NAME["SYM_FAILED"]["type"]:
            raise RuntimeError(data[HEADER.size:])
        return data[HEADER.size:], fds

    def find_dies(self):
        """Of functions that have an address, by struct sym_func."""
        n, strs = struct.unpack_from("=II", self.index, 28)
        for at in range(strs - FUNC * n, strs, FUNC):
            addr, = struct.unpack_from("=Q", self.index, at)
            die, = struct.unpack_from("=I", self.index, at + 32)
            if addr and die:
                yield die


def sealed(data, seal=fcntl.F_SEAL_WRITE):
    """seal: beside those of its size; 0 = none at all."""
    fd = os.memfd_create("data", os.MFD_ALLOW_SEALING)
    os.pwrite(fd, data, 0)
    if seal:
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK |
                    fcntl.F_SEAL_GROW | seal)
    return fd


def damaged(r, data, edges):
    """One or some of its words are others, or it ends elsewhere."""
    data = bytearray(data)
    for _ in range(r.choice((1, 1, 2, 8))):
        at = r.randrange(max(len(data) // 4, 1)) * 4
        how = r.randrange(6)
        if how == 0:
            del data[at:]
        elif how == 1:
            data[at:at] = r.randbytes(r.choice((1, 4, 4000)))
        elif how == 2 and len(data) > 4:
            data[r.randrange(len(data))] ^= 1 << r.randrange(8)
        elif len(data) >= at + 4:
            data[at:at + 4] = u32(r.choice((r.choice(edges),
                                            r.randrange(len(data)))))
    return bytes(data)
