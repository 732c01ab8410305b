package stories

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"taffrail.dev/tests/e2e/plane"
)

// definitions are the files of a module's CustomResourceDefinitions, by the module that their owners publish.
func definitions(t *testing.T, module, folder string) string {
	t.Helper()
	command := exec.Command("go", "mod", "download", "-json", module)
	command.Dir = t.TempDir()
	command.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
	printed, err := command.Output()
	var found struct{ Dir string }
	if err != nil || json.Unmarshal(printed, &found) != nil {
		t.Skipf("the module %s, which has the definitions, is not to be had: %v", module, err)
	}
	return filepath.Join(found.Dir, folder)
}

// A replica that writes reports, with the rights of the install and no others.
func (w *world) newReporter(t *testing.T) *guard {
	t.Helper()
	r := &guard{world: w, dir: t.TempDir(), kubeconfig: w.guard.kubeconfig}
	var err error
	if r.port, err = plane.FreePort(); err != nil {
		t.Fatal(err)
	}
	if r.ops, err = plane.FreePort(); err != nil {
		t.Fatal(err)
	}
	r.process, err = plane.Launch(filepath.Join(r.dir, "log"), nil,
		*taffrailFlag, "serve", "-p", "testdata/policy.yaml", "--kubeconfig", r.kubeconfig,
		"--cert-dir", filepath.Join(r.dir, "tls"), "--write-reports", "--report-interval", "1s",
		"--lease", "taffrail/taffrail", "--lease-duration", "3s", "--lease-renew-deadline", "2s",
		"--lease-retry-period", "1s", "--listen", fmt.Sprintf("127.0.0.1:%d", r.port),
		"--ops-listen", fmt.Sprintf("127.0.0.1:%d", r.ops))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stop(true) })
	return r
}

// metric is the value of a series, as it is printed.
func (g *guard) metric(series string) string {
	page, _ := g.page("/metrics")
	for _, line := range strings.Split(page, "\n") {
		if value, found := strings.CutPrefix(line, series+" "); found {
			return value
		}
	}
	return ""
}

type report struct {
	Metadata struct{ ResourceVersion string }
	Summary  struct{ Fail, Warn, Error, Skip int }
	Results  []struct {
		Rule, Result, Severity, Source string
		Resources                      []struct{ Kind, Name, UID string }
	}
}

func (w *world) report(t *testing.T, plural, namespace string) *report {
	t.Helper()
	printed := w.admin(t, "", "-n", namespace, "get", plural, "taffrail", "-o", "json", "--ignore-not-found").works(t)
	if strings.TrimSpace(printed.stdout) == "" {
		return nil
	}
	var found report
	if err := json.Unmarshal([]byte(printed.stdout), &found); err != nil {
		t.Fatal(err)
	}
	return &found
}

const hasty = `{apiVersion: apps/v1, kind: Deployment, metadata: {name: hasty}, spec: {replicas: 0, selector:
  {matchLabels: {app: hasty}}, template: {metadata: {labels: {app: hasty}}, spec: {containers: [{name: a, image: a}]}}}}`

// What runs and breaks a rail is in a report of its namespace, by the API that the cluster has: of the older one
// first, then of the newer one, which takes over. A report that says the same is not written again; it goes with what
// it tells of. The rights of the install are enough.
func TestReportsOfWhatRuns(t *testing.T) {
	w := shared
	crds := []struct{ folder, plural string }{
		{definitions(t, "github.com/kyverno/kyverno@v1.13.4", "config/crds/policyreport"), "policyreports.wgpolicyk8s.io"},
		{definitions(t, "github.com/openreports/reports-api@v0.2.1", "config/crd"), "reports.openreports.io"},
	}
	t.Cleanup(func() {
		for _, crd := range crds {
			w.admin(t, "", "delete", "--ignore-not-found", "-f", crd.folder).works(t)
		}
		w.admin(t, "", "--namespace", "taffrail", "delete", "--ignore-not-found", "lease/taffrail").works(t)
	})
	space, ending := w.namespace(t, nil), w.namespace(t, nil)
	for _, name := range []string{space, ending} {
		w.admin(t, hasty, "-n", name, "create", "-f", "-").works(t)
	}
	reporter := w.newReporter(t)
	w.eventually(t, "that no API is said to be there", func() error {
		if page, err := reporter.page("/readyz"); err != nil || !strings.Contains(page, "is installed") {
			return fmt.Errorf("%s %w", page, err)
		}
		return nil
	})

	before := ""
	for _, crd := range crds {
		w.admin(t, "", "apply", "--server-side", "-f", crd.folder).works(t)
		plural := crd.plural
		w.admin(t, "", "wait", "--for=condition=Established", "crd/"+plural).works(t)
		var found *report
		w.eventually(t, "a report by "+plural, func() error {
			if found = w.report(t, plural, space); found == nil {
				return fmt.Errorf("there is none; %s", reporter.process.LogTail(600))
			}
			return nil
		})
		uid := strings.TrimSpace(w.admin(t, "", "-n", space, "get", "deployment", "hasty", "-o",
			"jsonpath={.metadata.uid}").stdout)
		result := found.Results[0]
		if found.Summary.Warn != 1 || len(found.Results) != 1 || result.Rule != "resource-requests" ||
			result.Source != "taffrail" || result.Severity != "medium" ||
			len(result.Resources) != 1 || result.Resources[0].UID != uid || result.Resources[0].Kind != "Deployment" {
			t.Fatalf("the report says %+v", *found)
		}
		// What stays the same is not written.
		w.eventually(t, "a round that succeeds", func() error {
			if reporter.metric("taffrail_reports_last_success_timestamp_seconds") == "0" {
				return fmt.Errorf("%s", reporter.process.LogTail(600))
			}
			return nil
		})
		audits := reporter.metric("taffrail_audits_total")
		w.eventually(t, "two more audits", func() error {
			var then, now int
			fmt.Sscan(audits, &then)
			fmt.Sscan(reporter.metric("taffrail_audits_total"), &now)
			if now < then+3 {
				return fmt.Errorf("%d after %d", now, then)
			}
			return nil
		})
		if again := w.report(t, plural, space); again.Metadata.ResourceVersion != found.Metadata.ResourceVersion {
			t.Errorf("%s: written again: %+v", plural, *again)
		}
		if before != "" {
			w.eventually(t, "that the older reports go", func() error {
				if w.report(t, before, space) != nil {
					return fmt.Errorf("%s is there", before)
				}
				return nil
			})
		}
		before = plural
	}

	// A namespace that ends is no failure, and what is mended leaves no report.
	w.admin(t, "", "delete", "namespace", ending, "--wait=false").works(t)
	w.admin(t, "", "-n", space, "delete", "deployment", "hasty").works(t)
	w.eventually(t, "that the report goes", func() error {
		if w.report(t, before, space) != nil {
			return fmt.Errorf("it is there; %s", reporter.process.LogTail(600))
		}
		return nil
	})
	if failed := reporter.metric(`taffrail_report_writes_total{result="failed"}`); failed != "0" {
		t.Errorf("%s reports could not be written: %s", failed, reporter.process.LogTail(2000))
	}
	begun := time.Now()
	reporter.stop(false)
	if took := time.Since(begun); took > 15*time.Second {
		t.Errorf("it ended after %s", took)
	}
}
