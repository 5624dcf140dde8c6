package lce

import (
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/internal/readtest"
	tt "ripc/internal/tflitetest"
	"ripc/ir"
)

// seeds are real files of every kind of operator, files made for faults, and real ones cut off and changed.
func seeds(t testing.TB) [][]byte {
	var out [][]byte
	for _, name := range []string{"bconv_bitpacked_inout_c96_co64_s2", "bconv_bn_relu_valid_c64", "bconv_groups2_same0_c64", "bconv_int8_relu_bn_same1_c64",
		"bmaxpool_k3s1_same_c40", "chain2_c32_c33_nobn_valid", "graph_densenet_block_c64", "graph_int8_tiny_quicknet_like", "quantize_dequantize_c70"} {
		data, err := os.ReadFile(filepath.Join(models, name+".tflite"))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, data, data[:len(data)/2], data[:len(data)-len(data)/9])
	}
	for _, c := range badModels() {
		out = append(out, c.model.Bytes())
	}
	for _, c := range goodModels() {
		out = append(out, c.model.Bytes())
	}
	out = append(out, streaming(false).Bytes(), streaming(true).Bytes(), sparseModel(0).Bytes(), sparseModel(1).Bytes())
	for i := range 20 {
		out = append(out, randomInt8(rand.New(rand.NewPCG(uint64(i), 40)), false).Bytes())
	}
	r := rand.New(rand.NewPCG(1, 2))
	for _, data := range out[:len(out):len(out)] {
		data = slices.Clone(data)
		for range 4 {
			data[r.IntN(len(data))] = byte(r.Uint32())
		}
		out = append(out, data)
	}
	return out
}

// fuzzLimit is what constants of a fuzzed file may have, so that a fuzzer does not spend its time on filling memory.
const fuzzLimit = 1 << 18

// FuzzParse: whatever the bytes, there is a graph that hangs together, or an error that names the file.
func FuzzParse(f *testing.F) {
	for _, data := range seeds(f) {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		g, err := parse(t.Context(), "f.tflite", data, importer.Options{}, fuzzLimit)
		if err != nil {
			var e *ir.Error
			if !errors.As(err, &e) || e.Pos.File != "f.tflite" {
				t.Errorf("%v does not name the file", err)
			}
			return
		}
		checkGraph(t, g)
	})
}

// checkGraph is readtest's, and wants a graph that Check takes, with outputs, all of its tensors made.
func checkGraph(t *testing.T, g *graph.Graph) {
	readtest.CheckGraph(t, g)
	// What the importer leaves to Check: too many or no inputs or nodes, weights that are no numbers.
	if err := graph.Check(g); err != nil && !strings.Contains(err.Error(), "the network has") && !strings.Contains(err.Error(), "want finite numbers") {
		t.Fatal(err)
	}
	if len(g.Outputs) == 0 || len(g.Inputs)+len(g.Nodes) != len(g.Values) {
		t.Fatalf("%d outputs, %d tensors, but %d inputs and %d nodes", len(g.Outputs), len(g.Values), len(g.Inputs), len(g.Nodes))
	}
}

// TestSeeds runs what FuzzParse starts from, every single changed byte of a small file, and every beginning of it.
func TestSeeds(t *testing.T) {
	check := func(data []byte) {
		if g, err := parse(t.Context(), "f.tflite", data, importer.Options{}, fuzzLimit); err == nil {
			checkGraph(t, g)
		}
	}
	for _, data := range seeds(t) {
		check(data)
	}
	data, err := os.ReadFile(filepath.Join(models, "quantize_bitpacked_out_c33.tflite"))
	if err != nil {
		t.Fatal(err)
	}
	for i := range data {
		check(data[:i])
		for _, b := range []byte{0, 1, 0x7f, 0x80, 0xff, data[i] + 1, data[i] - 1} {
			changed := slices.Clone(data)
			changed[i] = b
			check(changed)
		}
	}
}

// TestMutations parses files in which a few bytes were changed, as FuzzParse does, in a fixed order.
func TestMutations(t *testing.T) {
	files, r := seeds(t), rand.New(rand.NewPCG(7, 38))
	for range 20000 {
		data := slices.Clone(files[r.IntN(len(files))])
		for range 1 + r.IntN(6) {
			at := r.IntN(len(data))
			data[at] = []byte{0, 1, 2, 127, 128, 255, data[at] + 1, byte(r.Uint32())}[r.IntN(8)]
		}
		if g, err := parse(t.Context(), "f.tflite", data, importer.Options{}, fuzzLimit); err == nil {
			checkGraph(t, g)
		}
	}
}

// TestMemory: what a small file makes Parse allocate stays small, whatever it claims.
func TestMemory(t *testing.T) {
	many := one(tt.Op{Code: 19}, value(strings.Repeat("x", 3000), tt.F32, 1, 1), value("y", tt.F32, 1, 1))
	for i := range 3000 {
		many.Tensors = append(many.Tensors, value("same name", tt.F32, 1, 1))
		many.Ops = append(many.Ops, tt.Op{Code: 19, Inputs: []int32{0}, Outputs: []int32{int32(2 + i)}})
	}
	file := many.Bytes()
	// All tensors become the first one, which has a long name.
	overlap := slices.Clone(file)
	for i := 0; i+4 <= len(overlap); i += 4 {
		if binary.LittleEndian.Uint32(overlap[i:]) == 3002 {
			for k := range 3002 {
				at := i + 4 + 4*k
				binary.LittleEndian.PutUint32(overlap[at:], binary.LittleEndian.Uint32(overlap[i+4:])-uint32(4*k))
			}
			break
		}
	}
	pads := one(tt.Op{Code: 34}, value("x", tt.F32, 1, 4, 4, 2), value("y", tt.F32, 1, 4, 4, 1<<20), i32s("p", []int32{4, 2}, 0, 0, 0, 0, 0, 0, 0, 1<<20-2))
	wide := one(tt.Op{Code: 98}, value("x", tt.F32, 1<<28), value("y", tt.F32, 1<<28))
	for name, data := range map[string][]byte{"many operators": file, "overlapping tables": overlap, "padding": pads.Bytes(), "slopes": wide.Bytes()} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := parse(t.Context(), "m.tflite", data, importer.Options{}, fuzzLimit)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > uint64(64*len(data)+8*fuzzLimit) {
			t.Errorf("%s: %d bytes for a file of %d (%v)", name, n, len(data), err)
		}
		if (err == nil) != (name == "many operators") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
