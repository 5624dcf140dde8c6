package ops

import (
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower/layout"
)

// IntMap maps each level of x as a says, and stores levels in the form to. It takes a's formula,
// which vectors compute, or a table if there is none. Parameters: x, the table if there is one, y.
func IntMap(a *graph.IntMapAttrs, x layout.Tensor, to layout.Form, slice Slice) (f *ir.Func, consts []Const) {
	s := Spatial(x.Shape)
	dst := layout.Tensor{Value: graph.Value{LevelType: a.LevelType}, Form: to}
	f = &ir.Func{Name: fmt.Sprintf("int_map_%dx%dx%d", s[1], s[2], s[3])}
	if x.Form.Bytewise() && to.Bytewise() && slice.Total == 0 {
		n := rows(s)
		s = []int{s[0], s[1], s[2] / n, n * s[3]}
	}
	src := tensorBuffer("x", x, s)
	f.Params = append(f.Params, inParam(src))
	steps, q, ok := a.Formula(x.LevelType, 1)
	level := func(i []ir.Expr, c ir.Expr) ir.Expr {
		v := ir.CastTo(ir.F32, integer(levelAt(x, src, i, c), x.LevelType))
		for _, s := range steps {
			v = s.Expr(v, func() ir.Expr { return ir.Float(s.A[0]) })
		}
		return q.Expr(v)
	}
	store := func(i []ir.Expr, c ir.Expr) ir.Expr { return byteOf(level(i, c), dst.StoredType()) }
	if !ok {
		entries := buf("table", ir.U8, x.Top()+1)
		table := make([]uint8, len(a.Table))
		level = func(i []ir.Expr, c ir.Expr) ir.Expr {
			return ir.CastTo(ir.I32, ir.At(entries, ir.CastTo(ir.I64, levelAt(x, src, i, c))))
		}
		from, made := 0, 0
		if x.Form.Bytewise() && to.Bytewise() { // the table maps stored bytes, not levels
			entries.Type, from, made = byteType(dst.StoredType()), signBit(x), signBit(dst)
			store = func(i []ir.Expr, c ir.Expr) ir.Expr {
				return ir.At(entries, ir.CastTo(ir.I64, ir.CastTo(ir.U8, ir.At(src, append(slices.Clone(i), c)...))))
			}
		}
		for l, y := range a.Table {
			table[l^from] = uint8(y ^ made)
		}
		f.Params, f.Name = append(f.Params, inParam(entries)), f.Name+"_table"
		consts = []Const{{"table", constantData(table)}}
	}
	res := widenBuffer(tensorBuffer("y", dst, slices.Clone(s)), slice)
	if to.Bytewise() {
		res.Shape[3] = max(s[3], slice.Total)
	}
	f.Params = append(f.Params, outParam(res))
	outer, i := pixels("", s)
	c := ir.V("c")
	if to.Bytewise() {
		f.Body = ir.Nest(append(outer, loop(ir.Channel, "c", s[3])),
			set(res, store(i, c), i[0], i[1], i[2], add(c, ir.Int(slice.Offset))))
		return f, consts
	}
	v := buf("v", ir.I32, s[3])
	pixel := ir.Nest([]ir.Loop{loop(ir.Channel, "c", s[3])}, set(v, level(i, c), c))
	f.Body = packVector(res, slice, a.Bits, v, []ir.Buffer{v}, pixel)
	return f, consts
}

// signBit returns the bits in which a level and its stored byte differ.
func signBit(t layout.Tensor) int {
	if t.StoredType().Signed {
		return signedOffset
	}
	return 0
}
