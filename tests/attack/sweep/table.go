package main

import (
	"fmt"
	"io"
	"path/filepath"
	"sort"
	"strings"
)

func (r *row) String() string {
	verdict := strings.Join(r.misses, ", ")
	if verdict == "" {
		verdict = "ok"
	}
	growth := "-"
	if r.growth > 0 {
		growth = fmt.Sprintf("%.2f", r.growth)
	}
	before := ""
	if r.before != nil {
		before = fmt.Sprintf("%9.1f %6d ", float64(r.before.cpuMicros)/1000, r.before.status)
	}
	return before + fmt.Sprintf("%8.1f %6.2f %6s %7d %6d %-7s %-22s %-9s %-14s %s %s  [%s]", float64(r.cpuMicros)/1000,
		r.ratio, growth, r.bytes>>10, r.answerBytes, r.limit, r.kind, r.variant,
		strings.TrimSuffix(filepath.Base(r.policy), ".yaml"), r.field, r.flavour, verdict)
}

const tableHead = "  CPU ms  ratio growth     KiB answer limit   kind                   variant   policy         field, filled with [verdict]"

const beforeHead = "before ms status "

// printTable prints the worst row of each kind and field, worst first, at most so many, and all that miss an aim.
func printTable(out io.Writer, rows []row, most int) (missed int) {
	worst := map[string]*row{}
	for i := range rows {
		one := &rows[i]
		if len(one.misses) > 0 {
			missed++
		}
		key := one.kind + " " + one.field
		if worst[key] == nil || isWorse(one, worst[key]) {
			worst[key] = one
		}
	}
	sorted := make([]*row, 0, len(worst))
	for _, one := range worst {
		sorted = append(sorted, one)
	}
	sort.Slice(sorted, func(i, j int) bool { return isWorse(sorted[i], sorted[j]) })
	if len(rows) > 0 && rows[0].before != nil {
		fmt.Fprint(out, beforeHead)
	}
	fmt.Fprintln(out, tableHead)
	for i, one := range sorted {
		if i < most || len(one.misses) > 0 {
			fmt.Fprintln(out, one)
		}
	}
	fmt.Fprintf(out, "%d kinds and fields, %d reviews, %d of them miss an aim\n", len(worst), len(rows), missed)
	return missed
}

func isWorse(a, b *row) bool {
	if (len(a.misses) > 0) != (len(b.misses) > 0) {
		return len(a.misses) > 0
	}
	if a.ratio != b.ratio {
		return a.ratio > b.ratio
	}
	if a.kind != b.kind {
		return a.kind < b.kind
	}
	return a.field < b.field
}
