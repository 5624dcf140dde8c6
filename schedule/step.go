package schedule

import (
	"fmt"
	"strings"

	"ripc/ir"
)

// Step is one scheduling step as a value: the primitive's name, its operands, its options in the
// order written, and the names of its results. Its text form is
//
//	op arg ... key=value ... -> result ...
type Step struct {
	Op      string
	Args    []string
	KV      []Option
	Results []string
	Pos     ir.Pos // where it was read from, for messages; zero if it was made by code
}

// Option is one key=value of a Step.
type Option struct{ Key, Value string }

// String is the step's text; ParseStep is the inverse.
func (s Step) String() string {
	var b strings.Builder
	b.WriteString(s.Op)
	for _, a := range s.Args {
		b.WriteString(" " + a)
	}
	for _, o := range s.KV {
		b.WriteString(" " + o.Key + "=" + o.Value)
	}
	if len(s.Results) > 0 {
		b.WriteString(" -> " + strings.Join(s.Results, " "))
	}
	return b.String()
}

// Get gives the value of an option, and whether it was written.
func (s Step) Get(key string) (string, bool) {
	for _, o := range s.KV {
		if o.Key == key {
			return o.Value, true
		}
	}
	return "", false
}

// ParseStep reads one step. It checks the form, not whether the operation exists: Apply does that.
func ParseStep(text string) (Step, error) {
	bad := func(msg, help string) (Step, error) {
		return Step{}, &ir.Error{Op: strings.TrimSpace(text), Msg: msg, Help: help}
	}
	words := strings.Fields(text)
	if len(words) == 0 {
		return bad("empty step", "write an operation, such as: unroll w.i")
	}
	if !ir.IsName(words[0]) {
		return bad(fmt.Sprintf("%q is not the name of an operation", words[0]), "")
	}
	s := Step{Op: words[0]}
	arrow := false
	for _, w := range words[1:] {
		key, value, isOption := strings.Cut(w, "=")
		switch {
		case w == "->":
			if arrow {
				return bad("two arrows", "")
			}
			arrow = true
		case arrow:
			if !ir.IsName(w) {
				return bad(fmt.Sprintf("result %q is not a name", w),
					"names are letters, digits, _ and . after a letter")
			}
			s.Results = append(s.Results, w)
		case isOption:
			if !ir.IsName(key) || !isWord(value) {
				return bad(fmt.Sprintf("option %q is not of the form key=value", w), "")
			}
			if _, twice := s.Get(key); twice {
				return bad(fmt.Sprintf("option %s is given twice", key), "")
			}
			s.KV = append(s.KV, Option{key, value})
		case len(s.KV) > 0:
			return bad(fmt.Sprintf("operand %q follows an option", w),
				"write operands first, then key=value, then -> results")
		case !isWord(w):
			return bad(fmt.Sprintf("operand %q is neither a name nor a number", w), "write loops and buffers without %")
		default:
			s.Args = append(s.Args, w)
		}
	}
	if arrow && len(s.Results) == 0 {
		return bad("no results after ->", "")
	}
	return s, nil
}

// isWord accepts names, numbers, and names with a star.
func isWord(s string) bool {
	s = strings.TrimSuffix(s, "*")
	for i := 0; i < len(s); i++ {
		c := s[i]
		ok := c == '_' || c == '.' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
			c == '-' && i == 0
		if !ok {
			return false
		}
	}
	return s != "" && s != "-"
}
