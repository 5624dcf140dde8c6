// Package flatbuf reads FlatBuffers tables and FlexBuffers maps from bytes that nobody has checked.
//
// It is a reader of its own because the Go library has no verifier. The accessors of the library
// index the bytes as they come. On a damaged file they panic, or read some other part of it. The
// accessors generated for TFLite have nearly 10,000 lines, and ripc needs a dozen tables. The
// library does not read FlexBuffers at all.
//
// A Reader never panics and never copies more than a fixed multiple of its data. The first fault is
// kept (Err), and from then on everything reads as absent. So code reads a whole structure and asks
// once. All numbers are little endian.
//
// Sources of the formats: flatbuffers.dev, "FlatBuffers binary format" and "FlexBuffers".
package flatbuf

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Error is a fault at a place of the file.
type Error struct {
	At  int // byte
	Msg string
}

// Error names the byte and the fault.
func (e *Error) Error() string { return fmt.Sprintf("byte %d: %s", e.At, e.Msg) }

// Reader holds the bytes of one file and the first fault found in them.
type Reader struct {
	data []byte
	left int // the bytes that may still be read; see charge
	err  error
}

// tableCost is the charge for a table: about the memory that it takes once it is read.
const tableCost = 64

// NewReader reads data, which it keeps and does not change.
func NewReader(data []byte) *Reader { return &Reader{data: data, left: 8*len(data) + 4<<10} }

// Err is the first fault, as *Error, or nil.
func (r *Reader) Err() error { return r.err }

func (r *Reader) fail(at int, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{at, fmt.Sprintf(format, args...)}
	}
}

// charge counts the bytes that are read. In a file that a program wrote, no byte belongs to more
// than a few parts. In one made to exhaust memory, thousands of tables may share their bytes.
func (r *Reader) charge(at, n int) bool {
	if r.left -= n; r.left < 0 {
		r.fail(at, "the parts of the file overlap: more was read than it can hold")
	}
	return r.err == nil
}

// has reports whether n bytes lie at position at, which must not be negative.
func (r *Reader) has(at, n int, what string) bool {
	if r.err != nil {
		return false
	}
	if at < 0 || n < 0 || at > len(r.data) || n > len(r.data)-at {
		r.fail(at, "%s of %d bytes does not lie in the file, which has %d", what, n, len(r.data))
		return false
	}
	return true
}

// follow reads the offset at position at and gives the position that it leads to; ok is false after
// a fault.
func (r *Reader) follow(at int, what string) (pos int, ok bool) {
	if !r.has(at, 4, "an offset") {
		return 0, false
	}
	off := int64(binary.LittleEndian.Uint32(r.data[at:]))
	if off == 0 || int64(at)+off > int64(len(r.data)) {
		r.fail(at, "the offset of %s, %d, does not lead into the file", what, off)
		return 0, false
	}
	return at + int(off), true
}

// Root is the file's table, if the file has the identifier (four bytes).
func (r *Reader) Root(identifier string) Table {
	if len(r.data) < 8 || string(r.data[4:8]) != identifier {
		r.fail(min(4, len(r.data)), "the file does not have the identifier %q", identifier)
		return Table{}
	}
	pos, ok := r.follow(0, "the root table")
	if !ok {
		return Table{}
	}
	return r.table(pos)
}

// Table is a table; the zero Table has no fields.
type Table struct {
	r      *Reader
	at     int
	fields []byte // of the vtable, two bytes each
	size   int
}

func (r *Reader) table(at int) Table {
	if !r.has(at, 4, "a table") || !r.charge(at, tableCost) {
		return Table{}
	}
	vt := int64(at) - int64(int32(binary.LittleEndian.Uint32(r.data[at:])))
	if vt < 0 || vt > int64(len(r.data)) || !r.has(int(vt), 4, "a vtable") {
		r.fail(at, "the table's vtable does not lie in the file")
		return Table{}
	}
	v := r.data[vt:]
	length, size := int(binary.LittleEndian.Uint16(v)), int(binary.LittleEndian.Uint16(v[2:]))
	if length < 4 || length%2 != 0 || !r.has(int(vt), length, "a vtable") || !r.has(at, size, "a table") {
		r.fail(at, "the table's vtable has %d bytes", length)
		return Table{}
	}
	return Table{r, at, v[4:length], size}
}

// Has reports whether the table is there; it may have no fields.
func (t Table) Has() bool { return t.r != nil }

// At is the table's place, for messages.
func (t Table) At() int { return t.at }

// field gives the position of a field of n bytes; ok is false if it is absent or after a fault.
func (t Table) field(i, n int) (pos int, ok bool) {
	if t.r == nil || t.r.err != nil || 2*i+2 > len(t.fields) {
		return 0, false
	}
	off := int(binary.LittleEndian.Uint16(t.fields[2*i:]))
	if off == 0 {
		return 0, false
	}
	if off < 4 || off+n > t.size {
		t.r.fail(t.at, "field %d lies outside its table", i)
		return 0, false
	}
	return t.at + off, true
}

// Int32 is field i of type int (or uint below 2^31), def where it is absent.
func (t Table) Int32(i, def int) int {
	if pos, ok := t.field(i, 4); ok {
		return int(int32(binary.LittleEndian.Uint32(t.r.data[pos:])))
	}
	return def
}

// Int8 is field i of type byte, def where it is absent.
func (t Table) Int8(i, def int) int {
	if pos, ok := t.field(i, 1); ok {
		return int(int8(t.r.data[pos]))
	}
	return def
}

// Bool is field i of type bool, false where it is absent.
func (t Table) Bool(i int) bool {
	pos, ok := t.field(i, 1)
	return ok && t.r.data[pos] != 0
}

// Float32 is field i of type float, def where it is absent.
func (t Table) Float32(i int, def float32) float32 {
	if pos, ok := t.field(i, 4); ok {
		return math.Float32frombits(binary.LittleEndian.Uint32(t.r.data[pos:]))
	}
	return def
}

// Uint64 is field i of type ulong, 0 where it is absent.
func (t Table) Uint64(i int) uint64 {
	if pos, ok := t.field(i, 8); ok {
		return binary.LittleEndian.Uint64(t.r.data[pos:])
	}
	return 0
}

// Table is field i of a table type, the zero Table where it is absent.
func (t Table) Table(i int) Table {
	pos, ok := t.field(i, 4)
	if !ok {
		return Table{}
	}
	if pos, ok = t.r.follow(pos, "a table"); !ok {
		return Table{}
	}
	return t.r.table(pos)
}
