"""Whether the API server sends a request to the webhook at all: rules, namespaceSelector and matchConditions of
manifests/base/validating.yaml."""

import yaml

from rows import SOURCE

MIRROR = "kubernetes.io/config.mirror"


def is_ruled(rule, request):
    resource = request["resource"]
    name = resource["resource"]
    if request.get("subResource"):
        name += "/" + request["subResource"]
    return (resource["group"] in rule["apiGroups"] or "*" in rule["apiGroups"]) and \
        (resource["version"] in rule["apiVersions"] or "*" in rule["apiVersions"]) and \
        (request["operation"] in rule["operations"] or "*" in rule["operations"]) and \
        name in rule["resources"]


def is_selected(webhook, request):
    """kubernetes.io/metadata.name alone is looked at, which nobody can change."""
    for expression in webhook.get("namespaceSelector", {}).get("matchExpressions", []):
        assert expression["key"] == "kubernetes.io/metadata.name"
        assert expression["operator"] == "NotIn"
        if request["namespace"] in expression["values"]:
            return False
    return True


CLEANERS = ("system:kube-controller-manager", "system:serviceaccount:kube-system:generic-garbage-collector",
            "system:serviceaccount:kube-system:namespace-controller")
# What the CEL of each matchCondition says.
CONDITIONS = {
    "not-a-node": lambda request: "system:nodes" not in request["userInfo"]["groups"],
    "not-a-cleanup": lambda request: request["operation"] != "DELETE" or
    request["userInfo"]["username"] not in CLEANERS,
    "not-a-mirror-pod": lambda request: request["resource"]["resource"] != "pods" or
    MIRROR not in ((request["object"] or {}).get("metadata", {}).get("annotations") or {}),
}


def is_sent(request):
    with open(SOURCE / "manifests/base/validating.yaml", encoding="utf-8") as stream:
        webhooks = yaml.safe_load(stream)["webhooks"]
    return any(any(is_ruled(rule, request) for rule in webhook["rules"]) and
               is_selected(webhook, request) and
               all(CONDITIONS[condition["name"]](request)
                   for condition in webhook.get("matchConditions", []))
               for webhook in webhooks)
