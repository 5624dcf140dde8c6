package task

import (
	"encoding/xml"
	"fmt"
	"strings"
)

// Widths are those of names, of the longest bar, and of the texts behind bars, in pixels.
type Widths struct{ Labels, Bars, Texts int }

// DeskWidths are the widths of a picture for screens of desks.
func DeskWidths() Widths { return Widths{330, 440, 150} }

// PhoneWidths are the widths of a picture of few words, which a phone's screen shows legibly.
func PhoneWidths() Widths { return Widths{176, 190, 64} }

// Heights in pixels.
const (
	barHeight  = 20 // of a line
	titleSpace = 34
)

// Bars is a part of a picture: lines with bars of one scale. Lengths and places are shares of the
// longest bar, 0 to 1.
type Bars struct {
	Title string
	Ticks []Tick
	Lines []Line
}

// Tick is a line over all bars of a part.
type Tick struct {
	At    float64
	Label string
}

// Line has a thick bar and perhaps a thin one below it.
type Line struct {
	Label, Text string
	Grey        bool
	Lengths     []float64 // of both bars; 0 draws none
	Limits      []float64 // marks on the bars; 0 draws none
}

// Picture draws parts below each other.
func Picture(parts []Bars, w Widths) string {
	var b strings.Builder
	y := 10
	for _, p := range parts {
		y = p.draw(&b, w, y) + 14
	}
	width := w.Labels + w.Bars + w.Texts
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">
<rect width="%d" height="%d" fill="#ffffff"/>
`, width, y, width, y, width, y) + b.String() + "</svg>\n"
}

// draw draws a part from y on and returns where it ends.
func (p Bars) draw(b *strings.Builder, w Widths, y int) int {
	x := func(share float64) float64 { return float64(w.Labels) + float64(w.Bars)*share }
	fmt.Fprintf(b, `<text x="10" y="%d" font-weight="bold">%s</text>`+"\n", y+14, escaped(p.Title))
	bottom := y + titleSpace + barHeight*len(p.Lines)
	for _, t := range p.Ticks {
		fmt.Fprintf(b,
			`<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#dddddd"/><text x="%.1f" y="%d" fill="#666666" font-size="10" text-anchor="middle">%s</text>`+"\n",
			x(t.At), y+titleSpace-2, x(t.At), bottom, x(t.At), y+titleSpace-5, escaped(t.Label))
	}
	y += titleSpace
	for _, l := range p.Lines {
		color := "#2b6cb0"
		if l.Grey {
			color = "#9aa3ad"
		}
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", w.Labels-8, y+12, escaped(l.Label))
		for i, length := range l.Lengths {
			top, height, opacity := y+3, 9, "1"
			if i > 0 {
				top, height, opacity = y+13, 4, "0.55"
			}
			if length > 0 {
				fmt.Fprintf(b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s" opacity="%s"/>`+"\n", w.Labels,
					top, max(1, float64(w.Bars)*length), height, color, opacity)
			}
			if i < len(l.Limits) && l.Limits[i] > 0 {
				fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#111111" stroke-width="1.5"/>`+"\n",
					x(l.Limits[i]), top-1, x(l.Limits[i]), top+height+1)
			}
		}
		fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`+"\n", w.Labels+w.Bars+10, y+12, escaped(l.Text))
		y += barHeight
	}
	return bottom
}

// escaped returns text in XML.
func escaped(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // to memory
	return b.String()
}
