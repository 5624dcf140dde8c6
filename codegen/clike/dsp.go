package clike

import "ripc/targets/isa"

// dsp opens a branch of the preprocessor with products of bytes by Arm's DSP extension (helper
// rc_dsp). A compiler combines equal assembly without side effects, so neighbouring products share
// widened bytes. The caller writes the plain meaning behind it, and closes the branch. ok is false,
// and nothing is written, for other instructions.
func (w *writer) dsp() (ok bool) {
	if !isa.IsHalfProducts(w.f) {
		return false
	}
	acc, x, weights := w.vars[w.f.Params[0].Name], w.vars[w.f.Params[1].Name], w.vars[w.f.Params[2].Name]
	w.u.use("rc_dsp")
	w.WriteString("#if RIPC_DSP\n")
	w.Line("const uint32_t four = rc_four(%s), even = rc_uxtb16(four), odd = rc_uxtb16_odd(four);", x)
	for l := range w.f.Params[0].Shape[0] {
		w.Line("const uint32_t four%[1]d = rc_four(%[2]s + %[3]d);", l, weights, 4*l)
	}
	for l := range w.f.Params[0].Shape[0] {
		w.Line("%[2]s[%[1]d] = rc_smlad(odd, rc_sxtb16_odd(four%[1]d), rc_smlad(even, rc_sxtb16(four%[1]d), "+
			"%[2]s[%[1]d]));", l, acc)
	}
	w.WriteString("#else\n")
	return true
}
