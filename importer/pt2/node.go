package pt2

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ripc/importer/internal/kit"
	"ripc/internal/lists"
)

// node is a node of the program while it is read.
type node struct {
	*fileNode
	b       *builder
	row     *row
	base    string // prefix of its values' names
	args    map[string]*argument
	tensors map[string][]*tensor
}

// fail is an error at n.
func (n *node) fail(help, format string, args ...any) error {
	return n.b.Fail(help, format, args...)
}

func (n *node) failIf(bad bool, help, format string, args ...any) {
	if bad {
		panic(n.fail(help, format, args...))
	}
}

// node reads a node of the program.
func (b *builder) node(index int) {
	f := &b.archive.program.GraphModule.Graph.Nodes[index]
	name := strings.TrimPrefix(f.Target, "torch.ops.")
	if strings.HasPrefix(name, "aten._assert") || strings.HasPrefix(name, "aten.sym_constrain") {
		return // it makes nothing
	}
	n := &node{fileNode: f, b: b, base: fmt.Sprintf("node%d", index), args: map[string]*argument{},
		tensors: map[string][]*tensor{}}
	results := f.makes()
	if len(results) > 0 && results[0] != "" {
		n.base = results[0]
	}
	label := fmt.Sprintf("node %q (%s)", n.base, name)
	if m := f.module(); m != "" {
		label = fmt.Sprintf("node %q (%s, module %q)", n.base, name, m)
	}
	for i, name := range results {
		if slices.Contains(b.part.Inputs, name) {
			results[i] = ""
		}
	}
	read := b.Node(index, label, f.called(index), n.base, results, func() (outs []*tensor) {
		if !b.scalar(n) {
			n.prepare(name)
			outs = n.evaluate()
			n.check(results, outs)
		}
		return outs
	})
	if read && n.row != nil {
		n.overwrite()
	}
}

// decompose is the beginning of an advice.
const decompose = "call ep.run_decompositions() before torch.export.save: "

// prepare finds the node's row and its arguments.
func (n *node) prepare(name string) {
	op, aten := strings.CutPrefix(name, "aten.")
	op, _, _ = strings.Cut(op, ".")
	if n.row = rows()[op]; n.row == nil {
		n.row = rows()[strings.TrimSuffix(op, "_")]
	}
	if !aten || n.row == nil {
		n.row = nil
		panic(n.b.Unsupported(
			decompose+"it writes some operators in terms of others; docs/import-pt2.md lists the readable ones",
			"this operator is not supported"))
	}
	for i := range n.Inputs {
		in := &n.Inputs[i]
		n.failIf(!slices.Contains(n.row.args(), in.Name) && !slices.Contains(ignored(), in.Name),
			"", "argument %q is not supported", in.Name)
		if in.Arg.kind == "as_none" || n.args[in.Name] != nil {
			continue
		}
		n.args[in.Name] = &in.Arg
		for _, name := range in.Arg.tensors() {
			n.tensors[in.Name] = append(n.tensors[in.Name], n.tensor(name))
		}
	}
}

// tensor finds a tensor of the program that n reads. Weights are loaded when they are first read.
func (n *node) tensor(name string) *tensor {
	b := n.b
	t := b.Tensor(name)
	if fqn, ok := b.weights[name]; ok && t == nil {
		t = b.load(fqn)
		b.SetTensor(name, t)
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

// check compares results with the types and shapes that the file gives.
func (n *node) check(names []string, results []*tensor) {
	for i, t := range results[:min(len(names), len(results))] {
		meta, ok := n.b.archive.program.GraphModule.Graph.Tensors[names[i]]
		shape, open := meta.shape()
		switch {
		case !ok || t == nil:
		case meta.DType == dtHalf || meta.DType == dtBF16 || meta.DType == dtDouble:
			panic(n.fail("export the network in float32: net.float()", "computes in %v", meta.DType))
		case n.b.fixed && len(open) == 0 && !slices.Equal(shape, t.Extents()):
			panic(n.fail("the file may be damaged", "makes a tensor of shape %v, the file says %v", t.Extents(), shape))
		}
	}
}

// overwrite follows in-place writes: a tensor that n overwrites has n's result from here on. Others
// that share its memory cannot be read any more.
func (n *node) overwrite() {
	b := n.b
	self := ""
	if in := n.args[n.row.args()[0]]; in != nil && len(in.tensors()) > 0 {
		self = in.tensors()[0]
	}
	root := cmp.Or(b.roots[self], self)
	op, _, _ := strings.Cut(strings.TrimPrefix(n.Target, "torch.ops.aten."), ".")
	makes := n.makes()
	switch {
	case self == "" || len(makes) == 0:
	case strings.HasSuffix(op, "_") && !n.row.view:
		b.stale[root] = n.base
		for name, r := range b.roots {
			if r == root {
				b.stale[name] = n.base
			}
		}
		delete(b.stale, self)
		b.SetTensor(self, b.Tensor(makes[0]))
		b.roots[makes[0]] = root
	case n.row.view:
		for _, name := range makes {
			b.roots[name] = root
		}
	}
}

// scalar computes a node that makes a number of extents; ok is false for other nodes.
func (b *builder) scalar(n *node) (ok bool) {
	if len(n.Outputs) != 1 || len(n.Outputs[0].symbols()) != 1 {
		return false
	}
	var v []int
	for i := range n.Inputs {
		in, key := &n.Inputs[i].Arg, fmt.Sprint(i)
		n.args[key] = in
		for _, name := range in.tensors() {
			v = append(v, n.tensor(name).Extents()...)
		}
		if in.tensors() == nil {
			v = append(v, n.integers(key, nil)...)
		}
	}
	name := n.Outputs[0].symbols()[0]
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
func (n *node) evaluate() []*tensor {
	for _, name := range n.row.required() {
		n.failIf(n.args[name] == nil, "", "argument %q is missing", name)
	}
	for _, list := range n.tensors {
		for _, t := range list {
			switch {
			case n.row.view:
			case t.IsTruth() && !n.row.logic:
				panic(n.fail("convert it with .float()",
					"an operand holds truth values, which only torch.where, logic and conversions may read"))
			case t.IsWhole() && n.row != rows()["to"]:
				panic(n.fail("", "an operand holds positions; arithmetic on integers is not supported"))
			}
		}
	}
	return n.row.lower(n)
}

// axis resolves an axis that may count from the end.
func (n *node) axis(a, rank int) int {
	n.failIf(a < -max(1, rank) || a >= max(1, rank), "", "axis %d of a tensor with %d axes", a, rank)
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
	return n.b.filled(nil, n.number(name, 0))
}

// weight is a tensor argument that must be constant; nil if it is not given.
func (n *node) weight(name string) *tensor {
	t := n.operand(name)
	if t == nil {
		return nil
	}
	if _, constant := t.Numbers(); !constant {
		panic(n.fail("make it a parameter or a buffer, or compute it of these",
			"argument %q is computed from an input; only constants are supported there", name))
	}
	return t
}

// number is an argument of one number.
func (n *node) number(name string, def float64) float64 {
	if !n.has(name) {
		return def
	}
	if list := n.tensors[name]; len(list) == 1 {
		if data, _ := list[0].Numbers(); len(data) == 1 {
			return float64(data[0])
		}
	} else if list := n.numbers(name); len(list) == 1 {
		return list[0]
	}
	panic(n.fail("", "argument %q is no constant number", name))
}

// numbers is an argument of numbers, nil if it is not given.
func (n *node) numbers(name string) []float64 {
	if !n.has(name) {
		return nil
	}
	return readNumbers(n, name, func(w string) (float64, error) { return strconv.ParseFloat(w, 64) })
}

// integers is an argument of integers, or of one.
func (n *node) integers(name string, def []int) []int {
	if !n.has(name) {
		return def
	}
	return readNumbers(n, name, strconv.Atoi)
}

// readNumbers reads a given argument by parse, names being numbers that nodes compute of extents.
func readNumbers[T int | float64](n *node, name string, parse func(word string) (T, error)) []T {
	out := []T{}
	for _, w := range n.args[name].words {
		v, err := parse(w)
		if known, ok := n.b.scalars[w]; ok {
			v = T(known)
		} else if err != nil {
			panic(n.fail("", "argument %q holds a number that is not known", name))
		}
		out = append(out, v)
	}
	return out
}

// integer is an argument of one integer.
func (n *node) integer(name string, def int) int {
	list := n.integers(name, []int{def})
	n.failIf(len(list) != 1, "", "argument %q is %v, want one integer", name, list)
	return list[0]
}

// flag is a boolean argument.
func (n *node) flag(name string, def bool) bool { return n.integer(name, truth(def)) != 0 }

// text is an argument of characters.
func (n *node) text(name, def string) string {
	if a := n.args[name]; a != nil && a.kind == "as_string" {
		return strings.Join(a.words, "")
	}
	return def
}

// float is number in f32.
func (n *node) float(name string, def float64) float32 { return float32(n.number(name, def)) }

// axes is an argument that lists axes, sorted; all axes if it is empty.
func (n *node) axes(name string, rank int) []int {
	out := lists.Map(n.integers(name, nil), func(a int) int { return n.axis(a, rank) })
	if len(out) == 0 {
		return kit.Identity(rank)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// spatial is an argument of a number for each spatial axis, or one for all.
func (n *node) spatial(name string, axes int, def ...int) []int {
	list := n.integers(name, nil)
	if len(list) == 0 {
		list = def
	}
	if len(list) == 1 {
		list = slices.Repeat(list, axes)
	}
	n.failIf(len(list) != axes || !kit.InRange(list, 0, math.MaxInt16),
		"", "argument %q is %v, want a number for each of %d spatial axes", name, list, axes)
	return list
}
