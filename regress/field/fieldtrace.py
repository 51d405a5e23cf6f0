# SPDX-License-Identifier: ISC
# Shared by the parts of `make field` that run commands traced and untraced:
# a copy of the build, its daemon, and what a command does in both ways.
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e", "lib"))
LIMIT = 60
# as the drivers of the tests have it; what takes longer is no test of this
HOST_LIMIT = 10


def reachable(build):
    """A copy of what is tested, where every user can run it."""
    top = tempfile.mkdtemp(prefix="dl-field-")
    os.chmod(top, 0o755)
    for what in ("bin", "libexec"):
        shutil.copytree(os.path.join(build, what), os.path.join(top, what))
    subprocess.run(["chmod", "-R", "a+rX", top], check=True)
    os.environ.update(DL_BIN=top + "/bin",
                      DL_LIBEXEC=top + "/libexec/debuglantern")
    return top


def words(output):
    """Two pipes have no order between them."""
    return sorted(output.splitlines())


def same_code(host, session):
    if isinstance(host, int) and host < 0:
        return isinstance(session, str) and session.startswith("signal")
    return host == session


class Beside:
    """A daemon, and commands beside it; after reachable()."""

    def __init__(self):
        import dl
        self.uid = dl.ALICE if dl.AS_ROOT else os.geteuid()
        self.as_user = {"user": self.uid, "group": self.uid,
                        "extra_groups": []} if dl.AS_ROOT else {}
        self.daemon = dl.Daemon("user", conf="max-sessions 64\n"
                                "output-buffer 64M\n")

    def __enter__(self):
        self.daemon.__enter__()
        # the variables that a traced program has, for the host as well
        self.env = dict(v.split(b"=", 1) for v in b"\n".join(
            self.traced("/usr/bin/env", "-0")[1]).split(b"\0") if b"=" in v)
        return self

    def __exit__(self, *why):
        return self.daemon.__exit__(*why)

    def on_host(self, *command, cwd="/", limit=HOST_LIMIT):
        """(exit code or -signal, output); None: it has no end."""
        try:
            p = subprocess.run(command, stdin=subprocess.DEVNULL, cwd=cwd,
                               stdout=subprocess.PIPE, env=self.env,
                               stderr=subprocess.STDOUT, timeout=limit,
                               **self.as_user)
        except subprocess.TimeoutExpired:
            return None
        return p.returncode, words(p.stdout)

    def traced(self, *command, cwd="/", limit=LIMIT, options=("--raw",)):
        """The same of a session in which everything is traced."""
        ctl = self.daemon.ctl
        p = ctl("trace", "run", "-q", *options, "-p", "**", "--", *command,
                uid=self.uid, timeout=limit, cwd=cwd)
        name = p.stdout.decode().strip()
        if p.returncode != 0 or not name:
            return "it does not start", [p.stderr]
        try:
            ctl("input", "--eof", name, uid=self.uid, stdin=subprocess.DEVNULL)
            p = ctl("--json", "wait", name, str(limit), uid=self.uid,
                    timeout=2 * limit)
            end = json.loads(p.stdout.splitlines()[-1]) if p.stdout else {}
            code = end.get("exit_code")
            if end.get("state") != "STOPPED":
                code = "it has no end"
                ctl("kill", name, uid=self.uid)
            elif end.get("signal"):
                code = "signal " + str(end["signal"])
            return code, words(ctl("output", name, uid=self.uid).stdout)
        finally:
            ctl("delete", name, uid=self.uid)


def differences(host, seen):
    """Lines about what differs; host and seen are (code, output)."""
    lines = []
    if not same_code(host[0], seen[0]):
        lines.append(f"exit code untraced {host[0]}, traced {seen[0]}")
    if host[1] != seen[1]:
        only = [x for x in host[1] if x not in seen[1]]
        more = [x for x in seen[1] if x not in host[1]]
        lines += ["only untraced: " + repr(only)[:300],
                  "only traced: " + repr(more)[:300]]
    return lines
