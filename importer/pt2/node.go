package pt2

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/importer/internal/kit"
	"ripc/ir"
)

// node is a node of the program while it is read.
type node struct {
	*fileNode
	b       *builder
	row     *row
	label   string // its name in messages
	called  string // its name in the graph
	base    string // prefix of its values' names
	args    map[string]*argument
	tensors map[string][]*tensor
	made    []*graph.Node
	unnamed []*graph.Value
}

// fail is an error at n.
func (n *node) fail(help, format string, args ...any) error {
	return &ir.Error{Pos: ir.Pos{File: n.b.archive.file}, Node: n.label, Msg: fmt.Sprintf(format, args...), Help: help}
}

// node reads a node of the program. If it has a fault, nodes that need its results are left out.
func (b *builder) node(index int) {
	f := b.nodes[index]
	if f == nil {
		return
	}
	name := strings.TrimPrefix(f.Target, "torch.ops.")
	if strings.HasPrefix(name, "aten._assert") || strings.HasPrefix(name, "aten.sym_constrain") {
		return // it makes nothing
	}
	n := &node{fileNode: f, b: b, called: f.called(index), base: fmt.Sprintf("node%d", index),
		args: map[string]*argument{}, tensors: map[string][]*tensor{}}
	makes := f.makes()
	if len(makes) > 0 && makes[0] != "" {
		n.base = makes[0]
	}
	n.label = fmt.Sprintf("node %q (%s)", n.base, name)
	if m := f.module(); m != "" {
		n.label = fmt.Sprintf("node %q (%s, module %q)", n.base, name, m)
	}
	b.n = n
	var outs []*tensor
	bad := false
	err := kit.Try(func() {
		if b.scalar(n) {
			return
		}
		if bad = n.prepare(name); !bad {
			outs = b.evaluate(n)
		}
	})
	if err != nil {
		b.unread[index] = true
		var e *ir.Error
		if !errors.As(err, &e) {
			err = n.fail("", "%v", err)
		}
		b.faults.Add(err)
	}
	n.nameLayer()
	for i, name := range makes {
		if slices.Contains(b.begins, name) {
			continue
		}
		t := &tensor{bad: true}
		switch {
		case err == nil && !bad && i < len(outs) && outs[i] != nil:
			t = outs[i]
			n.check(name, t)
			if t.View != nil && slices.Contains(n.unnamed, t.Value) && b.g.Graph().Values[name] == nil {
				b.renameValue(t.Value, name)
			}
		case err == nil && !bad:
			t.bad = false // which nobody may read
			t = nil
		}
		if _, known := b.scalars[name]; !known || t != nil {
			b.tensors[name] = t
		}
	}
	if err == nil && !bad {
		n.overwrite()
	}
}

// decompose is the beginning of an advice.
const decompose = "call ep.run_decompositions() before torch.export.save: "

// prepare finds the node's row and its arguments. bad says that an operand could not be read.
func (n *node) prepare(name string) (bad bool) {
	op, aten := strings.CutPrefix(name, "aten.")
	op, _, _ = strings.Cut(op, ".")
	if n.row = rows()[op]; n.row == nil && aten {
		n.row = rows()[strings.TrimSuffix(op, "_")]
	}
	if !aten || n.row == nil {
		e := n.fail(decompose+"it writes some operators in terms of others; docs/import-pt2.md lists the readable ones",
			"this operator is not supported").(*ir.Error)
		n.b.uncut = append(n.b.uncut, e)
		panic(e)
	}
	for i := range n.Inputs {
		in := &n.Inputs[i]
		if !slices.Contains(n.row.args(), in.Name) && !slices.Contains(ignored(), in.Name) {
			panic(n.fail("", "argument %q is not supported", in.Name))
		}
		if in.Arg.None != nil || n.args[in.Name] != nil {
			continue
		}
		n.args[in.Name] = &in.Arg
		for _, name := range in.Arg.tensors() {
			t := n.b.tensor(n, name)
			if t.bad {
				return true
			}
			n.tensors[in.Name] = append(n.tensors[in.Name], t)
		}
	}
	return false
}

// tensor finds a tensor of the program that n reads. Weights are loaded when they are first read.
func (b *builder) tensor(n *node, name string) *tensor {
	t, made := b.tensors[name]
	if fqn, ok := b.weights[name]; ok && !made {
		c := b.load(fqn)
		t = &tensor{konst: c, truth: b.archive.weights[fqn].Meta.DType == dtBool}
		b.tensors[name] = t
	}
	switch over := b.stale[name]; {
	case over != "":
		panic(n.fail(decompose+"it writes programs that overwrite nothing",
			"tensor %q shares memory with a tensor that node %q overwrites", name, over))
	case t == nil:
		panic(n.fail("", "tensor %q is made by no node, and is no input", name))
	}
	return t
}

// check compares a result with the type and shape that the file gives.
func (n *node) check(name string, t *tensor) {
	meta, ok := n.b.archive.program.GraphModule.Graph.Tensors[name]
	if !ok {
		return
	}
	shape, open := meta.shape()
	var err error
	switch {
	case meta.DType == dtHalf || meta.DType == dtBF16 || meta.DType == dtDouble:
		err = n.fail("export the network in float32: net.float()", "computes in %v", meta.DType)
	case n.b.fixed && len(open) == 0 && !slices.Equal(shape, t.extents()):
		err = n.fail("the file may be damaged", "makes a tensor of shape %v, the file says %v", t.extents(), shape)
	default:
		return
	}
	n.b.faults.Add(err)
	t.bad = true
}

// overwrite follows in-place writes: a tensor that n overwrites has n's result from here on. Others
// that share its memory cannot be read any more.
func (n *node) overwrite() {
	b := n.b
	self := ""
	if in := n.args[n.row.args()[0]]; in != nil {
		if names := in.tensors(); len(names) > 0 {
			self = names[0]
		}
	}
	root := self
	if r, ok := b.roots[self]; ok {
		root = r
	}
	op, _, _ := strings.Cut(strings.TrimPrefix(n.Target, "torch.ops.aten."), ".")
	makes := n.makes()
	switch {
	case self == "" || len(makes) == 0:
	case strings.HasSuffix(op, "_") && !n.row.view:
		for name := range b.tensors {
			if r, ok := b.roots[name]; name != self && name != makes[0] && (name == root || ok && r == root) {
				b.stale[name] = n.base
			}
		}
		b.tensors[self] = b.tensors[makes[0]]
		b.roots[makes[0]] = root
	case n.row.view:
		for _, name := range makes {
			b.roots[name] = root
		}
	}
}

// nameLayer gives the node's own name to the graph's node that does its work, and not to one that
// only moves elements or changes their form.
func (n *node) nameLayer() {
	var layer *graph.Node
	for _, m := range n.made {
		if !slices.Contains([]string{"dequantize", "reshape", "transpose", "constant"}, m.Op) {
			layer = m
			break
		}
		layer = m
	}
	if layer != nil {
		n.b.g.RenameNode(layer, n.b.g.NodeName(n.called))
	}
}

// scalar computes a node that makes a number of extents; ok is false for other nodes.
func (b *builder) scalar(n *node) (ok bool) {
	if len(n.Outputs) != 1 || n.Outputs[0].SymInt == nil || n.Outputs[0].SymInt.Name == nil {
		return false
	}
	var v []int
	for i := range n.Inputs {
		in := &n.Inputs[i].Arg
		n.args[fmt.Sprint(i)] = in
		if in.Tensor != nil {
			v = append(v, b.tensor(n, in.Tensor.Name).extents()...)
			continue
		}
		v = append(v, n.integers(fmt.Sprint(i), nil)...)
	}
	name := *n.Outputs[0].SymInt.Name
	op := n.Target[strings.LastIndex(strings.TrimSuffix(n.Target, ".int"), ".")+1:]
	last := len(v) - 1
	switch {
	case op == "sym_size.int" && last > 0:
		b.scalars[name] = v[n.axis(v[last], last)]
	case last == 1 && (op == "floordiv" || op == "mod") && v[1] > 0 && v[0] >= 0:
		b.scalars[name] = map[string]int{"floordiv": v[0] / v[1], "mod": v[0] % v[1]}[op]
	case last == 1 && slices.Contains([]string{"add", "sub", "mul"}, op) &&
		max(v[0], v[1]) < maxElements && min(v[0], v[1]) > -maxElements:
		b.scalars[name] = map[string]int{"add": v[0] + v[1], "sub": v[0] - v[1], "mul": v[0] * v[1]}[op]
	default:
		panic(n.fail("export the network with fixed shapes, or open the batch alone",
			"this computation on extents is not supported"))
	}
	return true
}

// evaluate makes the node's outputs: constants of constants, or nodes of the graph.
func (b *builder) evaluate(n *node) []*tensor {
	for _, name := range n.row.required() {
		if n.args[name] == nil {
			panic(n.fail("", "argument %q is missing", name))
		}
	}
	konst, any := true, false
	for _, list := range n.tensors {
		for _, t := range list {
			any, konst = true, konst && t.konst != nil
			if t.truth && !n.row.logic {
				panic(n.fail("convert it with .float()",
					"an operand holds truth values, which only torch.where, logic and conversions may read"))
			}
			if t.View != nil && t.Value.Whole && !n.row.view {
				panic(n.fail("", "an operand holds positions; arithmetic on integers is not supported"))
			}
		}
	}
	if any && konst && n.row.constant == nil {
		return b.fold(n)
	}
	if konst && n.row.constant != nil {
		return n.row.constant(n)
	}
	return n.row.lower(n)
}

// axis resolves an axis that may count from the end.
func (n *node) axis(a, rank int) int {
	if a < -max(1, rank) || a >= max(1, rank) {
		panic(n.fail("", "axis %d of a tensor with %d axes", a, rank))
	}
	return (a + rank) % max(1, rank)
}

// has reports whether an argument is given.
func (n *node) has(name string) bool { return n.args[name] != nil }

// operand is a tensor argument, or a number as a constant; nil if it is not given.
func (n *node) operand(name string) *tensor {
	if list := n.tensors[name]; len(list) > 0 {
		return list[0]
	}
	if !n.has(name) {
		return nil
	}
	return number(n.number(name, 0))
}

// weight is a tensor argument that must be constant; nil if it is not given.
func (n *node) weight(name string) *constant {
	t := n.operand(name)
	if t == nil {
		return nil
	}
	if t.konst == nil {
		panic(n.fail("make it a parameter or a buffer, or compute it of these",
			"argument %q is computed from an input; only constants are supported there", name))
	}
	return t.konst
}

// number is an argument of one number.
func (n *node) number(name string, def float64) float64 {
	a := n.args[name]
	switch {
	case a == nil:
		return def
	case a.Float != nil:
		return float64(*a.Float)
	case a.Int != nil:
		return float64(*a.Int)
	case a.Bool != nil && *a.Bool:
		return 1
	case a.Bool != nil:
		return 0
	case a.SymInt != nil:
		return float64(n.integers(name, nil)[0])
	case len(n.tensors[name]) == 1 && n.tensors[name][0].konst != nil && len(n.tensors[name][0].konst.data) == 1:
		return float64(n.tensors[name][0].konst.data[0])
	}
	panic(n.fail("", "argument %q is no constant number", name))
}

// integers is an argument of integers, or of one.
func (n *node) integers(name string, def []int) []int {
	a := n.args[name]
	if a == nil {
		return def
	}
	list := a.SymInts
	if a.SymInt != nil {
		list = []symArgument{*a.SymInt}
	}
	if a.Int != nil {
		list = []symArgument{{Int: a.Int}}
	}
	for i := range a.Ints {
		list = append(list, symArgument{Int: &a.Ints[i]})
	}
	out := make([]int, 0, len(list))
	for _, s := range list {
		v, ok := 0, false
		if s.Name != nil {
			v, ok = n.b.scalars[*s.Name]
		} else if s.Int != nil {
			v, ok = int(*s.Int), true
		}
		if !ok {
			panic(n.fail("", "argument %q holds a number that is not known", name))
		}
		out = append(out, v)
	}
	return out
}

// integer is an argument of one integer.
func (n *node) integer(name string, def int) int {
	list := n.integers(name, []int{def})
	if len(list) != 1 {
		panic(n.fail("", "argument %q is %v, want one integer", name, list))
	}
	return list[0]
}

// flag is a boolean argument.
func (n *node) flag(name string, def bool) bool {
	if a := n.args[name]; a != nil && a.Bool != nil {
		return *a.Bool
	}
	return def
}

// text is an argument of characters, "" if it is none.
func (n *node) text(name string) string {
	if a := n.args[name]; a != nil && a.String != nil {
		return *a.String
	}
	return ""
}

// axes is an argument that lists axes, sorted; all axes if it is empty.
func (n *node) axes(name string, rank int) []int {
	var out []int
	for _, a := range n.integers(name, nil) {
		out = append(out, n.axis(a, rank))
	}
	if len(out) == 0 {
		return kit.Identity(rank)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pair is an argument of a number for each spatial axis, or one for all. The rows of an image with
// one spatial axis get the number one.
func (n *node) pair(name string, spatial, def, one int) [2]int {
	list := n.integers(name, []int{def})
	if len(list) == 1 {
		list = slices.Repeat(list, spatial)
	}
	if len(list) != spatial || !kit.InRange(list, 0, math.MaxInt16) {
		panic(n.fail("", "argument %q is %v, want a number for each of %d spatial axes", name, list, spatial))
	}
	if spatial == 1 {
		list = append([]int{one}, list...)
	}
	return [2]int(list)
}
