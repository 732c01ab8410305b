package main

import (
	"os"
	_ "time/tzdata" // for the time zones of CronJobs

	_ "k8s.io/client-go/plugin/pkg/client/auth"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo"
	_ "k8s.io/component-base/metrics/prometheus/version"
	kubectlcmd "k8s.io/kubectl/pkg/cmd"
	kubectlutil "k8s.io/kubectl/pkg/cmd/util"
	apiserverapp "k8s.io/kubernetes/cmd/kube-apiserver/app"
	controllermanagerapp "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	schedulerapp "k8s.io/kubernetes/cmd/kube-scheduler/app"
)

func apiServer() int         { return cli.Run(apiserverapp.NewAPIServerCommand()) }
func controllerManager() int { return cli.Run(controllermanagerapp.NewControllerManagerCommand()) }
func scheduler() int         { return cli.Run(schedulerapp.NewSchedulerCommand()) }

func kubectl() int {
	os.Args[0] = "kubectl"
	if err := cli.RunNoErrOutput(kubectlcmd.NewDefaultKubectlCommand()); err != nil {
		kubectlutil.CheckErr(err) // prints it as kubectl does, and exits
	}
	return 0
}
