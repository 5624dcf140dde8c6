package inline_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ripc/ir"
	"ripc/lower/inline"
	"ripc/lower/ops"
	"ripc/targets"
)

// TestMerge: chains of layers have the same results when their stages are merged for a device, and each kind of neighbours is
// merged in some. For a CPU nothing is.
func TestMerge(t *testing.T) {
	device := targets.Target{Arch: "opencl", Device: targets.Device{MaxThreads: 64, SharedBytes: 512, Lanes: 1, Units: 1}}
	merged, apart := map[string]bool{}, 0
	check := func(t *rapid.T) {
		s := rapid.SliceOfN(rapid.IntRange(1, 5), 4, 4).Draw(t, "shape")
		var funcs []*ir.Func
		for range rapid.IntRange(2, 4).Draw(t, "layers") {
			if s == nil {
				break
			}
			var f *ir.Func
			if len(funcs) > 0 && s[1]*s[2] == 1 && rapid.Bool().Draw(t, "softmax") {
				f, s = ops.Softmax([]int{s[0], s[3]}), nil
			} else {
				f, s = layer(t, s, device)
			}
			funcs = append(funcs, f)
		}
		p := program(funcs...)
		in := randomInputs(p)
		want := slices.Clone(results(t, p, in))
		before := len(p.Stages)
		if inline.Merge(p, targets.Target{Arch: "x86_64"}); len(p.Stages) != before {
			t.Fatal("a CPU's stages are merged")
		}
		inline.Merge(p, device)
		if got := results(t, p, in); !bytes.Equal(got, want) {
			t.Fatalf("other results with\n%s", p)
		}
		for i, st := range p.Stages {
			for k := range len(funcs) - 1 {
				f, g := funcs[k].Name, funcs[k+1].Name
				if st.Func == fmt.Sprintf("%s_%c_%s_%c", f, 'a'+k, g, 'a'+k+1) {
					merged[f[:4]+" "+g[:4]] = true
				}
			}
			if i > 0 {
				apart++
			}
		}
	}
	pairs := []string{"mul_ fcon", "fcon mul_", "mul_ mul_", "fcon soft", "fcon quan", "fcon max_", "fcon fcon"}
	missing := func(pair string) bool { return !merged[pair] }
	for range 10 { // of 100 draws, which now and then leave one out
		if rapid.Check(t, check); apart > 0 && !slices.ContainsFunc(pairs, missing) {
			return
		}
	}
	t.Errorf("of %v only %v are merged, and %d neighbours are not", pairs, merged, apart)
}
