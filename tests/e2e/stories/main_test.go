// Package stories tells, on a real control plane, what people and controllers meet where Taffrail stands at
// the door. scripts/e2e builds and runs it.
package stories

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"taffrail.dev/tests/e2e/plane"
)

var (
	planeFlag    = flag.String("plane", "", "the controlplane program")
	taffrailFlag = flag.String("taffrail", "", "the taffrail program")
	typesFlag    = flag.String("types", "", "the instance types that Karpenter's kwok provider is built with")
	helmFlag     = flag.String("helm", "", "the helm program, if there is one")
	seedFlag     = flag.Int64("seed", 1, "of what is random")
	seedsFlag    = flag.Int("seeds", 1, "how often the stories with nodes are told, each with a seed of its own")
	keepFlag     = flag.String("keep", "", "a folder for logs and configurations, which stays")
	longFlag     = flag.Bool("long", false, "tell the long stories too")
)

// The control plane that the stories without nodes share.
var shared *world

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	if *planeFlag == "" || *taffrailFlag == "" {
		return 2, fmt.Errorf("-plane and -taffrail are needed; scripts/e2e gives them")
	}
	dir := *keepFlag
	if dir == "" {
		made, err := os.MkdirTemp("", "taffrail-e2e")
		if err != nil {
			return 1, err
		}
		dir = made
		defer os.RemoveAll(dir)
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	go func() {
		<-ctx.Done()
		if context.Cause(ctx) != nil && shared != nil {
			shared.plane.Close() // what waits for it then fails, and the rest is cleaned up
		}
	}()
	dir = filepath.Join(dir, "plane")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return 1, err
	}
	p, err := plane.New(dir, *planeFlag, os.Getenv("KUBEBUILDER_ASSETS"))
	if err != nil {
		return 1, err
	}
	defer p.Close()
	shared, err = newWorld(p)
	if err != nil {
		return 1, err
	}
	defer shared.close()
	return m.Run(), nil
}
