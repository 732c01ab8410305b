package stories

import (
	"encoding/base64"
	"net"
	"net/http"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// What an answer comes to at the API server.
type class int

const (
	taken     class = iota
	noAnswer        // failurePolicy decides
	cannot          // 500, whatever failurePolicy says
	rejection       // final, whatever failurePolicy says
)

type phase string

const (
	mutating   phase = "mutating"
	validating phase = "validating"
	both       phase = ""
)

// An answer of a webhook, and what the API server is to make of it.
type answer struct {
	name    string
	class   class
	phase   phase // the only one that it is given in
	said    string
	status  int                                   // of HTTP; 0: 200
	body    string                                // UID in it stands for the request's
	serve   func(http.ResponseWriter, string)     // instead of status and body; the body that would be right
	delete  bool                                  // asked about a deletion
	seconds int32                                 // timeoutSeconds; 0: 5
	url     func(*answering) (url, bundle string) // where it is registered; nil: where it is answered
	denial  metav1.Status                         // of a rejection: what of it the client gets
	becomes map[string]string                     // the data of the object that was taken
}

// review is an answer with these fields of the response.
func review(fields string) string {
	return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"UID",` + fields + `}}`
}

func encoded(text string) string { return `"` + base64.StdEncoding.EncodeToString([]byte(text)) + `"` }

func patch(operations string) string {
	return review(`"allowed":true,"patchType":"JSONPatch","patch":` + encoded(operations))
}

func denied(status string) string { return review(`"allowed":false,"status":` + status) }

const (
	addNothing   = `[{"op":"add","path":"/data","value":{"a":"b"}}]`
	addSomething = `[{"op":"add","path":"/data/c","value":"d"}]`
)

var (
	right = review(`"allowed":true`)

	// An answer is as it came: the same object, with the data it had.
	untouched = map[string]string{"a": "b"}

	// The rows of which nothing but the body is wrong, or right.
	bodies = []answer{
		{name: "right", class: taken, body: right, becomes: untouched},
		{name: "empty", class: noAnswer, body: "", said: "0-length response"},
		{name: "not-json", class: noAnswer, body: "<html>502</html>"},
		{name: "truncated", class: noAnswer, body: right[:len(right)-9]},
		{name: "wrong-field-type", class: noAnswer, body: review(`"allowed":"true"`)},
		{name: "base64", class: noAnswer, body: review(`"allowed":true,"patchType":"JSONPatch","patch":"%%%"`)},
		{name: "unknown-version", class: noAnswer, body: strings.Replace(right, "k8s.io/v1", "k8s.io/v7", 1)},
		{name: "beta-version", class: noAnswer, body: strings.Replace(right, "k8s.io/v1", "k8s.io/v1beta1", 1)},
		{name: "unknown-kind", class: noAnswer, body: strings.Replace(right, "AdmissionReview", "Reviews", 1)},
		{name: "other-kind", class: noAnswer, body: `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}}`},
		{name: "no-version", class: noAnswer, body: strings.Replace(right, `"apiVersion":"admission.k8s.io/v1",`, "", 1)},
		{name: "no-kind", class: noAnswer, body: strings.Replace(right, `"kind":"AdmissionReview",`, "", 1)},
		{name: "status", class: noAnswer, said: "unknown conversion",
			body: `{"apiVersion":"v1","kind":"Status","status":"Failure","message":"busy","code":403}`},
		{name: "no-response", class: noAnswer, said: "webhook response was absent",
			body: `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}`},
		{name: "other-uid", class: noAnswer, body: strings.Replace(right, "UID", "other", 1)},
		{name: "empty-uid", class: noAnswer, body: strings.Replace(right, "UID", "", 1)},
		{name: "no-uid", class: noAnswer, body: strings.Replace(right, `"uid":"UID",`, "", 1)},
		{name: "unknown-fields", class: taken, becomes: untouched, body: review(`"allowed":true,"mood":{"good":[1]}`)},
		{name: "status-of-allowed", class: taken, becomes: untouched,
			body: review(`"allowed":true,"status":{"code":500,"status":"Failure","message":"not read"}`)},

		{name: "patch-without-type", class: noAnswer, body: review(`"allowed":true,"patch":` + encoded(addSomething))},
		{name: "type-without-patch", class: noAnswer, body: review(`"allowed":true,"patchType":"JSONPatch"`)},
		{name: "type-with-empty-patch", class: noAnswer, body: review(`"allowed":true,"patchType":"JSONPatch","patch":""`)},
		{name: "empty-type", class: noAnswer, body: review(`"allowed":true,"patchType":""`)},
		{name: "other-type", class: noAnswer, phase: mutating, said: "unsupported patch type",
			body: review(`"allowed":true,"patchType":"MergePatch","patch":` + encoded(addSomething))},
		{name: "patch-is-no-list", class: noAnswer, phase: mutating, said: "received undecodable patch", body: patch(`{}`)},
		{name: "patch-is-no-json", class: noAnswer, phase: mutating, said: "received undecodable patch", body: patch(`add`)},
		{name: "patch-of-a-validator", class: noAnswer, phase: validating, body: patch(addSomething)},
		{name: "patched", class: taken, phase: mutating, body: patch(addSomething),
			becomes: map[string]string{"a": "b", "c": "d"}},
		{name: "empty-list", class: taken, phase: mutating, body: patch(`[]`), becomes: untouched},
		{name: "changes-nothing", class: taken, phase: mutating, body: patch(addNothing), becomes: untouched},
		{name: "unknown-field-of-the-object", class: taken, phase: mutating, becomes: untouched,
			body: patch(`[{"op":"add","path":"/spirit","value":"dropped"}]`)},
		{name: "patch-and-denied", class: rejection, phase: mutating,
			body:   review(`"allowed":false,"patchType":"JSONPatch","patch":` + encoded(addSomething)),
			denial: metav1.Status{Code: 400, Message: "without explanation"}},

		{name: "no-parent", class: cannot, phase: mutating, body: patch(`[{"op":"add","path":"/spec/deep","value":1}]`)},
		{name: "removes-nothing", class: cannot, phase: mutating, body: patch(`[{"op":"remove","path":"/data/none"}]`)},
		{name: "test-fails", class: cannot, phase: mutating, body: patch(`[{"op":"test","path":"/data/a","value":"x"}]`)},
		{name: "unknown-operation", class: cannot, phase: mutating, body: patch(`[{"op":"sing","path":"/data/a"}]`)},
		{name: "bad-index", class: cannot, phase: mutating,
			body: patch(`[{"op":"add","path":"/metadata/finalizers/7","value":"e2e.taffrail.dev/x"}]`)},
		{name: "no-such-type", class: cannot, phase: mutating, body: patch(`[{"op":"replace","path":"/data","value":5}]`)},
		{name: "patch-of-a-deletion", class: cannot, phase: mutating, delete: true, body: patch(addSomething)},

		{name: "denied", class: rejection, body: denied(`{"code":403,"reason":"Forbidden","message":"not here"}`),
			denial: metav1.Status{Code: 403, Reason: metav1.StatusReasonForbidden, Message: "not here"}},
		{name: "allowed-is-absent", class: rejection, body: review(`"warnings":[]`),
			denial: metav1.Status{Code: 400, Message: "without explanation"}},
		{name: "denied-without-code", class: rejection, body: denied(`{"message":"no"}`),
			denial: metav1.Status{Code: 400, Message: "no"}},
		{name: "denied-with-200", class: rejection, body: denied(`{"code":200,"message":"no"}`),
			denial: metav1.Status{Code: 400, Message: "no"}},
		{name: "denied-as-success", class: rejection, body: denied(`{"code":403,"status":"Success","message":"no"}`),
			denial: metav1.Status{Code: 403, Message: "no"}},
		{name: "denied-with-a-reason-alone", class: rejection, body: denied(`{"code":409,"reason":"Conflict"}`),
			denial: metav1.Status{Code: 409, Reason: metav1.StatusReasonConflict, Message: "Conflict"}},
		{name: "denied-as-invalid", class: rejection,
			body: denied(`{"code":422,"reason":"Invalid","message":"bad","details":{"name":"n","kind":"K","group":"g",
				"causes":[{"reason":"FieldValueInvalid","message":"m","field":"data.a"}],"retryAfterSeconds":3}}`),
			denial: metav1.Status{Code: 422, Reason: metav1.StatusReasonInvalid, Message: "bad",
				Details: &metav1.StatusDetails{Name: "n", Kind: "K", Group: "g", RetryAfterSeconds: 3,
					Causes: []metav1.StatusCause{{Type: "FieldValueInvalid", Message: "m", Field: "data.a"}}}}},
		{name: "denied-as-500", class: rejection, body: denied(`{"code":500,"message":"no"}`),
			denial: metav1.Status{Code: 500, Message: "no"}},
	}

	// The rows of which HTTP, or what is under it, is wrong.
	transports = []answer{
		{name: "status-201", class: taken, status: 201, body: right, becomes: untouched},
		{name: "status-204", class: noAnswer, status: 204, said: "0-length response"},
		{name: "status-207", class: noAnswer, status: 207, body: right},
		{name: "status-400", class: noAnswer, status: 400, body: right},
		{name: "status-403", class: noAnswer, status: 403, body: denied(`{"code":403}`)},
		{name: "status-404", class: noAnswer, status: 404, body: "404 page not found\n",
			said: "the server could not find the requested resource"},
		{name: "status-429", class: noAnswer, status: 429, body: right},
		{name: "status-500", class: noAnswer, status: 500, body: right},
		{name: "redirect-as-get", class: noAnswer, serve: redirect(http.StatusFound)},
		{name: "redirect-as-post", class: taken, becomes: untouched, serve: redirect(http.StatusTemporaryRedirect)},
		{name: "busy-once", class: taken, becomes: untouched, serve: busyOnce(map[string]bool{})},
		{name: "too-short", class: noAnswer, said: "EOF", serve: func(writer http.ResponseWriter, body string) {
			writer.Header().Set("Content-Length", "4096")
			_, _ = writer.Write([]byte(body))
		}},
		{name: "hangs-up", class: noAnswer, said: "EOF", serve: func(writer http.ResponseWriter, _ string) { hangUp(writer, false) }},
		{name: "resets", class: noAnswer, said: "reset", serve: func(writer http.ResponseWriter, _ string) { hangUp(writer, true) }},
		{name: "no-media-type", class: taken, becomes: untouched, serve: withType("")},
		{name: "text-plain", class: taken, becomes: untouched, serve: withType("text/plain")},
		{name: "slow", class: noAnswer, seconds: 1, said: "deadline exceeded",
			serve: func(writer http.ResponseWriter, body string) {
				time.Sleep(1500 * time.Millisecond) // what is tested is a time limit
				_, _ = writer.Write([]byte(body))
			}},
		{name: "nobody-listens", class: noAnswer, said: "connection refused",
			url: func(a *answering) (string, string) { return a.nobody, a.authority }},
		{name: "unknown-authority", class: noAnswer, said: "x509: certificate signed by unknown authority",
			url: func(a *answering) (string, string) { return a.stranger.URL, a.authority }},
		{name: "no-certificate", class: noAnswer, said: "unable to load root certificates",
			url: func(a *answering) (string, string) { return a.server.URL, "no certificate" }},
	}
)

func redirect(status int) func(http.ResponseWriter, string) {
	return func(writer http.ResponseWriter, _ string) {
		writer.Header().Set("Location", "/right")
		writer.WriteHeader(status)
	}
}

// busyOnce asks to come back in a second, the first time each request comes.
func busyOnce(came map[string]bool) func(http.ResponseWriter, string) {
	return func(writer http.ResponseWriter, body string) {
		answersLock.Lock()
		again := came[body] // which has the request's uid
		came[body] = true
		answersLock.Unlock()
		if !again {
			writer.Header().Set("Retry-After", "1")
			writer.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = writer.Write([]byte(body))
	}
}

func withType(mediaType string) func(http.ResponseWriter, string) {
	return func(writer http.ResponseWriter, body string) {
		writer.Header()["Content-Type"] = nil
		if mediaType != "" {
			writer.Header().Set("Content-Type", mediaType)
		}
		_, _ = writer.Write([]byte(body))
	}
}

// hangUp ends the connection instead of answering.
func hangUp(writer http.ResponseWriter, reset bool) {
	connection, _, err := writer.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	if raw, ok := connection.(interface{ NetConn() net.Conn }); ok && reset {
		under := raw.NetConn().(*net.TCPConn)
		_ = under.SetLinger(0)
		_ = under.Close()
		return
	}
	_ = connection.Close()
}
