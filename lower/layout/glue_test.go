package layout

import (
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"ripc/graph"
	"ripc/ir"
	"ripc/targets"
)

// TestGlue: thresholds give the levels of the shift whose place they take, where they cost less on the target, and there alone.
func TestGlue(t *testing.T) {
	became := map[string]map[int]bool{}
	rapid.Check(t, func(t *rapid.T) {
		bits, r := rapid.IntRange(1, 5).Draw(t, "bits"), rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "glue"), 0))
		m := rapid.SampledFrom(targets.All()).Draw(t, "target")
		const outs = 4
		f := &graph.FusedConv{KH: 1, KW: 1, SH: 1, SW: 1, In: 20, Out: outs, X: graph.Integers{Min: -3, Max: 3, Step: 2}, W: graph.Integers{Min: -1, Max: 1, Step: 2}}
		ints := make([]int16, f.In*f.Out)
		for i := range ints {
			ints[i] = int16(2*r.IntN(2) - 1)
		}
		f.Ints = graph.NumbersOf(ints)
		s := &graph.ShiftAdd{Left: make([]int32, outs), Low: make([]int32, outs)}
		for o := range outs {
			s.Add, s.Right = append(s.Add, int32(r.IntN(200)-100)), append(s.Right, int32(r.IntN(7)))
			s.Left[o], s.Low[o] = int32(r.IntN(3)), int32(r.IntN(1<<bits))
		}
		f.Epilogue = graph.Epilogue{OutBits: bits, OutEnc: ir.Bipolar, Shift: s}
		g := Glue(f, m)
		if became[m.Name] == nil {
			became[m.Name] = map[int]bool{}
		}
		became[m.Name][bits] = g.Epilogue.Thresholds != nil
		if g.Epilogue.Thresholds == nil {
			if g != f {
				t.Fatal("the shift stays, but the layer is another one")
			}
			return
		}
		if f.Epilogue.Shift != s || f.Epilogue.Thresholds != nil || g.Epilogue.Shift != nil || g.Epilogue.OutBits != bits || g.Epilogue.OutEnc != ir.Bipolar {
			t.Fatalf("%+v became %+v", f.Epilogue, g.Epilogue)
		}
		for o := range outs {
			lo, hi := f.Sums(o)
			for sum := lo; sum <= hi; sum++ {
				level := 0
				for _, row := range g.Epilogue.Thresholds {
					if sum >= int64(row[o]) {
						level++
					}
				}
				if want := s.Level(o, sum, bits); level != want {
					t.Fatalf("channel %d, sum %d: level %d, want %d", o, sum, level, want)
				}
			}
		}
	})
	for name, want := range map[string]int{"rpi3": 3, "rpi3-armv7": 3, "x86-64": 3, "x86-64-v3": 3, "x86-64-v4": 3, "cortex-m4": 1} {
		for bits, thresholds := range became[name] {
			if thresholds != (bits <= want) {
				t.Errorf("%s, %d bits: thresholds %v", name, bits, thresholds)
			}
		}
	}
}
