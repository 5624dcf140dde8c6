package toolchain

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

// ToolError says that a tool ran and failed.
type ToolError struct {
	Tool   string // path of the tool
	Args   []string
	Input  string // file with the tool's input, kept for inspection; empty if there is none
	Stderr string // the tool's messages, cut to a readable length
	Err    error  // how it ended
}

func (e *ToolError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %v", filepath.Base(e.Tool), e.Err)
	if e.Input != "" {
		fmt.Fprintf(&b, " on %s", e.Input)
	}
	if e.Stderr != "" {
		fmt.Fprintf(&b, "\n%s", e.Stderr)
	}
	fmt.Fprintf(&b, "\n    command: %s %s", e.Tool, strings.Join(e.Args, " "))
	return b.String()
}

func (e *ToolError) Unwrap() error { return e.Err }

// Run starts the tool with the given base name, feeds it stdin and returns its stdout. It fails
// with *MissingToolError, *ToolError, or ctx's error once ctx is done.
func (t *Tools) Run(ctx context.Context, base string, stdin []byte, args ...string) ([]byte, error) {
	return t.run(ctx, "", base, stdin, args...)
}

// run is Run in folder dir.
func (t *Tools) run(ctx context.Context, dir, base string, stdin []byte, args ...string) ([]byte, error) {
	path, err := t.Path(base)
	if err != nil {
		return nil, err
	}
	ctx, end := files.LimitTool(ctx, base)
	defer end()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir = dir
	cmd.Stdin = bytes.NewReader(stdin)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("%s was stopped: %w", base, context.Cause(ctx))
		}
		return nil, &ToolError{Tool: path, Args: args, Stderr: cut(stderr.String()), Err: err}
	}
	return stdout.Bytes(), nil
}

// cut shortens a tool's messages to their beginning and end: a crash prints hundreds of lines.
func cut(s string) string {
	const most = 4000
	s = strings.TrimSpace(s)
	if len(s) <= most {
		return s
	}
	return s[:most/2] + "\n    ...\n" + s[len(s)-most/2:]
}

// keepInput stores the input of a failed tool in a file and names that file in the error.
func keepInput(err *ToolError, pattern string, input []byte) *ToolError {
	f, ferr := os.CreateTemp("", pattern)
	if ferr != nil {
		return err
	}
	_, werr := f.Write(input)
	if cerr := f.Close(); werr != nil || cerr != nil {
		return err
	}
	err.Input = f.Name()
	err.Stderr = strings.ReplaceAll(err.Stderr, "<stdin>", f.Name())
	return err
}

// inTempDir calls f with a fresh folder and removes it afterwards.
func inTempDir(f func(dir string) error) error {
	dir, remove, err := files.TempDir("")
	if err != nil {
		return err
	}
	defer remove()
	return f(dir)
}
