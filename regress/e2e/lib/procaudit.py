# SPDX-License-Identifier: ISC
"""What /proc says of a process's rights, in words that are the same on every
host: names for users and namespaces, kinds for descriptors."""
import os
import pwd
import re
import resource

from dl import ALICE, read_proc, stat_of, status_of

CAPS = {5: "kill", 6: "setgid", 7: "setuid", 18: "sys_chroot",
        19: "sys_ptrace"}
NAMESPACES = ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup")
LIMITS = {"Max core file size": ("core", resource.RLIMIT_CORE),
          "Max file size": ("fsize", resource.RLIMIT_FSIZE),
          "Max processes": ("nproc", resource.RLIMIT_NPROC),
          "Max open files": ("nofile", resource.RLIMIT_NOFILE),
          "Max address space": ("as", resource.RLIMIT_AS),
          "Max cpu time": ("cpu", resource.RLIMIT_CPU)}
KINDS = (
    (r"socket:.*", "socket"), (r"pipe:.*", "pipe"),
    (r"anon_inode:\[?(\w+)\]?", r"\1"), (r"pidfd:.*", "pidfd"),
    (r"/memfd:.*", "memory file"), (r"(user|mnt):\[\d+\]", r"\1 namespace"),
    (r".*/(?:libexec/debuglantern|bin)/(\w+)", r"the program \1"),
    (r".*/helpers/\w+", "the traced program"),
    (r"/sys/fs/cgroup/.*|.*/dl-[^/]*/cgroup.*", "cgroup"),
    (r"/proc/\d+/mem", "memory of a process"),
    (r"/proc/\d+", "process directory"),
    (r".*/state/bundle(/.*)?", "the bundle"),
    (r".*/state/#\d+ \(deleted\)", "an unlinked file"),
    (r".*/state/tokens", "the tokens"), (r".*/log", "the log"),
    (r"/etc/.*", "an account file"), (r"/dev/(pts/\d+|ptmx)", "terminal"),
)


def user(uid):
    if int(uid) == ALICE:
        return "owner"
    try:
        return pwd.getpwuid(int(uid)).pw_name
    except KeyError:
        return uid


def users(text):
    names = [user(x) for x in text.split()]
    return names[0] if len(set(names)) == 1 else " ".join(names)


def groups(text):
    """Named as the users whose they are, but for the one of /etc/shadow."""
    if set(text.split()) == {str(os.stat("/etc/shadow").st_gid)}:
        return "that of /etc/shadow"
    return users(text)


def caps(text):
    bits = int(text, 16)
    if not bits:
        return "none"
    names = [CAPS.get(n, str(n)) for n in range(64) if bits >> n & 1]
    return " ".join(names)


def bounding(text):
    whole = status_of(os.getpid())["CapBnd"]
    return "not cut" if int(whole, 16) & ~int(text, 16) == 0 else caps(text)


def starter():
    """Makes this process's soft limits its hard ones, so that what is taken
    over from it can be told from what is set."""
    for _, which in LIMITS.values():
        hard = resource.getrlimit(which)[1]
        resource.setrlimit(which, (hard, hard))


def limit(word, value, which):
    hard = resource.getrlimit(which)[1]
    if value == "0":
        return value
    if value == ("unlimited" if hard == resource.RLIM_INFINITY else str(hard)):
        return "starter's"
    # what is left of a quota
    return "bounded" if word == "fsize" else value


def limits(pid):
    """Those that are not the starter's, soft/hard."""
    out = []
    for line in read_proc(pid, "limits").decode().splitlines():
        if line[:26].strip() not in LIMITS:
            continue
        word, which = LIMITS[line[:26].strip()]
        both = [limit(word, v, which) for v in line[26:].split()[:2]]
        if set(both) != {"starter's"}:
            out.append(word + " " + "/".join(both))
    return ", ".join(out) or "the starter's"


def kind(target):
    for pattern, word in KINDS:
        if re.fullmatch(pattern, target):
            return re.sub(pattern, word, target)
    return target


def descriptors(pid):
    out = set()
    for n in os.listdir(f"/proc/{pid}/fd"):
        try:
            out.add(kind(os.readlink(f"/proc/{pid}/fd/{n}")))
        except OSError:
            pass
    return ", ".join(sorted(out)) or "none"


def root(pid):
    if os.path.samefile(f"/proc/{pid}/root/", "/"):
        return "the host's"
    names = os.listdir(f"/proc/{pid}/root/")
    return "its own" if names else "empty"


class Audit:
    """Processes in the order in which they are named."""

    def __init__(self):
        self.spaces = {}
        self.text = []
        for ns in NAMESPACES:
            self.spaces[os.readlink(f"/proc/self/ns/{ns}")] = "host"

    def namespaces(self, pid, name):
        out = {}
        for ns in NAMESPACES:
            link = os.readlink(f"/proc/{pid}/ns/{ns}")
            whose = self.spaces.setdefault(link, name)
            out.setdefault("its own" if whose == name else
                           whose if whose == "host" else whose + "'s",
                           []).append(ns)
        return "; ".join(f"{' '.join(v)}: {k}" for k, v in out.items())

    def add(self, name, pid):
        st = status_of(pid)
        filters = int(st.get("Seccomp_filters", 0)) - int(
            status_of(os.getpid()).get("Seccomp_filters", 0))
        rows = {
            "user": users(st["Uid"]), "group": groups(st["Gid"]),
            "groups": users(st["Groups"]) if st["Groups"] else "none",
            "capabilities": caps(st["CapEff"]) if st["CapEff"] ==
            st["CapPrm"] else caps(st["CapPrm"]) + " (permitted)",
            "inheritable": caps(st["CapInh"]),
            "ambient": caps(st["CapAmb"]),
            "bounding": bounding(st["CapBnd"]),
            "no_new_privs": {"0": "no", "1": "yes"}[st["NoNewPrivs"]],
            "seccomp": f"mode {st['Seccomp']}, filters: {filters}",
            "dumpable": "no" if os.stat(f"/proc/{pid}/environ").st_uid !=
            int(st["Uid"].split()[1]) else "yes",
            "root": root(pid),
            "namespaces": self.namespaces(pid, name),
            "limits": limits(pid),
            "descriptors": descriptors(pid),
        }
        self.text.append(f"{name} ({stat_of(pid)[0]})\n" + "".join(
            f"    {k:13}{v}\n" for k, v in rows.items()))

    def __str__(self):
        return "\n".join(self.text)
