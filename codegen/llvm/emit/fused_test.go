package emit_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ripc/codegen"
	"ripc/codegen/llvm/emit"
	"ripc/codegen/llvm/rows"
	"ripc/internal/difftest"
	"ripc/ir"
	"ripc/targets"
)

// TestFused compares multiply-adds with the interpreter's, which are tested against math/big, on sums that tempt code
// without an instruction for them to round twice, to lose a flush or to carry a wrong sign.
func TestFused(t *testing.T) {
	const n = 1003
	a, b, c, y := buf("a", ir.F32, n), buf("b", ir.F32, n), buf("c", ir.F32, n), buf("y", ir.F32, n)
	sum := &ir.Fma{A: ir.At(a, vi), B: ir.At(b, vi), C: ir.At(c, vi)}
	ps := []ir.Param{in(a), in(b), in(c), out(y)}
	flat := func(v string, lanes int) *ir.Func {
		at := add(mul(vi, ir.Int(lanes)), ir.V(v))
		x := &ir.Fma{A: ir.At(a, at), B: ir.At(b, at), C: ir.At(c, at)}
		return &ir.Func{Name: "fused" + v, Params: ps, Body: loop(ir.Serial, "i", n/lanes, loop(ir.Vectorize, v, lanes, set(y, x, at)))}
	}
	fs := []*ir.Func{{Name: "fused", Params: ps, Body: loop(ir.Serial, "i", n, set(y, sum, vi))},
		flat("x4", 4), flat("x17", 17), flat("x59", 59)}
	// Tiles, which are computed twice where there are ties; bits go into words. a may be one factor for all lanes.
	for _, name := range []string{"tile4", "tile16", "tile8_uniform"} {
		var lanes int
		if _, err := fmt.Sscanf(name, "tile%d", &lanes); err != nil {
			t.Fatal(err)
		}
		acc, z := buf("acc", ir.F32, lanes), buf("z", ir.U32, n/lanes)
		v := func(name string) (at ir.Expr, lane ir.Expr) {
			return add(mul(vi, ir.Int(lanes)), ir.V(name)), ir.V(name)
		}
		from, l0 := v("l0")
		at, l1 := v("l1")
		to, l2 := v("l2")
		_, l3 := v("l3")
		bit := ir.Bin(ir.Shl, ir.CastTo(ir.U32, ir.Bin(ir.Lt, ir.At(acc, l3), ir.Float(1))), ir.CastTo(ir.U32, l3))
		factor := ir.At(a, at)
		if strings.HasSuffix(name, "uniform") {
			factor = ir.At(a, mul(vi, ir.Int(lanes)))
		}
		fs = append(fs, &ir.Func{Name: name, Params: append(ps[:4:4], out(z)),
			Body: loop(ir.Serial, "i", n/lanes, &ir.Alloc{Buf: acc, Body: ir.Seq(
				loop(ir.Vectorize, "l0", lanes, set(acc, ir.At(c, from), l0)),
				loop(ir.Vectorize, "l1", lanes, set(acc, &ir.Fma{A: factor, B: ir.At(b, at), C: ir.At(acc, l1)}, l1)),
				loop(ir.Vectorize, "l2", lanes, set(y, ir.At(acc, l2), to)),
				set(z, ir.Const(ir.U32, 0), vi),
				loop(ir.Vectorize, "l3", lanes, &ir.Store{Buf: "z", Idx: []ir.Expr{vi}, Op: ir.OrTo, Val: bit}))})})
	}
	again := regexp.MustCompile(`(?m)^again`)
	for _, tg := range floatNatives(t) {
		for _, f := range fs {
			m, err := kernel(f, f.Name, tg)
			if has := again.Match(m.LL); err != nil || has != (strings.HasPrefix(f.Name, "tile") && !tg.Has("fma")) {
				t.Errorf("%s, %s: a tile is computed again: %t, %v", tg.Name, f.Name, has, err)
			}
		}
		lib := buildFor(t, tg, fs...)
		for seed := range uint64(40) {
			r := rand.New(rand.NewPCG(seed, 5))
			args := [][]byte{make([]byte, 4*n), make([]byte, 4*n), make([]byte, 4*n), make([]byte, 4*n), make([]byte, n)}
			for i := range n {
				for k, v := range hardSum(r) {
					binary.LittleEndian.PutUint32(args[k][4*i:], math.Float32bits(v))
				}
			}
			for _, f := range fs {
				args := args[:len(f.Params)]
				if len(args) > 4 {
					args[4] = args[4][:f.Params[4].Bytes()]
				}
				lib.sameOn(t, f.Name, args)
			}
			if t.Failed() {
				t.Fatalf("%s, seed %d", tg.Name, seed)
			}
		}
	}
}

// fuses reports whether an instruction of tg multiplies and adds.
func fuses(tg targets.Target) bool {
	r, _ := rows.Of(tg)
	return r.Facts.Fuses
}

// TestRedone: a tile is computed again if a tie may be none. It is not where all inputs have few bits, nor for factors 1 and 0. The
// code under test counts them. The copy of the inputs around them is no tile.
func TestRedone(t *testing.T) {
	const rows, depth, lanes = 3, 30, 16
	x, xp, w, y, acc, redone := buf("x", ir.F32, rows, depth), buf("xp", ir.F32, rows, depth), buf("w", ir.F32, depth, lanes), buf("y", ir.F32, rows, lanes), buf("acc", ir.F32, lanes), buf("redone", ir.U32, 1)
	vl := ir.V("l")
	tiles := func(x ir.Buffer, epilogue ir.Stmt) *ir.Func {
		return &ir.Func{Name: "tiles", Params: []ir.Param{in(x), in(w), out(y), out(redone)}, Body: ir.Seq(set(redone, ir.Const(ir.U32, 0), ir.Int(0)), &ir.Alloc{Buf: xp, Body: ir.Seq(
			loop(ir.Serial, "h", rows, loop(ir.Serial, "v", depth, set(xp, ir.At(x, ir.V("h"), ir.V("v")), ir.V("h"), ir.V("v")))),
			loop(ir.Serial, "i", rows, &ir.Alloc{Buf: acc, Body: ir.Seq(
				loop(ir.Vectorize, "l", lanes, set(acc, ir.Float(0), vl)),
				loop(ir.Serial, "k", depth, loop(ir.Vectorize, "l.1", lanes, set(acc, &ir.Fma{A: ir.At(xp, vi, vk), B: ir.At(w, vk, ir.V("l.1")), C: ir.At(acc, ir.V("l.1"))}, ir.V("l.1")))),
				epilogue)}))})}
	}
	l2, scaled := ir.V("l.2"), buf("scaled", ir.F32, lanes)
	leave := loop(ir.Vectorize, "l.2", lanes, set(y, ir.At(acc, l2), vi, l2))
	f := tiles(x, leave)
	// A scope inside the tile, with few of its multiply-adds, is no tile of its own.
	scoped := tiles(x, &ir.Alloc{Buf: scaled, Body: loop(ir.Vectorize, "l.2", lanes, ir.Seq(
		set(scaled, &ir.Fma{A: ir.At(acc, l2), B: ir.Float(1), C: ir.Float(0)}, l2), set(y, ir.At(scaled, l2), vi, l2)))})
	scoped.Name = "scoped"
	// Sums that decide what is stored, or where, leave no second chance.
	chosen := tiles(x, loop(ir.Serial, "l.2", lanes, &ir.If{Cond: ir.Bin(ir.Gt, ir.At(acc, l2), ir.Float(1)), Then: set(y, ir.Float(1), vi, l2)}))
	placed := tiles(x, loop(ir.Serial, "l.2", lanes, set(y, ir.Float(1), vi, &ir.Select{Cond: ir.Bin(ir.Gt, ir.At(acc, l2), ir.Float(1)), A: l2, B: ir.Int(0)})))
	r := rand.New(rand.NewPCG(1, 2))
	weights := make([]byte, w.Bytes())
	for i := range depth * lanes {
		v := float32(r.IntN(1<<24)-1<<23) * 0x1p-24
		switch i / lanes {
		case 0:
			v = 1 + 0x1p-23
		case 1:
			v = 1 - 0x1p-23
		}
		binary.LittleEndian.PutUint32(weights[4*i:], math.Float32bits(v))
	}
	p := &ir.Program{Name: "p", Funcs: []*ir.Func{f}, Stages: []ir.Stage{{Name: "s", Func: f.Name, Args: []string{"x", "w", "y", "redone"}}},
		Buffers: []ir.ProgBuf{{Buffer: x, Kind: ir.InputBuf}, {Buffer: w, Kind: ir.ConstBuf, Data: weights}, {Buffer: y, Kind: ir.OutputBuf}, {Buffer: redone, Kind: ir.OutputBuf}}}
	again := regexp.MustCompile(`(?m)^again(\.\d+)?:`)
	unfused := slices.DeleteFunc(floatNatives(t), fuses)
	if len(unfused) == 0 {
		t.Skip("all code of this machine has fused multiply-adds")
	}
	for _, tg := range unfused {
		few, err := kernelWith(tiles(buf("x", ir.F32, 2*rows*lanes, depth), leave), "few", tg, codegen.NewFloats(p))
		if err != nil || bytes.Contains(few.LL, []byte("\nscan")) {
			t.Errorf("%s, %v: inputs are read twice that few multiply-adds read", tg.Name, err)
		}
		for _, f := range []*ir.Func{chosen, placed} {
			m, err := kernelWith(f, "decided", tg, codegen.NewFloats(p))
			if err != nil || again.Match(m.LL) {
				t.Errorf("%s, %v: a tile is computed twice that sums decide", tg.Name, err)
			}
		}
		lib := buildWith(t, tg, func(f *ir.Func, symbol string, tg targets.Target) (emit.Module, error) {
			m, err := kernelWith(f, symbol, tg, codegen.NewFloats(p))
			m.LL = again.ReplaceAll(m.LL, []byte("$0\n\t%n$1 = load i32, ptr %redone\n\t%more$1 = add i32 %n$1, 1\n\tstore i32 %more$1, ptr %redone"))
			return m, err
		}, f, scoped)
		for _, c := range []struct {
			name   string
			f      *ir.Func
			redone uint32
			pixel  func(k int) float32
		}{
			{"k/256", f, 0, func(int) float32 { return float32(r.IntN(256)) / 256 }},
			{"bytes", f, 0, func(int) float32 { return float32(r.IntN(256)) }},
			{"k/128 - 1", f, 0, func(int) float32 { return float32(r.IntN(256))/128 - 1 }},
			{"large numbers", f, 0, func(int) float32 { return float32(r.IntN(256)) * 0x1p30 }},
			{"larger numbers", f, rows, func(int) float32 { return float32(r.IntN(256)) * 0x1p60 }},
			{"0 and 1 among others", f, 0, func(k int) float32 { return []float32{0, 1, 1. / 3, 0.7, -0.1}[(k+r.IntN(2))%5] }},
			{"a tie that is none", f, rows, func(k int) float32 { return []float32{1, 0x1p-24 * (1 + 0x1p-23), 0}[min(k, 2)] }},
			{"ties, and an infinity", f, rows, func(k int) float32 { return []float32{3, 5, float32(math.Inf(1))}[min(k, 2)] }},
			{"a tie beside a scope", scoped, rows, func(k int) float32 { return []float32{1, 0x1p-24 * (1 + 0x1p-23), 0}[min(k, 2)] }},
		} {
			args := [][]byte{make([]byte, x.Bytes()), weights, make([]byte, y.Bytes()), make([]byte, 4)}
			for i := range rows * depth {
				binary.LittleEndian.PutUint32(args[0][4*i:], math.Float32bits(c.pixel(i%depth)))
			}
			want := interpret(t, c.f, args)
			lib.run(t, c.f.Name, 1, args)
			if d := difftest.Diff(want[2], args[2], y); d != "" {
				t.Errorf("%s, %s: %s", tg.Name, c.name, d)
			}
			if got := binary.LittleEndian.Uint32(args[3]); got != c.redone {
				t.Errorf("%s, %s: redone is %d, want %d", tg.Name, c.name, got, c.redone)
			}
		}
	}
}

// TestManySums: conversions take sums that no registers hold from memory, of each buffer. Halves of registers need moves.
func TestManySums(t *testing.T) {
	const depth, positions, lanes = 9, 7, 16
	for _, buffers := range []int{1, 2} {
		x, w := buf("x", ir.F32, positions, depth), buf("w", ir.F32, depth, lanes)
		f := &ir.Func{Name: "sums", Params: []ir.Param{in(x), in(w)}}
		var accs []ir.Buffer
		var zeros, sums, outs []ir.Stmt
		for i := range buffers {
			n := lanes / buffers
			acc, y := buf(fmt.Sprint("acc", i), ir.F32, positions, n), buf(fmt.Sprint("y", i), ir.F32, positions, n)
			each := func(suffix string, b ir.Buffer, v func(p, l ir.Expr) ir.Expr) ir.Stmt {
				p, l := fmt.Sprint("p", suffix, i), fmt.Sprint("l", suffix, i)
				return loop(ir.Unroll, p, positions, loop(ir.Vectorize, l, n, set(b, v(ir.V(p), ir.V(l)), ir.V(p), ir.V(l))))
			}
			f.Params, accs = append(f.Params, out(y)), append(accs, acc)
			zeros = append(zeros, each("0", acc, func(p, l ir.Expr) ir.Expr { return ir.Float(0) }))
			sums = append(sums, each("1", acc, func(p, l ir.Expr) ir.Expr {
				return &ir.Fma{A: ir.At(x, p, vk), B: ir.At(w, vk, add(l, ir.Int(i*n))), C: ir.At(acc, p, l)}
			}))
			outs = append(outs, each("2", y, func(p, l ir.Expr) ir.Expr { return ir.At(acc, p, l) }))
		}
		f.Body = ir.Seq(append(append(zeros, loop(ir.Serial, "k", depth, ir.Seq(sums...))), outs...)...)
		for _, acc := range accs {
			f.Body = &ir.Alloc{Buf: acc, Body: f.Body}
		}
		if n := strings.Count(assembly(t, f, target(t, "x86-64")), "movhlps"); n >= positions*lanes/8 {
			t.Errorf("%d buffers: %d halves of registers are moved", buffers, n)
		}
	}
}

// hardSum gives a, b and c of an awkward a*b + c.
func hardSum(r *rand.Rand) [3]float32 {
	odd := func() float64 { return float64(1+2*r.IntN(1<<uint(r.IntN(23)))) * math.Ldexp(1, -r.IntN(24)) }
	sign := func() float64 { return float64(1 - 2*r.IntN(2)) }
	switch r.IntN(7) {
	case 0: // any bits: infinities, NaNs, subnormals
		return [3]float32{math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32()), math.Float32frombits(r.Uint32())}
	case 1: // near each other, with much cancellation
		x, y := float32(sign()*odd()), float32(sign()*odd())
		return [3]float32{x, y, math.Float32frombits(math.Float32bits(-x*y) + uint32(r.IntN(5)-2))}
	case 2: // few bits: ties
		return [3]float32{float32(sign() * odd()), float32(sign() * odd()), float32(sign() * math.Ldexp(odd(), r.IntN(60)-30))}
	case 3: // the product is a tie, and c too small to show in double
		return [3]float32{float32(1 + 2*r.IntN(4)), float32(sign() * float64(1<<23+r.IntN(1<<23))), float32(sign() * math.Ldexp(odd(), -80))}
	}
	// The product is half a unit of c's last place, or a hair more or less: in double the sum is a tie that is none. At
	// scales of 2^-126 and 2^127, the tie is the one with a flushed result or with infinity.
	e := []int{-126, -125, -103, 0, r.IntN(200) - 100, 104, 127}[r.IntN(7)]
	c := math.Ldexp(1+float64(r.IntN(1<<23))*0x1p-23, e)
	switch r.IntN(4) {
	case 0:
		c = math.Ldexp(1, e)
	case 1:
		c = math.Ldexp(2-0x1p-23, e)
	}
	half := 1 + r.IntN(3)
	x := 1 + float64(r.IntN(4))*0x1p-23
	y := []float64{1, 1 - 0x1p-24, 1 + 0x1p-23, 1 - 0x1p-23, 1 - 0x1p-22}[r.IntN(5)]
	at := e - 24 + half - 1
	up := r.IntN(60) - 30
	if at < -100 {
		up = -60
	}
	return [3]float32{float32(sign() * math.Ldexp(x, up)), float32(math.Ldexp(y, at-up)), float32(sign() * c)}
}

// TestSubnormals compares sums of products with the interpreter's where they are subnormal, or just are not: at the limit of the
// version of a kernel that flushes nothing (see grain.go), on both sides of it, and where sums cancel.
func TestSubnormals(t *testing.T) {
	const rows, depth, columns = 64, 16, 128
	x, w, y, acc := buf("x", ir.F32, rows, depth), buf("w", ir.F32, depth, columns), buf("y", ir.F32, rows, columns), buf("acc", ir.F32, 16)
	vj, vl := ir.V("j"), ir.V("l")
	f := &ir.Func{Name: "sums", Params: []ir.Param{in(x), in(w), out(y)}, Body: loop(ir.Parallel, "i", rows, loop(ir.Serial, "j", columns/16,
		&ir.Alloc{Buf: acc, Body: ir.Seq(
			loop(ir.Vectorize, "l", 16, set(acc, ir.Float(0), vl)),
			loop(ir.Unroll, "k", depth, loop(ir.Vectorize, "l.1", 16, set(acc, &ir.Fma{A: ir.At(x, vi, vk),
				B: ir.At(w, vk, add(mul(vj, ir.Int(16)), ir.V("l.1"))), C: ir.At(acc, ir.V("l.1"))}, ir.V("l.1")))),
			loop(ir.Vectorize, "l.2", 16, set(y, ir.At(acc, ir.V("l.2")), vi, add(mul(vj, ir.Int(16)), ir.V("l.2")))))}))}
	for _, tg := range floatNatives(t) {
		m, err := kernel(f, f.Name, tg)
		if err != nil || bytes.Contains(m.LL, []byte("slow:")) != strings.HasSuffix(tg.Name, ieee) {
			t.Errorf("%s: %v\n%s", tg.Name, err, m.LL)
		}
		lib := buildFor(t, tg, f)
		for seed, most := range []float64{0x1p-99, 0x1p-40, 0x1p-41, 0x1p-63, 1} {
			r := rand.New(rand.NewPCG(uint64(seed), 9))
			args := [][]byte{make([]byte, x.Bytes()), make([]byte, w.Bytes()), make([]byte, y.Bytes())}
			fill := func(to []byte, most float64) {
				for i := 0; i < len(to); i += 4 {
					v := most * (1 + float64(r.IntN(4))*0x1p-23) * float64(r.IntN(3)-1)
					if most < 0x1p-90 {
						v = math.Ldexp(most, -r.IntN(50)) * r.Float64()
					}
					binary.LittleEndian.PutUint32(to[i:], math.Float32bits(float32(v)))
				}
			}
			fill(args[0], most)
			fill(args[1], max(most, 0x1p-63))
			lib.sameOn(t, f.Name, args)
		}
	}
}
