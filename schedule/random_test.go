package schedule_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/codegen"
	"ripc/codegen/llvm/emit"
	"ripc/internal/difftest"
	"ripc/ir"
	"ripc/ir/deps"
	"ripc/schedule"
	"ripc/schedule/steps"
	"ripc/targets"
	"ripc/targets/isa"
)

// randomShape gives small convolutions: extents that are 1, prime, multiples of usual factors, and
// one more.
func randomShape(draw func(label string, n int) int) shape {
	s := shape{
		H: 3 + draw("h", 6), W: 3 + draw("w", 6), K: 1 + draw("k", 3), Stride: 1 + draw("stride", 2), Pad: draw("pad", 2),
		C: 1 + draw("c", 3), Words: 1 + draw("words", 2), Planes: 1 + draw("planes", 2), Float: draw("float", 4) == 0, Raw: true,
	}
	if s.Pad > s.K/2 {
		s.Pad = s.K / 2
	}
	if draw("pool", 3) == 0 && s.out(s.H) >= 2 && s.out(s.W) >= 2 {
		s.Pool = 2
	}
	return s
}

// randomStep gives a step that names loops and buffers which exist; whether it is legal is another
// matter.
func randomStep(f *ir.Func, draw func(label string, n int) int) string {
	var loops, allocs []string
	var inside [][2]string // loops of a sum and one around each
	ir.Walk(f.Body, func(s ir.Stmt) bool {
		switch s := s.(type) {
		case *ir.For:
			loops = append(loops, s.Var)
			ir.Walk(s.Body, func(t ir.Stmt) bool {
				if l, ok := t.(*ir.For); ok && len(s.Var) > 4 && strings.HasPrefix(l.Var, "acc.") && strings.HasPrefix(s.Var, "acc.") && strings.Contains("okn", s.Var[4:5]) {
					inside = append(inside, [2]string{l.Var, s.Var})
				}
				return true
			})
		case *ir.Alloc:
			allocs = append(allocs, s.Buf.Name)
		}
		return true
	})
	one := func() string { return loops[draw("loop", len(loops))] }
	nested := func() [2]string {
		if len(inside) == 0 {
			return [2]string{one(), one()}
		}
		return inside[draw("nested", len(inside))]
	}
	factor := func() int { return []int{1, 2, 3, 4, 8, 16, 40}[draw("factor", 7)] }
	tail := func() string { return []string{"guard", "cut", "perfect", "shift"}[draw("tail", 4)] }
	anyBuf := func() string {
		names := append([]string{"x", "f", "t", "y"}, allocs...)
		return names[draw("buffer", len(names))]
	}
	switch draw("op", 37) {
	case 0, 1, 2:
		return fmt.Sprintf("split %s %d tail=%s", one(), factor(), tail())
	case 3:
		return fmt.Sprintf("tile %s %s %d %d tail=%s", one(), one(), factor(), factor(), tail())
	case 4, 5, 6:
		s := "reorder"
		for range 2 + draw("loops", 3) {
			s += " " + one()
		}
		return s
	case 7:
		return "unroll " + one()
	case 8:
		return "vectorize " + one()
	case 9:
		return "parallel " + one()
	case 10, 11:
		return tensorize(f, loops, one(), draw)
	case 12:
		return fmt.Sprintf("fuse %s %s", one(), one())
	case 13:
		return "decompose_reduction " + one()
	case 14:
		return "compute_inline " + anyBuf()
	case 15:
		return fmt.Sprintf("cache_read %s %s", anyBuf(), one())
	case 16, 17:
		return fmt.Sprintf("cache_write %s %s", anyBuf(), one())
	case 20:
		return fmt.Sprintf("pack %s %s", anyBuf(), []string{"3.o 0 1 2 3.i factor=32", "3 2 1 0", "1.i 0 2 1.o 3 factor=2", "0.i 0.o factor=5", "4 3 2 1 0"}[draw("layout", 5)])
	case 21, 22:
		l := nested()
		return fmt.Sprintf("carry_save acc %s %s -> sums carries", l[0], l[1])
	case 23:
		return fmt.Sprintf("pair %s %d", anyBuf(), draw("dim", 5))
	case 24, 25:
		return fmt.Sprintf("peel %s %d %d", one(), draw("first", 3), draw("last", 3))
	case 26, 27:
		return fmt.Sprintf("set_encoding %s %s", anyBuf(), []string{"u8", "u16"}[draw("type", 2)])
	case 28, 29:
		t := []string{"", "", " type=u8", " type=u16", " type=i8"}[draw("type", 5)]
		if l := nested(); draw("sum", 4) > 0 {
			return fmt.Sprintf("rfactor acc %s %s%s", l[0], l[1], t)
		}
		return fmt.Sprintf("rfactor %s %s %s%s", anyBuf(), one(), one(), t)
	case 30, 31:
		return fmt.Sprintf("replicate %s %s", anyBuf(), one())
	case 32, 33:
		return fmt.Sprintf("flatten %s %d", anyBuf(), draw("dim", 4))
	case 34, 35:
		return fmt.Sprintf("bind %s %s", one(), []string{"block", "thread"}[draw("kind", 2)])
	case 36:
		if len(allocs) == 0 || draw("sync", 2) == 0 {
			return "sync"
		}
		return "share " + allocs[draw("alloc", len(allocs))]
	case 18:
		return fmt.Sprintf("narrow_accumulate acc %s %s%s", nested()[1], []string{"u8", "i16", "u16"}[draw("type", 3)], []string{"", "", " apart=2", " apart=4"}[draw("apart", 4)])
	case 19:
		return fmt.Sprintf("narrow_accumulate %s %s %s", anyBuf(), one(), []string{"u8", "i8", "i16", "u16"}[draw("type", 4)])
	}
	if len(allocs) == 0 {
		return "vectorize " + one()
	}
	return fmt.Sprintf("compute_at %s %s", allocs[draw("alloc", len(allocs))], one())
}

// instructions are those of all CPUs.
func instructions() map[string]*ir.Func {
	all := map[string]*ir.Func{}
	for _, i := range isa.All() {
		all[i.Func.Name] = i.Func
	}
	return all
}

// tensorize names a loop that is an instruction, if there is one, and any loop if not.
func tensorize(f *ir.Func, loops []string, loop string, draw func(label string, n int) int) string {
	all := instructions()
	names := slices.Sorted(maps.Keys(all))
	first := draw("instruction", len(names))
	for _, name := range slices.Concat(names[first:], names[:first]) {
		for _, l := range loops {
			if _, err := steps.Tensorize(l, all[name]).Apply(f, schedule.WithInstrs(all)); err == nil {
				return fmt.Sprintf("tensorize %s %s", l, name)
			}
		}
	}
	return fmt.Sprintf("tensorize %s %s", loop, names[first])
}

// checkRandom applies random steps, after first, to a random func. A step either fails with an
// *ir.Error or leaves the meaning alone.
func checkRandom(t testing.TB, steps int, draw func(label string, n int) int, first ...string) (applied []string) {
	f := conv(randomShape(draw))
	g, instrs := f, schedule.WithInstrs(instructions())
	var trace schedule.Trace
	var packs []schedule.Pack
	for i := range steps + len(first) {
		var text string
		if i < len(first) {
			text = first[i]
		} else {
			text = randomStep(g, draw)
		}
		s, err := schedule.ParseStep(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if back, err := schedule.ParseStep(s.String()); err != nil || back.String() != text {
			t.Fatalf("%q reads back as %q, %v", text, back, err)
		}
		r, err := schedule.Trace{s}.ApplyAll(g, instrs)
		h := r.Func
		var e *ir.Error
		switch {
		case err == nil && difftest.Iterations(h.Body) > 1<<20: // tiny tiles of guarded tiles of ... take the interpreter for ever
		case err == nil:
			g = h
			packs = append(packs, r.Packs...)
			trace = append(trace, s)
			applied = append(applied, s.Op)
		case !errors.As(err, &e) || e.Op != text || e.Node != "@conv" || e.Msg == "":
			t.Fatalf("%s: the error is not complete: %v", text, err)
		}
	}
	checkFunc(t, g)
	if !deps.IsDevice(g) {
		checkEmits(t, g)
	}
	t.Logf("trace:\n%s", trace)
	whole := schedule.Result{Func: g, Packs: packs}.PackingFunc()
	difftest.Same(t, f, whole)
	difftest.Same(t, f, difftest.Backwards(whole))
	parsed, err := schedule.ParseTrace("trace", trace.String())
	if err != nil {
		t.Fatal(err)
	}
	again, err := parsed.ApplyAll(f, instrs)
	if err != nil {
		t.Fatal(err)
	}
	if again.Func.String() != g.String() {
		t.Fatalf("replaying the trace gives another func:\n%s\nnot\n%s", again.Func, g)
	}
	return applied
}

// checkEmits makes sure that code generation takes what the steps made, with the loops that they
// marked; only the size of the code is known to it alone.
func checkEmits(t testing.TB, f *ir.Func) {
	for _, name := range []string{"x86-64-v4", "rpi2"} {
		tg, err := targets.Lookup(name)
		if err != nil {
			t.Fatal(err)
		}
		_, err = emit.Kernel(f, "kernel", tg, nil)
		if large := (*codegen.SizeError)(nil); err != nil && !errors.As(err, &large) {
			t.Fatalf("%s: %v\n%s", name, err, f)
		}
	}
}

// checkFunc makes sure that f is well formed; unique names are part of that.
func checkFunc(t testing.TB, f *ir.Func) {
	if err := ir.Verify(f); err != nil {
		t.Fatalf("%v\n%s", err, f)
	}
}

func TestRandomTraces(t *testing.T) {
	calls := 0
	rapid.Check(t, func(rt *rapid.T) {
		draw := func(label string, n int) int { return rapid.IntRange(0, n-1).Draw(rt, label) }
		if checkRandom(tb{t, rt}, 14, draw); draw("instructions", 2) == 0 { // once more, behind one
			for _, s := range checkRandom(tb{t, rt}, 8, draw, "reorder acc.n acc.kh acc.kw acc.c acc.o", "split acc.o 16 tail=perfect", "tensorize acc.o.i avx512_xor_popcnt_acc_x16") {
				if s == "tensorize" {
					calls++
				}
			}
		}
	})
	if calls == 0 {
		t.Error("no trace calls an instruction")
	}
}

// tb lets helpers that want a testing.TB fail a rapid test.
type tb struct {
	testing.TB
	rt *rapid.T
}

func (t tb) Fatalf(format string, args ...any) { t.rt.Fatalf(format, args...) }
func (t tb) Fatal(args ...any)                 { t.rt.Fatal(args...) }
func (t tb) Errorf(format string, args ...any) { t.rt.Errorf(format, args...) }
func (t tb) Logf(format string, args ...any)   { t.rt.Logf(format, args...) }
func (t tb) Failed() bool                      { return t.rt.Failed() }

// FuzzSchedule reads random choices from bytes: no input may panic, and each step is refused or
// right.
func FuzzSchedule(f *testing.F) {
	for _, seed := range []string{"", "\x05\x06\x02\x00\x01", strings.Repeat("\x03\x0b\x07\x01", 30)} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		i := 0
		draw := func(_ string, n int) int {
			if i >= len(data) {
				return 0
			}
			i++
			return int(data[i-1]) % n
		}
		checkRandom(t, 10, draw)
	})
}
