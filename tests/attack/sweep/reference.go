package main

import "encoding/json"

// The measure is a Pod whose bytes are in short annotations: nothing but reading them is to be done.

type referenceKey struct {
	phase        string
	world, bytes int
}

var references = map[referenceKey]int{}

// referenceMicros is what a Pod of so many bytes costs, measured once in the sweep.
func (s *sweep) referenceMicros(phase string, world, bytes int) (int, error) {
	key := referenceKey{phase, world, referenceBytes(bytes)}
	if known := references[key]; known > 0 {
		return scaled(known, key.bytes, bytes), nil
	}
	micros, err := s.measureReference(phase, world, key.bytes)
	references[key] = micros
	return scaled(micros, key.bytes, bytes), err
}

// measureReference is what it costs now: the less of two runs.
func (s *sweep) measureReference(phase string, world, bytes int) (int, error) {
	body, least := s.referenceBody(referenceBytes(bytes)), 0
	for i := 0; i < 2; i++ {
		costs, err := s.engine.ask(phase, world, body)
		if err != nil {
			return 0, err
		}
		if i == 0 || costs[0].cpuMicros < least {
			least = costs[0].cpuMicros
		}
	}
	return scaled(max(least, 1), referenceBytes(bytes), bytes), nil
}

// referenceBytes is the length of the Pod that a body of so many bytes is held against.
func referenceBytes(bytes int) int {
	const step = 64 << 10
	return max(bytes/step, 1) * step
}

func scaled(micros, of, to int) int {
	return max(int(float64(micros)*float64(to)/float64(of)), 1)
}

func (s *sweep) referenceBody(size int) []byte {
	for _, of := range s.schemas.kinds {
		if of.name != "Pod" {
			continue
		}
		for _, where := range s.schemas.fields(of.schema) {
			if where.String() == "metadata.annotations" {
				grown := grow(s.schemas, of, where, flavour{name: "good"}, "", false)
				return review(of, grown.object(size), nil)
			}
		}
	}
	panic("a Pod has no annotations")
}

// plainObject is the JSON of a short object.
func plainObject(of *kind, denied bool) []byte {
	text, err := json.Marshal(object(of, denied))
	if err != nil {
		panic(err)
	}
	return text
}
