package main

import (
	"context"
	"encoding/json"
	"fmt"

	aws "github.com/aws/karpenter-provider-aws/pkg/apis/v1"
	"go.uber.org/multierr"
	"k8s.io/utils/clock"
	karpenter "sigs.k8s.io/karpenter/pkg/apis/v1"
)

func read[T any](stored map[string]any, into *T) error {
	bytes, err := json.Marshal(stored)
	if err != nil {
		return err
	}
	return json.Unmarshal(bytes, into)
}

// reconcile asks what Karpenter's controllers ask: whether the object can be read, is valid, and how many
// nodes may be disrupted.
func reconcile(stored map[string]any, result *verdict) error {
	switch kind, _ := stored["kind"].(string); kind {
	case "NodePool":
		pool := &karpenter.NodePool{}
		if err := read(stored, pool); err != nil {
			result.Unreadable = err.Error()
			return nil
		}
		reject(result, multierr.Errors(pool.RuntimeValidate(context.Background()))...)
		const nodes = 10
		for _, budget := range pool.Spec.Disruption.Budgets {
			_, err := budget.GetAllowedDisruptions(clock.RealClock{}, nodes)
			reject(result, multierr.Errors(err)...)
			// The number is read while the budget is active.
			budget.Schedule, budget.Duration = nil, nil
			_, err = budget.GetAllowedDisruptions(clock.RealClock{}, nodes)
			reject(result, multierr.Errors(err)...)
		}
	case "EC2NodeClass":
		class := &aws.EC2NodeClass{}
		if err := read(stored, class); err != nil {
			result.Unreadable = err.Error()
			return nil
		}
		reject(result, aws.ValidateKubeletConfig(class.Spec.Kubelet)...)
	default:
		return fmt.Errorf("no controller is asked about %s", kind)
	}
	return nil
}

func reject(result *verdict, faults ...error) {
	for _, fault := range faults {
		result.Rejected = append(result.Rejected, fault.Error())
	}
}
