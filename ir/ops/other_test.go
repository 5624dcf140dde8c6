package ops_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/internal/f32"
	"ripc/ir"
	"ripc/ir/graph"
	"ripc/ir/ops"
)

func random(t *rapid.T, what string) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, what), 0))
}

func drawShape(t *rapid.T) (shape []int, pixels int) {
	s := []int{between(t, 1, 2, "batch"), between(t, 1, 5, "h"), between(t, 1, 5, "w"), channels(t, "c")}
	return s, s[0] * s[1] * s[2]
}

func TestMaxPoolBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, c, planes, enc := drawGeometry(t), channels(t, "c"), between(t, 1, 3, "planes"), encoding(t)
		x, want := drawLevels(t, g.b*g.h*g.w*c, planes, "x"), make([]int, g.b*g.oh*g.ow*c)
		g.each(func(p, _, pixel int) {
			for ch := range c {
				if pixel >= 0 {
					want[p*c+ch] = max(want[p*c+ch], x[pixel*c+ch])
				}
			}
		})
		a := &graph.PoolAttrs{Kernel: [2]int{g.kh, g.kw}, Strides: [2]int{g.sh, g.sw}, Pad: g.pad}
		f := ops.MaxPoolBits(a, planes, []int{g.b, g.h, g.w, c}, enc, ops.Slice{})
		wantWords(t, f, words(run(t, f, pack(x, planes, c))), pack(want, planes, c))
	})
}

func TestPoolFloat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, c, op := drawGeometry(t), channels(t, "c"), rapid.SampledFrom([]string{"max_pool", "avg_pool"}).Draw(t, "op")
		x, n := drawFloats(t, g.b*g.h*g.w*c, "x"), g.b*g.oh*g.ow*c
		want, count := make([]float32, n), make([]float32, n)
		if op == "max_pool" {
			for i := range want {
				want[i] = float32(math.Inf(-1))
			}
		}
		g.each(func(p, _, pixel int) {
			for i := p * c; i < (p+1)*c && pixel >= 0; i++ {
				if v := x[pixel*c+i%c]; op == "max_pool" {
					want[i] = max(want[i], v)
				} else {
					want[i], count[i] = f32.Add(want[i], v), count[i]+1
				}
			}
		})
		for i := range want {
			if op == "avg_pool" {
				want[i] = f32.Div(want[i], count[i]) // a window outside the image gives NaN
			}
		}
		a := &graph.PoolAttrs{Kernel: [2]int{g.kh, g.kw}, Strides: [2]int{g.sh, g.sw}, Pad: g.pad}
		f := ops.PoolFloat(op, a, []int{g.b, g.h, g.w, c})
		got := floats(run(t, f, x))
		for i := range got {
			if got[i] != got[i] && want[i] != want[i] {
				got[i], want[i] = 0, 0
			}
		}
		wantFloats(t, f, got, want)
	})
}

func TestGlobalAvgPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, pixels := drawShape(t)
		x, want := drawFloats(t, pixels*s[3], "x"), make([]float32, s[0]*s[3])
		for i, v := range x {
			o := i/(s[1]*s[2]*s[3])*s[3] + i%s[3]
			want[o] = f32.Add(want[o], v)
		}
		for i := range want {
			want[i] = f32.Div(want[i], float32(s[1]*s[2]))
		}
		f := ops.GlobalAvgPool(s)
		wantFloats(t, f, floats(run(t, f, x)), want)
	})
}

func TestSoftmax(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b, c := between(t, 1, 2, "batch"), rapid.SampledFrom([]int{1, 2, 10, 33, 100}).Draw(t, "c")
		x := drawFloats(t, b*c, "x")
		scale := rapid.SampledFrom([]float32{0, 0.01, 1, 10, 50}).Draw(t, "scale")
		for i := range x {
			x[i] *= scale
		}
		f := ops.Softmax([]int{b, c})
		got := floats(run(t, f, x))
		for row := range b {
			xs, sum := x[row*c:(row+1)*c], 0.0
			top := float64(slices.Max(xs))
			for _, v := range xs {
				sum += math.Exp(float64(v) - top)
			}
			for i, v := range xs {
				// Below e^-87 the kernel gives e^-87; rounding of x - max counts relatively in exp.
				want := math.Exp(max(float64(v)-top, -87)) / sum
				if want < 0x1p-125 && got[row*c+i] == 0 {
					continue // flushed to zero
				}
				if g := float64(got[row*c+i]); math.Abs(g-want) > want*(1e-6+math.Abs(float64(v)-top)*0x1p-24) {
					t.Fatalf("softmax(%v)[%d] = %g, want %g", xs, i, g, want)
				}
			}
		}
	})
}

func TestQuantize(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, pixels := drawShape(t)
		a := &graph.QuantizeAttrs{Bits: between(t, 1, 8, "bits"), Enc: encoding(t), Rounding: rapid.SampledFrom(graph.Roundings()).Draw(t, "rounding")}
		m := float64(int(1)<<a.Bits - 1)
		lo, hi, zp, offset := 0.0, m, float32(0), 0
		if a.Unit = rapid.Bool().Draw(t, "unit"); a.Unit {
			a.Scale = 1 / m
		} else {
			a.Scale = rapid.SampledFrom([]float64{1, 0.125, 1 / m}).Draw(t, "scale")
		}
		if !a.Unit && a.Enc == ir.Unipolar {
			a.Zero = between(t, 0, int(m), "zero")
			lo, hi, offset = -float64(a.Zero), m-float64(a.Zero), a.Zero
			if rapid.Bool().Draw(t, "range") {
				a.Range = &graph.QuantRange{Min: between(t, -300, 300, "min")}
				a.Range.Max = a.Range.Min + between(t, 0, int(m), "extent")
				lo, hi, zp, offset = float64(a.Range.Min), float64(a.Range.Max), float32(a.Zero+a.Range.Min), -a.Range.Min
			}
		}
		x := append(drawFloats(t, pixels*s[3], "x"), edges()...)
		s = []int{len(x) / s[3], 1, 1, s[3]}
		x = x[:s[0]*s[3]]
		r := random(t, "ties")
		for i := range x {
			if r.IntN(2) == 0 { // a tie, or an integer
				x[i] = float32(float64(r.IntN(4*int(m)+9)-2*int(m)-4) / 2 * a.Scale)
			}
		}
		levels := make([]int, len(x))
		for i, v := range x {
			v = f32.Flush(v)
			if a.Unit && v != v {
				v = -1
			}
			u := float64(f32.Div(v, float32(a.Scale)))
			switch {
			case a.Unit && a.Enc == ir.Unipolar:
				u = float64(f32.Mul(min(max(v, 0), 1), float32(m)))
			case a.Unit:
				u = float64(f32.Mul(min(max(v, -1), 1)+1, float32(m))) / 2
			case a.Enc == ir.Unipolar:
				if u = float64(f32.Add(float32(u), zp)); u != u {
					u = lo
				}
				u = min(max(u, lo), hi)
			default:
				if u != u {
					u = -m
				}
				u = float64(float32(min(max(u, -m), m))+float32(m)) / 2
			}
			levels[i] = offset + int(f32.Round(a.Rounding, float32(u)))
		}
		f := ops.Quantize(a, s)
		wantWords(t, f, words(run(t, f, x)), pack(levels, a.Bits, s[3]))
	})
}

// TestPacking: levels to bits and back, by each of the ops that do so.
func TestPacking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, pixels := drawShape(t)
		bits, enc := between(t, 1, 8, "bits"), encoding(t)
		levels := drawLevels(t, pixels*s[3], bits, "levels")
		r := random(t, "junk")
		dirty, bytes := make([]uint8, len(levels)), make([]uint8, len(levels))
		scale := rapid.SampledFrom([]float64{1, 1.0 / 3, 0.1}).Draw(t, "scale")
		var reals []float32
		for i, v := range levels {
			bytes[i], dirty[i] = uint8(v), uint8(v)|uint8(r.IntN(256)<<bits)
			if enc == ir.Bipolar {
				v = 2*v - (1<<bits - 1)
			}
			reals = append(reals, float32(v)*float32(scale))
		}
		packed := pack(levels, bits, s[3])
		f := ops.PackLevels(bits, s, enc)
		wantWords(t, f, words(run(t, f, dirty)), packed)
		f = ops.Unpack(bits, s, enc)
		if got := run(t, f, packed); !slices.Equal(got, bytes) {
			t.Fatalf("got %v, want %v\n%s", got, bytes, f)
		}
		f = ops.Dequantize(bits, scale, s, enc)
		wantFloats(t, f, floats(run(t, f, packed)), reals)

		junk, row := slices.Clone(packed), (s[3]+31)/32
		for i := range junk {
			if last := s[3] % 32; i%row == row-1 && last != 0 {
				junk[i] |= r.Uint32() << last
			}
		}
		f = ops.MaskBits(bits, s, enc)
		wantWords(t, f, words(run(t, f, junk)), packed)
		f = ops.FlattenBits(bits, s, enc)
		wantWords(t, f, words(run(t, f, packed)), pack(levels, bits, s[1]*s[2]*s[3]))
	})
}

func TestConcat(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, pixels := drawShape(t)
		bits, enc := between(t, 0, 3, "bits"), encoding(t)
		cs := rapid.SliceOfN(rapid.SampledFrom([]int{1, 3, 31, 32, 33, 64, 100}), 1, 4).Draw(t, "channels")
		total := 0
		for _, c := range cs {
			total += c
		}
		all, off := make([]int, pixels*total), 0
		var y []byte
		var f *ir.Func
		for _, c := range cs {
			x := drawLevels(t, pixels*c, max(bits, 1), "x")
			for i, v := range x {
				all[i/c*total+off+i%c] = v
			}
			in := any(pack(x, bits, c))
			if bits == 0 {
				fs := make([]float32, len(x))
				for i, v := range x {
					fs[i] = float32(v)
				}
				in = fs
			}
			f = ops.Concat(bits, []int{s[0], s[1], s[2], c}, enc, ops.Slice{Offset: off, Total: total})
			y = runInto(t, f, y, in)
			off += c
		}
		if bits > 0 {
			wantWords(t, f, words(y), pack(all, bits, total))
			return
		}
		for i, v := range floats(y) {
			if v != float32(all[i]) {
				t.Fatalf("element %d is %g, want %d\n%s", i, v, all[i], f)
			}
		}
	})
}

func TestEltwise(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := drawRank(t, "shape")
		last := s[len(s)-1]
		x, a, b := drawFloats(t, elems(s), "x"), drawFloats(t, last, "a"), drawFloats(t, last, "b")
		copy(x, edges())
		want := make([]float32, len(x))
		st := graph.FloatStep{Kind: rapid.SampledFrom([]string{"mul", "div", "add", "fma", "relu", "clip", "sign", "prelu"}).Draw(t, "kind"), Lo: -0.5, Hi: 0.75}
		in := []any{x, a}
		for i, v := range x {
			c := i % last
			switch v = f32.Flush(v); st.Kind {
			case "mul":
				want[i] = f32.Mul(v, a[c])
			case "div":
				want[i] = f32.Div(v, a[c])
			case "add":
				want[i] = f32.Add(v, a[c])
			case "fma":
				want[i], in = f32.Fma(v, a[c], b[c]), []any{x, a, b}
			case "relu":
				want[i], in = f32.Max(v, 0), []any{x}
			case "clip":
				want[i], in = f32.Min(f32.Max(v, -0.5), 0.75), []any{x}
			case "sign":
				in = []any{x}
				if v > 0 {
					want[i] = 1
				} else if v < 0 {
					want[i] = -1
				}
			case "prelu":
				want[i] = f32.Fma(f32.Min(v, 0), a[c], f32.Max(v, 0))
			}
		}
		f := ops.Eltwise([]graph.FloatStep{st}, s)
		got := floats(run(t, f, in...))
		for i := range got {
			if got[i] != got[i] && want[i] != want[i] {
				got[i], want[i] = 0, 0
			}
		}
		wantFloats(t, f, got, want)
	})
}

func TestThreshold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, bits := drawRank(t, "shape"), between(t, 1, 8, "bits")
		a := &graph.ThresholdAttrs{Bits: bits, Enc: rapid.SampledFrom([]ir.EncodingKind{ir.Unipolar, ir.Bipolar, ir.BipolarInv}).Draw(t, "encoding"), NotLess: rapid.Bool().Draw(t, "not less")}
		count, row := between(t, 1, 1<<bits-1, "count"), s[len(s)-1]
		if rapid.Bool().Draw(t, "all") {
			count = 1<<bits - 1
		}
		if rapid.Bool().Draw(t, "shared") {
			row = 1
		}
		rows, r := make([]float32, count*row), random(t, "thresholds")
		for o := range row {
			var col []float32
			for range count {
				col = append(col, append(edges()[:20], float32(r.NormFloat64()), float32(math.Inf(1)), float32(math.Inf(-1)))[r.IntN(23)])
			}
			slices.Sort(col)
			for j, v := range col {
				rows[j*row+o] = v
			}
		}
		x := drawFloats(t, elems(s), "x")
		for i := range x {
			if r.IntN(2) == 0 {
				x[i] = append(edges(), rows...)[r.IntN(len(edges())+len(rows))]
			}
		}
		levels := make([]int, len(x))
		for i, v := range x {
			for j := range count {
				v, t := f32.Flush(v), f32.Flush(rows[j*row+i%s[len(s)-1]%row])
				if v >= t || a.NotLess && v != v {
					levels[i]++
				}
			}
			if a.Enc == ir.BipolarInv {
				levels[i] = 1<<bits - 1 - levels[i]
			}
		}
		f := ops.Threshold(a, count, row, s)
		wantWords(t, f, words(run(t, f, x, rows)), pack(levels, bits, s[len(s)-1]))
	})
}

// TestWords: the caller's int32 words, whose bits beyond the channels count for nothing.
func TestWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, enc := drawRank(t, "shape"), encoding(t)
		c := s[len(s)-1]
		bits, r := pack(drawLevels(t, elems(s), 1, "levels"), 1, c), random(t, "junk")
		junk, row := slices.Clone(bits), (c+31)/32
		for i := range junk {
			if rest := c % 32; i%row == row-1 && rest != 0 {
				junk[i] |= r.Uint32() << rest
			}
		}
		f := ops.PackWords(s, enc)
		wantWords(t, f, words(run(t, f, junk)), bits)
		f = ops.UnpackWords(s, enc)
		wantWords(t, f, words(run(t, f, bits)), bits)
	})
}
