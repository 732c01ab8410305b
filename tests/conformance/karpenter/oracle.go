package main

import (
	"context"
	"fmt"
	"math/rand"
	"path/filepath"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/awslabs/operatorpkg/status"
	"github.com/samber/lo"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	fakeclient "sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	kwokoptions "sigs.k8s.io/karpenter/kwok/options"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"
	"sigs.k8s.io/karpenter/pkg/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning"
	"sigs.k8s.io/karpenter/pkg/controllers/provisioning/scheduling"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/events"
	"sigs.k8s.io/karpenter/pkg/operator/options"
	"sigs.k8s.io/karpenter/pkg/test"
)

// recorder keeps the last message about each pod: why it was left out or not placed.
type recorder struct {
	lock     sync.Mutex
	messages map[string]string
}

func (r *recorder) Publish(published ...events.Event) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, event := range published {
		if pod, isPod := event.InvolvedObject.(*corev1.Pod); isPod {
			r.messages[podName(pod)] = event.Message
		}
	}
}

// As good as random: the queue's ties hang on it.
func newUID(number int) types.UID {
	random := rand.New(rand.NewSource(int64(number)))
	return types.UID(fmt.Sprintf("%016x-%016x", random.Uint64(), random.Uint64()))
}

func podName(pod *corev1.Pod) string { return pod.Namespace + "/" + pod.Name }

// Karpenter itself, over a client that is no cluster: provisioning.Provisioner.Schedule, which reads,
// validates and solves exactly as the controller does, with the instance types of the kwok provider.
type oracle struct {
	ctx           context.Context
	given         *kase
	instanceTypes []*cloudprovider.InstanceType
}

// The kwok provider has no label for capacity reservations; this is the AWS provider's.
const reservationKey = "karpenter.k8s.aws/capacity-reservation-id"

func init() { cloudprovider.ReservationIDLabel = reservationKey }

// The provider adds to a global set, which every run reads.
var wellKnown sync.RWMutex

func newOracle(c *kase, folder string) (*oracle, error) {
	fields := test.OptionsFields{CPURequests: lo.ToPtr[int64](1000),
		FeatureGates: test.FeatureGates{ReservedCapacity: lo.ToPtr(true)}}
	if c.settings.IgnorePreferences {
		fields.PreferencePolicy = lo.ToPtr(options.PreferencePolicyIgnore)
	}
	if c.settings.BestEffortMinValues {
		fields.MinValuesPolicy = lo.ToPtr(options.MinValuesPolicyBestEffort)
	}
	ctx := options.ToContext(context.Background(), test.Options(fields))
	ctx = kwokoptions.ToContext(ctx, &kwokoptions.Options{
		InstanceTypesFilePath: filepath.Join(folder, "catalog.json")})
	wellKnown.Lock()
	defer wellKnown.Unlock()
	instanceTypes, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		return nil, err
	}
	return &oracle{ctx, c, instanceTypes}, nil
}

// What a file leaves out counts as healthy and pending, as `taffrail plan` reads it.
func complete(object client.Object) {
	switch object := object.(type) {
	case *v1.NodePool:
		if len(object.Status.Conditions) == 0 {
			object.StatusConditions().SetTrue(v1.ConditionTypeValidationSucceeded)
			object.StatusConditions().SetTrue(v1.ConditionTypeNodeClassReady)
			object.StatusConditions().SetTrue(status.ConditionReady)
		}
	case *corev1.Pod:
		if object.Spec.NodeName == "" && object.Status.Phase == "" {
			object.Status.Phase = corev1.PodPending
			object.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled,
				Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable}}
		}
	}
}

func nodeNameOf(object client.Object) []string {
	return []string{object.(*corev1.Pod).Spec.NodeName}
}

func (o *oracle) newClient(objects []client.Object) client.Client {
	return fakeclient.NewClientBuilder().WithScheme(scheme.Scheme).WithObjects(objects...).
		WithIndex(&corev1.Pod{}, "spec.nodeName", nodeNameOf).
		WithIndex(&corev1.Node{}, "spec.providerID", func(object client.Object) []string {
			return []string{object.(*corev1.Node).Spec.ProviderID}
		}).
		WithIndex(&storagev1.VolumeAttachment{}, "spec.nodeName", func(object client.Object) []string {
			return []string{object.(*storagev1.VolumeAttachment).Spec.NodeName}
		}).
		WithIndex(&v1.NodeClaim{}, "status.providerID", func(object client.Object) []string {
			return []string{object.(*v1.NodeClaim).Status.ProviderID}
		}).
		WithInterceptorFuncs(interceptor.Funcs{Get: get}).
		Build()
}

// As an API server does, which has no namespace for what is of the whole cluster; Karpenter gives one.
func get(ctx context.Context, below client.WithWatch, key client.ObjectKey, object client.Object,
	options ...client.GetOption) error {
	if _, isVolume := object.(*corev1.PersistentVolume); isVolume {
		key.Namespace = ""
	}
	return below.Get(ctx, key, object, options...)
}

// One run. Karpenter's ties hang on the order of the pods and on their uids: as they are given, or drawn.
func (o *oracle) run(random *rand.Rand, drawn bool) (*plan, error) {
	wellKnown.RLock()
	defer wellKnown.RUnlock()
	var objects []client.Object
	for _, object := range o.given.state {
		objects = append(objects, object.DeepCopyObject().(client.Object))
	}
	for at, i := range random.Perm(len(o.given.pods)) {
		if !drawn {
			i = at
		}
		pod := o.given.pods[i].DeepCopy()
		if drawn {
			pod.UID = types.UID(strconv.FormatUint(random.Uint64(), 16))
		}
		objects = append(objects, pod)
	}
	for _, object := range objects {
		complete(object)
		if object.GetUID() == "" {
			object.SetUID(types.UID(strconv.FormatUint(random.Uint64(), 16)))
		}
		if created := object.GetCreationTimestamp(); created.IsZero() {
			object.SetCreationTimestamp(metav1.NewTime(time.Unix(1700000000, 0)))
		}
	}
	kubeClient := o.newClient(objects)
	provider := kwok.NewCloudProvider(o.ctx, kubeClient, o.instanceTypes)
	cluster := state.NewCluster(clock.RealClock{}, kubeClient, provider)
	if err := fill(o.ctx, kubeClient, cluster); err != nil {
		return nil, err
	}
	said := &recorder{messages: map[string]string{}}
	provisioner := provisioning.NewProvisioner(kubeClient, said, provider, cluster, clock.RealClock{},
		nil, nil)
	results, err := provisioner.Schedule(o.ctx)
	if err != nil {
		return nil, err
	}
	result := o.report(results, said)
	o.given.takeOff(result)
	return result, nil
}

// The controllers that feed the cluster state, in one go.
func fill(ctx context.Context, kubeClient client.Client, cluster *state.Cluster) error {
	claims, nodes, pods := &v1.NodeClaimList{}, &corev1.NodeList{}, &corev1.PodList{}
	daemonSets := &appsv1.DaemonSetList{}
	for _, list := range []client.ObjectList{claims, nodes, pods, daemonSets} {
		if err := kubeClient.List(ctx, list); err != nil {
			return err
		}
	}
	for i := range claims.Items {
		cluster.UpdateNodeClaim(&claims.Items[i])
	}
	for i := range nodes.Items {
		if err := cluster.UpdateNode(ctx, &nodes.Items[i]); err != nil {
			return err
		}
	}
	for i := range pods.Items {
		if err := cluster.UpdatePod(ctx, &pods.Items[i]); err != nil {
			return err
		}
	}
	for i := range daemonSets.Items {
		if err := cluster.UpdateDaemonSet(ctx, &daemonSets.Items[i]); err != nil {
			return err
		}
	}
	if !cluster.Synced(ctx) {
		return fmt.Errorf("the cluster state has not taken all nodes and claims")
	}
	return nil
}

func names(pods []*corev1.Pod) []string {
	result := lo.Map(pods, func(pod *corev1.Pod, _ int) string { return podName(pod) })
	sort.Strings(result)
	return result
}

func (o *oracle) report(results scheduling.Results, said *recorder) *plan {
	result := &plan{Schema: "taffrail.dev/plan/v1"}
	placed := map[string]bool{}
	for _, node := range results.ExistingNodes {
		if len(node.Pods) > 0 {
			result.Existing = append(result.Existing, planExisting{node.Name(), names(node.Pods)})
		}
	}
	for _, claim := range results.NewNodeClaims {
		result.Claims = append(result.Claims, claimOf(claim))
		result.UsdPerHour += result.Claims[len(result.Claims)-1].UsdPerHour
	}
	for _, pods := range append(lo.Map(result.Claims, func(claim planClaim, _ int) []string { return claim.Pods }),
		lo.Map(result.Existing, func(node planExisting, _ int) []string { return node.Pods })...) {
		for _, pod := range pods {
			placed[pod] = true
		}
	}
	left := map[string]bool{}
	for pod, err := range results.PodErrors {
		said.messages[podName(pod)] = err.Error()
		left[podName(pod)] = true
	}
	for _, pod := range o.given.pods { // of those on nodes that leave, not all are moved now
		left[podName(pod)] = left[podName(pod)] || pod.Spec.NodeName == "" && !placed[podName(pod)]
	}
	for name, isLeft := range left {
		if isLeft {
			result.Unschedulable = append(result.Unschedulable,
				unschedulable{name, []planReason{{Message: said.messages[name]}}})
		}
	}
	sort.Slice(result.Unschedulable, func(a, b int) bool {
		return result.Unschedulable[a].Pod < result.Unschedulable[b].Pod
	})
	return result
}

func claimOf(claim *scheduling.NodeClaim) planClaim {
	result := planClaim{NodePool: claim.NodePoolName, UsdPerHour: -1, Pods: names(claim.Pods)}
	zones := map[string]bool{}
	for _, instanceType := range claim.InstanceTypeOptions.OrderByPrice(claim.Requirements) {
		result.InstanceTypes = append(result.InstanceTypes, instanceType.Name)
		for _, offering := range instanceType.Offerings.Launchable().Compatible(claim.Requirements) {
			zones[offering.Zone()] = true
			if result.UsdPerHour < 0 || offering.Price < result.UsdPerHour {
				result.UsdPerHour, result.InstanceType = offering.Price, instanceType.Name
				result.Zone, result.CapacityType = offering.Zone(), offering.CapacityType()
			}
		}
	}
	result.Zones = lo.Keys(zones)
	sort.Strings(result.Zones)
	for _, requirement := range claim.Requirements.NodeSelectorRequirements() {
		result.Requirements = append(result.Requirements,
			planRequirement{requirement.Key, string(requirement.Operator), requirement.Values})
	}
	sort.Slice(result.Requirements, func(a, b int) bool {
		return result.Requirements[a].Key < result.Requirements[b].Key
	})
	return result
}

// The first of them is of the pods as they are given.
func (o *oracle) runs(random *rand.Rand, count int) ([]*plan, error) {
	var result []*plan
	for len(result) < count {
		one, err := o.run(random, len(result) > 0)
		if err != nil {
			return nil, err
		}
		result = append(result, one)
	}
	return result, nil
}

func oracleOfFolder(folder string) (*kase, *oracle, error) {
	c, err := readCase(folder)
	if err != nil {
		return nil, nil, err
	}
	o, err := newOracle(c, folder)
	return c, o, err
}
