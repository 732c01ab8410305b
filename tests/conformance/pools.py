#!/usr/bin/python3
"""Asks two about many NodePools and EC2NodeClasses: an API server with Karpenter's CRDs and Karpenter's own
validation (crd-judge), and `taffrail check`. The objects are those of the scenarios, of the samples, and of
TAFFRAIL_CORPUS when it is set, and as many made of them by random changes as COUNT says.

What Karpenter would reject must be found; what it would use must not be called unusable; what the API server
refuses must be judged all the same.

usage: pools.py TAFFRAIL CRD-JUDGE SOURCE [COUNT [SEED [KEEP]]]"""

import collections
import copy
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

import yaml

from pool_changes import CHANGES

POLICY = {"apiVersion": "taffrail.dev/v1alpha1", "kind": "GuardRails", "metadata": {"name": "p"},
          "spec": {"mode": "enforce", "rails": {"pool-shape": {}, "disruption-budgets": {},
                                                "node-rotation": {}, "pool-limits": {},
                                                "node-class": {}}}}
# What our findings say of an object that Karpenter would not use as it stands.
CLAIMS = re.compile("Karpenter refuses|Karpenter cannot read|is no quantity|found no quantity|"
                    "is no duration|has no unit|neither a number of nodes nor|"
                    "has a schedule and no duration|has a duration and no schedule")


class Loader(yaml.SafeLoader):
    """YAML 1.1 with "=" as a string, which some CRDs have."""


Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: node.value)


# Karpenter takes it for the value; we take it for one that is still to be filled in.
PLACEHOLDER = re.compile(r"\$\{.*\}|\$\(.*\)|\{\{.*\}\}|<<.*>>")


def is_template(item):
    return item["kind"] == "NodePool" and PLACEHOLDER.search(json.dumps(item, default=str))


def bases(folders):
    """The v1 pools and classes in the files of the folders, less pools that are still to be filled in."""
    for folder in folders:
        for path in sorted(pathlib.Path(folder).rglob("*.y*ml")):
            try:
                documents = list(yaml.load_all(path.read_text(encoding="utf-8"), Loader))
            except (yaml.YAMLError, UnicodeDecodeError, ValueError):
                continue # scenarios of what does not parse
            for document in documents:
                if not isinstance(document, dict):
                    continue
                items = document.get("items") if document.get("kind") == "List" else None
                for item in items or [document]:
                    if (isinstance(item, dict) and item.get("kind") in ("NodePool", "EC2NodeClass") and
                            str(item.get("apiVersion")).endswith("/v1") and not is_template(item)):
                        # dates of the YAML reader are no JSON
                        yield json.loads(json.dumps(item, default=str))


NEEDED = {
    "NodePool": {"template": {"spec": {"requirements": [], "nodeClassRef": {
        "group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}}},
    "EC2NodeClass": {"role": "nodes", "amiSelectorTerms": [{"alias": "al2023@latest"}],
                     "subnetSelectorTerms": [{"tags": {"a": "b"}}],
                     "securityGroupSelectorTerms": [{"tags": {"a": "b"}}]},
}


def complete(value, needed):
    """With what a scenario leaves out, so that one change decides what becomes of the object."""
    for key, child in needed.items():
        if isinstance(child, dict):
            value[key] = complete(value[key] if isinstance(value.get(key), dict) else {}, child)
        elif key not in value:
            value[key] = copy.deepcopy(child)
    return value


def made(folders, count, seed):
    """Each base, and changed ones, under names of their own."""
    chance = random.Random(seed)
    found = list(bases(folders))
    if len(found) < 20:
        sys.exit(f"only {len(found)} NodePools and EC2NodeClasses to begin with")
    objects = [(copy.deepcopy(base), ["as written"]) for base in found]
    kinds = {kind: [b for b in found if b["kind"] == kind] for kind in CHANGES}
    while len(objects) < len(found) + count:
        kind = chance.choices(list(kinds), [2, 1])[0]
        base = complete(copy.deepcopy(chance.choice(kinds[kind])), {"spec": NEEDED[kind]})
        changes = [chance.choice(CHANGES[kind]) for _ in range(chance.choice((1, 1, 2)))]
        objects.append((base, [change(base, chance) for change in changes]))
    for i, (item, _) in enumerate(objects):
        metadata = item.get("metadata")
        item["metadata"] = dict(metadata if isinstance(metadata, dict) else {}, name=f"o{i:05}")
    return objects


def ask_karpenter(judge, objects):
    text = "\n---\n".join(json.dumps(item) for item, _ in objects)
    run = subprocess.run([judge, "-o", "json"], input=text, capture_output=True, text=True, check=True)
    verdicts = [json.loads(line) for line in run.stdout.splitlines()]
    if [v["name"] for v in verdicts] != [item["metadata"]["name"] for item, _ in objects]:
        sys.exit(f"{judge} did not judge every object: {run.stderr}")
    return verdicts


def ask_taffrail(taffrail, objects, scratch):
    """Findings by the name of the object."""
    policy = pathlib.Path(scratch, "policy.json")
    policy.write_text(json.dumps(POLICY), encoding="utf-8")
    folder = pathlib.Path(scratch, "objects")
    folder.mkdir()
    for item, _ in objects:
        name = item["metadata"]["name"]
        pathlib.Path(folder, f"{name}.json").write_text(json.dumps(item), encoding="utf-8")
    run = subprocess.run([taffrail, "check", "-p", policy, "-f", folder, "-o", "json"],
                         capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(f"taffrail check ended with {run.returncode}: {run.stderr[-2000:]}")
    report = json.loads(run.stdout)
    # A fragment is passed over, which compare() takes for wrong unless the API server refuses it.
    summary = report["summary"]
    if report["errors"] or summary["objects"] + summary["fragments"] != len(objects):
        sys.exit(f"not every object was judged: {report['summary']} {report['errors'][:3]}")
    findings = collections.defaultdict(list)
    for finding in report["findings"]:
        findings[pathlib.Path(finding["file"]).stem].append(finding)
    return findings


def compare(verdict, findings):
    """What Karpenter does with the object, what we say, and whether that is wrong."""
    claims = any(CLAIMS.search(finding["message"]) for finding in findings)
    ours = "unusable" if claims else "other findings" if findings else "no finding"
    if verdict["refused"]:
        return "the API server refuses it", ours, False
    if verdict["unreadable"] or verdict["rejected"]:
        return "Karpenter rejects it", ours, not claims
    return "Karpenter uses it", ours, claims


def main(taffrail, judge, source, count="600", seed=None, keep=None):
    seed = int(seed if seed is not None else time.time())
    print(f"seed {seed}", flush=True)
    folders = [f"{source}/tests/scenarios", f"{source}/manifests", f"{source}/tests/conformance"]
    if os.environ.get("TAFFRAIL_CORPUS"):
        folders.append(os.environ["TAFFRAIL_CORPUS"])
    objects = made(folders, int(count), seed)
    verdicts = ask_karpenter(judge, objects)
    with tempfile.TemporaryDirectory() as scratch:
        findings = ask_taffrail(taffrail, objects, scratch)
    table = collections.Counter()
    wrong = 0
    for (item, changes), verdict in zip(objects, verdicts):
        ours = findings[item["metadata"]["name"]]
        theirs, said, is_wrong = compare(verdict, ours)
        table[(item["kind"], theirs, said)] += 1
        if not is_wrong:
            continue
        wrong += 1
        if keep:
            pathlib.Path(keep, f"{item['metadata']['name']}.json").write_text(
                json.dumps(item, indent=1), encoding="utf-8")
        print(f"{theirs}, and we say {said}: {item['kind']} {item['metadata']['name']} "
              f"({', '.join(changes)})")
        for fault in [verdict["unreadable"]] + (verdict["rejected"] or []):
            print(f"  Karpenter: {fault[:200]}" if fault else "", end="\n" if fault else "")
        for finding in ours:
            print(f"  we: {finding['rail']} {finding['field']}: {finding['message'][:200]}")
    for (kind, theirs, said), number in sorted(table.items()):
        print(f"{number:6} {kind:13} {theirs:26} {said}")
    print(f"{len(objects)} objects, {wrong} wrong")
    # A run in which nothing is rejected, or nothing is good, tells nothing.
    for kind in ("NodePool", "EC2NodeClass"):
        for theirs in ("the API server refuses it", "Karpenter rejects it", "Karpenter uses it"):
            if not any(k == kind and t == theirs for k, t, _ in table):
                print(f"no {kind} of which {theirs}")
                wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
