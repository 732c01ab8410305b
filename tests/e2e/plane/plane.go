// Package plane starts and stops the components of a Kubernetes control plane as processes, in one folder
// and on ports of its own choice.
package plane

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const startLimit = 90 * time.Second

// Plane is a control plane; its methods are for one goroutine.
type Plane struct {
	Dir string // certificates, kubeconfigs, data, logs

	binary    string // controlplane
	assets    string // a folder with kube-apiserver, etcd and kubectl, or ""
	authority *authority
	ports     map[string]int
	running   map[string]*Process
	env       map[string][]string
}

// New makes what the components need, and starts none. Dir exists; binary is the controlplane program; assets
// is what KUBEBUILDER_ASSETS names, or "".
func New(dir, binary, assets string) (*Plane, error) {
	p := &Plane{
		Dir: dir, binary: binary, assets: assets,
		ports:   map[string]int{},
		running: map[string]*Process{},
		env:     map[string][]string{},
	}
	names := []string{"etcd", "etcd-peer"}
	for name := range components {
		names = append(names, name)
	}
	for _, name := range names {
		port, err := FreePort()
		if err != nil {
			return nil, err
		}
		p.ports[name] = port
	}
	if err := os.MkdirAll(p.path("logs"), 0o755); err != nil {
		return nil, err
	}
	if err := p.writeKeys(); err != nil {
		return nil, err
	}
	for _, user := range []struct{ name, group string }{
		{"admin", "system:masters"},
		{"karpenter", "system:masters"},
		{"kwok", "system:masters"},
		{"system:kube-controller-manager", ""},
		{"system:kube-scheduler", ""},
	} {
		var groups []string
		if user.group != "" {
			groups = []string{user.group}
		}
		if _, err := p.Kubeconfig(user.name, groups...); err != nil {
			return nil, err
		}
	}
	return p, p.writeConfigurations()
}

// FreePort is a port of 127.0.0.1 that nobody listened on a moment ago. It is below those that the kernel gives to
// outgoing connections (ip_local_port_range), so that no connection takes it before its process listens.
func FreePort() (int, error) {
	var last error
	for range 100 {
		port := 10000 + rand.IntN(22000)
		listener, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			last = err
			continue
		}
		return port, listener.Close()
	}
	return 0, fmt.Errorf("no free port: %w", last)
}

func (p *Plane) path(parts ...string) string {
	return filepath.Join(append([]string{p.Dir}, parts...)...)
}

// URL of the API server.
func (p *Plane) URL() string { return fmt.Sprintf("https://127.0.0.1:%d", p.ports["kube-apiserver"]) }

// Config is that of the client of a kubeconfig; it is not throttled.
func (p *Plane) Config(kubeconfig string) (*rest.Config, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	config.WarningHandler = rest.NoWarnings{}
	return config, nil
}

// AdminKubeconfig is the path of that of a member of system:masters.
func (p *Plane) AdminKubeconfig() string { return p.path("admin.kubeconfig") }

// SetEnv adds to the environment of a component that is started later.
func (p *Plane) SetEnv(component string, assignments ...string) {
	p.env[component] = append(p.env[component], assignments...)
}

// Start starts components one after the other, and waits until each is ready.
func (p *Plane) Start(names ...string) error {
	for _, name := range names {
		if err := p.start(name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

func (p *Plane) start(name string) error {
	part, known := components[name]
	if !known {
		return errors.New("no such component")
	}
	if p.running[name] != nil {
		return errors.New("runs already")
	}
	program := p.program(name)
	process, err := Launch(p.path("logs", name+".log"),
		append([]string{"HOME=" + p.Dir, "KUBECONFIG=" + p.AdminKubeconfig()},
			append(part.environment(p), p.env[name]...)...),
		append(program, part.arguments(p)...)...)
	if err != nil {
		return err
	}
	p.running[name] = process
	deadline := time.Now().Add(startLimit)
	for {
		problem := part.ready(p)
		if problem == nil {
			return nil
		}
		select {
		case <-process.Done():
			return fmt.Errorf("ended while it started; its log ends with\n%s", process.LogTail(2000))
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("not ready within %s: %w; its log ends with\n%s", startLimit, problem,
				process.LogTail(2000))
		}
	}
}

// The words that run a component.
func (p *Plane) program(name string) []string {
	if p.assets != "" {
		path := filepath.Join(p.assets, name)
		if _, err := os.Stat(path); err == nil {
			return []string{path}
		}
	}
	return []string{p.binary, name}
}

// Stop ends components, the last started first, if they are named so; with kill at once.
func (p *Plane) Stop(kill bool, names ...string) {
	for _, name := range names {
		if process := p.running[name]; process != nil {
			process.Stop(kill)
			delete(p.running, name)
		}
	}
}

// Close ends all that runs.
func (p *Plane) Close() {
	for _, name := range []string{"karpenter", "kwok", "kube-scheduler", "kube-controller-manager"} {
		p.Stop(true, name)
	}
	p.Stop(true, "kube-apiserver", "etcd")
}

// WipeEtcd stops etcd and forgets all that it knew.
func (p *Plane) WipeEtcd() error {
	p.Stop(true, "etcd")
	return os.RemoveAll(p.path("etcd"))
}

// Kubectl runs kubectl with a kubeconfig; what it printed on both outputs, and its exit code.
func (p *Plane) Kubectl(ctx context.Context, kubeconfig string, stdin io.Reader, arguments ...string) (
	stdout, stderr string, code int, err error,
) {
	words := append(append(p.program("kubectl"), "--kubeconfig", kubeconfig), arguments...)
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Env = append(os.Environ(), "HOME="+p.Dir, "KUBECONFIG=")
	var out, problems bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = stdin, &out, &problems
	err = command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		code, err = exit.ExitCode(), nil
	}
	return out.String(), problems.String(), code, err
}

// answers is nil when a page of 127.0.0.1 answers 200.
func answers(client *http.Client, url string) error {
	reply, err := client.Get(url)
	if err != nil {
		return err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err != nil {
		return err
	}
	if reply.StatusCode != http.StatusOK {
		return fmt.Errorf("%s answers %s: %s", url, reply.Status, strings.TrimSpace(string(body)))
	}
	return nil
}

var plainClient = &http.Client{
	Timeout: 5 * time.Second,
	Transport: &http.Transport{
		// Only liveness is asked, of processes of ours on this machine, whose certificates are their own.
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true,
	},
}
