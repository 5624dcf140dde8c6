package deps_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
	"ripc/ir/interp"
	"ripc/ir/irtext"
)

// TestInPlace: Funcs whose %y may lie where %x does, and others, with what is read too late.
func TestInPlace(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"elementwise", `func @f(%x: f32[6, 32], %z: f32[6, 32], out %y: f32[6, 32]) {
  for %i in 0:6 parallel {
    for %c in 0:32 vectorize {
      %y[%i, %c] = %x[%i, %c] + %z[%i, %c]
    }
  }
}`, ""},
		{"each element read twice", `func @f(%x: f32[6, 32], out %y: f32[6, 32]) {
  for %i in 0:6 parallel {
    for %c in 0:32 vectorize {
      %y[%i, %c] = select(%x[%i, %c] > 0.0, %x[%i, %c], 0.0)
    }
  }
}`, ""},
		{"a tile is read before any of it is written", `func @f(%x: f32[6, 32], out %y: f32[6, 32]) {
  for %i in 0:6 parallel {
    for %o in 0:4 {
      alloc %t: f32[8]
      for %k in 0:8 vectorize {
        %t[%k] = %x[%i, %o * 8 + %k] * 2.0
      }
      for %k2 in 0:8 {
        %y[%i, %o * 8 + %k2] = %t[7 - %k2]
      }
    }
  }
}`, ""},
		{"another shape of as many elements", `func @f(%x: f32[192], out %y: f32[6, 32]) {
  for %i in 0:6 {
    for %c in 0:32 vectorize {
      %y[%i, %c] = %x[%i * 32 + %c]
    }
  }
}`, ""},
		{"bytes of another sign", `func @f(%x: u8[192], out %y: i8[192]) {
  for %i in 0:192 vectorize {
    %y[%i] = cast<i8>(cast<i32>(%x[%i]) - 128i32)
  }
}`, ""},
		{"rows of a softmax", `func @f(%x: f32[4, 8], out %y: f32[4, 8]) {
  for %n in 0:4 {
    alloc %s: f32[1]
    %s[0] = 0.0
    for %i in 0:8 {
      %s[0] += %x[%n, %i]
    }
    for %j in 0:8 {
      %y[%n, %j] = %x[%n, %j] / %s[0]
    }
  }
}`, ""},
		{"a row is read after its first element was written", `func @f(%x: f32[4, 8], out %y: f32[4, 8]) {
  for %n in 0:4 {
    for %j in 0:8 {
      %y[%n, %j] = %x[%n, %j] - %x[%n, 0]
    }
  }
}`, `"%x[%n, 0]"`},
		{"a last tile that overlaps", `func @f(%x: f32[27], out %y: f32[27]) {
  for %o in 0:7 {
    for %i in 0:4 {
      %y[min(%o * 4, 23) + %i] = %x[min(%o * 4, 23) + %i]
    }
  }
}`, "min(%o * 4, 23)"},
		{"transposed", `func @f(%x: f32[8, 8], out %y: f32[8, 8]) {
  for %i in 0:8 {
    for %j in 0:8 {
      %y[%i, %j] = %x[%j, %i]
    }
  }
}`, "%x[%j, %i]"},
		{"repeated", `func @f(%x: f32[4, 8], out %y: f32[4, 8]) {
  for %i in 0:4 {
    for %j in 0:8 {
      %y[%i, %j] = %x[0, %j]
    }
  }
}`, "%x[0, %j]"},
		{"a window", `func @f(%x: f32[8], out %y: f32[8]) {
  for %i in 0:8 {
    %y[%i] = %x[min(%i + 1, 7)]
  }
}`, "%x[min(%i + 1, 7)]"},
		{"an earlier nest has written", `func @f(%x: f32[8], out %y: f32[8]) {
  for %i in 0:8 {
    %y[%i] = 0.0
  }
  for %j in 0:8 {
    %y[%j] += %x[%j]
  }
}`, "%x[%j]"},
		{"threads read all before they share the loop that writes", `func @f(%x: f32[8], out %y: f32[8]) {
  alloc %t: f32[8]
  for %i in 0:8 {
    %t[%i] = %x[%i]
  }
  for %j in 0:8 parallel {
    %y[%j] = %t[%j]
  }
}`, "%x[%i]"},
		{"the same by one thread", `func @f(%x: f32[8], out %y: f32[8]) {
  alloc %t: f32[8]
  for %i in 0:8 {
    %t[%i] = %x[%i]
  }
  for %j in 0:8 {
    %y[%j] = %t[%j]
  }
}`, ""},
		{"larger elements", `func @f(%x: f32[8], out %y: u8[8]) {
  for %i in 0:8 {
    %y[%i] = cast<u8>(%x[%i])
  }
}`, "do not lie alike"},
		{"floats and integers", `func @f(%x: f32[8], out %y: i32[8]) {
  for %i in 0:8 {
    %y[%i] = cast<i32>(%x[%i])
  }
}`, "do not lie alike"},
		{"an instruction may write before it reads", `instr @twice(%a: f32[4], out %b: f32[4]) {
  for %i in 0:4 {
    %b[%i] = %a[%i] + %a[%i]
  }
}
func @f(%x: f32[8], out %y: f32[8]) {
  for %o in 0:2 {
    call @twice(%x[%o * 4], %y[%o * 4])
  }
}`, "%x[%o * 4]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			file, err := irtext.Parse("test.ripir", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			f := file.Funcs[0]
			if err := ir.Verify(f); err != nil {
				t.Fatal(err)
			}
			err = deps.InPlace(f, "y", "x")
			var e *ir.Error
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (!errors.As(err, &e) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}

// TestInPlaceChecked: what a Func says of its parameters is proved with the kinds of its loops.
func TestInPlaceChecked(t *testing.T) {
	for text, want := range map[string]string{
		"%x[%i]":     "",
		"%x[7 - %i]": "%y over %x",
	} {
		f, err := irtext.ParseFunc("test.ripir", []byte(`func @f(%x: f32[8], out %y: f32[8] over %x) {
  for %i in 0:8 {
    %y[%i] = `+text+`
  }
}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := deps.Check(f); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestInPlaceRuns: Funcs that pass give the same in one place as in two, whichever way round their loops run.
func TestInPlaceRuns(t *testing.T) {
	passed, elementwise := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		extents := map[string]int{}
		ranges := arith.Ranges{}
		for _, v := range []string{"o", "v", "i"} {
			extents[v] = rapid.IntRange(1, 5).Draw(t, v)
			ranges = ranges.With(v, extents[v])
		}
		// Indexes begin at 0, so that a pair differs by a constant often.
		write, size := index(t), int64(0)
		read := write
		if rapid.IntRange(0, 2).Draw(t, "read") == 0 {
			read = index(t)
		}
		for _, e := range []*ir.Expr{&write, &read} {
			b, ok := arith.Bounds(*e, ranges)
			if !ok {
				t.Skip("no bounds")
			}
			*e = ir.Bin(ir.Sub, *e, ir.Int(int(b.Lo)))
			size = max(size, b.Hi-b.Lo+1)
		}
		x, y, tmp := ir.Buffer{Name: "x", Type: ir.I32, Shape: []int{int(size)}}, ir.Buffer{Name: "y", Type: ir.I32, Shape: []int{int(size)}}, ir.Buffer{Name: "t", Type: ir.I32, Shape: []int{5}}
		var inner ir.Stmt = &ir.For{Var: "i", Extent: extents["i"], Body: &ir.Store{Buf: "y", Idx: []ir.Expr{write}, Val: ir.Bin(ir.Add, ir.At(x, read), &ir.IntImm{T: ir.I32, V: 3})}}
		if rapid.Bool().Draw(t, "tile") { // all reads of i before all writes, of the same elements
			again := func(e ir.Expr) ir.Expr { return ir.Subst(e, map[string]ir.Expr{"i": ir.V("k")}) }
			inner = &ir.Alloc{Buf: tmp, Body: &ir.Block{Stmts: []ir.Stmt{
				&ir.For{Var: "k", Extent: extents["i"], Body: &ir.Store{Buf: "t", Idx: []ir.Expr{ir.V("k")}, Val: ir.At(x, again(read))}},
				&ir.For{Var: "i", Extent: extents["i"], Body: &ir.Store{Buf: "y", Idx: []ir.Expr{write}, Val: ir.Bin(ir.Add, ir.At(tmp, ir.V("i")), &ir.IntImm{T: ir.I32, V: 3})}},
			}}}
		}
		f := &ir.Func{Name: "f", Params: []ir.Param{{Buffer: x}, {Buffer: y, Out: true}},
			Body: &ir.For{Var: "o", Extent: extents["o"], Body: &ir.For{Var: "v", Extent: extents["v"], Body: inner}}}
		same := ir.ExprString(write) == ir.ExprString(read)
		if same {
			elementwise++
		}
		if deps.InPlace(f, "y", "x") != nil {
			return
		}
		passed++
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		data := make([]byte, x.Bytes())
		for i := range data {
			data[i] = byte(r.Uint32())
		}
		for turn := range 8 { // loops that run backwards
			back := map[string]ir.Expr{}
			for k, v := range []string{"o", "v", "i"} {
				if turn>>k&1 == 1 {
					back[v] = ir.Bin(ir.Sub, ir.Int(extents[v]-1), ir.V(v))
				}
			}
			g := f.WithBody(ir.MapStmt(f.Body, nil, func(e ir.Expr) ir.Expr { return ir.Subst(e, back) }))
			c, err := interp.Compile(g)
			if err != nil {
				t.Fatal(err)
			}
			apart, one := bytes.Clone(data), bytes.Clone(data) // what is not written stays as it is
			if err := errors.Join(c.Run(t.Context(), [][]byte{data, apart}), c.Run(t.Context(), [][]byte{one, one})); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(apart, one) {
				t.Fatalf("in one place, with loops %v turned round, it gives others:\n%s", back, g)
			}
		}
	})
	if passed == 0 || elementwise == 0 {
		t.Errorf("%d of the Funcs passed, %d read what they write", passed, elementwise)
	}
	t.Logf("%d passed, %d read what they write", passed, elementwise)
}
