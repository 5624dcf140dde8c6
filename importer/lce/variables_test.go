package lce

import (
	"slices"
	"strings"
	"testing"

	"ripc/importer"
	"ripc/internal/refnet"
	tt "ripc/internal/tflitetest"
)

// streaming is a network that keeps the last three steps of its input in a variable, and gives their mean and the newest step's.
// integers says that all tensors are int8.
func streaming(integers bool) tt.Model {
	tensor := func(name string, shape ...int32) tt.Tensor {
		if integers {
			return tt.Tensor{Name: name, Type: tt.I8, Shape: shape, Scales: []float32{0.5}, Zeros: []int64{-3}}
		}
		return value(name, tt.F32, shape...)
	}
	begin := f32s("begin", []int32{1, 3, 2}, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5)
	if integers {
		begin = tensor("begin", 1, 3, 2)
		begin.Data = []byte{253, 253, 253, 253, 253, 253}
	}
	handle := tt.Op{Code: 142, OptionType: 111, Options: tt.Table{1: "steps"}, Outputs: []int32{0}}
	resource := tt.Tensor{Name: "handle", Type: tt.Resource}
	init := tt.Model{Tensors: []tt.Tensor{resource, begin}, Ops: []tt.Op{handle, {Code: 144, OptionType: 113, Options: tt.Table{}, Inputs: []int32{0, 1}}}}
	handle.Outputs = []int32{1}
	return tt.Model{
		Tensors: []tt.Tensor{tensor("x", 1, 1, 2), resource, tensor("read", 1, 3, 2), tensor("window", 1, 4, 2), i32s("b", []int32{3}, 0, 1, 0), i32s("e", []int32{3}, 1, 4, 2), i32s("s", []int32{3}, 1, 1, 1),
			tensor("last", 1, 3, 2), i32s("axes", []int32{1}, 1), tensor("y", 1, 2)},
		Ops: []tt.Op{{Code: 129, OptionType: 103, Options: tt.Table{0: int32(1)}}, handle, {Code: 143, OptionType: 112, Options: tt.Table{}, Inputs: []int32{1}, Outputs: []int32{2}},
			{Code: 2, OptionType: 10, Options: tt.Table{0: int32(1)}, Inputs: []int32{2, 0}, Outputs: []int32{3}},
			{Code: 45, OptionType: 32, Options: tt.Table{}, Inputs: []int32{3, 4, 5, 6}, Outputs: []int32{7}},
			{Code: 144, OptionType: 113, Options: tt.Table{}, Inputs: []int32{1, 7}},
			{Code: 40, OptionType: 27, Inputs: []int32{3, 8}, Outputs: []int32{9}}},
		Inputs: []int32{0}, Outputs: []int32{9}, More: []tt.Model{init},
	}
}

// TestVariables: a variable is an input and an output, which says what it begins with, and brings the network from one run to the next.
func TestVariables(t *testing.T) {
	for _, integers := range []bool{false, true} {
		g, err := Parse("m.tflite", streaming(integers).Bytes())
		if err != nil {
			t.Fatal(err)
		}
		checkGraph(t, g)
		if !slices.Equal(g.Inputs, []string{"x", "steps"}) || !slices.Equal(g.Outputs, []string{"y", "steps.next"}) {
			t.Fatalf("inputs %v, outputs %v", g.Inputs, g.Outputs)
		}
		want := `a variable of the file, which begins with 0.5 everywhere; bring output "steps.next" of a run to the next`
		if integers {
			want = strings.Replace(want, "0.5", "-3", 1)
		}
		if note := g.Value("steps").Note; note != want {
			t.Errorf("note %q, want %q", note, want)
		}
		x, state := refnet.New(g.Value("x")), refnet.New(g.Value("steps"))
		steps := []float32{1, 2, 3, 4, 5, 6}
		copy(state.F, steps)
		for k := range 5 {
			x.F[0], x.F[1] = float32(7+2*k), float32(8+2*k)
			steps = append(steps, x.F...)
			values := map[string]*refnet.Tensor{"x": x, "steps": state}
			for _, n := range g.Nodes {
				values[n.Output] = refnet.Node(g, n, values)
			}
			if state = values["steps.next"]; !slices.Equal(state.F, steps[2*k+2:]) {
				t.Fatalf("run %d: %v, want %v", k, state.F, steps[2*k+2:])
			}
			if mean := values["y"].F[0]; mean != float32(4+2*k) {
				t.Errorf("run %d: mean %g", k, mean)
			}
		}
	}
}

// TestVariableForms: variables that are read after they were assigned, never assigned, or without a handle.
func TestVariableForms(t *testing.T) {
	m := streaming(false)
	m.Ops = slices.DeleteFunc(m.Ops, func(o tt.Op) bool { return o.Code == 144 })
	g, err := Parse("m.tflite", m.Bytes())
	if err != nil || len(g.Inputs) != 1 || len(g.Outputs) != 1 {
		t.Errorf("a variable that nothing assigns is no constant: %v, %v", g, err)
	}
	m = streaming(false)
	m.More = nil
	m.Ops = m.Ops[1:]
	if g, err = Parse("m.tflite", m.Bytes()); err != nil || !strings.Contains(g.Value("steps").Note, "values that the file does not say") {
		t.Errorf("%v, %v", g, err)
	}
	m = streaming(false) // the steps before, read once more
	m.Tensors = append(m.Tensors, value("again", tt.F32, 1, 3, 2))
	m.Ops = append(m.Ops, tt.Op{Code: 143, OptionType: 112, Options: tt.Table{}, Inputs: []int32{1}, Outputs: []int32{10}})
	m.Outputs = append(m.Outputs, 10)
	if g, err = Parse("m.tflite", m.Bytes()); err != nil || !slices.Equal(g.Outputs, []string{"y", "again", "steps.next"}) {
		t.Errorf("%v, %v", g, err)
	}
	m = streaming(false)
	m.Ops[2].Inputs = []int32{0}
	if _, err = Parse("m.tflite", m.Bytes()); err == nil || !strings.Contains(err.Error(), "reads a variable without a handle") {
		t.Error(err)
	}
	g, err = parse(t.Context(), "m.tflite", streaming(true).Bytes(), importer.Options{End: []string{"window"}}, maxWeights)
	if err != nil || !slices.Equal(g.Inputs, []string{"x", "steps"}) || !slices.Equal(g.Outputs, []string{"window"}) {
		t.Errorf("%v, %v", g, err)
	}
}
