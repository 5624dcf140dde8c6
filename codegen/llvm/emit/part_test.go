package emit_test

import (
	"testing"

	"ripc/internal/need"
	"ripc/ir"
)

// bytesOfWords are Funcs whose lanes read bytes of words: the same for all lanes, as counts of narrow words do, by a loop's number or a constant, bits that are no byte, and each lane of a word of its
// own.
func bytesOfWords() []*ir.Func {
	x, w, y := buf("x", ir.U32, 3, 4), buf("w", ir.U8, 4, 16), buf("y", ir.U8, 3, 16)
	part := func(word, by ir.Expr) ir.Expr { return ir.CastTo(ir.U8, ir.Bin(ir.Shr, word, ir.CastTo(ir.U32, by))) }
	sum := func(name string, word, by ir.Expr) *ir.Func {
		count := ir.Un(ir.Popcount, ir.Bin(ir.Xor, part(word, by), ir.At(w, vk, vv)))
		return &ir.Func{Name: name, Params: []ir.Param{in(x), in(w), out(y)}, Body: loop(ir.Serial, "i", 3, loop(ir.Vectorize, "v", 16, set(y, ir.Const(ir.U8, 0), vi, vv)),
			loop(ir.Serial, "k", 4, loop(ir.Vectorize, "v.1", 16, combine(ir.AddTo, y, ir.Subst(count, map[string]ir.Expr{"v": ir.V("v.1")}), vi, ir.V("v.1")))))}
	}
	own := ir.At(x, vi, ir.Bin(ir.Mod, ir.V("v.1"), ir.Int(4)))
	return []*ir.Func{
		sum("byte", ir.At(x, vi, ir.Int(1)), mul(vk, ir.Int(8))),
		sum("last", ir.At(x, vi, vk), ir.Int(24)),
		sum("between", ir.At(x, vi, ir.Int(3)), mul(vk, ir.Int(7))),
		sum("other", ir.At(x, vi, ir.Int(3)), ir.Bin(ir.Min, mul(add(vk, ir.Int(1)), ir.Int(8)), ir.Int(31))),
		sum("own", own, mul(vk, ir.Int(8))),
	}
}

func TestBytesOfWords(t *testing.T) {
	for _, tg := range natives(t) {
		checkOn(t, tg, bytesOfWords()...)
	}
	for _, name := range []string{"rpi3", "rpi2"} {
		tg := target(t, name)
		checkARM(t, need.Tool(t, "qemu-"+tg.Arch), tg, bytesOfWords())
	}
	match(t, assembly(t, bytesOfWords()[0], target(t, "x86-64-v4")), `vpbroadcastb\s.*\(%r`)
	match(t, assembly(t, bytesOfWords()[0], target(t, "rpi3")), `ld1r\s+\{ ?v\d+\.16b`)
}
