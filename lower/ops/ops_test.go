package ops_test

import (
	"encoding/binary"
	"math"
	"math/rand/v2"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/internal/difftest"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/interp"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// run checks that f is sound and gives its output for inputs, the values of its parameters but the last.
func run(t *rapid.T, f *ir.Func, inputs ...any) []byte { return runInto(t, f, nil, inputs...) }

// runInto is run with an output that has contents already; nil stands for random ones.
func runInto(t *rapid.T, f *ir.Func, y []byte, inputs ...any) []byte {
	if len(inputs)+1 != len(f.Params) {
		t.Fatalf("%d inputs for\n%s", len(inputs), f)
	}
	return runAll(t, f, y, inputs...)[0]
}

// runAll is runInto for a Func of several outputs, of which the first may have contents.
func runAll(t *rapid.T, f *ir.Func, y []byte, inputs ...any) [][]byte {
	for _, check := range []func(*ir.Func) error{ir.Verify, arith.VerifyBounds, arith.VerifyWidths} {
		if err := check(f); err != nil {
			t.Fatalf("%v\n%s", err, f)
		}
	}
	var args [][]byte
	for i, p := range f.Params[:len(inputs)] {
		b, err := binary.Append(nil, binary.LittleEndian, inputs[i])
		if err != nil || len(b) != p.Bytes() || p.Out {
			t.Fatalf("input %d has %d bytes (%v) for %s", i, len(b), err, ir.BufferString(p.Buffer))
		}
		args = append(args, b)
	}
	if args = append(args, difftest.RandomArgs(f, 1)[len(inputs):]...); y != nil {
		args[len(inputs)] = y
	}
	c, err := interp.CompileChecked(f)
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	if err := c.Run(t.Context(), args); err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	return args[len(inputs):]
}

// data are the contents of constants, in order.
func data(consts []ops.Const) []any {
	var all []any
	for _, c := range consts {
		all = append(all, c.Data())
	}
	return all
}

// realConv lays out a layer over real numbers [b, h, w, a.In].
func realConv(a *graph.FusedConv, b, h, w int) *layout.Conv {
	return layout.NewConv(a, graph.Value{Name: "x", Shape: []int{b, h, w, a.In}}, targets.Target{}, layout.Float)
}

func floats(b []byte) []float32 {
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}

func words(b []byte) []uint32 {
	out := make([]uint32, len(b)/4)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

// pack puts levels [pixels, c] into words [planes, pixels, ceil(c/32)].
func pack(levels []int, planes, c int) []uint32 {
	pixels, row := len(levels)/c, (c+31)/32
	out := make([]uint32, planes*pixels*row)
	for i, v := range levels {
		for n := range planes {
			out[(n*pixels+i/c)*row+i%c/32] |= uint32(v>>n&1) << (i % c % 32)
		}
	}
	return out
}

func wantWords(t *rapid.T, f *ir.Func, got, want []uint32) {
	for i := range want {
		if got[i] != want[i] {
			t.Fatalf("word %d of %d is %#x, want %#x\n%s", i, len(want), got[i], want[i], f)
		}
	}
}

func wantFloats(t *rapid.T, f *ir.Func, got, want []float32) {
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
			t.Fatalf("element %d of %d is %g, want %g\n%s", i, len(want), got[i], want[i], f)
		}
	}
}

func between(t *rapid.T, lo, hi int, what string) int { return rapid.IntRange(lo, hi).Draw(t, what) }

func channels(t *rapid.T, what string) int {
	return rapid.SampledFrom([]int{1, 3, 31, 32, 33, 64, 100}).Draw(t, what)
}

func encoding(t *rapid.T) ir.EncodingKind {
	return rapid.SampledFrom([]ir.EncodingKind{ir.Unipolar, ir.Bipolar}).Draw(t, "encoding")
}

// drawLevels draws n levels: random ones, or all the same, which is where sums are largest.
func drawLevels(t *rapid.T, n, bits int, what string) []int {
	out := make([]int, n)
	r := random(t, what)
	kind := between(t, 0, 4, what+" kind")
	for i := range out {
		switch kind {
		case 0:
		case 1:
			out[i] = 1<<bits - 1
		default:
			out[i] = r.IntN(1 << bits)
		}
	}
	return out
}

func drawFloats(t *rapid.T, n int, what string) []float32 {
	r := random(t, what)
	out := make([]float32, n)
	for i := range out {
		out[i] = float32(r.NormFloat64())
	}
	return out
}

// geometry is a window over an image, with the padding that modes valid and same and explicit numbers give.
type geometry struct {
	b, h, w, kh, kw, sh, sw, oh, ow int
	pad                             graph.Padding
}

func drawGeometry(t *rapid.T) geometry {
	g := geometry{b: between(t, 1, 2, "batch"), h: between(t, 1, 9, "h"), w: between(t, 1, 9, "w"), kh: between(t, 1, 5, "kh"),
		kw: between(t, 1, 5, "kw"), sh: between(t, 1, 3, "sh"), sw: between(t, 1, 3, "sw")}
	side := func(size, k, s int, mode string) (before, after int) {
		switch mode {
		case "same":
			all := max(0, ((size+s-1)/s-1)*s+k-size)
			return all / 2, all - all/2
		case "explicit":
			before, after = between(t, 0, k-1, "before"), between(t, 0, k-1, "after")
		}
		return before, max(after, k-size-before)
	}
	mode := rapid.SampledFrom([]string{"valid", "same", "explicit"}).Draw(t, "padding")
	g.pad.Top, g.pad.Bottom = side(g.h, g.kh, g.sh, mode)
	g.pad.Left, g.pad.Right = side(g.w, g.kw, g.sw, mode)
	g.oh = (g.h+g.pad.Top+g.pad.Bottom-g.kh)/g.sh + 1
	g.ow = (g.w+g.pad.Left+g.pad.Right-g.kw)/g.sw + 1
	return g
}

// each calls see for each output pixel p and window element k, with the index of the input pixel, -1 outside the image.
func (g geometry) each(see func(p, k, x int)) {
	for p := range g.b * g.oh * g.ow {
		for k := range g.kh * g.kw {
			y, x := p/g.ow%g.oh*g.sh+k/g.kw-g.pad.Top, p%g.ow*g.sw+k%g.kw-g.pad.Left
			if y < 0 || y >= g.h || x < 0 || x >= g.w {
				see(p, k, -1)
			} else {
				see(p, k, (p/(g.oh*g.ow)*g.h+y)*g.w+x)
			}
		}
	}
}

func random(t *rapid.T, what string) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, what), 0))
}

func drawShape(t *rapid.T) (shape []int, pixels int) {
	s := []int{between(t, 1, 2, "batch"), between(t, 1, 5, "h"), between(t, 1, 5, "w"), channels(t, "c")}
	return s, s[0] * s[1] * s[2]
}
