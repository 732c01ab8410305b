# shellcheck shell=bash
. "$SOURCE/tests/docs/pages/lib.sh"
prepare() {
    make_files
    rm state/workloads.yaml
    mkdir deploy
    cp "$SOURCE/docs/tutorial/shop/shop.yaml" deploy/
    sed -i 's/topologyKey: zone/topologyKey: topology.kubernetes.io\/zone/' deploy/shop.yaml
    cat >state/class.yaml <<'YAML'
apiVersion: karpenter.k8s.aws/v1
kind: EC2NodeClass
metadata: {name: default}
spec: {amiSelectorTerms: [{alias: al2023@v20261001}], role: node}
status:
  capacityReservations:
    - {id: cr-0123456789abcdef0, availabilityZone: eu-west-1a, instanceType: m5.large, ownerID: "012345678901",
       instanceMatchCriteria: targeted, reservationType: default, state: active}
YAML
    PYTHONPATH="$SOURCE/tests/contract" PYTHONDONTWRITEBYTECODE=1 \
        python3 -c 'import prices; print(prices.offer_json())' >ec2-eu-west-1.json
}
command -v jq >/dev/null || jq() { python3 -c 'import json, sys; json.load(open(sys.argv[2]))' "$@"; }
kubectl() {
    # The control plane of the stories has Karpenter's kwok provider, and not AWS'.
    set -- "${@/ec2nodeclasses,/}"
    command kubectl "$@"
}
