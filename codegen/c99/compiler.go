package c99

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ripc/internal/files"
)

// EnvCompiler is the environment variable with the C compiler and its first arguments, for
// libraries that are built from C source.
const EnvCompiler = "CC"

// Compiler runs the system's C compiler.
type Compiler struct {
	// Command is the compiler and options for it, separated by spaces. "" is the environment's CC,
	// or cc.
	Command string
}

// CompilerError says that there is no C compiler, or that it failed.
type CompilerError struct {
	Command string
	Output  string // the compiler's messages
	Err     error
	ran     bool
}

func (e *CompilerError) Error() string {
	if !e.ran {
		return fmt.Sprintf("no C compiler: %q: %v; install one (Debian: gcc), or name one with the environment "+
			"variable CC", e.Command, e.Err)
	}
	return fmt.Sprintf("%s: %v\n%s", e.Command, e.Err, strings.TrimRight(e.Output, "\n"))
}

func (e *CompilerError) Unwrap() error { return e.Err }

// maxOutput bounds the stored messages of a compiler, in bytes.
const maxOutput = 1 << 14

// waitDelay is the time that processes that a compiler started may keep its output open after it
// was killed.
const waitDelay = 5 * time.Second

// hostCompiler is the command of the system's own compiler, which makes code for this machine.
const hostCompiler = "cc"

// command is the command that runs.
func (c Compiler) command() string {
	for _, s := range []string{c.Command, os.Getenv(EnvCompiler)} {
		if strings.TrimSpace(s) != "" {
			return s
		}
	}
	return hostCompiler
}

// CompileShared compiles source to a shared library called name.so. It fails with *CompilerError or
// ctx's error.
func (c Compiler) CompileShared(ctx context.Context, name string, source []byte) ([]byte, error) {
	command := c.command()
	dir, remove, err := files.TempDir("")
	if err != nil {
		return nil, err
	}
	defer remove()
	if err := os.WriteFile(filepath.Join(dir, "network.c"), source, 0o600); err != nil {
		return nil, err
	}
	words := strings.Fields(command)
	args := append([]string{"-std=c99", "-O2", "-fPIC", "-shared", "-Wl,-soname," + name + ".so"}, words[1:]...)
	args = append(args, "-o", "network.so", "network.c")
	if words[0], err = exec.LookPath(words[0]); err != nil {
		return nil, &CompilerError{Command: command, Err: err}
	}
	ctx, end := files.LimitTool(ctx, command)
	defer end()
	cmd := exec.CommandContext(ctx, words[0], args...)
	cmd.Dir = dir
	cmd.WaitDelay = waitDelay
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, &CompilerError{Command: command, Output: output(&out), Err: err, ran: true}
	}
	data, err := os.ReadFile(filepath.Join(dir, "network.so"))
	if err != nil {
		return nil, &CompilerError{Command: command, Output: output(&out),
			Err: fmt.Errorf("it made no library: %w", err), ran: true}
	}
	return data, nil
}

// output returns the stored part of a compiler's messages.
func output(b *bytes.Buffer) string {
	text := b.String()
	return text[:min(len(text), maxOutput)]
}
