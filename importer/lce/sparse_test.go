package lce

import (
	"fmt"
	"strings"
	"testing"

	tt "ripc/internal/tflitetest"
)

// sparseModel is x plus a sparse matrix of four rows and four columns: kind 0 lists the columns of each row, kind 1 lists blocks of two
// by two.
func sparseModel(kind int) tt.Model {
	w := tt.Tensor{Name: "sparse", Type: tt.F32, Shape: []int32{4, 4}}
	row := func(segments []int32, indices []byte) tt.Table {
		return tt.Table{0: int8(1), 2: int8(1), 3: tt.Table{0: segments}, 4: int8(3), 5: tt.Table{0: indices}}
	}
	if kind == 0 {
		w.Data = tt.Data([]float32{1, 2, 3})
		w.Sparsity = tt.Table{0: []int32{0, 1}, 2: []tt.Table{{0: int8(0), 1: int32(4)}, row([]int32{0, 1, 1, 3, 3}, []byte{2, 0, 3})}}
	} else {
		w.Data = tt.Data([]float32{1, 2, 3, 4, 5, 6, 7, 8})
		two := tt.Table{0: int8(0), 1: int32(2)}
		w.Sparsity = tt.Table{0: []int32{0, 1, 2, 3}, 1: []int32{0, 1}, 2: []tt.Table{two, row([]int32{0, 1, 2}, []byte{1, 0}), two, two}}
	}
	return tt.Model{Tensors: []tt.Tensor{value("x", tt.F32, 4, 4), w, value("dense", tt.F32, 4, 4), value("y", tt.F32, 4, 4)}, Inputs: []int32{0}, Outputs: []int32{3},
		Ops: []tt.Op{{Code: 124, OptionType: 99, Options: tt.Table{}, Inputs: []int32{1}, Outputs: []int32{2}}, {Inputs: []int32{0, 2}, Outputs: []int32{3}}}}
}

// TestSparse: DENSIFY puts the elements of a sparse constant to their places, whole blocks too.
func TestSparse(t *testing.T) {
	for kind, want := range []string{"[0 0 1 0 0 0 0 0 2 0 0 3 0 0 0 0]", "[0 0 1 2 0 0 3 4 5 6 0 0 7 8 0 0]"} {
		g, err := Parse("m.tflite", sparseModel(kind).Bytes())
		if err != nil {
			t.Fatal(err)
		}
		checkGraph(t, g)
		if got := fmt.Sprint(g.Nodes[0].Weights["value"].Data.Floats()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	m := sparseModel(0)
	m.Tensors[1].Data = m.Tensors[1].Data[:8]
	if _, err := Parse("m.tflite", m.Bytes()); err == nil || !strings.Contains(err.Error(), "too few elements") {
		t.Error(err)
	}
	m = sparseModel(0)
	m.Ops[1].Inputs[1] = 1
	m.Tensors[2].Data = []byte{}
	if _, err := Parse("m.tflite", m.Bytes()); err == nil || !strings.Contains(err.Error(), "is sparse; only DENSIFY reads sparse tensors") {
		t.Error(err)
	}
}
