# SPDX-License-Identifier: ISC
"""The debug adapters that this machine has, and programs for them."""
import atexit
import os
import shutil
import subprocess
import tempfile

from dbgrig import TOP, Failed, Rig
from dl import copy_source, tap

SOURCES = os.path.join(TOP, "regress/dap")
WORK = tempfile.mkdtemp(prefix="dl-dap-")
os.chmod(WORK, 0o755)
atexit.register(shutil.rmtree, WORK, True)


class Adapter:
    """One that is there; kind is what its programs are written in."""

    def __init__(self, name, kind, profile, adapter=None):
        self.name = name
        self.kind = kind
        self.profile = profile
        self.adapter = adapter

    def rig(self, *options, env=None):
        return Rig(None, list(options), env=env)

    def start(self, r, program, *args, **kw):
        if self.adapter is not None:
            kw.setdefault("adapter", self.adapter)
        try:
            return r.ask("start", program=program, cwd=WORK, args=list(args),
                         **kw)
        except Failed as e:
            # what it wrote may say why
            e.args = (*e.args, r.ask("status"), r.said())
            raise


def built(source, *command):
    """Copies a source to WORK and builds it there, if its tools are here."""
    copy_source(os.path.join(SOURCES, source), WORK)
    if command and shutil.which(command[0]):
        subprocess.run(command, cwd=WORK, check=True, env=dict(
            os.environ, GOCACHE=os.path.join(WORK, "cache"),
            GOFLAGS="-mod=mod", HOME=WORK))


def source_line(source, mark):
    """The number of the line that has this comment."""
    with open(os.path.join(SOURCES, source)) as f:
        for n, text in enumerate(f, 1):
            if mark in text:
                return n
    raise KeyError(mark)


def gdb_speaks_dap():
    """Debian 12's gdb does not."""
    return shutil.which("gdb") is not None and subprocess.run(
        ["gdb", "-nx", "-batch", "-ex", "python import gdb.dap"],
        capture_output=True).stderr == b""


def adapters():
    out = []
    if shutil.which("lldb-dap-19"):
        out.append(Adapter("lldb-19", "native", "lldb-dap", "lldb-dap-19"))
    else:
        tap.skip("lldb-dap 19", "not installed")
    p = subprocess.run([os.path.join(TOP, "regress/lldb22.sh")],
                       capture_output=True, text=True)
    if p.returncode == 0:
        out.append(Adapter("lldb-22", "native", "lldb-dap",
                           p.stdout.strip()))
    else:
        tap.skip("lldb-dap 22", p.stderr.strip()[:80].replace("\n", " "))
    if gdb_speaks_dap():
        out.append(Adapter("gdb", "native", "gdb", "gdb"))
    if shutil.which("dlv") and shutil.which("go"):
        out.append(Adapter("delve", "go", "delve"))
    else:
        tap.skip("delve", "not installed")
    if os.path.isdir("/usr/lib/python3/dist-packages/debugpy"):
        out.append(Adapter("debugpy", "python", "debugpy"))
    else:
        tap.skip("debugpy", "not installed")
    return out
