"""`taffrail impact`: its exit codes, where its changes come from, the shape of its JSON, and that no name in a
file becomes markup in its Markdown. What it finds out is held by the unit tests of change_impact."""
import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

import json_forms

taffrail = sys.argv[1]
failures = []
HASH = "karpenter.sh/nodepool-hash"
LABELS = {"karpenter.sh/nodepool": "general", "karpenter.sh/capacity-type": "on-demand",
          "topology.kubernetes.io/zone": "eu-west-1a", "node.kubernetes.io/instance-type": "m5.large"}


def made(kind, name, api="v1", namespace=None, metadata=(), **more):
    where = {"namespace": namespace} if namespace else {}
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, **where, **dict(metadata)}, **more}


def node_pool(name="general"):
    requirements = [{"key": key, "operator": "In", "values": [value]} for key, value in LABELS.items()
                    if key != "karpenter.sh/nodepool"]
    return made("NodePool", name, "karpenter.sh/v1",
                metadata={"annotations": {HASH: "1", HASH + "-version": "v3"}},
                spec={"disruption": {"budgets": [{"nodes": "1"}]},
                      "template": {"metadata": {"labels": {"team": "a"}}, "spec": {
                          "nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
                          "requirements": requirements}}})


def machine(number):
    name = f"node-{number}"
    claim = made("NodeClaim", f"general-{number}", "karpenter.sh/v1",
                 metadata={"labels": LABELS, "annotations": {HASH: "1", HASH + "-version": "v3"}},
                 spec={"expireAfter": "Never"},
                 status={"nodeName": name, "conditions": [{"type": "Initialized", "status": "True"}]})
    node = made("Node", name,
                metadata={"labels": {**LABELS, "karpenter.sh/initialized": "true", "karpenter.sh/registered": "true"}},
                status={"allocatable": {"cpu": "1900m", "memory": "7Gi", "pods": "29"},
                        "capacity": {"cpu": "2", "memory": "8Gi", "pods": "29"},
                        "conditions": [{"type": "Ready", "status": "True"}]})
    owner = [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "db", "controller": True}]
    pod = made("Pod", f"db-{number}", namespace="shop",
               metadata={"labels": {"app": f"db-{number}"}, "ownerReferences": owner},
               spec={"nodeName": name, "containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]},
               status={"phase": "Running"})
    return [claim, node, pod]


def cluster(pdb="db"):
    budget = made("PodDisruptionBudget", pdb, "policy/v1", "shop",
                  spec={"selector": {"matchLabels": {"app": "db-1"}}, "maxUnavailable": 0},
                  status={"disruptionsAllowed": 0})
    return [node_pool(), *machine(1), *machine(2), *machine(3), budget]


def relabelled(value="b"):
    changed = copy.deepcopy(node_pool())
    changed["spec"]["template"]["metadata"]["labels"]["team"] = value
    del changed["metadata"]["annotations"]
    return changed


def write(folder, name, *documents):
    path = pathlib.Path(folder) / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(yaml.safe_dump_all(documents, allow_unicode=True), encoding="utf-8")
    return str(path)


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: {found!r}, expected {wanted!r}")


def run(code, *words, text=None):
    done = subprocess.run([taffrail, "impact", *words], input=text, capture_output=True, encoding="utf-8",
                          check=False)
    if done.returncode != code:
        failures.append(f"impact {' '.join(words)} ends with {done.returncode}, not {code}: {done.stderr}")
    return done


def asked(code, *words, text=None):
    out = run(code, *words, "-o", "json", text=text).stdout
    try:
        told = json.loads(out)
        failures.extend(f"impact {' '.join(words)}: {fault}" for fault in json_forms.faults(told, json_forms.IMPACT))
        return told
    except ValueError:
        failures.append(f"impact {' '.join(words)} prints no JSON: {out!r}")
        return {"changes": [{}], "summary": {}}


def the_json_is_as_promised(folder, state):
    path = write(folder, "pool.yaml", relabelled())
    told = asked(0, "-f", path, "--state", state)
    change = told["changes"][0]
    expect("schema", told.get("schema"), "taffrail.dev/impact/v1")
    first = change.pop("firstWindow", None)
    expect("a window", bool(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", first or "")), True)
    expect("update", {key: change.get(key) for key in (
        "operation", "kind", "name", "nodesReplaced", "nodesTotal", "reasons", "atOnce", "atOnceLater", "blockedBy",
        "unschedulable")},
           {"operation": "update", "kind": "NodePool", "name": "general", "nodesReplaced": 3, "nodesTotal": 3,
            "reasons": ["drift: spec.template.metadata.labels"], "atOnce": 1, "atOnceLater": 1, "unschedulable": [],
            "blockedBy": [{"pod": "shop/db-1", "by": "PodDisruptionBudget db", "owner": "StatefulSet db", "node": "node-1"}]})
    expect("nodes", change["nodes"], [{"node": f"node-{i}", "nodeClaim": f"general-{i}", "blocked": i == 1} for i in (1, 2, 3)])
    expect("prices", (change["usdPerHourBefore"] > 0, change["usdPerHourBefore"] == change["usdPerHourAfter"]),
           (True, True))
    expect("summary", told["summary"], {"changes": 1, "skipped": 0, "nodes": 3, "errors": 0, "denied": False})
    change = asked(0, "-f", path, "--delete", "--state", state)["changes"][0]
    expect("delete", [change.get(key) for key in ("operation", "nodesReplaced", "nodesDeleted", "firstWindow", "unschedulable")],
           ["delete", 3, 3, None, ["shop/db-1", "shop/db-2", "shop/db-3"]])
    kept = asked(0, "-f", path, "--delete", "--cascade", "orphan", "--state", state)["changes"][0]
    expect("orphan", (kept.get("nodesReplaced"), kept.get("nodesKept")), (0, 3))
    same = asked(0, "-f", write(folder, "same.yaml", node_pool()), "--state", state)["changes"][0]
    expect("nothing changes", (same.get("nodesReplaced"), same.get("reasons"), same.get("firstWindow")), (0, [], None))


def nodes_without_names_count(folder, _):
    """Which nodes a NodePool of a fixed size gives up is not known, nor what they cost; how many is."""
    before, after = node_pool(), node_pool()
    before["spec"]["replicas"], after["spec"]["replicas"] = 3, 1
    state = str(pathlib.Path(write(folder, "fixed/pool.yaml", before, *machine(1), *machine(2), *machine(3))).parent)
    path = write(folder, "pool.yaml", after)
    told = asked(0, "-f", path, "--state", state)
    change = told["changes"][0]
    expect("scale-down", [change.get(key) for key in ("nodesReplaced", "nodesDeleted", "usdPerHourBefore", "usdPerHourAfter")],
           [2, 2, None, None])
    expect("scale-down together", told["summary"]["nodes"], 2)
    said = " ".join(run(0, "-f", path, "--state", state).stdout.split())
    after["spec"]["template"]["metadata"]["labels"]["team"] = "b"
    both = asked(0, "-f", write(folder, "both.yaml", after), "--state", state)["changes"][0]
    expect("no node counts twice", (both.get("nodesReplaced"), both.get("nodesTotal")), (3, 3))
    expect("scale-down in words", "What it costs is not known: Karpenter chooses which nodes go." in said, True)
    before["spec"]["limits"] = after["spec"]["limits"] = {"nodes": "1"}
    state = str(pathlib.Path(write(folder, "fixed/pool.yaml", before, *machine(1), *machine(2), *machine(3))).parent)
    for replicas, stay in ((1, 1), (0, 0)):
        after["spec"]["replicas"] = replicas
        path = write(folder, "limited.yaml", after)
        told = asked(0, "-f", path, "--state", state)
        change = told["changes"][0]
        expect(f"what is deleted does not stay {replicas}", [change.get("nodesDeleted"), change.get("nodesStaying"), told["summary"]["nodes"]],
               [3 - replicas, stay, 3 - stay])
        said = run(0, "-f", path, "--state", state, "-o", "markdown").stdout
        expect(f"what is deleted goes {replicas}", said.startswith(f"### Impact on nodes: {3 - stay} nodes go\n"), True)


def node_class(name):
    terms = [{"tags": {"team": "a"}}]
    return made("EC2NodeClass", name, "karpenter.k8s.aws/v1",
                spec={"role": "nodes", "amiSelectorTerms": [{"alias": "al2023@v20250101"}], "subnetSelectorTerms": terms,
                      "securityGroupSelectorTerms": terms})


def a_node_class_is_there_or_comes_beside(folder, _):
    """A NodePool that names no node class of the cluster launches nothing; one that comes in the same change is there."""
    state = str(pathlib.Path(write(folder, "classes/all.yaml", node_pool(), node_class("default"), *machine(1))).parent)
    changed = node_pool()
    changed["spec"]["template"]["spec"]["nodeClassRef"]["name"] = "other"
    alone, beside = write(folder, "alone.yaml", changed), write(folder, "beside.yaml", changed, node_class("other"))
    for path, stay in ((alone, 1), (beside, 0)):
        change = asked(0, "-f", path, "--state", state)["changes"][0]
        expect("a node class", (change.get("nodesReplaced"), change.get("nodesStaying")), (1, stay))


def pods_that_nobody_makes_again_are_named(folder, _):
    bare = machine(1)
    del bare[2]["metadata"]["ownerReferences"]
    state = str(pathlib.Path(write(folder, "unowned/all.yaml", node_pool(), *bare, *machine(2))).parent)
    path = write(folder, "unowned.yaml", relabelled())
    for words in ([], ["--delete"]):
        change = asked(0, "-f", path, "--state", state, *words)["changes"][0]
        expect(f"pods that are gone {words}", change.get("podsGone"), ["shop/db-1"])
        for form in ("text", "markdown"):
            said = " ".join(run(0, "-f", path, "--state", state, "-o", form, *words).stdout.split())
            expect(f"pods that are gone {words} in {form}", said.count("gone for good"), 1)


def nodes_that_stay_are_not_counted_as_going(folder, _):
    """Which nodes those are counts, too: another change may take them."""
    state = str(pathlib.Path(write(folder, "staying/all.yaml", node_pool(), *machine(1), *machine(2), node_class("default"))).parent)
    changed = node_pool()
    changed["spec"]["template"]["spec"]["nodeClassRef"]["name"] = "other"
    stays = write(folder, "staying.yaml", changed)
    for words, nodes, title in (((), 0, "0 nodes go"), (("-f", write(folder, "goes.yaml", relabelled())), 2, "2 nodes go")):
        told = asked(0, "-f", stays, *words, "--state", state)
        expect(f"nodes that stay {words}", (told["changes"][0].get("nodesStaying"), told["summary"]["nodes"]), (2, nodes))
        said = run(0, "-f", stays, *words, "--state", state, "-o", "markdown").stdout
        expect(f"nodes that stay {words} in markdown", said.startswith(f"### Impact on nodes: {title}\n"), True)


def what_the_api_server_refuses_is_an_error(folder, state):
    """Whether a node drifts or not; of a new object, too."""
    def limits(pool):
        pool["spec"]["limits"] = {"cpu": "lots"}

    def expiry(pool):
        pool["spec"]["template"]["spec"]["expireAfter"] = "30d"

    def operator(pool):
        pool["spec"]["template"]["spec"]["requirements"][0]["operator"] = "Is"

    for number, (name, change, said) in enumerate((
            ("general", limits, 'spec.limits.cpu is "lots"'), ("general", expiry, 'spec.template.spec.expireAfter is "30d"'),
            ("new", operator, 'requirements[0].operator is "Is"'))):
        refused = node_pool(name)
        change(refused)
        path = write(folder, f"refused-{number}.yaml", refused)
        done = run(2, "-f", path, "--state", state)
        place = re.match(re.escape(f"error: {path}:") + r"\d+:\d+: ", done.stderr)
        expect(said, (bool(place), said in done.stderr, "The API server refuses it: spec." in done.stdout), (True, True, True))
        told = asked(2, "-f", path, "--state", state)
        expect("nodes of what is refused", (told["changes"][0].get("nodesReplaced"), told["summary"].get("errors")), (0, 1))
    run(0, "-f", path, "--delete", "--state", state)


def a_class_that_cannot_change_is_made_anew(folder, _):
    def priority(value):
        return made("PriorityClass", "high", "scheduling.k8s.io/v1", value=value)
    pod = made("Pod", "web", namespace="shop", spec={"priorityClassName": "high", "containers": [{"name": "main"}]})
    there = str(pathlib.Path(write(folder, "priorities/all.yaml", priority(1000), pod)).parent)
    message = asked(2, "-f", write(folder, "priority.yaml", priority(5)), "--state", there)["changes"][0].get("message")
    expect("a priority", message, "The API server refuses it: value is 5 and cannot change from 1000; delete it and create it again. "
                                  "1 Pod uses this PriorityClass and keeps the old priority; their successors get the new one.")
    message = asked(2, "-f", write(folder, "text.yaml", priority("1000")), "--state", there)["changes"][0].get("message")
    expect("a priority that is no number", message, 'The API server refuses it: value is "1000"; it must be a number.')
    unseen = str(pathlib.Path(write(folder, "no-pods/all.yaml", priority(1000))).parent)
    said = " ".join(run(2, "-f", folder + "/priority.yaml", "--state", unseen).stdout.split())
    expect("a priority where no pod is seen", said.startswith(
        "Update of PriorityClass high The API server refuses it: value is 5 and cannot change from 1000; delete it and create it again. "
        "What it does is not known."), True)


def changes_come_from_anywhere(folder, state):
    path = write(folder, "many/pool.yaml", relabelled())
    write(folder, "many/more.yaml", node_pool("new"), made("ConfigMap", "x"), made("Deployment", "web", "apps/v1",
          spec={"selector": {}, "template": {"spec": {"containers": [{"name": "a", "image": "b"}]}}}))
    with open(path, encoding="utf-8") as file:
        text = file.read()
    alone, piped = (asked(0, "-f", one, "--state", state, text=text)["changes"][0] for one in (path, "-"))
    expect("stdin", *({**change, "firstWindow": "now"} for change in (piped, alone)))
    several = asked(0, "-R", "-f", str(pathlib.Path(path).parent), "--state", state)
    expect("operations", sorted((change["operation"], change["name"], change["nodesReplaced"]) for change in several["changes"]),
           [("create", "new", 0), ("update", "general", 3)])
    expect("skipped", several["summary"]["skipped"], 2)
    patch = node_pool()
    del patch["spec"]["template"]["spec"]["requirements"]
    part = run(0, "-f", write(folder, "patch.yaml", patch), "--state", state, "-o", "json")
    expect("a part of a NodePool", (json.loads(part.stdout)["summary"]["skipped"], "kustomize build" in part.stderr,
                                    "of kinds whose changes" in part.stderr), (1, True, False))
    part = run(0, "-f", write(folder, "patch.yaml", patch), "--state", state)
    expect("nothing but parts is no all-clear", "Only parts of objects were given" in " ".join(part.stdout.split()), True)
    twice = asked(0, "-f", path, "-f", path, "--state", state)
    expect("each node counts once", (len(twice["changes"]), twice["summary"]["nodes"]), (2, 3))
    said = run(0, "-f", path, "-f", path, "--state", state).stdout
    expect("together", " ".join(said.split()).endswith("Together they take 3 nodes, each counted once."), True)


def what_is_not_seen_is_said(folder, state):
    bare = write(folder, "bare/pools.yaml", node_pool())
    path = write(folder, "pool.yaml", relabelled())
    change = asked(0, "-f", path, "--state", str(pathlib.Path(bare).parent))["changes"][0]
    expect("undecided", (change.get("undecided"), "NodeClaim" in (change.get("unseen") or "")), (True, True))
    for words, told in ((("-f", path), "say against which cluster"), (("--state", state), "no change is given"),
                        (("-f", path, "--state", state, "x"), 'what is "x" for?'),
                        (("-f", path, "--state", state, "--cascade", "orphan"), "--cascade is for --delete"),
                        (("-f", path, "--state", state, "--context", "x"), "either --state, or a cluster"),
                        (("-f", folder + "/none.yaml", "--state", state), "none.yaml"),
                        (("-f", path, "--state", folder + "/none"), "none")):
        expect(f"impact {words}", told in run(2, *words).stderr, True)
    broken = run(2, "-f", path, "-f", "-", "--state", state, text="a: [")
    expect("what can be read is told", broken.stdout.startswith("Update of NodePool general\n"), True)
    expect("nothing is said of what is not read", run(2, "-f", "-", "--state", state, text="a: [").stdout, "")
    # A live cluster is asked only when one is named.
    done = subprocess.run([taffrail, "impact", "-f", path], capture_output=True, encoding="utf-8", check=False,
                          env={"KUBECONFIG": "/nowhere", "PATH": "/usr/bin"})
    expect("$KUBECONFIG", (done.returncode, "say against which cluster" in done.stderr), (2, True))


def ceilings_give_exit_code_one(folder, state):
    path = write(folder, "pool.yaml", relabelled())
    for ceiling, mode, code, actions in ((2, "enforce", 1, {"deny"}), (2, "warn", 0, {"warn"}), (3, "enforce", 0, {"warn"})):
        policy = write(folder, "policy.yaml", made("GuardRails", "production", "taffrail.dev/v1alpha1", spec={
            "mode": mode, "rails": {"change-impact": {"maxNodes": ceiling}}}))
        told = asked(code, "-f", path, "--state", state, "-p", policy)
        expect(f"{mode} {ceiling}", ({each["action"] for each in told["changes"][0]["findings"]}, told["summary"]["denied"]),
               (actions, code == 1))
        said = run(code, "-f", path, "--state", state, "-p", policy).stdout
        expect(f"{mode} {ceiling} in words", "Denied by policy production: A change of more than" in " ".join(said.split()), code == 1)
    done = run(2, "-f", path, "--state", state, "-p", folder + "/none.yaml")
    expect("no policy", done.stdout, "")


HOSTILE = ["a](http://evil.example/x)", "`<img src=x onerror=y>`", "<details>\n# head\n- [x] done", "@everyone #1 **b** | c",
           "www.evil.example", "``` \n```", "~~x~~ ![i](j)", "$x$ \\<b>", "a\u202eb"]


def names_stay_names(folder, _):
    """What is left outside of code spans holds none of a name's markup."""
    for number, name in enumerate(HOSTILE):
        state = write(folder, f"hostile{number}/c.yaml", *cluster(name), node_pool(name))
        path = write(folder, "hostile.yaml", relabelled(), {**relabelled(), "metadata": {"name": name}})
        said = run(0, "-f", path, "--state", str(pathlib.Path(state).parent), "-o", "markdown").stdout
        plain = re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", said)
        plain = re.sub(r"</?details>|</?summary>", "", plain)
        for mark in ("`", "<", ">", "](", "@", "*", "|", "!", "~", "www.", "://", "$", "\\<"):
            if mark in plain:
                failures.append(f"{name!r}: {mark!r} is left in {plain!r}")
        if any(line.startswith("#") and not re.match(r"### Impact|#### (update|create) $", line)
               for line in plain.splitlines()):
            failures.append(f"{name!r}: a heading of its own in {plain!r}")
        if not said.startswith("### Impact on nodes: 3 nodes go\n"):
            failures.append(f"{name!r}: {said!r}")


with tempfile.TemporaryDirectory() as scratch:
    there = str(pathlib.Path(write(scratch, "state/cluster.yaml", *cluster())).parent)
    for check in (the_json_is_as_promised, nodes_without_names_count, a_node_class_is_there_or_comes_beside,
                  pods_that_nobody_makes_again_are_named, nodes_that_stay_are_not_counted_as_going, what_the_api_server_refuses_is_an_error,
                  a_class_that_cannot_change_is_made_anew,
                  changes_come_from_anywhere, what_is_not_seen_is_said,
                  ceilings_give_exit_code_one, names_stay_names):
        check(scratch, there)
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
