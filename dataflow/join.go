package dataflow

// Add is the sum of two tensors of unipolar levels of one scale.
type Add struct {
	Shape
	Bits int
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
		y[i] = in[0][i] + in[1][i]
	}
	return y
}

func (a *Add) build(d *Design, s *Stage, in []*Stream) *Stream {
	in = d.meet(s, in, 0)
	y := d.stream(&Stream{Tensor: s.Output, Note: "sum", Shape: a.Shape, Bits: a.Bits, Lanes: in[0].Lanes, Taps: 1})
	u := d.unit("addl", s.Name)
	u.Cycles = y.Beats()
	u.Params = []Param{{"L", y.Lanes}, {"A", in[0].Bits}, {"B", in[1].Bits}, {"O", a.Bits}}
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
