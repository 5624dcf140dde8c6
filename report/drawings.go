package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"ripc"
	"ripc/internal/human"
	"ripc/internal/lists"
	"ripc/runtime/describe"
)

type tensor = describe.Tensor

// rowHeight is that of a line of the table of stages, which its drawing stands beside, in pixels.
const rowHeight = 26

// rails draw the graph beside the table, as histories of versions are drawn: a row for each stage,
// a lane for each tensor that is alive there.
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
				g.Paths = append(g.Paths, rail{fmt.Sprintf("M%d %dL%d %dV%dL%d %d", m.X, m.Y, k, m.Y+rowHeight/2,
					y(i)-rowHeight/2, d.X, d.Y), t.Title()})
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
	switch {
	case l.Kind == "":
		return "glue"
	case l.Algorithm == "float": // sums of f32, of few bits as well
		return "float"
	case l.Integer:
		return integer
	}
	return l.Kind
}

// pageWidth is that of charts, in their own pixels: browsers scale them to the width of the page.
const pageWidth = 1240

// bars compare the stages with those of the float twin.
type bars struct {
	Width, Height, Left int
	Rows                []bar
	Grid                []mark
	Twin                bool
}

type bar struct {
	Y                 int
	Name, Label, Kind string  // Label is as much of the name as there is room for
	Own, Twin         float64 // widths
	OwnText, TwinText string
}

type mark struct {
	At   float64
	Text string
}

// Bottom is the height with the marks of the axis.
func (b bars) Bottom() int { return b.Height + 22 }

const (
	labelCharacter = 7.2 // the width of most characters, in pixels
	barRight       = 40  // margin, where the last mark of the axis is
)

func newBars(r *ripc.ReportResult, u unit, twin map[string]float64) bars {
	b := bars{Width: pageWidth, Twin: len(twin) > 0}
	most, longest := 0.0, 0
	for i, l := range r.Bench.Layers {
		if v, ok := u.costOf(l.Figures); ok {
			most = max(most, v)
		}
		if r.Inspection.Layers[i].MACs > 0 {
			most = max(most, twin[l.Name])
		}
		longest = max(longest, min(nameLength, utf8.RuneCountInString(l.Name)))
	}
	const leastLeft, gap = 60, 14
	b.Left = max(leastLeft, int(labelCharacter*float64(longest))+gap)
	width := float64(b.Width - b.Left - barRight)
	step, steps := axis(most)
	end := step * float64(steps)
	height := 16
	if b.Twin {
		height = 24
	}
	labels := labelsOf(r.Bench.Layers, func(l ripc.LayerBench) string { return l.Name })
	for i, l := range r.Bench.Layers {
		v, ok := u.costOf(l.Figures)
		if !ok {
			continue
		}
		x := bar{Y: b.Height, Name: l.Name, Label: labels[i], Kind: kindOf(r.Inspection.Layers[i]),
			Own: width * v / end, OwnText: u.text(v)}
		if ms := l.EstimatedMS; ms != nil {
			x.OwnText += fmt.Sprintf(" (%.3g ms)", *ms)
		}
		if t, ok := twin[l.Name]; ok && r.Inspection.Layers[i].MACs > 0 {
			x.Twin, x.TwinText = width*t/end, u.text(t)
		}
		b.Rows = append(b.Rows, x)
		b.Height += height
	}
	for i := range steps + 1 {
		b.Grid = append(b.Grid, mark{float64(b.Left) + width*float64(i)/float64(steps), formatShort(step * float64(i))})
	}
	return b
}

// axis divides an axis from 0 to at least v into few round steps.
func axis(v float64) (step float64, steps int) {
	const most = 6 // steps
	step = roundUp(v / most)
	return step, max(1, int(math.Ceil(v/step)))
}

// formatShort is a number with three digits, for axes.
func formatShort(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%.3g M", v/1e6)
	case v >= 1e4:
		return fmt.Sprintf("%.3g k", v/1e3)
	}
	return fmt.Sprintf("%.3g", v)
}

// roof is the roofline: MACs a cycle over MACs a byte that the stage reads and writes, both in
// logarithms.
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

// limitLine is a limit, with its label at X.
type limitLine struct {
	X, Y       float64
	Text, What string
}

// Size of the roofline, and its margins, in pixels.
const (
	roofWidth, roofHeight      = float64(pageWidth), 380.0
	roofLeft, roofTop          = 60.0, 18.0
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
		x := float64(l.MACs) / float64(max(1, movedBytes(l)))
		all = append(all, at{x, *v, l})
		minX, maxX, minY, maxY = min(minX, x), max(maxX, x), min(minY, *v), max(maxY, *v)
	}
	if len(all) == 0 {
		return nil
	}
	for _, l := range r.Limits {
		maxY = max(maxY, l.MACsPerCycle)
	}
	down, up := func(v float64) float64 { return math.Floor(math.Log2(v)) },
		func(v float64) float64 { return math.Floor(math.Log2(v)) + 1 }
	x0, x1, y0, y1 := down(minX), up(maxX), down(minY), up(maxY)
	px := func(v float64) float64 { return roofLeft + (math.Log2(v)-x0)/(x1-x0)*(roofWidth-roofLeft-roofRight) }
	py := func(v float64) float64 {
		return roofHeight - roofBottomSpace - (math.Log2(v)-y0)/(y1-y0)*(roofHeight-roofBottomSpace-roofTop)
	}
	g := &roof{Width: roofWidth, Height: roofHeight}
	for _, a := range all {
		g.Points = append(g.Points, point{px(a.x), py(a.y), kindOf(a.l), a.l.Name,
			fmt.Sprintf("%s %s at %s MACs/byte", human.Rate(a.y), u.perName, human.Rate(a.x))})
	}
	for _, l := range r.Limits {
		g.Limits = append(g.Limits, limitLine{X: roofLeft, Y: py(l.MACsPerCycle),
			Text: fmt.Sprintf("%s: %.1f", l.Name, l.MACsPerCycle), What: l.What})
	}
	placeLabels(g.Limits)
	for e := x0; e <= x1; e++ {
		g.XMarks = append(g.XMarks, mark{px(math.Exp2(e)), fmt.Sprint(math.Exp2(e))})
	}
	for e := y0; e <= y1; e++ {
		g.YMarks = append(g.YMarks, mark{py(math.Exp2(e)), fmt.Sprint(math.Exp2(e))})
	}
	return g
}

// placeLabels moves the labels of lines that are close to the right of each other, so that none is
// over another. The lines are sorted, the highest first.
func placeLabels(lines []limitLine) {
	const height, gap = 14.0, 24.0 // of a label; between labels
	slices.SortStableFunc(lines, func(a, b limitLine) int { return cmp.Compare(a.Y, b.Y) })
	for i := 1; i < len(lines); i++ {
		if above := lines[i-1]; lines[i].Y-above.Y < height {
			lines[i].X = above.X + labelCharacter*float64(utf8.RuneCountInString(above.Text)) + gap
		}
	}
}

// LeftEdge, Right, Top and Bottom are the edges of the field.
func (roof) LeftEdge() float64 { return roofLeft }
func (roof) Right() float64    { return roofWidth - roofRight }
func (roof) Top() float64      { return roofTop }
func (roof) Bottom() float64   { return roofHeight - roofBottomSpace }

// labelsOf are the short names of layers.
func labelsOf[L any](layers []L, name func(L) string) []string {
	names := lists.Map(layers, name)
	return human.ShortNames(names, nameLength)
}
