package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/admission/plugin/webhook/predicates/rules"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"
)

// A request, and whether the API server is to ask the webhook about it.
type call struct {
	what        string
	operation   admission.Operation
	resource    schema.GroupVersionResource
	subresource string
	namespace   string // "": cluster-scoped
	user        string
	annotations map[string]any
	want        bool
}

// nobody is a user of no group at all.
const nobody = "system:nobody"

const (
	person = "jane"
	node   = "system:node:ip-10-0-0-1"
)

func core(resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Version: "v1", Resource: resource}
}

func of(group, version, resource string) schema.GroupVersionResource {
	return schema.GroupVersionResource{Group: group, Version: version, Resource: resource}
}

// nodeClaims have an entry of their own, which fails open.
var nodeClaims = of("karpenter.sh", "v1", "nodeclaims")

var (
	mirror = map[string]any{corev1.MirrorPodAnnotationKey: "1f0"}
	plain  = map[string]any{"team": "shop"}
	table  = []call{
		{"a Pod", admission.Create, core("pods"), "", "web", person, nil, true},
		{"an annotated Pod", admission.Create, core("pods"), "", "web", person, plain, true},
		{"a Pod of a ReplicaSet", admission.Create, core("pods"), "", "web",
			"system:serviceaccount:kube-system:replicaset-controller", nil, true},
		{"a change of a Pod", admission.Update, core("pods"), "", "web", person, nil, true},
		{"a Deployment", admission.Create, of("apps", "v1", "deployments"), "", "web", person, nil, true},
		{"a StatefulSet", admission.Update, of("apps", "v1", "statefulsets"), "", "web", person, nil, true},
		{"a CronJob", admission.Create, of("batch", "v1", "cronjobs"), "", "web", person, nil, true},
		{"a ReplicationController", admission.Create, core("replicationcontrollers"), "", "web", person, nil, true},
		{"a NodePool", admission.Update, of("karpenter.sh", "v1", "nodepools"), "", "", person, nil, true},
		{"a Pod of a user without groups", admission.Create, core("pods"), "", "web", nobody, nil, true},
		{"a Deployment that says it is a mirror pod", admission.Create, of("apps", "v1", "deployments"), "", "web",
			person, mirror, true},
		{"a NodePool that says so", admission.Create, of("karpenter.sh", "v1", "nodepools"), "", "", person, mirror, true},
		{"an older NodePool", admission.Create, of("karpenter.sh", "v1beta1", "nodepools"), "", "", person, nil, true},

		{"a mirror pod", admission.Create, core("pods"), "", "web", node, mirror, false},
		{"a change of a mirror pod", admission.Update, core("pods"), "", "web", person, mirror, false},
		{"a Pod that a node changes", admission.Update, core("pods"), "", "web", node, nil, false},
		{"a Pod's status", admission.Update, core("pods"), "status", "web", node, nil, false},
		{"a Pod's binding", admission.Create, core("pods"), "binding", "web", "system:kube-scheduler", nil, false},
		{"an eviction", admission.Create, core("pods"), "eviction", "web", person, nil, false},
		{"a debug container", admission.Update, core("pods"), "ephemeralcontainers", "web", person, nil, false},
		{"a Pod's end", admission.Delete, core("pods"), "", "web", person, nil, false},
		{"an exec", admission.Connect, core("pods"), "exec", "web", person, nil, false},
		{"a Deployment's status", admission.Update, of("apps", "v1", "deployments"), "status", "web", person, nil, false},
		{"a NodeClaim, which the other entry is for", admission.Create, nodeClaims, "", "", person, nil, false},
		{"a Lease", admission.Update, of("coordination.k8s.io", "v1", "leases"), "", "web", person, nil, false},
		{"a Node", admission.Create, core("nodes"), "", "", person, nil, false},
		{"a Node's heartbeat", admission.Update, core("nodes"), "status", "", node, nil, false},
		{"a Secret", admission.Create, core("secrets"), "", "web", person, nil, false},
		{"an Event", admission.Create, core("events"), "", "web", person, nil, false},
		{"a Namespace", admission.Create, core("namespaces"), "", "web", person, nil, false},
		{"a changed volume", admission.Update, core("persistentvolumes"), "", "", person, nil, false},
		{"a changed claim", admission.Update, core("persistentvolumeclaims"), "", "web", person, nil, false},
		{"a Pod in kube-system", admission.Create, core("pods"), "", "kube-system", person, nil, false},
		{"a Pod in kube-node-lease", admission.Create, core("pods"), "", "kube-node-lease", person, nil, false},
		{"a Pod in kube-public", admission.Create, core("pods"), "", "kube-public", person, nil, false},
	}
	// What the entry of NodeClaims is for, and what it leaves to the other.
	claimTable = []call{
		{"a NodeClaim", admission.Create, nodeClaims, "", "", person, nil, true},
		{"Karpenter's NodeClaim", admission.Create, nodeClaims, "", "", "system:serviceaccount:karpenter:karpenter", nil, true},
		{"an older NodeClaim", admission.Create, of("karpenter.sh", "v1beta1", "nodeclaims"), "", "", person, nil, true},
		{"a changed NodeClaim", admission.Update, nodeClaims, "", "", person, nil, false},
		{"a NodeClaim's status", admission.Update, nodeClaims, "status", "", person, nil, false},
		{"a NodeClaim's end", admission.Delete, nodeClaims, "", "", person, nil, false},
		{"a NodePool", admission.Create, of("karpenter.sh", "v1", "nodepools"), "", "", person, nil, false},
		{"a Pod", admission.Create, core("pods"), "", "web", person, nil, false},
	}
	// Only where a rail judges them.
	optional = map[string]call{
		"deployments/scale": {"a Deployment's scale", admission.Update, of("apps", "v1", "deployments"), "scale", "web",
			person, nil, true},
		"statefulsets/scale": {"a StatefulSet's scale, by an autoscaler", admission.Update,
			of("apps", "v1", "statefulsets"), "scale", "web",
			"system:serviceaccount:kube-system:horizontal-pod-autoscaler", nil, true},
		"nodepools/scale": {"a static NodePool's scale", admission.Update, of("karpenter.sh", "v1", "nodepools"), "scale", "",
			person, nil, true},
		"priorityclasses": {"a changed PriorityClass", admission.Update, of("scheduling.k8s.io", "v1", "priorityclasses"),
			"", "", person, nil, true},
		"namespaces":  {"a Namespace's end", admission.Delete, core("namespaces"), "", "", person, nil, true},
		"pods/resize": {"a Pod's resize", admission.Update, core("pods"), "resize", "web", person, nil, true},
		"storageclasses": {"a StorageClass", admission.Create, of("storage.k8s.io", "v1", "storageclasses"),
			"", "", person, nil, true},
		"persistentvolumeclaims": {"a claim", admission.Create, core("persistentvolumeclaims"), "", "web",
			person, nil, true},
	}
)

func (c call) attributes() admission.Attributes {
	// A nil interface, as the API server has it when there is no object.
	var object, old runtime.Object
	var options runtime.Object
	if c.operation == admission.Delete {
		old = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "X",
			"metadata": map[string]any{"name": "x"}}}
		options = &metav1.DeleteOptions{}
	} else {
		metadata := map[string]any{"name": "x"}
		if c.annotations != nil {
			metadata["annotations"] = c.annotations
		}
		object = &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "X", "metadata": metadata}}
	}
	groups := []string{user.AllAuthenticated}
	if c.user == nobody {
		groups = nil
	}
	if strings.HasPrefix(c.user, "system:node:") {
		groups = append(groups, user.NodesGroup)
	}
	return admission.NewAttributesRecord(object, old, schema.GroupVersionKind{Version: "v1", Kind: "X"},
		c.namespace, "x", c.resource, c.subresource, c.operation, options, false,
		&user.DefaultInfo{Name: c.user, Groups: groups})
}

// called asks the API server's own code, in the order in which it asks itself.
func called(hook webhook.WebhookAccessor, compiler cel.ConditionCompiler, attributes admission.Attributes) (bool, error) {
	if namespace := attributes.GetNamespace(); namespace != "" {
		selector, err := hook.GetParsedNamespaceSelector()
		if err != nil {
			return false, err
		}
		if !selector.Matches(labels.Set{corev1.LabelMetadataName: namespace}) {
			return false, nil
		}
	}
	for _, rule := range hook.GetRules() {
		if (&rules.Matcher{Rule: rule, Attr: attributes}).Matches() {
			return meetsConditions(hook, compiler, attributes)
		}
	}
	return false, nil
}

func meetsConditions(hook webhook.WebhookAccessor, compiler cel.ConditionCompiler,
	attributes admission.Attributes) (bool, error) {
	versioned := &admission.VersionedAttributes{
		Attributes:         attributes,
		VersionedObject:    attributes.GetObject(),
		VersionedOldObject: attributes.GetOldObject(),
		VersionedKind:      attributes.GetKind(),
	}
	result := hook.GetCompiledMatcher(compiler).Match(context.Background(), versioned, nil, nil)
	return result.Matches, result.Error
}

// conditions asks what the rules keep away, too: a condition must have an answer for everything.
func conditions(hook webhook.WebhookAccessor) (problems []string) {
	compiler := cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	for _, c := range table {
		wanted := !strings.HasPrefix(c.user, "system:node:") &&
			(c.annotations[corev1.MirrorPodAnnotationKey] == nil || c.resource != core("pods"))
		met, err := meetsConditions(hook, compiler, c.attributes())
		if err != nil || met != wanted {
			problems = append(problems, fmt.Sprintf("%s: the conditions for %s: %t, wanted %t (%v)",
				hook.GetName(), c, met, wanted, err))
		}
	}
	return problems
}

func (c call) String() string {
	return fmt.Sprintf("%s (%s %s %s)", c.what, c.operation, c.resource.Resource, c.subresource)
}

func compare(hook webhook.WebhookAccessor, cases []call, wanted func(call) bool) (problems []string, err error) {
	compiler := cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	for _, c := range cases {
		got, err := called(hook, compiler, c.attributes())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c, err)
		}
		if want := wanted(c); got != want {
			problems = append(problems, fmt.Sprintf("%s: %s: called %t, wanted %t", hook.GetName(), c, got, want))
		}
	}
	return problems, nil
}

// A created Pod that is judged is changed, too, and nothing else is.
func isChanged(c call) bool {
	return c.want && c.operation == admission.Create && c.resource == core("pods")
}

func calls(objects map[string]metav1.Object) (problems []string, err error) {
	found, ok := objects["ValidatingWebhookConfiguration /taffrail"].(*admissionregistrationv1.ValidatingWebhookConfiguration)
	if !ok || len(found.Webhooks) != 2 {
		return nil, errors.New("there is no ValidatingWebhookConfiguration taffrail with two webhooks")
	}
	changing, ok := objects["MutatingWebhookConfiguration /taffrail"].(*admissionregistrationv1.MutatingWebhookConfiguration)
	if !ok || len(changing.Webhooks) != 1 {
		return nil, errors.New("there is no MutatingWebhookConfiguration taffrail with one webhook")
	}
	hook, changer := found.Webhooks[0].DeepCopy(), changing.Webhooks[0].DeepCopy()
	if !reflect.DeepEqual(hook.ClientConfig.CABundle, changer.ClientConfig.CABundle) {
		problems = append(problems, "the two webhooks trust different CAs")
	}
	claims := found.Webhooks[1].DeepCopy()
	if !reflect.DeepEqual(hook.ClientConfig, claims.ClientConfig) {
		problems = append(problems, "the entry of NodeClaims asks somebody else")
	}
	if *claims.FailurePolicy != admissionregistrationv1.Ignore {
		problems = append(problems, "without an answer no NodeClaim is made")
	}
	// So that a condition that cannot be evaluated is an error.
	fail := admissionregistrationv1.Fail
	hook.FailurePolicy, changer.FailurePolicy = &fail, &fail

	cases := append([]call{}, table...)
	cases = append(cases, call{"a Pod of the webhook's own", admission.Create, core("pods"), "",
		hook.ClientConfig.Service.Namespace, person, nil, false})
	for _, rule := range hook.Rules {
		for _, resource := range rule.Resources {
			if c, found := optional[resource]; found {
				cases = append(cases, c)
			}
		}
	}
	judged, err := compare(webhook.NewValidatingWebhookAccessor("uid", found.Name, hook), cases,
		func(c call) bool { return c.want })
	if err != nil {
		return nil, err
	}
	if len(claims.Rules) > 0 {
		asked, err := compare(webhook.NewValidatingWebhookAccessor("uid", found.Name, claims), claimTable,
			func(c call) bool { return c.want })
		if err != nil {
			return nil, err
		}
		problems = append(problems, asked...)
	}
	problems = append(problems, conditions(webhook.NewValidatingWebhookAccessor("uid", found.Name, hook))...)
	problems = append(problems, conditions(webhook.NewMutatingWebhookAccessor("uid", changing.Name, changer))...)
	changed, err := compare(webhook.NewMutatingWebhookAccessor("uid", changing.Name, changer), cases, isChanged)
	if err != nil {
		return nil, err
	}
	problems = append(append(problems, judged...), changed...)
	if len(problems) == 0 {
		fmt.Printf("%d requests as they should be\n", len(cases))
	}
	return problems, nil
}
