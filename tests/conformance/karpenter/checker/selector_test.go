package main

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const zoneKey = "topology.kubernetes.io/zone"

func nodeIn(t *testing.T, zone string) *corev1.Node {
	return must(read[corev1.Node]([]byte(fmt.Sprintf(`
metadata: {name: in-%[1]s, labels: {kubernetes.io/hostname: in-%[1]s, %[2]s: %[1]s}}
status: {allocatable: {cpu: "8", memory: 8Gi, pods: "20"}, capacity: {cpu: "8", memory: 8Gi, pods: "20"}}
`, zone, zoneKey))))(t)
}

// A claim and its volume in a zone, bound to each other.
func volumeIn(t *testing.T, name, zone string) []runtime.Object {
	volume := must(read[corev1.PersistentVolume]([]byte(fmt.Sprintf(`
metadata: {name: %[1]s, annotations: {pv.kubernetes.io/bound-by-controller: "yes"}}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: zonal
  claimRef: {namespace: default, name: %[1]s, uid: %[1]s}
  nodeAffinity: {required: {nodeSelectorTerms: [
    {matchExpressions: [{key: %[3]s, operator: In, values: [%[2]s]}]}]}}
status: {phase: Bound}
`, name, zone, zoneKey))))(t)
	claim := must(read[corev1.PersistentVolumeClaim]([]byte(fmt.Sprintf(`
metadata: {namespace: default, name: %[1]s, uid: %[1]s, annotations: {pv.kubernetes.io/bind-completed: "yes"}}
spec: {storageClassName: zonal, volumeName: %[1]s, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
status: {phase: Bound}
`, name))))(t)
	return []runtime.Object{volume, claim}
}

func spreadPod(t *testing.T, name, more string) *corev1.Pod {
	return must(read[corev1.Pod]([]byte(fmt.Sprintf(`
metadata: {namespace: default, name: %[1]s, uid: %[1]s, labels: {app: db}}
spec:
  containers: [{name: main, resources: {requests: {cpu: 100m}}}]
  volumes: [{name: data, persistentVolumeClaim: {claimName: %[1]s}}]
  topologySpreadConstraints: [{maxSkew: 1, minDomains: 3, topologyKey: %[2]s,
    whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: db}}}]
%[3]s`, name, zoneKey, more))))(t)
}

func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// Why the zone pin only annotates a pod with a spread: four pods whose volumes are in zones a, b, c and
// again a may all start, by minDomains 3. What a selector of its zone leaves of the second pod in a is
// one domain, fewer than three: then the least is taken to be none, and it waits for ever.
func TestSelectorStarvesSpread(t *testing.T) {
	class := must(read[storagev1.StorageClass]([]byte(`
metadata: {name: zonal}
provisioner: csi.example.com
volumeBindingMode: WaitForFirstConsumer
`)))(t)
	var nodes []*corev1.Node
	objects := []runtime.Object{class}
	for _, zone := range []string{"a", "b", "c"} {
		nodes = append(nodes, nodeIn(t, zone))
		objects = append(objects, nodes[len(nodes)-1])
	}
	zones := []string{"a", "b", "c", "a"}
	for i, zone := range zones {
		objects = append(objects, volumeIn(t, fmt.Sprintf("db-%d", i), zone)...)
	}
	s := must(newScheduler(objects))(t)
	defer s.stop()
	var bound []*corev1.Pod
	for i, zone := range zones {
		name, node := fmt.Sprintf("db-%d", i), "in-"+zone
		s.set(bound, nodes)
		pinned := spreadPod(t, name, fmt.Sprintf("  nodeSelector: {%s: %s}", zoneKey, zone))
		refused := s.refuses(pinned, node)
		if i < 3 && refused != "" || i == 3 && !strings.Contains(refused, "PodTopologySpread") {
			t.Errorf("%s with a selector: %q", name, refused)
		}
		pod := spreadPod(t, name, "")
		if refused := s.refuses(pod, node); refused != "" {
			t.Errorf("%s without a selector: %q", name, refused)
		}
		pod.Spec.NodeName = node
		bound = append(bound, pod)
	}
}
