package c99_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"ripc/graph"
	"ripc/internal/difftest"
	"ripc/internal/need"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/deps"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule"
	"ripc/targets"
)

// TestTracesOnDevice: random schedules that the proof accepts give the bits of their Func in three orders of blocks and threads,
// and on a CPU as a device. The proof refuses each of them with a barrier less. It refuses a shared buffer that is made a thread's own,
// unless one thread uses it.
func TestTracesOnDevice(t *testing.T) {
	want, batch := 60, 60
	if need.Thorough() {
		want, batch = 1000, 100
	}
	r := rand.New(rand.NewPCG(44, 2))
	bases := append(smallLayers(), randomFuncs(t, 400, 40)...)
	var fs, scheduled []*ir.Func
	tried, withBarriers, mutants, refused, harmless := 0, 0, 0, 0, 0
	for ; len(fs) < want && tried < 200*want; tried++ {
		f := bases[tried%len(bases)]
		g := randomKernels(f, r)
		if g == nil {
			continue
		}
		wrong := difftest.Races(g)
		for _, m := range wrong {
			if deps.CheckDevice(m) != nil {
				refused++
				continue
			}
			for s := range ir.Stmts(m.Body) {
				if a, ok := s.(*ir.Alloc); ok && a.Buf.Space != ir.FindAlloc(g.Body, a.Buf.Name).Buf.Space { // which one thread uses
					difftest.Same(t, f, m, uint64(tried))
					harmless++
				}
			}
		}
		mutants += len(wrong)
		if mutants != refused+harmless {
			t.Fatalf("without one of its barriers this is not refused:\n%s", g)
		}
		if len(wrong) > 0 {
			withBarriers++
		}
		name := fmt.Sprintf("%s_%d", f.Name, tried)
		a, b := *f, *g
		a.Name, b.Name = name, name
		difftest.Same(t, &a, &b, uint64(tried))
		fs, scheduled = append(fs, &a), append(scheduled, &b)
	}
	t.Logf("%d schedules of %d tried, %d with barriers or shared buffers, %d mutants, %d refused, %d right", len(fs), tried, withBarriers, mutants,
		refused, harmless)
	if len(fs) < want || withBarriers < want/5 || refused < want/5 {
		t.Errorf("only %d schedules, %d with barriers or shared buffers, %d mutants refused", len(fs), withBarriers, refused)
	}
	for begin := 0; begin < len(fs); begin += batch {
		end := min(begin+batch, len(fs))
		l := testbeds[0].on(t, fs[begin:end], scheduled[begin:end])
		for i, f := range fs[begin:end] {
			l.same(t, i, difftest.RandomArgs(f, uint64(i)))
		}
	}
}

// smallLayers are convolutions, one with floats behind it, and a pool.
func smallLayers() (all []*ir.Func) {
	for i, stride := range []int{1, 1, 2} {
		a := &graph.FusedConv{KH: 3, KW: 3, SH: stride, SW: stride, In: 40, Out: 6, Pad: graph.Padding{Top: 1, Bottom: 1, Left: 1, Right: 1}}
		a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, 6)}}
		if i == 1 {
			a.Epilogue = graph.Epilogue{}
		}
		f := testlayer.Integers(a, targets.Target{}, layout.Popcount, ir.Unipolar, 1+i%2, 1, 4, 4, ops.Slice{})
		f.Name = fmt.Sprintf("conv%d", i)
		all = append(all, f)
	}
	return append(all, ops.MaxPoolBits(&graph.PoolAttrs{Kernel: [2]int{2, 2}, Strides: [2]int{2, 2}}, 2, []int{1, 4, 6, 40}, ir.Unipolar, 1, ops.Slice{}))
}

// randomKernels draws steps for f. It returns nil unless they make kernels that are proved to be right.
func randomKernels(f *ir.Func, r *rand.Rand) *ir.Func {
	g := f.WithBody(ir.MapStmt(f.Body, func(s ir.Stmt) ir.Stmt {
		if l, ok := s.(*ir.For); ok && l.Kind != ir.Unroll {
			return &ir.For{Var: l.Var, Extent: l.Extent, Axis: l.Axis, Body: l.Body}
		}
		return s
	}, nil))
	step := func(format string, args ...any) bool {
		s, err := schedule.ParseStep(fmt.Sprintf(format, args...))
		if err != nil {
			panic("BUG: " + err.Error())
		}
		h, err := s.Apply(g)
		if err == nil {
			g = h
		}
		return err == nil
	}
	for range 6 + r.IntN(14) {
		var loops, allocs []string
		for s := range ir.Stmts(g.Body) {
			switch s := s.(type) {
			case *ir.For:
				loops = append(loops, s.Var)
			case *ir.Alloc:
				allocs = append(allocs, s.Buf.Name)
			}
		}
		if len(loops) == 0 {
			return nil
		}
		one := func(names []string) string { return names[r.IntN(len(names))] }
		switch k := r.IntN(10); {
		case k == 0:
			step("split %s %d tail=perfect", one(loops), 1+r.IntN(3))
		case k == 1:
			step("fuse %s %s", one(loops), one(loops))
		case k == 2:
			step("reorder %s %s", one(loops), one(loops))
		case k < 6 && len(allocs) > 0:
			if a := one(allocs); step("compute_at %s %s", a, one(loops)) && r.IntN(2) == 0 {
				step("share %s", a)
			}
		case k == 6:
			step("bind %s block", loops[0])
		default:
			step("bind %s thread", one(loops))
		}
	}
	if !step("sync") || !deps.IsDevice(g) || deps.CheckDevice(g) != nil || arith.VerifyBounds(g) != nil || arith.VerifyWidths(g) != nil {
		return nil
	}
	return g
}
