package source

import "ripc/graph"

// Levels finds the levels behind floats: files say of integers what they stand for and go on with that, while integer layers read the
// levels themselves.
type Levels struct {
	g    *graph.Builder
	emit func(op string, attrs any, in ...*graph.Value) (*graph.Value, error)
	made map[*graph.Value]*graph.Value // by the floats; an entry counts while the graph holds its levels
}

// NewLevels looks in g, where emit adds a node.
func NewLevels(g *graph.Builder, emit func(op string, attrs any, in ...*graph.Value) (*graph.Value, error)) *Levels {
	return &Levels{g, emit, map[*graph.Value]*graph.Value{}}
}

// Of is the tensor of levels of 8 bits whose real values v, floats, holds; nil if there is none. What moves elements of v, or takes the
// largest, is done with the levels.
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
	case "transpose", "reshape", "flatten", "slice", "concat", "resize", "gather", "depth_to_space", "space_to_depth", "max_pool", "pad":
		var in []*graph.Value
		for _, name := range p.Inputs {
			x := l.Of(values[name])
			if x == nil || len(in) > 0 && x.LevelType != in[0].LevelType {
				return nil
			}
			in = append(in, x)
		}
		var err error
		if out, err = l.emit(p.Op, p.Attrs, in...); err != nil {
			return nil // a pad whose value is no level
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
