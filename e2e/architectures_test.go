package e2e_test

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/runtime/npy"
	"ripc/targets"
)

const architectures = "../testdata/architectures"

// architecture is a network of testdata/architectures/index.json with what its author means to be binary.
type architecture struct {
	Name, Paper string
	Exact       bool    // any order of its additions gives the same bits, and so all of its outputs must be equal
	Atol        float64 // what outputs may differ by, otherwise
	Options     struct {
		SignZero string `json:"sign_zero"`
	}
	Layers []struct {
		Activations, Weights int // bits, 32 of floats
		MACs                 int64
	}
}

// bits are those of a layer's activations and weights.
type bits struct{ activations, weights int }

func (a architecture) file() string { return filepath.Join(architectures, a.Name+".onnx") }

// options are what its author has to say, for a target.
func (a architecture) options(target string) ripc.Options {
	o := ripc.Options{Target: target}
	if a.Options.SignZero != "" {
		o.Recognize.SignZero = 1
	}
	return o
}

// flags are the same in the page.
func (a architecture) flags() string {
	if a.Options.SignZero == "" {
		return ""
	}
	return "zero " + a.Options.SignZero
}

// meant gives the multiply-accumulates of the layers of each number of bits.
func (a architecture) meant() map[bits]int64 {
	m := map[bits]int64{}
	for _, l := range a.Layers {
		m[bits{l.Activations, l.Weights}] += l.MACs
	}
	return m
}

func allArchitectures(t *testing.T) []architecture {
	t.Helper()
	return readIndex[struct{ Networks []architecture }](t, architectures).Networks
}

// found gives the multiply-accumulates that ripc does in layers of each number of bits.
func found(in *ripc.Inspection) map[bits]int64 {
	m := map[bits]int64{}
	for _, l := range in.Layers {
		if l.MACs > 0 {
			m[bits{l.ActivationBits, l.WeightBits}] += l.MACs
		}
	}
	return m
}

// shares writes the part that the layers of each number of bits have of all multiply-accumulates. The
// part of floats beside others is the remainder, and is left out.
func shares(m map[bits]int64) string {
	var all int64
	for _, n := range m {
		all += n
	}
	var parts []string
	for _, b := range slices.SortedFunc(maps.Keys(m), func(a, b bits) int {
		return cmp.Or(cmp.Compare(a.activations, b.activations), cmp.Compare(a.weights, b.weights))
	}) {
		if len(m) > 1 && b == (bits{32, 32}) {
			continue
		}
		parts = append(parts, fmt.Sprintf("%dx%d %.1f %%", b.activations, b.weights, 100*float64(m[b])/float64(all)))
	}
	return strings.Join(parts, ", ")
}

// TestArchitectures runs the networks of testdata/architectures, compares with what onnxruntime and qonnx made of them, and
// compares compiled code with the interpreter. Spellings of one network become the same kernels (TestSpellings): of them only the
// host's code is compared, and in make test that of every eighth.
func TestArchitectures(t *testing.T) {
	compiled, takes := need.Part(t, 3), need.Part(t, 8)
	for i, a := range allArchitectures(t) {
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			if refused(t, a) {
				return // docs/architectures.md lists it
			}
			got, err := ripc.Run(context.Background(), ripc.RunRequest{Path: a.file(), Options: a.options(targets.HostName), Threads: 1, Engine: ripc.EngineInterp,
				Inputs: []string{filepath.Join(architectures, a.Name+".in.npy")}})
			if err != nil {
				t.Fatal(err)
			}
			want, err := npy.ReadFile(filepath.Join(architectures, a.Name+".out.npy"))
			if err != nil {
				t.Fatal(err)
			}
			if a.Exact == (a.Atol != 0) {
				t.Fatalf("exact: %v, but a tolerance of %g", a.Exact, a.Atol)
			}
			compareOutput(t, got.Outputs[0], want, a.Atol, 0)
			for _, target := range hostOrBoard(i, compiled) {
				if strings.HasPrefix(a.Name, "spelled_") && !*onnxAll && (target != targets.HostName || !takes(i)) {
					continue
				}
				needTarget(t, target)
				report, err := ripc.Verify(context.Background(), ripc.VerifyRequest{Path: a.file(), Options: a.options(target), Threads: 1})
				if err != nil {
					t.Fatal(err)
				}
				if !report.OK {
					t.Errorf("on %s: %+v", target, report)
				}
			}
		})
	}
}

// refused reports whether ripc cannot read a network; other errors fail the test.
func refused(t *testing.T, a architecture) bool {
	t.Helper()
	_, err := ripc.Load(t.Context(), a.file())
	if err != nil && !ripc.IsBadInput(err) {
		t.Fatal(err)
	}
	return err != nil
}

// TestArchitecturePage writes docs/architectures.md: what became of each network, beside what its author means.
func TestArchitecturePage(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"network", "architecture", "options", "bits of activations x weights"}}
	same := map[string]int{} // networks of a family with the same result share a row
	for _, a := range allArchitectures(t) {
		row := []string{a.Name, a.Paper, a.flags()}
		in, err := ripc.Inspect(context.Background(), a.file(), a.options(""), "", false)
		switch {
		case ripc.IsBadInput(err):
			row = append(row, "refused; meant: "+shares(a.meant()))
		case err != nil:
			t.Fatal(err)
		case maps.Equal(found(in), a.meant()):
			row = append(row, shares(found(in)))
		default:
			row = append(row, shares(found(in))+"; meant: "+shares(a.meant()))
		}
		family, form, _ := strings.Cut(a.Name, "_")
		switch family {
		case "spelled":
			row[1] = "one network, its signs spelled in another way"
		case "qonnx", "finn":
			row[1] = "FINN's networks"
		default:
			rows = append(rows, row)
			continue
		}
		key := strings.Join(row[1:], "|")
		if at, ok := same[key]; ok {
			if family != "finn" { // its forms are those of qonnx
				rows[at][0] += ", " + form
			}
			continue
		}
		same[key] = len(rows)
		rows = append(rows, row)
	}
	section(t, "docs/architectures.md", "architectures", table(rows))
}
