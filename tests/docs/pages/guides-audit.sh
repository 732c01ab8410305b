# shellcheck shell=bash
# word POLICY = manifests/policies/starter.yaml
# word FILE = "$KUBECONFIG"
