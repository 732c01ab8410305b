#!/usr/bin/python3
"""Holds the findings of `taffrail check` on published manifests against tests/scenarios/corpus.md, where
each is justified. usage: corpus.py TAFFRAIL CORPUS POLICY"""

import json
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent


def justified():
    """Rows of the table: | file | line | action | rail | found | why |"""
    rows = set()
    for line in (HERE / "corpus.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip().strip("`") for cell in line.strip().strip("|").split("|")]
        if len(cells) == 6 and cells[1].isdigit():
            file, number, action, rail, found, why = cells
            if not why:
                sys.exit(f"corpus.md: {file}:{number} has no reason")
            rows.add((file, int(number), action, rail, found))
    return rows


def main(taffrail, corpus, policy):
    run = subprocess.run([taffrail, "check", "-p", policy, "-f", corpus, "-o", "json"],
                         capture_output=True, text=True)
    if run.returncode not in (0, 1):
        print(run.stderr + run.stdout)
        return 1
    report = json.loads(run.stdout)
    found = {(pathlib.Path(f["file"]).name, f["line"],
              "undecided" if f["undecided"] else f["action"], f["rail"],
              re.sub(r", \.\.\. \(\d+\)$", " ...", f["found"])) for f in report["findings"]}
    expected = justified()
    for row in sorted(found - expected):
        print("not in corpus.md:", *row)
    for row in sorted(expected - found):
        print("in corpus.md, not found:", *row)
    files = len(list(pathlib.Path(corpus).glob("*.yaml")))
    print(f"{files} files, {report['summary']['objects']} objects, {len(found)} findings")
    return 1 if found != expected or not found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
