# shellcheck shell=bash
. "$SOURCE/tests/docs/pages/lib.sh"
prepare() {
    cp -r manifests/policies manifests/demo .
    if [ -n "${KUBECONFIG-}" ]; then install; fi
}
