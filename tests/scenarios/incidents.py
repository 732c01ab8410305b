#!/usr/bin/python3
"""Runs the incidents in incidents/: what `taffrail impact`, the rail change-impact and `taffrail why` say before, and
whether docs/incidents.md says the same. incidents/README.md has the keys.

usage: incidents.py TAFFRAIL [--write]

--write writes docs/incidents.md."""

import json
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

import yaml

from reviews import Failure, Server, kubectl_loader, review_of

HERE = pathlib.Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "incidents.md"
KEYS = {"title", "thread", "happened", "cluster", "nodes", "change", "impact", "door", "why", "says"}
ZONES = ("eu-west-1a", "eu-west-1b", "eu-west-1c")
ROOM = {"large": 2, "xlarge": 4, "2xlarge": 8, "4xlarge": 16}


def key_of(document):
    return f"{document['kind']}/{document['metadata']['name']}"


def find(cluster, key):
    return next(document for document in cluster if key_of(document) == key)


def merged(target, patch):
    """RFC 7386."""
    if not isinstance(patch, dict):
        return patch
    target = dict(target) if isinstance(target, dict) else {}
    for key, value in patch.items():
        if value is None:
            target.pop(key, None)
        else:
            target[key] = merged(target.get(key), value)
    return target


# ---- a cluster


def node_of(group, number, pool):
    """A Node and its NodeClaim, as Karpenter makes them of a NodePool."""
    name = f"{group['pool']}-{number}"
    cpu = ROOM[group["type"].split(".")[1]]
    labels = {
        "karpenter.sh/nodepool": group["pool"], "karpenter.sh/capacity-type": group.get("capacity", "on-demand"),
        "kubernetes.io/arch": group.get("arch", "amd64"), "kubernetes.io/os": "linux",
        "node.kubernetes.io/instance-type": group["type"],
        "topology.kubernetes.io/zone": group.get("zone", ZONES[number % len(ZONES)]), **group.get("labels", {}),
    }
    room = {"cpu": f"{cpu * 1000 - 80}m", "memory": f"{cpu * 3500}Mi", "pods": "29"}
    template = pool["spec"]["template"]["spec"]
    claim = {
        "apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
        "metadata": {"name": name, "creationTimestamp": "2026-11-01T06:00:00Z", "labels": labels,
                     "annotations": pool["metadata"].get("annotations", {})},
        "spec": {"nodeClassRef": template["nodeClassRef"], "expireAfter": template["expireAfter"]},
        "status": {"nodeName": name, "imageID": group.get("image", "ami-0aaaaaaaaaaaaaaaa"),
                   "conditions": group.get("claim", {}).get("conditions", [])},
    }
    node = {
        "apiVersion": "v1", "kind": "Node",
        "metadata": {"name": name, "labels": {**labels, "kubernetes.io/hostname": name, "karpenter.sh/registered": "true",
                                              "karpenter.sh/initialized": "true"}},
        "spec": {"providerID": f"aws:///{labels['topology.kubernetes.io/zone']}/{name}"},
        "status": {"capacity": {**room, "cpu": str(cpu)}, "allocatable": room,
                   "conditions": [{"type": "Ready", "status": "True"}]},
    }
    return [claim, node]


def pods_of(node, place, workload, wanted):
    """So many pods of a Deployment on a node."""
    wanted = wanted if isinstance(wanted, dict) else {"count": wanted}
    namespace, name = workload.split("/")
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": f"{name}-7d4f9", "controller": True, "uid": f"uid-{name}"}
    for number in range(1, wanted["count"] + 1):
        yield {
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {"name": f"{name}-{place}-{number}", "namespace": namespace, "labels": {"app": name},
                         "annotations": wanted.get("annotations", {}), "ownerReferences": [owner]},
            "spec": {"nodeName": node, "nodeSelector": wanted.get("selector", {}),
                     "containers": [{"name": "main", "image": "registry.example.com/main:1",
                                     "resources": {"requests": {"cpu": wanted.get("cpu", "500m"),
                                                                "memory": wanted.get("memory", "512Mi")}}}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]},
        }


def replica_sets(workloads):
    for workload in sorted(workloads):
        namespace, name = workload.split("/")
        yield {"apiVersion": "apps/v1", "kind": "ReplicaSet",
               "metadata": {"name": f"{name}-7d4f9", "namespace": namespace, "uid": f"uid-{name}", "ownerReferences": [
                   {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "controller": True, "uid": f"uid-of-{name}"}]},
               "spec": {"selector": {"matchLabels": {"app": name}}}}


def expand(incident):
    """All documents of the cluster."""
    cluster, places, numbers = list(incident["cluster"]), {}, {}
    for group in incident.get("nodes", []):
        pool = find(incident["cluster"], f"NodePool/{group['pool']}")
        for _ in range(group["count"]):
            number = numbers[group["pool"]] = numbers.get(group["pool"], 0) + 1
            made = node_of(group, number, pool)
            cluster += made
            for workload, wanted in group["pods"].items():
                place = places[workload] = places.get(workload, 0) + 1
                cluster += pods_of(made[1]["metadata"]["name"], place, workload, wanted)
    return cluster + list(replica_sets(places))


# ---- what is asked


class Run:
    def __init__(self, taffrail, path, scratch):
        self.taffrail, self.scratch = taffrail, pathlib.Path(scratch)
        self.incident = yaml.load(path.read_text(encoding="utf-8"), kubectl_loader())
        if not self.incident.keys() <= KEYS:
            raise Failure(f"keys {self.incident.keys() - KEYS}")
        self.cluster = expand(self.incident)
        self.state = self.scratch / "state"
        self.state.mkdir()
        (self.state / "cluster.yaml").write_text(yaml.safe_dump_all(self.cluster), encoding="utf-8")
        self.texts, self.door_says = [], []

    def ask(self, *arguments):
        done = subprocess.run([self.taffrail, *map(str, arguments), "--state", str(self.state)], capture_output=True,
                              encoding="utf-8", timeout=60, check=False)
        if done.returncode not in (0, 1) or done.stderr:
            raise Failure(f"{arguments[0]} ended with {done.returncode}:\n{done.stderr}{done.stdout}")
        return done.stdout

    def ask_both(self, command, wanted, *arguments):
        """Asks for text, which is kept, and for JSON, in which must be what is wanted."""
        self.texts.append((command, self.ask(*arguments)))
        return json.loads(self.ask(*arguments, "-o", "json"))

    def changed(self):
        """The document before and after the change; after is None where it is deleted."""
        change = self.incident["change"]
        if "delete" in change:
            return find(self.cluster, change["delete"]), None
        before = find(self.cluster, change["update"])
        return before, merged(before, change["patch"])

    def impact(self):
        before, after = self.changed()
        file = self.scratch / "changed.yaml"
        file.write_text(yaml.safe_dump(after or before), encoding="utf-8")
        arguments = ["impact", "-f", file] + (["--delete"] if after is None else [])
        shown = f"taffrail impact -f {before['metadata']['name']}.yaml" + (" --delete" if after is None else "")
        found = self.ask_both(shown, self.incident["impact"], *arguments)
        if len(found["changes"]) != 1:
            raise Failure(f"changes: {found}")
        expect("impact", found["changes"][0], self.incident["impact"])

    def why(self):
        for question in self.incident["why"]:
            kind = "pod" if "pod" in question else "node"
            wanted = {key: value for key, value in question.items() if key != kind}
            found = self.ask_both(f"taffrail why {kind} {question[kind]}", wanted, "why", kind, question[kind])
            expect(f"why {question[kind]}", found, wanted)

    def door(self):
        """The rail's answer to the same change, as the API server asks for it."""
        door = self.incident["door"]
        policy = self.scratch / "policy.yaml"
        policy.write_text(yaml.safe_dump({
            "apiVersion": "taffrail.dev/v1alpha1", "kind": "GuardRails", "metadata": {"name": "no-surprises"},
            "spec": {"mode": "enforce", "rails": {"change-impact": door["settings"]}},
        }), encoding="utf-8")
        before, after = self.changed()
        review = review_of("uid-1", after or before, None if after is None else before,
                           {"operation": "DELETE"} if after is None else {})
        server = Server(self.taffrail, ["-p", str(policy), "--state", str(self.state)], str(self.scratch))
        try:
            answer = server.review(review)
        finally:
            server.stop()
        if answer["allowed"] != door["allowed"]:
            raise Failure(f"the door answers {json.dumps(answer, indent=1)}")
        said = answer.get("warnings", []) or answer["status"]["message"].split("\n")[1:]
        self.door_says = re.findall(r"change-impact\W+(?:spec[.\w]*: )?(.*)", "\n".join(said))
        if not self.door_says:
            raise Failure(f"the door does not say change-impact: {said}")

    def all(self):
        for part in ("impact", "why", "door"):
            if part in self.incident:
                getattr(self, part)()
        said = " ".join(" ".join(text.split()) for _, text in self.texts) # lines are wrapped
        for words in self.incident.get("says", []):
            if words not in said:
                raise Failure(f"{words!r} is not said, but\n{said}")
        return self


def is_so(found, wanted):
    """Of a map the keys that are wanted, of a list as many items in this order; else the same."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(is_so(found.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list) and wanted and isinstance(wanted[0], dict):
        left = list(found or [])
        for item in wanted:
            while left and not is_so(left[0], item):
                left.pop(0)
            if not left:
                return False
            left.pop(0)
        return True
    return found == wanted


def expect(what, found, wanted):
    if not is_so(found, wanted):
        raise Failure(f"{what} is\n{json.dumps(found, indent=1)}\nexpected\n{json.dumps(wanted, indent=1)}")


# ---- the page

HEAD = """# What happened to others

Incidents that people told in public, made anew with manifests of our own, and what Taffrail says before. The
clusters are in `tests/scenarios/incidents`; `tests/scenarios/incidents.py TAFFRAIL --write` wrote this page, and a
test holds it against the program.
"""


def block(text):
    return f"```text\n{text.rstrip()}\n```\n"


def section(run):
    incident = run.incident
    thread = re.sub(r"https://github.com/(.*)/(?:issues|pull)/(\d+)", r"\1 \2", incident["thread"])
    lines = [f"\n## {incident['title']}\n", f"{incident['happened'].strip()} ([{thread}]({incident['thread']}))\n"]
    for command, text in run.texts:
        lines += [f"`{command}` says\n", block(text)]
    if run.door_says:
        door = incident["door"]
        settings = ", ".join(f"{key}: {json.dumps(value)}" for key, value in door["settings"].items())
        lines += [f"The rail `change-impact` under `{{{settings}}}` {'warns' if door['allowed'] else 'denies it'}:\n",
                  block("\n".join(textwrap.fill(line, 100) for line in run.door_says))]
    return "\n".join(lines)


def main():
    taffrail, write = sys.argv[1], "--write" in sys.argv[2:]
    page, failed = HEAD, 0
    for path in sorted((HERE / "incidents").glob("*.yaml")):
        with tempfile.TemporaryDirectory() as scratch:
            try:
                page += section(Run(taffrail, path, scratch).all())
            except Failure as failure:
                failed += 1
                print(f"{path.stem}: {failure}")
    if write and not failed:
        PAGE.write_text(page, encoding="utf-8")
    elif not failed and page != PAGE.read_text(encoding="utf-8"):
        failed += 1
        print("docs/incidents.md is not what Taffrail says: incidents.py TAFFRAIL --write")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
