package main

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"sort"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"
	"k8s.io/component-helpers/scheduling/corev1/nodeaffinity"
)

type plan struct {
	Existing []struct {
		Node string   `json:"node"`
		Pods []string `json:"pods"`
	} `json:"existing"`
	Claims        []planClaim     `json:"claims"`
	Unschedulable []unschedulable `json:"unschedulable"`
}

type unschedulable struct {
	Pod string `json:"pod"`
}

type planClaim struct {
	NodePool      string        `json:"nodePool"`
	Zone          string        `json:"zone"`
	CapacityType  string        `json:"capacityType"`
	InstanceType  string        `json:"instanceType"`
	InstanceTypes []string      `json:"instanceTypes"`
	UsdPerHour    float64       `json:"usdPerHour"`
	Requirements  []requirement `json:"requirements"`
	Pods          []string      `json:"pods"`
	InVainFor     []string      `json:"inVainFor"` // pods with local volumes, which cannot run on it
}

// A pod, the node it is to run on, and why it cannot.
type errand struct {
	pod  *corev1.Pod
	node string
	said string
}

const orders = 240

// Everything that speaks against the plan, a line each.
func (w *world) check(p *plan) []string {
	var broken []string
	nodes := slices.Concat(w.leaving, w.nodes)
	var errands []*errand
	seen := map[string]string{}
	send := func(name, node string) {
		pod := w.pending[name]
		switch {
		case pod == nil:
			broken = append(broken, fmt.Sprintf("%s is placed on %s, but is no pending pod", name, node))
			return
		case seen[name] != "":
			broken = append(broken, fmt.Sprintf("%s is on %s and on %s", name, seen[name], node))
			return
		}
		seen[name] = node
		errands = append(errands, &errand{pod: pod, node: node})
	}
	var bought []*corev1.Node
	for i := range p.Claims {
		claim := &p.Claims[i]
		name := fmt.Sprintf("bought-%02d", i+1)
		node, err := w.bought(name, claim)
		if err != nil {
			broken = append(broken, err.Error())
			continue
		}
		bought = append(bought, node)
		broken = append(broken, w.checkClaim(name, claim, node)...)
		for _, pod := range claim.Pods {
			send(pod, name)
		}
		for _, pod := range claim.InVainFor {
			if !slices.ContainsFunc(p.Unschedulable, func(left unschedulable) bool { return left.Pod == pod }) {
				broken = append(broken, fmt.Sprintf("%s is bought in vain for %s, which is not unschedulable", name, pod))
			}
		}
	}
	broken = append(broken, w.checkLimits(p)...)
	broken = append(broken, w.checkReservations(p)...)
	for _, existing := range p.Existing {
		node := existing.Node
		if of := w.named[node]; of != "" { // on its way, and called by its claim's name
			node = of
		}
		if slices.ContainsFunc(w.leaving, func(one *corev1.Node) bool { return one.Name == node }) {
			broken = append(broken, fmt.Sprintf("%s is being deleted, and takes no pod", node))
		}
		for _, pod := range existing.Pods {
			send(pod, node)
		}
	}
	for _, left := range p.Unschedulable {
		if where := seen[left.Pod]; where != "" {
			broken = append(broken, fmt.Sprintf("%s is on %s and unschedulable", left.Pod, where))
		}
		seen[left.Pod] = "no node"
	}
	for name := range w.pending {
		if seen[name] == "" {
			broken = append(broken, name+" is neither placed nor unschedulable")
		}
	}
	nodes = append(nodes, bought...)
	for _, refused := range w.replay(nodes, bought, errands) {
		broken = append(broken, fmt.Sprintf("%s/%s on %s: %s", refused.pod.Namespace, refused.pod.Name,
			refused.node, refused.said))
	}
	sort.Strings(broken)
	return broken
}

/* ---- what a claim says ---- */

func holds(requirements []requirement, labels map[string]string) (string, bool) {
	for _, one := range requirements {
		value, given := labels[one.Key]
		listed := false
		for _, candidate := range one.Values {
			listed = listed || candidate == value
		}
		bound, number := math.NaN(), math.NaN()
		if len(one.Values) > 0 {
			bound, _ = strconv.ParseFloat(one.Values[0], 64)
		}
		if parsed, err := strconv.ParseFloat(value, 64); err == nil {
			number = parsed
		}
		fine := map[string]bool{
			"In": given && listed, "NotIn": !given || !listed, "Exists": given, "DoesNotExist": !given,
			"Gt": number > bound, "Lt": number < bound, "Gte": number >= bound, "Lte": number <= bound,
		}[one.Operator]
		if !fine {
			return fmt.Sprintf("%s %s %v, but is %q", one.Key, one.Operator, one.Values, value), false
		}
	}
	return "", true
}

// What of a pool's requirements its claim keeps: Karpenter lets pods that want a label to be absent onto
// a claim on which nobody has fixed it yet, and the node goes without.
func (p *nodePool) standing(claim *planClaim) []requirement {
	var kept []requirement
	for _, one := range p.Spec.Template.Spec.Requirements {
		given := true
		for _, narrowed := range claim.Requirements {
			given = given && !(narrowed.Key == one.Key && narrowed.Operator == "DoesNotExist")
		}
		if given {
			kept = append(kept, one)
		}
	}
	return kept
}

// The capacity reservations that keep a machine for a claim.
func (c *planClaim) reservations() []string {
	for _, one := range c.Requirements {
		if one.Key == reservationLabel && one.Operator == "In" && c.CapacityType == "reserved" {
			return one.Values
		}
	}
	return nil
}

// The offering a claim is bought as, and the reservation it is taken from.
func (t *instanceType) sold(claim *planClaim) (*offering, string) {
	for i := range t.Offerings {
		for _, reservation := range append([]string{""}, claim.reservations()...) {
			labels := map[string]string{corev1.LabelTopologyZone: claim.Zone, capacityTypeLabel: claim.CapacityType}
			if reservation != "" {
				labels[reservationLabel] = reservation
			}
			if _, fine := holds(t.Offerings[i].Requirements, labels); fine {
				return &t.Offerings[i], reservation
			}
		}
	}
	return nil, ""
}

// No reservation keeps machines for more claims than it has free.
func (w *world) checkReservations(p *plan) []string {
	kept := map[string]int{}
	for i := range p.Claims {
		for _, reservation := range p.Claims[i].reservations() {
			kept[reservation]++
		}
	}
	var broken []string
	for _, kind := range w.types {
		for _, offering := range kind.Offerings {
			for _, one := range offering.Requirements {
				if one.Key != reservationLabel || len(one.Values) == 0 {
					continue
				}
				if count := kept[one.Values[0]]; count > offering.ReservationCapacity {
					broken = append(broken, fmt.Sprintf("%s is kept for %d claims and has %d machines",
						one.Values[0], count, offering.ReservationCapacity))
				}
			}
		}
	}
	return broken
}

func (w *world) checkClaim(name string, claim *planClaim, node *corev1.Node) []string {
	var broken []string
	fail := func(format string, arguments ...any) {
		broken = append(broken, name+": "+fmt.Sprintf(format, arguments...))
	}
	sold, _ := w.types[claim.InstanceType].sold(claim)
	if sold == nil {
		fail("%s is not to be had %s in %s", claim.InstanceType, claim.CapacityType, claim.Zone)
	} else if math.Abs(sold.Price-claim.UsdPerHour) > 1e-6 {
		fail("%s costs %v, not %v", claim.InstanceType, sold.Price, claim.UsdPerHour)
	}
	if why, fine := holds(w.pools[claim.NodePool].standing(claim), node.Labels); !fine {
		fail("NodePool %s wants %s", claim.NodePool, why)
	}
	if len(claim.Pods)+len(claim.InVainFor) == 0 {
		fail("is bought for no pod")
	}
	total := corev1.ResourceList{}
	for _, pod := range claim.Pods {
		if pending := w.pending[pod]; pending != nil {
			sum(total, resourcehelper.PodRequests(pending, resourcehelper.PodResourcesOptions{}))
			sum(total, corev1.ResourceList{corev1.ResourcePods: resource.MustParse("1")})
		}
	}
	chosen := false
	for _, other := range claim.InstanceTypes {
		chosen = chosen || other == claim.InstanceType
		kind := w.types[other]
		if kind == nil {
			fail("there is no instance type %q", other)
			continue
		}
		for resourceName, wanted := range total {
			if room := kind.allocatable()[resourceName]; wanted.Cmp(room) > 0 && !wanted.IsZero() {
				fail("lists %s, which has %s of %s, for %s", other, room.String(), resourceName, wanted.String())
			}
		}
	}
	if !chosen {
		fail("%s is not among its instance types", claim.InstanceType)
	}
	return broken
}

func sum(total, more corev1.ResourceList) {
	for name, quantity := range more {
		one := total[name]
		one.Add(quantity)
		total[name] = one
	}
}

// What is bought is within each pool's limits, the nodes that are there included. The number of nodes is
// not looked at: Karpenter overshoots it within one round.
func (w *world) checkLimits(p *plan) []string {
	var broken []string
	for name, pool := range w.pools {
		used, buys := corev1.ResourceList{}, false
		for _, node := range w.nodes {
			if node.Labels[poolLabel] == name {
				sum(used, node.Status.Capacity)
			}
		}
		for _, claim := range p.Claims {
			if claim.NodePool == name && w.types[claim.InstanceType] != nil {
				sum(used, w.types[claim.InstanceType].Resources)
				buys = true
			}
		}
		for resourceName, limit := range pool.Spec.Limits {
			if had := used[resourceName]; buys && resourceName != "nodes" && had.Cmp(limit) > 0 {
				broken = append(broken, fmt.Sprintf("NodePool %s: %s of %s is over its limit of %s", name,
					had.String(), resourceName, limit.String()))
			}
		}
	}
	return broken
}

/* ---- pods are bound one after another ---- */

// The pods that kube-scheduler would never put where the plan has them, in the best order found: one
// order in which it takes them all is proof enough. Those refused go first in the next try, because
// what came before them is what shut them out; every third try is shuffled. In every other try the
// pods of nodes that are there are bound before any bought node has come, as it will be: a spread
// does not count the zone of a node that is not there.
func (w *world) replay(nodes, bought []*corev1.Node, errands []*errand) []*errand {
	scheduler, err := newScheduler(w.objects)
	if err != nil {
		return []*errand{{pod: &corev1.Pod{}, said: err.Error()}}
	}
	defer scheduler.stop()
	daemons := w.daemonPods(bought)
	there := nodes[:len(nodes)-len(bought)]
	random := rand.New(rand.NewSource(1))
	sort.SliceStable(errands, func(a, b int) bool { return strictness(errands[a].pod) > strictness(errands[b].pod) })
	var best []*errand
	for order := range orders {
		volumes := w.newVolumes(nodes)
		bound, left := slices.Clone(w.running), errands
		if order%2 == 1 {
			early, late := divide(errands, there)
			bound, left = scheduler.bindAll(there, bound, early, volumes)
			left = append(left, late...)
		}
		_, left = scheduler.bindAll(nodes, append(bound, daemons...), left, volumes)
		if order == 0 || len(left) < len(best) {
			best = left
		}
		if len(best) == 0 {
			break
		}
		if order%3 == 2 {
			random.Shuffle(len(errands), func(a, b int) { errands[a], errands[b] = errands[b], errands[a] })
		} else {
			putFirst(errands, left)
		}
	}
	return best
}

// Those of the nodes, and the others.
func divide(errands []*errand, nodes []*corev1.Node) (theirs, others []*errand) {
	for _, one := range errands {
		if slices.ContainsFunc(nodes, func(node *corev1.Node) bool { return node.Name == one.node }) {
			theirs = append(theirs, one)
		} else {
			others = append(others, one)
		}
	}
	return theirs, others
}

func putFirst(errands, refused []*errand) {
	first := map[*corev1.Pod]bool{}
	for _, one := range refused {
		first[one.pod] = true
	}
	sort.SliceStable(errands, func(a, b int) bool { return first[errands[a].pod] && !first[errands[b].pod] })
}

// Pods that count others go first: others are counted, whenever they come.
func strictness(pod *corev1.Pod) int {
	result := 0
	for _, constraint := range pod.Spec.TopologySpreadConstraints {
		if constraint.WhenUnsatisfiable == corev1.DoNotSchedule {
			result++
		}
	}
	return result
}

// All pods that are bound then, and the errands left, each with what was said of it.
func (s *scheduler) bindAll(nodes []*corev1.Node, bound []*corev1.Pod, errands []*errand,
	volumes *volumes) ([]*corev1.Pod, []*errand) {
	var left []*errand
	for _, one := range errands {
		left = append(left, &errand{pod: one.pod, node: one.node})
	}
	s.set(bound, nodes)
	// After each pod the first of those left have another chance before the later ones come.
	for next := 0; next < len(left); {
		one := left[next]
		one.said = s.refuses(one.pod, one.node)
		if one.said == "" {
			one.said = volumes.refuse(one.pod, one.node)
		}
		if one.said != "" {
			next++
			continue
		}
		pod := one.pod.DeepCopy()
		pod.Spec.NodeName = one.node
		bound = append(bound, pod)
		s.set(bound, nodes)
		volumes.bind(one.pod, one.node)
		left = append(left[:next], left[next+1:]...)
		next = 0
	}
	return bound, left
}

// The daemons that will run on what is bought.
func (w *world) daemonPods(nodes []*corev1.Node) []*corev1.Pod {
	var pods []*corev1.Pod
	for _, node := range nodes {
		for _, set := range w.daemons {
			pod := &corev1.Pod{Spec: *set.Spec.Template.Spec.DeepCopy()}
			pod.Name, pod.Namespace = set.Name+"-"+node.Name, set.Namespace
			pod.Labels = set.Spec.Template.Labels
			suits, err := nodeaffinity.GetRequiredNodeAffinity(pod).Match(node)
			if err != nil || !suits || !tolerated(pod, node) {
				continue
			}
			pod.Spec.NodeName = node.Name
			pods = append(pods, pod)
		}
	}
	return pods
}

func tolerated(pod *corev1.Pod, node *corev1.Node) bool {
	for i := range node.Spec.Taints {
		taint := &node.Spec.Taints[i]
		fine := taint.Effect == corev1.TaintEffectPreferNoSchedule
		for j := range pod.Spec.Tolerations {
			toleration := &pod.Spec.Tolerations[j]
			exists := toleration.Operator == corev1.TolerationOpExists
			fine = fine || (toleration.Key == taint.Key || toleration.Key == "" && exists) &&
				(toleration.Effect == "" || toleration.Effect == taint.Effect) &&
				(exists || toleration.Value == taint.Value)
		}
		if !fine {
			return false
		}
	}
	return true
}
