"""The zone pin as the API server meets it: `taffrail serve --state` over TLS, its patches applied
by python3-jsonpatch, which others wrote, and by $JSON_PATCH, when that is set."""

import base64
import copy
import http.client
import json
import os
import pathlib
import random
import re
import signal
import subprocess
import sys
import tempfile
import time

import yaml

sys.dont_write_bytecode = True  # nothing is written beside the tests
import pin_cluster as cluster
from pin_cluster import ZONE
from serving import WAIT_S, Failure, Serving, check

try:
    import jsonpatch
except ImportError:
    print("skipped: no python3-jsonpatch, which applies the patches")
    sys.exit(77)

BINARY = sys.argv[1]
with open(BINARY, "rb") as program:  # of the processor; sanitizers make it slow
    MOST_S = 30 if re.search(rb"__[at]san_init", program.read()) else 2
SOURCE = pathlib.Path(os.environ["TAFFRAIL_SOURCE_DIR"])
PLANS = SOURCE / "tests" / "scenarios" / "plan"
REQUIRED, PREFERRED = (when + "DuringSchedulingIgnoredDuringExecution"
                       for when in ("required", "preferred"))
JANE = {"username": "jane", "groups": ["system:authenticated"]}


# ---- a webhook, and what it makes of a pod ----


class Applier:
    """The program that $JSON_PATCH names: json_patch/main.go."""

    def __init__(self):
        self.process = None
        if "JSON_PATCH" in os.environ:
            self.process = subprocess.Popen([os.environ["JSON_PATCH"]], text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def patched(self, pod, patch):
        after = jsonpatch.apply_patch(pod, json.dumps(patch))  # it changes a list that it is given
        if self.process:
            self.process.stdin.write(json.dumps({"object": pod, "patch": patch}) + "\n")
            self.process.stdin.flush()
            applied = json.loads(self.process.stdout.readline())
            check(applied == after, f"patched by Go and by Python:\n{applied}\n{after}\n{patch}")
        return after


APPLIER = Applier()


class Webhook:
    """Serves a folder of files as the cluster, and one policy with the pin."""

    def __init__(self, folder, objects, settings=None, mode="enforce"):
        self.folder, self.uid = pathlib.Path(folder), 0
        (self.folder / "state").mkdir(parents=True)
        self.show("cluster", objects)
        policy = self.folder / "policy.yaml"
        policy.write_text(yaml.safe_dump({
            "apiVersion": "taffrail.dev/v1alpha1", "kind": "GuardRails",
            "metadata": {"name": "pins"},
            # Under a sanitizer a change takes many times as long.
            "spec": {"mode": mode, "limits": {"cpuMilliseconds": 10000, "timeoutSeconds": 30},
                     "rails": {"zone-pin": settings or {}}}}), encoding="utf-8")
        self.serving = Serving(BINARY, str(self.folder / "certs"), "-p", str(policy), "--state",
                               str(self.folder / "state"))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.serving.process.send_signal(signal.SIGINT)
        self.serving.process.wait(WAIT_S)

    def show(self, name, objects):
        """The file in one step, as a reader sees it."""
        text = json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
        (self.folder / "new").write_text(text, encoding="utf-8")
        os.rename(self.folder / "new", self.folder / "state" / (name + ".json"))

    def generation(self):
        return self.serving.metric("taffrail_policy_generation")

    def reload(self, name, objects):
        before = self.generation()
        self.show(name, objects)
        end = time.monotonic() + WAIT_S
        while self.generation() == before:
            check(time.monotonic() < end, "the files have changed, and are not read again")
            time.sleep(0.01)

    def ask(self, pod, path, **request):
        self.uid += 1
        review = {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
            "uid": f"u-{self.uid}", "operation": "CREATE", "userInfo": JANE, "dryRun": False,
            "namespace": pod["metadata"].get("namespace", "default"),
            "name": pod["metadata"].get("name", ""), "object": pod, "oldObject": None, **request}}
        connection = http.client.HTTPSConnection("127.0.0.1", self.serving.port, timeout=WAIT_S,
                                                 context=self.serving.tls)
        connection.request("POST", path + "?timeout=30s", json.dumps(review),
                           {"Content-Type": "application/json"})
        reply = connection.getresponse()
        text = reply.read()
        connection.close()
        check(reply.status == 200, f"{path} answers {reply.status} {text[:200]!r}")
        response = json.loads(text)["response"]
        check(response["uid"] == f"u-{self.uid}" and response["allowed"], f"answered {response}")
        return response

    def mutate(self, pod, **request):
        """The pod as it is stored, and the patch."""
        answer = self.ask(pod, "/mutate", **request)
        if "patch" not in answer:
            check("patchType" not in answer, f"a type of no patch: {answer}")
            return pod, []
        check(answer["patchType"] == "JSONPatch", f"answered {answer}")
        patch = json.loads(base64.b64decode(answer["patch"], validate=True))
        return APPLIER.patched(pod, patch), patch


def where(before, after):
    """What was added, in a line; that nothing else was, is checked by taking it out again."""
    rest, line = copy.deepcopy(after), ""
    notes = rest["metadata"].get("annotations") or {}
    spec, old = rest["spec"], before["spec"]
    if "taffrail.dev/zone" in notes:
        line = f"{notes.pop('taffrail.dev/zone')} by {notes.pop('taffrail.dev/zone-source')}"
    if ZONE in (spec.get("nodeSelector") or {}) and ZONE not in (old.get("nodeSelector") or {}):
        line += " selects " + spec["nodeSelector"].pop(ZONE)
    terms = ((spec.get("affinity") or {}).get("nodeAffinity") or {})
    own = ((old.get("affinity") or {}).get("nodeAffinity") or {})
    preferred, required = terms.get(PREFERRED) or [], (terms.get(REQUIRED) or {})
    if len(preferred) > len(own.get(PREFERRED) or []):
        term = preferred.pop()
        [expression] = term["preference"]["matchExpressions"]
        check(term == {"weight": 100, "preference": {"matchExpressions": [
            {"key": ZONE, "operator": "In", "values": expression["values"]}]}}, f"prefers {term}")
        line += " prefers " + ",".join(expression["values"])
    own_terms = (own.get(REQUIRED) or {}).get("nodeSelectorTerms") or []
    for i, term in enumerate(required.get("nodeSelectorTerms") or []):
        mine = (own_terms[i].get("matchExpressions") or []) if i < len(own_terms) else []
        if len(term.get("matchExpressions", [])) > len(mine):
            expression = term["matchExpressions"].pop()
            check((expression["key"], expression["operator"]) == (ZONE, "In"), f"{expression}")
            line += " requires " + ",".join(expression["values"])
    check(without_empty(rest) == without_empty(before),
          f"more was changed:\n{json.dumps(before)}\n{json.dumps(after)}")
    return line.strip()


def without_empty(value):
    """As the API server stores it: maps and lists that are empty or null are not there."""
    if isinstance(value, dict):
        pairs = {key: without_empty(item) for key, item in value.items()}
        return {key: item for key, item in pairs.items() if item not in ({}, [], None)}
    if isinstance(value, list):
        return [item for item in map(without_empty, value) if item not in ({}, [], None)]
    return value


def expect(webhook, cases):
    """Each is asked again with what was added, as a reinvocation does."""
    for name, pod, wanted in cases:
        after, _ = webhook.mutate(pod)
        found = where(pod, after)
        check(found == wanted, f"{name}: {found!r}, expected {wanted!r}")
        again, _ = webhook.mutate(after)
        check(again == after, f"{name}: invoked again, it adds {again}")


# ---- what may be in a pod ----


def every_kind_of_pod(folder):
    mounts, pod, of_set = cluster.mounts, cluster.pod, cluster.of_set
    beside = {"podAffinity": {REQUIRED: [{
        "topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "db"}}}]}}
    spread = [{"topologyKey": ZONE, "maxSkew": 1, "minDomains": 3,
               "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {}}]
    daemon = {"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u",
              "controller": True}
    scratch = [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {
        "storageClassName": "wait", "accessModes": ["ReadWriteOnce"]}}}}]
    in_a = mounts("in-a")
    cases = [
        ("a bound volume", pod(volumes=in_a), "a by volume selects a"),
        ("a regional one", pod(volumes=mounts("regional")), "a,b by volume requires a,b"),
        ("a spread", pod(volumes=in_a, topologySpreadConstraints=spread), "a by volume"),
        ("a chosen node", pod(volumes=mounts("chosen")), "b by selected-node"),
        ("a claim of a set, its node chosen", of_set("web", 2),
         "c by selected-node prefers c"),
        ("volumes that wait for a claim", pod(volumes=mounts("static")), "b by volume"),
        ("an ordinal without a claim", of_set("web", 3), "b by solver prefers b"),
        ("an ephemeral volume", pod(volumes=scratch), "a,b,c by solver"),
        ("one beside a bound one", pod(volumes=in_a + scratch), "a by volume selects a"),
        ("a follower", pod(affinity=beside), "b by volume prefers b"),
        ("a gated pod", pod(volumes=in_a, schedulingGates=[{"name": "wait.example/quota"}]),
         "a by volume selects a"),
        ("a generated name", cluster.generated(pod(volumes=in_a)), "a by volume selects a"),
        ("Fargate", pod({"labels": {"eks.amazonaws.com/fargate-profile": "f"}}, volumes=in_a), ""),
        ("a mirror", pod({"annotations": {"kubernetes.io/config.mirror": "x"}}, volumes=in_a), ""),
        ("a daemon", pod({"ownerReferences": [daemon]}, volumes=in_a), ""),
        ("a node by name", pod(volumes=in_a, nodeName="n1"), ""),
        ("another scheduler", pod(volumes=in_a, schedulerName="mine"), ""),
        ("no volume", pod(), ""),
        # what is not known is not guessed
        ("a volume that is gone", pod(volumes=mounts("orphan")), ""),
        ("a volume of another", pod(volumes=mounts("robbed")), ""),
        ("a claim that is gone", pod(volumes=mounts("nowhere")), ""),
        ("two zones", pod(volumes=in_a + mounts("in-b")), ""),
    ]
    with Webhook(folder, cluster.objects()) as webhook:
        expect(webhook, cases)
        pod = pod(volumes=in_a)
        dry, _ = webhook.mutate(pod, dryRun=True)
        check(dry == webhook.mutate(pod)[0], "a dry run differs")
        for request in ({"operation": "UPDATE", "oldObject": pod}, {"subResource": "resize"}):
            check(webhook.mutate(pod, **request)[1] == [], f"{request} is changed")
        shared = {where(pod, webhook.mutate(pod)[0]) for pod in (
            cluster.generated(cluster.pod({"labels": {"n": str(n)}}, volumes=mounts("shared")))
            for n in range(9))}
        check(len(shared) == 1 and shared.pop() in ("a by solver", "b by solver", "c by solver"),
              "pods that share a claim are told different zones")
        torn = webhook.ask(cluster.pod(volumes=in_a + mounts("in-b")), "/validate")
        check(any("in-a in a, in-b in b" in warning for warning in torn["warnings"]),
              f"volumes apart are not each named: {torn['warnings']}")


def modes_and_strengths(folder):
    bound, free = cluster.pod(volumes=cluster.mounts("in-a")), cluster.of_set("web", 3)
    regional = cluster.pod(volumes=cluster.mounts("regional"))
    rows = [
        ("enforce", {"bound": "require"}, bound, "a by volume selects a"),
        ("enforce", {"bound": "annotate"}, bound, "a by volume"),
        ("enforce", {"bound": "annotate"}, regional, "a,b by volume"),
        ("enforce", {"bound": "off"}, bound, ""),
        ("enforce", {"unbound": "require"}, free, "b by solver selects b"),
        ("enforce", {"unbound": "prefer"}, free, "b by solver prefers b"),
        ("enforce", {"unbound": "annotate"}, free, "b by solver"),
        ("enforce", {"unbound": "off"}, free, ""),
        ("warn", {}, bound, ""),
        ("audit", {}, bound, ""),
        ("off", {}, bound, ""),
    ]
    said = {"warn": "[zone-pin] would add a node selection by zone a (volume)"}
    for number, (mode, settings, pod, wanted) in enumerate(rows):
        with Webhook(os.path.join(folder, str(number)), cluster.objects(), settings,
                     mode) as webhook:
            expect(webhook, [(f"{mode} {settings}", pod, wanted)])
            if mode != "enforce":
                answer = webhook.ask(pod, "/mutate")
                wanted_warnings = [said[mode]] if mode in said else []
                check(answer.get("warnings", []) == wanted_warnings, f"{mode} says {answer}")
                check(("auditAnnotations" in answer) == (mode != "off"), f"{mode} notes {answer}")


# ---- patches beside those of others ----


def patches_among_others(folder):
    """Whatever shape a pod has, and whoever changes it before or after, it gets what was meant."""
    awkward = {"a/b": "1", "a~b": "2", "a~1b": "3", "a~0/b": "4"}
    arm = {"matchExpressions": [{"key": "kubernetes.io/arch", "operator": "In",
                                 "values": ["arm64"]}]}
    shapes = [{}] + [{"annotations": value} for value in (None, {}, awkward)]
    selectors = [{}] + [{"nodeSelector": value} for value in (None, {}, awkward)]
    affinities = [{}] + [{"affinity": value} for value in (
        None, {}, {"nodeAffinity": None}, {"nodeAffinity": {}},
        {"nodeAffinity": {REQUIRED: None, PREFERRED: None}},
        {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [arm]}, PREFERRED: []}})]
    sidecar = {"name": "proxy", "image": "example.com/proxy:1"}
    pods = [("in-a", "a by volume selects a"), ("regional", "a,b by volume requires a,b")]
    objects = cluster.objects()
    objects[0]["spec"]["template"]["metadata"] = {"labels": awkward}  # or nothing could run it
    with Webhook(folder, objects) as webhook:
        for metadata in shapes:
            for selector in selectors:
                for affinity in affinities:
                    spec = copy.deepcopy({**selector, **affinity})
                    expect(webhook, [
                        (f"{metadata} {spec}", cluster.pod(metadata, volumes=cluster.mounts(claim),
                                                           **spec), wanted)
                        for claim, wanted in pods])
                    own = cluster.of_set("web", 3)
                    own["metadata"].update(copy.deepcopy(metadata))
                    own["spec"].update(spec)
                    expect(webhook, [(f"set, {metadata} {spec}", own, "b by solver prefers b")])
        before = cluster.of_set("web", 3)
        after, patch = webhook.mutate(before)
        # a second mutator, after: the API server asks once more, and nothing is left to do
        after["spec"]["containers"].append(sidecar)
        after["metadata"]["annotations"]["proxy.example/injected"] = "true"
        check(webhook.mutate(after)[1] == [], "with a sidecar it is changed again")
        # and before: the patch is made of what it left
        before["spec"]["containers"].append(sidecar)
        before["metadata"]["annotations"] = {"proxy.example/injected": "true"}
        check(webhook.mutate(before)[0] == after, "the order of mutators matters")
        check(all(operation["op"] == "add" for operation in patch), f"{patch}")


# ---- the scenarios of the solver ----


def documents(*names):
    return [document for name in names
            for document in yaml.safe_load_all((PLANS / name).read_text(encoding="utf-8"))]


def pod_of(owner, name):
    """As its controller makes it."""
    template = copy.deepcopy(owner["spec"]["template"])
    metadata = {"name": name, "namespace": owner["metadata"]["namespace"],
                **template.get("metadata", {}), "ownerReferences": [{
                    "apiVersion": "apps/v1", "kind": owner["kind"], "controller": True,
                    "name": owner["metadata"]["name"], "uid": owner["metadata"].get("uid", "")}]}
    spec = template["spec"]
    for claim in owner["spec"].get("volumeClaimTemplates", []):
        volume = claim["metadata"]["name"]
        spec.setdefault("volumes", []).append(
            {"name": volume, "persistentVolumeClaim": {"claimName": f"{volume}-{name}"}})
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def scenarios_of_the_solver(folder):
    a, b, c = ("eu-west-1" + letter for letter in "abc")

    def run(name, state, files, cases):
        given = documents(*files)
        with Webhook(os.path.join(folder, name), documents(state) + given) as webhook:
            expect(webhook, cases(given))

    def twenty(wanted):
        return lambda given: [(f"db-{n}", pod_of(given[0], f"db-{n}"), wanted) for n in range(20)]

    # 3: by node affinity all in one zone, which is the pod's own word; with volumes by these, too
    run("new", "stateful-set/state/cluster.yaml", ["stateful-set/db.yaml"],
        twenty(f"{a} by solver"))
    run("old", "stateful-set/bound/cluster.yaml", ["stateful-set/db.yaml"],
        twenty(f"{a} by volume selects {a}"))
    run("held", "stateful-set/bound/cluster.yaml", ["stateful-set/db-free.yaml"],
        twenty(f"{a} by volume selects {a}"))
    # and with neither, seven, seven and six
    with Webhook(os.path.join(folder, "free"), documents(
            "stateful-set/state/cluster.yaml", "stateful-set/db-free.yaml")) as webhook:
        [db] = documents("stateful-set/db-free.yaml")
        lines = []
        for n in range(20):
            pod = pod_of(db, f"db-{n}")
            lines.append(where(pod, webhook.mutate(pod)[0]))
        counts = sorted(lines.count(f"{zone} by solver prefers {zone}") for zone in (a, b, c))
        check(counts == [6, 7, 7], f"twenty are preferred so: {lines}")

    # 4: the class has one zone; then the volume is there
    def pages(wanted):
        return lambda given: [(name, pod_of(given[0], name), wanted)
                              for name in ("pages-1", "pages-2", "pages-3")]

    run("to-be", "shared-claim/new/cluster.yaml", ["shared-claim/pages.yaml"],
        pages(f"{b} by storage-class"))
    run("there", "shared-claim/bound/cluster.yaml", ["shared-claim/pages.yaml"],
        pages(f"{b} by volume selects {b}"))
    run("idle", "shared-claim/idle/cluster.yaml", ["shared-claim/pages.yaml"],
        pages(f"{b} by volume selects {b}"))

    # 6: static volumes
    wanted = {"ebs": f"{b} by volume selects {b}",
              "regional": f"{b},{c} by volume requires {b},{c}",
              "labelled": f"{c} by volume selects {c}",
              "old-labels": f"{b},{c} by volume requires {b},{c}",
              "both": f"{c} by volume selects {c}",
              # eu-west-1d is in no pool
              "two-terms": f"{c},eu-west-1d by volume"}
    run("static", "static-volumes/state/cluster.yaml", ["static-volumes/pods.yaml"],
        lambda given: [(pod["metadata"]["name"], pod,
                        wanted[pod["metadata"]["name"].removeprefix("pod-")]) for pod in given])

    # 8: who can have a machine, can have one where its volume is, and who cannot is not sent about
    run("attributes", "attributes/state/cluster.yaml", ["attributes/pods.yaml"],
        lambda given: [(owner["metadata"]["name"], pod_of(owner, owner["metadata"]["name"] + "-0"),
                        "") for owner in given])


# ---- bad input ----


def a_crowd(folder):
    """A set of thousands, and a pod that must be beside all of them."""
    many = 3000
    objects = [*cluster.objects(), cluster.stateful_set("vast", many + 2)]
    for n in range(many):
        objects += cluster.bound(f"data-vast-{n}", zones=["b"])
        objects.append(cluster.of_set("vast", n))
        objects[-1]["metadata"]["labels"] = {"app": "vast"}
    beside = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": "vast"}}}
    with Webhook(folder, objects) as webhook:
        for terms, wanted in ((1, "b by volume prefers b"), (8, "b by volume prefers b"),
                              (10000, "")):
            pod = cluster.pod(affinity={"podAffinity": {REQUIRED: [beside] * terms}})
            begun_s = webhook.serving.cpu_s()
            line = where(pod, webhook.mutate(pod)[0])
            took_s = webhook.serving.cpu_s() - begun_s
            check(line == wanted, f"beside a crowd, by {terms} terms: {line!r}")
            check(took_s < MOST_S, f"beside a crowd, by {terms} terms: {took_s:.1f} s")
        pods = [cluster.of_set("vast", n) for n in (many, many + 1)]
        lines = {where(pod, webhook.mutate(pod)[0]) for pod in pods}
        check(len(lines) == 2 and all(line in ("a by solver prefers a", "b by solver prefers b",
                                               "c by solver prefers c") for line in lines),
              f"one after the other is sent to {lines}")


def too_much_of_it(folder):
    """Answers come soon, and no pod is given what the API server would refuse."""
    many = 10000
    odd = ["not a zone!", "_b", "z" * 64, "ü", "a,b", 'quote"', "line\nfeed", "a/b~1"]
    objects = cluster.objects() + [cluster.node_pool("in-any-zone")]
    for n, zone in enumerate(odd):
        objects += cluster.bound(f"odd-{n}", zones=[zone])
    objects += cluster.bound("absurd", zones=[f"zone-{n}" for n in range(30000)])
    objects += cluster.bound("terms", terms=[cluster.term("a") for n in range(30000)])
    objects += [cluster.free_volume(f"free-{n}", "b", "static") for n in range(5000)]
    objects += [cluster.claim(f"claim-{n}", storageClassName="static") for n in range(20)]
    objects += [cluster.claim(f"wait-{n}", storageClassName="wait") for n in range(many)]
    with Webhook(folder, objects) as webhook:
        mounts = cluster.mounts
        expect(webhook, [(zone, cluster.pod(volumes=mounts(f"odd-{n}")), zone + " by volume")
                         for n, zone in enumerate(odd)])
        rows = [
            ("an affinity of 30,000 zones", mounts("absurd"), ""),
            ("an affinity of 30,000 terms", mounts("terms"), ""),
            ("a claim for 5,000 volumes", mounts("claim-1"), "b by volume"),
            ("twenty such", mounts(*(f"claim-{n}" for n in range(20))), "b by volume"),
            ("ten thousand claims", mounts(*(f"wait-{n}" for n in range(many))), ""),
            ("one, ten thousand times", mounts(*["in-a"] * many), ""),
            ("ten thousand that are not there", mounts(*(f"x-{n}" for n in range(many))), ""),
            ("the most there may be", mounts(*["in-a"] * 256), "a by volume selects a"),
            ("names of any characters", [
                {"name": name, "persistentVolumeClaim": {"claimName": name}}
                for name in odd + ["", "../in-a", "IN-A", "in-a\0", "in-a "]], ""),
        ]
        for name, volumes, wanted in rows:
            pod = cluster.pod(volumes=volumes)
            begun_s = webhook.serving.cpu_s()
            after, _ = webhook.mutate(pod)
            webhook.ask(pod, "/validate")
            took_s = webhook.serving.cpu_s() - begun_s
            check(where(pod, after) == wanted, f"{name}: {where(pod, after)!r}")
            check(took_s < MOST_S, f"{name}: {took_s:.1f} s")


# ---- two servers ----


def a_set_through_two_servers(folder):
    """Pods are created in any order, by whichever server answers; one reads files a step late."""
    seed = int(os.environ.get("TEST_SEED", time.time_ns() % 100000))
    print(f"TEST_SEED={seed}", flush=True)
    draw = random.Random(seed)
    base = [*cluster.objects(), cluster.stateful_set("flock", 8)]
    ordinals, claims, sent = list(range(8)), [], {}
    draw.shuffle(ordinals)
    with Webhook(os.path.join(folder, "now"), base) as now, \
            Webhook(os.path.join(folder, "late"), base) as late:
        for ordinal in ordinals:
            pod = cluster.of_set("flock", ordinal)
            lines = {where(pod, webhook.mutate(pod, dryRun=dry)[0])
                     for webhook, dry in draw.sample([(now, False), (now, True), (late, False)], 3)}
            check(len(lines) == 1, f"the servers send flock-{ordinal} to {lines}")
            zone = lines.pop()[0]
            sent[ordinal] = zone
            late.reload("claims", claims)
            claims = claims + cluster.bound(f"data-flock-{ordinal}", zones=[zone])
            now.reload("claims", claims)
        for ordinal in ordinals:  # made anew, each goes where its volume is
            pod = cluster.of_set("flock", ordinal)
            line = where(pod, now.mutate(pod)[0])
            zone = sent[ordinal]
            check(line == f"{zone} by volume selects {zone}", f"flock-{ordinal} again: {line}")
    counts = sorted(list(sent.values()).count(zone) for zone in "abc")
    check(counts == [2, 3, 3], f"eight are sent to {sent}")


def main():
    for test in (every_kind_of_pod, modes_and_strengths, patches_among_others,
                 scenarios_of_the_solver, a_crowd, too_much_of_it, a_set_through_two_servers):
        with tempfile.TemporaryDirectory() as folder:
            begun = time.monotonic()
            test(os.path.join(folder, "of"))
            took_s = time.monotonic() - begun
            print(f"{test.__name__.replace('_', ' ')}: {took_s:.1f} s", flush=True)


try:
    main()
except Failure as failure:
    sys.exit(f"FAILED: {failure}")
