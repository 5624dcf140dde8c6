package lower_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

func bytesOf(v any) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, v)
	if err != nil {
		panic("BUG: " + err.Error())
	}
	return b
}

// TestRanks: tensors of 1 to 6 axes at the interface and inside, through ops that move elements or leave them alone. Each
// output holds the input's elements in an order that plain indices give.
func TestRanks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := append(rapid.SliceOfN(rapid.IntRange(1, 3), 0, 5).Draw(t, "shape"), channels(t))
		encoded := rapid.Bool().Draw(t, "levels")
		x := graph.Value{Name: "x", Shape: shape}
		if encoded {
			x = levels(false, 2, ir.Bipolar, shape...)
		}
		n := newNet(t, x)
		cur, at := "x", make([]int, x.Elems()) // element i of cur is element at[i] of x
		for i := range at {
			at[i] = i
		}
		next := func(name, op string, attrs any, from func(i int) int) {
			n.add(name, op, attrs, nil, cur)
			v, before := n.Value(name), at
			at = make([]int, v.Elems())
			for i := range at {
				at[i] = before[from(i)]
			}
			cur = name
		}
		for k := range between(t, 1, 3, "nodes") {
			v, name := n.Value(cur), string(rune('a'+k))
			s := v.Shape
			switch between(t, 0, 3, "op") {
			case 0:
				var axes []int
				for d := range s {
					axes = append(axes, d)
				}
				perm := rapid.Permutation(axes).Draw(t, "perm")
				to := make([]int, len(s))
				for d, p := range perm {
					to[d] = s[p]
				}
				next(name, "transpose", &graph.TransposeAttrs{Perm: perm}, func(i int) int {
					p := make([]int, len(s))
					for d := len(to) - 1; d >= 0; d-- {
						p[perm[d]], i = i%to[d], i/to[d]
					}
					j := 0
					for d := range p {
						j = j*s[d] + p[d]
					}
					return j
				})
			case 1:
				to := []int{v.Elems()}
				if len(s) > 1 && rapid.Bool().Draw(t, "merge") {
					to = append([]int{s[0] * s[1]}, s[2:]...)
				} else if len(s) < 6 {
					to = append([]int{1}, s...)
				}
				next(name, "reshape", &graph.ReshapeAttrs{Shape: to}, func(i int) int { return i })
			case 2:
				a := &graph.SliceAttrs{Begin: make([]int, len(s)), Size: slices.Clone(s), Stride: slices.Repeat([]int{1}, len(s))}
				last := len(s) - 1
				a.Begin[last] = between(t, 0, s[last]-1, "begin")
				a.Size[last] = s[last] - a.Begin[last]
				next(name, "slice", a, func(i int) int { return i/a.Size[last]*s[last] + a.Begin[last] + i%a.Size[last] })
			case 3:
				n.add(name, "concat", &graph.ConcatAttrs{}, nil, cur, cur)
				c, before := v.Channels(), at
				at = nil
				for i := 0; i < len(before); i += c {
					at = append(append(at, before[i:i+c]...), before[i:i+c]...)
				}
				cur = name
			}
		}
		p := n.program(cur)
		var got, want []byte
		if encoded {
			data := drawLevels(t, x.Elems(), 2)
			for _, j := range at {
				want = append(want, data[j])
			}
			got = n.run(p, data)[0]
		} else {
			var data, moved []float32
			for i := range x.Elems() {
				data = append(data, float32(i)+0.5)
			}
			for _, j := range at {
				moved = append(moved, data[j])
			}
			got, want = n.run(p, bytesOf(data))[0], bytesOf(moved)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("got %v, want %v\n%s\n%s", got, want, n.Graph, p)
		}
	})
}

// TestConstants: constants are operands without a stage of their own, an output where the model says so, and shared.
func TestConstants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNet(t, graph.Value{Name: "x", Shape: []int{2, 3}, Layout: "NC"})
		row := &graph.Tensor{Shape: []int{1, 3}, Data: graph.NumbersOf([]float32{1, 2, -4})}
		for _, name := range []string{"k", "k2"} {
			n.add(name, "constant", &graph.ConstantAttrs{}, map[string]*graph.Tensor{"value": row})
		}
		n.add("sum", "add", &graph.BinaryOpAttrs{}, nil, "x", "k")
		n.add("rest", "sub", &graph.BinaryOpAttrs{}, nil, "k2", "sum")
		n.add("inverse", "div", &graph.BinaryOpAttrs{Reverse: true}, map[string]*graph.Tensor{"b": {Shape: []int{1}, Data: graph.NumbersOf([]float32{8})}}, "rest")
		p := n.program("inverse", "k")
		if len(p.Stages) != 4 { // three ops and the copy of k
			t.Fatalf("%d stages\n%s", len(p.Stages), p)
		}
		got := n.run(p, bytesOf([]float32{0.5, 1, 2, -1, -2, 4}))
		// 8 / (k - (x + k)) is 8 / -x.
		if want := bytesOf([]float32{-16, -8, -4, 8, 4, -2}); !bytes.Equal(got[0], want) || !bytes.Equal(got[1], bytesOf(row.Data.Floats())) {
			t.Fatalf("got %v\n%s", got, p)
		}
	})
}

// TestThresholdNode: a threshold that nothing took in, with a note of the importer.
func TestThresholdNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNet(t, graph.Value{Name: "x", Shape: []int{1, 4}, Layout: "NC"})
		inf, nan := float32(math.Inf(1)), float32(math.NaN())
		n.add("q", "threshold", &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.BipolarInv, Scale: 1}, NotLess: true},
			map[string]*graph.Tensor{"thresholds": {Shape: []int{2, 4}, Data: graph.NumbersOf([]float32{0, -inf, 1, 5, 1, inf, 2, 5})}}, "x")
		n.Nodes[0].Note = "of the importer"
		p := n.program("q")
		if got := n.run(p, bytesOf([]float32{0, 3, nan, 4}))[0]; !bytes.Equal(got, []byte{2, 2, 1, 3}) {
			t.Fatalf("got %v\n%s", got, p)
		}
		want := ir.Layer{Kind: "bits", Reason: ir.Reason{Code: "caller_floats"}}
		if s := p.Stages[0]; s.Note != "of the importer" || !reflect.DeepEqual(s.Layer, want) {
			t.Fatalf("note %q, layer %+v, want %+v", s.Note, s.Layer, want)
		}
	})
}

// TestWhyFunctionsStay: a function of several tensors says so; one that reads a single tensor, if twice, does not.
func TestWhyFunctionsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := newNet(t, graph.Value{Name: "x", Shape: []int{2, 3}, Layout: "NC"})
		n.add("k", "constant", &graph.ConstantAttrs{}, map[string]*graph.Tensor{"value": {Shape: []int{1, 3}, Data: graph.NumbersOf([]float32{1, 2, -4})}})
		n.add("of_input", "mul", &graph.BinaryOpAttrs{}, nil, "x", "x")
		n.add("e", "softmax", &graph.NoAttrs{}, nil, "of_input")
		n.add("not_taken_in", "mul", &graph.BinaryOpAttrs{}, nil, "e", "e")
		n.add("several_reads", "add", &graph.BinaryOpAttrs{}, nil, "e", "not_taken_in")
		p := n.program("several_reads")
		for _, s := range p.Stages {
			if s.Name != "e" && s.Layer.Reason.Code != s.Name {
				t.Errorf("%s: reason %q", s.Name, s.Layer.Reason.Code)
			}
		}
	})
}
