// Clients of `taffrail serve`: hostile ones, and one whose reviews must not suffer from them. Both say
// at the end, in a line of JSON, what became of what they sent.
//
//	hostile attack --target ADDR:PORT --ca ca.crt [--clients 64] [--seconds 10] [--from ADDR]
//	               [--kinds large,slow,drop-body,drop-review,half-open] [--body-limit BYTES]
//	hostile victim --target ADDR:PORT --ca ca.crt [--seconds 10] [--rate 50] [--new 10] [--body FILE]
//
// The victim is Go's own client as the API server uses it: HTTP/1.1, TLS as Go offers it, at most 25
// idle connections. It sends --rate reviews a second over connections that it keeps, and --new over
// new ones, at fixed times whatever the server does; a latency counts from the time that was fixed.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"time"
)

const serverName = "taffrail.taffrail.svc" // a name the made certificate is for

type options struct {
	target, from, kinds, body string
	clients, rate, newRate    int
	bodyLimit                 int
	duration                  time.Duration
	tls                       *tls.Config
}

func readOptions(arguments []string) (*options, error) {
	var o options
	var ca string
	var seconds float64
	flags := flag.NewFlagSet("hostile", flag.ContinueOnError)
	flags.StringVar(&o.target, "target", "", "address of the webhook")
	flags.StringVar(&ca, "ca", "", "PEM of the CA")
	flags.Float64Var(&seconds, "seconds", 10, "how long")
	flags.StringVar(&o.from, "from", "", "address the hostile clients come from")
	flags.StringVar(&o.kinds, "kinds", "large,slow,drop-body,drop-review,half-open", "of hostile clients")
	flags.IntVar(&o.clients, "clients", 64, "hostile clients at the same time")
	flags.IntVar(&o.bodyLimit, "body-limit", 40<<20, "bytes of the largest body")
	flags.IntVar(&o.rate, "rate", 50, "reviews a second over kept connections")
	flags.IntVar(&o.newRate, "new", 10, "reviews a second over new connections")
	flags.StringVar(&o.body, "body", "", "file of the victim's review; a made one of 6 KB")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s: no certificate", ca)
	}
	o.tls = &tls.Config{RootCAs: roots, ServerName: serverName}
	o.duration = time.Duration(seconds * float64(time.Second))
	return &o, nil
}

func run() error {
	commands := map[string]func(*options) (any, error){"attack": attack, "victim": victim}
	if len(os.Args) < 2 || commands[os.Args[1]] == nil {
		return fmt.Errorf("usage: hostile attack|victim --target ADDR:PORT --ca FILE ...")
	}
	o, err := readOptions(os.Args[2:])
	if err != nil {
		return err
	}
	result, err := commands[os.Args[1]](o)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(result)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
}
