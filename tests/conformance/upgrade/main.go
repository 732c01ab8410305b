// Holds objects against the CRDs that Karpenter and its AWS provider ship, as an API server does, and those
// that it takes against what Karpenter's controllers then ask of them.
// usage: crd-judge [-o json] < OBJECTS; a line for each
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/util/yaml"
)

// verdict is what becomes of one object.
type verdict struct {
	Name       string   `json:"name"`
	Refused    []string `json:"refused"`    // by the API server
	Dropped    []string `json:"dropped"`    // the fields that it drops in silence
	Unreadable string   `json:"unreadable"` // no controller can read what is stored
	Rejected   []string `json:"rejected"`   // by Karpenter, when it looks at the object
}

func judge(object map[string]any) (verdict, error) {
	var result verdict
	metadata, _ := object["metadata"].(map[string]any)
	result.Name, _ = metadata["name"].(string)
	stored, err := admit(object, &result)
	if err == nil && len(result.Refused) == 0 {
		err = reconcile(stored, &result)
	}
	return result, err
}

func (v verdict) String() string {
	var faults []string
	if len(v.Refused) > 0 {
		faults = append(faults, "refused: "+strings.Join(v.Refused, "; "))
	}
	for _, path := range v.Dropped {
		faults = append(faults, path+" is dropped in silence")
	}
	if v.Unreadable != "" {
		faults = append(faults, "cannot be read: "+v.Unreadable)
	}
	if len(v.Rejected) > 0 {
		faults = append(faults, "rejected later: "+strings.Join(v.Rejected, "; "))
	}
	return strings.Join(faults, "; ")
}

func run(asJSON bool) error {
	reader := yaml.NewYAMLReader(bufio.NewReaderSize(os.Stdin, 1<<20))
	output := json.NewEncoder(os.Stdout)
	faulty := 0
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		object := map[string]any{}
		if err := yaml.Unmarshal(document, &object); err != nil {
			return err
		}
		result, err := judge(object)
		if err != nil {
			result.Refused = append(result.Refused, err.Error())
		}
		if asJSON {
			if err := output.Encode(result); err != nil {
				return err
			}
			continue
		}
		faults := result.String()
		if faults == "" {
			faults = "accepted"
		} else {
			faulty++
		}
		fmt.Printf("%v %v %s\n", object["kind"], result.Name, faults)
	}
	if faulty > 0 {
		return fmt.Errorf("%d not as they should be", faulty)
	}
	return nil
}

func main() {
	output := flag.String("o", "text", "text, or json: a verdict a line")
	flag.Parse()
	if err := run(*output == "json"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
