package ripc_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ripc"
	"ripc/codegen/llvm/toolchain"
	"ripc/importer/ripcjson"
	"ripc/internal/need"
)

// peakModel and peakTask say to the test binary, as a child of TestPeakMemory, what to do before it prints its largest memory.
const peakModel, peakTask = "RIPC_PEAK_MODEL", "RIPC_PEAK_TASK"

// TestPeakMemory: inspect takes 3 times the memory of a network's weights at most, compile 4 times, beside what any network takes. Weights
// count as the floats that a model has them in.
func TestPeakMemory(t *testing.T) {
	if path := os.Getenv(peakModel); path != "" {
		peakChild(t, path, os.Getenv(peakTask))
		return
	}
	_, err := os.Stat("/proc/self/status")
	need.OK(t, err)
	_, err = toolchain.Find()
	need.OK(t, err)
	const units = 4096
	dir := t.TempDir()
	model := func(name string, units int, nodes string) string {
		path := filepath.Join(dir, name+".json")
		text := fmt.Sprintf(`{"format": "ripc.model/1", "name": "m", "inputs": [{"name": "x", "dtype": "f32", "shape": [1, %[1]d]}],
 "weights": {"init": "random", "seed": 1}, "nodes": [%[2]s], "outputs": ["y"]}`, units, fmt.Sprintf(nodes, units))
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const floats = `{"name": "y", "op": "dense", "inputs": ["x"], "attrs": {"units": %d}}`
	const bits = `{"name": "q", "op": "quantize", "inputs": ["x"], "attrs": {"bits": 1, "encoding": "bipolar"}},
 {"name": "y", "op": "bitserial_dense", "inputs": ["q"], "attrs": {"units": %d}}`
	stored := filepath.Join(dir, "stored.json")
	g, err := ripc.Load(t.Context(), model("float", units, floats))
	if err != nil {
		t.Fatal(err)
	}
	if err := ripcjson.Write(t.Context(), stored, g); err != nil {
		t.Fatal(err)
	}
	small := map[string]int64{}
	for _, task := range []string{"inspect", "compile"} {
		small[task] = peak(t, model("small", 64, floats), task)
	}
	for _, c := range []struct {
		name, path string
	}{{"generated floats", filepath.Join(dir, "float.json")}, {"stored floats", stored}, {"bits", model("bits", units, bits)}} {
		for task, most := range map[string]float64{"inspect": 3, "compile": 4} {
			times := float64(peak(t, c.path, task)-small[task]) / (4 * units * units)
			t.Logf("%s of %s: %.2f times the weights", task, c.name, times)
			if times > most {
				t.Errorf("%s of %s takes %.2f times the weights, more than %g", task, c.name, times, most)
			}
		}
	}
}

// peak is the largest memory, in bytes, of a process that does a task.
func peak(t *testing.T, model, task string) int64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestPeakMemory$", "-test.v")
	cmd.Env = append(os.Environ(), peakModel+"="+model, peakTask+"="+task)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s of %s: %v\n%s", task, model, err, out)
	}
	_, rest, _ := strings.Cut(string(out), "peak=")
	text, _, _ := strings.Cut(rest, "\n")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		t.Fatalf("%s of %s: %v\n%s", task, model, err, out)
	}
	return n
}

// peakChild does a task, and prints how much memory that took.
func peakChild(t *testing.T, path, task string) {
	o := ripc.Options{Target: "rpi3"}
	if task == "inspect" {
		if _, err := ripc.Inspect(t.Context(), path, o, "", false); err != nil {
			t.Fatal(err)
		}
	} else {
		kinds, err := ripc.ParseEmit("so,h")
		if err != nil {
			t.Fatal(err)
		}
		o.Emit = kinds
		c, err := ripc.Compile(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Write(filepath.Join(t.TempDir(), "m")); err != nil {
			t.Fatal(err)
		}
	}
	status, err := os.ReadFile("/proc/self/status") // Rusage has that of the parent, too
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscanf(rest, "%d kB", &kib); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("peak=%d\n", kib<<10)
}
