// Package yosys counts the cells of designs of package dataflow after synthesis with Yosys.
package yosys

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"ripc/caches"
	"ripc/internal/files"
	"ripc/internal/tools"
	"ripc/targets/fpga"
)

// Result is the result of a synthesis.
type Result struct {
	Version string                `json:"version"` // of Yosys, by which counts differ
	Used    map[fpga.Resource]int `json:"used"`
	Cells   map[string]int        `json:"cells"` // by type
}

// Synthesize counts the cells of the module top in files, by name. Results are cached by content
// and version. netlist, if not "", is a path for the netlist as JSON, which nextpnr reads; nothing
// is cached then. It fails with *tools.MissingError or *tools.Error.
func Synthesize(ctx context.Context, sources map[string][]byte, top string, f fpga.Family,
	netlist string) (*Result, error) {
	if err := tools.Find("yosys", "yosys"); err != nil {
		return nil, err
	}
	out, err := tools.Run(ctx, "", "yosys", "-V")
	if err != nil {
		return nil, err
	}
	r := &Result{Version: version(string(out))}
	key := [][]byte{[]byte("yosys"), out, []byte(f.Synthesis), []byte(top)}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		key = append(key, []byte(name), sources[name])
	}
	cache, cacheErr := caches.OfUser("fpga")
	id := caches.Key(key...)
	if cacheErr == nil && netlist == "" {
		if data, ok := cache.Get(id); ok && json.Unmarshal(data, &r.Cells) == nil {
			r.Used = sumCells(r.Cells, f)
			return r, nil
		}
	}
	after := "tee -o stat.json stat -json"
	if netlist != "" {
		after += "; write_json " + netlist
	}
	text, err := synthesize(ctx, sources, f.Synthesis+" -top "+top+"; "+after, "stat.json")
	if err != nil {
		return nil, err
	}
	if r.Cells, err = readCells(text); err != nil {
		return nil, err
	}
	if data, err := json.Marshal(r.Cells); err == nil && cacheErr == nil {
		cache.Put(id, data)
	}
	r.Used = sumCells(r.Cells, f)
	return r, nil
}

// version is the second word of yosys -V.
func version(text string) string {
	words := strings.Fields(text)
	if len(words) < 2 {
		return text
	}
	return words[1]
}

// Netlist is the module top as Verilog of the family's cells, without block RAM and multipliers,
// and the cells' models. It fails as Synthesize does, or with *NoModelsError.
func Netlist(ctx context.Context, sources map[string][]byte, top string, f fpga.Family) (netlist, models []byte,
	err error) {
	if err := CheckNetlist(f); err != nil {
		return nil, nil, err
	}
	if err := tools.Find("yosys", "yosys"); err != nil {
		return nil, nil, err
	}
	program, err := exec.LookPath("yosys")
	if err != nil {
		return nil, nil, err
	}
	// Yosys finds its own files in the same way.
	if models, err = os.ReadFile(filepath.Join(filepath.Dir(program), "..", "share", "yosys", f.Models)); err != nil {
		return nil, nil, err
	}
	const file = "netlist.out"
	netlist, err = synthesize(ctx, sources, f.Simulated+" -top "+top+"; write_verilog -noattr "+file, file)
	return netlist, models, err
}

// CheckNetlist fails with *NoModelsError where Netlist does.
func CheckNetlist(f fpga.Family) error {
	if f.Models == "" {
		return &NoModelsError{f.Name}
	}
	return nil
}

// NoModelsError says that the cells of a family have no models for simulations.
type NoModelsError struct{ Family string }

func (e *NoModelsError) Error() string {
	return fmt.Sprintf("no netlist can be simulated for family %s: its cells have no models", e.Family)
}

// BadInput reports that the input is at fault.
func (*NoModelsError) BadInput() bool { return true }

// synthesize runs Yosys' commands on sources, and returns the file that they write.
func synthesize(ctx context.Context, sources map[string][]byte, commands, file string) (text []byte, err error) {
	dir, remove, err := files.TempDir("")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	var verilog []string
	for name, data := range sources {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
			return nil, err
		}
		if strings.HasSuffix(name, ".v") {
			verilog = append(verilog, name)
		}
	}
	slices.Sort(verilog)
	script := fmt.Sprintf("read_verilog -defer -sv %s; %s", strings.Join(verilog, " "), commands)
	if _, err := tools.RunJobs(ctx, len(sources), dir, "yosys", "-q", "-p", script); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(dir, file))
}

// readCells reads the cells by type of Yosys' statistics.
func readCells(text []byte) (map[string]int, error) {
	var stat struct {
		Design struct {
			Cells map[string]int `json:"num_cells_by_type"`
		} `json:"design"`
	}
	if err := json.Unmarshal(text, &stat); err != nil {
		return nil, &tools.Error{Tool: "yosys", Text: string(text), Err: err}
	}
	return stat.Design.Cells, nil
}

// sumCells sums up the resources of cells.
func sumCells(cells map[string]int, f fpga.Family) map[fpga.Resource]int {
	all := map[fpga.Resource]int{fpga.LUTs: 0, fpga.FFs: 0, fpga.RAMKbits: 0, fpga.DSPs: 0}
	for _, c := range f.Cells {
		is := regexp.MustCompile("^(" + c.Pattern + ")$")
		for name, n := range cells {
			if is.MatchString(name) {
				all[c.Resource] += c.Count * n
			}
		}
	}
	return all
}
