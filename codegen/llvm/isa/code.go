package isa

import (
	"fmt"
	"slices"
	"strings"

	"ripc/targets/isa"
)

// code writes the function of an instruction in LLVM's language. Its values have numbers for names.
type code struct {
	strings.Builder
	isa.Instr
	machine

	values  int
	label   string // of the block that is being written
	calls   []Declaration
	globals []string
}

// value is a value with its type.
type value struct{ kind, name string }

func (v value) String() string { return v.kind + " " + v.name }

// vector returns the type of n integers of the given width.
func vector(n, bits int) string { return fmt.Sprintf("<%d x i%d>", n, bits) }

// register is a register of NEON, as bytes.
const register = "<16 x i8>"

// element is the type of the elements of a vector.
func element(kind string) string {
	_, t, _ := strings.Cut(strings.Trim(kind, "<>"), " x ")
	return t
}

// suffix returns the part of an intrinsic's name for a type: v16i8.
func suffix(kind string) string {
	if kind[0] != '<' {
		return kind
	}
	return "v" + strings.ReplaceAll(strings.Trim(kind, "<>"), " x ", "")
}

// repeat is n times the same, with commas between.
func repeat(n int, text string) string { return list(n, func(int) string { return text }) }

// global declares a constant of the instruction, and gives its name.
func (c *code) global(name, kind string, align int, elements string) string {
	name = "@" + c.Func.Name + "." + name
	c.globals = append(c.globals, fmt.Sprintf("%s = private unnamed_addr constant %s [%s], align %d\n", name, kind,
		elements, align))
	return name
}

// line writes a line.
func (c *code) line(format string, args ...any) { fmt.Fprintf(c, "  "+format+"\n", args...) }

// set writes a value of type kind, by the text behind its name.
func (c *code) set(kind, format string, args ...any) value {
	c.values++
	v := value{kind, fmt.Sprintf("%%v%d", c.values)}
	c.line("%s = %s", v.name, fmt.Sprintf(format, args...))
	return v
}

// op writes an operation on two values of one type.
func (c *code) op(name string, a, b value) value { return c.set(a.kind, "%s %s, %s", name, a, b.name) }

// cast writes a conversion: bitcast, zext, sext or trunc.
func (c *code) cast(op string, v value, kind string) value {
	return c.set(kind, "%s %s to %s", op, v, kind)
}

// splat is a constant of equal elements.
func splat(kind string, n int) value {
	return value{kind, fmt.Sprintf("splat (%s %d)", element(kind), n)}
}

// constant is a constant of type kind with n elements.
func constant(kind string, n int, at func(lane int) int) value {
	return value{kind, "<" + list(n, func(l int) string { return fmt.Sprintf("%s %d", element(kind), at(l)) }) + ">"}
}

// byteConstant is a constant of n bytes.
func byteConstant(n int, at func(lane int) int) value {
	return constant(vector(n, 8), n, func(l int) int { return int(int8(at(l))) })
}

// call writes a call of an intrinsic.
func (c *code) call(kind, name string, args ...value) value {
	d := Declaration{kind, name, list(len(args), func(k int) string { return args[k].kind })}
	if !slices.Contains(c.calls, d) {
		c.calls = append(c.calls, d)
	}
	return c.set(kind, "call %s @%s(%s)", kind, name, operands(args))
}

func operands(args []value) string {
	return list(len(args), func(k int) string { return args[k].String() })
}

// pointer returns the address `at` bytes behind a parameter.
func (c *code) pointer(of string, at int) value {
	if at == 0 {
		return value{"ptr", "%" + of}
	}
	return c.set("ptr", "getelementptr inbounds i8, ptr %%%s, i64 %d", of, at)
}

// load writes a load from parameter of, aligned to `align` bytes.
func (c *code) load(kind, of string, at, align int) value {
	return c.set(kind, "load %s, %s, align %d", kind, c.pointer(of, at), align)
}

// store writes a store to parameter to.
func (c *code) store(v value, to string, at, align int) {
	c.line("store %s, %s, align %d", v, c.pointer(to, at), align)
}

// addTo adds v to a value in memory.
func (c *code) addTo(to string, at, align int, v value) {
	c.store(c.op("add", c.load(v.kind, to, at, align), v), to, at, align)
}

// shuffle writes a shuffle of the lanes of a and b, of one type; mask is that of [Shuffle].
func (c *code) shuffle(kind string, a value, b, mask string) value {
	return c.set(kind, "shufflevector %s, %s %s, %s", a, a.kind, b, mask)
}

// spread puts a scalar into all n lanes of a vector.
func (c *code) spread(scalar value, n int) value {
	kind := fmt.Sprintf("<%d x %s>", n, scalar.kind)
	one := c.set(kind, "insertelement %s poison, %s, i32 0", kind, scalar)
	return c.shuffle(kind, one, "poison", fmt.Sprintf("<%d x i32> zeroinitializer", n))
}

// spreadWord loads a word of parameter of and puts it into all n lanes of a vector.
func (c *code) spreadWord(of string, at, align, n int) value {
	return c.spread(c.load("i32", of, at, align), n)
}

// assembly is a piece of inline assembly with the constraints of its results and operands, and the
// other registers that it overwrites, or memory. A volatile piece stays where it is, a pure piece
// touches no memory.
type assembly struct {
	text, constraints string
	clobbers          []string
	volatile, pure    bool
}

// asm writes assembly that gives results of these types.
func (c *code) asm(a assembly, results []string, args ...value) []value {
	kind := "void"
	switch len(results) {
	case 0:
	case 1:
		kind = results[0]
	default:
		kind = "{ " + strings.Join(results, ", ") + " }"
	}
	effect, behind := "", ""
	if a.volatile {
		effect = " sideeffect"
	}
	if a.pure {
		behind = " memory(none)"
	}
	constraints := a.constraints
	for _, k := range a.clobbers {
		constraints += ",~{" + k + "}"
	}
	text := fmt.Sprintf("call %s asm%s %q, %q(%s) nounwind%s", kind, effect, "#", constraints, operands(args), behind)
	text = strings.Replace(text, "#", strings.ReplaceAll(a.text, "\n", `\0A`), 1)
	if kind == "void" {
		c.line("%s", text)
		return nil
	}
	return c.parts(c.set(kind, "%s", text), results)
}

// parts are the values of a structure, or all where there is one.
func (c *code) parts(all value, kinds []string) []value {
	if len(kinds) == 1 {
		return []value{all}
	}
	vs := make([]value, len(kinds))
	for k, kind := range kinds {
		vs[k] = c.set(kind, "extractvalue %s, %d", all, k)
	}
	return vs
}

// begin begins a block.
func (c *code) begin(label string) {
	fmt.Fprintf(c, "%s:\n", label)
	c.label = label
}

// ifKnown writes two ways to the same values, and LLVM keeps one. It takes first if it knows that
// all sums are constants, most often zero, so that no addition to zero remains.
func (c *code) ifKnown(sums []value, first, later func() []value) []value {
	var known value
	for k, s := range sums {
		is := c.call("i1", "llvm.is.constant."+suffix(s.kind), s)
		if k > 0 {
			is = c.op("and", is, known)
		}
		known = is
	}
	c.values++
	labels := [3]string{fmt.Sprint("first", c.values), fmt.Sprint("later", c.values), fmt.Sprint("done", c.values)}
	c.line("br %s, label %%%s, label %%%s", known, labels[0], labels[1])
	var vs [2][]value
	var from [2]string
	for k, way := range []func() []value{first, later} {
		c.begin(labels[k])
		vs[k] = way()
		from[k] = c.label
		c.line("br label %%%s", labels[2])
	}
	c.begin(labels[2])
	out := make([]value, len(vs[0]))
	for k, v := range vs[0] {
		out[k] = c.set(v.kind, "phi %s [ %s, %%%s ], [ %s, %%%s ]", v.kind, v.name, from[0], vs[1][k].name, from[1])
	}
	return out
}
