package main

import (
	"fmt"
	"io"
	"math"
	"sort"
)

// Counts of one theme.
type count struct {
	cases, varied       int
	plan, optimized     [moot + 1]int // by grade
	otherPools          int
	refused, refusedOpt int
	refusedBoth         int
}

// tally is the report: a line a theme.
type tally struct {
	byTheme     map[string]*count
	bad, failed int
}

func newTally() *tally { return &tally{byTheme: map[string]*count{}} }

func (t *tally) add(r *result) {
	c := t.byTheme[r.theme]
	if c == nil {
		c = &count{}
		t.byTheme[r.theme] = c
	}
	c.cases++
	c.plan[r.plan.grade]++
	c.optimized[r.optimized.grade]++
	if r.plan.grade == agree && r.plan.reason != "" {
		c.otherPools++
	}
	if r.varied() {
		c.varied++
	}
	switch {
	case r.karpenterBroken:
		c.refusedBoth++
	default:
		if len(r.brokenPlan) > 0 {
			c.refused++
		}
		if len(r.brokenOptimized) > 0 {
			c.refusedOpt++
		}
	}
	if r.bad() {
		t.bad++
	}
}

// Whether Karpenter's own runs differ in what they come to.
func (r *result) varied() bool {
	first := r.karpenter[0]
	for _, other := range r.karpenter[1:] {
		if other.count != first.count || other.nodes != first.nodes ||
			math.Abs(other.usd-first.usd) > usdTolerance {
			return true
		}
	}
	return false
}

func (c *count) add(other *count) {
	c.cases += other.cases
	c.varied += other.varied
	for g := range c.plan {
		c.plan[g] += other.plan[g]
		c.optimized[g] += other.optimized[g]
	}
	c.otherPools += other.otherPools
	c.refused += other.refused
	c.refusedOpt += other.refusedOpt
	c.refusedBoth += other.refusedBoth
}

const legend = `varied: Karpenter's own runs differ. other: as good, by other pools than any run's.
moot: worse than runs of Karpenter's that kube-scheduler refuses, or by chance (local volumes). refused: kube-scheduler's filters
refuse a pod of the plan, of the optimized one, or of Karpenter's own runs too (both).
`

func (t *tally) print(out io.Writer) {
	const row = "%-24s %5v %6v | %5v %6v %5v %4v %5v | %5v %6v %5v %4v | %4v %4v %4v\n"
	fmt.Fprintf(out, row, "", "", "", "plan", "", "", "", "", "plan", "--opt", "imize", "", "refu", "sed", "")
	fmt.Fprintf(out, row, "theme", "cases", "varied", "agree", "better", "worse", "moot", "other",
		"agree", "better", "worse", "moot", "plan", "opt", "both")
	var names []string
	total := &count{}
	for name, c := range t.byTheme {
		names = append(names, name)
		total.add(c)
	}
	sort.Strings(names)
	line := func(name string, c *count) {
		fmt.Fprintf(out, row, name, c.cases, c.varied, c.plan[agree], c.plan[better], c.plan[worse],
			c.plan[moot], c.otherPools, c.optimized[agree], c.optimized[better], c.optimized[worse],
			c.optimized[moot], c.refused, c.refusedOpt, c.refusedBoth)
	}
	for _, name := range names {
		line(name, t.byTheme[name])
	}
	line("all", total)
	fmt.Fprint(out, legend)
	if t.failed > 0 {
		fmt.Fprintf(out, "%d cases could not be judged\n", t.failed)
	}
}

func (o outcome) String() string {
	return fmt.Sprintf("%d pods, %d nodes, %.4f an hour; %s", o.count, o.nodes, o.usd, o.pools)
}
