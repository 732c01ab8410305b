package main

import (
	"fmt"
	"os"

	"github.com/samber/lo"

	provider "sigs.k8s.io/karpenter/kwok/cloudprovider"
	"sigs.k8s.io/karpenter/pkg/cloudprovider/overlay"
	"sigs.k8s.io/karpenter/pkg/controllers"
	"sigs.k8s.io/karpenter/pkg/controllers/node/health"
	"sigs.k8s.io/karpenter/pkg/controllers/state"
	"sigs.k8s.io/karpenter/pkg/operator"
)

// karpenter is wired as Karpenter's own kwok/main.go, which is no package to import.
func karpenter() int {
	ctx, op := operator.NewOperator()
	types, err := provider.ConstructInstanceTypes(ctx)
	if err != nil {
		fmt.Fprintln(os.Stderr, "karpenter: instance types:", err)
		return 1
	}
	cloud := provider.NewCloudProvider(ctx, op.GetClient(), types)
	decorated := overlay.Decorate(cloud, op.GetClient(), op.InstanceTypeStore)
	matcher := lo.Must(health.NewRepairPolicyMatcher(ctx, decorated))
	cluster := state.NewCluster(op.Clock, op.GetClient(), decorated,
		state.WithRepairPolicyMatcher(matcher))
	op.WithControllers(ctx, controllers.NewControllers(ctx, op.Manager, op.Clock, op.GetClient(),
		op.EventRecorder, decorated, cloud, cluster, op.InstanceTypeStore, op.PredictionStore)...).
		Start(ctx)
	return 0
}
