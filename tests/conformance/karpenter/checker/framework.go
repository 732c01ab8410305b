package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"
	kubeschedulerv1 "k8s.io/kube-scheduler/config/v1"
	fwk "k8s.io/kube-scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/apis/config"
	configscheme "k8s.io/kubernetes/pkg/scheduler/apis/config/scheme"
	"k8s.io/kubernetes/pkg/scheduler/backend/cache"
	"k8s.io/kubernetes/pkg/scheduler/framework"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/defaultbinder"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/feature"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/interpodaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeaffinity"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeports"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/noderesources"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodeunschedulable"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/nodevolumelimits"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/podtopologyspread"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/queuesort"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/tainttoleration"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumebinding"
	"k8s.io/kubernetes/pkg/scheduler/framework/plugins/volumezone"
	frameworkruntime "k8s.io/kubernetes/pkg/scheduler/framework/runtime"
	"k8s.io/kubernetes/pkg/scheduler/metrics"

	utilfeature "k8s.io/apiserver/pkg/util/feature"
)

// The nodes and pods of this moment, behind the lister that kube-scheduler's plugins hold on to.
type moment struct{ *cache.Snapshot }

// scheduler is kube-scheduler's filter plugins over the objects of a case.
type scheduler struct {
	framework framework.Framework
	moment    *moment
	stop      context.CancelFunc
}

func newRegistry() frameworkruntime.Registry {
	features := feature.NewSchedulerFeaturesFromGates(utilfeature.DefaultFeatureGate)
	return frameworkruntime.Registry{
		queuesort.Name:         queuesort.New,
		defaultbinder.Name:     defaultbinder.New,
		interpodaffinity.Name:  frameworkruntime.FactoryAdapter(features, interpodaffinity.New),
		nodeaffinity.Name:      frameworkruntime.FactoryAdapter(features, nodeaffinity.New),
		nodeports.Name:         frameworkruntime.FactoryAdapter(features, nodeports.New),
		noderesources.Name:     frameworkruntime.FactoryAdapter(features, noderesources.NewFit),
		nodeunschedulable.Name: frameworkruntime.FactoryAdapter(features, nodeunschedulable.New),
		podtopologyspread.Name: frameworkruntime.FactoryAdapter(features, podtopologyspread.New),
		tainttoleration.Name:   frameworkruntime.FactoryAdapter(features, tainttoleration.New),
		volumebinding.Name:     frameworkruntime.FactoryAdapter(features, volumebinding.New),
		volumezone.Name:        frameworkruntime.FactoryAdapter(features, volumezone.New),
		nodevolumelimits.CSIName: frameworkruntime.FactoryAdapter(features,
			nodevolumelimits.NewCSI),
	}
}

// The default profile's settings of those plugins.
func newProfile() (*config.KubeSchedulerProfile, error) {
	defaults := kubeschedulerv1.KubeSchedulerConfiguration{}
	configscheme.Scheme.Default(&defaults)
	converted := config.KubeSchedulerConfiguration{}
	if err := configscheme.Scheme.Convert(&defaults, &converted, nil); err != nil {
		return nil, err
	}
	profile := &config.KubeSchedulerProfile{SchedulerName: "default-scheduler", Plugins: &config.Plugins{}}
	profile.PluginConfig = converted.Profiles[0].PluginConfig
	profile.Plugins.QueueSort.Enabled = []config.Plugin{{Name: queuesort.Name}}
	profile.Plugins.Bind.Enabled = []config.Plugin{{Name: defaultbinder.Name}}
	for _, name := range []string{nodeunschedulable.Name, tainttoleration.Name, nodeaffinity.Name,
		nodeports.Name, noderesources.Name, nodevolumelimits.CSIName, volumebinding.Name, volumezone.Name,
		podtopologyspread.Name, interpodaffinity.Name} {
		profile.Plugins.Filter.Enabled = append(profile.Plugins.Filter.Enabled, config.Plugin{Name: name})
		if name != nodeunschedulable.Name && name != tainttoleration.Name {
			profile.Plugins.PreFilter.Enabled = append(profile.Plugins.PreFilter.Enabled,
				config.Plugin{Name: name})
		}
	}
	return profile, nil
}

// objects: everything but Nodes and Pods, which change as pods are bound.
func newScheduler(objects []runtime.Object) (*scheduler, error) {
	ctx, stop := context.WithCancel(klog.NewContext(context.Background(), klog.Logger{}))
	clientset := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(clientset, 0)
	profile, err := newProfile()
	if err != nil {
		stop()
		return nil, err
	}
	result := &scheduler{moment: &moment{cache.NewEmptySnapshot()}, stop: stop}
	result.framework, err = frameworkruntime.NewFramework(ctx, newRegistry(), profile,
		frameworkruntime.WithClientSet(clientset),
		frameworkruntime.WithInformerFactory(factory),
		frameworkruntime.WithSnapshotSharedLister(result.moment),
		frameworkruntime.WithSharedCSIManager(
			nodevolumelimits.NewCSIManager(factory.Storage().V1().CSINodes().Lister())))
	if err != nil {
		stop()
		return nil, fmt.Errorf("kube-scheduler's framework: %w", err)
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return result, nil
}

// Why kube-scheduler would not put the pod on the node; "" when it would.
func (s *scheduler) refuses(pod *corev1.Pod, node string) string {
	ctx := klog.NewContext(context.Background(), klog.Logger{})
	state := framework.NewCycleState()
	result, status, _ := s.framework.RunPreFilterPlugins(ctx, state, pod)
	if !status.IsSuccess() {
		return status.Plugin() + ": " + status.Message()
	}
	if !result.AllNodes() && !result.NodeNames.Has(node) {
		return "PreFilter: another node is asked for"
	}
	info, err := s.moment.NodeInfos().Get(node)
	if err != nil {
		return err.Error()
	}
	var filtered *fwk.Status = s.framework.RunFilterPlugins(ctx, state, pod, info)
	if !filtered.IsSuccess() {
		return filtered.Plugin() + ": " + filtered.Message()
	}
	return ""
}

func (s *scheduler) set(pods []*corev1.Pod, nodes []*corev1.Node) {
	s.moment.Snapshot = cache.NewSnapshot(pods, nodes)
}

func init() { metrics.Register() }
