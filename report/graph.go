package report

import (
	"fmt"

	"ripc"
	"ripc/internal/human"
)

// graph draws the network from its inputs down: a box for each stage, a line for each tensor that a
// stage reads.
type graph struct {
	Width, Height int
	Boxes         []graphBox
	Edges         []edge
}

// graphBox is a stage, or with class "input" an input of the network.
type graphBox struct {
	X, Y, Width       int
	Kind, Label, Text string
	Shape             string // of the first tensor that leaves it
	Title             string
}

type edge struct{ D, Title string }

// Sizes of the graph, in pixels. The widest box is that of the stage with the highest cost.
const (
	boxHeight, boxLeast, boxMost  = 36, 130, 250
	graphColumn, graphRow         = 290, 72
	graphMargin, graphLabelLength = 12, 18
)

// newGraph draws layers. costs and texts have the cost of each and its words.
func newGraph(layers []ripc.Layer, costs []float64, texts []string) graph {
	most := 0.0
	for _, c := range costs {
		most = max(most, c)
	}
	var g graph
	taken := map[[2]int]bool{} // places, as row and column
	makers := map[string][]int{}
	place := func(b graphBox, row, column int) int {
		for taken[[2]int{row, column}] {
			column++
		}
		taken[[2]int{row, column}] = true
		b.X, b.Y = graphMargin+column*graphColumn+graphColumn/2, graphMargin+row*graphRow
		g.Width, g.Height = max(g.Width, graphMargin+(column+1)*graphColumn), max(g.Height, b.Y+graphRow)
		g.Boxes = append(g.Boxes, b)
		return len(g.Boxes) - 1
	}
	rowOf := func(b graphBox) int { return (b.Y - graphMargin) / graphRow }
	columnOf := func(b graphBox) int { return (b.X - graphMargin) / graphColumn }
	for i, l := range layers {
		var from []int
		row, column := 0, 0
		for _, t := range l.Reads {
			if t.Where == "const" {
				continue
			}
			if len(makers[t.Name]) == 0 { // an input of the network
				label := human.ShortName(t.Title(), graphLabelLength)
				b := graphBox{Width: boxLeast, Kind: "input", Label: label, Text: "input", Shape: shapeText(t),
					Title: tensorText(t)}
				makers[t.Name] = []int{place(b, 0, 0)}
			}
			for _, k := range makers[t.Name] {
				if len(from) == 0 {
					column = columnOf(g.Boxes[k])
				}
				row = max(row, rowOf(g.Boxes[k])+1)
				from = append(from, k)
			}
		}
		label := human.ShortName(l.Name, graphLabelLength)
		b := graphBox{Width: boxLeast, Kind: kindOf(l), Label: label, Text: texts[i],
			Title: l.Name + ": " + l.Op + ", " + texts[i]}
		if most > 0 {
			b.Width += int(float64(boxMost-boxLeast) * costs[i] / most)
		}
		if len(l.Writes) > 0 {
			b.Shape = shapeText(l.Writes[0])
		}
		at := place(b, row, column)
		for _, t := range l.Writes {
			makers[t.Name] = append(makers[t.Name], at)
		}
		for _, k := range from {
			g.Edges = append(g.Edges, edge{pathBetween(g.Boxes[k], g.Boxes[at]), g.Boxes[k].Title})
		}
	}
	return g
}

// pathBetween is the line from a box to a lower one. One that passes other boxes goes around them.
func pathBetween(from, to graphBox) string {
	y0, y1 := from.Y+boxHeight, to.Y
	if y1-y0 <= graphRow-boxHeight {
		below := y0 + 20 // the shapes beside the boxes
		return fmt.Sprintf("M%d %dV%dC%d %d %d %d %d %d", from.X, y0, below, from.X, y1-4, to.X, below, to.X, y1)
	}
	side := max(from.X, to.X) + boxMost/2 + graphMargin // between two columns
	return fmt.Sprintf("M%d %dV%dC%d %d %d %d %d %dV%dC%d %d %d %d %d %d", from.X, y0, y0+20, from.X, y0+34, side,
		y0+16, side, y0+40, y1-30, side, y1-4, to.X, y1-16, to.X, y1)
}

// LeftEdge is the left edge of a box.
func (b graphBox) LeftEdge() int { return b.X - b.Width/2 }
