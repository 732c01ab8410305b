package main

import (
	"context"
	"fmt"
	"io"
	"sort"
	"strings"
	"time"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/controllers/disruption"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/utils/pdb"
	podutils "sigs.k8s.io/karpenter/pkg/utils/pod"
)

// The words for Karpenter's errors (state.StateNode.ValidateNodeDisruptable).
var kinds = []struct{ part, kind string }{
	{"isn't managed by karpenter", "not-karpenters"},
	{"does not have an associated node", "no-node"},
	{"is deleting or marked for deletion", "leaving"},
	{"isn't initialized", "not-initialized"},
	{"disruption is blocked through", "node-opts-out"},
	{"doesn't have required label", "not-karpenters"},
}

func (c *cluster) pool(name string) *v1.NodePool {
	pool, _ := lo.Find(c.pools, func(pool *v1.NodePool) bool { return pool.Name == name })
	return pool
}

func (p pair) name() string {
	if p.node != nil {
		return p.node.Name
	}
	return p.claim.Name
}

// What of the node itself keeps it, as disruption.NewCandidate asks; empty: nothing.
func (c *cluster) nodeBlock(node *state.StateNode) string {
	if err := node.ValidateNodeDisruptable(clocktesting.NewFakeClock(c.now)); err != nil {
		for _, known := range kinds {
			if strings.Contains(err.Error(), known.part) {
				return known.kind
			}
		}
		return err.Error()
	}
	if c.pool(node.Labels()[v1.NodePoolLabelKey]) == nil {
		return "no-pool"
	}
	return ""
}

// What keeps a pod; empty: nothing.
func (c *cluster) podBlock(limits pdb.Limits, pod *corev1.Pod) string {
	clock := clocktesting.NewFakeClock(c.now)
	if !podutils.IsDisruptable(pod, clock, nil) {
		return "opts-out"
	}
	keys, can := limits.CanEvictPods([]*corev1.Pod{pod}, clock, nil)
	if can {
		return ""
	}
	names := lo.Map(keys, func(key client.ObjectKey, _ int) string { return key.Name })
	sort.Strings(names)
	return fmt.Sprintf("budgets %d %s", len(names), strings.Join(lo.Slice(names, 0, 2), " "))
}

func (c *cluster) limits() pdb.Limits {
	builder := fake.NewClientBuilder().WithScheme(scheme.Scheme)
	for _, pdb := range c.pdbs {
		builder = builder.WithObjects(pdb.DeepCopy())
	}
	limits, err := pdb.NewLimits(context.Background(), builder.Build())
	check(err)
	return limits
}

func judge(c *cluster, out io.Writer) {
	var nodes []*state.StateNode
	limits := c.limits()
	for _, pair := range c.pairs {
		node := &state.StateNode{Node: pair.node, NodeClaim: pair.claim}
		nodes = append(nodes, node)
		block := c.nodeBlock(node)
		blocked := block != ""
		if blocked {
			fmt.Fprintf(out, "node %s %s\n", pair.name(), block)
		}
		pods := lo.Filter(c.pods, func(pod *corev1.Pod, _ int) bool {
			return pair.node != nil && pod.Spec.NodeName == pair.node.Name
		})
		sort.Slice(pods, func(i, j int) bool {
			return pods[i].Namespace+"/"+pods[i].Name < pods[j].Namespace+"/"+pods[j].Name
		})
		for _, pod := range pods {
			if block := c.podBlock(limits, pod); block != "" {
				fmt.Fprintf(out, "pod %s/%s %s\n", pod.Namespace, pod.Name, block)
				lifted := c.reason == v1.DisruptionReasonDrifted && pair.claim != nil && pair.claim.Spec.TerminationGracePeriod != nil
				blocked = blocked || !lifted
			}
		}
		if blocked {
			fmt.Fprintf(out, "blocked %s\n", pair.name())
		}
	}
	counted, disrupted := disruption.NodePoolStatsFromNodes(nodes, c.reason)
	for _, pool := range c.pools {
		asked := lo.ContainsBy(nodes, func(node *state.StateNode) bool { return node.Labels()[v1.NodePoolLabelKey] == pool.Name })
		if !asked {
			continue
		}
		fmt.Fprintf(out, "pool %s counted %d disrupted %d allowed %d window", pool.Name, counted[pool.Name], disrupted[pool.Name],
			pool.MustGetAllowedDisruptions(clocktesting.NewFakeClock(c.now), counted[pool.Name], c.reason))
		writeWindow(out, c.now, func(at time.Time) int {
			return pool.MustGetAllowedDisruptions(clocktesting.NewFakeClock(at), 1000, c.reason)
		})
		fmt.Fprintln(out)
	}
}
