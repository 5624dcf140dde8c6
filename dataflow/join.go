package dataflow

import "ripc/graph/scalar"

// Add is the sum of two tensors of levels: of each as its term says.
type Add struct {
	Shape
	Bits  int
	Terms [2]scalar.Term
	Tops  [2]int // highest levels
}

// Work implements Engine.
func (a *Add) Work() int { return 0 }

// Output implements Engine.
func (a *Add) Output() Shape { return a.Shape }

func (a *Add) lag() int { return 0 }

// Eval implements Engine.
func (a *Add) Eval(in [][]int64) []int64 {
	y := make([]int64, len(in[0]))
	for i := range y {
		for k, t := range a.Terms {
			l := in[k][i]
			if t.Flipped {
				l = int64(a.Tops[k]) - l
			}
			y[i] += l << t.Shift
		}
	}
	return y
}

func (a *Add) build(d *Design, s *Stage, in []*Stream) *Stream {
	in = d.meet(s, in, 0)
	y := d.stream(&Stream{Tensor: s.Output, Note: "sum", Shape: a.Shape, Bits: a.Bits, Lanes: in[0].Lanes, Taps: 1})
	u := d.unit("addl", s.Name)
	u.Cycles = y.Beats()
	u.Params = []Param{{"L", y.Lanes}, {"A", in[0].Bits}, {"B", in[1].Bits}, {"O", a.Bits},
		{"SA", a.Terms[0].Shift}, {"SB", a.Terms[1].Shift}, {"FA", boolInt(a.Terms[0].Flipped)},
		{"FB", boolInt(a.Terms[1].Flipped)}}
	d.connect(u, in, []*Stream{y})
	return y
}

// Concat puts the channels of tensors of one type of levels behind each other.
type Concat struct {
	Shape
	Parts []int // channels of each input
}

// Work implements Engine.
func (c *Concat) Work() int { return 0 }

// Output implements Engine.
func (c *Concat) Output() Shape { return c.Shape }

func (c *Concat) lag() int { return 0 }

// Eval implements Engine.
func (c *Concat) Eval(in [][]int64) []int64 {
	y := make([]int64, 0, c.Elems())
	for p := range c.H * c.W {
		for i, n := range c.Parts {
			y = append(y, in[i][p*n:(p+1)*n]...)
		}
	}
	return y
}

func (c *Concat) build(d *Design, s *Stage, in []*Stream) *Stream {
	in = d.meet(s, in, 1)
	y := in[0]
	for _, x := range in[1:] {
		both := Shape{c.H, c.W, y.C + x.C}
		z := d.stream(&Stream{Note: "concatenation", Shape: both, Bits: y.Bits, Lanes: y.Lanes, Taps: 1})
		if both == c.Shape {
			z.Tensor = s.Output
		}
		u := d.unit("cat", s.Name)
		u.Cycles = z.Beats()
		u.Params = []Param{{"W", y.Width()}, {"FA", y.C / y.Lanes}, {"FB", x.C / x.Lanes}}
		d.connect(u, []*Stream{y, x}, []*Stream{z})
		y = z
	}
	return y
}
