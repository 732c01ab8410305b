# shellcheck shell=bash
# word VERSION = 1.0.0
. "$SOURCE/tests/docs/pages/lib.sh"
prepare() {
    make_files
    if [ -n "${KUBECONFIG-}" ]; then install; fi
}
kubectl() {
    # diff ends with 1 where something differs.
    if [ "$1" = diff ]; then command kubectl "$@" || [ $? -eq 1 ]; else command kubectl "$@"; fi
}
