#!/usr/bin/python3
"""Holds `taffrail check` to what was judged by hand of manifests from the field.

usage: field.py [--taffrail BINARY] [--field FOLDER] [--rail RAIL ...] [--rows] [--all] [--settle]

Prints, by rail, how many of the rows of tests/field/expected/RAIL.tsv hold now. A row is open where it is known
not to hold yet. --rows shows the rows that do not hold, one after another: what is said, what is expected, where
the file is (--all: those that hold, too). --settle takes the mark from open rows that hold. Exits with 1 when a
row that is not open does not hold, or a judged row of the set has no expectation."""

import argparse
import collections
import os
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from check_runs import LISTED, ROOT, SAMPLES, FieldSet, Run, check_runs, read_table  # noqa: E402
from expectation import WRITTEN, holds, near  # noqa: E402

EXPECTED = ROOT / "tests/field/expected"
COLUMNS = ("file", "policy", "kind", "name", "field", "found", "label", "state", "expect", "note")
KEY = ("file", "policy", "rail", "kind", "name", "field", "found")
ANY_SAMPLE = "any sample"  # the policy of a miss: one of the samples must say it
CUT = 24  # of `found`, which is part of a row's key


def key(row):
    return tuple(row.get(name, "")[:CUT] if name == "found" else row[name] for name in KEY)


def expected_rows():
    rows = []
    for path in sorted(EXPECTED.glob("*.tsv")):
        for row in read_table(path):
            row["rail"] = path.stem
            rows.append(row)
    return rows


def write_rows(rail, rows):
    with open(EXPECTED / f"{rail}.tsv", "w", encoding="utf-8") as out:
        for row in [dict(zip(COLUMNS, COLUMNS))] + rows:
            out.write("\t".join(row[name] for name in COLUMNS) + "\n")


def judged_keys(field):
    """The keys that must have an expectation."""
    keys = set()
    for path in sorted(field.folder.glob("judged-*.tsv")):
        keys |= {key(row) for row in read_table(path)}
    for path in sorted(field.folder.glob("missed-*.tsv")):
        for row in read_table(path):
            keys.add(key(row | {"policy": ANY_SAMPLE, "rail": row["rail"].removesuffix(" (new)")}))
    return keys


def runs_of(row):
    policy = LISTED.get((row["rail"], row["policy"]), row["policy"])
    return [Run(row["file"], p) for p in (SAMPLES if policy == ANY_SAMPLE else [policy])]


def judge(row, reports):
    """None, or why the row does not hold under any of its policies."""
    reasons = [reports[run].get("crash") or holds(row, reports[run]["findings"])
               for run in runs_of(row)]
    return None if None in reasons else reasons[0]


def show(row, field, reports, why):
    print(f"\n{row['rail']}  {row['kind']}/{row['name']}  {row['field']}  {row['found']}"
          f"\n  file      {field.path(row['file'])}\n  policy    {row['policy']}"
          f"\n  label     {row['label']}{'  (open)' if row['state'] else ''}\n  expected  {row['expect']}")
    if row["note"]:
        print(f"  note      {row['note']}")
    print(f"  now       {'holds' if why is None else why}")
    for run in runs_of(row):
        for f in reports[run]["findings"]:
            if f["kind"] == row["kind"] and f["name"] == row["name"] and (
                    f["rail"] == row["rail"] or near(f["field"], row["field"])):
                where = "->" if f["rail"] == row["rail"] and near(f["field"], row["field"]) else "  "
                action = "undecided" if f["undecided"] else f["action"]
                print(f"  {where} {run.policy.split(',')[0]} {action} {f['rail']} {f['field']} "
                      f"(line {f['line']})\n       {f['message']}\n       fix: {f['fix']}")


def table(rows, verdicts):
    counts = collections.defaultdict(collections.Counter)
    for row in rows:
        state = "written" if row["expect"].startswith(WRITTEN) else (
            "right" if verdicts[id(row)] is None else "open" if row["state"] else "wrong")
        for rail in (row["rail"], "all"):
            counts[rail]["rows"] += 1
            counts[rail][state] += 1
    print(f"{'rail':26}{'rows':>6}{'right':>7}{'open':>6}{'wrong':>7}{'written':>9}")
    for rail in sorted(counts, key=lambda name: (name == "all", name)):
        c = counts[rail]
        print(f"{rail:26}{c['rows']:6}{c['right']:7}{c['open']:6}{c['wrong']:7}{c['written']:9}")
    return counts["all"]["wrong"]


def settle(rows, verdicts):
    settled = 0
    by_rail = collections.defaultdict(list)
    for row in rows:
        if row["state"] and verdicts[id(row)] is None:
            row["state"] = ""
            settled += 1
        by_rail[row["rail"]].append(row)
    for rail, its in by_rail.items():
        write_rows(rail, its)
    print(f"{settled} rows settled")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--taffrail", default=ROOT / "build/taffrail")
    parser.add_argument("--field", default=os.environ.get("TAFFRAIL_FIELD", ROOT.parent / "shared/field"))
    parser.add_argument("--rail", action="append")
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--settle", action="store_true")
    options = parser.parse_args()
    field = FieldSet(options.field)
    rows = expected_rows()
    missing = judged_keys(field) - {key(row) for row in rows}
    for row in sorted(missing):
        print("no expectation:", *row)
    if options.rail:
        rows = [row for row in rows if row["rail"] in options.rail]
    reports = check_runs(options.taffrail, field, [run for row in rows for run in runs_of(row)])
    verdicts = {id(row): judge(row, reports) for row in rows}
    if options.rows or options.all:
        for row in rows:
            if options.all or verdicts[id(row)] is not None:
                show(row, field, reports, verdicts[id(row)])
        print()
    for row in rows:
        if verdicts[id(row)] is not None and not row["state"] and not options.rows:
            print("wrong:", row["rail"], row["policy"], row["file"], f"{row['kind']}/{row['name']}",
                  f"{row['field']}: {verdicts[id(row)]}")
    wrong = table(rows, verdicts)
    if options.settle:
        settle(rows, verdicts)
    return 1 if wrong or missing else 0


if __name__ == "__main__":
    sys.exit(main())
