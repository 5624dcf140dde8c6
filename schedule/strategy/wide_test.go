package strategy_test

import (
	"fmt"
	"strings"
	"testing"

	"ripc/graph"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/ir/arith"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/schedule"
	"ripc/schedule/strategy"
	"ripc/targets"
	"ripc/targets/isa"
)

// TestWideRows: an instruction looks up for several positions and adds to 16 bits, with strides, with windows that are spread and
// where rows are no whole number of tiles, too.
func TestWideRows(t *testing.T) {
	for _, c := range []struct {
		target                       string
		in, out, k, stride, apart, w int
		tile                         int    // positions of a tile, 0 where no instruction applies
		instr                        string // the name of the instruction
		bits                         int    // of a level
	}{
		{"rpi4", 128, 128, 3, 1, 1, 28, 2, "neon_lookup16_wide_row_2x3x16x64_s1", 3},
		{"jetson-tx2", 128, 128, 3, 1, 1, 28, 2, "neon_lookup16_wide_row_2x3x16x64_s1", 3},
		{"rpi4", 128, 128, 3, 2, 1, 14, 2, "neon_lookup16_wide_row_2x3x16x64_s2", 3},
		{"rpi4", 128, 128, 3, 1, 2, 28, 2, "neon_lookup16_wide_row_2x1x16x64_s1", 3}, // taps are not of neighbours
		{"rpi4", 64, 32, 3, 1, 1, 7, 7, "neon_lookup16_wide_row_4x3x16x32_s1", 3},    // and of 3 positions
		{"rpi4", 32, 64, 5, 1, 1, 9, 2, "neon_lookup16_wide_row_2x5x8x64_s1", 3},
		{"rpi4", 512, 64, 1, 1, 1, 14, 2, "neon_lookup16_wide_row_2x1x16x64_s1", 3},
		{"rpi4", 48, 64, 3, 1, 1, 14, 2, "neon_lookup16_wide_row_2x3x16x64_s1", 3},    // four tables of no channels
		{"rpi4", 128, 256, 3, 2, 1, 13, 13, "neon_lookup16_wide_row_2x3x16x64_s2", 3}, // what is left over of a row is one position
		{"rpi3-armv7", 256, 512, 1, 2, 1, 7, 7, "armv7_lookup16_wide_row_3x1x8x32_s2", 3},
		{"rpi3-armv7", 128, 128, 3, 3, 1, 9, 0, "", 3}, // no instruction has steps of 3
		{"rpi3-armv7", 128, 64, 3, 2, 1, 14, 4, "armv7_lookup16_wide_row_4x3x8x32_s2", 3},
		{"rpi3-armv7", 64, 64, 3, 1, 1, 8, 4, "armv7_lookup16_wide_row_4x3x8x32_s1_by4", 4},  // bytes hold the sums of 4 groups
		{"rpi3-armv7", 512, 64, 3, 1, 1, 8, 4, "armv7_lookup16_wide_row_4x3x8x32_s1_by4", 4}, // into sums of 32 bits
		{"rpi4", 512, 64, 3, 1, 1, 8, 2, "neon_lookup16_wide_row_2x3x16x64_s1", 4},
		{"rpi5", 128, 128, 3, 1, 1, 28, 0, "", 3},
		{"pixel1", 128, 128, 3, 1, 1, 28, 0, "", 3},
	} {
		t.Run(fmt.Sprint(c), func(t *testing.T) {
			m, err := targets.Lookup(c.target)
			if err != nil {
				t.Fatal(err)
			}
			a := &graph.FusedConv{KH: c.k, KW: c.k, SH: c.stride, SW: c.stride, DH: c.apart, DW: c.apart, In: c.in, Out: c.out}
			around := c.k / 2 * c.apart
			a.Pad = graph.Padding{Mode: graph.PadExplicit, Top: around, Bottom: around, Left: around, Right: around}
			a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Unipolar, Thresholds: [][]int32{make([]int32, a.Out)}}
			f := testlayer.Integers(a, m, layout.Table4, ir.Unipolar, c.bits, 1, 6, c.w*c.stride, ops.Slice{})
			if c.instr == "" {
				if domain(t, f, m, "table", "ordered") != nil {
					t.Error("an instruction looks up for several positions")
				}
				return
			}
			v := strategy.Values{"ordered": 1, "tile_w": c.tile, "at": 2}
			var taps int
			_, name, _ := strings.Cut(c.instr, "_row_")
			var positions, groups, lanes int
			if _, err := fmt.Sscanf(name, "%dx%dx%dx%d_", &positions, &taps, &groups, &lanes); err != nil {
				t.Fatal(err)
			}
			v["width"], v["run"], v["filters"] = positions, groups, lanes
			tr := at(t, f, m, "table", v).Trace
			if text := strings.Join(tr.Lines(), "\n"); !strings.Contains(text, c.instr) {
				t.Errorf("the schedule has not %q:\n%s", c.instr, text)
			}
			r, err := tr.ApplyAll(f, schedule.WithInstrs(isa.For(m)))
			if err != nil {
				t.Fatal(err)
			}
			if err := arith.VerifyWidths(r.Func); err != nil {
				t.Error(err)
			}
		})
	}
}
