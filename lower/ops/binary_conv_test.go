package ops_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/difftest"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/lower/ops"
)

// binaryConv is a bconv2d with its operands as levels: x [pixels, in], wt [kh, kw, in, out] of 0 and 1.
type binaryConv struct {
	geometry
	a   *graph.FusedConv
	enc ir.EncodingKind
	x   []int
	wt  []int
}

func drawBinary(t *rapid.T) *binaryConv {
	c := &binaryConv{geometry: drawGeometry(t), enc: encoding(t)}
	a := &graph.FusedConv{KH: c.kh, KW: c.kw, SH: c.sh, SW: c.sw, Pad: c.pad, In: channels(t, "in"), Out: channels(t, "out"),
		Planes: between(t, 1, 3, "planes"), PadOnes: c.enc == ir.Bipolar, DotMul: 1}
	c.a = a
	c.x = drawLevels(t, c.b*c.h*c.w*a.In, a.Planes, "x")
	c.wt = drawLevels(t, c.kh*c.kw*a.In*a.Out, 1, "weights")
	row := (a.In + 31) / 32
	a.WBits, a.DotBase = make([]uint32, c.kh*c.kw*row*a.Out), make([]int32, a.Out)
	m := int32(1)<<a.Planes - 1
	for i, bit := range c.wt {
		o, ch, k := i%a.Out, i/a.Out%a.In, i/a.Out/a.In
		a.WBits[(k*row+ch/32)*a.Out+o] |= uint32(bit) << (ch % 32)
		if c.enc == ir.Bipolar {
			a.DotBase[o] += m
		} else {
			a.DotBase[o] += m * int32(bit)
		}
	}
	if c.enc == ir.Bipolar {
		a.DotMul = 2
	}
	return c
}

// value is the integer of a level.
func (c *binaryConv) value(level int) int {
	if c.enc == ir.Unipolar {
		return level
	}
	return 2*level - (1<<c.a.Planes - 1)
}

// dots are the convolution's sums [pixels, out], by the definition: integers times +-1.
func (c *binaryConv) dots() []int {
	in, out := c.a.In, c.a.Out
	sums := make([]int, c.b*c.oh*c.ow*out)
	c.each(func(p, k, x int) {
		for ch := range in {
			v := 0 // what pads: 0, or +1 of a bipolar tensor
			if x >= 0 {
				v = c.value(c.x[x*in+ch])
			} else if c.enc == ir.Bipolar {
				v = c.value(1<<c.a.Planes - 1)
			}
			for o := range out {
				sums[p*out+o] += v * (2*c.wt[(k*in+ch)*out+o] - 1)
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

func (c *binaryConv) run(t *rapid.T) (*ir.Func, []byte) {
	f := ops.Conv("bconv2d", c.a, c.enc, c.b, c.h, c.w, ops.Slice{})
	inputs := append([]any{pack(c.x, c.a.Planes, c.a.In)}, ops.ConvConsts("bconv2d", c.a)...)
	return f, run(t, f, inputs...)
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
		f, got := c.run(t)
		wantFloats(t, f, floats(got), want)
	})
}

func TestBinaryConvThresholds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawBinary(t)
		c.drawPool(t)
		a, bits := c.a, between(t, 1, 3, "bits")
		maxP := (1<<a.Planes - 1) * a.KH * a.KW * a.In
		a.Epilogue = graph.Epilogue{OutBits: bits, OutEnc: encoding(t), Thresholds: make([][]int32, 1<<bits-1)}
		limits := rapid.SliceOfN(rapid.IntRange(-1, maxP), len(a.Epilogue.Thresholds), len(a.Epilogue.Thresholds)).Draw(t, "thresholds")
		for j := range a.Epilogue.Thresholds {
			top := maxP
			if j > 0 { // the channels of even number have the same limits, the others one less
				top = int(a.Epilogue.Thresholds[j-1][0])
			}
			for o := range a.Out {
				a.Epilogue.Thresholds[j] = append(a.Epilogue.Thresholds[j], int32(min(limits[j], top)-o%2))
			}
		}
		var levels []int
		for i, d := range c.pooled(c.dots()) {
			o, level := i%a.Out, 0
			for j := range a.Epilogue.Thresholds {
				if p := (int(a.DotBase[o]) - d) / int(a.DotMul); p <= int(a.Epilogue.Thresholds[j][o]) {
					level = j + 1
				}
			}
			levels = append(levels, level)
		}
		f, got := c.run(t)
		wantWords(t, f, words(got), pack(levels, bits, a.Out))
	})
}

func TestBinaryConvShift(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawBinary(t)
		c.drawPool(t)
		a, bits, r := c.a, between(t, 1, 8, "bits"), random(t, "shifts")
		s := &graph.ShiftAdd{}
		left := rapid.Bool().Draw(t, "left")
		for range a.Out {
			s.Add, s.Right = append(s.Add, int32(r.IntN(200)-100)), append(s.Right, int32(r.IntN(7)))
			if left {
				s.Left = append(s.Left, int32(r.IntN(4)))
			}
		}
		a.Epilogue = graph.Epilogue{OutBits: bits, OutEnc: ir.Unipolar, Shift: s}
		var levels []int
		for i, d := range c.pooled(c.dots()) {
			v := float64(d) + float64(s.Add[i%a.Out])
			if left {
				v *= math.Exp2(float64(s.Left[i%a.Out]))
			}
			v = math.Floor(v / math.Exp2(float64(s.Right[i%a.Out])))
			levels = append(levels, int(max(0, min(v, float64(int(1)<<bits-1)))))
		}
		f, got := c.run(t)
		wantWords(t, f, words(got), pack(levels, bits, a.Out))
	})
}

// TestConvSlice: a layer that writes its part of a wider output leaves the rest alone.
func TestConvSlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawBinary(t)
		whole := ops.Conv("bconv2d", c.a, c.enc, c.b, c.h, c.w, ops.Slice{})
		off, after := between(t, 0, 3, "offset"), between(t, 0, 3, "after")
		part := ops.Conv("bconv2d", c.a, c.enc, c.b, c.h, c.w, ops.Slice{Offset: off, Total: off + c.a.Out + after})
		inputs := append([]any{pack(c.x, c.a.Planes, c.a.In)}, ops.ConvConsts("bconv2d", c.a)...)
		all, got := words(run(t, whole, inputs...)), words(run(t, part, inputs...))
		want := words(difftest.RandomArgs(part, 1)[len(inputs)])
		for i, v := range all {
			want[i/c.a.Out*(off+c.a.Out+after)+off+i%c.a.Out] = v
		}
		wantWords(t, part, got, want)
	})
}

// TestWorstCase: all bits differ, or all are equal, in the largest layer that fits the tests.
func TestWorstCase(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := &binaryConv{geometry: geometry{b: 1, h: 5, w: 5, kh: 5, kw: 5, sh: 1, sw: 1, oh: 1, ow: 1}, enc: ir.Bipolar}
		const in = 100
		c.a = &graph.FusedConv{KH: 5, KW: 5, SH: 1, SW: 1, In: in, Out: 1, Planes: between(t, 1, 8, "planes"), WBits: make([]uint32, 25*4), DotBase: []int32{0}, DotMul: 1}
		equal := rapid.Bool().Draw(t, "equal")
		c.x = make([]int, 25*in)
		want := float32(0)
		if !equal {
			for i := range c.x {
				c.x[i] = 1<<c.a.Planes - 1
			}
			sum := 25 * in * (1<<c.a.Planes - 1)
			want = -float32(sum)
		}
		f, got := c.run(t)
		wantFloats(t, f, floats(got), []float32{want})
	})
}
