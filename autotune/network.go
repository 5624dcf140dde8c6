package autotune

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"ripc/autotune/space"
	"ripc/compile"
	"ripc/graph"
	"ripc/ir"
	"ripc/lower"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// Network is a fused graph that is to be tuned for a target.
type Network struct {
	Graph  *graph.Graph // after fusedglue
	Target targets.Target
	// Given are the algorithms that are not to be chosen, by layer; Bitserial as in
	// compile.Options.
	Given     map[string]layout.Algorithm
	Bitserial []string

	once    sync.Once
	chosen  map[string]layout.Choice // of layers that have no other choice, as compile chooses
	failure error
}

// lowered is n's definition where some layers have the algorithms of choice.
func (n *Network) lowered(ctx context.Context, choice map[string]layout.Algorithm) (*ir.Program, error) {
	n.once.Do(func() { n.chosen, n.failure = compile.Algorithms(ctx, n.Graph, n.options(nil)) })
	if n.failure != nil {
		return nil, n.failure
	}
	o := n.options(choice)
	o.Chosen = n.chosen
	return lower.Program(ctx, n.Graph, o)
}

// options are those of lower.Program for choice.
func (n *Network) options(choice map[string]layout.Algorithm) lower.Options {
	all := maps.Clone(n.Given)
	if all == nil {
		all = map[string]layout.Algorithm{}
	}
	maps.Copy(all, choice)
	return lower.Options{Target: n.Target, Algorithms: all, Bitserial: n.Bitserial}
}

// programs are the definition that is compiled without a tuner, and those in which all layers that
// can have one algorithm have it.
func (n *Network) programs(ctx context.Context) ([]*ir.Program, error) {
	p, err := n.lowered(ctx, nil)
	if err != nil {
		return nil, err
	}
	all, free := []*ir.Program{p}, lower.Free(n.Graph, n.options(nil))
	for _, choice := range lower.Uniform(free) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if p, err = n.lowered(ctx, choice); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// place names a stage in all programs of a network.
type place struct{ layer, op string }

func placeOf(s ir.Stage) place { return place{s.Layer.Title(s.Name), s.Op} }

// tasks returns the different kernels that n may have: first the kernels without a tuner, in order,
// then those of other algorithms. usual are the keys of the kernels without a tuner, by place. If
// layers are named, they are the kernels of these layers alone. It fails with *ir.Error if there is
// no layer of a name.
func (n *Network) tasks(ctx context.Context, layers []string) (tasks []*space.Task, usual map[place]string, err error) {
	programs, err := n.programs(ctx)
	if err != nil {
		return nil, nil, err
	}
	usual = map[place]string{}
	byKey := map[string]*space.Task{}
	convolutions := map[string]*graph.Node{}
	for _, node := range n.Graph.Nodes {
		if _, ok := node.Attrs.(*graph.FusedConv); ok {
			convolutions[node.Name] = node
		}
	}
	var names []string
	for k, p := range programs {
		keys := map[string]string{}
		for i, s := range p.Stages {
			if k == 0 {
				names = append(names, s.Layer.Names(s.Name)...)
			}
			isCalled := func(layer string) bool { return s.Layer.IsCalled(s.Name, layer) }
			if len(layers) > 0 && !slices.ContainsFunc(layers, isCalled) {
				continue
			}
			f := p.FuncByName(s.Func)
			key, ok := keys[s.Func]
			if !ok {
				key = f.Key()
				keys[s.Func] = key
			}
			if k == 0 {
				usual[placeOf(s)] = key
			}
			t := byKey[key]
			if t == nil {
				t = space.TaskOf(f, n.Target, s, compile.StageConstants(p, i))
				t.Layers = nil
				if node, ok := convolutions[s.Name]; ok && t.Algorithm != "" {
					t.Workload.Shape = n.shapeText(node, s.Layer)
				}
				byKey[key] = t
				tasks = append(tasks, t)
			}
			if title := s.Layer.Title(s.Name); !slices.Contains(t.Layers, title) {
				t.Layers = append(t.Layers, title)
			}
		}
	}
	for _, l := range layers {
		isCalled := func(s ir.Stage) bool { return s.Layer.IsCalled(s.Name, l) }
		if !slices.ContainsFunc(programs[0].Stages, isCalled) {
			return nil, nil, compile.UnknownLayer(n.Graph.File, l, slices.Compact(names))
		}
	}
	if len(tasks) == 0 {
		return nil, nil, &ir.Error{Pos: ir.Pos{File: n.Graph.File},
			Msg: "there is nothing to tune: the network has no stages"}
	}
	return tasks, usual, nil
}

// shapeText is, for people, "28x28x128 -> 14x14x64, 3x3 in steps of 2, 1 bit by 2" of a
// convolution, however it is laid out.
func (n *Network) shapeText(node *graph.Node, l ir.Layer) string {
	f := node.Attrs.(*graph.FusedConv)
	image := func(tensor string) string { return space.ImageText(ops.Spatial(n.Graph.Value(tensor).Shape)) }
	text := fmt.Sprintf("%s -> %s, %dx%d", image(node.Inputs[0]), image(node.Output), f.KH, f.KW)
	if f.SH > 1 || f.SW > 1 {
		text += fmt.Sprintf(" in steps of %d", max(f.SH, f.SW))
	}
	if f.GroupCount() > 1 {
		text += fmt.Sprintf(", %d groups", f.GroupCount())
	}
	if l.WeightBits > 0 {
		text += ", " + space.BitsText(l)
	}
	return text
}

// title is a task for people.
func title(t *space.Task) string {
	text := t.Workload.Op + " " + t.Workload.Shape
	if t.Algorithm != "" {
		text += " by " + t.Algorithm
	}
	return cmp.Or(text, fmt.Sprint(t.Layers))
}
