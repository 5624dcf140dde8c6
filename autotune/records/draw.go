package records

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// Of the pictures, in pixels.
const (
	width    = 860
	leftEdge = 96  // of the area of curves
	area     = 540 // width of it
	tall     = 170 // height of it
	heading  = 52  // above it
	footing  = 44  // below it
	barName  = 300 // width of the names of bars
	barArea  = 440 // width of the longest bar
	barLine  = 20  // height of a bar
)

// colors are of the curves, on light and on dark ground.
func colors() [][2]string {
	return [][2]string{{"#1f6fb4", "#6cb6ff"}, {"#c4511a", "#ff9a62"}, {"#2c8a3d", "#6bd17f"}, {"#8a4fb0", "#c99bf0"},
		{"#a8861a", "#e6c65c"}, {"#b03060", "#ff8fb3"}}
}

// svg is a picture of the height with its contents, readable on light and on dark ground. It needs
// no other file.
func svg(height int, body string) []byte {
	var light, dark strings.Builder
	for i, c := range colors() {
		fmt.Fprintf(&light, ".c%d{stroke:%s}.f%d{fill:%s}", i, c[0], i, c[0])
		fmt.Fprintf(&dark, ".c%d{stroke:%s}.f%d{fill:%s}", i, c[1], i, c[1])
	}
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">
<style>
.ground{fill:#ffffff}text{fill:#1c2128}.faint{fill:#59636e}.grid{stroke:#d8dee4}.axis{stroke:#59636e}.base{stroke:#59636e;stroke-dasharray:5 4}.curve{fill:none;stroke-width:2}
%s
@media (prefers-color-scheme: dark){
.ground{fill:#161b22}text{fill:#e6edf3}.faint{fill:#9198a1}.grid{stroke:#30363d}.axis{stroke:#9198a1}.base{stroke:#9198a1}
%s
}
</style>
<rect class="ground" width="%d" height="%d"/>
%s</svg>
`, width, height, width, height, light.String(), dark.String(), width, height, body)
}

// DrawCurves draws the curves of all tasks of s, one picture below the other: the best cost so far
// over the trials, a line for each tuner and seed, and the default schedule's cost as a broken
// line. workloads chooses among the tasks by the beginnings of their keys; none is all. ok is
// whether there is anything to draw.
func (s *Set) DrawCurves(workloads ...string) (picture []byte, ok bool) {
	var b strings.Builder
	y := 8
	for _, own := range s.byTask() {
		t := own.Records[0].Task()
		chosen := len(workloads) == 0
		for _, w := range workloads {
			chosen = chosen || strings.HasPrefix(t.Workload, w)
		}
		if !chosen {
			continue
		}
		for _, c := range own.Classes(t) {
			if curves := own.Curves(t, c); len(curves) > 0 {
				def, _ := own.Default(t, c)
				drawCurves(&b, y, own.Records[0], c, curves, def.Result.Cost)
				y += heading + tall + footing
			}
		}
	}
	return svg(y, b.String()), b.Len() > 0
}

// drawCurves draws one picture from y down; def is the default's cost, 0 if it is not known.
func drawCurves(b *strings.Builder, y int, r Record, c Class, curves []Curve, def float64) {
	low, high, last := math.Inf(1), def, 1
	for _, k := range curves {
		for _, p := range k.Points {
			low, high, last = min(low, p.Cost), max(high, p.Cost), max(last, p.Trial)
		}
	}
	if def > 0 {
		low = min(low, def)
	}
	if margin := (high - low) * 0.08; margin > 0 {
		low, high = max(0, low-margin), high+margin
	} else {
		low, high = low*0.95, high*1.05
	}
	top := y + heading
	at := func(trial int, cost float64) (float64, float64) {
		return leftEdge + area*float64(trial)/float64(last), float64(top) + tall*(high-cost)/(high-low)
	}
	title(b, y+20, r.Workload.Op+" "+r.Workload.Shape)
	fmt.Fprintf(b, `<text class="faint" x="16" y="%d">%s on %s, workload %s</text>`+"\n", y+37, escape(r.Target),
		escape(c.Text()), escape(short(r.Workload.Key)))
	for _, v := range ticks(low, high, 4) {
		_, ty := at(0, v)
		fmt.Fprintf(b,
			`<line class="grid" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text class="faint" x="%d" y="%.1f" text-anchor="end">%s</text>`+"\n",
			leftEdge, leftEdge+area, ty, ty, leftEdge-8, ty+4, escape(c.Unit.Text(v)))
	}
	for _, v := range ticks(0, float64(last), 8) {
		if v != math.Trunc(v) {
			continue
		}
		tx, _ := at(int(v), high)
		fmt.Fprintf(b, `<text class="faint" x="%.1f" y="%d" text-anchor="middle">%g</text>`+"\n", tx, top+tall+16, v)
	}
	fmt.Fprintf(b,
		`<line class="axis" x1="%d" x2="%d" y1="%d" y2="%d"/><text class="faint" x="%d" y="%d" text-anchor="middle">trials</text>`+"\n",
		leftEdge, leftEdge+area, top+tall, top+tall, leftEdge+area/2, top+tall+32)
	legend := top + 6
	note := func(class, mark, text string) {
		fmt.Fprintf(b,
			`<line class="%s" x1="%d" x2="%d" y1="%d" y2="%d" stroke-width="2"/><text x="%d" y="%d">%s</text>`+"\n",
			class+mark, leftEdge+area+14, leftEdge+area+34, legend-4, legend-4, leftEdge+area+40, legend, escape(text))
		legend += 17
	}
	if def > 0 {
		_, dy := at(0, def)
		fmt.Fprintf(b, `<line class="base" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/>`+"\n", leftEdge, leftEdge+area, dy, dy)
		note("base", "", "default "+c.Unit.Text(def))
	}
	const most = 9 // lines that the legend has room for
	for i, k := range curves {
		color := fmt.Sprintf("c%d", i%len(colors()))
		x0, y0 := at(k.Points[0].Trial, k.Points[0].Cost)
		path := fmt.Sprintf("M%.1f %.1f", x0, y0)
		for _, p := range k.Points[1:] {
			px, py := at(p.Trial, p.Cost)
			path += fmt.Sprintf("H%.1fV%.1f", px, py)
		}
		fmt.Fprintf(b, `<path class="curve %s" d="%s"/>`+"\n", color, path)
		px, py := at(k.Points[len(k.Points)-1].Trial, k.Points[len(k.Points)-1].Cost)
		fmt.Fprintf(b, `<circle class="f%d" cx="%.1f" cy="%.1f" r="3"/>`+"\n", i%len(colors()), px, py)
		switch end := k.Points[len(k.Points)-1].Cost; {
		case i == most-1 && len(curves) > most:
			fmt.Fprintf(b, `<text class="faint" x="%d" y="%d">and %d more</text>`+"\n", leftEdge+area+40, legend,
				len(curves)-i)
		case i >= most:
		case def > 0:
			note("curve ", color, fmt.Sprintf("%s %d: %s, %.2fx", k.Tuner, k.Seed, c.Unit.Text(end), def/end))
		default:
			note("curve ", color, fmt.Sprintf("%s %d: %s", k.Tuner, k.Seed, c.Unit.Text(end)))
		}
	}
}

// Share is the part of a feature in a cost model.
type Share struct {
	Name string
	Gain float64 // a share of 1
}

// DrawImportance draws bars of shares, in their order.
func DrawImportance(heading string, shares []Share) []byte {
	var b strings.Builder
	title(&b, 24, heading)
	most := math.SmallestNonzeroFloat64
	for _, s := range shares {
		most = max(most, s.Gain)
	}
	y := 40
	for _, s := range shares {
		w := barArea * max(s.Gain, 0) / most
		fmt.Fprintf(&b,
			`<text x="%d" y="%d" text-anchor="end">%s</text><rect class="f0" x="%d" y="%d" width="%.1f" height="%d"/><text class="faint" x="%.1f" y="%d">%.1f %%</text>`+"\n",
			barName-8, y+14, escape(s.Name), barName, y+3, w, barLine-6, barName+w+6, y+14, 100*s.Gain)
		y += barLine
	}
	return svg(y+12, b.String())
}

func title(b *strings.Builder, y int, text string) {
	fmt.Fprintf(b, `<text x="16" y="%d" font-size="14" font-weight="bold">%s</text>`+"\n", y, escape(text))
}

// short is enough of a key to find it by.
func short(key string) string { return key[:min(len(key), 12)] }

func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder never fails
	return b.String()
}

// ticks are round numbers between low and high, about n of them.
func ticks(low, high float64, n int) []float64 {
	step := math.Pow(10, math.Floor(math.Log10((high-low)/float64(n))))
	if !(step > 0) || math.IsInf(step, 0) {
		return nil
	}
	for _, m := range []float64{1, 2, 5, 10} {
		if (high-low)/(step*m) <= float64(n)+1 {
			step *= m
			break
		}
	}
	var out []float64
	for i := math.Ceil(low / step); i*step <= high; i++ {
		out = append(out, i*step)
	}
	return out
}

// Text is a cost for people: `12.4 us`, `3.10 M cycles`.
func (u Unit) Text(cost float64) string {
	scale := func(names ...string) string {
		i := 0
		for cost >= 999.5 && i < len(names)-1 {
			cost /= 1000
			i++
		}
		digits := 2
		switch {
		case cost >= 99.95 || names[i] == names[0] && cost == math.Trunc(cost):
			digits = 0
		case cost >= 9.995:
			digits = 1
		}
		return fmt.Sprintf("%.*f %s", digits, cost, names[i])
	}
	if u == Nanoseconds {
		return scale("ns", "us", "ms", "s")
	}
	return scale(string(u), "k "+string(u), "M "+string(u), "G "+string(u))
}
