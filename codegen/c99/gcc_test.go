package c99_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ripc/internal/difftest"
	"ripc/internal/need"
	"ripc/ir"
	"ripc/ir/irtext"
)

func parsed(t *testing.T, text string) *ir.Func {
	t.Helper()
	f, err := irtext.ParseFunc("test.ripir", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestConditionalLoads: GCC 12.2 with masked loads forgets which lane of a group takes which element (its bug 114375), so that
// padded copies of this kind went wrong.
func TestConditionalLoads(t *testing.T) {
	const text = `func @%s(%%x: %s[20], out %%y: %[2]s[112]) {
  for %%w in 0:7 {
    for %%c in 0:4 {
      for %%r in 0:4 vectorize {
        %s
      }
    }
  }
}
`
	var fs []*ir.Func
	for name, store := range map[string]string{ // in any order
		"select": "%y[%w * 16 + %c * 4 + %r] = select(%w >= 1 & %w < 6, %x[%w * 4 + %c - 4], ZERO)",
		"if":     "if %w >= 1 & %w < 6 {\n%y[%w * 16 + %c * 4 + %r] = %x[%w * 4 + %c - 4]\n}",
	} {
		for typ, zero := range map[string]string{"u32": "0u32", "i32": "0i32", "f32": "0.0"} {
			fs = append(fs, parsed(t, fmt.Sprintf(text, name+"_"+typ, typ, strings.ReplaceAll(store, "ZERO", zero))))
		}
	}
	for _, cc := range need.CCompilers() {
		t.Run(cc, func(t *testing.T) {
			for _, options := range []string{"-O3", "-O3 -march=native"} {
				l := build(t, need.CCompiler(t, cc)+" "+options, fs)
				for i, f := range fs {
					l.same(t, i, difftest.RandomArgs(f, 1))
				}
			}
		})
	}
}

// TestStoresOfOthers: GCC's predictive commoning reads elements that a later iteration would write, and writes them back behind
// the loop, also where that iteration is another thread's. The chain of products keeps the threads in the loop for a while.
func TestStoresOfOthers(t *testing.T) {
	var b strings.Builder
	b.WriteString("func @apart(%x: u32[3], out %y: u32[15]) {\n  for %h in 0:3 parallel {\n")
	for k := range 5 {
		v := "%x[%h]"
		for i := range 40 {
			v = fmt.Sprintf("((%s ^ %du32) * %du32)", v, 77*k+i, 2*i+3)
		}
		fmt.Fprintf(&b, "    %%y[%%h + %d] = %s\n", 3*k, v)
	}
	b.WriteString("  }\n}\n")
	f := parsed(t, b.String())
	args := difftest.RandomArgs(f, 1)
	runs := 3000
	if need.Thorough() {
		runs = 20000
	}
	for _, options := range []string{"-O2", "-O3"} {
		l := build(t, need.Tool(t, "cc")+" "+options, []*ir.Func{f})
		l.same(t, 0, args)
		want := l.run(t, 1, 0, args)
		for range runs {
			if got := l.run(t, 3, 0, difftest.Clone(args)); !slices.Equal(got[1], want[1]) {
				t.Fatalf("%s: threads write over each other's elements:\ngot  %v\nwant %v", options, got[1], want[1])
			}
		}
	}
}

// TestThreadsInLoops: every thread goes through the loop around, makes what all read, and adds up in its own columns.
func TestThreadsInLoops(t *testing.T) {
	f := parsed(t, `func @columns(%x: i32[6, 5], out %y: i32[5]) {
  alloc %acc: i32[5]
  for %k in 0:5 {
    %acc[%k] = 0i32
  }
  for %i in 0:6 {
    alloc %twice: i32[5]
    for %j in 0:5 {
      %twice[%j] = 2i32 * %x[%i, %j]
    }
    for %v in 0:5 parallel {
      %acc[%v] += %twice[4 - %v]
    }
  }
  for %w in 0:5 parallel {
    %y[%w] = %acc[%w]
  }
}
`)
	build(t, need.Tool(t, "cc")+" -O2", []*ir.Func{f}).same(t, 0, difftest.RandomArgs(f, 1))
}

// TestUnswitched: a condition that guards loads, and depends on outer loops alone, is asked outside the loops that copy.
func TestUnswitched(t *testing.T) {
	const text = `func @copy_%s(%%x: %[1]s[3, 4, 8], out %%y: %[1]s[5, 4, 8]) {
  for %%h in 0:5 {
    for %%w in 0:4 {
      for %%c in 0:8 %[3]s {
        %%y[%%h, %%w, %%c] = select(%[4]s, %%x[%%h - 1, %%w, %%c], %[2]s)
      }
    }
  }
}
`
	const rows = "%h >= 1 & %h < 4"
	var fs []*ir.Func
	for _, typ := range [][2]string{{"u8", "7u8"}, {"i32", "-1i32"}, {"f32", "-0.0"}} {
		for _, kind := range []string{"", "vectorize", "unroll"} {
			f := parsed(t, fmt.Sprintf(text, typ[0], typ[1], kind, rows))
			f.Name += "_" + kind
			fs = append(fs, f)
			for _, line := range strings.Split(source(t, []*ir.Func{f}), "\n") {
				if strings.Contains(line, "y[") && strings.Contains(line, "RIPC_COND(") {
					t.Errorf("%s asks for each element: %s", f.Name, line)
				}
			}
		}
	}
	inner := parsed(t, fmt.Sprintf(text, "u16", "0u16", "", rows+" & %c < 7"))
	fs = append(fs, inner)
	if !strings.Contains(source(t, []*ir.Func{inner}), "= (RIPC_COND(") {
		t.Errorf("%s: its condition depends on the innermost loop", inner.Name)
	}
	for _, cc := range need.CCompilers() {
		t.Run(cc, func(t *testing.T) {
			l := build(t, need.CCompiler(t, cc)+" -O3", fs)
			for i, f := range fs {
				l.same(t, i, difftest.RandomArgs(f, 1))
			}
		})
	}
}
