package stories

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	corelisters "k8s.io/client-go/listers/core/v1"
)

// Several clusters are furnished at one time.
const asking = 250 * time.Millisecond

var nodesResource = schema.GroupVersionResource{Version: "v1", Resource: "nodes"}

// Where clusters are furnished. Pods on nodes that are being deleted take part in all that Karpenter computes, and stop it
// where they fit nowhere: a trial that may leave such pods is seen alone, and until they are gone.
type land struct {
	*world
	objects dynamic.Interface
	lister  corelisters.PodLister
	alone   sync.RWMutex
}

// newLand starts what makes nodes, in a world that has none.
func newLand(t *testing.T, w *world) *land {
	t.Helper()
	w.plane.SetEnv("karpenter", "BATCH_MAX_DURATION=4s") // a node is kept for a pod for 10 s, and not for 20
	if err := w.plane.Start("kube-scheduler", "kwok", "karpenter"); err != nil {
		t.Fatal(err)
	}
	config, err := w.plane.Config(w.plane.AdminKubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(w.client, 0)
	pods := factory.Core().V1().Pods()
	lister := pods.Lister()
	factory.Start(w.ctx.Done())
	factory.WaitForCacheSync(w.ctx.Done())
	return &land{world: w, objects: objects, lister: lister}
}

// A generated cluster that runs, and is watched.
type furnished struct {
	generated
	*land
	seen      *watched
	originals []string // the NodeClaims of the NodePool that is changed, before it is
}

// furnishCluster waits until all that was generated runs, the canary last, and then takes away what leaves nodes empty.
func (l *land) furnish(t *testing.T, g generated) *furnished {
	t.Helper()
	f := &furnished{generated: g, land: l, seen: watchClaims(t, l.objects, g.id)}
	l.admin(t, strings.Join([]string{g.manifest, encode(g.pool), encode(g.bystander)}, "\n---\n"),
		"apply", "--server-side", "-f", "-").works(t)
	f.runs(t, g.pods)
	f.must(t, f.scale("canary", 1))
	f.runs(t, g.pods+1)
	ran := time.Now()
	if g.passing {
		f.must(t, f.scale("passing", 0))
	}
	f.originals = f.seen.originals(f.changing())
	if g.optsOut && len(f.originals) > 0 {
		f.patch(t, nodesResource, f.seen.get(f.originals[0]).node,
			`{"metadata": {"annotations": {"karpenter.sh/do-not-disrupt": "true"}}}`)
	}
	f.settled(t, ran)
	// From now on a successor takes so long that it does not come while the trial is seen.
	for _, class := range []string{g.id, g.id + "-other"} {
		f.patch(t, kwokClasses, class, `{"spec": {"nodeRegistrationDelay": "45s"}}`)
	}
	return f
}

// remove takes away its pods, and then its nodes, for which nobody waits. The rest stays, since to delete a namespace is much
// work for the control plane.
func (f *furnished) remove() {
	deployments, _ := f.client.AppsV1().Deployments(f.id).List(f.ctx, metav1.ListOptions{})
	for _, deployment := range deployments.Items {
		_ = f.scale(deployment.Name, 0)
	}
	_ = f.client.AppsV1().DaemonSets(f.id).Delete(f.ctx, "agent", metav1.DeleteOptions{})
	_ = wait(patience, func() error {
		if f.has(func(pod *corev1.Pod) bool { return true }) {
			return errors.New("pods are still there")
		}
		return nil
	})
	for _, pool := range []string{"general", "batch", "canary"} {
		_ = f.objects.Resource(nodePools).Delete(f.ctx, f.id+"-"+pool, metav1.DeleteOptions{})
	}
}

func encode(object map[string]any) string {
	encoded, err := json.Marshal(object)
	if err != nil {
		panic(err)
	}
	return string(encoded)
}

func decode(text string) map[string]any {
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		panic(err)
	}
	return object
}

func (f *furnished) must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%s: %v", f.id, err)
	}
}

// The NodePool that is changed.
func (f *furnished) changing() string { return f.id + "-general" }

// change writes the NodePool as it now is in memory, or deletes it.
func (f *furnished) change(t *testing.T, deletes bool) {
	t.Helper()
	pools := f.objects.Resource(nodePools)
	if deletes {
		f.must(t, pools.Delete(f.ctx, f.changing(), metav1.DeleteOptions{}))
		return
	}
	_, err := pools.Apply(f.ctx, f.changing(), &unstructured.Unstructured{Object: f.pool},
		metav1.ApplyOptions{FieldManager: "kubectl", Force: true})
	f.must(t, err)
}

func (f *furnished) patch(t *testing.T, resource schema.GroupVersionResource, name, patch string) {
	t.Helper()
	_, err := f.objects.Resource(resource).Patch(f.ctx, name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{})
	f.must(t, err)
}

func (f *furnished) scale(deployment string, replicas int) error {
	_, err := f.client.AppsV1().Deployments(f.id).Patch(f.ctx, deployment, types.MergePatchType,
		fmt.Appendf(nil, `{"spec": {"replicas": %d}}`, replicas), metav1.PatchOptions{})
	return err
}

// has tells whether there is such a pod, agents aside.
func (f *furnished) has(such func(*corev1.Pod) bool) bool {
	return slices.ContainsFunc(f.pods(), such)
}

// pods are those of Deployments, as far as is known.
func (f *furnished) pods() []*corev1.Pod {
	all, err := f.lister.Pods(f.id).List(labels.Everything())
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(all, func(pod *corev1.Pod) bool { return pod.Labels["app"] == "agent" })
}

// runs waits until so many pods run, on nodes that have started.
func (f *furnished) runs(t *testing.T, pods int) {
	t.Helper()
	f.must(t, wait(3*time.Minute, func() error {
		running := 0
		for _, pod := range f.pods() {
			if pod.Status.Phase == corev1.PodRunning {
				running++
			}
		}
		starting := f.seen.names(func(s *sighting) bool { return !s.initialized })
		if running < pods || len(starting) > 0 {
			return fmt.Errorf("%d of %d pods run, %d nodes start", running, pods, len(starting))
		}
		return nil
	}))
}

// settled waits until what passes has gone, no node is kept for a pod any more, and the PodDisruptionBudgets say what they allow.
func (f *furnished) settled(t *testing.T, ran time.Time) {
	t.Helper()
	const kept = 12 * time.Second // Karpenter's 10 s, and what it takes to see that a pod runs
	f.must(t, waitAsking(asking, patience, func() error {
		if f.has(func(pod *corev1.Pod) bool { return pod.Labels["app"] == "passing" }) {
			return errors.New("what passes is still there")
		}
		if time.Since(ran) < kept {
			return errors.New("nodes are kept for the pods that came last")
		}
		budgets, err := f.client.PolicyV1().PodDisruptionBudgets(f.id).List(f.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(budgets.Items, func(b policyv1.PodDisruptionBudget) bool { return !counted(b) }) {
			return nil
		}
		return errors.New("a PodDisruptionBudget does not say what it allows")
	}))
}

func counted(budget policyv1.PodDisruptionBudget) bool {
	status := budget.Status
	return status.ObservedGeneration == budget.Generation && status.ExpectedPods > 0 &&
		status.CurrentHealthy == status.ExpectedPods
}

// canary is the name of the node on which the canary's pod runs, when that is settled: an empty node would go before others.
func (f *furnished) canary(t *testing.T) string {
	t.Helper()
	var node string
	f.must(t, wait(2*time.Minute, func() error {
		for _, pod := range f.pods() {
			if pod.Labels["app"] == "canary" && pod.DeletionTimestamp == nil && pod.Status.Phase == corev1.PodRunning {
				node = pod.Spec.NodeName
			}
		}
		fresh := f.seen.names(func(s *sighting) bool {
			return s.node == node && s.initialized && s.marked.IsZero() && s.started.IsZero()
		})
		if node == "" || len(fresh) == 0 {
			return errors.New("the canary's pod is on its way")
		}
		return nil
	}))
	return node
}

// podsByClaim are "namespace/name" of the pods, by their NodeClaim.
func (f *furnished) podsByClaim() map[string][]string {
	byNode := map[string][]string{}
	for _, pod := range f.pods() {
		byNode[pod.Spec.NodeName] = append(byNode[pod.Spec.NodeName], pod.Namespace+"/"+pod.Name)
	}
	byClaim := map[string][]string{}
	for _, claim := range f.originals {
		byClaim[claim] = byNode[f.seen.get(claim).node]
	}
	return byClaim
}

// original are NodeClaims of the NodePool that is changed, from before, and are so.
func (f *furnished) original(are func(*sighting) bool) func(*sighting) bool {
	return func(s *sighting) bool { return s.original && s.pool == f.changing() && are(s) }
}
