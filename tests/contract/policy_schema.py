#!/usr/bin/python3
"""Holds `taffrail schema` against an independent validator (python3-jsonschema): what the program
takes the schema takes, and of what it refuses for its shape the schema refuses it, too.

usage: policy_schema.py TAFFRAIL
"""

import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import warnings

import yaml

try:
    import jsonschema
except ImportError:
    print("skipped: no python3-jsonschema")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]

BASE = {
    "apiVersion": "taffrail.dev/v1alpha1", "kind": "GuardRails", "metadata": {"name": "p"},
    "spec": {"rails": {"instance-types": {"allow": {"families": ["m5"]}}, "topology-keys": {},
                       "resource-requests": {"require": ["cpu"], "max": {"cpu": 4}}}},
}

# What stands beside BASE in a file of its own.
ADDED = {
    "apiVersion": "taffrail.dev/v1alpha1", "kind": "GuardRailExceptions", "metadata": {"name": "t"},
    "spec": {"policies": ["p"], "owner": "team", "exceptions": [
        {"id": "a", "rails": ["topology-keys"], "expires": "2027-01-01"}]},
}

# A path, and a value that is put there. None of these is a policy.
WRONG = [
    ("apiVersion", "taffrail.dev/v2"),
    ("kind", "Pod"),
    ("metadata", {}),
    ("metadata.name", ""),
    ("metadata.name", 7),
    ("metadata.name", "x" * 254),
    ("metadata.owner", "me"),
    ("spec.mode", "strict"),
    ("spec.mode", True),
    ("spec.since", "yesterday"),
    ("spec.contact", ["#a"]),
    ("spec.match", {"namespaces": []}),
    ("spec.match", {"namespaces": "web"}),
    ("spec.match", {"kinds": ["Deploymet"]}),
    ("spec.match", {"namespaceSelector": {"matchLabel": {"a": "b"}}}),
    ("spec.match", {"labelSelector": {"app": "web"}}),
    ("spec.match", {"operations": ["CONNECT"]}),
    ("spec.match", {"operations": []}),
    ("spec.match", {"serviceAccounts": ["argocd"]}),
    ("spec.match", {"excludeServiceAccounts": ["a/b/c"]}),
    ("spec.match", {"serviceAccounts": ["system:serviceaccount:ci:[a]"]}),
    ("spec.match", {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Is"}]}}),
    ("spec.rails.no-such-rail", {}),
    ("spec.rails.topology-keys", "enforce"),
    ("spec.rails.topology-keys.mode", "on"),
    ("spec.rails.topology-keys.fromNodePools", "yes"),
    ("spec.rails.topology-keys.allow", "zone"),
    ("spec.rails.instance-types.allow.family", ["m5"]),
    ("spec.rails.instance-types.allow.types", ["m5.[xl]"]),
    ("spec.rails.instance-types.allow.minGeneration", 1.5),
    ("spec.rails.instance-types.max", {"cpu": "many"}),
    ("spec.rails.instance-types.max", {"cpu": 0}),
    ("spec.exceptions", [{"id": "a", "rails": ["topology-keys"]}]),
    ("spec.exceptions", [{"id": "a", "rails": [], "expires": "2027-01-01"}]),
    ("spec.exceptions", {"id": "a"}),
    ("spec.overrides", [{"id": "a", "match": {"namespaces": ["a"]}, "step": "warn"}]),
    ("spec.overrides", [{"id": "a", "match": {"namespaces": ["a"]}}]),
    ("spec.podTemplates", {"group": "ray.io", "kind": "RayCluster", "paths": ["spec.template"]}),
    ("spec.podTemplates", [{"group": "ray.io", "paths": ["spec.template"]}]),
    ("spec.podTemplates", [{"group": "ray.io", "kind": "RayCluster", "paths": "spec.template"}]),
    ("spec.podTemplates", [{"group": "ray.io", "kind": "RayCluster", "paths": []}]),
    ("spec.podTemplates", [{"group": "ray.io", "kind": "RayCluster", "paths": ["spec.a[0]"]}]),
    ("spec.podTemplates", [{"group": "ray.io", "kind": "RayCluster", "podSpecs": ["/spec"]}]),
    ("spec.podTemplates", [{"group": "ray.io", "kind": "RayCluster", "path": ["spec"]}]),
    ("spec.podTemplates", [{"group": "ray.io", "kind": "RayCluster", "paths": ["spec"],
                            "controllers": ["kuberay-operator"]}]),
    ("spec.overrides", [{"id": "a", "step": "softer"}]),
    ("spec.overrides", [{"match": {"namespaces": ["a"]}, "step": "softer"}]),
    ("spec.overrides", [{"id": "a", "match": {"labelSelector": {}}, "step": "softer"}]),
    ("spec.grants", [{"owner": "a"}]),
    ("spec.grants", [{"owner": "a", "rails": []}]),
    ("spec.grants", [{"owner": "a", "rails": ["topology-keys"], "steps": ["sideways"]}]),
    ("spec.grants", [{"owner": "a", "rails": ["topology-keys"], "maxDuration": "90d"}]),
    ("spec.owner", "team"),
]

# The same of ADDED.
WRONG_ADDED = [
    ("metadata", {}),
    ("metadata.name", 7),
    ("spec.policies", "p"),
    ("spec.policies", []),
    ("spec.owner", None),
    ("spec.policy", "p"),
    ("spec.rails", {}),
    ("spec.exceptions", [{"id": "a", "rails": ["topology-keys"]}]),
    ("spec.overrides", [{"id": "a", "step": "softer"}]),
]
RIGHT_ADDED = [
    ("metadata.labels", {"a": "b"}),
    ("spec.exceptions", []),
    ("spec.overrides", [{"id": "a", "match": {"namespaces": ["a"]}, "step": "softer",
                         "rails": ["topology-keys"]}]),
]

# What is a policy, by the same way.
RIGHT = [
    ("spec.grants", [{"owner": "a", "rails": ["topology-keys"], "namespaces": ["a-*"],
                      "maxDuration": "2160h", "steps": ["softer", "stricter"]}]),
    ("spec.grants", [{"owner": "a", "rails": ["topology-keys"], "steps": []}]),
    ("spec.mode", "off"),
    ("spec.since", "2026-01-01"),
    ("spec.since", "2026-01-01T10:00:00Z"),
    ("spec.rails.topology-keys", None),
    ("spec.rails.instance-types.max", {"cpu": 64, "memory": "256Gi"}),
    ("spec.match", {"namespaceSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}}),
    ("spec.match", {"labelSelector": {"matchLabels": {"app": "web"}}, "operations": ["UPDATE", "DELETE"],
                    "serviceAccounts": ["ci/*"], "excludeServiceAccounts": ["argocd/argo*"]}),
    ("spec.exceptions", [{"id": "a", "rails": ["topology-keys"], "expires": "2027-01-01"}]),
    ("spec.exceptions", [{"id": "a", "rails": ["topology-keys"], "expires": "2027-01-01",
                          "match": {"labelSelector": {}}}]),
    ("spec.overrides", [{"id": "a", "match": {"namespaces": ["a"]}, "step": "softer"}]),
    ("spec.podTemplates", [{"group": "ray.io", "kind": "RayCluster", "resource": "rayclusters",
                            "paths": ["spec.headGroupSpec.template", "spec.a_b[*].c-d[*]"],
                            "podSpecs": ["spec"]}]),
    ("spec", {"rails": {"topology-keys": {}}, "match": {"kinds": ["Pod", "RayCluster.ray.io"]},
              "podTemplates": [{"group": "ray.io", "kind": "RayCluster", "paths": ["spec"]}]}),
    ("spec.overrides", [{"id": "a", "match": {"namespaceSelector": {}}, "step": "stricter",
                         "rails": ["topology-keys"], "reason": "b"}]),
]


def put(path, value, base=None):
    document = copy.deepcopy(base or BASE)
    *way, last = path.split(".")
    parent = document
    for key in way:
        parent = parent.setdefault(key, {})
    parent[last] = value
    return document


def program_takes(taffrail, document):
    with tempfile.TemporaryDirectory() as scratch:
        beside = []
        if document["kind"] == ADDED["kind"]:
            granting = put("spec.grants", [{"owner": "team", "rails": ["topology-keys"],
                                            "steps": ["softer", "stricter"]}])
            granting["spec"]["mode"] = "warn"
            base = pathlib.Path(scratch, "base.json")
            base.write_text(json.dumps(granting), encoding="utf-8")
            beside = ["-p", base]
        policy = pathlib.Path(scratch, "policy.json")
        policy.write_text(json.dumps(document), encoding="utf-8")
        nothing = pathlib.Path(scratch, "nothing.yaml")
        nothing.write_text("", encoding="utf-8")
        run = subprocess.run([taffrail, "check", "-p", policy, *beside, "-f", nothing, "--allow-empty"],
                             capture_output=True, text=True, check=False)
        return run.returncode == 0


def patterns_of(node):
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            yield node["pattern"]
        for value in node.values():
            yield from patterns_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from patterns_of(value)


def editors_differ(pattern):
    """Whether an editor reads it in another way than Python: it takes patterns as JavaScript does,
    where [] is a class of nothing, and where an open bracket inside a class may begin another."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", FutureWarning)
            re.compile(pattern)
    except FutureWarning:
        return True
    return "[]" in pattern or "[^]" in pattern


def main(taffrail):
    run = subprocess.run([taffrail, "schema"], capture_output=True, text=True, check=True)
    schema = json.loads(run.stdout)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    failures = [f"editors read this pattern in another way: {pattern}"
                for pattern in sorted(set(patterns_of(schema))) if editors_differ(pattern)]
    files = sorted(ROOT.glob("manifests/policies/**/*.yaml")) + \
        sorted(ROOT.glob("tests/scenarios/*/policy*.yaml"))
    policies = 0
    for file in files:
        text = file.read_text(encoding="utf-8")
        for document in yaml.load_all(text, yaml.BaseLoader):
            if not isinstance(document, dict) or document.get("kind") not in (
                    BASE["kind"], ADDED["kind"]):
                continue
            policies += 1
            # As JSON has them: BaseLoader makes every scalar a string, SafeLoader dates of days.
            plain = json.loads(json.dumps(next(
                d for d in yaml.safe_load_all(text)
                if d and d["metadata"]["name"] == document["metadata"]["name"]), default=str))
            for error in validator.iter_errors(plain):
                failures.append(f"{file.relative_to(ROOT)}: {error.json_path}: {error.message}")
    if policies < 10:
        failures.append(f"only {policies} policies were found")
    for path, value, document in (
            [(path, value, put(path, value)) for path, value in WRONG] +
            [(path, value, put(path, value, ADDED)) for path, value in WRONG_ADDED]):
        if program_takes(taffrail, document):
            failures.append(f"the program takes {path}: {value!r}")
        if validator.is_valid(document):
            failures.append(f"the schema takes {path}: {value!r}")
    for path, value, document in (
            [(path, value, put(path, value)) for path, value in RIGHT] +
            [(path, value, put(path, value, ADDED)) for path, value in RIGHT_ADDED]):
        if not program_takes(taffrail, document):
            failures.append(f"the program refuses {path}: {value!r}")
        for error in validator.iter_errors(document):
            failures.append(f"the schema refuses {path}: {value!r}: {error.message}")
    for failure in failures:
        print(failure)
    print(f"{policies} policies, {len(WRONG + WRONG_ADDED)} wrong, "
          f"{len(RIGHT + RIGHT_ADDED)} right: {len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
