package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ripc"
	"ripc/targets"
	"ripc/targets/boards"
	"ripc/targets/fpga"
)

// targetLine is a target and its abilities on this machine.
type targetLine struct {
	targets.Target
	Host bool `json:"host"`
	// RunsBy is "here", "simulated", "as C" (compiled for this machine, with --backend c), "in"
	// and a virtual machine, or "not here".
	RunsBy string `json:"runs"`
}

func targetsCommand() *cobra.Command {
	var asJSON, wide bool
	cmd := &cobra.Command{
		Use:   "targets [flags]",
		Short: "List the machines that ripc compiles for",
		Long: `List the machines that ripc compiles for. The one marked with * is this machine, as its
CPU and system report it. Code for the others runs here, where this machine has their
features, or in simulation. For those without an operating system there is C source, which is
checked in a program on a simulated board, or as this machine's own compiler makes it where
there is no board. Boards with an FPGA get an accelerator.`,
		Args: argCount(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			var lines []targetLine
			for _, t := range targets.All() {
				lines = append(lines, targetLine{t, t.Name == targets.HostName, runsBy(t)})
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"targets": lines, "fpgas": fpga.Targets()})
			}
			width := widthOf(cmd.OutOrStdout(), wide)
			printTargets(cmd.OutOrStdout(), lines, width)
			fmt.Fprintln(cmd.OutOrStdout())
			printFPGAs(cmd.OutOrStdout(), width)
			return nil
		},
	}
	wideFlag(cmd, &wide)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// printTargets prints a line a target, and the features of each.
func printTargets(w io.Writer, lines []targetLine, width int) {
	t := &table{columns: []column{textCol("", 0), textCol("NAME", 0), textCol("CPU", 3), textCol("VECTORS", 2),
		numCol("CORES", 1), textCol("RUNS", 0), textCol("BOARD", 0).cutAs(cutTail, 40)}}
	for _, l := range lines {
		mark := ""
		if l.Host {
			mark = "*"
		}
		vectors := fmt.Sprintf("%d bits", l.VectorBits)
		if l.Bare {
			vectors = "none"
		}
		t.add(mark, l.Name, l.CPU, vectors, fmt.Sprint(l.Cores), l.RunsBy, l.Board)
	}
	t.write(w, width)
	fmt.Fprintln(w)
	for _, l := range lines {
		if len(l.Features) > 0 {
			fmt.Fprintln(w, wrap(l.Name+": "+strings.Join(l.Features, " "), width, 0))
		}
	}
}

// printFPGAs prints a line for each board with an FPGA.
func printFPGAs(w io.Writer, width int) {
	t := &table{columns: []column{textCol("NAME", 0), textCol("FPGA", 0), numCol("LUTS", 0), numCol("BRAM36", 1),
		numCol("DSPS", 2), numCol("MHZ", 3), textCol("BOARD", 0).cutAs(cutTail, 40)}}
	for _, f := range fpga.Targets() {
		t.add(f.Board.Name, f.Part.Name, fmt.Sprint(f.Part.LUTs), fmt.Sprintf("%.4g", fpga.BRAM36(f.Part.RAMKbits)),
			fmt.Sprint(f.Part.DSPs), fmt.Sprint(f.Board.ClockMHz), f.Board.Text)
	}
	t.write(w, width)
}

// notHere marks targets that this machine does not run code for.
const notHere = "not here"

func runsBy(t targets.Target) string {
	host, err := targets.Host()
	switch {
	case t.Native():
		return "here"
	case ripc.VirtualMachine(t) != "":
		return "in " + ripc.VirtualMachine(t)
	case t.Bare:
		if _, ok := boards.Of(t.Name); ok {
			return "simulated"
		}
		return "as C"
	case t.QemuCPU != "" && (err != nil || t.Arch != host.Arch):
		return "simulated"
	}
	return notHere
}
