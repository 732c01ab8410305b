package main

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
)

// placeholder stands where the long value goes.
const placeholder = "@long@"

// variants of a template: items of a list take turns.
const variantCount = 12

// growth is an object that can be made as long as one likes at one field.
type growth struct {
	before, after []byte // of the object's JSON
	open, close   string
	first         []byte // what the field held before
	items         []template
	pattern       string // of a string
	nest          bool
	spared        *growth // the same without what is denied
	brief         *growth // what is as short as it can be where this is half long; nil: itself
}

// grow prepares one field of an object; nil when the schema has nothing there to fill.
func grow(schemas *schemas, of *kind, where *field, flavour flavour, pattern string, denied bool) *growth {
	return growIn(schemas, of, object(of, denied), where, flavour, pattern)
}

// growIn prepares a field of an object that is there, and is changed.
func growIn(schemas *schemas, of *kind, root tree, where *field, flavour flavour, pattern string) *growth {
	fill := &filler{schemas: schemas, flavour: flavour}
	held := fill.descend(of.schema, root, where.path)
	text, err := json.Marshal(root)
	if err != nil {
		panic(err)
	}
	before, after, found := bytes.Cut(text, []byte(`"`+placeholder+`"`))
	if !found {
		return nil
	}
	made := &growth{before: strip(before), after: strip(after)}
	switch where.shape {
	case shapeString:
		made.pattern = pattern
	case shapeFree:
		made.nest = true
	case shapeList:
		made.open, made.close = "[", "]"
		made.first = inside(held)
		made.items = fill.items(where)
	case shapeMap:
		made.open, made.close = "{", "}"
		made.first = inside(held)
		made.items = fill.members(where)
	}
	return made
}

// strip takes out the numbers' marks of what is there once.
func strip(text []byte) []byte {
	return bytes.ReplaceAll(unquoteNumbers(text), []byte("#"), []byte("0"))
}

// inside is the JSON of a list or map without its brackets.
func inside(held any) []byte {
	if held == nil {
		return nil
	}
	text, err := json.Marshal(held)
	if err != nil || len(text) < 2 {
		panic(held)
	}
	return strip(text[1 : len(text)-1])
}

// descend makes the way to a field, leaves the placeholder there and gives what it held.
func (f *filler) descend(one *schema, at any, path []step) any {
	one = f.schemas.resolve(one)
	last := len(path) == 1
	switch next := path[0]; {
	case next.any: // at is a map of names of the author's choice
		members := at.(tree)
		key := f.key("")
		if last {
			members[key] = placeholder
			return nil
		}
		if members[key] == nil {
			members[key] = f.value(one.AdditionalProperties, "", 1)
		}
		return f.descend(one.AdditionalProperties, members[key], path[1:])
	case next.name == "":
		items := at.([]any)
		if last {
			items[0] = placeholder
			return nil
		}
		return f.descend(one.Items, items[0], path[1:])
	default:
		members := at.(tree)
		held := members[next.name]
		if last {
			members[next.name] = placeholder
			return held
		}
		below := f.schemas.resolve(one.Properties[next.name])
		if items, is := held.([]any); held == nil || is && len(items) == 0 {
			held = f.value(below, next.name, 1)
		}
		members[next.name] = held
		return f.descend(below, held, path[1:])
	}
}

func (f *filler) items(where *field) []template {
	var made []template
	for f.variant = 0; f.variant < variantCount; f.variant++ {
		made = append(made, newTemplate(f.value(where.schema.Items, where.name(), 1)))
	}
	return made
}

func (f *filler) members(where *field) []template {
	var made []template
	for f.variant = 0; f.variant < variantCount; f.variant++ {
		key := f.key(where.name())
		if !strings.Contains(key, "#") {
			key += "#"
		}
		text := append(newTemplate(key), newTemplate(f.value(where.schema.AdditionalProperties, where.name(), 1))...)
		// the key's last part and the value's first become one, with a colon between
		cut := len(newTemplate(key))
		joined := append(append(append([]byte(nil), text[cut-1]...), ':'), text[cut]...)
		made = append(made, append(append(append(template{}, text[:cut-1]...), joined), text[cut+1:]...))
	}
	return made
}

// nestDepth is a little less than what the API server reads of managedFields.
const nestDepth = 290

// few is the object with each of its items once, or a short string: what it says, without its length.
func (g *growth) few() []byte {
	const repeats = 64
	if g.brief != nil {
		return g.brief.few()
	}
	size := len(g.before) + len(g.after) + len(g.first) + repeats*len(g.pattern)
	for number, item := range g.items {
		size += len(item.append(nil, number+1)) + 1
	}
	return g.object(size)
}

// object is the JSON of the object with about so many bytes.
func (g *growth) object(size int) []byte {
	text := make([]byte, 0, size+4096)
	text = append(text, g.before...)
	room := size - len(g.before) - len(g.after)
	switch {
	case g.pattern != "":
		text = appendString(text, g.pattern, room)
	case g.nest:
		text = appendNested(text, room)
	default:
		text = append(append(text, g.open...), g.first...)
		end := size - len(g.after)
		comma := len(g.first) > 0
		for number := 1; len(text) < end; number++ { // 0 is taken by what is there once
			if comma {
				text = append(text, ',')
			}
			comma = true
			// several in turn, each with numbers of its own
			text = g.items[number%len(g.items)].append(text, number)
		}
		text = append(text, g.close...)
	}
	return append(text, g.after...)
}

func appendString(text []byte, pattern string, room int) []byte {
	encoded, err := json.Marshal(pattern)
	if err != nil {
		panic(err)
	}
	encoded = encoded[1 : len(encoded)-1]
	text = append(append(text, '"'), encoded...)
	for end := len(text) + room - 2*len(encoded); len(text) < end; {
		text = append(text, encoded...)
	}
	return append(text, '"')
}

// appendNested is deep and wide, as managedFields may be.
func appendNested(text []byte, room int) []byte {
	end := len(text) + room
	text = append(text, '{')
	for i := 0; len(text) < end; i++ {
		if i > 0 {
			text = append(text, ',')
		}
		text = strconv.AppendInt(append(text, `"f:`...), int64(i), 10)
		text = append(text, `":`...)
		text = append(text, strings.Repeat(`{"f:a":`, nestDepth)...)
		text = append(text, "{}"...)
		text = append(text, strings.Repeat("}", nestDepth)...)
	}
	return append(text, '}')
}

// review is an AdmissionReview; old nil: of a CREATE.
func review(of *kind, object, old []byte) []byte {
	group, version, found := strings.Cut(of.apiVersion, "/")
	if !found {
		group, version = "", group
	}
	namespace := `"namespace":"team-1",`
	if of.cluster {
		namespace = ""
	}
	operation := "CREATE"
	if old != nil {
		operation = "UPDATE"
	} else {
		old = []byte("null")
	}
	var body bytes.Buffer
	body.Grow(len(object) + len(old) + 1024)
	gvk := `"group":"` + group + `","version":"` + version + `"`
	resource := strings.ToLower(of.name) + "s"
	body.WriteString(`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","kind":{` +
		gvk + `,"kind":"` + of.name + `"},"resource":{` + gvk + `,"resource":"` + resource + `"},"name":"sweep",` +
		namespace + `"operation":"` + operation + `","userInfo":{"username":"alice","groups":["system:authenticated"]},` +
		`"dryRun":false,"object":`)
	body.Write(object)
	body.WriteString(`,"oldObject":`)
	body.Write(old)
	body.WriteString(`}}`)
	return body.Bytes()
}
