# shellcheck shell=bash
. "$SOURCE/tests/docs/pages/lib.sh"
prepare() { make_files; }
kubectl() {
    case "$*" in
    # The guide makes it in an empty cluster.
    "create namespace taffrail") command kubectl delete namespace taffrail --ignore-not-found --wait ;;
    esac
    command kubectl "$@"
}
