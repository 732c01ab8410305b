package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand"
	"slices"
)

// object is a part of a Kubernetes object.
type object map[string]any

func (o object) at(path ...string) any {
	var value any = o
	for _, key := range path {
		inner, _ := value.(object)
		value = inner[key]
	}
	return value
}

func (o object) copy() object {
	bytes, err := json.Marshal(o)
	if err != nil {
		panic(err) // maps, lists and scalars alone
	}
	into := map[string]any{}
	if err := json.Unmarshal(bytes, &into); err != nil {
		panic(err)
	}
	return objects(into).(object)
}

// objects gives the maps of a decoded value their own type.
func objects(value any) any {
	switch value := value.(type) {
	case map[string]any:
		into := object{}
		for key, member := range value {
			into[key] = objects(member)
		}
		return into
	case []any:
		for i := range value {
			value[i] = objects(value[i])
		}
	}
	return value
}

// maker makes the value of a field; nil: the field is absent.
type maker func(random *rand.Rand) any

func pick(values ...any) maker {
	return func(random *rand.Rand) any { return values[random.Intn(len(values))] }
}

// some is absent half of the time.
func some(make maker) maker {
	return func(random *rand.Rand) any {
		if random.Intn(2) == 0 {
			return nil
		}
		return make(random)
	}
}

func list(longest int, make maker) maker {
	return func(random *rand.Rand) any {
		items := []any{}
		for range random.Intn(longest + 1) {
			items = append(items, make(random))
		}
		return items
	}
}

func mapping(longest int, keys, values maker) maker {
	return func(random *rand.Rand) any {
		members := object{}
		for range random.Intn(longest + 1) {
			members[keys(random).(string)] = values(random)
		}
		return members
	}
}

// fields makes an object of its fields.
type fields map[string]maker

// make goes through the fields by name, so that a seed has one outcome.
func (f fields) make(random *rand.Rand) any {
	made := object{}
	for _, key := range slices.Sorted(maps.Keys(f)) {
		if value := f[key](random); value != nil {
			made[key] = value
		}
	}
	return made
}

// change makes some of the fields anew.
func (f fields) change(random *rand.Rand, made object) {
	keys := slices.Sorted(maps.Keys(f))
	for range random.Intn(3) {
		key := keys[random.Intn(len(keys))]
		delete(made, key)
		if value := f[key](random); value != nil {
			made[key] = value
		}
	}
}

var labelKeys = pick("team", "example.com/tier", "topology.kubernetes.io/zone", "karpenter.sh/capacity-type",
	"failure-domain.beta.kubernetes.io/zone", "karpenter.k8s.aws/instance-cpu", "node.kubernetes.io/instance-type")
var labelValues = pick("", "a", "b", "spot", "4", "8", "16")
var words = pick("", "a", "data", "größe", "<a & b>", "x\ty\n", "\u2028", "quote \" \\")

var taint = fields{
	"key":    pick("a", "dedicated", "example.com/gpu"),
	"value":  some(pick("", "a", "true")),
	"effect": pick("NoSchedule", "NoExecute", "PreferNoSchedule"),
}

func requirement(random *rand.Rand) any {
	operator := pick("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Gte", "Lte")(random).(string)
	made := object{"key": labelKeys(random), "operator": operator}
	switch operator {
	case "In", "NotIn":
		values := []any{labelValues(random)}
		for range random.Intn(3) {
			values = append(values, labelValues(random))
		}
		made["values"] = values
	case "Gt", "Lt", "Gte", "Lte":
		made["values"] = []any{pick("0", "4", "8", "20")(random)}
	}
	if random.Intn(8) == 0 {
		made["minValues"] = 1 + random.Intn(3)
	}
	return made
}

var durations = pick("0s", "30s", "48h", "720h", "720h0m0s", "43200m", "1h30m")
var reference = fields{"group": pick("karpenter.k8s.aws"), "kind": pick("EC2NodeClass"),
	"name": pick("default", "default", "other")}
var poolMetadata = fields{"labels": some(mapping(3, labelKeys, labelValues)),
	"annotations": some(mapping(2, labelKeys, words))}
var poolSpec = fields{
	"taints":                 some(list(3, taint.make)),
	"startupTaints":          some(list(2, taint.make)),
	"nodeClassRef":           reference.make,
	"terminationGracePeriod": some(durations),
	"expireAfter":            some(func(random *rand.Rand) any { return pick("Never", durations(random))(random) }),
	"requirements":           list(3, requirement),
}

var sometimes = some(pick(true, false))
var device = fields{
	"deleteOnTermination":      sometimes,
	"encrypted":                sometimes,
	"iops":                     some(pick(0, 3000, 64000)),
	"kmsKeyID":                 some(words),
	"snapshotID":               some(pick("", "snap-1")),
	"throughput":               some(pick(0, 125)),
	"volumeInitializationRate": some(pick(100, 300)),
	"volumeSize":               some(pick("1Gi", "100Gi", "1024Gi", "1Ti", "100G", "1000G", "59000Gi", "64000G", "64Ti", "64T")),
	"volumeType":               some(pick("gp3", "io2")),
}
var mapped = fields{"deviceName": some(pick("", "/dev/xvda", "/dev/xvdb")), "ebs": some(device.make),
	"rootVolume": sometimes}
var networkInterface = fields{"networkCardIndex": pick(0, 1), "deviceIndex": pick(0, 1),
	"interfaceType": pick("interface", "efa-only")}
var kubelet = mapping(4, pick("maxPods", "podsPerCore", "clusterDNS", "evictionHard", "featureGates", "note"),
	pick(0, 110, -1, "a", "<b>", true, []any{"10.0.0.1", 2}, object{"memory.available": "5%", "a": object{"z": 1, "b": "&"}}))

// What of an EC2NodeClass its selectors choose is not among them: no Karpenter knows what an edit of those
// does without asking AWS. They stay as they are.
var classSpec = fields{
	"placementGroupSelector":   some(fields{"name": some(words), "id": some(words)}.make),
	"associatePublicIPAddress": sometimes,
	"ipPrefixCount":            some(pick(0, 3)),
	"userData":                 some(words),
	"role":                     some(pick("role-1", "role-2")),
	"instanceProfile":          some(pick("profile-1", "profile-2")),
	"tags":                     some(mapping(3, words, words)),
	"blockDeviceMappings":      some(list(3, mapped.make)),
	"instanceStorePolicy":      some(pick("RAID0")),
	"networkInterfaces":        some(list(3, networkInterface.make)),
	"detailedMonitoring":       sometimes,
	"metadataOptions": some(fields{"httpEndpoint": some(pick("enabled", "disabled")),
		"httpProtocolIPv6": some(pick("enabled", "disabled")), "httpPutResponseHopLimit": some(pick(1, 2)),
		"httpTokens": some(pick("required", "optional"))}.make),
	"enclaveOptions":     some(fields{"enabled": pick(true, false)}.make),
	"connectionTracking": some(fields{"tcpEstablishedTimeout": some(pick(60, 300)), "udpStreamTimeout": some(pick(60, 180)), "udpTimeout": some(pick(30, 60))}.make),
	"context":            some(words),
	"cpuOptions":         some(fields{"nestedVirtualization": some(pick("enabled", "disabled"))}.make),
	"kubelet":            some(kubelet),
	"amiFamily":          some(pick("AL2", "AL2023", "Bottlerocket", "Custom", "Windows2022")),
}
var images = pick("al2@latest", "al2023@latest", "bottlerocket@latest", "windows2019@latest", "windows2022@latest",
	"windows2025@latest")

// claims makes NodeClaims whose annotation is one of these hashes.
func claims(random *rand.Rand, names hashNames, hashes []string) []object {
	var made []object
	for i := range random.Intn(6) {
		annotations := object{names.hash: hashes[random.Intn(len(hashes))], names.version: names.current}
		switch random.Intn(10) {
		case 0:
			annotations[names.version] = "v0"
		case 1:
			delete(annotations, names.hash)
		case 2:
			delete(annotations, names.version)
		}
		labels := mapping(4, labelKeys, labelValues)(random).(object)
		labels["karpenter.sh/nodepool"] = "general"
		// The one known difference (docs/reference/karpenter.md 6.7): no cloud gives both spellings.
		if labels["topology.kubernetes.io/zone"] != nil {
			delete(labels, "failure-domain.beta.kubernetes.io/zone")
		}
		made = append(made, object{"apiVersion": "karpenter.sh/v1", "kind": "NodeClaim",
			"metadata": object{"name": fmt.Sprintf("claim-%d", i), "annotations": annotations, "labels": labels}})
	}
	return made
}

func annotated(kind, name string, names hashNames, hash string, spec object) object {
	group := "karpenter.sh/v1"
	if kind == "EC2NodeClass" {
		group = "karpenter.k8s.aws/v1"
	}
	return object{"apiVersion": group, "kind": kind, "spec": spec, "metadata": object{"name": name,
		"annotations": object{names.hash: hash, names.version: names.current}}}
}

func poolEdit(random *rand.Rand) (edit, expected, error) {
	template := object{"metadata": poolMetadata.make(random), "spec": poolSpec.make(random)}
	before := annotated("NodePool", "general", poolNames, "", object{"template": template})
	after := before.copy()
	poolMetadata.change(random, after.at("spec", "template", "metadata").(object))
	poolSpec.change(random, after.at("spec", "template", "spec").(object))
	oldHash, oldPool, err := poolHash(before)
	if err != nil {
		return edit{}, expected{}, err
	}
	newHash, newPool, err := poolHash(after)
	if err != nil {
		return edit{}, expected{}, err
	}
	before.at("metadata", "annotations").(object)[poolNames.hash] = oldHash
	want := expected{hash: newHash, changes: oldHash != newHash}
	given := edit{Before: before, After: after, Cluster: claims(random, poolNames, []string{oldHash, oldHash, newHash, "7"})}
	for _, claim := range given.Cluster {
		want.verdicts = append(want.verdicts,
			verdict(drifted(claim, poolNames, oldHash) || unmet(claim, oldPool),
				drifted(claim, poolNames, newHash) || unmet(claim, newPool)))
	}
	return given, want, nil
}

func classEdit(random *rand.Rand) (edit, expected, error) {
	bundle := pick("", "LS0tCA==", "test-ca-bundle")(random).(string)
	spec := classSpec.make(random).(object)
	spec["amiSelectorTerms"] = []any{object{"alias": images(random)}}
	before := annotated("EC2NodeClass", "default", classNames, "", spec)
	after := before.copy()
	classSpec.change(random, after["spec"].(object))
	oldHash, err := classHash(before, bundle)
	if err != nil {
		return edit{}, expected{}, err
	}
	newHash, err := classHash(after, bundle)
	if err != nil {
		return edit{}, expected{}, err
	}
	before.at("metadata", "annotations").(object)[classNames.hash] = oldHash
	want := expected{hash: newHash, changes: oldHash != newHash}
	given := edit{Before: before, After: after, Bundle: bundle,
		Cluster: claims(random, classNames, []string{oldHash, oldHash, newHash, "7"})}
	for _, claim := range given.Cluster {
		want.verdicts = append(want.verdicts, verdict(drifted(claim, classNames, oldHash), drifted(claim, classNames, newHash)))
	}
	pool := object{"nodeClassRef": object{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"}}
	given.Cluster = append(given.Cluster, annotated("NodePool", "general", poolNames, "1",
		object{"template": object{"spec": pool}}))
	return given, want, nil
}
