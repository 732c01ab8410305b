package stories

import (
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const pinReplicas = 20

const pinPolicy = `apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: pin}
spec:
  mode: enforce
  rails:
    capacity-types: {}
    zone-pin: {unbound: %s}
`

// policyFile writes a policy for the guard to be restarted with.
func (w *world) policyFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(w.guard.dir, name+".yaml")
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A row of the table that the story ends with.
type pinRow struct {
	seed         int64
	mode         string
	nodes, stuck int
	pins, pods   string
	seconds      time.Duration
	again        placement
	againStuck   int
	againSeconds time.Duration
}

// A StatefulSet of 20 pods with a disk each, with real kube-scheduler and Karpenter, first without Taffrail, then with
// both ways of pinning: what is only preferred kube-scheduler gives up for room on a node that is there, hence two
// columns. Afterwards all pods and nodes are taken away, and each pod has to come back to its disk.
func TestZonePin(t *testing.T) {
	shared.withNodes(t)
	var rows []pinRow
	t.Cleanup(func() {
		if err := shared.guard.restart(false, "testdata/policy.yaml"); err != nil {
			t.Error(err)
		}
	})
	for seed := *seedFlag; seed < *seedFlag+int64(*seedsFlag); seed++ {
		for _, mode := range []string{"none", "prefer", "require"} {
			t.Run(fmt.Sprintf("%s-%d", mode, seed), func(t *testing.T) {
				rows = append(rows, pinOnce(t, mode, seed))
			})
		}
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-5s %-8s %-6s %-9s %-9s %-6s %-8s  %s\n", "seed", "pin", "nodes", "pins", "pods",
		"stuck", "seconds", "after all nodes went: nodes, pods, stuck, not with their disk, seconds")
	for _, row := range rows {
		pods, _ := perZone(row.again.zone)
		fmt.Fprintf(&table, "%-5d %-8s %-6d %-9s %-9s %-6d %-8.1f  %d, %s, %d, %d, %.1f\n", row.seed, row.mode,
			row.nodes, row.pins, row.pods, row.stuck, row.seconds.Seconds(), row.again.nodes, pods, row.againStuck,
			len(row.again.notMatching), row.againSeconds.Seconds())
	}
	t.Logf("%d pods, each with a disk:\n%s", pinReplicas, table.String())
}

func pinOnce(t *testing.T, mode string, seed int64) pinRow {
	w := shared
	random := rand.New(rand.NewSource(seed))
	first := 1 + random.Intn(pinReplicas/2)
	t.Logf("seed %d: %d pods, then %d", seed, first, pinReplicas)
	run := func() error { return nil }
	row := pinRow{seed: seed, mode: mode}
	story := func() error {
		space := w.namespace(t, nil)
		defer w.noNodes(t)
		defer w.removeSet(t, space)
		const limit = 3 * time.Minute
		set := stateful{space, first}
		w.admin(t, set.yaml(), "apply", "-f", "-").works(t)
		_, began := w.settle(t, space, first, limit)
		w.admin(t, "", "-n", space, "scale", "statefulset/ledger", fmt.Sprintf("--replicas=%d", pinReplicas)).works(t)
		seen, rest := w.settle(t, space, pinReplicas, limit)
		row.nodes, row.stuck, row.seconds = seen.nodes, pinReplicas-seen.running, began+rest
		row.pods, _ = perZone(seen.zone)
		var unbalanced int
		row.pins, unbalanced = perZone(seen.pin)
		if row.stuck > 0 {
			t.Errorf("%d pods are stuck after %s\n%s", row.stuck, limit, w.pending(space))
		}
		if len(seen.notMatching) > 0 {
			t.Errorf("pods without their disks: %v", seen.notMatching)
		}
		if mode == "require" && unbalanced > 1 {
			t.Errorf("the pins are %s, and were to be balanced", row.pins)
		}
		if mode == "require" {
			for pod, pin := range seen.pin {
				if seen.zone[pod] != pin {
					t.Errorf("%s is pinned to %q and runs in %q", pod, pin, seen.zone[pod])
				}
			}
		}

		w.admin(t, "", "delete", "nodeclaims", "--all", "--wait=false").works(t)
		w.admin(t, "", "-n", space, "delete", "pods", "--all", "--wait=false").works(t)
		disks := seen.volume
		row.again, row.againSeconds = w.settle(t, space, pinReplicas, limit)
		row.againStuck = pinReplicas - row.again.running
		if row.againStuck > 0 {
			t.Errorf("%d pods did not come back after %s\n%s", row.againStuck, limit, w.pending(space))
		}
		for pod, zone := range row.again.zone {
			if zone != disks[pod] {
				t.Errorf("%s came back in %s, its disk is in %s", pod, zone, disks[pod])
			}
			if pin := row.again.pin[pod]; mode != "none" && pin != disks[pod] {
				t.Errorf("%s, whose disk is in %s, is pinned to %q", pod, disks[pod], pin)
			}
		}
		return nil
	}
	if mode == "none" {
		run = func() error { return w.guard.without(story) }
	} else {
		if err := w.guard.restart(false, w.policyFile(t, "pin-"+mode, fmt.Sprintf(pinPolicy, mode))); err != nil {
			t.Fatal(err)
		}
		run = story
	}
	if err := run(); err != nil {
		t.Fatal(err)
	}
	return row
}

// pending says of the pods that do not run why the scheduler says they do not.
func (w *world) pending(namespace string) string {
	pods, err := w.client.CoreV1().Pods(namespace).List(w.ctx, metav1.ListOptions{})
	if err != nil {
		return err.Error()
	}
	var said strings.Builder
	for _, pod := range pods.Items {
		for _, condition := range pod.Status.Conditions {
			if condition.Type == "PodScheduled" && condition.Status == "False" {
				fmt.Fprintf(&said, "%s (pinned to %q, selecting %v): %s\n", pod.Name,
					pod.Annotations["taffrail.dev/zone"], pod.Spec.NodeSelector, condition.Message)
			}
		}
	}
	return said.String()
}
