package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/measure/provenance"
	"ripc/schedule/cost/measured"
	"ripc/schedule/strategy"
	"ripc/targets"
)

// shape is a layer of the report, and what it costs.
type shape struct {
	Channels  int     `json:"channels"`
	Kernel    int     `json:"kernel"`
	Stride    int     `json:"stride"`
	Algorithm string  `json:"algorithm,omitempty"`
	Strategy  string  `json:"strategy,omitempty"`
	Word      int     `json:"word,omitempty"` // bits of the words whose bits are counted, 0 of other algorithms
	Cycles    float64 `json:"cycles,omitempty"`
	provenance.Mark
}

// same reports whether s and o are one shape.
func (s shape) same(o shape) bool {
	return s.Channels == o.Channels && s.Kernel == o.Kernel && s.Stride == o.Stride
}

func (s shape) String() string {
	return fmt.Sprintf("%dx%d, stride %d, %d channels", s.Kernel, s.Kernel, s.Stride, s.Channels)
}

// aligned is s with channels that fill words: itself, if they do.
func (s shape) aligned() shape {
	return shape{Channels: layout.Words(s.Channels) * layout.WordBits, Kernel: s.Kernel, Stride: s.Stride}
}

// fills reports whether s's channels fill words, or are the first to fill one or two of half a word or a quarter: what others are compared with,
// or what says what is no sum of them.
func (s shape) fills() bool { return s.same(s.aligned()) || s.Channels == 8 || s.Channels == 16 }

// report is what was measured of shapes on a target: layers of Size x Size pixels, Filters filters and Bits bits, one thread.
type report struct {
	Target  string  `json:"target"`
	Size    int     `json:"size"`
	Filters int     `json:"filters"`
	Bits    int     `json:"bits"`
	Call    float64 `json:"call,omitempty"` // cycles of a call that runs no stage, which are part of each shape's; 0 where cycles are estimated
	Shapes  []shape `json:"shapes"`
}

// find is the shape that is the same as s.
func (r report) find(s shape) (shape, bool) {
	i := slices.IndexFunc(r.Shapes, s.same)
	if i < 0 {
		return s, false
	}
	return r.Shapes[i], true
}

// cycles are those of s itself, without the call.
func (r report) cycles(s shape) float64 { return max(1, s.Cycles-r.Call) }

// rate is proportional to the MACs a cycle of shapes of one kernel and one stride.
func (r report) rate(s shape) float64 { return float64(s.Channels) / r.cycles(s) }

// allShapes are those that the report is about, the aligned ones first, since others are compared with them.
func allShapes() []shape {
	var all []shape
	for _, kernel := range []int{1, 3, 5} {
		for _, stride := range []int{1, 2} {
			for c := 1; c <= 130; c++ {
				all = append(all, shape{Channels: c, Kernel: kernel, Stride: stride})
			}
			for _, c := range []int{160, 192, 256} {
				all = append(all, shape{Channels: c, Kernel: kernel, Stride: stride})
			}
		}
	}
	var words, parts, others []shape
	for _, s := range all {
		switch {
		case s.same(s.aligned()):
			words = append(words, s)
		case s.fills():
			parts = append(parts, s)
		default:
			others = append(others, s)
		}
	}
	return slices.Concat(words, parts, others)
}

// shapesDir is where reports are kept, from the module's root.
const shapesDir = "docs/shapes"

// measureShapes measures the report's shapes on a target, and writes what there is of the report whenever it ends.
func measureShapes(ctx context.Context, args []string) (err error) {
	var target string
	var sample, size, filters, bits, rounds int
	var again, pages bool
	var within time.Duration
	if _, err := flags("shapes", func(f *flag.FlagSet) {
		f.StringVar(&target, "target", targets.HostName, "target")
		f.IntVar(&sample, "sample", 0, "measure so many of the shapes, beside those that fill words")
		f.DurationVar(&within, "within", 0, "stop after so long, with a sample of the shapes; 0: measure all")
		f.IntVar(&size, "size", 28, "rows and columns of the input")
		f.IntVar(&filters, "filters", 64, "filters")
		f.IntVar(&bits, "bits", 1, "bits of the input and of the output")
		f.IntVar(&rounds, "rounds", 3, "how often a shape that seems slow is measured")
		f.BoolVar(&again, "anew", false, "measure shapes that are in the report")
		f.BoolVar(&pages, "pages", false, "do not measure, write the page from what is kept")
	}, args); err != nil || pages {
		return errors.Join(err, writeShapesPage())
	}
	t, err := targets.Lookup(target)
	if err != nil {
		return err
	}
	file := filepath.Join(shapesDir, target+".json")
	r := report{Target: target, Size: size, Filters: filters, Bits: bits}
	if old, err := readReport(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	} else if err == nil && !again && old.Size == size && old.Filters == filters && old.Bits == bits {
		r = old
	}
	if within > 0 && sample == 0 {
		sample = len(allShapes())
	}
	if t.Native() {
		if r.Call, err = callCycles(ctx, t); err != nil {
			return err
		}
	}
	until := time.Now().Add(within)
	var todo []shape
	for _, s := range sampled(sample) {
		if _, ok := r.find(s); !ok {
			todo = append(todo, s)
		}
	}
	defer func() { err = errors.Join(err, writeReport(file, r), writeShapesPage()) }()
	for i, s := range todo {
		if within > 0 && time.Now().After(until) {
			fmt.Fprintf(os.Stderr, "%d of %d shapes were measured in %v\n", i, len(todo), within)
			return nil
		}
		s, err := r.measure(ctx, s, t, rounds)
		switch {
		case ctx.Err() != nil:
			return fmt.Errorf("stopped: %d of %d shapes are kept", i, len(todo))
		case err != nil:
			return fmt.Errorf("%s: %w", s, err)
		}
		r.Shapes = append(r.Shapes, s)
		fmt.Fprintf(os.Stderr, "%d of %d: %s: %.0f cycles, %s, %s%s\n", i+1, len(todo), s, s.Cycles, s.Algorithm, s.Strategy, r.slow(s))
	}
	return nil
}

// sampled are n of the shapes and all that fill words, or all of them if n is 0.
func sampled(n int) []shape {
	all := allShapes()
	if n == 0 {
		return all
	}
	words := slices.IndexFunc(all, func(s shape) bool { return !s.fills() })
	others := all[words:]
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(others), func(i, j int) { others[i], others[j] = others[j], others[i] })
	return all[:words+min(n, len(others))]
}

// slowerBy is by how much a shape has fewer MACs a cycle than the next one that fills words; 0 where that was not measured.
func (r report) slowerBy(s shape) float64 {
	a, ok := r.find(s.aligned())
	if !ok {
		return 0
	}
	return r.rate(a) / r.rate(s)
}

// floor are the cycles of a layer of s's kernel and stride that are no sums (thresholds, the copy of the input, loops): by how much a layer
// whose channels fill one word of s's algorithm takes longer than half of one with two; 0 where these were not measured, or have other words.
func (r report) floor(s shape) float64 {
	one, ok := r.find(shape{Channels: s.Word, Kernel: s.Kernel, Stride: s.Stride})
	two, ok2 := r.find(shape{Channels: 2 * s.Word, Kernel: s.Kernel, Stride: s.Stride})
	if s.Word == 0 || !ok || !ok2 || one.Word != s.Word || two.Word != s.Word {
		return 0
	}
	return max(0, 2*r.cycles(one)-r.cycles(two))
}

// atBest is slowerBy of a layer like s whose sums took no time.
func (r report) atBest(s shape) float64 {
	floor := r.floor(s)
	if a, ok := r.find(s.aligned()); ok && floor > 0 {
		s.Cycles = floor + r.Call
		return r.rate(a) / r.rate(s)
	}
	return 0
}

// tooSlow is what the report lists.
const tooSlow = 2

// slow says that s is slower than tooSlow.
func (r report) slow(s shape) string {
	if by := r.slowerBy(s); by > tooSlow {
		return fmt.Sprintf(": %.1f times slower than %d channels", by, s.aligned().Channels)
	}
	return ""
}

// measure measures a shape; on this machine, where other programs make it slow at times, once more if it seems slow.
func (r report) measure(ctx context.Context, s shape, t targets.Target, rounds int) (shape, error) {
	l := measured.Layer{Rows: r.Size, Cols: r.Size, In: s.Channels, Out: r.Filters, Kernel: s.Kernel, Activations: r.Bits, Weights: 1}
	a, x := l.Conv()
	a.SH, a.SW = s.Stride, s.Stride
	by := layout.Choose(a, &x, t, false).Algorithm
	conv := layout.NewConv(a, x, t, by)
	if k, ok := conv.Accumulation.(*layout.Counts); ok {
		s.Word = k.Counted.Bits
	}
	f, _ := ops.Conv(conv, ops.Slice{})
	choice, err := strategy.Default(f, t)
	if err != nil {
		return s, err
	}
	s.Algorithm, s.Strategy = by.String(), choice.Strategy
	machine := ""
	for range max(1, rounds) {
		var c float64
		if c, machine, err = cycles(ctx, f, choice.Trace, t); err != nil {
			return s, err
		}
		if s.Cycles == 0 || c < s.Cycles {
			s.Cycles = c
		}
		if !t.Native() || !s.same(s.aligned()) && r.slowerBy(s) <= tooSlow {
			break
		}
	}
	s.Mark = provenance.Now().On(strings.TrimSuffix(machine, ", one thread")) // the page says it of all
	return s, nil
}

func readReport(file string) (report, error) {
	var r report
	data, err := os.ReadFile(file)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	return r, nil
}

// writeReport keeps a report: a line for each shape.
func writeReport(file string, r report) error {
	if len(r.Shapes) == 0 {
		return nil
	}
	slices.SortFunc(r.Shapes, func(a, b shape) int {
		return slices.Compare([]int{a.Kernel, a.Stride, a.Channels}, []int{b.Kernel, b.Stride, b.Channels})
	})
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	text, err := r.text()
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o644)
}
