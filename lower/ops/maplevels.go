package ops

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
)

// mappedBits is the largest number of bits of levels that are mapped in words. A plane of the
// result takes a selection for each level but one, for 32 channels at once. With 4 bits that is
// half a selection for each channel; separate channels take a dozen operations.
const mappedBits = 4

// Mapped reports whether adding to levels x and shifting them is a look-up in words.
func Mapped(x *graph.Value) bool { return x.Encoded() && x.Bits <= mappedBits }

// mapLevels maps each level of x to a level of type y: level(o, integer) in channel o. It works in
// words, 32 channels at once. The constant masks marks, for each plane of y and each level of x,
// the channels with bit 1, and the planes of x select among the masks. Bits past the channels are 0
// in all masks. Parameters: x, masks, y.
func mapLevels(name string, x *graph.Value, y scalar.LevelType, level func(o, integer int) int) (*ir.Func, []Const) {
	s := Spatial(x.Shape)
	src, dst := BitBuffer("x", x.Bits, s, x.Enc), BitBuffer("y", y.Bits, s, y.Enc)
	words, levels := dst.Shape[4], 1<<x.Bits
	masks := buf("masks", ir.U32, y.Bits, levels, words)
	data := make([]uint32, y.Bits*levels*words)
	for o := range s[3] {
		for l := range levels {
			to := y.StoredLevel(level(o, x.Integer(l)))
			for n := range y.Bits {
				data[(n*levels+l)*words+o/WordBits] |= uint32(to>>n&1) << (o % WordBits)
			}
		}
	}
	ls, i := pixels("", s, loop(ir.Word, "c", words))
	var body []ir.Stmt
	for n := range y.Bits {
		// choose selects the mask of a level by the bits below plane k; above holds the higher
		// bits.
		var choose func(k, above int) ir.Expr
		choose = func(k, above int) ir.Expr {
			if k < 0 {
				return ir.At(masks, ir.Int(n), ir.Int(above), i[3])
			}
			bit := ir.At(src, slices.Concat([]ir.Expr{ir.Int(k)}, i)...)
			not := ir.Bin(ir.Xor, bit, ir.Const(ir.U32, 0xffffffff))
			return ir.Bin(ir.Or, ir.Bin(ir.And, bit, choose(k-1, 2*above+1)), ir.Bin(ir.And, not, choose(k-1, 2*above)))
		}
		body = append(body, set(dst, choose(x.Bits-1, 0), slices.Concat([]ir.Expr{ir.Int(n)}, i)...))
	}
	f := &ir.Func{Name: fmt.Sprintf("%s_%s%d_of%d_%dx%dx%d", name, y.Enc, y.Bits, x.Bits, s[1], s[2], s[3]),
		Params: []ir.Param{inParam(src), inParam(masks), outParam(dst)}, Body: ir.Nest(ls, ir.Seq(body...))}
	return f, []Const{{"masks", constantData(data)}}
}
