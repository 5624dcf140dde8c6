package e2e_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/codegen"
	"ripc/codegen/llvm/toolchain"
	"ripc/importer/ripcjson"
	"ripc/internal/need"
	"ripc/internal/randnet"
)

// TestWrittenModels: a network that is written as a model and read again compiles to the same bytes, whatever the file is called. make
// thorough takes 40 random networks.
func TestWrittenModels(t *testing.T) {
	files, err := filepath.Glob("../examples/*/*.json")
	if err != nil || len(files) < 17 {
		t.Fatalf("%d models, want 17 or more (%v)", len(files), err)
	}
	dir := t.TempDir()
	random := 15
	if need.Thorough() {
		random = 40
	}
	for i := range random {
		path := filepath.Join(dir, fmt.Sprintf("random%d.json", i))
		if err := os.WriteFile(path, randnet.Join([]map[string]any{randnet.Model(rand.New(rand.NewPCG(uint64(i), 78)), "")}, i), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			g, err := ripc.Load(t.Context(), file)
			if err != nil {
				t.Fatal(err)
			}
			if len(g.Nodes) > 25 && !strings.Contains(file, "squeezenet.json") {
				return // more of the same
			}
			path := filepath.Join(t.TempDir(), "written.json")
			if err := ripcjson.Write(t.Context(), path, g); err != nil {
				t.Fatal(err)
			}
			sameFiles(t, file, path, codegen.Ripir, codegen.LL, codegen.Header)
		})
	}
	// The library too.
	_, err = toolchain.Find()
	need.OK(t, err)
	g, err := ripc.Load(t.Context(), "../examples/digits/digits.json")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "written.json")
	if err := ripcjson.Write(t.Context(), path, g); err != nil {
		t.Fatal(err)
	}
	sameFiles(t, "../examples/digits/digits.json", path, codegen.SO)
}

// TestImport: each file of another program becomes a model that compiles to the same bytes as the file itself. make test imports every
// fourth.
func TestImport(t *testing.T) {
	takes := need.Part(t, 32)
	for _, kind := range ripc.ModelKinds() {
		if kind == ".json" {
			continue
		}
		files, err := filepath.Glob("../testdata/*/*" + kind)
		if kind == ".pt2" { // which stand beside their reader
			files = []string{"../importer/pt2/testdata/digits.pt2", "../importer/pt2/testdata/quant.pt2"}
		}
		if err != nil || len(files) == 0 {
			t.Fatalf("no files %s in testdata (%v)", kind, err)
		}
		for i, file := range files {
			if !takes(i) {
				continue
			}
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				out := filepath.Join(dir, "out.json")
				im, err := ripc.Import(context.Background(), file, out, ripc.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if want := []string{out, filepath.Join(dir, "out.safetensors")}; !slices.Equal(im.Files, want) {
					t.Errorf("wrote %v, want %v", im.Files, want)
				}
				sameFiles(t, file, out, codegen.Ripir, codegen.LL, codegen.Header)
			})
		}
	}
}

func sameFiles(t *testing.T, first, second string, kinds ...codegen.Kind) {
	t.Helper()
	var all [2]*ripc.Compiled
	for i, path := range []string{first, second} {
		var err error
		if all[i], err = ripc.Compile(context.Background(), path, ripc.Options{Target: "rpi4", Emit: kinds}); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	if a, b := all[0].Graph.String(), all[1].Graph.String(); a != b {
		t.Errorf("%s becomes\n%s\nwritten and read again\n%s", first, a, b)
	}
	for _, k := range kinds {
		if !bytes.Equal(all[0].Files[k], all[1].Files[k]) {
			t.Errorf("%s: written and read again, its .%s differs", first, k)
		}
	}
}
