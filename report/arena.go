package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"ripc"
)

// arenaSVG has the drawing of an arena, which pages show too, and the picture that is nothing else.
//
//go:embed arena.svg
var arenaSVG string

// WriteArena writes a picture, in SVG, of where the activations of a network lie in its arena, and
// when. It has the name and the figures of the network as text.
func WriteArena(w io.Writer, in *ripc.Inspection) error {
	t, err := template.New("arena.svg").Parse(arenaSVG)
	if err != nil {
		return fmt.Errorf("arena.svg: %w", err)
	}
	m := in.Memory
	p := struct {
		arena
		Title string
	}{newArena(m, pictureField), fmt.Sprintf("%s for %s: %s", in.Name, in.Target, m.Workspace)}
	if m.FloatTwin != nil {
		p.Title += fmt.Sprintf("; float twin: %s", m.FloatTwin.Workspace)
	}
	var out bytes.Buffer
	if err := t.Execute(&out, p); err != nil {
		return err
	}
	_, err = w.Write(out.Bytes())
	return err
}

// arena draws the places of tensors over the stages that need them.
type arena struct {
	Width, Height float64
	Boxes         []box
	Marks         []mark // of bytes
	Stages        []mark
	Left          float64
}

type box struct {
	X, Y, W, H float64
	Name, Text string
	Shade      int
	Label      bool // wide enough for its name
}

// Size of the drawing of the arena, in pixels.
const (
	arenaLeft, arenaHeight = 80.0, 320.0
	pictureField           = 700.0 // width of the stages in a picture of its own
	shades                 = 6
)

// newArena draws m, its stages being field pixels wide together.
func newArena(m *ripc.Memory, field float64) arena {
	a := arena{Width: arenaLeft + field + 20, Height: arenaHeight, Left: arenaLeft}
	total, stages := float64(max(1, m.ArenaBytes)), len(m.Stages)
	if stages == 0 {
		return a
	}
	step := field / float64(stages)
	over := map[string]bool{} // tensors with another tensor in the same place: their last stage is drawn as that one's
	for _, t := range m.Arena {
		over[t.Over] = true
	}
	for i, t := range m.Arena {
		b := box{X: arenaLeft + float64(t.First)*step, W: float64(t.Last-t.First+1) * step,
			H: arenaHeight * float64(t.Bytes) / total, Name: t.Name, Shade: i % shades}
		b.Y = arenaHeight - arenaHeight*float64(t.Offset)/total - b.H
		b.Text = fmt.Sprintf("%s: %s at %d, stages %d to %d", t.Name, bytesText(t.Bytes), t.Offset, t.First, t.Last)
		if over[t.Name] {
			b.W -= step
		}
		if t.Over != "" {
			b.Text += ", in place of " + t.Over
		}
		const character = 6.5
		b.Label = b.H >= 12 && b.W >= character*float64(len([]rune(t.Name)))+4
		a.Boxes = append(a.Boxes, b)
	}
	const steps = 4
	for i := range steps + 1 {
		a.Marks = append(a.Marks, mark{arenaHeight - arenaHeight*float64(i)/steps,
			strings.TrimSpace(bytesText(int64(total * float64(i) / steps)))})
	}
	for i := range stages {
		if stages <= 16 || i%(stages/8) == 0 {
			a.Stages = append(a.Stages, mark{arenaLeft + (float64(i)+0.5)*step, fmt.Sprint(i)})
		}
	}
	return a
}

// Bottom is the height of a picture that has a line of text above the field and one below.
func (a arena) Bottom() float64 { return a.Height + 60 }
