"""Writes AdmissionReviews of Pods into a folder, as the API server sends them to /validate for a ReplicaSet, with
managedFields, for scripts/bench: pod-6k.json and pod-20k.json, and pod-6k-of-set.json and pod-20k-of-set.json. The Pods
of the first two have names that somebody chose, so a server that knows Pods of one controller again judges each of them;
post.lua gives the others another name and uid in each review."""

import json
import os
import sys

SHAPES = {"pod-6k": (1, 2), "pod-20k": (3, 22)}  # containers, variables of each
TOKEN = "kube-api-access-8zq4m"  # added by an admission plugin, so managedFields do not have it


def environment(count):
    pod_name = {"name": "POD_NAME", "valueFrom": {
        "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}}
    return [pod_name] + [{"name": "ORDERS_OPTION_%d" % i, "value": "the value of option %d" % i}
                         for i in range(count)]


def probe(path):
    return {"httpGet": {"path": path, "port": "http", "scheme": "HTTP"}, "timeoutSeconds": 1,
            "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}


def container(number, variables):
    return {
        "name": "orders-%d" % number,
        "image": "registry.example.com/shop/orders-%d:2.7.1" % number,
        "args": ["--listen=:8080", "--config=/etc/orders/config.yaml"],
        "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"},
                  {"name": "metrics", "containerPort": 9090, "protocol": "TCP"}],
        "env": environment(variables),
        "resources": {"limits": {"cpu": "1", "memory": "512Mi"},
                      "requests": {"cpu": "250m", "memory": "512Mi"}},
        "volumeMounts": [
            {"name": "config", "readOnly": True, "mountPath": "/etc/orders"},
            {"name": "scratch", "mountPath": "/var/tmp"},
            {"name": TOKEN, "readOnly": True,
             "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
        "livenessProbe": probe("/livez"),
        "readinessProbe": probe("/readyz"),
        "terminationMessagePath": "/dev/termination-log",
        "terminationMessagePolicy": "File",
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {"capabilities": {"drop": ["ALL"]}, "runAsNonRoot": True,
                            "readOnlyRootFilesystem": True, "allowPrivilegeEscalation": False},
    }


def fields_of(value):
    """The fieldsV1 form: every map key as f:KEY, every list item as k:{"name":...}."""
    if isinstance(value, dict):
        return {"f:" + key: fields_of(inner) for key, inner in value.items()}
    if isinstance(value, list) and value and isinstance(value[0], dict) and "name" in value[0]:
        fields = {".": {}}
        for item in value:
            if item["name"] == TOKEN:
                continue
            key = 'k:{"name":%s}' % json.dumps(item["name"])
            fields[key] = {".": {}, **{"f:" + name: {} for name in item}}
        return fields
    return {}


def pod(containers, variables, of_set):
    metadata = {
        "name": "orders-7c9d8f6b54-x2k8p",
        **({"generateName": "orders-7c9d8f6b54-"} if of_set else {}),
        "namespace": "shop",
        "uid": "0d3c9f1a-7a52-4b66-8f0e-2d4c5b6a7988",
        "creationTimestamp": "2026-05-04T08:15:16Z",
        "labels": {"app": "orders", "pod-template-hash": "7c9d8f6b54", "team": "shop"},
        "annotations": {"prometheus.io/scrape": "true", "prometheus.io/port": "9090"},
        "ownerReferences": [{"apiVersion": "apps/v1", "kind": "ReplicaSet",
                             "name": "orders-7c9d8f6b54",
                             "uid": "3b9f6a52-8e0e-4f19-8d1d-5a8f0c6f2d11",
                             "controller": True, "blockOwnerDeletion": True}],
    }
    spec = {
        "volumes": [
            {"name": "config", "configMap": {"name": "orders-config", "defaultMode": 420}},
            {"name": "scratch", "emptyDir": {"sizeLimit": "64Mi"}},
            {"name": TOKEN, "projected": {"defaultMode": 420, "sources": [
                {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
                {"configMap": {"name": "kube-root-ca.crt",
                               "items": [{"key": "ca.crt", "path": "ca.crt"}]}}]}}],
        "containers": [container(i, variables) for i in range(containers)],
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
        "dnsPolicy": "ClusterFirst",
        "serviceAccountName": "orders",
        "securityContext": {"runAsUser": 65532, "fsGroup": 65532},
        "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
            "nodeSelectorTerms": [{"matchExpressions": [
                {"key": "kubernetes.io/arch", "operator": "In", "values": ["amd64", "arm64"]}]}]}}},
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/zone",
             "whenUnsatisfiable": "ScheduleAnyway",
             "labelSelector": {"matchLabels": {"app": "orders"}}}],
        "schedulerName": "default-scheduler",
        "tolerations": [
            {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "effect": "NoExecute",
             "tolerationSeconds": 300},
            {"key": "node.kubernetes.io/unreachable", "operator": "Exists", "effect": "NoExecute",
             "tolerationSeconds": 300}],
        "priority": 0,
        "enableServiceLinks": True,
        "preemptionPolicy": "PreemptLowerPriority",
    }
    metadata["managedFields"] = [{
        "manager": "kube-controller-manager", "operation": "Update", "apiVersion": "v1",
        "time": "2026-05-04T08:15:16Z", "fieldsType": "FieldsV1",
        "fieldsV1": {"f:metadata": fields_of(metadata),
                     "f:spec": {**fields_of(spec), "f:containers": {
                         'k:{"name":"orders-%d"}' % i: {".": {}, **fields_of(one)}
                         for i, one in enumerate(spec["containers"])}}}}]
    return {"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec, "status": {}}


def review(shape, of_set):
    kind = {"group": "", "version": "v1", "kind": "Pod"}
    resource = {"group": "", "version": "v1", "resource": "pods"}
    return {"kind": "AdmissionReview", "apiVersion": "admission.k8s.io/v1", "request": {
        "uid": "5a0c1b7e-3f43-4d0c-9a70-6c1b8a4a3c21", "kind": kind, "resource": resource,
        "requestKind": kind, "requestResource": resource, "name": "orders-7c9d8f6b54-x2k8p", "namespace": "shop",
        "operation": "CREATE",
        "userInfo": {"username": "system:serviceaccount:kube-system:replicaset-controller",
                     "uid": "4d6f7f0a-0b0e-4c2f-a7a6-2f0a5b6c7d8e",
                     "groups": ["system:serviceaccounts", "system:serviceaccounts:kube-system",
                                "system:authenticated"]},
        "object": pod(*shape, of_set), "oldObject": None, "dryRun": False,
        "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"}}}


for name, wanted in SHAPES.items():
    for ending, of_set in (("", False), ("-of-set", True)):
        with open(os.path.join(sys.argv[1], name + ending + ".json"), "w", encoding="ascii") as file:
            json.dump(review(wanted, of_set), file, separators=(",", ":"))
            file.write("\n")
