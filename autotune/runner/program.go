package runner

import (
	"bytes"
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"ripc/caches"
	"ripc/internal/files"
	"ripc/targets/guests"
)

// workerPackage is the worker for machines that have nothing of ripc.
const workerPackage = "ripc/cmd/ripc-worker"

// WorkerName is the file name, beside ripc, of the static worker for an architecture as
// descriptions name it.
func WorkerName(arch string) string { return "ripc-worker-" + arch }

// workerProgram is the static worker for an architecture: the file beside this program, or the one
// that Go builds of the sources that this program was built from.
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
	root, err := sources()
	if err == nil {
		var program []byte
		if program, err = buildWorker(ctx, root, guest); err == nil {
			return program, nil
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, fmt.Errorf("no worker for %s: put %s into %s (make workers builds it); it cannot be built here: %w",
		arch, WorkerName(arch), beside, err)
}

// protocol has the files of this package that both ends of a connection are made of, as this
// program was built from them.
//
//go:embed client.go frames.go job.go program.go serve.go
var protocol embed.FS

// sources returns the root of the module that this program was built from. The compiler has left
// the path of this file in the program. The current folder counts for nothing: whoever made it may
// have put other code there.
func sources() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	if !ok || !filepath.IsAbs(file) {
		return "", errors.New("this program was built without the path of its sources (-trimpath)")
	}
	root := filepath.Dir(filepath.Dir(filepath.Dir(file)))
	return root, checkSources(root)
}

// checkSources fails unless root has the module that this program was built from: its name, and the
// same protocol.
func checkSources(root string) error {
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		return fmt.Errorf("the sources that this program was built from are not there any more: %w", err)
	}
	module, _, _ := strings.Cut(workerPackage, "/")
	if !slices.Contains(strings.Split(string(text), "\n"), "module "+module) {
		return fmt.Errorf("%s, where this program was built, is another module by now", root)
	}
	entries, err := protocol.ReadDir(".")
	if err != nil {
		return err
	}
	for _, f := range entries {
		was, err := protocol.ReadFile(f.Name())
		if err != nil {
			return err
		}
		path := filepath.Join(root, "autotune", "runner", f.Name())
		if is, err := os.ReadFile(path); err != nil || !bytes.Equal(is, was) {
			return fmt.Errorf("%s has changed since this program was built; build ripc again", path)
		}
	}
	return nil
}

// buildTime is how long Go may take to build a worker. With nothing in its cache it compiles its
// own library, too.
const buildTime = 10 * time.Minute

// buildWorker builds the worker of the module in root. It is kept where Go finds it still good the
// next time.
func buildWorker(ctx context.Context, root string, g guests.Guest) ([]byte, error) {
	cache, err := caches.OfUser("workers")
	if err != nil {
		return nil, err
	}
	folder := cache.Dir()
	if folder == "" {
		var remove func() error
		if folder, remove, err = files.TempDir(""); err != nil {
			return nil, err
		}
		defer remove()
	}
	out, err := filepath.Abs(filepath.Join(folder, WorkerName(g.Arch)))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, buildTime)
	defer cancel()
	args, env := g.GoBuild(workerPackage, out, true)
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = root
	cmd.Env = append(append(os.Environ(), env...), "GOWORK=off")
	cmd.WaitDelay = 5 * time.Second
	var messages bytes.Buffer
	cmd.Stderr = &messages
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = fmt.Errorf("it did not end within %v: %w", buildTime, err)
		}
		first, _, _ := strings.Cut(strings.TrimSpace(messages.String()), "\n")
		return nil, fmt.Errorf("go build: %w: %s", err, first)
	}
	return os.ReadFile(out)
}
