package schedule

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

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
	run     func(a *applier, f *ir.Func, s Step) (*ir.Func, error)
}

// operations is the table, made once: each step looks for its own.
var operations = sync.OnceValue(operationTable)

func operationTable() []operation {
	return []operation{
		{"split", "split LOOP FACTOR [tail=guard|cut|perfect|shift] [-> OUTER INNER]", 2, 2, []string{"tail"},
			guarding(runSplit)},
		{"tile", "tile LOOP LOOP FACTOR FACTOR [tail=...] [-> OUTER1 OUTER2 INNER1 INNER2]", 4, 4, []string{"tail"},
			guarding(runTile)},
		{"reorder", "reorder OUTER ... INNER", -1, 0, nil, runReorder},
		{"unroll", "unroll LOOP", 1, 0, nil, legal(each(Unroll))},
		{"vectorize", "vectorize LOOP", 1, 0, nil, legal(each(Vectorize))},
		{"parallel", "parallel LOOP", 1, 0, nil, legal(runParallel)},
		{"peel", "peel LOOP FIRST LAST", 3, 0, nil, runPeel},
		{"fuse", "fuse OUTER INNER [-> LOOP]", 2, 1, nil, runFuse},
		{"decompose_reduction", "decompose_reduction LOOP [-> LOOP]", 1, 1, nil, runDecomposeReduction},
		{"compute_at", "compute_at BUFFER LOOP", 2, 0, nil, runComputeAt},
		{"compute_inline", "compute_inline BUFFER", 1, 0, nil, runComputeInline},
		{"cache_read", "cache_read BUFFER LOOP [-> BUFFER]", 2, 1, nil, runCacheRead},
		{"cache_write", "cache_write BUFFER LOOP [-> BUFFER]", 2, 1, nil, runCacheWrite},
		{"narrow_accumulate", "narrow_accumulate BUFFER LOOP TYPE [apart=N] [-> BUFFER]", 3, 1, []string{"apart"},
			runNarrowAccumulate},
		{"rfactor", "rfactor BUFFER LANES LOOP [type=TYPE] [-> BUFFER]", 3, 1, []string{"type"}, runRfactor},
		{"carry_save", "carry_save BUFFER PAIRED AROUND [-> SUM CARRIES]", 3, 2, nil, runCarrySave},
		{"pair", "pair BUFFER DIM", 2, 0, nil, runPair},
		{"pack", "pack BUFFER DIM ... [factor=N]", -1, 0, []string{"factor"}, runPack},
		{"set_encoding", "set_encoding BUFFER TYPE [-> LOOP]", 2, 1, nil, runSetEncoding},
		{"flatten", "flatten BUFFER DIM", 2, 0, nil, runFlatten},
		{"replicate", "replicate BUFFER LOOP [-> LOOP]", 2, 1, nil, runReplicate},
		{"tensorize", "tensorize LOOP INSTRUCTION", 2, 0, nil, runTensorize},
	}
}

func (a *applier) step(f *ir.Func, s Step) (*ir.Func, error) {
	for _, o := range operations() {
		if o.name != s.Op {
			continue
		}
		wrong := func(format string, args ...any) (*ir.Func, error) {
			return nil, &ir.Error{Msg: fmt.Sprintf(format, args...), Help: "write: " + o.usage}
		}
		if o.args >= 0 && len(s.Args) != o.args || o.args < 0 && len(s.Args) < 2 {
			return wrong("wrong number of operands")
		}
		if len(s.Results) != 0 && len(s.Results) != o.results {
			return wrong("%d results", len(s.Results))
		}
		for _, kv := range s.KV {
			if !slices.Contains(o.options, kv.Key) {
				return wrong("%s has no option %q", s.Op, kv.Key)
			}
		}
		before := len(a.packs)
		g, err := o.run(a, f, s)
		if err == nil && !a.legal {
			err = formed(f, g, a.instead)
		}
		for i := before; i < len(a.packs); i++ {
			a.packs[i].Step = s
		}
		return g, err
	}
	return nil, &ir.Error{Msg: fmt.Sprintf("there is no operation %q", s.Op), Help: suggest.DidYouMean(s.Op, Ops()) +
		"operations: " + strings.Join(Ops(), ", ")}
}

// formed refuses g, which a step made of f, if it is not well-formed and f was: a count of a shift
// may be too large where loops are looked at without their conditions, or a buffer be read outside
// of its scope. All steps are checked here, but those that only set marks; primitives do not look
// themselves. The help names an alternative.
func formed(f, g *ir.Func, help string) error {
	err := ir.Verify(g)
	if err == nil || ir.Verify(f) != nil {
		return nil
	}
	var e *ir.Error
	if !errors.As(err, &e) {
		e = &ir.Error{Msg: err.Error()}
	}
	msg := e.Msg
	if e.Op != "" {
		msg = fmt.Sprintf("in %s, %s", deps.Shorten(e.Op), msg)
	}
	return &ir.Error{Msg: "the func would not be well-formed any more: " + msg, Help: help}
}

func runSplit(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
	factor, tail, err := factorAndTail(s, s.Args[1])
	if err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(s.Args[0], "*")
	outer, inner := base+".o", base+".i"
	if len(s.Results) == 2 {
		outer, inner = s.Results[0], s.Results[1]
	}
	loops, err := resolve(f, s.Args[0])
	for _, l := range loops {
		suffix := l[len(base):] // the parts of a copy l.1 are l.o.1 and l.i.1
		if f, err = Split(f, l, factor, tail, outer+suffix, inner+suffix); err != nil {
			return nil, err
		}
	}
	return f, err
}

func runTile(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
	f1, tail, err := factorAndTail(s, s.Args[2])
	if err != nil {
		return nil, err
	}
	f2, _, err := factorAndTail(s, s.Args[3])
	if err != nil {
		return nil, err
	}
	var names [4]string
	copy(names[:], s.Results)
	return Tile(f, s.Args[0], s.Args[1], f1, f2, tail, names)
}

func runReorder(_ *applier, f *ir.Func, s Step) (*ir.Func, error) { return Reorder(f, s.Args...) }

// legal wraps steps that keep all marked loops legal: they change marks alone, and check them
// themselves.
func legal(run func(*applier, *ir.Func, Step) (*ir.Func, error)) func(*applier, *ir.Func, Step) (*ir.Func, error) {
	return func(a *applier, f *ir.Func, s Step) (*ir.Func, error) {
		a.legal = true
		return run(a, f, s)
	}
}

// guarding wraps steps that may put code under a guard, which can be wrong for the code.
func guarding(run func(*applier, *ir.Func, Step) (*ir.Func, error)) func(*applier, *ir.Func, Step) (*ir.Func, error) {
	return func(a *applier, f *ir.Func, s Step) (*ir.Func, error) {
		a.instead = "use tail=cut, tail=shift or a factor that divides the extent"
		return run(a, f, s)
	}
}

func runParallel(_ *applier, f *ir.Func, s Step) (*ir.Func, error) { return Parallel(f, s.Args[0]) }

func runComputeAt(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
	return ComputeAt(f, s.Args[0], s.Args[1])
}

func runFuse(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
	return Fuse(f, s.Args[0], s.Args[1], s.result())
}

func runDecomposeReduction(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
	return DecomposeReduction(f, s.Args[0], s.result())
}

func runComputeInline(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
	return ComputeInline(f, s.Args[0])
}

func runReplicate(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
	return Replicate(f, s.Args[0], s.Args[1], s.result())
}

func runCacheRead(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
	return CacheRead(f, s.Args[0], s.Args[1], s.result())
}

func runCacheWrite(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
	return CacheWrite(f, s.Args[0], s.Args[1], s.result())
}

func runNarrowAccumulate(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
	t, err := ir.ParseType(s.Args[2])
	if err != nil {
		return nil, &ir.Error{Msg: err.Error()}
	}
	apart := 0
	if v, ok := s.Get("apart"); ok {
		if apart, err = strconv.Atoi(v); err != nil || apart < 1 {
			return nil, &ir.Error{Msg: fmt.Sprintf("apart %q is no number of elements", v)}
		}
	}
	return NarrowAccumulate(f, s.Args[0], s.Args[1], t, apart, s.result())
}

func runRfactor(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
	var t ir.Type
	if v, ok := s.Get("type"); ok {
		var err error
		if t, err = ir.ParseType(v); err != nil {
			return nil, &ir.Error{Msg: err.Error()}
		}
	}
	return Rfactor(f, s.Args[0], s.Args[1], s.Args[2], t, s.result())
}

func runSetEncoding(a *applier, f *ir.Func, s Step) (*ir.Func, error) {
	t, err := ir.ParseType(s.Args[1])
	if err != nil {
		return nil, &ir.Error{Msg: err.Error()}
	}
	g, view, err := SetEncoding(f, s.Args[0], t, s.result())
	if view != nil {
		a.packs = append(a.packs, *view)
	}
	return g, err
}

// dimOf is the number of a dimension.
func dimOf(word string) (int, error) {
	n, err := strconv.Atoi(word)
	if err != nil {
		return 0, &ir.Error{Msg: fmt.Sprintf("dimension %q is not a number", word)}
	}
	return n, nil
}

func runFlatten(a *applier, f *ir.Func, s Step) (*ir.Func, error) {
	dim, err := dimOf(s.Args[1])
	if err != nil {
		return nil, err
	}
	g, view, err := Flatten(f, s.Args[0], dim)
	if view != nil {
		a.packs = append(a.packs, *view)
	}
	return g, err
}

func runPack(a *applier, f *ir.Func, s Step) (*ir.Func, error) {
	factor := 0
	if v, ok := s.Get("factor"); ok {
		var err error
		if factor, err = strconv.Atoi(v); err != nil {
			return nil, &ir.Error{Msg: fmt.Sprintf("factor %q is not a number", v)}
		}
	}
	g, p, err := PackBuffer(f, s.Args[0], s.Args[1:], factor)
	if p != nil {
		a.packs = append(a.packs, *p)
	}
	return g, err
}

func runCarrySave(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
	var names [2]string
	copy(names[:], s.Results)
	return CarrySave(f, s.Args[0], s.Args[1], s.Args[2], names[0], names[1])
}

func runPair(a *applier, f *ir.Func, s Step) (*ir.Func, error) {
	dim, err := dimOf(s.Args[1])
	if err != nil {
		return nil, err
	}
	g, p, err := Pair(f, s.Args[0], dim)
	if p != nil {
		a.packs = append(a.packs, *p)
	}
	return g, err
}

func runPeel(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
	first, err := strconv.Atoi(s.Args[1])
	last, err2 := strconv.Atoi(s.Args[2])
	if err != nil || err2 != nil {
		return nil, &ir.Error{Msg: fmt.Sprintf("%q and %q are not both numbers", s.Args[1], s.Args[2])}
	}
	return Peel(f, s.Args[0], first, last)
}

// result is the one name given after ->, or "".
func (s Step) result() string {
	if len(s.Results) == 0 {
		return ""
	}
	return s.Results[0]
}

func runTensorize(a *applier, f *ir.Func, s Step) (*ir.Func, error) {
	instr := a.instrs[s.Args[1]]
	if instr == nil {
		return nil, unknownInstr(a.instrs, s.Args[1])
	}
	loops, err := resolve(f, s.Args[0])
	for _, l := range loops {
		if f, err = Tensorize(f, l, instr); err != nil {
			return nil, err
		}
	}
	return f, err
}

func each(prim func(*ir.Func, string) (*ir.Func, error)) func(*applier, *ir.Func, Step) (*ir.Func, error) {
	return func(_ *applier, f *ir.Func, s Step) (*ir.Func, error) {
		loops, err := resolve(f, s.Args[0])
		for _, l := range loops {
			if f, err = prim(f, l); err != nil {
				return nil, err
			}
		}
		return f, err
	}
}

func factorAndTail(s Step, text string) (int, Tail, error) {
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, 0, &ir.Error{Msg: fmt.Sprintf("factor %q is not a number", text)}
	}
	v, ok := s.Get("tail")
	if !ok {
		return n, TailGuard, nil
	}
	tail, err := ParseTail(v)
	return n, tail, err
}
