package accelerator

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"ripc/codegen/verilog"
	"ripc/dataflow/fold"
	"ripc/internal/files"
	"ripc/measure/nextpnr"
	"ripc/measure/yosys"
	"ripc/targets/fpga"
)

// Bench is the result of Measure.
type Bench struct {
	Model    string  `json:"model"`
	Target   string  `json:"target"`
	Part     string  `json:"part"`
	ClockMHz float64 `json:"clock_mhz"`
	Cycles   int     `json:"cycles"` // a picture in a full pipeline, by formula
	Slowest  string  `json:"slowest"`
	FPS      float64 `json:"fps"`
	LUTs     int     `json:"luts"`
	FFs      int     `json:"ffs"`
	BRAM36   float64 `json:"bram36"`
	DSPs     int     `json:"dsps"`
	// Shares are parts of the FPGA's cells.
	Shares   map[fpga.Resource]float64 `json:"shares"`
	Tool     string                    `json:"tool"`
	Estimate fold.Cost                 `json:"estimate"` // before synthesis
	MACs     int64                     `json:"macs"`     // of the network
	Hardware int64                     `json:"hardware_macs"`
	Layers   []Layer                   `json:"layers"`
}

// baud is the speed of serial lines, in bits a second.
const baud = 115200

// Board is the files that connect the accelerator to its board: a module with a serial line, and
// its pins, or a module for the bus of a processor. top is the module's name, "" if the board's
// pins are not known.
func (a *Accelerator) Board() (files map[string][]byte, top string, err error) {
	s, f := a.Target.Board.Serial, a.Target.Family
	files = map[string][]byte{}
	if s.Clk == "" {
		files["axi.v"], err = verilog.AXI(a.Design, a.Top())
		return files, "", err
	}
	var pins strings.Builder
	for _, p := range [][2]string{{"clk", s.Clk}, {"rx", s.Rx}, {"tx", s.Tx}} {
		fmt.Fprintf(&pins, f.PinText, p[0], p[1])
	}
	files[a.Prefix()+"."+f.Constraints] = []byte(pins.String())
	files["serial.v"], err = verilog.Serial(a.Design, a.Top(), s.MHz*1e6, baud)
	return files, a.Top() + "_serial", err
}

// Bitstream synthesizes, places and routes the accelerator on its board, at the clock; without pins
// of the board, with streams of bytes. It fails with *nextpnr.UnsupportedError or
// *tools.MissingError.
func (a *Accelerator) Bitstream(ctx context.Context) (r *nextpnr.Result, err error) {
	if err := nextpnr.Check(a.Target); err != nil {
		return nil, err
	}
	sources, err := a.Verilog()
	if err != nil {
		return nil, err
	}
	dir, remove, err := files.TempDir("")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	board, top, err := a.Board()
	if err != nil {
		return nil, err
	}
	netlist, constraints := filepath.Join(dir, "netlist.json"), ""
	if top == "" {
		top = a.Top() + "_bytes"
	} else {
		maps.Copy(sources, board)
		constraints = filepath.Join(dir, a.Prefix()+"."+a.Target.Family.Constraints)
		if err := os.WriteFile(constraints, board[filepath.Base(constraints)], 0o666); err != nil {
			return nil, err
		}
	}
	if _, err := yosys.Synthesize(ctx, sources, top, a.Target.Family, netlist); err != nil {
		return nil, err
	}
	return nextpnr.Route(ctx, dir, netlist, constraints, a.Target, a.Clock)
}

// Measure counts the cells of the accelerator after synthesis, without the cells that connect it to
// a board. It fails with *tools.MissingError.
func (a *Accelerator) Measure(ctx context.Context) (*Bench, error) {
	sources, err := a.Verilog()
	if err != nil {
		return nil, err
	}
	r, err := yosys.Synthesize(ctx, sources, a.Top(), a.Target.Family, "")
	if err != nil {
		return nil, err
	}
	d, part := a.Design, a.Target.Part
	b := &Bench{Model: a.Graph.Name, Target: a.Target.Board.Name, Part: part.Name, ClockMHz: a.Clock, Cycles: d.Cycles,
		Slowest: d.Slowest, FPS: a.FPS(), LUTs: r.Used[fpga.LUTs], FFs: r.Used[fpga.FFs],
		BRAM36: fpga.BRAM36(r.Used[fpga.RAMKbits]), DSPs: r.Used[fpga.DSPs], Tool: "yosys " + r.Version,
		Estimate: a.Point.Cost, MACs: int64(d.Total), Hardware: int64(d.Work), Layers: a.Layers(),
		Shares: map[fpga.Resource]float64{}}
	for resource, n := range r.Used {
		if has := part.Has(resource); has > 0 {
			b.Shares[resource] = float64(n) / float64(has)
		}
	}
	return b, nil
}
