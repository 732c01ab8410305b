#!/usr/bin/python3
"""scripts/bench peers: what others take for a review; and whether they decide as taffrail does.

usage: peers.py PROGRAMS BODIES CONNECTIONS ROUNDS SECONDS"""

import copy
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import noise  # noqa: E402
from servers import PEERS, ROOT, Problem, Servers, build_peers
from titles import TITLES
from turns import refuse, run_main, say, summary, take_turns

BODIES = ("pod-6k", "pod-20k")
STRICT, THREE = ROOT / "manifests/policies/strict.yaml", PEERS / "rails.yaml"
# What decides by the three rails, and must decide alike.
DECIDE = ("three", "opa", "vap")
RANDOM_PODS, SEED = 300, 19

TYPE, FAMILY = "node.kubernetes.io/instance-type", "karpenter.k8s.aws/instance-family"
ZONE, HOST = "topology.kubernetes.io/zone", "kubernetes.io/hostname"
REQUIRED, PREFERRED = ("requiredDuringSchedulingIgnoredDuringExecution",
                       "preferredDuringSchedulingIgnoredDuringExecution")


def versions():
    """Of the peers, as their go.mod has them."""
    text = "".join(path.read_text(encoding="utf-8") for path in (PEERS / "go.mod", PEERS / "opa/go.mod"))
    return {name: re.search(rf"\s{re.escape(module)} (v\S+)", text)[1] for name, module in (
        ("controller-runtime", "sigs.k8s.io/controller-runtime"), ("OPA", "github.com/open-policy-agent/opa"),
        ("the API server's plugin", "k8s.io/apiserver"))}


def cluster_script(programs):
    """The cluster of the benches, as the fake API server reads it."""
    return subprocess.run([pathlib.Path(programs) / "tests/bench/bench_cluster_script"], check=True, text=True,
                          capture_output=True).stdout


def start(servers):
    """Ours, the reference, and the peers."""
    built = build_peers()
    front = ("-certs", servers.certs, "-port", "{port}")
    return [
        servers.bare(),
        servers.taffrail("three", THREE),
        servers.taffrail("strict", STRICT),
        servers.taffrail("cluster", STRICT, cluster=cluster_script(servers.programs)),
        servers.peer("empty", built / "peers", "empty", *front),
        servers.peer("scaffold", built / "peers", "scaffold", *front),
        servers.peer("opa", built / "opa", "run", "--server", "--addr", "127.0.0.1:{port}", "--tls-cert-file",
                     servers.certs / "tls.crt", "--tls-private-key-file", servers.certs / "tls.key", "--log-level",
                     "error", "--disable-telemetry", PEERS / "three.rego", path="/"),
        servers.peer("vap", built / "peers", "vap", *front, "-policy", PEERS / "three.yaml"),
    ]


def in_process_micros(body):
    """What the API server itself takes for the policies, of a Pod that it has decoded: CPU, by the Pod."""
    run = subprocess.run(["taskset", "-c", "0", build_peers() / "peers", "vap", "-policy", PEERS / "three.yaml", "-count",
                          "2000", body], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        raise Problem(run.stderr)
    return float(run.stdout)


# ---- verdicts ----

def node_term(*expressions):
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": key, "operator": operator, "values": values} for key, operator, values in expressions]}]}}}


def pod_term(kind, key, required=True):
    term = {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "orders"}}}
    return {kind: {REQUIRED: [term]} if required else {PREFERRED: [{"weight": 1, "podAffinityTerm": term}]}}


def spread(key):
    return [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule",
             "labelSelector": {"matchLabels": {"app": "orders"}}}]


GPU = {"requests": {"cpu": "1", "memory": "1Gi"}, "limits": {"nvidia.com/gpu": "1"}}
SELECTORS = [{}, {TYPE: "m6i.large"}, {TYPE: "p4d.24xlarge"}, {FAMILY: "c7g"}, {FAMILY: "p5"}, {"team": "web"}]
AFFINITIES = [{}, node_term((TYPE, "In", ["m6i.large", "r6i.xlarge"])), node_term((TYPE, "In", ["m6i.large", "m5.large"])),
              node_term((FAMILY, "In", ["m7g"])), node_term((FAMILY, "In", ["g5", "m7g"])),
              node_term((FAMILY, "NotIn", ["m6i"])), node_term((ZONE, "In", ["eu-west-1a"]))]
POD_TERMS = [{}, *(pod_term(kind, key, required) for kind in ("podAffinity", "podAntiAffinity")
                   for key in (ZONE, HOST, "zone", "example.com/rack") for required in (True, False))]
SPREADS = [[], spread(ZONE), spread(HOST), spread("failure-domain.beta.kubernetes.io/zone"), spread(ZONE) + spread("rack")]
TOLERATIONS = [
    {"key": "team", "operator": "Equal", "value": "web", "effect": "NoSchedule"},
    {"key": "team", "value": "web", "effect": "NoSchedule"},
    {"key": "team", "operator": "Equal", "value": "ml", "effect": "NoSchedule"},
    {"key": "team", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "team", "operator": "Equal", "value": "web"},
    {"key": "example.com/batch", "operator": "Exists"},
    {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},
    {"key": "dedicated", "operator": "Exists", "effect": "PreferNoSchedule"},
    {"operator": "Exists"},
    {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60},
    {"operator": "Exists", "effect": "NoExecute"},
    {"key": "node.kubernetes.io/memory-pressure", "operator": "Exists", "effect": "NoSchedule"},
]


def review(base, changes):
    """The base with other fields in the spec of its Pod; a resources stands for those of the first container."""
    made = copy.deepcopy(base)
    spec = made["request"]["object"]["spec"]
    for name, value in changes.items():
        if name == "resources":
            spec["containers"][0]["resources"] = value
        elif name == "tolerations":
            spec["tolerations"] = spec["tolerations"] + value
        else:
            spec[name] = value
    return json.dumps(made).encode()


def samples():
    """Changes of the Pod, a name each: every value alone, then many at random."""
    yield "as it is", {}
    for name, values in (("nodeSelector", SELECTORS), ("affinity", AFFINITIES), ("affinity", POD_TERMS),
                         ("topologySpreadConstraints", SPREADS)):
        for value in values:
            yield f"{name}: {json.dumps(value)}", {name: value}
    for value in TOLERATIONS:
        yield f"tolerations: {json.dumps(value)}", {"tolerations": [value]}
    yield "a GPU and its toleration", {"resources": GPU, "tolerations": [TOLERATIONS[6]]}
    chance = random.Random(SEED)
    for number in range(RANDOM_PODS):
        changes = {"topologySpreadConstraints": chance.choice(SPREADS[:3] * 4 + SPREADS),
                   "tolerations": chance.sample(TOLERATIONS, chance.choice([0, 0, 1, 1, 2]))}
        # What a selector and a term reach together is known from a catalogue alone: never both.
        of_nodes = chance.choice([{"nodeSelector": chance.choice(SELECTORS)}, {"affinity": chance.choice(AFFINITIES)}])
        changes.update(of_nodes)
        changes["affinity"] = {**changes.get("affinity", {}), **chance.choice(POD_TERMS[:1] * 9 + POD_TERMS)}
        if chance.random() < 0.2:
            changes["resources"] = GPU
        yield f"random Pod {number} of seed {SEED}", changes


def compare_verdicts(deciders, body):
    """How many Pods all allow, and how many all deny; a Problem where they differ."""
    deciders = [server for server in deciders if server.name in DECIDE]
    base = json.loads(pathlib.Path(body).read_text(encoding="utf-8"))
    counts = {True: 0, False: 0}
    for name, changes in samples():
        text = review(base, changes)
        verdicts = {server.name: server.ask(text)["response"]["allowed"] for server in deciders}
        if len(set(verdicts.values())) != 1:
            raise Problem(f"the verdicts differ: {name}: {verdicts}")
        counts[next(iter(verdicts.values()))] += 1
    if min(counts.values()) < 50:
        raise Problem(f"the Pods show too little: {counts[True]} allowed, {counts[False]} denied")
    return counts[True], counts[False]


# ---- the table ----

def print_table(body, found, during):
    """Medians of the servers, against the bare one, and against taffrail with everything on; the ratios, named."""
    made = []
    say(f"{body:<54} {'median':>8} {'best':>8} {'spread':>7} {'to bare':>8} {'to ours':>8}")
    for name, rounds in found.items():
        of = summary(rounds)
        ratios = [noise.ratio(rounds, found[other], during) for other in ("bare", "cluster")]
        say(f"{TITLES[name]:<54} {of['median']:8.1f} {of['best']:8.1f} {of['spread']:7.1%} {noise.shown(ratios[0], 8)} "
            f"{noise.shown(ratios[1], 8)}")
        made += [(f"{body}, {TITLES[name]}", ratio) for ratio in ratios]
    return made


def main(programs, bodies, connections, rounds, seconds):
    ratios = []
    files = {name: str(pathlib.Path(bodies) / f"{name}.json") for name in BODIES}
    with tempfile.TemporaryDirectory() as work, Servers(programs, work) as servers:
        contenders = start(servers)
        allowed, denied = compare_verdicts(contenders, files["pod-6k"])
        say(f"verdicts: {', '.join(TITLES[name] for name in DECIDE)}: all allow the same {allowed} Pods, and deny the "
            f"same {denied}")
        say(f"server CPU per review in microseconds, {connections} connections, {rounds} rounds of {seconds} s; ours is "
            f"{TITLES['cluster']}")
        for name, path in files.items():
            found, during = take_turns(servers, contenders, path, rounds, seconds, connections)
            ratios += print_table(name, found, during)
            say(f"{'ValidatingAdmissionPolicy, in the API server itself':<54} {in_process_micros(path):8.1f}")
            say(noise.told(during))
    return refuse(ratios)


if __name__ == "__main__":
    if len(sys.argv) != 6:
        sys.exit(__doc__)
    run_main(main, *sys.argv[1:3], *map(int, sys.argv[3:]))
