package emit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/enum"
	"github.com/llir/llvm/ir/metadata"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen"
	"ripc/codegen/llvm/isa"
	"ripc/codegen/llvm/rows"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/ir/size"
	"ripc/targets"
)

// buffer is where a parameter or an alloc lives.
type buffer struct {
	ir.Buffer
	base value.Value
	// An alloc inside a vectorized loop has a copy per lane, element by element: [elems][copies]. 0
	// for others.
	copies int
	// lane is the loop whose lanes the copies belong to.
	lane string
	// flushed: all floats stored here are (see val).
	flushed bool
	own     bool // an alloc, which nobody else reads or writes
}

// instruction is a called instruction.
type instruction struct {
	name     string
	function isa.Function
}

// emitter holds the state of one kernel's emission.
type emitter struct {
	f       *ir.Func
	changes ir.Changes // what f may change
	target  targets.Target
	frame   codegen.Frame

	m        *llir.Module
	fn       *llir.Func
	blk      *llir.Block // where instructions go
	scratch  value.Value
	tid      value.Value
	nthreads value.Value
	declared map[string]*llir.Func
	names    map[string]int
	attrs    *llir.AttrGroupDef
	instrs   []instruction // called ones, in order of first use
	byLane   []string      // see Module

	bufs    map[string]*buffer
	vars    map[string]val              // loop variables in scope
	ranges  arith.Ranges                // and their ranges
	given   []ir.Expr                   // conditions around that hold
	narrow  map[value.Value]value.Value // i64 values that were widened, and what from
	bits    map[value.Value]value.Value // popcounts of 32-bit lanes, and what of (see popcountAdd)
	sums    map[counted]bool            // popcountAdd's functions
	masks   map[int]bool                // maskOf's functions, by lanes
	toBytes bool                        // what is emitted becomes bytes (see laneBits)
	unpacks map[int]bool                // those of bools, by lanes
	udiv64  bool                        // divide64 is called
	fmas    map[int]bool                // fused's functions, by lanes; 0 for scalars
	highs   map[highKind]bool           // high's functions
	parts   map[ir.Expr]val             // what parts of the statement's expression are (see once)
	// Addresses of windows and elements (see window).
	origins map[origin]value.Value
	// The vectorized loop being emitted: its variable and extent; "" and 0 outside of one.
	laneVar string
	lanes   int

	clean    map[string]bool // allocs that hold flushed floats only
	compared map[string]bool // see comparedAllocs
	hidden   map[hidden]value.Value

	count  int // instructions so far
	visits int
	spread spread
}

func newEmitter(f *ir.Func, symbol string, t targets.Target) *emitter {
	e := &emitter{
		f: f, changes: f.Changes(f.Body), target: t, m: llir.NewModule(), frame: codegen.Layout(f), clean: (*codegen.Floats)(nil).Flushed(f), compared: comparedAllocs(f), hidden: map[hidden]value.Value{},
		declared: map[string]*llir.Func{}, names: map[string]int{},
		bufs: map[string]*buffer{}, vars: map[string]val{}, ranges: arith.Ranges{},
		narrow: map[value.Value]value.Value{}, bits: map[value.Value]value.Value{}, sums: map[counted]bool{}, masks: map[int]bool{}, unpacks: map[int]bool{}, fmas: map[int]bool{}, highs: map[highKind]bool{}, origins: map[origin]value.Value{},
	}
	row, _ := rows.Of(t)
	e.m.TargetTriple = row.Triple
	e.attrs = &llir.AttrGroupDef{FuncAttrs: attributes(t)}
	e.m.AttrGroupDefs = append(e.m.AttrGroupDefs, e.attrs)

	param := func(name string, typ types.Type, attrs ...llir.ParamAttribute) *llir.Param {
		p := llir.NewParam(e.name(name), typ)
		p.Attrs = attrs
		return p
	}
	var ps []*llir.Param
	for _, p := range f.Params {
		attrs := []llir.ParamAttribute{llir.Align(64)}
		if f.Apart(p) {
			attrs = []llir.ParamAttribute{enum.ParamAttrNoAlias, llir.Align(64)}
		}
		if !p.Out {
			attrs = append(attrs, enum.ParamAttrReadOnly)
		}
		q := param(p.Name, opaquePtr{}, attrs...)
		ps = append(ps, q)
		e.bufs[p.Name] = &buffer{Buffer: p.Buffer, base: q}
	}
	scratch := param("scratch", opaquePtr{}, enum.ParamAttrNoAlias, llir.Align(64))
	tid, n := param("tid", types.I32), param("nthreads", types.I32)
	e.scratch, e.tid, e.nthreads = scratch, tid, n
	e.fn = e.m.NewFunc(symbol, types.Void, append(ps, scratch, tid, n)...)
	e.fn.Visibility = enum.VisibilityHidden
	e.fn.FuncAttrs = []llir.FuncAttribute{e.attrs}
	e.start(e.block("entry"))
	return e
}

// attributes are those of every kernel: which instructions it may use, that no loop may become a
// library call, and that subnormal floats are flushed (constant folding in LLVM must know).
func attributes(t targets.Target) []llir.FuncAttribute {
	row, _ := rows.Of(t)
	as := []llir.FuncAttribute{
		enum.FuncAttrNoUnwind,
		llir.AttrString("no-builtins"),
		llir.AttrPair{Key: "target-cpu", Value: row.CPU},
		llir.AttrPair{Key: "target-features", Value: row.Attrs},
		llir.AttrPair{Key: "denormal-fp-math", Value: "preserve-sign,preserve-sign"},
	}
	if row.PreferVectorBits > 0 {
		as = append(as, llir.AttrPair{Key: "prefer-vector-width", Value: fmt.Sprint(row.PreferVectorBits)},
			llir.AttrPair{Key: "min-legal-vector-width", Value: "0"})
	}
	return as
}

// stackBits is how stacks are aligned.
const stackBits = 128

// alignStack aligns the kernel's stack for vectors that are longer than that, if there are more of
// them than registers. LLVM decides before it allots these whether a function does, so that vectors
// that have none by then would lie across two lines of the first cache each.
func (e *emitter) alignStack() {
	if e.target.VectorBits <= stackBits {
		return
	}
	n := 0
	for _, b := range e.fn.Blocks {
		for _, i := range b.Insts {
			if v, ok := i.(value.Value); ok && types.IsVector(v.Type()) {
				n++
			}
		}
	}
	if n > e.target.Registers {
		e.attrs.FuncAttrs = append(e.attrs.FuncAttrs, llir.AttrString("stackrealign"))
	}
}

// b is the current block, for adding one instruction.
func (e *emitter) b() *llir.Block {
	e.count++
	if e.count > size.Max {
		e.tooLarge()
	}
	return e.blk
}

// name makes a local name unique.
func (e *emitter) name(base string) string {
	e.names[base]++
	if n := e.names[base]; n > 1 {
		return e.name(fmt.Sprintf("%s.%d", base, n))
	}
	return base
}

// block makes a basic block, which start puts in its place.
func (e *emitter) block(base string) *llir.Block {
	b := llir.NewBlock(e.name(base))
	b.Parent = e.fn
	return b
}

// start continues in a block, after all blocks so far.
func (e *emitter) start(b *llir.Block) {
	e.fn.Blocks = append(e.fn.Blocks, b)
	e.blk = b
}

// loopMetadata is a fresh node that keeps LLVM from unrolling a loop: the schedule has decided.
func (e *emitter) loopMetadata() *metadata.Attachment {
	if len(e.m.MetadataDefs) == 0 {
		e.m.MetadataDefs = append(e.m.MetadataDefs,
			&metadata.Tuple{MetadataID: 0, Fields: []metadata.Field{&metadata.String{Value: "llvm.loop.unroll.disable"}}})
	}
	id := metadata.MetadataID(len(e.m.MetadataDefs))
	node := &metadata.Tuple{MetadataID: id, Distinct: true}
	node.Fields = []metadata.Field{node, e.m.MetadataDefs[0]}
	e.m.MetadataDefs = append(e.m.MetadataDefs, node)
	return &metadata.Attachment{Name: "llvm.loop", Node: node}
}

// print is the module as text, with the instructions and functions that it calls.
func (e *emitter) print() []byte {
	var functions []isa.Function
	for _, f := range e.instrs {
		functions = append(functions, f.function)
	}
	for _, sums := range slices.SortedFunc(maps.Keys(e.sums), counted.compare) {
		functions = append(functions, sums.function(e.target))
	}
	for _, lanes := range slices.Sorted(maps.Keys(e.masks)) {
		functions = append(functions, maskText(e.target.Arch, lanes))
	}
	for _, lanes := range slices.Sorted(maps.Keys(e.unpacks)) {
		functions = append(functions, boolsText(lanes))
	}
	for _, lanes := range slices.Sorted(maps.Keys(e.fmas)) {
		functions = append(functions, isa.Function{Text: fusedText(lanes)})
	}
	for _, kind := range slices.SortedFunc(maps.Keys(e.highs), func(a, b highKind) int { return strings.Compare(a.name(), b.name()) }) {
		functions = append(functions, kind.function(e.target.Arch))
	}
	if e.udiv64 {
		functions = append(functions, isa.Function{Text: divide64})
	}
	return []byte(strings.TrimSpace(e.m.String()) + "\n" + e.join(functions))
}
