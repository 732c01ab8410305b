package main

import (
	"fmt"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// The themes of what a node must be: requirements, taints, pools, room.

// One required term an argument: they are alternatives.
func requiring(terms ...[]corev1.NodeSelectorRequirement) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		affinity := affinityOf(pod)
		if affinity.NodeAffinity == nil {
			affinity.NodeAffinity = &corev1.NodeAffinity{}
		}
		selector := &corev1.NodeSelector{}
		for _, expressions := range terms {
			selector.NodeSelectorTerms = append(selector.NodeSelectorTerms,
				corev1.NodeSelectorTerm{MatchExpressions: expressions})
		}
		affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution = selector
	}
}

func preferring(weight int, expressions ...corev1.NodeSelectorRequirement) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		affinity := affinityOf(pod)
		if affinity.NodeAffinity == nil {
			affinity.NodeAffinity = &corev1.NodeAffinity{}
		}
		affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution = append(
			affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution,
			corev1.PreferredSchedulingTerm{Weight: int32(weight),
				Preference: corev1.NodeSelectorTerm{MatchExpressions: expressions}})
	}
}

func tolerating(key, value string, effect corev1.TaintEffect) func(*corev1.Pod) {
	return func(pod *corev1.Pod) {
		toleration := corev1.Toleration{Key: key, Operator: corev1.TolerationOpEqual, Value: value, Effect: effect}
		if value == "" {
			toleration.Operator = corev1.TolerationOpExists
		}
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, toleration)
	}
}

func asking(requests corev1.ResourceList) func(*corev1.Pod) {
	return func(pod *corev1.Pod) { pod.Spec.Containers[0].Resources.Requests = requests }
}

func amounts(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

// A cluster with one or two plain pools.
func (d *draft) simple(leastNodes, mostNodes int) {
	d.drawZones(2, 4)
	d.drawCatalog()
	d.pool()
	if d.chance(30) {
		d.pool(d.anyPoolRequirement(), weigh(pick(d, 0, 0, 5, 50)))
	}
	d.drawNodes(leastNodes, mostNodes)
}

func packing(d *draft) {
	d.drawZones(1, 3)
	d.drawCatalog()
	d.pool(d.anyPoolRequirement(), d.anyPoolRequirement())
	d.drawNodes(0, 3)
	for range d.between(1, 5) {
		switch d.random.Intn(5) {
		case 0: // as small as can be, and many
			d.workload(d.between(5, 30), asking(amounts("cpu", "10m", "memory", "16Mi")))
		case 1:
			d.workload(d.between(1, 4), asking(corev1.ResourceList{}))
		case 2: // larger than most
			d.workload(d.between(1, 3), asking(amounts("cpu", pick(d, "7", "15", "31", "64"), "memory", "1Gi")))
		default:
			d.workload(d.between(1, 12))
		}
	}
}

// Any requirement a pod can have on keys that the catalogue knows.
func (d *draft) anyPodRequirement() corev1.NodeSelectorRequirement {
	switch d.random.Intn(10) {
	case 0:
		return in(corev1.LabelTopologyZone, some(d, append([]string{"test-zone-x"}, d.zones...)...)...)
	case 1:
		return needs(corev1.LabelTopologyZone, corev1.NodeSelectorOpNotIn, some(d, d.zones...)...)
	case 2:
		return in(v1.CapacityTypeLabelKey, pick(d, "spot", "on-demand", "reserved"))
	case 3:
		return needs(v1alpha1.InstanceCPULabelKey, corev1.NodeSelectorOpGt, pick(d, "2", "4", "15", "64"))
	case 4:
		return needs(v1alpha1.InstanceCPULabelKey, corev1.NodeSelectorOpLt, pick(d, "3", "9", "32"))
	case 5:
		return needs(pick(d, corev1.LabelTopologyZone, corev1.LabelInstanceTypeStable, corev1.LabelTopologyRegion),
			pick(d, corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist))
	case 6:
		return in(corev1.LabelArchStable, pick(d, "amd64", "arm64"))
	case 7:
		return in(v1alpha1.InstanceFamilyLabelKey, some(d, "c", "s", "m", "z")...)
	case 8:
		return in(corev1.LabelInstanceTypeStable, d.catalog[d.random.Intn(len(d.catalog))].Name)
	}
	return in("failure-domain.beta.kubernetes.io/zone", pick(d, d.zones...))
}

func wellKnownLabels(d *draft) {
	d.drawZones(2, 4)
	d.drawCatalog()
	d.pool(d.anyPoolRequirement())
	if d.chance(40) {
		d.pool(d.anyPoolRequirement(), d.anyPoolRequirement())
	}
	d.drawNodes(0, 4)
	for range d.between(1, 4) {
		requirements := []corev1.NodeSelectorRequirement{d.anyPodRequirement()}
		if d.chance(40) {
			requirements = append(requirements, d.anyPodRequirement())
		}
		d.workload(d.between(1, 5), requiring(requirements))
	}
	d.background(3)
}

func alternatives(d *draft) {
	d.drawZones(2, 4)
	d.drawCatalog()
	d.pool(d.anyPoolRequirement())
	d.drawNodes(0, 3)
	for range d.between(1, 3) {
		terms := [][]corev1.NodeSelectorRequirement{}
		for range d.between(1, 3) {
			terms = append(terms, []corev1.NodeSelectorRequirement{d.anyPodRequirement()})
		}
		changes := []func(*corev1.Pod){requiring(terms...)}
		for range d.between(0, 2) {
			changes = append(changes, preferring(pick(d, 1, 10, 100), d.anyPodRequirement()))
		}
		d.workload(d.between(1, 5), changes...)
	}
}

func preferences(d *draft) {
	d.drawZones(2, 4)
	d.drawCatalog()
	d.pool(d.anyPoolRequirement())
	d.drawNodes(0, 3)
	d.settings.IgnorePreferences = d.chance(25)
	for range d.between(1, 3) {
		changes := []func(*corev1.Pod){}
		for range d.between(1, 3) {
			changes = append(changes, preferring(pick(d, 1, 10, 100), d.anyPodRequirement()))
		}
		if d.chance(25) {
			changes = append(changes, spreading(corev1.LabelTopologyZone, 1, nil, softly))
		}
		if d.chance(25) {
			changes = append(changes, apart(7, term(corev1.LabelHostname, selects("app", d.next(1)))))
		}
		d.workload(d.between(1, 5), changes...)
	}
}

// Keys that no instance type has.
func customLabels(d *draft) {
	d.drawZones(1, 3)
	d.drawCatalog()
	operators := []corev1.NodeSelectorOperator{corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn,
		corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist}
	of := func(key string) corev1.NodeSelectorRequirement {
		operator := pick(d, operators...)
		if operator == corev1.NodeSelectorOpIn || operator == corev1.NodeSelectorOpNotIn {
			return needs(key, operator, some(d, "red", "green", "blue")...)
		}
		return needs(key, operator)
	}
	for range d.between(1, 3) {
		switch d.random.Intn(4) {
		case 0:
			d.pool()
		case 1:
			d.pool(label(customKey, pick(d, "red", "green")))
		case 2:
			d.pool(require(of(customKey)))
		default:
			d.pool(require(needs("example.com/rank", pick(d, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt), "5")))
		}
	}
	d.drawNodes(0, 3)
	for range d.between(1, 4) {
		requirement := of(customKey)
		if d.chance(20) {
			requirement = needs("example.com/rank", pick(d, corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt),
				pick(d, "3", "6", "7"))
		}
		d.workload(d.between(1, 4), requiring([]corev1.NodeSelectorRequirement{requirement}))
	}
}

func taints(d *draft) {
	d.drawZones(1, 3)
	d.drawCatalog()
	for range d.between(1, 3) {
		changes := []func(*v1.NodePool){weigh(pick(d, 0, 0, 5, 50))}
		if d.chance(70) {
			changes = append(changes, taint(pick(d, "dedicated", "other"), pick(d, "x", "y", ""),
				pick(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, corev1.TaintEffectPreferNoSchedule)))
		}
		if d.chance(30) {
			changes = append(changes, func(pool *v1.NodePool) {
				pool.Spec.Template.Spec.StartupTaints = []corev1.Taint{
					{Key: "starting", Effect: corev1.TaintEffectNoSchedule}}
			})
		}
		d.pool(changes...)
	}
	d.drawNodes(0, 4)
	for range d.between(1, 4) {
		changes := []func(*corev1.Pod){}
		if d.chance(60) {
			changes = append(changes, tolerating(pick(d, "dedicated", "other"), pick(d, "x", "y", ""),
				pick(d, corev1.TaintEffectNoSchedule, corev1.TaintEffectNoExecute, "")))
		}
		if d.chance(20) {
			changes = append(changes, preferring(5, in(corev1.LabelTopologyZone, "test-zone-x")))
		}
		d.workload(d.between(1, 5), changes...)
	}
}

func weights(d *draft) {
	d.drawZones(1, 3)
	d.drawCatalog()
	for range d.between(2, 5) {
		d.pool(d.anyPoolRequirement(), d.anyPoolRequirement(), weigh(pick(d, 0, 1, 10, 10, 100)))
	}
	d.drawNodes(0, 2)
	for range d.between(1, 4) {
		d.workload(d.between(1, 8))
	}
	if d.chance(50) {
		d.workload(d.between(1, 4), requiring([]corev1.NodeSelectorRequirement{d.anyPodRequirement()}))
	}
}

func limits(d *draft) {
	d.drawZones(1, 3)
	d.drawCatalog()
	for range d.between(1, 3) {
		changes := []func(*v1.NodePool){weigh(pick(d, 0, 5, 50)), d.anyPoolRequirement()}
		for _, one := range some(d, limit("cpu", strconv.Itoa(d.between(1, 48))),
			limit("memory", fmt.Sprintf("%dGi", d.between(2, 200))), limit("nodes", strconv.Itoa(d.between(0, 3)))) {
			changes = append(changes, one)
		}
		d.pool(changes...)
	}
	d.drawNodes(0, 2)
	for range d.between(1, 3) {
		d.workload(d.between(1, 10))
	}
}

func daemons(d *draft) {
	d.drawZones(1, 3)
	d.drawCatalog()
	d.pool()
	if d.chance(40) {
		d.pool(taint("dedicated", "x", corev1.TaintEffectNoSchedule), weigh(10))
	}
	d.drawNodes(0, 3)
	for i := range d.between(1, 3) {
		name := fmt.Sprintf("daemon-%d", i)
		template := newPod("", map[string]string{"daemon": name})
		template.Spec.Containers[0].Resources.Requests = d.requests()
		for _, change := range some(d, func(*corev1.Pod) {}, tolerating("dedicated", "", ""),
			requiring([]corev1.NodeSelectorRequirement{d.anyPodRequirement()}),
			selecting(corev1.LabelArchStable, "amd64")) {
			change(template)
		}
		set := &appsv1.DaemonSet{TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: d.uid()}}
		set.Spec.Selector = selects("daemon", name)
		set.Spec.Template.Labels = template.Labels
		set.Spec.Template.Spec = template.Spec
		d.add(set)
	}
	for range d.between(1, 3) {
		changes := []func(*corev1.Pod){}
		if d.chance(40) {
			changes = append(changes, tolerating("dedicated", "x", ""))
		}
		d.workload(d.between(1, 8), changes...)
	}
}

func hostPorts(d *draft) {
	d.simple(0, 3)
	port := func(number int, ip string, protocol corev1.Protocol) func(*corev1.Pod) {
		return func(pod *corev1.Pod) {
			pod.Spec.Containers[0].Ports = append(pod.Spec.Containers[0].Ports,
				corev1.ContainerPort{ContainerPort: 80, HostPort: int32(number), HostIP: ip, Protocol: protocol})
		}
	}
	for range d.between(1, 3) {
		d.workload(d.between(1, 4), port(pick(d, 80, 443), pick(d, "", "10.0.0.1", "10.0.0.2", "0.0.0.0"),
			pick(d, corev1.ProtocolTCP, corev1.ProtocolTCP, corev1.ProtocolUDP)))
	}
	d.runSome(1, map[string]string{"app": "server"}, func(pod *corev1.Pod) {
		if d.chance(30) {
			pod.Name += "-port"
			port(80, "", corev1.ProtocolTCP)(pod)
		}
	})
	d.background(4)
}

func initContainers(d *draft) {
	d.drawZones(1, 2)
	d.drawCatalog()
	d.pool()
	d.drawNodes(0, 2)
	always := corev1.ContainerRestartPolicyAlways
	for range d.between(1, 4) {
		d.workload(d.between(1, 6), func(pod *corev1.Pod) {
			for i := range d.between(1, 3) {
				container := corev1.Container{Name: fmt.Sprintf("init-%d", i), Image: "registry.example.com/init:1"}
				container.Resources.Requests = d.requests()
				if d.chance(40) {
					container.RestartPolicy = &always
				}
				pod.Spec.InitContainers = append(pod.Spec.InitContainers, container)
			}
			if d.chance(30) {
				pod.Spec.Overhead = amounts("cpu", "250m", "memory", "120Mi")
			}
			if d.chance(30) {
				second := corev1.Container{Name: "second", Image: "registry.example.com/second:1"}
				second.Resources.Limits = d.requests()
				second.Resources.Requests = second.Resources.Limits.DeepCopy()
				pod.Spec.Containers = append(pod.Spec.Containers, second)
			}
		})
	}
}

func extendedResources(d *draft) {
	d.drawZones(1, 3)
	d.drawCatalog()
	for i, count := range []int{1, 2, 4, 8}[:d.between(1, 4)] {
		d.addType(fmt.Sprintf("g-%dx-amd64-linux", 4<<i), "amd64", 4<<i, 16<<i, 0,
			amounts("nvidia.com/gpu", strconv.Itoa(count)))
	}
	switch d.random.Intn(3) {
	case 0:
		d.pool()
	case 1:
		d.pool(require(in(v1alpha1.InstanceFamilyLabelKey, "g")),
			taint("nvidia.com/gpu", "", corev1.TaintEffectNoSchedule))
		d.pool(require(needs(v1alpha1.InstanceFamilyLabelKey, corev1.NodeSelectorOpNotIn, "g")))
	default:
		d.pool(limit("nvidia.com/gpu", strconv.Itoa(d.between(1, 8))))
	}
	for range d.between(1, 3) {
		requests := d.requests()
		requests["nvidia.com/gpu"] = resource.MustParse(pick(d, "1", "1", "2", "16"))
		changes := []func(*corev1.Pod){asking(requests)}
		if d.chance(70) {
			changes = append(changes, tolerating("nvidia.com/gpu", "", ""))
		}
		d.workload(d.between(1, 5), changes...)
	}
	if d.chance(30) {
		requests := d.requests()
		requests["example.com/unheard-of"] = resource.MustParse(pick(d, "0", "1"))
		d.workload(1, asking(requests))
	}
	d.background(5)
}

func existingNodes(d *draft) {
	d.simple(2, 8)
	for _, node := range d.nodes {
		if d.chance(20) {
			node.Spec.Unschedulable = false
			node.Spec.Taints = []corev1.Taint{{Key: "drained", Effect: corev1.TaintEffectNoSchedule}}
		}
		for range d.between(0, 3) {
			d.running(node, map[string]string{"app": "runs"})
		}
	}
	for range d.between(1, 4) {
		changes := []func(*corev1.Pod){}
		if d.chance(30) {
			changes = append(changes, requiring([]corev1.NodeSelectorRequirement{d.anyPodRequirement()}))
		}
		d.workload(d.between(1, 10), changes...)
	}
}

// Nodes on their way: a NodeClaim alone, a node that is not registered, or not initialised.
func inflight(d *draft) {
	d.drawZones(1, 3)
	d.drawCatalog()
	starting := corev1.Taint{Key: "starting", Effect: corev1.TaintEffectNoSchedule}
	d.pool(func(pool *v1.NodePool) {
		if d.chance(60) {
			pool.Spec.Template.Spec.StartupTaints = []corev1.Taint{starting}
		}
	}, label(customKey, "red"))
	for range d.between(1, 4) {
		var gone bool
		node := d.node(d.pools[0], pick(d, d.zones...), func(node *corev1.Node, claim *v1.NodeClaim) {
			switch d.random.Intn(4) {
			case 0: // only a NodeClaim
				gone = true
				claim.Status.NodeName = ""
			case 1: // there, not registered
				delete(node.Labels, v1.NodeRegisteredLabelKey)
				delete(node.Labels, v1.NodeInitializedLabelKey)
				node.Spec.Taints = append(node.Spec.Taints, v1.UnregisteredNoExecuteTaint)
			case 2: // registered, not initialised
				delete(node.Labels, v1.NodeInitializedLabelKey)
				node.Spec.Taints = append(node.Spec.Taints,
					corev1.Taint{Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoSchedule})
				if len(claim.Spec.StartupTaints) > 0 && d.chance(50) {
					node.Spec.Taints = append(node.Spec.Taints, starting)
				}
				if d.chance(30) {
					delete(node.Status.Allocatable, corev1.ResourceMemory)
				}
			default: // there, and now and then a startup taint that stays
				if d.chance(30) {
					node.Spec.Taints = append(node.Spec.Taints, starting)
				}
			}
		})
		if gone {
			d.state = d.state[:len(d.state)-1]
			d.nodes = d.nodes[:len(d.nodes)-1]
			node.Name += "-gone"
			d.nodes = append(d.nodes, node)
		}
	}
	for range d.between(1, 3) {
		changes := []func(*corev1.Pod){}
		for _, change := range some(d, func(*corev1.Pod) {}, func(*corev1.Pod) {},
			spreading(corev1.LabelTopologyZone, 1, nil), spreading(corev1.LabelHostname, 1, nil),
			selecting(customKey, pick(d, "red", "green"))) {
			changes = append(changes, change)
		}
		d.workload(d.between(1, 8), changes...)
	}
}

func minValues(d *draft) {
	d.drawZones(1, 3)
	d.drawCatalog()
	key := pick(d, corev1.LabelInstanceTypeStable, v1alpha1.InstanceFamilyLabelKey, v1alpha1.InstanceCPULabelKey)
	d.pool(requireSome(needs(key, corev1.NodeSelectorOpExists), d.between(1, 6)), weigh(pick(d, 0, 10)))
	if d.chance(50) {
		d.pool(d.anyPoolRequirement())
	}
	d.settings.BestEffortMinValues = d.chance(30)
	for range d.between(1, 4) {
		changes := []func(*corev1.Pod){}
		if d.chance(30) {
			changes = append(changes, requiring([]corev1.NodeSelectorRequirement{d.anyPodRequirement()}))
		}
		if d.chance(30) {
			changes = append(changes, asking(amounts("cpu", pick(d, "7", "15", "30"))))
		}
		d.workload(d.between(1, 8), changes...)
	}
}
