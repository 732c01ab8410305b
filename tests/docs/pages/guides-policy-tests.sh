# shellcheck shell=bash
prepare() {
    mkdir -p policies/production
    cp manifests/policies/demo.yaml policies/production/policy.yaml
    cp manifests/demo/requests/checkout.yaml policies/production/
    cat >policies/production/cases.yaml <<'YAML'
- name: a bare zone is denied
  manifest: checkout.yaml
  findings:
    - {rail: topology-keys, action: deny}
- name: the shop may run
  manifest: checkout.yaml
  findings: []
YAML
}
