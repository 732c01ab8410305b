# shellcheck shell=bash
# word POD = db-0
# word VOLUME = disk
prepare() {
    [ -n "${KUBECONFIG-}" ] || return 0
    kubectl apply -f - <<'YAML'
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  local: {path: /disk}
  nodeAffinity:
    required:
      nodeSelectorTerms:
        - matchExpressions: [{key: topology.kubernetes.io/zone, operator: In, values: [a]}]
---
apiVersion: v1
kind: Pod
metadata: {name: db-0}
spec:
  containers: [{name: db, image: registry.example.com/db:1}]
YAML
}
