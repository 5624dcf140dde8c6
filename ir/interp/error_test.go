package interp

import (
	"context"
	"errors"
	"strings"
	"testing"

	"ripc/ir"
)

func TestRuntimeErrors(t *testing.T) {
	x, y, a := buffer("x", ir.U8, 2, 8), buffer("y", ir.U8, 8), buffer("a", ir.I32)
	i, h := ir.V("i"), ir.V("h")
	instr := fn(loop("k", 4, set(buffer("yp", ir.U8, 4), ir.At(buffer("q", ir.U8, 4), ir.Bin(ir.Add, ir.V("k"), ir.Int(1))), ir.V("k"))),
		buffer("q", ir.U8, 4), buffer("yp", ir.U8, 4))
	instr.Name = "mv"
	call := func(start ir.Expr) ir.Stmt {
		return &ir.Call{Fn: instr, Args: []ir.Window{{Buf: "x", Idx: []ir.Expr{ir.Int(1), start}}, {Buf: "y", Idx: []ir.Expr{ir.Int(0)}}}}
	}
	guarded := ir.Bin(ir.And, ir.Bin(ir.Lt, i, ir.Int(8)), ir.Bin(ir.Eq, ir.At(y, i), u8(0)))
	for name, c := range map[string]struct {
		body ir.Stmt
		want string
	}{
		"load":      {loop("h", 2, loop("i", 9, set(y, ir.At(x, h, i), ir.Int(0)))), "@f: index 8 out of range 0..7 in dimension 1 of %x: %x[0, 8] of shape [2, 8] at %h=0, %i=8"},
		"negative":  {loop("i", 2, set(y, ir.At(x, ir.Int(0), ir.Bin(ir.Sub, i, ir.Int(1))), i)), "@f: index -1 out of range 0..7 in dimension 1 of %x: %x[0, -1] of shape [2, 8] at %i=0"},
		"store":     {loop("i", 9, set(y, u8(0), i)), "@f: index 8 out of range 0..7 in dimension 0 of %y: %y[8] of shape [8] at %i=8"},
		"in memory": {set(y, ir.At(x, ir.Int(0), ir.Int(9)), ir.Int(0)), "@f: index 9 out of range 0..7 in dimension 1 of %x: %x[0, 9] of shape [2, 8]"},
		"loaded":    {set(y, ir.At(x, ir.CastTo(ir.I64, ir.At(y, ir.Int(0))), ir.Int(0)), ir.Int(1)), "@f: index 5 out of range 0..1 in dimension 0 of %x: %x[5, 0] of shape [2, 8]"},
		"and is not a guard": {loop("i", 9, &ir.If{Cond: guarded, Then: set(y, u8(0), i)}),
			"@f: index 8 out of range 0..7 in dimension 0 of %y: %y[8] of shape [8] at %i=8"},
		"shift":          {loop("i", 9, set(y, ir.Bin(ir.Shl, u8(1), ir.CastTo(ir.U8, i)), ir.Int(0))), "@f: shift count 8 out of range 0..7 for u8 in 1u8 << cast<u8>(%i) at %i=8"},
		"negative shift": {set(y, ir.CastTo(ir.U8, ir.Bin(ir.Shr, ir.Const(ir.I64, 1), ir.CastTo(ir.I64, ir.Const(ir.I8, -1)))), ir.Int(0)), "@f: shift count -1 out of range 0..63 for i64 in 1 >> cast<i64>(-1i8)"},
		"uninitialized":  {&ir.Alloc{Buf: a, Body: loop("i", 2, update(a, ir.AddTo, ir.Const(ir.I32, 1)))}, "@f: %a is read before it is written: %a at %i=0"},
		"uninitialized again": {loop("i", 2, &ir.Alloc{Buf: a, Body: ir.Seq(
			&ir.If{Cond: ir.Bin(ir.Eq, i, ir.Int(0)), Then: set(a, ir.Const(ir.I32, 1))}, set(y, ir.CastTo(ir.U8, ir.At(a)), i))}),
			"@f: %a is read before it is written: %a at %i=1"},
		"window": {loop("i", 6, call(i)), "@f: window of 4 at 5 leaves 0..7 in dimension 1 of %x: %x[1, 5] of shape [2, 8] at %i=5"},
		"in the instruction": {loop("i", 1, call(i)),
			"@f: in @mv: index 4 out of range 0..3 in dimension 0 of %q: %q[4] of shape [4] at %i=0, %k=3"},
	} {
		err := run(t, fn(c.body, x, y), make([]byte, 16), []byte{5, 0, 0, 0, 0, 0, 0, 0})
		var re *RuntimeError
		if name == "window" { // the body would fail first
			fixed := *instr
			fixed.Body = &ir.Block{}
			err = run(t, fn(loop("i", 6, &ir.Call{Fn: &fixed, Args: []ir.Window{{Buf: "x", Idx: []ir.Expr{ir.Int(1), i}}, {Buf: "y", Idx: []ir.Expr{ir.Int(0)}}}}), x, y), make([]byte, 16), make([]byte, 8))
		}
		if !errors.As(err, &re) || err.Error() != c.want {
			t.Errorf("%s: got %v\nwant %s", name, err, c.want)
		}
	}
}

// TestRange: what a buffer's range has not is neither stored, by whatever store or instruction, nor brought.
func TestRange(t *testing.T) {
	x, y, a := buffer("x", ir.I8, 4), buffer("y", ir.I8, 4), buffer("a", ir.I8)
	x.Range, y.Range, a.Range = ir.Range{From: -5, To: 5}, ir.Range{From: -3, To: 4}, ir.Range{From: 0, To: 9}
	i := ir.V("i")
	q, r := buffer("q", ir.I8, 4), buffer("yr", ir.I8, 4)
	instr := fn(loop("k", 4, update(r, ir.AddTo, ir.At(q, ir.V("k")), ir.V("k"))), q, r)
	instr.Name = "addto"
	for name, c := range map[string]struct {
		body  ir.Stmt
		bytes []byte
		want  string
	}{
		"inside":      {loop("i", 4, set(y, ir.At(x, i), i)), []byte{0xFD, 0, 4, 1}, ""},
		"above":       {loop("i", 4, set(y, ir.At(x, i), i)), []byte{0, 0, 5, 1}, "@f: 5 is stored, and %y: i8[4] from -3 to 4: %y[2] of shape [4] at %i=2"},
		"below":       {loop("i", 4, set(y, ir.At(x, i), i)), []byte{0, 0xFC, 0, 1}, "@f: -4 is stored, and %y: i8[4] from -3 to 4: %y[1] of shape [4] at %i=1"},
		"brought":     {loop("i", 4, set(y, ir.At(x, i), i)), []byte{0, 0, 6, 1}, "@f: element 2 of argument 0 is not one of %x: i8[4] from -5 to 5"},
		"accumulated": {&ir.Alloc{Buf: a, Body: ir.Seq(set(a, ir.Const(ir.I8, 7)), loop("i", 4, update(a, ir.AddTo, ir.Const(ir.I8, 1))))}, []byte{0, 0, 0, 0}, "@f: 10 is stored, and %a: i8 from 0 to 9: %a at %i=2"},
		"in an instruction": {ir.Seq(loop("i", 4, set(y, ir.Const(ir.I8, 2), i)), &ir.Call{Fn: instr, Args: []ir.Window{{Buf: "x", Idx: []ir.Expr{ir.Int(0)}}, {Buf: "y", Idx: []ir.Expr{ir.Int(0)}}}}),
			[]byte{0, 3, 0, 0}, "@f: in @addto: 5 is stored, and %yr: i8[4] from -3 to 4: %yr[1] of shape [4] at %k=1"},
	} {
		err := run(t, fn(c.body, x, y), c.bytes, make([]byte, 4))
		if got := ""; err != nil || c.want != "" {
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%s: got %s\nwant %s", name, got, c.want)
			}
		}
	}
}

func TestCompileErrors(t *testing.T) {
	x, y, b := buffer("x", ir.U8, 2), buffer("y", ir.U8, 2), buffer("yb", ir.Bool)
	fl := buffer("yf", ir.F32)
	zero := ir.Int(0)
	bin := func(op ir.BinOp, a, b ir.Expr) ir.Expr { return &ir.Binary{Op: op, A: a, B: b} }
	put := func(e ir.Expr) ir.Stmt { return set(y, e, zero) }
	yes := ir.Const(ir.Bool, 1)
	instr := fn(&ir.Block{}, buffer("yp", ir.U8, 2))
	instr.Name = "i"
	loopy := &ir.Func{Name: "loopy"}
	loopy.Body = &ir.Call{Fn: loopy}
	call := func(buf string, idx ...ir.Expr) ir.Stmt {
		return &ir.Call{Fn: instr, Args: []ir.Window{{Buf: buf, Idx: idx}}}
	}
	for want, body := range map[string]ir.Stmt{
		"there is no buffer %z here":                 put(ir.At(buffer("z", ir.U8))),
		"there is no loop variable %i here":          put(ir.At(x, ir.V("i"))),
		"0 indices for %x: u8[2]":                    put(ir.At(x)),
		"%x[0u8]: index 0u8 is u8":                   put(ir.At(x, u8(0))),
		"%x: u8[2] is loaded as i8":                  put(ir.CastTo(ir.U8, &ir.Load{Buf: "x", T: ir.I8, Idx: []ir.Expr{zero}})),
		"%x is an input, but is written":             set(x, u8(0), zero),
		"a value of type i64 is stored in %y":        put(zero),
		"operands of \"^\" have types u8 and i64":    put(bin(ir.Xor, u8(0), zero)),
		"the divisor 0u8 is not a positive constant": put(bin(ir.Div, u8(1), u8(0))),
		"1 % -2: the divisor -2 is":                  put(ir.CastTo(ir.U8, bin(ir.Mod, ir.Int(1), ir.Int(-2)))),
		"the divisor %x[0] is not":                   put(bin(ir.Div, u8(1), ir.At(x, zero))),
		`operands of "+" have type bool`:             set(b, bin(ir.Add, yes, yes)),
		`operands of "<<" have type bool`:            set(b, bin(ir.Shl, yes, yes)),
		`operand of "popcount" is bool`:              set(b, ir.Un(ir.Popcount, yes)),
		`"+=" does not work on bool`:                 update(b, ir.AddTo, yes),
		`"|=" does not work on f32`:                  update(fl, ir.OrTo, ir.Float(1)),
		`operands of "^" have type f32`:              set(fl, bin(ir.Xor, ir.Float(1), ir.Float(1))),
		`operand of "sqrt" is u8`:                    put(ir.Un(ir.Sqrt, u8(4))),
		`operand of "popcount" is f32`:               set(fl, ir.Un(ir.Popcount, ir.Float(1))),
		"cannot cast i64 to bool":                    set(b, &ir.Cast{T: ir.Bool, A: zero}),
		"cannot bitcast u8 to f32":                   set(fl, &ir.Bitcast{T: ir.F32, A: u8(1)}),
		"cannot bitcast i64 to u8":                   put(&ir.Bitcast{T: ir.U8, A: zero}),
		"an operand of fma is u8":                    set(fl, &ir.Fma{A: u8(1), B: ir.Float(1), C: ir.Float(1)}),
		"sides of select have types u8 and i64":      put(&ir.Select{Cond: yes, A: u8(1), B: zero}),
		"select(0, 1u8, 1u8): the condition":         put(&ir.Select{Cond: zero, A: u8(1), B: u8(1)}),
		"the condition 0 is i64, not bool":           &ir.If{Cond: zero, Then: &ir.Block{}},
		"loop %i has extent -1":                      loop("i", -1),
		"the shape is negative or too large":         &ir.Alloc{Buf: buffer("a", ir.U8, 1<<40, 1<<40), Body: &ir.Block{}},
		"%a: i8[-1]: the shape is negative":          &ir.Alloc{Buf: buffer("a", ir.I8, -1), Body: &ir.Block{}},
		"%a has no element type":                     &ir.Alloc{Buf: buffer("a", ir.Invalid), Body: &ir.Block{}},
		"statement <nil> is missing":                 loop("i", 1, ir.Stmt(&ir.If{Cond: yes})),
		"@loopy calls itself":                        &ir.Call{Fn: loopy},
		"call @i has 0 arguments for 1":              &ir.Call{Fn: instr},
		"call @i writes the input %x":                call("x", zero),
		"window of %yf: f32 cannot be parameter":     call("yf"),
		"there is no buffer %w here":                 call("w"),
		"2 indices for %y: u8[2]":                    call("y", zero, zero),
		"@f: @i2: there is no loop variable %out":    loop("out", 1, &ir.Call{Fn: &ir.Func{Name: "i2", Body: loop("k", 1, &ir.If{Cond: bin(ir.Lt, ir.V("out"), zero), Then: &ir.Block{}})}}),
	} {
		_, err := Compile(fn(body, x, y, b, fl))
		var e *ir.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v\nwant %s", err, want)
		}
	}
	if _, err := Compile(fn(&ir.Block{}, x, x)); err == nil || !strings.Contains(err.Error(), "two parameters are called %x") {
		t.Errorf("got %v", err)
	}
	c, err := Compile(fn(&ir.Block{}, x))
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][][]byte{{}, {{1}}, {{1, 2, 3}}} {
		if c.Run(context.Background(), args) == nil {
			t.Errorf("%v: no error", args)
		}
	}
}
