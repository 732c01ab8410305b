package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"strconv"
)

// filler makes values that follow a schema.
type filler struct {
	schemas *schemas
	flavour flavour
	variant int // which of several values of a name
}

// pick takes one of several values.
func (f *filler) pick(values []string) string { return values[f.variant%len(values)] }

func (f *filler) requirement() requirement {
	if len(f.flavour.requirements) == 0 {
		return labelRequirements[0]
	}
	return f.flavour.requirements[f.variant%len(f.flavour.requirements)]
}

// value fills one schema; name is that of the field it is for.
func (f *filler) value(one *schema, name string, depth int) any {
	one = f.schemas.resolve(one)
	switch {
	case one == nil:
		return "v"
	case one.name == "Quantity":
		return "1"
	case one.IntOrString || one.Format == "int-or-string":
		return 1
	case one.Format == "date-time":
		return "2026-11-20T10:00:00Z"
	case one.Items != nil:
		return []any{f.value(one.Items, name, depth+1)}
	case one.AdditionalProperties != nil:
		return map[string]any{f.key(name): f.value(one.AdditionalProperties, name, depth+1)}
	case len(one.Properties) > 0:
		return f.object(one, depth)
	case one.Type == "object":
		return map[string]any{}
	case name == "containerPort" || name == "hostPort":
		return numberMark + "#"
	case one.Type == "integer" || one.Type == "number":
		return 1
	case one.Type == "boolean":
		return f.flavour.bad
	}
	return f.text(one, name)
}

func (f *filler) text(one *schema, name string) string {
	if known, there := fieldValues[name]; there {
		return f.pick(known.of(f.flavour.bad))
	}
	if len(one.Enum) > 0 {
		if text, is := one.Enum[f.variant%len(one.Enum)].(string); is {
			return text
		}
	}
	if name == "values" {
		return f.requirement().value
	}
	return f.pick(plain.of(f.flavour.bad))
}

func (f *filler) key(name string) string {
	known, there := mapKeys[name]
	if !there {
		known = worth{[]string{"k#"}, []string{"k#"}}
	}
	return f.pick(known.of(f.flavour.bad))
}

// object fills what is required, what makes items of a list distinct, and, in a full flavour, all the rest.
func (f *filler) object(one *schema, depth int) any {
	if one.Properties["key"] != nil && one.Properties["operator"] != nil {
		if one.Properties["effect"] != nil {
			return maps.Clone(tolerations[f.variant%len(tolerations)])
		}
		return f.selector(one)
	}
	made := map[string]any{}
	for _, name := range sortedNames(one.Properties) {
		if f.flavour.full && depth < 4 || isWanted(one, name) {
			made[name] = f.value(one.Properties[name], name, depth+1)
		}
	}
	return made
}

// identity are the members that tell items of the lists of Kubernetes apart, or that rails read.
var identity = map[string]bool{
	"name": true, "key": true, "uid": true, "claimName": true, "topologyKey": true, "mountPath": true,
	"containerPort": true, "persistentVolumeClaim": true, "labelSelector": true, "matchExpressions": true,
	"matchLabels": true, "preference": true, "podAffinityTerm": true, "effect": true, "weight": true,
	"resources": true, "requests": true, "limits": true, "default": true, "defaultRequest": true,
}

func isWanted(one *schema, name string) bool {
	for _, required := range one.Required {
		if required == name {
			return true
		}
	}
	return identity[name]
}

func (f *filler) selector(one *schema) any {
	requirement := f.requirement()
	made := map[string]any{"key": requirement.key, "operator": requirement.operator}
	if requirement.value != "" {
		made["values"] = []any{requirement.value}
	}
	return made
}

// template is an item as JSON, cut where its number stands.
type template [][]byte

func newTemplate(value any) template {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // only maps, lists, strings and numbers are ever made
	}
	return bytes.Split(unquoteNumbers(text), []byte("#"))
}

// numberMark is before the mark of a number that is not in a string.
const numberMark = "@number@"

func unquoteNumbers(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte(`"`+numberMark+`#"`), []byte("#"))
}

func (t template) append(to []byte, number int) []byte {
	for i, part := range t {
		if i > 0 {
			to = strconv.AppendInt(to, int64(number), 10)
		}
		to = append(to, part...)
	}
	return to
}
