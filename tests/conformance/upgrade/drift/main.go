// Holds Taffrail's forecast of drift against the code of Karpenter and its AWS provider, on random edits of
// NodePools and EC2NodeClasses and the NodeClaims made of them.
// usage: drift-judge -seed N -cases N -driver PROGRAM
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand"
	"os"
	"os/exec"
	"strings"
)

// edit is one case: what Taffrail sees.
type edit struct {
	Before  object   `json:"before"`
	After   object   `json:"after"`
	Bundle  string   `json:"bundle"`
	Cluster []object `json:"cluster"`
}

// expected is what Karpenter says of it.
type expected struct {
	hash     string
	changes  bool
	verdicts []string
}

// wrong says what of an answer is not as expected; empty: nothing.
func wrong(answer string, want expected) string {
	words := strings.Fields(answer)
	if len(words) < 2 || words[0] != want.hash {
		return "the hash"
	}
	if (words[1] != "0") != want.changes {
		return "which fields change"
	}
	if strings.Join(words[2:], " ") != strings.Join(want.verdicts, " ") {
		return "the verdicts"
	}
	return ""
}

func run(seed int64, cases int, driver string) error {
	random := rand.New(rand.NewSource(seed))
	var input bytes.Buffer
	lines := make([][]byte, cases)
	wanted := make([]expected, cases)
	tally := map[string]int{}
	for i := range cases {
		var given edit
		var err error
		if i%2 == 0 {
			given, wanted[i], err = poolEdit(random)
		} else {
			given, wanted[i], err = classEdit(random)
		}
		if err == nil {
			lines[i], err = json.Marshal(given)
		}
		if err != nil {
			return err
		}
		for _, verdict := range wanted[i].verdicts {
			tally[verdict]++
		}
		input.Write(append(lines[i], '\n'))
	}
	command := exec.Command(driver)
	command.Stdin, command.Stderr = &input, os.Stderr
	output, err := command.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", driver, err)
	}
	answers := bufio.NewScanner(bytes.NewReader(output))
	failed := 0
	for i := range cases {
		if !answers.Scan() {
			return fmt.Errorf("%s answers %d of %d cases", driver, i, cases)
		}
		if what := wrong(answers.Text(), wanted[i]); what != "" {
			failed++
			fmt.Printf("case %d: %s: %s, but Karpenter: %s %t %v\n%s\n", i, what, answers.Text(), wanted[i].hash,
				wanted[i].changes, wanted[i].verdicts, lines[i])
		}
	}
	fmt.Printf("%d cases, %d failed; NodeClaims: %v\n", cases, failed, tally)
	for _, verdict := range []string{"none", "newly", "already", "undone"} {
		if tally[verdict] == 0 {
			return fmt.Errorf("no NodeClaim is %q, so nothing was judged", verdict)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d cases failed", failed, cases)
	}
	return nil
}

func main() {
	seed := flag.Int64("seed", 1, "of the random objects")
	cases := flag.Int("cases", 10000, "how many edits")
	driver := flag.String("driver", "", "the program that answers for Taffrail")
	flag.Parse()
	if err := run(*seed, *cases, *driver); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
