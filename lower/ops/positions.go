package ops

import (
	"fmt"

	"ripc/graph"
	"ripc/internal/lists"
	"ripc/ir"
	"ripc/lower/layout"
)

// Gather copies the rows and columns of image x, [B, H, W, C], that a names. Parameters: x, tables
// of positions, y.
func Gather(a *graph.GatherAttrs, x layout.Tensor) (*ir.Func, []Const) {
	s := x.Shape
	y, p := positionsFunc("gather", x, len(a.Rows), len(a.Columns))
	h, w := p.index("rows", a.Rows, p.i[p.lead+1], s[1]), p.index("columns", a.Columns, p.i[p.lead+2], s[2])
	return p.build(y, ir.At(p.x, p.at(h, w)...)), p.consts
}

// Interpolate gives image x, f32 [B, H, W, C], at positions between its rows and columns.
// Parameters: x, tables of positions and of shares, y.
func Interpolate(a *graph.InterpolateAttrs, x layout.Tensor) (*ir.Func, []Const) {
	s := x.Shape
	y, p := positionsFunc("interpolate", x, len(a.Rows), len(a.Columns))
	rows, columns := p.axis("rows", a.Rows, p.i[1], s[1]), p.axis("columns", a.Columns, p.i[2], s[2])
	value := columns.value(func(w ir.Expr) ir.Expr {
		return rows.value(func(h ir.Expr) ir.Expr { return ir.At(p.x, p.at(h, w)...) })
	})
	return p.build(y, value), p.consts
}

// positions makes a Func that reads an image at positions from tables.
type positions struct {
	name   string
	x      ir.Buffer
	ls     []ir.Loop
	i      []ir.Expr // loop variables
	lead   int       // 1 with a plane axis
	params []ir.Param
	consts []Const
}

// positionsFunc begins a Func of x with the given rows and columns in its result y; 0 keeps those
// of x.
func positionsFunc(name string, x layout.Tensor, rows, columns int) (y ir.Buffer, p *positions) {
	to := []int{x.Shape[0], x.Shape[1], x.Shape[2], x.Shape[3]}
	if rows > 0 {
		to[1] = rows
	}
	if columns > 0 {
		to[2] = columns
	}
	y = tensorBuffer("y", x, to)
	p = &positions{x: tensorBuffer("x", x, x.Shape), ls: overAll(y.Shape), lead: len(y.Shape) - 4}
	p.name = fmt.Sprintf("%s_%d_%dx%dx%d_%dx%d", name, x.Bits, x.Shape[1], x.Shape[2], x.Shape[3], to[1], to[2])
	p.i, p.params = vars(p.ls), []ir.Param{inParam(p.x)}
	return y, p
}

// at returns the index of the result's element in row h and column w of x.
func (p *positions) at(h, w ir.Expr) []ir.Expr {
	at := append([]ir.Expr(nil), p.i...)
	at[p.lead+1], at[p.lead+2] = h, w
	return at
}

// table adds a constant.
func (p *positions) table(name string, t ir.Type, n int, data any) ir.Buffer {
	b := buf(name, t, n)
	p.params, p.consts = append(p.params, inParam(b)), append(p.consts, Const{name, constantData(data)})
	return b
}

// index returns entry i of a table of positions along an axis of n, or i without a table.
func (p *positions) index(name string, at []int, i ir.Expr, n int) ir.Expr {
	if len(at) == 0 {
		return i
	}
	data := lists.Map(at, func(v int) int32 { return int32(v) })
	entry := ir.CastTo(ir.I64, ir.At(p.table(name, ir.I32, len(at), data), i))
	// the table says so, but the address must be provable
	return ir.Bin(ir.Max, ir.Bin(ir.Min, entry, ir.Int(n-1)), ir.Int(0))
}

// between is a position between two neighbours along an axis.
type between struct{ low, high, share ir.Expr } // high is nil for an axis that stays as it is

// axis returns entry i of a table of positions between those of an axis of n.
func (p *positions) axis(name string, at []float32, i ir.Expr, n int) between {
	if len(at) == 0 {
		return between{low: i}
	}
	low, high, share := make([]int, len(at)), make([]int, len(at)), make([]float32, len(at))
	for k, v := range at {
		low[k], high[k], share[k] = graph.AdjacentPositions(v, n)
	}
	return between{p.index(name, low, i, n), p.index(name+"_high", high, i, n),
		ir.At(p.table(name+"_share", ir.F32, len(at), share), i)}
}

// value interpolates between the values that read returns.
func (b between) value(read func(i ir.Expr) ir.Expr) ir.Expr {
	if b.high == nil {
		return read(b.low)
	}
	return &ir.Fma{A: read(b.high), B: b.share, C: mul(read(b.low), sub(ir.Float(1), b.share))}
}

func (p *positions) build(y ir.Buffer, v ir.Expr) *ir.Func {
	return &ir.Func{Name: p.name, Params: append(p.params, outParam(y)), Body: ir.Nest(p.ls, set(y, v, p.i...))}
}
