package emit

import (
	"cmp"
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

// buffer is the memory of a parameter or an alloc.
type buffer struct {
	ir.Buffer
	base value.Value
	// copies is the number of lanes with a copy each of an alloc inside a vectorized loop:
	// [elems][copies]. 0 for other buffers.
	copies int
	// lane is the vectorized loop of the copies.
	lane string
	// flushed reports whether all floats stored here are flushed (see val).
	flushed bool
	isAlloc bool // an alloc, private to the kernel
}

// instruction is a called instruction.
type instruction struct {
	name     string
	function isa.Function
}

// emitter holds the state of one kernel's emission.
type emitter struct {
	f       *ir.Func
	changes ir.Changes // f's writes
	target  targets.Target
	row     rows.Row
	facts   rows.Facts // of row
	frame   codegen.Frame

	m        *llir.Module
	fn       *llir.Func
	blk      *llir.Block // current block
	scratch  value.Value
	tid      value.Value
	nthreads value.Value
	declared map[string]*llir.Func
	names    map[string]int
	attrs    *llir.AttrGroupDef
	instrs   []instruction // called ones, in order of first use
	byLane   []string      // see Module

	bufs        map[string]*buffer
	vars        map[string]val                 // loop variables in scope
	ranges      arith.Ranges                   // and their ranges
	conditions  []ir.Expr                      // enclosing conditions, true here
	widenedFrom map[value.Value]value.Value    // widened i64 value -> the original
	bits        map[value.Value]value.Value    // popcount of 32-bit lanes -> its operand (see popcountAdd)
	helpers     map[helper]func() isa.Function // functions that the code calls
	toBytes     bool                           // the expression is converted to bytes (see laneBits)
	parts       map[ir.Expr]val                // values of the statement's shared subexpressions (see evalShared)
	// Addresses of windows and elements (see window).
	origins map[origin]value.Value
	// The vectorized loop being emitted: its variable and extent; "" and 0 outside of one.
	laneVar string
	lanes   int

	flushedAllocs map[string]bool // allocs that hold flushed floats only
	floats        *codegen.Floats // of the Program
	grains        codegen.Grains  // of the code being emitted; nil where instructions flush
	compared      map[string]bool // see comparedAllocs
	hidden        map[hidden]value.Value
	ties          value.Value // where multiply-adds note ties; nil where they test for them
	seldom        bool        // code is emitted that seldom runs: a tile again, or the version that flushes
	inexact       value.Value // whether sums may not be exact in double; nil: not known (see scanBits)

	device *device // nil for a CPU
	count  int     // instructions emitted
	visits int
	spread spread
}

func newEmitter(f *ir.Func, symbol string, t targets.Target, row rows.Row, floats *codegen.Floats) *emitter {
	e := &emitter{
		f: f, changes: f.Changes(f.Body), target: t, row: row, facts: row.Facts,
		m: llir.NewModule(), frame: codegen.Layout(f),
		flushedAllocs: (*codegen.Floats)(nil).Flushed(f), compared: comparedAllocs(f), hidden: map[hidden]value.Value{},
		declared: map[string]*llir.Func{}, names: map[string]int{},
		bufs: map[string]*buffer{}, vars: map[string]val{}, ranges: arith.Ranges{},
		widenedFrom: map[value.Value]value.Value{}, bits: map[value.Value]value.Value{},
		helpers: map[helper]func() isa.Function{}, origins: map[origin]value.Value{}, floats: floats,
	}
	var flushed map[string]bool
	if !e.facts.Flushes {
		flushed, e.grains = floats.Flushed(f), floats.Grains(f, nil, 0)
	}
	e.m.TargetTriple = row.Triple
	e.attrs = &llir.AttrGroupDef{FuncAttrs: attributes(row)}
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
		e.bufs[p.Name] = &buffer{Buffer: p.Buffer, base: q, flushed: flushed[p.Name]}
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

// attributes returns the attributes of every kernel: its processor features, no library calls in
// place of loops, and the treatment of subnormals (for LLVM's constant folding).
func attributes(row rows.Row) []llir.FuncAttribute {
	mode := "ieee,ieee"
	if row.Facts.Flushes {
		mode = "preserve-sign,preserve-sign"
	}
	as := []llir.FuncAttribute{
		enum.FuncAttrNoUnwind,
		llir.AttrString("no-builtins"),
		llir.AttrPair{Key: "target-cpu", Value: row.CPU},
		llir.AttrPair{Key: "target-features", Value: row.Attrs},
		llir.AttrPair{Key: "denormal-fp-math", Value: mode},
	}
	if row.VScale > 0 {
		as = append(as, vscale(row.VScale))
	}
	if row.PreferVectorBits > 0 {
		as = append(as, llir.AttrPair{Key: "prefer-vector-width", Value: fmt.Sprint(row.PreferVectorBits)},
			llir.AttrPair{Key: "min-legal-vector-width", Value: "0"})
	}
	return as
}

// vscale is the function attribute vscale_range.
type vscale int

func (v vscale) String() string { return fmt.Sprintf("vscale_range(%[1]d,%[1]d)", int(v)) }

// IsFuncAttribute implements llir's interface.
func (vscale) IsFuncAttribute() {}

// stackBits is the stack alignment of the ABI.
const stackBits = 128

// alignStack aligns the kernel's stack for longer vectors, if there may be more vectors than
// registers. LLVM decides on alignment before it allocates registers. Without this, spilled vectors
// would straddle cache lines.
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

// b returns the current block, for adding one instruction.
func (e *emitter) b() *llir.Block {
	e.count++
	if e.count > size.Max {
		e.failTooLarge()
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

// block makes a basic block; start appends it.
func (e *emitter) block(base string) *llir.Block {
	b := llir.NewBlock(e.name(base))
	b.Parent = e.fn
	return b
}

// start continues in block b, behind all blocks so far.
func (e *emitter) start(b *llir.Block) {
	e.fn.Blocks = append(e.fn.Blocks, b)
	e.blk = b
}

// loopMetadata returns a fresh node that keeps LLVM from unrolling a loop: the schedule has
// decided.
func (e *emitter) loopMetadata() *metadata.Attachment {
	if len(e.m.MetadataDefs) == 0 {
		e.m.MetadataDefs = append(e.m.MetadataDefs,
			&metadata.Tuple{MetadataID: 0,
				Fields: []metadata.Field{&metadata.String{Value: "llvm.loop.unroll.disable"}}})
	}
	id := metadata.MetadataID(len(e.m.MetadataDefs))
	node := &metadata.Tuple{MetadataID: id, Distinct: true}
	node.Fields = []metadata.Field{node, e.m.MetadataDefs[0]}
	e.m.MetadataDefs = append(e.m.MetadataDefs, node)
	return &metadata.Attachment{Name: "llvm.loop", Node: node}
}

// print returns the module as text, with the instructions and functions that it calls.
func (e *emitter) print() []byte {
	var functions []isa.Function
	for _, f := range e.instrs {
		functions = append(functions, f.function)
	}
	for _, h := range slices.SortedFunc(maps.Keys(e.helpers), helper.compare) {
		functions = append(functions, e.helpers[h]())
	}
	return []byte(strings.TrimSpace(e.m.String()) + "\n" + e.join(functions))
}

// helper identifies a function that the code calls. The fields give the order of the functions.
type helper struct {
	kind        helperKind
	lanes, bits int
	name        string
}

type helperKind int

const (
	countHelper  helperKind = iota // of popcountAdd
	maskHelper                     // of maskOf
	boolsHelper                    // of boolsFromMask
	fmaHelper                      // of fma
	highHelper                     // of emitHighProduct
	divideHelper                   // divide64
)

// require notes that the code calls h, which function makes.
func (e *emitter) require(h helper, function func() isa.Function) { e.helpers[h] = function }

func (h helper) compare(o helper) int {
	return cmp.Or(cmp.Compare(h.kind, o.kind), cmp.Compare(h.lanes, o.lanes), cmp.Compare(h.bits, o.bits),
		cmp.Compare(h.name, o.name))
}
