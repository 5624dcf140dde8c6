// Package tools runs the programs for FPGAs, such as Yosys, that the system has.
package tools

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"ripc/internal/files"
)

// MissingError says that a program is missing, and how to get it.
type MissingError struct {
	Tool, Package string // Package is Debian's
}

// script installs all of the programs.
const script = "scripts/setup-fpga.sh"

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s is not installed: apt-get install %s, or run %s", e.Tool, e.Package, script)
}

// MissingTool marks errors about missing programs.
func (*MissingError) MissingTool() {}

// Error says that a program failed. Text is the end of its output.
type Error struct {
	Tool, Text string
	Err        error
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %v\n%s", e.Tool, e.Err, e.Text) }

// Unwrap returns the program's exit status.
func (e *Error) Unwrap() error { return e.Err }

// Find fails with *MissingError if there is no program called name.
func Find(name, debian string) error {
	if _, err := exec.LookPath(name); err != nil {
		return &MissingError{name, debian}
	}
	return nil
}

// maxText bounds the text of an Error.
const maxText = 4000

// Run runs a program in a folder, and returns its standard output. It fails with *Error, with
// *files.ToolLimitError, or with ctx's error once ctx is done.
func Run(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	return RunJobs(ctx, 1, dir, name, args...)
}

// RunJobs is Run of a program that does several jobs. Each may take as long as a program.
func RunJobs(ctx context.Context, jobs int, dir, name string, args ...string) ([]byte, error) {
	late := files.LimitOf(ctx, filepath.Base(name), jobs)
	limited, cancel := context.WithTimeoutCause(ctx, late.Limit, late)
	defer cancel()
	c := exec.CommandContext(limited, name, args...)
	var out, text bytes.Buffer
	c.Dir, c.Stdout, c.Stderr, c.WaitDelay = dir, &out, &text, time.Second
	endGroup(c)
	if err := c.Run(); err != nil {
		if limited.Err() != nil {
			return nil, context.Cause(limited)
		}
		said := append(out.Bytes(), text.Bytes()...)
		return nil, &Error{filepath.Base(name), string(said[max(0, len(said)-maxText):]), err}
	}
	return out.Bytes(), nil
}
