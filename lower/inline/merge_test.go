package inline_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/ir"
	"ripc/lower/inline"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// TestMerge: chains of layers have the same results when their stages are merged for a device, and each kind of neighbours is
// merged in some. For a CPU nothing is.
func TestMerge(t *testing.T) {
	device := targets.Target{Arch: "opencl", Device: targets.Device{MaxThreads: 64, SharedBytes: 512, Lanes: 1, Units: 1}}
	merged, apart := map[string]bool{}, 0
	check := func(t *rapid.T) {
		s := rapid.SliceOfN(rapid.IntRange(1, 5), 4, 4).Draw(t, "shape")
		var funcs []*ir.Func
		for range rapid.IntRange(2, 4).Draw(t, "layers") {
			if s == nil {
				break
			}
			var f *ir.Func
			if len(funcs) > 0 && s[1]*s[2] == 1 && rapid.Bool().Draw(t, "softmax") {
				f, s = ops.Softmax([]int{s[0], s[3]}), nil
			} else {
				f, s = layer(t, s, device)
			}
			funcs = append(funcs, f)
		}
		p := program(funcs...)
		in := randomInputs(p)
		want := slices.Clone(results(t, p, in))
		before := len(p.Stages)
		if inline.Merge(p, targets.Target{Arch: "x86_64"}); len(p.Stages) != before {
			t.Fatal("a CPU's stages are merged")
		}
		inline.Merge(p, device)
		if got := results(t, p, in); !bytes.Equal(got, want) {
			t.Fatalf("other results with\n%s", p)
		}
		for i, st := range p.Stages {
			for k := range len(funcs) - 1 {
				f, g := funcs[k].Name, funcs[k+1].Name
				if st.Func == fmt.Sprintf("%s_%c_%s_%c", f, 'a'+k, g, 'a'+k+1) {
					merged[f[:4]+" "+g[:4]] = true
				}
			}
			if i > 0 {
				apart++
			}
		}
	}
	pairs := []string{"mul_ fcon", "fcon mul_", "mul_ mul_", "fcon soft", "fcon quan", "fcon max_", "fcon fcon"}
	missing := func(pair string) bool { return !merged[pair] }
	for range 10 { // of 100 draws, which now and then leave one out
		if rapid.Check(t, check); apart > 0 && !slices.ContainsFunc(pairs, missing) {
			return
		}
	}
	t.Errorf("of %v only %v are merged, and %d neighbours are not", pairs, merged, apart)
}

// branching draws a Program of floats that branches and meets again, with shifted neighbours, sums of channels and concatenations, which stay.
func branching(t *rapid.T, device targets.Target) *ir.Program {
	shape := []int{1, rapid.IntRange(1, 4).Draw(t, "rows"), rapid.IntRange(1, 4).Draw(t, "columns"), rapid.IntRange(1, 3).Draw(t, "channels")}
	p := &ir.Program{Name: "net"}
	add := func(kind ir.BufKind, name string, shape []int) string {
		p.Buffers = append(p.Buffers, ir.ProgBuf{Buffer: ir.Buffer{Name: name, Type: ir.F32, Shape: shape}, Kind: kind})
		return name
	}
	stage := func(f *ir.Func, args ...string) string {
		g, to := *f, args[len(args)-1]
		args = args[: len(args)-1 : len(args)-1]
		for _, q := range f.Params[len(args) : len(f.Params)-1] {
			args = append(args, add(ir.InputBuf, fmt.Sprintf("c%d", len(p.Buffers)), q.Shape))
		}
		args = append(args, to)
		g.Name = fmt.Sprintf("%s_%d", f.Name, len(p.Stages))
		p.Funcs = append(p.Funcs, &g)
		p.Stages = append(p.Stages, ir.Stage{Name: fmt.Sprintf("s%d", len(p.Stages)), Func: g.Name, Args: args})
		return to
	}
	made := func(shape []int) string { return add(ir.ArenaBuf, fmt.Sprintf("b%d", len(p.Buffers)), shape) }
	tensors := []string{add(ir.InputBuf, "x", shape)}
	pick := func() string { return rapid.SampledFrom(tensors).Draw(t, "from") }
	twice := ops.Eltwise([]scalar.Step{{Kind: scalar.Mul, A: slices.Repeat([]float32{0.5}, shape[3])}}, ir.F32, shape, ops.Slice{})
	for range rapid.IntRange(2, 6).Draw(t, "stages") {
		switch from := pick(); rapid.SampledFrom([]string{"eltwise", "shift", "plus", "concat", "sum"}).Draw(t, "stage") {
		case "eltwise":
			tensors = append(tensors, stage(twice, from, made(shape)))
		case "shift":
			padded := []int{1, shape[1] + 1, shape[2] + 1, shape[3]}
			f := ops.Pad(&graph.SpatialPadAttrs{Pad: graph.Padding{Top: 1, Left: 1}, Value: 0.5}, reals(shape))
			wide := stage(f, from, made(padded))
			a := &graph.SliceAttrs{Begin: []int{0, rapid.IntRange(0, 1).Draw(t, "begin"), 0, 0}, Size: shape, Stride: []int{1, 1, 1, 1}}
			tensors = append(tensors, stage(ops.CopySlice(a, reals(padded)), wide, made(shape)))
		case "plus":
			tensors = append(tensors, stage(ops.Function(scalar.Plus, shape, shape), from, pick(), made(shape)))
		case "concat":
			both := []int{1, shape[1], shape[2], 2 * shape[3]}
			to := made(both)
			for k := range 2 {
				stage(ops.Concat(reals(shape), ops.Slice{Offset: k * shape[3], Total: both[3]}), from, to)
			}
			a := &graph.SliceAttrs{Begin: []int{0, 0, 0, rapid.IntRange(0, shape[3]).Draw(t, "begin")}, Size: shape, Stride: []int{1, 1, 1, 1}}
			tensors = append(tensors, stage(ops.CopySlice(a, reals(both)), to, made(shape)))
		case "sum":
			f := &graph.FusedConv{KH: 1, KW: 1, SH: 1, SW: 1, In: shape[3], Out: shape[3], WFloat: slices.Repeat([]float32{0.25, 3}, shape[3]*shape[3])[:shape[3]*shape[3]]}
			g, _ := ops.Conv(layout.NewConv(f, graph.Value{Shape: shape}, device, layout.Float), ops.Slice{})
			tensors = append(tensors, stage(g, from, made(shape)))
		}
	}
	last := stage(ops.Function(scalar.Plus, shape, shape), pick(), pick(), made(shape))
	stage(twice, last, add(ir.OutputBuf, "y", shape))
	return p
}

// TestJoin: stages that branch and meet again have the same results when they are joined.
func TestJoin(t *testing.T) {
	device := targets.Target{Arch: "opencl", Device: targets.Device{MaxThreads: 64, SharedBytes: 512, Lanes: 1, Units: 1}}
	joined, apart := map[string]bool{}, 0
	check := func(t *rapid.T) {
		p := branching(t, device)
		in, kinds := randomInputs(p), map[string]string{}
		for _, s := range p.Stages {
			kinds[s.Name] = s.Func[:4]
		}
		want := slices.Clone(results(t, p, in))
		inline.Merge(p, device)
		if got := results(t, p, in); !bytes.Equal(got, want) {
			t.Fatalf("other results with\n%s", p)
		}
		for _, s := range p.Stages {
			if !strings.Contains(s.Func, "join_") {
				apart++
				continue
			}
			for _, part := range s.Layer.Merged {
				joined[kinds[part]] = true
			}
		}
	}
	wanted := []string{"mul_", "fcon", "pad_", "slic", "add_"}
	missing := func(kind string) bool { return !joined[kind] }
	for range 10 { // of 100 draws, which now and then leave one out
		if rapid.Check(t, check); apart > 0 && !slices.ContainsFunc(wanted, missing) {
			return
		}
	}
	t.Errorf("joined are %v, and %d stages are not", joined, apart)
}
