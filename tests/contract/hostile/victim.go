package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sort"
	"sync"
	"time"
)

// series is what became of the reviews of one sort. Failures are by what was said instead.
type series struct {
	Reviews  int            `json:"reviews"`
	Failures map[string]int `json:"failures"`
	P50      float64        `json:"p50Ms"`
	P99      float64        `json:"p99Ms"`
	Longest  float64        `json:"longestMs"`

	mutex   sync.Mutex
	took    []time.Duration
	pending sync.WaitGroup
}

func (s *series) add(took time.Duration, failure string) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.Reviews++
	s.took = append(s.took, took)
	if failure != "" {
		s.Failures[failure]++
	}
}

func (s *series) finish() {
	s.pending.Wait()
	sort.Slice(s.took, func(i, j int) bool { return s.took[i] < s.took[j] })
	at := func(part float64) float64 {
		if len(s.took) == 0 {
			return 0
		}
		return float64(s.took[int(float64(len(s.took)-1)*part)].Microseconds()) / 1000
	}
	s.P50, s.P99, s.Longest = at(0.5), at(0.99), at(1)
}

// cause is what an error says of itself, without the addresses that differ each time.
func cause(err error) string {
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return err.Error()
}

func post(client *http.Client, url string, body []byte) string {
	reply, err := client.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return cause(err)
	}
	defer reply.Body.Close()
	answer, err := io.ReadAll(reply.Body)
	switch {
	case err != nil:
		return cause(err)
	case reply.StatusCode != http.StatusOK:
		return fmt.Sprint("status ", reply.StatusCode)
	case !bytes.Contains(answer, []byte(`"allowed"`)):
		return "no answer"
	}
	return ""
}

// send posts at fixed times until the time is over.
func (s *series) send(o *options, client *http.Client, body []byte, rate int) {
	if rate == 0 {
		return
	}
	url := "https://" + o.target + "/validate?timeout=10s"
	begun := time.Now()
	for i := 0; ; i++ {
		due := begun.Add(time.Duration(i) * time.Second / time.Duration(rate))
		if due.Sub(begun) >= o.duration {
			return
		}
		time.Sleep(time.Until(due))
		s.pending.Add(1)
		go func() {
			defer s.pending.Done()
			failure := post(client, url, body)
			s.add(time.Since(due), failure)
		}()
	}
}

func client(o *options, keep bool) *http.Client {
	return &http.Client{
		Timeout: 10 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:     o.tls,
			DisableKeepAlives:   !keep,
			MaxIdleConnsPerHost: 25,
			IdleConnTimeout:     90 * time.Second,
		},
	}
}

func victim(o *options) (any, error) {
	body := annotated(6 << 10)
	if o.body != "" {
		var err error
		if body, err = os.ReadFile(o.body); err != nil {
			return nil, err
		}
	}
	results := map[string]*series{"kept": {Failures: map[string]int{}}, "new": {Failures: map[string]int{}}}
	var senders sync.WaitGroup
	for name, rate := range map[string]int{"kept": o.rate, "new": o.newRate} {
		name, rate := name, rate
		senders.Add(1)
		go func() {
			defer senders.Done()
			results[name].send(o, client(o, name == "kept"), body, rate)
		}()
	}
	senders.Wait()
	for _, result := range results {
		result.finish()
	}
	return results, nil
}
