package stories

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// A finding of `taffrail check -o json`, and of `taffrail audit -o json`.
type finding struct {
	Rail, Action, Kind, Namespace, Name, Field string
}

// check lets taffrail find out offline what denials some manifests would meet.
func (w *world) check(t *testing.T, manifests string) []finding {
	t.Helper()
	return w.denials(t, manifests, "check", "-p", w.guard.policies, "-o", "json", "-f", "-")
}

// audit lets taffrail find out from the cluster what in a namespace would be denied, with the rights of the install.
func (w *world) audit(t *testing.T, namespace string) []finding {
	t.Helper()
	arguments := []string{"audit", "-p", w.guard.policies, "-o", "json", "--kubeconfig", w.guard.kubeconfig}
	if *typesFlag != "" {
		arguments = append(arguments, "--catalog", *typesFlag)
	}
	var there []finding
	for _, found := range w.denials(t, "", arguments...) {
		if found.Namespace == namespace {
			there = append(there, found)
		}
	}
	return there
}

// denials are what a command of taffrail reports as denied, in order.
func (w *world) denials(t *testing.T, manifests string, arguments ...string) []finding {
	t.Helper()
	command := exec.Command(*taffrailFlag, arguments...)
	command.Stdin = strings.NewReader(manifests)
	var problems bytes.Buffer
	command.Stderr = &problems
	printed, err := command.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("taffrail %s: %v\n%s", arguments[0], err, problems.String())
	}
	var report struct{ Findings []finding }
	if err := json.Unmarshal(printed, &report); err != nil {
		t.Fatalf("taffrail %s: %v\n%s", arguments[0], err, printed)
	}
	var denied []finding
	for _, found := range report.Findings {
		if found.Action == "deny" {
			denied = append(denied, found)
		}
	}
	slices.SortFunc(denied, func(a, b finding) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
	return denied
}
