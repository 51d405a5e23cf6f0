#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""How far the units are closed, and by what each step that is left open is
needed: another one open, or one that has become superfluous here, fails."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import eq, ok, run_tests  # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
WORK = tempfile.mkdtemp(prefix="dl-units-")

# What the daemon itself does.
START = {
    "UserOrDynamicUser": "state files are root's, roles have their users",
    "CapabilityBoundingSet_CAP_SET_UID_GID_PCAP": "roles, sessions' owners",
    "CapabilityBoundingSet_CAP_SYS_CHROOT": "roles with an empty root",
    "CapabilityBoundingSet_CAP_KILL": "ending roles and sessions",
    "CapabilityBoundingSet_CAP_CHOWN_FSETID_SETFCAP":
    "directories of the service users",
    "CapabilityBoundingSet_CAP_DAC_FOWNER_IPC_OWNER":
    "directories of the service users",
    "CapabilityBoundingSet_CAP_NET_BIND_SERVICE_BROADCAST_RAW":
    "listeners below 1024",
    "ProtectProc": "a client's cgroup says whether it is a session",
    "ProcSubset": "sock_diag and cgroups are there as well",
    "ProtectControlGroups": "limits of sessions",
    "Delegate": "limits of sessions",
    "SystemCallFilter_mount": "sandboxes",
    "SystemCallFilter_privileged": "roles, owners",
    "RestrictNamespaces_user": "sandboxes, the fence",
    "RestrictNamespaces_pid": "sandboxes",
    "RestrictNamespaces_net": "network none",
    "RestrictNamespaces_uts": "sandboxes",
    "RestrictNamespaces_mnt": "sandboxes",
    "RestrictNamespaces_ipc": "sandboxes",
    "RestrictNamespaces_cgroup": "any of it blocks clone3",
    "RestrictAddressFamilies_AF_NETLINK": "who a client is",
    "RestrictAddressFamilies_AF_UNIX": "messages, the local socket",
    "RestrictAddressFamilies_AF_INET_INET6": "listeners, sessions",
}
# What programs in sessions do.
SESSIONS = {
    "RootDirectoryOrRootImage": "the host's files",
    "ProtectSystem": "the host's files, where their owner may write",
    "ProtectHome": "their owner's files",
    "PrivateTmp": "the host's files",
    "PrivateDevices": "serial lines and USB",
    "DeviceAllow": "serial lines and USB",
    "PrivateUsers": "owners",
    "PrivateNetwork": "the host's network",
    "IPAddressDeny": "the host's network",
    "ProtectHostname": "the host's name",
    "RestrictSUIDSGID": "shared directories",
    "MemoryDenyWriteExecute": "compilers at run time",
    "LockPersonality": "gdb",
    "SystemCallFilter_debug": "gdb",
    "SystemCallFilter_resources": "nice",
}
# What a user's service manager cannot do without PrivateUsers: mounts, ...
MOUNTS = {"PrivateMounts", "ProtectClock", "ProtectKernelLogs",
          "ProtectKernelModules", "ProtectKernelTunables"}
# ... sets of capabilities, which its services do not have anyway.
CAPS = "CapabilityBoundingSet_"
# What a user may have been given a limit for.
USERS = {"RestrictRealtime"}
UNITS = {"debuglantern": 5.0, "debuglantern-user": 7.9}


def unit(name):
    with open(os.path.join(TOP, "etc/systemd", name + ".service.in")) as f:
        text = f.read()
    path = os.path.join(WORK, name + ".service")
    with open(path, "w") as f:
        f.write(text.replace("@BINDIR@", "/bin").replace("@SYSCONFDIR@",
                                                         "/etc"))
    return path


def analyze(path, *args):
    r = subprocess.run(["systemd-analyze", "security", "--offline=true",
                        "--no-pager", *args, path], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, text=True)
    eq(r.stderr, "", "it is understood: " + os.path.basename(path))
    return r.stdout


def is_open(path):
    # one of the names ends in a bracket
    return {row["json_field"].rstrip(")")
            for row in json.loads(analyze(path, "--json=short"))
            if not row["set"] and row["exposure"]}


def steps():
    eq(is_open(unit("debuglantern")), set(START) | set(SESSIONS),
       "the system's unit leaves open what has a reason")
    left = is_open(unit("debuglantern-user")) - set(START) - set(SESSIONS)
    eq({s for s in left if not s.startswith(CAPS)}, MOUNTS | USERS,
       "a user's leaves open what his manager cannot close")


def exposure():
    for name, most in UNITS.items():
        text = analyze(unit(name))
        m = re.search(r"exposure level for \S+: ([0-9.]+)", text)
        ok(m and float(m.group(1)) <= most,
           f"{name} is exposed by {most} at most", text[-200:])


def loosened():
    """The test sees what it is for."""
    path = unit("debuglantern")
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(text.replace("ProtectClock=yes", "ProtectClock=no"))
    eq(is_open(path) - set(START) - set(SESSIONS), {"ProtectClock"},
       "a step that is taken back is seen")


try:
    run_tests(steps, exposure, loosened)
finally:
    shutil.rmtree(WORK, ignore_errors=True)
