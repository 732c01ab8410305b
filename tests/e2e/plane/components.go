package plane

import (
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/rest"
	kwoknode "sigs.k8s.io/kwok/kustomize/stage/node/fast"
	kwokheartbeat "sigs.k8s.io/kwok/kustomize/stage/node/heartbeat-with-lease"
	kwokpod "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
)

// How a component is started, and when it is ready.
type component struct {
	arguments   func(*Plane) []string
	environment func(*Plane) []string
	ready       func(*Plane) error
}

var components = map[string]component{
	"etcd":                    {etcdArguments, none, etcdReady},
	"kube-apiserver":          {apiServerArguments, none, apiServerReady},
	"kube-controller-manager": {controllerManagerArguments, none, healthz("kube-controller-manager")},
	"kube-scheduler":          {schedulerArguments, none, healthz("kube-scheduler")},
	"karpenter":               {none, karpenterEnvironment, karpenterReady},
	"kwok":                    {kwokArguments, none, kwokReady},
}

func none(*Plane) []string { return nil }

// ---- etcd

func etcdArguments(p *Plane) []string {
	client := fmt.Sprintf("http://127.0.0.1:%d", p.ports["etcd"])
	return []string{
		"--data-dir=" + p.path("etcd"),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		fmt.Sprintf("--listen-peer-urls=http://127.0.0.1:%d", p.ports["etcd-peer"]),
		"--unsafe-no-fsync=true",
	}
}

func etcdReady(p *Plane) error {
	return answers(plainClient, fmt.Sprintf("http://127.0.0.1:%d/health", p.ports["etcd"]))
}

// ---- the API server

// AuditLog is the path of the API server's audit log, JSON lines.
func (p *Plane) AuditLog() string { return p.path("audit.log") }

func apiServerArguments(p *Plane) []string {
	return []string{
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", p.ports["etcd"]),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		"--endpoint-reconciler-type=none",
		fmt.Sprintf("--secure-port=%d", p.ports["kube-apiserver"]),
		"--cert-dir=" + p.path("apiserver"),
		"--tls-cert-file=" + p.path("apiserver.crt"),
		"--tls-private-key-file=" + p.path("apiserver.key"),
		"--client-ca-file=" + p.path("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + p.path("accounts.pub"),
		"--service-account-signing-key-file=" + p.path("accounts.key"),
		"--service-cluster-ip-range=10.0.0.0/16",
		"--authorization-mode=Node,RBAC",
		"--allow-privileged=true",
		"--audit-policy-file=" + p.path("audit-policy.yaml"),
		"--audit-log-path=" + p.AuditLog(),
		"--audit-log-mode=blocking",
		"--shutdown-delay-duration=0s",
	}
}

func apiServerReady(p *Plane) error {
	config, err := p.Config(p.AdminKubeconfig())
	if err != nil {
		return err
	}
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	return answers(client, p.URL()+"/readyz")
}

// ---- controllers and scheduler

func controllerManagerArguments(p *Plane) []string {
	return []string{
		"--kubeconfig=" + p.path("system:kube-controller-manager.kubeconfig"),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", p.ports["kube-controller-manager"]),
		"--cert-dir=" + p.path("controller-manager"),
		"--use-service-account-credentials=true", // each controller with its own rights
		"--root-ca-file=" + p.path("ca.crt"),
		"--service-account-private-key-file=" + p.path("accounts.key"),
		"--leader-elect=false",
		// Nothing attaches volumes here, and Karpenter would wait for them to be detached.
		"--controllers=*,-persistentvolume-attach-detach-controller",
		"--pvclaimbinder-sync-period=2s",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}

func schedulerArguments(p *Plane) []string {
	return []string{
		"--kubeconfig=" + p.path("system:kube-scheduler.kubeconfig"),
		"--bind-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", p.ports["kube-scheduler"]),
		"--cert-dir=" + p.path("scheduler"),
		"--leader-elect=false",
		"--kube-api-qps=500",
		"--kube-api-burst=1000",
	}
}

func healthz(name string) func(*Plane) error {
	return func(p *Plane) error {
		return answers(plainClient, fmt.Sprintf("https://127.0.0.1:%d/healthz", p.ports[name]))
	}
}

// ---- Karpenter and kwok

func karpenterEnvironment(p *Plane) []string {
	return []string{
		"KUBECONFIG=" + p.path("karpenter.kubeconfig"),
		"DISABLE_LEADER_ELECTION=true",
		"METRICS_PORT=0",
		fmt.Sprintf("HEALTH_PROBE_PORT=%d", p.ports["karpenter"]),
		"LOG_LEVEL=info",
	}
}

func karpenterReady(p *Plane) error {
	return answers(plainClient, fmt.Sprintf("http://127.0.0.1:%d/readyz", p.ports["karpenter"]))
}

func kwokArguments(p *Plane) []string {
	return []string{
		"--kubeconfig=" + p.path("kwok.kubeconfig"),
		"--config=" + p.path("kwok.yaml"),
		"--manage-nodes-with-annotation-selector=kwok.x-k8s.io/node=fake",
		"--node-lease-duration-seconds=40",
		"--cidr=10.128.0.0/16",
		fmt.Sprintf("--server-address=127.0.0.1:%d", p.ports["kwok"]),
	}
}

func kwokReady(p *Plane) error {
	return answers(plainClient, fmt.Sprintf("http://127.0.0.1:%d/healthz", p.ports["kwok"]))
}

// ---- files

// What people write at the level Metadata; what webhooks are asked about with the patches.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
  - level: None
    verbs: [get, list, watch]
  - level: None
    resources:
      - {group: coordination.k8s.io}
      - {group: "", resources: [events]}
      - {group: events.k8s.io}
  - level: Request
    verbs: [create, update, patch, delete]
    resources:
      - {group: "", resources: [pods]}
  - level: Metadata
`

func (p *Plane) writeConfigurations() error {
	stages := []string{
		kwoknode.DefaultNodeInit, kwokheartbeat.DefaultNodeHeartbeatWithLease,
		kwokpod.DefaultPodReady, kwokpod.DefaultPodComplete, kwokpod.DefaultPodDelete,
	}
	files := map[string]string{
		"audit-policy.yaml": auditPolicy,
		"kwok.yaml":         strings.Join(stages, "\n---\n"),
	}
	for name, content := range files {
		if err := os.WriteFile(p.path(name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
