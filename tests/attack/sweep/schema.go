package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"
)

// schema is what the sweep reads of an OpenAPI schema.
type schema struct {
	Ref                  string             `json:"$ref"`
	Type                 string             `json:"type"`
	Format               string             `json:"format"`
	Enum                 []any              `json:"enum"`
	Properties           map[string]*schema `json:"properties"`
	Required             []string           `json:"required"`
	Items                *schema            `json:"items"`
	AdditionalProperties *schema            `json:"additionalProperties"`
	ListMapKeys          []string           `json:"x-kubernetes-list-map-keys"`
	IntOrString          bool               `json:"x-kubernetes-int-or-string"`

	name string // of its definition, without the package
}

// kind is a guarded kind and its schema.
type kind struct {
	name, apiVersion string
	cluster          bool   // it has no namespace
	template         string // where its pod template is, dotted; "" when it has none
	schema           *schema
}

const definitions = "#/definitions/"

// schemas are the definitions of Kubernetes, and the kinds that the sweep walks.
type schemas struct {
	definitions map[string]*schema
	kinds       []*kind
	seen        []*kind // not judged, but looked at
}

// resolve follows references.
func (s *schemas) resolve(one *schema) *schema {
	for one != nil && one.Ref != "" {
		one = s.definitions[strings.TrimPrefix(one.Ref, definitions)]
	}
	return one
}

var kubernetesKinds = []struct {
	definition, name, apiVersion, template string
	cluster                                bool
}{
	{"io.k8s.api.core.v1.Pod", "Pod", "v1", "", false},
	{"io.k8s.api.apps.v1.Deployment", "Deployment", "apps/v1", "spec.template", false},
	{"io.k8s.api.apps.v1.ReplicaSet", "ReplicaSet", "apps/v1", "spec.template", false},
	{"io.k8s.api.core.v1.ReplicationController", "ReplicationController", "v1", "spec.template", false},
	{"io.k8s.api.apps.v1.StatefulSet", "StatefulSet", "apps/v1", "spec.template", false},
	{"io.k8s.api.apps.v1.DaemonSet", "DaemonSet", "apps/v1", "spec.template", false},
	{"io.k8s.api.batch.v1.Job", "Job", "batch/v1", "spec.template", false},
	{"io.k8s.api.batch.v1.CronJob", "CronJob", "batch/v1", "spec.jobTemplate.spec.template", false},
	{"io.k8s.api.storage.v1.StorageClass", "StorageClass", "storage.k8s.io/v1", "", true},
	{"io.k8s.api.core.v1.PersistentVolumeClaim", "PersistentVolumeClaim", "v1", "", false},
	{"io.k8s.api.resource.v1.ResourceClaim", "ResourceClaim", "resource.k8s.io/v1", "", false},
	{"io.k8s.api.policy.v1.PodDisruptionBudget", "PodDisruptionBudget", "policy/v1", "", false},
}

var karpenterKinds = []struct{ file, name string }{
	{"pkg/apis/crds/karpenter.sh_nodepools.yaml", "NodePool"},
	{"pkg/apis/crds/karpenter.sh_nodeclaims.yaml", "NodeClaim"},
	{"pkg/apis/crds/karpenter.k8s.aws_ec2nodeclasses.yaml", "EC2NodeClass"},
}

const objectMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"

// readSchemas reads the schemas of all guarded kinds; folder is that of this module.
func readSchemas(folder string) (*schemas, error) {
	text, err := moduleFile(folder, kubernetesModule, "api/openapi-spec/swagger.json")
	if err != nil {
		return nil, err
	}
	var swagger struct{ Definitions map[string]*schema }
	if err := json.Unmarshal(text, &swagger); err != nil {
		return nil, err
	}
	all := &schemas{definitions: swagger.Definitions}
	for name, one := range all.definitions {
		one.name = name[strings.LastIndex(name, ".")+1:]
	}
	for _, each := range kubernetesKinds {
		one := all.definitions[each.definition]
		if one == nil {
			return nil, fmt.Errorf("the OpenAPI schema of Kubernetes has no %s", each.definition)
		}
		all.kinds = append(all.kinds, &kind{each.name, each.apiVersion, each.cluster, each.template, one})
	}
	all.seen = []*kind{{"LimitRange", "v1", false, "", all.definitions["io.k8s.api.core.v1.LimitRange"]}}
	for _, each := range karpenterKinds {
		one, err := readCRD(folder, each.file, each.name)
		if err != nil {
			return nil, err
		}
		one.schema.Properties["metadata"] = &schema{Ref: definitions + objectMeta}
		all.kinds = append(all.kinds, one)
	}
	return all, nil
}

// readCRD gives the stored version of a custom resource.
func readCRD(folder, file, name string) (*kind, error) {
	text, err := moduleFile(folder, karpenterModule, file)
	if err != nil {
		return nil, err
	}
	var tree any
	if err := yaml.Unmarshal(text, &tree); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	if text, err = json.Marshal(tree); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var definition struct {
		Spec struct {
			Group    string
			Versions []struct {
				Name    string
				Storage bool
				Schema  struct {
					OpenAPIV3Schema *schema `json:"openAPIV3Schema"`
				}
			}
		}
	}
	if err := json.Unmarshal(text, &definition); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, version := range definition.Spec.Versions {
		if version.Storage {
			return &kind{name, definition.Spec.Group + "/" + version.Name, true, "", version.Schema.OpenAPIV3Schema}, nil
		}
	}
	return nil, fmt.Errorf("%s stores no version", file)
}
