package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	gosync "sync"

	"ripc/internal/suggest"
	"ripc/ir"
	"ripc/ir/deps"
)

// operation says how a Step becomes a call of a primitive.
type operation struct {
	name    string
	usage   string
	args    int // exact number of operands; -1: two or more
	results int // number of results, or none
	options []string
	run     func(c call) *ir.Func
}

// operations is the table, made once: each step looks for its own.
var operations = gosync.OnceValue(operationTable)

func operationTable() []operation {
	return []operation{
		{"split", "split LOOP FACTOR [tail=guard|cut|perfect|shift] [-> OUTER INNER]", 2, 2, []string{"tail"},
			runSplit},
		{"tile", "tile LOOP LOOP FACTOR FACTOR [tail=...] [-> OUTER1 OUTER2 INNER1 INNER2]", 4, 4, []string{"tail"},
			func(c call) *ir.Func {
				names := [4]string{c.result(0), c.result(1), c.result(2), c.result(3)}
				f1, f2 := number("factor", c.Args[2]), number("factor", c.Args[3])
				return tile(c.f, c.Args[0], c.Args[1], f1, f2, c.tail(), names)
			}},
		{"reorder", "reorder OUTER ... INNER", -1, 0, nil, func(c call) *ir.Func { return reorder(c.f, c.Args...) }},
		{"unroll", "unroll LOOP", 1, 0, nil, func(c call) *ir.Func { return c.each(unroll) }},
		{"vectorize", "vectorize LOOP", 1, 0, nil, func(c call) *ir.Func { return c.each(vectorize) }},
		{"parallel", "parallel LOOP", 1, 0, nil, func(c call) *ir.Func { return parallel(c.f, c.Args[0]) }},
		{"bind", "bind LOOP block|thread", 2, 0, nil, func(c call) *ir.Func {
			return c.each(func(f *ir.Func, l string) *ir.Func { return bind(f, l, c.Args[1]) })
		}},
		{"share", "share BUFFER", 1, 0, nil, func(c call) *ir.Func { return share(c.f, c.Args[0]) }},
		{"sync", "sync", 0, 0, nil, func(c call) *ir.Func { return sync(c.f) }},
		{"peel", "peel LOOP FIRST LAST", 3, 0, nil, func(c call) *ir.Func {
			return peel(c.f, c.Args[0], number("count", c.Args[1]), number("count", c.Args[2]))
		}},
		{"fuse", "fuse OUTER INNER [-> LOOP]", 2, 1, nil,
			func(c call) *ir.Func { return fuse(c.f, c.Args[0], c.Args[1], c.result(0)) }},
		{"decompose_reduction", "decompose_reduction LOOP [-> LOOP]", 1, 1, nil,
			func(c call) *ir.Func { return decomposeReduction(c.f, c.Args[0], c.result(0)) }},
		{"compute_at", "compute_at BUFFER LOOP", 2, 0, nil,
			func(c call) *ir.Func { return computeAt(c.f, c.Args[0], c.Args[1]) }},
		{"compute_inline", "compute_inline BUFFER", 1, 0, nil,
			func(c call) *ir.Func { return computeInline(c.f, c.Args[0]) }},
		{"cache_read", "cache_read BUFFER LOOP [-> BUFFER]", 2, 1, nil,
			func(c call) *ir.Func { return cacheRead(c.f, c.Args[0], c.Args[1], c.result(0)) }},
		{"cache_write", "cache_write BUFFER LOOP [-> BUFFER]", 2, 1, nil,
			func(c call) *ir.Func { return cacheWrite(c.f, c.Args[0], c.Args[1], c.result(0)) }},
		{"narrow_accumulate", "narrow_accumulate BUFFER LOOP TYPE [apart=N] [-> BUFFER]", 3, 1, []string{"apart"},
			func(c call) *ir.Func {
				return narrowAccumulate(c.f, c.Args[0], c.Args[1], typeOf(c.Args[2]), c.count("apart"), c.result(0))
			}},
		{"rfactor", "rfactor BUFFER LANES LOOP [type=TYPE] [-> BUFFER]", 3, 1, []string{"type"},
			func(c call) *ir.Func {
				t := ir.Invalid
				if v, ok := c.Get("type"); ok {
					t = typeOf(v)
				}
				return rfactor(c.f, c.Args[0], c.Args[1], c.Args[2], t, c.result(0))
			}},
		{"carry_save", "carry_save BUFFER PAIRED AROUND [-> SUM CARRIES]", 3, 2, nil, func(c call) *ir.Func {
			return carrySave(c.f, c.Args[0], c.Args[1], c.Args[2], c.result(0), c.result(1))
		}},
		{"pair", "pair BUFFER DIM", 2, 0, nil,
			func(c call) *ir.Func { return c.packed(pair(c.f, c.Args[0], number("dimension", c.Args[1]))) }},
		{"pack", "pack BUFFER DIM ... [factor=N]", -1, 0, []string{"factor"},
			func(c call) *ir.Func { return c.packed(pack(c.f, c.Args[0], c.Args[1:], c.count("factor"))) }},
		{"set_encoding", "set_encoding BUFFER TYPE [-> LOOP]", 2, 1, nil,
			func(c call) *ir.Func { return c.packed(setEncoding(c.f, c.Args[0], typeOf(c.Args[1]), c.result(0))) }},
		{"flatten", "flatten BUFFER DIM", 2, 0, nil,
			func(c call) *ir.Func { return c.packed(flatten(c.f, c.Args[0], number("dimension", c.Args[1]))) }},
		{"replicate", "replicate BUFFER LOOP [-> LOOP]", 2, 1, nil,
			func(c call) *ir.Func { return replicate(c.f, c.Args[0], c.Args[1], c.result(0)) }},
		{"tensorize", "tensorize LOOP INSTRUCTION", 2, 0, nil, runTensorize},
	}
}

// call is a step under way.
type call struct {
	Step
	f *ir.Func
	a *applier
}

// refuse ends a step: it panics with the *ir.Error that Trace.ApplyAll returns.
func refuse(help, format string, args ...any) { panic(refusal(help, format, args...)) }

func refusal(help, format string, args ...any) *ir.Error {
	return &ir.Error{Msg: fmt.Sprintf(format, args...), Help: help}
}

// must refuses with err, unless it is nil.
func must(err error) {
	if err != nil {
		panic(asError(err))
	}
}

func asError(err error) *ir.Error {
	var e *ir.Error
	if !errors.As(err, &e) {
		e = &ir.Error{Err: err}
	}
	return e
}

// step carries out s. Its result is well-formed, and all marked loops in it are legal.
func (a *applier) step(f *ir.Func, s Step) *ir.Func {
	i := slices.IndexFunc(operations(), func(o operation) bool { return o.name == s.Op })
	if i < 0 {
		refuse(suggest.DidYouMean(s.Op, Ops())+"operations: "+strings.Join(Ops(), ", "), "there is no operation %q",
			s.Op)
	}
	o := operations()[i]
	help := "write: " + o.usage
	if o.args >= 0 && len(s.Args) != o.args || o.args < 0 && len(s.Args) < 2 {
		refuse(help, "wrong number of operands")
	}
	if len(s.Results) != 0 && len(s.Results) != o.results {
		refuse(help, "%d results", len(s.Results))
	}
	for _, kv := range s.KV {
		if !slices.Contains(o.options, kv.Key) {
			refuse(help, "%s has no option %q", s.Op, kv.Key)
		}
	}
	g := o.run(call{s, f, a})
	switch s.Op {
	case "unroll", "vectorize", "parallel", "bind": // they change marks alone, and check them themselves
		return g
	case "split", "tile": // a guard can be wrong for the code under it
		formed(f, g, "use tail=cut, tail=shift or a factor that divides the extent")
	default:
		formed(f, g, "")
	}
	must(deps.Check(g)) // of loops that were marked before the step, too
	return g
}

// formed refuses g, which a step made of f, if it is not well-formed and f was: a count of a shift
// may be too large where loops are looked at without their conditions, or a buffer be read outside
// of its scope. All steps are checked here, but those that only set marks; primitives do not look
// themselves. The help names an alternative.
func formed(f, g *ir.Func, help string) {
	err := ir.Verify(g)
	if err == nil || ir.Verify(f) != nil {
		return
	}
	e := asError(err)
	msg := e.Msg
	if e.Op != "" {
		msg = fmt.Sprintf("in %s, %s", deps.Shorten(e.Op), msg)
	}
	refuse(help, "the func would not be well-formed any more: %s", msg)
}

func runSplit(c call) *ir.Func {
	base := strings.TrimSuffix(c.Args[0], "*")
	outer, inner := base+".o", base+".i"
	if len(c.Results) == 2 {
		outer, inner = c.Results[0], c.Results[1]
	}
	factor, tail := number("factor", c.Args[1]), c.tail()
	return c.each(func(f *ir.Func, l string) *ir.Func {
		suffix := l[len(base):] // the parts of a copy l.1 are l.o.1 and l.i.1
		return split(f, l, factor, tail, outer+suffix, inner+suffix)
	})
}

func runTensorize(c call) *ir.Func {
	instr := c.a.instrs[c.Args[1]]
	if instr == nil {
		unknownInstr(c.a.instrs, c.Args[1])
	}
	return c.each(func(f *ir.Func, l string) *ir.Func { return tensorize(f, l, instr) })
}

// each applies a primitive to all loops that the first operand stands for.
func (c call) each(primitive func(f *ir.Func, loop string) *ir.Func) *ir.Func {
	f := c.f
	for _, l := range resolve(f, c.Args[0]) {
		f = primitive(f, l)
	}
	return f
}

// packed notes the pack that a step made with g, if it did.
func (c call) packed(g *ir.Func, p *Pack) *ir.Func {
	if p != nil {
		p.Step = c.Step
		c.a.packs = append(c.a.packs, *p)
	}
	return g
}

// result is the name number i after ->, or "".
func (c call) result(i int) string {
	if i >= len(c.Results) {
		return ""
	}
	return c.Results[i]
}

// count is an option that is a number; 0 if it was not written.
func (c call) count(key string) int {
	text, ok := c.Get(key)
	if !ok {
		return 0
	}
	n := number(key, text)
	if n < 1 {
		refuse("", "%s %d is below 1", key, n)
	}
	return n
}

func (c call) tail() Tail {
	text, ok := c.Get("tail")
	if !ok {
		return TailGuard
	}
	t, err := ParseTail(text)
	must(err)
	return t
}

// number reads an operand or an option.
func number(what, text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		refuse("", "%s %q is not a number", what, text)
	}
	return n
}

func typeOf(text string) ir.Type {
	t, err := ir.ParseType(text)
	if err != nil {
		refuse("", "%v", err)
	}
	return t
}
