// Karpenter's own candidate tests, budgets and PodDisruptionBudget limits over random clusters. Writes the
// clusters, a line of JSON each, and what Karpenter says of them as tests/conformance/disruption_driver.c
// says it.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"time"
)

// A cluster, and what is asked of it.
type question struct {
	Now     int64  `json:"now"`
	Reason  string `json:"reason"`
	Objects []any  `json:"objects"`
}

func main() {
	seed := flag.Int64("seed", 1, "the first cluster")
	count := flag.Int64("cases", 1000, "how many")
	flag.Parse()
	if flag.NArg() != 2 {
		log.Fatal("usage: disruption-judge [-seed N] [-cases N] CLUSTERS ANSWERS")
	}
	clusters, answers := create(flag.Arg(0)), create(flag.Arg(1))
	for i := *seed; i < *seed+*count; i++ {
		given := generate(i)
		line, err := json.Marshal(question{given.now.Unix(), string(given.reason), given.objects()})
		check(err)
		fmt.Fprintf(clusters, "%s\n", line)
		fmt.Fprintf(answers, "case %d\n", i)
		judge(given, answers)
	}
	check(clusters.Flush())
	check(answers.Flush())
}

func create(name string) *bufio.Writer {
	file, err := os.Create(name)
	check(err)
	return bufio.NewWriter(file)
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// Schedules and durations are of multiples of it, and nothing is looked for beyond the horizon.
const (
	step    = 5 * time.Minute
	horizon = 8 * 24 * time.Hour
)

// The first stretch from now on in which the budgets allow something, found by trying.
func writeWindow(out io.Writer, now time.Time, allowed func(time.Time) int) {
	const none = math.MinInt64
	open, closed := int64(none), int64(none)
	for at := now; at.Before(now.Add(horizon)); at = at.Add(step) {
		some := allowed(at) > 0
		if open == none && some {
			open = at.Unix()
		}
		if open != none && !some {
			closed = at.Unix()
			break
		}
	}
	switch {
	case open == none:
		fmt.Fprint(out, " never")
	case closed == none:
		fmt.Fprintf(out, " %d", open)
	default:
		fmt.Fprintf(out, " %d-%d", open, closed)
	}
}
