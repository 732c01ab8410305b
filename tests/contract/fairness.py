"""Small reviews beside hostile clients (tests/contract/hostile): large bodies, slow ones, ones that
are dropped while they are sent or judged, handshakes that stay half open. No review of the victim
may be refused or lost, over kept connections and over new ones; and none may take much longer than
on a machine that is as busy with something else.

usage: fairness.py TAFFRAIL HOSTILE [--measure SECONDS]

With --measure, which is what `scripts/bench hostile` does, it says how long they take, and the memory
of the server, and judges nothing.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is written beside the tests
from http_contract import Server, check_serves
from serving import WAIT_S, Failure, check

CLIENTS = 64
SECONDS = 6
SLOWER = 20  # times, before it is called a failure
LEAST_MS = 1000  # half of what the API server waits; less is not to be had of every machine
TRIES = 3  # what others do on the machine may slow one half of a try and not the other


def hostile(program, server, folder, *arguments, nice=0):
    return subprocess.Popen(
        ["nice", "-n", str(nice), program, *arguments, "--target", "127.0.0.1:%d" % server.port,
         "--ca", os.path.join(folder, "certs", "ca.crt")], stdout=subprocess.PIPE, text=True)


def result(process):
    out, _ = process.communicate(timeout=WAIT_S)
    check(process.returncode == 0, "exit code %d" % process.returncode)
    return json.loads(out)


def victim(program, server, folder, seconds=SECONDS):
    return result(hostile(program, server, folder, "victim", "--seconds", str(seconds)))


def burn():
    """As much of the processor as hostile clients may take, at the same priority."""
    return [subprocess.Popen(["nice", "-n", "19", sys.executable, "-c", "while True: pass"])
            for _ in range(2)]


def stop(processes):
    for process in processes:
        process.kill()
        process.wait()


def is_slow(name, alone, under):
    """That none is lost is held each time."""
    check(under["reviews"] >= 5 * SECONDS, "%s: only %d reviews" % (name, under["reviews"]))
    check(not under["failures"], "%s: %s of %d" % (name, under["failures"], under["reviews"]))
    limit = max(LEAST_MS, SLOWER * alone["p50Ms"])
    slow = under["p99Ms"] >= limit
    if slow:
        print("  %s: p99 is %.1f ms, allowed %.1f" % (name, under["p99Ms"], limit))
    return slow


def beside(program, server, folder, *more):
    """The victim without and with the attack, and what became of that, of the try that was not slow."""
    for _ in range(TRIES):
        slow, became = attempt(program, server, folder, *more)
        if not slow:
            return became
    raise Failure("%s take too long, each of %d times" % (" and ".join(slow), TRIES))


def attempt(program, server, folder, *more):
    burning = burn()
    try:
        alone = victim(program, server, folder)
    finally:
        stop(burning)
    attack = hostile(program, server, folder, "attack", "--clients", str(CLIENTS), "--seconds",
                     str(SECONDS + 1), *more, nice=19)
    try:
        under = victim(program, server, folder)
        became = result(attack)
    finally:
        stop([attack])
    print("load %.1f" % os.getloadavg()[0])
    for name in ("kept", "new"):
        print("  %-5s alone %s\n        under %s" % (name, alone[name], under[name]))
    print("  hostile %s" % became)
    return [name for name in ("kept", "new") if is_slow(name, alone[name], under[name])], became


def everything(program, server, folder):
    """From an address of their own, as pods have one."""
    became = beside(program, server, folder, "--from", "127.0.0.2", "--body-limit", str(16 << 20))
    kinds = {what.split()[0] for what in became}
    check(kinds >= {"large", "slow", "drop-body", "drop-review"}, "kinds: %s" % kinds)
    for kind in ("drop-body dropped", "drop-review dropped"):
        check(became.get(kind, 0) > 0, "nothing was " + kind)


def half_open(program, server, folder):
    """From the victim's own address, as behind a node's: thousands of handshakes left open."""
    beside(program, server, folder, "--kinds", "half-open")


CASES = [
    ("everything", everything),
    ("half open", half_open),
]


# ---- to be read by people ----

KINDS = ["large", "slow", "drop-body", "drop-review", "half-open"]


def print_series(attack, load, memory, found):
    for name, series in found.items():
        print("%-12s %5.1f %8.1f  %-5s %8d %7d %9.1f %9.1f %9.1f" %
              (attack, load, memory, name, series["reviews"], sum(series["failures"].values()),
               series["p50Ms"], series["p99Ms"], series["longestMs"]))
        if series["failures"]:
            print("             %s" % series["failures"])


def own_memory(server):
    with open("/proc/%d/status" % server.process.pid, encoding="utf-8") as file:
        return int(re.search(r"RssAnon:\s*(\d+) kB", file.read())[1]) / 1024


def measure(program, server, folder, seconds):
    """The victim by itself, beside each kind of hostile client, and beside all of them."""
    print("%d hostile clients at the lowest priority, on the same %d cores as victim and server;\n"
          "times in milliseconds, memory (RssAnon) in MiB after %d s" %
          (CLIENTS, os.cpu_count(), seconds))
    print("%-12s %5s %8s  %-5s %8s %7s %9s %9s %9s" % ("beside", "load", "memory", "over", "reviews",
                                                       "failed", "median", "p99", "longest"))
    for kinds in ["", *KINDS, ",".join(KINDS)]:
        attack = None
        if kinds:
            attack = hostile(program, server, folder, "attack", "--clients", str(CLIENTS), "--kinds",
                             kinds, "--seconds", str(seconds + 1), nice=19)
        try:
            load = os.getloadavg()[0]
            found = victim(program, server, folder, seconds)
            memory = own_memory(server)
            became = result(attack) if attack else {}
        finally:
            stop([attack] if attack else [])
        print_series("all" if "," in kinds else kinds or "nobody", load, memory, found)
        print("             %s" % ", ".join("%s: %d" % each for each in sorted(became.items())))


# ---- all of it ----


def judge(program, server, folder):
    failures = 0
    for name, case in CASES:
        try:
            check_serves(server)
            case(program, server, folder)
            check(server.process.poll() is None, "the server has ended")
        except (Failure, OSError) as failure:
            failures += 1
            print("FAILED %s: %s: %s" % (name, type(failure).__name__, failure))
    print("%d cases, %d failures" % (len(CASES), failures))
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("taffrail")
    parser.add_argument("hostile")
    parser.add_argument("--measure", type=int, metavar="SECONDS")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = Server(arguments.taffrail, folder)
        try:
            if arguments.measure is None:
                return judge(arguments.hostile, server, folder)
            measure(arguments.hostile, server, folder, arguments.measure)
            return 0
        finally:
            server.process.kill()
            server.process.wait()


if __name__ == "__main__":
    sys.exit(main())
