#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""Programs whose libraries are missing are not RUNNING, and START says why."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "lib"))
from dl import Daemon, eq, ok, run_tests  # noqa: E402


def compile_c(d, name, source, *flags):
    path = os.path.join(d.dir, name)
    subprocess.run(["cc", "-x", "c", "-", "-o", path, *flags],
                   input=source.encode(), check=True)
    return path


def missing(mode):
    with Daemon(mode) as d:
        compile_c(d, "libdlgone.so", "int gone(void) { return 5; }",
                  "-shared", "-fPIC")
        path = compile_c(d, "needs",
                         "int gone(void); int main(void) { return gone(); }",
                         "-L" + d.dir, "-Wl,--no-as-needed", "-ldlgone")
        c = d.client()
        sid = c.upload(path)["id"]
        for flags in ("", " --split", " --sandbox tmpfs"):
            r = c.cmd(f"START {sid}{flags}")
            eq(r.get("error_code"), "exec_failed", "START" + flags)
            ok("libdlgone.so" in r.get("message", ""), "the library is named",
               r)
            r = c.cmd(f"STATUS {sid}")
            eq((r["state"], r["pid"], r["exit_code"]), ("LOADED", None, None),
               "nothing has started")
        c.cmd(f"ENV {sid} LD_LIBRARY_PATH={d.dir}")
        r = c.cmd(f"START {sid}")
        eq(r.get("state"), "RUNNING", "it starts when the library is found")
        r = c.cmd(f"WAIT {sid} 20")
        eq((r["state"], r["exit_code"]), ("STOPPED", 5), "and runs")
        c.cmd(f"ENVDEL {sid} LD_LIBRARY_PATH")
        r = c.cmd(f"START {sid}")
        eq(r.get("error_code"), "exec_failed", "without it again it does not")
        eq(c.cmd(f"STATUS {sid}")["state"], "STOPPED",
           "it is as it was before")


def own_127(mode):
    """127 is an exit code like any other once the program has begun."""
    with Daemon(mode) as d:
        path = compile_c(
            d, "own", "#include <stdio.h>\n"
            "int main(void) { puts(\"main\"); return 127; }")
        c = d.client()
        sid, r = c.run(path)
        eq((r["state"], r["exit_code"]), ("STOPPED", 127), "exit code 127")
        eq(c.output(sid), b"main\n", "its output is there")


def slow_constructor(mode):
    """A library that takes its time holds the answer up for 2 s at most."""
    with Daemon(mode) as d:
        compile_c(d, "libdlslow.so",
                  "#include <unistd.h>\n"
                  "__attribute__((constructor)) static void slow(void)"
                  "{ while (access(\"" + d.dir + "/go\", F_OK) != 0)"
                  " usleep(10000); }", "-shared", "-fPIC")
        path = compile_c(d, "slow", "int main(void) { return 9; }",
                         "-L" + d.dir, "-Wl,--no-as-needed", "-ldlslow")
        c = d.client()
        sid = c.upload(path)["id"]
        c.cmd(f"ENV {sid} LD_LIBRARY_PATH={d.dir}")
        eq(c.cmd(f"START {sid}").get("state"), "RUNNING",
           "START answers while a constructor still runs")
        open(os.path.join(d.dir, "go"), "w").close()
        r = c.cmd(f"WAIT {sid} 20")
        eq((r["state"], r["exit_code"]), ("STOPPED", 9), "and it runs on")


run_tests(lambda: missing("system"), lambda: missing("user"),
          lambda: own_127("system"), lambda: own_127("user"),
          lambda: slow_constructor("system"), lambda: slow_constructor("user"))
