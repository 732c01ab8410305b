// Prints, as JSON, what Karpenter's own kwok provider makes of a file of instance types: capacity and
// allocatable by name of type, cpu in thousandths, all others in units.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	corev1 "k8s.io/api/core/v1"
	kwok "sigs.k8s.io/karpenter/kwok/cloudprovider"
	"sigs.k8s.io/karpenter/kwok/options"
)

func quantities(list corev1.ResourceList) map[string]int64 {
	found := map[string]int64{}
	for name, quantity := range list {
		if name == corev1.ResourceCPU {
			found[string(name)] = quantity.MilliValue()
		} else {
			found[string(name)] = quantity.Value()
		}
	}
	return found
}

func main() {
	ctx := options.ToContext(context.Background(), &options.Options{InstanceTypesFilePath: os.Args[1]})
	types, err := kwok.ConstructInstanceTypes(ctx)
	if err != nil {
		log.Fatal(err)
	}
	found := map[string]map[string]map[string]int64{}
	for _, it := range types {
		found[it.Name] = map[string]map[string]int64{
			"capacity":    quantities(it.Capacity),
			"allocatable": quantities(it.Allocatable()),
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		log.Fatal(err)
	}
}
