# shellcheck shell=bash
# What pages share.

# A policy file, a folder of them, manifests and a cluster as files, under the names that pages give them.
make_files() {
    mkdir -p policies state
    cp manifests/policies/demo.yaml policies/production.yaml
    cp manifests/policies/demo.yaml production.yaml
    cp manifests/demo/cluster/*.yaml state/
}

# Taffrail in the cluster, in audit, as the guide installs it.
install() {
    command taffrail render --image registry.example.com/taffrail:1.0.0 >install.yaml
    command kubectl apply -f install.yaml >/dev/null
    command kubectl --namespace taffrail rollout status deployment/taffrail --timeout 60s
}
