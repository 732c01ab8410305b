# shellcheck shell=bash
. "$SOURCE/tests/docs/pages/lib.sh"
prepare() { [ -z "${KUBECONFIG-}" ] || install; }
