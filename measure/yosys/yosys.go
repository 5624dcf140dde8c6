// Package yosys counts the cells of designs of package dataflow after synthesis with Yosys.
package yosys

import (
	"context"
	"encoding/json"
	"errors"
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

// Synthesize counts the cells of the module top in files, by name. Results are cached by content
// and version. netlist, if not "", is a path for the netlist as JSON, which nextpnr reads; nothing
// is cached then. It fails with *tools.MissingError or *tools.Error.
func Synthesize(ctx context.Context, sources map[string][]byte, top string, f fpga.Family,
	netlist string) (*Result, error) {
	v, err := Version(ctx)
	if err != nil {
		return nil, err
	}
	after := "tee -o stat.json stat -json"
	count := func() (map[string]int, error) {
		texts, err := synthesize(ctx, sources, f.Synthesis+" -top "+top+"; "+after, "stat.json")
		if err != nil {
			return nil, err
		}
		return readCells(texts[0])
	}
	r := &Result{Version: v}
	if netlist != "" {
		after += "; write_json " + netlist
		r.Cells, err = count()
	} else {
		r.Cells, err = keep(sources, count, v, f.Synthesis, top)
	}
	r.Used = sumCells(r.Cells, f)
	return r, err
}

// keep returns count's result, from the cache if sources and words are as before.
func keep[T any](sources map[string][]byte, count func() (T, error), words ...string) (r T, err error) {
	key := [][]byte{[]byte("yosys")}
	for _, w := range words {
		key = append(key, []byte(w))
	}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		key = append(key, []byte(name), sources[name])
	}
	cache, cacheErr := caches.OfUser("fpga")
	if cacheErr != nil {
		return count()
	}
	id := caches.Key(key...)
	if data, ok := cache.Get(id); ok && json.Unmarshal(data, &r) == nil {
		return r, nil
	}
	if r, err = count(); err != nil {
		return r, err
	}
	if data, err := json.Marshal(r); err == nil {
		cache.Put(id, data)
	}
	return r, nil
}

// Units counts the cells of each instance in the module top, by the instance's name. The instances
// are synthesized apart from each other; modules lists the names of their modules. It fails as
// Synthesize does.
func Units(ctx context.Context, sources map[string][]byte, top string, modules []string,
	f fpga.Family) (map[string]map[fpga.Resource]int, error) {
	v, err := Version(ctx)
	if err != nil {
		return nil, err
	}
	var apart []string
	for _, m := range modules {
		apart = append(apart, m, `$paramod*\\`+m+"*") // with its own parameters, and with others
	}
	const instances, cells = "instances.il", "cells.json"
	commands := fmt.Sprintf("hierarchy -top %[1]s; setattr -mod -set keep_hierarchy 1 %[2]s; select %[1]s; "+
		"write_rtlil -selected %[3]s; select -clear; %[4]s -top %[1]s; tee -o %[5]s stat -json", top,
		strings.Join(apart, " "), instances, f.Synthesis, cells)
	return keep(sources, func() (map[string]map[fpga.Resource]int, error) {
		texts, err := synthesize(ctx, sources, commands, instances, cells)
		if err != nil {
			return nil, err
		}
		return readUnits(texts[0], texts[1], f)
	}, v, commands)
}

// readUnits sums up the resources of each instance, which stands in RTLIL, by the cells of its
// module in Yosys' statistics.
func readUnits(instances, cells []byte, f fpga.Family) (map[string]map[fpga.Resource]int, error) {
	var stat struct {
		Modules map[string]struct {
			Cells map[string]int `json:"num_cells_by_type"`
		}
	}
	if err := json.Unmarshal(cells, &stat); err != nil {
		return nil, &tools.Error{Tool: "yosys", Text: string(cells), Err: err}
	}
	all := map[string]map[fpga.Resource]int{}
	for line := range strings.Lines(string(instances)) {
		if w := strings.Fields(line); len(w) == 3 && w[0] == "cell" {
			all[strings.TrimPrefix(w[2], `\`)] = sumCells(stat.Modules[w[1]].Cells, f)
		}
	}
	return all, nil
}

// Version is Yosys' version. It fails with *tools.MissingError.
func Version(ctx context.Context) (string, error) {
	if _, err := tools.FindForFPGA("yosys", "apt-get install yosys"); err != nil {
		return "", err
	}
	out, err := tools.Run(ctx, "", "yosys", "-V")
	words := strings.Fields(string(out))
	if len(words) < 2 {
		return string(out), err
	}
	return words[1], err
}

// Netlist is the module top as Verilog of the family's cells, without block RAM and multipliers,
// and the file with the cells' models. It fails as Synthesize does, or with *NoModelsError.
func Netlist(ctx context.Context, sources map[string][]byte, top string, f fpga.Family) (netlist []byte, models string,
	err error) {
	if err := CheckNetlist(f); err != nil {
		return nil, "", err
	}
	program, err := tools.FindForFPGA("yosys", "apt-get install yosys")
	if err != nil {
		return nil, "", err
	}
	// Yosys finds its own files in the same way.
	models = filepath.Join(filepath.Dir(program), "..", "share", "yosys", f.Models)
	if _, err := os.Stat(models); err != nil {
		return nil, "", fmt.Errorf("the models of %s's cells beside yosys: %w", f.Name, err)
	}
	// A memory with a style becomes block RAM in spite of -nobram.
	const file, noStyles = "netlist.out", "setattr -unset ram_style -unset rom_style -unset syn_romstyle */m:*"
	texts, err := synthesize(ctx, sources, fmt.Sprintf("hierarchy -top %[1]s; %[2]s; %[3]s -top %[1]s; write_verilog "+
		"-noattr %[4]s", top, noStyles, f.Simulated, file), file)
	if err != nil {
		return nil, "", err
	}
	return texts[0], models, nil
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

// synthesize runs Yosys' commands on sources, and returns the files that they write.
func synthesize(ctx context.Context, sources map[string][]byte, commands string,
	written ...string) (texts [][]byte, err error) {
	dir, remove, err := files.TempDir("")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, remove()) }()
	verilog, err := tools.WriteSources(dir, sources)
	if err != nil {
		return nil, err
	}
	script := fmt.Sprintf("read_verilog -defer -sv %s; %s", strings.Join(verilog, " "), commands)
	if _, err := tools.RunJobs(ctx, len(sources), dir, "yosys", "-q", "-p", script); err != nil {
		return nil, err
	}
	for _, name := range written {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
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
