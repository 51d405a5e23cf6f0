#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""How the page is built: the same each time, small, and of what it says."""
import filecmp
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "lib"))
from web import BUILD, ok, tap  # noqa: E402

TOP = os.path.join(HERE, "..", "..")
WEB = os.path.join(TOP, "web")
MAX_GZIP = 250 * 1024
# text of others must never be read as markup or program
NEVER = re.compile(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write"
                   r"|\beval\(|new Function|DOMParser|\.cookie\b")


def build(out, src=os.path.join(WEB, "src"), at=TOP):
    subprocess.run(["node", os.path.join(WEB, "build.mjs"), src,
                    os.path.join(os.path.abspath(BUILD), "web",
                                 "node_modules"), out],
                   check=True, cwd=at)
    return sorted(os.listdir(out))


def same():
    with tempfile.TemporaryDirectory() as tmp:
        a, b = os.path.join(tmp, "a"), os.path.join(tmp, "b")
        files = build(a)
        # from another place, to another depth
        src = os.path.join(tmp, "of", "others", "src")
        shutil.copytree(os.path.join(WEB, "src"), src)
        for what, more in (("two builds are the same", {}),
                           ("and so are two in two places",
                            {"src": src, "at": os.path.dirname(src)})):
            ok(build(b, **more) == files and not any(filecmp.cmpfiles(
                a, b, files, shallow=False)[1:]), what, files)
        size = sum(os.path.getsize(f) for f in glob.glob(a + "/*.gz"))
        ok(10000 < size <= MAX_GZIP,
           f"all files are {size} bytes, at most {MAX_GZIP}")
        with open(a + "/table.c") as f:
            paths = re.findall(r'\{ "(/[^"]+)", ', f.read())
        ok(paths == sorted(paths) and "/index.html" in paths,
           "the table is in the order of a binary search", paths)


def locks():
    for where in ("web", "regress/web"):
        with open(os.path.join(TOP, where, "package-lock.json")) as f:
            text = f.read()
        packages = {k: v for k, v in json.loads(text)["packages"].items()
                    if k != ""}
        ok("://" not in text, f"{where}: the lock file has no addresses")
        ok(packages and all("integrity" in v for v in packages.values()),
           f"{where}: and the hash of every package")
        with open(os.path.join(TOP, where, "package.json")) as f:
            wanted = json.load(f)["devDependencies"].values()
        ok(all(v[0].isdigit() for v in wanted),
           f"{where}: exact versions are asked for", list(wanted))


def sources():
    for path in sorted(glob.glob(WEB + "/src/*")):
        with open(path) as f:
            text = f.read()
        ok(not NEVER.search(text) and not re.search(
            r"https?://(?!www\.w3\.org/)", text),
           f"{os.path.basename(path)}: no text becomes markup, no other host",
           NEVER.findall(text))


same()
locks()
sources()
tap.done()
