// Package verilator simulates designs of package dataflow, cycle by cycle, with Verilator. Every
// stream with a tensor is recorded, so that each engine can be compared with its definition.
package verilator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"ripc/caches"
	"ripc/codegen/verilog"
	"ripc/dataflow"
	"ripc/internal/files"
	"ripc/internal/tools"
)

// Simulator is a compiled simulation of a design.
type Simulator struct {
	design *dataflow.Design
	dir    string
	remove func() error
}

// Mix says how often the input and the output stall, as shares of all cycles in percent, and the
// seed of the draws.
type Mix struct{ In, Out, Seed int }

// String is the mix in reports.
func (m Mix) String() string { return fmt.Sprintf("stalls %d %% in, %d %% out", m.In, m.Out) }

// Mixes are those that verify plays: none, at either end, and at both.
func Mixes() []Mix { return []Mix{{0, 0, 1}, {30, 0, 2}, {0, 40, 3}, {50, 50, 4}} }

// Result is the result of a simulation.
type Result struct {
	// Streams has the elements of all pictures by stream, signed where the stream is. A stream that
	// got stuck has fewer.
	Streams map[*dataflow.Stream][]int64
	Stats
	Pictures int
}

// Stats are the counts of a simulation.
type Stats struct {
	Beats int  `json:"beats"` // that came out
	Extra int  `json:"extra"` // beats behind the last
	Stuck bool `json:"stuck"`
	First int  `json:"first"` // cycle in which the first picture ended
	Last  int  `json:"last"`  // and the last one
}

// Cycles is the number of cycles of each picture after the first; 0 for a single one.
func (r *Result) Cycles() float64 {
	if r.Pictures < 2 {
		return 0
	}
	return float64(r.Last-r.First) / float64(r.Pictures-1)
}

// New compiles a simulation of d. It fails with *tools.MissingError.
func New(ctx context.Context, d *dataflow.Design) (*Simulator, error) {
	sources, err := verilog.Files(d, "top")
	if err != nil {
		return nil, err
	}
	return compile(ctx, d, sources)
}

// NewNetlist compiles a simulation of a netlist of d, the module core. models is the file with the
// models of its cells, beside those that it includes. LastStream alone can be recorded.
func NewNetlist(ctx context.Context, d *dataflow.Design, core string, netlist []byte,
	models string) (*Simulator, error) {
	return compile(ctx, d, map[string][]byte{"netlist.v": netlist, "top.v": verilog.Observed(d, core)},
		"--bbox-unsup", "--bbox-sys", "-I"+filepath.Dir(models), models)
}

// compile makes a simulation of sources, with more options of Verilator.
func compile(ctx context.Context, d *dataflow.Design, sources map[string][]byte,
	options ...string) (*Simulator, error) {
	more, err := verilog.Simulation()
	if err != nil {
		return nil, err
	}
	maps.Copy(more, sources)
	dir, remove, err := build(ctx, more, append(options, "--top-module", "top", "--prefix", "Vtop", "-DRIPC_TAP",
		"-DRIPC_SUMS"))
	if err != nil {
		return nil, err
	}
	return &Simulator{d, dir, remove}, nil
}

// build makes a program, obj/sim in a new folder, of files of Verilog and C++. The objects of
// Verilator's own library take most of the time, and are kept from one simulation to the next.
func build(ctx context.Context, sources map[string][]byte, options []string) (dir string, remove func() error,
	err error) {
	for _, tool := range []string{"verilator", "g++", "make"} {
		if _, err := tools.FindForFPGA(tool, "apt-get install "+tool); err != nil {
			return "", nil, err
		}
	}
	if dir, remove, err = files.TempDir(""); err != nil {
		return "", nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, remove())
		}
	}()
	args := append(options, "--cc", "--exe", "--build", "-O3", "-CFLAGS", "-O1", "-Wno-fatal", "-Wno-lint",
		"-Wno-style", "--noassert", "--x-assign", "fast", "--x-initial", "fast", "-Mdir", "obj", "-o", "sim")
	names, err := tools.WriteSources(dir, sources)
	if err != nil {
		return dir, remove, err
	}
	args = append(args, names...)
	version, err := tools.Run(ctx, dir, "verilator", "--version")
	if err != nil {
		return dir, remove, err
	}
	obj := filepath.Join(dir, "obj")
	if err := os.Mkdir(obj, 0o777); err != nil {
		return dir, remove, err
	}
	cache, cacheErr := caches.OfUser("fpga")
	library := []string{"verilated.o", "verilated_threads.o"}
	key := func(name string) string { return caches.Key([]byte("verilator"), version, []byte(name)) }
	for _, name := range library {
		if cacheErr != nil {
			break
		}
		if data, ok := cache.Get(key(name)); ok {
			if err := os.WriteFile(filepath.Join(obj, name), data, 0o666); err != nil {
				return dir, remove, err
			}
		}
	}
	if _, err := tools.Run(ctx, dir, "verilator", args...); err != nil || cacheErr != nil {
		return dir, remove, err
	}
	for _, name := range library {
		if data, err := os.ReadFile(filepath.Join(obj, name)); err == nil {
			cache.Put(key(name), data)
		}
	}
	return dir, remove, nil
}

// Close removes the simulation; of nil there is none.
func (s *Simulator) Close() error {
	if s == nil {
		return nil
	}
	return s.remove()
}

// Streams says which streams a simulation records.
type Streams int

// The choices.
const (
	AllStreams Streams = iota
	LastStream         // the output alone
)

// Run plays pictures, each the elements of the design's input, back to back.
func (s *Simulator) Run(ctx context.Context, pictures [][]int64, m Mix, streams Streams) (*Result, error) {
	var stimulus bytes.Buffer
	for _, p := range pictures {
		for _, w := range s.design.First.Words(p) {
			stimulus.WriteString(verilog.Hex(w) + "\n")
		}
	}
	if err := os.WriteFile(filepath.Join(s.dir, "stimulus.txt"), stimulus.Bytes(), 0o666); err != nil {
		return nil, err
	}
	const patience = 100000
	var args []string
	for _, v := range []int{s.design.First.Beats(), s.design.Last.Beats(), len(pictures), 4*s.design.Cycles + patience,
		m.In, m.Out, m.Seed} {
		args = append(args, fmt.Sprint(v))
	}
	if streams == LastStream {
		args = append(args, "+last")
	}
	out, err := tools.Run(ctx, s.dir, filepath.Join(s.dir, "obj", "sim"), args...)
	if err != nil {
		return nil, err
	}
	r := &Result{Streams: map[*dataflow.Stream][]int64{}, Pictures: len(pictures)}
	if i := bytes.IndexByte(out, '{'); i < 0 {
		return nil, &tools.Error{Tool: "simulation", Text: string(out), Err: errors.New("it printed no result")}
	} else if err := json.NewDecoder(bytes.NewReader(out[i:])).Decode(&r.Stats); err != nil {
		return nil, &tools.Error{Tool: "simulation", Text: string(out), Err: err}
	}
	for _, st := range s.design.Streams {
		if st.Tensor == "" || streams == LastStream && st != s.design.Last {
			continue
		}
		text, err := os.ReadFile(filepath.Join(s.dir, st.Name+".tap"))
		if err != nil {
			return nil, err
		}
		if r.Streams[st], err = elements(st, text); err != nil {
			return nil, fmt.Errorf("stream %s: %w", st.Name, err)
		}
	}
	return r, nil
}

// elements reads the beats of a stream, hexadecimal numbers with leading zeros, one a line.
func elements(s *dataflow.Stream, text []byte) ([]int64, error) {
	const digit = 4 // bits
	var all []int64
	for line := range bytes.Lines(text) {
		line = bytes.TrimSpace(line)
		if len(line) != (s.Width()+digit-1)/digit {
			return nil, fmt.Errorf("beat %q has not %d bits", line, s.Width())
		}
		slices.Reverse(line)
		for i := range s.Lanes {
			e := int64(0)
			for b := range s.Bits {
				at := i*s.Bits + b
				v := line[at/digit]
				if v >= 'a' {
					v -= 'a' - 10
				}
				e |= int64(v>>(at%digit)&1) << b
			}
			if s.Signed && e>>(s.Bits-1) == 1 {
				e -= 1 << s.Bits
			}
			all = append(all, e)
		}
	}
	return all, nil
}
