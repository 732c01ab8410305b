#!/usr/bin/python3
"""Holds `taffrail audit -o openreports` against the definitions of openreports.io, and against what
`-o json` tells.

usage: openreports.py TAFFRAIL DEFINITIONS"""

import copy
import json
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True  # nothing is written beside the tests
from audit_cluster import CLUSTER, POLICY, thing
from serving import Failure, check

try:
    import report_definitions
except ImportError:
    print("skipped: no python3-jsonschema")
    sys.exit(77)

TAFFRAIL, DEFINITIONS = sys.argv[1], pathlib.Path(sys.argv[2])
RESULTS = {"deny": "fail", "warn": "warn", "audit": "warn", "excepted": "skip"}


def audit(folder, form):
    done = subprocess.run([TAFFRAIL, "audit", "-p", folder / "policy.yaml", "--state",
                           folder / "state", "-o", form], capture_output=True, text=True)
    check(done.returncode == 1, f"ends with {done.returncode}: {done.stderr}")
    return json.loads(done.stdout)


def told(results):
    return sorted((one["policy"], one["rule"], one["result"], one["properties"]["action"],
                   one["resources"][0]["kind"], one["resources"][0].get("namespace", ""),
                   one["resources"][0]["name"]) for one in results)


def main(folder):
    (folder / "state").mkdir()
    (folder / "policy.yaml").write_text(POLICY)
    clean = thing("apps/v1", "Deployment", "clean", "quiet", spec={})
    (folder / "state" / "all.json").write_text(json.dumps(
        {"apiVersion": "v1", "kind": "List", "items": [*CLUSTER, clean]}))
    reports = audit(folder, "openreports")
    check((reports["apiVersion"], reports["kind"]) == ("v1", "List"), "not a List")
    valid = report_definitions.validators(DEFINITIONS)
    for report in reports["items"]:
        check(report["apiVersion"] == "openreports.io/v1alpha1", report["apiVersion"])
        for error in valid[report["kind"]].iter_errors(report):
            raise Failure(f"{report['kind']}: {list(error.absolute_path)}: {error.message}")
    spaces = {report["metadata"].get("namespace", ""): report for report in reports["items"]}
    check(sorted(spaces) == ["", "kube-system", "legacy", "quiet", "web"], sorted(spaces))
    check(spaces[""]["kind"] == "ClusterReport", "what is in no namespace is in a Report")
    check(spaces["quiet"]["results"] == [], "a clean namespace has results")
    for name, report in spaces.items():
        counts = {key: sum(one["result"] == key for one in report["results"])
                  for key in ("pass", "fail", "warn", "error", "skip")}
        check(report["summary"] == counts, f"{name}: {report['summary']} of {counts}")
        check(all(one["resources"][0].get("namespace", "") == name for one in report["results"]),
              f"{name} tells of another namespace")
    wanted = sorted((one["policy"], one["rail"], RESULTS[one["action"]], one["action"],
                     one["kind"], one["namespace"], one["name"])
                    for one in audit(folder, "json")["findings"])
    found = told([one for report in spaces.values() for one in report["results"]])
    check(found == wanted and len(found) > 10, f"found {found}\nwanted {wanted}")
    # The validator must be able to refuse.
    for path, value in (("result", "denied"), ("severity", "deny"), ("rail", "x"),
                        ("resources", {}), ("properties", {"allowed": 7})):
        broken = copy.deepcopy(spaces["web"])
        broken["results"][0][path] = value
        check(not valid["Report"].is_valid(broken), f"{path}: {value} is accepted")
    print(f"{len(reports['items'])} reports, {len(found)} results: as openreports.io has them")


try:
    with tempfile.TemporaryDirectory() as scratch:
        main(pathlib.Path(scratch))
except Failure as failure:
    sys.exit(f"FAILED: {failure}")
