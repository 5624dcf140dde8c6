package schedule_test

import "ripc/ir"

// shape describes a small binary convolution for the tests: the form that ops give it before scheduling.
type shape struct {
	H, W, K, Stride, Pad, C, Words, Planes int
	Pool                                   int  // 0: none, else the window and stride of a max pool
	Float                                  bool // f32 accumulation with fma
	Raw                                    bool // also store the accumulators, so that any difference shows
}

func (s shape) out(n int) int { return (n+2*s.Pad-s.K)/s.Stride + 1 }

func buf(name string, t ir.Type, dims ...int) ir.Buffer {
	return ir.Buffer{Name: name, Type: t, Shape: dims}
}

func add(a, b ir.Expr) ir.Expr { return ir.Bin(ir.Add, a, b) }
func mul(a ir.Expr, k int) ir.Expr {
	return ir.Bin(ir.Mul, a, ir.Int(k))
}

func set(b ir.Buffer, op ir.StoreOp, v ir.Expr, idx ...ir.Expr) ir.Stmt {
	return &ir.Store{Buf: b.Name, Idx: idx, Op: op, Val: v}
}

func loop(v string, n int, body ...ir.Stmt) ir.Stmt {
	return &ir.For{Var: v, Extent: n, Body: ir.Seq(body...)}
}

// conv builds the unscheduled Func: padded copy, accumulation plane by plane, optional max pool, threshold and pack.
func conv(s shape) *ir.Func {
	if s.Float {
		s.Planes = 1
	}
	v := func(n string) ir.Expr { return ir.V(n) }
	oh, ow, o := s.out(s.H), s.out(s.W), 32*s.Words
	word, num := ir.U32, ir.I32
	if s.Float {
		word, num = ir.F32, ir.F32
	}
	x := buf("x", word, s.Planes, 1, s.H, s.W, s.C)
	w := buf("f", word, s.K, s.K, s.C, o)
	t := buf("t", num, o)
	y := buf("y", ir.U32, 1, oh, ow, s.Words)
	var allocs []ir.Buffer
	var nests []ir.Stmt
	src := x
	if s.Pad > 0 {
		src = buf("xp", word, s.Planes, 1, s.H+2*s.Pad, s.W+2*s.Pad, s.C)
		in := func(l string, n int) ir.Expr {
			return ir.Bin(ir.And, ir.Bin(ir.Ge, v(l), ir.Int(s.Pad)), ir.Bin(ir.Lt, v(l), ir.Int(n+s.Pad)))
		}
		zero := ir.Const(ir.U32, 0)
		if s.Float {
			zero = ir.Float(0)
		}
		val := &ir.Select{Cond: ir.Bin(ir.And, in("xp.h", s.H), in("xp.w", s.W)), B: zero,
			A: ir.At(x, v("xp.p"), v("xp.b"), ir.Bin(ir.Sub, v("xp.h"), ir.Int(s.Pad)), ir.Bin(ir.Sub, v("xp.w"), ir.Int(s.Pad)), v("xp.c"))}
		nests = append(nests, ir.Nest([]ir.Loop{{Var: "xp.p", Extent: s.Planes}, {Var: "xp.b", Extent: 1}, {Var: "xp.h", Extent: s.H + 2*s.Pad},
			{Var: "xp.w", Extent: s.W + 2*s.Pad}, {Var: "xp.c", Extent: s.C}},
			set(src, ir.Assign, val, v("xp.p"), v("xp.b"), v("xp.h"), v("xp.w"), v("xp.c"))))
		allocs = append(allocs, src)
	}

	acc := buf("acc", num, 1, oh, ow, o)
	at := []ir.Expr{v("acc.b"), v("acc.h"), v("acc.w"), v("acc.o")}
	pix := func(plane ir.Expr) ir.Expr {
		return ir.At(src, plane, v("acc.b"), add(mul(v("acc.h"), s.Stride), v("acc.kh")), add(mul(v("acc.w"), s.Stride), v("acc.kw")), v("acc.c"))
	}
	wt := ir.At(w, v("acc.kh"), v("acc.kw"), v("acc.c"), v("acc.o"))
	red := []ir.Loop{{Var: "acc.kh", Extent: s.K}, {Var: "acc.kw", Extent: s.K}, {Var: "acc.c", Extent: s.C}}
	var body []ir.Stmt
	if s.Float {
		body = []ir.Stmt{set(acc, ir.Assign, ir.Float(0), at...),
			ir.Nest(red, set(acc, ir.Assign, &ir.Fma{A: pix(ir.Int(0)), B: wt, C: ir.At(acc, at...)}, at...))}
	} else {
		pop := ir.CastTo(ir.I32, ir.Un(ir.Popcount, ir.Bin(ir.Xor, pix(ir.Bin(ir.Sub, ir.Int(s.Planes-1), v("acc.n"))), wt)))
		body = []ir.Stmt{set(acc, ir.Assign, ir.Const(ir.I32, 0), at...), loop("acc.n", s.Planes,
			set(acc, ir.Assign, add(ir.At(acc, at...), ir.At(acc, at...)), at...), ir.Nest(red, set(acc, ir.AddTo, pop, at...)))}
	}
	nests = append(nests, ir.Nest([]ir.Loop{{Var: "acc.b", Extent: 1}, {Var: "acc.h", Extent: oh}, {Var: "acc.w", Extent: ow}, {Var: "acc.o", Extent: o}}, ir.Seq(body...)))
	allocs = append(allocs, acc)

	last := acc
	if s.Pool > 0 {
		ph, pw := oh/s.Pool, ow/s.Pool
		pool := buf("pool", num, 1, ph, pw, o)
		y.Shape = []int{1, ph, pw, s.Words}
		pat := []ir.Expr{v("pool.b"), v("pool.h"), v("pool.w"), v("pool.o")}
		low := ir.Const(num, -1<<31)
		op := ir.MaxTo
		if s.Float {
			low = ir.Float(-1e30)
		}
		nests = append(nests, ir.Nest([]ir.Loop{{Var: "pool.b", Extent: 1}, {Var: "pool.h", Extent: ph}, {Var: "pool.w", Extent: pw}, {Var: "pool.o", Extent: o}},
			ir.Seq(set(pool, ir.Assign, low, pat...), ir.Nest([]ir.Loop{{Var: "pool.i", Extent: s.Pool}, {Var: "pool.j", Extent: s.Pool}},
				set(pool, op, ir.At(acc, v("pool.b"), add(mul(v("pool.h"), s.Pool), v("pool.i")), add(mul(v("pool.w"), s.Pool), v("pool.j")), v("pool.o")), pat...)))))
		allocs = append(allocs, pool)
		last = pool
	}
	oidx := add(mul(v("q"), 32), v("l"))
	bit := ir.Bin(ir.Shl, ir.CastTo(ir.U32, ir.Bin(ir.Lt, ir.At(last, v("b"), v("h"), v("w"), oidx), ir.At(t, oidx))), ir.CastTo(ir.U32, v("l")))
	yat := []ir.Expr{v("b"), v("h"), v("w"), v("q")}
	bits := []ir.Stmt{set(y, ir.OrTo, bit, yat...)}
	params := []ir.Param{{Buffer: x}, {Buffer: w}, {Buffer: t}, {Buffer: y, Out: true}}
	if s.Raw {
		z := buf("z", num, 1, y.Shape[1], y.Shape[2], o)
		params = append(params, ir.Param{Buffer: z, Out: true})
		bits = append(bits, set(z, ir.Assign, ir.At(last, v("b"), v("h"), v("w"), oidx), v("b"), v("h"), v("w"), oidx))
	}
	nests = append(nests, ir.Nest([]ir.Loop{{Var: "b", Extent: 1}, {Var: "h", Extent: y.Shape[1]}, {Var: "w", Extent: y.Shape[2]}, {Var: "q", Extent: s.Words}},
		ir.Seq(set(y, ir.Assign, ir.Const(ir.U32, 0), yat...), loop("l", 32, bits...))))

	out := nests[len(nests)-1]
	for i := len(allocs) - 1; i >= 0; i-- {
		out = &ir.Alloc{Buf: allocs[i], Body: ir.Seq(nests[i], out)}
	}
	return &ir.Func{Name: "conv", Params: params, Body: out}
}
