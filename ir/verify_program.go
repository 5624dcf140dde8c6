package ir

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
)

// VerifyProgram checks every Func of p, that buffers lie inside the arena, and that stages fit
// their Funcs. A stage may only read inputs, constants, and buffers that were written before and
// not overwritten since through the same memory. It fails with *Error.
func VerifyProgram(p *Program) error {
	return Try(func() { checkProgram(p) })
}

func checkProgram(p *Program) {
	v := &programVerifier{p: p, bufs: map[string]*ProgBuf{}, funcs: map[string]*Func{}, written: map[string]bool{}}
	if !IsName(p.Name) {
		v.fail("program", "", fmt.Sprintf("%q is not a name", p.Name), nameHelp)
	}
	checked := map[*Func]bool{}
	for _, f := range p.Funcs {
		if f == nil || v.funcs[f.Name] != nil {
			v.fail("funcs", "", "a func is missing or has the name of another", "")
		}
		v.funcs[f.Name] = f
		checkFunc(f, checked)
	}
	for i := range p.Buffers {
		v.buffer(&p.Buffers[i])
	}
	for _, s := range p.Stages {
		v.stage(s)
	}
	for _, b := range p.Buffers {
		if b.Kind == OutputBuf && !v.written[b.Name] {
			v.fail(BufferString(b.Buffer), "", "no stage writes this output", "")
		}
	}
}

type programVerifier struct {
	p       *Program
	bufs    map[string]*ProgBuf
	funcs   map[string]*Func
	written map[string]bool
	arena   []*ProgBuf // arena buffers with valid contents, by offset
}

func (v *programVerifier) fail(op, stage, msg, help string) {
	node := "program @" + v.p.Name
	if stage != "" {
		node += fmt.Sprintf(", stage %q", stage)
	}
	panic(&Error{Op: op, Node: node, Msg: msg, Help: help})
}

func (v *programVerifier) buffer(b *ProgBuf) {
	fail := func(help, format string, args ...any) {
		v.fail(BufferString(b.Buffer), "", fmt.Sprintf(format, args...), help)
	}
	if !IsName(b.Name) {
		fail(nameHelp, "%q is not a name", b.Name)
	}
	if v.bufs[b.Name] != nil {
		fail("", "%%%s is declared twice", b.Name)
	}
	v.bufs[b.Name] = b
	if e := (*Error)(nil); errors.As(CheckBuffer(b.Buffer), &e) {
		fail(e.Help, "%s", e.Msg)
	}
	if strings.ContainsAny(b.Layout, " \t\r\n") {
		fail("", "the layout %q is not one word", b.Layout)
	}
	if msg := b.levelsFault(); msg != "" {
		fail("inputs and outputs hold levels of 1 to 8 bits, as u8 or in as many bit planes, or of 1 bit in i32 words",
			"%s", msg)
	}
	switch size := int64(b.Bytes()); b.Kind {
	case ArenaBuf:
		if b.Offset < 0 || b.Offset%64 != 0 || b.Offset > v.p.Arena-size {
			fail("offsets are multiples of 64, and the buffer ends inside the arena",
				"%d bytes at %d are not in an arena of %d bytes", size, b.Offset, v.p.Arena)
		}
	case ConstBuf:
		if int64(len(b.Data)) != size {
			fail("", "the constant has %d bytes of contents, not %d", len(b.Data), size)
		}
		if e, found := b.FirstOutside(b.Data); found {
			fail("", "element %d of the constant is another", e)
		}
		v.written[b.Name] = true
	case InputBuf:
		v.written[b.Name] = true
	case OutputBuf:
	default:
		fail("", "the kind of buffer is invalid")
	}
}

// levelsFault returns the fault of b's levels, or "".
func (b *ProgBuf) levelsFault() string {
	l := b.Levels
	switch {
	case l == Levels{}:
		return ""
	case b.Kind != InputBuf && b.Kind != OutputBuf:
		return fmt.Sprintf("the buffer has levels, and is %s", b.Kind)
	case l.Kind == NoEncoding || l.Kind > BipolarInv || l.Bits < 1 || l.Bits > 8 ||
		!(math.Abs(l.Scale) <= math.MaxFloat64) || !(math.Abs(l.Offset) <= math.MaxFloat64):
		return l.String() + " makes no sense"
	case l.Zero < 0 || l.Zero >= 1<<l.Bits || l.Zero > 0 && l.Kind != Unipolar:
		return l.String() + " has a zero point that is none of its levels"
	case l.Channels != 0:
		if last := len(b.Shape) - 1; last < 0 || b.Enc.Kind != NoEncoding || b.Type != I32 || l.Bits != 1 ||
			l.Channels < 1 || l.Channels > 32*b.Shape[last] || l.Channels <= 32*b.Shape[last]-32 {
			return l.String() + " does not fit the buffer"
		}
	case b.Enc.Kind == NoEncoding && b.Type != U8 && (b.Type != I8 || l.Bits != 8 || l.Kind != Unipolar),
		b.Enc.Kind != NoEncoding && (b.Enc.Kind != l.Kind || b.Shape[0] != l.Bits):
		return l.String() + " does not fit the buffer"
	}
	return ""
}

func (v *programVerifier) stage(s Stage) {
	if s.Op == "" || strings.ContainsAny(s.Op, " \t\r\n") || s.Op[0] == '@' {
		v.fail("", s.Name, fmt.Sprintf("the op %q is not one word", s.Op), "")
	}
	if s.MACs < 0 {
		v.fail("", s.Name, fmt.Sprintf("%d operations", s.MACs), "")
	}
	f := v.funcs[s.Func]
	if f == nil {
		v.fail("@"+s.Func, s.Name, fmt.Sprintf("there is no func @%s", s.Func), "")
	}
	if len(s.Args) != len(f.Params) {
		v.fail("@"+s.Func, s.Name, fmt.Sprintf("%d arguments", len(s.Args)),
			fmt.Sprintf("@%s takes %d", s.Func, len(f.Params)))
	}
	for i, name := range s.Args {
		b, q := v.bufs[name], f.Params[i]
		fail := func(help, format string, args ...any) { v.fail("%"+name, s.Name, fmt.Sprintf(format, args...), help) }
		if b == nil {
			fail("", "there is no buffer %%%s", name)
		}
		parameter := func() string { return fmt.Sprintf("the parameter of @%s is %s", f.Name, BufferString(q.Buffer)) }
		e, outside := q.FirstOutside(b.Data)
		switch {
		case !q.Takes(b.Buffer):
			fail(parameter(), "the argument is %s", BufferString(b.Buffer))
		case !q.Out && !q.Range.Has(b.Range) && b.Kind != ConstBuf:
			fail(parameter(), "elements of %s can be others", BufferString(b.Buffer))
		case q.Out && !b.Range.Has(q.Range):
			fail(parameter(), "the stage may write others than %s has", BufferString(b.Buffer))
		case outside && b.Kind == ConstBuf:
			fail(parameter(), "element %d of the constant is another", e)
		case q.Out && (b.Kind == InputBuf || b.Kind == ConstBuf):
			fail("write to an output or arena buffer", "the stage writes the %s %%%s", b.Kind, name)
		case !q.Out && !v.written[name]:
			fail("", "%%%s is read, but not written before, or overwritten since", name)
		}
		for j, other := range s.Args[:i] {
			o := v.bufs[other]
			if (q.Out || f.Params[j].Out) && (other == name ||
				overlap(b, o) && !isInPlace(b, q, o, f.Params[j]) && !isInPlace(o, f.Params[j], b, q)) {
				fail("parameters never overlap, unless an output is over an input",
					"%%%s and %%%s are in the same place, and one is written", other, name)
			}
		}
	}
	for i, name := range s.Args {
		if f.Params[i].Out {
			v.write(v.bufs[name])
		}
	}
}

// write marks b as written, and overlapping arena buffers as lost. Buffers with valid contents
// never overlap, so the list is sorted by their ends as well.
func (v *programVerifier) write(b *ProgBuf) {
	v.written[b.Name] = true
	if b.Kind != ArenaBuf {
		return
	}
	from := sort.Search(len(v.arena), func(i int) bool {
		return v.arena[i].Offset+int64(v.arena[i].Bytes()) > b.Offset
	})
	to := from
	for ; to < len(v.arena) && overlap(b, v.arena[to]); to++ {
		if v.arena[to] != b {
			v.written[v.arena[to].Name] = false
		}
	}
	v.arena = slices.Replace(v.arena, from, to, b)
}

// isInPlace reports whether output out (parameter p) has the same address as input in (parameter
// q), by permission of p.
func isInPlace(out *ProgBuf, p Param, in *ProgBuf, q Param) bool {
	return p.Over != "" && p.Over == q.Name && out.Offset == in.Offset && out.Bytes() == in.Bytes()
}

func overlap(a, b *ProgBuf) bool {
	return a.Kind == ArenaBuf && b.Kind == ArenaBuf &&
		a.Offset < b.Offset+int64(b.Bytes()) && b.Offset < a.Offset+int64(a.Bytes())
}
