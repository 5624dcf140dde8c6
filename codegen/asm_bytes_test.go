package codegen_test

import (
	"strings"
	"testing"

	"ripc/ir"
	"ripc/ir/graph"
	"ripc/ir/ops"
	"ripc/schedule"
	"ripc/schedule/template"
	"ripc/targets/isa"
)

// TestByteLanes reads the main loops of default schedules: bytes are counted and added, words are not widened, and what
// goes over the stack is the lanes of 16 bits, once in a sum of bytes: one out, one back each.
func TestByteLanes(t *testing.T) {
	for _, c := range []struct {
		target     string
		size, in   int
		stack, cnt int // of the innermost loop: accesses of the stack at most, counts at least
	}{
		{"rpi2", 56, 64, 0, 40},
		{"rpi3-armv7", 56, 64, 0, 40},
		{"generic-armv7", 56, 64, 0, 40},
		{"rpi2", 14, 256, 16, 150},
		{"rpi3-armv7", 14, 256, 16, 150},
		{"rpi3", 56, 64, 0, 70},
		{"rpi4", 56, 64, 0, 70},
		{"rpi5", 28, 128, 32, 150},
	} {
		a := &graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: c.in, Out: c.in, Planes: 1, DotMul: 1, Pad: graph.Padding{Top: 1, Bottom: 1, Left: 1, Right: 1}}
		a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, c.in)}}
		f := ops.Conv("bconv2d", a, ir.Unipolar, 1, c.size, c.size, ops.Slice{})
		tg := target(t, c.target)
		r, err := template.Default(f, tg).ApplyAll(f, schedule.WithInstrs(isa.For(tg.Arch, tg.Features)))
		if err != nil {
			t.Fatal(err)
		}
		asm := assembly(t, r.Func, tg)
		match(t, asm, `!\bblx?\s`)
		in := innermost(asm)
		stack := strings.Count(in, "Spill") + strings.Count(in, "Reload")
		counts := strings.Count(in, "\tcnt\t") + strings.Count(in, "\tvcnt.8\t")
		if stack > c.stack || counts < c.cnt || regexpMatch(`vpaddl|vpadal\.u16|uaddlp\s+v\d+\.4s`, in) {
			t.Errorf("%s, %d channels: %d accesses of the stack, %d counts in\n%s", c.target, c.in, stack, counts, in)
		}
	}
}
