# shellcheck shell=bash
# The page's own policies: each block of YAML that begins with its file's name.
prepare() {
    awk '/^```/ {name = ""} /^# [a-z-]+\.yaml$/ && last ~ /^```yaml/ {name = $2} {last = $0} name != "" {print > name}' \
        "$SOURCE"/docs/guides/exceptions.md
    cat >train.yaml <<'YAML'
apiVersion: apps/v1
kind: Deployment
metadata: {name: train-llm, namespace: ml-research}
spec:
  selector: {matchLabels: {app: train-llm}}
  template:
    metadata: {labels: {app: train-llm}}
    spec:
      nodeSelector: {karpenter.k8s.aws/instance-category: p}
      containers: [{name: train, image: "registry.example.com/train:1"}]
YAML
}
