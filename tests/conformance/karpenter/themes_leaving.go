package main

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// An object that is deleted, and waits for its finalizer.
func leave(object client.Object) {
	now := metav1.NewTime(time.Unix(1700000100, 0))
	object.SetDeletionTimestamp(&now)
	object.SetFinalizers([]string{v1.TerminationFinalizer})
}

// Nodes that are being deleted: they take no pod any more, and their pods need a place elsewhere before
// they are gone; those that stay on them count for topology still. A Node whose NodeClaim stays is not one of them.
func leavingNodes(d *draft) {
	d.drawZones(1, 3)
	d.drawCatalog()
	for range d.between(1, 2) {
		changes := []func(*v1.NodePool){d.anyPoolRequirement()}
		if d.chance(30) {
			changes = append(changes, limit("cpu", pick(d, "12", "20", "40")))
		}
		d.pool(changes...)
	}
	var going []*corev1.Node
	for range d.between(1, 4) {
		pool := pick(d, d.pools[0], d.pools[len(d.pools)-1], nil)
		kind := pick(d, "leaves", "leaves", "leaves", "node only", "stays")
		node := d.node(pool, "", func(node *corev1.Node, claim *v1.NodeClaim) {
			if kind == "leaves" && claim != nil {
				leave(claim)
			}
			if kind != "stays" {
				leave(node)
			}
		})
		if kind == "leaves" || kind == "node only" && pool == nil {
			going = append(going, node)
		}
		d.fill(node)
	}
	d.drawNodes(0, 4)
	for range d.between(1, 4) {
		like := selects("app", d.next(1))
		changes := []func(*corev1.Pod){func(*corev1.Pod) {}}
		switch d.random.Intn(8) {
		case 0, 1:
			changes = append(changes, spreading(corev1.LabelTopologyZone, d.between(1, 2), like))
		case 2:
			changes = append(changes, apart(0, term(pick(d, corev1.LabelTopologyZone, corev1.LabelHostname), like)))
		case 3:
			changes = append(changes, near(0, term(pick(d, corev1.LabelTopologyZone, corev1.LabelHostname), like)))
		case 4:
			changes = append(changes, requiring([]corev1.NodeSelectorRequirement{d.anyPodRequirement()}))
		}
		first := len(d.pods)
		d.workload(d.between(2, 8), changes...)
		for _, pod := range d.pods[first:] {
			if len(going) > 0 && d.chance(50) {
				pod.Spec.NodeName = going[d.random.Intn(len(going))].Name
				pod.Status.Phase = corev1.PodRunning
				if d.chance(35) {
					pod.Annotations = map[string]string{v1.DoNotDisruptAnnotationKey: "true"}
				} else if d.chance(10) {
					leave(pod)
				}
			}
		}
	}
}
