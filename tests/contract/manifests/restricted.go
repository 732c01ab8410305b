package main

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

// restricted asks Kubernetes' own pod security checks.
func restricted(objects map[string]metav1.Object) (problems []string, err error) {
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return nil, err
	}
	level := api.LevelVersion{Level: api.LevelRestricted, Version: api.LatestVersion()}
	judged := 0
	for key, object := range objects {
		deployment, ok := object.(*appsv1.Deployment)
		if !ok {
			continue
		}
		judged++
		template := deployment.Spec.Template
		for _, result := range evaluator.EvaluatePod(level, &template.ObjectMeta, &template.Spec) {
			if !result.Allowed {
				problems = append(problems, fmt.Sprintf("%s: %s: %s", key, result.ForbiddenReason, result.ForbiddenDetail))
			}
		}
		if profile := template.Spec.SecurityContext.SeccompProfile; profile == nil || profile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			problems = append(problems, key+": its seccomp profile is not the runtime's own")
		}
		for _, container := range template.Spec.Containers {
			context := container.SecurityContext
			if context == nil || context.ReadOnlyRootFilesystem == nil || !*context.ReadOnlyRootFilesystem {
				problems = append(problems, key+": the root file system can be written")
			}
		}
	}
	if judged == 0 {
		return nil, errors.New("there is no Deployment")
	}
	return problems, nil
}
