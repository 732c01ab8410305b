// Prints how kubectl reads each document of the files named: the JSON it becomes, or "error", a
// line each. Documents end at a line that is "---".
package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

func main() {
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for _, path := range os.Args[1:] {
		text, err := os.ReadFile(path)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		for _, document := range bytes.Split(text, []byte("\n---\n")) {
			json, err := yaml.YAMLToJSON(document)
			if err != nil {
				json = []byte("error")
			}
			// The same character, escaped where it stands for a byte that is not UTF-8.
			json = bytes.ReplaceAll(json, []byte(`\ufffd`), []byte("\uFFFD"))
			fmt.Fprintf(out, "%s\n", json)
		}
	}
}
