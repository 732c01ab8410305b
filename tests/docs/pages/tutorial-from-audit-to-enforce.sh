# cluster
prepare() {
    kubectl delete namespace taffrail shop --ignore-not-found --wait
}
