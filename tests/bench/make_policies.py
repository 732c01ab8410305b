"""Writes N policies into a folder, for scripts/bench: each is manifests/policies/strict.yaml for objects of its own, so
that all but the first leave out the Pod of make_bodies.py; and a Namespace for --state, by whose labels some match."""

import os
import sys

import yaml

# What policies are told apart by, in turn.
MATCHES = [
    lambda team: {"namespaces": [team]},
    lambda team: {"namespaces": [team + "-*", "*-" + team]},
    lambda team: {"namespaceSelector": {"matchLabels": {"team": team}}},
    lambda team: {"labelSelector": {"matchLabels": {"team": team}}, "excludeNamespaces": ["kube-system"]},
    lambda team: {"names": [team + "-*"], "excludeGroups": ["system:masters"]},
    lambda team: {"serviceAccounts": [team + "/*"], "operations": ["CREATE", "UPDATE"]},
]

count, folder = int(sys.argv[1]), sys.argv[2]
root = os.path.join(os.path.dirname(__file__), "..", "..")
with open(os.path.join(root, "manifests", "policies", "strict.yaml"), encoding="utf-8") as file:
    policy = yaml.safe_load(file)
os.makedirs(os.path.join(folder, "policies"))
for number in range(count):
    policy["metadata"]["name"] = "team-%d" % number
    policy["spec"]["match"] = MATCHES[number % len(MATCHES)]("team-%d" % number if number > 0 else "shop")
    with open(os.path.join(folder, "policies", "team-%d.yaml" % number), "w", encoding="utf-8") as file:
        yaml.safe_dump(policy, file)
with open(os.path.join(folder, "namespace.yaml"), "w", encoding="utf-8") as file:
    yaml.safe_dump({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "labels": {"team": "shop"}}}, file)
