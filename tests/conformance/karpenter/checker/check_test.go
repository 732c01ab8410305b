package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const state = `
kind: NodePool
metadata: {name: pool}
spec:
  limits: {cpu: "10"}
  template:
    metadata: {labels: {team: red}}
    spec:
      requirements: [{key: karpenter.sh/capacity-type, operator: In, values: [spot]}]
      taints: [{key: dedicated, value: x, effect: NoSchedule}]
---
kind: Node
metadata: {name: there, labels: {kubernetes.io/hostname: there, topology.kubernetes.io/zone: zone-a}}
status: {allocatable: {cpu: "1", memory: 1Gi, pods: "10"}, capacity: {cpu: "1", memory: 1Gi, pods: "10"}}
---
kind: Pod
metadata: {namespace: default, name: guard, labels: {app: guard}}
spec:
  nodeName: there
  containers: [{name: main, resources: {requests: {cpu: 500m}}}]
  affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [
    {topologyKey: topology.kubernetes.io/zone, labelSelector: {matchLabels: {app: shy}}}]}}
---
kind: StorageClass
metadata: {name: zonal}
provisioner: csi.example.com
volumeBindingMode: WaitForFirstConsumer
---
kind: PersistentVolumeClaim
metadata: {namespace: default, name: shared}
spec: {storageClassName: zonal, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
kind: DaemonSet
metadata: {namespace: default, name: daemon}
spec:
  template:
    metadata: {labels: {app: daemon}}
    spec:
      tolerations: [{operator: Exists}]
      containers: [{name: main, resources: {requests: {cpu: 400m}}}]
`

const tolerating = `{namespace: default, name: NAME, labels: {app: LABEL}}
spec:
  tolerations: [{key: dedicated, operator: Exists}]
  containers: [{name: main, resources: {requests: {cpu: CPU}}}]
`

func pendingPod(name, label, cpu, more string) string {
	return "kind: Pod\nmetadata: " + strings.NewReplacer("NAME", name, "LABEL", label, "CPU", cpu).
		Replace(tolerating) + more
}

const (
	spreadZones = "  topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, " +
		"whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: even}}}]\n"
	mountShared = "  volumes: [{name: v, persistentVolumeClaim: {claimName: shared}}]\n"
)

const catalog = `[{"name": "s-4x", "architecture": "amd64", "operatingSystems": ["linux"],
 "resources": {"cpu": "4", "memory": "8Gi"}, "offerings": [
  {"Price": 0.5, "Requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
   {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-a"]}]},
  {"Price": 0.5, "Requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["spot"]},
   {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-b"]}]},
  {"Price": 1, "Requirements": [{"key": "karpenter.sh/capacity-type", "operator": "In", "values": ["on-demand"]},
   {"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["zone-a"]}]}]}]`

func writeCase(t *testing.T, pods ...string) string {
	folder := t.TempDir()
	if err := os.Mkdir(filepath.Join(folder, "cluster"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"cluster/state.yaml": state, "catalog.json": catalog,
		"cluster/pods.yaml": strings.Join(pods, "---\n")} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// A claim of the pool in a zone, with these pods.
func claim(zone string, pods ...string) string {
	text, _ := json.Marshal(pods)
	return `{"nodePool": "pool", "zone": "` + zone + `", "capacityType": "spot", "instanceType": "s-4x",
		"instanceTypes": ["s-4x"], "usdPerHour": 0.5, "pods": ` + string(text) + `}`
}

func TestCheck(t *testing.T) {
	plain := pendingPod("plain-0", "plain", "3600m", "")
	for _, c := range []struct {
		name     string
		pods     []string
		claims   []string
		existing string // on the node that is there
		left     string
		broken   string // what one finding must say; "": there must be none
	}{
		{"well", []string{pendingPod("a-0", "a", "3", "")}, []string{claim("zone-a", "default/a-0")}, "", "", ""},
		{"no room beside the daemon", []string{plain}, []string{claim("zone-a", "default/plain-0")}, "", "",
			"Insufficient cpu"},
		{"no room on the node", []string{plain}, nil, "default/plain-0", "", "Insufficient cpu"},
		{"forgotten", []string{plain}, nil, "", "", "neither placed nor unschedulable"},
		{"left over", []string{plain}, nil, "", "default/plain-0", ""},
		{"twice", []string{pendingPod("a-0", "a", "1m", "")}, []string{claim("zone-a", "default/a-0")},
			"default/a-0", "", "default/a-0 is on"},
		{"unknown", []string{pendingPod("a-0", "a", "3", "")}, []string{claim("zone-a", "default/a-0", "default/b-0")},
			"", "", "no pending pod"},
		{"not tolerated", []string{strings.Replace(pendingPod("a-0", "a", "1", ""), "key: dedicated", "key: other", 1)},
			[]string{claim("zone-a", "default/a-0")}, "", "", "taint"},
		{"no such offering", []string{pendingPod("a-0", "a", "3", "")}, []string{claim("zone-c", "default/a-0")},
			"", "", "not to be had"},
		{"another price", []string{pendingPod("a-0", "a", "3", "")},
			[]string{strings.Replace(claim("zone-a", "default/a-0"), "0.5", "0.4", 1)}, "", "", "costs 0.5"},
		{"not what the pool buys", []string{pendingPod("a-0", "a", "3", "")}, []string{strings.NewReplacer(
			"spot", "on-demand", "0.5", "1").Replace(claim("zone-a", "default/a-0"))}, "", "", "NodePool pool wants"},
		{"empty", []string{}, []string{claim("zone-a")}, "", "", "for no pod"},
		{"over the limit", []string{pendingPod("a-0", "a", "3", ""), pendingPod("a-1", "a", "3", ""), pendingPod("a-2", "a", "3", "")},
			[]string{claim("zone-a", "default/a-0"), claim("zone-a", "default/a-1"), claim("zone-b", "default/a-2")},
			"", "", "over its limit"},
		{"beside whom it must not be", []string{pendingPod("shy-0", "shy", "1", "")},
			[]string{claim("zone-a", "default/shy-0")}, "", "", "InterPodAffinity"},
		{"far enough away", []string{pendingPod("shy-0", "shy", "1", "")},
			[]string{claim("zone-b", "default/shy-0")}, "", "", ""},
		{"spread", []string{pendingPod("e-0", "even", "1", spreadZones), pendingPod("e-1", "even", "1", spreadZones)},
			[]string{claim("zone-a", "default/e-0"), claim("zone-b", "default/e-1")}, "", "", ""},
		{"not spread", []string{pendingPod("e-0", "even", "1", spreadZones), pendingPod("e-1", "even", "1", spreadZones),
			pendingPod("a-0", "a", "1", "")},
			[]string{claim("zone-a", "default/e-0", "default/e-1"), claim("zone-b", "default/a-0")}, "", "", "PodTopologySpread"},
		{"one volume in two zones", []string{pendingPod("v-0", "v", "1", mountShared), pendingPod("v-1", "v", "1", mountShared)},
			[]string{claim("zone-a", "default/v-0"), claim("zone-b", "default/v-1")}, "", "", "another pod came first"},
		{"one volume in one zone", []string{pendingPod("v-0", "v", "1", mountShared), pendingPod("v-1", "v", "1", mountShared)},
			[]string{claim("zone-b", "default/v-0", "default/v-1")}, "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := `{"claims": [` + strings.Join(c.claims, ",") + `]`
			if c.existing != "" {
				text += `, "existing": [{"node": "there", "pods": ["` + c.existing + `"]}]`
			}
			if c.left != "" {
				text += `, "unschedulable": [{"pod": "` + c.left + `"}]`
			}
			asked := &question{Case: writeCase(t, c.pods...)}
			if err := json.Unmarshal([]byte(text+"}"), &asked.Plan); err != nil {
				t.Fatal(err)
			}
			got := answerTo(asked)
			said := strings.Join(got.Broken, "\n") + got.Error
			if c.broken == "" && said != "" || !strings.Contains(said, c.broken) {
				t.Errorf("says %q, not %q", said, c.broken)
			}
		})
	}
}

// Pods of x count those of y, and the other way round. All x have to come first: once two y are in zone-b,
// no x may go there.
func TestReplayFindsTheOrder(t *testing.T) {
	spreading := func(app string) string { return strings.Replace(spreadZones, "app: even", "app: "+app, 1) }
	var pods, near, far []string
	for i := range 8 {
		pods = append(pods, pendingPod(fmt.Sprintf("x-%d", i), "x", "10m", spreading("y")),
			pendingPod(fmt.Sprintf("far-%d", i), "x", "10m", spreading("y")),
			pendingPod(fmt.Sprintf("y-%d", i), "y", "10m", spreading("x")))
		near = append(near, fmt.Sprintf("default/y-%d", i), fmt.Sprintf("default/x-%d", i))
		far = append(far, fmt.Sprintf("default/far-%d", i))
	}
	asked := &question{Case: writeCase(t, pods...)}
	text := `{"claims": [` + claim("zone-b", near...) + "," + claim("zone-a", far...) + "]}"
	if err := json.Unmarshal([]byte(text), &asked.Plan); err != nil {
		t.Fatal(err)
	}
	if got := answerTo(asked); len(got.Broken) > 0 || got.Error != "" {
		t.Errorf("says %q %s of a plan that has an order", got.Broken, got.Error)
	}
}

// While the node that is there is the only one, its zone takes all of them.
func TestPodsOfNodesThatAreThereComeFirst(t *testing.T) {
	var pods []string
	for i := range 4 {
		pods = append(pods, pendingPod(fmt.Sprintf("e-%d", i), "even", "10m", spreadZones))
	}
	text := `{"existing": [{"node": "there", "pods": ["default/e-0", "default/e-1", "default/e-2"]}],
		"claims": [` + claim("zone-b", "default/e-3") + "]}"
	asked := &question{Case: writeCase(t, pods...)}
	if err := json.Unmarshal([]byte(text), &asked.Plan); err != nil {
		t.Fatal(err)
	}
	if got := answerTo(asked); len(got.Broken) > 0 || got.Error != "" {
		t.Errorf("says %q %s of pods that are bound before the node is bought", got.Broken, got.Error)
	}
}

// A node that leaves takes nobody; its pods need a place, but for those that stay or end there. While one stays, so does
// the node, and the pods there count.
func TestLeaving(t *testing.T) {
	const node = `
kind: Node
metadata: {name: leaves, deletionTimestamp: "2026-11-21T00:00:00Z", labels: {kubernetes.io/hostname: leaves}}
status: {allocatable: {cpu: "4", memory: 4Gi, pods: "10"}, capacity: {cpu: "4", memory: 4Gi, pods: "10"}}
`
	on := func(name, metadata string) string {
		return fmt.Sprintf("kind: Pod\nmetadata: {namespace: default, name: %s%s}\nspec: {nodeName: leaves}\n", name, metadata)
	}
	folder := writeCase(t, node, on("moves", ""), on("ends", `, deletionTimestamp: "2026-11-21T00:00:00Z"`),
		on("held", `, annotations: {karpenter.sh/do-not-disrupt: "true"}`))
	w, err := readWorld(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(w.pending) != 1 || w.pending["default/moves"] == nil {
		t.Errorf("pending are %v, not the one that moves", w.pending)
	}
	var names []string
	for _, one := range slices.Concat(w.nodes, w.leaving) {
		names = append(names, one.Name)
	}
	for _, one := range w.running {
		names = append(names, one.Name)
	}
	if got := strings.Join(names, " "); got != "there leaves guard held" {
		t.Errorf("there are %s", got)
	}
	asked := question{Case: folder}
	if err := json.Unmarshal([]byte(`{"existing": [{"node": "leaves", "pods": ["default/moves"]}]}`), &asked.Plan); err != nil {
		t.Fatal(err)
	}
	if got := answerTo(&asked).Broken; !slices.Equal(got, []string{"leaves is being deleted, and takes no pod"}) {
		t.Errorf("says %q of a pod on a node that leaves", got)
	}
}
