package dataflow

import (
	"fmt"
	"math/bits"
	"slices"

	"ripc/graph"
)

// Window is the unit that yields, for each output position, the elements under a kernel: for each
// Group of channels all taps, row by row. Positions outside the picture count as Level.
type Window struct {
	In, Out                   Shape
	Kernel, Strides, Dilation [2]int
	Pad                       graph.Padding
	Level                     int64
	Group                     int
	waits                     bool // no border comes before its picture begins
}

// rowsAhead is the number of rows of the next picture that a window holds beside those that it
// needs. With fewer, the engine behind it waits for the first rows of each picture.
const rowsAhead = 3

// memory is the depth and the width of the window's memory, for beats of lanes elements.
func (w *Window) memory(elementBits, lanes int) (depth, width int) {
	return w.rows() * w.In.W * w.In.C / lanes, elementBits * lanes
}

// rows is the number of rows in the memory, a power of two.
func (w *Window) rows() int {
	return 1 << bits.Len(uint(max(0, -w.Pad.Top)+(w.Kernel[0]-1)*w.Dilation[0]+w.Strides[0]+rowsAhead))
}

// build adds the window, with beats of lanes elements, which divide Group or are Group.
func (w *Window) build(d *Design, s *Stage, x *Stream, lanes int) *Stream {
	x = d.lanes(x, lanes)
	y := d.stream(&Stream{Note: "window", Shape: Shape{w.Out.H, w.Out.W, w.In.C}, Bits: x.Bits, Lanes: lanes,
		Taps: w.Kernel[0] * w.Kernel[1]})
	pad := Word{Width: x.Bits}
	for range lanes {
		pad.Fields = append(pad.Fields, w.Level)
	}
	u := d.unit("window", s.Name)
	u.Cycles = max(y.Beats(), x.Beats())
	u.Params = []Param{{"W", x.Width()}, {"F", w.In.C / lanes}, {"FG", w.Group / lanes}, {"IX", w.In.W}, {"IY", w.In.H},
		{"OX", w.Out.W}, {"OY", w.Out.H}, {"KX", w.Kernel[1]}, {"KY", w.Kernel[0]}, {"SX", w.Strides[1]},
		{"SY", w.Strides[0]}, {"DX", w.Dilation[1]}, {"DY", w.Dilation[0]}, {"PL", w.Pad.Left}, {"PT", w.Pad.Top},
		{"ROWS", w.rows()}, {"WAIT", boolInt(w.waits)}, {"PAD", pad}}
	d.connect(u, []*Stream{x}, []*Stream{y})
	return y
}

// Crop is a window of one position: some positions of a picture, or a picture with a border.
type Crop struct{ Window }

// Work implements Engine.
func (c *Crop) Work() int { return 0 }

// Output implements Engine.
func (c *Crop) Output() Shape { return c.Out }

func (c *Crop) lag() int { return max(0, -c.Pad.Top)*c.In.W + max(0, -c.Pad.Left) + windowStart }

// Eval implements Engine.
func (c *Crop) Eval(in [][]int64) []int64 {
	y := make([]int64, 0, c.Out.Elems())
	for p := range c.Out.H * c.Out.W {
		iy, ix := p/c.Out.W*c.Strides[0]-c.Pad.Top, p%c.Out.W*c.Strides[1]-c.Pad.Left
		if at := (iy*c.In.W + ix) * c.In.C; iy >= 0 && iy < c.In.H && ix >= 0 && ix < c.In.W {
			y = append(y, in[0][at:at+c.In.C]...)
		} else {
			y = append(y, slices.Repeat([]int64{c.Level}, c.In.C)...)
		}
	}
	return y
}

func (c *Crop) build(d *Design, s *Stage, in []*Stream) *Stream {
	w := c.Window
	w.waits, w.Group = true, d.pace(max(c.In.Elems(), c.Out.Elems()), 1, c.In.C)
	y := w.build(d, s, d.fifo(in[0], 2), w.Group)
	y.Tensor = s.Output
	return d.fifo(y, 2)
}

// Pool is the largest level of each window of Kernel positions.
type Pool struct {
	In, Out         Shape
	Kernel, Strides [2]int
	Pad             graph.Padding
}

// newPool is the pool a over pictures of a shape.
func newPool(in Shape, a *graph.PoolAttrs) *Pool {
	size := func(n, before, after, axis int) int { return (n+before+after-a.Kernel[axis])/a.Strides[axis] + 1 }
	out := Shape{size(in.H, a.Pad.Top, a.Pad.Bottom, 0), size(in.W, a.Pad.Left, a.Pad.Right, 1), in.C}
	return &Pool{In: in, Out: out, Kernel: a.Kernel, Strides: a.Strides, Pad: a.Pad}
}

// apart reports whether no two windows share a position, and all positions of a window exist.
func (p *Pool) apart() bool { return p.Kernel == p.Strides && !p.Pad.Any() }

// Work implements Engine.
func (p *Pool) Work() int { return 0 }

// Output implements Engine.
func (p *Pool) Output() Shape { return p.Out }

func (p *Pool) lag() int {
	return max(0, p.Kernel[0]-1-p.Pad.Top)*p.In.W + max(0, p.Kernel[1]-1-p.Pad.Left) + windowStart
}

// Eval implements Engine. Positions outside the picture are left out.
func (p *Pool) Eval(in [][]int64) []int64 {
	y := make([]int64, p.Out.Elems())
	for i := range y {
		at, c := i/p.In.C, i%p.In.C
		for t := range p.Kernel[0] * p.Kernel[1] {
			iy := at/p.Out.W*p.Strides[0] + t/p.Kernel[1] - p.Pad.Top
			ix := at%p.Out.W*p.Strides[1] + t%p.Kernel[1] - p.Pad.Left
			if iy >= 0 && iy < p.In.H && ix >= 0 && ix < p.In.W {
				y[i] = max(y[i], in[0][(iy*p.In.W+ix)*p.In.C+c])
			}
		}
	}
	return y
}

func (p *Pool) build(d *Design, s *Stage, in []*Stream) *Stream {
	x := in[0]
	if p.apart() {
		y := d.stream(&Stream{Tensor: s.Output, Note: "pool", Shape: p.Out, Bits: x.Bits, Lanes: x.Lanes, Taps: 1})
		u := d.unit("pool", s.Name)
		u.Params = []Param{{"L", x.Lanes}, {"B", x.Bits}, {"F", x.C / x.Lanes}, {"IX", p.In.W}, {"IY", p.In.H},
			{"KX", p.Kernel[1]}, {"KY", p.Kernel[0]}}
		u.Cycles = x.Beats()
		d.connect(u, []*Stream{x}, []*Stream{y})
		return y
	}
	lanes := d.pace(p.Out.Elems()*p.Kernel[0]*p.Kernel[1], 1, p.In.C)
	w := Window{In: p.In, Out: p.Out, Kernel: p.Kernel, Strides: p.Strides, Dilation: [2]int{1, 1}, Pad: p.Pad,
		Group: lanes}
	x = d.fifo(w.build(d, s, d.fifo(x, 2), lanes), 2)
	y := d.stream(&Stream{Tensor: s.Output, Note: "pool", Shape: p.Out, Bits: x.Bits, Lanes: lanes, Taps: 1})
	u := d.unit("largest", s.Name)
	u.Cycles = x.Beats()
	u.Params = []Param{{"L", lanes}, {"B", x.Bits}, {"K", x.Taps}}
	d.connect(u, []*Stream{x}, []*Stream{y})
	return y
}

// Flip counts the levels of some channels down from the top.
type Flip struct {
	Shape
	Bits     int
	Channels []bool
}

// Work implements Engine.
func (f *Flip) Work() int { return 0 }

// Output implements Engine.
func (f *Flip) Output() Shape { return f.Shape }

func (f *Flip) lag() int { return 0 }

// mask is the bits that change in a level of channel c.
func (f *Flip) mask(c int) int64 {
	if f.Channels[c] {
		return 1<<f.Bits - 1
	}
	return 0
}

// Eval implements Engine.
func (f *Flip) Eval(in [][]int64) []int64 {
	y := slices.Clone(in[0])
	for i := range y {
		y[i] ^= f.mask(i % f.C)
	}
	return y
}

func (f *Flip) build(d *Design, s *Stage, in []*Stream) *Stream {
	x := in[0]
	y := d.stream(&Stream{Tensor: s.Output, Shape: f.Shape, Bits: x.Bits, Lanes: x.Lanes, Taps: 1})
	u := d.unit("flip", s.Name)
	u.Params = []Param{{"W", x.Width()}, {"F", f.C / x.Lanes}, {"FILE", u.Name}}
	u.Cycles = y.Beats()
	rom := ROM{Suffix: tableROM}
	for c := range f.C {
		if c%x.Lanes == 0 {
			rom.Words = append(rom.Words, Word{Width: f.Bits})
		}
		last := &rom.Words[len(rom.Words)-1]
		last.Fields = append(last.Fields, f.mask(c))
	}
	u.ROMs = []ROM{rom}
	u.prove = func() (int64, string) {
		for c := range f.C {
			if got := rom.Field(c/x.Lanes, c%x.Lanes, false); got != f.mask(c) {
				return 0, fmt.Sprintf("mask %d is %d in memory, want %d", c, got, f.mask(c))
			}
		}
		return int64(f.C) << f.Bits, ""
	}
	d.connect(u, in, []*Stream{y})
	return y
}
