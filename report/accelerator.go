package report

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"html/template"
	"io"
	"math"
	"slices"

	"ripc"
	"ripc/internal/human"
	"ripc/runtime/describe"
)

//go:embed accelerator.html
var acceleratorHTML string

// acceleratorPage is the template's input.
type acceleratorPage struct {
	Bench      *ripc.AcceleratorBench
	Command    string
	Processor  any // layers that stay there, and why
	Tiles      []tile
	Used       []share
	UsedHeight int
	Plot       plot
	Graph      graph
	JSON       template.JS
}

// share is a bar: the share of a resource of the part.
type share struct {
	Y                int
	Name, Kind, Text string
	Length           float64
}

// plot is the front on logarithmic axes.
type plot struct {
	XMarks, YMarks []mark
	Limit          float64 // height of the part's LUTs, 0 if it is outside
	Points         []plotted
}

type plotted struct {
	X, Y       float64
	Name, Kind string
}

// WriteAccelerator writes the page of an accelerator that was measured as b says.
func WriteAccelerator(w io.Writer, a *ripc.Accelerator, b *ripc.AcceleratorBench, command string) error {
	data, err := json.Marshal(b)
	if err != nil {
		return err
	}
	part := a.Target.Part
	p := &acceleratorPage{Bench: b, Command: command, Processor: a.Design.Refusals, JSON: template.JS(data),
		Tiles: []tile{
			{human.Grouped(int64(b.Cycles)), "cycles a picture, by layer " + b.Slowest},
			{fmt.Sprintf("%.0f", b.FPS), fmt.Sprintf("pictures a second at %v MHz", b.ClockMHz)},
			{human.Grouped(int64(b.LUTs)), "LUTs"},
			{fmt.Sprintf("%.5g", b.BRAM36), "block RAMs of 36 Kbit"},
			{fmt.Sprint(b.DSPs), "multipliers (DSPs)"},
			{formatPercent(float64(b.Hardware) / float64(max(1, b.MACs))),
				"of " + human.Grouped(b.MACs) + " MACs are in hardware"},
		}}
	const full, line = 800, 24
	for _, r := range []struct {
		name     string
		used, of float64
	}{{"LUTs", float64(b.LUTs), float64(part.LUTs)}, {"flip-flops", float64(b.FFs), float64(part.FFs)},
		{"block RAM, Kbit", b.BRAM36 * 36, float64(part.RAMKbits)},
		{"multipliers", float64(b.DSPs), float64(part.DSPs)}} {
		s := share{Y: line * len(p.Used), Name: r.name, Kind: "binary", Text: fmt.Sprintf("%.0f of %.0f", r.used, r.of)}
		if r.of > 0 {
			s.Length, s.Text = full*min(1, r.used/r.of), s.Text+", "+formatPercent(r.used/r.of)
		}
		if r.used > r.of {
			s.Kind = "float" // it does not fit
		}
		p.Used = append(p.Used, s)
	}
	p.UsedHeight = line * len(p.Used)
	p.Plot, p.Graph = newPlot(a, b), unitGraph(a)
	return execute(w, "accelerator", p)
}

// newPlot draws the front of a's network on its part, and a itself.
func newPlot(a *ripc.Accelerator, b *ripc.AcceleratorBench) plot {
	const left, right, top, bottom = 90, 1200, 10, 370
	front := a.Front()
	xs, ys := []float64{float64(b.Cycles)}, []float64{float64(b.LUTs)}
	for _, f := range front {
		xs, ys = append(xs, float64(f.Cycles)), append(ys, f.Cost.LUTs)
	}
	x := logAxis(slices.Min(xs), slices.Max(xs), left, right)
	y := logAxis(slices.Min(ys), slices.Max(ys), bottom, top)
	p := plot{XMarks: x.marks, YMarks: y.marks}
	if v := y.at(float64(a.Target.Part.LUTs)); v >= top {
		p.Limit = v
	}
	for i, f := range front {
		p.Points = append(p.Points, plotted{x.at(xs[i+1]), y.at(ys[i+1]),
			fmt.Sprintf("%d cycles, about %.0f LUTs, %.0f block RAMs", f.Cycles, f.Cost.LUTs, f.Cost.Blocks), "twin"})
		if !f.Cost.Fits(a.Target) {
			p.Points[i].Kind = "float"
		}
	}
	p.Points = append(p.Points, plotted{x.at(xs[0]), y.at(ys[0]), fmt.Sprintf("this one: %d cycles, %d LUTs", b.Cycles,
		b.LUTs), "binary"})
	return p
}

// scale is a logarithmic axis, with a mark at each power of two.
type scale struct {
	at    func(v float64) float64
	marks []mark
}

func logAxis(least, most, from, to float64) scale {
	lo, hi := math.Floor(math.Log2(max(1, least))), math.Ceil(math.Log2(max(2, most)))
	hi = max(hi, lo+1)
	s := scale{at: func(v float64) float64 { return from + (math.Log2(v)-lo)/(hi-lo)*(to-from) }}
	for e := lo; e <= hi; e += max(1, math.Floor((hi-lo)/8)) {
		s.marks = append(s.marks, mark{s.at(math.Exp2(e)), human.Grouped(int64(math.Exp2(e)))})
	}
	return s
}

// unitGraph draws the units of a design.
func unitGraph(a *ripc.Accelerator) graph {
	var layers []ripc.Layer
	var costs []float64
	var texts []string
	for _, u := range a.Units() {
		l := ripc.Layer{Name: u.Name, Op: u.Module, Layer: describe.Layer{Kind: u.Kind}}
		if u.Layer != "" {
			l.Name = u.Layer
		}
		for _, s := range u.In {
			l.Reads = append(l.Reads, tensor{Name: s.Name, Label: s.Tensor, Shape: []int{s.Lanes}, Bits: s.Bits})
		}
		for _, s := range u.Out {
			l.Writes = append(l.Writes, tensor{Name: s.Name, Label: s.Tensor, Shape: []int{s.Lanes}, Bits: s.Bits})
		}
		layers, costs, texts = append(layers, l), append(costs, u.Estimate.LUTs), append(texts, u.Text)
	}
	return newGraph(layers, costs, texts)
}
