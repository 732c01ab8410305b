#!/usr/bin/python3
"""What manifests/gitops installs in each cluster, by Argo CD and by Flux.

usage: operators.py TAFFRAIL HELM GITOPS SCRATCH

SCRATCH has CLUSTER.yaml, what kustomize makes of that cluster's policies.
"""

import pathlib
import subprocess
import sys

import yaml

PROBE = """
apiVersion: v1
kind: Pod
metadata: {name: train-7, namespace: ml-research}
spec:
  nodeSelector: {node.kubernetes.io/instance-type: p4d.24xlarge, topology.kubernetes.io/zone: us-east-1a}
  containers: [{name: main, image: "registry.example.com/main:1"}]
"""
# What each cluster says of the probe.
EXPECTED = {
    "staging": {("platform", "instance-types", "warn")},
    "eu-production": {("platform", "instance-types", "excepted"), ("eu-production", "zones", "deny")},
    "us-production": {("platform", "instance-types", "deny")},
}


def documents(path):
    return [d for d in yaml.safe_load_all(pathlib.Path(path).read_text(encoding="utf-8")) if d]


def judge(taffrail, folder, files):
    """What the probe gets from the policies of a ConfigMap."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    run = subprocess.run([taffrail, "check", "-p", folder, "-f", "-", "-o", "json"], input=PROBE,
                         capture_output=True, text=True, check=False)
    if run.returncode == 2:
        return {run.stderr}
    findings = yaml.safe_load(run.stdout)["findings"]
    return {(f["policy"], f["rail"], f["action"]) for f in findings if not f["undecided"]}


def template(helm, chart, values, scratch):
    path = scratch / "values.yaml"
    path.write_text(yaml.safe_dump(values), encoding="utf-8")
    run = subprocess.run([helm, "template", "taffrail", chart, "--namespace", "taffrail", "-f", path],
                         capture_output=True, text=True, check=True)
    return {(d["kind"], d["metadata"]["name"]): d for d in yaml.safe_load_all(run.stdout) if d}


def main(taffrail, helm, gitops, scratch):
    problems = []
    application_set = documents(gitops / "argocd/applicationset.yaml")[0]["spec"]
    clusters = {e["cluster"] for e in application_set["generators"][0]["list"]["elements"]}
    if clusters != set(EXPECTED) or clusters != {p.name for p in (gitops / "flux/clusters").iterdir()}:
        problems.append(f"Argo CD has the clusters {clusters}")
    # The guide switches the automatic sync of one Application off in an emergency, which would not last.
    ignored = [p for i in application_set.get("ignoreApplicationDifferences", []) for p in i["jsonPointers"]]
    if "automated" in application_set["template"]["spec"]["syncPolicy"] and "/spec/syncPolicy/automated" not in ignored:
        problems.append(f"the ApplicationSet switches the automatic sync on again: it ignores {ignored}")
    maps = set()
    for cluster, expected in EXPECTED.items():
        config_map = next(d for d in documents(scratch / f"{cluster}.yaml") if d["kind"] == "ConfigMap")
        maps.add(config_map["metadata"]["name"])
        found = judge(taffrail, scratch / cluster, config_map["data"])
        if found != expected:
            problems.append(f"{cluster} says {found}, not {expected}")
        paths = [d["spec"]["path"] for d in documents(gitops / f"flux/clusters/{cluster}/taffrail.yaml")
                 if d["kind"] == "Kustomization"]
        wanted = [f"./manifests/gitops/policies/clusters/{cluster}", "./manifests/gitops/flux/taffrail"]
        if paths != wanted:
            problems.append(f"{cluster}: Flux applies {paths}")

    chart = gitops.parent / "chart"
    by_argo = template(helm, chart, application_set["template"]["spec"]["sources"][1]["helm"]["valuesObject"], scratch)
    by_flux = template(helm, chart, documents(gitops / "flux/taffrail/release.yaml")[0]["spec"]["values"], scratch)
    for key, argo in by_argo.items():
        waves = argo["metadata"].pop("annotations", None)
        if key[0].endswith("WebhookConfiguration") and waves != {"argocd.argoproj.io/sync-wave": "1"}:
            problems.append(f"{key}: the annotations {waves}")
    if by_argo != by_flux:
        problems.append("Argo CD and Flux install different objects")
    entries = by_flux["ValidatingWebhookConfiguration", "taffrail"]["webhooks"]
    ignored = documents(gitops / "flux/taffrail/release.yaml")[0]["spec"]["driftDetection"]["ignore"][0]["paths"]
    if ignored != [f"/webhooks/{i}/clientConfig/caBundle" for i in range(len(entries))]:
        problems.append(f"of {len(entries)} entries Flux ignores {ignored}")
    pod = by_argo["Deployment", "taffrail"]["spec"]["template"]["spec"]
    if {v["configMap"]["name"] for v in pod["volumes"]} != maps:
        problems.append(f"mounted is {pod['volumes']}, and the clusters have {maps}")
    for problem in problems:
        print("FAILED:", problem)
    return len(problems) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], *map(pathlib.Path, sys.argv[3:])))
