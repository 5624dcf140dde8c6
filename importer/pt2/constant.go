package pt2

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"ripc/graph"
	"ripc/importer/internal/kit"
	"ripc/internal/f32"
)

// constant is a tensor that does not depend on an input. Integers and truth values are kept as f32,
// which has all integers up to maxExact.
type constant struct {
	shape []int
	data  []float32
}

const (
	maxExact = 1 << 24
	// maxElements bounds one tensor.
	maxElements = math.MaxInt32
	maxRank     = 16
	// evaluatedWork is the work of an element of an evaluated node, in steps of loops here.
	evaluatedWork       = 8
	maxWork       int64 = 1 << 33
)

// take reserves memory for constants of n elements.
func (b *builder) take(n int) {
	if b.memory -= 4 * int64(n); b.memory < 0 {
		panic(fmt.Errorf("the constants need more memory than a file of this size may ask for"))
	}
}

// count returns the number of elements of a shape of the file.
func count(shape []int) int {
	n := 1
	for _, d := range shape {
		if d < 0 || d > 0 && n > maxElements/d || len(shape) > maxRank {
			panic(fmt.Errorf("a tensor of shape %v is too large", shape))
		}
		n *= d
	}
	return n
}

// load reads a tensor of the file.
func (b *builder) load(name string) *constant {
	p, ok := b.archive.weights[name]
	switch {
	case !ok:
		panic(errorf(b.archive.file, "copy the file again", "the archive has no data of tensor %q", name))
	case p.Pickle || p.Meta == nil:
		panic(errorf(b.archive.file, "make it a plain tensor", "tensor %q is pickled; pickles are not read", name))
	}
	fault := func(format string, args ...any) {
		panic(errorf(b.archive.file, "", "tensor %q: %s", name, fmt.Sprintf(format, args...)))
	}
	data, ok := b.archive.entries[p.Path]
	size := p.Meta.DType.size()
	if !ok {
		fault("the archive has no entry %q", p.Path)
	}
	if size == 0 {
		fault("holds elements of %v, which are not read", p.Meta.DType)
	}
	shape, open := p.Meta.shape()
	c := &constant{shape: shape}
	n := count(shape)
	offset, steps := 0, make([]int, len(p.Meta.Strides))
	last := 0 // the last element that is read
	for d, s := range append(slices.Clone(p.Meta.Strides), p.Meta.Offset) {
		if s.Int == nil || *s.Int < 0 || *s.Int > maxElements {
			fault("a stride or an offset is no number from 0")
		}
		if offset = int(*s.Int); d < len(steps) {
			steps[d] = offset
		}
	}
	if len(steps) != len(shape) || len(open) > 0 {
		fault("has %d strides for shape %v", len(steps), shape)
	}
	for d, step := range steps {
		if last += step * max(0, shape[d]-1); last > maxElements {
			fault("strides %v reach beyond its data", steps)
		}
	}
	if n > 0 && last+offset >= len(data)/size {
		fault("shape %v with strides %v from element %d on reaches beyond its %d bytes",
			shape, steps, offset, len(data))
	}
	b.take(n)
	c.data = make([]float32, 0, n)
	var walk func(d, at int)
	walk = func(d, at int) {
		if d < len(shape) {
			for i := range shape[d] {
				walk(d+1, at+i*steps[d])
			}
			return
		}
		c.data = append(c.data, p.Meta.DType.read(data[at*size:]))
	}
	walk(0, offset)
	return c
}

// read returns the element at the beginning of data. Integers that f32 does not have become NaN.
func (d dtype) read(data []byte) float32 {
	whole := func(v int64) float32 {
		if v < -maxExact || v > maxExact {
			return float32(math.NaN())
		}
		return float32(v)
	}
	le := binary.LittleEndian
	switch d {
	case dtByte, dtBool:
		return float32(data[0])
	case dtChar:
		return float32(int8(data[0]))
	case dtShort:
		return float32(int16(le.Uint16(data)))
	case dtInt:
		return whole(int64(int32(le.Uint32(data))))
	case dtLong:
		return whole(int64(le.Uint64(data)))
	case dtHalf:
		return f32.Half(le.Uint16(data))
	case dtBF16:
		return math.Float32frombits(uint32(le.Uint16(data)) << 16)
	case dtDouble:
		return float32(math.Float64frombits(le.Uint64(data)))
	}
	return math.Float32frombits(le.Uint32(data))
}

// number returns a constant without axes.
func number(v float64) *tensor { return &tensor{konst: &constant{data: []float32{float32(v)}}} }

// filled returns a constant of one number.
func (b *builder) filled(shape []int, v float64) *tensor {
	n := count(shape)
	b.take(n)
	return &tensor{konst: &constant{slices.Clone(shape), slices.Repeat([]float32{float32(v)}, n)}}
}

// permuted returns c with axis d of the result being axis perm[d].
func (b *builder) permuted(c *constant, perm []int) *constant {
	b.take(len(c.data))
	return &constant{kit.Permuted(c.shape, perm), kit.PermuteArray(c.shape, c.data, perm)}
}

// viewed returns c with another shape that has the same number of elements.
func (c *constant) viewed(shape []int) *constant { return &constant{slices.Clone(shape), c.data} }

// ranked returns c with leading axes of extent 1 up to a rank.
func (c *constant) ranked(rank int) *constant {
	return c.viewed(append(slices.Repeat([]int{1}, max(0, rank-len(c.shape))), c.shape...))
}

// narrowed returns c with extent 1 along the axes along which it repeats: programs expand numbers
// of channels to all elements.
func (c *constant) narrowed() *constant {
	inner := 1
	for d := len(c.shape) - 1; d >= 0; d-- {
		extent := c.shape[d]
		block := inner * extent
		same := extent > 1
		for k := 0; same && k < len(c.data); k++ {
			same = math.Float32bits(c.data[k]) == math.Float32bits(c.data[k/block*block+k%inner])
		}
		if same {
			shape, data := slices.Clone(c.shape), make([]float32, 0, len(c.data)/extent)
			for k := 0; k < len(c.data); k += block {
				data = append(data, c.data[k:k+inner]...)
			}
			shape[d] = 1
			c = &constant{shape, data}
			continue
		}
		inner = block
	}
	return c
}

// tensor returns c as a weight.
func (c *constant) tensor() *graph.Tensor {
	return &graph.Tensor{Shape: slices.Clone(c.shape), Data: graph.NumbersOf(c.data)}
}

// scratch returns a builder of another graph, for operators on constants.
func (b *builder) scratch() *builder {
	s := newBuilder(b.ctx, b.archive, b.options, b.eval, 0)
	s.memory, s.work, s.sizes, s.scalars = b.memory, b.work, b.sizes, b.scalars
	return s
}

// fold computes a node of constants by running the graph that it becomes.
func (b *builder) fold(n *node) []*tensor {
	s := b.scratch()
	defer func() { b.memory, b.work = s.memory, s.work }()
	var inputs [][]float32
	made := map[*tensor]*tensor{}
	constants := map[string]*tensor{}
	of := *n
	of.b, of.tensors, of.made, of.unnamed = s, map[string][]*tensor{}, nil, nil
	s.n = &of
	for _, name := range n.row.args() {
		for _, t := range n.tensors[name] {
			if t == nil || made[t] != nil || t.konst == nil || n.row.keeps(name) {
				continue
			}
			if len(t.konst.data) == 0 || slices.ContainsFunc(t.konst.data, func(v float32) bool { return v != v }) {
				panic(n.fail("", "its operand %q is empty, or holds a NaN or an integer beyond 2^24", name))
			}
			in := &graph.Value{Name: fmt.Sprintf("in%d", len(inputs)), Shape: t.konst.shape}
			if len(in.Shape) == 0 {
				in.Shape = []int{1}
			}
			in.Layout = graph.LayoutOf(in.Shape)
			s.g.Input(in)
			inputs = append(inputs, t.konst.data)
			v := s.inRank(in, t.konst.shape)
			if t.truth {
				v.View, v.truth = v.Derived(s.NonZero(in)), true
			}
			made[t], constants[in.Name] = v, t
		}
	}
	for name, list := range n.tensors {
		for _, t := range list {
			if made[t] != nil {
				t = made[t]
			}
			of.tensors[name] = append(of.tensors[name], t)
		}
	}
	outs := n.row.lower(&of)
	results := s.run(outs, inputs)
	for i, t := range outs {
		if t != nil && t.View != nil {
			outs[i] = &tensor{konst: &constant{t.Shape, results[0]}, truth: t.truth}
			results = results[1:]
		}
	}
	return outs
}

// run computes the tensors outs of b's graph.
func (b *builder) run(outs []*tensor, inputs [][]float32) [][]float32 {
	g := b.g.Graph()
	for _, t := range outs {
		if t == nil || t.View == nil {
			continue
		}
		v := b.StoreView(t.View, kit.Identity(len(t.Shape)))
		if v.Encoded() || v.Whole {
			v = b.Plain(v, "dequantize")
		}
		if b.g.Producer(v.Name) == nil || slices.Contains(g.Outputs, v.Name) {
			v = b.emit("reshape", &graph.ReshapeAttrs{Shape: slices.Clone(v.Shape)}, nil, v)
		}
		g.Outputs = append(g.Outputs, v.Name)
	}
	if len(g.Outputs) == 0 {
		return nil
	}
	b.g.Prune()
	for _, n := range g.Nodes {
		work := int64(g.Value(n.Output).Elems())
		for _, in := range n.Inputs {
			work = max(work, int64(g.Value(in).Elems()))
		}
		if w := n.Weights["w"]; w != nil {
			work *= int64(max(1, w.Data.Len()/w.Shape[len(w.Shape)-1]))
		}
		if b.work += evaluatedWork * work; b.work > maxWork {
			panic(fmt.Errorf("its constants take more than %d operations to compute", maxWork))
		}
	}
	return kit.Must(b.eval(b.ctx, g, inputs))
}
