// Package nextpnr places and routes netlists of Yosys with nextpnr, for families with open tools,
// and makes bitstreams of the result.
package nextpnr

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ripc/internal/tools"
	"ripc/targets/fpga"
)

// Result is a routed design.
type Result struct {
	MHz       float64 // highest clock
	Bitstream []byte
}

// UnsupportedError says that a family has no open tools behind synthesis.
type UnsupportedError struct {
	Board, Family string
	Boards        []string // that have them
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("no open tools make bitstreams for %s (%s); they do for %s", e.Board, e.Family,
		strings.Join(e.Boards, ", "))
}

// BadInput reports that the input is at fault.
func (*UnsupportedError) BadInput() bool { return true }

// Check fails with *UnsupportedError or *tools.MissingError if Route cannot work for t.
func Check(t fpga.Target) error {
	f := t.Family
	if f.PlaceRoute == "" {
		e := &UnsupportedError{Board: t.Board.Name, Family: f.Name}
		for _, o := range fpga.Targets() {
			if o.Family.PlaceRoute != "" {
				e.Boards = append(e.Boards, o.Board.Name)
			}
		}
		return e
	}
	_, _, err := programs(f)
	return err
}

// programs are the paths of nextpnr and of the program that packs its result.
func programs(f fpga.Family) (route, pack string, err error) {
	route, err = tools.FindForFPGA(f.PlaceRoute, f.Install[f.PlaceRoute])
	if err == nil {
		pack, err = tools.FindForFPGA(f.Pack, f.Install[f.Pack])
	}
	return route, pack, err
}

// Route places and routes the netlist of a file in folder dir, at a clock. constraints is a file
// with pins there; "" leaves all to nextpnr. Both are given by name, as the nextpnr of PyPI sees
// no folder but its own.
func Route(ctx context.Context, dir, netlist, constraints string, t fpga.Target, mhz float64) (*Result, error) {
	if err := Check(t); err != nil {
		return nil, err
	}
	f, p := t.Family, t.Part
	route, pack, err := programs(f)
	if err != nil {
		return nil, err
	}
	args := slices.Concat([]string{p.Device, "--package", p.Package, "--json", filepath.Base(netlist), "--freq",
		fmt.Sprint(mhz), "--timing-allow-fail", "--report", "report.json", "-q"}, f.RouteOptions)
	if constraints != "" {
		args = append(args, "--"+f.Constraints, filepath.Base(constraints))
	}
	if _, err := tools.Run(ctx, dir, route, args...); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "report.json"))
	if err != nil {
		return nil, err
	}
	var report struct {
		FMax map[string]struct{ Achieved float64 } `json:"fmax"`
	}
	if err := json.Unmarshal(text, &report); err != nil {
		return nil, &tools.Error{Tool: f.PlaceRoute, Text: string(text), Err: err}
	}
	r := &Result{}
	for _, clock := range report.FMax { // there is one
		r.MHz = clock.Achieved
	}
	if _, err := tools.Run(ctx, dir, pack, "routed.txt", "design.bit"); err != nil {
		return nil, err
	}
	r.Bitstream, err = os.ReadFile(filepath.Join(dir, "design.bit"))
	return r, err
}
