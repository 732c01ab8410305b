# shellcheck shell=bash
prepare() {
    cp -r manifests/demo/cluster cluster
    cp "$SOURCE"/tests/contract/audit-log/e2e.log audit.log
    policy() {
        printf 'apiVersion: taffrail.dev/v1alpha1\nkind: GuardRails\nmetadata: {name: spread}\nspec:\n'
        printf '  mode: %s\n  rails: {%s}\n' "$@"
    }
    policy warn 'resource-requests: {}' >old.yaml
    policy enforce 'resource-requests: {min: {cpu: 2}}, zone-spread: {minReplicas: 2}' >new.yaml
}
