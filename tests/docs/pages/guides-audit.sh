# word POLICY = manifests/policies/starter.yaml
# word FILE = "$KUBECONFIG"
prepare() {
    if [ -n "${KUBECONFIG-}" ]; then kubectl apply -f "$SOURCE"/tests/e2e/stories/testdata/openreports.yaml; fi
}
