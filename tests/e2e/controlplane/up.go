package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/kubernetes"

	"taffrail.dev/tests/e2e/binder"
	"taffrail.dev/tests/e2e/plane"
)

// up runs a control plane with Karpenter for a person to try things on, until it is interrupted.
func up() int {
	dir := flag.String("dir", "", "a new folder for certificates, data and logs (a temporary one)")
	small := flag.Bool("small", false, "etcd, API server and controllers only, without nodes")
	flag.Parse()
	if err := runUp(*dir, *small); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane up:", err)
		return 1
	}
	return 0
}

func runUp(dir string, small bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if dir == "" {
		made, err := os.MkdirTemp("", "controlplane")
		if err != nil {
			return err
		}
		dir = made
		defer os.RemoveAll(made)
	} else if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	binary, err := os.Executable()
	if err != nil {
		return err
	}
	p, err := plane.New(dir, binary, os.Getenv("KUBEBUILDER_ASSETS"))
	if err != nil {
		return err
	}
	defer p.Close()
	began := time.Now()
	if err := p.Start("etcd", "kube-apiserver", "kube-controller-manager"); err != nil {
		return err
	}
	if err := p.InstallCRDs(ctx); err != nil {
		return err
	}
	if !small {
		if err := p.Start("kube-scheduler", "kwok", "karpenter"); err != nil {
			return err
		}
		config, err := p.Config(p.AdminKubeconfig())
		if err != nil {
			return err
		}
		go func() { _ = binder.Run(ctx, kubernetes.NewForConfigOrDie(config), 0) }()
	}
	fmt.Printf("up after %.1f s, until Ctrl-C; logs and the audit log are in %s\n"+
		"export KUBECONFIG=%s\n%s kubectl get nodes\n", time.Since(began).Seconds(), dir,
		p.AdminKubeconfig(), strings.TrimSpace(binary))
	<-ctx.Done()
	return nil
}
