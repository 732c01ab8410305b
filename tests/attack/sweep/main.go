// The sweep walks the schemas of the guarded kinds, makes every list, map and string long, and holds what each
// review costs against the aims.
package main

import (
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
)

func main() {
	if err := start(); err != nil {
		fmt.Fprintln(os.Stderr, "sweep:", err)
		os.Exit(2)
	}
}

func start() error {
	source := flag.String("source", ".", "the root of the repository")
	program := flag.String("engine", "", "bench_review_cost")
	before := flag.String("before", "", "bench_review_cost of an older version, to be measured with the same bodies")
	policies := flag.String("policies", "", "files, with commas between")
	arguments := flag.String("engine-arguments", "--cluster", "more for the engine, with blanks between")
	short := flag.Bool("short", false, "the short form")
	withStrings := flag.Bool("strings", true, "long strings, too")
	withPairs := flag.Bool("pairs", true, "two fields at a time, too; not in the short form")
	views := flag.Bool("views", true, "what is long in the cluster, too")
	bytes := flag.Int("bytes", 2_900_000, "of an object")
	kinds := flag.String("kind", "", "only kinds that match")
	paths := flag.String("field", "", "only fields that match")
	ratio := flag.Float64("ratio", ratioMax, "the most that a body may cost, in Pods with as many bytes in annotations")
	most := flag.Int("rows", 40, "of the table")
	dump := flag.String("dump", "", "a folder, to keep the bodies in")
	progress := flag.Bool("progress", false, "what misses an aim is printed at once, on standard error")
	flag.Parse()

	settings := options{objectBytes: *bytes, short: *short, strings: *withStrings, pairs: *withPairs, dump: *dump,
		ratioMax: *ratio}
	var err error
	if settings.kinds, err = regexp.Compile("^(" + *kinds + ")"); err != nil {
		return err
	}
	if settings.paths, err = regexp.Compile(*paths); err != nil {
		return err
	}
	if *progress {
		settings.progress = os.Stderr
	}
	all, err := readSchemas(*source + "/tests/attack/sweep")
	if err != nil {
		return err
	}
	files := strings.Split(*policies, ",")
	judge, err := startEngine(*program, files, strings.Fields(*arguments)...)
	if err != nil {
		return err
	}
	run := &sweep{options: settings, schemas: all, engine: judge}
	if *before != "" {
		if run.before, err = startEngine(*before, files, strings.Fields(*arguments)...); err != nil {
			return err
		}
		defer run.before.stop()
	}
	if err := run.run(); err != nil {
		return err
	}
	if err := judge.stop(); err != nil {
		return err
	}
	if *views {
		alone := strings.Fields(strings.ReplaceAll(*arguments, "--cluster", ""))
		err := run.runViews(func(state string) (*engine, error) {
			return startEngine(*program, files[:1], append(alone, "--state", state)...)
		})
		if err != nil {
			return err
		}
	}
	if printTable(os.Stdout, run.rows, *most) > 0 {
		os.Exit(1)
	}
	return nil
}
