package stories

import (
	"fmt"
	"strings"
)

// A deployment to be written as YAML; what is empty is left out.
type deployment struct {
	namespace, name string
	replicas        int
	topologyKey     string // of a spread over it
	podAnnotations  string // a flow mapping
	more            string // lines of the pod's spec
	noRequests      bool
}

func (d deployment) yaml() string {
	var b strings.Builder
	fmt.Fprintf(&b, `apiVersion: apps/v1
kind: Deployment
metadata: {name: %[1]s, namespace: %[2]s, labels: {app: %[1]s}}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: %[1]s}}
  template:
    metadata:
      labels: {app: %[1]s}
`, d.name, d.namespace, d.replicas)
	if d.podAnnotations != "" {
		fmt.Fprintf(&b, "      annotations: %s\n", d.podAnnotations)
	}
	b.WriteString("    spec:\n")
	if d.topologyKey != "" {
		fmt.Fprintf(&b, `      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: %s
          whenUnsatisfiable: DoNotSchedule
          labelSelector: {matchLabels: {app: %s}}
`, d.topologyKey, d.name)
	}
	for _, line := range strings.Split(strings.TrimSpace(d.more), "\n") {
		if line != "" {
			fmt.Fprintf(&b, "      %s\n", line)
		}
	}
	b.WriteString("      containers:\n        - name: main\n          image: registry.example.com/main:1\n")
	if !d.noRequests {
		b.WriteString("          resources: {requests: {cpu: 100m, memory: 64Mi}}\n")
	}
	return b.String()
}

// A pod, with lines of its spec.
func podYAML(namespace, name, more string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "apiVersion: v1\nkind: Pod\nmetadata: {%s, namespace: %s}\nspec:\n", name, namespace)
	for _, line := range strings.Split(strings.TrimSpace(more), "\n") {
		if line != "" {
			fmt.Fprintf(&b, "  %s\n", line)
		}
	}
	b.WriteString("  containers:\n    - name: main\n      image: registry.example.com/main:1\n" +
		"      resources: {requests: {cpu: 100m, memory: 64Mi}}\n")
	return b.String()
}

// A pool of Karpenter's kwok provider, with lines under spec.template.spec and under spec.
func nodePoolYAML(name, requirements, more string) string {
	return fmt.Sprintf(`apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: %s}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: %s
%s`, name, requirements, more)
}
