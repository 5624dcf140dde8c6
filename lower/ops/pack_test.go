package ops_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/f32"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
)

// TestPacking: levels to bits and back, by each of the ops that do so.
func TestPacking(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, pixels := drawShape(t)
		bits, enc := between(t, 1, 8, "bits"), encoding(t)
		levels := drawLevels(t, pixels*s[3], bits, "levels")
		r := random(t, "junk")
		dirty, bytes := make([]uint8, len(levels)), make([]uint8, len(levels))
		scale := rapid.SampledFrom([]float64{1, 1.0 / 3, 0.1}).Draw(t, "scale")
		offset := rapid.SampledFrom([]float64{0, -0.3, 1.0 / 7}).Draw(t, "offset")
		var reals []float32
		for i, v := range levels {
			bytes[i], dirty[i] = uint8(v), uint8(v)|uint8(r.IntN(256)<<bits)
			if enc == ir.Bipolar {
				v = 2*v - (1<<bits - 1)
			}
			reals = append(reals, f32.Add(f32.Mul(float32(v), float32(scale)), float32(offset)))
		}
		packed := pack(levels, bits, s[3])
		f := ops.PackLevels(scalar.LevelType{Bits: bits, Enc: enc}, s, ops.Slice{})
		wantWords(t, f, words(run(t, f, dirty)), packed)
		f = ops.Unpack(scalar.LevelType{Bits: bits, Enc: enc}, s)
		if got := run(t, f, packed); !slices.Equal(got, bytes) {
			t.Fatalf("got %v, want %v\n%s", got, bytes, f)
		}
		f = ops.Dequantize(scalar.LevelType{Enc: enc, Bits: bits, Scale: scale, Offset: offset}, s)
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
			part := []int{s[0], s[1], s[2], c}
			from := layout.Tensor{Value: graph.Value{Shape: part}}
			if bits > 0 {
				from = planes(part, bits, enc)
			}
			f = ops.Concat(from, ops.Slice{Offset: off, Total: total})
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
