package inline_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/difftest"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/interp"
	"ripc/lower/inline"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// program makes a Program of Funcs with one input or more, each of which reads what the one before makes; other operands are inputs.
func program(funcs ...*ir.Func) *ir.Program {
	p := &ir.Program{Name: "net"}
	add := func(kind ir.BufKind, b ir.Buffer, name string) string {
		b.Name = name
		p.Buffers = append(p.Buffers, ir.ProgBuf{Buffer: b, Kind: kind})
		return name
	}
	before := ""
	for i, f := range funcs {
		id := string(rune('a' + i))
		g := *f
		g.Name = f.Name + "_" + id
		p.Funcs = append(p.Funcs, &g)
		s := ir.Stage{Name: id, Op: "op_" + id, Func: g.Name}
		for k, q := range f.Params {
			switch {
			case q.Out && i < len(funcs)-1:
				before = add(ir.ArenaBuf, q.Buffer, id)
				s.Args = append(s.Args, before)
			case q.Out:
				s.Args = append(s.Args, add(ir.OutputBuf, q.Buffer, "y"))
			case k == 0 && i > 0:
				s.Args = append(s.Args, before)
			default:
				s.Args = append(s.Args, add(ir.InputBuf, q.Buffer, id+"."+q.Name))
			}
		}
		p.Stages = append(p.Stages, s)
	}
	return p
}

// results runs p on what is in its inputs and gives its output.
func results(t *rapid.T, p *ir.Program, in map[string][]byte) []byte {
	t.Helper()
	mem := map[string][]byte{}
	for _, b := range p.Buffers {
		if mem[b.Name] = in[b.Name]; mem[b.Name] == nil {
			mem[b.Name] = make([]byte, b.Bytes())
		}
	}
	for _, s := range p.Stages {
		f := p.FuncByName(s.Func)
		for _, check := range []func(*ir.Func) error{ir.Verify, arith.VerifyBounds, arith.VerifyWidths} {
			if err := check(f); err != nil {
				t.Fatalf("%v\n%s", err, f)
			}
		}
		c, err := interp.CompileChecked(f)
		if err != nil {
			t.Fatalf("%v\n%s", err, f)
		}
		var args [][]byte
		for _, a := range s.Args {
			args = append(args, mem[a])
		}
		if err := c.Run(t.Context(), args); err != nil {
			t.Fatalf("%v\n%s", err, f)
		}
	}
	return mem["y"]
}

// randomInputs makes contents of the inputs of p.
func randomInputs(p *ir.Program) map[string][]byte {
	in := map[string][]byte{}
	for i, s := range p.Stages {
		for k, b := range difftest.RandomArgs(p.FuncByName(s.Func), uint64(i)) {
			if p.BufferByName(s.Args[k]).Kind == ir.InputBuf {
				in[s.Args[k]] = b
			}
		}
	}
	return in
}

func machines() []targets.Target {
	return []targets.Target{{}, {Arch: "x86_64"}, {Arch: "aarch64", InOrder: true}}
}

// reals is a tensor of floats.
func reals(shape []int) layout.Tensor { return layout.Tensor{Value: graph.Value{Shape: shape}} }

// layer draws a Func whose first parameter is an image of shape s, and gives it and the shape of what it makes.
func layer(t *rapid.T, s []int, target targets.Target) (*ir.Func, []int) {
	switch rapid.SampledFrom([]string{"eltwise", "sum", "quantize", "levels", "pool", "windows", "sum of levels"}).Draw(t, "layer") {
	case "eltwise":
		return ops.Eltwise([]scalar.Step{{Kind: scalar.Mul, A: slices.Repeat([]float32{0.5}, s[3])}}, ir.F32, s, ops.Slice{}), s
	case "quantize":
		a := &graph.QuantizeAttrs{LevelType: scalar.LevelType{Bits: rapid.IntRange(1, 3).Draw(t, "bits"), Enc: ir.Unipolar, Scale: 0.25}}
		return ops.Quantize(a, nil, ir.F32, s, layout.Planes, ops.Slice{}), nil
	case "levels":
		a := &graph.ThresholdAttrs{LevelType: scalar.LevelType{Bits: 2, Enc: ir.Unipolar, Scale: 0.25}}
		return ops.Threshold(a, 3, s[3], nil, ir.F32, s, layout.Planes, ops.Slice{}), nil
	case "pool":
		return ops.Pad(&graph.SpatialPadAttrs{Pad: graph.Padding{Top: 1, Left: 2}, Value: 0.5}, reals(s)), []int{s[0], s[1] + 1, s[2] + 2, s[3]}
	case "windows":
		a := &graph.PoolAttrs{Kernel: [2]int{1, rapid.IntRange(1, s[2]).Draw(t, "width")}}
		a.Strides = a.Kernel
		return ops.MaxPool(a, reals(s), 0, ops.Slice{}), []int{s[0], s[1], s[2] / a.Kernel[1], s[3]}
	}
	f := &graph.FusedConv{KH: rapid.IntRange(1, min(2, s[1])).Draw(t, "kh"), KW: rapid.IntRange(1, min(3, s[2])).Draw(t, "kw"), SH: rapid.IntRange(1, 2).Draw(t, "sh"), SW: 1, In: s[3], Out: rapid.IntRange(1, 5).Draw(t, "out")}
	if rapid.Bool().Draw(t, "padded") {
		f.Pad = graph.Padding{Mode: graph.PadExplicit, Top: f.KH - 1, Left: f.KW - 1, Right: f.KW - 1}
	}
	if s[3]%2 == 0 && rapid.Bool().Draw(t, "groups") {
		f.Groups, f.Out = 2, 2*f.Out
	}
	f.WFloat = make([]float32, f.Products()*f.Out)
	for i := range f.WFloat {
		f.WFloat[i] = float32(i%7) - 3
	}
	x := graph.Value{Shape: s}
	c := layout.NewConv(f, x, target, layout.Float)
	oh, ow := f.OutSize(s[1], s[2])
	g, _ := ops.Conv(c, ops.Slice{})
	return g, []int{s[0], oh, ow, f.Out}
}

// TestMoves: a change of axes, or a part of a tensor, before a layer and behind it: the same results, without the stages, or with a reason.
func TestMoves(t *testing.T) {
	gone := map[string]bool{}
	check := func(t *rapid.T) {
		target := rapid.SampledFrom(machines()).Draw(t, "target")
		shape := rapid.SliceOfN(rapid.IntRange(1, 5), 4, 4).Draw(t, "shape")
		perm := rapid.Permutation([]int{0, 1, 2, 3}).Draw(t, "perm")
		s := make([]int, 4)
		for d, p := range perm {
			s[d] = shape[p]
		}
		funcs := []*ir.Func{ops.Transpose(&graph.TransposeAttrs{Perm: perm}, reals(shape))}
		if rapid.Bool().Draw(t, "slice") {
			a := &graph.SliceAttrs{Begin: make([]int, 4), Size: slices.Clone(s), Stride: slices.Repeat([]int{1}, 4)}
			d := rapid.IntRange(0, 3).Draw(t, "dim")
			a.Begin[d] = rapid.IntRange(0, s[d]-1).Draw(t, "begin")
			a.Size[d] = s[d] - a.Begin[d]
			funcs, s = append(funcs, ops.CopySlice(a, reals(s))), a.Size
		}
		f, to := layer(t, s, target)
		funcs = append(funcs, f)
		if to != nil && rapid.Bool().Draw(t, "behind") {
			funcs = append(funcs, ops.Transpose(&graph.TransposeAttrs{Perm: rapid.Permutation([]int{0, 1, 2, 3}).Draw(t, "perm behind")}, reals(to)))
		}
		p := program(funcs...)
		in := randomInputs(p)
		want := slices.Clone(results(t, p, in))
		before := len(p.Stages)
		if err := inline.Moves(t.Context(), p, target); err != nil {
			t.Fatal(err)
		}
		if got := results(t, p, in); !bytes.Equal(got, want) {
			t.Fatalf("other results with\n%s", p)
		}
		if len(p.Stages) < before {
			gone[target.Arch+"/"+f.Name[:4]] = true
		}
		for _, s := range p.Stages {
			if f := p.FuncByName(s.Func); s.Layer.Reason.Code == "" && len(p.Stages) > 1 && (f.Name[:5] == "trans" || f.Name[:5] == "slice") && !ops.TransposeIsView(&graph.TransposeAttrs{Perm: perm}, 0, shape) {
				t.Fatalf("stage %s does not say why it is there\n%s", s.Name, p)
			}
		}
	}
	var wanted []string
	for _, arch := range []string{"", "x86_64", "aarch64"} {
		for _, kind := range []string{"mul_", "pad_", "fcon", "quan", "thre"} {
			wanted = append(wanted, arch+"/"+kind)
		}
	}
	missing := func(what string) bool { return !gone[what] }
	for range 10 { // of 100 draws, which now and then leave one out
		rapid.Check(t, check)
		if !slices.ContainsFunc(wanted, missing) {
			return
		}
	}
	t.Errorf("a change of axes was taken into nothing but %v, which have to be %v", gone, wanted)
}

// counting is a context that counts how often it is asked whether it is done, which it is after most times.
type counting struct {
	context.Context
	asked, most int
}

func (c *counting) Err() error {
	if c.asked++; c.asked > c.most {
		return context.Canceled
	}
	return nil
}

// pieces is a Program that adds up n pieces of its input.
func pieces(n int) *ir.Program {
	one := []int{1, 1, 1, 1}
	wide := []int{1, 1, 1, n}
	p := &ir.Program{Name: "net", Buffers: []ir.ProgBuf{{Buffer: ir.Buffer{Name: "x", Type: ir.F32, Shape: wide}, Kind: ir.InputBuf}}}
	arena := func(name string) string {
		p.Buffers = append(p.Buffers, ir.ProgBuf{Buffer: ir.Buffer{Name: name, Type: ir.F32, Shape: one}, Kind: ir.ArenaBuf})
		return name
	}
	add := ops.Function(scalar.Plus, one, one)
	p.Funcs = append(p.Funcs, add)
	before := "x0"
	for i := range n {
		f := ops.CopySlice(&graph.SliceAttrs{Begin: []int{0, 0, 0, i}, Size: one, Stride: one}, reals(wide))
		f.Name = fmt.Sprintf("slice%d", i)
		p.Funcs = append(p.Funcs, f)
		piece := arena(fmt.Sprintf("x%d", i))
		p.Stages = append(p.Stages, ir.Stage{Name: piece, Func: f.Name, Args: []string{"x", piece}})
		if i > 0 {
			sum := arena(fmt.Sprintf("sum%d", i))
			p.Stages = append(p.Stages, ir.Stage{Name: sum, Func: add.Name, Args: []string{before, piece, sum}})
			before = sum
		}
	}
	return p
}

// TestMovesGrow: the moves of a network of four times the size take four times the steps, and end with their context.
func TestMovesGrow(t *testing.T) {
	steps := func(n int) int {
		p, ctx := pieces(n), &counting{t.Context(), 0, 100 * n}
		if err := inline.Moves(ctx, p, targets.Target{}); err != nil {
			t.Fatal(err)
		}
		if len(p.Stages) != n-1 {
			t.Fatalf("%d stages left of %d pieces", len(p.Stages), n)
		}
		return ctx.asked
	}
	few, many := steps(100), steps(400)
	if many > 5*few {
		t.Errorf("100 pieces take %d steps, 400 take %d", few, many)
	}
	ctx := &counting{t.Context(), 0, few / 2}
	if err := inline.Moves(ctx, pieces(100), targets.Target{}); !errors.Is(err, context.Canceled) || ctx.asked != ctx.most+1 {
		t.Errorf("canceled at step %d: %v at step %d", ctx.most+1, err, ctx.asked)
	}
}
