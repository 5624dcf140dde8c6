package report

import (
	"fmt"
	"math"
	"slices"

	"ripc"
	"ripc/runtime"
	"ripc/runtime/describe"
)

type tensor = describe.Tensor

// rowHeight is that of a line of the table of stages, which its drawing stands beside, in pixels.
const rowHeight = 26

// rails draw the graph beside the table, as histories of versions are drawn: a row for each stage, a lane for each tensor that is
// alive there.
type rails struct {
	Width, Height int
	Dots          []dot
	Paths         []rail
}

type dot struct {
	X, Y       int
	Kind, Name string
}

type rail struct{ D, Name string }

// lanes is the distance of lanes.
const lanes = 12

func newRails(layers []ripc.Layer) rails {
	last := map[string]int{}     // the last stage that reads a tensor
	makers := map[string][]dot{} // the stages that make it, or parts of it
	for i, l := range layers {
		for _, t := range l.Reads {
			if t.Where != "const" {
				last[t.Name] = i
			}
		}
	}
	var g rails
	var taken []string // the tensor in each lane
	lane := map[string]int{}
	take := func(name string) int {
		for i, t := range taken {
			if t == "" {
				taken[i] = name
				return i
			}
		}
		taken = append(taken, name)
		return len(taken) - 1
	}
	x := func(lane int) int { return lanes/2 + lane*lanes }
	y := func(row int) int { return row*rowHeight + rowHeight/2 }
	for i, l := range layers {
		for _, t := range l.Reads { // lanes end before those of the outputs begin
			if k, ok := lane[t.Name]; ok && last[t.Name] == i {
				taken[k] = ""
			}
		}
		at := -1
		var ends []int
		for _, t := range l.Writes {
			k, begun := lane[t.Name]
			if !begun {
				k = take(t.Name)
				lane[t.Name] = k
			}
			if at < 0 {
				at = k
			}
			if _, read := last[t.Name]; !read { // an output of the network
				ends = append(ends, k)
			}
		}
		if at < 0 {
			at = 0
		}
		d := dot{x(at), y(i), kindOf(l), l.Name}
		g.Dots = append(g.Dots, d)
		for _, t := range l.Writes {
			makers[t.Name] = append(makers[t.Name], d)
		}
		for _, t := range l.Reads {
			for _, m := range makers[t.Name] {
				k := x(lane[t.Name])
				g.Paths = append(g.Paths, rail{fmt.Sprintf("M%d %dL%d %dV%dL%d %d", m.X, m.Y, k, m.Y+rowHeight/2, y(i)-rowHeight/2, d.X, d.Y), t.Title()})
			}
		}
		g.Width = max(g.Width, len(taken)*lanes+lanes)
		for _, k := range ends {
			taken[k] = ""
		}
	}
	g.Height = len(layers) * rowHeight
	return g
}

// kindOf is the class of a stage's colour.
func kindOf(l ripc.Layer) string {
	if l.Kind == "" {
		return "glue"
	}
	return l.Kind
}

// bars compare the stages with those of the float twin.
type bars struct {
	Width, Height int
	Rows          []bar
	Grid          []mark
	Twin          bool
}

type bar struct {
	Y, Text           int
	Name, Kind        string
	Own, Twin         float64 // widths
	OwnText, TwinText string
}

type mark struct {
	At   float64
	Text string
}

// Left and width of the bars, in pixels.
const (
	barLeft  = 190
	barWidth = 560
)

// BarLeft is where bars begin.
func (bars) BarLeft() int { return barLeft }

func newBars(r *ripc.ReportResult, u unit, twin map[string]float64) bars {
	b := bars{Width: barLeft + barWidth + 120, Twin: len(twin) > 0}
	most := 0.0
	for i, l := range r.Bench.Layers {
		if v, ok := u.of(l.Figures); ok {
			most = max(most, v)
		}
		if r.Inspection.Layers[i].MACs > 0 {
			most = max(most, twin[l.Name])
		}
	}
	most = nice(most)
	height := 16
	if b.Twin {
		height = 24
	}
	for i, l := range r.Bench.Layers {
		v, ok := u.of(l.Figures)
		if !ok {
			continue
		}
		x := bar{Y: b.Height, Text: b.Height + height/2 + 1, Name: l.Name, Kind: kindOf(r.Inspection.Layers[i]), Own: barWidth * v / most, OwnText: u.text(v)}
		if t, ok := twin[l.Name]; ok && r.Inspection.Layers[i].MACs > 0 {
			x.Twin, x.TwinText = barWidth*t/most, u.text(t)
		}
		b.Rows = append(b.Rows, x)
		b.Height += height
	}
	const steps = 4
	for i := range steps + 1 {
		b.Grid = append(b.Grid, mark{barLeft + barWidth*float64(i)/steps, short(most * float64(i) / steps)})
	}
	return b
}

// short is a number with three digits, for axes.
func short(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3g M", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.3g k", v/1e3)
	}
	return fmt.Sprintf("%.3g", v)
}

// roof is the roofline: MACs a cycle over MACs a byte that the stage reads and writes, both in logarithms.
type roof struct {
	Width, Height float64
	Points        []point
	Limits        []limitLine
	XMarks        []mark
	YMarks        []mark
}

type point struct {
	X, Y             float64
	Kind, Name, Text string
}

type limitLine struct {
	Y    float64
	Text string
}

// Size of the roofline, and its margins, in pixels.
const (
	roofWidth, roofHeight      = 760.0, 380.0
	roofLeft, roofTop          = 60.0, 14.0
	roofRight, roofBottomSpace = 20.0, 40.0
)

func newRoof(r *ripc.ReportResult, u unit) *roof {
	type at struct {
		x, y float64
		l    ripc.Layer
	}
	var all []at
	minX, maxX, minY, maxY := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
	for i, l := range r.Inspection.Layers {
		if i >= len(r.Bench.Layers) || l.MACs == 0 {
			continue
		}
		v := u.perMAC(r.Bench.Layers[i].Figures)
		if v == nil || *v <= 0 {
			continue
		}
		var touched int64
		for _, t := range slices.Concat(l.Reads, l.Writes) {
			if n, err := runtime.OperandBytes(t); err == nil {
				touched += int64(n)
			}
		}
		x := float64(l.MACs) / float64(max(1, touched))
		all = append(all, at{x, *v, l})
		minX, maxX, minY, maxY = min(minX, x), max(maxX, x), min(minY, *v), max(maxY, *v)
	}
	if len(all) == 0 {
		return nil
	}
	for _, l := range r.Limits {
		maxY = max(maxY, l.MACsPerCycle)
	}
	down, up := func(v float64) float64 { return math.Floor(math.Log2(v)) }, func(v float64) float64 { return math.Floor(math.Log2(v)) + 1 }
	x0, x1, y0, y1 := down(minX), up(maxX), down(minY), up(maxY)
	px := func(v float64) float64 { return roofLeft + (math.Log2(v)-x0)/(x1-x0)*(roofWidth-roofLeft-roofRight) }
	py := func(v float64) float64 {
		return roofHeight - roofBottomSpace - (math.Log2(v)-y0)/(y1-y0)*(roofHeight-roofBottomSpace-roofTop)
	}
	g := &roof{Width: roofWidth, Height: roofHeight}
	for _, a := range all {
		g.Points = append(g.Points, point{px(a.x), py(a.y), kindOf(a.l), a.l.Name, fmt.Sprintf("%.1f %s at %.1f MACs/byte", a.y, u.perName, a.x)})
	}
	for _, l := range r.Limits {
		g.Limits = append(g.Limits, limitLine{py(l.MACsPerCycle), fmt.Sprintf("%s: %.1f (%s)", l.Name, l.MACsPerCycle, l.What)})
	}
	for e := x0; e <= x1; e++ {
		g.XMarks = append(g.XMarks, mark{px(math.Exp2(e)), fmt.Sprint(math.Exp2(e))})
	}
	for e := y0; e <= y1; e++ {
		g.YMarks = append(g.YMarks, mark{py(math.Exp2(e)), fmt.Sprint(math.Exp2(e))})
	}
	return g
}

// Left, Right, Top and Bottom are the edges of the field.
func (roof) Left() float64   { return roofLeft }
func (roof) Right() float64  { return roofWidth - roofRight }
func (roof) Top() float64    { return roofTop }
func (roof) Bottom() float64 { return roofHeight - roofBottomSpace }
