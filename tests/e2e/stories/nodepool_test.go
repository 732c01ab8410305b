package stories

import (
	"testing"
)

const someMachines = `[{key: karpenter.kwok.sh/instance-family, operator: In, values: [c, m]},
        {key: kubernetes.io/arch, operator: In, values: [amd64]},
        {key: karpenter.sh/capacity-type, operator: In, values: [on-demand]}]`

// Karpenter's own definition of a NodePool is installed, and judges first.
func TestNodePools(t *testing.T) {
	for _, c := range []struct {
		name, requirements, more string
		said                     []string // nothing: it is taken, without a word
	}{
		{"right", someMachines, "", nil},
		{"refused-by-its-definition",
			`[{key: kubernetes.io/arch, operator: In}]`, "",
			[]string{`The NodePool "refused-by-its-definition" is invalid`, "must have a value defined"}},
		{"never-comes", someMachines,
			`  disruption: {budgets: [{nodes: "0", schedule: "0 25 * * *", duration: 1h}]}`,
			[]string{"denied by compute guard rails: 1 problem in NodePool never-comes: disruption-budgets",
				"spec.disruption.budgets[0].schedule"}},
		{"no-machine",
			`[{key: node.kubernetes.io/instance-type, operator: In, values: [c-3x-amd64-linux]}]`, "",
			[]string{"NodePool no-machine: pool-shape", "c-3x-amd64-linux"}},
		{"free",
			`[{key: karpenter.kwok.sh/instance-family, operator: In, values: [c]},
        {key: karpenter.sh/capacity-type, operator: In, values: [reserved]}]`, "",
			[]string{"NodePool free: ", "capacity-types"}},
		{"open", `[]`, "", []string{"NodePool open: ", "pool-shape"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			manifest := nodePoolYAML(c.name, c.requirements, c.more)
			if len(c.said) > 0 {
				shared.admin(t, manifest, "apply", "-f", "-").fails(t, c.said...)
				shared.admin(t, "", "get", "nodepool", c.name).fails(t, "not found")
				return
			}
			shared.admin(t, manifest, "apply", "-f", "-").works(t).isSilent(t)
			t.Cleanup(func() { shared.admin(t, "", "delete", "nodepool", c.name).works(t) })
			shared.admin(t, "", "patch", "nodepool", c.name, "--type=merge", "-p",
				`{"spec": {"limits": {"cpu": "100"}}}`).works(t).isSilent(t)
			shared.admin(t, "", "patch", "nodepool", c.name, "--type=merge", "-p",
				`{"spec": {"disruption": {"budgets": [{"nodes": "0"}]}}}`).fails(t, "disruption-budgets")
		})
	}
}

// What the API server drops it drops before it asks anybody; what is left is judged.
func TestNodePoolWithRequirementsInTheWrongPlace(t *testing.T) {
	manifest := `apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: misplaced}
spec:
  requirements: ` + someMachines + `
  template:
    spec:
      nodeClassRef: {group: karpenter.kwok.sh, kind: KWOKNodeClass, name: default}
      requirements: []
`
	shared.admin(t, manifest, "apply", "-f", "-").fails(t, `unknown field "spec.requirements"`)
	shared.admin(t, manifest, "apply", "--validate=false", "-f", "-").fails(t,
		"1 problem in NodePool misplaced: pool-shape")
}
