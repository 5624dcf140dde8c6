package e2e_test

import (
	"context"
	"encoding/binary"
	"flag"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ripc"
	"ripc/internal/need"
	"ripc/runtime/npy"
	"ripc/targets"
)

var onnxAll = flag.Bool("onnx-all", false, "run all ONNX cases on all targets, and all digits, instead of some")

// onnxCase is a model with inputs and the outputs of the original framework, in testdata/qonnx/index.json.
type onnxCase struct {
	Name       string
	Models     []string
	Exact      bool
	Atol, Rtol float64
}

func onnxCases(t *testing.T) []onnxCase {
	t.Helper()
	return readIndex[struct{ Cases []onnxCase }](t, "../testdata/qonnx").Cases
}

// TestQONNX compiles QONNX and ONNX models and compares with what qonnx and onnxruntime computed.
func TestQONNX(t *testing.T) {
	onBoards := []string{"quant_s4_zp2", "conv_w2narrow_a4_pad1_s2", "flatten_gemm_w1_a1", "brevitas_fire_w1_a2_gap", "finn_multithreshold_w1_a8_a5"}
	for _, c := range onnxCases(t) {
		for _, model := range c.Models {
			for _, target := range []string{targets.HostName, "rpi3", "rpi3-armv7"} {
				if target != targets.HostName && !*onnxAll && (!slices.Contains(onBoards, c.Name) || strings.Contains(model, ".raw.")) {
					continue
				}
				t.Run(model+"/"+target, func(t *testing.T) {
					t.Parallel()
					needTarget(t, target)
					in := filepath.Join("../testdata/qonnx", c.Name+".in0.npy")
					got := runOnce(t, filepath.Join("../testdata/qonnx", model), target, ripc.EngineNative, in)
					want, err := npy.ReadFile(filepath.Join("../testdata/qonnx", c.Name+".out0.npy"))
					if err != nil {
						t.Fatal(err)
					}
					if c.Exact && (c.Atol != 0 || c.Rtol != 0) {
						t.Fatalf("an exact case with tolerances: %+v", c)
					}
					compareOutput(t, got.Outputs[0], want, c.Atol, c.Rtol)
				})
			}
		}
	}
}

// hostOrBoard gives the targets on which compiled code of case i of a list is compared: this machine, a 64-bit or a 32-bit board in turn
// for every third case, which takes knows, or all of them in make thorough.
func hostOrBoard(i int, takes func(i int) bool) []string {
	all := []string{targets.HostName, "rpi3", "rpi3-armv7"}
	if need.Thorough() {
		return all
	}
	if !takes(i) {
		return nil
	}
	return []string{all[i/3%len(all)]}
}

func needTarget(t *testing.T, name string) {
	t.Helper()
	if name == targets.HostName {
		return
	}
	tg, err := targets.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	need.Tool(t, "qemu-"+tg.Arch)
}

func runOnce(t *testing.T, path, target, engine string, inputs ...string) *ripc.RunResult {
	t.Helper()
	r, err := ripc.Run(context.Background(), ripc.RunRequest{Path: path, Options: ripc.Options{Target: target}, Inputs: inputs, Threads: 1, Engine: engine})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// compareOutput compares shapes, types and elements.
func compareOutput(t *testing.T, got ripc.Output, want *npy.Array, atol, rtol float64) {
	t.Helper()
	if !slices.Equal(got.Tensor.Shape, want.Shape) || len(got.Data) != len(want.Data) {
		t.Fatalf("output %s has shape %v and %d bytes, want %v and %d", got.Tensor.Name, got.Tensor.Shape, len(got.Data), want.Shape, len(want.Data))
	}
	if want.DType != "f32" {
		if !slices.Equal(got.Data, want.Data) {
			t.Fatalf("output %s differs:\ngot  %v\nwant %v", got.Tensor.Name, got.Data, want.Data)
		}
		return
	}
	for i := 0; i < len(want.Data); i += 4 {
		g, w := f32At(got.Data, i), f32At(want.Data, i)
		if !(math.Abs(g-w) <= atol+rtol*math.Abs(w)) {
			t.Fatalf("output %s[%d] is %g, want %g (within %g)", got.Tensor.Name, i/4, g, w, atol+rtol*math.Abs(w))
		}
	}
}

func f32At(b []byte, i int) float64 {
	return float64(math.Float32frombits(binary.LittleEndian.Uint32(b[i:])))
}

// TestEvenThresholds: evenly spaced thresholds of many levels behind binary convolutions are no stages of their own, nor is what scales
// and shifts their levels.
func TestEvenThresholds(t *testing.T) {
	t.Parallel()
	in, err := ripc.Inspect(context.Background(), "../testdata/qonnx/finn_multithreshold_w1_a8_a5.onnx", ripc.Options{Target: "rpi3"}, "", false)
	if err != nil {
		t.Fatal(err)
	}
	var ops []string
	for _, l := range in.Layers {
		ops = append(ops, l.Op)
	}
	if want := []string{"threshold", "bconv2d", "bconv2d", "bconv2d", "global_avg_pool"}; !slices.Equal(ops, want) {
		t.Errorf("stages %v, want %v", ops, want)
	}
}

// TestDigitsONNX runs the digits network as Brevitas exported it: logits within 1e-3 of qonnx's, 356 of 360 right.
func TestDigitsONNX(t *testing.T) {
	x, err := npy.ReadFile("../examples/digits/data/x_test.npy")
	if err != nil {
		t.Fatal(err)
	}
	y, err := npy.ReadFile("../examples/digits/data/y_test.npy")
	if err != nil {
		t.Fatal(err)
	}
	want, err := npy.ReadFile("../examples/digits/data/w1a2_logits_qonnx.npy")
	if err != nil {
		t.Fatal(err)
	}
	for _, model := range []string{"digits_w1a2.onnx", "digits_w1a2.raw.onnx"} {
		for _, target := range []string{targets.HostName, "rpi3", "rpi3-armv7"} {
			n := 360
			switch {
			case target != targets.HostName && !*onnxAll && strings.Contains(model, ".raw."):
				continue
			case target != targets.HostName && !*onnxAll:
				n = 8
			}
			t.Run(model+"/"+target, func(t *testing.T) {
				t.Parallel()
				needTarget(t, target)
				some := filepath.Join(t.TempDir(), "x.npy")
				shape := []int{n, 1, 16, 16}
				if err := (&npy.Array{DType: x.DType, Shape: shape, Data: x.Data[:n*1024]}).WriteFile(some); err != nil {
					t.Fatal(err)
				}
				got := runOnce(t, filepath.Join("../testdata/qonnx", model), target, ripc.EngineNative, some).Outputs[0]
				compareOutput(t, got, &npy.Array{DType: "f32", Shape: []int{n, 10}, Data: want.Data[:n*40]}, 1e-3, 0)
				right := 0
				for i := range n {
					best := 0
					for k := range 10 {
						if f32At(got.Data, i*40+k*4) > f32At(got.Data, i*40+best*4) {
							best = k
						}
					}
					if int(binary.LittleEndian.Uint64(y.Data[i*8:])) == best {
						right++
					}
				}
				if n == 360 && right != 356 {
					t.Errorf("%d of 360 right, want 356", right)
				}
			})
		}
	}
}
