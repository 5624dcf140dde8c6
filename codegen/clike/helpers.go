package clike

import (
	_ "embed"
	"fmt"
	"strings"

	"ripc/ir"
)

// helperText has the helpers of C99, deviceText those that differ in OpenCL C.
var (
	//go:embed helpers.h
	helperText string
	//go:embed device.h
	deviceText string
)

// helpers returns the last text of each helper, a function of C that spells out one operation.
func helpers(texts ...string) map[string]string {
	all := map[string]string{}
	for _, part := range strings.Split(strings.Join(texts, ""), "//// ")[1:] {
		name, body, _ := strings.Cut(part, "\n")
		all[name] = body
	}
	for t := ir.I8; t <= ir.U64; t++ {
		addIntegerHelpers(all, t)
	}
	return all
}

// addIntegerHelpers adds those of one integer type.
func addIntegerHelpers(all map[string]string, t ir.Type) {
	fill := strings.NewReplacer("$T", ctype(t), "$U", wrappingType(t), "$Q", t.String()).Replace
	add := func(name, text string) { all["rc_"+name+"_"+t.String()] = fill(text) }
	add("min", "static inline $T rc_min_$Q($T a, $T b) { return a < b ? a : b; }\n")
	add("max", "static inline $T rc_max_$Q($T a, $T b) { return a > b ? a : b; }\n")
	var low, high string // numbers beyond these bounds become the least or the largest value
	bound := func(exp int) string { return fmt.Sprintf("0x1p%df", exp) }
	if t.Signed() {
		add("div", "static inline $T rc_div_$Q($T a, $T d) { return ($T)(a / d - (a % d < 0)); }\n")
		add("mod", "static inline $T rc_mod_$Q($T a, $T d) { return ($T)(a % d + (a % d < 0 ? d : 0)); }\n")
		add("shr", "static inline $T rc_shr_$Q($T a, $T n) { return ($T)(a < 0 ? ~(~a >> n) : a >> n); }\n")
		add("abs", "static inline $T rc_abs_$Q($T a) { return a < 0 ? ($T)(0u - ($U)a) : a; }\n")
		low = fmt.Sprintf("if (x < -%s) {\n        return INT%d_MIN;\n    }\n", bound(t.Bits()-1), t.Bits())
		high = fmt.Sprintf("if (x >= %s) {\n        return INT%d_MAX;\n    }\n", bound(t.Bits()-1), t.Bits())
	} else {
		low = "if (x <= 0.0f) {\n        return 0;\n    }\n"
		high = fmt.Sprintf("if (x >= %s) {\n        return UINT%d_MAX;\n    }\n", bound(t.Bits()), t.Bits())
	}
	add("trunc", "static inline $T rc_trunc_$Q(float x)\n{\n    if (x != x) {\n        return 0;\n    }\n    "+low+
		"    "+high+"    return ($T)x;\n}\n")
}

// ctype is the C type of a value.
func ctype(t ir.Type) string {
	switch {
	case t == ir.Bool:
		return "uint8_t"
	case t == ir.F32:
		return "float"
	case t.Signed():
		return fmt.Sprintf("int%d_t", t.Bits())
	}
	return fmt.Sprintf("uint%d_t", t.Bits())
}

// wrappingType is the unsigned type in which integers of type t are computed, so that they wrap.
func wrappingType(t ir.Type) string {
	if t.Bits() == 64 {
		return "uint64_t"
	}
	return "uint32_t"
}

// Memory is the type by which elements of type t are read and written (see the prelude).
func Memory(t ir.Type) string { return "rc_" + t.String() }
