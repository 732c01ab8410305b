# shellcheck shell=bash
# cluster
# helm
# word VERSION = 1.0.0
prepare() {
    cat >values.yaml <<'YAML'
image: {repository: registry.example.com/taffrail, tag: 1.0.0}
excludeNamespaces: [karpenter]
YAML
}
