package main

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"
)

// attacker is what the hostile clients share: their bodies, and a count of what became of each try.
type attacker struct {
	*options
	until  time.Time
	bodies map[string][]byte
	hello  []byte

	mutex  sync.Mutex
	counts map[string]int
}

func (a *attacker) count(kind, what string) {
	a.mutex.Lock()
	a.counts[kind+" "+what]++
	a.mutex.Unlock()
}

func (a *attacker) dial() (net.Conn, error) {
	dialer := net.Dialer{Timeout: 5 * time.Second}
	if a.from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(a.from)}
	}
	return dialer.Dial("tcp", a.target)
}

func (a *attacker) connect() (net.Conn, error) {
	plain, err := a.dial()
	if err != nil {
		return nil, err
	}
	plain.SetDeadline(a.until.Add(time.Second))
	connection := tls.Client(plain, a.tls)
	if err := connection.Handshake(); err != nil {
		plain.Close()
		return nil, err
	}
	return connection, nil
}

func head(size int) string {
	return fmt.Sprintf("POST /validate?timeout=10s HTTP/1.1\r\nHost: %s:443\r\nContent-Type: application/json\r\n"+
		"Content-Length: %d\r\n\r\n", serverName, size)
}

// announce opens a connection and sends the header of a body of that size.
func (a *attacker) announce(size int) (net.Conn, error) {
	connection, err := a.connect()
	if err != nil {
		return nil, err
	}
	if _, err := io.WriteString(connection, head(size)); err != nil {
		connection.Close()
		return nil, err
	}
	return connection, nil
}

// ---- what they do; each returns a word for what came of it ----

func (a *attacker) post(name string) string {
	body := a.bodies[name]
	connection, err := a.announce(len(body))
	if err != nil {
		return "no connection"
	}
	defer connection.Close()
	if _, err := connection.Write(body); err != nil {
		return "cut while sending"
	}
	reply, err := http.ReadResponse(bufio.NewReader(connection), nil)
	if err != nil {
		return "no reply"
	}
	io.Copy(io.Discard, reply.Body)
	return fmt.Sprint(reply.StatusCode)
}

func (a *attacker) large(turn int) string {
	return a.post([]string{"annotated", "crowded", "half"}[turn%3])
}

// slow sends some of a large body, then a byte now and then.
func (a *attacker) slow(turn int) string {
	body := a.bodies["annotated"]
	connection, err := a.announce(len(body))
	if err != nil {
		return "no connection"
	}
	defer connection.Close()
	sent := len(body) / 8
	if _, err := connection.Write(body[:sent]); err != nil {
		return "cut while sending"
	}
	for ; time.Now().Before(a.until) && sent < len(body); sent++ {
		if _, err := connection.Write(body[sent : sent+1]); err != nil {
			return "cut"
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "kept"
}

func (a *attacker) drop(name string, part int) string {
	body := a.bodies[name]
	connection, err := a.announce(len(body))
	if err != nil {
		return "no connection"
	}
	defer connection.Close()
	if _, err := connection.Write(body[:len(body)/part]); err != nil {
		return "cut while sending"
	}
	return "dropped"
}

func (a *attacker) dropBody(turn int) string   { return a.drop("half", 2) }
func (a *attacker) dropReview(turn int) string { return a.drop("crowded", 1) }

// halfOpen leaves handshakes unfinished, a hundred at a time: of nothing, of part of a greeting, of
// one that the server answers.
func (a *attacker) halfOpen(turn int) string {
	var open []net.Conn
	defer func() {
		for _, connection := range open {
			connection.Close()
		}
	}()
	for i := 0; i < 100 && time.Now().Before(a.until); i++ {
		connection, err := a.dial()
		if err != nil {
			return "no connection"
		}
		open = append(open, connection)
		connection.Write(a.hello[:[]int{0, 5, len(a.hello)}[i%3]])
		time.Sleep(10 * time.Millisecond)
	}
	return "a hundred left open"
}

// greeting is the first flight of Go's client.
func greeting(config *tls.Config) []byte {
	near, far := net.Pipe()
	go tls.Client(near, config).Handshake()
	hello := make([]byte, 16<<10)
	size, _ := far.Read(hello)
	far.Close()
	return hello[:size]
}

// attack runs the clients side by side, each its kind again and again until the time is over.
func attack(o *options) (any, error) {
	a := &attacker{
		options: o,
		until:   time.Now().Add(o.duration),
		hello:   greeting(o.tls),
		counts:  map[string]int{},
		bodies: map[string][]byte{
			"annotated": annotated(o.bodyLimit - 1024),
			"half":      annotated(o.bodyLimit / 2),
			"crowded":   crowded(o.bodyLimit / 8),
		},
	}
	acts := map[string]func(int) string{"large": a.large, "slow": a.slow, "drop-body": a.dropBody,
		"drop-review": a.dropReview, "half-open": a.halfOpen}
	kinds := strings.Split(o.kinds, ",")
	var clients sync.WaitGroup
	for i := 0; i < o.clients; i++ {
		kind := kinds[i%len(kinds)]
		act := acts[kind]
		if act == nil {
			return nil, fmt.Errorf("no hostile client is %q", kind)
		}
		clients.Add(1)
		go func() {
			defer clients.Done()
			for turn := 0; time.Now().Before(a.until); turn++ {
				what := act(turn)
				a.count(kind, what)
				if what == "no connection" {
					time.Sleep(50 * time.Millisecond)
				}
			}
		}()
	}
	clients.Wait()
	return a.counts, nil
}
