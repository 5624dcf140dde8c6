package isa

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"ripc/ir/irtext"
)

// A family defines instructions that differ in numbers alone. Its texts are those of package
// irtext. In them $lanes, $words, $positions, $taps, $rows, $groups and $stride stand for fields of
// Instr, $cpu for the prefix of names, and others for parameters that a member adds.
type family struct {
	name   string // of a member
	params string
	loops  string // around body, outermost first: "l:$lanes i:2" are for %l in 0:$lanes and for %i in 0:2
	body   string
}

// cpu is a row of the table of vector extensions.
type cpu struct {
	arch   string
	prefix string // of the names of instructions
	needs  []string
}

func avx2() cpu   { return cpu{"x86_64", "avx2", []string{"avx2"}} }
func avx512() cpu { return cpu{"x86_64", "avx512", []string{"avx512f", "avx512bw"}} }
func a64() cpu    { return cpu{"aarch64", "neon", []string{"neon"}} }
func a32() cpu    { return cpu{"arm", "armv7", []string{"neon"}} }
func nv() cpu     { return cpu{"nvptx64", "nv", nil} }
func thumb() cpu  { return cpu{"thumb", "thumb", []string{"dsp"}} }
func wasm() cpu   { return cpu{"wasm32", "wasm", []string{"simd128"}} }

// rvv is RISC-V with vectors of 256 bits. In vectors of 128 bits look-ups gain nothing over counts.
func rvv() cpu { return cpu{"riscv64", "rvv256", []string{"v", "zvl256b"}} }

// with is c with more features.
func (c cpu) with(features ...string) cpu {
	c.needs = slices.Concat(c.needs, features)
	return c
}

// values are the substitutes for names in the texts of a family, beside the fields of Instr.
type values map[string]any

// instr completes i to a member of f on c.
func (c cpu) instr(f family, i Instr, more values) Instr {
	i.Arch, i.Needs = c.arch, c.needs
	all := values{
		"cpu": c.prefix, "lanes": i.Lanes, "words": i.Words, "positions": i.Positions, "taps": i.Taps, "rows": i.Rows,
		"groups": i.Groups,
		"stride": i.Stride,
	}
	maps.Copy(all, more)
	expand := func(text string) string {
		return os.Expand(text, func(name string) string { return fmt.Sprint(all[name]) })
	}
	i.Family = os.Expand(f.name, func(name string) string {
		if v, ok := all[name].(string); ok {
			return v
		}
		return "{" + name + "}"
	})
	name := expand(f.name)
	var text strings.Builder
	fmt.Fprintf(&text, "func @%s(%s) {", name, expand(f.params))
	loops := strings.Fields(expand(f.loops))
	for _, l := range loops {
		fmt.Fprintf(&text, "for %%%s {", strings.Replace(l, ":", " in 0:", 1))
	}
	text.WriteString(expand(f.body) + strings.Repeat("}", len(loops)+1))
	fn, err := irtext.ParseFunc(name, []byte(text.String()))
	if err != nil {
		// no user has written it: the tests make all members
		panic(fmt.Errorf("family %s: %w in %s", f.name, err, text.String()))
	}
	i.Func = fn
	return i
}

// textIf is text, or nothing.
func textIf(is bool, text string) string {
	if is {
		return text
	}
	return ""
}

// numberTexts is a text for each number below n, with its number in place of #.
func numberTexts(n int, text string) []string {
	out := make([]string, n)
	for k := range out {
		out[k] = strings.ReplaceAll(text, "#", fmt.Sprint(k))
	}
	return out
}
