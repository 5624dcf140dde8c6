package interp

import (
	"context"
	"testing"

	"ripc/ir"
)

// xnorConv is a 3x3 convolution of one plane, 16x16 pixels, 32 filters, two words of channels.
func xnorConv() *ir.Func {
	x := ir.Buffer{Name: "x", Type: ir.U32, Shape: []int{1, 1, 18, 18, 2}}
	w := ir.Buffer{Name: "w", Type: ir.U32, Shape: []int{3, 3, 2, 32}}
	acc := ir.Buffer{Name: "acc", Type: ir.I32, Shape: []int{16, 16, 32}}
	h, v, kh, kw, c, o := ir.V("h"), ir.V("w"), ir.V("kh"), ir.V("kw"), ir.V("c"), ir.V("o")
	dot := ir.Bin(ir.Xor, ir.At(x, ir.Int(0), ir.Int(0), ir.Bin(ir.Add, h, kh), ir.Bin(ir.Add, v, kw), c), ir.At(w, kh, kw, c, o))
	body := ir.Nest(loops("h", 16, "w", 16, "kh", 3, "kw", 3, "c", 2, "o", 32),
		&ir.Store{Buf: "acc", Idx: []ir.Expr{h, v, o}, Op: ir.AddTo, Val: ir.CastTo(ir.I32, ir.Un(ir.Popcount, dot))})
	return &ir.Func{Name: "bconv", Params: []ir.Param{{Buffer: x}, {Buffer: w}, {Buffer: acc, Out: true}}, Body: body}
}

// floatConv is a 3x3 convolution of 16x16 pixels with 3 channels to 32.
func floatConv() *ir.Func {
	x := ir.Buffer{Name: "x", Type: ir.F32, Shape: []int{1, 18, 18, 3}}
	w := ir.Buffer{Name: "w", Type: ir.F32, Shape: []int{3, 3, 3, 32}}
	acc := ir.Buffer{Name: "acc", Type: ir.F32, Shape: []int{16, 16, 32}}
	h, v, kh, kw, c, o := ir.V("h"), ir.V("w"), ir.V("kh"), ir.V("kw"), ir.V("c"), ir.V("o")
	sum := &ir.Fma{A: ir.At(x, ir.Int(0), ir.Bin(ir.Add, h, kh), ir.Bin(ir.Add, v, kw), c), B: ir.At(w, kh, kw, c, o), C: ir.At(acc, h, v, o)}
	body := ir.Nest(loops("h", 16, "w", 16, "o", 32, "kh", 3, "kw", 3, "c", 3),
		&ir.Store{Buf: "acc", Idx: []ir.Expr{h, v, o}, Val: sum})
	return &ir.Func{Name: "conv", Params: []ir.Param{{Buffer: x}, {Buffer: w}, {Buffer: acc, Out: true}}, Body: body}
}

// paddedConv is xnorConv with a Select around a load that can leave the image.
func paddedConv() *ir.Func {
	f := xnorConv()
	h := ir.Bin(ir.Sub, ir.Bin(ir.Add, ir.V("h"), ir.V("kh")), ir.Int(1))
	in := ir.Bin(ir.And, ir.Bin(ir.Ge, h, ir.Int(0)), ir.Bin(ir.Lt, h, ir.Int(16)))
	x := f.Params[0].Buffer
	return f.WithBody(ir.MapStmt(f.Body, nil, func(e ir.Expr) ir.Expr {
		return ir.MapExpr(e, func(e ir.Expr) ir.Expr {
			if l, ok := e.(*ir.Load); ok && l.Buf == "x" {
				return &ir.Select{Cond: in, A: ir.At(x, ir.Int(0), ir.Int(0), h, l.Idx[3], l.Idx[4]), B: ir.Const(ir.U32, 0)}
			}
			return e
		})
	}))
}

// loops makes a nest from names and extents in turn.
func loops(nest ...any) (out []ir.Loop) {
	for i := 0; i < len(nest); i += 2 {
		out = append(out, ir.Loop{Var: nest[i].(string), Extent: nest[i+1].(int)})
	}
	return out
}

func benchmark(b *testing.B, f *ir.Func) {
	c, err := Compile(f)
	if err != nil {
		b.Fatal(err)
	}
	var args [][]byte
	for _, p := range f.Params {
		args = append(args, make([]byte, p.Bytes()))
	}
	work := 1
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		if l, ok := s.(*ir.For); ok {
			work *= l.Extent
		}
		return true
	})
	for b.Loop() {
		if err := c.Run(context.Background(), args); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(work)*float64(b.N)/b.Elapsed().Seconds()/1e6, "Mstmt/s")
}

func BenchmarkXnor(b *testing.B)   { benchmark(b, xnorConv()) }
func BenchmarkFma(b *testing.B)    { benchmark(b, floatConv()) }
func BenchmarkPadded(b *testing.B) { benchmark(b, paddedConv()) }
