package simulate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"ripc/caches"
	"ripc/codegen/llvm/toolchain"
	"ripc/internal/files"
	"ripc/internal/tools"
	"ripc/targets/guests"
)

// InstallQemu and InstallCompiler install the tools of this package, on Debian.
const (
	InstallQemu     = "apt-get install qemu-user"
	InstallCompiler = "apt-get install gcc libc6-dev"
)

// ToolVersion returns the first version in the answer of a program to --version, or to ssh's -V; ""
// if there is none.
func ToolVersion(ctx context.Context, path string) string {
	for _, flag := range []string{"--version", "-V"} {
		limited, end := files.LimitTool(ctx, path)
		out, err := exec.CommandContext(limited, path, flag).CombinedOutput()
		end()
		if v := regexp.MustCompile(`\d+\.\d+[\w.]*`).Find(out); err == nil && v != nil {
			return strings.TrimRight(string(v), ".")
		}
	}
	return ""
}

// findLLVM returns the path of an LLVM program: given, if set, or the one that package toolchain
// uses. Assembling and linking the runner works with other versions as well, so those on PATH come
// after, unless $RIPC_LLVM_BIN says where to look.
func findLLVM(purpose, name string) (string, error) {
	const install = "apt-get install llvm-22 lld-22"
	p, err := toolchain.Lookup(name)
	if err == nil {
		return p, nil
	}
	if dir := os.Getenv(toolchain.EnvBin); dir != "" {
		return "", &ToolError{Tool: name, Looked: toolchain.EnvBin + "=" + dir, Purpose: purpose, Install: install}
	}
	return tools.Find(purpose, install, name+"-22", name+"-21", name+"-20", name)
}

// buildOnce returns the program with the given key from the cache, or builds it. build writes it to
// out and may use dir for other files.
func buildOnce(key string, build func(dir, out string) error) ([]byte, error) {
	cache, err := caches.OfUser("simulate")
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	if program, ok := cache.Get(key); ok {
		return program, nil
	}
	dir, remove, err := files.TempDir("")
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	defer remove()
	out := filepath.Join(dir, "out")
	if err := build(dir, out); err != nil {
		return nil, err
	}
	program, err := os.ReadFile(out)
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	cache.Put(key, program)
	return program, nil
}

// buildTime bounds the time of building the runner and the counter, once: a fraction of a second
// is usual.
const buildTime = 2 * time.Minute

// command runs a build tool and makes its messages part of the error.
func command(ctx context.Context, name string, args ...string) error {
	ctx, end := files.LimitTool(ctx, filepath.Base(name))
	defer end()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.WaitDelay = 5 * time.Second
	out, err := cmd.CombinedOutput()
	if err != nil {
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err = fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
		return fmt.Errorf("simulate: %s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// buildRunner returns the guest program for g.
func buildRunner(ctx context.Context, g guests.Guest) ([]byte, error) {
	source := []byte(g.Runner)
	return buildOnce(caches.Key([]byte("runner"), []byte(g.Triple), source), func(dir, out string) error {
		const purpose = "to build the simulator's runner, once"
		mc, err := findLLVM(purpose, "llvm-mc")
		if err != nil {
			return err
		}
		lld, err := findLLVM(purpose, "ld.lld")
		if err != nil {
			return err
		}
		asm, obj := filepath.Join(dir, "runner.s"), filepath.Join(dir, "runner.o")
		if err := os.WriteFile(asm, source, 0o600); err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		if err := command(ctx, mc, "-triple="+g.Triple, "-filetype=obj", asm, "-o", obj); err != nil {
			return err
		}
		return command(ctx, lld, "-static", obj, "-o", out)
	})
}
