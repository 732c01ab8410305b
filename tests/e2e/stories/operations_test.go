package stories

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const freeCapacity = "nodeSelector: {karpenter.sh/capacity-type: free}"

func TestGenerateName(t *testing.T) {
	space := shared.namespace(t, nil)
	shared.kubectl(t, podYAML(space, "generateName: batch-", freeCapacity), "create", "-f", "-").
		fails(t, "in Pod "+space+"/batch-", "capacity-types")
	shared.kubectl(t, podYAML(space, "generateName: batch-", ""), "create", "-f", "-").works(t).isSilent(t)
}

func TestServerSideApply(t *testing.T) {
	space := shared.namespace(t, nil)
	right := deployment{namespace: space, name: "shop", replicas: 0}
	apply := []string{"apply", "--server-side", "--field-manager=story", "-f", "-"}
	shared.kubectl(t, right.yaml(), apply...).works(t).isSilent(t)
	wrong := right
	wrong.more = freeCapacity
	shared.kubectl(t, wrong.yaml(), apply...).fails(t, "spec.template.spec.nodeSelector", "capacity-types")
	shared.kubectl(t, right.yaml(), apply...).works(t).isSilent(t)
}

// A workload that was wrong before anybody judged goes on living.
func TestOldDeploymentIsOperated(t *testing.T) {
	space := shared.namespace(t, nil)
	old := deployment{namespace: space, name: "shop", replicas: 0, topologyKey: "zone"}
	if err := shared.guard.without(func() error {
		shared.kubectl(t, old.yaml(), "apply", "-f", "-").works(t)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	shared.kubectl(t, "", "-n", space, "rollout", "restart", "deployment/shop").works(t)
	shared.kubectl(t, "", "-n", space, "set", "image", "deployment/shop", "main=registry.example.com/main:2").works(t)
	shared.kubectl(t, "", "-n", space, "rollout", "undo", "deployment/shop").works(t)
	shared.kubectl(t, "", "-n", space, "autoscale", "deployment/shop", "--max=3").works(t)
	shared.kubectl(t, "", "-n", space, "delete", "deployment/shop").works(t)
}

// The Pods of a ReplicaSet differ in names and uids alone, and some of them are not judged again: what the API server
// sends differs in no more than docs/decisions/0016 says.
func TestPodsOfOneReplicaSetAreKnown(t *testing.T) {
	const replicas, series = 60, "taffrail_known_reviews_total"
	space := shared.namespace(t, nil)
	before := shared.guard.metric(series)
	large := deployment{namespace: space, name: "shop", replicas: replicas, topologyKey: "topology.kubernetes.io/zone"}
	shared.kubectl(t, large.yaml(), "apply", "-f", "-").works(t).isSilent(t)
	shared.eventually(t, "the Pods", func() error {
		pods, err := shared.client.CoreV1().Pods(space).List(shared.ctx, metav1.ListOptions{})
		if err == nil && len(pods.Items) != replicas {
			err = fmt.Errorf("%d Pods", len(pods.Items))
		}
		return err
	})
	after := shared.guard.metric(series)
	t.Logf("%s is %s, and was %s before %d Pods of one ReplicaSet", series, after, before, replicas)
	if before == "" || after == before {
		t.Errorf("%s is %q as before, after %d Pods of one ReplicaSet", series, after, replicas)
	}
}

func TestSubresourcesOfPods(t *testing.T) {
	space := shared.namespace(t, nil)
	pods := shared.client.CoreV1().Pods(space)
	if err := shared.guard.without(func() error {
		shared.kubectl(t, podYAML(space, "name: old", freeCapacity), "create", "-f", "-").works(t)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	old, err := pods.Get(shared.ctx, "old", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	old.Spec.EphemeralContainers = []corev1.EphemeralContainer{{
		EphemeralContainerCommon: corev1.EphemeralContainerCommon{
			Name: "debug", Image: "registry.example.com/debug:1",
			TerminationMessagePolicy: corev1.TerminationMessageReadFile,
			ImagePullPolicy:          corev1.PullIfNotPresent,
		},
	}}
	if _, err = pods.UpdateEphemeralContainers(shared.ctx, "old", old, metav1.UpdateOptions{}); err != nil {
		t.Errorf("a container to debug with: %v", err)
	}
	status := []byte(`{"status": {"message": "seen"}}`)
	if _, err = pods.Patch(shared.ctx, "old", types.MergePatchType, status, metav1.PatchOptions{}, "status"); err != nil {
		t.Errorf("its status: %v", err)
	}
	resize := func(cpu string) error {
		patch := fmt.Sprintf(`{"spec": {"containers": [{"name": "main", "resources": {"requests": {"cpu": %q}}}]}}`, cpu)
		_, err := pods.Patch(shared.ctx, "old", types.StrategicMergePatchType, []byte(patch), metav1.PatchOptions{},
			"resize")
		return err
	}
	if err = resize("200m"); err != nil {
		t.Errorf("a resize that makes nothing worse: %v", err)
	}
	if err = resize("12"); err == nil || !strings.Contains(err.Error(), "resource-requests") {
		t.Errorf("a resize beyond what is allowed: %v", err)
	}
	err = pods.EvictV1(shared.ctx, &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Name: "old", Namespace: space}})
	if err != nil {
		t.Errorf("an eviction: %v", err)
	}
}

// A pod with gates may still choose its nodes, and is judged when it does.
func TestGatedPod(t *testing.T) {
	space := shared.namespace(t, nil)
	gated := "schedulingGates: [{name: e2e.taffrail.dev/wait}]\n"
	shared.kubectl(t, podYAML(space, "name: wrong", gated+freeCapacity), "create", "-f", "-").fails(t, "capacity-types")
	shared.kubectl(t, podYAML(space, "name: waiting", gated), "create", "-f", "-").works(t).isSilent(t)
	choose := func(capacity string) printed {
		return shared.kubectl(t, "", "-n", space, "patch", "pod", "waiting", "-p",
			fmt.Sprintf(`{"spec": {"nodeSelector": {"karpenter.sh/capacity-type": %q}}}`, capacity))
	}
	choose("free").fails(t, "capacity-types", "spec.nodeSelector")
	choose("spot").works(t).isSilent(t)
	shared.kubectl(t, "", "-n", space, "patch", "pod", "waiting", "--type=json", "-p",
		`[{"op": "remove", "path": "/spec/schedulingGates"}]`).works(t).isSilent(t)
}

// Nodes create mirror pods, which nobody may refuse.
func TestNodesAreNotAsked(t *testing.T) {
	kubelet, err := shared.plane.Kubeconfig("system:node:somewhere", "system:nodes")
	if err != nil {
		t.Fatal(err)
	}
	node := `{apiVersion: v1, kind: Node, metadata: {name: somewhere}, spec: {unschedulable: true}}`
	shared.admin(t, node, "create", "-f", "-").works(t)
	t.Cleanup(func() { shared.admin(t, "", "delete", "node", "somewhere").works(t) })
	uid := strings.TrimSpace(shared.admin(t, "", "get", "node", "somewhere", "-o", "jsonpath={.metadata.uid}").stdout)
	space := shared.namespace(t, nil)
	mirror := podYAML(space, fmt.Sprintf(`name: mirror, annotations: {kubernetes.io/config.mirror: x, `+
		`kubernetes.io/config.source: file}, ownerReferences: [{apiVersion: v1, kind: Node, name: somewhere, `+
		`uid: %s, controller: true}]`, uid), "nodeName: somewhere\nenableServiceLinks: false\n"+
		"tolerations: [{operator: Exists}]")
	shared.kubectlAs(t, kubelet, mirror, "create", "--validate=false", "-f", "-").works(t).isSilent(t)
	shared.admin(t, "", "-n", space, "delete", "pod", "mirror", "--force", "--grace-period=0").works(t)
}
