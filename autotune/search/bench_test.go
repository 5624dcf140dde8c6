package search

import (
	"testing"

	"ripc/autotune/space"
	"ripc/graph"
	"ripc/internal/need"
	"ripc/internal/testlayer"
	"ripc/ir"
	"ripc/lower/layout"
	"ripc/lower/ops"
	"ripc/targets"
)

// BenchmarkProposals proposes 64 candidates of a layer of 3x3 windows of 64 channels of 1 bit, 16 at a time.
func BenchmarkProposals(b *testing.B) {
	target, err := targets.Lookup("rpi3")
	need.OK(b, err)
	a := &graph.FusedConv{KH: 3, KW: 3, SH: 1, SW: 1, In: 64, Out: 128, X: graph.Integers{Min: -1, Max: 1, Step: 2}, W: graph.Integers{Min: -1, Max: 1, Step: 2}}
	a.Epilogue = graph.Epilogue{OutBits: 1, OutEnc: ir.Bipolar, Thresholds: [][]int32{make([]int32, a.Out)}}
	f := testlayer.Integers(a, target, layout.Popcount, ir.Bipolar, 1, 1, 28, 28, ops.Slice{})
	for range b.N {
		s, err := space.New(space.TaskOf(f, target, ir.Stage{Name: "layer"}, nil))
		need.OK(b, err)
		find, err := New("xgb", s, Options{Seed: 1})
		need.OK(b, err)
		d, err := s.Default()
		need.OK(b, err)
		told := []Outcome{{Candidate: d, Cost: 1}}
		for range 4 {
			find.Tell(told)
			cs, err := find.Propose(b.Context(), 16)
			need.OK(b, err)
			told = nil
			for i, c := range cs {
				told = append(told, Outcome{Candidate: c, Cost: float64(1 + i*7%13)})
			}
		}
	}
}
