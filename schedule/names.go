package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"ripc/ir"
)

// loopNames lists the loops below s in program order.
func loopNames(s ir.Stmt) []string {
	var names []string
	ir.Walk(s, func(t ir.Stmt) bool {
		if l, ok := t.(*ir.For); ok {
			names = append(names, l.Var)
		}
		return true
	})
	return names
}

// findLoop is ir.FindLoop with a refusal that lists the loops.
func findLoop(f *ir.Func, name string) (*ir.For, error) {
	if l := ir.FindLoop(f.Body, name); l != nil {
		return l, nil
	}
	return nil, noLoop(f, name)
}

func noLoop(f *ir.Func, name string) error {
	help := "the func has no loops"
	if names := loopNames(f.Body); len(names) > 0 {
		help = "loops: " + strings.Join(names, " ")
	}
	return &ir.Error{Msg: fmt.Sprintf("no loop %%%s", name), Help: help}
}

// resolve turns a reference of a Step into loops: itself, or with a star the loop and its copies in
// program order.
func resolve(f *ir.Func, ref string) ([]string, error) {
	base, star := strings.CutSuffix(ref, "*")
	if !star {
		if _, err := findLoop(f, ref); err != nil {
			return nil, err
		}
		return []string{ref}, nil
	}
	var out []string
	for _, n := range loopNames(f.Body) {
		if rest, ok := strings.CutPrefix(n, base); ok && isCopySuffix(rest) {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		return nil, noLoop(f, base)
	}
	if i := slices.Index(out, base); i > 0 {
		out = slices.Insert(slices.Delete(out, i, i+1), 0, base)
	}
	return out, nil
}

// isCopySuffix accepts "", ".1", ".t", ".1.t" and so on.
func isCopySuffix(s string) bool {
	if s == "" {
		return true
	}
	if s[0] != '.' {
		return false
	}
	for _, part := range strings.Split(s[1:], ".") {
		if _, err := strconv.ParseUint(part, 10, 31); err != nil && part != "t" {
			return false
		}
	}
	return true
}

// used holds the names of a func's loops and buffers. New names differ from all of them.
type used map[string]bool

func namesOf(f *ir.Func) used {
	u := used{}
	for b := range f.Buffers() {
		u[b] = true
	}
	for _, l := range loopNames(f.Body) {
		u[l] = true
	}
	return u
}

// copyOf takes the first free name among name.1, name.2, ...
func (u used) copyOf(name string) string {
	for i := 1; ; i++ {
		if n := name + "." + strconv.Itoa(i); !u[n] {
			u[n] = true
			return n
		}
	}
}

// tailOf takes name.t, or the first free one among name.t.1, name.t.2, ...
func (u used) tailOf(name string) string {
	n := name + ".t"
	if u[n] {
		return u.copyOf(n)
	}
	u[n] = true
	return n
}

// take reserves a name that the user chose.
func (u used) take(name string) error {
	if !ir.IsName(name) {
		return &ir.Error{Msg: fmt.Sprintf("%q is not a name", name),
			Help: "names are letters, digits, _ and . after a letter"}
	}
	if u[name] {
		return &ir.Error{Msg: fmt.Sprintf("the name %%%s is taken", name), Help: "give other names after ->"}
	}
	u[name] = true
	return nil
}
