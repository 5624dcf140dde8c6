package accelerator

import (
	"context"
	"errors"
	"fmt"
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
	"ripc/targets/fpga"
)

// Core is a network with a part as the program of an instruction core.
type Core struct {
	system
	*program.Network
	Notes []string // where the part may be too small for the design
}

// CoreDesign is a design of the core for a network.
type CoreDesign = program.Point

// AutoDesign asks NewCore for the design with the least work that fits the part.
const AutoDesign = "auto"

// NewCore makes the program of g, a graph of compile.Fused, for a design of the core, by its name.
// It fails with *dataflow.NoSegmentError, *network.RefusalError, *network.SpaceError,
// *network.NoDesignError or *OptionError.
func NewCore(ctx context.Context, g *graph.Graph, t fpga.Target, design string, o compile.Options) (*Core, error) {
	s, err := dataflow.NewSegment(g)
	if err != nil {
		return nil, err
	}
	o.Target = ""
	k := &Core{system: system{t, g, o}}
	if design != AutoDesign {
		note := ""
		c, err := core.Parse(design)
		if err == nil {
			note, err = c.Exceeds(t)
		}
		if err != nil {
			return nil, &OptionError{"core", err.Error()}
		}
		if note != "" {
			k.Notes = append(k.Notes, note)
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

// CoreFront lists the designs for the part that g's network can choose from.
func CoreFront(ctx context.Context, g *graph.Graph, t fpga.Target) ([]CoreDesign, error) {
	s, err := dataflow.NewSegment(g)
	if err != nil {
		return nil, err
	}
	return program.Front(ctx, s, t)
}

// processor is a core in a simulation, which is made at the first run. It keeps its results.
type processor struct {
	k *Core
	*verilator.Core
	pictures [][]int64
	memories [][]uint32 // after each picture
	cycles   int        // of the last one
}

func (c *processor) run(ctx context.Context, pictures [][]int64) (elements []int64, err error) {
	if c.Core == nil {
		if c.Core, err = verilator.NewCore(ctx, &c.k.Program, program.Latency, c.k.Words()); err != nil {
			return nil, err
		}
	}
	c.pictures, c.memories = pictures, nil
	for _, p := range pictures {
		memory, cycles, err := c.Run(ctx, c.k.Memory(p))
		if err != nil {
			return nil, err
		}
		c.cycles, c.memories = cycles, append(c.memories, memory)
		elements = append(elements, c.k.Tensor(memory, c.k.Segment.Last().Output)...)
	}
	return elements, nil
}

// Open opens the network as an engine, as Accelerator.Open does.
func (k *Core) Open(ctx context.Context) (engine.Engine, error) {
	return k.open(ctx, k.native, k.Segment, &processor{k: k})
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
	Network   []string       `json:"network"` // differences of whole runs
}

// corePictures is the number of pictures of Core.Verify.
const corePictures = 2

// Verify simulates the core on random inputs. It compares every tensor with the interpreter, and
// the number of cycles with the model.
func (k *Core) Verify(ctx context.Context, seed uint64) (rep *CoreReport, err error) {
	s, on := k.Segment, &processor{k: k}
	rep = &CoreReport{Design: k.Program.Config.String(), Pictures: corePictures, Seed: seed}
	if rep.Cycles, err = k.Cycles(); err != nil {
		return nil, err
	}
	n, err := k.open(ctx, k.defined, s, on)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, n.Close()) }()
	observed, differs, err := k.observe(ctx, n, seed, corePictures)
	if err != nil {
		return nil, err
	}
	rep.Simulated, rep.Network = on.cycles, differs
	rep.OK = on.cycles == rep.Cycles && len(differs) == 0
	var defined []map[string][]int64
	for _, p := range on.pictures {
		defined = append(defined, s.Eval(p))
	}
	for _, st := range s.Stages {
		shape := st.Engine.Output()
		r := StreamReport{Tensor: st.Output, Shape: shape.String(), OK: true}
		for i, memory := range on.memories {
			want, got := defined[i][st.Output], k.Tensor(memory, st.Output)
			if o := observed[st.Output]; o != nil && !slices.Equal(o[i*len(want):(i+1)*len(want)], want) {
				return nil, fmt.Errorf("BUG: tensor %q: its definition differs from the interpreter", st.Output)
			}
			r.Elements += len(got)
			if e := firstDifference(got, want); e >= 0 {
				rep.OK, r.OK = false, false
				r.Differs = append(r.Differs, place(&dataflow.Stream{Shape: shape}, got, want, e))
			}
		}
		rep.Tensors = append(rep.Tensors, r)
	}
	return rep, nil
}

// Listing is the program as text: each layer's schedule and the places of tensors, then the
// instructions.
func (k *Core) Listing() string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %q on core %s: %d words of %d bits, the program at word %d\n", k.Graph.Name, k.Program.Config,
		k.Program.Words(), k.Program.Config.Lanes, k.Program.At)
	for _, p := range k.Places() {
		fmt.Fprintf(&b, "# %s\n", p)
	}
	at := 0
	for _, l := range k.Layers {
		fmt.Fprintf(&b, "\n# layer %q, %d cycles\n", l.Name, l.Cycles)
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
