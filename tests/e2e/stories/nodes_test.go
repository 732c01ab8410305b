package stories

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"taffrail.dev/tests/e2e/binder"
)

var zones = []string{"test-zone-a", "test-zone-b", "test-zone-c"}

var nodesOnce sync.Once

// withNodes starts what makes nodes and puts pods on them, and leaves no node behind.
func (w *world) withNodes(t *testing.T) {
	t.Helper()
	var err error
	nodesOnce.Do(func() {
		if err = w.plane.Start("kube-scheduler", "kwok", "karpenter"); err != nil {
			return
		}
		go func() {
			if err := binder.Run(w.ctx, w.client, 0); err != nil {
				fmt.Println("binder:", err)
			}
		}()
	})
	if err != nil {
		t.Fatal(err)
	}
	w.admin(t, nodesYAML(), "apply", "-f", "-").works(t)
	t.Cleanup(func() {
		w.admin(t, "", "delete", "nodepool", "general").works(t)
		w.noNodes(t)
	})
}

// Machines of four processors in three zones, and disks that are made where their pod runs.
func nodesYAML() string {
	pool := nodePoolYAML("general", fmt.Sprintf(`
        - {key: karpenter.kwok.sh/instance-cpu, operator: In, values: ["4"]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: kubernetes.io/os, operator: In, values: [linux]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [%s]}`, strings.Join(zones, ", ")),
		"  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 600s}\n")
	return pool + fmt.Sprintf(`---
apiVersion: karpenter.kwok.sh/v1alpha1
kind: KWOKNodeClass
metadata: {name: default}
spec: {}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: zonal}
provisioner: %s
volumeBindingMode: WaitForFirstConsumer
`, binder.Driver)
}

// A stateful is one measurement: a StatefulSet with a disk for each pod.
type stateful struct {
	namespace string
	replicas  int
}

func (s stateful) yaml() string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: StatefulSet
metadata: {name: ledger, namespace: %s}
spec:
  replicas: %d
  podManagementPolicy: Parallel
  serviceName: ledger
  selector: {matchLabels: {app: ledger}}
  template:
    metadata: {labels: {app: ledger}}
    spec:
      terminationGracePeriodSeconds: 0
      containers:
        - name: main
          image: registry.example.com/ledger:1
          resources: {requests: {cpu: "1", memory: 128Mi}}
          volumeMounts: [{name: data, mountPath: /data}]
  volumeClaimTemplates:
    - metadata: {name: data}
      spec:
        storageClassName: zonal
        accessModes: [ReadWriteOnce]
        resources: {requests: {storage: 1Gi}}
`, s.namespace, s.replicas)
}

// What is seen of a set's pods.
type placement struct {
	running     int
	zone        map[string]string // of a pod's node, by pod
	pin         map[string]string // the annotation, by pod
	volume      map[string]string // of a pod's disk, by pod
	nodes       int
	notMatching []string // pods that run where their pin or their disk is not
}

func (w *world) placement(namespace string) (placement, error) {
	p := placement{zone: map[string]string{}, pin: map[string]string{}, volume: map[string]string{}}
	ctx := w.ctx
	pods, err := w.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return p, err
	}
	nodes, err := w.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return p, err
	}
	volumes, err := w.client.CoreV1().PersistentVolumes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return p, err
	}
	zoneOf := map[string]string{}
	for _, node := range nodes.Items {
		if node.DeletionTimestamp == nil {
			zoneOf[node.Name] = node.Labels[corev1.LabelTopologyZone]
			p.nodes++
		}
	}
	for _, volume := range volumes.Items {
		if claim := volume.Spec.ClaimRef; claim != nil && claim.Namespace == namespace {
			p.volume[strings.TrimPrefix(claim.Name, "data-")] =
				volume.Spec.NodeAffinity.Required.NodeSelectorTerms[0].MatchExpressions[0].Values[0]
		}
	}
	for _, pod := range pods.Items {
		if pod.DeletionTimestamp != nil {
			continue
		}
		p.pin[pod.Name] = pod.Annotations["taffrail.dev/zone"]
		zone, here := zoneOf[pod.Spec.NodeName]
		if pod.Status.Phase != corev1.PodRunning || !here {
			continue
		}
		p.running++
		p.zone[pod.Name] = zone
		if volume := p.volume[pod.Name]; volume != zone {
			p.notMatching = append(p.notMatching, fmt.Sprintf("%s in %s, its disk in %s", pod.Name, zone, volume))
		}
	}
	return p, nil
}

// perZone is how many pods each zone has, as "7 7 6", and the largest difference.
func perZone(of map[string]string) (string, int) {
	counts := make([]int, len(zones))
	for _, zone := range of {
		for i, name := range zones {
			if zone == name {
				counts[i]++
			}
		}
	}
	text := strings.Trim(fmt.Sprint(counts), "[]")
	sort.Ints(counts)
	return text, counts[len(counts)-1] - counts[0]
}

// settle waits until so many pods run, and tells what was seen last.
func (w *world) settle(t *testing.T, namespace string, replicas int, limit time.Duration) (placement, time.Duration) {
	t.Helper()
	began := time.Now()
	var seen placement
	var err error
	_ = wait(limit, func() error {
		if seen, err = w.placement(namespace); err == nil && seen.running < replicas {
			err = fmt.Errorf("%d of %d run", seen.running, replicas)
		}
		return err
	})
	return seen, time.Since(began)
}

// noNodes takes all nodes away, and waits until they are.
func (w *world) noNodes(t *testing.T) {
	t.Helper()
	w.admin(t, "", "delete", "nodeclaims", "--all", "--wait=false").works(t)
	w.within(t, 2*time.Minute, "no nodes", func() error {
		nodes, err := w.client.CoreV1().Nodes().List(w.ctx, metav1.ListOptions{})
		if err == nil && len(nodes.Items) > 0 {
			err = fmt.Errorf("%d nodes", len(nodes.Items))
		}
		return err
	})
}

// removeSet takes a set, its claims and its disks away.
func (w *world) removeSet(t *testing.T, namespace string) {
	t.Helper()
	w.admin(t, "", "-n", namespace, "delete", "statefulset,pvc,pods", "--all", "--grace-period=0",
		"--force", "--wait=false")
	volumes, err := w.client.CoreV1().PersistentVolumes().List(w.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, volume := range volumes.Items {
		if volume.Spec.ClaimRef != nil && volume.Spec.ClaimRef.Namespace == namespace {
			_ = w.client.CoreV1().PersistentVolumes().Delete(context.Background(), volume.Name, metav1.DeleteOptions{})
		}
	}
	w.eventually(t, "no pods in "+namespace, func() error {
		pods, err := w.client.CoreV1().Pods(namespace).List(w.ctx, metav1.ListOptions{
			LabelSelector: labels.Everything().String(),
		})
		if err == nil && len(pods.Items) > 0 {
			err = fmt.Errorf("%d pods", len(pods.Items))
		}
		return err
	})
}
