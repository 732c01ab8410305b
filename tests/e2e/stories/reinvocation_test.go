package stories

import (
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// labeller is another webhook, which labels every pod once.
func labeller(writer http.ResponseWriter, request *http.Request) {
	var review admissionv1.AdmissionReview
	var pod corev1.Pod
	if err := json.NewDecoder(request.Body).Decode(&review); err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	if err := json.Unmarshal(review.Request.Object.Raw, &pod); err != nil {
		http.Error(writer, err.Error(), http.StatusBadRequest)
		return
	}
	review.Response = &admissionv1.AdmissionResponse{UID: review.Request.UID, Allowed: true}
	if pod.Labels["second"] == "" {
		kind := admissionv1.PatchTypeJSONPatch
		review.Response.PatchType = &kind
		review.Response.Patch = []byte(`[{"op": "add", "path": "/metadata/labels/second", "value": "been"}]`)
	}
	review.Request = nil
	_ = json.NewEncoder(writer).Encode(review)
}

// installLabeller installs it so that it comes after Taffrail, for one namespace.
func (w *world) installLabeller(t *testing.T, namespace string) {
	t.Helper()
	certificate, key, authority, err := w.plane.ServerKeys()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(labeller))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{keys}}
	server.StartTLS()
	t.Cleanup(server.Close)
	url := server.URL + "/"
	none := admissionregistrationv1.SideEffectClassNone
	configuration := &admissionregistrationv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: "zz-second"},
		Webhooks: []admissionregistrationv1.MutatingWebhook{{
			Name:         "second.e2e.taffrail.dev",
			ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: authority},
			Rules: []admissionregistrationv1.RuleWithOperations{{
				Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
				Rule: admissionregistrationv1.Rule{
					APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"},
				},
			}},
			NamespaceSelector: &metav1.LabelSelector{
				MatchLabels: map[string]string{corev1.LabelMetadataName: namespace},
			},
			SideEffects:             &none,
			AdmissionReviewVersions: []string{"v1"},
		}},
	}
	client := w.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	if _, err = client.Create(w.ctx, configuration, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		err := client.Delete(w.ctx, "zz-second", metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})
	probe := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: namespace, Labels: map[string]string{"a": "b"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "none"}}},
	}
	w.eventually(t, "the second webhook", func() error {
		pod, err := w.client.CoreV1().Pods(namespace).Create(w.ctx, probe,
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && pod.Labels["second"] != "been" {
			err = fmt.Errorf("the pod has the labels %v", pod.Labels)
		}
		return err
	})
}

// A claim and its volume in a zone, with a Node there.
func boundClaimYAML(namespace, zone string) string {
	return fmt.Sprintf(`apiVersion: v1
kind: Node
metadata: {name: node-%[2]s, labels: {topology.kubernetes.io/zone: %[2]s, kubernetes.io/hostname: node-%[2]s}}
spec: {unschedulable: true}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: %[1]s}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: by-hand
  csi: {driver: disks.e2e.taffrail.dev, volumeHandle: %[1]s}
  claimRef: {namespace: %[1]s, name: data}
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [%[2]s]}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: %[1]s}
spec:
  storageClassName: by-hand
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
`, namespace, zone)
}

const mountsData = `volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]`

// withBoundClaim makes a namespace with a claim "data" in a zone, which the guard has seen to be bound.
func (w *world) withBoundClaim(t *testing.T, zone string) string {
	t.Helper()
	space := w.namespace(t, nil)
	w.admin(t, boundClaimYAML(space, zone), "apply", "-f", "-").works(t)
	t.Cleanup(func() {
		w.admin(t, "", "delete", "pv/"+space, "node/node-"+zone, "--wait=false", "--ignore-not-found").works(t)
	})
	w.eventually(t, "the pin", func() error {
		said := w.kubectl(t, podYAML(space, "name: probe, labels: {a: b}", mountsData), "create", "--dry-run=server",
			"-f", "-", "-o", "jsonpath={.metadata.annotations.taffrail\\.dev/zone}").works(t).stdout
		if said != zone {
			return fmt.Errorf("the pod is pinned to %q", said)
		}
		return nil
	})
	return space
}

func TestAnotherWebhookChangesPodsToo(t *testing.T) {
	space := shared.withBoundClaim(t, "test-zone-z")
	shared.installLabeller(t, space)
	shared.kubectl(t, podYAML(space, "name: ledger, labels: {a: b}", mountsData), "create", "-f", "-").works(t).
		says(t, "Warning: [zone-pin] added a node selection by zone test-zone-z (volume)")
	pod, err := shared.client.CoreV1().Pods(space).Get(shared.ctx, "ledger", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if pod.Labels["second"] != "been" || pod.Spec.NodeSelector[corev1.LabelTopologyZone] != "test-zone-z" ||
		pod.Annotations["taffrail.dev/zone-source"] != "volume" || len(pod.Spec.NodeSelector) != 1 {
		t.Errorf("labels %v, annotations %v, selecting %v", pod.Labels, pod.Annotations, pod.Spec.NodeSelector)
	}
	rounds := map[string]string{}
	for _, event := range shared.auditEvents(t, space, "pods") {
		if event.Verb != "create" || event.RequestURI == "" || strings.Contains(event.RequestURI, "dryRun") {
			continue
		}
		for key, value := range event.Annotations {
			if strings.HasPrefix(key, "mutation.webhook.admission.k8s.io/") && strings.Contains(value, "changes.taffrail.dev") {
				rounds[key] = value
			}
		}
	}
	if len(rounds) != 2 {
		t.Errorf("Taffrail was to be asked in two rounds: %v", rounds)
	}
	for key, value := range rounds {
		if changed := strings.Contains(value, `"mutated":true`); changed != strings.Contains(key, "round_0") {
			t.Errorf("it was to change the pod in the first round alone: %s %s", key, value)
		}
	}
}
