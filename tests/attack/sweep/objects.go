package main

import "strings"

// What is denied before anything is made long: by the strict sample policy, for a reason that no list or map
// can excuse.

type tree = map[string]any

func podSpec(denied bool) tree {
	spec := tree{"containers": []any{tree{
		"name": "main", "image": "registry.example.com/app:1",
		"resources": tree{"requests": tree{"cpu": "1", "memory": "1Gi"}, "limits": tree{"memory": "1Gi"}},
	}}}
	if denied {
		spec["topologySpreadConstraints"] = []any{tree{
			"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
			"labelSelector": tree{"matchLabels": tree{"app": "web"}},
		}}
	}
	return spec
}

func podTemplate(denied bool) tree {
	return tree{"metadata": tree{"labels": tree{"app": "web"}}, "spec": podSpec(denied)}
}

func nodePool(denied bool) tree {
	requirements := []any{
		tree{"key": "karpenter.k8s.aws/instance-category", "operator": "In", "values": []any{"m"}},
		tree{"key": "karpenter.sh/capacity-type", "operator": "In", "values": []any{"on-demand"}},
	}
	spec := tree{
		"nodeClassRef": tree{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
		"requirements": requirements,
	}
	if denied {
		spec["expireAfter"] = "Never"
		spec["requirements"] = append(requirements,
			tree{"key": "node.kubernetes.io/instance-type", "operator": "In", "values": []any{"p5.48xlarge"}})
	}
	return tree{"template": tree{"spec": spec}, "limits": tree{"cpu": "100"}}
}

func nodeClass(denied bool) tree {
	spec := tree{
		"role":                       "karpenter",
		"amiSelectorTerms":           []any{tree{"alias": "al2023@v20260901"}},
		"subnetSelectorTerms":        []any{tree{"tags": tree{"karpenter.sh/discovery": "c"}}},
		"securityGroupSelectorTerms": []any{tree{"tags": tree{"karpenter.sh/discovery": "c"}}},
	}
	if denied {
		spec["metadataOptions"] = tree{"httpTokens": "optional"}
		spec["kubelet"] = tree{"maxPods": -1}
		spec["amiSelectorTerms"] = []any{tree{"alias": "al2023@latest"}}
	}
	return spec
}

func nodeClaim() tree {
	return tree{
		"nodeClassRef": tree{"group": "karpenter.k8s.aws", "kind": "EC2NodeClass", "name": "default"},
		"requirements": []any{tree{"key": "kubernetes.io/arch", "operator": "In", "values": []any{"amd64"}}},
	}
}

// object is a small one of a kind, with a denial or without.
func object(of *kind, denied bool) tree {
	metadata := tree{"name": "sweep", "uid": "u-sweep", "labels": tree{"app": "web"}}
	if !of.cluster {
		metadata["namespace"] = "team-1"
	}
	made := tree{"apiVersion": of.apiVersion, "kind": of.name, "metadata": metadata}
	if of.template != "" {
		put(made, of.template, podTemplate(denied))
		if of.name != "Job" && of.name != "CronJob" {
			spec := made["spec"].(tree)
			spec["selector"] = tree{"matchLabels": tree{"app": "web"}}
			spec["replicas"] = 3
		}
		return made
	}
	switch of.name {
	case "Pod":
		made["spec"] = podSpec(denied)
	case "NodePool":
		made["spec"] = nodePool(denied)
	case "EC2NodeClass":
		made["spec"] = nodeClass(denied)
	case "NodeClaim":
		made["spec"] = nodeClaim()
	case "StorageClass":
		made["provisioner"] = "ebs.csi.aws.com"
		made["volumeBindingMode"] = "WaitForFirstConsumer"
		if denied {
			made["volumeBindingMode"] = "Immediate"
		}
	case "PersistentVolumeClaim":
		spec := tree{"accessModes": []any{"ReadWriteOnce"}, "storageClassName": "gp3",
			"resources": tree{"requests": tree{"storage": "1Gi"}}}
		if denied {
			spec["storageClassName"] = "at-once"
		}
		made["spec"] = spec
	case "LimitRange":
		made["spec"] = tree{"limits": []any{tree{"type": "Container", "default": tree{"cpu": "1"}}}}
	case "PodDisruptionBudget":
		spec := tree{"selector": tree{"matchLabels": tree{"app": "web"}}, "maxUnavailable": 1}
		if denied {
			spec["maxUnavailable"] = 0
		}
		made["spec"] = spec
	}
	return made
}

// put sets a value at a dotted path.
func put(root tree, path string, value any) {
	names := strings.Split(path, ".")
	for _, name := range names[:len(names)-1] {
		next, is := root[name].(tree)
		if !is {
			next = tree{}
			root[name] = next
		}
		root = next
	}
	root[names[len(names)-1]] = value
}
