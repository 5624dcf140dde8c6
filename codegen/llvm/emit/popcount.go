package emit

import (
	"fmt"
	"slices"
	"strings"

	llir "github.com/llir/llvm/ir"
	"github.com/llir/llvm/ir/types"
	"github.com/llir/llvm/ir/value"

	"ripc/codegen/llvm/isa"
	"ripc/codegen/llvm/rows"
	"ripc/ir"
)

// popcountAdd adds a vector of popcounts to the sums at an address, by instructions that LLVM does
// not select by itself (Facts.Counts and NarrowCounts): it counts bytes, and adds neighbours.
func (e *emitter) popcountAdd(op ir.StoreOp, x val, at value.Value, align int) (val, bool) {
	bits := e.bits[x.v]
	if op != ir.AddTo || bits == nil || !x.wide {
		return val{}, false
	}
	sums := countSum{e.lanes, x.t.Bits()}
	function := sums.function(e.facts)
	if function == nil {
		return val{}, false
	}
	e.require(helper{kind: countHelper, lanes: e.lanes, bits: sums.bits}, function)
	vt := e.typeOf(x.t, true)
	f := llir.NewFunc(sums.name(), vt, llir.NewParam("", vt), llir.NewParam("", e.typeOf(ir.I32, true)))
	acc := e.read(x.t, true, at, align)
	return val{v: e.b().NewCall(f, acc.v, bits), t: x.t, wide: true}, true
}

// countSum is a vector of sums of popcounts: its lanes, and the bits of each.
type countSum struct{ lanes, bits int }

// name returns the name of the function that adds counts to c.
func (c countSum) name() string {
	if c.bits < 32 {
		return fmt.Sprintf("ripc_popcount_add_u%d_x%d", c.bits, c.lanes)
	}
	return fmt.Sprintf("ripc_popcount_add_x%d", c.lanes)
}

// function returns the function behind popcountAdd, or nil if LLVM's own way is as good.
func (c countSum) function(m rows.Facts) func() isa.Function {
	if c.bits < 32 {
		if m.NarrowCounts == "" || c.lanes%(8*m.PairwiseAdd.Bytes/c.bits) != 0 {
			return nil
		}
		return func() isa.Function { return c.addNarrow(m) }
	}
	k := slices.IndexFunc(m.Counts, func(w rows.Counts) bool { return c.lanes%w.Lanes == 0 })
	if k < 0 || c.bits > 32 {
		return nil
	}
	return func() isa.Function { return c.addWide(m.Counts[k]) }
}

// writer prints lines of LLVM IR.
type writer func(format string, args ...any)

// linesOf returns the writer of lines to b.
func linesOf(b *strings.Builder) writer {
	return func(format string, args ...any) { fmt.Fprintf(b, format+"\n", args...) }
}

// joinRegisters writes code that joins the values of all registers of one lanes each, and returns
// the name of the whole. value writes the code for the register at a lane, and returns its name.
// Both sides of a shuffle have the same length: new lanes are stretched first, by the mask stretch.
// The names of stretched values begin with stretched.
func (p writer) joinRegisters(lanes, one int, elem, stretched string, stretch func(at int) string,
	value func(at int) string) (whole string) {
	for at := 0; at < lanes; at += one {
		v := value(at)
		if at == 0 {
			whole = v
			continue
		}
		p("  %%%[1]s%[2]d = shufflevector <%[3]d x %[4]s> %[5]s, <%[3]d x %[4]s> poison, %[6]s", stretched, at, one,
			elem, v, stretch(at))
		p("  %%t%[1]d = shufflevector <%[1]d x %[2]s> %[3]s, <%[1]d x %[2]s> %%%[4]s%[1]d, %[5]s", at, elem, whole,
			stretched, isa.ShuffleRun(0, at+one, at+one))
		whole = fmt.Sprintf("%%t%d", at)
	}
	return whole
}

// addFunction is a function that adds to the sums acc of c something of the words x, for registers
// of one lanes each. sum writes the code for the register at a lane, and returns its name.
func (c countSum) addFunction(one int, stretched string, calls []isa.Declaration,
	sum func(p writer, at int) string) isa.Function {
	var b strings.Builder
	p := linesOf(&b)
	elem := fmt.Sprintf("i%d", c.bits)
	sums := fmt.Sprintf("<%d x %s>", c.lanes, elem)
	p("define internal %[1]s @%[2]s(%[1]s %%acc, <%[3]d x i32> %%x) alwaysinline nounwind {", sums, c.name(), c.lanes)
	whole := p.joinRegisters(c.lanes, one, elem, stretched, func(at int) string { return isa.ShuffleRun(0, one, at) },
		func(at int) string { return sum(p, at) })
	p("  ret %s %s\n}", sums, whole)
	return isa.Function{Calls: calls, Text: b.String()}
}

// addNarrow makes the function behind popcountAdd for sums of 8 or 16 bits. It counts bytes and
// adds neighbours until pairs fill a register. For 16-bit sums it then accumulates neighbours; for
// 8-bit sums it adds all four bytes of a lane first.
func (c countSum) addNarrow(m rows.Facts) isa.Function {
	size := m.PairwiseAdd.Bytes
	bytes, halves, one := vectorOf(size, types.I8), vectorOf(size/2, types.I16), 8*size/c.bits
	calls := []isa.Declaration{
		{Result: bytes.String(), Name: "llvm.ctpop." + suffix(bytes), Params: bytes.String()},
		{Result: bytes.String(), Name: m.PairwiseAdd.Name, Params: fmt.Sprintf("%[1]s, %[1]s", bytes)},
	}
	if c.bits == 16 {
		calls = append(calls, isa.Declaration{Result: halves.String(), Name: m.NarrowCounts, Params: bytes.String()})
	}
	return c.addFunction(one, "l", calls, func(p writer, at int) string {
		var counts []string
		for k := at; k < at+one; k += size / 4 {
			p("  %%x%[2]d = shufflevector <%[1]d x i32> %%x, <%[1]d x i32> poison, %[3]s", c.lanes, k,
				isa.ShuffleRun(k, size/4, size/4))
			p("  %%b%[1]d = bitcast <%[2]d x i32> %%x%[1]d to %[3]s", k, size/4, bytes)
			p("  %%c%[1]d = call %[2]s @%[3]s(%[2]s %%b%[1]d)", k, bytes, calls[0].Name)
			counts = append(counts, fmt.Sprintf("%%c%d", k))
		}
		for n := 0; len(counts) > 1; n++ {
			var next []string
			for k := 0; k < len(counts); k += 2 {
				next = append(next, fmt.Sprintf("%%p%d.%d.%d", at, n, k))
				p("  %s = call %[2]s @%[3]s(%[2]s %[4]s, %[2]s %[5]s)", next[k/2], bytes, calls[1].Name, counts[k],
					counts[k+1])
			}
			counts = next
		}
		count := counts[0]
		if c.bits == 16 {
			p("  %%w%d = call %s @%s(%s %s)", at, halves, m.NarrowCounts, bytes, count)
			count = fmt.Sprintf("%%w%d", at)
		}
		p("  %%a%[1]d = shufflevector <%[2]d x i%[3]d> %%acc, <%[2]d x i%[3]d> poison, %[4]s", at, c.lanes, c.bits,
			isa.ShuffleRun(at, one, one))
		p("  %%s%[1]d = add <%[2]d x i%[3]d> %%a%[1]d, %[4]s", at, one, c.bits, count)
		return fmt.Sprintf("%%s%d", at)
	})
}

// addWide makes the function behind popcountAdd for sums of 32 bits, one register at a time. LLVM
// itself would widen first, or unpack the bytes.
func (c countSum) addWide(by rows.Counts) isa.Function {
	n := by.Lanes
	bytes, halves := vectorOf(4*n, types.I8).String(), vectorOf(2*n, types.I16).String()
	words := vectorOf(n, types.I32).String()
	calls := []isa.Declaration{
		{Result: bytes, Name: fmt.Sprintf("llvm.ctpop.v%di8", 4*n), Params: bytes},
		{Result: halves, Name: by.Halves, Params: bytes},
		{Result: words, Name: by.Words, Params: halves},
	}
	stretched := "l"
	if by.Multiplies {
		calls[1].Params, calls[2].Params = bytes+", "+bytes, halves+", "+halves
	}
	if by.Accumulates {
		calls[2].Params, stretched = words+", "+halves, "w"
	}
	return c.addFunction(n, stretched, calls, func(p writer, at int) string {
		ones := func(bits int) string { return "" }
		if by.Multiplies {
			ones = func(bits int) string { return fmt.Sprintf(", <%d x i%d> splat (i%d 1)", 32/bits*n, bits, bits) }
		}
		p(`  %%x%[2]d = shufflevector <%[1]d x i32> %%x, <%[1]d x i32> poison, %[3]s
  %%a%[2]d = shufflevector <%[1]d x i32> %%acc, <%[1]d x i32> poison, %[3]s
  %%b%[2]d = bitcast %[4]s %%x%[2]d to %[5]s
  %%c%[2]d = call %[5]s @%[6]s(%[5]s %%b%[2]d)
  %%h%[2]d = call %[7]s @%[8]s(%[5]s %%c%[2]d%[9]s)`, c.lanes, at, isa.ShuffleRun(at, n, n), words, bytes,
			calls[0].Name, halves, by.Halves, ones(8))
		if by.Accumulates {
			p("  %%s%[1]d = call %[2]s @%[3]s(%[2]s %%a%[1]d, %[4]s %%h%[1]d)", at, words, by.Words, halves)
		} else {
			p("  %%w%[1]d = call %[2]s @%[3]s(%[4]s %%h%[1]d%[5]s)", at, words, by.Words, halves, ones(16))
			p("  %%s%[1]d = add %[2]s %%a%[1]d, %%w%[1]d", at, words)
		}
		return fmt.Sprintf("%%s%d", at)
	})
}
