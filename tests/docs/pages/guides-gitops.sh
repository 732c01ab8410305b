# shellcheck shell=bash
. "$SOURCE/tests/docs/pages/lib.sh"
prepare() {
    cp -r manifests/gitops/policies .
    rm -r manifests
    mkdir manifests
    cp "$SOURCE/docs/tutorial/shop/shop.yaml" manifests/
    sed -i 's/topologyKey: zone/topologyKey: topology.kubernetes.io\/zone/' manifests/shop.yaml
}
