package main

import "strings"

// In values "#" stands for the number of the item, so that no two items are the same.

// requirement is a way to select nodes: of what a rail may read, and of what it must refuse.
type requirement struct{ name, key, operator, value string }

var nodeRequirements = []requirement{
	{"types", "node.kubernetes.io/instance-type", "In", "p5.#xlarge"},
	{"not types", "node.kubernetes.io/instance-type", "NotIn", "m5.#xlarge"},
	{"families", "karpenter.k8s.aws/instance-family", "In", "p#"},
	{"sizes", "karpenter.k8s.aws/instance-size", "In", "#xlarge"},
	{"zones", "topology.kubernetes.io/zone", "In", "us-east-1#"},
	{"old zones", "topology.ebs.csi.aws.com/zone", "In", "us-east-1#"},
	{"architectures", "kubernetes.io/arch", "In", "amd#"},
	{"capacity types", "karpenter.sh/capacity-type", "In", "spot#"},
	{"pools", "karpenter.sh/nodepool", "In", "team-#"},
	{"hosts", "kubernetes.io/hostname", "In", "ip-10-0-#"},
	{"no label", "zone", "In", "us-east-1#"},
	{"own label", "example.com/team", "In", "v#"},
	{"more than", "karpenter.k8s.aws/instance-cpu", "Gt", "#"},
	{"devices", "karpenter.k8s.aws/instance-gpu-name", "In", "a#"},
	{"own keys", "example.com/k#", "In", "v"},
	{"near keys", "topology.kubernetes.io/zone#", "In", "us-east-1a"},
	{"there", "example.com/k#", "Exists", ""},
	{"not there", "example.com/k#", "DoesNotExist", ""},
}

// For pods, of labels of the author's own.
var labelRequirements = []requirement{
	{"own label", "app", "In", "v#"},
	{"not own label", "app", "NotIn", "v#"},
	{"own keys", "example.com/k#", "In", "v"},
}

var tolerations = []map[string]any{
	{"key": "nvidia.com/gpu", "operator": "Equal", "value": "v#", "effect": "NoSchedule"},
	{"key": "example.com/t#", "operator": "Exists", "effect": "NoSchedule"},
	{"key": "team", "operator": "Equal", "value": "team-#", "effect": "NoSchedule"},
	{"operator": "Exists", "tolerationSeconds": 1, "effect": "NoExecute"},
}

// worth is a plausible value of a field, and one that some rail refuses.
type worth struct{ good, bad []string }

// By the name of the field.
var fieldValues = map[string]worth{
	"topologyKey":            {[]string{"kubernetes.io/hostname"}, []string{"zone", "zone#", "topology.kubernetes.io/zonee"}},
	"whenUnsatisfiable":      {[]string{"ScheduleAnyway"}, []string{"DoNotSchedule"}},
	"claimName":              {[]string{"data-set-1-0", "data-set-1-1", "web-1-2", "web-1-3"}, []string{"gone-#"}},
	"storageClassName":       {[]string{"gp3"}, []string{"gone-#", "at-once"}},
	"type":                   {[]string{"Container"}, []string{"Container"}},
	"effect":                 {[]string{"NoSchedule"}, []string{"NoExecute", "NoSchedul#"}},
	"schedule":               {[]string{"0 9 * * *"}, []string{"#"}},
	"nodes":                  {[]string{"10%"}, []string{"#"}},
	"duration":               {[]string{"1h"}, []string{"#"}},
	"expireAfter":            {[]string{"720h"}, []string{"Never"}},
	"provisioner":            {[]string{"ebs.csi.aws.com"}, []string{"ebs.csi.aws.com"}},
	"volumeBindingMode":      {[]string{"WaitForFirstConsumer"}, []string{"Immediate"}},
	"apiVersion":             {[]string{"apps/v1"}, []string{"v#"}},
	"kind":                   {[]string{"ReplicaSet"}, []string{"Kind#"}},
	"schedulerName":          {[]string{"default-scheduler"}, []string{"other-#"}},
	"nodeName":               {[]string{"ip-10-0-1"}, []string{"n#"}},
	"creationTimestamp":      {[]string{"2026-11-20T10:00:00Z"}, []string{"2026-11-20T10:00:00Z"}},
	"image":                  {[]string{"registry.example.com/app:#"}, []string{"registry.example.com/app:#"}},
	"runtimeClassName":       {[]string{"nvidia"}, []string{"nvidia"}},
	"accessModes":            {[]string{"ReadWriteOnce"}, []string{"ReadWriteMany", "Read#"}},
	"matchLabelKeys":         {[]string{"pod-template-hash"}, []string{"k#"}},
	"resourceClaimName":      {[]string{"claim"}, []string{"gone-#"}},
	"consolidateAfter":       {[]string{"30s"}, []string{"#"}},
	"terminationGracePeriod": {[]string{"1h"}, []string{"#"}},
	"alias":                  {[]string{"al2023@latest"}, []string{"al#@v#"}},
}

var plain = worth{[]string{"v#"}, []string{"v#"}}

// By the name of the map.
var mapKeys = map[string]worth{
	"requests":       resourceNames,
	"limits":         resourceNames,
	"overhead":       resourceNames,
	"default":        resourceNames,
	"defaultRequest": resourceNames,
	"min":            resourceNames,
	"max":            resourceNames,
	"capacity":       resourceNames,
	"resources":      resourceNames,
	"nodeSelector":   {[]string{"example.com/k#"}, []string{"topology.kubernetes.io/zone#", "karpenter.k8s.aws/instance-famil#", "beta.kubernetes.io/arch#"}},
	"labels":         {[]string{"example.com/l#"}, []string{"karpenter.sh/l#", "kubernetes.io/l#", "topology.kubernetes.io/zone#"}},
	"matchLabels":    {[]string{"example.com/l#"}, []string{"app#"}},
	"annotations":    {[]string{"example.com/a#"}, []string{"karpenter.sh/do-not-disrupt#", "karpenter.sh/a#"}},
	"parameters":     {[]string{"k#"}, []string{"zone#"}},
	"evictionHard":   {[]string{"memory.available"}, []string{"memory.available#"}},
}

var resourceNames = worth{
	[]string{"example.com/r#"},
	[]string{"nvidia.com/gpu#", "nvidia.com/mig-#g.5gb", "aws.amazon.com/neuron#", "cpu#", "hugepages-#Mi"},
}

func (w worth) of(bad bool) []string {
	if bad {
		return w.bad
	}
	return w.good
}

// flavour is one way to fill a field.
type flavour struct {
	name         string
	bad          bool // what a rail refuses, where we know of it
	full         bool // with every member that the schema has
	requirements []requirement
}

// isAboutNodes tells the selectors of nodes from those of pods and volumes.
func isAboutNodes(path string) bool {
	lower := strings.ToLower(path)
	return !strings.Contains(lower, "labelselector") && !strings.Contains(lower, "selector.match") &&
		!strings.Contains(lower, "namespaceselector")
}
