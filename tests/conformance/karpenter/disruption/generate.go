package main

import (
	"fmt"
	"math/rand"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// A Node, its NodeClaim, or both.
type pair struct {
	node  *corev1.Node
	claim *v1.NodeClaim
}

type cluster struct {
	now    time.Time
	reason v1.DisruptionReason
	pools  []*v1.NodePool
	pairs  []pair
	pods   []*corev1.Pod
	pdbs   []*policyv1.PodDisruptionBudget
}

func (c *cluster) objects() []any {
	var all []any
	for _, pool := range c.pools {
		all = append(all, pool)
	}
	for _, pair := range c.pairs {
		if pair.node != nil {
			all = append(all, pair.node)
		}
		if pair.claim != nil {
			all = append(all, pair.claim)
		}
	}
	for _, pod := range c.pods {
		all = append(all, pod)
	}
	for _, pdb := range c.pdbs {
		all = append(all, pdb)
	}
	return all
}

type generator struct{ *rand.Rand }

func pick[T any](g generator, from ...T) T { return from[g.Intn(len(from))] }
func (g generator) one(in int) bool        { return g.Intn(in) == 0 }
func (g generator) kind(kind, api string) metav1.TypeMeta {
	return metav1.TypeMeta{Kind: kind, APIVersion: api}
}

func generate(seed int64) *cluster {
	g := generator{rand.New(rand.NewSource(seed))}
	c := &cluster{
		now:    time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC).Add(time.Duration(g.Intn(500*288)) * step),
		reason: pick(g, v1.DisruptionReasonDrifted, v1.DisruptionReasonDrifted, v1.DisruptionReasonEmpty, v1.DisruptionReasonUnderutilized),
	}
	for _, name := range []string{"a", "b"} {
		c.pools = append(c.pools, g.pool(name))
	}
	for i := range 1 + g.Intn(12) {
		c.pairs = append(c.pairs, g.pair(c, fmt.Sprintf("n%02d", i)))
	}
	for i, pair := range c.pairs {
		for j := range g.Intn(5) {
			if pair.node != nil {
				c.pods = append(c.pods, g.pod(c, fmt.Sprintf("p%02d-%d", i, j), pair.node.Name))
			}
		}
	}
	for i := range g.Intn(6) {
		c.pdbs = append(c.pdbs, g.pdb(fmt.Sprintf("b%d", i)))
	}
	return c
}

func (g generator) pool(name string) *v1.NodePool {
	pool := &v1.NodePool{TypeMeta: g.kind("NodePool", "karpenter.sh/v1"), ObjectMeta: metav1.ObjectMeta{Name: name}}
	for range 1 + g.Intn(4) {
		budget := v1.Budget{Nodes: pick(g, "0", "0", "1", "2", "5", "10%", "25%", "50%", "100%", "0%")}
		if g.one(3) {
			budget.Reasons = []v1.DisruptionReason{pick(g, v1.DisruptionReasonDrifted, v1.DisruptionReasonEmpty,
				v1.DisruptionReasonUnderutilized, v1.DisruptionReasonUnhealthy)}
		}
		if !g.one(3) {
			budget.Schedule = lo.ToPtr(pick(g, "0 9 * * mon-fri", "@daily", "*/30 * * * *", "15 3 * * 0", "0 0 1,15 * *",
				"0 8 13 * 5", "5/20 8-16 * * *", "0 0 * * *", "@hourly", "0 22 * * 5,6", "0 0 30 2 *", "0 0 29 2 *"))
			if g.one(20) {
				budget.Schedule = lo.ToPtr(pick(g, "0 8 * * 7", "TZ=UTC 0 8 * * *", "@dailyX", "61 * * * *"))
			}
			budget.Duration = &metav1.Duration{Duration: time.Duration(pick(g, 1, 2, 3, 6, 12, 96, 288, 165*12)) * step}
		}
		pool.Spec.Disruption.Budgets = append(pool.Spec.Disruption.Budgets, budget)
	}
	return pool
}

func (g generator) annotations() map[string]string {
	if !g.one(6) {
		return nil
	}
	return map[string]string{v1.DoNotDisruptAnnotationKey: pick(g, "true", "true", "1h", "90m", "1.5h", "+30m", "0s", "-1h", "yes",
		"false", "100000ms", "1h30m0.5s", "1d")}
}

func (g generator) deleted(c *cluster, in int, meta *metav1.ObjectMeta) {
	if g.one(in) {
		meta.DeletionTimestamp = &metav1.Time{Time: c.now.Add(-time.Minute)}
		meta.Finalizers = []string{"taffrail.dev/test"}
	}
}

func (g generator) pair(c *cluster, name string) pair {
	labels := map[string]string{}
	if !g.one(15) {
		labels[v1.NodePoolLabelKey] = pick(g, "a", "a", "a", "b", "gone")
	}
	node := &corev1.Node{TypeMeta: g.kind("Node", "v1"), ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: g.annotations(), Labels: labels}}
	node.Spec.ProviderID = "test://" + name
	node.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady,
		Status: pick(g, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown)}}
	claim := &v1.NodeClaim{TypeMeta: g.kind("NodeClaim", "karpenter.sh/v1"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: lo.Assign(labels)}}
	claim.Spec.NodeClassRef = &v1.NodeClassReference{Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass", Name: "default"}
	claim.Status.ProviderID = node.Spec.ProviderID
	g.deleted(c, 10, &claim.ObjectMeta)
	if g.one(4) {
		claim.Spec.TerminationGracePeriod = &metav1.Duration{Duration: time.Duration(g.Intn(3)) * time.Hour}
	}
	if g.one(12) {
		claim.Status.Conditions = []status.Condition{{Type: v1.ConditionTypeInstanceTerminating, Status: metav1.ConditionTrue}}
	}
	if g.one(15) {
		return pair{nil, claim}
	}
	if !g.one(3) {
		claim.Status.NodeName = name
	}
	if !g.one(6) {
		node.Labels[v1.NodeRegisteredLabelKey] = "true"
		if !g.one(6) {
			node.Labels[v1.NodeInitializedLabelKey] = "true"
		}
	}
	if g.one(15) && len(c.pairs) > 0 { // somebody has a NodeClaim: they are seen
		return pair{node, nil}
	}
	return pair{node, claim}
}

func (g generator) labels() map[string]string {
	labels := map[string]string{}
	for _, key := range []string{"app", "tier", "name"} {
		if !g.one(3) {
			labels[key] = pick(g, "x", "y", "z")
		}
	}
	return labels
}

func (g generator) pod(c *cluster, name, node string) *corev1.Pod {
	pod := &corev1.Pod{TypeMeta: g.kind("Pod", "v1"), ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: pick(g, "shop", "shop", "bank"),
		Labels: g.labels(), Annotations: g.annotations()}}
	g.deleted(c, 10, &pod.ObjectMeta)
	pod.Spec.NodeName = node
	pod.Status.Phase = pick(g, corev1.PodRunning, corev1.PodRunning, corev1.PodRunning, corev1.PodPending, corev1.PodSucceeded, corev1.PodFailed)
	if !g.one(5) {
		pod.Status.StartTime = &metav1.Time{Time: c.now.Add(-time.Duration(g.Intn(9)) * 15 * time.Minute)}
	}
	if g.one(3) {
		pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: pick(g, corev1.ConditionTrue, corev1.ConditionFalse)}}
	}
	if g.one(4) {
		pod.OwnerReferences = []metav1.OwnerReference{pick(g,
			metav1.OwnerReference{APIVersion: "apps/v1", Kind: "DaemonSet", Name: "d", Controller: lo.ToPtr(true)},
			metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "r", Controller: lo.ToPtr(true)},
			metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: node, Controller: lo.ToPtr(true)})}
	}
	if g.one(6) {
		pod.Spec.Tolerations = []corev1.Toleration{pick(g,
			corev1.Toleration{Operator: corev1.TolerationOpExists},
			corev1.Toleration{Key: "karpenter.sh/disrupted", Operator: corev1.TolerationOpExists},
			corev1.Toleration{Key: "karpenter.sh/disrupted", Effect: corev1.TaintEffectNoSchedule},
			corev1.Toleration{Key: "karpenter.sh/disrupted", Value: "yes"},
			corev1.Toleration{Key: "karpenter.sh/disrupted", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute})}
	}
	return pod
}

func (g generator) pdb(name string) *policyv1.PodDisruptionBudget {
	pdb := &policyv1.PodDisruptionBudget{TypeMeta: g.kind("PodDisruptionBudget", "policy/v1"),
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: pick(g, "shop", "shop", "bank")}}
	pdb.Status.DisruptionsAllowed = int32(g.Intn(2))
	if g.one(3) {
		pdb.Spec.UnhealthyPodEvictionPolicy = lo.ToPtr(pick(g, policyv1.AlwaysAllow, policyv1.IfHealthyBudget))
	}
	if g.one(10) {
		return pdb
	}
	pdb.Spec.Selector = &metav1.LabelSelector{}
	for range g.Intn(4) {
		key, value := pick(g, "app", "tier", "name"), pick(g, "x", "y", "z")
		if g.one(4) {
			pdb.Spec.Selector.MatchExpressions = append(pdb.Spec.Selector.MatchExpressions, pick(g,
				metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpIn, Values: []string{value, "w"}},
				metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpNotIn, Values: []string{value}},
				metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpExists},
				metav1.LabelSelectorRequirement{Key: key, Operator: metav1.LabelSelectorOpDoesNotExist}))
			continue
		}
		if pdb.Spec.Selector.MatchLabels == nil {
			pdb.Spec.Selector.MatchLabels = map[string]string{}
		}
		pdb.Spec.Selector.MatchLabels[key] = value
	}
	return pdb
}
