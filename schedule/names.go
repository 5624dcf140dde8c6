package schedule

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"ripc/ir"
)

// loopNames lists the loops below s in program order.
func loopNames(s ir.Stmt) []string {
	var names []string
	for l := range ir.StmtsOf[*ir.For](s) {
		names = append(names, l.Var)
	}
	return names
}

// findLoop is ir.FindLoop with a refusal that lists the loops.
func findLoop(f *ir.Func, name string) *ir.For {
	l := ir.FindLoop(f.Body, name)
	if l == nil {
		refuse(listed("loops:", "the func has no loops", loopNames(f.Body)), "no loop %%%s", name)
	}
	return l
}

// findAlloc is ir.FindAlloc with a refusal that lists the allocs.
func findAlloc(f *ir.Func, buffer string) *ir.Alloc {
	a := ir.FindAlloc(f.Body, buffer)
	if a == nil {
		var names []string
		for a := range ir.StmtsOf[*ir.Alloc](f.Body) {
			names = append(names, a.Buf.Name)
		}
		refuse(listed("allocs:", "the func has no allocs", names), "%%%s is not a buffer from alloc", buffer)
	}
	return a
}

// findBuffer returns a buffer, with a refusal that lists the buffers.
func findBuffer(f *ir.Func, name string) ir.Buffer {
	all := f.Buffers()
	b, ok := all[name]
	if !ok {
		refuse(listed("buffers:", "buffers:", slices.Sorted(maps.Keys(all))), "no buffer %%%s", name)
	}
	return b
}

func listed(head, none string, names []string) string {
	if len(names) == 0 {
		return none
	}
	return head + " " + strings.Join(names, " ")
}

// unmarked refuses loops that are not serial any more.
func unmarked(l *ir.For, step string) {
	if l.Kind != ir.Serial {
		refuse(fmt.Sprintf("%s before %s", step, l.Kind), "loop %%%s is marked %s already", l.Var, l.Kind)
	}
}

// noLanes refuses a loop that is, or lies in, a vectorize loop.
func noLanes(f *ir.Func, loop, step string) {
	for _, p := range path(f.Body, loop) {
		if p.Kind == ir.Vectorize {
			refuse(step+" before vectorize", "loop %%%s is vectorize, and lanes cannot have a buffer each", p.Var)
		}
	}
}

// noCalls refuses a buffer that a call takes.
func noCalls(f *ir.Func, buffer, step string) {
	for s := range ir.Stmts(f.Body) {
		if c, ok := s.(*ir.Call); ok && slices.ContainsFunc(c.Args, func(w ir.Window) bool { return w.Buf == buffer }) {
			refuse(step+" before tensorize", "%%%s is an operand of a call", buffer)
		}
	}
}

// resolve turns a reference of a Step into loops: itself, or with a star the loop and its copies in
// program order.
func resolve(f *ir.Func, ref string) []string {
	base, star := strings.CutSuffix(ref, "*")
	if !star {
		findLoop(f, ref)
		return []string{ref}
	}
	var out []string
	for _, n := range loopNames(f.Body) {
		if rest, ok := strings.CutPrefix(n, base); ok && isCopySuffix(rest) {
			out = append(out, n)
		}
	}
	if len(out) == 0 {
		findLoop(f, base)
	}
	if i := slices.Index(out, base); i > 0 {
		out = slices.Insert(slices.Delete(out, i, i+1), 0, base)
	}
	return out
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
func (u used) take(name string) {
	if !ir.IsName(name) {
		refuse("names are letters, digits, _ and . after a letter", "%q is not a name", name)
	}
	if u[name] {
		refuse("give other names after ->", "the name %%%s is taken", name)
	}
	u[name] = true
}
