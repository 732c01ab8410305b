package stories

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const ownersPolicy = `apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: owners}
spec:
  mode: enforce
  since: %s
  trustedControllers:
    - {account: argo-rollouts/argo-rollouts, owner: Rollout.argoproj.io, makes: ReplicaSet}
  rails:
    tolerations: {}
`

// podsBack deletes the pods that a label selects and waits until as many are there again.
func (w *world) podsBack(t *testing.T, space, selector string, wanted int) {
	t.Helper()
	w.kubectl(t, "", "-n", space, "delete", "pods", "-l", selector, "--wait=false", "--force", "--grace-period=0").works(t)
	w.eventually(t, "pods of "+selector, func() error {
		pods, err := w.client.CoreV1().Pods(space).List(w.ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			return err
		}
		alive := 0
		for _, pod := range pods.Items {
			if pod.DeletionTimestamp == nil {
				alive++
			}
		}
		if alive < wanted {
			return fmt.Errorf("%d of %d are there", alive, wanted)
		}
		return nil
	})
}

// atRevision is a problem until the newest ReplicaSet of a Deployment has so many pods, and all others together have so
// many.
func (w *world) atRevision(space, name string, pods, others int32) error {
	d, err := w.client.AppsV1().Deployments(space).Get(w.ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if d.Status.ObservedGeneration != d.Generation {
		return fmt.Errorf("generation %d is not observed yet", d.Generation)
	}
	newest, sets, err := w.newestSet(space, name)
	if err != nil {
		return err
	}
	before := int32(0)
	for _, set := range sets {
		if set.Name != newest.Name {
			before += set.Status.Replicas
		}
	}
	if newest.Status.Replicas != pods || before != others {
		return fmt.Errorf("%d pods of %s and %d of older ones; wanted %d and %d", newest.Status.Replicas, newest.Name,
			before, pods, others)
	}
	return nil
}

func (w *world) newestSet(space, name string) (newest appsv1.ReplicaSet, sets []appsv1.ReplicaSet, err error) {
	list, err := w.client.AppsV1().ReplicaSets(space).List(w.ctx, metav1.ListOptions{LabelSelector: "app=" + name})
	if err != nil {
		return newest, nil, err
	}
	last := -1
	for _, set := range list.Items {
		revision, err := strconv.Atoi(set.Annotations["deployment.kubernetes.io/revision"])
		if err != nil {
			return newest, nil, fmt.Errorf("the revision of %s: %w", set.Name, err)
		}
		if revision > last {
			newest, last = set, revision
		}
	}
	if last < 0 {
		err = fmt.Errorf("Deployment %s has no ReplicaSet", name)
	}
	return newest, list.Items, err
}

// keepsOnlyNewestSet deletes the ReplicaSets of a Deployment that it does not use any more.
func (w *world) keepsOnlyNewestSet(t *testing.T, space, name string) appsv1.ReplicaSet {
	t.Helper()
	newest, sets, err := w.newestSet(space, name)
	if err != nil {
		t.Fatal(err)
	}
	for _, set := range sets {
		if set.Name != newest.Name {
			w.kubectl(t, "", "-n", space, "delete", "replicaset/"+set.Name).works(t)
		}
	}
	return newest
}

func podsOf(set appsv1.ReplicaSet) string {
	return "app=" + set.Labels["app"] + ",pod-template-hash=" + set.Labels["pod-template-hash"]
}

const (
	wrongPod = "tolerations: [{operator: Exists, effect: NoExecute}]"
	// No pod is ever ready here, so that a rollout comes to its end only with the first.
	replacesAll   = `{"spec": {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "100%"}}}}`
	waitsForReady = `{"spec": {"strategy": {"rollingUpdate": {"maxSurge": 1, "maxUnavailable": 0}}}}`
)

func tick(space string) string {
	return fmt.Sprintf(`apiVersion: batch/v1
kind: CronJob
metadata: {name: tick, namespace: %s}
spec:
  schedule: "0 0 1 1 *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          %s
          containers: [{name: main, image: none, resources: {requests: {cpu: 100m, memory: 64Mi}}}]
`, space, wrongPod)
}

// A workload that was wrong before the policy came is operated as ever: its new revisions, the old ones it goes back
// to, and those that a paused or a stuck rollout still runs have their pods.
func TestOldOwnersAreOperated(t *testing.T) {
	w := shared
	space := w.namespace(t, nil)
	old := deployment{namespace: space, name: "shop", replicas: 3, more: wrongPod}
	if err := w.guard.without(func() error {
		w.kubectl(t, old.yaml(), "apply", "-f", "-").works(t)
		w.kubectl(t, tick(space), "apply", "-f", "-").works(t)
		return wait(patience, func() error { return w.atRevision(space, "shop", 3, 0) })
	}); err != nil {
		t.Fatal(err)
	}
	since := time.Now().Add(2 * time.Second)
	time.Sleep(time.Until(since.Add(time.Second))) // what is made from here on is younger
	w.guardedBy(t, "owners", fmt.Sprintf(ownersPolicy, since.UTC().Format(time.RFC3339)))
	young := old
	young.name = "young"
	w.kubectl(t, young.yaml(), "apply", "-f", "-").fails(t, denial)

	rollout := func(t *testing.T, words ...string) {
		t.Helper()
		w.kubectl(t, "", append([]string{"-n", space, "rollout"}, words...)...).works(t)
	}
	patch := func(t *testing.T, object, kind, patch string) {
		t.Helper()
		w.kubectl(t, "", "-n", space, "patch", object, "--type="+kind, "-p", patch).works(t)
	}
	turnsTo := func(t *testing.T, pods, others int32) {
		t.Helper()
		w.eventually(t, "the rollout", func() error { return w.atRevision(space, "shop", pods, others) })
	}
	t.Run("its pods are drained", func(t *testing.T) { w.podsBack(t, space, "app=shop", 3) })
	t.Run("it is restarted", func(t *testing.T) {
		patch(t, "deployment/shop", "strategic", replacesAll)
		rollout(t, "restart", "deployment/shop")
		turnsTo(t, 3, 0)
		w.podsBack(t, space, "app=shop", 3)
	})
	t.Run("it goes back", func(t *testing.T) {
		rollout(t, "undo", "deployment/shop")
		turnsTo(t, 3, 0)
		w.podsBack(t, space, "app=shop", 3)
	})
	// From here on no ReplicaSet of it is older than the policy.
	t.Run("it is paused halfway to what is right", func(t *testing.T) {
		rollout(t, "restart", "deployment/shop")
		turnsTo(t, 3, 0)
		running := w.keepsOnlyNewestSet(t, space, "shop")
		rollout(t, "pause", "deployment/shop")
		patch(t, "deployment/shop", "json", `[{"op": "remove", "path": "/spec/template/spec/tolerations"}]`)
		turnsTo(t, 3, 0)
		w.podsBack(t, space, podsOf(running), 3)
	})
	t.Run("it is paused, scaled to none and back", func(t *testing.T) {
		running, _, _ := w.newestSet(space, "shop")
		w.kubectl(t, "", "-n", space, "scale", "deployment/shop", "--replicas=0").works(t)
		w.eventually(t, "none", func() error { return w.atRevision(space, "shop", 0, 0) })
		w.kubectl(t, "", "-n", space, "scale", "deployment/shop", "--replicas=3").works(t)
		w.podsBack(t, space, podsOf(running), 3)
	})
	t.Run("its rollout to what is right is stuck", func(t *testing.T) {
		running, _, err := w.newestSet(space, "shop")
		if err != nil {
			t.Fatal(err)
		}
		patch(t, "deployment/shop", "strategic", waitsForReady)
		rollout(t, "resume", "deployment/shop")
		turnsTo(t, 1, 3)
		w.podsBack(t, space, podsOf(running), 3)
		w.podsBack(t, space, "app=shop", 4)
	})
	t.Run("a Job of a CronJob that is changed", func(t *testing.T) {
		patch(t, "cronjob/tick", "strategic", `{"spec": {"schedule": "* * * * *"}}`)
		const label = "batch.kubernetes.io/job-name"
		job := ""
		w.within(t, 2*time.Minute, "a pod of the CronJob", func() error {
			pods, err := w.client.CoreV1().Pods(space).List(w.ctx, metav1.ListOptions{LabelSelector: label})
			if err != nil {
				return err
			}
			if len(pods.Items) == 0 {
				return fmt.Errorf("there is none")
			}
			job = pods.Items[0].Labels[label]
			return nil
		})
		patch(t, "cronjob/tick", "json", `[{"op": "remove", "path": "/spec/jobTemplate/spec/template/spec/tolerations"},
			{"op": "replace", "path": "/spec/suspend", "value": true}]`)
		w.podsBack(t, space, label+"="+job, 1)
	})
}

// What a controller makes that the policy trusts passes; the same by a person does not.
func TestTrustedControllers(t *testing.T) {
	w := shared
	space := w.namespace(t, nil)
	w.guardedBy(t, "owners", fmt.Sprintf(ownersPolicy, time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)))
	w.admin(t, "", "create", "rolebinding", "argo", "-n", space, "--clusterrole=edit",
		"--serviceaccount=argo-rollouts:argo-rollouts").works(t)
	set := fmt.Sprintf(`apiVersion: apps/v1
kind: ReplicaSet
metadata:
  name: shop-1
  namespace: %s
  ownerReferences: [{apiVersion: argoproj.io/v1alpha1, kind: Rollout, name: shop, uid: 3c0a2d4e-0000-4000-8000-000000000009, controller: true}]
spec:
  replicas: 1
  selector: {matchLabels: {app: shop}}
  template:
    metadata: {labels: {app: shop}}
    spec:
      %s
      containers: [{name: main, image: none, resources: {requests: {cpu: 100m, memory: 64Mi}}}]
`, space, wrongPod)
	argo := "--as=system:serviceaccount:argo-rollouts:argo-rollouts"
	w.eventually(t, "the right of Argo Rollouts", func() error {
		if said := w.admin(t, set, argo, "create", "--dry-run=server", "-f", "-"); said.code != 0 {
			return fmt.Errorf("%s", said.stderr)
		}
		return nil
	})
	w.kubectl(t, set, "create", "-f", "-").fails(t, denial)
	other := strings.ReplaceAll(set, "kind: Rollout", "kind: Workflow")
	w.admin(t, other, argo, "create", "-f", "-").fails(t, denial)
	w.admin(t, set, argo, "create", "-f", "-").works(t)
	w.podsBack(t, space, "app=shop", 1)
}
