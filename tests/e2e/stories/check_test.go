package stories

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"strings"
	"testing"
)

// A finding of `taffrail check -o json`.
type finding struct {
	Rail, Action, Kind, Namespace, Name, Field string
}

// check lets taffrail find out offline what denials some manifests would meet.
func (w *world) check(t *testing.T, manifests string) []finding {
	t.Helper()
	command := exec.Command(*taffrailFlag, "check", "-p", w.guard.policies, "-o", "json", "-f", "-")
	command.Stdin = strings.NewReader(manifests)
	var problems bytes.Buffer
	command.Stderr = &problems
	printed, err := command.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("taffrail check: %v\n%s", err, problems.String())
	}
	var report struct{ Findings []finding }
	if err := json.Unmarshal(printed, &report); err != nil {
		t.Fatalf("taffrail check: %v\n%s", err, printed)
	}
	var denied []finding
	for _, found := range report.Findings {
		if found.Action == "deny" {
			denied = append(denied, found)
		}
	}
	return denied
}
