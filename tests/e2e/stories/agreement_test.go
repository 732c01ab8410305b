package stories

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var clustersFlag = flag.Int("clusters", 1, "how many clusters the story Agreement generates, from the seed on")

// What `taffrail impact` says of one change.
type forecast struct {
	NodesReplaced, NodesTotal int
	AtOnce, AtOnceLater       int        // once successors are up
	FirstWindow               *time.Time // nil: never
	Nodes                     []struct {
		NodeClaim string
		Blocked   bool
	}
	Unschedulable []string // pods
}

// claims are the NodeClaims that go, or those of them that are blocked.
func (f forecast) claims(blocked bool) []string {
	var names []string
	for _, node := range f.Nodes {
		if !blocked || node.Blocked {
			names = append(names, node.NodeClaim)
		}
	}
	slices.Sort(names)
	return names
}

// A trial is one change to one generated cluster: the forecast, and what Karpenter did.
type trial struct {
	seed    int64
	change  change
	said    forecast
	marked  []string // the NodeClaims that drifted, or were deleted
	begun   []string // those that Karpenter began to replace or delete
	atOnce  int      // the most of them at one time
	empty   []string // those without pods, which go first
	stuck   []string // those whose pods fit nowhere afterwards, as the forecast says
	ended   time.Time
	later   bool // successors came while it was watched
	waits   bool // a node is not begun before a successor of another has started, which has room for its pods
	differs []string
}

func (tried *trial) differ(format string, arguments ...any) {
	tried.differs = append(tried.differs, fmt.Sprintf(format, arguments...))
}

func (tried *trial) deletes() bool { return tried.change.apply == nil }

// Ten kinds of change to generated clusters: which NodeClaims Karpenter marks and replaces, how many at once and which
// first, held against what `taffrail impact` said before. Successors take so long to register that what is begun at once is
// seen. That Karpenter begins no more is known when it begins with a canary, which drifts after all others: it takes
// them in this order.
func TestAgreement(t *testing.T) {
	if !*longFlag && !strings.Contains(flag.Lookup("test.run").Value.String(), "Agreement") {
		t.Skip("takes minutes: --long, or --run Agreement")
	}
	l := newLand(t, newOwnWorld(t, "agreement", newOpenWorld))
	var mutex sync.Mutex
	var trials []*trial
	t.Run("clusters", func(t *testing.T) {
		for seed := *seedFlag; seed < *seedFlag+int64(*clustersFlag); seed++ {
			t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) {
				t.Parallel()
				for i, changes := range agreementChanges {
					f := l.furnish(t, generate(seed, fmt.Sprintf("a%d-%d", seed, i)))
					unchanged := encode(f.pool)
					for left := changes; len(left) > 0; left = left[1:] {
						t.Run(left[0].name, func(t *testing.T) {
							tried := l.try(t, f, seed, left)
							mutex.Lock()
							defer mutex.Unlock()
							trials = append(trials, tried)
							writeAgreement(t, trials) // of a run that is broken off, as far as it came
						})
						f.pool = decode(unchanged)
						if len(left) > 1 {
							f.change(t, false)
						}
					}
				}
			})
		}
	})
	t.Logf("\n%s", agreementTable(t, trials))
}

// try makes the first of these changes; with the last one the cluster goes.
func (l *land) try(t *testing.T, f *furnished, seed int64, left []change) *trial {
	t.Helper()
	tried := &trial{seed: seed, change: left[0]}
	if !tried.deletes() {
		hash := fnv.New32()
		fmt.Fprint(hash, left[0].name)
		left[0].apply(dice{rand.New(rand.NewSource(seed ^ int64(hash.Sum32())))}, f.id, f.pool)
	}
	l.alone.RLock()
	tried.forecast(t, f)
	if tried.deletes() || len(tried.stuck) > 0 {
		l.alone.RUnlock()
		l.alone.Lock()
		defer l.alone.Unlock()
		defer f.remove()
		tried.forecast(t, f)
	} else {
		if len(left) == 1 {
			defer func() { go f.remove() }()
		}
		defer l.alone.RUnlock()
	}
	f.change(t, tried.deletes())
	if tried.deletes() {
		f.observeDeletion(tried)
	} else {
		f.observeDrift(t, tried)
	}
	f.compare(t, tried)
	return tried
}

// forecast asks taffrail, before the change, what it will do.
func (tried *trial) forecast(t *testing.T, f *furnished) {
	t.Helper()
	tried.said, tried.empty, tried.stuck = f.forecast(t, tried.deletes()), nil, nil
	pods := f.podsByClaim()
	for _, claim := range f.originals {
		if len(pods[claim]) == 0 {
			tried.empty = append(tried.empty, claim)
		}
		if slices.ContainsFunc(pods[claim], func(pod string) bool { return slices.Contains(tried.said.Unschedulable, pod) }) {
			tried.stuck = append(tried.stuck, claim)
		}
	}
}

func (f *furnished) forecast(t *testing.T, deleted bool) forecast {
	t.Helper()
	changed := filepath.Join(t.TempDir(), "changed.json")
	f.must(t, os.WriteFile(changed, []byte(encode(f.pool)), 0o644))
	arguments := []string{
		"impact", "-f", changed, "--kubeconfig", f.plane.AdminKubeconfig(), "--catalog", *typesFlag, "-o", "json",
	}
	if deleted {
		arguments = append(arguments, "--delete")
	}
	command := exec.Command(*taffrailFlag, arguments...)
	var problems bytes.Buffer
	command.Stderr = &problems
	printed, err := command.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("taffrail impact: %v\n%s", err, problems.String())
	}
	var said struct{ Changes []forecast }
	if err := json.Unmarshal(printed, &said); err != nil || len(said.Changes) != 1 {
		t.Fatalf("taffrail impact: %v\n%s", err, printed)
	}
	return said.Changes[0]
}

// observeDrift waits until Karpenter has done what it does: until the window is open, if it opens soon, and then until it
// begins with the canary, which drifts after all that are marked for the change.
func (f *furnished) observeDrift(t *testing.T, tried *trial) {
	t.Helper()
	const soon = 3 * time.Minute
	said, canary := tried.said, f.canary(t)
	_ = f.seen.until(15*time.Second, said.NodesReplaced, f.original(func(s *sighting) bool { return !s.marked.IsZero() }))
	lastMark := time.Now().Unix() // the condition has whole seconds
	f.must(t, wait(soon, func() error {
		if opens := said.FirstWindow; opens != nil && time.Until(*opens) > 0 && time.Until(*opens) < soon {
			return errors.New("the window is closed")
		}
		if time.Now().Unix() == lastMark {
			return errors.New("the same second")
		}
		return nil
	}))
	f.patch(t, nodePools, f.id+"-canary", fmt.Sprintf(
		`{"spec": {"template": {"metadata": {"labels": {"canary": "of-%d"}}}}}`, time.Now().Unix()))
	f.must(t, f.seen.until(3*time.Minute, 1, func(s *sighting) bool { return s.node == canary && !s.started.IsZero() }))
	// Nodes that are to take pods of the first ones are kept for them, or these pods wait for a successor: they begin after that.
	tried.marked, tried.ended = f.marked(tried), time.Now()
	least, _ := tried.expectedAtOnce()
	for waited := 0; waited < 10 && !f.waitsForSuccessor(t); waited++ {
		if f.seen.until(25*time.Second, least, f.original(func(s *sighting) bool { return !s.started.IsZero() })) == nil {
			break
		}
	}
}

func (f *furnished) observeDeletion(tried *trial) {
	err := f.seen.until(30*time.Second, len(f.originals), f.original(func(s *sighting) bool { return s.deleted }))
	if err != nil {
		tried.differ("deleted are %v", err)
	}
}

// expectedAtOnce is the forecast of how many Karpenter begins now: none before the window opens. Of those whose pods fit
// nowhere it may begin none; but as long as others are there, it may find room on these.
func (tried *trial) expectedAtOnce() (least, most int) {
	if tried.deletes() {
		return tried.said.AtOnce, tried.said.AtOnce
	}
	if tried.said.FirstWindow == nil || tried.said.FirstWindow.After(tried.ended) {
		return 0, 0
	}
	free := 0
	for _, name := range tried.marked {
		if !slices.Contains(tried.said.claims(true), name) && !slices.Contains(tried.stuck, name) {
			free++
		}
	}
	if tried.later {
		return min(tried.said.AtOnce, free), tried.said.AtOnceLater
	}
	return min(tried.said.AtOnce, free), tried.said.AtOnce
}

// marked are the NodeClaims that drifted or, where the NodePool is deleted, are deleted.
func (f *furnished) marked(tried *trial) []string {
	return f.seen.names(f.original(func(s *sighting) bool { return !s.marked.IsZero() || tried.deletes() && s.deleted }))
}

// compare finds where the forecast and what was seen differ.
func (f *furnished) compare(t *testing.T, tried *trial) {
	t.Helper()
	said := tried.said
	tried.marked = f.marked(tried)
	tried.begun = f.seen.names(f.original(func(s *sighting) bool { return !s.started.IsZero() }))
	tried.atOnce = f.seen.most(f.changing())
	tried.later = len(f.seen.names(func(s *sighting) bool { return s.pool == f.changing() && !s.original && s.initialized })) > 0
	if said.NodesTotal != len(f.originals) {
		tried.differ("%d nodes in all, and there are %d", said.NodesTotal, len(f.originals))
	}
	if said.NodesReplaced != len(tried.marked) || !slices.Equal(said.claims(false), tried.marked) {
		tried.differ("%d nodes, %v; seen were %v", said.NodesReplaced, said.claims(false), tried.marked)
	}
	// Karpenter begins one after the other: a node without a successor may be gone before the next begins.
	least, most := tried.expectedAtOnce()
	tried.waits = len(tried.begun) < least && f.waitsForSuccessor(t)
	if tried.atOnce > most || len(tried.begun) < least && !tried.waits {
		tried.differ("%d to %d at once, seen were %d, and %d in all", least, most, tried.atOnce, len(tried.begun))
	}
	if !tried.deletes() {
		for _, name := range tried.begun {
			if slices.Contains(said.claims(true), name) {
				tried.differ("%s is blocked, and was begun", name)
			}
			if began := f.seen.get(name).started; said.FirstWindow == nil || began.Before(*said.FirstWindow) {
				tried.differ("%s was begun at %s, before the window", name, began)
			}
		}
		f.compareOrder(tried)
	}
	if others := f.seen.names(func(s *sighting) bool { return s.pool == f.id+"-batch" && (!s.marked.IsZero() || !s.started.IsZero()) }); len(others) > 0 {
		tried.differ("of another NodePool: %v", others)
	}
	t.Logf("%s: %d of %d nodes, %d at once; seen %d, %d; begun %d, empty %d, blocked %d, stuck %d%s", f.id, said.NodesReplaced,
		said.NodesTotal, said.AtOnce, len(tried.marked), tried.atOnce, len(tried.begun), len(tried.empty), len(said.claims(true)),
		len(tried.stuck), strings.Join(append([]string{""}, tried.differs...), "\n    differs: "))
	if len(tried.differs) > 0 {
		t.Fail()
		f.tellMore(t)
	}
}

// waitsForSuccessor tells whether Karpenter says so of a node.
func (f *furnished) waitsForSuccessor(t *testing.T) bool {
	t.Helper()
	events, err := f.client.CoreV1().Events("default").List(f.ctx, metav1.ListOptions{FieldSelector: "reason=DisruptionBlocked"})
	f.must(t, err)
	return slices.ContainsFunc(events.Items, func(event corev1.Event) bool {
		return strings.HasPrefix(event.InvolvedObject.Name, f.changing()) &&
			strings.Contains(event.Message, "would schedule against uninitialized")
	})
}

// compareOrder wants empty nodes before others, as far as Karpenter knew of them: for some time when it began with the first
// other.
func (f *furnished) compareOrder(tried *trial) {
	const known = 2 * time.Second
	var first time.Time
	for _, name := range tried.begun {
		if began := f.seen.get(name).started; !slices.Contains(tried.empty, name) && (first.IsZero() || began.Before(first)) {
			first = began
		}
	}
	for _, name := range tried.empty {
		empty := f.seen.get(name)
		before := !empty.started.IsZero() && !empty.started.After(first)
		if !first.IsZero() && !before && !empty.marked.IsZero() && empty.marked.Add(known).Before(first) &&
			!slices.Contains(tried.said.claims(true), name) {
			tried.differ("%s is empty, and went after others", name)
		}
	}
}

// tellMore writes down what Karpenter says of a trial that differs.
func (f *furnished) tellMore(t *testing.T) {
	t.Helper()
	told := encode(f.pool) + "\n"
	for _, arguments := range [][]string{
		{"get", "nodeclaims", "-l", agreementLabel + "=" + f.id, "-o", "yaml"},
		{"-n", f.id, "get", "pods,poddisruptionbudgets", "-o", "wide"},
	} {
		told += f.admin(t, "", arguments...).stdout
	}
	for line := range strings.Lines(f.admin(t, "", "get", "events", "-A").stdout) {
		if strings.Contains(line, f.id+"-") {
			told += line
		}
	}
	path := filepath.Join(f.plane.Dir, f.id+".txt")
	f.must(t, os.WriteFile(path, []byte(told), 0o644))
	t.Logf("more is in %s", path)
}
