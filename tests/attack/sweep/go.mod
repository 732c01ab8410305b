module taffrail.dev/tests/attack/sweep

go 1.26.9

require go.yaml.in/yaml/v3 v3.0.4

// Not imported: their schemas are read (modules.go).
require (
	github.com/aws/karpenter-provider-aws v1.15.0 // indirect
	k8s.io/kubernetes v1.36.1 // indirect
)
