#!/usr/bin/python3
"""Writes scenarios out of tests/scenarios/every-kind/faults.yaml: the fault of each rail on workloads, in every
kind that has it and under policies of every mode (the README of that folder tells which). run.py, coverage.py
and scripts/mutate take what is written as a scenario like any other.

usage: every_kind.py FOLDER
"""

import contextlib
import pathlib
import shutil
import sys
import tempfile

import yaml

HERE = pathlib.Path(__file__).resolve().parent
FAULTS = HERE / "every-kind"
KINDS = {"Pod": "v1", "Deployment": "apps/v1", "ReplicaSet": "apps/v1", "ReplicationController": "v1",
         "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "Job": "batch/v1", "CronJob": "batch/v1",
         "PodTemplate": "v1"}
MODES = {"denied": ("enforce", "deny"), "warned": ("warn", "warn"), "noted": ("audit", "audit")}
LABELS = {"app": "main"}
CONTAINERS = [{"name": "main", "image": "registry.example.com/main:1",
               "resources": {"requests": {"cpu": 1, "memory": "1Gi"}}}]
OLD_OWNER = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "old", "controller": True,
             "uid": "5f1c8c8e-8f5a-4f57-9d55-000000000007"}
WAYS = {"Pod": "", "CronJob": "spec.jobTemplate.spec.template.", "PodTemplate": "template."}


def pod_of(fault, kind):
    """metadata and spec of the pod, or of its template."""
    metadata = {"labels": LABELS}
    if "annotations" in fault:
        metadata["annotations"] = fault["annotations"]
    spec = {"containers": CONTAINERS, **fault.get("spec", {})}
    return metadata, {**spec, "restartPolicy": "Never"} if kind in ("Job", "CronJob") else spec


def workload(fault, kind, name):
    metadata, spec = pod_of(fault, kind)
    named = {"name": name, "namespace": "web"}
    document = {"apiVersion": KINDS[kind], "kind": kind, "metadata": named}
    if kind == "Pod":
        return {**document, "metadata": {**named, **metadata}, "spec": spec}
    inner = {"template": {"metadata": metadata, "spec": spec}}
    if kind == "PodTemplate":
        return {**document, **inner}
    if fault.get("several") and kind != "DaemonSet":
        inner |= {"parallelism": 2, "completions": 2} if kind in ("Job", "CronJob") else {"replicas": 2}
    if kind == "CronJob":
        return {**document, "spec": {"schedule": "15 2 * * *", "jobTemplate": {"spec": inner}}}
    if kind == "StatefulSet":
        inner["serviceName"] = "main"
    if kind != "Job":
        inner["selector"] = LABELS if kind == "ReplicationController" else {"matchLabels": LABELS}
    return {**document, "spec": inner}


def finding(fault, kind, action):
    expected = {"rail": fault["rail"], "action": action,
                "field": WAYS.get(kind, "spec.template.") + fault["field"]}
    return {**expected, "found": fault["found"]} if "found" in fault else expected


def case_of(fault):
    """The manifest of a fault, and its case."""
    kinds = fault.get("kinds", list(KINDS))
    objects = [(kind, "denied", fault["of_daemon_sets"] if kind == "DaemonSet" and "of_daemon_sets" in fault
                else "deny") for kind in kinds]
    objects += [("Deployment", name, action) for name, (_, action) in MODES.items() if name != "denied"]
    objects.append(("Deployment", "excused", "excepted"))
    return ([workload(fault, kind, name) for kind, name, _ in objects],
            {"name": f"{fault['rail']}, on every kind and in every mode",
             "manifest": f"{fault['rail']}.yaml",
             "findings": [finding(fault, kind, action) for kind, _, action in objects]})


def old_pods(faults):
    faults = [fault for fault in faults if "Pod" in fault.get("kinds", KINDS)]
    pods = []
    for fault in faults:
        metadata, spec = pod_of(fault, "Pod")
        pods.append({"apiVersion": "v1", "kind": "Pod", "spec": spec,
                     "metadata": {"generateName": "old-", "namespace": "web", **metadata,
                                  "ownerReferences": [OLD_OWNER]}})
    return pods, {"name": "new Pods of a workload that is older than since are warned of",
                  "manifest": "old-pods.yaml", "allowed": True,
                  "user": "system:serviceaccount:kube-system:replicaset-controller",
                  "findings": [finding(fault, "Pod", "warn") for fault in faults]}


def policy(faults, name, mode, names, more):
    rails = {}
    for fault in faults:
        rails[fault["rail"]] = dict(fault.get("settings", {}))
        if fault.get("own_mode"):
            rails[fault["rail"]]["mode"] = mode
    return {"apiVersion": "taffrail.dev/v1alpha1", "kind": "GuardRails", "metadata": {"name": name},
            "spec": {"mode": mode, "match": {"names": names}, "rails": rails, **more}}


def policies(faults):
    exception = {"id": "EX-3", "rails": [fault["rail"] for fault in faults],
                 "match": {"names": ["excused"]}, "owner": "#platform",
                 "reason": "until the next quarter", "expires": "2099-12-31"}
    yield policy(faults, "enforced", "enforce", ["denied", "excused"], {"exceptions": [exception]})
    yield policy(faults, "warned", "warn", ["warned"], {})
    yield policy(faults, "noted", "audit", ["noted"], {})
    yield policy(faults, "since", "enforce", ["old"], {"since": "2026-01-01"})


def write(folder, name, documents):
    text = yaml.safe_dump_all(documents, sort_keys=False, width=1000)
    (folder / name).write_text(text, encoding="utf-8")


def expand(folder):
    folder.mkdir(parents=True, exist_ok=True)
    faults = yaml.safe_load((FAULTS / "faults.yaml").read_text(encoding="utf-8"))
    if folder.resolve() != FAULTS.resolve():
        shutil.copytree(FAULTS / "state", folder / "state", dirs_exist_ok=True)
    cases = []
    for fault in faults:
        documents, case = case_of(fault)
        write(folder, case["manifest"], documents)
        cases.append(case)
    documents, case = old_pods(faults)
    write(folder, case["manifest"], documents)
    write(folder, "cases.yaml", [cases + [case]])
    write(folder, "policy.yaml", list(policies(faults)))


@contextlib.contextmanager
def scenario_folders():
    """Those that lie in tests/scenarios, and the one that is made."""
    with tempfile.TemporaryDirectory() as scratch:
        made = pathlib.Path(scratch) / FAULTS.name
        expand(made)
        yield sorted([path.parent for path in HERE.glob("*/cases.yaml")] + [made],
                     key=lambda folder: folder.name)


if __name__ == "__main__":
    expand(pathlib.Path(sys.argv[1]))
