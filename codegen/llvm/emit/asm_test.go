package emit_test

import (
	"os"
	"strings"
	"testing"

	"ripc/ir"
	"ripc/ir/irtext"
)

func TestXorTileX86(t *testing.T) {
	tg := target(t, "x86-64-v4")
	tg.Features = append(tg.Features, "avx512vpopcntdq")
	asm := assembly(t, xorTile(7, 32, 2, 18), tg)
	match(t, asm, `vpopcntd\s.*%zmm`, `vpxord\s.*%zmm`, "!call", "!memset")
	if in := innermost(asm); !strings.Contains(in, "vpopcntd") || regexpMatch(`%zmm\d+, .*\(`, in) || regexpMatch(`\(%rsp\)`, in) {
		t.Errorf("the inner loop stores:\n%s", in)
	}
}

func TestXorTileARM(t *testing.T) {
	asm := assembly(t, xorTile(4, 4, 2, 18), target(t, "rpi4"))
	match(t, asm, `cnt\s+v\d+\.16b`, `eor\s+v`, `!\bbl\s`)
	if in := innermost(asm); regexpMatch(`\bstr\s`, in) {
		t.Errorf("the inner loop stores:\n%s", in)
	}
}

// TestPackX86 wants compares straight into mask registers, which no instruction joins, and a word store.
func TestPackX86(t *testing.T) {
	asm := assembly(t, pack(64), target(t, "x86-64-v4"))
	match(t, asm, `vpmovd2m|vpcmp.*%k`, `kmovw`, "!kunpckwd", "!vpslld", "!vpsllv", "!call")
}

func TestPackAVX2(t *testing.T) {
	match(t, assembly(t, pack(64), target(t, "x86-64-v3")), `vpmovmskb|vmovmskps`, "!vpsllv", "!call")
}

// TestXorTileKeepsRegisters wants a tile that fills the registers to stay there, whatever LLVM's model of the pipeline: no
// copies of accumulators, nothing on the stack.
func TestXorTileKeepsRegisters(t *testing.T) {
	for _, name := range []string{"rpi3", "rpi4", "rpi5", "jetson-tx2", "pixel1", "generic-arm64"} {
		asm := assembly(t, xorTile(2, 32, 8, 9), target(t, name))
		if in := innermost(asm); !strings.Contains(in, "cnt") || regexpMatch(`\[sp|\bmov\s+v`, in) {
			t.Errorf("%s:\n%s", name, in)
		}
	}
}

// TestXorTileARMv7 wants a loop whose accumulators stay in registers: nothing on the stack, no calls, no 64-bit counters.
func TestXorTileARMv7(t *testing.T) {
	for _, name := range []string{"rpi2", "rpi3-armv7", "generic-armv7"} {
		asm := assembly(t, xorTile(1, 32, 8, 18), target(t, name))
		match(t, asm, `vcnt\.8\s+[qd]`, `veor\s+[qd]`, `vpadal\.u16\s+q`, `!vpaddl\.u16`, `!\bblx?\s`)
		in := innermost(asm)
		if !strings.Contains(in, "vcnt") || regexpMatch(`\[sp|\bv?st`, in) || regexpMatch(`\badc`, in) {
			t.Errorf("%s: the inner loop stores, or counts in 64 bits:\n%s", name, in)
		}
	}
}

// TestARMv7CallsNothing emits what LLVM has library functions for on 32-bit Arm.
func TestARMv7CallsNothing(t *testing.T) {
	div := func(op ir.BinOp, by int64) func(a, b ir.Expr) ir.Expr {
		return func(a, _ ir.Expr) ir.Expr { return &ir.Binary{Op: op, A: a, B: &ir.IntImm{T: a.Type(), V: by}} }
	}
	for _, name := range []string{"rpi2", "rpi3-armv7", "generic-armv7"} {
		tg := target(t, name)
		var fs []*ir.Func
		for _, from := range []ir.Type{ir.I64, ir.U64, ir.I32, ir.U32} {
			fs = append(fs, both("div"+from.String(), from, from, 9, div(ir.Div, 7), div(ir.Mod, 1_000_003), div(ir.Div, 64))...)
			fs = append(fs, both("from"+from.String(), from, ir.F32, 9, func(a, _ ir.Expr) ir.Expr { return ir.CastTo(ir.F32, a) })...)
			fs = append(fs, both("to"+from.String(), ir.F32, from, 9, func(a, _ ir.Expr) ir.Expr { return ir.CastTo(from, a) })...)
		}
		fs = append(fs, both("floats", ir.F32, ir.F32, 9, un(ir.Floor), un(ir.RoundEven), un(ir.Sqrt), bin(ir.Div))...)
		for _, f := range fs {
			for _, line := range strings.Split(assembly(t, f, tg), "\n") {
				if regexpMatch(`^\s+blx?\s`, line) && !strings.Contains(line, "ripc_udiv64") {
					t.Errorf("%s: %s calls: %s", name, f.Name, line)
				}
			}
		}
	}
}

func TestPackARM(t *testing.T) {
	match(t, assembly(t, pack(64), target(t, "rpi4")), `addp`, `!addv`, `!\bbl\s`)
}

// innermost is the text from the first label to the last backward branch to it that has the most vector instructions
// in between: the hottest loop of a small kernel.
func innermost(asm string) string {
	lines := strings.Split(asm, "\n")
	at := map[string]int{}
	best := ""
	for i, l := range lines {
		if name, _, ok := strings.Cut(l, ":"); ok && strings.HasPrefix(l, ".L") {
			at[name] = i
			continue
		}
		f := strings.Fields(l)
		if len(f) < 2 || !strings.HasPrefix(f[0], "j") && !strings.HasPrefix(f[0], "b") && !strings.HasPrefix(f[0], "cb") && !strings.HasPrefix(f[0], "tb") {
			continue
		}
		start, ok := at[f[len(f)-1]]
		if !ok {
			continue
		}
		body := strings.Join(lines[start:i+1], "\n")
		inner := true
		for _, m := range lines[start+1 : i] {
			inner = inner && !strings.HasPrefix(m, ".L")
		}
		if inner && strings.Count(body, "cnt") > strings.Count(best, "cnt") {
			best = body
		}
	}
	return best
}

// match checks that asm has, or for patterns that begin with "!" has not, each pattern.
func match(t testing.TB, asm string, patterns ...string) {
	t.Helper()
	for _, p := range patterns {
		want := !strings.HasPrefix(p, "!")
		if found := regexpMatch(strings.TrimPrefix(p, "!"), asm); found != want {
			t.Errorf("pattern %q: found %v in\n%s", p, found, asm)
		}
	}
}

// TestPairsKeepRegisters reads the paired kernels of examples/convs: each pair is one popcount, one addition and two
// vpternlogd, and sums and carries stay in registers.
func TestPairsKeepRegisters(t *testing.T) {
	tg := target(t, "x86-64-v4")
	tg.Features = append(tg.Features, "avx512vpopcntdq")
	for name, pairs := range map[string]int{"convA": 3, "convB": 2, "convC": 4, "convD": 8} {
		path := "../../../examples/convs/ripir/" + name + "_n1_pairs.ripir"
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := irtext.ParseFunc(path, text)
		if err != nil {
			t.Fatal(err)
		}
		in := innermost(assembly(t, f, tg))
		for op, each := range map[string]int{"vpopcntd": 1, "vpaddd": 1, "vpternlogd": 2, "vpxord": 1} {
			if got, want := strings.Count(in, "\t"+op+"\t"), 7*pairs*each; got != want {
				t.Errorf("%s: %d %s in the main loop, want %d\n%s", name, got, op, want, in)
			}
		}
		if name != "convA" && regexpMatch(`%rsp\)|vmovdqa64\s+%zmm\d+, %zmm`, in) { // an odd number of pairs needs copies
			t.Errorf("%s: the main loop copies or spills:\n%s", name, in)
		}
	}
}

// TestSpilledVectors: vectors of 512 bits that have no register lie on lines of the first cache, and kernels of few vectors leave the stack as it is.
func TestSpilledVectors(t *testing.T) {
	spilled := assembly(t, xorTile(40, 16, 2, 18), target(t, "x86-64-v4"))
	if !strings.Contains(spilled, "$-64, %rsp") || !regexpMatch(`vmovaps\s+%zmm\d+, -?\d*\(%rsp\)|vmovdqa64\s+%zmm\d+, -?\d*\(%rsp\)`, spilled) {
		t.Errorf("40 sums:\n%s", spilled)
	}
	if few := assembly(t, xorTile(2, 16, 2, 18), target(t, "x86-64-v4")); strings.Contains(few, "$-64, %rsp") || strings.Contains(few, "andq\t$-8, %rsp") {
		t.Errorf("two sums:\n%s", few)
	}
}

// TestComparedConstants: LoongArch's maximum with a constant is a comparison and a choice, since the instruction for it quiets a
// signaling NaN. A constant NaN is compared, too.
func TestComparedConstants(t *testing.T) {
	for _, k := range []string{"-3.5", "0.0", "inf", "nan"} {
		f, err := irtext.ParseFunc("most.ripir", []byte("func @most(%x: f32[4], out %y: f32[4]) { for %l in 0:4 vectorize { %y[%l] = max(%x[%l], "+k+") } }"))
		if err != nil {
			t.Fatal(err)
		}
		match(t, assembly(t, f, target(t, "loongarch64")), `!\bfmax\.s`)
	}
}
