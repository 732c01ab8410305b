package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// engine is tests/bench/review_cost.c: it judges bodies in its process and says what each cost.
type engine struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	worlds  []string // the policies
}

// cost is what one review came to.
type cost struct {
	world       int
	cpuMicros   int
	status      int
	allowed     int
	limit       string
	answerBytes int
	arenaBytes  int
}

func startEngine(program string, policies []string, arguments ...string) (*engine, error) {
	for _, policy := range policies {
		arguments = append(arguments, "-p", policy)
	}
	command := exec.Command(program, arguments...)
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &engine{command, in, bufio.NewReader(out), policies}, command.Start()
}

func (e *engine) stop() error {
	e.in.Close()
	return e.command.Wait()
}

// allWorlds asks them all.
const allWorlds = -1

// ask judges a body; nil: the last one again.
func (e *engine) ask(phase string, world int, body []byte) ([]cost, error) {
	which := "*"
	if world != allWorlds {
		which = fmt.Sprint(world)
	}
	if _, err := fmt.Fprintf(e.in, "%s %s %d\n", phase, which, len(body)); err != nil {
		return nil, err
	}
	if _, err := e.in.Write(body); err != nil {
		return nil, err
	}
	var costs []cost
	for {
		line, err := e.out.ReadString('\n')
		if err != nil {
			return nil, fmt.Errorf("the engine ended within a review: %w", err)
		}
		if line = strings.TrimSpace(line); line == "end" {
			return costs, nil
		}
		var one cost
		if _, err := fmt.Sscan(line, &one.world, &one.cpuMicros, &one.status, &one.allowed, &one.limit,
			&one.answerBytes, &one.arenaBytes); err != nil {
			return nil, fmt.Errorf("the engine said %q: %w", line, err)
		}
		costs = append(costs, one)
	}
}
