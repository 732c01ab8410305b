// Checks a plan for a cluster with kube-scheduler's own filter plugins: what is to be bought becomes
// Nodes, and the pods are bound one after another where the plan has them. It knows nothing of how the
// plan was made, and shares no code with Karpenter.
//
// A line of standard input is {"case": FOLDER, "plan": PLAN}; the answer is a line {"broken": [...]}.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"io"
	"os"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
)

type question struct {
	Case string `json:"case"`
	Plan plan   `json:"plan"`
}

type answer struct {
	Broken []string `json:"broken"`
	Error  string   `json:"error,omitempty"`
}

func answerTo(asked *question) answer {
	w, err := readWorld(asked.Case)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return answer{Broken: w.check(&asked.Plan)}
}

func main() {
	flag.Parse()
	klog.SetLogger(logr.Discard())
	input := json.NewDecoder(bufio.NewReader(os.Stdin))
	output := json.NewEncoder(os.Stdout)
	for {
		var asked question
		if err := input.Decode(&asked); err == io.EOF {
			return
		} else if err != nil {
			panic(err)
		}
		if err := output.Encode(answerTo(&asked)); err != nil {
			panic(err)
		}
	}
}
