package dataflow

import (
	"fmt"
	"slices"
)

// maxInputBits bounds the beats of a design's input.
const maxInputBits = 64

// Build is the design of s with a fold for each MVU, by the name of its stage.
func Build(s *Segment, folds map[string]Fold) *Design {
	d := Outline(s, folds)
	for _, u := range d.Units {
		if u.mvu != nil {
			u.ROMs = u.mvu.roms(u.fold, u.Int("AW"))
		}
	}
	return d
}

// UnitsOf is the units that a stage with weights has for a fold, without their memories' contents.
// The beats of their input have the elements of the engine's own.
func (s *Segment) UnitsOf(st *Stage, f Fold) []*Unit {
	m, d := st.Engine.(*MVU), &Design{Segment: s, Foldings: map[string]Fold{st.Name: f}}
	m.build(d, st, []*Stream{d.stream(&Stream{Shape: m.In, Bits: m.XBits, Lanes: m.Lanes(f), Taps: 1})})
	return d.Units
}

// Converters are the units between beats of two numbers of elements.
func Converters(from, to, elementBits int) []*Unit {
	d := &Design{}
	d.lanes(d.stream(&Stream{Bits: elementBits, Lanes: from}), to)
	return d.Units
}

// Outline is Build without the contents of memories.
func Outline(s *Segment, folds map[string]Fold) *Design {
	d := &Design{Segment: s, Foldings: folds, lags: map[string]int{s.In: 0}, readers: map[string]int{},
		positions: map[string]*Stream{}}
	for _, st := range s.Stages {
		at := 0
		for _, in := range st.Inputs {
			d.readers[s.root(in)]++
			at = max(at, d.lags[s.root(in)])
		}
		d.lags[st.Output] = at + st.Engine.lag()
		if m, ok := st.Engine.(*MVU); ok {
			if c := m.Cycles(folds[st.Name]); c > d.Cycles {
				d.Cycles, d.Slowest = c, st.Name
			}
		}
	}
	in := s.InShape()
	d.First = d.stream(&Stream{Tensor: s.In, Shape: in, Bits: s.InType().Bits, Lanes: s.inputLanes(folds), Taps: 1})
	d.positions[s.In] = d.First
	for _, st := range s.Stages {
		var xs []*Stream
		for _, t := range st.Inputs {
			x := *d.take(s.root(t))
			if v := s.Graph.Values[t]; v != nil { // which may have the elements in another shape
				x.Shape, _ = shapeOf(v)
			}
			xs = append(xs, &x)
		}
		d.positions[st.Output] = st.Engine.build(d, st, xs)
	}
	for _, u := range d.Units {
		if u.Cycles > d.Cycles {
			d.Cycles, d.Slowest = u.Cycles, u.Layer
		}
	}
	if n := d.First.Beats(); n > d.Cycles {
		d.Cycles, d.Slowest = n, s.In
	}
	d.Last = d.positions[s.root(s.Out)]
	return d
}

// inputLanes is the largest number of channels in a beat of the input that fits its first reader.
func (s *Segment) inputLanes(folds map[string]Fold) int {
	best := 1
	m, ok := s.Stages[0].Engine.(*MVU)
	for _, n := range divisors(s.InShape().C) {
		if n*s.InType().Bits <= maxInputBits && (!ok || Ratio(n, m.Lanes(folds[s.Stages[0].Name]))) {
			best = n
		}
	}
	return best
}

// Ratio reports whether one of a and b divides the other.
func Ratio(a, b int) bool { return max(a, b)%min(a, b) == 0 }

// stream names s and adds it.
func (d *Design) stream(s *Stream) *Stream {
	s.Name = fmt.Sprint("s", len(d.Streams))
	d.Streams = append(d.Streams, s)
	return s
}

// unit adds a unit, which works for a layer.
func (d *Design) unit(module, layer string) *Unit {
	u := &Unit{Module: module, Name: fmt.Sprint(module, len(d.Units)), Layer: layer}
	d.Units = append(d.Units, u)
	return u
}

func (d *Design) connect(u *Unit, in, out []*Stream) { u.In, u.Out = in, out }

// lanes brings s to a number of elements a beat. Where neither number divides the other, beats are
// joined to the least that both divide first, which costs registers and no cycles.
func (d *Design) lanes(s *Stream, lanes int) *Stream {
	switch {
	case s.Lanes == lanes:
		return s
	case !Ratio(s.Lanes, lanes):
		both := s.Lanes
		for both%lanes != 0 {
			both += s.Lanes
		}
		return d.lanes(d.lanes(s, both), lanes)
	}
	y := d.moveStream(s)
	y.Lanes = lanes
	u := d.unit("dwc", "")
	u.Params = []Param{{"IW", s.Width()}, {"OW", y.Width()}}
	d.connect(u, []*Stream{s}, []*Stream{y})
	return y
}

// moveStream is a stream with the elements of s, behind a unit that only moves them.
func (d *Design) moveStream(s *Stream) *Stream {
	y := *s
	y.Tensor, y.Note = "", "from "+s.Name
	return d.stream(&y)
}

// pace is the least number of elements a beat that divides all channels, from lanes up, at which
// elements take no more cycles than the slowest engine.
func (d *Design) pace(elements, lanes int, channels ...int) int {
	best := lanes
	for _, n := range divisors(channels[0]) {
		if n < lanes || slices.ContainsFunc(channels, func(c int) bool { return c%n != 0 }) {
			continue
		}
		if best = n; elements/n <= d.Cycles {
			break
		}
	}
	return best
}

// fifo lets up to depth beats of s wait.
func (d *Design) fifo(s *Stream, depth int) *Stream {
	y := d.moveStream(s)
	u := d.unit("fifo", "")
	u.Params = []Param{{"W", s.Width()}, {"D", depth}}
	d.connect(u, []*Stream{s}, []*Stream{y})
	return y
}

// take is the stream of a tensor for one of its readers.
func (d *Design) take(tensor string) *Stream {
	s := d.positions[tensor]
	if d.readers[tensor]--; d.readers[tensor] < 1 {
		return s
	}
	a, b := d.moveStream(s), d.moveStream(s)
	u := d.unit("fork2", "")
	u.Params = []Param{{"W", s.Width()}}
	d.connect(u, []*Stream{s}, []*Stream{a, b})
	d.positions[tensor] = b
	return a
}

// meet lets streams wait for each other: the earlier ones in FIFOs of the pixels by which they are
// ahead, and more pixels besides. It brings all to one number of elements a beat.
func (d *Design) meet(s *Stage, in []*Stream, more int) []*Stream {
	most, elements := 0, 0
	var channels []int
	for i, t := range s.Inputs {
		most = max(most, d.lags[d.root(t)])
		channels, elements = append(channels, in[i].C), elements+in[i].Elems()
	}
	if more == 0 { // they pass at the same time
		elements = in[0].Elems()
	}
	lanes := d.pace(elements, 1, channels...)
	var out []*Stream
	for i, x := range in {
		depth := 2 + (most-d.lags[d.root(s.Inputs[i])]+more)*x.C/x.Lanes
		out = append(out, d.lanes(d.fifo(x, depth), lanes))
	}
	return out
}
