package plane

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// Process is a program that runs beside, and ends no later than this one.
type Process struct {
	command *exec.Cmd
	log     string
	done    chan struct{}
}

// Launch starts a program with its output in a file, to which it is appended, and more environment.
func Launch(log string, environment []string, words ...string) (*Process, error) {
	file, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	command := exec.Command(words[0], words[1:]...)
	command.Env = append(os.Environ(), environment...)
	command.Stdout, command.Stderr = file, file
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", words[0], err)
	}
	process := &Process{command, log, make(chan struct{})}
	go func() {
		_ = command.Wait()
		close(process.done)
	}()
	return process, nil
}

// Done is closed when the process has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Signal sends one to the process.
func (p *Process) Signal(signal os.Signal) error { return p.command.Process.Signal(signal) }

// Stop asks it to end, and makes it after 20 s; with kill at once.
func (p *Process) Stop(kill bool) {
	if !kill {
		_ = p.Signal(syscall.SIGTERM)
		select {
		case <-p.done:
			return
		case <-time.After(20 * time.Second):
		}
	}
	_ = p.Signal(syscall.SIGKILL)
	<-p.done
}

// LogTail is the end of what it printed.
func (p *Process) LogTail(bytes int) string {
	content, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(content[max(0, len(content)-bytes):])
}
