# SPDX-License-Identifier: ISC
"""A D-Bus and an avahi-daemon of a test's own, and what is announced there."""
import atexit
import os
import shutil
import socket
import subprocess
import tempfile

from dl import wait_for

TYPE = "_mydebug._tcp"
# An account that every Debian has: D-Bus wants one.
USER = 1
# a network and a /run that nobody else has; who else is to see what is
# announced asks the bus, which is a file
APART = ("unshare", "-n", "-m", "sh", "-c", "ip link set lo up && "
         'mount -t tmpfs none /run && exec "$@"', "sh")


class Network:
    """The bus and avahi-daemon; each may come and go."""

    def __init__(self, wrapper=()):
        self.wrapper = wrapper
        self.dir = tempfile.mkdtemp(prefix="dl-mdns-")
        os.chmod(self.dir, 0o755)
        atexit.register(self.close)
        self.path = self.dir + "/bus"
        os.environ["DBUS_SYSTEM_BUS_ADDRESS"] = "unix:path=" + self.path
        self.bus = self.avahi = None

    def run(self, *argv):
        return subprocess.Popen(argv, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL,
                                stderr=subprocess.DEVNULL)

    def bus_up(self):
        self.bus = self.run("dbus-daemon", "--system", "--nofork",
                            "--nopidfile", "--nosyslog",
                            "--address=unix:path=" + self.path)
        if not wait_for(self.bus_answers):
            raise RuntimeError("dbus-daemon did not start")

    def bus_answers(self):
        with socket.socket(socket.AF_UNIX) as s:
            return s.connect_ex(self.path) == 0

    def bus_down(self):
        self.end(self.bus)
        os.unlink(self.path)
        self.bus = None

    def avahi_up(self):
        # the limits of its own are by user, and would count the host's
        self.avahi = self.run(*self.wrapper, "avahi-daemon",
                              "--no-drop-root", "--no-chroot",
                              "--no-rlimits")
        if not wait_for(lambda: subprocess.run(
                ["avahi-browse", "-t", "_none._tcp"],
                stderr=subprocess.DEVNULL).returncode == 0, step=0.1):
            raise RuntimeError("avahi-daemon did not start")

    def avahi_down(self):
        self.end(self.avahi)
        self.avahi = None
        if not self.wrapper:
            shutil.rmtree("/run/avahi-daemon", ignore_errors=True)

    @staticmethod
    def end(proc):
        proc.kill()
        proc.wait()

    def down(self):
        self.avahi_down()
        self.bus_down()

    def close(self):
        """Whatever there is of it; others come to their own bus."""
        for proc in (self.avahi, self.bus):
            if proc is not None:
                self.end(proc)
        self.avahi = self.bus = None
        os.environ.pop("DBUS_SYSTEM_BUS_ADDRESS", None)
        shutil.rmtree(self.dir, ignore_errors=True)
        atexit.unregister(self.close)


def unescape(name):
    """\\032 and the like, as avahi-browse prints them."""
    out, i = "", 0
    while i < len(name):
        if name[i] == "\\" and name[i + 1:i + 4].isdigit():
            out += chr(int(name[i + 1:i + 4]))
            i += 4
        else:
            out += name[i]
            i += 1
    return out


def browse():
    """{name: (port, address, {txt})} of what can be seen now."""
    r = subprocess.run(["avahi-browse", "-rtp", TYPE], timeout=30,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    seen = {}
    for line in r.stdout.decode().splitlines():
        f = line.split(";")
        if f[0] == "=":
            txt = dict(w.strip('"').split("=", 1)
                       for w in f[9].split('" "') if "=" in w)
            seen[unescape(f[3])] = (int(f[8]), f[7], txt)
        elif f[0] == "-":
            seen.pop(unescape(f[3]), None)
    return seen


def sees(name, port, seconds=20):
    """Waits until that service is seen; what is seen then."""
    seen = {}

    def look():
        seen.clear()
        seen.update(browse())
        return name in seen and seen[name][0] == port
    wait_for(look, seconds, 0.2)
    return seen.get(name, (0, None, None))


def mdns_state(d):
    return d.client().cmd("VERSION")["mdns"]
