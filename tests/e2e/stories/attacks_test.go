package stories

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const attackPolicy = `apiVersion: taffrail.dev/v1alpha1
kind: GuardRails
metadata: {name: attacks}
spec:
  mode: enforce
  since: %s
  match: {excludeNamespaces: [kube-system, taffrail]}
  rails:
    capacity-types: {}
    pod-disruption-budgets: {}
    resource-requests: {}
    tolerations: {}
    topology-keys: {}
    zone-pin: {}
`

// What the webhook's denials begin with; a failed call of it reads otherwise.
const denial = `admission webhook "rails.taffrail.dev" denied the request`

// An intruder may edit one namespace, and nothing else.
type intruder struct {
	*world
	space, kubeconfig string
}

func (w *world) intruder(t *testing.T) intruder {
	t.Helper()
	space := w.namespace(t, nil)
	kubeconfig, err := w.plane.Kubeconfig("mallory-of-"+space, "mallories")
	if err != nil {
		t.Fatal(err)
	}
	_, err = w.client.RbacV1().RoleBindings(space).Create(w.ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "mallory"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "edit"},
		Subjects:   []rbacv1.Subject{{Kind: "User", APIGroup: rbacv1.GroupName, Name: "mallory-of-" + space}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	i := intruder{w, space, kubeconfig}
	w.eventually(t, "the right to edit", func() error {
		if said := i.kubectl(t, "", "auth", "can-i", "create", "pods"); strings.TrimSpace(said.stdout) != "yes" {
			return fmt.Errorf("%s%s", said.stdout, said.stderr)
		}
		return nil
	})
	return i
}

func (i intruder) kubectl(t *testing.T, manifest string, arguments ...string) printed {
	t.Helper()
	return i.kubectlAs(t, i.kubeconfig, manifest, append([]string{"-n", i.space}, arguments...)...)
}

// guardedBy has the guard started with a policy until the test ends.
func (w *world) guardedBy(t *testing.T, name, policy string) {
	t.Helper()
	t.Cleanup(func() {
		if err := w.guard.restart(false, "testdata/policy.yaml"); err != nil {
			t.Error(err)
		}
	})
	if err := w.guard.restart(false, w.policyFile(t, name, policy)); err != nil {
		t.Fatal(err)
	}
}

// repeated writes count items of a flow sequence, the number in the place of %d.
func repeated(count int, item string) string {
	items := make([]string, count)
	for n := range items {
		items[n] = strings.ReplaceAll(item, "%d", fmt.Sprint(n))
	}
	return strings.Join(items, ", ")
}

// nested writes a managedFields entry that is so many levels deep.
func nested(levels int) string {
	return `managedFields: [{manager: mallory, operation: Update, apiVersion: v1, fieldsType: FieldsV1, time: "2026-11-01T00:00:00Z", fieldsV1: ` +
		strings.Repeat(`{"f:a": `, levels) + "{}" + strings.Repeat("}", levels) + "}]"
}

const (
	plain    = "{name: main, image: none, resources: {requests: {cpu: 100m, memory: 64Mi}}}"
	affinity = "affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [%s]}}}"
	term     = "{matchExpressions: [{key: karpenter.sh/capacity-type, operator: In, values: [%s]}]}"
)

func spec(container string, more ...string) string {
	return "{containers: [" + container + "], " + strings.Join(more, ", ") + "}"
}

func podOf(name, metadata, spec string) string {
	if metadata != "" {
		metadata = ", " + metadata
	}
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: %s%s}\nspec: %s\n", name, metadata, spec)
}

// What is denied stays denied however much stands around it.
func TestAttackByPadding(t *testing.T) {
	i := shared.intruder(t)
	shared.guardedBy(t, "attacks", fmt.Sprintf(attackPolicy, time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)))
	dear := "nodeSelector: {karpenter.sh/capacity-type: probe}"
	resources := repeated(16000, `example.com/r%d: "1"`)
	for _, c := range []struct{ name, manifest string }{
		{"values", podOf("values", "", spec(plain, fmt.Sprintf(affinity, fmt.Sprintf(term, "probe, "+repeated(46, "v%d")))))},
		{"many-values", podOf("many-values", "", spec(plain, fmt.Sprintf(affinity, fmt.Sprintf(term, "probe, "+repeated(20000, "v%d")))))},
		{"terms", podOf("terms", "", spec(plain, fmt.Sprintf(affinity, repeated(90, fmt.Sprintf(term, "v%d")))))},
		{"selector", podOf("selector", "", spec(plain, "nodeSelector: {karpenter.sh/capacity-type: probe, "+repeated(478, "example.com/k%d: v")+"}"))},
		{"containers", podOf("containers", "", spec(repeated(511, "{name: c%d, image: none}"), dear))},
		{"init-containers", podOf("init-containers", "", spec(plain, dear, "initContainers: ["+repeated(600, "{name: i%d, image: none}")+"]"))},
		{"tolerations", podOf("tolerations", "", spec(plain, "tolerations: ["+repeated(1024, "{key: example.com/k%d, operator: Exists}")+", {operator: Exists}]"))},
		{"resources", podOf("resources", "", spec("{name: main, image: none, resources: {requests: {cpu: 100m, memory: 64Mi, "+
			resources+"}, limits: {"+resources+"}}}", dear))},
		{"managed-fields", podOf("managed-fields", nested(130), spec(plain, dear))},
	} {
		t.Run(c.name, func(t *testing.T) {
			i.kubectl(t, c.manifest, "create", "-f", "-").fails(t, "Error from server (Forbidden)", denial)
		})
	}
}

// An ownerReference that anybody can write buys nothing.
func TestAttackByOwner(t *testing.T) {
	i := shared.intruder(t)
	since := time.Now().Add(time.Hour) // what is there now is old
	old := deployment{namespace: i.space, name: "old", replicas: 0}
	shared.kubectl(t, old.yaml(), "apply", "-f", "-").works(t)
	uid := i.kubectl(t, "", "get", "deployment/old", "-o", "jsonpath={.metadata.uid}").works(t).stdout
	shared.guardedBy(t, "attacks", fmt.Sprintf(attackPolicy, since.UTC().Format(time.RFC3339)))
	for name, owner := range map[string]string{
		"of-old":         "apiVersion: apps/v1, kind: Deployment, name: old, uid: " + uid,
		"of-nobody":      "apiVersion: apps/v1, kind: Deployment, name: nobody, uid: 3c0a2d4e-0000-4000-8000-000000000001",
		"of-set":         "apiVersion: apps/v1, kind: StatefulSet, name: db, uid: 3c0a2d4e-0000-4000-8000-000000000002",
		"of-replica-set": "apiVersion: apps/v1, kind: ReplicaSet, name: old-5d4, uid: 3c0a2d4e-0000-4000-8000-000000000003",
	} {
		t.Run(name, func(t *testing.T) {
			set := fmt.Sprintf("apiVersion: apps/v1\nkind: ReplicaSet\nmetadata: {name: %[1]s, ownerReferences: [{%[2]s, controller: true}]}\n"+
				"spec: {replicas: 1, selector: {matchLabels: {app: %[1]s}}, template: {metadata: {labels: {app: %[1]s}}, spec: %[3]s}}\n",
				name, owner, spec(plain, "nodeSelector: {karpenter.sh/capacity-type: probe}"))
			i.kubectl(t, set, "create", "-f", "-").fails(t, "Error from server (Forbidden)", denial)
			pod := podOf(name, "ownerReferences: [{"+owner+", controller: true}]",
				spec(plain, "nodeSelector: {karpenter.sh/capacity-type: probe}"))
			i.kubectl(t, pod, "create", "-f", "-").fails(t, "Error from server (Forbidden)", denial)
		})
	}
}

// A budget that is being deleted goes on blocking drains, and is judged.
func TestAttackByDeletion(t *testing.T) {
	i := shared.intruder(t)
	shared.guardedBy(t, "attacks", fmt.Sprintf(attackPolicy, time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)))
	i.kubectl(t, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, finalizers: [example.com/stay]}\n"+
		"spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}\n", "create", "-f", "-").works(t)
	defer func() {
		i.kubectl(t, "", "patch", "pdb/web", "--type=merge", "-p", `{"metadata": {"finalizers": null}}`).works(t)
	}()
	i.kubectl(t, "", "delete", "pdb/web", "--wait=false").works(t)
	i.kubectl(t, "", "patch", "pdb/web", "--type=merge", "-p", `{"spec": {"maxUnavailable": 0}}`).
		fails(t, "Error from server (Forbidden)", denial)
	i.kubectl(t, "", "label", "pdb/web", "tier=web").works(t)
}

const zonalDisk = `apiVersion: v1
kind: Node
metadata: {name: %[1]s, labels: {topology.kubernetes.io/zone: %[1]s-zone, kubernetes.io/hostname: %[1]s}}
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: %[1]s}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: ""
  claimRef: {namespace: %[1]s, name: data}
  csi: {driver: ebs.csi.aws.com, volumeHandle: %[1]s}
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [%[1]s-zone]}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: %[1]s}
spec: {accessModes: [ReadWriteOnce], storageClassName: "", volumeName: %[1]s, resources: {requests: {storage: 1Gi}}}
`

// Objects that are hard to read, in one namespace, blind the guard for none of the others: after a restart all kinds
// are listed, a budget is held against the Deployments there are, and a bound disk's zone is pinned.
func TestAttackOnTheView(t *testing.T) {
	w := shared
	i := w.intruder(t)
	for _, manifest := range []string{
		podOf("deep", nested(250), spec(plain)),
		"apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: deep, " + nested(250) + "}\n" +
			"spec: {serviceName: deep, replicas: 0, selector: {matchLabels: {app: deep}}, template: {metadata: {labels: {app: deep}}, spec: " +
			spec(plain) + "}}\n",
		"apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: deep, " + nested(250) + "}\n" +
			"spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}\n",
	} {
		i.kubectl(t, manifest, "create", "-f", "-").works(t)
	}
	space := w.namespace(t, nil)
	w.admin(t, fmt.Sprintf(zonalDisk, space), "apply", "-f", "-").works(t)
	defer w.admin(t, "", "delete", "node/"+space, "pv/"+space, "--wait=false")
	w.eventually(t, "the claim is bound", func() error {
		claim, err := w.client.CoreV1().PersistentVolumeClaims(space).Get(w.ctx, "data", metav1.GetOptions{})
		if err == nil && claim.Status.Phase != corev1.ClaimBound {
			err = fmt.Errorf("it is %s", claim.Status.Phase)
		}
		return err
	})
	shop := deployment{namespace: space, name: "shop", replicas: 2}
	w.kubectl(t, shop.yaml(), "apply", "-f", "-").works(t)

	w.guardedBy(t, "attacks", fmt.Sprintf(attackPolicy, time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)))
	page, err := w.guard.page("/readyz?verbose")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(page, "\n") {
		for _, kind := range []string{"pods", "statefulsets", "persistentvolumeclaims", "deployments"} {
			if strings.HasPrefix(line, kind+":") && strings.Contains(line, "never listed") {
				t.Errorf("after a restart: %s", line)
			}
		}
	}
	w.kubectl(t, "apiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: shop, namespace: "+space+"}\n"+
		"spec: {minAvailable: 2, selector: {matchLabels: {app: shop}}}\n", "create", "-f", "-").fails(t, denial)
	pod := podOf("db", "namespace: "+space, spec(plain, "volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]"))
	w.kubectl(t, pod, "create", "-f", "-").works(t)
	made, err := w.client.CoreV1().Pods(space).Get(w.ctx, "db", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if zone := made.Spec.NodeSelector["topology.kubernetes.io/zone"]; zone != space+"-zone" {
		t.Errorf("the pod of a bound disk is pinned to %q; annotations %v", zone, made.Annotations)
	}
}

// Under the same policy controllers and operators work as ever.
func TestHonestControllers(t *testing.T) {
	w := shared
	i := w.intruder(t) // who is honest for once
	w.guardedBy(t, "attacks", fmt.Sprintf(attackPolicy, time.Now().Add(-time.Hour).UTC().Format(time.RFC3339)))
	shop := deployment{namespace: i.space, name: "shop", replicas: 3}
	i.kubectl(t, shop.yaml(), "apply", "-f", "-").works(t).isSilent(t)
	pods := func(selector string, wanted int) {
		t.Helper()
		w.eventually(t, fmt.Sprintf("%d pods of %s", wanted, selector), func() error {
			there, err := w.client.CoreV1().Pods(i.space).List(w.ctx, metav1.ListOptions{LabelSelector: selector})
			if err == nil && len(there.Items) < wanted {
				err = fmt.Errorf("%d of %d pods", len(there.Items), wanted)
			}
			return err
		})
	}
	pods("app=shop", 3)
	i.kubectl(t, "", "scale", "deployment/shop", "--replicas=5").works(t).isSilent(t)
	pods("app=shop", 5)
	i.kubectl(t, "", "set", "image", "deployment/shop", "main=registry.example.com/main:2").works(t).isSilent(t)
	i.kubectl(t, "", "rollout", "undo", "deployment/shop").works(t)
	i.kubectl(t, fmt.Sprintf("apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db}\n"+
		"spec: {serviceName: db, replicas: 1, selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: %s}}\n",
		spec(plain)), "apply", "-f", "-").works(t).isSilent(t)
	pods("app=db", 1)
	i.kubectl(t, fmt.Sprintf("apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: report}\n"+
		"spec: {schedule: \"15 2 1 1 *\", jobTemplate: {spec: {template: {metadata: {labels: {app: report}}, spec: %s}}}}\n",
		spec(plain, "restartPolicy: Never")), "apply", "-f", "-").works(t).isSilent(t)
	i.kubectl(t, "", "create", "job", "now", "--from=cronjob/report").works(t).isSilent(t)
	pods("app=report", 1)

	// An operator's Deployment has a custom resource as its owner; a ConfigMap stands for it.
	i.kubectl(t, "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: site}\n", "create", "-f", "-").works(t)
	uid := i.kubectl(t, "", "get", "configmap/site", "-o", "jsonpath={.metadata.uid}").works(t).stdout
	site := deployment{namespace: i.space, name: "site", replicas: 1}
	owned := strings.Replace(site.yaml(), "labels: {app: site}}", "labels: {app: site}, ownerReferences: "+
		"[{apiVersion: v1, kind: ConfigMap, name: site, controller: true, uid: "+uid+"}]}", 1)
	i.kubectl(t, owned, "apply", "-f", "-").works(t).isSilent(t)
	pods("app=site", 1)

	events, err := w.client.CoreV1().Events(i.space).List(w.ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, event := range events.Items {
		if event.Reason == "FailedCreate" {
			t.Errorf("a controller was refused: %s", event.Message)
		}
	}
}
