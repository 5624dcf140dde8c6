package flatbuf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
)

// Types of FlexBuffers values.
const (
	flexNull = iota
	flexInt
	flexUint
	flexFloat
	flexKey
	flexString
	flexIndirectInt
	flexIndirectUint
	flexIndirectFloat
	flexMap
	flexBool = 26
)

const (
	maxEntries = 256 // of a map
	maxText    = 256 // bytes of a key or string
)

// Map is a FlexBuffers map of keys to int64, float64, bool or string; other kinds of values are
// nil.
type Map map[string]any

// Int is the whole number under key; a bool counts as 0 or 1. ok is false if there is none.
func (m Map) Int(key string) (n int64, ok bool) {
	switch v := m[key].(type) {
	case int64:
		return v, true
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	}
	return 0, false
}

// flex reads positions counted from the beginning of data, each with a width of 1, 2, 4 or 8 bytes.
type flex struct{ data []byte }

// ParseMap reads a FlexBuffers buffer with a map as its root. Values are read one level deep.
func ParseMap(data []byte) (Map, error) {
	f := flex{data}
	n := len(data)
	if n < 3 {
		return nil, &Error{0, fmt.Sprintf("the options have %d bytes, want 3 or more", n)}
	}
	width, typ := int(data[n-1]), data[n-2]
	if typ>>2 != flexMap {
		return nil, &Error{n - 2, fmt.Sprintf("the options are a value of type %d, want a map", typ>>2)}
	}
	if err := f.check(n-2-width, width, width); err != nil {
		return nil, err
	}
	pos, err := f.follow(n-2-width, width)
	if err != nil {
		return nil, err
	}
	return f.mapAt(pos, 1<<(typ&3))
}

// mapAt reads the map with its values at pos, w bytes each. Before them stand the offset of the
// keys, the width of an offset there, and the number of entries. Behind them stands one byte of
// type for each.
func (f flex) mapAt(pos, w int) (Map, error) {
	if err := f.check(pos-3*w, 3*w, w); err != nil {
		return nil, err
	}
	size := f.uint(pos-w, w)
	if size > maxEntries {
		return nil, &Error{pos - w, fmt.Sprintf("a map of %d entries, at most %d are read", size, maxEntries)}
	}
	n := int(size)
	if err := f.check(pos, n*w+n, w); err != nil {
		return nil, err
	}
	keys, err := f.follow(pos-3*w, w)
	if err != nil {
		return nil, err
	}
	kw := f.uint(pos-2*w, w)
	if kw > 8 {
		return nil, &Error{pos - 2*w, fmt.Sprintf("offsets of keys have %d bytes", kw)}
	}
	if err := f.check(keys, n*int(kw), int(kw)); err != nil {
		return nil, err
	}
	m := Map{}
	for i := range n {
		at, err := f.follow(keys+i*int(kw), int(kw))
		if err != nil {
			return nil, err
		}
		key, err := f.key(at)
		if err != nil {
			return nil, err
		}
		if m[key], err = f.value(pos+i*w, w, f.data[pos+n*w+i]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// value reads the value in the slot at pos, w bytes wide.
func (f flex) value(pos, w int, packed byte) (any, error) {
	typ, own := int(packed>>2), 1<<(packed&3)
	switch typ {
	case flexInt, flexUint, flexFloat, flexBool:
		return f.scalar(typ, pos, w)
	case flexIndirectInt, flexIndirectUint, flexIndirectFloat, flexString, flexKey:
	default:
		return nil, nil
	}
	at, err := f.follow(pos, w)
	if err != nil {
		return nil, err
	}
	switch typ {
	case flexKey:
		return f.key(at)
	case flexString:
		if err := f.check(at-own, own, own); err != nil {
			return nil, err
		}
		n := f.uint(at-own, own)
		if n > maxText {
			return nil, &Error{at, fmt.Sprintf("a string of %d bytes, at most %d are read", n, maxText)}
		}
		if err := f.check(at, int(n), 1); err != nil {
			return nil, err
		}
		return string(f.data[at : at+int(n)]), nil
	}
	if err := f.check(at, own, own); err != nil {
		return nil, err
	}
	return f.scalar(typ-(flexIndirectInt-flexInt), at, own)
}

// scalar reads w bytes at pos, which lie in the data.
func (f flex) scalar(typ, pos, w int) (any, error) {
	u := f.uint(pos, w)
	switch {
	case typ == flexBool:
		return u != 0, nil
	case typ == flexInt:
		shift := 64 - 8*w
		return int64(u<<shift) >> shift, nil
	case typ == flexUint && u > math.MaxInt64:
		return nil, &Error{pos, fmt.Sprintf("the number %d is too large", u)}
	case typ == flexUint:
		return int64(u), nil
	case w == 4:
		return float64(math.Float32frombits(uint32(u))), nil
	case w == 8:
		return math.Float64frombits(u), nil
	}
	return nil, nil // half and quarter floats, which Larq does not write
}

// key is the text at pos up to its zero byte.
func (f flex) key(pos int) (string, error) {
	if n := bytes.IndexByte(f.data[pos:min(len(f.data), pos+maxText)], 0); n >= 0 {
		return string(f.data[pos : pos+n]), nil
	}
	return "", &Error{pos, fmt.Sprintf("a key that does not end within %d bytes", maxText)}
}

// check wants n bytes at pos in the data, of numbers of w bytes.
func (f flex) check(pos, n, w int) error {
	if w != 1 && w != 2 && w != 4 && w != 8 {
		return &Error{max(pos, 0), fmt.Sprintf("numbers of %d bytes", w)}
	}
	if pos < 0 || n < 0 || pos > len(f.data) || n > len(f.data)-pos {
		return &Error{max(pos, 0), fmt.Sprintf("%d bytes do not lie in the options, which have %d", n, len(f.data))}
	}
	return nil
}

// follow reads the offset of w bytes at pos, which lie in the data; offsets count backwards.
func (f flex) follow(pos, w int) (int, error) {
	off := f.uint(pos, w)
	if off == 0 || off > uint64(pos) {
		return 0, &Error{pos, fmt.Sprintf("the offset %d does not lead into the options", off)}
	}
	return pos - int(off), nil
}

func (f flex) uint(pos, w int) uint64 {
	s := f.data[pos:]
	switch w {
	case 1:
		return uint64(s[0])
	case 2:
		return uint64(binary.LittleEndian.Uint16(s))
	case 4:
		return uint64(binary.LittleEndian.Uint32(s))
	default:
		return binary.LittleEndian.Uint64(s)
	}
}
