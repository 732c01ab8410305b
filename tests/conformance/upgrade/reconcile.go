package main

import (
	"context"
	"encoding/json"
	"errors"
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
		if len(result.Rejected) == 0 {
			reject(result, validateForImages(class)...)
		}
	default:
		return fmt.Errorf("no controller is asked about %s", kind)
	}
	return nil
}

// validateForImages asks what pkg/controllers/nodeclass/validation.go asks next, with the feature gates of the
// defaults: whether there are expressions, and whether the images take the settings. That package is not to be
// imported without all of its clients of AWS.
func validateForImages(class *aws.EC2NodeClass) []error {
	parsed, err := aws.ParseKubeletConfig(class.Spec.Kubelet)
	if err != nil {
		return []error{err}
	}
	if parsed.HasExpressions() {
		return []error{errors.New("the gate NodeClassCEL is off")}
	}
	var faults []error
	switch family := class.AMIFamily(); family {
	case aws.AMIFamilyAL2023, aws.AMIFamilyCustom:
	default:
		for _, field := range aws.UnmanagedKubeletFields(class.Spec.Kubelet) {
			faults = append(faults, fmt.Errorf("%s does not take %s", family, field))
		}
		if parsed.PodsPerCore != nil && family == aws.AMIFamilyBottlerocket {
			faults = append(faults, errors.New("Bottlerocket does not take podsPerCore"))
		}
		if len(parsed.ClusterDNS) > 1 {
			faults = append(faults, fmt.Errorf("%s takes one clusterDNS", family))
		}
	}
	return faults
}

func reject(result *verdict, faults ...error) {
	for _, fault := range faults {
		result.Rejected = append(result.Rejected, fault.Error())
	}
}
