# The rails of rails.yaml in Rego, as an API server asks OPA's server for them.
package system

families := {"m6i", "m7g", "c7g", "r6i"}

topology_keys := {"topology.kubernetes.io/zone", "kubernetes.io/hostname"}

# What the API server tolerates for every pod by itself.
of_every_pod := {
	"node.kubernetes.io/not-ready",
	"node.kubernetes.io/unreachable",
	"node.kubernetes.io/memory-pressure",
}

main := {
	"apiVersion": "admission.k8s.io/v1",
	"kind": "AdmissionReview",
	"response": response,
}

response := {"uid": input.request.uid, "allowed": true} if count(deny) == 0

response := {
	"uid": input.request.uid,
	"allowed": false,
	"status": {"message": concat("; ", sort(deny))},
} if {
	count(deny) > 0
}

spec := input.request.object.spec

# ---- instance-types

family_of("node.kubernetes.io/instance-type", value) := split(value, ".")[0]

family_of("karpenter.k8s.aws/instance-family", value) := value

deny contains sprintf("instance type %s is not allowed", [value]) if {
	some key, value in spec.nodeSelector
	not family_of(key, value) in families
	is_of_types(key)
}

deny contains sprintf("instance type %s is not allowed", [value]) if {
	some term in spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms
	some expression in term.matchExpressions
	expression.operator == "In"
	is_of_types(expression.key)
	some value in expression.values
	not family_of(expression.key, value) in families
}

is_of_types("node.kubernetes.io/instance-type")

is_of_types("karpenter.k8s.aws/instance-family")

# ---- topology-keys

used_keys contains spread.topologyKey if some spread in spec.topologySpreadConstraints

used_keys contains term.topologyKey if {
	some kind in ["podAffinity", "podAntiAffinity"]
	some term in spec.affinity[kind].requiredDuringSchedulingIgnoredDuringExecution
}

used_keys contains preferred.podAffinityTerm.topologyKey if {
	some kind in ["podAffinity", "podAntiAffinity"]
	some preferred in spec.affinity[kind].preferredDuringSchedulingIgnoredDuringExecution
}

deny contains sprintf("topology key %s is not allowed", [key]) if {
	some key in used_keys - topology_keys
}

# ---- tolerations

resources contains name if {
	some list in ["containers", "initContainers"]
	some container in spec[list]
	some amounts in ["requests", "limits"]
	some name, _ in container.resources[amounts]
}

deny contains sprintf("toleration of %s is not allowed", [toleration.key]) if {
	some toleration in spec.tolerations
	object.get(toleration, "effect", "") != "PreferNoSchedule"
	object.get(toleration, "key", "") != ""
	not is_granted(toleration)
}

deny contains "every taint is tolerated" if {
	some toleration in spec.tolerations
	object.get(toleration, "effect", "") != "PreferNoSchedule"
	object.get(toleration, "key", "") == ""
	toleration.operator == "Exists"
	not leaves_in_time(toleration)
}

is_granted(toleration) if toleration.key in of_every_pod

is_granted(toleration) if toleration.key in resources

is_granted(toleration) if toleration.key == "example.com/batch"

is_granted(toleration) if {
	toleration.key == "team"
	object.get(toleration, "operator", "Equal") != "Exists"
	toleration.value == "web"
	toleration.effect == "NoSchedule"
}

leaves_in_time(toleration) if {
	toleration.effect == "NoExecute"
	is_number(toleration.tolerationSeconds)
}
