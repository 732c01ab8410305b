"""What `taffrail serve` gives up before it answers, as the kernel tells it of every thread, and what
the program was built with, as readelf tells it.
"""

import os
import platform
import re
import shutil
import socket
import stat
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is written beside the tests
from http_contract import POLICY, Server, check_serves
from serving import Failure, Serving, check

NOBODY = 65534
NONE_LEFT = {"NoNewPrivs": "1", "CapInh": "0", "CapPrm": "0", "CapEff": "0", "CapAmb": "0"}


# ---- the process ----


def fields(path):
    """Of a thread that has ended meanwhile, none."""
    try:
        file = open(path, encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return {}
    with file:
        return dict(re.findall(r"^(\w+):\s*(\S+)", file.read(), re.MULTILINE))


def check_threads(server, expected):
    tasks = "/proc/%d/task" % server.process.pid
    threads = os.listdir(tasks)
    found_of = {thread: fields("%s/%s/status" % (tasks, thread)) for thread in threads}
    check(sum(map(bool, found_of.values())) >= 4, "only %d threads" % len(threads))
    for thread, found in found_of.items():
        for name, value in expected.items() if found else ():
            check(int(found[name], 16) == int(value, 16),
                  "thread %s: %s is %s" % (thread, name, found[name]))


def check_no_core(server):
    with open("/proc/%d/limits" % server.process.pid, encoding="utf-8") as file:
        limits = file.read()
    check(re.search(r"^Max core file size +0 +0 ", limits, re.MULTILINE), "core: " + limits)


def stopped(server):
    server.process.kill()
    server.process.wait()


def as_it_is(binary, folder):
    """By whoever runs the tests. Root could empty the bounding set, so it is empty."""
    server = Server(binary, folder)
    try:
        check_serves(server)
        with server.connect():  # whose thread is looked at, too
            check_threads(server, {**NONE_LEFT, **({"CapBnd": "0"} if os.getuid() == 0 else {})})
        check_no_core(server)
    finally:
        stopped(server)


def not_dumpable(binary, folder):
    """The files of a process in /proc are its owner's, and root's when it is not dumpable."""
    options = {}
    if os.getuid() == 0:
        options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        os.chown(folder, NOBODY, NOBODY)
    server = Server(binary, folder, **options)
    try:
        check_serves(server)
        check_threads(server, NONE_LEFT)
        owner = os.stat("/proc/%d/environ" % server.process.pid).st_uid
        check(owner == 0, "its memory is open to user %d" % owner)
    finally:
        stopped(server)


def low_port(binary, folder):
    """Root may still take a port that is root's."""
    if os.getuid() != 0:
        print("low port: skipped, this is not root")
        return
    with socket.socket() as probe:
        for port in range(1023, 900, -1):
            try:
                probe.bind(("127.0.0.1", port))
                break
            except OSError:
                pass
    policy = os.path.join(folder, "policy.yaml")
    with open(policy, "w", encoding="utf-8") as file:
        file.write(POLICY)
    server = Serving(binary, os.path.join(folder, "certs"), "-p", policy,
                     listen="127.0.0.1:%d" % port)
    try:
        check(server.port == port, "port %d instead of %d" % (server.port, port))
        check_threads(server, NONE_LEFT)
    finally:
        stopped(server)


# ---- the program ----


def readelf(binary, *what):
    return subprocess.run(["readelf", "--wide", *what, binary], stdout=subprocess.PIPE, text=True,
                          check=True).stdout


def program(binary, folder):
    if shutil.which("readelf") is None:
        print("program: skipped, readelf (Debian's package binutils) is not installed")
        return
    dynamic = readelf(binary, "--dynamic")
    check(re.search(r"\(FLAGS_1\).*\bNOW\b.*\bPIE\b", dynamic), "not position independent, or lazy")
    segments = readelf(binary, "--segments")
    check("GNU_RELRO" in segments, "relocations stay writable")
    check(re.search(r"GNU_STACK .* RW ", segments), "an executable stack")
    check(not re.search(r"LOAD .* RWE ", segments), "memory that is written and executed")
    if platform.machine() == "x86_64":
        check("SHSTK" in readelf(binary, "--notes"), "no shadow stack")
        check_branch_targets(binary)


def check_branch_targets(binary):
    """Each file of ours says that it has them; that of the C library's startup does not."""
    archive = os.path.join(os.environ["TAFFRAIL_BINARY_DIR"], "libtaffrail_server.a")
    notes = readelf(archive, "--notes")
    files = len(re.findall(r"^File: ", notes, re.MULTILINE))
    marked = len(re.findall(r"x86 feature: IBT, SHSTK", notes))
    check(files > 10 and marked == files, "%d of %d files have branch targets" % (marked, files))


def fortified(binary, folder):
    build = os.environ["TAFFRAIL_BINARY_DIR"]
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as file:
        if not re.search(r"^CMAKE_BUILD_TYPE:\w+=Release$", file.read(), re.MULTILINE):
            print("fortified: skipped, this is no release build")
            return
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        commands = re.findall(r'"command": "(.*)"', file.read())
    ours = [command for command in commands if "/server/" in command]
    for flag in ("-D_FORTIFY_SOURCE=3", "-fstack-protector-strong", "-fstack-clash-protection"):
        check(ours and all(flag in command for command in ours), "compiled without " + flag)
    symbols = readelf(binary, "--dyn-syms")
    check("__stack_chk_fail" in symbols, "no stack protector")
    check("__vsnprintf_chk" in symbols, "no fortified functions")


# ---- all of it ----

CASES = [
    ("as it is", as_it_is),
    ("not dumpable", not_dumpable),
    ("low port", low_port),
    ("program", program),
    ("fortified", fortified),
]


def main():
    failures = 0
    for name, case in CASES:
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            copy = os.path.join(folder, "taffrail")  # where another user can run it
            shutil.copy(sys.argv[1], copy)
            os.chmod(copy, stat.S_IRWXU | stat.S_IRGRP | stat.S_IXGRP | stat.S_IROTH | stat.S_IXOTH)
            try:
                case(copy, folder)
            except (Failure, OSError) as failure:
                failures += 1
                print("FAILED %s: %s: %s" % (name, type(failure).__name__, failure))
    print("%d cases, %d failures" % (len(CASES), failures))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
