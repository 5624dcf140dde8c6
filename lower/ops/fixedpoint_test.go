package ops

import (
	"encoding/binary"
	"math"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/ir"
	"ripc/ir/interp"
)

// TestFixedFactor: what expressions make of products and shifts is what graph.FixedPoint says, at
// halves and at the largest numbers too, where all factors of a layer shift to the right and where
// some do not; of results that nobody tells from 0 below it, the rest is, rounded twice or once.
func TestFixedFactor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const numbers = 64
		var factors []graph.FixedPoint
		least := rapid.SampledFrom([]int{-31, -8, -1}).Draw(t, "least")
		most := rapid.SampledFrom([]int{-1, 0, 2}).Draw(t, "most")
		for range rapid.IntRange(1, 4).Draw(t, "channels") {
			m := rapid.OneOf(rapid.SampledFrom([]int32{1 << 30, math.MaxInt32, 1<<30 + 1}), rapid.Int32Range(1<<30, math.MaxInt32)).Draw(t, "multiplier")
			factors = append(factors, graph.FixedPoint{Multiplier: m, Shift: rapid.IntRange(least, most).Draw(t, "shift")})
		}
		if rapid.Bool().Draw(t, "zero") {
			factors[0] = graph.FixedPoint{}
		}
		n := len(factors)
		x, y := buf("x", ir.I32, numbers, n), buf("y", ir.I32, numbers, n)
		f := &ir.Func{Name: "f", Params: []ir.Param{inParam(x)}}
		args := [][]byte{make([]byte, 4*numbers*n)}
		for i := range numbers * n {
			by := factors[i%n]
			v := rapid.OneOf(rapid.Int32(), rapid.Int32Range(-300, 300), rapid.SampledFrom([]int32{math.MaxInt32, -math.MaxInt32})).Draw(t, "v") >> max(0, by.Shift)
			binary.LittleEndian.PutUint32(args[0][4*i:], uint32(v))
		}
		at := func(name string, of func(graph.FixedPoint) int32) ir.Expr {
			b := buf(name, ir.I32, n)
			f.Params = append(f.Params, inParam(b))
			var data []byte
			for _, by := range factors {
				data = binary.LittleEndian.AppendUint32(data, uint32(of(by)))
			}
			args = append(args, data)
			return ir.At(b, ir.V("c"))
		}
		i, c := ir.V("i"), ir.V("c")
		by := fixedFactor(at, factors...)
		by.cut = rapid.Bool().Draw(t, "cut")
		f.Params = append(f.Params, outParam(y))
		body := ir.Seq(set(y, by.high(ir.At(x, i, c)), i, c), set(y, by.shifted(ir.At(y, i, c)), i, c))
		if v := by.once(ir.At(x, i, c)); v != nil && rapid.Bool().Draw(t, "once") {
			body = set(y, v, i, c)
		}
		f.Body = ir.Nest(loops("", loop(ir.Row, "i", numbers), loop(ir.Channel, "c", n)), body)
		result := make([]byte, 4*numbers*n)
		p, err := interp.CompileChecked(f)
		if err != nil {
			t.Fatalf("%v\n%s", err, f)
		}
		if err := p.Run(t.Context(), append(args, result)); err != nil {
			t.Fatal(err)
		}
		for i := range numbers * n {
			v, got := int32(binary.LittleEndian.Uint32(args[0][4*i:])), int32(binary.LittleEndian.Uint32(result[4*i:]))
			want := factors[i%n].Times(int64(v))
			if by.cut {
				want, got = max(0, want), max(0, got)
			}
			if int64(got) != want {
				t.Fatalf("%d times %+v is %d, want %d\n%s", v, factors[i%n], got, want, f)
			}
		}
	})
}
