package deps_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/ir"
	"ripc/ir/deps"
	"ripc/ir/irtext"
)

// index draws an expression of the loops.
func index(t *rapid.T) ir.Expr {
	e := ir.Expr(ir.Int(rapid.IntRange(-3, 12).Draw(t, "const")))
	for _, v := range []string{"o", "v", "i"} {
		x := ir.Expr(ir.V(v))
		switch rapid.IntRange(0, 9).Draw(t, "form") {
		case 0:
			x = ir.Bin(ir.Div, x, ir.Int(rapid.IntRange(2, 3).Draw(t, "by")))
		case 1:
			x = ir.Bin(ir.Mod, x, ir.Int(rapid.IntRange(2, 3).Draw(t, "by")))
		case 2:
			x = ir.Bin(ir.Min, x, ir.Int(2))
		}
		e = ir.Bin(ir.Add, e, ir.Bin(ir.Mul, x, ir.Int(rapid.SampledFrom([]int{0, 1, 1, 2, 3, 4, 6, -1, -4}).Draw(t, "factor"))))
	}
	return e
}

// TestMeet compares with trying all iterations: what does not Meet never touches the same element.
func TestMeet(t *testing.T) {
	apart, proved := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		extents := map[string]int{}
		for _, v := range []string{"o", "v", "i"} {
			extents[v] = rapid.IntRange(1, 7).Draw(t, v)
		}
		dims := rapid.IntRange(1, 2).Draw(t, "dims")
		access := func(size int) deps.Access {
			a := deps.Access{Buf: "y", Write: true}
			for range dims {
				a.Idx = append(a.Idx, index(t))
			}
			if size > 1 {
				a.Size = []int{size}
			}
			return a
		}
		a, b := access(rapid.IntRange(1, 3).Draw(t, "window")), access(1)
		if rapid.Bool().Draw(t, "same") {
			b = a
		}
		var body ir.Stmt = &ir.Block{}
		for _, v := range []string{"i", "v", "o"} {
			body = &ir.For{Var: v, Extent: extents[v], Body: body}
		}
		loops := []string{"v"}
		if rapid.IntRange(0, 3).Draw(t, "two") == 0 {
			loops = []string{"v", "i"}
		}
		_, meet := deps.ScopeOf(body).Meet([]deps.Access{a}, []deps.Access{b}, deps.Nothing, loops...)
		truth := meets(a, b, extents, loops)
		if truth && !meet {
			t.Fatalf("%v and %v touch the same element in iterations that differ in %v of %v", a, b, loops, extents)
		}
		if !truth {
			apart++
			if !meet {
				proved++
			}
		}
	})
	if proved < apart/2 {
		t.Errorf("proved %d of %d that are apart", proved, apart)
	}
}

// meets tries all pairs of iterations with one o.
func meets(a, b deps.Access, extents map[string]int, loops []string) bool {
	at := map[string]map[[2]int64][][2]int{} // by o
	each := func(do func(env map[string]int64)) {
		for o := range extents["o"] {
			for v := range extents["v"] {
				for i := range extents["i"] {
					do(map[string]int64{"o": int64(o), "v": int64(v), "i": int64(i)})
				}
			}
		}
	}
	elements := func(x deps.Access, env map[string]int64) [][2]int64 {
		var e [2]int64
		for d, idx := range x.Idx {
			e[d] = deps.Evaluate(idx, env)
		}
		out := [][2]int64{e}
		if x.Size != nil {
			for k := 1; k < x.Size[0]; k++ {
				f := e
				f[len(x.Idx)-1] += int64(k)
				out = append(out, f)
			}
		}
		return out
	}
	each(func(env map[string]int64) {
		o := fmt.Sprint(env["o"])
		if at[o] == nil {
			at[o] = map[[2]int64][][2]int{}
		}
		for _, e := range elements(a, env) {
			at[o][e] = append(at[o][e], [2]int{int(env["v"]), int(env["i"])})
		}
	})
	found := false
	each(func(env map[string]int64) {
		for _, e := range elements(b, env) {
			for _, w := range at[fmt.Sprint(env["o"])][e] {
				if int64(w[0]) != env["v"] && (len(loops) == 1 || int64(w[1]) != env["i"]) {
					found = true
				}
			}
		}
	})
	return found
}

// TestCheck: each kind of loop, with the error or "" if it is legal.
func TestCheck(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"digits of an index", `func @f(%x: i32[64], out %y: i32[64]) {
  for %v in 0:8 vectorize {
    for %k in 0:8 {
      %y[%v * 8 + %k] = %x[%v]
    }
  }
}`, ""},
		{"digits the other way round", `func @f(%x: i32[64], out %y: i32[64]) {
  for %v in 0:8 vectorize {
    for %k in 0:8 {
      %y[%k * 8 + %v] += %x[%v]
    }
  }
}`, ""},
		{"even and odd", `func @f(%x: i32[64], out %y: i32[64]) {
  for %v in 0:8 vectorize {
    %y[%v * 2] = %y[%v * 2 + 1]
  }
}`, ""},
		{"a fused loop", `func @f(%x: i32[64], out %y: i32[4, 16]) {
  for %v in 0:64 vectorize {
    %y[%v / 16, %v % 16] = %x[%v]
  }
}`, ""},
		{"one sum", `func @f(%x: i32[8], out %y: i32[1]) {
  for %v in 0:8 vectorize {
    %y[0] += %x[%v]
  }
}`, ""},
		{"one sum of floats", `func @f(%x: f32[8], out %y: f32[1]) {
  for %v in 0:8 vectorize {
    %y[0] += %x[%v]
  }
}`, `vectorize %v: @f: cannot vectorize loop %v: its iterations may touch the same element of %y in "%y[0] += %x[%v]"`},
		{"a sum and its largest part", `func @f(%x: i32[8], out %y: i32[1]) {
  for %v in 0:8 vectorize {
    %y[0] += %x[%v]
    %y[0] max= %x[%v]
  }
}`, `in "%y[0] += %x[%v]" and "%y[0] max= %x[%v]"`},
		{"a sum from threads", `func @f(%x: i32[8], out %y: i32[1]) {
  for %v in 0:8 parallel {
    %y[0] += %x[%v]
  }
}`, "cannot run in parallel loop %v"},
		{"the neighbour", `func @f(%x: i32[8], out %y: i32[9]) {
  for %v in 0:8 vectorize {
    %y[%v + 1] = %y[%v]
  }
}`, `in "%y[%v]" and "%y[%v + 1] = %y[%v]"`},
		{"one lane", `func @f(%x: i32[8], out %y: i32[9]) {
  for %v in 0:1 vectorize {
    %y[0] = %x[%v]
  }
}`, ""},
		{"too many lanes", `func @f(%x: i32[300], out %y: i32[300]) {
  for %v in 0:300 vectorize {
    %y[%v] = %x[%v]
  }
}`, "extent 300 of loop %v is more than 256 lanes"},
		{"lanes of lanes", `func @f(%x: i32[8], out %y: i32[4, 4]) {
  for %v in 0:4 vectorize {
    for %w in 0:4 vectorize {
      %y[%v, %w] = %x[%v]
    }
  }
}`, "vectorize %w: @f: loop %w lies in loop %v, and both are vectorize"},
		{"threads in a loop", `func @f(%x: i32[8], out %y: i32[4, 4]) {
  for %v in 0:4 {
    for %w in 0:4 parallel {
      %y[%v, %w] = %x[%v]
    }
  }
}`, ""},
		{"threads in a loop that is written out", `func @f(%x: i32[8], out %y: i32[4, 4]) {
  for %v in 0:4 unroll {
    for %w in 0:4 parallel {
      %y[%v, %w] = %x[%v]
    }
  }
}`, "parallel %w: @f: loop %w lies in loop %v, which is unroll"},
		{"threads in a loop of threads", `func @f(%x: i32[8], out %y: i32[4, 4]) {
  for %v in 0:4 parallel {
    for %w in 0:4 parallel {
      %y[%v, %w] = %x[%v]
    }
  }
}`, "parallel %w: @f: loop %w lies in loop %v, which is parallel"},
		{"threads that are not in the same iteration of the loop around", `func @f(%x: i32[8], out %y: i32[8]) {
  for %v in 0:4 {
    for %w in 0:4 parallel {
      %y[%v + %w] = %x[%w]
    }
  }
}`, "cannot run in parallel loop %w: its iterations may touch the same element of %y"},
		{"a table for each iteration of the loop around", `func @f(%x: i32[8], out %y: i32[4, 4]) {
  for %v in 0:4 {
    alloc %t: i32[4]
    for %i in 0:4 {
      %t[%i] = %x[%i + %v]
    }
    for %w in 0:4 parallel {
      %y[%v, %w] = %t[3 - %w]
    }
  }
}`, ""},
		{"threads in an if", `func @f(%x: i32[8], out %y: i32[4]) {
  if %x[0] > 0i32 {
    for %w in 0:4 parallel {
      %y[%w] = %x[%w]
    }
  }
}`, "loop %w lies in an if"},
		{"threads beside a table of their own", `func @f(%x: i32[8], out %y: i32[4]) {
  alloc %t: i32[4]
  for %i in 0:4 {
    %t[%i] = %x[%i]
  }
  for %w in 0:4 parallel {
    %y[%w] = %t[3 - %w]
  }
}`, ""},
		{"an alloc from outside", `func @f(%x: i32[8], out %y: i32[4]) {
  alloc %t: i32[4]
  for %w in 0:4 parallel {
    %t[%w] = %x[%w]
    %y[%w] = %t[%w]
  }
}`, ""},
		{"an alloc that iterations share", `func @f(%x: i32[8], out %y: i32[4]) {
  alloc %t: i32[4]
  for %w in 0:4 parallel {
    %t[%w] = %x[%w]
    %y[%w] = %t[3 - %w]
  }
}`, "cannot run in parallel loop %w: its iterations may touch the same element of %t"},
		{"an alloc that is set before", sums("parallel", "0:4", "%t[%w]"), ""},
		{"an alloc that others write", sums("parallel", "0:4", "%t[3 - %w]"), "its iterations may touch the same element of %t"},
		{"an alloc that is read outside of parallel loops", strings.Replace(sums("parallel", "0:4", "%u[%w]"), "  for %w", "  alloc %u: i32[4]\n  for %j in 0:4 {\n    %u[%j] = %t[%j]\n  }\n  for %w", 1), "loop %v writes %t, which is allocated outside of it and read outside of parallel loops"},
		{"an alloc in loops that are shared otherwise", sums("parallel", "0:2", "%t[%w]"), "loop %v writes %t, which is allocated outside of it and touched in loop %w, which gives threads other iterations"},
		{"an alloc that is counted up outside of parallel loops", strings.Replace(sums("parallel", "0:4", "%t[%w]"), "%t[%i] = 0i32", "%t[%i] += 1i32", 1), "read outside of parallel loops"},
		{"threads that would wait", `func @f(%x: i32[8], out %y: i32[4], out %z: i32[4]) {
  for %w in 0:4 parallel {
    %y[%w] = %x[%w]
  }
  for %u in 0:4 parallel {
    %z[%u] = %y[3 - %u]
  }
}`, "%y is written by several nests of the func, or written in one and read in another"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := irtext.ParseFunc("test.ripir", []byte(c.text))
			if err != nil {
				t.Fatal(err)
			}
			err = deps.Check(f)
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

// sums is a func whose threads add up rows, each of its own columns, in an alloc that all have; a loop of the given kind and range reads it.
func sums(kind, extent, read string) string {
	return fmt.Sprintf(`func @f(%%x: i32[3, 4], out %%y: i32[4]) {
  alloc %%t: i32[4]
  for %%i in 0:4 {
    %%t[%%i] = 0i32
  }
  for %%h in 0:3 {
    for %%v in 0:4 parallel {
      %%t[%%v] += %%x[%%h, %%v]
    }
  }
  for %%w in %s %s {
    %%y[%%w] = %s
  }
}`, extent, kind, read)
}

// TestOnce compares with trying all iterations: an access of which Once holds is to another element in each.
func TestOnce(t *testing.T) {
	distinct, proved := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		x := ir.Buffer{Name: "x", Type: ir.I32, Shape: []int{100}}
		idx := []ir.Expr{index(t)}
		if rapid.Bool().Draw(t, "two") {
			x.Shape, idx = []int{100, 100}, append(idx, index(t))
		}
		var loops []ir.Loop
		for _, v := range []string{"o", "v", "i"} {
			loops = append(loops, ir.Loop{Var: v, Extent: rapid.IntRange(1, 7).Draw(t, v)})
		}
		store := &ir.Store{Buf: "x", Idx: idx, Val: ir.Const(ir.I32, 0)}
		once := deps.Once(&ir.Func{Name: "f", Params: []ir.Param{{Buffer: x, Out: true}}, Body: ir.Nest(loops, store)}, "x")
		seen, twice := map[[2]int64]bool{}, false
		for o := range loops[0].Extent {
			for v := range loops[1].Extent {
				for i := range loops[2].Extent {
					var at [2]int64
					for d, e := range idx {
						at[d] = deps.Evaluate(e, map[string]int64{"o": int64(o), "v": int64(v), "i": int64(i)})
					}
					twice = twice || seen[at]
					seen[at] = true
				}
			}
		}
		switch {
		case once && twice:
			t.Fatalf("%v in %v touches an element twice", idx, loops)
		case !twice:
			distinct++
			if once {
				proved++
			}
		}
	})
	if proved < distinct/6 { // of some 24 draws: about two fifths are proved
		t.Errorf("proved %d of %d", proved, distinct)
	}
}
