#!/usr/bin/python3
"""Holds the findings of `taffrail check` on published manifests, under each of the sample policies, against
tests/scenarios/corpus.md, where each is justified. usage: corpus.py TAFFRAIL CORPUS POLICIES"""

import collections
import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SAMPLES = ("starter", "strict", "gpu-platform", "cost")
ENTRY = re.compile(r"(?P<line>\d+)(?: x(?P<times>\d+))?(?P<found>(?:,? `[^`]*`)*)$")

Finding = collections.namedtuple("Finding", "policy action rail file line found")


def justified():
    """Below a heading, which is a rail: **POLICY ACTION, ...**: why, and a list of FILE: LINE `found`; ..."""
    findings = collections.Counter()
    rail, voices = None, []
    for number, line in enumerate((HERE / "corpus.md").read_text(encoding="utf-8").splitlines(), 1):
        where = f"corpus.md:{number}"
        if line.startswith("## "):
            rail, voices = line[3:], []
        elif line.startswith("**"):
            who, _, why = line[2:].partition("**: ")
            voices = [voice.split(" ") for voice in who.split(", ")]
            if not why or any(len(v) != 2 or v[0] not in SAMPLES for v in voices):
                sys.exit(f"{where}: not **POLICY ACTION, ...**: and a reason")
        elif line.startswith("- "):
            file, _, entries = line[2:].partition(": ")
            for entry in entries.split("; "):
                match = ENTRY.match(entry)
                if not match or not voices:
                    sys.exit(f"{where}: not FILE: LINE `found`; ... below a reason: {entry}")
                for found in re.findall(r"`([^`]*)`", match["found"]) or [""]:
                    for policy, action in voices:
                        findings[Finding(policy, action, rail, file, int(match["line"]),
                                         found)] += int(match["times"] or 1)
    return findings


def reported(taffrail, corpus, policies, policy):
    run = subprocess.run([taffrail, "check", "-p", f"{policies}/{policy}.yaml", "-f", corpus, "-o",
                          "json"], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(run.stderr + run.stdout)
    report = json.loads(run.stdout)
    print(f"{policy}: {report['summary']['objects']} objects, {len(report['findings'])} findings")
    return collections.Counter(
        Finding(policy, "undecided" if f["undecided"] else f["action"], f["rail"],
                pathlib.Path(f["file"]).name, f["line"],
                re.sub(r", \.\.\. \(\d+\)$", " ...", f["found"])) for f in report["findings"])


def main(taffrail, corpus, policies):
    expected = justified()
    found = collections.Counter()
    for policy in SAMPLES:
        found += reported(taffrail, corpus, policies, policy)
    for finding in sorted((found - expected).elements()):
        print("not in corpus.md:", *finding)
    for finding in sorted((expected - found).elements()):
        print("in corpus.md, not found:", *finding)
    silent = [policy for policy in SAMPLES if not any(f.policy == policy for f in found)]
    if silent:
        print("no finding at all:", *silent)
    return 1 if found != expected or silent else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
