# shellcheck shell=bash
. "$SOURCE/tests/docs/pages/lib.sh"
prepare() {
    if [ -n "${KUBECONFIG-}" ]; then install; fi
}
