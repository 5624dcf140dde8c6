package ops_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/difftest"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// binaryConv is a bconv2d over levels x [pixels, in] of so many bits.
type binaryConv struct {
	geometry
	a    *graph.FusedConv
	enc  ir.EncodingKind
	bits int
	x    []int
}

func drawBinary(t *rapid.T) *binaryConv {
	c := &binaryConv{geometry: drawGeometry(t), enc: rapid.SampledFrom(encodings).Draw(t, "encoding")}
	a := &graph.FusedConv{KH: c.kh, KW: c.kw, SH: c.sh, SW: c.sw, Pad: c.pad, In: channels(t, "in"), Out: channels(t, "out")}
	c.a, c.bits = a, between(t, 1, 3, "planes")
	if rapid.Bool().Draw(t, "grouped") { // groups of each of them: in words, across words, some to a word, and several that products of bytes take as one
		a.Groups = rapid.SampledFrom([]int{2, 3, 4, 11}).Draw(t, "groups")
		a.In = a.Groups * rapid.SampledFrom([]int{1, 2, 5, 16, 32, 40}).Draw(t, "group in")
		a.Out = a.Groups * rapid.SampledFrom([]int{1, 3, 6, 32}).Draw(t, "group out")
		if rapid.Bool().Draw(t, "square") { // as layout.Dots.Band wants them
			a.In = a.Groups * between(t, 1, 7, "group size")
			a.Out = a.In
		}
	}
	x := c.input()
	a.X = graph.IntegersOf(x.LevelType)
	if c.enc != ir.Unipolar && rapid.Bool().Draw(t, "ones") {
		a.PadValue = a.X.Max
	}
	a.W = rapid.SampledFrom(append(wide(), []graph.Integers{{Min: -1, Max: 1, Step: 2}, {Min: -1, Max: 1, Step: 1}, {Min: -3, Max: 3, Step: 2}, {Min: -2, Max: 1, Step: 1}, {Min: -1, Max: 6, Step: 1}, {Min: 0, Max: 1, Step: 1}}...)).Draw(t, "weights")
	c.x = drawLevels(t, c.b*c.h*c.w*a.In, c.bits, "x")
	r := random(t, "weights")
	ints := make([]int16, c.kh*c.kw*a.GroupIn()*a.Out)
	for i := range ints {
		ints[i] = int16(a.W.Min + a.W.Step*r.IntN((a.W.Max-a.W.Min)/a.W.Step+1))
	}
	a.Ints = graph.NumbersOf(ints)
	return c
}

func (c *binaryConv) input() graph.Value {
	return graph.Value{Name: "x", LevelType: scalar.LevelType{Enc: c.enc, Bits: c.bits}, Shape: []int{c.b, c.h, c.w, c.a.In}}
}

var encodings = []ir.EncodingKind{ir.Unipolar, ir.Bipolar, ir.BipolarInv}

// value is the integer of a level.
func (c *binaryConv) value(level int) int {
	switch m := 1<<c.bits - 1; c.enc {
	case ir.Bipolar:
		return 2*level - m
	case ir.BipolarInv:
		return m - 2*level
	}
	return level
}

// dots are the convolution's sums [pixels, out], by the definition: integers times integers.
func (c *binaryConv) dots() []int {
	in, out := c.a.In, c.a.Out
	sums := make([]int, c.b*c.oh*c.ow*out)
	c.each(func(p, k, x int) {
		for ch := range in {
			v := c.a.PadValue
			if x >= 0 {
				v = c.value(c.x[x*in+ch])
			}
			n := c.a.GroupIn()
			for o := range c.a.GroupOut() {
				o += ch / n * c.a.GroupOut()
				sums[p*out+o] += v * int(c.a.Ints.At((k*n+ch%n)*out+o))
			}
		}
	})
	return sums
}

// pooled takes the maximum of each window of c's pool.
func (c *binaryConv) pooled(dots []int) []int {
	if c.a.Pool == nil {
		return dots
	}
	k, out := c.a.Pool.Kernel, c.a.Out
	ph, pw := c.oh/k[0], c.ow/k[1]
	top := make([]int, c.b*ph*pw*out)
	for i := range top {
		o, x, y, b := i%out, i/out%pw, i/out/pw%ph, i/out/pw/ph
		top[i] = math.MinInt
		for j := range k[0] * k[1] {
			top[i] = max(top[i], dots[((b*c.oh+y*k[0]+j/k[1])*c.ow+x*k[1]+j%k[1])*out+o])
		}
	}
	return top
}

func (c *binaryConv) drawPool(t *rapid.T) {
	if rapid.Bool().Draw(t, "pool") {
		k := [2]int{between(t, 1, min(3, c.oh), "ph"), between(t, 1, min(3, c.ow), "pw")}
		c.a.Pool = &graph.PoolAttrs{Kernel: k, Strides: k}
	}
}

// wide are weights that no i8 holds.
func wide() []graph.Integers {
	return []graph.Integers{{Min: -255, Max: 255, Step: 2}, {Min: 0, Max: 255, Step: 1}, {Min: -131, Max: 124, Step: 1}, {Min: -255, Max: 0, Step: 1}, {Min: -128, Max: 127, Step: 1}}
}

// laidOut calls see with what each algorithm makes of c.
func (c *binaryConv) laidOut(t *rapid.T, slice ops.Slice, see func(f *ir.Func, inputs []any)) {
	x := c.input()
	for _, m := range []targets.Target{{}, {Arch: "aarch64", VectorBits: 128}, {InOrder: true}} { // without and with vectors, with unsigned and signed bytes, which only Dot knows of; and in order
		for _, by := range layout.Applying(c.a, &x) {
			if m.Arch != "" && by != layout.Dot || m.InOrder && !readsColumns(layout.NewConv(c.a, x, m, by)) {
				continue
			}
			l := layout.NewConv(c.a, x, m, by)
			f, consts := ops.Conv(l, slice)
			see(f, c.inputs(t, l, consts))
		}
	}
}

// inputs are those of c's Func, laid out as l: with the sums of its windows, if it reads them.
func (c *binaryConv) inputs(t *rapid.T, l *layout.Conv, consts []ops.Const) []any {
	x := pack(c.x, c.bits, c.a.In)
	all := append([]any{x}, data(consts)...)
	if l.Accumulation.WeightParts() != nil {
		var sums []int32
		for _, v := range words(run(t, ops.WindowBytes(l), x)) {
			sums = append(sums, int32(v))
		}
		all = append(all, sums)
	}
	return all
}

// outputs calls see with what each algorithm gives.
func (c *binaryConv) outputs(t *rapid.T, see func(f *ir.Func, y []byte)) {
	c.laidOut(t, ops.Slice{}, func(f *ir.Func, inputs []any) { see(f, run(t, f, inputs...)) })
}

func TestBinaryConvFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawBinary(t)
		out := c.a.Out
		s, b, m := drawFloats(t, out, "s"), drawFloats(t, out, "b"), drawFloats(t, out, "m")
		c.a.Epilogue.Steps = []scalar.Step{{Kind: scalar.Mul, A: m}, {Kind: scalar.Fma, A: s, B: b}, {Kind: scalar.Relu}}[:between(t, 0, 3, "steps")]
		var want []float32
		for i, d := range c.dots() {
			v := float32(d)
			for _, s := range c.a.Epilogue.Steps {
				switch s.Kind {
				case scalar.Mul:
					v = f32.Mul(v, s.A[i%out])
				case scalar.Fma:
					v = f32.Fma(v, s.A[i%out], s.B[i%out])
				case scalar.Relu:
					v = f32.Max(v, 0)
				}
			}
			want = append(want, v)
		}
		c.outputs(t, func(f *ir.Func, got []byte) { wantFloats(t, f, floats(got), want) })
	})
}

func TestBinaryConvThresholds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawBinary(t)
		c.drawPool(t)
		c.drawThresholds(t, between(t, 1, 3, "bits"))(t)
	})
}

// TestChosenThresholds: bits that whole words of a window leave over choose thresholds instead of being counted.
func TestChosenThresholds(t *testing.T) {
	seen := map[int]int{}
	rapid.Check(t, func(t *rapid.T) {
		c := &binaryConv{geometry: drawGeometry(t), enc: rapid.SampledFrom(encodings).Draw(t, "encoding"), bits: 1}
		if c.kh*c.kw > layout.WordBits {
			t.Skip("no word has as many taps")
		}
		c.a = &graph.FusedConv{KH: c.kh, KW: c.kw, SH: c.sh, SW: c.sw, Pad: c.pad, In: between(t, 1, layout.WordBits/(c.kh*c.kw), "in"), Out: channels(t, "out"), W: graph.Integers{Min: -1, Max: 1, Step: 2}}
		x := c.input()
		if c.a.X = graph.IntegersOf(x.LevelType); c.enc != ir.Unipolar && rapid.Bool().Draw(t, "ones") {
			c.a.PadValue = c.a.X.Max
		}
		c.x = drawLevels(t, c.b*c.h*c.w*c.a.In, 1, "x")
		r := random(t, "weights")
		ints := make([]int16, c.a.Products()*c.a.Out)
		for i := range ints {
			ints[i] = int16(2*r.IntN(2) - 1)
		}
		c.a.Ints = graph.NumbersOf(ints)
		check := c.drawThresholds(t, between(t, 1, 2, "bits"))
		if layout.PopcountDense8.Lacks(c.a, &x) != "" {
			t.Skip("no words of 8 bits")
		}
		seen[layout.NewConv(c.a, x, targets.Target{}, layout.PopcountDense8).Accumulation.(*layout.Counts).Rest]++
		check(t)
	})
	if len(seen) < 3 {
		t.Errorf("windows left over hardly any bits: %v", seen)
	}
}

// drawThresholds gives c levels of so many bits, and says what is to be checked then: that each algorithm gives them.
func (c *binaryConv) drawThresholds(t *rapid.T, bits int) (check func(t *rapid.T)) {
	a := c.a
	e := &a.Epilogue
	*e = graph.Epilogue{OutBits: bits, OutEnc: rapid.SampledFrom(encodings).Draw(t, "output"), Thresholds: make([][]int32, 1<<bits-1)}
	if rapid.Bool().Draw(t, "falling") {
		e.Falling = make([]bool, a.Out)
		for o := range e.Falling {
			e.Falling[o] = o%3 == 1
		}
	}
	most := a.KH * a.KW * a.In * a.X.Largest() * a.W.Largest()
	limits := rapid.SliceOfN(rapid.IntRange(-most-1, most+1), len(e.Thresholds), len(e.Thresholds)).Draw(t, "thresholds")
	slices.Sort(limits)
	for j := range e.Thresholds {
		for o := range a.Out { // the channels of even number have the same limits, the others one less
			e.Thresholds[j] = append(e.Thresholds[j], int32(limits[j]-o%2))
		}
	}
	dots := c.dots()
	for i := range dots {
		if e.Falling != nil && e.Falling[i%a.Out] {
			dots[i] = -dots[i]
		}
	}
	var levels []int
	for i, d := range c.pooled(dots) {
		level := 0
		for level < len(e.Thresholds) && d >= int(e.Thresholds[level][i%a.Out]) {
			level++
		}
		levels = append(levels, level)
	}
	if a.Epilogue.OutEnc == ir.BipolarInv {
		for i, l := range levels {
			levels[i] = 1<<bits - 1 - l
		}
	}
	return func(t *rapid.T) {
		c.outputs(t, func(f *ir.Func, got []byte) { wantWords(t, f, words(got), pack(levels, bits, a.Out)) })
	}
}

func TestBinaryConvShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawBinary(t)
		c.drawPool(t)
		a, bits, r := c.a, between(t, 1, 8, "bits"), random(t, "shifts")
		s := &graph.ShiftAdd{}
		left, low := rapid.Bool().Draw(t, "left"), rapid.Bool().Draw(t, "low")
		for range a.Out {
			s.Add, s.Right = append(s.Add, int32(r.IntN(200)-100)), append(s.Right, int32(r.IntN(7)))
			if left {
				s.Left = append(s.Left, int32(r.IntN(4)))
			}
			if low {
				s.Low = append(s.Low, int32(r.IntN(1<<bits)))
			}
		}
		a.Epilogue = graph.Epilogue{OutBits: bits, OutEnc: rapid.SampledFrom(encodings).Draw(t, "levels"), Shift: s}
		var levels []int
		for i, d := range c.pooled(c.dots()) {
			v, least := float64(d), 0.0
			if left {
				v *= math.Exp2(float64(s.Left[i%a.Out]))
			}
			if low {
				least = float64(s.Low[i%a.Out])
			}
			v = math.Floor((v + float64(s.Add[i%a.Out])) / math.Exp2(float64(s.Right[i%a.Out])))
			levels = append(levels, int(max(least, min(v, float64(int(1)<<bits-1)))))
		}
		if a.Epilogue.OutEnc == ir.BipolarInv {
			for i, l := range levels {
				levels[i] = 1<<bits - 1 - l
			}
		}
		c.outputs(t, func(f *ir.Func, got []byte) { wantWords(t, f, words(got), pack(levels, bits, a.Out)) })
	})
}

// TestConvSlice: a layer that writes its part of a wider output leaves the rest alone.
func TestConvSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawBinary(t)
		off, after := between(t, 0, 3, "offset"), between(t, 0, 3, "after")
		var all [][]uint32
		c.outputs(t, func(_ *ir.Func, y []byte) { all = append(all, words(y)) })
		c.laidOut(t, ops.Slice{Offset: off, Total: off + c.a.Out + after}, func(part *ir.Func, inputs []any) {
			got := words(run(t, part, inputs...))
			want := words(difftest.RandomArgs(part, 1)[len(inputs)])
			for i, v := range all[0] {
				want[i/c.a.Out*(off+c.a.Out+after)+off+i%c.a.Out] = v
			}
			wantWords(t, part, got, want)
		})
	})
}

// TestWorstCase: all bits differ, or all are equal, in the largest layer that fits the tests.
func TestWorstCase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &binaryConv{geometry: geometry{b: 1, h: 5, w: 5, kh: 5, kw: 5, sh: 1, sw: 1, oh: 1, ow: 1}, enc: ir.Bipolar}
		const in = 100
		c.a, c.bits = &graph.FusedConv{KH: 5, KW: 5, SH: 1, SW: 1, In: in, Out: 1, W: graph.Integers{Min: -1, Max: 1, Step: 2}}, between(t, 1, 8, "planes")
		x := c.input()
		c.a.X, c.a.Ints = graph.IntegersOf(x.LevelType), graph.IntNumbers(25*in, func(int) int { return -1 })
		equal := rapid.Bool().Draw(t, "equal")
		c.x = make([]int, 25*in)
		sum := 25 * in * (1<<c.bits - 1)
		want := float32(sum)
		if !equal {
			for i := range c.x {
				c.x[i] = 1<<c.bits - 1
			}
			want = -want
		}
		c.outputs(t, func(f *ir.Func, got []byte) { wantFloats(t, f, floats(got), []float32{want}) })
	})
}

// readsColumns reports whether the words of c are made of words of columns.
func readsColumns(c *layout.Conv) bool {
	k, ok := c.Accumulation.(*layout.Counts)
	return ok && k.Counted.Columns(c.FusedConv)
}
