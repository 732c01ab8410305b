"""`taffrail plan`: its exit codes, where it says what, and the shape of its JSON, SVG and HTML.

Two instance types make the plans small enough to be reckoned by hand: "small" leaves 1.9 cpu to
pods at 0.107 dollars an hour, "large" 7.9 cpu at 0.4 (the kwok provider keeps 0.1 cpu back).
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

sys.dont_write_bytecode = True  # nothing is written beside the tests
from page import Page

taffrail = sys.argv[1]
failures = []


def expect(what, found, wanted):
    if found != wanted:
        failures.append(f"{what}: {found!r}, expected {wanted!r}")


def instance_type(name, cpu, usd=None):
    offerings = [
        {**({} if usd is None else {"Price": usd}), "Available": True, "Requirements": [
            {"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
            {"key": "topology.kubernetes.io/zone", "operator": "In", "values": [zone]}]}
        for zone in ("a", "b")]
    return {"name": name, "architecture": "amd64", "operatingSystems": ["linux"],
            "resources": {"cpu": str(cpu), "memory": f"{4 * cpu}Gi", "pods": "110"},
            "offerings": offerings}


POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: default}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
"""
NODE = """
apiVersion: v1
kind: Node
metadata:
  name: node-1
  labels:
    karpenter.sh/nodepool: default
    karpenter.sh/registered: "true"
    karpenter.sh/initialized: "true"
    karpenter.sh/capacity-type: on-demand
    node.kubernetes.io/instance-type: small
    kubernetes.io/hostname: node-1
    kubernetes.io/arch: amd64
    kubernetes.io/os: linux
    topology.kubernetes.io/zone: a
spec: {providerID: "kwok://node-1"}
status:
  capacity: {cpu: "2", memory: 8Gi, pods: "110"}
  allocatable: {cpu: 1900m, memory: 8000Mi, pods: "110"}
  conditions: [{type: Ready, status: "True"}]
"""


def pod(name, cpu, more=""):
    return f"""
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: shop}}
spec:
  containers: [{{name: c, image: i, resources: {{requests: {{cpu: {cpu}}}}}}}]
{more}"""


def deployment(name, replicas, cpu):
    return f"""
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec:
      containers: [{{name: c, image: i, resources: {{requests: {{cpu: {cpu}}}}}}}]
"""


class Folder:
    """A folder with a catalogue and a state, and runs of `taffrail plan` on it."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        (self.path / "state").mkdir()
        self.write("types.json", json.dumps(
            [instance_type("small", 2, 0.107), instance_type("large", 8, 0.4)]))

    def write(self, name, text):
        (self.path / name).parent.mkdir(exist_ok=True)
        (self.path / name).write_text(text, encoding="utf-8")

    def run(self, *options, state="state", catalog="types.json"):
        done = subprocess.run(
            [taffrail, "plan", "--state", state, "--catalog", catalog, *options],
            cwd=self.path, capture_output=True, encoding="utf-8", timeout=300, check=False)
        return done.returncode, done.stdout, done.stderr

    def plan(self, *options, wanted=0, **names):
        code, out, said = self.run("-o", "json", *options, **names)
        expect(f"exit code of {options}", (code, said), (wanted, ""))
        return json.loads(out)


def check_shape(what, plan):
    """The contract of taffrail.dev/plan/v1: keys, types, sorted lists."""
    expect(f"{what}: schema", plan["schema"], "taffrail.dev/plan/v1")
    prices = [claim["usdPerHour"] for claim in plan["claims"]]
    unpriced = bool(prices) and set(prices) == {None}
    expect(f"{what}: usdPerHour is a number", type(plan["usdPerHour"]), type(None) if unpriced else float)
    for entry in plan["existing"]:
        expect(f"{what}: keys of existing", set(entry), {"node", "pods"})
        expect(f"{what}: pods of {entry['node']}", entry["pods"], sorted(entry["pods"]))
    nodes = [entry["node"] for entry in plan["existing"]]
    expect(f"{what}: existing", nodes, sorted(nodes))
    for claim in plan["claims"]:
        expect(f"{what}: keys of a claim", set(claim), {
            "nodePool", "zone", "capacityType", "instanceType", "instanceTypes", "zones",
            "usdPerHour", "requirements", "pods"})
        for key in ("instanceTypes", "zones", "pods"):
            expect(f"{what}: {key}", claim[key], sorted(set(claim[key])))
        expect(f"{what}: types", claim["instanceType"] in claim["instanceTypes"], True)
        expect(f"{what}: zones", claim["zone"] in claim["zones"], True)
        keys = [requirement["key"] for requirement in claim["requirements"]]
        expect(f"{what}: requirements", keys, sorted(keys))
        for requirement in claim["requirements"]:
            expect(f"{what}: a requirement", set(requirement), {"key", "operator", "values"})
            expect(f"{what}: values", requirement["values"], sorted(requirement["values"]))
    for part in ("unschedulable", "undecided"):
        pods = [entry["pod"] for entry in plan[part]]
        expect(f"{what}: {part}", pods, sorted(pods))
    for entry in plan["unschedulable"] + plan["undecided"]:
        expect(f"{what}: reasons of {entry['pod']}", len(entry["reasons"]) > 0, True)
        for reason in entry["reasons"]:
            expect(f"{what}: a reason", set(reason), {"nodePool", "kind", "message", "nearest"})
    total = None if unpriced else round(sum(price or 0 for price in prices), 6)
    expect(f"{what}: the total", plan["usdPerHour"], total)


def check_plans(folder):
    plan = folder.plan()
    check_shape("nothing pending", plan)
    expect("nothing pending", (plan["claims"], plan["existing"], plan["usdPerHour"]), ([], [], 0))

    # One pod of 1.5 cpu fits on the Node; four more need 6 cpu together.
    folder.write("web.yaml", deployment("web", 5, "1500m"))
    plan = folder.plan("-f", "web.yaml", "-n", "shop")
    check_shape("web", plan)
    placed = [name for claim in plan["claims"] for name in claim["pods"]]
    expect("on the Node", [(e["node"], len(e["pods"])) for e in plan["existing"]], [("node-1", 1)])
    expect("to buy", [(c["instanceType"], c["usdPerHour"], len(c["pods"])) for c in plan["claims"]],
           [("large", 0.4, 4)])
    expect("all of them", {name.split("/")[0] for name in placed}, {"shop"})
    expect("total", plan["usdPerHour"], 0.4)
    expect("zones", plan["claims"][0]["zones"], ["a", "b"])
    expect("in which zone", plan["claims"][0]["zone"], "a")

    # A pod that fits the small type alone, beside one that fits nothing.
    in_b = "  nodeSelector: {topology.kubernetes.io/zone: b}\n"
    folder.write("odd.yaml", pod("one", "1700m", in_b) + "---\n" + pod("vast", "100"))
    plan = folder.plan("-f", "odd.yaml", wanted=1)
    check_shape("odd", plan)
    expect("one", [(c["instanceType"], c["zone"], c["zones"], c["usdPerHour"], c["pods"])
                   for c in plan["claims"]], [("small", "b", ["b"], 0.107, ["shop/one"])])
    expect("vast", [entry["pod"] for entry in plan["unschedulable"]], ["shop/vast"])
    expect("vast", [(r["nodePool"], r["kind"]) for r in plan["unschedulable"][0]["reasons"]],
           [(None, "resources"), ("default", "resources")])

    # -f wins over the state.
    named = "{name: web, namespace: shop}"
    folder.write("state/web.yaml", deployment("web", 5, "1500m").replace("{name: web}", named))
    folder.write("less.yaml", deployment("web", 1, "1500m"))
    plan = folder.plan("-f", "less.yaml", "-n", "shop")
    expect("less", (len(plan["claims"]), len(plan["existing"])), (0, 1))

    plan = folder.plan("--optimize")
    check_shape("optimized", plan)
    saved = plan["optimize"]
    expect("optimized", saved["cutShort"], False)
    expect("optimized", saved["usdPerHour"], plan["usdPerHour"])
    expect("compat", saved["compatUsdPerHour"], 0.4)
    expect("saved", saved["savedUsdPerHour"], round(0.4 - plan["usdPerHour"], 6))
    expect("saved", saved["savedPercent"], round(250 * saved["savedUsdPerHour"], 1))
    (folder.path / "state/web.yaml").unlink()


def check_settings(folder):
    """Karpenter's own settings, and how many rounds there are."""
    prefers_b = """  affinity:
    nodeAffinity:
      preferredDuringSchedulingIgnoredDuringExecution:
        - weight: 1
          preference:
            matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [b]}]
"""
    folder.write("prefers.yaml", pod("picky", "3", prefers_b))
    for options, wanted in ((), "b"), (("--preference-policy", "Ignore"), "a"):
        plan = folder.plan("-f", "prefers.yaml", *options)
        expect(f"zone with {options}", [claim["zone"] for claim in plan["claims"]], [wanted])

    # Of the three types it wants to choose from there are two.
    folder.write("three.yaml", POOL + """
        - key: node.kubernetes.io/instance-type
          operator: Exists
          minValues: 3
""")
    for options, wanted in ((), 0), (("--min-values-policy", "BestEffort"), 1):
        plan = folder.plan("-f", "prefers.yaml", "-f", "three.yaml", *options, wanted=1 - wanted)
        expect(f"claims with {options}", len(plan["claims"]), wanted)

    expect("rounds", folder.plan("-f", "web.yaml", "--rounds", "1")["rounds"], 1)

    # Of two replicas that keep a zone to themselves the second comes a round later.
    folder.write("apart.yaml", deployment("apart", 2, "3") + """      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: topology.kubernetes.io/zone
              labelSelector: {matchLabels: {app: apart}}
""")
    for rounds, wanted in ("1", (1, True)), ("2", (0, False)):
        code, out, _ = folder.run("-f", "apart.yaml", "--rounds", rounds)
        expect(f"{rounds} rounds", (code, "NOT YET PLACED" in out), wanted)
        expect(f"{rounds} rounds", "FIT NOWHERE" in out, False)

    # Of what --optimize can do, only spreading in one places both in the first round.
    for names, wanted in (("", 0), ("=all", 0), ("=spread-in-one", 0), ("=best-fit,spread-in-one", 0),
                          ("=best-fit", 1), ("=joint-zones,exact-limits,cheapest", 1)):
        code, _, _ = folder.run("-f", "apart.yaml", "--rounds", "1", f"--optimize{names}")
        expect(f"--optimize{names}", code, wanted)


def check_reserved(folder):
    """Capacity reservations of a catalogue: one machine is free, or as many as are counted."""
    small = instance_type("small", 2, 0.107)
    requirements = [{"key": key, "operator": "In", "values": [value]} for key, value in (
        ("karpenter.sh/capacity-type", "reserved"), ("topology.kubernetes.io/zone", "b"),
        ("karpenter.k8s.aws/capacity-reservation-id", "cr-1"))]
    small["offerings"].append({"Price": 0, "Available": True, "Requirements": requirements,
                               "ReservationCapacity": 1})
    folder.write("reserved.json", json.dumps([small]))
    folder.write("any.yaml", POOL.replace("[on-demand]", "[on-demand, reserved]"))
    folder.write("two.yaml", deployment("two", 3, "1700m"))
    for options, wanted in (
            ((), ["on-demand", "reserved"]),
            (("--feature-gates", "ReservedCapacity=false"), ["on-demand", "on-demand"]),
            (("--feature-gates", "NodeRepair=true,ReservedCapacity=true"), ["on-demand", "reserved"]),
            (("--reservation", "cr-1=2"), ["reserved", "reserved"]),
            (("--reservation", "cr-1=0"), ["on-demand", "on-demand"])):
        plan = folder.plan("-f", "two.yaml", "-f", "any.yaml", *options, catalog="reserved.json")
        found = sorted(claim["capacityType"] for claim in plan["claims"])
        expect(f"reserved with {options}", found, wanted)
        for claim in plan["claims"]:
            ids = [r["values"] for r in claim["requirements"]
                   if r["key"] == "karpenter.k8s.aws/capacity-reservation-id"]
            expect("the reservation", ids, [["cr-1"]] if claim["capacityType"] == "reserved" else [])
    code, _, said = folder.run("-f", "two.yaml", "--reservation", "cr-2=1")
    expect("an unknown reservation", (code, "capacity reservation cr-2 is not known" in said),
           (2, True))


ON_NODE = "  nodeName: node-1\n"
DRILL = pod("web-1", "500m", ON_NODE).replace("{name: web-1, namespace: shop}", """
  name: web-1
  namespace: shop
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-7d9, controller: true}]""") + "---" + pod(
    "db-0", "500m", ON_NODE + "  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]\n"
).replace("{name: db-0, namespace: shop}", """
  name: db-0
  namespace: shop
  ownerReferences: [{apiVersion: apps/v1, kind: StatefulSet, name: db, controller: true}]""") + "---" + pod(
    "alone", "100m", ON_NODE) + """
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: data
  namespace: shop
  annotations: {pv.kubernetes.io/bind-completed: "yes"}
spec: {volumeName: disk}
status: {phase: Bound}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  csi: {driver: example.com/disk, volumeHandle: disk}
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]
"""


def check_drills(folder):
    """What is lost, sold out or scaled; and the plan without it."""
    folder.write("drill.yaml", DRILL)
    folder.write("scaled.yaml", deployment("web", 1, "1500m"))
    plan = folder.plan("-f", "drill.yaml", "--without-zone", "a", wanted=1)
    check_shape("without a zone", plan)
    drill = plan["drill"]
    expect("keys of a drill", set(drill), {
        "withoutZones", "withoutNodePools", "soldOut", "scaled", "nodesLost", "usdPerHourLost",
        "nodesLostUnpriced", "podsMoved", "podsGone", "stranded", "withoutDrill"})
    expect("what is lost", (drill["nodesLost"], drill["usdPerHourLost"], drill["podsMoved"]),
           (1, 0.107, 2))
    expect("all have a price", drill["nodesLostUnpriced"], 0)
    expect("who is gone", drill["podsGone"], ["shop/alone"])
    expect("who is stranded", drill["stranded"],
           [{"pod": "shop/db-0", "claim": "shop/data", "place": "a"}])
    expect("what is bought instead", [(c["zone"], c["zones"], c["pods"]) for c in plan["claims"]],
           [("b", ["b"], ["shop/web-1"])])
    expect("without the drill", drill["withoutDrill"],
           {"claims": 0, "usdPerHour": 0, "unschedulable": 0})
    folder.write("node.yaml", NODE.replace("instance-type: small", "instance-type: unknown"))
    drill = folder.plan("-f", "drill.yaml", "-f", "node.yaml", "--without-zone", "a", wanted=1)["drill"]
    expect("what is lost of no known price",
           [drill[key] for key in ("nodesLost", "usdPerHourLost", "nodesLostUnpriced")], [1, None, 1])
    expect("no drill", "drill" in folder.plan("-f", "drill.yaml"), False)

    # What has no price is not free.
    folder.write("unpriced.json", json.dumps([instance_type("small", 2)]))
    folder.write("more.yaml", deployment("more", 1, "1900m"))
    options = ("-f", "drill.yaml", "-f", "more.yaml", "--without-zone", "a", "--optimize")
    plan = folder.plan(*options, wanted=1, catalog="unpriced.json")
    check_shape("without prices", plan)
    expect("what is lost has no price", (plan["drill"]["nodesLost"], plan["drill"]["usdPerHourLost"]), (1, None))
    expect("without the drill no price", plan["drill"]["withoutDrill"],
           {"claims": 1, "usdPerHour": None, "unschedulable": 0})
    sums = ("usdPerHour", "compatUsdPerHour", "savedUsdPerHour", "savedPercent")
    expect("nothing known is saved", {key: plan["optimize"][key] for key in sums}, dict.fromkeys(sums))
    code, out, said = folder.run(*options, catalog="unpriced.json")
    expect("no price as text", (code, said, "$0" in out), (1, "", False))

    code, out, said = folder.run("-f", "drill.yaml", "--without-zone", "a", "--sold-out", "small")
    expect("a drill as text", (code, said), (1, ""))
    words = " ".join(out.split())
    for wanted in ("Drill: zone a is lost; small is sold out. 1 node is lost, $0.1070 an hour: 2 pods "
                   "need another place, and 1 is gone for good, since no controller makes it again. "
                   "Without the drill nothing would be bought. 2 pods are pending:",
                   "In the way: volume (1 pod)",
                   "STRANDED BY THEIR DISKS shop/db-0: claim shop/data is in a FIT NOWHERE",
                   "1 x large b on-demand 0.4000"):
        expect(f"a drill as text: {wanted}", wanted in words, True)
    _, page, _ = folder.run("-f", "drill.yaml", "--without-zone", "a", "-o", "html")
    for wanted in ("<p class=\"\">Drill: zone a is lost.</p>", "Stranded by their disks",
                   "<li>shop/db-0: claim shop/data is in a</li>"):
        expect(f"a drill as a page: {wanted}", wanted in page, True)

    # Several together, and in the plan of --optimize, too.
    plan = folder.plan("-f", "scaled.yaml", "--scale", "deploy/web=3", "--without-pool", "default",
                       "--optimize", wanted=1)
    expect("scaled", plan["drill"]["scaled"], [
        {"kind": "Deployment", "namespace": "default", "name": "web", "replicas": 3,
         "replicasBefore": 1}])
    expect("nothing to buy it from", (plan["claims"], len(plan["unschedulable"])), ([], 3))
    expect("the node went with its pool", plan["drill"]["nodesLost"], 1)
    plan = folder.plan("-f", "scaled.yaml", "--scale", "deployment/default/web=0")
    expect("scaled to none", (plan["existing"], plan["claims"]), ([], []))

    for options, wanted in (
            (("--without-zone", "z"), 'error: no zone has the name "z": there is a and b\n'),
            (("--without-pool", "z"), 'error: no NodePool has the name "z": there is default\n'),
            (("--sold-out", "tiny"), '"tiny" cannot be sold out'),
            (("--scale", "deploy/gone=2"), "error: Deployment gone cannot be scaled: there is no"),
            (("--scale", "web=3"), 'taffrail plan: --scale is "web=3"; it must be KIND/NAME=N'),
            (("--scale", "job/web=3"), "a Deployment, StatefulSet, ReplicaSet or"),
            (("--scale", "deploy/web=-1"), "0 to 150000 replicas"),
            (("--scale", "deploy/web=many"), "it must be KIND/NAME=N")):
        code, out, said = folder.run("-f", "scaled.yaml", *options)
        expect(f"{options}", (code, out, wanted in said), (2, "", True))


def check_errors(folder):
    folder.write("broken.yaml", pod("one", "1700m") + "---\na: [b\n")
    code, out, said = folder.run("-f", "broken.yaml", "-o", "json")
    expect("a broken file", code, 2)
    expect("a broken file", "error: broken.yaml:" in said, True)
    expect("what can be read is planned", len(json.loads(out)["existing"]), 1)

    # What is wrong with an object is said where it stands, and nothing else of the plan is lost.
    folder.write("wrong.yaml", deployment("wrong", "-5", "1"))
    code, out, said = folder.run("-f", "wrong.yaml")
    expect("a wrong workload", (code, said.split(" Deployment")[0]), (2, "error: wrong.yaml:6:13:"))
    expect("a wrong workload alone", "No pod is pending" in out, False)
    expect("a wrong workload alone", "no pod is pending; the errors name the rest" in out, True)
    code, out, said = folder.run("-f", "wrong.yaml", "-f", "web.yaml", "-o", "json")
    expect("beside a wrong workload", (code, len(json.loads(out)["claims"])), (2, 1))

    # A claim that is not there is a reason, and no error.
    mounts = "  volumes: [{name: data, persistentVolumeClaim: {claimName: gone}}]\n"
    folder.write("claim.yaml", pod("data", "1", mounts))
    plan = folder.plan("-f", "claim.yaml", wanted=1)
    expect("a claim that is not there", plan["unschedulable"][0]["reasons"][0]["kind"], "volume")

    # Of what costs more time than there is, the best plan so far.
    many = "---\n".join(pod(f"p{i}", f"{100 + i % 5000}m") for i in range(15000))
    folder.write("many.yaml", many)
    began = time.monotonic()
    plan = folder.plan("-f", "many.yaml", "--optimize", "--optimize-time", "1s")
    expect("cut short", plan["optimize"]["cutShort"], True)
    expect("cut short in time", time.monotonic() - began < 60, True)
    code, out, _ = folder.run("-f", "many.yaml", "--optimize", "--optimize-time", "1s")
    expect("cut short, in words", (code, "Its time was up" in " ".join(out.split())), (0, True))

    code, out, _ = folder.run("--optimize")
    expect("nothing to compare", (code, out), (0, "No pod is pending: there is nothing to buy.\n"))

    folder.write("state/broken.yaml", "kind: [\n")
    code, out, said = folder.run("-f", "odd.yaml", "-o", "json")
    expect("a broken state beats what fits nowhere", code, 2)
    expect("a broken state", said.startswith("error: state/broken.yaml:"), True)
    expect("a broken state", len(json.loads(out)["unschedulable"]), 1)
    (folder.path / "state/broken.yaml").unlink()

    for options, names, wanted in (
            ((), {"state": "gone"}, "gone: cannot read the state folder"),
            ((), {"catalog": "gone.json"}, "gone.json: cannot be opened"),
            (("-o", "yaml"), {}, "allowed are text, json, svg, html"),
            (("--rounds", "0"), {}, "a whole number from 1"),
            (("--preference-policy", "ignore"), {}, "allowed are Respect, Ignore"),
            (("--optimise",), {}, "did you mean --optimize?"),
            (("--optimize=cheapest,fast",), {}, '"fast"; allowed are joint-zones, spread-in-one'),
            (("--optimize-time", "0s"), {}, "a duration above 0"),
            (("--feature-gates", "ReservedCapacity"), {}, "written NAME=true or NAME=false"),
            (("--feature-gates", "Reserved=true"), {}, "no feature gate of Karpenter's"),
            (("--feature-gates", "StaticCapacity=true"), {}, "cannot reckon with"),
            (("--reservation", "cr-1=many"), {}, "it must be ID=N"),
            (("web.yaml",), {}, "manifests are given with -f")):
        code, out, said = folder.run(*options, **names)
        expect(f"{options} {names}", (code, out, wanted in said), (2, "", True))
    done = subprocess.run([taffrail, "plan"], capture_output=True, encoding="utf-8", check=False,
                          env={"HOME": "/nowhere"})
    expect("no state", (done.returncode, "--state DIR" in done.stderr), (2, True))


# A disk in zone us-east-1a, and NodePools: "lost" goes with the node, "known" is of another zone, and of "flex" nobody
# knows the hardware.
STAYS = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: lost}
spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}, requirements: [
  {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]}}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: flex}
spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}, requirements: [
  {key: node.kubernetes.io/instance-type, operator: In, values: [g2.2xlarge]}]}}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: known}
spec: {template: {spec: {nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: c}, requirements: [
  {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1b]},
  {key: node.kubernetes.io/instance-type, operator: In, values: [m5.large]}]}}}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {topology.kubernetes.io/zone: us-east-1a, karpenter.sh/nodepool: lost}}
status: {allocatable: {cpu: 2, memory: 8Gi, pods: 29}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: v1}
spec:
  csi: {driver: ebs.csi.aws.com, volumeHandle: v}
  claimRef: {name: data, namespace: shop}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [
    {key: topology.kubernetes.io/zone, operator: In, values: [us-east-1a]}]}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
spec: {volumeName: v1}
status: {phase: Bound}
---
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: rs, uid: x, controller: true}]
spec:
  nodeName: n1
  volumes: [{name: d, persistentVolumeClaim: {claimName: data}}]
  containers: [{name: c, image: i, resources: {requests: {cpu: 800m}}}]
"""


def check_hardware(folder):
    """Of some types the built-in catalogue knows no more than the name."""
    flex = POOL.replace("group: karpenter.kwok.sh, kind: KWOKNodeClass",
                        "group: karpenter.k8s.aws, kind: EC2NodeClass")
    folder.write("flex/cluster.yaml", flex + "        - {key: karpenter.k8s.aws/instance-family, "
                                             "operator: In, values: [g2]}\n")
    folder.write("one.yaml", pod("one", 1))
    done = subprocess.run([taffrail, "plan", "--state", "flex", "-f", "one.yaml", "-o", "json"],
                          cwd=folder.path, capture_output=True, encoding="utf-8", check=False)
    plan = json.loads(done.stdout)
    check_shape("hardware", plan)
    expect("hardware: nothing is decided", (done.returncode, plan["unschedulable"]), (0, []))
    expect("hardware: the reason", plan["undecided"][0]["reasons"], [
        {"nodePool": "default", "kind": "undecided", "nearest": "",
         "message": "the catalogue does not know the hardware of g2.2xlarge, g2.8xlarge"}])
    folder.write("stays/cluster.yaml", STAYS)
    for lost, listed in ((("--without-zone", "us-east-1a"), (1, ["shop/web"], [], ["shop/web"])),
                         (("--without-pool", "lost"), (0, [], ["shop/web"], []))):
        done = subprocess.run([taffrail, "plan", "--state", "stays", *lost, "-o", "json"], cwd=folder.path,
                              capture_output=True, encoding="utf-8", check=False)
        plan = json.loads(done.stdout)
        expect(f"hardware: stranded where its disk is lost, and never not decided as well: {lost}",
               (done.returncode, [entry["pod"] for entry in plan["unschedulable"]],
                [entry["pod"] for entry in plan["undecided"]],
                [entry["pod"] for entry in plan["drill"]["stranded"]]), listed)


def check_pictures(folder):
    options = ("-f", "web.yaml", "-f", "odd.yaml", "-n", "shop", "-o")
    code, out, _ = folder.run(*options, "svg")
    expect("exit code of svg", code, 1)
    picture = xml.etree.ElementTree.fromstring(out)
    space = "{http://www.w3.org/2000/svg}"
    expect("svg", picture.tag, f"{space}svg")
    words = [element.text for element in picture.iter(f"{space}text")]
    for wanted in ("large", "$0.4000", "node-1", "Fit nowhere", "shop/vast"):
        expect(f"the picture says {wanted}", wanted in words, True)
    new = [frame for frame in picture.iter(f"{space}rect") if frame.get("stroke-dasharray")]
    expect("a new node, and one in the legend", len(new), 2)

    code, out, _ = folder.run(*options, "html")
    page = Page(out)
    expect("html", (code, page.count("svg", "wide"), page.count("svg", "narrow")), (1, 1, 1))
    for wanted in ("New nodes", "Existing nodes", "Fit nowhere", "web x4",
                   "1 of 7 pending pods fits nowhere.", "folder state"):
        expect(f"the page says {wanted}", wanted in page.text, True)

    code, out, _ = folder.run(*options, "text")
    expect("text has no colours in a pipe", "\033" in out, False)
    expect("exit code of text", code, 1)
    again = folder.run("-f", "odd.yaml", "-f", "web.yaml", "-n", "shop", "-o", "text")
    expect("the order of files does not matter", again[:2], (code, out))


COST = """
apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: cost}
spec: {mode: enforce, rails: {cost: {warnAbove: 0.01}}}
"""
DAEMON = deployment("agent", 1, "300m").replace("kind: Deployment", "kind: DaemonSet").replace(
    "  replicas: 1\n", "")


def check_cost(folder):
    """The rail `cost` says what a plan of the workload alone says."""
    folder.write("cost.yaml", COST)
    folder.write("alone/cluster.yaml", f"{POOL}---\n{DAEMON}")
    spread = ("      topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone,"
              " whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: web}}}]\n")
    for replicas, cpu, more in ((1, "100m", ""), (3, "1", ""), (7, "1500m", spread), (90, "700m", spread)):
        folder.write("dear.yaml", deployment("web", replicas, cpu) + more)
        plan = folder.plan("-f", "dear.yaml", state="alone")
        done = subprocess.run(
            [taffrail, "check", "-p", "cost.yaml", "--state", "alone", "--catalog", "types.json",
             "-f", "dear.yaml", "-o", "json"],
            cwd=folder.path, capture_output=True, encoding="utf-8", timeout=120, check=False)
        findings = json.loads(done.stdout)["findings"]
        expect(f"{replicas} x {cpu} by the rail", [f["found"] for f in findings],
               [f"${round(plan['usdPerHour'] * 730, 2):,.2f} a month"])
        expect(f"nodes of {replicas} x {cpu}",
               f" {len(plan['claims'])} node" in findings[0]["message"], True)
        check_cost_beside(folder, f"{replicas} x {cpu}")


def check_other_pools(folder):
    """What NodePools say that buy nothing now, or whose instance types nobody knows."""
    azure = POOL.replace("karpenter.kwok.sh, kind: KWOKNodeClass",
                         "karpenter.azure.com, kind: AKSNodeClass")
    folder.write("azure/cluster.yaml", f"{azure}---\n" + pod("one", "1"))
    command = [taffrail, "plan", "--state", "azure"]

    def run(*options):
        done = subprocess.run([*command, *options], cwd=folder.path, capture_output=True,
                              encoding="utf-8", timeout=120, check=False)
        return done.returncode, done.stdout
    code, out = run("-o", "json")
    plan = json.loads(out)
    check_shape("types nobody knows", plan)
    expect("types nobody knows", (code, plan["unschedulable"]), (0, []))
    expect("types nobody knows", [(entry["pod"], entry["reasons"][0]["kind"]) for entry in plan["undecided"]],
           [("shop/one", "undecided")])
    code, out = run()
    expect("types nobody knows, in words", (code, " ".join(out.split())),
           (0, "1 pod is pending: 1 is not decided. NOT DECIDED shop/one NodePool default: undecided its "
               "instance types are not in the catalogue; --catalog FILE gives them"))
    code, out = run("-o", "html")
    for wanted in ("Of 1 of 1 pending pods it is not decided whether it fits.", "<h2>Not decided</h2>"):
        expect(f"types nobody knows, as a page: {wanted}", (code, wanted in out), (0, True))
    expect("and the fix", run("--catalog", "types.json")[0], 0)
    folder.write("azure/two.yaml", pod("two", "1", "  nodeSelector: {a: b}\n"))
    code, out = run("-o", "json")
    plan = json.loads(out)
    check_shape("types nobody knows, of what is kept out", plan)
    expect("what is kept out", (code, [entry["pod"] for entry in plan["undecided"]],
                                [(entry["pod"], entry["reasons"][0]["kind"]) for entry in plan["unschedulable"]]),
           (1, ["shop/one"], [("shop/two", "requirement")]))

    folder.write("unready/cluster.yaml", POOL + """status:
  conditions: [{type: Ready, status: "False", message: class bad}]
---
""" + pod("one", "1"))
    plan = folder.plan(state="unready", wanted=1)
    check_shape("not ready", plan)
    expect("not ready", plan["unschedulable"][0]["reasons"],
           [{"nodePool": "default", "kind": "not-ready", "message": "it is not ready: class bad", "nearest": ""}])


def check_cost_beside(folder, what):
    """With what is there, too: a Node on which a Pod runs."""
    folder.write("there/cluster.yaml", f"{POOL}---\n{NODE}---\n"
                 + pod("other", "1", "  nodeName: node-1\n"))
    plan = folder.plan("-f", "dear.yaml", state="there")
    done = subprocess.run(
        [taffrail, "check", "-p", "cost.yaml", "--state", "there", "--catalog", "types.json",
         "-f", "dear.yaml", "-o", "json"],
        cwd=folder.path, capture_output=True, encoding="utf-8", timeout=120, check=False)
    message = json.loads(done.stdout)["findings"][0]["message"]
    count, usd = len(plan["claims"]), plan["usdPerHour"] * 730
    said = f"{count} node{'s'[:count != 1]}, ${usd:,.2f} a month" if count > 0 else "none"
    expect(f"{what} beside what runs: {message}", f" Beside what runs it adds {said}." in message,
           True)


with tempfile.TemporaryDirectory() as path:
    folder = Folder(path)
    folder.write("state/cluster.yaml", f"{POOL}---\n{NODE}")
    check_plans(folder)
    check_settings(folder)
    check_reserved(folder)
    check_drills(folder)
    check_other_pools(folder)
    check_cost(folder)
    check_errors(folder)
    check_hardware(folder)
    check_pictures(folder)
for failure in failures:
    print(f"FAILED: {failure}")
sys.exit(1 if failures else 0)
