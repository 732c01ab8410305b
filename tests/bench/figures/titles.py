"""What tables call the servers."""

TITLES = {
    "bare": "bare libmicrohttpd and GnuTLS",
    "three": "taffrail, three rails",
    "strict": "taffrail, strict.yaml",
    "cluster": "taffrail, strict.yaml and a cluster",
    "strict-known": "taffrail, strict.yaml, Pods of one ReplicaSet",
    "cluster-known": "taffrail, strict.yaml and a cluster, Pods of one ReplicaSet",
    "hundred": "taffrail, 100 policies, one reaches the Pod",
    "hundred-all": "taffrail, 100 policies, all reach the Pod",
    "empty": "controller-runtime, an empty handler",
    "scaffold": "controller-runtime, an empty validator of Pods",
    "opa": "OPA's server, three rails",
    "vap": "ValidatingAdmissionPolicy on that front, three rails",
}
