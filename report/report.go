// Package report makes a page about a network: one HTML file without scripts, which makes no
// network requests.
package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"
	"strings"

	"ripc"
	"ripc/internal/files"
	"ripc/internal/human"
	"ripc/internal/svg"
	"ripc/internal/tensorio"
	"ripc/measure"
	"ripc/runtime"
)

//go:embed page.html
var pageHTML string

// Write writes the page for r. All figures on it are those of r, which the page also carries as
// JSON.
func Write(w io.Writer, r *ripc.ReportResult) error {
	p, err := newPage(r)
	if err != nil {
		return err
	}
	return execute(w, "page", p)
}

// execute writes a template's page for data.
func execute(w io.Writer, name string, data any) error {
	t := template.New("").Funcs(template.FuncMap{
		"number": func(i int) int { return i + 1 }, // of note i
		"slot":   func(n int) int { return n - 1 }, // of note number n
	})
	for name, text := range map[string]string{"page": pageHTML, "accelerator": acceleratorHTML, "arena.svg": arenaSVG} {
		if _, err := t.New(name).Parse(text); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	var out bytes.Buffer
	if err := t.ExecuteTemplate(&out, name, data); err != nil {
		return err
	}
	if err := svg.Finite(out.Bytes()); err != nil {
		return err
	}
	_, err := w.Write(out.Bytes())
	return err
}

// Read reads the figures of a page that Write wrote, or of the same as JSON.
func Read(path string) (*ripc.ReportResult, error) {
	text, err := files.ReadText(path)
	if err != nil {
		return nil, &FileError{Path: path, Err: files.Cause(err)}
	}
	if _, rest, ok := bytes.Cut(text, []byte(`<script type="application/json" id="data">`)); ok {
		text, _, _ = bytes.Cut(rest, []byte("</script>"))
	}
	r := &ripc.ReportResult{}
	if err := json.Unmarshal(text, r); err != nil || r.Inspection == nil || r.Bench == nil {
		return nil, &FileError{Path: path}
	}
	return r, nil
}

// FileError says that a file holds no report.
type FileError struct {
	Path string
	Err  error // why it cannot be read, nil if it can
}

func (e *FileError) Error() string {
	if e.Err != nil {
		return fmt.Sprintf("%s: cannot open: %v", e.Path, e.Err)
	}
	return e.Path + ": no page of a report, nor its JSON: ripc report writes both"
}

func (e *FileError) Unwrap() error { return e.Err }

// BadInput reports that the input is at fault.
func (*FileError) BadInput() bool { return true }

// page is the template's input.
type page struct {
	*ripc.ReportResult
	Inputs, Outputs []string
	What            string // that costs are in, for people
	Source          string // where they are from
	Tiles           []tile
	Rows            []row
	Notes           human.Footnotes
	Rails           rails
	Graph           graph
	Bars            bars
	Roof            *roof // nil without MACs per cycle
	Arena           arena
	Advice          []advice
	Changes         []changed // since an earlier report
	Kinds           []kind
	JSON            template.JS
}

// tile is a figure that stands out.
type tile struct{ Value, Label string }

// row is a stage in the table.
type row struct {
	Name, Label, Op, Became, Kind, Output, MACs, MACShare, Cost, Share, Twin, Ratio, PerCycle, Weights, Float string

	Launches, Moved string // of a device
	Notes           []int  // numbers of the notes
}

// nameLength is the number of characters of a name that the page shows. The full name is the title
// of the element.
const nameLength = 40

// integer is the class of layers of levels with 8-bit weights.
const integer = "integer"

// advice is a change that would make the network faster.
type advice struct{ Change, Layers, MACs, Time string }

// changed is a figure of an earlier report and of this one.
type changed struct{ Name, Old, New, Ratio string }

// changes lists the figures that are not the same in both reports, the whole network first.
func changes(c *ripc.ReportComparison, u unit) (list []changed) {
	if c == nil {
		return nil
	}
	add := func(v ripc.CostChange, text func(float64) string) {
		list = append(list, changed{v.Name, text(v.Old), text(v.New), fmt.Sprintf("%.2f", v.Ratio)})
	}
	whole := c.Bench.Network
	whole.Name = "whole network, " + string(c.Bench.Unit)
	add(whole, u.text)
	for _, v := range c.Sizes {
		add(v, func(n float64) string { return human.Bytes(int64(n)) })
	}
	for _, v := range c.Bench.Layers {
		if v.Old != v.New {
			add(v, u.text)
		}
	}
	return list
}

// kind is a colour of the legend.
type kind struct{ Kind, Text string }

// unit is the unit of costs, and their format.
type unit struct {
	measure.Unit
	perMAC   func(ripc.Figures) *float64
	decimals int
	cost     string // the heading of a column
	perName  string
	// less, same and more compare a network with one of higher, equal and lower cost.
	less, same, more string
}

// comparison compares a network with its float twin by their costs.
func (u unit) comparison(own, twin float64) tile {
	value, word := formatTimes(twin/own), u.less
	switch {
	case value == formatTimes(1):
		word = u.same
	case own > twin:
		value, word = formatTimes(own/twin), u.more
		if value == formatTimes(1) {
			word = u.same
		}
	}
	return tile{value, word + " its float twin (" + u.text(twin) + ")"}
}

// unitOf is the unit of a network's own cost.
func unitOf(b *ripc.BenchResult) unit {
	switch _, u := b.Cost(); u {
	case measure.Milliseconds:
		return unit{u, func(f ripc.Figures) *float64 { return f.MACsPerCycle }, 4, "Time, ms", "MACs/cycle",
			"faster than", "as fast as", "slower than"}
	case measure.EstimatedCycles:
		return unit{u, func(f ripc.Figures) *float64 { return f.MACsPerEstimatedCycle }, 0, "Estimated cycles",
			"MACs/est. cycle", "fewer cycles than", "as many cycles as", "more cycles than"}
	}
	return unit{measure.Instructions, func(ripc.Figures) *float64 { return nil }, 0, "Instructions", "",
		"fewer instructions than", "as many instructions as", "more instructions than"}
}

// costOf returns the cost of f if it is in this unit.
func (u unit) costOf(f ripc.Figures) (cost float64, ok bool) {
	cost, unit := f.Cost()
	return cost, unit == u.Unit
}

func (u unit) text(cost float64) string {
	if u.decimals == 0 {
		return human.Grouped(int64(math.Round(cost)))
	}
	return fmt.Sprintf("%.*f", u.decimals, cost)
}

func newPage(r *ripc.ReportResult) (*page, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	in, u := r.Inspection, unitOf(r.Bench)
	p := &page{ReportResult: r, What: u.cost, JSON: template.JS(data), Kinds: []kind{
		{"binary", "bitserial: sums of few-bit integers"}, {integer, "integer: weights of 8 bits"},
		{"bits", "levels, packed or moved"}, {"glue", "glue on f32"}, {"float", "float: sums of f32"}}}
	switch {
	case r.Bench.Launches > 0:
		p.Source = "measured on the device, fastest of " + human.Count(r.Bench.Runs, "run")
	case !r.Bench.Simulated:
		p.Source = fmt.Sprintf("measured on %s, fastest of %s, threads: %d", r.CPU,
			human.Count(r.Bench.Runs, "run"), r.Bench.Threads)
	case r.Bench.Estimate != nil:
		p.Source = "simulated: estimated by LLVM’s model of " + r.CPU + ", without caches"
		if manual := r.Bench.Estimate.Manual; manual != "" {
			p.Source = "simulated: estimated by the table of " + manual + ", without wait states"
		}
		if mhz := r.Bench.Estimate.ClockMHz; mhz > 0 {
			p.Source += fmt.Sprintf("; ms at %d MHz", mhz)
		}
	default:
		p.Source = "simulated: instructions executed, which say little about time"
	}
	for _, t := range in.Inputs {
		p.Inputs = append(p.Inputs, tensorText(t))
	}
	for _, t := range in.Outputs {
		p.Outputs = append(p.Outputs, tensorText(t))
	}
	share, twin := map[string]float64{}, map[string]float64{} // by stage: of all cost, and the float twin's cost
	for _, l := range r.Bench.Layers {
		if l.Share != nil {
			share[l.Name] += *l.Share
		}
	}
	if r.Twin != nil {
		for _, l := range r.Twin.Bench.Layers {
			if v, ok := u.costOf(l.Figures); ok {
				twin[l.Name] += v
			}
		}
	}
	parts := map[string]float64{} // cost of layers in parts, by layer
	for i, l := range in.Layers {
		if l.Part != "" && i < len(r.Bench.Layers) {
			v, _ := u.costOf(r.Bench.Layers[i].Figures)
			parts[l.Part] += v
		}
	}
	labels := labelsOf(in.Layers, func(l ripc.Layer) string { return l.Name })
	for i, l := range in.Layers {
		x := row{Name: l.Name, Label: labels[i], Op: l.Op, Became: l.Became, Kind: kindOf(l),
			Weights: bytesText(l.WeightBytes)}
		if len(l.Writes) > 0 {
			x.Output = shapeText(l.Writes[0])
		}
		if l.MACs > 0 {
			x.MACs, x.MACShare, x.Float = human.Grouped(l.MACs), formatPercent(l.Share), bytesText(l.FloatBytes)
		}
		if l.Reason != nil {
			x.Notes = append(x.Notes, p.Notes.Refer(l.Reason.Text))
		}
		if l.Note != "" { // quoted, as it is the model's own text
			x.Notes = append(x.Notes, p.Notes.Refer(fmt.Sprintf("note %q", l.Note)))
		}
		if i < len(r.Bench.Layers) {
			b := r.Bench.Layers[i]
			if r.Bench.Launches > 0 {
				x.Launches, x.Moved = fmt.Sprint(len(b.Launches)), bytesText(movedBytes(l))
			}
			if v, ok := u.costOf(b.Figures); ok {
				x.Cost = u.text(v)
				if t, ok := twin[l.Name]; ok && l.MACs > 0 && v > 0 {
					// of a layer in parts, all together
					x.Twin, x.Ratio = u.text(t), formatTimes(t/max(v, parts[l.Part]))
				}
			}
			if b.Share != nil {
				x.Share = formatPercent(*b.Share)
			}
			if v := u.perMAC(b.Figures); v != nil {
				x.PerCycle = human.Rate(*v)
			}
		}
		p.Rows = append(p.Rows, x)
	}
	costs, texts := make([]float64, len(in.Layers)), make([]string, len(in.Layers))
	for i := range in.Layers {
		texts[i] = p.Rows[i].Became
		if i < len(r.Bench.Layers) {
			costs[i], _ = u.costOf(r.Bench.Layers[i].Figures)
		}
		if s := p.Rows[i].Share; s != "" {
			texts[i] += " · " + s
		}
	}
	p.Graph = newGraph(in.Layers, costs, texts)
	p.Tiles, p.Changes = tiles(r, u), changes(r.Against, u)
	p.Rails, p.Bars, p.Arena = newRails(in.Layers), newBars(r, u, twin), newArena(in.Memory, pageWidth-arenaLeft-20)
	p.Roof = newRoof(r, u)
	for _, a := range in.Advice {
		spent := 0.0
		for _, name := range a.Layers {
			spent += share[name]
		}
		text := advice{Change: a.Change, Layers: strings.Join(a.Layers, ", "), MACs: formatPercent(a.Share)}
		if len(share) > 0 {
			text.Time = formatPercent(spent)
		}
		p.Advice = append(p.Advice, text)
	}
	return p, nil
}

// tiles are the figures of the whole network.
func tiles(r *ripc.ReportResult, u unit) []tile {
	in := r.Inspection
	var list []tile
	cost, known := u.costOf(r.Bench.Figures)
	if known {
		list = append(list, tile{u.text(cost), string(u.Unit)})
		if ms := r.Bench.EstimatedMS; ms != nil {
			left := "caches"
			if r.Bench.Estimate.Manual != "" {
				left = "wait states"
			}
			list = append(list, tile{fmt.Sprintf("%.3g ms", *ms),
				fmt.Sprintf("at %d MHz, %s not counted", r.Bench.Estimate.ClockMHz, left)})
		}
	}
	if r.Twin != nil && known && cost > 0 {
		if t, ok := u.costOf(r.Twin.Bench.Figures); ok {
			list = append(list, u.comparison(cost, t))
		}
	}
	if v := u.perMAC(r.Bench.Figures); v != nil {
		list = append(list, tile{human.Rate(*v), u.perName})
	}
	if in.MACs > 0 {
		list = append(list, tile{formatPercent(float64(in.BinaryMACs) / float64(in.MACs)),
			"of " + human.Grouped(in.MACs) + " MACs are bitserial"})
		if in.IntegerMACs > 0 {
			list = append(list, tile{formatPercent(float64(in.IntegerMACs) / float64(in.MACs)),
				"of them are integer, with weights of 8 bits"})
		}
	}
	weights, memory := "weights and tables; "+bytesText(in.FloatBytes)+" as floats", in.Workspace.String()
	if r.Twin != nil {
		memory += "; float twin: " + human.Bytes(r.Twin.WorkspaceBytes)
	}
	list = append(list, tile{bytesText(in.WeightBytes), weights}, tile{human.Bytes(in.WorkspaceBytes), memory})
	if r.Bench.Launches > 0 {
		moved := int64(0)
		for _, l := range in.Layers {
			moved += movedBytes(l)
		}
		list = append(list, tile{fmt.Sprint(r.Bench.Launches), "launches of kernels"},
			tile{human.Bytes(moved), "of tensors that the kernels read and write"})
	}
	if f := r.Bench.Footprint; f != nil {
		list = append(list, tile{human.Bytes(f.Flash), "flash as linked" + limitText(f.FlashLimit)},
			tile{human.Bytes(f.RAM + f.Stack),
				"RAM as linked" + limitText(f.RAMLimit) + ", " + human.Bytes(f.Stack) + " of it stack"})
	}
	return list
}

// movedBytes is the size of the tensors that a stage reads and writes.
func movedBytes(l ripc.Layer) (sum int64) {
	for _, t := range slices.Concat(l.Reads, l.Writes) {
		if n, err := runtime.OperandBytes(t); err == nil {
			sum += int64(n)
		}
	}
	return sum
}

// limitText describes the memory of the simulated board, if it is known.
func limitText(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return " of the board’s " + human.Bytes(bytes)
}

func formatPercent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

func formatTimes(v float64) string { return fmt.Sprintf("%.1f×", v) }

// bytesText is a size for people, "" for none.
func bytesText(n int64) string {
	if n == 0 {
		return ""
	}
	return human.Bytes(n)
}

// tensorText describes an input or output.
func tensorText(t tensor) string {
	return t.Title() + ": " + t.DType + " " + tensorio.ShapeText(t.Shape)
}

// shapeText is the logical shape of a tensor, "4×4×64, 2 bits" for planes of words.
func shapeText(t tensor) string {
	shape := t.Logical()
	if len(shape) > 1 && shape[0] == 1 {
		shape = shape[1:]
	}
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(shape), "[]"), " ", "×")
	switch {
	case t.Bits == 1:
		return text + ", 1 bit"
	case t.Bits > 1:
		return fmt.Sprintf("%s, %s", text, human.Count(t.Bits, "bit"))
	}
	return text
}

// roundUp is the smallest of 1, 2 and 5 times a power of ten that is at least v, for the end of an
// axis.
func roundUp(v float64) float64 {
	if v <= 0 {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*unit >= v {
			return m * unit
		}
	}
	return 10 * unit
}
