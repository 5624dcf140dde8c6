package peers

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"ripc/codegen/llvm/toolchain"
	"ripc/internal/need"
	"ripc/lower/layout"
	"ripc/measure/limits"
	"ripc/runtime/describe"
)

// TestLimitOf: every algorithm has a limit that is measured.
func TestLimitOf(t *testing.T) {
	for _, a := range layout.Algorithms() {
		l := describe.Layer{ActivationBits: 1, WeightBits: 1, Algorithm: describe.Algorithm{Name: a.String()}}
		if got := limitOf(l); !slices.Contains(limits.Names(), got) {
			t.Errorf("algorithm %s: limit %q, want one of %v; give it one in limitOf", a, got, limits.Names())
		}
	}
	float := func(activations, weights int) describe.Layer {
		return describe.Layer{ActivationBits: activations, WeightBits: weights, Algorithm: describe.Algorithm{Name: "float"}}
	}
	for want, l := range map[string]describe.Layer{"fp32": float(32, 1), "int8": float(8, 8), "": {Algorithm: describe.Algorithm{Name: "guess"}}} {
		if got := limitOf(l); got != want {
			t.Errorf("limitOf(%+v) = %q, want %q", l, got, want)
		}
	}
}

// TestProducts: sums of bits count each pair of bits.
func TestProducts(t *testing.T) {
	layer := func(name string, activations, weights int) describe.Layer {
		return describe.Layer{ActivationBits: activations, WeightBits: weights, Algorithm: describe.Algorithm{Name: name}}
	}
	d := &describe.Artifact{Stages: []describe.Stage{{MACs: 10, Layer: layer("float", 32, 32)}, {MACs: 100, Layer: layer("popcount", 3, 2)}, {Op: "max_pool"}, {MACs: 5, Layer: layer("popcount", 1, 1)}}}
	got := productsOf(d)
	if len(got) != 2 || got["fp32"] != 10 || got["bits"] != 605 {
		t.Errorf("got %v", got)
	}
}

// TestPicture: the picture is the same in every layout, and fills the range of whole numbers.
func TestPicture(t *testing.T) {
	if picture(0) != -1 || math.Abs(float64(picture(1))-(2654435761/math.Exp2(31)-1)) > 1e-6 {
		t.Errorf("it begins with %v, %v", picture(0), picture(1))
	}
	nhwc := describe.Tensor{DType: "f32", Shape: []int{1, 2, 3, 4}, Layout: "NHWC"}
	nchw := describe.Tensor{DType: "f32", Shape: []int{1, 4, 2, 3}, Layout: "NCHW"}
	a, b := make([]byte, 96), make([]byte, 96)
	if err := fill(nhwc, a); err != nil {
		t.Fatal(err)
	}
	if err := fill(nchw, b); err != nil {
		t.Fatal(err)
	}
	at := func(data []byte, i int) uint32 { return binary.LittleEndian.Uint32(data[4*i:]) }
	for y := range 2 {
		for x := range 3 {
			for c := range 4 {
				if at(a, (y*3+x)*4+c) != at(b, (c*2+y)*3+x) {
					t.Errorf("differs at row %d, column %d, channel %d", y, x, c)
				}
			}
		}
	}
	one, err := sample(nhwc, a)
	if err != nil {
		t.Fatal(err)
	}
	other, err := sample(nchw, b)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(one, other) || one[0] != -1 {
		t.Errorf("samples %v and %v", one, other)
	}
	bytes := make([]byte, 4096)
	if err := fill(describe.Tensor{DType: "i8", Shape: []int{4096}}, bytes); err != nil {
		t.Fatal(err)
	}
	if int8(slices.MinFunc(bytes, func(a, b byte) int { return int(int8(a)) - int(int8(b)) })) != -128 {
		t.Error("no byte is the least")
	}
	if _, err := sample(describe.Tensor{DType: "f16", Shape: []int{1}}, []byte{0, 0}); err == nil {
		t.Error("f16 is no type of outputs")
	}
}

// TestServe: ripc's worker says what it has loaded, and does as many runs as it is told.
func TestServe(t *testing.T) {
	_, err := toolchain.Find()
	need.OK(t, err)
	var out bytes.Buffer
	in := strings.NewReader("{\"runs\": 3}\n{\"runs\": 1}\n")
	if err := serve(context.Background(), "../../examples/convs/convD_n2_unipolar.json", 2, in, &out); err != nil {
		t.Fatal(err)
	}
	answers := json.NewDecoder(&out)
	var g greeting
	if err := answers.Decode(&g); err != nil {
		t.Fatal(err)
	}
	if g.Error != "" || g.MACs != 115605504 || len(g.Inputs) != 1 || len(g.Outputs) != 1 || slices.Min(g.Sample) == slices.Max(g.Sample) {
		t.Errorf("greeting %+v", g)
	}
	for _, want := range []int{3, 1} {
		var r report
		if err := answers.Decode(&r); err != nil || len(r.NS) != want || slices.Min(r.NS) <= 0 {
			t.Errorf("report %+v, %v; want %d times", r, err, want)
		}
	}
	out.Reset()
	if err := serve(context.Background(), "../../examples/none.json", 1, strings.NewReader(""), &out); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out.Bytes(), &g); err != nil || g.Error == "" {
		t.Errorf("a missing model: %s", out.String())
	}
}
