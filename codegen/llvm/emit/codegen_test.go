package emit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"ripc/codegen/llvm/emit"
	"ripc/internal/golden"
	"ripc/ir"
)

// TestGolden compares the text that LLVM gets, before opt. The files are the reference for reviews.
func TestGolden(t *testing.T) {
	for _, name := range []string{"x86-64-v4", "x86-64-v3", "rpi4", "rpi2"} {
		tg := target(t, name)
		for _, f := range []*ir.Func{xorTile(2, 8, 2, 3), pack(2), padded()} {
			t.Run(f.Name+"/"+name, func(t *testing.T) {
				golden.Check(t, "testdata/"+f.Name+"."+name+".ll", generate(t, f, tg).LL)
			})
		}
	}
}

// padded sums a window of three that hangs over both ends.
func padded() *ir.Func {
	x, y := buf("x", ir.F32, 8), buf("y", ir.F32, 8)
	at := ir.Bin(ir.Sub, add(vi, vk), ir.Int(1))
	in0 := ir.Bin(ir.And, ir.Bin(ir.Ge, at, ir.Int(0)), ir.Bin(ir.Lt, at, ir.Int(8)))
	return &ir.Func{Name: "padded", Params: []ir.Param{in(x), out(y)}, Body: loop(ir.Parallel, "i", 8,
		set(y, ir.Float(0), vi),
		loop(ir.Serial, "k", 3, combine(ir.AddTo, y, &ir.Select{Cond: in0, A: ir.At(x, at), B: ir.Float(0)}, vi)))}
}

// TestChosenLanes wants lanes that choose between loads to stay together where the condition around keeps the loads inside: the rows of a
// last tile that has fewer.
func TestChosenLanes(t *testing.T) {
	x, t7, y := buf("x", ir.F32, 7, 8), buf("t", ir.F32, 2, 8), buf("y", ir.F32, 7, 8)
	row, vj := add(mul(vi, ir.Int(4)), vk), ir.V("j")
	chosen := func(a, b ir.Expr) ir.Expr {
		return &ir.Select{Cond: ir.Bin(ir.Ge, ir.At(x, row, vj), ir.At(t7, ir.Int(0), vj)), A: a, B: b}
	}
	value := chosen(chosen(ir.At(t7, ir.Int(0), vj), ir.At(t7, ir.Int(1), vj)), ir.At(x, row, vj))
	rows := &ir.If{Cond: ir.Bin(ir.Lt, row, ir.Int(7)), Then: loop(ir.Vectorize, "j", 8, set(y, value, row, vj))}
	f := &ir.Func{Name: "chosen", Params: []ir.Param{in(x), in(t7), out(y)}, Body: loop(ir.Parallel, "i", 2, loop(ir.Serial, "k", 4, rows))}
	if ll := string(generate(t, f, target(t, "rpi4")).LL); strings.Contains(ll, "select.a") || !strings.Contains(ll, "fcmp oge <8 x float>") {
		t.Errorf("lanes go one by one:\n%s", ll)
	}
}

// TestDeterministic emits twice.
func TestDeterministic(t *testing.T) {
	tg := target(t, "x86-64-v4")
	for _, f := range []*ir.Func{xorTile(7, 32, 2, 18), pack(2), padded()} {
		if a, b := generate(t, f, tg), generate(t, f, tg); string(a.LL) != string(b.LL) {
			t.Errorf("%s: two different texts", f.Name)
		}
	}
}

// TestInPlace: an output that may lie over an input, and that input, are not noalias.
func TestInPlace(t *testing.T) {
	x, z, y := buf("x", ir.F32, 8), buf("z", ir.F32, 8), buf("y", ir.F32, 8)
	for over, want := range map[string]string{
		"":  "ptr noalias align 64 readonly %x, ptr noalias align 64 readonly %z, ptr noalias align 64 %y,",
		"z": "ptr noalias align 64 readonly %x, ptr align 64 readonly %z, ptr align 64 %y,",
	} {
		f := &ir.Func{Name: "f", Params: []ir.Param{in(x), in(z), {Buffer: y, Out: true, Over: over}},
			Body: loop(ir.Vectorize, "i", 8, set(y, add(ir.At(x, vi), ir.At(z, vi)), vi))}
		if ll := string(generate(t, f, target(t, "rpi3")).LL); !strings.Contains(ll, want) {
			t.Errorf("over %q: no %s in\n%s", over, want, ll)
		}
		f.Body = loop(ir.Vectorize, "i", 8, set(y, add(ir.At(x, vi), ir.At(z, ir.Bin(ir.Sub, ir.Int(7), vi))), vi))
		if _, err := emit.Kernel(f, "f", target(t, "rpi3"), nil); (err != nil) != (over != "") {
			t.Errorf("over %q, read in another order: %v", over, err)
		}
	}
}

func TestErrors(t *testing.T) {
	x, y := buf("x", ir.I32, 4096), buf("y", ir.I32, 4096)
	ps := []ir.Param{in(x), out(y)}
	copyOf := func(v string) ir.Stmt { return set(y, ir.At(x, ir.V(v)), ir.V(v)) }
	fn := func(body ir.Stmt) *ir.Func { return &ir.Func{Name: "f", Params: ps, Body: body} }
	for _, c := range []struct {
		name string
		f    *ir.Func
		want string
	}{
		{"unrolled", fn(loop(ir.Unroll, "j", 2, loop(ir.Unroll, "i", 2000, copyOf("i")))), "unrolled loop %i (extent 2000)"},
		{"nothing", fn(loop(ir.Unroll, "i", 1<<40, &ir.Comment{Text: "none"})), "loop %i"},
		{"gather", fn(loop(ir.Unroll, "j", 8, loop(ir.Vectorize, "i", 256, set(y, ir.At(x, mul(ir.V("i"), ir.Int(16))), ir.V("i"))))), "vectorized loop %i (extent 256)"},
		{"lanes", fn(loop(ir.Vectorize, "i", 512, copyOf("i"))), "more than 256 lanes"},
		{"inner parallel", fn(loop(ir.Unroll, "j", 2, loop(ir.Parallel, "i", 2, copyOf("i")))), "loop %i lies in loop %j, which is unroll"},
		{"two parallel", fn(ir.Seq(loop(ir.Parallel, "i", 2, copyOf("i")), loop(ir.Parallel, "j", 2, copyOf("j")))), "%y is written by several nests"},
		{"carried", fn(loop(ir.Vectorize, "i", 8, set(y, ir.At(y, ir.V("i")), add(ir.V("i"), ir.Int(1))))),
			`cannot vectorize loop %i: its iterations may touch the same element of %y in "%y[%i]" and "%y[%i + 1] = %y[%i]"`},
		{"last", fn(loop(ir.Vectorize, "i", 8, set(y, ir.At(x, ir.V("i")), ir.Int(0)))), "cannot vectorize loop %i"},
		{"race", fn(loop(ir.Parallel, "i", 8, combine(ir.AddTo, y, ir.At(x, ir.V("i")), ir.Int(0)))), "cannot run in parallel loop %i"},
		{"nested lanes", fn(loop(ir.Vectorize, "i", 8, loop(ir.Vectorize, "j", 8, set(y, ir.Const(ir.I32, 0), add(mul(ir.V("i"), ir.Int(8)), ir.V("j")))))),
			"loop %j lies in loop %i, and both are vectorize"},
		{"lanes of calls", fn(loop(ir.Vectorize, "i", 8, &ir.Call{Fn: fn(copyOf("j"))})), "holds a call of @f"},
		{"unknown buffer", fn(set(y, ir.At(buf("q", ir.I32)), ir.Int(0))), "%q is not a buffer"},
		{"unknown variable", fn(copyOf("i")), "%i is not a loop variable"},
		{"types", fn(set(y, ir.Float(1), ir.Int(0))), "the value has type f32, the buffer i32"},
		{"operands", fn(set(y, ir.Bin(ir.Add, ir.At(x, ir.Int(0)), ir.Const(ir.I8, 1)), ir.Int(0))), "the operands are i32 and i8"},
		{"divisor", fn(set(y, ir.Bin(ir.Div, ir.At(x, ir.Int(0)), ir.At(x, ir.Int(1))), ir.Int(0))), "not a positive constant"},
		{"no such instruction", fn(&ir.Call{Fn: &ir.Func{Name: "nothing", Body: &ir.Comment{Text: "none"}}}), "no such instruction"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := emit.Kernel(c.f, "f", target(t, "x86-64-v3"), nil)
			var e *ir.Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an *ir.Error with %q", err, c.want)
			}
		})
	}
}

// TestByLane wants loops named of which a part runs lane by lane, and only those.
func TestByLane(t *testing.T) {
	x, y := buf("x", ir.I32, 64), buf("y", ir.I32, 64)
	ps := []ir.Param{in(x), out(y)}
	tg := target(t, "x86-64-v4")
	under := func(name string, cond ir.Expr) *ir.Func {
		return lanes(name, 2, 8, ps, &ir.If{Cond: cond, Then: set(y, ir.At(x, vv), add(mul(vi, ir.Int(8)), vv))})
	}
	for _, c := range []struct {
		f    *ir.Func
		want []string
	}{
		{under("tail", ir.Bin(ir.Lt, vv, ir.Int(5))), []string{"v"}},
		{under("row", ir.Bin(ir.Lt, vi, ir.Int(1))), nil},
		{xorTile(7, 32, 2, 18), nil},
		{pack(2), nil},
	} {
		if m := generate(t, c.f, tg); !slices.Equal(m.ByLane, c.want) {
			t.Errorf("%s: %q, want %q", c.f.Name, m.ByLane, c.want)
		}
	}
}

// TestFrame checks where buffers go.
func TestFrame(t *testing.T) {
	y := buf("y", ir.U8, 1)
	a, b, c := buf("a", ir.U8, 4096), buf("b", ir.U8, 4097), buf("c", ir.U8, 5000)
	use := func(b ir.Buffer) ir.Stmt { return set(b, ir.Const(ir.U8, 0), ir.Int(0)) }
	f := &ir.Func{Name: "f", Params: []ir.Param{out(y)}, Body: &ir.Alloc{Buf: a, Body: ir.Seq(
		&ir.Alloc{Buf: b, Body: use(b)}, &ir.Alloc{Buf: c, Body: use(c)})}}
	m := generate(t, f, target(t, "rpi4"))
	if m.Stack != 4096 || m.Scratch != 5056 {
		t.Errorf("stack %d, scratch %d", m.Stack, m.Scratch)
	}
}

func wantError(t *testing.T, f *ir.Func, want string) {
	t.Helper()
	if _, err := emit.Kernel(f, "f", target(t, "x86-64-v3"), nil); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

// TestLedOnce wants the address that elements of a constant lead to once for all copies of a loop that read near it, and anew where the func writes what leads there.
func TestLedOnce(t *testing.T) {
	w, table, x, y := buf("w", ir.U8, 4), buf("table", ir.U8, 256, 64), buf("x", ir.U8, 4), buf("y", ir.U8, 4, 4, 16)
	vj, vl := ir.V("j"), ir.V("l")
	found := func(from ir.Buffer) ir.Stmt {
		at := ir.CastTo(ir.I64, ir.At(from, vi))
		return loop(ir.Unroll, "j", 4, loop(ir.Vectorize, "l", 16, set(y, ir.At(table, at, add(mul(vj, ir.Int(16)), vl)), vi, vj, vl)))
	}
	for from, loads := range map[*ir.Buffer]int{&w: 1, &x: 4} {
		f := &ir.Func{Name: "led", Params: []ir.Param{in(w), in(table), out(x), out(y)}, Body: loop(ir.Serial, "i", 4, set(x, ir.Const(ir.U8, 3), vi), found(*from))}
		if n := strings.Count(string(generate(t, f, target(t, "rpi4")).LL), "load i8"); n != loads {
			t.Errorf("%s is loaded %d times, want %d", from.Name, n, loads)
		}
	}
}
