package main

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// What the themes have one by one, at once: a cluster with pools of every kind, and workloads with up to
// three constraints each.

func (d *draft) anyPool() {
	changes := []func(*v1.NodePool){d.anyPoolRequirement(), weigh(pick(d, 0, 0, 0, 10, 50))}
	if d.chance(25) {
		changes = append(changes, taint("dedicated", pick(d, "x", ""), pick(d, corev1.TaintEffectNoSchedule,
			corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule)))
	}
	if d.chance(25) {
		changes = append(changes, label(customKey, pick(d, "red", "green")))
	} else if d.chance(25) {
		changes = append(changes, require(in(customKey, some(d, "red", "green", "blue")...)))
	}
	if d.chance(15) {
		changes = append(changes, limit("cpu", fmt.Sprint(d.between(4, 64))))
	}
	if d.chance(10) {
		changes = append(changes, requireSome(
			needs(corev1.LabelInstanceTypeStable, corev1.NodeSelectorOpExists), d.between(2, 5)))
	}
	d.pool(changes...)
}

// A constraint of the workload that is called name; others are those that may be there too.
func (d *draft) anyConstraint(name string, others []string, number int) func(*corev1.Pod) {
	key := pick(d, corev1.LabelTopologyZone, corev1.LabelTopologyZone, corev1.LabelHostname, v1.CapacityTypeLabelKey)
	place := pick(d, corev1.LabelTopologyZone, corev1.LabelHostname)
	like := selects("app", name)
	other := selects("app", pick(d, others...))
	switch d.random.Intn(17) {
	case 0, 1:
		return spreading(key, d.between(1, 3), like)
	case 2:
		return spreading(key, 1, like, softly)
	case 3:
		return spreading(place, d.between(1, 2), pick(d, like, other), minDomains(d.between(1, 3)))
	case 4:
		return apart(0, term(place, like))
	case 5:
		return apart(0, term(place, other))
	case 6:
		return near(0, term(place, like))
	case 7:
		return near(0, term(corev1.LabelTopologyZone, other))
	case 8:
		return apart(pick(d, 1, 50), term(place, pick(d, like, other)))
	case 9:
		return near(pick(d, 1, 50), term(place, pick(d, like, other)))
	case 10:
		return requiring([]corev1.NodeSelectorRequirement{d.anyPodRequirement()})
	case 11:
		return requiring([]corev1.NodeSelectorRequirement{d.anyPodRequirement()},
			[]corev1.NodeSelectorRequirement{d.anyPodRequirement()})
	case 12:
		return preferring(pick(d, 1, 10, 100), d.anyPodRequirement())
	case 13:
		return tolerating("dedicated", pick(d, "x", ""), "")
	case 14:
		return requiring([]corev1.NodeSelectorRequirement{needs(customKey,
			pick(d, corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn), some(d, "red", "green", "blue")...)})
	case 15:
		return selecting(corev1.LabelTopologyZone, pick(d, d.zones...))
	}
	claim := fmt.Sprintf("%s-shared-%d", name, number)
	d.bound(claim, atZones(some(d, d.zones...)...))
	return mounting(claim)
}

func everything(d *draft) {
	d.drawZones(2, 4)
	d.drawCatalog()
	for range d.between(1, 4) {
		d.anyPool()
	}
	d.drawNodes(0, 6)
	d.class("zonal", "WaitForFirstConsumer")
	if d.chance(30) {
		set := &appsv1.DaemonSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent", UID: d.uid()}}
		set.Spec.Selector = selects("daemon", "agent")
		set.Spec.Template.Labels = map[string]string{"daemon": "agent"}
		set.Spec.Template.Spec = newPod("", nil).Spec
		set.Spec.Template.Spec.Containers[0].Resources.Requests = amounts("cpu", "150m", "memory", "200Mi")
		tolerations := &corev1.Pod{Spec: set.Spec.Template.Spec}
		if d.chance(50) {
			tolerating("dedicated", "", "")(tolerations)
			set.Spec.Template.Spec = tolerations.Spec
		}
		d.add(set)
	}
	count := d.between(2, 6)
	var names []string
	for i := range count {
		names = append(names, d.next(i+1))
	}
	for i, name := range names {
		changes := []func(*corev1.Pod){}
		for number := range d.between(0, 3) {
			changes = append(changes, d.anyConstraint(name, names, i*10+number))
		}
		d.workload(d.between(1, 8), changes...)
	}
	for _, name := range some(d, names...) {
		d.runSome(1, map[string]string{"app": name})
	}
}
