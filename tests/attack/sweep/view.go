package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// The other way round: what a developer made long is in the cluster, and somebody else's short review meets it.

// viewed are kinds that a developer may make and rails look at.
var viewed = map[string]bool{
	"Pod": true, "PersistentVolumeClaim": true, "PodDisruptionBudget": true, "Deployment": true, "StatefulSet": true,
	"ReplicaSet": true, "Job": true, "LimitRange": true,
}

// viewMicrosMax is the aim for a review of some hundred bytes: reading is nothing.
const viewMicrosMax = cpuMicrosMax

// honest are reviews that look at everything in their namespace.
func (s *sweep) honest() map[string][]byte {
	made := map[string][]byte{}
	for _, of := range s.schemas.kinds {
		if of.name != "Pod" && of.name != "Deployment" && of.name != "PodDisruptionBudget" && of.name != "StatefulSet" {
			continue
		}
		one := object(of, false)
		one["metadata"].(tree)["name"] = "honest"
		spec, is := one["spec"].(tree)
		if template, has := spec["template"].(tree); has {
			spec, is = template["spec"].(tree)
		}
		if is && of.name != "PodDisruptionBudget" {
			container := spec["containers"].([]any)[0]
			spec["containers"] = []any{container, container, container, container, container}
			spec["volumes"] = []any{tree{"name": "data", "persistentVolumeClaim": tree{"claimName": "sweep"}}}
		}
		text, err := json.Marshal(one)
		if err != nil {
			panic(err)
		}
		made[of.name] = review(of, text, nil)
	}
	return made
}

// runViews makes each field of each kind long in a cluster of its own.
func (s *sweep) runViews(start func(state string) (*engine, error)) error {
	folder, err := os.MkdirTemp("", "sweep-view-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	honest := s.honest()
	for _, of := range append(s.schemas.kinds, s.schemas.seen...) {
		if !viewed[of.name] || !s.options.kinds.MatchString(of.name) {
			continue
		}
		for _, where := range s.schemas.fields(of.schema) {
			if where.shape == shapeString || where.shape == shapeFree || !s.isSwept(of, where) ||
				!s.options.paths.MatchString(where.String()) {
				continue
			}
			grown := grow(s.schemas, of, where, s.flavours(of, where)[0], "", false)
			if err := s.runView(folder, start, of, where, grown, honest); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *sweep) runView(folder string, start func(string) (*engine, error), of *kind, where *field, grown *growth,
	honest map[string][]byte) error {
	file := filepath.Join(folder, "object.json")
	if err := os.WriteFile(file, grown.object(s.options.objectBytes), 0o600); err != nil {
		return err
	}
	engine, err := start(file)
	if err != nil {
		return err
	}
	for name, body := range honest {
		for _, phase := range []string{"validate", "mutate"} {
			made, err := s.askView(engine, phase, name, body)
			if err != nil {
				return fmt.Errorf("with a long %s of a %s: %w", where, of.name, err)
			}
			made.kind, made.field = of.name, where.String()
			s.rows = append(s.rows, *made)
			if len(made.misses) > 0 && s.options.progress != nil {
				fmt.Fprintln(s.options.progress, made)
			}
		}
	}
	return engine.stop()
}

func (s *sweep) askView(engine *engine, phase, name string, body []byte) (*row, error) {
	made := &row{variant: "in view", flavour: phase + " " + name, bytes: len(body), limit: "-"}
	for attempt := 0; attempt == 0 || attempt < attempts && made.cpuMicros > viewMicrosMax/2; attempt++ {
		costs, err := engine.ask(phase, 0, body)
		if err != nil {
			return nil, err
		}
		one := costs[0]
		if attempt == 0 || one.cpuMicros < made.cpuMicros {
			made.cpuMicros = one.cpuMicros
		}
		made.policy, made.answerBytes, made.limit = engine.worlds[0], one.answerBytes, one.limit
		made.misses = nil
		if one.status != 200 {
			made.misses = append(made.misses, fmt.Sprintf("status %d", one.status))
		}
		if one.answerBytes > answerBytesMax {
			made.misses = append(made.misses, "answer")
		}
	}
	if made.cpuMicros > viewMicrosMax {
		made.misses = append(made.misses, "CPU")
	}
	return made, nil
}
