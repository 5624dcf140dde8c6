package interp

import (
	"context"
	"errors"
	"slices"
	"testing"

	"ripc/ir"
)

func buffer(name string, t ir.Type, shape ...int) ir.Buffer {
	return ir.Buffer{Name: name, Type: t, Shape: shape}
}

func set(b ir.Buffer, v ir.Expr, idx ...ir.Expr) *ir.Store {
	return &ir.Store{Buf: b.Name, Idx: idx, Val: v}
}

func update(b ir.Buffer, op ir.StoreOp, v ir.Expr, idx ...ir.Expr) *ir.Store {
	return &ir.Store{Buf: b.Name, Idx: idx, Op: op, Val: v}
}

func loop(v string, n int, body ...ir.Stmt) ir.Stmt {
	return &ir.For{Var: v, Extent: n, Body: ir.Seq(body...)}
}

func u8(v int64) ir.Expr { return ir.Const(ir.U8, v) }

// fn makes a Func; buffers called y... are outputs.
func fn(body ir.Stmt, bufs ...ir.Buffer) *ir.Func {
	f := &ir.Func{Name: "f", Body: body}
	for _, b := range bufs {
		f.Params = append(f.Params, ir.Param{Buffer: b, Out: b.Name[0] == 'y'})
	}
	return f
}

// run runs f checked and unchecked, which must agree.
func run(t *testing.T, f *ir.Func, args ...[]byte) error {
	t.Helper()
	plain := make([][]byte, len(args))
	for i, a := range args {
		plain[i] = slices.Clone(a)
	}
	c, err := Compile(f)
	if err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
	perr := c.Run(context.Background(), plain)
	if c, err = CompileChecked(f); err != nil {
		t.Fatal(err)
	}
	err = c.Run(context.Background(), args)
	if err == nil && perr != nil {
		t.Fatalf("only the unchecked run fails: %v", perr)
	}
	for i := range args {
		if err == nil && !slices.Equal(args[i], plain[i]) {
			t.Fatalf("checked %v, unchecked %v", args[i], plain[i])
		}
	}
	return err
}

func TestStatements(t *testing.T) {
	x, y, a := buffer("x", ir.U8, 4), buffer("y", ir.U8, 4), buffer("a", ir.U8)
	i := ir.V("i")
	xi := ir.At(x, i)
	for name, c := range map[string]struct {
		body ir.Stmt
		want []byte
	}{
		"assign":   {loop("i", 4, set(y, xi, i)), []byte{1, 2, 3, 250}},
		"+=":       {loop("i", 4, update(y, ir.AddTo, xi, i)), []byte{10 + 1, 0 + 2, 200 + 3, 44}},
		"|=":       {loop("i", 4, update(y, ir.OrTo, xi, i)), []byte{11, 2, 203, 250}},
		"min=":     {loop("i", 4, update(y, ir.MinTo, xi, i)), []byte{1, 0, 3, 50}},
		"max=":     {loop("i", 4, update(y, ir.MaxTo, xi, i)), []byte{10, 2, 200, 250}},
		"none":     {loop("i", 0, set(y, xi, ir.Int(99))), []byte{10, 0, 200, 50}},
		"comment":  {ir.Seq(&ir.Comment{Text: "nothing"}, &ir.Comment{Text: "at all"}), []byte{10, 0, 200, 50}},
		"parallel": {&ir.For{Var: "i", Extent: 4, Kind: ir.Parallel, Body: set(y, xi, i)}, []byte{1, 2, 3, 250}},
		"reversed": {loop("i", 4, set(y, ir.At(x, ir.Bin(ir.Sub, ir.Int(3), i)), i)), []byte{250, 3, 2, 1}},
		"general":  {loop("i", 4, set(y, ir.At(x, ir.Bin(ir.Mod, ir.Bin(ir.Mul, i, i), ir.Int(4))), i)), []byte{1, 2, 1, 2}},
		"if": {loop("i", 4, &ir.If{Cond: ir.Bin(ir.Lt, i, ir.Int(2)), Then: set(y, u8(7), i), Else: set(y, u8(9), i)}),
			[]byte{7, 7, 9, 9}},
		"if guards":     {loop("i", 9, &ir.If{Cond: ir.Bin(ir.Lt, i, ir.Int(4)), Then: set(y, xi, i)}), []byte{1, 2, 3, 250}},
		"select guards": {loop("i", 4, set(y, &ir.Select{Cond: ir.Bin(ir.Lt, i, ir.Int(3)), A: ir.At(x, ir.Bin(ir.Add, i, ir.Int(1))), B: u8(0)}, i)), []byte{2, 3, 250, 0}},
		"alloc": {loop("i", 4, &ir.Alloc{Buf: a, Body: ir.Seq(set(a, u8(1)), update(a, ir.AddTo, xi), set(y, ir.At(a), i))}),
			[]byte{2, 3, 4, 251}},
		"order": {ir.Seq(set(y, u8(5), ir.Int(0)), loop("i", 3, set(y, ir.At(y, i), ir.Bin(ir.Add, i, ir.Int(1))))), []byte{5, 5, 5, 5}},
	} {
		out := []byte{10, 0, 200, 50}
		if err := run(t, fn(c.body, x, y), []byte{1, 2, 3, 250}, out); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if !slices.Equal(out, c.want) {
			t.Errorf("%s: got %v, want %v", name, out, c.want)
		}
	}
}

func TestFloatStores(t *testing.T) {
	y := buffer("y", ir.F32, 5)
	v := func(op ir.StoreOp, old, x float32, want float32, i int) ir.Stmt {
		ok := &ir.Select{Cond: ir.Bin(ir.Eq, ir.At(y, ir.Int(i)), ir.Float(want)), A: ir.Float(1), B: ir.At(y, ir.Int(i))}
		return ir.Seq(set(y, ir.Float(old), ir.Int(i)), update(y, op, ir.Float(x), ir.Int(i)), set(y, ok, ir.Int(i)))
	}
	body := ir.Seq(v(ir.Assign, 1, 2, 2, 0), v(ir.AddTo, 1, 2, 3, 1), v(ir.MinTo, 1, 2, 1, 2), v(ir.MaxTo, 1, 2, 2, 3), v(ir.MinTo, nan, 4, 4, 4))
	out := make([]byte, 20)
	if err := run(t, fn(body, y), out); err != nil {
		t.Fatal(err)
	}
	if one := []byte{0, 0, 0x80, 0x3F}; !slices.Equal(out, slices.Concat(one, one, one, one, one)) {
		t.Errorf("got %v", out)
	}
}

// TestWideElements checks every element width, at an address that is not aligned.
func TestWideElements(t *testing.T) {
	for _, ty := range []ir.Type{ir.Bool, ir.I8, ir.I16, ir.I32, ir.I64, ir.U8, ir.U16, ir.U32, ir.U64, ir.F32} {
		x, y := buffer("x", ty, 3), buffer("y", ty, 3)
		n := x.Bytes()
		mem := make([]byte, 2*n+2)
		for i := range n {
			mem[1+i] = byte(i%2) | byte(0x90*(ty.Bits()/8&1)) // 0 or 1 for bool
			if ty == ir.Bool {
				mem[1+i] = byte(i % 2)
			}
		}
		in, out := mem[1:1+n], mem[1+n:1+2*n]
		if err := run(t, fn(loop("i", 3, set(y, ir.At(x, ir.V("i")), ir.V("i"))), x, y), in, out); err != nil || !slices.Equal(in, out) {
			t.Errorf("%s: got %v, want %v (%v)", ty, out, in, err)
		}
	}
}

// TestPoison: an alloc holds the pattern at each entry, and only the checked run refuses to read it.
func TestPoison(t *testing.T) {
	a, y := buffer("a", ir.U8, 2), buffer("y", ir.U8, 2)
	i := ir.V("i")
	f := fn(loop("i", 2, &ir.Alloc{Buf: a, Body: ir.Seq(set(y, ir.At(a, i), i), set(a, u8(1), ir.Int(0)), set(a, u8(1), ir.Int(1)))}), y)
	c, err := Compile(f)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]byte, 2)
	if err := c.Run(context.Background(), [][]byte{out}); err != nil || out[0] != Poison || out[1] != Poison {
		t.Errorf("got %x, %v", out, err)
	}
	var re *RuntimeError
	if err := run(t, f, out); !errors.As(err, &re) || re.Buf != "a" {
		t.Errorf("got %v", err)
	}
}

// TestCall runs an instruction that adds a row of two to a column of an accumulator, through nested windows.
func TestCall(t *testing.T) {
	p, q := buffer("p", ir.U8, 2, 2), buffer("yq", ir.U8, 2, 2)
	i, j := ir.V("i"), ir.V("j")
	inner := fn(loop("i", 2, loop("j", 2, update(q, ir.AddTo, ir.At(p, j, i), i, j))), p, q) // the transpose
	inner.Name = "add_t"
	r, s := buffer("r", ir.U8, 3, 4), buffer("ys", ir.U8, 2, 3)
	outer := fn(&ir.Call{Fn: inner, Args: []ir.Window{{Buf: "r", Idx: []ir.Expr{ir.Int(1), ir.Int(2)}}, {Buf: "ys", Idx: []ir.Expr{ir.Int(0), ir.Int(1)}}}}, r, s)
	outer.Name = "outer"
	x, y := buffer("x", ir.U8, 2, 4, 5), buffer("y", ir.U8, 2, 2, 3)
	body := loop("i", 2, &ir.Call{Fn: outer, Args: []ir.Window{
		{Buf: "x", Idx: []ir.Expr{i, ir.Int(1), ir.Int(1)}}, {Buf: "y", Idx: []ir.Expr{i, ir.Int(0), ir.Int(0)}}}})
	in, out := make([]byte, x.Bytes()), make([]byte, y.Bytes())
	for k := range in {
		in[k] = byte(k)
	}
	for k := range out {
		out[k] = 100
	}
	if err := run(t, fn(body, x, y), in, out); err != nil {
		t.Fatal(err)
	}
	// The 2x2 window starts at row 1+1, column 1+2 of image i: 20i + 13, 14 / 18, 19.
	want := []byte{100, 113, 118, 100, 114, 119, 100, 133, 138, 100, 134, 139}
	if !slices.Equal(out, want) {
		t.Errorf("got %v, want %v", out, want)
	}
}

func TestCancel(t *testing.T) {
	y := buffer("y", ir.U8)
	f := fn(loop("i", 1<<40, update(y, ir.AddTo, u8(1))), y)
	c, err := Compile(f)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Run(ctx, [][]byte{{0}}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
