package main

import (
	"encoding/xml"
	"fmt"
	"math"
	"strings"
)

// Of the picture, in pixels.
const (
	labels  = 330 // width of the engines' names
	area    = 440 // width of the longest bar
	numbers = 150 // width of the times
	line    = 20  // height of an engine
	title   = 34  // height of a subject's name and scale
)

// bars draws the times of all engines, subject by subject, each with a scale of its own.
func (r *Results) bars() string {
	var b strings.Builder
	y := 10
	for _, s := range r.Subjects {
		if len(s.Figures) > 0 {
			y = r.drawSubject(&b, s, y)
		}
	}
	width := labels + area + numbers
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" font-family="sans-serif" font-size="12">
<rect width="%d" height="%d" fill="#ffffff"/>
`, width, y, width, y, width, y) + b.String() + "</svg>\n"
}

// drawSubject draws one subject from y on and returns where the next begins.
func (r *Results) drawSubject(b *strings.Builder, s SubjectResult, y int) int {
	least, most := math.Inf(1), 0.0
	for _, f := range s.Figures {
		least, most = min(least, f.MinMS), max(most, f.MinMS)
		if bound := r.boundMS(f); bound > 0 {
			least = min(least, bound)
		}
	}
	low, high := math.Floor(math.Log10(least)), math.Ceil(math.Log10(most))
	high = max(high, low+1)
	at := func(ms float64) float64 { return labels + area*(math.Log10(ms)-low)/(high-low) }

	fmt.Fprintf(b, `<text x="10" y="%d" font-weight="bold">%s</text>`+"\n", y+14, escapeXML(s.Name+": "+s.What))
	bottom := y + title + line*len(s.engines())
	for decade := low; decade <= high; decade++ {
		ms := math.Pow(10, decade)
		fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#dddddd"/><text x="%.1f" y="%d" fill="#666666" font-size="10" text-anchor="middle">%g ms</text>`+"\n",
			at(ms), y+title-2, at(ms), bottom, at(ms), y+title-5, ms)
	}
	y += title
	ns := r.threads()
	for _, e := range s.engines() {
		color := "#9aa3ad"
		if strings.HasPrefix(e, "ripc") {
			color = "#2b6cb0"
		}
		fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", labels-8, y+12, escapeXML(e))
		var times []string
		for i, n := range ns[:min(2, len(ns))] {
			f := s.figure(e, n)
			if f == nil {
				times = append(times, "-")
				continue
			}
			top, height, opacity := y+3, 9, "1"
			if i == 1 {
				top, height, opacity = y+13, 4, "0.55"
			}
			fmt.Fprintf(b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s" opacity="%s"/>`+"\n", labels, top,
				max(1, at(f.MinMS)-labels), height, color, opacity)
			if bound := r.boundMS(*f); bound > 0 {
				fmt.Fprintf(b, `<line x1="%.1f" y1="%d" x2="%.1f" y2="%d" stroke="#111111" stroke-width="1.5"/>`+"\n",
					at(bound), top-1, at(bound), top+height+1)
			}
			times = append(times, fmt.Sprintf("%.3f", f.MinMS))
		}
		fmt.Fprintf(b, `<text x="%d" y="%d">%s ms</text>`+"\n", labels+area+10, y+12, strings.Join(times, " / "))
		y += line
	}
	return y + 14
}

// escapeXML is text in XML.
func escapeXML(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // to memory
	return b.String()
}
