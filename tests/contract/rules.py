"""The webhook is sent what some rail judges, and nothing else: each rule of `taffrail render` against what
the engine says of requests made from the scenarios' objects. A rule entry too many, or one too few, is a
difference; so are those of a policy with one rail against the kinds that `taffrail explain` names.

usage: rules.py TAFFRAIL SOURCE
"""

import collections
import copy
import http.client
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

sys.dont_write_bytecode = True  # nothing is written beside the tests
TAFFRAIL, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
sys.path.insert(0, str(SOURCE / "tests/scenarios"))
import run
from every_kind import scenario_folders

# What is judged when it is made, and cannot be changed afterwards: the API server refuses that.
IMMUTABLE = {("", "persistentvolumeclaims"), ("", "persistentvolumes")}
SCALED = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "NodePool")
OBJECTS_OF_A_KIND = 12


def rules_of(*arguments):
    """Group, resource and operation of everything that each of the two webhooks is sent."""
    render = [TAFFRAIL, "render", "--image", "taffrail:0.1.0", *arguments]
    text = subprocess.run(render, capture_output=True, text=True, check=True).stdout
    sent = {}
    for document in yaml.safe_load_all(text):
        if "webhooks" in document:
            sent[document["kind"]] = {
                (group, resource, operation)
                for entry in document["webhooks"] for rule in entry["rules"]
                for group in rule["apiGroups"]
                for resource in rule["resources"] for operation in rule["operations"]}
    return sent["ValidatingWebhookConfiguration"], sent["MutatingWebhookConfiguration"]


def plural(kind):
    return kind.lower() + ("es" if kind.lower().endswith("s") else "s")


def bare(document):
    """The same object without anything that could be wrong."""
    metadata = {key: value for key, value in document["metadata"].items()
                if key in ("name", "namespace")}
    return {"apiVersion": document["apiVersion"], "kind": document["kind"], "metadata": metadata}


def with_debugger(document):
    document = copy.deepcopy(document)
    document.get("spec", {})["ephemeralContainers"] = [{"name": "debugger", "image": "debugger"}]
    return document


def without_resources(document):
    document = copy.deepcopy(document)
    for container in document.get("spec", {}).get("containers", []):
        container.pop("resources", None)
    return document


def scale_of(document, replicas):
    return {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": document["metadata"],
            "spec": {"replicas": replicas}}


def requests_for(document):
    """Operation, subresource, object and old object, as the API server has them."""
    yield "CREATE", "", document, None
    yield "UPDATE", "", document, bare(document)
    yield "DELETE", "", None, document
    yield "UPDATE", "status", document, document
    if document["kind"] == "Pod":
        yield "UPDATE", "resize", document, without_resources(document)
        yield "UPDATE", "ephemeralcontainers", with_debugger(document), document
    if document["kind"] in SCALED:
        few, many = scale_of(document, 1), scale_of(document, 50)
        yield "UPDATE", "scale", *((few, many) if document["kind"] == "NodePool" else (many, few))


def request(uid, document, operation, subresource, new, old):
    review = run.review_of(uid, copy.deepcopy(document), None, {})
    asked = review["request"]
    asked["resource"]["resource"] = plural(document["kind"])
    asked["operation"], asked["subResource"] = operation, subresource
    asked["object"], asked["oldObject"] = new, old
    if subresource == "scale":
        asked["kind"] = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    return review


def ask(server, reviews, path):
    """All on one connection."""
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=server.context,
                                             timeout=300)
    for review in reviews:
        connection.request("POST", path + "?timeout=30s", json.dumps(review),
                           {"Content-Type": "application/json"})
        reply = connection.getresponse()
        answer = json.loads(reply.read())
        if reply.status != 200 or answer["response"]["uid"] != review["request"]["uid"]:
            raise run.Failure(f"{path}: {reply.status} {answer}")
    connection.close()


def requests_of(folder, cases):
    """Requests for the objects of a scenario, at most OBJECTS_OF_A_KIND of one kind; and what each asks
    for, by its uid."""
    reviews, asked, count = [], {}, collections.Counter()
    for manifest in sorted({case["manifest"] for case in cases}):
        for document in run.kubectl_yaml(folder / manifest):
            kind = document.get("kind", "List")
            count[kind] += 1
            if kind == "List" or count[kind] > OBJECTS_OF_A_KIND:
                continue
            group = document["apiVersion"].rpartition("/")[0]
            document.setdefault("metadata", {}).setdefault("name", "x")
            for operation, subresource, new, old in requests_for(document):
                uid = f"uid-{len(reviews)}"
                reviews.append(request(uid, document, operation, subresource, new, old))
                resource = plural(kind) + ("/" + subresource if subresource else "")
                asked[uid] = (group, resource, operation)
    return reviews, asked


def judged(folder):
    """What the server has findings or changes for, of a scenario's objects."""
    reviews, asked = requests_of(folder, yaml.safe_load((folder / "cases.yaml").read_text()))
    with tempfile.TemporaryDirectory() as scratch:
        server = run.serve(TAFFRAIL, folder, {}, scratch)
        try:
            ask(server, reviews, "/validate")
            changing = [dict(review, request=dict(review["request"], uid="c" + uid))
                        for review, uid in zip(reviews, asked)]
            ask(server, changing, "/mutate")
        finally:
            trail = server.stop()
    found = {asked[line["uid"]] for line in trail if line["uid"] in asked
             and any(not finding.get("preExisting") for finding in line["findings"])}
    changed = {asked[line["uid"][1:]] for line in trail
               if line.get("changes") and line["uid"] not in asked}
    return found, changed


def differences(what, sent, wanted):
    lines = [f"{what}: {' '.join(entry)} is sent, and nothing is judged there"
             for entry in sorted(sent - wanted)]
    return lines + [f"{what}: {' '.join(entry)} is judged, and not sent"
                    for entry in sorted(wanted - sent)]


def all_rails():
    found, changed = set(), set()
    with scenario_folders() as folders:
        for folder in folders:
            # Kinds that a policy itself names are sent where that policy is rendered.
            if "podTemplates" in (folder / "policy.yaml").read_text():
                continue
            more, other = judged(folder)
            found, changed = found | more, changed | other
    found = {entry for entry in found
             if not (entry[:2] in IMMUTABLE and entry[2] == "UPDATE")}
    sent, sent_to_change = rules_of()
    print(f"{len(sent)} entries of rules, {len(found)} of them judged somewhere")
    return (differences("validating", sent, found)
            + differences("mutating", sent_to_change, changed))


def output(*arguments):
    return subprocess.run([TAFFRAIL, *arguments], capture_output=True, text=True,
                          check=True).stdout


def one_rail(name, scratch):
    """A policy with this rail alone."""
    page = output("explain", name)
    kinds = re.search(r"^On: (.*?)\n(?:\n|Can change|Only )", page, re.S | re.M)[1]
    wanted = {plural(kind) for kind in re.findall(r"\w+", kinds.replace("workloads", ""))
              if kind[0].isupper()}
    example = yaml.safe_load(page.partition("\nExample:\n")[2])
    rails = example["spec"]["rails"] if example else {name: {}}
    policy = scratch / f"{name}.yaml"
    policy.write_text(yaml.safe_dump({
        "apiVersion": "taffrail.dev/v1alpha1", "kind": "GuardRails", "metadata": {"name": name},
        "spec": {"rails": rails}}))
    sent, _ = rules_of("-p", str(policy))
    # What scales a workload is judged at the workload.
    if any(resource.endswith("/scale") and resource != "nodepools/scale" for _, resource, _ in sent):
        wanted.add("horizontalpodautoscalers")
    resources = {resource for _, resource, _ in sent if "/" not in resource}
    if resources == wanted:
        return []
    return [f"{name}: sent are {sorted(resources)}, and it judges {sorted(wanted)}"]


def main():
    problems = all_rails()
    names = re.findall(r"^  ([a-z][a-z-]+) +\S", output("explain"), re.M)
    with tempfile.TemporaryDirectory() as scratch:
        for name in names:
            if name != "policy":
                problems += one_rail(name, pathlib.Path(scratch))
    print(f"{len(names)} rails one by one")
    for problem in problems:
        print("FAILED:", problem)
    return 1 if problems or len(names) < 20 else 0


sys.exit(main())
