package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand"
	"os"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/utils/clock"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"

	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/fake"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/test"
)

// The mix of Karpenter's own scheduling benchmark, a line a pod:
//
//	CPU_MILLI MEMORY_MIB KIND LABEL SELECTOR
//
// KIND is what constrains the pod: generic (nothing), zone-spread and host-spread (maxSkew 1,
// DoNotSchedule, pods with my-label=SELECTOR), zone-affinity (required, my-affinity=SELECTOR),
// host-anti (required, app=SELECTOR). LABEL is its one label, SELECTOR is - when there is none. A line
// that begins with # is a comment. tests/bench/solver.c reads the same file.
//
// The pods are placed on one NodePool of 400 types, fake-it-0 to 399: cpu i+1, memory 2(i+1)Gi, pods
// 10(i+1), in three zones on-demand and in two of them spot.
type mixPod struct {
	cpuMilli, memoryMib   int
	kind, label, selector string
}

var (
	mixCPUs     = []int{100, 250, 500, 1000, 1500}
	mixMemories = []int{100, 256, 512, 1024, 2048, 4096}
	spreadKeys  = map[string]string{"zone-spread": corev1.LabelTopologyZone, "host-spread": corev1.LabelHostname}
	mixKinds    = []string{"generic", "zone-spread", "host-spread", "zone-affinity", "host-anti"}
)

func drawMix(count int, seed int64) []mixPod {
	random := rand.New(rand.NewSource(seed))
	letter := func() string { return string(rune('a' + random.Intn(7))) }
	var pods []mixPod
	for i := range count {
		kind := "generic" // what is left over too
		if each := count / len(mixKinds); each > 0 && i/each < len(mixKinds) {
			kind = mixKinds[i/each]
		}
		pod := mixPod{mixCPUs[random.Intn(len(mixCPUs))], mixMemories[random.Intn(len(mixMemories))],
			kind, "my-label=" + letter(), letter()}
		switch kind {
		case "generic":
			pod.selector = "-"
		case "zone-affinity": // each with its like, or nobody might come first
			pod.label = "my-affinity=" + pod.selector
		case "host-anti":
			pod.label, pod.selector = "app=nginx", "nginx"
		}
		pods = append(pods, pod)
	}
	return pods
}

func mix(arguments []string) error {
	flags := flag.NewFlagSet("mix", flag.ExitOnError)
	pods := flags.Int("pods", 1000, "how many")
	seed := flags.Int64("seed", 42, "of the mix")
	must(flags.Parse(arguments))
	out := bufio.NewWriter(os.Stdout)
	fmt.Fprintf(out, "# %d pods, seed %d\n", *pods, *seed)
	for _, pod := range drawMix(*pods, *seed) {
		fmt.Fprintln(out, pod.cpuMilli, pod.memoryMib, pod.kind, pod.label, pod.selector)
	}
	return out.Flush()
}

func readMix(reader io.Reader) ([]mixPod, error) {
	var pods []mixPod
	lines := bufio.NewScanner(reader)
	for lines.Scan() {
		if strings.HasPrefix(lines.Text(), "#") {
			continue
		}
		pod := mixPod{}
		if _, err := fmt.Sscan(lines.Text(), &pod.cpuMilli, &pod.memoryMib, &pod.kind, &pod.label,
			&pod.selector); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		pods = append(pods, pod)
	}
	return pods, lines.Err()
}

func (m *mixPod) pod(number int) *corev1.Pod {
	key, value, _ := strings.Cut(m.label, "=")
	options := test.PodOptions{
		ObjectMeta: metav1.ObjectMeta{Name: "pod-" + strconv.Itoa(number), Namespace: "default",
			UID: newUID(number), Labels: map[string]string{key: value}},
		ResourceRequirements: corev1.ResourceRequirements{Requests: corev1.ResourceList{
			corev1.ResourceCPU:    *resource.NewMilliQuantity(int64(m.cpuMilli), resource.DecimalSI),
			corev1.ResourceMemory: *resource.NewQuantity(int64(m.memoryMib)<<20, resource.BinarySI)}},
	}
	switch m.kind {
	case "zone-spread", "host-spread":
		options.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{{MaxSkew: 1,
			TopologyKey:       spreadKeys[m.kind],
			WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selects("my-label", m.selector)}}
	case "zone-affinity":
		options.PodRequirements = []corev1.PodAffinityTerm{
			term(corev1.LabelTopologyZone, selects("my-affinity", m.selector))}
	case "host-anti":
		options.PodAntiRequirements = []corev1.PodAffinityTerm{term(corev1.LabelHostname, selects("app", m.selector))}
	}
	return test.Pod(options)
}

func bench(arguments []string) error {
	flags := flag.NewFlagSet("bench", flag.ExitOnError)
	sizes := flags.String("pods", "100,1000,5000,20000", "sizes")
	seed := flags.Int64("seed", 42, "of the mix")
	file := flags.String("mix", "", "a file of pods instead")
	workers := flags.Int("workers", 5, "of Karpenter's scheduler; its own benchmark has 5")
	must(flags.Parse(arguments))
	mixes := [][]mixPod{}
	if *file != "" {
		opened, err := os.Open(*file)
		if err != nil {
			return err
		}
		defer opened.Close()
		pods, err := readMix(opened)
		if err != nil {
			return err
		}
		mixes = append(mixes, pods)
	} else {
		for _, size := range strings.Split(*sizes, ",") {
			count, err := strconv.Atoi(size)
			if err != nil {
				return err
			}
			mixes = append(mixes, drawMix(count, *seed))
		}
	}
	fmt.Printf("%7s %9s %9s %9s  %7s %8s %11s\n", "pods", "build_s", "solve_s", "pods/s", "nodes",
		"unplaced", "usd/h")
	for _, pods := range mixes {
		if err := benchOne(pods, *workers); err != nil {
			return err
		}
	}
	return nil
}

// Karpenter's own benchmark: a scheduler is made, and Solve is timed once.
func benchOne(drawn []mixPod, workers int) error {
	ctx := options.ToContext(context.Background(), test.Options())
	var pods []*corev1.Pod
	for i := range drawn {
		pods = append(pods, drawn[i].pod(i))
	}
	pool := test.NodePool(v1.NodePool{ObjectMeta: metav1.ObjectMeta{Name: "default"}, Spec: v1.NodePoolSpec{
		Limits: v1.Limits(amounts("cpu", "10000000", "memory", "10000000Gi"))}})
	types := map[string][]*cloudprovider.InstanceType{pool.Name: fake.InstanceTypes(400)}
	provider := fake.NewCloudProvider()
	provider.InstanceTypes = types[pool.Name]
	kubeClient := fakeclient.NewFakeClient()
	cluster := state.NewCluster(clock.RealClock{}, kubeClient, provider)
	start := time.Now()
	topology, err := scheduling.NewTopology(ctx, kubeClient, cluster, nil, []*v1.NodePool{pool}, types, pods)
	if err != nil {
		return err
	}
	scheduler := scheduling.NewScheduler(ctx, kubeClient, []*v1.NodePool{pool}, cluster, nil, topology, types, nil,
		events.NewRecorder(&record.FakeRecorder{}), clock.RealClock{}, nil, nil, scheduling.NumConcurrentReconciles(workers))
	built := time.Now()
	results, err := scheduler.Solve(ctx, pods)
	if err != nil {
		return err
	}
	solved := time.Since(built).Seconds()
	usd := 0.0
	for _, claim := range results.NewNodeClaims {
		usd += claimOf(claim).UsdPerHour
	}
	fmt.Printf("%7d %9.4f %9.4f %9.0f  %7d %8d %11.3f\n", len(pods), built.Sub(start).Seconds(), solved,
		float64(len(pods))/solved, len(results.NewNodeClaims), len(results.PodErrors), usd)
	return nil
}
