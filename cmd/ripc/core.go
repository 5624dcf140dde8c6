package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ripc"
	"ripc/internal/human"
	"ripc/targets/fpga"
)

// coreResult is the result of compile, inspect and bench for an instruction core.
type coreResult struct {
	Model    string      `json:"model"`
	Target   string      `json:"target"`
	Part     string      `json:"part"`
	Design   string      `json:"design"`
	ClockMHz float64     `json:"clock_mhz"`
	Cycles   int         `json:"cycles"`
	FPS      float64     `json:"fps"`
	Instrs   int         `json:"instructions"`
	Words    int         `json:"memory_bytes"`
	LUTs     int         `json:"luts,omitempty"` // after synthesis
	FFs      int         `json:"ffs,omitempty"`
	BRAM36   float64     `json:"bram36,omitempty"`
	DSPs     int         `json:"dsps,omitempty"`
	Tool     string      `json:"tool,omitempty"`
	Layers   []coreLayer `json:"layers"`
	Files    []string    `json:"files,omitempty"`
}

type coreLayer struct {
	Name     string   `json:"name"`
	Tiles    []int    `json:"tiles"`
	Cycles   int      `json:"cycles"`
	Instrs   int      `json:"instructions"`
	Schedule []string `json:"schedule"`
}

// coreProgram makes the program that the flags ask for, and prints its notes.
func (f *compileFlags) coreProgram(cmd *cobra.Command, path string, o ripc.Options) (*ripc.CoreProgram, *coreResult,
	error) {
	k, err := ripc.AccelerateByCore(cmd.Context(), path, o, f.fold.FoldOptions)
	if err != nil {
		return nil, nil, err
	}
	printNotes(k.Notes)
	c := k.Program.Config
	r := &coreResult{Model: k.Graph.Name, Target: k.Target.Board.Name, Part: k.Target.Part.Name, Design: c.String(),
		ClockMHz: k.Target.Board.ClockMHz, Instrs: len(k.Program.Instrs), Words: k.Program.Words() * c.Lanes / 8}
	if r.Cycles, err = k.Cycles(); err != nil {
		return nil, nil, err
	}
	r.FPS = k.FPS(r.Cycles)
	for _, l := range k.Layers {
		r.Layers = append(r.Layers, coreLayer{l.Name, l.Schedule.Tiles, l.Cycles, l.Instrs, l.Trace.Lines()})
	}
	return k, r, nil
}

func (r *coreResult) print(w io.Writer) {
	fmt.Fprintf(w, "%s for %s (%s) on core %s\n\n", r.Model, r.Target, r.Part, r.Design)
	t := &table{columns: []column{textCol("LAYER", 0).cutAs(cutMiddle, 0), textCol("TILES", 1),
		numCol("INSTRUCTIONS", 2), numCol("CYCLES", 0)}}
	for _, l := range r.Layers {
		t.add(l.Name, fmt.Sprint(l.Tiles), fmt.Sprint(l.Instrs), fmt.Sprint(l.Cycles))
	}
	t.write(w, widthOf(w, false))
	fmt.Fprintf(w, "\n%d cycles a picture by the model: %.1f pictures a second at %g MHz\n", r.Cycles, r.FPS,
		r.ClockMHz)
	fmt.Fprintf(w, "%s in %s of memory outside\n", human.Count(r.Instrs, "instruction"), human.Bytes(int64(r.Words)))
	if r.Tool != "" {
		fmt.Fprintf(w, "%d LUTs, %d flip-flops, %.4g block RAMs of 36 Kbit, %d multipliers by %s\n", r.LUTs, r.FFs,
			r.BRAM36, r.DSPs, r.Tool)
	}
}

// show prints r, as JSON if the flags say so.
func (f *compileFlags) show(cmd *cobra.Command, r *coreResult) error {
	if f.json {
		return printJSON(cmd.OutOrStdout(), r)
	}
	r.print(cmd.OutOrStdout())
	return nil
}

// compileCore writes the core, its memory and a listing into a folder.
func (o *compileOptions) compileCore(cmd *cobra.Command, path string, opt ripc.Options) error {
	if o.emit != "" && o.emit != "v" {
		return usagef("--emit %s: for an instruction core it can be v", o.emit)
	}
	k, r, err := o.coreProgram(cmd, path, opt)
	if err != nil {
		return err
	}
	title := fmt.Sprintf("%s for %s, core %s", r.Model, r.Target, r.Design)
	dir, names, err := o.writeFolder(k.Prefix(), title, k.Files())
	if err != nil {
		return err
	}
	r.Files = names
	if err := o.show(cmd, r); err != nil || o.json {
		return err
	}
	fmt.Fprintf(cmd.OutOrStdout(), "wrote %s in %s\n", human.Count(len(names), "file"), dir)
	return nil
}

// inspectCore shows a program without writing it.
func (f *compileFlags) inspectCore(cmd *cobra.Command, path string, o ripc.Options) error {
	if f.fold.Core == listDesigns {
		return f.listCores(cmd, path, o)
	}
	_, r, err := f.coreProgram(cmd, path, o)
	if err != nil {
		return err
	}
	return f.show(cmd, r)
}

// listDesigns asks inspect for the designs that a network can choose from.
const listDesigns = "list"

// coreDesign is a design for --json.
type coreDesign struct {
	Design string  `json:"design"`
	LUTs   int     `json:"luts"` // estimated
	FFs    int     `json:"ffs"`
	BRAM36 float64 `json:"bram36"`
	DSPs   int     `json:"dsps"`
	Steps  int     `json:"steps"`
}

// listCores shows the designs that fit the part, those that are larger and not faster left out.
func (f *compileFlags) listCores(cmd *cobra.Command, path string, o ripc.Options) error {
	front, err := ripc.CoreDesigns(cmd.Context(), path, o)
	if err != nil {
		return err
	}
	var all []coreDesign
	t := &table{columns: []column{textCol("DESIGN", 0), numCol("EST. LUTS", 0), numCol("FFS", 2), numCol("BRAM36", 1),
		numCol("DSPS", 1), numCol("STEPS", 0)}}
	for _, d := range front {
		r := coreDesign{d.String(), d.Cost[fpga.LUTs], d.Cost[fpga.FFs], fpga.BRAM36(d.Cost[fpga.RAMKbits]),
			d.Cost[fpga.DSPs], d.Steps}
		all = append(all, r)
		t.add(r.Design, fmt.Sprint(r.LUTs), fmt.Sprint(r.FFs), fmt.Sprintf("%.5g", r.BRAM36), fmt.Sprint(r.DSPs),
			fmt.Sprint(r.Steps))
	}
	if f.json {
		return printJSON(cmd.OutOrStdout(), all)
	}
	w := cmd.OutOrStdout()
	t.write(w, widthOf(w, false))
	fmt.Fprintln(w, "\nby estimate; no schedule takes fewer cycles than the steps of multiplying and comparing")
	return nil
}

// benchCore counts cycles by the model, and cells after synthesis.
func (f *compileFlags) benchCore(cmd *cobra.Command, path string, o ripc.Options) error {
	k, r, err := f.coreProgram(cmd, path, o)
	if err != nil {
		return err
	}
	p := newProgress()
	p.step(0, 1, "synthesizing")
	b, err := k.CountCells(cmd.Context())
	p.done()
	if err != nil {
		return err
	}
	r.LUTs, r.FFs, r.DSPs = b.Used[fpga.LUTs], b.Used[fpga.FFs], b.Used[fpga.DSPs]
	r.BRAM36, r.Tool = fpga.BRAM36(b.Used[fpga.RAMKbits]), "yosys "+b.Version
	return f.show(cmd, r)
}

// verifyCore simulates a program, and compares every tensor with the interpreter.
func (f *compileFlags) verifyCore(cmd *cobra.Command, path string, o ripc.Options, seed uint64) error {
	k, _, err := f.coreProgram(cmd, path, o)
	if err != nil {
		return err
	}
	p := newProgress()
	p.step(0, 1, "simulating")
	rep, err := k.Verify(cmd.Context(), seed)
	p.done()
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	switch {
	case f.json:
		err = printJSON(w, rep)
	default:
		t := &table{columns: []column{textCol("TENSOR", 0).cutAs(cutMiddle, 0), textCol("SHAPE", 1),
			numCol("ELEMENTS", 2), textCol("RESULT", 0)}}
		for _, s := range rep.Tensors {
			t.add(s.Tensor, s.Shape, fmt.Sprint(s.Elements), verdict(s.OK))
			for _, d := range s.Differs {
				t.addBelow("%s", d)
			}
		}
		t.write(w, widthOf(w, false))
		for _, d := range rep.Network {
			fmt.Fprintln(w, d)
		}
		fmt.Fprintf(w, "\n%d cycles a picture by the model, %d simulated; %s on core %s, seed: %d\n", rep.Cycles,
			rep.Simulated, human.Count(rep.Pictures, "picture"), rep.Design, rep.Seed)
	}
	if err == nil && !rep.OK {
		return errFailed
	}
	return err
}
