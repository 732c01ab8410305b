#!/usr/bin/python3
"""Holds the fields that pool-shape and node-class know against the CRDs that Karpenter ships: an object with
every field of a CRD, and in each place one that it does not have. The rail must find these, and nothing else.

usage: pool_fields.py TAFFRAIL CRD ..."""

import json
import pathlib
import subprocess
import sys
import tempfile

import yaml

INVENTED = "inventedField"
RAILS = {"NodePool": "pool-shape", "EC2NodeClass": "node-class"}


def filled(schema, path, invented):
    """A value of the schema with all that it may hold; adds the paths of what is invented."""
    if schema.get("type") == "array":
        return [filled(schema["items"], f"{path}[0]", invented)]
    if schema.get("type") != "object" or "properties" not in schema:
        return {} if schema.get("type") == "object" else "x"
    value = {name: filled(child, f"{path}.{name}".lstrip("."), invented)
             for name, child in schema["properties"].items() if f"{path}.{name}" != ".status"}
    value[INVENTED] = 1
    invented.add(f"{path}.{INVENTED}".lstrip("."))
    return value


def hold(taffrail, crd):
    """The number of versions of which the rail knows other fields."""
    kind = crd["spec"]["names"]["kind"]
    rail = RAILS[kind]
    policy = {"apiVersion": "taffrail.dev/v1alpha1", "kind": "GuardRails", "metadata": {"name": "p"},
              "spec": {"mode": "enforce", "rails": {rail: {}}}}
    failed = 0
    for version in crd["spec"]["versions"]:
        invented = set()
        item = filled(version["schema"]["openAPIV3Schema"], "", invented)
        item.update(apiVersion=f"{crd['spec']['group']}/{version['name']}", kind=kind,
                    metadata={"name": "p"})
        with tempfile.TemporaryDirectory() as scratch:
            files = {"policy.json": policy, "item.json": item}
            for name, content in files.items():
                pathlib.Path(scratch, name).write_text(json.dumps(content), encoding="utf-8")
            run = subprocess.run([taffrail, "check", "-p", f"{scratch}/policy.json", "-f",
                                  f"{scratch}/item.json", "-o", "json"],
                                 capture_output=True, text=True)
        report = json.loads(run.stdout)
        found = {finding["field"] for finding in report["findings"]
                 if " has no field " in finding["message"]}
        for path in sorted(found - invented):
            print(f"{kind} {version['name']} has {path}, and {rail} does not know it")
        for path in sorted(invented - found):
            print(f"{kind} {version['name']} does not have {path}, and {rail} does not find it")
        failed += found != invented
        print(f"{kind} {version['name']}: {len(invented)} places")
    return failed


class Loader(yaml.SafeLoader):
    """YAML 1.1 with "=" as a string, which some CRDs have."""


Loader.add_constructor("tag:yaml.org,2002:value", lambda loader, node: node.value)


def main(taffrail, *crds):
    failed = 0
    for crd in crds:
        failed += hold(taffrail, yaml.load(pathlib.Path(crd).read_text(encoding="utf-8"), Loader))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
