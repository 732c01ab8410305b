package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// Capacity reservations: of a type in a zone, with few machines free or none. As good as for nothing,
// but in the order of the types' prices.
func (d *draft) reserve(number int) string {
	id := fmt.Sprintf("cr-%d", number)
	kind := &d.catalog[d.random.Intn(len(d.catalog))]
	cores := kind.Resources.Cpu().Value()
	kind.Offerings = append(kind.Offerings, catalogOffering{
		Requirements: []corev1.NodeSelectorRequirement{in(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved),
			in(corev1.LabelTopologyZone, pick(d, d.zones...)), in(reservationKey, id)},
		Price: float64(cores) * 1e-6, Available: true, ReservationCapacity: pick(d, 0, 1, 1, 2, 3)})
	return id
}

func (d *draft) anyReservedRequirement(ids []string) corev1.NodeSelectorRequirement {
	switch d.random.Intn(5) {
	case 0:
		return in(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved)
	case 1:
		return in(v1.CapacityTypeLabelKey, v1.CapacityTypeReserved, pick(d, "spot", "on-demand"))
	case 2:
		return in(v1.CapacityTypeLabelKey, pick(d, "spot", "on-demand"))
	case 3:
		return in(reservationKey, some(d, ids...)...)
	}
	return needs(reservationKey, pick(d, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist))
}

func reserved(d *draft) {
	d.drawZones(1, 3)
	d.drawCatalog()
	var ids []string
	for i := range d.between(1, 5) {
		ids = append(ids, d.reserve(i+1))
	}
	for range d.between(1, 3) {
		narrowed := d.anyPoolRequirement()
		if d.chance(40) {
			narrowed = require(in(v1.CapacityTypeLabelKey, some(d, "reserved", "spot", "on-demand")...))
		}
		d.pool(narrowed, weigh(pick(d, 0, 0, 10, 50)))
	}
	d.drawNodes(0, 2)
	for range d.between(1, 4) {
		var changes []func(*corev1.Pod)
		name := fmt.Sprintf("w%d", d.workloads+1)
		if d.chance(40) {
			changes = append(changes, requiring([]corev1.NodeSelectorRequirement{d.anyReservedRequirement(ids)}))
		}
		if d.chance(30) {
			changes = append(changes, preferring(pick(d, 1, 50), d.anyReservedRequirement(ids)))
		}
		if d.chance(30) {
			changes = append(changes, apart(0, term(pick(d, corev1.LabelHostname, corev1.LabelTopologyZone), selects("app", name))))
		} else if d.chance(20) {
			changes = append(changes, asking(amounts("cpu", pick(d, "3", "7", "15"), "memory", "1Gi")))
		}
		d.workload(d.between(1, 6), changes...)
	}
}
