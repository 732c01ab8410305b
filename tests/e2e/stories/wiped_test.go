package stories

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"taffrail.dev/tests/e2e/plane"
)

// newOwnWorld is a world whose control plane nobody else uses, made by newWorld or newOpenWorld.
func newOwnWorld(t *testing.T, name string, make func(*plane.Plane) (*world, error)) *world {
	t.Helper()
	dir := filepath.Join(filepath.Dir(shared.plane.Dir), name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := plane.New(dir, *planeFlag, os.Getenv("KUBEBUILDER_ASSETS"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	w, err := make(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	return w
}

// revision is that of the store.
func (w *world) revision(t *testing.T) int {
	t.Helper()
	list, err := w.client.CoreV1().ConfigMaps("default").List(w.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(list.ResourceVersion)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// age makes revisions, as a cluster that has lived for a while has had them.
func (w *world) age(t *testing.T, revisions int) {
	t.Helper()
	maps := w.client.CoreV1().ConfigMaps("default")
	object, err := maps.Create(w.ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "age"}},
		metav1.CreateOptions{})
	for i := 0; err == nil && i < revisions; i++ {
		object.Data = map[string]string{"age": strconv.Itoa(i)}
		object, err = maps.Update(w.ctx, object, metav1.UpdateOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// wipe has the cluster forget everything, and installs it again; namespaces come last, when pods are judged.
func (w *world) wipe(namespace string) error {
	w.plane.Stop(true, "kube-apiserver", "kube-controller-manager")
	if err := w.plane.WipeEtcd(); err != nil {
		return err
	}
	if err := w.plane.Start("etcd", "kube-apiserver", "kube-controller-manager"); err != nil {
		return err
	}
	if err := w.furnish(); err != nil {
		return err
	}
	if err := w.guard.apply(func(object *unstructured.Unstructured) bool { return !isWebhook(object) }); err != nil {
		return err
	}
	if err := w.guard.login(); err != nil {
		return err
	}
	if err := w.guard.register(); err != nil {
		return err
	}
	_, err := w.client.CoreV1().Namespaces().Create(w.ctx,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, metav1.CreateOptions{})
	return err
}

// pin is where a pod that mounts the claim "data" would be pinned to, and why.
func (w *world) pin(t *testing.T, namespace string) (zone, source string, err error) {
	t.Helper()
	said := w.kubectl(t, podYAML(namespace, "name: probe, labels: {a: b}", mountsData), "create", "--dry-run=server",
		"-f", "-", "-o", `jsonpath={.metadata.annotations.taffrail\.dev/zone} {.metadata.annotations.taffrail\.dev/zone-source}`)
	if said.code != 0 {
		return "", "", fmt.Errorf("a probe: %s", said.stderr)
	}
	zone, source, _ = strings.Cut(said.stdout, " ")
	return zone, source, nil
}

// A cluster that is made anew while pods are created: its revisions begin again, its service accounts are others.
// Taffrail runs on, forgets what was, and lets no pod through unjudged.
func TestEtcdIsWiped(t *testing.T) {
	if !*longFlag {
		t.Skip("told with --long")
	}
	w := newOwnWorld(t, "wiped", newWorld)
	w.age(t, 1500)
	w.withFailurePolicy(t, "Fail") // with a restart: what the server knows is younger than all that will come
	space := w.withBoundClaim(t, "test-zone-old")
	before := w.revision(t)
	process := w.guard.process

	w.guard.failurePolicy = "Fail"
	var counts burstCounts
	wiped := make(chan error, 1)
	var back time.Time
	w.createBurst(t, space, &counts, func(i int) {
		if i == burst/3 {
			go func() {
				err := w.wipe(space)
				back = time.Now()
				wiped <- err
			}()
		}
	})
	if err := <-wiped; err != nil {
		t.Fatal(err)
	}
	t.Logf("right: %d admitted, %d refused; wrong: %d admitted, %d refused; %d times no answer", counts.right.Load(),
		counts.rightRefused.Load(), counts.wrong.Load(), counts.wrongDenied.Load(), counts.notAnswered.Load())
	if counts.wrong.Load() > 0 || counts.wrongDenied.Load() != burst/2 {
		t.Errorf("%d wrong pods were admitted, and %d of %d were denied", counts.wrong.Load(), counts.wrongDenied.Load(),
			burst/2)
	}
	if after := w.revision(t); after >= before {
		t.Errorf("the revisions did not begin again: %d, and before %d", after, before)
	}

	// A claim of the same name without a volume, and then with one that is elsewhere.
	claim := boundClaimYAML(space, "test-zone-new")
	w.admin(t, claim[strings.LastIndex(claim, "---"):], "apply", "-f", "-").works(t)
	fromOld := 0
	w.within(t, 4*time.Minute, "that the old volume is forgotten", func() error {
		zone, source, err := w.pin(t, space)
		if err == nil && zone == "test-zone-old" {
			fromOld++
			err = fmt.Errorf("pods are pinned to %s (%s)", zone, source)
		}
		return err
	})
	t.Logf("%.1f s after the cluster was back, the old volume was forgotten; %d pods asked before",
		time.Since(back).Seconds(), fromOld)
	w.admin(t, claim, "apply", "-f", "-").works(t)
	// Claims and volumes are watched each for itself: a volume may be known while its claim is the old one still.
	inRow := 0
	w.within(t, 4*time.Minute, "the pin to the new volume, ten times in a row", func() error {
		zone, source, err := w.pin(t, space)
		if err != nil {
			return err
		}
		if zone == "test-zone-old" {
			t.Errorf("a pod is pinned to %s again", zone)
		}
		inRow++
		if zone != "test-zone-new" || source != "volume" {
			inRow = 0
		}
		if inRow < 10 {
			return fmt.Errorf("pods are pinned to %q (%s)", zone, source)
		}
		return nil
	})
	if found := w.found(t, space); found > 0 {
		t.Errorf("taffrail finds %d wrong pods", found)
	}
	if w.guard.process != process {
		t.Error("the server was started anew")
	}
	if _, err := w.guard.page("/readyz"); err != nil {
		t.Error(err)
	}
}
