package emit_test

import (
	"regexp"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets"
	"ripc/targets/isa"
)

// TestByteLanes reads the main loops of default schedules: bytes are counted and added, words are not widened, lanes of 16
// bits are added to in memory, and no vector is spilled by the way.
func TestByteLanes(t *testing.T) {
	vectorSpill := regexp.MustCompile(`(?m)^\s+(ldp|ldr|ldur|stp|str|stur)\s+[qd]\d.*(Spill|Reload)|^\s+v(ld|st)\S+\s.*(Spill|Reload)`)
	for _, c := range []struct {
		target     string
		size, in   int
		stack, cnt int // of the innermost loop: vectors spilled or loaded again at most, counts at least
	}{
		{"rpi2", 56, 64, 0, 40},
		{"rpi3-armv7", 56, 64, 0, 40},
		{"generic-armv7", 56, 64, 0, 40},
		{"rpi2", 28, 128, 0, 90},
		{"rpi3-armv7", 28, 128, 0, 90},
		{"rpi2", 14, 256, 0, 150},
		{"rpi3-armv7", 14, 256, 0, 150},
		{"generic-armv7", 7, 512, 0, 150},
		{"rpi3-armv7", 7, 512, 0, 150},
		{"rpi3", 56, 64, 0, 70},
		{"rpi4", 56, 64, 0, 70},
		{"rpi4", 28, 128, 0, 150},
		{"rpi5", 28, 128, 0, 150},
		{"rpi4", 14, 256, 4, 300},
		{"rpi4", 7, 512, 4, 300},
	} {
		a := &graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: c.in, Out: c.in, Pad: graph.Padding{Top: 1, Bottom: 1, Left: 1, Right: 1}}
		a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, c.in)}}
		f := testlayer.Integers(a, targets.Target{}, layout.Popcount, ir.Unipolar, 1, 1, c.size, c.size, ops.Slice{})
		tg := target(t, c.target)
		choice, err := strategy.Default(f, tg)
		if err != nil {
			t.Fatal(err)
		}
		r, err := choice.Trace.ApplyAll(f, schedule.WithInstrs(isa.For(tg)))
		if err != nil {
			t.Fatal(err)
		}
		asm := assembly(t, r.Func, tg)
		match(t, asm, `!\bblx?\s`)
		in := innermost(asm)
		stack := len(vectorSpill.FindAllString(in, -1))
		counts := strings.Count(in, "\tcnt\t") + strings.Count(in, "\tvcnt.8\t")
		if stack > c.stack || counts < c.cnt || regexpMatch(`vpaddl|vpadal\.u16|uaddlp\s+v\d+\.4s`, in) {
			t.Errorf("%s, %d channels: %d spills of vectors, %d counts in\n%s", c.target, c.in, stack, counts, in)
		}
	}
}
