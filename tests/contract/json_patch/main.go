// Applies patches as the API server does, which has this package from the same author. A line of
// standard input is {"object": OBJECT, "patch": PATCH}; the answer is a line with the object patched,
// or with what is wrong, as a string.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
)

type question struct {
	Object, Patch json.RawMessage
}

func apply(line []byte) (json.RawMessage, error) {
	var asked question
	if err := json.Unmarshal(line, &asked); err != nil {
		return nil, err
	}
	patch, err := jsonpatch.DecodePatch(asked.Patch)
	if err != nil {
		return nil, err
	}
	return patch.Apply(asked.Object)
}

func main() {
	input := bufio.NewReader(os.Stdin)
	for {
		line, err := input.ReadBytes('\n')
		if err != nil {
			return
		}
		patched, err := apply(line)
		if err != nil {
			patched, _ = json.Marshal(err.Error())
		}
		fmt.Printf("%s\n", patched)
	}
}
