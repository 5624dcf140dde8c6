package emit_test

import (
	"maps"
	"regexp"
	"slices"
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

// TestByteLanes reads the main loops of schedules: bytes are counted and added, words are not widened, lanes of 16
// bits are added to in memory, and no vector is spilled by the way.
func TestByteLanes(t *testing.T) {
	vectorSpill := regexp.MustCompile(`(?m)^\s+(ldp|ldr|ldur|stp|str|stur)\s+[qd]\d.*(Spill|Reload)|^\s+v(ld|st)\S+\s.*(Spill|Reload)`)
	for _, c := range []struct {
		target     string
		size, in   int
		at         strategy.Values // where it is counted
		stack, cnt int             // of the innermost loop: vectors spilled or loaded again at most, counts at least
	}{
		{"rpi2", 56, 64, strategy.Values{"ordered": 1, "spread": 1, "step": 2, "tile_h": 7, "tile_w": 4, "vectors": 2, "wide": 1, "width": 4, "words": 2}, 0, 40},
		{"rpi3-armv7", 56, 64, strategy.Values{"ordered": 1, "spread": 1, "step": 2, "tile_h": 7, "tile_w": 4, "vectors": 2, "wide": 1, "width": 4, "words": 2}, 0, 40},
		{"generic-armv7", 56, 64, strategy.Values{"step": 1, "tile_h": 7, "tile_w": 4, "vectors": 2, "wide": 1, "width": 4, "words": 2}, 0, 40},
		{"rpi2", 28, 128, strategy.Values{"at": 1, "ordered": 1, "spread": 1, "step": 2, "tile_h": 7, "tile_w": 4, "vectors": 2, "wide": 1, "width": 4, "words": 4}, 0, 90},
		{"rpi3-armv7", 28, 128, strategy.Values{"at": 1, "ordered": 1, "spread": 1, "step": 2, "tile_h": 7, "tile_w": 4, "vectors": 2, "wide": 1, "width": 4, "words": 4}, 0, 90},
		{"rpi2", 14, 256, strategy.Values{"at": 1, "ordered": 1, "spread": 1, "step": 2, "tile_h": 4, "tile_w": 14, "vectors": 2, "wide": 1, "width": 4, "words": 8}, 0, 150},
		{"rpi3-armv7", 14, 256, strategy.Values{"at": 1, "ordered": 1, "spread": 1, "step": 2, "tile_h": 4, "tile_w": 14, "vectors": 2, "wide": 1, "width": 4, "words": 8}, 0, 150},
		{"generic-armv7", 7, 512, strategy.Values{"at": 1, "step": 1, "tile_h": 1, "tile_w": 7, "vectors": 2, "wide": 1, "width": 4, "words": 8}, 0, 150},
		{"rpi3-armv7", 7, 512, strategy.Values{"at": 1, "ordered": 1, "spread": 1, "step": 2, "tile_h": 2, "tile_w": 7, "vectors": 2, "wide": 1, "width": 4, "words": 8}, 0, 150},
		{"rpi3", 56, 64, strategy.Values{"ordered": 1, "spread": 1, "step": 2, "tile_h": 7, "tile_w": 4, "vectors": 4, "width": 4, "words": 2}, 0, 70},
		{"rpi4", 56, 64, strategy.Values{"spread": 1, "step": 2, "tile_h": 7, "tile_w": 3, "vectors": 4, "width": 3, "words": 2}, 0, 70},
		{"rpi4", 28, 128, strategy.Values{"at": 1, "group": 2, "spread": 1, "step": 2, "tile_h": 7, "tile_w": 4, "vectors": 4, "width": 4, "words": 4}, 0, 150},
		{"rpi5", 28, 128, strategy.Values{"at": 1, "group": 2, "spread": 1, "step": 2, "tile_h": 7, "tile_w": 4, "vectors": 4, "width": 4, "words": 4}, 0, 150},
		{"rpi4", 14, 256, strategy.Values{"at": 1, "group": 2, "spread": 1, "step": 2, "tile_h": 4, "tile_w": 14, "vectors": 4, "width": 4, "words": 8}, 4, 300},
		{"rpi4", 7, 512, strategy.Values{"at": 1, "group": 2, "spread": 1, "step": 2, "tile_h": 2, "tile_w": 7, "vectors": 4, "width": 4, "words": 8}, 4, 300},
	} {
		a := &graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: c.in, Out: c.in, Pad: graph.Padding{Top: 1, Bottom: 1, Left: 1, Right: 1}}
		a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, c.in)}}
		f := testlayer.Integers(a, targets.Target{}, layout.Popcount, ir.Unipolar, 1, 1, c.size, c.size, ops.Slice{})
		tg := target(t, c.target)
		l, v := strategy.LayerOf(f, tg), maps.Clone(c.at)
		v["filters_outer"] = 1
		all := strategy.For(l)
		choice, err := all[slices.IndexFunc(all, func(s strategy.Strategy) bool { return s.Name == "bytes" })].Build(l, v)
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
