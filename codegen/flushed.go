package codegen

import (
	"encoding/binary"
	"math"
	"sync"

	"ripc/internal/f32"
	"ripc/ir"
)

// Floats knows the parameters of a Program's Funcs that hold flushed floats only. A back end that
// flushes in code need not flush these. The nil Floats knows none. Several goroutines may use one.
type Floats struct {
	program    *ir.Program
	once       sync.Once
	params     map[string]map[string]bool    // by Func
	grains     map[string]Grains             // by Func: those of constants
	magnitudes map[string]map[string]float64 // by Func: dataMagnitude of constants, infinite for others
}

// NewFloats makes the Floats of p. It looks at p when it is first asked.
func NewFloats(p *ir.Program) *Floats { return &Floats{program: p} }

// Flushed are the buffers of f, parameters and allocs, that hold flushed floats only.
func (x *Floats) Flushed(f *ir.Func) map[string]bool {
	if x == nil {
		return flushedBuffers(f, nil)
	}
	x.once.Do(x.find)
	return flushedBuffers(f, x.params[f.Name])
}

// find assumes that all parameters are flushed, and drops assumptions that a stage refutes, until
// nothing changes.
func (x *Floats) find() {
	x.params, x.grains = map[string]map[string]bool{}, map[string]Grains{}
	x.magnitudes = map[string]map[string]float64{}
	index, clean, constants, magnitudes := x.program.Index(), map[string]bool{}, Grains{}, map[string]float64{}
	for _, b := range x.program.Buffers {
		if b.Type.IsFloat() && b.Kind == ir.ConstBuf {
			constants[b.Name], magnitudes[b.Name] = dataGrain(b.Data), dataMagnitude(b.Data)
			clean[b.Name] = constants[b.Name] >= NormalGrain || flushedData(b.Data)
		}
	}
	for _, f := range x.program.Funcs {
		x.grains[f.Name], x.magnitudes[f.Name] = Grains{}, map[string]float64{}
		for _, p := range f.Params {
			x.grains[f.Name][p.Name], x.magnitudes[f.Name][p.Name] = zeroGrain, 0
		}
	}
	for _, s := range x.program.Stages {
		for i, p := range index.Func(s.Func).Params {
			g, most := x.grains[s.Func], x.magnitudes[s.Func]
			g[p.Name] = min(g[p.Name], constants[s.Args[i]])
			if n, ok := magnitudes[s.Args[i]]; ok {
				most[p.Name] = max(most[p.Name], n)
			} else {
				most[p.Name] = math.Inf(1)
			}
			if p.Out && p.Type.IsFloat() { // buffers that no stage writes come from outside
				clean[s.Args[i]] = true
			}
		}
	}
	for _, f := range x.program.Funcs {
		x.params[f.Name] = map[string]bool{}
		for _, p := range f.Params {
			x.params[f.Name][p.Name] = p.Type.IsFloat()
		}
	}
	for changed := true; changed; {
		changed = false
		for _, s := range x.program.Stages {
			f := index.Func(s.Func)
			params := x.params[f.Name]
			for i, p := range f.Params {
				if params[p.Name] && !clean[s.Args[i]] {
					params[p.Name], changed = false, true
				}
			}
			buffers := flushedBuffers(f, params)
			for i, p := range f.Params {
				if p.Out && clean[s.Args[i]] && !buffers[p.Name] {
					clean[s.Args[i]], changed = false, true
				}
			}
		}
	}
}

// flushedData reports whether no float of a constant is subnormal.
func flushedData(data []byte) bool {
	for i := 0; i+4 <= len(data); i += 4 {
		x := math.Float32frombits(binary.LittleEndian.Uint32(data[i:]))
		if math.Float32bits(f32.Flush(x)) != math.Float32bits(x) {
			return false
		}
	}
	return true
}

// flushedBuffers finds the buffers of f that hold flushed floats only, given the parameters that
// do. An output may: it does if nothing else is stored there.
func flushedBuffers(f *ir.Func, params map[string]bool) map[string]bool {
	clean := map[string]bool{}
	for _, p := range f.Params {
		if params[p.Name] {
			clean[p.Name] = true
		}
	}
	for s := range ir.Stmts(f.Body) {
		if a, ok := s.(*ir.Alloc); ok && a.Buf.Type.IsFloat() {
			clean[a.Buf.Name] = true
		}
	}
	for before := -1; before != len(clean); { // one that is not may have been copied to others
		before = len(clean)
		for s := range ir.Stmts(f.Body) {
			switch s := s.(type) {
			case *ir.Store: // combining is arithmetic, which flushes
				if s.Op == ir.Assign && clean[s.Buf] && !Flushed(s.Val, clean) {
					delete(clean, s.Buf)
				}
			case *ir.Call:
				for _, a := range s.Args {
					delete(clean, a.Buf)
				}
			}
		}
	}
	return clean
}

// Flushed reports whether the float x is flushed, given the buffers that hold nothing else.
func Flushed(x ir.Expr, clean map[string]bool) bool {
	switch x := x.(type) {
	case *ir.FloatImm:
		k := f32.Flush(x.V)
		return k == x.V || x.V != x.V
	case *ir.Binary, *ir.Fma:
		return true
	case *ir.Cast:
		return !x.A.Type().IsFloat() || Flushed(x.A, clean)
	case *ir.Unary:
		return x.Op != ir.Neg && x.Op != ir.Abs || Flushed(x.A, clean)
	case *ir.Select:
		return Flushed(x.A, clean) && Flushed(x.B, clean)
	case *ir.Load:
		return clean[x.Buf]
	}
	return false
}
