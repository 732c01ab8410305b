package main

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	kwokconfig "sigs.k8s.io/kwok/pkg/config"
	kwokcmd "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwoklog "sigs.k8s.io/kwok/pkg/log"
	kwoksignals "sigs.k8s.io/kwok/pkg/utils/signals"
)

// kwok plays the kubelets: nodes become ready, pods run. Wired as its own main package.
func kwok() int {
	flags := pflag.NewFlagSet("global", pflag.ContinueOnError)
	flags.ParseErrorsAllowlist.UnknownFlags = true
	flags.Usage = func() {}
	ctx, _ := kwoklog.InitFlags(kwoksignals.SetupSignalContext(), flags)
	ctx, err := kwokconfig.InitFlags(ctx, flags)
	if err == nil {
		command := kwokcmd.NewCommand(ctx)
		command.Version = "" // whose flag would clash with the one of Kubernetes' components
		command.PersistentFlags().AddFlagSet(flags)
		err = command.ExecuteContext(ctx)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "kwok:", err)
		return 1
	}
	return 0
}
