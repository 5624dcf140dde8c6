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

	"ripc/internal/stop"
	"ripc/measure"
	"ripc/runtime/npy"
)

// readers lists the engines that read files with an extension.
func readers(extension string) []Entry {
	return map[string][]Entry{
		".onnx": {{Engine: "onnxruntime", Env: "onnx", Worker: "onnxruntime"},
			{Engine: "onnxruntime, quantized by itself", Env: "onnx", Worker: "onnxruntime_int8"},
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
	var tables [][]compared
	for _, model := range b.own {
		for _, threads := range b.threads {
			fmt.Fprintf(out, "%s, threads: %d\n\n", model, threads)
			all, err := b.compareOn(ctx, model, threads)
			if unfit := (*unfitError)(nil); errors.As(err, &unfit) && len(b.own) > 1 {
				fmt.Fprintf(out, "%v\n\n", err)
				tables = append(tables, []compared{{engine: "ripc", why: oneLine(unfit.why)}})
				break
			}
			if err == nil {
				err = printCompared(out, all, labels)
			}
			if err != nil {
				return err
			}
			fmt.Fprintln(out)
			for i, c := range all {
				all[i].why = strings.ReplaceAll(c.why, model, "the file")
			}
			tables = append(tables, all)
		}
	}
	if len(b.own) > 1 {
		printSummary(out, tables)
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
	defer stop.Catch(&err)
	scratch := stop.Must(os.MkdirTemp("", "ripc-compare-"))
	defer os.RemoveAll(scratch)
	var ws []*worker
	defer func() {
		for _, w := range ws {
			err = errors.Join(err, w.stop())
		}
	}()
	var of []int // the line of each worker
	inputs := b.inputs
	for i, e := range append([]Entry{{Engine: "ripc"}}, readers(filepath.Ext(model))...) {
		e.Model, e.Own = model, true
		all = append(all, compared{engine: e.Engine})
		if why, lacks := b.lacking[e.Env]; lacks {
			all[i].why = why
			continue
		}
		command := b.command(e, threads)
		if e.Env != "" {
			command = append(command, inputs...)
		}
		w, err := start(ctx, e, command, threads)
		if err == nil {
			if len(inputs) == 0 {
				inputs = stop.Must(w.pictures(scratch))
			}
			if all[i].rows, err = w.answersFor(inputs, filepath.Join(scratch, "outputs.npy")); err != nil {
				err = errors.Join(err, w.stop())
			}
		}
		if unfit := (*unfitError)(nil); errors.As(err, &unfit) && e.Env != "" {
			all[i].why = oneLine(unfit.why)
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Engine, err)
		}
		ws, of = append(ws, w), append(of, i)
		name, _, _ := strings.Cut(e.Engine, ",")
		all[i].version = w.Version + strings.TrimPrefix(e.Engine, name)
		stop.Check(w.hold())
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

// answersFor returns a row of outputs for each input.
func (w *worker) answersFor(inputs []string, scratch string) (_ [][]float64, err error) {
	defer stop.Catch(&err)
	if len(inputs) != len(w.Inputs) {
		return nil, &unfitError{fmt.Sprintf("it has %d inputs, and %d are given; a state is an input of ripc's",
			len(w.Inputs), len(inputs))}
	}
	a := stop.Must(w.outputs(inputs, scratch))
	numbers := stop.Must(a.Float64s())
	return slices.Collect(slices.Chunk(numbers, len(numbers)/a.Shape[0])), nil
}

// printCompared prints a line for each engine. Differences are from ripc's outputs.
func printCompared(out io.Writer, all []compared, labels []float64) (err error) {
	defer stop.Catch(&err)
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(t, "engine\tmedian ms\tmin ms\tworst difference\tsame class")
	if labels != nil {
		fmt.Fprint(t, "\tright")
	}
	fmt.Fprintln(t)
	own := all[0].rows
	var whys []string
	for _, c := range all {
		if c.why != "" { // below the table, where it moves no column
			whys = append(whys, fmt.Sprintf("%s did not run: %s\n", c.engine, c.why))
			continue
		}
		fmt.Fprintf(t, "%s\t%.4g\t%.4g", cmp.Or(c.version, c.engine), c.values["median_ms"], c.values["min_ms"])
		g, err := compareRows(own, c.rows)
		if err != nil {
			fmt.Fprintln(t)
			whys = append(whys, fmt.Sprintf("%s differs: %v\n", c.engine, err))
			continue
		}
		fmt.Fprintf(t, "\t%.3g\t%d of %d", g.worst, g.same, len(own))
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
	stop.Check(t.Flush())
	if len(all) == 1 {
		whys = append(whys, "no other engine here reads such files\n")
	}
	_, err = io.WriteString(out, strings.Join(whys, ""))
	return err
}

// printSummary prints, for each engine, how many tables it ran in, in how many with ripc's outputs,
// and why not in the others.
func printSummary(out io.Writer, tables [][]compared) {
	files, ran, agreed, whys := map[string]int{}, map[string]int{}, map[string]int{}, map[string]map[string]int{}
	for _, all := range tables {
		for _, c := range all {
			if files[c.engine]++; c.why == "" {
				ran[c.engine]++
				if a, err := compareRows(all[0].rows, c.rows); err == nil && a.close() {
					agreed[c.engine]++
				}
				continue
			}
			if whys[c.engine] == nil {
				whys[c.engine] = map[string]int{}
			}
			whys[c.engine][c.why]++
		}
	}
	for _, engine := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintf(out, "%s ran %d of %d, %d with ripc's outputs but for roundings\n", engine, ran[engine],
			files[engine], agreed[engine])
		for _, why := range slices.Sorted(maps.Keys(whys[engine])) {
			fmt.Fprintf(out, "  not %d: %s\n", whys[engine][why], why)
		}
	}
}

// agreement compares rows of outputs.
type agreement struct {
	worst, largest float64 // difference, and finite magnitude of the first rows
	same           int     // rows with the same largest element
}

// close reports whether outputs differ by no more than sums of floats do that are added in another
// order.
func (a agreement) close() bool { return a.worst <= 1e-3*a.largest }

// compareRows compares rows a and b. NaN agrees with NaN, and infinity with infinity.
func compareRows(a, b [][]float64) (g agreement, _ error) {
	if len(a) != len(b) {
		return g, fmt.Errorf("it gives %d outputs, not %d", len(b), len(a))
	}
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return g, fmt.Errorf("an output has %d numbers, not %d", len(b[i]), len(a[i]))
		}
		for k, x := range a[i] {
			if y := b[i][k]; x != y && !(math.IsNaN(x) && math.IsNaN(y)) {
				g.worst = max(g.worst, math.Abs(x-y))
			}
			if !math.IsNaN(x) && !math.IsInf(x, 0) {
				g.largest = max(g.largest, math.Abs(x))
			}
		}
		if slices.Index(a[i], slices.Max(a[i])) == slices.Index(b[i], slices.Max(b[i])) {
			g.same++
		}
	}
	return g, nil
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
