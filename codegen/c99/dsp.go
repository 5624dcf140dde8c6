package c99

import "ripc/targets/isa"

// dspHelpers are operations of Arm's DSP extension. A compiler combines equal assembly without side
// effects, so neighbouring products share widened bytes.
func dspHelpers() map[string]helper {
	return map[string]helper{
		"rc_dsp": {text: `/* Arm's DSP extension works on two halves of a register. */
#ifndef RIPC_DSP
#if defined(__GNUC__) && defined(__ARM_FEATURE_SIMD32)
#define RIPC_DSP 1
#else
#define RIPC_DSP 0
#endif
#endif
#if RIPC_DSP
typedef struct { uint32_t u; } __attribute__((__packed__, __may_alias__)) rc_unaligned;
static inline uint32_t rc_four(const void *p) { return ((const rc_unaligned *)p)->u; }

/* Bytes 0 and 2, or 1 and 3, of a word, as halves. */
static inline uint32_t rc_uxtb16(uint32_t x)
{
    uint32_t r;
    __asm__("uxtb16 %0, %1" : "=r"(r) : "r"(x));
    return r;
}
static inline uint32_t rc_uxtb16_odd(uint32_t x)
{
    uint32_t r;
    __asm__("uxtb16 %0, %1, ror #8" : "=r"(r) : "r"(x));
    return r;
}
static inline uint32_t rc_sxtb16(uint32_t x)
{
    uint32_t r;
    __asm__("sxtb16 %0, %1" : "=r"(r) : "r"(x));
    return r;
}
static inline uint32_t rc_sxtb16_odd(uint32_t x)
{
    uint32_t r;
    __asm__("sxtb16 %0, %1, ror #8" : "=r"(r) : "r"(x));
    return r;
}

/* acc and the products of the halves of a and b, modulo 2^32. */
static inline int32_t rc_smlad(uint32_t a, uint32_t b, int32_t acc)
{
    int32_t r;
    __asm__("smlad %0, %1, %2, %3" : "=r"(r) : "r"(a), "r"(b), "r"(acc));
    return r;
}
#endif
`},
	}
}

// dsp opens a branch of the preprocessor with products of bytes by Arm's DSP extension. The caller
// writes the plain meaning behind it, and closes the branch. ok is false, and nothing is written,
// for other instructions.
func (w *writer) dsp() (ok bool) {
	if !isa.IsHalfProducts(w.f) {
		return false
	}
	acc, x, weights := w.vars[w.f.Params[0].Name], w.vars[w.f.Params[1].Name], w.vars[w.f.Params[2].Name]
	w.u.use("rc_dsp")
	w.WriteString("#if RIPC_DSP\n")
	w.line("const uint32_t four = rc_four(%s), even = rc_uxtb16(four), odd = rc_uxtb16_odd(four);", x)
	for l := range w.f.Params[0].Shape[0] {
		w.line("const uint32_t four%[1]d = rc_four(%[2]s + %[3]d);", l, weights, 4*l)
	}
	for l := range w.f.Params[0].Shape[0] {
		w.line("%[2]s[%[1]d] = rc_smlad(odd, rc_sxtb16_odd(four%[1]d), rc_smlad(even, rc_sxtb16(four%[1]d), %[2]s[%[1]d]));", l, acc)
	}
	w.WriteString("#else\n")
	return true
}
