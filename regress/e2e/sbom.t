#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""The bill of materials is SPDX as its specification wants it, and names what
the programs and the page are made of."""
import hashlib
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "lib"))
from dl import BIN, LIBEXEC, eq, ok, run_tests  # noqa: E402

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
ELEMENT = re.compile(r"SPDXRef-[A-Za-z0-9.-]+")
# what version 2.3 wants of each
DOCUMENT = {"spdxVersion", "dataLicense", "SPDXID", "name",
            "documentNamespace", "creationInfo"}
PACKAGE = {"SPDXID", "name", "downloadLocation"}
FILE = {"SPDXID", "fileName", "checksums"}
KINDS = {"DESCRIBES", "CONTAINS", "DYNAMIC_LINK", "STATIC_LINK",
         "RUNTIME_DEPENDENCY_OF", "BUILD_TOOL_OF"}
LENGTHS = {"SHA1": 40, "SHA256": 64, "SHA512": 128}
# of the parts that may be without one, as a host without dpkg has none
VERSION = re.compile(r"[0-9][A-Za-z0-9.+~:-]*")


def make(**env):
    return subprocess.run(
        [os.path.join(TOP, "etc/sbom.py"), "1.2.3", BIN, LIBEXEC],
        stdout=subprocess.PIPE, check=True, cwd="/",
        env={**os.environ, **env}).stdout


DOC = json.loads(make(SOURCE_DATE_EPOCH="86400"))
NAMES = {x["SPDXID"]: x for x in DOC["packages"] + DOC["files"]}


def related(kind, what=None):
    return {(r["spdxElementId"], r["relatedSpdxElement"])
            for r in DOC["relationships"] if r["relationshipType"] == kind and
            (what is None or r["spdxElementId"] == what)}


def form():
    eq(sorted(DOCUMENT - set(DOC)), [], "the document has what it must have")
    eq((DOC["spdxVersion"], DOC["dataLicense"], DOC["SPDXID"]),
       ("SPDX-2.3", "CC0-1.0", "SPDXRef-DOCUMENT"), "in the version's words")
    ok(re.fullmatch(r"https://[^#]+", DOC["documentNamespace"]),
       "its namespace is an address without a fragment")
    eq(DOC["creationInfo"]["created"], "1970-01-02T00:00:00Z",
       "its time is the sources'")
    ok(all(re.match("(Tool|Person|Organization): ", c)
           for c in DOC["creationInfo"]["creators"]), "somebody made it")
    for kind, want in (("packages", PACKAGE), ("files", FILE)):
        eq([x for x in DOC[kind] if want - set(x)], [],
           f"{kind} have what they must have")
    ids = [x["SPDXID"] for x in DOC["packages"] + DOC["files"]]
    eq((len(ids), [i for i in ids if not ELEMENT.fullmatch(i)]),
       (len(set(ids)), []), "every element has a name of its own")
    sums = [c for x in NAMES.values() for c in x.get("checksums", ())]
    eq([c for c in sums if not re.fullmatch(
        "[0-9a-f]{%d}" % LENGTHS[c["algorithm"]], c["checksumValue"])], [],
       "checksums are checksums")
    eq([x["fileName"] for x in DOC["files"] if "SHA1" not in
        {c["algorithm"] for c in x["checksums"]}], [],
       "of files the one that the version asks for is there")


def relations():
    known = set(NAMES) | {"SPDXRef-DOCUMENT"}
    eq([r for r in DOC["relationships"] if r["relationshipType"] not in KINDS
        or {r["spdxElementId"], r["relatedSpdxElement"]} - known], [],
       "relations are between elements that are there")
    used = {x for r in DOC["relationships"] for x in
            (r["spdxElementId"], r["relatedSpdxElement"])}
    eq(sorted(set(NAMES) - used), [], "and leave none out")
    eq(related("DESCRIBES"), {("SPDXRef-DOCUMENT", "SPDXRef-debuglantern")},
       "it describes debuglantern")


def programs():
    for d, where in ((BIN, "bin"), (LIBEXEC, "libexec/debuglantern")):
        for name in sorted(os.listdir(d)):
            path = os.path.join(d, name)
            f = [x for x in DOC["files"]
                 if x["fileName"] == f"./{where}/{name}"]
            with open(path, "rb") as b:
                digest = hashlib.sha256(b.read()).hexdigest()
            eq([c["checksumValue"] for x in f for c in x["checksums"]
                if c["algorithm"] == "SHA256"], [digest],
               f"{name} is in it, as it is")
            needed = re.findall(r"\(NEEDED\)", subprocess.run(
                ["readelf", "-dW", path], stdout=subprocess.PIPE,
                text=True).stdout)
            links = related("DYNAMIC_LINK", f[0]["SPDXID"])
            static = related("STATIC_LINK", f[0]["SPDXID"])
            ok(0 < len(links) <= len(needed) or (not needed and static),
               f"{name}: with what it is linked", (links, needed))


def versions():
    eq([p["name"] for p in DOC["packages"]
        if not VERSION.fullmatch(p["versionInfo"])], [],
       "every package has a version")
    eq([p["name"] for p in DOC["packages"] if
        p["SPDXID"] != "SPDXRef-debuglantern" and not any(
            re.match("pkg:(deb|npm)/.+@", r["referenceLocator"])
            for r in p["externalRefs"])], [], "and an address of its own")


def page():
    with open(os.path.join(TOP, "web/package.json")) as f:
        wanted = set(json.load(f)["devDependencies"])
    netproc = "SPDXRef-file-libexec-debuglantern-netproc"
    eq({NAMES[b]["name"] for _, b in related("CONTAINS", netproc)} |
       {NAMES[a]["name"] for a, b in related("BUILD_TOOL_OF")}, wanted,
       "the page's parts are those of web/package.json")


def twice():
    eq(make(SOURCE_DATE_EPOCH="1") == make(SOURCE_DATE_EPOCH="1"), True,
       "the same programs give the same text")


run_tests(form, relations, programs, versions, page, twice)
