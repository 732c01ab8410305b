package main

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// The themes of where pods may stand beside each other: spread and affinity.

func selects(labels ...string) *metav1.LabelSelector {
	selector := &metav1.LabelSelector{MatchLabels: map[string]string{}}
	for i := 0; i < len(labels); i += 2 {
		selector.MatchLabels[labels[i]] = labels[i+1]
	}
	return selector
}

func labelled(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Labels[key] = value }
}

func selecting(key, value string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		if pod.Spec.NodeSelector == nil {
			pod.Spec.NodeSelector = map[string]string{}
		}
		pod.Spec.NodeSelector[key] = value
	}
}

type spread = corev1.TopologySpreadConstraint

func spreading(key string, skew int, selector *metav1.LabelSelector, changes ...func(*spread)) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		constraint := spread{TopologyKey: key, MaxSkew: int32(skew),
			WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector}
		if constraint.LabelSelector == nil {
			constraint.LabelSelector = selects("app", pod.Labels["app"])
		}
		for _, change := range changes {
			change(&constraint)
		}
		pod.Spec.TopologySpreadConstraints = append(pod.Spec.TopologySpreadConstraints, constraint)
	}
}

func softly(constraint *spread) { constraint.WhenUnsatisfiable = corev1.ScheduleAnyway }

func minDomains(count int) func(*spread) {
	return func(constraint *spread) {
		small := int32(count)
		constraint.MinDomains = &small
	}
}

func affinityOf(pod *corev1.Pod) *corev1.Affinity {
	if pod.Spec.Affinity == nil {
		pod.Spec.Affinity = &corev1.Affinity{}
	}
	return pod.Spec.Affinity
}

func term(key string, selector *metav1.LabelSelector) corev1.PodAffinityTerm {
	return corev1.PodAffinityTerm{TopologyKey: key, LabelSelector: selector}
}

// weight 0: required.
func near(weight int, terms ...corev1.PodAffinityTerm) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		affinity := affinityOf(pod)
		if affinity.PodAffinity == nil {
			affinity.PodAffinity = &corev1.PodAffinity{}
		}
		for _, one := range terms {
			if weight == 0 {
				affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(
					affinity.PodAffinity.RequiredDuringSchedulingIgnoredDuringExecution, one)
			} else {
				affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(
					affinity.PodAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
					corev1.WeightedPodAffinityTerm{Weight: int32(weight), PodAffinityTerm: one})
			}
		}
	}
}

func apart(weight int, terms ...corev1.PodAffinityTerm) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		affinity := affinityOf(pod)
		if affinity.PodAntiAffinity == nil {
			affinity.PodAntiAffinity = &corev1.PodAntiAffinity{}
		}
		for _, one := range terms {
			if weight == 0 {
				affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution = append(
					affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution, one)
			} else {
				affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(
					affinity.PodAntiAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
					corev1.WeightedPodAffinityTerm{Weight: int32(weight), PodAffinityTerm: one})
			}
		}
	}
}

// The name that the next workload will have.
func (d *draft) next(ahead int) string {
	return "w" + strconv.Itoa(d.workloads+ahead)
}

func (d *draft) runSome(most int, labels map[string]string, changes ...func(*corev1.Pod)) {
	for _, node := range d.nodes {
		if len(node.Spec.Taints) > 0 {
			continue
		}
		for range d.between(0, most) {
			d.running(node, labels, changes...)
		}
	}
}

func zoneSpread(d *draft) {
	d.simple(0, 4)
	for range d.between(1, 2) {
		changes := []func(*corev1.Pod){spreading(corev1.LabelTopologyZone, d.between(1, 3), nil)}
		if d.chance(25) {
			changes = append(changes, selecting(corev1.LabelTopologyZone, d.zones[0]))
		}
		if d.chance(25) {
			changes = append(changes, requiring([]corev1.NodeSelectorRequirement{
				in(corev1.LabelTopologyZone, some(d, d.zones...)...)}))
		}
		name := d.workload(d.between(2, 14), changes...)
		d.runSome(2, map[string]string{"app": name})
	}
	d.background(4)
}

func hostnameSpread(d *draft) {
	d.simple(0, 4)
	name := d.workload(d.between(2, 12), spreading(corev1.LabelHostname, d.between(1, 4), nil))
	d.runSome(2, map[string]string{"app": name})
	d.background(6)
}

func typeSpread(d *draft) {
	d.simple(0, 3)
	key := pick(d, v1.CapacityTypeLabelKey, corev1.LabelArchStable, v1alpha1.InstanceFamilyLabelKey)
	name := d.workload(d.between(2, 10), spreading(key, d.between(1, 2), nil))
	d.runSome(1, map[string]string{"app": name})
	if d.chance(50) {
		d.workload(d.between(1, 8), spreading(key, 1, nil), spreading(corev1.LabelTopologyZone, 1, nil))
	}
}

func customSpread(d *draft) {
	d.drawZones(2, 3)
	d.drawCatalog()
	values := []string{"red", "green", "blue"}[:d.between(2, 3)]
	switch d.random.Intn(3) {
	case 0:
		d.pool(require(in(customKey, values...)))
	case 1:
		for _, value := range values {
			d.pool(label(customKey, value))
		}
	default:
		d.pool(require(in(customKey, values[0])), weigh(10))
		d.pool(require(in(customKey, values[1:]...)))
		d.pool()
	}
	d.drawNodes(0, 3)
	name := d.workload(d.between(2, 10), spreading(customKey, d.between(1, 2), nil))
	d.runSome(1, map[string]string{"app": name})
	d.background(4)
}

// Two workloads that count each other.
func interdependent(d *draft) {
	d.simple(0, 3)
	first, second := d.next(1), d.next(2)
	key := pick(d, corev1.LabelTopologyZone, corev1.LabelHostname)
	d.workload(d.between(2, 8), spreading(key, 1, selects("app", second)))
	d.workload(d.between(2, 8), spreading(key, 1, selects("app", first)))
	if d.chance(50) {
		d.workload(d.between(1, 6), labelled("tier", "x"),
			spreading(corev1.LabelTopologyZone, 1, selects("tier", "x")))
		d.workload(d.between(1, 6), labelled("tier", "x"))
	}
}

func withMinDomains(d *draft) {
	d.simple(0, 3)
	key := pick(d, corev1.LabelTopologyZone, corev1.LabelTopologyZone, corev1.LabelHostname)
	name := d.workload(d.between(1, 10), spreading(key, d.between(1, 2), nil, minDomains(d.between(1, 5))))
	d.runSome(1, map[string]string{"app": name})
	d.background(3)
}

func inclusionPolicies(d *draft) {
	d.drawZones(2, 4)
	d.drawCatalog()
	d.pool(require(in(corev1.LabelTopologyZone, d.zones[0], d.zones[1])))
	d.pool(require(in(corev1.LabelTopologyZone, d.zones[1:]...)), taint("dedicated", "x", corev1.TaintEffectNoSchedule))
	d.drawNodes(0, 3)
	policies := func(constraint *spread) {
		honor, ignore := corev1.NodeInclusionPolicyHonor, corev1.NodeInclusionPolicyIgnore
		if d.chance(60) {
			constraint.NodeTaintsPolicy = &honor
		}
		if d.chance(40) {
			constraint.NodeAffinityPolicy = &ignore
		}
	}
	for range d.between(1, 2) {
		changes := []func(*corev1.Pod){spreading(corev1.LabelTopologyZone, 1, nil, policies)}
		if d.chance(40) {
			changes = append(changes, tolerating("dedicated", "x", corev1.TaintEffectNoSchedule))
		}
		if d.chance(40) {
			changes = append(changes, selecting(corev1.LabelTopologyZone, d.zones[1]))
		}
		name := d.workload(d.between(2, 8), changes...)
		d.runSome(1, map[string]string{"app": name})
	}
}

func matchLabelKeys(d *draft) {
	d.simple(0, 3)
	app := d.next(1)
	keyed := func(constraint *spread) { constraint.MatchLabelKeys = []string{"pod-template-hash"} }
	for _, hash := range []string{"one", "two"} {
		d.workload(d.between(2, 6), labelled("app", app), labelled("pod-template-hash", hash),
			spreading(pick(d, corev1.LabelTopologyZone, corev1.LabelHostname), 1, selects("app", app), keyed))
	}
	d.runSome(1, map[string]string{"app": app, "pod-template-hash": "one"})
}

func scheduleAnyway(d *draft) {
	d.simple(0, 3)
	key := pick(d, corev1.LabelTopologyZone, corev1.LabelHostname, v1.CapacityTypeLabelKey, "example.com/unknown")
	changes := []func(*corev1.Pod){spreading(key, 1, nil, softly)}
	if d.chance(40) {
		changes = append(changes, selecting(corev1.LabelTopologyZone, d.zones[0]))
	}
	if d.chance(40) {
		changes = append(changes, spreading(corev1.LabelHostname, 1, nil, softly))
	}
	name := d.workload(d.between(2, 10), changes...)
	d.runSome(2, map[string]string{"app": name})
	d.background(3)
}

func combinedSpread(d *draft) {
	d.simple(0, 3)
	changes := []func(*corev1.Pod){}
	for _, key := range some(d, corev1.LabelTopologyZone, corev1.LabelHostname, v1.CapacityTypeLabelKey) {
		changes = append(changes, spreading(key, d.between(1, 3), nil))
	}
	name := d.workload(d.between(2, 12), changes...)
	d.runSome(1, map[string]string{"app": name})
}

func selfAffinity(d *draft) {
	d.simple(0, 3)
	for range d.between(1, 2) {
		app := d.next(1)
		changes := []func(*corev1.Pod){near(0, term(
			pick(d, corev1.LabelTopologyZone, corev1.LabelTopologyZone, corev1.LabelHostname), selects("app", app)))}
		if d.chance(25) {
			changes = append(changes, selecting(corev1.LabelTopologyZone, d.zones[0]))
		}
		d.workload(d.between(1, 10), changes...)
		if d.chance(40) {
			d.runSome(1, map[string]string{"app": app})
		}
	}
	d.background(4)
}

func crossAffinity(d *draft) {
	d.simple(0, 3)
	target := d.next(1)
	changes := []func(*corev1.Pod){}
	if d.chance(60) {
		changes = append(changes, selecting(corev1.LabelTopologyZone, pick(d, d.zones...)))
	} else if d.chance(50) {
		changes = append(changes, near(0, term(corev1.LabelTopologyZone, selects("app", target))))
	}
	if d.chance(80) {
		d.workload(d.between(1, 4), changes...)
	} else {
		d.workloads++
		d.runSome(1, map[string]string{"app": target})
	}
	follower := d.next(1)
	d.workload(d.between(1, 5), near(0, term(pick(d, corev1.LabelTopologyZone, corev1.LabelHostname),
		selects("app", target))))
	if d.chance(60) { // a chain
		d.workload(d.between(1, 3), near(0, term(corev1.LabelTopologyZone, selects("app", follower))))
	}
	if d.chance(30) { // nobody is that
		d.workload(1, near(0, term(corev1.LabelTopologyZone, selects("app", "nobody"))))
	}
}

func antiAffinity(d *draft) {
	d.simple(0, 4)
	first, second := d.next(1), d.next(2)
	key := pick(d, corev1.LabelTopologyZone, corev1.LabelHostname, corev1.LabelHostname)
	changes := []func(*corev1.Pod){apart(0, term(key, selects("app", first)))}
	if d.chance(25) {
		changes = append(changes, selecting(corev1.LabelTopologyZone, pick(d, d.zones...)))
	}
	d.workload(d.between(1, 7), changes...)
	if d.chance(60) {
		d.workload(d.between(1, 5), apart(0, term(pick(d, key, corev1.LabelTopologyZone), selects("app", first))))
	}
	if d.chance(30) {
		d.workload(d.between(1, 4), apart(0, term(corev1.LabelHostname, selects("app", second))))
	}
	d.runSome(1, map[string]string{"app": pick(d, first, second)})
	d.background(4)
}

// Anti-affinity of pods that run already, against the pending ones.
func inverseAntiAffinity(d *draft) {
	d.simple(1, 5)
	app := d.next(1)
	key := pick(d, corev1.LabelTopologyZone, corev1.LabelHostname)
	d.runSome(1, map[string]string{"app": "guard"}, apart(0, term(key, selects("app", app))))
	d.workload(d.between(1, 6))
	if d.chance(50) {
		d.workload(d.between(1, 4), apart(0, term(key, selects("app", app))))
	}
	d.background(3)
}

func namespaces(d *draft) {
	d.simple(0, 3)
	for _, name := range []string{"default", "red", "blue"} {
		d.add(&corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
			ObjectMeta: metav1.ObjectMeta{Name: name, UID: d.uid(),
				Labels: map[string]string{"kubernetes.io/metadata.name": name, "tint": name}}})
	}
	inside := func(namespace string) func(*corev1.Pod) {
		return func(pod *corev1.Pod) { pod.Namespace = namespace }
	}
	place := term(pick(d, corev1.LabelTopologyZone, corev1.LabelHostname), selects("app", "shared"))
	switch d.random.Intn(4) {
	case 0:
	case 1:
		place.Namespaces = []string{"red"}
	case 2:
		place.NamespaceSelector = selects("tint", "red")
	default:
		place.NamespaceSelector = &metav1.LabelSelector{}
	}
	for _, name := range []string{"red", "blue", "default"} {
		if d.chance(60) {
			d.workload(d.between(1, 2), inside(name), labelled("app", "shared"),
				selecting(corev1.LabelTopologyZone, pick(d, d.zones...)))
		}
		if d.chance(40) {
			d.runSome(1, map[string]string{"app": "shared"}, inside(name))
		}
	}
	if d.chance(50) {
		d.workload(d.between(1, 4), inside(pick(d, "default", "red", "blue")), near(0, place))
	}
	d.workload(d.between(1, 4), inside(pick(d, "default", "red", "blue")), apart(0, place))
}

func preferredAffinity(d *draft) {
	d.simple(0, 3)
	first, second := d.next(1), d.next(2)
	key := func() string { return pick(d, corev1.LabelTopologyZone, corev1.LabelHostname) }
	d.workload(d.between(1, 6), apart(pick(d, 1, 10, 100), term(key(), selects("app", first))))
	changes := []func(*corev1.Pod){near(pick(d, 1, 50), term(key(), selects("app", first)))}
	if d.chance(40) {
		changes = append(changes, apart(pick(d, 5, 60), term(key(), selects("app", second))))
	}
	if d.chance(40) {
		changes = append(changes, near(30, term(corev1.LabelTopologyZone, selects("app", "nobody"))))
	}
	d.workload(d.between(1, 6), changes...)
	d.runSome(1, map[string]string{"app": pick(d, first, second)})
}
