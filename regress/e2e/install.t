#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# make install and uninstall, into a directory of their own.
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
import dl  # noqa: E402
from dl import Daemon, eq, ok, run_tests  # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
BUILD = os.environ.get("DL_BUILD", "build")
ROLES = ("parent", "logger", "netproc", "spawner", "launcher", "archiver", "announcer",
         "idproc", "tlsproc", "acctproc", "debugger", "dapdial", "symbols",
         "tracer")
ROOT = tempfile.mkdtemp(prefix="dl-install-")
os.chmod(ROOT, 0o755)

PROGRAMS = ["usr/bin/debuglanternd", "usr/bin/debuglanternctl",
            "usr/bin/debugger",
            "usr/bin/debuglantern-mcp"] + [
    "usr/libexec/debuglantern/" + r for r in ROLES]
FILES = [
    "usr/share/man/man8/debuglanternd.8",
    "usr/share/man/man5/debuglantern.conf.5",
    "usr/share/man/man1/debuglanternctl.1", "usr/share/man/man1/debugger.1",
    "usr/share/man/man1/debuglantern-mcp.1",
    "usr/share/man/man7/debuglantern-http.7",
    "usr/lib/systemd/system/debuglantern.service",
    "usr/lib/systemd/user/debuglantern-user.service",
    "usr/lib/sysusers.d/debuglantern.conf",
    "usr/lib/tmpfiles.d/debuglantern.conf",
    "usr/share/bash-completion/completions/debuglanternctl",
    "usr/share/bash-completion/completions/debugger",
    "usr/share/zsh/site-functions/_debuglanternctl",
    "usr/share/zsh/site-functions/_debugger",
    "usr/share/debuglantern/apparmor.d/debuglantern",
    "usr/share/debuglantern/debuglantern.service.d/closed.conf",
    "usr/share/doc/debuglantern/TRACING.md",
    "usr/share/doc/debuglantern/TIMELINE.md",
    "usr/share/doc/debuglantern/SYMBOLS.md",
    "etc/debuglantern.conf",
]
CONF = os.path.join(ROOT, "etc/debuglantern.conf")


def make(*args):
    return subprocess.run(
        ["make", "-C", TOP, "--no-print-directory",
         "O=" + os.path.abspath(BUILD), "DESTDIR=" + ROOT, "PREFIX=/usr",
         *args], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, timeout=600)


def mode_of(path):
    try:
        return stat.S_IMODE(os.stat(os.path.join(ROOT, path)).st_mode)
    except OSError:
        return None


def read(path):
    with open(os.path.join(ROOT, path)) as f:
        return f.read()


def install():
    # whatever the mask of whoever installs
    mask = os.umask(0o077)
    r = make("install")
    os.umask(mask)
    ok(r.returncode == 0, "make install", r.stdout)
    closed = [d for d, _, _ in os.walk(ROOT) if os.stat(d).st_mode & 5 != 5]
    eq(closed, [], "each directory below can be entered")
    for f in PROGRAMS:
        eq(mode_of(f), 0o755, f"{f} can be executed")
    for f in FILES:
        eq(mode_of(f), 0o644, f"{f} can be read")


def paths_are_filled_in():
    unit = read("usr/lib/systemd/system/debuglantern.service")
    ok("ExecStart=/usr/bin/debuglanternd -f /etc/debuglantern.conf\n" in unit,
       "the unit starts what was installed", unit)
    for f in FILES[3:7]:
        ok("@BINDIR@" not in read(f) and "@SYSCONFDIR@" not in read(f),
           f"{f} has no place left open")


def units_are_valid():
    units = os.path.join(ROOT, "usr/lib/systemd/system")
    # what the unit refers to
    shutil.copytree("/lib/systemd/system", units, dirs_exist_ok=True,
                    symlinks=True, ignore=lambda d, names:
                    [n for n in names if not n.endswith(".target")])
    kill = os.path.join(ROOT, "bin/kill")
    os.makedirs(os.path.dirname(kill), exist_ok=True)
    shutil.copy("/bin/true", kill)
    # another root is searched for units of the system alone
    user = os.path.join(units, "debuglantern-user.service")
    shutil.copy(os.path.join(units, "../user/debuglantern-user.service"), user)
    for unit in ("debuglantern.service", "debuglantern-user.service"):
        r = subprocess.run(["systemd-analyze", "verify", "--man=no",
                            "--root=" + ROOT, unit],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        eq((r.returncode, r.stdout), (0, b""), unit + " is valid")
    os.unlink(user)
    users = subprocess.run(["systemd-sysusers", "--root=" + ROOT, "--dry-run"],
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    ok(users.returncode == 0 and b"_dlparent" in users.stdout,
       "the service users can be made", users.stdout)
    for f in os.listdir(units):
        if f.endswith(".target"):
            path = os.path.join(units, f)
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    os.unlink(kill)


def profiles():
    """Whoever makes a user namespace may, where AppArmor forbids it."""
    may = re.findall(r"^profile \S+ \S+/(\w+) ", read(
        "usr/share/debuglantern/apparmor.d/debuglantern"), re.M)
    with open(os.path.join(TOP, "docs/PRIVSEP.md")) as f:
        empty = re.findall(r"^\| (\w+) \| [^|]+ \| empty", f.read(), re.M)
    # the fence, and the sandboxes
    eq(sorted(may), sorted(empty + ["debuglanternd", "launcher"]),
       "all with an empty root have a profile, and who makes others'")


def pages():
    """What a man page sends its reader to is installed."""
    named = set()
    man = os.path.join(ROOT, "usr/share/man")
    for d, _, names in os.walk(man):
        for name in names:
            text = read(os.path.join(d, name))
            named |= {(name, f) for f in re.findall(r"\S+\.md\b", text)}
    eq(sorted((page, f) for page, f in named if not os.path.exists(
        os.path.join(ROOT, "usr/share/doc/debuglantern",
                     os.path.basename(f))) or f.startswith("docs/")), [],
       "each document that a man page names is there")
    ok(named, "some are named")


def adapters():
    """The package suggests what `debugger setup` says."""
    with open(os.path.join(TOP, "debugger/dap/profile_table.c")) as f:
        said = re.findall(r'"apt-get install ([a-z0-9-]+)', f.read())
    with open(os.path.join(TOP, "debian/control")) as f:
        suggested = re.search(r"^Suggests: (.*)$", f.read(), re.M).group(1)
    eq([p for p in said if p not in re.split(r"[ ,|]+", suggested)], [],
       "each debug adapter's package is suggested")
    ok(len(said) > 2, "there are some", said)


def configuration():
    exe = os.path.join(ROOT, "usr/bin/debuglanternd")
    r = subprocess.run([exe, "-n", "-f", CONF], stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    ok(r.returncode == 0, "the installed configuration is valid", r.stdout)
    with open(CONF, "a") as f:
        f.write("port 4445\n")
    r = make("install")
    ok(r.returncode == 0 and "kept " in r.stdout, "a second install says "
       "that it keeps the configuration", r.stdout)
    ok(read("etc/debuglantern.conf").endswith("port 4445\n"), "and keeps it")


def installed_daemon():
    dl.BIN = os.path.join(ROOT, "usr/bin")
    for mode in dl.MODES:
        with Daemon(mode) as d:
            eq(d.client().cmd("LIST"), [],
               f"the installed daemon serves in {mode} mode")


def wrong_libexec():
    r = make("install", "LIBEXECDIR=/usr/lib/elsewhere")
    ok(r.returncode != 0 and "LIBEXECDIR must be" in r.stdout,
       "a place where the daemon would not look is refused", r.stdout)


def uninstall():
    r = make("uninstall")
    ok(r.returncode == 0, "make uninstall", r.stdout)
    left = [os.path.join(d, f)[len(ROOT) + 1:]
            for d, _, files in os.walk(ROOT) for f in files]
    eq(left, ["etc/debuglantern.conf"], "only the configuration is left")


try:
    run_tests(install, paths_are_filled_in, units_are_valid, profiles, adapters,
              pages, configuration, installed_daemon, wrong_libexec, uninstall)
finally:
    shutil.rmtree(ROOT, ignore_errors=True)
