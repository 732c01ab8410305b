package stories

import (
	"fmt"
	"strings"
	"testing"
)

// A Node is seen, though none that takes these pods.
const doorsYAML = `---
apiVersion: v1
kind: Node
metadata: {name: other}
spec: {taints: [{key: other, effect: NoExecute}]}
status: {allocatable: {cpu: "1", memory: 1Gi, pods: "10"}}
---
apiVersion: v1
kind: Namespace
metadata: {name: dear}
---
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu.example.com}
spec: {selectors: [{cel: {expression: device.driver == "gpu.example.com"}}]}
---
apiVersion: karpenter.sh/v1alpha1
kind: NodeOverlay
metadata: {name: licence}
spec:
  weight: 5
  price: "0.2"
  requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}]
---
apiVersion: v1
kind: PodTemplate
metadata: {name: small, namespace: dear}
template: {spec: {containers: [{name: main, image: none, resources: {requests: {cpu: 10m}}}]}}
---
apiVersion: v1
kind: PodTemplate
metadata: {name: vast, namespace: dear}
template: {spec: {containers: [{name: main, image: none, resources: {requests: {cpu: "64"}}}]}}
`

// A workload of namespace dear whose pods take a machine each.
func dearYAML(kind, name, spec, cpu, more string) string {
	return fmt.Sprintf(`apiVersion: apps/v1
kind: %s
metadata: {name: %s, namespace: dear}
spec:
  %s
  selector: {matchLabels: {app: %s}}
  template:
    metadata: {labels: {app: %s}}
    spec:
      containers: [{name: main, image: none, resources: {requests: {cpu: %q}}}]
%s`, kind, name, spec, name, name, cpu, more)
}

func claimYAML(name, class string, count int) string {
	return fmt.Sprintf(`{apiVersion: resource.k8s.io/v1, kind: ResourceClaim, metadata: {name: %s, namespace: dear}, spec: {
		devices: {requests: [{name: gpu, exactly: {deviceClassName: %s, allocationMode: ExactCount, count: %d}}]}}}`, name, class, count)
}

func bufferYAML(name, template string, replicas int) string {
	return fmt.Sprintf(`{apiVersion: autoscaling.x-k8s.io/v1beta1, kind: CapacityBuffer, metadata: {name: %s, namespace: dear}, spec: {
		podTemplateRef: {name: %s}, replicas: %d}}`, name, template, replicas)
}

func overlayYAML(name, more string) string {
	return fmt.Sprintf(`{apiVersion: karpenter.sh/v1alpha1, kind: NodeOverlay, metadata: {name: %s}, spec: {%s,
		requirements: [{key: node.kubernetes.io/instance-type, operator: In, values: [c-4x-amd64-linux]}]}}`, name, more)
}

// What is no workload and no NodePool comes to the guard, too: buffers, overlays, claims of devices, DaemonSets and
// autoscalers, as this API server sends them.
func TestDoors(t *testing.T) {
	w := newOwnWorld(t, "doors", newWorldWith("testdata/doors.yaml"))
	w.guard.failurePolicy = "Fail"
	if err := w.guard.register(); err != nil {
		t.Fatal(err)
	}
	w.admin(t, nodesYAML()+doorsYAML, "apply", "-f", "-").works(t)
	w.eventually(t, "that the guard sees all of it", func() error {
		for manifest, said := range map[string]string{
			claimYAML("unseen", "gpu.exmaple.com", 1):             "There is no DeviceClass",
			bufferYAML("unseen", "vast", 1):                       "No NodePool and no Node can run these pods",
			overlayYAML("discount", `weight: 5, price: "0.1"`):    "of equal weight both set the price",
			dearYAML("Deployment", "web", "replicas: 2", "3", ""): "a workload in namespace dear may add $100.00",
		} {
			if out := w.admin(t, manifest, "create", "--dry-run=server", "-f", "-"); !strings.Contains(out.stderr, said) {
				return fmt.Errorf("not %q, but %s", said, out.stderr)
			}
		}
		return nil
	})
	named := "      resourceClaims: [{name: gpu, resourceClaimTemplateName: one-gup}]\n"
	scaler := `{apiVersion: autoscaling/v2, kind: HorizontalPodAutoscaler, metadata: {name: web, namespace: dear}, spec: {
		maxReplicas: %d, scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}}}`
	for _, c := range []struct {
		name, manifest string
		denied         bool
		said           []string // nothing: it is taken, without a word
	}{
		{"a buffer of too many", bufferYAML("many", "small", 50), true, []string{"CapacityBuffer dear/many", "capacity-buffer", "this policy allows 10"}},
		{"a buffer", bufferYAML("spare", "small", 5), false, nil},
		{"an overlay of equal weight", overlayYAML("discount", `weight: 5, price: "0.1"`), true, []string{"NodeOverlay discount: node-overlay"}},
		{"an overlay", overlayYAML("discount", `weight: 6, price: "0.1"`), false, nil},
		{"a claim of an unknown class", claimYAML("one", "gpu.exmaple.com", 1), true,
			[]string{"ResourceClaim dear/one: resource-claims", "gpu.exmaple.com", "Use gpu.example.com."}},
		{"a claim of too many", claimYAML("three", "gpu.example.com", 3), true, []string{"asks for 3 devices of gpu.example.com, and a claim may have 2"}},
		{"a claim", claimYAML("two", "gpu.example.com", 2), false, nil},
		{"a template of claims", `{apiVersion: resource.k8s.io/v1, kind: ResourceClaimTemplate, metadata: {name: one-gpu, namespace: dear}, spec: {
			spec: {devices: {requests: [{name: gpu, exactly: {deviceClassName: gpu.exmaple.com}}]}}}}`, true,
			[]string{"ResourceClaimTemplate dear/one-gpu: resource-claims", "Use gpu.example.com."}},
		{"a class behind an extended resource", `{apiVersion: resource.k8s.io/v1, kind: DeviceClass, metadata: {name: extended}, spec: {
			extendedResourceName: example.com/gpu}}`, false, []string{"[resource-claims] spec.extendedResourceName"}},
		{"pods of a template that is not there", dearYAML("Deployment", "claims", "replicas: 1", "1", named), false,
			[]string{`[resource-claims] ...resourceClaimTemplateName: There is no ResourceClaimTemplate "one-gup"`}},
		{"a DaemonSet that takes all machines", dearYAML("DaemonSet", "agent", "minReadySeconds: 1", "4", ""), true,
			[]string{"DaemonSet dear/agent: daemon-fit", "no instance type of NodePool general has room"}},
		{"a workload that costs too much", dearYAML("Deployment", "web", "replicas: 2", "3", ""), true,
			[]string{"Deployment dear/web: cost", "Its 2 pods add 2 nodes", "a workload in namespace dear may add $100.00"}},
		{"one that does not", dearYAML("Deployment", "web", "replicas: 1", "3", ""), false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			came := w.admin(t, c.manifest, "create", "-f", "-")
			switch {
			case c.denied:
				came.fails(t, append(c.said, "denied by compute guard rails: 1 problem in ")...)
			case c.said == nil:
				came.works(t).isSilent(t)
			default:
				came.works(t).says(t, c.said...)
			}
		})
	}
	w.admin(t, "", "-n", "dear", "scale", "deployment", "web", "--replicas=7").fails(t, "cost", "a workload in namespace dear may add $100.00")
	w.eventually(t, "that what scales a workload costs what the workload may", func() error {
		out := w.admin(t, fmt.Sprintf(scaler, 9), "create", "--dry-run=server", "-f", "-")
		if !strings.Contains(out.stderr, "HorizontalPodAutoscaler dear/web: cost") {
			return fmt.Errorf("%s%s", out.stdout, out.stderr)
		}
		return nil
	})
	w.admin(t, fmt.Sprintf(scaler, 1), "create", "-f", "-").works(t).isSilent(t)
	w.admin(t, "", "-n", "dear", "patch", "capacitybuffer", "spare", "--type=merge", "-p", `{"spec": {"replicas": 11}}`).fails(t, "capacity-buffer")
}
