#!/usr/bin/python3
"""What a release contains besides Taffrail's own code, as a CycloneDX document: the Debian packages whose
libraries were linked into the program or are shipped beside it, with versions and licences. The linker's
map says what was linked. Their copyright files are copied, since most of these licences ask for that.

usage: sbom.py --name taffrail --version V --arch ARCH --epoch SECONDS --map MAP --owners FILE
               --sysroot DIR --copyrights DIR --out FILE [--shared FILE ...] [--image FILE ...]
"""

import argparse
import datetime
import json
import os
import pathlib
import re
import shutil
import subprocess
import uuid

# Debian's short names, where SPDX has another.
SPDX = {
    "Apache-2.0": "Apache-2.0", "BSD-2-clause": "BSD-2-Clause", "BSD-2-Clause": "BSD-2-Clause",
    "BSD-3-clause": "BSD-3-Clause", "BSD-3-Clause": "BSD-3-Clause", "BSL-1.0": "BSL-1.0",
    "Expat": "MIT", "MIT": "MIT", "ISC": "ISC", "curl": "curl", "Zlib": "Zlib", "Unlicense": "Unlicense",
    "Apache-2": "Apache-2.0", "BSD3": "BSD-3-Clause", "zlib": "Zlib", "OpenLDAP-2.8": "OLDAP-2.8",
    "FSFAP": "FSFAP", "FSFUL": "FSFUL", "FSFULLR": "FSFULLR", "X11": "X11", "0BSD": "0BSD",
    "GPL-2": "GPL-2.0-only", "GPL-2+": "GPL-2.0-or-later", "GPL-3": "GPL-3.0-only",
    "GPL-3+": "GPL-3.0-or-later", "LGPL-2": "LGPL-2.0-only", "LGPL-2+": "LGPL-2.0-or-later",
    "LGPL-2.1": "LGPL-2.1-only", "LGPL-2.1+": "LGPL-2.1-or-later", "LGPL-3": "LGPL-3.0-only",
    "LGPL-3+": "LGPL-3.0-or-later", "GFDL-1.3": "GFDL-1.3-only", "OLDAP-2.8": "OLDAP-2.8",
}
NAMESPACE = uuid.UUID("6ba7b811-9dad-11d1-80b4-00c04fd430c8")  # that of URLs


class Owners:
    """Which package a file is of: of those unpacked in the sysroot, else of those installed."""

    def __init__(self, sysroot, table):
        self.sysroot = pathlib.Path(sysroot).resolve()
        self.files = {}
        for line in pathlib.Path(table).read_text(encoding="utf-8").splitlines():
            package, version, source, path = line.split("\t")
            self.files[path] = (package, version, source)

    def of(self, path):
        real = pathlib.Path(path).resolve()
        if real.is_relative_to(self.sysroot):
            name = "/" + str(real.relative_to(self.sysroot))
            # /lib is /usr/lib there; packages name either.
            return self.files.get(name) or self.files[re.sub("^/usr/", "/", name)]
        names = {str(real), re.sub("^/usr/", "/", str(real))}
        owner = subprocess.run(["dpkg-query", "-S", *names], capture_output=True, text=True, check=False)
        if not owner.stdout:
            raise SystemExit(f"sbom.py: {path} is of no Debian package")
        package = owner.stdout.split(": ")[0].split(":")[0]
        shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\t${source:Package}", package],
                               capture_output=True, text=True, check=True)
        return (package, *shown.stdout.split("\t"))

    def copyright(self, package):
        path = self.sysroot / "usr/share/doc" / package / "copyright"
        if not path.exists():  # a link to the folder of another package
            path = pathlib.Path("/usr/share/doc") / package / "copyright"
        return path


def linked(map_file):
    """The archives of which the linker took members."""
    text = pathlib.Path(map_file).read_text(encoding="utf-8", errors="replace")
    members = text.split("\n\n", 1)[1] if text.startswith("Archive member") else ""
    members = members.split("\nMemory Configuration", 1)[0]
    archives = set(re.findall(r"^(/\S+\.a)\(", members, re.M))
    return {a for a in archives if not re.search(r"/libtaffrail_\w+\.a$", a)}


def licences(copyright_file):
    text = copyright_file.read_text(encoding="utf-8", errors="replace")
    if "copyright-format" not in text.split("\n\n", 1)[0]:
        return [{"license": {"name": "see copyright file"}}]
    names = set()
    for line in re.findall(r"^License:\s*(\S.*)$", text, re.M):
        names.update(re.split(r"\s+(?:and|or|with)\s+|\s*[,|]\s*(?:and |or )?", line.strip()))
    known = sorted({SPDX[n] for n in names if n in SPDX})
    others = sorted(n for n in names if n and n not in SPDX)
    return ([{"license": {"id": name}} for name in known] +
            [{"license": {"name": name}} for name in others])


def component(owner, ways, arch, owners):
    package, version, source = owner
    purl = f"pkg:deb/debian/{package}@{version.replace('+', '%2B')}?arch={arch}&distro=debian-12"
    if source != package:
        purl += f"&upstream={source}"
    return {"type": "library", "bom-ref": purl, "name": package, "version": version,
            "licenses": licences(owners.copyright(package)), "purl": purl,
            "properties": [{"name": "taffrail.dev/how", "value": way} for way in sorted(ways)]}


def document(options, components):
    name, version = options.name, options.version
    ref = f"pkg:generic/{name}@{version}?arch={options.arch}"
    when = datetime.datetime.fromtimestamp(options.epoch, datetime.timezone.utc)
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.5.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "serialNumber": f"urn:uuid:{uuid.uuid5(NAMESPACE, json.dumps([ref, components]))}",
        "version": 1,
        "metadata": {
            "timestamp": when.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "component": {"type": "application", "bom-ref": ref, "name": name, "version": version,
                          "licenses": [{"license": {"id": "Apache-2.0"}}], "purl": ref},
        },
        "components": components,
        "dependencies": [{"ref": ref, "dependsOn": [c["bom-ref"] for c in components]}],
    }


def main():
    parser = argparse.ArgumentParser()
    for name in ("name", "version", "arch", "map", "owners", "sysroot", "copyrights", "out"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--epoch", required=True, type=int)
    parser.add_argument("--shared", nargs="*", default=[])
    parser.add_argument("--image", nargs="*", default=[])
    options = parser.parse_args()
    owners = Owners(options.sysroot, options.owners)
    ways = {}
    for files, way in ((linked(options.map), "linked statically"), (options.shared, "in lib/"),
                       (options.image, "in the image alone")):
        for path in files:
            ways.setdefault(owners.of(path), set()).add(way)
    os.makedirs(options.copyrights, exist_ok=True)
    for package, _, _ in ways:
        shutil.copyfile(owners.copyright(package), f"{options.copyrights}/{package}.txt")
    components = [component(o, ways[o], options.arch, owners) for o in sorted(ways)]
    with open(options.out, "w", encoding="utf-8") as out:
        json.dump(document(options, components), out, indent=1)
        out.write("\n")


if __name__ == "__main__":
    main()
