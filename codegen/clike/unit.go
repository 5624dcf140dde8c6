// Package clike writes Funcs in dialects of C: functions of C99 (codegen/c99), and kernels of
// OpenCL C (codegen/opencl). Dialects share statements, expressions, and the helpers that spell out
// operations that C leaves open.
package clike

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"ripc/codegen"
	"ripc/ir"
)

// Unit is a file in progress: helpers are written before the kernels that use them, once.
type Unit struct {
	floats  *codegen.Floats
	device  bool // kernels of OpenCL C
	helpers map[string]string
	used    map[string]bool // helpers
	instrs  []string        // texts of instructions, in the order in which they may be called
	instr   map[*ir.Func]string
	names   map[string]bool // of functions
}

// NewUnit begins a file of C99 with functions of a Program with these floats.
func NewUnit(floats *codegen.Floats) *Unit {
	return &Unit{floats: floats, helpers: helpers(helperText), used: map[string]bool{}, instr: map[*ir.Func]string{},
		names: map[string]bool{}}
}

// NewDevice begins a file of OpenCL C 1.2.
func NewDevice(floats *codegen.Floats) *Unit {
	u := NewUnit(floats)
	u.device, u.helpers = true, helpers(helperText, deviceText)
	for name, text := range u.helpers { // the language has no static functions in all versions
		u.helpers[name] = strings.ReplaceAll(text, "static inline ", "")
	}
	return u
}

// Reserve keeps a name of the file's own from instructions.
func (u *Unit) Reserve(name string) { u.names[name] = true }

// use notes that a helper and those that it calls are needed, and returns its name.
func (u *Unit) use(name string) string {
	if u.helpers[name] == "" {
		panic("BUG: no helper " + name)
	}
	if !u.used[name] {
		u.used[name] = true
		for _, n := range u.needs(name) {
			u.use(n)
		}
	}
	return name
}

// helperName is the form of a helper's name in the text of another one.
var helperName = regexp.MustCompile(`\brc_\w+`)

// needs lists the helpers that a helper names, itself among them.
func (u *Unit) needs(name string) []string {
	names := helperName.FindAllString(u.helpers[name], -1)
	slices.Sort(names)
	return slices.DeleteFunc(names, func(n string) bool { return u.helpers[n] == "" })
}

// HelperText is the helpers that are used, each after those that it calls.
func (u *Unit) HelperText() string {
	var out strings.Builder
	done := map[string]bool{}
	var write func(name string)
	write = func(name string) {
		if done[name] {
			return
		}
		done[name] = true
		for _, n := range u.needs(name) {
			write(n)
		}
		out.WriteString(u.helpers[name] + "\n")
	}
	for _, n := range slices.Sorted(maps.Keys(u.used)) {
		write(n)
	}
	return out.String()
}

// InstrText is the instructions that kernels call.
func (u *Unit) InstrText() string { return strings.Join(u.instrs, "") }

// Kernel writes a Func as a function called symbol.
func (u *Unit) Kernel(f *ir.Func, symbol string) (text string, err error) {
	defer recoverAbort(f, &err)
	w := newWriter(u, f)
	parallel := w.parallel()
	w.Line("static RIPC_KERNEL void %s(%s,", symbol, strings.Join(w.params(true), ", "))
	w.Line("    unsigned char *restrict scratch, uint32_t tid, uint32_t nthreads)")
	w.Open("{")
	if !w.scratch {
		w.Line("(void)scratch;")
	}
	if parallel {
		w.body()
	} else {
		w.Line("(void)nthreads;")
		w.Open("if (tid == 0) {")
		w.body()
		w.Close("}")
	}
	w.Close("}")
	return w.String() + "\n", nil
}

// instruction writes an instruction as a function of its meaning, once, and returns the function's
// name.
func (u *Unit) instruction(f *ir.Func) string {
	if name, ok := u.instr[f]; ok {
		return name
	}
	w := newWriter(u, f)
	w.instr = true
	name := codegen.Unique(u.names, "rc_i_"+codegen.CleanName(f.Name))
	w.Line("static inline void %s(%s)", name, strings.Join(w.params(false), ", "))
	w.Open("{")
	dsp := w.dsp()
	w.body()
	if dsp {
		w.WriteString("#endif\n")
	}
	w.Close("}")
	u.instr[f] = name
	u.instrs = append(u.instrs, w.String()+"\n")
	return name
}

// abort carries an error through the writer's recursion.
type abort struct{ err error }

func recoverAbort(f *ir.Func, err *error) {
	switch r := recover().(type) {
	case nil:
	case abort:
		*err = r.err
	default:
		*err = fmt.Errorf("internal error: C of %s: %v\n%s", f.Name, r, f)
	}
}
