// Package accelerator makes an accelerator for an FPGA of a network, checks it, measures it, and
// runs it in simulation:
//
//	fused graph -> dataflow.Segment -> fold -> dataflow.Design -> Verilog
//
// The layers outside of the segment run on a processor, compiled by the ordinary pipeline.
package accelerator

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ripc/codegen"
	"ripc/codegen/verilog"
	"ripc/compile"
	"ripc/dataflow"
	"ripc/dataflow/fold"
	"ripc/graph"
	"ripc/targets/fpga"
)

// FoldOptions say how large the engines are. At most one of the choices is given; without any the
// design is the fastest one that fits the part.
type FoldOptions struct {
	Cycles   int      // most cycles a picture
	FPS      float64  // least pictures a second, at ClockMHz
	Reuse    int      // most cycles of a layer for one position
	Folds    []string // LAYER=PExSIMD, for every layer
	Fit      bool
	ClockMHz float64 // 0 is the board's
	Core     string  // a design of an instruction core, or AutoDesign, for NewCore
	Trials   []Trial // of Tune: where there are some of the network, Cycles, FPS and Fit choose among them
}

// OptionError says that an option of the fold is wrong.
type OptionError struct{ Option, Why string }

func (e *OptionError) Error() string { return fmt.Sprintf("%s: %s", e.Option, e.Why) }

// BadInput reports that the input is at fault.
func (*OptionError) BadInput() bool { return true }

// Accelerator is a network with a part in hardware.
type Accelerator struct {
	system
	Design *dataflow.Design
	Point  fold.Point
	Clock  float64 // in MHz
	// Notes say where a fold differs from the one asked for.
	Notes []string
	// TooLarge says that the part does not hold the chosen folds by estimate; nil if it does.
	TooLarge error
}

// New makes the accelerator of g, a graph of compile.Fused. It fails with *dataflow.NoSegmentError,
// *fold.BudgetError, *fold.PartError or *OptionError.
func New(g *graph.Graph, t fpga.Target, f FoldOptions, o compile.Options) (*Accelerator, error) {
	s, err := dataflow.NewSegment(g)
	if err != nil {
		return nil, err
	}
	o.Target = "" // the parts outside run here
	a := &Accelerator{system: system{t, g, o}, Clock: cmp.Or(f.ClockMHz, t.Board.ClockMHz)}
	if a.Point, err = a.choose(s, f); err != nil {
		return nil, err
	}
	a.Design = dataflow.Build(s, a.Point.Folds)
	return a, nil
}

// choose finds the folds that f asks for: those of trials, which fit, or by estimate.
func (a *Accelerator) choose(s *dataflow.Segment, f FoldOptions) (fold.Point, error) {
	cycles := f.Cycles
	if f.FPS != 0 {
		cycles = int(math.Min(a.Clock*1e6/f.FPS, math.MaxInt32))
	}
	if f.Reuse == 0 && len(f.Folds) == 0 {
		if folds, ok := a.recorded(s, cycles, f.Trials); ok {
			return fold.Exact(s, folds, a.Target), nil
		}
		if len(f.Trials) > 0 {
			a.Notes = append(a.Notes, "the records have no such choice for this network and "+a.Target.Part.Name)
		}
	}
	p, err := a.estimate(s, f, cycles)
	if err != nil {
		return p, err
	}
	if a.TooLarge = fold.Check(s, p, a.Target); a.TooLarge != nil {
		a.Notes = append(a.Notes, a.TooLarge.Error())
	}
	return p, nil
}

// estimate finds the folds that f asks for by estimate. cycles are those of f.Cycles or f.FPS.
func (a *Accelerator) estimate(s *dataflow.Segment, f FoldOptions, cycles int) (fold.Point, error) {
	switch {
	case f.Cycles != 0:
		return fold.FindWithin(s, cycles, a.Target)
	case f.FPS != 0:
		p, err := fold.FindWithin(s, cycles, a.Target)
		if budget := (*fold.BudgetError)(nil); errors.As(err, &budget) {
			budget.FPS, budget.ClockMHz = f.FPS, a.Clock
		}
		return p, err
	case f.Reuse != 0:
		p := fold.Reuse(s, f.Reuse, a.Target)
		for _, st := range s.MVUs() {
			m := st.Engine.(*dataflow.MVU)
			if got := m.Reuse(p.Folds[st.Name]); got != f.Reuse {
				a.Notes = append(a.Notes, fmt.Sprintf("layer %s has reuse factor %d for %d", st.Name, got, f.Reuse))
			}
		}
		return p, nil
	case len(f.Folds) > 0:
		folds, err := parseFolds(s, f.Folds)
		if err != nil {
			return fold.Point{}, err
		}
		return fold.Given(s, folds, a.Target), nil
	}
	return fold.Fit(s, a.Target)
}

// parseFolds reads LAYER=PExSIMD for every layer with weights. Commas separate layers of one text;
// they may be part of names as well.
func parseFolds(s *dataflow.Segment, texts []string) (map[string]dataflow.Fold, error) {
	folds := map[string]dataflow.Fold{}
	var names []string
	for _, st := range s.MVUs() {
		names = append(names, st.Name)
	}
	fail := func(format string, args ...any) error { return &OptionError{"fold", fmt.Sprintf(format, args...)} }
	for text := strings.Join(texts, ","); text != ""; {
		at := -1 // the longest name that the text begins with
		for i, n := range names {
			if strings.HasPrefix(text, n+"=") && (at < 0 || len(n) > len(names[at])) {
				at = i
			}
		}
		if at < 0 {
			first, _, _ := strings.Cut(text, ",")
			if name, _, ok := strings.Cut(first, "="); ok {
				return nil, fail("no layer in hardware is called %q; there are %s", name, strings.Join(names, ", "))
			}
			return nil, fail("%q: it takes LAYER=PExSIMD, such as %s=1x1", first, names[0])
		}
		size, rest, _ := strings.Cut(text[len(names[at])+1:], ",")
		text = rest
		pe, simd, ok := strings.Cut(size, "x")
		f := dataflow.Fold{}
		var err1, err2 error
		f.PE, err1 = strconv.Atoi(pe)
		f.SIMD, err2 = strconv.Atoi(simd)
		if !ok || err1 != nil || err2 != nil {
			return nil, fail("%q: it takes LAYER=PExSIMD, such as %s=1x1", names[at]+"="+size, names[0])
		}
		if g, ok := folds[names[at]]; ok {
			return nil, fail("layer %s is given twice: %s and %s", names[at], g, f)
		}
		m := s.MVUs()[at].Engine.(*dataflow.MVU)
		if !slices.Contains(m.Folds(), f) {
			return nil, fail("layer %s cannot take %s: PE can be %s, SIMD %s", names[at], f,
				listAround(m.Folds(), f.PE, func(f dataflow.Fold) int { return f.PE }),
				listAround(m.Folds(), f.SIMD, func(f dataflow.Fold) int { return f.SIMD }))
		}
		folds[names[at]] = f
	}
	for _, n := range names {
		if _, ok := folds[n]; !ok {
			return nil, fail("layer %s is missing; give all of %s", n, strings.Join(names, ", "))
		}
	}
	return folds, nil
}

// listAround lists the legal values next to v, and v itself if it is legal.
func listAround(folds []dataflow.Fold, v int, part func(dataflow.Fold) int) string {
	below, above := 0, 0
	for _, f := range folds {
		switch p := part(f); {
		case p == v:
			return strconv.Itoa(v)
		case p < v:
			below = max(below, p)
		case above == 0 || p < above:
			above = p
		}
	}
	var all []string
	for _, n := range []int{below, above} {
		if n > 0 {
			all = append(all, strconv.Itoa(n))
		}
	}
	return strings.Join(all, " or ")
}

// Prefix begins the names of files, of C's functions and of the top module.
func (a *Accelerator) Prefix() string { return shorten(codegen.Identifier(a.Graph.Name)) }

// shorten cuts a name to the length that names of files can have, with room for an ending.
func shorten(name string) string {
	const most = 200
	return name[:min(len(name), most)]
}

// Top is the top module's name.
func (a *Accelerator) Top() string { return a.Prefix() + "_accelerator" }

// Verilog makes the files that tools for FPGAs read, by name.
func (a *Accelerator) Verilog() (map[string][]byte, error) { return verilog.Files(a.Design, a.Top()) }

// FPS is the number of pictures a second at the clock.
func (a *Accelerator) FPS() float64 { return a.Clock * 1e6 / float64(a.Design.Cycles) }

// Layers describes every layer in hardware, in their order.
func (a *Accelerator) Layers() []Layer {
	var all []Layer
	for _, st := range a.Design.Stages {
		l := Layer{Name: st.Name, Engine: engineName(st.Engine), Shape: st.Engine.Output().String(),
			MACs: int64(st.Engine.Work())}
		if m, ok := st.Engine.(*dataflow.MVU); ok {
			f := a.Point.Folds[st.Name]
			l.Fold, l.Cycles, l.Reuse, l.AccBits = &f, m.Cycles(f), m.Reuse(f), m.AccBits(f)
			l.XBits, l.WBits, l.YBits = m.XBits, m.WBits, m.YBits
			c := a.Point.Costs[st.Name]
			l.Estimate = &c
		}
		for _, u := range a.Design.Units {
			if u.Layer == st.Name && l.Fold == nil {
				l.Cycles = max(l.Cycles, u.Cycles)
			}
		}
		all = append(all, l)
	}
	return all
}

// engineName is the kind of an engine, for reports.
func engineName(e dataflow.Engine) string {
	switch e.(type) {
	case *dataflow.MVU:
		return "products"
	case *dataflow.Pool:
		return "pool"
	case *dataflow.Add:
		return "sum"
	case *dataflow.Lookup:
		return "table"
	case *dataflow.Flip:
		return "inversion"
	case *dataflow.Argmax:
		return "argmax"
	case *dataflow.Crop:
		return "window"
	}
	return "concatenation"
}

// Front lists the choices of folds that no other beats in both cycles and cost, by estimate.
func (a *Accelerator) Front() []fold.Point { return fold.Front(a.Design.Segment, a.Target) }

// Unit describes a unit of the design.
type Unit struct {
	*dataflow.Unit
	Kind     string // "binary", "integer", "bits" or "glue", as reports have them
	Text     string // its size
	Estimate fold.Cost
}

// Units describes the units in their order.
func (a *Accelerator) Units() []Unit {
	var all []Unit
	model := fold.ModelOf(a.Target.Family)
	for _, u := range a.Design.Units {
		x := Unit{u, "bits", u.Module, model.Price(u, a.Target.Family)}
		switch {
		case u.Module == "mvu":
			x.Kind, x.Text = "binary", fmt.Sprintf("%dx%d, %d cycles", u.Int("PE"), u.Int("SIMD"), u.Cycles)
			if u.Int("WB") > 1 {
				x.Kind = "integer"
			}
		case u.Module == "fifo":
			x.Kind, x.Text = "glue", fmt.Sprintf("fifo, %d deep", u.Int("D"))
		case u.Layer == "":
			x.Kind = "glue"
		}
		all = append(all, x)
	}
	return all
}

// Layer describes a layer in hardware.
type Layer struct {
	Name     string         `json:"name"`
	Engine   string         `json:"engine"`
	Shape    string         `json:"shape"` // of the result
	MACs     int64          `json:"macs"`
	Cycles   int            `json:"cycles"`
	Fold     *dataflow.Fold `json:"fold,omitempty"`
	Reuse    int            `json:"reuse,omitempty"`
	XBits    int            `json:"activation_bits,omitempty"`
	WBits    int            `json:"weight_bits,omitempty"`
	YBits    int            `json:"level_bits,omitempty"` // 0: sums leave
	AccBits  int            `json:"accumulator_bits,omitempty"`
	Estimate *fold.Cost     `json:"estimate,omitempty"`
}
