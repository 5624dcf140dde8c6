package simulate

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"ripc/codegen/llvm/toolchain"
)

// findTool returns given, if set, or the path of the first of names on PATH.
func findTool(given, purpose, install string, names ...string) (string, error) {
	if given != "" {
		names = []string{given}
	}
	for _, n := range names {
		if p, err := exec.LookPath(n); err == nil {
			return filepath.Abs(p)
		}
	}
	return "", &ToolError{Tool: names[0], Purpose: purpose, Install: install}
}

// findLLVM returns the path of an LLVM program: given, if set, or the one that package toolchain uses. Assembling and
// linking the runner works with other versions as well, so those on PATH come after, unless $RIPC_LLVM_BIN says where to
// look.
func findLLVM(given, purpose, name string) (string, error) {
	const install = "apt-get install llvm-22 lld-22"
	if given != "" {
		return findTool(given, purpose, install)
	}
	p, err := toolchain.Lookup(name)
	if err == nil {
		return p, nil
	}
	if dir := os.Getenv(toolchain.EnvBin); dir != "" {
		return "", &ToolError{Tool: name, Looked: toolchain.EnvBin + "=" + dir, Purpose: purpose, Install: install}
	}
	return findTool("", purpose, install, name+"-22", name+"-21", name+"-20", name)
}

// cacheDir returns the folder for what is built once.
func (o Options) cacheDir() (string, error) {
	dir := o.CacheDir
	if dir == "" {
		base, err := toolchain.DefaultDir()
		if err != nil { // there is no home
			base = filepath.Join(os.TempDir(), "ripc")
		}
		dir = filepath.Join(base, "simulate")
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("simulate: cannot make the cache folder: %w (set %s to a writable folder)", err, toolchain.EnvCache)
	}
	return dir, nil
}

// cached returns the path of a file built from source, building it if it is not there yet. build writes it to out and
// may use dir for other files. Two processes may build at once; the file appears whole or not at all.
func (o Options) cached(name, suffix string, key []byte, build func(dir, out string) error) (string, error) {
	cache, err := o.cacheDir()
	if err != nil {
		return "", err
	}
	final := filepath.Join(cache, fmt.Sprintf("%s-%x%s", name, sha256.Sum256(key), suffix))
	if info, err := os.Stat(final); err == nil && info.Size() > 0 {
		return final, nil
	}
	dir, err := os.MkdirTemp(cache, "build-")
	if err != nil {
		return "", fmt.Errorf("simulate: cannot build %s: %w", name, err)
	}
	defer os.RemoveAll(dir)
	out := filepath.Join(dir, "out")
	if err := build(dir, out); err != nil {
		return "", err
	}
	if err := os.Rename(out, final); err != nil {
		return "", fmt.Errorf("simulate: cannot keep %s: %w", name, err)
	}
	return final, nil
}

// command runs a build tool and makes its messages part of the error.
func command(ctx context.Context, name string, args ...string) error {
	out, err := exec.CommandContext(ctx, name, args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("simulate: %s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// runner returns the path of the guest program for a.
func (o Options) runner(ctx context.Context, a arch) (string, error) {
	source, err := guest.ReadFile(a.runner)
	if err != nil {
		return "", fmt.Errorf("simulate: %w", err)
	}
	return o.cached("runner-"+a.name, "", append([]byte(a.triple+"\n"), source...), func(dir, out string) error {
		const purpose = "to build the simulator's runner, once"
		mc, err := findLLVM(o.LLVMMC, purpose, "llvm-mc")
		if err != nil {
			return err
		}
		lld, err := findLLVM(o.LLD, purpose, "ld.lld")
		if err != nil {
			return err
		}
		asm, obj := filepath.Join(dir, "runner.s"), filepath.Join(dir, "runner.o")
		if err := os.WriteFile(asm, source, 0o600); err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		if err := command(ctx, mc, "-triple="+a.triple, "-filetype=obj", asm, "-o", obj); err != nil {
			return err
		}
		return command(ctx, lld, "-static", obj, "-o", out)
	})
}
