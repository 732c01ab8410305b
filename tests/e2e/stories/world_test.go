package stories

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"taffrail.dev/tests/e2e/plane"
)

const patience = 60 * time.Second

// A world is a control plane, its administrator's client, and the guard at its door.
type world struct {
	plane     *plane.Plane
	client    kubernetes.Interface
	guard     *guard
	developer string // kubeconfig of one who may edit
	stop      context.CancelFunc
	ctx       context.Context
	spaces    atomic.Int32
}

func newWorld(p *plane.Plane) (*world, error) {
	return newWorldWith("testdata/policy.yaml")(p)
}

// newWorldWith has its guard installed with these policies.
func newWorldWith(policies string) func(*plane.Plane) (*world, error) {
	return func(p *plane.Plane) (*world, error) {
		w, err := newOpenWorld(p)
		if err != nil {
			return nil, err
		}
		w.guard, err = newGuard(w, policies)
		return w, err
	}
}

// newOpenWorld is one without a guard.
func newOpenWorld(p *plane.Plane) (*world, error) {
	if err := p.Start("etcd", "kube-apiserver", "kube-controller-manager"); err != nil {
		return nil, err
	}
	w := &world{plane: p}
	w.ctx, w.stop = context.WithCancel(context.Background())
	config, err := p.Config(p.AdminKubeconfig())
	if err != nil {
		return nil, err
	}
	if w.client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	if w.developer, err = p.Kubeconfig("developer", "developers"); err != nil {
		return nil, err
	}
	return w, w.furnish()
}

// furnish installs in an empty cluster what is there before Taffrail.
func (w *world) furnish() error {
	if err := w.plane.InstallCRDs(w.ctx); err != nil {
		return err
	}
	_, err := w.client.RbacV1().ClusterRoleBindings().Create(w.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "developers"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "admin"},
		Subjects:   []rbacv1.Subject{{Kind: "Group", APIGroup: rbacv1.GroupName, Name: "developers"}},
	}, metav1.CreateOptions{})
	return err
}

func (w *world) close() {
	w.stop()
	if w.guard != nil {
		w.guard.stop(true)
	}
}

// namespace makes one for a test, and waits for what controllers put into it.
func (w *world) namespace(t *testing.T, labels map[string]string) string {
	t.Helper()
	name := fmt.Sprintf("story-%d", w.spaces.Add(1))
	_, err := w.client.CoreV1().Namespaces().Create(w.ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.eventually(t, "the default service account of "+name, func() error {
		_, err := w.client.CoreV1().ServiceAccounts(name).Get(w.ctx, "default", metav1.GetOptions{})
		return err
	})
	t.Cleanup(func() {
		err := w.client.CoreV1().Namespaces().Delete(w.ctx, name, metav1.DeleteOptions{})
		if err != nil && !apierrors.IsNotFound(err) {
			t.Errorf("deleting namespace %s: %v", name, err)
		}
	})
	return name
}

// eventually asks until there is no problem; it fails with the last one.
func (w *world) eventually(t *testing.T, what string, problem func() error) {
	t.Helper()
	w.within(t, patience, what, problem)
}

func (w *world) within(t *testing.T, limit time.Duration, what string, problem func() error) {
	t.Helper()
	if err := wait(limit, problem); err != nil {
		t.Fatalf("%s: not within %s: %v", what, limit, err)
	}
}

func wait(limit time.Duration, problem func() error) error {
	return waitAsking(50*time.Millisecond, limit, problem)
}

// waitAsking asks once in a while: where many wait at one time, their questions are the load.
func waitAsking(every, limit time.Duration, problem func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := problem()
		if err == nil || time.Now().After(deadline) {
			return err
		}
		time.Sleep(every)
	}
}

// What a command printed.
type printed struct {
	stdout, stderr string
	code           int
}

// kubectl runs it as the developer, with a manifest on standard input if there is one.
func (w *world) kubectl(t *testing.T, manifest string, arguments ...string) printed {
	t.Helper()
	return w.kubectlAs(t, w.developer, manifest, arguments...)
}

func (w *world) admin(t *testing.T, manifest string, arguments ...string) printed {
	t.Helper()
	return w.kubectlAs(t, w.plane.AdminKubeconfig(), manifest, arguments...)
}

func (w *world) kubectlAs(t *testing.T, kubeconfig, manifest string, arguments ...string) printed {
	t.Helper()
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	out, problems, code, err := w.plane.Kubectl(ctx, kubeconfig, strings.NewReader(manifest), arguments...)
	if err != nil {
		t.Fatalf("kubectl %s: %v", strings.Join(arguments, " "), err)
	}
	return printed{out, problems, code}
}

// works fails the test unless the command did what it was asked.
func (p printed) works(t *testing.T) printed {
	t.Helper()
	if p.code != 0 {
		t.Fatalf("exit code %d\n%s%s", p.code, p.stdout, p.stderr)
	}
	return p
}

// fails wants a refusal that says all of this.
func (p printed) fails(t *testing.T, said ...string) printed {
	t.Helper()
	if p.code == 0 {
		t.Fatalf("was not refused:\n%s%s", p.stdout, p.stderr)
	}
	return p.says(t, said...)
}

// says wants all of this on standard error.
func (p printed) says(t *testing.T, said ...string) printed {
	t.Helper()
	for _, words := range said {
		if !strings.Contains(p.stderr, words) {
			t.Errorf("kubectl did not say %q, but\n%s", words, p.stderr)
		}
	}
	return p
}

// isSilent wants no warning.
func (p printed) isSilent(t *testing.T) printed {
	t.Helper()
	if p.stderr != "" {
		t.Errorf("unexpected on standard error:\n%s", p.stderr)
	}
	return p
}
