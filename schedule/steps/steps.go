// Package steps has a constructor for each primitive of package schedule. Strategies and tuners
// make their steps by these, so that the Go compiler checks the operands; the text form of a step
// is for traces. A constructor of loops also returns their names.
package steps

import (
	"strconv"

	"ripc/ir"
	"ripc/schedule"
)

func operation(op string, args ...string) schedule.Step { return schedule.Step{Op: op, Args: args} }

func naming(s schedule.Step, names ...string) schedule.Step {
	s.Results = names
	return s
}

func with(s schedule.Step, key, value string) schedule.Step {
	s.KV = append(s.KV, schedule.Option{Key: key, Value: value})
	return s
}

// Split makes two loops of one. It returns the names of the loop over tiles and of the loop within
// a tile.
func Split(loop string, factor int, tail schedule.Tail) (s schedule.Step, outer, inner string) {
	outer, inner = loop+".o", loop+".i"
	return SplitAs(loop, factor, tail, outer, inner), outer, inner
}

// SplitAs is Split with names for the two loops.
func SplitAs(loop string, factor int, tail schedule.Tail, outer, inner string) schedule.Step {
	return naming(with(operation("split", loop, strconv.Itoa(factor)), "tail", tail.String()), outer, inner)
}

// Reorder orders nested loops, the outermost first.
func Reorder(loops ...string) schedule.Step { return operation("reorder", loops...) }

// Unroll writes the iterations of a loop out.
func Unroll(loop string) schedule.Step { return operation("unroll", loop) }

// Vectorize makes the iterations of a loop lanes.
func Vectorize(loop string) schedule.Step { return operation("vectorize", loop) }

// Parallel shares the iterations of a loop among threads.
func Parallel(loop string) schedule.Step { return operation("parallel", loop) }

// Peel takes the first and the last iterations off a loop.
func Peel(loop string, first, last int) schedule.Step {
	return operation("peel", loop, strconv.Itoa(first), strconv.Itoa(last))
}

// Fuse makes one loop, called name, of two that are nested.
func Fuse(outer, inner, name string) schedule.Step {
	return naming(operation("fuse", outer, inner), name)
}

// ComputeAt fills a buffer in the iterations of the loop that read it.
func ComputeAt(buffer, loop string) schedule.Step { return operation("compute_at", buffer, loop) }

// ComputeInline computes the elements of a buffer where they are read.
func ComputeInline(buffer string) schedule.Step { return operation("compute_inline", buffer) }

// CacheRead copies the part of a buffer that a loop reads to another buffer, called name.
func CacheRead(buffer, loop, name string) schedule.Step {
	return naming(operation("cache_read", buffer, loop), name)
}

// CacheWrite keeps the part of a buffer that a loop writes in another buffer, called name.
func CacheWrite(buffer, loop, name string) schedule.Step {
	return naming(operation("cache_write", buffer, loop), name)
}

// NarrowAccumulate adds up the iterations of a loop in elements of type t. If apart is not 0, even
// and odd elements stand for neighbours that are apart elements apart.
func NarrowAccumulate(buffer, loop string, t ir.Type, apart int, name string) schedule.Step {
	s := operation("narrow_accumulate", buffer, loop, t.String())
	if apart > 0 {
		s = with(s, "apart", strconv.Itoa(apart))
	}
	return naming(s, name)
}

// Rfactor adds up each iteration of lanes apart, in elements of a buffer called name, for each
// iteration of a loop.
func Rfactor(buffer, lanes, loop, name string) schedule.Step {
	return naming(operation("rfactor", buffer, lanes, loop), name)
}

// RfactorAs is Rfactor with elements of type t.
func RfactorAs(buffer, lanes, loop string, t ir.Type, name string) schedule.Step {
	return with(Rfactor(buffer, lanes, loop, name), "type", t.String())
}

// CarrySave counts pairs of words, with sums and carries of their own in the iterations of loop
// around.
func CarrySave(buffer, paired, around, sums, carries string) schedule.Step {
	return naming(operation("carry_save", buffer, paired, around), sums, carries)
}

// Pair makes the words along a dimension of a buffer pairs.
func Pair(buffer string, dim int) schedule.Step { return operation("pair", buffer, strconv.Itoa(dim)) }

// Flatten makes one dimension of two.
func Flatten(buffer string, dim int) schedule.Step {
	return operation("flatten", buffer, strconv.Itoa(dim))
}

// SetEncoding reads the words of a buffer as several of type t.
func SetEncoding(buffer string, t ir.Type) schedule.Step {
	return operation("set_encoding", buffer, t.String())
}

// Replicate keeps a copy of each element of a buffer for each iteration of a loop.
func Replicate(buffer, loop string) schedule.Step { return operation("replicate", buffer, loop) }

// Tensorize makes an instruction of a loop.
func Tensorize(loop string, instr *ir.Func) schedule.Step {
	return operation("tensorize", loop, instr.Name)
}

// Dim is a dimension of a buffer, or a part of one that Pack cuts.
type Dim string

// WholeDim is a dimension that is not cut.
func WholeDim(d int) Dim { return Dim(strconv.Itoa(d)) }

// Outer numbers the groups that a dimension is cut into.
func Outer(d int) Dim { return WholeDim(d) + ".o" }

// Inner numbers the elements of a group.
func Inner(d int) Dim { return WholeDim(d) + ".i" }

// Dims lists whole dimensions.
func Dims(ds ...int) []Dim {
	out := make([]Dim, len(ds))
	for i, d := range ds {
		out[i] = WholeDim(d)
	}
	return out
}

// First lists the first n dimensions, uncut.
func First(n int) []Dim {
	var out []Dim
	for d := range n {
		out = append(out, WholeDim(d))
	}
	return out
}

// Pack orders the dimensions of a buffer anew. A dimension that stands there as Outer and Inner is
// cut into groups of factor elements; factor is 0 if there is none.
func Pack(buffer string, factor int, dims ...Dim) schedule.Step {
	s := operation("pack", buffer)
	for _, d := range dims {
		s.Args = append(s.Args, string(d))
	}
	if factor > 0 {
		s = with(s, "factor", strconv.Itoa(factor))
	}
	return s
}

// Bind makes the iterations of a loop blocks or threads of a device.
func Bind(loop string, to ir.LoopKind) schedule.Step { return operation("bind", loop, to.String()) }

// Share gives the threads of a block one alloc together.
func Share(buffer string) schedule.Step { return operation("share", buffer) }

// Sync puts barriers between loops of threads.
func Sync() schedule.Step { return operation("sync") }
