package stories

import (
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"taffrail.dev/tests/e2e/plane"
)

var answersLock sync.Mutex

// A webhook that gives every answer of the tables, each under a path of its own.
type answering struct {
	server, stranger *httptest.Server // stranger has a certificate that nobody has signed
	nobody           string           // where nobody listens
	authority        string
}

func newAnswering(t *testing.T, w *world) *answering {
	t.Helper()
	certificate, key, authority, err := w.plane.ServerKeys()
	if err != nil {
		t.Fatal(err)
	}
	keys, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	port, err := plane.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	a := &answering{
		server:    httptest.NewUnstartedServer(http.HandlerFunc(giveAnswer)),
		stranger:  httptest.NewUnstartedServer(http.HandlerFunc(giveAnswer)),
		nobody:    fmt.Sprintf("https://127.0.0.1:%d", port),
		authority: string(authority),
	}
	a.server.TLS = &tls.Config{Certificates: []tls.Certificate{keys}}
	for _, server := range []*httptest.Server{a.server, a.stranger} {
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that fail are wanted
		server.StartTLS()
		t.Cleanup(server.Close)
	}
	return a
}

func answers() []answer { return append(append([]answer{}, bodies...), transports...) }

// giveAnswer gives the answer that the path names; as all that speak of admission, to a POST alone.
func giveAnswer(writer http.ResponseWriter, request *http.Request) {
	var asked admissionv1.AdmissionReview
	if request.Method != http.MethodPost {
		http.Error(writer, "POST it", http.StatusMethodNotAllowed)
		return
	}
	if err := json.NewDecoder(request.Body).Decode(&asked); err != nil || asked.Request == nil {
		http.Error(writer, "no review", http.StatusBadRequest)
		return
	}
	name := strings.TrimPrefix(request.URL.Path, "/")
	for _, a := range answers() {
		if a.name != name {
			continue
		}
		uid := string(asked.Request.UID)
		if a.serve != nil {
			a.serve(writer, strings.Replace(right, "UID", uid, 1))
			return
		}
		writer.Header().Set("Content-Type", "application/json")
		if a.status != 0 {
			writer.WriteHeader(a.status)
		}
		_, _ = io.WriteString(writer, strings.Replace(a.body, "UID", uid, 1))
		return
	}
	http.NotFound(writer, request)
}

// One answer, in one phase, under one failure policy.
type ask struct {
	answer
	in     phase
	policy admissionregistrationv1.FailurePolicyType
}

func asks() []ask {
	var all []ask
	for _, a := range answers() {
		for _, in := range []phase{mutating, validating} {
			if a.phase != both && a.phase != in {
				continue
			}
			for _, policy := range []admissionregistrationv1.FailurePolicyType{
				admissionregistrationv1.Ignore, admissionregistrationv1.Fail,
			} {
				all = append(all, ask{a, in, policy})
			}
		}
	}
	return all
}

func (a ask) object() string {
	return fmt.Sprintf("%s-%s-%s", a.name, a.in, strings.ToLower(string(a.policy)))
}

func (a ask) webhook() string { return a.object() + ".e2e.taffrail.dev" }

// registration is the webhook of an ask; a validating one has the same fields.
func (a ask) registration(server *answering, namespace string) admissionregistrationv1.MutatingWebhook {
	url, bundle := server.server.URL, server.authority
	if a.url != nil {
		url, bundle = a.url(server)
	}
	url += "/" + a.name
	seconds := a.seconds
	if seconds == 0 {
		seconds = 5
	}
	operation := admissionregistrationv1.Create
	if a.delete {
		operation = admissionregistrationv1.Delete
	}
	none := admissionregistrationv1.SideEffectClassNone
	return admissionregistrationv1.MutatingWebhook{
		Name:         a.webhook(),
		ClientConfig: admissionregistrationv1.WebhookClientConfig{URL: &url, CABundle: []byte(bundle)},
		Rules: []admissionregistrationv1.RuleWithOperations{{
			Operations: []admissionregistrationv1.OperationType{operation},
			Rule: admissionregistrationv1.Rule{
				APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"configmaps"},
			},
		}},
		FailurePolicy:           &a.policy,
		NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelMetadataName: namespace}},
		ObjectSelector:          &metav1.LabelSelector{MatchLabels: map[string]string{"ask": a.object()}},
		SideEffects:             &none,
		TimeoutSeconds:          &seconds,
		AdmissionReviewVersions: []string{"v1"},
	}
}

func (w *world) registerAsks(t *testing.T, server *answering, namespace string) {
	t.Helper()
	meta := metav1.ObjectMeta{Name: "answers"}
	mutators := &admissionregistrationv1.MutatingWebhookConfiguration{ObjectMeta: meta}
	validators := &admissionregistrationv1.ValidatingWebhookConfiguration{ObjectMeta: meta}
	for _, a := range asks() {
		m := a.registration(server, namespace)
		if a.in == mutating {
			mutators.Webhooks = append(mutators.Webhooks, m)
			continue
		}
		validators.Webhooks = append(validators.Webhooks, admissionregistrationv1.ValidatingWebhook{
			Name: m.Name, ClientConfig: m.ClientConfig, Rules: m.Rules, FailurePolicy: m.FailurePolicy,
			NamespaceSelector: m.NamespaceSelector, ObjectSelector: m.ObjectSelector, SideEffects: m.SideEffects,
			TimeoutSeconds: m.TimeoutSeconds, AdmissionReviewVersions: m.AdmissionReviewVersions,
		})
	}
	client := w.client.AdmissionregistrationV1()
	t.Cleanup(func() {
		w.admin(t, "", "delete", "--ignore-not-found", "mutatingwebhookconfiguration/answers",
			"validatingwebhookconfiguration/answers").works(t)
	})
	if _, err := client.MutatingWebhookConfigurations().Create(w.ctx, mutators, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := client.ValidatingWebhookConfigurations().Create(w.ctx, validators, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	// The API server takes note of each of the two as a whole.
	for _, a := range asks() {
		if a.name == "patch-and-denied" || (a.name == "denied-without-code" && a.in == validating) {
			w.eventually(t, "that "+a.webhook()+" is asked", func() error {
				if _, err := a.put(w, namespace); err == nil {
					return errors.New("it is not asked yet")
				}
				return nil
			})
		}
	}
}

// put has the API server ask the webhook, and keep nothing.
func (a ask) put(w *world, namespace string) (*corev1.ConfigMap, error) {
	dry := []string{metav1.DryRunAll}
	maps := w.client.CoreV1().ConfigMaps(namespace)
	object := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: a.object(), Labels: map[string]string{"ask": a.object()},
			Finalizers: []string{"e2e.taffrail.dev/none"}},
		Data: map[string]string{"a": "b"},
	}
	if !a.delete {
		return maps.Create(w.ctx, object, metav1.CreateOptions{DryRun: dry})
	}
	object.Finalizers = nil
	if _, err := maps.Create(w.ctx, object, metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("what is to be deleted cannot be created: %w", err)
	}
	return nil, maps.Delete(w.ctx, a.object(), metav1.DeleteOptions{DryRun: dry})
}

// judge says what is not as the class of the answer wants it.
func (a ask) judge(object *corev1.ConfigMap, err error) error {
	said := ""
	if err != nil {
		said = err.Error()
	}
	called := strings.Contains(said, fmt.Sprintf("failed calling webhook %q", a.webhook()))
	passes := a.class == taken || (a.class == noAnswer && a.policy == admissionregistrationv1.Ignore)
	switch {
	case passes && err != nil:
		return fmt.Errorf("was refused: %w", err)
	case passes:
		if a.becomes != nil && !apiequality.Semantic.DeepEqual(object.Data, a.becomes) {
			return fmt.Errorf("the object has the data %v", object.Data)
		}
		return nil
	case err == nil:
		return errors.New("was let through")
	case a.class == rejection:
		return a.judgeDenial(err)
	case !apierrors.IsInternalError(err) || called != (a.class == noAnswer) || !strings.Contains(said, a.said):
		return fmt.Errorf("was refused with other words than %q: %w", a.said, err)
	}
	return nil
}

func (a ask) judgeDenial(err error) error {
	var refused apierrors.APIStatus
	if !errors.As(err, &refused) {
		return err
	}
	got, want := refused.Status(), a.denial
	explained := ": "
	if want.Message == "without explanation" {
		explained = " "
	}
	want.Message = fmt.Sprintf("admission webhook %q denied the request%s%s", a.webhook(), explained, want.Message)
	want.Status = metav1.StatusFailure
	if !apiequality.Semantic.DeepEqual(got, want) {
		return fmt.Errorf("the client is told\n%+v instead of\n%+v", got, want)
	}
	return nil
}

// What the API server has counted of a webhook, by its kind of trouble ("" of one that failed open).
type webhookCount struct{ name, trouble string }

var countLine = regexp.MustCompile(`(?m)^apiserver_admission_webhook_(rejection|fail_open|request)_(?:count|total)\{(.*)\} (\S+)$`)
var labelOf = regexp.MustCompile(`(\w+)="([^"]*)"`)

func (w *world) webhookCounts(t *testing.T) map[webhookCount]int {
	t.Helper()
	page, err := w.client.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(w.ctx)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[webhookCount]int{}
	for _, line := range countLine.FindAllStringSubmatch(string(page), -1) {
		labels := map[string]string{}
		for _, label := range labelOf.FindAllStringSubmatch(line[2], -1) {
			labels[label[1]] = label[2]
		}
		value, err := strconv.ParseFloat(line[3], 64)
		if err != nil {
			t.Fatalf("%s: %v", line[0], err)
		}
		trouble := labels["error_type"]
		if line[1] != "rejection" {
			trouble = line[1]
		}
		counts[webhookCount{labels["name"], trouble}] += int(value)
	}
	return counts
}

// Every wrong answer that a webhook can give, and what the API server makes of it with Ignore and with Fail. What is
// said here of answers is what Taffrail's are then held to.
func TestAnswers(t *testing.T) {
	w := shared
	space := w.namespace(t, nil)
	server := newAnswering(t, w)
	w.registerAsks(t, server, space)
	before := w.webhookCounts(t)
	queue := make(chan ask)
	var clients sync.WaitGroup
	for range 8 {
		clients.Go(func() {
			for a := range queue {
				if err := a.judge(a.put(w, space)); err != nil {
					t.Errorf("%s, failurePolicy %s, %s: %v", a.name, a.policy, a.in, err)
				}
			}
		})
	}
	classes := map[class]int{}
	for _, a := range asks() {
		classes[a.class]++
		queue <- a
	}
	close(queue)
	clients.Wait()

	after := w.webhookCounts(t)
	failedOpen := map[string]bool{}
	for _, event := range w.auditEvents(t, space, "configmaps") {
		for key := range event.Annotations {
			if strings.HasPrefix(key, "failed-open.") {
				failedOpen[event.ObjectRef.Name] = true
			}
		}
	}
	for _, a := range asks() {
		open := a.class == noAnswer && a.policy == admissionregistrationv1.Ignore
		if failedOpen[a.object()] != open {
			t.Errorf("%s: that it failed open is in the audit log: %t", a.object(), failedOpen[a.object()])
		}
		wanted := map[class]string{cannot: "apiserver_internal_error", rejection: "no_error"}[a.class]
		if a.class == noAnswer {
			wanted = map[bool]string{true: "fail_open", false: "calling_webhook_error"}[open]
		}
		for _, trouble := range []string{"apiserver_internal_error", "no_error", "fail_open", "calling_webhook_error"} {
			key := webhookCount{a.webhook(), trouble}
			if counted := after[key] - before[key]; counted != map[bool]int{true: 1}[trouble == wanted] {
				t.Errorf("%s: counted %d times as %s", a.object(), counted, trouble)
			}
		}
	}
	t.Logf("%d answers: %d taken, %d are none, %d cannot be applied, %d refuse", len(asks()), classes[taken],
		classes[noAnswer], classes[cannot], classes[rejection])
}

// While a developer is served, the API server counts no answer of Taffrail as none or as one that it cannot apply.
func TestAnswersOfTaffrail(t *testing.T) {
	w := shared
	troubles := []string{"apiserver_internal_error", "fail_open", "calling_webhook_error"}
	hooks := []string{"rails.taffrail.dev", "changes.taffrail.dev"}
	before := w.webhookCounts(t)
	for _, story := range []struct {
		name string
		tell func(*testing.T)
	}{
		{"DeploymentIsDenied", TestDeploymentIsDenied}, {"Warnings", TestWarnings}, {"GenerateName", TestGenerateName},
		{"ServerSideApply", TestServerSideApply}, {"NodePools", TestNodePools},
		{"AnotherWebhookChangesPodsToo", TestAnotherWebhookChangesPodsToo},
	} {
		t.Run(story.name, story.tell)
	}
	after := w.webhookCounts(t)
	for _, hook := range hooks {
		asked := after[webhookCount{hook, "request"}] - before[webhookCount{hook, "request"}]
		if asked < 2 {
			t.Errorf("%s was asked %d times", hook, asked)
		}
		for _, trouble := range troubles {
			key := webhookCount{hook, trouble}
			if counted := after[key] - before[key]; counted != 0 {
				t.Errorf("%s: counted %d times as %s", hook, counted, trouble)
			}
		}
		t.Logf("%s was asked %d times", hook, asked)
	}
}
