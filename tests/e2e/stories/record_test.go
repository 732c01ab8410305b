package stories

import (
	"bufio"
	"cmp"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"net/url"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

var recordFlag = flag.String("record", "", "a folder into which to write what the API server says of lists and watches")

const watchSeconds = 8

// What is recorded of a kind: the requests that taffrail makes, and the bytes of the answers, chunk by chunk.
type recording struct {
	file    *os.File
	api     string // "/api/v1/pods"
	version string // to watch from
	busy    bool   // the last answer was to come back in a second
}

type listed struct {
	Metadata metav1.ListMeta
	Items    []struct{ Metadata metav1.ObjectMeta }
}

// ask sends a request over a connection of its own, and writes down request and answer. chunk is told each.
func (r *recording) ask(w *world, path string, chunk func([]byte)) error {
	config, err := w.plane.Config(w.plane.AdminKubeconfig())
	if err != nil {
		return err
	}
	security, err := rest.TLSConfigFor(config)
	if err != nil {
		return err
	}
	server, err := url.Parse(config.Host)
	if err != nil {
		return err
	}
	security.NextProtos = []string{"http/1.1"}
	connection, err := tls.Dial("tcp", server.Host, security)
	if err != nil {
		return err
	}
	defer connection.Close()
	fmt.Fprintf(connection, "GET %s HTTP/1.1\r\nHost: %s\r\nAccept: application/json\r\nConnection: close\r\n\r\n",
		path, server.Host)
	fmt.Fprintf(r.file, "request %s\n", path)
	return r.take(bufio.NewReader(connection), chunk)
}

// take reads an answer by hand, since Go's client keeps no borders of chunks.
func (r *recording) take(answer *bufio.Reader, chunk func([]byte)) error {
	lines := textproto.NewReader(answer)
	status, err := lines.ReadLine()
	if err != nil {
		return err
	}
	header, err := lines.ReadMIMEHeader()
	if err != nil {
		return err
	}
	code := strings.Fields(status)[1]
	r.busy = code == strconv.Itoa(http.StatusTooManyRequests)
	fmt.Fprintf(r.file, "status %s %s\n", code, cmp.Or(header.Get("Retry-After"), "0"))
	write := func(size int) error {
		bytes := make([]byte, size)
		if _, err := io.ReadFull(answer, bytes); err != nil {
			return err
		}
		fmt.Fprintf(r.file, "chunk %d\n%s\n", size, bytes)
		chunk(bytes)
		return nil
	}
	if http.Header(header).Get("Transfer-Encoding") != "chunked" {
		size, err := strconv.Atoi(header.Get("Content-Length"))
		if err == nil {
			err = write(size)
		}
		fmt.Fprintln(r.file, "end")
		return err
	}
	for {
		line, err := lines.ReadLine()
		if err != nil {
			return err
		}
		size, err := strconv.ParseUint(line, 16, 31)
		if err != nil {
			return err
		}
		if size == 0 {
			fmt.Fprintln(r.file, "end")
			return nil
		}
		if err := write(int(size)); err != nil {
			return err
		}
		if _, err := lines.ReadLine(); err != nil {
			return err
		}
	}
}

// list reads pages of two, and keeps the version of the first to watch from.
func (r *recording) list(w *world) error {
	for token, first := "", true; first || token != ""; first = false {
		path := r.api + "?limit=2"
		if token != "" {
			path += "&continue=" + url.QueryEscape(token)
		}
		var page []byte
		if err := r.ask(w, path, func(chunk []byte) { page = append(page, chunk...) }); err != nil {
			return err
		}
		var list listed
		if err := json.Unmarshal(page, &list); err != nil {
			return err
		}
		if token = list.Metadata.Continue; first {
			r.version = list.Metadata.ResourceVersion
		}
	}
	return nil
}

// watch records what is told until the server ends it.
func (r *recording) watch(w *world) error {
	var stream []byte
	path := fmt.Sprintf("%s?watch=1&allowWatchBookmarks=true&timeoutSeconds=%d&resourceVersion=%s", r.api, watchSeconds,
		r.version)
	for first := true; first || r.busy; first = false {
		if !first {
			time.Sleep(time.Second) // as the server wants it
		}
		stream = nil
		if err := r.ask(w, path, func(chunk []byte) { stream = append(stream, chunk...) }); err != nil {
			return err
		}
	}
	events := json.NewDecoder(strings.NewReader(string(stream)))
	for {
		var event struct {
			Type   string
			Object struct{ Metadata metav1.ObjectMeta }
		}
		if err := events.Decode(&event); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if version := event.Object.Metadata.ResourceVersion; version != "" {
			r.version = version
		}
	}
}

// truth writes what the server has in the end, in one list: namespace, name and version of each object.
func (r *recording) truth(w *world) error {
	page, err := w.client.CoreV1().RESTClient().Get().AbsPath(r.api).DoRaw(w.ctx)
	if err != nil {
		return err
	}
	var list listed
	if err := json.Unmarshal(page, &list); err != nil {
		return err
	}
	var lines []string
	for _, item := range list.Items {
		lines = append(lines, fmt.Sprintf("%s/%s %s\n", item.Metadata.Namespace, item.Metadata.Name,
			item.Metadata.ResourceVersion))
	}
	sort.Strings(lines)
	_, err = fmt.Fprintf(r.file, "truth %d\n%s", len(lines), strings.Join(lines, ""))
	return err
}

// Text in which a reader that looks for brackets, quotes or lines goes astray, and which chunks cut within letters.
func deceptive(size int) string {
	return strings.Repeat("}{\"\\\n\u2028<&>]ß€😀", 1+size/24)
}

func recordedYAML(namespace, name string, size int) string {
	text, _ := json.Marshal(deceptive(size))
	meta := fmt.Sprintf(`{name: %s, namespace: %s, annotations: {note: %s}}`, name, namespace, text)
	pool := nodePoolYAML(name, someMachines, "")
	pool = strings.Replace(pool, "metadata: {name: "+name+"}", fmt.Sprintf("metadata: {name: %s, annotations: {note: %s}}", name, text), 1)
	return fmt.Sprintf(`apiVersion: v1
kind: Pod
metadata: %[1]s
spec:
  automountServiceAccountToken: false
  schedulingGates: [{name: e2e.taffrail.dev/never}]
  containers: [{name: main, image: none, resources: {requests: {cpu: 1m}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: %[1]s
spec:
  replicas: 0
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec: {containers: [{name: main, image: none, resources: {requests: {cpu: 1m}}}]}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: %[1]s
spec: {storageClassName: none, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
%[2]s`, meta, pool)
}

var recordedKinds = map[string]string{
	"pods":                   "/api/v1/pods",
	"deployments":            "/apis/apps/v1/deployments",
	"persistentvolumeclaims": "/api/v1/persistentvolumeclaims",
	"nodepools":              "/apis/karpenter.sh/v1/nodepools",
}

// What an API server really says is written down, for tests without one: pages, events, bookmarks, a watch that ends,
// one whose version is forgotten, since the server was restarted, and a list again.
func TestRecordWatches(t *testing.T) {
	if *recordFlag == "" {
		t.Skip("told with --record DIR")
	}
	w := newOwnWorld(t, "recorded", newWorld)
	space := "recorded"
	w.admin(t, "", "create", "namespace", space).works(t)
	recordings := map[string]*recording{}
	for name, api := range recordedKinds {
		file, err := os.Create(filepath.Join(*recordFlag, name+".watch"))
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		recordings[name] = &recording{file: file, api: api}
	}
	each := func(do func(*recording) error) {
		t.Helper()
		for name, r := range recordings {
			if err := do(r); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	// watched does something while all kinds are watched.
	watched := func(do func()) {
		t.Helper()
		ends := make(chan error)
		for _, r := range recordings {
			go func() { ends <- r.watch(w) }()
		}
		do()
		for range recordings {
			if err := <-ends; err != nil {
				t.Fatal(err)
			}
		}
	}
	put := func(name string, size int) {
		t.Helper()
		w.admin(t, recordedYAML(space, name, size), "apply", "--server-side", "-f", "-").works(t)
	}
	remove := func(name string) {
		t.Helper()
		w.admin(t, recordedYAML(space, name, 0), "delete", "--grace-period=0", "--force", "-f", "-").works(t)
	}
	for _, name := range []string{"a", "b", "c"} {
		put(name, 0)
	}
	each(func(r *recording) error { return r.list(w) })
	watched(func() {
		put("d", 0)
		put("large", 1200)
		remove("a")
		put("b", 24)
		put("a", 48)
	})
	watched(func() {})
	remove("c")
	put("e", 0)
	if err := restartAPIServer(w); err != nil {
		t.Fatal(err)
	}
	watched(func() {})
	each(func(r *recording) error { return r.list(w) })
	watched(func() {
		put("f", 0)
		remove("d")
	})
	each(func(r *recording) error { return r.truth(w) })
}
