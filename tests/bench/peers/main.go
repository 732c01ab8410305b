// peers: the webhooks that taffrail is measured against, on the server of controller-runtime, which most webhooks
// stand on. OPA's server is OPA itself (go.mod has its version).
//
// usage: peers empty|scaffold|vap -certs FOLDER -port PORT [-policy FILE]
//
//	peers vap -policy FILE -count N REVIEW
//
// empty answers "allowed" to every review, and does not look at the object. scaffold is what kubebuilder writes for Pods
// before anybody adds a check: the Pod is decoded, and allowed. vap is the admission plugin ValidatingAdmissionPolicy of
// the API server, with the policies of FILE, behind the same front.
//
// FOLDER has tls.crt and tls.key. With -count nothing is served: the plugin judges the Pod of REVIEW so often after it
// was decoded, as it does in an API server, and the microseconds of CPU that each takes are printed.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"syscall"

	"github.com/go-logr/logr"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// noCheck is kubebuilder's validator as it is generated.
type noCheck struct{}

func (noCheck) ValidateCreate(context.Context, *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

func (noCheck) ValidateUpdate(context.Context, *corev1.Pod, *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

func (noCheck) ValidateDelete(context.Context, *corev1.Pod) (admission.Warnings, error) {
	return nil, nil
}

func hook(ctx context.Context, peer, policy string) (*admission.Webhook, error) {
	switch peer {
	case "empty":
		return &admission.Webhook{Handler: admission.HandlerFunc(
			func(context.Context, admission.Request) admission.Response { return admission.Allowed("") })}, nil
	case "scaffold":
		return admission.WithValidator[*corev1.Pod](scheme.Scheme, noCheck{}), nil
	case "vap":
		policies, err := newPolicies(ctx, policy)
		if err != nil {
			return nil, err
		}
		return &admission.Webhook{Handler: policies}, nil
	}
	return nil, fmt.Errorf("there is no peer %q", peer)
}

func serve(ctx context.Context, peer, policy, certs string, port int) error {
	made, err := hook(ctx, peer, policy)
	if err != nil {
		return err
	}
	server := webhook.NewServer(webhook.Options{Host: "127.0.0.1", Port: port, CertDir: certs})
	server.Register("/validate", made)
	return server.Start(ctx)
}

func cpuMicros() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	micros := func(time syscall.Timeval) float64 { return float64(time.Sec)*1e6 + float64(time.Usec) }
	return micros(usage.Utime) + micros(usage.Stime)
}

// count prints what one judgement of a decoded Pod takes, garbage collection included.
func count(ctx context.Context, policy, path string, times int) error {
	bytes, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var review admissionv1.AdmissionReview
	if err := json.Unmarshal(bytes, &review); err != nil {
		return err
	}
	policies, err := newPolicies(ctx, policy)
	if err != nil {
		return err
	}
	request := admission.Request{AdmissionRequest: *review.Request}
	pod, err := policies.decode(request)
	if err != nil {
		return err
	}
	open := pod.DeepCopy()
	open.Spec.Tolerations = append(open.Spec.Tolerations, corev1.Toleration{Operator: corev1.TolerationOpExists})
	if policies.judge(ctx, request, open) == nil {
		return fmt.Errorf("the policies are not in force: a Pod that tolerates every taint is allowed")
	}
	began := 0.0
	for i := -times / 10; i < times; i++ { // the first tenth warms up
		if i == 0 {
			began = cpuMicros()
		}
		if err := policies.judge(ctx, request, pod); err != nil {
			return fmt.Errorf("%s is denied: %w", path, err)
		}
	}
	fmt.Printf("%.1f\n", (cpuMicros()-began)/float64(times))
	return nil
}

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: peers empty|scaffold|vap -certs FOLDER -port PORT [-policy FILE]")
		os.Exit(2)
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	certs := flags.String("certs", "", "folder with tls.crt and tls.key")
	port := flags.Int("port", 0, "port to listen on")
	policy := flags.String("policy", "", "ValidatingAdmissionPolicies and their bindings")
	times := flags.Int("count", 0, "judge the review so often, and serve nothing")
	_ = flags.Parse(os.Args[2:])
	log.SetLogger(logr.Discard())
	ctx, cancel := context.WithCancel(context.Background()) // the plugin wants one that can end
	defer cancel()
	var err error
	if *times > 0 && flags.NArg() == 1 && os.Args[1] == "vap" {
		err = count(ctx, *policy, flags.Arg(0), *times)
	} else {
		err = serve(ctx, os.Args[1], *policy, *certs, *port)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "peers:", err)
		os.Exit(1)
	}
}
