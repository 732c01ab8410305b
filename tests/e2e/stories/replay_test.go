package stories

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A difference that replay tells, of an owner and a rail.
type difference struct {
	Difference, Rail, Namespace, Kind, Name, User string
	Count                                         int
}

// replay judges what the API server has logged so far by another policy; the differences are those of a namespace.
func (w *world) replay(t *testing.T, policy, namespace string, arguments ...string) []difference {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.Command(*taffrailFlag, append([]string{"replay", w.plane.AuditLog(), "-p", file, "-o", "json"},
		arguments...)...)
	var problems bytes.Buffer
	command.Stderr = &problems
	printed, err := command.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("taffrail replay: %v\n%s%s", err, printed, problems.String())
	}
	var report struct{ Owners []difference }
	if err := json.Unmarshal(printed, &report); err != nil {
		t.Fatalf("taffrail replay: %v\n%s", err, printed)
	}
	return slices.DeleteFunc(report.Owners, func(one difference) bool { return one.Namespace != namespace })
}

const replayedPod = `apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s}
spec:
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: %q, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: a}}}
  containers:
  - {name: main, image: none, resources: {requests: {cpu: 100m, memory: 64Mi}}}
`

// The API server's own audit log says who would be denied by another policy, and who was by this one.
func TestAuditLogIsReplayed(t *testing.T) {
	space := shared.namespace(t, nil)
	fine := fmt.Sprintf(replayedPod, "fine", space, "topology.kubernetes.io/zone")
	wrong := fmt.Sprintf(replayedPod, "wrong", space, "zone")
	shared.kubectl(t, fine, "create", "-f", "-").works(t)
	shared.kubectl(t, wrong, "create", "-f", "-").fails(t, "topology-keys")
	shared.kubectl(t, strings.ReplaceAll(fine, "name: fine", "name: dry"), "create", "--dry-run=server", "-f", "-").
		works(t)
	stricter := `apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: stricter}
spec:
  mode: enforce
  rails: {resource-requests: {min: {cpu: 64}}}
`
	told := shared.replay(t, stricter, space)
	if len(told) != 3 {
		t.Fatalf("replay tells %v", told)
	}
	for i, want := range []difference{
		{Difference: "denied", Rail: "resource-requests", Name: "fine"},
		{Difference: "denied", Rail: "resource-requests", Name: "wrong"},
		{Difference: "freed", Rail: "topology-keys", Name: "wrong"},
	} {
		got := told[i]
		if got.Difference != want.Difference || got.Rail != want.Rail || got.Name != want.Name || got.Kind != "Pod" ||
			got.Count != 1 || got.User == "" {
			t.Errorf("replay tells %v, expected %v", got, want)
		}
	}
	// By the policy in force nothing is otherwise.
	inForce, err := os.ReadFile("testdata/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if same := shared.replay(t, string(inForce), space); len(same) > 0 {
		t.Errorf("by the policy in force replay tells %v", same)
	}
}
