// Package lower turns a fused graph into an ir.Program: one stage a node, laid out by lower/layout,
// constants packed, activations in an arena. The Program that it makes is unscheduled: the
// definition, which the interpreter runs, and which package compile schedules.
package lower

import (
	"context"
	"fmt"
	"slices"

	"ripc/graph"
	"ripc/internal/passorder"
	"ripc/ir"
	"ripc/lower/inline"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/lower/plan"
	"ripc/targets"
)

// Options select the target and the algorithms of layers.
type Options struct {
	Target targets.Target // the target of the layouts
	// Algorithms fixes the algorithms of layers, by the layers' names.
	Algorithms map[string]layout.Algorithm
	// Chosen holds a cost model's choices for layers that Algorithms leaves open. Others get the
	// first algorithm that applies.
	Chosen map[string]layout.Choice
	// Bitserial lists layers that must count bits.
	Bitserial []string
	// Sketch leaves constants without contents: for Funcs that are compared and not run.
	Sketch bool
	// PackApart stores levels as bytes, and adds separate stages that pack them, to measure the
	// gain of packing in place. The result is the same.
	PackApart bool
}

// Program lowers g, a graph that fusedglue.Fuse made. It fails where o asks for an algorithm that a
// layer does not have, and when ctx is done.
func Program(ctx context.Context, g *graph.Graph, o Options) (*ir.Program, error) {
	g = ApplyGlue(g, o.Target)
	choices, err := choose(g, o)
	if err != nil {
		return nil, err
	}
	g, labels := rename(g)
	l := newLowering(g, o.Target, choices)
	l.p, l.packApart, l.sketch = &ir.Program{Name: g.Name}, o.PackApart, o.Sketch
	if err := passorder.Run(ctx, passes(), order(), l, nil, nil); err != nil {
		return nil, err
	}
	for _, n := range g.Nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := l.node(n); err != nil {
			return nil, err
		}
	}
	var outputs []ir.ProgBuf
	for _, name := range g.Outputs {
		outputs = append(outputs, *l.buffer(l.output(g.Value(name))))
	}
	// The caller counts outputs in the model's order, not in that of the layers.
	l.p.Buffers = slices.DeleteFunc(l.p.Buffers, func(b ir.ProgBuf) bool { return b.Kind == ir.OutputBuf })
	l.p.Buffers = append(l.p.Buffers, outputs...)
	for i := range l.p.Buffers {
		if b := &l.p.Buffers[i]; b.Kind == ir.InputBuf || b.Kind == ir.OutputBuf {
			b.Label = labels[b.Name]
		}
	}
	if err := inline.Moves(ctx, l.p, o.Target); err != nil {
		return nil, err
	}
	inline.Merge(l.p, o.Target)
	l.p.Arena = plan.Arena(l.p)
	if o.Sketch {
		return l.p, nil
	}
	if err := ir.VerifyProgram(l.p); err != nil {
		return nil, fmt.Errorf("lowering %s: %w", g.Name, err)
	}
	return l.p, nil
}

// place is where a tensor's contents are: a buffer of the Program, or a slice of one that a
// concatenation will read.
type place struct {
	buf   string
	slice ops.Slice
}

type lowering struct {
	*graph.Index
	plans
	g        *graph.Graph
	p        *ir.Program
	target   targets.Target
	choices  map[string]layout.Choice // of nodes, by name
	at       map[string]place
	consts   map[string]string // hash of contents and type -> buffer
	funcs    map[string]string // text without the name -> func
	versions map[string]int    // by name of Funcs: the last version of it
	buffers  map[string]int    // by name: the place among the Program's buffers
	bits     map[string]string // by inputs of bytes: the buffer of their bits, where these are needed too

	packApart bool       // as in Options
	sketch    bool       // likewise
	loose     []loosened // levels that have not been packed yet
}

// interfaceBuffer is a tensor as the caller sees it: levels are u8 or i8, or u32 bit planes or i32
// words where packed.
func interfaceBuffer(v *graph.Value, kind ir.BufKind) ir.ProgBuf {
	b := ir.ProgBuf{Buffer: ir.Buffer{Name: v.Name, Type: v.DType(), Shape: slices.Clone(v.Shape)}, Kind: kind,
		Layout: v.Layout}
	if v.Encoded() {
		b.Levels = ir.Levels{Kind: v.Enc, Bits: v.Bits, Scale: v.Scale, Zero: v.Zero, Offset: v.Offset}
		switch v.View {
		case graph.IntWords:
			last := len(b.Shape) - 1
			b.Levels.Channels, b.Shape[last] = v.Channels(), ops.Words(v.Channels())
		case graph.Planes:
			b.Buffer = ops.BitBuffer(v.Name, v.Bits, v.Shape, v.Enc)
		}
	}
	return b
}

// direct reports whether the caller sees v as stages do.
func (l *lowering) direct(v *graph.Value) bool {
	return !v.Encoded() || v.View == graph.Planes || l.forms[v.Name].Bytewise()
}

// inputs adds the caller's tensors.
func (l *lowering) inputs() {
	for _, name := range l.g.Inputs {
		l.input(l.g.Value(name))
	}
}

func (l *lowering) input(v *graph.Value) {
	b := interfaceBuffer(v, ir.InputBuf)
	l.add(b)
	l.at[v.Name] = place{buf: b.Name}
	if !v.Encoded() || v.View == graph.Bytes && !l.bitsWanted(v.Name) || l.ConsumerCount(v.Name) == 0 &&
		!l.g.IsOutput(v.Name) {
		return
	}
	var f *ir.Func
	switch {
	case v.View == graph.IntWords:
		f = ops.PackWords(v.Shape, v.Enc)
	case v.View == graph.Bytes:
		f = ops.PackLevels(v.LevelType, v.Shape, ops.Slice{})
	case v.Channels()%ops.WordBits != 0:
		f = ops.MaskBits(v.Bits, v.Shape, v.Enc)
	default:
		return
	}
	t := ops.Buffer(layout.Tensor{Value: *v, Form: layout.Planes})
	t.Name = l.unused(v.Name + ".bits")
	l.arena(t)
	l.stage(&graph.Node{Name: v.Name, Op: "bitpack", Inputs: []string{v.Name}}, f, 0, graph.NoReason, b.Name, t.Name)
	l.bits[v.Name] = t.Name
	if v.View != graph.Bytes {
		l.at[v.Name] = place{buf: t.Name}
	}
}

// output copies or unpacks an output if its tensor is not in the caller's buffer already, and
// returns that buffer.
func (l *lowering) output(v *graph.Value) string {
	if b := l.buffer(l.at[v.Name].buf); b != nil && b.Kind == ir.OutputBuf && (b.Name == v.Name || l.byteOutput(v)) {
		return b.Name
	}
	b := interfaceBuffer(v, ir.OutputBuf)
	b.Name = l.fresh(v.Name)
	l.add(b)
	n, why, src := &graph.Node{Name: v.Name, Op: "copy", Inputs: []string{v.Name}}, graph.NoReason, l.at[v.Name].buf
	f := ops.Copy(v.DType(), v.Shape)
	switch {
	case v.Whole:
	case l.forms[v.Name].Bytewise() && !l.masked(v):
	case v.View == graph.IntWords:
		n.Op, f = "unpack", ops.UnpackWords(v.Shape, v.Enc)
	case v.View == graph.Planes:
		f = ops.MaskBits(v.Bits, v.Shape, v.Enc)
	case v.Encoded():
		if bits, ok := l.bits[v.Name]; ok {
			src = bits
		}
		n.Op, f = "unpack", ops.Unpack(v.LevelType, v.Shape)
	default:
		why = graph.WhyCopiesOutput
	}
	l.stage(n, f, 0, why, src, b.Name)
	return b.Name
}

// fresh is the name of an output: its tensor's, or, where the caller's own input has that one,
// another.
func (l *lowering) fresh(name string) string {
	if _, taken := l.buffers[name]; !taken {
		return name
	}
	return l.unused(name + "_out")
}

// unused is name, or name with a suffix where a tensor of the model or a buffer has it.
func (l *lowering) unused(name string) string {
	for {
		if _, taken := l.buffers[name]; !taken && l.g.Values[name] == nil {
			return name
		}
		name += "_"
	}
}

// result makes the place that node n writes its output to: the caller's buffer where it can, a
// slice of a concatenation, or the arena.
func (l *lowering) result(n *graph.Node) place {
	v := l.g.Value(n.Output)
	if at, ok := l.at[v.Name]; ok {
		return at // planned by planConcats
	}
	b := ir.ProgBuf{Buffer: ops.Buffer(layout.Tensor{Value: *v, Form: l.resultForm(n)}), Kind: ir.ArenaBuf,
		Layout: v.Layout}
	if l.g.IsOutput(v.Name) && l.direct(v) {
		b = interfaceBuffer(v, ir.OutputBuf)
	} else if l.g.IsOutput(v.Name) {
		b.Name = l.unused(v.Name + ".bits") // the caller's buffer, which output adds, has the tensor's name
	}
	l.add(b)
	l.at[v.Name] = place{buf: b.Name}
	return l.at[v.Name]
}

// add adds a buffer with a free name.
func (l *lowering) add(b ir.ProgBuf) {
	l.buffers[b.Name] = len(l.p.Buffers)
	l.p.Buffers = append(l.p.Buffers, b)
}

// buffer finds a buffer, nil if there is none.
func (l *lowering) buffer(name string) *ir.ProgBuf {
	if i, ok := l.buffers[name]; ok {
		return &l.p.Buffers[i]
	}
	return nil
}

func (l *lowering) arena(b ir.Buffer) {
	l.add(ir.ProgBuf{Buffer: b, Kind: ir.ArenaBuf})
}

// stage adds a stage and its Func; equal Funcs are shared. why is said of the stage unless n has a
// reason already.
func (l *lowering) stage(n *graph.Node, f *ir.Func, macs int64, why graph.Reason, args ...string) {
	f = prune(f)
	anon := *f
	anon.Name = ""
	key := anon.Meaning()
	name, ok := l.funcs[key]
	if !ok {
		name = f.Name
		for l.versions[name] > 0 {
			l.versions[f.Name]++
			name = fmt.Sprintf("%s_v%d", f.Name, l.versions[f.Name])
		}
		l.versions[name] = 1
		g := *f
		g.Name = name
		l.p.Funcs = append(l.p.Funcs, &g)
		l.funcs[key] = name
	}
	layer := layerOf(l.g, n, why)
	if _, ok := n.Attrs.(*graph.FusedConv); ok { // stages that copy a layer's output bear its name, too
		layer.Glue.Beside, layer.Glue.Mean = l.besideBits(n), l.positions(n)
		layer.Algorithm = algorithmOf(l.choices[n.Name])
	}
	l.p.Stages = append(l.p.Stages, ir.Stage{Name: n.Name, Op: n.Op, Func: name, Args: args, MACs: macs, Layer: layer,
		Note: n.Note})
}

// prune removes the empty conditions that ops may leave; Funcs are otherwise taken as they are.
func prune(f *ir.Func) *ir.Func {
	return f.WithBody(ir.MapStmt(f.Body, nil, func(e ir.Expr) ir.Expr {
		return ir.MapExpr(e, func(x ir.Expr) ir.Expr {
			if s, ok := x.(*ir.Select); ok {
				if c, ok := s.Cond.(*ir.IntImm); ok && c.V != 0 {
					return s.A
				}
			}
			return x
		})
	}))
}
