package ir

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// String is the Program in .ripir text: buffers and stages, then the Funcs. Constants are given by their hash.
func (g *Program) String() string {
	p := &printer{}
	p.line("program @%s {", g.Name)
	p.depth++
	for _, b := range g.Buffers {
		s := fmt.Sprintf("%s %s", b.Kind, BufferString(b.Buffer))
		switch b.Kind {
		case ConstBuf:
			s += fmt.Sprintf(" sha256=%x", sha256.Sum256(b.Data))
		case ArenaBuf:
			s += fmt.Sprintf(" at %d", b.Offset)
		}
		if b.Layout != "" {
			s += " layout=" + b.Layout
		}
		if b.Levels != (Levels{}) {
			s += " " + b.Levels.String()
		}
		if b.Label != "" {
			s += fmt.Sprintf(" label=%q", b.Label)
		}
		p.line("%s", s)
	}
	p.line("arena_bytes %d", g.Arena)
	for _, s := range g.Stages {
		var args []string
		for _, a := range s.Args {
			args = append(args, "%"+a)
		}
		t := fmt.Sprintf("stage %q %s @%s(%s) macs=%d", s.Name, s.Op, s.Func, strings.Join(args, ", "), s.MACs)
		t += layerText(s.Layer)
		if s.Note != "" {
			t += fmt.Sprintf(" note=%q", s.Note)
		}
		p.line("%s", t)
	}
	p.depth--
	p.line("}")
	seen := map[string]bool{}
	for _, f := range g.Funcs {
		p.line("")
		p.instrs(seen, f)
		p.fn("func", f)
	}
	return p.String()
}

// layerText is what the text of a stage says of its layer: " name=value" for all that is not zero.
func layerText(l Layer) string {
	t := ""
	for _, f := range l.Facts() {
		if f.Zero() {
			continue
		}
		switch v := f.Get().(type) {
		case string:
			t += fmt.Sprintf(" %s=%q", f.Name, v)
		case []string:
			t += fmt.Sprintf(" %s=%q", f.Name, strings.Join(v, " "))
		case bool:
			t += " " + f.Name + "=1"
		default:
			t += fmt.Sprintf(" %s=%d", f.Name, v)
		}
	}
	return t
}
