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

import yaml

sys.dont_write_bytecode = True  # nothing is written beside the tests
from audit_cluster import CLUSTER, POLICY, thing
from serving import Failure, check

try:
    import jsonschema
except ImportError:
    print("skipped: no python3-jsonschema")
    sys.exit(77)

TAFFRAIL, DEFINITIONS = sys.argv[1], pathlib.Path(sys.argv[2])
RESULTS = {"deny": "fail", "warn": "warn", "audit": "warn", "excepted": "skip"}


def strict(schema):
    """The API server drops what a definition does not name: here it is refused."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    made = {key: strict(value) for key, value in schema.items()}
    if isinstance(schema.get("properties"), dict) and "type" in schema:
        made.setdefault("additionalProperties", False)
    return made


def validators():
    made = {}
    for path in DEFINITIONS.glob("*.yaml"):
        definition = yaml.safe_load(path.read_text())["spec"]
        version, = [one for one in definition["versions"] if one["name"] == "v1alpha1"]
        made[definition["names"]["kind"]] = jsonschema.Draft7Validator(
            strict(version["schema"]["openAPIV3Schema"]))
    check(sorted(made) == ["ClusterReport", "Report"], f"definitions of {sorted(made)}")
    return made


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
    valid = validators()
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
