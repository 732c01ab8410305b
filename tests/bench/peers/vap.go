package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
	apiserver "k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// namespace is that of the Pods that are judged: the plugin looks it up.
const namespace = "shop"

var (
	podKind     = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	podResource = schema.GroupVersionResource{Version: "v1", Resource: "pods"}
)

// policies is the API server's plugin, with informers over a client that holds its policies.
type policies struct {
	plugin     *validating.Plugin
	interfaces apiserver.ObjectInterfaces
	decoder    admission.Decoder
}

// readObjects reads the documents of a YAML file.
func readObjects(path string) ([]runtime.Object, error) {
	file, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var objects []runtime.Object
	decoder := scheme.Codecs.UniversalDeserializer()
	documents := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(file), 4096)
	for {
		var raw runtime.RawExtension
		if err := documents.Decode(&raw); errors.Is(err, io.EOF) {
			return objects, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		object, _, err := decoder.Decode(raw.Raw, nil, nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		objects = append(objects, object)
	}
}

func newPolicies(ctx context.Context, path string) (*policies, error) {
	objects, err := readObjects(path)
	if err != nil {
		return nil, err
	}
	objects = append(objects, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	client := fake.NewClientset(objects...)
	factory := informers.NewSharedInformerFactory(client, 0)
	plugin, err := validating.NewPlugin(nil)
	if err != nil {
		return nil, err
	}
	plugin.SetExternalKubeClientSet(client)
	plugin.SetExternalKubeInformerFactory(factory)
	plugin.SetRESTMapper(meta.NewDefaultRESTMapper(nil))
	plugin.SetDynamicClient(dynamicfake.NewSimpleDynamicClient(scheme.Scheme))
	plugin.SetDrainedNotification(ctx.Done())
	plugin.SetAuthorizer(authorizerfactory.NewAlwaysAllowAuthorizer())
	if err := plugin.ValidateInitialization(); err != nil {
		return nil, err
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	if !plugin.WaitForReady() {
		return nil, errors.New("the plugin does not get ready")
	}
	return &policies{
		plugin:     plugin,
		interfaces: apiserver.NewObjectInterfacesFromScheme(scheme.Scheme),
		decoder:    admission.NewDecoder(scheme.Scheme),
	}, nil
}

func (p *policies) decode(request admission.Request) (*corev1.Pod, error) {
	pod := new(corev1.Pod)
	if err := p.decoder.Decode(request, pod); err != nil {
		return nil, err
	}
	pod.SetGroupVersionKind(podKind) // then the plugin need not convert it
	return pod, nil
}

func (p *policies) judge(ctx context.Context, request admission.Request, pod *corev1.Pod) error {
	attributes := apiserver.NewAttributesRecord(pod, nil, podKind, request.Namespace, request.Name, podResource, "",
		apiserver.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{Name: request.UserInfo.Username})
	return p.plugin.Validate(ctx, attributes, p.interfaces)
}

// Handle is what the front calls.
func (p *policies) Handle(ctx context.Context, request admission.Request) admission.Response {
	pod, err := p.decode(request)
	if err != nil {
		return admission.Errored(http.StatusBadRequest, err)
	}
	err = p.judge(ctx, request, pod)
	var denied *apierrors.StatusError
	switch {
	case err == nil:
		return admission.Allowed("")
	case errors.As(err, &denied):
		return admission.Denied(denied.ErrStatus.Message)
	default:
		return admission.Errored(http.StatusInternalServerError, err)
	}
}
