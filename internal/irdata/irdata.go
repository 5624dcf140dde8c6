// Package irdata makes contents of buffers that Funcs are defined for: for tests, and to measure
// kernels with.
package irdata

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"ripc/ir"
)

// Random makes contents for f's parameters, outputs included; the same for the same seed and
// parameters. Integers are of their whole Range, except in buffers that f shifts by or indexes with
// directly: those stay in range. Encoded buffers have padding bits of zero. Floats are 0 or within
// 2^-60..2^60, mostly near 1.
func Random(f *ir.Func, seed uint64) [][]byte {
	limits := limits(f)
	args := make([][]byte, len(f.Params))
	for i, p := range f.Params {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		args[i] = fill(r, p.Buffer, limits[p.Name])
	}
	return args
}

// fill fills a buffer; limit, if not zero, bounds integers from above, and 0 does from below.
func fill(r *rand.Rand, b ir.Buffer, limit int) []byte {
	size := b.Type.Bytes()
	out := make([]byte, b.Bytes())
	for i := range b.Elems() {
		u := r.Uint64()
		switch {
		case b.Type.IsFloat():
			u = uint64(math.Float32bits(randomFloat(r)))
		case b.Type == ir.Bool:
			u &= 1
		case !b.Range.Any():
			from, to := b.Range.From, b.Range.To
			if limit > 0 {
				from, to = max(from, 0), min(to, int64(limit)-1)
			}
			if n := uint64(to-from) + 1; n != 0 {
				u = uint64(from) + u%n
			}
		case limit > 0:
			if b.Type.Signed() {
				u &= 1<<(b.Type.Bits()-1) - 1
			}
			u %= uint64(limit)
		case b.Enc.Kind != ir.NoEncoding:
			row, width := b.Shape[len(b.Shape)-1], b.Type.Bits()
			if left := b.Enc.Channels - i%row*width; left < width {
				u &= 1<<max(left, 0) - 1
			}
		}
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], u)
		copy(out[i*size:], w[:size])
	}
	return out
}

func randomFloat(r *rand.Rand) float32 {
	exp := r.IntN(8) - 4
	switch r.IntN(16) {
	case 0:
		return 0
	case 1:
		exp = r.IntN(120) - 60
	}
	return float32(math.Ldexp(float64(1<<23+r.IntN(1<<23)), exp-23)) * float32(1-2*r.IntN(2))
}

// limits finds buffers with elements that must stay below a bound for f to be defined: shift
// counts, and elements that are used as an index directly after the load.
func limits(f *ir.Func) map[string]int {
	m, bufs := map[string]int{}, f.Buffers()
	bound := func(e ir.Expr, n int) {
		for {
			c, ok := e.(*ir.Cast)
			if !ok {
				break
			}
			e = c.A
		}
		if l, ok := e.(*ir.Load); ok && n > 0 && (m[l.Buf] == 0 || n < m[l.Buf]) {
			m[l.Buf] = n
		}
	}
	indices := func(buf string, idx []ir.Expr) {
		for d, e := range idx {
			if shape := bufs[buf].Shape; d < len(shape) {
				bound(e, shape[d])
			}
		}
	}
	for s := range ir.Stmts(f.Body) {
		if st, ok := s.(*ir.Store); ok {
			indices(st.Buf, st.Idx)
		}
	}
	for e := range ir.Nodes(f.Body) {
		switch e := e.(type) {
		case *ir.Load:
			indices(e.Buf, e.Idx)
		case *ir.Binary:
			if e.Op == ir.Shl || e.Op == ir.Shr {
				bound(e.B, e.B.Type().Bits())
			}
		}
	}
	return m
}

// FillConstants gives the constants of p random contents for which the Funcs that read them are
// defined. It returns the names of those that a stage reads.
func FillConstants(p *ir.Program, seed uint64) (names []string, err error) {
	for i, s := range p.Stages {
		f := p.FuncByName(s.Func)
		if f == nil || len(f.Params) != len(s.Args) {
			return nil, &ir.Error{Node: fmt.Sprintf("stage %q", s.Name),
				Msg: fmt.Sprintf("it does not fit func @%s", s.Func)}
		}
		random := Random(f, seed+uint64(i))
		for k, a := range s.Args {
			b := p.BufferByName(a)
			if b.Kind == ir.ConstBuf && b.Data == nil && b.Bytes() == len(random[k]) {
				b.Data = random[k]
				names = append(names, b.Name)
			}
		}
	}
	for i := range p.Buffers { // constants that no stage reads
		if b := &p.Buffers[i]; b.Kind == ir.ConstBuf && b.Data == nil {
			b.Data = make([]byte, b.Bytes())
		}
	}
	return names, nil
}
