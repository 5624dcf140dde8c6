package isa

import (
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"ripc/internal/need"
	"ripc/ir"
	"ripc/targets/isa"
)

// all lists the instructions that LLVM makes: C alone is made for chips without an operating system.
func all() []isa.Instr {
	return slices.DeleteFunc(isa.All(), func(i isa.Instr) bool { return i.Arch == "thumb" })
}

// TestFunctions: every instruction has a function, and a Func of its name that means something else has none.
func TestFunctions(t *testing.T) {
	for _, i := range all() {
		if s, err := FunctionOf(i.Func, Core{InOrder: true}); err != nil {
			t.Errorf("%s: %v", i.Func.Name, err)
		} else if s.Text == "" {
			t.Errorf("%s is in targets/isa and has no text here", i.Func.Name)
		}
		other := *i.Func
		other.Body = &ir.Block{}
		if s, err := FunctionOf(&other, Core{}); err == nil {
			t.Errorf("%s without a body: %s", i.Func.Name, s.Text)
		}
	}
	if _, err := FunctionOf(&ir.Func{Name: "nothing", Body: &ir.Block{}}, Core{}); err == nil {
		t.Error("an instruction that does not exist has a text")
	}
}

// Each text must hold one function of the Func's name with a pointer per parameter, in order.
func TestSignatures(t *testing.T) {
	for _, i := range all() {
		var ps []string
		for _, p := range i.Func.Params {
			ps = append(ps, "ptr %"+p.Name)
		}
		want := "define internal void @" + i.Func.Name + "(" + strings.Join(ps, ", ") + ") alwaysinline {"
		for _, inOrder := range []bool{false, true} {
			if !strings.Contains(function(i, Core{InOrder: inOrder}).Text, want) {
				t.Errorf("%s, in order %t: its text lacks %q", i.Func.Name, inOrder, want)
			}
		}
	}
}

// The texts give the instructions that they promise.
func TestAssembly(t *testing.T) {
	llc := need.Tool(t, "llc-22")
	wants := map[string][]string{
		"avx512_xor_popcnt_acc_x16":   {"vpxor", "vpopcntd", "vpaddd"},
		"avx512_pack_lt_u8_x64":       {"vpcmpltub", "kmovq"},
		"avx512_pack_lt_u8_x64_a2":    {"vpcmpltub", "{%k", "kmovq"},
		"avx512_pack_lt_u8_x64_a3":    {"vpcmpltub", "{%k", "kmovq"},
		"avx512_pair_popcnt_acc_x16":  {"vpternlogd\t$150", "vpternlogd\t$178", "vpopcntd"},
		"avx2_lookup16_x16":           {"vpshufb", "vpaddusb", "xmm"}, // its table needs no copy
		"avx2_xor_popcnt_acc_x8":      {"vpshufb", "vpmaddubsw", "vpmaddwd"},
		"avx512_dpbusd_x16":           {"vpdpbusd"},
		"neon_sdot_x4":                {"sdot\tv"},
		"neon_udot_x4":                {"udot\tv"},
		"neon_sdot_4x4":               {"sdot\tv", ".4b[3]"},
		"neon_sdot_3x4":               {"sdot\tv", ".4b["},
		"neon_sdot_2x4":               {"sdot\tv", ".4b[1]"},
		"neon_udot_4x4":               {"udot\tv", ".4b[3]"},
		"neon_udot_3x4":               {"udot\tv", ".4b["},
		"neon_udot_2x4":               {"udot\tv", ".4b[1]"},
		"neon_smull_pairs_x4":         {"smull\tv", "sadalp\tv"},
		"neon_addp_i32_x4":            {"addp\tv"},
		"neon_addp_i32_x4x2":          {"addp\tv"},
		"armv7_vmull_pairs_x4":        {"vmull.s8", "vpadal.s16"},
		"armv7_vpadd_i32_x4":          {"vuzp.32"},
		"armv7_vpadd_i32_x4x2":        {"vuzp.32"},
		"neon_clear_u8":               {"movi\tv", "str\tq"},
		"neon_clear_u16":              {"movi\tv", "str\tq"},
		"neon_uadalp_u16":             {"uadalp\tv"},
		"neon_uadalp_i32":             {"uadalp\tv"},
		"neon_pack_le_x32":            {"cmge\tv", "addp\tv"},
		"neon_clear_u8_x8":            {"movi\tv", "str\tq"},
		"neon_uadalp_u16_bytes":       {"uadalp\tv"},
		"neon_addp_u16":               {"addp\tv"},
		"neon_addp_u8_halves":         {"addp\tv"},
		"neon_addp_u8_x16":            {"addp\tv"},
		"neon_addp_u8_x8":             {"uzp1\tv"},
		"armv7_clear_u8":              {"vmov.i32", "vst1.8"},
		"armv7_clear_u16":             {"vmov.i32", "vst1.8"},
		"armv7_vpadal_u16":            {"vpadal.u8"},
		"armv7_vpadal_i32":            {"vpadal.u16"},
		"armv7_pack_le_x32":           {"vcge.s32", "vsli.32", "vpadd.i32"},
		"armv7_pack_ge_f32_x32":       {"vcge.f32", "vsli.32", "vpadd.i32"},
		"neon_uadalp_u16_x16":         {"uadalp\tv", "ldp\tq", "stp\tq"},
		"neon_xor_cnt_add_2x8_spread": {"eor\tv", "cnt\tv", "add\tv", "ldp\tq"},
		"armv7_vpadal_u16_x8":         {"vldr\td", "vpadal.u8", "vstr\td"},
	}
	// Families of tiles.
	prefixes := map[string][]string{
		"neon_xor_cnt_row_":         {"eor\tv", "cnt\tv", "add\tv", "ld1\t{ v"},
		"armv7_xor_cnt_row_":        {"veor", "vcnt.8", "vadd.i8", "vldr\td"},
		"neon_xor_cnt_add_":         {"eor\tv", "cnt\tv", "add\tv"},
		"armv7_xor_cnt_add_":        {"veor", "vcnt.8", "vadd.i8"},
		"neon_uadalp_u16_x":         {"uadalp\tv"},
		"neon_uadalp_u16_bytes_x":   {"uadalp\tv", "ldp\tq", "stp\tq"},
		"avx512_lookup64_":          {"vpermb", "vpaddusb"},
		"avx512_levels2_":           {"vptest", "{%k"},
		"avx512_levels4_":           {"vperm", "zmm"},
		"avx512_levels8_":           {"vperm", "zmm"},
		"avx512_levels16_":          {"vperm", "zmm"},
		"avx512_levels32_":          {"vperm", "zmm"},
		"neon_levels2_":             {"cm", ".16b"},
		"armv7_levels2_":            {"vtst", "vb"},
		"avx512_xor_cnt_window_":    {"vpternlogd\t$150", "vpternlogd\t$178", "vpternlogd\t$232", "vpshufb", "vpmaddubsw", "vpmaddwd"},
		"avx512_lookup16_":          {"vbroadcasti32x4", "vpshufb", "vpaddusb"},
		"avx2_lookup16_":            {"vbroadcasti128", "vpshufb", "vpaddusb"},
		"neon_lookup16_":            {"tbl\tv"},
		"neon_lookup16_row_":        {"tbl\tv", "add\tv", "ld1\t{ v"},
		"neon_lookup16_halves_x":    {"tbl\tv", "and\tv", "usra\tv"},
		"neon_lookup16_halves_row_": {"tbl\tv", "add\tv", "usra\tv", "uaddw2\tv", "ld1\t{ v", "stp\tq"},
		"neon_lookup32_":            {"ld1\t{ v", "tbl\tv"},
		"neon_lookup16_wide_row_":   {"tbl\tv", "neg\tv", "sabal\tv", "ldr\td"},
		"armv7_lookup16_x":          {"vtbl.8", "vadd.i8"},
		"armv7_lookup16_wide_row_":  {"vtbl.8", "vadd.i8", "vaddw.u8", "vldr", "vstr"},
		"armv7_tables16_":           {"vld1", "vst1"},
		"neon_tables16_":            {"ldr\tq", "str\tq"},
		"neon_tables16_halves_":     {"shl\tv", "orr\tv", "ldr\tq"},
		"neon_tables32_":            {"ldp\tq", "stp\tq"},
		"avx512_tables64_":          {"vpmultishiftqb", "vpopcntb", "vpermb"},
		"avx512_tables16_":          {"vpshufb", "zmm"},
		"avx2_tables16_":            {"vpshufb", "vpsrlvd", "ymm"},
		"armv7_vpadal_u16_x":        {"vpadal.u8"},
		"armv7_vpadal_u16_":         {"vldr\td", "vpadal.u8", "vstr\td"},
		"neon_fma_row_":             {"fmla\tv", "ld4\t{ v", "ldr\tq"},
		"armv7_fma_row_":            {"vfma.f32\tq", "vldmia\t", "[], d"},
		"neon_smull_channels_":      {"smull\tv", "smull2\tv", "sadalp\tv", "ld1\t{ v"},
		"armv7_smull_channels_":     {"vmull.s8\t", "vpadal.s16\t", "vldmia\t"},
		"neon_smlal_pairs_":         {"smull\tv", "smlal\tv", "sadalp\tv"},
		"armv7_vmlal_pairs_":        {"vmull.s8", "vmlal.s8", "vpadal.s16"},
		"avx512_maddubs_":           {"vpmaddubsw", "vpmaddwd", "zmm"},
		"avx512_maddwd_":            {"vpmovsxbw", "vpmaddwd", "zmm"},
		"avx2_maddwd_":              {"vpmovsxbw", "vpmaddwd", "ymm"},
		"avx512_phaddd_":            {"vpaddd", "ymm"},
		"avx2_phaddd_":              {"vpaddd"},
		"avx2_maddubs_":             {"vpmaddubsw", "vpmaddwd", "ymm"},
		"rvv256_lookup16_":          {"vrgather.vv", ", v0.t", "vadd.vv"},
		"rvv256_tables16_":          {"vle8.v", "vse8.v"},
		"wasm_lookup16_":            {"i8x16.swizzle", "i8x16.add_sat_u"},
		"wasm_tables16_":            {"v128.load", "v128.store"},
		"wasm_xor_cnt_add_":         {"v128.xor", "i8x16.popcnt", "i8x16.add"},
		"wasm_clear_":               {"v128.store"},
		"wasm_extadd_":              {"extadd_pairwise", "v128.store"},
		"wasm_dot_pairs_":           {"i32x4.dot_i16x8_s", "i16x8.load8x8_s"},
		"wasm_add_i32_":             {"i8x16.shuffle", "i32x4.add"},
		"wasm_relaxed_dot_":         {"i32x4.relaxed_dot_i8x16_i7x16_add_s"},
	}
	for _, i := range all() {
		longest := ""
		for p, want := range prefixes {
			if strings.HasPrefix(i.Func.Name, p) && (wants[i.Func.Name] == nil || longest != "" && len(p) > len(longest)) {
				wants[i.Func.Name], longest = want, p
			}
		}
	}
	m := modules{}
	for _, i := range all() {
		if i.Arch == "nvptx64" { // codegen/cuda reads its PTX
			continue
		}
		isOf64 := i.Meaning == isa.DotChannels && i.Arch == "aarch64"
		if isOf64 && i.Together > 1 {
			wants[i.Func.Name] = []string{"smull\tv", "smlal2\tv", "sadalp\tv", "ld1\t{ v"}
		}
		if i.Meaning == isa.Tables && i.Words == 64 && len(i.Func.Params)-1 <= knownPlanes {
			wants[i.Func.Name] = []string{"vpbroadcastq", "vpshufb", "vpaddb"}
		}
		if len(wants[i.Func.Name]) == 0 {
			t.Errorf("%s: say what its assembly must contain", i.Func.Name)
		}
		m.add(i, Core{}, wants[i.Func.Name])
		if isOf64 {
			m.add(i, Core{SlowPairSums: true}, []string{"smull\tv", "saddlp\tv", "add\tv"})
		}
		inOrder := slices.Clone(wants[i.Func.Name])
		if (i.Meaning == isa.XorCountTile || i.Meaning == isa.LookUp && !i.Halves) && i.Arch == "aarch64" {
			inOrder = append(inOrder, "uqadd\tv")
		}
		m.add(i, Core{InOrder: true}, inOrder)
	}
	for key, m := range m {
		m.check(t, llc, key)
	}
}

// cpu says which instructions are compiled together: they need the same features, and a name has one text.
type cpu struct {
	arch, features string
	core           Core
}

// modules are the functions of each cpu, so that llc is started once for all of them.
type modules map[cpu]*module

type module struct {
	texts    []string
	declared map[string]bool
	wants    map[string][]string // by function
}

// add puts the function of i into the module of its cpu: as an external function, since llc drops internal ones that nobody calls.
func (ms modules) add(i isa.Instr, core Core, wants []string) {
	key := cpu{i.Arch, "+" + strings.Join(i.Needs, ",+"), core}
	m := ms[key]
	if m == nil {
		m = &module{declared: map[string]bool{}, wants: map[string][]string{}}
		ms[key] = m
	}
	f := function(i, core)
	for _, d := range f.Calls {
		if line := d.String(); !m.declared[line] {
			m.declared[line] = true
			m.texts = append(m.texts, line)
		}
	}
	m.texts = append(m.texts, strings.Replace(f.Text, "define internal", "define", 1))
	m.wants[i.Func.Name] = wants
}

// check compiles the module and looks for the instructions that each function must contain.
func (m *module) check(t *testing.T, llc string, key cpu) {
	triple, end := key.arch+"-linux-gnu", "\n\t.size\t%s"
	if key.arch == "wasm32" {
		triple, end = "wasm32", "\n\tend_function"
	}
	cmd := exec.Command(llc, "-O3", "-mtriple="+triple, "-mattr="+key.features, "-o", "-")
	cmd.Stdin = strings.NewReader(strings.Join(m.texts, "\n"))
	var errs bytes.Buffer
	cmd.Stderr = &errs
	asm, err := cmd.Output()
	if err != nil {
		t.Errorf("%+v: %v\n%s", key, err, errs.String())
		return
	}
	for name, wants := range m.wants {
		_, body, found := strings.Cut(string(asm), "\n"+name+":")
		body, _, ended := strings.Cut(body, strings.ReplaceAll(end, "%s", name))
		if !found || !ended {
			t.Errorf("%+v: no function %s in\n%s", key, name, asm)
			continue
		}
		for _, w := range wants {
			if !strings.Contains(body, w) {
				t.Errorf("%s, %+v: no %q in\n%s", name, key.core, w, body)
			}
		}
	}
}
