package stories

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"taffrail.dev/tests/e2e/plane"
)

// Lives so short that everything happens within a minute.
var shortLives = []string{
	"--lease-duration", "3s", "--lease-renew-deadline", "2s", "--lease-retry-period", "1s",
	"--bundle-settle", "2s", "--cert-lifetime", "15s", "--ca-lifetime", "50s",
}

// A replica of `taffrail serve --manage-webhooks`.
type replica struct {
	guard
	credential string // the id of its token, as the audit log has it
}

func (w *world) newReplica(t *testing.T, number int) *replica {
	t.Helper()
	r := &replica{guard: guard{world: w, dir: filepath.Join(t.TempDir(), "replica")}}
	if err := os.Mkdir(r.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lifetime := int64(3600)
	token, err := w.client.CoreV1().ServiceAccounts("taffrail").CreateToken(w.ctx, "taffrail",
		&authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &lifetime},
		}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := base64.RawURLEncoding.DecodeString(strings.Split(token.Status.Token, ".")[1])
	if err != nil {
		t.Fatal(err)
	}
	var said struct{ JTI string }
	if err := json.Unmarshal(claims, &said); err != nil {
		t.Fatal(err)
	}
	r.credential = "JTI=" + said.JTI
	r.kubeconfig, err = w.plane.TokenKubeconfig(fmt.Sprintf("replica-%d", number), token.Status.Token)
	if err != nil {
		t.Fatal(err)
	}
	if r.port, err = plane.FreePort(); err != nil {
		t.Fatal(err)
	}
	if r.ops, err = plane.FreePort(); err != nil {
		t.Fatal(err)
	}
	words := append([]string{
		*taffrailFlag, "serve", "-p", "testdata/policy.yaml", "--kubeconfig", r.kubeconfig,
		"--manage-webhooks", "--cert-secret", "taffrail/taffrail-tls",
		"--listen", fmt.Sprintf("127.0.0.1:%d", r.port), "--ops-listen", fmt.Sprintf("127.0.0.1:%d", r.ops),
	}, shortLives...)
	if r.process, err = plane.Launch(filepath.Join(r.dir, "log"), nil, words...); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.stop(true) })
	return r
}

// identity is what it called itself in the Lease.
func (r *replica) identity() string {
	log, _ := os.ReadFile(filepath.Join(r.dir, "log"))
	found := regexp.MustCompile(`this replica leads, as ([^: ]+)`).FindSubmatch(log)
	if found == nil {
		return ""
	}
	return string(found[1])
}

func (r *replica) leads() bool {
	metrics, err := r.page("/metrics")
	return err == nil && strings.Contains(metrics, "\ntaffrail_leader 1\n")
}

// What is written to the objects that the replicas keep, in the order of the store.
type journal struct {
	lock   sync.Mutex
	writes []write
}
type write struct {
	revision        int
	resource, state string // state: who holds the Lease, or the CA bundle
}

func (j *journal) follow(t *testing.T, resource string, source watch.Interface, state func(runtime.Object) string) {
	go func() {
		for event := range source.ResultChan() {
			object, err := meta.Accessor(event.Object)
			if err != nil || event.Type == watch.Deleted {
				continue
			}
			revision, _ := strconv.Atoi(object.GetResourceVersion())
			j.lock.Lock()
			j.writes = append(j.writes, write{revision, resource, state(event.Object)})
			j.lock.Unlock()
		}
	}()
	t.Cleanup(source.Stop)
}

func (j *journal) sorted() []write {
	j.lock.Lock()
	defer j.lock.Unlock()
	writes := slices.Clone(j.writes)
	slices.SortFunc(writes, func(a, b write) int { return a.revision - b.revision })
	return writes
}

// Stands for a Service that leads to one of the replicas.
func forward(t *testing.T, port int) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
			if err != nil {
				from.Close()
				continue
			}
			go func() { _, _ = io.Copy(to, from); to.Close() }()
			go func() { _, _ = io.Copy(from, to); from.Close() }()
		}
	}()
	return listener.Addr().(*net.TCPAddr).Port
}

// Somebody else's webhook in Taffrail's configuration, which is asked about nothing.
const foreignWebhook = `[{"op": "add", "path": "/webhooks/-", "value": {"name": "rails.example.com",
	"clientConfig": {"url": "https://127.0.0.1:9", "caBundle": "Zm9yZWlnbg=="}, "failurePolicy": "Ignore",
	"sideEffects": "None", "admissionReviewVersions": ["v1"], "rules": [{"apiGroups": ["example.com"],
	"apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["things"]}]}}]`

// configurations are both, as they stand there, without the CA bundles of Taffrail's webhooks, which are returned for
// each.
func (w *world) configurations(t *testing.T) (bundles []string, rest []map[string]any) {
	t.Helper()
	for _, kind := range []string{"validatingwebhookconfiguration", "mutatingwebhookconfiguration"} {
		printed := w.admin(t, "", "get", kind, "taffrail", "-o", "json").works(t)
		var object unstructured.Unstructured
		if err := json.Unmarshal([]byte(printed.stdout), &object.Object); err != nil {
			t.Fatal(err)
		}
		webhooks, _, _ := unstructured.NestedSlice(object.Object, "webhooks")
		for _, webhook := range webhooks {
			client := webhook.(map[string]any)["clientConfig"].(map[string]any)
			if client["service"] == nil {
				continue
			}
			encoded, _ := client["caBundle"].(string)
			bundle, err := base64.StdEncoding.DecodeString(encoded)
			if err != nil {
				t.Fatal(err)
			}
			bundles = append(bundles, string(bundle))
			delete(client, "caBundle")
		}
		rest = append(rest, map[string]any{"webhooks": webhooks, "labels": object.GetLabels()})
	}
	return bundles, rest
}

// Three replicas keep certificate and CA bundles, with the rights of the install and no others. While CAs follow
// each other, one replica is frozen and thawed and another killed, and no call fails; each write is by the one that
// held the Lease when it was written.
func TestCertificatesKeepThemselves(t *testing.T) {
	w := shared
	if err := w.guard.unregister(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = w.guard.unregister()
		for _, object := range []string{"secret/taffrail-tls", "lease/taffrail"} {
			w.admin(t, "", "--namespace", "taffrail", "delete", "--ignore-not-found", object).works(t)
		}
		if err := w.guard.register(); err != nil {
			t.Error(err)
		}
	})
	for _, file := range []string{"rbac-lease.yaml", "rbac-manage.yaml"} {
		rights, err := os.ReadFile("../../../manifests/base/" + file)
		if err != nil {
			t.Fatal(err)
		}
		w.admin(t, string(rights), "apply", "-f", "-").works(t)
	}
	space := w.namespace(t, nil)
	journal := w.newJournal(t)

	replicas := []*replica{w.newReplica(t, 1), w.newReplica(t, 2)}
	var first *replica
	w.eventually(t, "that one leads", func() error {
		for _, r := range replicas {
			if r.leads() {
				first = r
				return nil
			}
		}
		return fmt.Errorf("none does: %s", replicas[0].process.LogTail(1000))
	})
	// The one that is called is neither frozen nor killed.
	called := w.newReplica(t, 3)
	replicas = append(replicas, called)
	install := guard{world: w, dir: t.TempDir(), rendered: w.guard.rendered, port: forward(t, called.port)}
	if err := install.apply(isWebhook); err != nil {
		t.Fatal(err)
	}
	if err := install.patchWebhooks(foreignWebhook); err != nil {
		t.Fatal(err)
	}
	_, before := w.configurations(t)
	for i, r := range replicas {
		w.eventually(t, fmt.Sprintf("that replica %d is ready", i), func() error {
			_, err := r.page("/readyz")
			return err
		})
	}
	bundles := []string{""}
	seeBundle := func() string {
		now, _ := w.configurations(t)
		alike := slices.Compact(slices.Clone(now))
		if len(now) > 1 && len(alike) == 1 && alike[0] != bundles[len(bundles)-1] {
			bundles = append(bundles, alike[0])
		}
		return bundles[len(bundles)-1]
	}
	w.eventually(t, "that the CA is published", func() error {
		if seeBundle() == "" {
			return fmt.Errorf("no bundle")
		}
		return nil
	})
	if err := install.setFailurePolicy("Fail"); err != nil {
		t.Fatal(err)
	}

	stop, calls, failed := w.callAllTheTime(t, space)
	if err := first.process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	w.within(t, 15*time.Second, "that another leads than the one that is frozen", func() error {
		for _, r := range replicas {
			if r != first && r.leads() {
				return nil
			}
		}
		return fmt.Errorf("none does")
	})
	if err := first.process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	for _, r := range replicas[:2] {
		if r != first {
			r.stop(true)
		}
	}
	w.eventually(t, "that a next CA stands beside the first", func() error {
		if strings.Count(seeBundle(), "BEGIN CERTIFICATE") != 2 {
			return fmt.Errorf("%d bundles", len(bundles)-1)
		}
		return nil
	})
	w.eventually(t, "that the first CA leaves", func() error {
		if strings.Count(seeBundle(), "BEGIN CERTIFICATE") != 1 {
			return fmt.Errorf("%d bundles", len(bundles)-1)
		}
		return nil
	})
	stop()
	if len(*failed) > 0 || calls.Load() < 100 {
		t.Errorf("%d of %d calls failed: %s", len(*failed), calls.Load(), (*failed)[:min(3, len(*failed))])
	}
	if len(bundles) < 4 || bundles[1] == bundles[3] {
		t.Errorf("the CA was not replaced: %d bundles", len(bundles)-1)
	}
	if err := install.setFailurePolicy("Ignore"); err != nil {
		t.Fatal(err)
	}
	if _, after := w.configurations(t); !reflect.DeepEqual(before, after) {
		t.Errorf("more than the bundles has changed:\n%v\n%v", before, after)
	}
	writes := w.checkWriters(t, replicas, journal)
	t.Logf("%d calls, none failed; %d bundles, %d writes, each by the holder of the Lease", calls.Load(),
		len(bundles)-1, writes)
}

// callAllTheTime creates pods, each of which both webhooks must be asked about.
func (w *world) callAllTheTime(t *testing.T, space string) (stop func(), calls *atomic.Int32, failed *[]string) {
	t.Helper()
	calls, failed = &atomic.Int32{}, &[]string{}
	var lock sync.Mutex
	var clients sync.WaitGroup
	ending := make(chan struct{})
	for range 3 {
		clients.Go(func() {
			for {
				select {
				case <-ending:
					return
				case <-time.After(20 * time.Millisecond):
				}
				pod := probe()
				pod.Namespace, pod.Spec.NodeSelector = space, nil
				_, err := w.client.CoreV1().Pods(space).Create(w.ctx, pod,
					metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				calls.Add(1)
				if err != nil && !apierrors.IsForbidden(err) {
					lock.Lock()
					*failed = append(*failed, err.Error())
					lock.Unlock()
				}
			}
		})
	}
	var once sync.Once
	stop = func() { once.Do(func() { close(ending) }); clients.Wait() }
	t.Cleanup(stop)
	return stop, calls, failed
}

func (w *world) newJournal(t *testing.T) *journal {
	t.Helper()
	j := &journal{}
	options := metav1.ListOptions{FieldSelector: "metadata.name=taffrail"}
	leases, err := w.client.CoordinationV1().Leases("taffrail").Watch(w.ctx, options)
	if err != nil {
		t.Fatal(err)
	}
	j.follow(t, "leases", leases, func(object runtime.Object) string {
		encoded, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
		holder, _, _ := unstructured.NestedString(encoded, "spec", "holderIdentity")
		return holder
	})
	secrets, err := w.client.CoreV1().Secrets("taffrail").Watch(w.ctx,
		metav1.ListOptions{FieldSelector: "metadata.name=taffrail-tls"})
	if err != nil {
		t.Fatal(err)
	}
	j.follow(t, "secrets", secrets, func(object runtime.Object) string {
		return string(object.(*corev1.Secret).Data["ca.crt"])
	})
	return j
}

// checkWriters holds each write of the Secret, as the audit log tells whose it was, against the holder of the Lease
// at that revision. Their number is returned.
func (w *world) checkWriters(t *testing.T, replicas []*replica, journal *journal) int {
	t.Helper()
	file, err := os.Open(w.plane.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var writers []string // by credential, in order
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event struct {
			Verb      string
			ObjectRef struct{ Resource, Namespace string }
			User      struct {
				Extra map[string][]string
			}
			ResponseStatus struct{ Code int }
		}
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.ObjectRef.Resource != "secrets" ||
			event.ObjectRef.Namespace != "taffrail" || event.ResponseStatus.Code >= 300 ||
			(event.Verb != "create" && event.Verb != "update") {
			continue
		}
		writers = append(writers, strings.Join(event.User.Extra["authentication.kubernetes.io/credential-id"], ""))
	}
	identities := map[string]string{}
	for _, r := range replicas {
		if identity := r.identity(); identity != "" {
			identities[identity] = r.credential
		}
	}
	holder, count := "", 0
	for _, write := range journal.sorted() {
		if write.resource == "leases" {
			holder = write.state
			continue
		}
		if count >= len(writers) {
			t.Fatalf("the Secret was written %d times, and %d are in the audit log", count+1, len(writers))
		}
		if identities[holder] != writers[count] {
			t.Errorf("revision %d of the Secret is by %s, and the Lease is held by %s, which is %s", write.revision,
				writers[count], holder, identities[holder])
		}
		count++
	}
	if count < 3 {
		t.Errorf("the Secret was written only %d times", count)
	}
	return count
}
