package ir

import "fmt"

// Names and declarations: what a func may call things, and which buffers can exist.

const nameHelp = "names are letters, digits, \"_\" and \".\", and do not start with a digit or \".\""

// IsName reports whether s can be the name of a func, buffer or loop variable.
func IsName(s string) bool {
	for i, c := range []byte(s) {
		letter := c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
		if !letter && (i == 0 || c != '.' && (c < '0' || c > '9')) {
			return false
		}
	}
	return s != ""
}

func (v *verifier) name(s string) error {
	if !IsName(s) {
		return wrong(fmt.Sprintf("%q is not a name", s), nameHelp)
	}
	if v.names[s] {
		return wrong(fmt.Sprintf("%%%s is declared twice", s), "loop variables and buffers have names of their own")
	}
	v.names[s] = true
	return nil
}

func (v *verifier) declare(b Buffer, out bool) error {
	err := v.name(b.Name)
	if err == nil {
		err = CheckBuffer(b)
	}
	if err != nil {
		return v.fail(BufferString(b), err)
	}
	v.bufs[b.Name], v.out[b.Name] = b, out
	return nil
}

// CheckBuffer checks a declaration: element type, dimensions, encoding. The error is an *Error without a place.
func CheckBuffer(b Buffer) error {
	const limit = 1 << 40
	if b.Type == Invalid || b.Type > F32 {
		return wrong("the element type is invalid", "")
	}
	n := 1
	for _, d := range b.Shape {
		if d < 1 || d > limit || n*d > limit {
			return wrong(fmt.Sprintf("the shape %v is not possible", b.Shape), "dimensions are 1 or more, and at most 1<<40 elements in all")
		}
		n *= d
	}
	if b.Enc.Kind == NoEncoding {
		if b.Enc.Channels != 0 {
			return wrong("there are channels but no encoding", "")
		}
		return nil
	}
	if !b.Type.IsInt() || b.Type.Signed() {
		return wrong(fmt.Sprintf("bit planes cannot be stored in %s", b.Type), "use u8, u16, u32 or u64")
	}
	if len(b.Shape) < 2 {
		return wrong("bit planes need the dimensions [planes, ..., words]", "")
	}
	w := b.Type.Bits()
	if words := b.Shape[len(b.Shape)-1]; b.Enc.Channels < 1 || b.Enc.Channels > limit || words != (b.Enc.Channels+w-1)/w {
		return wrong(fmt.Sprintf("%d channels do not fill %d words of %d bits", b.Enc.Channels, words, w),
			"the last dimension is the number of channels divided by the width, rounded up")
	}
	return nil
}
