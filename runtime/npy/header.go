package npy

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// maxHeader bounds the text of a header; NumPy itself refuses more than 10,000 bytes.
const maxHeader = 1 << 16

// maxRank bounds the number of axes (NumPy's own bound).
const maxRank = 64

// header is the contents of a file's header.
type header struct {
	dtype   string
	fortran bool
	shape   []int
}

// descrs pairs the names of element types: NumPy's and ours.
func descrs() [][2]string {
	return [][2]string{{"<f4", "f32"}, {"<f8", "f64"}, {"|i1", "i8"}, {"<i4", "i32"}, {"<i8", "i64"},
		{"|u1", "u8"}, {"<u4", "u32"}, {"<u8", "u64"}, {"|b1", "bool"}}
}

// readHeader reads magic, version, length and text.
func readHeader(r io.Reader) (header, error) {
	var fixed [8]byte
	if _, err := io.ReadFull(r, fixed[:]); err != nil {
		return header{}, &Error{Msg: "shorter than the 8 bytes of magic and version", Err: err}
	}
	if string(fixed[:6]) != magic {
		return header{}, &Error{Msg: fmt.Sprintf("the file starts with %q", fixed[:6]),
			Help: fmt.Sprintf("a .npy file starts with %q (numpy.save writes it)", magic)}
	}
	var n uint64
	switch fixed[6] {
	case 1:
		var b [2]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return header{}, &Error{Msg: "the file ends within the header's length", Err: err}
		}
		n = uint64(binary.LittleEndian.Uint16(b[:]))
	case 2:
		var b [4]byte
		if _, err := io.ReadFull(r, b[:]); err != nil {
			return header{}, &Error{Msg: "the file ends within the header's length", Err: err}
		}
		n = uint64(binary.LittleEndian.Uint32(b[:]))
	default:
		return header{}, &Error{Msg: fmt.Sprintf("format version %d.%d", fixed[6], fixed[7]),
			Help: "versions 1 and 2 are read"}
	}
	if n > maxHeader {
		return header{}, &Error{Msg: fmt.Sprintf("the header claims %d bytes", n),
			Help: fmt.Sprintf("at most %d are read", maxHeader)}
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(r, text); err != nil {
		return header{}, &Error{Msg: fmt.Sprintf("the file ends within the header's %d bytes", n), Err: err}
	}
	return parseHeader(string(text))
}

// formatHeader returns everything in front of the data.
func formatHeader(dtype string, shape []int) []byte {
	descr := ""
	for _, d := range descrs() {
		if d[1] == dtype {
			descr = d[0]
		}
	}
	var dims strings.Builder
	for i, d := range shape {
		if i > 0 {
			dims.WriteString(", ")
		}
		dims.WriteString(strconv.Itoa(d))
	}
	if len(shape) == 1 {
		dims.WriteByte(',')
	}
	text := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%s), }", descr, dims.String())
	fixed := 10
	pad := (64 - (fixed+len(text)+1)%64) % 64
	if len(text)+pad+1 > 1<<16-1 {
		fixed = 12
		pad = (64 - (fixed+len(text)+1)%64) % 64
	}
	n := len(text) + pad + 1
	out := append([]byte(magic), byte(fixed/2-4), 0) // 10 -> version 1, 12 -> version 2
	if fixed == 10 {
		out = binary.LittleEndian.AppendUint16(out, uint16(n))
	} else {
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	out = append(out, text...)
	out = append(out, strings.Repeat(" ", pad)...)
	return append(out, '\n')
}
