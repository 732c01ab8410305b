package plane

import (
	"bytes"
	"context"
	"fmt"

	kwokapis "sigs.k8s.io/karpenter/kwok/apis"
	karpenterapis "sigs.k8s.io/karpenter/pkg/apis"
)

// InstallCRDs installs Karpenter's own, with the kwok provider's, and waits until they are served.
func (p *Plane) InstallCRDs(ctx context.Context) error {
	all := bytes.Join([][]byte{
		karpenterapis.NodePoolCRD, karpenterapis.NodeClaimCRD, karpenterapis.NodeOverlayCRD,
		karpenterapis.CapacityBufferCRD, kwokapis.KWOKNodeClassCRD,
	}, []byte("\n---\n"))
	for _, arguments := range [][]string{
		{"apply", "--server-side", "-f", "-"},
		{"wait", "--for=condition=Established", "--timeout=60s", "-f", "-"},
	} {
		_, problems, code, err := p.Kubectl(ctx, p.AdminKubeconfig(), bytes.NewReader(all), arguments...)
		if err != nil {
			return err
		}
		if code != 0 {
			return fmt.Errorf("kubectl %s: %s", arguments[0], problems)
		}
	}
	return nil
}
