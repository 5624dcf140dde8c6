package codegen

import (
	"encoding/binary"
	"math"
	"math/bits"

	"ripc/ir"
)

// The grain of floats is a number g: all are multiples of 2^(g-149), infinite or NaN. Every float
// has grain 0. Sums and products keep a grain, also when they are rounded: a float too large for
// its last bits is a multiple of more. So code need not flush a result of grain NormalGrain.

const (
	// NormalGrain is the least grain of floats that are never subnormal.
	NormalGrain = 149 - 126
	// WholeGrain is the grain of integers.
	WholeGrain = 149
	// zeroGrain is the grain of zeros, infinities and NaNs, and of no other float.
	zeroGrain = 512
)

// Grain is the largest grain of x.
func Grain(x float32) int {
	b := math.Float32bits(x)
	exponent, fraction := int(b>>23&0xFF), b&(1<<23-1)
	switch {
	case exponent == 0xFF || exponent == 0 && fraction == 0:
		return zeroGrain
	case exponent == 0:
		return bits.TrailingZeros32(fraction)
	}
	return exponent - 1 + bits.TrailingZeros32(fraction|1<<23)
}

// GrainOf is the grain of a op b, where a and b have the given grains.
func GrainOf(op ir.BinOp, a, b int) int {
	switch op {
	case ir.Add, ir.Sub, ir.Min, ir.Max:
		return min(a, b)
	case ir.Mul:
		return min(max(a+b-WholeGrain, 0), zeroGrain)
	}
	return 0
}

// Grains has the grain of each buffer of a Func.
type Grains map[string]int

// Grains finds those of f, if the parameters in scanned have the given grain. Others have that of
// their constants in the Program.
func (x *Floats) Grains(f *ir.Func, scanned map[string]bool, grain int) Grains {
	g := Grains{}
	for name := range f.Buffers() {
		g[name] = zeroGrain
	}
	for _, p := range f.Params {
		switch {
		case p.Out:
		case scanned[p.Name]:
			g[p.Name] = grain
		default:
			g[p.Name] = x.constantGrain(f, p.Name)
		}
	}
	for changed := true; changed; {
		changed = false
		lower := func(buf string, to int) {
			if to < g[buf] {
				g[buf], changed = to, true
			}
		}
		for s := range ir.Stmts(f.Body) {
			switch s := s.(type) {
			case *ir.Store:
				lower(s.Buf, g.storeGrain(s, func() {}))
			case *ir.Call:
				for _, a := range s.Args {
					lower(a.Buf, 0)
				}
			}
		}
	}
	return g
}

// constantGrain is the grain of all constants that stages pass to parameter p of f, or 0.
func (x *Floats) constantGrain(f *ir.Func, p string) int {
	if x == nil {
		return 0
	}
	x.once.Do(x.find)
	return x.grains[f.Name][p]
}

// dataGrain is the grain of the floats of data.
func dataGrain(data []byte) int {
	g := zeroGrain
	for i := 0; i+4 <= len(data); i += 4 {
		g = min(g, Grain(math.Float32frombits(binary.LittleEndian.Uint32(data[i:]))))
	}
	return g
}

// storeGrain returns the grain of the element that s leaves. It calls flush for each operation of a
// grain below NormalGrain.
func (g Grains) storeGrain(s *ir.Store, flush func()) int {
	x := g.exprGrain(s.Val, flush)
	if s.Op == ir.Assign || !s.Val.Type().IsFloat() {
		return x
	}
	return countFlush(GrainOf(s.Op.Operator(), g[s.Buf], x), flush)
}

func countFlush(grain int, flush func()) int {
	if grain < NormalGrain {
		flush()
	}
	return grain
}

// exprGrain returns the grain of x, 0 if x is no float.
func (g Grains) exprGrain(x ir.Expr, flush func()) int {
	switch x := x.(type) {
	case *ir.FloatImm:
		return Grain(x.V)
	case *ir.Load:
		return g[x.Buf]
	case *ir.Binary:
		a, b := g.exprGrain(x.A, flush), g.exprGrain(x.B, flush)
		if !x.Type().IsFloat() {
			return 0
		}
		return countFlush(GrainOf(x.Op, a, b), flush)
	case *ir.Fma:
		p := GrainOf(ir.Mul, g.exprGrain(x.A, flush), g.exprGrain(x.B, flush))
		return countFlush(min(p, g.exprGrain(x.C, flush)), flush)
	case *ir.Unary:
		a := g.exprGrain(x.A, flush)
		switch x.Op {
		case ir.Neg, ir.Abs:
			return a
		case ir.Floor, ir.RoundEven:
			return WholeGrain
		}
	case *ir.Select:
		g.exprGrain(x.Cond, flush)
		return min(g.exprGrain(x.A, flush), g.exprGrain(x.B, flush))
	case *ir.Cast:
		a := g.exprGrain(x.A, flush)
		if x.A.Type().IsFloat() {
			return a
		}
		return WholeGrain
	case *ir.Bitcast:
		g.exprGrain(x.A, flush)
	}
	return 0
}

// Flushes counts the operations of s, one for each iteration, of a grain below NormalGrain.
func (g Grains) Flushes(s ir.Stmt) (n int) {
	switch s := s.(type) {
	case *ir.Block:
		for _, t := range s.Stmts {
			n += g.Flushes(t)
		}
	case *ir.For:
		return s.Extent * g.Flushes(s.Body)
	case *ir.If:
		return g.Flushes(s.Then) + g.Flushes(s.Else)
	case *ir.Alloc:
		return g.Flushes(s.Body)
	case *ir.Store:
		g.storeGrain(s, func() { n++ })
	}
	return n
}
