package lce

import (
	"strings"
	"testing"

	"ripc/importer"
	tt "ripc/internal/tflitetest"
)

// chained is a model of operators in a row, x -> a -> b -> c -> d -> y.
func chained(codes ...int32) tt.Model {
	m := tt.Model{Inputs: []int32{0}, Outputs: []int32{int32(len(codes))}}
	for i, name := range []string{"x", "model/a;model/conv", "b", "c", "d", "y"}[:len(codes)+1] {
		m.Tensors = append(m.Tensors, value(name, tt.F32, 1, 4))
		if i > 0 {
			m.Ops = append(m.Ops, tt.Op{Code: codes[i-1], Inputs: []int32{int32(i - 1)}, Outputs: []int32{int32(i)}})
		}
	}
	return m
}

// Numbers of builtin operators.
const (
	reluCode = 19
	sinCode  = 66
)

// TestCut: a part of a file is read as if there were no other; what is not supported outside is no obstacle, and the message about
// it says so.
func TestCut(t *testing.T) {
	m := chained(sinCode, reluCode, reluCode, reluCode, sinCode)
	if _, err := Parse("m.tflite", m.Bytes()); err == nil || !strings.Contains(err.Error(), "`--begin 'model/a;model/conv' --end d` leaves out all that is not supported") {
		t.Error(err)
	}
	if _, err := Parse("m.tflite", chained(reluCode, reluCode, sinCode).Bytes()); err == nil || !strings.Contains(err.Error(), "`--end b` cuts the network before it") {
		t.Error(err)
	}
	for _, c := range []struct {
		o               importer.Options
		inputs, outputs string
		batch           int
	}{
		{importer.Options{Begin: []string{"model/a;model/conv"}, End: []string{"c"}}, "model/a;model/conv", "c", 1},
		{importer.Options{Begin: []string{"model/a"}, End: []string{"b", "c"}, Batch: 5}, "model/a;model/conv", "b c", 5},
	} {
		g, err := parse(t.Context(), "m.tflite", m.Bytes(), c.o, maxWeights)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(g.Inputs, " "); got != c.inputs {
			t.Errorf("inputs %s, want %s", got, c.inputs)
		}
		if got := strings.Join(g.Outputs, " "); got != c.outputs {
			t.Errorf("outputs %s, want %s", got, c.outputs)
		}
		if got := g.Value("c").Shape[0]; got != c.batch {
			t.Errorf("batch %d, want %d", got, c.batch)
		}
	}
	if _, err := parse(t.Context(), "m.tflite", m.Bytes(), importer.Options{End: []string{"nothing"}}, maxWeights); err == nil {
		t.Error("no error of a tensor that there is not")
	}
}
