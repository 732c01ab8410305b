// The custom resources of other projects, held against their own definitions.
//
//	definitions DIR... -- FILE...
//
// DIR holds CustomResourceDefinitions, at any depth. Each document of each FILE that is of one of their kinds must be
// as the API server would take it, and none of its fields may be one that the API server drops. A HelmRelease, whose
// definition is not among its project's Go modules, is decoded strictly. Other documents are passed over.
package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	helmv2 "github.com/fluxcd/helm-controller/api/v2"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

type definition struct {
	validator  validation.SchemaValidator
	structural *structuralschema.Structural
	rules      *cel.Validator
}

type definitions map[schema.GroupVersionKind]definition

// add takes a file that holds a definition, and passes over any other.
func (d definitions) add(path string) error {
	text, err := os.ReadFile(path)
	if err != nil || !bytes.Contains(text, []byte("kind: CustomResourceDefinition")) {
		return err
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for _, version := range crd.Spec.Versions {
		internal := &apiextensions.CustomResourceValidation{}
		if err := apiextensionsv1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(
			version.Schema, internal, nil); err != nil {
			return err
		}
		validator, _, err := validation.NewSchemaValidator(internal.OpenAPIV3Schema)
		if err != nil {
			return err
		}
		structural, err := structuralschema.NewStructural(internal.OpenAPIV3Schema)
		if err != nil {
			return err
		}
		d[schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind}] = definition{
			validator, structural, cel.NewValidator(structural, true, celconfig.PerCallLimit),
		}
	}
	return nil
}

func (d definition) problems(object map[string]any) (problems []string) {
	problems = pruning.PruneWithOptions(object, d.structural, true, structuralschema.UnknownFieldPathOptions{
		TrackUnknownFieldPaths: true,
	})
	for i, path := range problems {
		problems[i] = path + ": there is no such field"
	}
	faults := validation.ValidateCustomResource(nil, object, d.validator)
	if d.rules != nil {
		more, _ := d.rules.Validate(context.Background(), field.NewPath(""), d.structural, object, nil,
			celconfig.RuntimeCELCostBudget)
		faults = append(faults, more...)
	}
	for _, fault := range faults {
		problems = append(problems, fault.Error())
	}
	return problems
}

// judge counts the documents that it knows.
func (d definitions) judge(path string) (known int, problems []string, err error) {
	stream, err := os.ReadFile(path)
	if err != nil {
		return 0, nil, err
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(stream)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return known, problems, nil
		}
		if err != nil {
			return known, problems, err
		}
		var object map[string]any
		if err := yaml.UnmarshalStrict(document, &object); err != nil {
			return known, problems, fmt.Errorf("%s: %w", path, err)
		}
		version, _ := object["apiVersion"].(string)
		kind, _ := object["kind"].(string)
		which := schema.FromAPIVersionAndKind(version, kind)
		if which == helmv2.GroupVersion.WithKind(helmv2.HelmReleaseKind) {
			known++
			if err := yaml.UnmarshalStrict(document, &helmv2.HelmRelease{}); err != nil {
				problems = append(problems, fmt.Sprintf("%s: %s: %v", path, kind, err))
			}
			continue
		}
		found, ok := d[which]
		if !ok {
			continue
		}
		known++
		for _, problem := range found.problems(object) {
			problems = append(problems, fmt.Sprintf("%s: %s: %s", path, kind, problem))
		}
	}
}

func run() error {
	end := slices.Index(os.Args, "--")
	if end < 2 || end+1 == len(os.Args) {
		return errors.New("usage: definitions DIR... -- FILE...")
	}
	d := definitions{}
	for _, folder := range os.Args[1:end] {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") {
				return err
			}
			return d.add(path)
		})
		if err != nil {
			return err
		}
	}
	total, failed := 0, 0
	for _, path := range os.Args[end+1:] {
		known, problems, err := d.judge(path)
		if err != nil {
			return err
		}
		for _, problem := range problems {
			fmt.Println(problem)
		}
		total += known
		failed += len(problems)
	}
	if failed > 0 {
		return fmt.Errorf("%d problems", failed)
	}
	fmt.Printf("%d custom resources as their definitions want them\n", total)
	return nil
}

func main() {
	if err := run(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}
