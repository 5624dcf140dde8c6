package driver

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/template"

	"ripc/codegen/llvm/rows"
	"ripc/internal/abi"
	"ripc/targets"
)

// CPU emits the function that reports whether a CPU can run code compiled for t:
//
//	i32 NAME_cpu_ok()
//
// It returns abi.CPUOK, abi.CPULacks or abi.CPUUnknown. The text must be compiled for the returned
// target, which every CPU of the architecture fits, so that it can be called on any. On x86 it asks
// the processor, and which registers the operating system saves. On Arm only the kernel knows: it
// puts two words of capabilities into each process's auxiliary vector. Code without a C library
// reads them from /proc/self/auxv. CPU fails if t has a feature without a capability bit.
func CPU(name string, t targets.Target) ([]byte, targets.Target, error) {
	a, ok := archs(t.Arch)
	if !ok {
		return nil, targets.Target{}, fmt.Errorf("driver of %s: no driver for architecture %q", name, t.Arch)
	}
	base, err := targets.Lookup(a.base)
	if err != nil {
		return nil, targets.Target{}, fmt.Errorf("driver of %s: %w", name, err)
	}
	masks := map[string]uint64{}
	for _, f := range t.Features {
		if len(a.bits[f]) == 0 {
			return nil, targets.Target{},
				fmt.Errorf("driver of %s: nothing tells a program whether a CPU has %s, which target %s needs", name, f,
					t.Name)
		}
		for _, b := range a.bits[f] {
			masks[b.word] |= 1 << b.n
		}
	}
	body, declare := cpuBody(a), ""
	if t.Has(a.probe.feature) {
		base, body, declare = t, a.probe.cpu, a.probe.declare
	}
	row, _ := rows.Of(base)
	var w strings.Builder
	fmt.Fprintf(&w, "target triple = %q\n\n@auxv = internal constant [16 x i8] c\"/proc/self/auxv\\00\"\n\ndefine "+
		"i32 @%s_cpu_ok() #0 {\nentry:\n%s", row.Triple, name, body)
	all, answer := "true", fmt.Sprint(abi.CPUOK)
	for _, word := range slices.Sorted(maps.Keys(masks)) {
		fmt.Fprintf(&w, "  %%%[1]s.has = and i64 %%%[1]s, %[2]d\n  %%%[1]s.ok = icmp eq i64 %%%[1]s.has, %[2]d\n  "+
			"%%%[1]s.all = and i1 %[3]s, %%%[1]s.ok\n",
			word, masks[word], all)
		all, answer = "%"+word+".all", cmp.Or(a.unsure[word], answer)
	}
	fmt.Fprintf(&w, "  %%answer = select i1 %s, i32 %s, i32 %d\n  ret i32 %%answer\n}\n", all, answer, abi.CPULacks)
	// noimplicitfloat: no vector registers, which a CPU may not have.
	fmt.Fprintf(&w, "\nattributes #0 = { nounwind noimplicitfloat \"no-builtins\" }\n")
	return []byte(w.String() + declare), base, nil
}

//go:embed cpu.ll
var cpuText string

// cpuBody is the body of NAME_cpu_ok by one of the templates of cpu.ll.
func cpuBody(a arch) string {
	t := template.Must(template.New("").Funcs(template.FuncMap{"cpuid": cpuid, "register": register}).Parse(cpuText))
	var b strings.Builder
	if err := t.ExecuteTemplate(&b, a.cpu, struct {
		arch
		OK, Unknown int
	}{a, abi.CPUOK, abi.CPUUnknown}); err != nil {
		panic("BUG: " + err.Error())
	}
	return b.String()
}

// cpuid asks for a leaf.
func cpuid(name string, leaf, sub int) string {
	return fmt.Sprintf("  %%%s = call { i32, i32, i32, i32 } asm sideeffect \"cpuid\", "+
		"\"={ax},={bx},={cx},={dx},{ax},{cx}\"(i32 %d, i32 %d)\n", name, leaf, sub)
}

// register is a word of a leaf.
func register(leaf, name string, n int) string {
	return fmt.Sprintf(`  %%%[1]s.%[2]s.raw = extractvalue { i32, i32, i32, i32 } %%%[1]s, %[3]d
  %%%[1]s.%[2]s.or = select i1 %%%[1]s.there, i32 %%%[1]s.%[2]s.raw, i32 0
  %%%[1]s.%[2]s = zext i32 %%%[1]s.%[2]s.or to i64
`, leaf, name, n)
}

// bitsX86 are those of Intel's and AMD's manuals (CPUID), and of xcr0 the registers that a feature
// needs saved.
func bitsX86() map[string][]bit {
	avx := []bit{{"l1.ecx", 28}, {"xcr0", 1}, {"xcr0", 2}}
	avx512 := append(slices.Clone(avx), bit{"l7.ebx", 16}, bit{"xcr0", 5}, bit{"xcr0", 6}, bit{"xcr0", 7})
	with := func(all []bit, word string, n int) []bit { return append(slices.Clone(all), bit{word, n}) }
	return map[string][]bit{
		"sse2": {{"l1.edx", 26}}, "sse3": {{"l1.ecx", 0}}, "ssse3": {{"l1.ecx", 9}}, "sse4.1": {{"l1.ecx", 19}},
		"sse4.2": {{"l1.ecx", 20}},
		"popcnt": {{"l1.ecx", 23}}, "bmi": {{"l7.ebx", 3}}, "bmi2": {{"l7.ebx", 8}}, "lzcnt": {{"x1.ecx", 5}},
		"avx": avx, "avx2": with(avx, "l7.ebx", 5), "fma": with(avx, "l1.ecx", 12), "f16c": with(avx, "l1.ecx", 29),
		"avxvnni": with(avx, "l71.eax", 4),
		"avx512f": avx512, "avx512dq": with(avx512, "l7.ebx", 17), "avx512ifma": with(avx512, "l7.ebx", 21),
		"avx512cd": with(avx512, "l7.ebx", 28),
		"avx512bw": with(avx512, "l7.ebx", 30), "avx512vl": with(avx512, "l7.ebx", 31),
		"avx512vbmi":  with(avx512, "l7.ecx", 1),
		"avx512vbmi2": with(avx512, "l7.ecx", 6), "avx512vnni": with(avx512, "l7.ecx", 11),
		"avx512bitalg":    with(avx512, "l7.ecx", 12),
		"avx512vpopcntdq": with(avx512, "l7.ecx", 14), "avx512fp16": with(avx512, "l7.edx", 23),
		"gfni": {{"l7.ecx", 8}},
	}
}

// bitsARM64 has Linux's names of the features of 64-bit Arm CPUs (asm/hwcap.h).
func bitsARM64() map[string][]bit {
	return map[string][]bit{
		"fp-armv8": {{"hwcap", 0}}, "neon": {{"hwcap", 1}}, "crc": {{"hwcap", 7}}, "lse": {{"hwcap", 8}},
		"fullfp16": {{"hwcap", 9}, {"hwcap", 10}}, "rdm": {{"hwcap", 12}}, "rcpc": {{"hwcap", 15}},
		"dotprod": {{"hwcap", 20}},
		"fp16fml": {{"hwcap", 23}}, "sve": {{"hwcap", 22}}, "sve2": {{"hwcap2", 1}}, "i8mm": {{"hwcap2", 13}},
		"bf16": {{"hwcap2", 14}},
	}
}

// bitsARM has Linux's names of the features of 32-bit Arm CPUs (asm/hwcap.h).
func bitsARM() map[string][]bit {
	return map[string][]bit{
		"vfp2": {{"hwcap", 6}}, "vfp3": {{"hwcap", 13}}, "d32": {{"hwcap", 19}}, "vfp4": {{"hwcap", 16}},
		"neon":      {{"hwcap", 12}},
		"hwdiv-arm": {{"hwcap", 17}}, "hwdiv": {{"hwcap", 18}}, "crc": {{"hwcap2", 4}},
	}
}

// bitsRISCV has Linux's names of the features of 64-bit RISC-V CPUs: letters have bits of hwcap,
// and others of riscv_hwprobe (asm/hwprobe.h). The letter V means some version of the extension.
// A target with vectors is for one length of their registers, and vlenb is that length in bytes.
func bitsRISCV() map[string][]bit {
	return map[string][]bit{
		"a": {{"hwcap", 0}}, "c": {{"hwcap", 2}}, "d": {{"hwcap", 3}}, "f": {{"hwcap", 5}}, "m": {{"hwcap", 12}},
		"v":   {{"hwcap", 21}, {"hwprobe", 2}},
		"zba": {{"hwprobe", 3}}, "zbb": {{"hwprobe", 4}}, "zbs": {{"hwprobe", 5}}, "zvbb": {{"hwprobe", 17}},
		"zvl128b": {{"vlenb", 4}}, "zvl256b": {{"vlenb", 5}},
	}
}
