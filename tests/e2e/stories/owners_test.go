package stories

import (
	"fmt"
	"strings"
	"testing"
	"time"

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

// A workload that was wrong before the policy came is operated as ever: its new revisions, the old ones it goes back
// to, and those of a rollout that is paused have their pods.
func TestOldOwnersAreOperated(t *testing.T) {
	w := shared
	space := w.namespace(t, nil)
	old := deployment{namespace: space, name: "shop", replicas: 3, more: "tolerations: [{operator: Exists, effect: NoExecute}]"}
	cron := fmt.Sprintf(`apiVersion: batch/v1
kind: CronJob
metadata: {name: tick, namespace: %s}
spec:
  schedule: "0 0 1 1 *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          tolerations: [{operator: Exists, effect: NoExecute}]
          containers: [{name: main, image: none, resources: {requests: {cpu: 100m, memory: 64Mi}}}]
`, space)
	if err := w.guard.without(func() error {
		w.kubectl(t, old.yaml(), "apply", "-f", "-").works(t)
		w.kubectl(t, cron, "apply", "-f", "-").works(t)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	since := time.Now().Add(2 * time.Second)
	time.Sleep(time.Until(since.Add(time.Second))) // what is made from here on is younger
	w.guardedBy(t, "owners", fmt.Sprintf(ownersPolicy, since.UTC().Format(time.RFC3339)))

	t.Run("its pods are drained", func(t *testing.T) { w.podsBack(t, space, "app=shop", 3) })
	t.Run("it is restarted", func(t *testing.T) {
		w.kubectl(t, "", "-n", space, "rollout", "restart", "deployment/shop").works(t)
		w.eventually(t, "pods of the new ReplicaSet", func() error {
			d, err := w.client.AppsV1().Deployments(space).Get(w.ctx, "shop", metav1.GetOptions{})
			if err == nil && d.Status.UpdatedReplicas == 0 {
				err = fmt.Errorf("no pod is of the new template: %+v", d.Status.Conditions)
			}
			return err
		})
	})
	t.Run("it goes back", func(t *testing.T) {
		w.kubectl(t, "", "-n", space, "rollout", "undo", "deployment/shop").works(t)
		w.podsBack(t, space, "app=shop", 3)
	})
	t.Run("it is paused halfway to what is right", func(t *testing.T) {
		w.kubectl(t, "", "-n", space, "rollout", "pause", "deployment/shop").works(t)
		w.kubectl(t, "", "-n", space, "patch", "deployment/shop", "--type=json", "-p",
			`[{"op":"remove","path":"/spec/template/spec/tolerations"}]`).works(t)
		w.podsBack(t, space, "app=shop", 3)
	})
	t.Run("a Job of a CronJob that is changed", func(t *testing.T) {
		w.kubectl(t, "", "-n", space, "patch", "cronjob/tick", "-p", `{"spec":{"schedule":"* * * * *"}}`).works(t)
		w.within(t, 2*time.Minute, "a pod of the CronJob", func() error {
			pods, err := w.client.CoreV1().Pods(space).List(w.ctx, metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name"})
			if err == nil && len(pods.Items) == 0 {
				err = fmt.Errorf("there is none")
			}
			return err
		})
		w.kubectl(t, "", "-n", space, "patch", "cronjob/tick", "--type=json", "-p",
			`[{"op":"remove","path":"/spec/jobTemplate/spec/template/spec/tolerations"}]`).works(t)
		w.podsBack(t, space, "batch.kubernetes.io/job-name", 1)
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
      tolerations: [{operator: Exists, effect: NoExecute}]
      containers: [{name: main, image: none, resources: {requests: {cpu: 100m, memory: 64Mi}}}]
`, space)
	argo := "--as=system:serviceaccount:argo-rollouts:argo-rollouts"
	w.eventually(t, "the right of Argo Rollouts", func() error {
		if said := w.admin(t, set, argo, "create", "--dry-run=server", "-f", "-"); said.code != 0 {
			return fmt.Errorf("%s", said.stderr)
		}
		return nil
	})
	w.kubectl(t, set, "create", "--dry-run=server", "-f", "-").fails(t, "denied by compute guard rails")
	other := strings.ReplaceAll(set, "kind: Rollout", "kind: Workflow")
	w.admin(t, other, argo, "create", "--dry-run=server", "-f", "-").fails(t, "denied by compute guard rails")
}
