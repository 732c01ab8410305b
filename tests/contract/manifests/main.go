// The install manifests, judged by Kubernetes' own code: types decoded strictly, and the API
// server's matching of requests to webhooks.
//
//	manifests build DIR  what kustomize makes of a folder
//	manifests same A B   the two streams hold the same objects, but for entries of webhooks that nothing is sent to
//	manifests calls A    the API server would call the webhook for what it should, and not else
//	manifests restricted A   its pods satisfy the restricted pod security standard
//	manifests reached A      its NetworkPolicy lets in who must get in
//	manifests show A     the objects of a stream, as indented JSON, by kind and name
package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"sort"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

var kinds = map[metav1.TypeMeta]func() metav1.Object{
	{APIVersion: "v1", Kind: "Namespace"}:                  func() metav1.Object { return &corev1.Namespace{} },
	{APIVersion: "v1", Kind: "ServiceAccount"}:             func() metav1.Object { return &corev1.ServiceAccount{} },
	{APIVersion: "v1", Kind: "ConfigMap"}:                  func() metav1.Object { return &corev1.ConfigMap{} },
	{APIVersion: "v1", Kind: "Service"}:                    func() metav1.Object { return &corev1.Service{} },
	{APIVersion: "apps/v1", Kind: "Deployment"}:            func() metav1.Object { return &appsv1.Deployment{} },
	{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"}: func() metav1.Object { return &policyv1.PodDisruptionBudget{} },
	{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"}: func() metav1.Object {
		return &networkingv1.NetworkPolicy{}
	},
	{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRole"}: func() metav1.Object {
		return &rbacv1.ClusterRole{}
	},
	{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "ClusterRoleBinding"}: func() metav1.Object {
		return &rbacv1.ClusterRoleBinding{}
	},
	{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "Role"}:        func() metav1.Object { return &rbacv1.Role{} },
	{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"}: func() metav1.Object { return &rbacv1.RoleBinding{} },
	{APIVersion: "cert-manager.io/v1", Kind: "Issuer"}:                func() metav1.Object { return &certmanagerv1.Issuer{} },
	{APIVersion: "cert-manager.io/v1", Kind: "Certificate"}:           func() metav1.Object { return &certmanagerv1.Certificate{} },
	{APIVersion: "admissionregistration.k8s.io/v1", Kind: "ValidatingWebhookConfiguration"}: func() metav1.Object {
		return &admissionregistrationv1.ValidatingWebhookConfiguration{}
	},
	{APIVersion: "admissionregistration.k8s.io/v1", Kind: "MutatingWebhookConfiguration"}: func() metav1.Object {
		return &admissionregistrationv1.MutatingWebhookConfiguration{}
	},
}

// read decodes a YAML stream; an unknown field, a duplicate key, an unknown kind is an error.
func read(path string) (map[string]metav1.Object, error) {
	stream, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	objects := map[string]metav1.Object{}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(stream)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, err
		}
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal(document, &kind); err != nil {
			return nil, err
		}
		create, known := kinds[kind]
		if !known {
			return nil, fmt.Errorf("%s: %v is not expected in the install", path, kind)
		}
		object := create()
		if err := yaml.UnmarshalStrict(document, object); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", path, kind.Kind, err)
		}
		key := kind.Kind + " " + object.GetNamespace() + "/" + object.GetName()
		if objects[key] != nil {
			return nil, fmt.Errorf("%s: %s stands there twice", path, key)
		}
		objects[key] = object
	}
}

func text(object any) string {
	indented, err := json.MarshalIndent(object, "", "  ")
	if err != nil {
		return err.Error()
	}
	return string(indented)
}

// withoutIdle removes the entries of validating webhooks that nothing is sent to, for want of rules. The chart has one for
// each group of rails, and the other forms have none.
func withoutIdle(objects map[string]metav1.Object) map[string]metav1.Object {
	for _, object := range objects {
		if configuration, ok := object.(*admissionregistrationv1.ValidatingWebhookConfiguration); ok {
			configuration.Webhooks = slices.DeleteFunc(configuration.Webhooks,
				func(webhook admissionregistrationv1.ValidatingWebhook) bool { return len(webhook.Rules) == 0 })
		}
	}
	return objects
}

func same(a, b map[string]metav1.Object) (problems []string) {
	for key := range b {
		if a[key] == nil {
			problems = append(problems, key+" is only in the second")
		}
	}
	for key, object := range a {
		switch {
		case b[key] == nil:
			problems = append(problems, key+" is only in the first")
		case !reflect.DeepEqual(object, b[key]):
			problems = append(problems, fmt.Sprintf("%s differs; the first:\n%s\nthe second:\n%s",
				key, text(object), text(b[key])))
		}
	}
	sort.Strings(problems)
	return problems
}

func run() (problems []string, err error) {
	if len(os.Args) < 3 {
		return nil, errors.New("usage: manifests build|same|calls|restricted|reached|show FILE ...")
	}
	if os.Args[1] == "build" {
		return nil, build(os.Args[2])
	}
	first, err := read(os.Args[2])
	if err != nil {
		return nil, err
	}
	switch os.Args[1] {
	case "same":
		if len(os.Args) != 4 {
			return nil, errors.New("same wants two files")
		}
		second, err := read(os.Args[3])
		if err != nil {
			return nil, err
		}
		return same(withoutIdle(first), withoutIdle(second)), nil
	case "calls":
		return calls(withoutIdle(first))
	case "restricted":
		return restricted(first)
	case "reached":
		return reached(first)
	case "show":
		fmt.Println(text(first))
		return nil, nil
	}
	return nil, fmt.Errorf("%q is none of build, same, calls, restricted, reached, show", os.Args[1])
}

func main() {
	problems, err := run()
	for _, problem := range problems {
		fmt.Println(problem)
	}
	if err != nil {
		fmt.Println(err)
	}
	if err != nil || len(problems) > 0 {
		os.Exit(1)
	}
}
