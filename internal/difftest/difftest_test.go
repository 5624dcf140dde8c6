package difftest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"strings"
	"testing"

	"ripc/ir"
	"ripc/ir/interp"
)

func buffer(name string, t ir.Type, shape ...int) ir.Buffer {
	return ir.Buffer{Name: name, Type: t, Shape: shape}
}

// dot is the xor-popcount dot product of two bipolar vectors of k elements.
func dot(k int) *ir.Func {
	words := (k + 31) / 32
	enc := ir.Encoding{Kind: ir.Bipolar, Channels: k}
	a, b, y := buffer("a", ir.U32, 1, words), buffer("b", ir.U32, 1, words), buffer("y", ir.I32)
	a.Enc, b.Enc = enc, enc
	pop := ir.CastTo(ir.I32, ir.Un(ir.Popcount, ir.Bin(ir.Xor, ir.At(a, ir.Int(0), ir.V("i")), ir.At(b, ir.Int(0), ir.V("i")))))
	body := ir.Seq(
		&ir.Store{Buf: "y", Val: ir.Const(ir.I32, int64(k))},
		&ir.For{Var: "i", Extent: words, Body: &ir.Store{Buf: "y", Op: ir.AddTo, Val: ir.Bin(ir.Mul, ir.Const(ir.I32, -2), pop)}})
	return &ir.Func{Name: "dot", Params: []ir.Param{{Buffer: a}, {Buffer: b}, {Buffer: y, Out: true}}, Body: body}
}

// fake records a failure instead of failing.
type fake struct {
	testing.TB
	msg string
}

func (f *fake) Helper()                           {}
func (f *fake) Fatalf(format string, args ...any) { f.msg = fmt.Sprintf(format, args...); panic(f) }

// failure is what Same says.
func failure(t *testing.T, before, after *ir.Func) string {
	f := &fake{TB: t}
	func() {
		defer func() {
			if r := recover(); r != nil && r != any(f) {
				panic(r)
			}
		}()
		Same(f, before, after)
	}()
	return f.msg
}

func TestSame(t *testing.T) {
	f := dot(70)
	Same(t, f, f, 1, 2, 3)
	reversed := f.WithBody(ir.SubstStmt(f.Body, map[string]ir.Expr{"i": ir.Bin(ir.Sub, ir.Int(2), ir.V("i"))}))
	Same(t, f, reversed)

	change := func(from, to string, fs func(ir.Stmt) ir.Stmt) {
		t.Helper()
		msg := failure(t, f, f.WithBody(ir.MapStmt(f.Body, fs, nil)))
		for _, want := range []string{from, to} {
			if !strings.Contains(msg, want) {
				t.Errorf("Same says %q, want %q in it", msg, want)
			}
		}
	}
	change("%y: ", "1 of 1 elements differ", func(s ir.Stmt) ir.Stmt {
		if l, ok := s.(*ir.For); ok {
			return &ir.For{Var: l.Var, Extent: 2, Body: l.Body}
		}
		return s
	})
	change("after", "index 3 out of range 0..2", func(s ir.Stmt) ir.Stmt {
		if l, ok := s.(*ir.For); ok {
			return &ir.For{Var: l.Var, Extent: 4, Body: l.Body}
		}
		return s
	})
	change("after", "no loop variable", func(s ir.Stmt) ir.Stmt {
		if l, ok := s.(*ir.For); ok {
			return &ir.For{Var: "j", Extent: 3, Body: l.Body}
		}
		return s
	})
	change("seed 1", "differ", func(s ir.Stmt) ir.Stmt { return &ir.Block{} }) // writes nothing
	if msg := failure(t, f, dot(71)); !strings.Contains(msg, "parameters differ") {
		t.Errorf("Same says %q", msg)
	}
	uninit := f.WithBody(&ir.Alloc{Buf: buffer("u", ir.I32), Body: ir.Seq(f.Body, &ir.Store{Buf: "y", Op: ir.AddTo, Val: ir.At(buffer("u", ir.I32))})})
	if msg := failure(t, f, uninit); !strings.Contains(msg, "%u is read before it is written") {
		t.Errorf("Same says %q", msg)
	}
}

func TestRandomArgs(t *testing.T) {
	f := dot(70)
	args := RandomArgs(f, 7)
	for i := range 2 {
		if last := binary.LittleEndian.Uint32(args[i][8:]); last>>6 != 0 || last == 0 {
			t.Errorf("last word %#x: want 6 channels and no padding bits", last)
		}
	}
	if string(args[0]) == string(args[1]) || string(args[0]) != string(RandomArgs(f, 7)[0]) || string(args[0]) == string(RandomArgs(f, 8)[0]) {
		t.Error("contents should depend on the seed and the parameter, and on nothing else")
	}
	// %y[%i] = cast<f32>(%t[cast<i64>(%x[%i])] >> %s[%i])
	x, s, tab, fl := buffer("x", ir.I8, 500), buffer("s", ir.U8, 500), buffer("t", ir.U8, 200), buffer("f", ir.F32, 5000)
	shift := ir.Bin(ir.Shr, ir.At(tab, ir.CastTo(ir.I64, ir.At(x, ir.V("i")))), ir.At(s, ir.V("i")))
	g := &ir.Func{Name: "g", Params: []ir.Param{{Buffer: x}, {Buffer: s}, {Buffer: tab}, {Buffer: fl, Out: true}},
		Body: &ir.For{Var: "i", Extent: 500, Body: &ir.Store{Buf: "f", Idx: []ir.Expr{ir.V("i")}, Val: ir.CastTo(ir.F32, shift)}}}
	Same(t, g, g)
	args = RandomArgs(g, 1)
	var top uint8
	for _, v := range args[2] {
		top = max(top, v)
	}
	zeros := 0
	for i := range fl.Elems() {
		v := math.Abs(float64(math.Float32frombits(binary.LittleEndian.Uint32(args[3][4*i:]))))
		if v == 0 {
			zeros++
		} else if v < 0x1p-60 || v > 0x1p60 {
			t.Errorf("f32 %x", v)
		}
	}
	if zeros == 0 || top < 128 {
		t.Errorf("%d zeros, greatest u8 %d", zeros, top)
	}
}

func TestDiff(t *testing.T) {
	f := buffer("f", ir.F32, 2, 2)
	words := func(ws ...uint32) (b []byte) {
		for _, w := range ws {
			b = binary.LittleEndian.AppendUint32(b, w)
		}
		return b
	}
	for _, c := range []struct {
		buf  ir.Buffer
		a, b []byte
		want string
	}{
		{f, words(0, 1, 2, 0x7FC00000), words(0, 1, 2, 0xFFC00001), ""},
		{f, words(0, 1, 0x3F800000, 3), words(0, 1, 0x40000000, 4), "%f[1, 0]: 1.0 (0x3f800000) and 2.0 (0x40000000); 2 of 4 elements differ"},
		{f, words(0, 0, 0, 0), words(0, 1<<31, 0, 0), "%f[0, 1]: 0.0 (0x00000000) and -0.0 (0x80000000); 1 of 4 elements differ"},
		{buffer("i", ir.I16), []byte{0xFF, 0xFF}, []byte{1, 0}, "%i: -1 and 1; 1 of 1 elements differ"},
		{buffer("u", ir.U64, 1), make([]byte, 8), []byte{1, 0, 0, 0, 0, 0, 0, 0x80}, "%u[0]: 0x0 and 0x8000000000000001; 1 of 1 elements differ"},
		{f, nil, words(1), "%f: f32[2, 2]: 0 and 4 bytes"},
	} {
		if got := Diff(c.a, c.b, c.buf); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestClone(t *testing.T) {
	a := [][]byte{{1, 2}, {}}
	b := Clone(a)
	b[0][0] = 9
	if a[0][0] != 1 || len(b) != 2 || b[0][1] != 2 {
		t.Errorf("a = %v, b = %v", a, b)
	}
}

func TestDot(t *testing.T) {
	for _, k := range []int{1, 31, 32, 33, 64, 70} {
		f := dot(k)
		args := run(t, f, RandomArgs(f, uint64(k)))
		sum := 0
		for i := range k {
			differ := (args[0][i/8] ^ args[1][i/8]) >> (i % 8) & 1
			sum += 1 - 2*bits.OnesCount8(differ)
		}
		if got := int32(binary.LittleEndian.Uint32(args[2])); got != int32(sum) {
			t.Errorf("k=%d: got %d, want %d", k, got, sum)
		}
	}
}

func run(t *testing.T, f *ir.Func, args [][]byte) [][]byte {
	t.Helper()
	c, err := interp.Compile(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Run(t.Context(), args); err != nil {
		t.Fatal(err)
	}
	return args
}
