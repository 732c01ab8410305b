// Holds objects against the CRDs that Karpenter and its AWS provider ship: their schemas, and the
// rules in them (CEL), as an API server does. usage: upgrade < OBJECTS; a line for each.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	aws "github.com/aws/karpenter-provider-aws/pkg/apis"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	v1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/util/yaml"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// schemaOf is the schema of a kind as apiVersion serves it; nil when it does not.
func schemaOf(apiVersion, kind string) (*apiextensions.JSONSchemaProps, error) {
	for _, crd := range aws.CRDs {
		for _, version := range crd.Spec.Versions {
			if crd.Spec.Names.Kind != kind || crd.Spec.Group+"/"+version.Name != apiVersion {
				continue
			}
			props := &apiextensions.JSONSchemaProps{}
			err := v1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
				version.Schema.OpenAPIV3Schema, props, nil)
			return props, err
		}
	}
	return nil, fmt.Errorf("no CRD serves %s of %s", kind, apiVersion)
}

// judge says everything an API server would refuse or drop in silence.
func judge(object map[string]any) error {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	props, err := schemaOf(apiVersion, kind)
	if err != nil {
		return err
	}
	structural, err := schema.NewStructural(props)
	if err != nil {
		return err
	}
	validator, _, err := validation.NewSchemaValidator(props)
	if err != nil {
		return err
	}
	var all field.ErrorList
	all = append(all, validation.ValidateCustomResource(nil, object, validator)...)
	rules := cel.NewValidator(structural, true, celconfig.PerCallLimit)
	found, _ := rules.Validate(context.Background(), nil, structural, object, nil,
		celconfig.RuntimeCELCostBudget)
	all = append(all, found...)
	dropped := pruning.PruneWithOptions(object, structural, true,
		schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})
	for _, path := range dropped {
		all = append(all, field.Invalid(field.NewPath(path), "", "is dropped in silence"))
	}
	return all.ToAggregate()
}

func run() error {
	reader := yaml.NewYAMLReader(bufio.NewReader(os.Stdin))
	refused := 0
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		object := map[string]any{}
		if err := yaml.Unmarshal(document, &object); err != nil {
			return err
		}
		metadata, _ := object["metadata"].(map[string]any)
		verdict := "accepted"
		if err := judge(object); err != nil {
			verdict = "refused: " + err.Error()
			refused++
		}
		fmt.Printf("%v %v %s\n", object["kind"], metadata["name"], verdict)
	}
	if refused > 0 {
		return fmt.Errorf("%d refused", refused)
	}
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
