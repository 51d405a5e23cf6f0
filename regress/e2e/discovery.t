#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# lane: waits
# Discovery by mDNS: the real daemon, a dbus-daemon and an avahi-daemon of its
# own, in a network namespace that has only "lo".
import os
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))

INSIDE = "DL_DISCOVERY_INSIDE"
if os.geteuid() != 0:
    print("1..0 # skipped: a private avahi-daemon needs root")
    sys.exit(0)
if INSIDE not in os.environ:
    # also a pid namespace: whatever happens, nothing stays behind
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", "-n", "-m", "-p", "-f", "--mount-proc",
                          "--kill-child", "--propagation", "private",
                          sys.executable, os.path.abspath(__file__)])

from dl import (IPV6, Client, Daemon, alone, eq, ok,  # noqa: E402
                run_tests, wait_for)
from mdns import TYPE, USER, Network, browse, mdns_state, sees  # noqa: E402
from tlsclient import with_tls  # noqa: E402


def announced_on():
    """The (interface, family) of all that is announced, as they are found."""
    r = subprocess.run(["avahi-browse", "-tp", TYPE], timeout=30,
                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return {tuple(line.split(";")[1:3]) for line in
            r.stdout.decode().splitlines() if line.startswith("+")}


def deps_row(d):
    rows = d.client().cmd("DEPS")["deps"]
    return next(r for r in rows if r["name"] == "mdns")


def daemon(mode, name, more=""):
    return Daemon(mode, conf=f'mdns yes\nservice-name "{name}"\n{more}',
                  uid=USER)


net = None


def no_bus(mode):
    with daemon(mode, "without") as d:
        ok(wait_for(lambda: "no D-Bus" in mdns_state(d)),
           "without D-Bus the daemon runs, and VERSION says so",
           mdns_state(d))
        row = deps_row(d)
        ok(not row["available"] and not row["required"] and
           "start dbus and avahi-daemon" in row["remedy"],
           "DEPS says what to start", row)
        net.bus_up()
        try:
            ok(wait_for(lambda: "avahi-daemon is not running" in
                        mdns_state(d), 20),
               "with D-Bus alone, avahi-daemon is missed", mdns_state(d))
            net.avahi_up()
            try:
                eq(sees("without", d.port)[0], d.port,
                   "it is announced when both have come")
                ok(wait_for(lambda: deps_row(d)["available"]),
                   "DEPS says that it is announced", deps_row(d))
            finally:
                net.avahi_down()
        finally:
            net.bus_down()


def announced(mode):
    net.bus_up()
    net.avahi_up()
    try:
        tls_port, tls = with_tls()
        with daemon(mode, "lamp on %h", tls) as d:
            name = "lamp on " + socket.gethostname().split(".")[0]
            port, addr, txt = sees(name, d.port)
            eq((port, addr), (d.port, "127.0.0.1"),
               "host name, address and port are found")
            v = d.client().cmd("VERSION")
            eq(txt, {"version": v["version"], "auth": "peer", "web": "",
                     "tls": str(tls_port), "fp": v["tls"]["fingerprint"]},
               "TXT tells version, auth, web, and where and who TLS is")
            r = d.ctl("discover", "--json")
            ok(r.returncode == 0 and str(d.port).encode() in r.stdout,
               "debuglanternctl discover lists it", r)
            said = d.log().count("announced as")
            d.proc.send_signal(signal.SIGHUP)
            wait_for(lambda: "was reloaded" in d.log())
            d.client().cmd("VERSION")
            time.sleep(0.5)
            eq((d.log().count("announced as"), mdns_state(d)),
               (said, "announced"), "a reload leaves it announced")
            d.write_conf(open(d.conf_path).read().replace("lamp", "lantern"))
            d.proc.send_signal(signal.SIGHUP)
            eq(sees(name.replace("lamp", "lantern"), d.port)[0], d.port,
               "after a reload it has its new name")
            ok(wait_for(lambda: name not in browse(), 10, 0.2),
               "and not the old one")
            d.stop()
            eq(wait_for(lambda: {} == browse(), 10, 0.2), True,
               "it is taken back at the stop")
    finally:
        net.down()


def families(mode):
    """By IPv4 and IPv6 as the daemon listens: each address that the host
    name stands for can be connected to."""
    for argv in (["link", "add", "lab0", "type", "veth", "peer", "name",
                  "lab1"], ["link", "set", "lab1", "up"],
                 ["link", "set", "lab0", "up", "multicast", "on"],
                 ["address", "add", "198.51.100.1/24", "dev", "lab0"],
                 *([["-6", "address", "add", "fd00:51::1/64", "dev", "lab0",
                     "nodad"]] if IPV6 else [])):
        subprocess.run(["ip", *argv], check=True)
    net.bus_up()
    net.avahi_up()
    try:
        for listen, want in (
                ("localhost", {"IPv4", "IPv6"} if IPV6 else {"IPv4"}),
                ("127.0.0.1", {"IPv4"}),
                *([("::1", {"IPv6"})] if IPV6 else [])):
            with daemon(mode, "both", f"listen on {listen}\n"):
                wait_for(lambda: {f for i, f in announced_on() if
                                  i == "lab0"} >= want, 20, 0.2)
                eq({f for i, f in announced_on() if i == "lab0"}, want,
                   f"listen on {listen}: announced by {sorted(want)}")
            wait_for(lambda: announced_on() == set(), 10, 0.2)
    finally:
        net.down()
        subprocess.run(["ip", "link", "del", "lab0"], check=True)


def open_listener(mode):
    net.bus_up()
    net.avahi_up()
    try:
        user = "daemon" if mode == "user" else "_dlrun"
        with daemon(mode, "open", "listen on 127.0.0.1 auth none as "
                    f"{user}\n") as d:
            txt = sees("open", d.port)[2]
            eq(txt and txt["auth"], "none", "auth none is told")
        with Daemon(mode, conf="mdns no\n", uid=USER):
            time.sleep(3)
            eq(browse(), {}, "nothing is announced with mdns no")
    finally:
        net.down()


def not_before_listening(mode):
    """Whoever sees it can connect."""
    net.bus_up()
    net.avahi_up()
    p = subprocess.Popen(["avahi-browse", "-rp", TYPE],
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        with daemon(mode, "prompt") as d:
            for line in p.stdout:
                if line.startswith(b"="):
                    break
            c = Client(int(line.split(b";")[8]), uid=d.uid)
            eq(c.cmd("LIST"), [], "it answers as soon as it is seen")
    finally:
        net.end(p)
        net.down()


def comes_back(mode):
    net.bus_up()
    net.avahi_up()
    try:
        with daemon(mode, "back") as d:
            eq(sees("back", d.port)[0], d.port, "it is announced")
            net.avahi_down()
            ok(wait_for(lambda: mdns_state(d) != "announced"),
               "VERSION says when avahi-daemon has gone", mdns_state(d))
            net.avahi_up()
            eq(sees("back", d.port)[0], d.port,
               "it is announced again after avahi-daemon's restart")
            net.down()
            ok(wait_for(lambda: "no D-Bus" in mdns_state(d)),
               "VERSION says when D-Bus has gone", mdns_state(d))
            net.bus_up()
            net.avahi_up()
            eq(sees("back", d.port, 40)[0], d.port,
               "it is announced again after D-Bus' restart")
            pid = d.role_pid("announcer")
            before = d.log().count('announced as "back"')
            os.kill(pid, signal.SIGKILL)
            ok(wait_for(lambda: d.role_pid("announcer") not in (None, pid)),
               "a killed announcer is started again", d.log())
            ok(wait_for(lambda: d.log().count('announced as "back"') >
                        before) and
               sees("back", d.port)[0] == d.port,
               "and announces again", d.log())
    finally:
        net.down()


def collision(mode):
    net.bus_up()
    net.avahi_up()
    other = net.run("avahi-publish", "-s", "twin", TYPE, "5555")
    try:
        eq(sees("twin", 5555)[0], 5555, "the name is taken")
        with daemon(mode, "twin") as d:
            eq(sees("twin #2", d.port)[0], d.port,
               "a taken name gives way to the next")
            eq(browse()["twin"][0], 5555, "and the first keeps its own")
    finally:
        net.end(other)
        net.down()


subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
subprocess.run(["mount", "-t", "tmpfs", "none", "/run"], check=True)
net = Network()
try:
    run_tests(*(alone(t) for t in (no_bus, announced, families, open_listener,
                                   not_before_listening, comes_back,
                                   collision)))
finally:
    net.close()
