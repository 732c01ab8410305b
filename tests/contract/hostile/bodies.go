package main

import (
	"bytes"
	"fmt"
)

// review is an AdmissionReview of a Pod with more in its metadata and in its container.
func review(metadata, container string) []byte {
	return []byte(`{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"made",` +
		`"kind":{"group":"","version":"v1","kind":"Pod"},"resource":{"group":"","version":"v1","resource":"pods"},` +
		`"namespace":"shop","operation":"CREATE","userInfo":{"username":"jane"},"object":{"apiVersion":"v1",` +
		`"kind":"Pod","metadata":{"name":"web","namespace":"shop"` + metadata + `},"spec":{"containers":[{"name":"web",` +
		`"image":"registry.example.com/web:1"` + container + `}]}},"oldObject":null,"dryRun":false,"options":null}}` + "\n")
}

// entries repeats a line, numbered, until there are so many bytes.
func entries(format string, size int) string {
	var out bytes.Buffer
	for i := 0; out.Len() < size; i++ {
		if i > 0 {
			out.WriteByte(',')
		}
		fmt.Fprintf(&out, format, i)
	}
	return out.String()
}

// annotated is long and simple.
func annotated(size int) []byte {
	return review(`,"annotations":{`+entries(`"note-%d":"a few words"`, size-600)+`}`, "")
}

// crowded asks for many resources, and each must be compared with others.
func crowded(size int) []byte {
	half := (size - 700) / 2
	return review("", `,"resources":{"requests":{`+entries(`"example.com/gpu-%d":"1"`, half)+
		`},"limits":{`+entries(`"example.com/gpu-%d":"1"`, half)+`}}`)
}
