package stories

import (
	"fmt"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const sincePolicy = `apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: since}
spec:
  mode: enforce
  since: %s
  rails:
    capacity-types: {}
    tolerations: {}
`

// The nodes of a workload that was wrong before the policy came are drained: with `since` its pods come back, and
// without they do not.
func TestDrain(t *testing.T) {
	w := shared
	w.withNodes(t)
	t.Cleanup(func() {
		if err := w.guard.restart(false, "testdata/policy.yaml"); err != nil {
			t.Error(err)
		}
	})
	space := w.namespace(t, nil)
	old := deployment{namespace: space, name: "shop", replicas: 6, more: "tolerations: [{operator: Exists, effect: NoExecute}]"}
	if err := w.guard.without(func() error {
		w.kubectl(t, old.yaml(), "apply", "-f", "-").works(t)
		seen, took := w.settle(t, space, old.replicas, 2*time.Minute)
		if seen.running < old.replicas {
			return fmt.Errorf("%d of %d pods run after %s\n%s", seen.running, old.replicas, took, w.pending(space))
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	defer w.noNodes(t)
	defer func() { w.kubectl(t, "", "-n", space, "delete", "deployment", "shop").works(t) }()

	for _, c := range []struct {
		name  string
		since time.Time
		back  bool
	}{
		{"newer than the workload", time.Now().Add(time.Hour), true},
		{"older than the workload", time.Now().Add(-24 * time.Hour), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			since := c.since.UTC().Format(time.RFC3339)
			if err := w.guard.restart(false, w.policyFile(t, "since", fmt.Sprintf(sincePolicy, since))); err != nil {
				t.Fatal(err)
			}
			nodes, err := w.client.CoreV1().Nodes().List(w.ctx, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			drain := []string{"drain", "--ignore-daemonsets", "--delete-emptydir-data", "--timeout=50s"}
			for _, node := range nodes.Items {
				drain = append(drain, node.Name)
			}
			w.admin(t, "", drain...).works(t)
			limit := time.Minute
			if !c.back {
				limit = 10 * time.Second
			}
			seen, took := w.settle(t, space, old.replicas, limit)
			t.Logf("%d of %d pods run again after %s, on %d nodes", seen.running, old.replicas,
				took.Round(100*time.Millisecond), seen.nodes)
			if c.back && seen.running < old.replicas {
				t.Errorf("only %d of %d pods came back\n%s", seen.running, old.replicas, w.pending(space))
			}
			if !c.back && seen.running > 0 {
				t.Errorf("%d pods came back that are denied", seen.running)
			}
			if !c.back {
				events := w.kubectl(t, "", "-n", space, "get", "events").works(t).stdout
				if !strings.Contains(events, "denied by compute guard rails") {
					t.Errorf("no event says why:\n%s", events)
				}
			}
		})
	}
}
