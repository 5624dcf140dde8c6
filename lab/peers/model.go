package peers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"ripc/measure"
	"ripc/runtime/npy"
)

// readers lists the engines that read files with an extension.
func readers(extension string) []Entry {
	return map[string][]Entry{
		".onnx": {{Engine: "onnxruntime, fp32", Env: "onnx", Worker: "onnxruntime"},
			{Engine: "onnxruntime, int8", Env: "onnx", Worker: "onnxruntime_int8"},
			{Engine: "TVM, not tuned", Env: "tvm", Worker: "tvm_onnx"}},
		".tflite": {{Engine: "LiteRT", Env: "onnx", Worker: "litert"},
			{Engine: "Larq Compute Engine", Env: "larq", Worker: "larq"}},
	}[extension]
}

// compared is an engine's line of the table.
type compared struct {
	engine  string
	version string // engine with its version, once it runs
	why     string // it did not run; "" if it did
	values  map[string]float64
	rows    [][]float64 // the first output for each input
}

// compareModels times each model file by ripc and by the engines that read it, in turns, and
// compares their outputs. Of several files, those that ripc cannot read are named.
func (b *bench) compareModels(ctx context.Context, out io.Writer) error {
	labels, err := b.readLabels()
	if err != nil {
		return err
	}
	var runs []compared
	for _, model := range b.own {
		for _, threads := range b.threads {
			fmt.Fprintf(out, "%s, threads: %d\n\n", model, threads)
			all, err := b.compareOn(ctx, model, threads)
			if unfit := (*unfitError)(nil); errors.As(err, &unfit) && len(b.own) > 1 {
				fmt.Fprintf(out, "%v\n\n", err)
				runs = append(runs, compared{engine: "ripc", why: oneLine(unfit.why)})
				break
			}
			if err == nil {
				err = printCompared(out, all, labels)
				for _, c := range all {
					c.why = strings.ReplaceAll(c.why, model, "the file")
					runs = append(runs, c)
				}
			}
			if err != nil {
				return err
			}
			fmt.Fprintln(out)
		}
	}
	if len(b.own) > 1 {
		printReasons(out, runs)
	}
	if load := measure.Load(); load > 1 {
		fmt.Fprintf(out, "The machine was busy (load %.1f): times say little.\n", load)
	}
	return nil
}

// readLabels returns the classes of the inputs, nil if none are given.
func (b *bench) readLabels() ([]float64, error) {
	if b.labels == "" {
		return nil, nil
	}
	if len(b.inputs) == 0 {
		return nil, errors.New("--labels are of --inputs, and there are none")
	}
	a, err := npy.ReadFile(b.labels)
	if err != nil {
		return nil, err
	}
	return a.Float64s()
}

// compareOn measures a model with a number of threads; ripc comes first.
func (b *bench) compareOn(ctx context.Context, model string, threads int) (all []compared, err error) {
	scratch, err := os.MkdirTemp("", "ripc-compare-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(scratch)
	var ws []*worker
	defer func() {
		for _, w := range ws {
			err = errors.Join(err, w.stop())
		}
	}()
	var of []int // the line of each worker
	for i, e := range append([]Entry{{Engine: "ripc"}}, readers(filepath.Ext(model))...) {
		e.Model, e.Own = model, true
		all = append(all, compared{engine: e.Engine})
		if why, lacks := b.lacking[e.Env]; lacks {
			all[i].why = why
			continue
		}
		command := b.command(e, threads)
		if e.Env != "" {
			command = append(command, b.inputs...)
		}
		w, err := start(ctx, e, command, threads)
		if unfit := (*unfitError)(nil); errors.As(err, &unfit) {
			if e.Env == "" {
				return nil, fmt.Errorf("ripc: %w", err)
			}
			all[i].why = oneLine(unfit.why)
			continue
		}
		if err != nil {
			return nil, err
		}
		ws, of = append(ws, w), append(of, i)
		name, _, _ := strings.Cut(e.Engine, ",")
		all[i].version = w.Version + strings.TrimPrefix(e.Engine, name)
		if all[i].rows, err = w.answersFor(b.inputs, filepath.Join(scratch, "outputs.npy")); err != nil {
			return nil, fmt.Errorf("%s: %w", e.Engine, err)
		}
		if err := w.hold(); err != nil {
			return nil, err
		}
	}
	for range b.turns {
		for _, w := range ws {
			if err := errors.Join(ctx.Err(), w.turn(b.time)); err != nil {
				return nil, fmt.Errorf("%s: %w", w.entry.Engine, err)
			}
		}
	}
	for i, w := range ws {
		all[of[i]].values = w.values()
	}
	return all, nil
}

// answersFor returns a row of outputs for each input; without inputs the sample of the greeting.
func (w *worker) answersFor(inputs []string, scratch string) ([][]float64, error) {
	if len(inputs) == 0 {
		return [][]float64{w.Sample}, nil
	}
	a, err := w.outputs(inputs, scratch)
	if err != nil {
		return nil, err
	}
	numbers, err := a.Float64s()
	if err != nil {
		return nil, err
	}
	return slices.Collect(slices.Chunk(numbers, len(numbers)/a.Shape[0])), nil
}

// printCompared prints a line for each engine. Differences are from ripc's outputs.
func printCompared(out io.Writer, all []compared, labels []float64) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "engine\tmedian ms\tmin ms\tworst difference\tsame class")
	if labels != nil {
		fmt.Fprint(t, "\tright")
	}
	fmt.Fprintln(t)
	own := all[0].rows
	for _, c := range all {
		if c.why != "" {
			fmt.Fprintf(t, "%s\t-\t%s\n", c.engine, c.why)
			continue
		}
		fmt.Fprintf(t, "%s\t%.4g\t%.4g", cmp.Or(c.version, c.engine), c.values["median_ms"], c.values["min_ms"])
		worst, same, err := compareRows(own, c.rows)
		if err != nil {
			return fmt.Errorf("%s: %w", c.engine, err)
		}
		fmt.Fprintf(t, "\t%.3g\t%d of %d", worst, same, len(own))
		if labels != nil {
			if len(labels) != len(c.rows) {
				return fmt.Errorf("there are %d labels and %d inputs", len(labels), len(c.rows))
			}
			right := 0
			for i, row := range c.rows {
				if float64(slices.Index(row, slices.Max(row))) == labels[i] {
					right++
				}
			}
			fmt.Fprintf(t, "\t%d of %d", right, len(labels))
		}
		fmt.Fprintln(t)
	}
	return t.Flush()
}

// printReasons prints, for each engine, how many files it ran, and why not the others.
func printReasons(out io.Writer, runs []compared) {
	files, ran, whys := map[string]int{}, map[string]int{}, map[string]map[string]int{}
	for _, c := range runs {
		if files[c.engine]++; c.why == "" {
			ran[c.engine]++
			continue
		}
		if whys[c.engine] == nil {
			whys[c.engine] = map[string]int{}
		}
		whys[c.engine][c.why]++
	}
	for _, engine := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(out, "%s ran %d of %d\n", engine, ran[engine], files[engine])
		for _, why := range slices.Sorted(maps.Keys(whys[engine])) {
			fmt.Fprintf(out, "  not %d: %s\n", whys[engine][why], why)
		}
	}
}

// compareRows returns the largest difference of rows a and b, and the number of rows with the same
// largest element.
func compareRows(a, b [][]float64) (worst float64, same int, err error) {
	if len(a) != len(b) {
		return 0, 0, fmt.Errorf("it gives %d outputs, ripc %d", len(b), len(a))
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return 0, 0, fmt.Errorf("an output has %d numbers, ripc's %d", len(b[i]), len(a[i]))
		}
		for k := range a[i] {
			worst = max(worst, math.Abs(a[i][k]-b[i][k]))
		}
		if slices.Index(a[i], slices.Max(a[i])) == slices.Index(b[i], slices.Max(b[i])) {
			same++
		}
	}
	return worst, same, nil
}

// setUpReaders installs the engines that read the models, without the models of the other subjects.
func (b *bench) setUpReaders(ctx context.Context) error {
	b.lacking = map[string]string{}
	var all []Entry
	for _, model := range b.own {
		all = append(all, readers(filepath.Ext(model))...)
	}
	for _, e := range all {
		if _, done := b.lacking[e.Env]; done || slices.Contains(b.engines, e.Env) {
			continue
		}
		cmd := exec.CommandContext(ctx, "scripts/setup-peers.sh", "--only", e.Env, b.dir)
		cmd.Stderr = os.Stderr
		text, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("scripts/setup-peers.sh: %w", err)
		}
		b.engines = append(b.engines, e.Env)
		if _, why, lacks := strings.Cut(string(text), "lacking "+e.Env+": "); lacks {
			b.lacking[e.Env] = strings.TrimSpace(why)
		}
	}
	return nil
}
