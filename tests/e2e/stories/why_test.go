package stories

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What `why` and `impact` say of fields that this story looks at.
type saying struct {
	Fits              *bool
	State, Node, Fix  string
	NodePool, Drifted string
	DriftedField      string
	NodePools         []struct{ Name, Kind string }
	Pods              []struct{ Pod string }
	Changes           []struct {
		Operation                 string
		NodesReplaced, NodesTotal int
		Reasons                   []string
	}
}

func (w *world) says(t *testing.T, code int, manifest string, arguments ...string) saying {
	t.Helper()
	printed, _ := w.taffrail(t, code, w.plane.AdminKubeconfig(), manifest, append(arguments, "-o", "json")...)
	var said saying
	if err := json.Unmarshal([]byte(printed), &said); err != nil {
		t.Fatalf("%v\n%s", err, printed)
	}
	return said
}

// People ask why a pod is pending and why a node is still there, before and after a NodePool is changed; Karpenter
// then does what `impact` has said.
func TestWhy(t *testing.T) {
	w := shared
	w.withNodes(t)
	space := w.namespace(t, nil)
	web := deployment{namespace: space, name: "web", replicas: 2}
	w.admin(t, web.yaml(), "apply", "-f", "-").works(t)
	if seen, took := w.settle(t, space, web.replicas, 2*time.Minute); seen.running < web.replicas {
		t.Fatalf("%d of %d pods run after %s\n%s", seen.running, web.replicas, took, w.pending(space))
	}
	defer func() { w.admin(t, "", "-n", space, "delete", "deployment,pod", "--all", "--force").works(t) }()
	w.admin(t, fmt.Sprintf(`{apiVersion: v1, kind: Pod, metadata: {name: vast, namespace: %s}, spec: {containers: [
		{name: main, image: none, resources: {requests: {cpu: "6", memory: 1Gi}, limits: {memory: 1Gi}}}]}}`, space),
		"create", "-f", "-").works(t)

	pods, err := w.client.CoreV1().Pods(space).List(w.ctx, metav1.ListOptions{LabelSelector: "app=web"})
	if err != nil || len(pods.Items) == 0 {
		t.Fatal(err, "no pods")
	}
	pod := pods.Items[0]
	catalog := []string{}
	if *typesFlag != "" {
		catalog = []string{"--catalog", *typesFlag}
	}
	runs := w.says(t, 0, "", append([]string{"why", "pod", space + "/" + pod.Name}, catalog...)...)
	if runs.Fits == nil || !*runs.Fits || runs.State != "running" || runs.Node != pod.Spec.NodeName {
		t.Errorf("of a pod that runs: %+v", runs)
	}
	vast := w.says(t, 1, "", append([]string{"why", "pod", "vast", "-n", space}, catalog...)...)
	if *typesFlag != "" && (vast.Fits == nil || *vast.Fits || vast.NodePools[0].Kind != "resources" || vast.Fix == "") {
		t.Errorf("of a pod that fits nowhere: %+v", vast)
	}

	machines := strings.Fields(w.admin(t, "", "get", "nodeclaims", "-o", "name").works(t).stdout)
	changed := strings.NewReplacer("  template:\n", "  template:\n    metadata: {labels: {changed: \"yes\"}}\n",
		"disruption: {", "disruption: {budgets: [{nodes: \"0\", reasons: [Drifted]}], ").Replace(strings.Split(nodesYAML(), "---\n")[0])
	impact := w.says(t, 0, changed, "impact", "-f", "-", "--kubeconfig", w.plane.AdminKubeconfig())
	if len(impact.Changes) != 1 || impact.Changes[0].NodesReplaced != len(machines) ||
		!slices.Contains(impact.Changes[0].Reasons, "drift: spec.template.metadata.labels") {
		t.Errorf("the change of %d machines: %+v", len(machines), impact.Changes)
	}
	w.admin(t, changed, "apply", "-f", "-").works(t)
	w.eventually(t, "that Karpenter has seen the drift", func() error {
		node := w.says(t, 0, "", "why", "node", pod.Spec.NodeName)
		if node.NodePool != "general" || node.DriftedField != "spec.template.metadata.labels" ||
			!slices.ContainsFunc(node.Pods, func(each struct{ Pod string }) bool { return each.Pod == space+"/"+pod.Name }) {
			return fmt.Errorf("%+v", node)
		}
		return nil
	})
}
