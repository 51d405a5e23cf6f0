# SPDX-License-Identifier: ISC
"""A session's debugger or tracer, as clients on the local socket have it."""
import json
import os
import signal

from dl import Client, alive, ok, stat_of, wait_for


class Local(Client):
    command = None              # DEBUGGER or TRACER; the file sets it

    def __init__(self, d, uid=None):
        super().__init__(d.dir + "/run/debuglantern.sock",
                         uid=d.uid if uid is None else uid)

    def put(self, **args):
        self.send(json.dumps({"id": 1, "command": self.command,
                              "args": args}).encode() + b"\n")

    def get(self):
        return json.loads(self.recv_line())

    def ask(self, **args):
        self.put(**args)
        return self.get()

    def do(self, command, session=None, **args):
        more = {} if session is None else {"session": session}
        return self.ask(request={"command": command, "args": args}, **more)


def error(r):
    return r.get("error", {}).get("code") if isinstance(r, dict) else None


def state(c, what="t"):
    return c.cmd("STATUS " + what)


def becomes(c, want, what="t"):
    return wait_for(lambda: state(c, what).get("state") == want, 15)


def named(d, *names):
    """This daemon's processes of these names."""
    return [p for p in d.processes() if (stat_of(p) or ("",))[0] in names]


def the_only(d, name):
    found = named(d, name)
    if len(found) != 1:
        raise RuntimeError(f"{name}: {found}")
    return found[0]


def leaf_of(pid):
    """Where it is in the tree of control groups, below the sessions."""
    with open(f"/proc/{pid}/cgroup") as f:
        path = next(x[3:].strip() for x in f if x.startswith("0::"))
    return path.partition("/sessions/")[2]


def sessions_tree(d):
    """The directory that all of this daemon's are in."""
    with open("/proc/self/mounts") as f:
        top = next(x.split()[1] for x in f if x.split()[2] == "cgroup2")
    return f"{top}/debuglantern/{d.proc.pid}/sessions"


def ends_with_daemon(d, name):
    """One that is stopped does not see that its daemon has gone."""
    pid = the_only(d, name)
    os.kill(pid, signal.SIGSTOP)
    d.stop()
    ok(wait_for(lambda: not alive(pid), 15),
       "it ends with its daemon though it is stopped", stat_of(pid))
    if alive(pid):
        os.kill(pid, signal.SIGKILL)
