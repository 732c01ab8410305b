package main

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The themes of volumes. Claims are named PREFIX-PLACE for a pod's own, PLACE being its number.

const place = "PLACE"

func replacePlace(name string, number int) string {
	return strings.ReplaceAll(name, place, strconv.Itoa(number))
}

func mounting(claim string) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{
			Name: fmt.Sprintf("v%d", len(pod.Spec.Volumes)),
			VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{
				ClaimName: claim}}})
	}
}

const noProvisioner = "kubernetes.io/no-provisioner"

func (d *draft) class(name string, mode storagev1.VolumeBindingMode, topologies ...[]string) {
	d.classOf(name, "csi.example.com", mode, topologies...)
}

func (d *draft) classOf(name, provisioner string, mode storagev1.VolumeBindingMode, topologies ...[]string) {
	class := &storagev1.StorageClass{
		TypeMeta:    metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "StorageClass"},
		ObjectMeta:  metav1.ObjectMeta{Name: name, UID: d.uid()},
		Provisioner: provisioner, VolumeBindingMode: &mode}
	for _, zones := range topologies {
		class.AllowedTopologies = append(class.AllowedTopologies, corev1.TopologySelectorTerm{
			MatchLabelExpressions: []corev1.TopologySelectorLabelRequirement{
				{Key: corev1.LabelTopologyZone, Values: zones}}})
	}
	d.add(class)
}

func (d *draft) claim(name, class string) *corev1.PersistentVolumeClaim {
	claim := &corev1.PersistentVolumeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: d.uid()}}
	claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	if class != "" {
		claim.Spec.StorageClassName = &class
	}
	claim.Status.Phase = corev1.ClaimPending
	d.add(claim)
	return claim
}

// A claim bound to a volume of its own, which is at any of the terms' places.
func (d *draft) bound(name string, terms ...[]corev1.NodeSelectorRequirement) *corev1.PersistentVolume {
	claim := d.claim(name, "zonal")
	claim.Spec.VolumeName = "pv-" + name
	claim.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
	claim.Status.Phase = corev1.ClaimBound
	volume := &corev1.PersistentVolume{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"},
		ObjectMeta: metav1.ObjectMeta{Name: claim.Spec.VolumeName, UID: d.uid()}}
	volume.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	volume.Spec.AccessModes = claim.Spec.AccessModes
	volume.Spec.StorageClassName = "zonal"
	volume.Spec.ClaimRef = &corev1.ObjectReference{Kind: "PersistentVolumeClaim", Namespace: "default",
		Name: name, UID: claim.UID}
	volume.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: "csi.example.com", VolumeHandle: "vol-" + name}
	if len(terms) > 0 {
		volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{}}
		for _, term := range terms {
			volume.Spec.NodeAffinity.Required.NodeSelectorTerms = append(
				volume.Spec.NodeAffinity.Required.NodeSelectorTerms, corev1.NodeSelectorTerm{MatchExpressions: term})
		}
	}
	volume.Status.Phase = corev1.VolumeBound
	d.add(volume)
	return volume
}

// A volume on the disk of a node that nobody has claimed.
func (d *draft) localVolume(name, class string, terms ...corev1.NodeSelectorRequirement) *corev1.PersistentVolume {
	volume := &corev1.PersistentVolume{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "PersistentVolume"},
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: d.uid()}}
	volume.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("10Gi")}
	volume.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	volume.Spec.StorageClassName = class
	volume.Spec.Local = &corev1.LocalVolumeSource{Path: "/mnt/disk"}
	volume.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: terms}}}}
	volume.Status.Phase = corev1.VolumeAvailable
	d.add(volume)
	return volume
}

func atZones(zones ...string) []corev1.NodeSelectorRequirement {
	return []corev1.NodeSelectorRequirement{in(corev1.LabelTopologyZone, zones...)}
}

func (d *draft) withClasses(leastNodes, mostNodes int) {
	d.simple(leastNodes, mostNodes)
	d.class("zonal", storagev1.VolumeBindingWaitForFirstConsumer)
}

func boundVolumes(d *draft) {
	d.withClasses(0, 3)
	for range d.between(1, 2) {
		name, count := d.next(1), d.between(1, 6)
		for i := range count {
			claim := fmt.Sprintf("%s-%d", name, i)
			switch d.random.Intn(4) {
			case 0:
				d.bound(claim, atZones(some(d, d.zones...)...))
			case 1: // alternatives
				d.bound(claim, atZones(d.zones[0]), atZones(d.zones[len(d.zones)-1]))
			default:
				d.bound(claim, atZones(pick(d, d.zones...)))
			}
		}
		changes := []func(*corev1.Pod){mounting(name + "-" + place)}
		for _, change := range some(d, func(*corev1.Pod) {}, func(*corev1.Pod) {},
			spreading(corev1.LabelTopologyZone, d.between(1, 2), nil),
			selecting(corev1.LabelTopologyZone, d.zones[0])) {
			changes = append(changes, change)
		}
		d.workload(count, changes...)
	}
	d.background(3)
}

func allowedTopologies(d *draft) {
	d.withClasses(0, 3)
	d.class("one", storagev1.VolumeBindingWaitForFirstConsumer, []string{pick(d, d.zones...)})
	d.class("two", storagev1.VolumeBindingWaitForFirstConsumer, []string{d.zones[0]}, []string{d.zones[1]})
	d.class("some", storagev1.VolumeBindingWaitForFirstConsumer, some(d, d.zones...))
	for range d.between(1, 3) {
		name, count := d.next(1), d.between(1, 5)
		class := pick(d, "one", "two", "some", "zonal")
		for i := range count {
			d.claim(fmt.Sprintf("%s-%d", name, i), class)
		}
		changes := []func(*corev1.Pod){mounting(name + "-" + place)}
		if d.chance(40) {
			changes = append(changes, spreading(corev1.LabelTopologyZone, 1, nil))
		}
		if d.chance(20) {
			changes = append(changes, near(0, term(corev1.LabelTopologyZone, selects("app", name))))
		}
		d.workload(count, changes...)
	}
}

func severalVolumes(d *draft) {
	d.withClasses(0, 2)
	d.class("some", storagev1.VolumeBindingWaitForFirstConsumer, d.zones[:2])
	d.bound("shared", atZones(pick(d, d.zones...)))
	for range d.between(1, 3) {
		name, count := d.next(1), d.between(1, 4)
		changes := []func(*corev1.Pod){}
		for volume := range d.between(1, 3) {
			if d.chance(25) {
				changes = append(changes, mounting("shared"))
				continue
			}
			prefix := fmt.Sprintf("%s-v%d", name, volume)
			changes = append(changes, mounting(prefix+"-"+place))
			for i := range count {
				if d.chance(50) {
					d.bound(fmt.Sprintf("%s-%d", prefix, i), atZones(some(d, d.zones...)...))
				} else {
					d.claim(fmt.Sprintf("%s-%d", prefix, i), pick(d, "some", "zonal"))
				}
			}
		}
		d.workload(count, changes...)
	}
}

func localVolumes(d *draft) {
	d.withClasses(1, 4)
	name, count := d.next(1), d.between(1, 4)
	for i := range count {
		node := d.nodes[d.random.Intn(len(d.nodes))]
		terms := []corev1.NodeSelectorRequirement{in(corev1.LabelHostname, node.Name)}
		if d.chance(50) {
			terms = append(terms, in(corev1.LabelTopologyZone, node.Labels[corev1.LabelTopologyZone]))
		}
		volume := d.bound(fmt.Sprintf("%s-%d", name, i), terms)
		switch d.random.Intn(3) {
		case 0:
			volume.Spec.CSI, volume.Spec.Local = nil, &corev1.LocalVolumeSource{Path: "/mnt/disk"}
		case 1:
			volume.Spec.CSI, volume.Spec.HostPath = nil, &corev1.HostPathVolumeSource{Path: "/mnt/disk"}
		}
	}
	d.workload(count, mounting(name+"-"+place))
	d.background(3)
}

// Claims that wait for local volumes; each node of them has one for every pod.
func freeLocalVolumes(d *draft) {
	d.withClasses(1, 5)
	d.classOf("static", noProvisioner, storagev1.VolumeBindingWaitForFirstConsumer)
	name, count := d.next(1), d.between(1, 5)
	for _, node := range some(d, d.nodes...) {
		for i := range count {
			volume := d.localVolume(fmt.Sprintf("pv-%s-%d", node.Name, i), "static",
				in(corev1.LabelHostname, node.Name))
			if d.chance(30) {
				volume.Spec.Local, volume.Spec.HostPath = nil, &corev1.HostPathVolumeSource{Path: "/mnt/disk"}
			}
		}
	}
	for i := range count {
		d.claim(fmt.Sprintf("%s-%d", name, i), "static")
	}
	d.workload(count, mounting(name+"-"+place))
	d.background(3)
}

// Claims that keep their pod out of the round, beside some that do not.
func invalidVolumes(d *draft) {
	d.withClasses(0, 2)
	d.class("immediate", storagev1.VolumeBindingImmediate)
	for i := range d.between(1, 4) {
		claim := fmt.Sprintf("odd-%d", i)
		switch d.random.Intn(8) {
		case 0: // no such claim
		case 1:
			d.claim(claim, "immediate")
		case 2:
			d.claim(claim, "no-such-class")
		case 3:
			d.claim(claim, "")
		case 4:
			d.claim(claim, "zonal").Status.Phase = corev1.ClaimLost
		case 5: // no such volume
			lost := d.claim(claim, "zonal")
			lost.Spec.VolumeName, lost.Status.Phase = "pv-nowhere", corev1.ClaimBound
			lost.Annotations = map[string]string{"pv.kubernetes.io/bind-completed": "yes"}
		case 6: // bound in one direction only
			volume := d.bound(claim, atZones(d.zones[0]))
			for _, object := range d.state {
				half, isClaim := object.(*corev1.PersistentVolumeClaim)
				if isClaim && half.Spec.VolumeName == volume.Name {
					half.Annotations, half.Status.Phase = nil, corev1.ClaimPending
				}
			}
		default:
			d.bound(claim)
		}
		d.workload(d.between(1, 2), mounting(claim))
	}
	d.claim("fine", "zonal")
	d.workload(1, mounting("fine"))
	d.background(3)
}

func attachLimits(d *draft) {
	d.withClasses(1, 4)
	for i, node := range d.nodes {
		count := int32(d.between(0, 3))
		csi := &storagev1.CSINode{TypeMeta: metav1.TypeMeta{APIVersion: "storage.k8s.io/v1", Kind: "CSINode"},
			ObjectMeta: metav1.ObjectMeta{Name: node.Name, UID: d.uid()}}
		driver := storagev1.CSINodeDriver{Name: "csi.example.com", NodeID: node.Name}
		if d.chance(80) {
			driver.Allocatable = &storagev1.VolumeNodeResources{Count: &count}
		}
		csi.Spec.Drivers = []storagev1.CSINodeDriver{driver}
		d.add(csi)
		if d.chance(50) {
			claim := fmt.Sprintf("taken-%d", i)
			d.bound(claim, atZones(node.Labels[corev1.LabelTopologyZone]))
			d.running(node, map[string]string{"app": "taken"}, mounting(claim))
		}
	}
	d.claim("both", "zonal")
	for range d.between(1, 3) {
		name, count := d.next(1), d.between(1, 6)
		for i := range count {
			if d.chance(50) {
				d.claim(fmt.Sprintf("%s-%d", name, i), "zonal")
			} else {
				d.bound(fmt.Sprintf("%s-%d", name, i), atZones(pick(d, d.zones...)))
			}
		}
		changes := []func(*corev1.Pod){mounting(name + "-" + place)}
		if d.chance(30) {
			changes = append(changes, mounting("both"))
		}
		d.workload(count, changes...)
	}
}
