package recognize

import (
	"encoding/binary"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
)

// drawRegion makes a tensor of x by ops on single elements, which branch and join.
func (n *net) drawRegion(t *rapid.T, x string) string {
	pool := []string{x}
	some := func() string { return pick(t, "tensor", pool...) }
	number := func() float32 { return pick(t, "number", float32(1), -1, 2, 0.5, 0.37, 3, -0.1, 1.0/3) }
	constant := func() *graph.Tensor {
		if between(t, 0, 3, "vector") == 0 {
			return n.real(n.c(x))
		}
		return &graph.Tensor{Shape: []int{1}, Data: graph.NumbersOf([]float32{number()})}
	}
	levels := func(y string) string {
		switch between(t, 0, 4, "levels") {
		case 0:
			return n.plain("sign", y)
		case 1:
			return n.greater(y, number(), rapid.Bool().Draw(t, "not less"))
		case 2:
			return n.drawQuant(t, y, float64(pick(t, "scale", float32(0.5), 1, 0.3)))
		}
		return n.add("round", &graph.RoundAttrs{Mode: pick(t, "rounding", scalar.Roundings()...)}, nil, n.clip(y, -1, 2))
	}
	for range between(t, 1, 8, "ops") {
		y := some()
		switch between(t, 0, 9, "op") {
		case 0, 1:
			y = levels(y)
		case 2:
			y = n.add(pick(t, "binary", "add", "sub", "mul", "div"), &graph.BinaryOpAttrs{Reverse: rapid.Bool().Draw(t, "reverse")}, map[string]*graph.Tensor{"b": constant()}, y)
		case 3, 4:
			y = n.two(pick(t, "join", "add", "sub", "mul", "div"), y, some())
		case 5:
			y = n.clip(y, -1, 1)
		case 6:
			y = n.plain(pick(t, "plain", "relu", "relu6", "hard_tanh"), y)
		case 7:
			y = n.add("prelu", &graph.PReluAttrs{}, map[string]*graph.Tensor{"alpha": {Shape: []int{n.c(x)}, Data: graph.NumbersOf(slices.Repeat([]float32{pick(t, "slope", float32(-1), 0.25, -0.5)}, n.c(x)))}}, y)
		case 8:
			y = n.ste(levels(some()), y)
		case 9:
			y = n.two("mul", y, y)
		}
		pool = append(pool, y)
	}
	switch between(t, 0, 3, "end") {
	case 0:
		y := some()
		return n.ste(levels(y), y)
	case 1:
		return n.add(pick(t, "affine", "add", "mul"), &graph.BinaryOpAttrs{}, map[string]*graph.Tensor{"b": constant()}, levels(some()))
	}
	return pool[len(pool)-1]
}

// TestRegions: the quantizer that is found for a region gives, of numbers of all kinds, what the interpreter computes.
func TestRegions(t *testing.T) {
	found, thresholds, shared := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		n := newNet(func(args ...any) { t.Fatal(args...) }, rapid.Uint64().Draw(t, "seed"))
		const channels, rows = 3, 200
		x := n.input(rows, channels)
		y := n.drawRegion(t, x)
		n.Outputs = []string{y}
		exactly := newRewriter(n.Graph)
		exactly.options.ExactFloats = true
		q := exactly.findQuantizer(y)
		if q == nil {
			return
		}
		found++
		switch q.from {
		case x:
			shared++
		case y:
		default: // the interpreter has that tensor, too
			n.Outputs = []string{y, q.from}
		}
		var points []float32
		special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -0.5, 1.5, 0x1p-126, -0x1p-126, 0x1p-140, 3, 1e10, -1e10, 1 << 24, 0x1p24 + 2}
		for i := range rows * channels {
			v := float32(n.r.NormFloat64() * math.Pow(2, float64(n.r.IntN(8)-4)))
			if c := q.thresholds.Shape[1]; q.from == x && n.r.IntN(2) == 0 {
				v = q.thresholds.Data.At(n.r.IntN(q.thresholds.Shape[0])*c + i%channels%c)
				if q.polarity != nil {
					v *= q.polarity.Data.At(i % channels % q.polarity.Data.Len())
				}
				if v-v == 0 {
					v = f32.FromOrder(f32.Order(v) + int64(n.r.IntN(3)-1))
				}
			} else if n.r.IntN(8) == 0 {
				v = special[n.r.IntN(len(special))]
			}
			if v-v != 0 {
				v = 0
			}
			points = append(points, v)
		}
		var input []byte
		for _, v := range points {
			input = binary.LittleEndian.AppendUint32(input, math.Float32bits(v))
		}
		out := results(t, n.Graph, [][]byte{input})
		want, from := floats(out[0]), points
		if q.from != x {
			from = nil
			for _, v := range floats(out[len(out)-1]) {
				from = append(from, float32(v))
			}
		}
		for i, w := range want {
			if w != w || from[i]-from[i] != 0 { // an infinity reaches a threshold that is one
				continue
			}
			v, c := f32.Flush(from[i]), i%channels
			if q.polarity != nil {
				v *= q.polarity.Data.At(c % q.polarity.Data.Len())
			}
			level := 0
			for j := range q.thresholds.Shape[0] {
				if k := q.thresholds.Shape[1]; v >= q.thresholds.Data.At(j*k+c%k) {
					level++
				}
			}
			if q.quantize != nil {
				level = q.quantize.Eval(v)
			}
			got := float64(q.value.Float(level))
			if math.Abs(got-w) > max(math.Abs(w), math.Abs(q.value.Offset))*0x1p-22 {
				t.Fatalf("of %x in channel %d: %g, want %g; %+v thresholds %x\n%s", v, c, got, w, q.value, q.thresholds.Data.Floats(), n.Graph)
			}
			thresholds++
		}
	})
	if found == 0 || thresholds == 0 || shared == 0 {
		t.Errorf("%d regions found, %d of an input, %d numbers compared", found, shared, thresholds)
	}
	t.Logf("%d found, %d of the input", found, shared)
}
