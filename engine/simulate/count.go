package simulate

import (
	"bufio"
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"

	"ripc/codegen/llvm/toolchain"
)

//go:embed guest
var guest embed.FS

// countVariable is the environment variable that tells the counter where to write.
const countVariable = "RIPC_COUNT_FILE"

// buildCounter returns the plugin that counts instructions, for the plugin interface of the given qemu.
func (o Options) buildCounter(ctx context.Context, qemu string) ([]byte, error) {
	source, err := guest.ReadFile("guest/count.c")
	if err != nil {
		return nil, fmt.Errorf("simulate: %w", err)
	}
	api, err := pluginVersion(ctx, qemu)
	if err != nil {
		return nil, err
	}
	return o.cached(toolchain.Key([]byte("count"), []byte(strconv.Itoa(api)), source), func(dir, out string) error {
		cc, err := findTool(o.CC, "to build the instruction counter, once", "apt-get install gcc libc6-dev", "cc", "gcc", "clang")
		if err != nil {
			return err
		}
		c := out + ".c"
		if err := os.WriteFile(c, source, 0o600); err != nil {
			return fmt.Errorf("simulate: %w", err)
		}
		return command(ctx, cc, "-std=c11", "-O2", "-shared", "-fPIC", fmt.Sprintf("-DPLUGIN_VERSION=%d", api), c, "-o", out)
	})
}

// pluginVersion returns the version of the plugin interface to claim: qemu refuses one it does not know any more.
func pluginVersion(ctx context.Context, qemu string) (int, error) {
	out, err := exec.CommandContext(ctx, qemu, "--version").Output()
	if err != nil {
		return 0, fmt.Errorf("simulate: %s --version: %w", qemu, err)
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

// readCounts reads lines "job instructions" and stores them, less the runner's share.
func readCounts(path string, results []Result, overhead uint64) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("simulate: the instruction counter wrote nothing (does this qemu support plugins?): %w", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	seen := 0
	for lines.Scan() {
		var job int
		var n uint64
		if _, err := fmt.Sscan(lines.Text(), &job, &n); err != nil || job != seen || job >= len(results) || n < overhead {
			return fmt.Errorf("simulate: the instruction counter wrote %q for job %d", lines.Text(), seen)
		}
		results[job].Instructions = n - overhead
		seen++
	}
	if err := lines.Err(); err != nil || seen != len(results) {
		return fmt.Errorf("simulate: the instruction counter wrote %d of %d counts (%v)", seen, len(results), err)
	}
	return nil
}
