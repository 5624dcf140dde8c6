package emit_test

import (
	"sort"
	"testing"

	"ripc/ir"
	"ripc/targets"
	"ripc/targets/isa"
)

// instructions gives a Func for each instruction of a CPU, by name: it calls the instruction three times.
func instructions(tg targets.Target) []*ir.Func {
	var fs []*ir.Func
	for _, fn := range isa.For(tg) {
		f := &ir.Func{Name: "call_" + fn.Name, Params: fn.Params}
		call := &ir.Call{Fn: fn}
		for _, p := range fn.Params {
			w := ir.Window{Buf: p.Name}
			for range p.Shape {
				w.Idx = append(w.Idx, ir.Int(0))
			}
			call.Args = append(call.Args, w)
		}
		f.Body = loop(ir.Serial, "again", 3, call)
		fs = append(fs, f)
	}
	sort.Slice(fs, func(i, j int) bool { return fs[i].Name < fs[j].Name })
	return fs
}

// Each instruction that this machine has computes what its body says.
func TestInstructions(t *testing.T) {
	tg := host(t)
	fs := instructions(tg)
	if len(fs) == 0 {
		t.Skipf("%s has no instructions for tensorize", tg.Name)
	}
	checkOn(t, host(t), fs...)
}
