// Package yosys counts the cells of designs of package dataflow after synthesis with Yosys.
package yosys

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
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

// Script installs Yosys.
const Script = "scripts/setup-fpga.sh"

// Synthesize counts the cells of the module top in files, by name. Results are cached by content
// and version. netlist, if not "", is a path for the netlist as JSON, which nextpnr reads; nothing
// is cached then. It fails with *tools.MissingError or *tools.Error.
func Synthesize(ctx context.Context, sources map[string][]byte, top string, f fpga.Family,
	netlist string) (*Result, error) {
	if err := tools.Find("yosys", "yosys", Script); err != nil {
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
	if r.Cells, err = cells(ctx, sources, top, f, netlist); err != nil {
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

// cells runs Yosys.
func cells(ctx context.Context, sources map[string][]byte, top string, f fpga.Family, netlist string) (
	counts map[string]int, err error) {
	dir, remove, err := files.TempDir("")
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := remove(); err == nil {
			err = e
		}
	}()
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
	script := fmt.Sprintf("read_verilog -defer -sv %s; %s -top %s; tee -o stat.json stat -json",
		strings.Join(verilog, " "), f.Synthesis, top)
	if netlist != "" {
		script += "; write_json " + netlist
	}
	if _, err := tools.RunJobs(ctx, len(sources), dir, "yosys", "-q", "-p", script); err != nil {
		return nil, err
	}
	text, err := os.ReadFile(filepath.Join(dir, "stat.json"))
	if err != nil {
		return nil, err
	}
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
