package stories

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const chart = "../../../manifests/chart"

// Helm, with a home of its own, on the control plane of a world.
type helm struct {
	world *world
	home  string
}

func (h helm) command(arguments ...string) *exec.Cmd {
	command := exec.Command(*helmFlag, append([]string{
		"--kubeconfig", h.world.plane.AdminKubeconfig(), "--namespace", "taffrail",
	}, arguments...)...)
	command.Env = append(os.Environ(), "HELM_CACHE_HOME="+h.home, "HELM_CONFIG_HOME="+h.home, "HELM_DATA_HOME="+h.home)
	return command
}

func (h helm) run(arguments ...string) (string, error) {
	printed, err := h.command(arguments...).CombinedOutput()
	return string(printed), err
}

func (h helm) works(t *testing.T, arguments ...string) string {
	t.Helper()
	printed, err := h.run(arguments...)
	if err != nil {
		t.Fatalf("helm %s: %v\n%s", strings.Join(arguments, " "), err, printed)
	}
	return printed
}

// upgrade, or install at first, with these values beside the usual ones.
func (h helm) upgrade(policy string, port int, values ...string) []string {
	arguments := []string{
		"upgrade", "--install", "--create-namespace", "taffrail", chart,
		"--set", fmt.Sprintf("image.repository=taffrail,service.port=%d,extraArgs={--bundle-settle=2s}", port),
		"--set-file", `policies.inline.policy\.yaml=` + policy,
	}
	for _, value := range values {
		arguments = append(arguments, "--set", value)
	}
	return arguments
}

// A watchman asks for a pod that is denied, and for one that is right, again and again.
type watchman struct {
	world   *world
	lock    sync.Mutex
	guarded bool // whether the first must be denied
	rounds  int
	faults  []string
}

func (m *watchman) watch(ctx context.Context) {
	wrong, right := probe(), probe()
	right.Spec.NodeSelector = nil
	pods := m.world.client.CoreV1().Pods("default")
	for ctx.Err() == nil {
		dry := metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}
		m.lock.Lock()
		_, err := pods.Create(ctx, wrong, dry)
		if m.guarded && ctx.Err() == nil && !apierrors.IsForbidden(err) {
			m.fault("a pod that is wrong: %v", err)
		}
		_, err = pods.Create(ctx, right, dry)
		if ctx.Err() == nil && err != nil {
			m.fault("a pod that is right: %v", err)
		}
		m.rounds++
		m.lock.Unlock()
		time.Sleep(10 * time.Millisecond)
	}
}

func (m *watchman) fault(format string, arguments ...any) {
	m.faults = append(m.faults, time.Now().Format("05.000 ")+fmt.Sprintf(format, arguments...))
}

func (m *watchman) expect(guarded bool) {
	m.lock.Lock()
	m.guarded = guarded
	m.lock.Unlock()
}

// saw says what went wrong since it was last asked.
func (m *watchman) saw(t *testing.T, while string) {
	t.Helper()
	m.lock.Lock()
	defer m.lock.Unlock()
	t.Logf("%s: %d rounds", while, m.rounds)
	if m.rounds == 0 || len(m.faults) > 0 {
		t.Errorf("%s, %d rounds:\n%s", while, m.rounds, strings.Join(m.faults, "\n"))
	}
	m.rounds, m.faults = 0, nil
}

// entries are those of the validating webhook that have rules, with what each does when nobody answers.
func (w *world) entries(t *testing.T) string {
	t.Helper()
	configuration, err := w.client.AdmissionregistrationV1().ValidatingWebhookConfigurations().Get(w.ctx, "taffrail",
		metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var entries []string
	for _, webhook := range configuration.Webhooks {
		if len(webhook.Rules) == 0 {
			continue
		}
		entries = append(entries, fmt.Sprintf("%s %s", strings.TrimSuffix(webhook.Name, ".taffrail.dev"),
			*webhook.FailurePolicy))
	}
	return strings.Join(entries, ", ")
}

// deletions are the kinds of those objects in the order in which the ones called taffrail were first deleted.
func (w *world) deletions(t *testing.T, of ...string) []string {
	t.Helper()
	log, err := os.Open(w.plane.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	var kinds []string
	seen := map[string]bool{}
	lines := bufio.NewScanner(log)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct {
			Verb      string
			ObjectRef struct{ Resource, Name string }
		}
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatal(err)
		}
		resource := event.ObjectRef.Resource
		if event.Verb == "delete" && event.ObjectRef.Name == "taffrail" && slices.Contains(of, resource) && !seen[resource] {
			seen[resource] = true
			kinds = append(kinds, resource)
		}
	}
	return kinds
}

// interrupt starts an upgrade, and kills it when the release says that it is going on.
func (h helm) interrupt(t *testing.T, arguments []string) {
	t.Helper()
	command := h.command(arguments...)
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	err := wait(patience, func() error {
		pending, err := h.world.client.CoreV1().Secrets("taffrail").List(h.world.ctx, metav1.ListOptions{
			LabelSelector: "owner=helm,status=pending-upgrade",
		})
		if err == nil && len(pending.Items) == 0 {
			err = fmt.Errorf("no upgrade is going on")
		}
		return err
	})
	_ = command.Process.Kill()
	_ = command.Wait()
	if err != nil {
		t.Fatal(err)
	}
}

func TestChart(t *testing.T) {
	if *helmFlag == "" {
		t.Skip("no helm; scripts/helm says why")
	}
	w := newOwnWorld(t, "chart", newOpenWorld)
	h := helm{w, t.TempDir()}
	k := w.runDeployment(t, "taffrail", "taffrail")
	strict, err := os.ReadFile("testdata/policy.yaml")
	if err != nil {
		t.Fatal(err)
	}
	audit := filepath.Join(t.TempDir(), "audit.yaml")
	if err := os.WriteFile(audit, []byte(strings.ReplaceAll(string(strict), "mode: enforce", "mode: audit")), 0o600); err != nil {
		t.Fatal(err)
	}
	denied := func() error {
		_, err := w.client.CoreV1().Pods("default").Create(w.ctx, probe(), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if !apierrors.IsForbidden(err) {
			return fmt.Errorf("not denied: %v", err)
		}
		return nil
	}

	h.works(t, append(h.upgrade("testdata/policy.yaml", k.port), "--wait", "--timeout", "60s")...)
	w.eventually(t, "a denial after the install", denied)
	if entries := w.entries(t); entries != "rails Ignore, node-claims Ignore" {
		t.Errorf("installed: %s", entries)
	}

	ctx, stop := context.WithCancel(w.ctx)
	man := &watchman{world: w, guarded: true}
	ended := make(chan struct{})
	go func() { defer close(ended); man.watch(ctx) }()
	t.Cleanup(func() { stop(); <-ended })

	h.works(t, h.upgrade("testdata/policy.yaml", k.port, "failurePolicies.nodePools=Fail")...)
	if entries := w.entries(t); entries != "rails Ignore, node-pools Fail, node-claims Ignore" {
		t.Errorf("upgraded: %s", entries)
	}
	w.eventually(t, "the CA bundle of a new entry", func() error {
		pool := w.admin(t, nodePoolYAML("wrong", `[{key: karpenter.sh/capacity-type, operator: In, values: [reserved]}]`, ""),
			"create", "--dry-run=server", "-f", "-")
		if pool.code == 0 || !strings.Contains(pool.stderr, `"node-pools.taffrail.dev" denied`) {
			return fmt.Errorf("a NodePool: %s%s", pool.stdout, pool.stderr)
		}
		return nil
	})
	man.saw(t, "an upgrade")

	h.interrupt(t, h.upgrade("testdata/policy.yaml", k.port, "failurePolicy=Fail"))
	if printed, err := h.run(h.upgrade("testdata/policy.yaml", k.port, "failurePolicy=Fail")...); err == nil ||
		!strings.Contains(printed, "another operation (install/upgrade/rollback) is in progress") {
		t.Errorf("after an upgrade that was killed helm says %v\n%s", err, printed)
	}
	h.works(t, "rollback", "taffrail")
	h.works(t, h.upgrade("testdata/policy.yaml", k.port, "failurePolicy=Fail")...)
	if entries := w.entries(t); entries != "rails Fail, node-claims Ignore" {
		t.Errorf("upgraded after an interruption: %s", entries)
	}
	man.saw(t, "an upgrade that was killed, a rollback, and the upgrade again")

	man.expect(false)
	h.works(t, h.upgrade(audit, k.port, "failurePolicy=Fail")...)
	w.eventually(t, "the policy in audit", func() error {
		if denied() == nil {
			return fmt.Errorf("still denied")
		}
		return nil
	})
	h.works(t, "rollback", "taffrail")
	w.eventually(t, "a denial after the rollback", denied)
	man.expect(true)
	man.saw(t, "a rollback of a policy")

	man.expect(false)
	h.works(t, "uninstall", "taffrail", "--wait")
	man.saw(t, "the uninstall")
	first := "mutatingwebhookconfigurations validatingwebhookconfigurations"
	deleted := strings.Join(w.deletions(t, "validatingwebhookconfigurations", "mutatingwebhookconfigurations", "services",
		"deployments", "clusterroles"), " ")
	if deleted != first+" services deployments clusterroles" {
		t.Errorf("deleted in this order: %s", deleted)
	}
	left := w.admin(t, "", "get", "validatingwebhookconfigurations,mutatingwebhookconfigurations,clusterroles,"+
		"clusterrolebindings,secrets,leases,roles,rolebindings,services,deployments,configmaps,networkpolicies,"+
		"poddisruptionbudgets,serviceaccounts", "--namespace", "taffrail", "-o", "name").works(t)
	for _, name := range strings.Fields(left.stdout) {
		if strings.Contains(name, "taffrail") {
			t.Errorf("%s is left", name)
		}
	}
}
