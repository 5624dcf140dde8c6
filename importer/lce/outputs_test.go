package lce

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/internal/refnet"
	tt "ripc/internal/tflitetest"
)

// randomInt8 is a network of int8 tensors of one shape, of which operators read some twice, dequantize others and quantize floats.
// It has several outputs, floats among them. If faulty is set, one operator in the middle cannot be imported.
func randomInt8(r *rand.Rand, faulty bool) tt.Model {
	shape := []int32{1, 2, 2, 4}
	types := []struct {
		scale float32
		zero  int64
	}{{0.05, 3}, {0.05, 3}, {0.125, -20}, {1.0 / 256, -128}}
	m := tt.Model{Inputs: []int32{0}}
	tensor := func(t tt.Tensor) int32 {
		if t.Name == "" {
			t.Name = fmt.Sprintf("t%d", len(m.Tensors))
		}
		m.Tensors = append(m.Tensors, t)
		return int32(len(m.Tensors) - 1)
	}
	quantized := func(k int) int32 {
		return tensor(tt.Tensor{Type: tt.I8, Shape: shape, Scales: []float32{types[k].scale}, Zeros: []int64{types[k].zero}})
	}
	like := func(t int32) int32 {
		x := m.Tensors[t]
		x.Name, x.Data = "", nil
		return tensor(x)
	}
	var ints, floats []int32
	pick := func(list []int32) int32 { return list[r.IntN(len(list))] }
	if r.IntN(2) == 0 {
		floats = append(floats, tensor(tt.Tensor{Type: tt.F32, Shape: shape}))
		ints = append(ints, quantized(0))
		m.Ops = append(m.Ops, tt.Op{Code: 114, Inputs: floats, Outputs: slices.Clone(ints)})
	} else {
		ints = append(ints, quantized(0))
	}
	fault := -1
	ops := 2 + r.IntN(8)
	if faulty {
		fault = r.IntN(ops)
	}
	for i := range ops {
		x := pick(ints)
		op := tt.Op{Inputs: []int32{x}}
		out := func(t int32) { op.Outputs = []int32{t} }
		switch kind := r.IntN(15); {
		case i == fault: // GATHER with axes of batches
			op = tt.Op{Code: 36, OptionType: 23, Options: tt.Table{1: int32(1)}, Inputs: []int32{x, tensor(i32s("", []int32{1}, 0))}}
			out(like(x))
		case kind == 0: // ADD, SUB, MUL
			op.Code, op.Inputs = []int32{0, 41, 18}[r.IntN(3)], []int32{x, pick(ints)}
			out(quantized(r.IntN(3)))
		case kind == 1: // MAXIMUM
			op.Code, op.Inputs = 55, []int32{x, pick(ints)}
			out(quantized(r.IntN(3)))
		case kind == 2: // LOGISTIC
			op.Code = 14
			out(quantized(3))
		case kind == 3: // SOFTMAX
			op = tt.Op{Code: 25, OptionType: 9, Options: tt.Table{0: float32(1)}, Inputs: op.Inputs}
			out(quantized(3))
		case kind == 4: // RELU
			op.Code = 19
			out(quantized(r.IntN(3)))
		case kind == 5: // PRELU
			op.Code, op.Inputs = 54, []int32{x, tensor(f32s("", []int32{1, 1, 4}, 0.5, 2, -1, 0))}
			out(quantized(r.IntN(3)))
		case kind == 6: // MAX_POOL_2D
			op = tt.Op{Code: 17, OptionType: 5, Options: tt.Table{0: int8(0), 1: int32(1), 2: int32(1), 3: int32(2), 4: int32(2)}, Inputs: op.Inputs}
			out(like(x))
		case kind == 7: // TRANSPOSE of rows and columns
			op.Code, op.Inputs = 39, []int32{x, tensor(i32s("", []int32{4}, 0, 2, 1, 3))}
			out(like(x))
		case kind == 8: // RESHAPE and PAD that do nothing
			op.Code = 22
			if r.IntN(2) == 0 {
				op.Code, op.Inputs = 34, []int32{x, tensor(i32s("", []int32{4, 2}, 0, 0, 0, 0, 0, 0, 0, 0))}
			}
			out(like(x))
		case kind == 9: // two parts and back
			a, b := like(x), like(x)
			for _, t := range []int32{a, b} {
				m.Tensors[t].Shape = []int32{1, 2, 2, 2}
			}
			m.Ops = append(m.Ops, tt.Op{Code: 49, OptionType: 35, Options: tt.Table{0: int32(2)}, Inputs: []int32{tensor(i32s("", nil, 3)), x}, Outputs: []int32{a, b}})
			op = tt.Op{Code: 2, OptionType: 10, Options: tt.Table{0: int32(3)}, Inputs: []int32{b, a}}
			out(like(x))
		case kind == 10: // SQUARE
			op.Code = 92
			out(quantized(r.IntN(3)))
		case kind == 11 && len(floats) > 0: // back to integers
			op.Code, op.Inputs = 114, []int32{pick(floats)}
			out(quantized(r.IntN(3)))
		case kind == 12 && len(floats) > 0:
			op.Code, op.Inputs = 0, []int32{pick(floats), pick(floats)}
			out(tensor(tt.Tensor{Type: tt.F32, Shape: shape}))
		default: // DEQUANTIZE
			op.Code = 6
			out(tensor(tt.Tensor{Type: tt.F32, Shape: shape}))
		}
		m.Ops = append(m.Ops, op)
		if t := op.Outputs[0]; m.Tensors[t].Type == tt.F32 {
			floats = append(floats, t)
		} else {
			ints = append(ints, t)
		}
	}
	made := slices.Concat(ints, floats)
	made = slices.DeleteFunc(made, func(t int32) bool { return t == 0 })
	r.Shuffle(len(made), func(i, k int) { made[i], made[k] = made[k], made[i] })
	m.Outputs = made[:min(len(made), 1+r.IntN(4))]
	return m
}

// evaluate computes the outputs of a graph of one input, in plain arithmetic.
func evaluate(g *graph.Graph, x *refnet.Tensor) map[string]*refnet.Tensor {
	values := map[string]*refnet.Tensor{g.Inputs[0]: x}
	for _, n := range g.Nodes {
		values[n.Output] = refnet.Node(g, n, values)
	}
	return values
}

// TestSeveralOutputs: each output of a random int8 network has the bits that it has in the network of this output alone.
func TestSeveralOutputs(t *testing.T) {
	for i := range 800 {
		r := rand.New(rand.NewPCG(uint64(i), 38))
		m := randomInt8(r, false)
		g, err := Parse("m.tflite", m.Bytes())
		if err != nil {
			t.Fatalf("network %d: %v", i, err)
		}
		checkGraph(t, g)
		v := g.Value(g.Inputs[0])
		x := refnet.New(v)
		for k := range x.F {
			if x.F[k] = float32(r.IntN(1001)-500) / 64; v.Encoded() {
				x.F[k] = float32(refnet.IntegerOf(v, r.IntN(256)))
			}
		}
		got := evaluate(g, x)
		for k, out := range g.Outputs {
			alone := m
			alone.Outputs = m.Outputs[k : k+1]
			one, err := Parse("m.tflite", alone.Bytes())
			if err != nil {
				t.Fatalf("network %d, output %s: %v", i, out, err)
			}
			if want := evaluate(one, x); !slices.Equal(got[out].F, want[out].F) {
				t.Fatalf("network %d, output %s: %v, alone %v\n%v\n%v", i, out, got[out].F, want[out].F, g, one)
			}
		}
	}
}

// TestFaultBetween: an operator that cannot be imported leaves nothing behind that others read.
func TestFaultBetween(t *testing.T) {
	for i := range 500 {
		r := rand.New(rand.NewPCG(uint64(i), 39))
		if _, err := Parse("m.tflite", randomInt8(r, true).Bytes()); err == nil || !strings.Contains(err.Error(), "axes of batches") {
			t.Fatalf("network %d: %v", i, err)
		}
	}
}
