// Package dataflow turns the layers of a fused graph into a pipeline of engines for an FPGA. Every
// layer has an engine of its own. All engines work at the same time, each on the results of the one
// before it.
//
//	fused graph -> Segment (layers in hardware) -> Design (streams and units) -> codegen/verilog
//
// A Stream carries one tensor, a few elements a cycle. Levels are counted so that their real values
// rise (bipolar_inv is inverted), whatever the encoding is. Sums are signed. A stream's definition
// is Segment.Eval, which tests and verify compare with the interpreter.
package dataflow

import (
	"fmt"

	"ripc/graph"
)

// Stream is a valid/ready channel of beats with Lanes elements of Bits bits. Pixels come in
// row-major order, channels ascending, the first element in the low bits of a beat.
type Stream struct {
	Name   string // of the wires
	Tensor string // that the stream carries, "" for a window or a part of a tensor's way
	Note   string // a remark for readers
	Shape
	Bits, Lanes int
	Signed      bool
	Taps        int // of a window, with Taps times C elements a position; else 1
}

// Shape is the height, width and number of channels of a picture.
type Shape struct{ H, W, C int }

// Elems is the number of elements.
func (s Shape) Elems() int { return s.H * s.W * s.C }

// Width is the number of bits of a beat.
func (s *Stream) Width() int { return s.Bits * s.Lanes }

// Beats is the number of beats of one picture.
func (s *Stream) Beats() int { return s.Elems() * s.Taps / s.Lanes }

// Unit is an instance of a module.
type Unit struct {
	Module, Name string
	Layer        string // the node that it works for, "" for plumbing
	Params       []Param
	In, Out      []*Stream
	ROMs         []ROM
	Cycles       int // for one picture, if nothing stalls; 0 for plumbing, which takes its beats'
	mvu          *MVU
	fold         Fold
	prove        func() (sums int64, why string) // of a unit with memories
}

// Param is a parameter of a module: an int, a Word or a text.
type Param struct {
	Name  string
	Value any
}

// Word is a list of fields of Width bits, the first in the low bits.
type Word struct {
	Width  int
	Fields []int64
}

// ROM is the contents of a memory. Its file is the unit's name and Suffix.
type ROM struct {
	Suffix string
	Words  []Word
}

// Field is field k of word i as the hardware reads it: Width bits, signed or not.
func (r ROM) Field(i, k int, signed bool) int64 {
	w := r.Words[i]
	v := uint64(w.Fields[k]) << (64 - w.Width)
	if signed {
		return int64(v) >> (64 - w.Width)
	}
	return int64(v >> (64 - w.Width))
}

// Design is a Segment as streams and units.
type Design struct {
	*Segment
	Streams   []*Stream
	Units     []*Unit
	First     *Stream // the segment's input
	Last      *Stream // and its output
	Cycles    int     // a picture takes in a full pipeline
	Slowest   string  // the unit that takes them
	Foldings  map[string]Fold
	lags      map[string]int
	readers   map[string]int
	positions map[string]*Stream // by tensor: the stream that its next reader takes
}

// Beats cuts the elements of a picture into the beats of s.
func (s *Stream) Words(elements []int64) []Word {
	var words []Word
	for i := 0; i < len(elements); i += s.Lanes {
		words = append(words, Word{s.Bits, elements[i : i+s.Lanes]})
	}
	return words
}

// Engine computes one node.
type Engine interface {
	// Eval is the definition: the elements of the output from those of the inputs.
	Eval(in [][]int64) []int64
	// Work is the number of products of one picture.
	Work() int
	// Output is the shape of the result.
	Output() Shape
	// lag is the number of pixels of the input that come before the first of the output, and the
	// factor of pixels is that of the input.
	lag() int
	// build adds the engine's units to d, and returns the stream of its output.
	build(d *Design, s *Stage, in []*Stream) *Stream
}

// Stage is a node of the graph, or a part of one, in hardware.
type Stage struct {
	Name   string // the node's
	Inputs []string
	Output string
	Engine Engine
}

// Refusal says why a node has no engine.
type Refusal struct{ Node, Why string }

// shapeOf is the shape of a tensor that carries one picture; false for other tensors.
func shapeOf(v *graph.Value) (Shape, bool) {
	switch {
	case len(v.Shape) == 2 && v.Shape[0] == 1:
		return Shape{1, 1, v.Shape[1]}, true
	case len(v.Shape) == 4 && v.Shape[0] == 1:
		return Shape{v.Shape[1], v.Shape[2], v.Shape[3]}, true
	}
	return Shape{}, false
}

// String is the shape, as "28x28x64".
func (s Shape) String() string { return fmt.Sprintf("%dx%dx%d", s.H, s.W, s.C) }

// Int is a parameter that is a number; 0 if there is none of the name.
func (u *Unit) Int(name string) int {
	for _, p := range u.Params {
		if v, ok := p.Value.(int); ok && p.Name == name {
			return v
		}
	}
	return 0
}
