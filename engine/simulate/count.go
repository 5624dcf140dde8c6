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
	"ripc/internal/tools"
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
		cc, err := tools.Find("to build the instruction counter, once", InstallCompiler, "cc", "gcc", "clang")
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

// ask returns the output of qemu for an option. Each program that qemu has been is asked once.
func ask(ctx context.Context, qemu, option string) ([]byte, error) {
	cache, err := caches.OfUser("simulate")
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	info, err := os.Stat(qemu)
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	build := fmt.Appendf(nil, "%d %v", info.Size(), info.ModTime().UnixNano())
	key := caches.Key([]byte("qemu"+option), []byte(qemu), build)
	if out, ok := cache.Get(key); ok {
		return out, nil
	}
	ctx, end := files.LimitTool(ctx, filepath.Base(qemu))
	defer end()
	out, err := exec.CommandContext(ctx, qemu, option).Output()
	switch {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("simulate: %s %s: %w", qemu, option, files.Stopped(ctx))
	case err != nil && len(out) == 0: // the exit code of -h differs between versions
		return nil, fmt.Errorf("simulate: %s %s: %w", qemu, option, err)
	}
	cache.Put(key, out)
	return out, nil
}

// pluginVersion returns the version of the plugin interface to claim: qemu refuses one it does not
// know any more.
func pluginVersion(ctx context.Context, qemu string) (int, error) {
	out, err := ask(ctx, qemu, "--version")
	if err != nil {
		return 0, err
	}
	v := regexp.MustCompile(`version (\d+)\.`).FindSubmatch(out)
	if v == nil {
		return 0, fmt.Errorf("simulate: %s --version prints %q, which names no version", qemu, out)
	}
	if major, err := strconv.Atoi(string(v[1])); err == nil && major >= 9 {
		return 2, nil
	}
	return 1, nil
}
