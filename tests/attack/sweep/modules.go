package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// The modules whose files are read, at the versions of go.mod. They are fetched, checked against go.sum, and
// never compiled.
const (
	kubernetesModule = "k8s.io/kubernetes"
	karpenterModule  = "github.com/aws/karpenter-provider-aws"
)

// goOutput runs the go command in the folder of this module.
func goOutput(folder string, arguments ...string) ([]byte, error) {
	command := exec.Command("go", arguments...)
	command.Dir = folder
	command.Env = append(os.Environ(), "GOTOOLCHAIN=auto") // Karpenter wants a newer Go than Debian's
	var errors bytes.Buffer
	command.Stderr = &errors
	output, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w: %s%s", strings.Join(arguments, " "), err, output, errors.Bytes())
	}
	return output, nil
}

// requiredVersion is what go.mod says of a module.
func requiredVersion(folder, module string) (string, error) {
	output, err := goOutput(folder, "mod", "edit", "-json")
	if err != nil {
		return "", err
	}
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal(output, &file); err != nil {
		return "", err
	}
	for _, required := range file.Require {
		if required.Path == module {
			return required.Version, nil
		}
	}
	return "", fmt.Errorf("go.mod does not require %s", module)
}

// moduleFile reads one file of a module, out of the archive that go has checked.
func moduleFile(folder, module, path string) ([]byte, error) {
	version, err := requiredVersion(folder, module)
	if err != nil {
		return nil, err
	}
	output, err := goOutput(folder, "mod", "download", "-json", module+"@"+version)
	if err != nil {
		return nil, err
	}
	var downloaded struct{ Zip string }
	if err := json.Unmarshal(output, &downloaded); err != nil {
		return nil, err
	}
	archive, err := zip.OpenReader(downloaded.Zip)
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	file, err := archive.Open(module + "@" + version + "/" + path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return io.ReadAll(file)
}
