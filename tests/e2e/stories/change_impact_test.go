package stories

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
)

const (
	replacesThree = "This change replaces 3 of 3 nodes, at most 1 at a time, from now on."
	deletesThree  = "This deletes 3 of 3 nodes at once, before new ones are there, whatever the budgets say."
	relabelled    = `{"spec": {"template": {"metadata": {"labels": {"team": "a"}}}}}`
)

// Three nodes that pods have asked for, and three of a static NodePool, which have none.
func impactYAML() string {
	return nodesYAML() + "---\n" + strings.Replace(nodePoolYAML("fixed", `
        - {key: node.kubernetes.io/instance-type, operator: In, values: [c-2x-amd64-linux]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: kubernetes.io/os, operator: In, values: [linux]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}`,
		"      taints: [{key: fixed, effect: NoSchedule}]\n"), "spec:\n", "spec:\n  replicas: 3\n", 1) + `---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: urgent}, value: 5}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: unused}, value: 6}
---
{apiVersion: v1, kind: Namespace, metadata: {name: shop}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: empty}}
---
{apiVersion: v1, kind: PersistentVolumeClaim, metadata: {name: data, namespace: shop}, spec: {
  storageClassName: zonal, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}}
---
{apiVersion: v1, kind: Pod, metadata: {name: mounts, namespace: shop}, spec: {
  schedulerName: nobody, containers: [{name: main, image: none}],
  volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      priorityClassName: urgent
      terminationGracePeriodSeconds: 0
      containers: [{name: main, image: none, resources: {requests: {cpu: "2"}}}]
`
}

// What administrators do to NodePools and to what is in use meets the rail change-impact, and what Karpenter and
// Kubernetes do to them is never held up. The API server refuses what it cannot ask about.
func TestChangeImpact(t *testing.T) {
	w := newOwnWorld(t, "impact", newWorldWith("testdata/impact.yaml"))
	w.guard.failurePolicy = "Fail"
	if err := w.guard.register(); err != nil {
		t.Fatal(err)
	}
	w.plane.SetEnv("karpenter", "FEATURE_GATES=StaticCapacity=true")
	if err := w.plane.Start("kube-scheduler", "kwok", "karpenter"); err != nil {
		t.Fatal(err)
	}
	w.admin(t, impactYAML(), "apply", "-f", "-").works(t)
	for _, pool := range []string{"general", "fixed"} {
		w.within(t, 2*time.Minute, "three nodes of "+pool+" that the guard sees", func() error {
			nodes := w.admin(t, "", "get", "nodes", "-o", "name", "-l",
				"karpenter.sh/initialized=true,karpenter.sh/nodepool="+pool).stdout
			said := w.patch(t, pool, relabelled, "--dry-run=server").stderr
			if strings.Count(nodes, "\n") != 3 || !strings.Contains(said, "replaces 3 of 3 nodes") {
				return fmt.Errorf("nodes:\n%s%s", nodes, said)
			}
			return nil
		})
	}
	for _, part := range []struct {
		name string
		told func(*testing.T, *world)
	}{
		{"updates", impactOfUpdates},
		{"the controllers", impactOfControllers},
		{"what is in use", impactOnUsers},
		{"deletions", impactOfDeletions},
		{"scale", impactOfScale},
		{"the end", impactAtTheEnd},
	} {
		t.Run(part.name, func(t *testing.T) { part.told(t, w) })
	}
}

func (w *world) patch(t *testing.T, pool, patch string, more ...string) printed {
	t.Helper()
	return w.admin(t, "", append([]string{"patch", "nodepool", pool, "--type=merge", "-p", patch}, more...)...)
}

// confirm writes the annotation and waits for nothing: what is stored comes with the next request.
func (w *world) confirm(t *testing.T, pool, nodes string) {
	t.Helper()
	w.admin(t, "", "annotate", "--overwrite", "nodepool", pool, "taffrail.dev/confirm-nodes"+nodes).works(t).isSilent(t)
}

func impactOfUpdates(t *testing.T, w *world) {
	denied := []string{"denied by compute guard rails: 1 problem in NodePool general: change-impact", replacesThree,
		"A change of more than 2 nodes has to be confirmed.",
		"kubectl annotate --overwrite nodepools general taffrail.dev/confirm-nodes=3"}
	general := strings.Split(nodesYAML(), "---\n")[0]
	labelled := strings.Replace(general, "  template:\n", "  template:\n    metadata: {labels: {team: a}}\n", 1)
	for _, way := range [][]string{
		{"apply", "-f", "-"}, {"replace", "-f", "-"}, {"apply", "--dry-run=server", "-f", "-"},
		{"apply", "--server-side", "--force-conflicts", "-f", "-"},
	} {
		w.admin(t, labelled, way...).fails(t, denied...)
	}
	w.patch(t, "general", relabelled).fails(t, denied...)
	w.patch(t, "general", `{"metadata": {"annotations": {"taffrail.dev/confirm-nodes": "3"}}, `+relabelled[1:]).fails(t, denied...)
	w.patch(t, "general", `{"spec": {"disruption": {"budgets": [{"nodes": "0"}]}, `+relabelled[len(`{"spec": {`):]).fails(t,
		"This change replaces 3 of 3 nodes, but budgets never let one go. A change of more than 2 nodes has to be confirmed.")
	w.patch(t, "general", `{"spec": {"weight": 7, "limits": {"cpu": "100"}}}`).works(t).isSilent(t)
	for _, number := range []string{"2", "+3", "3 ", "99999999999999999999"} {
		w.confirm(t, "general", "="+number)
		w.patch(t, "general", relabelled).fails(t, "change-impact", replacesThree)
	}

	w.admin(t, "", "-n", "shop", "annotate", "pods", "-l", "app=web", "karpenter.sh/do-not-disrupt=true").works(t)
	w.confirm(t, "general", "=3")
	w.eventually(t, "that the guard sees who blocks", func() error {
		said := w.patch(t, "general", relabelled, "--dry-run=server").works(t).stderr
		for _, line := range []string{
			"Warning: [change-impact] spec: This change replaces 3 of 3 nodes, all of them blocked as things are.",
			"Warning: [change-impact] spec.disruption: 3 pods of shop block it: shop/web-",
		} {
			if !strings.Contains(said, line) {
				return fmt.Errorf("not %q, but\n%s", line, said)
			}
		}
		return nil
	})
	w.admin(t, "", "-n", "shop", "annotate", "pods", "-l", "app=web", "karpenter.sh/do-not-disrupt-").works(t)
	w.confirm(t, "general", "-")
	w.patch(t, "general", relabelled).fails(t, "A change of more than 2 nodes has to be confirmed.")
}

// Karpenter writes hashes, conditions and finalizers, and moves to another version of the hash.
func impactOfControllers(t *testing.T, w *world) {
	w.patch(t, "general", `{"status": {"conditions": []}}`, "--subresource=status").works(t).isSilent(t)
	w.patch(t, "general", `{"metadata": {"finalizers": ["example.com/story"]}}`).works(t).isSilent(t)
	w.patch(t, "general", `{"metadata": {"finalizers": []}}`).works(t).isSilent(t)
	hash := func() string {
		return w.admin(t, "", "get", "nodepool", "general", "-o",
			`jsonpath={.metadata.annotations.karpenter\.sh/nodepool-hash-version} {.metadata.annotations.karpenter\.sh/nodepool-hash}`).works(t).stdout
	}
	before := hash()
	for _, claim := range strings.Fields(w.admin(t, "", "get", "nodeclaims", "-o", "name", "-l", "karpenter.sh/nodepool=general").works(t).stdout) {
		w.admin(t, "", "annotate", "--overwrite", claim, "karpenter.sh/nodepool-hash-version=v1").works(t)
	}
	w.admin(t, "", "annotate", "--overwrite", "nodepool", "general", "karpenter.sh/nodepool-hash-version=v1").works(t).isSilent(t)
	w.eventually(t, "that Karpenter has moved the hash to its version, and the conditions are back", func() error {
		claims := w.admin(t, "", "get", "nodeclaims", "-l", "karpenter.sh/nodepool=general", "-o",
			`jsonpath={range .items[*]}{.metadata.annotations.karpenter\.sh/nodepool-hash-version} {end}`).works(t).stdout
		ready := w.admin(t, "", "get", "nodepool", "general", "-o", `jsonpath={.status.conditions[?(@.type=="Ready")].status}`).works(t).stdout
		if now := hash(); now != before || strings.Contains(claims, "v1 ") || ready != "True" {
			return fmt.Errorf("%s, before %s, claims %s, ready %s", now, before, claims, ready)
		}
		return nil
	})
}

func impactOnUsers(t *testing.T, w *world) {
	for _, use := range []struct{ what, said string }{
		{"storageclass zonal", "1 object uses this StorageClass"},
		{"priorityclass urgent", "use this PriorityClass"},
		{"-n shop pvc data", "1 Pod mounts this PersistentVolumeClaim"},
		{"namespace shop", "go with this Namespace"},
	} {
		words := strings.Fields(use.what)
		w.admin(t, "", append([]string{"delete"}, words...)...).fails(t, "denied by compute guard rails", "change-impact", use.said)
		w.admin(t, "", append([]string{"delete", "--dry-run=server"}, words...)...).fails(t, use.said)
	}
	w.admin(t, "", "delete", "priorityclass", "unused").works(t).isSilent(t)
	w.admin(t, "", "delete", "namespace", "empty").works(t).isSilent(t)
}

func impactOfDeletions(t *testing.T, w *world) {
	w.confirm(t, "general", "=3")
	w.admin(t, "", "delete", "nodepool", "general").fails(t, deletesThree+" 3 pods need another place.", "Set its limits to")
	w.admin(t, "", "delete", "nodepool", "general", "--cascade=orphan").fails(t, "3 nodes stay without their NodePool")
	w.confirm(t, "general", "-")
	w.admin(t, "", "delete", "nodepool", "fixed", "--dry-run=server").fails(t, deletesThree, "has to be confirmed")
	w.admin(t, "", "delete", "nodepools", "--all").fails(t, "in NodePool general: change-impact", "in NodePool fixed: change-impact")
	config, err := w.plane.Config(w.plane.AdminKubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	err = objects.Resource(nodePools).DeleteCollection(w.ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), deletesThree) {
		t.Errorf("deletecollection: %v", err)
	}
	if left := w.admin(t, "", "get", "nodepools", "-o", `jsonpath={.items[*].metadata.deletionTimestamp}`).works(t).stdout; left != "" {
		t.Errorf("being deleted since %s", left)
	}
	w.confirm(t, "fixed", "=3")
	w.eventually(t, "two warnings of a deletion that is confirmed", func() error {
		said := w.admin(t, "", "delete", "nodepool", "fixed", "--dry-run=server").works(t).stderr
		if !strings.Contains(said, "Warning: [change-impact]") || !strings.Contains(said, "This deletes 3 of 3 nodes") {
			return fmt.Errorf("%s", said)
		}
		return nil
	})
	w.confirm(t, "fixed", "-")
}

func impactOfScale(t *testing.T, w *world) {
	down := []string{"scale", "nodepool", "fixed", "--replicas=0"}
	w.admin(t, "", down...).fails(t, "in NodePool fixed: change-impact", deletesThree, "confirm-nodes=3")
	w.patch(t, "fixed", `{"spec": {"replicas": 0}}`).fails(t, deletesThree)
	w.admin(t, "", "scale", "nodepool", "fixed", "--replicas=2", "--dry-run=server").works(t).says(t, "This deletes 1 of 3 nodes at once")
	w.admin(t, "", "scale", "nodepool", "fixed", "--replicas=4", "--dry-run=server").works(t).isSilent(t)
	w.confirm(t, "fixed", "=3")
	w.eventually(t, "that the guard sees what is confirmed", func() error {
		said := w.admin(t, "", down...)
		if said.code != 0 {
			return fmt.Errorf("%s", said.stderr)
		}
		said.says(t, "Warning: [change-impact] spec: This deletes 3 of 3 nodes at once")
		return nil
	})
	w.within(t, 2*time.Minute, "that Karpenter takes the nodes", func() error {
		if left := w.admin(t, "", "get", "nodes", "-l", "karpenter.sh/nodepool=fixed", "-o", "name").works(t).stdout; left != "" {
			return fmt.Errorf("%s", left)
		}
		return nil
	})
}

// Without pods the NodePools may go, and Karpenter takes its finalizers from all that goes.
func impactAtTheEnd(t *testing.T, w *world) {
	w.admin(t, "", "-n", "shop", "scale", "deployment", "web", "--replicas=0").works(t)
	w.confirm(t, "general", "=3")
	w.eventually(t, "that nothing is occupied", func() error {
		said := w.admin(t, "", "delete", "nodepool", "--all", "--wait=false")
		if said.code != 0 {
			return fmt.Errorf("%s", said.stderr)
		}
		return nil
	})
	w.within(t, 2*time.Minute, "that all is gone", func() error {
		var left struct{ Items []json.RawMessage }
		out := w.admin(t, "", "get", "nodepools,nodeclaims,nodes", "-o", "json").works(t).stdout
		if err := json.Unmarshal([]byte(out), &left); err != nil {
			return err
		}
		if len(left.Items) > 0 {
			return fmt.Errorf("%d are left", len(left.Items))
		}
		return nil
	})
}
