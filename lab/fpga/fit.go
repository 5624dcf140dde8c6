// Package fpga makes the models by which accelerators are sized before synthesis, and counts the
// cells of accelerators.
package fpga

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ripc/codegen/verilog"
	"ripc/compile"
	"ripc/dataflow"
	"ripc/dataflow/fold"
	"ripc/graph"
	"ripc/internal/models"
	"ripc/lab/figures"
	"ripc/lab/task"
	"ripc/measure/yosys"
	"ripc/schedule/machine"
	"ripc/targets/fpga"
)

// Command returns the command fpga, with its commands.
func Command() *cobra.Command {
	c := &cobra.Command{Use: "fpga", Short: "count the cells of accelerators, and make the models that estimate them"}
	c.AddCommand(fitCommand(), countCommand(), coresCommand())
	return c
}

// fitCommand returns the command that fits the models.
func fitCommand() *cobra.Command {
	var family, only string
	draws, kept := 2, false
	c := &cobra.Command{Use: "fit", Short: "synthesize units, and fit the model of a family's cells to them",
		Args: cobra.NoArgs, RunE: func(c *cobra.Command, _ []string) error {
			wanted, err := regexp.Compile(only)
			if err != nil {
				return err
			}
			for _, f := range fpga.Families() {
				if f.Name == family || family == "" && f.Like == "" {
					if !kept {
						err = synthesizeDraws(c.Context(), f, wanted, draws, c.OutOrStdout())
					}
					if err == nil {
						err = fit(c.Context(), f, c.OutOrStdout())
					}
					if err != nil {
						return err
					}
				}
			}
			return nil
		}}
	c.Flags().StringVar(&family, "family", "", "the only family to fit; all without it")
	c.Flags().IntVar(&draws, "draws", draws, "designs of each network, with folds drawn at random")
	c.Flags().BoolVar(&kept, "kept", false, "fit to the units of the last time, without synthesis")
	c.Flags().StringVar(&only, "only", "", "synthesize only networks that match a regular expression")
	return c
}

// networks are the files in testdata with the layers of the fit.
func networks() []string {
	return []string{"fpga/every.json", "architectures/finn_mlp4_w1a1.onnx", "architectures/finn_mlp4_w1a2.onnx",
		"architectures/keywords.onnx", "qonnx/brevitas_w2perchan_a4_dw.onnx", "qonnx/fire_concat_w1_a2.onnx",
		"fpga/joins.json", "twin/shortcuts.json", "architectures/spelled_where.onnx", "fpga/mlp4.json",
		"integers/tfl_block_s8.tflite", "architectures/bnn.onnx", "twin/unipolar2.json",
		"architectures/finn_cnv4_w1a2.onnx", "architectures/finn_cnv4_w2a2.onnx"}
}

// sample is a synthesized unit, as the store keeps it.
type sample struct {
	Network string                `json:"network,omitempty"`
	Module  string                `json:"module"`
	Params  map[string]int        `json:"params"`
	In      []int                 `json:"in"` // bits of its streams
	Out     []int                 `json:"out"`
	Used    map[fpga.Resource]int `json:"used"`
}

func newSample(u *dataflow.Unit, used map[fpga.Resource]int) sample {
	s := sample{Module: u.Module, Params: map[string]int{}, Used: used}
	for _, p := range u.Params {
		if v, ok := p.Value.(int); ok {
			s.Params[p.Name] = v
		}
	}
	for _, x := range u.In {
		s.In = append(s.In, x.Width())
	}
	for _, x := range u.Out {
		s.Out = append(s.Out, x.Width())
	}
	return s
}

// unit is the unit that the sample was made of.
func (s sample) unit() *dataflow.Unit {
	u := &dataflow.Unit{Module: s.Module}
	for _, name := range slices.Sorted(maps.Keys(s.Params)) {
		u.Params = append(u.Params, dataflow.Param{Name: name, Value: s.Params[name]})
	}
	for _, w := range s.In {
		u.In = append(u.In, &dataflow.Stream{Bits: w, Lanes: 1})
	}
	for _, w := range s.Out {
		u.Out = append(u.Out, &dataflow.Stream{Bits: w, Lanes: 1})
	}
	return u
}

// store is the file of a family's samples.
func store(f fpga.Family) string { return filepath.Join(task.Data, "points", "fpga-"+f.Name+".jsonl") }

// Bounds of drawn engines, for synthesis in seconds: the bits of the products of a cycle, those of
// the weights and thresholds in logic, and the words of weights.
const (
	mostProducts = 768
	mostLogic    = 1 << 13
	mostWords    = 4096
)

// draw is the design of s with folds, and places of weights, that are drawn at random; nil if no
// folds are within the bounds.
func draw(s *dataflow.Segment, random *rand.Rand) *dataflow.Design {
	folds := map[string]dataflow.Fold{}
	for _, st := range s.MVUs() {
		m := st.Engine.(*dataflow.MVU)
		legal := slices.DeleteFunc(m.Folds(), func(f dataflow.Fold) bool {
			return f.PE*f.SIMD*m.XBits*m.WBits > mostProducts || m.Steps(f)*m.Blocks(f) > mostWords ||
				m.AccBits(f)*m.Conv.Out<<m.YBits > mostLogic
		})
		if len(legal) == 0 {
			return nil
		}
		f := legal[random.IntN(len(legal))]
		f.Block = random.IntN(2) == 0 || m.Conv.Out*m.Vector()*m.WBits > mostLogic
		folds[st.Name] = f
	}
	return dataflow.Build(s, folds)
}

// synthesize synthesizes the units of a design apart from each other.
func synthesize(ctx context.Context, d *dataflow.Design, f fpga.Family) ([]sample, error) {
	const top = "apart"
	sources, err := verilog.Files(d, top)
	if err != nil {
		return nil, err
	}
	modules := map[string]bool{}
	for _, u := range d.Units {
		modules[u.Module] = true
	}
	used, err := yosys.Units(ctx, sources, top, slices.Sorted(maps.Keys(modules)), f)
	if err != nil {
		return nil, err
	}
	var all []sample
	for _, u := range d.Units {
		n, ok := used[u.Name]
		if !ok {
			return nil, fmt.Errorf("no cells of unit %s", u.Name)
		}
		all = append(all, newSample(u, n))
	}
	return all, nil
}

// synthesizeDraws draws designs of each wanted network, and makes those of tables. It stores their
// units.
func synthesizeDraws(ctx context.Context, f fpga.Family, wanted *regexp.Regexp, draws int, w io.Writer) error {
	all, err := figures.ReadLines[sample](store(f))
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(s sample) bool { return wanted.MatchString(s.Network) })
	add := func(name string, d *dataflow.Design) error {
		some, err := synthesize(ctx, d, f)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, x := range some {
			x.Network = name
			all = append(all, x)
		}
		fmt.Fprintf(w, "%s: %s, %d units\n", f.Name, name, len(all))
		return nil
	}
	for _, d := range tables() {
		if name := d.Graph.Name; wanted.MatchString(name) {
			if err := add(name, d); err != nil {
				return err
			}
		}
	}
	for i, name := range networks() {
		if !wanted.MatchString(name) {
			continue
		}
		load := func(ctx context.Context) (*graph.Graph, error) {
			return models.Load(ctx, filepath.Join("testdata", name), compile.Options{})
		}
		g, err := compile.Fused(ctx, load, compile.Options{})
		if err != nil {
			return err
		}
		s, err := dataflow.NewSegment(g)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for k := range draws {
			d := draw(s, rand.New(rand.NewPCG(uint64(i), uint64(k))))
			if d == nil {
				break // its thresholds alone are too large
			}
			if err := add(name, d); err != nil {
				return err
			}
		}
	}
	return replaceLines(store(f), all)
}

// tables are designs of one lookup, for sums of two numbers of half the bits.
func tables() (all []*dataflow.Design) {
	for _, s := range []struct{ lanes, in, out int }{{1, 4, 2}, {4, 4, 3}, {2, 6, 2}, {1, 16, 8}} {
		d := &dataflow.Design{Segment: &dataflow.Segment{Graph: &graph.Graph{Name: "tables"}}}
		d.First = &dataflow.Stream{Name: "x", Bits: s.in, Lanes: s.lanes}
		d.Last = &dataflow.Stream{Name: "y", Bits: s.out, Lanes: s.lanes}
		u := &dataflow.Unit{Module: "lookup", Name: "table", In: []*dataflow.Stream{d.First},
			Out: []*dataflow.Stream{d.Last}, ROMs: []dataflow.ROM{{Suffix: "_t.hex"}}}
		u.Params = []dataflow.Param{{Name: "L", Value: s.lanes}, {Name: "A", Value: s.in}, {Name: "O", Value: s.out},
			{Name: "FILE", Value: u.Name}}
		for at := range 1 << s.in {
			half := s.in / 2
			sum := at>>half + at&(1<<half-1)
			u.ROMs[0].Words = append(u.ROMs[0].Words, dataflow.Word{Width: s.out,
				Fields: []int64{int64(sum << s.out >> (half + 1))}})
		}
		d.Streams, d.Units = []*dataflow.Stream{d.First, d.Last}, []*dataflow.Unit{u}
		all = append(all, d)
	}
	return all
}

// replaceLines writes values as the lines of a file.
func replaceLines[T any](path string, all []T) error {
	var text bytes.Buffer
	if err := figures.WriteLines(&text, all); err != nil {
		return err
	}
	return os.WriteFile(path, text.Bytes(), 0o644)
}

// fit writes the model of a family, of its stored samples.
func fit(ctx context.Context, f fpga.Family, w io.Writer) error {
	version, err := yosys.Version(ctx)
	if err != nil {
		return err
	}
	all, err := figures.ReadLines[sample](store(f))
	if err != nil {
		return err
	}
	m := &fold.Model{Family: f.Name, Tool: "yosys " + version, Date: time.Now().Format(time.DateOnly), Units: len(all)}
	blocks := func(s sample) bool { return s.Used[fpga.RAMKbits] > 0 }
	m.BlockFrom = split(all, func(s sample) (float64, bool, bool) {
		n := fold.Written(s.unit(), f)
		return n, blocks(s), n > 0 && s.Module != "mvu"
	})
	m.TableFrom = split(all, func(s sample) (float64, bool, bool) {
		n := fold.Tabled(s.unit(), f)
		return n, blocks(s), n > 0
	})
	m.ProductFrom = split(all, func(s sample) (float64, bool, bool) {
		u := s.unit()
		return float64(u.Int("XB") + u.Int("WB")), s.Used[fpga.DSPs] > 0, u.Module == "mvu" && u.Int("WB") > 1
	})
	m.LUTs = fitCells(m, all, f, fpga.LUTs, w)
	m.FFs = fitCells(m, all, f, fpga.FFs, w)
	return writeJSON(filepath.Join(fold.Dir, f.Name+".json"), m, "  ")
}

// writeJSON writes a model. The file stays as it was if the model has no JSON.
func writeJSON(path string, model any, indent string) error {
	text, err := json.MarshalIndent(model, "", indent)
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o644)
}

// split is the least value from which on samples are in a class, with the fewest samples that
// disagree: halfway between neighbours, the least value, or above all. of says the value of a
// sample, whether it is in the class, and whether it counts.
func split(all []sample, of func(sample) (value float64, in, counts bool)) float64 {
	const none = math.MaxInt32
	values := map[float64]bool{none: true}
	for _, s := range all {
		if v, _, counts := of(s); counts {
			values[v] = true
		}
	}
	best, fewest, before := 0., math.MaxInt, 0.
	for _, at := range slices.Sorted(maps.Keys(values)) {
		wrong := 0
		for _, s := range all {
			if v, in, counts := of(s); counts && (v >= at) != in {
				wrong++
			}
		}
		if wrong < fewest {
			if best, fewest = at, wrong; at < none && before > 0 {
				best = (before + at) / 2
			}
		}
		before = at
	}
	return best
}

// fitCells finds the cells of a resource for 1 of each term, by module, and prints how far they are
// off.
func fitCells(m *fold.Model, all []sample, f fpga.Family, r fpga.Resource, w io.Writer) map[string]map[string]float64 {
	by := map[string][]sample{}
	for _, s := range all {
		by[s.Module] = append(by[s.Module], s)
	}
	prices := map[string]map[string]float64{}
	for _, module := range slices.Sorted(maps.Keys(by)) {
		names := map[string]bool{}
		for _, s := range by[module] {
			for term := range m.Terms(s.unit(), f) {
				names[term] = true
			}
		}
		terms := slices.Sorted(maps.Keys(names))
		var rows []machine.Sample
		for _, s := range by[module] {
			x := machine.Sample{Cost: float64(max(1, s.Used[r]))}
			x.Weight = math.Sqrt(x.Cost) // a large unit counts more, but not as its size does
			t := m.Terms(s.unit(), f)
			for _, term := range terms {
				x.Counts = append(x.Counts, t[term])
			}
			rows = append(rows, x)
		}
		prices[module] = map[string]float64{}
		for i, p := range machine.Fit(rows) {
			if p > 0 {
				prices[module][terms[i]] = math.Round(p*1e4) / 1e4
			}
		}
		sum, got, off := 0.0, 0.0, 0.0
		for i, s := range by[module] {
			v := 0.0
			for j, term := range terms {
				v += rows[i].Counts[j] * prices[module][term]
			}
			sum, got, off = sum+rows[i].Cost, got+v, off+math.Abs(v-float64(s.Used[r]))
		}
		fmt.Fprintf(w, "%s %s %s: %d units, %.0f cells, estimated %.0f, off by %.1f %%\n", f.Name, module,
			strings.ToUpper(string(r)), len(rows), sum, got, 100*off/sum)
	}
	return prices
}
