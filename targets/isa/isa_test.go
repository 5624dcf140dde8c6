package isa

import (
	"math"
	"slices"
	"testing"

	"ripc/ir"
	"ripc/ir/arith"
	"ripc/targets"
)

// TestFor: a target has an instruction if it has the architecture and all features that are needed, and not if one of
// them lacks. All GPUs of NVIDIA's have its instructions. docs/schedule.md lists their meanings.
func TestFor(t *testing.T) {
	for _, i := range All() {
		name := i.Func.Name
		has := func(arch string, features []string) bool {
			return For(targets.Target{Arch: arch, Features: features})[name] != nil
		}
		if len(i.Needs) == 0 && i.Arch != "nvptx64" || !has(i.Arch, append([]string{"other"}, i.Needs...)) {
			t.Errorf("%s needs %q of %s, and a target that has them lacks it", name, i.Needs, i.Arch)
		}
		for n, need := range i.Needs {
			if has(i.Arch, slices.Delete(slices.Clone(i.Needs), n, n+1)) {
				t.Errorf("%s needs %s, and a target without that has it", name, need)
			}
		}
		if has("loongarch64", i.Needs) {
			t.Errorf("%s is one of %s, and loongarch64 has it", name, i.Arch)
		}
	}
}

// TestQuery: every instruction is found by its meaning, and what is said of it is what its Func has.
func TestQuery(t *testing.T) {
	for _, i := range All() {
		name := i.Func.Name
		found := Query(i.Meaning, targets.Target{Arch: i.Arch, Features: i.Needs})
		if !slices.ContainsFunc(found, func(o Instr) bool { return o.Func.Name == name }) {
			t.Errorf("%s is not found by its meaning", name)
		}
		if slices.ContainsFunc(found, func(o Instr) bool { return o.Meaning != i.Meaning }) {
			t.Errorf("asked for what %s means, Query also has what means something else: %+v", name, found)
		}
		if _, ok := i.Func.Body.(*ir.For); !ok {
			t.Errorf("%s: its body is not a loop", name)
		}
		to := i.Func.Params[0].Buffer
		shape := to.Shape
		if i.Positions > 0 { // which have as many sums each
			shape = shape[1:]
		}
		if i.Meaning == XorCountMatrix || i.Meaning == DotMatrix { // several rows of positions
			shape = shape[1:]
		}
		if i.Halves && i.Meaning != Tables { // each of which has as many
			shape = shape[1:]
		}
		lanes := shape[0]
		if i.Lanes == 0 || to.Type != i.Type || i.Meaning != PackCompare && i.Meaning != PackLess && i.Meaning != PackWord && lanes != i.Lanes {
			t.Errorf("%s writes %s, not %d lanes of %s", name, ir.BufferString(to), i.Lanes, i.Type)
		}
	}
}

// TestNames: traces name instructions, so no two have one name.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, i := range All() {
		if seen[i.Func.Name] {
			t.Errorf("two instructions have the name %s", i.Func.Name)
		}
		seen[i.Func.Name] = true
	}
}

// TestNarrowProducts: products that are added in 16 bits fit there, whatever their parameters hold, and what takes all bytes adds up one step.
func TestNarrowProducts(t *testing.T) {
	most := func(b ir.Buffer) int64 { r := b.ValueRange(); return max(-r.From, r.To) }
	for _, i := range All() {
		if i.Meaning != DotBytes && i.Meaning != DotPairs || slices.Contains(i.Needs, "dotprod") { // sdot and udot add in 32 bits
			continue
		}
		x, w := i.Func.Params[1].Buffer, i.Func.Params[2].Buffer
		if x.Range.Any() && w.Range.Any() {
			if i.Words != 1 {
				t.Errorf("%s adds up %d steps of any bytes", i.Func.Name, i.Words)
			}
			continue
		}
		products := int64(i.Words) // a lane of 16 bits has one of a step on NEON, and two elsewhere
		if i.Arch == "x86_64" || i.Arch == "wasm32" {
			products *= 2
		}
		if sum := products * most(x) * most(w); sum > math.MaxInt16 {
			t.Errorf("%s: %d products can reach %d in 16 bits", i.Func.Name, products, sum)
		}
	}
}

// The accesses of each instruction are inside its operands, as arith.VerifyBounds wants it of whatever calls one.
func TestBounds(t *testing.T) {
	for _, i := range All() {
		if err := arith.VerifyBounds(i.Func); err != nil {
			t.Errorf("%s: %v", i.Func.Name, err)
		}
	}
}
