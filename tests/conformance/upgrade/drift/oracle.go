package main

import (
	"encoding/json"

	aws "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/scheduling"
)

// read makes a typed object of one as it is sent.
func read[T any](given object) (*T, error) {
	into := new(T)
	bytes, err := json.Marshal(given)
	if err == nil {
		err = json.Unmarshal(bytes, into)
	}
	return into, err
}

// drifted is Karpenter's areStaticFieldsDrifted for a hash that its controller has written on the object.
func drifted(claim object, names hashNames, hash string) bool {
	annotations, _ := claim.at("metadata", "annotations").(object)
	written, found := annotations[names.hash]
	version, versionFound := annotations[names.version]
	return found && versionFound && version == names.current && written != hash
}

// unmet is Karpenter's areRequirementsDrifted.
func unmet(claim object, pool *karpenter.NodePool) bool {
	labels := map[string]string{}
	given, _ := claim.at("metadata", "labels").(object)
	for key, value := range given {
		labels[key] = value.(string)
	}
	wanted := scheduling.NewNodeSelectorRequirementsWithMinValues(pool.Spec.Template.Spec.Requirements...)
	return scheduling.NewLabelRequirements(labels).Compatible(wanted) != nil
}

func verdict(before, after bool) string {
	switch {
	case before && after:
		return "already"
	case before:
		return "undone"
	case after:
		return "newly"
	}
	return "none"
}

type hashNames struct {
	hash, version, current string
}

var poolNames = hashNames{karpenter.NodePoolHashAnnotationKey, karpenter.NodePoolHashVersionAnnotationKey,
	karpenter.NodePoolHashVersion}
var classNames = hashNames{aws.AnnotationEC2NodeClassHash, aws.AnnotationEC2NodeClassHashVersion,
	aws.EC2NodeClassHashVersion}

// poolHash is that of the NodePool as the API server stores it: with the CRD's default.
func poolHash(pool object) (string, *karpenter.NodePool, error) {
	stored := pool.copy()
	spec := stored.at("spec", "template", "spec").(object)
	if spec["expireAfter"] == nil {
		spec["expireAfter"] = "720h"
	}
	typed, err := read[karpenter.NodePool](stored)
	if err != nil {
		return "", nil, err
	}
	return typed.Hash(), typed, nil
}

// classHash is that of the EC2NodeClass as the API server stores it.
func classHash(class object, bundle string) (string, error) {
	stored := class.copy()
	spec := stored["spec"].(object)
	options, _ := spec["metadataOptions"].(object)
	if options == nil {
		options = object{}
	}
	for key, value := range (object{"httpEndpoint": "enabled", "httpProtocolIPv6": "disabled",
		"httpPutResponseHopLimit": 1, "httpTokens": "required"}) {
		if options[key] == nil {
			options[key] = value
		}
	}
	spec["metadataOptions"] = options
	typed, err := read[aws.EC2NodeClass](stored)
	if err != nil {
		return "", err
	}
	return typed.Hash(&bundle), nil
}
