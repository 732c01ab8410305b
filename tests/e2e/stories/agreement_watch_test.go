package stories

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

var (
	nodeClaims  = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodeclaims"}
	nodePools   = schema.GroupVersionResource{Group: "karpenter.sh", Version: "v1", Resource: "nodepools"}
	kwokClasses = schema.GroupVersionResource{Group: "karpenter.kwok.sh", Version: "v1alpha1", Resource: "kwoknodeclasses"}
)

// What was seen of a NodeClaim, each since the watch began.
type sighting struct {
	pool, node  string
	original    bool // it was there before the change
	initialized bool
	drifted     string    // the reason, when it first drifted
	marked      time.Time // when it drifted
	started     time.Time // when Karpenter began to replace or delete it
	deleted     bool
	holds       bool // a place of the budgets, now
}

// A watched cluster's NodeClaims.
type watched struct {
	sync.Mutex
	claims map[string]*sighting
	atOnce map[string]int // by NodePool: the most that held a place at one time
}

// watchClaims follows the NodeClaims of a generated cluster until the test ends.
func watchClaims(t *testing.T, client dynamic.Interface, id string) *watched {
	t.Helper()
	seen := &watched{claims: map[string]*sighting{}, atOnce: map[string]int{}}
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, "",
		func(options *metav1.ListOptions) { options.LabelSelector = agreementLabel + "=" + id })
	informer := factory.ForResource(nodeClaims).Informer()
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { seen.see(object.(*unstructured.Unstructured)) },
		UpdateFunc: func(_, object any) { seen.see(object.(*unstructured.Unstructured)) },
		DeleteFunc: func(object any) {
			if last, is := object.(*unstructured.Unstructured); is {
				seen.forget(last.GetName())
			}
		},
	}); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	factory.Start(stop)
	factory.WaitForCacheSync(stop)
	t.Cleanup(func() {
		close(stop)
		factory.Shutdown()
	})
	return seen
}

// condition is the reason of one that is True; "": it is not.
func condition(object *unstructured.Unstructured, name string) string {
	all, _, _ := unstructured.NestedSlice(object.Object, "status", "conditions")
	for _, item := range all {
		if found := item.(map[string]any); found["type"] == name && found["status"] == "True" {
			return fmt.Sprint(found["reason"])
		}
	}
	return ""
}

func (s *watched) see(object *unstructured.Unstructured) {
	s.Lock()
	defer s.Unlock()
	claim := s.claims[object.GetName()]
	if claim == nil {
		claim = &sighting{pool: object.GetLabels()["karpenter.sh/nodepool"]}
		s.claims[object.GetName()] = claim
	}
	claim.node, _, _ = unstructured.NestedString(object.Object, "status", "nodeName")
	claim.initialized = condition(object, "Initialized") != ""
	claim.deleted = claim.deleted || object.GetDeletionTimestamp() != nil
	if reason := condition(object, "Drifted"); reason != "" && claim.marked.IsZero() {
		claim.drifted, claim.marked = reason, time.Now()
	}
	going := claim.deleted || condition(object, "DisruptionReason") != ""
	if going && claim.started.IsZero() {
		claim.started = time.Now()
	}
	claim.holds = going && condition(object, "InstanceTerminating") == ""
	holding := 0
	for _, other := range s.claims {
		if other.holds && other.pool == claim.pool {
			holding++
		}
	}
	s.atOnce[claim.pool] = max(s.atOnce[claim.pool], holding)
}

func (s *watched) forget(name string) {
	s.Lock()
	defer s.Unlock()
	s.claims[name].holds = false
}

// names are those of the NodeClaims that are so, in order.
func (s *watched) names(are func(*sighting) bool) []string {
	s.Lock()
	defer s.Unlock()
	var found []string
	for name, claim := range s.claims {
		if are(claim) {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// until waits for that many NodeClaims that are so; it tells whether they came.
func (s *watched) until(limit time.Duration, count int, are func(*sighting) bool) error {
	return wait(limit, func() error {
		if found := len(s.names(are)); found < count {
			return fmt.Errorf("%d of %d", found, count)
		}
		return nil
	})
}

// get is what was seen of a NodeClaim until now.
func (s *watched) get(claim string) sighting {
	s.Lock()
	defer s.Unlock()
	return *s.claims[claim]
}

// originals are the NodeClaims of a NodePool from before the change, which comes now.
func (s *watched) originals(pool string) []string {
	s.Lock()
	defer s.Unlock()
	var found []string
	for name, claim := range s.claims {
		claim.original = true
		if claim.pool == pool {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}

// most is how many of a NodePool held a place at one time.
func (s *watched) most(pool string) int {
	s.Lock()
	defer s.Unlock()
	return s.atOnce[pool]
}
