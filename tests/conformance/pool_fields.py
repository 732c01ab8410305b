#!/usr/bin/python3
"""Holds the fields that pool-shape knows against the CRD that Karpenter ships: an object with every field of
the CRD, and in each place one that it does not have. The rail must find these, and nothing else.

usage: pool_fields.py TAFFRAIL CRD"""

import json
import pathlib
import subprocess
import sys
import tempfile

import yaml

INVENTED = "inventedField"
POLICY = {"apiVersion": "taffrail.dev/v1alpha1", "kind": "GuardRails", "metadata": {"name": "p"},
          "spec": {"mode": "enforce", "rails": {"pool-shape": {}}}}


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


def main(taffrail, crd_path):
    crd = yaml.safe_load(pathlib.Path(crd_path).read_text(encoding="utf-8"))
    failed = 0
    for version in crd["spec"]["versions"]:
        invented = set()
        pool = filled(version["schema"]["openAPIV3Schema"], "", invented)
        pool.update(apiVersion=f"{crd['spec']['group']}/{version['name']}",
                    kind=crd["spec"]["names"]["kind"], metadata={"name": "p"})
        with tempfile.TemporaryDirectory() as scratch:
            files = {"policy.json": POLICY, "pool.json": pool}
            for name, content in files.items():
                pathlib.Path(scratch, name).write_text(json.dumps(content), encoding="utf-8")
            run = subprocess.run([taffrail, "check", "-p", f"{scratch}/policy.json", "-f",
                                  f"{scratch}/pool.json", "-o", "json"],
                                 capture_output=True, text=True)
        report = json.loads(run.stdout)
        found = {finding["field"] for finding in report["findings"]
                 if "has no such field" in finding["message"]}
        for path in sorted(found - invented):
            print(f"{version['name']} has {path}, and pool-shape does not know it")
        for path in sorted(invented - found):
            print(f"{version['name']} does not have {path}, and pool-shape does not find it")
        failed += found != invented
        print(f"{version['name']}: {len(invented)} places")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
