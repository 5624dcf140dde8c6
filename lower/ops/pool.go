package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/ir"
	"ripc/lower/layout"
)

// poolGeom is the geometry of a pooling op over [batch, h, w, c].
type poolGeom struct {
	a      *graph.PoolAttrs
	shape  []int // logical input
	oh, ow int
}

func newPool(a *graph.PoolAttrs, shape []int) poolGeom {
	return poolGeom{a: a, shape: shape,
		oh: (shape[1]+a.Pad.Top+a.Pad.Bottom-a.Kernel[0])/a.Strides[0] + 1,
		ow: (shape[2]+a.Pad.Left+a.Pad.Right-a.Kernel[1])/a.Strides[1] + 1}
}

func (p poolGeom) name(op string) string {
	return fmt.Sprintf("%s_%dx%ds%d_%dx%dx%d", op, p.a.Kernel[0], p.a.Kernel[1], p.a.Strides[0], p.shape[1], p.shape[2],
		p.shape[3])
}

// at returns the input position under window element (i, j) of output (h, w), and the condition
// that it is in the image, or nil.
func (p poolGeom) at(h, w, i, j ir.Expr) (y, x, cond ir.Expr) {
	y, x = add(mul(h, ir.Int(p.a.Strides[0])), i), add(mul(w, ir.Int(p.a.Strides[1])), j)
	hp, wp := p.shape[1]+p.a.Pad.Top+p.a.Pad.Bottom, p.shape[2]+p.a.Pad.Left+p.a.Pad.Right
	cs := append(rangeChecks(y, p.a.Pad.Top, p.shape[1], hp), rangeChecks(x, p.a.Pad.Left, p.shape[2], wp)...)
	y, x = sub(y, ir.Int(p.a.Pad.Top)), sub(x, ir.Int(p.a.Pad.Left))
	if len(cs) > 0 {
		cond = all(cs...)
	}
	return y, x, cond
}

// outputs returns the loops over the pixels of the output, and their variables.
func (p poolGeom) outputs() ([]ir.Loop, []ir.Expr) { return pixels("", []int{p.shape[0], p.oh, p.ow}) }

// window returns the nest of s over the positions of a window.
func (p poolGeom) window(s ir.Stmt) ir.Stmt {
	return ir.Nest(loops("", loop(ir.TapRow, "i", p.a.Kernel[0]), loop(ir.TapCol, "j", p.a.Kernel[1])), s)
}

// channels returns the nest of s over the channels.
func (p poolGeom) channels(name string, s func(c ir.Expr) ir.Stmt) ir.Stmt {
	return ir.Nest(loops("", loop(ir.Channel, name, p.shape[3])), s(ir.V(name)))
}

func orElse(cond, v, other ir.Expr) ir.Expr {
	if cond == nil {
		return v
	}
	return &ir.Select{Cond: cond, A: v, B: other}
}

// MaxPool is the maximum over each window of x: numbers, or levels one a byte, with slice in
// channels, or bit planes as MaxPoolBits has them.
func MaxPool(a *graph.PoolAttrs, x layout.Tensor, vector int, slice Slice) *ir.Func {
	if x.Form == layout.Planes {
		return MaxPoolBits(a, x.Bits, x.Shape, x.Enc, vector, slice)
	}
	p, name, best := newPool(a, x.Shape), "max_pool", ir.MaxTo
	var least ir.Expr = ir.Float(negInf())
	if t, level := x.StoredType(), 0; x.Encoded() {
		if t.Enc == ir.BipolarInv { // the largest value has the smallest level
			level, best = t.Top(), ir.MinTo
		}
		name, least = fmt.Sprintf("maxpool_a%d_%s", x.Bits, x.Element()), byteOf(ir.Const(ir.I32, int64(level)), t)
	}
	y := tensorBuffer("y", x, []int{x.Shape[0], p.oh, p.ow, max(x.Shape[3], slice.Total)})
	f := p.maximum(tensorBuffer("x", x, x.Shape), y, best, least, slice.Offset)
	f.Name = p.name(name)
	return f
}

// maximum returns the Func of the best number of each window of x. Its channels start at offset in
// y; positions outside the image count as least.
func (p poolGeom) maximum(x, y ir.Buffer, best ir.StoreOp, least ir.Expr, offset int) *ir.Func {
	acc := buf("m", x.Type, p.shape[3])
	outer, i := p.outputs()
	iy, ix, cond := p.at(i[1], i[2], ir.V("i"), ir.V("j"))
	first := p.channels("c0", func(c ir.Expr) ir.Stmt { return set(acc, least, c) })
	step := p.channels("c", func(c ir.Expr) ir.Stmt {
		return update(best, acc, orElse(cond, ir.At(x, i[0], iy, ix, c), least), c)
	})
	last := p.channels("c1", func(c ir.Expr) ir.Stmt {
		return set(y, ir.At(acc, c), i[0], i[1], i[2], add(c, ir.Int(offset)))
	})
	return &ir.Func{Params: []ir.Param{inParam(x), outParam(y)},
		Body: ir.Nest(outer, allocs([]ir.Buffer{acc}, ir.Seq(first, p.window(step), last)))}
}

// AvgPool is avg_pool on f32; slice is in channels. The mean divides by the number of positions
// inside the image.
func AvgPool(a *graph.PoolAttrs, shape []int, slice Slice) *ir.Func {
	p := newPool(a, shape)
	x := buf("x", ir.F32, shape...)
	y := buf("y", ir.F32, shape[0], p.oh, p.ow, max(shape[3], slice.Total))
	mean := p.mean(func(i []ir.Expr, c ir.Expr) ir.Expr {
		return ir.At(x, append(i, c)...)
	}, func(i []ir.Expr, mean func(c ir.Expr) ir.Expr) ir.Stmt {
		return p.channels("c1", func(c ir.Expr) ir.Stmt {
			return set(y, mean(c), i[0], i[1], i[2], add(c, ir.Int(slice.Offset)))
		})
	})
	return unary(p.name("avg_pool"), x, y, mean)
}

// mean returns the nest of the means of windows. element returns channel c at a position of the
// input; store stores the means of all channels at a position of the output.
func (p poolGeom) mean(element func(i []ir.Expr, c ir.Expr) ir.Expr,
	store func(i []ir.Expr, mean func(c ir.Expr) ir.Expr) ir.Stmt) ir.Stmt {
	acc, cnt := buf("m", ir.F32, p.shape[3]), buf("cnt", ir.F32)
	outer, i := p.outputs()
	iy, ix, cond := p.at(i[1], i[2], ir.V("i"), ir.V("j"))
	one := update(ir.AddTo, cnt, orElse(cond, ir.Float(1), ir.Float(0)))
	first := p.channels("c0", func(c ir.Expr) ir.Stmt { return set(acc, ir.Float(0), c) })
	step := p.channels("c", func(c ir.Expr) ir.Stmt {
		return update(ir.AddTo, acc, orElse(cond, element([]ir.Expr{i[0], iy, ix}, c), ir.Float(0)), c)
	})
	last := store(i, func(c ir.Expr) ir.Expr { return ir.Bin(ir.Div, ir.At(acc, c), ir.At(cnt)) })
	return ir.Nest(outer, allocs([]ir.Buffer{acc, cnt},
		ir.Seq(first, set(cnt, ir.Float(0)), p.window(ir.Seq(one, step)), last)))
}

// IntPool averages windows of levels x into levels in the form to; slice is in channels, of bytes.
func IntPool(a *graph.IntPoolAttrs, x layout.Tensor, to layout.Form, slice Slice) *ir.Func {
	p, dst := newPool(&a.PoolAttrs, x.Shape), layout.Tensor{Value: graph.Value{LevelType: a.LevelType}, Form: to}
	shape := []int{p.shape[0], p.oh, p.ow, p.shape[3]}
	src, y := tensorBuffer("x", x, x.Shape), tensorBuffer("y", dst, shape)
	if to.Bytewise() {
		y.Shape[3] = max(shape[3], slice.Total)
	}
	element := func(i []ir.Expr, c ir.Expr) ir.Expr {
		return x.FloatExpr(ir.CastTo(ir.F32, integer(levelAt(x, src, i, c), x.LevelType)))
	}
	store := func(i []ir.Expr, mean func(c ir.Expr) ir.Expr) ir.Stmt {
		level := func(c ir.Expr) ir.Expr { return a.Quantizer().Expr(mean(c)) }
		if to.Bytewise() {
			return p.channels("c1", func(c ir.Expr) ir.Stmt {
				return set(y, byteOf(level(c), dst.StoredType()), i[0], i[1], i[2], add(c, ir.Int(slice.Offset)))
			})
		}
		v := buf("v", ir.I32, shape[3])
		words := packWords(y, Slice{}, shape[3], nil, i, func(o ir.Expr) []ir.Expr {
			return bitsOf(ir.At(v, o), a.Bits)
		})
		return allocs([]ir.Buffer{v}, ir.Seq(p.channels("c1", func(c ir.Expr) ir.Stmt {
			return set(v, level(c), c)
		}), words))
	}
	return unary(p.name("int_avg_pool"), src, y, p.mean(element, store))
}

// GlobalAvgPool is the mean over height and width, summed row by row.
func GlobalAvgPool(shape []int) *ir.Func {
	x, y := buf("x", ir.F32, shape...), buf("y", ir.F32, shape[0], shape[3])
	acc := buf("m", ir.F32, shape[3])
	b := ir.V("b")
	sum := ir.Nest(loops("", loop(ir.TapRow, "row", shape[1]), loop(ir.TapCol, "col", shape[2]),
		loop(ir.Channel, "c", shape[3])),
		update(ir.AddTo, acc, ir.At(x, b, ir.V("row"), ir.V("col"), ir.V("c")), ir.V("c")))
	div := ir.Bin(ir.Div, ir.At(acc, ir.V("c1")), ir.Float(float32(shape[1]*shape[2])))
	body := ir.Nest(loops("", loop(ir.Batch, "b", shape[0])), allocs([]ir.Buffer{acc}, ir.Seq(
		ir.Nest(loops("", loop(ir.Channel, "c0", shape[3])), set(acc, ir.Float(0), ir.V("c0"))), sum,
		ir.Nest(loops("", loop(ir.Channel, "c1", shape[3])), set(y, div, b, ir.V("c1"))))))
	return unary("global_avg_pool_"+imageSize(shape), x, y, body)
}
