"""Prints a List: a NodePool, its EC2NodeClass, and N Deployments of four Pods, no two alike, for scripts/bench."""

import json
import sys

REPLICAS = 4


def node_pool():
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": "general"}, "spec": {
        "limits": {"cpu": "1000"},
        "disruption": {"consolidationPolicy": "WhenEmptyOrUnderutilized", "consolidateAfter": "1m",
                       "budgets": [{"nodes": "10%"}]},
        "template": {"spec": {
            "expireAfter": "336h",
            "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
            "requirements": [
                {"key": "karpenter.k8s.aws/instance-category", "operator": "In", "values": ["c", "m", "r"]},
                {"key": "karpenter.k8s.aws/instance-generation", "operator": "Gt", "values": ["5"]},
                {"key": "karpenter.k8s.aws/instance-size", "operator": "In",
                 "values": ["large", "xlarge", "2xlarge", "4xlarge", "8xlarge"]},
                {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64"]},
                {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]}]}}}}


def node_class():
    tags = {"karpenter.sh/discovery": "cluster"}
    return {"apiVersion": "karpenter.k8s.aws/v1", "kind": "EC2NodeClass", "metadata": {"name": "default"}, "spec": {
        "amiSelectorTerms": [{"alias": "al2023@v20261101"}], "role": "node",
        "subnetSelectorTerms": [{"tags": tags}], "securityGroupSelectorTerms": [{"tags": tags}]}}


def deployment(number):
    labels = {"app": f"web-{number}"}
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"namespace": f"team-{number % 7}", "name": f"web-{number}", "labels": labels}, "spec": {
                "replicas": REPLICAS, "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {
                    "topologySpreadConstraints": [{
                        "maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
                        "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": labels}}],
                    "containers": [{
                        "name": "main", "image": f"registry.example.com/shop/web-{number}:1",
                        "resources": {"requests": {"cpu": f"{100 + number}m", "memory": f"{200 + 3 * number}Mi"},
                                      "limits": {"memory": f"{200 + 3 * number}Mi"}}}]}}}}


json.dump({"apiVersion": "v1", "kind": "List",
           "items": [node_pool(), node_class()] + [deployment(number) for number in range(int(sys.argv[1]))]},
          sys.stdout, indent=1)
