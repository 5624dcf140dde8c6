package emit_test

import (
	"fmt"
	"testing"

	"ripc/ir"
)

// TestPopcountAdd adds up the bits of vectors of all widths that processors without vpopcntd have, and of lanes that are no
// multiple of them.
func TestPopcountAdd(t *testing.T) {
	var fs []*ir.Func
	for _, lanes := range []int{3, 4, 8, 12, 16, 20, 24, 48} {
		f := xorTile(2, lanes, 2, 5)
		f.Name = fmt.Sprintf("tile%d", lanes)
		fs = append(fs, f)
	}
	bytes := target(t, "x86-64")
	bytes.Name, bytes.Features = "ssse3", append(bytes.Features, "sse3", "ssse3")
	for _, tg := range append(natives(t), bytes, target(t, "x86-64-v3"), target(t, "x86-64-v4")) {
		if !tg.Native() {
			t.Logf("%s does not run here", tg.Name)
			continue
		}
		checkOn(t, tg, fs...)
	}
}

// TestPopcountAddX86 wants the bytes of a lane added up by multiplications, in the widest registers.
func TestPopcountAddX86(t *testing.T) {
	for name, reg := range map[string]string{"x86-64-v4": `%zmm`, "x86-64-v3": `%ymm`} {
		asm := assembly(t, xorTile(2, 32, 2, 18), target(t, name))
		match(t, asm, `vpmaddubsw\s.*`+reg, `vpmaddwd\s.*`+reg, `vpshufb\s.*`+reg, "!vpsadbw", "!call")
		if in := innermost(asm); regexpMatch(`\(%rsp\)`, in) {
			t.Errorf("%s: the inner loop spills:\n%s", name, in)
		}
	}
}
