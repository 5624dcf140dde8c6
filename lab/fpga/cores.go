package fpga

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"ripc/core"
	"ripc/measure/yosys"
	"ripc/schedule/machine"
	"ripc/targets/fpga"
)

// coreCells is the file with the models of the instruction core's designs.
var coreCells = filepath.Join("core", "cells.json")

// coresCommand returns the command that counts designs of the instruction core, and fits their
// model.
func coresCommand() *cobra.Command {
	return &cobra.Command{Use: "cores [DESIGN...]", Short: "count designs of the instruction core, and fit their model",
		Long: "Synthesize designs of the instruction core, those of the last time and others. The model is\n" +
			"fitted to those that it was fitted to before, and judged by the others.",
		RunE: func(c *cobra.Command, more []string) error {
			return countCores(c.Context(), fpga.Families()[0], more, c.OutOrStdout())
		}}
}

// countCores synthesizes designs, fits the model of a family, and prints how far it is off.
func countCores(ctx context.Context, f fpga.Family, more []string, w io.Writer) error {
	all := maps.Clone(core.Models())
	m := all[f.Name]
	for _, d := range more {
		m.Designs = append(m.Designs, core.Counted{Design: d})
	}
	for i, d := range m.Designs {
		c, err := core.Parse(d.Design)
		if err != nil {
			return err
		}
		r, err := yosys.Synthesize(ctx, c.Verilog(), "core", f, "")
		if err != nil {
			return err
		}
		m.Designs[i].Used, m.Tool = r.Used, "yosys "+r.Version
	}
	m.Date, m.Source = time.Now().Format(time.DateOnly), core.SourceKey()
	m.Cells = map[fpga.Resource][]float64{}
	for _, r := range []fpga.Resource{fpga.LUTs, fpga.FFs} {
		var rows []machine.Sample
		for _, d := range m.Designs {
			c, _ := core.Parse(d.Design)
			if d.Fitted {
				rows = append(rows, machine.Sample{Counts: c.Terms(), Cost: float64(d.Used[r] - c.MemoryCells(f)[r])})
			}
		}
		for _, p := range machine.Fit(rows) {
			m.Cells[r] = append(m.Cells[r], math.Round(p*1e4)/1e4)
		}
	}
	all[f.Name] = m
	for _, d := range m.Designs {
		c, _ := core.Parse(d.Design)
		fmt.Fprintf(w, "%s, fitted %v: %v, estimated %v\n", d.Design, d.Fitted, d.Used, core.Estimate(c, f))
	}
	return writeJSON(coreCells, all, " ")
}
