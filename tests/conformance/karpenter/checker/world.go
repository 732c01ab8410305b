package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// world is a case as kube-scheduler would come to see it. Karpenter's own kinds are read by their fields,
// with no code of Karpenter's.
type world struct {
	objects []runtime.Object // all but nodes, pods and Karpenter's kinds
	nodes   []*corev1.Node
	leaving []*corev1.Node // those that are still there, for the pods that stay on them
	running []*corev1.Pod
	pending map[string]*corev1.Pod
	daemons []*appsv1.DaemonSet
	pools   map[string]*nodePool
	types   map[string]*instanceType
	claims  []*nodeClaim
	named   map[string]string // a NodeClaim's name to its node's
}

type requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

type nodePool struct {
	Metadata struct {
		Name string `json:"name"`
	} `json:"metadata"`
	Spec struct {
		Limits   corev1.ResourceList `json:"limits"`
		Template struct {
			Metadata struct {
				Labels map[string]string `json:"labels"`
			} `json:"metadata"`
			Spec struct {
				Requirements []requirement  `json:"requirements"`
				Taints       []corev1.Taint `json:"taints"`
			} `json:"spec"`
		} `json:"template"`
	} `json:"spec"`
}

type nodeClaim struct {
	Metadata struct {
		Name              string            `json:"name"`
		Labels            map[string]string `json:"labels"`
		DeletionTimestamp string            `json:"deletionTimestamp"`
	} `json:"metadata"`
	Spec struct {
		Taints        []corev1.Taint `json:"taints"`
		StartupTaints []corev1.Taint `json:"startupTaints"`
	} `json:"spec"`
	Status struct {
		NodeName    string              `json:"nodeName"`
		ProviderID  string              `json:"providerID"`
		Capacity    corev1.ResourceList `json:"capacity"`
		Allocatable corev1.ResourceList `json:"allocatable"`
	} `json:"status"`
}

type instanceType struct {
	Name             string              `json:"name"`
	Architecture     string              `json:"architecture"`
	OperatingSystems []string            `json:"operatingSystems"`
	Resources        corev1.ResourceList `json:"resources"`
	Offerings        []offering          `json:"offerings"`
}

type offering struct {
	Price               float64
	Requirements        []requirement
	ReservationCapacity int
}

const (
	poolLabel         = "karpenter.sh/nodepool"
	registeredLabel   = "karpenter.sh/registered"
	initializedLabel  = "karpenter.sh/initialized"
	capacityTypeLabel = "karpenter.sh/capacity-type"
	reservationLabel  = "karpenter.k8s.aws/capacity-reservation-id"
)

func read[T any](document []byte) (*T, error) {
	object := new(T)
	return object, yaml.Unmarshal(document, object)
}

func readWorld(folder string) (*world, error) {
	w := &world{pending: map[string]*corev1.Pod{}, pools: map[string]*nodePool{},
		types: map[string]*instanceType{}, named: map[string]string{}}
	for _, file := range []string{"state.yaml", "pods.yaml"} {
		text, err := os.ReadFile(filepath.Join(folder, "cluster", file))
		if err != nil {
			return nil, err
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			if err := w.take(document); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
		}
	}
	catalog, err := os.ReadFile(filepath.Join(folder, "catalog.json"))
	if err != nil {
		return nil, err
	}
	var types []*instanceType
	if err := json.Unmarshal(catalog, &types); err != nil {
		return nil, err
	}
	for _, one := range types {
		w.types[one.Name] = one
	}
	w.settle()
	return w, nil
}

func (w *world) take(document []byte) error {
	meta, err := read[struct {
		Kind string `json:"kind"`
	}](document)
	if err != nil {
		return err
	}
	switch meta.Kind {
	case "":
		return nil
	case "NodePool":
		pool, err := read[nodePool](document)
		w.pools[pool.Metadata.Name] = pool
		return err
	case "NodeClaim":
		claim, err := read[nodeClaim](document)
		w.claims = append(w.claims, claim)
		return err
	case "Node":
		node, err := read[corev1.Node](document)
		w.nodes = append(w.nodes, node)
		return err
	case "Pod":
		pod, err := read[corev1.Pod](document)
		if pod.Spec.NodeName == "" {
			w.pending[pod.Namespace+"/"+pod.Name] = pod
		} else {
			w.running = append(w.running, pod)
		}
		return err
	case "DaemonSet":
		set, err := read[appsv1.DaemonSet](document)
		w.daemons = append(w.daemons, set)
		return err
	}
	var object runtime.Object
	switch meta.Kind {
	case "Namespace":
		object, err = read[corev1.Namespace](document)
	case "PersistentVolume":
		object, err = read[corev1.PersistentVolume](document)
	case "PersistentVolumeClaim":
		object, err = read[corev1.PersistentVolumeClaim](document)
	case "StorageClass":
		object, err = read[storagev1.StorageClass](document)
	case "CSINode":
		object, err = read[storagev1.CSINode](document)
	default:
		return fmt.Errorf("kind %q is not known here", meta.Kind)
	}
	w.objects = append(w.objects, object)
	return err
}

/* ---- nodes on their way are nodes as they will be ---- */

func (w *world) settle() {
	byProvider := map[string]*corev1.Node{}
	for _, node := range w.nodes {
		byProvider[node.Spec.ProviderID] = node
	}
	leaving := map[string]bool{} // by name; a NodeClaim decides for its node
	for _, node := range w.nodes {
		leaving[node.Name] = node.DeletionTimestamp != nil
	}
	for _, claim := range w.claims {
		node := byProvider[claim.Status.ProviderID]
		if node != nil {
			leaving[node.Name] = claim.Metadata.DeletionTimestamp != ""
		}
		if claim.Metadata.DeletionTimestamp != "" {
			continue
		}
		if node == nil {
			node = &corev1.Node{}
			node.Name = claim.Metadata.Name
			node.Labels = map[string]string{corev1.LabelHostname: claim.Metadata.Name}
			w.nodes = append(w.nodes, node)
		}
		arrive(node, claim)
		w.named[claim.Metadata.Name] = node.Name
	}
	w.clear(leaving)
	for _, node := range slices.Concat(w.leaving, w.nodes) {
		age(node)
	}
}

const doNotDisrupt = "karpenter.sh/do-not-disrupt"

// Takes nodes away. Their pods come back as pending ones, but for those that end there or must not be
// disturbed yet. A node on which one of the latter runs is still there while the others are scheduled:
// it takes nobody, and its pods and its domains count.
func (w *world) clear(leaving map[string]bool) {
	running := w.running
	w.running = nil
	stays := map[string]bool{}
	for _, pod := range running {
		switch {
		case !leaving[pod.Spec.NodeName]:
			w.running = append(w.running, pod)
		case pod.DeletionTimestamp != nil:
		case pod.Annotations[doNotDisrupt] == "true":
			w.running = append(w.running, pod)
			stays[pod.Spec.NodeName] = true
		default:
			pod.Spec.NodeName = ""
			w.pending[pod.Namespace+"/"+pod.Name] = pod
		}
	}
	w.nodes = slices.DeleteFunc(w.nodes, func(node *corev1.Node) bool {
		if stays[node.Name] {
			w.leaving = append(w.leaving, node)
		}
		return leaving[node.Name]
	})
}

// A kubelet still gives its node the old spellings too.
func age(node *corev1.Node) {
	for old, now := range map[string]string{
		corev1.LabelFailureDomainBetaZone: corev1.LabelTopologyZone,
		corev1.LabelInstanceType:          corev1.LabelInstanceTypeStable,
		"beta.kubernetes.io/arch":         corev1.LabelArchStable,
		"beta.kubernetes.io/os":           corev1.LabelOSStable,
	} {
		if value, given := node.Labels[now]; given {
			node.Labels[old] = value
		}
	}
}

func arrive(node *corev1.Node, claim *nodeClaim) {
	if node.Labels[initializedLabel] == "true" {
		return
	}
	if node.Labels[registeredLabel] != "true" {
		for key, value := range claim.Metadata.Labels {
			node.Labels[key] = value
		}
		node.Spec.Taints = claim.Spec.Taints
	}
	var kept []corev1.Taint
	for _, taint := range node.Spec.Taints {
		passing := strings.HasPrefix(taint.Key, "node.kubernetes.io/") || taint.Key == "karpenter.sh/unregistered"
		for _, startup := range claim.Spec.StartupTaints {
			passing = passing || startup.Key == taint.Key && startup.Effect == taint.Effect
		}
		if !passing {
			kept = append(kept, taint)
		}
	}
	node.Spec.Taints = kept
	node.Status.Capacity = filled(node.Status.Capacity, claim.Status.Capacity)
	node.Status.Allocatable = filled(node.Status.Allocatable, claim.Status.Allocatable)
}

func filled(list, from corev1.ResourceList) corev1.ResourceList {
	if list == nil {
		list = corev1.ResourceList{}
	}
	for name, quantity := range from {
		if given := list[name]; given.IsZero() {
			list[name] = quantity
		}
	}
	return list
}

/* ---- nodes that are to be bought ---- */

var kwokOverhead = map[corev1.ResourceName]string{corev1.ResourceCPU: "100m", corev1.ResourceMemory: "10Mi"}

// What the kwok provider leaves of a machine for pods.
func (t *instanceType) allocatable() corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourcePods: resource.MustParse("110")}
	for name, quantity := range t.Resources {
		list[name] = quantity.DeepCopy()
	}
	for name, overhead := range kwokOverhead {
		quantity := list[name]
		quantity.Sub(resource.MustParse(overhead))
		list[name] = quantity
	}
	return list
}

func (t *instanceType) labels() map[string]string {
	family, _, _ := strings.Cut(t.Name, "-")
	cpu, memory := t.Resources[corev1.ResourceCPU], t.Resources[corev1.ResourceMemory]
	return map[string]string{
		corev1.LabelInstanceTypeStable:      t.Name,
		corev1.LabelArchStable:              t.Architecture,
		corev1.LabelOSStable:                t.OperatingSystems[0],
		"karpenter.kwok.sh/instance-family": family,
		"karpenter.kwok.sh/instance-cpu":    cpu.String(),
		"karpenter.kwok.sh/instance-size":   cpu.String(),
		"karpenter.kwok.sh/instance-memory": memory.String(),
	}
}

// A label that a requirement allows; the node gets one, whatever it is.
func (r *requirement) value() (string, bool) {
	first := 0
	if len(r.Values) > 0 {
		first, _ = strconv.Atoi(r.Values[0])
	}
	switch r.Operator {
	case "In":
		return r.Values[0], true
	case "Exists":
		return "1", true
	case "Gt":
		return strconv.Itoa(first + 1), true
	case "Lt":
		return strconv.Itoa(first - 1), true
	case "Gte", "Lte":
		return strconv.Itoa(first), true
	case "NotIn":
		return "another-value", true
	}
	return "", false
}

func (w *world) bought(name string, claim *planClaim) (*corev1.Node, error) {
	pool, kind := w.pools[claim.NodePool], w.types[claim.InstanceType]
	if pool == nil {
		return nil, fmt.Errorf("%s: there is no NodePool %q", name, claim.NodePool)
	}
	if kind == nil {
		return nil, fmt.Errorf("%s: there is no instance type %q", name, claim.InstanceType)
	}
	node := &corev1.Node{}
	node.Name = name
	node.Labels = map[string]string{}
	for _, requirement := range pool.Spec.Template.Spec.Requirements {
		if value, has := requirement.value(); has {
			node.Labels[requirement.Key] = value
		}
	}
	for _, requirement := range claim.Requirements { // the pool's, narrowed
		delete(node.Labels, requirement.Key)
		if value, has := requirement.value(); has {
			node.Labels[requirement.Key] = value
		}
	}
	for key, value := range pool.Spec.Template.Metadata.Labels {
		node.Labels[key] = value
	}
	for key, value := range kind.labels() {
		node.Labels[key] = value
	}
	node.Labels[corev1.LabelHostname] = name
	node.Labels[poolLabel] = claim.NodePool
	node.Labels["karpenter.kwok.sh/kwoknodeclass"] = "default"
	node.Labels[registeredLabel] = "true"
	node.Labels[initializedLabel] = "true"
	node.Labels[corev1.LabelTopologyZone] = claim.Zone
	node.Labels[capacityTypeLabel] = claim.CapacityType
	if _, reservation := kind.sold(claim); reservation != "" {
		node.Labels[reservationLabel] = reservation
	}
	age(node)
	node.Spec.Taints = pool.Spec.Template.Spec.Taints
	node.Status.Allocatable = kind.allocatable()
	node.Status.Capacity = kind.Resources
	return node, nil
}
