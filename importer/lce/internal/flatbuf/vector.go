package flatbuf

import (
	"encoding/binary"
	"math"
)

// Bytes is field i of type [ubyte]: a part of the file, not a copy; nil where it is absent.
func (t Table) Bytes(i int) []byte {
	v := t.vector(i, 1)
	if v.n == 0 {
		return nil
	}
	return t.r.data[v.at : v.at+v.n : v.at+v.n]
}

// String is field i of type string.
func (t Table) String(i int) string {
	b := t.Bytes(i)
	if len(b) == 0 || !t.r.charge(t.at, len(b)) {
		return ""
	}
	return string(b)
}

// Int32s is field i of type [int].
func (t Table) Int32s(i int) []int {
	v := t.vector(i, 4)
	return readAll(v, func(b []byte) int { return int(int32(binary.LittleEndian.Uint32(b))) })
}

// Uint16s is field i of type [ushort].
func (t Table) Uint16s(i int) []int {
	v := t.vector(i, 2)
	return readAll(v, func(b []byte) int { return int(binary.LittleEndian.Uint16(b)) })
}

// Int64s is field i of type [long].
func (t Table) Int64s(i int) []int64 {
	v := t.vector(i, 8)
	return readAll(v, func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) })
}

// Float32s is field i of type [float].
func (t Table) Float32s(i int) []float32 {
	v := t.vector(i, 4)
	return readAll(v, func(b []byte) float32 { return math.Float32frombits(binary.LittleEndian.Uint32(b)) })
}

// Tables is field i, a vector of tables.
func (t Table) Tables(i int) []Table {
	v := t.vector(i, 4)
	if v.n == 0 || !t.r.charge(v.at, 4*v.n) {
		return nil
	}
	var out []Table // grows: a fault ends it early
	for k := range v.n {
		pos, ok := t.r.follow(v.at+4*k, "a table")
		if !ok {
			return nil
		}
		e := t.r.table(pos)
		if t.r.err != nil {
			return nil
		}
		out = append(out, e)
	}
	return out
}

// vector is the place of a vector's elements.
type vector struct {
	r           *Reader
	at, n, size int
}

func (t Table) vector(i, size int) vector {
	pos, ok := t.field(i, 4)
	if !ok {
		return vector{}
	}
	if pos, ok = t.r.follow(pos, "a vector"); !ok || !t.r.has(pos, 4, "a vector's length") {
		return vector{}
	}
	n := int64(binary.LittleEndian.Uint32(t.r.data[pos:]))
	if n > int64(len(t.r.data)-pos-4)/int64(size) {
		t.r.fail(pos, "a vector of %d elements of %d bytes does not lie in the file", n, size)
		return vector{}
	}
	return vector{t.r, pos + 4, int(n), size}
}

func readAll[T any](v vector, read func([]byte) T) []T {
	if v.n == 0 || !v.r.charge(v.at, v.n*v.size) {
		return nil
	}
	out := make([]T, v.n)
	for i := range out {
		out[i] = read(v.r.data[v.at+i*v.size:])
	}
	return out
}
