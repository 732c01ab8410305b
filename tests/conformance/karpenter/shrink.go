package main

import (
	"flag"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
)

// A case with less in it that still speaks against taffrail in the same way, for whoever must find out
// why: objects, pods, constraints and instance types are left out one after another as long as it does.

func (c *kase) copy() *kase {
	result := &kase{theme: c.theme, settings: c.settings}
	for _, object := range c.state {
		result.state = append(result.state, object.DeepCopyObject().(client.Object))
	}
	for _, pod := range c.pods {
		result.pods = append(result.pods, pod.DeepCopy())
	}
	result.catalog = append(result.catalog, c.catalog...)
	return result
}

// What may be left out of the spec of all pods of a workload; true when it was there.
var omissions = []func(*corev1.PodSpec) bool{
	func(s *corev1.PodSpec) bool { had := s.Affinity != nil; s.Affinity = nil; return had },
	func(s *corev1.PodSpec) bool {
		had := s.Affinity != nil && s.Affinity.NodeAffinity != nil
		if had {
			s.Affinity.NodeAffinity = nil
		}
		return had
	},
	func(s *corev1.PodSpec) bool {
		had := s.Affinity != nil && s.Affinity.PodAffinity != nil
		if had {
			s.Affinity.PodAffinity = nil
		}
		return had
	},
	func(s *corev1.PodSpec) bool {
		had := s.Affinity != nil && s.Affinity.PodAntiAffinity != nil
		if had {
			s.Affinity.PodAntiAffinity = nil
		}
		return had
	},
	func(s *corev1.PodSpec) bool {
		had := len(s.TopologySpreadConstraints)
		s.TopologySpreadConstraints = nil
		return had > 0
	},
	func(s *corev1.PodSpec) bool {
		had := len(s.TopologySpreadConstraints)
		if had > 1 {
			s.TopologySpreadConstraints = s.TopologySpreadConstraints[1:]
		}
		return had > 1
	},
	func(s *corev1.PodSpec) bool {
		had := len(s.TopologySpreadConstraints)
		if had > 1 {
			s.TopologySpreadConstraints = s.TopologySpreadConstraints[:had-1]
		}
		return had > 1
	},
	func(s *corev1.PodSpec) bool { had := len(s.Volumes); s.Volumes = nil; return had > 0 },
	func(s *corev1.PodSpec) bool { had := len(s.NodeSelector); s.NodeSelector = nil; return had > 0 },
	func(s *corev1.PodSpec) bool { had := len(s.Tolerations); s.Tolerations = nil; return had > 0 },
	func(s *corev1.PodSpec) bool {
		had := len(s.Containers[0].Ports)
		s.Containers[0].Ports = nil
		return had > 0
	},
}

// Each smaller case, largest steps first; nil where a step does nothing.
func (c *kase) smaller() []*kase {
	var result []*kase
	for _, workload := range c.workloads() {
		less := c.copy()
		less.pods = nil
		for _, pod := range c.pods {
			if workloadOf(podName(pod)) != workload {
				less.pods = append(less.pods, pod)
			}
		}
		result = append(result, less)
	}
	for size := len(c.catalog) / 2; size > 0; size /= 2 {
		for from := 0; from+size <= len(c.catalog); from += size {
			less := c.copy()
			less.catalog = append(append([]catalogType{}, c.catalog[:from]...), c.catalog[from+size:]...)
			result = append(result, less)
		}
	}
	for i := range c.state {
		less := c.copy()
		less.state = append(append([]client.Object{}, c.state[:i]...), c.state[i+1:]...)
		result = append(result, less)
		if pool, isPool := c.state[i].(*v1.NodePool); isPool {
			for j := range pool.Spec.Template.Spec.Requirements {
				less := c.copy()
				spec := &less.state[i].(*v1.NodePool).Spec.Template.Spec
				spec.Requirements = append(spec.Requirements[:j], spec.Requirements[j+1:]...)
				result = append(result, less)
			}
		}
	}
	for i := range c.pods {
		less := c.copy()
		less.pods = append(less.pods[:i], less.pods[i+1:]...)
		result = append(result, less)
	}
	for _, workload := range c.workloads() {
		for _, omit := range omissions {
			less, changed := c.copy(), false
			for _, pod := range less.pods {
				if workloadOf(podName(pod)) == workload {
					changed = omit(&pod.Spec) || changed
				}
			}
			if changed {
				result = append(result, less)
			}
		}
	}
	return result
}

func (c *kase) workloads() []string {
	var result []string
	seen := map[string]bool{}
	for _, pod := range c.pods {
		if workload := workloadOf(podName(pod)); !seen[workload] {
			seen[workload] = true
			result = append(result, workload)
		}
	}
	return result
}

// How a case speaks against taffrail: "" when it does not.
func (j *judge) complaint(c *kase, folder string) string {
	if err := os.RemoveAll(folder); err != nil {
		return ""
	}
	if err := c.write(folder); err != nil {
		return ""
	}
	r, err := j.judge(folder, rand.New(rand.NewSource(1)))
	switch {
	case err != nil:
		return "failed"
	case r.plan.grade == worse:
		return "plan"
	case len(r.brokenPlan) > 0 && !r.karpenterBroken:
		return "refused"
	case r.optimized.grade == worse:
		return "optimized"
	case len(r.brokenOptimized) > 0 && !r.karpenterBroken:
		return "optimized refused"
	}
	return ""
}

func shrink(arguments []string) error {
	flags := flag.NewFlagSet("shrink", flag.ExitOnError)
	taffrail := flags.String("taffrail", "", "the program to be judged")
	checkerPath := flags.String("checker", "", "the checker program")
	must(flags.Parse(arguments))
	if flags.NArg() != 2 {
		return fmt.Errorf("shrink wants a case and the folder of the smaller one")
	}
	j := &judge{taffrail: *taffrail, optimize: true, patience: 2 * fewRuns}
	if *checkerPath != "" {
		var err error
		if j.checker, err = startChecker(*checkerPath); err != nil {
			return err
		}
		defer j.checker.stop()
	}
	c, err := readCase(flags.Arg(0))
	if err != nil {
		return err
	}
	scratch, err := os.MkdirTemp("", "karpenter-judge")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	folder := filepath.Join(scratch, "case")
	complaint := j.complaint(c, folder)
	if complaint == "" {
		return fmt.Errorf("%s does not speak against taffrail", flags.Arg(0))
	}
	j.optimize = complaint == "optimized" || complaint == "optimized refused"
	for progress := true; progress; {
		progress = false
		for _, less := range c.smaller() {
			if j.complaint(less, folder) == complaint {
				c, progress = less, true
				break
			}
		}
	}
	fmt.Printf("%s: %d objects, %d pods, %d instance types\n", complaint, len(c.state), len(c.pods), len(c.catalog))
	return c.write(flags.Arg(1))
}
