#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
# What `make run` starts and says: where it stands, with the defaults, in
# namespaces of its own, where nobody has the ports and the directories.
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))

if os.geteuid() != 0:
    print("1..0 # skipped: only root can be two users, where nobody else is")
    sys.exit(0)
INSIDE = "DL_MAKERUN_INSIDE"
if INSIDE not in os.environ:
    os.environ[INSIDE] = "1"
    os.execvp("unshare", ["unshare", "-n", "-m", "--propagation", "private",
                          sys.executable, os.path.abspath(__file__)])

from dl import ALICE, BIN, eq, ok, run_tests, wait_for  # noqa: E402

ADDRESS = re.compile(r"http://127\.0\.0\.1:8080/login#(dlo_[\w-]{43})")
subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "none", "/run"],
               check=True)
subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
work = tempfile.TemporaryDirectory(prefix="dl-makerun-")
os.chmod(work.name, 0o755)
# the tree may be where users do not come
ETC = shutil.copytree(os.path.join(HERE, "../../etc"), work.name + "/etc")
subprocess.run(["chmod", "-R", "a+rX", ETC], check=True)
RUN_SH = ETC + "/run.sh"


def log_in(key):
    """What the page at the address does with the key."""
    request = urllib.request.Request(
        "http://127.0.0.1:8080/api/v1/login",
        data=json.dumps({"key": key}).encode(),
        headers={"Content-Type": "application/json",
                 "Origin": "http://127.0.0.1:8080"})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)["data"]
    except urllib.error.HTTPError as e:
        return e.code, None


def started(uid, user):
    home = os.path.join(work.name, "home%d" % uid)
    os.mkdir(home)
    os.chown(home, uid, uid)
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("XDG_", "DEBUGLANTERN_", "NOTIFY_"))}
    env.update(HOME=home, TMPDIR=home)
    log = os.path.join(work.name, "log%d" % uid)
    with open(log, "wb") as out:
        p = subprocess.Popen([RUN_SH, BIN], env=env, user=uid, group=uid,
                             stdin=subprocess.DEVNULL, stdout=out,
                             stderr=subprocess.STDOUT, cwd="/",
                             start_new_session=True,
                             extra_groups=[])

    def text():
        with open(log, errors="replace") as f:
            return f.read()
    try:
        ok(wait_for(lambda: "Ctrl-C here" in text(), 60),
           "what to type next is said", text())
        found = ADDRESS.search(text())
        ok(found, "with an address to log in at", text())
        ok(text().index("is ready") < text().index("Ctrl-C here"),
           "once the daemon runs", text())
        for line in re.findall(r"^  (/\S+/debuglanternctl \S+)", text(),
                               re.M):
            command, verb = line.split()
            ok(os.access(command, os.X_OK) and subprocess.run(
                [command, "help", verb], capture_output=True).returncode == 0,
               "what it names is there: " + verb, line)
        status, data = log_in(found[1])
        ok(status == 200 and data["user"] == user,
           "a browser logs in there", (status, data))
        eq(log_in(found[1])[0], 401, "once")
        r = subprocess.run([RUN_SH, BIN], env=env, user=uid, group=uid,
                           stdin=subprocess.DEVNULL, capture_output=True,
                           text=True, cwd="/", timeout=60)
        ok(r.returncode != 0 and "there is a daemon already" in r.stderr and
           "cannot listen" in r.stderr and not r.stdout,
           "a second one is not taken for the first", r)
        r = subprocess.run([BIN + "/debuglanternctl", "web"], env=env,
                           user=uid, group=uid, capture_output=True)
        ok(ADDRESS.match(r.stdout.decode()), "another one can be had", r)
    finally:
        p.send_signal(signal.SIGINT)
    eq(p.wait(30), 0, "Ctrl-C ends it")


def as_root():
    started(0, "_dlrun")


def as_user():
    started(ALICE, str(ALICE))


run_tests(as_root, as_user)
