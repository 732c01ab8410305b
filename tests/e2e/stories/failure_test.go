package stories

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
)

// withFailurePolicy sets it for a test, once the API server heeds it.
func (w *world) withFailurePolicy(t *testing.T, policy string) {
	t.Helper()
	if err := w.guard.setFailurePolicy(policy); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.guard.setFailurePolicy("Ignore"); err != nil {
			t.Fatal(err)
		}
	})
	// Seen by a call that cannot succeed: nobody listens while the server is down.
	w.guard.stop(true)
	w.eventually(t, "failurePolicy "+policy, func() error {
		_, err := w.client.CoreV1().Pods("default").Create(w.ctx, probe(), metav1.CreateOptions{DryRun: []string{"All"}})
		if (err != nil) != (policy == "Fail") {
			return fmt.Errorf("a probe: %v", err)
		}
		return nil
	})
	if err := w.guard.start(w.guard.policies); err != nil {
		t.Fatal(err)
	}
}

// What the API server makes of a server that does not answer, or not as it should.
func TestServerIsAway(t *testing.T) {
	for _, policy := range []string{"Ignore", "Fail"} {
		t.Run(policy, func(t *testing.T) {
			w := shared
			space := w.namespace(t, nil)
			w.withFailurePolicy(t, policy)
			for _, c := range []struct {
				name         string
				leave, again func() error
				said         string
			}{
				{"killed", func() error { w.guard.stop(true); return nil },
					func() error { return w.guard.start(w.guard.policies) }, "connection refused"},
				{"frozen", func() error { return w.guard.process.Signal(syscall.SIGSTOP) },
					func() error { return w.guard.process.Signal(syscall.SIGCONT) }, "context deadline exceeded"},
				{"not-known", w.guard.distrust, w.guard.register, "certificate signed by unknown authority"},
			} {
				t.Run(c.name, func(t *testing.T) {
					if err := c.leave(); err != nil {
						t.Fatal(err)
					}
					wrong := podYAML(space, "name: "+c.name, freeCapacity)
					began := time.Now()
					said := w.kubectl(t, wrong, "create", "-f", "-")
					took := time.Since(began)
					if err := c.again(); err != nil {
						t.Fatal(err)
					}
					if policy == "Fail" {
						said.fails(t, "InternalError", "failed calling webhook", c.said)
					} else {
						said.works(t).isSilent(t)
						w.isAudited(t, space, c.name, "failed-open.validating.webhook.admission.k8s.io/")
					}
					// A second for the first webhook, two for the other, and kubectl's own time.
					if took > 20*time.Second {
						t.Errorf("it took %s", took)
					}
					w.eventually(t, "that it judges again", func() error {
						said := w.kubectl(t, podYAML(space, "name: judged", freeCapacity), "create", "-f", "-")
						if !strings.Contains(said.stderr, "denied by compute guard rails") {
							return fmt.Errorf("it said %q", said.stderr)
						}
						return nil
					})
				})
			}
		})
	}
}

// isAudited wants an annotation of the API server's audit log of a pod's creation.
func (w *world) isAudited(t *testing.T, namespace, name, prefix string) {
	t.Helper()
	events := w.auditEvents(t, namespace, "pods")
	for _, event := range events {
		for key := range event.Annotations {
			if event.ObjectRef.Name == name && strings.HasPrefix(key, prefix) {
				return
			}
		}
	}
	t.Errorf("the audit log of %s has no %s: %+v", name, prefix, events)
}

const burst = 500

// What came of 500 pods, every other one of them wrong.
type burstCounts struct{ right, wrong, rightRefused, wrongDenied, notAnswered atomic.Int32 }

// createBurst creates them from many clients at once, and asks again where it got no answer.
func (w *world) createBurst(t *testing.T, namespace string, counts *burstCounts, each func(i int)) {
	t.Helper()
	numbers := make(chan int)
	var clients sync.WaitGroup
	for range 16 {
		clients.Go(func() {
			for i := range numbers {
				w.createOne(t, namespace, i, counts)
			}
		})
	}
	for i := range burst {
		each(i)
		numbers <- i
	}
	close(numbers)
	clients.Wait()
}

func (w *world) createOne(t *testing.T, namespace string, i int, counts *burstCounts) {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("pod-%d", i), Namespace: namespace},
		Spec: corev1.PodSpec{
			SchedulingGates: []corev1.PodSchedulingGate{{Name: "e2e.taffrail.dev/never"}},
			Containers: []corev1.Container{{
				Name: "main", Image: "none",
				Resources: corev1.ResourceRequirements{
					Requests: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")},
				},
			}},
		},
	}
	wrong := i%2 == 1
	if wrong {
		pod.Spec.NodeSelector = map[string]string{"karpenter.sh/capacity-type": "free"}
	}
	deadline := time.Now().Add(2 * time.Minute)
	for {
		_, err := w.client.CoreV1().Pods(namespace).Create(w.ctx, pod, metav1.CreateOptions{})
		switch {
		case err == nil || apierrors.IsAlreadyExists(err):
			if wrong {
				counts.wrong.Add(1)
			} else {
				counts.right.Add(1)
			}
			return
		case apierrors.IsForbidden(err) && strings.Contains(err.Error(), "denied by compute guard rails"):
			if wrong {
				counts.wrongDenied.Add(1)
			} else {
				counts.rightRefused.Add(1)
				t.Errorf("pod %d is right, and was denied: %v", i, err)
			}
			return
		case apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook"):
			if wrong {
				counts.wrongDenied.Add(1)
			} else {
				counts.rightRefused.Add(1)
			}
			return
		}
		// The API server is away, or not ready yet.
		if !utilnet.IsConnectionRefused(err) && !utilnet.IsConnectionReset(err) && !utilnet.IsProbableEOF(err) &&
			!utilnet.IsHTTP2ConnectionLost(err) && !isUnfurnished(err) {
			t.Logf("pod %d: %v", i, err)
		}
		counts.notAnswered.Add(1)
		if time.Now().After(deadline) {
			t.Errorf("pod %d: %v", i, err)
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// Whether a namespace, or what belongs into each, is not there yet.
func isUnfurnished(err error) bool {
	return apierrors.IsNotFound(err) ||
		(apierrors.IsForbidden(err) && strings.Contains(err.Error(), "error looking up service account"))
}

// 500 pods while the webhook, and then the API server, restarts.
func TestRestartsUnderLoad(t *testing.T) {
	for _, c := range []struct {
		policy, what string
		restart      func(w *world) error
	}{
		{"Ignore", "webhook", func(w *world) error { return w.guard.restart(true, w.guard.policies) }},
		{"Fail", "webhook", func(w *world) error { return w.guard.restart(true, w.guard.policies) }},
		{"Ignore", "API server", restartAPIServer},
		{"Fail", "API server", restartAPIServer},
	} {
		t.Run(c.what+" "+c.policy, func(t *testing.T) {
			w := shared
			space := w.namespace(t, nil)
			w.withFailurePolicy(t, c.policy)
			var counts burstCounts
			restarted := make(chan error, 1)
			w.createBurst(t, space, &counts, func(i int) {
				if i == burst/3 {
					go func() { restarted <- c.restart(w) }()
				}
			})
			if err := <-restarted; err != nil {
				t.Fatal(err)
			}
			t.Logf("right: %d admitted, %d refused; wrong: %d admitted, %d refused; %d times no answer",
				counts.right.Load(), counts.rightRefused.Load(), counts.wrong.Load(), counts.wrongDenied.Load(),
				counts.notAnswered.Load())
			if c.policy == "Fail" && counts.wrong.Load() > 0 {
				t.Errorf("%d wrong pods were admitted unjudged", counts.wrong.Load())
			}
			if c.policy == "Ignore" && counts.rightRefused.Load() > 0 {
				t.Errorf("%d right pods were refused", counts.rightRefused.Load())
			}
			found := w.found(t, space)
			if found != int(counts.wrong.Load()) {
				t.Errorf("taffrail check finds %d of the %d wrong pods that were admitted", found, counts.wrong.Load())
			}
		})
	}
}

func restartAPIServer(w *world) error {
	w.plane.Stop(true, "kube-apiserver")
	return w.plane.Start("kube-apiserver")
}

// found is how many pods of a namespace `taffrail check` finds wrong; `taffrail audit` finds the same in the cluster.
func (w *world) found(t *testing.T, namespace string) int {
	t.Helper()
	pods := w.admin(t, "", "-n", namespace, "get", "pods", "-o", "yaml").works(t).stdout
	checked := w.check(t, pods)
	if audited := w.audit(t, namespace); !slices.Equal(audited, checked) {
		t.Errorf("taffrail audit finds %d, and check %d in the same pods:\n%+v\n%+v", len(audited), len(checked), audited,
			checked)
	}
	names := map[string]bool{}
	for _, finding := range checked {
		names[finding.Name] = true
	}
	return len(names)
}
