#!/usr/bin/env python3
# SPDX-License-Identifier: ISC
"""What the built programs are made of, as SPDX 2.3 in JSON.

usage: sbom.py VERSION BIN_DIRECTORY LIBEXEC_DIRECTORY [--no-web]

Libraries are named by the Debian packages that they came from here, parts of
the page by web/package-lock.json.  The same programs give the same text: its
time is SOURCE_DATE_EPOCH, or that of the last commit."""
import base64
import datetime
import hashlib
import json
import os
import re
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
# What the linker copies in leaves no name behind: the program, the library's
# package and its archive.
STATIC = {"launcher": ("libc6-dev", "libseccomp-dev"),
          "symbols": ("libiberty-dev",)}
# Programs that it starts, and the tool that makes the page.
RUNTIME = ("gdbserver",)
BUILD = "node_modules/esbuild"


def run(*argv):
    r = subprocess.run(argv, stdout=subprocess.PIPE, cwd=TOP,
                       stderr=subprocess.DEVNULL, text=True)
    return r.stdout if r.returncode == 0 else ""


def when():
    epoch = os.environ.get("SOURCE_DATE_EPOCH") or run(
        "git", "log", "-1", "--format=%ct").strip() or "0"
    t = datetime.datetime.fromtimestamp(int(epoch), datetime.timezone.utc)
    return t.strftime("%Y-%m-%dT%H:%M:%SZ")


def ident(*words):
    return "SPDXRef-" + "-".join(re.sub(r"[^A-Za-z0-9.]+", "-",
                                        w).strip("-") for w in words)


def package(spdxid, name, version, **more):
    out = {"SPDXID": spdxid, "name": name, "versionInfo": version,
           "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
           "licenseConcluded": "NOASSERTION",
           "licenseDeclared": "NOASSERTION",
           "copyrightText": "NOASSERTION"}
    out.update(more)
    return out


def purl(locator):
    return [{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl",
             "referenceLocator": locator}]


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", path))


def owners(sonames):
    """{library: package}, by one search, as each of them takes long."""
    out = {}
    for line in run("dpkg-query", "-S",
                    *("*/" + s for s in sorted(sonames))).splitlines():
        name, _, path = line.partition(": ")
        out.setdefault(os.path.basename(path), name.split(":")[0])
    return out


class Bom:
    def __init__(self, version, programs):
        self.owner = owners({s for p in programs for s in needed(p)})
        self.packages, self.files, self.relations = {}, {}, []
        self.own = ident("debuglantern")
        self.packages[self.own] = package(
            self.own, "debuglantern", version, licenseDeclared="ISC")
        self.relate("SPDXRef-DOCUMENT", "DESCRIBES", self.own)

    def relate(self, what, kind, other):
        row = {"spdxElementId": what, "relationshipType": kind,
               "relatedSpdxElement": other}
        if row not in self.relations:
            self.relations.append(row)

    def debian(self, name):
        """A package by its name; what is not installed has no version."""
        spdxid = ident("deb", name)
        if spdxid in self.packages:
            return spdxid
        fields = run("dpkg-query", "-W", "-f",
                     "${Version}\t${Architecture}\t${Maintainer}",
                     name).split("\t")
        if len(fields) != 3:
            fields = ["NOASSERTION", "", ""]
        version, arch, maintainer = fields
        self.packages[spdxid] = package(
            spdxid, name, version, supplier="Organization: " +
            (re.sub(r" *<.*", "", maintainer) or "NOASSERTION"),
            externalRefs=purl(f"pkg:deb/debian/{name}@{version}?arch={arch}"))
        return spdxid

    def library(self, soname):
        if soname in self.owner:
            return self.debian(self.owner[soname])
        # of a host without dpkg
        spdxid = ident("lib", soname)
        self.packages[spdxid] = package(spdxid, soname, "NOASSERTION")
        return spdxid

    def program(self, path, where):
        name = os.path.basename(path)
        with open(path, "rb") as f:
            data = f.read()
        spdxid = ident("file", where, name)
        self.files[spdxid] = {
            "SPDXID": spdxid, "fileName": f"./{where}/{name}",
            "fileTypes": ["BINARY"], "licenseConcluded": "NOASSERTION",
            "copyrightText": "NOASSERTION", "checksums": [
                {"algorithm": a.upper(),
                 "checksumValue": hashlib.new(a, data).hexdigest()}
                for a in ("sha1", "sha256")]}
        self.relate(self.own, "CONTAINS", spdxid)
        for soname in needed(path):
            self.relate(spdxid, "DYNAMIC_LINK", self.library(soname))
        for deb in STATIC.get(name, ()):
            self.relate(spdxid, "STATIC_LINK", self.debian(deb))
        return spdxid

    def page(self, netproc):
        """The modules that are bundled into the page, and their bundler."""
        with open(os.path.join(TOP, "web/package-lock.json")) as f:
            lock = json.load(f)["packages"]
        for where, p in sorted(lock.items()):
            name = where.removeprefix("node_modules/")
            if not where or p.get("optional"):
                continue
            spdxid = ident("npm", name)
            sha512 = base64.b64decode(p["integrity"].split("-", 1)[1]).hex()
            self.packages[spdxid] = package(
                spdxid, name, p["version"],
                licenseDeclared=p.get("license", "NOASSERTION"),
                checksums=[{"algorithm": "SHA512", "checksumValue": sha512}],
                externalRefs=purl("pkg:npm/" + name.replace("@", "%40") +
                                  "@" + p["version"]))
            if where == BUILD:
                self.relate(spdxid, "BUILD_TOOL_OF", netproc)
            else:
                self.relate(netproc, "CONTAINS", spdxid)

    def document(self, version):
        body = {"packages": list(self.packages.values()),
                "files": list(self.files.values()),
                "relationships": self.relations}
        digest = hashlib.sha256(json.dumps(body).encode()).hexdigest()[:32]
        return {
            "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0",
            "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"debuglantern-{version}",
            "documentNamespace":
                f"https://spdx.org/spdxdocs/debuglantern-{version}-{digest}",
            "creationInfo": {"created": when(),
                             "creators": ["Tool: debuglantern-sbom"]},
            "documentDescribes": [self.own], **body}


def main(version, bin_dir, libexec, *flags):
    programs = [(where, os.path.join(d, name)) for where, d in
                (("bin", bin_dir), ("libexec/debuglantern", libexec))
                for name in sorted(os.listdir(d))]
    bom = Bom(version, [path for _, path in programs])
    for where, path in programs:
        spdxid = bom.program(path, where)
        if os.path.basename(path) == "netproc" and "--no-web" not in flags:
            bom.page(spdxid)
    for name in RUNTIME:
        bom.relate(bom.debian(name), "RUNTIME_DEPENDENCY_OF", bom.own)
    json.dump(bom.document(version), sys.stdout, indent=1)
    print()


if len(sys.argv) < 4:
    sys.exit(__doc__)
main(*sys.argv[1:])
