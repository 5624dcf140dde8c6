package simulate

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"ripc/caches"
	"ripc/internal/files"
)

//go:embed guest
var guest embed.FS

// CountVariable is the environment variable that tells the counter where to write.
const CountVariable = "RIPC_COUNT_FILE"

// Counter returns the plugin that counts executed instructions, for a qemu program. It is built
// once. It fails with *ToolError if there is no C compiler.
func Counter(ctx context.Context, qemu string) ([]byte, error) {
	source, err := guest.ReadFile("guest/count.c")
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	api, err := pluginVersion(ctx, qemu)
	if err != nil {
		return nil, err
	}
	return buildOnce(caches.Key([]byte("count"), []byte(strconv.Itoa(api)), source), func(dir, out string) error {
		cc, err := FindTool("to build the instruction counter, once", InstallCompiler, "cc", "gcc", "clang")
		if err != nil {
			return err
		}
		c := out + ".c"
		if err := os.WriteFile(c, source, 0o600); err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		return command(ctx, cc, "-std=c11", "-O2", "-shared", "-fPIC", fmt.Sprintf("-DPLUGIN_VERSION=%d", api), c, "-o",
			out)
	})
}

// pluginVersion returns the version of the plugin interface to claim: qemu refuses one it does not
// know any more. It is asked once for each program that qemu has been.
func pluginVersion(ctx context.Context, qemu string) (int, error) {
	cache, err := caches.OfUser("simulate")
	if err != nil {
		return 0, fmt.Errorf("simulate: %w", err)
	}
	info, err := os.Stat(qemu)
	if err != nil {
		return 0, fmt.Errorf("simulate: %w", err)
	}
	key := caches.Key([]byte("qemu version"), []byte(qemu), fmt.Appendf(nil, "%d "+
		"%v", info.Size(), info.ModTime().UnixNano()))
	out, ok := cache.Get(key)
	if !ok {
		ctx, end := files.LimitTool(ctx, filepath.Base(qemu))
		defer end()
		if out, err = exec.CommandContext(ctx, qemu, "--version").Output(); err != nil {
			if ctx.Err() != nil {
				err = files.Stopped(ctx)
			}
			return 0, fmt.Errorf("simulate: %s --version: %w", qemu, err)
		}
	}
	v := regexp.MustCompile(`version (\d+)\.`).FindSubmatch(out)
	if v == nil {
		return 0, fmt.Errorf("simulate: %s --version prints %q, which names no version", qemu, out)
	}
	if !ok {
		cache.Put(key, out)
	}
	if major, err := strconv.Atoi(string(v[1])); err == nil && major >= 9 {
		return 2, nil
	}
	return 1, nil
}
