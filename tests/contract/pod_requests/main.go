// Writes random pods, and what kube-scheduler's own code says each requests: POD NAME=QUANTITY ...,
// by name, cpu in thousandths, without what is zero. The defaults of the API server, which fill in
// requests before a pod is stored, are applied here; a pod with a status has them written out.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"sort"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	helper "k8s.io/component-helpers/resource"
)

var (
	podLevel  = []v1.ResourceName{"cpu", "memory"}
	resources = append([]v1.ResourceName{"ephemeral-storage", "nvidia.com/gpu", "hugepages-2Mi"},
		podLevel...)
	quantities = map[v1.ResourceName][]string{
		"cpu":               {"100m", "1", "0.5", "2500m", "0.1", "1e0", "0"},
		"memory":            {"128Mi", "1Gi", "100M", "1.5Gi", "123456789", "128974848", "400m", "1e6", "0"},
		"ephemeral-storage": {"1Gi", "10G"},
		"nvidia.com/gpu":    {"1", "2"},
		"hugepages-2Mi":     {"4Mi", "2Mi"},
	}
)

type generator struct{ *rand.Rand }

func (g generator) list(likely float64, names []v1.ResourceName) v1.ResourceList {
	list := v1.ResourceList{}
	for _, name := range names {
		if g.Float64() < likely {
			some := quantities[name]
			list[name] = resource.MustParse(some[g.Intn(len(some))])
		}
	}
	return list
}

func (g generator) containers(prefix string, count int, mayRunOn bool) []v1.Container {
	var containers []v1.Container
	for i := range count {
		container := v1.Container{Name: fmt.Sprint(prefix, i)}
		container.Resources.Requests = g.list(.5, resources)
		container.Resources.Limits = g.list(.3, resources)
		if mayRunOn && g.Intn(2) == 0 {
			always := v1.ContainerRestartPolicyAlways
			container.RestartPolicy = &always
		}
		containers = append(containers, container)
	}
	return containers
}

// A resize that is under way, of some containers.
func (g generator) status(pod *v1.Pod) {
	for _, container := range append(append([]v1.Container{}, pod.Spec.Containers...),
		pod.Spec.InitContainers...) {
		status := v1.ContainerStatus{Name: container.Name, AllocatedResources: g.list(.5, podLevel)}
		if g.Intn(3) > 0 {
			status.Resources = &v1.ResourceRequirements{Requests: g.list(.6, podLevel)}
		}
		switch g.Intn(3) {
		case 0:
			pod.Status.ContainerStatuses = append(pod.Status.ContainerStatuses, status)
		case 1:
			pod.Status.InitContainerStatuses = append(pod.Status.InitContainerStatuses, status)
		}
	}
	if g.Intn(3) == 0 {
		pod.Status.Conditions = []v1.PodCondition{
			{Type: v1.PodResizePending, Reason: v1.PodReasonInfeasible}}
	}
}

func (g generator) pod(number int) *v1.Pod {
	pod := &v1.Pod{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"},
		ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("p%06d", number), Namespace: "n", UID: "u"},
	}
	pod.Spec.Containers = g.containers("c", 1+g.Intn(3), false)
	pod.Spec.InitContainers = g.containers("i", g.Intn(4), true)
	if g.Intn(4) == 0 {
		pod.Spec.Overhead = g.list(.6, podLevel)
	}
	if g.Intn(4) == 0 {
		pod.Spec.Resources = &v1.ResourceRequirements{
			Requests: g.list(.5, podLevel), Limits: g.list(.4, podLevel)}
	}
	if g.Intn(4) == 0 {
		g.status(pod)
	}
	return pod
}

func fillIn(requests *v1.ResourceList, from v1.ResourceList, may func(v1.ResourceName) bool) {
	for name, quantity := range from {
		if _, there := (*requests)[name]; !there && may(name) {
			if *requests == nil {
				*requests = v1.ResourceList{}
			}
			(*requests)[name] = quantity
		}
	}
}

// As the API server's defaults: limits stand in for requests; those of the pod only where its
// containers request nothing.
func applyDefaults(pod *v1.Pod) {
	anything := func(v1.ResourceName) bool { return true }
	for _, containers := range [][]v1.Container{pod.Spec.Containers, pod.Spec.InitContainers} {
		for i := range containers {
			fillIn(&containers[i].Resources.Requests, containers[i].Resources.Limits, anything)
		}
	}
	if whole := pod.Spec.Resources; whole != nil && len(whole.Limits) > 0 {
		fillIn(&whole.Requests, helper.AggregateContainerRequests(pod, helper.PodResourcesOptions{}),
			func(name v1.ResourceName) bool { return name == "cpu" || name == "memory" })
		fillIn(&whole.Requests, whole.Limits, anything)
	}
}

func line(pod *v1.Pod) string {
	var fields []string
	options := helper.PodResourcesOptions{UseStatusResources: true}
	for name, quantity := range helper.PodRequests(pod, options) {
		value := quantity.Value()
		if name == "cpu" {
			value = quantity.MilliValue()
		}
		if value > 0 {
			fields = append(fields, fmt.Sprintf("%s=%d", name, value))
		}
	}
	sort.Strings(fields)
	return strings.Join(append([]string{pod.Name}, fields...), " ")
}

func main() {
	seed := flag.Int64("seed", 1, "of the random numbers")
	count := flag.Int("pods", 1000, "how many")
	file := flag.String("out", "", "where the pods go; the requests go to standard output")
	flag.Parse()
	g := generator{rand.New(rand.NewSource(*seed))}
	var items []json.RawMessage
	for number := range *count {
		pod := g.pod(number)
		stored := len(pod.Status.ContainerStatuses)+len(pod.Status.InitContainerStatuses) > 0
		written := pod.DeepCopy()
		applyDefaults(pod)
		if stored {
			written = pod
		}
		text, err := json.Marshal(written)
		if err != nil {
			panic(err)
		}
		items = append(items, text)
		fmt.Println(line(pod))
	}
	list, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	if err == nil {
		err = os.WriteFile(*file, list, 0o600)
	}
	if err != nil {
		panic(err)
	}
}
