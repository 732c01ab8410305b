package main

import (
	"encoding/json"
	"strings"
)

// Two lists that are each linear may be walked one inside the other. So two fields of a kind share the bytes.

// isPaired takes the lists and maps of a spec that are not deep inside another.
func isPaired(of *kind, where *field) bool {
	if where.shape != shapeList && where.shape != shapeMap || where.path[0].name == "status" || of.template != "" {
		return false
	}
	deep := 0
	for _, each := range where.path {
		if each.name == "" {
			deep++
		}
	}
	return deep <= 2
}

// runPairs is of the whole form.
func (s *sweep) runPairs(of *kind) error {
	if s.options.short || !s.options.pairs {
		return nil
	}
	var paired []*field
	for _, where := range s.schemas.fields(of.schema) {
		if isPaired(of, where) && s.options.paths.MatchString(where.String()) {
			paired = append(paired, where)
		}
	}
	for i, first := range paired {
		long, few := s.long(of, first)
		for _, second := range paired[i+1:] {
			if strings.HasPrefix(second.String(), first.String()) {
				continue
			}
			if err := s.runPair(of, first, second, long, few); err != nil {
				return err
			}
		}
	}
	return nil
}

// long is an object half of whose bytes are in one field, and few the same with few items.
func (s *sweep) long(of *kind, where *field) (long, few []byte) {
	grown := grow(s.schemas, of, where, s.flavours(of, where)[0], "", true)
	return grown.object(s.options.objectBytes / 2), grown.few()
}

func (s *sweep) runPair(of *kind, first, second *field, long, few []byte) error {
	grown, err := s.growBeside(of, long, second)
	if err != nil {
		return err
	}
	if grown.brief, err = s.growBeside(of, few, second); err != nil {
		return err
	}
	return s.measure(of, grown, variants[0], s.denied[of.name+" "+variants[0].name], first.String()+" and "+second.String(), "bad")
}

// growBeside prepares a field of an object that has the other one already.
func (s *sweep) growBeside(of *kind, object []byte, where *field) (*growth, error) {
	var root tree
	if err := json.Unmarshal(object, &root); err != nil {
		return nil, err
	}
	return growIn(s.schemas, of, root, where, s.flavours(of, where)[0], ""), nil
}
