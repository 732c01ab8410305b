// Karpenter's own scheduler as the judge of `taffrail plan`; see usage.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

const usage = `usage: karpenter-judge COMMAND [FLAG ...]

generate [-seed N] [-theme NAME] CASE write a case folder
run [FLAG ...]                        generated cases, judged and counted by theme; run -help
compare -taffrail FILE [-checker FILE] CASE ...
                                      case folders, judged one by one
shrink -taffrail FILE [-checker FILE] CASE SMALLER
                                      a smaller case of the same kind
mix [-pods N] [-seed N]               the pods of Karpenter's own benchmark, as text
bench [-pods N,N...] [-mix FILE]      Karpenter's own benchmark, timed
solve [-runs N] [-seed N] CASE        what Karpenter makes of a case folder, run after run, as JSON
`

var commands = map[string]func(arguments []string) error{
	"generate": generateCase,
	"solve":    solve,
	"run":      run,
	"mix":      mix,
	"bench":    bench,
	"compare":  compareFolders,
	"shrink":   shrink,
}

func main() {
	log.SetLogger(logr.Discard())
	klog.SetLogger(logr.Discard())
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		fmt.Fprint(os.Stderr, usage)
		os.Exit(2)
	}
	if err := commands[os.Args[1]](os.Args[2:]); err != nil {
		fmt.Fprintln(os.Stderr, "karpenter-judge:", err)
		os.Exit(1)
	}
}

func generateCase(arguments []string) error {
	flags := flag.NewFlagSet("generate", flag.ExitOnError)
	seed := flags.Int64("seed", 1, "of the case")
	theme := flags.String("theme", "", "one of the themes instead of a drawn one")
	must(flags.Parse(arguments))
	if _, known := themes[*theme]; *theme != "" && !known {
		return fmt.Errorf("no theme %q; there are %q", *theme, themeNames())
	}
	return generate(*seed, *theme).write(flags.Arg(0))
}

func solve(arguments []string) error {
	flags := flag.NewFlagSet("solve", flag.ExitOnError)
	runs := flags.Int("runs", 9, "how many")
	seed := flags.Int64("seed", 1, "of the shuffles")
	must(flags.Parse(arguments))
	_, o, err := oracleOfFolder(flags.Arg(0))
	if err != nil {
		return err
	}
	plans, err := o.runs(rand.New(rand.NewSource(*seed)), *runs)
	if err != nil {
		return err
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetIndent("", " ")
	return encoder.Encode(plans)
}
