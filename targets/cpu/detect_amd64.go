package cpu

import "github.com/klauspost/cpuid/v2"

const arch = "x86_64"

// detect says of every feature that can be checked whether it is there. cpuid reports the AVX
// families only if the operating system saves their registers (XGETBV). AMX is left out: Linux
// wants a request for it per process.
func detect() map[string]bool { return reported(cpuid.CPU.Supports) }

// reported is detect with a given CPU: has reports whether all bits of a feature are set.
func reported(has func(...cpuid.FeatureID) bool) map[string]bool {
	ids := map[string]cpuid.FeatureID{
		"x87": cpuid.X87, "mmx": cpuid.MMX, "cmov": cpuid.CMOV, "cx8": cpuid.CMPXCHG8, "cx16": cpuid.CX16,
		"fxsr": cpuid.FXSR, "sahf": cpuid.LAHF, "sse": cpuid.SSE, "sse2": cpuid.SSE2, "sse3": cpuid.SSE3,
		"ssse3": cpuid.SSSE3, "sse4.1": cpuid.SSE4, "sse4.2": cpuid.SSE42, "crc32": cpuid.SSE42,
		"popcnt": cpuid.POPCNT, "lzcnt": cpuid.LZCNT, "bmi": cpuid.BMI1, "bmi2": cpuid.BMI2, "adx": cpuid.ADX,
		"movbe": cpuid.MOVBE, "f16c": cpuid.F16C, "fma": cpuid.FMA3, "avx": cpuid.AVX, "avx2": cpuid.AVX2,
		"xsave": cpuid.XSAVE, "xsaveopt": cpuid.XSAVEOPT, "xsavec": cpuid.XSAVEC, "xsaves": cpuid.XSAVES,
		"aes": cpuid.AESNI, "pclmul": cpuid.CLMUL, "sha": cpuid.SHA, "vaes": cpuid.VAES,
		"vpclmulqdq": cpuid.VPCLMULQDQ, "gfni": cpuid.GFNI, "rdrnd": cpuid.RDRAND, "rdseed": cpuid.RDSEED,
		"avxvnni": cpuid.AVXVNNI, "avxvnniint8": cpuid.AVXVNNIINT8, "avxvnniint16": cpuid.AVXVNNIINT16,
		"avxifma": cpuid.AVXIFMA, "avx512f": cpuid.AVX512F, "avx512cd": cpuid.AVX512CD, "avx512bw": cpuid.AVX512BW,
		"avx512dq": cpuid.AVX512DQ, "avx512vl": cpuid.AVX512VL, "avx512ifma": cpuid.AVX512IFMA,
		"avx512vbmi": cpuid.AVX512VBMI, "avx512vbmi2": cpuid.AVX512VBMI2, "avx512vnni": cpuid.AVX512VNNI,
		"avx512bitalg": cpuid.AVX512BITALG, "avx512vpopcntdq": cpuid.AVX512VPOPCNTDQ,
		"avx512bf16": cpuid.AVX512BF16, "avx512fp16": cpuid.AVX512FP16, "evex512": cpuid.AVX512F,
		"avx512vp2intersect": cpuid.AVX512VP2INTERSECT,
		"movdiri":            cpuid.MOVDIRI, "movdir64b": cpuid.MOVDIR64B, "serialize": cpuid.SERIALIZE,
		"cldemote": cpuid.CLDEMOTE, "waitpkg": cpuid.WAITPKG,
	}
	table := map[string]bool{"64bit": true}
	for name, id := range ids {
		table[name] = has(id)
	}
	for name, state := range map[string]cpuid.FeatureID{"fma": cpuid.AVX, "f16c": cpuid.AVX, "avxvnni": cpuid.AVX2} {
		table[name] = table[name] && has(state) // their registers are those of AVX
	}
	return table
}
