package isa

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"ripc/internal/need"
	"ripc/ir"
)

func TestFor(t *testing.T) {
	bytes := func(prefix, add string) string {
		var names string
		for _, words := range []string{"1", "2"} {
			for _, filters := range []string{"8", "16", "32"} {
				names += " " + prefix + "_xor_cnt_add_" + words + "x" + filters
				names += " " + prefix + "_xor_cnt_add_" + words + "x" + filters + map[string]string{"neon": "_spread", "armv7": "_wide"}[prefix]
			}
		}
		for _, filters := range []string{"8", "16", "32"} {
			names += " " + prefix + "_" + add + "_u16_x" + filters
		}
		for _, n := range []string{"clear_u8", "clear_u16", "pack_le_x32", add + "_u16", add + "_i32"} {
			names += " " + prefix + "_" + n
		}
		return names
	}
	for _, c := range []struct {
		arch     string
		features string
		want     string
	}{
		{"x86_64", "sse2", ""},
		{"x86_64", "sse2 avx2", "avx2_xor_popcnt_acc_x8"},
		{"x86_64", "avx512f avx512bw avx512vnni", "avx512_dpbusd_x16 avx512_pack_le_x32"},
		{"arm", "neon", "armv7_xor_vcnt_vpadal_x4" + bytes("armv7", "vpadal")},
		{"x86_64", "avx512f avx512bw", "avx512_pack_le_x32"},
		{"x86_64", "avx512f avx512bw avx512vpopcntdq", "avx512_pack_le_x32 avx512_xor_popcnt_acc_x16 avx512_pair_popcnt_acc_x16"},
		{"aarch64", "neon", "neon_xor_cnt_uadalp_x4 neon_xor_cnt_add_x16" + bytes("neon", "uadalp")},
		{"aarch64", "neon dotprod", "neon_xor_cnt_uadalp_x4 neon_xor_cnt_add_x16 neon_udot_x4" + bytes("neon", "uadalp")},
		{"aarch64", "avx512f avx512bw", ""},
		{"riscv64", "neon", ""},
	} {
		got := For(c.arch, strings.Fields(c.features))
		var want = strings.Fields(c.want)
		if len(got) != len(want) {
			t.Errorf("%s %s: %d instructions, want %q", c.arch, c.features, len(got), c.want)
		}
		for _, n := range want {
			if got[n] == nil {
				t.Errorf("%s %s: no %s", c.arch, c.features, n)
			}
		}
	}
}

// Each text must hold one function of the Func's name with a pointer per parameter, in order.
func TestSignatures(t *testing.T) {
	for _, i := range all() {
		var ps []string
		for _, p := range i.fn.Params {
			ps = append(ps, "ptr %"+p.Name)
		}
		want := "define internal void @" + i.fn.Name + "(" + strings.Join(ps, ", ") + ") alwaysinline {"
		if !strings.Contains(i.fn.Emit, want) {
			t.Errorf("%s: its text lacks %q", i.fn.Name, want)
		}
		if _, ok := i.fn.Body.(*ir.For); !ok {
			t.Errorf("%s: its body is not a loop", i.fn.Name)
		}
	}
}

// The texts give the instructions that they promise.
func TestAssembly(t *testing.T) {
	llc := need.Tool(t, "llc-22")
	wants := map[string][]string{
		"avx512_xor_popcnt_acc_x16":   {"vpxor", "vpopcntd", "vpaddd"},
		"avx512_pack_le_x32":          {"vpcmp", "kunpckwd"},
		"avx512_pair_popcnt_acc_x16":  {"vpternlogd\t$150", "vpternlogd\t$178", "vpopcntd"},
		"avx2_xor_popcnt_acc_x8":      {"vpshufb", "vpmaddubsw", "vpmaddwd"},
		"avx512_dpbusd_x16":           {"vpdpbusd"},
		"neon_xor_cnt_add_x16":        {"eor\tv", "cnt\tv", "add\tv"},
		"neon_udot_x4":                {"udot\tv"},
		"neon_clear_u8":               {"movi\tv", "str\tq"},
		"neon_clear_u16":              {"movi\tv", "str\tq"},
		"neon_uadalp_u16":             {"uadalp\tv"},
		"neon_uadalp_i32":             {"uadalp\tv"},
		"neon_pack_le_x32":            {"cmge\tv", "addp\tv"},
		"armv7_clear_u8":              {"vmov.i32", "vst1.8"},
		"armv7_clear_u16":             {"vmov.i32", "vst1.8"},
		"armv7_vpadal_u16":            {"vpadal.u8"},
		"armv7_vpadal_i32":            {"vpadal.u16"},
		"armv7_pack_le_x32":           {"vcge.s32", "vpadd.i8"},
		"armv7_xor_vcnt_vpadal_x4":    {"veor", "vcnt.8", "vpaddl.u8", "vpadal.u16"},
		"neon_xor_cnt_uadalp_x4":      {"eor\tv", "cnt\tv", "uaddlp\tv", "uadalp\tv"},
		"neon_uadalp_u16_x16":         {"uadalp\tv", "ldp\tq", "stp\tq"},
		"neon_xor_cnt_add_2x8_spread": {"eor\tv", "cnt\tv", "add\tv", "ldp\tq"},
		"armv7_vpadal_u16_x8":         {"vld1.64", "vpadal.u8", "vst1.64"},
	}
	// Families of tiles.
	prefixes := map[string][]string{
		"neon_xor_cnt_add_":  {"eor\tv", "cnt\tv", "add\tv"},
		"armv7_xor_cnt_add_": {"veor", "vcnt.8", "vadd.i8"},
		"neon_uadalp_u16_x":  {"uadalp\tv"},
		"armv7_vpadal_u16_x": {"vpadal.u8"},
	}
	for _, i := range all() {
		for p, want := range prefixes {
			if strings.HasPrefix(i.fn.Name, p) && wants[i.fn.Name] == nil {
				wants[i.fn.Name] = want
			}
		}
	}
	for _, i := range all() {
		if len(wants[i.fn.Name]) == 0 {
			t.Errorf("%s: say what its assembly must contain", i.fn.Name)
		}
		attrs := "+" + strings.Join(i.needs, ",+")
		// An external function of the same body, since llc drops internal ones that nobody calls.
		text := strings.Replace(i.fn.Emit, "define internal", "define", 1)
		cmd := exec.Command(llc, "-O3", "-mtriple="+i.arch+"-linux-gnu", "-mattr="+attrs, "-o", "-")
		cmd.Stdin = strings.NewReader(text)
		var errs bytes.Buffer
		cmd.Stderr = &errs
		asm, err := cmd.Output()
		if err != nil {
			t.Errorf("%s: %v\n%s", i.fn.Name, err, errs.String())
			continue
		}
		for _, w := range wants[i.fn.Name] {
			if !strings.Contains(string(asm), w) {
				t.Errorf("%s: no %q in\n%s", i.fn.Name, w, asm)
			}
		}
	}
}
