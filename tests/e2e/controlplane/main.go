// Command controlplane is a Kubernetes control plane in one file: each component is Kubernetes', etcd's,
// Karpenter's or kwok's own code, and runs as a process of its own under the first argument's name.
// "up" starts them all.
package main

import (
	"fmt"
	"os"
	"sort"
	"strings"
)

// A component takes over the process: its arguments are in os.Args, its name in os.Args[0].
var components = map[string]func() int{
	"etcd":                    etcd,
	"kube-apiserver":          apiServer,
	"kube-controller-manager": controllerManager,
	"kube-scheduler":          scheduler,
	"kubectl":                 kubectl,
	"karpenter":               karpenter,
	"kwok":                    kwok,
	"up":                      up,
}

func main() {
	var names []string
	for name := range components {
		names = append(names, name)
	}
	sort.Strings(names)
	if len(os.Args) < 2 || components[os.Args[1]] == nil {
		fmt.Fprintf(os.Stderr, "usage: controlplane COMPONENT [ARGUMENTS], one of %s\n",
			strings.Join(names, ", "))
		os.Exit(2)
	}
	os.Args = os.Args[1:]
	os.Exit(components[os.Args[0]]())
}
