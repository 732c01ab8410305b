package main

import (
	"sort"
	"strings"
)

// step is one step down an object: a member by name, any item of a list, any value of a map.
type step struct {
	name string // "" for an item of a list
	any  bool   // a value of a map with names of the author's choice
}

// field is a place in a kind that its author can make long.
type field struct {
	path   []step
	schema *schema
	shape  shape
}

type shape int

const (
	shapeList shape = iota
	shapeMap
	shapeString
	shapeFree // an object without a schema: anything may be in it
)

func (f *field) String() string {
	var text strings.Builder
	for _, each := range f.path {
		switch {
		case each.any:
			text.WriteString("{}")
		case each.name == "":
			text.WriteString("[]")
		default:
			if text.Len() > 0 {
				text.WriteByte('.')
			}
			text.WriteString(each.name)
		}
	}
	return text.String()
}

// name is that of the last member on the way.
func (f *field) name() string {
	for i := len(f.path) - 1; i >= 0; i-- {
		if f.path[i].name != "" {
			return f.path[i].name
		}
	}
	return ""
}

// atOnce are what a request sets elsewhere, or an API server does.
var atOnce = map[string]bool{
	"apiVersion": true, "kind": true, "metadata.deletionTimestamp": true, "metadata.namespace": true,
}

// depthMax ends a schema that contains itself; none of the guarded kinds is as deep.
const depthMax = 24

// fields finds every list, map and string of a kind, in order of path.
func (s *schemas) fields(root *schema) []*field {
	var found []*field
	var walk func(one *schema, path []step)
	walk = func(one *schema, path []step) {
		one = s.resolve(one)
		if one == nil || len(path) > depthMax {
			return
		}
		add := func(shape shape) {
			found = append(found, &field{append([]step(nil), path...), one, shape})
		}
		switch {
		case one.Items != nil:
			add(shapeList)
			walk(one.Items, append(path, step{}))
		case one.AdditionalProperties != nil:
			add(shapeMap)
			walk(one.AdditionalProperties, append(path, step{any: true}))
		case len(one.Properties) > 0:
			for _, name := range sortedNames(one.Properties) {
				walk(one.Properties[name], append(path, step{name: name}))
			}
		case one.Type == "object":
			add(shapeFree)
		case one.Type == "string" || one.IntOrString:
			add(shapeString)
		}
	}
	walk(root, nil)
	kept := found[:0]
	for _, each := range found {
		if !atOnce[each.String()] {
			kept = append(kept, each)
		}
	}
	return kept
}

func sortedNames(properties map[string]*schema) []string {
	names := make([]string, 0, len(properties))
	for name := range properties {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}
