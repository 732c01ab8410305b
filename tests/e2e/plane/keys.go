package plane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// An authority signs the API server's certificate and those of its clients.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
}

type pair struct{ certificate, key []byte }

func serial() *big.Int {
	number, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		panic(err)
	}
	return number
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber:          serial(),
		Subject:               pkix.Name{CommonName: "e2e"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageCertSign,
		IsCA:                  true,
		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	return &authority{certificate, key, encoded}, nil
}

func encodeKey(key *ecdsa.PrivateKey) ([]byte, error) {
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), nil
}

// issue makes a certificate for a user and its groups, or with addresses for a server.
func (a *authority) issue(name pkix.Name, addresses []net.IP, names []string) (pair, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return pair{}, err
	}
	template := &x509.Certificate{
		SerialNumber: serial(),
		Subject:      name,
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		KeyUsage:     x509.KeyUsageDigitalSignature,
		ExtKeyUsage:  []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		IPAddresses:  addresses,
		DNSNames:     names,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		return pair{}, err
	}
	encoded, err := encodeKey(key)
	if err != nil {
		return pair{}, err
	}
	return pair{pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), encoded}, nil
}

// writeKeys writes what the API server and the controller manager are given as files.
func (p *Plane) writeKeys() error {
	var err error
	if p.authority, err = newAuthority(); err != nil {
		return err
	}
	server, err := p.authority.issue(pkix.Name{CommonName: "kube-apiserver"},
		[]net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)},
		[]string{"localhost", "kubernetes.default.svc"})
	if err != nil {
		return err
	}
	accounts, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	accountsKey, err := encodeKey(accounts)
	if err != nil {
		return err
	}
	public, err := x509.MarshalPKIXPublicKey(accounts.Public())
	if err != nil {
		return err
	}
	files := map[string][]byte{
		"ca.crt":        p.authority.pem,
		"apiserver.crt": server.certificate,
		"apiserver.key": server.key,
		"accounts.key":  accountsKey,
		"accounts.pub":  pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
	}
	for name, content := range files {
		if err := os.WriteFile(p.path(name), content, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Kubeconfig writes, once, the kubeconfig of a user by client certificate, and tells its path.
func (p *Plane) Kubeconfig(user string, groups ...string) (string, error) {
	path := p.path(filepath.Base(user) + ".kubeconfig")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	client, err := p.authority.issue(pkix.Name{CommonName: user, Organization: groups}, nil, nil)
	if err != nil {
		return "", err
	}
	return path, p.writeKubeconfig(path, &clientcmdapi.AuthInfo{
		ClientCertificateData: client.certificate,
		ClientKeyData:         client.key,
	})
}

// TokenKubeconfig writes the kubeconfig of who has this token.
func (p *Plane) TokenKubeconfig(name, token string) (string, error) {
	path := p.path(name + ".kubeconfig")
	return path, p.writeKubeconfig(path, &clientcmdapi.AuthInfo{Token: token})
}

func (p *Plane) writeKubeconfig(path string, user *clientcmdapi.AuthInfo) error {
	config := clientcmdapi.NewConfig()
	config.Clusters["e2e"] = &clientcmdapi.Cluster{
		Server:                   p.URL(),
		CertificateAuthorityData: p.authority.pem,
	}
	config.AuthInfos["user"] = user
	config.Contexts["e2e"] = &clientcmdapi.Context{Cluster: "e2e", AuthInfo: "user"}
	config.CurrentContext = "e2e"
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// ServerKeys are a certificate for 127.0.0.1, its key, and the authority that signed it, PEM.
func (p *Plane) ServerKeys() (certificate, key, authority []byte, err error) {
	server, err := p.authority.issue(pkix.Name{CommonName: "server"}, []net.IP{net.IPv4(127, 0, 0, 1)}, nil)
	return server.certificate, server.key, p.authority.pem, err
}
