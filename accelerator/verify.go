package accelerator

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"ripc/dataflow"
	"ripc/engine"
	"ripc/engine/verilator"
	"ripc/measure/yosys"
	"ripc/runtime"
)

// Report is the result of Verify.
type Report struct {
	OK       bool           `json:"ok"`
	Proved   int64          `json:"proved_sums"` // of all rows and border classes
	Proof    string         `json:"proof,omitempty"`
	Pictures int            `json:"pictures"`
	Seed     uint64         `json:"seed"`
	Cycles   int            `json:"cycles"` // a picture, by formula
	Streams  []StreamReport `json:"streams"`
	Mixes    []MixReport    `json:"mixes"`
	Network  []string       `json:"network"` // differences of whole runs
	Netlist  []MixReport    `json:"netlist,omitempty"`
}

// StreamReport compares a stream with the interpreter's tensor, and its beats with the definition.
type StreamReport struct {
	Name     string   `json:"name"`
	Tensor   string   `json:"tensor"`
	Shape    string   `json:"shape"`
	Elements int      `json:"elements"` // compared, in all mixes
	OK       bool     `json:"ok"`
	Differs  []string `json:"differs,omitempty"`
}

// MixReport is the result of a simulation under stalls.
type MixReport struct {
	Stalls string  `json:"stalls"`
	OK     bool    `json:"ok"`
	Cycles float64 `json:"cycles"` // a picture
	verilator.Stats
}

// Pictures of Verify: Whole run through the network, the others are random levels at the segment.
const (
	Whole    = 4
	Pictures = 40
)

// netlistPictures is the number of pictures that a netlist runs, since it is slow.
const netlistPictures = 6

// verifyNetlist compares the output of the synthesized netlist with want.
func (a *Accelerator) verifyNetlist(ctx context.Context, pictures [][]int64,
	want []int64) (all []MixReport, err error) {
	sources, err := a.Verilog()
	if err != nil {
		return nil, err
	}
	netlist, models, err := yosys.Netlist(ctx, sources, a.Top(), a.Target.Family)
	if err != nil {
		return nil, err
	}
	sim, err := verilator.NewNetlist(ctx, a.Design, a.Top(), netlist, models)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sim.Close()) }()
	for _, m := range []verilator.Mix{verilator.Mixes()[0], verilator.Mixes()[3]} {
		r, err := sim.Run(ctx, pictures[:netlistPictures], m, verilator.LastStream)
		if err != nil {
			return nil, err
		}
		got := r.Streams[a.Design.Last]
		ok := !r.Stuck && r.Extra == 0 && firstDifference(got, want[:netlistPictures*a.Design.Last.Elems()]) < 0
		all = append(all, MixReport{m.String(), ok, r.Cycles(), r.Stats})
	}
	return all, nil
}

// Options of Verify.
type VerifyOptions struct {
	Seed    uint64
	Netlist bool // simulate the synthesized netlist as well
}

// Verify proves the engines, and compares every stream of a simulation with the interpreter, under
// each mix of stalls.
func (a *Accelerator) Verify(ctx context.Context, o VerifyOptions,
	progress func(done, total int, what string)) (*Report, error) {
	if o.Netlist {
		if err := yosys.CheckNetlist(a.Target.Family); err != nil {
			return nil, err
		}
	}
	d, s := a.Design, a.Design.Segment
	rep := &Report{OK: true, Pictures: Pictures, Seed: o.Seed, Cycles: d.Cycles}
	steps := len(verilator.Mixes()) + 3
	progress(0, steps, "proving")
	var err error
	if rep.Proved, err = d.Prove(); err != nil {
		rep.OK, rep.Proof = false, err.Error()
	}
	progress(1, steps, "interpreting")
	on := &engines{design: d}
	n, err := a.open(ctx, a.defined, s, on)
	if err != nil {
		return nil, err
	}
	defer n.Close()
	observed, differs, err := a.observe(ctx, n, o.Seed, Whole)
	if err != nil {
		return nil, err
	}
	rep.Network = differs
	var pictures [][]int64
	random := rand.New(rand.NewPCG(o.Seed, 0))
	for k := range Pictures {
		p := make([]int64, d.First.Elems())
		for i := range p {
			p[i] = random.Int64N(1 << d.First.Bits)
		}
		if k < Whole {
			copy(p, observed[s.In][k*len(p):])
		}
		pictures = append(pictures, p)
	}
	want := map[string][]int64{}
	for k, p := range pictures {
		for t, v := range s.Eval(p) {
			if o := observed[t]; k*len(v) < len(o) {
				if i := firstDifference(o[k*len(v):(k+1)*len(v)], v); i >= 0 {
					return nil, fmt.Errorf("BUG: tensor %q, picture %d: the stream's definition differs from the "+
						"interpreter", t, k)
				}
			}
			want[t] = append(want[t], v...)
		}
	}
	reports := map[*dataflow.Stream]*StreamReport{}
	for _, st := range d.Streams {
		if st.Tensor != "" {
			reports[st] = &StreamReport{Name: st.Name, Tensor: st.Tensor, Shape: st.Shape.String(), OK: true}
		}
	}
	for i, m := range verilator.Mixes() {
		progress(3+i, steps, "simulating, "+m.String())
		r, err := on.Run(ctx, pictures, m, verilator.AllStreams)
		if err != nil {
			return nil, err
		}
		mix := MixReport{m.String(), !r.Stuck && r.Extra == 0, r.Cycles(), r.Stats}
		for st, got := range r.Streams {
			w := want[st.Tensor]
			if sums := s.SumsLeave(); st.Signed && sums != nil {
				w = sums.Raw(w)
			}
			sr := reports[st]
			sr.Elements += len(got)
			if i := firstDifference(got, w); i >= 0 {
				mix.OK, sr.OK = false, false
				sr.Differs = append(sr.Differs, m.String()+": "+place(st, got, w, i))
			}
		}
		rep.OK = rep.OK && mix.OK
		rep.Mixes = append(rep.Mixes, mix)
	}
	if o.Netlist {
		progress(steps-1, steps, "synthesizing and simulating the netlist")
		w := want[d.Last.Tensor]
		if sums := s.SumsLeave(); sums != nil {
			w = sums.Raw(w)
		}
		if rep.Netlist, err = a.verifyNetlist(ctx, pictures, w); err != nil {
			return nil, err
		}
		for _, m := range rep.Netlist {
			rep.OK = rep.OK && m.OK
		}
	}
	for _, st := range d.Streams {
		if r := reports[st]; r != nil {
			rep.Streams = append(rep.Streams, *r)
		}
	}
	rep.OK = rep.OK && len(rep.Network) == 0
	return rep, nil
}

// observe runs random inputs through n and through the interpreter. It returns the interpreter's
// tensors, picture behind picture, and which outputs differ.
func (s *system) observe(ctx context.Context, n *network, seed uint64, pictures int) (observed map[string][]int64,
	differs []string, err error) {
	whole, err := s.defined(ctx, s.Graph)
	if err != nil {
		return nil, nil, err
	}
	seen, names := n.segment.Observed()
	inside, err := s.defined(ctx, seen)
	if err != nil {
		return nil, nil, err
	}
	observed, differs = map[string][]int64{}, []string{}
	var jobs []engine.Job
	for k := range pictures {
		j := engine.Job{Last: len(n.d.Stages), Outputs: true}
		for i, t := range n.d.Inputs {
			data, err := runtime.FillRandom(t, seed+uint64(k), i)
			if err != nil {
				return nil, nil, err
			}
			j.Inputs = append(j.Inputs, data)
		}
		jobs = append(jobs, j)
	}
	got, err := n.Run(ctx, jobs)
	if err != nil {
		return nil, nil, err
	}
	want, err := whole.Run(ctx, jobs)
	if err != nil {
		return nil, nil, err
	}
	for k, j := range jobs {
		for i := range want[k].Outputs {
			if !bytes.Equal(got[k].Outputs[i], want[k].Outputs[i]) {
				differs = append(differs, fmt.Sprintf("picture %d: output %q differs", k, n.d.Outputs[i].Title()))
			}
		}
		j.Last = len(inside.Describe().Stages)
		r, err := inside.Run(ctx, []engine.Job{j})
		if err != nil {
			return nil, nil, err
		}
		for i, t := range names {
			observed[t] = append(observed[t], levelsOf(seen.Value(t).LevelType, r[0].Outputs[i])...)
		}
		for i, t := range s.Graph.Inputs {
			if t == n.segment.In {
				observed[t] = append(observed[t], levelsOf(n.segment.InType(), j.Inputs[i])...)
			}
		}
	}
	return observed, differs, nil
}

// firstDifference is the index of the first element that differs, -1 if none does.
func firstDifference(got, want []int64) int {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return i
		}
	}
	if len(got) != len(want) {
		return min(len(got), len(want))
	}
	return -1
}

// place says which element of a stream differs.
func place(s *dataflow.Stream, got, want []int64, i int) string {
	picture, p := i/s.Elems(), i%s.Elems()
	at := fmt.Sprintf("picture %d, row %d, column %d, channel %d", picture, p/s.C/s.W, p/s.C%s.W, p%s.C)
	if i >= len(got) {
		return at + ": the stream ends before"
	}
	if i >= len(want) {
		return at + ": the stream has more elements"
	}
	return fmt.Sprintf("%s: %d, want %d", at, got[i], want[i])
}
