package fpga

import (
	"path/filepath"
	"strings"
	"testing"

	"ripc/dataflow"
	"ripc/dataflow/fold"
	"ripc/internal/golden"
	"ripc/lab/figures"
	"ripc/targets/fpga"
)

// TestSplit: halfway between the samples of two classes, with one sample that is not where it should be.
func TestSplit(t *testing.T) {
	var all []sample
	for d, blocks := range map[int]int{2: 0, 16: 0, 64: 18, 100: 0, 256: 18, 512: 36} {
		all = append(all, sample{Module: "fifo", Params: map[string]int{"D": d, "W": 8},
			Used: map[fpga.Resource]int{fpga.RAMKbits: blocks}})
	}
	f, _ := fpga.Lookup("pynq-z2")
	got := split(all, func(s sample) (float64, bool, bool) {
		return fold.Written(s.unit(), f.Family), s.Used[fpga.RAMKbits] > 0, true
	})
	if got != (2+3)/2. { // 16 and 64 beats
		t.Errorf("%g", got)
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

// TestEstimates: most estimated LUTs are within 15 % of those that Yosys counted, at least 20, and none is far off; two accelerators
// for a board that differ by a tenth have estimates in their order; the page has the counts.
func TestEstimates(t *testing.T) {
	const root = "../.."
	counts, err := figures.ReadLines[count](filepath.Join(root, countsFile))
	if err != nil {
		t.Fatal(err)
	}
	all, err := estimates(t.Context(), counts, root)
	if err != nil {
		t.Fatal(err)
	}
	if near := countNear(all); near < max(20, 3*len(all)/4) {
		t.Errorf("%d of %d estimates are within 15 %%", near, len(all))
	}
	for _, e := range all {
		if r := e.ratio(); r < .45 || r > 1.6 {
			t.Errorf("%s %s: the estimate is %.2f of the count", e.Network, e.ask, r)
		}
	}
	for _, pair := range disordered(all) {
		t.Errorf("the estimates are in the wrong order: %s", pair)
	}
	text, err := fillPage(root, all)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, filepath.Join(root, page), []byte(text))
}
