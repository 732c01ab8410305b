"""Changes that a person, a template or a converter may make to a NodePool or an EC2NodeClass: each alters
the object it is given and says what it did."""

DURATIONS = ["720h", "1h30m", "Never", "never", "0s", "", "30d", "720", 2592000, "-1h", "1.5h", "720h ",
             "99999999999h", "2562047h47m16s", "2562048h", "9223372036s", "9223372037s", None, [], "1h30m5s",
             "10ms", "+1h", "1H", "00h", "8760h"]
KEYS = ["karpenter.sh/capacity-type", "karpenter.sh/nodepool", "karpenter.sh/initialized", "karpenter.sh/x",
        "a.karpenter.sh/x", "notkarpenter.sh/x", "mykarpenter.sh", "karpenter.k8s.aws/instance-family",
        "karpenter.k8s.aws/instance-cpu", "karpenter.k8s.aws/instance-tenancy", "karpenter.k8s.aws/unheard-of",
        "x.karpenter.k8s.aws/y", "kubernetes.io/hostname", "kubernetes.io/os", "kubernetes.io/arch",
        "beta.kubernetes.io/arch", "beta.kubernetes.io/instance-type", "node.kubernetes.io/instance-type",
        "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone", "topology.kubernetes.io/region",
        "node.kubernetes.io/windows-build", "k8s.io/x", "node-role.kubernetes.io/worker",
        "example.com/team", "team", "", "-x", "a b", "a/b/c", "/x", "x/", "UPPER.example.com/x",
        "x" * 63, "x" * 64, "example.com/" + "x" * 64, "d" * 254 + "/x", 7, None]
VALUES = ["spot", "on-demand", "reserved", "Spot", "m5", "5", "0", "-1", "+1", "007", "4.5", "1e3", " 5", "default", "dedicated",
          "host", "us-east-1a", "a b", "a/b", "", "x" * 63, "x" * 64, "-x", "x_", "linux", "true",
          "9223372036854775807", "9223372036854775808", "2147483648", 5, 4.5, True, None]
OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte", "in", "Equals", "", None]
EFFECTS = ["NoSchedule", "PreferNoSchedule", "NoExecute", "noschedule", "", None]
SCHEDULES = ["0 9 * * mon-fri", "0 9 * * 1-5", "@daily", "@dailyXYZ", "@every 1h", "@reboot", "0 0 * * 7",
             "0 0 31 2 *", "0 0 30 feb *", "60 * * * *", "* * * * * *", "TZ=Europe/Paris 0 9 * * *",
             "CRON_TZ=UTC 0 9 * * *", "every day at nine o'clock", "*/15 * * * *", "0 9 * * MON-FRI",
             "0 9 ? * mon", "0 9 * * mon#1", "0 9 L * *", "5/0 * * * *", "0-59/5 9-17 * * *", "@hourly ",
             " 0 9 * * *", "0  9 * * *", "0 9 * * sun-sat", "0 9 * * fri-mon", "@Weekly", "@midnight",
             "0 9 * jan-dec *", "0 9 *\t* *", "9-5 * * * *", "0 24 * * *", "0 0 0 * *", "1,2,3 * * * *", "", None]
BUDGET_DURATIONS = ["8h", "30m", "1h30m", "1h30m0s", "8h0s", "90s", "8", "1d", "0h", "99999999999h",
                    "153722867280912h", "2562047h47m", "", None]
QUANTITIES = ["100", "1k", "1e3", "1E3", "10Gi", "1.5", "-5", "0", "abc", "1 Gi", "100gi", "9" * 30, "1e400", "1e99999999999",
              "", ".5", "5.", "+5", "100m", "1Ki1", 100, 1.5, None, [], {"a": 1}, True]


def at(item, *path):
    """The map at the path, made where there is none."""
    for key in path:
        if not isinstance(item.get(key), dict):
            item[key] = {}
        item = item[key]
    return item


def listed(item, key):
    if not isinstance(item.get(key), list):
        item[key] = []
    return item[key]


def some(chance, **shares):
    """A map of some of the keys, each with one of its values."""
    return {key: chance.choice(choices) for key, (choices, share) in shares.items()
            if chance.random() < share}


# ---- NodePools ----


def add_requirement(pool, chance):
    requirement = some(chance, key=(KEYS, 0.97), operator=(OPERATORS[:8] * 2 + OPERATORS, 0.95))
    if chance.random() < 0.9:
        requirement["values"] = [chance.choice(VALUES) for _ in range(chance.choice((0, 1, 1, 1, 2, 3)))]
    if chance.random() < 0.15:
        requirement["minValues"] = chance.choice((0, 1, 2, 3, 50, 51, "2", None))
    listed(at(pool, "spec", "template", "spec"), "requirements").append(requirement)
    return f"requirement {requirement}"


def change_requirement(pool, chance):
    requirements = [r for r in listed(at(pool, "spec", "template", "spec"), "requirements")
                    if isinstance(r, dict)]
    if not requirements:
        return add_requirement(pool, chance)
    requirement = chance.choice(requirements)
    field, choices = chance.choice((("operator", OPERATORS), ("key", KEYS), ("minValues", [1, 2, 50, 51]),
                                    ("values", [[], ["1"], ["1", "2"], None, "m5", [None]])))
    requirement[field] = chance.choice(choices)
    return f"requirement with {field} {requirement[field]!r}"


def add_label(pool, chance):
    key, value = str(chance.choice(KEYS)), chance.choice(VALUES)
    at(pool, "spec", "template", "metadata", "labels")[key] = value
    return f"label {key!r}: {value!r}"


def add_taint(pool, chance):
    field = chance.choice(("taints", "startupTaints"))
    taints = listed(at(pool, "spec", "template", "spec"), field)
    taint = some(chance, key=(KEYS, 0.95), value=(VALUES, 0.6),
                 effect=(EFFECTS[:3] * 3 + EFFECTS, 0.95))
    taints.extend([taint, dict(taint)] if chance.random() < 0.25 else [taint])
    return f"{field} {taint}"


def repeat_taint(pool, chance):
    """One of taints among startupTaints, too, perhaps with another value."""
    template = at(pool, "spec", "template", "spec")
    taint = {"key": "example.com/boot", "effect": "NoSchedule"}
    listed(template, "taints").append(taint)
    second = dict(taint, value=chance.choice(("a", "")), effect=chance.choice(EFFECTS[:3]))
    listed(template, chance.choice(("taints", "startupTaints"))).append(second)
    return f"taint {taint} and {second}"


def set_duration(pool, chance):
    place = chance.choice((("template", "spec", "expireAfter"), ("template", "spec", "terminationGracePeriod"),
                           ("disruption", "consolidateAfter")))
    value = chance.choice(DURATIONS)
    at(pool, "spec", *place[:-1])[place[-1]] = value
    return f"{place[-1]} {value!r}"


def add_budget(pool, chance):
    budget = some(chance, nodes=(["10%", "0", "5", "100%", "101%", "0%", "05%", "-1", "1.5", 5, "", "20 %",
                                        "99999999999", "9223372036854775808"], 0.9),
                  schedule=(SCHEDULES, 0.7), duration=(BUDGET_DURATIONS[:4] * 3 + BUDGET_DURATIONS, 0.7),
                  reasons=([["Empty"], ["Drifted", "Underutilized"], [], ["Unhealthy"], ["empty"],
                            ["Empty", "Empty"], None], 0.3))
    listed(at(pool, "spec", "disruption"), "budgets").append(budget)
    return f"budget {budget}"


def set_limit(pool, chance):
    name = chance.choice(("cpu", "memory", "nodes", "nvidia.com/gpu", "cpus"))
    value = chance.choice(QUANTITIES)
    at(pool, "spec", "limits")[name] = value
    return f"limit {name} {value!r}"


def set_plain(pool, chance):
    field, choices = chance.choice((("weight", [0, 1, 100, 101, -1, "5", 1.5, None]),
                                    ("replicas", [0, 3, -1, "3", 2 ** 40, None]),
                                    ("requirements", [[], [{"key": "a", "operator": "Exists"}]]),
                                    ("taints", [[]]), ("limits", [None, [], "100"]),
                                    ("template", [None, {}, {"spec": None}]),
                                    ("disruption", [None, {}, [], {"consolidationPolicy": "WhenUnderutilized"},
                                                    {"consolidationPolicy": "Balanced"}])))
    at(pool, "spec")[field] = chance.choice(choices)
    return f"spec.{field} {pool['spec'][field]!r}"


def change_class_reference(pool, chance):
    reference = at(pool, "spec", "template", "spec", "nodeClassRef")
    field = chance.choice(("group", "kind", "name"))
    value = chance.choice(("", None, "karpenter.k8s.aws/v1", "EC2NodeClass", 5))
    reference[field] = value
    if chance.random() < 0.3:
        reference["apiVersion"] = "karpenter.k8s.aws/v1beta1"
    return f"nodeClassRef.{field} {value!r}"


# ---- EC2NodeClasses ----


def set_kubelet(node_class, chance):
    signals = ["memory.available", "nodefs.available", "nodefs.free", "pid.available"]
    thresholds = ["5%", "101%", "-1%", "500Mi", "-500Mi", "lots", "", 5]
    resources = ["cpu", "memory", "pid", "ephemeral-storage", "gpu"]
    whole = [0, 1, 85, 100, 101, -1, "85", 1.5, None]
    field, value = chance.choice((
        (chance.choice(("evictionHard", "evictionSoft", "evictionMinimumReclaim")),
         {chance.choice(signals): chance.choice(thresholds)}),
        ("evictionSoftGracePeriod", {chance.choice(signals): chance.choice(DURATIONS[:12])}),
        (chance.choice(("kubeReserved", "systemReserved")),
         {chance.choice(resources): chance.choice(QUANTITIES)}),
        (chance.choice(("imageGCHighThresholdPercent", "imageGCLowThresholdPercent", "podsPerCore", "maxPods",
                        "evictionMaxPodGracePeriod")), chance.choice(whole)),
        ("registerWithTaints", []), ("clusterDNS", chance.choice((["10.0.0.1"], ["10.0.0.1", "10.0.0.2"], "10.0.0.1"))),
        ("cpuCFSQuota", chance.choice((True, "true"))), ("maxPod", 30), ("topologyManagerPolicy", "best-effort")))
    at(node_class, "spec", "kubelet")[field] = value
    if field == "evictionSoft" and chance.random() < 0.6:
        at(node_class, "spec", "kubelet")["evictionSoftGracePeriod"] = {key: "1m" for key in value}
    if field == "imageGCHighThresholdPercent" and chance.random() < 0.5:
        at(node_class, "spec", "kubelet")["imageGCLowThresholdPercent"] = chance.choice((50, 85, 99))
    return f"kubelet.{field} {value!r}"


def set_images(node_class, chance):
    term = chance.choice(({"alias": "al2023@latest"}, {"alias": "al2023"}, {"alias": "ubuntu@latest"},
                          {"alias": "windows2022@v1"}, {"id": "ami-123"}, {"id": "123"}, {"name": "x*"},
                          {"tags": {"a": ""}}, {"tags": {}}, {}, {"owner": "self"}, {"ssmParameter": "/a/b"},
                          {"alias": "al2@latest", "id": "ami-1"}, None, "al2023@latest"))
    if chance.random() < 0.5:
        at(node_class, "spec")["amiSelectorTerms"] = [term]
    else:
        listed(at(node_class, "spec"), "amiSelectorTerms").append(term)
    if chance.random() < 0.4:
        at(node_class, "spec")["amiFamily"] = chance.choice(("AL2023", "AL2", "Custom", "Bottlerocket", "Ubuntu", None))
    return f"image {term}"


def set_disk(node_class, chance):
    ebs = some(chance, volumeSize=(["100Gi", "100G", "64Ti", "65Ti", "100", 100, "100gi", None], 0.8),
               encrypted=([True, False, "true", None], 0.6), iops=([3000, "3000", -1], 0.3),
               volumeType=(["gp3", "gp4", None], 0.4), snapshotID=(["snap-1", ""], 0.2),
               volumeInitializationRate=([100, 99, 301], 0.1))
    listed(at(node_class, "spec"), "blockDeviceMappings").append(
        {"deviceName": chance.choice(("/dev/xvda", "/dev/xvdb", "")), "ebs": ebs,
         **({"rootVolume": True} if chance.random() < 0.3 else {})})
    return f"disk {ebs}"


def set_class_field(node_class, chance):
    field, choices = chance.choice((
        ("role", ["", None, "a"]), ("instanceProfile", ["", "a"]), ("subnetSelectorTerms", [[], [{}], None]),
        ("securityGroupSelectorTerms", [[], [{"id": "x"}], [{"name": "x"}]]),
        ("metadataOptions", [{"httpTokens": "optional"}, {"httpTokens": "no"}, {"httpPutResponseHopLimit": 65},
                             {"httpPutResponseHopLimit": 2}, []]),
        ("tags", [{"": "a"}, {"kubernetes.io/cluster/x": "owned"}, {"team": None}, {"team": "a"}, []]),
        ("instanceStorePolicy", ["RAID0", "RAID1"]), ("userData", ["#!/bin/sh", 5]),
        ("kubelet", [None, {}, [], "maxPods"]), ("associatePublicIPAddress", [True, "yes"]), ("unheardOf", [1])))
    at(node_class, "spec")[field] = chance.choice(choices)
    return f"spec.{field} {node_class['spec'][field]!r}"


# ---- either ----


def places(value, path=()):
    for key, child in value.items() if isinstance(value, dict) else enumerate(value):
        # Of a kubelet's settings we know the type of those alone that Karpenter uses itself.
        if (path or key == "spec") and key != "topologyManagerPolicy":
            yield value, key, (*path, str(key))
        if isinstance(child, (dict, list)) and (path or key == "spec"):
            yield from places(child, (*path, str(key)))


def break_type(item, chance):
    at(item, "spec")
    owner, key, path = chance.choice(list(places(item)))
    value = chance.choice((None, 0, -1, 2.5, True, "", "x", [], {}, [[]], {"a": {"b": []}}, "0" * 300))
    owner[key] = value
    return f"{'.'.join(path)} {value!r}"


def remove_field(item, chance):
    at(item, "spec")
    owner, key, path = chance.choice(list(places(item)))
    del owner[key]
    return f"no {'.'.join(path)}"


CHANGES = {
    "NodePool": [add_requirement, add_requirement, add_requirement, change_requirement, add_label, add_label,
                 add_taint, add_taint, repeat_taint, set_duration, set_duration, add_budget, add_budget,
                 add_budget, set_limit, set_limit, set_plain, change_class_reference, break_type, remove_field],
    "EC2NodeClass": [set_kubelet, set_kubelet, set_kubelet, set_images, set_disk, set_class_field, break_type,
                     remove_field],
}
