package ir

import (
	"fmt"
	"slices"
	"strconv"
)

// Func is one kernel, or an instruction that a Call runs: parameters and a body that defines the
// computation. Loop variables and buffer names are unique within a Func.
type Func struct {
	Name   string
	Params []Param
	Body   Stmt
	// Threads is the number of a device's threads that run an instruction together: each iteration
	// of a loop of threads around a call stands for that number. 0 is one.
	Threads int
}

// Param is a buffer that the caller brings. One that is written overlaps no other, except those
// that declare it (Over).
type Param struct {
	Buffer
	Out bool // written (and maybe read) by the Func; others are only read
	// Over, of an output, names an input with the same address, or is "". The Func writes no
	// element there that it still reads (ir/deps proves it).
	Over string
}

// Takes reports whether b can be the argument for p. It must have the same number of elements of
// the same type and encoding. A read-only parameter may also view b's words, unsigned integers, as
// narrower words, the least significant first, as they lie in memory. The Func then decides about
// the meaning of bits.
func (p Param) Takes(b Buffer) bool {
	if b.Type == p.Type {
		return b.Elems() == p.Elems() && b.Enc.Kind == p.Enc.Kind
	}
	words := b.Type.IsInt() && !b.Type.Signed() && p.Type.IsInt() && !p.Type.Signed() && p.Type.Bits() < b.Type.Bits()
	return words && !p.Out && p.Enc.Kind == NoEncoding && b.Bytes() == p.Bytes()
}

// Apart reports whether f reaches the memory of parameter p through p alone: no other parameter
// lies over it.
func (f *Func) Apart(p Param) bool {
	return p.Over == "" && !slices.ContainsFunc(f.Params, func(q Param) bool { return q.Over == p.Name })
}

// WithBody returns f with another body.
func (f *Func) WithBody(body Stmt) *Func {
	g := *f
	g.Body = body
	return &g
}

// Buffers lists parameters and allocs, outermost first.
func (f *Func) Buffers() map[string]Buffer {
	m := map[string]Buffer{}
	for _, p := range f.Params {
		m[p.Name] = p.Buffer
	}
	for a := range StmtsOf[*Alloc](f.Body) {
		m[a.Buf.Name] = a.Buf
	}
	return m
}

// BufKind is the kind of memory of a Program's buffer.
type BufKind uint8

// Kinds of Program buffers.
const (
	InputBuf  BufKind = iota // brought by the caller, in the model's order
	OutputBuf                // brought by the caller
	ConstBuf                 // weights and tables, known at compile time
	ArenaBuf                 // activations, at Offset in the workspace
)

// String returns the kind's name in .ripir text.
func (k BufKind) String() string { return [...]string{"input", "output", "const", "arena"}[k] }

// ProgBuf is a buffer of a Program.
type ProgBuf struct {
	Buffer
	Kind   BufKind
	Offset int64  // ArenaBuf: byte offset, a multiple of 64
	Data   []byte // ConstBuf: little-endian contents (not part of the text form, which gives its hash)
	// The tensor's meaning for the user (inputs and outputs): a layout such as "NHWC", and the real
	// values of its integers.
	Layout string
	Levels Levels
	Label  string // the model's name, if the IR cannot hold it
}

// Levels describes a tensor that holds quantized values, one per byte or in bit planes (then Enc
// agrees). The zero Levels is an ordinary tensor.
type Levels struct {
	Kind  EncodingKind
	Bits  int
	Scale float64 // real value of one integer step of the encoding
	// Zero is the level of real value 0 (unipolar): the real value is Scale * (level - Zero) +
	// Offset. An i8 buffer holds level - 128.
	Zero int
	// Offset is the real value of the integer 0.
	Offset float64
	// Channels, where not 0, says that an i32 buffer [..., words] holds bits (Bits is 1), channel c
	// in bit c%32 of word c/32.
	Channels int
}

// String returns the levels in .ripir text: "levels=unipolar2 scale=0.5", with " zero=128", "
// offset=0.25" and " channels=40" where these are not 0.
func (l Levels) String() string {
	s := fmt.Sprintf("levels=%s%d scale=%s", l.Kind, l.Bits, strconv.FormatFloat(l.Scale, 'g', -1, 64))
	if l.Zero != 0 {
		s += fmt.Sprintf(" zero=%d", l.Zero)
	}
	if l.Offset != 0 {
		s += " offset=" + strconv.FormatFloat(l.Offset, 'g', -1, 64)
	}
	if l.Channels != 0 {
		s += fmt.Sprintf(" channels=%d", l.Channels)
	}
	return s
}

// Stage is one step of a Program, which begins when the one before is done: Func applied to Args in
// order of its parameters. An argument may have another shape than its parameter, or wider words
// (Param.Takes): the Func then sees a view of it.
type Stage struct {
	Name string
	Op   string // the layer's op, for reports
	Func string
	Args []string
	MACs int64
	// Layer describes the layer, and names the reasons.
	Layer Layer
	Note  string // the model's own words on the layer, for reports only
}

// Program is a compiled network before code generation.
type Program struct {
	Name    string
	Buffers []ProgBuf
	Funcs   []*Func
	Stages  []Stage
	Arena   int64 // bytes
}

// LayersOf lists the titles of the stages that a Func computes.
func (p *Program) LayersOf(fn string) (titles []string) {
	for _, s := range p.Stages {
		if s.Func == fn {
			titles = append(titles, s.Layer.Title(s.Name))
		}
	}
	return titles
}

// Index finds Funcs and buffers of a Program by name. It is valid as long as the Program's lists do
// not change.
type Index struct {
	funcs   map[string]*Func
	buffers map[string]*ProgBuf
}

// Index makes an index of p.
func (p *Program) Index() Index {
	x := Index{make(map[string]*Func, len(p.Funcs)), make(map[string]*ProgBuf, len(p.Buffers))}
	for _, f := range slices.Backward(p.Funcs) {
		x.funcs[f.Name] = f
	}
	for i := range slices.Backward(p.Buffers) {
		x.buffers[p.Buffers[i].Name] = &p.Buffers[i]
	}
	return x
}

// Func returns a Func, or nil.
func (x Index) Func(name string) *Func { return x.funcs[name] }

// Buffer returns a buffer, or nil.
func (x Index) Buffer(name string) *ProgBuf { return x.buffers[name] }

// FuncByName returns a Func, or nil. For many look-ups use an Index.
func (p *Program) FuncByName(name string) *Func {
	for _, f := range p.Funcs {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// BufferByName returns a buffer, or nil. For many look-ups use an Index.
func (p *Program) BufferByName(name string) *ProgBuf {
	for i := range p.Buffers {
		if p.Buffers[i].Name == name {
			return &p.Buffers[i]
		}
	}
	return nil
}

// InputsFirst lists f's parameters, the inputs before the outputs.
func (f *Func) InputsFirst() (all []Param) {
	for _, out := range []bool{false, true} {
		for _, p := range f.Params {
			if p.Out == out {
				all = append(all, p)
			}
		}
	}
	return all
}
