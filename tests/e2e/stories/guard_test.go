package stories

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"

	"taffrail.dev/tests/e2e/plane"
)

// The guard is `taffrail serve`, installed with what `taffrail render` prints.
type guard struct {
	world      *world
	dir        string
	rendered   string // the policies that it was installed with
	policies   string // what it was last started with
	port, ops  int
	process    *plane.Process
	kubeconfig string
	// failurePolicy that the webhooks are registered with; "": the one that render writes.
	failurePolicy string
}

// newGuard installs all that render prints of a policy file but the Deployment, starts the server as the service
// account that was installed, and then lets the API server call it.
func newGuard(w *world, policies string) (*guard, error) {
	g := &guard{world: w, dir: filepath.Join(w.plane.Dir, "taffrail"), rendered: policies}
	if err := os.Mkdir(g.dir, 0o700); err != nil {
		return nil, err
	}
	var err error
	if g.port, err = plane.FreePort(); err != nil {
		return nil, err
	}
	if g.ops, err = plane.FreePort(); err != nil {
		return nil, err
	}
	if err = g.apply(func(object *unstructured.Unstructured) bool {
		return !isWebhook(object)
	}); err != nil {
		return nil, err
	}
	if err = g.login(); err != nil {
		return nil, err
	}
	if err = g.start(policies); err != nil {
		return nil, err
	}
	return g, g.register()
}

// login writes the kubeconfig of the service account that was installed.
func (g *guard) login() error {
	lifetime := int64(24 * 3600)
	token, err := g.world.client.CoreV1().ServiceAccounts("taffrail").CreateToken(g.world.ctx, "taffrail",
		&authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &lifetime},
		}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	g.kubeconfig, err = g.world.plane.TokenKubeconfig("taffrail", token.Status.Token)
	return err
}

// Where certificates are that the server makes when it first starts.
func (g *guard) certificates() string { return filepath.Join(g.dir, "tls") }

// start starts the server with a policy file, and waits until it sees the cluster.
func (g *guard) start(policies string) error {
	g.policies = policies
	words := []string{
		*taffrailFlag, "serve", "-p", policies, "--kubeconfig", g.kubeconfig,
		"--cert-dir", g.certificates(),
		"--listen", fmt.Sprintf("127.0.0.1:%d", g.port),
		"--ops-listen", fmt.Sprintf("127.0.0.1:%d", g.ops),
	}
	if *typesFlag != "" {
		words = append(words, "--catalog", *typesFlag)
	}
	var err error
	g.process, err = plane.Launch(filepath.Join(g.dir, "log"), nil, words...)
	if err != nil {
		return err
	}
	err = wait(patience, func() error {
		select {
		case <-g.process.Done():
			return errors.New("taffrail serve ended: " + g.process.LogTail(2000))
		default:
		}
		_, err := g.page("/readyz")
		return err
	})
	return err
}

func (g *guard) stop(kill bool) {
	if g.process != nil {
		g.process.Stop(kill)
		g.process = nil
	}
}

// restart ends the server as a rollout would, or kills it, and starts it with a policy file.
func (g *guard) restart(kill bool, policies string) error {
	g.stop(kill)
	return g.start(policies)
}

// page is one of the ops port, if it answers 200.
func (g *guard) page(path string) (string, error) {
	client := http.Client{Timeout: 10 * time.Second}
	reply, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d%s", g.ops, path))
	if err != nil {
		return "", err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", path, reply.Status, body)
	}
	return string(body), err
}

func isWebhook(object *unstructured.Unstructured) bool {
	return strings.HasSuffix(object.GetKind(), "WebhookConfiguration")
}

// A pod that the guard denies, for finding out whether it is asked.
func probe() *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "probe", Namespace: "default"},
		Spec: corev1.PodSpec{
			Containers:   []corev1.Container{{Name: "main", Image: "none"}},
			NodeSelector: map[string]string{"karpenter.sh/capacity-type": "probe"},
		},
	}
}

// register installs the webhook configurations, and waits until the API server heeds them.
func (g *guard) register() error {
	if err := g.apply(isWebhook); err != nil {
		return err
	}
	return wait(patience, func() error {
		_, err := g.world.client.CoreV1().Pods("default").Create(g.world.ctx, probe(),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if apierrors.IsForbidden(err) && strings.Contains(err.Error(), "rails.taffrail.dev") {
			return nil
		}
		return fmt.Errorf("a probe was not denied: %v", err)
	})
}

// unregister takes the guard from the door.
func (g *guard) unregister() error {
	client := g.world.client.AdmissionregistrationV1()
	err := client.ValidatingWebhookConfigurations().Delete(g.world.ctx, "taffrail", metav1.DeleteOptions{})
	if err != nil {
		return err
	}
	return client.MutatingWebhookConfigurations().Delete(g.world.ctx, "taffrail", metav1.DeleteOptions{})
}

// setFailurePolicy changes it in both configurations, as the guide says.
func (g *guard) setFailurePolicy(policy string) error {
	patch := fmt.Sprintf(`[{"op": "replace", "path": "/webhooks/0/failurePolicy", "value": %q}]`, policy)
	return g.patchWebhooks(patch)
}

// distrust gives the API server a CA that has not signed the guard's certificate.
func (g *guard) distrust() error {
	_, _, other, err := g.world.plane.ServerKeys()
	if err != nil {
		return err
	}
	patch := fmt.Sprintf(`[{"op": "replace", "path": "/webhooks/0/clientConfig/caBundle", "value": %q}]`,
		base64.StdEncoding.EncodeToString(other))
	if err := g.patchWebhooks(patch); err != nil {
		return err
	}
	return wait(patience, func() error {
		_, err := g.world.client.CoreV1().Pods("default").Create(g.world.ctx, probe(),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil || apierrors.IsInternalError(err) {
			return nil
		}
		return err
	})
}

func (g *guard) patchWebhooks(patch string) error {
	for _, kind := range []string{"validatingwebhookconfiguration", "mutatingwebhookconfiguration"} {
		_, problems, code, err := g.world.plane.Kubectl(g.world.ctx, g.world.plane.AdminKubeconfig(), nil,
			"patch", kind, "taffrail", "--type=json", "-p", patch)
		if err == nil && code != 0 {
			err = errors.New(problems)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// apply applies those of the objects that render prints that are wanted. No kubelet is here to run the Deployment's
// pods, and no proxy to reach them: the Service is a name of this machine, and the webhooks have the server's port.
func (g *guard) apply(wanted func(*unstructured.Unstructured) bool) error {
	arguments := []string{"render", "--image", "taffrail:0.1.0", "-p", g.rendered}
	authority := filepath.Join(g.certificates(), "ca.crt")
	if _, err := os.Stat(authority); err == nil {
		arguments = append(arguments, "--ca", authority)
	}
	command := exec.Command(*taffrailFlag, arguments...)
	command.Stderr = os.Stderr
	rendered, err := command.Output()
	if err != nil {
		return fmt.Errorf("taffrail render: %w", err)
	}
	var chosen bytes.Buffer
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(rendered), 4096)
	for {
		object := &unstructured.Unstructured{}
		err := decoder.Decode(&object.Object)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if object.Object == nil || object.GetKind() == "Deployment" || !wanted(object) {
			continue
		}
		if err := g.leadHere(object); err != nil {
			return err
		}
		encoded, err := json.Marshal(object.Object)
		if err != nil {
			return err
		}
		fmt.Fprintf(&chosen, "---\n%s\n", encoded)
	}
	w := g.world
	_, problems, code, err := w.plane.Kubectl(w.ctx, w.plane.AdminKubeconfig(), &chosen, "apply", "-f", "-")
	if err == nil && code != 0 {
		err = fmt.Errorf("kubectl apply of what render prints: %s", problems)
	}
	return err
}

func (g *guard) leadHere(object *unstructured.Unstructured) error {
	if object.GetKind() == "Service" {
		object.Object["spec"] = map[string]any{"type": "ExternalName", "externalName": "localhost"}
	}
	if !isWebhook(object) {
		return nil
	}
	webhooks, _, err := unstructured.NestedSlice(object.Object, "webhooks")
	if err != nil {
		return err
	}
	for _, webhook := range webhooks {
		client := webhook.(map[string]any)["clientConfig"].(map[string]any)
		client["service"].(map[string]any)["port"] = int64(g.port)
		if g.failurePolicy != "" {
			webhook.(map[string]any)["failurePolicy"] = g.failurePolicy
		}
	}
	return unstructured.SetNestedSlice(object.Object, webhooks, "webhooks")
}

// without does something while the API server asks nobody.
func (g *guard) without(do func() error) error {
	if err := g.unregister(); err != nil {
		return err
	}
	// What the API server has seen of its configurations it may heed for a moment longer.
	err := wait(patience, func() error {
		_, err := g.world.client.CoreV1().Pods("default").Create(g.world.ctx, probe(),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
	if err == nil {
		err = do()
	}
	if again := g.register(); err == nil {
		err = again
	}
	return err
}
