package onnx

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"

	"ripc/graph"
	pb "ripc/importer/internal/onnx/internal/onnxpb"
)

// number adds an initializer of one element.
func (f file) number(name string, dt dtype, v float64) file {
	t := &pb.TensorProto{Name: &name, DataType: proto.Int32(int32(dt))}
	if dt == dtFloat {
		t.FloatData = []float32{float32(v)}
	} else {
		t.Int32Data = []int32{int32(v)}
	}
	f.Graph.Initializer = append(f.Graph.Initializer, t)
	return f
}

// plainNodes are g's nodes without their names.
func plainNodes(g *graph.Graph) []string {
	var out []string
	for _, n := range g.Nodes {
		out = append(out, fmt.Sprintf("%s %+v %v %s", n.Op, n.Attrs, len(n.Inputs), g.Value(n.Output)))
	}
	return out
}

// TestClippedIsQuant: QuantizeLinear, Clip and DequantizeLinear become the nodes that Quant of as few bits becomes, for activations and weights.
func TestClippedIsQuant(t *testing.T) {
	for bits := 2; bits <= 8; bits++ {
		for _, signed := range []int{0, 1} {
			for _, narrow := range []int{0, 1} {
				lo, hi := quantRange(signed == 1, narrow == 1, float64(bits))
				dt := []dtype{dtUint8, dtInt8}[signed]
				model := func() file {
					return newFile(18).number("s", dtFloat, 0.25).number("z", dt, 0).number("lo", dt, float64(lo)).number("hi", dt, float64(hi)).
						number("f", dtFloat, 0).number("bits", dtFloat, float64(bits)).floats("w", 4, 3, 3, 3)
				}
				clip := model().node("QuantizeLinear x s z -> q")
				if full := lo == 0 && hi == 255 || lo == -128 && hi == 127; full {
					continue // no Clip is needed, and integers of 8 bits are levels of int8
				}
				clip.node("Clip q lo hi -> c").node("DequantizeLinear c s z -> a").node("Conv a w -> y")
				quant := model().node("Quant x s f bits -> a", "signed", signed, "narrow", narrow).node("Conv a w -> y")
				var nodes [2][]string
				for i, f := range []file{clip, quant} {
					g, err := Parse("m.onnx", f.bytes(t), nil)
					if err != nil {
						t.Fatal(err)
					}
					for _, v := range g.Values {
						v.Name = ""
					}
					nodes[i] = plainNodes(g)
				}
				if !slices.Equal(nodes[0], nodes[1]) {
					t.Errorf("%d bits, signed %d, narrow %d:\n%v\nwant\n%v", bits, signed, narrow, nodes[0], nodes[1])
				}
			}
		}
	}
}

// TestClippedIntegers: any bounds behind any quantizer give what ONNX says, ties, zero points and bounds on one side included.
func TestClippedIntegers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for k := range 400 {
		dt := []dtype{dtUint8, dtInt8}[r.IntN(2)]
		least, greatest := limits(dt)
		draw := func() float64 { return least + float64(r.IntN(256)) }
		scale, zero, lo, hi := float32(math.Ldexp(1+float64(r.IntN(3)), -2)), draw(), draw(), draw()
		if r.IntN(2) == 0 {
			zero, hi = 0, min(lo+float64(r.IntN(20)), greatest)
		}
		if r.IntN(4) > 0 && lo > hi {
			lo, hi = hi, lo
		}
		f := newFile(18, 1, 64).number("s", dtFloat, float64(scale)).number("z", dt, zero).number("lo", dt, lo).number("hi", dt, hi).node("QuantizeLinear x s z -> q")
		low, high, end := lo, hi, "c"
		switch r.IntN(7) {
		case 0:
			f.node("Clip q lo -> c")
			high = greatest
		case 1:
			f.node("Clip q _ hi -> c")
			f.Graph.Node[len(f.Graph.Node)-1].Input[1] = ""
			low = least
		case 2:
			f.node("Max q lo -> b").node("Min hi b -> c")
		case 3:
			f.node("Relu q -> c")
			low, high = max(least, 0), greatest
		case 4:
			f.node("Identity q -> b").node("Clip b lo hi -> c")
		case 5: // two readers
			f.node("Clip q lo hi -> c").node("DequantizeLinear q s z -> y2")
			f.output("y2")
		default:
			f.node("Clip q lo hi -> c")
		}
		float := r.IntN(3) > 0
		if float {
			f.node("DequantizeLinear " + end + " s z -> y")
		} else {
			f.node("Cast "+end+" -> y", "to", int(dt))
		}
		g, err := Parse("m.onnx", f.bytes(t), nil)
		if err == nil {
			err = graph.Check(g)
		}
		if err != nil {
			t.Fatalf("case %d: %v", k, err)
		}
		x := make([]float32, 64)
		for i := range x {
			x[i] = scale * float32(r.IntN(1200)-600) / 2
		}
		x[0], x[1] = float32(math.Inf(1)), float32(math.Inf(-1))
		got := evaluate(g, map[string][]float32{"x": x})["y"]
		for i, v := range x {
			q := min(max(math.RoundToEven(float64(v/scale))+zero, least), greatest)
			q = min(max(q, low), high)
			want := float32(q-zero) * scale
			if !float {
				want = float32(q)
				if v := g.Value("y"); v.Signed {
					got[i] -= 128
				}
			}
			if got[i] != want {
				t.Fatalf("case %d: %s zero %g scale %g from %g to %g: %g becomes %g, want %g\n%s", k, dt, zero, scale, low, high, v, got[i], want, g)
			}
		}
	}
}

// TestFourBits: a zero point of 4 bits makes a quantizer of 4 bits, of activations and of constants.
func TestFourBits(t *testing.T) {
	x := make([]float32, 64)
	for i := range x {
		x[i] = float32(i-32) / 4
	}
	for _, dt := range []dtype{dtInt4, dtUint4} {
		lo, hi := -8.0, 7.0
		if dt == dtUint4 {
			lo, hi = 0, 15
		}
		for zero := lo; zero <= hi; zero++ {
			f := newFile(21, 1, 64).number("s", dtFloat, 0.5).number("z", dt, float64(int(zero)&15))
			f.Graph.Initializer = append(f.Graph.Initializer, floatTensor("c", x, 1, 64))
			f.node("QuantizeLinear x s z -> q").node("DequantizeLinear q s z -> y").node("QuantizeLinear c s z -> d").node("DequantizeLinear d s z -> e").node("Add x e -> y2")
			f.output("y2")
			g, err := Parse("m.onnx", f.bytes(t), nil)
			if err != nil {
				t.Fatal(err)
			}
			vals := evaluate(g, map[string][]float32{"x": x})
			for i, v := range x {
				want := float32(min(max(math.RoundToEven(float64(v*2))+zero, lo), hi)-zero) / 2
				if vals["y"][i] != want || vals["y2"][i] != v+want {
					t.Fatalf("%s, zero %g: %g becomes %g and %g, want %g", dt, zero, v, vals["y"][i], vals["y2"][i]-v, want)
				}
			}
			if q := g.Value(g.Nodes[0].Output); q.Bits != 4 {
				t.Errorf("%s, zero %g: %s", dt, zero, q)
			}
		}
	}
}
