package emit_test

import (
	"encoding/binary"
	"fmt"
	"testing"

	"ripc/internal/need"
	"ripc/ir"
)

// highProducts are Funcs of rounded high products of vectors of many lengths, of any numbers and of ones that are never negative; the former are upper halves of sums with
// numbers of 64 bits, too.
func highProducts() []*ir.Func {
	var fs []*ir.Func
	for _, lanes := range []int{2, 4, 7, 8, 12, 16, 20, 32} {
		for _, from := range []int64{-1 << 31, 0} {
			a, b, y := buf("a", ir.I32, 3, lanes), buf("b", ir.I32, lanes), buf("y", ir.I32, 3, lanes)
			wide := func(e ir.Expr) ir.Expr { return ir.CastTo(ir.I64, e) }
			by := ir.At(b, vv)
			if from > -1<<31 {
				by = ir.Bin(ir.Max, by, ir.Const(ir.I32, from))
			}
			product := ir.Bin(ir.Mul, wide(ir.At(a, vi, vv)), wide(by))
			add := func(name string, c ir.Expr, shift int64) {
				v := ir.CastTo(ir.I32, ir.Bin(ir.Shr, ir.Bin(ir.Add, product, c), ir.Const(ir.I64, shift)))
				fs = append(fs, &ir.Func{Name: fmt.Sprintf("%s%d_%d", name, lanes, -from), Params: []ir.Param{in(a), in(b), out(y)},
					Body: loop(ir.Serial, "i", 3, loop(ir.Vectorize, "v", lanes, set(y, v, vi, vv)))})
			}
			if from < 0 {
				add("upper", ir.Bin(ir.Mul, wide(ir.At(b, vv)), ir.Const(ir.I64, 1<<30)), 32)
			}
			add("high", ir.Const(ir.I64, 1<<30), 31)
		}
	}
	return fs
}

// hardFactors are the numbers at which products round or overflow.
func hardFactors(n int) [][]byte {
	hard := []int32{-1 << 31, 1<<31 - 1, -1<<31 + 1, 1 << 30, -1 << 30, 0, 1, -1, 3, 1<<30 + 1, 123456789, -987654321}
	args := [][]byte{make([]byte, 12*n), make([]byte, 4*n), make([]byte, 12*n)}
	for k, step := range []int{1, 5} {
		for i := range len(args[k]) / 4 {
			binary.LittleEndian.PutUint32(args[k][4*i:], uint32(hard[(i*step+i/len(hard))%len(hard)]))
		}
	}
	return args
}

// TestHighProduct compares rounded high products with the interpreter's, where the least number meets itself as well.
func TestHighProduct(t *testing.T) {
	for _, tg := range append(natives(t), target(t, "x86-64-v3")) {
		if !tg.Native() {
			continue
		}
		lib := buildFor(t, tg, highProducts()...)
		for _, f := range highProducts() {
			lib.sameOn(t, f.Name, hardFactors(f.Params[1].Shape[0]))
		}
	}
	for _, name := range []string{"rpi3", "rpi2"} {
		tg, fs := target(t, name), highProducts()
		checkARMOn(t, need.Tool(t, "qemu-"+tg.Arch), tg, fs, func(n int) [][]byte { return hardFactors(fs[n].Params[1].Shape[0]) })
	}
}

// TestHighProductAssembly wants even and odd lanes multiplied in place, and NEON's instruction where the factor is known.
func TestHighProductAssembly(t *testing.T) {
	fs := highProducts()
	known := fs[len(fs)-1]
	match(t, assembly(t, known, target(t, "x86-64-v4")), `vpmuldq\s.*%zmm`, "!vpmovsxdq", "!vpmovzxdq", "!vpmovqd")
	match(t, assembly(t, known, target(t, "x86-64-v3")), `vpmuldq\s.*%ymm`, "!vpmovsxdq", "!vpmovzxdq")
	match(t, assembly(t, known, target(t, "rpi3")), `sqrdmulh`, "!smull")
	match(t, assembly(t, known, target(t, "rpi2")), `vqrdmulh.s32`, "!vmull")
	match(t, assembly(t, fs[len(fs)-2], target(t, "rpi3")), "!sqrdmulh")
	upper := fs[len(fs)-3]
	match(t, assembly(t, upper, target(t, "x86-64-v4")), `vpmuldq\s.*%zmm`, "!vpmovqd")
}
