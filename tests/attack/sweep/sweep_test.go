package main

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

func readAll(t *testing.T) *schemas {
	t.Helper()
	all, err := readSchemas(".")
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func fieldsOf(all *schemas, name string) map[string]shape {
	found := map[string]shape{}
	for _, of := range all.kinds {
		if of.name == name {
			for _, where := range all.fields(of.schema) {
				found[where.String()] = where.shape
			}
		}
	}
	return found
}

func TestFieldsAreFound(t *testing.T) {
	all := readAll(t)
	for _, expected := range []struct {
		kind, field string
		shape       shape
	}{
		{"Pod", "spec.nodeSelector", shapeMap},
		{"Pod", "spec.tolerations", shapeList},
		{"Pod", "spec.containers[].resources.limits", shapeMap},
		{"Pod", "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[].matchExpressions[].values", shapeList},
		{"Pod", "metadata.managedFields[].fieldsV1", shapeFree},
		{"Pod", "spec.schedulerName", shapeString},
		{"CronJob", "spec.jobTemplate.spec.template.spec.initContainers", shapeList},
		{"StatefulSet", "spec.volumeClaimTemplates", shapeList},
		{"NodePool", "spec.template.spec.requirements[].values", shapeList},
		{"NodePool", "metadata.ownerReferences", shapeList},
		{"EC2NodeClass", "spec.amiSelectorTerms[].tags", shapeMap},
		{"StorageClass", "allowedTopologies[].matchLabelExpressions[].values", shapeList},
	} {
		if shape, found := fieldsOf(all, expected.kind)[expected.field]; !found || shape != expected.shape {
			t.Errorf("%s %s: found %v, shape %v", expected.kind, expected.field, found, shape)
		}
	}
}

// Every field of every kind can be made long in every way, and what is made is JSON of the size that was asked.
func TestObjectsGrow(t *testing.T) {
	all := readAll(t)
	run := &sweep{options: options{strings: true, short: true}, schemas: all}
	const size = 8000
	for _, of := range all.kinds {
		for _, where := range all.fields(of.schema) {
			for _, flavour := range run.flavours(of, where) {
				for _, pattern := range run.patterns(where) {
					grown := grow(all, of, where, flavour, pattern, true)
					if grown == nil {
						t.Fatalf("%s %s %s: nothing grows", of.name, where, flavour.name)
					}
					text := grown.object(size)
					if len(text) < size-2000 || len(text) > size+6000 {
						t.Errorf("%s %s %s: %d bytes", of.name, where, flavour.name, len(text))
					}
					if !json.Valid(review(of, text, text)) || strings.Contains(string(text), "#") {
						t.Fatalf("%s %s %s: %.300s", of.name, where, flavour.name, text)
					}
				}
			}
		}
	}
}

// The policy of all rails names all rails.
func TestAllRailsAreOn(t *testing.T) {
	text, err := os.ReadFile("all-rails.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var policy struct {
		Spec struct {
			Rails map[string]struct{ Mode string }
		}
	}
	if err := yaml.Unmarshal(text, &policy); err != nil {
		t.Fatal(err)
	}
	definitions, err := os.ReadFile("../../../policy/rails/rails.def")
	if err != nil {
		t.Fatal(err)
	}
	rails := regexp.MustCompile(`RAIL\(rail_(\w+)\)`).FindAllStringSubmatch(string(definitions), -1)
	if len(rails) == 0 {
		t.Fatal("rails.def names no rail")
	}
	for _, rail := range rails {
		name := strings.ReplaceAll(rail[1], "_", "-")
		if policy.Spec.Rails[name].Mode != "enforce" {
			t.Errorf("%s is not enforced", name)
		}
	}
}

func TestOneSlowMomentIsNoGrowth(t *testing.T) {
	for _, each := range []struct {
		pairs  []float64
		median float64
	}{
		{[]float64{1.8}, 1.8},
		{[]float64{3.6, 1.8, 1.7}, 1.8},
		{[]float64{4.1, 1.9, 3.9}, 3.9},
		{[]float64{4, 1, 3, 2}, 2},
	} {
		if got := median(each.pairs); got != each.median {
			t.Errorf("median of %v is %v, not %v", each.pairs, got, each.median)
		}
	}
}

func TestAimsAreHeld(t *testing.T) {
	for _, each := range []struct {
		row    row
		missed bool
	}{
		{row{kind: "Pod", field: "a", ratio: 1}, false},
		{row{kind: "Pod", field: "a", ratio: 5, misses: []string{"ratio"}}, true},
	} {
		var out strings.Builder
		if missed := printTable(&out, []row{each.row}, 0) > 0; missed != each.missed {
			t.Errorf("%+v: missed %v", each.row, missed)
		}
		if strings.Contains(out.String(), "ratio]") != each.missed {
			t.Errorf("a miss must be in the table, whatever its length: %s", out.String())
		}
	}
}
