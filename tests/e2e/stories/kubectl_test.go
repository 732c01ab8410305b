package stories

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// What a developer's laptop has: a kubeconfig whose credentials come from a program, as `aws eks update-kubeconfig`
// writes it, and no rights but those of everybody. The last line of a denial can be followed with that alone. A
// platform engineer impersonates a group that may list.
func TestCommandsReachTheCluster(t *testing.T) {
	w := shared
	space := w.namespace(t, nil)
	wrong := deployment{namespace: space, name: "shop", replicas: 0, topologyKey: "zone"}
	denial := w.kubectl(t, wrong.yaml(), "apply", "-f", "-").fails(t, "topology-keys").stderr

	laptop := w.execKubeconfig(t, space)
	found, said := w.taffrail(t, 1, laptop, wrong.yaml(), "check", "--from-cluster", "-o", "json", "-f", "-")
	var report struct {
		Findings []struct{ Rail, Action, Field, Message string }
	}
	if err := json.Unmarshal([]byte(found), &report); err != nil {
		t.Fatalf("%v\n%s", err, found)
	}
	denied := 0
	for _, each := range report.Findings {
		if each.Action != "deny" {
			continue
		}
		denied++
		if !strings.Contains(denial, each.Rail+"  "+each.Field+": "+each.Message) {
			t.Errorf("check says what the webhook does not:\n%v\n%s", each, denial)
		}
	}
	if denied != 1 || !strings.Contains(said, "could not be listed") {
		t.Errorf("%d denials:\n%s%s", denied, found, said)
	}
	_, said = w.taffrail(t, 3, laptop, "", "audit", "--from-cluster")
	if !strings.Contains(said, "lets nothing be listed") || !strings.Contains(said, "system:serviceaccount:"+space) {
		t.Errorf("the audit does not say who may not list:\n%s", said)
	}

	w.bindToInstalledRole(t, "platform")
	platform := w.impersonatingKubeconfig(t, "jane", "platform")
	if err := w.guard.without(func() error {
		w.admin(t, wrong.yaml(), "apply", "-f", "-").works(t)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	found, _ = w.taffrail(t, 1, platform, "", "audit", "--from-cluster", "-n", space, "-o", "json")
	var audited struct{ Findings []finding }
	if err := json.Unmarshal([]byte(found), &audited); err != nil {
		t.Fatalf("%v\n%s", err, found)
	}
	mine := slices.ContainsFunc(audited.Findings, func(each finding) bool {
		return each.Kind == "Deployment" && each.Name == "shop" && each.Rail == "topology-keys"
	})
	if !mine {
		t.Errorf("the audit does not find the Deployment:\n%s", found)
	}
	planned, _ := w.taffrail(t, anyVerdict, platform, "", "plan", "-o", "json")
	if !strings.Contains(planned, `"taffrail.dev/plan/v1"`) {
		t.Errorf("that is no plan:\n%s", planned)
	}
	admin := w.plane.AdminKubeconfig()
	again, _ := w.taffrail(t, 1, admin, "", "audit", "--from-cluster", "-n", space, "-o", "json", "--as", "jane",
		"--as-group", "platform")
	if again != found {
		t.Errorf("--as is not what the kubeconfig's as is:\n%s\n%s", again, found)
	}
	_, said = w.taffrail(t, 3, admin, "", "audit", "--from-cluster", "--policy-namespace", "taffrail", "--as", "jane",
		"--as-group", "system:authenticated")
	if !strings.Contains(said, `User "jane" cannot list`) {
		t.Errorf("jane may list without a group that may:\n%s", said)
	}
}

const anyVerdict = -1 // 0 or 1: other stories may have left pods that fit nowhere

// taffrail runs a command with a kubeconfig in the environment, as people have it.
func (w *world) taffrail(t *testing.T, code int, kubeconfig, stdin string, arguments ...string) (stdout, stderr string) {
	t.Helper()
	command := exec.CommandContext(w.ctx, *taffrailFlag, arguments...)
	command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	command.Stdin = strings.NewReader(stdin)
	var out, problems bytes.Buffer
	command.Stdout, command.Stderr = &out, &problems
	_ = command.Run()
	found := command.ProcessState.ExitCode()
	if found != code && (code != anyVerdict || found > 1) {
		t.Fatalf("taffrail %s ends with %d, not %d:\n%s%s", strings.Join(arguments, " "), found, code, out.String(),
			problems.String())
	}
	return out.String(), problems.String()
}

func (w *world) writeKubeconfig(t *testing.T, change func(*clientcmdapi.AuthInfo)) string {
	t.Helper()
	config, err := clientcmd.LoadFromFile(w.plane.AdminKubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	change(config.AuthInfos[config.Contexts[config.CurrentContext].AuthInfo])
	path := filepath.Join(t.TempDir(), "config")
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

// execKubeconfig is that of a namespace's default account, by a program that prints its token.
func (w *world) execKubeconfig(t *testing.T, namespace string) string {
	t.Helper()
	token, err := w.client.CoreV1().ServiceAccounts(namespace).CreateToken(w.ctx, "default",
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	const version = "client.authentication.k8s.io/v1beta1"
	program := filepath.Join(t.TempDir(), "aws")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$1 $2\" = 'eks get-token' ] || exit 2\necho '%s'\n",
		fmt.Sprintf(`{"kind": "ExecCredential", "apiVersion": %q, "spec": {}, "status": {"token": %q, `+
			`"expirationTimestamp": %q}}`, version, token.Status.Token,
			token.Status.ExpirationTimestamp.UTC().Format("2006-01-02T15:04:05Z")))
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return w.writeKubeconfig(t, func(user *clientcmdapi.AuthInfo) {
		*user = clientcmdapi.AuthInfo{Exec: &clientcmdapi.ExecConfig{
			APIVersion: version, Command: program, Args: []string{"eks", "get-token", "--cluster-name", "e2e"},
			InteractiveMode: clientcmdapi.IfAvailableExecInteractiveMode, ProvideClusterInfo: true,
		}}
	})
}

func (w *world) impersonatingKubeconfig(t *testing.T, user string, groups ...string) string {
	t.Helper()
	return w.writeKubeconfig(t, func(info *clientcmdapi.AuthInfo) {
		info.Impersonate, info.ImpersonateGroups = user, groups
	})
}

// bindToInstalledRole lets a group list what the install lets Taffrail list, and read the policies, as who is logged in.
func (w *world) bindToInstalledRole(t *testing.T, group string) {
	t.Helper()
	subject := rbacv1.Subject{Kind: "Group", APIGroup: rbacv1.GroupName, Name: group}
	name := "story-" + group
	bindings := w.client.RbacV1().ClusterRoleBindings()
	if _, err := bindings.Create(w.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "taffrail"},
		Subjects:   []rbacv1.Subject{subject},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := bindings.Delete(w.ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
	})
}
