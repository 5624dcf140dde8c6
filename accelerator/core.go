package accelerator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"ripc/codegen"
	"ripc/compile"
	"ripc/core"
	program "ripc/core/network"
	"ripc/dataflow"
	"ripc/engine"
	"ripc/engine/verilator"
	"ripc/graph"
	"ripc/measure/yosys"
	"ripc/runtime"
	"ripc/targets/fpga"
)

// Core is a network with a part as the program of an instruction core.
type Core struct {
	*program.Network
	Target  fpga.Target
	Graph   *graph.Graph
	options compile.Options
}

// AutoDesign asks NewCore for the design with the least work that fits the part.
const AutoDesign = "auto"

// NewCore makes the program of g, a graph of compile.Fused, for a design of the core, by its name.
// It fails with *dataflow.NoSegmentError, *network.RefusalError, *network.SpaceError or
// *OptionError.
func NewCore(ctx context.Context, g *graph.Graph, t fpga.Target, design string, o compile.Options) (*Core, error) {
	s, err := dataflow.NewSegment(g)
	if err != nil {
		return nil, err
	}
	o.Target = ""
	k := &Core{Target: t, Graph: g, options: o}
	if design != AutoDesign {
		c, err := core.Parse(design)
		if err != nil {
			return nil, &OptionError{"core", err.Error()}
		}
		k.Network, err = program.New(ctx, s, c, true)
		return k, err
	}
	front, err := program.Front(ctx, s, t)
	if err != nil {
		return nil, err
	}
	for _, p := range slices.Backward(front) { // a design's memories may be too small for a layer's tiles
		if k.Network, err = program.New(ctx, s, p.Config, true); err == nil || ctx.Err() != nil {
			break
		}
	}
	return k, err
}

// Prefix begins the names of files.
func (k *Core) Prefix() string { return shorten(codegen.Identifier(k.Graph.Name)) }

// Files are the core's Verilog, the memory before the program runs as hexadecimal words, and a
// listing of schedules, tensors and instructions.
func (k *Core) Files() map[string][]byte {
	all := k.Program.Config.Verilog()
	all[k.Prefix()+".hex"] = verilator.Hex(k.Program.Memory, k.Program.Config.Lanes)
	all[k.Prefix()+".txt"] = []byte(k.Listing())
	return all
}

// Cycles is the number of cycles of a picture by the model.
func (k *Core) Cycles() (int, error) { return k.Program.Cycles(program.Latency) }

// FPS is the number of pictures a second at a clock in MHz.
func (k *Core) FPS(cycles int) float64 { return k.Target.Board.ClockMHz * 1e6 / float64(cycles) }

// CountCells counts the cells of the core after synthesis. It fails with *tools.MissingError.
func (k *Core) CountCells(ctx context.Context) (*yosys.Result, error) {
	return yosys.Synthesize(ctx, k.Program.Config.Verilog(), "core", k.Target.Family, "")
}

// CoreReport is the result of Core.Verify.
type CoreReport struct {
	OK        bool           `json:"ok"`
	Design    string         `json:"design"`
	Pictures  int            `json:"pictures"`
	Seed      uint64         `json:"seed"`
	Cycles    int            `json:"cycles"`    // by the model
	Simulated int            `json:"simulated"` // by Verilator
	Tensors   []StreamReport `json:"tensors"`
}

// corePictures is the number of pictures of Core.Verify.
const corePictures = 2

// Verify simulates the core on random inputs. It compares every tensor with the interpreter, and
// the number of cycles with the model.
func (k *Core) Verify(ctx context.Context, seed uint64) (rep *CoreReport, err error) {
	s, p := k.Segment, &k.Program
	rep = &CoreReport{OK: true, Design: p.Config.String(), Pictures: corePictures, Seed: seed}
	if rep.Cycles, err = p.Cycles(program.Latency); err != nil {
		return nil, err
	}
	from, to := k.Region()
	sim, err := verilator.NewCore(ctx, p, program.Latency, from, to)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sim.Close()) }()
	seen, names := s.Observed()
	definition, err := (&Accelerator{options: k.options}).defined(ctx, seen)
	if err != nil {
		return nil, err
	}
	reports := map[string]*StreamReport{}
	for i := range corePictures {
		observed, err := observed(ctx, definition, seen, names, s, seed+uint64(i))
		if err != nil {
			return nil, err
		}
		picture := observed[s.In]
		memory, cycles, err := sim.Run(ctx, k.Memory(picture))
		if err != nil {
			return nil, err
		}
		rep.Simulated = cycles
		rep.OK = rep.OK && cycles == rep.Cycles
		want := s.Eval(picture)
		for _, st := range s.Stages {
			t := st.Output
			w, shape := want[t], st.Engine.Output()
			if o, ok := observed[t]; ok && !slices.Equal(o, w) {
				return nil, fmt.Errorf("BUG: tensor %q: its definition differs from the interpreter", t)
			}
			got := k.Tensor(memory, t)
			if reports[t] == nil {
				reports[t] = &StreamReport{Tensor: t, Shape: shape.String(), OK: true}
			}
			r := reports[t]
			r.Elements += len(got)
			if e := firstDifference(got, w); e >= 0 {
				rep.OK, r.OK = false, false
				r.Differs = append(r.Differs, place(&dataflow.Stream{Shape: shape}, got, w, e))
			}
		}
	}
	for _, st := range s.Stages {
		rep.Tensors = append(rep.Tensors, *reports[st.Output])
	}
	return rep, nil
}

// observed are the tensors of a segment on a random input of the network, by the interpreter. The
// segment's input is random if the interpreter does not make it.
func observed(ctx context.Context, e engine.Engine, seen *graph.Graph, names []string, s *dataflow.Segment,
	seed uint64) (map[string][]int64, error) {
	d := e.Describe()
	j := engine.Job{Last: len(d.Stages), Outputs: true}
	for i, t := range d.Inputs {
		data, err := runtime.FillRandom(t, seed, i)
		if err != nil {
			return nil, err
		}
		j.Inputs = append(j.Inputs, data)
	}
	all := map[string][]int64{}
	r, err := e.Run(ctx, []engine.Job{j})
	if err != nil {
		return nil, err
	}
	for i, t := range names {
		all[t] = levelsOf(seen.Value(t).LevelType, r[0].Outputs[i])
	}
	for i, t := range seen.Inputs {
		if t == s.In {
			all[t] = levelsOf(s.InType(), j.Inputs[i])
		}
	}
	if all[s.In] == nil {
		random := rand.New(rand.NewPCG(seed, 0))
		for range s.InShape().Elems() {
			all[s.In] = append(all[s.In], random.Int64N(1<<s.InType().Bits))
		}
	}
	return all, nil
}

// Listing is the program as text: each layer's schedule and the places of tensors, then the
// instructions.
func (k *Core) Listing() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s on core %s: %d words of %d bits, the program at word %d\n", k.Graph.Name, k.Program.Config,
		k.Program.Words(), k.Program.Config.Lanes, k.Program.At)
	for _, p := range k.Places() {
		fmt.Fprintf(&b, "# %s\n", p)
	}
	at := 0
	for _, l := range k.Layers {
		fmt.Fprintf(&b, "\n# layer %s, %d cycles alone\n", l.Name, l.Cycles)
		for _, line := range l.Trace.Lines() {
			fmt.Fprintf(&b, "# %s\n", line)
		}
		for i := range k.Program.Instrs[at : at+l.Instrs] {
			fmt.Fprintln(&b, &k.Program.Instrs[at+i])
		}
		at += l.Instrs
	}
	return b.String()
}
