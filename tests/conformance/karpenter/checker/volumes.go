package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// volumes are the claims that wait for their first consumer: its zone becomes theirs, and whoever comes
// after must be there too. The scheduler's own plugin learns that only from the volume controllers.
type volumes struct {
	waiting map[string]bool   // claims, by namespace and name
	zones   map[string]string // of those that have a volume now
	zoneOf  map[string]string // of nodes
}

func (w *world) newVolumes(nodes []*corev1.Node) *volumes {
	result := &volumes{map[string]bool{}, map[string]string{}, map[string]string{}}
	for _, node := range nodes {
		result.zoneOf[node.Name] = node.Labels[corev1.LabelTopologyZone]
	}
	for _, object := range w.objects {
		claim, isClaim := object.(*corev1.PersistentVolumeClaim)
		if isClaim && claim.Spec.VolumeName == "" {
			result.waiting[claim.Namespace+"/"+claim.Name] = true
		}
	}
	return result
}

func (v *volumes) each(pod *corev1.Pod, visit func(claim string)) {
	for _, volume := range pod.Spec.Volumes {
		if volume.PersistentVolumeClaim == nil {
			continue
		}
		if claim := pod.Namespace + "/" + volume.PersistentVolumeClaim.ClaimName; v.waiting[claim] {
			visit(claim)
		}
	}
}

func (v *volumes) refuse(pod *corev1.Pod, node string) string {
	said := ""
	v.each(pod, func(claim string) {
		if zone := v.zones[claim]; zone != "" && zone != v.zoneOf[node] {
			said = fmt.Sprintf("the volume of claim %s is in %s, where another pod came first", claim, zone)
		}
	})
	return said
}

func (v *volumes) bind(pod *corev1.Pod, node string) {
	v.each(pod, func(claim string) { v.zones[claim] = v.zoneOf[node] })
}
