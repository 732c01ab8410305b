#!/usr/bin/python3
"""Looks into an image that scripts/release made, an OCI archive: what it runs as, which files its layers
hold, that there is no shell among them, and that the program runs with nothing else around it.

usage: look_into_image.py ARCHIVE VERSION ARCH...
"""

import hashlib
import json
import os
import pathlib
import platform
import re
import shutil
import stat
import subprocess
import sys
import tarfile
import tempfile

MACHINES = {"amd64": "x86_64", "arm64": "aarch64"}
LOADERS = {"amd64": "lib64/ld-linux-x86-64.so.2", "arm64": "lib/ld-linux-aarch64.so.1"}
PROGRAM = "opt/taffrail/taffrail"
EXPECTED = (r"opt/taffrail/(LICENSE|taffrail|lib/lib[\w.+-]+\.so(\.\d+)*|licenses/[\w.+-]+\.txt)"
            r"|etc/nsswitch\.conf")
failures = []


def expect(what, good, found=""):
    if not good:
        failures.append(f"{what}: {found}")


class Layout:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def blob(self, descriptor):
        algorithm, digest = descriptor["digest"].split(":")
        path = self.folder / "blobs" / algorithm / digest
        expect("the digest of a blob", hashlib.sha256(path.read_bytes()).hexdigest() == digest, path)
        return path

    def document(self, descriptor):
        return json.loads(self.blob(descriptor).read_bytes())

    def images(self):
        index = json.loads((self.folder / "index.json").read_bytes())
        (descriptor,) = index["manifests"]
        for manifest in self.document(descriptor)["manifests"]:
            yield manifest["platform"], self.document(manifest)


def look_at_config(config, arch, version):
    run = config["config"]
    expect("the architecture", (config["os"], config["architecture"]) == ("linux", arch), config)
    expect("a user other than root", re.fullmatch(r"[1-9]\d*:[1-9]\d*", run.get("User", "")), run)
    expect("the entrypoint", run["Entrypoint"] == ["/" + PROGRAM] and not run.get("Cmd"), run)
    labels = run["Labels"]
    expect("the version", labels["org.opencontainers.image.version"] == version, labels)


def look_at_files(layers, root, arch):
    names = set()
    for layer in layers:
        with tarfile.open(layer) as tar:
            for member in tar:
                names.add(member.name.removeprefix("./").rstrip("/"))
                expect("a file of root, that nobody else may write",
                       (member.uid, member.gid) == (0, 0) and not member.mode & 0o022, member)
                expect("no setuid", not member.mode & (stat.S_ISUID | stat.S_ISGID), member)
                expect("a file or a folder", member.isfile() or member.isdir(), member)
            tar.extractall(root)
    files = {n for n in names if (root / n).is_file()}
    allowed = f"({EXPECTED}|{re.escape(LOADERS[arch])})"
    strangers = sorted(f for f in files if not re.fullmatch(allowed, f))
    expect("only the program, its libraries and their licences", not strangers, strangers)
    runnable = sorted(f for f in files if os.access(root / f, os.X_OK) and "lib" not in f.split("/"))
    expect("no program but this one, so no shell",
           set(runnable) - {LOADERS[arch]} == {PROGRAM}, runnable)
    return len(files)


def run(root, arch, *arguments):
    """The program with root as its root, and /proc as in every container: ld.so finds lib/ by it. Who is not
    root does it in a user namespace; within a chroot there is none."""
    emulator = []
    if MACHINES[arch] != platform.machine():
        shutil.copy("/usr/bin/qemu-aarch64-static", root / "qemu")
        emulator = ["/qemu"]
    (root / "proc").mkdir(exist_ok=True)
    enter = 'mount --rbind /proc "$0/proc" && exec env -i "$(command -v chroot)" "$0" "$@"'
    become = [] if os.geteuid() == 0 else ["--map-root-user"]
    command = ["unshare", *become, "--mount", "sh", "-c", enter, root, *emulator, "/" + PROGRAM,
               *arguments]
    path = os.environ["PATH"] + ":/usr/sbin:/sbin"
    return subprocess.run(command, capture_output=True, text=True, env={"PATH": path}, check=False)


def look(layout, version, wanted):
    seen = []
    for where, manifest in layout.images():
        arch = where["architecture"]
        seen.append(arch)
        look_at_config(layout.document(manifest["config"]), arch, version)
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            root.chmod(0o755)
            count = look_at_files([layout.blob(layer) for layer in manifest["layers"]], root, arch)
            said = run(root, arch, "version")
            expect("it runs", said.stdout == f"taffrail {version}\n", said)
            said = run(root, arch, "explain", "zones")
            expect("it explains", said.returncode == 0 and "zones" in said.stdout, said)
        print(f"{arch}: {count} files, no shell, not root, runs alone")
    expect("the architectures", sorted(seen) == sorted(wanted), seen)


def main():
    archive, version, *wanted = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(archive) as tar:
            tar.extractall(folder)
        look(Layout(folder), version, wanted)
    for failure in failures:
        print(f"FAILED  {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
