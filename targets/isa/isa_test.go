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
	for _, c := range []struct {
		arch     string
		features string
		want     string
	}{
		{"x86_64", "sse2 avx2", ""},
		{"x86_64", "avx512f avx512bw", "avx512_pack_le_x32"},
		{"x86_64", "avx512f avx512bw avx512vpopcntdq", "avx512_pack_le_x32 avx512_xor_popcnt_acc_x16"},
		{"aarch64", "neon", "neon_xor_cnt_uadalp_x4"},
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
		"avx512_xor_popcnt_acc_x16": {"vpxor", "vpopcntd", "vpaddd"},
		"avx512_pack_le_x32":        {"vpcmp", "kunpckwd"},
		"neon_xor_cnt_uadalp_x4":    {"eor\tv", "cnt\tv", "uaddlp\tv", "uadalp\tv"},
	}
	for _, i := range all() {
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
