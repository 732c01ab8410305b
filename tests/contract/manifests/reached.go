package main

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// reached holds the NetworkPolicy to what must get through it: API servers, whose addresses nobody
// knows, at the port that the Service leads to; the cluster's pods at the ops port; nobody at any
// other; and whatever the replicas call themselves.
func reached(objects map[string]metav1.Object) (problems []string, err error) {
	var policy *networkingv1.NetworkPolicy
	var deployment *appsv1.Deployment
	var service *corev1.Service
	for _, object := range objects {
		switch typed := object.(type) {
		case *networkingv1.NetworkPolicy:
			policy = typed
		case *appsv1.Deployment:
			deployment = typed
		case *corev1.Service:
			service = typed
		}
	}
	if policy == nil || deployment == nil || service == nil {
		return nil, errors.New("there is no NetworkPolicy, no Deployment or no Service")
	}
	template := deployment.Spec.Template
	selector, err := metav1.LabelSelectorAsSelector(&policy.Spec.PodSelector)
	if err != nil {
		return nil, err
	}
	if policy.Namespace != deployment.Namespace || !selector.Matches(labels.Set(template.Labels)) {
		problems = append(problems, "the NetworkPolicy does not select the Deployment's pods")
	}
	if types := policy.Spec.PolicyTypes; len(types) != 1 || types[0] != networkingv1.PolicyTypeIngress {
		problems = append(problems, fmt.Sprintf("its types are %v: a rule on egress may cut off the API server", types))
	}
	webhook := service.Spec.Ports[0].TargetPort.StrVal
	want := map[string]string{webhook: "anybody", "ops": "pods"}
	for _, port := range template.Spec.Containers[0].Ports {
		if who := admitted(policy, port.Name); who != want[port.Name] {
			problems = append(problems, fmt.Sprintf("port %s is open to %q, not to %q", port.Name, who, want[port.Name]))
		}
		delete(want, port.Name)
	}
	if len(want) > 0 {
		problems = append(problems, fmt.Sprintf("no container has the ports %v", want))
	}
	return problems, nil
}

// admitted says whom the policy lets in at a port; ports of others would say too much.
func admitted(policy *networkingv1.NetworkPolicy, name string) string {
	who := "nobody"
	for _, rule := range policy.Spec.Ingress {
		if len(rule.Ports) == 0 {
			return "anybody at any port"
		}
		for _, port := range rule.Ports {
			if port.Port == nil || port.Port.StrVal != name || *port.Protocol != corev1.ProtocolTCP {
				continue
			}
			if len(rule.From) == 0 {
				return "anybody"
			}
			who = "pods"
			for _, peer := range rule.From {
				if peer.IPBlock != nil || peer.NamespaceSelector == nil || peer.PodSelector != nil {
					who = fmt.Sprint(peer)
				}
			}
		}
	}
	return who
}
