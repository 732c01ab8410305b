package main

import (
	"fmt"
	"math"
	"math/rand"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/karpenter/kwok/apis/v1alpha1"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

const customKey = "example.com/team"

var (
	cpus     = []string{"100m", "250m", "500m", "1", "1500m", "2", "3"}
	memories = []string{"128Mi", "256Mi", "512Mi", "1Gi", "2Gi", "4Gi"}
	families = []struct {
		name       string
		gibPerCore int
	}{{"c", 2}, {"s", 4}, {"m", 8}}
)

// draft is a case in the making.
type draft struct {
	*kase
	random    *rand.Rand
	zones     []string
	pools     []*v1.NodePool
	nodes     []*corev1.Node
	workloads int
	uids      int
}

func (d *draft) chance(percent int) bool { return d.random.Intn(100) < percent }

// Both ends are possible.
func (d *draft) between(least, most int) int { return least + d.random.Intn(most-least+1) }

func pick[T any](d *draft, of ...T) T { return of[d.random.Intn(len(of))] }

// Some of them, at least one, in their order.
func some[T any](d *draft, of ...T) []T {
	var result []T
	for len(result) == 0 {
		result = nil
		for _, one := range of {
			if d.chance(50) {
				result = append(result, one)
			}
		}
	}
	return result
}

func (d *draft) add(objects ...client.Object) { d.state = append(d.state, objects...) }

func (d *draft) uid() types.UID {
	d.uids++
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", d.uids))
}

/* ---- what can be bought ---- */

func (d *draft) drawZones(least, most int) {
	d.zones = []string{"test-zone-a", "test-zone-b", "test-zone-c", "test-zone-d"}[:d.between(least, most)]
}

// Each size of each family, or some of them, with holes in what the zones sell.
func (d *draft) drawCatalog() {
	arches := []string{"amd64"}
	if d.chance(50) {
		arches = append(arches, "arm64")
	}
	holes := 0
	if d.chance(30) {
		holes = 15
	}
	for _, arch := range arches {
		for _, family := range families {
			for _, cores := range []int{1, 2, 4, 8, 16, 32} {
				if d.chance(30) && cores != 8 {
					continue
				}
				d.addType(fmt.Sprintf("%s-%dx-%s-linux", family.name, cores, arch), arch, cores,
					cores*family.gibPerCore, holes, nil)
			}
		}
	}
}

func (d *draft) addType(name, arch string, cores, gib, holes int, more corev1.ResourceList) *catalogType {
	kind := catalogType{Name: name, Architecture: arch, OperatingSystems: []string{"linux"},
		Resources: corev1.ResourceList{
			corev1.ResourceCPU:              *resource.NewQuantity(int64(cores), resource.DecimalSI),
			corev1.ResourceMemory:           resource.MustParse(fmt.Sprintf("%dGi", gib)),
			corev1.ResourceEphemeralStorage: resource.MustParse("20Gi"),
		}}
	if d.chance(25) {
		kind.Resources[corev1.ResourcePods] = *resource.NewQuantity(int64(d.between(4, 60)), resource.DecimalSI)
	}
	for key, quantity := range more {
		kind.Resources[key] = quantity
	}
	price := 0.025*float64(cores) + 0.0011*float64(gib) + 0.0001*float64(d.between(0, 20))
	for _, zone := range d.zones {
		for _, capacityType := range []string{v1.CapacityTypeSpot, v1.CapacityTypeOnDemand} {
			if d.chance(holes) {
				continue
			}
			offered := price
			if capacityType == v1.CapacityTypeSpot {
				offered *= 0.7
			}
			kind.Offerings = append(kind.Offerings, catalogOffering{
				Requirements: []corev1.NodeSelectorRequirement{
					in(v1.CapacityTypeLabelKey, capacityType), in(corev1.LabelTopologyZone, zone)},
				Price: math.Round(offered*1e4) / 1e4, Available: true})
		}
	}
	if len(kind.Offerings) > 0 {
		d.catalog = append(d.catalog, kind)
	}
	return &kind
}

func in(key string, values ...string) corev1.NodeSelectorRequirement {
	return needs(key, corev1.NodeSelectorOpIn, values...)
}

func needs(key string, operator corev1.NodeSelectorOperator, values ...string) corev1.NodeSelectorRequirement {
	return corev1.NodeSelectorRequirement{Key: key, Operator: operator, Values: values}
}

/* ---- pools ---- */

func (d *draft) pool(changes ...func(*v1.NodePool)) *v1.NodePool {
	pool := &v1.NodePool{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodePool"},
		ObjectMeta: metav1.ObjectMeta{Name: "pool-" + string(rune('a'+len(d.pools))), UID: d.uid()},
	}
	pool.Spec.Template.Spec.NodeClassRef = &v1.NodeClassReference{
		Group: "karpenter.kwok.sh", Kind: "KWOKNodeClass", Name: "default"}
	pool.Spec.Template.Spec.Requirements = []v1.NodeSelectorRequirementWithMinValues{}
	for _, change := range changes {
		change(pool)
	}
	d.pools = append(d.pools, pool)
	d.add(pool)
	return pool
}

func require(requirement corev1.NodeSelectorRequirement) func(*v1.NodePool) {
	return requireSome(requirement, 0)
}

func requireSome(requirement corev1.NodeSelectorRequirement, minValues int) func(*v1.NodePool) {
	return func(pool *v1.NodePool) {
		full := v1.NodeSelectorRequirementWithMinValues{Key: requirement.Key,
			Operator: requirement.Operator, Values: requirement.Values}
		if minValues > 0 {
			full.MinValues = &minValues
		}
		pool.Spec.Template.Spec.Requirements = append(pool.Spec.Template.Spec.Requirements, full)
	}
}

func weigh(weight int) func(*v1.NodePool) {
	return func(pool *v1.NodePool) {
		if weight > 0 {
			small := int32(weight)
			pool.Spec.Weight = &small
		}
	}
}

func taint(key, value string, effect corev1.TaintEffect) func(*v1.NodePool) {
	return func(pool *v1.NodePool) {
		pool.Spec.Template.Spec.Taints = append(pool.Spec.Template.Spec.Taints,
			corev1.Taint{Key: key, Value: value, Effect: effect})
	}
}

func label(key, value string) func(*v1.NodePool) {
	return func(pool *v1.NodePool) {
		if pool.Spec.Template.Labels == nil {
			pool.Spec.Template.Labels = map[string]string{}
		}
		pool.Spec.Template.Labels[key] = value
	}
}

func limit(resourceName corev1.ResourceName, quantity string) func(*v1.NodePool) {
	return func(pool *v1.NodePool) {
		if pool.Spec.Limits == nil {
			pool.Spec.Limits = v1.Limits{}
		}
		pool.Spec.Limits[resourceName] = resource.MustParse(quantity)
	}
}

// A requirement that narrows a pool, and now and then nothing.
func (d *draft) anyPoolRequirement() func(*v1.NodePool) {
	switch d.random.Intn(9) {
	case 0:
		return require(in(corev1.LabelTopologyZone, some(d, d.zones...)...))
	case 1:
		return require(needs(corev1.LabelTopologyZone, corev1.NodeSelectorOpNotIn, d.zones[0]))
	case 2:
		return require(in(v1.CapacityTypeLabelKey, pick(d, "spot", "on-demand")))
	case 3:
		return require(needs(v1alpha1.InstanceCPULabelKey, corev1.NodeSelectorOpGt, pick(d, "1", "2", "4")))
	case 4:
		return require(needs(v1alpha1.InstanceCPULabelKey, pick(d, corev1.NodeSelectorOpLt, v1.NodeSelectorOpLte),
			pick(d, "9", "16", "33")))
	case 5:
		return require(in(v1alpha1.InstanceFamilyLabelKey, some(d, "c", "s", "m")...))
	case 6:
		return require(in(corev1.LabelArchStable, "amd64"))
	case 7:
		return require(needs(v1alpha1.InstanceFamilyLabelKey, corev1.NodeSelectorOpNotIn, "m"))
	}
	return func(*v1.NodePool) {}
}

/* ---- nodes that are there ---- */

// Whether a pool would have launched a node with these labels.
func launches(pool *v1.NodePool, labels map[string]string) bool {
	if pool == nil {
		return true
	}
	for _, requirement := range scheduling.NewNodeSelectorRequirementsWithMinValues(
		pool.Spec.Template.Spec.Requirements...) {
		if value, given := labels[requirement.Key]; given && !requirement.Has(value) {
			return false
		}
	}
	return true
}

// A machine of moderate size that the pool may launch, and its zone and capacity type, as labels; zone ""
// is any. When there is none, a machine that has drifted away from its pool.
func (d *draft) machine(pool *v1.NodePool, zone string) (*catalogType, map[string]string) {
	for try := 0; ; try++ {
		kind := &d.catalog[d.random.Intn(len(d.catalog))]
		offering := kind.Offerings[d.random.Intn(len(kind.Offerings))]
		labels := map[string]string{
			corev1.LabelInstanceTypeStable:  kind.Name,
			corev1.LabelArchStable:          kind.Architecture,
			corev1.LabelOSStable:            "linux",
			v1.CapacityTypeLabelKey:         offering.Requirements[0].Values[0],
			corev1.LabelTopologyZone:        offering.Requirements[1].Values[0],
			v1alpha1.InstanceFamilyLabelKey: kind.Name[:1],
			v1alpha1.InstanceCPULabelKey:    kind.Resources.Cpu().String(),
			v1alpha1.InstanceSizeLabelKey:   kind.Resources.Cpu().String(),
			v1alpha1.InstanceMemoryLabelKey: kind.Resources.Memory().String(),
		}
		cores := kind.Resources.Cpu().Value()
		if try > 200 || cores >= 2 && cores <= 16 && (zone == "" || labels[corev1.LabelTopologyZone] == zone) &&
			launches(pool, labels) {
			return kind, labels
		}
	}
}

func (d *draft) node(pool *v1.NodePool, zone string, changes ...func(*corev1.Node, *v1.NodeClaim)) *corev1.Node {
	kind, labels := d.machine(pool, zone)
	name := fmt.Sprintf("node-%02d", len(d.nodes)+1)
	capacity := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}
	for key, quantity := range kind.Resources {
		capacity[key] = quantity
	}
	allocatable := capacity.DeepCopy()
	cpu, memory := allocatable[corev1.ResourceCPU], allocatable[corev1.ResourceMemory]
	cpu.Sub(resource.MustParse("100m"))
	memory.Sub(resource.MustParse("10Mi"))
	allocatable[corev1.ResourceCPU], allocatable[corev1.ResourceMemory] = cpu, memory
	labels[corev1.LabelHostname] = name
	node := &corev1.Node{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: d.uid(), Labels: labels},
		Spec:       corev1.NodeSpec{ProviderID: "kwok://" + name},
		Status: corev1.NodeStatus{Capacity: capacity, Allocatable: allocatable,
			Conditions: []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}},
	}
	var claim *v1.NodeClaim
	if pool != nil {
		claim = d.claimOf(node, pool)
	}
	for _, change := range changes {
		change(node, claim)
	}
	d.nodes = append(d.nodes, node)
	if claim != nil {
		d.add(claim)
	}
	d.add(node)
	return node
}

// The NodeClaim of a node, which is given what Karpenter puts on its nodes.
func (d *draft) claimOf(node *corev1.Node, pool *v1.NodePool) *v1.NodeClaim {
	labels := node.Labels
	labels[v1.NodePoolLabelKey] = pool.Name
	labels["karpenter.kwok.sh/kwoknodeclass"] = "default"
	for key, value := range pool.Spec.Template.Labels {
		labels[key] = value
	}
	for _, requirement := range pool.Spec.Template.Spec.Requirements {
		if _, given := labels[requirement.Key]; !given && len(requirement.Values) > 0 &&
			requirement.Operator == corev1.NodeSelectorOpIn {
			labels[requirement.Key] = requirement.Values[d.random.Intn(len(requirement.Values))]
		}
	}
	claim := &v1.NodeClaim{
		TypeMeta:   metav1.TypeMeta{APIVersion: "karpenter.sh/v1", Kind: "NodeClaim"},
		ObjectMeta: metav1.ObjectMeta{Name: pool.Name + "-" + node.Name, UID: d.uid(), Labels: map[string]string{}},
		Spec: v1.NodeClaimSpec{NodeClassRef: pool.Spec.Template.Spec.NodeClassRef,
			Taints: pool.Spec.Template.Spec.Taints, StartupTaints: pool.Spec.Template.Spec.StartupTaints,
			Requirements: []v1.NodeSelectorRequirementWithMinValues{}},
		Status: v1.NodeClaimStatus{ProviderID: node.Spec.ProviderID, NodeName: node.Name,
			Capacity: node.Status.Capacity.DeepCopy(), Allocatable: node.Status.Allocatable.DeepCopy()},
	}
	for key, value := range labels {
		if key != corev1.LabelHostname {
			claim.Labels[key] = value
		}
	}
	node.Spec.Taints = pool.Spec.Template.Spec.Taints
	labels[v1.NodeRegisteredLabelKey] = "true"
	labels[v1.NodeInitializedLabelKey] = "true"
	return claim
}

func (d *draft) drawNodes(least, most int) {
	if d.chance(40) {
		most = least
	}
	for range d.between(least, most) {
		pool := d.pools[d.random.Intn(len(d.pools))]
		if d.chance(20) {
			pool = nil
		}
		d.fill(d.node(pool, ""))
	}
}

// Most nodes have little room left.
func (d *draft) fill(node *corev1.Node) {
	if d.chance(35) {
		return
	}
	milli := node.Status.Allocatable.Cpu().MilliValue() * int64(d.between(50, 92)) / 100
	d.running(node, map[string]string{"app": "filler"}, func(pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] =
			*resource.NewMilliQuantity(milli, resource.DecimalSI)
	})
}

/* ---- pods ---- */

func newPod(name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: labels},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "main", Image: "registry.example.com/app:1"}}},
	}
}

func (d *draft) requests() corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(pick(d, cpus...)),
		corev1.ResourceMemory: resource.MustParse(pick(d, memories...)),
	}
}

// count pending pods of one shape, labelled app=NAME; the name is given to the change.
func (d *draft) workload(count int, changes ...func(*corev1.Pod)) string {
	d.workloads++
	name := "w" + strconv.Itoa(d.workloads)
	template := newPod(name, map[string]string{"app": name})
	template.CreationTimestamp = metav1.NewTime(time.Unix(1700000000, 0))
	template.Spec.Containers[0].Resources.Requests = d.requests()
	for _, change := range changes {
		change(template)
	}
	if d.chance(40) && len(template.Spec.Volumes) == 0 && len(d.pods)+2*count <= 60 {
		count *= 2
	}
	for i := range count {
		pod := template.DeepCopy()
		pod.Name = fmt.Sprintf("%s-%d", name, i)
		pod.UID = d.uid()
		if d.chance(10) { // all others are as old
			pod.CreationTimestamp = metav1.NewTime(time.Unix(1700000000-int64(d.between(1, 3)), 0))
		}
		for j := range pod.Spec.Volumes { // a claim of its own: PLACE becomes the pod's number
			if claim := pod.Spec.Volumes[j].PersistentVolumeClaim; claim != nil {
				claim.ClaimName = replacePlace(claim.ClaimName, i)
			}
		}
		d.pods = append(d.pods, pod)
	}
	return name
}

// A pod that runs, as small as can be so that it always fits, with the labels of a workload.
func (d *draft) running(node *corev1.Node, labels map[string]string, changes ...func(*corev1.Pod)) *corev1.Pod {
	d.uids++
	pod := newPod(fmt.Sprintf("running-%d", d.uids), labels)
	pod.UID = types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012d", d.uids))
	pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse(pick(d, "10m", "50m", "200m")),
		corev1.ResourceMemory: resource.MustParse("64Mi")}
	pod.Spec.NodeName = node.Name
	pod.Status.Phase = corev1.PodRunning
	for _, change := range changes {
		change(pod)
	}
	d.add(pod)
	return pod
}

// Pods without any constraint beside the others.
func (d *draft) background(most int) {
	for range d.between(0, 2) {
		d.workload(d.between(1, most))
	}
}
