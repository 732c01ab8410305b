package main

import "strings"

// What is swept: every field of every kind, and of a field's many fillings those that differ.

// isSwept leaves out, in the short form, what another kind shows as well.
func (s *sweep) isSwept(of *kind, where *field) bool {
	path := where.String()
	if where.shape == shapeString && !s.options.strings {
		return false
	}
	isTemplate := of.template != "" && strings.HasPrefix(path, of.template+".")
	if where.shape == shapeString && isTemplate {
		return false // the Pod's
	}
	if !s.options.short {
		return true
	}
	isStatus := strings.HasPrefix(path, "status.")
	isMetadata := strings.HasPrefix(path, "metadata.") && of.name != "Pod"
	return !isTemplate && !isStatus && !isMetadata
}

// flavours are the ways to fill a field.
func (s *sweep) flavours(of *kind, where *field) []flavour {
	if where.shape == shapeString || where.shape == shapeFree {
		return []flavour{{name: "", bad: true}}
	}
	path := where.String()
	requirements := labelRequirements
	if isAboutNodes(path) {
		requirements = nodeRequirements
	}
	made := []flavour{
		{name: "bad", bad: true, requirements: requirements},
		{name: "good", requirements: requirements},
	}
	if s.options.short {
		made = made[:1]
	} else {
		made = append(made, flavour{name: "full", bad: true, full: true, requirements: requirements})
	}
	isTemplate := of.template != "" && strings.HasPrefix(path, of.template+".")
	if s.selects(where) && !isTemplate {
		for i := range requirements {
			made = append(made, flavour{"bad, " + requirements[i].name, true, false, requirements[i : i+1]})
		}
	}
	return made
}

// selects says whether the field is a list of expressions, or of the values of one.
func (s *sweep) selects(where *field) bool {
	if where.name() == "values" {
		return true
	}
	if where.schema.Items == nil {
		return false
	}
	items := s.schemas.resolve(where.schema.Items)
	return items.Properties["operator"] != nil && items.Properties["values"] != nil
}

var patterns = []string{"a", "<", `"`, "1", "9,", "a.", "*", "-"}

func (s *sweep) patterns(where *field) []string {
	if where.shape != shapeString {
		return []string{""}
	}
	if s.options.short {
		return patterns[:2]
	}
	return patterns
}
