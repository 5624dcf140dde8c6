package accelerator

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"ripc/codegen"
	"ripc/compile"
	"ripc/dataflow"
	"ripc/engine"
	"ripc/engine/verilator"
	"ripc/graph"
	"ripc/graph/scalar"
	"ripc/runtime/describe"
	"ripc/targets/fpga"
)

// system is a network on a board.
type system struct {
	Target  fpga.Target
	Graph   *graph.Graph
	options compile.Options // of the parts on the processor
}

// host is a part of the network on the processor.
type host struct {
	graph  *graph.Graph
	engine engine.Engine
}

// device simulates the part in hardware.
type device interface {
	// run returns the elements of the segment's output, as Segment.Eval has them, of all pictures.
	run(ctx context.Context, pictures [][]int64) ([]int64, error)
	Close() error
}

// opener opens a part of a network.
type opener func(ctx context.Context, g *graph.Graph) (engine.Engine, error)

// native compiles parts for this machine.
func (s *system) native(ctx context.Context, g *graph.Graph) (engine.Engine, error) {
	o := s.options
	o.Emit = []codegen.Kind{codegen.Runnable}
	c, err := compile.FromFused(ctx, g, o)
	if err != nil {
		return nil, err
	}
	return engine.OpenLibrary(c.Files[codegen.Runnable], engine.Options{})
}

// defined interprets parts.
func (s *system) defined(ctx context.Context, g *graph.Graph) (engine.Engine, error) {
	p, err := compile.DefinitionOfFused(ctx, g, s.options)
	if err != nil {
		return nil, err
	}
	return engine.Interpret(p, codegen.Describe(codegen.Input{Program: p}), nil), nil
}

// network runs a whole network: head and tail on the processor, the segment on a device.
type network struct {
	segment    *dataflow.Segment
	d          *describe.Artifact
	head, tail *host
	sums       string
	device
}

// engines is an accelerator in a simulation, which is made at the first run.
type engines struct {
	design *dataflow.Design
	*verilator.Simulator
}

func (e *engines) run(ctx context.Context, pictures [][]int64) (elements []int64, err error) {
	if e.Simulator == nil {
		if e.Simulator, err = verilator.New(ctx, e.design); err != nil {
			return nil, err
		}
	}
	r, err := e.Run(ctx, pictures, verilator.Mix{}, verilator.LastStream)
	if err != nil {
		return nil, err
	}
	elements = r.Streams[e.design.Last]
	if m := e.design.Segment.SumsLeave(); m != nil {
		elements = m.Sums(elements)
	}
	return elements, nil
}

// Open opens the network as an engine, with head and tail compiled for this machine and the
// accelerator simulated. The first run fails with *tools.MissingError where there is no simulator.
func (a *Accelerator) Open(ctx context.Context) (engine.Engine, error) {
	return a.open(ctx, a.native, a.Design.Segment, &engines{design: a.Design})
}

// open opens the network with s on a device.
func (s *system) open(ctx context.Context, open opener, part *dataflow.Segment, on device) (n *network, err error) {
	whole, err := s.defined(ctx, s.Graph)
	if err != nil {
		return nil, err
	}
	parts, d := part.Host(), *whole.Describe()
	d.Target = s.Target.Board.Name
	n = &network{segment: part, d: &d, sums: parts.Sums, device: on}
	defer func() {
		if err != nil {
			err = errors.Join(err, n.Close())
		}
	}()
	for _, p := range []struct {
		g  *graph.Graph
		to **host
	}{{parts.Head, &n.head}, {parts.Tail, &n.tail}} {
		if p.g == nil {
			continue
		}
		e, err := open(ctx, p.g)
		if err != nil {
			return n, err
		}
		*p.to = &host{p.g, e}
	}
	return n, nil
}

func (n *network) Describe() *describe.Artifact { return n.d }
func (n *network) Kind() engine.Kind            { return engine.Simulated }

// Close implements engine.Engine.
func (n *network) Close() error {
	errs := []error{n.device.Close()}
	for _, h := range []*host{n.head, n.tail} {
		if h != nil {
			errs = append(errs, h.engine.Close())
		}
	}
	return errors.Join(errs...)
}

// run computes the outputs of h, and adds them to the tensors.
func (h *host) run(ctx context.Context, tensors map[string][]byte) error {
	if h == nil {
		return nil
	}
	var in [][]byte
	for _, t := range h.graph.Inputs {
		in = append(in, tensors[t])
	}
	r, err := h.engine.Run(ctx, []engine.Job{{Inputs: in, Last: len(h.engine.Describe().Stages), Outputs: true}})
	if err != nil {
		return err
	}
	for i, t := range h.graph.Outputs {
		tensors[t] = r[0].Outputs[i]
	}
	return nil
}

// Run implements engine.Engine, for jobs of all stages.
func (n *network) Run(ctx context.Context, jobs []engine.Job) (results []engine.Result, err error) {
	s := n.segment
	var all []map[string][]byte
	var pictures [][]int64
	for _, j := range jobs {
		if j.First != 0 || j.Last != len(n.d.Stages) || j.Keep {
			return nil, fmt.Errorf("%s: an accelerator runs all of a network at once", n.d.Name)
		}
		tensors := map[string][]byte{}
		for i, t := range s.Graph.Inputs {
			tensors[t] = j.Inputs[i]
		}
		if err := n.head.run(ctx, tensors); err != nil {
			return nil, err
		}
		all, pictures = append(all, tensors), append(pictures, levelsOf(s.InType(), tensors[s.In]))
	}
	out, err := n.run(ctx, pictures) // the inputs are right
	if err != nil {
		return nil, err
	}
	size := s.Last().Engine.Output().Elems()
	if len(out) != size*len(jobs) {
		return nil, fmt.Errorf("%s: the accelerator got stuck", n.d.Name)
	}
	results = make([]engine.Result, len(jobs))
	for k := range jobs {
		name, data := n.output(out[k*size : (k+1)*size])
		all[k][name] = data
		if err := n.tail.run(ctx, all[k]); err != nil {
			return nil, err
		}
		for _, t := range s.Graph.Outputs {
			results[k].Outputs = append(results[k].Outputs, all[k][t])
		}
	}
	return results, nil
}

// output is the segment's output as the tail reads it: sums as f32, positions as i32, or levels.
func (n *network) output(elements []int64) (name string, data []byte) {
	s := n.segment
	if s.SumsLeave() != nil {
		for _, v := range elements {
			data = binary.LittleEndian.AppendUint32(data, math.Float32bits(float32(v)))
		}
		return n.sums, data
	}
	v := s.Graph.Value(s.Out)
	if v.Whole {
		for _, i := range elements {
			data = binary.LittleEndian.AppendUint32(data, uint32(i))
		}
		return s.Out, data
	}
	t := v.LevelType
	for _, v := range elements {
		data = append(data, byte(dataflow.Ascending(t, v))^flip(t))
	}
	return s.Out, data
}

// levelsOf reads levels that the caller sees as bytes, in rising order of real values.
func levelsOf(t scalar.LevelType, data []byte) []int64 {
	levels := make([]int64, len(data))
	for i, b := range data {
		levels[i] = dataflow.Ascending(t, int64(b^flip(t)))
	}
	return levels
}

// flip is the exclusive or of a level and the byte that the caller sees.
func flip(t scalar.LevelType) byte {
	if t.Signed {
		return 128
	}
	return 0
}
