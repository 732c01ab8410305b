package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

const (
	fewRuns  = 9
	manyRuns = 200 // before a plan is called worse: its ties may be rare ones
)

// checker is the other program, kube-scheduler's filters, asked over its standard input.
type checker struct {
	input  io.WriteCloser
	output *bufio.Reader
	wait   func() error
}

func startChecker(path string) (*checker, error) {
	command := exec.Command(path)
	command.Stderr = os.Stderr
	input, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &checker{input, bufio.NewReader(output), command.Wait}, command.Start()
}

// What is broken in a plan of a case, one line a finding.
func (c *checker) broken(folder string, p *plan) ([]string, error) {
	question, err := json.Marshal(map[string]any{"case": folder, "plan": p})
	if err != nil {
		return nil, err
	}
	if _, err := c.input.Write(append(question, '\n')); err != nil {
		return nil, err
	}
	line, err := c.output.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the checker ended: %w", err)
	}
	var answer struct {
		Broken []string
		Error  string
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		return nil, err
	}
	if answer.Error != "" {
		return nil, fmt.Errorf("the checker: %s", answer.Error)
	}
	return answer.Broken, nil
}

func (c *checker) stop() error { return errors.Join(c.input.Close(), c.wait()) }

// What one case came to.
type result struct {
	theme            string
	plan, optimized  verdict
	brokenPlan       []string
	brokenOptimized  []string
	karpenterBroken  bool
	placed, optPlace outcome
	karpenter        []outcome
}

type judge struct {
	taffrail string // "": Karpenter's first run stands in for it
	checker  *checker
	optimize bool
	patience int // runs more before a plan is called worse
}

// What `taffrail plan` says. Exit code 1 means pods that fit nowhere, 2 that a pod's claims do not stand.
func (j *judge) ask(folder string, s settings, more ...string) (*plan, error) {
	arguments := append([]string{"plan", "--state", filepath.Join(folder, "cluster"),
		"--extended-resource-toleration=false", "--catalog", filepath.Join(folder, "catalog.json"), "-o", "json", "--rounds", "1"}, append(s.flags(), more...)...)
	command := exec.Command(j.taffrail, arguments...)
	var output, said bytes.Buffer
	command.Stdout, command.Stderr = &output, &said
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && (exit.ExitCode() == 1 || exit.ExitCode() == 2 && output.Len() > 0)) {
		return nil, fmt.Errorf("taffrail %s: %w: %s", strings.Join(arguments, " "), err, firstLine(said.String()))
	}
	p, err := readPlan(&output)
	if err != nil {
		return nil, fmt.Errorf("taffrail %s: %w: %s", strings.Join(arguments, " "), err, firstLine(said.String()))
	}
	return p, nil
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

func (t *trial) outcomes(plans []*plan) []outcome {
	var result []outcome
	for _, p := range plans {
		result = append(result, t.measure.outcomeOf(p))
	}
	return result
}

// A case while it is judged.
type trial struct {
	*judge
	folder  string
	oracle  *oracle
	random  *rand.Rand
	runs    []*plan
	measure measure
	clean   []*plan // those of the runs that the checker has nothing against; nil: not looked for
}

// The verdict of a comparison; before it is worse, Karpenter gets more runs, and those that
// kube-scheduler would not follow are left out. sameDraw: ours is made for the uids of the case, as the
// first run is; where that one is left out, the others had luck that ours cannot have.
func (t *trial) verdict(ours outcome, compare func(outcome, []outcome) verdict, sameDraw bool) (verdict, error) {
	result := compare(ours, t.outcomes(t.runs))
	if result.grade != worse {
		return result, nil
	}
	if len(t.runs) == fewRuns {
		if err := t.runMore(); err != nil {
			return result, err
		}
		if result = compare(ours, t.outcomes(t.runs)); result.grade != worse {
			return result, nil
		}
	}
	if t.checker == nil {
		return result, nil
	}
	if t.clean == nil {
		t.clean = []*plan{}
		for _, run := range t.runs {
			broken, err := t.checker.broken(t.folder, run)
			if err != nil {
				return result, err
			}
			if len(broken) == 0 {
				t.clean = append(t.clean, run)
			}
		}
	}
	if len(t.clean) == 0 || sameDraw && t.clean[0] != t.runs[0] {
		return verdict{moot, result.reason}, nil
	}
	return compare(ours, t.outcomes(t.clean)), nil
}

func (t *trial) runMore() error {
	more, err := t.oracle.runs(t.random, t.patience)
	t.runs = append(t.runs, more...)
	return err
}

// Whether a run of Karpenter's breaks something, too; when none of the first few does, more are asked.
func (t *trial) karpenterBreaks() (bool, error) {
	for i := 0; i < len(t.runs) || len(t.runs) == fewRuns; i++ {
		if i == len(t.runs) {
			if err := t.runMore(); err != nil {
				return false, err
			}
		}
		if broken, err := t.broken(t.runs[i]); err != nil || len(broken) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

func (j *judge) judge(folder string, random *rand.Rand) (*result, error) {
	c, o, err := oracleOfFolder(folder)
	if err != nil {
		return nil, err
	}
	t := &trial{judge: j, folder: folder, oracle: o, random: random, measure: c.measure()}
	if t.runs, err = o.runs(random, fewRuns); err != nil {
		return nil, err
	}
	r := &result{theme: c.theme}
	ours := t.runs[0]
	if j.taffrail != "" {
		if ours, err = j.ask(folder, c.settings); err != nil {
			return nil, err
		}
	}
	r.placed = t.measure.outcomeOf(ours)
	if r.plan, err = t.verdict(r.placed, compare, true); err != nil {
		return nil, err
	}
	if r.brokenPlan, err = t.broken(ours); err != nil {
		return nil, err
	}
	if j.taffrail != "" && j.optimize {
		optimized, err := j.ask(folder, c.settings, "--optimize")
		if err != nil {
			return nil, err
		}
		r.optPlace = t.measure.outcomeOf(optimized)
		if r.optimized, err = t.verdict(r.optPlace, compareOptimized, false); err != nil {
			return nil, err
		}
		if r.brokenOptimized, err = t.broken(optimized); err != nil {
			return nil, err
		}
	}
	r.karpenter = t.outcomes(t.runs)
	if len(r.brokenPlan)+len(r.brokenOptimized) == 0 {
		return r, nil
	}
	r.karpenterBroken, err = t.karpenterBreaks()
	return r, err
}

func (t *trial) broken(p *plan) ([]string, error) {
	if t.checker == nil {
		return nil, nil
	}
	return t.checker.broken(t.folder, p)
}

// Whether the case speaks against taffrail. What Karpenter's own plans break as well is a limit of
// Karpenter's, and of the compatible plan with it.
func (r *result) bad() bool {
	return r.plan.grade == worse || r.optimized.grade == worse ||
		len(r.brokenPlan)+len(r.brokenOptimized) > 0 && !r.karpenterBroken
}

func (r *result) print(name string, out io.Writer) {
	fmt.Fprintf(out, "%s  %s\n", name, r.theme)
	for _, line := range []struct {
		what    string
		verdict verdict
		broken  []string
	}{{"plan", r.plan, r.brokenPlan}, {"optimized", r.optimized, r.brokenOptimized}} {
		if line.verdict.grade != agree || line.verdict.reason != "" {
			fmt.Fprintf(out, "  %-9s %s: %s\n", line.what, line.verdict.grade, line.verdict.reason)
		}
		for _, broken := range line.broken {
			fmt.Fprintf(out, "  %-9s breaks: %s\n", line.what, broken)
		}
	}
	if r.karpenterBroken {
		fmt.Fprintf(out, "  %-9s breaks something too\n", "Karpenter")
	}
}

// What the generated cases are, and where they stand while they are judged.
type series struct {
	cases   int
	seed    int64
	theme   string
	keep    string
	verbose bool
	scratch string
	table   *tally
	lock    sync.Mutex // of the table and of what is printed
}

func run(arguments []string) error {
	flags := flag.NewFlagSet("run", flag.ExitOnError)
	s := &series{table: newTally()}
	flags.IntVar(&s.cases, "cases", 200, "how many")
	flags.Int64Var(&s.seed, "seed", 1, "of the first case; the others count on")
	flags.StringVar(&s.theme, "theme", "", "only this one")
	flags.StringVar(&s.keep, "keep", "", "folder for the cases that speak against taffrail")
	flags.BoolVar(&s.verbose, "v", false, "print every case in which something differs")
	taffrail := flags.String("taffrail", "", "the program to be judged; without it Karpenter judges itself")
	checkerPath := flags.String("checker", "", "the checker program; without it plans are not checked")
	optimize := flags.Bool("optimize", true, "judge plan --optimize too")
	jobs := flags.Int("jobs", runtime.NumCPU(), "how many cases at a time")
	must(flags.Parse(arguments))

	var err error
	if s.scratch, err = os.MkdirTemp("", "karpenter-judge"); err != nil {
		return err
	}
	defer os.RemoveAll(s.scratch)
	numbers := make(chan int64)
	failures := make(chan error, *jobs)
	for range *jobs {
		go func() {
			j := &judge{taffrail: *taffrail, optimize: *optimize, patience: manyRuns}
			failures <- s.work(j, *checkerPath, numbers)
		}()
	}
	for i := range int64(s.cases) {
		numbers <- s.seed + i
	}
	close(numbers)
	for range *jobs {
		err = errors.Join(err, <-failures)
	}
	if err != nil {
		return err
	}
	s.table.print(os.Stdout)
	if against := s.table.bad + s.table.failed; against > 0 {
		return fmt.Errorf("%d of %d cases speak against taffrail", against, s.cases)
	}
	return nil
}

// A worker, with a checker of its own. It takes all its numbers, whatever happens.
func (s *series) work(j *judge, checkerPath string, numbers <-chan int64) (err error) {
	if checkerPath != "" {
		if j.checker, err = startChecker(checkerPath); err == nil {
			defer func() { err = errors.Join(err, j.checker.stop()) }()
		}
	}
	for number := range numbers {
		if err == nil {
			err = s.one(j, number)
		}
	}
	return err
}

func (s *series) one(j *judge, number int64) error {
	name := fmt.Sprintf("case-%d", number)
	folder := filepath.Join(s.scratch, name)
	if err := generate(number, s.theme).write(folder); err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	r, err := j.judge(folder, rand.New(rand.NewSource(number)))
	s.lock.Lock()
	defer s.lock.Unlock()
	if err != nil {
		fmt.Printf("%s  failed: %v\n", name, err)
		s.table.failed++
		return s.keepCase(folder, name)
	}
	s.table.add(r)
	if r.bad() || s.verbose && r.remarkable() {
		r.print(name, os.Stdout)
	}
	if r.bad() {
		return s.keepCase(folder, name)
	}
	return nil
}

func (r *result) remarkable() bool {
	return r.plan.grade != agree || r.plan.reason != "" || r.optimized.grade != agree ||
		len(r.brokenPlan)+len(r.brokenOptimized) > 0
}

func (s *series) keepCase(folder, name string) error {
	if s.keep == "" {
		return nil
	}
	c, err := readCase(folder)
	if err != nil {
		return err
	}
	return c.write(filepath.Join(s.keep, name))
}

func compareFolders(arguments []string) error {
	flags := flag.NewFlagSet("compare", flag.ExitOnError)
	taffrail := flags.String("taffrail", "", "the program to be judged")
	checkerPath := flags.String("checker", "", "the checker program")
	seed := flags.Int64("seed", 1, "of Karpenter's runs")
	must(flags.Parse(arguments))
	j := &judge{taffrail: *taffrail, optimize: true, patience: manyRuns}
	if *checkerPath != "" {
		var err error
		if j.checker, err = startChecker(*checkerPath); err != nil {
			return err
		}
		defer j.checker.stop()
	}
	bad := 0
	for _, folder := range flags.Args() {
		r, err := j.judge(folder, rand.New(rand.NewSource(*seed)))
		if err != nil {
			return err
		}
		r.print(folder, os.Stdout)
		fmt.Printf("  taffrail  %s\n", r.placed)
		if *taffrail != "" {
			fmt.Printf("  optimized %s\n", r.optPlace)
		}
		for _, one := range r.karpenter[:min(len(r.karpenter), fewRuns)] {
			fmt.Printf("  Karpenter %s\n", one)
		}
		if r.bad() {
			bad++
		}
	}
	if bad > 0 {
		return fmt.Errorf("%d of %d cases speak against taffrail", bad, flags.NArg())
	}
	return nil
}
