package main

import (
	"context"
	"fmt"

	aws "github.com/aws/karpenter-provider-aws/pkg/apis"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// crdSchema is what an API server makes of one version of a CRD.
type crdSchema struct {
	structural *schema.Structural
	validator  validation.SchemaValidator
	rules      *cel.Validator
}

var schemas = map[string]*crdSchema{}

func schemaOf(apiVersion, kind string) (*crdSchema, error) {
	name := apiVersion + "/" + kind
	if schemas[name] != nil {
		return schemas[name], nil
	}
	for _, crd := range aws.CRDs {
		for _, version := range crd.Spec.Versions {
			if crd.Spec.Names.Kind != kind || crd.Spec.Group+"/"+version.Name != apiVersion {
				continue
			}
			made, err := makeSchema(version.Schema.OpenAPIV3Schema)
			schemas[name] = made
			return made, err
		}
	}
	return nil, fmt.Errorf("no CRD serves %s of %s", kind, apiVersion)
}

func makeSchema(written *v1.JSONSchemaProps) (*crdSchema, error) {
	props := &apiextensions.JSONSchemaProps{}
	err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(written, props, nil)
	if err != nil {
		return nil, err
	}
	structural, err := schema.NewStructural(props)
	if err != nil {
		return nil, err
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return nil, err
	}
	return &crdSchema{structural, validator, cel.NewValidator(structural, true, celconfig.PerCallLimit)}, nil
}

// admit drops what the schema does not know, fills in its defaults and validates, schema and rules; what
// it returns would be stored.
func admit(object map[string]any, result *verdict) (map[string]any, error) {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	served, err := schemaOf(apiVersion, kind)
	if err != nil {
		return nil, err
	}
	stored := runtime.DeepCopyJSON(object)
	result.Dropped = pruning.PruneWithOptions(stored, served.structural, true,
		schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	defaulting.PruneNonNullableNullsWithoutDefaults(stored, served.structural)
	defaulting.Default(stored, served.structural)
	var all field.ErrorList
	all = append(all, validation.ValidateCustomResource(nil, stored, served.validator)...)
	all = append(all, listtype.ValidateListSetsAndMaps(nil, served.structural, stored)...)
	// Rules are not asked about what has not even the right shape.
	if len(all) == 0 {
		found, _ := served.rules.Validate(context.Background(), nil, served.structural, stored, nil,
			celconfig.RuntimeCELCostBudget)
		all = append(all, found...)
	}
	for _, fault := range all {
		result.Refused = append(result.Refused, fault.Error())
	}
	return stored, nil
}
