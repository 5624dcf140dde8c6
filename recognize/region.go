package recognize

import (
	"math"
	"reflect"
	"slices"
	"strings"

	"ripc/graph"
	"ripc/graph/scalar"
)

// maxRegion bounds the ops of a region. A straight-through estimator with a soft backward function,
// as Bi-Real-Net and ReActNet write it, has some 30.
const maxRegion = 64

// region is a function from tensor from to tensor to, element by element. The ops between the two
// may branch and join.
type region struct {
	from, to string
	channels int
	ops      []operation // register 0 is from; operation i fills register i+1, the last one that of to
	// jumps counts the ops that have jumps, such as round and quantize. A region without any makes
	// no levels.
	jumps int
	sign  *graph.Node // one sign op of the region, or nil
	// shared reports whether some register is read twice, so that forms help.
	sharesRegisters bool
	vectors         [][]float32 // all constants that differ between channels
}

// operation fills a register from others.
type operation struct {
	node *graph.Node
	args []int
	eval func(c calculus, o int, args []span) span
}

// walker goes up from a tensor through elementwise ops, the last one first.
type walker struct {
	r        *rewriter
	to       string
	frontier []string // tensors that the visited nodes read; levels and constants too
	nodes    []*graph.Node
	jumps    int // jumps of the nodes, with duplicates of an op counted each time
}

// next goes up to the next single tensor from which the visited nodes compute the result. It
// returns false if there is none.
func (w *walker) next() bool {
	for {
		last, at := (*graph.Node)(nil), -1
		for i, t := range w.frontier {
			n := w.r.Producer(t)
			if n != nil && (last == nil || w.r.Precedes(last, n)) {
				last, at = n, i
			}
		}
		if last == nil || !w.r.isElementwise(last) || len(w.nodes) == maxRegion ||
			!slices.Equal(w.r.g.Value(last.Output).Shape, w.r.g.Value(w.to).Shape) {
			return false
		}
		w.nodes = append(w.nodes, last)
		w.jumps += w.r.jumps(last)
		w.frontier = slices.Delete(w.frontier, at, at+1)
		for _, in := range last.Inputs {
			if w.r.constantOf(in) == nil && !slices.Contains(w.frontier, in) {
				w.frontier = append(w.frontier, in)
			}
		}
		if len(w.frontier) == 0 {
			return false
		}
		if from := w.r.g.Value(w.frontier[0]); len(w.frontier) == 1 && !from.Encoded() {
			return slices.Equal(from.Shape, w.r.g.Value(w.to).Shape)
		}
	}
}

// constantOf returns the constant that tensor t is, as one number for each channel or one for all.
// It returns nil if t is not constant.
func (r *rewriter) constantOf(t string) []float32 {
	n := r.Producer(t)
	if n == nil || n.Op != "constant" {
		return nil
	}
	w := n.Weights["value"]
	switch {
	case !w.Data.Mixed():
		return w.Data.Floats()[:1]
	case w.Shape[len(w.Shape)-1] == w.Data.Len():
		return w.Data.Floats()
	}
	return nil
}

// isElementwise reports whether n is an op on single elements that a region may contain.
func (r *rewriter) isElementwise(n *graph.Node) bool {
	if len(graph.Steps(r.g, n)) > 0 {
		return true
	}
	switch n.Attrs.(type) {
	case *graph.QuantizeAttrs, *graph.ThresholdAttrs:
		return true
	}
	if _, _, ok := graph.FunctionOf(n); ok {
		return !graph.OfLevels(r.g, n)
	}
	if n.Op == "dequantize" {
		switch p := r.Producer(n.Inputs[0]); {
		case p == nil:
			return false
		default:
			return r.isElementwise(p)
		}
	}
	return false
}

// region returns the region of the visited nodes.
func (w *walker) region() *region {
	g := &region{from: w.frontier[0], to: w.to, channels: w.r.g.Value(w.to).Channels()}
	registers := map[string]int{g.from: 0}
	reads := []int{0}
	for _, n := range slices.Backward(w.nodes) {
		op := operation{node: n}
		for _, in := range n.Inputs {
			if _, ok := registers[in]; !ok { // a constant
				k := w.r.constantOf(in)
				g.vector(k)
				registers[in] = len(reads)
				reads = append(reads, 0)
				g.ops = append(g.ops, operation{eval: func(_ calculus, o int, _ []span) span {
					return point(k[o%len(k)])
				}})
			}
			op.args = append(op.args, registers[in])
		}
		if i := slices.IndexFunc(g.ops, func(p operation) bool { return op.equals(p) }); i >= 0 {
			registers[n.Output] = i + 1
			continue
		}
		for _, a := range op.args {
			if reads[a]++; reads[a] > 1 {
				g.sharesRegisters = true
			}
		}
		op.eval = w.r.evaluator(g, n)
		g.ops = append(g.ops, op)
		registers[n.Output] = len(reads)
		reads = append(reads, 0)
	}
	return g
}

// equals reports whether op and p compute the same.
func (op operation) equals(p operation) bool {
	return p.node != nil && op.node.Op == p.node.Op && slices.Equal(op.args, p.args) &&
		reflect.DeepEqual(op.node.Attrs, p.node.Attrs) && reflect.DeepEqual(op.node.Weights, p.node.Weights)
}

// vector records a constant.
func (g *region) vector(v []float32) {
	if differ(v) {
		g.vectors = append(g.vectors, v)
	}
}

// jumps counts the jumps of n, an op of a region.
func (r *rewriter) jumps(n *graph.Node) int {
	if steps := graph.Steps(r.g, n); len(steps) > 0 {
		count := 0
		for _, s := range steps {
			if s.Kind == scalar.Round || s.Kind == scalar.Sign {
				count++
			}
		}
		return count
	}
	switch n.Attrs.(type) {
	case *graph.QuantizeAttrs, *graph.ThresholdAttrs:
		return 1
	}
	if f, _, ok := graph.FunctionOf(n); ok && f >= scalar.Greater && f <= scalar.NotEqual {
		return 1
	}
	return 0
}

// evaluator returns a function that computes n, one of g's ops. Levels stand for their real values.
func (r *rewriter) evaluator(g *region, n *graph.Node) func(c calculus, o int, args []span) span {
	g.jumps += r.jumps(n)
	if steps := graph.Steps(r.g, n); len(steps) > 0 {
		for _, s := range steps {
			for _, v := range s.Vectors() {
				g.vector(v)
			}
			if s.Kind == scalar.Sign {
				g.sign = n
			}
		}
		return func(c calculus, o int, args []span) span {
			x := args[0]
			for _, s := range steps {
				x = c.step(s, o, x)
			}
			return x
		}
	}
	switch a := n.Attrs.(type) {
	case *graph.QuantizeAttrs:
		v := r.g.Value(n.Output).LevelType
		return func(c calculus, _ int, args []span) span {
			return c.monotone(func(x float32) float32 { return v.Float(storedLevel(v, a.Eval(x))) }, args[0])
		}
	case *graph.ThresholdAttrs:
		t := n.Weights["thresholds"]
		for i := range t.Shape[0] {
			g.vector(t.Data.Floats()[i*t.Shape[1] : (i+1)*t.Shape[1]])
		}
		return func(c calculus, o int, args []span) span {
			return c.monotone(func(x float32) float32 {
				return a.Float(storedLevel(a.LevelType, a.Level(t, o, x)))
			}, args[0])
		}
	}
	if f, operands, ok := graph.FunctionOf(n); ok {
		square := len(n.Inputs) == 2 && n.Inputs[0] == n.Inputs[1]
		for _, op := range operands {
			if op.Weight != nil {
				g.vector(op.Weight.Data.Floats())
			}
		}
		return func(c calculus, o int, args []span) span {
			var of [3]span
			for i, op := range operands {
				if op.Weight != nil {
					of[i] = point(op.Weight.Data.At(o % op.Weight.Data.Len()))
				} else {
					of[i] = args[op.Input]
				}
			}
			return c.function(f, of[:len(operands)], square)
		}
	}
	if n.Op == "dequantize" {
		return func(_ calculus, _ int, args []span) span { return args[0] }
	}
	return func(calculus, int, []span) span { return anySpan() }
}

// storedLevel returns the stored form of a level that is counted from the smallest value up.
func storedLevel(v scalar.LevelType, level int) int {
	if v.Float(0) > v.Float(v.Top()) {
		return v.Top() - level
	}
	return level
}

// enclose encloses the values of g in channel o over the numbers in x. regs is scratch memory.
func (g *region) enclose(c calculus, o int, x span, regs []span) span {
	regs = append(regs[:0], x)
	own := func(i int) {
		if s := &regs[i]; c.forms && !s.known() && !s.none {
			s.forms = append([]form{{register: i, k: 1}}, s.forms...)
			s.forms = s.forms[:min(len(s.forms), maxForms)]
		}
	}
	own(0)
	var args [3]span
	for i, op := range g.ops {
		for k, a := range op.args {
			args[k] = regs[a]
		}
		regs = append(regs, op.eval(c, o, args[:len(op.args)]))
		own(i + 1)
	}
	return regs[len(regs)-1]
}

// key returns the constants of channel o as text: channels with equal keys have equal pieces.
func (g *region) key(o int) string {
	var b strings.Builder
	for _, v := range g.vectors {
		bits := math.Float32bits(v[o%len(v)])
		b.Write([]byte{byte(bits), byte(bits >> 8), byte(bits >> 16), byte(bits >> 24)})
	}
	return b.String()
}
