package e2e_test

import (
	"archive/zip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ripc"
	"ripc/graph"
	"ripc/ir"
	"ripc/runtime/npy"
	"ripc/targets"
)

// TestONNXOps takes the models of every op that the importer's own tests have (importer/internal/onnx/testdata/gen.py) through the
// whole compiler and interprets the result; -onnx-all compiles them for this machine and a board too. Written as ripc's own
// JSON and read again, they are the same networks.
func TestONNXOps(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for _, archive := range []string{"ops", "elements", "constants", "reports"} {
		if err := os.Mkdir(filepath.Join(dir, archive), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, name := range unzip(t, "../importer/internal/onnx/testdata/"+archive+".zip", filepath.Join(dir, archive)) {
			names = append(names, archive+"/"+name)
		}
	}
	slices.Sort(names)
	t.Run("all", func(t *testing.T) {
		for i, name := range names {
			for _, target := range []string{"interp", targets.HostName, "rpi3-armv7"} {
				if !*onnxAll && target != "interp" {
					continue
				}
				t.Run(name+"/"+target, func(t *testing.T) {
					t.Parallel()
					engine := ripc.EngineNative
					board := target
					if target == "interp" {
						engine, board = ripc.EngineInterp, targets.HostName
					}
					needTarget(t, board)
					var inputs []string
					for k := 0; ; k++ {
						in := filepath.Join(dir, fmt.Sprintf("%s.in%d.npy", name, k))
						if _, err := os.Stat(in); err != nil {
							break
						}
						inputs = append(inputs, in)
					}
					path := filepath.Join(dir, name+".onnx")
					if target == "interp" && (*onnxAll || i%8 == 0) {
						sameAsJSON(t, path)
					}
					got := runOnce(t, path, board, engine, inputs...)
					for k, o := range got.Outputs {
						want, err := npy.ReadFile(filepath.Join(dir, fmt.Sprintf("%s.out%d.npy", name, k)))
						if err != nil {
							t.Fatal(err)
						}
						compareOutput(t, o, want, 1e-5, 1e-5)
					}
				})
			}
		}
	})
}

// unzip writes an archive's files to dir and names the models among them.
func unzip(t *testing.T, path, dir string) (names []string) {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, f.Name), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		if name, ok := strings.CutSuffix(f.Name, ".onnx"); ok {
			names = append(names, name)
		}
	}
	return names
}

// sameAsJSON writes a model as JSON and reads it again.
func sameAsJSON(t *testing.T, path string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "net.json")
	if _, err := ripc.Import(context.Background(), path, out, ripc.Options{}); err != nil {
		t.Fatal(err)
	}
	a, err := ripc.Load(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	b, err := ripc.Load(t.Context(), out)
	if err != nil {
		t.Fatal(err)
	}
	a.File, b.File = "", ""
	for _, g := range []*graph.Graph{a, b} {
		for _, n := range g.Nodes {
			n.Pos = ir.Pos{}
			if len(n.Weights) == 0 {
				n.Weights = nil
			}
			if len(n.Inputs) == 0 {
				n.Inputs = nil
			}
		}
	}
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("the JSON says otherwise (- ONNX, + JSON):\n%s", diff)
	}
}
