"""What `instance-types` tells the owner of a NodePool to write: whoever does it is not denied again.

A table of denials that were hard to advise on, then pools and lists by chance, always the same ones.
"""
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

taffrail = sys.argv[1]
failures = []

AWS = "karpenter.k8s.aws/instance-"
TYPE = "node.kubernetes.io/instance-type"
ARCH = "kubernetes.io/arch"
STRICT = ("allow: {categories: [c, m, r], minGeneration: 6, sizes: [large, xlarge, 2xlarge, 4xlarge, "
          "8xlarge]}, max: {memory: 256Gi}")
POLICY = """
apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: list}
spec: {mode: enforce, rails: {instance-types: {%s}}}
"""


def requirement(key, *values, operator="In"):
    return {"key": key, "operator": operator, "values": list(values)}


TABLE = [
    (STRICT, [requirement(AWS + "family", "m5")]),
    (STRICT, [requirement(AWS + "size", "24xlarge")]),
    (STRICT, [requirement(AWS + "family", "m5", "c4"), requirement(ARCH, "amd64")]),
    (STRICT, [requirement(TYPE, "m5.24xlarge")]),
    ("allow: {architectures: [arm64], categories: [c, m, r, t]}", [requirement(AWS + "family", "m5")]),
    ("allow: {categories: [c, m, r]}, max: {cpu: 16}", [requirement(AWS + "size", "metal")]),
    ("max: {cpu: 32, memory: 256Gi, gpus: 0}", [requirement(AWS + "category", "u")]),
    ("max: {cpu: 32, memory: 256Gi, gpus: 0}", [requirement(TYPE, "u7inh-32tb.480xlarge")]),
    ("max: {cpu: 32}", [requirement(AWS + "family", "m8g-flex")]),
    ("allow: {categories: [c, m, r]}", [requirement(AWS + "family", "mac-m4")]),
    ("allow: {minGeneration: 6}, deny: {sizes: [metal]}", [requirement(AWS + "generation", "5")]),
]


def by_chance(count):
    choice = random.Random(7)
    families = ["m5", "m6i", "c5", "c7g", "r6a", "t3", "g5", "p4d", "u-6tb1", "c7i", "m8g-flex", "mac2", "i3", "trn1"]
    sizes = ["large", "xlarge", "2xlarge", "4xlarge", "8xlarge", "24xlarge", "metal"]
    categories = ["c", "m", "r", "t", "g", "p", "u", "i"]
    values = {
        AWS + "family": families,
        AWS + "size": sizes,
        AWS + "category": categories,
        AWS + "generation": ["2", "4", "5", "6", "7"],
        ARCH: ["amd64", "arm64"],
        TYPE: [f"{family}.{size}" for family, size in (
            ("m5", "large"), ("m5", "24xlarge"), ("c7g", "xlarge"), ("r6a", "48xlarge"), ("g5", "xlarge"))],
    }
    lists = [
        lambda: f"categories: [{', '.join(choice.sample(categories[:5], 3))}]",
        lambda: f"families: [{', '.join(choice.sample(families, 4))}]",
        lambda: f"sizes: [{', '.join(choice.sample(sizes, 3))}]",
        lambda: f"architectures: [{choice.choice(values[ARCH])}]",
        lambda: f"minGeneration: {choice.randint(2, 7)}",
    ]
    maxima = ["", ", max: {cpu: 16}", ", max: {memory: 64Gi}", ", max: {gpus: 0}", ", max: {cpu: 48, gpus: 0}",
              ", deny: {sizes: [metal]}", ", deny: {categories: [g, p], architectures: [amd64]}"]
    for _ in range(count):
        allow = ", ".join(key() for key in choice.sample(lists, choice.randint(0, 3)))
        rails = (f"allow: {{{allow}}}" + choice.choice(maxima)).removeprefix("allow: {}, ")
        keys = choice.sample(list(values), choice.randint(1, 3))
        yield rails, [requirement(key, *choice.sample(values[key], choice.randint(1, 2))) for key in keys]


def pool(name, requirements):
    return {"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name}, "spec": {
        "template": {"spec": {"nodeClassRef": {"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "a"},
                              "requirements": requirements}}}}


def judge(folder, rails, requirements):
    (folder / "list.yaml").write_text(POLICY % rails, encoding="utf-8")
    (folder / "pool.json").write_text(json.dumps(pool("p", requirements)), encoding="utf-8")
    done = subprocess.run([taffrail, "check", "-p", "list.yaml", "-f", "pool.json", "-o", "json", "-q"], cwd=folder,
                          capture_output=True, encoding="utf-8", timeout=60, check=False)
    return [finding for finding in json.loads(done.stdout)["findings"] if finding["action"] == "deny"]


def followed(fix, requirements):
    """The requirements as the fix has them; None: it says nothing that can be written down."""
    after = [dict(one) for one in requirements]
    replaced = re.search(r"Replace the values of (\S+), which no allowed type has, with \[(.*?)\]", fix)
    added = re.search(r"dd to spec\.template\.spec\.requirements: \[(.*)\]\.$", fix)
    if not replaced and not added:
        return None
    for one in after:
        if replaced and one["key"] == replaced[1]:
            one["values"] = replaced[2].split(", ")
    for key, operator, values in re.findall(r"\{key: (\S+), operator: (\w+), values: \[(.*?)\]\}",
                                            added[1] if added else ""):
        after.append(requirement(key, *values.replace('"', "").split(", "), operator=operator))
    return after


def check(folder, rails, requirements, must_advise):
    """Returns whether there was advice to follow."""
    denied = [finding for finding in judge(folder, rails, requirements)
              if finding["field"] == "spec.template.spec.requirements"]
    after = followed(denied[0]["fix"], requirements) if denied else None
    if after is None:
        if must_advise:
            failures.append(f"{rails} {requirements}: {denied[0]['fix'] if denied else 'not denied'}")
        return False
    again = judge(folder, rails, after)
    if again:
        failures.append(f"{rails} {requirements}\n  {denied[0]['fix']}\n  then: {again[0]['message']}")
    return True


with tempfile.TemporaryDirectory() as path:
    for rails, requirements in TABLE:
        check(pathlib.Path(path), rails, requirements, True)
    told = sum(check(pathlib.Path(path), *case, False) for case in by_chance(150))
    if told < 40:
        failures.append(f"advice of {told} of 150 could be followed")
for failure in failures:
    print(f"FAILED: {failure}")
sys.exit(1 if failures else 0)
