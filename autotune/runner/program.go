package runner

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ripc/codegen/llvm/toolchain"
	"ripc/targets/guests"
)

// workerPackage is the worker for machines that have nothing of ripc.
const workerPackage = "ripc/cmd/ripc-worker"

// WorkerName is what the static worker for an architecture, as descriptions name it, is called beside ripc.
func WorkerName(arch string) string { return "ripc-worker-" + arch }

// MissingWorkerError says that there is no worker to copy to a machine.
type MissingWorkerError struct {
	Arch, Beside string // where it was looked for
	Err          error  // of building it
}

func (e *MissingWorkerError) Error() string {
	return fmt.Sprintf("no worker for %s: put %s into %s (make workers builds it), or start ripc in its source tree, where Go builds it: %v", e.Arch, WorkerName(e.Arch), e.Beside, e.Err)
}

// Unwrap gives the cause.
func (e *MissingWorkerError) Unwrap() error { return e.Err }

// workerProgram is the static worker for an architecture: the file beside this program, or what Go builds of the source.
func workerProgram(ctx context.Context, arch string) ([]byte, error) {
	guest, ok := guests.Of(arch)
	if !ok {
		return nil, fmt.Errorf("there are no workers for %s", arch)
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("where this program is: %w", err)
	}
	if resolved, err := filepath.EvalSymlinks(self); err == nil {
		self = resolved
	}
	beside := filepath.Dir(self)
	if program, err := os.ReadFile(filepath.Join(beside, WorkerName(arch))); err == nil {
		return program, nil
	}
	var cause error
	for _, dir := range []string{".", beside} {
		var program []byte
		if program, err = buildWorker(ctx, dir, guest); err == nil {
			return program, nil
		}
		if cause == nil {
			cause = err
		}
	}
	return nil, &MissingWorkerError{Arch: arch, Beside: beside, Err: cause}
}

// buildWorker builds the worker of the source tree that dir lies in. It is kept where Go finds it still good the next time.
func buildWorker(ctx context.Context, dir string, g guests.Guest) ([]byte, error) {
	cache, err := toolchain.UserCache("workers")
	if err != nil {
		return nil, err
	}
	folder := cache.Dir()
	if folder == "" {
		if folder, err = os.MkdirTemp("", "ripc-worker-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(folder)
	}
	out, err := filepath.Abs(filepath.Join(folder, WorkerName(g.Arch)))
	if err != nil {
		return nil, err
	}
	args, env := g.GoBuild(workerPackage, out, true)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var messages bytes.Buffer
	cmd.Stderr = &messages
	if err := cmd.Run(); err != nil {
		first, _, _ := strings.Cut(strings.TrimSpace(messages.String()), "\n")
		return nil, fmt.Errorf("go build: %w: %s", err, first)
	}
	return os.ReadFile(out)
}
