#!/usr/bin/python3
"""What a forecast costs against what no plan can cost less than.

usage: bound.py TAFFRAIL FOLDER [--pods N] [--seed N] [--judge PROGRAM]

Writes a cluster to FOLDER (cluster/state.yaml, cluster/pods.yaml, catalog.json: pending pods of several
shapes without affinities or spreads, pools of equal weight, EC2's c, m and r types on-demand in three
zones), a linear program (bound.lp) that glpsol solves, and has `taffrail plan` forecast it with and
without --optimize.
PROGRAM is tests/conformance/karpenter as built by go: Karpenter's own scheduler on the same files.

Why the optimum is a lower bound. Take any plan that places every pod. For each pool and type (a column
t) let x[t] be how many machines it buys, and y[s,t] how many pods of shape s it puts on them. Then

    sum over t of y[s,t] = n[s]                  every pod has a machine that may take it,
    sum over s of req[s,r] * y[s,t] <= alloc[t,r] * x[t]    resource by resource (pods are one),
    y[s,t] <= k[s,t] * x[t]        k: how many pods of shape s alone fill one machine, a whole number,

and the plan costs at least the sum of price[t] * x[t], price[t] being the type's cheapest offering the
pool allows. So the plan is a solution of the program, whose optimum is over all x, y >= 0, fractions
too, and can only be less. What the program leaves out (zones, limits, that machines are whole, that
resources must fit on one machine at once) only makes it smaller.

glpsol calculates in floating point; so its optimum is not taken on trust. Its prices of the second and
third rows, whatever they are, are made feasible for the dual program in exact fractions: what they then
prove is the bound that is printed."""

import argparse
import json
import pathlib
import random
import re
import shlex
import subprocess
import sys
from fractions import Fraction

ZONES = ["test-zone-a", "test-zone-b", "test-zone-c"]
FILTER = ["category in (c,m,r)", "generation>=5", "hypervisor=nitro", "size notin (metal)"]
MIB = 1 << 20
FAMILY = "karpenter.kwok.sh/instance-family"
ARCH = "kubernetes.io/arch"

# What Karpenter's kwok provider takes off a type's resources, and the pods it gives a machine.
OVERHEAD = {"cpu": 100, "memory": 10, "pods": 0}
PODS = 110

# name, condition on a family, architectures, taint
POOLS = [
    ("general", lambda family: True, ["amd64"], None),
    ("arm", lambda family: True, ["arm64"], "arch"),
    ("memory", lambda family: family.startswith("r"), ["amd64", "arm64"], "data"),
]
# name, cpu in thousandths, memory in MiB, share of the pods, architecture, taints tolerated
SHAPES = [
    ("web", 250, 512, 22, "amd64", []),
    ("api", 500, 1024, 16, None, ["arch"]),
    ("worker", 1000, 1024, 12, None, ["arch"]),
    ("batch", 3500, 4096, 6, None, ["arch"]),
    ("cache", 500, 7168, 10, None, ["data"]),
    ("database", 4000, 30720, 3, None, ["data"]),
    ("search", 2000, 12288, 5, "amd64", ["data"]),
    ("sidecars", 100, 128, 18, None, ["arch"]),
    ("java", 1500, 6144, 6, "amd64", []),
    ("encoder", 7500, 8192, 2, None, ["arch"]),
]


def read_types(taffrail):
    """The types of the built-in catalogue, by name: cpu in thousandths, memory in MiB, dollars."""
    run = subprocess.run([taffrail, "catalog", "filter", *FILTER, "-o", "json"],
                         capture_output=True, text=True, check=True)
    return {found["name"]: {"arch": found["architecture"], "family": found["family"],
                            "cpu": 1000 * found["cpu"], "memory": found["memoryMiB"],
                            "usd": Fraction(str(found["usdPerHour"]))}
            for found in json.loads(run.stdout)["types"] if found["usdPerHour"]}


def draw_counts(pods, seed):
    """How many pods of each shape; about their shares of the whole."""
    drawn = random.Random(seed).choices(range(len(SHAPES)), [shape[3] for shape in SHAPES], k=pods)
    return [drawn.count(i) for i in range(len(SHAPES))]


# ---- the cluster as files ----

def expression(key, *values):
    return {"key": key, "operator": "In", "values": list(values)}


def write_documents(path, documents):
    path.write_text("".join(f"---\n{json.dumps(document)}\n" for document in documents),
                    encoding="utf-8")


def write_cluster(folder, types, counts):
    catalog = [{
        "name": name, "architecture": found["arch"], "operatingSystems": ["linux"],
        "resources": {"cpu": f"{found['cpu']}m", "memory": f"{found['memory']}Mi", "pods": str(PODS)},
        "offerings": [{"Price": float(found["usd"]), "Available": True, "Requirements": [
            expression("karpenter.sh/capacity-type", "on-demand"),
            expression("topology.kubernetes.io/zone", zone)]} for zone in ZONES],
    } for name, found in types.items()]
    (folder / "catalog.json").write_text(json.dumps(catalog), encoding="utf-8")

    pools = []
    for name, allows, arches, taint in POOLS:
        families = sorted({found["family"] for found in types.values() if allows(found["family"])})
        spec = {"nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass",
                                 "name": "default"},
                "requirements": [expression(ARCH, *arches), expression(FAMILY, *families)]}
        if taint:
            spec["taints"] = [{"key": taint, "value": "yes", "effect": "NoSchedule"}]
        pools.append({"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
                      "spec": {"template": {"spec": spec}}})
    (folder / "cluster").mkdir(exist_ok=True)
    write_documents(folder / "cluster" / "state.yaml", pools)

    pods = []
    for (name, cpu, memory, _, arch, tolerated), count in zip(SHAPES, counts):
        spec = {"containers": [{"name": "main", "image": "registry.example.com/main:1", "resources": {
            "requests": {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}}}],
                "tolerations": [{"key": key, "operator": "Exists"} for key in tolerated]}
        if arch:
            spec["nodeSelector"] = {ARCH: arch}
        pods += [{"apiVersion": "v1", "kind": "Pod", "spec": spec, "metadata": {
            "name": f"{name}-{i}", "namespace": "default", "uid": f"{name}-{i:05}"}}
                 for i in range(count)]
    write_documents(folder / "cluster" / "pods.yaml", pods)


# ---- the linear program ----

def make_columns(types):
    """(label, price, allocatable, shapes that may go there with how many fill one), one for each pool
    and type."""
    columns = []
    for pool, allows, arches, taint in POOLS:
        for name, found in types.items():
            if found["arch"] not in arches or not allows(found["family"]):
                continue
            left = {key: found.get(key, PODS) - OVERHEAD[key] for key in OVERHEAD}
            fill = {}
            for i, (_, cpu, memory, _, arch, tolerated) in enumerate(SHAPES):
                alone = min(left["cpu"] // cpu, left["memory"] // memory, left["pods"])
                if arch in (None, found["arch"]) and (not taint or taint in tolerated) and alone > 0:
                    fill[i] = alone
            if fill:
                columns.append((f"{pool}_{name}", found["usd"], left, fill))
    return columns


def request(shape, key):
    return {"cpu": SHAPES[shape][1], "memory": SHAPES[shape][2], "pods": 1}[key]


def write_program(path, columns, counts):
    lines = ["Minimize", " cost:"]
    lines += [f"  + {float(price)!r} x{t}" for t, (_, price, _, _) in enumerate(columns)]
    lines.append("Subject To")
    for shape, count in enumerate(counts):
        taking = [f"  + y{shape}_{t}" for t, column in enumerate(columns) if shape in column[3]]
        lines += [f" n{shape}:", *taking, f"  >= {count}"]
    for t, (_, _, left, fill) in enumerate(columns):
        for key in OVERHEAD:
            lines += [f" u{t}_{key}: {left[key]} x{t}",
                      *(f"  - {request(shape, key)} y{shape}_{t}" for shape in fill), "  >= 0"]
        lines += [f" v{shape}_{t}: {alone} x{t} - y{shape}_{t} >= 0" for shape, alone in fill.items()]
    lines.append("End")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def solve(program, columns):
    """The optimum by glpsol's account, and its prices of the rows by name."""
    report = program.with_suffix(".txt")
    run = subprocess.run(["glpsol", "--lp", str(program), "--dual", "-o", str(report), "-w",
                          str(program.with_suffix(".sol"))], capture_output=True, text=True)
    text = report.read_text(encoding="utf-8") if run.returncode == 0 else ""
    optimum = re.search(r"^Objective: +cost = (\S+)", text, re.M)
    if "Status:     OPTIMAL" not in text or not optimum:
        sys.exit(f"glpsol found no optimum:\n{run.stdout}{run.stderr}")
    names = [f"n{shape}" for shape in range(len(SHAPES))]
    for t, (_, _, _, fill) in enumerate(columns):
        names += [f"u{t}_{key}" for key in OVERHEAD] + [f"v{shape}_{t}" for shape in fill]
    prices = {}
    for line in program.with_suffix(".sol").read_text(encoding="utf-8").splitlines():
        fields = line.split()
        if fields[:1] == ["i"]:  # i ROW STATUS VALUE PRICE
            prices[names[int(fields[1]) - 1]] = max(Fraction(fields[4]), Fraction(0))
    return float(optimum.group(1)), prices


def prove(columns, counts, prices):
    """The bound that prices u, v >= 0 prove. Scaled down until sum(alloc * u) + sum(k * v) <= price for
    each column, they make pi[s] = min over t of (sum(req * u) + v) feasible for the dual program, and
    sum(n * pi) is no more than any plan's cost."""
    pi = {}
    for t, (_, price, left, fill) in enumerate(columns):
        u = {key: prices[f"u{t}_{key}"] for key in OVERHEAD}
        v = {shape: prices[f"v{shape}_{t}"] for shape in fill}
        worth = (sum(left[key] * u[key] for key in u) + sum(alone * v[s] for s, alone in fill.items()))
        scale = min(Fraction(1), price / worth) if worth else Fraction(1)
        for shape in fill:
            paid = scale * (sum(request(shape, key) * u[key] for key in u) + v[shape])
            pi[shape] = min(pi.get(shape, paid), paid)
    return sum(count * pi[shape] for shape, count in enumerate(counts))


# ---- plans ----

def read_plan(command, types):
    """Dollars an hour of the plan a command prints, by the catalogue's prices, its machines, and pods
    without one. Of several plans the cheapest that places most."""
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 1) or not run.stdout:
        sys.exit(f"{shlex.join(command)} failed:\n{run.stderr}")
    plans = json.loads(run.stdout)
    sums = []
    for plan in plans if isinstance(plans, list) else [plans]:
        usd = float(sum(types[claim["instanceType"]]["usd"] for claim in plan["claims"]))
        if abs(usd - plan["usdPerHour"]) > 1e-6:
            sys.exit(f"a plan says ${plan['usdPerHour']} an hour, its machines come to ${usd}")
        sums.append((len(plan["unschedulable"] or []), usd, len(plan["claims"])))
    unplaced, usd, nodes = min(sums)
    return usd, nodes, unplaced


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("taffrail")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--pods", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--judge")
    options = parser.parse_args()
    folder = options.folder
    folder.mkdir(parents=True, exist_ok=True)

    types = read_types(options.taffrail)
    counts = draw_counts(options.pods, options.seed)
    write_cluster(folder, types, counts)
    columns = make_columns(types)
    write_program(folder / "bound.lp", columns, counts)
    optimum, prices = solve(folder / "bound.lp", columns)
    bound = prove(columns, counts, prices)
    if not 0.999 * optimum < bound < 1.001 * optimum:
        sys.exit(f"glpsol's optimum is {optimum}, but its prices prove only {float(bound)}")
    plan = [options.taffrail, "plan", "--state", str(folder / "cluster"), "--catalog",
            str(folder / "catalog.json"), "-o", "json"]
    plans = [("taffrail", plan),
             ("taffrail --optimize", [*plan, "--optimize", "--optimize-time", "10m"])]
    if options.judge:
        plans.append(("karpenter", [options.judge, "solve", "-runs", "3", str(folder)]))
    plans = [(name, read_plan(command, types)) for name, command in plans]
    print(f"{options.pods} pods of {len(SHAPES)} shapes, {len(types)} types, {len(POOLS)} pools, "
          f"seed {options.seed}")
    print(f"{'plan':<22} {'usd/h':>10} {'of bound':>9} {'nodes':>7} {'unplaced':>9}")
    print(f"{'no plan is below':<22} {float(bound):>10.3f} {1:>9.4f}")
    for name, (usd, nodes, unplaced) in plans:
        print(f"{name:<22} {usd:>10.3f} {usd / float(bound):>9.4f} {nodes:>7} {unplaced:>9}")
        if unplaced == 0 and usd < float(bound):
            sys.exit(f"{name} is below the bound: one of the two is wrong")


if __name__ == "__main__":
    main()
