package ir

import (
	"fmt"
	"math"
	"strings"
)

// Type is the type of an element or of an expression.
type Type uint8

// The scalar types. Vectors exist only in generated code: a vectorize loop is still a loop.
const (
	Invalid Type = iota
	Bool
	I8
	I16
	I32
	I64
	U8
	U16
	U32
	U64
	F32
)

type typeInfo struct {
	name   string
	bits   int
	signed bool
}

func (t Type) info() typeInfo {
	if t > F32 {
		t = Invalid
	}
	return [...]typeInfo{{"invalid", 0, false}, {"bool", 1, false}, {"i8", 8, true}, {"i16", 16, true},
		{"i32", 32, true}, {"i64", 64, true}, {"u8", 8, false}, {"u16", 16, false}, {"u32", 32, false},
		{"u64", 64, false},
		{"f32", 32, true}}[t]
}

// String returns the type's name in .ripir text.
func (t Type) String() string { return t.info().name }

// Bits returns the width in bits; 1 for bool.
func (t Type) Bits() int { return t.info().bits }

// Bytes returns the size of an element in memory; bool takes one byte.
func (t Type) Bytes() int { return (t.info().bits + 7) / 8 }

// Signed reports whether the type has negative values.
func (t Type) Signed() bool { return t.info().signed }

// IsFloat reports whether t is f32.
func (t Type) IsFloat() bool { return t == F32 }

// IsInt reports whether t is an integer type (bool is not).
func (t Type) IsInt() bool { return t >= I8 && t <= U64 }

// ParseType is the inverse of Type.String.
func ParseType(s string) (Type, error) { return parse("type", s, F32) }

// parse returns the value of 1 to last that has text as its String.
func parse[E interface {
	~uint8
	String() string
}](what, text string, last E) (E, error) {
	n := int(last) - 1
	for e := E(1); e <= last; e++ {
		if e.String() == text {
			return e, nil
		}
	}
	names := make([]string, last)
	for i := range names {
		names[i] = E(i + 1).String()
	}
	return 0, fmt.Errorf("unknown %s %q (want %s or %s)", what, text, strings.Join(names[:n], ", "), names[n])
}

// EncodingKind is the meaning of the bits of a packed buffer.
type EncodingKind uint8

// The encodings; NoEncoding is an ordinary tensor.
const (
	NoEncoding EncodingKind = iota
	Unipolar
	Bipolar
	BipolarInv
)

// String returns the encoding's name in .ripir text and in models.
func (k EncodingKind) String() string {
	if k > BipolarInv {
		k = NoEncoding
	}
	return [...]string{"none", "unipolar", "bipolar", "bipolar_inv"}[k]
}

// ParseEncodingKind is the inverse of EncodingKind.String, for encodings but NoEncoding.
func ParseEncodingKind(s string) (EncodingKind, error) { return parse("encoding", s, BipolarInv) }

// Encoding is part of a buffer's type. Planes outermost (shape[0]), words innermost (the packed
// axis).
type Encoding struct {
	Kind     EncodingKind
	Channels int // true length of the packed axis, in bits
}

// Buffer is a typed, dense, row-major array.
type Buffer struct {
	Name  string
	Type  Type
	Shape []int
	Enc   Encoding
	// Range holds every element that is ever written, of integers; the zero Range is that of the
	// type.
	Range Range
	Role  Role // of an alloc
	Space Space
}

// Space says who sees an alloc. It never changes the result.
type Space uint8

// Spaces.
const (
	// Own: whoever enters the alloc's scope has one, be it the host, a block or a thread.
	Own Space = iota
	// Shared: the threads of a block have one together, in the block's fast memory.
	Shared
)

// Range is the numbers From..To, both included. The zero Range stands for all numbers.
type Range struct{ From, To int64 }

// Any reports whether r stands for all numbers.
func (r Range) Any() bool { return r == Range{} }

// Has reports whether r has all numbers of o.
func (r Range) Has(o Range) bool {
	return r.Any() || !o.Any() && r.From <= o.From && o.To <= r.To
}

// Limits returns the least and the largest integer of type t, as i64; those of u64 are cut to i64.
func (t Type) Limits() Range {
	switch {
	case t.Signed():
		return Range{math.MinInt64 >> (64 - t.Bits()), math.MaxInt64 >> (64 - t.Bits())}
	case t == U64:
		return Range{0, math.MaxInt64}
	}
	return Range{0, 1<<t.Bits() - 1}
}

// Integer returns the element of type t at the start of data, little-endian; of u64 and f32, its
// bits.
func (t Type) Integer(data []byte) int64 {
	u, info := uint64(0), t.info()
	size := (info.bits + 7) / 8
	for k := range size {
		u |= uint64(data[k]) << (8 * k)
	}
	if shift := 64 - 8*size; info.signed && t != F32 {
		return int64(u<<shift) >> shift
	}
	return int64(u)
}

// ValueRange returns the range of b's elements, which are integers: the declared range, or that of
// the type.
func (b Buffer) ValueRange() Range {
	if b.Range.Any() {
		return b.Type.Limits()
	}
	return b.Range
}

// FirstOutside returns the first of data's elements, little-endian like b, that is not in b's
// Range.
func (b Buffer) FirstOutside(data []byte) (element int, found bool) {
	if b.Range.Any() {
		return 0, false
	}
	size := b.Type.Bytes()
	for i := 0; i+size <= len(data); i += size {
		if v := b.Type.Integer(data[i:]); v < b.Range.From || v > b.Range.To {
			return i / size, true
		}
	}
	return 0, false
}

// SamePlaces reports whether element i of a and of b occupy the same bytes if both begin at one
// address, and their numbers of elements agree. Floats and integers never share places, since C may
// not alias them.
func SamePlaces(a, b Buffer) bool {
	return a.Elems() == b.Elems() && a.Type.Bytes() == b.Type.Bytes() && a.Type.IsFloat() == b.Type.IsFloat()
}

// Elems returns the number of elements; 1 for a scalar (empty shape).
func (b Buffer) Elems() int {
	n := 1
	for _, d := range b.Shape {
		n *= d
	}
	return n
}

// Bytes returns the size in memory.
func (b Buffer) Bytes() int { return b.Elems() * b.Type.Bytes() }
