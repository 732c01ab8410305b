{{- /* What is wrong in the values together; values.schema.json judges each by itself. */ -}}
{{- define "taffrail.check" -}}
{{- if not .Values.image.repository -}}
{{- fail "image.repository is missing: no image of Taffrail is public, so name the one in your registry, such as --set image.repository=registry.example.com/taffrail (docs/guides/install.md, 1)" -}}
{{- end -}}
{{- if contains ":" (last (splitList "/" .Values.image.repository)) -}}
{{- fail (printf "image.repository is %q: its tag belongs into image.tag, its digest into image.digest" .Values.image.repository) -}}
{{- end -}}
{{- if or (contains "@" .Values.image.repository) (not (regexMatch "^[A-Za-z0-9._:/-]+$" .Values.image.repository)) -}}
{{- fail (printf "image.repository is %q, which is no reference such as registry.example.com/taffrail" .Values.image.repository) -}}
{{- end -}}
{{- with .Values.certificates.caBundle -}}
{{- if contains "PRIVATE KEY" . -}}
{{- fail "certificates.caBundle holds a private key: give the CA's certificate, ca.crt" -}}
{{- end -}}
{{- if not (contains "-----BEGIN CERTIFICATE-----" .) -}}
{{- fail "certificates.caBundle is no bundle of certificates: give ca.crt as PEM, with --set-file certificates.caBundle=ca.crt" -}}
{{- end -}}
{{- end -}}
{{- if or (hasPrefix "kube-" .Release.Namespace) (eq .Release.Namespace "default") -}}
{{- fail (printf "the namespace %s is not Taffrail's own, and is exempt from every rail: give --namespace taffrail --create-namespace" .Release.Namespace) -}}
{{- end -}}
{{- if and .Values.certificates.caBundle (ne .Values.certificates.from "secret") -}}
{{- fail (printf "certificates.caBundle is of the certificate in your own Secret, and certificates.from is %s, which writes its own: leave out one of them" .Values.certificates.from) -}}
{{- end -}}
{{- if and .Values.certificates.issuerRef (ne .Values.certificates.from "cert-manager") -}}
{{- fail (printf "certificates.issuerRef is for cert-manager, and certificates.from is %s: leave out one of them" .Values.certificates.from) -}}
{{- end -}}
{{- if and .Values.podMonitor.enabled .Values.serviceMonitor.enabled -}}
{{- fail "podMonitor and serviceMonitor would read every replica twice: enable one of them" -}}
{{- end -}}
{{- if eq (int .Values.ports.webhook) (int .Values.ports.ops) -}}
{{- fail "ports.webhook and ports.ops are the same: the first speaks TLS to the API server, the second plain HTTP to Prometheus" -}}
{{- end -}}
{{- if and (include "taffrail.fails" .) (eq (int (include "taffrail.replicas" .)) 1) -}}
{{- fail "failurePolicy Fail with one replica refuses everything whenever that is replaced: give replicas 2 or more" -}}
{{- end -}}
{{- end -}}

{{- define "taffrail.labels" -}}
app.kubernetes.io/name: taffrail
{{- end -}}

{{- define "taffrail.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}{{ with $image.tag }}:{{ . }}{{ end }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* Not empty when anything is refused while no replica answers. */ -}}
{{- define "taffrail.fails" -}}
{{- if or (eq .Values.failurePolicy "Fail") (has "Fail" (values .Values.failurePolicies)) -}}yes{{- end -}}
{{- end -}}

{{- define "taffrail.replicas" -}}
{{- if kindIs "invalid" .Values.replicas -}}{{ ternary 3 2 (eq (include "taffrail.fails" .) "yes") }}
{{- else -}}{{ int .Values.replicas }}{{- end -}}
{{- end -}}

{{- /* The group of rails that a rule's kinds belong to. */ -}}
{{- define "taffrail.group" -}}
{{- $group := first .apiGroups -}}
{{- if or (has $group (list "karpenter.sh" "karpenter.k8s.aws" "autoscaling.x-k8s.io")) (hasSuffix "nodeclasses" (first .resources)) -}}nodePools
{{- else if eq $group "storage.k8s.io" -}}storage
{{- else if eq $group "policy" -}}disruptionBudgets
{{- else if and (eq $group "") (hasPrefix "persistentvolume" (first .resources)) -}}storage
{{- else if has $group (list "" "apps" "autoscaling" "batch" "resource.k8s.io" "scheduling.k8s.io") -}}workloads
{{- else -}}custom
{{- end -}}
{{- end -}}

{{- define "taffrail.clientConfig" -}}
service:
  name: taffrail
  namespace: {{ .root.Release.Namespace | quote }}
  path: {{ .path }}
  port: {{ .root.Values.service.port }}
{{- with .root.Values.certificates.caBundle }}
caBundle: {{ b64enc . }}
{{- end }}
{{- end -}}

{{- define "taffrail.selectors" -}}
# The control plane and Taffrail itself must come up without Taffrail.
namespaceSelector:
  matchExpressions:
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values: {{ concat (list "kube-system" "kube-node-lease" "kube-public" .Release.Namespace) .Values.excludeNamespaces | toJson }}
# Nodes write mirror pods, which run in any case. Each condition can be evaluated for every request: otherwise the
# object would pass under Ignore, and be refused under Fail. The annotation spares only Pods.
matchConditions:
  - name: not-a-node
    expression: >-
      !has(request.userInfo.groups) ||
      !("system:nodes" in request.userInfo.groups)
  - name: not-a-mirror-pod
    expression: >-
      request.resource.resource != "pods" || object == null ||
      !has(object.metadata.annotations) ||
      !("kubernetes.io/config.mirror" in object.metadata.annotations)
{{- end -}}

{{- define "taffrail.validatingSelectors" -}}
{{ include "taffrail.selectors" . }}
  # What Kubernetes itself deletes, with an owner or a Namespace, goes also while no replica answers.
  - name: not-a-cleanup
    expression: >-
      request.operation != "DELETE" || !has(request.userInfo.username) ||
      !(request.userInfo.username in ["system:kube-controller-manager",
      "system:serviceaccount:kube-system:generic-garbage-collector",
      "system:serviceaccount:kube-system:namespace-controller"])
{{- end -}}

{{- define "taffrail.webhookAnnotations" -}}
{{- $annotations := .Values.webhooks.annotations | default dict -}}
{{- if eq .Values.certificates.from "cert-manager" -}}
{{- $annotations = set (deepCopy $annotations) "cert-manager.io/inject-ca-from" (printf "%s/taffrail" .Release.Namespace) -}}
{{- end -}}
{{- with $annotations }}
annotations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}
