package main

import (
	"os"
	"testing"

	"ripc/graph"
	"ripc/importer"
	"ripc/importer/ripcjson"
)

// TestGlue checks the integer glue against hand-computed numbers.
func TestGlue(t *testing.T) {
	w := &graph.Tensor{Shape: []int{1, 1, 2, 2}, Data: []float32{0.25, 0.5, -0.25, 0.4}} // alpha 0.25 and 0.45
	c := &graph.Node{Name: "c", Weights: map[string]*graph.Tensor{"w": w}}
	if wb := weightBits(c); wb[0] != 2 || wb[1] != 1 {
		t.Fatalf("weight bits %v, want 2 and 1", wb)
	}
	n := &graph.Node{Name: "n", Weights: map[string]*graph.Tensor{
		"mean": {Shape: []int{2}, Data: []float32{0.5, -9}}, // the second is clipped at -(1+1/6)
		"var":  {Shape: []int{2}, Data: []float32{1, 0.25}}}}
	// Channel 0: m = 0.5*3*4 = 6, T = 2: (a + 2 - 6) >> 2. Channel 1: m = -(7/6)*3*2 = -7, T = 0: (a + 1 + 7) >> 0.
	x := &value{h: 1, w: 4, c: 2, conv: c, q: []int32{7, -9, 8, -8, 15, -6, 99, 0}}
	y, err := shiftNorm(x, n, &graph.ShiftNormAttrs{Mode: graph.ShiftRiptide, Bits: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int32{0, 0, 1, 0, 2, 2, 3, 3} {
		if y.q[i] != want {
			t.Errorf("element %d: accumulator %d gives level %d, want %d", i, x.q[i], y.q[i], want)
		}
	}
}

// TestFilesAreCurrent: the committed JSON is what the program writes.
func TestFilesAreCurrent(t *testing.T) {
	for _, v := range variants() {
		file := v.name
		want, err := v.network().text()
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile("../" + file + ".json")
		if err != nil || string(got) != string(want) {
			t.Errorf("%s.json differs from what go run ./examples/squeezenet/gen writes (error %v)", file, err)
		}
	}
}

// TestBalance runs the committed networks on 8 pictures that neither the calibration nor the report saw: in every layer
// 20 to 80 % of the bits are set and 90 % of the channels vary.
func TestBalance(t *testing.T) {
	for _, v := range variants() {
		if v.bits == 0 {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			g, err := ripcjson.Read("../"+v.name+".json", importer.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if err := report(g, pictures(8, 77, v.bytes)); err != nil {
				t.Error(err)
			}
		})
	}
}
