package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ripc"
	"ripc/codegen"
	"ripc/internal/need"
)

// TestWorkspace: the workspace that is said of a model, of its compiled library and in its header is the same.
func TestWorkspace(t *testing.T) {
	t.Parallel()
	for _, model := range []string{"digits/digits", "squeezenet/squeezenet_a2"} {
		for target, kinds := range map[string][]codegen.Kind{"host": {codegen.SO, codegen.Header}, "rpi3": {codegen.SO, codegen.Header}, "cortex-m4": {codegen.Source, codegen.Header}} {
			path := "../examples/" + model + ".json"
			in, err := ripc.Inspect(t.Context(), path, ripc.Options{Target: target}, "", false)
			if err != nil {
				t.Fatal(err)
			}
			w := in.Workspace
			if in.Memory.Workspace != w || w.WorkspaceBytes != w.ArenaBytes+w.ScratchBytes || w.WorkspaceBytes == 0 {
				t.Errorf("%s for %s: %+v and %+v", model, target, w, in.Memory.Workspace)
			}
			c, err := ripc.Compile(t.Context(), path, ripc.Options{Target: target, Emit: kinds})
			need.OK(t, err)
			if made := ripc.InspectCompiled(c).Workspace; made != w {
				t.Errorf("%s for %s: %+v, once compiled %+v", model, target, w, made)
			}
			name := strings.ToUpper(c.Prefix())
			for macro, want := range map[string]int64{"_ARENA_BYTES": w.ArenaBytes, "_SCRATCH_BYTES": w.ScratchBytes} {
				if line := fmt.Sprintf("#define %s%s %d ", name, macro, want); !strings.Contains(string(c.Files[codegen.Header]), line) {
					t.Errorf("%s for %s: %q is not in the header", model, target, line)
				}
			}
			if so := c.Files[codegen.SO]; so != nil {
				file := filepath.Join(t.TempDir(), "x.so")
				if err := os.WriteFile(file, so, 0o600); err != nil {
					t.Fatal(err)
				}
				read, err := ripc.Inspect(t.Context(), file, ripc.Options{}, "", false)
				if err != nil {
					t.Fatal(err)
				}
				if read.Workspace != w {
					t.Errorf("%s for %s: %+v, of the library %+v", model, target, w, read.Workspace)
				}
			}
		}
	}
}

// TestRAM: a program for a chip without an operating system has little in RAM beside what is said of the model.
func TestRAM(t *testing.T) {
	t.Parallel()
	const model = "../examples/digits/digits.json"
	b, err := ripc.Bench(t.Context(), ripc.BenchRequest{Path: model, Options: ripc.Options{Target: "cortex-m4"}, Threads: 1})
	need.Board(t, err)
	in, err := ripc.Inspect(t.Context(), model, ripc.Options{Target: "cortex-m4"}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	const rest = 1 << 10 // the program's own variables, and room between buffers
	if f := b.Footprint; f == nil || f.RAM < in.RAMBytes || f.RAM > in.RAMBytes+rest || f.Stack == 0 {
		t.Errorf("linked: %+v, said: %d bytes", f, in.RAMBytes)
	}
}
