package main

import (
	"maps"
	"slices"
	"sort"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// takeOff takes pods off the nodes where their local volumes are not. Karpenter does not look at the hosts of such a
// volume, so that it buys nodes for its pod and counts it to others; kube-scheduler lets it wait.
func (c *kase) takeOff(result *plan) {
	hosts := c.hostsOfPods()
	named := c.hostnames()
	take := func(pods []string, host string) (stay, away []string) {
		for _, pod := range pods {
			if !slices.ContainsFunc(hosts[pod], func(one map[string]bool) bool { return !one[host] }) {
				stay = append(stay, pod)
				continue
			}
			away = append(away, pod)
			result.Unschedulable = append(result.Unschedulable,
				unschedulable{pod, []planReason{{Message: "its local volume is on another node"}}})
		}
		return stay, away
	}
	for i := range result.Claims {
		claim := &result.Claims[i]
		claim.Pods, claim.InVainFor = take(claim.Pods, "")
	}
	for i := range result.Existing {
		node := &result.Existing[i]
		host, known := named[node.Node]
		if !known {
			host = node.Node
		}
		var away []string
		node.Pods, away = take(node.Pods, host)
		result.counted = result.counted || len(away) > 0
	}
	sort.Slice(result.Unschedulable, func(a, b int) bool {
		return result.Unschedulable[a].Pod < result.Unschedulable[b].Pod
	})
}

func (c *kase) hostnames() map[string]string {
	result := map[string]string{}
	for _, object := range c.state {
		if node, isNode := object.(*corev1.Node); isNode && node.Labels[corev1.LabelHostname] != "" {
			result[node.Name] = node.Labels[corev1.LabelHostname]
		}
	}
	return result
}

// The hosts of each local volume of a pod.
func (c *kase) hostsOfPods() map[string][]map[string]bool {
	volumes, free := map[string]map[string]bool{}, map[string]map[string]bool{}
	for _, object := range c.state {
		volume, isVolume := object.(*corev1.PersistentVolume)
		if !isVolume || volume.Spec.Local == nil && volume.Spec.HostPath == nil {
			continue
		}
		volumes[volume.Name] = hostsOf(volume)
		if class := volume.Spec.StorageClassName; volume.Spec.ClaimRef == nil {
			if free[class] == nil {
				free[class] = map[string]bool{}
			}
			maps.Copy(free[class], volumes[volume.Name])
		}
	}
	claims := map[client.ObjectKey]map[string]bool{}
	for _, object := range c.state {
		claim, isClaim := object.(*corev1.PersistentVolumeClaim)
		switch {
		case !isClaim:
		case claim.Spec.VolumeName != "":
			claims[client.ObjectKeyFromObject(claim)] = volumes[claim.Spec.VolumeName]
		case claim.Spec.StorageClassName != nil:
			claims[client.ObjectKeyFromObject(claim)] = free[*claim.Spec.StorageClassName]
		}
	}
	result := map[string][]map[string]bool{}
	for _, pod := range c.pods {
		for _, volume := range pod.Spec.Volumes {
			if volume.PersistentVolumeClaim == nil {
				continue
			}
			key := client.ObjectKey{Namespace: pod.Namespace, Name: volume.PersistentVolumeClaim.ClaimName}
			if hosts := claims[key]; hosts != nil {
				result[podName(pod)] = append(result[podName(pod)], hosts)
			}
		}
	}
	return result
}

// Nil: the volume names none.
func hostsOf(volume *corev1.PersistentVolume) map[string]bool {
	if volume.Spec.NodeAffinity == nil || volume.Spec.NodeAffinity.Required == nil {
		return nil
	}
	var hosts map[string]bool
	for _, term := range volume.Spec.NodeAffinity.Required.NodeSelectorTerms {
		for _, expression := range term.MatchExpressions {
			if expression.Key != corev1.LabelHostname || expression.Operator != corev1.NodeSelectorOpIn {
				continue
			}
			if hosts == nil {
				hosts = map[string]bool{}
			}
			for _, host := range expression.Values {
				hosts[host] = true
			}
		}
	}
	return hosts
}
