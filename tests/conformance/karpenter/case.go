package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	resourcehelper "k8s.io/component-helpers/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// A case is a folder: cluster/state.yaml and pods.yaml hold Kubernetes objects, catalog.json the instance
// types in the form of Karpenter's kwok provider, and theme one word. Both programs read these files.
type kase struct {
	theme    string
	state    []client.Object
	pods     []*corev1.Pod
	catalog  []catalogType
	settings settings
}

// What is a flag of Karpenter's and of `taffrail plan`.
type settings struct {
	IgnorePreferences   bool `json:"ignorePreferences,omitempty"`
	BestEffortMinValues bool `json:"bestEffortMinValues,omitempty"`
}

func (s settings) flags() []string {
	var flags []string
	if s.IgnorePreferences {
		flags = append(flags, "--preference-policy", "Ignore")
	}
	if s.BestEffortMinValues {
		flags = append(flags, "--min-values-policy", "BestEffort")
	}
	return flags
}

// An instance type as the kwok provider reads it: Requirements and Price have capitals there.
type catalogType struct {
	Name             string              `json:"name"`
	Offerings        []catalogOffering   `json:"offerings"`
	Architecture     string              `json:"architecture"`
	OperatingSystems []string            `json:"operatingSystems"`
	Resources        corev1.ResourceList `json:"resources"`
}

type catalogOffering struct {
	Requirements []corev1.NodeSelectorRequirement
	Price        float64
	Available    bool
	// Of capacity type reserved: how many machines are free.
	ReservationCapacity int `json:",omitempty"`
}

var kinds = map[string]func() client.Object{
	"NodePool":              func() client.Object { return &v1.NodePool{} },
	"NodeClaim":             func() client.Object { return &v1.NodeClaim{} },
	"Node":                  func() client.Object { return &corev1.Node{} },
	"Namespace":             func() client.Object { return &corev1.Namespace{} },
	"Pod":                   func() client.Object { return &corev1.Pod{} },
	"PersistentVolume":      func() client.Object { return &corev1.PersistentVolume{} },
	"PersistentVolumeClaim": func() client.Object { return &corev1.PersistentVolumeClaim{} },
	"StorageClass":          func() client.Object { return &storagev1.StorageClass{} },
	"CSINode":               func() client.Object { return &storagev1.CSINode{} },
	"DaemonSet":             func() client.Object { return &appsv1.DaemonSet{} },
}

func readObjects(path string) ([]client.Object, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var objects []client.Object
	for _, document := range bytes.Split(text, []byte("\n---\n")) {
		var meta struct {
			Kind string `json:"kind"`
		}
		if err := yaml.Unmarshal(document, &meta); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		if meta.Kind == "" {
			continue
		}
		make, known := kinds[meta.Kind]
		if !known {
			return nil, fmt.Errorf("%s: kind %q is not known here", path, meta.Kind)
		}
		object := make()
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, meta.Kind, err)
		}
		objects = append(objects, object)
	}
	return objects, nil
}

func readCase(folder string) (*kase, error) {
	result := &kase{}
	var err error
	if result.state, err = readObjects(filepath.Join(folder, "cluster", "state.yaml")); err != nil {
		return nil, err
	}
	pods, err := readObjects(filepath.Join(folder, "cluster", "pods.yaml"))
	if err != nil {
		return nil, err
	}
	for _, object := range pods {
		pod, isPod := object.(*corev1.Pod)
		if !isPod {
			return nil, fmt.Errorf("%s/cluster/pods.yaml holds what is no Pod", folder)
		}
		result.pods = append(result.pods, pod)
	}
	catalog, err := os.ReadFile(filepath.Join(folder, "catalog.json"))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(catalog, &result.catalog); err != nil {
		return nil, fmt.Errorf("%s/catalog.json: %w", folder, err)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "settings.json")); err == nil {
		if err := json.Unmarshal(text, &result.settings); err != nil {
			return nil, fmt.Errorf("%s/settings.json: %w", folder, err)
		}
	} else if !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	theme, _ := os.ReadFile(filepath.Join(folder, "theme"))
	result.theme = strings.TrimSpace(string(theme))
	return result, nil
}

// Karpenter's queue is by CPU, memory, age, and then by uid, which is chance.
func (c *kase) queue() map[string]string {
	result := map[string]string{}
	for _, pod := range c.pods {
		requests := resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
		result[podName(pod)] = fmt.Sprintf("%d %d %d", requests.Cpu().MilliValue(), requests.Memory().Value(),
			pod.CreationTimestamp.Unix())
	}
	return result
}

func (c *kase) measure() measure {
	light, heaviest := map[string]int{}, 0
	for _, object := range c.state {
		if pool, is := object.(*v1.NodePool); is {
			weight := 0
			if pool.Spec.Weight != nil {
				weight = int(*pool.Spec.Weight)
			}
			light[pool.Name] = -weight
			heaviest = max(heaviest, weight)
		}
	}
	for name := range light {
		light[name] += heaviest
	}
	return measure{c.queue(), light}
}

// Without what the marshaller writes of empty fields, for the eyes of whoever reads a failing case.
func objectText(object client.Object) ([]byte, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	prune(fields)
	if status, given := fields["status"].(map[string]any); given && len(status) == 0 {
		delete(fields, "status")
	}
	return yaml.Marshal(fields)
}

func prune(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, field := range value {
			if field == nil || key == "resources" && isEmpty(field) {
				delete(value, key)
				continue
			}
			prune(field)
		}
	case []any:
		for _, item := range value {
			prune(item)
		}
	}
}

func isEmpty(value any) bool {
	fields, isMap := value.(map[string]any)
	return isMap && len(fields) == 0
}

func writeObjects[T client.Object](path string, objects []T) error {
	var text bytes.Buffer
	for i, object := range objects {
		if i > 0 {
			text.WriteString("---\n")
		}
		one, err := objectText(object)
		if err != nil {
			return err
		}
		text.Write(one)
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

func (c *kase) write(folder string) error {
	if err := os.MkdirAll(filepath.Join(folder, "cluster"), 0o755); err != nil {
		return err
	}
	catalog, err := json.MarshalIndent(c.catalog, "", " ")
	if err != nil {
		return err
	}
	settings, err := json.Marshal(c.settings)
	if err != nil {
		return err
	}
	return errors.Join(
		writeObjects(filepath.Join(folder, "cluster", "state.yaml"), c.state),
		writeObjects(filepath.Join(folder, "cluster", "pods.yaml"), c.pods),
		os.WriteFile(filepath.Join(folder, "catalog.json"), catalog, 0o644),
		os.WriteFile(filepath.Join(folder, "settings.json"), settings, 0o644),
		os.WriteFile(filepath.Join(folder, "theme"), []byte(c.theme+"\n"), 0o644),
	)
}

// plan is what `taffrail plan -o json` writes, and what the oracle writes of a run of Karpenter's.
type plan struct {
	Schema        string          `json:"schema"`
	Existing      []planExisting  `json:"existing"`
	Claims        []planClaim     `json:"claims"`
	Unschedulable []unschedulable `json:"unschedulable"`
	UsdPerHour    float64         `json:"usdPerHour"`

	counted bool // Karpenter counts a pod to a node that is there, where its local volume is not
}

type planExisting struct {
	Node string   `json:"node"`
	Pods []string `json:"pods"`
}

type planClaim struct {
	NodePool      string            `json:"nodePool"`
	Zone          string            `json:"zone"`
	CapacityType  string            `json:"capacityType"`
	InstanceType  string            `json:"instanceType"`
	InstanceTypes []string          `json:"instanceTypes"`
	Zones         []string          `json:"zones"`
	UsdPerHour    float64           `json:"usdPerHour"`
	Requirements  []planRequirement `json:"requirements"`
	Pods          []string          `json:"pods"`
	InVainFor     []string          `json:"inVainFor,omitempty"`
}

type planRequirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

type unschedulable struct {
	Pod     string       `json:"pod"`
	Reasons []planReason `json:"reasons"`
}

type planReason struct {
	NodePool string `json:"nodePool"`
	Kind     string `json:"kind"`
	Message  string `json:"message"`
	Nearest  string `json:"nearest"`
}

func readPlan(reader io.Reader) (*plan, error) {
	result := &plan{}
	if err := json.NewDecoder(reader).Decode(result); err != nil {
		return nil, err
	}
	if result.Schema != "taffrail.dev/plan/v1" {
		return nil, fmt.Errorf("schema %q is not taffrail.dev/plan/v1", result.Schema)
	}
	return result, nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
