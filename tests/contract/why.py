"""`taffrail why`: its exit codes, its words for pods and names, and the shape of its JSON.

What it finds out is held by the unit tests why_pod and why_node; here stands what scripts rely on.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import json_forms

taffrail = sys.argv[1]
failures = []

CLUSTER = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: general}
spec:
  disruption: {budgets: [{nodes: "0"}]}
  template:
    spec:
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [eu-west-1a]}
        - {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}
---
apiVersion: karpenter.sh/v1
kind: NodeClaim
metadata: {name: general-x, creationTimestamp: "2026-01-01T00:00:00Z", labels: {karpenter.sh/nodepool: general}}
spec: {expireAfter: Never}
status: {nodeName: node-1, conditions: [{type: Drifted, status: "True", reason: NodePoolDrifted}]}
---
apiVersion: v1
kind: Node
metadata:
  name: node-1
  labels: {karpenter.sh/nodepool: general, karpenter.sh/initialized: "true", karpenter.sh/registered: "true",
    topology.kubernetes.io/zone: eu-west-1a, node.kubernetes.io/instance-type: m5.large}
status: {allocatable: {cpu: "1", memory: 4Gi, pods: "29"}, capacity: {cpu: "2", memory: 8Gi, pods: "29"}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: db, namespace: shop}
spec: {selector: {matchLabels: {app: db}}}
status: {disruptionsAllowed: 0}
"""


def pod(name, cpu, more="", labels="app: web"):
    return f"""---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: shop, labels: {{{labels}}}}}
spec: {{containers: [{{name: main, resources: {{requests: {{cpu: "{cpu}"}}}}}}]{more}}}
"""


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: {found!r}, expected {wanted!r}")


def run(state, code, *words):
    done = subprocess.run([taffrail, "why", *words, "--state", state], capture_output=True,
                          encoding="utf-8", check=False)
    if done.returncode != code:
        failures.append(f"why {' '.join(words)} ends with {done.returncode}, not {code}: {done.stderr}")
    return done


def asked(state, code, *words):
    out = run(state, code, *words, "-o", "json").stdout
    form = json_forms.WHY_POD if words[0].startswith("pod") else json_forms.WHY_NODE
    try:
        told = json.loads(out)
        failures.extend(f"why {' '.join(words)}: {fault}" for fault in json_forms.faults(told, form))
        return told
    except ValueError:
        failures.append(f"why {' '.join(words)} prints no JSON: {out!r}")
        return {}


def a_pod(state):
    """Fields that the format promises, of a pod that fits, and of one that does not."""
    told = asked(state, 1, "pod", "shop/huge")
    expect("keys", {"schema", "pod", "fits", "nodePools", "nodes", "fix"} - told.keys(), set())
    expect("schema", told.get("schema"), "taffrail.dev/why/v1")
    expect("pod", (told.get("pod"), told.get("fits"), told.get("state")), ("shop/huge", False, "pending"))
    pool = told.get("nodePools", [{}])[0]
    expect("pool", {key: pool.get(key) for key in ("name", "fits", "kind", "message")},
           {"name": "general", "fits": False, "kind": "resources", "message": "needs 100 cpu"})
    expect("nearest", pool.get("nearest", "").startswith("m5.large, "), True)
    nodes = told.get("nodes", {})
    expect("nodes", (nodes.get("total"), nodes.get("fit"), nodes.get("reasons")),
           (1, 0, [{"count": 1, "kind": "resources", "message": "lacks cpu"}]))
    expect("fix", told.get("fix"),
           "NodePool general: ask for less, or allow larger instance types")
    told = asked(state, 0, "pod", "web", "-n", "shop")
    expect("fits", (told.get("fits"), told.get("node")), (True, None))
    expect("what is bought", {key: told["nodePools"][0].get(key) for key in ("fits", "kind", "instanceType", "zone")},
           {"fits": True, "kind": None, "instanceType": "m5.large", "zone": "eu-west-1a"})
    told = asked(state, 0, "pod/db", "-n", "shop")
    expect("runs", (told.get("fits"), told.get("state"), told.get("node")), (True, "running", "node-1"))


def a_node(state):
    told = asked(state, 0, "node", "node-1")
    expect("node", [told.get(key) for key in ("schema", "node", "nodeClaim", "nodePool", "drifted", "expires", "empty")],
           ["taffrail.dev/why/v1", "node-1", "general-x", "general", "NodePoolDrifted", None, False])
    expect("pods", told.get("pods"), [{"pod": "shop/db", "owner": "db", "moves": True}])
    expect("disruptable", (told.get("disruptable"), told.get("nextWindow")), (False, None))
    blocked = [reason for reason in told.get("reasons", []) if reason["kind"] == "blocked"]
    expect("blocked", [(reason["pod"], reason["by"]) for reason in blocked],
           [("shop/db", "PodDisruptionBudget db")])
    expect("kinds", [reason["kind"] for reason in told.get("reasons", [])],
           ["pods", "drifted", "consolidation", "blocked", "budgets"])
    expect("by its claim", asked(state, 0, "nodeclaim", "general-x").get("node"), "node-1")


def words(state):
    said = run(state, 1, "pod", "shop/huge").stdout
    expect("text", said.splitlines()[0], "Pod shop/huge fits nowhere. 1 other is pending, and placed with it.")
    expect("a pool", said.splitlines()[1], "  NodePool general: needs 100 cpu")
    expect("fix", said.splitlines()[-1],
           "fix: NodePool general: ask for less, or allow larger instance types")
    said = run(state, 0, "pod", "shop/far").stdout
    expect("on Fargate", " ".join(said.splitlines()[1].split()[:6]), "NodePool general: would fit on m5.large,")
    said = run(state, 0, "pod", "shop/pushes").stdout
    expect("evicts others", " ".join(said.splitlines()[1].split()[:6]), "NodePool general: would fit on m5.large,")
    said = run(state, 0, "node", "node-1").stdout
    expect("node", " ".join(said.splitlines()[0].split()),
           "Node node-1 of NodePool general (m5.large, eu-west-1a) is to go, and 1 thing")
    for asked_for, told in ((("pod", "shop/wep"), "there is no Pod shop/wep; did you mean web?"),
                            (("pod", "web"), "there is no Pod default/web; there is one in namespace shop"),
                            (("node", "node-2"), "there is no Node node-2; did you mean node-1?"),
                            (("pvc", "x"), 'it is asked of a pod or a node, not of "pvc"'),
                            (("web",), "say of what, and its name"), ((), "say of what, and its name")):
        done = run(state, 2, *asked_for)
        expect(f"why {asked_for} on stdout", done.stdout, "")
        expect(f"why {asked_for}", told in done.stderr, True)


with tempfile.TemporaryDirectory() as folder:
    (pathlib.Path(folder) / "cluster.yaml").write_text(
        CLUSTER + pod("web", "1500m") + pod("huge", 100)
        + pod("far", "1500m", ", schedulerName: fargate-scheduler")
        + pod("pushes", "1500m") + "status: {nominatedNodeName: node-1}\n"
        + pod("db", "500m", ", nodeName: node-1", "app: db"), encoding="utf-8")
    for check in (a_pod, a_node, words):
        check(folder)
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
