package zoo

import (
	"runtime"
	"sync"

	"ripc/graph"
	"ripc/internal/refnet"
	"ripc/internal/stop"
	"ripc/ir"
)

// unit is the scale of the integers behind a real tensor: in channel c, integer 1 counts as
// step*alpha[c].
type unit struct {
	step    float64 // of the levels that the bitserial op read
	largest float64 // integer among them
	alpha   []float64
}

// evaluator computes every tensor of a network for several pictures.
type evaluator struct {
	g       *graph.Graph
	units   map[string]*unit
	lastUse map[string]int // index of the node behind which a tensor is not needed any more
}

func newEvaluator(g *graph.Graph) *evaluator {
	e := &evaluator{g: g, units: map[string]*unit{}, lastUse: map[string]int{}}
	for i, n := range g.Nodes {
		for _, in := range n.Inputs {
			e.lastUse[in] = i
		}
	}
	return e
}

// watcher sees a node and the tensors of all pictures: its first input, or its result.
type watcher func(n *graph.Node, x []*refnet.Tensor) error

// forward computes the network on its first input. before, if not nil, sees each node and its first
// input before it is computed, and may set the node's weights; after sees the result.
func (e *evaluator) forward(in [][]float32, before, after watcher) (err error) {
	defer stop.Catch(&err)
	vals := make([]map[string]*refnet.Tensor, len(in))
	for i, f := range in {
		x := refnet.New(e.g.Value(e.g.Inputs[0]))
		x.F = f
		vals[i] = map[string]*refnet.Tensor{e.g.Inputs[0]: x}
	}
	all := func(tensor string) (x []*refnet.Tensor) {
		for _, v := range vals {
			x = append(x, v[tensor])
		}
		return x
	}
	for i, n := range e.g.Nodes {
		if before != nil && len(n.Inputs) > 0 {
			stop.Check(before(n, all(n.Inputs[0])))
		}
		rule := stop.Must(e.rule(n))
		var wg sync.WaitGroup
		slots := make(chan struct{}, runtime.GOMAXPROCS(0))
		for _, v := range vals {
			slots <- struct{}{}
			wg.Go(func() {
				v[n.Output] = rule(v)
				<-slots
			})
		}
		wg.Wait()
		if after != nil {
			stop.Check(after(n, all(n.Output)))
		}
		for _, in := range n.Inputs {
			if e.lastUse[in] == i {
				for _, v := range vals {
					delete(v, in)
				}
			}
		}
	}
	return nil
}

// rule is the arithmetic of a node for one picture: products and Riptide's glue by code that is
// fast enough for whole networks, all else as package refnet has it.
func (e *evaluator) rule(n *graph.Node) (func(vals map[string]*refnet.Tensor) *refnet.Tensor, error) {
	e.track(n)
	switch a := n.Attrs.(type) {
	case *graph.Conv2DAttrs:
		return e.products(n, a, n.Weights["w"].Shape)
	case *graph.DenseAttrs:
		w := n.Weights["w"].Shape
		return e.products(n, &graph.Conv2DAttrs{Strides: [2]int{1, 1}, Binary: a.Binary, Integer: a.Integer},
			[]int{1, 1, w[0], w[1]})
	case *graph.BatchNormAttrs:
		return batchNorm(e.g, n, a), nil
	case *graph.ShiftNormAttrs:
		return e.shiftNorm(n, a)
	case *graph.QuantizeAttrs:
		if a.Unit && a.Enc == ir.Unipolar {
			return quantize(e.g, n, a), nil
		}
	}
	return func(vals map[string]*refnet.Tensor) *refnet.Tensor { return refnet.Node(e.g, n, vals) }, nil
}
