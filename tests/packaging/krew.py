#!/usr/bin/python3
"""The krew manifest by krew's rules (its internal/index/validation and internal/installation, as of v0.4.5),
and what krew does with it: check the sum, unpack (files and folders alone), move what `files` names, link
`bin`. krew's own module is not to be had everywhere, so its rules stand here.

usage: krew.py TAFFRAIL"""

import glob
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

import yaml

SOURCE = pathlib.Path(os.environ["TAFFRAIL_SOURCE_DIR"])
VERSION = "9.9.9"
REPOSITORY = "https://git.example.com/owner/taffrail"
SEMVER = r"v(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
KEYS = {"apiVersion", "kind", "metadata", "spec"}
SPEC_KEYS = {"version", "shortDescription", "description", "caveats", "homepage", "platforms"}
PLATFORM_KEYS = {"uri", "sha256", "selector", "files", "bin"}


def problems(plugin):
    """What krew would refuse."""
    spec = plugin["spec"]
    if set(plugin) != KEYS or set(spec) - SPEC_KEYS:
        yield f"unknown keys: {set(plugin) - KEYS}, {set(spec) - SPEC_KEYS}"
    if plugin["apiVersion"] != "krew.googlecontainertools.github.com/v1alpha2":
        yield "the apiVersion"
    if plugin["kind"] != "Plugin" or plugin["metadata"]["name"] != "taffrail":
        yield "the kind or the name"
    if not re.fullmatch(SEMVER, spec["version"]):
        yield f"the version {spec['version']}"
    # 50 characters is what krew's index asks for.
    if "\n" in spec["shortDescription"] or not 0 < len(spec["shortDescription"]) <= 50:
        yield "the short description"
    for platform in spec["platforms"]:
        if set(platform) != PLATFORM_KEYS:
            yield f"the keys of {platform}"
        if not re.fullmatch("[a-f0-9]{64}", platform["sha256"]):
            yield f"the sum {platform['sha256']}"
        if not set(platform["selector"]["matchLabels"]) <= {"os", "arch"}:
            yield f"the selector {platform['selector']}"
        for move in platform["files"]:
            if move["to"] != os.path.normpath(move["to"]) or not move["from"]:
                yield f"the move {move}"


def make_archive(path, taffrail, machine):
    name = f"taffrail-{VERSION}-linux-{machine}"
    with tarfile.open(path, "w:gz") as tar:
        tar.add(taffrail, f"{name}/taffrail")
        for file in ("LICENSE", "lib/liba.so.1", "licenses/a.txt", "completions/taffrail.bash"):
            tar.add(SOURCE / "LICENSE", f"{name}/{file}")


def install(platform, archive, folder):
    """As krew installs; returns the link that kubectl finds."""
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == platform["sha256"]
    unpacked, store, links = folder / "unpacked", folder / "store", folder / "bin"
    links.mkdir(parents=True)
    with tarfile.open(archive) as tar:
        for member in tar:
            assert (member.isfile() or member.isdir()) and ".." not in member.name, member
        tar.extractall(unpacked)
    for move in platform["files"]:
        found = glob.glob(str(unpacked / move["from"]))
        assert found, move
        for file in found:
            to = store / move["to"] / os.path.basename(file)
            to.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(file, to)
    link = links / "kubectl-taffrail"
    link.symlink_to(store / platform["bin"])
    return link


def main():
    taffrail = sys.argv[1]
    with tempfile.TemporaryDirectory() as scratch:
        scratch = pathlib.Path(scratch)
        sums = {}
        for machine in ("amd64", "arm64"):
            archive = scratch / f"taffrail-{VERSION}-linux-{machine}.tar.gz"
            make_archive(archive, taffrail, machine)
            sums[machine] = hashlib.sha256(archive.read_bytes()).hexdigest()
        fill = f'. scripts/lib.sh; . scripts/packaging/release.sh; version={VERSION} repository={REPOSITORY}' \
               f' fill scripts/packaging/krew/taffrail.yaml 0 {sums["amd64"]} {sums["arm64"]}'
        text = subprocess.run(["bash", "-euc", fill], cwd=SOURCE, check=True, capture_output=True,
                              text=True).stdout
        plugin = yaml.safe_load(text)
        found = list(problems(plugin))
        for platform in plugin["spec"]["platforms"]:
            machine = platform["selector"]["matchLabels"]["arch"]
            wanted = f"{REPOSITORY}/releases/download/v{VERSION}/taffrail-{VERSION}-linux-{machine}.tar.gz"
            if platform["uri"] != wanted:
                found.append(f"{platform['uri']} is not {wanted}")
            link = install(platform, scratch / os.path.basename(platform["uri"]), scratch / machine)
            said = subprocess.run([link, "version"], capture_output=True, text=True, check=False)
            if not said.stdout.startswith("taffrail "):
                found.append(f"installed, it says {said}")
            if not (link.resolve().parent / "lib/liba.so.1").is_file():
                found.append("lib/ is not beside the program")
        if len(plugin["spec"]["platforms"]) != 2:
            found.append("not both architectures")
    for problem in found:
        print(f"FAILED  {problem}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
