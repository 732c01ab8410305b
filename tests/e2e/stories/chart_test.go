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

// A cluster in whose namespace taffrail the chart is installed, and what is asked of it all the while.
type chartStory struct {
	helm
	port int
	man  *watchman
}

const strict = "testdata/policy.yaml"

func TestChart(t *testing.T) {
	if *helmFlag == "" {
		t.Skip("no helm; scripts/helm says why")
	}
	w := newOwnWorld(t, "chart", newOpenWorld)
	s := chartStory{helm{w, t.TempDir()}, w.runDeployment(t, "taffrail", "taffrail").port, &watchman{world: w}}
	s.install(t)
	ctx, stop := context.WithCancel(w.ctx)
	ended := make(chan struct{})
	go func() { defer close(ended); s.man.watch(ctx) }()
	t.Cleanup(func() { stop(); <-ended })
	s.changeGroups(t)
	s.breakOff(t)
	s.rollBack(t)
	s.uninstall(t)
	s.apply(t)
}

// denied is nil when the API server asks the guard, and the guard denies.
func (s chartStory) denied() error {
	_, err := s.world.client.CoreV1().Pods("default").Create(s.world.ctx, probe(),
		metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if !apierrors.IsForbidden(err) {
		return fmt.Errorf("not denied: %v", err)
	}
	return nil
}

func (s chartStory) has(t *testing.T, entries string) {
	t.Helper()
	if found := s.world.entries(t); found != entries {
		t.Errorf("the entries with rules are %s, not %s", found, entries)
	}
}

func (s chartStory) install(t *testing.T) {
	s.works(t, append(s.upgrade(strict, s.port), "--wait", "--timeout", "60s")...)
	s.world.eventually(t, "a denial after the install", s.denied)
	s.has(t, "rails Ignore, node-claims Ignore")
}

// changeGroups has NodePools refused while nobody answers, and nothing else.
func (s chartStory) changeGroups(t *testing.T) {
	s.man.expect(true)
	s.works(t, s.upgrade(strict, s.port, "failurePolicies.nodePools=Fail")...)
	s.has(t, "rails Ignore, node-pools Fail, node-claims Ignore")
	wrong := nodePoolYAML("wrong", `[{key: karpenter.sh/capacity-type, operator: In, values: [reserved]}]`, "")
	s.world.eventually(t, "a NodePool denied by the entry of its group", func() error {
		pool := s.world.admin(t, wrong, "create", "--dry-run=server", "-f", "-")
		if pool.code == 0 || !strings.Contains(pool.stderr, `"node-pools.taffrail.dev" denied`) {
			return fmt.Errorf("%s%s", pool.stdout, pool.stderr)
		}
		return nil
	})
	s.man.saw(t, "an upgrade")
}

func (s chartStory) breakOff(t *testing.T) {
	fails := s.upgrade(strict, s.port, "failurePolicy=Fail")
	s.interrupt(t, fails)
	printed, err := s.run(fails...)
	if err == nil || !strings.Contains(printed, "another operation (install/upgrade/rollback) is in progress") {
		t.Errorf("after an upgrade that was killed helm says %v\n%s", err, printed)
	}
	s.works(t, "rollback", "taffrail")
	s.works(t, fails...)
	s.has(t, "rails Fail, node-claims Ignore")
	s.man.saw(t, "an upgrade that was killed, a rollback, and the upgrade again")
}

// rollBack brings back a policy that denies.
func (s chartStory) rollBack(t *testing.T) {
	policy, err := os.ReadFile(strict)
	if err != nil {
		t.Fatal(err)
	}
	audit := filepath.Join(t.TempDir(), "audit.yaml")
	lenient := strings.ReplaceAll(string(policy), "mode: enforce", "mode: audit")
	if err := os.WriteFile(audit, []byte(lenient), 0o600); err != nil {
		t.Fatal(err)
	}
	s.man.expect(false)
	s.works(t, s.upgrade(audit, s.port, "failurePolicy=Fail")...)
	s.world.eventually(t, "the policy in audit", func() error {
		if s.denied() == nil {
			return fmt.Errorf("still denied")
		}
		return nil
	})
	s.works(t, "rollback", "taffrail")
	s.world.eventually(t, "a denial after the rollback", s.denied)
	s.man.saw(t, "a rollback of a policy")
}

// uninstall removes a guard that fails closed: no right pod is refused meanwhile, and nothing is left.
func (s chartStory) uninstall(t *testing.T) {
	s.works(t, "uninstall", "taffrail", "--wait")
	s.man.saw(t, "the uninstall")
	order := []string{"mutatingwebhookconfigurations", "validatingwebhookconfigurations", "services", "deployments", "clusterroles"}
	if deleted := s.world.deletions(t, order...); !slices.Equal(deleted, order) {
		t.Errorf("deleted in the order %v", deleted)
	}
	left := s.world.admin(t, "", "get", "validatingwebhookconfigurations,mutatingwebhookconfigurations,clusterroles,"+
		"clusterrolebindings,secrets,leases,roles,rolebindings,services,deployments,configmaps,networkpolicies,"+
		"poddisruptionbudgets,serviceaccounts", "--namespace", "taffrail", "-o", "name").works(t)
	for _, name := range strings.Fields(left.stdout) {
		if strings.Contains(name, "taffrail") {
			t.Errorf("%s is left", name)
		}
	}
}

// apply has the groups changed by one who owns fields, beside the replicas, who own the CA bundles.
func (s chartStory) apply(t *testing.T) {
	bundled := func() error {
		bundles, _ := s.world.configurations(t)
		if len(bundles) == 0 || slices.Contains(bundles, "") {
			return fmt.Errorf("of %d entries not all have a bundle", len(bundles))
		}
		return nil
	}
	s.applied(t, s.port)
	s.world.eventually(t, "a denial by the chart that was rendered and applied", s.denied)
	s.world.eventually(t, "the CA bundles", bundled)
	s.man.expect(true)
	s.applied(t, s.port, "failurePolicies.nodePools=Fail")
	s.applied(t, s.port, "failurePolicies.storage=Fail")
	if err := bundled(); err != nil {
		t.Error(err)
	}
	s.has(t, "rails Ignore, storage Fail, node-claims Ignore")
	s.man.saw(t, "the chart, rendered and applied again and again")
}

// applied renders the chart and applies it as Argo CD does with ServerSideApply.
func (h helm) applied(t *testing.T, port int, values ...string) {
	t.Helper()
	arguments := append([]string{"template"}, h.upgrade(strict, port, values...)[3:]...)
	rendered := h.works(t, append(arguments, "--set", "namespace.create=true")...)
	h.world.admin(t, rendered, "apply", "--server-side", "--force-conflicts", "--field-manager=argocd-controller",
		"-f", "-").works(t)
}
