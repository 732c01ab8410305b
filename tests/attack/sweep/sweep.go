package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The aims.
const (
	cpuMicrosMax = 100_000
	// To the cost per byte of a Pod with as many bytes in annotations, of which little more is to be done than to
	// read them: docs/threat-model.md has what they cost.
	ratioMax       = 25.0
	growthMax      = 2.2 // of the cost, when the object is twice as long
	answerBytesMax = 64 << 10

	// The short form runs beside other tests, on processors that others use.
	growthMaxShort = 3.0

	// Costs below this say nothing about growth.
	growthMicrosMin = 3000
	// A cost over an aim is measured again, since others use the machine too.
	attempts    = 8
	attemptsMin = 3 // of a growth
)

// options say how much is swept.
type options struct {
	objectBytes    int
	short          bool
	strings, pairs bool
	kinds, paths   *regexp.Regexp
	progress       io.Writer
	dump           string // a folder for the bodies; "": none
	ratioMax       float64
}

func (o *options) growthMax() float64 {
	if o.short {
		return growthMaxShort
	}
	return growthMax
}

// row is the worst that one field of a kind costs in one way.
type row struct {
	kind, field, flavour, variant, policy string
	bytes                                 int
	cpuMicros                             int
	ratio, growth                         float64
	answerBytes                           int
	limit                                 string
	misses                                []string
	before                                *cost // of the program before, when there is one
}

type sweep struct {
	options options
	schemas *schemas
	engine  *engine
	before  *engine // of another version, measured with the same bodies; nil: none
	rows    []row

	reference *growth
	// By kind, variant and world: what is denied with nothing long in it.
	denied map[string][]bool
}

// variant is a way to ask about an object that was made long.
type variant struct {
	name   string
	denied bool // the object has something else that is denied
	phase  string
	old    int
}

const (
	oldNone = iota // a CREATE
	oldShort
	oldSame
	oldLong // as the object, but for what is denied
)

var variants = []variant{
	{"denied", true, "validate", oldNone},
	{"alone", false, "validate", oldNone},
	{"update", true, "validate", oldShort},
	{"no change", true, "validate", oldSame},
	{"hidden", true, "validate", oldLong},
	{"mutate", false, "mutate", oldNone},
}

// variantsOf leaves out what others show as well.
func (s *sweep) variantsOf(of *kind, first bool) []variant {
	switch {
	case s.options.short:
		return variants[:1]
	case of.name == "Pod" && first:
		return variants
	case first && of.template == "":
		return variants[:5]
	}
	return variants[:2]
}

func (s *sweep) body(of *kind, grown *growth, with variant, size int) []byte {
	if with.old == oldLong {
		// what is stored is half as long as a request may be
		return review(of, grown.object(size/2), grown.spared.object(size/2))
	}
	object := grown.object(size)
	var old []byte
	switch with.old {
	case oldShort:
		old = s.short(of, with.denied)
	case oldSame:
		old = object
	}
	return review(of, object, old)
}

// short is the object with nothing long in it; on an UPDATE it is what was there before, without its denial.
func (s *sweep) short(of *kind, _ bool) []byte {
	return plainObject(of, false)
}

func (s *sweep) run() error {
	s.denied = map[string][]bool{}
	for _, of := range s.schemas.kinds {
		if !s.options.kinds.MatchString(of.name) {
			continue
		}
		if err := s.runKind(of); err != nil {
			return err
		}
		if err := s.runPairs(of); err != nil {
			return err
		}
	}
	return nil
}

func (s *sweep) runKind(of *kind) error {
	for _, with := range variants {
		if err := s.askShort(of, with); err != nil {
			return err
		}
	}
	for _, where := range s.schemas.fields(of.schema) {
		if !s.options.paths.MatchString(where.String()) || !s.isSwept(of, where) {
			continue
		}
		for i, flavour := range s.flavours(of, where) {
			for _, pattern := range s.patterns(where) {
				for _, with := range s.variantsOf(of, i == 0) {
					if err := s.runField(of, where, flavour, pattern, with); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func (s *sweep) askShort(of *kind, with variant) error {
	var old []byte
	if with.old != oldNone {
		old = s.short(of, with.denied)
	}
	costs, err := s.engine.ask(with.phase, allWorlds, review(of, plainObject(of, with.denied), old))
	if err != nil {
		return err
	}
	for _, one := range costs {
		if one.status != 200 {
			return fmt.Errorf("a short %s is answered with status %d", of.name, one.status)
		}
	}
	s.denied[of.name+" "+with.name] = deniedOf(costs, with)
	return nil
}

// runField measures one field in one way under every policy.
func (s *sweep) runField(of *kind, where *field, flavour flavour, pattern string, with variant) error {
	grown := grow(s.schemas, of, where, flavour, pattern, with.denied)
	if grown == nil {
		return fmt.Errorf("%s %s cannot be made long", of.name, where)
	}
	grown.spared = grow(s.schemas, of, where, flavour, pattern, false)
	denied := s.denied[of.name+" "+with.name]
	if where.shape == shapeString {
		// the string may stand where the denied one was: what counts is what a short one of its sort gets
		costs, err := s.engine.ask(with.phase, allWorlds, s.body(of, grown, with, 0))
		if err != nil {
			return err
		}
		denied = deniedOf(costs, with)
	}
	return s.measure(of, grown, with, denied, where.String(), flavour.name+pattern)
}

// deniedOf says which worlds deny; what does not change is never denied.
func deniedOf(costs []cost, with variant) []bool {
	denied := make([]bool, len(costs))
	for i, one := range costs {
		denied[i] = one.status == 200 && one.allowed == 0 && with.old != oldSame
	}
	return denied
}

func (s *sweep) measure(of *kind, grown *growth, with variant, denied []bool, path, filling string) error {
	body := s.body(of, grown, with, s.options.objectBytes)
	if s.options.dump != "" {
		name := strings.NewReplacer("/", "_", " ", "_").Replace(of.name + "-" + path + "-" + filling + "-" + with.name)
		if err := os.WriteFile(filepath.Join(s.options.dump, name+".json"), body, 0o600); err != nil {
			return err
		}
	}
	costs, err := s.engine.ask(with.phase, allWorlds, body)
	if err != nil {
		return err
	}
	var before []cost
	if s.before != nil {
		if before, err = s.before.ask(with.phase, allWorlds, body); err != nil {
			return err
		}
	}
	for i, one := range costs {
		made := row{kind: of.name, field: path, flavour: filling, variant: with.name,
			policy: s.engine.worlds[one.world], bytes: len(body), cpuMicros: one.cpuMicros,
			answerBytes: one.answerBytes, limit: one.limit}
		if before != nil {
			made.before = &before[i]
		}
		if err := s.judge(&made, of, grown, with, denied[one.world], one, body); err != nil {
			return err
		}
		s.rows = append(s.rows, made)
		if len(made.misses) > 0 && s.options.progress != nil {
			fmt.Fprintln(s.options.progress, made.String())
		}
	}
	return nil
}

// judge holds one cost against the aims; what is over one of them is measured again beside the reference.
func (s *sweep) judge(made *row, of *kind, grown *growth, with variant, denied bool, one cost,
	body []byte) error {
	if err := s.measureRatio(made, with, one, body); err != nil {
		return err
	}
	// what comes to a limit is read once more, for its names: its cost is bounded, and a step
	// of a pair only one field would be halved
	if one.limit == "-" && grown.brief == nil && made.cpuMicros > growthMicrosMin && made.ratio > s.options.ratioMax/2 {
		if err := s.measureGrowth(made, of, grown, with, one); err != nil {
			return err
		}
	}
	miss := func(missed bool, format string, arguments ...any) {
		if missed {
			made.misses = append(made.misses, fmt.Sprintf(format, arguments...))
		}
	}
	miss(one.status != 200, "status %d", one.status)
	if denied && one.status == 200 && one.allowed == 1 {
		isDenied, err := s.deniesFew(of, grown, with, one.world)
		if err != nil {
			return err
		}
		miss(isDenied, "allowed")
	}
	miss(one.answerBytes > answerBytesMax, "answer")
	miss(made.cpuMicros > cpuMicrosMax, "CPU")
	miss(made.ratio > s.options.ratioMax, "ratio")
	miss(made.growth > s.options.growthMax(), "growth")
	return nil
}

// deniesFew says whether the object is denied with few of its items: a value that no catalogue knows may excuse
// what a NodePool launches, and one does so as well as a million.
func (s *sweep) deniesFew(of *kind, grown *growth, with variant, world int) (bool, error) {
	var old []byte
	switch with.old {
	case oldShort:
		old = s.short(of, with.denied)
	case oldSame:
		old = grown.few()
	case oldLong:
		old = grown.spared.few()
	}
	costs, err := s.engine.ask(with.phase, world, review(of, grown.few(), old))
	if err != nil {
		return false, err
	}
	return costs[0].status == 200 && costs[0].allowed == 0, nil
}

// measureRatio divides by the reference. What is over an aim is measured again, in turn with the reference and until
// both have met a quiet moment of the same machine: the least of each counts.
func (s *sweep) measureRatio(made *row, with variant, one cost, body []byte) error {
	reference, err := s.referenceMicros(with.phase, one.world, len(body))
	if err != nil {
		return err
	}
	made.ratio = float64(made.cpuMicros) / float64(reference)
	nearest := 0
	for attempt := 0; attempt < attempts && s.missesCost(made); attempt++ {
		beside, err := s.measureReference(with.phase, one.world, len(body))
		if err != nil {
			return err
		}
		again, err := s.engine.ask(with.phase, one.world, body)
		if err != nil {
			return err
		}
		if attempt == 0 || beside < nearest {
			nearest = beside
		}
		made.cpuMicros = min(made.cpuMicros, again[0].cpuMicros)
		made.ratio = float64(made.cpuMicros) / float64(nearest)
		if made.ratio > 3*s.options.ratioMax {
			break
		}
	}
	return nil
}

func (s *sweep) missesCost(made *row) bool {
	return made.ratio > s.options.ratioMax || made.cpuMicros > cpuMicrosMax
}

// measureGrowth divides the cost of the whole by that of its half, measured one after the other, since the same machine is
// now faster and now slower: the median of such pairs counts.
func (s *sweep) measureGrowth(made *row, of *kind, grown *growth, with variant, one cost) error {
	half := s.body(of, grown, with, s.options.objectBytes/2)
	whole := s.body(of, grown, with, s.options.objectBytes)
	var pairs []float64
	for len(pairs) < attempts && (len(pairs) < attemptsMin || made.growth > s.options.growthMax()) {
		ofHalf, err := s.engine.ask(with.phase, one.world, half)
		if err != nil {
			return err
		}
		ofWhole, err := s.engine.ask(with.phase, one.world, whole)
		if err != nil {
			return err
		}
		made.cpuMicros = min(made.cpuMicros, ofWhole[0].cpuMicros)
		pairs = append(pairs, float64(ofWhole[0].cpuMicros)/float64(max(ofHalf[0].cpuMicros, 1)))
		made.growth = median(pairs)
	}
	return nil
}

// median is the lower one of an even number.
func median(values []float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[(len(sorted)-1)/2]
}
