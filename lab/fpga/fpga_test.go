package fpga

import (
	"strings"
	"testing"

	"ripc/dataflow"
	"ripc/dataflow/fold"
	"ripc/targets/fpga"
)

// TestSplit: halfway between the samples of two classes, with one sample that is not where it should be.
func TestSplit(t *testing.T) {
	var all []sample
	for d, blocks := range map[int]int{2: 0, 16: 0, 64: 18, 100: 0, 256: 18, 512: 36} {
		all = append(all, sample{Module: "fifo", Params: map[string]int{"D": d, "W": 8},
			Used: map[fpga.Resource]int{fpga.RAMKbits: blocks}})
	}
	got := split(all, func(s sample) (int, bool, bool) {
		return fold.WrittenBits(s.unit()), s.Used[fpga.RAMKbits] > 0, true
	})
	if got != (16*8+64*8)/2 {
		t.Errorf("%d", got)
	}
}

// TestFit: units whose cells are 3 for each bit of the input, and 5 besides.
func TestFit(t *testing.T) {
	var all []sample
	for _, w := range []int{1, 4, 9, 30} {
		u := &dataflow.Unit{Module: "fork2", In: []*dataflow.Stream{{Bits: w, Lanes: 1}}}
		all = append(all, newSample(u, map[fpga.Resource]int{fpga.LUTs: 5 + 3*w}))
	}
	m := &fold.Model{}
	if got := fitCells(m, all, fpga.Families()[0], fpga.LUTs, &strings.Builder{})["fork2"]; got["in"] != 3 || got["unit"] != 5 {
		t.Errorf("%v", got)
	}
}
