package stories

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"taffrail.dev/tests/e2e/plane"
)

// A kubelet runs the pods of one Deployment of Taffrail on this machine, with the arguments, the ConfigMaps and the
// Secrets that its template gives them. All of its pods are one process, which is ready when they are. It also leads
// the API server to that process, as kube-proxy would: the Service becomes a name of this machine, and the webhooks
// name the process' port.
type kubelet struct {
	world           *world
	namespace, name string
	dir             string
	port, ops, logs int
	process         *plane.Process
	runs            string // the words that the process was started with
	lastBeat        time.Time
}

const kubeletNode = "kubelet"

// runDeployment looks after a Deployment, which need not be there yet, until the test ends.
func (w *world) runDeployment(t *testing.T, namespace, name string) *kubelet {
	t.Helper()
	k := &kubelet{world: w, namespace: namespace, name: name, dir: t.TempDir()}
	var err error
	if k.port, err = plane.FreePort(); err != nil {
		t.Fatal(err)
	}
	if k.ops, err = plane.FreePort(); err != nil {
		t.Fatal(err)
	}
	_, err = w.client.CoreV1().Nodes().Create(w.ctx, &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: kubeletNode},
	}, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		t.Fatal(err)
	}
	k.serveLogs(t)
	ctx, stop := context.WithCancel(w.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		k.look(ctx, t)
	}()
	t.Cleanup(func() {
		stop()
		<-ended
		k.end()
	})
	return k
}

// look compares what runs with what should, again and again. What went wrong the last time is said at the end.
func (k *kubelet) look(ctx context.Context, t *testing.T) {
	var last error
	for ctx.Err() == nil {
		if err := k.once(ctx); err != nil && ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
		case <-time.After(200 * time.Millisecond):
		}
	}
	if last != nil {
		t.Log("kubelet:", last)
	}
}

func (k *kubelet) once(ctx context.Context) error {
	if err := k.beat(ctx); err != nil {
		return err
	}
	deployment, err := k.world.client.AppsV1().Deployments(k.namespace).Get(ctx, k.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		k.end()
		return k.endPods(ctx)
	}
	if err != nil {
		return err
	}
	if err := errors.Join(k.leadHere(ctx), k.run(ctx, deployment)); err != nil {
		return err
	}
	return k.report(ctx, deployment)
}

// beat keeps the Node alive.
func (k *kubelet) beat(ctx context.Context) error {
	if time.Since(k.lastBeat) < 5*time.Second {
		return nil
	}
	k.lastBeat = time.Now()
	now := metav1.Now()
	patch, err := json.Marshal(map[string]any{"status": corev1.NodeStatus{
		Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
			LastHeartbeatTime: now, LastTransitionTime: now,
		}},
		Addresses:       []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "127.0.0.1"}},
		DaemonEndpoints: corev1.NodeDaemonEndpoints{KubeletEndpoint: corev1.DaemonEndpoint{Port: int32(k.logs)}},
	}})
	if err == nil {
		_, err = k.world.client.CoreV1().Nodes().Patch(ctx, kubeletNode, types.StrategicMergePatchType, patch,
			metav1.PatchOptions{}, "status")
	}
	return err
}

func (k *kubelet) leadHere(ctx context.Context) error {
	services := k.world.client.CoreV1().Services(k.namespace)
	service, err := services.Get(ctx, k.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if service.Spec.Type != corev1.ServiceTypeExternalName {
		service.Spec = corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "localhost"}
		if _, err = services.Update(ctx, service, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return errors.Join(k.leadValidating(ctx), k.leadMutating(ctx))
}

// leadTo gives the webhooks of ours the process' port; whether one had another.
func (k *kubelet) leadTo(service *admissionv1.ServiceReference) bool {
	port := int32(k.port)
	if service == nil || service.Name != k.name || service.Namespace != k.namespace ||
		(service.Port != nil && *service.Port == port) {
		return false
	}
	service.Port = &port
	return true
}

func (k *kubelet) leadValidating(ctx context.Context) error {
	client := k.world.client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	all, err := client.List(ctx, metav1.ListOptions{})
	for i := 0; err == nil && i < len(all.Items); i++ {
		changed := false
		for j := range all.Items[i].Webhooks {
			changed = k.leadTo(all.Items[i].Webhooks[j].ClientConfig.Service) || changed
		}
		if changed {
			_, err = client.Update(ctx, &all.Items[i], metav1.UpdateOptions{})
		}
	}
	return err
}

func (k *kubelet) leadMutating(ctx context.Context) error {
	client := k.world.client.AdmissionregistrationV1().MutatingWebhookConfigurations()
	all, err := client.List(ctx, metav1.ListOptions{})
	for i := 0; err == nil && i < len(all.Items); i++ {
		changed := false
		for j := range all.Items[i].Webhooks {
			changed = k.leadTo(all.Items[i].Webhooks[j].ClientConfig.Service) || changed
		}
		if changed {
			_, err = client.Update(ctx, &all.Items[i], metav1.UpdateOptions{})
		}
	}
	return err
}

// serveLogs answers what kubectl logs asks a kubelet for, and has the API server ask here.
func (k *kubelet) serveLogs(t *testing.T) {
	t.Helper()
	certificate, key, _, err := k.world.plane.ServerKeys()
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
		log, err := os.ReadFile(filepath.Join(k.dir, "log"))
		if err != nil {
			http.Error(out, err.Error(), http.StatusInternalServerError)
			return
		}
		_, _ = out.Write(log)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	server.StartTLS()
	t.Cleanup(server.Close)
	k.logs = server.Listener.Addr().(*net.TCPAddr).Port
}

// run starts the process, and starts it anew when its words change; it brings what is mounted.
func (k *kubelet) run(ctx context.Context, deployment *appsv1.Deployment) error {
	container := deployment.Spec.Template.Spec.Containers[0]
	folders := map[string]string{} // by the path in the container
	for _, mount := range container.VolumeMounts {
		folder := filepath.Join(k.dir, mount.Name)
		if err := k.mount(ctx, deployment, mount.Name, folder); err != nil {
			return err
		}
		folders[mount.MountPath] = folder
	}
	words, err := k.words(ctx, deployment, container.Args, folders)
	if err != nil {
		return err
	}
	said := strings.Join(words, " ")
	if k.process != nil && k.runs == said {
		select {
		case <-k.process.Done():
		default:
			return nil
		}
	}
	k.end()
	k.process, err = plane.Launch(filepath.Join(k.dir, "log"), nil, words...)
	k.runs = said
	return err
}

// words are the arguments of the container, with this machine's folders and ports.
func (k *kubelet) words(ctx context.Context, deployment *appsv1.Deployment, arguments []string,
	folders map[string]string,
) ([]string, error) {
	words := []string{*taffrailFlag}
	for _, argument := range arguments {
		for path, folder := range folders {
			argument = strings.Replace(argument, "="+path, "="+folder, 1)
		}
		flag, value, _ := strings.Cut(argument, "=")
		switch {
		case flag == "--in-cluster":
			kubeconfig, err := k.login(ctx, deployment.Spec.Template.Spec.ServiceAccountName)
			if err != nil {
				return nil, err
			}
			argument = "--kubeconfig=" + kubeconfig
		case flag == "--listen":
			argument = fmt.Sprintf("--listen=127.0.0.1:%d", k.port)
		case flag == "--ops-listen":
			argument = fmt.Sprintf("--ops-listen=127.0.0.1:%d", k.ops)
		case (flag == "--cert-secret" || flag == "--lease") && !strings.Contains(value, "/"):
			argument = flag + "=" + k.namespace + "/" + value
		}
		words = append(words, argument)
	}
	return words, nil
}

// login is the kubeconfig of the service account, made once for each that there has been of this name.
func (k *kubelet) login(ctx context.Context, account string) (string, error) {
	object, err := k.world.client.CoreV1().ServiceAccounts(k.namespace).Get(ctx, account, metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	name := "kubelet-" + string(object.UID)
	path := filepath.Join(k.world.plane.Dir, name+".kubeconfig")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	lifetime := int64(24 * 3600)
	token, err := k.world.client.CoreV1().ServiceAccounts(k.namespace).CreateToken(ctx, account,
		&authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &lifetime},
		}, metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return k.world.plane.TokenKubeconfig(name, token.Status.Token)
}

// mount writes the files of a volume of the Deployment, and removes those that it has no more.
func (k *kubelet) mount(ctx context.Context, deployment *appsv1.Deployment, volume, folder string) error {
	core := k.world.client.CoreV1()
	files := map[string][]byte{}
	take := func(configMap string, optional *bool) error {
		object, err := core.ConfigMaps(k.namespace).Get(ctx, configMap, metav1.GetOptions{})
		if apierrors.IsNotFound(err) && optional != nil && *optional {
			return nil
		}
		if err == nil {
			for name, text := range object.Data {
				files[name] = []byte(text)
			}
		}
		return err
	}
	for _, v := range deployment.Spec.Template.Spec.Volumes {
		if v.Name != volume {
			continue
		}
		if v.ConfigMap != nil {
			if err := take(v.ConfigMap.Name, v.ConfigMap.Optional); err != nil {
				return err
			}
		}
		if v.Secret != nil {
			object, err := core.Secrets(k.namespace).Get(ctx, v.Secret.SecretName, metav1.GetOptions{})
			if err != nil {
				return err
			}
			maps.Copy(files, object.Data)
		}
		if v.Projected != nil {
			for _, source := range v.Projected.Sources {
				if source.ConfigMap == nil {
					continue
				}
				if err := take(source.ConfigMap.Name, source.ConfigMap.Optional); err != nil {
					return err
				}
			}
		}
	}
	return writeFolder(folder, files)
}

func writeFolder(folder string, files map[string][]byte) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	there, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, entry := range there {
		if _, wanted := files[entry.Name()]; !wanted {
			if err := os.Remove(filepath.Join(folder, entry.Name())); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join(folder, name)
		if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, files[name]) {
			continue
		}
		if err := os.WriteFile(path+".new", files[name], 0o600); err != nil {
			return err
		}
		if err := os.Rename(path+".new", path); err != nil {
			return err
		}
	}
	return nil
}

// report says of each pod of the Deployment that it runs, and whether it is ready.
func (k *kubelet) report(ctx context.Context, deployment *appsv1.Deployment) error {
	pods := k.world.client.CoreV1().Pods(k.namespace)
	all, err := pods.List(ctx, metav1.ListOptions{
		LabelSelector: labels.SelectorFromSet(deployment.Spec.Selector.MatchLabels).String(),
	})
	if err != nil {
		return err
	}
	ready := k.isReady()
	var problems []error
	for i := range all.Items {
		pod := &all.Items[i]
		switch {
		case pod.DeletionTimestamp != nil:
			// endPods deletes it
		case pod.Spec.NodeName == "":
			problems = append(problems, pods.Bind(ctx, &corev1.Binding{
				ObjectMeta: metav1.ObjectMeta{Name: pod.Name, Namespace: pod.Namespace},
				Target:     corev1.ObjectReference{Kind: "Node", Name: kubeletNode},
			}, metav1.CreateOptions{}))
		default:
			problems = append(problems, k.reportPod(ctx, pod, ready))
		}
	}
	return errors.Join(append(problems, k.endPods(ctx))...)
}

// endPods says of pods that are to end that they have.
func (k *kubelet) endPods(ctx context.Context) error {
	pods := k.world.client.CoreV1().Pods(k.namespace)
	all, err := pods.List(ctx, metav1.ListOptions{FieldSelector: "spec.nodeName=" + kubeletNode})
	for i := 0; err == nil && i < len(all.Items); i++ {
		if all.Items[i].DeletionTimestamp == nil {
			continue
		}
		now := int64(0)
		err = pods.Delete(ctx, all.Items[i].Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
		if apierrors.IsNotFound(err) {
			err = nil
		}
	}
	return err
}

func (k *kubelet) reportPod(ctx context.Context, pod *corev1.Pod, ready bool) error {
	status := corev1.ConditionFalse
	if ready {
		status = corev1.ConditionTrue
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == status {
			return nil
		}
	}
	now := metav1.Now()
	pod.Status.Phase, pod.Status.StartTime = corev1.PodRunning, &now
	pod.Status.Conditions = []corev1.PodCondition{
		{Type: corev1.PodReady, Status: status, LastTransitionTime: now},
		{Type: corev1.ContainersReady, Status: status, LastTransitionTime: now},
	}
	_, err := k.world.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, metav1.UpdateOptions{})
	return err
}

func (k *kubelet) isReady() bool {
	client := http.Client{Timeout: 2 * time.Second}
	reply, err := client.Get(fmt.Sprintf("http://127.0.0.1:%d/readyz", k.ops))
	if err != nil {
		return false
	}
	defer reply.Body.Close()
	return reply.StatusCode == http.StatusOK
}

func (k *kubelet) end() {
	if k.process != nil {
		k.process.Stop(false)
		k.process = nil
	}
}
