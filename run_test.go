package ripc

import (
	"testing"

	"ripc/runtime/describe"
)

// TestDecidingSteps: stages that make levels decide; those that only move or pool levels do not.
func TestDecidingSteps(t *testing.T) {
	levels, sums := describe.Tensor{Bits: 2}, describe.Tensor{}
	none, glue := describe.Layer{}, describe.Layer{Glue: describe.Glue{Form: "thresholds", Bits: 2}}
	for _, c := range []struct {
		op    string
		layer describe.Layer
		out   describe.Tensor
		want  bool
	}{
		{"bconv2d", glue, levels, true}, {"bconv2d", none, sums, false}, {"quantize", none, levels, true}, {"threshold", none, levels, true}, {"int_add", none, levels, true},
		{"reshape", none, levels, false}, {"transpose", none, levels, false}, {"max_pool", none, levels, false}, {"concat", none, levels, false}, {"pad", none, levels, false},
		{"slice", none, levels, false}, {"bitpack", none, levels, false}, {"copy", none, levels, false}, {"dequantize", none, sums, false},
	} {
		if got := makesLevels(describe.Stage{Op: c.op, Layer: c.layer, Writes: []describe.Tensor{c.out}}); got != c.want {
			t.Errorf("%s decides: %v", c.op, got)
		}
	}
}
