package judge

import (
	"encoding/binary"
	"math"

	"ripc/ir"
)

// contents are arguments for f: each element one of the ends of its type, a small number, or any.
func (d *draw) contents(f *ir.Func) [][]byte {
	style := d.IntN(5)
	args := make([][]byte, len(f.Params))
	for i, p := range f.Params {
		size := p.Type.Bytes()
		data := make([]byte, p.Bytes())
		for e := range p.Elems() {
			var w [8]byte
			binary.LittleEndian.PutUint64(w[:], uint64(d.number(p.Type, style)))
			copy(data[e*size:(e+1)*size], w[:])
		}
		args[i] = data
	}
	return args
}

func (d *draw) number(t ir.Type, style int) int64 {
	if style == 4 {
		style = d.IntN(4)
	}
	lo, hi := t.Limits().From, t.Limits().To
	if t == ir.U64 {
		hi = -1 // its bits
	}
	switch style {
	case 0:
		return int64(d.IntN(4))
	case 1:
		return pickOne(d, lo, hi, 0, 1, -1, math.MinInt64, math.MaxInt64)
	case 2:
		return int64(d.count(-3, 9))
	}
	return int64(d.Uint64())
}

// element is element i of data as a number of type t; of u64 it may be above is true, and the
// number is meaningless.
func element(t ir.Type, data []byte, i int) (v int64, above bool) {
	var w [8]byte
	size := t.Bytes()
	copy(w[:], data[i*size:(i+1)*size])
	u := binary.LittleEndian.Uint64(w[:])
	if t.Signed() {
		shift := 64 - 8*size
		return int64(u<<shift) >> shift, false
	}
	return int64(u), u > math.MaxInt64
}
