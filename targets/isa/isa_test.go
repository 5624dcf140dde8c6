package isa

import (
	"strings"
	"testing"

	"ripc/ir"
	"ripc/targets"
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
		got := For(targets.Target{Arch: c.arch, Features: strings.Fields(c.features)})
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

// TestQuery: every instruction is found by its meaning, and what is said of it is what its Func has.
func TestQuery(t *testing.T) {
	for _, tg := range targets.All() {
		have, found := For(tg), 0
		for m := XorCount; m <= WidenAddMemory; m++ {
			for _, i := range Query(m, tg) {
				found++
				if have[i.Func.Name] == nil || i.Meaning != m || i.Lanes == 0 {
					t.Errorf("%s: %+v", tg.Name, i)
				}
				if _, ok := i.Func.Body.(*ir.For); !ok {
					t.Errorf("%s: its body is not a loop", i.Func.Name)
				}
				if to := i.Func.Params[0].Buffer; to.Type != i.Type || m != PackCompare && to.Shape[0] != i.Lanes {
					t.Errorf("%s writes %s, not %d lanes of %s", i.Func.Name, ir.BufferString(to), i.Lanes, i.Type)
				}
			}
		}
		if found != len(have) {
			t.Errorf("%s: %d of %d instructions are found by meaning", tg.Name, found, len(have))
		}
	}
}
