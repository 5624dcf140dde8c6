package emit_test

import (
	"testing"
	"unsafe"

	"github.com/ebitengine/purego"

	"ripc/ir"
)

// xorConv is a 3x3 convolution of bits, height x width x 64 channels to 64 filters, in tiles of 7 pixels by 32 filters.
func xorConv(kx ir.LoopKind) *ir.Func {
	const h, w, words, blocks = 56, 56, 2, 2
	x, wt := buf("x", ir.U32, h+2, w+2, words), buf("w", ir.U32, blocks, 3, 3, words, 32)
	y, acc := buf("y", ir.I32, h, w, blocks, 32), buf("acc", ir.I32, 7, 32)
	o, l := ir.V("o"), ir.V("l")
	at := func(dy, dx ir.Expr) ir.Expr {
		return ir.At(x, add(ir.V("h"), dy), add(add(mul(ir.V("w"), ir.Int(7)), ir.V("i")), dx), ir.V("c"))
	}
	bits := ir.Un(ir.Popcount, ir.Bin(ir.Xor, at(ir.V("ky"), ir.V("kx")), ir.At(wt, o, ir.V("ky"), ir.V("kx"), ir.V("c"), l)))
	tile := ir.Seq(
		loop(ir.Unroll, "z", 7, loop(ir.Vectorize, "zl", 32, set(acc, ir.Const(ir.I32, 0), ir.V("z"), ir.V("zl")))),
		loop(ir.Serial, "ky", 3, loop(kx, "kx", 3, loop(kx, "c", words, loop(ir.Unroll, "i", 7, loop(ir.Vectorize, "l", 32,
			combine(ir.AddTo, acc, ir.CastTo(ir.I32, bits), ir.V("i"), l)))))),
		loop(ir.Unroll, "r", 7, loop(ir.Vectorize, "rl", 32, set(y, ir.At(acc, ir.V("r"), ir.V("rl")),
			ir.V("h"), add(mul(ir.V("w"), ir.Int(7)), ir.V("r")), o, ir.V("rl")))))
	return &ir.Func{Name: "xor_conv", Params: []ir.Param{in(x), in(wt), out(y)},
		Body: loop(ir.Parallel, "o", blocks, &ir.Alloc{Buf: acc, Body: loop(ir.Serial, "h", h, loop(ir.Serial, "w", w/7, tile))})}
}

func TestXorConv(t *testing.T) {
	for _, kx := range []ir.LoopKind{ir.Serial, ir.Unroll} {
		checkAll(t, xorConv(kx))
	}
}

// BenchmarkXorConv reports GMAC/s of one thread.
func BenchmarkXorConv(b *testing.B) {
	for _, kx := range []ir.LoopKind{ir.Serial, ir.Unroll} {
		b.Run(kx.String(), func(b *testing.B) {
			f := xorConv(kx)
			lib := build(b, f)
			fn, err := purego.Dlsym(lib.handle, "test_run")
			if err != nil {
				b.Fatal(err)
			}
			var at [3]uintptr
			for i, p := range f.Params {
				m, free := fenced(b, p.Bytes())
				defer free()
				at[i] = uintptr(unsafe.Pointer(&m[0]))
			}
			run := func() {
				purego.SyscallN(fn, uintptr(unsafe.Pointer(&at[0])), uintptr(unsafe.Pointer(&at[2])), 0, 0, 1, 0)
			}
			run()
			for b.Loop() {
				run()
			}
			b.ReportMetric(56*56*64*64*9/1e9*float64(b.N)/b.Elapsed().Seconds(), "GMAC/s")
		})
	}
}
