package stories

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// What the documentation tells people to type is typed, on a cluster where nobody has installed Taffrail.
func TestDocumentation(t *testing.T) {
	w := newOwnWorld(t, "documentation", newOpenWorld)
	w.admin(t, "", "apply", "-f", definitions(t, "github.com/openreports/reports-api@v0.2.1", "config/crd")).works(t)
	w.runDeployment(t, "taffrail", "taffrail")
	kubectl := *planeFlag + " kubectl"
	if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
		kubectl = filepath.Join(assets, "kubectl")
	}
	arguments := []string{
		"../../docs/run.py", *taffrailFlag, "--cluster", w.plane.AdminKubeconfig(), "--kubectl", kubectl,
	}
	if *helmFlag != "" {
		arguments = append(arguments, "--helm", *helmFlag)
	}
	run := exec.CommandContext(w.ctx, "/usr/bin/python3", arguments...)
	said, err := run.CombinedOutput()
	t.Logf("%s", said)
	if err != nil {
		t.Error(err)
	}
}
