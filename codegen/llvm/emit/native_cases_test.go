package emit_test

import (
	"fmt"
	"testing"

	"ripc/ir"
	"ripc/targets"
)

func TestLoops(t *testing.T) {
	var fs []*ir.Func
	for _, lanes := range []int{1, 2, 3, 7, 8, 16, 33, 64} {
		f := xorTile(3, lanes, 2, 5)
		f.Name = fmt.Sprintf("tile%d", lanes)
		fs = append(fs, f)
	}
	fs = append(fs, pack(9))
	checkAll(t, fs...)
}

// TestThreadsInLoops: every thread goes through the loop around, makes what all read, and adds up in its own columns.
func TestThreadsInLoops(t *testing.T) {
	x, y := buf("x", ir.I32, 6, 5), buf("y", ir.I32, 5)
	acc, twice := buf("acc", ir.I32, 5), buf("twice", ir.I32, 5)
	w := ir.V("w")
	f := &ir.Func{Name: "columns", Params: []ir.Param{in(x), out(y)}, Body: &ir.Alloc{Buf: acc, Body: ir.Seq(
		loop(ir.Serial, "k", 5, set(acc, ir.Const(ir.I32, 0), vk)),
		loop(ir.Serial, "i", 6, &ir.Alloc{Buf: twice, Body: ir.Seq(
			loop(ir.Serial, "j", 5, set(twice, mul(ir.Const(ir.I32, 2), ir.At(x, vi, ir.V("j"))), ir.V("j"))),
			loop(ir.Parallel, "v", 5, combine(ir.AddTo, acc, ir.At(twice, ir.Bin(ir.Sub, ir.Int(4), vv)), vv)),
		)}),
		loop(ir.Parallel, "w", 5, set(y, ir.At(acc, w), w)),
	)}}
	checkAll(t, f)
}

func checkAll(t *testing.T, fs ...*ir.Func) {
	t.Helper()
	checkOn(t, host(t), fs...)
}

func checkOn(t *testing.T, tg targets.Target, fs ...*ir.Func) {
	t.Helper()
	lib := buildFor(t, tg, fs...)
	for _, f := range fs {
		t.Run(f.Name+"/"+tg.Name, func(t *testing.T) { lib.same(t, f.Name) })
	}
}

// lanes makes a Func that runs body in a vectorized loop over %v, inside serial loop %i.
func lanes(name string, rows, n int, params []ir.Param, body ...ir.Stmt) *ir.Func {
	return &ir.Func{Name: name, Params: params, Body: loop(ir.Serial, "i", rows, loop(ir.Vectorize, "v", n, body...))}
}

var (
	vi = ir.V("i")
	vv = ir.V("v")
	vk = ir.V("k")
)

// TestAddresses covers the ways in which lanes reach memory.
func TestAddresses(t *testing.T) {
	x, y := buf("x", ir.I16, 4, 64), buf("y", ir.I16, 4, 16)
	tab, at := buf("tab", ir.I32, 16), buf("at", ir.U8, 4, 16)
	z := buf("z", ir.I32, 4, 16)
	ps := []ir.Param{in(x), out(y)}
	c := func(v int) ir.Expr { return ir.Int(v) }
	odd, taps := buf("x", ir.I16, 4, 35), func(n int) (sum ir.Expr) {
		sum = ir.At(buf("x", ir.I16, 4, 35), vi, mul(vv, c(2)))
		for k := 1; k < n; k++ {
			sum = add(sum, ir.At(buf("x", ir.I16, 4, 35), vi, add(mul(vv, c(2)), c(k))))
		}
		return sum
	}
	checkAll(t,
		lanes("taps2", 4, 16, []ir.Param{in(odd), out(y)}, set(y, taps(2), vi, vv)),
		lanes("taps5", 4, 16, []ir.Param{in(odd), out(y)}, set(y, taps(5), vi, vv)),
		lanes("stride1", 4, 16, ps, set(y, ir.At(x, vi, add(vv, c(3))), vi, vv)),
		lanes("stride2", 4, 16, ps, set(y, ir.At(x, vi, add(mul(vv, c(2)), c(33))), vi, vv)),
		lanes("stride2of4", 4, 4, ps, set(y, ir.At(x, vi, mul(vv, c(2))), vi, vv)),
		lanes("stride4", 4, 16, ps, set(y, ir.At(x, vi, mul(vv, c(4))), vi, vv)),
		lanes("reverse", 4, 16, ps, set(y, ir.At(x, vi, ir.Bin(ir.Sub, c(15), vv)), vi, vv)),
		lanes("uniform", 4, 16, ps, set(y, ir.At(x, vi, vi), vi, vv)),
		lanes("column", 4, 4, ps, set(y, ir.At(x, vv, vi), vv, add(vi, c(5)))),
		lanes("divmod", 4, 16, ps, set(y, ir.At(x, ir.Bin(ir.Div, vv, c(4)), ir.Bin(ir.Mod, vv, c(4))), vi, vv)),
		lanes("fused", 4, 16, ps, set(y, ir.At(x, ir.Bin(ir.Div, add(mul(vi, c(16)), vv), c(16)),
			ir.Bin(ir.Mod, add(mul(vi, c(16)), vv), c(16))), vi, vv)),
		lanes("table", 4, 16, []ir.Param{in(tab), in(at), out(z)},
			set(z, ir.At(tab, ir.CastTo(ir.I64, ir.Bin(ir.And, ir.At(at, vi, vv), ir.Const(ir.U8, 15)))), vi, vv)),
		lanes("scatter", 4, 16, []ir.Param{in(x), in(at), out(z)}, combine(ir.AddTo, z,
			ir.CastTo(ir.I32, ir.At(x, vi, vv)), vi, ir.CastTo(ir.I64, ir.Bin(ir.And, ir.At(at, vi, vv), ir.Const(ir.U8, 15))))),
		lanes("flat", 1, 16, ps, loop(ir.Unroll, "k", 4, set(y, ir.At(x, vk, vv), vk, vv),
			combine(ir.AddTo, y, ir.At(x, vi, add(mul(vk, c(16)), vv)), vk, vv))),
	)
}

func TestReductions(t *testing.T) {
	checkAll(t, reductions()...)
	checkAll(t, bitsOfLanes()...)
}

// reductions combine all lanes, by each operator, and put a bit of each into a word.
func reductions() []*ir.Func {
	var fs []*ir.Func
	for _, ty := range []ir.Type{ir.I8, ir.U8, ir.I16, ir.U16, ir.I32, ir.U32, ir.I64, ir.U64} {
		x, y := buf("x", ty, 4, 13), buf("y", ty, 4)
		for _, op := range []ir.StoreOp{ir.AddTo, ir.OrTo, ir.MinTo, ir.MaxTo} {
			name := fmt.Sprintf("%s_%d", ty, op)
			fs = append(fs,
				lanes("lanes_"+name, 4, 13, []ir.Param{in(x), out(y)}, combine(op, y, ir.At(x, vi, vv), vi)),
				lanes("same_"+name, 4, 13, []ir.Param{in(x), out(y)}, combine(op, y, ir.At(x, vi, vi), vi)),
				lanes("inner_"+name, 4, 4, []ir.Param{in(x), out(y)}, loop(ir.Serial, "k", 3,
					combine(op, y, ir.At(x, vi, add(mul(vk, ir.Int(4)), vv)), vi))))
		}
	}
	for _, n := range []int{1, 5, 8, 16, 31, 32} {
		for _, ty := range []ir.Type{ir.U32, ir.I32, ir.U64} {
			x, y := buf("x", ir.I8, 3, 32), buf("y", ty, 3)
			bit := func(by ir.Expr) ir.Expr {
				return ir.Bin(ir.Shl, ir.CastTo(ty, ir.Bin(ir.Lt, ir.At(x, vi, vv), ir.Const(ir.I8, 3))), by)
			}
			name := fmt.Sprintf("%d_%s", n, ty)
			ps := []ir.Param{in(x), out(y)}
			fs = append(fs, lanes("bits"+name, 3, n, ps, combine(ir.OrTo, y, bit(ir.CastTo(ty, vv)), vi)),
				lanes("sum"+name, 3, n, ps, combine(ir.AddTo, y, bit(ir.CastTo(ty, vv)), vi)))
			if n < 16 {
				fs = append(fs, lanes("upper"+name, 3, n, ps, combine(ir.OrTo, y, bit(ir.CastTo(ty, add(vv, mul(vi, ir.Int(8))))), vi)),
					lanes("plus"+name, 3, n, ps, combine(ir.OrTo, y, bit(add(ir.CastTo(ty, vv), ir.Const(ty, 2))), vi)))
			}
		}
	}
	return fs
}

// bitsOfLanes give each lane a bit of a word, from any bit on, and what bits of two words make.
func bitsOfLanes() []*ir.Func {
	var fs []*ir.Func
	for _, n := range []int{5, 8, 16, 24, 32} {
		for _, ty := range []ir.Type{ir.U32, ir.U64, ir.I32} {
			x, y := buf("x", ty, 3, 2), buf("y", ir.I8, 3, n)
			bit := func(k int, by ir.Expr) ir.Expr {
				return ir.Bin(ir.And, ir.Bin(ir.Shr, ir.At(x, vi, ir.Int(k)), ir.CastTo(ty, by)), ir.Const(ty, 1))
			}
			ps, name := []ir.Param{in(x), out(y)}, fmt.Sprintf("%d_%s", n, ty)
			level := ir.Bin(ir.Or, ir.CastTo(ir.I32, bit(0, vv)), ir.Bin(ir.Shl, ir.CastTo(ir.I32, bit(1, vv)), ir.Const(ir.I32, 1)))
			fs = append(fs, lanes("lane_bits"+name, 3, n, ps, set(y, ir.CastTo(ir.I8, level), vi, vv)))
			if n <= 8 {
				fs = append(fs, lanes("upper_bits"+name, 3, n, ps, set(y, ir.CastTo(ir.I8, bit(1, add(vv, mul(vi, ir.Int(8))))), vi, vv)),
					lanes("plus_bits"+name, 3, n, ps, set(y, ir.CastTo(ir.I8, bit(1, add(vv, ir.Int(3)))), vi, vv)))
			}
		}
	}
	return fs
}

// TestGuards covers padding (loads that a Select or an If keeps in bounds) and tails.
func TestGuards(t *testing.T) {
	x, y := buf("x", ir.I32, 9), buf("y", ir.I32, 4, 16)
	ps := []ir.Param{in(x), out(y)}
	at := func(e ir.Expr) ir.Expr {
		in := ir.Bin(ir.And, ir.Bin(ir.Ge, e, ir.Int(0)), ir.Bin(ir.Lt, e, ir.Int(9)))
		return &ir.Select{Cond: in, A: ir.At(x, e), B: ir.Const(ir.I32, -7)}
	}
	shifted := add(vv, ir.Bin(ir.Sub, vi, ir.Int(2)))
	clamp := ir.Bin(ir.Max, ir.Int(0), ir.Bin(ir.Min, shifted, ir.Int(8)))
	odd := ir.Bin(ir.Eq, ir.Bin(ir.Mod, vv, ir.Int(2)), ir.Int(1))
	tail := ir.Bin(ir.Lt, add(mul(vi, ir.Int(4)), vv), ir.Int(9))
	flat := add(mul(vi, ir.Int(4)), vv)
	checkAll(t,
		lanes("lane_guard", 4, 16, ps, set(y, at(shifted), vi, vv)),
		lanes("row_guard", 4, 16, ps, set(y, at(ir.Bin(ir.Sub, mul(vi, ir.Int(5)), ir.Int(2))), vi, vv)),
		lanes("clamped", 4, 16, ps, set(y, &ir.Select{Cond: odd, A: ir.At(x, clamp), B: ir.CastTo(ir.I32, vv)}, vi, vv)),
		lanes("nested", 4, 16, ps, set(y, &ir.Select{Cond: odd, A: at(shifted), B: at(ir.Bin(ir.Sub, vi, ir.Int(1)))}, vi, vv)),
		lanes("tail", 3, 4, ps, &ir.If{Cond: tail, Then: set(y, ir.At(x, flat), vi, vv)}),
		lanes("tail_loop", 3, 4, ps, &ir.If{Cond: tail, Then: loop(ir.Serial, "k", 3, combine(ir.AddTo, y, ir.At(x, flat), vi, vv)),
			Else: set(y, ir.Const(ir.I32, 1), vi, vv)}),
		lanes("uniform_if", 4, 16, ps, &ir.If{Cond: ir.Bin(ir.Lt, vi, ir.Int(2)), Then: set(y, ir.At(x, vi), vi, vv),
			Else: set(y, ir.CastTo(ir.I32, vv), vi, vv)}),
		&ir.Func{Name: "unrolled", Params: ps, Body: loop(ir.Unroll, "i", 4, loop(ir.Unroll, "v", 16, set(y, at(shifted), vi, vv)))},
		&ir.Func{Name: "scalar", Params: ps, Body: loop(ir.Parallel, "i", 4, loop(ir.Serial, "v", 16, set(y, at(shifted), vi, vv)))},
	)
}

// TestAllocs covers buffers on the stack, in scratch, and with a copy per lane.
func TestAllocs(t *testing.T) {
	x, y := buf("x", ir.I32, 64), buf("y", ir.I32, 64)
	ps := []ir.Param{in(x), out(y)}
	chain := func(size int, kind ir.LoopKind) ir.Stmt {
		a, b := buf("a", ir.I32, size), buf("b", ir.I32, size)
		return loop(ir.Serial, "i", 4, ir.Seq(
			&ir.Alloc{Buf: a, Body: ir.Seq(
				loop(kind, "p", 64, set(a, ir.At(x, ir.V("p")), ir.V("p"))),
				&ir.Alloc{Buf: b, Body: ir.Seq(
					loop(kind, "q", 64, set(b, add(ir.At(a, ir.Bin(ir.Sub, ir.Int(63), ir.V("q"))), ir.Const(ir.I32, 1)), ir.V("q"))),
					loop(kind, "r", 64, combine(ir.AddTo, y, ir.At(b, ir.V("r")), ir.V("r"))))})},
			&ir.Alloc{Buf: buf("c", ir.I32, size), Body: ir.Seq(
				loop(kind, "s", 64, set(buf("c", ir.I32, size), ir.At(x, ir.V("s")), ir.V("s"))),
				loop(kind, "t", 64, combine(ir.MaxTo, y, ir.At(buf("c", ir.I32, size), ir.V("t")), ir.V("t"))))}))
	}
	own := buf("own", ir.I32, 3)
	flags := buf("flags", ir.Bool, 64)
	checkAll(t,
		&ir.Func{Name: "stack", Params: ps, Body: chain(64, ir.Serial)},
		&ir.Func{Name: "stack_lanes", Params: ps, Body: chain(64, ir.Vectorize)},
		&ir.Func{Name: "scratch", Params: ps, Body: chain(5000, ir.Serial)},
		&ir.Func{Name: "scratch_lanes", Params: ps, Body: chain(5000, ir.Vectorize)},
		lanes("own", 4, 16, ps, &ir.Alloc{Buf: own, Body: ir.Seq(
			loop(ir.Serial, "k", 3, set(own, ir.At(x, add(mul(vk, ir.Int(16)), vv)), vk)),
			&ir.If{Cond: ir.Bin(ir.Lt, vv, ir.Int(5)), Then: combine(ir.AddTo, own, ir.Const(ir.I32, 9), ir.Int(1))},
			set(y, add(ir.At(own, ir.Int(0)), ir.At(own, ir.Int(1))), add(mul(vi, ir.Int(16)), vv)),
			loop(ir.Serial, "l", 3, combine(ir.MaxTo, y, ir.At(own, ir.V("l")), add(mul(vi, ir.Int(16)), vv))))}),
		&ir.Func{Name: "bools", Params: ps, Body: &ir.Alloc{Buf: flags, Body: ir.Seq(
			loop(ir.Vectorize, "i", 64, set(flags, ir.Bin(ir.Gt, ir.At(x, vi), ir.Const(ir.I32, 5)), vi)),
			loop(ir.Vectorize, "v", 63, set(y, ir.CastTo(ir.I32, ir.Bin(ir.Xor, ir.At(flags, vv), ir.Un(ir.Not, ir.At(flags, add(vv, ir.Int(1)))))), vv)))}},
	)
}
