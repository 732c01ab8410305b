package stories

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"strings"
)

// A generated cluster: a NodePool that is changed, another that is not, and what runs on them. All names begin with its
// id, and all its nodes have the id as a label, so that clusters live beside each other.
type generated struct {
	id        string
	pool      map[string]any // "ID-general"
	bystander map[string]any // "ID-batch"
	manifest  string         // all else: the namespace, node classes, workloads
	pods      int            // of all Deployments
	passing   bool           // a Deployment goes before the change, and leaves empty nodes behind
	optsOut   bool           // a node has the annotation karpenter.sh/do-not-disrupt
}

const (
	agreementLabel = "agreement"
	zoneKey        = "topology.kubernetes.io/zone"
	capacityKey    = "karpenter.sh/capacity-type"
	processorsKey  = "karpenter.kwok.sh/instance-cpu"
)

// Budgets of every sort: none, numbers, shares, closed, by reason, by schedules that are always and never active.
var agreementBudgets = []string{
	"", `[]`,
	`[{"nodes": "1"}]`, `[{"nodes": "2"}]`, `[{"nodes": "3"}]`,
	`[{"nodes": "20%"}]`, `[{"nodes": "50%"}]`, `[{"nodes": "100%"}]`,
	`[{"nodes": "0"}]`, `[{"nodes": "0", "reasons": ["Drifted"]}]`,
	`[{"nodes": "0", "reasons": ["Empty", "Underutilized"]}, {"nodes": "2"}]`,
	`[{"nodes": "100%"}, {"nodes": "1", "schedule": "0 0 * * *", "duration": "24h"}]`,
	`[{"nodes": "60%"}, {"nodes": "0", "schedule": "0 0 29 2 *", "duration": "1h"}]`,
}

// dice are a source of chance.
type dice struct{ *rand.Rand }

func (d dice) percent(of int) bool { return d.Intn(100) < of }

func (d dice) one(of ...string) string { return of[d.Intn(len(of))] }

// some are at least so many of a list, in any order.
func (d dice) some(least int, of ...string) []string {
	d.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
	return of[:least+d.Intn(len(of)-least+1)]
}

// generate makes the same cluster of the same seed, whatever its id.
func generate(seed int64, id string) generated {
	d := dice{rand.New(rand.NewSource(seed))}
	g := generated{id: id, optsOut: d.percent(25), passing: d.percent(65)}
	g.pool = d.pool(id, "general")
	g.bystander = d.pool(id, "batch")
	var all strings.Builder
	fmt.Fprintf(&all, "apiVersion: v1\nkind: Namespace\nmetadata: {name: %s}\n", id)
	for _, class := range []string{id, id + "-other"} {
		fmt.Fprintf(&all, "---\napiVersion: karpenter.kwok.sh/v1alpha1\nkind: KWOKNodeClass\n"+
			"metadata: {name: %s}\nspec: {}\n", class)
	}
	if d.percent(50) {
		all.WriteString(agentYAML(id))
	}
	for _, l := range d.loads(g) {
		g.pods += l.replicas
		all.WriteString(l.yaml(id))
	}
	all.WriteString(canaryYAML(id))
	g.manifest = all.String()
	return g
}

func (d dice) pool(id, name string) map[string]any {
	spec := map[string]any{
		"nodeClassRef": map[string]any{"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": id},
		"taints":       []any{map[string]any{"key": "for", "value": name, "effect": "NoSchedule"}},
		"requirements": []any{
			in("kubernetes.io/arch", "amd64"), in("kubernetes.io/os", "linux"), in(processorsKey, "2", "4", "8"),
			in(zoneKey, d.some(2, zones[0], zones[1], zones[2])...),
			in(capacityKey, d.some(1, "spot", "on-demand")...),
		},
	}
	if life := d.one("", "720h", "Never", "336h"); life != "" {
		spec["expireAfter"] = life
	}
	if d.percent(25) {
		spec["terminationGracePeriod"] = "1h"
	}
	disruption := map[string]any{"consolidationPolicy": "WhenEmpty", "consolidateAfter": "Never"}
	d.setBudgets(disruption)
	pool := map[string]any{
		"apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": map[string]any{"name": id + "-" + name},
		"spec": map[string]any{
			"weight": 1 + d.Intn(20), "disruption": disruption,
			"template": map[string]any{
				"metadata": map[string]any{"labels": map[string]any{agreementLabel: id, "team": "red"}}, "spec": spec,
			},
		},
	}
	if d.percent(50) {
		at(pool, "spec")["limits"] = map[string]any{"cpu": "1000"}
	}
	return pool
}

func (d dice) setBudgets(disruption map[string]any) {
	delete(disruption, "budgets")
	if chosen := d.one(agreementBudgets...); chosen != "" {
		var budgets []any
		if err := json.Unmarshal([]byte(chosen), &budgets); err != nil {
			panic(err)
		}
		disruption["budgets"] = budgets
	}
}

// in is a requirement.
func in(key string, values ...string) map[string]any {
	list := make([]any, len(values))
	for i, value := range values {
		list[i] = value
	}
	return map[string]any{"key": key, "operator": "In", "values": list}
}

// at is the map below a map where the path says.
func at(object map[string]any, path ...string) map[string]any {
	for _, key := range path {
		object = object[key].(map[string]any)
	}
	return object
}

// requirement is that of a NodePool about a key.
func requirement(pool map[string]any, key string) map[string]any {
	for _, item := range at(pool, "spec", "template", "spec")["requirements"].([]any) {
		if found := item.(map[string]any); found["key"] == key {
			return found
		}
	}
	return nil
}

// A load is a Deployment of one of the NodePools.
type load struct {
	name, pool   string
	replicas     int
	cpu          string
	zone         string
	apart, stays bool   // one to a node; with karpenter.sh/do-not-disrupt
	tolerates    string // a taint beside that of the NodePool
	budget       string // a line of the spec of a PodDisruptionBudget
}

func (d dice) loads(g generated) []load {
	var all []load
	zones := requirement(g.pool, zoneKey)["values"].([]any)
	for i := range 3 + d.Intn(3) {
		l := load{
			name: fmt.Sprintf("load-%d", i), pool: "general", replicas: 2 + d.Intn(5),
			cpu: d.one("500m", "1", "1500m", "3"), apart: d.percent(50), stays: d.percent(15),
		}
		if d.percent(40) {
			l.zone = zones[d.Intn(len(zones))].(string)
		}
		if d.percent(50) {
			l.tolerates = "maintenance"
		}
		if d.percent(30) {
			l.budget = d.one("maxUnavailable: 0", "maxUnavailable: 1", "maxUnavailable: 50%", "minAvailable: 1",
				"minAvailable: 100%", "minAvailable: 50%")
		}
		all = append(all, l)
	}
	all = append(all, load{name: "batch", pool: "batch", replicas: 1 + d.Intn(2), cpu: "1", apart: true})
	if g.passing {
		all = append(all, load{name: "passing", pool: "general", replicas: 1 + d.Intn(2), cpu: "3500m", apart: true})
	}
	return all
}

func (l load) yaml(id string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `---
apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata:
      labels: {app: %[1]s}
      annotations: {karpenter.sh/do-not-disrupt: "%[4]v"}
    spec:
      terminationGracePeriodSeconds: 0
      nodeSelector: {karpenter.sh/nodepool: %[2]s-%[5]s%[6]s}
      tolerations: [{key: for, operator: Exists}%[7]s]
`, l.name, id, l.replicas, l.stays, l.pool, keyed(", "+zoneKey+": ", l.zone), keyed(", {operator: Exists, key: ", l.tolerates, "}"))
	if l.apart {
		fmt.Fprintf(&b, `      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
            - topologyKey: kubernetes.io/hostname
              labelSelector: {matchLabels: {app: %s}}
`, l.name)
	}
	fmt.Fprintf(&b, "      containers: [{name: main, image: none, resources: {requests: {cpu: %q, memory: 64Mi}}}]\n", l.cpu)
	if l.budget != "" {
		fmt.Fprintf(&b, "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: %[1]s, namespace: %[2]s}\n"+
			"spec: {selector: {matchLabels: {app: %[1]s}}, %[3]s}\n", l.name, id, l.budget)
	}
	return b.String()
}

// keyed is a value between its words; nothing without a value.
func keyed(before, value string, after ...string) string {
	if value == "" {
		return ""
	}
	return before + value + strings.Join(after, "")
}

// An agent on all nodes of a cluster.
func agentYAML(id string) string {
	return fmt.Sprintf(`---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: %[1]s}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      terminationGracePeriodSeconds: 0
      nodeSelector: {%[2]s: %[1]s}
      tolerations: [{operator: Exists}]
      containers: [{name: main, image: none, resources: {requests: {cpu: 100m, memory: 32Mi}}}]
`, id, agreementLabel)
}

// The canary has a NodePool and a node class of its own, and no pod yet.
func canaryYAML(id string) string {
	pool := fmt.Sprintf(`---
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: canary}
spec: {}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %[1]s-canary}
spec:
  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: Never, budgets: [{nodes: 100%%}]}
  template:
    metadata: {labels: {%[2]s: %[1]s}}
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: canary}
      requirements:
        - {key: karpenter.kwok.sh/instance-cpu, operator: In, values: ["2"]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
`, id, agreementLabel)
	return pool + load{name: "canary", pool: "canary", cpu: "1"}.yaml(id)
}
