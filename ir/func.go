package ir

import (
	"fmt"
	"slices"
	"strconv"
)

// Func is one kernel, or an instruction that a Call runs: parameters and a body, which says what is
// computed. Loop variables and buffer names are unique within a Func.
type Func struct {
	Name   string
	Params []Param
	Body   Stmt
}

// Param is a buffer that the caller brings. Parameters never overlap, but for those that say so.
type Param struct {
	Buffer
	Out bool // written (and maybe read) by the Func; others are only read
	// Over, of an output, names an input in whose very place it may lie: the Func writes no element
	// there that it still reads (ir/deps proves it). "" is none.
	Over string
}

// Takes reports whether b can be the argument for p: as many elements of the same type and
// encoding. A parameter that is only read may also see the words of b, unsigned integers, as the
// narrower ones that they consist of, the least significant first, which is how they lie in memory;
// what the bits mean is then up to the Func.
func (p Param) Takes(b Buffer) bool {
	if b.Type == p.Type {
		return b.Elems() == p.Elems() && b.Enc.Kind == p.Enc.Kind
	}
	words := b.Type.IsInt() && !b.Type.Signed() && p.Type.IsInt() && !p.Type.Signed() && p.Type.Bits() < b.Type.Bits()
	return words && !p.Out && p.Enc.Kind == NoEncoding && b.Bytes() == p.Bytes()
}

// Apart reports whether the memory of parameter p of f is reached through p alone while f runs: it
// lies over no other, and none over it.
func (f *Func) Apart(p Param) bool {
	return p.Over == "" && !slices.ContainsFunc(f.Params, func(q Param) bool { return q.Over == p.Name })
}

// WithBody is f with another body.
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
	Walk(f.Body, func(s Stmt) bool {
		if a, ok := s.(*Alloc); ok {
			m[a.Buf.Name] = a.Buf
		}
		return true
	})
	return m
}

// BufKind says where a Program's buffer lives.
type BufKind uint8

// Kinds of Program buffers.
const (
	InputBuf  BufKind = iota // brought by the caller, in the model's order
	OutputBuf                // brought by the caller
	ConstBuf                 // weights and tables, known at compile time
	ArenaBuf                 // activations, at Offset in the workspace
)

// String is the kind's name in .ripir text.
func (k BufKind) String() string { return [...]string{"input", "output", "const", "arena"}[k] }

// ProgBuf is a buffer of a Program.
type ProgBuf struct {
	Buffer
	Kind   BufKind
	Offset int64  // ArenaBuf: byte offset, a multiple of 64
	Data   []byte // ConstBuf: little-endian contents (not part of the text form, which gives its hash)
	// What the tensor means to the user (inputs and outputs): layout such as "NHWC", and what its
	// integers stand for.
	Layout string
	Levels Levels
	Label  string // the model's name, where it is not one that the IR can hold
}

// Levels says that an input or output holds quantized values, one a byte or in bit planes (then Enc
// says so too). The zero Levels is an ordinary tensor.
type Levels struct {
	Kind  EncodingKind
	Bits  int
	Scale float64 // real value of one integer step of the encoding
	// Zero is the level that stands for 0 (unipolar): the real value is Scale * (level - Zero) +
	// Offset. An i8 buffer holds level - 128.
	Zero int
	// Offset is the real value of the integer 0.
	Offset float64
	// Channels, where not 0, says that an i32 buffer [..., words] holds bits (Bits is 1), channel c
	// in bit c%32 of word c/32.
	Channels int
}

// String is the levels in .ripir text: "levels=unipolar2 scale=0.5", with " zero=128", "
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

// Stage is one step of a Program, between two barriers: Func applied to Args in order of its
// parameters. An argument may have another shape than its parameter, or parts of its words as
// elements (Param.Takes): the Func then sees a view of it.
type Stage struct {
	Name string
	Op   string // the layer's op, for reports
	Func string
	Args []string
	MACs int64
	// Layer is what became of the layer, and why.
	Layer Layer
	Note  string // the model's own words on the layer, which nothing reads
}

// Program is a compiled network before code generation.
type Program struct {
	Name    string
	Buffers []ProgBuf
	Funcs   []*Func
	Stages  []Stage
	Arena   int64 // bytes
}

// Index finds what a Program has by name, nil if there is none of it, without a search of the
// Program's lists. It holds while these stay.
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

// Func finds a Func.
func (x Index) Func(name string) *Func { return x.funcs[name] }

// Buffer finds a buffer.
func (x Index) Buffer(name string) *ProgBuf { return x.buffers[name] }

// FuncByName finds a Func, nil if there is none. Who looks for many takes an Index.
func (p *Program) FuncByName(name string) *Func {
	for _, f := range p.Funcs {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// BufferByName finds a buffer, nil if there is none. Who looks for many takes an Index.
func (p *Program) BufferByName(name string) *ProgBuf {
	for i := range p.Buffers {
		if p.Buffers[i].Name == name {
			return &p.Buffers[i]
		}
	}
	return nil
}
