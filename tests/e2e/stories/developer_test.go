package stories

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// What is wrong with a pod that is spread over "zone", to its last line.
const wrongKey = `denied by compute guard rails: 1 problem in Deployment %[1]s/shop: topology-keys
1. topology-keys  spec.template.spec.topologySpreadConstraints[0].topologyKey: Nodes have no label "zone", so these pods would stay Pending. Use topology.kubernetes.io/zone.`

func TestDeploymentIsDenied(t *testing.T) {
	space := shared.namespace(t, nil)
	wrong := deployment{namespace: space, name: "shop", replicas: 3, topologyKey: "zone"}
	message := fmt.Sprintf(`admission webhook "rails.taffrail.dev" denied the request: `+wrongKey, space)
	shared.kubectl(t, wrong.yaml(), "apply", "-f", "-").fails(t, "Error from server (Forbidden)", message,
		"docs: https://wiki.example.com/compute/topology-keys", "ask: #platform-compute")
	shared.kubectl(t, wrong.yaml(), "apply", "--server-side", "-f", "-").fails(t, message)
	shared.kubectl(t, wrong.yaml(), "apply", "--dry-run=server", "-f", "-").fails(t, message)
	shared.kubectl(t, wrong.yaml(), "create", "-f", "-").fails(t, message)
	none, err := shared.client.AppsV1().Deployments(space).List(shared.ctx, metav1.ListOptions{})
	if err != nil || len(none.Items) > 0 {
		t.Fatalf("%d Deployments are there, %v", len(none.Items), err)
	}

	right := wrong
	right.topologyKey = "topology.kubernetes.io/zone"
	shared.kubectl(t, right.yaml(), "apply", "--dry-run=server", "-f", "-").works(t).isSilent(t)
	shared.kubectl(t, right.yaml(), "apply", "-f", "-").works(t).isSilent(t)
	shared.kubectl(t, wrong.yaml(), "diff", "-f", "-").fails(t, message)

	// What a forced apply would replace is refused before anything is deleted.
	before, err := shared.client.AppsV1().Deployments(space).Get(shared.ctx, "shop", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	shared.kubectl(t, wrong.yaml(), "apply", "--force", "-f", "-").fails(t, message)
	shared.kubectl(t, wrong.yaml(), "replace", "-f", "-").fails(t, message)
	after, err := shared.client.AppsV1().Deployments(space).Get(shared.ctx, "shop", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if after.UID != before.UID || after.Generation != before.Generation {
		t.Errorf("the Deployment was touched: %s, generation %d; before %s, %d", after.UID, after.Generation,
			before.UID, before.Generation)
	}
}

// Templates of pods that nobody judged before: the ReplicaSet's pods are refused, and its event says all.
func TestReplicaSetSaysWhy(t *testing.T) {
	space := shared.namespace(t, nil)
	// The rail looks at workloads first: an exempt account creates this one, as an old workload was.
	older := deployment{namespace: space, name: "shop", replicas: 2, topologyKey: "zone"}
	if err := shared.guard.without(func() error {
		shared.kubectl(t, strings.Replace(older.yaml(), "replicas: 2", "replicas: 0", 1), "apply", "-f", "-").works(t)
		shared.eventually(t, "the ReplicaSet", func() error {
			sets, err := shared.client.AppsV1().ReplicaSets(space).List(shared.ctx, metav1.ListOptions{})
			if err == nil && len(sets.Items) != 1 {
				err = fmt.Errorf("%d ReplicaSets", len(sets.Items))
			}
			return err
		})
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	shared.kubectl(t, "", "-n", space, "scale", "deployment/shop", "--replicas=2").works(t)
	shared.eventually(t, "the ReplicaSet's event", func() error {
		events, err := shared.client.CoreV1().Events(space).List(shared.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, event := range events.Items {
			if event.Reason != "FailedCreate" {
				continue
			}
			first, rest, _ := strings.Cut(event.Message, "\n")
			wanted := "Error creating: admission webhook \"rails.taffrail.dev\" denied the request: " +
				"denied by compute guard rails: 1 problem in Pod " + space + "/shop-"
			if !strings.HasPrefix(first, wanted) || !strings.HasSuffix(first, ": topology-keys") {
				t.Errorf("the event's first line is not complete: %s", first)
			}
			if !strings.Contains(rest, `Nodes have no label "zone"`) {
				t.Errorf("the event does not say what was found: %s", rest)
			}
			return nil
		}
		return fmt.Errorf("%d events, none of them FailedCreate", len(events.Items))
	})
}

func TestWarnings(t *testing.T) {
	space := shared.namespace(t, nil)
	careless := deployment{namespace: space, name: "shop", replicas: 1, noRequests: true}
	said := shared.kubectl(t, careless.yaml(), "apply", "-f", "-").works(t).
		says(t, "Warning: ", "resource-requests", "containers[0].resources.requests.cpu: The cpu request")
	if lines := strings.Count(said.stderr, "\n"); lines != 1 {
		t.Errorf("%d lines of warnings instead of one:\n%s", lines, said.stderr)
	}
	careful := deployment{namespace: space, name: "careful", replicas: 0}
	shared.kubectl(t, careful.yaml(), "apply", "-f", "-").works(t).isSilent(t)
}

// An auditEvent is a line of the API server's audit log.
type auditEvent struct {
	Verb        string
	ObjectRef   struct{ Resource, Subresource, Namespace, Name string }
	User        struct{ Username string }
	Annotations map[string]string
	RequestURI  string
	Code        struct{ Code int } `json:"responseStatus"`
}

func (w *world) auditEvents(t *testing.T, namespace, resource string) []auditEvent {
	t.Helper()
	file, err := os.Open(w.plane.AuditLog())
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var found []auditEvent
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var event auditEvent
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			continue // a line that is being written
		}
		if event.ObjectRef.Namespace == namespace && event.ObjectRef.Resource == resource {
			found = append(found, event)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAuditAnnotations(t *testing.T) {
	space := shared.namespace(t, nil)
	quiet := deployment{
		namespace: space, name: "keeper", replicas: 0,
		podAnnotations: `{karpenter.sh/do-not-disrupt: "true"}`,
	}
	shared.kubectl(t, quiet.yaml(), "apply", "-f", "-").works(t).isSilent(t)
	wrong := deployment{namespace: space, name: "shop", replicas: 0, topologyKey: "zone"}
	shared.kubectl(t, wrong.yaml(), "apply", "-f", "-").fails(t)
	for _, wanted := range []struct{ what, value string }{
		{"what is only noted", "disruption-opt-out"},
		{"what is denied", "topology-keys"},
	} {
		found := false
		for _, event := range shared.auditEvents(t, space, "deployments") {
			for key, value := range event.Annotations {
				found = found || (strings.HasPrefix(key, "rails.taffrail.dev/") &&
					strings.Contains(key+value, wanted.value))
			}
		}
		if !found {
			t.Errorf("the API server's audit log lacks %s: %s in\n%+v", wanted.what, wanted.value,
				shared.auditEvents(t, space, "deployments"))
		}
	}
}

// An object that was wrong before can still be changed where it is not made worse.
func TestOldObjects(t *testing.T) {
	space := shared.namespace(t, nil)
	old := deployment{namespace: space, name: "shop", replicas: 0, topologyKey: "zone"}
	if err := shared.guard.without(func() error {
		shared.kubectl(t, old.yaml(), "apply", "-f", "-").works(t)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	shared.kubectl(t, "", "-n", space, "label", "deployment", "shop", "team=web").works(t)
	shared.kubectl(t, "", "-n", space, "scale", "deployment/shop", "--replicas=1").works(t)
	worse := `[{"op": "add", "path": "/spec/template/spec/nodeSelector",
		"value": {"karpenter.sh/capacity-type": "free"}}]`
	shared.kubectl(t, "", "-n", space, "patch", "deployment", "shop", "--type=json", "-p", worse).
		fails(t, "capacity-types")
	_, err := shared.client.AppsV1().Deployments(space).Patch(shared.ctx, "shop", types.MergePatchType,
		[]byte(`{"metadata": {"finalizers": ["e2e.taffrail.dev/hold"]}}`), metav1.PatchOptions{})
	if err != nil {
		t.Errorf("a finalizer cannot be added: %v", err)
	}
	_, err = shared.client.AppsV1().Deployments(space).Patch(shared.ctx, "shop", types.MergePatchType,
		[]byte(`{"metadata": {"finalizers": null}}`), metav1.PatchOptions{})
	if err != nil {
		t.Errorf("a finalizer cannot be removed: %v", err)
	}
}
