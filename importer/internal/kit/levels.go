package kit

import (
	"slices"

	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/internal/stop"
)

// Levels finds the levels behind floats. Files dequantize integers and go on with the floats, while
// integer layers read the levels.
type Levels struct {
	g    *graph.Builder
	emit func(op string, attrs any, weights map[string]*graph.Tensor, in ...*graph.Value) *graph.Value
	made map[*graph.Value]*graph.Value // by the floats; an entry counts while the graph holds its levels
}

// NewLevels looks in g, where emit adds a node.
func NewLevels(g *graph.Builder,
	emit func(op string, attrs any, weights map[string]*graph.Tensor, in ...*graph.Value) *graph.Value) *Levels {
	return &Levels{g, emit, map[*graph.Value]*graph.Value{}}
}

// Of is the tensor of 8-bit levels that v, floats, was dequantized from; nil if there is none. Ops
// that move elements of v, or take the largest, are repeated on the levels.
func (l *Levels) Of(v *graph.Value) *graph.Value {
	if known := l.made[v]; l.g.Holds(known) {
		return known
	}
	p, values := l.g.Producer(v.Name), l.g.Graph().Values
	if p == nil {
		return nil
	}
	var out *graph.Value
	switch p.Op {
	case "dequantize":
		out = values[p.Inputs[0]]
	case "transpose", "reshape", "flatten", "slice", "concat", "resize", "gather", "depth_to_space", "space_to_depth",
		"max_pool", "pad":
		var in []*graph.Value
		for _, name := range p.Inputs {
			x := l.Of(values[name])
			if x == nil || len(in) > 0 && x.LevelType != in[0].LevelType {
				return nil
			}
			in = append(in, x)
		}
		if stop.Try(func() { out = l.emit(p.Op, p.Attrs, nil, in...) }) != nil {
			return nil // a pad with a value that is no level
		}
	}
	if out == nil || !out.Encoded() || out.Bits != 8 || out.Offset != 0 {
		return nil
	}
	l.made[v] = out
	return out
}

// Set says that v, floats, holds the real values of levels.
func (l *Levels) Set(v, levels *graph.Value) { l.made[v] = levels }

// UndoSteps takes back float steps that are alike in all channels, and reshapes, as long as goOn
// agrees: real makes the real values of v of those of before. The search ends at a value with
// levels (Of), or where no such node made the value.
func (l *Levels) UndoSteps(v *graph.Value, goOn func(v *graph.Value, p *graph.Node) bool) (before *graph.Value,
	real func(v float32) float32) {
	var steps []scalar.Step
	for l.Of(v) == nil {
		p := l.g.Producer(v.Name)
		if p == nil || len(p.Inputs) != 1 || !goOn(v, p) {
			break
		}
		if p.Op != "reshape" {
			if !graph.OpNamed(p.Op).Stepped() {
				break
			}
			made := graph.Steps(l.g.Graph(), p)
			if !scalar.Alike(made) {
				break
			}
			steps = append(slices.Clone(made), steps...)
		}
		v = l.g.Graph().Value(p.Inputs[0])
	}
	return v, func(v float32) float32 { return scalar.EvalSteps(steps, 0, v) }
}
