package stories

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What is bought, by plan or by Karpenter.
type purchase struct {
	nodes, left int // left: pods that get none
	first       int // of the nodes, what Karpenter reckoned at first
	usdPerHour  float64
}

// A table of what `taffrail plan` says, and of what Karpenter then buys for the same pods. Karpenter is away while they
// are created, so that it finds them all at once, as the plan does. It then may buy more: kube-scheduler does not put
// every pod where Karpenter meant it to go, and a pod that is left over gets a node of its own.
func TestPlan(t *testing.T) {
	if *typesFlag == "" {
		t.Skip("-types is not given: prices are not known")
	}
	w := shared
	cases := 3
	if *longFlag {
		cases = 20
	}
	w.withNodes(t)
	w.admin(t, "", "delete", "nodepool", "general").works(t)
	w.admin(t, planPoolsYAML(), "apply", "-f", "-").works(t)
	t.Cleanup(func() {
		w.admin(t, "", "delete", "nodepool", "small", "large").works(t)
		w.admin(t, nodesYAML(), "apply", "-f", "-").works(t)
	})
	prices := readPrices(t)
	var table strings.Builder
	agreed := 0
	for seed := *seedFlag; seed < *seedFlag+int64(cases); seed++ {
		planned, bought, pods := planOnce(t, seed, prices)
		same := planned.nodes == bought.first
		// Prices are kept as whole millionths of a dollar.
		if bought.nodes == bought.first {
			same = same && math.Abs(planned.usdPerHour-bought.usdPerHour) < 1e-6*float64(1+bought.nodes)
		}
		if same {
			agreed++
		}
		fmt.Fprintf(&table, "%-5d %4d   %5d %9.4f %4d   %5d %5d %9.4f %4d   %v\n", seed, pods, planned.nodes,
			planned.usdPerHour, planned.left, bought.first, bought.nodes, bought.usdPerHour, bought.left, same)
		if planned.left != bought.left {
			t.Errorf("seed %d: the plan leaves %d pods, Karpenter %d", seed, planned.left, bought.left)
		}
		// One more or less may be chance: Karpenter breaks ties at random.
		if difference := planned.nodes - bought.first; difference < -1 || difference > 1 {
			t.Errorf("seed %d: the plan has %d nodes, Karpenter reckons %d", seed, planned.nodes, bought.first)
		}
	}
	t.Logf("%-5s %4s   %5s %9s %4s   %5s %5s %9s %4s   agree\n%s%d of %d agree: as many nodes as Karpenter reckons, "+
		"and where it buys no more, at the same price", "seed", "pods", "plan", "USD/h", "left", "first", "nodes", "USD/h",
		"left", table.String(), agreed, cases)
}

func planPoolsYAML() string {
	pool := func(name, cpus, capacities string, weight int) string {
		return nodePoolYAML(name, fmt.Sprintf(`
        - {key: karpenter.kwok.sh/instance-cpu, operator: In, values: [%s]}
        - {key: kubernetes.io/arch, operator: In, values: [amd64]}
        - {key: kubernetes.io/os, operator: In, values: [linux]}
        - {key: karpenter.sh/capacity-type, operator: In, values: [%s]}
        - {key: topology.kubernetes.io/zone, operator: In, values: [%s]}`, cpus, capacities,
			strings.Join(zones, ", ")), fmt.Sprintf(
			"  weight: %d\n  disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 600s}\n", weight))
	}
	return pool("small", `"2", "4", "8"`, "spot, on-demand", 10) + "---\n" +
		pool("large", `"8", "16", "32"`, "on-demand", 1)
}

// readPrices are those of the provider's file, by type, zone and kind of capacity.
func readPrices(t *testing.T) map[[3]string]float64 {
	t.Helper()
	content, err := os.ReadFile(*typesFlag)
	if err != nil {
		t.Fatal(err)
	}
	var types []struct {
		Name      string
		Offerings []struct {
			Price        float64
			Requirements []struct {
				Key    string
				Values []string
			}
		}
	}
	if err := json.Unmarshal(content, &types); err != nil {
		t.Fatal(err)
	}
	prices := map[[3]string]float64{}
	for _, found := range types {
		for _, offering := range found.Offerings {
			of := map[string]string{}
			for _, requirement := range offering.Requirements {
				of[requirement.Key] = requirement.Values[0]
			}
			prices[[3]string{found.Name, of[corev1.LabelTopologyZone], of["karpenter.sh/capacity-type"]}] = offering.Price
		}
	}
	return prices
}

// randomPodsYAML are groups of pods that ask for the same: some in a zone, some spread, some apart.
func randomPodsYAML(namespace string, random *rand.Rand) (string, int) {
	var all strings.Builder
	count := 0
	for group := range 2 + random.Intn(4) {
		cpu := []string{"250m", "500m", "1", "1500m", "3"}[random.Intn(5)]
		memory := []string{"256Mi", "1Gi", "3Gi", "6Gi"}[random.Intn(4)]
		var more string
		pods := 3 + random.Intn(15)
		switch random.Intn(4) {
		case 0:
			more = fmt.Sprintf("nodeSelector: {topology.kubernetes.io/zone: %s}", zones[random.Intn(len(zones))])
		case 1:
			more = fmt.Sprintf("topologySpreadConstraints: [{maxSkew: 1, topologyKey: topology.kubernetes.io/zone, "+
				"whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {group: g%d}}}]", group)
		case 2:
			pods = 2 + random.Intn(4)
			more = fmt.Sprintf("affinity: {podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: "+
				"[{topologyKey: kubernetes.io/hostname, labelSelector: {matchLabels: {group: g%d}}}]}}", group)
		}
		for i := range pods {
			fmt.Fprintf(&all, `---
apiVersion: v1
kind: Pod
metadata: {name: g%[1]d-%[2]d, namespace: %[3]s, labels: {group: g%[1]d}}
spec:
  %[4]s
  terminationGracePeriodSeconds: 0
  containers: [{name: main, image: none, resources: {requests: {cpu: %[5]q, memory: %[6]s}}}]
`, group, i, namespace, more, cpu, memory)
			count++
		}
	}
	return all.String(), count
}

func planOnce(t *testing.T, seed int64, prices map[[3]string]float64) (planned, bought purchase, count int) {
	t.Helper()
	w := shared
	space := w.namespace(t, nil)
	defer func() {
		w.admin(t, "", "-n", space, "delete", "pods", "--all", "--force", "--grace-period=0").works(t)
		w.noNodes(t)
	}()
	w.plane.Stop(true, "karpenter")
	manifests, count := randomPodsYAML(space, rand.New(rand.NewSource(seed)))
	w.admin(t, manifests, "create", "-f", "-").works(t)
	w.eventually(t, "that the scheduler has seen all pods", func() error {
		waiting, err := w.unscheduled(space)
		if err == nil && waiting < count {
			err = fmt.Errorf("%d of %d", waiting, count)
		}
		return err
	})
	state := t.TempDir()
	seen := w.admin(t, "", "get", "nodepools,nodes,pods,namespaces", "-A", "-o", "yaml").works(t).stdout
	if err := os.WriteFile(filepath.Join(state, "all.yaml"), []byte(seen), 0o644); err != nil {
		t.Fatal(err)
	}
	planned = w.plan(t, state)

	said := w.karpenterLog(t)
	if err := w.plane.Start("karpenter"); err != nil {
		t.Fatal(err)
	}
	_ = wait(45*time.Second, func() error {
		waiting, err := w.unscheduled(space)
		if err == nil && waiting > planned.left {
			err = fmt.Errorf("%d", waiting)
		}
		return err
	})
	var err error
	if bought.left, err = w.unscheduled(space); err != nil {
		t.Fatal(err)
	}
	nodes, err := w.client.CoreV1().Nodes().List(w.ctx, metav1.ListOptions{LabelSelector: "karpenter.sh/nodepool"})
	if err != nil {
		t.Fatal(err)
	}
	for _, node := range nodes.Items {
		price, known := prices[[3]string{
			node.Labels[corev1.LabelInstanceTypeStable], node.Labels[corev1.LabelTopologyZone],
			node.Labels["karpenter.sh/capacity-type"],
		}]
		if !known {
			t.Errorf("no price is known for %v", node.Labels)
		}
		bought.nodes++
		bought.usdPerHour += price
	}
	if reckoned := firstReckoning.FindStringSubmatch(w.karpenterLog(t)[len(said):]); reckoned != nil {
		bought.first, _ = strconv.Atoi(reckoned[1])
	} else if bought.nodes > 0 {
		t.Errorf("seed %d: Karpenter's log does not say how many nodes it reckoned", seed)
	}
	return planned, bought, count
}

var firstReckoning = regexp.MustCompile(`computed new nodeclaim\(s\) to fit pod\(s\)".*"nodeclaims":(\d+)`)

func (w *world) karpenterLog(t *testing.T) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(w.plane.Dir, "logs", "karpenter.log"))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// unscheduled is how many pods the scheduler has put nowhere.
func (w *world) unscheduled(namespace string) (int, error) {
	pods, err := w.client.CoreV1().Pods(namespace).List(w.ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	count := 0
	for _, pod := range pods.Items {
		for _, condition := range pod.Status.Conditions {
			if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse {
				count++
			}
		}
	}
	return count, nil
}

// plan asks taffrail what Karpenter will buy for what is in a folder.
func (w *world) plan(t *testing.T, state string) purchase {
	t.Helper()
	command := exec.Command(*taffrailFlag, "plan", "--state", state, "--catalog", *typesFlag, "-o", "json")
	var problems bytes.Buffer
	command.Stderr = &problems
	printed, err := command.Output()
	var exit *exec.ExitError
	if err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("taffrail plan: %v\n%s", err, problems.String())
	}
	var plan struct {
		Claims        []struct{ UsdPerHour float64 }
		Unschedulable []json.RawMessage
	}
	if err := json.Unmarshal(printed, &plan); err != nil {
		t.Fatalf("taffrail plan: %v\n%s", err, printed)
	}
	result := purchase{nodes: len(plan.Claims), left: len(plan.Unschedulable)}
	for _, claim := range plan.Claims {
		result.usdPerHour += claim.UsdPerHour
	}
	return result
}
