package codegen

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"text/template"

	"ripc/internal/abi"
	"ripc/ir"
	"ripc/runtime/describe"
)

// headerText is the template of a header, for type header.
//
//go:embed header.h
var headerText string

// plusText and rustText are templates of the same input: the network as an object of C++ or Rust.
//
//go:embed header.hpp
var plusText string

//go:embed header.rs
var rustText string

// Common declares the types that headers and sources of all networks share.
//
//go:embed common.h
var Common string

// header is the template's input.
type header struct {
	*describe.Artifact
	Program, Upper, Hash, Run, Common string
	Stack, Align                      int64
	Number, Threads                   int
	MaxThreads, SyncBytes             int
}

// For returns h for an example with n threads.
func (h header) For(n int) header {
	h.Threads = n
	return h
}

// tensors are the inputs or the outputs, as the template takes them.
type tensors struct {
	Prefix, Title string
	Tensors       []describe.Tensor
}

// Group returns ts with the beginning of the names of their macros.
func (h header) Group(macro, title string, ts []describe.Tensor) tensors {
	return tensors{h.Upper + "_" + macro, title, ts}
}

// openclText is a template of the same input: a header of kernels of OpenCL.
//
//go:embed header_opencl.h
var openclText string

// HeaderText is the C header of the artifact.
func (m *Image) HeaderText() []byte {
	return m.wrapper(cmp.Or(languageOf(m.Target).header, headerText), m.ABI)
}

// WriteWords writes an array of C of little-endian words. declaration has a %d for their number.
func WriteWords(out *bytes.Buffer, declaration string, data []byte) {
	data = append(data, make([]byte, -len(data)&3)...)
	fmt.Fprintf(out, declaration+" = {", len(data)/4)
	for i := 0; i < len(data); i += 4 {
		if i%32 == 0 {
			out.WriteString("\n   ")
		}
		fmt.Fprintf(out, " 0x%xu,", binary.LittleEndian.Uint32(data[i:]))
	}
	out.WriteString("\n};\n\n")
}

// header writes the C header for code with the given hash of its build.
func (m *Image) header(hash string) []byte { return m.wrapper(headerText, hash) }

// wrapper fills the template text for code with the given hash of its build.
func (m *Image) wrapper(text, hash string) []byte {
	d := m.Description
	h := header{Artifact: d, Program: m.Program.Name, Upper: strings.ToUpper(d.Name), Hash: hash,
		Run: abi.Run(d.Name, hash), Common: Common, Stack: stackFrames, Align: abi.Align,
		Number: versionNumber(d.Compiler), MaxThreads: abi.MaxThreads, SyncBytes: abi.SyncBytes}
	for _, k := range m.Kernels {
		h.Stack = max(h.Stack, k.Stack+stackFrames)
	}
	elems := func(t describe.Tensor) int {
		n := 1
		for _, d := range t.Shape {
			n *= d
		}
		return n
	}
	t := template.New("header").Funcs(template.FuncMap{
		"header":  func() string { return string(m.header(hash)) }, // a file of any name
		"comment": Comment, "literal": Literal, "upper": func(s string) string { return strings.ToUpper(CleanName(s)) },
		"shape":    func(s []int) string { return strings.ReplaceAll(strings.Trim(fmt.Sprint(s), "[]"), " ", ", ") },
		"encoding": encodingText, "meaning": meaning, "elems": elems,
		"ctype":  func(dtype string) string { return ctypes()[dtype].name },
		"bytes":  func(t describe.Tensor) int { return elems(t) * ctypes()[t.DType].bytes },
		"scale":  func(t describe.Tensor) string { s, _ := scaleAndOffset(t); return floatLiteral(s) },
		"offset": func(t describe.Tensor) string { _, o := scaleAndOffset(t); return floatLiteral(o) },
		"device": func() int64 { return d.WorkspaceBytes(1) + d.WeightBytes },
	})
	template.Must(t.Parse(headerText)) // for the templates in it
	var b bytes.Buffer
	if err := template.Must(t.New("file").Parse(text)).Execute(&b, h); err != nil {
		panic("BUG: " + err.Error())
	}
	return b.Bytes()
}

// stackFrames is the stack that a call needs in addition to its kernels' buffers, in bytes: return
// addresses, saved registers, and spills. A test compares it with LLVM's figures for real kernels.
const stackFrames = 6144

// versionNumber makes one number of a version that begins with up to three numbers between dots.
func versionNumber(version string) int {
	sum := 0
	for i, part := range append(strings.SplitN(version, ".", 3), "", "", "")[:3] {
		n := 0
		for _, c := range part {
			if c < '0' || c > '9' {
				break
			}
			n = min(10*n+int(c-'0'), 99)
		}
		sum += n * []int{10000, 100, 1}[i]
	}
	return sum
}

// encodingText describes how t holds levels: the continuation of a sentence, or "".
func encodingText(t describe.Tensor) string {
	unit := "bits"
	if t.Bits == 1 {
		unit = "bit"
	}
	switch {
	case t.Packed && !t.Planes():
		return fmt.Sprintf(".\n * %d channels (%s), a bit each, in the words of the last dimension,\n"+
			" * least significant bit first", t.Channels, t.Encoding)
	case t.Packed:
		return fmt.Sprintf(".\n * Bit planes, least significant outermost; %d channels (%s) in the words of "+
			"the last dimension,\n * least significant bit first", t.Channels, t.Encoding)
	case t.Encoding == affine:
		return fmt.Sprintf(".\n * Affine values of %d bits, one a byte", t.Bits)
	case t.Encoding != "":
		return fmt.Sprintf(".\n * Levels of %d %s, 0 to %d, one a byte (%s)", t.Bits, unit, 1<<t.Bits-1, t.Encoding)
	}
	return ""
}

// meaning describes the real value of level l of t. A plane counts l's bits; bipolar planes
// are steps of 2.
func meaning(t describe.Tensor) string {
	s, offset := strconv.FormatFloat(t.Scale, 'g', -1, 64), ""
	if v := strconv.FormatFloat(math.Abs(t.RealOffset), 'g', -1, 64); t.RealOffset < 0 {
		offset = " - " + v
	} else if t.RealOffset > 0 {
		offset = " + " + v
	}
	switch top := 1<<t.Bits - 1; t.Encoding {
	case ir.Bipolar.String():
		return fmt.Sprintf("Level l is the value %s * (2*l - %d)%s", s, top, offset)
	case ir.BipolarInv.String():
		return fmt.Sprintf("Level l is the value %s * (%d - 2*l)%s", s, top, offset)
	}
	if t.Encoding == affine {
		return fmt.Sprintf("Element l is the value %s * (l - %d)%s", s, t.ZeroPoint, offset)
	}
	return fmt.Sprintf("Level l is the value %s * l%s", s, offset)
}

// scaleAndOffset gives meaning as scale and offset: level l of t stands for scale * (l -
// t.ZeroPoint) + offset.
func scaleAndOffset(t describe.Tensor) (scale, offset float64) {
	top := float64(int(1)<<t.Bits - 1)
	switch t.Encoding {
	case ir.Bipolar.String():
		return 2 * t.Scale, t.RealOffset - top*t.Scale
	case ir.BipolarInv.String():
		return -2 * t.Scale, t.RealOffset + top*t.Scale
	}
	return t.Scale, t.RealOffset
}

// floatLiteral is v as a literal of C: a float where v is one.
func floatLiteral(v float64) string {
	bits, suffix := 64, ""
	if float64(float32(v)) == v {
		bits, suffix = 32, "f"
	}
	s := strconv.FormatFloat(v, 'g', -1, bits)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	if v < 0 {
		return "(" + s + suffix + ")"
	}
	return s + suffix
}

// ctype is a type of C, and the size of an element in bytes.
type ctype struct {
	name  string
	bytes int
}

// ctypes are the types of C by dtype.
func ctypes() map[string]ctype {
	return map[string]ctype{"f32": {"float", 4}, "i32": {"int32_t", 4}, "u32": {"uint32_t", 4}, "i16": {"int16_t", 2},
		"u8": {"uint8_t", 1}, "i8": {"int8_t", 1}}
}

// Literal returns s, possibly from a file, as a C string. Characters that are special to a
// compiler, or not ASCII, are escaped byte by byte.
func Literal(s string) string {
	var b strings.Builder
	for _, c := range []byte(s) {
		if c < ' ' || c > '~' || strings.IndexByte(`"\?`, c) >= 0 {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return `"` + b.String() + `"`
}

// Comment makes s, which a file may have given, fit into a comment of C: of it stay characters that
// mean nothing there, alone or together, and the others are named, as in <U+002A>. So nothing in it
// ends or opens a comment, joins lines, is a trigraph, or shows a reader another text than the
// compiler's.
func Comment(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9',
			strings.ContainsRune(" _.:;,()[]-+=<>", r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "<%U>", r)
		}
	}
	return b.String()
}
